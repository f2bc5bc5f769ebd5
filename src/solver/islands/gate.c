// SPDX-License-Identifier: Apache-2.0
// The gate in front of an allocator: see gate.h. What is given back while it is shut is a list through the
// memory itself.
#include "solver/islands/gate.h"

struct CniGateBack {
  struct CniGateBack *next;
  size_t size;
};

// Room for a link of the list.
static size_t at_least(size_t size) {
  return size > sizeof(struct CniGateBack) ? size : sizeof(struct CniGateBack);
}

static void *allocate(void *context, size_t size, size_t alignment) {
  CniGate *gate = context;
  if (gate->shut) return NULL;
  return gate->inner.allocate(gate->inner.context, at_least(size), alignment);
}

static void release(void *context, void *memory, size_t size) {
  CniGate *gate = context;
  if (!gate->shut) {
    gate->inner.release(gate->inner.context, memory, at_least(size));
    return;
  }
  struct CniGateBack *back = memory;
  *back = (struct CniGateBack){gate->back, at_least(size)};
  gate->back = back;
}

CnAllocator cni_gate_allocator(CniGate *gate, const CnAllocator *inner) {
  *gate = (CniGate){.inner = *inner};
  return (CnAllocator){allocate, release, gate};
}

void cni_gate_shut(CniGate *gate) { gate->shut = 1; }

void cni_gate_open(CniGate *gate) {
  gate->shut = 0;
  while (gate->back) {
    struct CniGateBack *back = gate->back;
    gate->back = back->next;
    gate->inner.release(gate->inner.context, back, back->size);
  }
}
