// SPDX-License-Identifier: Apache-2.0
// Some of many things, by their numbers: see subset.h.
#include "core/math/subset.h"

#include "core/error.h"

#include <string.h>

CnStatus cni_subset_begin(CniSubset *s, CniArena *arena, int32_t of) {
  s->words = of / 64 + 1;
  s->count = 0;
  CNI_TRY(CNI_TAKE(arena, s->words, s->bits));
  CNI_TRY(CNI_TAKE(arena, s->words, s->before));
  memset(s->bits, 0, (size_t)s->words * sizeof *s->bits);
  return CN_OK;
}

void cni_subset_add_range(CniSubset *s, int32_t begin, int32_t end) {
  for (; begin < end && begin % 64 != 0; begin++) cni_subset_add(s, begin);
  for (; end - begin >= 64; begin += 64) s->bits[begin / 64] = UINT64_MAX;
  for (; begin < end; begin++) cni_subset_add(s, begin);
}

void cni_subset_count(CniSubset *s) {
  s->count = 0;
  for (int32_t w = 0; w < s->words; w++) {
    s->before[w] = s->count;
    s->count += __builtin_popcountll(s->bits[w]);
  }
}

void cni_subset_list(const CniSubset *s, int32_t *numbers) {
  for (int32_t w = 0; w < s->words; w++)
    for (uint64_t bits = s->bits[w]; bits; bits &= bits - 1)
      *numbers++ = 64 * w + __builtin_ctzll(bits);
}
