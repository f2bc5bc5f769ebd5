// SPDX-License-Identifier: Apache-2.0
// Smooth gaps: the distance between two features as a function that can be followed in time.
//
// The narrow phase finds which features are near; the equations of motion want the gap of the same
// features at other poses, and what it does when they move. Both ask the same functions: here the
// narrow phase looks without a margin, and the point of the feature's name is taken. Between the
// points that go with the two bodies and lie at the heart of the gap (the centre of a sphere, a
// corner, the foot on a face) the gap is a distance less two radii.
//
// Two bodies that are both flat have no such gap: which of their corners and edges are nearest
// changes from one place to the next.
#include "geometry/geometry_private.h"

int cni_has_gap(CnShapeKind a, CnShapeKind b) {
  if (a == CN_SHAPE_SPHERE || b == CN_SHAPE_SPHERE) return 1;
  // every corner, and both ends, have their own names, also where they are far from the half-space
  CnShapeKind other = cni_shape_unbounded(a) ? b : a;
  return (cni_shape_unbounded(a) || cni_shape_unbounded(b)) &&
         (other == CN_SHAPE_BOX || other == CN_SHAPE_CAPSULE);
}

// The point at the heart of the gap on one side; `out` points out of the shape.
static CnVec3 heart(const CniPlaced *shape, CnVec3 surface, CnVec3 out, double *radius) {
  if (shape->kind != CN_SHAPE_SPHERE && shape->kind != CN_SHAPE_CAPSULE) return surface;
  *radius = shape->size[0];
  return shape->kind == CN_SHAPE_SPHERE ? shape->pose.position : cn_madd(surface, -*radius, out);
}

CniGap cni_gap(const CniPlaced *a, const CniPlaced *b, uint32_t feature) {
  CniGap g = {.gap = INFINITY};
  CniManifold manifold;
  int round_a = a->kind == CN_SHAPE_SPHERE, round_b = b->kind == CN_SHAPE_SPHERE;
  int flat = cni_shape_unbounded(a->kind) || cni_shape_unbounded(b->kind);
  cni_collide(a, b, INFINITY, &manifold);
  g.bend = round_a && round_b ? CNI_GAP_POINTS : flat ? CNI_GAP_FACE : CNI_GAP_OTHER;
  for (int32_t i = 0; i < manifold.count; i++) {
    const CniPoint *p = &manifold.points[i];
    if (!round_a && !round_b && p->feature != feature)
      continue; // a ball has one point, whatever it is near
    g.gap = p->gap;
    g.normal = manifold.normal;
    g.centre_a = heart(a, cn_madd(p->point, -0.5 * p->gap, g.normal), g.normal, &g.radius_a);
    g.centre_b = heart(b, cn_madd(p->point, 0.5 * p->gap, g.normal), cn_neg(g.normal), &g.radius_b);
  }
  return g;
}
