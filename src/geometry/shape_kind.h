// SPDX-License-Identifier: Apache-2.0
// A shape placed in the world, and the row of the table of kinds, which has all that the rest of Cairn knows
// of one. A part of geometry.h.
#ifndef CNI_GEOMETRY_SHAPE_KIND_H
#define CNI_GEOMETRY_SHAPE_KIND_H

#include <cairn/shape.h>
#include "core/fields.h"
#include "core/vec.h"
#include "geometry/hull.h"
#include "geometry/mesh.h"

// A shape placed in the world.
#define CNI_SHAPE_SIZES 4
typedef struct CniPlaced {
  CnShapeKind kind;
  CnPose pose;                  // of the shape's frame
  double size[CNI_SHAPE_SIZES]; // the numbers of the kind's fields, in their order
  const CniHull *hull;          // of kinds that have a geometry: one of the two
  const CniMesh *mesh;
} CniPlaced;

// Axis-aligned bounds; what is unbounded has +-INFINITY.
typedef struct CniBounds {
  CnVec3 lo, hi;
} CniBounds;

// Mass, centre and inertia about the centre. What is unbounded has no mass.
typedef struct CniMassProps {
  double mass;
  CnVec3 centre;
  CnSym3 inertia; // about the centre
} CniMassProps;

// The side that a core turns towards a direction: a corner, an edge or a polygon, whose corners go
// round counter-clockwise seen from outside. Corners and edges have lasting numbers below
// CNI_FEATURE_FACE, none twice within one core.
#define CNI_FACE_POINTS 32
#define CNI_FEATURE_FACE 1023u
typedef struct CniFace {
  int32_t count;
  CnVec3 normal; // unit, of a polygon
  CnVec3 points[CNI_FACE_POINTS];
  uint32_t corner[CNI_FACE_POINTS], edge[CNI_FACE_POINTS]; // edge i leads to the next corner
} CniFace;

// How a page shows a kind.
typedef enum CniPagePrimitive {
  CNI_PAGE_SPHERE = 0, // of the first size
  CNI_PAGE_BOX,        // of the first three sizes
  CNI_PAGE_PLANE,
  CNI_PAGE_TRIANGLES // made from the support function
} CniPagePrimitive;

enum {
  CNI_SHAPE_UNBOUNDED = 1, // no bounds, no mass, no core; not on dynamic bodies
  CNI_SHAPE_GEOMETRY = 2,  // it is more than its sizes: CniPlaced::hull or mesh has it
  CNI_SHAPE_CURVED = 4,    // its core is no polyhedron
  CNI_SHAPE_AXIAL = 8,     // the same however it is turned about z
  CNI_SHAPE_SURFACE = 16   // a mesh: not convex, no core
};

// A row of the table of kinds: all that the rest of Cairn knows of one. Directions and points are in
// the shape's own frame, except those of `bounds`.
//
// A shape is a convex core and a ball that is carried over it: a sphere is a point and its radius, a
// box itself and no ball. Distances are found between cores and the radii taken off, which is exact
// for what is round.
typedef struct CniShapeKind {
  const char *name, *summary;
  const CniField *fields; // sizes: real numbers and vectors of CnShapeDef, CNI_SHAPE_SIZES at most
  uint32_t flags;
  CniPagePrimitive page;
  CniBounds (*bounds)(const CniPlaced *shape);
  double (*inradius)(const CniPlaced *shape);  // of the largest ball inside: its size for margins
  double (*outradius)(const CniPlaced *shape); // of the ball about the origin that holds it
  CniMassProps (*mass)(const CniPlaced *shape, double density); // exact; in the own frame
  double (*rounding)(const CniPlaced *shape);                   // radius of the ball on the core
  // The corner of the core that is farthest along a direction (of any length), and its number.
  CnVec3 (*support)(const CniPlaced *shape, CnVec3 direction, uint32_t *corner);
  // Of curved cores: where the corner of that number is for a unit direction, and the radii of
  // curvature there, m: how it moves as the direction turns.
  CnVec3 (*bend)(const CniPlaced *shape, uint32_t corner, CnVec3 direction, CnSym3 *by);
  void (*face)(const CniPlaced *shape, CnVec3 direction, CniFace *face);
  // Where a ray from outside meets the surface first, in units of the direction, and the outward
  // normal there; INFINITY without one. From inside it is 0 and the normal is against the ray.
  double (*ray)(const CniPlaced *shape, CnVec3 origin, CnVec3 direction, CnVec3 *normal);
} CniShapeKind;

extern const CniShapeKind *const cni_shape_kinds[CN_SHAPE_KIND_COUNT];
static inline int cni_shape_unbounded(CnShapeKind kind) {
  return (cni_shape_kinds[kind]->flags & CNI_SHAPE_UNBOUNDED) != 0;
}
static inline int cni_shape_needs_geometry(CnShapeKind kind) {
  return (cni_shape_kinds[kind]->flags & CNI_SHAPE_GEOMETRY) != 0;
}
static inline int cni_shape_is_surface(CnShapeKind kind) {
  return (cni_shape_kinds[kind]->flags & CNI_SHAPE_SURFACE) != 0;
}

// A shape as triangles (triangles.c), in its own frame: corners with their normals, then triangles of their
// numbers, counter-clockwise from outside. `quarter`: corners of a quarter of a circle; a half-space is
// a square of 2 `far`.
typedef struct CniMeshTaker {
  void *context;
  void (*corner)(void *context, CnVec3 place, CnVec3 normal);
  void (*triangle)(void *context, const int32_t corner[3]);
  int32_t shared; // 1: triangles of a surface share corners, whose normals mean nothing then
} CniMeshTaker;
void cni_shape_triangles(const CniPlaced *shape, int32_t quarter, double far,
                         const CniMeshTaker *take);

#endif
