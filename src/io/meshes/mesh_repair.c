// SPDX-License-Identifier: Apache-2.0
// A mesh made whole, step by step: corners joined, triangles without area and those that are there
// twice removed, then all turned outward.
#include "io/meshes/mesh_repair.h"

#include <math.h>

#include "core/error.h"
#include "core/floats.h"
#include "core/hash.h"
#include "io/meshes/mesh_steps.h"

// The corners of a triangle, the least first, in their cyclic order: the same for the same triangle.
static void in_order(const int32_t t[3], int32_t out[3]) {
  int32_t least = t[0] < t[1] ? (t[0] < t[2] ? 0 : 2) : (t[1] < t[2] ? 1 : 2);
  for (int32_t k = 0; k < 3; k++) out[k] = t[(least + k) % 3];
}

static int is_same(const int32_t a[3], const int32_t b[3]) {
  int32_t p[3], q[3];
  in_order(a, p);
  in_order(b, q);
  return p[0] == q[0] && p[1] == q[1] && p[2] == q[2];
}

// Of triangles that are there twice the first stays.
static CnStatus remove_doubled(CniMeshData *mesh, CniArena *arena, CniMeshFaults *faults) {
  CniSort sort;
  int32_t n = mesh->triangle_count, kept = 0;
  uint8_t *gone;
  CNI_TRY(cni_sort_init(&sort, arena, n));
  CNI_TRY(cni_arena_array(arena, n, 1, &gone));
  for (int32_t t = 0; t < n; t++) {
    int32_t c[3];
    in_order(mesh->triangles[t], c);
    uint64_t hash = cni_hash_u64(CNI_HASH_START, (uint64_t)c[0]);
    sort.keys[t] = cni_hash_u64(cni_hash_u64(hash, (uint64_t)c[1]), (uint64_t)c[2]);
    sort.values[t] = t;
  }
  cni_sort_keys(&sort, n, 64);
  for (int32_t i = 1; i < n; i++)
    if (sort.keys[i] == sort.keys[i - 1] &&
        is_same(mesh->triangles[sort.values[i]], mesh->triangles[sort.values[i - 1]]))
      gone[sort.values[i]] = 1;
  for (int32_t t = 0; t < n; t++) {
    if (gone[t]) continue;
    for (int32_t k = 0; k < 3; k++) mesh->triangles[kept][k] = mesh->triangles[t][k];
    kept++;
  }
  mesh->triangle_count = kept;
  faults->doubled = n - kept;
  return CN_OK;
}

static CnStatus repair(CniMeshData *mesh, CniArena *arena, double weld, int32_t turn,
                       CniMeshFaults *faults) {
  CNI_TRY(cni_mesh_weld(mesh, arena, weld));
  CNI_TRY(cni_mesh_remove_slivers(mesh, arena, faults));
  CNI_TRY(remove_doubled(mesh, arena, faults));
  if (mesh->triangle_count == 0) return CN_OK;
  return cni_mesh_look(mesh, arena, turn, faults);
}

CnStatus cni_mesh_repair(CniMeshData *mesh, const char *name, double weld, int32_t turn,
                         CniMeshFaults *faults) {
  CNI_FLOATS;
  CniArena arena;
  *faults = (CniMeshFaults){.file_vertices = mesh->vertex_count,
                            .file_triangles = mesh->triangle_count,
                            .first_flipped = -1,
                            .first_lone = -1};
  if (!(weld >= 0 && isfinite(weld)))
    return cni_invalid("%s: the distance of corners that are one must not be negative (got %g)",
                       name, weld);
  cni_arena_init(&arena, &mesh->allocator);
  CnStatus status = repair(mesh, &arena, weld, turn, faults);
  cni_arena_release(&arena);
  CNI_TRY(status);
  if (mesh->triangle_count > 0) return CN_OK;
  return cni_bad_data("%s: none of its %d triangles has an area", name,
                      (int)faults->file_triangles);
}
