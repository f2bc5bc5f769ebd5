// SPDX-License-Identifier: Apache-2.0
// Complementarity problems for the benchmark: generated ones, and the plain form in which one is
// handed to another engine.
//
//     u = W g + q;  equality rows: u = 0, g free;  others: 0 <= u _|_ g >= 0
#ifndef BENCH_LCP_PROBLEMS_H
#define BENCH_LCP_PROBLEMS_H

#include <stdint.h>
#include <stdio.h>

typedef struct LcpProblem {
  char name[96];
  int32_t size, equalities;
  double *w;         // dense, by rows
  double *q;         // size
  int32_t *equality; // 1 for equality rows, size
} LcpProblem;

int lcp_problem_create(LcpProblem *p, const char *name, int32_t size); // zeros; 0: no memory
void lcp_problem_destroy(LcpProblem *p);

// Kinds of generated problems; null past the end. Numbers are those of the generator of scene G.
//   psd      symmetric of rank n/2, with a solution that has n/2 active rows
//   p        unsymmetric positive definite
//   contact  frictionless contacts between discs in the plane, more contacts than freedoms
const char *lcp_kind_name(int32_t kind);
int lcp_generate(LcpProblem *p, const char *kind, int32_t size); // 0: unknown kind or no memory

// size, then per row: equality, q, the row of W; exact.
int lcp_problem_write(const LcpProblem *p, FILE *file);
int lcp_problem_read(LcpProblem *p, FILE *file);

#endif
