// SPDX-License-Identifier: Apache-2.0
// Linear complementarity problems, from files and generated, beside Siconos.
//
// Every problem is solved by `auto` from zero at the tolerance given; the time is that of one whole
// call of cn_solver_solve, certificate included, the median of the repeats. Siconos runs the same
// problem with all its solvers, each its own process; an answer of its counts if our certificate
// accepts it at the same tolerance. The ratio is our time over that of the fastest such solver; the
// last row is the geometric mean.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/solver.h>

#include "bench.h"
#include "lcp_problems.h"
#include "peer.h"
#include "problem_files.h"

#define LONGEST 1.0   // s: no more repeats of a problem after this
#define PEER_TIME 2.0 // s: the same for one solver of the peer
#define SOLVERS 16    // of the peer, at most

typedef struct PeerAnswer {
  char name[32];
  int info;
  double seconds, error;
} PeerAnswer;

typedef struct Job {
  const Values *values;
  Report *report;
  double tolerance;
  int32_t repeats;
  double log_sum; // of the ratios
  int32_t ratio_count;
} Job;

// ---- problems ----

// The problem in Cairn's form; null and a line on stderr if there is none.
static CnProblem *make_problem(const LcpProblem *p) {
  size_t n = (size_t)p->size, count = 0;
  CnProblemDef def = cn_problem_def_default();
  def.form = CN_FORM_EXPLICIT;
  int32_t *start = malloc((n + 1) * sizeof *start), *column = malloc((n * n + 1) * sizeof *column);
  double *value = malloc((n * n + 1) * sizeof *value);
  CnProblem *made = NULL;
  CnStatus status = start && column && value ? cn_problem_create(&def, &made) : CN_NO_MEMORY;
  for (size_t i = 0; status == CN_OK && i < n; i++) {
    start[i] = (int32_t)count;
    for (size_t j = 0; j < n; j++) {
      if (p->w[i * n + j] == 0) continue;
      column[count] = (int32_t)j;
      value[count++] = p->w[i * n + j];
    }
    start[i + 1] = (int32_t)count;
  }
  CnSparse w = {p->size, p->size, start, column, value};
  CnSet sets[2] = {cn_set_default(CN_BLOCK_UNILATERAL), cn_set_default(CN_BLOCK_BILATERAL)};
  if (status == CN_OK) status = cn_problem_set_explicit(made, &w, p->q);
  for (int32_t k = 0; status == CN_OK && k < 2; k++)
    status = cn_problem_add_set(made, &sets[k], NULL);
  for (size_t i = 0; status == CN_OK && i < n; i++)
    status = cn_problem_add_explicit(made, p->equality[i], 1, NULL);
  free(start);
  free(column);
  free(value);
  if (status == CN_OK) return made;
  fprintf(stderr, "cairn-bench: %s: %s\n", p->name, cn_error_message());
  cn_problem_destroy(made);
  return NULL;
}

// A problem that was read, in the plain form; 0 where it is no LCP or MLCP.
static int plain_form(LcpProblem *p, const char *name, const CnProblem *from) {
  CnProblemInfo info = info_of(from);
  CnProblemMatrices m;
  CnBlock block;
  int32_t plain = info.kind_count[CN_BLOCK_BILATERAL] + info.kind_count[CN_BLOCK_UNILATERAL];
  if (info.form != CN_FORM_EXPLICIT || plain != info.block_count ||
      cn_problem_matrices(from, &m) != CN_OK || !lcp_problem_create(p, name, info.row_count))
    return 0;
  for (int32_t i = 0; i < info.row_count; i++) {
    p->q[i] = m.q[i];
    for (int32_t e = m.w->start[i]; e < m.w->start[i + 1]; e++)
      p->w[(size_t)i * (size_t)p->size + (size_t)m.w->column[e]] = m.w->value[e];
  }
  for (int32_t i = 0; cn_problem_block(from, i, &block) == CN_OK; i++)
    for (int32_t row = 0; row < block.dim; row++)
      if (block.kind == CN_BLOCK_BILATERAL) {
        p->equality[block.row + row] = 1;
        p->equalities++;
      }
  return 1;
}

// ---- the peer ----

typedef struct Request {
  const LcpProblem *problem;
  double tolerance;
  int32_t repeats;
} Request;

static int write_request(const void *list, FILE *file) {
  const Request *request = list;
  fprintf(file, "%a %d %a\n", request->tolerance, (int)request->repeats, PEER_TIME);
  return lcp_problem_write(request->problem, file);
}

// What the solvers of the peer found, judged by our certificate.
static int32_t ask_siconos(const Job *job, const LcpProblem *p, CnProblem *problem,
                           CnAnswer *answer, PeerAnswer found[SOLVERS], const char **status) {
  Request request = {p, job->tolerance, job->repeats};
  FILE *file = NULL;
  int32_t count = 0;
  PeerOutcome outcome =
      peer_exchange(job->values->directory, "siconos", 0, write_request, &request, &file);
  *status = outcome == PEER_DONE ? "" : outcome == PEER_FAILED ? "failed" : "not installed";
  if (outcome != PEER_DONE) return 0;
  while (count < SOLVERS) {
    PeerAnswer *a = &found[count];
    int repeats;
    if (fscanf(file, "%31s %d %lf %d", a->name, &a->info, &a->seconds, &repeats) != 4) break;
    int ok = 1;
    for (int32_t i = 0; i < p->size && ok; i++) ok = fscanf(file, "%la", &answer->g[i]) == 1;
    CnCertificate certificate;
    if (!ok || cn_certify(problem, answer, &certificate) != CN_OK) break;
    a->error = certificate.error_siconos;
    count++;
  }
  fclose(file);
  return count;
}

// ---- one problem ----

// The peer's figures: what each solver took (us) if its answer counts, and which was fastest.
static void fill_peer(Job *job, Row *row, double seconds, const PeerAnswer *found, int32_t count) {
  const PeerAnswer *fastest = NULL;
  char list[128] = "", wrong[128] = "";
  size_t used = 0, missed = 0;
  for (int32_t i = 0; i < count; i++) {
    const PeerAnswer *a = &found[i];
    if (!(a->error <= job->tolerance)) {
      // said to be solved, and is not
      if (a->info == 0 && missed < sizeof wrong)
        missed += (size_t)snprintf(wrong + missed, sizeof wrong - missed, "%s%s", missed ? " " : "",
                                   a->name);
      continue;
    }
    if (used < sizeof list)
      used += (size_t)snprintf(list + used, sizeof list - used, "%s%s %.3g", used ? ", " : "",
                               a->name, 1e6 * a->seconds);
    if (!fastest || a->seconds < fastest->seconds) fastest = a;
  }
  row_text(row, "siconos_us_each", list);
  row_text(row, "siconos_wrong", wrong);
  if (!fastest) return;
  double ratio = seconds / fastest->seconds;
  row_text(row, "siconos_solver", fastest->name);
  row_number(row, "siconos_us", 1e6 * fastest->seconds);
  row_number(row, "siconos_error", fastest->error);
  row_number(row, "ratio", ratio);
  job->log_sum += log(ratio);
  job->ratio_count++;
}

static int run_problem(Job *job, const LcpProblem *p) {
  CnSolverDef def = cn_solver_def_default(value_text(job->values, "solver"));
  def.effort = CN_EFFORT_EXACT;
  def.tolerance = job->tolerance;
  CnProblem *problem = make_problem(p);
  CnAnswer answer = cn_answer_empty(NULL);
  CnSolver *solver = NULL;
  CnSolveReport report;
  Row *row = problem ? report_row_begin(job->report) : NULL;
  int ok =
      row && cn_answer_fit(&answer, problem) == CN_OK && cn_solver_create(&def, &solver) == CN_OK;
  SolveTimes times = {0, 0};
  ok = ok && solve_times(solver, problem, &answer, job->repeats, 3, LONGEST, &report, &times);
  double seconds = times.median;
  if (ok) {
    row_text(row, "problem", p->name);
    row_text(row, "kind", p->equalities > 0 ? "mlcp" : "lcp");
    row_number(row, "unknowns", p->size);
    row_number(row, "cairn_us", 1e6 * seconds);
    row_text(row, "method", report.method);
    row_number(row, "iterations", report.iterations);
    row_flag(row, "converged", report.converged);
    row_number(row, "error_siconos", report.certificate.error_siconos);
    if (strcmp(value_text(job->values, "peers"), "none") != 0) {
      PeerAnswer found[SOLVERS];
      const char *status;
      int32_t count = ask_siconos(job, p, problem, &answer, found, &status);
      if (*status) row_text(row, "status", status);
      fill_peer(job, row, seconds, found, count);
    }
    report_row_end(job->report, row);
  }
  cn_solver_destroy(solver);
  cn_answer_release(&answer);
  cn_problem_destroy(problem);
  return ok;
}

// ---- all problems ----

static int run_file(void *context, const char *name, CnProblem *read) {
  LcpProblem plain;
  if (!plain_form(&plain, name, read)) return 1;
  int ok = run_problem(context, &plain);
  lcp_problem_destroy(&plain);
  return ok;
}

static int run(const Values *values, Report *report) {
  Job job = {.values = values, .report = report, .tolerance = value_number(values, "tolerance")};
  int32_t sizes[VALUE_LIST], size_count = 0;
  if (!value_whole(values, "repeats", 1, 1e7, &job.repeats)) return 0;
  if (!value_list(values, "sizes", 0, 5000, sizes, &size_count)) return 0;
  if (!problem_files_each(values, "lcp", run_file, &job)) return 0;
  if (!problem_files_each(values, "mlcp", run_file, &job)) return 0;
  for (int32_t kind = 0; lcp_kind_name(kind); kind++)
    for (int32_t i = 0; i < size_count; i++) {
      LcpProblem p;
      if (sizes[i] == 0) continue;
      if (!lcp_generate(&p, lcp_kind_name(kind), sizes[i])) return 0;
      int ok = run_problem(&job, &p);
      lcp_problem_destroy(&p);
      if (!ok) return 0;
    }
  Row *row = job.ratio_count > 0 ? report_row_begin(report) : NULL;
  if (row) {
    row_text(row, "problem", "geometric mean");
    row_number(row, "problems", job.ratio_count);
    row_number(row, "ratio", exp(job.log_sum / job.ratio_count));
    report_row_end(report, row);
  }
  return 1;
}

static const Parameter parameters[] = {
    {"files", "", "folder with lcp/ and mlcp/, or none; CAIRN_PROBLEM_DIR if empty"},
    {"sizes", "100,500,1000", "of the generated problems; 0 leaves them out"},
    {"repeats", "1000", "solves of a problem, fewer where they take more than a second"},
    {"tolerance", "1e-8", "of the certificate"},
    {"solver", "auto", "Cairn's solver"},
    {"peers", "all", "all, or none to run Cairn alone"},
    {NULL, NULL, NULL}};
static const Column columns[] = {{"problem", "problem"},        {"unknowns", "unknowns"},
                                 {"cairn_us", "cairn us"},      {"method", "method"},
                                 {"error_siconos", "error"},    {"siconos_us", "siconos us"},
                                 {"siconos_solver", "fastest"}, {"ratio", "ratio"},
                                 {"status", "status"},          {NULL, NULL}};
extern const Bench bench_lcp;
const Bench bench_lcp = {"lcp", "linear complementarity problems, beside Siconos", parameters,
                         columns, run};
