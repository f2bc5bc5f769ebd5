// SPDX-License-Identifier: Apache-2.0
// Contacts that are none: a body that passes another in one large step is not touched, one that hits
// is stopped along the normal with which the two really meet.
#include <math.h>

#include "check.h"
#include "core/vec.h"
#include "worlds.h"

static const double R = 0.1, H = 0.01, V = 10;

static CnWorld *empty(double restitution, CnMaterialId *material) {
  CnWorldDef def = world_def_exact(H);
  def.gravity = CN_VEC3_ZERO;
  CnWorld *world = world_make(&def);
  *material = world_material(world, 0, restitution);
  return world;
}

// A ball that flies along x at the height z above another one at the origin.
static CnTwist pass(double z, double start, int fixed, double restitution) {
  CnMaterialId material;
  CnWorld *world = empty(restitution, &material);
  CnBodyId other = world_ball(world, R, fixed ? 1e12 : 1, CN_VEC3_ZERO, CN_VEC3_ZERO, material);
  CnBodyId ball = world_ball(world, R, 1, cn_vec3(start, 0, z), cn_vec3(V, 0, 0), material);
  for (int i = 0; i < 10; i++) world_step(world);
  CnTwist twist = world_twist(world, ball);
  if (z > 2 * R) CHECK_NEAR(cn_norm(world_twist(world, other).velocity), 0, 0);
  cn_world_destroy(world);
  return twist;
}

static void balls_that_pass(void **state) {
  (void)state;
  // wherever the step begins, and with next to no room
  for (int i = 0; i < 20; i++)
    for (int k = 0; k < 2; k++) {
      CnTwist twist = pass((k ? 2.05 : 2.001) * R, -0.5 + 0.005 * i, k, 0);
      CHECK_NEAR(twist.velocity.x, V, 0);
      CHECK_NEAR(twist.velocity.z, 0, 0);
    }
}

// The normal part of the velocity turns round, by the normal with which the balls meet.
static void balls_that_hit(void **state) {
  (void)state;
  const double offsets[] = {0, 0.5, 1, 1.5, 1.9, 1.99};
  for (int i = 0; i < 6; i++) {
    double sine = 0.5 * offsets[i], cosine2 = 1 - sine * sine;
    CnTwist twist = pass(offsets[i] * R, -0.27, 1, 1);
    CHECK_NEAR(twist.velocity.x, V * (1 - 2 * cosine2), 1e-9);
    CHECK_NEAR(twist.velocity.z, 2 * V * sine * sqrt(cosine2), 1e-9);
  }
}

static void ball_and_edge(void **state) {
  (void)state;
  for (int i = 0; i < 20; i++) {
    CnMaterialId material;
    CnWorld *world = empty(0, &material);
    world_fixed_box(world, cn_vec3(1, 1, 1), world_at(0, 0, 0), material);
    CnVec3 start = cn_vec3(-1.5 * R - 1 - 0.004 * i, 0, 1 + 0.2 * R);
    CnVec3 way = cn_scale(V * sqrt(0.5), cn_vec3(1, 0, 1)); // past the edge at (-1, 0, 1)
    double clearance =
        cn_dot(cn_scale(sqrt(0.5), cn_vec3(-1, 0, 1)), cn_sub(start, cn_vec3(-1, 0, 1)));
    CnBodyId ball = world_ball(world, R, 1, start, way, material);
    for (int k = 0; k < 10; k++) world_step(world);
    CnVec3 velocity = world_twist(world, ball).velocity;
    CHECK(clearance > 1.05 * R);
    CHECK_NEAR(velocity.x, way.x, 0);
    CHECK_NEAR(velocity.z, way.z, 0);
    cn_world_destroy(world);
  }
}

// A box that flies past the corner of another one, turning.
static void boxes_that_pass(void **state) {
  (void)state;
  CnMaterialId material;
  CnWorld *world = empty(0, &material);
  world_fixed_box(world, cn_vec3(0.2, 0.2, 0.2), world_at(0, 0, 0), material);
  CnPose pose = {cn_vec3(-0.5, 0.02, 0.36), world_turn(cn_vec3(0, 1, 0), 0.7)};
  CnBodyId box = world_box(world, cn_vec3(R, R, R), 1, pose, cn_vec3(V, 0, 0), material);
  for (int k = 0; k < 10; k++) world_step(world);
  CHECK_NEAR(world_twist(world, box).velocity.x, V, 0);
  CHECK_NEAR(world_twist(world, box).velocity.z, 0, 0);
  CHECK_NEAR(cn_norm(world_twist(world, box).spin), 0, 0);
  cn_world_destroy(world);
}

// The row of a ball that would pass stays: a third body that drives it aside finds it there.
static void driven_aside(void **state) {
  (void)state;
  CnMaterialId material;
  CnWorld *world = empty(0, &material);
  world_ball(world, R, 1e12, CN_VEC3_ZERO, CN_VEC3_ZERO, material);
  CnBodyId ball = world_ball(world, R, 1, cn_vec3(-0.05, 0, 2.05 * R), cn_vec3(V, 0, 0), material);
  world_ball(world, R, 1, cn_vec3(-0.05, 0, 4.06 * R), cn_vec3(V, 0, -5), material);
  world_step(world);
  CnPenetration penetration;
  CHECK_OK(cn_world_penetration(world, &penetration));
  CHECK(penetration.max < 1e-9);
  CHECK_NEAR(world_twist(world, ball).velocity.z, -0.5, 0.01);
  cn_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(balls_that_pass), cmocka_unit_test(balls_that_hit),
      cmocka_unit_test(ball_and_edge), cmocka_unit_test(boxes_that_pass),
      cmocka_unit_test(driven_aside)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
