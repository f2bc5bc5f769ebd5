// SPDX-License-Identifier: Apache-2.0
// auto on many friction problems at 1e-8: 200 step problems of our own scenes, in the global form
// in which they are dumped, and 200 random ones of deficient rank in the explicit form, each as it
// is, with the unit of the impulse changed by a million either way, and with its contacts in
// another order. At least 99 of 100 must be solved, and whatever is reported as converged must be
// so by a certificate of its own.
#include "check.h"
#include "core/rng.h"
#include "problem/problem.h"
#include "solving.h"

#include <cairn/cairn.h>
#include <cairn/scene.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-8

typedef struct Tally {
  int32_t problems, solved;
  double unit, worst;
  int32_t shuffled;
} Tally;

// ---- one problem in many forms ----

// The problem in explicit form with W/unit and its blocks in the order given.
static CnProblem *reordered(const CnProblem *p, double unit, const int32_t *order) {
  CnProblemDef def = cn_problem_def_default();
  def.form = CN_FORM_EXPLICIT;
  def.friction = p->friction;
  CnProblem *made = NULL;
  CHECK_OK(cn_problem_create(&def, &made));
  int32_t n = p->row_count, *row_to = malloc(((size_t)n + 1) * sizeof *row_to), row = 0;
  double *w = calloc((size_t)n * (size_t)n + 1, sizeof *w),
         *q = malloc(((size_t)n + 1) * sizeof *q);
  int32_t *start = malloc(((size_t)n + 1) * sizeof *start), entries = p->w.start[n], count = 0;
  int32_t *column = malloc(((size_t)entries + 1) * sizeof *column);
  double *value = malloc(((size_t)entries + 1) * sizeof *value);
  CHECK(row_to && w && q && start && column && value);
  for (int32_t i = 0; i < p->block_count; i++)
    for (int32_t d = 0; d < p->blocks[order[i]].dim; d++)
      row_to[p->blocks[order[i]].row + d] = row++;
  for (int32_t i = 0; i < n; i++) {
    q[row_to[i]] = p->b[i];
    for (int32_t e = p->w.start[i]; e < p->w.start[i + 1]; e++)
      w[(size_t)row_to[i] * (size_t)n + (size_t)row_to[p->w.column[e]]] = p->w.value[e] / unit;
  }
  for (int32_t i = 0; i < n; i++) {
    start[i] = count;
    for (int32_t j = 0; j < n; j++) {
      double x = w[(size_t)i * (size_t)n + (size_t)j];
      if (x == 0) continue;
      column[count] = j;
      value[count++] = x;
    }
  }
  start[n] = count;
  CnSparse sparse = {n, n, start, column, value};
  CHECK_OK(cn_problem_set_explicit(made, &sparse, q));
  for (int32_t i = 0; i < p->block_count; i++) {
    int32_t set;
    CHECK_OK(cn_problem_add_set(made, &p->sets[p->blocks[order[i]].set], &set));
    CHECK_OK(cn_problem_add_explicit(made, set, p->blocks[order[i]].dim, NULL));
  }
  free(row_to);
  free(w);
  free(q);
  free(start);
  free(column);
  free(value);
  return made;
}

// A step problem in the global form with its blocks in the order given.
static CnProblem *as_global(const CnProblem *p, const int32_t *order) {
  CnProblemDef def = cn_problem_def_default();
  def.form = CN_FORM_GLOBAL;
  def.friction = p->friction;
  CnProblem *made = NULL;
  CnExpanded x;
  CHECK_OK(cn_problem_create(&def, &made));
  CHECK_OK(cn_problem_expand(p, &x));
  int32_t n = p->row_count, *start = malloc(((size_t)n + 1) * sizeof *start), row = 0, count = 0;
  size_t entries = (size_t)x.e.start[n] + 1;
  int32_t *column = malloc(entries * sizeof *column);
  double *value = malloc(entries * sizeof *value), *b = malloc(((size_t)n + 1) * sizeof *b);
  CHECK(start && column && value && b);
  for (int32_t i = 0; i < p->block_count; i++)
    for (int32_t from = p->blocks[order[i]].row, d = 0; d < p->blocks[order[i]].dim; d++, row++) {
      start[row] = count;
      b[row] = x.b[from + d];
      for (int32_t e = x.e.start[from + d]; e < x.e.start[from + d + 1]; e++) {
        column[count] = x.e.column[e];
        value[count++] = x.e.value[e];
      }
    }
  start[n] = count;
  CnSparse rows = {n, x.e.column_count, start, column, value};
  CHECK_OK(cn_problem_set_global(made, &x.m, &rows, x.k, b));
  for (int32_t i = 0; i < p->block_count; i++) {
    int32_t set;
    CHECK_OK(cn_problem_add_set(made, &p->sets[p->blocks[order[i]].set], &set));
    CHECK_OK(cn_problem_add_explicit(made, set, p->blocks[order[i]].dim, NULL));
  }
  free(start);
  free(column);
  free(value);
  free(b);
  cn_expanded_destroy(&x);
  return made;
}

static void solve_one(CnProblem *p, const char *name, Tally *tally) {
  CnAnswer answer = cn_answer_empty(NULL);
  CnSolveReport report;
  CnCertificate own;
  CHECK_OK(cn_answer_fit(&answer, p));
  CHECK_OK(cn_solve(p, "auto", TOLERANCE, &answer, &report));
  CHECK_OK(cn_certify(p, &answer, &own));
  double scaled = p->form == CN_FORM_EXPLICIT ? own.error_scaled : 0;
  double error = fmax(own.error_siconos, scaled);
  CHECK(!report.converged || error <= TOLERANCE); // no false claim
  tally->problems++;
  tally->solved += report.converged;
  if (!report.converged)
    print_message("%s %d, unit %g, order %d: error %g by %s\n", name, (int)tally->problems,
                  tally->unit, (int)tally->shuffled, error, report.method);
  cn_answer_release(&answer);
}

// Another unit of the impulse is tried on the explicit form: the measure of the global one divides
// by impulses and velocities only, and asks for more than a double holds where both are small.
static void solve_forms(CnProblem *p, const char *name, CniRng *rng, Tally *tally) {
  static const double units[] = {1, 1e-6, 1e6, 1};
  int32_t *order = malloc(((size_t)p->block_count + 1) * sizeof *order);
  CHECK(order != NULL);
  int global = p->form == CN_FORM_STEP;
  CnProblem *local = p;
  if (global) CHECK_OK(cn_problem_to_explicit(p, &local));
  for (int32_t i = 0; i < p->block_count; i++) order[i] = i;
  for (int32_t k = 0; k < 4; k++) {
    for (int32_t i = p->block_count - 1; i > 0 && k == 3; i--) {
      int32_t j = (int32_t)cni_rng_range(rng, 0, i + 1), swap = order[i];
      order[i] = order[j];
      order[j] = swap;
    }
    CnProblem *form =
        global && units[k] == 1 ? as_global(p, order) : reordered(local, units[k], order);
    tally->unit = units[k];
    tally->shuffled = k == 3;
    solve_one(form, name, tally);
    cn_problem_destroy(form);
  }
  if (global) cn_problem_destroy(local);
  free(order);
}

static void check_tally(const Tally *tally, int32_t problems) {
  CHECK(tally->problems == 4 * problems);
  CHECK(tally->solved >= 0.99 * tally->problems);
}

// ---- from scenes ----

typedef struct SceneUse {
  const char *name, *key;
  double value;
  int32_t problems, every;
} SceneUse;

static void scene_problems(const SceneUse *use, CniRng *rng, Tally *tally) {
  CnSetting setting = {use->key, use->value};
  CnAllocator allocator = cn_allocator_default();
  CnScene *scene = NULL;
  CnWorld *world = NULL;
  CnWorldDef def = cn_world_def_default();
  CHECK_OK(cn_scene_open(use->name, &setting, 1, &allocator, &scene));
  cn_scene_world_def(scene, &def);
  CHECK_OK(cn_world_create(&def, &world));
  CHECK_OK(cn_scene_fill(scene, world));
  cn_scene_destroy(scene);
  for (int32_t done = 0, step = 0; done < use->problems && step < 5000; step++) {
    CnProblem *p = NULL;
    CHECK_OK(cn_world_step(world, NULL));
    if (step % use->every != 0) continue;
    CHECK_OK(cn_world_problem(world, &p, NULL));
    if (p->row_count == 0) continue;
    solve_forms(p, use->name, rng, tally);
    done++;
  }
  cn_world_destroy(world);
}

static void from_scenes(void **state) {
  (void)state;
  static const SceneUse uses[] = {
      {"granular", "spheres", 40, 50, 7}, {"scene-g", "n", 27, 40, 5},
      {"stack", "ratio", 1e4, 10, 3},     {"domino", "dominoes", 12, 40, 9},
      {"conveyor", "boxes", 6, 30, 11},   {"heap", "boxes", 15, 30, 53}};
  CniRng rng = {11};
  Tally tally = {0};
  for (size_t i = 0; i < sizeof uses / sizeof uses[0]; i++) scene_problems(&uses[i], &rng, &tally);
  check_tally(&tally, 200);
}

// ---- random, of deficient rank ----

// W = H H^T with fewer columns than rows, q = H v plus gaps that some contacts have.
static CnProblem *random_deficient(CniRng *rng) {
  enum { CONTACTS = 12, ROWS = 3 * CONTACTS };
  int32_t contacts = 2 + (int32_t)cni_rng_range(rng, 0, CONTACTS - 1), rows = 3 * contacts;
  int32_t rank = 1 + (int32_t)cni_rng_range(rng, 0, 2 * contacts);
  static double h[ROWS][ROWS], w[ROWS * ROWS], q[ROWS], v[ROWS];
  CnSet sets[CONTACTS];
  int32_t dims[CONTACTS];
  for (int32_t k = 0; k < rank; k++) v[k] = cni_rng_range(rng, -1, 1);
  for (int32_t i = 0; i < rows; i++) {
    q[i] = 0;
    for (int32_t k = 0; k < rank; k++) {
      h[i][k] = cni_rng_range(rng, -1, 1);
      q[i] += h[i][k] * v[k];
    }
    if (i % 3 == 0 && cni_rng_unit(rng) < 0.5) q[i] += cni_rng_range(rng, 0, 1);
  }
  for (int32_t i = 0; i < rows; i++)
    for (int32_t j = 0; j < rows; j++) {
      w[i * rows + j] = 0;
      for (int32_t k = 0; k < rank; k++) w[i * rows + j] += h[i][k] * h[j][k];
    }
  for (int32_t i = 0; i < contacts; i++) {
    sets[i] = cn_set_default(CN_BLOCK_FRICTION);
    sets[i].mu = cni_rng_range(rng, 0.05, 1);
    dims[i] = 3;
  }
  return dense_problem(rows, w, q, sets, dims, contacts, CN_FRICTION_COULOMB);
}

static void random_rank(void **state) {
  (void)state;
  CniRng rng = {5};
  Tally tally = {0};
  for (int32_t i = 0; i < 200; i++) {
    CnProblem *p = random_deficient(&rng);
    solve_forms(p, "random", &rng, &tally);
    cn_problem_destroy(p);
  }
  check_tally(&tally, 200);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(from_scenes), cmocka_unit_test(random_rank)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
