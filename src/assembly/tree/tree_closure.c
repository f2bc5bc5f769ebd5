// SPDX-License-Identifier: Apache-2.0
// Which machines with loops are solved along their tree, and the structure of what closes the loops
// (tree_closure.inc has the numbers).
#include "assembly/tree/tree_private.h"

#include "core/error.h"

#define SIDES_MOST 8  // a joint, in the mean: the ways to the ground are short
#define SIDE_WORK 100 // multiplications of a column,
#define NODE_WORK 300 // and of a node along the tree

static int32_t columns_of(const CniTreeNode *node) { return node->hinge ? 1 : 3; }

// Where the ways of a joint's bodies to the ground meet: nodes behind their parents have larger numbers.
static int32_t meeting(const CniTree *t, int32_t a, int32_t b) {
  while (a != b) {
    if (a > b)
      a = t->nodes[a].parent;
    else
      b = t->nodes[b].parent;
  }
  return a;
}

// Sides of the nodes from `node` on before `until`.
static void add_way(const CniTree *t, int32_t node, int32_t until, CniDirectSide *sides,
                    int32_t *columns, int32_t *count) {
  for (; node != until; node = t->nodes[node].parent, ++*count) {
    if (!sides) continue;
    sides[*count] = (CniDirectSide){node, 0};
    columns[*count] = columns_of(&t->nodes[node]);
  }
}

// Sides of all that closes loops; null: counted.
static int64_t list_sides(CniTree *t, CniDirectSide *sides) {
  CniTreeClosure *c = &t->loops.closure;
  int32_t count = 0, rows = 0, loops = t->link_count - t->node_count;
  for (int32_t i = 0; i < loops; i++) {
    const CniTreeNode *link = &t->nodes[t->node_count + i];
    int32_t first = count, meet = meeting(t, link->own, link->parent);
    add_way(t, link->own, meet, sides, c->columns, &count);
    add_way(t, link->parent, meet, sides, c->columns, &count);
    add_way(t, meet, -1, sides, c->columns, &count);
    if (count > SIDES_MOST * (int64_t)t->link_count) return INT64_MAX;
    if (!sides) continue;
    c->common[i] = meet;
    c->blocks[i] = (CniDirectBlock){rows, link->hinge ? 5 : 3, first, count - first};
    rows += link->hinge ? 5 : 3;
    c->system.row_count = rows;
  }
  return count;
}

CnStatus cni_tree_closure_shape(CniTree *t) {
  CniArena *arena = &t->arena;
  CniTreeClosure *c = &t->loops.closure;
  int32_t loops = t->link_count - t->node_count;
  c->used = 0;
  for (int32_t i = 0; i < t->node_count; i++)
    if (t->nodes[i].joint < 0) return CN_OK; // a machine that nothing holds
  int64_t sides = list_sides(t, NULL);
  if (sides == INT64_MAX) return CN_OK;
  if (!c->direct) CNI_TRY(cni_direct_create(&t->allocator, &c->direct));
  CNI_TRY(CNI_TAKE(arena, loops, c->blocks));
  CNI_TRY(CNI_TAKE(arena, loops, c->common));
  CNI_TRY(CNI_TAKE(arena, sides, c->sides));
  CNI_TRY(CNI_TAKE(arena, sides, c->columns));
  CNI_TRY(CNI_TAKE(arena, 5 * (int64_t)loops, c->diagonal));
  CNI_TRY(CNI_TAKE(arena, 5 * (int64_t)loops, c->c));
  CNI_TRY(CNI_TAKE(arena, 5 * (int64_t)loops, c->x));
  list_sides(t, c->sides);
  c->system = (CniDirectSystem){.blocks = c->blocks,
                                .sides = c->sides,
                                .body_count = t->node_count,
                                .block_count = loops,
                                .side_count = (int32_t)sides,
                                .row_count = c->system.row_count,
                                .columns = c->columns,
                                .diagonal = c->diagonal};
  CNI_TRY(cni_direct_shape(c->direct, &c->system));
  double work = cni_direct_work(c->direct) + SIDE_WORK * (double)sides + NODE_WORK * t->node_count;
  c->used = cni_direct_fits(c->direct) && work < cni_direct_work(t->loops.direct);
  // of different sizes, or those of equal machines would cancel
  uint32_t chance = 1;
  for (int32_t e = 0; e < t->link_eights; e++)
    for (int32_t n = 0; n < 5; n++)
      for (int32_t k = 0; k < CNI_TREE_LANES; k++) {
        chance = 1664525 * chance + 1013904223;
        double size = 0.5 + (double)(chance >> 8 & 0xffff) / 0xffff;
        t->links[e].chance[n][k] = chance >> 31 ? size : -size;
      }
  return CN_OK;
}
