// SPDX-License-Identifier: Apache-2.0
// Welds: forces and bending moments by closed forms, wrong assemblies, momentum, order and energy.
#include "check.h"
#include "core/math.h"
#include "toys.h"

#include <stdlib.h>
#include <string.h>

static const double G = 9.81;

static void near3(CnVec3 a, CnVec3 b, double tolerance) {
  CHECK_NEAR(a.x, b.x, tolerance);
  CHECK_NEAR(a.y, b.y, tolerance);
  CHECK_NEAR(a.z, b.z, tolerance);
}

static CnJointId weld(CnWorld *w, CnBodyId a, CnBodyId b, CnVec3 anchor) {
  CnJointDef def = cn_joint_def_default(CN_JOINT_WELD);
  CnJointId id;
  def.body_a = a;
  def.body_b = b;
  CHECK_OK(cn_joint_def_at(w, anchor, &def));
  CHECK_OK(cn_joint_create(w, &def, &id));
  return id;
}

// A cantilever of three boxes of 0.2 x 0.1 x 0.1 m, 2 kg each, along x, welded to the ground at its
// root: at the weld before box k hang 3 - k boxes.
static void bending_moment(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  def.time_step = 1e-3;
  def.solver.max_iterations = 20000;
  def.solver.tolerance = 1e-13;
  CnWorld *w = toy_world_from(&def);
  CnBodyId last = {0, 0};
  CnJointId joints[3];
  double m = 2, length = 0.2;
  for (int i = 0; i < 3; i++) {
    CnBodyId box =
        toy_box(w, cn_vec3(0.1, 0.05, 0.05), cn_vec3((i + 0.5) * length, 0, 0), CN_QUAT_ONE);
    joints[i] = weld(w, box, last, cn_vec3(i * length, 0, 0));
    last = box;
  }
  toy_steps(w, 50);
  for (int i = 0; i < 3; i++) {
    CnJointState s;
    int hanging = 3 - i;
    CHECK_OK(cn_joint_state(w, joints[i], &s));
    near3(s.force, cn_vec3(0, 0, -hanging * m * G), 1e-6);
    near3(s.torque, cn_vec3(0, hanging * m * G * hanging * length / 2, 0), 1e-6);
    near3(s.local_torque, s.torque, 1e-6);
    CHECK(s.error < 1e-9 && s.turn_error < 1e-9 && s.coordinate_count == 0);
  }
  cn_world_destroy(w);
}

// Frames that are wrong by up to half a turn come together, and stay.
static void wrong_assembly(void **state) {
  (void)state;
  for (int i = 0; i < 6; i++) {
    double angle = (double[]){0.1, 1, 2, 3, 3.1, CNI_PI}[i];
    CnWorld *w = toy_world(1e-2);
    CHECK_OK(cn_world_set_gravity(w, CN_VEC3_ZERO));
    CnBodyId a = toy_box(w, cn_vec3(0.1, 0.1, 0.1), CN_VEC3_ZERO, CN_QUAT_ONE);
    CnJointDef def = cn_joint_def_default(CN_JOINT_WELD);
    CnJointId id;
    CnJointState s;
    def.body_a = a;
    def.frame_b = (CnPose){{0.1, 0, 0.2}, cni_quat_exp(cn_scale(angle, cn_vec3(0.6, 0, 0.8)))};
    CHECK_OK(cn_joint_create(w, &def, &id));
    CHECK_OK(cn_joint_state(w, id, &s));
    CHECK_NEAR(s.turn_error, angle, 1e-12);
    CHECK_NEAR(s.error, sqrt(0.05), 1e-12);
    double last = s.turn_error;
    for (int k = 0; k < 300; k++) {
      toy_steps(w, 1);
      CHECK_OK(cn_joint_state(w, id, &s));
      CHECK(s.turn_error <= last + 1e-12);
      last = s.turn_error;
    }
    CHECK(s.error < 1e-9 && s.turn_error < 1e-9);
    cn_world_destroy(w);
  }
}

// Two cubes welded while they spin freely keep momentum and angular momentum.
static void momentum_is_kept(void **state) {
  (void)state;
  CnWorld *w = toy_world(1e-3);
  CHECK_OK(cn_world_set_gravity(w, CN_VEC3_ZERO));
  CnBodyId a = toy_box(w, cn_vec3(0.1, 0.1, 0.1), CN_VEC3_ZERO, CN_QUAT_ONE);
  CnBodyId b = toy_box(w, cn_vec3(0.1, 0.1, 0.1), cn_vec3(0.3, 0.05, 0), CN_QUAT_ONE);
  toy_set_twist(w, a, cn_vec3(0.1, 0.2, -0.3), cn_vec3(1, 2, 3));
  CnJointId id = weld(w, a, b, cn_vec3(0.15, 0, 0));
  CnWorldSums before, after;
  cn_world_sums(w, &before);
  toy_steps(w, 500);
  cn_world_sums(w, &after);
  near3(after.momentum, before.momentum, 1e-12);
  near3(after.angular_momentum, before.angular_momentum, 1e-12);
  CnJointState s;
  CHECK_OK(cn_joint_state(w, id, &s));
  CHECK(s.error < 1e-4 && s.turn_error < 1e-4);
  cn_world_destroy(w);
}

// A pendulum of two welded boxes, by hem5: energy stays, the weld holds, and it swings like one body.
static void pendulum_by_hem5(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  def.time_step = 1e-2;
  def.integrator = "hem5";
  def.integration.tolerance = 1e-11;
  CnVec3 end[2];
  for (int one = 0; one < 2; one++) {
    CnWorld *w = toy_world_from(&def);
    CnBodyId upper = toy_box(w, cn_vec3(0.1, 0.05, 0.02), cn_vec3(0.1, 0, 0), CN_QUAT_ONE);
    CnJointDef hook = cn_joint_def_default(CN_JOINT_BALL);
    CnJointId id, seam = {0, 0};
    if (one) {
      CnShapeDef shape = cn_shape_def_default(CN_SHAPE_BOX);
      CnShapeId s;
      shape.half_size = cn_vec3(0.1, 0.05, 0.02);
      shape.pose.position.x = 0.2;
      CHECK_OK(cn_shape_create(w, upper, &shape, &s));
    } else {
      CnBodyId lower = toy_box(w, cn_vec3(0.1, 0.05, 0.02), cn_vec3(0.3, 0, 0), CN_QUAT_ONE);
      seam = weld(w, upper, lower, cn_vec3(0.2, 0.01, 0));
    }
    hook.body_a = upper;
    CHECK_OK(cn_joint_def_at(w, cn_vec3(0, 0.02, 0), &hook));
    CHECK_OK(cn_joint_create(w, &hook, &id));
    CnWorldSums before, after;
    cn_world_sums(w, &before);
    toy_steps(w, 100);
    cn_world_sums(w, &after);
    CHECK_NEAR(after.kinetic_energy + after.potential_energy,
               before.kinetic_energy + before.potential_energy, 1e-8);
    CHECK(after.kinetic_energy > 0.1);
    if (!one) {
      CnJointState s;
      CHECK_OK(cn_joint_state(w, seam, &s));
      CHECK(s.error < 1e-10 && s.turn_error < 1e-10);
    }
    end[one] = toy_pose(w, upper).position;
    cn_world_destroy(w);
  }
  near3(end[0], end[1], 1e-8);
}

// The frames stay where they are when a shape moves the centre of mass, and a saved world goes on
// with the same bits.
static void frames_and_snapshots(void **state) {
  (void)state;
  CnWorld *w = toy_world(1e-3);
  CnBodyId a =
      toy_box(w, cn_vec3(0.1, 0.05, 0.05), cn_vec3(0, 0, 1), cni_quat_exp(cn_vec3(1, 2, 3)));
  CnBodyId b = toy_box(w, cn_vec3(0.1, 0.05, 0.05), cn_vec3(0.2, 0, 1), CN_QUAT_ONE);
  CnJointId id = weld(w, a, b, cn_vec3(0.1, 0.1, 1));
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_SPHERE);
  CnShapeId s;
  CnJointState at;
  shape.radius = 0.08;
  shape.pose.position = cn_vec3(0.3, 0.2, 0.1);
  CHECK_OK(cn_shape_create(w, a, &shape, &s));
  CHECK_OK(cn_joint_state(w, id, &at));
  CHECK(at.error < 1e-14 && at.turn_error < 1e-14);
  toy_set_twist(w, a, cn_vec3(1, 0, 0), cn_vec3(3, 2, 1));
  toy_steps(w, 100);
  CHECK_OK(cn_joint_state(w, id, &at));
  CHECK(at.error < 1e-3 && at.turn_error < 1e-2);
  size_t size;
  CHECK_OK(cn_world_save(w, NULL, 0, &size));
  void *data = malloc(size);
  CHECK_OK(cn_world_save(w, data, size, &size));
  CnWorld *copy = toy_world(1e-2);
  CHECK_OK(cn_world_restore(copy, data, size));
  CnJointState restored;
  CHECK_OK(cn_joint_state(copy, id, &restored));
  CHECK(memcmp(&at, &restored, sizeof at) == 0);
  toy_steps(w, 100);
  toy_steps(copy, 100);
  CHECK(cn_world_hash(w) == cn_world_hash(copy));
  free(data);
  cn_world_destroy(copy);
  cn_world_destroy(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bending_moment),       cmocka_unit_test(wrong_assembly),
      cmocka_unit_test(momentum_is_kept),     cmocka_unit_test(pendulum_by_hem5),
      cmocka_unit_test(frames_and_snapshots),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
