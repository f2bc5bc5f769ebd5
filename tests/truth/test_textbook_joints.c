// SPDX-License-Identifier: Apache-2.0
// Machines of textbooks whose answers are a line: the elliptic trammel, two Cardan joints in a row, Sarrus' linkage,
// weights on a pulley.
#include "check.h"
#include "core/math.h"
#include "toys.h"
#include "worlds.h"

static const double G = 9.81;
static const CnBodyId NONE = {0, 0};
static const CnVec3 O = {0, 0, 0}, X = {1, 0, 0}, Y = {0, 1, 0}, Z = {0, 0, 1};

static CnWorld *world_of(const char *integrator, double h) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = h;
  def.integrator = integrator;
  def.integration.tolerance = 1e-11;
  def.integration.project_start = 1;
  return toy_world_from(&def);
}

// A rod of 1 m and 1 kg with its ends on a wall and a floor that hold both ways, from .1 rad to the wall, at rest:
// omega^2 = 3 g (c0 - c); the floor gives g/4 (1 - 6 c c0 + 9 c^2), the wall 3/4 g s (3 c - 2 c0), and then it pulls.
static void trammel(void **state) {
  (void)state;
  double s0 = cni_sin(.1), c0 = cni_cos(.1), farthest = 0, pull = 0;
  CnWorld *w = world_of("hem5", 2e-3);
  CnPose pose = {{.5 * s0, 0, .5 * c0}, cni_quat_exp(cn_vec3(0, CNI_PI / 2 - .1, 0))};
  CnBodyId rod = world_mass(w, 1, cn_vec3(1e-4, 1. / 12, 1. / 12), pose, (CnTwist){O, O});
  CnJointId wall = world_join(w, CN_JOINT_POINT_ON_LINE, NONE, rod, cn_vec3(0, 0, c0), Z, NULL);
  CnJointId floor = world_join(w, CN_JOINT_POINT_ON_LINE, NONE, rod, cn_vec3(s0, 0, 0), X, NULL);
  for (int i = 0; i < 800; i++) {
    toy_steps(w, 1);
    CnVec3 low = cn_pose_point(toy_pose(w, rod), cn_vec3(.5, 0, 0));
    CnVec3 top = cn_pose_point(toy_pose(w, rod), cn_vec3(-.5, 0, 0));
    double s = low.x, c = top.z, spin = toy_twist(w, rod).spin.y;
    if (c < .3) break;
    CHECK_NEAR(low.z, 0, 1e-9);
    CHECK_NEAR(top.x, 0, 1e-9);
    CHECK_NEAR(spin * spin, 3 * G * (c0 - c), 1e-8);
    CHECK_NEAR(world_joint(w, floor).force.z, .25 * G * (1 - 6 * c * c0 + 9 * c * c), 1e-6);
    CHECK_NEAR(world_joint(w, wall).force.x, .75 * G * s * (3 * c - 2 * c0), 1e-6);
    farthest = cn_max(farthest, s);
    pull = cn_min(pull, world_joint(w, wall).force.x);
  }
  CHECK(farthest > .87 && pull < -3); // beyond 60 degrees
  cn_world_destroy(w);
}

// Two Cardan joints at 30 degrees with the forks of the shaft between them in one plane: what goes in comes out.
static void double_cardan(void **state) {
  (void)state;
  CnWorld *w = world_of("hem5", 1e-2);
  CHECK_OK(cn_world_set_gravity(w, CN_VEC3_ZERO));
  CnVec3 even = {.01, .01, .01}, axis = {0, cni_sin(CNI_PI / 6), cni_cos(CNI_PI / 6)};
  CnQuat lean = cni_quat_exp(cn_vec3(-CNI_PI / 6, 0, 0)),
         quarter = cni_quat_exp(cn_scale(CNI_PI / 2, Z));
  CnTwist still = {O, O};
  CnBodyId in = world_mass(w, 1, even, world_at(0, 0, 0), still);
  CnBodyId shaft = world_mass(w, 1, even, world_at(0, 0, 0), still);
  CnBodyId out = world_mass(w, 1, even, world_at(axis.x, axis.y, axis.z), still);
  CnJointAxis drive = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
  drive.motor_speed = 1;
  drive.motor_effort = INFINITY;
  CnJointId input = world_join(w, CN_JOINT_REVOLUTE, NONE, in, O, Z, &drive), joint;
  CnJointId output = world_join(w, CN_JOINT_REVOLUTE, NONE, out, axis, Z, NULL);
  CnJointDef def = cn_joint_def_default(CN_JOINT_UNIVERSAL);
  def.body_a = in;
  def.body_b = shaft;
  def.frame_b.rotation = lean;
  CHECK_OK(cn_joint_create(w, &def, &joint));
  def = cn_joint_def_default(CN_JOINT_UNIVERSAL);
  def.body_a = shaft;
  def.body_b = out;
  def.frame_a = (CnPose){axis, cn_qmul(lean, quarter)};
  def.frame_b.rotation = quarter;
  CHECK_OK(cn_joint_create(w, &def, &joint));
  double most = 0;
  for (int i = 0; i < 700; i++) {
    toy_steps(w, 1);
    CHECK_NEAR(world_joint(w, output).rate[0], 1, 1e-9);
    CHECK_NEAR(world_joint(w, output).coordinate[0], world_joint(w, input).coordinate[0], 1e-9);
    most = cn_max(most, cn_norm(toy_twist(w, shaft).spin));
  }
  CHECK_NEAR(most, 1.15470053838, 1e-4); // the shaft between them does not run evenly
  cn_world_destroy(w);
}

// Two pairs of rods in two vertical planes, a hinge at each end and in the middle: 30 rows, one of them too many. The
// platform goes down a line and does not turn.
static void sarrus(void **state) {
  (void)state;
  for (int32_t k = 0; k < 2; k++) {
    CnWorld *w = world_of(k ? "hem5" : "impulse", 1e-3);
    CnVec3 even = {.05, .05, .05};
    CnTwist still = {O, O};
    CnBodyId platform = world_mass(w, 2, even, world_at(0, 0, 1), still);
    for (int32_t i = 0; i < 2; i++) {
      CnVec3 out = i ? Y : X, hinge = i ? X : Y, elbow = cn_madd(cn_vec3(0, 0, .5), 1.5, out);
      CnVec3 low = cn_scale(.5, cn_add(out, elbow)), end = cn_add(out, Z);
      CnVec3 high = cn_scale(.5, cn_add(end, elbow));
      CnBodyId first = world_mass(w, 1, even, world_at(low.x, low.y, low.z), still);
      CnBodyId second = world_mass(w, 1, even, world_at(high.x, high.y, high.z), still);
      world_join(w, CN_JOINT_REVOLUTE, NONE, first, out, hinge, NULL);
      world_join(w, CN_JOINT_REVOLUTE, first, second, elbow, hinge, NULL);
      world_join(w, CN_JOINT_REVOLUTE, second, platform, end, hinge, NULL);
    }
    for (int32_t i = 0; i < 300; i++) {
      toy_steps(w, 1);
      CnPose pose = toy_pose(w, platform);
      CHECK(fabs(pose.position.x) < 1e-9 && fabs(pose.position.y) < 1e-9);
      CHECK(cn_norm(cn_vec3(pose.rotation.x, pose.rotation.y, pose.rotation.z)) < 1e-9);
    }
    CHECK(toy_pose(w, platform).position.z < .9);
    cn_world_destroy(w);
  }
}

// 3 kg and 2 kg on a rope over a disc of 1 kg and .1 m: a = 1.78363636364, ropes 24.0790909091 N and 23.1872727273 N.
static void pulley(void **state) {
  (void)state;
  for (int32_t k = 0; k < 2; k++) {
    CnWorld *w = world_of(k ? "hem5" : "impulse", 1e-3);
    CnVec3 even = {.005, .005, .005};
    CnTwist still = {O, O};
    CnJointId slides[2];
    CnCouplingId ropes[2];
    CnBodyId disc = world_mass(w, 1, even, world_at(0, 0, 1), still), weights[2];
    CnJointId turns = world_join(w, CN_JOINT_REVOLUTE, NONE, disc, Z, Y, NULL);
    for (int32_t i = 0; i < 2; i++) {
      double x = i ? .1 : -.1;
      weights[i] = world_mass(w, i ? 3 : 2, even, world_at(x, 0, 0), still);
      slides[i] = world_join(w, CN_JOINT_PRISMATIC, NONE, weights[i], cn_vec3(x, 0, 0), Z, NULL);
      CnCouplingDef rope = cn_coupling_def_default();
      rope.term_count = 2;
      rope.terms[0] = (CnCouplingTerm){slides[i], 0, 1};
      rope.terms[1] = (CnCouplingTerm){turns, 0, i ? .1 : -.1};
      CHECK_OK(cn_coupling_create(w, &rope, &ropes[i]));
    }
    toy_steps(w, 200);
    CHECK_NEAR(toy_twist(w, weights[1]).velocity.z, -.2 * 1.78363636364, 1e-9);
    CHECK_NEAR(toy_twist(w, weights[0]).velocity.z, .2 * 1.78363636364, 1e-9);
    for (int32_t i = 0; i < 2; i++) {
      CnCouplingState rope;
      CHECK_OK(cn_coupling_state(w, ropes[i], &rope));
      CHECK_NEAR(fabs(rope.effort), i ? 24.0790909091 : 23.1872727273, 1e-6);
    }
    cn_world_destroy(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(trammel), cmocka_unit_test(double_cardan),
                                     cmocka_unit_test(sarrus), cmocka_unit_test(pulley)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
