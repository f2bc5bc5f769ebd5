// SPDX-License-Identifier: Apache-2.0
// Friction problems like a given one: the same family, other numbers.
#ifndef TESTS_DISTURBED_H
#define TESTS_DISTURBED_H

#include <stdint.h>

#include <cairn/problem.h>

// What is changed. None of it makes a problem with an answer one without: q moves by W y, which is
// an impulse from outside; a part of the contacts asks for less; units are units. Only larger
// friction may, where bodies are wedged in.
typedef enum Disturbance {
  DISTURB_LITTLE = 0, // q + W y, |y_i| up to a hundredth of the answer's root mean square
  DISTURB_MUCH,       // up to a tenth
  DISTURB_WILD,       // up to all of it
  DISTURB_FRICTION,   // mu and mu_roll of every contact by a factor of .8 to 1.2
  DISTURB_PART,       // a part of the contacts, drawn at random: a principal submatrix
  DISTURB_UNITS,      // impulses and velocities in other units: factors of 1e-3 to 1e3, and LITTLE
  DISTURB_ALL,        // MUCH and FRICTION
  DISTURB_COUNT
} Disturbance;

const char *disturbance_name(Disturbance kind);

// A problem like `base`, which is explicit or global and has the answer g. PART is explicit,
// whatever the form of `base`; others have its form.
CnStatus disturbed_problem(CnProblem *base, const double *g, Disturbance kind, uint64_t seed,
                           CnProblem **made);

#endif
