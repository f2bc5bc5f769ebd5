// SPDX-License-Identifier: Apache-2.0
// Cube root.
//
// x = 8^k m with 1 <= m < 8. A quadratic that is off by at most 2.2 % and two of Halley's steps
// (error e -> 2/3 e^3) give y to about an ulp; one Newton step whose residual m - y^3 is formed
// with pairs adds what is missing, so that only the last addition rounds.
#include "core/math.h"
#include "core/math/math_pair.h"

double cni_cbrt(double x) {
  if (!(fabs(x) <= DBL_MAX) || x == 0) return x + x;
  double size = fabs(x);
  int32_t exponent = 0;
  if (size < DBL_MIN) {
    size *= 0x1p54;
    exponent = -54;
  }
  uint64_t bits = bits_of(size);
  exponent += (int32_t)(bits >> 52) - 1023;
  // k = floor(exponent/3): the dividend is made positive, where C's division rounds down
  int32_t k = (exponent + 1200) / 3 - 400;
  double m = double_of((bits & 0xfffffffffffffu) | (uint64_t)(exponent - 3 * k + 1023) << 52);

  double y = 0.7865 + m * (0.2462 - 0.01138 * m);
  for (int32_t i = 0; i < 2; i++) {
    double cube = y * y * y;
    y *= (cube + 2 * m) / (2 * cube + m);
  }
  Pair square = two_product(y, y);
  Pair cube = two_product(square.hi, y);
  double residual = (m - cube.hi) - cube.lo - square.lo * y;
  y += residual / (3 * square.hi);
  return (x < 0 ? -y : y) * power_of_two(k);
}
