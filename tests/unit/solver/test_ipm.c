// SPDX-License-Identifier: Apache-2.0
// The interior point: a general mass matrix, redundant and compliant rows, joints, its starting
// points and warm starts, both friction models to 1e-10.
#include "check.h"
#include "core/rng.h"
#include "problem/problem.h"
#include "scenes.h"
#include "solver/cones/cones.h"
#include "solving.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- a bar and rigid bodies in one problem ----

#define BAR 20 // masses joined by springs: M + h^2 K is tridiagonal
#define BODIES 2
#define SIZE (BAR + 6 * BODIES)
#define ROWS 7

// Limits on the bar, a contact between it and a body, one between the bodies, and a joint;
// `twice`: the contacts are there twice.
static CnProblem *bar_and_bodies(int twice) {
  int32_t m_start[SIZE + 1], m_column[3 * SIZE], e_start[2 * ROWS + 1], e_column[4 * ROWS];
  double m_value[3 * SIZE], e_value[4 * ROWS], k[SIZE], b[2 * ROWS];
  int32_t count = 0, entries = 0, rows = 0;
  for (int32_t i = 0; i < SIZE; i++) {
    m_start[i] = count;
    for (int32_t j = i - 1; j <= i + 1; j++) {
      if (j < 0 || j >= SIZE || (j != i && (i >= BAR || j >= BAR))) continue;
      m_column[count] = j;
      m_value[count++] = j != i ? -3 : i < BAR ? 7 : 1 + i % 6;
    }
    k[i] = i % 3 == 0 ? -1 : 0.4;
  }
  m_start[SIZE] = count;
  static const struct {
    int32_t first, second;
    double b;
  } row[ROWS] = {{0, -1, 0.1},           {5, -1, -0.2}, {9, BAR, 0},
                 {13, BAR + 6, -0.05},   {19, -1, 0},   {BAR + 2, BAR + 8, 0},
                 {BAR + 1, BAR + 7, 0.3}};
  for (int32_t copy = 0; copy < 1 + twice; copy++)
    for (int32_t i = 0; i < ROWS - (copy == 1); i++) {
      e_start[rows] = entries;
      e_column[entries] = row[i].first;
      e_value[entries++] = 1;
      if (row[i].second >= 0) {
        e_column[entries] = row[i].second;
        e_value[entries++] = -1;
      }
      b[rows++] = row[i].b;
    }
  e_start[rows] = entries;
  CnProblemDef def = cn_problem_def_default();
  def.form = CN_FORM_GLOBAL;
  CnProblem *p = NULL;
  CHECK_OK(cn_problem_create(&def, &p));
  CnSparse m = {SIZE, SIZE, m_start, m_column, m_value};
  CnSparse e = {rows, SIZE, e_start, e_column, e_value};
  CHECK_OK(cn_problem_set_global(p, &m, &e, k, b));
  CnSet sets[2] = {cn_set_default(CN_BLOCK_UNILATERAL), cn_set_default(CN_BLOCK_BILATERAL)};
  int32_t set[2];
  for (int32_t i = 0; i < 2; i++) CHECK_OK(cn_problem_add_set(p, &sets[i], &set[i]));
  for (int32_t i = 0; i < rows; i++)
    CHECK_OK(cn_problem_add_explicit(p, set[i == ROWS - 1], 1, NULL)); // the last row is a joint
  return p;
}

static CnAnswer solve_ipm(CnProblem *p, double tolerance) {
  CnAnswer answer = cn_answer_empty(NULL);
  CnSolveReport report;
  CHECK_OK(cn_answer_fit(&answer, p));
  CHECK_OK(cn_solve(p, "ipm", tolerance, &answer, &report));
  CHECK(report.converged);
  return answer;
}

// Against pivoting on the eliminated problem; with redundant rows the velocities are the same.
static void general_mass(void **state) {
  (void)state;
  CnProblem *p = bar_and_bodies(0), *doubled = bar_and_bodies(1), *local = NULL;
  CnAnswer answer = solve_ipm(p, 1e-11), redundant = solve_ipm(doubled, 1e-11);
  CHECK_OK(cn_problem_to_explicit(p, &local));
  CnAnswer pivoted = solve_with("lemke", local, 1e-11);
  int32_t pushing = 0;
  for (int32_t i = 0; i < ROWS; i++) {
    CHECK_NEAR(answer.g[i], pivoted.g[i], 1e-9);
    pushing += answer.g[i] > 1e-6;
  }
  CHECK(pushing >= 3 && pushing < ROWS);
  for (int32_t i = 0; i < SIZE; i++) CHECK_NEAR(redundant.v[i], answer.v[i], 1e-9);
  cn_answer_release(&answer);
  cn_answer_release(&redundant);
  cn_answer_release(&pivoted);
  cn_problem_destroy(p);
  cn_problem_destroy(doubled);
  cn_problem_destroy(local);
}

// ---- starting points ----

static int32_t row_iterations(CniCones *c, CniRowStart start, CniRowWarm warm, double *g) {
  CniRowIpmRule rule = {start, warm, 60, 0};
  CniIpmEnd end;
  CHECK(cni_row_ipm_takes(c));
  CHECK_OK(cni_row_ipm(c, &rule, NULL, g, &end));
  CHECK(!end.stalled);
  return end.iterations;
}

static void starting_points(void **state) {
  (void)state;
  CnAllocator allocator = cn_allocator_default();
  CnProblem *p = bar_and_bodies(0);
  CniCones *c = NULL;
  double a[ROWS] = {0}, b[ROWS] = {0};
  if (p->form == CN_FORM_GLOBAL) CHECK_OK(cni_global_prepare(p));
  CHECK_OK(cni_cones_create(&allocator, &c));
  CHECK_OK(cni_cones_load(c, p));
  int32_t cold = row_iterations(c, CNI_START_DAPUZZO, CNI_WARM_NONE, a);
  CHECK(cold >= 3 && cold <= 20);
  CHECK(row_iterations(c, CNI_START_NOCEDAL, CNI_WARM_NONE, b) <= 20);
  // tau stops at 1e-7: rows that neither push nor open are known to its square root
  for (int32_t i = 0; i < ROWS; i++) CHECK_NEAR(a[i], b[i], 1e-3);
  // from the answer there is nothing to do, from near it less
  CHECK(row_iterations(c, CNI_START_DAPUZZO, CNI_WARM_FULL, a) <= 1);
  for (int32_t i = 0; i < ROWS; i++) b[i] *= 1.01;
  CHECK(row_iterations(c, CNI_START_DAPUZZO, CNI_WARM_FULL, b) <= cold);
  cni_cones_destroy(c);
  cn_problem_destroy(p);
}

// ---- everything ----

// Random step problems with all kinds of blocks, compliance and cohesion, in both models.
static void all_blocks(void **state) {
  (void)state;
  CniRng rng = {21};
  int32_t solved = 0, count = 0;
  for (int32_t k = 0; k < 60; k++) {
    RandomProblem how = random_problem_default();
    how.friction = k % 2 ? CN_FRICTION_CONVEX : CN_FRICTION_COULOMB;
    CnProblem *p = random_problem(&rng, &how);
    CnAnswer answer = answer_for(p);
    CnSolveReport report;
    CHECK_OK(cn_solve(p, "ipm", 1e-10, &answer, &report));
    CHECK(!report.converged || certify(p, &answer).residual <= 1e-10);
    count++;
    solved += report.converged;
    // the convex model is a convex program: always
    CHECK(report.converged || how.friction == CN_FRICTION_COULOMB);
    cn_answer_release(&answer);
    cn_problem_destroy(p);
  }
  CHECK(solved >= count - 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(general_mass),
      cmocka_unit_test(starting_points),
      cmocka_unit_test(all_blocks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
