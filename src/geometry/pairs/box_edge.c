// SPDX-License-Identifier: Apache-2.0
// An edge of one box against an edge of the other, along a given normal n from a to b.
//
// Of the four edges of a along its axis i the one farthest along n is taken, of b's along j the one
// farthest back. Crossing edges touch in one point, where the lines are nearest:
//
//     s = (d.a_i - c d.b_j)/(1 - c^2),   q = (c d.a_i - d.b_j)/(1 - c^2),   c = a_i.b_j
//
// along a's and b's edge from their middles, d from middle to middle. Edges that lie along each
// other touch along a stretch; its two ends are the points, each the end of one of the edges.
#include "geometry/pairs/box_private.h"

typedef struct EdgePair {
  double middle_a[3], d[3];    // middle of a's edge; from it to the middle of b's
  uint32_t corner_a, corner_b; // the edges' lower ends, as corner masks
  double c, d_a, d_b;          // a_i.b_j, d.a_i, d.b_j
} EdgePair;

static EdgePair support_edges(const CniBoxes *x, const double n[3], int i, int j) {
  EdgePair e = {{0, 0, 0}, {x->t[0], x->t[1], x->t[2]}, 0, 0, x->r[i][j], 0, 0};
  for (int k = 0; k < 3; k++) {
    if (k != i) {
      int up = n[k] > 0;
      e.middle_a[k] = up ? x->ha[k] : -x->ha[k];
      if (up) e.corner_a |= 1u << k;
    }
    if (k != j) {
      int up = n[0] * x->r[0][k] + n[1] * x->r[1][k] + n[2] * x->r[2][k] < 0;
      double h = up ? x->hb[k] : -x->hb[k];
      for (int m = 0; m < 3; m++) e.d[m] += h * x->r[m][k];
      if (up) e.corner_b |= 1u << k;
    }
  }
  for (int m = 0; m < 3; m++) e.d[m] -= e.middle_a[m];
  e.d_a = e.d[i];
  e.d_b = e.d[0] * x->r[0][j] + e.d[1] * x->r[1][j] + e.d[2] * x->r[2][j];
  return e;
}

// The point between a's edge at s and b's at q.
static double add_point(const CniBoxes *x, const EdgePair *e, const double n[3], int i, int j,
                        double s, double q, uint32_t feature, CniManifold *manifold) {
  double mid[3], gap = 0;
  for (int m = 0; m < 3; m++) {
    double at_a = e->middle_a[m] + (m == i ? s : 0);
    double way = e->d[m] + q * x->r[m][j] - (m == i ? s : 0);
    gap += n[m] * way;
    mid[m] = at_a + 0.5 * way;
  }
  if (gap <= x->margin) cni_manifold_add(manifold, cni_box_world_point(x, mid), gap, feature);
  return gap;
}

int cni_box_edges(const CniBoxes *x, const double n[3], int i, int j, int certain,
                  CniManifold *manifold) {
  EdgePair e = support_edges(x, n, i, j);
  // 1 - c^2 without its cancellation
  double s1 = x->r[(i + 1) % 3][j], s2 = x->r[(i + 2) % 3][j], sine2 = s1 * s1 + s2 * s2;
  double s = (e.d_a - e.c * e.d_b) / sine2, q = (e.c * e.d_a - e.d_b) / sine2;
  double slack = CNI_BOX_ABS * x->scale;
  int inside = fabs(s) <= x->ha[i] + slack && fabs(q) <= x->hb[j] + slack;
  if (!inside && !certain) return 0;
  if (fabs(e.c) > CNI_BOX_PARALLEL && cni_box_edges_along(x, n, i, j, manifold) < INFINITY)
    return 1;
  s = cn_clamp(s, -x->ha[i], x->ha[i]);
  q = cn_clamp(q, -x->hb[j], x->hb[j]);
  uint32_t feature = cni_box_name_edges(cni_box_edge(i, e.corner_a), cni_box_edge(j, e.corner_b));
  manifold->normal = cni_box_world_direction(x, n);
  add_point(x, &e, n, i, j, s, q, feature, manifold);
  return 1;
}

double cni_box_edges_along(const CniBoxes *x, const double n[3], int i, int j,
                           CniManifold *manifold) {
  EdgePair e = support_edges(x, n, i, j);
  double half_b = x->hb[j] * fabs(e.c), band = CNI_BOX_BAND * x->scale, least = INFINITY;
  if (cn_max(-x->ha[i], e.d_a - half_b) > cn_min(x->ha[i], e.d_a + half_b)) return INFINITY;
  manifold->normal = cni_box_world_direction(x, n);
  for (int k = 0; k < 2; k++) {
    // the end of either edge that comes first; b's where they are level
    double end = k ? 1 : -1;
    double of_a = x->ha[i], of_b = end * e.d_a + half_b;
    int by_a = of_a < of_b - band;
    double s = end * cn_min(of_a, of_b);
    double q = by_a ? (s - e.d_a) / e.c : (e.c > 0 ? end : -end) * x->hb[j];
    uint32_t corner_b = e.corner_b | (q > 0 ? 1u << j : 0);
    uint32_t feature =
        by_a ? cni_box_name_a(e.corner_a | (k ? 1u << i : 0)) : cni_box_name_b(corner_b);
    least = cn_min(least, add_point(x, &e, n, i, j, s, q, feature, manifold));
  }
  return least;
}
