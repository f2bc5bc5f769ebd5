// The order of elimination and the fronts of lu.h.
//
// Minimum degree on the quotient graph: eliminating a node makes its neighbours a clique, which is
// kept as one element instead of its edges. A node's neighbours are nodes it was joined to from the
// start and elements it belongs to; an element inside a new one is absorbed. The degree (in rows)
// is the usual upper bound: rows of the new element, of the edges left, and of the other elements
// outside the new one. Ties: the node that came into its degree last.
//
// The lists of the elements are the structure of the factor. A node whose list begins with its
// parent is put into the parent's front where few zeros come of it.
//
// Reference: Amestoy, Davis and Duff 1996.
#include "sparse/lu_parts.h"

#include "core/error.h"

#include <string.h>

typedef struct Work {
  CniLu *lu;
  const CniLuGraph *graph;
  int32_t n;
  int32_t *list;                 // neighbours: nodes, then elements, within the graph's own ranges
  int32_t *node_count;           // per node: nodes left in its list
  int32_t *element_count;        // per node: elements after them
  int32_t *member, member_count; // lists of all elements, one after the other
  int32_t *member_start, *member_length;
  int32_t *weight;             // rows of an element
  int32_t *mark;               // per node: last element it was seen in
  int32_t *outside, *seen;     // per element: rows outside the new one, and when counted
  int32_t *degree;             // per node, in rows
  int32_t *head, *next, *prev; // nodes of one degree
  uint8_t *gone;               // 1: eliminated; 2: and absorbed
  int32_t *order;
  int32_t rows, lowest;
} Work;

static CnStatus take(CniLu *lu, int64_t count, size_t size, void *memory) {
  void *taken = cni_arena_take(&lu->arena, (size_t)count * size);
  if (!taken) return cni_error_memory((size_t)count * size);
  memset(taken, 0, (size_t)count * size);
  memcpy(memory, &taken, sizeof taken);
  return CN_OK;
}

// ---- nodes by degree ----

static void file_node(Work *w, int32_t i) {
  int32_t d = w->degree[i];
  w->prev[i] = -1;
  w->next[i] = w->head[d];
  if (w->head[d] >= 0) w->prev[w->head[d]] = i;
  w->head[d] = i;
  if (d < w->lowest) w->lowest = d;
}

static void unfile_node(Work *w, int32_t i) {
  if (w->prev[i] >= 0)
    w->next[w->prev[i]] = w->next[i];
  else
    w->head[w->degree[i]] = w->next[i];
  if (w->next[i] >= 0) w->prev[w->next[i]] = w->prev[i];
}

static CnStatus prepare(Work *w) {
  CniLu *lu = w->lu;
  const CniLuGraph *g = w->graph;
  int64_t n = w->n, edges = n > 0 ? g->start[n] : 0;
  CNI_TRY(take(lu, edges, sizeof *w->list, &w->list));
  if (edges > 0) memcpy(w->list, g->column, (size_t)edges * sizeof *w->list);
  int32_t **arrays[] = {&w->node_count, &w->element_count, &w->member_start, &w->member_length,
                        &w->weight,     &w->mark,          &w->outside,      &w->seen,
                        &w->degree,     &w->next,          &w->prev,         &w->order};
  for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
    CNI_TRY(take(lu, n, sizeof(int32_t), arrays[k]));
  CNI_TRY(take(lu, n, 1, &w->gone));
  for (int32_t i = 0; i < w->n; i++) w->rows += g->size[i];
  CNI_TRY(take(lu, (int64_t)w->rows + 1, sizeof *w->head, &w->head));
  for (int32_t d = 0; d <= w->rows; d++) w->head[d] = -1;
  w->lowest = w->rows;
  for (int32_t i = w->n - 1; i >= 0; i--) {
    w->node_count[i] = g->start[i + 1] - g->start[i];
    w->mark[i] = w->seen[i] = -1;
    for (int32_t e = g->start[i]; e < g->start[i + 1]; e++) w->degree[i] += g->size[g->column[e]];
    file_node(w, i);
  }
  return CN_OK;
}

// ---- one node eliminated ----

static void add_member(Work *w, int32_t element, int32_t i) {
  if (w->gone[i] || w->mark[i] == element) return;
  w->mark[i] = element;
  w->member[w->member_count++] = i;
  w->weight[element] += w->graph->size[i];
}

// The list of the element that node p becomes.
static CnStatus form_element(Work *w, int32_t p) {
  const int32_t *list = w->list + w->graph->start[p];
  int32_t nodes = w->node_count[p], elements = w->element_count[p];
  int64_t most = nodes;
  for (int32_t k = 0; k < elements; k++) most += w->member_length[list[nodes + k]];
  if (most > w->n) most = w->n;
  if (w->member_count >= INT32_MAX - (int32_t)most)
    return cni_error(CN_UNSUPPORTED, "the factor of %d rows is too large", (int)w->rows);
  CNI_TRY(cni_array_reserve(&w->lu->allocator, (void **)&w->lu->member, &w->lu->member_capacity,
                            w->member_count, w->member_count + (int32_t)most + 1,
                            sizeof *w->member));
  w->member = w->lu->member;
  w->gone[p] = 1;
  w->member_start[p] = w->member_count;
  for (int32_t k = 0; k < elements; k++) {
    int32_t e = list[nodes + k];
    if (w->gone[e] == 2) continue;
    for (int32_t m = 0; m < w->member_length[e]; m++)
      add_member(w, p, w->member[w->member_start[e] + m]);
    w->gone[e] = 2;
  }
  for (int32_t k = 0; k < nodes; k++) add_member(w, p, list[k]);
  w->member_length[p] = w->member_count - w->member_start[p];
  return CN_OK;
}

// Rows of every element of the new one's members that lie outside the new one.
static void count_outside(Work *w, int32_t p) {
  if (w->member_length[p] == 0) return; // there may be no array of members
  const int32_t *member = w->member + w->member_start[p];
  for (int32_t m = 0; m < w->member_length[p]; m++) {
    int32_t i = member[m];
    const int32_t *list = w->list + w->graph->start[i] + w->node_count[i];
    for (int32_t k = 0; k < w->element_count[i]; k++) {
      int32_t e = list[k];
      if (w->gone[e] == 2) continue;
      if (w->seen[e] != p) {
        w->seen[e] = p;
        w->outside[e] = w->weight[e];
      }
      w->outside[e] -= w->graph->size[i];
    }
  }
}

// List and degree of member i of the new element p.
static void update_member(Work *w, int32_t p, int32_t i, int32_t rows_left) {
  int32_t *list = w->list + w->graph->start[i], kept = 0, degree = 0, own = w->graph->size[i];
  int32_t nodes = w->node_count[i], elements = w->element_count[i];
  for (int32_t k = 0; k < nodes; k++) {
    int32_t j = list[k];
    if (w->gone[j] || w->mark[j] == p) continue;
    list[kept++] = j;
    degree += w->graph->size[j];
  }
  w->node_count[i] = kept;
  for (int32_t k = 0; k < elements; k++) {
    int32_t e = list[nodes + k];
    if (w->gone[e] == 2) continue;
    if (w->outside[e] == 0) {
      w->gone[e] = 2; // inside the new one
      continue;
    }
    list[kept++] = e;
    degree += w->outside[e];
  }
  list[kept++] = p;
  w->element_count[i] = kept - w->node_count[i];

  int32_t inside = w->weight[p] - own, bound = w->degree[i] + inside;
  degree += inside;
  if (bound < degree) degree = bound;
  if (rows_left - own < degree) degree = rows_left - own;
  unfile_node(w, i);
  w->degree[i] = degree;
  file_node(w, i);
}

static CnStatus eliminate(Work *w) {
  int32_t rows_left = w->rows;
  for (int32_t step = 0; step < w->n; step++) {
    while (w->head[w->lowest] < 0) w->lowest++;
    int32_t p = w->head[w->lowest];
    unfile_node(w, p);
    w->order[step] = p;
    w->lu->place[p] = step;
    rows_left -= w->graph->size[p];
    CNI_TRY(form_element(w, p));
    count_outside(w, p);
    for (int32_t m = 0; m < w->member_length[p]; m++)
      update_member(w, p, w->member[w->member_start[p] + m], rows_left);
  }
  return CN_OK;
}

// ---- fronts ----

typedef struct Tree {
  int32_t *parent;        // per node: the first of its members to be eliminated, -1: none
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
    int32_t i = w->order[s], first = w->n;
    for (int32_t m = 0; m < w->member_length[i]; m++) {
      int32_t at = w->lu->place[w->member[w->member_start[i] + m]];
      if (at < first) first = at;
    }
    t->parent[i] = first < w->n ? w->order[first] : -1;
    t->front[i] = i;
    t->chain[i] = -1;
    t->child[i] = t->other[i] = -1;
    t->pivots[i] = w->graph->size[i];
  }
  for (int32_t s = 0; s < w->n; s++) {
    int32_t i = w->order[s], q = t->parent[i];
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
    int32_t i = w->order[s], q = t->parent[i];
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
    if (t->front[root] != root || t->parent[root] >= 0) continue;
    stack[depth++] = root;
    while (depth > 0) {
      int32_t i = stack[depth - 1], c = t->child[i];
      if (c >= 0 && t->front[i] == i && w->outside[i] >= 0) {
        // first visit: all children, the first on top
        w->outside[i] = -1;
        int32_t from = depth;
        for (; c >= 0; c = t->other[c]) stack[depth++] = c;
        for (int32_t a = from, b = depth - 1; a < b; a++, b--) {
          int32_t swap = stack[a];
          stack[a] = stack[b];
          stack[b] = swap;
        }
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
  int32_t **arrays[] = {&t.parent, &t.front, &t.pivots, &t.child, &t.other, &t.chain, &stack};
  for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
    CNI_TRY(take(lu, w->n, sizeof(int32_t), arrays[k]));
  CNI_TRY(take(lu, w->n, sizeof *t.zeros, &t.zeros));
  CNI_TRY(take(lu, w->n, sizeof *lu->fronts, &lu->fronts));
  CNI_TRY(take(lu, (int64_t)w->n + w->member_count, sizeof *lu->nodes, &lu->nodes));
  join_fronts(w, &t);
  for (int32_t i = 0; i < w->n; i++) w->outside[i] = 0;
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
  CNI_TRY(take(lu, lu->front_count, sizeof *waiting, &waiting));
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
  CNI_TRY(take(lu, w.n, sizeof *lu->place, &lu->place));
  CNI_TRY(prepare(&w));
  CNI_TRY(eliminate(&w));
  lu->front_count = 0;
  lu->fill = lu->front_size = 0;
  lu->size = w.rows;
  CNI_TRY(make_fronts(&w));
  return measure(lu);
}
