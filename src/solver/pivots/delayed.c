// SPDX-License-Identifier: Apache-2.0
// Pivots that are kept back: the exchange of variables in large tableaux, a block at a time.
//
// An exchange adds a product of a column and a row to the whole tableau, which takes one pass over
// all of memory for two operations a number. Here the columns f and the rows p of the last pivots
// are kept beside an older tableau,
//
//     a = a_old + sum_k f_k p_k^T,
//
// the row and the column of a pivot being cleared in a_old and in what was kept before it. The next
// column and the next row are made from this on demand, the constants are kept up to date, and when
// enough has gathered it is all added in one product of matrices. An entry has the same numbers
// added in the same order as by single pivots, so the path is the same to the last bit.
//
// Cost of a pivot: 2 rows columns as before, but out of the cache.
#include "solver/pivots/lcp.h"

#include "core/vec.h"

#include <string.h>

size_t cni_delayed_size(int32_t rows, int32_t stride) {
  size_t n = (size_t)cni_dense_stride(rows);
  return n * (2 * CNI_DELAYED + 2) + CNI_DELAYED * (size_t)stride;
}

void cni_delayed_start(CniDelayed *d, const CniTableau *t, double *memory) {
  size_t n = (size_t)cni_dense_stride(t->rows);
  d->f = memory;
  d->transposed = d->f + CNI_DELAYED * n;
  d->p = d->transposed + CNI_DELAYED * n;
  d->constant = d->p + CNI_DELAYED * (size_t)t->stride;
  d->column = d->constant + n;
  d->f_stride = (int32_t)n;
  d->count = 0;
  memset(memory, 0, cni_delayed_size(t->rows, t->stride) * sizeof *memory);
  for (int32_t i = 0; i < t->rows; i++) d->constant[i] = cni_tableau_row(t, i)[0];
}

double cni_delayed_entry(const CniDelayed *d, const CniTableau *t, int32_t row, int32_t column) {
  double sum = cni_tableau_row(t, row)[column];
  for (int32_t k = 0; k < d->count; k++)
    sum += d->f[(int64_t)k * d->f_stride + row] * d->p[(int64_t)k * t->stride + column];
  return sum;
}

void cni_delayed_column(CniDelayed *d, const CniTableau *t, int32_t column) {
  for (int32_t i = 0; i < t->rows; i++) d->column[i] = cni_tableau_row(t, i)[column];
  for (int32_t k = 0; k < d->count; k++) {
    double f = d->p[(int64_t)k * t->stride + column];
    if (f != 0) t->kernels->axpy(t->rows, f, d->f + (int64_t)k * d->f_stride, d->column);
  }
}

// Add what was kept back. Rows without any of it are left alone: there are many in sparse problems.
static void flush(CniDelayed *d, CniTableau *t) {
  int32_t first = 0;
  for (int32_t i = 0; i <= t->rows; i++) {
    int any = 0;
    for (int32_t k = 0; i < t->rows && k < CNI_DELAYED; k++) {
      double f = k < d->count ? -d->f[(int64_t)k * d->f_stride + i] : 0;
      d->transposed[(int64_t)i * CNI_DELAYED + k] = f;
      any |= f != 0;
    }
    if (any) continue;
    if (i > first)
      t->kernels->multiply(i - first, t->columns + 1, d->count,
                           d->transposed + (int64_t)first * CNI_DELAYED, CNI_DELAYED, d->p,
                           t->stride, cni_tableau_row(t, first), t->stride);
    first = i + 1;
  }
  d->count = 0;
}

void cni_delayed_pivot(CniDelayed *d, CniTableau *t, int32_t row, int32_t column) {
  if (d->count == CNI_DELAYED) flush(d, t);
  int32_t width = t->columns + 1;
  double *p = d->p + (int64_t)d->count * t->stride, *f = d->f + (int64_t)d->count * d->f_stride;
  double *old = cni_tableau_row(t, row), inverse = 1 / d->column[row];

  // the row as it is, solved for the entering variable
  memcpy(p, old, (size_t)width * sizeof *p);
  for (int32_t k = 0; k < d->count; k++) {
    double *row_part = &d->f[(int64_t)k * d->f_stride + row];
    if (*row_part != 0) t->kernels->axpy(width, *row_part, d->p + (int64_t)k * t->stride, p);
    *row_part = 0;
    d->p[(int64_t)k * t->stride + column] = 0;
  }
  for (int32_t j = 0; j < width; j++) p[j] *= -inverse;
  p[column] = inverse;
  double constant = d->constant[row] * -inverse;
  p[0] = 0;

  // clear what it replaces
  memset(old, 0, (size_t)width * sizeof *old);
  for (int32_t i = 0; i < t->rows; i++) cni_tableau_row(t, i)[column] = 0;
  memcpy(f, d->column, (size_t)t->rows * sizeof *f);
  f[row] = 1;
  d->constant[row] = 0;
  t->kernels->axpy(t->rows, constant, f, d->constant);
  d->count++;
  cni_tableau_exchange(t, row, column);
}

void cni_delayed_finish(const CniDelayed *d, CniTableau *t) {
  for (int32_t i = 0; i < t->rows; i++) cni_tableau_row(t, i)[0] = d->constant[i];
}
