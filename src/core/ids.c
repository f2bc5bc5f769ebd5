// SPDX-License-Identifier: Apache-2.0
// Generational ids: which object an id means, and whether it still exists.

#include "core/ids.h"
#include "core/memory.h"

CnStatus cni_ids_reserve(CniIds *ids, const CnAllocator *allocator) {
  if (ids->first_free >= 0) return CN_OK;
  void *slots = ids->slots;
  int32_t needed = ids->slot_count < INT32_MAX ? ids->slot_count + 1 : -1;
  CnStatus status = cni_array_reserve(allocator, &slots, &ids->slot_capacity, ids->slot_count,
                                      needed, sizeof(CniSlot));
  ids->slots = slots;
  return status;
}

void cni_ids_take(CniIds *ids, int32_t index, uint32_t *slot, uint32_t *generation) {
  int32_t number = ids->first_free;
  if (number >= 0) {
    ids->first_free = ids->slots[number].index;
  } else {
    number = ids->slot_count;
    ids->slot_count += 1;
    ids->slots[number].generation = 0;
  }
  CniSlot *taken = &ids->slots[number];
  taken->generation += 1;
  taken->index = index;
  *slot = (uint32_t)number + 1;
  *generation = taken->generation;
}

// The slot if the id's slot number is one, whatever its generation.
static CniSlot *slot_at(const CniIds *ids, uint32_t slot) {
  if (slot == 0 || slot > (uint32_t)ids->slot_count) return NULL;
  return &ids->slots[slot - 1];
}

int32_t cni_ids_find(const CniIds *ids, uint32_t slot, uint32_t generation) {
  const CniSlot *found = slot_at(ids, slot);
  if (!found || found->generation != generation || generation % 2 == 0) return -1;
  return found->index;
}

uint32_t cni_ids_next(const CniIds *ids, uint32_t previous, uint32_t *generation) {
  // slots are 1-based outside: the previous one's number is the next one's index
  for (uint32_t s = previous; s < (uint32_t)ids->slot_count; s++) {
    *generation = ids->slots[s].generation;
    if (*generation & 1u) return s + 1;
  }
  *generation = 0;
  return 0;
}

void cni_ids_free(CniIds *ids, uint32_t slot) {
  CniSlot *freed = slot_at(ids, slot);
  if (!freed || freed->generation % 2 == 0) return;
  freed->generation += 1;
  freed->index = -1;
  // A generation that has gone round would make the oldest ids valid again: such a slot is given
  // up.
  if (freed->generation == 0) return;
  freed->index = ids->first_free;
  ids->first_free = (int32_t)(slot - 1);
}

void cni_ids_move(CniIds *ids, uint32_t slot, int32_t index) {
  CniSlot *moved = slot_at(ids, slot);
  if (moved && moved->generation % 2 == 1) moved->index = index;
}

void cni_ids_release(CniIds *ids, const CnAllocator *allocator) {
  cni_release(allocator, ids->slots, (size_t)ids->slot_capacity * sizeof(CniSlot));
  *ids = CNI_IDS_EMPTY;
}
