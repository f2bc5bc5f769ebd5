// SPDX-License-Identifier: Apache-2.0
// Dantzig's method on the dense matrix N, as in D. Baraff, Fast contact force computation for
// nonpenetrating rigid bodies, 1994: rows are taken up one after the other; the impulse of a row
// grows until its velocity is zero while the clamped rows keep theirs, and rows change sides on the
// way. The matrix of the clamped rows is solved anew at every step, with the wide dense kernels of
// the library.
#include "baraff.h"

#include "sparse/sparse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Baraff {
  int32_t size, stride, clamped_count, work_stride;
  const double *n;
  double *f, *a, *df, *da, *work, *x;
  int32_t *clamped, *pivot;
  uint8_t *side; // 0: not taken up, 1: clamped (a = 0), 2: free (f = 0)
} Baraff;

// df of the clamped rows for a unit impulse in row k, and da of all rows. 0: singular.
static int direction(Baraff *b, int32_t k) {
  const CniDenseKernels *kernels = cni_dense_kernels();
  b->clamped_count = 0;
  for (int32_t i = 0; i < b->size; i++)
    if (b->side[i] == 1) b->clamped[b->clamped_count++] = i;
  int32_t c = b->clamped_count;
  b->work_stride = cni_dense_stride(c);
  memset(b->work, 0, (size_t)c * (size_t)b->work_stride * sizeof *b->work);
  for (int32_t i = 0; i < c; i++) {
    const double *row = b->n + (int64_t)b->clamped[i] * b->stride;
    for (int32_t j = 0; j < c; j++) b->work[(int64_t)i * b->work_stride + j] = row[b->clamped[j]];
    b->x[i] = -row[k];
  }
  if (!cni_dense_factor(kernels, c, b->work, b->work_stride, b->pivot, 1e-13)) return 0;
  cni_dense_solve(c, b->work, b->work_stride, b->pivot, b->x);
  memset(b->df, 0, (size_t)b->size * sizeof *b->df);
  for (int32_t i = 0; i < c; i++) b->df[b->clamped[i]] = b->x[i];
  b->df[k] = 1;
  for (int32_t i = 0; i < b->size; i++) {
    const double *row = b->n + (int64_t)i * b->stride;
    double sum = row[k];
    for (int32_t j = 0; j < c; j++) sum += row[b->clamped[j]] * b->x[j];
    b->da[i] = b->side[i] == 1 ? 0 : sum;
  }
  return 1;
}

// Largest step for row k and who blocks.
static double largest_step(const Baraff *b, int32_t k, int32_t *blocking) {
  double step = b->da[k] > 0 ? -b->a[k] / b->da[k] : HUGE_VAL;
  *blocking = k;
  for (int32_t i = 0; i < b->size; i++) {
    double own = HUGE_VAL;
    if (b->side[i] == 1 && b->df[i] < 0) own = -b->f[i] / b->df[i];
    if (b->side[i] == 2 && b->da[i] < 0) own = -b->a[i] / b->da[i];
    if (own >= step) continue;
    step = own > 0 ? own : 0;
    *blocking = i;
  }
  return step;
}

// Take up row k.
static int drive(Baraff *b, int32_t k, int32_t *pivots) {
  while (b->a[k] < 0) {
    int32_t blocking;
    if (*pivots > 50 * b->size || !direction(b, k)) return 0;
    double step = largest_step(b, k, &blocking);
    if (step == HUGE_VAL) return 0;
    for (int32_t i = 0; i < b->size; i++) {
      b->f[i] += step * b->df[i];
      b->a[i] += step * b->da[i];
    }
    (*pivots)++;
    if (blocking != k) {
      b->side[blocking] = b->side[blocking] == 1 ? 2 : 1;
      if (b->side[blocking] == 2)
        b->f[blocking] = 0;
      else
        b->a[blocking] = 0;
      continue;
    }
    b->side[k] = 1;
    b->a[k] = 0;
    return 1;
  }
  if (!b->side[k]) b->side[k] = 2;
  return 1;
}

BaraffReport baraff_solve(int32_t size, const double *n, int32_t stride, const double *r, double *f,
                          double *a) {
  BaraffReport report = {0, 0};
  size_t count = (size_t)size + 8, square = count * (size_t)cni_dense_stride(size);
  Baraff b = {.size = size, .stride = stride, .n = n, .f = f, .a = a};
  b.df = calloc(count, sizeof *b.df);
  b.da = calloc(count, sizeof *b.da);
  b.x = calloc(count, sizeof *b.x);
  b.work = aligned_alloc(64, (square * sizeof *b.work + 63) / 64 * 64);
  b.clamped = calloc(count, sizeof *b.clamped);
  b.pivot = calloc(count, sizeof *b.pivot);
  b.side = calloc(count, 1);
  if (b.df && b.da && b.x && b.work && b.clamped && b.pivot && b.side) {
    memset(f, 0, (size_t)size * sizeof *f);
    memcpy(a, r, (size_t)size * sizeof *a);
    report.solved = 1;
    for (int32_t i = 0; i < size && report.solved; i++)
      report.solved = drive(&b, i, &report.pivots);
  }
  free(b.df);
  free(b.da);
  free(b.x);
  free(b.work);
  free(b.clamped);
  free(b.pivot);
  free(b.side);
  return report;
}
