// SPDX-License-Identifier: Apache-2.0
// The order of elimination of a matrix with pivots of known sign.
//
// Rows with the same neighbours (the coordinates of a body, the rows of a joint) are taken together
// first: minimum degree then works on a graph several times smaller, and they end up in one
// supernode.
//
// A constraint row without compliance has a zero on the diagonal; its pivot -e M^-1 e^T comes from
// the neighbours eliminated before it. It waits for all of them: its pivot is then that of N, and
// nothing grows. (After some of them only there would be less fill, a fifth on a chain of joints,
// but the rows that found their pivots at one body may depend on each other there while they do not
// as a whole: four points on one face of a box.)
#include "sparse/ldl_private.h"

#include "sparse/order.h"

#include <string.h>

typedef struct Classes {
  CniArena arena;
  const CnSparse *a;
  const int8_t *sign, *late;
  int32_t n, count;
  int32_t *start, *neighbor;         // of the rows
  int32_t *class_of, *first, *next;  // rows of a class, as a list
  int32_t *weight;                   // rows in it
  int32_t *class_start, *class_list; // neighbours of the classes
  int32_t *after_start, *after;
  int8_t *class_late, *kind; // kind: 1 joined with mutual neighbours, 2 without
} Classes;

// Both directions; the lists come out ascending.
static void fill_neighbors(Classes *c) {
  const CnSparse *a = c->a;
  for (int32_t pass = 0; pass < 2; pass++) {
    for (int32_t j = 0; j < c->n; j++)
      for (int32_t e = a->start[j]; e < a->start[j + 1]; e++) {
        int32_t i = a->column[e];
        if (i == j) continue;
        if (pass == 0) {
          c->start[i + 2]++;
          c->start[j + 2]++;
        } else {
          c->neighbor[c->start[i + 1]++] = j;
          c->neighbor[c->start[j + 1]++] = i;
        }
      }
    for (int32_t i = 0; pass == 0 && i < c->n; i++) c->start[i + 2] += c->start[i + 1];
  }
}

static int has_pivot(const Classes *c, int32_t j) {
  int32_t last = c->a->start[j + 1] - 1;
  return c->sign[j] > 0 || (last >= c->a->start[j] && c->a->column[last] == j);
}

// ---- rows with the same neighbours ----

static uint32_t mix(uint32_t x) {
  x = (x + 1) * 2654435761u;
  return x ^ x >> 15;
}

// The same neighbours, each other aside.
static int twins(const Classes *c, int32_t i, int32_t j) {
  if (c->start[i + 1] - c->start[i] != c->start[j + 1] - c->start[j]) return 0;
  if (c->sign[i] != c->sign[j] || has_pivot(c, i) != has_pivot(c, j)) return 0;
  if (c->late && c->late[i] != c->late[j]) return 0;
  int32_t p = c->start[i], q = c->start[j], p_end = c->start[i + 1], q_end = c->start[j + 1];
  for (;;) {
    if (p < p_end && c->neighbor[p] == j) p++;
    if (q < q_end && c->neighbor[q] == i) q++;
    if (p == p_end || q == q_end) return p == p_end && q == q_end;
    if (c->neighbor[p++] != c->neighbor[q++]) return 0;
  }
}

// The class of row i among those of a bucket, or -1. kind: whether its rows are neighbours.
static int32_t find_class(const Classes *c, int32_t i, int32_t kind, const int32_t *bucket,
                          const int32_t *chain, uint32_t hash) {
  for (int32_t k = bucket[hash % (uint32_t)c->n]; k >= 0; k = chain[k])
    if ((c->kind[k] == 0 || c->kind[k] == kind) && twins(c, c->first[k], i)) return k;
  return -1;
}

static CnStatus find_classes(Classes *c) {
  int32_t *bucket[2], *chain[2];
  for (int32_t kind = 0; kind < 2; kind++) {
    CNI_TRY(CNI_ARRAYS(&c->arena, c->n, int32_t, &bucket[kind], &chain[kind]));
    for (int32_t i = 0; i < c->n; i++) bucket[kind][i] = -1;
  }
  for (int32_t i = 0; i < c->n; i++) {
    uint32_t hash[2] = {mix((uint32_t)i), 0};
    for (int32_t e = c->start[i]; e < c->start[i + 1]; e++)
      hash[1] += mix((uint32_t)c->neighbor[e]);
    hash[0] += hash[1];
    int32_t found = -1, kind = 0;
    for (; found < 0 && kind < 2 && c->start[i + 1] > c->start[i]; kind++)
      found = find_class(c, i, kind + 1, bucket[kind], chain[kind], hash[kind]);
    if (found >= 0) {
      c->kind[found] = (int8_t)kind;
    } else {
      found = c->count++;
      c->first[found] = i;
      for (kind = 0; kind < 2; kind++) {
        uint32_t b = hash[kind] % (uint32_t)c->n;
        chain[kind][found] = bucket[kind][b];
        bucket[kind][b] = found;
      }
      c->class_late[found] = c->late && c->late[i] == CNI_LDL_LATE;
    }
    c->class_of[i] = found;
    c->weight[found]++;
  }
  // rows of each class in ascending order, as lists
  for (int32_t k = 0; k < c->count; k++) c->first[k] = -1;
  for (int32_t i = c->n - 1; i >= 0; i--) {
    c->next[i] = c->first[c->class_of[i]];
    c->first[c->class_of[i]] = i;
  }
  return CN_OK;
}

static void join_classes(Classes *c, int32_t *mark) {
  int32_t out = 0;
  for (int32_t k = 0; k < c->count; k++) mark[k] = -1;
  for (int32_t k = 0; k < c->count; k++) {
    int32_t i = c->first[k]; // all its rows have the same neighbours
    mark[k] = k;
    for (int32_t e = c->start[i]; e < c->start[i + 1]; e++) {
      int32_t other = c->class_of[c->neighbor[e]];
      if (mark[other] == k) continue;
      mark[other] = k;
      c->class_list[out++] = other;
    }
    c->class_start[k + 1] = out;
  }
}

// ---- rows without a pivot of their own ----

// They wait for all neighbours that have one.
static void find_waiting(Classes *c) {
  int32_t out = 0;
  for (int32_t k = 0; k < c->count; k++) {
    int32_t i = c->first[k];
    c->after_start[k] = out;
    if (has_pivot(c, i) && !(c->sign[i] < 0 && c->late && c->late[i] == CNI_LDL_AFTER)) continue;
    for (int32_t e = c->class_start[k]; e < c->class_start[k + 1]; e++)
      if (c->sign[c->first[c->class_list[e]]] > 0) c->after[out++] = c->class_list[e];
  }
  c->after_start[c->count] = out;
}

static CnStatus order_rows(Classes *c, int32_t *order) {
  int64_t n = c->n, entries = 2 * (int64_t)c->a->start[c->n];
  if (entries > INT32_MAX) return cni_error(CN_NO_MEMORY, "a matrix has too many entries to order");
  int32_t *class_order = NULL;
  CNI_TRY(CNI_LAY(&c->arena, CNI_ARRAY(n, c->start), CNI_ARRAY(n, c->class_of),
                  CNI_ARRAY(n, c->first), CNI_ARRAY(n, c->next), CNI_ARRAY(n, c->weight),
                  CNI_ARRAY(n, c->class_start), CNI_ARRAY(n, c->after_start),
                  CNI_ARRAY(n, class_order), CNI_ARRAY(entries, c->neighbor),
                  CNI_ARRAY(entries, c->class_list), CNI_ARRAY(entries, c->after),
                  CNI_ARRAY(n, c->class_late), CNI_ARRAY(n, c->kind)));
  fill_neighbors(c);
  CNI_TRY(find_classes(c));
  join_classes(c, class_order);
  find_waiting(c);
  CniGraph graph = {c->count,       c->class_start, c->class_list, c->weight,
                    c->after_start, c->after,       c->class_late};
  CNI_TRY(cni_order(&c->arena, &graph, class_order));
  int32_t out = 0;
  for (int32_t k = 0; k < c->count; k++)
    for (int32_t i = c->first[class_order[k]]; i >= 0; i = c->next[i]) order[out++] = i;
  return CN_OK;
}

CnStatus cni_ldl_find_order(const CnAllocator *allocator, const CnSparse *upper, const int8_t *sign,
                            const int8_t *late, int32_t *order) {
  Classes c = {.a = upper, .sign = sign, .late = late, .n = upper->row_count};
  cni_arena_init(&c.arena, allocator);
  CnStatus status = order_rows(&c, order);
  cni_arena_release(&c.arena);
  return status;
}
