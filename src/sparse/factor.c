// SPDX-License-Identifier: Apache-2.0
// L D L^T of a symmetric positive definite sparse matrix, and solutions with it part by part.
//
// The factor is that of ldl.h. Its elimination forest has one tree a connected component of the
// matrix (a body, say), and the columns of a tree are consecutive, so that a component is solved by
// its own tree alone.
#include "sparse/factor.h"

#include "sparse/ldl.h"
#include "sparse/sparse.h"

#include <math.h>
#include <string.h>

#define REFINEMENTS 20 // each gains the digits to which M is symmetric: three do as a rule

typedef struct Work {
  CniFactor *f;
  CniArena arena;
  CnSparse t, s; // M^T and S
} Work;

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
  CNI_TRY(CNI_LAY(&w->arena, CNI_ARRAY(rows + 1, w->s.start), CNI_ARRAY(most, w->s.column),
                  CNI_ARRAY(most, w->s.value)));
  w->s.start[0] = 0;
  for (int32_t i = 0; i < m->row_count; i++)
    w->s.start[i + 1] = merge_row(m, &w->t, i, &w->s, w->s.start[i]);
  return CN_OK;
}

// ---- factor ----

// The lower triangle of S by rows, as ldl wants it.
static CnStatus lower_triangle(Work *w, CnSparse *lower) {
  const CnSparse *s = &w->s;
  int32_t n = s->row_count, entries = cni_sparse_entry_count(s);
  lower->row_count = lower->column_count = n;
  CNI_TRY(CNI_LAY(&w->arena, CNI_ARRAY(n + 1, lower->start), CNI_ARRAY(entries, lower->column),
                  CNI_ARRAY(entries, lower->value)));
  for (int32_t i = 0; i < n; i++) {
    int32_t at = lower->start[i];
    for (int32_t e = s->start[i]; e < s->start[i + 1] && s->column[e] <= i; e++, at++) {
      lower->column[at] = s->column[e];
      lower->value[at] = s->value[e];
    }
    lower->start[i + 1] = at;
  }
  return CN_OK;
}

static CnStatus factor(Work *w, const char *name) {
  CniFactor *f = w->f;
  CnSparse lower = {0};
  CniLdlReport report;
  int8_t *sign;
  CNI_TRY(lower_triangle(w, &lower));
  CNI_TRY(cni_arena_array(&w->arena, f->size, 1, &sign));
  memset(sign, 1, (size_t)f->size);
  CNI_TRY(cni_ldl_create(&f->allocator, &lower, sign, NULL, &f->ldl));
  if (cni_ldl_factor(f->ldl, lower.value, NULL, &report) != CN_OK)
    return cni_bad_data("%s has entries too large or too far apart to be factored", name);
  if (report.replaced == 0) return CN_OK;
  return cni_bad_data("%s is not positive definite (row %d: a pivot of %g)", name,
                      (int)report.worst, report.least);
}

static void find_components(CniFactor *f) {
  f->order = cni_ldl_order(f->ldl);
  for (int32_t i = 0; i < f->size;) {
    int32_t end = cni_ldl_tree_end(f->ldl, i);
    f->component_start[f->component_count] = i;
    for (; i < end; i++) f->component[f->order[i]] = f->component_count;
    f->component_start[++f->component_count] = end;
  }
}

static CnStatus build(Work *w, const CnSparse *m, const char *name) {
  CniFactor *f = w->f;
  size_t n = (size_t)f->size + 1;
  CNI_TRY(cni_new(&f->allocator, n * sizeof *f->component, &f->component));
  CNI_TRY(cni_new(&f->allocator, n * sizeof *f->component_start, &f->component_start));
  CNI_TRY(cni_new(&f->allocator, 2 * n * sizeof *f->work, &f->work));
  CNI_TRY(symmetrise(w, m));
  CNI_TRY(factor(w, name));
  find_components(f);
  return CN_OK;
}

CnStatus cni_factor_create(const CnAllocator *allocator, const CnSparse *m, const char *name,
                           CniFactor **factor) {
  *factor = NULL;
  if (m->row_count != m->column_count)
    return cni_invalid("%s must be square (got %d x %d)", name, (int)m->row_count,
                       (int)m->column_count);
  CniFactor *f;
  CNI_TRY(cni_new(allocator, sizeof *f, &f));
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
  size_t n = (size_t)f->size + 1;
  cni_ldl_destroy(f->ldl);
  cni_release(&a, f->component, n * sizeof *f->component);
  cni_release(&a, f->component_start, n * sizeof *f->component_start);
  cni_release(&a, f->work, 2 * n * sizeof *f->work);
  cni_release(&a, f, sizeof *f);
}

// ---- solve ----

// r = b - M x for the rows begin .. end - 1 of the order; returns its largest entry. All three are
// in the order of the matrix.
static double residual(const CniFactor *f, int32_t begin, int32_t end, const double *x,
                       const double *b, double *r) {
  double worst = 0;
  for (int32_t k = begin; k < end; k++) {
    int32_t row = f->order[k];
    r[row] = b[row];
    for (int32_t e = f->m->start[row]; e < f->m->start[row + 1]; e++)
      r[row] -= f->m->value[e] * x[f->m->column[e]];
    if (!(fabs(r[row]) <= worst)) worst = fabs(r[row]);
  }
  return worst;
}

void cni_factor_solve(CniFactor *f, double *x) {
  for (int32_t c = 0; c < f->component_count; c++) cni_factor_solve_component(f, c, x);
}

void cni_factor_solve_component(CniFactor *f, int32_t component, double *x) {
  int32_t begin = f->component_start[component], end = f->component_start[component + 1];
  double *b = f->work, *r = b + f->size, last = INFINITY;
  for (int32_t k = begin; k < end; k++) b[f->order[k]] = x[f->order[k]];
  cni_ldl_solve_tree(f->ldl, begin, end, x);
  for (int32_t i = 0; f->refine && i < REFINEMENTS; i++) {
    double worst = residual(f, begin, end, x, b, r);
    if (!(worst < last / 2) || worst == 0) break;
    last = worst;
    cni_ldl_solve_tree(f->ldl, begin, end, r);
    for (int32_t k = begin; k < end; k++) x[f->order[k]] += r[f->order[k]];
  }
}
