// SPDX-License-Identifier: Apache-2.0
// Bodies that start with speeds their joint does not allow: the blow is inelastic, its energy is that of an
// impact, and no error of the time step. Motors that change speeds at once.
#include <math.h>

#include "check.h"
#include "toys.h"
#include "worlds.h"

// Two bodies of 1 kg a metre apart, a ball joint half way, one of them at 1 m/s towards the other or across.
static void blow(const char *integrator, CnVec3 velocity, double taken) {
  CnWorldDef def = cn_world_def_default();
  def.integrator = integrator;
  def.time_step = .01;
  def.gravity = CN_VEC3_ZERO;
  def.balance = 1;
  CnWorld *world = toy_world_from(&def);
  CnTwist moves = {velocity, {0, 0, 0}}, rests = {{0, 0, 0}, {0, 0, 0}};
  CnVec3 inertia = cn_vec3(.1, .1, .1);
  CnBodyId a = world_mass(world, 1, inertia, world_at(0, 0, 0), moves);
  CnBodyId b = world_mass(world, 1, inertia, world_at(1, 0, 0), rests);
  world_join(world, CN_JOINT_BALL, a, b, cn_vec3(.5, 0, 0), cn_vec3(0, 0, 1), NULL);
  double sum = 0, joints = 0, scheme = 0;
  for (int i = 0; i < 20; i++) {
    CnStepBalance balance;
    toy_steps(world, 1);
    CHECK_OK(cn_world_balance(world, &balance));
    sum += balance.parts[CN_BALANCE_IMPACTS].energy;
    joints += balance.parts[CN_BALANCE_JOINTS].energy;
    scheme += balance.parts[CN_BALANCE_SCHEME].energy;
  }
  CnVerdict verdict;
  CHECK_OK(cn_world_verdict(world, &verdict));
  print_message("  %s: impacts %.15f J, joints %.1e, scheme %.1e: %s\n", integrator, sum, joints,
                scheme, verdict.line);
  CHECK_NEAR(sum, -taken, 1e-9);
  CHECK(fabs(joints) + fabs(scheme) < 1e-3);
  CHECK(verdict.trusted);
  cn_world_destroy(world);
}

// Along the line of centres the reduced mass is 1/2 kg: 1/4 J. Across it the joint feels 1/(2 (1 + .25/.1))
// kg = 1/7 kg: 1/14 J.
static void blows(void **state) {
  (void)state;
  const char *names[] = {"impulse", "moreau-jean", "hem5", "rkf45"};
  for (int i = 0; i < 4; i++) {
    blow(names[i], cn_vec3(1, 0, 0), .25);
    if (i == 0) blow(names[i], cn_vec3(0, 1, 0), 1. / 14);
  }
}

// A motor without a bound gives a wheel at rest, or one that turns, its speed at once: its work, and no error either.
static void jerk(const char *integrator, double before, double after) {
  CnWorldDef def = cn_world_def_default();
  def.integrator = integrator;
  def.time_step = .01;
  def.balance = 1;
  CnWorld *world = toy_world_from(&def);
  CnTwist turns = {{0, 0, 0}, {0, 0, before}};
  CnBodyId wheel = world_mass(world, 1, cn_vec3(.1, .1, .1), world_at(0, 0, 0), turns),
           none = {0, 0};
  CnJointAxis motor = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
  motor.motor_speed = after;
  motor.motor_effort = INFINITY;
  world_join(world, CN_JOINT_REVOLUTE, none, wheel, CN_VEC3_ZERO, cn_vec3(0, 0, 1), &motor);
  double drives = 0;
  for (int i = 0; i < 20; i++) {
    CnStepBalance balance;
    toy_steps(world, 1);
    CHECK_OK(cn_world_balance(world, &balance));
    drives += balance.parts[CN_BALANCE_DRIVES].energy;
  }
  CnVerdict verdict;
  CHECK_OK(cn_world_verdict(world, &verdict));
  print_message("  %s: drives %.15f J: %s\n", integrator, drives, verdict.line);
  CHECK_NEAR(drives, .05 * (after * after - before * before), 1e-9);
  CHECK(verdict.trusted);
  cn_world_destroy(world);
}

static void jerks(void **state) {
  (void)state;
  const char *names[] = {"impulse", "moreau-jean", "hem5", "rkf45"};
  for (int i = 0; i < 4; i++) {
    jerk(names[i], 0, 10);
    jerk(names[i], 10, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(blows), cmocka_unit_test(jerks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
