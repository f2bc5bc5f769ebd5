// SPDX-License-Identifier: Apache-2.0
// Reactions of bilateral rows that depend on each other: of all forces that do the same, those of least norm.
#ifndef CNI_LEAST_H
#define CNI_LEAST_H

#include "integrator/motion.h"

typedef struct CniLeast {
  CniMotion motion; // all bilateral rows: those kept, then those left out
  CniPool pool;
  int32_t *rows; // the same, in that order
  int32_t capacity, kept, left, known;
  int32_t most;   // kept so far
  double *weight; // of all of them
  double *c;      // C, a row of those left out after the other
  double *matrix, *z;
} CniLeast;

void cni_least_init(CniLeast *l, const CnAllocator *allocator);
void cni_least_release(CniLeast *l);
CnStatus cni_least_begin(CniLeast *l, const CnSystem *system);
// At a place, for the rows of `of`: its bilateral ones, which come first and ascend, do not depend on each other.
CnStatus cni_least_at(CniLeast *l, const CniMotion *of, double t, const double *q);
// Forces (one a row of G) of which the rows kept carry all: the share of least norm.
void cni_least_share(CniLeast *l, double *all);

#endif
