// SPDX-License-Identifier: Apache-2.0
// L D L^T: solutions to round-off for block-diagonal, chain, arrow and random matrices, also where
// M is symmetric only to some digits; components; what is not positive definite is refused.
#include "alloc.h"
#include "check.h"
#include "sparse/sparse.h"

#include <string.h>

#define LARGEST 4000

typedef struct List {
  CniTriplet entry[LARGEST];
  int32_t count;
} List;

static void add(List *list, int32_t row, int32_t column, double value) {
  CHECK(list->count < LARGEST);
  list->entry[list->count++] = (CniTriplet){row, column, value};
}

static double random_number(uint64_t *s) {
  *s = *s * 6364136223846793005u + 1442695040888963407u;
  return (double)(*s >> 11) * 0x1p-53;
}

// |M x - b| in units of the largest entry of M times |x|, for b = M x_true of random x_true.
static double error_of(const List *list, int32_t n, int32_t *components) {
  const CnAllocator a = cn_allocator_default();
  CnSparse m;
  CniFactor *f;
  CHECK_OK(cni_sparse_build(&a, n, n, list->entry, list->count, &m));
  CHECK_OK(cni_factor_create(&a, &m, "M", &f));
  double expected[200], x[200], r[200], worst = 0;
  uint64_t s = 7;
  for (int32_t i = 0; i < n; i++) expected[i] = random_number(&s) - .5;
  cni_sparse_multiply(&m, expected, x);
  memcpy(r, x, sizeof r);
  cni_factor_solve(f, x);
  double back[200];
  cni_sparse_multiply(&m, x, back);
  for (int32_t i = 0; i < n; i++) worst = fmax(worst, fabs(back[i] - r[i]));
  if (components) *components = f->component_count;
  cni_factor_destroy(f);
  cni_sparse_release(&a, &m);
  return worst;
}

static void chain(List *list, int32_t n, double skew) {
  for (int32_t i = 0; i < n; i++) {
    add(list, i, i, 2.5);
    if (i + 1 == n) continue;
    add(list, i, i + 1, -1);
    add(list, i + 1, i, -1 - skew);
  }
}

static void kinds(void **state) {
  (void)state;
  static List list;
  int32_t components;
  // separate bodies: blocks of six
  list.count = 0;
  uint64_t s = 3;
  for (int32_t b = 0; b < 10; b++)
    for (int32_t i = 0; i < 6; i++)
      for (int32_t j = 0; j <= i; j++) {
        double value = i == j ? 4 : random_number(&s) - .5;
        add(&list, 6 * b + i, 6 * b + j, value);
        if (i != j) add(&list, 6 * b + j, 6 * b + i, value);
      }
  CHECK(error_of(&list, 60, &components) < 1e-14);
  CHECK(components == 10);

  list.count = 0;
  chain(&list, 150, 0);
  CHECK(error_of(&list, 150, &components) < 1e-14);
  CHECK(components == 1);

  // an arrow: everything hangs on row 0, which a bad order would make full
  list.count = 0;
  for (int32_t i = 0; i < 150; i++) {
    add(&list, i, i, i ? 2 : 200);
    if (i) add(&list, 0, i, 1);
    if (i) add(&list, i, 0, 1);
  }
  CHECK(error_of(&list, 150, NULL) < 1e-13);

  // symmetric to three digits only: solved as it stands
  list.count = 0;
  chain(&list, 150, 1e-3);
  CHECK(error_of(&list, 150, NULL) < 1e-14);
}

// A right-hand side in one component leaves the others alone.
static void one_component(void **state) {
  (void)state;
  const CnAllocator a = cn_allocator_default();
  const CniTriplet entries[] = {{0, 0, 2}, {1, 1, 4}, {2, 2, 5}, {1, 2, 1}, {2, 1, 1}};
  CnSparse m;
  CniFactor *f;
  CHECK_OK(cni_sparse_build(&a, 3, 3, entries, 5, &m));
  CHECK_OK(cni_factor_create(&a, &m, "M", &f));
  CHECK(f->component_count == 2 && f->component[1] == f->component[2]);
  double x[] = {123, 5, 6};
  cni_factor_solve_component(f, f->component[1], x);
  CHECK_NEAR(x[0], 123, 0);
  CHECK_NEAR(x[1], 1, 1e-15);
  CHECK_NEAR(x[2], 1, 1e-15);
  cni_factor_destroy(f);
  cni_sparse_release(&a, &m);
}

static void refusals(void **state) {
  (void)state;
  const CnAllocator a = cn_allocator_default();
  const CniTriplet indefinite[] = {{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {1, 1, 1}};
  const CniTriplet singular[] = {{0, 0, 1}, {0, 1, 1}, {1, 0, 1}, {1, 1, 1}};
  const CniTriplet hollow[] = {{0, 0, 1}};
  const struct {
    const CniTriplet *entries;
    int32_t count;
  } rows[] = {{indefinite, 4}, {singular, 4}, {hollow, 1}};
  for (int32_t i = 0; i < 3; i++) {
    CnSparse m;
    CniFactor *f;
    CHECK_OK(cni_sparse_build(&a, 2, 2, rows[i].entries, rows[i].count, &m));
    CHECK_STATUS(cni_factor_create(&a, &m, "M", &f), CN_INVALID_DATA);
    CHECK(!f && strncmp(cn_error_message(), "M is not positive definite", 26) == 0);
    cni_sparse_release(&a, &m);
  }
}

static void memory(void **state) {
  (void)state;
  static List list;
  list.count = 0;
  chain(&list, 30, 1e-3);
  const CnAllocator plain = cn_allocator_default();
  CnSparse m;
  CHECK_OK(cni_sparse_build(&plain, 30, 30, list.entry, list.count, &m));
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  for (int32_t n = 1;; n++) {
    CniFactor *f;
    test_alloc_fail_at(&alloc, n);
    CnStatus status = cni_factor_create(&hook, &m, "M", &f);
    if (!alloc.failed_count) {
      CHECK_OK(status);
      cni_factor_destroy(f);
      break;
    }
    CHECK(status == CN_NO_MEMORY && !f);
    test_alloc_check_clean(&alloc);
  }
  test_alloc_check_clean(&alloc);
  cni_sparse_release(&plain, &m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kinds),
      cmocka_unit_test(one_component),
      cmocka_unit_test(refusals),
      cmocka_unit_test(memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
