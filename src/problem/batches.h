// SPDX-License-Identifier: Apache-2.0
// The schedule of a sweep: which blocks may be relaxed at the same time, and in what order.
//
// Lanes: blocks are put into batches of up to CNI_BATCH_LANES of one kind; no two lanes of a batch
// share a group that has mass, so that a kernel relaxes the lanes side by side and gets what it
// would get one after the other. Groups without mass are never written and may be shared. A lane is
// a run of up to `length` neighbouring blocks between the same two groups (the points of one
// manifold), relaxed one after the other.
//
// Threads: batches lie in slabs. Slab i touches groups of the layers i and i+1 only; slabs of even
// number can therefore be swept side by side, then those of odd number, then, by one thread, the
// rest: blocks that fit in no slab.
//
// Everything is a function of the problem and the kinds alone, never of the number of workers or
// lanes of the machine: the schedule is part of the result.
#ifndef CNI_PROBLEM_BATCHES_H
#define CNI_PROBLEM_BATCHES_H

#include "core/tasks.h"

#define CNI_BATCH_LANES 8
#define CNI_BATCH_LENGTH 4 // blocks in a lane, at most
#define CNI_BATCH_KINDS 16
#define CNI_SLAB_LIMIT 128
#define CNI_SWEEP_PHASES 3 // even slabs, odd slabs, the rest

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

// What one stretch of CNI_BLOCKS_PER_SHARE blocks has for a slab.
typedef struct CniShare {
  int32_t units, blocks; // blocks: of those with a group that has mass
  int32_t first;         // of the units
} CniShare;
#define CNI_BLOCKS_PER_SHARE 4096

typedef struct CniSchedule {
  CnAllocator allocator;
  int32_t one_by_one;     // 1: stored order, one lane a batch, one slab: to compare with
  int32_t with_groups;    // 1: `groups` are wanted
  CniBatch *batches;      // own, or at `place`
  CniBatchGroups *groups; // per batch, likewise
  int32_t batch_count;
  int32_t slab_count; // >= 1; the rest is one more
  int32_t start[CNI_SLAB_LIMIT + 2];

  // memory that is lent: for batches and groups, if they fit in `place`; for the working memory,
  // which is cut from `lent`, of cni_schedule_room bytes, and gone when the schedule is made. Null:
  // own.
  void *place, *lent;
  size_t place_size;
  CniBatch *own;
  CniBatchGroups *own_groups;
  int32_t own_capacity, own_group_capacity;
  uint8_t *massless;    // per group
  uint8_t *layers;      // per group: its slab, CNI_NO_LAYER if it lies in none
  CniEnds *ends;        // per block
  uint8_t *lengths;     // per block: of the lane that starts here, 0 inside a lane
  uint8_t *slabs;       // per block: of the lane that starts here
  CniShare *shares;     // CNI_SLAB_LIMIT + 1 per stretch of blocks
  int32_t *units;       // first blocks of lanes, slab by slab
  int32_t *places;      // per unit: batch within the slab times CNI_BATCH_LANES, plus lane
  CniMarks *busy;       // per group: batches of the window that touch it
  uint64_t *neighbours; // per cell: bits of the cells it is linked with
  int32_t *cells;       // level, weight, queue and mark of each cell
  int32_t massless_capacity, layer_capacity, ends_capacity, length_capacity, slab_capacity,
      share_capacity, unit_capacity, place_capacity, busy_capacity;
  int32_t neighbour_capacity, cell_capacity;
  int32_t unit_count, unit_start[CNI_SLAB_LIMIT + 2];
} CniSchedule;

void cni_schedule_init(CniSchedule *schedule, const CnAllocator *allocator);
void cni_schedule_release(CniSchedule *schedule);

// Bytes of working memory for a problem.
size_t cni_schedule_room(const CnProblem *p);

// Make the schedule of a problem in step form. kinds: one per block, an index of rules. Cost: about
// two sweeps; allocates only when the problem has grown.
CnStatus cni_schedule_make(CniSchedule *schedule, const CnProblem *p, const uint8_t *kinds,
                           const CniBatchRule *rules, CnTasks *tasks);

// What is wrong with it: a block twice or not at all, a group twice in a batch or in two slabs of one
// phase. Null: nothing is. For checked builds and tests.
const char *cni_schedule_fault(const CniSchedule *schedule, const CnProblem *p);

// Phases of a sweep: number of slabs in each, and the slab that is number i of a phase.
int32_t cni_schedule_phase_count(const CniSchedule *schedule, int32_t phase);
int32_t cni_schedule_slab(const CniSchedule *schedule, int32_t phase, int32_t i);

// ---- slabs.c ----

#define CNI_NO_LAYER 255

// Slabs for so many groups with mass. Who orders groups in that many stretches of equal number,
// each along the load (world/order.c), gets these stretches as slabs.
int32_t cni_slab_aim(int32_t moving);

// Cut the groups into stretches, as many as there will be slabs; one if there is little to gain.
void cni_schedule_stretches(CniSchedule *schedule, const CnProblem *p);
// Do the blocks fit in the stretches, about as many in each? By the shares.
int cni_schedule_stretches_fit(const CniSchedule *schedule, const CnProblem *p);
// Where they do not: layers by a walk over the groups of schedule->ends.
CnStatus cni_schedule_walk(CniSchedule *schedule, const CnProblem *p);

static inline int32_t cni_schedule_task_count(const CnProblem *p) {
  return (p->block_count + CNI_BLOCKS_PER_SHARE - 1) / CNI_BLOCKS_PER_SHARE;
}
static inline CniShare *cni_schedule_shares(const CniSchedule *schedule, int32_t task) {
  return schedule->shares + (size_t)task * (CNI_SLAB_LIMIT + 1);
}

#endif
