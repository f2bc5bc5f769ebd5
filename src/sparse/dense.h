// SPDX-License-Identifier: Apache-2.0
// Dense matrices by rows: elimination with partial pivoting, solution, and the two loops in which
// dense pivoting spends its time, as wide kernels chosen at run time.
//
// Rows are `stride` numbers apart and start on cache lines; numbers between the last column and the
// stride may be read and written by the wide kernels but never matter, as long as they are finite.
// Every entry is computed by the same operations in the same order whatever the width and the
// blocking, so that the bits do not depend on the machine.
#ifndef CNI_SPARSE_DENSE_H
#define CNI_SPARSE_DENSE_H

#include <stdint.h>

// The kernels of one level.
typedef struct CniDenseKernels {
  // y += f x; both on cache lines, `count` rounded up to a multiple of 8
  void (*axpy)(int32_t count, double f, const double *x, double *y);
  // sum of x y: eight sums side by side on every machine; both on cache lines, `count` rounded up
  // to a multiple of 8
  double (*dot)(int32_t count, const double *x, const double *y);
  // w -= p l, then l += beta w; both on cache lines, `count` rounded up likewise
  void (*rank1)(int32_t count, double p, double beta, double *l, double *w);
  // c -= a b: a is rows x depth, b depth x columns (rounded up to a multiple of 8, on cache lines),
  // the products of an entry subtracted one after the other in the order of depth
  void (*multiply)(int32_t rows, int32_t columns, int32_t depth, const double *a, int32_t a_stride,
                   const double *b, int32_t b_stride, double *c, int32_t c_stride);
  // the exchange of a basic and a nonbasic variable in a dictionary by rows: row `row` is solved
  // for the variable of `column` and put into all others; columns [0, columns), rounded up likewise
  void (*exchange)(int32_t rows, int32_t columns, int32_t row, int32_t column, double *a,
                   int32_t stride);
} CniDenseKernels;

// The widest this machine runs.
const CniDenseKernels *cni_dense_kernels(void);

// A stride for rows of that many numbers: whole cache lines, and no power of two that would make
// the entries of a column share a few places of the cache.
int32_t cni_dense_stride(int32_t columns);

// Exchange two rows of numbers.
void cni_dense_swap(double *x, double *y, int32_t count);

// a = P L U in place, L with unit diagonal below, U above; pivot[k] is the row exchanged with row k
// at step k. Returns 0 where a column has no pivot above `least` in size, 1 otherwise.
int cni_dense_factor(const CniDenseKernels *kernels, int32_t size, double *a, int32_t stride,
                     int32_t *pivot, double least);
// x <- a^-1 x with such factors.
void cni_dense_solve(int32_t size, const double *a, int32_t stride, const int32_t *pivot,
                     double *x);

#endif
