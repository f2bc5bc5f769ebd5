// SPDX-License-Identifier: Apache-2.0
// The memory of a step.
#ifndef CNI_CORE_STEP_MEMORY_H
#define CNI_CORE_STEP_MEMORY_H

#include "core/memory.h"

// One owner: a world, or a solver that a user calls. It is handed to every stage of a step: detect,
// assemble, solve, certify, finish. Stages take from the arena between a mark and going back to it.
// Of the working memory of a solve (`space`) there is one piece, which the solver has first and then
// the certificate: from the first hold to the last let go there are at least so many bytes as were
// asked for, cache-line aligned; what was there is lost when they grow.
typedef struct CniStepMemory {
  CniArena arena;
  double *space;
  size_t space_size, space_most; // bytes; the most ever asked for
  CniArenaMark space_mark;       // where the arena was
  int32_t holders;
  // Velocity groups of the problem to be solved, lent by who owns it to a solver that likes to work
  // in place and restores them (psor); null: it works on a copy.
  struct CniGroup *lent_groups;
  // 1: the answer to the problem of the step under way has velocities of some bodies (of several ranks): its
  // owner moves the bodies and checks where they are, and asks for no new positions.
  int32_t part;
  // Multiplications that are left for this solve and those after it, lent by who asks for many (integrators) to a
  // solver that would try on; null: each solve has the bounds of its solver alone.
  double *work;
} CniStepMemory;
void cni_step_memory_init(CniStepMemory *memory, const CnAllocator *allocator);
// The beginning of a step: everything is free.
CnStatus cni_step_memory_reset(CniStepMemory *memory);
void cni_step_memory_release(CniStepMemory *memory);
void cni_step_memory_hold(CniStepMemory *memory);
void cni_step_memory_let_go(CniStepMemory *memory);
CnStatus cni_step_memory_space(CniStepMemory *memory, size_t bytes);

#endif
