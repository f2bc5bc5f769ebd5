// SPDX-License-Identifier: Apache-2.0
// Where a solid may be cut: along the faces beside an edge at which it is not convex, along the plane
// between them, and across the cell at some places along each axis. Planes that many such edges share
// come first.
#include "io/meshes/mesh_private.h"

#include "io/meshes/mesh_steps.h"
#include "io/parts/parts.h"

#define SHARP 0.02      // sine of the least angle that counts
#define MOST_EDGES 3000 // that are looked at
#define MOST_PLANES 400
#define BY_EDGES 17 // cuts; the others go along axes

// ---- edges ----

static CnVec3 normal_of(const CniMeshData *m, int32_t t) {
  CnVec3 p = m->vertices[m->triangles[t][0]];
  CnVec3 n = cn_cross(cn_sub(m->vertices[m->triangles[t][1]], p),
                      cn_sub(m->vertices[m->triangles[t][2]], p));
  return cn_unit_or(n, cn_vec3(0, 0, 1));
}

static int make_reflex(const CniMeshData *m, int32_t side, int32_t other, CniReflex *e) {
  CnVec3 n = normal_of(m, side / 3), o = normal_of(m, other / 3);
  e->a = m->vertices[m->triangles[side / 3][side % 3]];
  e->b = m->vertices[m->triangles[side / 3][(side % 3 + 1) % 3]];
  CnVec3 along = cn_unit_or(cn_sub(e->b, e->a), cn_vec3(0, 0, 1));
  // along the edge the first face is on the left: the normals turn clockwise about it if it is reflex
  double turn = cn_dot(along, cn_cross(n, o));
  if (!(turn < -SHARP)) return 0;
  e->sharpness = -turn;
  e->cut[0] = n;
  e->cut[1] = o;
  e->cut[2] = cn_unit_or(cn_cross(along, cn_add(n, o)), n);
  return 1;
}

CnStatus cni_find_reflex(const CniMeshData *mesh, CniArena *arena, CniReflex **edges,
                         int32_t *count) {
  CniMeshSides sides;
  *count = 0;
  CNI_TRY(cni_mesh_find_sides(mesh, arena, &sides));
  CNI_TRY(CNI_TAKE(arena, (int64_t)sides.edge_count + 1, *edges));
  for (int32_t e = 0; e < sides.edge_count; e++) {
    const int32_t *s = &sides.side[sides.first[e]];
    if (sides.first[e + 1] - sides.first[e] != 2) continue;
    *count += make_reflex(mesh, s[0], s[1], &(*edges)[*count]);
  }
  return CN_OK;
}

// The length of an edge that lies between the planes of a cell.
static double length_within(const CniCell *cell, const CniReflex *e, double near) {
  double from = 0, to = 1, length = cn_norm(cn_sub(e->b, e->a));
  for (int32_t i = 0; i < cell->plane_count; i++) {
    double a = cni_cut_above(&cell->planes[i], e->a) + near;
    double b = cni_cut_above(&cell->planes[i], e->b) + near;
    if (a >= 0 && b >= 0) return 0; // outside, or along the plane
    if (a > 0) from = cn_max(from, a / (a - b));
    if (b > 0) to = cn_min(to, a / (a - b));
  }
  return to > from ? (to - from) * length : 0;
}

// ---- planes ----

typedef struct Choice {
  CniCut cut;
  double weight;
} Choice;

static void offer(Choice *choices, int32_t *count, CniCut cut, double weight, double near) {
  for (int32_t i = 0; i < *count; i++) {
    double along = cn_dot(choices[i].cut.normal, cut.normal);
    double height = along > 0 ? cut.height : -cut.height;
    if (fabs(along) < 1 - 1e-6 || fabs(choices[i].cut.height - height) > near) continue;
    choices[i].weight += weight;
    return;
  }
  if (*count < MOST_PLANES) choices[(*count)++] = (Choice){cut, weight};
}

static void offer_edges(const CniCutter *cutter, const CniCell *cell, const CniReflex *edges,
                        int32_t edge_count, Choice *choices, int32_t *count) {
  double near = 1e-6 * cutter->size;
  int32_t step = 1 + edge_count / MOST_EDGES;
  for (int32_t i = 0; i < edge_count; i += step) {
    double weight = length_within(cell, &edges[i], near) * edges[i].sharpness;
    if (!(weight > 0)) continue;
    for (int32_t k = 0; k < 3; k++)
      offer(choices, count, (CniCut){edges[i].cut[k], cn_dot(edges[i].cut[k], edges[i].a)}, weight,
            near);
  }
}

int32_t cni_cell_cuts(const CniCutter *cutter, const CniCell *cell, const CniReflex *edges,
                      int32_t edge_count, CniCut cuts[CNI_CUTS]) {
  Choice choices[MOST_PLANES];
  int32_t count = 0, n = 0;
  offer_edges(cutter, cell, edges, edge_count, choices, &count);
  for (; n < BY_EDGES; n++) {
    int32_t best = -1;
    for (int32_t i = 0; i < count; i++)
      if (choices[i].weight > 0 && (best < 0 || choices[i].weight > choices[best].weight)) best = i;
    if (best < 0) break;
    cuts[n] = choices[best].cut;
    choices[best].weight = 0;
  }
  CnVec3 lo = cell->triangles[0].at[0], hi = lo;
  for (int32_t i = 0; i < 3 * cell->count; i++) {
    CnVec3 p = cell->triangles[i / 3].at[i % 3];
    lo = cn_vec3(cn_min(lo.x, p.x), cn_min(lo.y, p.y), cn_min(lo.z, p.z));
    hi = cn_vec3(cn_max(hi.x, p.x), cn_max(hi.y, p.y), cn_max(hi.z, p.z));
  }
  for (int32_t k = 0; k < 3 * CNI_CUTS_ALONG; k++) {
    int32_t axis = k / CNI_CUTS_ALONG;
    double part = (2.0 + k % CNI_CUTS_ALONG) / (CNI_CUTS_ALONG + 3);
    CnVec3 normal = {axis == 0, axis == 1, axis == 2};
    CnVec3 at = cn_madd(lo, part, cn_sub(hi, lo));
    cuts[n++] = (CniCut){normal, cn_dot(normal, at)};
  }
  return n;
}
