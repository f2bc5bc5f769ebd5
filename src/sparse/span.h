// SPDX-License-Identifier: Apache-2.0
// Dense linear algebra of small machines: the span of rows and what is orthogonal to it, Cholesky
// factors, forces that only push, eigenvalues. Plain loops in a fixed order: the same bits
// everywhere. Meant for some hundred unknowns.
#ifndef CNI_SPARSE_SPAN_H
#define CNI_SPARSE_SPAN_H

#include <cairn/base.h>

#include "core/memory.h"

static inline double cni_span_dot(int32_t n, const double *a, const double *b) {
  double sum = 0;
  for (int32_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

// ---- rows and their null space ----

// `count` rows of `length` numbers as A = T Q^T: Q orthogonal, a product of Householder reflections,
// T lower trapezoidal with `rank` columns. Row order[k] of A is row k of T; the largest of what is
// left comes next. Columns of Q from `rank` on are a basis of all x with A x = 0.
typedef struct CniSpan {
  int32_t count, length, rank;
  double *rows;    // given: A; after factoring: T in its first `rank` columns, order as in `order`
  double *reflect; // vectors of the reflections, `length` numbers each
  double *factor;  // of the reflections
  int32_t *order;
} CniSpan;

CnStatus cni_span_begin(CniArena *arena, int32_t count, int32_t length, CniSpan *span);
// Rows of which less than `lost` of their length is outside the others' span are dependent: they
// come last in the order.
void cni_span_factor(CniSpan *span, double lost);
void cni_span_down(const CniSpan *span, double *x); // x <- Q^T x
void cni_span_up(const CniSpan *span, double *x);   // x <- Q x
// The shortest x with A x = b for the rows that are not dependent. x has `length` numbers.
void cni_span_solve(const CniSpan *span, const double *b, double *x);
// The shortest g with A^T g = the part of y in the span; y as cni_span_down gives it. Takes memory.
CnStatus cni_span_weights(const CniSpan *span, CniArena *arena, const double *y, double *g);

// ---- Cholesky ----

// The lower triangle of a (size x size) <- L with a = L L^T. 0: a is not positive definite. `first`
// (null: not asked for) gets the column of the first number of each row: solutions are faster with it.
int cni_cholesky(int32_t size, double *a, int32_t *first);
void cni_cholesky_down(int32_t size, const double *l, const int32_t *first, double *x); // L^-1 x
void cni_cholesky_up(int32_t size, const double *l, const int32_t *first, double *x);   // L^-T x

// ---- what only pushes ----

// The least of 1/2 x^T (a + soft) x - b . x over x >= 0, a positive semidefinite: active sets that
// only go down. `work` has size (size + 3) numbers.
void cni_push(int32_t size, const double *a, const double *b, double soft, double *x, double *work);

// ---- eigenvalues ----

// Eigenvalues of a symmetric matrix, ascending, and its vectors as rows of `vectors` (null: not
// asked for), by Jacobi's rotations: small ones as exact as large ones allow. a is destroyed.
void cni_eigen_symmetric(int32_t size, double *a, double *values, double *vectors);
// Eigenvalues of any matrix, in no order. a is destroyed. 0: no convergence.
int cni_eigen_general(int32_t size, double *a, double *real, double *imaginary);

#endif
