// SPDX-License-Identifier: Apache-2.0
// Saddle matrices [M E^T; E -C] of bodies in rows, grids and trees, as one triangle with the signs
// of the pivots.
#ifndef TESTS_SADDLE_H
#define TESTS_SADDLE_H

#include "sparse/sparse.h"

typedef struct Saddle {
  CnSparse upper;
  int8_t *sign;
} Saddle;

// Entries on their way into a matrix; rows and columns in any order.
typedef struct SaddleList {
  CniTriplet *entry;
  int32_t count, capacity;
} SaddleList;
void saddle_add(SaddleList *list, int32_t i, int32_t j, double value);
// Takes the list over.
Saddle saddle_build(SaddleList *list, int32_t n, const int8_t *sign);
void saddle_release(Saddle *m);

// A grid of across x along x up bodies of six coordinates, `rows` random constraint rows between
// neighbours and between the first body and the ground.
Saddle saddle_grid(int32_t across, int32_t along, int32_t up, int32_t rows, double compliance);
// A tree: body i hangs on body (i - 1)/branches by `rows` rows, body 0 on the ground.
Saddle saddle_tree(int32_t bodies, int32_t branches, int32_t rows, double compliance);

#endif
