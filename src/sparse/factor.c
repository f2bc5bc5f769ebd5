// SPDX-License-Identifier: Apache-2.0
// L D L^T of a symmetric positive definite sparse matrix, row by row ("up-looking").
//
// Row k of L solves L(1..k-1) y = S(1..k-1, k); its pattern is read off the elimination tree: from
// every entry of S in the row climb towards the root until a node already seen. Work and memory are
// those of the factor.
//
// The order is reverse Cuthill-McKee, component by component: levels of neighbours from a node of
// small degree, so that entries stay near the diagonal. Good for the matrices of mechanics, blocks
// of bodies and chains of elements; no attempt is made at the least fill in three dimensions.
//
// Reference: T. A. Davis, Algorithm 849, 2005; Cuthill and McKee 1969.
#include "sparse/factor.h"

#include "core/error.h"
#include "core/memory.h"
#include "sparse/sparse.h"

#include <math.h>
#include <string.h>

#define REFINEMENTS 20 // each gains the digits to which M is symmetric: three do as a rule

typedef struct Work {
  CniFactor *f;
  CniArena arena;
  CnSparse t, s;          // M^T and S
  int32_t *inverse;       // of the order
  int32_t *parent, *flag; // the elimination tree
  int32_t *count;         // entries of each column of L
  int32_t *pattern;
  double *y;
} Work;

static CnStatus own(const CnAllocator *allocator, size_t count, size_t size, void *memory) {
  void *taken = cni_allocate(allocator, (count + 1) * size);
  if (!taken) return cni_error_memory((count + 1) * size);
  memset(taken, 0, (count + 1) * size);
  memcpy(memory, &taken, sizeof taken);
  return CN_OK;
}

// ---- S = (M + M^T)/2 ----

static int same(const CnSparse *a, const CnSparse *b) {
  size_t rows = (size_t)a->row_count, entries = (size_t)cni_sparse_entry_count(a);
  if (cni_sparse_entry_count(b) != (int32_t)entries) return 0;
  if (memcmp(a->start, b->start, (rows + 1) * sizeof *a->start) != 0) return 0;
  if (entries == 0) return 1;
  if (memcmp(a->column, b->column, entries * sizeof *a->column) != 0) return 0;
  for (size_t i = 0; i < entries; i++)
    if (a->value[i] != b->value[i]) return 0;
  return 1;
}

// Row i of S from the sorted rows i of M and M^T.
static int32_t merge_row(const CnSparse *m, const CnSparse *t, int32_t i, CnSparse *s,
                         int32_t out) {
  int32_t a = m->start[i], b = t->start[i], a_end = m->start[i + 1], b_end = t->start[i + 1];
  while (a < a_end || b < b_end) {
    int32_t column_a = a < a_end ? m->column[a] : INT32_MAX;
    int32_t column_b = b < b_end ? t->column[b] : INT32_MAX;
    s->column[out] = column_a < column_b ? column_a : column_b;
    s->value[out] = 0;
    if (column_a <= column_b) s->value[out] += m->value[a++] / 2;
    if (column_b <= column_a) s->value[out] += t->value[b++] / 2;
    out++;
  }
  return out;
}

static CnStatus symmetrise(Work *w, const CnSparse *m) {
  CniFactor *f = w->f;
  CNI_TRY(cni_sparse_transpose(&f->allocator, m, &w->t));
  f->refine = !same(m, &w->t);
  if (!f->refine) {
    w->s = *m;
    return CN_OK;
  }
  f->m = m;
  int64_t rows = m->row_count, most = 2 * (int64_t)cni_sparse_entry_count(m);
  if (most > INT32_MAX) return cni_error(CN_NO_MEMORY, "a matrix has too many entries to factor");
  w->s.row_count = w->s.column_count = m->row_count;
  CNI_TRY(cni_arena_array(&w->arena, rows + 1, sizeof(int32_t), &w->s.start));
  CNI_TRY(cni_arena_array(&w->arena, most, sizeof(int32_t), &w->s.column));
  CNI_TRY(cni_arena_array(&w->arena, most, sizeof(double), &w->s.value));
  w->s.start[0] = 0;
  for (int32_t i = 0; i < m->row_count; i++)
    w->s.start[i + 1] = merge_row(m, &w->t, i, &w->s, w->s.start[i]);
  return CN_OK;
}

// ---- order ----

static int32_t degree(const CnSparse *s, int32_t i) { return s->start[i + 1] - s->start[i]; }

// Level by level from `root`; returns the end of the list. Neighbours join in the order of their
// numbers: the result is a function of the pattern.
static int32_t spread(const CnSparse *s, int32_t root, int32_t mark, int32_t *seen, int32_t *list,
                      int32_t begin) {
  int32_t end = begin;
  list[end++] = root;
  seen[root] = mark;
  for (int32_t at = begin; at < end; at++)
    for (int32_t e = s->start[list[at]]; e < s->start[list[at] + 1]; e++) {
      int32_t next = s->column[e];
      if (seen[next] == mark) continue;
      seen[next] = mark;
      list[end++] = next;
    }
  return end;
}

// Component by component: a first spread finds a node far away and of small degree, a second one
// from there is the order, reversed.
static void find_order(Work *w) {
  CniFactor *f = w->f;
  const CnSparse *s = &w->s;
  int32_t *list = f->order, *seen = w->flag, done = 0;
  for (int32_t i = 0; i < f->size; i++) seen[i] = -1;
  for (int32_t i = 0; i < f->size; i++) {
    if (seen[i] >= 0) continue;
    int32_t mark = 2 * f->component_count; // two spreads a component
    int32_t end = spread(s, i, mark, seen, list, done), root = list[end - 1];
    for (int32_t k = end - 1; k >= done && k >= end - 4; k--)
      if (degree(s, list[k]) < degree(s, root)) root = list[k];
    spread(s, root, mark + 1, seen, list, done);
    for (int32_t a = done, b = end - 1; a < b; a++, b--) {
      int32_t swap = list[a];
      list[a] = list[b];
      list[b] = swap;
    }
    for (int32_t k = done; k < end; k++) f->component[list[k]] = f->component_count;
    f->component_start[f->component_count++] = done;
    done = end;
  }
  f->component_start[f->component_count] = done;
  for (int32_t i = 0; i < f->size; i++) w->inverse[f->order[i]] = i;
}

// ---- factor ----

// Columns of L counted, elimination tree built.
static CnStatus analyse(Work *w) {
  CniFactor *f = w->f;
  for (int32_t k = 0; k < f->size; k++) {
    w->parent[k] = -1;
    w->flag[k] = k;
    w->count[k] = 0;
    int32_t row = f->order[k];
    for (int32_t e = w->s.start[row]; e < w->s.start[row + 1]; e++)
      for (int32_t i = w->inverse[w->s.column[e]]; i < k && w->flag[i] != k; i = w->parent[i]) {
        if (w->parent[i] < 0) w->parent[i] = k;
        w->count[i]++;
        w->flag[i] = k;
      }
  }
  int64_t total = 0;
  for (int32_t k = 0; k < f->size; k++) {
    f->start[k] = (int32_t)total;
    total += w->count[k];
    w->count[k] = 0;
    if (total > INT32_MAX / 2)
      return cni_error(CN_NO_MEMORY, "a factor has more than %d entries", INT32_MAX / 2);
  }
  f->start[f->size] = (int32_t)total;
  CNI_TRY(own(&f->allocator, (size_t)total, sizeof *f->row, &f->row));
  return own(&f->allocator, (size_t)total, sizeof *f->value, &f->value);
}

// Row k of S into y; returns where its pattern, in the order of elimination, begins.
static int32_t load_row(Work *w, int32_t k, double *diagonal) {
  CniFactor *f = w->f;
  int32_t top = f->size, row = f->order[k];
  w->flag[k] = k;
  *diagonal = 0;
  for (int32_t e = w->s.start[row]; e < w->s.start[row + 1]; e++) {
    int32_t i = w->inverse[w->s.column[e]], length = 0;
    if (i == k) *diagonal = w->s.value[e];
    if (i >= k) continue;
    w->y[i] = w->s.value[e];
    for (; w->flag[i] != k; i = w->parent[i]) {
      w->pattern[length++] = i;
      w->flag[i] = k;
    }
    while (length > 0) w->pattern[--top] = w->pattern[--length];
  }
  return top;
}

static CnStatus factor_rows(Work *w, const char *name) {
  CniFactor *f = w->f;
  for (int32_t k = 0; k < f->size; k++) {
    w->flag[k] = -1;
    w->y[k] = 0;
  }
  for (int32_t k = 0; k < f->size; k++) {
    double pivot, diagonal;
    int32_t top = load_row(w, k, &diagonal);
    pivot = diagonal;
    for (; top < f->size; top++) {
      int32_t i = w->pattern[top], end = f->start[i] + w->count[i];
      double y = w->y[i], l = y / f->d[i];
      w->y[i] = 0;
      for (int32_t e = f->start[i]; e < end; e++) w->y[f->row[e]] -= f->value[e] * y;
      pivot -= l * y;
      f->row[end] = k;
      f->value[end] = l;
      w->count[i]++;
    }
    // what is left of a diagonal after cancellation is noise
    if (!(pivot > 1e-15 * diagonal) || !isfinite(pivot))
      return cni_error(CN_INVALID_DATA, "%s is not positive definite (pivot %g of %g in row %d)",
                       name, pivot, diagonal, (int)f->order[k]);
    f->d[k] = pivot;
  }
  return CN_OK;
}

// ---- life ----

static CnStatus prepare(Work *w, const CnSparse *m) {
  CniFactor *f = w->f;
  size_t n = (size_t)f->size;
  CNI_TRY(own(&f->allocator, n, sizeof *f->order, &f->order));
  CNI_TRY(own(&f->allocator, n, sizeof *f->component, &f->component));
  CNI_TRY(own(&f->allocator, n, sizeof *f->component_start, &f->component_start));
  CNI_TRY(own(&f->allocator, n, sizeof *f->start, &f->start));
  CNI_TRY(own(&f->allocator, n, sizeof *f->d, &f->d));
  CNI_TRY(own(&f->allocator, 3 * n, sizeof *f->work, &f->work));
  CNI_TRY(cni_arena_array(&w->arena, f->size, sizeof *w->inverse, &w->inverse));
  CNI_TRY(cni_arena_array(&w->arena, f->size, sizeof *w->parent, &w->parent));
  CNI_TRY(cni_arena_array(&w->arena, f->size, sizeof *w->flag, &w->flag));
  CNI_TRY(cni_arena_array(&w->arena, f->size, sizeof *w->count, &w->count));
  CNI_TRY(cni_arena_array(&w->arena, f->size, sizeof *w->pattern, &w->pattern));
  CNI_TRY(cni_arena_array(&w->arena, f->size, sizeof *w->y, &w->y));
  return symmetrise(w, m);
}

static CnStatus build(Work *w, const CnSparse *m, const char *name) {
  CNI_TRY(prepare(w, m));
  find_order(w);
  CNI_TRY(analyse(w));
  return factor_rows(w, name);
}

CnStatus cni_factor_create(const CnAllocator *allocator, const CnSparse *m, const char *name,
                           CniFactor **factor) {
  *factor = NULL;
  if (m->row_count != m->column_count)
    return cni_error(CN_INVALID_ARGUMENT, "%s must be square (got %d x %d)", name,
                     (int)m->row_count, (int)m->column_count);
  CniFactor *f = cni_allocate(allocator, sizeof *f);
  if (!f) return cni_error_memory(sizeof *f);
  memset(f, 0, sizeof *f);
  f->allocator = *allocator;
  f->size = m->row_count;
  Work w = {.f = f};
  cni_arena_init(&w.arena, allocator);
  CnStatus status = build(&w, m, name);
  cni_sparse_release(allocator, &w.t);
  cni_arena_release(&w.arena);
  if (status == CN_OK)
    *factor = f;
  else
    cni_factor_destroy(f);
  return status;
}

void cni_factor_destroy(CniFactor *f) {
  if (!f) return;
  const CnAllocator a = f->allocator;
  size_t n = (size_t)f->size + 1, entries = f->start ? (size_t)f->start[f->size] + 1 : 0;
  cni_release(&a, f->order, n * sizeof *f->order);
  cni_release(&a, f->component, n * sizeof *f->component);
  cni_release(&a, f->component_start, n * sizeof *f->component_start);
  cni_release(&a, f->row, entries * sizeof *f->row);
  cni_release(&a, f->value, entries * sizeof *f->value);
  cni_release(&a, f->start, n * sizeof *f->start);
  cni_release(&a, f->d, n * sizeof *f->d);
  cni_release(&a, f->work, (3 * (n - 1) + 1) * sizeof *f->work);
  cni_release(&a, f, sizeof *f);
}

// ---- solve ----

// y <- S^-1 y for the rows begin .. end - 1 of the factor, y in its order.
static void substitute(const CniFactor *f, int32_t begin, int32_t end, double *y) {
  for (int32_t k = begin; k < end; k++)
    for (int32_t e = f->start[k]; e < f->start[k + 1]; e++) y[f->row[e]] -= f->value[e] * y[k];
  for (int32_t k = begin; k < end; k++) y[k] /= f->d[k];
  for (int32_t k = end - 1; k >= begin; k--)
    for (int32_t e = f->start[k]; e < f->start[k + 1]; e++) y[k] -= f->value[e] * y[f->row[e]];
}

// Residual of M x = b in the order of the factor into r; returns its largest entry. x and b are in
// the order of the matrix.
static double residual(const CniFactor *f, int32_t begin, int32_t end, const double *x,
                       const double *b, double *r) {
  double worst = 0;
  for (int32_t k = begin; k < end; k++) {
    int32_t row = f->order[k];
    r[k] = b[k];
    for (int32_t e = f->m->start[row]; e < f->m->start[row + 1]; e++)
      r[k] -= f->m->value[e] * x[f->m->column[e]];
    if (!(fabs(r[k]) <= worst)) worst = fabs(r[k]);
  }
  return worst;
}

static void solve_rows(CniFactor *f, int32_t begin, int32_t end, double *x) {
  double *y = f->work, *b = y + f->size, *r = b + f->size, last = INFINITY;
  for (int32_t k = begin; k < end; k++) b[k] = y[k] = x[f->order[k]];
  substitute(f, begin, end, y);
  for (int32_t k = begin; k < end; k++) x[f->order[k]] = y[k];
  for (int32_t i = 0; f->refine && i < REFINEMENTS; i++) {
    double worst = residual(f, begin, end, x, b, r);
    if (!(worst < last / 2) || worst == 0) break;
    last = worst;
    substitute(f, begin, end, r);
    for (int32_t k = begin; k < end; k++) x[f->order[k]] += r[k];
  }
}

void cni_factor_solve(CniFactor *f, double *x) {
  for (int32_t c = 0; c < f->component_count; c++) cni_factor_solve_component(f, c, x);
}

void cni_factor_solve_component(CniFactor *f, int32_t component, double *x) {
  solve_rows(f, f->component_start[component], f->component_start[component + 1], x);
}
