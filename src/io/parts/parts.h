// SPDX-License-Identifier: Apache-2.0
// Cells of a mesh that is being cut into parts.
#ifndef CNI_IO_PARTS_H
#define CNI_IO_PARTS_H

#include "core/memory.h"
#include "geometry/geometry.h"
#include "io/parts/mesh_parts.h"

#define CNI_CELL_PLANES 32
#define CNI_PARTS_VERSION 2 // of the method: what it finds has changed

// normal . x <= height
typedef struct CniCut {
  CnVec3 normal; // unit
  double height;
} CniCut;
static inline double cni_cut_above(const CniCut *cut, CnVec3 p) {
  return cn_dot(cut->normal, p) - cut->height;
}
static inline CniCut cni_cut_other(CniCut cut) { return (CniCut){cn_neg(cut.normal), -cut.height}; }

typedef struct CniCorners {
  CnVec3 at[3];
} CniCorners;
// Twice its area, along the normal.
static inline CnVec3 cni_corners_area(const CniCorners *t) {
  return cn_cross(cn_sub(t->at[1], t->at[0]), cn_sub(t->at[2], t->at[0]));
}

// What of the solid lies between planes: its surface there, the hull of it, and how hollow it is: the
// integral over the surface of the way from it, along its normal, out of the hull, m^3; 0 of a
// convex one.
typedef struct CniCell {
  CniCut planes[CNI_CELL_PLANES];
  int32_t plane_count, count;
  CniCorners *triangles;
  double volume, hollow; // of the hull, roughly
  double full;           // volume of the hull
  CniCut best;           // where it is cut best
  double gain;           // m^3, of that cut; 0: none is worth while
} CniCell;

// Which points are within the solid (parts_inside.c).
typedef struct CniInside {
  const CniMeshData *mesh;
  double lo[2], per[2], near;
  int32_t side;   // squares of a grid across the rays
  int64_t *first; // of each square, and one more: in the list
  int32_t *list;  // triangles
} CniInside;
CnStatus cni_inside_make(const CniMeshData *mesh, CniArena *arena, CniInside *inside);
int cni_inside(const CniInside *inside, CnVec3 p);

typedef struct CniCutter {
  const CniMeshData *mesh;
  CniInside inside;
  CnAllocator allocator;
  double size; // of the mesh, m
  CniArena kept, trial;
} CniCutter;

// The part of a cell on one side of a plane, in memory of an arena. No hull yet.
CnStatus cni_cell_cut(const CniCutter *cutter, const CniCell *cell, CniCut cut, CniArena *arena,
                      CniCell *out);
// Its corners: those of its surface, and corners between its planes that lie within the solid.
CnStatus cni_cell_points(const CniCutter *cutter, const CniCell *cell, CniArena *arena,
                         CnVec3 **points, int32_t *count);
// Volume of the hull and hollowness, to rank cuts: of many corners the farthest along some directions
// stand for all. What is flat has neither.
CnStatus cni_cell_measure(const CniCutter *cutter, CniCell *cell, CniArena *arena);
// The volume that its hull will have, whose corners are limited.
CnStatus cni_cell_volume(const CniCutter *cutter, const CniCell *cell, CniArena *arena,
                         double *volume);

// The hull of points, or of those farthest along 6 grid^2 directions where they are more than these or make
// more corners than a hull can have. CN_INVALID_ARGUMENT: they are flat.
CnStatus cni_parts_hull(const CniCutter *cutter, const CnVec3 *points, int32_t count, int32_t grid,
                        CniArena *arena, CniHull **hull);

// Edges at which the solid is not convex, and the planes along which it may be cut there.
typedef struct CniReflex {
  CnVec3 a, b;      // its ends
  CnVec3 cut[3];    // normals: of the two faces, and of the plane between them
  double sharpness; // sine of the angle, at most 1
} CniReflex;
CnStatus cni_find_reflex(const CniMeshData *mesh, CniArena *arena, CniReflex **edges,
                         int32_t *count);

#define CNI_CUTS 48
#define CNI_CUTS_ALONG 5
// Planes that are worth trying, each once; the last are CNI_CUTS_ALONG along each axis, from x to z.
CnStatus cni_cell_cuts(CniCutter *cutter, const CniCell *cell, const CniReflex *edges,
                       int32_t edge_count, CniCut cuts[CNI_CUTS], int32_t *count);

// Parts that make one convex part together become one, and the cheapest ones until `most` are left.
CnStatus cni_parts_merge(const CniCutter *cutter, CniMeshParts *parts, int32_t most);

// How far they reach beyond the surface, into parts->depth.
CnStatus cni_parts_depth(const CniCutter *cutter, CniMeshParts *parts);

// ---- kept parts (parts_cache.c) ----

// What stands for zeros, filled in.
CniMeshPartsDef cni_mesh_parts_def(const CniMeshPartsDef *def);
double cni_parts_mesh_volume(const CniMeshData *mesh);
// Of all parts, each as a hull, into parts->volume; CN_INVALID_ARGUMENT where one is none.
CnStatus cni_parts_volume(CniMeshParts *parts);

// A file: its name, its bytes. Bytes that are not those of this key and mesh give no parts, with CN_OK.
uint64_t cni_parts_key(const CniMeshData *mesh, const CniMeshPartsDef *def);
size_t cni_parts_size(const CniMeshParts *parts);
void cni_parts_encode(const CniMeshParts *parts, uint64_t key, void *bytes);
CnStatus cni_parts_decode(const void *bytes, size_t size, uint64_t key, const CniMeshData *mesh,
                          CniMeshParts *parts, int32_t *good);

#endif
