// SPDX-License-Identifier: Apache-2.0
// Friction problems in Siconos: reads a request on stdin, prints the answers of its solvers.
//
// Input: tolerance, repeats, seconds, number of solvers, their names, then the problem
// (friction_problems.h). Output, for every solver that came to an end: a line "name info best
// median repeats" and a line with the impulses. The times are those of the repeats of one call of
// the driver, from zero; there are as many repeats as asked for, or as fit in the seconds given (at
// least one). Options are made afresh before every repeat, outside the timing.
//
// W is handed over dense and as sparse blocks, and the faster counts: most solvers are quickest
// with blocks, few small problems with a dense matrix. Solvers that want a plain sparse matrix make
// it themselves.
#include <stdlib.h>
#include <string.h>

#include <CSparseMatrix.h>
#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <NumericsSparseMatrix.h>
#include <RollingFrictionContactProblem.h>
#include <SolverOptions.h>
#include <SparseBlockMatrix.h>

#include "../friction_problems.h"
#include "siconos_runs.h"

#define ITERATIONS 1000000 // as many as the time allows
#define DENSE_ROWS 600     // larger problems are not tried dense

typedef struct Choice {
  const char *name;
  int dim, id;
  int inner; // solver of an inner problem, 0: the default one
} Choice;

static const Choice choices[] = {
    {"nsgs", 2, SICONOS_FRICTION_2D_NSGS, 0},
    {"nsgs", 3, SICONOS_FRICTION_3D_NSGS, 0},
    {"nsgs", 5, SICONOS_ROLLING_FRICTION_3D_NSGS, 0},
    {"prox", 3, SICONOS_FRICTION_3D_PROX, SICONOS_FRICTION_3D_NSN_AC},
    {"nsn-ac", 3, SICONOS_FRICTION_3D_NSN_AC, 0},
    {"nsn-fb", 3, SICONOS_FRICTION_3D_NSN_FB, 0},
    {"admm", 3, SICONOS_FRICTION_3D_ADMM, 0},
    {"vi-eg", 3, SICONOS_FRICTION_3D_VI_EG, 0},
};

#define CHOICES ((int)(sizeof choices / sizeof choices[0]))
#define NAME 32

typedef struct Request {
  double tolerance, seconds;
  int repeats, name_count;
  char names[CHOICES][NAME];
  FrictionProblem problem;
} Request;

static NumericsMatrix *make_matrix(const FrictionProblem *p, int dense) {
  int n = p->dim * p->contacts;
  NumericsMatrix *sparse = NM_create(NM_SPARSE, n, n);
  NM_triplet_alloc(sparse, p->entries);
  for (int i = 0; i < n; i++)
    for (int e = p->start[i]; e < p->start[i + 1]; e++)
      NM_entry(sparse, i, p->column[e], p->value[e]);
  NumericsMatrix *made = NM_create(dense ? NM_DENSE : NM_SPARSE_BLOCK, n, n);
  if (dense)
    for (int i = 0; i < n; i++)
      for (int e = p->start[i]; e < p->start[i + 1]; e++)
        made->matrix0[i + n * p->column[e]] = p->value[e];
  else
    SBM_from_csparse(p->dim, NM_csc(sparse), made->matrix1);
  return made;
}

static SolverOptions *make_options(const Request *request, const Choice *choice) {
  SolverOptions *options = solver_options_create(choice->id);
  if (!options) return NULL;
  options->dparam[SICONOS_DPARAM_TOL] = request->tolerance;
  if (options->iparam[SICONOS_IPARAM_MAX_ITER] < ITERATIONS)
    options->iparam[SICONOS_IPARAM_MAX_ITER] = ITERATIONS;
  if (choice->inner) solver_options_update_internal(options, 0, choice->inner);
  return options;
}

static int drive(const Request *request, NumericsMatrix *w, double *g, double *u,
                 SolverOptions *options) {
  const FrictionProblem *p = &request->problem;
  if (p->dim == 5) {
    RollingFrictionContactProblem rolling = {5, p->contacts, w, p->q, p->mu, p->mu_roll};
    return rolling_fc3d_driver(&rolling, g, u, options);
  }
  FrictionContactProblem contact = {p->dim, p->contacts, w, p->q, p->mu};
  return (p->dim == 2 ? fc2d_driver : fc3d_driver)(&contact, g, u, options);
}

typedef struct Run {
  const Request *request;
  const Choice *choice;
  int dense;
  NumericsMatrix *w;
  double *g, *u;
} Run;

static int solve(void *context, double *seconds) {
  Run *run = context;
  const FrictionProblem *p = &run->request->problem;
  size_t bytes = ((size_t)(p->dim * p->contacts) + 1) * sizeof(double);
  SolverOptions *options = make_options(run->request, run->choice);
  if (!options) return -1;
  memset(run->g, 0, bytes);
  memset(run->u, 0, bytes);
  double start = runs_clock();
  int info = drive(run->request, run->w, run->g, run->u, options);
  *seconds = runs_clock() - start;
  solver_options_delete(options);
  free(options);
  return info < 0 ? -info : info;
}

// In the child: solve again and again, print the times and the last answer.
static void run_solver(void *context, FILE *output) {
  Run *run = context;
  const FrictionProblem *p = &run->request->problem;
  size_t bytes = ((size_t)(p->dim * p->contacts) + 1) * sizeof(double);
  RunPlan plan = {run->request->repeats, run->request->seconds};
  RunTimes times;
  run->w = make_matrix(p, run->dense);
  run->g = malloc(bytes);
  run->u = malloc(bytes);
  if (!run->g || !run->u || !runs_time(&plan, solve, run, &times)) return;
  fprintf(output, "%s %d %.9g %.9g %d\n", run->choice->name, times.info, times.best, times.median,
          times.count);
  for (int i = 0; i < p->dim * p->contacts; i++) fprintf(output, "%a ", run->g[i]);
  fprintf(output, "\n");
  fflush(output);
}

static int read_request(Request *request) {
  if (scanf("%la %d %la %d", &request->tolerance, &request->repeats, &request->seconds,
            &request->name_count) != 4)
    return 0;
  if (request->repeats < 1 || request->name_count < 0 || request->name_count > CHOICES) return 0;
  for (int i = 0; i < request->name_count; i++)
    if (scanf("%31s", request->names[i]) != 1) return 0;
  return friction_problem_read(&request->problem, stdin);
}

// A solver with blocks, and dense where that may be faster.
static void run_choice(const Request *request, const Choice *choice) {
  int rows = request->problem.dim * request->problem.contacts;
  for (int dense = 0; dense <= (rows <= DENSE_ROWS); dense++) {
    Run run = {.request = request, .choice = choice, .dense = dense};
    runs_apart((unsigned)(3 * request->seconds) + 5, run_solver, &run);
  }
}

int main(int argc, char **argv) {
  (void)argc;
  runs_one_thread(argv);
  static Request request;
  if (!read_request(&request)) return 1;
  for (int i = 0; i < request.name_count; i++)
    for (int c = 0; c < CHOICES; c++)
      if (choices[c].dim == request.problem.dim && strcmp(choices[c].name, request.names[i]) == 0)
        run_choice(&request, &choices[c]);
  friction_problem_destroy(&request.problem);
  return 0;
}
