// SPDX-License-Identifier: Apache-2.0
// A glTF file while it is read: where its lists are in the text, and the buffers with its numbers.
#ifndef CNI_IO_GLTF_H
#define CNI_IO_GLTF_H

#include "io/meshes/mesh_private.h"
#include "io/tools/json_scan.h"

typedef enum CniGltfKind {
  CNI_GLTF_BUFFERS = 0,
  CNI_GLTF_VIEWS,
  CNI_GLTF_ACCESSORS,
  CNI_GLTF_MESHES,
  CNI_GLTF_NODES,
  CNI_GLTF_SCENES,
  CNI_GLTF_LISTS
} CniGltfKind;

typedef struct CniGltfList {
  const char **at; // where in the text each element begins
  int32_t count, capacity;
} CniGltfList;

typedef struct CniGltfBuffer {
  const char *data; // null: not looked at yet
  size_t size;
  char *own; // to be released; null: elsewhere
  size_t own_size;
} CniGltfBuffer;

typedef struct CniGltf {
  CniText text;
  const char *path; // of the file; null: it may refer to no other
  CniMeshData *mesh;
  CniGltfList lists[CNI_GLTF_LISTS];
  int32_t scene;
  uint8_t *seen;          // a node: it is in the mesh
  CniGltfBuffer *buffers; // one each
  const char *own;        // the buffer in a GLB file; null: none
  size_t own_size;
  uint64_t bytes; // of all files so far
} CniGltf;

// A cursor at an element of a list.
CnStatus cni_gltf_element(const CniGltf *g, CniGltfKind kind, int32_t number, CniJson *json);

// Numbers in a buffer: `count` elements, `width` numbers each.
typedef struct CniGltfNumbers {
  const char *data; // null: none
  int32_t count, stride, type;
} CniGltfNumbers;
// The numbers of an accessor, all of them within their buffer: places of 3 reals, or indices of 1.
CnStatus cni_gltf_numbers(CniGltf *g, int32_t accessor, int32_t width, CniGltfNumbers *numbers);
double cni_gltf_number(const CniGltfNumbers *numbers, int32_t i, int32_t k);

void cni_gltf_release_buffers(CniGltf *g);

#endif
