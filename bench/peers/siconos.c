// Complementarity problems in Siconos: reads a request (lcp_problems.h) on stdin, prints the
// answers of its solvers.
//
// Input: tolerance, repeats, seconds, then the problem. Output, for every solver that came to an
// end: a line "name info seconds repeats" and a line with z. `seconds` is the median of the repeats
// of one call of the driver, from z = 0; there are as many repeats as asked for, or as fit in the
// seconds given. Options are made afresh before every repeat, outside the timing: some solvers of
// mixed problems keep the last solution, and repeats would only measure how they find it again.
//
// Each solver runs in its own process: some abort, some do not end. One thread.
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

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

// In the child: solve again and again, print the median and the last answer.
static void run_solver(const Request *request, const Choice *choice, FILE *output) {
  const LcpProblem *p = &request->problem;
  int mixed = p->equalities > 0, count = 0, info = 1;
  LinearComplementarityProblem *lcp = mixed ? NULL : make_lcp(p);
  MixedLinearComplementarityProblem *mlcp = mixed ? make_mlcp(p) : NULL;
  size_t bytes = ((size_t)p->size + 1) * sizeof(double);
  double *z = malloc(bytes), *w = malloc(bytes), total = 0;
  double *times = malloc((size_t)request->repeats * sizeof *times);
  if ((mixed && !mlcp) || !z || !w || !times) return;
  for (; count < request->repeats && (total < request->seconds || count < 3); count++) {
    SolverOptions *options = make_options(request, choice, mlcp);
    if (!options) return;
    memset(z, 0, bytes);
    memset(w, 0, bytes);
    double start = seconds_now();
    info =
        mixed ? mlcp_driver(mlcp, z, w, options) : linearComplementarity_driver(lcp, z, w, options);
    total += times[count] = seconds_now() - start;
    if (mlcp) mlcp_driver_reset(mlcp, options);
    solver_options_delete(options);
    free(options);
    if (total > request->seconds) {
      count++;
      break;
    }
  }
  qsort(times, (size_t)count, sizeof *times, by_size);
  fprintf(output, "%s %d %.9g %d\n", choice->name, info, times[count / 2], count);
  for (int i = 0; i < p->size; i++) fprintf(output, "%a ", z[i]);
  fprintf(output, "\n");
  fflush(output);
}

static void run_apart(const Request *request, const Choice *choice, FILE *output) {
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    // its messages are not ours
    FILE *copy = fdopen(dup(fileno(output)), "w");
    if (!copy || !freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(1);
    alarm((unsigned)(3 * request->seconds) + 5);
    run_solver(request, choice, copy);
    _exit(0);
  }
  int status;
  if (child > 0) waitpid(child, &status, 0);
}

int main(int argc, char **argv) {
  (void)argc;
  // the linear algebra below counts its threads when it is loaded
  if (!getenv("OPENBLAS_NUM_THREADS")) {
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    execv("/proc/self/exe", argv);
  }
  Request request;
  if (scanf("%la %d %la", &request.tolerance, &request.repeats, &request.seconds) != 3) return 1;
  if (!lcp_problem_read(&request.problem, stdin)) return 1;
  const LcpProblem *p = &request.problem;
  const Choice *choice = p->equalities > 0 ? mlcp_choices : lcp_choices;
  for (; choice->name; choice++)
    if (!choice->enumerates || p->size - p->equalities <= ENUMERATED)
      run_apart(&request, choice, stdout);
  lcp_problem_destroy(&request.problem);
  return 0;
}
