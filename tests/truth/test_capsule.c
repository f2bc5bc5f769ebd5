// SPDX-License-Identifier: Apache-2.0
// Capsules: exact mass, rest, rolling, and how they touch each other kind.
#include "check.h"
#include "core/math.h"
#include "placed.h"
#include "worlds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RADIUS 0.05
#define HALF 0.06
#define MASS 1.46607657168

static const CnVec3 y_axis = {0, 1, 0}, x_axis = {1, 0, 0};

static CnShapeDef capsule(void) {
  CnShapeDef def = cn_shape_def_default(CN_SHAPE_CAPSULE);
  def.radius = RADIUS;
  def.half_length = HALF;
  return def;
}

static CnBodyId add(CnWorld *world, CnPose pose, CnMaterialId material) {
  CnBodyDef body = cn_body_def_default();
  body.pose = pose;
  CnBodyId id;
  CnShapeId shape;
  CHECK_OK(cn_body_create(world, &body, &id));
  CnShapeDef def = capsule();
  def.material = material;
  CHECK_OK(cn_shape_create(world, id, &def, &shape));
  return id;
}

static CnPose lying(double x, double y, double z, CnVec3 axis, double angle) {
  CnPose pose = world_at(x, y, z);
  pose.rotation = world_turn(axis, angle);
  return pose;
}

static CniPlaced placed(CnPose pose) {
  CnShapeDef def = capsule();
  def.pose = pose;
  return cni_shape_placed(&def);
}

static void mass(void **state) {
  (void)state;
  CnWorldDef def = world_def_exact(1e-3);
  CnWorld *world = world_make(&def);
  CnBodyId body = add(world, world_at(0, 0, 1), (CnMaterialId){0, 0});
  CnBodyInfo info;
  CHECK_OK(cn_body_info(world, body, &info));
  CHECK_REL(info.mass, MASS, 1e-11);
  double low = fmin(info.inertia.x, fmin(info.inertia.y, info.inertia.z));
  double high = fmax(info.inertia.x, fmax(info.inertia.y, info.inertia.z));
  CHECK_REL(low, 0.00170169602069, 1e-11);
  CHECK_REL(high, 0.00530667359069, 1e-11);
  cn_world_destroy(world);
}

// On the ground: two points, both halves of the weight; standing on its end: one.
static void rest(void **state) {
  (void)state;
  CnWorldDef def = world_def_exact(1e-3);
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, 0.5, 0);
  world_floor(world, material);
  add(world, lying(0, 0, RADIUS, x_axis, CNI_PI / 2), material);
  for (int i = 0; i < 200; i++) world_step_converged(world);
  CHECK(world_info(world).contact_count == 2);
  double sum = 0;
  for (int32_t i = 0; i < 2; i++) {
    CnContact contact;
    CHECK_OK(cn_world_contact(world, i, &contact));
    CHECK_NEAR(fabs(contact.point.y), HALF, 1e-9);
    CHECK_REL(fabs(contact.force.z), 0.5 * 9.81 * MASS, 1e-9);
    sum += fabs(contact.force.z);
  }
  CHECK_REL(sum, 9.81 * MASS, 1e-9);
  cn_world_destroy(world);

  CniPlaced floor = placed_plane(cn_vec3(0, 0, 0), CN_QUAT_ONE);
  CniPlaced standing = placed(world_at(0, 0, RADIUS + HALF));
  CniManifold m;
  cni_collide(&standing, &floor, 0.01, &m);
  CHECK(m.count == 1);
  CHECK_NEAR(m.points[0].gap, 0, 1e-15);
}

// Down a slope of 30 degrees without slip: a = g sin/(1 + k^2/r^2).
static void rolling(void **state) {
  (void)state;
  CnWorldDef def = world_def_exact(1e-3);
  def.gravity = cn_vec3(9.81 * 0.5, 0, -9.81 * sqrt(0.75));
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, 0.5, 0);
  world_floor(world, material);
  CnBodyId body = add(world, lying(0, 0, RADIUS, x_axis, CNI_PI / 2), material);
  for (int i = 0; i < 500; i++) world_step(world);
  CnTwist twist = world_twist(world, body);
  CHECK_REL(twist.velocity.x, 3.34975609756 * 0.5, 1e-9);
  CHECK_REL(twist.spin.y, 3.34975609756 * 0.5 / RADIUS, 1e-9);
  CHECK_NEAR(world_pose(world, body).position.z, RADIUS, 1e-8);
  cn_world_destroy(world);
}

// Parallel: two points. Crossed: one. Touching to the last digits.
static void two_capsules(void **state) {
  (void)state;
  CniPlaced a = placed(world_at(0, 0, 0));
  CniPlaced b = placed(world_at(2 * RADIUS + 1e-3, 0, 0.05));
  CniManifold m;
  cni_collide(&a, &b, 0.01, &m);
  CHECK(m.count == 2);
  CHECK_NEAR(m.normal.x, 1, 1e-15);
  for (int32_t i = 0; i < 2; i++) CHECK_NEAR(m.points[i].gap, 1e-3, 1e-15);
  CHECK_NEAR(fmax(m.points[0].point.z, m.points[1].point.z), HALF, 1e-15);
  CHECK_NEAR(fmin(m.points[0].point.z, m.points[1].point.z), 0.05 - HALF, 1e-15);

  b = placed(lying(2 * RADIUS, 0.01, 0.02, x_axis, 1));
  cni_collide(&a, &b, 0.01, &m);
  CHECK(m.count == 1);
  CHECK_NEAR(m.points[0].gap, 0, 1e-15);
  CHECK_NEAR(m.normal.x, 1, 1e-15);

  // axes that cross, and axes in one line: out across both
  b = placed(lying(0, 0, 0, x_axis, 1));
  cni_collide(&a, &b, 0.01, &m);
  CHECK(m.count == 1 && fabs(m.normal.x) > 1 - 1e-12);
  CHECK_NEAR(m.points[0].gap, -2 * RADIUS, 1e-15);
  b = placed(world_at(0, 0, HALF));
  cni_collide(&a, &b, 0.01, &m);
  CHECK(m.count >= 1 && fabs(m.normal.z) < 1e-12);
  CHECK_NEAR(m.points[0].gap, -2 * RADIUS, 1e-15);
}

static void against_others(void **state) {
  (void)state;
  CniManifold m;
  // a ball at the side and at the end
  CniPlaced a = placed(world_at(0, 0, 0)), ball = placed_sphere(cn_vec3(0.2, 0, 0.03), 0.1);
  cni_collide(&a, &ball, 0.1, &m);
  CHECK(m.count == 1);
  CHECK_NEAR(m.points[0].gap, 0.05, 1e-15);
  CHECK_NEAR(m.normal.x, 1, 1e-15);
  ball = placed_sphere(cn_vec3(0.03, 0, HALF + 0.04), 0.1);
  cni_collide(&ball, &a, 0.1, &m);
  CHECK_NEAR(m.points[0].gap, 0.05 - 0.15, 1e-15);
  CHECK_NEAR(m.normal.z, -0.8, 1e-14);

  // lying on a box: two points; half over its border: one of them on the border; on its edge: two
  CniPlaced box = placed_box(cn_vec3(0, 0, -0.5), CN_QUAT_ONE, cn_vec3(0.5, 0.5, 0.5));
  CniPlaced lies = placed(lying(0, 0, RADIUS, y_axis, CNI_PI / 2));
  cni_collide(&lies, &box, 0.01, &m);
  CHECK(m.count == 2);
  for (int32_t i = 0; i < 2; i++) {
    CHECK_NEAR(fabs(m.points[i].point.x), HALF, 1e-12);
    CHECK_NEAR(m.points[i].gap, 0, 1e-12);
  }
  lies.pose.position.x = 0.5;
  cni_collide(&lies, &box, 0.01, &m);
  CHECK(m.count == 2);
  CHECK_NEAR(fmax(m.points[0].point.x, m.points[1].point.x), 0.5, 1e-12);
  double d = RADIUS / sqrt(2);
  lies = placed(lying(0.5 + d, 0.1, d, x_axis, CNI_PI / 2));
  cni_collide(&lies, &box, 0.01, &m);
  CHECK(m.count == 2);
  for (int32_t i = 0; i < 2; i++) CHECK_NEAR(m.points[i].gap, 0, 1e-12);
}

// A heap of capsules, saved in the middle, goes on with the same bits.
static void saved_and_restored(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  def.time_step = 2e-3;
  CnWorld *one = world_make(&def), *two = world_make(&def);
  CnMaterialId material = world_material(one, 0.5, 0);
  world_floor(one, material);
  world_box(one, cn_vec3(0.1, 0.1, 0.1), 2, world_at(0, 0, 0.1), CN_VEC3_ZERO, material);
  CniRng rng = {3};
  for (int i = 0; i < 20; i++) {
    CnPose pose = world_at(0.02 * (i % 3), 0.02 * (i % 2), 0.35 + 0.12 * i);
    pose.rotation = random_rotation(&rng);
    add(one, pose, material);
  }
  for (int i = 0; i < 300; i++) world_step(one);
  CHECK(world_info(one).contact_count >= 15);
  size_t size;
  CHECK_OK(cn_world_save(one, NULL, 0, &size));
  void *data = malloc(size);
  CHECK_OK(cn_world_save(one, data, size, &size));
  CHECK_OK(cn_world_restore(two, data, size));
  free(data);
  for (int i = 0; i < 100; i++) {
    world_step(one);
    world_step(two);
    CHECK(cn_world_hash(one) == cn_world_hash(two));
  }
  CnPenetration penetration;
  CHECK_OK(cn_world_penetration(one, &penetration));
  CHECK(penetration.max < 0.1 * RADIUS);
  CnShapeDef kept;
  CnBodyId last = {0, 0}, body;
  while ((body = cn_world_next_body(two, last)).generation) last = body;
  CHECK_OK(cn_shape_def(two, cn_body_shape(two, last, 0), &kept));
  CHECK(kept.kind == CN_SHAPE_CAPSULE && kept.radius == RADIUS && kept.half_length == HALF);
  cn_world_destroy(one);
  cn_world_destroy(two);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mass),           cmocka_unit_test(rest),
      cmocka_unit_test(rolling),        cmocka_unit_test(two_capsules),
      cmocka_unit_test(against_others), cmocka_unit_test(saved_and_restored),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
