// SPDX-License-Identifier: Apache-2.0
// Joints are one block of the sweeps: problems of joints alone are answered by one solve, mechanisms
// with contacts keep their joints at every number of sweeps, dependent rows share alike, the
// number of workers does not show, and rows with bounds are solved with the joints.
#include "check.h"
#include "scenes.h"
#include "solving.h"

#include <stdlib.h>
#include <string.h>

static const char *const sweeps[] = {"psor", "pssor"};

static CnSolveReport solve_once(const char *solver, int32_t iterations, CnTasks *tasks,
                                const CnProblem *p, CnAnswer *answer) {
  CnSolverDef def = cn_solver_def_default(solver);
  def.effort = CN_EFFORT_EXACT;
  def.max_iterations = iterations;
  def.tasks = tasks;
  return solve_def(&def, p, answer);
}

// Gravity on a chain that is held at one end: the joint velocities vanish, whatever its length.
static void chains_in_one_iteration(void **state) {
  (void)state;
  for (int32_t i = 0; i < 2; i++)
    for (int32_t count = 1; count <= 10000; count *= 10) {
      CnProblem *p = chain_of_rows(count);
      CnAnswer answer = answer_for(p);
      CnSolveReport report = solve_once(sweeps[i], 1, NULL, p, &answer);
      CHECK(report.iterations == 1);
      CHECK(report.certificate.joint_speed <= 1e-12 && report.certificate.momentum_defect <= 1e-13);
      cn_answer_release(&answer);
      cn_problem_destroy(p);
    }
}

// auto takes the same way, and says so.
static void auto_is_direct(void **state) {
  (void)state;
  CnProblem *p = chain_of_rows(2000);
  CnAnswer answer = answer_for(p);
  CnSolveReport report = solve_once("auto", 120, NULL, p, &answer);
  CHECK(report.converged && report.attempts == 1 && strcmp(report.method, "direct") == 0);
  cn_answer_release(&answer);
  cn_problem_destroy(p);
}

// Any bilateral rows in any storage, compliant or not, over several groups, some prescribed.
static void random_joints(void **state) {
  (void)state;
  CniRng rng = {31};
  RandomProblem how = random_problem_default();
  how.kinds = 1u << CN_BLOCK_BILATERAL;
  for (int32_t i = 0; i < 200; i++) {
    how.block_count = 1 + i % 16;
    how.compliant = i % 3 > 0;
    CnProblem *p = random_problem(&rng, &how);
    CnAnswer answer = answer_for(p);
    CnSolveReport report = solve_once(sweeps[i % 2], 1, NULL, p, &answer);
    CHECK(report.certificate.residual <= 1e-10 && report.certificate.momentum_defect <= 1e-12);
    cn_answer_release(&answer);
    cn_problem_destroy(p);
  }
}

// With contacts among them the joints hold after any number of sweeps, and the same with workers.
static void joints_hold(void **state) {
  (void)state;
  CniRng rng = {32};
  RandomProblem how = random_problem_default();
  CnTasks *tasks;
  CHECK_OK(cn_tasks_create(3, NULL, NULL, &tasks));
  how.group_count = 40;
  how.block_count = 40;
  for (int32_t i = 0; i < 60; i++) {
    CnProblem *p = random_problem(&rng, &how);
    CnAnswer answer = answer_for(p), other = answer_for(p);
    CnSolveReport report = solve_once(sweeps[i % 2], 1 + i % 7, NULL, p, &answer);
    CHECK(report.certificate.joint_speed <= 1e-10 && report.certificate.momentum_defect <= 1e-12);
    solve_once(sweeps[i % 2], 1 + i % 7, tasks, p, &other);
    CHECK(memcmp(answer.g, other.g, (size_t)p->row_count * sizeof *answer.g) == 0);
    cn_answer_release(&answer);
    cn_answer_release(&other);
    cn_problem_destroy(p);
  }
  cn_tasks_destroy(tasks);
}

// A plate on pins in a line: equal shares, whatever the warm start.
static void equal_shares(void **state) {
  (void)state;
  for (int32_t count = 2; count <= 9; count++) {
    CnProblemDef def = cn_problem_def_default();
    CnProblem *p;
    CHECK_OK(cn_problem_create(&def, &p));
    CnSet set = cn_set_default(CN_BLOCK_BILATERAL);
    CHECK_OK(cn_problem_add_set(p, &set, NULL));
    CnGroupDef group = cn_group_def_default();
    CHECK_OK(cn_problem_add_group(p, &group, NULL));
    group.inv_mass = .5;
    group.inv_inertia = (CnSym3){3, 4, 5, 0, 0, 0};
    group.free.velocity.z = -.0981;
    CHECK_OK(cn_problem_add_group(p, &group, NULL));
    double b[3] = {0, 0, 0};
    for (int32_t i = 0; i < count; i++) {
      CnPairDef pair = cn_pair_def_default();
      pair.group_a = 0;
      pair.group_b = 1;
      pair.normal = (CnVec3){0, 0, 1};
      pair.tangent = (CnVec3){1, 0, 0};
      pair.arm_b = (CnVec3){-.3, .2, .1 * i};
      pair.length = 1;
      CHECK_OK(cn_problem_add_pair(p, 0, 3, &pair, b, NULL));
    }
    CnAnswer answer = answer_for(p);
    for (int32_t i = 0; i < 3 * count; i++) answer.g[i] = i; // does not matter
    CnSolveReport report = solve_once("psor", 1, NULL, p, &answer);
    CHECK(report.certificate.joint_speed <= 1e-13);
    for (int32_t i = 1; i < count; i++) CHECK_REL(answer.g[3 * i], answer.g[0], 1e-6);
    cn_answer_release(&answer);
    cn_problem_destroy(p);
  }
}

// Rows with bounds beside the joints: the active ones are found with the factor of the joints, and they are those
// of the simplex.
static void bounded_rows(void **state) {
  (void)state;
  CniRng rng = {33};
  RandomProblem how = random_problem_default();
  int32_t direct = 0;
  how.group_count = 30;
  how.kinds = 1u << CN_BLOCK_BILATERAL | 1u << CN_BLOCK_UNILATERAL | 1u << CN_BLOCK_INTERVAL;
  for (int32_t i = 0; i < 100; i++) {
    how.block_count = 5 + i % 40;
    how.compliant = i % 3 > 0;
    CnProblem *p = random_problem(&rng, &how);
    CnAnswer answer = answer_for(p), other = answer_for(p);
    CnSolveReport report = solve_once("auto", 120, NULL, p, &answer);
    CHECK(report.converged && report.certificate.residual <= 1e-8);
    direct += strcmp(report.method, "active rows") == 0;
    solve_once("simplex", 10000, NULL, p, &other);
    for (int32_t k = 0; k < answer.velocity_count; k++) CHECK_NEAR(answer.v[k], other.v[k], 1e-6);
    cn_answer_release(&answer);
    cn_answer_release(&other);
    cn_problem_destroy(p);
  }
  CHECK(direct > 50);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bounded_rows),   cmocka_unit_test(chains_in_one_iteration),
      cmocka_unit_test(auto_is_direct), cmocka_unit_test(random_joints),
      cmocka_unit_test(joints_hold),    cmocka_unit_test(equal_shares),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
