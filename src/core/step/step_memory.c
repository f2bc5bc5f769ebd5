// SPDX-License-Identifier: Apache-2.0
// The memory of a step: an arena, and one piece of working memory in it (step_memory.h).
#include "core/step/step_memory.h"

#include "core/assert.h"
#include "core/error.h"

#define LARGE_SPACE ((size_t)1 << 22) // bytes: numbers differ less from step to step

void cni_step_memory_init(CniStepMemory *memory, const CnAllocator *allocator) {
  *memory = (CniStepMemory){.holders = 0};
  cni_arena_init(&memory->arena, allocator);
}

CnStatus cni_step_memory_reset(CniStepMemory *memory) {
  memory->space = NULL;
  memory->space_size = 0;
  memory->holders = 0;
  return cni_arena_reset(&memory->arena);
}

void cni_step_memory_release(CniStepMemory *memory) { cni_arena_release(&memory->arena); }

void cni_step_memory_hold(CniStepMemory *memory) { memory->holders++; }

static void give_space_back(CniStepMemory *memory) {
  if (memory->space) cni_arena_back(&memory->arena, memory->space_mark);
  memory->space = NULL;
  memory->space_size = 0;
}

void cni_step_memory_let_go(CniStepMemory *memory) {
  CNI_ASSERT(memory->holders > 0);
  if (--memory->holders == 0) give_space_back(memory);
}

CnStatus cni_step_memory_space(CniStepMemory *memory, size_t bytes) {
  CNI_ASSERT(memory->holders > 0);
  if (bytes <= memory->space_size) return CN_OK;
  give_space_back(memory);
  // some more than needed, once: the next step finds room for numbers that differ a little
  size_t more = bytes / (bytes > LARGE_SPACE ? 32 : 8);
  size_t room = more > SIZE_MAX - bytes || bytes <= memory->space_most ? bytes : bytes + more;
  if (room > memory->space_most) memory->space_most = room;
  memory->space_mark = cni_arena_mark(&memory->arena);
  memory->space = cni_arena_take(&memory->arena, room);
  if (!memory->space) return cni_error_memory(room);
  memory->space_size = room;
  return CN_OK;
}
