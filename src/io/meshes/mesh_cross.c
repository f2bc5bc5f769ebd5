// SPDX-License-Identifier: Apache-2.0
// Triangles of a mesh that cross each other. For each triangle those whose boxes meet its own are looked
// up in the mesh's tree. Two cross if an edge of one goes through the inside of the other; edges that
// end at a corner of the other do not count, nor what reaches through by less than single precision
// can tell. Triangles in one plane that lie on each other cross if they share an edge and look opposite
// ways, which is a fold.
#include "io/meshes/mesh_report.h"

#define DEPTH 1e-7 // of the size

typedef struct Crossing {
  const CniMesh *mesh;
  double depth;
  int32_t own, count, *first;
} Crossing;

static double volume6(CnVec3 a, CnVec3 b, CnVec3 c, CnVec3 d) {
  return cn_dot(cn_sub(a, d), cn_cross(cn_sub(b, d), cn_sub(c, d)));
}

// Does the edge from p to q go through a triangle?
static int goes_through(const CniTriangle *t, CnVec3 p, CnVec3 q, double depth) {
  CnVec3 area = cni_triangle_area(t);
  double length = cn_norm(area);
  double from = cn_dot(area, cn_sub(p, t->at[0])), to = cn_dot(area, cn_sub(q, t->at[0]));
  if (!(from * to < 0 && cn_min(fabs(from), fabs(to)) > depth * length)) return 0;
  double u = volume6(p, q, t->at[0], t->at[1]), v = volume6(p, q, t->at[1], t->at[2]);
  double w = volume6(p, q, t->at[2], t->at[0]);
  return (u > 0 && v > 0 && w > 0) || (u < 0 && v < 0 && w < 0);
}

static int has_corner(const CniMesh *m, int32_t t, int32_t corner) {
  const int32_t *c = &m->corners[3 * (size_t)t];
  return c[0] == corner || c[1] == corner || c[2] == corner;
}

// Edges of triangle a that have no corner in common with b.
static int one_way(const CniMesh *m, int32_t a, int32_t b, double depth) {
  CniTriangle own = cni_mesh_triangle(m, a), other = cni_mesh_triangle(m, b);
  for (int32_t k = 0; k < 3; k++) {
    int32_t next = (k + 1) % 3;
    if (has_corner(m, b, m->corners[3 * (size_t)a + (size_t)k]) ||
        has_corner(m, b, m->corners[3 * (size_t)a + (size_t)next]))
      continue;
    if (goes_through(&other, own.at[k], own.at[next], depth)) return 1;
  }
  return 0;
}

static int is_fold(const CniMesh *m, int32_t a, int32_t b) {
  CniTriangle own = cni_mesh_triangle(m, a), other = cni_mesh_triangle(m, b);
  CnVec3 n = cni_triangle_area(&own), o = cni_triangle_area(&other);
  return cn_dot(n, o) < -(1 - 1e-14) * cn_norm(n) * cn_norm(o);
}

static void look_at(void *context, int32_t other) {
  Crossing *c = context;
  const CniMesh *m = c->mesh;
  if (other <= c->own || c->count >= CNI_MESH_CROSSINGS) return;
  int32_t shared = 0;
  for (int32_t k = 0; k < 3; k++)
    shared += has_corner(m, other, m->corners[3 * (size_t)c->own + (size_t)k]);
  int found = shared >= 2
                  ? is_fold(m, c->own, other)
                  : one_way(m, c->own, other, c->depth) || one_way(m, other, c->own, c->depth);
  if (!found) return;
  if (c->count++ == 0) c->first[0] = c->own, c->first[1] = other;
}

int32_t cni_mesh_crossings(const CniMesh *mesh, int32_t first[2]) {
  CnVec3 d = cn_sub(mesh->hi, mesh->lo);
  Crossing c = {.mesh = mesh, .depth = DEPTH * cn_max(d.x, cn_max(d.y, d.z)), .first = first};
  first[0] = first[1] = -1;
  for (c.own = 0; c.own < mesh->triangle_count && c.count < CNI_MESH_CROSSINGS; c.own++) {
    CniTriangle t = cni_mesh_triangle(mesh, c.own);
    CnVec3 lo = t.at[0], hi = t.at[0];
    for (int32_t k = 1; k < 3; k++) {
      CnVec3 p = t.at[k];
      lo = cn_vec3(cn_min(lo.x, p.x), cn_min(lo.y, p.y), cn_min(lo.z, p.z));
      hi = cn_vec3(cn_max(hi.x, p.x), cn_max(hi.y, p.y), cn_max(hi.z, p.z));
    }
    cni_mesh_query(mesh, lo, hi, look_at, &c);
  }
  return c.count;
}
