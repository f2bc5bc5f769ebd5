// SPDX-License-Identifier: Apache-2.0
// The tree of a mesh: boxes over boxes over triangles.
//
// Triangles are put in the order of a curve that fills space (Morton's, 21 bits an axis), four a leaf;
// four boxes that follow each other have one above them, and so on. So the tree needs no links, is the
// same however it is made, and costs 12 bytes a triangle. Boxes are single precision, seen from the
// middle of the mesh and rounded outwards; triangles themselves are tested in double.
#include <string.h>

#include "core/sort.h"
#include "geometry/mesh.h"

#define FAN 4

int32_t cni_mesh_levels(int32_t triangles, CniMesh *m) {
  int32_t size = triangles, total = 0;
  m->level_count = 0;
  do {
    size = (size + FAN - 1) / FAN;
    m->level_first[m->level_count] = total;
    m->level_size[m->level_count++] = size;
    total += size;
  } while (size > 1);
  return total;
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

static uint64_t place_of(const CniMesh *m, int32_t t) {
  CniTriangle a = cni_mesh_triangle(m, t);
  CnVec3 c = cn_scale(1.0 / 3, cn_add(a.at[0], cn_add(a.at[1], a.at[2])));
  return spread(step_of(c.x, m->lo.x, m->hi.x)) | spread(step_of(c.y, m->lo.y, m->hi.y)) << 1 |
         spread(step_of(c.z, m->lo.z, m->hi.z)) << 2;
}

static float down(double x) {
  float f = (float)x;
  return (double)f > x ? nextafterf(f, -INFINITY) : f;
}
static float up(double x) {
  float f = (float)x;
  return (double)f < x ? nextafterf(f, INFINITY) : f;
}

static void box_of_leaf(CniMesh *m, int32_t leaf) {
  CnVec3 lo = {INFINITY, INFINITY, INFINITY}, hi = {-INFINITY, -INFINITY, -INFINITY};
  for (int32_t i = FAN * leaf; i < FAN * leaf + FAN && i < m->triangle_count; i++) {
    CniTriangle a = cni_mesh_triangle(m, m->order[i]);
    for (int32_t k = 0; k < 3; k++) {
      CnVec3 p = cn_sub(a.at[k], m->origin);
      lo = cn_vec3(cn_min(lo.x, p.x), cn_min(lo.y, p.y), cn_min(lo.z, p.z));
      hi = cn_vec3(cn_max(hi.x, p.x), cn_max(hi.y, p.y), cn_max(hi.z, p.z));
    }
  }
  const double from[3] = {lo.x, lo.y, lo.z}, to[3] = {hi.x, hi.y, hi.z};
  float *box = &m->boxes[6 * (size_t)leaf];
  for (int32_t k = 0; k < 3; k++) {
    box[k] = down(from[k]);
    box[3 + k] = up(to[k]);
  }
}

static void box_above(CniMesh *m, int32_t level, int32_t i) {
  float *box = &m->boxes[6 * (size_t)(m->level_first[level] + i)];
  const float *below = &m->boxes[6 * (size_t)(m->level_first[level - 1] + FAN * i)];
  memcpy(box, below, 6 * sizeof *box);
  for (int32_t n = 1; n < FAN && FAN * i + n < m->level_size[level - 1]; n++)
    for (int32_t k = 0; k < 3; k++) {
      if (below[6 * n + k] < box[k]) box[k] = below[6 * n + k];
      if (below[6 * n + 3 + k] > box[3 + k]) box[3 + k] = below[6 * n + 3 + k];
    }
}

CnStatus cni_mesh_grow_tree(const CnAllocator *allocator, CniMesh *m) {
  CniArena arena;
  CniSort sort;
  int32_t n = m->triangle_count;
  cni_arena_init(&arena, allocator);
  CnStatus status = cni_sort_init(&sort, &arena, n);
  if (status == CN_OK) {
    for (int32_t t = 0; t < n; t++) {
      sort.keys[t] = place_of(m, t);
      sort.values[t] = t;
    }
    cni_sort_keys(&sort, n, 63);
    memcpy(m->order, sort.values, (size_t)n * sizeof *m->order);
    for (int32_t i = 0; i < m->level_size[0]; i++) box_of_leaf(m, i);
    for (int32_t level = 1; level < m->level_count; level++)
      for (int32_t i = 0; i < m->level_size[level]; i++) box_above(m, level, i);
  }
  cni_arena_release(&arena);
  return status;
}

// ---- asking ----

// Boxes yet to be opened: of each level three at most wait, and four of the last.
typedef struct Place {
  int32_t level, index;
} Place;
#define WAITING (FAN * CNI_MESH_LEVELS)

static int box_meets(const float *box, const double lo[3], const double hi[3]) {
  return ((double)box[0] <= hi[0]) & ((double)box[3] >= lo[0]) & ((double)box[1] <= hi[1]) &
         ((double)box[4] >= lo[1]) & ((double)box[2] <= hi[2]) & ((double)box[5] >= lo[2]);
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

static const float *box_at(const CniMesh *m, Place at) {
  return &m->boxes[6 * (size_t)(m->level_first[at.level] + at.index)];
}

void cni_mesh_query(const CniMesh *m, CnVec3 lo, CnVec3 hi, CniMeshTake take, void *context) {
  if (m->heights) {
    cni_heights_query(m, lo, hi, take, context);
    return;
  }
  CnVec3 l = cn_sub(lo, m->origin), h = cn_sub(hi, m->origin);
  // what is rounded in the difference is taken back
  double slack = 1e-15 * (fabs(m->origin.x) + fabs(m->origin.y) + fabs(m->origin.z));
  const double from[3] = {l.x - slack, l.y - slack, l.z - slack};
  const double to[3] = {h.x + slack, h.y + slack, h.z + slack};
  Place waiting[WAITING];
  int32_t count = 0;
  waiting[count++] = (Place){m->level_count - 1, 0};
  while (count > 0) {
    Place at = waiting[--count];
    if (!box_meets(box_at(m, at), from, to)) continue;
    if (at.level > 0) {
      count = push(m, waiting, count, at);
      continue;
    }
    for (int32_t i = FAN * at.index; i < FAN * at.index + FAN && i < m->triangle_count; i++) {
      CniTriangle t = cni_mesh_triangle(m, m->order[i]);
      if (cni_triangle_meets(&t, lo, hi)) take(context, m->order[i]);
    }
  }
}

int cni_mesh_any(const CniMesh *m, CnVec3 lo, CnVec3 hi) {
  if (m->heights)
    return !(hi.x < m->lo.x || lo.x > m->hi.x || hi.y < m->lo.y || lo.y > m->hi.y ||
             hi.z < m->lo.z || lo.z > m->hi.z);
  CnVec3 l = cn_sub(lo, m->origin), h = cn_sub(hi, m->origin);
  double slack = 1e-15 * (fabs(m->origin.x) + fabs(m->origin.y) + fabs(m->origin.z));
  const double from[3] = {l.x - slack, l.y - slack, l.z - slack};
  const double to[3] = {h.x + slack, h.y + slack, h.z + slack};
  Place waiting[WAITING];
  int32_t count = 0;
  waiting[count++] = (Place){m->level_count - 1, 0};
  while (count > 0) {
    Place at = waiting[--count];
    if (!box_meets(box_at(m, at), from, to)) continue;
    if (at.level == 0) return 1;
    count = push(m, waiting, count, at);
  }
  return 0;
}

void cni_mesh_walk(const CniMesh *m, CniMeshEnter enter, CniMeshTake take, void *context) {
  Place waiting[WAITING];
  int32_t count = 0;
  waiting[count++] = (Place){m->level_count - 1, 0};
  while (count > 0) {
    Place at = waiting[--count];
    const float *box = box_at(m, at);
    CnVec3 lo = {(double)box[0], (double)box[1], (double)box[2]};
    CnVec3 hi = {(double)box[3], (double)box[4], (double)box[5]};
    if (!enter(context, cn_add(m->origin, lo), cn_add(m->origin, hi))) continue;
    if (at.level > 0) {
      count = push(m, waiting, count, at);
      continue;
    }
    for (int32_t i = FAN * at.index; i < FAN * at.index + FAN && i < m->triangle_count; i++)
      take(context, m->order[i]);
  }
}

// ---- rays ----

// The stretch of a ray inside a box begins before `most`.
static int ray_enters(const float *box, const double from[3], const double way[3], double most) {
  double in = 0, out = most;
  for (int32_t k = 0; k < 3; k++) {
    double slack = 1e-14 * (fabs(from[k]) + fabs((double)box[k]) + fabs((double)box[3 + k]));
    double lo = (double)box[k] - slack - from[k], hi = (double)box[3 + k] + slack - from[k];
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
    if (!ray_enters(box_at(m, at), from, along, first)) continue;
    if (at.level > 0) {
      count = push(m, waiting, count, at);
      continue;
    }
    for (int32_t i = FAN * at.index; i < FAN * at.index + FAN && i < m->triangle_count; i++) {
      CniTriangle t = cni_mesh_triangle(m, m->order[i]);
      double when = cni_triangle_ray(&t, origin, way);
      if (!(when < first || (when == first && when < INFINITY && m->order[i] < *triangle)))
        continue;
      first = when;
      *triangle = m->order[i];
    }
  }
  return first;
}
