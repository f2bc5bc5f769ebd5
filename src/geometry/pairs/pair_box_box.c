// SPDX-License-Identifier: Apache-2.0
// Two boxes: one normal and the whole area of contact.
//
// Two boxes are apart exactly if they are apart along one of 15 axes: the face normals of both and
// the nine products of an edge of a with an edge of b. Along an axis L (unit length)
//
//     s = |t.L| - sum_i ha_i |a_i.L| - sum_j hb_j |b_j.L|         t: from a's centre to b's
//
// is the gap between their shadows. The greatest s decides. If it is negative, the boxes overlap,
// -s is the least way that takes them apart, and L is the normal. If it is positive, it is a lower
// bound of the distance, and it is the distance itself if the two places nearest along L lie across
// from each other, which the search for points finds out on the way. Where they do not (corner near
// corner, corner near edge, edge along edge) the true shortest way is looked for among corners and
// edges: a normal that is wrong there would stop motions that are free.
//
// Faces come first. A face gives the whole area of contact, an edge one point, and round-off must
// not decide between them for boxes that lie on each other. So b's face must beat a's, and an edge
// the faces, by more than CNI_BOX_ABS + CNI_BOX_REL |s|; and an edge axis within 1.4 degrees of a
// face normal is that face, because then all corners of the face are near too. The choice is a
// function of the present poses alone.
//
// Cost: about 0.1 us for a pair apart along a face normal, 0.4 us for edges or a few points, 0.7 us
// for a whole area of contact, 1 us where corners and edges must be tried (3 GHz, one core).
#include "geometry/pairs/box_private.h"

#define NEARLY_FACE 0.9997 // cosine of 1.4 degrees
#define LEAST_SINE2 1e-12  // edges more parallel than this have no common normal of their own

static void set_axes(double r[3][3], CnMat3 a, CnMat3 b) {
  const CnVec3 u[3] = {a.x, a.y, a.z}, v[3] = {b.x, b.y, b.z};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) r[i][j] = cn_dot(u[i], v[j]);
}

static void set_vec(double d[3], CnVec3 v) {
  d[0] = v.x;
  d[1] = v.y;
  d[2] = v.z;
}

static CniBoxes see(const CniPlaced *a, const CniPlaced *b, double margin) {
  CniBoxes x;
  x.axes_a = cn_qmat(a->pose.rotation);
  x.axes_b = cn_qmat(b->pose.rotation);
  x.centre_a = a->pose.position;
  x.centre_b = b->pose.position;
  CnVec3 d = cn_sub(x.centre_b, x.centre_a);
  set_axes(x.r, x.axes_a, x.axes_b);
  set_vec(x.t, cn_mtmul(x.axes_a, d));
  set_vec(x.tb, cn_mtmul(x.axes_b, d));
  set_vec(x.ha, cni_box_half(a));
  set_vec(x.hb, cni_box_half(b));
  x.scale = cn_min(cni_shape_inradius(a), cni_shape_inradius(b));
  x.margin = margin;
  return x;
}

// Separation along axis k of a, and of b.
static double apart_a(const CniBoxes *x, int k) {
  const double *r = x->r[k];
  return fabs(x->t[k]) -
         (x->ha[k] + (x->hb[0] * fabs(r[0]) + x->hb[1] * fabs(r[1]) + x->hb[2] * fabs(r[2])));
}
static double apart_b(const CniBoxes *x, int k) {
  return fabs(x->tb[k]) - (x->hb[k] + (x->ha[0] * fabs(x->r[0][k]) + x->ha[1] * fabs(x->r[1][k]) +
                                       x->ha[2] * fabs(x->r[2][k])));
}

// The best edge axis, if it beats `least`: a_i x b_j, made a unit normal n from a to b.
typedef struct EdgeAxis {
  int i, j; // j < 0: none
  double separation, n[3];
} EdgeAxis;

static EdgeAxis best_edges(const CniBoxes *x, double least) {
  EdgeAxis best = {0, -1, least, {0, 0, 0}};
  for (int i = 0; i < 3; i++) {
    int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
    for (int j = 0; j < 3; j++) {
      int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      // L = a_i x b_j has the components 0, -r[i2][j], r[i1][j]; not yet of unit length
      double l1 = -x->r[i2][j], l2 = x->r[i1][j];
      double way = x->t[i1] * l1 + x->t[i2] * l2;
      double shadow = x->ha[i1] * fabs(l1) + x->ha[i2] * fabs(l2) +
                      (x->hb[j1] * fabs(x->r[i][j2]) + x->hb[j2] * fabs(x->r[i][j1]));
      double s = fabs(way) - shadow;
      // |L| <= 1, so that dividing by it makes a negative s only smaller
      if (s < 0 && s <= best.separation) continue;
      double length2 = l1 * l1 + l2 * l2;
      if (length2 < LEAST_SINE2) continue;
      double scale = 1 / sqrt(length2);
      s *= scale;
      if (!(s > best.separation)) continue;
      best = (EdgeAxis){i, j, s, {0, 0, 0}};
      if (way < 0) scale = -scale;
      best.n[i1] = scale * l1;
      best.n[i2] = scale * l2;
    }
  }
  return best;
}

// The face whose normal is nearly n, side -1 if there is none.
static CniBoxFace face_along(const CniBoxes *x, const double n[3]) {
  for (int k = 0; k < 3; k++)
    if (fabs(n[k]) > NEARLY_FACE) return (CniBoxFace){0, k, n[k] < 0 ? -1 : 1};
  for (int k = 0; k < 3; k++) {
    double c = n[0] * x->r[0][k] + n[1] * x->r[1][k] + n[2] * x->r[2][k];
    if (fabs(c) > NEARLY_FACE) return (CniBoxFace){1, k, c > 0 ? -1 : 1};
  }
  return (CniBoxFace){-1, 0, 0};
}

// Best face of each box; *separation is that of the returned one, *greatest of the better.
static CniBoxFace best_face(const CniBoxes *x, double *separation, double *greatest) {
  int ka = 0, kb = 0;
  double sa = apart_a(x, 0), sb = apart_b(x, 0);
  for (int k = 1; k < 3; k++) {
    double s = apart_a(x, k);
    if (s > sa) sa = s, ka = k;
    s = apart_b(x, k);
    if (s > sb) sb = s, kb = k;
  }
  *greatest = cn_max(sa, sb);
  if (sb > sa + cni_box_tolerance(x, sa)) {
    *separation = sb;
    return (CniBoxFace){1, kb, x->tb[kb] > 0 ? -1 : 1};
  }
  *separation = sa;
  return (CniBoxFace){0, ka, x->t[ka] < 0 ? -1 : 1};
}

void cni_collide_box_box(const CniPlaced *a, const CniPlaced *b, double margin,
                         CniManifold *manifold) {
  CniBoxes x = see(a, b, margin);
  double s_face, s;
  CniBoxFace face = best_face(&x, &s_face, &s);
  if (!(s <= margin)) return;
  EdgeAxis edges = best_edges(&x, s_face + cni_box_tolerance(&x, s_face));
  int by_edges = edges.j >= 0;
  if (by_edges) {
    if (!(edges.separation <= margin)) return;
    s = cn_max(s, edges.separation);
    CniBoxFace along = face_along(&x, edges.n);
    if (along.side >= 0) {
      face = along;
      by_edges = 0;
    }
  }
  int touching = s <= CNI_BOX_TOUCH * x.scale;

  // s is at most the distance, and a gap over a face at least: a gap that meets s is the distance
  if (!by_edges) {
    double gap = cni_box_face(&x, face, touching, manifold);
    if (touching || gap <= s + cni_box_tolerance(&x, s)) return;
    manifold->count = 0;
    cni_box_near(&x, manifold);
    return;
  }
  if (cni_box_edges(&x, edges.n, edges.i, edges.j, touching, manifold)) return;
  cni_box_near(&x, manifold);
}
