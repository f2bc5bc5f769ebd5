// SPDX-License-Identifier: Apache-2.0
#include "meshes.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

static MeshLists lists_of(int32_t vertices, int32_t triangles) {
  MeshLists l = {malloc((size_t)vertices * sizeof(CnVec3)),
                 malloc(3 * (size_t)triangles * sizeof(int32_t)), 0, 0};
  CHECK(l.vertices && l.triangles);
  return l;
}

static void add(MeshLists *l, int32_t a, int32_t b, int32_t c) {
  int32_t *t = &l->triangles[3 * l->triangle_count++];
  t[0] = a;
  t[1] = b;
  t[2] = c;
}

void mesh_free(MeshLists *lists) {
  free(lists->vertices);
  free(lists->triangles);
  *lists = (MeshLists){NULL, NULL, 0, 0};
}

CnMeshDef mesh_def(const MeshLists *lists) {
  CnMeshDef def = cn_mesh_def_default();
  def.vertices = lists->vertices;
  def.vertex_count = lists->vertex_count;
  def.triangles = lists->triangles;
  def.triangle_count = lists->triangle_count;
  return def;
}

MeshLists mesh_box(CnVec3 half, int times) {
  int32_t n = 1 << times, side = (n + 1) * (n + 1);
  MeshLists l = lists_of(6 * side, 12 * n * n);
  const double *h = &half.x;
  for (int f = 0; f < 6; f++) {
    int axis = f / 2, u = (axis + 1) % 3, v = (axis + 2) % 3, up = f % 2;
    int32_t first = l.vertex_count;
    for (int32_t i = 0; i <= n; i++)
      for (int32_t j = 0; j <= n; j++) {
        double p[3];
        p[axis] = up ? h[axis] : -h[axis];
        p[u] = h[u] * (2.0 * i / n - 1);
        p[v] = h[v] * (2.0 * j / n - 1);
        l.vertices[l.vertex_count++] = cn_vec3(p[0], p[1], p[2]);
      }
    for (int32_t i = 0; i < n; i++)
      for (int32_t j = 0; j < n; j++) {
        int32_t a = first + i * (n + 1) + j, b = a + n + 1;
        add(&l, a, up ? b : b + 1, up ? b + 1 : b);
        add(&l, a, up ? b + 1 : a + 1, up ? a + 1 : b + 1);
      }
  }
  return l;
}

MeshLists mesh_ball(double radius, int times) {
  const double g = 1.618033988749895;
  const CnVec3 corners[12] = {{-1, g, 0}, {1, g, 0}, {-1, -g, 0}, {1, -g, 0},
                              {0, -1, g}, {0, 1, g}, {0, -1, -g}, {0, 1, -g},
                              {g, 0, -1}, {g, 0, 1}, {-g, 0, -1}, {-g, 0, 1}};
  static const int32_t faces[60] = {0, 11, 5, 0, 5,  1,  0,  1,  7,  0,  7, 10, 0, 10, 11,
                                    1, 5,  9, 5, 11, 4,  11, 10, 2,  10, 7, 6,  7, 1,  8,
                                    3, 9,  4, 3, 4,  2,  3,  2,  6,  3,  6, 8,  3, 8,  9,
                                    4, 9,  5, 2, 4,  11, 6,  2,  10, 8,  6, 7,  9, 8,  1};
  int32_t n = 20 << (2 * times);
  MeshLists l = lists_of(3 * n, n);
  for (int t = 0; t < 60; t++) l.vertices[t] = corners[faces[t]];
  l.vertex_count = 60;
  for (int k = 0; k < times; k++) {
    for (int32_t t = l.vertex_count / 3; t-- > 0;) {
      CnVec3 a = l.vertices[3 * t], b = l.vertices[3 * t + 1], c = l.vertices[3 * t + 2];
      CnVec3 ab = cn_add(a, b), bc = cn_add(b, c), ca = cn_add(c, a);
      ab = cn_scale(1 / cn_norm(ab), ab);
      bc = cn_scale(1 / cn_norm(bc), bc);
      ca = cn_scale(1 / cn_norm(ca), ca);
      const CnVec3 four[12] = {a, ab, ca, ab, b, bc, ca, bc, c, ab, bc, ca};
      memcpy(&l.vertices[12 * t], four, sizeof four);
    }
    l.vertex_count *= 4;
  }
  for (int32_t i = 0; i < l.vertex_count; i++)
    l.vertices[i] = cn_scale(radius / cn_norm(l.vertices[i]), l.vertices[i]);
  for (int32_t t = 0; t < n; t++) add(&l, 3 * t, 3 * t + 1, 3 * t + 2);
  return l;
}

MeshLists mesh_floor(double x, double y, int nx, int ny) {
  MeshLists l = lists_of((nx + 1) * (ny + 1), 2 * nx * ny);
  for (int i = 0; i <= nx; i++)
    for (int j = 0; j <= ny; j++)
      l.vertices[l.vertex_count++] = cn_vec3(x * (2.0 * i / nx - 1), y * (2.0 * j / ny - 1), 0);
  for (int i = 0; i < nx; i++)
    for (int j = 0; j < ny; j++) {
      int32_t a = i * (ny + 1) + j, b = a + ny + 1;
      int other = (i * 7 + j * 3) % 5 < 2;
      add(&l, a, b, other ? a + 1 : b + 1);
      add(&l, other ? b : a, b + 1, a + 1);
    }
  return l;
}

void mesh_shuffle(MeshLists *floor, CniRng *rng, double x, double y, int nx, int ny) {
  for (int i = 1; i < nx; i++)
    for (int j = 1; j < ny; j++) {
      CnVec3 *v = &floor->vertices[i * (ny + 1) + j];
      v->x += cni_rng_range(rng, -.25, .25) * 2 * x / nx;
      v->y += cni_rng_range(rng, -.25, .25) * 2 * y / ny;
    }
}

void mesh_take_apart(MeshLists *lists) {
  int32_t n = 3 * lists->triangle_count;
  CnVec3 *vertices = malloc((size_t)n * sizeof *vertices);
  CHECK(vertices);
  for (int32_t i = 0; i < n; i++) {
    vertices[i] = lists->vertices[lists->triangles[i]];
    lists->triangles[i] = i;
  }
  free(lists->vertices);
  lists->vertices = vertices;
  lists->vertex_count = n;
}

double mesh_volume(const CnVec3 *vertices, const int32_t *triangles, int32_t triangle_count) {
  double volume = 0;
  for (const int32_t *t = triangles; t < triangles + 3 * (size_t)triangle_count; t += 3)
    volume += cn_dot(vertices[t[0]], cn_cross(vertices[t[1]], vertices[t[2]])) / 6;
  return volume;
}

CnBodyId mesh_body(CnWorld *world, MeshLists lists, CnBodyKind kind, CnPose pose, int32_t two_sided,
                   double thickness, CnMaterialId material) {
  CnMeshDef def = mesh_def(&lists);
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_MESH);
  def.two_sided = two_sided;
  def.thickness = thickness;
  CHECK_OK(cn_geometry_create_mesh(world, &def, &shape.geometry));
  mesh_free(&lists);
  CnBodyDef body = cn_body_def_default();
  CnBodyId id;
  CnShapeId of;
  body.kind = kind;
  body.pose = pose;
  shape.material = material;
  CHECK_OK(cn_body_create(world, &body, &id));
  CHECK_OK(cn_shape_create(world, id, &shape, &of));
  return id;
}
