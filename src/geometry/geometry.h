// SPDX-License-Identifier: Apache-2.0
// Shapes without bodies: data, mass properties, bounds, distance with contact points.
#ifndef CNI_GEOMETRY_H
#define CNI_GEOMETRY_H

#include <cairn/world.h>
#include "core/vec.h"

// A shape placed in the world.
typedef struct CniPlaced {
  CnShapeKind kind;
  CnPose pose;      // of the shape's frame
  double radius;    // sphere
  CnVec3 half_size; // box
} CniPlaced;

// One point of a manifold. The point lies midway between the two surfaces.
typedef struct CniPoint {
  CnVec3 point;
  double gap;       // signed distance along the normal, negative: overlap
  uint32_t feature; // lasting name of the point within the pair
} CniPoint;

#define CNI_MAX_POINTS 8

// How two shapes touch: one normal, from a to b, and up to eight points with gap <= margin. In a
// touching configuration the convex hull of the points is the area of contact.
typedef struct CniManifold {
  CnVec3 normal;
  int32_t count;
  CniPoint points[CNI_MAX_POINTS]; // by ascending feature
} CniManifold;

// The narrow phase: a table by kinds. The functions want kind a <= kind b; cni_collide swaps as
// needed and turns the normal round. Pairs that never meet (plane and plane) give no points.
void cni_collide(const CniPlaced *a, const CniPlaced *b, double margin, CniManifold *manifold);

// ---- spheres without a table: the same arithmetic, for loops over many ----

// Below this length the square of a vector loses digits to underflow and its direction with them.
#define CNI_NO_DIRECTION 1e-150

// The one point in which spheres a and b touch.
typedef struct CniTouch {
  CnVec3 point, normal; // normal from a to b
  double gap;
} CniTouch;

// From the vector between the centres (a to b) and its length.
static inline CniTouch cni_touch_spheres(CnVec3 centre_a, double radius_a, double radius_b,
                                         CnVec3 apart, double distance) {
  CniTouch t;
  t.gap = distance - (radius_a + radius_b);
  t.normal = distance > CNI_NO_DIRECTION ? cn_scale(1 / distance, apart) : cn_vec3(0, 0, 1);
  t.point = cn_madd(centre_a, radius_a + 0.5 * t.gap, t.normal);
  return t;
}

// A sphere a and the half-space b below the point `origin`, `up` its outward normal.
static inline CniTouch cni_touch_plane(CnVec3 centre, double radius, CnVec3 origin, CnVec3 up) {
  CniTouch t;
  t.gap = cn_dot(up, cn_sub(centre, origin)) - radius;
  t.normal = cn_neg(up);
  t.point = cn_madd(centre, radius + 0.5 * t.gap, t.normal);
  return t;
}

// Axis-aligned bounds; a plane is unbounded (+-INFINITY).
typedef struct CniBounds {
  CnVec3 lo, hi;
} CniBounds;
CniBounds cni_shape_bounds(const CniPlaced *shape);

// Radius of the largest ball inside: the shape's size for margins (a plane's is INFINITY).
double cni_shape_inradius(const CniPlaced *shape);
// Largest distance of a point of the shape from its frame's origin (a plane's is INFINITY).
double cni_shape_outradius(const CniPlaced *shape);

// Mass, centre and inertia about the centre, in the frame of the pose. A plane has no mass.
typedef struct CniMassProps {
  double mass;
  CnVec3 centre;
  CnSym3 inertia; // about the centre
} CniMassProps;
CniMassProps cni_shape_mass(const CniPlaced *shape, double density);
// Sum of two parts, both given in one frame.
CniMassProps cni_mass_add(CniMassProps a, CniMassProps b);

// Check a shape definition's numbers.
CnStatus cni_shape_check(const CnShapeDef *def);

#endif
