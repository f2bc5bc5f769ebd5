// SPDX-License-Identifier: Apache-2.0
// Convex shapes on meshes: a box of triangles is touched as the box, a ball of triangles as its hull.
#include "check.h"
#include "core/math.h"
#include "geometry/meshes/mesh_private.h"
#include "meshes.h"

typedef struct Nearest {
  double gap;
  CnVec3 normal;
  int32_t count;
} Nearest;

static void note(void *context, const CniManifold *m) {
  Nearest *near = context;
  CHECK(m->count > 0 && m->count <= CNI_MAX_POINTS);
  CHECK_NEAR(cn_norm(m->normal), 1, 1e-12);
  for (int32_t i = 0; i < m->count; i++) {
    if (i > 0) CHECK(m->points[i].feature > m->points[i - 1].feature);
    if (m->points[i].gap < near->gap) near->gap = m->points[i].gap, near->normal = m->normal;
  }
  near->count += m->count;
}

static CniMesh *mesh_of(MeshLists lists) {
  CnAllocator allocator = cn_allocator_default();
  CnMeshDef def = mesh_def(&lists);
  CniMesh *mesh;
  CHECK_OK(cni_mesh_create(&allocator, NULL, "mesh", &def, &mesh));
  mesh_free(&lists);
  return mesh;
}

// A random shape beside another one: `apart` from it along a random direction.
static CniPlaced beside(CniRng *rng, int kind, const CniPlaced *other, double apart) {
  CniPlaced s = placed_unit((CnShapeKind)kind, (CnPose){CN_VEC3_ZERO, random_rotation(rng)});
  for (int k = 0; k < CNI_SHAPE_SIZES; k++) s.size[k] = cni_rng_range(rng, .1, .6);
  if (kind == CN_SHAPE_BOX && cni_rng_unit(rng) < .5) s.size[3] = 0;
  CnVec3 d = random_direction(rng);
  s.pose.position = cn_madd(other->pose.position, 5, d);
  CniPlaces places;
  double t = cni_cast(&s, other, cn_scale(-5, d), 1, &places);
  s.pose.position = cn_madd(s.pose.position, -5 * cn_min(t, 1), d);
  s.pose.position = cn_madd(s.pose.position, -apart, places.normal);
  return s;
}

static void as_convex(const CniPlaced *solid, CniMesh *mesh, int only) {
  CniRng rng = {11};
  CniPlaced surface = *solid;
  surface.kind = CN_SHAPE_MESH;
  surface.hull = NULL;
  surface.mesh = mesh;
  for (int n = 0; n < 4000; n++) {
    int kind = n % CN_SHAPE_MESH;
    if (cni_shape_unbounded((CnShapeKind)kind) || (only >= 0 && kind != only)) continue;
    double apart = n % 3 == 0 ? cni_rng_range(&rng, 1e-6, .2) : n % 3 == 1 ? 1e-9 : -1e-4;
    CniPlaced s = beside(&rng, kind, solid, apart);
    Nearest near = {INFINITY, CN_VEC3_ZERO, 0}, turned = near;
    CniPlaces m = cni_places(&s, solid);
    double gap = m.gap;
    cni_collide_all(&s, &surface, .3, note, &near);
    cni_collide_all(&surface, &s, .3, note, &turned);
    double most = gap < 0 ? 2e-6 : 1e-9;
    if (!(fabs(near.gap - gap) <= most))
      print_message("%s: %g instead of %g, case %d\n", cni_shape_kinds[kind]->name, near.gap, gap,
                    n);
    CHECK(fabs(near.gap - gap) <= most);
    CHECK(cn_dot(near.normal, m.normal) > 1 - 1e-6);
    CHECK(turned.gap == near.gap && turned.count == near.count);
    CHECK(cn_norm(cn_add(turned.normal, near.normal)) < 1e-12);
  }
}

// Nearest places and casts, likewise.
static void as_far(const CniPlaced *solid, CniMesh *mesh) {
  CniRng rng = {13};
  CniPlaced surface = *solid;
  surface.kind = CN_SHAPE_MESH;
  surface.hull = NULL;
  surface.mesh = mesh;
  for (int n = 0; n < 800; n++) {
    int kind = n % CN_SHAPE_MESH;
    if (cni_shape_unbounded((CnShapeKind)kind)) continue;
    CniPlaced s = beside(&rng, kind, solid, 0);
    CnVec3 d = random_direction(&rng), o;
    s.pose.position = cn_madd(s.pose.position, cni_rng_range(&rng, .01, 8), d);
    CniPlaces p = cni_places(&s, solid), q = cni_places(&s, &surface), at, of;
    CHECK((p.gap < 0) == (q.gap < 0)); // how deep it is, where it is deep, is another matter
    if (p.gap > 0) CHECK_NEAR(p.gap, q.gap, 1e-8);
    CHECK(!(p.gap > 1e-3) || cn_dot(p.normal, q.normal) > 1 - 1e-6);
    CHECK_NEAR(cn_norm(cn_sub(q.b, q.a)), fabs(q.gap), 1e-9);
    if (!(p.gap > 1e-3)) continue;
    CnVec3 way = cn_scale(cni_rng_range(&rng, 1, 3), cn_sub(solid->pose.position, s.pose.position));
    o = random_in_cube(&rng, .4);
    way = cn_add(way, o);
    double t = cni_cast(&s, solid, way, 1, &at), u = cni_cast(&s, &surface, way, 1, &of);
    CHECK((t == INFINITY) == (u == INFINITY));
    if (t < INFINITY) CHECK_NEAR(t, u, 1e-7);
  }
  // inside, and the sum of both
  CniPlaced inside = placed_sphere(cn_add(solid->pose.position, cn_vec3(.01, .02, .03)), .01);
  CHECK(cni_places(&inside, &surface).gap < -.2);
}

static void box(void **state) {
  (void)state;
  CnAllocator allocator = cn_allocator_default();
  CniRng rng = {5};
  for (int times = 0; times < 3; times++) {
    CnPose pose = {random_in_cube(&rng, 2), random_rotation(&rng)};
    CniPlaced solid = placed_box(pose.position, pose.rotation, cn_vec3(.5, .7, .4));
    CniMesh *mesh = mesh_of(mesh_box(cn_vec3(.5, .7, .4), times));
    as_convex(&solid, mesh, -1);
    as_far(&solid, mesh);
    cni_mesh_destroy(&allocator, mesh);
  }
}

static void ball(void **state) {
  (void)state;
  CnAllocator allocator = cn_allocator_default();
  MeshLists lists = mesh_ball(.8, 1);
  CniPlaced solid = {.kind = CN_SHAPE_HULL, .pose = {{1, 2, 3}, CN_QUAT_ONE}};
  solid.hull = placed_hull(lists.vertices, lists.vertex_count);
  CniMesh *mesh = mesh_of(lists);
  as_convex(&solid, mesh, -1);
  as_far(&solid, mesh);
  cni_mesh_destroy(&allocator, mesh);
}

// A height field is the mesh of its triangles: contacts and rays, holes too.
static void heights(void **state) {
  (void)state;
  enum { X = 12, Y = 9 };
  CnAllocator allocator = cn_allocator_default();
  CniRng rng = {17};
  double z[X * Y];
  for (int i = 0; i < X * Y; i++) z[i] = i % 7 == 3 ? 0 : cni_rng_range(&rng, 0, .3);
  for (int i = 0; i < X; i++) z[i] = z[X + i] = 0; // a flat strip
  z[5 * X + 6] = NAN;
  CnHeightsDef def = cn_heights_def_default();
  def.x_count = X;
  def.y_count = Y;
  def.x_spacing = .3;
  def.y_spacing = .4;
  def.heights = z;
  CniMesh *field, *mesh;
  CHECK_OK(cni_heights_create(&allocator, "field", &def, &field));
  CHECK(field->bytes <= 8 * X * Y + 512);
  MeshLists lists = mesh_floor(1, 1, X - 1, Y - 1); // room for as many
  lists.triangle_count = 0;
  for (int32_t v = 0; v < X * Y; v++)
    lists.vertices[v] = isnan(z[v]) ? CN_VEC3_ZERO : cni_mesh_at(field, v);
  for (int32_t t = 0; t < field->triangle_count; t++) {
    if (!cni_mesh_is_there(field, t)) continue;
    for (int k = 0; k < 3; k++)
      lists.triangles[3 * lists.triangle_count + k] = cni_mesh_vertex(field, t, k);
    lists.triangle_count++;
  }
  CHECK(lists.triangle_count == field->triangle_count - 6);
  mesh = mesh_of(lists);
  CniPlaced a = {.kind = CN_SHAPE_MESH, .pose = CN_POSE_ONE, .mesh = field}, b = a;
  b.mesh = mesh;
  int32_t met = 0;
  for (int n = 0; n < 3000; n++) {
    int kind = n % CN_SHAPE_MESH;
    if (cni_shape_unbounded((CnShapeKind)kind)) continue;
    CniPlaced s = placed_unit((CnShapeKind)kind, (CnPose){CN_VEC3_ZERO, random_rotation(&rng)});
    for (int k = 0; k < CNI_SHAPE_SIZES; k++) s.size[k] = cni_rng_range(&rng, .05, .2);
    double x = cni_rng_range(&rng, -.3, 3.6), y = cni_rng_range(&rng, -.3, 3.5);
    s.pose.position = cn_vec3(x, y, cni_rng_range(&rng, .2, .8));
    Nearest near = {INFINITY, CN_VEC3_ZERO, 0}, other = near;
    cni_collide_all(&s, &a, .05, note, &near);
    cni_collide_all(&s, &b, .05, note, &other);
    met += other.count > 0;
    CHECK((near.count > 0) == (other.count > 0));
    if (near.count > 0) CHECK_NEAR(near.gap, other.gap, 1e-9);
    CnVec3 from = cn_vec3(y, x, 1), way = random_direction(&rng), m1, m2;
    double u = cni_shape_ray(&a, from, way, &m1), v = cni_shape_ray(&b, from, way, &m2);
    CHECK(u == v || fabs(u - v) < 1e-9);
  }
  CHECK(met > 500);
  def.heights = NULL;
  CniMesh *none;
  CHECK_STATUS(cni_heights_create(&allocator, "field", &def, &none), CN_INVALID_ARGUMENT);
  cni_mesh_destroy(&allocator, field);
  cni_mesh_destroy(&allocator, mesh);
}

// What has come round the border of an open floor is not lifted onto it; what goes through it is.
static void round_a_border(void **state) {
  (void)state;
  CniMesh *mesh = mesh_of(mesh_floor(1, 1, 4, 4));
  CnAllocator allocator = cn_allocator_default();
  CniPlaced floor = {.kind = CN_SHAPE_MESH, .pose = CN_POSE_ONE, .mesh = mesh};
  for (int through = 0; through < 2; through++) {
    CnVec3 at = {through ? .95 : 1.05, .13, .02};
    CniPlaced box = placed_box(at, CN_QUAT_ONE, cn_vec3(.1, .1, .1));
    Nearest near = {INFINITY, CN_VEC3_ZERO, 0};
    cni_collide_all(&box, &floor, 1e-3, note, &near);
    CHECK((near.count > 0 && near.gap < -.07 && near.normal.z < -.99) == through);
  }
  cni_mesh_destroy(&allocator, mesh);
}

// On ground that waves a ball touches it where it is near, never by the plane of a triangle that is far away:
// of all places none is deeper than the true one.
static void waves(void **state) {
  (void)state;
  CniRng rng = {2};
  MeshLists lists = mesh_floor(3, 3, 60, 60);
  for (int32_t i = 0; i < lists.vertex_count; i++) {
    CnVec3 *v = &lists.vertices[i];
    v->z = .3 * cni_sin(2 * v->x) * cni_cos(1.7 * v->y);
  }
  CniMesh *mesh = mesh_of(lists);
  CnAllocator allocator = cn_allocator_default();
  CniPlaced ground = {.kind = CN_SHAPE_MESH, .pose = CN_POSE_ONE, .mesh = mesh};
  for (int n = 0; n < 300; n++) {
    CnVec3 c = {cni_rng_range(&rng, -2, 2), cni_rng_range(&rng, -2, 2), 0};
    c.z = .3 * cni_sin(2 * c.x) * cni_cos(1.7 * c.y) + cni_rng_range(&rng, .1, .35);
    CniPlaced ball = placed_sphere(c, .25);
    double truth = INFINITY;
    for (int32_t t = 0; t < mesh->triangle_count; t++) {
      CniTriangle at = cni_mesh_triangle(mesh, t);
      truth = cn_min(truth, cn_norm(cn_sub(c, cni_triangle_nearest(&at, c))) - .25);
    }
    Nearest near = {INFINITY, CN_VEC3_ZERO, 0};
    cni_collide_all(&ball, &ground, .05, note, &near);
    if (truth < .05) CHECK_NEAR(near.gap, truth, 1e-9);
    if (truth >= .05) CHECK(near.count == 0);
  }
  cni_mesh_destroy(&allocator, mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(box), cmocka_unit_test(ball),
                                     cmocka_unit_test(heights), cmocka_unit_test(round_a_border),
                                     cmocka_unit_test(waves)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
