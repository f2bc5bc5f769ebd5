// SPDX-License-Identifier: Apache-2.0
// auto on the stored friction problems: all of them, at 1e-8 in both errors, by the certificate,
// each also with the unit of the impulse changed by a million either way.
#include <dirent.h>
#include <stdio.h>

#include "check.h"
#include "problem/problem.h"
#include "problems.h"
#include "solving.h"

#include <cairn/files.h>

// Both errors where the form has both.
static double worst_error(const CnProblem *p, const CnCertificate *c) {
  return p->form == CN_FORM_EXPLICIT ? fmax(c->error_siconos, c->error_scaled) : c->error_siconos;
}

static void solve_one(CnProblem *p, const char *name) {
  CnAnswer answer = cn_answer_empty(NULL);
  CnSolveReport report;
  CnCertificate again;
  CHECK_OK(cn_answer_fit(&answer, p));
  CHECK_OK(cn_solve(p, "auto", 1e-8, &answer, &report));
  CHECK_OK(cn_certify(p, &answer, &again));
  if (!report.converged) print_error("%s: error %g\n", name, worst_error(p, &again));
  CHECK(report.converged && worst_error(p, &again) <= 1e-8);
  cn_answer_release(&answer);
}

static void solve_folder(const char *sub, int32_t least) {
  const char *root = problem_folder();
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
    solve_one(p, e->d_name);
    // r := f r is W := W/f; the laws do not change
    for (double f = 1e-6; f < 1e7 && p->form == CN_FORM_EXPLICIT; f *= 1e12) {
      int32_t entries = p->w.start[p->w.row_count];
      for (int32_t k = 0; k < entries; k++) p->w.value[k] /= f;
      solve_one(p, e->d_name);
      for (int32_t k = 0; k < entries; k++) p->w.value[k] *= f;
    }
    cn_problem_destroy(p);
    count++;
  }
  closedir(folder);
  CHECK(count >= (problem_folder_is_whole() ? least : 2));
}

static void friction_files(void **state) {
  (void)state;
  solve_folder("friction", 30);
}

static void rolling_files(void **state) {
  (void)state;
  solve_folder("rolling", 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(friction_files),
                                     cmocka_unit_test(rolling_files)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
