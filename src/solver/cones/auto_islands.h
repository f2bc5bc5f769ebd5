// SPDX-License-Identifier: Apache-2.0
// What auto does with the islands of a world's step. See auto_islands.c.
#ifndef CNI_SOLVER_AUTO_ISLANDS_H
#define CNI_SOLVER_AUTO_ISLANDS_H

#include "solver/cones/auto_steps.h"
#include "solver/islands/gate.h"
#include "solver/islands/islands.h"

typedef struct CniHand CniHand;
typedef struct CniIslandJob CniIslandJob;

typedef struct CniAutoIslands {
  CnAllocator allocator;
  CnSolverDef def;
  CniIslands islands;
  CniHand **hands; // one a worker
  CniIslandJob *jobs;
  uint8_t *rest; // per island: do the impulses given hold, or does it move
  int32_t hand_count, hand_capacity, job_count, job_capacity, rest_capacity;
} CniAutoIslands;

void cni_auto_islands_init(CniAutoIslands *s, const CnSolverDef *def, const CnAllocator *allocator);
void cni_auto_islands_release(CniAutoIslands *s);

// A step of a world with an effort that is quick or normal. `steps` and `cones` are for what is not cut.
CnStatus cni_auto_islands_solve(CniAutoIslands *s, CniAutoSteps *steps, CniAutoCones *cones,
                                const CnProblem *p, CnAnswer *answer, CniStepMemory *memory,
                                CnSolveReport *report);

#endif
