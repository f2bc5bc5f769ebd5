// SPDX-License-Identifier: Apache-2.0
// Generational ids: slot + generation on the outside, a dense index on the inside.
//
// A slot holds the index of its object in dense arrays, a free slot the next free one. The
// generation counts up when a slot is freed, so an old id is told from a new one. Freed slots are
// reused last in, first out: the sequence of ids is a function of the sequence of calls.
#ifndef CNI_CORE_IDS_H
#define CNI_CORE_IDS_H

#include <cairn/base.h>

typedef struct CniSlot {
  uint32_t generation; // odd: in use
  int32_t index;       // dense index, or the next free slot, -1 at the end
} CniSlot;

typedef struct CniIds {
  CniSlot *slots;
  int32_t slot_count, slot_capacity;
  int32_t first_free; // -1: none
} CniIds;

#define CNI_IDS_EMPTY ((CniIds){0, 0, 0, -1})

// Make sure that the next cni_ids_take cannot fail.
CnStatus cni_ids_reserve(CniIds *ids, const CnAllocator *allocator);
// Take a slot for the object at `index`. Slots handed to users are 1-based: zero means none.
void cni_ids_take(CniIds *ids, int32_t index, uint32_t *slot, uint32_t *generation);
// Dense index of an id, -1 if it is stale, zero or nonsense.
int32_t cni_ids_find(const CniIds *ids, uint32_t slot, uint32_t generation);
// The slot in use after one (0: the first), 0 past the last, and its generation.
uint32_t cni_ids_next(const CniIds *ids, uint32_t previous, uint32_t *generation);
void cni_ids_free(CniIds *ids, uint32_t slot);
// The object moved to another dense index.
void cni_ids_move(CniIds *ids, uint32_t slot, int32_t index);
void cni_ids_release(CniIds *ids, const CnAllocator *allocator);

#endif
