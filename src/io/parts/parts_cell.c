// SPDX-License-Identifier: Apache-2.0
// A cell: what of a solid lies between planes. Only its surface is kept, cut triangle by triangle. The
// extreme points of the cell are corners of that, or corners between three of its planes that lie
// within the solid; so no lid need be made where a plane cuts through the solid.
#include "io/meshes/mesh_private.h"

#include <string.h>

#include "core/hash.h"
#include "io/meshes/mesh_steps.h"
#include "io/parts/parts.h"

#define NEAR 1e-9   // of the size: on the plane
#define ROUGH 6     // directions, by as many, on each side of a cube: 216 to rank cuts,
#define FINE 8      // 384 to know a volume
#define SAMPLES 400 // triangles that hollowness is measured at

// ---- cutting ----

static CnVec3 between(CnVec3 a, CnVec3 b, double above_a, double above_b) {
  return cn_madd(a, above_a / (above_a - above_b), cn_sub(b, a));
}

// The piece below the plane, 0 to 2 triangles.
static int32_t cut_triangle(const CniCorners *t, const double above[3], CniCorners out[2]) {
  CnVec3 p[4];
  int32_t n = 0;
  for (int32_t k = 0; k < 3; k++) {
    int32_t next = (k + 1) % 3;
    if (above[k] <= 0) p[n++] = t->at[k];
    if ((above[k] < 0 && above[next] > 0) || (above[k] > 0 && above[next] < 0)) {
      // from the lower end, so that neighbours get the same point
      p[n++] = above[k] < 0 ? between(t->at[k], t->at[next], above[k], above[next])
                            : between(t->at[next], t->at[k], above[next], above[k]);
    }
  }
  for (int32_t i = 0; i + 2 < n; i++) out[i] = (CniCorners){{p[0], p[i + 1], p[i + 2]}};
  return n > 2 ? n - 2 : 0;
}

CnStatus cni_cell_cut(const CniCutter *cutter, const CniCell *cell, CniCut cut, CniArena *arena,
                      CniCell *out) {
  double near = NEAR * cutter->size;
  *out = *cell;
  out->planes[out->plane_count++] = cut;
  out->count = 0;
  CNI_TRY(CNI_TAKE(arena, 2 * (int64_t)cell->count + 1, out->triangles));
  for (int32_t i = 0; i < cell->count; i++) {
    const CniCorners *t = &cell->triangles[i];
    double above[3];
    int32_t on = 0, over = 0;
    for (int32_t k = 0; k < 3; k++) {
      above[k] = cni_cut_above(&cut, t->at[k]);
      if (above[k] >= -near && above[k] <= near) above[k] = 0;
      on += above[k] == 0;
      over += above[k] > 0;
    }
    // what lies in the plane belongs to the side that the solid is on
    if (on == 3 && cn_dot(cni_corners_area(t), cut.normal) < 0) continue;
    if (over > 0 && on + over == 3) continue;
    out->count += cut_triangle(t, above, &out->triangles[out->count]);
  }
  return CN_OK;
}

// ---- corners ----

static int corner_of(const CniCut *a, const CniCut *b, const CniCut *c, CnVec3 *p) {
  CnVec3 bc = cn_cross(b->normal, c->normal);
  double det = cn_dot(a->normal, bc);
  if (fabs(det) < 1e-6) return 0;
  CnVec3 sum = cn_scale(a->height, bc);
  sum = cn_madd(sum, b->height, cn_cross(c->normal, a->normal));
  sum = cn_madd(sum, c->height, cn_cross(a->normal, b->normal));
  *p = cn_scale(1 / det, sum);
  return 1;
}

static int is_between(const CniCutter *cutter, const CniCell *cell, CnVec3 p) {
  for (int32_t i = 0; i < cell->plane_count; i++)
    if (cni_cut_above(&cell->planes[i], p) > NEAR * cutter->size) return 0;
  return 1;
}

// Each corner of the surface once.
static CnStatus surface_corners(const CniCell *cell, CniArena *arena, CnVec3 *points,
                                int32_t *count) {
  int32_t bits = cni_bit_count((uint64_t)cell->count) + 2, *table, n = 0;
  uint64_t mask = ((uint64_t)1 << bits) - 1;
  CNI_TRY(CNI_TAKE(arena, (int64_t)1 << bits, table));
  for (uint64_t i = 0; i <= mask; i++) table[i] = -1;
  for (int32_t i = 0; i < 3 * cell->count; i++) {
    CnVec3 p = cell->triangles[i / 3].at[i % 3];
    uint64_t at = cni_hash_doubles(CNI_HASH_START, &p.x, 3) & mask;
    while (table[at] >= 0 && cn_norm2(cn_sub(points[table[at]], p)) > 0) at = (at + 1) & mask;
    if (table[at] >= 0) continue;
    points[n] = p;
    table[at] = n++;
  }
  *count = n;
  return CN_OK;
}

CnStatus cni_cell_points(const CniCutter *cutter, const CniCell *cell, CniArena *arena,
                         CnVec3 **points, int32_t *count) {
  int32_t planes = cell->plane_count, n = 3 * cell->count;
  int64_t most = n + (int64_t)planes * (planes - 1) * (planes - 2) / 6 + 1;
  CNI_TRY(CNI_TAKE(arena, most, *points));
  CNI_TRY(surface_corners(cell, arena, *points, &n));
  for (int32_t i = 0; i < planes; i++)
    for (int32_t j = i + 1; j < planes; j++)
      for (int32_t k = j + 1; k < planes; k++) {
        CnVec3 p;
        if (!corner_of(&cell->planes[i], &cell->planes[j], &cell->planes[k], &p)) continue;
        if (is_between(cutter, cell, p) && cni_inside(&cutter->inside, p)) (*points)[n++] = p;
      }
  *count = n;
  return CN_OK;
}

// ---- measures ----

// Those farthest along directions to places on the sides of a cube, each once; how many.
static CnStatus farthest(const CnVec3 *points, int32_t count, int32_t grid, CniArena *arena,
                         CnVec3 **out, int32_t *n) {
  uint8_t *taken;
  CNI_TRY(CNI_TAKE(arena, count, taken));
  CNI_TRY(CNI_TAKE(arena, 6 * grid * grid, *out));
  memset(taken, 0, (size_t)count);
  *n = 0;
  for (int32_t side = 0; side < 6 * grid * grid; side++) {
    int32_t k = side % (grid * grid), axis = side / (grid * grid) % 3, best = 0;
    double u = (2.0 * (k % grid) + 1) / grid - 1, v = (2.0 * (k / grid) + 1) / grid - 1;
    double w = side / (3 * grid * grid) ? 1 : -1;
    CnVec3 d = axis == 0 ? cn_vec3(w, u, v) : axis == 1 ? cn_vec3(u, w, v) : cn_vec3(u, v, w);
    double far = cn_dot(d, points[0]);
    for (int32_t i = 1; i < count; i++)
      if (cn_dot(d, points[i]) > far) far = cn_dot(d, points[i]), best = i;
    if (!taken[best]) (*out)[(*n)++] = points[best];
    taken[best] = 1;
  }
  return CN_OK;
}

// How far from a point of the surface the hull ends, along its normal.
static double way_out(const CniHull *hull, CnVec3 p, CnVec3 n) {
  double way = INFINITY;
  for (int32_t f = 0; f < hull->face_count; f++) {
    double along = cn_dot(hull->faces[f].normal, n);
    if (along > 1e-9)
      way = cn_min(way, (hull->faces[f].height - cn_dot(hull->faces[f].normal, p)) / along);
  }
  return way > 0 && way < INFINITY ? way : 0;
}

static double hollowness(const CniCell *cell, const CniHull *hull) {
  int32_t step = 1 + cell->count / SAMPLES;
  double sum = 0;
  for (int32_t i = 0; i < cell->count; i += step) {
    const CniCorners *t = &cell->triangles[i];
    CnVec3 area = cni_corners_area(t), sum3 = cn_add(t->at[0], cn_add(t->at[1], t->at[2]));
    double twice = cn_norm(area);
    if (!(twice > 0)) continue;
    sum += 0.5 * twice * way_out(hull, cn_scale(1.0 / 3, sum3), cn_scale(1 / twice, area));
  }
  return step * sum;
}

CnStatus cni_parts_hull(const CniCutter *cutter, const CnVec3 *points, int32_t count, int32_t grid,
                        CniArena *arena, CniHull **hull) {
  CnStatus status = CN_INVALID_ARGUMENT;
  *hull = NULL;
  if (count <= 6 * grid * grid)
    status = cni_hull_create(&cutter->allocator, "part", points, count, hull);
  if (status != CN_INVALID_ARGUMENT) return status;
  CnVec3 *few;
  // a hull has a limit of corners: what is round on all sides is made of fewer
  for (; grid > 3; grid--) {
    int32_t n;
    CNI_TRY(farthest(points, count, grid, arena, &few, &n));
    status =
        n < 4 ? CN_INVALID_ARGUMENT : cni_hull_create(&cutter->allocator, "part", few, n, hull);
    if (status != CN_INVALID_ARGUMENT) return status;
  }
  return status;
}

CnStatus cni_cell_measure(const CniCutter *cutter, CniCell *cell, CniArena *arena) {
  CnVec3 *points;
  int32_t count;
  CniHull *hull;
  CNI_TRY(cni_cell_points(cutter, cell, arena, &points, &count));
  cell->volume = cell->hollow = 0;
  if (count < 4) return CN_OK;
  CnStatus status = cni_parts_hull(cutter, points, count, ROUGH, arena, &hull);
  if (status == CN_INVALID_ARGUMENT) return CN_OK; // flat
  CNI_TRY(status);
  cell->volume = hull->volume;
  cell->hollow = hollowness(cell, hull);
  cni_hull_destroy(&cutter->allocator, hull);
  return CN_OK;
}

CnStatus cni_cell_volume(const CniCutter *cutter, const CniCell *cell, CniArena *arena,
                         double *volume) {
  CnVec3 *points;
  int32_t count;
  CniHull *hull;
  *volume = cell->volume;
  CNI_TRY(cni_cell_points(cutter, cell, arena, &points, &count));
  if (count <= 6 * ROUGH * ROUGH) return CN_OK;
  CnStatus status = cni_parts_hull(cutter, points, count, FINE, arena, &hull);
  if (status == CN_INVALID_ARGUMENT) return CN_OK;
  CNI_TRY(status);
  *volume = cn_max(*volume, hull->volume);
  cni_hull_destroy(&cutter->allocator, hull);
  return CN_OK;
}
