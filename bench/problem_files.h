// SPDX-License-Identifier: Apache-2.0
// What benchmarks of problem files share: walking through a folder, timing a solve.
#ifndef BENCH_PROBLEM_FILES_H
#define BENCH_PROBLEM_FILES_H

#include <cairn/blocks.h>
#include <cairn/solver.h>

#include "bench.h"
#include "friction_problems.h"

// Every problem file of ROOT/sub in the order of names, until a visit returns 0. ROOT is the value
// of the parameter `files`, CAIRN_PROBLEM_DIR if that is empty, ../shared/data if that is empty
// too, tests/data where there is no such folder. "none": no problems. 0: a visit failed, or a file cannot be read (a line on
// stderr).
typedef int ProblemVisit(void *context, const char *name, CnProblem *problem);
int problem_files_each(const Values *values, const char *sub, ProblemVisit *visit, void *context);

// Form and sizes.
CnProblemInfo info_of(const CnProblem *problem);

// Times of solves from zero, certificate included. No more repeats once they have taken `longest`
// seconds together; at least `least`. 0: one failed (a line on stderr).
typedef struct SolveTimes {
  double best, median; // s
} SolveTimes;
int solve_times(CnSolver *solver, CnProblem *problem, CnAnswer *answer, int32_t repeats,
                int32_t least, double longest, CnSolveReport *report, SolveTimes *times);

// An explicit problem in the plain form; 0 where its blocks are not all contacts of one dimension.
int friction_plain_form(FrictionProblem *plain, const CnProblem *p);

#endif
