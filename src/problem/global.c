// SPDX-License-Identifier: Apache-2.0
// The global form: M v = k + E^T g, u = E v + b + C g with a general symmetric positive definite M.
//
// Blocks are consecutive rows of E. What needs M^-1 is prepared once, when the problem is first
// certified or solved: the factor of M, the velocities without impulses v_free = M^-1 k, and the
// diagonal blocks N_ii = E_i M^-1 E_i^T + C.
//
// W = E M^-1 E^T + C is made column by column: x = M^-1 E_i^T lives in the components of M that row
// i touches, and only the rows of E that touch one of them have an entry in the column. With the
// mass matrix of separate bodies W is as sparse as the graph of contacts.
#include "problem/problem.h"

#include "core/floats.h"
#include "sparse/sparse.h"

#include <math.h>
#include <string.h>

// ---- filling ----

static CnStatus check_vector(const double *x, int32_t count, const char *name) {
  if (!x && count > 0) return cni_invalid("%s is null", name);
  for (int32_t i = 0; i < count; i++)
    if (!isfinite(x[i])) return cni_invalid("%s[%d] is not finite", name, (int)i);
  return CN_OK;
}

static CnStatus check_given(const CnSparse *m, const CnSparse *e, const double *k,
                            const double *b) {
  CNI_TRY(cni_sparse_check(m, "M"));
  CNI_TRY(cni_sparse_check(e, "E"));
  if (m->row_count != m->column_count || m->row_count > INT32_MAX / 4)
    return cni_invalid("M must be square (got %d x %d)", (int)m->row_count, (int)m->column_count);
  if (e->column_count != m->row_count || e->row_count > INT32_MAX / 8)
    return cni_invalid("E is %d x %d, but M has %d rows", (int)e->row_count, (int)e->column_count,
                       (int)m->row_count);
  CNI_TRY(check_vector(k, m->row_count, "k"));
  return check_vector(b, e->row_count, "b");
}

static void release_prepared(CniGlobal *global, const CnAllocator *a, int32_t row_count) {
  size_t rows = (size_t)row_count;
  cni_factor_destroy(global->factor);
  CNI_RELEASE(a, global->v_free, global->m.row_count);
  cni_release(a, global->r, rows * sizeof *global->r);
  cni_release(a, global->diagonal, CNI_MAX_DIM * rows * sizeof *global->diagonal);
  global->factor = NULL;
  global->v_free = global->r = global->diagonal = NULL;
  global->prepared = 0;
}

void cni_global_release(CnProblem *p) {
  CniGlobal *global = p->global;
  if (!global) return;
  const CnAllocator *a = &p->allocator;
  release_prepared(global, a, global->e.row_count);
  CNI_RELEASE(a, global->k, global->m.row_count);
  cni_sparse_release(a, &global->m);
  cni_sparse_release(a, &global->e);
  cni_release(a, global, sizeof *global);
  p->global = NULL;
}

CnStatus cn_problem_set_global(CnProblem *p, const CnSparse *m, const CnSparse *e, const double *k,
                               const double *b) {
  CNI_FLOATS;
  if (!p) return cni_invalid("cn_problem_set_global: problem is null");
  if (p->form != CN_FORM_GLOBAL)
    return cni_invalid("M and E belong in a problem of the global form");
  if (p->global) return cni_invalid("M and E are there already: clear the problem first");
  CNI_TRY(check_given(m, e, k, b));
  CNI_TRY(CNI_RESERVE(&p->allocator, p->b, p->row_capacity, 0, e->row_count));
  CniGlobal *global;
  CNI_TRY(cni_new(&p->allocator, sizeof *global, &global));
  p->global = global;
  CnStatus status = cni_sparse_copy(&p->allocator, m, &global->m);
  if (status == CN_OK) status = cni_sparse_copy(&p->allocator, e, &global->e);
  size_t bytes = (size_t)m->row_count * sizeof *k;
  if (status == CN_OK) status = cni_new(&p->allocator, bytes, &global->k);
  if (status != CN_OK) {
    cni_global_release(p);
    return status;
  }
  if (bytes > 0) memcpy(global->k, k, bytes);
  if (e->row_count > 0) memcpy(p->b, b, (size_t)e->row_count * sizeof *b);
  return CN_OK;
}

// ---- rows of M^-1 E^T ----

// x = M^-1 E_i^T, nonzero in the components of `touched` only.
typedef struct Column {
  CniArena arena;
  const CniGlobal *global;
  double *x;        // size of M
  int32_t *touched; // components of the present row of E
  int32_t *mark;    // per component: the last row that touched it
  int32_t touched_count;
} Column;

static CnStatus column_reserve(Column *c, const CniGlobal *global) {
  int32_t n = global->m.row_count, components = global->factor->component_count;
  c->global = global;
  CNI_TRY(cni_arena_array(&c->arena, n, sizeof *c->x, &c->x));
  CNI_TRY(CNI_ARRAYS(&c->arena, components, int32_t, &c->touched, &c->mark));
  for (int32_t i = 0; i < components; i++) c->mark[i] = -1;
  return CN_OK;
}

static void column_solve(Column *c, int32_t i) {
  CniFactor *f = c->global->factor;
  const CnSparse *e = &c->global->e;
  c->touched_count = 0;
  for (int32_t n = e->start[i]; n < e->start[i + 1]; n++) {
    int32_t component = f->component[e->column[n]];
    if (c->mark[component] == i) continue;
    c->mark[component] = i;
    c->touched[c->touched_count++] = component;
    for (int32_t k = f->component_start[component]; k < f->component_start[component + 1]; k++)
      c->x[f->order[k]] = 0;
  }
  for (int32_t n = e->start[i]; n < e->start[i + 1]; n++) c->x[e->column[n]] = e->value[n];
  for (int32_t k = 0; k < c->touched_count; k++) cni_factor_solve_component(f, c->touched[k], c->x);
}

// E_j x for a row j of a block that shares the column's components or has zeros there.
static double row_product(const Column *c, int32_t i, int32_t j) {
  const CnSparse *e = &c->global->e;
  double sum = 0;
  for (int32_t n = e->start[j]; n < e->start[j + 1]; n++)
    if (c->mark[c->global->factor->component[e->column[n]]] == i)
      sum += e->value[n] * c->x[e->column[n]];
  return sum;
}

// ---- preparation ----

static void fill_diagonals(const CnProblem *p, Column *column) {
  for (int32_t b = 0; b < p->block_count; b++) {
    const CniBlock *block = &p->blocks[b];
    double *n = p->global->diagonal + CNI_MAX_DIM * (size_t)block->row, c[CNI_MAX_DIM];
    cni_block_compliance(p, block, c);
    for (int32_t j = 0; j < block->dim; j++) {
      column_solve(column, block->row + j);
      for (int32_t i = 0; i < block->dim; i++)
        n[i * block->dim + j] =
            row_product(column, block->row + j, block->row + i) + (i == j ? c[i] : 0);
    }
  }
}

static CnStatus prepare(const CnProblem *p) {
  CniGlobal *global = p->global;
  size_t n = (size_t)global->m.row_count, rows = (size_t)global->e.row_count;
  CNI_TRY(cni_factor_create(&p->allocator, &global->m, "M", &global->factor));
  CNI_TRY(cni_new(&p->allocator, n * sizeof(double), &global->v_free));
  CNI_TRY(cni_new(&p->allocator, rows * sizeof(double), &global->r));
  CNI_TRY(cni_new(&p->allocator, CNI_MAX_DIM * rows * sizeof(double), &global->diagonal));
  Column column = {0};
  cni_arena_init(&column.arena, &p->allocator);
  CnStatus status = column_reserve(&column, global);
  if (status == CN_OK) fill_diagonals(p, &column);
  cni_arena_release(&column.arena);
  if (status != CN_OK) return status;
  if (n > 0) memcpy(global->v_free, global->k, n * sizeof *global->k);
  cni_factor_solve(global->factor, global->v_free);
  cni_sparse_multiply(&global->e, global->v_free, global->r);
  for (size_t i = 0; i < rows; i++) global->r[i] += p->b[i];
  global->prepared = 1;
  return CN_OK;
}

CnStatus cni_global_prepare(const CnProblem *p) {
  if (!p->global) return cni_invalid("the problem has no M and E yet: cn_problem_set_global");
  if (p->global->prepared) return CN_OK;
  CnStatus status = prepare(p);
  if (status != CN_OK) release_prepared(p->global, &p->allocator, p->global->e.row_count);
  return status;
}

// ---- products ----

void cni_global_velocity(const CnProblem *p, const double *v, const double *g, double *u) {
  cni_sparse_multiply(&p->global->e, v, u);
  for (int32_t b = 0; b < p->block_count; b++) {
    const CniBlock *block = &p->blocks[b];
    double c[CNI_MAX_DIM];
    cni_block_compliance(p, block, c);
    for (int32_t d = 0; d < block->dim; d++) {
      int32_t row = block->row + d;
      u[row] += p->b[row] + c[d] * g[row];
    }
  }
}

void cni_global_apply(const CnProblem *p, const double *g, double *v) {
  const CniGlobal *global = p->global;
  size_t n = (size_t)global->m.row_count;
  if (n == 0) return;
  memcpy(v, global->k, n * sizeof *v);
  cni_sparse_add_transposed(&global->e, g, v);
  cni_factor_solve(global->factor, v);
}

// ---- the explicit form ----

typedef struct Product {
  Column column;
  const CnProblem *p;
  CnSparse rows_of; // E^T: the rows of E that touch each velocity
  double *sum;      // the present column of W
  int32_t *last;    // per row: the column that last touched it
  CnSparse wt;      // W^T, row by row, unsorted
  int32_t column_capacity, value_capacity;
} Product;

// Column i of W becomes row i of W^T.
static CnStatus product_column(Product *w, int32_t i, double compliance) {
  const CniFactor *f = w->p->global->factor;
  int32_t begin = w->wt.start[i], count = 0, room = w->wt.row_count;
  if (begin > INT32_MAX / 2 - room)
    return cni_error(CN_NO_MEMORY, "W has more than %d entries", INT32_MAX / 2);
  const CnAllocator *a = &w->p->allocator;
  CNI_TRY(CNI_RESERVE(a, w->wt.column, w->column_capacity, begin, begin + room));
  CNI_TRY(CNI_RESERVE(a, w->wt.value, w->value_capacity, begin, begin + room));
  int32_t *columns = w->wt.column + begin;
  column_solve(&w->column, i);
  w->last[i] = i;
  w->sum[i] = compliance;
  columns[count++] = i;
  for (int32_t t = 0; t < w->column.touched_count; t++) {
    int32_t component = w->column.touched[t];
    for (int32_t k = f->component_start[component]; k < f->component_start[component + 1]; k++) {
      int32_t node = f->order[k];
      for (int32_t n = w->rows_of.start[node]; n < w->rows_of.start[node + 1]; n++) {
        int32_t j = w->rows_of.column[n];
        if (w->last[j] != i) {
          w->last[j] = i;
          w->sum[j] = 0;
          columns[count++] = j;
        }
        w->sum[j] += w->rows_of.value[n] * w->column.x[node];
      }
    }
  }
  for (int32_t n = 0; n < count; n++) w->wt.value[begin + n] = w->sum[columns[n]];
  w->wt.start[i + 1] = begin + count;
  return CN_OK;
}

// A symmetric M gives a symmetric W, to the last bit.
static CnStatus average(const CnProblem *p, CnSparse *w) {
  CnSparse t;
  CNI_TRY(cni_sparse_transpose(&p->allocator, w, &t));
  int32_t count = cni_sparse_entry_count(w);
  for (int32_t n = 0; n < count; n++) w->value[n] = (w->value[n] + t.value[n]) / 2;
  cni_sparse_release(&p->allocator, &t);
  return CN_OK;
}

static CnStatus multiply(Product *w, CnSparse *result) {
  const CnProblem *p = w->p;
  const CniGlobal *global = p->global;
  int64_t rows = p->row_count;
  CNI_TRY(column_reserve(&w->column, global));
  CNI_TRY(cni_sparse_transpose(&p->allocator, &global->e, &w->rows_of));
  CNI_TRY(CNI_LAY(&w->column.arena, CNI_ARRAY(rows, w->sum), CNI_ARRAY(rows, w->last),
                  CNI_ARRAY(rows + 1, w->wt.start)));
  w->wt.row_count = w->wt.column_count = p->row_count;
  w->wt.start[0] = 0;
  for (int32_t i = 0; i < p->row_count; i++) w->last[i] = -1;
  for (int32_t b = 0; b < p->block_count; b++) {
    double c[CNI_MAX_DIM];
    cni_block_compliance(p, &p->blocks[b], c);
    for (int32_t d = 0; d < p->blocks[b].dim; d++)
      CNI_TRY(product_column(w, p->blocks[b].row + d, c[d]));
  }
  CNI_TRY(cni_sparse_transpose(&p->allocator, &w->wt, result));
  return global->factor->refine ? CN_OK : average(p, result);
}

CnStatus cni_global_eliminate(const CnProblem *p, CnSparse *result) {
  *result = (CnSparse){0, 0, NULL, NULL, NULL};
  Product w = {.p = p};
  cni_arena_init(&w.column.arena, &p->allocator);
  CnStatus status = multiply(&w, result);
  if (status != CN_OK) cni_sparse_release(&p->allocator, result);
  cni_sparse_release(&p->allocator, &w.rows_of);
  CNI_RELEASE(&p->allocator, w.wt.column, w.column_capacity);
  CNI_RELEASE(&p->allocator, w.wt.value, w.value_capacity);
  cni_arena_release(&w.column.arena);
  return status;
}
