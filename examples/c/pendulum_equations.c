// SPDX-License-Identifier: Apache-2.0
// A pendulum as a system of equations: mass, force, one constraint, followed by hem5.
#include <cairn/system.h>
#include <stdio.h>
#include <string.h>

typedef struct Pendulum {
  double t, q[2], v[2]; // m, m/s
} Pendulum;

static CnStatus mass(void *context, double t, const double *q, double *m) {
  (void)context, (void)t, (void)q;
  m[0] = m[3] = 1;
  m[1] = m[2] = 0;
  return CN_OK;
}

static CnStatus force(void *context, double t, const double *q, const double *v, double *f) {
  (void)context, (void)t, (void)q, (void)v;
  f[0] = 0;
  f[1] = -9.81;
  return CN_OK;
}

static CnStatus gaps(void *context, double t, const double *q, double *g) {
  (void)context, (void)t;
  g[0] = (q[0] * q[0] + q[1] * q[1] - 1) / 2; // the rod is 1 m long
  return CN_OK;
}

static CnStatus jacobian(void *context, double t, const double *q, const int32_t *rows,
                         int32_t count, double *result, double *rate) {
  (void)context, (void)t, (void)rows, (void)count, (void)rate;
  memcpy(result, q, 2 * sizeof *q);
  return CN_OK;
}

static CnStatus done(void *context, double t, const double *q, const double *v,
                     const CnAnswer *none) {
  Pendulum *p = context;
  (void)none;
  p->t = t;
  memcpy(p->q, q, sizeof p->q);
  memcpy(p->v, v, sizeof p->v);
  return CN_OK;
}

int main(void) {
  Pendulum p = {0, {-1, 0}, {0, 0}};
  CnEquations equations = {
      .bilateral_count = 1, .mass = mass, .force = force, .gaps = gaps, .jacobian = jacobian};
  CnSystem system = {
      .context = &p, .q_count = 2, .v_count = 2, .done = done, .equations = &equations};
  CnIntegratorDef def = cn_integrator_def_default("hem5");
  CnIntegrator *integrator;
  CnIntegratorReport report;
  def.tolerance = 1e-10;
  CnStatus status = cn_integrator_create(&def, &integrator);
  if (status == CN_OK) status = cn_integrator_step(integrator, &system, NULL, 0, p.q, p.v, 1, NULL);
  cn_integrator_report(integrator, &report);
  if (status != CN_OK) return fprintf(stderr, "%s\n", cn_error_message()), 1;
  printf("t = %g s: x = %.9f, y = %.9f m, %d steps, |g'| <= %.1g\n", p.t, p.q[0], p.q[1],
         (int)report.steps, report.velocity_drift);
  cn_integrator_destroy(integrator);
  return 0;
}
