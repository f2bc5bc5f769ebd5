// SPDX-License-Identifier: Apache-2.0
// The corners of a mesh's hull. Of very many corners those that are farthest along some thousand
// directions are looked at; where more are left than a hull can have, the most telling are chosen.
#include "io/meshes/mesh_private.h"

#include <string.h>

#include "core/floats.h"
#include "geometry/geometry.h"

#define GRID 24  // directions to the places of a grid on the sides of a cube: 6 GRID^2
#define BLOCK 64 // corners that follow each other, mostly neighbours, and the box about them

typedef struct Box {
  CnVec3 lo, hi;
} Box;

static void make_boxes(const CniMeshData *mesh, Box *boxes) {
  for (int32_t i = 0; i < mesh->vertex_count; i++) {
    CnVec3 v = mesh->vertices[i];
    Box *b = &boxes[i / BLOCK];
    if (i % BLOCK == 0) b->lo = b->hi = v;
    b->lo = cn_vec3(cn_min(b->lo.x, v.x), cn_min(b->lo.y, v.y), cn_min(b->lo.z, v.z));
    b->hi = cn_vec3(cn_max(b->hi.x, v.x), cn_max(b->hi.y, v.y), cn_max(b->hi.z, v.z));
  }
}

// The corner farthest along a direction, of several the first, from any one on. A box whose own corner is
// less far has none; the same operations in the same order are monotone, so that rounding changes nothing.
static int32_t farthest(const CniMeshData *mesh, const Box *boxes, CnVec3 d, int32_t best) {
  double far = cn_dot(d, mesh->vertices[best]);
  for (int32_t first = 0; first < mesh->vertex_count; first += BLOCK) {
    const Box *b = &boxes[first / BLOCK];
    CnVec3 corner = {d.x > 0 ? b->hi.x : b->lo.x, d.y > 0 ? b->hi.y : b->lo.y,
                     d.z > 0 ? b->hi.z : b->lo.z};
    if (cn_dot(d, corner) < far) continue;
    int32_t end = first + BLOCK < mesh->vertex_count ? first + BLOCK : mesh->vertex_count;
    for (int32_t i = first; i < end; i++) {
      double along = cn_dot(d, mesh->vertices[i]);
      if (along > far || (along == far && i < best)) far = along, best = i;
    }
  }
  return best;
}

// The corners that are farthest along the directions are marked.
static void farthest_corners(const CniMeshData *mesh, const Box *boxes, uint8_t *taken) {
  int32_t best = 0;
  for (int32_t side = 0; side < 6 * GRID * GRID; side++) {
    int32_t k = side % (GRID * GRID), axis = side / (GRID * GRID) % 3;
    double u = (2.0 * (k % GRID) + 1) / GRID - 1, v = (2.0 * (k / GRID) + 1) / GRID - 1;
    double w = side / (3 * GRID * GRID) ? 1 : -1;
    CnVec3 d = axis == 0 ? cn_vec3(w, u, v) : axis == 1 ? cn_vec3(u, w, v) : cn_vec3(u, v, w);
    best = farthest(mesh, boxes, d, best);
    taken[best] = 1;
  }
}

// Outside the hull by how much, at most: above the highest of the faces.
static double left_outside(const CniMeshData *mesh, const Box *boxes, const CniHull *hull) {
  double most = 0;
  int32_t best = 0;
  for (int32_t f = 0; f < hull->face_count; f++) {
    best = farthest(mesh, boxes, hull->faces[f].normal, best);
    most =
        cn_max(most, cn_dot(hull->faces[f].normal, mesh->vertices[best]) - hull->faces[f].height);
  }
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

static CnStatus choose(const CniMeshData *mesh, const char *name, const Box *boxes, CnVec3 *from,
                       uint8_t *taken, CnVec3 *points, int32_t *count) {
  int32_t from_count = mesh->vertex_count;
  const CnVec3 *source = mesh->vertices;
  if (from_count > CNI_HULL_POINTS) {
    farthest_corners(mesh, boxes, taken);
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
  size_t box_bytes = ((size_t)mesh->vertex_count / BLOCK + 1) * sizeof(Box);
  CnVec3 *from = NULL;
  uint8_t *taken = NULL;
  Box *boxes = NULL;
  CniHull *hull = NULL;
  *count = 0;
  CnStatus status = cni_new(a, bytes, &from);
  if (status == CN_OK) status = cni_new(a, (size_t)mesh->vertex_count, &taken);
  if (status == CN_OK) status = cni_new(a, box_bytes, &boxes);
  if (status == CN_OK) {
    make_boxes(mesh, boxes);
    status = choose(mesh, name, boxes, from, taken, points, count);
  }
  if (status == CN_OK) status = cni_hull_create(a, name, points, *count, &hull);
  if (status == CN_OK && error) *error = left_outside(mesh, boxes, hull);
  if (status == CN_OK) cni_hull_destroy(a, hull);
  cni_release(a, from, bytes);
  cni_release(a, taken, (size_t)mesh->vertex_count);
  cni_release(a, boxes, box_bytes);
  return status;
}
