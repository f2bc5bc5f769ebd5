// SPDX-License-Identifier: Apache-2.0
// The schedule of a sweep: which blocks may be relaxed at the same time, and in what order.
//
// Lanes: blocks are put into batches of up to CNI_BATCH_LANES of one kind; no two lanes of a batch
// share a group that has mass, so that a kernel relaxes the lanes side by side and gets what it
// would get one after the other. Groups without mass are never written and may be shared. A lane is
// a run of up to `length` neighbouring blocks between the same two groups (the points of one
// manifold), relaxed one after the other.
//
// Threads: batches lie in columns. Groups are cut into slabs and every slab into rows; column (i, j)
// touches groups of the slabs i and i+1 and of their rows j and j+1 only. Two columns of one colour
// (i mod 2, j mod 2) therefore share no group with mass and can be swept side by side: a sweep is
// the colours one after the other, even slabs before odd ones, then, by one thread, the rest: blocks
// that fit in no column. Slabs of one row have two colours.
//
// Everything is a function of the problem and the kinds alone, never of the number of workers or
// lanes of the machine: the schedule is part of the result.
#ifndef CNI_PROBLEM_BATCHES_H
#define CNI_PROBLEM_BATCHES_H

#include "core/tasks.h"

#define CNI_BATCH_LANES 8
#define CNI_BATCH_LENGTH 4 // blocks in a lane, at most
#define CNI_BATCH_KINDS 16
#define CNI_CUT_LIMIT 128  // slabs, and rows of a slab
#define CNI_SWEEP_PHASES 5 // at most: four colours, the rest

// What a kind of block allows: lanes 1 or CNI_BATCH_LANES, length 1 .. CNI_BATCH_LENGTH (pair and
// sphere storage only).
typedef struct CniBatchRule {
  int32_t lanes, length;
} CniBatchRule;

typedef struct CniBatch {
  int32_t block[CNI_BATCH_LANES]; // first block of each lane; -1 from lane_count on
  int32_t note;                   // of who uses the schedule
  uint8_t lane_count, length;     // all lanes have this many blocks
  uint8_t kind, reserved;
} CniBatch;
_Static_assert(sizeof(CniBatch) == 40, "there are many");

// Groups of the lanes of a batch, one without mass as its complement; those of lanes that are not
// used are the complement of the number of groups.
typedef struct CniBatchGroups {
  int32_t a[CNI_BATCH_LANES], b[CNI_BATCH_LANES];
} CniBatchGroups;

// Groups of a block; one without mass is its complement ~group.
typedef struct CniEnds {
  int32_t a, b;
} CniEnds;

// Bits of the last 64 batches, the highest the one before batch number `next`.
typedef struct CniMarks {
  uint64_t bits;
  uint32_t next;
} CniMarks;

// Slabs, and rows of each of them.
typedef struct CniCuts {
  int32_t slabs, rows;
} CniCuts;

// Where a group lies.
typedef struct CniLayer {
  uint8_t slab, row; // slab CNI_NO_LAYER: in none
} CniLayer;
#define CNI_NO_LAYER 255

// What one stretch of blocks has for a column: units in the lower halves of four numbers, blocks
// with a group that has mass in the upper ones; then, in the first, where its units begin.
typedef struct CniShare {
  uint64_t part[4];
} CniShare;
static inline uint64_t cni_share_sum(const CniShare *share) {
  return share->part[0] + share->part[1] + share->part[2] + share->part[3];
}

// What of a schedule is swept here, where several ranks hold the same problem (spread.c).
#define CNI_EVERYBODY 255
typedef struct CniSpread {
  int32_t active;      // ranks that have columns of their own; 0: everything is swept here
  int32_t rank;        // this one
  int32_t first, last; // its slabs, empty from `active` on
  uint8_t *owner;      // per block: the rank that sweeps it, or CNI_EVERYBODY
  uint8_t *home;       // per group: the rank of its slab, or CNI_EVERYBODY: it need not be sent
  int32_t *border;     // groups of the first slab that the rank below sweeps too
  int32_t *ghosts;     // groups of the rank above that this one sweeps too
  int32_t *common;     // groups that everybody sweeps: of the rest, of joints; rank by rank,
  int64_t *start;      // those of each from here on, in bytes of six doubles a group
  int32_t border_count, ghost_count, common_count;
  int32_t owner_capacity, home_capacity, border_capacity, ghost_capacity, common_capacity,
      start_capacity;
} CniSpread;

typedef struct CniSchedule {
  CnAllocator allocator;
  struct CnRanks *ranks; // who share the sweeps; null: nobody
  int32_t with_joints;   // 1: everybody solves the bilateral blocks together, after each sweep
  CniSpread spread;
  int32_t one_by_one;     // 1: stored order, one lane a batch, one column: to compare with
  int32_t with_groups;    // 1: `groups` are wanted
  CniBatch *batches;      // own, or at `place`
  CniBatchGroups *groups; // per batch, likewise
  int32_t batch_count;
  CniCuts cuts;
  int32_t column_count; // slabs * rows; the rest is one more
  int32_t phase_count;  // of a sweep: one column 1, slabs of one row 3, otherwise 5
  int32_t *start;       // per column, the rest, and the end: first batch
  int32_t *unit_start;  // likewise: first unit
  int32_t start_capacity, unit_start_capacity;

  // memory that is lent: for batches and groups, if they fit in `place`; for the working memory,
  // which is cut from `lent`, of cni_schedule_room bytes, and gone when the schedule is made. Null:
  // own.
  void *place, *lent;
  size_t place_size;
  CniBatch *own;
  CniBatchGroups *own_groups;
  int32_t own_capacity, own_group_capacity;
  uint8_t *massless;    // per group
  CniLayer *layers;     // per group
  CniEnds *ends;        // per block
  uint8_t *lengths;     // per block: of the lane that starts here, 0 inside a lane
  uint16_t *columns;    // per block: of the lane that starts here
  CniShare *shares;     // per stretch of blocks and column: see cni_schedule_shares
  int32_t *units;       // first blocks of lanes, column by column
  int32_t *places;      // per unit: batch within the column times CNI_BATCH_LANES, plus lane
  CniMarks *busy;       // per group: batches of the window that touch it
  uint64_t *neighbours; // per cell: bits of the cells it is linked with
  int32_t *cells;       // level, weight, queue and mark of each cell
  int32_t massless_capacity, layer_capacity, ends_capacity, length_capacity, column_capacity,
      share_capacity, unit_capacity, place_capacity, busy_capacity;
  int32_t neighbour_capacity, cell_capacity;
  int32_t unit_count;
} CniSchedule;

void cni_schedule_init(CniSchedule *schedule, const CnAllocator *allocator);
void cni_schedule_release(CniSchedule *schedule);

// Bytes of working memory for a problem.
size_t cni_schedule_room(const CnProblem *p);

// Make the schedule of a problem in step form. kinds: one per block, an index of rules. Cost: about
// two sweeps; allocates only when the problem has grown.
CnStatus cni_schedule_make(CniSchedule *schedule, const CnProblem *p, const uint8_t *kinds,
                           const CniBatchRule *rules, CnTasks *tasks);

// ---- spread.c ----

// What is swept here and what is sent, when the columns are known.
CnStatus cni_schedule_spread(CniSchedule *schedule, const CnProblem *p);
void cni_spread_release(CniSpread *spread, const CnAllocator *allocator);
// Is a column swept here?
static inline int cni_schedule_sweeps(const CniSchedule *s, int32_t column) {
  if (s->spread.active == 0 || column == s->column_count) return 1;
  int32_t slab = column / s->cuts.rows;
  return slab >= s->spread.first && slab < s->spread.last;
}

// Is a batch of the kind and length of the one before (null: there is none)?
static inline int cni_batch_follows(const CniBatch *last, const CniBatch *batch) {
  return last && last->kind == batch->kind && last->length == batch->length;
}

// What is wrong with it: a block twice or not at all, a group twice in a batch or in two columns of
// one phase. Null: nothing is. For checked builds and tests.
const char *cni_schedule_fault(const CniSchedule *schedule, const CnProblem *p);

// Phases of a sweep: number of columns in each (the rest counts as one), and the column that is
// number i of a phase.
int32_t cni_schedule_phase_size(const CniSchedule *schedule, int32_t phase);
int32_t cni_schedule_column(const CniSchedule *schedule, int32_t phase, int32_t i);
// The column that is number i where one thread sweeps all of them: what shares a group comes in the order of the
// phases, so that the result is the same, and neighbours soon after each other.
int32_t cni_schedule_near(const CniSchedule *schedule, int32_t i);

// ---- slabs.c ----

// Slabs and rows for so many groups with mass. Who orders groups in slabs of equal number, rows of
// equal number in each, and along the load in every row (world/order.c), gets these columns.
CniCuts cni_cuts_aim(int32_t moving);

// Set slabs and rows, and with them the numbers of columns and phases.
void cni_schedule_cut(CniSchedule *schedule, CniCuts cuts);
// Cut the groups into stretches, as many as there will be columns; one if there is little to gain.
void cni_schedule_stretches(CniSchedule *schedule, const CnProblem *p);
// Do so many blocks fit in the columns, about as many in each? in(context, i): those of column i, then
// those of the rest, then those that reach from a row to the next.
typedef int64_t (*CniBlocksIn)(const void *context, int32_t i);
int cni_cuts_fit(CniCuts cuts, int64_t all, CniBlocksIn in, const void *context);
// The same by the shares.
int cni_schedule_fits(const CniSchedule *schedule, const CnProblem *p);
// Where they do not: slabs of one row, by the same stretches,
void cni_schedule_join_rows(CniSchedule *schedule, const CnProblem *p);
// and where these do not fit either, layers by a walk over the groups of schedule->ends.
CnStatus cni_schedule_walk(CniSchedule *schedule, const CnProblem *p);

// Blocks of a stretch, and stretches: at most CNI_SHARE_LIMIT, so that the shares of many columns
// stay small beside the blocks.
#define CNI_SHARE_BLOCKS 4096
#define CNI_SHARE_LIMIT 256
static inline int32_t cni_schedule_share_blocks(const CnProblem *p) {
  int32_t least = p->block_count / CNI_SHARE_LIMIT + 1;
  return least > CNI_SHARE_BLOCKS ? least : CNI_SHARE_BLOCKS;
}
static inline int32_t cni_schedule_share_count(const CnProblem *p) {
  return (p->block_count + cni_schedule_share_blocks(p) - 1) / cni_schedule_share_blocks(p);
}
// Of every stretch: the shares of the columns, of the rest, and how many blocks reach from a row to
// the next.
static inline CniShare *cni_schedule_shares(const CniSchedule *schedule, int32_t stretch) {
  return schedule->shares + (size_t)stretch * ((size_t)schedule->column_count + 2);
}

#endif
