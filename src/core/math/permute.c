// SPDX-License-Identifier: Apache-2.0
// Things put into another order in their place.
#include "core/assert.h"
#include "core/sort.h"

#define LARGEST 64 // bytes of a thing

size_t cni_permute_bytes(size_t count) { return (count / 64 + 1) * sizeof(uint64_t); }

// Round by round: the first thing of a round makes room for the next one, and comes to the last place.
void cni_permute(void *things, size_t size, const int32_t *order, int32_t count, uint64_t *bits) {
  char *at = things, kept[LARGEST];
  CNI_ASSERT(size <= sizeof kept);
  memset(bits, 0, cni_permute_bytes((size_t)count));
  for (int32_t first = 0; first < count; first++) {
    if (order[first] == first || bits[first / 64] >> first % 64 & 1) continue;
    memcpy(kept, at + (size_t)first * size, size);
    int32_t to = first;
    for (int32_t from = order[to]; from != first; from = order[to = from]) {
      memcpy(at + (size_t)to * size, at + (size_t)from * size, size);
      bits[from / 64] |= UINT64_C(1) << from % 64;
    }
    memcpy(at + (size_t)to * size, kept, size);
  }
}
