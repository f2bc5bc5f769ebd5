// SPDX-License-Identifier: Apache-2.0
// From a complementarity problem to a tableau ready for pivoting, and back to impulses.
//
// Scaling: rows and columns by powers of two (exact), so that the largest entry of each is about 1;
// the right-hand side too. Tolerances of the pivoting are absolute then. Complementarity does not
// see positive scales. Problems whose rows and columns are of similar size get one common scale.
//
// Equality rows: their variables are free, so they become basic first, by elimination with complete
// pivoting (the diagonal where it is not much smaller, which keeps symmetric and semidefinite
// problems what they are), and their rows, which block nothing, are set aside. What is left of the
// columns is the problem of the complementarity rows. If the equality block is singular some rows
// and free variables stay; each becomes two complementary pairs (lcp.h), and Lemke's path finds out
// which combinations of them and of the complementarity rows make a solution.
//
// Cost: 2 e n^2 for e equality rows of n.
#include "solver/pivots/lcp.h"

#include "core/vec.h"

#include <string.h>

#define DELAYED_LEAST 64       // problems of so many rows keep pivots back
#define SPREAD 1024.0          // row or column sizes further apart are scaled one by one
#define NOISE 1e-15            // rows and columns smaller than this part of all are round-off
#define EQUALITY_LEAST 1e-11   // a remaining block smaller than this is zero
#define COMBINE_LEAST 1e-8     // combinations of rows with smaller pivots are not tried
#define DIAGONAL_PREFERRED 0.1 // a diagonal pivot of this part of the largest is taken

CnStatus cni_block_memory_reserve(const CnAllocator *allocator, CniBlockMemory *memory,
                                  size_t bytes) {
  if (bytes == 0)
    bytes = 1; // of a problem without rows: arrays lie one behind the other, from somewhere
  if (bytes <= memory->bytes) return CN_OK;
  void *data = cni_allocate(allocator, bytes);
  if (!data) return cni_error_memory(bytes);
  cni_release(allocator, memory->data, memory->bytes);
  memory->data = data;
  memory->bytes = bytes;
  return CN_OK;
}

// ---- room ----

static int32_t count_equalities(const CnProblem *p) {
  int32_t count = 0;
  for (int32_t i = 0; i < p->block_count; i++)
    if (p->blocks[i].kind == CN_BLOCK_BILATERAL) count += p->blocks[i].dim;
  return count;
}

CnStatus cni_reduced_reserve(CniReduced *r, const CnProblem *p) {
  int32_t n = p->row_count, e = count_equalities(p);
  if (n > INT32_MAX / 8 - 16)
    return cni_error(CN_NO_MEMORY, "a dense tableau of %d rows is too large", (int)n);
  int32_t rows = n + e; // doubled pairs included
  int32_t stride = cni_dense_stride(rows + 2);
  size_t size = (size_t)stride, whole = (size_t)cni_dense_stride(rows + 1);
  size_t numbers = ((size_t)rows + (size_t)e) * size + 3 * whole;
  size_t delayed = n >= DELAYED_LEAST ? cni_delayed_size(rows, stride) : 0;
  size_t indices = 5 * (size_t)rows + 8 + 3 * (size_t)n;
  CNI_TRY(
      cni_block_memory_reserve(&r->allocator, &r->numbers, (numbers + delayed) * sizeof(double)));
  CNI_TRY(cni_block_memory_reserve(&r->allocator, &r->indices, indices * sizeof(int32_t)));
  r->equalities = e;
  r->complementary = n - e;
  CniTableau *t = &r->t;
  t->stride = stride;
  t->a = r->numbers.data;
  r->frozen = t->a + (size_t)rows * size;
  r->row_scale = r->frozen + (size_t)e * size;
  r->column_scale = r->row_scale + whole;
  r->cover = r->column_scale + whole;
  r->delayed = delayed > 0 ? t->a + numbers : NULL;
  t->basic = r->indices.data;
  t->column = t->basic + rows;
  t->place = t->column + rows + 2;
  r->row_of = t->place + 2 * rows + 1;
  r->frozen_row = r->row_of + rows;
  r->equality = r->frozen_row + n;
  return CN_OK;
}

// ---- scaling ----

// One over the power of two at or below x; 1 for zero and for numbers out of the usual range.
static double inverse_power(double x) {
  uint64_t bits;
  if (!(x > 1e-290 && x < 1e290)) return 1;
  memcpy(&bits, &x, sizeof bits);
  bits = ((uint64_t)2046 << 52) - (bits & 0x7ff0000000000000u);
  memcpy(&x, &bits, sizeof bits);
  return x;
}

// One pass towards rows and columns of largest entry 1, half of the way each, so that a symmetric
// matrix stays symmetric. Rows and columns below the noise are left as small as they are.
static void equilibrate(const CnSparse *w, double *row_scale, double *column_scale,
                        double *row_size, double *column_size) {
  int32_t n = w->row_count;
  for (int32_t i = 0; i < n; i++) row_size[i] = column_size[i] = 0;
  for (int32_t i = 0; i < n; i++)
    for (int32_t e = w->start[i]; e < w->start[i + 1]; e++) {
      int32_t j = w->column[e];
      double x = fabs(w->value[e]) * row_scale[i] * column_scale[j];
      row_size[i] = cn_max(row_size[i], x);
      column_size[j] = cn_max(column_size[j], x);
    }
  for (int32_t i = 0; i < n; i++) {
    if (row_size[i] > NOISE) row_scale[i] *= inverse_power(sqrt(row_size[i]));
    if (column_size[i] > NOISE) column_scale[i] *= inverse_power(sqrt(column_size[i]));
  }
}

double cni_lcp_scales(const CnProblem *p, double *row_scale, double *column_scale,
                      double *scratch) {
  const CnSparse *w = &p->w;
  int32_t n = w->row_count;
  double *column_size = scratch + n, largest = 0, least = INFINITY;
  for (int32_t i = 0; i < n; i++) column_size[i] = 0;
  for (int32_t i = 0; i < n; i++) {
    double size = 0;
    for (int32_t e = w->start[i]; e < w->start[i + 1]; e++) {
      double x = fabs(w->value[e]), *column = &column_size[w->column[e]];
      if (x > size) size = x;
      if (x > *column) *column = x;
    }
    if (size > largest) largest = size;
    if (size > 0 && size < least) least = size;
  }
  for (int32_t i = 0; i < n; i++)
    if (column_size[i] > 0 && column_size[i] < least) least = column_size[i];

  double common = inverse_power(largest);
  for (int32_t i = 0; i < n; i++) {
    row_scale[i] = common;
    column_scale[i] = 1;
  }
  int uniform = largest <= SPREAD * least || largest == 0;
  for (int32_t pass = 0; !uniform && pass < 4; pass++)
    equilibrate(w, row_scale, column_scale, scratch, column_size);

  double q = 0;
  for (int32_t i = 0; i < n; i++) q = cn_max(q, fabs(p->b[i]) * row_scale[i]);
  return inverse_power(q);
}

// ---- the equality block ----

static void swap_rows(CniTableau *t, int32_t a, int32_t b) {
  if (a != b) cni_dense_swap(cni_tableau_row(t, a), cni_tableau_row(t, b), t->columns + 1);
}

static void swap_columns(CniTableau *t, int32_t a, int32_t b) {
  for (int32_t i = 0; a != b && i < t->rows; i++) {
    double *row = cni_tableau_row(t, i), c = row[a];
    row[a] = row[b];
    row[b] = c;
  }
}

static void swap_indices(int32_t *x, int32_t a, int32_t b) { CNI_SWAP(int32_t, x[a], x[b]); }

// The pivot of the block of `left` rows and columns that begins after the complementarity rows; 0
// if nothing is left of it. by_row and by_column tell which equality each is.
static int find_pivot(const CniReduced *r, int32_t left, const int32_t *by_row,
                      const int32_t *by_column, int32_t *row, int32_t *column) {
  double largest = 0, diagonal = 0;
  int32_t diagonal_row = 0, diagonal_column = 0;
  for (int32_t i = 0; i < left; i++) {
    const double *x = cni_tableau_row(&r->t, r->complementary + i) + r->complementary + 1;
    for (int32_t j = 0; j < left; j++) {
      double size = fabs(x[j]);
      if (size > largest) {
        largest = size;
        *row = i;
        *column = j;
      }
      if (by_row[i] == by_column[j] && size > diagonal) {
        diagonal = size;
        diagonal_row = i;
        diagonal_column = j;
      }
    }
  }
  if (!(largest > EQUALITY_LEAST)) return 0;
  if (diagonal < DIAGONAL_PREFERRED * largest) return 1;
  *row = diagonal_row;
  *column = diagonal_column;
  return 1;
}

// Make free variables basic. Eliminated rows go to the end of the tableau, their columns (of u = 0)
// out of it. Returns how many rows of the block are left.
static int32_t eliminate(CniReduced *r) {
  CniTableau *t = &r->t;
  int32_t left = r->equalities, *by_row = t->basic, *by_column = t->column, i = 0, j = 0;
  for (int32_t k = 0; k < left; k++) by_row[k] = by_column[k] = r->equality[k];
  while (left > 0 && find_pivot(r, left, by_row, by_column, &i, &j)) {
    int32_t row = r->complementary + --left, column = row + 1;
    swap_rows(t, r->complementary + i, row);
    swap_columns(t, r->complementary + 1 + j, column);
    swap_indices(by_row, i, left);
    swap_indices(by_column, j, left);
    double *pivot = cni_tableau_row(t, row), inverse = 1 / pivot[column];
    for (int32_t k = 0; k < column; k++) pivot[k] *= -inverse;
    for (int32_t k = 0; k < t->rows; k++) {
      double *other = cni_tableau_row(t, k), f = other[column];
      if (f == 0 || k == row) continue;
      for (int32_t c = 0; c < column; c++) other[c] += f * pivot[c];
    }
    t->columns--;
  }
  return left;
}

// What elimination has left of numbers that cancel: zero, in the rows that say u = 0.
static void clear_noise(CniReduced *r, int32_t left) {
  for (int32_t i = 0; i < left; i++) {
    double *row = cni_tableau_row(&r->t, r->complementary + i);
    for (int32_t j = 0; j <= r->t.columns; j++)
      if (fabs(row[j]) <= EQUALITY_LEAST) row[j] = 0;
  }
}

// The rows that are left may be combined at will, u = 0 being meant for all of them. With R their
// coefficients of the complementarity columns and C those of the free variables in the
// complementarity rows, the combination A R = -C^T makes the two parts skew to each other wherever
// that is possible: then the problem is monotone if that of the complementarity rows is, and
// Lemke's path cannot miss a solution. A = -C^T R^T (R R^T)^-1.
static void combine_rows(CniReduced *r, int32_t left) {
  CniTableau *t = &r->t;
  int32_t m = r->complementary, stride = cni_dense_stride(left), *pivot = t->basic;
  double *gram = cni_tableau_row(t, t->rows), *a = gram + (size_t)stride * (size_t)left;
  double largest = 0;
  for (int32_t i = 0; i < left; i++) {
    const double *row = cni_tableau_row(t, m + i) + 1;
    for (int32_t j = 0; j < left; j++) {
      const double *other = cni_tableau_row(t, m + j) + 1;
      double sum = 0, cross = 0;
      for (int32_t k = 0; k < m; k++) {
        sum += row[k] * other[k];
        cross += row[k] * cni_tableau_row(t, k)[1 + m + j];
      }
      gram[i * stride + j] = sum;
      a[j * stride + i] = -cross; // row j of a: the right-hand side of one row of A
      largest = cn_max(largest, fabs(sum));
    }
  }
  const CniDenseKernels *kernels = t->kernels;
  double least = COMBINE_LEAST * cn_max(largest, COMBINE_LEAST);
  if (!cni_dense_factor(kernels, left, gram, stride, pivot, least)) return;
  for (int32_t j = 0; j < left; j++) cni_dense_solve(left, gram, stride, pivot, a + j * stride);

  // only a regular combination says the same
  memcpy(gram, a, (size_t)stride * (size_t)left * sizeof *a);
  if (!cni_dense_factor(kernels, left, gram, stride, pivot, COMBINE_LEAST)) return;
  for (int32_t j = 0; j <= t->columns; j++) {
    for (int32_t i = 0; i < left; i++) {
      double sum = 0;
      for (int32_t k = 0; k < left; k++) sum += a[i * stride + k] * cni_tableau_row(t, m + k)[j];
      gram[i] = sum;
    }
    for (int32_t i = 0; i < left; i++) cni_tableau_row(t, m + i)[j] = gram[i];
  }
}

// Set the eliminated rows aside and write each of the `left` others as two pairs.
static void finish_equalities(CniReduced *r, int32_t left) {
  CniTableau *t = &r->t;
  int32_t m = r->complementary, columns = m + left;
  size_t bytes = (size_t)t->stride * sizeof(double);
  r->frozen_count = r->equalities - left;
  for (int32_t i = 0; i < r->frozen_count; i++) {
    memcpy(r->frozen + (size_t)i * (size_t)t->stride, cni_tableau_row(t, columns + i), bytes);
    r->frozen_row[i] = t->column[left + i];
  }
  for (int32_t k = 0; k < left; k++) r->row_of[m + k] = r->row_of[columns + k] = t->column[k];
  t->columns = m + 2 * left;
  for (int32_t i = 0; i < columns; i++) {
    double *row = cni_tableau_row(t, i);
    for (int32_t k = 0; k < left; k++) row[1 + columns + k] = -row[1 + m + k];
    for (int32_t j = t->columns + 1; j < t->stride; j++) row[j] = 0;
  }
  for (int32_t k = 0; k < left; k++) {
    const double *from = cni_tableau_row(t, m + k);
    double *to = cni_tableau_row(t, columns + k);
    for (int32_t j = 0; j < t->stride; j++) to[j] = -from[j];
  }
  t->rows = t->columns;
}

// ---- loading ----

// Complementarity rows first, equality rows after them: the place of each row, in `place`.
static void order_rows(CniReduced *r, int32_t *place) {
  const CnProblem *p = r->p;
  int32_t m = 0, e = 0;
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    for (int32_t row = block->row; row < block->row + block->dim; row++) {
      if (block->kind == CN_BLOCK_BILATERAL) {
        place[row] = r->complementary + e;
        r->equality[e++] = row;
      } else {
        place[row] = m;
        r->row_of[m++] = row;
      }
    }
  }
}

void cni_reduced_load(CniReduced *r, const CnProblem *p) {
  CniTableau *t = &r->t;
  const CnSparse *w = &p->w;
  int32_t n = p->row_count, *place = t->place;
  r->p = p;
  t->rows = t->columns = n;
  r->frozen_count = r->doubled = 0;
  r->scale = cni_lcp_scales(p, r->row_scale, r->column_scale, t->a); // the tableau is scratch here
  order_rows(r, place);
  for (int32_t i = 0; i < n; i++) {
    double *row = cni_tableau_row(t, place[i]), s = r->row_scale[i];
    memset(row, 0, (size_t)t->stride * sizeof *row);
    row[0] = r->scale * s * p->b[i];
    for (int32_t e = w->start[i]; e < w->start[i + 1]; e++) {
      int32_t j = w->column[e];
      row[1 + place[j]] = s * w->value[e] * r->column_scale[j];
    }
  }
  if (r->equalities > 0) {
    r->doubled = eliminate(r);
    if (r->doubled > 0) {
      clear_noise(r, r->doubled);
      combine_rows(r, r->doubled);
    }
    finish_equalities(r, r->doubled);
  }
  t->pairs = t->rows;
  for (int32_t k = 0; k < t->pairs; k++) {
    t->basic[k] = 2 * k;
    t->place[2 * k] = k;
    t->column[k + 1] = 2 * k + 1;
    t->place[2 * k + 1] = -(k + 1);
  }
}

// ---- the way back ----

// z of pair k; of an equality row that is two pairs, of both.
static double pair_value(const CniReduced *r, int32_t k) {
  double z = cn_max(0, cni_tableau_value(&r->t, 2 * k + 1));
  if (k < r->complementary) return z;
  return z - cn_max(0, cni_tableau_value(&r->t, 2 * (k + r->doubled) + 1));
}

void cni_reduced_answer(const CniReduced *r, double *g) {
  const CniTableau *t = &r->t;
  int32_t m = r->complementary;
  double inverse = inverse_power(r->scale);
  for (int32_t k = 0; k < m + r->doubled; k++) g[r->row_of[k]] = pair_value(r, k) * inverse;
  for (int32_t i = 0; i < r->frozen_count; i++) {
    const double *row = r->frozen + (size_t)i * (size_t)t->stride;
    double sum = row[0];
    for (int32_t k = 0; k < m + r->doubled; k++) sum += row[k + 1] * pair_value(r, k);
    g[r->frozen_row[i]] = sum * inverse;
  }
  for (int32_t i = 0; i < r->p->row_count; i++) g[i] *= r->column_scale[i];
}
