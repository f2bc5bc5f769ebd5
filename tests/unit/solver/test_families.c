// SPDX-License-Identifier: Apache-2.0
// One suite over the whole table: every solver gets every problem, in both friction models, as a
// step problem and in its explicit form. A solver refuses what its row says it cannot take, by name
// and without touching the answer; what it takes it answers, or says that it did not. Claims are
// checked against a certificate of the test's own, and families that answer agree.
#include "check.h"
#include "scenes.h"
#include "solving.h"
#include "structured.h"

#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-8
#define ITERATIONS 3000

static const CnFrictionModel both[] = {CN_FRICTION_COULOMB, CN_FRICTION_CONVEX};

// ---- one solver, one problem ----

typedef struct Given {
  const char *name;
  StructuredKind kind;
  CnProblem *problem;
  int32_t cones; // friction blocks
} Given;

// Refused by name; the answer stays as it was.
static void check_refusal(const CnSolverKind *kind, const Given *given) {
  CnSolverDef def = cn_solver_def_default(kind->name);
  def.effort = CN_EFFORT_EXACT;
  CnSolver *solver = NULL;
  CnAnswer answer = answer_for(given->problem);
  for (int32_t i = 0; i < answer.row_count; i++) answer.g[i] = .25;
  CHECK_OK(cn_solver_create(&def, &solver));
  CHECK_STATUS(cn_solver_solve(solver, given->problem, &answer, NULL), CN_UNSUPPORTED);
  CHECK(strstr(cn_error_message(), kind->name) && strstr(cn_error_message(), "these can"));
  for (int32_t i = 0; i < answer.row_count; i++) CHECK(answer.g[i] == .25);
  cn_solver_destroy(solver);
  cn_answer_release(&answer);
}

// The claim of a report against the impulses alone: v and u are made from g again.
static void check_claim(const CnSolverKind *kind, const Given *given, const CnAnswer *answer,
                        const CnSolveReport *report) {
  CnProblem *p = given->problem;
  CnAnswer own = answer_for(p);
  CnCertificate certificate;
  memcpy(own.g, answer->g, (size_t)own.row_count * sizeof *own.g);
  CHECK_OK(cn_answer_complete(&own, p));
  CHECK_OK(cn_certify(p, &own, &certificate));
  double error = cn_solve_error(p, &certificate);
  if (report->facets > 0) {
    // another problem was solved, and the report says which
    CHECK(report->friction == p->friction || kind->accepts & CNI_ACCEPT_RELAXED);
    error = report->pyramid_residual;
  } else {
    CHECK(report->friction == p->friction || given->cones == 0);
  }
  int lies = report->converged && !(error <= TOLERANCE * (1 + 1e-6) + 1e-13);
  if (given->kind == STRUCTURED_INFEASIBLE) lies = report->converged;
  if (lies) print_error("%s claims \"%s\", error %g\n", kind->name, given->name, error);
  CHECK(!lies);
  cn_answer_release(&own);
}

// Returns whether it converged on the problem as given: pyramids are another one.
static int run_solver(const CnSolverKind *kind, const Given *given, CnAnswer *answer) {
  CnSolverDef def = cn_solver_def_default(kind->name);
  def.effort = CN_EFFORT_EXACT;
  def.tolerance = TOLERANCE;
  def.max_iterations = ITERATIONS;
  def.check_interval = 5;
  CnSolveReport report = solve_def(&def, given->problem, answer);
  for (int32_t i = 0; i < answer->row_count; i++) CHECK(isfinite(answer->g[i]));
  check_claim(kind, given, answer, &report);
  if (!report.converged && given->kind == STRUCTURED_EASY)
    print_error("%s did not solve \"%s\" (%s): error %g after %d iterations\n", kind->name,
                given->name, cn_friction_model_name(given->problem->friction),
                cn_solve_error(given->problem, &report.certificate), (int)report.iterations);
  CHECK(report.converged || given->kind != STRUCTURED_EASY);
  return report.converged && report.facets == 0;
}

// ---- all solvers, one problem ----

// Largest difference of two answers in u, m/s.
static double difference(const CnAnswer *a, const CnAnswer *b) {
  double largest = 0;
  for (int32_t i = 0; i < a->row_count; i++) largest = fmax(largest, fabs(a->u[i] - b->u[i]));
  return largest;
}

// `agree`: m/s, how near the velocities of any two answers must be; 0: they may differ.
static int32_t check_table(const Given *given, double agree) {
  int32_t answered = 0;
  CnAnswer first = answer_for(given->problem);
  for (int32_t i = 0; i < cni_solver_kind_count; i++) {
    const CnSolverKind *kind = cni_solver_kinds[i];
    if (cni_solver_check(kind, given->problem) != CN_OK) {
      check_refusal(kind, given);
      continue;
    }
    CnAnswer answer = answer_for(given->problem);
    int converged = run_solver(kind, given, &answer);
    if (converged && answered++ == 0)
      memcpy(first.u, answer.u, (size_t)first.row_count * sizeof *first.u);
    else if (converged && agree > 0 && difference(&first, &answer) > agree)
      print_error("%s is %g m/s away on \"%s\"\n", kind->name, difference(&first, &answer),
                  given->name);
    CHECK(!converged || !(agree > 0) || difference(&first, &answer) <= agree);
    cn_answer_release(&answer);
  }
  cn_answer_release(&first);
  return answered;
}

// Step form, then explicit form.
static void check_forms(Given given, double agree) {
  CnProblemInfo info;
  cn_problem_info(given.problem, &info);
  for (int32_t k = CN_BLOCK_FRICTION_2D; k < CN_BLOCK_KIND_COUNT; k++)
    given.cones += info.kind_count[k];
  for (int32_t form = 0; form < 2; form++) {
    int32_t answered = check_table(&given, agree);
    int wanted = form == 0 ? given.kind != STRUCTURED_INFEASIBLE : given.kind == STRUCTURED_EASY;
    if (answered == 0 && wanted)
      print_error("no solver answers \"%s\" (%s, form %d)\n", given.name,
                  cn_friction_model_name(given.problem->friction), (int)form);
    CHECK(answered > 0 || !wanted);
    CnProblem *next = NULL;
    if (form == 0) CHECK_OK(cn_problem_to_explicit(given.problem, &next));
    cn_problem_destroy(given.problem);
    given.problem = next;
  }
}

static void structured(StructuredKind kind) {
  for (const Structured *s = structured_problems; s->name; s++) {
    if (s->kind != kind) continue;
    for (int32_t m = 0; m < 2; m++)
      check_forms((Given){s->name, s->kind, s->make(both[m]), 0}, s->unique ? 1e-5 : 0);
  }
}

static void easy(void **state) {
  (void)state;
  structured(STRUCTURED_EASY);
}

static void hard(void **state) {
  (void)state;
  structured(STRUCTURED_HARD);
}

static void infeasible(void **state) {
  (void)state;
  structured(STRUCTURED_INFEASIBLE);
}

// Weights of a stack at rest: the impulses of an interface add up to what lies on it.
static void weights(void **state) {
  (void)state;
  CnProblem *p = box_stack(4, 1, 0, CN_FRICTION_COULOMB);
  for (int32_t i = 0; i < cni_solver_kind_count; i++) {
    if (cni_solver_check(cni_solver_kinds[i], p) != CN_OK) continue;
    CnAnswer answer = solve_with(cni_solver_kinds[i]->name, p, 1e-10);
    for (int32_t k = 0; k < 4; k++) {
      double sum = 0;
      for (int32_t c = 0; c < 4; c++) sum += answer.g[12 * k + 3 * c];
      CHECK_NEAR(sum, (4 - k) * 9.81 * .01, 1e-7);
    }
    cn_answer_release(&answer);
  }
  cn_problem_destroy(p);
}

// ---- random problems: solvable in both models; v is unique in the convex one ----

static void random_problems(void **state) {
  (void)state;
  CniRng rng = {2026};
  for (int32_t i = 0; i < 12; i++) {
    RandomProblem how = random_problem_default();
    how.friction = both[i % 2];
    how.group_count = 6 + i % 3;
    how.block_count = 6 + i % 4;
    if (i % 3 == 0) how.kinds = 1u << CN_BLOCK_UNILATERAL | 1u << CN_BLOCK_BILATERAL;
    Given given = {"random", STRUCTURED_HARD, random_problem(&rng, &how), 0};
    check_forms(given, i % 2 == 1 || i % 3 == 0 ? 1e-4 : 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(easy),
      cmocka_unit_test(hard),
      cmocka_unit_test(weights),
      cmocka_unit_test(infeasible),
      cmocka_unit_test(random_problems),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
