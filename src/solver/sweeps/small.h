// SPDX-License-Identifier: Apache-2.0
// Dense matrices of at most six rows, row-major: what the solution of one block needs.
#ifndef CNI_SOLVER_SMALL_H
#define CNI_SOLVER_SMALL_H

#include <stdint.h>

#define CNI_SMALL_DIM 6
#define CNI_SMALL_SIZE (CNI_SMALL_DIM * CNI_SMALL_DIM)

// Eigenvalues and eigenvectors (columns of `vectors`) of a symmetric matrix by Jacobi rotations, in
// no particular order. `a` is destroyed.
void cni_small_eigen(int32_t dim, double *a, double *values, double *vectors);

// Largest eigenvalue of the symmetric part of a.
double cni_small_lambda_max(int32_t dim, const double *a);

// Largest difference between a and its transpose is below round-off.
int cni_small_symmetric(int32_t dim, const double *a);

// A generalised inverse: a inverse a = a to round-off, the inverse where there is one. Rows and
// columns beyond the rank (pivots below 1e-12 of the first) are zero. Returns the rank.
int32_t cni_small_inverse(int32_t dim, const double *a, double *inverse);

// Solve a x = x by elimination with row pivoting; a and x are overwritten. 0 if a is singular.
int cni_small_solve(int32_t dim, double *a, double *x);

// y = a x
void cni_small_multiply(int32_t dim, const double *a, const double *x, double *y);

#endif
