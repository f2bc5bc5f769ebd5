// SPDX-License-Identifier: Apache-2.0
// Mass of a hull over which a ball of radius r is carried, exactly: the hull, and on it
//
//   a prism of height r on every face,
//   a sector of a cylinder along every edge, through the angle between its two normals,
//   a sector of a ball at every vertex, over the directions n between the normals of its faces.
//
// What a sector of a ball needs are integrals over a polygon of great arcs, which has the area
// W = 2 pi - (sum of the angles of the faces at the vertex). With d the edges away from the vertex,
// t their angles and u the integral of the unit normals along their arcs, Gauss's theorem on the
// sphere for the fields a_t and a_t (b.n), a_t the part of a that is tangent, gives
//
//     integral of n = -1/2 sum t d          integral of n n^T = 1/3 (W 1 - sum d u^T)
//
// Everything is a sum over vertices, corners of faces, and edges with their ends.
#include "core/math.h"
#include "geometry/geometry_private.h"

// Integrals of 1, x and x x^T over what was added, about the centre of the hull.
typedef struct Sums {
  double volume;
  CnVec3 first;
  CnSym3 second;
} Sums;

// w (a b^T + b a^T)/2
static void add_product(CnSym3 *s, double w, CnVec3 a, CnVec3 b) {
  s->xx += w * a.x * b.x;
  s->yy += w * a.y * b.y;
  s->zz += w * a.z * b.z;
  s->xy += w / 2 * (a.x * b.y + a.y * b.x);
  s->xz += w / 2 * (a.x * b.z + a.z * b.x);
  s->yz += w / 2 * (a.y * b.z + a.z * b.y);
}

static double angle(CnVec3 a, CnVec3 b) { return cni_atan2(cn_norm(cn_cross(a, b)), cn_dot(a, b)); }

static void add_prism(Sums *s, CnVec3 p, CnVec3 q, CnVec3 o, CnVec3 n, double r) {
  double area = cn_norm(cn_cross(cn_sub(q, p), cn_sub(o, p))) / 2;
  CnVec3 sum = cn_add(p, cn_add(q, o));
  s->volume += area * r;
  s->first = cn_madd(cn_madd(s->first, area * r / 3, sum), area * r * r / 2, n);
  add_product(&s->second, area * r / 12, p, p);
  add_product(&s->second, area * r / 12, q, q);
  add_product(&s->second, area * r / 12, o, o);
  add_product(&s->second, area * r / 12, sum, sum);
  add_product(&s->second, area * r * r / 3, sum, n);
  add_product(&s->second, area * r * r * r / 3, n, n);
}

// A sector of directions of area w about the vertex p.
static void add_sector(Sums *s, CnVec3 p, double w, double r) {
  double v = w * r * r * r / 3, round = w * r * r * r * r * r / 15;
  s->volume += v;
  s->first = cn_madd(s->first, v, p);
  add_product(&s->second, v, p, p);
  s->second.xx += round;
  s->second.yy += round;
  s->second.zz += round;
}

// What an edge with the angle t adds at its end p, d leading away from there.
static void add_end(Sums *s, CnVec3 p, CnVec3 d, CnVec3 u, double t, double r) {
  double r4 = r * r * r * r;
  s->first = cn_madd(s->first, -t * r4 / 8, d);
  add_product(&s->second, -t * r4 / 4, p, d);
  add_product(&s->second, -r4 * r / 15, d, u);
}

static void add_edge(Sums *s, CnVec3 p, CnVec3 q, CnVec3 n1, CnVec3 n2, double r) {
  CnVec3 e = cn_sub(q, p), m = cn_scale(0.5, cn_add(p, q)), sum = cn_add(n1, n2);
  double length = cn_norm(e), t = angle(n1, n2), area = t * r * r / 2 * length;
  CnVec3 d = cn_scale(1 / length, e), b = cn_scale(1 / cn_norm(sum), sum), c = cn_cross(d, b);
  CnVec3 u = cn_scale(2 * cni_sin(t / 2), b); // integral of the normals
  double r3 = r * r * r * length, r4 = r3 * r, sine = cni_sin(t);
  s->volume += area;
  s->first = cn_madd(cn_madd(s->first, area, m), r3 / 3, u);
  add_product(&s->second, area, m, m);
  add_product(&s->second, area / 12, e, e);
  add_product(&s->second, 2 * r3 / 3, m, u);
  add_product(&s->second, r4 / 8 * (t + sine), b, b);
  add_product(&s->second, r4 / 8 * (t - sine), c, c);
  add_end(s, p, d, u, t, r);
  add_end(s, q, cn_neg(d), u, t, r);
}

static void add_face(Sums *s, const CniHull *h, const CniHullFace *f, double r) {
  const CniHullCorner *corners = &h->corners[f->first];
#define AT(k) cn_sub(h->vertices[corners[(k) % f->count].vertex], h->centre)
  for (int32_t k = 1; k + 1 < f->count; k++) add_prism(s, AT(0), AT(k), AT(k + 1), f->normal, r);
  for (int32_t k = 0; k < f->count; k++) {
    CnVec3 p = AT(k), q = AT(k + 1), o = AT(k + f->count - 1);
    add_sector(s, p, -angle(cn_sub(q, p), cn_sub(o, p)), r);
    // an edge is seen from both its faces
    const CniHullFace *other = &h->faces[corners[k].neighbour];
    if (f < other) add_edge(s, p, q, f->normal, other->normal, r);
  }
#undef AT
}

CniMassProps cni_hull_mass(const CniHull *h, double r, double density) {
  CnSym3 j = h->inertia;
  double half = (j.xx + j.yy + j.zz) / 2, v = h->volume;
  Sums s = {v, CN_VEC3_ZERO, {half - j.xx, half - j.yy, half - j.zz, -j.xy, -j.xz, -j.yz}};
  CnVec3 centre = h->centre;
  if (r > 0) {
    for (int32_t i = 0; i < h->vertex_count; i++)
      add_sector(&s, cn_sub(h->vertices[i], centre), 2 * CNI_PI, r);
    for (int32_t f = 0; f < h->face_count; f++) add_face(&s, h, &h->faces[f], r);
    CnVec3 shift = cn_scale(1 / s.volume, s.first);
    add_product(&s.second, -s.volume, shift, shift);
    centre = cn_add(centre, shift);
    CnSym3 q = s.second;
    j = (CnSym3){q.yy + q.zz, q.xx + q.zz, q.xx + q.yy, -q.xy, -q.xz, -q.yz};
  }
  double *entry = &j.xx;
  for (int32_t k = 0; k < 6; k++) entry[k] *= density;
  return (CniMassProps){s.volume * density, centre, j};
}
