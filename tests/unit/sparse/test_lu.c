// SPDX-License-Identifier: Apache-2.0
// LU of block matrices: solutions of random sparse and dense systems, graphs that fall apart,
// singular matrices, the same bits from a second use.
#include "check.h"

#include "core/rng.h"
#include "sparse/lu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NODES 60

typedef struct System {
  int32_t size[NODES], start[NODES + 1], column[NODES * NODES];
  CniLuGraph graph;
  double *values;
  int32_t rows;
} System;

// A random graph with about `degree` neighbours a node; blocks diagonally dominant where asked.
static void make_system(System *s, int32_t nodes, double degree, double diagonal, CniRng *rng) {
  static uint8_t edge[NODES][NODES];
  memset(edge, 0, sizeof edge);
  s->rows = 0;
  for (int32_t i = 0; i < nodes; i++) {
    s->size[i] = 1 + (int32_t)cni_rng_range(rng, 0, 6);
    s->rows += s->size[i];
    for (int32_t j = 0; j < i; j++)
      if (cni_rng_unit(rng) < degree / nodes) edge[i][j] = edge[j][i] = 1;
  }
  int32_t count = 0, numbers = 0;
  for (int32_t i = 0; i < nodes; i++) {
    s->start[i] = count;
    numbers += s->size[i] * s->size[i];
    for (int32_t j = 0; j < nodes; j++) {
      if (!edge[i][j]) continue;
      s->column[count++] = j;
      numbers += s->size[i] * s->size[j];
    }
  }
  s->start[nodes] = count;
  s->graph = (CniLuGraph){nodes, s->size, s->start, s->column};
  s->values = malloc((size_t)numbers * sizeof *s->values);
  assert_non_null(s->values);
  double *at = s->values;
  for (int32_t i = 0; i < nodes; i++) {
    for (int32_t k = 0; k < s->size[i] * s->size[i]; k++)
      *at++ = cni_rng_range(rng, -1, 1) + (k % (s->size[i] + 1) == 0 ? diagonal : 0);
    for (int32_t e = s->start[i]; e < s->start[i + 1]; e++)
      for (int32_t k = 0; k < s->size[i] * s->size[s->column[e]]; k++)
        *at++ = cni_rng_range(rng, -1, 1);
  }
}

static void multiply(const System *s, const double *x, double *y) {
  int32_t first[NODES + 1] = {0};
  const double *at = s->values;
  for (int32_t i = 0; i < s->graph.node_count; i++) first[i + 1] = first[i] + s->size[i];
  memset(y, 0, (size_t)s->rows * sizeof *y);
  for (int32_t i = 0; i < s->graph.node_count; i++)
    for (int32_t e = s->start[i] - 1; e < s->start[i + 1]; e++) {
      int32_t j = e < s->start[i] ? i : s->column[e];
      for (int32_t a = 0; a < s->size[i]; a++)
        for (int32_t b = 0; b < s->size[j]; b++) y[first[i] + a] += *at++ * x[first[j] + b];
    }
}

static double solve(CniLu *lu, const System *s, double *x) {
  static double b[6 * NODES];
  double worst = 0;
  for (int32_t i = 0; i < s->rows; i++) x[i] = b[i] = 1 + i % 7;
  CHECK(cni_lu_analyse(lu, &s->graph) == CN_OK);
  CHECK(cni_lu_factor(lu, s->values, 0));
  cni_lu_solve(lu, x);
  static double y[6 * NODES];
  multiply(s, x, y);
  for (int32_t i = 0; i < s->rows; i++) worst = fmax(worst, fabs(y[i] - b[i]));
  return worst;
}

static void random_systems(void **state) {
  (void)state;
  CnAllocator allocator = cn_allocator_default();
  CniLu *lu;
  CHECK(cni_lu_create(&allocator, &lu) == CN_OK);
  CniRng rng = {7};
  static const double degrees[] = {0, 0.7, 1.5, 3, 8, 1e9};
  static const int32_t counts[] = {1, 2, 9, 30, NODES};
  for (size_t d = 0; d < sizeof degrees / sizeof degrees[0]; d++)
    for (size_t n = 0; n < sizeof counts / sizeof counts[0]; n++) {
      System s;
      static double x[6 * NODES], again[6 * NODES];
      make_system(&s, counts[n], degrees[d], 12, &rng);
      CHECK_NEAR(solve(lu, &s, x), 0, 1e-10);
      solve(lu, &s, again);
      CHECK(memcmp(x, again, (size_t)s.rows * sizeof *x) == 0);
      free(s.values);
    }
  cni_lu_destroy(lu);
}

// A chain eliminated from its ends has no fill beyond its fronts.
static void chain_stays_sparse(void **state) {
  (void)state;
  CnAllocator allocator = cn_allocator_default();
  enum { LENGTH = 1000 };
  static int32_t size[LENGTH], start[LENGTH + 1], column[2 * LENGTH];
  int32_t count = 0;
  for (int32_t i = 0; i < LENGTH; i++) {
    size[i] = 3;
    start[i] = count;
    if (i > 0) column[count++] = i - 1;
    if (i + 1 < LENGTH) column[count++] = i + 1;
  }
  start[LENGTH] = count;
  CniLuGraph graph = {LENGTH, size, start, column};
  CniLu *lu;
  CHECK(cni_lu_create(&allocator, &lu) == CN_OK);
  CHECK(cni_lu_analyse(lu, &graph) == CN_OK);
  CHECK(cni_lu_fill(lu) < (int64_t)LENGTH * 120);
  cni_lu_destroy(lu);
}

static void singular_is_told(void **state) {
  (void)state;
  CnAllocator allocator = cn_allocator_default();
  CniRng rng = {3};
  System s;
  CniLu *lu;
  make_system(&s, 5, 2, 12, &rng);
  memset(s.values, 0, sizeof(double) * (size_t)(s.size[0] * s.size[0]));
  for (int32_t e = s.start[0], at = s.size[0] * s.size[0]; e < s.start[1]; e++)
    for (int32_t k = 0; k < s.size[0] * s.size[s.column[e]]; k++) s.values[at++] = 0;
  CHECK(cni_lu_create(&allocator, &lu) == CN_OK);
  CHECK(cni_lu_analyse(lu, &s.graph) == CN_OK);
  CHECK(!cni_lu_factor(lu, s.values, 1e-300));
  cni_lu_destroy(lu);
  free(s.values);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_systems),
      cmocka_unit_test(chain_stays_sparse),
      cmocka_unit_test(singular_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
