// SPDX-License-Identifier: Apache-2.0
// Small linear complementarity problems for tests: made at random, and solved by trying all
// combinations of complementary sides.
#ifndef TESTS_COMPLEMENTARITY_H
#define TESTS_COMPLEMENTARITY_H

#include "core/rng.h"
#include "problem/problem.h"

#define SMALL_ROWS 16

// u = W g + q; the first `equalities` rows are u = 0 with g free, the others 0 <= u _|_ g >= 0.
typedef struct SmallLcp {
  int32_t size, equalities;
  double w[SMALL_ROWS * SMALL_ROWS], q[SMALL_ROWS]; // by rows, row length size
} SmallLcp;

CnProblem *small_problem(const SmallLcp *lcp);

// |min(g, u)| (u on equality rows) over |q|, from the numbers of the lcp alone.
double small_error(const SmallLcp *lcp, const double *g);

// 1 if some combination of sides has a solution, exhaustively.
int small_solvable(const SmallLcp *lcp);

// Kinds of matrices; all of them with right-hand sides that may have no solution where the kind
// allows that.
typedef enum SmallKind {
  SMALL_P = 0,           // all principal minors positive, unsymmetric
  SMALL_SEMIDEFINITE,    // positive semidefinite of any rank, with a skew part
  SMALL_DEGENERATE,      // semidefinite of small whole numbers, right-hand side too: ties
  SMALL_COPOSITIVE_PLUS, // not semidefinite
  SMALL_INFEASIBLE,      // not even u >= 0, g >= 0 has a point
  SMALL_COPOSITIVE,      // nonnegative with zeros on the diagonal: lemke may miss solutions
  SMALL_ANY,             // small whole numbers of both signs
  SMALL_KIND_COUNT
} SmallKind;
const char *small_kind_name(SmallKind kind);
SmallLcp small_random(CniRng *rng, SmallKind kind, int32_t size);

// Equality rows whose own block is singular: networks of switches, redundant and mixed equations.
SmallLcp small_random_mixed(CniRng *rng);

#endif
