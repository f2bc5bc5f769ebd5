// SPDX-License-Identifier: Apache-2.0
// Problems with a known number of rows for the sparse solvers: spheres tumbling down a stair, and a
// chain of hinges.
#ifndef BENCH_CASCADE_H
#define BENCH_CASCADE_H

#include <cairn/problem.h>

// A cascade of spheres (2005, figure 4) in a channel down a stair, with exactly `rows` frictionless
// contacts; many of them close within the step, many do not. Null without memory.
CnProblem *cascade_problem(int32_t rows);
// A chain of bodies hanging by hinges of five rows, `rows` of them altogether (a multiple of five).
CnProblem *hinge_chain(int32_t rows);

#endif
