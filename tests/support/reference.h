// SPDX-License-Identifier: Apache-2.0
// The sweeps of psor and pssor written as plainly as possible, in any order: what the fast ones are
// compared with.
#ifndef TESTS_REFERENCE_H
#define TESTS_REFERENCE_H

#include "problem/problem.h"
#include "solver/solver.h"

// All blocks in the order of a sweep by one thread; order has block_count entries.
void schedule_order(const CniSchedule *schedule, int32_t *order);
// The order in which a solver of this definition visits the blocks of a step problem; free() it.
int32_t *sweep_order(const CnSolverDef *def, CnProblem *p);
// 0, 1, 2, ...
int32_t *stored_order(const CnProblem *p);

// def->max_iterations sweeps (def->name "pssor": forth and back) from answer->g, which is projected
// first; g, v and u out. Step form.
void reference_sweeps(const CnSolverDef *def, const CnProblem *p, const int32_t *order,
                      CnAnswer *answer);

#endif
