// SPDX-License-Identifier: Apache-2.0
// Problems like the stored friction problems: is each answered?
//
// Every file is solved, then disturbed (tests/support/disturbed.h) in seven ways with some seeds,
// and the solver is asked for both errors at the tolerance, from zero. One row a family (the name
// of the file up to the first digit), with what was missed, the longest time and the methods that
// found the answers; then the sum. `false_claims` counts answers that were called converged though
// the certificate, computed once more here, says otherwise.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/solver.h>

#include "bench.h"
#include "bodies.h"
#include "disturbed.h"
#include "problem_files.h"

#define FAMILIES 64
#define FAMILY_NAME 64

typedef struct Family {
  char name[FAMILY_NAME];
  int32_t problems, answered, false_claims;
  double seconds, longest;
  char missed[128], slowest[64];
  size_t missed_used;
} Family;

typedef struct Job {
  const Values *values;
  double tolerance;
  int32_t seeds, iterations;
  Family families[FAMILIES];
  int32_t family_count;
} Job;

static Family *family_of(Job *job, const char *file) {
  char name[FAMILY_NAME];
  size_t used = 0;
  while (file[used] && used + 1 < sizeof name &&
         (isalpha((unsigned char)file[used]) || (used > 0 && used < 3)))
    used++;
  memcpy(name, file, used);
  name[used] = 0;
  for (int32_t i = 0; i < job->family_count; i++)
    if (strcmp(job->families[i].name, name) == 0) return &job->families[i];
  if (job->family_count == FAMILIES) return NULL;
  Family *made = &job->families[job->family_count++];
  memcpy(made->name, name, sizeof name);
  return made;
}

// Both errors where the form has both.
static double worst_error(const CnProblem *p, const CnCertificate *c) {
  return info_of(p).form == CN_FORM_EXPLICIT ? fmax(c->error_siconos, c->error_scaled)
                                             : c->error_siconos;
}

static void note(Family *family, const char *what, const char *method, int good, double error,
                 double seconds) {
  family->problems++;
  family->answered += good;
  family->seconds += seconds;
  if (seconds > family->longest) {
    family->longest = seconds;
    snprintf(family->slowest, sizeof family->slowest, "%s by %s", what, method);
  }
  if (good || family->missed_used >= sizeof family->missed) return;
  family->missed_used +=
      (size_t)snprintf(family->missed + family->missed_used,
                       sizeof family->missed - family->missed_used, "%s %.1e; ", what, error);
}

static CnStatus solve(Job *job, CnSolver *solver, Family *family, const char *what, CnProblem *p,
                      CnAnswer *answer) {
  CnSolveReport report;
  CnCertificate c;
  CnStatus status = cn_answer_fit(answer, p);
  double start = seconds_now();
  if (status == CN_OK) status = cn_solver_solve(solver, p, answer, &report);
  double seconds = seconds_now() - start;
  if (status == CN_OK) status = cn_answer_complete(answer, p);
  if (status == CN_OK) status = cn_certify(p, answer, &c);
  if (status != CN_OK) return status;
  double error = worst_error(p, &c);
  note(family, what, report.method, error <= job->tolerance, error, seconds);
  family->false_claims += report.converged && !(error <= job->tolerance);
  if (strcmp(value_text(job->values, "trace"), "yes") == 0)
    fprintf(stderr, "%-60s %8d %10.1f ms %6d steps %2d attempts %-8s %.2e%s\n", what,
            (int)info_of(p).row_count, 1e3 * seconds, (int)report.iterations, (int)report.attempts,
            report.method, error, error <= job->tolerance ? "" : " MISSED");
  return CN_OK;
}

static CnStatus run_disturbed(Job *job, CnSolver *solver, Family *family, const char *name,
                              CnProblem *base, const double *g) {
  CnAnswer answer = cn_answer_empty(NULL);
  CnStatus status = CN_OK;
  for (int32_t kind = 0; kind < DISTURB_COUNT && status == CN_OK; kind++)
    for (int32_t seed = 1; seed <= job->seeds && status == CN_OK; seed++) {
      CnProblem *made = NULL;
      char what[256];
      snprintf(what, sizeof what, "%s %s %d", name, disturbance_name((Disturbance)kind), (int)seed);
      status = disturbed_problem(base, g, (Disturbance)kind, (uint64_t)seed, &made);
      if (status == CN_OK) status = solve(job, solver, family, what, made, &answer);
      cn_problem_destroy(made);
    }
  cn_answer_release(&answer);
  return status;
}

static int run_file(void *context, const char *name, CnProblem *base) {
  Job *job = context;
  const char *only = value_text(job->values, "only");
  if (info_of(base).row_count == 0 || (*only && !strstr(name, only))) return 1;
  CnSolverDef def = cn_solver_def_default(value_text(job->values, "solver"));
  def.effort = CN_EFFORT_EXACT;
  def.tolerance = job->tolerance;
  def.local = CN_LOCAL_EXACT;
  if (job->iterations > 0) def.max_iterations = job->iterations;
  CnSolver *solver = NULL;
  CnAnswer answer = cn_answer_empty(NULL);
  Family *family = family_of(job, name);
  CnStatus status = cn_solver_create(&def, &solver);
  if (status == CN_OK && family) status = solve(job, solver, family, name, base, &answer);
  if (status == CN_OK && family) status = run_disturbed(job, solver, family, name, base, answer.g);
  if (status != CN_OK) fprintf(stderr, "cairn-bench: %s: %s\n", name, cn_error_message());
  cn_solver_destroy(solver);
  cn_answer_release(&answer);
  return status == CN_OK;
}

static int family_row(Report *report, const Family *f) {
  Row *row = report_row_begin(report);
  if (!row) return 0;
  row_text(row, "family", f->name);
  row_number(row, "problems", f->problems);
  row_number(row, "answered", f->answered);
  row_number(row, "false_claims", f->false_claims);
  row_number(row, "mean_ms", f->problems > 0 ? 1e3 * f->seconds / f->problems : 0);
  row_number(row, "longest_ms", 1e3 * f->longest);
  row_text(row, "slowest", f->slowest);
  row_text(row, "missed", f->missed);
  report_row_end(report, row);
  return 1;
}

static int run(const Values *values, Report *report) {
  static Job job;
  memset(&job, 0, sizeof job);
  job.values = values;
  job.tolerance = value_number(values, "tolerance");
  if (!(job.tolerance > 0)) {
    fprintf(stderr, "cairn-bench: families: the tolerance is a positive number\n");
    return 0;
  }
  if (!value_whole(values, "seeds", 1, 1e6, &job.seeds)) return 0;
  if (!value_whole(values, "iterations", 0, 1e9, &job.iterations)) return 0;
  if (!problem_files_each(values, "friction", run_file, &job)) return 0;
  if (!problem_files_each(values, "rolling", run_file, &job)) return 0;
  Family all = {.name = "all"};
  for (int32_t i = 0; i < job.family_count; i++) {
    const Family *f = &job.families[i];
    if (!family_row(report, f)) return 0;
    all.problems += f->problems;
    all.answered += f->answered;
    all.false_claims += f->false_claims;
    all.seconds += f->seconds;
    if (f->longest <= all.longest) continue;
    all.longest = f->longest;
    memcpy(all.slowest, f->slowest, sizeof all.slowest);
  }
  return family_row(report, &all);
}

static const Parameter parameters[] = {
    {"files", "", "folder with friction/ and rolling/; CAIRN_PROBLEM_DIR if empty"},
    {"tolerance", "1e-8", "of both errors"},
    {"seeds", "2", "of each of the seven disturbances of a file"},
    {"solver", "auto", "Cairn's solver"},
    {"iterations", "0", "of that solver at most, 0: its default"},
    {"only", "", "files whose name contains this"},
    {"trace", "no", "yes: a line for each problem on stderr"},
    {NULL, NULL, NULL}};
static const Column columns[] = {
    {"family", "family"},      {"problems", "problems"}, {"answered", "answered"},
    {"false_claims", "false"}, {"mean_ms", "mean ms"},   {"longest_ms", "longest ms"},
    {"slowest", "slowest"},    {"missed", "missed"},     {NULL, NULL}};
extern const Bench bench_families;
const Bench bench_families = {"families", "problems like the stored friction problems", parameters,
                              columns, run};
