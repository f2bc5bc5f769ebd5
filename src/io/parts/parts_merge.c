// SPDX-License-Identifier: Apache-2.0
// Parts that cutting has divided without need are joined again: those whose common hull is no larger
// than they are together, the cheapest pair first; and others, until there are few enough. (Less than
// nothing is no bargain: parts that have been forced together overlap others.) Parts whose boxes are
// apart are looked at only when no others are left.
#include "io/meshes/mesh_private.h"

#include <string.h>

#include "io/parts/parts.h"

#define FREE 1e-6    // of the mesh's volume: costs nothing
#define DIRECTIONS 8 // of hulls with too many corners: 384

typedef struct Merge {
  const CniCutter *cutter;
  CniArena *arena;
  CniMeshParts *parts;
  double *volume; // of the parts
  int32_t anyone; // 1: boxes do not count
  double *cost;   // of each pair, rows of CNI_MESH_PARTS; NAN: not known yet
} Merge;

// The hull of the corners of one or two parts; of more corners than it can have some stand for all.
static CnStatus hull_of(const Merge *m, int32_t i, int32_t j, CniHull **hull) {
  CnVec3 points[2 * CNI_HULL_VERTICES];
  const CniMeshParts *p = m->parts;
  int32_t n = p->first[i + 1] - p->first[i], more = i == j ? 0 : p->first[j + 1] - p->first[j];
  memcpy(points, p->points + p->first[i], (size_t)n * sizeof *points);
  memcpy(points + n, p->points + p->first[j], (size_t)more * sizeof *points);
  CniArenaMark mark = cni_arena_mark(m->arena);
  CnStatus status = cni_parts_hull(m->cutter, points, n + more, DIRECTIONS, m->arena, hull);
  cni_arena_back(m->arena, mark);
  return status;
}

// How far corners of a part lie outside of a hull.
static double outside_of(const CniMeshParts *p, int32_t i, const CniHull *hull) {
  double most = 0;
  for (int32_t k = p->first[i]; k < p->first[i + 1]; k++)
    for (int32_t f = 0; f < hull->face_count; f++)
      most = cn_max(most, cn_dot(hull->faces[f].normal, p->points[k]) - hull->faces[f].height);
  return most;
}

static void box_of(const CniMeshParts *p, int32_t i, CnVec3 *lo, CnVec3 *hi) {
  *lo = *hi = p->points[p->first[i]];
  for (int32_t k = p->first[i]; k < p->first[i + 1]; k++) {
    CnVec3 v = p->points[k];
    *lo = cn_vec3(cn_min(lo->x, v.x), cn_min(lo->y, v.y), cn_min(lo->z, v.z));
    *hi = cn_vec3(cn_max(hi->x, v.x), cn_max(hi->y, v.y), cn_max(hi->z, v.z));
  }
}

static int boxes_touch(const Merge *m, int32_t i, int32_t j) {
  CnVec3 lo[2], hi[2];
  double near = 1e-6 * m->cutter->size;
  box_of(m->parts, i, &lo[0], &hi[0]);
  box_of(m->parts, j, &lo[1], &hi[1]);
  return lo[0].x <= hi[1].x + near && lo[0].y <= hi[1].y + near && lo[0].z <= hi[1].z + near &&
         lo[1].x <= hi[0].x + near && lo[1].y <= hi[0].y + near && lo[1].z <= hi[0].z + near;
}

static CnStatus find_cost(Merge *m, int32_t i, int32_t j, double *cost) {
  CniHull *hull;
  *cost = INFINITY;
  if (!m->anyone && !boxes_touch(m, i, j)) return CN_OK;
  CnStatus status = hull_of(m, i, j, &hull);
  if (status == CN_INVALID_ARGUMENT) return CN_OK;
  CNI_TRY(status);
  *cost = hull->volume - m->volume[i] - m->volume[j];
  cni_hull_destroy(&m->cutter->allocator, hull);
  return CN_OK;
}

// The pair becomes one at place i; the last part takes place j.
static CnStatus join(Merge *m, int32_t i, int32_t j) {
  CniMeshParts *p = m->parts, joined = {.allocator = p->allocator};
  CniHull *hull;
  CNI_TRY(hull_of(m, i, j, &hull));
  double outside = cn_max(outside_of(p, i, hull), outside_of(p, j, hull));
  CnStatus status = CNI_RESERVE(&p->allocator, joined.points, joined.point_capacity, 0,
                                p->point_count + hull->vertex_count);
  for (int32_t k = 0; status == CN_OK && k < p->count - 1; k++) {
    int32_t from = k == j ? p->count - 1 : k, n = p->first[from + 1] - p->first[from];
    const CnVec3 *points = k == i ? hull->vertices : p->points + p->first[from];
    if (k == i) n = hull->vertex_count;
    memcpy(joined.points + joined.point_count, points, (size_t)n * sizeof *points);
    joined.first[k + 1] = joined.point_count += n;
  }
  if (status == CN_OK) {
    CNI_RELEASE(&p->allocator, p->points, p->point_capacity);
    p->points = joined.points;
    p->point_capacity = joined.point_capacity;
    p->point_count = joined.point_count;
    p->count--;
    p->outside += outside;
    memcpy(p->first, joined.first, sizeof joined.first);
    m->volume[i] = hull->volume;
    m->volume[j] = m->volume[p->count];
  }
  cni_hull_destroy(&m->cutter->allocator, hull);
  return status;
}

static void forget(Merge *m, int32_t i) {
  for (int32_t k = 0; k < CNI_MESH_PARTS; k++)
    m->cost[i * CNI_MESH_PARTS + k] = m->cost[k * CNI_MESH_PARTS + i] = NAN;
}

static CnStatus merge(Merge *m, int32_t most) {
  CniMeshParts *p = m->parts;
  for (int32_t i = 0; i < CNI_MESH_PARTS; i++) forget(m, i);
  for (int32_t i = 0; i < p->count; i++) {
    CniHull *hull;
    CNI_TRY(hull_of(m, i, i, &hull));
    m->volume[i] = hull->volume;
    cni_hull_destroy(&m->cutter->allocator, hull);
  }
  for (;;) {
    int32_t best_i = -1, best_j = -1;
    double best = p->count > most ? INFINITY : FREE * p->mesh_volume;
    for (int32_t i = 0; i < p->count; i++)
      for (int32_t j = i + 1; j < p->count; j++) {
        double *cost = &m->cost[i * CNI_MESH_PARTS + j];
        if (isnan(*cost)) CNI_TRY(find_cost(m, i, j, cost));
        if (fabs(*cost) < best) best = fabs(*cost), best_i = i, best_j = j;
      }
    if (best_i < 0 && (p->count <= most || m->anyone)) return CN_OK;
    if (best_i < 0) {
      m->anyone = 1;
      for (int32_t i = 0; i < CNI_MESH_PARTS; i++) forget(m, i);
      continue;
    }
    CNI_TRY(join(m, best_i, best_j));
    forget(m, best_i);
    forget(m, best_j);
    forget(m, p->count);
  }
}

CnStatus cni_parts_merge(const CniCutter *cutter, CniMeshParts *parts, int32_t most) {
  CniArena arena;
  Merge m = {.cutter = cutter, .parts = parts, .arena = &arena};
  cni_arena_init(&arena, &cutter->allocator);
  CnStatus status = CNI_TAKE(&arena, CNI_MESH_PARTS, m.volume);
  if (status == CN_OK) status = CNI_TAKE(&arena, CNI_MESH_PARTS * CNI_MESH_PARTS, m.cost);
  if (status == CN_OK) status = merge(&m, most);
  cni_arena_release(&arena);
  return status;
}
