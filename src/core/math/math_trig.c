// SPDX-License-Identifier: Apache-2.0
// Sine, cosine and tangent.
//
// Write x = n pi/2 + r with |r| <= pi/4. The quarter n (mod 4) selects among sin r, cos r and their
// negatives, which Taylor's series gives. All the difficulty is in r: a large x close to a multiple
// of pi/2 loses its leading bits in the subtraction, at most 62 of them for any double. r is
// therefore found as a pair of doubles from pi/2 with enough digits:
//   |x| < 2^19    n times pi/2 in four pieces (152 bits), the first three products exact;
//   larger        the digits of 2/pi that matter are multiplied with the 53-bit integer in x as
//                 integers: those so high that they contribute multiples of 4 quarters are skipped,
//                 those so low that they cannot reach bit 130 after the point are left out
//                 (Payne and Hanek 1983).
//
// The series end where the next term is below 2^-60 of the result. Their leading terms are kept in
// pairs, so the error is half an ulp from the last addition plus the rounding of a tail that is
// below a fortieth of the result: at most 0.6 ulp.
#include "core/math.h"
#include "core/math/math_pair.h"
#include "core/math/math_tables.h"

// r = x - n pi/2 and n mod 4.
typedef struct Reduced {
  Pair r;
  uint32_t quarter;
} Reduced;

// |x| < 2^19, so that |n| < 2^19.
static Reduced reduce_medium(double x) {
  double n = nearest_integer(x * TWO_OVER_PI);
  // x - n P1 is exact: both are multiples of the last place of the smaller and the difference is
  // below 1. After it the products are exact and so are the sums, up to the last piece.
  Pair a = two_sum(x - n * HALF_PI_1, -n * HALF_PI_2);
  Pair b = two_sum(a.hi, -n * HALF_PI_3);
  double lo = (b.lo - n * HALF_PI_4) + a.lo;
  return (Reduced){quick_sum(b.hi, lo), (uint32_t)(int32_t)n & 3u};
}

// The 192 bits of m W modulo 2^192, least significant word first, where W are the 192 binary digits
// of 2/pi that start at `first` (counted in the table, which opens with 64 zeros).
static void multiply_digits(uint64_t m, int32_t first, uint32_t product[6]) {
  const uint32_t *digits = two_over_pi_digits + first / 32;
  int32_t shift = first % 32;
  uint32_t m_lo = (uint32_t)m, m_hi = (uint32_t)(m >> 32);
  uint64_t carry = 0, previous = 0;
  for (int32_t i = 0; i < 6; i++) {
    // the i-th word of W from below, digits being stored from above
    uint64_t two_words = (uint64_t)digits[5 - i] << 32 | digits[6 - i];
    uint64_t w = (two_words << shift) >> 32;
    // column i: m_lo w_i + m_hi w_(i-1) + carry, below 2^65: kept in halves
    uint64_t low = m_lo * w, high = m_hi * previous;
    uint64_t sum = (low & 0xffffffffu) + (high & 0xffffffffu) + (carry & 0xffffffffu);
    product[i] = (uint32_t)sum;
    carry = (low >> 32) + (high >> 32) + (carry >> 32) + (sum >> 32);
    previous = w;
  }
}

static Reduced reduce_large(double x) {
  // |x| = m 2^e with 53 bits in m. Digit j of 2/pi (weight 2^-j) contributes a multiple of 4
  // quarters for j <= e - 2: W starts after those, and m W is x 2/pi mod 4 in units of 2^-190.
  uint64_t bits = bits_of(x);
  int32_t e = (int32_t)(bits >> 52 & 0x7ff) - 1075;
  uint64_t m = (bits & 0xfffffffffffffu) | 0x10000000000000u;
  uint32_t w[6];
  multiply_digits(m, e + 62, w);

  // The two leading bits are n; a fraction of a half or more goes to the next quarter.
  uint32_t quarter = w[5] >> 30;
  uint32_t above = w[5] >> 29 & 1u;
  quarter = (quarter + above) & 3u;
  if (above) {
    uint64_t carry = 1;
    for (int32_t i = 0; i < 6; i++) {
      carry += (uint32_t)~w[i];
      w[i] = (uint32_t)carry;
      carry >>= 32;
    }
  }
  w[5] &= 0x3fffffffu;

  // The fraction as a pair: every word is a double, added from the largest down.
  Pair f = {0, 0};
  double unit = 0x1p-30;
  for (int32_t i = 5; i >= 0; i--) {
    Pair s = quick_sum(f.hi, w[i] * unit);
    f = quick_sum(s.hi, s.lo + f.lo);
    unit *= 0x1p-32;
  }
  Pair r = pair_multiply(f, (Pair){HALF_PI_HI, HALF_PI_LO});
  if (above) r = pair_negate(r);
  if (bits >> 63) return (Reduced){pair_negate(r), (4u - quarter) & 3u};
  return (Reduced){r, quarter};
}

// For finite x.
static Reduced reduce(double x) {
  double size = fabs(x);
  if (size <= 0.78539816339744830) return (Reduced){{x, 0}, 0};
  return size < 0x1p19 ? reduce_medium(x) : reduce_large(x);
}

// sin r = r - r^3/6 + r^5/120 - ..., to r^17. The cubic term reaches a ninth of the result: as a
// single double it would cost another quarter of an ulp.
static Pair sin_series(Pair r) {
  double x = r.hi;
  Pair square = two_product(x, x);
  Pair cube = pair_multiply((Pair){x, 0}, square);
  Pair sixth = pair_multiply(cube, (Pair){1.0 / 6, 0x1.5555555555555p-57});
  double z = square.hi;
  double tail = 1.0 / 355687428096000;
  tail = -1.0 / 1307674368000 + z * tail;
  tail = 1.0 / 6227020800 + z * tail;
  tail = -1.0 / 39916800 + z * tail;
  tail = 1.0 / 362880 + z * tail;
  tail = -1.0 / 5040 + z * tail;
  tail = 1.0 / 120 + z * tail;
  double rest = cube.hi * z * tail - sixth.lo + r.lo * (1 - 0.5 * z);
  Pair lead = quick_sum(x, -sixth.hi);
  return quick_sum(lead.hi, lead.lo + rest);
}

// cos r = 1 - r^2/2 + r^4/24 - ..., to r^18.
static Pair cos_series(Pair r) {
  double x = r.hi;
  Pair square = two_product(x, x);
  double z = square.hi;
  double tail = -1.0 / 6402373705728000;
  tail = 1.0 / 20922789888000 + z * tail;
  tail = -1.0 / 87178291200 + z * tail;
  tail = 1.0 / 479001600 + z * tail;
  tail = -1.0 / 3628800 + z * tail;
  tail = 1.0 / 40320 + z * tail;
  tail = -1.0 / 720 + z * tail;
  tail = 1.0 / 24 + z * tail;
  Pair lead = quick_sum(1, -0.5 * z);
  double rest = z * z * tail - 0.5 * square.lo - x * r.lo;
  return quick_sum(lead.hi, lead.lo + rest);
}

double cni_sin(double x) {
  if (!(fabs(x) <= DBL_MAX)) return NAN; // infinite or not a number
  if (fabs(x) < 0x1p-27) return x;       // x^3/6 is below half an ulp; keeps the sign of zero
  Reduced a = reduce(x);
  Pair s = a.quarter & 1u ? cos_series(a.r) : sin_series(a.r);
  return a.quarter & 2u ? -s.hi : s.hi;
}

double cni_cos(double x) {
  if (!(fabs(x) <= DBL_MAX)) return NAN;
  if (fabs(x) < 0x1p-27) return 1;
  Reduced a = reduce(x);
  Pair c = a.quarter & 1u ? sin_series(a.r) : cos_series(a.r);
  return (a.quarter + 1) & 2u ? -c.hi : c.hi;
}

// sin r/cos r in even quarters, -cos r/sin r in odd ones.
double cni_tan(double x) {
  if (!(fabs(x) <= DBL_MAX)) return NAN;
  if (fabs(x) < 0x1p-27) return x;
  Reduced a = reduce(x);
  Pair s = sin_series(a.r), c = cos_series(a.r);
  Pair t = a.quarter & 1u ? pair_divide(pair_negate(c), s) : pair_divide(s, c);
  return t.hi;
}
