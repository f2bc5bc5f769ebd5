// SPDX-License-Identifier: Apache-2.0
// A complementarity problem between a few rows of the equations: impacts, accelerations of closed
// contacts, steps of moreau-jean. W, dense or by the structure of the coupling, is given to a solver
// of the table in explicit form.
#ifndef CNI_CLASH_H
#define CNI_CLASH_H

#include "integrator/motion.h"

typedef struct CniClash {
  CnAllocator allocator;
  CnProblem *problem;
  CnAnswer answer;
  int32_t row_count, block_count;
  double *w, *q;
  int32_t *start, *column; // of W
  CnSet *sets;             // one a block
  int32_t *dims;
  int32_t w_capacity, q_capacity, start_capacity, column_capacity, set_capacity, dim_capacity;
  int32_t together; // 1: the solves since cni_clash_renew share what one of them may take
  double spent;     // multiplications, of these
} CniClash;

CnStatus cni_clash_init(CniClash *clash, const CnAllocator *allocator);
void cni_clash_release(CniClash *clash);

// W = H M^-1 D^T of the motion's active rows (cni_motion_solve tells of `columns` and `rows_of`),
// with the mass factored last; no blocks yet. Then fill q, and add blocks in the order of rows.
CnStatus cni_clash_begin(CniClash *clash, CniMotion *m, const double *columns,
                         const double *rows_of);
void cni_clash_block(CniClash *clash, CnBlockKind kind, int32_t dim, double mu);
// Of a contact, and of a row with a bound; returns the number of rows.
int32_t cni_clash_contact(CniClash *clash, const CnEquations *eq, int32_t contact);
int32_t cni_clash_bound(CniClash *clash, double bound);
// A step begins, whose solves share their work.
void cni_clash_renew(CniClash *clash);
// Impulses and velocities in answer.g and answer.u.
CnStatus cni_clash_solve(CniClash *clash, CnSolver *solver, CnSolveReport *report);

// Solvers for exact answers: the named one with a tolerance near round-off.
CnStatus cni_clash_solver(const char *name, const CnAllocator *allocator, CnSolver **solver);

#endif
