// SPDX-License-Identifier: Apache-2.0
// The frame of a first-order solve: vectors, convergence checks, the best point so far, and the
// outer shifts of Coulomb's law. apgd and spg differ in how they go from one point to the next.
#ifndef CNI_SOLVER_DESCENT_H
#define CNI_SOLVER_DESCENT_H

#include "solver/gradients/gradient.h"

#define CNI_DESCENT_POINTS 3

typedef struct CniDescent {
  CnAllocator allocator;
  CnSolverDef def;
  CniGradient gradient;
  double *x[CNI_DESCENT_POINTS], *image[CNI_DESCENT_POINTS]; // 0: the present point
  double *best, *u;
  int32_t x_capacity[CNI_DESCENT_POINTS], image_capacity[CNI_DESCENT_POINTS], best_capacity,
      u_capacity;

  int32_t eager; // 1: the shifts are brought up to date at every check, with all slip

  // the present solve
  double start;                // clock
  double residual, kept;       // of the last check, m/s; with the shifts that are kept
  double best_residual, limit; // m/s; explicit form: the deciding error
  int32_t iterations;
} CniDescent;

// What a check tells the caller to do.
typedef enum CniDescentTurn {
  CNI_DESCENT_GO_ON = 0,
  CNI_DESCENT_SHIFTED, // the shifts changed: what was learned about f is void
  CNI_DESCENT_STOP
} CniDescentTurn;

CnStatus cni_descent_create(const CnSolverDef *def, const CnAllocator *allocator, void **state);
void cni_descent_destroy(void *state);

// Workspace, first point from answer->g with its image, first check and shifts.
CnStatus cni_descent_begin(CniDescent *s, const CnProblem *p, const CnAnswer *answer,
                           CnSolveReport *report);
// To be called after every iteration, x[0] and image[0] being its point: counts it, checks when it
// is time to, keeps the best point, brings the shifts up to date.
CniDescentTurn cni_descent_next(CniDescent *s, CnSolveReport *report);
// The best point becomes the answer.
void cni_descent_end(CniDescent *s, const CnProblem *p, CnAnswer *answer, CnSolveReport *report);

// Exchange points i and k, with their images.
void cni_descent_swap(CniDescent *s, int32_t i, int32_t k);
// Point k becomes a copy of point i.
void cni_descent_copy(CniDescent *s, int32_t i, int32_t k);

#endif
