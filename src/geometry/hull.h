// SPDX-License-Identifier: Apache-2.0
// Convex bodies with flat sides: corners, and faces as polygons that know their neighbours. A hull
// is made once and never changes; shapes share it.
#ifndef CNI_GEOMETRY_HULL_H
#define CNI_GEOMETRY_HULL_H

#include <cairn/base.h>
#include "core/vec.h"

// Corners are named by 0 .. 255 and edges after them, below the 1022 of CniFace: a closed surface of
// 256 corners has at most 762 edges and 508 faces.
#define CNI_HULL_VERTICES 256
#define CNI_HULL_FACES (2 * CNI_HULL_VERTICES - 4)
#define CNI_HULL_CORNERS (2 * (3 * CNI_HULL_VERTICES - 6))
#define CNI_HULL_COLUMNS 512  // faces, and some to make a multiple of 8
#define CNI_HULL_POINTS 65536 // that a hull can be made of

typedef struct CniHullFace {
  CnVec3 normal;        // outward, unit
  double height;        // of its plane along the normal: no vertex is above
  int32_t first, count; // of its corners, counter-clockwise seen from outside
} CniHullFace;

// A corner of a face. Edge i leads from corner i to the next one of the face.
typedef struct CniHullCorner {
  int32_t vertex;
  int32_t edge;      // number of the edge, the same seen from both faces
  int32_t neighbour; // the face beyond it
} CniHullCorner;

// The farthest of vectors that lie in memory by coordinates (farthest.inc).
typedef struct CniColumns {
  double *values;
  int32_t stride;
} CniColumns;
typedef int32_t (*CniFarthest)(const double *rows, int32_t stride, CnVec3 direction);
// How many of the first `count` reach above a level.
typedef int32_t (*CniAbove)(const CniColumns *columns, int32_t count, CnVec3 direction,
                            double level);

typedef struct CniHull {
  int32_t vertex_count, face_count, corner_count; // half as many edges as corners
  CnVec3 *vertices;
  CniHullFace *faces;
  CniHullCorner *corners;
  // For searches: the vertices and the normals of the faces once more, and of every vertex the faces
  // about it, ascending: about[first_about[v]] up to first_about[v + 1].
  CniFarthest farthest;
  CniAbove above;
  CniColumns vertex_columns, normal_columns;
  int32_t *first_about, *about;
  size_t bytes; // of the whole, in one piece
  // of density one
  double volume;
  CnVec3 centre;
  CnSym3 inertia;   // about the centre
  double inradius;  // of the largest ball about the centre that is inside
  double outradius; // of the ball about the origin that holds it
} CniHull;

// The convex hull of points (quickhull.c). CN_INVALID_ARGUMENT with a sentence that begins with
// `what` where they have none: flat, too many corners, not finite.
//
// Decisions are exact, on a grid of 2^-41 of the size (the largest side of the points' bounds).
// Points that reach out of the others by less than 1e-12 of the size are no corners; facets whose
// corners lie within 1e-7 of the size of one plane, which is what single precision leaves of flat,
// are one face; points within 1e-6 of the size of a plane are flat and refused.
CnStatus cni_hull_create(const CnAllocator *allocator, const char *what, const CnVec3 *points,
                         int32_t count, CniHull **hull);

// A hull of given vertices and faces (hull.c): corner_of lists the vertices of all faces, face after
// face, and count_of how many each has. Everything is checked, nothing believed: CN_INVALID_DATA
// where this is no closed convex surface. The same lists give the same hull, bit by bit.
CnStatus cni_hull_build(const CnAllocator *allocator, const char *what, int32_t vertex_count,
                        const CnVec3 *vertices, int32_t face_count, const int32_t *count_of,
                        const int32_t *corner_of, CniHull **hull);
void cni_hull_destroy(const CnAllocator *allocator, CniHull *hull);

#endif
