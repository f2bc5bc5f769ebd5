// SPDX-License-Identifier: Apache-2.0
// RKF45: one step of Runge-Kutta-Fehlberg on the equations of index 1.
//
// Positions and velocities are one explicit system: at every stage
//
//     [ M  -D^T ] [ v' ]   [ f            ]
//     [ G    0  ] [ L  ] = [ -d/dt(G v+r) ]
//
// is solved at the stage's own place. The constraints hold for the accelerations only, so that g
// and g' drift with the error of the method. The order-5 result is kept, the order-4 one measures
// it. Six solutions a step, and one for the accelerations at the end, which are those of the next
// start. Dense output: cubic, from the values and slopes at both ends.
//
// Reference: Fehlberg 1969.
#include "integrator/events/drive.h"

#include "core/vec.h"

#include <string.h>

#define STAGES 6

static const double c[STAGES] = {0, 1.0 / 4, 3.0 / 8, 12.0 / 13, 1, 1.0 / 2};
static const double a[STAGES][STAGES - 1] = {
    {0},
    {1.0 / 4},
    {3.0 / 32, 9.0 / 32},
    {1932.0 / 2197, -7200.0 / 2197, 7296.0 / 2197},
    {439.0 / 216, -8, 3680.0 / 513, -845.0 / 4104},
    {-8.0 / 27, 2, -3544.0 / 2565, 1859.0 / 4104, -11.0 / 40}};
static const double b5[STAGES] = {16.0 / 135,      0,         6656.0 / 12825,
                                  28561.0 / 56430, -9.0 / 50, 2.0 / 55};
static const double b4[STAGES] = {25.0 / 216, 0, 1408.0 / 2565, 2197.0 / 4104, -1.0 / 5, 0};

typedef struct Parts {
  double *q_dot[STAGES + 1], *v_dot[STAGES + 1]; // stages and the end
  double *q, *v, *jacobian, *rate, *multipliers;
} Parts;

static int64_t numbers(const CniMotion *m) {
  int64_t nq = cni_pool_need(m->q_count), nv = cni_pool_need(m->v_count);
  int64_t g = cni_pool_need(m->entries), list = cni_pool_need(m->list_count);
  return (STAGES + 2) * (nq + nv) + g + 2 * list;
}

static Parts parts_of(const CniMotion *m, const CniStep *s) {
  Parts k;
  double *at = s->work;
  int32_t list = m->list_count;
  for (int i = 0; i <= STAGES; i++) k.q_dot[i] = cni_cut(&at, m->q_count);
  for (int i = 0; i <= STAGES; i++) k.v_dot[i] = cni_cut(&at, m->v_count);
  k.q = cni_cut(&at, m->q_count);
  k.v = cni_cut(&at, m->v_count);
  k.jacobian = cni_cut(&at, m->entries);
  k.rate = cni_cut(&at, list);
  k.multipliers = cni_cut(&at, list);
  return k;
}

static CnStatus slopes_at(CniMotion *m, Parts *k, double t, const double *q, const double *v,
                          const double *jacobian, const double *rate, int32_t i) {
  if (!jacobian) {
    CNI_TRY(cni_motion_jacobian(m, t, q, k->jacobian, k->rate));
    jacobian = k->jacobian;
    rate = k->rate;
  }
  cni_motion_kinematics(m, t, q, v, k->q_dot[i]);
  return cni_motion_accelerate(m, t, q, v, jacobian, rate, k->v_dot[i], k->multipliers);
}

static CnStatus step(CniMotion *m, CniStep *s) {
  Parts k = parts_of(m, s);
  int32_t nq = m->q_count, nv = m->v_count;
  s->dense_ready = 0;
  if (!s->start_known) {
    CNI_TRY(cni_motion_jacobian(m, s->t, s->q0, s->jacobian0, s->rate0));
    s->start_known = 1;
  }
  CNI_TRY(slopes_at(m, &k, s->t, s->q0, s->v0, s->jacobian0, s->rate0, 0));
  for (int32_t i = 1; i < STAGES; i++) {
    cni_step_combine(s->q0, s->h, a[i], k.q_dot, i, nq, k.q);
    cni_step_combine(s->v0, s->h, a[i], k.v_dot, i, nv, k.v);
    CNI_TRY(slopes_at(m, &k, s->t + c[i] * s->h, k.q, k.v, NULL, NULL, i));
  }
  cni_step_combine(s->q0, s->h, b4, k.q_dot, STAGES, nq, k.q);
  cni_step_combine(s->v0, s->h, b4, k.v_dot, STAGES, nv, k.v);
  cni_step_combine(s->q0, s->h, b5, k.q_dot, STAGES, nq, s->q1);
  cni_step_combine(s->v0, s->h, b5, k.v_dot, STAGES, nv, s->v1);
  s->error = cni_step_error(m, s, k.q, k.v);
  cni_motion_normalise(m, s->q1);
  return cni_motion_jacobian(m, s->t + s->h, s->q1, s->jacobian1, s->rate1);
}

static void hermite(double theta, double h, const double *x0, const double *d0, const double *x1,
                    const double *d1, int32_t count, double *x) {
  double u = theta, w = 1 - theta;
  double h00 = (1 + 2 * u) * w * w, h10 = u * w * w * h;
  double h01 = u * u * (3 - 2 * u), h11 = -u * u * w * h;
  for (int32_t i = 0; i < count; i++) x[i] = h00 * x0[i] + h10 * d0[i] + h01 * x1[i] + h11 * d1[i];
}

static CnStatus dense_state(CniMotion *m, CniStep *s, double theta, double *q, double *v) {
  Parts k = parts_of(m, s);
  if (!s->dense_ready)
    CNI_TRY(slopes_at(m, &k, s->t + s->h, s->q1, s->v1, s->jacobian1, s->rate1, STAGES));
  s->dense_ready = 1;
  hermite(theta, s->h, s->q0, k.q_dot[0], s->q1, k.q_dot[STAGES], m->q_count, q);
  cni_motion_normalise(m, q);
  if (v) hermite(theta, s->h, s->v0, k.v_dot[0], s->v1, k.v_dot[STAGES], m->v_count, v);
  return CN_OK;
}

static const CniStepper stepper = {
    .name = "rkf45", .order = 5, .numbers = numbers, .step = step, .dense = dense_state};

static CnStatus create(const CnIntegratorDef *def, const CnAllocator *allocator, void **state) {
  return cni_drive_create(def, allocator, &stepper, state);
}

const CnIntegratorKind cni_integrator_rkf45 = {
    .name = "rkf45",
    .summary = "Runge-Kutta-Fehlberg of order 5 (index 1) between located events, adaptive",
    .create = create,
    CNI_DRIVEN,
};
