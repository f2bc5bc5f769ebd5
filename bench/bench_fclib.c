// SPDX-License-Identifier: Apache-2.0
// The stored friction problems at 1e-8 and at 1e-4: auto beside six solvers of Siconos.
//
// Cairn solves the file as it is, from zero, certificate included. Siconos gets u = W g + q, made
// from global problems beforehand without charge. Times are the best of five whole calls, ours and
// theirs. Solvers of Siconos whose calls take long are called fewer times: since their best might
// have been better, their time is then taken as four fifths of it, which is more than calls differ,
// and the row names them in `fewer_calls`.
// An answer counts if our certificate of the file's own problem passes both error_siconos and
// error_scaled at the tolerance; a solver of Siconos that stops at the tolerance and passes the
// first only is asked again at a thousandth of it, and its time is that of the call that counts.
//
// Rows: one for each problem and tolerance; then for each solver of Siconos the sum of its times
// over the problems that both answer, beside ours over the same; `best` takes for each problem the
// fastest of them. `unanswered` names what Cairn missed. The plot is a performance profile: the
// part of all problems that a solver answers within a factor of the fastest answer of all.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/solver.h>

#include "bench.h"
#include "friction_problems.h"
#include "peer.h"
#include "problem_files.h"

#define NAME 32
#define PEERS 6
#define SERIES (PEERS + 1) // Cairn is the last
#define PROBLEMS 256
#define FEWER 0.8 // of the best time, where a solver of Siconos was called fewer times than asked

static const char *const solvers[SERIES] = {"nsgs", "prox",  "nsn-ac", "nsn-fb",
                                            "admm", "vi-eg", "cairn"};

typedef struct Job {
  const Values *values;
  Report *report;
  double tolerance, seconds;
  int32_t repeats, count;
  double time[PROBLEMS][SERIES]; // s; infinite: no answer
  uint32_t fewer;                // solvers of Siconos with fewer calls on the present problem
  char missed[128];
  size_t missed_used;
} Job;

typedef struct Request {
  const FrictionProblem *problem;
  const Job *job;
  double tolerance;
  const char *names;
  int count;
} Request;

// ---- the peer ----

static int write_request(const void *list, FILE *file) {
  const Request *r = list;
  fprintf(file, "%a %d %a %d %s\n", r->tolerance, (int)r->job->repeats, r->job->seconds, r->count,
          r->names);
  return friction_problem_write(r->problem, file);
}

// Does our certificate of the file's problem pass both errors? `first` is set if error_siconos is.
static int good_answer(const Job *job, CnProblem *read, CnAnswer *answer, int *first) {
  CnCertificate c;
  if (cn_answer_complete(answer, read) != CN_OK || cn_certify(read, answer, &c) != CN_OK) return 0;
  *first = c.error_siconos <= job->tolerance;
  return *first && c.error_scaled <= job->tolerance;
}

// Ask the solvers named; times of good answers into `time`. `again` collects those to be asked for
// more digits.
static int ask(Job *job, const FrictionProblem *plain, CnProblem *read, CnAnswer *answer,
               double tolerance, const char *names, int count, double *time, char *again,
               int *again_count) {
  Request request = {plain, job, tolerance, names, count};
  FILE *file = NULL;
  if (peer_exchange(job->values->directory, "siconos_friction", 0, write_request, &request,
                    &file) != PEER_DONE)
    return 0;
  char name[NAME];
  int info, repeats;
  double seconds, median;
  uint32_t asked = 0, good = 0;
  while (fscanf(file, "%31s %d %lf %lf %d", name, &info, &seconds, &median, &repeats) == 5) {
    int ok = 1, first = 0, s = 0;
    for (int32_t i = 0; i < answer->row_count && ok; i++)
      ok = fscanf(file, "%la", &answer->g[i]) == 1;
    while (s < PEERS && strcmp(solvers[s], name) != 0) s++;
    if (!ok || s == PEERS) break;
    if (good_answer(job, read, answer, &first)) {
      good |= 1u << s;
      if (repeats < job->repeats) {
        seconds *= FEWER;
        job->fewer |= 1u << s;
      }
      if (seconds < time[s]) time[s] = seconds;
    } else if (first) {
      asked |= 1u << s;
    }
  }
  fclose(file);
  for (int s = 0; s < PEERS && again; s++)
    if (asked >> s & 1 && !(good >> s & 1)) {
      strcat(again, " ");
      strcat(again, solvers[s]);
      ++*again_count;
    }
  return 1;
}

// All six on one problem.
static int ask_siconos(Job *job, CnProblem *read, CnProblem *local, CnAnswer *answer,
                       double *time) {
  FrictionProblem plain;
  if (strcmp(value_text(job->values, "peers"), "none") == 0 || !friction_plain_form(&plain, local))
    return 0;
  char names[PEERS * NAME] = "", again[PEERS * NAME] = "";
  int again_count = 0;
  for (int s = 0; s < PEERS; s++) {
    strcat(names, " ");
    strcat(names, solvers[s]);
  }
  int ok = ask(job, &plain, read, answer, job->tolerance, names, PEERS, time, again, &again_count);
  if (ok && again_count > 0)
    ask(job, &plain, read, answer, 1e-3 * job->tolerance, again, again_count, time, NULL, NULL);
  friction_problem_destroy(&plain);
  return ok;
}

// ---- one problem ----

static void fill_row(Row *row, const CnSolveReport *report, uint32_t fewer, const double *time) {
  const CnCertificate *c = &report->certificate;
  int best = -1;
  char list[128] = "", calls[PEERS * NAME] = "";
  size_t used = 0;
  for (int s = 0; s < PEERS; s++) {
    if (!(time[s] < INFINITY)) continue;
    if (used < sizeof list)
      used += (size_t)snprintf(list + used, sizeof list - used, "%s%s %.4g", used ? ", " : "",
                               solvers[s], 1e3 * time[s]);
    if (best < 0 || time[s] < time[best]) best = s;
    if (!(fewer >> s & 1)) continue;
    if (*calls) strcat(calls, " ");
    strcat(calls, solvers[s]);
  }
  row_text(row, "method", report->method);
  row_number(row, "iterations", report->iterations);
  row_number(row, "error_siconos", c->error_siconos);
  row_number(row, "error_scaled", c->error_scaled);
  row_flag(row, "answered", time[PEERS] < INFINITY);
  row_text(row, "siconos_ms_each", list);
  if (*calls) row_text(row, "fewer_calls", calls);
  if (best < 0) return;
  row_text(row, "siconos_solver", solvers[best]);
  row_number(row, "siconos_ms", 1e3 * time[best]);
  if (time[PEERS] < INFINITY) row_number(row, "ratio", time[PEERS] / time[best]);
}

static CnStatus prepare(const Job *job, CnProblem *read, CnProblem **local, CnAnswer *answer,
                        CnSolver **solver) {
  CnSolverDef def = cn_solver_def_default(value_text(job->values, "solver"));
  def.effort = CN_EFFORT_EXACT;
  def.tolerance = job->tolerance;
  CnStatus status =
      info_of(read).form == CN_FORM_EXPLICIT ? CN_OK : cn_problem_to_explicit(read, local);
  if (status == CN_OK) status = cn_answer_fit(answer, read);
  return status == CN_OK ? cn_solver_create(&def, solver) : status;
}

static int run_file(void *context, const char *name, CnProblem *read) {
  Job *job = context;
  CnProblem *local = NULL;
  CnAnswer answer = cn_answer_empty(NULL);
  CnSolver *solver = NULL;
  CnSolveReport report;
  if (info_of(read).row_count == 0 || job->count == PROBLEMS) return 1;
  CnStatus status = prepare(job, read, &local, &answer, &solver);
  Row *row = status == CN_OK ? report_row_begin(job->report) : NULL;
  double *time = job->time[job->count];
  SolveTimes times;
  int ok = row && solve_times(solver, read, &answer, job->repeats, job->repeats, job->seconds,
                              &report, &times);
  if (ok) {
    int first;
    job->fewer = 0;
    for (int s = 0; s < SERIES; s++) time[s] = INFINITY;
    if (good_answer(job, read, &answer, &first)) {
      time[PEERS] = times.best;
    } else if (job->missed_used < sizeof job->missed) {
      job->missed_used += (size_t)snprintf(job->missed + job->missed_used,
                                           sizeof job->missed - job->missed_used, "%s ", name);
    }
    row_text(row, "problem", name);
    row_number(row, "tolerance", job->tolerance);
    row_number(row, "rows", info_of(read).row_count);
    row_number(row, "cairn_ms", 1e3 * times.best);
    if (!ask_siconos(job, read, local ? local : read, &answer, time))
      row_text(row, "status", "no answer of Siconos");
    fill_row(row, &report, job->fewer, time);
    report_row_end(job->report, row);
    job->count++;
  } else {
    fprintf(stderr, "cairn-bench: %s: %s\n", name, cn_error_message());
  }
  cn_solver_destroy(solver);
  cn_answer_release(&answer);
  cn_problem_destroy(local);
  return ok;
}

// ---- sums ----

// Times of solver s (PEERS: the fastest of each problem) and ours over the problems both answer.
static int sum_row(Job *job, int s) {
  double theirs = 0, ours = 0;
  int32_t both = 0, answered = 0;
  for (int32_t i = 0; i < job->count; i++) {
    const double *time = job->time[i];
    double best = s < PEERS ? time[s] : INFINITY;
    for (int k = 0; k < PEERS && s == PEERS; k++) best = fmin(best, time[k]);
    answered += best < INFINITY;
    if (!(best < INFINITY) || !(time[PEERS] < INFINITY)) continue;
    both++;
    theirs += best;
    ours += time[PEERS];
  }
  Row *row = report_row_begin(job->report);
  if (!row) return 0;
  row_text(row, "problem", "total");
  row_number(row, "tolerance", job->tolerance);
  row_text(row, "siconos_solver", s < PEERS ? solvers[s] : "best of each");
  row_number(row, "both", both);
  row_number(row, "siconos_answered", answered);
  row_number(row, "cairn_ms", 1e3 * ours);
  row_number(row, "siconos_ms", 1e3 * theirs);
  if (theirs > 0) row_number(row, "ratio", ours / theirs);
  if (both > 0) row_flag(row, "cairn_ahead", ours < theirs);
  if (s == PEERS) row_text(row, "unanswered", job->missed);
  report_row_end(job->report, row);
  return 1;
}

// ---- the plot ----

#define WIDTH 640
#define HEIGHT 400
#define MARGIN 60
#define DECADES 4

// Part of the problems that solver s answers within a factor of the fastest.
static double part_within(const Job *job, int s, double factor) {
  int32_t count = 0;
  for (int32_t i = 0; i < job->count; i++) {
    double best = INFINITY;
    for (int k = 0; k < SERIES; k++) best = fmin(best, job->time[i][k]);
    count += job->time[i][s] < INFINITY && job->time[i][s] <= factor * best;
  }
  return job->count > 0 ? (double)count / job->count : 0;
}

static double plot_y(double part) { return HEIGHT - MARGIN - part * (HEIGHT - 2 * MARGIN); }
static double plot_x(double decade) { return MARGIN + decade / DECADES * (WIDTH - 3 * MARGIN); }

static void plot_axes(FILE *file, double tolerance) {
  fprintf(file,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
          "font-family=\"sans-serif\" font-size=\"12\">\n"
          "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
          "<text x=\"%d\" y=\"24\" font-size=\"14\">Stored friction problems at %g: part answered "
          "within a factor of the fastest</text>\n",
          WIDTH, HEIGHT, MARGIN, tolerance);
  for (int d = 0; d <= DECADES; d++)
    fprintf(file,
            "<path d=\"M%.1f %.1fV%.1f\" stage=\"#ddd\"/><text x=\"%.1f\" y=\"%d\" "
            "text-anchor=\"middle\">%g</text>\n",
            plot_x(d), plot_y(0), plot_y(1), plot_x(d), HEIGHT - MARGIN + 18, pow(10, d));
  for (int p = 0; p <= 4; p++)
    fprintf(file,
            "<path d=\"M%.1f %.1fH%.1f\" stage=\"#ddd\"/><text x=\"%d\" y=\"%.1f\" "
            "text-anchor=\"end\">%g</text>\n",
            plot_x(0), plot_y(p / 4.0), plot_x(DECADES), MARGIN - 6, plot_y(p / 4.0) + 4, p / 4.0);
  fprintf(file, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">factor</text>\n",
          plot_x(DECADES / 2.0), HEIGHT - 16);
}

static int plot(const Job *job, const char *path) {
  static const char *const colours[SERIES] = {"#888",    "#1f77b4", "#2ca02c", "#9467bd",
                                              "#8c564b", "#e377c2", "#d62728"};
  FILE *file = fopen(path, "w");
  if (!file) {
    fprintf(stderr, "cairn-bench: fclib: cannot write %s\n", path);
    return 0;
  }
  plot_axes(file, job->tolerance);
  for (int s = 0; s < SERIES; s++) {
    fprintf(file, "<path fill=\"none\" stage=\"%s\" stage-width=\"%d\" d=\"M%.1f %.1f", colours[s],
            s == PEERS ? 3 : 2, plot_x(0), plot_y(part_within(job, s, 1)));
    for (int k = 1; k <= 40 * DECADES; k++)
      fprintf(file, "H%.1fV%.1f", plot_x(k / 40.0), plot_y(part_within(job, s, pow(10, k / 40.0))));
    fprintf(file, "\"/>\n<text x=\"%.1f\" y=\"%d\" fill=\"%s\">%s</text>\n", plot_x(DECADES) + 12,
            MARGIN + 20 * s + 10, colours[s], s == PEERS ? "Cairn auto" : solvers[s]);
  }
  fprintf(file, "</svg>\n");
  return fclose(file) == 0;
}

// ---- all ----

static int run_tolerance(Job *job) {
  const char *path = value_text(job->values, "plot");
  char name[4096];
  if (!problem_files_each(job->values, "friction", run_file, job)) return 0;
  if (!problem_files_each(job->values, "rolling", run_file, job)) return 0;
  for (int s = 0; s <= PEERS; s++)
    if (!sum_row(job, s)) return 0;
  if (strcmp(path, "none") == 0) return 1;
  snprintf(name, sizeof name, "%s-%g.svg", path, job->tolerance);
  return plot(job, name);
}

static int run(const Values *values, Report *report) {
  char list[128];
  snprintf(list, sizeof list, "%s", value_text(values, "tolerances"));
  for (char *at = list; *at;) {
    static Job job;
    char *end;
    memset(&job, 0, sizeof job);
    job.values = values;
    job.report = report;
    job.seconds = value_number(values, "seconds");
    job.tolerance = strtod(at, &end);
    if (end == at || !(job.tolerance > 0) || !(job.seconds > 0)) {
      fprintf(stderr, "cairn-bench: fclib: tolerances and seconds are positive numbers\n");
      return 0;
    }
    if (!value_whole(values, "repeats", 1, 1e6, &job.repeats) || !run_tolerance(&job)) return 0;
    at = *end == ',' ? end + 1 : end;
  }
  return 1;
}

static const Parameter parameters[] = {
    {"files", "", "folder with friction/ and rolling/; CAIRN_PROBLEM_DIR if empty"},
    {"tolerances", "1e-8,1e-4", "of both errors"},
    {"repeats", "5",
     "calls, the best counts; fewer of Siconos where they take more than `seconds`"},
    {"seconds", "1", "for the calls of one solver of Siconos on one problem"},
    {"solver", "auto", "Cairn's solver"},
    {"peers", "all", "all, or none to run Cairn alone"},
    {"plot", "fclib", "performance profiles PLOT-TOLERANCE.svg, or none"},
    {NULL, NULL, NULL}};
static const Column columns[] = {{"problem", "problem"},
                                 {"tolerance", "tol"},
                                 {"rows", "rows"},
                                 {"cairn_ms", "cairn ms"},
                                 {"method", "method"},
                                 {"iterations", "steps"},
                                 {"answered", "answered"},
                                 {"siconos_ms", "siconos ms"},
                                 {"siconos_solver", "solver"},
                                 {"both", "both"},
                                 {"ratio", "ratio"},
                                 {"status", "status"},
                                 {NULL, NULL}};
extern const Bench bench_fclib;
const Bench bench_fclib = {"fclib", "stored friction problems, auto beside six solvers of Siconos",
                           parameters, columns, run};
