// SPDX-License-Identifier: Apache-2.0
// Smooth gaps: the distance between two features as a function that can be followed in time.
//
// The narrow phase finds which features are near; the equations of motion want the gap of the same
// features at other poses, and what it does when they move. Both ask the same functions: here the
// narrow phase looks without a margin, and the point of the feature's name is taken. Between the
// points that go with the two bodies and lie at the heart of the gap (the centre of a sphere, a
// corner, the foot on a face) the gap is a distance less two radii.
//
// That is so for spheres, and for capsules and boxes on planes. Polyhedra, cylinders and cones, and what
// lies on a half-space, are followed by their features (gap_features.c).
//
// An ellipsoid is curved everywhere, so that it and any bounded shape have one nearest place, whose
// normal turns without a jump also where the place goes from a face to an edge. Newton's method on the
// normals finds it to round-off (convex_refine.c).
#include "geometry/geometry_private.h"

static int is_round(const CniPlaced *s) { return s->kind == CN_SHAPE_SPHERE; }
static int is_curved(const CniPlaced *s) { return is_round(s) || s->kind == CN_SHAPE_ELLIPSOID; }
static int is_surface(const CniPlaced *s) {
  return (cni_shape_kinds[s->kind]->flags & CNI_SHAPE_SURFACE) != 0;
}
static int is_bounded(const CniPlaced *s) { return !cni_shape_unbounded(s->kind); }

int cni_gap_one_place(const CniPlaced *a, const CniPlaced *b) {
  return is_round(a) || is_round(b) ||
         ((is_curved(a) || is_curved(b)) && is_bounded(a) && is_bounded(b));
}

CniGapSource cni_gap_source(const CniPlaced *a, const CniPlaced *b) {
  int flat_a = cni_shape_unbounded(a->kind), flat_b = cni_shape_unbounded(b->kind);
  const CniPlaced *other = flat_a ? b : a;
  if ((flat_a && flat_b) || is_surface(a) || is_surface(b)) return CNI_GAP_NONE;
  if (cni_shape_is_surface(a->kind) || cni_shape_is_surface(b->kind)) return CNI_GAP_NONE;
  if (cni_gap_one_place(a, b)) return CNI_GAP_BY_POINTS;
  // every corner, and both ends, have their own names, also where they are far from the half-space
  if ((flat_a || flat_b) && (other->kind == CN_SHAPE_CAPSULE ||
                             (other->kind == CN_SHAPE_BOX && !(cni_box_round(other) > 0))))
    return CNI_GAP_BY_POINTS;
  return cni_has_features(a->kind, b->kind) ? CNI_GAP_BY_FEATURES : CNI_GAP_NONE;
}

// The point at the heart of the gap on one side; `out` points out of the shape.
static CnVec3 heart(const CniPlaced *shape, CnVec3 surface, CnVec3 out, double *radius) {
  if (shape->kind != CN_SHAPE_SPHERE && shape->kind != CN_SHAPE_CAPSULE) return surface;
  *radius = shape->size[0];
  return shape->kind == CN_SHAPE_SPHERE ? shape->pose.position : cn_madd(surface, -*radius, out);
}

static CniGap nearest_place(const CniPlaced *a, const CniPlaced *b) {
  CniPlaces p = cni_places(a, b);
  return (CniGap){.bend = CNI_GAP_OTHER,
                  .normal = p.normal,
                  .centre_a = p.a,
                  .centre_b = p.b,
                  .gap = p.gap,
                  .domain = INFINITY};
}

CniGap cni_gap(const CniPlaced *a, const CniPlaced *b, uint32_t feature) {
  CniGap g = {.gap = INFINITY, .domain = INFINITY};
  CniManifold manifold;
  int round_a = is_round(a), round_b = is_round(b);
  int flat = cni_shape_unbounded(a->kind) || cni_shape_unbounded(b->kind);
  if (cni_gap_source(a, b) == CNI_GAP_BY_FEATURES) return cni_gap_of_feature(a, b, feature);
  if (!round_a && !round_b && cni_gap_one_place(a, b)) return nearest_place(a, b);
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
