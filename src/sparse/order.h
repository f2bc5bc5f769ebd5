// SPDX-License-Identifier: Apache-2.0
// The order in which the rows of a symmetric sparse matrix are eliminated: approximate minimum
// degree with constraints.
//
// Nodes may stand for several rows each (a body of six coordinates, a contact of three rows); the
// degree counts rows. A node may have to wait for some of its neighbours (a constraint row without
// compliance has no pivot of its own before a body it acts on is eliminated), and a node may be
// late, which means after all that are not. The order is a function of the graph alone.
//
// Reference: P. R. Amestoy, T. A. Davis, I. S. Duff, An approximate minimum degree ordering
// algorithm, SIAM J. Matrix Anal. 17, 1996.
#ifndef CNI_SPARSE_ORDER_H
#define CNI_SPARSE_ORDER_H

#include <stdint.h>

#include <cairn/base.h>

#include "core/memory.h"

typedef struct CniGraph {
  int32_t node_count;
  const int32_t *start;       // node_count + 1
  const int32_t *neighbor;    // of node i: start[i] .. start[i+1]-1, both directions, no loops
  const int32_t *weight;      // rows of each node, >= 1; null: 1 each
  const int32_t *after_start; // neighbours that have to come before node i: after_start[i] ..
  const int32_t *after;       // after_start[i+1]-1 of after[]; null: none
  const int8_t *late;         // nonzero: after all nodes that are not; null: none
} CniGraph;

// order[i]: node that is eliminated as number i. Working memory from the arena, given back.
CnStatus cni_order(CniArena *arena, const CniGraph *graph, int32_t *order);

#endif
