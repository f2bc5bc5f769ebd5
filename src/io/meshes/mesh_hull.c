// SPDX-License-Identifier: Apache-2.0
// The corners of a mesh's hull. Of very many corners those that are farthest along some thousand
// directions are looked at; where more are left than a hull can have, the most telling are chosen.
#include "io/meshes/mesh_private.h"

#include <string.h>

#include "core/floats.h"
#include "geometry/geometry.h"

#define GRID 24 // directions to the places of a grid on the sides of a cube: 6 GRID^2

// Numbers of the corners that are farthest along the directions, each once and ascending.
static int32_t farthest_corners(const CniMeshData *mesh, uint8_t *taken) {
  int32_t count = 0;
  for (int32_t side = 0; side < 6 * GRID * GRID; side++) {
    int32_t k = side % (GRID * GRID), best = 0;
    double u = (2.0 * (k % GRID) + 1) / GRID - 1, v = (2.0 * (k / GRID) + 1) / GRID - 1;
    double w = side / (3 * GRID * GRID) ? 1 : -1;
    int32_t axis = side / (GRID * GRID) % 3;
    CnVec3 d = axis == 0 ? cn_vec3(w, u, v) : axis == 1 ? cn_vec3(u, w, v) : cn_vec3(u, v, w);
    for (int32_t i = 1; i < mesh->vertex_count; i++)
      if (cn_dot(d, mesh->vertices[i]) > cn_dot(d, mesh->vertices[best])) best = i;
    count += !taken[best];
    taken[best] = 1;
  }
  return count;
}

// Outside the hull by how much, at most: above the highest of the faces.
static double left_outside(const CniMeshData *mesh, const CniHull *hull) {
  double most = 0;
  for (int32_t i = 0; i < mesh->vertex_count; i++)
    for (int32_t f = 0; f < hull->face_count; f++)
      most = cn_max(most, cn_dot(hull->faces[f].normal, mesh->vertices[i]) - hull->faces[f].height);
  return most;
}

// As few as will do for an error that grows until a hull has enough corners for it.
static CnStatus simplify(const CnAllocator *allocator, const char *name, const CnVec3 *from,
                         int32_t from_count, CnVec3 *points, int32_t *count) {
  int32_t chosen[CNI_HULL_VERTICES];
  double size = 0;
  for (int32_t i = 1; i < from_count; i++) size = cn_max(size, cn_norm(cn_sub(from[i], from[0])));
  CnStatus status = CN_INVALID_ARGUMENT;
  for (double enough = 1e-4 * size; status != CN_OK && enough < size; enough *= 2)
    status = cni_points_simplify(allocator, name, from, from_count, enough, chosen, count);
  for (int32_t i = 0; status == CN_OK && i < *count; i++) points[i] = from[chosen[i]];
  return status;
}

static CnStatus choose(const CniMeshData *mesh, const char *name, CnVec3 *from, uint8_t *taken,
                       CnVec3 *points, int32_t *count) {
  int32_t from_count = mesh->vertex_count;
  const CnVec3 *source = mesh->vertices;
  if (from_count > CNI_HULL_POINTS) {
    farthest_corners(mesh, taken);
    from_count = 0;
    for (int32_t i = 0; i < mesh->vertex_count; i++)
      if (taken[i]) from[from_count++] = mesh->vertices[i];
    source = from;
  }
  CniHull *hull;
  CnStatus status = cni_hull_create(&mesh->allocator, name, source, from_count, &hull);
  if (status == CN_NO_MEMORY) return status;
  if (status != CN_OK) return simplify(&mesh->allocator, name, source, from_count, points, count);
  *count = hull->vertex_count;
  memcpy(points, hull->vertices, (size_t)*count * sizeof *points);
  cni_hull_destroy(&mesh->allocator, hull);
  return CN_OK;
}

CnStatus cni_mesh_hull_points(const CniMeshData *mesh, const char *name,
                              CnVec3 points[CNI_HULL_VERTICES], int32_t *count, double *error) {
  CNI_FLOATS;
  const CnAllocator *a = &mesh->allocator;
  size_t bytes = (size_t)6 * GRID * GRID * sizeof(CnVec3);
  CnVec3 *from = NULL;
  uint8_t *taken = NULL;
  CniHull *hull = NULL;
  *count = 0;
  CnStatus status = cni_new(a, bytes, &from);
  if (status == CN_OK) status = cni_new(a, (size_t)mesh->vertex_count, &taken);
  if (status == CN_OK) status = choose(mesh, name, from, taken, points, count);
  cni_release(a, from, bytes);
  cni_release(a, taken, (size_t)mesh->vertex_count);
  CNI_TRY(status);
  CNI_TRY(cni_hull_create(a, name, points, *count, &hull));
  if (error) *error = left_outside(mesh, hull);
  cni_hull_destroy(a, hull);
  return CN_OK;
}
