// SPDX-License-Identifier: Apache-2.0
// Private to geometry: two convex cores seen from a's frame, how far apart they are and where they
// touch, whatever their kinds. The rows of the kinds give the support functions.
#ifndef CNI_GEOMETRY_CONVEX_PRIVATE_H
#define CNI_GEOMETRY_CONVEX_PRIVATE_H

#include "geometry/geometry_private.h"

typedef struct CniConvex {
  const CniPlaced *a, *b;
  const CniShapeKind *kind_a, *kind_b;
  CnMat3 axes; // of a in the world
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
  // where the parts that meet are known (convex_meet.c), otherwise zeros
  uint32_t parts[2];
  double inset; // m, how far inside the border of the face that they make
  int crossing; // in one point, with nothing else near it
} CniNearest;

// A part of a core that can lie against another: a corner, the edge between two corners or a flat side,
// by its number; 0: none. Corners are numbered below 256, as `support` names them.
static inline uint32_t cni_part_corner(uint32_t corner) { return 1u << 16 | corner; }
static inline uint32_t cni_part_edge(uint32_t from, uint32_t to) {
  return 2u << 16 | from << 8 | to; // from < to
}
static inline uint32_t cni_part_side(uint32_t side) { return 3u << 16 | side; }
static inline int32_t cni_part_rank(uint32_t part) { return (int32_t)(part >> 16) - 1; }

typedef struct CniPart {
  int32_t rank;    // 0 a corner, 1 an edge, 2 a side
  int32_t bends;   // where it is depends on the direction it is seen from
  CnVec3 from, to; // the corner; the ends; a point of the side and its normal
} CniPart;

// What a kind knows of its parts (convex_parts.c), in its own frame; all null: nothing.
typedef struct CniPartsOf {
  int (*part)(const CniPlaced *shape, uint32_t part, CniPart *p); // 0: there is no such part
  // Does it reach farthest along a unit direction, by `clear` more than all else? Of a side the
  // direction is its normal. What bends is placed.
  int (*top)(const CniPlaced *shape, uint32_t part, CnVec3 direction, double clear, CniPart *p);
  // Is all that is less than `room` below a corner less than `within` aside of it?
  int (*alone)(const CniPlaced *shape, uint32_t part, CnVec3 direction, double room, double within);
  // How far a point is inside the border of a side, seen along its normal; negative: outside.
  double (*inset)(const CniPlaced *shape, uint32_t part, CnVec3 point);
  uint32_t (*side)(const CniPlaced *shape, CnVec3 direction); // that is most across a direction
  // The name of an edge in contacts, 0 if it is none, and how much the sides at it are across the
  // direction: the larger cosine.
  uint32_t (*edge)(const CniPlaced *shape, uint32_t part, CnVec3 direction, double *across);
  uint32_t (*named)(const CniPlaced *shape, uint32_t name, CnVec3 direction); // what is no side
} CniPartsOf;
extern const CniPartsOf cni_parts_of[CN_SHAPE_KIND_COUNT];

// The part of a name in contacts, along a direction; 0: not known. It may be another one: cni_convex_meet tells.
uint32_t cni_part_named(const CniPlaced *shape, uint32_t name, CnVec3 direction);

// A rim or a wall and a corner, an edge or a wall: where they are nearest, or deepest (convex_rims.c). 0: no such place.
typedef struct CniBent {
  CnVec3 normal, a, b;
  double room; // m: depths below it are the shortest way out; 0: they are to be apart
  int single;  // nothing else is near that place
} CniBent;
int cni_convex_bent(const CniConvex *x, const uint32_t parts[2], const CniPart *a, const CniPart *b,
                    CniBent *bent);

// A point of b's frame in a's, and back.
static inline CnVec3 cni_convex_of_b(const CniConvex *x, CnVec3 p) {
  return cn_add(x->way, cn_mmul(x->turn, p));
}
static inline CnVec3 cni_convex_to_b(const CniConvex *x, CnVec3 p) {
  return cn_mtmul(x->turn, cn_sub(p, x->way));
}

// How two cores lie to each other if these parts meet; 0: they do not, or not clearly, and nothing
// has changed. And the same by the parts of an answer.
int cni_convex_meet(const CniConvex *x, const uint32_t parts[2], CniNearest *near);
int cni_convex_parts(const CniConvex *x, CniNearest *near);

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
