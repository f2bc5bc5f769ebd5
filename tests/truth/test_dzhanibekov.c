// SPDX-License-Identifier: Apache-2.0
// A free body that spins about its middle axis turns over again and again. Period of the spin in
// body axes for I = (1, 2, 3), w = (.01, 1, 0): 41.509219529338 s. The spin is of second order in h
// as is the attitude.
#include "check.h"
#include "core/vec.h"
#include "worlds.h"

#define PERIOD 41.509219529338

typedef struct Spinner {
  CnWorld *world;
  CnBodyId body;
} Spinner;

static Spinner spinner(double h) {
  CnWorldDef def = world_def_exact(h);
  def.gravity = CN_VEC3_ZERO;
  Spinner s = {.world = world_make(&def)};
  CnTwist twist = {{0, 0, 0}, {0.01, 1, 0}};
  s.body = world_mass(s.world, 1, cn_vec3(1, 2, 3), world_at(0, 0, 0), twist);
  return s;
}

static CnVec3 body_spin(const Spinner *s) {
  return cn_unrotate(world_pose(s->world, s->body).rotation, world_twist(s->world, s->body).spin);
}

// Twice the time between the two passages of the middle spin through zero.
static double period(double h) {
  Spinner s = spinner(h);
  double passage[2] = {0, 0}, before = 1;
  for (int found = 0; found < 2;) {
    CnStepReport report = world_step(s.world);
    double now = body_spin(&s).y;
    if (now * before < 0) passage[found++] = report.time - h * now / (now - before);
    before = now;
    CHECK(report.time < 100);
  }
  cn_world_destroy(s.world);
  return 2 * (passage[1] - passage[0]);
}

static void period_and_order(void **state) {
  (void)state;
  CHECK_NEAR(period(1e-4), PERIOD, 1e-3);
  double coarse = fabs(period(0.2) - PERIOD), middle = fabs(period(0.1) - PERIOD);
  double fine = fabs(period(0.05) - PERIOD);
  CHECK(coarse > 1e-3);
  CHECK_NEAR(coarse / middle, 4, 0.4);
  CHECK_NEAR(middle / fine, 4, 0.2);
}

// Distance of the attitude after one period from the truth (q and -q are the same attitude).
static double attitude_error(int32_t steps) {
  Spinner s = spinner(PERIOD / steps);
  for (int32_t i = 0; i < steps; i++) world_step(s.world);
  CnQuat q = world_pose(s.world, s.body).rotation;
  cn_world_destroy(s.world);
  double dot = -0.65368437 * q.w - 0.00378379 * q.x - 0.75675784 * q.y;
  double sign = dot < 0 ? -1 : 1;
  CnQuat d = {sign * q.w + 0.65368437, sign * q.x + 0.00378379, sign * q.y + 0.75675784,
              sign * q.z};
  return sqrt(cn_qnorm2(d));
}

static void attitude(void **state) {
  (void)state;
  double coarse = attitude_error(1000), middle = attitude_error(2000);
  CHECK(attitude_error(20000) < 2e-5);
  CHECK_NEAR(coarse / middle, 4, 0.4);
}

// Energy and the size of the angular momentum stay, at any step.
static void invariants(void **state) {
  (void)state;
  const double steps[] = {1e-3, 0.1, 2};
  for (int i = 0; i < 3; i++) {
    Spinner s = spinner(steps[i]);
    CnWorldSums before, after;
    cn_world_sums(s.world, &before);
    for (int k = 0; k < 2000; k++) world_step(s.world);
    cn_world_sums(s.world, &after);
    CHECK_REL(after.kinetic_energy, before.kinetic_energy, 1e-11);
    CHECK_REL(cn_norm(after.angular_momentum), cn_norm(before.angular_momentum), 1e-11);
    cn_world_destroy(s.world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(period_and_order),
      cmocka_unit_test(attitude),
      cmocka_unit_test(invariants),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
