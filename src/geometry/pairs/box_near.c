// SPDX-License-Identifier: Apache-2.0
// Two boxes apart from each other whose nearest places are corners and edges.
//
// The shortest way between two separate convex bodies has one direction only, and for boxes it goes
// from a corner of one to the other box, or from an edge to an edge square to both. All sixteen
// corners are tried; then those pairs of edges that could still be nearer, and only where the
// square way lies within both (elsewhere it ends in a corner, which was tried). The best is the
// shortest, not an approximation. Edges that lie along each other get two points, anything else
// one.
#include "geometry/pairs/box_private.h"

// The shortest way found so far, in a's frame.
typedef struct Way {
  double from[3], to[3];
  double distance2;
  uint32_t feature;
} Way;

static void offer(Way *way, const double from[3], const double to[3], uint32_t feature) {
  double d2 = 0;
  for (int k = 0; k < 3; k++) d2 += (to[k] - from[k]) * (to[k] - from[k]);
  if (!(d2 < way->distance2)) return;
  for (int k = 0; k < 3; k++) {
    way->from[k] = from[k];
    way->to[k] = to[k];
  }
  way->distance2 = d2;
  way->feature = feature;
}

// A point of b's frame in a's, and back.
static void b_to_a(const CniBoxes *x, const double p[3], double q[3]) {
  for (int i = 0; i < 3; i++)
    q[i] = x->t[i] + (x->r[i][0] * p[0] + x->r[i][1] * p[1] + x->r[i][2] * p[2]);
}
static void a_to_b(const CniBoxes *x, const double p[3], double q[3]) {
  for (int j = 0; j < 3; j++)
    q[j] = (x->r[0][j] * p[0] + x->r[1][j] * p[1] + x->r[2][j] * p[2]) - x->tb[j];
}

// Every corner of each box against the other box, the nearest point of which is found by clamping.
static void try_corners(const CniBoxes *x, Way *way) {
  for (uint32_t c = 0; c < 8; c++) {
    double corner_b[3], to[3], from[3];
    for (int k = 0; k < 3; k++) corner_b[k] = c >> k & 1 ? x->hb[k] : -x->hb[k];
    b_to_a(x, corner_b, to);
    for (int k = 0; k < 3; k++) from[k] = cn_clamp(to[k], -x->ha[k], x->ha[k]);
    offer(way, from, to, cni_box_name_b(c));
  }
  for (uint32_t c = 0; c < 8; c++) {
    double from[3], seen[3], to[3];
    for (int k = 0; k < 3; k++) from[k] = c >> k & 1 ? x->ha[k] : -x->ha[k];
    a_to_b(x, from, seen);
    for (int k = 0; k < 3; k++) seen[k] = cn_clamp(seen[k], -x->hb[k], x->hb[k]);
    b_to_a(x, seen, to);
    offer(way, from, to, cni_box_name_a(c));
  }
}

typedef struct Edge {
  int axis;
  uint32_t number;
  double middle[3]; // in a's frame
} Edge;

// The edges of one box that come as near to the other as `reach`: a necessary condition, from the
// edge's shadows on the other box's axes.
static int near_edges(const CniBoxes *x, int of_b, double reach, Edge edges[12]) {
  const double *h = of_b ? x->hb : x->ha, *other = of_b ? x->ha : x->hb;
  int count = 0;
  for (int axis = 0; axis < 3; axis++) {
    int axis1 = (axis + 1) % 3, axis2 = (axis + 2) % 3;
    for (uint32_t s = 0; s < 4; s++) {
      double own[3], seen[3];
      own[axis] = 0;
      own[axis1] = s & 1 ? h[axis1] : -h[axis1];
      own[axis2] = s & 2 ? h[axis2] : -h[axis2];
      of_b ? b_to_a(x, own, seen) : a_to_b(x, own, seen);
      int near = 1;
      for (int k = 0; k < 3; k++) {
        double shadow = h[axis] * fabs(of_b ? x->r[k][axis] : x->r[axis][k]);
        near &= fabs(seen[k]) - shadow - other[k] <= reach;
      }
      if (!near) continue;
      const double *middle = of_b ? seen : own;
      edges[count++] = (Edge){axis, (uint32_t)(4 * axis) + s, {middle[0], middle[1], middle[2]}};
    }
  }
  return count;
}

static void try_edge_pair(const CniBoxes *x, const Edge *a, const Edge *b, Way *way) {
  int i = a->axis, j = b->axis;
  double s1 = x->r[(i + 1) % 3][j], s2 = x->r[(i + 2) % 3][j];
  double c = x->r[i][j], sine2 = s1 * s1 + s2 * s2;
  double d[3], d_b = 0;
  for (int k = 0; k < 3; k++) {
    d[k] = b->middle[k] - a->middle[k];
    d_b += d[k] * x->r[k][j];
  }
  // written so that parallel edges (0/0) fall out
  double s = (d[i] - c * d_b) / sine2, q = (c * d[i] - d_b) / sine2;
  if (!(fabs(s) <= x->ha[i] && fabs(q) <= x->hb[j])) return;
  double from[3] = {a->middle[0], a->middle[1], a->middle[2]}, to[3];
  from[i] += s;
  for (int k = 0; k < 3; k++) to[k] = b->middle[k] + q * x->r[k][j];
  offer(way, from, to, cni_box_name_edges(a->number, b->number));
}

static void try_edges(const CniBoxes *x, Way *way) {
  Edge edges_a[12], edges_b[12];
  double reach = sqrt(way->distance2);
  int count_a = near_edges(x, 0, reach, edges_a), count_b = near_edges(x, 1, reach, edges_b);
  for (int m = 0; m < count_a; m++)
    for (int n = 0; n < count_b; n++) try_edge_pair(x, &edges_a[m], &edges_b[n], way);
}

// Do edges lie along each other, square to the normal? Then both ends of what they share.
static int add_along(const CniBoxes *x, const double n[3], double distance, CniManifold *manifold) {
  double along_b[3];
  int i = 0, j = 0;
  for (int k = 0; k < 3; k++) {
    along_b[k] = fabs(n[0] * x->r[0][k] + n[1] * x->r[1][k] + n[2] * x->r[2][k]);
    if (fabs(n[k]) < fabs(n[i])) i = k;
    if (along_b[k] < along_b[j]) j = k;
  }
  if (fabs(n[i]) > CNI_BOX_ALONG || along_b[j] > CNI_BOX_ALONG) return 0;
  if (fabs(x->r[i][j]) < CNI_BOX_PARALLEL) return 0;
  double gap = cni_box_edges_along(x, n, i, j, manifold);
  if (gap <= distance + cni_box_tolerance(x, distance)) return 1;
  manifold->count = 0;
  return 0;
}

void cni_box_near(const CniBoxes *x, CniManifold *manifold) {
  Way way = {{0, 0, 0}, {0, 0, 0}, INFINITY, 0};
  try_corners(x, &way);
  try_edges(x, &way);
  double distance = sqrt(way.distance2);
  if (!(distance <= x->margin && distance > 0)) return;

  double n[3], mid[3];
  for (int k = 0; k < 3; k++) {
    n[k] = (way.to[k] - way.from[k]) / distance;
    mid[k] = 0.5 * (way.from[k] + way.to[k]);
  }
  if (add_along(x, n, distance, manifold)) return;
  manifold->normal = cni_box_world_direction(x, n);
  cni_manifold_add(manifold, cni_box_world_point(x, mid), distance, way.feature);
}
