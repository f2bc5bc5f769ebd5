// SPDX-License-Identifier: Apache-2.0
// The elementary functions: accuracy against the platform's long double functions on 10^6 arguments
// each, values known to 20 digits, special values of C17 annex F, and a hash of 10^5 results each,
// which every compiler and machine must reproduce.
#include "check.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/math.h"
#include "core/rng.h"

#define ARGUMENT_COUNT 1000000
#define HASHED_COUNT 100000

// ---- arguments --------------------------------------------------------------------------------

// Any finite double, its exponent uniform over the whole range.
static double any_double(CniRng *rng) {
  for (;;) {
    uint64_t bits = cni_rng_next(rng);
    bits ^= cni_rng_next(rng) >> 32; // the generator's low bits are weak
    double x;
    memcpy(&x, &bits, sizeof x);
    if (fabs(x) <= DBL_MAX) return x;
  }
}

// x 2^-k with k uniform in 0 .. 63.
static double shrunk(CniRng *rng, double x) { return ldexp(x, -(int)(cni_rng_next(rng) >> 58)); }

// Angles: everywhere, a few turns, within a few ulps of n pi/2 up to n = 2^52, thousands of turns.
static double draw_angle(CniRng *rng, int32_t i) {
  switch (i % 4) {
  case 0:
    return any_double(rng);
  case 1:
    return cni_rng_range(rng, -10, 10);
  case 2: {
    double n = floor(shrunk(rng, (double)(cni_rng_next(rng) >> 12)));
    return n * (CNI_PI / 2) * (1 + 0x1p-53 * floor(cni_rng_range(rng, -8, 9)));
  }
  default:
    return cni_rng_range(rng, -1e5, 1e5);
  }
}

// Sines: everywhere below 1, uniform, and crowded at both ends.
static double draw_sine(CniRng *rng, int32_t i) {
  double end = 1 - shrunk(rng, cni_rng_unit(rng));
  double x = any_double(rng);
  switch (i % 4) {
  case 0:
    return fabs(x) <= 1 ? x : 1 / x;
  case 1:
    return end;
  case 2:
    return -end;
  default:
    return cni_rng_range(rng, -1, 1);
  }
}

// Exponents: everywhere, the finite range, small ones, and where results become subnormal.
static double draw_exponent(CniRng *rng, int32_t i) {
  switch (i % 4) {
  case 0:
    return any_double(rng);
  case 1:
    return cni_rng_range(rng, -750, 715);
  case 2:
    return shrunk(rng, cni_rng_range(rng, -4, 4));
  default:
    return cni_rng_range(rng, -746, -708);
  }
}

// Positive numbers: everywhere, ordinary ones, and crowded at 1.
static double draw_positive(CniRng *rng, int32_t i) {
  switch (i % 3) {
  case 0:
    return fabs(any_double(rng));
  case 1:
    return cni_rng_range(rng, 0.01, 100);
  default:
    return 1 + shrunk(rng, cni_rng_range(rng, -0.9, 0.9));
  }
}

static double draw_any(CniRng *rng, int32_t i) {
  return i % 2 ? any_double(rng) : cni_rng_range(rng, -10, 10);
}

// Points in the plane: everywhere, at a common scale, beside the diagonals, beside the axes.
static void draw_point(CniRng *rng, int32_t i, double *y, double *x) {
  *x = i % 2 ? any_double(rng) : cni_rng_range(rng, -1, 1);
  switch (i % 4) {
  case 0:
    *y = cni_rng_range(rng, -1, 1);
    break;
  case 1:
    *y = any_double(rng);
    break;
  case 2:
    *y = *x * (1 + shrunk(rng, cni_rng_range(rng, -0.1, 0.1)));
    break;
  default:
    *y = *x * shrunk(rng, cni_rng_range(rng, -1, 1));
    break;
  }
}

// Bases and exponents: everywhere, ordinary ones, whole ones, and such that the result is in range
// though the base is extreme or beside 1. The logarithm is ours: the pairs are part of the hash.
static void draw_power(CniRng *rng, int32_t i, double *x, double *y) {
  double base = draw_positive(rng, (int32_t)(cni_rng_next(rng) >> 40));
  double reach = cni_log_e(base);
  switch (i % 4) {
  case 0:
    *x = fabs(any_double(rng));
    *y = any_double(rng);
    break;
  case 1:
    *x = cni_rng_range(rng, 0, 10);
    *y = cni_rng_range(rng, -20, 20);
    break;
  case 2:
    *x = floor(cni_rng_range(rng, -30, 30));
    *y = floor(cni_rng_range(rng, -20, 20));
    break;
  default:
    *x = base;
    *y = reach != 0 ? cni_rng_range(rng, -750, 715) / reach : 0;
    break;
  }
}

// ---- the functions under test -----------------------------------------------------------------

typedef struct Function {
  const char *name;
  double (*ours)(double);
  long double (*reference)(long double);
  double (*draw)(CniRng *rng, int32_t i);
  uint64_t hash; // of HASHED_COUNT results
} Function;

static const Function functions[] = {
    {"sin", cni_sin, sinl, draw_angle, 0x700fbaf9f39409eeu},
    {"cos", cni_cos, cosl, draw_angle, 0x51f5cb235764e2f1u},
    {"tan", cni_tan, tanl, draw_angle, 0x75f199a9ca21de24u},
    {"asin", cni_asin, asinl, draw_sine, 0xadc5d5b6d9200e01u},
    {"acos", cni_acos, acosl, draw_sine, 0x3fcd91cf22514f0bu},
    {"exp", cni_exp, expl, draw_exponent, 0x229b5763857a1d91u},
    {"log", cni_log_e, logl, draw_positive, 0x75f2459f5ef2b4f7u},
    {"cbrt", cni_cbrt, cbrtl, draw_any, 0xf15a0350655a1f49u},
};
#define FUNCTION_COUNT ((int32_t)(sizeof functions / sizeof functions[0]))

typedef struct Function2 {
  const char *name;
  double (*ours)(double, double);
  long double (*reference)(long double, long double);
  void (*draw)(CniRng *rng, int32_t i, double *a, double *b);
  double limit; // ulps
  uint64_t hash;
} Function2;

static const Function2 functions2[] = {
    {"atan2", cni_atan2, atan2l, draw_point, 1, 0xd818af5ee0369b9eu},
    {"pow", cni_pow, powl, draw_power, 2, 0xd3cc51106e5df454u},
};
#define FUNCTION2_COUNT ((int32_t)(sizeof functions2 / sizeof functions2[0]))

// ---- accuracy ---------------------------------------------------------------------------------

// |result - reference| in units of the last place a double has at the reference.
static double error_in_ulps(double result, long double reference) {
  double nearest = (double)reference;
  if (isnan(nearest)) return isnan(result) ? 0 : HUGE_VAL;
  // beyond the largest double the next one counts as if it were there
  if (isinf(nearest) || isinf(result)) {
    if (isinf(nearest) && isinf(result)) return signbit(nearest) == signbit(result) ? 0 : HUGE_VAL;
    double finite = isinf(result) ? nearest : result;
    return fabs(finite) == DBL_MAX ? 1 : HUGE_VAL;
  }
  int exponent = 0;
  frexp(nearest, &exponent);
  double ulp = ldexp(1, exponent < -1021 || nearest == 0 ? -1074 : exponent - 53);
  return (double)(fabsl((long double)result - reference) / ulp);
}

static void accuracy(void **state) {
  (void)state;
  if (LDBL_MANT_DIG <= DBL_MANT_DIG) skip();
  for (int32_t f = 0; f < FUNCTION_COUNT; f++) {
    CniRng rng = {(uint64_t)f + 1};
    double worst = 0, worst_x = 0;
    for (int32_t i = 0; i < ARGUMENT_COUNT; i++) {
      double x = functions[f].draw(&rng, i);
      double error = error_in_ulps(functions[f].ours(x), functions[f].reference(x));
      if (error > worst) worst = error, worst_x = x;
    }
    print_message("%-6s %.4f ulp at %.17g\n", functions[f].name, worst, worst_x);
    CHECK_NEAR(worst, 0, 1);
  }
}

static void accuracy2(void **state) {
  (void)state;
  if (LDBL_MANT_DIG <= DBL_MANT_DIG) skip();
  for (int32_t f = 0; f < FUNCTION2_COUNT; f++) {
    CniRng rng = {(uint64_t)f + 101};
    double worst = 0, worst_a = 0, worst_b = 0;
    for (int32_t i = 0; i < ARGUMENT_COUNT; i++) {
      double a, b;
      functions2[f].draw(&rng, i, &a, &b);
      double error = error_in_ulps(functions2[f].ours(a, b), functions2[f].reference(a, b));
      if (error > worst) worst = error, worst_a = a, worst_b = b;
    }
    print_message("%-6s %.4f ulp at %.17g, %.17g\n", functions2[f].name, worst, worst_a, worst_b);
    CHECK_NEAR(worst, 0, functions2[f].limit);
  }
}

// Values computed with 900 digits, for platforms without a wider type. The first angle beyond 1e22
// is the double closest to a multiple of pi/2 of all.
static void known_values(void **state) {
  (void)state;
  const double tolerance = 3e-16;
  const double hardest = 0x1.6ac5b262ca1ffp849;
  CHECK_REL(cni_sin(0.5), 0.47942553860420300027, tolerance);
  CHECK_REL(cni_sin(1e22), -0.85220084976718880177, tolerance);
  CHECK_REL(cni_sin(hardest), 1, tolerance);
  CHECK_REL(cni_sin(DBL_MAX), 0.0049619547891840617905, tolerance);
  CHECK_REL(cni_sin(-DBL_MAX), -0.0049619547891840617905, tolerance);
  CHECK_REL(cni_sin(0x1p19), 0.16761802722065430632, tolerance);
  CHECK_REL(cni_cos(0.5), 0.87758256189037271612, tolerance);
  CHECK_REL(cni_cos(1e22), 0.5232147853951389455, tolerance);
  CHECK_REL(cni_cos(hardest), -4.6871659242546276111e-19, tolerance);
  CHECK_REL(cni_cos(-DBL_MAX), -0.99998768942655993746, tolerance);
  CHECK_REL(cni_tan(1e22), -1.6287782256068988785, tolerance);
  CHECK_REL(cni_tan(hardest), -2133485385753703843.7, tolerance);
  CHECK_REL(cni_tan(3), -0.1425465430742778053, tolerance);
  CHECK_REL(cni_asin(0.5), 0.52359877559829887308, tolerance);
  CHECK_REL(cni_asin(1 - 0x1p-53), 1.5707963118937354254, tolerance);
  CHECK_REL(cni_acos(1 - 0x1p-53), 1.4901161193847656388e-8, tolerance);
  CHECK_REL(cni_acos(-0.75), 2.4188584057763776273, tolerance);
  CHECK_REL(cni_atan2(1, 3), 0.3217505543966421934, tolerance);
  CHECK_REL(cni_atan2(-2, -5), -2.7610862764774283522, tolerance);
  CHECK_REL(cni_atan2(1e-300, -1e-300), 2.3561944901923449288, tolerance);
  CHECK_REL(cni_exp(1), 2.7182818284590452354, tolerance);
  CHECK_REL(cni_exp(709.5), 1.3549863193146328309e+308, tolerance);
  CHECK_REL(cni_exp(-0.1), 0.90483741803595956814, tolerance);
  CHECK_REL(cni_log_e(2), 0.69314718055994530942, tolerance);
  CHECK_REL(cni_log_e(1 + 0x1p-52), 2.2204460492503128343e-16, tolerance);
  CHECK_REL(cni_log_e(0x1p-1074), -744.44007192138126231, tolerance);
  CHECK_REL(cni_cbrt(2), 1.2599210498948731648, tolerance);
  CHECK_REL(cni_cbrt(0x1p-1074), 1.703183936003260288e-108, tolerance);
  CHECK_REL(cni_cbrt(-DBL_MAX), -5.6438030941223619735e+102, tolerance);
  CHECK_REL(cni_pow(2, 0.5), 1.4142135623730950488, tolerance);
  CHECK_REL(cni_pow(1 + 0x1p-52, 0x1p61), 2.2844135865396267865e+222, tolerance);
  CHECK_REL(cni_pow(0.1, 20), 1.0000000000000011102e-20, tolerance);
}

// Where the result is a double, nothing else is near enough to be returned.
static void exact_values(void **state) {
  (void)state;
  for (int32_t n = 1; n <= 2000; n++) CHECK(cni_cbrt((double)n * n * n) == n);
  for (int32_t k = -1074; k <= 1023; k++) CHECK(cni_pow(2, k) == ldexp(1, k));
  double power = 1;
  for (int32_t k = 0; k <= 22; k++, power *= 10) CHECK(cni_pow(10, k) == power);
  CHECK(cni_pow(-3, 33) == -5559060566555523);
  CHECK(cni_pow(6.25, 1.5) == 15.625);
}

// ---- special values ---------------------------------------------------------------------------

// The same value, sign of zero included; any NaN equals any other.
static void same(double result, double expected, const char *name, double a, double b) {
  int32_t equal = isnan(expected) ? isnan(result) != 0
                                  : result == expected && !signbit(result) == !signbit(expected);
  if (!equal) print_error("%s(%g, %g) = %g, expected %g\n", name, a, b, result, expected);
  CHECK(equal);
}

static void special_values(void **state) {
  (void)state;
  const double inf = HUGE_VAL, nan = NAN, tiny = 0x1p-1074, half_pi = CNI_PI / 2;
  const struct {
    int32_t function;
    double x, expected;
  } cases[] = {
      {0, 0.0, 0.0},     {0, -0.0, -0.0},    {0, inf, nan},         {0, -inf, nan},
      {0, nan, nan},     {0, tiny, tiny},    {0, -tiny, -tiny},     {1, 0.0, 1},
      {1, -0.0, 1},      {1, inf, nan},      {1, -inf, nan},        {1, nan, nan},
      {1, tiny, 1},      {2, 0.0, 0.0},      {2, -0.0, -0.0},       {2, inf, nan},
      {2, nan, nan},     {2, tiny, tiny},    {3, 0.0, 0.0},         {3, -0.0, -0.0},
      {3, 1, half_pi},   {3, -1, -half_pi},  {3, 1.5, nan},         {3, -inf, nan},
      {3, nan, nan},     {3, tiny, tiny},    {4, 1, 0.0},           {4, -1, CNI_PI},
      {4, 0.0, half_pi}, {4, -0.0, half_pi}, {4, 1 + 0x1p-52, nan}, {4, inf, nan},
      {4, nan, nan},     {4, tiny, half_pi}, {5, 0.0, 1},           {5, -0.0, 1},
      {5, inf, inf},     {5, -inf, 0.0},     {5, nan, nan},         {5, tiny, 1},
      {5, 709.79, inf},  {5, -745.2, 0.0},   {5, -745, tiny},       {5, DBL_MAX, inf},
      {6, 1, 0.0},       {6, 0.0, -inf},     {6, -0.0, -inf},       {6, -1, nan},
      {6, -inf, nan},    {6, inf, inf},      {6, nan, nan},         {6, -tiny, nan},
      {7, 0.0, 0.0},     {7, -0.0, -0.0},    {7, inf, inf},         {7, -inf, -inf},
      {7, nan, nan},     {7, -8, -2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const Function *f = &functions[cases[i].function];
    same(f->ours(cases[i].x), cases[i].expected, f->name, cases[i].x, 0);
  }
}

static void special_atan2(void **state) {
  (void)state;
  const double inf = HUGE_VAL, nan = NAN, tiny = 0x1p-1074, pi = CNI_PI;
  const double cases[][3] = {
      {0.0, 0.0, 0.0},
      {0.0, -0.0, pi},
      {0.0, 3, 0.0},
      {0.0, -3, pi},
      {2, 0.0, pi / 2},
      {2, -0.0, pi / 2},
      {2, -inf, pi},
      {2, inf, 0.0},
      {inf, 2, pi / 2},
      {inf, -inf, 3 * pi / 4},
      {inf, inf, pi / 4},
      {inf, -0.0, pi / 2},
      {tiny, inf, 0.0},
      {tiny, -tiny, 3 * pi / 4},
      {tiny, tiny, pi / 4},
      {tiny, 1, tiny},
      {tiny, -1, pi},
      {1, tiny, pi / 2},
      {DBL_MAX, tiny, pi / 2},
      {tiny, DBL_MAX, 0.0},
      {DBL_MAX, DBL_MAX, pi / 4},
      {DBL_MAX, -DBL_MAX, 3 * pi / 4},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    double y = cases[i][0], x = cases[i][1], angle = cases[i][2];
    same(cni_atan2(y, x), angle, "atan2", y, x);
    same(cni_atan2(-y, x), -angle, "atan2", -y, x);
  }
  same(cni_atan2(nan, 1), nan, "atan2", nan, 1);
  same(cni_atan2(1, nan), nan, "atan2", 1, nan);
}

static void special_pow(void **state) {
  (void)state;
  const double inf = HUGE_VAL, nan = NAN, tiny = 0x1p-1074, big = DBL_MAX;
  const double cases[][3] = {
      {0.0, -3, inf},
      {-0.0, -3, -inf},
      {0.0, -2, inf},
      {-0.0, -2, inf},
      {0.0, -0.5, inf},
      {-0.0, -0.5, inf},
      {0.0, -inf, inf},
      {-0.0, -inf, inf},
      {0.0, 3, 0.0},
      {-0.0, 3, -0.0},
      {0.0, 2, 0.0},
      {-0.0, 2, 0.0},
      {-0.0, 0.5, 0.0},
      {0.0, inf, 0.0},
      {-1, inf, 1},
      {-1, -inf, 1},
      {1, nan, 1},
      {1, inf, 1},
      {nan, 0.0, 1},
      {nan, -0.0, 1},
      {-5, 0.0, 1},
      {inf, 0.0, 1},
      {-2, 0.5, nan},
      {-2, -1.5, nan},
      {0.5, -inf, inf},
      {-0.5, -inf, inf},
      {2, -inf, 0.0},
      {-2, -inf, 0.0},
      {0.5, inf, 0.0},
      {-0.5, inf, 0.0},
      {2, inf, inf},
      {-2, inf, inf},
      {-inf, -3, -0.0},
      {-inf, -2, 0.0},
      {-inf, -0.5, 0.0},
      {-inf, 3, -inf},
      {-inf, 2, inf},
      {-inf, 0.5, inf},
      {inf, -1, 0.0},
      {inf, tiny, inf},
      {nan, 1, nan},
      {2, nan, nan},
      {-1, big, 1},
      {-1, 3, -1},
      {-1, -4, 1},
      {-1, 0.5, nan},
      {big, big, inf},
      {big, -big, 0.0},
      {-big, 3, -inf},
      {-big, -3, -0.0},
      {tiny, tiny, 1},
      {tiny, 1, tiny},
      {-tiny, 1, -tiny},
      {tiny, 2, 0.0},
      {big, 1, big},
      {2, 1024, inf},
      {2, -1075, 0.0},
      {-2, 0x1p53, inf},
      {2, tiny, 1},
      {1 + 0x1p-52, big, inf},
      {1 - 0x1p-53, big, 0.0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    same(cni_pow(cases[i][0], cases[i][1]), cases[i][2], "pow", cases[i][0], cases[i][1]);
}

// ---- the same bits ----------------------------------------------------------------------------

static void same_bits(void **state) {
  (void)state;
  for (int32_t f = 0; f < FUNCTION_COUNT; f++) {
    CniRng rng = {(uint64_t)f + 1};
    uint64_t hash = CNI_HASH_START;
    for (int32_t i = 0; i < HASHED_COUNT; i++) {
      double result = functions[f].ours(functions[f].draw(&rng, i));
      hash = cni_hash_doubles(hash, &result, 1);
    }
    if (hash != functions[f].hash)
      print_error("%s: hash 0x%016jx\n", functions[f].name, (uintmax_t)hash);
    CHECK(hash == functions[f].hash);
  }
  for (int32_t f = 0; f < FUNCTION2_COUNT; f++) {
    CniRng rng = {(uint64_t)f + 101};
    uint64_t hash = CNI_HASH_START;
    for (int32_t i = 0; i < HASHED_COUNT; i++) {
      double a, b;
      functions2[f].draw(&rng, i, &a, &b);
      double result = functions2[f].ours(a, b);
      hash = cni_hash_doubles(hash, &result, 1);
    }
    if (hash != functions2[f].hash)
      print_error("%s: hash 0x%016jx\n", functions2[f].name, (uintmax_t)hash);
    CHECK(hash == functions2[f].hash);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(accuracy),       cmocka_unit_test(accuracy2),
      cmocka_unit_test(known_values),   cmocka_unit_test(exact_values),
      cmocka_unit_test(special_values), cmocka_unit_test(special_atan2),
      cmocka_unit_test(special_pow),    cmocka_unit_test(same_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
