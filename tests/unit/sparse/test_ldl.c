// SPDX-License-Identifier: Apache-2.0
// L D L^T of quasi-definite matrices: 1,000 random ones against dense elimination, the saddle
// matrices of mechanics, the same bits with and without workers, replaced pivots, memory.
#include "alloc.h"
#include "check.h"
#include "core/rng.h"
#include "saddle.h"

#include <stdlib.h>
#include <string.h>

// Random quasi-definite: diagonally dominant blocks of both signs, arbitrary coupling between them.
static Saddle random_matrix(CniRng *rng, int32_t n) {
  int8_t sign[200];
  double sum[200] = {0};
  SaddleList list = {0};
  int32_t plus = 1 + (int32_t)cni_rng_range(rng, 0, n - 1);
  double density = cni_rng_range(rng, .02, .5);
  for (int32_t i = 0; i < n; i++) sign[i] = i < plus ? 1 : -1;
  for (int32_t j = 0; j < n; j++)
    for (int32_t i = 0; i < j; i++) {
      if (cni_rng_unit(rng) > density) continue;
      double value = cni_rng_range(rng, -1, 1);
      saddle_add(&list, i, j, value);
      if (sign[i] != sign[j]) continue;
      sum[i] += fabs(value);
      sum[j] += fabs(value);
    }
  for (int32_t i = 0; i < n; i++)
    saddle_add(&list, i, i, sign[i] * (sum[i] + cni_rng_range(rng, .3, 3)));
  return saddle_build(&list, n, sign);
}

static void dense_solution(const CnSparse *upper, double *x) {
  int32_t n = upper->row_count, stride = cni_dense_stride(n), pivot[200];
  double *a = aligned_alloc(64, (size_t)n * (size_t)stride * sizeof *a);
  memset(a, 0, (size_t)n * (size_t)stride * sizeof *a);
  for (int32_t j = 0; j < n; j++)
    for (int32_t e = upper->start[j]; e < upper->start[j + 1]; e++)
      a[(int64_t)j * stride + upper->column[e]] = a[(int64_t)upper->column[e] * stride + j] =
          upper->value[e];
  CHECK(cni_dense_factor(cni_dense_kernels(), n, a, stride, pivot, 0));
  cni_dense_solve(n, a, stride, pivot, x);
  free(a);
}

static double difference(int32_t n, const double *x, const double *y) {
  double worst = 0, size = 0;
  for (int32_t i = 0; i < n; i++) {
    worst = fmax(worst, fabs(x[i] - y[i]));
    size = fmax(size, fabs(y[i]));
  }
  return worst / size;
}

static void random_matrices(void **state) {
  (void)state;
  const CnAllocator a = cn_allocator_default();
  CniRng rng = {17};
  for (int32_t trial = 0; trial < 1000; trial++) {
    int32_t n = 1 + (int32_t)cni_rng_range(&rng, 0, 120);
    Saddle m = random_matrix(&rng, n);
    CniLdl *ldl;
    CniLdlReport report;
    CHECK_OK(cni_ldl_create(&a, &m.upper, m.sign, NULL, &ldl));
    CHECK_OK(cni_ldl_factor(ldl, m.upper.value, NULL, &report));
    CHECK(report.replaced == 0);
    double b[400], x[400], y[200];
    for (int32_t i = 0; i < 2 * n; i++) x[i] = b[i] = cni_rng_range(&rng, -1, 1);
    cni_ldl_solve(ldl, x, 2);
    for (int32_t k = 0; k < 2; k++) {
      memcpy(y, b + k * n, (size_t)n * sizeof *y);
      dense_solution(&m.upper, y);
      CHECK_NEAR(difference(n, x + k * n, y), 0, 1e-12);
    }
    CHECK(cni_ldl_refine(ldl, m.upper.value, b, x, 3) < 1e-15);
    cni_ldl_destroy(ldl);
    saddle_release(&m);
  }
}

static void mechanisms(void **state) {
  (void)state;
  const CnAllocator a = cn_allocator_default();
  const struct {
    int32_t across, along, up, rows;
    double compliance;
  } cases[] = {{1, 200, 1, 5, 0},
               {12, 12, 1, 2, 0},
               {20, 20, 1, 3, 1e-3},
               {1, 1000, 1, 3, 1e-6},
               {5, 5, 5, 1, 0}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    Saddle m = saddle_grid(cases[c].across, cases[c].along, cases[c].up, cases[c].rows,
                           cases[c].compliance);
    int32_t n = m.upper.row_count;
    CniLdl *ldl;
    CniLdlReport report;
    CHECK_OK(cni_ldl_create(&a, &m.upper, m.sign, NULL, &ldl));
    CHECK_OK(cni_ldl_factor(ldl, m.upper.value, NULL, &report));
    CHECK(report.replaced == 0);
    double *b = malloc((size_t)n * sizeof *b), *x = malloc((size_t)n * sizeof *x);
    CniRng rng = {3};
    for (int32_t i = 0; i < n; i++) b[i] = cni_rng_range(&rng, -1, 1);
    CHECK(cni_ldl_refine(ldl, m.upper.value, b, x, 5) < 1e-15);
    free(b);
    free(x);
    cni_ldl_destroy(ldl);
    saddle_release(&m);
  }
}

// The same bits with any number of workers, and when factored again.
static void workers(void **state) {
  (void)state;
  const CnAllocator a = cn_allocator_default();
  Saddle m = saddle_grid(40, 40, 1, 3, 1e-4);
  int32_t n = m.upper.row_count;
  double *first = malloc((size_t)n * sizeof *first), *x = malloc((size_t)n * sizeof *x);
  CniLdl *ldl;
  CHECK_OK(cni_ldl_create(&a, &m.upper, m.sign, NULL, &ldl));
  for (int32_t count = 0; count <= 3; count++) {
    CnTasks *tasks = NULL;
    if (count > 0) CHECK_OK(cn_tasks_create(count, NULL, NULL, &tasks));
    double *y = count == 0 ? first : x;
    for (int32_t i = 0; i < n; i++) y[i] = i % 7 - 3;
    CHECK_OK(cni_ldl_factor(ldl, m.upper.value, tasks, NULL));
    cni_ldl_solve(ldl, y, 1);
    if (count > 0) CHECK(memcmp(x, first, (size_t)n * sizeof *x) == 0);
    cn_tasks_destroy(tasks);
  }
  cni_ldl_destroy(ldl);
  free(first);
  free(x);
  saddle_release(&m);
}

// A row given twice: its pivot is replaced and named, and the solution of consistent equations is
// found all the same.
static void redundant(void **state) {
  (void)state;
  const CnAllocator a = cn_allocator_default();
  const int8_t sign[] = {1, 1, -1, -1};
  SaddleList list = {0};
  saddle_add(&list, 0, 0, 2);
  saddle_add(&list, 1, 1, 3);
  for (int32_t row = 2; row < 4; row++) {
    saddle_add(&list, row, 0, .3);
    saddle_add(&list, row, 1, .7);
  }
  Saddle m = saddle_build(&list, 4, sign);
  CniLdl *ldl;
  CniLdlReport report;
  CHECK_OK(cni_ldl_create(&a, &m.upper, m.sign, NULL, &ldl));
  CHECK_OK(cni_ldl_factor(ldl, m.upper.value, NULL, &report));
  CHECK(report.replaced == 1 && report.worst >= 2);
  const double b[] = {1, 1, .5, .5};
  double x[4];
  cni_ldl_refine(ldl, m.upper.value, b, x, 5);
  CHECK_NEAR(.3 * x[0] + .7 * x[1], .5, 1e-14);
  CHECK_NEAR((2 * x[0] - 1) / .3, (3 * x[1] - 1) / .7, 1e-8);
  cni_ldl_destroy(ldl);
  saddle_release(&m);
}

// Late rows are the last; a row that is not finite is an error.
static void late_and_wrong(void **state) {
  (void)state;
  const CnAllocator a = cn_allocator_default();
  Saddle m = saddle_grid(3, 3, 1, 2, 1e-3);
  int32_t n = m.upper.row_count;
  int8_t *late = malloc((size_t)n);
  for (int32_t i = 0; i < n; i++) late[i] = m.sign[i] < 0;
  CniLdl *ldl;
  CHECK_OK(cni_ldl_create(&a, &m.upper, m.sign, late, &ldl));
  // postordering may put an early row after a late one of another subtree, never after its
  // ancestor: in the factor no late row is eliminated before an early one it is connected to
  const int32_t *order = cni_ldl_order(ldl);
  int32_t *place = malloc((size_t)n * sizeof *place);
  for (int32_t i = 0; i < n; i++) place[order[i]] = i;
  for (int32_t j = 0; j < n; j++)
    for (int32_t e = m.upper.start[j]; e < m.upper.start[j + 1]; e++)
      if (late[j] && !late[m.upper.column[e]]) CHECK(place[m.upper.column[e]] < place[j]);
  m.upper.value[3] = NAN;
  CHECK_STATUS(cni_ldl_factor(ldl, m.upper.value, NULL, NULL), CN_NOT_FINITE);
  free(place);
  free(late);
  cni_ldl_destroy(ldl);
  saddle_release(&m);
}

static void memory(void **state) {
  (void)state;
  Saddle m = saddle_grid(4, 4, 1, 2, 0);
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  for (int32_t n = 1;; n++) {
    CniLdl *ldl;
    test_alloc_fail_at(&alloc, n);
    CnStatus status = cni_ldl_create(&hook, &m.upper, m.sign, NULL, &ldl);
    if (!alloc.failed_count) {
      CHECK_OK(status);
      cni_ldl_destroy(ldl);
      break;
    }
    CHECK(status == CN_NO_MEMORY && !ldl);
    test_alloc_check_clean(&alloc);
  }
  test_alloc_check_clean(&alloc);
  saddle_release(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_matrices), cmocka_unit_test(mechanisms),
      cmocka_unit_test(workers),         cmocka_unit_test(redundant),
      cmocka_unit_test(late_and_wrong),  cmocka_unit_test(memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
