// SPDX-License-Identifier: Apache-2.0
// Cells of a mesh that is being cut into parts.
#ifndef CNI_IO_PARTS_H
#define CNI_IO_PARTS_H

#include "core/memory.h"
#include "geometry/geometry.h"
#include "io/parts/mesh_parts.h"

#define CNI_CELL_PLANES 32

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

// What of the solid lies between planes: its surface there, the hull of it, and how hollow it is: the
// integral over the surface of the way from it, along its normal, out of the hull, m^3; 0 of a
// convex one.
typedef struct CniCell {
  CniCut planes[CNI_CELL_PLANES];
  int32_t plane_count, count;
  CniCorners *triangles;
  double volume, hollow; // of the hull
  CniCut best;           // where it is cut best
  double gain;           // m^3, of that cut; 0: none is worth while
} CniCell;

typedef struct CniCutter {
  const CniMeshData *mesh;
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

// Edges at which the solid is not convex, and the planes along which it may be cut there.
typedef struct CniReflex {
  CnVec3 a, b;      // its ends
  CnVec3 cut[3];    // normals: of the two faces, and of the plane between them
  double sharpness; // sine of the angle, at most 1
} CniReflex;
CnStatus cni_find_reflex(const CniMeshData *mesh, CniArena *arena, CniReflex **edges,
                         int32_t *count);

#define CNI_CUTS 32
#define CNI_CUTS_ALONG 5
// Planes that are worth trying, each once; the last are CNI_CUTS_ALONG along each axis, from x to z.
int32_t cni_cell_cuts(const CniCutter *cutter, const CniCell *cell, const CniReflex *edges,
                      int32_t edge_count, CniCut cuts[CNI_CUTS]);

// Parts that make one convex part together become one, and the cheapest ones until `most` are left.
CnStatus cni_parts_merge(const CniCutter *cutter, CniMeshParts *parts, int32_t most);

#endif
