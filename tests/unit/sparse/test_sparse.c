// SPDX-License-Identifier: Apache-2.0
// Sparse matrices by rows against dense ones.
#include "alloc.h"
#include "check.h"

#include "core/rng.h"
#include "sparse/sparse.h"

#include <string.h>

#define MAX 12

static int32_t random_entries(CniRng *rng, int32_t rows, int32_t columns, CniTriplet *entries,
                              int32_t capacity) {
  int32_t count = (int32_t)(cni_rng_unit(rng) * capacity);
  for (int32_t i = 0; i < count; i++)
    entries[i] = (CniTriplet){(int32_t)(cni_rng_unit(rng) * rows),
                              (int32_t)(cni_rng_unit(rng) * columns), cni_rng_range(rng, -1, 1)};
  return count;
}

static void against_dense(void **state) {
  (void)state;
  CnAllocator a = cn_allocator_default();
  CniRng rng = {61};
  for (int32_t round = 0; round < 300; round++) {
    int32_t rows = 1 + round % MAX, columns = 1 + round / 7 % MAX;
    CniTriplet entries[200];
    double dense[MAX][MAX] = {{0}}, x[MAX], y[MAX], z[MAX] = {0};
    int32_t count = random_entries(&rng, rows, columns, entries, round % 3 ? 20 : 200);
    for (int32_t i = 0; i < count; i++)
      dense[entries[i].row][entries[i].column] += entries[i].value;
    CnSparse m, t, c;
    CHECK_OK(cni_sparse_build(&a, rows, columns, entries, count, &m));
    CHECK_OK(cni_sparse_check(&m, "m"));
    CHECK_OK(cni_sparse_transpose(&a, &m, &t));
    CHECK_OK(cni_sparse_check(&t, "t"));
    CHECK_OK(cni_sparse_copy(&a, &m, &c));
    CHECK(t.row_count == columns && t.column_count == rows);
    for (int32_t i = 0; i < rows; i++)
      for (int32_t j = 0; j < columns; j++) {
        // duplicates are added in the order given: the same bits
        CHECK_NEAR(cni_sparse_entry(&m, i, j), dense[i][j], 0);
        CHECK_NEAR(cni_sparse_entry(&t, j, i), dense[i][j], 0);
        CHECK_NEAR(cni_sparse_entry(&c, i, j), dense[i][j], 0);
      }
    for (int32_t i = 0; i < MAX; i++) x[i] = cni_rng_range(&rng, -1, 1);
    cni_sparse_multiply(&m, x, y);
    cni_sparse_add_transposed(&t, x, z);
    for (int32_t i = 0; i < rows; i++) {
      double expected = 0;
      for (int32_t j = 0; j < columns; j++) expected += dense[i][j] * x[j];
      CHECK_NEAR(y[i], expected, 1e-14);
      CHECK_NEAR(z[i], expected, 1e-14);
    }
    cni_sparse_release(&a, &m);
    cni_sparse_release(&a, &t);
    cni_sparse_release(&a, &c);
    CHECK(m.start == NULL && cni_sparse_entry_count(&m) == 0);
  }
}

static void refusals(void **state) {
  (void)state;
  CnAllocator a = cn_allocator_default();
  CniTriplet out = {0, 2, 1};
  CnSparse m;
  CHECK_STATUS(cni_sparse_build(&a, 2, 2, &out, 1, &m), CN_INVALID_ARGUMENT);
  CHECK(m.start == NULL);
  out = (CniTriplet){-1, 0, 1};
  CHECK_STATUS(cni_sparse_build(&a, 2, 2, &out, 1, &m), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cni_sparse_check(NULL, "m"), CN_INVALID_ARGUMENT);
  int32_t start[3] = {0, 1, 2}, column[2] = {0, 1};
  double value[2] = {1, 2};
  m = (CnSparse){2, 2, start, column, value};
  CHECK_OK(cni_sparse_check(&m, "m"));
  column[1] = 2;
  CHECK_STATUS(cni_sparse_check(&m, "m"), CN_INVALID_ARGUMENT);
  column[1] = 1;
  start[0] = 1;
  CHECK_STATUS(cni_sparse_check(&m, "m"), CN_INVALID_ARGUMENT);
  start[0] = 0;
  start[1] = 3;
  CHECK_STATUS(cni_sparse_check(&m, "m"), CN_INVALID_ARGUMENT);
  start[1] = 1;
  value[0] = INFINITY;
  CHECK_STATUS(cni_sparse_check(&m, "m"), CN_INVALID_ARGUMENT);
  m.row_count = -1;
  CHECK_STATUS(cni_sparse_check(&m, "m"), CN_INVALID_ARGUMENT);
}

static void no_memory(void **state) {
  (void)state;
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  CniTriplet entries[4] = {{1, 1, 1}, {0, 0, 2}, {1, 1, 3}, {0, 1, 4}};
  for (int64_t n = 1;; n++) {
    CnSparse m;
    test_alloc_fail_at(&alloc, n);
    CnStatus status = cni_sparse_build(&hook, 2, 2, entries, 4, &m);
    if (alloc.failed_count == 0) {
      CHECK_OK(status);
      CHECK(cni_sparse_entry_count(&m) == 3);
      cni_sparse_release(&hook, &m);
      CHECK(n == 10);
      break;
    }
    CHECK_FAILED(status, CN_NO_MEMORY);
    CHECK(m.start == NULL);
    test_alloc_check_clean(&alloc);
  }
  test_alloc_check_clean(&alloc);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(against_dense),
      cmocka_unit_test(refusals),
      cmocka_unit_test(no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
