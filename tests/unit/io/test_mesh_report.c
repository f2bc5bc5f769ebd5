// SPDX-License-Identifier: Apache-2.0
// What is told of a mesh: closed forms, sums in extended precision, meshes that others made and figures
// that others found, and faults that are made on purpose.
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/math.h"
#include "core/vec.h"
#include "io/meshes/mesh_report.h"
#include "io/tools/json_scan.h"
#include "solids.h"
#include "source_dir.h"

#define FOLDER CAIRN_SOURCE_DIR "/tests/data/meshes/"

static CniMeshReport report_of(CniMeshData *mesh) {
  CniMeshReport r;
  CHECK_OK(cni_mesh_report(mesh, "m", 0, &r));
  return r;
}

static void compare_mass(const CniMeshReport *r, const SolidMass *m, double size,
                         double tolerance) {
  const double *centre = &r->centre.x;
  double inertia[6] = {r->inertia.xx, r->inertia.yy, r->inertia.zz,
                       r->inertia.xy, r->inertia.xz, r->inertia.yz};
  double most = cn_max(m->inertia[0], cn_max(m->inertia[1], m->inertia[2]));
  CHECK_REL(r->volume, m->volume, tolerance);
  for (int i = 0; i < 3; i++) CHECK_NEAR(centre[i], m->centre[i], tolerance * size);
  for (int i = 0; i < 6; i++) CHECK_NEAR(inertia[i], m->inertia[i], tolerance * most);
}

// A block of 1 x 2 x 3, turned and far from the origin.
static void block(void **state) {
  (void)state;
  CnQuat turn = {.5, .5, .5, .5}; // x to y to z
  CniMeshData mesh;
  CHECK_OK(cni_mesh_file_read(FOLDER "block.stl", NULL, NULL, &mesh));
  for (int32_t i = 0; i < mesh.vertex_count; i++)
    mesh.vertices[i] = cn_add(cn_vec3(10, 20, 30), cn_rotate(turn, mesh.vertices[i]));
  CniMeshReport r = report_of(&mesh);
  SolidMass m = {6, {11.5, 20.5, 31}, {.5 * (1 + 4), .5 * (9 + 4), .5 * (9 + 1), 0, 0, 0}};
  compare_mass(&r, &m, 3, 1e-13);
  CHECK_REL(r.area, 22, 1e-14);
  CHECK(r.faults.closed && r.crossings == 0 && r.hull_corners == 8);
  CHECK_REL(r.hull_volume, 6, 1e-13);
  CHECK_TEXT(r.use, "hull");
  cni_mesh_release(&mesh);
}

// Against sums in extended precision; the ball against that of radius 1 too.
static void solids(void **state) {
  (void)state;
  CniMeshData meshes[] = {solid_icosphere(3),
                          solid_torus(3, 1, 40, 20),
                          solid_prism(solid_l, 6, 1),
                          solid_prism(solid_u, 8, 2),
                          solid_gear(.5),
                          solid_turned(solid_cup, 6, 24)};
  for (size_t i = 0; i < sizeof meshes / sizeof meshes[0]; i++) {
    SolidMass m = solid_mass(&meshes[i]);
    CniMeshReport r = report_of(&meshes[i]);
    CHECK(r.faults.closed && r.faults.pieces == 1 && !r.faults.flipped && r.crossings == 0);
    compare_mass(&r, &m, 4, 1e-12);
    if (i == 0) CHECK_REL(r.volume, 4.0 / 3 * 3.14159265358979323846, .02);
    if (i == 2) CHECK_REL(r.volume, 4, 1e-14);
    if (i == 3) CHECK_REL(r.volume, 14, 1e-14);
    CHECK_TEXT(r.use, i == 0 ? "it is convex" : "\"parts\" on free bodies");
    cni_mesh_release(&meshes[i]);
  }
}

// The triangles of another one, which is released.
static void join(CniMeshData *mesh, CniMeshData *other) {
  int32_t before = mesh->vertex_count;
  CHECK_OK(CNI_RESERVE(&mesh->allocator, mesh->vertices, mesh->vertex_capacity, mesh->vertex_count,
                       before + other->vertex_count));
  CHECK_OK(CNI_RESERVE(&mesh->allocator, mesh->triangles, mesh->triangle_capacity,
                       mesh->triangle_count, mesh->triangle_count + other->triangle_count));
  for (int32_t i = 0; i < other->vertex_count; i++)
    mesh->vertices[mesh->vertex_count++] = other->vertices[i];
  for (int32_t i = 0; i < other->triangle_count; i++, mesh->triangle_count++)
    for (int k = 0; k < 3; k++)
      mesh->triangles[mesh->triangle_count][k] = before + other->triangles[i][k];
  cni_mesh_release(other);
}

static CniMeshData cube_at(double x, double z, double size) {
  const double at[4][2] = {{x, x}, {x + size, x}, {x + size, x + size}, {x, x + size}};
  CniMeshData mesh = solid_prism(at, 4, size);
  for (int32_t i = 0; i < mesh.vertex_count; i++) mesh.vertices[i].z += z;
  return mesh;
}

// Two blocks that cross: how many pairs is counted by hand. A block in the corner of another.
static void crossings(void **state) {
  (void)state;
  CniMeshData mesh = cube_at(0, 0, 1);
  CniMeshData rod = solid_prism((const double[4][2]){{.3, .4}, {.5, .4}, {.5, .6}, {.3, .6}}, 4, 3);
  for (int32_t i = 0; i < rod.vertex_count; i++) rod.vertices[i].z -= 1;
  join(&mesh, &rod);
  CniMeshReport r = report_of(&mesh);
  // each of the eight sides of the rod meets the top and the bottom, in one or two triangles
  CHECK(r.faults.closed && r.faults.pieces == 2);
  CHECK(r.crossings >= 16 && r.crossings <= 32);
  CHECK(r.first_crossing[0] >= 0 && r.first_crossing[0] < 12 && r.first_crossing[1] >= 12);
  CHECK_TEXT(r.use, "count twice");
  cni_mesh_release(&mesh);
}

// A solid within a solid crosses nothing, but encloses more than its hull: it is not convex.
static void nested(void **state) {
  (void)state;
  CniMeshData mesh = cube_at(0, 0, 1), inner = cube_at(.25, .25, .5);
  join(&mesh, &inner);
  CniMeshReport r = report_of(&mesh);
  CHECK(r.faults.closed && r.crossings == 0);
  CHECK_REL(r.volume, 1.125, 1e-14);
  CHECK_REL(r.hull_volume, 1, 1e-14);
  CHECK_TEXT(r.use, "\"parts\" on free bodies: solids in it lie in each other");
  cni_mesh_release(&mesh);
}

// What encloses nothing has no parts, and a mass would not help: the scene refuses both.
static void nothing(void **state) {
  (void)state;
  CniMeshData flat = cube_at(0, 0, 1), twist = cube_at(0, 0, 1);
  for (int32_t i = 0; i < flat.vertex_count; i++) flat.vertices[i].z = 0;
  CniMeshReport r = report_of(&flat);
  CHECK(r.volume == 0 && r.hull_corners == 0);
  CHECK_TEXT(r.use, "it is flat and encloses nothing");
  cni_mesh_release(&flat);
  // the top of a block seen in a mirror: two wedges, of which one is inside out
  for (int32_t i = 0; i < twist.vertex_count; i++)
    if (twist.vertices[i].z > .5) twist.vertices[i].x = 1 - twist.vertices[i].x;
  r = report_of(&twist);
  CHECK(r.faults.closed && fabs(r.volume) < 1e-15 && r.hull_corners == 8);
  CHECK_TEXT(r.use, "\"as\": \"hull\" on free bodies: it encloses nothing");
  cni_mesh_release(&twist);
}

// A strip with half a turn in it: nothing turns its triangles so that they fit.
static void moebius(void **state) {
  (void)state;
  enum { N = 24 };
  CniMeshData mesh = cube_at(0, 0, 1);
  mesh.vertex_count = mesh.triangle_count = 0;
  CHECK_OK(
      CNI_RESERVE(&mesh.allocator, mesh.vertices, mesh.vertex_capacity, mesh.vertex_count, 2 * N));
  CHECK_OK(CNI_RESERVE(&mesh.allocator, mesh.triangles, mesh.triangle_capacity, mesh.triangle_count,
                       2 * N));
  for (int32_t i = 0; i < 2 * N; i++) {
    double a = i / 2 * 2 * CNI_PI / N, side = i % 2 ? .2 : -.2;
    double far = 1 + side * cni_cos(a / 2);
    mesh.vertices[mesh.vertex_count++] =
        cn_vec3(far * cni_cos(a), far * cni_sin(a), side * cni_sin(a / 2));
  }
  for (int32_t i = 0; i < N; i++) {
    int32_t a = 2 * i, b = a + 1, c = i < N - 1 ? a + 2 : 1, d = i < N - 1 ? a + 3 : 0;
    int32_t two[2][3] = {{a, c, b}, {c, d, b}};
    for (int32_t k = 0; k < 6; k++)
      mesh.triangles[mesh.triangle_count + k / 3][k % 3] = two[k / 3][k % 3];
    mesh.triangle_count += 2;
  }
  CniMeshReport r = report_of(&mesh);
  CHECK(r.faults.twisted_edges > 0);
  CHECK_TEXT(r.use, "\"two_sided\" on what stands or is driven");
  cni_mesh_release(&mesh);
}

// Without its lid a cup is open; torn corners close again.
static void open(void **state) {
  (void)state;
  CniMeshData mesh = solid_turned(solid_cup, 6, 24);
  mesh.triangle_count -= 3;
  CniMeshReport r = report_of(&mesh);
  CHECK(!r.faults.closed && r.faults.lone_edges >= 3 && r.volume == 0 && r.closing_weld == 0);
  CHECK_TEXT(r.use, "two_sided");
  cni_mesh_release(&mesh);
  CHECK_OK(cni_mesh_file_read(FOLDER "block.stl", NULL, NULL, &mesh));
  for (int32_t i = 0; i < mesh.vertex_count; i++) mesh.vertices[i].y += 1e-6 * (i % 3);
  r = report_of(&mesh);
  CHECK(!r.faults.closed && r.closing_weld > 2e-6 && r.closing_weld < 1e-3);
  CHECK_TEXT(r.use, "weld");
  cni_mesh_release(&mesh);
}

// ---- meshes that others made ----

typedef struct Known {
  char file[64];
  int32_t welded, triangles, edges, components, hull_corners;
  double lo[3], hi[3], area, hull_volume;
  SolidMass mass;
} Known;

static CnStatus read_known(CniJson *json, Known *k) {
  int32_t state = 0;
  char key[CNI_JSON_KEY];
  *k = (Known){.file = ""};
  struct {
    const char *key;
    int32_t *whole;
    double *numbers;
    int32_t count;
  } fields[] = {{"vertices_welded", &k->welded, NULL, 0},
                {"triangles", &k->triangles, NULL, 0},
                {"edges", &k->edges, NULL, 0},
                {"components", &k->components, NULL, 0},
                {"hull_vertices", &k->hull_corners, NULL, 0},
                {"min", NULL, k->lo, 3},
                {"max", NULL, k->hi, 3},
                {"area", NULL, &k->area, 1},
                {"volume", NULL, &k->mass.volume, 1},
                {"hull_volume", NULL, &k->hull_volume, 1},
                {"centre", NULL, k->mass.centre, 3},
                {"inertia_xx_yy_zz_xy_xz_yz", NULL, k->mass.inertia, 6}};
  while (cni_json_member(json, "mesh", &state, key)) {
    size_t i = 0, n = sizeof fields / sizeof fields[0];
    while (i < n && strcmp(key, fields[i].key) != 0) i++;
    if (strcmp(key, "file") == 0)
      CNI_TRY(cni_json_string(json, key, k->file, sizeof k->file));
    else if (i == n)
      CNI_TRY(cni_json_skip(json, key));
    else if (fields[i].whole)
      CNI_TRY(cni_json_integer(json, key, 0, 1 << 30, fields[i].whole));
    else if (fields[i].count == 1)
      CNI_TRY(cni_json_number(json, key, fields[i].numbers));
    else
      CNI_TRY(cni_json_vector(json, key, fields[i].count, fields[i].numbers));
  }
  return json->status;
}

// The area of an OBJ file's polygons by the rule of Newell: half of the sum of the cross products of corners that
// follow each other, whichever way a polygon is split. Read here by itself, in extended precision.
static double polygon_area(const char *path) {
  static long double v[4096][3];
  char line[1024];
  int count = 0;
  long double sum = 0;
  FILE *file = fopen(path, "r");
  CHECK(file != NULL);
  while (fgets(line, sizeof line, file)) {
    double x = 0, y = 0, z = 0;
    if (line[0] == 'v' && line[1] == ' ') {
      CHECK(count < 4096 && sscanf(line + 2, "%lf %lf %lf", &x, &y, &z) == 3);
      v[count][0] = x, v[count][1] = y, v[count++][2] = z;
    }
    if (line[0] != 'f' || line[1] != ' ') continue;
    int corner[64], n = 0, used;
    for (const char *at = line + 2; n < 64 && sscanf(at, " %d%n", &corner[n], &used) == 1; n++)
      at += used, at += strcspn(at, " \n");
    long double a[3] = {0, 0, 0};
    for (int i = 0; i < n; i++) {
      CHECK(corner[i] >= 1 && corner[i] <= count);
      const long double *p = v[corner[i] - 1], *q = v[corner[(i + 1) % n] - 1];
      for (int k = 0; k < 3; k++)
        a[k] += (p[(k + 1) % 3] * q[(k + 2) % 3] - p[(k + 2) % 3] * q[(k + 1) % 3]) / 2;
    }
    sum += sqrtl(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
  }
  fclose(file);
  return (double)sum;
}

static void compare_known(const char *folder, const Known *k) {
  char path[700];
  CniMeshData mesh;
  snprintf(path, sizeof path, "%s/%s", folder, k->file);
  print_message("%s\n", k->file);
  CHECK_OK(cni_mesh_file_read(path, NULL, NULL, &mesh));
  CniMeshReport r = report_of(&mesh);
  CHECK(r.faults.closed && r.faults.flipped == 0 && r.faults.degenerate == 0);
  CHECK(mesh.vertex_count == k->welded && mesh.triangle_count == k->triangles);
  CHECK(r.faults.edges == k->edges && r.faults.pieces == k->components);
  double size = cn_norm(cn_sub(r.hi, r.lo));
  for (int i = 0; i < 3; i++) {
    CHECK_NEAR((&r.lo.x)[i], k->lo[i], 1e-15 * size);
    CHECK_NEAR((&r.hi.x)[i], k->hi[i], 1e-15 * size);
  }
  // the reference has fans, which cover the concave ends of the shoe twice: there the polygons themselves count
  if (strcmp(k->file, "shoe_collision.obj") == 0)
    CHECK_REL(r.area, polygon_area(path), 1e-9);
  else
    CHECK_REL(r.area, k->area, 1e-9);
  compare_mass(&r, &k->mass, size, 1e-9);
  // corners of the hull that lie in a face to single precision are not counted here
  CHECK(r.hull_corners <= k->hull_corners + 1 || k->hull_corners > CNI_HULL_VERTICES);
  CHECK_REL(r.hull_volume, k->hull_volume, 2e-3);
  cni_mesh_release(&mesh);
}

static void known(void **state) {
  (void)state;
  const char *folder = mesh_folder();
  char path[600];
  if (!folder) {
    print_message("no meshes of others here\n");
    return;
  }
  CnAllocator a = cn_allocator_default();
  CniFileBuffer buffer;
  snprintf(path, sizeof path, "%s/meshes.ref.json", folder);
  CHECK_OK(cni_file_read(path, &a, &buffer));
  CniJson json = {.text = {buffer.data, buffer.data + buffer.size, buffer.data, path}};
  int32_t list = 0, count = 0;
  for (; cni_json_element(&json, "meshes", &list); count++) {
    Known k;
    CHECK_OK(read_known(&json, &k));
    compare_known(folder, &k);
  }
  CHECK_OK(json.status);
  CHECK(count >= 10);
  cni_release(&a, buffer.data, buffer.capacity);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(block),     cmocka_unit_test(solids),
                                     cmocka_unit_test(crossings), cmocka_unit_test(nested),
                                     cmocka_unit_test(nothing),   cmocka_unit_test(moebius),
                                     cmocka_unit_test(open),      cmocka_unit_test(known)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
