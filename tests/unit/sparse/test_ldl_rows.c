// SPDX-License-Identifier: Apache-2.0
// Rows switched on and off: after a thousand random switches the solution is that of a fresh
// factorisation; dependent rows are refused; what is off stays out.
#include "check.h"
#include "core/rng.h"
#include "saddle.h"

#include <stdlib.h>
#include <string.h>

typedef struct Pair {
  Saddle m;
  CniLdl *changed, *fresh;
  uint8_t *on;
  double *b, *x, *y;
  int32_t n;
} Pair;

static Pair begin(Saddle m) {
  const CnAllocator a = cn_allocator_default();
  Pair p = {.m = m, .n = m.upper.row_count};
  CHECK_OK(cni_ldl_create(&a, &m.upper, m.sign, NULL, &p.changed));
  CHECK_OK(cni_ldl_create(&a, &m.upper, m.sign, NULL, &p.fresh));
  CHECK_OK(cni_ldl_prepare_rows(p.changed));
  CHECK_OK(cni_ldl_prepare_rows(p.fresh));
  p.on = malloc((size_t)p.n);
  p.b = malloc((size_t)p.n * sizeof *p.b);
  p.x = malloc((size_t)p.n * sizeof *p.x);
  p.y = malloc((size_t)p.n * sizeof *p.y);
  CniRng rng = {9};
  for (int32_t i = 0; i < p.n; i++) {
    p.on[i] = m.sign[i] > 0;
    p.b[i] = cni_rng_range(&rng, -1, 1);
  }
  CHECK_OK(cni_ldl_factor_rows(p.changed, m.upper.value, p.on, NULL, NULL));
  return p;
}

static void end(Pair *p) {
  cni_ldl_destroy(p->changed);
  cni_ldl_destroy(p->fresh);
  saddle_release(&p->m);
  free(p->on);
  free(p->b);
  free(p->x);
  free(p->y);
}

// Largest difference of the solutions, without refinement, over the largest number.
static double compare(Pair *p) {
  double worst = 0, size = 0;
  CHECK_OK(cni_ldl_factor_rows(p->fresh, p->m.upper.value, p->on, NULL, NULL));
  for (int32_t i = 0; i < p->n; i++) p->x[i] = p->y[i] = p->on[i] ? p->b[i] : 0;
  cni_ldl_solve(p->changed, p->x, 1);
  cni_ldl_solve(p->fresh, p->y, 1);
  for (int32_t i = 0; i < p->n; i++) {
    worst = fmax(worst, fabs(p->x[i] - p->y[i]));
    size = fmax(size, fabs(p->y[i]));
  }
  return worst / size;
}

static void thousand(Saddle m) {
  Pair p = begin(m);
  CniRng rng = {31};
  double share;
  for (int32_t k = 0; k < 1000; k++) {
    int32_t row;
    do row = (int32_t)cni_rng_range(&rng, 0, p.n);
    while (m.sign[row] > 0);
    CniSwitch result = p.on[row] ? cni_ldl_switch_off(p.changed, row)
                                 : cni_ldl_switch_on(p.changed, m.upper.value, row, 1e-12, &share);
    CHECK(result == CNI_SWITCHED);
    p.on[row] = !p.on[row];
    if (k % 100 == 99) CHECK_NEAR(compare(&p), 0, 1e-9);
  }
  CHECK(cni_ldl_switches(p.changed) == 1000);
  CHECK(cni_ldl_refine(p.changed, m.upper.value, p.b, p.x, 3) < 1e-15);
  for (int32_t i = 0; i < p.n; i++)
    if (!p.on[i]) CHECK_NEAR(p.x[i], 0, 0);
  end(&p);
}

static void switches(void **state) {
  (void)state;
  thousand(saddle_grid(1, 60, 1, 5, 0));
  thousand(saddle_grid(6, 6, 1, 2, 0));
  thousand(saddle_grid(6, 6, 1, 3, 1e-3));
  thousand(saddle_grid(4, 4, 4, 1, 0));
  thousand(saddle_tree(60, 3, 5, 0));
}

// The second of two equal rows cannot be put in, whatever has been switched before; without the
// first it can.
static void dependent(void **state) {
  (void)state;
  SaddleList list = {0};
  const int8_t sign[] = {1, 1, 1, -1, -1, -1};
  for (int32_t i = 0; i < 3; i++) saddle_add(&list, i, i, 1 + i);
  for (int32_t row = 3; row < 5; row++) {
    saddle_add(&list, row, 0, .1);
    saddle_add(&list, row, 1, .7);
  }
  saddle_add(&list, 5, 1, .3);
  saddle_add(&list, 5, 2, -.9);
  Pair p = begin(saddle_build(&list, 6, sign));
  const double *value = p.m.upper.value;
  double share;
  CHECK(cni_ldl_switch_on(p.changed, value, 5, 1e-12, &share) == CNI_SWITCHED);
  CHECK(cni_ldl_switch_on(p.changed, value, 3, 1e-12, &share) == CNI_SWITCHED && share > .1);
  CHECK(cni_ldl_switch_on(p.changed, value, 4, 1e-12, &share) == CNI_DEPENDENT && share < 1e-15);
  p.on[3] = p.on[5] = 1;
  CHECK_NEAR(compare(&p), 0, 1e-14);
  CHECK(cni_ldl_switch_off(p.changed, 3) == CNI_SWITCHED);
  CHECK(cni_ldl_switch_on(p.changed, value, 4, 1e-12, &share) == CNI_SWITCHED);
  p.on[3] = 0;
  p.on[4] = 1;
  CHECK_NEAR(compare(&p), 0, 1e-14);
  end(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(switches), cmocka_unit_test(dependent)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
