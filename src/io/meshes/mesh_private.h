// SPDX-License-Identifier: Apache-2.0
// What the readers of meshes share. Every count that a file announces is compared with the bytes that
// are left before anything of that size is allocated.
#ifndef CNI_IO_MESH_PRIVATE_H
#define CNI_IO_MESH_PRIVATE_H

#include "core/error.h"
#include "core/memory.h"
#include "core/vec.h"
#include "io/meshes/mesh_file.h"
#include "io/problems/problems_private.h"

// The bytes of a file. `path`: where it is, to find what it refers to; null: it may refer to nothing.
typedef struct CniMeshSource {
  const char *data;
  size_t size;
  const char *name, *path;
} CniMeshSource;

// A format: one row and one file each.
typedef struct CniMeshFormat {
  const char *name, *summary;
  const char *endings[3];                          // of file names, without the point
  int (*recognise)(const char *data, size_t size); // null: by the ending only
  CnStatus (*read)(const CniMeshSource *source, CniMeshData *mesh);
} CniMeshFormat;
#define CN_MESH(name) extern const CniMeshFormat cni_mesh_##name;
#include "io/meshes/mesh_list.inc"
#undef CN_MESH

// Growing; numbers of corners must be right already.
CnStatus cni_mesh_room(CniMeshData *mesh, const char *name, int64_t vertices, int64_t triangles);
CnStatus cni_mesh_add_vertex(CniMeshData *mesh, const char *name, CnVec3 place);
CnStatus cni_mesh_add_triangle(CniMeshData *mesh, const char *name, int32_t a, int32_t b,
                               int32_t c);

// A polygon as triangles (mesh_polygon.c): a fan about its first corner where it is convex, as other
// programs split it, cut ear by ear where it is not.
// 0: it has more corners than CNI_MESH_EARS and is not convex, with CN_OK.
#define CNI_MESH_EARS 512
CnStatus cni_mesh_add_polygon(CniMeshData *mesh, const char *name, int32_t *corners, int32_t count,
                              int *done);

// Numbers of binary files; `big`: most significant byte first.
uint64_t cni_mesh_bytes(const char *at, int32_t count, int big);
double cni_mesh_float(const char *at, int32_t size, int big);

#endif
