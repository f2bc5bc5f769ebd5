// SPDX-License-Identifier: Apache-2.0
// Private to meshes: a convex shape seen from the frame of a mesh.
#ifndef CNI_GEOMETRY_MESH_PRIVATE_H
#define CNI_GEOMETRY_MESH_PRIVATE_H

#include "geometry/pairs/convex_private.h"

// The side that a shape turns to a flat face: corners of its core in the mesh's frame.
typedef struct CniMeshSide {
  int32_t seed;         // of the flat face; -1: none was looked at yet
  CnVec3 normal, point; // of its plane, outwards; of what has two sides towards the shape
  int32_t turned;       // against the order of its corners
  int32_t clear;        // the shape is farther away from it than the margin
  int32_t count;
  CnVec3 lo, hi; // triangles that do not meet this have none of the corners over them
  CnVec3 at[CNI_FACE_POINTS];
  double height[CNI_FACE_POINTS]; // over the plane
  uint32_t corner[CNI_FACE_POINTS];
} CniMeshSide;

typedef struct CniMeshTouch {
  const CniMesh *mesh;
  const CniShapeKind *kind;
  CniPlaced shape, edge; // in the mesh's frame; the edge is a part of the mesh
  CnPose pose;           // of the mesh
  CnMat3 turn;           // the shape's axes
  double round;          // balls on both
  double size;           // of the shape
  double margin;
  double slack;  // by how much a flat face may be uneven
  double ball;   // a plane farther from the shape's origin than this does not touch
  CnVec3 lo, hi; // its bounds, grown by the margin
  int32_t swap;  // the mesh came first
  CniMeshSide side;
  CniTake take;
  void *context;
} CniMeshTouch;

// Parts of a mesh as convex cores: a triangle, size[0] its number, and an edge of it, size[1].
extern const CniShapeKind cni_mesh_triangle_kind, cni_mesh_edge_kind;

// A flat face that places may be over.
typedef struct CniMeshOver {
  const CniMesh *mesh;
  double size;    // of what is over it
  double reach;   // how far places may come in a step
  CnVec3 normal;  // outwards; of what has two sides towards the place
  int32_t turned; // against the order of its corners
} CniMeshOver;
// Does a place project into a triangle of it, or beyond it so that it still counts?
int cni_mesh_is_over(const CniMeshOver *over, int32_t triangle, const CniTriangle *at,
                     CnVec3 place);

#define CNI_MESH_WITHIN 1e-7 // sine of the angle by which a normal may leave the wedge
#define CNI_MESH_TILT 0.03   // the same where a flat side lies over the edge
// The corner of a triangle that is at a place, -1: none.
int32_t cni_mesh_corner_at(const CniMesh *mesh, int32_t triangle, CnVec3 place);
// Is a normal, out of the mesh, one of the corner of a triangle at p, of the place q of its edge k?
int cni_mesh_cone_holds(const CniMesh *mesh, CnVec3 normal, double slack, int32_t triangle,
                        int32_t edge, CnVec3 p);
int cni_mesh_wedge_holds(const CniMesh *mesh, CnVec3 normal, double slack, int32_t triangle,
                         int32_t edge, CnVec3 q);

CniMeshTouch cni_mesh_touch_of(const CniPlaced *shape, const CniPlaced *mesh, double margin);
// The shape and a part of the mesh, seen from the shape.
CniConvex cni_mesh_convex(const CniMeshTouch *touch, const CniPlaced *of_mesh,
                          const CniShapeKind *kind);
// The point of a triangle that is nearest to a point.
CnVec3 cni_triangle_nearest(const CniTriangle *t, CnVec3 p);
// Hand out a manifold whose normal, points and names are those of the mesh's frame and of shape, then
// mesh.
void cni_mesh_give(const CniMeshTouch *touch, CniManifold *manifold);

// Contacts with the edges of a triangle that are its own (mesh_edges.c).
void cni_mesh_touch_edges(const CniMeshTouch *touch, int32_t triangle);

#endif
