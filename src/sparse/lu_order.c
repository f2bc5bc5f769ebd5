// SPDX-License-Identifier: Apache-2.0
// Structure and fronts of lu.h.
//
// The order is minimum degree (order.h). Eliminating a node leaves it a list of the later nodes it
// is joined to then: its own neighbours, and the lists of the nodes whose first later node it is
// (its children). These lists are the structure of the factor. A node whose list begins with its
// parent is put into the parent's front where few zeros come of it.
#include "sparse/lu_private.h"

#include "sparse/order.h"

#include <string.h>

typedef struct Work {
  CniLu *lu;
  const CniLuGraph *graph;
  int32_t n, rows;
  int32_t *order;
  int32_t *member, member_count; // lists of all nodes, one after the other
  int32_t *member_start, *member_length;
  int32_t *weight;        // rows of a list
  int32_t *parent;        // the first of a node's list to be eliminated, -1: none
  int32_t *child, *other; // first child, next sibling
  int32_t *mark;          // last node in whose list a node was put
} Work;

// ---- order and structure ----

static CnStatus prepare(Work *w) {
  const CniLuGraph *g = w->graph;
  CNI_TRY(CNI_ARRAYS(&w->lu->arena, w->n, int32_t, &w->order, &w->member_start, &w->member_length,
                     &w->weight, &w->parent, &w->child, &w->other, &w->mark));
  CniGraph graph = {
      .node_count = w->n, .start = g->start, .neighbor = g->column, .weight = g->size};
  if (w->n > 0) CNI_TRY(cni_order(&w->lu->arena, &graph, w->order));
  for (int32_t s = 0; s < w->n; s++) {
    int32_t i = w->order[s];
    w->lu->place[i] = s;
    w->parent[i] = w->child[i] = w->other[i] = w->mark[i] = -1;
    w->rows += g->size[i];
  }
  return CN_OK;
}

static void add_member(Work *w, int32_t p, int32_t i) {
  const int32_t *place = w->lu->place;
  if (place[i] <= place[p] || w->mark[i] == p) return;
  w->mark[i] = p;
  w->member[w->member_count++] = i;
  w->weight[p] += w->graph->size[i];
  if (w->parent[p] < 0 || place[i] < place[w->parent[p]]) w->parent[p] = i;
}

// The list of node p; those of all nodes before it are there.
static CnStatus list_members(Work *w, int32_t p) {
  const CniLuGraph *g = w->graph;
  int64_t most = g->start[p + 1] - g->start[p];
  for (int32_t c = w->child[p]; c >= 0; c = w->other[c]) most += w->member_length[c];
  if (most > w->n) most = w->n;
  if (w->member_count >= INT32_MAX - (int32_t)most)
    return cni_error(CN_UNSUPPORTED, "the factor of %d rows is too large", (int)w->rows);
  CNI_TRY(CNI_RESERVE(&w->lu->allocator, w->lu->member, w->lu->member_capacity, w->member_count,
                      w->member_count + (int32_t)most + 1));
  w->member = w->lu->member;
  w->member_start[p] = w->member_count;
  for (int32_t c = w->child[p]; c >= 0; c = w->other[c])
    for (int32_t m = 0; m < w->member_length[c]; m++)
      add_member(w, p, w->member[w->member_start[c] + m]);
  for (int32_t e = g->start[p]; e < g->start[p + 1]; e++) add_member(w, p, g->column[e]);
  w->member_length[p] = w->member_count - w->member_start[p];
  int32_t q = w->parent[p];
  if (q < 0) return CN_OK;
  w->other[p] = w->child[q];
  w->child[q] = p;
  return CN_OK;
}

// ---- fronts ----

typedef struct Tree {
  int32_t *front;         // per node: the node whose front it is in (the last of its pivots)
  int32_t *pivots;        // per front: rows
  int64_t *zeros;         // per front: numbers that are zero
  int32_t *child, *other; // per front: first child, next sibling
  int32_t *chain;         // per node: next pivot of its front
} Tree;

static int worth_joining(const Tree *t, const Work *w, int32_t i, int32_t q) {
  int64_t kc = t->pivots[i], kq = t->pivots[q], border = w->weight[q], sum = kc + kq;
  int64_t zeros = kc * (kq + border - w->weight[i]) + t->zeros[i] + t->zeros[q];
  int64_t all = sum * (sum + 2 * border) / 2;
  int64_t allowed = sum <= 16 ? all / 2 : sum <= 48 ? all / 5 : all / 20;
  return zeros <= allowed;
}

static void join_fronts(Work *w, Tree *t) {
  for (int32_t s = 0; s < w->n; s++) {
    int32_t i = w->order[s];
    t->front[i] = i;
    t->chain[i] = -1;
    t->child[i] = t->other[i] = -1;
    t->pivots[i] = w->graph->size[i];
  }
  for (int32_t s = 0; s < w->n; s++) {
    int32_t i = w->order[s], q = w->parent[i];
    if (q < 0 || !worth_joining(t, w, i, q)) continue;
    t->zeros[q] +=
        t->zeros[i] + (int64_t)t->pivots[i] * (t->pivots[q] + w->weight[q] - w->weight[i]);
    t->pivots[q] += t->pivots[i];
    t->front[i] = q;
    // the pivots of i go behind q's own
    int32_t last = i;
    while (t->chain[last] >= 0) last = t->chain[last];
    t->chain[last] = t->chain[q];
    t->chain[q] = i;
  }
  // fronts as a tree: later ones first, so that siblings are found in ascending order
  for (int32_t s = w->n - 1; s >= 0; s--) {
    int32_t i = w->order[s], q = w->parent[i];
    if (t->front[i] != i || q < 0) continue;
    while (t->front[q] != q) q = t->front[q];
    t->other[i] = t->child[q];
    t->child[q] = i;
  }
}

// The front of node i becomes the next one.
static void write_front(Work *w, const Tree *t, int32_t i, int32_t *node_count, int32_t *row) {
  CniLu *lu = w->lu;
  CniFront *f = &lu->fronts[lu->front_count++];
  *f = (CniFront){.node_start = *node_count, .first_row = *row, .border = w->weight[i]};
  for (int32_t j = i; j >= 0; j = t->chain[j]) {
    lu->nodes[(*node_count)++] = j;
    f->pivot_nodes++;
    f->pivots += w->graph->size[j];
  }
  for (int32_t m = 0; m < w->member_length[i]; m++)
    lu->nodes[(*node_count)++] = w->member[w->member_start[i] + m];
  f->border_nodes = w->member_length[i];
  for (int32_t c = t->child[i]; c >= 0; c = t->other[c]) f->children++;
  f->factor = lu->fill;
  lu->fill += cni_front_factor_size(f);
  *row += f->pivots;
}

// Fronts with children before parents; positions of nodes follow.
static void write_fronts(Work *w, Tree *t, int32_t *stack) {
  int32_t node_count = 0, row = 0;
  for (int32_t s = 0; s < w->n; s++) {
    int32_t root = w->order[s], depth = 0;
    if (t->front[root] != root || w->parent[root] >= 0) continue;
    stack[depth++] = root;
    while (depth > 0) {
      int32_t i = stack[depth - 1], c = t->child[i];
      if (c >= 0 && t->front[i] == i && w->mark[i] >= 0) {
        // first visit: all children, the first on top
        w->mark[i] = -1;
        int32_t from = depth;
        for (; c >= 0; c = t->other[c]) stack[depth++] = c;
        for (int32_t a = from, b = depth - 1; a < b; a++, b--)
          CNI_SWAP(int32_t, stack[a], stack[b]);
        continue;
      }
      depth--;
      write_front(w, t, i, &node_count, &row);
    }
  }
}

static CnStatus make_fronts(Work *w) {
  CniLu *lu = w->lu;
  Tree t;
  int32_t *stack = NULL;
  CNI_TRY(CNI_LAY(&lu->arena, CNI_ARRAY(w->n, t.front), CNI_ARRAY(w->n, t.pivots),
                  CNI_ARRAY(w->n, t.child), CNI_ARRAY(w->n, t.other), CNI_ARRAY(w->n, t.chain),
                  CNI_ARRAY(w->n, stack), CNI_ARRAY(w->n, t.zeros), CNI_ARRAY(w->n, lu->fronts),
                  CNI_ARRAY((int64_t)w->n + w->member_count, lu->nodes)));
  join_fronts(w, &t);
  for (int32_t i = 0; i < w->n; i++) w->mark[i] = 0;
  write_fronts(w, &t, stack);
  int32_t place = 0;
  for (int32_t k = 0; k < lu->front_count; k++)
    for (int32_t j = 0; j < lu->fronts[k].pivot_nodes; j++)
      lu->place[lu->nodes[lu->fronts[k].node_start + j]] = place++;
  return CN_OK;
}

// Room that the numbers take: the largest front, and the updates that wait for their parents.
static CnStatus measure(CniLu *lu) {
  int64_t *waiting = NULL, height = 0;
  int32_t count = 0;
  CNI_TRY(cni_arena_array(&lu->arena, lu->front_count, sizeof *waiting, &waiting));
  lu->stack_size = 0;
  for (int32_t k = 0; k < lu->front_count; k++) {
    const CniFront *f = &lu->fronts[k];
    int64_t size = (int64_t)(f->pivots + f->border) * cni_front_stride(f);
    if (size > lu->front_size) lu->front_size = size;
    lu->fronts[k].subtree = k;
    for (int32_t c = 0; c < f->children; c++) {
      height -= waiting[--count];
      lu->fronts[k].subtree = lu->fronts[lu->fronts[k].subtree - 1].subtree;
    }
    waiting[count] = (int64_t)f->border * f->border;
    height += waiting[count++];
    if (height > lu->stack_size) lu->stack_size = height;
  }
  return CN_OK;
}

CnStatus cni_lu_order(CniLu *lu) {
  Work w = {.lu = lu, .graph = lu->graph, .n = lu->graph->node_count};
  CNI_TRY(cni_arena_array(&lu->arena, w.n, sizeof *lu->place, &lu->place));
  CNI_TRY(prepare(&w));
  for (int32_t s = 0; s < w.n; s++) CNI_TRY(list_members(&w, w.order[s]));
  lu->front_count = 0;
  lu->fill = lu->front_size = 0;
  lu->size = w.rows;
  CNI_TRY(make_fronts(&w));
  return measure(lu);
}
