// SPDX-License-Identifier: Apache-2.0
// Exact sums: see sum.h.
#include "core/math/sum.h"

#include <math.h>
#include <string.h>

#define DIGIT_BITS 32
#define DIGIT_MASK UINT64_C(0xffffffff)
#define MANTISSA_BITS 52
#define EXPONENT_MASK 0x7ff
#define ROOM (INT64_C(1) << 30) // terms of less than 2^32 in a digit of 63 bits

void cni_sum_init(CniSum *sum) {
  memset(sum, 0, sizeof *sum);
  sum->room = ROOM;
}

// A finite double is a whole number m < 2^53 of units 2^-1074, times 2^shift.
void cni_sum_add(CniSum *sum, double term) {
  uint64_t bits;
  memcpy(&bits, &term, sizeof bits);
  int32_t exponent = (int32_t)(bits >> MANTISSA_BITS & EXPONENT_MASK);
  if (exponent == EXPONENT_MASK) {
    sum->odd++;
    return;
  }
  uint64_t m = bits & ((UINT64_C(1) << MANTISSA_BITS) - 1);
  if (exponent > 0) m |= UINT64_C(1) << MANTISSA_BITS;
  uint32_t shift = (uint32_t)(exponent > 0 ? exponent - 1 : 0), at = shift % DIGIT_BITS;
  // m shifted within its digits: three of them
  uint64_t low = m << at, high = at > 0 ? m >> (64 - at) : 0;
  int64_t sign = bits >> 63 ? -1 : 1, *digit = sum->digit + shift / DIGIT_BITS;
  digit[0] += sign * (int64_t)(low & DIGIT_MASK);
  digit[1] += sign * (int64_t)(low >> DIGIT_BITS);
  digit[2] += sign * (int64_t)high;
  if (--sum->room == 0) cni_sum_settle(sum);
}

void cni_sum_settle(CniSum *sum) {
  for (int32_t i = 0; i + 1 < CNI_SUM_DIGITS; i++) {
    int64_t low = (int64_t)((uint64_t)sum->digit[i] & DIGIT_MASK);
    sum->digit[i + 1] += (sum->digit[i] - low) / (INT64_C(1) << DIGIT_BITS); // exact
    sum->digit[i] = low;
  }
  sum->room = ROOM;
}

void cni_sum_join(CniSum *sum, CniSum *part) {
  cni_sum_settle(part);
  for (int32_t i = 0; i < CNI_SUM_DIGITS; i++) sum->digit[i] += part->digit[i];
  sum->odd += part->odd;
  if (--sum->room == 0) cni_sum_settle(sum);
}

// The double of m 2^shift units, m < 2^64, with `below` telling that bits were cut off.
static double rounded(uint64_t m, int32_t shift, int below) {
  int32_t top = 63;
  if (m == 0) return 0;
  while (!(m >> top & 1)) top--;
  int32_t cut = top - MANTISSA_BITS; // bits too many
  if (cut > 0) {
    uint64_t half = UINT64_C(1) << (cut - 1), rest = m & (2 * half - 1);
    m >>= cut;
    shift += cut;
    m += rest > half || (rest == half && (below || (m & 1)));
    if (m >> (MANTISSA_BITS + 1)) {
      m >>= 1;
      shift++;
    }
  }
  // now m < 2^53; without a leading one it is subnormal, and then shift is zero
  uint64_t bits = m;
  if (m >> MANTISSA_BITS) {
    if (shift + 1 >= EXPONENT_MASK) return INFINITY;
    bits = (m & ((UINT64_C(1) << MANTISSA_BITS) - 1)) | (uint64_t)(shift + 1) << MANTISSA_BITS;
  }
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

double cni_sum_value(const CniSum *from) {
  CniSum sum = *from;
  if (sum.odd) return NAN;
  cni_sum_settle(&sum);
  int negative = sum.digit[CNI_SUM_DIGITS - 1] < 0;
  if (negative) {
    for (int32_t i = 0; i < CNI_SUM_DIGITS; i++) sum.digit[i] = -sum.digit[i];
    cni_sum_settle(&sum);
  }
  // the highest three digits that are not zero hold 65 bits at least; what is below only breaks ties
  int32_t top = CNI_SUM_DIGITS - 1;
  while (top > 1 && sum.digit[top] == 0) top--;
  uint64_t m = (uint64_t)sum.digit[top] << DIGIT_BITS | (uint64_t)sum.digit[top - 1];
  int32_t shift = DIGIT_BITS * (top - 1), below = 0;
  for (int32_t i = top - 2; i >= 0 && !below; i--) below = sum.digit[i] != 0;
  if (top > 1) {
    // room above the leading one takes bits of the third digit
    int32_t room = 0;
    while (!(m >> (63 - room) & 1)) room++;
    if (room > DIGIT_BITS - 1) room = DIGIT_BITS - 1;
    uint64_t third = (uint64_t)sum.digit[top - 2];
    m = room > 0 ? m << room | third >> (DIGIT_BITS - room) : m;
    shift -= room;
    below = (third & ((UINT64_C(1) << (DIGIT_BITS - room)) - 1)) != 0;
    for (int32_t i = top - 3; i >= 0 && !below; i--) below = sum.digit[i] != 0;
  }
  double value = rounded(m, shift, below);
  return negative ? -value : value;
}
