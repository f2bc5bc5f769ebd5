// SPDX-License-Identifier: Apache-2.0
// Springs that do not damp: with spring_theta = 1/2 an undamped spring keeps its energy for ever, as a
// force element and on a joint; with 1, the default, a spring loses (h w)^2/2 of its energy a
// step. Mechanisms with springs and motors converge with the first order.
#include "check.h"
#include "core/vec.h"
#include "worlds.h"

static CnWorldDef spring_world(double h, double theta) {
  CnWorldDef def = world_def_exact(h);
  def.gravity = CN_VEC3_ZERO;
  def.spring_theta = theta;
  def.balance = 1;
  return def;
}

static void balanced(const CnWorld *world) {
  CnStepBalance b;
  CHECK_OK(cn_world_balance(world, &b));
  CHECK_NEAR(b.residual.energy, 0, 1e-13);
  CHECK_NEAR(cn_norm(b.residual.momentum), 0, 1e-13);
  CHECK_NEAR(cn_norm(b.residual.angular_momentum), 0, 1e-13);
}

// 1 kg at the end of a spring of 100 N/m, 1 m long where free, 0.1 m out: energy after 5 s over that
// at the beginning, and the farthest from it on the way.
static double element(double theta, double *worst) {
  CnWorldDef def = spring_world(0.01, theta);
  CnWorld *world = world_make(&def);
  CnTwist rest = {{0, 0, 0}, {0, 0, 0}};
  CnBodyId body = world_mass(world, 1, cn_vec3(0.1, 0.2, 0.25), world_at(1.1, 0, 0), rest);
  CnForceDef spring = cn_force_def_default(CN_FORCE_SPRING);
  CnForceId id;
  spring.body_a = body;
  spring.stiffness = 100;
  spring.rest_length = 1;
  CHECK_OK(cn_force_create(world, &spring, &id));
  double start = 0.5 * 100 * 0.01, now = start;
  *worst = 0;
  for (int i = 0; i < 500; i++) {
    world_step(world);
    balanced(world);
    double x = world_pose(world, body).position.x, v = world_twist(world, body).velocity.x;
    now = 0.5 * v * v + 50 * (x - 1) * (x - 1);
    *worst = cn_max(*worst, fabs(now / start - 1));
  }
  cn_world_destroy(world);
  return now / start;
}

static void keeps(void **state) {
  (void)state;
  double worst;
  CHECK_NEAR(element(0.5, &worst), 1, 1e-6);
  CHECK(worst < 1e-6);
  // 1/(1 + (h w)^2) a step
  CHECK_NEAR(element(1, &worst), 0, 0.01);
  CHECK(element(0.75, &worst) < 0.2);
}

// The same on the coordinate of a slider.
static void slider(void **state) {
  (void)state;
  CnWorldDef def = spring_world(0.01, 0.5);
  CnWorld *world = world_make(&def);
  CnTwist rest = {{0, 0, 0}, {0, 0, 0}};
  CnBodyId body = world_mass(world, 1, cn_vec3(0.1, 0.2, 0.25), world_at(0, 0, 0), rest);
  CnJointDef joint = cn_joint_def_default(CN_JOINT_PRISMATIC);
  CnJointId id;
  joint.body_b = body;
  joint.axes[0].stiffness = 100;
  joint.axes[0].rest = 0.1;
  CHECK_OK(cn_joint_def_at(world, CN_VEC3_ZERO, &joint));
  CHECK_OK(cn_joint_create(world, &joint, &id));
  for (int i = 0; i < 500; i++) {
    world_step(world);
    balanced(world);
    CnJointState s;
    CHECK_OK(cn_joint_state(world, id, &s));
    double x = s.coordinate[0] - 0.1, v = s.rate[0];
    CHECK_REL(0.5 * v * v + 50 * x * x, 0.5, 1e-6);
    CHECK_NEAR(s.error + s.turn_error, 0, 1e-12);
  }
  cn_world_destroy(world);
}

// An arm on a hinge with a spring and a motor, and a second one hanging from it on a ball joint and a
// spring to the ground: place of the second after half a second.
static CnVec3 mechanism(int32_t steps, double theta) {
  CnWorldDef def = world_def_exact(0.5 / steps);
  def.spring_theta = theta;
  def.solver.tolerance = 1e-13;
  CnWorld *world = world_make(&def);
  CnTwist rest = {{0, 0, 0}, {0, 0, 0}};
  CnBodyId a = world_mass(world, 1, cn_vec3(0.02, 0.03, 0.04), world_at(0.5, 0, 0), rest);
  CnBodyId b = world_mass(world, 0.5, cn_vec3(0.01, 0.02, 0.02), world_at(1.2, 0.1, 0), rest);
  CnJointDef hinge = cn_joint_def_default(CN_JOINT_REVOLUTE);
  CnJointId id;
  hinge.body_b = a;
  hinge.axes[0].stiffness = 20;
  hinge.axes[0].damping = 0.3;
  hinge.axes[0].motor_speed = 3;
  hinge.axes[0].motor_effort = 2;
  CHECK_OK(cn_joint_def_along(world, CN_VEC3_ZERO, cn_vec3(0, 1, 0), &hinge));
  CHECK_OK(cn_joint_create(world, &hinge, &id));
  CnJointDef ball = cn_joint_def_default(CN_JOINT_BALL);
  ball.body_a = a;
  ball.body_b = b;
  CHECK_OK(cn_joint_def_at(world, cn_vec3(1, 0, 0), &ball));
  CHECK_OK(cn_joint_create(world, &ball, &id));
  CnForceDef spring = cn_force_def_default(CN_FORCE_SPRING);
  CnForceId force;
  spring.body_a = b;
  spring.frame_b.position = cn_vec3(1.5, 0.5, 0.5);
  spring.stiffness = 30;
  spring.rest_length = 0.4;
  CHECK_OK(cn_force_create(world, &spring, &force));
  for (int32_t i = 0; i < steps; i++) world_step(world);
  CnVec3 at = world_pose(world, b).position;
  cn_world_destroy(world);
  return at;
}

static void order(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    double theta = k ? 0.5 : 1;
    CnVec3 coarse = mechanism(200, theta), middle = mechanism(400, theta);
    CnVec3 fine = mechanism(800, theta);
    double ratio = cn_norm(cn_sub(coarse, middle)) / cn_norm(cn_sub(middle, fine));
    print_message("theta %g: order %.3f\n", theta, log2(ratio));
    CHECK(log2(ratio) > 0.95);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keeps),
      cmocka_unit_test(slider),
      cmocka_unit_test(order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
