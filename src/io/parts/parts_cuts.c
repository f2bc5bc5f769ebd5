// SPDX-License-Identifier: Apache-2.0
// Where a solid may be cut: along the faces beside an edge at which it is not convex, along the plane
// between them, across an axis where such an edge runs across it, and across the cell at some places
// along each axis.
//
// Of the many planes by edges some are chosen that differ: each plane divides a hundred points of the
// surface into two sets, and of planes that divide them nearly alike the one with the longest and
// sharpest edges is enough. So a ring has planes all around it and not seventeen neighbours.
#include "io/meshes/mesh_private.h"

#include "io/meshes/mesh_steps.h"
#include "io/parts/parts.h"

#define SHARP 0.02     // sine of the least angle that counts
#define MOST_EDGES 600 // of a cell that are looked at
#define MOST_PLANES 1000
#define BY_EDGES 33 // cuts; the others go along axes
#define PROBES 128  // points of the surface
#define ACROSS 1e-6 // cosine of the angle between an edge and an axis that it runs across

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
  uint64_t above[PROBES / 64]; // which points lie above it
  int32_t apart;               // points that the nearest of the chosen ones divides otherwise
} Choice;

typedef struct Choices {
  Choice *all;
  int32_t count;
  double near;
} Choices;

static void offer(Choices *c, CnVec3 normal, CnVec3 at, double weight) {
  CniCut cut = {normal, cn_dot(normal, at)};
  for (int32_t i = 0; i < c->count; i++) {
    const CniCut *old = &c->all[i].cut;
    double along = cn_dot(old->normal, cut.normal);
    double height = along > 0 ? cut.height : -cut.height;
    if (fabs(along) < 1 - 1e-6 || fabs(old->height - height) > c->near) continue;
    c->all[i].weight += weight;
    return;
  }
  if (c->count < MOST_PLANES) c->all[c->count++] = (Choice){.cut = cut, .weight = weight};
}

static void offer_edge(Choices *c, const CniReflex *e, double weight) {
  CnVec3 along = cn_sub(e->b, e->a);
  double across = ACROSS * cn_norm(along);
  for (int32_t k = 0; k < 3; k++) offer(c, e->cut[k], e->a, weight);
  if (fabs(along.x) <= across) offer(c, cn_vec3(1, 0, 0), e->a, weight);
  if (fabs(along.y) <= across) offer(c, cn_vec3(0, 1, 0), e->a, weight);
  if (fabs(along.z) <= across) offer(c, cn_vec3(0, 0, 1), e->a, weight);
}

static void offer_edges(const CniCell *cell, const CniReflex *edges, int32_t edge_count,
                        Choices *c) {
  int32_t within = 0, step;
  for (int32_t i = 0; i < edge_count; i++) within += length_within(cell, &edges[i], c->near) > 0;
  step = 1 + within / MOST_EDGES;
  for (int32_t i = 0, n = 0; i < edge_count; i++) {
    double length = length_within(cell, &edges[i], c->near);
    if (length > 0 && n++ % step == 0) offer_edge(c, &edges[i], length * edges[i].sharpness);
  }
}

// Points spread over the surface: one in each of so many equal shares of it.
static void find_probes(const CniCell *cell, CnVec3 probes[PROBES]) {
  double whole = 0, before = 0;
  int32_t n = 0;
  for (int32_t i = 0; i < cell->count; i++) whole += cn_norm(cni_corners_area(&cell->triangles[i]));
  for (int32_t i = 0; i < cell->count && n < PROBES; i++) {
    const CniCorners *t = &cell->triangles[i];
    before += cn_norm(cni_corners_area(t));
    for (; n < PROBES && (n + 0.5) * whole < before * PROBES; n++) {
      double u = (n % 3 + 1) / 6.0, v = (n % 5 + 1) / 10.0; // u + v <= 1
      CnVec3 p = cn_madd(t->at[0], u, cn_sub(t->at[1], t->at[0]));
      probes[n] = cn_madd(p, v, cn_sub(t->at[2], t->at[0]));
    }
  }
  for (; n < PROBES; n++) probes[n] = cell->triangles[0].at[0];
}

// Points that two planes divide differently, whichever side is up.
static int32_t apart(const Choice *a, const Choice *b) {
  int32_t n = 0;
  for (int32_t k = 0; k < PROBES / 64; k++)
    for (uint64_t x = a->above[k] ^ b->above[k]; x; x &= x - 1) n++;
  return n < PROBES - n ? n : PROBES - n;
}

// The heaviest first, then again and again that one whose weight times its distance from the chosen is largest.
static int32_t choose(Choices *c, const CniCell *cell, CniCut *cuts) {
  CnVec3 probes[PROBES];
  int32_t n = 0;
  find_probes(cell, probes);
  for (int32_t i = 0; i < c->count; i++) {
    Choice *one = &c->all[i];
    one->apart = PROBES;
    for (int32_t k = 0; k < PROBES; k++)
      if (cni_cut_above(&one->cut, probes[k]) > 0) one->above[k / 64] |= (uint64_t)1 << k % 64;
  }
  for (; n < BY_EDGES; n++) {
    int32_t best = -1;
    double most = 0;
    for (int32_t i = 0; i < c->count; i++) {
      double value = c->all[i].weight * c->all[i].apart;
      if (value > most) most = value, best = i;
    }
    if (best < 0) break;
    cuts[n] = c->all[best].cut;
    for (int32_t i = 0; i < c->count; i++) {
      int32_t far = apart(&c->all[i], &c->all[best]);
      if (far < c->all[i].apart) c->all[i].apart = far;
    }
  }
  return n;
}

CnStatus cni_cell_cuts(CniCutter *cutter, const CniCell *cell, const CniReflex *edges,
                       int32_t edge_count, CniCut cuts[CNI_CUTS], int32_t *count) {
  CniArenaMark mark = cni_arena_mark(&cutter->trial);
  Choices c = {.near = 1e-6 * cutter->size};
  CNI_TRY(CNI_TAKE(&cutter->trial, MOST_PLANES, c.all));
  offer_edges(cell, edges, edge_count, &c);
  int32_t n = choose(&c, cell, cuts);
  cni_arena_back(&cutter->trial, mark);
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
  *count = n;
  return CN_OK;
}
