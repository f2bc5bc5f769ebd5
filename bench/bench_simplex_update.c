// SPDX-License-Identifier: Apache-2.0
// Switching one row of the saddle matrix on or off against factoring it anew: the cascade of the
// 2005 paper and a chain of hinges, 300 to 3000 rows. A switch is a random row that is on or off;
// rows that depend on those that are on are passed over. Afterwards the solution is compared with
// that of a fresh factorisation.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bodies.h"
#include "cascade.h"
#include "core/rng.h"
#include "solver/pivots/simplex.h"

#define REPEATS 5 // of the factorisation; the fastest counts

typedef struct Update {
  CniSimplexRows rows;
  CniLdl *ldl;
  uint8_t *on;
  double *x, *y;
  int32_t n;
} Update;

static int update_create(Update *u, CnProblem *p) {
  const CnAllocator a = cn_allocator_default();
  memset(u, 0, sizeof *u);
  if (cni_simplex_rows(p, 8, &a, &u->rows) != CN_OK) return 0;
  u->n = u->rows.v_count + u->rows.row_count;
  u->on = calloc((size_t)u->n, 1);
  u->x = calloc((size_t)u->n, sizeof *u->x);
  u->y = calloc((size_t)u->n, sizeof *u->y);
  if (!u->on || !u->x || !u->y) return 0;
  return cni_ldl_create(&a, &u->rows.saddle, u->rows.sign, u->rows.late, &u->ldl) == CN_OK &&
         cni_ldl_prepare_rows(u->ldl) == CN_OK;
}

static void update_release(Update *u) {
  cni_ldl_destroy(u->ldl);
  cni_simplex_rows_release(&u->rows);
  free(u->on);
  free(u->x);
  free(u->y);
}

// Seconds of a factorisation with the rows that are on.
static double time_factor(Update *u) {
  double best = HUGE_VAL;
  for (int32_t i = 0; i < REPEATS; i++) {
    double start = seconds_now();
    if (cni_ldl_factor_rows(u->ldl, u->rows.saddle.value, u->on, NULL, NULL) != CN_OK) return -1;
    best = fmin(best, seconds_now() - start);
  }
  return best;
}

// Every second row on to begin with, as far as they do not depend on each other.
static int first_rows(Update *u) {
  for (int32_t i = 0; i < u->rows.v_count; i++) u->on[i] = 1;
  if (cni_ldl_factor_rows(u->ldl, u->rows.saddle.value, u->on, NULL, NULL) != CN_OK) return 0;
  for (int32_t i = u->rows.v_count; i < u->n; i += 2) {
    double share;
    u->on[i] = cni_ldl_switch_on(u->ldl, u->rows.saddle.value, i, 1e-6, &share) == CNI_SWITCHED;
  }
  return cni_ldl_factor_rows(u->ldl, u->rows.saddle.value, u->on, NULL, NULL) == CN_OK;
}

typedef struct Switches {
  double mean, on, off; // s: of all, and of those each way
  int32_t dependent, damaged;
} Switches;

static Switches switch_rows(Update *u, int32_t count, CniRng *rng) {
  Switches s = {0};
  double seconds[2] = {0, 0};
  int32_t counts[2] = {0, 0};
  for (int32_t i = 0; i < count;) {
    int32_t row = u->rows.v_count + (int32_t)cni_rng_range(rng, 0, u->rows.row_count),
            way = !u->on[row];
    double share, start = seconds_now();
    CniSwitch result = way ? cni_ldl_switch_on(u->ldl, u->rows.saddle.value, row, 1e-6, &share)
                           : cni_ldl_switch_off(u->ldl, row);
    double taken = seconds_now() - start;
    s.dependent += result == CNI_DEPENDENT;
    s.damaged += result == CNI_DAMAGED;
    if (result == CNI_DEPENDENT) continue;
    u->on[row] = (uint8_t)way;
    seconds[way] += taken;
    counts[way]++;
    i++;
  }
  s.mean = (seconds[0] + seconds[1]) / count;
  s.off = counts[0] ? seconds[0] / counts[0] : 0;
  s.on = counts[1] ? seconds[1] / counts[1] : 0;
  return s;
}

// Difference of the impulses with the changed and with fresh factors, relative to the largest.
static double compare(Update *u) {
  double worst = 0, size = 0;
  CniRng rng = {4};
  for (int32_t i = 0; i < u->n; i++) u->x[i] = u->y[i] = u->on[i] ? cni_rng_range(&rng, -1, 1) : 0;
  cni_ldl_solve(u->ldl, u->x, 1);
  if (cni_ldl_factor_rows(u->ldl, u->rows.saddle.value, u->on, NULL, NULL) != CN_OK)
    return HUGE_VAL;
  cni_ldl_solve(u->ldl, u->y, 1);
  for (int32_t i = u->rows.v_count; i < u->n; i++) {
    worst = fmax(worst, fabs(u->x[i] - u->y[i]));
    size = fmax(size, fabs(u->y[i]));
  }
  return worst / size;
}

static int measure(const char *name, CnProblem *p, int32_t rows, int32_t switches, double *update,
                   Report *report) {
  Update u;
  int ok = p && update_create(&u, p) && first_rows(&u);
  Row *row = ok ? report_row_begin(report) : NULL;
  if (row) {
    CniRng rng = {12};
    double factor = time_factor(&u);
    // small problems: several rounds, the fastest counts
    Switches s = switch_rows(&u, switches, &rng);
    double error = compare(&u);
    for (int32_t i = 0; i < 4; i++) {
      Switches again = switch_rows(&u, switches / 4 + 1, &rng);
      if (again.mean < s.mean) s.mean = again.mean;
    }
    factor = fmin(factor, time_factor(&u));
    row_text(row, "problem", name);
    row_number(row, "rows", rows);
    row_number(row, "matrix_rows", u.n);
    row_number(row, "factor_us", 1e6 * factor);
    row_number(row, "update_us", 1e6 * s.mean);
    row_number(row, "on_us", 1e6 * s.on);
    row_number(row, "off_us", 1e6 * s.off);
    row_number(row, "ratio", factor / s.mean);
    row_number(row, "slope", *update > 0 ? log(s.mean / update[0]) / log(rows / update[1]) : 0);
    row_number(row, "switches", switches);
    row_number(row, "error", error);
    row_number(row, "damaged", s.damaged);
    if (*update <= 0) {
      update[0] = s.mean;
      update[1] = rows;
    }
    report_row_end(report, row);
  }
  if (p) update_release(&u);
  cn_problem_destroy(p);
  if (!row) fprintf(stderr, "cairn-bench: simplex-update: %s\n", cn_error_message());
  return row != NULL;
}

static int run(const Values *values, Report *report) {
  int32_t sizes[VALUE_LIST], count, switches;
  if (!value_list(values, "rows", 10, 100000, sizes, &count) ||
      !value_whole(values, "switches", 10, 1e6, &switches))
    return 0;
  for (int32_t kind = 0; kind < 2; kind++) {
    double update[2] = {0, 0}; // of the smallest: seconds, rows
    for (int32_t i = 0; i < count; i++)
      if (!measure(kind ? "hinges" : "cascade",
                   kind ? hinge_chain(sizes[i]) : cascade_problem(sizes[i]), sizes[i], switches,
                   update, report))
        return 0;
  }
  return 1;
}

static const Parameter parameters[] = {{"rows", "300,1000,3000", "rows of the problems"},
                                       {"switches", "1000", "rows switched"},
                                       {NULL, NULL, NULL}};
static const Column columns[] = {{"problem", "problem"},     {"rows", "rows"},
                                 {"factor_us", "factor us"}, {"update_us", "update us"},
                                 {"ratio", "ratio"},         {"slope", "slope"},
                                 {"error", "error"},         {NULL, NULL}};
extern const Bench bench_simplex_update;
const Bench bench_simplex_update = {"simplex-update",
                                    "one row switched in the factors against factoring anew",
                                    parameters, columns, run};
