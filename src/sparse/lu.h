// SPDX-License-Identifier: Apache-2.0
// Solving with an unsymmetric matrix of symmetric pattern, given by small dense blocks: the systems
// of Newton's method on contacts.
//
// The matrix is a graph: nodes are a few rows each (a contact, a body), an edge is a block and its
// mate on the other side of the diagonal. Nodes are ordered by minimum degree; nodes of like
// structure are eliminated together in dense fronts (multifrontal LU), with row exchanges among the
// rows that a front eliminates. A dense matrix is one front.
#ifndef CNI_SPARSE_LU_H
#define CNI_SPARSE_LU_H

#include <cairn/base.h>
#include <stdint.h>

// Neighbours of a node ascend, without the node itself; j is a neighbour of i where i is one of j.
typedef struct CniLuGraph {
  int32_t node_count;
  const int32_t *size;   // rows of a node
  const int32_t *start;  // node_count + 1
  const int32_t *column; // neighbours
} CniLuGraph;

typedef struct CniLu CniLu;

CnStatus cni_lu_create(const CnAllocator *allocator, CniLu **lu);
void cni_lu_destroy(CniLu *lu);

// Order and symbolic elimination. The graph is borrowed until the next call. Memory is kept from
// call to call.
CnStatus cni_lu_analyse(CniLu *lu, const CniLuGraph *graph);

// Let go of the graph, and bring the memory into one piece for the next.
CnStatus cni_lu_rest(CniLu *lu);

// Numbers in the factors.
int64_t cni_lu_fill(const CniLu *lu);
// Multiplications and additions of one factorisation.
double cni_lu_flops(const CniLu *lu);

// Factor; 0 where a front has no pivot above `least` in size.
int cni_lu_factor(CniLu *lu, const double *values, double least);
// x <- A^-1 x; x in the order of nodes.
void cni_lu_solve(CniLu *lu, double *x);

#endif
