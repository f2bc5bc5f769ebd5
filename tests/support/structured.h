// SPDX-License-Identifier: Apache-2.0
// Step problems with a structure that makes them hard or easy to solve, and what is known about
// their answers: what the conformance suite gives to every solver of the table.
#ifndef TESTS_STRUCTURED_H
#define TESTS_STRUCTURED_H

#include "problem/problem.h"

// What may be asked of an answer.
typedef enum StructuredKind {
  STRUCTURED_EASY = 0, // every solver that takes it must answer
  STRUCTURED_HARD, // some solver must answer the step form, none may claim what it did not reach
  STRUCTURED_INFEASIBLE, // there is no solution: none may claim one
} StructuredKind;

typedef struct Structured {
  const char *name;
  StructuredKind kind;
  int32_t unique; // 1: one v, so that all answers agree in it
  CnProblem *(*make)(CnFrictionModel friction);
} Structured;

// Ends with a null name.
extern const Structured structured_problems[];

// `count` unit cubes of 1 kg on the ground, the top one `ratio` times as heavy, four pair blocks
// an interface, mu = .5, after a 10 ms step of gravity; all move along x at `speed`. At rest the
// impulse of interface i is the weight above it times h.
CnProblem *box_stack(int32_t count, double ratio, double speed, CnFrictionModel friction);

#endif
