// SPDX-License-Identifier: Apache-2.0
// Complementarity problems in Siconos: reads a request (lcp_problems.h) on stdin, prints the
// answers of its solvers.
//
// Input: tolerance, repeats, seconds, then the problem. Output, for every solver that came to an
// end: a line "name info seconds repeats" and a line with z. `seconds` is the median of the repeats
// of one call of the driver, from z = 0; there are as many repeats as asked for, or as fit in the
// seconds given. Options are made afresh before every repeat, outside the timing: some solvers of
// mixed problems keep the last solution, and repeats would only measure how they find it again.
#include <stdlib.h>
#include <string.h>

#include <LCP_Solvers.h>
#include <LinearComplementarityProblem.h>
#include <MLCP_Solvers.h>
#include <MixedLinearComplementarityProblem.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <SolverOptions.h>
#include <lcp_cst.h>
#include <mlcp_cst.h>

#include "../lcp_problems.h"
#include "siconos_runs.h"

#define ITERATIONS 10000 // of the iterative solvers, whose default is less
#define ENUMERATED 16    // complementarity rows up to which solvers by enumeration are asked

typedef struct Choice {
  const char *name;
  int id;
  int enumerates;
} Choice;

static const Choice lcp_choices[] = {{"lemke", SICONOS_LCP_LEMKE, 0},
                                     {"pgs", SICONOS_LCP_PGS, 0},
                                     {"newton-min", SICONOS_LCP_NEWTONMIN, 0},
                                     {"newton-fb", SICONOS_LCP_NEWTON_FB_FBLSA, 0},
                                     {"newton-min-fb", SICONOS_LCP_NEWTON_MIN_FBLSA, 0},
                                     {"psor", SICONOS_LCP_PSOR, 0},
                                     {"rpgs", SICONOS_LCP_RPGS, 0},
                                     {"enum", SICONOS_LCP_ENUM, 1},
                                     {"avi-caoferris", SICONOS_LCP_AVI_CAOFERRIS, 0},
                                     {"pivot", SICONOS_LCP_PIVOT, 0},
                                     {"bard", SICONOS_LCP_BARD, 0},
                                     {"murty", SICONOS_LCP_MURTY, 0},
                                     {NULL, 0, 0}};
static const Choice mlcp_choices[] = {{"pgs", SICONOS_MLCP_PGS, 0},
                                      {"rpgs", SICONOS_MLCP_RPGS, 0},
                                      {"psor", SICONOS_MLCP_PSOR, 0},
                                      {"enum", SICONOS_MLCP_ENUM, 1},
                                      {"direct-enum", SICONOS_MLCP_DIRECT_ENUM, 1},
                                      {"fb", SICONOS_MLCP_FB, 0},
                                      {"direct-fb", SICONOS_MLCP_DIRECT_FB, 0},
                                      {"lemke", SICONOS_MLCP_LCP_LEMKE, 0},
                                      {NULL, 0, 0}};

typedef struct Request {
  double tolerance, seconds;
  int repeats;
  LcpProblem problem;
} Request;

// ---- problems in Siconos' form ----

static LinearComplementarityProblem *make_lcp(const LcpProblem *p) {
  LinearComplementarityProblem *made = newLCP();
  int n = p->size;
  made->size = n;
  made->q = p->q;
  made->M = NM_create(NM_DENSE, n, n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) made->M->matrix0[i + n * j] = p->w[i * n + j];
  return made;
}

static void print_block(FILE *file, const LcpProblem *p, int rows, int columns) {
  for (int i = 0; i < p->size; i++)
    for (int j = 0; j < p->size; j++)
      if (p->equality[i] == rows && p->equality[j] == columns)
        fprintf(file, "%.17g\n", p->w[i * p->size + j]);
}

// Through its own file format, which has all that its solvers want to see.
static MixedLinearComplementarityProblem *make_mlcp(const LcpProblem *p) {
  FILE *file = tmpfile();
  if (!file) return NULL;
  int n = p->size, m = n - p->equalities;
  fprintf(file, "1\n1\n%d %d\n0\n", p->equalities, m);
  for (int i = 1; i <= n; i++)
    if (i == n || p->equality[i] != p->equality[i - 1]) fprintf(file, "%d\n", i);
  for (int i = 0; i < n; i++)
    if (i == 0 || p->equality[i] != p->equality[i - 1]) fprintf(file, "%d\n", !p->equality[i]);
  fprintf(file, "0\n%d\n%d\n%d\t%d\n", n, n, n, n);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) fprintf(file, "%.17g\n", p->w[i * n + j]);
  for (int i = 0; i < n; i++) fprintf(file, "%.17g\n", p->q[i]);
  print_block(file, p, 1, 1); // A, B, C, D, a, b
  print_block(file, p, 0, 0);
  print_block(file, p, 1, 0);
  print_block(file, p, 0, 1);
  for (int kind = 1; kind >= 0; kind--)
    for (int i = 0; i < n; i++)
      if (p->equality[i] == kind) fprintf(file, "%.17g\n", p->q[i]);
  rewind(file);
  MixedLinearComplementarityProblem *made = mixedLinearComplementarity_new();
  int failed = mixedLinearComplementarity_newFromFile(made, file);
  fclose(file);
  return failed ? NULL : made;
}

// ---- one solver ----

static SolverOptions *make_options(const Request *request, const Choice *choice,
                                   MixedLinearComplementarityProblem *mlcp) {
  SolverOptions *options = solver_options_create(choice->id);
  if (!options) return NULL;
  options->dparam[SICONOS_DPARAM_TOL] = request->tolerance;
  if (options->iparam[SICONOS_IPARAM_MAX_ITER] < ITERATIONS)
    options->iparam[SICONOS_IPARAM_MAX_ITER] = ITERATIONS;
  if (mlcp) mlcp_driver_init(mlcp, options);
  return options;
}

typedef struct Run {
  const Request *request;
  const Choice *choice;
  LinearComplementarityProblem *lcp; // one of the two
  MixedLinearComplementarityProblem *mlcp;
  double *z, *w;
} Run;

static int solve(void *context, double *seconds) {
  Run *run = context;
  size_t bytes = ((size_t)run->request->problem.size + 1) * sizeof(double);
  SolverOptions *options = make_options(run->request, run->choice, run->mlcp);
  if (!options) return -1;
  memset(run->z, 0, bytes);
  memset(run->w, 0, bytes);
  double start = runs_clock();
  int info = run->mlcp ? mlcp_driver(run->mlcp, run->z, run->w, options)
                       : linearComplementarity_driver(run->lcp, run->z, run->w, options);
  *seconds = runs_clock() - start;
  if (run->mlcp) mlcp_driver_reset(run->mlcp, options);
  solver_options_delete(options);
  free(options);
  return info < 0 ? -info : info;
}

// In the child: solve again and again, print the median and the last answer.
static void run_solver(void *context, FILE *output) {
  Run *run = context;
  const LcpProblem *p = &run->request->problem;
  size_t bytes = ((size_t)p->size + 1) * sizeof(double);
  RunPlan plan = {run->request->repeats, run->request->seconds};
  RunTimes times;
  if (p->equalities > 0)
    run->mlcp = make_mlcp(p);
  else
    run->lcp = make_lcp(p);
  run->z = malloc(bytes);
  run->w = malloc(bytes);
  if ((!run->mlcp && !run->lcp) || !run->z || !run->w) return;
  if (!runs_time(&plan, solve, run, &times)) return;
  fprintf(output, "%s %d %.9g %d\n", run->choice->name, times.info, times.median, times.count);
  for (int i = 0; i < p->size; i++) fprintf(output, "%a ", run->z[i]);
  fprintf(output, "\n");
  fflush(output);
}

int main(int argc, char **argv) {
  (void)argc;
  runs_one_thread(argv);
  Request request;
  if (scanf("%la %d %la", &request.tolerance, &request.repeats, &request.seconds) != 3) return 1;
  if (request.repeats < 1 || !lcp_problem_read(&request.problem, stdin)) return 1;
  const LcpProblem *p = &request.problem;
  const Choice *choice = p->equalities > 0 ? mlcp_choices : lcp_choices;
  for (; choice->name; choice++) {
    Run run = {.request = &request, .choice = choice};
    if (!choice->enumerates || p->size - p->equalities <= ENUMERATED)
      runs_apart((unsigned)(3 * request.seconds) + 5, run_solver, &run);
  }
  lcp_problem_destroy(&request.problem);
  return 0;
}
