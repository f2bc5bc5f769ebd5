// SPDX-License-Identifier: Apache-2.0
// Meshes on meshes in worlds: they rest, slide, hang and stack as the solids they are, hollow or not.
#include "check.h"
#include "core/math.h"
#include "meshes.h"
#include "worlds.h"

#include <stdlib.h>

static CnWorld *make(double h, CnMaterialId *material, double friction) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = h;
  CnWorld *world = world_make(&def);
  *material = world_material(world, friction, 0);
  return world;
}

// A square ring about y: outer half sides r + w, inner r, half as thick as t; each side of one quad.
static MeshLists ring(double r, double w, double t) {
  MeshLists l = {malloc(16 * sizeof(CnVec3)), malloc(3 * 32 * sizeof(int32_t)), 16, 0};
  CHECK(l.vertices && l.triangles);
  for (int i = 0; i < 16; i++) {
    double x = i % 4 == 0 || i % 4 == 3 ? -1 : 1, z = i % 4 < 2 ? -1 : 1, s = i / 4 % 2 ? r : r + w;
    l.vertices[i] = cn_vec3(s * x, i / 8 ? t : -t, s * z);
  }
#define QUAD(a, b, c, d)                                                                           \
  {                                                                                                \
    const int32_t six[6] = {a, b, c, a, c, d};                                                     \
    for (int n = 0; n < 6; n++) l.triangles[3 * l.triangle_count + n] = six[n];                    \
    l.triangle_count += 2;                                                                         \
  }
  for (int i = 0; i < 4; i++) {
    int j = (i + 1) % 4;
    QUAD(i, j, 4 + j, 4 + i)           // front, towards -y
    QUAD(8 + j, 8 + i, 12 + i, 12 + j) // back
    QUAD(j, i, 8 + i, 8 + j)           // outside
    QUAD(4 + i, 4 + j, 12 + j, 12 + i) // inside
  }
#undef QUAD
  return l;
}

// Boxes of triangles fall on floors of triangles and on each other: heights and weights.
static void rest(void **state) {
  (void)state;
  for (int n = 0; n < 6; n++) {
    CnMaterialId m;
    CniRng rng = {(uint64_t)n + 1};
    CnWorld *world = make(.005, &m, .5);
    MeshLists floor = mesh_floor(2, 2, 9, 7);
    mesh_shuffle(&floor, &rng, 2, 2, 9, 7);
    CnBodyId ground = mesh_body(world, floor, CN_BODY_FIXED, CN_POSE_ONE, 0, 0, m);
    CnBodyId a = mesh_body(world, mesh_box(cn_vec3(.3, .2, .1), n % 3), CN_BODY_DYNAMIC,
                           (CnPose){{.13, .07, .15}, turn(cn_vec3(0, 0, 1), .3 * n)}, 0, 0, m);
    CnBodyId b = mesh_body(world, mesh_box(cn_vec3(.2, .25, .1), (n + 1) % 3), CN_BODY_DYNAMIC,
                           (CnPose){{.1, .05, .4}, turn(cn_vec3(0, 0, 1), .2 * n)}, 0, 0, m);
    for (int i = 0; i < 300; i++) world_step(world);
    CHECK_NEAR(world_pose(world, a).position.z, .1, 1e-6);
    CHECK_NEAR(world_pose(world, b).position.z, .3, 2e-6);
    CHECK_NEAR(world_pose(world, b).position.x, .1, 1e-5);
    CHECK_NEAR(world_force(world, ground, a).z, 9.81 * (48 + 40), 1e-5 * 900);
    CHECK_NEAR(world_force(world, a, b).z, 9.81 * 40, 1e-5 * 400);
    cn_world_destroy(world);
  }
}

// Over a floor of triangles, and over a height field, at 5 m/s without friction: no edge is felt.
static void slide(void **state) {
  (void)state;
  for (int n = 0; n < 8; n++) {
    CnMaterialId m;
    CniRng rng = {(uint64_t)n + 1};
    CnWorld *world = make(.01, &m, 0);
    if (n % 2) {
      static double flat[41 * 41];
      CnHeightsDef def = cn_heights_def_default();
      CnShapeDef shape = cn_shape_def_default(CN_SHAPE_MESH);
      CnBodyDef body = cn_body_def_default();
      CnBodyId id;
      CnShapeId of;
      def.x_count = def.y_count = 41;
      def.x_spacing = def.y_spacing = .4;
      def.heights = flat;
      CHECK_OK(cn_geometry_create_heights(world, &def, &shape.geometry));
      body.kind = CN_BODY_FIXED;
      body.pose.position = cn_vec3(-8, -8, 0);
      shape.material = m;
      CHECK_OK(cn_body_create(world, &body, &id));
      CHECK_OK(cn_shape_create(world, id, &shape, &of));
    } else {
      MeshLists floor = mesh_floor(8, 8, 10, 10);
      mesh_shuffle(&floor, &rng, 8, 8, 10, 10);
      mesh_body(world, floor, CN_BODY_FIXED, CN_POSE_ONE, 0, 0, m);
    }
    double angle = .7 * n + .1;
    CnVec3 way = {cni_cos(angle), cni_sin(angle), 0};
    CnPose pose = {cn_madd(cn_vec3(.0137, -.0241, .25), -5, way), turn(cn_vec3(0, 0, 1), .3 * n)};
    MeshLists box = n % 4 < 2 ? mesh_box(cn_vec3(.5, .5, .25), 1 + n / 4) : ring(.3, .2, .2);
    if (n % 4 >= 2) {
      pose.rotation = cn_qmul(pose.rotation, turn(cn_vec3(1, 0, 0), CNI_PI / 2));
      pose.position.z = .2;
    }
    CnBodyId id = mesh_body(world, box, CN_BODY_DYNAMIC, pose, 0, 0, m);
    CnTwist twist = {cn_scale(5, way), CN_VEC3_ZERO};
    CHECK_OK(cn_body_set_twist(world, id, &twist));
    for (int i = 0; i < 200; i++) {
      world_step(world);
      CHECK_NEAR(world_pose(world, id).position.z, pose.position.z, 1e-6);
      CHECK_NEAR(cn_norm(world_twist(world, id).velocity), 5, 5e-6);
    }
    cn_world_destroy(world);
  }
}

// A ring hangs on a bar that goes through it: its middle is as far below the bar's top as its hole is high.
static void hang(void **state) {
  (void)state;
  for (int n = 0; n < 3; n++) {
    CnMaterialId m;
    CnWorld *world = make(.002, &m, .6);
    CnBodyId bar =
        mesh_body(world, mesh_box(cn_vec3(.1, 1, .1), n), CN_BODY_FIXED, CN_POSE_ONE, 0, 0, m);
    CnBodyId id = mesh_body(world, ring(.4, .1, .15), CN_BODY_DYNAMIC,
                            (CnPose){{.02, .1, -.25}, turn(cn_vec3(0, 0, 1), .2)}, 0, 0, m);
    CnBodyInfo info;
    CHECK_OK(cn_body_info(world, id, &info));
    CHECK_REL(info.mass, 1000 * (1 - .64) * .3, 1e-12);
    for (int i = 0; i < 1500; i++) world_step(world);
    CHECK_NEAR(world_pose(world, id).position.z, .1 - .4, 1e-5);
    CHECK_NEAR(world_force(world, bar, id).z, info.mass * 9.81, 1e-3 * info.mass * 9.81);
    CHECK(cn_norm(world_twist(world, id).velocity) < 1e-3);
    cn_world_destroy(world);
  }
}

// A peg falls freely through the hole of a ring that is a little wider, and a wider one rests on it.
static void peg(void **state) {
  (void)state;
  CnMaterialId m;
  CnWorld *world = make(.002, &m, 0);
  CnPose lying = {CN_VEC3_ZERO, turn(cn_vec3(1, 0, 0), CNI_PI / 2)};
  mesh_body(world, ring(.2, .3, .1), CN_BODY_FIXED, lying, 0, 0, m);
  CnBodyId thin = mesh_body(world, mesh_box(cn_vec3(.19, .19, .2), 1), CN_BODY_DYNAMIC,
                            world_at(0, 0, .5), 0, 0, m);
  for (int i = 0; i < 250; i++) world_step(world);
  CHECK_NEAR(world_pose(world, thin).position.z, .5 - .5 * 9.81 * .25, 3e-2);
  CHECK_NEAR(world_twist(world, thin).velocity.z, -9.81 * .5, 1e-6);
  CnBodyId wide = mesh_body(world, mesh_box(cn_vec3(.25, .25, .1), 0), CN_BODY_DYNAMIC,
                            world_at(.01, 0, .25), 0, 0, m);
  for (int i = 0; i < 400; i++) world_step(world);
  CHECK_NEAR(world_pose(world, wide).position.z, .2, 1e-6);
  cn_world_destroy(world);
}

// Rings, boxes and balls of triangles in a bowl that is a height field: nothing goes through, nothing is
// deep, save and restore go on alike.
static void bowl(void **state) {
  (void)state;
  enum { N = 41 };
  static double z[N * N];
  for (int i = 0; i < N * N; i++) {
    double x = .1 * (i % N) - 2, y = .1 * (i / N) - 2;
    z[i] = .3 * (x * x + y * y);
  }
  CnMaterialId m;
  CnWorld *world = make(.002, &m, .5);
  CnHeightsDef def = cn_heights_def_default();
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_MESH);
  CnBodyDef ground = cn_body_def_default();
  CnBodyId id;
  CnShapeId of;
  CniRng rng = {3};
  def.x_count = def.y_count = N;
  def.x_spacing = def.y_spacing = .1;
  def.heights = z;
  CHECK_OK(cn_geometry_create_heights(world, &def, &shape.geometry));
  ground.kind = CN_BODY_FIXED;
  ground.pose.position = cn_vec3(-2, -2, 0);
  shape.material = m;
  CHECK_OK(cn_body_create(world, &ground, &id));
  CHECK_OK(cn_shape_create(world, id, &shape, &of));
  for (int i = 0; i < 12; i++) {
    CnPose pose = {{.45 * (i % 3 - 1), .45 * (i / 3 % 2) - .2, .5 + .45 * (i / 6)},
                   random_rotation(&rng)};
    MeshLists lists = i % 3 == 0   ? ring(.1, .06, .05)
                      : i % 3 == 1 ? mesh_box(cn_vec3(.12, .1, .08), 1)
                                   : mesh_ball(.12, 1);
    mesh_body(world, lists, CN_BODY_DYNAMIC, pose, 0, 0, m);
  }
  double deepest = 0;
  CnPenetration p;
  for (int i = 0; i < 150; i++) {
    world_step(world);
    CHECK_OK(cn_world_penetration(world, &p));
    deepest = cn_max(deepest, p.max);
  }
  size_t size;
  CHECK_OK(cn_world_save(world, NULL, 0, &size));
  void *saved = malloc(size);
  CHECK_OK(cn_world_save(world, saved, size, &size));
  CnMaterialId unused;
  CnWorld *other = make(.002, &unused, 0);
  CHECK_OK(cn_world_restore(other, saved, size));
  free(saved);
  for (int i = 0; i < 150; i++) {
    world_step(world);
    world_step(other);
    CHECK_OK(cn_world_penetration(world, &p));
    deepest = cn_max(deepest, p.max);
  }
  CHECK(cn_world_hash(world) == cn_world_hash(other));
  for (CnBodyId b = cn_world_next_body(world, id); b.slot; b = cn_world_next_body(world, b)) {
    CnVec3 at = world_pose(world, b).position;
    CHECK(at.z > .3 * (at.x * at.x + at.y * at.y) && hypot(at.x, at.y) < 1.8);
  }
  print_message("meshes in a bowl: deepest overlap %.3g mm\n", 1e3 * deepest);
  CHECK(deepest < 2e-3);
  cn_world_destroy(other);
  cn_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(rest), cmocka_unit_test(slide),
                                     cmocka_unit_test(hang), cmocka_unit_test(peg),
                                     cmocka_unit_test(bowl)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
