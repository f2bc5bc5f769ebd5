// SPDX-License-Identifier: Apache-2.0
// Broad phase by sorting and sweeping: which boxes overlap.
//
// Boxes sorted by their lower end along an axis: each has to be tested only with those after it
// that begin before it ends. In a pile all bodies of one layer still meet along any one axis, so
// the list is first cut into stripes of a second axis. A box that reaches over several stripes is
// in the list of each; two boxes are reported in the first stripe that both reach, so that no pair
// comes twice.
//
// The sweep goes along the axis with the fewest overlapping intervals, the stripes across the axis
// with the second fewest, both estimated from a sample that is a function of the boxes alone. The
// stripes hold equally many lower ends, so that a body far away does not widen the others. Infinite
// sides need no care: they sort and compare like any number.
//
// Cost: sorting, and for n equal bodies in a cube about n^(4/3) tests. Slower than the grid and
// built differently: each checks the other. Reference: Baraff 1992, section 2.
#include "collision/broad_private.h"

#include "core/error.h"

#define SAMPLES 256
#define STRIPE_LIMIT 4096
#define PAIRS_EXPECTED 8

// A box in the list of a stripe, coordinates in the order sweep axis, stripe axis, third axis.
typedef struct Entry {
  double lo[3], hi[3];
  int32_t index;
  int32_t first; // stripe of its lower end
} Entry;

typedef struct Sap {
  const CniBounds *bounds;
  const uint8_t *round; // null: no balls
  CniSort by_axis[3];   // legal boxes sorted by lower end along each axis
  int32_t count;        // legal boxes
  int32_t axis[3];      // sweep, stripe, third
  int64_t span[3];      // by axis: lower ends within a box, summed over the sample
  double *cuts;         // where stripes 1, 2, ... begin
  int32_t stripe_count;
  int32_t *starts; // of the stripes in the entries
  Entry *entries;
  int32_t entry_count;
} Sap;

static inline double along(CnVec3 v, int32_t axis) {
  return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static CnStatus sort_axes(Sap *s, int32_t count, CniArena *arena) {
  for (int32_t axis = 0; axis < 3; axis++) {
    CniSort *sort = &s->by_axis[axis];
    CNI_TRY(cni_sort_init(sort, arena, count));
    s->count = 0;
    for (int32_t i = 0; i < count; i++) {
      if (!cni_bounds_legal(&s->bounds[i])) continue;
      sort->keys[s->count] = cni_double_key(along(s->bounds[i].lo, axis));
      sort->values[s->count++] = i;
    }
    cni_sort_keys(sort, s->count, 64);
  }
  return CN_OK;
}

// Number of lower ends at or before x along an axis.
static int32_t rank_of(const Sap *s, int32_t axis, double x) {
  uint64_t key = cni_double_key(x);
  int32_t low = 0, high = s->count;
  CNI_BISECT(low, high, middle, s->by_axis[axis].keys[middle] <= key)
  return low;
}

static void choose_axes(Sap *s) {
  int32_t samples = s->count < SAMPLES ? s->count : SAMPLES;
  for (int32_t axis = 0; axis < 3; axis++) {
    s->span[axis] = 0;
    for (int32_t k = 0; k < samples; k++) {
      int32_t at = (int32_t)((int64_t)k * s->count / samples);
      int32_t i = s->by_axis[axis].values[at];
      s->span[axis] += rank_of(s, axis, along(s->bounds[i].hi, axis)) - at;
    }
  }
  // best first; of equal ones the first
  for (int32_t axis = 0; axis < 3; axis++) {
    int32_t better = 0;
    for (int32_t other = 0; other < 3; other++)
      better += s->span[other] < s->span[axis] || (s->span[other] == s->span[axis] && other < axis);
    s->axis[better] = axis;
  }
}

static int32_t stripe_of(const Sap *s, double x) {
  int32_t low = 0, high = s->stripe_count - 1;
  CNI_BISECT(low, high, middle, s->cuts[middle] <= x)
  return low;
}

// Cut the second axis at equal shares of the lower ends and count the entries of each stripe, in
// starts[stripe + 1]. Returns their number.
static int64_t cut_stripes(Sap *s) {
  const CniSort *sort = &s->by_axis[s->axis[1]];
  for (int32_t k = 1; k < s->stripe_count; k++) {
    int32_t at = (int32_t)((int64_t)k * s->count / s->stripe_count);
    s->cuts[k - 1] = along(s->bounds[sort->values[at]].lo, s->axis[1]);
  }
  memset(s->starts, 0, (size_t)(s->stripe_count + 2) * sizeof *s->starts);
  int64_t total = 0;
  for (int32_t k = 0; k < s->count; k++) {
    const CniBounds *b = &s->bounds[sort->values[k]];
    int32_t first = stripe_of(s, along(b->lo, s->axis[1]));
    int32_t last = stripe_of(s, along(b->hi, s->axis[1]));
    // as differences from stripe to stripe
    s->starts[first + 1]++;
    s->starts[last + 2]--;
    total += last - first + 1;
  }
  for (int32_t k = 0; k < s->stripe_count; k++) s->starts[k + 1] += s->starts[k];
  return total;
}

// As many stripes as boxes are wide: a box is then in about one and a half of them.
static CnStatus choose_stripes(Sap *s, CniArena *arena) {
  int32_t samples = s->count < SAMPLES ? s->count : SAMPLES;
  int64_t span = s->span[s->axis[1]] > 0 ? s->span[s->axis[1]] : 1;
  int64_t wanted = (int64_t)s->count * samples / (2 * span);
  s->stripe_count = (int32_t)(wanted < 1 ? 1 : wanted > STRIPE_LIMIT ? STRIPE_LIMIT : wanted);
  CNI_TRY(CNI_TAKE(arena, s->stripe_count, s->cuts));
  CNI_TRY(CNI_TAKE(arena, s->stripe_count + 2, s->starts));
  // the sample may have missed a few that reach over everything
  int64_t total = cut_stripes(s);
  while (total > 4 * (int64_t)s->count && s->stripe_count > 1) {
    s->stripe_count /= 2;
    total = cut_stripes(s);
  }
  s->entry_count = (int32_t)total;
  return CN_OK;
}

// Deal the boxes, in the order of the sweep, out to their stripes.
static CnStatus fill_stripes(Sap *s, CniArena *arena) {
  CNI_TRY(CNI_TAKE(arena, s->entry_count, s->entries));
  int32_t sum = 0;
  for (int32_t k = 0; k <= s->stripe_count; k++) {
    int32_t c = k < s->stripe_count ? s->starts[k + 1] : 0;
    s->starts[k] = sum;
    sum += c;
  }
  const int32_t *axis = s->axis;
  for (int32_t k = 0; k < s->count; k++) {
    int32_t i = s->by_axis[axis[0]].values[k];
    const CniBounds *b = &s->bounds[i];
    Entry e = {.index = i};
    for (int32_t d = 0; d < 3; d++) {
      e.lo[d] = along(b->lo, axis[d]);
      e.hi[d] = along(b->hi, axis[d]);
    }
    e.first = stripe_of(s, e.lo[1]);
    int32_t last = stripe_of(s, e.hi[1]);
    for (int32_t stripe = e.first; stripe <= last; stripe++) s->entries[s->starts[stripe]++] = e;
  }
  // the starts have moved to the ends: that is to the next one's start
  for (int32_t k = s->stripe_count; k > 0; k--) s->starts[k] = s->starts[k - 1];
  s->starts[0] = 0;
  return CN_OK;
}

static void find_pairs(const void *context, int32_t begin, int32_t end, CniPairSink *sink) {
  const Sap *s = context;
  int32_t stripe = 0;
  for (int32_t i = begin; i < end; i++) {
    while (s->starts[stripe + 1] <= i) stripe++;
    const Entry *a = &s->entries[i];
    int32_t stripe_end = s->starts[stripe + 1];
    double lo_2 = a->lo[2], hi_2 = a->hi[2];
    for (int32_t j = i + 1; j < stripe_end && s->entries[j].lo[0] <= a->hi[0]; j++) {
      const Entry *b = &s->entries[j];
      // the third axis, of which nothing is known yet, turns most of them down
      if (b->lo[2] > hi_2 || b->hi[2] < lo_2) continue;
      int here = (a->first > b->first ? a->first : b->first) == stripe;
      int hit = here & (a->lo[0] <= b->hi[0]) & (a->lo[1] <= b->hi[1]) & (b->lo[1] <= a->hi[1]);
      if (hit && s->round && s->round[a->index] & s->round[b->index])
        hit = cni_balls_meet(&s->bounds[a->index], &s->bounds[b->index]);
      cni_sink_add(sink, a->index, b->index, hit);
    }
  }
}

CnStatus cni_broad_sap(const CniBounds *bounds, const uint8_t *round, int32_t count, CnTasks *tasks,
                       CniArena *arena, CniPair **pairs, int32_t *pair_count) {
  *pairs = NULL;
  *pair_count = 0;
  Sap sap = {.bounds = bounds, .round = round};
  CNI_TRY(sort_axes(&sap, count, arena));
  if (sap.count == 0) return CN_OK;
  choose_axes(&sap);
  CNI_TRY(choose_stripes(&sap, arena));
  CNI_TRY(fill_stripes(&sap, arena));
  return cni_collect_pairs(find_pairs, &sap, sap.entry_count, PAIRS_EXPECTED, tasks, arena, pairs,
                           pair_count);
}
