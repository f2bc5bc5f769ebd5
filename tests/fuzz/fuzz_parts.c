// SPDX-License-Identifier: Apache-2.0
// Any bytes as kept parts of a mesh: parts that are hulls within the box of the mesh, or none. As they are,
// and with the magic, key and hash set right, so that what lies behind them is read too.
#include "fuzz.h"
#include "problem_check.h"

#include <math.h>
#include <string.h>

#include "core/hash.h"
#include "io/parts/parts.h"

static CnVec3 corners[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static int32_t triangles[][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};

static void decode(const uint8_t *data, size_t size, uint64_t key) {
  CniMeter meter = {.inner = cn_allocator_default()};
  CniMeshData mesh = {.allocator = cni_meter_allocator(&meter),
                      .vertices = corners,
                      .triangles = triangles,
                      .vertex_count = 4,
                      .triangle_count = 4};
  CniMeshParts parts;
  int32_t good;
  CnStatus status = cni_parts_decode(data, size, key, &mesh, &parts, &good);
  require(status == CN_OK, "a failure");
  require(meter.peak_bytes <= 64 * size + (1 << 20), "too much memory");
  require(good || parts.count == 0, "parts that are none");
  for (int32_t i = 0; i < parts.point_count; i++) {
    const CnVec3 *p = &parts.points[i];
    require(fabs(p->x) < 1.1 && fabs(p->y) < 1.1 && fabs(p->z) < 1.1, "a corner is far away");
  }
  cni_mesh_parts_release(&parts);
  require(meter.bytes == 0, "memory is lost");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static uint8_t copy[1 << 16];
  uint64_t key = 0x6b6579;
  decode(data, size, key);
  size -= size % 8;
  if (size < 24 || size > sizeof copy) return 0;
  memcpy(copy, data, size);
  memcpy(copy, "crnparts", 8);
  for (size_t k = 0; k < 8; k++) copy[8 + k] = (uint8_t)(key >> 8 * k);
  uint64_t hash = cni_hash_bytes(CNI_HASH_START, copy, size - 8);
  for (size_t k = 0; k < 8; k++) copy[size - 8 + k] = (uint8_t)(hash >> 8 * k);
  decode(copy, size, key);
  return 0;
}
