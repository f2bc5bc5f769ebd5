// SPDX-License-Identifier: Apache-2.0
// Generated complementarity problems: the same verdict as trying all combinations of sides, and
// nobody claims more than there is.
#include "check.h"
#include "complementarity.h"
#include "solving.h"

#define TOLERANCE 1e-8

typedef struct Count {
  int32_t problems, solvable, lemke_missed, branched;
} Count;

// Every solver that takes the problem; what it claims must be true.
static CnSolveReport solve_honestly(const char *name, const SmallLcp *lcp, CnProblem *p) {
  CnAnswer answer = cn_answer_empty(NULL);
  CHECK_OK(cn_answer_fit(&answer, p));
  CnSolverDef def = cn_solver_def_default(name);
  def.effort = CN_EFFORT_EXACT;
  def.tolerance = TOLERANCE;
  CnSolveReport report = solve_def(&def, p, &answer);
  double error = small_error(lcp, answer.g);
  if (report.converged && !(error <= TOLERANCE * (1 + 1e-6)))
    print_error("%s claims to have converged, the error is %g\n", name, error);
  CHECK(!report.converged || error <= TOLERANCE * (1 + 1e-6));
  cn_answer_release(&answer);
  return report;
}

static void print_problem(const SmallLcp *lcp) {
  for (int32_t i = 0; i < lcp->size; i++) {
    for (int32_t j = 0; j < lcp->size; j++) print_error("%22.17g ", lcp->w[i * lcp->size + j]);
    print_error(" %s %22.17g\n", i < lcp->equalities ? "=" : ">", lcp->q[i]);
  }
}

static void check_auto(const SmallLcp *lcp, const char *what, Count *count) {
  CnProblem *p = small_problem(lcp);
  int solvable = small_solvable(lcp);
  for (int32_t i = 0; i < cni_solver_kind_count; i++)
    if (cni_solver_check(cni_solver_kinds[i], p) == CN_OK)
      solve_honestly(cni_solver_kinds[i]->name, lcp, p);
  CnSolveReport lemke = solve_honestly("lemke", lcp, p), best = solve_honestly("auto", lcp, p);
  count->problems++;
  count->solvable += solvable;
  count->lemke_missed += solvable && !lemke.converged;
  if (best.converged != solvable) {
    print_error("%s %d: %s, auto says %s (%s, error %g)\n", what, (int)count->problems,
                solvable ? "solvable" : "not solvable", best.converged ? "solved" : "not solved",
                cn_outcome_name(best.outcome), best.certificate.error_siconos);
    print_problem(lcp);
  }
  CHECK(best.converged == solvable);
  if (!solvable) CHECK(best.outcome == CN_OUTCOME_INFEASIBLE);
  cn_problem_destroy(p);
}

static Count check_kind(SmallKind kind, int32_t problems) {
  CniRng rng = {(uint64_t)kind + 1};
  Count count = {0};
  while (count.problems < problems) {
    SmallLcp lcp = small_random(&rng, kind, 2 + count.problems % 9);
    check_auto(&lcp, small_kind_name(kind), &count);
  }
  print_message("%s: %d problems, %d solvable, %d missed by lemke\n", small_kind_name(kind),
                (int)count.problems, (int)count.solvable, (int)count.lemke_missed);
  return count;
}

static void p_matrices(void **state) {
  (void)state;
  Count count = check_kind(SMALL_P, 400);
  CHECK(count.solvable == 400 && count.lemke_missed == 0);
}

static void semidefinite(void **state) {
  (void)state;
  Count count = check_kind(SMALL_SEMIDEFINITE, 400);
  CHECK(count.solvable > 50 && count.solvable < 400 && count.lemke_missed == 0);
}

static void degenerate(void **state) {
  (void)state;
  Count count = check_kind(SMALL_DEGENERATE, 400);
  CHECK(count.solvable > 50 && count.solvable < 400 && count.lemke_missed == 0);
}

static void copositive_plus(void **state) {
  (void)state;
  Count count = check_kind(SMALL_COPOSITIVE_PLUS, 300);
  CHECK(count.solvable > 50 && count.solvable < 300 && count.lemke_missed == 0);
}

static void infeasible(void **state) {
  (void)state;
  Count count = check_kind(SMALL_INFEASIBLE, 200);
  CHECK(count.solvable == 0);
}

// Here lemke may end on a ray: auto must not.
static void copositive(void **state) {
  (void)state;
  Count count = check_kind(SMALL_COPOSITIVE, 300);
  CHECK(count.solvable > 50 && count.lemke_missed > 0);
}

static void any(void **state) {
  (void)state;
  Count count = check_kind(SMALL_ANY, 300);
  CHECK(count.solvable > 50 && count.solvable < 300 && count.lemke_missed > 0);
}

static void mixed(void **state) {
  (void)state;
  CniRng rng = {77};
  Count count = {0};
  while (count.problems < 300) {
    SmallLcp lcp = small_random_mixed(&rng);
    check_auto(&lcp, "mixed", &count);
  }
  print_message("mixed: %d problems, %d solvable, %d missed by lemke\n", (int)count.problems,
                (int)count.solvable, (int)count.lemke_missed);
  CHECK(count.solvable > 50 && count.solvable < 300);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(p_matrices), cmocka_unit_test(semidefinite),
      cmocka_unit_test(degenerate), cmocka_unit_test(copositive_plus),
      cmocka_unit_test(infeasible), cmocka_unit_test(copositive),
      cmocka_unit_test(any),        cmocka_unit_test(mixed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
