// SPDX-License-Identifier: Apache-2.0
// Stored problems of other programs: auto on all complementarity problems at 1e-8, psor with exact
// blocks on all friction problems at 1e-4, both by the certificate.
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "problems.h"
#include "solving.h"

#include <cairn/files.h>

static void solve_file(const char *path, const CnSolverDef *def) {
  CnProblem *p = NULL;
  CnSolver *solver = NULL;
  CnAnswer answer = cn_answer_empty(NULL);
  CnSolveReport report;
  CHECK_OK(cn_problem_read(path, NULL, &p, NULL));
  CHECK_OK(cn_answer_fit(&answer, p));
  CHECK_OK(cn_solver_create(def, &solver));
  CHECK_OK(cn_solver_solve(solver, p, &answer, &report));
  if (!report.converged) print_error("%s: error %g\n", path, report.certificate.error_siconos);
  CHECK(report.converged && report.certificate.error_siconos <= def->tolerance);
  cn_solver_destroy(solver);
  cn_answer_release(&answer);
  cn_problem_destroy(p);
}

static void solve_folder(const char *sub, int32_t least, const CnSolverDef *def) {
  const char *root = problem_folder();
  char path[4096];
  int32_t count = 0;
  snprintf(path, sizeof path, "%s/%s", root, sub);
  DIR *folder = opendir(path);
  CHECK(folder != NULL);
  for (struct dirent *e; (e = readdir(folder)); count += e->d_name[0] != '.') {
    if (e->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s/%s", root, sub, e->d_name);
    solve_file(path, def);
  }
  closedir(folder);
  CHECK(count >= (problem_folder_is_whole() ? least : 2));
}

static void complementarity(void **state) {
  (void)state;
  CnSolverDef def = cn_solver_def_default("auto");
  def.effort = CN_EFFORT_EXACT;
  def.tolerance = 1e-8;
  def.max_iterations *= 100;
  solve_folder("lcp", 11, &def);
  solve_folder("mlcp", 12, &def);
}

static void friction(void **state) {
  (void)state;
  CnSolverDef def = cn_solver_def_default("psor");
  def.tolerance = 1e-4;
  def.max_iterations = 100000;
  def.local = CN_LOCAL_EXACT;
  solve_folder("friction", 30, &def);
  solve_folder("rolling", 3, &def);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(complementarity), cmocka_unit_test(friction)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
