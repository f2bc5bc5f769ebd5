// SPDX-License-Identifier: Apache-2.0
// What the broad phases share with each other and with the rest of collision: tests of bounds, and
// pairs collected by many workers without a common counter.
#ifndef CNI_COLLISION_BROAD_PRIVATE_H
#define CNI_COLLISION_BROAD_PRIVATE_H

#include <math.h>
#include <string.h>

#include "collision/collision.h"
#include "core/sort.h"

// ---- bounds ----

// Bounds that hold at least a point: neither turned inside out nor with a side that is no number.
static inline int cni_bounds_legal(const CniBounds *b) {
  return b->lo.x <= b->hi.x && b->lo.y <= b->hi.y && b->lo.z <= b->hi.z;
}

// Closed boxes: touching is meeting. Without branches, for the inner loops.
static inline int cni_bounds_meet(const CniBounds *a, const CniBounds *b) {
  return (a->lo.x <= b->hi.x) & (b->lo.x <= a->hi.x) & (a->lo.y <= b->hi.y) & (b->lo.y <= a->hi.y) &
         (a->lo.z <= b->hi.z) & (b->lo.z <= a->hi.z);
}

// Balls that fill their bounds: do they meet? Says yes where rounding leaves a doubt: 2^-52 of the
// coordinates in every sum, a hundred times less than the slack.
static inline int cni_balls_meet(const CniBounds *a, const CniBounds *b) {
  // twice the distance of the centres and twice the sum of the radii
  double x = (a->lo.x + a->hi.x) - (b->lo.x + b->hi.x);
  double y = (a->lo.y + a->hi.y) - (b->lo.y + b->hi.y);
  double z = (a->lo.z + a->hi.z) - (b->lo.z + b->hi.z);
  double r = (a->hi.x - a->lo.x) + (b->hi.x - b->lo.x);
  double far = fabs(a->lo.x) + fabs(a->lo.y) + fabs(a->lo.z);
  double limit = r * (1 + 1e-9) + 1e-13 * far;
  return x * x + y * y + z * z <= limit * limit;
}

// ---- collecting ----

// Pairs of one block of work. What does not fit is counted all the same, so that the next try has
// the right room. pairs[capacity] exists and is scrap.
typedef struct CniPairSink {
  CniPair *pairs;
  int64_t capacity, count;
} CniPairSink;

// Add the pair if `hit` is 1, in either order of a and b.
static inline void cni_sink_add(CniPairSink *sink, int32_t a, int32_t b, int hit) {
  int64_t at = sink->count < sink->capacity ? sink->count : sink->capacity;
  sink->pairs[at] = a < b ? (CniPair){a, b} : (CniPair){b, a};
  sink->count += hit;
}

// Find the pairs that belong to the items [begin, end).
typedef void (*CniPairFinder)(const void *context, int32_t begin, int32_t end, CniPairSink *sink);

// Run the finder over all items in blocks and put the pairs one after another, in the order of the
// blocks. `guess` is how many pairs an item is expected to have; a block that finds more is run
// again. The result does not depend on the number of workers.
CnStatus cni_collect_pairs(CniPairFinder find, const void *context, int32_t item_count,
                           int32_t guess, CnTasks *tasks, CniArena *arena, CniPair **pairs,
                           int32_t *pair_count);

// ---- the rows of the table ----

CnStatus cni_broad_grid(const CniBounds *bounds, const uint8_t *round, int32_t count,
                        CnTasks *tasks, CniArena *arena, CniPair **pairs, int32_t *pair_count);
CnStatus cni_broad_sap(const CniBounds *bounds, const uint8_t *round, int32_t count, CnTasks *tasks,
                       CniArena *arena, CniPair **pairs, int32_t *pair_count);

#endif
