// SPDX-License-Identifier: Apache-2.0
// Machines whose rows are joints and rows with bounds (motors, dry friction, limits): the active set, each
// guess of it solved by the direct system of the joints. See bounded.c.
#ifndef CNI_SOLVER_BOUNDED_H
#define CNI_SOLVER_BOUNDED_H

#include "solver/joints/joints.h"

#define CNI_BOUNDED_ROUNDS 16 // factors: from there a walk of single rows is nearer to the end

typedef struct CniBounded {
  CnAllocator allocator;
  CniJoints joints;
  double *scale; // per row: its own matrix, as the certificate takes it
  int32_t scale_capacity;
} CniBounded;

typedef struct CniBoundedAim {
  double enough;  // m/s: residual that is asked for
  int32_t rounds; // factors at most; then those made
  double budget;  // multiplications in them: what is left
  double worst;   // m/s: the residual; infinite where the method does not take the problem
} CniBoundedAim;

void cni_bounded_init(CniBounded *s, const CnAllocator *allocator);
void cni_bounded_release(CniBounded *s);

// Is it a step problem of joints and rows with bounds alone?
int cni_bounded_takes(const CnProblem *p);
// From the impulses g of the answer to better ones, with their velocities v, if aim->worst is finite.
CnStatus cni_bounded_solve(CniBounded *s, const CnProblem *p, CnTasks *tasks, CnAnswer *answer,
                           CniBoundedAim *aim);

#endif
