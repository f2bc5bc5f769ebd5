// SPDX-License-Identifier: Apache-2.0
// Lemke's path: complementary pivoting with an artificial variable.
//
//     w = q + M z + d z0,   d > 0
//
// With z0 large enough z = 0 is feasible. z0 enters against the most negative row; from then on the
// partner of the variable that has just left enters, until z0 itself leaves (a solution) or nothing
// blocks the entering variable (a ray). For positive semidefinite and copositive-plus M a ray means
// that the problem has no solution; for merely copositive M it means nothing.
//
// Degenerate problems would let the path cycle. The lexicographic rule follows the path of
// the problem with q + (e, e^2, e^3, ...), e infinitely small: among rows of equal ratio the one
// with the least row of the inverse basis, divided by the same pivot. The columns of the inverse
// are those of the w (with opposite sign); a basic w has a unit column.
//
// Reference: Cottle, Pang, Stone, The Linear Complementarity Problem, section 4.4.
#include "solver/pivots/lcp.h"

#include "core/vec.h"

// The tableau is scaled: entries and right-hand side are about 1 at the start.
#define PIVOT_LEAST 1e-11 // smaller pivots, also relative to their column, are round-off
#define TIE 1e-11         // ratios closer than this are equal

// The entering column and the constants, in the tableau or beside it.
typedef struct Path {
  CniTableau *t;
  CniDelayed *delayed; // null: pivots are made at once
  double *constant, *column;
  int32_t step; // from one row to the next in both
  int32_t column_index;
  int32_t artificial;
} Path;

static void enter(Path *path, int32_t column) {
  CniTableau *t = path->t;
  path->column_index = column;
  if (path->delayed) {
    cni_delayed_column(path->delayed, t, column);
    path->constant = path->delayed->constant;
    path->column = path->delayed->column;
    path->step = 1;
  } else {
    path->constant = t->a;
    path->column = t->a + column;
    path->step = t->stride;
  }
}

static void pivot(Path *path, int32_t row) {
  if (path->delayed)
    cni_delayed_pivot(path->delayed, path->t, row, path->column_index);
  else
    cni_tableau_pivot(path->t, row, path->column_index);
}

static double entry(const Path *path, int32_t row, int32_t column) {
  return path->delayed ? cni_delayed_entry(path->delayed, path->t, row, column)
                       : cni_tableau_row(path->t, row)[column];
}

// 1 if row a of the perturbed right-hand side, divided by its pivot, is less than that of row b.
// Quotients are compared by products: both pivots are positive.
static int before(const Path *path, int32_t a, int32_t b) {
  double pivot_a = -path->column[(int64_t)a * path->step];
  double pivot_b = -path->column[(int64_t)b * path->step], both = pivot_a * pivot_b;
  for (int32_t k = 0; k < path->t->pairs; k++) {
    // column w_k of the inverse basis: a unit column, or minus that of the tableau
    int32_t place = path->t->place[2 * k];
    if (place == a) return 0;
    if (place == b) return 1;
    if (place >= 0) continue;
    double x = -entry(path, a, -place) * pivot_b, y = -entry(path, b, -place) * pivot_a;
    if (fabs(x - y) > TIE * (both + fabs(x) + fabs(y))) return x < y;
  }
  return a < b;
}

// The row that blocks the entering variable first, among those whose pivot is above `least`; -1 if
// there is none. The artificial variable leaves whenever it may. `largest` becomes the size of the
// largest entry of the column.
static int32_t blocking_above(Path *path, double least, double *largest) {
  const int32_t *basic = path->t->basic;
  int32_t best = -1, step = path->step;
  double shortest = INFINITY, margin = INFINITY, size = 0;
  for (int32_t i = 0; i < path->t->rows; i++) {
    double *constant = path->constant + (int64_t)i * step;
    double entry = -path->column[(int64_t)i * step];
    if (fabs(entry) > size) size = fabs(entry);
    if (!(entry > least)) continue;
    if (*constant < 0) *constant = 0; // round-off
    double ratio = *constant / entry;
    if (ratio > shortest + margin) continue;
    // within the margin the rows are equal and the rule decides
    if (best >= 0 && ratio >= shortest - margin &&
        (basic[best] == path->artificial ||
         (basic[i] != path->artificial && !before(path, i, best))))
      continue;
    best = i;
    shortest = ratio;
    margin = TIE * (1 + ratio);
  }
  *largest = size;
  return best;
}

// Pivots that are round-off beside the rest of their column are no pivots.
static int32_t blocking_row(Path *path) {
  double largest;
  int32_t row = blocking_above(path, PIVOT_LEAST, &largest);
  if (row < 0 || -path->column[(int64_t)row * path->step] > PIVOT_LEAST * largest) return row;
  return blocking_above(path, PIVOT_LEAST * largest, &largest);
}

// The row of least q/d, the last of equals: then all other rows stay lexicographically positive.
static int32_t first_row(const CniTableau *t, int32_t column) {
  int32_t worst = -1;
  double least = 0;
  for (int32_t i = 0; i < t->rows; i++) {
    const double *row = cni_tableau_row(t, i);
    if (!(row[0] < 0)) continue;
    double ratio = row[0] / row[column];
    if (worst < 0 || ratio <= least) {
      worst = i;
      least = ratio;
    }
  }
  return worst;
}

static CniPathEnd follow(Path *path, int32_t row, int32_t max_pivots, int32_t *pivots) {
  for (int32_t count = 0; count < max_pivots; count++) {
    int32_t leaving = path->t->basic[row];
    pivot(path, row);
    ++*pivots;
    if (leaving == path->artificial) return CNI_PATH_SOLVED;
    enter(path, -path->t->place[leaving ^ 1]);
    row = blocking_row(path);
    if (row < 0) return CNI_PATH_RAY;
  }
  return CNI_PATH_LIMIT;
}

// How z changes along the ray of the entering variable.
static void store_ray(const Path *path, double *ray) {
  const CniTableau *t = path->t;
  for (int32_t k = 0; k < t->pairs; k++) {
    int32_t place = t->place[2 * k + 1];
    ray[k] = place >= 0 ? path->column[(int64_t)place * path->step] : -place == path->column_index;
  }
}

CniPathEnd cni_lemke_path(CniTableau *t, const double *cover, double *delayed, int32_t max_pivots,
                          int32_t *pivots, double *ray) {
  int32_t column = ++t->columns, artificial = 2 * t->pairs;
  t->column[column] = artificial;
  t->place[artificial] = -column;
  for (int32_t i = 0; i < t->rows; i++) cni_tableau_row(t, i)[column] = cover ? cover[i] : 1;
  int32_t row = first_row(t, column);
  if (row < 0) return CNI_PATH_SOLVED;

  CniDelayed kept;
  Path path = {.t = t, .delayed = delayed ? &kept : NULL, .artificial = artificial};
  if (delayed) cni_delayed_start(&kept, t, delayed);
  enter(&path, column);
  CniPathEnd end = follow(&path, row, max_pivots, pivots);
  if (end == CNI_PATH_RAY) store_ray(&path, ray);
  if (delayed) cni_delayed_finish(&kept, t);
  return end;
}
