// SPDX-License-Identifier: Apache-2.0
// A height field: a mesh whose triangles are not kept but follow from a grid of heights. Sample (i, j)
// stands at (i dx, j dy); a cell is cut along the diagonal from its lowest to its highest numbers. A
// sample that is no number is a hole, and so are the triangles that would have it as a corner. It costs
// 8 bytes a cell.
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "geometry/mesh.h"

CnHeightsDef cn_heights_def_default(void) {
  return (CnHeightsDef){.size = sizeof(CnHeightsDef), .tag = CNI_TAG_HEIGHTS};
}

// ---- making ----

static CnStatus check(const char *what, const CnHeightsDef *def) {
  int64_t cells = ((int64_t)def->x_count - 1) * ((int64_t)def->y_count - 1);
  if (!def->heights) return cni_invalid("%s: a height field needs heights", what);
  if (def->x_count < 2 || def->y_count < 2 || 2 * cells > CNI_MESH_TRIANGLES)
    return cni_invalid(
        "%s: a height field has 2 or more samples a side and at most %d cells (got %d by %d)", what,
        CNI_MESH_TRIANGLES / 2, (int)def->x_count, (int)def->y_count);
  if (!(def->x_spacing > 0 && def->x_spacing < 1e20 && def->y_spacing > 0 && def->y_spacing < 1e20))
    return cni_invalid("%s: spacing must be finite and positive (got %g and %g)", what,
                       def->x_spacing, def->y_spacing);
  if (!(def->thickness >= 0 && def->thickness < 1e100))
    return cni_invalid("%s: thickness must be finite and not negative (got %g)", what,
                       def->thickness);
  for (int64_t i = 0; i < (int64_t)def->x_count * def->y_count; i++)
    if (isinf(def->heights[i]) || fabs(def->heights[i]) > 1e30)
      return cni_invalid("%s: height %lld must be below 1e30 (got %g)", what, (long long)i,
                         def->heights[i]);
  return CN_OK;
}

CnStatus cni_heights_create(const CnAllocator *allocator, const char *what, const CnHeightsDef *def,
                            CniMesh **mesh) {
  *mesh = NULL;
  CNI_TRY(check(what, def));
  size_t count = (size_t)def->x_count * (size_t)def->y_count,
         head = (sizeof(CniMesh) + 63) / 64 * 64;
  CniMesh *m;
  CNI_TRY(cni_new(allocator, head + count * sizeof(double), &m));
  m->bytes = head + count * sizeof(double);
  m->heights = (double *)((char *)m + head);
  memcpy(m->heights, def->heights, count * sizeof(double));
  m->x_count = def->x_count;
  m->y_count = def->y_count;
  m->dx = def->x_spacing;
  m->dy = def->y_spacing;
  m->vertex_count = def->x_count * def->y_count;
  m->triangle_count = 2 * (m->x_count - 1) * (m->y_count - 1);
  m->edge_count =
      m->triangle_count / 2 + (m->x_count - 1) * m->y_count + m->x_count * (m->y_count - 1);
  m->two_sided = def->two_sided != 0;
  m->radius = 0.5 * def->thickness;
  double lo = INFINITY, hi = -INFINITY;
  for (size_t i = 0; i < count; i++)
    if (!isnan(m->heights[i])) lo = cn_min(lo, m->heights[i]), hi = cn_max(hi, m->heights[i]);
  if (!(lo <= hi)) {
    cni_mesh_destroy(allocator, m);
    return cni_invalid("%s: a height field needs a height that is a number", what);
  }
  m->lo = cn_vec3(0, 0, lo);
  m->hi = cn_vec3((m->x_count - 1) * m->dx, (m->y_count - 1) * m->dy, hi);
  m->origin = cn_scale(0.5, cn_add(m->lo, m->hi));
  CnVec3 far = {m->hi.x, m->hi.y, cn_max(fabs(lo), fabs(hi))};
  m->outradius = cn_norm(far) + m->radius;
  *mesh = m;
  return CN_OK;
}

// ---- triangles ----

// Of half 0 the corners (0,0), (1,0), (1,1) of its cell, of half 1 (0,0), (1,1), (0,1).
static const int32_t corner_x[2][3] = {{0, 1, 1}, {0, 1, 0}},
                     corner_y[2][3] = {{0, 0, 1}, {0, 1, 1}};
// The cell and the half beyond each edge.
static const int32_t beyond_x[2][3] = {{0, 1, 0}, {0, 0, -1}},
                     beyond_y[2][3] = {{-1, 0, 0}, {0, 1, 0}};

int32_t cni_heights_vertex(const CniMesh *m, int32_t t, int32_t k) {
  int32_t half = t & 1, cell = t >> 1, row = m->x_count - 1;
  return (cell / row + corner_y[half][k]) * m->x_count + cell % row + corner_x[half][k];
}

int cni_mesh_is_there(const CniMesh *m, int32_t t) {
  for (int32_t k = 0; m->heights && k < 3; k++)
    if (isnan(m->heights[cni_heights_vertex(m, t, k)])) return 0;
  return 1;
}

int32_t cni_heights_neighbour(const CniMesh *m, int32_t t, int32_t k) {
  int32_t half = t & 1, cell = t >> 1, row = m->x_count - 1;
  int32_t i = cell % row + beyond_x[half][k], j = cell / row + beyond_y[half][k];
  if (i < 0 || j < 0 || i >= row || j >= m->y_count - 1) return -1;
  int32_t other = 2 * (j * row + i) + 1 - half;
  return cni_mesh_is_there(m, other) ? other : -1;
}

uint32_t cni_mesh_part(const CniMesh *m, int32_t t) {
  if (!m->heights) return (uint32_t)t & 0xfffu;
  int32_t cell = t >> 1, row = m->x_count - 1;
  return ((uint32_t)(cell % row) & 63u) | ((uint32_t)(cell / row) & 31u) << 6 |
         ((uint32_t)t & 1u) << 11;
}

// ---- asking ----

static int32_t step_of(double x, double by, int32_t cells) {
  double step = floor(x / by);
  return step < 0 ? 0 : step >= cells ? cells - 1 : (int32_t)step;
}

void cni_heights_query(const CniMesh *m, CnVec3 lo, CnVec3 hi, CniMeshTake take, void *context) {
  if (hi.x < m->lo.x || lo.x > m->hi.x || hi.y < m->lo.y || lo.y > m->hi.y || hi.z < m->lo.z ||
      lo.z > m->hi.z)
    return;
  int32_t row = m->x_count - 1, rows = m->y_count - 1;
  int32_t i0 = step_of(lo.x - 1e-12 * m->hi.x, m->dx, row),
          i1 = step_of(hi.x + 1e-12 * m->hi.x, m->dx, row);
  int32_t j0 = step_of(lo.y - 1e-12 * m->hi.y, m->dy, rows),
          j1 = step_of(hi.y + 1e-12 * m->hi.y, m->dy, rows);
  for (int32_t j = j0; j <= j1; j++)
    for (int32_t i = i0; i <= i1; i++)
      for (int32_t half = 0; half < 2; half++) {
        int32_t t = 2 * (j * row + i) + half;
        if (!cni_mesh_is_there(m, t)) continue;
        CniTriangle at = cni_mesh_triangle(m, t);
        if (cni_triangle_meets(&at, lo, hi)) take(context, t);
      }
}

typedef struct Ray {
  CnVec3 origin, way;
  double first;
  int32_t triangle;
} Ray;

// The cells of one column that a ray passes from y0 to y1.
static void look_column(const CniMesh *m, Ray *ray, int32_t i, double y0, double y1) {
  int32_t row = m->x_count - 1, rows = m->y_count - 1;
  double slack = 1e-9 * m->dy;
  int32_t j0 = step_of(cn_min(y0, y1) - slack, m->dy, rows),
          j1 = step_of(cn_max(y0, y1) + slack, m->dy, rows);
  for (int32_t j = j0; j <= j1; j++)
    for (int32_t half = 0; half < 2; half++) {
      int32_t t = 2 * (j * row + i) + half;
      if (!cni_mesh_is_there(m, t)) continue;
      CniTriangle at = cni_mesh_triangle(m, t);
      double when = cni_triangle_ray(&at, ray->origin, ray->way);
      if (when < ray->first) ray->first = when, ray->triangle = t;
    }
}

double cni_heights_ray(const CniMesh *m, CnVec3 origin, CnVec3 way, int32_t *triangle) {
  Ray ray = {origin, way, INFINITY, -1};
  // the stretch over the field
  double in = 0, out = INFINITY, slack = 1e-9;
  const double o[3] = {origin.x, origin.y, origin.z}, d[3] = {way.x, way.y, way.z};
  const double lo[3] = {m->lo.x, m->lo.y, m->lo.z}, hi[3] = {m->hi.x, m->hi.y, m->hi.z};
  for (int32_t k = 0; k < 3; k++) {
    double grow = slack * (hi[k] - lo[k] + m->dx), a = lo[k] - grow - o[k], b = hi[k] + grow - o[k];
    if (d[k] == 0 && (a > 0 || b < 0)) in = INFINITY;
    if (d[k] == 0) continue;
    in = cn_max(in, cn_min(a / d[k], b / d[k]));
    out = cn_min(out, cn_max(a / d[k], b / d[k]));
  }
  *triangle = -1;
  if (!(in <= out)) return INFINITY;
  double x0 = o[0] + in * d[0], x1 = o[0] + out * d[0];
  int32_t row = m->x_count - 1, step = x1 >= x0 ? 1 : -1;
  double by = slack * m->dx * step;
  int32_t i = step_of(x0 - by, m->dx, row), last = step_of(x1 + by, m->dx, row);
  for (;; i += step) {
    double a = in, b = out; // of this column
    if (d[0] != 0) {
      double p = (i * m->dx - fabs(by) - o[0]) / d[0],
             q = ((i + 1) * m->dx + fabs(by) - o[0]) / d[0];
      a = cn_max(in, cn_min(p, q));
      b = cn_min(out, cn_max(p, q));
    }
    look_column(m, &ray, i, o[1] + a * d[1], o[1] + b * d[1]);
    if (i == last || ray.first <= a) break;
  }
  *triangle = ray.triangle;
  return ray.first;
}
