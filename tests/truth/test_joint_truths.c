// SPDX-License-Identifier: Apache-2.0
// Machines of a few joints whose motion is known: pendulums of rods, Cardan's joint, a screw that
// falls, a rod held by its bearing.
#include "check.h"
#include "core/math.h"
#include "joint/joint.h"
#include "toys.h"
#include "worlds.h"

static const double G = 9.81;

static CnWorld *world_of(const char *integrator, double h) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = h;
  def.integrator = integrator;
  def.integration.tolerance = 1e-11;
  def.integration.project_start = 1;
  return toy_world_from(&def);
}

static CnBodyId part(CnWorld *w, double m, CnVec3 inertia, CnVec3 at) {
  CnBodyDef def = cn_body_def_default();
  CnBodyId body;
  def.mass = m;
  def.inertia = (CnSym3){.xx = inertia.x, .yy = inertia.y, .zz = inertia.z};
  def.pose.position = at;
  CHECK_OK(cn_body_create(w, &def, &body));
  return body;
}

static const CnVec3 Y = {0, 1, 0}, O = {0, 0, 0}, ROD = {1e-4, 1.0 / 12, 1.0 / 12};
static const CnBodyId NONE = {0, 0};

// Released along x; a quarter of its period later it is at the bottom.
static void rod_pendulum(void **state) {
  (void)state;
  CnWorld *w = world_of("hem5", 0.483333713593 / 100);
  CnJointId joint =
      world_join(w, CN_JOINT_REVOLUTE, NONE, part(w, 1, ROD, cn_vec3(0.5, 0, 0)), O, Y, NULL);
  toy_steps(w, 100);
  CnJointState s = world_joint(w, joint);
  CHECK_NEAR(s.coordinate[0], CNI_PI / 2, 1e-9);
  CHECK_NEAR(s.rate[0], 5.42494239601, 1e-9);
  CHECK_NEAR(s.force.z, 24.525, 5e-3); // a mean over the step
  toy_steps(w, 300);
  CHECK_NEAR(world_joint(w, joint).coordinate[0], 0, 1e-8);
  cn_world_destroy(w);
}

static void double_pendulum(void **state) {
  (void)state;
  CnWorld *w = world_of("hem5", 5e-3);
  CnBodyId first = part(w, 1, ROD, cn_vec3(0.5, 0, 0));
  CnBodyId second = part(w, 1, ROD, cn_vec3(1.5, 0, 0));
  world_join(w, CN_JOINT_REVOLUTE, NONE, first, O, Y, NULL);
  world_join(w, CN_JOINT_REVOLUTE, first, second, cn_vec3(1, 0, 0), Y, NULL);
  const double tips[2][2] = {{1.29668853623, -1.40577992319}, {-1.66211513582, -1.04146663719}};
  for (int i = 0; i < 2; i++) {
    toy_steps(w, 100);
    CnVec3 tip = cn_pose_point(toy_pose(w, second), cn_vec3(0.5, 0, 0));
    CHECK_NEAR(tip.x, tips[i][0], 1e-7);
    CHECK_NEAR(tip.z, tips[i][1], 1e-7);
  }
  cn_world_destroy(w);
}

// Two shafts at 30 degrees: tan(output) = tan(input)/cos 30 or its converse, by the position of the
// fork; with the constant-velocity joint both angles are the same.
static void cardan(void **state) {
  (void)state;
  for (int kind = 0; kind < 2; kind++) {
    CnWorld *w = world_of("hem5", 1e-2);
    CHECK_OK(cn_world_set_gravity(w, CN_VEC3_ZERO));
    CnVec3 even = {0.01, 0.01, 0.01}, axis = {0, cni_sin(CNI_PI / 6), cni_cos(CNI_PI / 6)};
    CnQuat lean = cni_quat_exp(cn_vec3(-CNI_PI / 6, 0, 0)); // z to the axis
    CnBodyId in = part(w, 1, even, O), out = part(w, 1, even, O);
    CnJointAxis drive = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
    drive.motor_speed = 1;
    drive.motor_effort = INFINITY;
    CnJointId input = world_join(w, CN_JOINT_REVOLUTE, NONE, in, O, cn_vec3(0, 0, 1), &drive);
    // a far point of the output stays on its line: with the joint that is all a shaft needs
    CnJointDef def = cn_joint_def_default(CN_JOINT_POINT_ON_LINE);
    CnJointId output, joint;
    def.body_b = out;
    CHECK_OK(cn_joint_def_along(w, axis, axis, &def));
    CHECK_OK(cn_joint_create(w, &def, &output));
    def = cn_joint_def_default(kind ? CN_JOINT_CONSTANT_VELOCITY : CN_JOINT_UNIVERSAL);
    def.body_a = in;
    def.body_b = out;
    def.frame_b.rotation = lean;
    CHECK_OK(cn_joint_create(w, &def, &joint));
    toy_set_twist(w, in, CN_VEC3_ZERO, cn_vec3(0, 0, 1));
    toy_set_twist(w, out, CN_VEC3_ZERO, cn_scale(kind ? 1 : cni_cos(CNI_PI / 6), axis));
    double least = 9, most = 0;
    for (int i = 0; i < 700; i++) {
      toy_steps(w, 1);
      CnQuat q = toy_pose(w, out).rotation;
      double angle = 2 * cni_atan2(cn_dot(axis, cn_vec3(q.x, q.y, q.z)), q.w);
      double rate = cn_dot(axis, toy_twist(w, out).spin);
      double x = world_joint(w, input).coordinate[0], c = cni_cos(CNI_PI / 6);
      double wanted = kind ? x : cni_joint_nearest(cni_atan2(c * cni_sin(x), cni_cos(x)), x);
      CHECK_NEAR(cni_joint_nearest(angle, x), wanted, 1e-8);
      least = cn_min(least, rate);
      most = cn_max(most, rate);
    }
    CHECK_NEAR(least, kind ? 1 : 0.866025403784, 1e-4);
    CHECK_NEAR(most, kind ? 1 : 1.15470053838, 1e-4);
    cn_world_destroy(w);
  }
}

// A nut of 1 kg and .001 kg m2 on a vertical screw of 2 cm: a = g/(1 + J (2 pi/p)^2/m).
static void falling_screw(void **state) {
  (void)state;
  for (int exact = 0; exact < 2; exact++) {
    CnWorld *w = world_of(exact ? "hem5" : "impulse", 1e-3);
    CnJointDef def = cn_joint_def_default(CN_JOINT_SCREW);
    CnJointId joint;
    def.body_b = part(w, 1, cn_vec3(1e-3, 1e-3, 1e-3), O);
    def.lead = 0.02;
    CHECK_OK(cn_joint_create(w, &def, &joint));
    toy_steps(w, 1000);
    CnJointState s = world_joint(w, joint);
    CHECK_NEAR(toy_twist(w, def.body_b).velocity.z, -0.0983990899271, exact ? 1e-10 : 1e-8);
    CHECK_NEAR(s.rate[0], -30.9129858035, exact ? 1e-8 : 1e-6);
    CHECK_NEAR(s.force.z, 9.71160091007, exact ? 1e-8 : 1e-5);
    cn_world_destroy(w);
  }
}

// A rod at 30 degrees from hanging needs 2.4525 N m: 2.5 of dry friction hold it, 2.4 do not.
static void held_by_friction(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    CnWorld *w = world_of("impulse", 1e-3);
    CnJointAxis axis = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
    axis.friction = k ? 2.4 : 2.5;
    CnBodyId rod = part(w, 1, cn_vec3(1.0 / 12, 1.0 / 12, 1.0 / 12),
                        cn_vec3(0.25, 0, -0.5 * cni_cos(CNI_PI / 6)));
    CnJointId joint = world_join(w, CN_JOINT_REVOLUTE, NONE, rod, O, Y, &axis);
    toy_steps(w, k ? 10 : 10000);
    CnJointState s = world_joint(w, joint);
    if (k == 0) CHECK_NEAR(s.coordinate[0], 0, 1e-9);
    if (k == 0) CHECK_NEAR(fabs(s.friction[0]), 2.4525, 1e-6);
    if (k == 1) CHECK_NEAR(s.rate[0] / 0.01, 3 * (G / 4 - 2.4), 1e-4);
    cn_world_destroy(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rod_pendulum), cmocka_unit_test(double_pendulum), cmocka_unit_test(cardan),
      cmocka_unit_test(falling_screw), cmocka_unit_test(held_by_friction)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
