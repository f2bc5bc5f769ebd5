// SPDX-License-Identifier: Apache-2.0
// A one-step method between events: what the event driver asks of hem5 and of rkf45.
#ifndef CNI_STEPPER_H
#define CNI_STEPPER_H

#include "integrator/motion.h"

// One step and everything its dense output needs. Sizes are those of the motion.
typedef struct CniStep {
  double t, h;
  double *q0, *v0, *q1, *v1;
  double *jacobian0, *rate0, *jacobian1, *rate1; // of the list, at both ends
  int32_t start_known;                           // jacobian0 belongs to q0
  int32_t dense_ready;
  double tolerance;
  double error; // scaled: 1 is the tolerance
  CniPool pool;
  double *work; // of the method
} CniStep;

typedef struct CniStepper {
  const char *name;
  double order; // error grows as h^order
  int64_t (*numbers)(const CniMotion *m);
  // q1, v1, jacobian1 and the error from q0, v0.
  CnStatus (*step)(CniMotion *m, CniStep *s);
  // The state at t + theta h; v may be null.
  CnStatus (*dense)(CniMotion *m, CniStep *s, double theta, double *q, double *v);
} CniStepper;

// The next piece of a method's work.
static inline double *cni_cut(double **at, int32_t count) {
  double *piece = *at;
  *at += cni_pool_need(count);
  return piece;
}

void cni_step_init(CniStep *s, const CnAllocator *allocator);
void cni_step_release(CniStep *s);
// Cut the memory for the motion's present rows; q0 and v0 are set to the state given, which may be
// the step's own.
CnStatus cni_step_fit(CniStep *s, const CniStepper *stepper, CniMotion *m, const double *q,
                      const double *v);
// The end becomes the start.
void cni_step_shift(CniStep *s);
// rms of (x - y) / (tolerance (1 + max(|x0|, |x|))) over q and v together.
double cni_step_error(const CniMotion *m, const CniStep *s, const double *q, const double *v);

// x = x0 + h sum_j weights_j slopes_j, of Runge-Kutta's methods.
void cni_step_combine(const double *x0, double h, const double *weights, double *const *slopes,
                      int32_t terms, int32_t count, double *x);

#endif
