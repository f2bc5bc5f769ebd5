// SPDX-License-Identifier: Apache-2.0
// Some of many things, by their numbers: which they are, and the place of each among them. A bit and an
// eighth of a place for each of all, so that it is no array of all of them; both ways in no time.
#ifndef CNI_CORE_SUBSET_H
#define CNI_CORE_SUBSET_H

#include "core/memory.h"

typedef struct CniSubset {
  uint64_t *bits;  // of all
  int32_t *before; // for each word of these: how many stand before it
  int32_t words, count;
} CniSubset;

// None of so many, in the arena.
CnStatus cni_subset_begin(CniSubset *s, CniArena *arena, int32_t of);
static inline void cni_subset_add(CniSubset *s, int32_t number) {
  s->bits[number / 64] |= UINT64_C(1) << number % 64;
}
void cni_subset_add_range(CniSubset *s, int32_t begin, int32_t end);
// When all are in: counts them, and only then there are places.
void cni_subset_count(CniSubset *s);
// Their numbers, ascending.
void cni_subset_list(const CniSubset *s, int32_t *numbers);
// The place of one of them.
static inline int32_t cni_subset_place(const CniSubset *s, int32_t number) {
  uint64_t below = s->bits[number / 64] & ((UINT64_C(1) << number % 64) - 1);
  return s->before[number / 64] + __builtin_popcountll(below);
}

#endif
