// SPDX-License-Identifier: Apache-2.0
// Decimal numbers: the nearest double always, in any locale. The oracle is the C library's strtod.
#include "io/tools/decimal.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static uint64_t bits(double x) {
  uint64_t b;
  memcpy(&b, &x, sizeof b);
  return b;
}

static double from_bits(uint64_t b) {
  double x;
  memcpy(&x, &b, sizeof x);
  return x;
}

static void check_against_oracle(const char *text) {
  double expected = strtod(text, NULL), value;
  CniDecimal outcome = cni_decimal_parse(text, strlen(text), &value);
  if (isfinite(expected)) {
    CHECK(outcome == CNI_DECIMAL_OK);
    if (bits(value) != bits(expected)) print_error("%s: %a, not %a\n", text, value, expected);
    CHECK(bits(value) == bits(expected));
  } else {
    CHECK(outcome == CNI_DECIMAL_TOO_LARGE && value == 0);
  }
}

static uint64_t next(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state ^ (*state >> 29);
}

// Random bit patterns, written with 6 to 25 digits.
static void any_double(void **state) {
  (void)state;
  uint64_t s = 1;
  for (int i = 0; i < 100000; i++) {
    double x = from_bits(next(&s));
    char text[64];
    if (!isfinite(x)) continue;
    snprintf(text, sizeof text, "%.*e", i % 2 ? 24 : (int)(next(&s) % 20) + 5, x);
    check_against_oracle(text);
  }
}

// Halfway between two doubles, exactly and a little above: the hard cases, subnormals among them.
static void midpoints(void **state) {
  (void)state;
  uint64_t s = 2;
  for (int i = 0; i < 4000; i++) {
    uint64_t b = next(&s) & 0x7fffffffffffffff;
    if (i % 4 == 0) b &= 0xfffffffffffff;
    if (i % 4 == 1) b &= 0x7ff0000000000000;
    double x = from_bits(b), y = from_bits(b + 1);
    char text[1024];
    if (!isfinite(y)) continue;
    long double middle = ((long double)x + (long double)y) / 2;
    snprintf(text, sizeof text, "%.780Le", middle);
    check_against_oracle(text);
    char *e = strchr(text, 'e');
    memmove(e + 1, e, strlen(e) + 1);
    *e = '1';
    check_against_oracle(text);
  }
}

static void forms(void **state) {
  (void)state;
  static const char *const good[] = {"0",
                                     "-0",
                                     "1",
                                     "+3.5",
                                     ".5",
                                     "5.",
                                     "1e5",
                                     "1E-5",
                                     "-2.5e+003",
                                     "1e400",
                                     "-1e309",
                                     "1e-400",
                                     "4.9e-324",
                                     "2.4703282292062327e-324",
                                     "2.4703282292062328e-324",
                                     "1.7976931348623157e308",
                                     "1.7976931348623159e308",
                                     "0e999999999999999999999",
                                     "1e999999999999999999999",
                                     "1e-999999999999999999999",
                                     "9007199254740993",
                                     "0.000000000000000000000000000000000000001"};
  static const char *const bad[] = {"",    "-",    "+",  ".",  "e5",  "1e",    "1e+",   "nan",
                                    "inf", "0x10", "1 ", " 1", "1,5", "1.2.3", "1e5.0", "--1"};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) check_against_oracle(good[i]);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    double value = 7;
    CHECK(cni_decimal_parse(bad[i], strlen(bad[i]), &value) == CNI_DECIMAL_SYNTAX && value == 0);
  }
  // no end of digits
  char text[5000];
  memset(text, '3', sizeof text - 1);
  text[1] = '.';
  text[sizeof text - 1] = 0;
  check_against_oracle(text);
}

static void round_trip(void **state) {
  (void)state;
  uint64_t s = 3;
  char text[CNI_DECIMAL_SIZE];
  for (int i = 0; i < 20000; i++) {
    double x = from_bits(next(&s)), back;
    if (!isfinite(x)) continue;
    size_t length = cni_decimal_write(x, text);
    CHECK(length == strlen(text));
    CHECK(cni_decimal_parse(text, length, &back) == CNI_DECIMAL_OK && bits(back) == bits(x));
  }
  cni_decimal_write(.1, text);
  assert_string_equal(text, "0.1");
  cni_decimal_write(-1e300, text);
  assert_string_equal(text, "-1e+300");
}

// Where a comma is the point of the country, files keep theirs.
static void locale(void **state) {
  (void)state;
  static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
  int found = 0;
  for (size_t i = 0; i < sizeof names / sizeof names[0] && !found; i++)
    found = setlocale(LC_NUMERIC, names[i]) != NULL;
  if (!found) skip();
  char text[CNI_DECIMAL_SIZE];
  double value;
  cni_decimal_write(1.5, text);
  CniDecimal outcome = cni_decimal_parse("2.25", 4, &value);
  setlocale(LC_NUMERIC, "C");
  assert_string_equal(text, "1.5");
  CHECK(outcome == CNI_DECIMAL_OK);
  CHECK_NEAR(value, 2.25, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_double), cmocka_unit_test(midpoints), cmocka_unit_test(forms),
      cmocka_unit_test(round_trip), cmocka_unit_test(locale),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
