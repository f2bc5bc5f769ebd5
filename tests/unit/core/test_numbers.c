// SPDX-License-Identifier: Apache-2.0
// Numbers for programs: identities of the elementary functions, the bits of the library's own, and a random
// sequence whose first members are known.
#include "check.h"

#include <cairn/numbers.h>
#include <fenv.h>

#include "core/math.h"

static void test_functions(void **state) {
  (void)state;
  for (double x = -20; x < 20; x += 0.37) {
    CHECK_NEAR(cn_sin(x) * cn_sin(x) + cn_cos(x) * cn_cos(x), 1, 1e-15);
    CHECK_NEAR(cn_tan(x), cn_sin(x) / cn_cos(x), 1e-13 * (1 + fabs(cn_tan(x))));
    CHECK_REL(cn_exp(x) * cn_exp(-x), 1, 1e-14);
    CHECK_NEAR(cn_cbrt(x) * cn_cbrt(x) * cn_cbrt(x), x, 1e-13);
    CHECK(cn_sin(x) == cni_sin(x) && cn_exp(x) == cni_exp(x));
  }
  CHECK_NEAR(cn_asin(1) + cn_acos(0), CNI_PI, 1e-15);
  CHECK_NEAR(cn_atan2(1, -1), 0.75 * CNI_PI, 1e-15);
  CHECK_REL(cn_pow(2, 0.5), sqrt(2), 1e-15);
  // rounding upward in the host changes nothing
  double usual = cn_sin(1.2345);
  fesetround(FE_UPWARD);
  double other = cn_sin(1.2345);
  fesetround(FE_TONEAREST);
  CHECK(usual == other);
}

static void test_random(void **state) {
  (void)state;
  uint64_t seed = 1;
  double first = cn_random(&seed), sum = first;
  // 1 * 6364136223846793005 + 1442695040888963407 modulo 2^64, its upper 53 bits
  CHECK(seed == 7806831264735756412u && first == (double)(seed >> 11) / 9007199254740992.0);
  for (int i = 1; i < 10000; i++) {
    double x = cn_random(&seed);
    CHECK(x >= 0 && x < 1);
    sum += x;
  }
  CHECK_NEAR(sum / 10000, 0.5, 0.01);
  CHECK(cn_random(NULL) == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_functions),
                                     cmocka_unit_test(test_random)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
