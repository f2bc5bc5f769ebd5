// SPDX-License-Identifier: Apache-2.0
// Solving in tests: definitions that ask for accuracy, and one call from problem to answer.
#ifndef TESTS_SOLVING_H
#define TESTS_SOLVING_H

#include "solver/solver.h"

// Defaults of a solver, set to reach `tolerance` whatever it takes (20,000 iterations).
CnSolverDef patient_def(const char *name, double tolerance);

// Create, solve from answer->g, destroy; fails the test if a call fails.
CnSolveReport solve_def(const CnSolverDef *def, const CnProblem *problem, CnAnswer *answer);

// From zero to `tolerance` with the named solver; fails the test if it is not reached. The caller
// releases the answer.
CnAnswer solve_with(const char *name, const CnProblem *problem, double tolerance);

// Memory of a step, held, for calls below cn_solver_solve; cni_step_memory_release afterwards.
CniStepMemory held_memory(void);

// Dual objective 1/2 g^T N g + r^T g of a problem in explicit form.
double dual_objective(const CnProblem *explicit_form, const double *g);

// A problem in explicit form from a dense matrix (row-major), with the given blocks one after the
// other.
CnProblem *dense_problem(int32_t size, const double *w, const double *q, const CnSet *sets,
                         const int32_t *dims, int32_t block_count, CnFrictionModel friction);

#endif
