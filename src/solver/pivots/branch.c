// SPDX-License-Identifier: Apache-2.0
// Complementarity by cases: the last resort, complete for small problems.
//
// Without complementarity the problem is a linear program: w = q + M z, w >= 0, z >= 0. If that has
// no point there is no solution. If it has one, some pairs may have w_k > 0 and z_k > 0; one of the
// two must be zero in a solution, and both cases are tried, depth first: the variable is driven to
// zero by the simplex method, its own row being the objective, and then fixed. A case whose minimum
// is positive is closed. If all cases are closed there is no solution, whatever the matrix.
//
// Entering variables follow Bland's rule, so that degenerate vertices cannot make it cycle.
//
// Cost: exponential in the number of pairs at worst; a handful of cases mostly. The number of
// pivots is limited.
#include "solver/pivots/lcp.h"

#include "core/vec.h"

#include <string.h>

// The tableau is scaled: entries and right-hand side are about 1 at the start.
#define ZERO 1e-10        // values closer to zero are zero
#define PIVOT_LEAST 1e-10 // coefficients closer to zero are zero

typedef enum Step { STEP_DONE, STEP_CLOSED, STEP_LIMIT } Step;

// ---- room ----

CnStatus cni_branch_reserve(CniBranch *b, const CniTableau *t) {
  size_t n = (size_t)t->pairs, numbers = (size_t)t->rows * (size_t)t->stride;
  size_t indices = 4 * n + 4;
  b->level_numbers = numbers;
  b->level_indices = indices;
  size_t bytes = n * (numbers * sizeof(double) + indices * sizeof(int32_t) + 2 * n + 8) + 2 * n;
  CNI_TRY(cni_block_memory_reserve(&b->allocator, &b->memory, bytes));
  b->numbers = b->memory.data;
  b->indices = (int32_t *)(b->numbers + n * numbers);
  b->other = b->indices + n * indices;
  b->fixed_at = (uint8_t *)(b->other + n);
  b->fixed = b->fixed_at + 2 * n * n;
  return CN_OK;
}

// ---- the simplex method ----

// The free column of least variable whose coefficient in `row` has the sign of `sign`; 0 if none.
static int32_t entering_column(const CniBranch *b, int32_t row, double sign) {
  const CniTableau *t = b->t;
  const double *x = cni_tableau_row(t, row);
  int32_t best = 0;
  for (int32_t j = 1; j <= t->columns; j++) {
    if (b->fixed[t->column[j]] || !(sign * x[j] > PIVOT_LEAST)) continue;
    if (best == 0 || t->column[j] < t->column[best]) best = j;
  }
  return best;
}

// The row that blocks the variable of `column`, among those that are not negative; `row` itself,
// which may be negative and rising to zero, wins ties, otherwise the least variable. -1: none.
static int32_t leaving_row(const CniBranch *b, int32_t column, int32_t row) {
  const CniTableau *t = b->t;
  int32_t best = -1;
  double least = INFINITY;
  const double *own = cni_tableau_row(t, row);
  if ((own[0] < 0) == (own[column] > 0)) {
    best = row;
    least = -own[0] / own[column];
  }
  for (int32_t i = 0; i < t->rows; i++) {
    const double *x = cni_tableau_row(t, i);
    if (i == row || x[0] < -ZERO || !(x[column] < -PIVOT_LEAST)) continue;
    double ratio = cn_max(0, x[0]) / -x[column];
    int tie = best >= 0 && fabs(ratio - least) <= ZERO * (1 + least);
    if (tie ? best == row || t->basic[i] > t->basic[best] : !(ratio < least)) continue;
    best = i;
    least = ratio;
  }
  return best;
}

static Step pivot(CniBranch *b, int32_t row, int32_t column) {
  if (b->pivots >= b->max_pivots) return STEP_LIMIT;
  b->pivots++;
  cni_tableau_pivot(b->t, row, column);
  return STEP_DONE;
}

// Move the variable of a row to zero from above (sign -1) or from below (sign 1).
static Step drive_to_zero(CniBranch *b, int32_t variable, double sign) {
  CniTableau *t = b->t;
  while (t->place[variable] >= 0) {
    int32_t row = t->place[variable];
    double value = cni_tableau_row(t, row)[0];
    if (sign > 0 && value >= -ZERO) return STEP_DONE;
    int32_t column = entering_column(b, row, sign);
    if (column == 0 && fabs(value) <= ZERO) return STEP_DONE; // zero, and nothing changes it
    if (column == 0) return STEP_CLOSED;
    int32_t leaving = leaving_row(b, column, row);
    if (leaving < 0) return STEP_CLOSED;
    Step step = pivot(b, leaving, column);
    if (step != STEP_DONE) return step;
  }
  return STEP_DONE;
}

// A vertex of w >= 0, z >= 0.
static Step first_vertex(CniBranch *b) {
  CniTableau *t = b->t;
  for (int32_t i = 0; i < t->rows; i++) {
    if (cni_tableau_row(t, i)[0] >= -ZERO) continue;
    Step step = drive_to_zero(b, t->basic[i], 1);
    if (step != STEP_DONE) return step;
    i = -1; // rows have changed their places
  }
  return STEP_DONE;
}

// ---- cases ----

// The pair that violates complementarity most, -1 if none does.
static int32_t worst_pair(const CniBranch *b) {
  const CniTableau *t = b->t;
  int32_t worst = -1;
  double most = ZERO;
  for (int32_t k = 0; k < t->pairs; k++) {
    if (b->fixed[2 * k] || b->fixed[2 * k + 1]) continue;
    double both = cn_min(cni_tableau_value(t, 2 * k), cni_tableau_value(t, 2 * k + 1));
    if (both > most) {
      most = both;
      worst = k;
    }
  }
  return worst;
}

// The tableau and what is fixed to the store of a depth, or back from there.
static void copy_level(CniBranch *b, int32_t depth, int back) {
  CniTableau *t = b->t;
  size_t n = (size_t)t->pairs;
  int32_t *indices = b->indices + (size_t)depth * b->level_indices;
  const struct {
    void *live, *kept;
    size_t bytes;
  } parts[] = {
      {t->a, b->numbers + (size_t)depth * b->level_numbers, b->level_numbers * sizeof *t->a},
      {t->basic, indices, n * sizeof *indices},
      {t->column, indices + n, (n + 1) * sizeof *indices},
      {t->place, indices + 2 * n + 1, 2 * n * sizeof *indices},
      {b->fixed, b->fixed_at + 2 * (size_t)depth * n, 2 * n}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    memcpy(back ? parts[i].live : parts[i].kept, back ? parts[i].kept : parts[i].live,
           parts[i].bytes);
}

static Step fix(CniBranch *b, int32_t variable) {
  Step step = drive_to_zero(b, variable, -1);
  if (step == STEP_DONE) b->fixed[variable] = 1;
  return step;
}

// Open the two cases of a pair: the smaller variable first.
static Step open_cases(CniBranch *b, int32_t pair) {
  int32_t first = 2 * pair;
  if (cni_tableau_value(b->t, first + 1) < cni_tableau_value(b->t, first)) first++;
  copy_level(b, b->depth, 0);
  b->other[b->depth++] = first ^ 1;
  return fix(b, first);
}

// Back to the last pair with a case that has not been tried.
static Step next_case(CniBranch *b) {
  while (b->depth > 0) {
    copy_level(b, --b->depth, 1);
    Step step = fix(b, b->other[b->depth]);
    if (step != STEP_CLOSED) return step;
  }
  return STEP_CLOSED;
}

static CniBranchEnd end_of(Step step) {
  return step == STEP_LIMIT ? CNI_BRANCH_LIMIT : CNI_BRANCH_NONE;
}

static CniBranchEnd search(CniBranch *b) {
  for (;;) {
    int32_t pair = worst_pair(b);
    if (pair < 0) return CNI_BRANCH_FOUND;
    Step step = open_cases(b, pair);
    if (step == STEP_CLOSED) step = next_case(b);
    if (step != STEP_DONE) return end_of(step);
  }
}

CniBranchEnd cni_branch_start(CniBranch *b, CniTableau *t, int32_t max_pivots) {
  b->t = t;
  b->depth = b->pivots = 0;
  b->max_pivots = max_pivots;
  memset(b->fixed, 0, 2 * (size_t)t->pairs);
  Step step = first_vertex(b);
  return step == STEP_DONE ? search(b) : end_of(step);
}

CniBranchEnd cni_branch_next(CniBranch *b) {
  Step step = next_case(b);
  return step == STEP_DONE ? search(b) : end_of(step);
}
