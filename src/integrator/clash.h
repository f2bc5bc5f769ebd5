// SPDX-License-Identifier: Apache-2.0
// A complementarity problem between a few rows of the equations: impacts, accelerations of closed
// contacts, steps of moreau-jean. Dense W, given to a solver of the table in explicit form.
#ifndef CNI_CLASH_H
#define CNI_CLASH_H

#include "integrator/motion.h"

typedef struct CniClash {
  CnAllocator allocator;
  CnProblem *problem;
  CnAnswer answer;
  int32_t row_count, block_count;
  double *w, *q;           // row_count^2, row_count
  int32_t *start, *column; // of W as a sparse matrix
  CnSet *sets;             // one a block
  int32_t *dims;
  int32_t w_capacity, q_capacity, start_capacity, column_capacity, set_capacity, dim_capacity;
} CniClash;

CnStatus cni_clash_init(CniClash *clash, const CnAllocator *allocator);
void cni_clash_release(CniClash *clash);

// Room for that many rows; no blocks yet. Then fill w and q, and add blocks in the order of rows.
CnStatus cni_clash_begin(CniClash *clash, int32_t row_count);
void cni_clash_block(CniClash *clash, CnBlockKind kind, int32_t dim, double mu);
// Impulses and velocities in answer.g and answer.u.
CnStatus cni_clash_solve(CniClash *clash, CnSolver *solver, CnSolveReport *report);

// Solvers for exact answers: the named one with a tolerance near round-off.
CnStatus cni_clash_solver(const char *name, const CnAllocator *allocator, CnSolver **solver);

#endif
