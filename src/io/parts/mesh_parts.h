// SPDX-License-Identifier: Apache-2.0
// A closed mesh as convex parts, so that a body of any form can move freely.
#ifndef CNI_IO_MESH_PARTS_H
#define CNI_IO_MESH_PARTS_H

#include "io/meshes/mesh_file.h"

#define CNI_MESH_PARTS 256 // at most

typedef struct CniMeshPartsDef {
  int32_t most; // parts, 1 .. CNI_MESH_PARTS; 0 stands for 32
  double error; // of the volume: where to stop; 0 stands for .01
} CniMeshPartsDef;

// Corners of part i: points[first[i]] up to first[i + 1].
typedef struct CniMeshParts {
  CnAllocator allocator;
  CnVec3 *points;
  int32_t point_count, point_capacity, count;
  int32_t first[CNI_MESH_PARTS + 1];
  double volume;      // m^3, of the parts together
  double mesh_volume; // m^3
  double outside;     // m, how far corners of the mesh lie outside their part at most
  double depth;       // m, how far a part reaches beyond the surface at most
} CniMeshParts;

// The mesh is closed and its triangles look outward (cni_mesh_repair). Together the parts cover it but
// for `outside`; what they enclose beyond it is volume - mesh_volume. The same mesh gives the same parts
// everywhere. Limits that are reached are no failure: compare the volumes.
CnStatus cni_mesh_parts(const CniMeshData *mesh, const char *name, const CniMeshPartsDef *def,
                        CniMeshParts *parts);
void cni_mesh_parts_release(CniMeshParts *parts);

// Where parts are kept that were found once (parts_cache.c): in a file of their own beside the mesh file,
// or, where that cannot be written, in a folder, which is made; null: in none.
typedef struct CniPartsPlace {
  const char *file; // the mesh file; null: they are not kept
  const char *folder;
} CniPartsPlace;
// cni_mesh_parts by way of such a file: the same parts. Files that are damaged or of another mesh, limit or
// version are not believed and written anew; those that cannot be written are no failure.
CnStatus cni_mesh_parts_kept(const CniMeshData *mesh, const char *name, const CniMeshPartsDef *def,
                             const CniPartsPlace *place, CniMeshParts *parts);

#endif
