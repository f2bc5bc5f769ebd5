// SPDX-License-Identifier: Apache-2.0
// Do the rows of a step problem contradict each other? Found by dense least squares, without anything
// of the solvers.
#ifndef TESTS_CONTRADICTION_H
#define TESTS_CONTRADICTION_H

#include <cairn/problem.h>

typedef struct Contradiction {
  double share; // of the largest speed asked for: what no motion gives, by least squares
  double
      speed; // every motion that gave all of it would be so many times faster than what is asked for
  double conditioning; // least singular value of the rows that counts over the largest
} Contradiction;

// Rigid rows that ask for a speed (joints, motors without bound) or for no less than one (limits), each
// over its own length in the metric of the masses. With y = what least squares leave, y.c = |y|^2 and
// any solution x of A x + c = 0 has |x| >= y.c / |A^T y|: that is `speed`, a proof.
Contradiction contradiction_of(const CnProblem *problem);

#endif
