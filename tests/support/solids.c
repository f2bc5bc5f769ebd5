// SPDX-License-Identifier: Apache-2.0
#include "solids.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/memory.h"
#include "core/vec.h"
#include "io/meshes/mesh_private.h"
#include "io/meshes/mesh_repair.h"
#include "source_dir.h"

#define PI 3.14159265358979323846

static CniMeshData empty(void) { return (CniMeshData){.allocator = cn_allocator_default()}; }

static void corner(CniMeshData *m, double x, double y, double z) {
  CHECK_OK(cni_mesh_add_vertex(m, "solid", cn_vec3(x, y, z)));
}

static void triangle(CniMeshData *m, int32_t a, int32_t b, int32_t c) {
  CHECK_OK(cni_mesh_add_triangle(m, "solid", a, b, c));
}

static void quad(CniMeshData *m, int32_t a, int32_t b, int32_t c, int32_t d) {
  triangle(m, a, b, c);
  triangle(m, a, c, d);
}

static void make_whole(CniMeshData *m) {
  CniMeshFaults f;
  CHECK_OK(cni_mesh_repair(m, "solid", 0, 1, &f));
  CHECK(f.closed && f.flipped == 0);
}

CniMeshData solid_icosphere(int32_t divisions) {
  static const int32_t faces[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                       {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                       {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                       {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
  double g = (1 + sqrt(5)) / 2;
  CnVec3 at[12] = {{-1, g, 0},  {1, g, 0},  {-1, -g, 0}, {1, -g, 0}, {0, -1, g},  {0, 1, g},
                   {0, -1, -g}, {0, 1, -g}, {g, 0, -1},  {g, 0, 1},  {-g, 0, -1}, {-g, 0, 1}};
  int32_t n = 1 << divisions;
  CniMeshData m = empty();
  for (int32_t f = 0; f < 20; f++) {
    CnVec3 a = at[faces[f][0]], b = at[faces[f][1]], c = at[faces[f][2]];
    int32_t first = m.vertex_count;
    // rows parallel to the side from b to c; equal points of two faces get equal bits
    for (int32_t i = 0; i <= n; i++)
      for (int32_t j = 0; j <= i; j++) {
        CnVec3 p = cn_add(cn_scale(n - i, a), cn_add(cn_scale(i - j, b), cn_scale(j, c)));
        p = cn_scale(1 / cn_norm(p), p);
        double grid = 1 << 30;
        corner(&m, nearbyint(p.x * grid) / grid, nearbyint(p.y * grid) / grid,
               nearbyint(p.z * grid) / grid);
      }
    for (int32_t i = 0; i < n; i++)
      for (int32_t j = 0; j <= i; j++) {
        int32_t up = first + i * (i + 1) / 2 + j, down = first + (i + 1) * (i + 2) / 2 + j;
        triangle(&m, up, down, down + 1);
        if (j < i) triangle(&m, up, down + 1, up + 1);
      }
  }
  make_whole(&m);
  return m;
}

CniMeshData solid_torus(double radius, double tube, int32_t around, int32_t about) {
  CniMeshData m = empty();
  for (int32_t i = 0; i < around; i++)
    for (int32_t j = 0; j < about; j++) {
      double u = 2 * PI * i / around, v = 2 * PI * j / about, r = radius + tube * cos(v);
      corner(&m, r * cos(u), r * sin(u), tube * sin(v));
    }
  for (int32_t i = 0; i < around; i++)
    for (int32_t j = 0; j < about; j++) {
      int32_t i2 = (i + 1) % around, j2 = (j + 1) % about;
      quad(&m, i * about + j, i2 * about + j, i2 * about + j2, i * about + j2);
    }
  make_whole(&m);
  return m;
}

CniMeshData solid_prism(const double (*corners)[2], int32_t count, double height) {
  CniMeshData m = empty();
  int32_t end[256], done;
  CHECK(count <= 256);
  for (int32_t i = 0; i < 2 * count; i++)
    corner(&m, corners[i % count][0], corners[i % count][1], i < count ? 0 : height);
  for (int32_t i = 0; i < count; i++) end[i] = count + i;
  CHECK_OK(cni_mesh_add_polygon(&m, "solid", end, count, &done));
  for (int32_t i = 0; i < count; i++) end[i] = count - 1 - i;
  CHECK_OK(cni_mesh_add_polygon(&m, "solid", end, count, &done));
  for (int32_t i = 0; i < count; i++) {
    int32_t next = (i + 1) % count;
    quad(&m, i, next, count + next, count + i);
  }
  make_whole(&m);
  return m;
}

CniMeshData solid_turned(const double (*profile)[2], int32_t count, int32_t around) {
  CniMeshData m = empty();
  for (int32_t i = 0; i < around; i++)
    for (int32_t j = 0; j < count; j++) {
      double u = 2 * PI * i / around;
      corner(&m, profile[j][0] * cos(u), profile[j][0] * sin(u), profile[j][1]);
    }
  for (int32_t i = 0; i < around; i++)
    for (int32_t j = 0; j < count; j++) {
      int32_t i2 = (i + 1) % around, j2 = (j + 1) % count;
      quad(&m, i * count + j, i2 * count + j, i2 * count + j2, i * count + j2);
    }
  make_whole(&m);
  return m;
}

const double solid_l[6][2] = {{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 3}, {0, 3}};
const double solid_u[8][2] = {{0, 0}, {3, 0}, {3, 3}, {2, 3}, {2, 1}, {1, 1}, {1, 3}, {0, 3}};
const double solid_cup[6][2] = {{0, 0}, {1, 0}, {1, 2}, {.9, 2}, {.9, .2}, {0, .2}};

CniMeshData solid_gear(double height) {
  static const double turn[4] = {0, .1, .4, .5}, radius[4] = {1, 1.2, 1.2, 1};
  double corners[4 * SOLID_TEETH][2];
  const double(*profile)[2] = (void *)corners;
  for (int32_t i = 0; i < 4 * SOLID_TEETH; i++) {
    double angle = 2 * PI * (i / 4 + turn[i % 4]) / SOLID_TEETH;
    corners[i][0] = radius[i % 4] * cos(angle);
    corners[i][1] = radius[i % 4] * sin(angle);
  }
  return solid_prism(profile, 4 * SOLID_TEETH, height);
}

SolidMass solid_mass(const CniMeshData *mesh) {
  long double volume = 0, first[3] = {0, 0, 0}, second[6] = {0, 0, 0, 0, 0, 0};
  static const int32_t rows[6] = {0, 1, 2, 0, 0, 1}, columns[6] = {0, 1, 2, 1, 2, 2};
  for (int32_t t = 0; t < mesh->triangle_count; t++) {
    long double p[3][3], sum[3];
    for (int32_t k = 0; k < 3; k++) {
      const CnVec3 *v = &mesh->vertices[mesh->triangles[t][k]];
      p[k][0] = v->x, p[k][1] = v->y, p[k][2] = v->z;
    }
    long double six = p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) -
                      p[0][1] * (p[1][0] * p[2][2] - p[1][2] * p[2][0]) +
                      p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
    volume += six / 6;
    for (int32_t i = 0; i < 3; i++) {
      sum[i] = p[0][i] + p[1][i] + p[2][i];
      first[i] += six * sum[i] / 24;
    }
    for (int32_t i = 0; i < 6; i++) {
      int32_t r = rows[i], c = columns[i];
      long double s = sum[r] * sum[c];
      for (int32_t k = 0; k < 3; k++) s += p[k][r] * p[k][c];
      second[i] += six * s / 120;
    }
  }
  SolidMass m = {.volume = (double)volume};
  for (int32_t i = 0; i < 6; i++) second[i] -= first[rows[i]] * first[columns[i]] / volume;
  for (int32_t i = 0; i < 3; i++) {
    m.centre[i] = (double)(first[i] / volume);
    m.inertia[i] = (double)(second[(i + 1) % 3] + second[(i + 2) % 3]);
    m.inertia[3 + i] = (double)-second[3 + i];
  }
  return m;
}

const double solid_funnel[8][2] = {{.2, 0},    {1, .9},    {1, 1},     {.96, 1},
                                   {.96, .92}, {.16, .02}, {.16, -.4}, {.2, -.4}};

CniMeshData solid_on_grid(CniMeshData mesh) {
  for (int32_t i = 0; i < mesh.vertex_count; i++) {
    double *p = &mesh.vertices[i].x;
    for (int k = 0; k < 3; k++) p[k] = floor(p[k] * 4096 + 0.5) / 4096;
  }
  return mesh;
}

void solid_write(const CniMeshData *m, const char *path) {
  FILE *file = fopen(path, "w");
  CHECK(file != NULL);
  for (int32_t i = 0; i < m->vertex_count; i++)
    fprintf(file, "v %.17g %.17g %.17g\n", m->vertices[i].x, m->vertices[i].y, m->vertices[i].z);
  for (int32_t i = 0; i < m->triangle_count; i++)
    fprintf(file, "f %d %d %d\n", (int)m->triangles[i][0] + 1, (int)m->triangles[i][1] + 1,
            (int)m->triangles[i][2] + 1);
  CHECK(fclose(file) == 0);
}

const char *mesh_folder(void) {
  static char path[512];
  const char *given = getenv("CAIRN_MESH_DIR");
  snprintf(path, sizeof path, "%s", given ? given : CAIRN_SOURCE_DIR "/../shared/data/meshes");
  char file[600];
  snprintf(file, sizeof file, "%s/meshes.ref.json", path);
  FILE *there = fopen(file, "rb");
  if (!there) return NULL;
  fclose(there);
  return path;
}
