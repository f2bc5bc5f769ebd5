// SPDX-License-Identifier: Apache-2.0
// The dense Dantzig method of Baraff (1994), which the 2005 paper improves on: for comparison only.
#ifndef BENCH_BARAFF_H
#define BENCH_BARAFF_H

#include <stdint.h>

typedef struct BaraffReport {
  int32_t pivots;
  int32_t solved; // 0: a singular active matrix, or a limit
} BaraffReport;

// 0 <= a = N f + r _|_ f >= 0 for a dense symmetric N by rows, `stride` apart. f and a are results.
BaraffReport baraff_solve(int32_t size, const double *n, int32_t stride, const double *r, double *f,
                          double *a);

#endif
