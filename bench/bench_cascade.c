// SPDX-License-Identifier: Apache-2.0
// The cascade of spheres of the 2005 paper (figure 4), 100 to 1000 unilateral rows: simplex, the
// dense method of Baraff it improves on, lemke and psor on the same problems. Velocities are
// compared with those of simplex.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/solver.h>

#include "baraff.h"
#include "bench.h"
#include "bodies.h"
#include "cascade.h"
#include "problem/problem.h"
#include "sparse/sparse.h"

// The answers of one method.
typedef struct Found {
  CnAnswer answer;
  double seconds, residual;
  int32_t pivots, solved;
} Found;

static double largest_difference(const double *a, const double *b, int32_t count) {
  double worst = 0;
  for (int32_t i = 0; i < count; i++) worst = fmax(worst, fabs(a[i] - b[i]));
  return worst;
}

// A solver of the table; the fastest of `repeats` counts, set-up included.
static Found solve_named(const char *name, CnProblem *p, double tolerance, int32_t repeats) {
  Found f = {.answer = cn_answer_empty(NULL), .seconds = HUGE_VAL};
  CnSolverDef def = cn_solver_def_default(name);
  def.effort = CN_EFFORT_EXACT;
  CnSolver *solver = NULL;
  CnSolveReport report = {0};
  def.tolerance = tolerance;
  if (strcmp(name, "psor") == 0) {
    def.max_iterations = 100000;
    def.relaxation = 1.5; // 1 takes a thousand times as many sweeps
  }
  if (cn_solver_create(&def, &solver) != CN_OK) return f;
  for (int32_t i = 0; i < repeats; i++) {
    f.solved = cn_answer_fit(&f.answer, p) == CN_OK;
    if (f.solved) memset(f.answer.g, 0, (size_t)f.answer.row_count * sizeof *f.answer.g);
    f.solved = f.solved && cn_solver_solve(solver, p, &f.answer, &report) == CN_OK;
    if (!f.solved) break;
    f.seconds = fmin(f.seconds, report.seconds);
  }
  f.residual = report.certificate.residual;
  f.pivots = report.iterations;
  cn_solver_destroy(solver);
  return f;
}

// Baraff on the dense N, whose forming counts as lemke's does; v and u from its impulses.
static Found solve_baraff(CnProblem *p, int32_t repeats) {
  Found f = {.answer = cn_answer_empty(NULL), .seconds = HUGE_VAL};
  int32_t n = p->row_count, stride = cni_dense_stride(n);
  double *a = calloc((size_t)n + 1, sizeof *a), *w = calloc((size_t)n * (size_t)stride, sizeof *w);
  f.solved = a && w && cn_answer_fit(&f.answer, p) == CN_OK;
  for (int32_t i = 0; i < repeats && f.solved; i++) {
    CnProblem *made = NULL;
    double start = seconds_now();
    f.solved = cn_problem_to_explicit(p, &made) == CN_OK;
    if (!f.solved) break;
    memset(w, 0, (size_t)n * (size_t)stride * sizeof *w);
    for (int32_t r = 0; r < n; r++)
      for (int32_t e = made->w.start[r]; e < made->w.start[r + 1]; e++)
        w[(int64_t)r * stride + made->w.column[e]] = made->w.value[e];
    BaraffReport report = baraff_solve(n, w, stride, made->b, f.answer.g, a);
    f.seconds = fmin(f.seconds, seconds_now() - start);
    f.pivots = report.pivots;
    f.solved = report.solved;
    cn_problem_destroy(made);
  }
  CnCertificate certificate = {0};
  if (f.solved)
    f.solved = cn_answer_complete(&f.answer, p) == CN_OK &&
               cn_certify(p, &f.answer, &certificate) == CN_OK;
  f.residual = certificate.residual;
  free(a);
  free(w);
  return f;
}

// lemke takes the explicit form; its impulses go back to the step problem.
static Found solve_lemke(CnProblem *p, int32_t repeats) {
  CnProblem *made = NULL;
  Found f = {.answer = cn_answer_empty(NULL)};
  double start = seconds_now();
  if (cn_problem_to_explicit(p, &made) != CN_OK) return f;
  double reduction = seconds_now() - start;
  Found w = solve_named("lemke", made, 1e-12, repeats);
  f.seconds = w.seconds + reduction;
  f.pivots = w.pivots;
  CnCertificate certificate = {0};
  f.solved = w.solved && cn_answer_fit(&f.answer, p) == CN_OK;
  if (f.solved) {
    memcpy(f.answer.g, w.answer.g, (size_t)p->row_count * sizeof *f.answer.g);
    f.solved = cn_answer_complete(&f.answer, p) == CN_OK &&
               cn_certify(p, &f.answer, &certificate) == CN_OK;
  }
  f.residual = certificate.residual;
  cn_answer_release(&w.answer);
  cn_problem_destroy(made);
  return f;
}

static int add_row(Report *report, const char *name, const CnProblem *p, const Found *f,
                   const Found *simplex) {
  Row *row = report_row_begin(report);
  if (!row) return 0;
  row_text(row, "solver", name);
  row_number(row, "rows", p->row_count);
  row_number(row, "spheres", p->group_count - 1);
  row_flag(row, "solved", f->solved);
  row_number(row, "ms", 1e3 * f->seconds);
  row_number(row, "pivots", f->pivots);
  row_number(row, "residual", f->residual);
  if (f->solved && simplex->solved) {
    row_number(row, "v_difference",
               largest_difference(f->answer.v, simplex->answer.v, f->answer.velocity_count));
    row_number(row, "u_difference",
               largest_difference(f->answer.u, simplex->answer.u, f->answer.row_count));
    row_number(row, "g_difference",
               largest_difference(f->answer.g, simplex->answer.g, f->answer.row_count));
    row_number(row, "ratio", f->seconds / simplex->seconds);
  }
  report_row_end(report, row);
  return 1;
}

static int measure(int32_t rows, int32_t repeats, Report *report) {
  CnProblem *p = cascade_problem(rows);
  if (!p) return 0;
  static const char *const names[] = {"simplex", "baraff", "lemke", "psor"};
  Found found[4];
  found[0] = solve_named("simplex", p, 1e-10, repeats);
  found[1] = solve_baraff(p, 1);
  found[2] = solve_lemke(p, 1);
  found[3] = solve_named("psor", p, 1e-14, repeats);
  int ok = 1;
  for (int32_t i = 0; i < 4; i++) ok = ok && add_row(report, names[i], p, &found[i], &found[0]);
  for (int32_t i = 0; i < 4; i++) cn_answer_release(&found[i].answer);
  cn_problem_destroy(p);
  return ok;
}

static int run(const Values *values, Report *report) {
  int32_t sizes[VALUE_LIST], count, repeats;
  if (!value_list(values, "rows", 10, 20000, sizes, &count) ||
      !value_whole(values, "repeats", 1, 1000, &repeats))
    return 0;
  for (int32_t i = 0; i < count; i++)
    if (!measure(sizes[i], repeats, report)) {
      fprintf(stderr, "cairn-bench: cascade: %s\n", cn_error_message());
      return 0;
    }
  return 1;
}

static const Parameter parameters[] = {{"rows", "100,250,500,750,1000", "unilateral rows"},
                                       {"repeats", "3", "solves with simplex; the fastest counts"},
                                       {NULL, NULL, NULL}};
static const Column columns[] = {{"solver", "solver"},
                                 {"rows", "rows"},
                                 {"ms", "ms"},
                                 {"pivots", "pivots"},
                                 {"residual", "residual"},
                                 {"v_difference", "v difference"},
                                 {"u_difference", "u difference"},
                                 {"g_difference", "g difference"},
                                 {"ratio", "time/simplex"},
                                 {NULL, NULL}};
extern const Bench bench_cascade;
const Bench bench_cascade = {"cascade", "spheres down a stair: simplex, baraff, lemke, psor",
                             parameters, columns, run};
