// SPDX-License-Identifier: Apache-2.0
// Triangle meshes: what is refused, mass of closed ones against closed forms, edges and flat faces,
// the tree against looking at every triangle.
#include "check.h"
#include "meshes.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static CnAllocator allocator;

static CniMesh *make(const MeshLists *lists) {
  CniMesh *mesh;
  CnMeshDef def = mesh_def(lists);
  CHECK_OK(cni_mesh_create(&allocator, NULL, "mesh", &def, &mesh));
  return mesh;
}

// A box turned and moved, a tetrahedron, an octahedron: volume, centre, inertia.
static void mass(void **state) {
  (void)state;
  CniRng rng = {3};
  for (int n = 0; n < 20; n++) {
    MeshLists lists = mesh_box(cn_vec3(.3, .5, .2), n % 4);
    CnVec3 by = random_in_cube(&rng, 10);
    CnPose pose = {by, random_rotation(&rng)};
    for (int32_t i = 0; i < lists.vertex_count; i++)
      lists.vertices[i] = cn_pose_point(pose, lists.vertices[i]);
    CniMesh *m = make(&lists);
    CHECK(m->closed && m->edge_count == 3 * m->triangle_count / 2);
    CniPlaced box = placed_box(pose.position, pose.rotation, cn_vec3(.3, .5, .2));
    CniMassProps p = cni_shape_mass(&box, 1);
    CHECK_NEAR(m->volume, p.mass, 1e-12 * p.mass);
    CHECK_NEAR(cn_norm(cn_sub(m->centre, p.centre)), 0, 1e-12);
    const double *a = &m->inertia.xx, *b = &p.inertia.xx;
    for (int k = 0; k < 6; k++) CHECK_NEAR(a[k], b[k], 1e-12 * p.inertia.yy);
    cni_mesh_destroy(&allocator, m);
    mesh_free(&lists);
  }
}

// A ball of triangles against its own polyhedron: the corner's share by the same formula for pyramids.
static void ball(void **state) {
  (void)state;
  MeshLists lists = mesh_ball(1, 4);
  CniMesh *m = make(&lists);
  double volume = 0, trace = 0;
  for (int32_t t = 0; t < m->triangle_count; t++) {
    CniTriangle a = cni_mesh_triangle(m, t);
    CnVec3 s = cn_add(a.at[0], cn_add(a.at[1], a.at[2]));
    double v = cn_dot(a.at[0], cn_cross(a.at[1], a.at[2])) / 6;
    volume += v;
    double squares = cn_norm2(a.at[0]) + cn_norm2(a.at[1]) + cn_norm2(a.at[2]);
    trace += 2 * v * (cn_norm2(s) + squares) / 20;
  }
  CHECK(m->closed && m->triangle_count == 5120);
  CHECK_NEAR(m->volume, volume, 1e-12 * volume);
  CHECK_NEAR(m->inertia.xx + m->inertia.yy + m->inertia.zz, trace, 1e-12 * trace);
  CHECK_NEAR(m->inertia.xx, trace / 3, 1e-12 * trace);
  CHECK_NEAR(cn_norm(m->centre), 0, 1e-12);
  CHECK_NEAR(m->outradius, 1, 1e-12);
  for (int32_t t = 0; t < m->triangle_count; t++)
    for (int k = 0; k < 3; k++) CHECK(cni_mesh_edge(m, t, k) == CNI_EDGE_CONVEX);
  cni_mesh_destroy(&allocator, m);
  mesh_free(&lists);
}

static void refused(void **state) {
  (void)state;
  static const CnVec3 corners[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  static const CnVec3 line[3] = {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}};
  static const CnVec3 nowhere[3] = {{0, 0, 0}, {1, NAN, 0}, {0, 1, 0}};
  static const int32_t good[3] = {0, 1, 2}, twice[3] = {0, 1, 1}, beyond[3] = {0, 1, 3};
  const struct {
    const CnVec3 *vertices;
    const int32_t *triangles;
    double thickness;
    int32_t count;
    const char *word;
  } cases[] = {{corners, twice, 0, 1, "has no area"}, {line, good, 0, 1, "has no area"},
               {corners, beyond, 0, 1, "vertex 3"},   {nowhere, good, 0, 1, "vertex 1"},
               {corners, good, -1, 1, "thickness"},   {corners, good, 0, 0, "triangles"},
               {NULL, good, 0, 1, "vertices"},        {corners, NULL, 0, 1, "triangles"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    CnMeshDef def = cn_mesh_def_default();
    CniMesh *mesh;
    def.vertices = cases[i].vertices;
    def.vertex_count = 3;
    def.triangles = cases[i].triangles;
    def.triangle_count = cases[i].count;
    def.thickness = cases[i].thickness;
    CHECK_STATUS(cni_mesh_create(&allocator, NULL, "mesh", &def, &mesh), CN_INVALID_ARGUMENT);
    CHECK(!mesh && strstr(cn_error_message(), cases[i].word));
  }
}

// A floor of many triangles is one face, however its corners are listed; a fold is an edge.
static void faces(void **state) {
  (void)state;
  for (int apart = 0; apart < 2; apart++) {
    MeshLists lists = mesh_floor(3, 2, 10, 11);
    if (apart) mesh_take_apart(&lists);
    CniMesh *m = make(&lists);
    int32_t border = 0, other = 0;
    if (!apart) CHECK((double)m->bytes < 80.0 * m->triangle_count + 2048);
    for (int32_t t = 0; t < m->triangle_count; t++) {
      CHECK(m->seeds[t] == m->seeds[0]);
      for (int k = 0; k < 3; k++) {
        border += cni_mesh_edge(m, t, k) == CNI_EDGE_BORDER;
        other += cni_mesh_edge(m, t, k) != CNI_EDGE_BORDER && cni_mesh_edge(m, t, k);
      }
    }
    CHECK(!m->closed && m->volume == 0 && border == 2 * (10 + 11) && other == 0);
    cni_mesh_destroy(&allocator, m);
    mesh_free(&lists);
  }
  for (int up = 0; up < 2; up++) {
    MeshLists lists = mesh_floor(2, 2, 2, 1);
    for (int32_t i = 0; i < lists.vertex_count; i++)
      if (lists.vertices[i].x > .1) lists.vertices[i].z = up ? .01 : -.01;
    CniMesh *m = make(&lists);
    int32_t folds = 0;
    for (int32_t t = 0; t < m->triangle_count; t++)
      for (int k = 0; k < 3; k++)
        folds += cni_mesh_edge(m, t, k) == (up ? CNI_EDGE_CONCAVE : CNI_EDGE_CONVEX);
    CHECK(folds == 2);
    cni_mesh_destroy(&allocator, m);
    mesh_free(&lists);
  }
}

typedef struct Found {
  uint8_t *seen;
  int32_t count;
} Found;

static void note(void *context, int32_t triangle) {
  Found *found = context;
  CHECK(!found->seen[triangle]);
  found->seen[triangle] = 1;
  found->count++;
}

static int box_meets(const CniTriangle *t, CnVec3 lo, CnVec3 hi) {
  const double *l = &lo.x, *h = &hi.x;
  for (int k = 0; k < 3; k++) {
    double a = (&t->at[0].x)[k], b = (&t->at[1].x)[k], c = (&t->at[2].x)[k];
    if (cn_min(a, cn_min(b, c)) > h[k] || cn_max(a, cn_max(b, c)) < l[k]) return 0;
  }
  return 1;
}

static void tree(void **state) {
  (void)state;
  CniRng rng = {7};
  MeshLists lists = mesh_ball(1, 3);
  for (int32_t i = 0; i < lists.vertex_count; i++)
    lists.vertices[i] = cn_add(lists.vertices[i], cn_vec3(1e4, -3e3, 7));
  CniMesh *m = make(&lists);
  Found found = {calloc((size_t)m->triangle_count, 1), 0};
  CHECK(found.seen);
  for (int n = 0; n < 300; n++) {
    CnVec3 at = cn_add(m->origin, random_in_cube(&rng, 1.2));
    CnVec3 half = random_in_cube(&rng, .5), size = {fabs(half.x), fabs(half.y), fabs(half.z)};
    CnVec3 lo = cn_sub(at, size), hi = cn_add(at, size);
    memset(found.seen, 0, (size_t)m->triangle_count);
    cni_mesh_query(m, lo, hi, note, &found);
    for (int32_t t = 0; t < m->triangle_count; t++) {
      CniTriangle own = cni_mesh_triangle(m, t);
      CHECK(found.seen[t] == box_meets(&own, lo, hi));
    }
    // rays: a ball is met where its facets are, and from inside at once
    CniPlaced placed = {.kind = CN_SHAPE_MESH, .pose = {CN_VEC3_ZERO, CN_QUAT_ONE}, .mesh = m};
    CnVec3 d = random_direction(&rng), normal;
    double t = cni_shape_ray(&placed, cn_madd(m->origin, -3, d), d, &normal);
    CHECK(t >= 2 && t < 2.01 && cn_dot(normal, d) < -.99);
    CHECK(cni_shape_ray(&placed, m->origin, d, &normal) == 0);
    CHECK(cni_shape_ray(&placed, cn_madd(m->origin, 1.1, d), d, &normal) == INFINITY);
  }
  CHECK(found.count > 1000);
  free(found.seen);
  cni_mesh_destroy(&allocator, m);
  mesh_free(&lists);
}

// The same bits by any number of workers.
static void alike(const MeshLists *lists, const CniMesh *m) {
  size_t n = (size_t)m->triangle_count;
  for (int workers = 2; workers <= 3; workers++) {
    CnMeshDef def = mesh_def(lists);
    CnTasks *tasks;
    CniMesh *other;
    CHECK_OK(cn_tasks_create(workers, NULL, &allocator, &tasks));
    CHECK_OK(cni_mesh_create(&allocator, tasks, "mesh", &def, &other));
    size_t boxes = (size_t)cni_mesh_levels(m->triangle_count, &(CniMesh){0});
    CHECK(other->bytes == m->bytes && other->edge_count == m->edge_count);
    CHECK(memcmp(other->order, m->order, n * sizeof *m->order) == 0);
    CHECK(memcmp(other->boxes, m->boxes, (6 * boxes - 24) * sizeof *m->boxes) == 0);
    CHECK(memcmp(other->neighbours, m->neighbours, 3 * n * sizeof *m->neighbours) == 0);
    CHECK(memcmp(other->seeds, m->seeds, n * sizeof *m->seeds) == 0);
    CHECK(memcmp(other->edges, m->edges, n) == 0);
    cni_mesh_destroy(&allocator, other);
    cn_tasks_destroy(tasks);
  }
}

// A million triangles in two seconds of one processor, a hundred bytes each; here a tenth of that
// unless CAIRN_MILLION is set.
static void many(void **state) {
  (void)state;
  int n = getenv("CAIRN_MILLION") ? 1000 : 100;
  MeshLists lists = mesh_floor(10, 10, n, 500);
  for (int32_t i = 0; i < lists.vertex_count; i++) lists.vertices[i].z = 1e-3 * (i * 37 % 101);
  clock_t start = clock();
  CniMesh *m = make(&lists);
  double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  print_message("%d triangles: %.2f s, %.0f bytes each\n", (int)m->triangle_count, seconds,
                (double)m->bytes / m->triangle_count);
  CHECK((double)m->bytes < 100.0 * m->triangle_count);
  if (getenv("CAIRN_MILLION")) CHECK(seconds < 2);
  alike(&lists, m);
  cni_mesh_destroy(&allocator, m);
  mesh_free(&lists);
}

int main(void) {
  allocator = cn_allocator_default();
  const struct CMUnitTest tests[] = {cmocka_unit_test(mass),    cmocka_unit_test(ball),
                                     cmocka_unit_test(refused), cmocka_unit_test(faces),
                                     cmocka_unit_test(tree),    cmocka_unit_test(many)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
