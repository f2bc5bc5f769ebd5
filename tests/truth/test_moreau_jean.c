// SPDX-License-Identifier: Apache-2.0
// moreau-jean: the woodpecker toy digit by digit, order 1 across impacts, order 2 between them, the
// projected variant, and any solver of the table.
#include "check.h"
#include "mechanisms.h"

#include <string.h>

#include "core/math.h"

static CnSolver *solver_of(const char *name) {
  CnSolverDef def = cn_solver_def_default(name);
  CnSolver *solver;
  def.tolerance = 1e-14;
  def.max_iterations = 2000;
  def.local = CN_LOCAL_EXACT;
  CHECK_OK(cn_solver_create(&def, &solver));
  return solver;
}

static void woodpecker(void **state) {
  (void)state;
  Mechanism m;
  CnIntegratorDef def = cn_integrator_def_default("moreau-jean");
  CnSolver *solver = solver_of("auto");
  mechanism_woodpecker(&m);
  CHECK_OK(mechanism_run(&m, &def, solver, .29998, 2e-5, NULL));
  CHECK(m.done_count == 14999);
  CHECK_NEAR(m.q[0], -0.041348186768, 1e-9);
  CHECK_NEAR(m.v[0], -0.260137330791, 1e-9);
  CHECK_NEAR(m.q[1], -0.103468468272, 1e-9);
  CHECK_NEAR(m.q[2], -0.340933975550, 1e-9);
  CHECK_NEAR(m.v[2], -8.327555353239, 1e-9);
  cn_solver_destroy(solver);
}

// Error of the height of a bouncing ball against its closed form, mean over the time.
static double bounce_error(CnIntegrator *integrator, CnSolver *solver, double z0, int steps) {
  Mechanism m;
  double t1 = sqrt(2 * z0 / 9.81), e = .8, sum = 0, h = 1.2 / steps;
  mechanism_ball(&m, z0, e);
  for (int i = 0; i < steps; i++) {
    CHECK_OK(cn_integrator_step(integrator, &m.system, solver, i * h, m.q, m.v, h, NULL));
    double t = (i + 1) * h, from = t1, v = e * 9.81 * t1, z = z0 - 9.81 * t * t / 2;
    while (t > from) {
      z = v * (t - from) - 9.81 * (t - from) * (t - from) / 2;
      from += 2 * v / 9.81;
      v *= e;
    }
    sum += fabs(m.q[0] - z) / steps;
  }
  return sum;
}

// Where in its step an impact falls is chance: mean over a hundred heights.
static double mean_bounce_error(int steps) {
  CnIntegratorDef def = cn_integrator_def_default("moreau-jean");
  CnIntegrator *integrator;
  CnSolver *solver = solver_of("lemke");
  CHECK_OK(cn_integrator_create(&def, &integrator));
  double sum = 0;
  for (int i = 0; i < 100; i++)
    sum += bounce_error(integrator, solver, .8 + .4 * fmod(i * .6180339887, 1), steps) / 100;
  cn_integrator_destroy(integrator);
  cn_solver_destroy(solver);
  return sum;
}

static void order_across_impacts(void **state) {
  (void)state;
  // over three halvings: 2^(3 .95)
  double coarse = mean_bounce_error(200), fine = mean_bounce_error(1600);
  CHECK(coarse / fine >= 7.2);
  CHECK(fine < 1e-3 && fine > 1e-6);
}

static double smooth_error(int steps, double theta, const Mechanism *truth) {
  Mechanism m;
  CnIntegratorDef def = cn_integrator_def_default("moreau-jean");
  CnSolver *solver = solver_of("psor");
  def.theta = theta;
  mechanism_oscillator(&m);
  CHECK_OK(mechanism_run(&m, &def, solver, 2, 2.0 / steps, NULL));
  cn_solver_destroy(solver);
  double sum = 0;
  for (int i = 0; i < 2; i++) sum += fabs(m.q[i] - truth->q[i]) + fabs(m.v[i] - truth->v[i]);
  return sum;
}

static void order_on_smooth_arcs(void **state) {
  (void)state;
  Mechanism truth;
  CnIntegratorDef def = cn_integrator_def_default("hem5");
  def.tolerance = 1e-13;
  mechanism_oscillator(&truth);
  CHECK_OK(mechanism_run(&truth, &def, NULL, 2, 2, NULL));
  double before = smooth_error(50, .5, &truth);
  for (int steps = 100; steps <= 400; steps *= 2) {
    double error = smooth_error(steps, .5, &truth);
    CHECK(before / error >= 3.49); // 2^1.8
    before = error;
  }
  // theta = 1 is of order 1
  CHECK_NEAR(smooth_error(400, 1, &truth) / smooth_error(800, 1, &truth), 2, .1);
}

// A pendulum drifts; projected, it stays.
static void projected(void **state) {
  (void)state;
  Mechanism m;
  CnIntegratorDef def = cn_integrator_def_default("moreau-jean");
  CnSolver *solver = solver_of("auto");
  CnIntegratorReport report;
  mechanism_pendulum(&m, 1, 0);
  CHECK_OK(mechanism_run(&m, &def, solver, 1, 1e-3, &report));
  double drift = fabs(m.q[0] * m.q[0] + m.q[1] * m.q[1] - 1);
  CHECK(drift > 1e-9 && drift < 1e-2);
  def.projection = 1;
  mechanism_pendulum(&m, 1, 0);
  CHECK_OK(mechanism_run(&m, &def, solver, 1, 1e-3, &report));
  CHECK_NEAR(m.q[0] * m.q[0] + m.q[1] * m.q[1], 1, 1e-14);
  CHECK_NEAR(m.q[0] * m.v[0] + m.q[1] * m.v[1], 0, 1e-14);
  cn_solver_destroy(solver);
}

// The cradle's simultaneous law with every solver that takes such problems.
static void any_solver(void **state) {
  (void)state;
  for (int32_t i = 0; cn_solver_name(i); i++) {
    Mechanism m;
    CnIntegratorDef def = cn_integrator_def_default("moreau-jean");
    CnSolver *solver = solver_of(cn_solver_name(i));
    mechanism_cradle(&m, 1);
    CHECK_OK(mechanism_run(&m, &def, solver, 1e-3, 1e-3, NULL));
    CHECK_NEAR(m.v[0], -1.0 / 3, 1e-9);
    CHECK_NEAR(m.v[2], 2.0 / 3, 1e-9);
    cn_solver_destroy(solver);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(woodpecker),
                                     cmocka_unit_test(order_across_impacts),
                                     cmocka_unit_test(order_on_smooth_arcs),
                                     cmocka_unit_test(projected), cmocka_unit_test(any_solver)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
