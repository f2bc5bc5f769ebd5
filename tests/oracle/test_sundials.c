// SPDX-License-Identifier: Apache-2.0
// SUNDIALS as an independent opinion: the same mechanisms by its explicit Runge-Kutta method of
// order 8 on accelerations found by an elimination of our own here, and the impacts of Housner's
// block by its root finding on the equation of one angle. Built only where SUNDIALS is installed.
#include <arkode/arkode_erkstep.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_context.h>

#include "check.h"
#include "mechanisms.h"

#include <string.h>

#include "core/math.h"

#define SIZE 16

// ---- accelerations ----

// Gauss with pivoting in long double.
static void eliminate(int n, long double a[SIZE][SIZE + 1]) {
  for (int k = 0; k < n; k++) {
    int best = k;
    for (int i = k; i < n; i++)
      if (fabsl(a[i][k]) > fabsl(a[best][k])) best = i;
    for (int j = 0; j <= n; j++) {
      long double t = a[k][j];
      a[k][j] = a[best][j];
      a[best][j] = t;
    }
    for (int i = 0; i < n; i++) {
      if (i == k) continue;
      long double f = a[i][k] / a[k][k];
      for (int j = k; j <= n; j++) a[i][j] -= f * a[k][j];
    }
  }
  for (int k = 0; k < n; k++) a[k][n] /= a[k][k];
}

// Curvature by Richardson's extrapolation of differences, so that no mechanism's own is used.
static void curvature(const Mechanism *m, double t, const double *q, const double *v, int rows,
                      double *result) {
  int n = m->system.v_count;
  static const int32_t all[MECHANISM_SIZE] = {0, 1, 2, 3, 4, 5, 6, 7};
  double e = 1e-3 / (1 + fabs(v[0])), sum[2][MECHANISM_SIZE] = {{0}};
  for (int level = 0; level < 2; level++, e /= 2)
    for (int side = -1; side <= 1; side += 2) {
      double moved[MECHANISM_SIZE], g[MECHANISM_SIZE * MECHANISM_SIZE], rate[MECHANISM_SIZE] = {0};
      for (int i = 0; i < n; i++) moved[i] = q[i] + side * e * v[i];
      m->equations.jacobian(m->system.context, t, moved, all, rows, g, rate);
      for (int i = 0; i < rows; i++)
        for (int j = 0; j < n; j++) sum[level][i] += side * g[i * n + j] * v[j] / (2 * e);
    }
  for (int i = 0; i < rows; i++) result[i] = (4 * sum[1][i] - sum[0][i]) / 3;
}

static int right_side(realtype t, N_Vector y, N_Vector ydot, void *data) {
  Mechanism *m = data;
  int n = m->system.v_count, k = m->equations.bilateral_count;
  static const int32_t all[MECHANISM_SIZE] = {0, 1, 2, 3, 4, 5, 6, 7};
  const double *q = N_VGetArrayPointer(y), *v = q + n;
  double mass[MECHANISM_SIZE * MECHANISM_SIZE], f[MECHANISM_SIZE], bend[MECHANISM_SIZE];
  double g[MECHANISM_SIZE * MECHANISM_SIZE], rate[MECHANISM_SIZE] = {0};
  long double a[SIZE][SIZE + 1] = {{0}};
  m->equations.mass(m, t, q, mass);
  m->equations.force(m, t, q, v, f);
  m->equations.jacobian(m, t, q, all, k, g, rate);
  curvature(m, t, q, v, k, bend);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) a[i][j] = mass[i * n + j];
    a[i][n + k] = f[i];
  }
  for (int i = 0; i < k; i++) {
    for (int j = 0; j < n; j++) {
      a[n + i][j] = g[i * n + j];
      a[j][n + i] = -g[i * n + j];
    }
    a[n + i][n + k] = -bend[i];
  }
  eliminate(n + k, a);
  double *out = N_VGetArrayPointer(ydot);
  for (int i = 0; i < n; i++) {
    out[i] = v[i];
    out[n + i] = (double)a[i][n + k];
  }
  return 0;
}

// ---- smooth motions ----

static void oracle(Mechanism *m, double end, double *result) {
  SUNContext context;
  int n = m->system.v_count;
  CHECK(SUNContext_Create(NULL, &context) == 0);
  N_Vector y = N_VNew_Serial(2 * n, context);
  double *at = N_VGetArrayPointer(y), t;
  memcpy(at, m->q, (size_t)n * sizeof *at);
  memcpy(at + n, m->v, (size_t)n * sizeof *at);
  void *solver = ERKStepCreate(right_side, 0, y, context);
  CHECK(ERKStepSetUserData(solver, m) == 0);
  CHECK(ERKStepSetOrder(solver, 8) == 0);
  CHECK(ERKStepSetMaxNumSteps(solver, 1000000) == 0);
  CHECK(ERKStepSStolerances(solver, 1e-12, 1e-12) == 0);
  CHECK(ERKStepEvolve(solver, end, y, &t, ARK_NORMAL) >= 0);
  memcpy(result, at, (size_t)n * sizeof *at);
  ERKStepFree(&solver);
  N_VDestroy(y);
  SUNContext_Free(&context);
}

static void compare(void (*make)(Mechanism *m), double end, double tolerance) {
  Mechanism m, ours;
  double theirs[MECHANISM_SIZE];
  make(&m);
  oracle(&m, end, theirs);
  static const char *const names[2] = {"hem5", "rkf45"};
  for (int k = 0; k < 2; k++) {
    CnIntegratorDef def = cn_integrator_def_default(names[k]);
    def.tolerance = 1e-12;
    def.projection = 1;
    make(&ours);
    CHECK_OK(mechanism_run(&ours, &def, NULL, end, end, NULL));
    for (int i = 0; i < m.system.v_count; i++) CHECK_NEAR(ours.q[i], theirs[i], tolerance);
  }
}

static void swing(Mechanism *m) { mechanism_pendulum(m, 1.2, 0.5); }

static void smooth(void **state) {
  (void)state;
  compare(swing, 3, 1e-8);
  compare(mechanism_four_bar, 2, 1e-7);
  compare(mechanism_rocking_corner, .5, 1e-9);
  compare(mechanism_squeezer, .01, 1e-7);
}

// ---- impacts ----

// One angle: (4/3) R theta'' = -g sin(alpha sgn(theta) - theta), impact at theta = 0 with
// theta' -> r theta', r = 1 - 3/2 sin^2 alpha.
static int rocking(realtype t, N_Vector y, N_Vector ydot, void *data) {
  (void)t, (void)data;
  double alpha = cni_atan2(.2, 1), radius = sqrt(1.04), *x = N_VGetArrayPointer(y);
  double *out = N_VGetArrayPointer(ydot), side = ((double *)data)[0];
  out[0] = x[1];
  out[1] = -.75 * 9.81 / radius * cni_sin(side * alpha - x[0]);
  return 0;
}

static int upright(realtype t, N_Vector y, realtype *root, void *data) {
  (void)t, (void)data;
  root[0] = N_VGetArrayPointer(y)[0];
  return 0;
}

static void housner(void **state) {
  (void)state;
  static const double times[5] = {0.4908644578, 1.3448047194, 2.1042644233, 2.7889314414,
                                  3.4118616200};
  SUNContext context;
  double side = 1, alpha = cni_atan2(.2, 1), t = 0;
  CHECK(SUNContext_Create(NULL, &context) == 0);
  N_Vector y = N_VNew_Serial(2, context);
  double *x = N_VGetArrayPointer(y);
  x[0] = alpha / 2;
  x[1] = 0;
  for (int i = 0; i < 5; i++) {
    void *solver = ERKStepCreate(rocking, t, y, context);
    CHECK(ERKStepSetUserData(solver, &side) == 0);
    CHECK(ERKStepSetOrder(solver, 8) == 0);
    CHECK(ERKStepSStolerances(solver, 1e-13, 1e-13) == 0);
    CHECK(ERKStepRootInit(solver, 1, upright) == 0);
    CHECK(ERKStepEvolve(solver, 10, y, &t, ARK_NORMAL) == ARK_ROOT_RETURN);
    CHECK_NEAR(t, times[i], 1e-7); // ours meets the same times in truth.events
    ERKStepFree(&solver);
    side = -side;
    x[0] = side * 1e-16;
    x[1] *= 1 - 1.5 * cni_sin(alpha) * cni_sin(alpha);
  }
  N_VDestroy(y);
  SUNContext_Free(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(smooth), cmocka_unit_test(housner)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
