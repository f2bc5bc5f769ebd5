// SPDX-License-Identifier: Apache-2.0
// What a program puts down about things of a world: a number of its own, and names of shapes. Few things have
// any, so they lie in a list beside the model, ascending by sort and slot. A note of a thing that has gone is
// not found, because its generation is another one, and makes room for that of the next in its slot.
#include <string.h>

#include "core/sort.h"
#include "model/model_private.h"

static uint64_t key(const CniNote *note) { return (uint64_t)note->sort << 32 | note->slot; }

// The first that is not before this one.
static int32_t find(const CniModel *model, const CniNote *note) {
  int32_t low = 0, high = model->note_count;
  CNI_BISECT(low, high, middle, key(&model->notes[middle]) < key(note))
  return low;
}

const CniNote *cni_model_note(const CniModel *model, uint32_t sort, uint32_t slot,
                              uint32_t generation) {
  CniNote sought = {.sort = sort, .slot = slot};
  int32_t i = find(model, &sought);
  if (i == model->note_count) return NULL;
  const CniNote *note = &model->notes[i];
  return key(note) == key(&sought) && note->generation == generation ? note : NULL;
}

CnStatus cni_model_note_set(CniModel *model, const CniNote *note) {
  int32_t i = find(model, note), count = model->note_count;
  if (i < count && key(&model->notes[i]) == key(note)) {
    model->notes[i] = *note;
    return CN_OK;
  }
  CNI_TRY(CNI_RESERVE(&model->allocator, model->notes, model->note_capacity, count, count + 1));
  memmove(&model->notes[i + 1], &model->notes[i], (size_t)(count - i) * sizeof *note);
  model->notes[i] = *note;
  model->note_count++;
  return CN_OK;
}

CnStatus cni_notes_consistent(const CniModel *model) {
  for (int32_t i = 0; i < model->note_count; i++) {
    if (i > 0 && key(&model->notes[i]) <= key(&model->notes[i - 1]))
      return cni_damaged("note", i, "it is out of order");
    if (!memchr(model->notes[i].name, 0, CNI_NAME_SIZE))
      return cni_damaged("note", i, "its name does not end");
  }
  return CN_OK;
}
