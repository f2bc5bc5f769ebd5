// SPDX-License-Identifier: Apache-2.0
// Approximate minimum degree on the quotient graph.
//
// Eliminating a node joins all its neighbours with each other. That clique is never written out:
// the node becomes an *element*, a list of the nodes it joined, and swallows the elements it
// belonged to. A node's list holds its elements first, then the neighbours no element accounts for.
// Nodes that have become indistinguishable (same lists) are merged and go together; nodes whose
// only element is the new one are eliminated with it at once. The degree of a node is bounded from
// above by the sum over its elements of what they have outside the newest one, which one pass over
// the newest element gives for all its nodes.
//
// Storage: lists lie in one array; a new element is written behind all others, and when the end is
// reached the live lists are copied to the second array, which then takes over. All lists together
// never grow beyond what they were at the start.
//
// Among equal degrees the node that came last is taken; nodes that wait, and late nodes before
// their time, are simply in no degree list.
#include "sparse/order.h"

#include "core/error.h"

#include <string.h>

typedef enum NodeState { NODE_FREE = 0, NODE_ELEMENT, NODE_GONE } NodeState;

typedef struct Order {
  const CniGraph *graph;
  int32_t n, live_rows, rows;  // rows that are not eliminated, all rows
  int32_t *list, *spare;       // the lists, and the other array
  int64_t end, room;           // used part of `list`, and its size
  int64_t *start;              // of node or element i in `list`
  int32_t *length, *elements;  // entries of i's list, and how many of them are elements
  int32_t *weight;             // rows of a node; negative while it is in the newest element
  int32_t *degree;             // of a node: bound; of an element: its rows
  int64_t *mark;               // of elements: stamp + rows outside the newest one
  int32_t *head, *next, *prev; // lists of free nodes by degree
  int32_t *bucket, *chain;     // nodes by hash
  int32_t *member, *last;      // nodes merged into a node, as a list
  int32_t *waits;              // how many a node waits for
  int32_t *wait_start, *wait;  // who waits for a node
  uint32_t *hash;
  uint8_t *state, *placed;
  int64_t stamp;
  int32_t least, late_now;
} Order;

// ---- degree lists ----

static int may_go(const Order *o, int32_t i) {
  return !o->waits[i] && (o->late_now || !o->graph->late || !o->graph->late[i]);
}

static void place(Order *o, int32_t i) {
  int32_t d = o->degree[i];
  if (!may_go(o, i) || o->placed[i]) return;
  o->placed[i] = 1;
  o->prev[i] = -1;
  o->next[i] = o->head[d];
  if (o->head[d] >= 0) o->prev[o->head[d]] = i;
  o->head[d] = i;
  if (d < o->least) o->least = d;
}

static void unplace(Order *o, int32_t i) {
  if (!o->placed[i]) return;
  o->placed[i] = 0;
  if (o->next[i] >= 0) o->prev[o->next[i]] = o->prev[i];
  if (o->prev[i] >= 0)
    o->next[o->prev[i]] = o->next[i];
  else
    o->head[o->degree[i]] = o->next[i];
}

// ---- set-up ----

static CnStatus reserve(Order *o, CniArena *arena) {
  int64_t n = o->n, entries = n > 0 ? o->graph->start[n] : 0;
  int64_t rows = o->graph->weight ? 0 : n;
  for (int32_t i = 0; o->graph->weight && i < o->n; i++) rows += o->graph->weight[i];
  if (rows > INT32_MAX - 1) return cni_error(CN_NO_MEMORY, "a matrix has too many rows to order");
  o->rows = (int32_t)rows;
  o->room = entries + entries / 4 + n;
  CNI_TRY(CNI_LAY(arena, CNI_ARRAY(o->room, o->list), CNI_ARRAY(o->room, o->spare),
                  CNI_ARRAY(n, o->start), CNI_ARRAY(rows, o->head), CNI_ARRAY(n, o->hash),
                  CNI_ARRAY(n, o->mark), CNI_ARRAY(n, o->length), CNI_ARRAY(n, o->elements),
                  CNI_ARRAY(n, o->weight), CNI_ARRAY(n, o->degree), CNI_ARRAY(n, o->next),
                  CNI_ARRAY(n, o->prev), CNI_ARRAY(n, o->bucket), CNI_ARRAY(n, o->chain),
                  CNI_ARRAY(n, o->member), CNI_ARRAY(n, o->last), CNI_ARRAY(n, o->waits),
                  CNI_ARRAY(n, o->wait_start), CNI_ARRAY(n, o->state), CNI_ARRAY(n, o->placed)));
  for (int64_t d = 0; d <= rows; d++) o->head[d] = -1;
  return CN_OK;
}

static void load(Order *o) {
  const CniGraph *g = o->graph;
  o->end = o->n > 0 ? g->start[o->n] : 0;
  if (o->end > 0) memcpy(o->list, g->neighbor, (size_t)o->end * sizeof *o->list);
  for (int32_t i = 0; i < o->n; i++) {
    o->start[i] = g->start[i];
    o->length[i] = g->start[i + 1] - g->start[i];
    o->weight[i] = g->weight ? g->weight[i] : 1;
    o->live_rows += o->weight[i];
    o->member[i] = -1;
    o->last[i] = i;
    o->bucket[i] = -1;
  }
  o->stamp = 1;
  o->least = o->live_rows;
  for (int32_t i = o->n - 1; i >= 0; i--) {
    for (int32_t e = g->start[i]; e < g->start[i + 1]; e++)
      o->degree[i] += o->weight[g->neighbor[e]];
    place(o, i);
  }
}

// Who waits for whom, from the lists of whom a node waits for.
static CnStatus load_waiting(Order *o, CniArena *arena) {
  const CniGraph *g = o->graph;
  if (!g->after) return CN_OK;
  CNI_TRY(cni_arena_array(arena, g->after_start[o->n], sizeof(int32_t), &o->wait));
  for (int32_t i = 0; i < o->n; i++) {
    o->waits[i] = g->after_start[i + 1] - g->after_start[i];
    for (int32_t e = g->after_start[i]; e < g->after_start[i + 1]; e++)
      o->wait_start[g->after[e] + 1]++;
  }
  for (int32_t i = 0; i < o->n; i++) o->wait_start[i + 1] += o->wait_start[i];
  // filled from the back: the starts end up where they belong
  for (int32_t i = o->n - 1; i >= 0; i--)
    for (int32_t e = g->after_start[i + 1] - 1; e >= g->after_start[i]; e--)
      o->wait[--o->wait_start[g->after[e] + 1]] = i;
  memmove(o->wait_start, o->wait_start + 1, (size_t)o->n * sizeof *o->wait_start);
  o->wait_start[o->n] = g->after_start[o->n];
  return CN_OK;
}

// Live lists to the other array.
static void collect(Order *o) {
  int64_t end = 0;
  for (int32_t i = 0; i < o->n; i++) {
    if (o->state[i] == NODE_GONE || o->length[i] == 0) continue;
    memcpy(o->spare + end, o->list + o->start[i], (size_t)o->length[i] * sizeof *o->list);
    o->start[i] = end;
    end += o->length[i];
  }
  CNI_SWAP(int32_t *, o->list, o->spare);
  o->end = end;
}

// ---- one elimination ----

static void place_all(Order *o) {
  for (int32_t i = o->n - 1; i >= 0; i--)
    if (o->state[i] == NODE_FREE) place(o, i);
}

static int32_t smallest(Order *o) {
  for (;;) {
    while (o->least < o->rows && o->head[o->least] < 0) o->least++;
    if (o->head[o->least] >= 0) return o->head[o->least];
    // nothing may go: late nodes now, and at last those that wait for what never comes
    if (o->late_now) memset(o->waits, 0, (size_t)o->n * sizeof *o->waits);
    o->late_now = 1;
    place_all(o);
  }
}

static void join(Order *o, int32_t i) {
  int32_t w = o->weight[i];
  if (w <= 0) return;
  o->weight[i] = -w;
  o->list[o->end++] = i;
  unplace(o, i);
}

// The nodes of the new element, behind all lists; the elements it swallows are gone.
static void make_element(Order *o, int32_t pivot) {
  int64_t most = o->length[pivot] - o->elements[pivot];
  for (int32_t e = 0; e < o->elements[pivot]; e++) most += o->length[o->list[o->start[pivot] + e]];
  if (o->end + most > o->room) collect(o);
  int64_t first = o->end, own = o->start[pivot];
  int32_t rows = o->weight[pivot];
  o->weight[pivot] = -rows;
  for (int32_t e = 0; e < o->elements[pivot]; e++) {
    int32_t element = o->list[own + e];
    for (int32_t k = 0; k < o->length[element]; k++) join(o, o->list[o->start[element] + k]);
    o->state[element] = NODE_GONE;
  }
  for (int32_t k = o->elements[pivot]; k < o->length[pivot]; k++) join(o, o->list[own + k]);
  o->state[pivot] = NODE_ELEMENT;
  o->start[pivot] = first;
  o->length[pivot] = (int32_t)(o->end - first);
  o->elements[pivot] = 0;
  o->weight[pivot] = rows;
  o->live_rows -= rows;
}

// mark[e] - stamp = rows of element e outside the newest one, for all elements that touch it.
static void measure(Order *o, int32_t pivot) {
  for (int32_t k = 0; k < o->length[pivot]; k++) {
    int32_t i = o->list[o->start[pivot] + k], w = -o->weight[i];
    for (int32_t e = 0; e < o->elements[i]; e++) {
      int32_t element = o->list[o->start[i] + e];
      if (o->state[element] != NODE_ELEMENT) continue;
      if (o->mark[element] < o->stamp) o->mark[element] = o->stamp + o->degree[element];
      o->mark[element] -= w;
    }
  }
}

// Rewrite the list of a node of the newest element: elements that have rows outside it, the newest
// one, neighbours outside. Returns the rows it has outside.
static int32_t rewrite(Order *o, int32_t pivot, int32_t i) {
  int32_t *list = o->list + o->start[i], out = 0, rows = 0, old = o->elements[i];
  uint32_t hash = (uint32_t)pivot;
  for (int32_t e = 0; e < old; e++) {
    int32_t element = list[e];
    if (o->state[element] != NODE_ELEMENT) continue;
    int32_t outside = (int32_t)(o->mark[element] - o->stamp);
    if (outside == 0) {
      o->state[element] = NODE_GONE;
      continue;
    }
    rows += outside;
    hash += (uint32_t)element;
    list[out++] = element;
  }
  // The newest element takes the place of one that was swallowed or of the pivot as a neighbour:
  // the node was joined to one of them, so there is room.
  int32_t kept = out;
  for (int32_t k = old; k < o->length[i]; k++) {
    int32_t j = list[k];
    if (o->weight[j] <= 0 || o->state[j] != NODE_FREE) continue;
    rows += o->weight[j];
    hash += (uint32_t)j;
    list[kept++] = j;
  }
  list[kept++] = list[out];
  list[out++] = pivot;
  o->elements[i] = out;
  o->length[i] = kept;
  o->hash[i] = hash;
  return rows;
}

static void absorb(Order *o, int32_t into, int32_t i) {
  o->member[o->last[into]] = i;
  o->last[into] = o->last[i];
  o->weight[i] = 0;
  o->length[i] = 0;
  o->state[i] = NODE_GONE;
}

// Nodes of the newest element with the same list are one from now on.
static int same_list(const Order *o, int32_t i, int32_t j) {
  if (o->length[i] != o->length[j] || o->elements[i] != o->elements[j]) return 0;
  const CniGraph *g = o->graph;
  if (g->late && !g->late[i] != !g->late[j]) return 0;
  if (o->waits[i] || o->waits[j]) return 0;
  for (int32_t k = 0; k < o->length[j]; k++)
    if (o->mark[o->list[o->start[j] + k]] != o->stamp) return 0;
  return 1;
}

static void merge_bucket(Order *o, int32_t first) {
  for (int32_t i = first; i >= 0 && o->chain[i] >= 0; i = o->chain[i]) {
    o->stamp++;
    for (int32_t k = 0; k < o->length[i]; k++) o->mark[o->list[o->start[i] + k]] = o->stamp;
    for (int32_t before = i, j = o->chain[i]; j >= 0; j = o->chain[j]) {
      if (o->hash[i] != o->hash[j] || !same_list(o, i, j)) {
        before = j;
        continue;
      }
      o->weight[i] += o->weight[j];
      absorb(o, i, j);
      o->chain[before] = o->chain[j];
    }
  }
}

static void merge_equal(Order *o, int32_t pivot) {
  const int32_t *nodes = o->list + o->start[pivot];
  for (int32_t k = 0; k < o->length[pivot]; k++) {
    int32_t i = nodes[k];
    if (o->weight[i] == 0) continue;
    int32_t b = (int32_t)(o->hash[i] % (uint32_t)o->n);
    o->chain[i] = o->bucket[b];
    o->bucket[b] = i;
  }
  for (int32_t k = 0; k < o->length[pivot]; k++) {
    int32_t i = nodes[k];
    int32_t b = (int32_t)(o->hash[i] % (uint32_t)o->n), first = o->bucket[b];
    o->bucket[b] = -1;
    if (first >= 0) merge_bucket(o, first);
  }
}

// Nodes that waited for the pivot or for one of its members.
static void release_waiting(Order *o, int32_t pivot) {
  if (!o->wait) return;
  for (int32_t m = pivot; m >= 0; m = o->member[m])
    for (int32_t e = o->wait_start[m]; e < o->wait_start[m + 1]; e++)
      if (o->waits[o->wait[e]] > 0) o->waits[o->wait[e]]--;
}

static void eliminate(Order *o, int32_t pivot) {
  unplace(o, pivot);
  make_element(o, pivot);
  release_waiting(o, pivot);
  measure(o, pivot);
  int32_t *nodes = o->list + o->start[pivot], rows = 0;
  for (int32_t k = 0; k < o->length[pivot]; k++) {
    int32_t i = nodes[k], outside = rewrite(o, pivot, i);
    if (outside == 0 && may_go(o, i)) { // nothing outside: goes with the pivot
      int32_t w = -o->weight[i];
      o->live_rows -= w;
      o->weight[pivot] += w;
      release_waiting(o, i);
      absorb(o, pivot, i);
      continue;
    }
    if (outside < o->degree[i]) o->degree[i] = outside; // rows of the element are added below
    rows -= o->weight[i];
  }
  o->degree[pivot] = rows;
  o->stamp += o->rows + 1;
  merge_equal(o, pivot);
  o->stamp++;
  int32_t kept = 0;
  for (int32_t k = 0; k < o->length[pivot]; k++) {
    int32_t i = nodes[k];
    if (o->weight[i] == 0) continue;
    nodes[kept++] = i;
    o->weight[i] = -o->weight[i];
    int64_t degree = (int64_t)o->degree[i] + rows - o->weight[i];
    int32_t most = o->live_rows - o->weight[i];
    o->degree[i] = degree < most ? (int32_t)degree : most;
    place(o, i);
  }
  o->length[pivot] = kept;
  if (kept == 0) o->state[pivot] = NODE_GONE;
}

CnStatus cni_order(CniArena *arena, const CniGraph *graph, int32_t *order) {
  Order o = {.graph = graph, .n = graph->node_count};
  CniArenaMark mark = cni_arena_mark(arena);
  CnStatus status = reserve(&o, arena);
  if (status == CN_OK) status = load_waiting(&o, arena);
  int32_t done = 0;
  if (status == CN_OK) {
    load(&o);
    while (o.live_rows > 0) {
      int32_t pivot = smallest(&o);
      eliminate(&o, pivot);
      for (int32_t m = pivot; m >= 0; m = o.member[m]) order[done++] = m;
    }
  }
  cni_arena_back(arena, mark);
  return status;
}
