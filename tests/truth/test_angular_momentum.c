// SPDX-License-Identifier: Apache-2.0
// Torques act on the angular momentum: L = L0 + torque t for any step, however a body tumbles. A
// free body keeps energy and angular momentum.
#include "check.h"
#include "core/vec.h"
#include "worlds.h"

static const CnVec3 SLENDER = {0.007, 0.007, 0.0015}; // kg m^2

typedef struct Spinner {
  CnWorld *world;
  CnBodyId body;
} Spinner;

static Spinner spinner(double h, CnVec3 spin) {
  CnWorldDef def = world_def_exact(h);
  def.gravity = CN_VEC3_ZERO;
  Spinner s = {.world = world_make(&def)};
  CnPose pose = {{0, 0, 0}, world_turn(cn_vec3(1, 0, 0), 0.3)};
  CnTwist twist = {{0, 0, 0}, cn_rotate(pose.rotation, spin)};
  s.body = world_mass(s.world, 1, SLENDER, pose, twist);
  return s;
}

static CnVec3 momentum_of(const Spinner *s) {
  CnWorldSums sums;
  cn_world_sums(s->world, &sums);
  return sums.angular_momentum;
}

// 60 rad/s about the third axis; a torque along it, across it, askew.
static void torque(void **state) {
  (void)state;
  const CnVec3 torques[] = {{0, 0, 0.05}, {0.08, 0, 0}, {0.02, -0.03, 0.04}};
  const double steps[] = {0.01, 0.002};
  for (int k = 0; k < 3; k++)
    for (int n = 0; n < 2; n++) {
      Spinner s = spinner(steps[n], cn_vec3(0, 0, 60));
      CnVec3 expected = momentum_of(&s);
      int count = (int)(1 / steps[n] + 0.5);
      for (int i = 0; i < count; i++) {
        CHECK_OK(cn_body_apply_torque(s.world, s.body, torques[k]));
        world_step(s.world);
        expected = cn_madd(expected, steps[n], torques[k]);
        CHECK(cn_norm(cn_sub(momentum_of(&s), expected)) < 1e-12 * cn_norm(expected));
      }
      cn_world_destroy(s.world);
    }
}

// Free tumbling, 10,000 steps of 0.01 s.
static void free_tumbling(void **state) {
  (void)state;
  Spinner s = spinner(0.01, cn_vec3(3, 20, 60));
  CnWorldSums start, now;
  cn_world_sums(s.world, &start);
  for (int i = 0; i < 10000; i++) world_step(s.world);
  cn_world_sums(s.world, &now);
  CHECK_REL(now.kinetic_energy, start.kinetic_energy, 1e-12);
  CHECK(cn_norm(cn_sub(now.angular_momentum, start.angular_momentum)) <
        1e-12 * cn_norm(start.angular_momentum));
  cn_world_destroy(s.world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(torque),
      cmocka_unit_test(free_tumbling),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
