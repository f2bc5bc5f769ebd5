// SPDX-License-Identifier: Apache-2.0
// Islands: the parts of a problem that know nothing of each other.
//
// Groups with mass are joined by the blocks that act on them; prescribed groups pass nothing on, so
// that two piles on one ground are two islands. In the explicit form blocks are joined by the
// nonzero entries of W between them. Union-find with path halving; the lower index becomes the
// root. Islands are numbered in the order of their first block, which does not depend on how the
// trees grew. Cost: practically linear.
#include "problem/problem.h"

#include "core/error.h"
#include "core/memory.h"

static int32_t find(int32_t *parent, int32_t i) {
  while (parent[i] != i) {
    parent[i] = parent[parent[i]];
    i = parent[i];
  }
  return i;
}

static int32_t join(int32_t *parent, int32_t a, int32_t b) {
  a = find(parent, a);
  b = find(parent, b);
  if (a < b)
    parent[b] = a;
  else
    parent[a] = b;
  return a < b ? a : b;
}

// Join a group to the node of its block; -1 is a block without a group so far.
static int32_t join_group(const CnProblem *p, int32_t node, int32_t group) {
  if (!(p->groups[group].inv_mass > 0)) return node;
  return node < 0 ? group : join(p->links, node, group);
}

// Join all groups of a block; returns one of them, -1 if none has mass.
static int32_t join_block(const CnProblem *p, const CniBlock *block) {
  int32_t node = -1;
  if (block->storage == CNI_PAIR) {
    const CniPairBlock *c = &p->pairs[block->index];
    node = join_group(p, join_group(p, node, c->group_a), c->group_b);
  } else if (block->storage == CNI_SPHERE) {
    const CniSphereBlock *c = &p->spheres[block->index];
    node = join_group(p, join_group(p, node, c->group_a), c->group_b);
  } else {
    CniRowsBlock rows = p->row_blocks[block->index];
    for (int32_t e = 0; e < rows.entry_count; e++)
      node = join_group(p, node, p->row_entries[rows.entry_start + e].group);
  }
  return node;
}

// Explicit form: nodes are blocks. block_of holds the block of each row.
static void join_explicit(const CnProblem *p, const int32_t *block_of) {
  for (int32_t i = 0; i < p->w.row_count; i++)
    for (int32_t e = p->w.start[i]; e < p->w.start[i + 1]; e++)
      if (p->w.value[e] != 0) join(p->links, block_of[i], block_of[p->w.column[e]]);
}

CnStatus cni_problem_islands(CnProblem *p, int32_t *island_of, int32_t *island_count) {
  *island_count = 0;
  CNI_TRY(cni_problem_check(p));
  if (p->form == CN_FORM_GLOBAL)
    return cni_error(CN_UNSUPPORTED, "a problem of the global form has no islands of its own: "
                                     "eliminate its velocities first");
  int is_explicit = p->form == CN_FORM_EXPLICIT;
  int32_t nodes = is_explicit ? p->block_count : p->group_count;
  int32_t extra = is_explicit && p->row_count > nodes ? p->row_count : nodes;
  CNI_TRY(cni_array_reserve(&p->allocator, (void **)&p->links, &p->link_capacity, 0,
                            nodes + extra + 1, sizeof *p->links)); // never without memory at all
  int32_t *number = p->links + nodes;
  for (int32_t i = 0; i < nodes; i++) p->links[i] = i;
  if (is_explicit) {
    for (int32_t i = 0; i < p->block_count; i++)
      for (int32_t d = 0; d < p->blocks[i].dim; d++) number[p->blocks[i].row + d] = i;
    join_explicit(p, number);
  }

  // island_of holds a node of the block until the roots are final
  for (int32_t i = 0; i < p->block_count; i++)
    island_of[i] = is_explicit ? i : join_block(p, &p->blocks[i]);
  for (int32_t i = 0; i < nodes; i++) number[i] = -1;
  for (int32_t i = 0; i < p->block_count; i++) {
    if (island_of[i] < 0) continue;
    int32_t root = find(p->links, island_of[i]);
    if (number[root] < 0) number[root] = (*island_count)++;
    island_of[i] = number[root];
  }
  return CN_OK;
}
