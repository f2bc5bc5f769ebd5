// SPDX-License-Identifier: Apache-2.0
// Exponential, natural logarithm and power.
//
// exp: x = k ln 2 + r with |r| <= ln 2/2, r as a pair of doubles, and Taylor's series for e^r; the
// factor 2^k goes into the exponent.
//
// log: x = 2^k m with 45/64 <= m < 91/64. A table gives for each 64th part c near 1/m with 8 bits
// and log c, so that m c = 1 + r with |r| <= 1/64 (known exactly as a pair) and
//   log x = k ln 2 - log c + r - r^2/2 + r^3/3 - ... .
// Beside m = 1 the table has c = 1: nothing cancels and the relative error stays below 2^-64. k
// LN2_HI and the table's leading parts are multiples of 2^-42 below 2^11, so their sum is exact.
//
// pow: exp(y log x) with the logarithm and the product as pairs; y log x is below 745, so an error
// of 2^-64 in the logarithm costs at most 745 2^-64 < 2^-54: a quarter of an ulp.
// Error of exp and log: at most 0.55 ulp, of pow 0.8; a subnormal result is rounded twice and may
// lie another quarter off.
#include "core/math.h"
#include "core/math/math_pair.h"
#include "core/math/math_tables.h"

// e^x for |x.hi| < 1000.
static double exp_pair(Pair x) {
  double k = nearest_integer(x.hi * ONE_OVER_LN2);
  // x - k LN2_HI is exact: the terms are close and multiples of a common place
  Pair r = two_sum(x.hi - k * LN2_HI, x.lo - k * LN2_LO);

  // e^r - 1 - r - r^2/2 to r^14/14!
  double z = r.hi;
  double tail = 1.0 / 87178291200;
  tail = 1.0 / 6227020800 + z * tail;
  tail = 1.0 / 479001600 + z * tail;
  tail = 1.0 / 39916800 + z * tail;
  tail = 1.0 / 3628800 + z * tail;
  tail = 1.0 / 362880 + z * tail;
  tail = 1.0 / 40320 + z * tail;
  tail = 1.0 / 5040 + z * tail;
  tail = 1.0 / 720 + z * tail;
  tail = 1.0 / 120 + z * tail;
  tail = 1.0 / 24 + z * tail;
  tail = 1.0 / 6 + z * tail;
  Pair square = two_product(z, z);
  Pair lead = quick_sum(1, z);
  Pair sum = quick_sum(lead.hi, 0.5 * square.hi);
  double rest = sum.lo + lead.lo + 0.5 * square.lo + z * square.hi * tail + r.lo * (1 + z);
  double result = sum.hi + rest;

  // 2^k in two factors: only the last product can leave the normal range
  int32_t power = (int32_t)k, half = power / 2;
  return result * power_of_two(half) * power_of_two(power - half);
}

double cni_exp(double x) {
  if (x != x) return x;
  if (x > 710) return HUGE_VAL;
  if (x < -746) return 0;
  return exp_pair((Pair){x, 0});
}

// log x for positive finite x.
static Pair log_pair(double x) {
  int32_t k = 0;
  if (x < DBL_MIN) {
    x *= 0x1p54;
    k = -54;
  }
  uint64_t bits = bits_of(x);
  k += (int32_t)(bits >> 52) - 1023;
  double m = double_of((bits & 0xfffffffffffffu) | 0x3ff0000000000000u);
  if (m >= 91.0 / 64) {
    m *= 0.5;
    k++;
  }
  const double *row = log_table[(int32_t)(m * 64) - LOG_TABLE_FIRST];

  // r = m c - 1: the leading part of the product is within a factor of two of 1, so that 1 is
  // subtracted exactly
  Pair product = two_product(m, row[0]);
  Pair r = quick_sum(product.hi - 1, product.lo);

  // log(1 + r) - r = -r^2/2 + r^3 (1/3 - r/4 + ...), to r^13
  double z = r.hi;
  double tail = 1.0 / 12 - z * (1.0 / 13);
  tail = 1.0 / 11 - z * tail;
  tail = 1.0 / 10 - z * tail;
  tail = 1.0 / 9 - z * tail;
  tail = 1.0 / 8 - z * tail;
  tail = 1.0 / 7 - z * tail;
  tail = 1.0 / 6 - z * tail;
  tail = 1.0 / 5 - z * tail;
  tail = 1.0 / 4 - z * tail;
  tail = 1.0 / 3 - z * tail;
  Pair square = two_product(z, z);
  Pair curved = quick_sum(-0.5 * square.hi, z * square.hi * tail - 0.5 * square.lo - z * r.lo);
  Pair log_m = pair_add(r, curved);

  // exact leading sum, then the small parts
  Pair base = {k * LN2_HI + row[1], k * LN2_LO + row[2]};
  return pair_add(base, log_m);
}

double cni_log_e(double x) {
  if (x != x || x == HUGE_VAL) return x + x;
  if (x == 0) return -HUGE_VAL;
  if (x < 0) return NAN;
  return log_pair(x).hi;
}

// 2: an even integer, 1: an odd one, 0: none. For finite y; beyond 2^53 all are even.
static int32_t integer_kind(double y) {
  double size = fabs(y);
  if (size >= 0x1p53) return 2;
  if (size != floor(size)) return 0;
  return (uint64_t)size & 1u ? 1 : 2;
}

// pow(x, y) where x or y is 0, infinite or not a number, and x = 1, y = 0: C17 F.10.4.4.
static double pow_special(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return x + y;
  double size = fabs(x);
  if (fabs(y) > DBL_MAX) {
    if (size == 1) return 1;
    return (size > 1) == (y > 0) ? HUGE_VAL : 0;
  }
  // x is 0 or infinite: the answer is one of both, with the sign of x if y is odd
  double result = (size > 1) == (y > 0) ? HUGE_VAL : 0;
  return bits_of(x) >> 63 && integer_kind(y) == 1 ? -result : result;
}

double cni_pow(double x, double y) {
  double size = fabs(x);
  if (!(size > 0 && size <= DBL_MAX && fabs(y) <= DBL_MAX) || y == 0 || x == 1)
    return pow_special(x, y);
  double sign = 1;
  if (x < 0) {
    int32_t kind = integer_kind(y);
    if (kind == 0) return NAN; // a negative number to a broken power
    if (kind == 1) sign = -1;
    if (size == 1) return sign;
  }

  // decided without pairs where those would overflow: e^710 is infinite, e^-746 is 0
  Pair log_x = log_pair(size);
  double estimate = y * log_x.hi;
  if (estimate > 711) return sign * HUGE_VAL;
  if (estimate < -747) return sign * 0;
  return sign * exp_pair(pair_multiply(log_x, (Pair){y, 0}));
}
