// SPDX-License-Identifier: Apache-2.0
// What auto does with friction, limits and step problems. See auto_cones.c.
#ifndef CNI_SOLVER_AUTO_CONES_H
#define CNI_SOLVER_AUTO_CONES_H

#include "solver/cones/cones.h"
#include "solver/joints/bounded.h"
#include "solver/sweeps/psor.h"

#define CNI_FACTOR_ROWS 60000 // step and explicit problems of more rows are not factored

typedef struct CniAutoCones {
  CniCones *cones;
  CniPsor *exact; // psor with the exact solution of blocks
  void *walk;     // simplex
  CniBounded bounded;
  void *descent; // of apgd
  CniArena room;
  double *best; // impulses of the problem being solved
  int32_t best_capacity;
  CnAllocator allocator;
  double tolerance, time_budget;
} CniAutoCones;

CnStatus cni_auto_cones_create(CniAutoCones *s, const CnSolverDef *def,
                               const CnAllocator *allocator);
void cni_auto_cones_release(CniAutoCones *s);
// The same within a budget of multiplications, of which it takes what it uses: Newton's method, the
// interior point, simplex; near: a few steps of Newton's method alone. A problem whose factors are too large for it is left as it is. *error: of
// the answer, relative.
CnStatus cni_auto_cones_within(CniAutoCones *s, const CnProblem *p, CnAnswer *answer,
                               CniStepMemory *memory, double tolerance, double *budget, int near,
                               CnSolveReport *report, double *error);
// The walk of simplex alone, from the impulses of the answer.
CnStatus cni_auto_cones_walk(CniAutoCones *s, const CnProblem *p, CnAnswer *answer,
                             CniStepMemory *memory, double tolerance, CnSolveReport *report,
                             double *error);
CnStatus cni_auto_cones_solve(CniAutoCones *s, const CnProblem *p, CnAnswer *answer,
                              CniStepMemory *memory, CnSolveReport *report);

#endif
