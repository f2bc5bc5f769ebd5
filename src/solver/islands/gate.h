// SPDX-License-Identifier: Apache-2.0
// An allocator that can be shut, for work that other threads do: a world asks its allocator from the thread
// that calls it and from no other. While the gate is shut nothing is given, which is a status as any other
// lack of memory, and what is given back waits. Who shut the gate opens it again and does over what failed.
#ifndef CNI_SOLVER_GATE_H
#define CNI_SOLVER_GATE_H

#include "core/memory.h"

typedef struct CniGate {
  CnAllocator inner;
  struct CniGateBack *back; // given back while it was shut
  int32_t shut;
} CniGate;

// The hook to hand on; the gate must not move while it is used.
CnAllocator cni_gate_allocator(CniGate *gate, const CnAllocator *inner);
void cni_gate_shut(CniGate *gate);
void cni_gate_open(CniGate *gate);

#endif
