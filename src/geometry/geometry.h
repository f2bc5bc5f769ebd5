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
