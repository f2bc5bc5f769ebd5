// SPDX-License-Identifier: Apache-2.0
// Sorting by digits, least first (radix sort): linear, stable, and without a comparison that could
// depend on anything but the keys.
#ifndef CNI_CORE_SORT_H
#define CNI_CORE_SORT_H

#include <string.h>

#include "core/memory.h"
#include "core/tasks.h"

// Keys with a value each (values may be null), and room for as many again.
typedef struct CniSort {
  uint64_t *keys, *spare_keys;
  int32_t *values, *spare_values;
} CniSort;

// Room for `count` keys from the arena, with values.
CnStatus cni_sort_init(CniSort *sort, CniArena *arena, int32_t count);

// Sort the first `count` keys ascending by their lowest `bits` bits; equal keys keep their order.
// Exchanges the arrays with the spare ones as it likes: read keys and values afterwards.
void cni_sort_keys(CniSort *sort, int32_t count, int32_t bits);

// The same order by several workers, of many keys; tasks may be null. Counters from the arena.
CnStatus cni_sort_keys_shared(CniSort *sort, CniArena *arena, CnTasks *tasks, int32_t count,
                              int32_t bits);

// Number of bits of a value: the least n with value < 2^n.
int32_t cni_bit_count(uint64_t value);

// A key that sorts like the number; -0 and 0 are equal.
static inline uint64_t cni_double_key(double x) {
  double y = x + 0.0;
  uint64_t bits;
  memcpy(&bits, &y, sizeof bits);
  return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

// Put things into another order in their place: order[i] is the present place of the one that comes to i, each once
// below `count`. `bits` is room of that many bytes.
size_t cni_permute_bytes(size_t count);
void cni_permute(void *things, size_t size, const int32_t *order, int32_t count, uint64_t *bits);

// Bisection: moves `low` to the first index up to `high` for which `before`, an expression in `middle`
// that holds up to some index and not from there on, does not hold.
#define CNI_BISECT(low, high, middle, before)                                                      \
  while (low < high) {                                                                             \
    int32_t middle = low + (high - low) / 2;                                                       \
    if (before)                                                                                    \
      low = middle + 1;                                                                            \
    else                                                                                           \
      high = middle;                                                                               \
  }

// First entry of ascending numbers that is not below the one given.
static inline int32_t cni_lower_bound(const int32_t *numbers, int32_t count, int32_t number) {
  int32_t low = 0;
  CNI_BISECT(low, count, middle, numbers[middle] < number)
  return low;
}

#endif
