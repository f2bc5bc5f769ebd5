// SPDX-License-Identifier: Apache-2.0
// Any bytes as a mesh file of any format: a mesh whose numbers are right, or one line; at most 64 times
// the size of the input plus 1 MB of memory, all given back.
#include "fuzz.h"
#include "problem_check.h"

#include <math.h>

#include "io/meshes/mesh_file.h"

static void check_mesh(const CniMeshData *mesh) {
  require(mesh->triangle_count > 0 && mesh->format[0], "no triangles");
  for (int32_t i = 0; i < mesh->vertex_count; i++) {
    const CnVec3 *p = &mesh->vertices[i];
    require(fabs(p->x) <= CNI_MESH_FAR && fabs(p->y) <= CNI_MESH_FAR && fabs(p->z) <= CNI_MESH_FAR,
            "a corner is far away");
  }
  for (int32_t i = 0; i < mesh->triangle_count; i++)
    for (int32_t k = 0; k < 3; k++) {
      int32_t v = mesh->triangles[i][k];
      require(v >= 0 && v < mesh->vertex_count, "a corner that is none");
    }
}

static void read_as(const uint8_t *data, size_t size, const char *ending) {
  CniMeter meter = {.inner = cn_allocator_default()};
  CnAllocator allocator = cni_meter_allocator(&meter);
  CniMeshData mesh;
  CnStatus status = cni_mesh_read_memory(data, size, "file", ending, &allocator, NULL, &mesh);
  require(meter.peak_bytes <= 64 * size + (1 << 20), "too much memory");
  if (status == CN_OK)
    check_mesh(&mesh);
  else
    check_line(cn_error_message());
  cni_mesh_release(&mesh);
  require(meter.bytes == 0, "memory is lost");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // the two formats without a mark; the others are recognised either way
  read_as(data, size, "obj");
  read_as(data, size, "gltf");
  return 0;
}
