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
#define GROUPS_PER_TASK 4096
#define NO_COLUMN INT32_MIN // as ends.a: more than two groups with mass
#define NO_UNIT UINT16_MAX  // as column: a block that is not the first of its lane
_Static_assert(CNI_CUT_LIMIT *CNI_CUT_LIMIT < NO_UNIT, "columns and the rest have numbers");
_Static_assert(CNI_CUT_LIMIT < CNI_NO_LAYER - 1, "no slab is next to none");

void cni_schedule_init(CniSchedule *s, const CnAllocator *allocator) {
  memset(s, 0, sizeof *s);
  s->allocator = *allocator;
}

void cni_schedule_release(CniSchedule *s) {
#define DROP(array, capacity) CNI_RELEASE(&s->allocator, s->array, s->capacity)
  DROP(own, own_capacity);
  DROP(own_groups, own_group_capacity);
  DROP(start, start_capacity);
  DROP(unit_start, unit_start_capacity);
  DROP(massless, massless_capacity);
  DROP(layers, layer_capacity);
  DROP(ends, ends_capacity);
  DROP(lengths, length_capacity);
  DROP(columns, column_capacity);
  DROP(shares, share_capacity);
  DROP(units, unit_capacity);
  DROP(places, place_capacity);
  DROP(busy, busy_capacity);
  DROP(neighbours, neighbour_capacity);
  DROP(cells, cell_capacity);
#undef DROP
  cni_spread_release(&s->spread, &s->allocator);
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

// The groups with mass of a block of sparse rows; NO_COLUMN if there are more than two.
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
      ends.a = NO_COLUMN;
    if (ends.a == NO_COLUMN) break;
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

// ---- units to columns ----

// The lower of the two slabs and the lower of the two rows; the rest for what fits in none.
static inline int32_t column_of(const CniSchedule *s, CniEnds e) {
  if (s->column_count == 1) return 0;
  if (e.a == NO_COLUMN) return s->column_count;
  if ((e.a & e.b) < 0) return 0;
  CniLayer a = s->layers[e.a < 0 ? e.b : e.a], b = s->layers[e.b < 0 ? e.a : e.b];
  int32_t slab = a.slab < b.slab ? a.slab : b.slab, last_slab = a.slab < b.slab ? b.slab : a.slab;
  int32_t row = a.row < b.row ? a.row : b.row, last_row = a.row < b.row ? b.row : a.row;
  int32_t fits = (last_slab != CNI_NO_LAYER) & (last_slab <= slab + 1) & (last_row <= row + 1);
  return fits ? slab * s->cuts.rows + row : s->column_count;
}

// Does a block reach from a row to another?
static inline int32_t is_across(const CniSchedule *s, CniEnds e) {
  return e.a >= 0 && e.b >= 0 && s->layers[e.a].row != s->layers[e.b].row;
}

// Units in the lower half of the number, blocks in the upper.
static inline uint64_t packed(int32_t units, int32_t blocks) {
  return (uint64_t)(uint32_t)blocks << 32 | (uint32_t)units;
}

// The columns of the units among these blocks, and how many each of them gets. Four counts side by
// side, as most units go where the one before has gone.
static void deal_units(const Maker *m, int32_t begin, int32_t end) {
  const CniSchedule *s = m->s;
  const uint8_t *lengths = s->lengths;
  const CniEnds *ends = s->ends;
  int32_t count = s->column_count, across = 0;
  CniShare *shares = cni_schedule_shares(s, begin / cni_schedule_share_blocks(m->p));
  memset(shares, 0, ((size_t)count + 2) * sizeof *shares);
  for (int32_t i = begin; i < end; i++) {
    CniEnds e = ends[i];
    int32_t length = lengths[i], column = column_of(s, e);
    s->columns[i] = (uint16_t)(length > 0 ? column : NO_UNIT);
    if (e.a == NO_COLUMN || (e.a & e.b) < 0) {
      // blocks count where a group with mass is
      shares[column].part[i & 3] += packed(length > 0, 0);
      if (count == 1 || e.b < 0 || s->layers[e.b].slab == CNI_NO_LAYER) continue;
      column = s->layers[e.b].slab * s->cuts.rows + s->layers[e.b].row;
      shares[column].part[i & 3] += packed(0, length);
    } else {
      shares[column].part[i & 3] += packed(length > 0, length);
      if (s->cuts.rows > 1) across += is_across(s, e) ? length : 0;
    }
  }
  shares[count + 1].part[0] = packed(0, across);
}

static void look_at_blocks(void *context, int32_t begin, int32_t end) {
  find_ends(context, begin, end);
  find_lengths(context, begin, end);
  deal_units(context, begin, end);
}

static void deal_again(void *context, int32_t begin, int32_t end) {
  deal_units(context, begin, end);
}

// Where the units of every column begin, and those that a stretch of blocks has for it.
static void number_units(CniSchedule *s, int32_t share_count) {
  uint32_t n = 0;
  for (int32_t column = 0; column <= s->column_count; column++) {
    s->unit_start[column] = (int32_t)n;
    for (int32_t k = 0; k < share_count; k++) {
      CniShare *share = cni_schedule_shares(s, k) + column;
      uint32_t units = (uint32_t)cni_share_sum(share);
      share->part[0] = n;
      n += units;
    }
  }
  s->unit_start[s->column_count + 1] = s->unit_count = (int32_t)n;
}

// Units of one column keep the stored order.
static void sort_units(void *context, int32_t begin, int32_t end) {
  const Maker *m = context;
  const CniSchedule *s = m->s;
  CniShare *shares = cni_schedule_shares(s, begin / cni_schedule_share_blocks(m->p));
  for (int32_t i = begin; i < end; i++)
    if (s->columns[i] != NO_UNIT) s->units[shares[s->columns[i]].part[0]++] = i;
}

// ---- windows ----

// What marks are when `next` is the next batch: the window has moved on since they were made.
static inline uint64_t marks_now(const CniMarks *marks, uint32_t next) {
  uint32_t past = next - marks->next;
  uint64_t moved = marks->bits >> past % WINDOW; // no branch: it would be mispredicted
  return past < WINDOW ? moved : 0;
}

// The batches of one column that are still open. Batches are numbered from `first` on, column by column
// with room between, so that a mark of another column is always too old or of the future.
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

// One column: the places of its units. start[column + 1] takes the number of its batches.
static void place_column(const Maker *m, int32_t column) {
  CniSchedule *s = m->s;
  const uint8_t *kinds = m->kinds, *lengths = s->lengths;
  const CniEnds *ends = s->ends;
  CniMarks *busy = s->busy;
  int32_t last = s->unit_start[column + 1];
  CniMarks others[CNI_BATCH_KINDS * (CNI_BATCH_LENGTH + 1)]; // open, of the other classes
  CniMarks none = {0, 0};
  memset(others, 0, sizeof others);
  Window w = {.first = (uint32_t)s->unit_start[column] + (uint32_t)(column + 1) * WINDOW};
  w.next = w.first;
  for (int32_t i = s->unit_start[column]; i < last; i++) {
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
  s->start[column + 1] = (int32_t)(w.next - w.first);
}

static void place_columns(void *context, int32_t phase, int32_t begin, int32_t end) {
  const Maker *m = context;
  for (int32_t i = begin; i < end; i++) {
    int32_t column = cni_schedule_column(m->s, phase, i);
    if (cni_schedule_sweeps(m->s, column))
      place_column(m, column);
    else
      m->s->start[column + 1] = 0;
  }
}

static void write_column(const Maker *m, int32_t column) {
  const CniSchedule *s = m->s;
  CniBatch *batches = s->batches + s->start[column];
  CniBatchGroups *groups = s->with_groups ? s->groups + s->start[column] : NULL;
  int32_t none = ~m->p->group_count;
  for (int32_t i = 0; i < s->start[column + 1] - s->start[column]; i++) {
    batches[i] = (CniBatch){.block = {-1, -1, -1, -1, -1, -1, -1, -1}};
    for (int32_t k = 0; groups && k < CNI_BATCH_LANES; k++) groups[i].a[k] = groups[i].b[k] = none;
  }
  for (int32_t i = s->unit_start[column]; i < s->unit_start[column + 1]; i++) {
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

static void write_columns(void *context, int32_t begin, int32_t end) {
  const Maker *m = context;
  for (int32_t column = begin; column < end; column++)
    if (m->s->start[column + 1] > m->s->start[column]) write_column(m, column);
}

// ---- all together ----

// The arrays of working memory, each with the number of its elements.
#define WORKING_ARRAYS(X)                                                                          \
  X(massless, massless_capacity, p->group_count)                                                   \
  X(layers, layer_capacity, p->group_count)                                                        \
  X(ends, ends_capacity, p->block_count)                                                           \
  X(lengths, length_capacity, p->block_count)                                                      \
  X(columns, column_capacity, p->block_count)                                                      \
  X(shares, share_capacity, cni_schedule_share_count(p) * (most_columns(p) + 2))                   \
  X(units, unit_capacity, p->block_count)                                                          \
  X(places, place_capacity, p->block_count)                                                        \
  X(busy, busy_capacity, p->group_count)

// There are no more groups with mass than groups.
static int32_t most_columns(const CnProblem *p) {
  CniCuts cuts = cni_cuts_aim(cni_problem_most_moving(p));
  return cuts.slabs * cuts.rows;
}

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

// Columns that the blocks fit in, and the units of each.
static CnStatus find_columns(Maker *maker, CnTasks *tasks) {
  CniSchedule *s = maker->s;
  const CnProblem *p = maker->p;
  int32_t blocks = cni_schedule_share_blocks(p);
  cni_schedule_cut(s, (CniCuts){1, 1});
  cni_parallel_for(tasks, p->group_count, GROUPS_PER_TASK, look_at_groups, maker);
  if (!s->one_by_one) cni_schedule_stretches(s, p);
  cni_parallel_for(tasks, p->block_count, blocks, look_at_blocks, maker);
  if (!p->part && s->cuts.rows > 1 && !cni_schedule_fits(s, p)) {
    cni_schedule_join_rows(s, p);
    cni_parallel_for(tasks, p->block_count, blocks, deal_again, maker);
  }
  if (!p->part && s->cuts.slabs > 1 && s->cuts.rows == 1 && !cni_schedule_fits(s, p)) {
    CNI_TRY(cni_schedule_walk(s, p));
    cni_parallel_for(tasks, p->block_count, blocks, deal_again, maker);
  }
  const CnAllocator *a = &s->allocator;
  CNI_TRY(CNI_RESERVE(a, s->start, s->start_capacity, 0, s->column_count + 2));
  CNI_TRY(CNI_RESERVE(a, s->unit_start, s->unit_start_capacity, 0, s->column_count + 2));
  number_units(s, cni_schedule_share_count(p));
  cni_parallel_for(tasks, p->block_count, blocks, sort_units, maker);
  return CN_OK;
}

static CnStatus make(CniSchedule *s, const CnProblem *p, const uint8_t *kinds,
                     const CniBatchRule *rules, CnTasks *tasks) {
  s->batch_count = 0;
  CNI_TRY(make_room(s, p));
  Maker maker = {s, p, kinds, rules};
  CNI_TRY(find_columns(&maker, tasks));
  CNI_TRY(cni_schedule_spread(s, p));

  // columns that share groups are not looked at together, as in the sweeps
  int32_t counts[CNI_SWEEP_PHASES], rest = s->column_count;
  for (int32_t i = 0; i < s->phase_count; i++) counts[i] = cni_schedule_phase_size(s, i);
  s->start[0] = s->start[rest + 1] = 0;
  cni_parallel_phases(tasks, s->phase_count, counts, 1, place_columns, &maker);
  for (int32_t i = 0; i <= rest; i++) s->start[i + 1] += s->start[i];
  int32_t count = s->start[rest + 1];
  CNI_TRY(reserve_batches(s, count));
  s->batch_count = count;
  cni_parallel_for(tasks, rest + 1, 1, write_columns, &maker);
  return CN_OK;
}

CnStatus cni_schedule_make(CniSchedule *s, const CnProblem *p, const uint8_t *kinds,
                           const CniBatchRule *rules, CnTasks *tasks) {
  CnStatus status = make(s, p, kinds, rules, tasks);
  give_back(s);
  return status;
}

// ---- phases ----

// A colour: which of every two slabs, and of every two rows.
static CniCuts colour_of(const CniSchedule *s, int32_t phase) {
  return s->cuts.rows > 1 ? (CniCuts){phase / 2, phase % 2} : (CniCuts){phase, 0};
}

// How many of `count` there are in a colour.
static int32_t every_other(int32_t count, int32_t first) { return (count + 1 - first) / 2; }

int32_t cni_schedule_phase_size(const CniSchedule *s, int32_t phase) {
  int32_t rest = s->column_count;
  if (s->phase_count > 1 && phase == s->phase_count - 1)
    return s->unit_start[rest + 1] > s->unit_start[rest];
  CniCuts colour = colour_of(s, phase);
  return every_other(s->cuts.slabs, colour.slabs) * every_other(s->cuts.rows, colour.rows);
}

int32_t cni_schedule_column(const CniSchedule *s, int32_t phase, int32_t i) {
  if (s->phase_count > 1 && phase == s->phase_count - 1) return s->column_count;
  CniCuts colour = colour_of(s, phase);
  int32_t rows = every_other(s->cuts.rows, colour.rows);
  return (2 * (i / rows) + colour.slabs) * s->cuts.rows + 2 * (i % rows) + colour.rows;
}

// 0, 2, 1, 4, 3, ...: each odd one as soon as both of its neighbours are done.
static int32_t nearby(int32_t i, int32_t count) {
  return i == 0 || (i == count - 1 && i % 2 == 1) ? i : i % 2 == 1 ? i + 1 : i - 1;
}

int32_t cni_schedule_near(const CniSchedule *s, int32_t i) {
  int32_t rows = s->cuts.rows;
  return nearby(i / rows, s->cuts.slabs) * rows + nearby(i % rows, rows);
}
