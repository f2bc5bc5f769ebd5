// SPDX-License-Identifier: Apache-2.0
// The frame around every solve: table, definitions, budgets, honesty of the report, memory.
#include "alloc.h"
#include "check.h"
#include "scenes.h"
#include "solving.h"
#include "structured.h"

#include <stdlib.h>
#include <string.h>

static void table(void **state) {
  (void)state;
  CHECK(cni_solver_kind_count >= 2);
  CHECK(strcmp(cn_solver_name(0), "psor") == 0);
  for (int32_t i = 0; i < cni_solver_kind_count; i++) {
    const char *name = cn_solver_name(i);
    CHECK(name && cn_solver_summary(i) && cn_solver_summary(i)[0]);
    CHECK(cni_solver_find(name) == cni_solver_kinds[i]);
    CnSolverDef def = cn_solver_def_default(name);
    def.effort = CN_EFFORT_EXACT;
    CnSolver *solver = NULL;
    CHECK_OK(cn_solver_create(&def, &solver));
    cn_solver_destroy(solver);
  }
  CHECK(!cn_solver_name(-1) && !cn_solver_name(cni_solver_kind_count));
  CHECK(!cn_solver_summary(-1) && !cn_solver_summary(cni_solver_kind_count));
  CHECK(!cni_solver_find("nothing") && !cni_solver_find(NULL));
}

static void refuse(CnSolverDef def) {
  CnSolver *solver = (CnSolver *)&def;
  CHECK_STATUS(cn_solver_create(&def, &solver), CN_INVALID_ARGUMENT);
  CHECK(solver == NULL);
}

static void definitions(void **state) {
  (void)state;
  CnSolverDef good = cn_solver_def_default("psor"), def = good;
  CHECK(good.max_iterations == 120 && good.tolerance == 0 && good.check_interval == 10);
  CHECK(good.relaxation == 1 && good.acceleration == 1 && good.local == CN_LOCAL_SPLIT);
  refuse(cn_solver_def_default("psorr"));
  CHECK(strstr(cn_error_message(), "psorr") && strstr(cn_error_message(), "pssor"));
  refuse(cn_solver_def_default(NULL));
  static const double bad_relaxations[] = {0, 2, -1, NAN}, bad_tolerances[] = {-1, NAN, INFINITY};
  for (int32_t i = 0; i < 4; i++) {
    def.relaxation = bad_relaxations[i];
    refuse(def);
  }
  def = good;
  for (int32_t i = 0; i < 3; i++) {
    def.tolerance = bad_tolerances[i];
    refuse(def);
    def.tolerance = 0;
    def.time_budget = bad_tolerances[i];
    refuse(def);
    def.time_budget = 0;
  }
  def.acceleration = 0;
  refuse(def);
  def.acceleration = 1.1;
  refuse(def);
  def = good;
  def.max_iterations = 0;
  refuse(def);
  def = good;
  def.check_interval = 0;
  refuse(def);
  def = good;
  def.local = (CnLocalSolve)3;
  refuse(def);
  def = good;
  def.tag = 0;
  refuse(def);
  def = good;
  def.allocator.allocate = NULL;
  refuse(def);
  CnSolver *solver = NULL;
  CHECK_STATUS(cn_solver_create(NULL, &solver), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_solver_create(&good, NULL), CN_INVALID_ARGUMENT);
  cn_solver_destroy(NULL);
}

static void misuse(void **state) {
  (void)state;
  CnProblem *p = ball_on_ground(1), *other = box_on_ground(1);
  CnSolverDef def = cn_solver_def_default("psor");
  CnSolver *solver = NULL;
  CnAnswer answer = answer_for(p);
  CHECK_OK(cn_solver_create(&def, &solver));
  CHECK_STATUS(cn_solver_solve(NULL, p, &answer, NULL), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_solver_solve(solver, NULL, &answer, NULL), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_solver_solve(solver, p, NULL, NULL), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_solver_solve(solver, other, &answer, NULL), CN_INVALID_ARGUMENT);
  CHECK(strstr(cn_error_message(), "12"));
  answer.g[1] = NAN;
  CHECK_STATUS(cn_solver_solve(solver, p, &answer, NULL), CN_INVALID_ARGUMENT);
  CHECK(strstr(cn_error_message(), "g[1]"));
  answer.g[1] = 0;
  CHECK_OK(cn_solver_solve(solver, p, &answer, NULL)); // the report may be left out
  cn_solver_destroy(solver);
  cn_answer_release(&answer);
  cn_problem_destroy(p);
  cn_problem_destroy(other);
}

// A solver that is asked for more than its row says names those that can.
static void unsupported(void **state) {
  (void)state;
  CnProblem *p = ball_on_ground(1), *w = NULL;
  CnSolverKind narrow = *cni_solver_find("psor");
  narrow.name = "narrow";
  narrow.accepts = CNI_ACCEPT_STEP | CNI_ACCEPT_KIND(CN_BLOCK_BILATERAL);
  CHECK_STATUS(cni_solver_check(&narrow, p), CN_UNSUPPORTED);
  CHECK(strstr(cn_error_message(), "narrow") && strstr(cn_error_message(), "friction") &&
        strstr(cn_error_message(), "psor, pssor"));
  narrow.accepts |= CNI_ACCEPT_ALL_KINDS | CNI_ACCEPT_CONVEX;
  CHECK_STATUS(cni_solver_check(&narrow, p), CN_UNSUPPORTED);
  CHECK(strstr(cn_error_message(), "coulomb"));
  narrow.accepts |= CNI_ACCEPT_COULOMB;
  CHECK_OK(cni_solver_check(&narrow, p));
  CHECK_OK(cn_problem_to_explicit(p, &w));
  CHECK_STATUS(cni_solver_check(&narrow, w), CN_UNSUPPORTED);
  CHECK(strstr(cn_error_message(), "explicit"));
  narrow.accepts |= CNI_ACCEPT_EXPLICIT;
  CHECK_OK(cni_solver_check(&narrow, w));
  cn_problem_destroy(w);
  cn_problem_destroy(p);

  CnSet set = cn_set_default(CN_BLOCK_BILATERAL);
  int32_t dim = 2;
  double skew[4] = {1, .5, -.5, 1}, even[4] = {1, .5, .5, 1}, q[2] = {1, 1};
  w = dense_problem(2, skew, q, &set, &dim, 1, CN_FRICTION_COULOMB);
  CHECK_STATUS(cni_solver_check(&narrow, w), CN_UNSUPPORTED);
  CHECK(strstr(cn_error_message(), "unsymmetric"));
  CHECK_OK(cni_solver_check(cni_solver_find("psor"), w));
  cn_problem_destroy(w);
  w = dense_problem(2, even, q, &set, &dim, 1, CN_FRICTION_COULOMB);
  CHECK_OK(cni_solver_check(&narrow, w));
  cn_problem_destroy(w);
}

// A column of sixty balls after a step of gravity: takes many sweeps.
static CnProblem *slow_problem(void) {
  CnProblemDef def = cn_problem_def_default();
  CnProblem *p;
  CHECK_OK(cn_problem_create(&def, &p));
  CnSet set = cn_set_default(CN_BLOCK_UNILATERAL);
  CHECK_OK(cn_problem_add_set(p, &set, NULL));
  CnGroupDef group = cn_group_def_default();
  CHECK_OK(cn_problem_add_group(p, &group, NULL));
  group.inv_mass = 1;
  group.inv_inertia = (CnSym3){250, 250, 250, 0, 0, 0};
  group.free.velocity.z = -.0981;
  double b = 0;
  for (int32_t i = 0; i < 60; i++) {
    CnTwist up = {{0, 0, 1}, {0, 0, 0}}, down = {{0, 0, -1}, {0, 0, 0}};
    CnRowEntry rows[2] = {{0, i + 1, up}, {0, i, down}};
    CHECK_OK(cn_problem_add_group(p, &group, NULL));
    CHECK_OK(cn_problem_add_rows(p, 0, 1, rows, 2, &b, NULL));
  }
  return p;
}

static void budgets(void **state) {
  (void)state;
  CnProblem *p = slow_problem();
  CnAnswer answer = answer_for(p);
  CnSolverDef def = cn_solver_def_default("psor");
  def.max_iterations = 37;
  CnSolveReport report = solve_def(&def, p, &answer);
  CHECK(report.iterations == 37 && !report.cut_by_time && !report.converged);
  CHECK(strcmp(report.solver, "psor") == 0 && report.friction == CN_FRICTION_COULOMB);
  CHECK(report.seconds >= report.seconds_setup && report.seconds_setup >= 0);

  // stops at a look at the tolerance, not before it
  memset(answer.g, 0, (size_t)answer.row_count * sizeof *answer.g);
  def.max_iterations = 20000;
  def.tolerance = 1e-6;
  def.check_interval = 7;
  report = solve_def(&def, p, &answer);
  CHECK(report.converged && report.iterations % 7 == 0 && report.iterations > 7);
  double reached = report.certificate.residual;
  CHECK(reached <= 1e-6);
  memset(answer.g, 0, (size_t)answer.row_count * sizeof *answer.g);
  def.max_iterations = report.iterations - 7;
  report = solve_def(&def, p, &answer);
  CHECK(!report.converged && report.certificate.residual > 1e-6);

  // the clock
  memset(answer.g, 0, (size_t)answer.row_count * sizeof *answer.g);
  def.tolerance = 0;
  def.max_iterations = 100000000;
  def.time_budget = 1e-9;
  report = solve_def(&def, p, &answer);
  CHECK(report.cut_by_time && report.iterations == 7);

  // a budget that is not needed leaves no mark
  memset(answer.g, 0, (size_t)answer.row_count * sizeof *answer.g);
  def.max_iterations = 14;
  def.time_budget = 1000;
  report = solve_def(&def, p, &answer);
  CHECK(!report.cut_by_time && report.iterations == 14);
  cn_answer_release(&answer);
  cn_problem_destroy(p);
}

// `converged` is the certificate's word and the certificate the library's.
static void honesty(void **state) {
  (void)state;
  CniRng rng = {21};
  RandomProblem how = random_problem_default();
  int32_t yes = 0, no = 0;
  for (int32_t i = 0; i < 200; i++) {
    how.friction = i % 2 ? CN_FRICTION_CONVEX : CN_FRICTION_COULOMB;
    CnProblem *p = random_problem(&rng, &how);
    CnAnswer answer = answer_for(p);
    CnSolverDef def = cn_solver_def_default(i % 3 ? "psor" : "pssor");
    def.effort = CN_EFFORT_EXACT;
    def.tolerance = 1e-6;
    def.max_iterations = 1 + i;
    def.check_interval = 1 + i % 5;
    CnSolveReport report = solve_def(&def, p, &answer);
    CnCertificate again = certify(p, &answer);
    CHECK(report.converged == (report.certificate.residual <= def.tolerance));
    CHECK(again.residual == report.certificate.residual);
    CHECK(report.certificate.momentum_defect <= 1e-13);
    // stopping early is allowed only to who has arrived
    CHECK(report.converged || report.iterations == def.max_iterations);
    if (report.converged)
      yes++;
    else
      no++;
    cn_answer_release(&answer);
    cn_problem_destroy(p);
  }
  if (yes <= 20 || no <= 20) print_error("%d arrived, %d did not\n", (int)yes, (int)no);
  CHECK(yes > 20 && no > 20);
}

static void one_liner(void **state) {
  (void)state;
  CnProblem *p = box_on_ground(1);
  CnAnswer answer = answer_for(p);
  CnSolveReport report;
  CHECK_OK(cn_solve(p, "psor", 1e-10, &answer, &report));
  CHECK(report.converged && report.certificate.residual <= 1e-10);
  CHECK_STATUS(cn_solve(p, "psorr", 1e-10, &answer, &report), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_solve(NULL, "psor", 1e-10, &answer, &report), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_solve(p, "psor", -1, &answer, &report), CN_INVALID_ARGUMENT);
  cn_answer_release(&answer);
  cn_problem_destroy(p);
}

// Without blocks the velocities are the free ones.
static void empty(void **state) {
  (void)state;
  CnProblemDef def = cn_problem_def_default();
  CnProblem *p = NULL;
  CHECK_OK(cn_problem_create(&def, &p));
  CnGroupDef group = cn_group_def_default();
  group.inv_mass = 1;
  group.free.velocity.y = 3;
  CHECK_OK(cn_problem_add_group(p, &group, NULL));
  CnAnswer answer = answer_for(p);
  CnSolveReport report;
  CHECK_OK(cn_solve(p, "psor", 1e-10, &answer, &report));
  CHECK(report.converged && report.iterations == 0);
  CHECK_NEAR(answer.v[1], 3, 0);
  cn_answer_release(&answer);
  cn_problem_destroy(p);
}

// Blocks between prescribed groups carry no impulse and harm nobody.
static void prescribed_only(void **state) {
  (void)state;
  for (int32_t storage = CNI_ROWS; storage <= CNI_SPHERE; storage++) {
    CnProblem *p = ball_on_ground_as(1, (CniStorage)storage, CN_FRICTION_COULOMB);
    p->groups[1].inv_mass = 0;
    p->groups[1].inv_inertia = 0;
    CnAnswer answer = answer_for(p);
    answer.g[0] = 1;
    CnSolverDef def = cn_solver_def_default("psor");
    solve_def(&def, p, &answer);
    CHECK(answer.g[0] == 0 && answer.g[1] == 0 && answer.g[2] == 0);
    CHECK_NEAR(answer.v[6], 1, 0);
    cn_answer_release(&answer);
    cn_problem_destroy(p);
  }
}

// Solvers that factor look at the clock too: cut after the first attempt, or not marked at all.
static void time_of_factors(void **state) {
  (void)state;
  const char *names[] = {"newton", "auto", "ipm"};
  CnProblem *p = box_stack(6, 1000, .1, CN_FRICTION_COULOMB), *w = NULL;
  CHECK_OK(cn_problem_to_explicit(p, &w));
  for (int32_t k = 0; k < 6; k++) {
    CnProblem *asked = k / 3 ? w : p;
    CnSolverDef def = cn_solver_def_default(names[k % 3]);
    def.effort = CN_EFFORT_EXACT;
    CnAnswer answer = answer_for(asked);
    def.tolerance = 1e-300;
    def.time_budget = 1e-9;
    CnSolveReport report = solve_def(&def, asked, &answer);
    CHECK(report.cut_by_time && !report.converged && report.attempts <= 1);
    memset(answer.g, 0, (size_t)answer.row_count * sizeof *answer.g);
    def.tolerance = 1e-8;
    def.time_budget = 1000;
    report = solve_def(&def, asked, &answer);
    CHECK(!report.cut_by_time);
    cn_answer_release(&answer);
  }
  cn_problem_destroy(p);
  cn_problem_destroy(w);
}

// ---- memory ----

static CnProblem *mixed_problem(void) {
  CniRng rng = {22};
  RandomProblem how = random_problem_default();
  how.block_count = 30;
  return random_problem(&rng, &how);
}

static void failing_memory(void **state) {
  (void)state;
  CnProblem *p = mixed_problem();
  CnAnswer answer = answer_for(p), copy = answer_for(p);
  for (int32_t i = 0; i < answer.row_count; i++) answer.g[i] = copy.g[i] = .001 * i;
  for (int32_t solver_kind = 0; solver_kind < cni_solver_kind_count; solver_kind++) {
    if (cni_solver_check(cni_solver_kinds[solver_kind], p) != CN_OK) continue;
    for (int64_t n = 1;; n++) {
      TestAlloc alloc;
      test_alloc_init(&alloc);
      CnSolverDef def = cn_solver_def_default(cn_solver_name(solver_kind));
      def.effort = CN_EFFORT_EXACT;
      def.allocator = test_alloc_hook(&alloc);
      test_alloc_fail_at(&alloc, n);
      CnSolver *solver = NULL;
      CnSolveReport report = {.iterations = -7};
      CnStatus status = cn_solver_create(&def, &solver);
      if (status == CN_OK) status = cn_solver_solve(solver, p, &answer, &report);
      int64_t failed = alloc.failed_count;
      // which joints contradict each other is found after the answer, and left out without memory
      int unnamed = failed && status == CN_OK;
      if (unnamed) {
        CHECK(report.iterations >= 0 && report.infeasible_count == 0);
        memcpy(answer.g, copy.g, (size_t)answer.row_count * sizeof *answer.g);
        memcpy(answer.u, copy.u, (size_t)answer.row_count * sizeof *answer.u);
        memcpy(answer.v, copy.v, (size_t)answer.velocity_count * sizeof *answer.v);
      } else if (failed) {
        CHECK_FAILED(status, CN_NO_MEMORY);
        CHECK(report.iterations == -7);
        size_t rows = (size_t)answer.row_count * sizeof *answer.g;
        CHECK(memcmp(answer.g, copy.g, rows) == 0 && memcmp(answer.u, copy.u, rows) == 0);
        CHECK(memcmp(answer.v, copy.v, (size_t)answer.velocity_count * sizeof *answer.v) == 0);
        // the same call then succeeds
        CnAnswer second = answer_for(p);
        if (solver) CHECK_OK(cn_solver_solve(solver, p, &second, &report));
        cn_answer_release(&second);
      }
      cn_solver_destroy(solver);
      test_alloc_check_clean(&alloc);
      if (!failed) {
        CHECK(n > 3);
        CHECK_OK(status);
        break;
      }
    }
    memcpy(answer.g, copy.g, (size_t)answer.row_count * sizeof *answer.g);
    answer_update(p, &answer);
    answer_update(p, &copy);
  }
  cn_answer_release(&answer);
  cn_answer_release(&copy);
  cn_problem_destroy(p);
}

static void second_solve_allocates_nothing(void **state) {
  (void)state;
  CnProblem *p = mixed_problem(), *smaller = ball_on_ground(1);
  for (int32_t i = 0; i < cni_solver_kind_count; i++) {
    if (cni_solver_check(cni_solver_kinds[i], p) != CN_OK) continue;
    TestAlloc alloc;
    test_alloc_init(&alloc);
    CnSolverDef def = cn_solver_def_default(cn_solver_name(i));
    def.effort = CN_EFFORT_EXACT;
    def.allocator = test_alloc_hook(&alloc);
    def.tolerance = 1e-3;
    CnSolver *solver = NULL;
    CnAnswer answer = answer_for(p), small = answer_for(smaller);
    CHECK_OK(cn_solver_create(&def, &solver));
    CHECK_OK(cn_solver_solve(solver, p, &answer, NULL));
    int64_t count = alloc.allocation_count;
    CHECK_OK(cn_solver_solve(solver, p, &answer, NULL));
    CHECK_OK(cn_solver_solve(solver, smaller, &small, NULL));
    CHECK_OK(cn_solver_solve(solver, p, &answer, NULL));
    CHECK(alloc.allocation_count == count);
    cn_solver_destroy(solver);
    test_alloc_check_clean(&alloc);
    cn_answer_release(&answer);
    cn_answer_release(&small);
  }
  cn_problem_destroy(p);
  cn_problem_destroy(smaller);
}

// The same numbers from a used solver as from a new one: nothing is carried over but g.
static void nothing_is_remembered(void **state) {
  (void)state;
  CnProblem *p = mixed_problem(), *other = box_on_ground(1);
  CnSolverDef def = cn_solver_def_default("psor");
  CnSolver *used = NULL;
  CHECK_OK(cn_solver_create(&def, &used));
  CnAnswer a = answer_for(p), b = answer_for(p), c = answer_for(other);
  CHECK_OK(cn_solver_solve(used, other, &c, NULL));
  CHECK_OK(cn_solver_solve(used, p, &a, NULL));
  solve_def(&def, p, &b);
  CHECK(memcmp(a.g, b.g, (size_t)a.row_count * sizeof *a.g) == 0);
  CHECK(memcmp(a.v, b.v, (size_t)a.velocity_count * sizeof *a.v) == 0);

  // looks at the tolerance do not change the sweeps
  def.tolerance = 1e-300;
  def.check_interval = 1;
  CnAnswer d = answer_for(p);
  solve_def(&def, p, &d);
  CHECK(memcmp(a.g, d.g, (size_t)a.row_count * sizeof *a.g) == 0);
  cn_solver_destroy(used);
  cn_answer_release(&a);
  cn_answer_release(&b);
  cn_answer_release(&c);
  cn_answer_release(&d);
  cn_problem_destroy(p);
  cn_problem_destroy(other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(table),
      cmocka_unit_test(definitions),
      cmocka_unit_test(misuse),
      cmocka_unit_test(unsupported),
      cmocka_unit_test(budgets),
      cmocka_unit_test(honesty),
      cmocka_unit_test(one_liner),
      cmocka_unit_test(empty),
      cmocka_unit_test(prescribed_only),
      cmocka_unit_test(time_of_factors),
      cmocka_unit_test(failing_memory),
      cmocka_unit_test(second_solve_allocates_nothing),
      cmocka_unit_test(nothing_is_remembered),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
