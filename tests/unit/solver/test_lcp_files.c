// auto on the stored complementarity problems: all of them, at 1e-8, by the certificate.
#include <dirent.h>
#include <stdio.h>

#include "check.h"
#include "problems.h"
#include "solving.h"

#include <cairn/files.h>

static void solve_folder(const char *sub, int32_t least) {
  const char *root = problem_folder();
  if (!root) skip();
  char path[4096];
  int32_t count = 0;
  snprintf(path, sizeof path, "%s/%s", root, sub);
  DIR *folder = opendir(path);
  CHECK(folder != NULL);
  for (struct dirent *e; (e = readdir(folder));) {
    if (e->d_name[0] == '.') continue;
    CnProblem *p = NULL;
    snprintf(path, sizeof path, "%s/%s/%s", root, sub, e->d_name);
    CHECK_OK(cn_problem_read(path, NULL, &p, NULL));
    CnAnswer answer = cn_answer_empty(NULL);
    CnSolveReport report;
    CHECK_OK(cn_answer_fit(&answer, p));
    CHECK_OK(cn_solve(p, "auto", 1e-8, &answer, &report));
    if (!report.converged)
      print_error("%s: error %g\n", e->d_name, report.certificate.error_siconos);
    CHECK(report.converged && report.certificate.error_siconos <= 1e-8);
    cn_answer_release(&answer);
    cn_problem_destroy(p);
    count++;
  }
  closedir(folder);
  CHECK(count >= least);
}

static void lcp_files(void **state) {
  (void)state;
  solve_folder("lcp", 11);
}

static void mlcp_files(void **state) {
  (void)state;
  solve_folder("mlcp", 12);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(lcp_files), cmocka_unit_test(mlcp_files)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
