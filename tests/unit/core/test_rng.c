// SPDX-License-Identifier: Apache-2.0
// The random generator: its first values, computed with exact integers, and its range.

#include "check.h"
#include "core/rng.h"

static void first_values(void **state) {
  (void)state;
  // s0 = 0: the first state is the increment itself, 1442695040888963407
  CniRng rng = {0};
  CHECK(cni_rng_next(&rng) == 0x14057b7ef767814fu);
  CHECK(cni_rng_next(&rng) == 0x1a08ee1184ba6d32u);
  CHECK(cni_rng_next(&rng) == 0x9af678222e728119u);
  // s0 = 1: multiplier + increment = 7806831264735756412
  rng.state = 1;
  CHECK(cni_rng_next(&rng) == 7806831264735756412u);
  CHECK(cni_rng_next(&rng) == 0x826886b3864a1b1bu);
  CHECK(cni_rng_next(&rng) == 0xa5fae1992097aa0eu);
}

static void unit_takes_the_top_bits(void **state) {
  (void)state;
  CniRng rng = {1};
  CHECK_NEAR(cni_rng_unit(&rng), 0x1.b15dbeb10ff40p-2, 0);
  CHECK_NEAR(cni_rng_unit(&rng), 0x1.04d10d670c943p-1, 0);
  CHECK_NEAR(cni_rng_unit(&rng), 0x1.4bf5c332412f5p-1, 0);
}

static void range(void **state) {
  (void)state;
  CniRng rng = {42};
  CHECK_NEAR(cni_rng_range(&rng, -1, 3), -1 + 4 * 0x1.22ef15db0fdcbp-1, 0);
  double sum = 0, least = 1, most = 0;
  for (int i = 0; i < 100000; ++i) {
    double u = cni_rng_unit(&rng);
    sum += u;
    if (u < least) least = u;
    if (u > most) most = u;
  }
  // the mean of n draws deviates by 1/sqrt(12 n) = 0.0009
  CHECK_NEAR(sum / 100000, 0.5, 0.004);
  CHECK(least >= 0 && least < 0.001 && most < 1 && most > 0.999);

  // the end never appears, even where rounding would carry the sum to it
  for (int i = 0; i < 1000; ++i) {
    double x = cni_rng_range(&rng, 1, 1 + 0x1p-52);
    CHECK_NEAR(x, 1, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(first_values),
      cmocka_unit_test(unit_takes_the_top_bits),
      cmocka_unit_test(range),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
