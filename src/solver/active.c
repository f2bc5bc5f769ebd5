// Solutions of a complementarity problem from its set of active rows.
//
// If the rows that carry an impulse are known the problem is linear: u = 0 on them and on the
// equality rows, g = 0 elsewhere. The system is solved by dense elimination with two steps of
// refinement on the problem's own numbers, so that what pivoting has found is as accurate as the
// matrix allows.
#include "solver/lcp.h"

#include "core/memory.h"
#include "core/vec.h"

#include <string.h>

#define SINGULAR 1e-14 // a pivot below this part of the largest entry

CnStatus cni_active_reserve(CniActive *s, const CnProblem *p) {
  size_t n = (size_t)p->row_count, stride = (size_t)cni_dense_stride(p->row_count);
  size_t whole = (n + 7) / 8 * 8;
  size_t numbers = n * stride + 4 * whole, indices = 3 * whole;
  if (cni_block_memory_reserve(&s->allocator, &s->numbers, numbers * sizeof(double)) != CN_OK)
    return CN_NO_MEMORY;
  if (cni_block_memory_reserve(&s->allocator, &s->indices, indices * sizeof(int32_t)) != CN_OK)
    return CN_NO_MEMORY;
  s->a = s->numbers.data;
  s->x = s->a + n * stride;
  s->u = s->x + whole;
  s->best = s->u + whole;
  s->row_scale = s->best + whole;
  s->pivot = s->indices.data;
  s->index = s->pivot + whole;
  s->place = s->index + whole;
  return CN_OK;
}

void cni_active_release(CniActive *s) {
  cni_block_memory_release(&s->allocator, &s->numbers);
  cni_block_memory_release(&s->allocator, &s->indices);
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

int cni_active_solve(CniActive *s, const CnProblem *p, const uint8_t *active, double *g) {
  int32_t count = 0;
  for (int32_t i = 0; i < p->row_count; i++) {
    g[i] = 0;
    if (active[i]) s->index[count++] = i;
  }
  if (count == 0) return 1;
  int32_t stride = cni_dense_stride(count);
  double largest = gather(s, p, count, stride);
  if (!cni_dense_factor(s->kernels, count, s->a, stride, s->pivot, SINGULAR * largest)) return 0;

  // g -= A^-1 (W g + q), from g = 0: the first pass solves, the others refine
  for (int32_t pass = 0; pass < 3; pass++) {
    cni_problem_velocity(p, NULL, g, s->u);
    for (int32_t i = 0; i < count; i++) s->x[i] = s->u[s->index[i]];
    cni_dense_solve(count, s->a, stride, s->pivot, s->x);
    for (int32_t i = 0; i < count; i++) {
      if (!isfinite(s->x[i])) return 0;
      g[s->index[i]] -= s->x[i];
    }
  }
  return 1;
}
