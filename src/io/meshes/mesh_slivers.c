// SPDX-License-Identifier: Apache-2.0
// Triangles without area. Those with two corners in one place are left out: the triangles beside them
// meet without them. One whose corners lie on a line has a middle corner on the edge of the triangle
// beyond its longest side; the two become two others, split at the middle corner, and the surface stays
// closed:
//
//     d                d
//    / .              /|.
//   a--b--c    ->    a--b--c
//
// What cannot be split (no triangle beyond, or one without area too) is left out in the end.
#include "io/meshes/mesh_private.h"

#include "io/meshes/mesh_steps.h"

#define NO_AREA 1e-12 // of the square of the longest side: what geometry takes for none
#define PASSES 16

// The longest side of a triangle without area, -1 of others.
static int32_t sliver_side(const CniMeshData *mesh, const int32_t t[3]) {
  CnVec3 e[3];
  int32_t longest = 0;
  for (int32_t k = 0; k < 3; k++) {
    e[k] = cn_sub(mesh->vertices[t[(k + 1) % 3]], mesh->vertices[t[k]]);
    if (cn_norm2(e[k]) > cn_norm2(e[longest])) longest = k;
  }
  return cn_norm(cn_cross(e[0], e[1])) > NO_AREA * cn_norm2(e[longest]) ? -1 : longest;
}

static int has_one_twice(const int32_t t[3]) {
  return t[0] == t[1] || t[1] == t[2] || t[2] == t[0];
}

// Keep the triangles that have area, or `slivers` too.
static int32_t leave_out(CniMeshData *mesh, int slivers) {
  int32_t kept = 0, before = mesh->triangle_count;
  for (int32_t t = 0; t < before; t++) {
    int32_t *from = mesh->triangles[t], *to = mesh->triangles[kept];
    if (has_one_twice(from) || (!slivers && sliver_side(mesh, from) >= 0)) continue;
    to[0] = from[0], to[1] = from[1], to[2] = from[2];
    kept++;
  }
  mesh->triangle_count = kept;
  return before - kept;
}

// The sliver runs along the edge from a to c, with b between them; the triangle beyond from c to a and d.
static int split(CniMeshData *mesh, int32_t own, int32_t beyond) {
  int32_t *t = mesh->triangles[own / 3], *u = mesh->triangles[beyond / 3];
  if (t == u || sliver_side(mesh, t) != own % 3) return 0;
  int32_t a = t[own % 3], c = t[(own % 3 + 1) % 3], b = t[(own % 3 + 2) % 3];
  int32_t d = u[(beyond % 3 + 2) % 3], one[3] = {b, a, d}, two[3] = {c, b, d};
  if (sliver_side(mesh, one) >= 0 || sliver_side(mesh, two) >= 0) return 0;
  for (int32_t k = 0; k < 3; k++) t[k] = one[k], u[k] = two[k];
  return 1;
}

// Once over all edges that have two triangles; a triangle takes part once.
static CnStatus split_slivers(CniMeshData *mesh, CniArena *arena, int32_t *count) {
  CniMeshSides sides;
  uint8_t *done;
  *count = 0;
  CNI_TRY(cni_mesh_find_sides(mesh, arena, &sides));
  CNI_TRY(cni_arena_array(arena, mesh->triangle_count, 1, &done));
  for (int32_t e = 0; e < sides.edge_count; e++) {
    const int32_t *s = &sides.side[sides.first[e]];
    if (sides.first[e + 1] - sides.first[e] != 2 || done[s[0] / 3] || done[s[1] / 3]) continue;
    if (cni_mesh_side_from(mesh, s[0]) == cni_mesh_side_from(mesh, s[1])) continue;
    if (!split(mesh, s[0], s[1]) && !split(mesh, s[1], s[0])) continue;
    done[s[0] / 3] = done[s[1] / 3] = 1;
    ++*count;
  }
  return CN_OK;
}

CnStatus cni_mesh_remove_slivers(CniMeshData *mesh, CniArena *arena, CniMeshFaults *faults) {
  int32_t left = 0, count = 1;
  faults->degenerate = leave_out(mesh, 1);
  for (int32_t t = 0; t < mesh->triangle_count; t++)
    left += sliver_side(mesh, mesh->triangles[t]) >= 0;
  faults->degenerate += left;
  for (int32_t pass = 0; left > 0 && count > 0 && pass < PASSES; pass++) {
    CniArenaMark mark = cni_arena_mark(arena);
    CNI_TRY(split_slivers(mesh, arena, &count));
    cni_arena_back(arena, mark);
    left -= count;
  }
  leave_out(mesh, 0);
  return CN_OK;
}
