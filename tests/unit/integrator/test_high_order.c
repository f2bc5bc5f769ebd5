// SPDX-License-Identifier: Apache-2.0
// hem5 and rkf45 between events: orders, drift, dense output, projection, the mechanisms with known
// answers.
#include "check.h"
#include "mechanisms.h"

#include <string.h>

#include "core/math.h"

static double distance(const double *x, const double *y, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += (x[i] - y[i]) * (x[i] - y[i]);
  return sqrt(sum);
}

static CnIntegratorDef fixed_def(const char *name, double h) {
  CnIntegratorDef def = cn_integrator_def_default(name);
  def.projection = 0; // the method itself
  def.tolerance = 0;
  def.step = h;
  return def;
}

// ---- orders ----

typedef struct Errors {
  double q, v, drift, speed;
} Errors;

// phi0 = 1.2, phi0' = .5, T = 2; the reference by hem5 with 4000 steps.
static Errors pendulum_errors(const char *name, int steps, const Mechanism *truth) {
  Mechanism m;
  CnIntegratorDef def = fixed_def(name, 2.0 / steps);
  CnIntegratorReport report;
  mechanism_pendulum(&m, 1.2, 0.5);
  CHECK_OK(mechanism_run(&m, &def, NULL, 2, 2, &report));
  CHECK(report.steps == steps);
  return (Errors){distance(m.q, truth->q, 2), distance(m.v, truth->v, 2), 2 * report.position_drift,
                  report.velocity_drift};
}

static void pendulum_table(void **state) {
  (void)state;
  // n, error of q, of v, drift of x^2 + y^2 - 1
  static const double table[5][4] = {{20, 1.19e-5, 2.33e-4, 3.3e-5},
                                     {40, 6.36e-7, 8.22e-6, 1.2e-6},
                                     {80, 2.34e-8, 2.62e-7, 3.9e-8},
                                     {160, 7.79e-10, 8.18e-9, 1.2e-9},
                                     {320, 2.50e-11, 2.55e-10, 3.9e-11}};
  Mechanism truth;
  CnIntegratorDef def = fixed_def("hem5", 2.0 / 4000);
  mechanism_pendulum(&truth, 1.2, 0.5);
  CHECK_OK(mechanism_run(&truth, &def, NULL, 2, 2, NULL));
  Errors before = {0};
  for (int i = 0; i < 5; i++) {
    Errors e = pendulum_errors("hem5", (int)table[i][0], &truth);
    CHECK(e.q < 2 * table[i][1] && e.q > 0.5 * table[i][1]);
    CHECK(e.v < 2 * table[i][2] && e.v > 0.5 * table[i][2]);
    CHECK(e.drift < 2 * table[i][3]);
    CHECK(e.speed < 1e-15);
    if (i >= 3) CHECK(before.q / e.q > 27.9 && before.v / e.v > 27.9); // 2^4.8
    before = e;
  }
  Errors last = pendulum_errors("hem5", 640, &truth);
  CHECK(before.q / last.q > 27.9 && before.v / last.v > 27.9);
}

// Orders of a method on a smooth system without constraints, and of rkf45 on the pendulum.
static void orders(void **state) {
  (void)state;
  static const char *const names[2] = {"hem5", "rkf45"};
  for (int k = 0; k < 2; k++) {
    Mechanism truth;
    CnIntegratorDef def = fixed_def(names[k], 1e-3);
    mechanism_oscillator(&truth);
    CHECK_OK(mechanism_run(&truth, &def, NULL, 2, 2, NULL));
    double before = 0;
    for (int steps = 20; steps <= 160; steps *= 2) {
      Mechanism m;
      def = fixed_def(names[k], 2.0 / steps);
      mechanism_oscillator(&m);
      CHECK_OK(mechanism_run(&m, &def, NULL, 2, 2, NULL));
      double error = distance(m.q, truth.q, 2) + distance(m.v, truth.v, 2);
      if (steps > 20) CHECK(before / error > 27.9);
      before = error;
    }
  }
  Mechanism truth;
  CnIntegratorDef def = fixed_def("hem5", 2.0 / 4000);
  mechanism_pendulum(&truth, 1.2, 0.5);
  CHECK_OK(mechanism_run(&truth, &def, NULL, 2, 2, NULL));
  Errors before = pendulum_errors("rkf45", 40, &truth);
  for (int steps = 80; steps <= 320; steps *= 2) {
    Errors e = pendulum_errors("rkf45", steps, &truth);
    CHECK(before.q / e.q > 27.9 && before.v / e.v > 27.9);
    before = e;
  }
}

// ---- dense output ----

typedef struct Dense {
  Mechanism *truth;
  double q_error, v_error, constraint;
} Dense;

// At theta = .37 of every step, against the method itself with tiny steps from the same start.
static void dense_point(void *context, CnIntegrator *integrator, const CnPoint *point) {
  Dense *d = context;
  double start = point->time - point->step, t = start + 0.37 * point->step, q[2], v[2];
  CHECK_OK(cn_integrator_dense(integrator, t, q, v));
  CHECK_STATUS(cn_integrator_dense(integrator, point->time + point->step, q, v),
               CN_INVALID_ARGUMENT);
  CHECK_OK(cn_integrator_dense(integrator, t, q, v));
  double u = fabs(q[0] * v[0] + q[1] * v[1]);
  if (u > d->constraint) d->constraint = u;
  CnIntegratorDef def = fixed_def("hem5", (t - d->truth->t) / 40);
  CHECK_OK(mechanism_run(d->truth, &def, NULL, t, t - d->truth->t, NULL));
  d->q_error = fmax(d->q_error, distance(q, d->truth->q, 2));
  d->v_error = fmax(d->v_error, distance(v, d->truth->v, 2));
  // at the end of the step the dense output is the step
  CHECK_OK(cn_integrator_dense(integrator, point->time, q, v));
  CHECK(distance(q, point->q, 2) < 1e-13 && distance(v, point->v, 2) < 1e-12);
}

static Dense dense_errors(int steps) {
  Mechanism m, truth;
  mechanism_pendulum(&m, 1.2, 0.5);
  mechanism_pendulum(&truth, 1.2, 0.5);
  Dense d = {&truth, 0, 0, 0};
  CnIntegratorDef def = fixed_def("hem5", 2.0 / steps);
  def.observer = (CnObserver){&d, dense_point, NULL};
  CHECK_OK(mechanism_run(&m, &def, NULL, 2, 2, NULL));
  return d;
}

static void dense_output(void **state) {
  (void)state;
  Dense before = dense_errors(20);
  CHECK(before.constraint < 2e-15);
  for (int steps = 40; steps <= 160; steps *= 2) {
    Dense d = dense_errors(steps);
    CHECK(d.constraint < 2e-15);
    CHECK(before.q_error / d.q_error > 13.9 && before.v_error / d.v_error > 13.9); // 2^3.8
    before = d;
  }
  CnIntegratorDef def = cn_integrator_def_default("hem5");
  CnIntegrator *integrator;
  double q[2];
  CHECK_OK(cn_integrator_create(&def, &integrator));
  CHECK_STATUS(cn_integrator_dense(integrator, 0, q, NULL), CN_UNSUPPORTED);
  cn_integrator_destroy(integrator);
}

// ---- known answers ----

static void pendulum_truth(void **state) {
  (void)state;
  static const char *const names[2] = {"hem5", "rkf45"};
  for (int k = 0; k < 2; k++) {
    Mechanism m;
    CnIntegratorDef def = cn_integrator_def_default(names[k]);
    def.tolerance = 1e-12;
    def.projection = k; // rkf45 drifts
    mechanism_pendulum(&m, -CNI_PI / 2, 0);
    m.q[0] = -1;
    m.q[1] = m.v[0] = m.v[1] = 0;
    CHECK_OK(mechanism_run(&m, &def, NULL, 1, 1, NULL));
    CHECK_NEAR(m.q[0], 0.9862917511319, 1e-9);
    CHECK_NEAR(m.q[1], -0.1650108531255, 1e-9);
    CHECK_OK(mechanism_run(&m, &def, NULL, 10, 9, NULL));
    CHECK_NEAR(m.q[0], -0.2750874625761, 1e-9);
    CHECK_NEAR(m.q[1], -0.9614192050991, 1e-9);
  }
}

static void squeezer(void **state) {
  (void)state;
  Mechanism m;
  mechanism_squeezer(&m);
  double a[7];
  static const int32_t rows[6] = {0, 1, 2, 3, 4, 5};
  CnAllocator allocator = cn_allocator_default();
  CHECK_OK(cn_equations_accelerations(&m.system, &allocator, 0, m.q, m.v, rows, 6, a, NULL));
  CHECK_NEAR(a[0], 14222.4439199541, 1e-7);
  CHECK_NEAR(mechanism_squeezer_energy(&m), 1.437832957532140, 1e-13);
  CnIntegratorDef def = cn_integrator_def_default("hem5");
  def.tolerance = 1e-12;
  CnIntegratorReport report;
  CHECK_OK(mechanism_run(&m, &def, NULL, 0.03, 0.03, &report));
  CHECK_NEAR(m.q[0], 15.8107711951537, 1e-9);
  CHECK_NEAR(m.q[1], -15.7563710584118, 1e-9);
  CHECK_NEAR(m.q[2], 0.040822240119646, 1e-9);
  CHECK_NEAR(m.q[3], -0.534730116342080, 1e-9);
  CHECK_NEAR(m.q[4], 0.524409965879954, 1e-9);
  CHECK_NEAR(m.q[6], 1.048080741041938, 1e-9);
  CHECK_NEAR(mechanism_squeezer_energy(&m), 1.437832957532140, 1e-9);
}

static void four_bar(void **state) {
  (void)state;
  Mechanism m;
  mechanism_four_bar(&m);
  CnIntegratorDef def = cn_integrator_def_default("hem5");
  def.tolerance = 1e-10;
  def.step_max = 1e-2;
  CnIntegratorReport report;
  CHECK_OK(mechanism_run(&m, &def, NULL, 1, 1, NULL));
  CHECK_NEAR(m.q[0], 2.620034748349, 1e-9);
  CHECK_NEAR(m.q[1], .559893022285, 1e-9);
  CHECK_NEAR(m.q[2], 1.344953766479, 1e-9);
  CHECK_OK(mechanism_run(&m, &def, NULL, 5, 4, &report));
  CHECK_NEAR(m.q[0], 5.116731000805, 1e-8);
  CHECK_NEAR(m.q[1], 1.668218542194, 1e-8);
  CHECK_NEAR(m.q[2], 2.022127550070, 1e-8);
  CHECK(report.velocity_drift <= 1e-13);
  CHECK(report.position_drift <= 4e-11);
  double mass[9], energy = -6 * m.q[0];
  m.equations.mass(&m, 5, m.q, mass);
  for (int i = 0; i < 9; i++) energy += 0.5 * m.v[i / 3] * mass[i] * m.v[i % 3];
  CHECK_NEAR(energy, -3 * CNI_PI, 1e-8);
}

// ---- drift, projection, bad starts ----

static void drift(void **state) {
  (void)state;
  Mechanism m;
  CnIntegratorReport report;
  CnIntegratorDef def = cn_integrator_def_default("rkf45");
  def.tolerance = def.drift_limit = 1e-6;
  def.projection = 0;
  mechanism_four_bar(&m);
  CHECK_OK(mechanism_run(&m, &def, NULL, 2, 2, &report));
  CHECK(report.position_drift <= 1e-6 && report.velocity_drift <= 1e-6 && report.steps > 10);

  // projection brings it to round-off
  mechanism_four_bar(&m);
  def.drift_limit = 0;
  def.projection = 1;
  CHECK_OK(mechanism_run(&m, &def, NULL, 2, 2, &report));
  CHECK(report.position_drift <= 1e-14 && report.velocity_drift <= 1e-13);
  CHECK(report.projections == report.steps);

  // without either it drifts
  mechanism_four_bar(&m);
  def.projection = 0;
  CHECK_OK(mechanism_run(&m, &def, NULL, 2, 2, &report));
  CHECK(report.position_drift > 1e-8);
}

static void bad_start(void **state) {
  (void)state;
  Mechanism m;
  CnIntegratorReport report;
  CnIntegratorDef def = cn_integrator_def_default("hem5");
  mechanism_pendulum(&m, 1, 0);
  m.q[0] *= 1.001;
  m.q[1] *= 1.001;
  def.project_start = 0;
  CHECK_STATUS(mechanism_run(&m, &def, NULL, 1, 1, &report), CN_STOPPED);
  CHECK(strstr(cn_error_message(), "bilateral constraint 0: g = 0.001") != NULL);
  CHECK(m.done_count == 0);
  def.project_start = 1;
  def.projection = 0;
  m.v[0] = 0.3;
  CHECK_OK(mechanism_run(&m, &def, NULL, 1, 1, &report));
  CHECK(report.projections == 1);
  CHECK_NEAR(m.q[0] * m.q[0] + m.q[1] * m.q[1], 1, 1e-5);
  CHECK_NEAR(m.q[0] * m.v[0] + m.q[1] * m.v[1], 0, 1e-14);
}

static CnStatus flat_mass(void *context, double t, const double *q, double *mass) {
  (void)context, (void)t, (void)q;
  mass[0] = mass[1] = mass[2] = mass[3] = 1;
  return CN_OK;
}

static CnStatus no_row(void *context, double t, const double *q, const int32_t *rows, int32_t count,
                       double *jacobian, double *rate) {
  (void)context, (void)t, (void)q, (void)rows, (void)count, (void)rate;
  jacobian[0] = q[0] * (t < 0.5); // the constraint ends in the middle of the motion
  jacobian[1] = q[1] * (t < 0.5);
  return CN_OK;
}

static CnStatus wild_force(void *context, double t, const double *q, const double *v, double *f) {
  (void)context, (void)q, (void)v;
  f[0] = t < 0.25 ? 1 : NAN;
  f[1] = 0;
  return CN_OK;
}

static void breakdowns(void **state) {
  (void)state;
  static const char *const names[2] = {"hem5", "rkf45"};
  for (int k = 0; k < 2; k++) {
    Mechanism m;
    CnIntegratorReport report;
    CnIntegratorDef def = cn_integrator_def_default(names[k]);
    mechanism_pendulum(&m, 1, 0);
    m.equations.mass = flat_mass;
    CHECK_STATUS(mechanism_run(&m, &def, NULL, 1, 1, &report), CN_STOPPED);
    CHECK(strstr(cn_error_message(), "mass matrix is not positive definite (row 1") != NULL);

    mechanism_pendulum(&m, 1, 0);
    m.equations.jacobian = no_row;
    CHECK_STATUS(mechanism_run(&m, &def, NULL, 1, 1, &report), CN_STOPPED);
    CHECK(strstr(cn_error_message(), "constraint matrix is singular") != NULL);
    CHECK_NEAR(report.time, 0.5, 1e-3);
    CHECK(m.done_count == 0);

    mechanism_oscillator(&m);
    m.equations.force = wild_force;
    CHECK_STATUS(mechanism_run(&m, &def, NULL, 1, 1, &report), CN_STOPPED);
    CHECK(strstr(cn_error_message(), "makes no progress") != NULL);
    CHECK_NEAR(report.time, 0.25, 1e-3);

    mechanism_pendulum(&m, 1, 0);
    def.max_steps = 5;
    CHECK_STATUS(mechanism_run(&m, &def, NULL, 10, 10, &report), CN_STOPPED);
    CHECK(strstr(cn_error_message(), "more than 5 steps") != NULL);
  }
}

static void refused(void **state) {
  (void)state;
  Mechanism m;
  mechanism_pendulum(&m, 1, 0);
  CnIntegratorDef def = cn_integrator_def_default("hem5");
  def.theta = 0.3;
  CHECK_STATUS(mechanism_run(&m, &def, NULL, 1, 1, NULL), CN_INVALID_ARGUMENT);
  def = cn_integrator_def_default("hem5");
  def.tolerance = -1;
  CHECK_STATUS(mechanism_run(&m, &def, NULL, 1, 1, NULL), CN_INVALID_ARGUMENT);
  def = cn_integrator_def_default("hem5");
  m.system.equations = NULL;
  CHECK_STATUS(mechanism_run(&m, &def, NULL, 1, 1, NULL), CN_UNSUPPORTED);
  m.system.equations = &m.equations;
  m.equations.mass = NULL;
  CHECK_STATUS(mechanism_run(&m, &def, NULL, 1, 1, NULL), CN_INVALID_ARGUMENT);
  def = cn_integrator_def_default("impulse");
  CHECK_STATUS(mechanism_run(&m, &def, NULL, 1, 1, NULL), CN_INVALID_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pendulum_table), cmocka_unit_test(orders),    cmocka_unit_test(dense_output),
      cmocka_unit_test(pendulum_truth), cmocka_unit_test(squeezer),  cmocka_unit_test(four_bar),
      cmocka_unit_test(drift),          cmocka_unit_test(bad_start), cmocka_unit_test(breakdowns),
      cmocka_unit_test(refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
