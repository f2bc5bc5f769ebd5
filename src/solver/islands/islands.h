// SPDX-License-Identifier: Apache-2.0
// The islands of a step problem: bodies that act on each other through contacts and joints, directly or
// by way of others. Bodies without mass join nobody. Each island is a problem of its own, and so is any
// other list of blocks (a part).
#ifndef CNI_SOLVER_ISLANDS_H
#define CNI_SOLVER_ISLANDS_H

#include "problem/problem.h"

typedef struct CniIslands {
  CnAllocator allocator;
  int32_t *list;     // blocks, island by island, in their order, if `listed`
  int32_t *start;    // per island: its first one in `list`
  int32_t *rows;     // per island
  int32_t *bodies;   // per island: those with mass
  int32_t *root;     // per group, while they are found
  int32_t *of;       // per group, while they are found
  int32_t *of_block; // per block: its island, -1: that of those that move nobody
  int32_t count, listed;
  int32_t list_capacity, start_capacity, rows_capacity, root_capacity, of_capacity,
      of_block_capacity, bodies_capacity;
} CniIslands;

void cni_islands_init(CniIslands *islands, const CnAllocator *allocator);
void cni_islands_release(CniIslands *islands);

// Find them; in the order of their first blocks. Blocks of bodies without mass alone are one more island.
CnStatus cni_islands_find(CniIslands *islands, const CnProblem *p);
// And list their blocks, which nobody needs who sweeps all of them.
void cni_islands_list(CniIslands *islands, const CnProblem *p);

// ---- parts ----

typedef struct CniPart {
  CnAllocator allocator;
  CnProblem *problem; // the one taken out last
  int32_t *taken;     // per group of the part: its group in the whole
  int32_t *group_of;  // per group of the whole: its group in the part, -1: none
  int32_t *set_of;    // per set
  int32_t taken_capacity, group_capacity, set_capacity;
} CniPart;

void cni_part_init(CniPart *part, const CnAllocator *allocator);
void cni_part_release(CniPart *part);
// Before the first part of a problem is taken.
CnStatus cni_part_begin(CniPart *part, const CnProblem *p);
// The blocks of a list, in its order, as a problem in part->problem. `speed` is what its residuals are
// relative to.
CnStatus cni_part_take(CniPart *part, const CnProblem *p, const int32_t *list, int32_t count,
                       double speed);

// ---- blocks ----

// The bodies of a block: its first and its last; -1: none.
void cni_block_pair(const CnProblem *p, const CniBlock *block, int32_t pair[2]);

// The residual of a block as the certificate measures it, in m/s, with its impulses g and all velocities.
double cni_block_residual(const CnProblem *p, const CniBlock *block, const double *g,
                          const double *v);
// m/s: the largest speed that the blocks see without any impulse, and no less than the problem's: what the
// certificate's residual is relative to.
double cni_free_speed(const CnProblem *p);

#endif
