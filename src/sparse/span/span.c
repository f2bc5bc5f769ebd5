// SPDX-License-Identifier: Apache-2.0
// The span of rows by Householder reflections, Cholesky factors, forces that only push (span.h).
#include "sparse/span.h"

#include <math.h>
#include <string.h>

#include "core/error.h"

// ---- rows and their null space ----

CnStatus cni_span_begin(CniArena *arena, int32_t count, int32_t length, CniSpan *span) {
  int64_t most = count < length ? count : length, n = length;
  *span = (CniSpan){.count = count, .length = length};
  return CNI_LAY(arena, CNI_ARRAY(count * n, span->rows), CNI_ARRAY(most * n, span->reflect),
                 CNI_ARRAY(most, span->factor), CNI_ARRAY(count, span->order));
}

static double dot(const double *a, const double *b, int32_t begin, int32_t end) {
  double sum = 0;
  for (int32_t i = begin; i < end; i++) sum += a[i] * b[i];
  return sum;
}

static void add(double *x, double s, const double *a, int32_t begin, int32_t end) {
  for (int32_t i = begin; i < end; i++) x[i] += s * a[i];
}

static void swap_rows(CniSpan *span, int32_t i, int32_t k) {
  if (i == k) return;
  double *a = span->rows + (size_t)i * (size_t)span->length;
  double *b = span->rows + (size_t)k * (size_t)span->length;
  for (int32_t j = 0; j < span->length; j++) {
    double x = a[j];
    a[j] = b[j];
    b[j] = x;
  }
  int32_t o = span->order[i];
  span->order[i] = span->order[k];
  span->order[k] = o;
}

static double *row_of(const CniSpan *span, int32_t i) {
  return span->rows + (size_t)i * (size_t)span->length;
}
static double *reflection(const CniSpan *span, int32_t k) {
  return span->reflect + (size_t)k * (size_t)span->length;
}

static void reflect(const CniSpan *span, int32_t k, double *x) {
  const double *v = reflection(span, k);
  add(x, -span->factor[k] * dot(v, x, k, span->length), v, k, span->length);
}

void cni_span_factor(CniSpan *span, double lost) {
  int32_t n = span->length;
  span->rank = 0;
  for (int32_t i = 0; i < span->count; i++) span->order[i] = i;
  for (int32_t k = 0; k < n && k < span->count; k++) {
    int32_t best = -1;
    double most = 0;
    for (int32_t i = k; i < span->count; i++) {
      const double *row = row_of(span, i);
      double rest = dot(row, row, k, n), all = rest + dot(row, row, 0, k);
      if (!(rest > lost * lost * all)) continue;
      double size = rest / all; // rows of any unit
      if (size > most * (1 + 1e-9)) {
        most = size;
        best = i;
      }
    }
    if (best < 0) return;
    swap_rows(span, k, best);
    double *row = row_of(span, k), *v = reflection(span, k);
    memcpy(v + k, row + k, (size_t)(n - k) * sizeof *v);
    double length = sqrt(dot(row, row, k, n));
    if (row[k] > 0) length = -length;
    v[k] -= length;
    double square = dot(v, v, k, n);
    span->factor[k] = square > 0 ? 2 / square : 0;
    span->rank = k + 1;
    for (int32_t i = k; i < span->count; i++) reflect(span, k, row_of(span, i));
    for (int32_t j = k + 1; j < n; j++) row[j] = 0;
  }
}

void cni_span_down(const CniSpan *span, double *x) {
  for (int32_t k = 0; k < span->rank; k++) reflect(span, k, x);
}

void cni_span_up(const CniSpan *span, double *x) {
  for (int32_t k = span->rank; k-- > 0;) reflect(span, k, x);
}

void cni_span_solve(const CniSpan *span, const double *b, double *x) {
  memset(x, 0, (size_t)span->length * sizeof *x);
  for (int32_t k = 0; k < span->rank; k++) {
    const double *row = row_of(span, k);
    x[k] = (b[span->order[k]] - dot(row, x, 0, k)) / row[k];
  }
  cni_span_up(span, x);
}

// T^T g = y over all rows: with T^T = S P^T the shortest g is P S^-1 y.
CnStatus cni_span_weights(const CniSpan *span, CniArena *arena, const double *y, double *g) {
  CniSpan turned;
  double *x;
  CniArenaMark mark = cni_arena_mark(arena);
  CNI_TRY(cni_span_begin(arena, span->rank, span->count, &turned));
  CNI_TRY(cni_arena_array(arena, span->count, sizeof *x, &x));
  for (int32_t k = 0; k < span->rank; k++)
    for (int32_t i = 0; i < span->count; i++) row_of(&turned, k)[i] = row_of(span, i)[k];
  cni_span_factor(&turned, 0);
  cni_span_solve(&turned, y, x);
  for (int32_t i = 0; i < span->count; i++) g[span->order[i]] = x[i];
  cni_arena_back(arena, mark);
  return CN_OK;
}

// ---- Cholesky ----

int cni_cholesky(int32_t size, double *a, int32_t *first) {
  for (int32_t i = 0; i < size; i++) {
    double *row = a + (size_t)i * (size_t)size;
    int32_t from = 0;
    while (first && from < i && row[from] == 0) from++;
    if (first) first[i] = from;
    for (int32_t k = from; k < i; k++) {
      const double *other = a + (size_t)k * (size_t)size;
      row[k] = (row[k] - dot(row, other, from, k)) / other[k];
    }
    double rest = row[i] - dot(row, row, from, i);
    if (!(rest > 0) || !isfinite(rest)) return 0;
    row[i] = sqrt(rest);
  }
  return 1;
}

void cni_cholesky_down(int32_t size, const double *l, const int32_t *first, double *x) {
  for (int32_t i = 0; i < size; i++) {
    const double *row = l + (size_t)i * (size_t)size;
    x[i] = (x[i] - dot(row, x, first ? first[i] : 0, i)) / row[i];
  }
}

void cni_cholesky_up(int32_t size, const double *l, const int32_t *first, double *x) {
  for (int32_t i = size; i-- > 0;) {
    const double *row = l + (size_t)i * (size_t)size;
    x[i] /= row[i];
    add(x, -x[i], row, first ? first[i] : 0, i);
  }
}

// ---- what only pushes ----

// x on the set: (a + soft) x = b; the rows of the set stand in `l`, their numbers in `set`.
static void solve_set(int32_t size, const double *a, const double *b, double soft, const double *on,
                      double *l, double *x) {
  int32_t n = 0;
  for (int32_t i = 0; i < size; i++) {
    if (on[i] == 0) continue;
    int32_t m = 0;
    for (int32_t k = 0; k <= i; k++)
      if (on[k] != 0)
        l[(size_t)n * (size_t)size + (size_t)m++] = a[(size_t)i * (size_t)size + (size_t)k];
    l[(size_t)n * (size_t)size + (size_t)n] += soft;
    x[n++] = b[i];
  }
  // packed rows of `size` numbers: moved together to rows of n
  for (int32_t i = 1; i < n; i++)
    memmove(l + (size_t)i * (size_t)n, l + (size_t)i * (size_t)size, (size_t)(i + 1) * sizeof *l);
  if (!cni_cholesky(n, l, NULL)) {
    memset(x, 0, (size_t)size * sizeof *x);
    return;
  }
  cni_cholesky_down(n, l, NULL, x);
  cni_cholesky_up(n, l, NULL, x);
  for (int32_t i = size; i-- > 0;) x[i] = on[i] != 0 ? x[--n] : 0;
}

#define BLOCK_ROUNDS 60
#define PATIENCE 8

// All rows at once that push where they may not, or do not where they should, change sides (block
// principal pivoting, Judice and Pires 1994): some ten factors, whatever the size. Where that goes on
// for too long: 0.
static int push_by_blocks(int32_t size, const double *a, const double *b, double soft, double *x,
                          double *work) {
  double *on = work, *next = work + size, *l = work + 2 * (size_t)size, most = 0;
  int32_t fewest = size + 1, patience = PATIENCE;
  for (int32_t i = 0; i < size; i++) {
    on[i] = b[i] > 0;
    most = most > fabs(b[i]) ? most : fabs(b[i]);
  }
  for (int32_t round = 0; round < BLOCK_ROUNDS; round++) {
    int32_t wrong = 0;
    solve_set(size, a, b, soft, on, l, next);
    for (int32_t i = 0; i < size; i++) {
      double slope = on[i] != 0 ? 0 : b[i] - dot(a + (size_t)i * (size_t)size, next, 0, size);
      int changes = on[i] != 0 ? next[i] < 0 : slope > 1e-13 * most;
      x[i] = changes ? 1 - on[i] : on[i];
      wrong += changes;
    }
    if (wrong == 0) {
      memcpy(x, next, (size_t)size * sizeof *x);
      return 1;
    }
    if (wrong < fewest) {
      fewest = wrong;
      patience = PATIENCE;
    } else if (patience-- == 0) {
      return 0;
    }
    memcpy(on, x, (size_t)size * sizeof *on);
  }
  return 0;
}

void cni_push(int32_t size, const double *a, const double *b, double soft, double *x,
              double *work) {
  if (push_by_blocks(size, a, b, soft, x, work)) return;
  double *on = work, *next = work + size, *l = work + 2 * (size_t)size, most = 0;
  for (int32_t i = 0; i < size; i++) {
    x[i] = on[i] = 0;
    most = most > fabs(b[i]) ? most : fabs(b[i]);
  }
  for (int32_t round = 0; round < 3 * size + 10; round++) {
    int32_t enter = -1;
    double best = 1e-13 * most;
    for (int32_t i = 0; i < size; i++) {
      double slope = b[i] - dot(a + (size_t)i * (size_t)size, x, 0, size) - soft * x[i];
      if (on[i] != 0 || !(slope > best)) continue;
      best = slope;
      enter = i;
    }
    if (enter < 0) return;
    on[enter] = 1;
    for (int32_t inner = 0; inner <= size; inner++) {
      solve_set(size, a, b, soft, on, l, next);
      double share = 1;
      int32_t leave = -1;
      for (int32_t i = 0; i < size; i++) {
        if (on[i] == 0 || next[i] > 0) continue;
        double s = x[i] / (x[i] - next[i]);
        if (!(x[i] > 0)) s = 0;
        if (leave >= 0 && !(s < share)) continue;
        share = s;
        leave = i;
      }
      for (int32_t i = 0; i < size; i++) x[i] += share * (next[i] - x[i]);
      if (leave < 0) break;
      x[leave] = on[leave] = 0;
    }
  }
}
