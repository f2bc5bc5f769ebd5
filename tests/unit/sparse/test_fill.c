// SPDX-License-Identifier: Apache-2.0
// The quality of the minimum-degree order: entries of L at most 1.15 times those of libamd's order,
// on saddle matrices of chains, trees, grids and piles and on random graphs. Rows have compliance:
// without it some must wait for their bodies, which libamd's order, of no use to static pivots
// then, does not. Skipped where libamd is not installed.
#include "check.h"
#include "core/rng.h"
#include "saddle.h"

#include <stdio.h>
#include <stdlib.h>

#ifndef TEST_AMD
static void fill(void **state) {
  (void)state;
  skip();
}
#else
#include <amd.h>

static void compare(const char *name, Saddle m) {
  const CnAllocator a = cn_allocator_default();
  int32_t n = m.upper.row_count;
  int32_t *ours = malloc((size_t)n * sizeof *ours), *theirs = malloc((size_t)n * sizeof *theirs);
  CHECK_OK(cni_ldl_find_order(&a, &m.upper, m.sign, NULL, ours));
  CHECK(amd_order(n, m.upper.start, m.upper.column, theirs, NULL, NULL) >= AMD_OK);
  double fill_ours = (double)cni_ldl_count_fill(&a, &m.upper, ours);
  double fill_theirs = (double)cni_ldl_count_fill(&a, &m.upper, theirs);
  print_message("%-24s %7d rows, %9.0f entries, libamd %9.0f: %.3f\n", name, n, fill_ours,
                fill_theirs, fill_ours / fill_theirs);
  CHECK(fill_ours <= 1.15 * fill_theirs);
  free(ours);
  free(theirs);
  saddle_release(&m);
}

// Spheres in a box, random contacts between near ones: each row acts on the three coordinates of
// two bodies.
static Saddle pile(int32_t bodies, int32_t contacts_per_body, int32_t rows) {
  SaddleList list = {0};
  CniRng rng = {77};
  int32_t contacts = bodies * contacts_per_body, n = 6 * bodies + rows * contacts, row = 6 * bodies;
  int32_t side = (int32_t)ceil(pow(bodies, 1 / 3.));
  int8_t *sign = malloc((size_t)n);
  for (int32_t i = 0; i < n; i++) sign[i] = i < 6 * bodies ? 1 : -1;
  for (int32_t i = 0; i < 6 * bodies; i++) saddle_add(&list, i, i, 1);
  for (int32_t c = 0; c < contacts; c++) {
    int32_t body = c / contacts_per_body;
    int32_t step = (int32_t)cni_rng_range(&rng, 0, 3), far = step == 0   ? 1
                                                             : step == 1 ? side
                                                                         : side * side;
    if (cni_rng_unit(&rng) < .3) far += cni_rng_unit(&rng) < .5 ? 1 : side;
    for (int32_t r = 0; r < rows; r++, row++) {
      saddle_add(&list, row, row, -1);
      for (int32_t k = 0; k < 6; k++) {
        saddle_add(&list, row, 6 * body + k, 1);
        if (body + far < bodies) saddle_add(&list, row, 6 * (body + far) + k, 1);
      }
    }
  }
  Saddle m = saddle_build(&list, n, sign);
  free(sign);
  return m;
}

static Saddle random_graph(int32_t n, int32_t per_row) {
  SaddleList list = {0};
  CniRng rng = {7};
  int8_t *sign = malloc((size_t)n);
  for (int32_t i = 0; i < n; i++) {
    sign[i] = 1;
    saddle_add(&list, i, i, 9);
    for (int32_t k = 0; k < per_row; k++) {
      int32_t j = (int32_t)cni_rng_range(&rng, 0, n);
      if (j != i) saddle_add(&list, i, j, .1);
    }
  }
  Saddle m = saddle_build(&list, n, sign);
  free(sign);
  return m;
}

static void fill(void **state) {
  (void)state;
  compare("chain of joints", saddle_grid(1, 1000, 1, 5, 1e-3));
  compare("tree of joints", saddle_tree(1000, 3, 5, 1e-3));
  compare("chain of contacts", saddle_grid(1, 3000, 1, 1, 1e-3));
  compare("grid 30 x 30", saddle_grid(30, 30, 1, 2, 1e-3));
  compare("grid 60 x 60, contacts", saddle_grid(60, 60, 1, 1, 1e-3));
  compare("grid 10 x 10 x 10", saddle_grid(10, 10, 10, 1, 1e-3));
  compare("pile of 500", pile(500, 3, 1));
  compare("pile of 1000, friction", pile(1000, 3, 3));
  compare("random graph", random_graph(2000, 2));
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(fill)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
