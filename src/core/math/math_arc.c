// SPDX-License-Identifier: Apache-2.0
// Arc functions: asin, acos and atan2, all from one kernel.
//
// The angle of a point (x, y) in the first octant, 0 <= y <= x: with c = j/16 the nearest sixteenth
// to y/x, turning the point back by atan c leaves t = (y - c x)/(x + c y), |t| <= 1/32, and
//   angle = atan c + t - t^3/3 + t^5/5 - ... ,
// where t^13/13 is below 2^-65 of t. The table of atan(j/16), t and the sum are pairs of doubles,
// so only the last addition rounds. Other octants are reflections, with pi and pi/2 as pairs.
//   asin s = angle(sqrt(1 - s^2), s),  acos s = angle(s, sqrt(1 - s^2)),
// with the root as a pair from (1 - s)(1 + s), whose factors are exact as pairs: no digits are lost
// near 1. Error of all three: at most 0.51 ulp.
#include "core/math.h"
#include "core/math/math_pair.h"
#include "core/math/math_tables.h"

// c a for a small multiple c of 1/16.
static Pair scale(double c, Pair a) {
  Pair p = two_product(c, a.hi);
  return quick_sum(p.hi, p.lo + c * a.lo);
}

// Angle in [0, pi/2] of a point with non-negative coordinates of size 2^-70 to 2.
static Pair first_quadrant(Pair x, Pair y) {
  int32_t steep = y.hi > x.hi;
  Pair a = steep ? y : x, b = steep ? x : y;
  double j = nearest_integer(16 * b.hi / a.hi);
  double c = j * 0.0625;
  Pair numerator = pair_add(b, pair_negate(scale(c, a)));
  Pair t = pair_divide(numerator, pair_add(a, scale(c, b)));
  double z = t.hi * t.hi;
  double tail = -1.0 / 11;
  tail = 1.0 / 9 + z * tail;
  tail = -1.0 / 7 + z * tail;
  tail = 1.0 / 5 + z * tail;
  tail = -1.0 / 3 + z * tail;
  const double *base = atan_table[(int32_t)j];
  Pair angle = pair_add((Pair){base[0], base[1]}, quick_sum(t.hi, t.lo + t.hi * z * tail));
  return steep ? pair_add((Pair){HALF_PI_HI, HALF_PI_LO}, pair_negate(angle)) : angle;
}

// Bring the angle of (|x|, |y|) to the quadrant of (x, y); +0 and -0 have sides.
static double to_quadrant(Pair angle, int32_t x_negative, int32_t y_negative) {
  if (x_negative) angle = pair_add((Pair){PI_HI, PI_LO}, pair_negate(angle));
  return y_negative ? -angle.hi : angle.hi;
}

static int32_t is_negative(double x) { return (int32_t)(bits_of(x) >> 63); }

// Power of two of a positive number, subnormals included.
static int32_t exponent_of(double x) {
  if (x < DBL_MIN) return exponent_of(x * 0x1p54) - 54;
  return (int32_t)(bits_of(x) >> 52) - 1023;
}

// x 2^-k without overflow on the way; exact for results in the normal range.
static double unscale(double x, int32_t k) {
  int32_t half = k / 2;
  return x * power_of_two(-half) * power_of_two(half - k);
}

double cni_atan2(double y, double x) {
  if (x != x || y != y) return NAN;
  int32_t x_negative = is_negative(x), y_negative = is_negative(y);
  double a = fabs(x), b = fabs(y);
  const Pair right = {HALF_PI_HI, HALF_PI_LO}, eighth = {HALF_PI_HI / 2, HALF_PI_LO / 2};
  const Pair none = {0, 0};

  // on the axes and at infinity
  if (b == 0) return x_negative ? to_quadrant(none, 1, y_negative) : y;
  if (a == 0) return to_quadrant(right, 0, y_negative);
  if (a > DBL_MAX || b > DBL_MAX) {
    Pair angle = a <= DBL_MAX ? right : b <= DBL_MAX ? none : eighth;
    return to_quadrant(angle, x_negative, y_negative);
  }

  // so close to an axis that the angle is y/x, or a constant: (y/x)^2 is below 2^-120
  int32_t exponent_a = exponent_of(a), exponent_b = exponent_of(b);
  if (exponent_b - exponent_a > 62) return to_quadrant(right, 0, y_negative);
  if (exponent_a - exponent_b > 62) {
    if (x_negative) return to_quadrant(none, 1, y_negative);
    return y / x;
  }
  int32_t k = exponent_a > exponent_b ? exponent_a : exponent_b;
  Pair angle = first_quadrant((Pair){unscale(a, k), 0}, (Pair){unscale(b, k), 0});
  return to_quadrant(angle, x_negative, y_negative);
}

// sqrt(1 - s^2) for |s| < 1: a double from the platform's exact sqrt and one Newton step.
static Pair other_leg(double s) {
  Pair rest = pair_multiply(two_sum(1, -s), two_sum(1, s));
  double root = sqrt(rest.hi);
  Pair square = two_product(root, root);
  double residual = ((rest.hi - square.hi) - square.lo) + rest.lo;
  return quick_sum(root, residual / (2 * root));
}

double cni_asin(double x) {
  double size = fabs(x);
  if (!(size <= 1)) return NAN; // no such angle, or not a number
  if (size < 0x1p-27) return x; // x^3/6 is below half an ulp
  if (size == 1) return x * HALF_PI_HI;
  return to_quadrant(first_quadrant(other_leg(x), (Pair){size, 0}), 0, is_negative(x));
}

double cni_acos(double x) {
  double size = fabs(x);
  if (!(size <= 1)) return NAN;
  if (size < 0x1p-60) return HALF_PI_HI;
  if (size == 1) return x < 0 ? PI_HI : 0;
  return to_quadrant(first_quadrant((Pair){size, 0}, other_leg(x)), is_negative(x), 0);
}
