// SPDX-License-Identifier: Apache-2.0
// The verdict on springs where nobody keeps a balance, as with more than 200 bodies in `cairn run`: what a time step that is too
// long takes from them is seen all the same, and what it resolves is trusted.
#include <cairn/verdict.h>

#include "check.h"
#include "core/math.h"
#include "core/vec.h"
#include "worlds.h"

#include <math.h>

static const CnTwist rest = {{0, 0, 0}, {0, 0, 0}};

static CnVerdict judged(CnWorld *world, double time, double h) {
  CnVerdict v;
  for (int i = 0; i < (int)(time / h + .5); i++) world_step(world);
  CHECK_OK(cn_world_verdict(world, &v));
  print_message("  h %g: %s\n", h, v.line);
  return v;
}

static CnWorld *make(double h) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = h;
  def.gravity = CN_VEC3_ZERO;
  CHECK(!def.balance);
  return world_make(&def);
}

// 250 pairs of 1 kg on springs of 2e3 N/m, stretched by 1 mm: they swing with 63 rad/s, for good.
static void pairs(void **state) {
  (void)state;
  static const double steps[] = {.005, .0001};
  for (int k = 0; k < 2; k++) {
    double h = steps[k], stiffness = 2e3, far = .1, stretch = 1e-3;
    CnWorld *world = make(h);
    CnBodyId first = {0, 0};
    for (int i = 0; i < 250; i++) {
      CnBodyId pair[2];
      for (int n = 0; n < 2; n++)
        pair[n] = world_mass(world, 1, cn_vec3(.01, .01, .01), world_at(n * far, i, 0), rest);
      CnForceDef spring = cn_force_def_default(CN_FORCE_SPRING);
      CnForceId id;
      spring.body_a = pair[0];
      spring.body_b = pair[1];
      spring.rest_length = far - stretch;
      spring.stiffness = stiffness;
      CHECK_OK(cn_force_create(world, &spring, &id));
      if (i == 0) first = pair[0];
    }
    CnVerdict v = judged(world, .05, h);
    double swing = sqrt(2 * stiffness), x = stretch / 2 * (1 - cni_cos(swing * .05));
    double off = fabs(world_pose(world, first).position.x - x);
    CHECK(k ? v.trusted && off < .2 * stretch
            : !v.trusted && v.findings[CN_FINDING_SCHEME].is_reason);
    CHECK(!v.energy_watched);
    cn_world_destroy(world);
  }
}

// Servos of 20 N m/rad on 0.01 kg m2, 45 rad/s, let go .1 rad from where they want to be.
static void servos(void **state) {
  (void)state;
  static const double steps[] = {.01, .0001};
  for (int k = 0; k < 2; k++) {
    double h = steps[k];
    CnWorld *world = make(h);
    CnJointAxis act = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
    act.drive = CN_DRIVE_POSITION;
    act.motor_effort = 1e6;
    act.motor_stiffness = 20;
    act.motor_position = .1;
    for (int i = 0; i < 250; i++) {
      CnBodyId wheel = world_mass(world, 1, cn_vec3(.01, .01, .01), world_at(i, 0, 0), rest);
      world_join(world, CN_JOINT_REVOLUTE, (CnBodyId){0, 0}, wheel, cn_vec3(i, 0, 0),
                 cn_vec3(0, 0, 1), &act);
    }
    CnVerdict v = judged(world, .05, h);
    CHECK(k ? v.trusted : !v.trusted && v.findings[CN_FINDING_SCHEME].is_reason);
    cn_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(pairs), cmocka_unit_test(servos)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
