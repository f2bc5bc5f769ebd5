// SPDX-License-Identifier: Apache-2.0
// Step problems with few rows beside their joints: a machine that stands on some feet, a box on a
// slope. See few.c.
#ifndef CNI_SOLVER_FEW_H
#define CNI_SOLVER_FEW_H

#include "solver/cones/auto_cones.h"

typedef struct CniFew {
  CnAllocator allocator;
  CniJoints joints;
  CniArena room;   // of one solve
  CnProblem *part; // explicit: all but the joints
  CnAnswer answer; // of the part
  CnTasks *tasks;
} CniFew;

void cni_few_init(CniFew *few, const CnSolverDef *def, const CnAllocator *allocator);
void cni_few_release(CniFew *few);

// Rows that are not those of joints.
int32_t cni_few_rows(const CnProblem *p);

// What a solve is to reach and what it reached.
typedef struct CniFewAim {
  double limit;   // m/s: the residual asked for, of every block,
  double enough;  // and what is as good where Newton's method ends with that; not below `limit`
  double budget;  // multiplications that are left for factors
  int32_t sweeps; // at most
  double worst;   // m/s: the residual that is left
  int32_t met;    // 1: what is enough is reached
  int32_t taken;  // 0: the joints' factor would be too large, and nothing has been done
} CniFewAim;

// From the impulses in the answer; g and v are what was found.
CnStatus cni_few_solve(CniFew *few, CniAutoCones *cones, const CnProblem *p, CnAnswer *answer,
                       CniStepMemory *memory, CniFewAim *aim, CnSolveReport *report);

#endif
