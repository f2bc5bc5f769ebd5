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
  int32_t count;
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
  CnVec3 lo, hi; // its bounds, grown by the margin
  int32_t swap;  // the mesh came first
  CniMeshSide side;
  CniTake take;
  void *context;
} CniMeshTouch;

// Parts of a mesh as convex cores: a triangle, size[0] its number, and an edge of it, size[1].
extern const CniShapeKind cni_mesh_triangle_kind, cni_mesh_edge_kind;

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
