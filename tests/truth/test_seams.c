// SPDX-License-Identifier: Apache-2.0
// A floor of boxes side by side is flat: what slides or rolls over its seams loses nothing. A real
// step, a thousandth of the size, still stops a box.
#include <math.h>

#include "check.h"
#include "core/vec.h"
#include "worlds.h"

static const double R = 0.1;

// Boxes of 0.4 m beside each other along x; those from x = 1 on are raised.
static CnWorld *tiled(double friction, double h, double raised, CnMaterialId *material) {
  CnWorldDef def = world_def_exact(h);
  CnWorld *world = world_make(&def);
  *material = world_material(world, friction, 0);
  for (int i = -2; i < 12; i++)
    world_fixed_box(world, cn_vec3(0.2, 0.5, 0.1),
                    world_at(0.4 * i, 0, (0.4 * i > 1 ? raised : 0) - 0.1), *material);
  return world;
}

static void sliding_box(void **state) {
  (void)state;
  const double steps[] = {0.01, 0.003, 0.001};
  for (int k = 0; k < 3; k++) {
    CnMaterialId material;
    CnWorld *world = tiled(0, steps[k], 0, &material);
    CnBodyId box =
        world_box(world, cn_vec3(R, R, R), 1, world_at(0, 0, R), cn_vec3(1, 0, 0), material);
    while (world_pose(world, box).position.x < 3) {
      world_step(world);
      CHECK_NEAR(world_twist(world, box).velocity.x, 1, 1e-9);
      CHECK_NEAR(world_twist(world, box).velocity.z, 0, 1e-9);
    }
    CHECK_NEAR(world_pose(world, box).position.z, R, 1e-9);
    cn_world_destroy(world);
  }
}

// Turned a little about the vertical axis, so that corners come first.
static void turned_box(void **state) {
  (void)state;
  CnMaterialId material;
  CnWorld *world = tiled(0, 0.01, 0, &material);
  CnPose pose = {cn_vec3(0, 0, R), world_turn(cn_vec3(0, 0, 1), 0.3)};
  CnBodyId box = world_box(world, cn_vec3(R, R, R), 1, pose, cn_vec3(1, 0, 0), material);
  while (world_pose(world, box).position.x < 3) world_step(world);
  CHECK_NEAR(world_twist(world, box).velocity.x, 1, 1e-9);
  CHECK_NEAR(cn_norm(world_twist(world, box).spin), 0, 1e-9);
  cn_world_destroy(world);
}

static void rolling_ball(void **state) {
  (void)state;
  const double speeds[] = {0.1, 1, 5};
  for (int k = 0; k < 3; k++) {
    CnMaterialId material;
    CnWorld *world = tiled(0.5, 0.01, 0, &material);
    CnBodyId ball = world_ball(world, R, 1, cn_vec3(0, 0, R), cn_vec3(speeds[k], 0, 0), material);
    CnTwist rolling = {cn_vec3(speeds[k], 0, 0), cn_vec3(0, speeds[k] / R, 0)};
    CHECK_OK(cn_body_set_twist(world, ball, &rolling));
    while (world_pose(world, ball).position.x < 2.5) world_step(world);
    CHECK_NEAR(world_twist(world, ball).velocity.x, speeds[k], 1e-9);
    CHECK_NEAR(world_twist(world, ball).velocity.z, 0, 1e-9);
    cn_world_destroy(world);
  }
}

// A flat box, which does not trip. The step is at x = 1.
static void real_step(void **state) {
  (void)state;
  const double heights[] = {1e-3, 1e-6};
  for (int k = 0; k < 2; k++) {
    CnMaterialId material;
    CnWorld *world = tiled(0, 0.001, heights[k] * R, &material);
    CnBodyId box = world_box(world, cn_vec3(R, R, 0.1 * R), 1, world_at(0.7, 0, 0.1 * R),
                             cn_vec3(0.3, 0, 0), material);
    for (int i = 0; i < 1000; i++) {
      world_step(world);
      CHECK(world_pose(world, box).position.x < 1 - R + 1e-6);
    }
    CHECK(fabs(world_twist(world, box).velocity.x) < 0.1);
    CHECK(world_pose(world, box).position.x > 1 - R - 0.05);
    cn_world_destroy(world);
  }
}

// A wall on the floor is no seam, whatever the box does to the floor.
static void wall(void **state) {
  (void)state;
  for (int k = 0; k < 10; k++) {
    CnMaterialId material;
    CnWorld *world = tiled(0, 0.01, 0, &material);
    world_fixed_box(world, cn_vec3(0.2, 0.5, 0.3), world_at(1.4, 0, 0.3), material);
    CnPose pose = {cn_vec3(0.5 + 0.003 * k, 0, R * (1 - 1e-6)), CN_QUAT_ONE};
    CnBodyId box = world_box(world, cn_vec3(R, R, R), 1, pose, cn_vec3(5, 0, 0), material);
    for (int i = 0; i < 30; i++) {
      world_step(world);
      CHECK(world_pose(world, box).position.x < 1.2 - R + 1e-9);
    }
    cn_world_destroy(world);
  }
}

// A floor of many pieces on one body, and a slider of two boxes side by side.
static void compounds(void **state) {
  (void)state;
  CnMaterialId material;
  CnWorld *world = tiled(0, 0.01, 0, &material);
  CnBodyId box =
      world_box(world, cn_vec3(R, R, R), 1, world_at(0, 0, R), cn_vec3(1, 0, 0), material);
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_BOX);
  CnShapeId id;
  shape.half_size = cn_vec3(R, R, R);
  shape.pose.position = cn_vec3(2 * R, 0, 0);
  shape.material = material;
  CHECK_OK(cn_shape_create(world, box, &shape, &id));
  while (world_pose(world, box).position.x < 3) world_step(world);
  CHECK_NEAR(world_twist(world, box).velocity.x, 1, 1e-9);
  cn_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(sliding_box),  cmocka_unit_test(turned_box),
                                     cmocka_unit_test(rolling_ball), cmocka_unit_test(real_step),
                                     cmocka_unit_test(wall),         cmocka_unit_test(compounds)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
