// Batches: blocks that share no group, found by a window that moves over the stored order.
//
// The window holds the last WINDOW batches that were opened. A block goes into the oldest of them
// that has its kind and length, a free lane, and neither of its groups; if there is none, a new
// batch is opened, and the oldest leaves the window as it is. Every group knows by one bit a batch
// which of the window's batches it is in, so that the search is a few operations on 64-bit words.
// Bits move with the window when they are read: nobody has to clear them.
// A block therefore moves little from its place in the stored order: what is near in space stays
// near in time (in the caches), and the sweep keeps passing on what it has just computed, which a
// full colouring does not.
//
// Cost: some ten nanoseconds a block.
#include "problem/problem.h"

#include "core/error.h"
#include "core/memory.h"

#include <string.h>

#define WINDOW 64 // one bit each
#define BLOCKS_PER_TASK 4096
#define NO_SLAB INT32_MIN // as ends.a: more than two groups with mass

void cni_schedule_init(CniSchedule *s, const CnAllocator *allocator) {
  memset(s, 0, sizeof *s);
  s->allocator = *allocator;
}

void cni_schedule_release(CniSchedule *s) {
#define DROP(array, capacity)                                                                      \
  cni_release(&s->allocator, s->array, (size_t)s->capacity * sizeof *s->array)
  DROP(own, own_capacity);
  DROP(massless, massless_capacity);
  DROP(layers, layer_capacity);
  DROP(ends, ends_capacity);
  DROP(lengths, length_capacity);
  DROP(units, unit_capacity);
  DROP(places, place_capacity);
  DROP(busy, busy_capacity);
  DROP(neighbours, neighbour_capacity);
  DROP(cells, cell_capacity);
#undef DROP
}

// ---- groups of the blocks ----

typedef struct EndsLoop {
  const CnProblem *p;
  uint8_t *massless;
  CniEnds *ends;
} EndsLoop;

// One byte a group, so that the blocks need not fetch their groups.
static void find_massless(void *context, int32_t begin, int32_t end) {
  const EndsLoop *loop = context;
  for (int32_t i = begin; i < end; i++) loop->massless[i] = !(loop->p->groups[i].inv_mass > 0);
}

static inline int32_t end_of(const EndsLoop *loop, int32_t group) {
  return loop->massless[group] ? ~group : group;
}

// The groups with mass of a block of sparse rows; NO_SLAB if there are more than two.
static CniEnds ends_of_rows(const EndsLoop *loop, const CniRowsBlock *rows) {
  CniEnds ends = {-1, -1};
  for (int32_t i = 0; i < rows->entry_count; i++) {
    int32_t group = loop->p->row_entries[rows->entry_start + i].group;
    if (end_of(loop, group) < 0 || group == ends.a || group == ends.b) continue;
    if (ends.a < 0)
      ends.a = group;
    else if (ends.b < 0)
      ends.b = group;
    else
      ends.a = NO_SLAB;
    if (ends.a == NO_SLAB) break;
  }
  return ends;
}

static void find_ends(void *context, int32_t begin, int32_t end) {
  const EndsLoop *loop = context;
  const CnProblem *p = loop->p;
  for (int32_t i = begin; i < end; i++) {
    const CniBlock *block = &p->blocks[i];
    int32_t k = block->index;
    if (block->storage == CNI_SPHERE)
      loop->ends[i] =
          (CniEnds){end_of(loop, p->spheres[k].group_a), end_of(loop, p->spheres[k].group_b)};
    else if (block->storage == CNI_PAIR)
      loop->ends[i] =
          (CniEnds){end_of(loop, p->pairs[k].group_a), end_of(loop, p->pairs[k].group_b)};
    else
      loop->ends[i] = ends_of_rows(loop, &p->row_blocks[k]);
  }
}

// ---- lanes: runs of blocks between the same groups ----

static void find_lengths(CniSchedule *s, const CnProblem *p, const uint8_t *kinds,
                         const CniBatchRule *rules) {
  for (int32_t i = 0; i < p->block_count;) {
    int32_t limit = s->one_by_one ? 1 : rules[kinds[i]].length, n = 1;
    while (n < limit && i + n < p->block_count && kinds[i + n] == kinds[i] &&
           s->ends[i + n].a == s->ends[i].a && s->ends[i + n].b == s->ends[i].b)
      n++;
    s->lengths[i] = (uint8_t)n;
    for (int32_t k = 1; k < n; k++) s->lengths[i + k] = 0;
    i += n;
  }
}

// ---- units to slabs ----

// The lower of the slabs of the two groups; the rest for what fits in none.
static inline int32_t slab_of(const CniSchedule *s, CniEnds e) {
  if (s->slab_count == 1) return 0;
  if (e.a == NO_SLAB) return s->slab_count;
  if (e.a < 0 && e.b < 0) return 0;
  int32_t a = s->layers[e.a >= 0 ? e.a : e.b], b = s->layers[e.b >= 0 ? e.b : e.a];
  int32_t low = a < b ? a : b, high = a < b ? b : a;
  return high == CNI_NO_LAYER || high > low + 1 ? s->slab_count : low;
}

// Stable: units of one slab keep the stored order.
static void sort_units(CniSchedule *s, const CnProblem *p) {
  int32_t *start = s->unit_start, next[CNI_SLAB_LIMIT + 2];
  memset(start, 0, sizeof s->unit_start);
  for (int32_t i = 0; i < p->block_count; i++)
    if (s->lengths[i] > 0) start[slab_of(s, s->ends[i]) + 1]++;
  for (int32_t i = 0; i <= s->slab_count; i++) start[i + 1] += start[i];
  memcpy(next, start, sizeof next);
  for (int32_t i = 0; i < p->block_count; i++)
    if (s->lengths[i] > 0) s->units[next[slab_of(s, s->ends[i])]++] = i;
  s->unit_count = start[s->slab_count + 1];
}

// ---- windows ----

// The batches of one slab that are still open. Batches are numbered from `first` on, slab by slab
// with room between, so that a mark of another slab is always too old or of the future.
typedef struct Window {
  CniMarks open[CNI_BATCH_KINDS * (CNI_BATCH_LENGTH + 1)]; // with a free lane, by class
  uint8_t lane_count[WINDOW];                              // of batch k: number k % WINDOW
  uint32_t first, next;
} Window;

// What marks are when `next` is the next batch: the window has moved on since they were made.
static inline uint64_t marks_now(const CniMarks *marks, uint32_t next) {
  uint32_t past = next - marks->next;
  return past < WINDOW ? marks->bits >> past : 0;
}

// The place of one unit: batch * CNI_BATCH_LANES + lane.
static inline int32_t place_unit(Window *w, CniMarks *busy, CniEnds e, int32_t class,
                                 int32_t lanes) {
  uint64_t a = e.a >= 0 ? marks_now(&busy[e.a], w->next) : 0;
  uint64_t b = e.b >= 0 ? marks_now(&busy[e.b], w->next) : 0;
  uint64_t open = marks_now(&w->open[class], w->next), fits = open & ~(a | b);
  if (!fits) {
    w->lane_count[w->next++ % WINDOW] = 0;
    fits = UINT64_C(1) << (WINDOW - 1);
    open = open >> 1 | fits;
    a >>= 1;
    b >>= 1;
  }
  uint64_t oldest = fits & -fits;
  uint32_t batch = w->next - WINDOW + (uint32_t)__builtin_ctzll(fits);
  int32_t lane = w->lane_count[batch % WINDOW]++;
  w->open[class] = (CniMarks){lane + 1 == lanes ? open & ~oldest : open, w->next};
  if (e.a >= 0) busy[e.a] = (CniMarks){a | oldest, w->next};
  if (e.b >= 0) busy[e.b] = (CniMarks){b | oldest, w->next};
  return (int32_t)(batch - w->first) * CNI_BATCH_LANES + lane;
}

typedef struct WindowLoop {
  CniSchedule *s;
  const uint8_t *kinds;
  const CniBatchRule *rules;
} WindowLoop;

// One slab: the places of its units. start[slab + 1] takes the number of its batches.
static void place_slab(const WindowLoop *loop, int32_t slab) {
  CniSchedule *s = loop->s;
  Window w;
  memset(&w, 0, sizeof w);
  w.first = w.next = (uint32_t)s->unit_start[slab] + (uint32_t)(slab + 1) * WINDOW;
  for (int32_t i = s->unit_start[slab]; i < s->unit_start[slab + 1]; i++) {
    int32_t block = s->units[i], kind = loop->kinds[block], lanes = loop->rules[kind].lanes;
    if (lanes == 1 || s->one_by_one) {
      // alone in its batch, which is never looked at again
      s->places[i] = (int32_t)(w.next++ - w.first) * CNI_BATCH_LANES;
      continue;
    }
    int32_t class = kind * (CNI_BATCH_LENGTH + 1) + s->lengths[block];
    s->places[i] = place_unit(&w, s->busy, s->ends[block], class, lanes);
  }
  s->start[slab + 1] = (int32_t)(w.next - w.first);
}

static void place_slabs(void *context, int32_t phase, int32_t begin, int32_t end) {
  const WindowLoop *loop = context;
  for (int32_t i = begin; i < end; i++) place_slab(loop, cni_schedule_slab(loop->s, phase, i));
}

static void write_slabs(void *context, int32_t begin, int32_t end) {
  const WindowLoop *loop = context;
  CniSchedule *s = loop->s;
  for (int32_t slab = begin; slab < end; slab++) {
    if (s->start[slab + 1] == s->start[slab]) continue; // without any batch there is no array
    CniBatch *batches = s->batches + s->start[slab];
    for (int32_t i = 0; i < s->start[slab + 1] - s->start[slab]; i++) {
      batches[i] = (CniBatch){.lane_count = 0};
      for (int32_t k = 0; k < CNI_BATCH_LANES; k++) batches[i].block[k] = -1;
    }
    for (int32_t i = s->unit_start[slab]; i < s->unit_start[slab + 1]; i++) {
      int32_t block = s->units[i], place = s->places[i];
      CniBatch *batch = &batches[place / CNI_BATCH_LANES];
      batch->block[place % CNI_BATCH_LANES] = block;
      batch->lane_count++;
      batch->kind = loop->kinds[block];
      batch->length = s->lengths[block];
    }
  }
}

// ---- all together ----

// The arrays of working memory, each with the number of its elements.
#define WORKING_ARRAYS(X)                                                                          \
  X(massless, massless_capacity, p->group_count)                                                   \
  X(layers, layer_capacity, p->group_count)                                                        \
  X(ends, ends_capacity, p->block_count)                                                           \
  X(lengths, length_capacity, p->block_count)                                                      \
  X(units, unit_capacity, p->block_count)                                                          \
  X(places, place_capacity, p->block_count)                                                        \
  X(busy, busy_capacity, p->group_count)

static size_t whole_lines(int32_t count, size_t size) {
  return ((size_t)count * size + CNI_ALIGNMENT - 1) / CNI_ALIGNMENT * CNI_ALIGNMENT;
}

size_t cni_schedule_room(const CnProblem *p) {
  const CniSchedule *s = NULL; // for sizes alone
  size_t bytes = CNI_ALIGNMENT;
#define ADD(array, capacity, needed) bytes += whole_lines(needed, sizeof *s->array);
  WORKING_ARRAYS(ADD)
#undef ADD
  return bytes;
}

static CnStatus make_room(CniSchedule *s, const CnProblem *p) {
  if (s->lent) {
    char *at = s->lent;
#define CUT(array, capacity, needed)                                                               \
  s->array = (void *)at;                                                                           \
  at += whole_lines(needed, sizeof *s->array);
    WORKING_ARRAYS(CUT)
#undef CUT
    return CN_OK;
  }
#define ROOM(array, capacity, needed)                                                              \
  CNI_TRY(cni_array_reserve(&s->allocator, (void **)&s->array, &s->capacity, 0, needed,            \
                            sizeof *s->array));
  WORKING_ARRAYS(ROOM)
#undef ROOM
  return CN_OK;
}

static void give_back(CniSchedule *s) {
  if (!s->lent) return;
#define FORGET(array, capacity, needed) s->array = NULL;
  WORKING_ARRAYS(FORGET)
#undef FORGET
  s->lent = NULL;
}

static CnStatus make(CniSchedule *s, const CnProblem *p, const uint8_t *kinds,
                     const CniBatchRule *rules, CnTasks *tasks) {
  s->batch_count = 0;
  CNI_TRY(make_room(s, p));
  EndsLoop ends = {p, s->massless, s->ends};
  cni_parallel_for(tasks, p->group_count, BLOCKS_PER_TASK, find_massless, &ends);
  cni_parallel_for(tasks, p->block_count, BLOCKS_PER_TASK, find_ends, &ends);
  find_lengths(s, p, kinds, rules);
  s->slab_count = 1;
  if (!s->one_by_one) CNI_TRY(cni_schedule_slabs(s, p));
  sort_units(s, p);

  // slabs that share groups are not looked at together, as in the sweeps
  WindowLoop loop = {s, kinds, rules};
  int32_t counts[CNI_SWEEP_PHASES];
  for (int32_t i = 0; i < CNI_SWEEP_PHASES; i++) counts[i] = cni_schedule_phase_count(s, i);
  counts[CNI_SWEEP_PHASES - 1] = 1;
  if (p->group_count > 0) memset(s->busy, 0, (size_t)p->group_count * sizeof *s->busy);
  s->start[0] = 0;
  cni_parallel_phases(tasks, CNI_SWEEP_PHASES, counts, 1, place_slabs, &loop);
  for (int32_t i = 0; i <= s->slab_count; i++) s->start[i + 1] += s->start[i];
  int32_t count = s->start[s->slab_count + 1];
  s->batches = s->place;
  if (!s->place || s->place_size / sizeof *s->batches < (size_t)count) {
    CNI_TRY(cni_array_reserve(&s->allocator, (void **)&s->own, &s->own_capacity, 0, count,
                              sizeof *s->own));
    s->batches = s->own;
  }
  s->batch_count = count;
  cni_parallel_for(tasks, s->slab_count + 1, 1, write_slabs, &loop);
  return CN_OK;
}

CnStatus cni_schedule_make(CniSchedule *s, const CnProblem *p, const uint8_t *kinds,
                           const CniBatchRule *rules, CnTasks *tasks) {
  CnStatus status = make(s, p, kinds, rules, tasks);
  give_back(s);
  return status;
}

int32_t cni_schedule_phase_count(const CniSchedule *s, int32_t phase) {
  if (phase < 2) return (s->slab_count + 1 - phase) / 2;
  return s->unit_start[s->slab_count + 1] > s->unit_start[s->slab_count];
}

int32_t cni_schedule_slab(const CniSchedule *s, int32_t phase, int32_t i) {
  return phase == 2 ? s->slab_count : 2 * i + phase;
}

void cni_schedule_order(const CniSchedule *s, int32_t *order) {
  int32_t n = 0;
  for (int32_t phase = 0; phase < CNI_SWEEP_PHASES; phase++) {
    for (int32_t i = 0; i < cni_schedule_phase_count(s, phase); i++) {
      int32_t slab = cni_schedule_slab(s, phase, i);
      for (int32_t k = s->start[slab]; k < s->start[slab + 1]; k++) {
        const CniBatch *batch = &s->batches[k];
        for (int32_t lane = 0; lane < batch->lane_count; lane++)
          for (int32_t j = 0; j < batch->length; j++) order[n++] = batch->block[lane] + j;
      }
    }
  }
}
