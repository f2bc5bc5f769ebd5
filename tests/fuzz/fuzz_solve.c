// SPDX-License-Identifier: Apache-2.0
// Any bytes as a small problem that is then given to every solver: an answer or a sentence, within
// a bounded amount of work (the fuzzer's time-out tells), and no solver claims what the certificate
// does not confirm.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/files.h>
#include <cairn/solver.h>

#include "fuzz.h"

#define ROWS 24 // larger problems take longer and show nothing new
#define TOLERANCE 1e-8
#define ITERATIONS 100 // more are asked for, and take as long as that takes

static void require(int condition, const char *solver, const char *what) {
  if (condition) return;
  fprintf(stderr, "fuzz_solve: %s: %s: %s\n", solver, what, cn_error_message());
  abort();
}

// The error that decides, as CnSolveReport says.
static double deciding(const CnProblemInfo *info, const CnSolveReport *report) {
  const CnCertificate *c = &report->certificate;
  if (report->facets > 0) return report->pyramid_residual;
  if (info->form == CN_FORM_STEP) return c->residual;
  return c->error_siconos; // at most the larger of two
}

static void check_solver(const CnProblem *problem, const CnProblemInfo *info, const char *name) {
  CnSolverDef def = cn_solver_def_default(name);
  CnSolver *solver = NULL;
  CnSolveReport report;
  CnAnswer answer = cn_answer_empty(NULL);
  def.tolerance = TOLERANCE;
  if (def.max_iterations > ITERATIONS) def.max_iterations = ITERATIONS;
  require(cn_solver_create(&def, &solver) == CN_OK, name, "not made");
  require(cn_answer_fit(&answer, problem) == CN_OK, name, "no room");
  CnStatus status = cn_solver_solve(solver, problem, &answer, &report);
  if (status == CN_OK && report.converged == 1)
    require(deciding(info, &report) <= TOLERANCE, name, "a false claim");
  if (status != CN_OK)
    require(cn_error_message()[0] && !strchr(cn_error_message(), '\n'), name, "no sentence");
  cn_answer_release(&answer);
  cn_solver_destroy(solver);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  CnProblem *problem = NULL;
  CnProblemFileInfo file;
  CnProblemInfo info;
  if (cn_problem_read_memory(data, size, "file", NULL, &problem, &file) != CN_OK) return 0;
  cn_problem_info(problem, &info);
  if (info.row_count <= ROWS && info.velocity_count <= 2 * ROWS)
    for (int32_t i = 0; cn_solver_name(i); i++) check_solver(problem, &info, cn_solver_name(i));
  cn_problem_destroy(problem);
  return 0;
}
