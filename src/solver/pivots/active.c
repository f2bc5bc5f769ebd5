// SPDX-License-Identifier: Apache-2.0
// Solutions of a complementarity problem from its set of active rows, and the search for that set.
//
// If the rows that carry an impulse are known the problem is linear: u = 0 on them and on the
// equality rows, g = 0 elsewhere. The system is solved by dense elimination with two steps of
// refinement on the problem's own numbers, so that what pivoting has found is as accurate as the
// matrix allows.
//
// The search exchanges all rows on the wrong side at once and solves again (Newton's method for
// min(g, u) = 0): a few steps for most problems of any size. If the number of wrong rows does not
// fall for some steps they are exchanged one at a time, highest row first, until it does: this
// finite method of Murty makes the whole finite for P-matrices. It may fail for others.
//
// Cost: a factorisation of the active rows a step.
//
// Reference: Judice and Pires 1994.
#include "solver/pivots/lcp.h"

#include "core/vec.h"

#include <string.h>

#define SINGULAR 1e-14  // a pivot below this part of the largest entry
#define PROXIMAL 1e-10  // of the largest entry: what is added to the diagonal of singular matrices
#define ROUND_OFF 1e-12 // of the largest number: smaller ones are on no wrong side
#define PATIENCE 8      // steps in which the number of wrong rows may fail to fall

CnStatus cni_active_reserve(CniActive *s, const CnProblem *p) {
  size_t n = (size_t)p->row_count, stride = (size_t)cni_dense_stride(p->row_count);
  size_t whole = (n + 7) / 8 * 8;
  size_t numbers = n * stride + 2 * whole, indices = 4 * whole;
  CNI_TRY(cni_block_memory_reserve(&s->allocator, &s->numbers, numbers * sizeof(double)));
  CNI_TRY(cni_block_memory_reserve(&s->allocator, &s->indices, indices * sizeof(int32_t)));
  s->a = s->numbers.data;
  s->x = s->a + n * stride;
  s->u = s->x + whole;
  s->pivot = s->indices.data;
  s->index = s->pivot + whole;
  s->place = s->index + whole;
  s->wrong = (uint8_t *)(s->place + whole);
  memset(s->wrong, 0, n);
  return CN_OK;
}

// The system of the rows in `index`, by rows; its largest entry.
static double gather(CniActive *s, const CnProblem *p, int32_t count, int32_t stride) {
  const CnSparse *w = &p->w;
  double largest = 0;
  for (int32_t i = 0; i < p->row_count; i++) s->place[i] = -1;
  for (int32_t i = 0; i < count; i++) s->place[s->index[i]] = i;
  memset(s->a, 0, (size_t)count * (size_t)stride * sizeof *s->a);
  for (int32_t i = 0; i < count; i++) {
    double *row = s->a + (int64_t)i * stride;
    int32_t from = s->index[i];
    for (int32_t e = w->start[from]; e < w->start[from + 1]; e++) {
      int32_t j = s->place[w->column[e]];
      if (j < 0) continue;
      row[j] = w->value[e];
      largest = cn_max(largest, fabs(w->value[e]));
    }
  }
  return largest;
}

// Factors of the matrix of the active rows. A singular one is made regular by a small multiple of
// the identity; 0 if that does not help either.
static int factor(CniActive *s, const CnProblem *p, int32_t stride) {
  for (;;) {
    double largest = gather(s, p, s->count, stride);
    for (int32_t i = 0; i < s->count; i++) s->a[(int64_t)i * stride + i] += s->proximal * largest;
    if (cni_dense_factor(s->kernels, s->count, s->a, stride, s->pivot, SINGULAR * largest))
      return 1;
    if (s->proximal > 0) return 0;
    s->proximal = PROXIMAL;
  }
}

// g of the active rows, `passes` times g -= A^-1 (W g + q), from g = 0: the first pass solves, the
// others refine.
static int solve_rows(CniActive *s, const CnProblem *p, const uint8_t *active, int32_t passes,
                      double *g) {
  s->count = 0;
  for (int32_t i = 0; i < p->row_count; i++) {
    g[i] = 0;
    if (active[i]) s->index[s->count++] = i;
  }
  if (s->count == 0) return 1;
  int32_t stride = cni_dense_stride(s->count);
  if (!factor(s, p, stride)) return 0;
  for (int32_t pass = 0; pass < passes; pass++) {
    if (pass > 0) cni_problem_velocity(p, NULL, g, s->u);
    const double *u = pass > 0 ? s->u : p->b;
    for (int32_t i = 0; i < s->count; i++) s->x[i] = u[s->index[i]];
    cni_dense_solve(s->count, s->a, stride, s->pivot, s->x);
    for (int32_t i = 0; i < s->count; i++) {
      if (!isfinite(s->x[i])) return 0;
      g[s->index[i]] -= s->x[i];
    }
  }
  return 1;
}

int cni_active_solve(CniActive *s, const CnProblem *p, const uint8_t *active, double *g) {
  s->proximal = 0;
  return solve_rows(s, p, active, 3, g);
}

// ---- which rows are active ----

// Rows on the wrong side: active ones that pull, others that penetrate. Their number; the last of
// them in *last.
static int32_t wrong_rows(CniActive *s, const CnProblem *p, const uint8_t *active, const double *g,
                          int32_t *last) {
  double g_max = 0, u_max = 0;
  int32_t count = 0;
  for (int32_t i = 0; i < p->row_count; i++) {
    g_max = cn_max(g_max, fabs(g[i]));
    u_max = cn_max(u_max, cn_max(fabs(s->u[i]), fabs(p->b[i])));
  }
  for (int32_t i = 0; i < p->block_count; i++) {
    int32_t row = p->blocks[i].row;
    if (p->blocks[i].kind == CN_BLOCK_BILATERAL) continue;
    int wrong = active[row] ? g[row] < -ROUND_OFF * g_max : s->u[row] < -ROUND_OFF * u_max;
    s->wrong[row] = (uint8_t)wrong;
    count += wrong;
    if (wrong) *last = row;
  }
  return count;
}

static void start_rows(const CnProblem *p, const double *g, uint8_t *active) {
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    for (int32_t row = block->row; row < block->row + block->dim; row++)
      active[row] =
          block->kind == CN_BLOCK_BILATERAL || g[row] > 0 || (g[row] == 0 && p->b[row] < 0);
  }
}

int cni_active_search(CniActive *s, const CnProblem *p, const double *start, int32_t max_steps,
                      uint8_t *active, double *g, int32_t *steps) {
  int32_t least = INT32_MAX, patience = PATIENCE, last = 0;
  s->proximal = 0;
  start_rows(p, start, active);
  for (int32_t step = 0; step < max_steps; step++) {
    ++*steps;
    if (!solve_rows(s, p, active, 1, g)) return 0;
    cni_problem_velocity(p, NULL, g, s->u);
    int32_t count = wrong_rows(s, p, active, g, &last);
    if (count == 0) return 1;
    if (count < least) {
      least = count;
      patience = PATIENCE;
    } else {
      patience--;
    }
    // all at once while that helps; else one by one, which cannot cycle for P-matrices
    for (int32_t i = 0; patience >= 0 && i < p->row_count; i++)
      if (s->wrong[i]) active[i] ^= 1;
    if (patience < 0) active[last] ^= 1;
  }
  return 0;
}
