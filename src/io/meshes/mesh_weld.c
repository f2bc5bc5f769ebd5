// SPDX-License-Identifier: Apache-2.0
// Corners of a mesh that are one. Each corner is compared with those before it that lie in the same or a
// neighbouring cell of a grid as wide as the distance allowed, and joined to the first that is near
// enough; so corners that stay are farther apart than that, and a cell holds a few at most.
#include "io/meshes/mesh_private.h"

#include <math.h>

#include "core/hash.h"
#include "io/meshes/mesh_steps.h"

typedef struct Grid {
  const CnVec3 *vertices;
  double width; // 0: equal corners
  int32_t *head, *next;
  uint64_t mask;
} Grid;

static CnVec3 cell_of(const Grid *g, CnVec3 p) {
  if (g->width == 0) return p;
  return cn_vec3(floor(p.x / g->width), floor(p.y / g->width), floor(p.z / g->width));
}

static uint64_t place_of(const Grid *g, CnVec3 cell) {
  return cni_hash_doubles(CNI_HASH_START, &cell.x, 3) & g->mask;
}

// The first corner near this one, -1 without any.
static int32_t find_near(const Grid *g, CnVec3 p) {
  CnVec3 cell = cell_of(g, p);
  int32_t reach = g->width > 0, found = -1;
  for (int32_t k = 0; k < (reach ? 27 : 1); k++) {
    CnVec3 there = cell;
    if (reach) there = cn_add(cell, cn_vec3(k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1));
    for (int32_t i = g->head[place_of(g, there)]; i >= 0; i = g->next[i])
      if (cn_norm(cn_sub(g->vertices[i], p)) <= g->width && (found < 0 || i < found)) found = i;
  }
  return found;
}

// Of each corner the one that it is joined to.
static CnStatus join_corners(const CniMeshData *mesh, CniArena *arena, double width,
                             int32_t *joined) {
  Grid g = {.vertices = mesh->vertices, .width = width};
  int32_t n = mesh->vertex_count, bits = cni_bit_count((uint64_t)n) + 1;
  g.mask = ((uint64_t)1 << bits) - 1;
  CNI_TRY(CNI_TAKE(arena, (int64_t)1 << bits, g.head));
  CNI_TRY(CNI_TAKE(arena, n, g.next));
  for (uint64_t i = 0; i <= g.mask; i++) g.head[i] = -1;
  for (int32_t i = 0; i < n; i++) {
    joined[i] = find_near(&g, mesh->vertices[i]);
    if (joined[i] >= 0) continue;
    uint64_t place = place_of(&g, cell_of(&g, mesh->vertices[i]));
    joined[i] = i;
    g.next[i] = g.head[place];
    g.head[place] = i;
  }
  return CN_OK;
}

CnStatus cni_mesh_weld(CniMeshData *mesh, CniArena *arena, double width) {
  int32_t *joined, *number, n = mesh->vertex_count, count = 0;
  CNI_TRY(CNI_TAKE(arena, n, joined));
  CNI_TRY(CNI_TAKE(arena, n, number));
  CNI_TRY(join_corners(mesh, arena, width, joined));
  for (int32_t i = 0; i < n; i++) number[i] = -1;
  for (int32_t t = 0; t < mesh->triangle_count; t++)
    for (int32_t k = 0; k < 3; k++) number[joined[mesh->triangles[t][k]]] = 0;
  for (int32_t i = 0; i < n; i++) {
    if (number[i] < 0) continue;
    number[i] = count;
    mesh->vertices[count++] = mesh->vertices[i];
  }
  for (int32_t t = 0; t < mesh->triangle_count; t++)
    for (int32_t k = 0; k < 3; k++) mesh->triangles[t][k] = number[joined[mesh->triangles[t][k]]];
  mesh->vertex_count = count;
  return CN_OK;
}
