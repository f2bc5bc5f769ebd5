// SPDX-License-Identifier: Apache-2.0
// Contacts that contradict each other: a ball between fixed jaws that are too close, balls in a channel
// that is too narrow. Forces stay bounded, no energy comes from nowhere, and the report says so.
#include <math.h>
#include <stdio.h>

#include "check.h"
#include "core/vec.h"
#include "worlds.h"

static const double R = 0.05;

static CnWorld *jaws(const char *solver, double friction, double overlap, CnBodyId *ball,
                     CnBodyId *jaw) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = 0.01;
  def.solver = cn_solver_def_default(solver);
  def.solver.effort = CN_EFFORT_EXACT;
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, friction, 0);
  double x = R - 0.5 * overlap + 0.1;
  *jaw = world_fixed_box(world, cn_vec3(0.1, 0.5, 0.5), world_at(-x, 0, 0), material);
  world_fixed_box(world, cn_vec3(0.1, 0.5, 0.5), world_at(x, 0, 0), material);
  *ball = world_ball(world, R, 1, CN_VEC3_ZERO, CN_VEC3_ZERO, material);
  return world;
}

// 1 mm too close, every solver that takes friction: held by it, with a force that does not grow.
static void ball_between_jaws(void **state) {
  (void)state;
  const char *solvers[] = {"psor", "pssor", "newton", "auto", "apgd"};
  for (int k = 0; k < 5; k++) {
    CnBodyId ball, jaw;
    CnWorld *world = jaws(solvers[k], 0.5, 1e-3, &ball, &jaw);
    double most = 0, speed = 0, seconds = 0;
    int32_t told = 0;
    for (int i = 0; i < 400; i++) {
      CnStepReport report = world_step(world);
      most = fmax(most, fabs(world_force(world, jaw, ball).x));
      speed = fmax(speed, cn_norm(world_twist(world, ball).velocity));
      seconds = fmax(seconds, report.solve.seconds);
      told += report.solve.infeasible_count;
    }
    double fallen = -world_pose(world, ball).position.z;
    printf("%s: force %.3g N, speed %.3g m/s, fallen %.3g m, told %d, slowest solve %.2g s\n",
           solvers[k], most, speed, fallen, (int)told, seconds);
    CHECK(most > 2 * 9.81 && most < 1e4);
    CHECK(fallen < 1e-3 && speed < 0.2);
    CHECK(told > 0);
    cn_world_destroy(world);
  }
}

// 400 balls one behind the other in a channel 9 % too narrow.
static void narrow_channel(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  def.time_step = 0.01;
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, 0.3, 0);
  double y = 0.91 * R + 0.1;
  world_floor(world, material);
  world_fixed_box(world, cn_vec3(25, 0.1, 0.5), world_at(0, -y, 0.5), material);
  world_fixed_box(world, cn_vec3(25, 0.1, 0.5), world_at(0, y, 0.5), material);
  for (int i = 0; i < 400; i++)
    world_ball(world, R, 1, cn_vec3(0.101 * (i - 200), 0, 1.5 * R), cn_vec3(0, 0, -0.1), material);
  double start = world_energy(world), most = 0;
  for (int i = 0; i < 200; i++) {
    world_step(world);
    CnWorldSums sums;
    cn_world_sums(world, &sums);
    most = fmax(most, sums.kinetic_energy);
  }
  printf("channel: energy %.4g J, most kinetic %.3g J\n", start, most);
  CHECK(world_energy(world) < start && most < start);
  cn_world_destroy(world);
}

// Overlaps that do not contradict each other are no squeeze.
static void free_overlap(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, 0.5, 0);
  world_floor(world, material);
  CnBodyId ball = world_ball(world, R, 1, cn_vec3(0, 0, 0.9 * R), CN_VEC3_ZERO, material);
  for (int i = 0; i < 2000; i++) CHECK(world_step(world).solve.infeasible_count == 0);
  CHECK_NEAR(world_pose(world, ball).position.z, R, 1e-3 * R);
  cn_world_destroy(world);
}

// A plate that slides along a box, which leans on it and has a wall on the other side, squeezes nothing.
static void sliding_plate(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  def.gravity.y = -2;
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, 0.1, 0);
  CnVec3 half = cn_vec3(0.1, 0.1, 0.1);
  CnBodyId plate;
  CnBodyDef moved = cn_body_def_default();
  world_floor(world, material);
  world_fixed_box(world, half, world_at(0, 0.2, 0.1), material);
  CnBodyId box = world_box(world, half, 2, world_at(0, 0, 0.1), CN_VEC3_ZERO, material);
  moved.kind = CN_BODY_KINEMATIC;
  moved.pose = world_at(0, -0.11, 0.3);
  moved.twist.velocity = cn_vec3(0, 0, -0.5);
  CHECK_OK(cn_body_create(world, &moved, &plate));
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_BOX);
  CnShapeId id;
  shape.half_size = cn_vec3(0.1, 0.01, 0.29);
  shape.material = material;
  CHECK_OK(cn_shape_create(world, plate, &shape, &id));
  for (int i = 0; i < 300; i++) CHECK(world_step(world).solve.infeasible_count == 0);
  CHECK_NEAR(world_pose(world, box).position.y, 0, 1e-4);
  cn_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ball_between_jaws), cmocka_unit_test(narrow_channel),
      cmocka_unit_test(free_overlap), cmocka_unit_test(sliding_plate)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
