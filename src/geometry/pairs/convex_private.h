// SPDX-License-Identifier: Apache-2.0
// Private to geometry: two convex cores seen from a's frame, how far apart they are and where they
// touch, whatever their kinds. The rows of the kinds give the support functions.
#ifndef CNI_GEOMETRY_CONVEX_PRIVATE_H
#define CNI_GEOMETRY_CONVEX_PRIVATE_H

#include "geometry/geometry_private.h"

typedef struct CniConvex {
  const CniPlaced *a, *b;
  const CniShapeKind *kind_a, *kind_b;
  CnMat3 turn; // b's axes in a's frame
  CnVec3 way;  // b's origin in a's frame
  double round_a, round_b;
  double margin; // largest gap between the cores that is of interest
  double scale;  // the smaller inradius
  double extent; // how large the numbers get: what round-off is measured by
  int curved;    // one of them is no polyhedron
  int rough;     // a normal that is nearly right will do: cni_convex_refine is to follow
} CniConvex;

// Two bounded shapes, seen so; margin of the shapes.
CniConvex cni_convex_of(const CniPlaced *a, const CniPlaced *b, double margin);

// A corner of the difference B - A: w leads from a corner of a to one of b.
typedef struct CniCorner {
  CnVec3 a, b, w;
  uint32_t name_a, name_b;
} CniCorner;

// A point, segment, triangle or tetrahedron of these, and the shares that its corners have in the
// point nearest to the origin.
typedef struct CniSimplex {
  int32_t count;
  CniCorner corner[4];
  double share[4];
} CniSimplex;

// How two cores lie to each other: along the normal (unit, from a to b) they are `gap` apart, and no
// direction gives more. The simplex holds the nearest, or deepest, places.
typedef struct CniNearest {
  CnVec3 normal;
  double gap;
  CniSimplex simplex;
} CniNearest;

// The corner of B - A that is farthest back along a direction.
CniCorner cni_convex_corner(const CniConvex *x, CnVec3 direction);

// Nearest places of two cores (convex.c); 0: they are farther apart than the margin.
int cni_convex_nearest(const CniConvex *x, CniNearest *near);

// Cores that overlap or touch (convex_depth.c): the least way out. The simplex is within round-off
// of the origin; `way` leads from a to b between its nearest places, and may be zero. 0: it was only
// roughly asked for, and could not be made exact.
int cni_convex_depth(const CniConvex *x, CnVec3 way, CniNearest *near);

// How far apart the cores are along a direction n (unit, from a to b): never more than their gap.
double cni_convex_apart(const CniConvex *x, CnVec3 n);
// Of curved cores: a normal that is nearly right made exact by Newton's method, with the gap and the
// places (convex_refine.c); 0: it could not be, and nothing has changed.
int cni_convex_refine(const CniConvex *x, CniNearest *near);
// Shares of three corners in the point of their plane nearest to the origin, and that point; 0 if
// they lie on a line.
int cni_triangle_shares(const CnVec3 w[3], double share[3], CnVec3 *point);

// Of the corners of an area, keep[] of them by their places in a ring, leave out those that their
// neighbours miss least until a manifold holds the rest; the deepest stays. How many are left.
int32_t cni_thin_out(const CnVec3 *at, const double *gap, int32_t *keep, int32_t count);

// Points of contact (convex_manifold.c).
void cni_convex_manifold(const CniConvex *x, const CniNearest *near, double margin,
                         CniManifold *manifold);

#endif
