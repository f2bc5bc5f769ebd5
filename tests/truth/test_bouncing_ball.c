// SPDX-License-Identifier: Apache-2.0
// A ball dropped from 1 m: time and speed of the first impact, height of the bounce, time of rest.
// Times are of first order in h; heights are of second order, as a ball bounces at the time and with
// the speed of its touch. Where within its step an impact falls changes the error, so order is shown on
// the mean over neighbouring steps.
#include "check.h"
#include "core/vec.h"
#include "worlds.h"

#define IMPACT_TIME 0.451523640986
#define IMPACT_SPEED 4.42944691807
#define REST_TIME 1.354570922957 // e = 0.5
#define RADIUS 0.1

typedef struct Drop {
  CnWorld *world;
  CnBodyId ball;
} Drop;

static Drop drop(double h, double restitution, double threshold) {
  CnWorldDef def = world_def_exact(h);
  def.restitution_threshold = threshold;
  Drop d = {.world = world_make(&def)};
  CnMaterialId material = world_material(d.world, 0.3, restitution);
  world_floor(d.world, material);
  d.ball = world_ball(d.world, RADIUS, 1, cn_vec3(0, 0, 1 + RADIUS), CN_VEC3_ZERO, material);
  return d;
}

static double height(const Drop *d) { return world_pose(d->world, d->ball).position.z - RADIUS; }
static double speed(const Drop *d) { return world_twist(d->world, d->ball).velocity.z; }

static void first_impact(void **state) {
  (void)state;
  const double steps[] = {1e-2, 1e-3, 1e-4};
  for (int i = 0; i < 3; i++) {
    double h = steps[i], before = 0;
    Drop d = drop(h, 0.8, 0.01);
    CnStepReport report;
    do {
      before = speed(&d);
      report = world_step_converged(d.world);
    } while (speed(&d) < 0);
    CHECK_NEAR(report.time, IMPACT_TIME, 2 * h);
    CHECK_NEAR(-before, IMPACT_SPEED, 2 * 9.81 * h);
    CHECK_NEAR(speed(&d), 0.8 * IMPACT_SPEED, 9.81 * h);
    cn_world_destroy(d.world);
  }
}

// Height of the first bounce, from the highest place between two impacts.
static double apex(double h, double restitution) {
  Drop d = drop(h, restitution, 0.01);
  while (speed(&d) <= 0) world_step_converged(d.world);
  double top = 0;
  while (speed(&d) > 0) {
    world_step_converged(d.world);
    top = cn_max(top, height(&d));
  }
  cn_world_destroy(d.world);
  return top;
}

// Mean error over steps between h and 1.2 h.
static double mean_error(double h, double restitution, double truth) {
  double sum = 0;
  for (int i = 0; i < 40; i++) sum += fabs(apex(h * (1 + 0.005 * i), restitution) - truth);
  return sum / 40;
}

static void bounce(double restitution) {
  double truth = restitution * restitution;
  for (double h = 1e-2; h > 5e-5; h /= 3) CHECK_NEAR(apex(h, restitution), truth, 9.81 * h * h);
  double coarse = mean_error(4e-3, restitution, truth), fine = mean_error(1e-3, restitution, truth);
  CHECK(coarse / fine > 10);
}

static void bounce_08(void **state) {
  (void)state;
  bounce(0.8);
}

static void bounce_05(void **state) {
  (void)state;
  bounce(0.5);
}

// With e = 0.5 the ball rests after infinitely many bounces in finite time, and stays. An impact is
// late by up to two steps; impacts below the threshold do not bounce, which cuts the series short
// by at most 2 e v/(g (1 - e)). With the threshold at the speed gained in a step both are of order
// h. At rest is what is slower than a tenth of the speed gained in a step.
static void comes_to_rest(void **state) {
  (void)state;
  const double steps[] = {1e-3, 1e-4, 2e-5};
  for (int i = 0; i < 3; i++) {
    double h = steps[i], moving = 0, last = 0;
    int bounces = 0;
    Drop d = drop(h, 0.5, 9.81 * h);
    while (world_info(d.world).time < 1.6) {
      CnStepReport report = world_step_converged(d.world);
      double now = speed(&d);
      bounces += last < 0 && now > 0;
      last = now;
      if (fabs(now) > 0.1 * 9.81 * h) moving = report.time;
    }
    CHECK(bounces >= 8);
    CHECK_NEAR(moving, REST_TIME, 3 * h * bounces + 2 * h);
    // what is left of the last gap closes by contact_stabilisation of itself per step
    for (int k = 0; k < 1000; k++) world_step_converged(d.world);
    CHECK_NEAR(height(&d), 0, 1e-9);
    cn_world_destroy(d.world);
  }
}

// No restitution: the ball stops at once and its floor carries its weight.
static void no_bounce(void **state) {
  (void)state;
  Drop d = drop(1e-3, 0, 0.01);
  while (world_info(d.world).time < 1) world_step_converged(d.world);
  CHECK_NEAR(speed(&d), 0, 1e-12);
  CHECK_NEAR(height(&d), 0, 1e-12);
  CnContact c;
  CHECK_OK(cn_world_contact(d.world, 0, &c));
  CHECK_REL(fabs(c.force.z), 9.81, 1e-12);
  cn_world_destroy(d.world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(first_impact),  cmocka_unit_test(bounce_08), cmocka_unit_test(bounce_05),
      cmocka_unit_test(comes_to_rest), cmocka_unit_test(no_bounce),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
