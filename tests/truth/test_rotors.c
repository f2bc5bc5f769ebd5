// SPDX-License-Identifier: Apache-2.0
// What turns as a whole turns by its angle, whatever the step: rotors on hinges and balls, two bodies that are one, masses on
// rods. Without torque the speed stays, and after t the angle is w t; by the midpoint spin alone it would be
// 2 atan(h w/2)/h t, .75 % less at .3 rad a step.
#include "check.h"
#include "core/math.h"
#include "core/vec.h"
#include "worlds.h"

#include <math.h>

#define SPEED 300.0 // rad/s: .3 rad a step of .001 s
#define ARM .01     // m
#define TIME .5     // s

static const CnBodyId ground = {0, 0};

static CnWorld *make(double h, int balance, CnVec3 gravity) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = h;
  def.gravity = gravity;
  def.balance = balance;
  return world_make(&def);
}

// How far a point of a body is from where it is to be, after TIME, over its arm.
static double off(CnWorld *world, CnBodyId body, double h, CnVec3 centre) {
  for (int i = 0; i < (int)(TIME / h + .5); i++) world_step(world);
  CnVec3 at = world_pose(world, body).position;
  double c = cni_cos(SPEED * TIME), s = cni_sin(SPEED * TIME);
  CnVec3 way = cn_sub(at, cn_add(centre, cn_vec3(ARM * c, ARM * s, 0)));
  print_message("  h %g: off by %.2g of the arm\n", h, cn_norm(way) / ARM);
  return cn_norm(way) / ARM;
}

static const CnVec3 none = {0, 0, 0};
static const CnTwist round_about = {{0, SPEED *ARM, 0}, {0, 0, SPEED}};
static const double steps[] = {.0005, .001, .0025};

static void on_a_hinge(void **state) {
  (void)state;
  for (int k = 0; k < 6; k++) {
    CnJointKind kind = k < 3 ? CN_JOINT_REVOLUTE : CN_JOINT_BALL;
    for (int balance = 0; balance < 2; balance++) { // by the tree, and by the problem
      CnWorld *world = make(steps[k % 3], balance, none);
      CnBodyId body =
          world_mass(world, 1, cn_vec3(1e-4, 1e-4, 2e-4), world_at(ARM, 0, 0), round_about);
      CnJointId hinge = world_join(world, kind, ground, body, none, cn_vec3(0, 0, 1), NULL);
      CHECK(off(world, body, steps[k % 3], none) < 1e-5);
      // of the mean over a step, m w^2 r sinc(h w/2): it turns within it
      double x = SPEED * steps[k % 3] / 2, force = SPEED * SPEED * ARM * cni_sin(x) / x;
      CHECK_NEAR(cn_norm(world_joint(world, hinge).force), force, 1e-4 * force);
      cn_world_destroy(world);
    }
  }
}

// Its rate is the rod's: the mass does not turn.
static void on_a_rod(void **state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    CnWorld *world = make(steps[k], 1, none);
    CnTwist twist = {round_about.velocity, none};
    CnBodyId body = world_mass(world, 1, cn_vec3(1e-4, 1e-4, 2e-4), world_at(ARM, 0, 0), twist);
    CnJointDef def = cn_joint_def_default(CN_JOINT_DISTANCE);
    CnJointId rod;
    def.body_b = body;
    def.distance = ARM;
    CHECK_OK(cn_joint_create(world, &def, &rod));
    double energy = world_energy(world);
    CHECK(off(world, body, steps[k], none) < 1e-10);
    CHECK_NEAR(world_energy(world), energy, 1e-12 * energy);
    cn_world_destroy(world);
  }
}

// Two that are welded fly and turn as one: about their centre, which falls.
static void in_flight(void **state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    CnVec3 gravity = {0, 0, -9.81}, v = {1, 0, 2};
    CnWorld *world = make(steps[k], 1, gravity);
    CnBodyId pair[2];
    for (int i = 0; i < 2; i++) {
      double side = i ? -1 : 1;
      CnTwist twist = {cn_madd(v, side, round_about.velocity), round_about.spin};
      pair[i] = world_mass(world, 1, cn_vec3(1e-4, 1e-4, 2e-4), world_at(side * ARM, 0, 0), twist);
    }
    world_join(world, CN_JOINT_WELD, pair[0], pair[1], none, cn_vec3(0, 0, 1), NULL);
    double fallen = v.z * TIME - 9.81 / 2 * TIME * TIME;
    CHECK(off(world, pair[0], steps[k], cn_vec3(v.x * TIME, 0, fallen)) < 1e-8);
    cn_world_destroy(world);
  }
}

// An arm with a wheel at its end that turns the other way: each by its own.
static void arm_and_wheel(void **state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    CnWorld *world = make(steps[k], 1, none);
    CnBodyId arm =
        world_mass(world, 1, cn_vec3(1e-4, 1e-4, 2e-4), world_at(ARM, 0, 0), round_about);
    CnTwist turns = {{0, 2 * SPEED * ARM, 0}, {0, 0, -2 * SPEED}};
    CnBodyId wheel =
        world_mass(world, .1, cn_vec3(1e-5, 1e-5, 2e-5), world_at(2 * ARM, 0, 0), turns);
    world_join(world, CN_JOINT_REVOLUTE, ground, arm, none, cn_vec3(0, 0, 1), NULL);
    CnJointId axle = world_join(world, CN_JOINT_REVOLUTE, arm, wheel, cn_vec3(2 * ARM, 0, 0),
                                cn_vec3(0, 0, 1), NULL);
    CHECK(off(world, arm, steps[k], none) < 1e-5);
    CHECK_NEAR(world_joint(world, axle).coordinate[0], -3 * SPEED * TIME, 1e-5 * SPEED * TIME);
    cn_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(on_a_hinge), cmocka_unit_test(on_a_rod),
                                     cmocka_unit_test(in_flight), cmocka_unit_test(arm_and_wheel)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
