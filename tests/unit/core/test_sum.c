// SPDX-License-Identifier: Apache-2.0
// Exact sums: closed forms over the whole range of doubles, any order, any parts.
#include "check.h"
#include "core/math/sum.h"
#include "core/rng.h"

#include <float.h>
#include <math.h>
#include <string.h>

static double sum_of(const double *x, int32_t count) {
  CniSum sum;
  cni_sum_init(&sum);
  for (int32_t i = 0; i < count; i++) cni_sum_add(&sum, x[i]);
  return cni_sum_value(&sum);
}
#define SUM(...)                                                                                   \
  sum_of((const double[]){__VA_ARGS__},                                                            \
         (int32_t)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)))

static void closed_forms(void **state) {
  (void)state;
  CHECK(SUM(0.0) == 0 && SUM(-0.0) == 0 && SUM(1.5) == 1.5 && SUM(-1.5) == -1.5);
  CHECK(SUM(.1, .2, -.3) == 0x1p-55); // the doubles .1 + .2 - .3, without rounding
  CHECK(SUM(1e308, 1e308, -1e308, -1e308, 1e-300) == 1e-300);
  CHECK(SUM(DBL_MAX, DBL_MAX, -DBL_MAX) == DBL_MAX);
  CHECK(isinf(SUM(DBL_MAX, DBL_MAX)) && SUM(-DBL_MAX, -DBL_MAX) == -INFINITY);
  CHECK(SUM(0x1p-1074, 0x1p-1074) == 0x1p-1073 &&
        SUM(0x1p-1022, -0x1p-1074) == 0x1p-1022 - 0x1p-1074);
  CHECK(isnan(SUM(1.0, INFINITY)) && isnan(SUM(NAN)));
  // ties go to even, and one unit of the smallest double breaks them
  CHECK(SUM(1, 0x1p-53) == 1 && SUM(1, 0x1p-53, 0x1p-1074) == 1 + DBL_EPSILON);
  CHECK(SUM(1 + DBL_EPSILON, 0x1p-53) == 1 + 2 * DBL_EPSILON);
  CHECK(SUM(-1, -0x1p-53) == -1 && SUM(-1, -0x1p-53, -0x1p-1074) == -1 - DBL_EPSILON);
  CHECK(SUM(1, 0x1p-53, -0x1p-1074) == 1);
}

// Every double comes back as it is, at every exponent.
static void single_terms(void **state) {
  (void)state;
  CniRng rng = {3};
  for (int32_t e = -1074; e < 1024; e++)
    for (int32_t k = 0; k < 3; k++) {
      double x = ldexp(cni_rng_range(&rng, 1, 2), e) * (k == 1 ? -1 : 1);
      CHECK(SUM(x) == x);
      CHECK(SUM(x, ldexp(x, -1), -ldexp(x, -1)) == x);
    }
}

// sum i = n (n + 1)/2 in units of 2^-60, beside a large term that leaves again.
static void whole_numbers(void **state) {
  (void)state;
  CniSum sum;
  cni_sum_init(&sum);
  cni_sum_add(&sum, 0x1p400);
  for (int32_t i = 1; i <= 100000; i++) cni_sum_add(&sum, ldexp(i, -60));
  cni_sum_add(&sum, -0x1p400);
  CHECK(cni_sum_value(&sum) == ldexp(100000.0 * 100001 / 2, -60));
}

// Terms over forty decades: any order, any parts, the same bits; a plain sum has others.
static void order_and_parts(void **state) {
  (void)state;
  enum { COUNT = 5000 };
  static double x[COUNT];
  CniRng rng = {11};
  for (int32_t i = 0; i < COUNT; i++)
    x[i] = ldexp(cni_rng_range(&rng, -1, 1), (int)cni_rng_range(&rng, -66, 66));
  double value = sum_of(x, COUNT), plain = 0, back = 0;
  for (int32_t i = 0; i < COUNT; i++) plain += x[i];
  for (int32_t i = COUNT - 1; i >= 0; i--) back += x[i];
  CHECK(plain != back);
  CHECK(fabs(plain - value) <= 1e-12 * 0x1p66);
  for (int32_t parts = 2; parts <= 7; parts++) {
    CniSum all, part[7];
    cni_sum_init(&all);
    for (int32_t k = 0; k < parts; k++) cni_sum_init(&part[k]);
    for (int32_t i = 0; i < COUNT; i++)
      cni_sum_add(&part[i * 577 % COUNT % parts], x[i * 577 % COUNT]);
    for (int32_t k = parts - 1; k >= 0; k--) cni_sum_join(&all, &part[k]);
    double again = cni_sum_value(&all);
    CHECK(memcmp(&again, &value, sizeof value) == 0);
  }
}

// Carries go up before a digit is full.
static void many_terms(void **state) {
  (void)state;
  CniSum sum;
  cni_sum_init(&sum);
  sum.room = 3;
  for (int32_t i = 0; i < 1000; i++) cni_sum_add(&sum, -DBL_MAX);
  for (int32_t i = 0; i < 999; i++) cni_sum_add(&sum, DBL_MAX);
  CHECK(cni_sum_value(&sum) == -DBL_MAX && sum.room > 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(closed_forms),  cmocka_unit_test(single_terms),
      cmocka_unit_test(whole_numbers), cmocka_unit_test(order_and_parts),
      cmocka_unit_test(many_terms),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
