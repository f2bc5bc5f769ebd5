// SPDX-License-Identifier: Apache-2.0
// Polygons as triangles.
//
// Seen along its normal (the sum over its corners, Newell), a polygon that never turns the wrong way
// is a fan about its first corner. Otherwise ears are cut off: corners that turn the right way and
// whose triangle holds no other corner. Where no ear is found (sides that cross each other) the next
// corner is cut all the same, so that every polygon of n corners gives n - 2 triangles.
#include "io/meshes/mesh_private.h"

static CnVec3 normal_of(const CnVec3 *v, const int32_t *c, int32_t count) {
  CnVec3 n = CN_VEC3_ZERO;
  for (int32_t i = 1; i + 1 < count; i++)
    n = cn_add(n, cn_cross(cn_sub(v[c[i]], v[c[0]]), cn_sub(v[c[i + 1]], v[c[0]])));
  return n;
}

static double turn(const CnVec3 *v, CnVec3 n, int32_t a, int32_t b, int32_t c) {
  return cn_dot(n, cn_cross(cn_sub(v[b], v[a]), cn_sub(v[c], v[b])));
}

// Does the polygon turn one way at every corner? What is straight, but for rounding, counts as right.
static int is_convex(const CnVec3 *v, CnVec3 n, const int32_t *c, int32_t count) {
  double least = -1e-9 * cn_norm2(n);
  for (int32_t i = 0; i < count; i++)
    if (turn(v, n, c[i], c[(i + 1) % count], c[(i + 2) % count]) < least) return 0;
  return 1;
}

static int is_ear(const CnVec3 *v, CnVec3 n, const int32_t *c, int32_t count, int32_t at) {
  int32_t a = c[(at + count - 1) % count], b = c[at], d = c[(at + 1) % count];
  if (!(turn(v, n, a, b, d) > 0)) return 0;
  for (int32_t i = 0; i < count; i++) {
    int32_t p = c[i];
    if (p == a || p == b || p == d) continue;
    if (turn(v, n, a, b, p) >= 0 && turn(v, n, b, d, p) >= 0 && turn(v, n, d, a, p) >= 0) return 0;
  }
  return 1;
}

static CnStatus cut_ears(CniMeshData *mesh, const char *name, CnVec3 n, int32_t *c, int32_t count) {
  int32_t at = 0;
  for (; count > 3; count--) {
    int32_t tries = 0;
    while (tries < count && !is_ear(mesh->vertices, n, c, count, at))
      at = (at + 1) % count, tries++;
    CNI_TRY(
        cni_mesh_add_triangle(mesh, name, c[(at + count - 1) % count], c[at], c[(at + 1) % count]));
    for (int32_t i = at; i + 1 < count; i++) c[i] = c[i + 1];
    at %= count - 1;
  }
  return cni_mesh_add_triangle(mesh, name, c[0], c[1], c[2]);
}

CnStatus cni_mesh_add_polygon(CniMeshData *mesh, const char *name, int32_t *corners, int32_t count,
                              int *done) {
  *done = 1;
  CnVec3 n = count > 3 ? normal_of(mesh->vertices, corners, count) : CN_VEC3_ZERO;
  if (count > 3 && !is_convex(mesh->vertices, n, corners, count)) {
    *done = count <= CNI_MESH_EARS;
    return *done ? cut_ears(mesh, name, n, corners, count) : CN_OK;
  }
  for (int32_t i = 1; i + 1 < count; i++)
    CNI_TRY(cni_mesh_add_triangle(mesh, name, corners[0], corners[i], corners[i + 1]));
  return CN_OK;
}
