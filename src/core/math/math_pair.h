// SPDX-License-Identifier: Apache-2.0
// A number as the sum of two doubles, hi + lo with |lo| at most half an ulp of hi: about 106 bits.
//
// The elementary functions carry their leading terms this way, so that only the last addition
// rounds. Everything is built from + - * / alone, each rounded to nearest; a fused multiply-add
// would shorten products but is not on every machine. Exact statements hold barring overflow, and
// underflow of the products.
#ifndef CNI_CORE_MATH_PAIR_H
#define CNI_CORE_MATH_PAIR_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

// Intermediate results in wider registers (x87) would change the bits.
_Static_assert(FLT_EVAL_METHOD == 0, "doubles must be evaluated as doubles");

typedef struct Pair {
  double hi, lo;
} Pair;

static inline uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline double double_of(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

// 2^k for -1022 <= k <= 1023.
static inline double power_of_two(int32_t k) { return double_of((uint64_t)(k + 1023) << 52); }

// The nearest integer, ties to even, for |x| < 2^51: the sum has no room for a fraction.
static inline double nearest_integer(double x) {
  const double shift = 0x1.8p52;
  return (x + shift) - shift;
}

// a + b exactly.
static inline Pair two_sum(double a, double b) {
  double s = a + b, t = s - a;
  return (Pair){s, (a - (s - t)) + (b - t)};
}

// a + b exactly, for |a| >= |b| or a = 0.
static inline Pair quick_sum(double a, double b) {
  double s = a + b;
  return (Pair){s, b - (s - a)};
}

// Upper 26 bits of a; a minus them has 26 bits too, sign included. For |a| < 2^996.
static inline double upper_half(double a) {
  double c = 0x1.0000002p27 * a;
  return c - (c - a);
}

// a b exactly: the four products of the halves are exact.
static inline Pair two_product(double a, double b) {
  double p = a * b;
  double ah = upper_half(a), al = a - ah, bh = upper_half(b), bl = b - bh;
  return (Pair){p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}

static inline Pair pair_negate(Pair a) { return (Pair){-a.hi, -a.lo}; }

// a + b with a relative error below 2^-102 unless they cancel.
static inline Pair pair_add(Pair a, Pair b) {
  Pair s = two_sum(a.hi, b.hi);
  return quick_sum(s.hi, s.lo + (a.lo + b.lo));
}

// a b and a/b with a relative error below 2^-100.
static inline Pair pair_multiply(Pair a, Pair b) {
  Pair p = two_product(a.hi, b.hi);
  return quick_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}
static inline Pair pair_divide(Pair a, Pair b) {
  double q = a.hi / b.hi;
  Pair p = two_product(q, b.hi);
  double rest = ((a.hi - p.hi) - p.lo + a.lo) - q * b.lo;
  return quick_sum(q, rest / b.hi);
}

#endif
