// SPDX-License-Identifier: Apache-2.0
// A direction that was known to keep two convex shapes apart: does it still?
#include "geometry/geometry_private.h"

#define SURELY 1e-9 // of the extent: far above the round-off of a search

// How far a shape reaches along a direction from its origin, the direction in the world.
static double reach(const CniPlaced *shape, CnVec3 direction, double length) {
  const CniShapeKind *kind = cni_shape_kinds[shape->kind];
  CnVec3 d = cn_unrotate(shape->pose.rotation, direction);
  uint32_t corner;
  return cn_dot(d, kind->support(shape, d, &corner)) + length * kind->rounding(shape);
}

int cni_still_apart(const CniPlaced *a, const CniPlaced *b, double margin, CnVec3 axis) {
  // the axis may be older than the shape: surfaces and half-spaces have no corners
  if (!cni_shape_kinds[a->kind]->support || !cni_shape_kinds[b->kind]->support) return 0;
  CnVec3 way = cn_sub(b->pose.position, a->pose.position);
  double length = cn_norm(axis);
  double gap = cn_dot(axis, way) - reach(a, axis, length) - reach(b, cn_neg(axis), length);
  double extent = cni_shape_outradius(a) + cni_shape_outradius(b) + cn_norm(way);
  return gap > (margin + SURELY * extent) * length;
}
