// SPDX-License-Identifier: Apache-2.0
// See sort.h.
#include "core/sort.h"

#include "core/error.h"

#define DIGIT_BITS 11 // counters of one pass stay in the first-level cache

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

void cni_sort_keys(CniSort *sort, int32_t count, int32_t bits) {
  if (count < 2 || bits < 1) return;
  // as few passes as the digits allow, all equally wide
  int32_t passes = (bits + DIGIT_BITS - 1) / DIGIT_BITS;
  int32_t width = (bits + passes - 1) / passes;
  for (int32_t shift = 0; shift < bits; shift += width) {
    if (!sort_digit(sort, count, shift, width)) continue;
    uint64_t *keys = sort->keys;
    int32_t *values = sort->values;
    *sort = (CniSort){sort->spare_keys, keys, sort->spare_values, values};
  }
}

int32_t cni_bit_count(uint64_t value) {
  int32_t n = 0;
  for (; value; value >>= 1) n++;
  return n;
}
