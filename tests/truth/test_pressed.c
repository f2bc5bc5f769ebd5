// SPDX-License-Identifier: Apache-2.0
// Motors with a bound that press on something at rest: what they press with is what they can give, no more.
#include <math.h>

#include "check.h"
#include "core/math.h"
#include "toys.h"
#include "worlds.h"

static const CnBodyId NONE = {0, 0};
static const CnVec3 O = {0, 0, 0}, X = {1, 0, 0};

static CnWorld *world_of(double h, CnVec3 gravity) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = h;
  def.gravity = gravity;
  return toy_world_from(&def);
}

// A motor with a bound along x.
static CnJointId push(CnWorld *w, CnBodyId body, CnVec3 at, CnVec3 axis, double speed,
                      double effort, double friction) {
  CnJointAxis motor = cn_joint_def_default(CN_JOINT_PRISMATIC).axes[0];
  motor.motor_speed = speed;
  motor.motor_effort = effort;
  motor.friction = friction;
  return world_join(w, CN_JOINT_PRISMATIC, NONE, body, at, axis, &motor);
}

// Crank, rod and slider, driven against the slider's stop: it carries M / (dx/dphi), and a force that pulls the
// slider from it does so when it is larger.
static void stopped_crank(void **state) {
  (void)state;
  const double r = .1, l = .3, turn = CNI_PI / 6, torque = 2, gap = .005, h = 1e-3;
  CnWorld *w = world_of(h, O);
  CnVec3 pin = {r * cni_cos(turn), 0, r * cni_sin(turn)};
  double x0 = pin.x + sqrt(l * l - pin.z * pin.z);
  CnBodyId crank = world_part(w, 1, 1e-3, cn_scale(.5, pin), 0);
  CnBodyId piston = world_part(w, .8, 1e-3, cn_vec3(x0, 0, 0), 0);
  CnJointDef hinge = cn_joint_def_default(CN_JOINT_REVOLUTE), rod;
  hinge.axes[0].motor_speed = 20;
  hinge.axes[0].motor_effort = torque;
  CnJointId drive =
      world_join(w, CN_JOINT_REVOLUTE, NONE, crank, O, cn_vec3(0, -1, 0), &hinge.axes[0]);
  CnJointAxis stop = cn_joint_def_default(CN_JOINT_PRISMATIC).axes[0];
  CnJointId id;
  stop.upper = gap;
  rod = cn_joint_def_default(CN_JOINT_DISTANCE);
  rod.body_a = crank;
  rod.body_b = piston;
  rod.frame_a.position = cn_scale(.5, pin);
  rod.distance = l;
  CHECK_OK(cn_joint_create(w, &rod, &id));
  CnJointId slide = world_join(w, CN_JOINT_PRISMATIC, NONE, piston, cn_vec3(x0, 0, 0), X, &stop);
  toy_steps(w, 1500);
  double phi = turn + world_joint(w, drive).coordinate[0], s = cni_sin(phi), c = cni_cos(phi);
  double slope = -r * s - r * r * s * c / sqrt(l * l - r * r * s * s), most = fabs(torque / slope);
  CHECK_NEAR(world_joint(w, slide).coordinate[0], gap, 1e-9);
  CHECK_NEAR(world_joint(w, drive).motor[0], torque, 1e-9);
  CHECK_NEAR(world_joint(w, slide).limit[0], -most, 1e-6 * most);
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < 50; i++) {
      CnVec3 pull = cn_vec3((k ? -1.02 : -.98) * most, 0, 0);
      CHECK_OK(cn_body_apply_force(w, piston, pull, toy_pose(w, piston).position));
      toy_steps(w, 1);
    }
    double x = world_joint(w, slide).coordinate[0];
    if (k)
      CHECK(x < gap - 1e-6);
    else
      CHECK_NEAR(x, gap, 1e-9);
  }
  cn_world_destroy(w);
}

// A ball on a rail between a pusher and a wall from which it would bounce: the wall feels the motor, less or more what
// the rail's dry friction holds.
static void pressed_ball(void **state) {
  (void)state;
  static const double friction[] = {0, 1};
  for (int k = 0; k < 2; k++) {
    CnWorld *w = world_of(1e-3, cn_vec3(0, 0, -9.81));
    CnMaterialId m = world_material(w, 0, .3);
    CnBodyId ball = world_ball(w, .05, 1, O, O, m);
    CnBodyId pusher = world_box(w, cn_vec3(.02, .1, .1), .5, world_at(-.2, 0, 0), O, m);
    CnBodyId wall = world_fixed_box(w, cn_vec3(.05, .5, .5), world_at(.15, 0, 0), m);
    push(w, ball, O, X, 0, 0, friction[k]);
    CnJointId motor = push(w, pusher, cn_vec3(-.2, 0, 0), X, 1, 4, 0);
    toy_steps(w, 800);
    CHECK_NEAR(world_joint(w, motor).motor[0], 4, 1e-6);
    double force = cn_norm(world_force(w, ball, wall));
    CHECK(force > 4 - friction[k] - 1e-6 && force < 4 + friction[k] + 1e-6);
    cn_world_destroy(w);
  }
}

// Jaws of 8 N hold a ball of 1 kg by friction of .5 no better if they would bounce: 2 mu F < m g.
static void slipping_grip(void **state) {
  (void)state;
  const double g = 9.81, t = .3;
  for (int k = 0; k < 2; k++) {
    CnWorld *w = world_of(1e-3, cn_vec3(0, 0, -g));
    CnMaterialId m = world_material(w, .5, k ? .4 : 0);
    CnBodyId ball = world_ball(w, .05, 1, O, O, m);
    for (int side = -1; side <= 1; side += 2) {
      CnBodyId jaw = world_box(w, cn_vec3(.02, .1, .5), .2, world_at(.07 * side, 0, 0), O, m);
      push(w, jaw, cn_vec3(.07 * side, 0, 0), cn_scale(-side, X), 1, 8, 0);
    }
    toy_steps(w, (int)(t * 1000));
    CHECK_NEAR(toy_twist(w, ball).velocity.z, -(g - 8) * t, 1e-2 * g * t);
    cn_world_destroy(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stopped_crank),
      cmocka_unit_test(pressed_ball),
      cmocka_unit_test(slipping_grip),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
