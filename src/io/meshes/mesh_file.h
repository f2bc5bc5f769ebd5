// SPDX-License-Identifier: Apache-2.0
// Surfaces of triangles from the files of CAD systems: OBJ, STL, PLY, glTF. What is read is as the
// file says, corner by corner; mesh_repair.h joins, turns and measures it.
#ifndef CNI_IO_MESH_FILE_H
#define CNI_IO_MESH_FILE_H

#include <cairn/base.h>

#include "geometry/geometry.h"
#include "io/tools/inputs.h"

#define CNI_MESH_FILE_TRIANGLES 20000000 // most that are read
#define CNI_MESH_FILE_VERTICES (3 * CNI_MESH_FILE_TRIANGLES)
#define CNI_MESH_FAR 1e9 // m, the farthest that a corner may be from the origin

// A surface: corners, and triangles of three of their numbers, counter-clockwise seen from outside
// where the file keeps to it. Zeros are an empty one.
typedef struct CniMeshData {
  CnAllocator allocator;
  CnVec3 *vertices;
  int32_t (*triangles)[3];
  int32_t vertex_count, vertex_capacity, triangle_count, triangle_capacity;
  const char *format; // "obj", "stl", ...: static
  uint64_t hash;      // of the bytes of the file, and of the other files that it is made of
  CniInputs others;   // which ones
} CniMeshData;
void cni_mesh_release(CniMeshData *mesh);

// How a file's numbers become places in metres with z up: axes first, then scale, one for each axis as
// it is then; less than zero mirrors, and triangles are turned to face outward again.
typedef struct CniMeshUse {
  CnVec3 scale; // m per unit of the file, not zero; 0, 0, 0 stands for 1, 1, 1
  char up;      // the axis of the file that points up: 'x', 'y', 'z'; 0 stands for z
} CniMeshUse;

// Read a file; its format is told by its content, or else by the ending of its name. `use` null: as it
// is. Failures name the file, the line or byte, and the value found; the mesh is empty then. At most
// 64 times the size of the file and 1 MB are taken on the way.
CnStatus cni_mesh_file_read(const char *path, const CnAllocator *allocator, const CniMeshUse *use,
                            CniMeshData *mesh);
// The same for bytes in memory; a glTF that is spread over several files is refused. `ending` helps
// with what has no mark of its own: "obj", or null.
CnStatus cni_mesh_read_memory(const void *data, size_t size, const char *name, const char *ending,
                              const CnAllocator *allocator, const CniMeshUse *use,
                              CniMeshData *mesh);
// Does the name end like that of a mesh file?
int cni_mesh_file_named(const char *path);

// Corners of the convex hull of a mesh, or, where it has more than a hull can have, some of them that
// leave the others outside by little: the largest distance, m, in *error.
CnStatus cni_mesh_hull_points(const CniMeshData *mesh, const char *name,
                              CnVec3 points[CNI_HULL_VERTICES], int32_t *count, double *error);

#endif
