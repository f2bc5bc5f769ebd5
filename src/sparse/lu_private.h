// SPDX-License-Identifier: Apache-2.0
// What the two halves of lu.h share: order and fronts (lu_order.c), numbers (lu.c).
#ifndef CNI_SPARSE_LU_PRIVATE_H
#define CNI_SPARSE_LU_PRIVATE_H

#include "sparse/sparse.h"

// A dense matrix of the nodes that are eliminated (pivots) and those they touch (border).
typedef struct CniFront {
  int32_t node_start, pivot_nodes, border_nodes; // into CniLu::nodes: pivots, then border
  int32_t pivots, border;                        // rows
  int32_t first_row;                             // of its pivots in the order of elimination
  int32_t children, subtree;                     // and the first front below it
  int64_t factor; // into CniLu::factor: rows of U with the pivot block, then L of the border
} CniFront;

struct CniLu {
  CnAllocator allocator;
  CniArena arena;
  const CniDenseKernels *kernels;
  const CniLuGraph *graph;
  CniFront *fronts; // children before their parent, a child's last descendant right before it
  int32_t *nodes;
  int32_t *row;      // per node: first row of the matrix
  int32_t *place;    // per node: position in the order of elimination
  int32_t *local;    // per node: first row in the front at hand
  int64_t *diagonal; // per node: its block in the values
  int64_t *entry;    // per neighbour: its block
  int32_t *mate;     // per neighbour: the entry on the other side
  int32_t *pivot;    // per row in the order of elimination: exchanges within its front
  double *factor, *front, *stack, *x;
  int64_t fill, stack_size;
  int32_t front_count, size;
  int32_t *member, member_capacity; // of the ordering
  int64_t front_size;               // of the largest
};

// Columns of a front: the pivots, a gap up to a cache line, the border.
static inline int32_t cni_front_border(const CniFront *f) { return (f->pivots + 7) / 8 * 8; }
static inline int32_t cni_front_stride(const CniFront *f) {
  return cni_dense_stride(cni_front_border(f) + f->border);
}
// Numbers of L between the rows of the border, and all that a front keeps.
static inline int32_t cni_front_l_stride(const CniFront *f) { return cni_front_border(f); }
static inline int64_t cni_front_factor_size(const CniFront *f) {
  return (int64_t)f->pivots * cni_front_stride(f) + (int64_t)f->border * cni_front_l_stride(f);
}

// Order, fronts and sizes of lu->graph, in the arena.
CnStatus cni_lu_order(CniLu *lu);

#endif
