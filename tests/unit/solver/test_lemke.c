// SPDX-License-Identifier: Apache-2.0
// lemke on problems whose answers and endings are known in closed form.
#include "check.h"
#include "solving.h"

#include <string.h>

#define ROWS 12

// Rows whose kind is '=' are equalities, the others complementarity rows.
static CnProblem *lcp(const char *kinds, const double *w, const double *q) {
  int32_t n = (int32_t)strlen(kinds), dims[ROWS];
  CnSet sets[ROWS];
  for (int32_t i = 0; i < n; i++) {
    sets[i] = cn_set_default(kinds[i] == '=' ? CN_BLOCK_BILATERAL : CN_BLOCK_UNILATERAL);
    dims[i] = 1;
  }
  return dense_problem(n, w, q, sets, dims, n, CN_FRICTION_COULOMB);
}

static CnSolveReport solve(const char *solver, CnProblem *p, double *g) {
  CnAnswer answer = cn_answer_empty(NULL);
  CHECK_OK(cn_answer_fit(&answer, p));
  CnSolverDef def = cn_solver_def_default(solver);
  def.effort = CN_EFFORT_EXACT;
  def.tolerance = 1e-12;
  CnSolveReport report = solve_def(&def, p, &answer);
  if (answer.row_count > 0) memcpy(g, answer.g, (size_t)answer.row_count * sizeof *g);
  cn_answer_release(&answer);
  cn_problem_destroy(p);
  return report;
}

static void check_solution(const char *kinds, const double *w, const double *q,
                           const double *expected) {
  const char *solvers[] = {"lemke", "auto"};
  for (int32_t s = 0; s < 2; s++) {
    double g[ROWS];
    CnSolveReport report = solve(solvers[s], lcp(kinds, w, q), g);
    CHECK(report.converged);
    assert_string_equal(cn_outcome_name(report.outcome), "finished");
    for (int32_t i = 0; kinds[i]; i++)
      CHECK_NEAR(g[i], expected[i], 1e-12 * (1 + fabs(expected[i])));
  }
}

static void closed_forms(void **state) {
  (void)state;
  // both rows push
  check_solution("><", (double[]){2, 1, 1, 2}, (double[]){-5, -6}, (double[]){4. / 3, 7. / 3});
  // one is released: w_1 = 3
  check_solution("><", (double[]){2, 1, 1, 2}, (double[]){-4, 1}, (double[]){2, 0});
  // nothing to do
  check_solution("><", (double[]){0, 0, 0, 0}, (double[]){0, 1}, (double[]){0, 0});
  // unsymmetric: z = (1, 0), w = (0, 1)
  check_solution("><", (double[]){1, -1, 2, 1}, (double[]){-1, -1}, (double[]){1, 0});
  // equality z_0 = 2 - z_1, then w_1 = z_1 + z_0 - 3/2 = 1/2
  check_solution("=>", (double[]){1, 1, 1, 1}, (double[]){-2, -1.5}, (double[]){2, 0});
}

// Scales of 1e12 between rows and 1e-9 between columns change nothing.
static void badly_scaled(void **state) {
  (void)state;
  double s = 1e12, t = 1e-9;
  check_solution("><", (double[]){2 * s, 1 * s * t, 1, 2 * t}, (double[]){-5 * s, -6},
                 (double[]){4. / 3, 7. / 3 / t});
}

// The equality block is zero: g_0 is the force that keeps u_0 = z_1 - 1 = 0, w_1 = -g_0 + 3 = 0.
static void singular_equality(void **state) {
  (void)state;
  check_solution("=>", (double[]){0, 1, -1, 0}, (double[]){-1, 3}, (double[]){3, 1});
}

// The same equation twice, and once too often.
static void redundant_equality(void **state) {
  (void)state;
  double w[] = {1, 1, 0, 1, 1, 0, 0, 0, 1}, q[] = {-2, -2, -1}, g[ROWS];
  CnSolveReport report = solve("lemke", lcp("==>", w, q), g);
  CHECK(report.converged);
  CHECK_NEAR(g[0] + g[1], 2, 1e-12);
  CHECK_NEAR(g[2], 1, 1e-12);
  q[1] = -3;
  report = solve("lemke", lcp("==>", w, q), g);
  CHECK(!report.converged);
  assert_string_equal(cn_outcome_name(report.outcome), "ray");
}

// w = -z - 1 can never be positive; w_0 = z_1 - 1, w_1 = -z_0 - 1 neither (copositive-plus: skew).
static void rays(void **state) {
  (void)state;
  double g[ROWS];
  CnSolveReport report = solve("lemke", lcp(">", (double[]){-1}, (double[]){-1}), g);
  CHECK(!report.converged);
  assert_string_equal(cn_outcome_name(report.outcome), "ray");
  report = solve("lemke", lcp("><", (double[]){0, 1, -1, 0}, (double[]){-1, -1}), g);
  CHECK(!report.converged);
  assert_string_equal(cn_outcome_name(report.outcome), "ray");
}

// Murty's problem: the path visits 2^n - 1 bases, q = -(1, ..., 1), solution (1, 0, ..., 0).
static void exponential_path(void **state) {
  (void)state;
  double w[64] = {0}, q[8], expected[8] = {0};
  for (int32_t i = 0; i < 8; i++) {
    for (int32_t j = 0; j < i; j++) w[8 * i + j] = 2;
    w[8 * i + i] = 1;
    q[i] = -1;
  }
  expected[0] = 1;
  check_solution(">>>>>>>>", w, q, expected);
}

static void no_rows(void **state) {
  (void)state;
  double g[1];
  CnProblemDef def = cn_problem_def_default();
  def.form = CN_FORM_EXPLICIT;
  for (int32_t s = 0; s < 2; s++) {
    CnProblem *p = NULL;
    CHECK_OK(cn_problem_create(&def, &p));
    CHECK(solve(s ? "auto" : "lemke", p, g).converged);
  }
}

// Friction is not for lemke; the message names those that can.
static void wrong_solver(void **state) {
  (void)state;
  double w[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, q[3] = {-1, 0, 0};
  CnSet set = cn_set_default(CN_BLOCK_FRICTION);
  int32_t dim = 3;
  CnProblem *p = dense_problem(3, w, q, &set, &dim, 1, CN_FRICTION_COULOMB);
  CnAnswer answer = cn_answer_empty(NULL);
  CHECK_OK(cn_answer_fit(&answer, p));
  assert_int_equal(cn_solve(p, "lemke", 1e-8, &answer, NULL), CN_UNSUPPORTED);
  CHECK(strstr(cn_error_message(), "friction") && strstr(cn_error_message(), "psor, pssor, ") &&
        strstr(cn_error_message(), "auto"));
  CnSolveReport report;
  CHECK_OK(cn_solve(p, "auto", 1e-8, &answer, &report));
  CHECK(report.converged);
  assert_string_equal(report.solver, "auto");
  assert_string_equal(report.method, "psor");
  cn_answer_release(&answer);
  cn_problem_destroy(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(closed_forms),
      cmocka_unit_test(badly_scaled),
      cmocka_unit_test(singular_equality),
      cmocka_unit_test(redundant_equality),
      cmocka_unit_test(rays),
      cmocka_unit_test(exponential_path),
      cmocka_unit_test(no_rows),
      cmocka_unit_test(wrong_solver),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
