// SPDX-License-Identifier: Apache-2.0
// Sweeps whose results are mixed: psor on explicit problems, accelerated. See mixed.c.
#ifndef CNI_SOLVER_MIXED_H
#define CNI_SOLVER_MIXED_H

#include "solver/sweeps/psor.h"

#define CNI_MIXED_MEMORY 16 // sweeps that are mixed, at most

typedef struct CniMixed {
  CniPsor *sweeps;                                 // its g is the present point
  double *point, *change;                          // before the last sweep; weighted change by it
  double *weight;                                  // of rows
  double *best, *u;                                // impulses of the least error; work
  double *images, *changes;                        // differences of the last ones, each n numbers
  double gram[CNI_MIXED_MEMORY][CNI_MIXED_MEMORY]; // products of the changes
  double error;                                    // of best
  double check_below;                              // relative change at which to check before time
  double least;                                    // square of the least change since the beginning
  int32_t n, count, since; // differences stored, sweeps since the last new beginning
  int32_t sweep_count;     // all
  int32_t plain;           // 1: sweeps are not mixed
} CniMixed;

// Start with an explicit problem from the answer's impulses. Memory from the arena.
CnStatus cni_mixed_init(CniMixed *m, CniArena *arena, CniPsor *sweeps, const CnProblem *p,
                        const CnAnswer *answer, CniStepMemory *memory);
// Go on from other impulses.
void cni_mixed_restart(CniMixed *m, const double *g);
// At most `most` more sweeps, until the deciding error of `best` is at most the tolerance. Returns
// how many were made.
int32_t cni_mixed_run(CniMixed *m, int32_t most, double tolerance);

#endif
