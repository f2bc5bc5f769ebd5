// SPDX-License-Identifier: Apache-2.0
// The tree of a mesh: boxes over boxes over triangles.
//
// Triangles are put in the order of a curve that fills space (Hilbert's, 21 bits an axis), each with a box;
// four boxes that follow each other have one above them, and so on. So the tree needs no links, is the
// same however it is made, and costs 36 bytes a triangle. Boxes are single precision, seen from the
// middle of the mesh and rounded outwards; triangles themselves are tested in double. The four boxes below one
// stand side by side, coordinate by coordinate, so that one look is at all of them.
#include <float.h>

#include "core/sort.h"
#include "geometry/mesh.h"

#define FAN 4
#define BITS 21

int32_t cni_mesh_levels(int32_t triangles, CniMesh *m) {
  int32_t total = 0;
  m->level_count = 0;
  for (int32_t size = triangles;; size = (size + FAN - 1) / FAN) {
    m->level_first[m->level_count] = total;
    m->level_size[m->level_count++] = size;
    total += (size + FAN - 1) / FAN * FAN;
    if (size == 1) return total;
  }
}

// ---- growing ----

// The lowest 21 bits, two zeros after each.
static uint64_t spread(uint64_t x) {
  x &= 0x1fffff;
  x = (x | x << 32) & 0x1f00000000ffffu;
  x = (x | x << 16) & 0x1f0000ff0000ffu;
  x = (x | x << 8) & 0x100f00f00f00f00fu;
  x = (x | x << 4) & 0x10c30c30c30c30c3u;
  return (x | x << 2) & 0x1249249249249249u;
}

static uint64_t step_of(double x, double lo, double hi) {
  double share = hi > lo ? (x - lo) / (hi - lo) : 0;
  return (uint64_t)(cn_clamp(share, 0, 1) * 0x1fffff);
}

// Along Hilbert's curve, which leaves no place for one that is not beside it (Skilling 2004): from the largest bit down
// the axes are turned and mirrored as the curve enters each of the eight parts of a box.
static void follow_curve(uint64_t x[3]) {
  uint64_t turn = 0;
  for (int32_t bit = BITS - 1; bit > 0; bit--) {
    uint64_t below = ((uint64_t)1 << bit) - 1;
    x[0] ^= below & -(x[0] >> bit & 1);
    for (int32_t k = 1; k < 3; k++) {
      uint64_t here = -(x[k] >> bit & 1), differ = (x[0] ^ x[k]) & below & ~here;
      x[0] ^= (below & here) | differ;
      x[k] ^= differ;
    }
  }
  x[1] ^= x[0];
  x[2] ^= x[1];
  for (int32_t bit = BITS - 1; bit > 0; bit--)
    turn ^= (((uint64_t)1 << bit) - 1) & -(x[2] >> bit & 1);
  for (int32_t k = 0; k < 3; k++) x[k] ^= turn;
}

static uint64_t place_of(const CniMesh *m, int32_t t) {
  CniTriangle a = cni_mesh_triangle(m, t);
  CnVec3 c = cn_scale(1.0 / 3, cn_add(a.at[0], cn_add(a.at[1], a.at[2])));
  uint64_t x[3] = {step_of(c.x, m->lo.x, m->hi.x), step_of(c.y, m->lo.y, m->hi.y),
                   step_of(c.z, m->lo.z, m->hi.z)};
  follow_curve(x);
  return spread(x[0]) << 2 | spread(x[1]) << 1 | spread(x[2]);
}

static float down(double x) {
  float f = (float)x;
  return (double)f > x ? nextafterf(f, -INFINITY) : f;
}
static float up(double x) {
  float f = (float)x;
  return (double)f < x ? nextafterf(f, INFINITY) : f;
}

// Coordinate k of a box of a level, 3 + k its upper end.
static float *side_of(const CniMesh *m, int32_t level, int32_t i, int32_t k) {
  size_t place = (size_t)(m->level_first[level] + i);
  return &m->boxes[6 * (place / FAN * FAN) + (size_t)(FAN * k) + place % FAN];
}

static void box_of_leaf(CniMesh *m, int32_t leaf) {
  CniTriangle a = cni_mesh_triangle(m, m->order[leaf]);
  CnVec3 lo = cn_sub(a.at[0], m->origin), hi = lo;
  for (int32_t k = 1; k < 3; k++) {
    CnVec3 p = cn_sub(a.at[k], m->origin);
    lo = cn_vec3(cn_min(lo.x, p.x), cn_min(lo.y, p.y), cn_min(lo.z, p.z));
    hi = cn_vec3(cn_max(hi.x, p.x), cn_max(hi.y, p.y), cn_max(hi.z, p.z));
  }
  const double from[3] = {lo.x, lo.y, lo.z}, to[3] = {hi.x, hi.y, hi.z};
  for (int32_t k = 0; k < 3; k++) {
    *side_of(m, 0, leaf, k) = down(from[k]);
    *side_of(m, 0, leaf, 3 + k) = up(to[k]);
  }
}

static void box_above(CniMesh *m, int32_t level, int32_t i) {
  for (int32_t k = 0; k < 6; k++) {
    float *side = side_of(m, level, i, k);
    *side = *side_of(m, level - 1, FAN * i, k);
    for (int32_t n = 1; n < FAN && FAN * i + n < m->level_size[level - 1]; n++) {
      float below = *side_of(m, level - 1, FAN * i + n, k);
      if (k < 3 ? below < *side : below > *side) *side = below;
    }
  }
}

typedef struct Grow {
  CniMesh *mesh;
  CniSort sort;
  int32_t level;
} Grow;

static void find_places(void *context, int32_t begin, int32_t end) {
  const Grow *g = context;
  for (int32_t t = begin; t < end; t++) {
    g->sort.keys[t] = place_of(g->mesh, t);
    g->sort.values[t] = t;
  }
}

static void find_boxes(void *context, int32_t begin, int32_t end) {
  const Grow *g = context;
  for (int32_t i = begin; i < end; i++)
    if (g->level > 0)
      box_above(g->mesh, g->level, i);
    else
      box_of_leaf(g->mesh, i);
}

CnStatus cni_mesh_grow_tree(const CnAllocator *allocator, CnTasks *tasks, CniMesh *m) {
  CniArena arena;
  Grow g = {.mesh = m};
  int32_t n = m->triangle_count;
  cni_arena_init(&arena, allocator);
  CnStatus status = cni_sort_init(&g.sort, &arena, n);
  if (status == CN_OK) {
    cni_parallel_for(tasks, n, CNI_MESH_A_TASK, find_places, &g);
    status = cni_sort_keys_shared(&g.sort, &arena, tasks, n, 63);
  }
  if (status == CN_OK) memcpy(m->order, g.sort.values, (size_t)n * sizeof *m->order);
  for (; status == CN_OK && g.level < m->level_count; g.level++)
    cni_parallel_for(tasks, m->level_size[g.level], CNI_MESH_A_TASK, find_boxes, &g);
  cni_arena_release(&arena);
  return status;
}

// ---- asking ----

// Boxes yet to be opened, or groups of four to be looked at: of each level three at most wait, and four of
// the last.
typedef struct Place {
  int32_t level, index;
} Place;
#define WAITING (FAN * CNI_MESH_LEVELS)
#define LIST 128 // boxes of a level that a query may meet to be quick

// Four numbers side by side, in memory too.
typedef float Four __attribute__((vector_size(16)));
typedef float FourThere __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t FourBits __attribute__((vector_size(16)));
typedef int64_t TwoBits __attribute__((vector_size(16)));

// A box in the numbers of the tree, each four times: no smaller, whatever the rounding.
typedef struct Asked {
  Four x, y, z, to_x, to_y, to_z;
} Asked;

static double inside(double x) { return cn_clamp(x, -(double)FLT_MAX, (double)FLT_MAX); }

// What is rounded in a difference, and to single precision, is taken back.
static Four end_of(double x, double way, double slack) {
  double in = inside(x);
  float f = (float)(in + way * (1.2e-7 * fabs(in) + slack));
  return (Four){f, f, f, f};
}

static void set_asked(Asked *a, const CniMesh *m, CnVec3 lo, CnVec3 hi) {
  CnVec3 l = cn_sub(lo, m->origin), h = cn_sub(hi, m->origin);
  double slack = 1e-15 * (fabs(m->origin.x) + fabs(m->origin.y) + fabs(m->origin.z)) + 1e-37;
  a->x = end_of(l.x, -1, slack);
  a->y = end_of(l.y, -1, slack);
  a->z = end_of(l.z, -1, slack);
  a->to_x = end_of(h.x, 1, slack);
  a->to_y = end_of(h.y, 1, slack);
  a->to_z = end_of(h.z, 1, slack);
}

// Which of the boxes below one, a bit each.
static inline unsigned which_meet(const CniMesh *m, Place group, const Asked *a) {
  const float *at = &m->boxes[6 * (size_t)(m->level_first[group.level] + FAN * group.index)];
  const FourThere *box = (const FourThere *)(const void *)at;
  int32_t left = m->level_size[group.level] - FAN * group.index;
  FourBits in = (box[0] <= a->to_x) & (box[1] <= a->to_y) & (box[2] <= a->to_z) & (box[3] >= a->x) &
                (box[4] >= a->y) & (box[5] >= a->z) & (FourBits){1, 2, 4, 8};
  TwoBits halves = (TwoBits)in;
  uint64_t both = (uint64_t)(halves[0] | halves[1]);
  unsigned bits = (unsigned)(both | both >> 32) & 15;
  return left < FAN ? bits & ((1u << left) - 1) : bits;
}

static int apart(double a, double b, double c, double lo, double hi) {
  return cn_min(a, cn_min(b, c)) > hi || cn_max(a, cn_max(b, c)) < lo;
}

int cni_triangle_meets(const CniTriangle *t, CnVec3 lo, CnVec3 hi) {
  return !apart(t->at[0].x, t->at[1].x, t->at[2].x, lo.x, hi.x) &&
         !apart(t->at[0].y, t->at[1].y, t->at[2].y, lo.y, hi.y) &&
         !apart(t->at[0].z, t->at[1].z, t->at[2].z, lo.z, hi.z);
}

// Children of a box, last first, so that the first is taken next.
static int32_t push(const CniMesh *m, Place *waiting, int32_t count, Place at) {
  int32_t first = FAN * at.index, last = first + FAN;
  if (last > m->level_size[at.level - 1]) last = m->level_size[at.level - 1];
  for (int32_t i = last; i-- > first;) waiting[count++] = (Place){at.level - 1, i};
  return count;
}

// The triangle of a leaf, if it meets a box.
static void take_leaf(const CniMesh *m, int32_t leaf, CnVec3 lo, CnVec3 hi, CniMeshTake take,
                      void *context) {
  CniTriangle t = cni_mesh_triangle(m, m->order[leaf]);
  if (cni_triangle_meets(&t, lo, hi)) take(context, m->order[leaf]);
}

// Level by level, in the order of the tree: the boxes of a group that meet a box are put down whether they do or not, and
// kept by counting, as nobody can predict which they are. How many leaves; -1: too many for the list.
static int32_t find_leaves(const CniMesh *m, const Asked *asked, int32_t leaves[LIST + FAN]) {
  int32_t other[LIST + FAN], *from = m->level_count % 2 ? other : leaves, *to = leaves, count = 1;
  from[0] = 0; // the root stands alone in its group
  for (int32_t level = m->level_count; level-- > 0;) {
    int32_t found = 0;
    to = from == leaves ? other : leaves;
    for (int32_t i = 0; i < count; i++) {
      unsigned which = which_meet(m, (Place){level, from[i]}, asked);
      for (int32_t n = 0; n < FAN; n++) {
        to[found] = FAN * from[i] + n;
        found += (int32_t)(which >> n & 1);
      }
      if (found > LIST) return -1;
    }
    count = found;
    from = to;
  }
  return count;
}

// Groups of boxes that meet a box, down to the leaves; without `take` the answer is whether there is one.
static int descend(const CniMesh *m, const Asked *asked, CnVec3 lo, CnVec3 hi, CniMeshTake take,
                   void *context) {
  Place waiting[WAITING];
  int32_t count = 0;
  waiting[count++] = (Place){m->level_count - 1, 0};
  while (count > 0) {
    Place at = waiting[--count];
    unsigned which = which_meet(m, at, asked);
    if (which == 0) continue;
    if (at.level == 0 && !take) return 1;
    for (int32_t n = 0; at.level == 0 && n < FAN; n++)
      if (which >> n & 1) take_leaf(m, FAN * at.index + n, lo, hi, take, context);
    for (int32_t n = FAN; at.level > 0 && n-- > 0;)
      if (which >> n & 1) waiting[count++] = (Place){at.level - 1, FAN * at.index + n};
  }
  return 0;
}

// Few leaves, as mostly, are found first and taken then.
static int ask(const CniMesh *m, CnVec3 lo, CnVec3 hi, CniMeshTake take, void *context) {
  Asked asked;
  int32_t leaves[LIST + FAN];
  set_asked(&asked, m, lo, hi);
  int32_t count = find_leaves(m, &asked, leaves);
  if (count < 0) return descend(m, &asked, lo, hi, take, context);
  for (int32_t i = 0; take && i < count; i++) take_leaf(m, leaves[i], lo, hi, take, context);
  return count > 0;
}

void cni_mesh_query(const CniMesh *m, CnVec3 lo, CnVec3 hi, CniMeshTake take, void *context) {
  if (m->heights)
    cni_heights_query(m, lo, hi, take, context);
  else
    ask(m, lo, hi, take, context);
}

int cni_mesh_any(const CniMesh *m, CnVec3 lo, CnVec3 hi) {
  if (!m->heights) return ask(m, lo, hi, NULL, NULL);
  return !(hi.x < m->lo.x || lo.x > m->hi.x || hi.y < m->lo.y || lo.y > m->hi.y || hi.z < m->lo.z ||
           lo.z > m->hi.z);
}

static void box_at(const CniMesh *m, Place at, double box[6]) {
  for (int32_t k = 0; k < 6; k++) box[k] = (double)*side_of(m, at.level, at.index, k);
}

void cni_mesh_walk(const CniMesh *m, CniMeshEnter enter, CniMeshTake take, void *context) {
  Place waiting[WAITING];
  int32_t count = 0;
  waiting[count++] = (Place){m->level_count - 1, 0};
  while (count > 0) {
    Place at = waiting[--count];
    double box[6];
    box_at(m, at, box);
    CnVec3 lo = {box[0], box[1], box[2]}, hi = {box[3], box[4], box[5]};
    if (!enter(context, cn_add(m->origin, lo), cn_add(m->origin, hi))) continue;
    if (at.level > 0) {
      count = push(m, waiting, count, at);
      continue;
    }
    take(context, m->order[at.index]);
  }
}

// ---- rays ----

// The stretch of a ray inside a box begins before `most`.
static int ray_enters(const double box[6], const double from[3], const double way[3], double most) {
  double in = 0, out = most;
  for (int32_t k = 0; k < 3; k++) {
    double slack = 1e-14 * (fabs(from[k]) + fabs(box[k]) + fabs(box[3 + k]));
    double lo = box[k] - slack - from[k], hi = box[3 + k] + slack - from[k];
    if (way[k] == 0) {
      if (lo > 0 || hi < 0) return 0;
      continue;
    }
    double a = lo / way[k], b = hi / way[k];
    in = cn_max(in, cn_min(a, b));
    out = cn_min(out, cn_max(a, b));
  }
  return in <= out * (1 + 1e-14);
}

// Products of edges change their sign exactly with the direction of the edge: no ray slips through
// between two neighbours.
double cni_triangle_ray(const CniTriangle *t, CnVec3 origin, CnVec3 way) {
  CnVec3 a = cn_sub(t->at[0], origin), b = cn_sub(t->at[1], origin), c = cn_sub(t->at[2], origin);
  double u = cn_dot(way, cn_cross(b, c)), v = cn_dot(way, cn_cross(c, a));
  double w = cn_dot(way, cn_cross(a, b)), sum = u + v + w;
  if ((u < 0 || v < 0 || w < 0) && (u > 0 || v > 0 || w > 0)) return INFINITY;
  if (sum == 0) return INFINITY;
  CnVec3 n = cni_triangle_area(t);
  double speed = cn_dot(n, way);
  if (speed == 0) return INFINITY;
  double at = cn_dot(n, a) / speed;
  return at >= 0 ? at : INFINITY;
}

double cni_mesh_ray(const CniMesh *m, CnVec3 origin, CnVec3 way, int32_t *triangle) {
  if (m->heights) return cni_heights_ray(m, origin, way, triangle);
  CnVec3 o = cn_sub(origin, m->origin);
  const double from[3] = {o.x, o.y, o.z}, along[3] = {way.x, way.y, way.z};
  Place waiting[WAITING];
  int32_t count = 0;
  double first = INFINITY;
  *triangle = -1;
  waiting[count++] = (Place){m->level_count - 1, 0};
  while (count > 0) {
    Place at = waiting[--count];
    double box[6];
    box_at(m, at, box);
    if (!ray_enters(box, from, along, first)) continue;
    if (at.level > 0) {
      count = push(m, waiting, count, at);
      continue;
    }
    CniTriangle t = cni_mesh_triangle(m, m->order[at.index]);
    double when = cni_triangle_ray(&t, origin, way);
    if (!(when < first || (when == first && when < INFINITY && m->order[at.index] < *triangle)))
      continue;
    first = when;
    *triangle = m->order[at.index];
  }
  return first;
}
