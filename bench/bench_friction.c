// SPDX-License-Identifier: Apache-2.0
// Friction problems from files: one solver of Cairn beside the solvers of Siconos.
//
// Both get the problem as u = W g + q (global problems are reduced to that beforehand, which
// neither is charged for), start from zero and stop at the tolerance; the time is the median of
// whole calls. Ours contains the certificate. An answer counts if our certificate accepts it at the
// tolerance by the error that Siconos itself stops at; ours must also pass error_scaled. The last
// row is the geometric mean of our time over that of the fastest solver asked, over the problems it
// answers.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/solver.h>

#include "bench.h"
#include "friction_problems.h"
#include "peer.h"
#include "problem_files.h"

#define SOLVERS 8 // of the peer, at most
#define NAME 32

typedef struct Job {
  const Values *values;
  Report *report;
  double tolerance, seconds;
  int32_t repeats;
  double log_sum; // of the ratios
  int32_t ratio_count, answered, peer_answered;
} Job;

typedef struct Request {
  const FrictionProblem *problem;
  const Job *job;
} Request;

// ---- the peer ----

static int write_request(const void *list, FILE *file) {
  const Request *request = list;
  const Job *job = request->job;
  char names[128];
  int count = 0;
  snprintf(names, sizeof names, "%s", value_text(job->values, "siconos"));
  for (char *c = names; *c; c++) {
    if (*c == ',') *c = ' ';
    count += (c == names || c[-1] == ' ') && *c != ' ';
  }
  fprintf(file, "%a %d %a %d %s\n", job->tolerance, (int)job->repeats, job->seconds, count, names);
  return friction_problem_write(request->problem, file);
}

// The answers of the peer's solvers judged by our certificate; the fastest good one into the row.
static int judge_peer(Job *job, CnProblem *problem, CnAnswer *answer, FILE *file, Row *row,
                      double *fastest) {
  char name[NAME], best[NAME] = "", list[128] = "";
  int info, repeats;
  double best_run, seconds;
  size_t used = 0;
  while (fscanf(file, "%31s %d %lf %lf %d", name, &info, &best_run, &seconds, &repeats) == 5) {
    CnCertificate certificate;
    for (int32_t i = 0; i < answer->row_count; i++)
      if (fscanf(file, "%la", &answer->g[i]) != 1) return 0;
    if (cn_certify(problem, answer, &certificate) != CN_OK) return 0;
    int good = certificate.error_siconos <= job->tolerance;
    if (used < sizeof list)
      used += (size_t)snprintf(list + used, sizeof list - used, "%s%s %.4g%s", used ? ", " : "",
                               name, 1e6 * seconds, good ? "" : " (not an answer)");
    if (!good || (*best && seconds >= *fastest)) continue;
    *fastest = seconds;
    memcpy(best, name, sizeof best);
    row_number(row, "siconos_error", certificate.error_siconos);
  }
  row_text(row, "siconos_us_each", list);
  if (!*best) return 1;
  row_text(row, "siconos_solver", best);
  row_number(row, "siconos_us", 1e6 * *fastest);
  return 1;
}

static int ask_siconos(Job *job, CnProblem *problem, CnAnswer *answer, Row *row, double *fastest) {
  FrictionProblem plain;
  FILE *file = NULL;
  if (strcmp(value_text(job->values, "peers"), "none") == 0) return 1;
  if (!friction_plain_form(&plain, problem)) {
    row_text(row, "status", "not for the peer");
    return 1;
  }
  Request request = {&plain, job};
  PeerOutcome outcome =
      peer_exchange(job->values->directory, "siconos_friction", 0, write_request, &request, &file);
  friction_problem_destroy(&plain);
  if (outcome != PEER_DONE) {
    row_text(row, "status", outcome == PEER_FAILED ? "failed" : "not installed");
    return 1;
  }
  int ok = judge_peer(job, problem, answer, file, row, fastest);
  fclose(file);
  return ok;
}

// ---- one problem ----

static int fill_row(Job *job, Row *row, CnProblem *problem, CnSolver *solver, CnAnswer *answer) {
  CnSolveReport report;
  double fastest = 0;
  SolveTimes times;
  if (!solve_times(solver, problem, answer, job->repeats, 1, job->seconds, &report, &times))
    return 0;
  double seconds = times.median;
  row_number(row, "rows", info_of(problem).row_count);
  row_number(row, "cairn_us", 1e6 * seconds);
  row_text(row, "method", report.method);
  row_number(row, "iterations", report.iterations);
  row_flag(row, "converged", report.converged);
  row_number(row, "error_siconos", report.certificate.error_siconos);
  row_number(row, "error_scaled", report.certificate.error_scaled);
  if (!ask_siconos(job, problem, answer, row, &fastest)) return 0;
  job->answered += report.converged;
  job->peer_answered += fastest > 0;
  if (fastest > 0 && report.converged) {
    row_number(row, "ratio", seconds / fastest);
    job->log_sum += log(seconds / fastest);
    job->ratio_count++;
  }
  return 1;
}

static int run_file(void *context, const char *name, CnProblem *read) {
  Job *job = context;
  CnSolverDef def = cn_solver_def_default(value_text(job->values, "solver"));
  def.effort = CN_EFFORT_EXACT;
  def.tolerance = job->tolerance;
  def.max_iterations = 100000000;
  def.time_budget = 10 * job->seconds;
  def.local = CN_LOCAL_EXACT;
  CnProblem *reduced = NULL;
  CnAnswer answer = cn_answer_empty(NULL);
  CnSolver *solver = NULL;
  CnStatus status =
      info_of(read).form == CN_FORM_EXPLICIT ? CN_OK : cn_problem_to_explicit(read, &reduced);
  CnProblem *problem = reduced ? reduced : read;
  if (status == CN_OK) status = cn_answer_fit(&answer, problem);
  if (status == CN_OK) status = cn_solver_create(&def, &solver);
  Row *row = status == CN_OK ? report_row_begin(job->report) : NULL;
  int ok = 0;
  if (row) {
    row_text(row, "problem", name);
    ok = fill_row(job, row, problem, solver, &answer);
    report_row_end(job->report, row);
  } else {
    fprintf(stderr, "cairn-bench: %s: %s\n", name, cn_error_message());
  }
  cn_solver_destroy(solver);
  cn_answer_release(&answer);
  cn_problem_destroy(reduced);
  return ok;
}

// ---- all ----

static int run(const Values *values, Report *report) {
  Job job = {.values = values,
             .report = report,
             .tolerance = value_number(values, "tolerance"),
             .seconds = value_number(values, "seconds")};
  if (!value_whole(values, "repeats", 1, 1e7, &job.repeats)) return 0;
  if (!(job.tolerance > 0) || !(job.seconds > 0)) {
    fprintf(stderr, "cairn-bench: friction: tolerance and seconds are positive numbers\n");
    return 0;
  }
  if (!problem_files_each(values, "friction", run_file, &job)) return 0;
  if (!problem_files_each(values, "rolling", run_file, &job)) return 0;
  Row *row = job.ratio_count > 0 ? report_row_begin(report) : NULL;
  if (row) {
    row_text(row, "problem", "geometric mean");
    row_number(row, "problems", job.ratio_count);
    row_number(row, "answered", job.answered);
    row_number(row, "siconos_answered", job.peer_answered);
    row_number(row, "ratio", exp(job.log_sum / job.ratio_count));
    report_row_end(report, row);
  }
  return 1;
}

static const Parameter parameters[] = {
    {"files", "", "folder with friction/ and rolling/, or none; CAIRN_PROBLEM_DIR if empty"},
    {"repeats", "1000", "solves of a problem, fewer where they take more than `seconds`"},
    {"seconds", "1", "for the repeats of one solver on one problem"},
    {"tolerance", "1e-4", "of the certificate"},
    {"solver", "psor", "Cairn's solver"},
    {"siconos", "nsgs", "of nsgs, prox, nsn-ac, nsn-fb, admm, vi-eg, separated by commas"},
    {"peers", "all", "all, or none to run Cairn alone"},
    {NULL, NULL, NULL}};
static const Column columns[] = {{"problem", "problem"},
                                 {"rows", "rows"},
                                 {"cairn_us", "cairn us"},
                                 {"iterations", "sweeps"},
                                 {"converged", "answered"},
                                 {"error_siconos", "error"},
                                 {"siconos_us", "siconos us"},
                                 {"siconos_solver", "fastest"},
                                 {"ratio", "ratio"},
                                 {"status", "status"},
                                 {NULL, NULL}};
extern const Bench bench_friction;
const Bench bench_friction = {"friction", "friction problems from files, beside Siconos",
                              parameters, columns, run};
