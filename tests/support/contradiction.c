// SPDX-License-Identifier: Apache-2.0
#include "contradiction.h"

#include "check.h"
#include "problem/problem.h"

#include <stdlib.h>
#include <string.h>

#define RANK 1e-7 // singular values of less than this part of the largest are none

// Rows A x + c of length one, x the velocities in the metric of the masses.
typedef struct Rows {
  double *a, *c;
  int32_t *one_sided;
  int32_t count, columns;
} Rows;

static double *numbers(int32_t count) {
  double *x = calloc((size_t)(count > 0 ? count : 1), sizeof *x);
  CHECK(x != NULL);
  return x;
}

static double dot(int32_t n, const double *a, const double *b) {
  double sum = 0;
  for (int32_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

// M = L L^T, dense.
static double *mass_root(const CnSparse *m) {
  int32_t n = m->row_count;
  double *l = numbers(n * n);
  for (int32_t i = 0; i < n; i++)
    for (int32_t e = m->start[i]; e < m->start[i + 1]; e++) l[i * n + m->column[e]] = m->value[e];
  for (int32_t j = 0; j < n; j++) {
    l[j * n + j] = sqrt(l[j * n + j] - dot(j, l + j * n, l + j * n));
    for (int32_t i = j + 1; i < n; i++)
      l[i * n + j] = (l[i * n + j] - dot(j, l + i * n, l + j * n)) / l[j * n + j];
  }
  return l;
}

static void down(int32_t n, const double *l, double *x) {
  for (int32_t i = 0; i < n; i++) x[i] = (x[i] - dot(i, l + i * n, x)) / l[i * n + i];
}

// 0: no rigid row; 1: two-sided; 2: one-sided
static int32_t rigid(const CnProblem *p, const CniBlock *block) {
  const CnSet *set = &p->sets[block->set];
  if (set->compliance[0] > 0) return 0;
  if (block->kind == CN_BLOCK_BILATERAL) return 1;
  if (block->kind == CN_BLOCK_UNILATERAL) return 2;
  return block->kind == CN_BLOCK_INTERVAL && set->lo == -INFINITY && set->hi == INFINITY;
}

static void take_rows(const CnProblem *p, const CnExpanded *x, Rows *rows) {
  int32_t n = x->m.row_count;
  double *l = mass_root(&x->m), *free_speed = numbers(n);
  memcpy(free_speed, x->k, (size_t)n * sizeof *free_speed);
  down(n, l, free_speed);
  rows->columns = n;
  for (int32_t b = 0; b < p->block_count; b++) {
    const CniBlock *block = &p->blocks[b];
    int32_t kind = rigid(p, block);
    for (int32_t i = block->row; kind && i < block->row + (int32_t)block->dim; i++) {
      double *a = rows->a + (size_t)rows->count * (size_t)n;
      memset(a, 0, (size_t)n * sizeof *a);
      for (int32_t e = x->e.start[i]; e < x->e.start[i + 1]; e++)
        a[x->e.column[e]] += x->e.value[e];
      down(n, l, a);
      double length = sqrt(dot(n, a, a));
      if (!(length > 0)) continue;
      rows->c[rows->count] = (dot(n, a, free_speed) + x->b[i]) / length;
      for (int32_t k = 0; k < n; k++) a[k] /= length;
      rows->one_sided[rows->count++] = kind == 2;
    }
  }
  free(l);
  free(free_speed);
}

// One-sided Jacobi: rows of w (m x n, m >= 1) become U times singular values, u collects the turns.
static void jacobi(int32_t m, int32_t n, double *w, double *u) {
  for (int32_t i = 0; i < m; i++)
    for (int32_t k = 0; k < m; k++) u[i * m + k] = i == k;
  for (int32_t sweep = 0, turned = 1; sweep < 60 && turned; sweep++) {
    turned = 0;
    for (int32_t i = 0; i < m; i++)
      for (int32_t j = i + 1; j < m; j++) {
        double *a = w + i * n, *b = w + j * n;
        double aa = dot(n, a, a), bb = dot(n, b, b), ab = dot(n, a, b);
        if (!(fabs(ab) > 1e-15 * sqrt(aa * bb))) continue;
        turned = 1;
        double z = (bb - aa) / (2 * ab), t = copysign(1, z) / (fabs(z) + sqrt(1 + z * z));
        double cosine = 1 / sqrt(1 + t * t), sine = cosine * t;
        for (int32_t k = 0; k < n; k++) {
          double old = a[k];
          a[k] = cosine * old - sine * b[k];
          b[k] = sine * old + cosine * b[k];
        }
        for (int32_t k = 0; k < m; k++) {
          double old = u[i * m + k];
          u[i * m + k] = cosine * old - sine * u[j * m + k];
          u[j * m + k] = sine * old + cosine * u[j * m + k];
        }
      }
  }
}

// x of least length with least |A x + c| over the rows in use; returns the conditioning.
static double least_squares(const Rows *rows, const double *right, const int32_t *use, double *x) {
  int32_t n = rows->columns, m = 0;
  double *w = numbers(rows->count * n), *c = numbers(rows->count);
  for (int32_t i = 0; i < rows->count; i++) {
    if (!use[i]) continue;
    memcpy(w + m * n, rows->a + (size_t)i * (size_t)n, (size_t)n * sizeof *w);
    c[m++] = right[i];
  }
  double *u = numbers(m * m), most = 0, least = INFINITY;
  jacobi(m, n, w, u);
  for (int32_t i = 0; i < m; i++) most = fmax(most, sqrt(dot(n, w + i * n, w + i * n)));
  memset(x, 0, (size_t)n * sizeof *x);
  for (int32_t i = 0; i < m; i++) {
    double s2 = dot(n, w + i * n, w + i * n), along = dot(m, u + i * m, c);
    if (!(sqrt(s2) > RANK * most)) continue;
    least = fmin(least, sqrt(s2));
    for (int32_t k = 0; k < n; k++) x[k] -= along / s2 * w[i * n + k];
  }
  free(u);
  free(w);
  free(c);
  return m > 0 ? least / most : 1;
}

// What is left in y; returns half its square.
static double leave(const Rows *rows, const double *x, double *y, int32_t *use) {
  double sum = 0;
  for (int32_t i = 0; i < rows->count; i++) {
    y[i] = dot(rows->columns, rows->a + (size_t)i * (size_t)rows->columns, x) + rows->c[i];
    use[i] = !rows->one_sided[i] || y[i] < 0;
    if (!use[i]) y[i] = 0;
    sum += 0.5 * y[i] * y[i];
  }
  return sum;
}

// y was a small difference of large numbers: what of it the rows in use can give is taken out once more.
static void refine(const Rows *rows, const int32_t *use, double *x, double *y) {
  for (int32_t round = 0; round < 2; round++) {
    least_squares(rows, y, use, x);
    for (int32_t i = 0; i < rows->count; i++)
      if (use[i]) y[i] += dot(rows->columns, rows->a + (size_t)i * (size_t)rows->columns, x);
  }
  for (int32_t i = 0; i < rows->count; i++)
    if (rows->one_sided[i] && y[i] > 0) y[i] = 0;
}

static Contradiction judge(const Rows *rows) {
  int32_t n = rows->columns;
  double *x = numbers(n), *aim = numbers(n), *y = numbers(rows->count);
  int32_t *use = calloc((size_t)rows->count + 1, sizeof *use);
  Contradiction found = {0, 0, 1};
  double now = leave(rows, x, y, use), most = 0;
  for (int32_t round = 0; round < 100 && now > 0; round++) {
    double share = 1, next = INFINITY, before = now;
    found.conditioning = least_squares(rows, rows->c, use, aim);
    for (int32_t tries = 0; tries < 40; tries++, share *= 0.5) {
      for (int32_t k = 0; k < n; k++) aim[k] = x[k] + (aim[k] - x[k]) * (tries ? 0.5 : 1);
      next = leave(rows, aim, y, use);
      if (next <= now) break;
    }
    memcpy(x, aim, (size_t)n * sizeof *x);
    now = next;
    if (!(now < (1 - 1e-12) * before)) break;
  }
  double yc = 0, left = 0;
  leave(rows, x, y, use);
  refine(rows, use, x, y);
  memset(aim, 0, (size_t)n * sizeof *aim);
  for (int32_t i = 0; i < rows->count; i++) {
    most = fmax(most, fabs(rows->c[i]));
    found.share = fmax(found.share, fabs(y[i]));
    yc += y[i] * rows->c[i];
    for (int32_t k = 0; k < n; k++) aim[k] += y[i] * rows->a[(size_t)i * (size_t)n + (size_t)k];
  }
  left = sqrt(dot(n, aim, aim));
  found.speed = left > 0 && most > 0 ? yc / left / most : yc > 0 ? INFINITY : 0;
  if (most > 0) found.share /= most;
  free(x);
  free(aim);
  free(y);
  free(use);
  return found;
}

Contradiction contradiction_of(const CnProblem *p) {
  CnExpanded x;
  Rows rows = {.count = 0};
  CHECK_OK(cn_problem_expand(p, &x));
  int32_t most = x.e.row_count + 1;
  rows.a = numbers(most * x.m.row_count);
  rows.c = numbers(most);
  rows.one_sided = calloc((size_t)most, sizeof *rows.one_sided);
  take_rows(p, &x, &rows);
  Contradiction found = judge(&rows);
  free(rows.a);
  free(rows.c);
  free(rows.one_sided);
  cn_expanded_destroy(&x);
  return found;
}
