// SPDX-License-Identifier: Apache-2.0
// Sorting by digits: order, stability, as few digits as asked for.
#include "check.h"
#include "core/rng.h"
#include "core/sort.h"

#define COUNT 5000

static void sorted_and_stable(void **state) {
  (void)state;
  CnAllocator allocator = cn_allocator_default();
  CniArena arena;
  cni_arena_init(&arena, &allocator);
  for (int32_t bits = 1; bits <= 64; bits += 7) {
    CniSort sort;
    CniRng rng = {(uint64_t)bits};
    CHECK_OK(cni_sort_init(&sort, &arena, COUNT));
    for (int32_t i = 0; i < COUNT; i++) {
      sort.keys[i] = cni_rng_next(&rng) >> (64 - bits);
      sort.values[i] = i;
    }
    cni_sort_keys(&sort, COUNT, bits);
    for (int32_t i = 1; i < COUNT; i++) {
      CHECK(sort.keys[i - 1] <= sort.keys[i]);
      if (sort.keys[i - 1] == sort.keys[i]) CHECK(sort.values[i - 1] < sort.values[i]);
    }
    // keys alone
    sort.values = sort.spare_values = NULL;
    for (int32_t i = 0; i < COUNT; i++) sort.keys[i] = cni_rng_next(&rng) >> (64 - bits);
    cni_sort_keys(&sort, COUNT, bits);
    for (int32_t i = 1; i < COUNT; i++) CHECK(sort.keys[i - 1] <= sort.keys[i]);
    CHECK_OK(cni_arena_reset(&arena));
  }
  cni_arena_release(&arena);
}

static void keys_of_numbers(void **state) {
  (void)state;
  static const double x[] = {-INFINITY, -1e300, -1, -1e-310, 0, 1e-310, 1, 1e300, INFINITY};
  for (int i = 1; i < 9; i++) CHECK(cni_double_key(x[i - 1]) < cni_double_key(x[i]));
  CHECK(cni_double_key(-0.0) == cni_double_key(0.0));
  CHECK(cni_bit_count(0) == 0 && cni_bit_count(1) == 1 && cni_bit_count(255) == 8);
  CHECK(cni_bit_count(256) == 9 && cni_bit_count(UINT64_MAX) == 64);
}

// The first number that is not below, for every gap, at both ends and in an empty list.
static void bisection(void **state) {
  (void)state;
  static const int32_t x[] = {-5, -5, 0, 2, 2, 2, 9};
  for (int32_t number = -7; number <= 11; number++) {
    int32_t expected = 0, low = 2, high = 5;
    while (expected < 7 && x[expected] < number) expected++;
    CHECK(cni_lower_bound(x, 7, number) == expected);
    CNI_BISECT(low, high, middle, x[middle] < number)
    CHECK(low == (expected < 2 ? 2 : expected > 5 ? 5 : expected));
  }
  CHECK(cni_lower_bound(NULL, 0, 1) == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sorted_and_stable),
      cmocka_unit_test(keys_of_numbers),
      cmocka_unit_test(bisection),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
