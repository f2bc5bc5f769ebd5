// SPDX-License-Identifier: Apache-2.0
// Smooth cores: from a normal that is nearly right to the right one, by Newton's method.
//
// Along a direction n two cores are f(n) = n.w(n) apart, w(n) being the corner of B - A farthest back
// along n; the gap is the largest f. With tangents t of n, and S the sum of the radii of curvature
// where the corner is,
//
//     df = t.w    d2f = -(S + f)    next n = n + (S + f)^-1 t.w
//
// S comes from two more corners, asked for a little to the side. A step that does not gain is halved.
// For cores without edges and flat sides: across these a corner jumps.
//
// Cost: 4 corners a round, 4 to 6 rounds.
#include "geometry/pairs/convex_private.h"

#define ROUNDS 16
#define HALVINGS 4
#define FIRST 0.02  // rad, how far to the side is asked at first
#define LEAST 1e-8  // and at last
#define RIGHT 1e-10 // rad: a smaller step changes gaps by less than round-off
#define MOST 0.5    // rad, of a step

static CnVec3 turned(CnVec3 n, CnVec3 t1, CnVec3 t2, double d1, double d2) {
  CnVec3 m = cn_madd(cn_madd(n, d1, t1), d2, t2);
  return cn_scale(1 / cn_norm(m), m);
}

// The step from n, where the corner is w.
static void newton(const CniConvex *x, CnVec3 n, CnVec3 w, CnVec3 t1, CnVec3 t2, double side,
                   double step[2]) {
  CnVec3 p1 = cn_sub(cni_convex_corner(x, cn_madd(n, side, t1)).w, w);
  CnVec3 p2 = cn_sub(cni_convex_corner(x, cn_madd(n, side, t2)).w, w);
  double f = cn_dot(n, w), g1 = cn_dot(t1, w), g2 = cn_dot(t2, w);
  double h11 = f - cn_dot(p1, t1) / side, h22 = f - cn_dot(p2, t2) / side;
  double h12 = -0.5 * (cn_dot(p1, t2) + cn_dot(p2, t1)) / side, det = h11 * h22 - h12 * h12;
  if (h11 > 0 && det > 1e-12 * h11 * h22) {
    step[0] = (h22 * g1 - h12 * g2) / det;
    step[1] = (h11 * g2 - h12 * g1) / det;
  } else {
    // no top is near: uphill
    double h = fabs(f) + fabs(h11) + fabs(h22) + x->scale;
    step[0] = g1 / h;
    step[1] = g2 / h;
  }
  double length = sqrt(step[0] * step[0] + step[1] * step[1]);
  if (length > MOST) step[0] *= MOST / length, step[1] *= MOST / length;
}

int cni_convex_refine(const CniConvex *x, CniNearest *near) {
  double side = FIRST;
  CnVec3 n = near->normal, w = cni_convex_corner(x, n).w;
  double f = cn_dot(n, w), small = 1e-16 * x->extent;
  int right = 0;
  for (int32_t round = 0; round < ROUNDS && !right; round++) {
    CnVec3 t1, t2;
    double step[2], length = INFINITY;
    int gained = 0;
    cni_tangents(n, &t1, &t2);
    newton(x, n, w, t1, t2, side, step);
    for (int32_t k = 0; k < HALVINGS && !gained; k++, step[0] *= 0.5, step[1] *= 0.5) {
      CnVec3 m = turned(n, t1, t2, step[0], step[1]), at = cni_convex_corner(x, m).w;
      double here = cn_dot(m, at);
      length = sqrt(step[0] * step[0] + step[1] * step[1]);
      if (!(here >= f - small)) continue;
      gained = 1;
      n = m;
      w = at;
      f = cn_max(f, here);
    }
    right = length <= RIGHT || (!gained && side <= LEAST);
    side = cn_clamp(gained ? 0.1 * length : 0.1 * side, LEAST, 0.5 * side + LEAST);
  }
  near->normal = n;
  near->gap = cn_dot(n, w);
  return right;
}
