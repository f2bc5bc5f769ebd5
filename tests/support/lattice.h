// SPDX-License-Identifier: Apache-2.0
// A pile large enough for slabs and threads: bodies on a cubic lattice above the ground.
#ifndef TESTS_LATTICE_H
#define TESTS_LATTICE_H

#include "problem/problem.h"

typedef struct Lattice {
  int32_t side, layers;     // bodies: side x side x layers
  uint32_t storages;        // bits 1 << CNI_PAIR, 1 << CNI_SPHERE: drawn for each contact
  CnBlockKind kind;         // friction, rolling or spinning
  CnFrictionModel friction; //
  int32_t points;           // blocks between two bodies of pair storage
  int32_t full;             // 1: belt speeds and compliance here and there
  int32_t hub;              // 1: one more body that touches every other one
} Lattice;

// 12 x 12 x 12 bodies, spheres and pairs of up to 4 points, sliding friction, coulomb.
Lattice lattice_default(void);

// After a step of 5 ms of gravity, contacts along x, y and z with normals turned at random and gaps
// of both signs. Group 0 is the ground; bodies x fastest, then y, then z.
CnProblem *lattice_problem(const Lattice *how);

#endif
