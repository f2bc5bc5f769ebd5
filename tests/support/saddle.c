// SPDX-License-Identifier: Apache-2.0
// Builders of saddle matrices. See saddle.h.
#include "saddle.h"

#include "check.h"
#include "core/rng.h"

#include <stdlib.h>
#include <string.h>

void saddle_add(SaddleList *list, int32_t i, int32_t j, double value) {
  if (list->count == list->capacity) {
    list->capacity = 2 * list->capacity + 64;
    list->entry = realloc(list->entry, (size_t)list->capacity * sizeof *list->entry);
    CHECK(list->entry != NULL);
  }
  list->entry[list->count++] = (CniTriplet){i > j ? i : j, i > j ? j : i, value};
}

Saddle saddle_build(SaddleList *list, int32_t n, const int8_t *sign) {
  const CnAllocator a = cn_allocator_default();
  Saddle m;
  CHECK_OK(cni_sparse_build(&a, n, n, list->entry, list->count, &m.upper));
  m.sign = malloc((size_t)n + 1);
  memcpy(m.sign, sign, (size_t)n);
  free(list->entry);
  *list = (SaddleList){0};
  return m;
}

void saddle_release(Saddle *m) {
  const CnAllocator a = cn_allocator_default();
  cni_sparse_release(&a, &m->upper);
  free(m->sign);
}

// A matrix in the making: bodies first, then rows as they come.
typedef struct Maker {
  SaddleList list;
  int8_t *sign;
  CniRng rng;
  int32_t row, rows;
  double compliance;
} Maker;

static Maker begin(int32_t bodies, int32_t joints, int32_t rows, double compliance) {
  Maker m = {.rng = {5}, .row = 6 * bodies, .rows = rows, .compliance = compliance};
  m.sign = malloc((size_t)(6 * bodies + rows * joints));
  memset(m.sign, 1, (size_t)(6 * bodies));
  for (int32_t i = 0; i < 6 * bodies; i++) saddle_add(&m.list, i, i, i % 6 < 3 ? 2 : .3);
  return m;
}

static void join(Maker *m, int32_t a, int32_t b) { // a < 0: the ground
  for (int32_t r = 0; r < m->rows; r++, m->row++) {
    m->sign[m->row] = -1;
    if (m->compliance > 0) saddle_add(&m->list, m->row, m->row, -m->compliance);
    for (int32_t k = 0; k < 12; k++) {
      double value = cni_rng_range(&m->rng, -1, 1);
      if (k < 6) saddle_add(&m->list, m->row, 6 * b + k, value);
      if (k >= 6 && a >= 0) saddle_add(&m->list, m->row, 6 * a + k - 6, value);
    }
  }
}

static Saddle end(Maker *m) {
  Saddle s = saddle_build(&m->list, m->row, m->sign);
  free(m->sign);
  return s;
}

Saddle saddle_grid(int32_t across, int32_t along, int32_t up, int32_t rows, double compliance) {
  int32_t bodies = across * along * up;
  Maker m = begin(bodies, 3 * bodies + 1, rows, compliance);
  join(&m, -1, 0);
  for (int32_t b = 0; b < bodies; b++) {
    int32_t x = b % across, y = b / across % along, z = b / across / along;
    if (x + 1 < across) join(&m, b, b + 1);
    if (y + 1 < along) join(&m, b, b + across);
    if (z + 1 < up) join(&m, b, b + across * along);
  }
  return end(&m);
}

Saddle saddle_tree(int32_t bodies, int32_t branches, int32_t rows, double compliance) {
  Maker m = begin(bodies, bodies, rows, compliance);
  for (int32_t b = 0; b < bodies; b++) join(&m, b == 0 ? -1 : (b - 1) / branches, b);
  return end(&m);
}
