// SPDX-License-Identifier: Apache-2.0
// Time a row of factoring and solving the saddle matrix of mechanisms without loops: chains and
// trees of bodies with joints of five rows, 10 to 100,000 bodies. The matrices have as many entries
// a row whatever their size, and so have the factors.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bodies.h"
#include "core/rng.h"
#include "sparse/sparse.h"

#define JOINT_ROWS 5
#define LEAST_TIME .02 // s that small ones are repeated for

typedef struct Mechanism {
  CnSparse upper;
  int8_t *sign;
  double *b;
} Mechanism;

// Body i hangs on body (i - 1)/branches, body 0 on the ground.
static int build(int32_t bodies, int32_t branches, Mechanism *m) {
  const CnAllocator a = cn_allocator_default();
  CniRng rng = {5};
  int32_t n = (6 + JOINT_ROWS) * bodies, count = 0, row = 6 * bodies;
  CniTriplet *list = malloc((size_t)bodies * (6 + 13 * JOINT_ROWS) * sizeof *list);
  m->sign = malloc((size_t)n);
  m->b = malloc((size_t)n * sizeof *m->b);
  if (!list || !m->sign || !m->b) {
    free(list);
    return 0;
  }
  for (int32_t i = 0; i < 6 * bodies; i++) list[count++] = (CniTriplet){i, i, i % 6 < 3 ? 2 : .3};
  for (int32_t i = 0; i < bodies; i++)
    for (int32_t r = 0; r < JOINT_ROWS; r++, row++)
      for (int32_t k = 0; k < 12; k++) {
        int32_t body = k < 6 ? i : i == 0 ? -1 : (i - 1) / branches;
        double value = cni_rng_range(&rng, -1, 1);
        if (body >= 0) list[count++] = (CniTriplet){row, 6 * body + k % 6, value};
      }
  for (int32_t i = 0; i < n; i++) {
    m->sign[i] = i < 6 * bodies ? 1 : -1;
    m->b[i] = cni_rng_range(&rng, -1, 1);
  }
  int ok = cni_sparse_build(&a, n, n, list, count, &m->upper) == CN_OK;
  free(list);
  return ok;
}

static void release(Mechanism *m) {
  const CnAllocator a = cn_allocator_default();
  cni_sparse_release(&a, &m->upper);
  free(m->sign);
  free(m->b);
}

// Seconds of a factorisation and of a solution, the fastest.
static void measure(CniLdl *ldl, const Mechanism *m, double *factor, double *solve, double *x) {
  double begin = seconds_now();
  size_t bytes = (size_t)m->upper.row_count * sizeof *x;
  *factor = *solve = HUGE_VAL;
  for (int32_t i = 0; i < 3 || seconds_now() - begin < LEAST_TIME; i++) {
    double start = seconds_now();
    if (cni_ldl_factor(ldl, m->upper.value, NULL, NULL) != CN_OK) return;
    double middle = seconds_now();
    memcpy(x, m->b, bytes);
    cni_ldl_solve(ldl, x, 1);
    *factor = fmin(*factor, middle - start);
    *solve = fmin(*solve, seconds_now() - middle);
  }
}

static int add_row(const char *name, int32_t bodies, int32_t branches, double *least,
                   Report *report) {
  const CnAllocator a = cn_allocator_default();
  Mechanism m = {0};
  CniLdl *ldl = NULL;
  Row *row = report_row_begin(report);
  int ok = row && build(bodies, branches, &m);
  double start = seconds_now(), factor = 0, solve = 0;
  ok = ok && cni_ldl_create(&a, &m.upper, m.sign, NULL, &ldl) == CN_OK;
  double symbolic = seconds_now() - start;
  double *x = ok ? malloc((size_t)m.upper.row_count * sizeof *x) : NULL;
  if (x) {
    CniLdlReport told;
    int32_t n = m.upper.row_count;
    measure(ldl, &m, &factor, &solve, x);
    ok = cni_ldl_factor(ldl, m.upper.value, NULL, &told) == CN_OK;
    double error = cni_ldl_refine(ldl, m.upper.value, m.b, x, 3), each = 1e9 * (factor + solve) / n;
    if (!(*least <= each)) *least = each;
    row_text(row, "mechanism", name);
    row_number(row, "bodies", bodies);
    row_number(row, "rows", n);
    row_number(row, "entries_per_row", (double)told.factor_entries / n);
    row_number(row, "order_ns_per_row", 1e9 * symbolic / n);
    row_number(row, "factor_ns_per_row", 1e9 * factor / n);
    row_number(row, "solve_ns_per_row", 1e9 * solve / n);
    row_number(row, "ratio", each / *least);
    row_number(row, "backward_error", error);
    report_row_end(report, row);
  }
  free(x);
  cni_ldl_destroy(ldl);
  release(&m);
  return ok && x;
}

static int run(const Values *values, Report *report) {
  static const struct {
    const char *name;
    int32_t branches;
  } kinds[] = {{"chain", 1}, {"tree of two", 2}, {"tree of five", 5}};
  int32_t sizes[VALUE_LIST], count;
  if (!value_list(values, "bodies", 1, 1e6, sizes, &count)) return 0;
  for (int32_t k = 0; k < 3; k++) {
    double least = HUGE_VAL;
    for (int32_t i = 0; i < count; i++)
      if (!add_row(kinds[k].name, sizes[i], kinds[k].branches, &least, report)) {
        fprintf(stderr, "cairn-bench: ldl: %s\n", cn_error_message());
        return 0;
      }
  }
  return 1;
}

static const Parameter parameters[] = {{"bodies", "10,100,1000,10000,100000", "sizes"},
                                       {NULL, NULL, NULL}};
static const Column columns[] = {{"mechanism", "mechanism"},
                                 {"bodies", "bodies"},
                                 {"entries_per_row", "entries/row"},
                                 {"order_ns_per_row", "order ns/row"},
                                 {"factor_ns_per_row", "factor ns/row"},
                                 {"solve_ns_per_row", "solve ns/row"},
                                 {"ratio", "over the least"},
                                 {"backward_error", "backward error"},
                                 {NULL, NULL}};
extern const Bench bench_ldl;
const Bench bench_ldl = {"ldl", "sparse L D L^T of chains and trees: time a row", parameters,
                         columns, run};
