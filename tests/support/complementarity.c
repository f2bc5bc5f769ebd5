// SPDX-License-Identifier: Apache-2.0
#include "complementarity.h"

#include "check.h"
#include "solving.h"

#include "core/vec.h"

#include <string.h>

CnProblem *small_problem(const SmallLcp *lcp) {
  CnSet sets[SMALL_ROWS];
  int32_t dims[SMALL_ROWS];
  for (int32_t i = 0; i < lcp->size; i++) {
    sets[i] = cn_set_default(i < lcp->equalities ? CN_BLOCK_BILATERAL : CN_BLOCK_UNILATERAL);
    dims[i] = 1;
  }
  return dense_problem(lcp->size, lcp->w, lcp->q, sets, dims, lcp->size, CN_FRICTION_COULOMB);
}

double small_error(const SmallLcp *lcp, const double *g) {
  double error = 0, size = 0;
  for (int32_t i = 0; i < lcp->size; i++) {
    double u = lcp->q[i];
    for (int32_t j = 0; j < lcp->size; j++) u += lcp->w[i * lcp->size + j] * g[j];
    double e = i < lcp->equalities || u < g[i] ? u : g[i];
    error += e * e;
    size += lcp->q[i] * lcp->q[i];
  }
  return size > 0 ? sqrt(error / size) : sqrt(error);
}

// ---- all combinations ----

#define COLUMNS (2 * SMALL_ROWS)
#define ZERO 1e-9

// Is there x >= 0 with A x = b? Phase one of the simplex method with Bland's rule, the artificial
// basis being columns that are never entered again.
static int has_point(int32_t rows, int32_t columns, double a[SMALL_ROWS][COLUMNS + 1]) {
  int32_t basis[SMALL_ROWS];
  for (int32_t i = 0; i < rows; i++) {
    basis[i] = columns + i;
    if (a[i][columns] < 0)
      for (int32_t j = 0; j <= columns; j++) a[i][j] = -a[i][j];
  }
  for (;;) {
    // the first column that lowers the sum of the artificial variables
    int32_t enter = -1, leave = -1;
    double sum = 0;
    for (int32_t j = 0; j <= columns && enter < 0; j++) {
      sum = 0;
      for (int32_t i = 0; i < rows; i++)
        if (basis[i] >= columns) sum += a[i][j];
      if (j < columns && sum > ZERO) enter = j;
    }
    if (enter < 0) return sum <= ZERO * 10;
    for (int32_t i = 0; i < rows; i++) {
      if (a[i][enter] <= ZERO) continue;
      double gap =
          leave < 0 ? -1 : a[i][columns] / a[i][enter] - a[leave][columns] / a[leave][enter];
      if (gap < -1e-12 || (gap < 1e-12 && basis[i] < basis[leave])) leave = i;
    }
    if (leave < 0) return 0; // cannot be: the sum is bounded below
    double pivot = a[leave][enter];
    for (int32_t j = 0; j <= columns; j++) a[leave][j] /= pivot;
    for (int32_t i = 0; i < rows; i++) {
      double f = a[i][enter];
      if (i == leave || f == 0) continue;
      for (int32_t j = 0; j <= columns; j++) a[i][j] -= f * a[leave][j];
    }
    basis[leave] = enter;
  }
}

// u - W g = q with the sides of `mask`: bit k set means u = 0 and g >= 0 in complementarity row k.
static int side_has_point(const SmallLcp *lcp, uint32_t mask) {
  double a[SMALL_ROWS][COLUMNS + 1];
  int32_t n = lcp->size, columns = 0;
  memset(a, 0, sizeof a);
  for (int32_t j = 0; j < n; j++) {
    int free = j < lcp->equalities, pushes = free || mask >> (j - lcp->equalities) & 1;
    if (!pushes) a[j][columns] = 1;
    for (int32_t i = 0; pushes && i < n; i++) a[i][columns] = -lcp->w[i * n + j];
    columns++;
    for (int32_t i = 0; free && i < n; i++) a[i][columns] = lcp->w[i * n + j];
    columns += free;
  }
  for (int32_t i = 0; i < n; i++) a[i][columns] = lcp->q[i];
  return has_point(n, columns, a);
}

int small_solvable(const SmallLcp *lcp) {
  uint32_t count = 1u << (lcp->size - lcp->equalities);
  for (uint32_t mask = 0; mask < count; mask++)
    if (side_has_point(lcp, mask)) return 1;
  return 0;
}

// ---- at random ----

const char *small_kind_name(SmallKind kind) {
  static const char *const names[SMALL_KIND_COUNT] = {
      "P", "semidefinite", "degenerate", "copositive-plus", "infeasible", "copositive", "any"};
  return names[kind];
}

static int32_t whole(CniRng *rng, int32_t low, int32_t high) {
  return low + (int32_t)(cni_rng_unit(rng) * (high - low + 1));
}

// w += B B^T + K, B of rank `rank`, K skew; of whole numbers if `grid`.
static void add_semidefinite(CniRng *rng, SmallLcp *lcp, int32_t rank, int grid) {
  int32_t n = lcp->size;
  double b[SMALL_ROWS * SMALL_ROWS];
  for (int32_t i = 0; i < n * rank; i++)
    b[i] = grid ? whole(rng, -1, 1) : cni_rng_range(rng, -1, 1);
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < n; j++)
      for (int32_t k = 0; k < rank; k++) lcp->w[i * n + j] += b[i * rank + k] * b[j * rank + k];
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < i; j++) {
      double skew = grid ? whole(rng, -1, 1) : cni_rng_range(rng, -1, 1);
      lcp->w[i * n + j] += skew;
      lcp->w[j * n + i] -= skew;
    }
}

static void make_copositive_plus(CniRng *rng, SmallLcp *lcp) {
  int32_t n = lcp->size, part = whole(rng, 1, n);
  // [C -A^T; A 0] with C >= 0 and a positive diagonal
  for (int32_t i = 0; i < part; i++)
    for (int32_t j = 0; j < part; j++)
      lcp->w[i * n + j] = i == j ? cni_rng_range(rng, .1, 1) : cni_rng_range(rng, 0, 2);
  for (int32_t i = part; i < n; i++)
    for (int32_t j = 0; j < part; j++) {
      lcp->w[i * n + j] = whole(rng, -1, 1);
      lcp->w[j * n + i] = -lcp->w[i * n + j];
    }
}

SmallLcp small_random(CniRng *rng, SmallKind kind, int32_t size) {
  SmallLcp lcp = {.size = size};
  int grid = kind == SMALL_DEGENERATE || kind == SMALL_COPOSITIVE || kind == SMALL_ANY;
  for (int32_t i = 0; i < size; i++)
    lcp.q[i] = grid ? whole(rng, -2, 2) : cni_rng_range(rng, -1, 1);
  switch (kind) {
  case SMALL_P:
    add_semidefinite(rng, &lcp, size, 0);
    for (int32_t i = 0; i < size; i++) lcp.w[i * size + i] += .1;
    break;
  case SMALL_SEMIDEFINITE:
  case SMALL_DEGENERATE:
    add_semidefinite(rng, &lcp, whole(rng, 0, size - 1), grid);
    break;
  case SMALL_COPOSITIVE_PLUS:
    make_copositive_plus(rng, &lcp);
    break;
  case SMALL_INFEASIBLE: {
    // one row that no impulse makes positive
    int32_t row = whole(rng, 0, size - 1);
    add_semidefinite(rng, &lcp, size, 0);
    for (int32_t j = 0; j < size; j++) lcp.w[row * size + j] = -fabs(lcp.w[row * size + j]);
    lcp.q[row] = -cni_rng_range(rng, .1, 1);
    break;
  }
  case SMALL_COPOSITIVE:
    for (int32_t i = 0; i < size * size; i++) lcp.w[i] = cn_max(0, whole(rng, -3, 2));
    break;
  default:
    for (int32_t i = 0; i < size * size; i++) lcp.w[i] = whole(rng, -2, 2);
  }
  return lcp;
}

// Rows of equalities are replaced by combinations of them.
static void mix_equalities(CniRng *rng, SmallLcp *lcp) {
  for (int32_t i = 0; i < lcp->equalities; i++) {
    int32_t other = whole(rng, 0, lcp->equalities - 1);
    double f = other == i ? -1 : whole(rng, -1, 1);
    for (int32_t j = 0; j < lcp->size; j++) {
      double *x = &lcp->w[i * lcp->size + j];
      *x = other == i ? -*x : *x + f * lcp->w[other * lcp->size + j];
    }
    lcp->q[i] = other == i ? -lcp->q[i] : lcp->q[i] + f * lcp->q[other];
  }
}

SmallLcp small_random_mixed(CniRng *rng) {
  SmallLcp lcp = {.size = 0};
  lcp.equalities = whole(rng, 1, 4);
  lcp.size = lcp.equalities + whole(rng, 1, 6);
  int32_t n = lcp.size, e = lcp.equalities, grid = whole(rng, 0, 1);
  add_semidefinite(rng, &lcp, whole(rng, 0, n - 1), grid);

  // voltages against currents: the equality block has no diagonal part of its own, or is a single
  // row repeated
  int repeated = e > 1 && whole(rng, 0, 2) == 0;
  for (int32_t i = 0; i < n; i++) lcp.q[i] = grid ? whole(rng, -2, 2) : cni_rng_range(rng, -1, 1);
  for (int32_t i = 0; i < e; i++)
    for (int32_t j = 0; j < n; j++) {
      if (!repeated && j < e) lcp.w[i * n + j] = 0;
      if (!repeated && j >= e) lcp.w[i * n + j] = -lcp.w[j * n + i];
      if (repeated && i == 1) lcp.w[n + j] = lcp.w[j];
    }
  if (repeated && whole(rng, 0, 3) > 0) lcp.q[1] = lcp.q[0];
  mix_equalities(rng, &lcp);
  return lcp;
}
