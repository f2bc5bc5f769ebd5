// SPDX-License-Identifier: Apache-2.0
// Friction problems for the benchmarks in the plain form in which one is handed to another engine.
//
//     u = W g + q;  blocks of `dim` rows: (n, t), (n, t1, t2) or (n, t1, t2, r1, r2)
#ifndef BENCH_FRICTION_PROBLEMS_H
#define BENCH_FRICTION_PROBLEMS_H

#include <stdint.h>
#include <stdio.h>

typedef struct FrictionProblem {
  int32_t dim, contacts; // 2, 3 or 5 rows for each contact
  int32_t entries;       // of W
  int32_t *start;        // of each row, dim contacts + 1
  int32_t *column;
  double *value;
  double *q;            // dim contacts
  double *mu, *mu_roll; // for each contact
} FrictionProblem;

// Zeros; 0: no memory.
int friction_problem_create(FrictionProblem *p, int32_t dim, int32_t contacts, int32_t entries);
void friction_problem_destroy(FrictionProblem *p);

int friction_problem_write(const FrictionProblem *p, FILE *file); // exact
int friction_problem_read(FrictionProblem *p, FILE *file);

#endif
