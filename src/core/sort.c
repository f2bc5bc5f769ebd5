// SPDX-License-Identifier: Apache-2.0
// See sort.h.
#include "core/sort.h"

#include "core/error.h"

#define DIGIT_BITS 11 // counters of one pass stay in the first-level cache
#define FEW 48        // keys: counters would be more work
#define SHARED 32768  // keys of a block at least, where blocks are shared out
#define BLOCKS 64     // about, at most

CnStatus cni_sort_init(CniSort *sort, CniArena *arena, int32_t count) {
  size_t n = (size_t)count, bytes = 2 * n * (sizeof(uint64_t) + sizeof(int32_t));
  uint64_t *keys = cni_arena_take(arena, 2 * n * sizeof(uint64_t));
  int32_t *values = cni_arena_take(arena, 2 * n * sizeof(int32_t));
  if (!keys || !values) return cni_error_memory(bytes);
  *sort = (CniSort){keys, keys + n, values, values + n};
  return CN_OK;
}

// One pass: stable by the digit at `shift`. Returns 0 if all keys have the same digit, and then
// nothing has moved.
static int sort_digit(CniSort *sort, int32_t count, int32_t shift, int32_t width) {
  int32_t start[1 << DIGIT_BITS] = {0};
  uint64_t mask = ((uint64_t)1 << width) - 1;
  const uint64_t *keys = sort->keys;
  for (int32_t i = 0; i < count; i++) start[keys[i] >> shift & mask]++;
  if (start[keys[0] >> shift & mask] == count) return 0;

  // from counts to first places
  int32_t sum = 0;
  for (int32_t d = 0; d < 1 << width; d++) {
    int32_t c = start[d];
    start[d] = sum;
    sum += c;
  }
  if (sort->values) {
    for (int32_t i = 0; i < count; i++) {
      int32_t at = start[keys[i] >> shift & mask]++;
      sort->spare_keys[at] = keys[i];
      sort->spare_values[at] = sort->values[i];
    }
  } else {
    for (int32_t i = 0; i < count; i++)
      sort->spare_keys[start[keys[i] >> shift & mask]++] = keys[i];
  }
  return 1;
}

// As few passes as the digits allow, all equally wide.
static int32_t width_of(int32_t bits) {
  int32_t passes = (bits + DIGIT_BITS - 1) / DIGIT_BITS;
  return (bits + passes - 1) / passes;
}

static void exchange(CniSort *sort) {
  *sort = (CniSort){sort->spare_keys, sort->keys, sort->spare_values, sort->values};
}

// Few keys: each goes before those that are larger.
static void insert_keys(CniSort *sort, int32_t count, uint64_t mask) {
  for (int32_t i = 1; i < count; i++) {
    uint64_t key = sort->keys[i];
    int32_t value = sort->values ? sort->values[i] : 0, at = i;
    for (; at > 0 && (sort->keys[at - 1] & mask) > (key & mask); at--) {
      sort->keys[at] = sort->keys[at - 1];
      if (sort->values) sort->values[at] = sort->values[at - 1];
    }
    sort->keys[at] = key;
    if (sort->values) sort->values[at] = value;
  }
}

void cni_sort_keys(CniSort *sort, int32_t count, int32_t bits) {
  if (count < 2 || bits < 1) return;
  if (count <= FEW) {
    insert_keys(sort, count, bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX);
    return;
  }
  int32_t width = width_of(bits);
  for (int32_t shift = 0; shift < bits; shift += width)
    if (sort_digit(sort, count, shift, width)) exchange(sort);
}

// ---- by several workers ----

// A pass in blocks: each counts its digits; by digit, then block, the counts become first places; each block puts
// its keys there in order.
typedef struct Pass {
  const CniSort *sort;
  int32_t count, block, shift, width;
  int32_t *starts; // by block and digit
} Pass;

static void count_digits(void *context, int32_t begin, int32_t end) {
  const Pass *p = context;
  for (int32_t b = begin; b < end; b++) {
    int32_t *start = p->starts + ((size_t)b << p->width), first = b * p->block;
    int32_t last = p->count - first < p->block ? p->count : first + p->block;
    uint64_t mask = ((uint64_t)1 << p->width) - 1;
    memset(start, 0, sizeof *start << p->width);
    for (int32_t i = first; i < last; i++) start[p->sort->keys[i] >> p->shift & mask]++;
  }
}

static void put_keys(void *context, int32_t begin, int32_t end) {
  const Pass *p = context;
  const CniSort *s = p->sort;
  for (int32_t b = begin; b < end; b++) {
    int32_t *start = p->starts + ((size_t)b << p->width), first = b * p->block;
    int32_t last = p->count - first < p->block ? p->count : first + p->block;
    uint64_t mask = ((uint64_t)1 << p->width) - 1;
    for (int32_t i = first; i < last; i++) {
      int32_t at = start[s->keys[i] >> p->shift & mask]++;
      s->spare_keys[at] = s->keys[i];
      if (s->values) s->spare_values[at] = s->values[i];
    }
  }
}

CnStatus cni_sort_keys_shared(CniSort *sort, CniArena *arena, CnTasks *tasks, int32_t count,
                              int32_t bits) {
  if (count < 2 * SHARED || bits < 1 || cni_tasks_worker_count(tasks) < 2) {
    cni_sort_keys(sort, count, bits);
    return CN_OK;
  }
  Pass p = {.sort = sort, .count = count, .block = count / BLOCKS + 1, .width = width_of(bits)};
  if (p.block < SHARED) p.block = SHARED;
  int32_t blocks = (count - 1) / p.block + 1;
  CniArenaMark mark = cni_arena_mark(arena);
  CNI_TRY(CNI_TAKE(arena, (size_t)blocks << p.width, p.starts));
  for (; p.shift < bits; p.shift += p.width) {
    cni_parallel_for(tasks, blocks, 1, count_digits, &p);
    int32_t sum = 0;
    for (int32_t d = 0; d < 1 << p.width; d++)
      for (int32_t b = 0; b < blocks; b++) {
        int32_t *start = &p.starts[((size_t)b << p.width) + (size_t)d], c = *start;
        *start = sum;
        sum += c;
      }
    cni_parallel_for(tasks, blocks, 1, put_keys, &p);
    exchange(sort);
  }
  cni_arena_back(arena, mark);
  return CN_OK;
}

int32_t cni_bit_count(uint64_t value) {
  int32_t n = 0;
  for (; value; value >>= 1) n++;
  return n;
}
