// SPDX-License-Identifier: Apache-2.0
// What auto does with the steps of a world within a budget of work. See auto_steps.c.
#ifndef CNI_SOLVER_AUTO_STEPS_H
#define CNI_SOLVER_AUTO_STEPS_H

#include "solver/cones/auto_cones.h"
#include "solver/cones/few.h"
#include "solver/islands/islands.h"

typedef struct CniAutoSteps {
  CniPsor *sweeps;
  CniIslands islands;
  CniFew few;
  CnAllocator allocator;
  CnAnswer answer; // of an island
  double *given;   // impulses, as they came
  int32_t given_capacity;
  double tolerance;
  int32_t sweep_count;
  CnEffort effort;
} CniAutoSteps;

CnStatus cni_auto_steps_create(CniAutoSteps *s, const CnSolverDef *def,
                               const CnAllocator *allocator);
void cni_auto_steps_release(CniAutoSteps *s);
CnStatus cni_auto_steps_solve(CniAutoSteps *s, CniAutoCones *cones, const CnProblem *p,
                              CnAnswer *answer, CniStepMemory *memory, CnSolveReport *report);

#endif
