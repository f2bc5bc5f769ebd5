// SPDX-License-Identifier: Apache-2.0
// Solutions of saddle matrices up to 100,000 rows against MUMPS, which pivots as it needs. Skipped
// where it is not installed.
#include "check.h"
#include "core/rng.h"
#include "saddle.h"

#include <stdlib.h>
#include <string.h>

#ifndef TEST_MUMPS
static void mumps(void **state) {
  (void)state;
  skip();
}
#else
#include <dmumps_c.h>

#define USE_COMM_WORLD (-987654)

// x <- A^-1 x
static void their_solution(const Saddle *m, double *x) {
  int32_t n = m->upper.row_count, count = m->upper.start[n];
  int *row = malloc((size_t)count * sizeof *row), *column = malloc((size_t)count * sizeof *column);
  for (int32_t i = 0; i < n; i++)
    for (int32_t e = m->upper.start[i]; e < m->upper.start[i + 1]; e++) {
      row[e] = i + 1;
      column[e] = m->upper.column[e] + 1;
    }
  DMUMPS_STRUC_C *id = calloc(1, sizeof *id);
  id->job = -1;
  id->par = 1;
  id->sym = 2;
  id->comm_fortran = USE_COMM_WORLD;
  dmumps_c(id);
  id->n = n;
  id->nnz = count;
  id->irn = row;
  id->jcn = column;
  id->a = m->upper.value;
  id->rhs = x;
  for (int32_t k = 0; k < 4; k++) id->icntl[k] = k == 3 ? 0 : -1; // no output
  id->icntl[9] = 3;                                               // steps of refinement
  id->icntl[13] = 200;                                            // room to spare, %
  id->job = 6;
  dmumps_c(id);
  if (id->infog[0] != 0) print_message("MUMPS: %d %d\n", id->infog[0], id->infog[1]);
  CHECK(id->infog[0] == 0);
  id->job = -2;
  dmumps_c(id);
  free(row);
  free(column);
  free(id);
}

static void compare(Saddle m) {
  const CnAllocator a = cn_allocator_default();
  int32_t n = m.upper.row_count;
  double *b = malloc((size_t)n * sizeof *b), *x = malloc((size_t)n * sizeof *x), worst = 0,
         size = 0;
  double *y = malloc((size_t)n * sizeof *y);
  CniRng rng = {3};
  CniLdl *ldl;
  CniLdlReport report;
  for (int32_t i = 0; i < n; i++) y[i] = b[i] = cni_rng_range(&rng, -1, 1);
  CHECK_OK(cni_ldl_create(&a, &m.upper, m.sign, NULL, &ldl));
  CHECK_OK(cni_ldl_factor(ldl, m.upper.value, NULL, &report));
  double error = cni_ldl_refine(ldl, m.upper.value, b, x, 3);
  their_solution(&m, y);
  for (int32_t i = 0; i < n; i++) {
    worst = fmax(worst, fabs(x[i] - y[i]));
    size = fmax(size, fabs(y[i]));
  }
  print_message("%7d rows: backward error %.1e, difference %.1e, least pivot %.1e, replaced %d\n",
                n, error, worst / size, report.least, report.replaced);
  CHECK(error < 1e-15);
  CHECK_NEAR(worst / size, 0, 1e-10);
  cni_ldl_destroy(ldl);
  saddle_release(&m);
  free(b);
  free(x);
  free(y);
}

static void mumps(void **state) {
  (void)state;
  compare(saddle_grid(1, 300, 1, 5, 0));
  compare(saddle_grid(8, 8, 8, 1, 0));
  compare(saddle_grid(12, 12, 4, 2, 1e-3));
  compare(saddle_grid(1, 9090, 1, 5, 0)); // 99,990 rows
  compare(saddle_tree(11111, 2, 3, 0));
  compare(saddle_grid(10, 10, 10, 3, 1e-2));
  compare(saddle_grid(22, 22, 22, 1, 1e-2)); // 94,381 rows
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(mumps)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
