// SPDX-License-Identifier: Apache-2.0
// The islands of a step problem: bodies that act on each other through contacts and joints, directly or
// by way of others. Bodies without mass join nobody. Each island is a problem of its own.
#ifndef CNI_SOLVER_ISLANDS_H
#define CNI_SOLVER_ISLANDS_H

#include "problem/problem.h"

typedef struct CniIslands {
  CnAllocator allocator;
  CnProblem *part;   // the one taken out last
  int32_t *group_of; // per group of the problem: its group in the part, -1: none
  int32_t *set_of;   // per set
  int32_t *list;     // blocks, island by island, in their order
  int32_t *start;    // per island: its first one in `list`
  int32_t *rows;     // per island
  int32_t *root;     // per group, while they are found; then its island
  int32_t count;
  int32_t group_capacity, set_capacity, list_capacity, start_capacity, rows_capacity, root_capacity;
} CniIslands;

void cni_islands_init(CniIslands *islands, const CnAllocator *allocator);
void cni_islands_release(CniIslands *islands);

// Find them; in the order of their first blocks. Blocks of bodies without mass alone are one more island.
CnStatus cni_islands_find(CniIslands *islands, const CnProblem *p);

// Island i as a problem in islands->part, its blocks in the order of islands->list. `speed` is what its
// residuals are relative to.
CnStatus cni_islands_take(CniIslands *islands, const CnProblem *p, int32_t i, double speed);

// The bodies of a block: its first and its last; -1: none.
void cni_block_pair(const CnProblem *p, const CniBlock *block, int32_t pair[2]);

// The residual of a block as the certificate measures it, in m/s, with its impulses g and all velocities.
double cni_block_residual(const CnProblem *p, const CniBlock *block, const double *g,
                          const double *v);

#endif
