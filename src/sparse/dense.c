// SPDX-License-Identifier: Apache-2.0
// Elimination of dense matrices by rows, in panels.
//
// A few columns are eliminated row by row with partial pivoting; their effect on the columns to the
// right is a triangular solution for their own rows and one product for all rows below, which is
// where the time goes: first to the end of the panel, and once a panel to the end of the matrix. An
// entry has the products of steps 0, 1, 2, ... subtracted one after the other in this order, in
// panels or without them: the blocking leaves no trace.
//
// Cost: 2/3 n^3.
#include "sparse/dense.h"
#include "sparse/dense_kernels.inc"

#include "core/memory.h"
#include "core/vec.h"

#define PANEL 48 // columns between two products over all the rest
#define NARROW 8 // columns between two products inside a panel

#if defined(__x86_64__) && !defined(CNI_SIMD_OFF)
extern const CniDenseKernels cni_dense_kernels_avx2, cni_dense_kernels_avx512;
#endif

const CniDenseKernels *cni_dense_kernels(void) {
#if defined(__x86_64__) && !defined(CNI_SIMD_OFF)
  CniSimdLevel level = cni_simd_level();
  if (level == CNI_SIMD_LEVEL_AVX512) return &cni_dense_kernels_avx512;
  if (level == CNI_SIMD_LEVEL_AVX2) return &cni_dense_kernels_avx2;
#endif
  return &CNI_WIDE_NAME(cni_dense_kernels);
}

int32_t cni_dense_stride(int32_t columns) {
  int32_t stride = (columns + 7) / 8 * 8;
  return stride % 128 == 0 ? stride + 8 : stride;
}

void cni_dense_swap(double *x, double *y, int32_t count) {
  for (int32_t j = 0; j < count; j++) CNI_SWAP(double, x[j], y[j]);
}

// Columns [first, last) of rows [first, size): pivots, factors of L, and the rows of U inside.
static int factor_columns(int32_t size, double *a, int32_t stride, int32_t first, int32_t last,
                          int32_t *pivot, double least) {
  for (int32_t k = first; k < last; k++) {
    int32_t best = k;
    double largest = -1;
    for (int32_t i = k; i < size; i++) {
      double x = fabs(a[(int64_t)i * stride + k]);
      if (x > largest) {
        largest = x;
        best = i;
      }
    }
    if (!(largest > least)) return 0;
    pivot[k] = best;
    double *row = a + (int64_t)k * stride;
    if (best != k) cni_dense_swap(row, a + (int64_t)best * stride, size);
    double inverse = 1 / row[k];
    for (int32_t i = k + 1; i < size; i++) {
      double *other = a + (int64_t)i * stride;
      if (other[k] == 0) continue;
      double f = other[k] *= inverse;
      for (int32_t j = k + 1; j < last; j++) other[j] -= f * row[j];
    }
  }
  return 1;
}

// What the steps [first, last) do to columns [last, end): their rows of U, then all rows below.
static void update_columns(const CniDenseKernels *kernels, int32_t size, double *a, int32_t stride,
                           int32_t first, int32_t last, int32_t end) {
  if (end <= last) return;
  for (int32_t k = first; k < last; k++) {
    double *row = a + (int64_t)k * stride;
    for (int32_t i = first; i < k; i++)
      if (row[i] != 0)
        kernels->axpy(end - last, -row[i], a + (int64_t)i * stride + last, row + last);
  }
  kernels->multiply(size - last, end - last, last - first, a + (int64_t)last * stride + first,
                    stride, a + (int64_t)first * stride + last, stride,
                    a + (int64_t)last * stride + last, stride);
}

static int32_t least_of(int32_t a, int32_t b) { return a < b ? a : b; }

int cni_dense_factor(const CniDenseKernels *kernels, int32_t size, double *a, int32_t stride,
                     int32_t *pivot, double least) {
  for (int32_t first = 0; first < size; first += PANEL) {
    int32_t last = least_of(first + PANEL, size);
    for (int32_t k = first; k < last; k += NARROW) {
      int32_t next = least_of(k + NARROW, last);
      if (!factor_columns(size, a, stride, k, next, pivot, least)) return 0;
      update_columns(kernels, size, a, stride, k, next, last);
    }
    update_columns(kernels, size, a, stride, first, last, size);
  }
  return 1;
}

// Four sums side by side, always the same four: a single one would wait for its own additions.
static double product(const double *x, const double *y, int32_t count) {
  double sum[4] = {0, 0, 0, 0};
  int32_t j = 0;
  for (; j + 4 <= count; j += 4)
    for (int32_t k = 0; k < 4; k++) sum[k] += x[j + k] * y[j + k];
  for (; j < count; j++) sum[0] += x[j] * y[j];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

void cni_dense_solve(int32_t size, const double *a, int32_t stride, const int32_t *pivot,
                     double *x) {
  for (int32_t k = 0; k < size; k++) CNI_SWAP(double, x[pivot[k]], x[k]);
  for (int32_t i = 1; i < size; i++) x[i] -= product(a + (int64_t)i * stride, x, i);
  for (int32_t i = size - 1; i >= 0; i--) {
    const double *row = a + (int64_t)i * stride;
    x[i] = (x[i] - product(row + i + 1, x + i + 1, size - 1 - i)) / row[i];
  }
}
