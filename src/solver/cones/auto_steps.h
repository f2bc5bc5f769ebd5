// SPDX-License-Identifier: Apache-2.0
// What auto does with the steps of a world within a budget of work. See auto_steps.c.
#ifndef CNI_SOLVER_AUTO_STEPS_H
#define CNI_SOLVER_AUTO_STEPS_H

#include "solver/cones/auto_cones.h"
#include "solver/cones/few.h"
#include "solver/islands/islands.h"

typedef struct CniAutoSteps {
  CniPsor *sweeps;
  CniFew few;
  CnAllocator allocator;
  double *given; // impulses, as they came
  int32_t given_capacity;
  double tolerance;
  int32_t sweep_count;
  CnEffort effort;
} CniAutoSteps;

// What one solve may take and has taken.
typedef struct CniAutoRound {
  double tolerance, speed; // speed: what residuals are relative to, m/s
  double budget;           // multiplications
  int32_t made;            // sweeps that go on from each other
  int32_t moves;           // 1: few rows are asked for the tolerance alone
  int32_t few;             // 1: few rows beside joints were tried, or will be
} CniAutoRound;

CnStatus cni_auto_steps_create(CniAutoSteps *s, const CnSolverDef *def,
                               const CnAllocator *allocator);
void cni_auto_steps_release(CniAutoSteps *s);

// What the effort allows for a problem.
CniAutoRound cni_auto_steps_limits(const CniAutoSteps *s, const CnProblem *p);
// May an island of so many bodies and rows be factored?
int cni_auto_steps_allows(const CniAutoSteps *s, int32_t bodies, int32_t rows);
// Residual, relative, at which the impulses given are the answer to some blocks; 0: never.
double cni_auto_steps_holds(const CniAutoSteps *s, const CnProblem *p, const int32_t *list,
                            int32_t count, int moves);

// Everything but the factors of islands: the impulses given, machines, sweeps, momentum. *done: 1: the tolerance is
// met.
CnStatus cni_auto_steps_whole(CniAutoSteps *s, CniAutoCones *cones, const CnProblem *p,
                              CnAnswer *answer, CniStepMemory *memory, CnSolveReport *report,
                              CniAutoRound *round, int *done);
// What that left of one island, whose largest residual is `worst` m/s: machines, then factors. *better: 1: the answer's g is a
// better one.
CnStatus cni_auto_steps_finish(CniAutoSteps *s, CniAutoCones *cones, const CnProblem *p,
                               CnAnswer *answer, CniStepMemory *memory, CnSolveReport *report,
                               CniAutoRound *round, double worst, int *better);

#endif
