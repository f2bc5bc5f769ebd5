// SPDX-License-Identifier: Apache-2.0
// Memory and error measure of one step, the same for every method (stepper.h).
#include "integrator/events/stepper.h"

#include "core/vec.h"

#include <string.h>

void cni_step_init(CniStep *s, const CnAllocator *allocator) {
  *s = (CniStep){.pool = {.allocator = *allocator}};
}

void cni_step_release(CniStep *s) { cni_pool_release(&s->pool); }

CnStatus cni_step_fit(CniStep *s, const CniStepper *stepper, CniMotion *m, const double *q,
                      const double *v) {
  int32_t nq = m->q_count, nv = m->v_count, list = m->list_count;
  CNI_TRY(CNI_CUT(&s->pool, CNI_ARRAY(nq, s->q0), CNI_ARRAY(nv, s->v0), CNI_ARRAY(nq, s->q1),
                  CNI_ARRAY(nv, s->v1), CNI_ARRAY(m->entries, s->jacobian0),
                  CNI_ARRAY(m->entries, s->jacobian1), CNI_ARRAY(list, s->rate0),
                  CNI_ARRAY(list, s->rate1), CNI_ARRAY(stepper->numbers(m), s->work)));
  memcpy(s->q0, q, (size_t)nq * sizeof *q);
  memcpy(s->v0, v, (size_t)nv * sizeof *v);
  s->start_known = s->dense_ready = 0;
  return CN_OK;
}

void cni_step_shift(CniStep *s) {
  CNI_SWAP(double *, s->q0, s->q1);
  CNI_SWAP(double *, s->v0, s->v1);
  CNI_SWAP(double *, s->jacobian0, s->jacobian1);
  CNI_SWAP(double *, s->rate0, s->rate1);
  s->t += s->h;
  s->start_known = 1;
  s->dense_ready = 0;
}

static double scaled(double tolerance, const double *x0, const double *x1, const double *x,
                     int32_t count) {
  double sum = 0;
  for (int32_t i = 0; i < count; i++) {
    double d = (x1[i] - x[i]) / (tolerance * (1 + cn_max(fabs(x0[i]), fabs(x1[i]))));
    sum += d * d;
  }
  return sum;
}

double cni_step_error(const CniMotion *m, const CniStep *s, const double *q, const double *v) {
  double sum = scaled(s->tolerance, s->q0, s->q1, q, m->q_count) +
               scaled(s->tolerance, s->v0, s->v1, v, m->v_count);
  int32_t count = m->q_count + m->v_count;
  return count > 0 ? sqrt(sum / count) : 0;
}

void cni_step_combine(const double *x0, double h, const double *weights, double *const *slopes,
                      int32_t terms, int32_t count, double *x) {
  memcpy(x, x0, (size_t)count * sizeof *x);
  for (int32_t j = 0; j < terms; j++) {
    double f = h * weights[j];
    if (f == 0) continue;
    for (int32_t i = 0; i < count; i++) x[i] += f * slopes[j][i];
  }
}
