// SPDX-License-Identifier: Apache-2.0
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

#include <string.h>

#define WINDOW 64 // one bit each
#define BLOCKS_PER_TASK CNI_BLOCKS_PER_SHARE
#define NO_SLAB INT32_MIN // as ends.a: more than two groups with mass
#define NO_UNIT 255       // as slab: a block that is not the first of its lane

void cni_schedule_init(CniSchedule *s, const CnAllocator *allocator) {
  memset(s, 0, sizeof *s);
  s->allocator = *allocator;
}

void cni_schedule_release(CniSchedule *s) {
#define DROP(array, capacity) CNI_RELEASE(&s->allocator, s->array, s->capacity)
  DROP(own, own_capacity);
  DROP(own_groups, own_group_capacity);
  DROP(massless, massless_capacity);
  DROP(layers, layer_capacity);
  DROP(ends, ends_capacity);
  DROP(lengths, length_capacity);
  DROP(slabs, slab_capacity);
  DROP(shares, share_capacity);
  DROP(units, unit_capacity);
  DROP(places, place_capacity);
  DROP(busy, busy_capacity);
  DROP(neighbours, neighbour_capacity);
  DROP(cells, cell_capacity);
#undef DROP
}

// ---- groups of the blocks ----

typedef struct Maker {
  CniSchedule *s;
  const CnProblem *p;
  const uint8_t *kinds;
  const CniBatchRule *rules;
} Maker;

// One byte a group, so that the blocks need not fetch their groups.
static void look_at_groups(void *context, int32_t begin, int32_t end) {
  const Maker *m = context;
  for (int32_t i = begin; i < end; i++) {
    m->s->massless[i] = !(m->p->groups[i].inv_mass > 0);
    m->s->busy[i] = (CniMarks){0, 0};
  }
}

static inline int32_t end_of(const uint8_t *massless, int32_t group) {
  return group ^ -(int32_t)massless[group];
}

// The groups with mass of a block of sparse rows; NO_SLAB if there are more than two.
static CniEnds ends_of_rows(const Maker *m, const CniRowsBlock *rows) {
  CniEnds ends = {-1, -1};
  for (int32_t i = 0; i < rows->entry_count; i++) {
    int32_t group = m->p->row_entries[rows->entry_start + i].group;
    if (m->s->massless[group] || group == ends.a || group == ends.b) continue;
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

// Both groups of a contact.
static inline CniEnds groups_of(const CnProblem *p, const CniBlock *block) {
  int32_t k = block->index;
  if (block->storage == CNI_SPHERE) return (CniEnds){p->spheres[k].group_a, p->spheres[k].group_b};
  return (CniEnds){p->pairs[k].group_a, p->pairs[k].group_b};
}

static void find_ends(const Maker *m, int32_t begin, int32_t end) {
  const CnProblem *p = m->p;
  const uint8_t *massless = m->s->massless;
  CniEnds *ends = m->s->ends;
  for (int32_t i = begin; i < end; i++) {
    const CniBlock *block = &p->blocks[i];
    if (block->storage == CNI_ROWS) {
      ends[i] = ends_of_rows(m, &p->row_blocks[block->index]);
      continue;
    }
    CniEnds groups = groups_of(p, block);
    ends[i] = (CniEnds){end_of(massless, groups.a), end_of(massless, groups.b)};
  }
}

// ---- lanes: runs of blocks between the same groups ----

// Blocks that a lane of this kind may have.
static inline int32_t most_blocks(const Maker *m, int32_t kind) {
  return m->s->one_by_one ? 1 : m->rules[kind].length;
}

// Is block i > 0, of a kind with long lanes, between the same groups as the one before?
static int follows(const Maker *m, int32_t i) {
  const CniBlock *block = &m->p->blocks[i];
  if (m->kinds[i] != m->kinds[i - 1] || block->storage != block[-1].storage) return 0;
  CniEnds x = groups_of(m->p, block), y = groups_of(m->p, block - 1);
  return x.a == y.a && x.b == y.b;
}

// A lane may begin before these blocks and end behind them.
static void find_lengths(const Maker *m, int32_t begin, int32_t end) {
  uint8_t *lengths = m->s->lengths;
  int32_t inside = 0; // how many blocks after the first of its lane
  for (int32_t i = begin; i < end; i++) {
    int32_t most = most_blocks(m, m->kinds[i]), n = 1;
    if (most == 1) {
      lengths[i] = 1;
      continue;
    }
    if (i == begin) {
      int32_t first = i;
      while (first > 0 && follows(m, first)) first--;
      inside = (i - first) % most;
    } else {
      inside = follows(m, i) ? (inside + 1) % most : 0;
    }
    while (n < most && i + n < m->p->block_count && follows(m, i + n)) n++;
    lengths[i] = (uint8_t)(inside > 0 ? 0 : n);
  }
}

// ---- units to slabs ----

// The lower of the slabs of the two groups; the rest for what fits in none.
static inline int32_t slab_of(const uint8_t *layers, int32_t count, CniEnds e) {
  if (count == 1) return 0;
  if (e.a == NO_SLAB) return count;
  if ((e.a & e.b) < 0) return 0;
  int32_t a = layers[e.a < 0 ? e.b : e.a], b = layers[e.b < 0 ? e.a : e.b];
  int32_t low = a < b ? a : b, high = a < b ? b : a;
  int32_t fits = (high != CNI_NO_LAYER) & (high <= low + 1);
  return fits ? low : count;
}

// Units in the lower half of the number, blocks in the upper.
static inline uint64_t packed(int32_t units, int32_t blocks) {
  return (uint64_t)(uint32_t)blocks << 32 | (uint32_t)units;
}

// The slabs of the units among these blocks, and how many each of them gets. Four counts side by
// side, as most units go where the one before has gone.
static void deal_units(const Maker *m, int32_t begin, int32_t end) {
  const CniSchedule *s = m->s;
  const uint8_t *layers = s->layers, *lengths = s->lengths;
  const CniEnds *ends = s->ends;
  uint8_t *slabs = s->slabs;
  int32_t count = s->slab_count;
  uint64_t part[CNI_SLAB_LIMIT + 1][4];
  memset(part, 0, (size_t)(count + 1) * sizeof part[0]);
  for (int32_t i = begin; i < end; i++) {
    CniEnds e = ends[i];
    int32_t length = lengths[i], slab = slab_of(layers, count, e);
    slabs[i] = (uint8_t)(length > 0 ? slab : NO_UNIT);
    uint64_t *to = &part[0][i & 3];
    if (e.a == NO_SLAB || (e.a & e.b) < 0) {
      // blocks count where a group with mass is
      to[4 * slab] += packed(length > 0, 0);
      if (count > 1 && e.b >= 0 && layers[e.b] < count) to[4 * layers[e.b]] += packed(0, length);
    } else {
      to[4 * slab] += packed(length > 0, length);
    }
  }
  CniShare *shares = cni_schedule_shares(s, begin / BLOCKS_PER_TASK);
  for (int32_t k = 0; k <= count; k++) {
    uint64_t sum = part[k][0] + part[k][1] + part[k][2] + part[k][3];
    shares[k] = (CniShare){(int32_t)(uint32_t)sum, (int32_t)(sum >> 32), 0};
  }
}

static void look_at_blocks(void *context, int32_t begin, int32_t end) {
  find_ends(context, begin, end);
  find_lengths(context, begin, end);
  deal_units(context, begin, end);
}

static void deal_again(void *context, int32_t begin, int32_t end) {
  deal_units(context, begin, end);
}

// Where the units of every slab begin, and those that a task finds.
static void number_units(CniSchedule *s, int32_t task_count) {
  int32_t n = 0;
  for (int32_t slab = 0; slab <= s->slab_count; slab++) {
    s->unit_start[slab] = n;
    for (int32_t task = 0; task < task_count; task++) {
      CniShare *share = cni_schedule_shares(s, task) + slab;
      share->first = n;
      n += share->units;
    }
  }
  s->unit_start[s->slab_count + 1] = s->unit_count = n;
}

// Units of one slab keep the stored order.
static void sort_units(void *context, int32_t begin, int32_t end) {
  const Maker *m = context;
  const CniSchedule *s = m->s;
  const uint8_t *slabs = s->slabs;
  const CniShare *shares = cni_schedule_shares(s, begin / BLOCKS_PER_TASK);
  (void)end;
  for (int32_t slab = 0; slab <= s->slab_count; slab++) {
    int32_t *units = s->units + shares[slab].first, left = shares[slab].units;
    // without a branch: what is not of this slab is overwritten
    for (int32_t i = begin, n = 0; n < left; i++) {
      units[n] = i;
      n += slabs[i] == slab;
    }
  }
}

// ---- windows ----

// What marks are when `next` is the next batch: the window has moved on since they were made.
static inline uint64_t marks_now(const CniMarks *marks, uint32_t next) {
  uint32_t past = next - marks->next;
  uint64_t moved = marks->bits >> past % WINDOW; // no branch: it would be mispredicted
  return past < WINDOW ? moved : 0;
}

// The batches of one slab that are still open. Batches are numbered from `first` on, slab by slab
// with room between, so that a mark of another slab is always too old or of the future.
typedef struct Window {
  uint32_t first, next;
  int32_t class;           // of the unit at hand
  uint64_t open;           // batches of this class with a free lane
  uint64_t one, two, four; // how many lanes of each batch are taken, in binary digits
} Window;
_Static_assert(CNI_BATCH_LANES == 8, "three digits");

static inline void open_batch(Window *w) {
  w->next++;
  w->open >>= 1;
  w->one >>= 1;
  w->two >>= 1;
  w->four >>= 1;
}

// The place of one unit: batch * CNI_BATCH_LANES + lane. none: the marks of groups without mass,
// which batches may share.
static inline int32_t place_unit(Window *w, CniMarks *busy, CniMarks *none, CniEnds e) {
  CniMarks *at_a = e.a >= 0 ? &busy[e.a] : none, *at_b = e.b >= 0 ? &busy[e.b] : none;
  uint64_t a = marks_now(at_a, w->next), b = marks_now(at_b, w->next);
  a = e.a >= 0 ? a : 0;
  b = e.b >= 0 ? b : 0;
  uint64_t fits = w->open & ~(a | b);
  if (!fits) {
    open_batch(w);
    fits = UINT64_C(1) << (WINDOW - 1);
    w->open |= fits;
    a >>= 1;
    b >>= 1;
  }
  uint64_t oldest = fits & -fits, twos = w->one & oldest, fours = w->two & twos;
  uint32_t age = (uint32_t)__builtin_ctzll(fits);
  uint64_t lane = (w->one >> age & 1) + 2 * (w->two >> age & 1) + 4 * (w->four >> age & 1);
  // one lane more; a batch is full when all digits were set
  w->open &= ~(w->four & fours);
  w->one ^= oldest;
  w->two ^= twos;
  w->four ^= fours;
  *at_a = (CniMarks){a | oldest, w->next};
  *at_b = (CniMarks){b | oldest, w->next};
  return (int32_t)(w->next - WINDOW + age - w->first) * CNI_BATCH_LANES + (int32_t)lane;
}

// One slab: the places of its units. start[slab + 1] takes the number of its batches.
static void place_slab(const Maker *m, int32_t slab) {
  CniSchedule *s = m->s;
  const uint8_t *kinds = m->kinds, *lengths = s->lengths;
  const CniEnds *ends = s->ends;
  CniMarks *busy = s->busy;
  int32_t last = s->unit_start[slab + 1];
  CniMarks others[CNI_BATCH_KINDS * (CNI_BATCH_LENGTH + 1)]; // open, of the other classes
  CniMarks none = {0, 0};
  memset(others, 0, sizeof others);
  Window w = {.first = (uint32_t)s->unit_start[slab] + (uint32_t)(slab + 1) * WINDOW};
  w.next = w.first;
  for (int32_t i = s->unit_start[slab]; i < last; i++) {
    int32_t block = s->units[i], kind = kinds[block];
    if (m->rules[kind].lanes == 1 || s->one_by_one) {
      // alone in its batch, which is never looked at again
      s->places[i] = (int32_t)(w.next - w.first) * CNI_BATCH_LANES;
      open_batch(&w);
      continue;
    }
    int32_t class = kind * (CNI_BATCH_LENGTH + 1) + lengths[block];
    if (class != w.class) {
      others[w.class] = (CniMarks){w.open, w.next};
      w.open = marks_now(&others[class], w.next);
      w.class = class;
    }
    s->places[i] = place_unit(&w, busy, &none, ends[block]);
  }
  s->start[slab + 1] = (int32_t)(w.next - w.first);
}

static void place_slabs(void *context, int32_t phase, int32_t begin, int32_t end) {
  const Maker *m = context;
  for (int32_t i = begin; i < end; i++) place_slab(m, cni_schedule_slab(m->s, phase, i));
}

static void write_slab(const Maker *m, int32_t slab) {
  const CniSchedule *s = m->s;
  CniBatch *batches = s->batches + s->start[slab];
  CniBatchGroups *groups = s->with_groups ? s->groups + s->start[slab] : NULL;
  int32_t none = ~m->p->group_count;
  for (int32_t i = 0; i < s->start[slab + 1] - s->start[slab]; i++) {
    batches[i] = (CniBatch){.block = {-1, -1, -1, -1, -1, -1, -1, -1}};
    for (int32_t k = 0; groups && k < CNI_BATCH_LANES; k++) groups[i].a[k] = groups[i].b[k] = none;
  }
  for (int32_t i = s->unit_start[slab]; i < s->unit_start[slab + 1]; i++) {
    int32_t block = s->units[i], place = s->places[i];
    int32_t number = place / CNI_BATCH_LANES, lane = place % CNI_BATCH_LANES;
    CniBatch *batch = &batches[number];
    batch->block[lane] = block;
    batch->lane_count = (uint8_t)(lane + 1);
    batch->kind = m->kinds[block];
    batch->length = s->lengths[block];
    if (!groups) continue;
    groups[number].a[lane] = s->ends[block].a;
    groups[number].b[lane] = s->ends[block].b;
  }
}

static void write_slabs(void *context, int32_t begin, int32_t end) {
  const Maker *m = context;
  for (int32_t slab = begin; slab < end; slab++)
    if (m->s->start[slab + 1] > m->s->start[slab]) write_slab(m, slab);
}

// ---- all together ----

// The arrays of working memory, each with the number of its elements.
#define WORKING_ARRAYS(X)                                                                          \
  X(massless, massless_capacity, p->group_count)                                                   \
  X(layers, layer_capacity, p->group_count)                                                        \
  X(ends, ends_capacity, p->block_count)                                                           \
  X(lengths, length_capacity, p->block_count)                                                      \
  X(slabs, slab_capacity, p->block_count)                                                          \
  X(shares, share_capacity, cni_schedule_task_count(p) * (CNI_SLAB_LIMIT + 1))                     \
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
  CNI_TRY(CNI_RESERVE(&s->allocator, s->array, s->capacity, 0, needed));
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

static CnStatus reserve_batches(CniSchedule *s, int32_t count) {
  int32_t group_count = s->with_groups ? count : 0;
  s->groups = s->place;
  s->batches = s->place ? (CniBatch *)(void *)(s->groups + group_count) : NULL;
  size_t bytes = (size_t)count * sizeof *s->batches + (size_t)group_count * sizeof *s->groups;
  if (s->place && s->place_size >= bytes) return CN_OK;
  CNI_TRY(CNI_RESERVE(&s->allocator, s->own, s->own_capacity, 0, count));
  CNI_TRY(CNI_RESERVE(&s->allocator, s->own_groups, s->own_group_capacity, 0, group_count));
  s->batches = s->own;
  s->groups = s->own_groups;
  return CN_OK;
}

static CnStatus make(CniSchedule *s, const CnProblem *p, const uint8_t *kinds,
                     const CniBatchRule *rules, CnTasks *tasks) {
  s->batch_count = 0;
  s->slab_count = 1;
  CNI_TRY(make_room(s, p));
  Maker maker = {s, p, kinds, rules};
  int32_t task_count = cni_schedule_task_count(p);
  cni_parallel_for(tasks, p->group_count, BLOCKS_PER_TASK, look_at_groups, &maker);
  if (!s->one_by_one) cni_schedule_stretches(s, p);
  cni_parallel_for(tasks, p->block_count, BLOCKS_PER_TASK, look_at_blocks, &maker);
  if (s->slab_count > 1 && !cni_schedule_stretches_fit(s, p)) {
    CNI_TRY(cni_schedule_walk(s, p));
    cni_parallel_for(tasks, p->block_count, BLOCKS_PER_TASK, deal_again, &maker);
  }
  number_units(s, task_count);
  cni_parallel_for(tasks, p->block_count, BLOCKS_PER_TASK, sort_units, &maker);

  // slabs that share groups are not looked at together, as in the sweeps
  int32_t counts[CNI_SWEEP_PHASES];
  for (int32_t i = 0; i < CNI_SWEEP_PHASES; i++) counts[i] = cni_schedule_phase_count(s, i);
  counts[CNI_SWEEP_PHASES - 1] = 1;
  s->start[0] = 0;
  cni_parallel_phases(tasks, CNI_SWEEP_PHASES, counts, 1, place_slabs, &maker);
  for (int32_t i = 0; i <= s->slab_count; i++) s->start[i + 1] += s->start[i];
  int32_t count = s->start[s->slab_count + 1];
  CNI_TRY(reserve_batches(s, count));
  s->batch_count = count;
  cni_parallel_for(tasks, s->slab_count + 1, 1, write_slabs, &maker);
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
