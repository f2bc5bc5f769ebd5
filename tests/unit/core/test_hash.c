// SPDX-License-Identifier: Apache-2.0
// The hash: chaining, order, length, zeros, avalanche, and fixed values that no machine may change.

#include "check.h"
#include "core/hash.h"

#include <string.h>

static void chaining(void **state) {
  (void)state;
  unsigned char bytes[64];
  for (int i = 0; i < 64; ++i) bytes[i] = (unsigned char)(i * 7 + 1);
  uint64_t whole = cni_hash_bytes(CNI_HASH_START, bytes, 64);
  uint64_t parts = cni_hash_bytes(CNI_HASH_START, bytes, 24);
  parts = cni_hash_bytes(parts, bytes + 24, 40);
  CHECK(whole == parts);
  // eight bytes are one little-endian number
  unsigned char eight[8] = {0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01};
  CHECK(cni_hash_bytes(5, eight, 8) == cni_hash_u64(5, 0x0123456789abcdefu));
  CHECK(cni_hash_bytes(5, eight, 0) == 5);
}

static void length_and_order_count(void **state) {
  (void)state;
  unsigned char zeros[32] = {0};
  uint64_t seen[33];
  for (size_t size = 0; size <= 32; ++size) {
    seen[size] = cni_hash_bytes(CNI_HASH_START, zeros, size);
    for (size_t k = 0; k < size; ++k) CHECK(seen[k] != seen[size]);
  }
  uint64_t ab = cni_hash_u64(cni_hash_u64(1, 10), 20);
  uint64_t ba = cni_hash_u64(cni_hash_u64(1, 20), 10);
  CHECK(ab != ba);
}

static void address_does_not_count(void **state) {
  (void)state;
  unsigned char buffer[64];
  uint64_t first = 0;
  for (int shift = 0; shift < 8; ++shift) {
    memset(buffer, 0xee, sizeof buffer);
    for (int i = 0; i < 29; ++i) buffer[shift + i] = (unsigned char)(i * i);
    uint64_t hash = cni_hash_bytes(CNI_HASH_START, buffer + shift, 29);
    if (shift == 0) first = hash;
    CHECK(hash == first);
  }
}

static void doubles_by_bits(void **state) {
  (void)state;
  double plus[3] = {1, 0.0, 2}, minus[3] = {1, -0.0, 2};
  CHECK(cni_hash_doubles(1, plus, 3) == cni_hash_doubles(1, minus, 3));
  double one = 1.0, next = 1.0 + 0x1p-52;
  CHECK(cni_hash_doubles(1, &one, 1) != cni_hash_doubles(1, &next, 1));
  CHECK(cni_hash_doubles(1, &one, 1) == cni_hash_u64(1, 0x3ff0000000000000u));
}

static int bit_count(uint64_t x) {
  int count = 0;
  for (; x; x &= x - 1) ++count;
  return count;
}

// Turning one input bit should turn each output bit half of the time: 64 output bits, mean 32,
// standard deviation 4 for one flip and 4/sqrt(64*100) = 0.05 for the mean of 6400.
static void avalanche(void **state) {
  (void)state;
  double sum = 0;
  for (uint64_t k = 0; k < 100; ++k) {
    uint64_t base = cni_hash_u64(CNI_HASH_START, k);
    for (int bit = 0; bit < 64; ++bit) {
      int turned = bit_count(base ^ cni_hash_u64(CNI_HASH_START, k ^ ((uint64_t)1 << bit)));
      CHECK(turned >= 8 && turned <= 56);
      sum += turned;
    }
  }
  CHECK_NEAR(sum / 6400, 32, 0.5);
}

// Consecutive integers spread over 1024 buckets: chi-square has mean 1023, deviation 45.
static void small_integers_spread(void **state) {
  (void)state;
  static int low[1024], high[1024];
  for (uint64_t k = 0; k < 102400; ++k) {
    uint64_t hash = cni_hash_u64(CNI_HASH_START, k);
    low[hash & 1023] += 1;
    high[hash >> 54] += 1;
  }
  double chi_low = 0, chi_high = 0;
  for (int i = 0; i < 1024; ++i) {
    chi_low += (low[i] - 100) * (low[i] - 100) / 100.0;
    chi_high += (high[i] - 100) * (high[i] - 100) / 100.0;
  }
  CHECK_NEAR(chi_low, 1023, 300);
  CHECK_NEAR(chi_high, 1023, 300);
}

// Stored hashes are compared across machines and versions: these values are part of the format.
static void fixed_values(void **state) {
  (void)state;
  CHECK(cni_hash_bytes(CNI_HASH_START, "cairn", 5) == 0x6d62300897afd57fu);
  double values[3] = {1.0, -2.5, 1e-300};
  CHECK(cni_hash_doubles(CNI_HASH_START, values, 3) == 0x06d92b49807b99b2u);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chaining),
      cmocka_unit_test(length_and_order_count),
      cmocka_unit_test(address_does_not_count),
      cmocka_unit_test(doubles_by_bits),
      cmocka_unit_test(avalanche),
      cmocka_unit_test(small_integers_spread),
      cmocka_unit_test(fixed_values),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
