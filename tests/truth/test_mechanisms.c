// SPDX-License-Identifier: Apache-2.0
// Machines with more rows than they need, and machines that have to be put together: a door on three
// hinges, a parallelogram, Bricard's loop; freedoms, dependent rows, assembling.
#include "check.h"
#include "core/vec.h"
#include "worlds.h"

#include <stdlib.h>

static CnJointId hinge(CnWorld *world, CnBodyId a, CnBodyId b, CnVec3 at, CnVec3 axis,
                       const char *name) {
  CnJointDef def = cn_joint_def_default(CN_JOINT_REVOLUTE);
  CnJointId joint;
  def.body_a = a;
  def.body_b = b;
  def.name = name;
  CHECK_OK(cn_joint_def_along(world, at, axis, &def));
  CHECK_OK(cn_joint_create(world, &def, &joint));
  return joint;
}

static const CnBodyId ground = {0, 0};
static const CnTwist rest = {{0, 0, 0}, {0, 0, 0}};

static void check_machine(CnWorld *world, int32_t freedoms, int32_t locked, int32_t dependent) {
  CnMechanism m;
  CnDependentRow rows[64];
  CHECK_OK(cn_world_mechanism(world, &m, rows, 64));
  CHECK(m.freedoms == freedoms && m.locked_count == locked && m.dependent_count == dependent);
  for (int i = 0; i < dependent; i++) {
    CnJointDef def;
    CHECK_OK(cn_joint_def(world, rows[i].joint, &def));
    CHECK(rows[i].row >= 0 && rows[i].row < 5);
  }
}

// Each of the three carries a third of the weight, in the first step and while the door swings.
static void door(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  CnWorld *world = world_make(&def);
  CnTwist swing = {{0, .5, 0}, {0, 0, 1}};
  CnBodyId body = world_mass(world, 30, cn_vec3(10.1, 12.6, 2.52), world_at(.5, 0, 1), swing);
  CnJointId hinges[3];
  for (int i = 0; i < 3; i++)
    hinges[i] = hinge(world, ground, body, cn_vec3(0, 0, .2 + .8 * i), cn_vec3(0, 0, 1), NULL);
  check_machine(world, 1, 15, 10);
  for (int n = 0; n < 500; n++) {
    world_step(world);
    double share[3];
    for (int i = 0; i < 3; i++) {
      CnJointState now;
      CHECK_OK(cn_joint_state(world, hinges[i], &now));
      CHECK(now.error < 1e-4);
      share[i] = now.force.z;
    }
    CHECK_REL(share[0], share[1], 1e-6);
    CHECK_REL(share[2], share[1], 1e-6);
    CHECK_REL(share[1], 30 * 9.81 / 3, 1e-3);
  }
  cn_world_destroy(world);
}

// A plane loop of four hinges: three rows too many. It turns on and on.
static void parallelogram(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  def.gravity = CN_VEC3_ZERO;
  CnWorld *world = world_make(&def);
  CnVec3 y = cn_vec3(0, 1, 0);
  CnTwist turn = {{.5, 0, 0}, {0, 1, 0}}, slide = {{1, 0, 0}, {0, 0, 0}};
  CnBodyId left = world_mass(world, 1, cn_vec3(.1, .1, .1), world_at(0, 0, .5), turn);
  CnBodyId right = world_mass(world, 1, cn_vec3(.1, .1, .1), world_at(2, 0, .5), turn);
  CnBodyId bar = world_mass(world, 2, cn_vec3(.7, .7, .7), world_at(1, 0, 1), slide);
  hinge(world, ground, left, cn_vec3(0, 0, 0), y, NULL);
  hinge(world, ground, right, cn_vec3(2, 0, 0), y, NULL);
  hinge(world, left, bar, cn_vec3(0, 0, 1), y, NULL);
  hinge(world, right, bar, cn_vec3(2, 0, 1), y, NULL);
  check_machine(world, 1, 20, 3);
  for (int n = 0; n < 1000; n++) CHECK(world_step(world).solve.certificate.joint_speed < 1e-10);
  // the rods turn alike: one radian
  CHECK_NEAR(world_pose(world, bar).position.z, cos(1), 2e-3);
  CHECK_NEAR(world_pose(world, bar).rotation.w, 1, 1e-6);
  cn_world_destroy(world);
}

// Five rods and the ground, axes each at right angles to the last: 30 rows, 29 of which count.
static void bricard(void **state) {
  (void)state;
  static const CnVec3 at[6] = {{0, 0, 0}, {1, 0, 0}, {1, -1, 0}, {1, -1, 1}, {0, -1, 1}, {0, 0, 1}};
  static const CnVec3 axis[6] = {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 0}};
  CnWorldDef def = cn_world_def_default();
  def.gravity = cn_vec3(0, -9.81, 0);
  CnWorld *world = world_make(&def);
  CnBodyId rods[5];
  for (int i = 0; i < 5; i++) {
    CnVec3 along = cn_sub(at[i + 1], at[i]), middle = cn_scale(.5, cn_add(at[i], at[i + 1]));
    double thin = .01 / 6, across = (1 + .01) / 12;
    CnVec3 j = {along.x != 0 ? thin : across, along.y != 0 ? thin : across,
                along.z != 0 ? thin : across};
    rods[i] = world_mass(world, 1, j, (CnPose){middle, CN_QUAT_ONE}, rest);
  }
  for (int i = 0; i < 6; i++)
    hinge(world, i ? rods[i - 1] : ground, i < 5 ? rods[i] : ground, at[i], axis[i], NULL);
  check_machine(world, 1, 30, 1);
  double start = world_energy(world);
  while (world_info(world).time < 10 - 1e-9) world_step(world);
  CHECK(fabs(world_energy(world) - start) < .1 * 29.43);
  CnMechanism m;
  CHECK_OK(cn_world_mechanism(world, &m, NULL, 0));
  CHECK(m.error < 1e-3 && m.turn_error < 1e-3);
  cn_world_destroy(world);
}

// ---- assembling ----

// A four-bar of rods whose places are wrong by centimetres and tenths of radians.
static CnWorld *loose_loop(double length, int assemble) {
  CnWorldDef def = cn_world_def_default();
  def.assemble = assemble;
  CnWorld *world = world_make(&def);
  CnBodyId rods[3];
  for (int i = 0; i < 3; i++)
    rods[i] = world_mass(world, i == 1 ? 100 : 1, cn_vec3(.1, .1, .1),
                         (CnPose){cn_vec3(.9 * i + .07, .03 * i, .4 - .1 * i),
                                  world_turn(cn_vec3(0, 1, 0), .1 + .2 * i)},
                         rest);
  static const char *const names[4] = {"left", "upper", "lower", "right"};
  for (int i = 0; i < 4; i++) {
    CnJointDef joint = cn_joint_def_default(CN_JOINT_REVOLUTE);
    CnQuat along_y = world_turn(cn_vec3(1, 0, 0), -3.14159265358979 / 2);
    joint.name = names[i];
    joint.body_a = i ? rods[i - 1] : ground;
    joint.body_b = i < 3 ? rods[i] : ground;
    double half = i == 2 ? length : .5;
    joint.frame_a = (CnPose){i ? cn_vec3(0, 0, half) : CN_VEC3_ZERO, along_y};
    joint.frame_b = (CnPose){i < 3 ? cn_vec3(0, 0, -.5) : cn_vec3(1.5, 0, 0), along_y};
    CnJointId id;
    CHECK_OK(cn_joint_create(world, &joint, &id));
  }
  return world;
}

static void assembling(void **state) {
  (void)state;
  CnMechanism m;
  CnWorld *world = loose_loop(.5, 0);
  CHECK_OK(cn_world_mechanism(world, &m, NULL, 0));
  CHECK(m.error > .05);
  CHECK_OK(cn_world_assemble(world, 1e-12, &m));
  CHECK(m.error <= 1e-12 && m.turn_error <= 1e-12 && m.freedoms == 1 && m.dependent_count == 3);
  cn_world_destroy(world);
  // by a setting, before the first step
  world = loose_loop(.5, 1);
  world_step(world);
  CHECK_OK(cn_world_mechanism(world, &m, NULL, 0));
  CHECK(m.error < 1e-4);
  cn_world_destroy(world);
}

static void impossible(void **state) {
  (void)state;
  CnWorld *world = loose_loop(5, 0);
  uint64_t before = cn_world_hash(world);
  CHECK_STATUS(cn_world_assemble(world, 1e-10, NULL), CN_INVALID_DATA);
  CHECK_TEXT(cn_error_message(), "stays open by");
  CHECK(cn_world_hash(world) == before);
  CHECK_STATUS(cn_world_assemble(world, 0, NULL), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_world_assemble(NULL, 1, NULL), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_world_mechanism(world, NULL, NULL, 0), CN_INVALID_ARGUMENT);
  cn_world_destroy(world);
  world = loose_loop(5, 1);
  before = cn_world_hash(world);
  CHECK_STATUS(cn_world_step(world, NULL), CN_INVALID_DATA);
  CHECK(cn_world_hash(world) == before);
  cn_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(door),       cmocka_unit_test(parallelogram), cmocka_unit_test(bricard),
      cmocka_unit_test(assembling), cmocka_unit_test(impossible),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
