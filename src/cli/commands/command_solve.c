// SPDX-License-Identifier: Apache-2.0
// cairn solve: a stored problem in, its answer and the certificate of that out.
#include "cli/problem_file.h"

#include <string.h>

// ---- the answer ----

// Impulses block by block, for people.
static void print_impulses(CniShow *show, const CniProblemFile *file) {
  CnBlock block;
  cni_show_list(show, NULL, "impulses, one line a block");
  for (int32_t i = 0; cn_problem_block(file->problem, i, &block) == CN_OK; i++) {
    cni_show_row(show);
    cni_show_count(show, NULL, "block", i);
    for (int32_t d = 0; d < block.dim; d++)
      cni_show_number(show, NULL, "g", file->answer.g[block.row + d], "");
    cni_show_row_end(show);
  }
  cni_show_list_end(show);
}

// Rows before the bilateral blocks at the end: r, with l behind it. All rows if there are other blocks
// after a bilateral one.
static int32_t contact_rows(const CnProblem *problem, int32_t row_count) {
  CnBlock block;
  int32_t rows = row_count;
  for (int32_t i = 0; cn_problem_block(problem, i, &block) == CN_OK; i++) {
    int bilateral = block.kind == CN_BLOCK_BILATERAL;
    if (rows < row_count && !bilateral) return row_count;
    if (rows == row_count && bilateral) rows = block.row;
  }
  return rows;
}

// As cn_answer_write has them, so that `cairn check --answer` reads them back.
static void show_impulses(CniShow *show, const CniProblemFile *file) {
  const CnAnswer *answer = &file->answer;
  if (!show->json) {
    print_impulses(show, file);
    return;
  }
  if (cni_problem_is_plain(file->problem)) {
    cni_show_numbers(show, "z", answer->g, answer->row_count);
    return;
  }
  int32_t contacts = contact_rows(file->problem, answer->row_count);
  cni_show_numbers(show, "r", answer->g, contacts);
  if (contacts < answer->row_count)
    cni_show_numbers(show, "l", answer->g + contacts, answer->row_count - contacts);
  if (answer->velocity_count > 0) cni_show_numbers(show, "v", answer->v, answer->velocity_count);
}

// Rows that contradict each other, the first few by number.
static void show_infeasible(CniShow *show, const CnSolveReport *report) {
  if (report->infeasible_count == 0) return;
  double rows[CN_REPORT_ROWS];
  char text[160] = "";
  size_t used = 0;
  int32_t count =
      report->infeasible_count < CN_REPORT_ROWS ? report->infeasible_count : CN_REPORT_ROWS;
  for (int32_t i = 0; i < count && used < sizeof text; i++) {
    rows[i] = report->infeasible_rows[i];
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%d", i ? ", " : "",
                             (int)report->infeasible_rows[i]);
  }
  cni_show_count(show, "infeasible_count", "rows nothing can satisfy", report->infeasible_count);
  if (show->json)
    cni_show_numbers(show, "infeasible_rows", rows, count);
  else
    cni_show_text(show, "infeasible_rows", "the first of them", text);
}

static void show(const CniArgs *args, const CniProblemFile *file, const CnSolveReport *report,
                 double tolerance) {
  CniShow sheet;
  double error = cn_solve_error(file->problem, &report->certificate);
  int other = strcmp(report->method, report->solver) != 0;
  cni_show_begin(&sheet, stdout, cni_args_has(args, "json"));
  cni_show_problem(&sheet, file);
  cni_show_text(&sheet, "solver", "solver", report->solver);
  cni_show_text(&sheet, "method", other ? "answer from" : NULL, report->method);
  cni_show_text(&sheet, "outcome", report->outcome != CN_OUTCOME_FINISHED ? "outcome" : NULL,
                cn_outcome_name(report->outcome));
  cni_show_count(&sheet, "iterations", "iterations", report->iterations);
  cni_show_number(&sheet, "seconds", "time", report->seconds, "s");
  if (report->facets > 0) {
    // `converged` is about the pyramids; what follows it is about the cones
    char text[96];
    snprintf(text, sizeof text, "of %d facets in place of cones: converged means these",
             (int)report->facets);
    cni_show_count(&sheet, "facets", NULL, report->facets);
    cni_show_text(&sheet, NULL, "pyramids", text);
    cni_show_number(&sheet, "pyramid_residual", NULL, report->pyramid_residual, "");
    error = report->pyramid_residual;
  }
  show_infeasible(&sheet, report);
  cni_show_certificate(&sheet, &report->certificate, error, tolerance, report->converged);
  if (cni_args_has(args, "impulses")) show_impulses(&sheet, file);
  cni_show_end(&sheet);
}

// ---- the command ----

typedef struct Wanted {
  const char *solver;
  double tolerance; // negative: not given
  int64_t iterations;
} Wanted;

static CnStatus solve(CniProblemFile *file, const Wanted *wanted, CnSolveReport *report) {
  if (wanted->iterations == 0)
    return cn_solve(file->problem, wanted->solver, wanted->tolerance, &file->answer, report);
  CnSolverDef def = cn_solver_def_default(wanted->solver);
  def.tolerance = wanted->tolerance;
  def.max_iterations = (int32_t)wanted->iterations;
  def.effort = CN_EFFORT_EXACT;
  CnSolver *solver;
  CnStatus status = cn_solver_create(&def, &solver);
  if (status != CN_OK) return status;
  status = cn_solver_solve(solver, file->problem, &file->answer, report);
  cn_solver_destroy(solver);
  return status;
}

static int solve_file(const CniArgs *args, CniProblemFile *file, Wanted *wanted) {
  CnSolveReport report;
  if (wanted->tolerance < 0) wanted->tolerance = cni_problem_file_tolerance(file);
  CnStatus status = solve(file, wanted, &report);
  if (status != CN_OK) {
    int told = cni_fail(args, "%s: %s", file->path, cn_error_message());
    return status == CN_UNSUPPORTED ? CNI_EXIT_USAGE : told; // a solver that is not for this kind
  }
  show(args, file, &report, wanted->tolerance);
  return report.converged ? CNI_EXIT_DONE : CNI_EXIT_INEXACT;
}

static int run(const CniArgs *args) {
  Wanted wanted = {"auto", -1, 0};
  CniProblemFile file;
  if (!cni_args_choice(args, "solver", cn_solver_name, &wanted.solver) ||
      !cni_args_number(args, "tol", CNI_NUMBER_NOT_NEGATIVE, &wanted.tolerance) ||
      !cni_args_whole(args, "iters", 1, INT32_MAX, &wanted.iterations))
    return CNI_EXIT_USAGE;
  int status = cni_problem_file_open(&file, args, args->operands[0]);
  if (status == CNI_EXIT_DONE) status = solve_file(args, &file, &wanted);
  cni_problem_file_release(&file);
  return status;
}

static const CniOption options[] = {
    {"solver", 0, "S", "solver, see `cairn solvers` (default auto)"},
    {"tol", 0, "X", "error to reach (default 1e-8 for LCP and MLCP, 1e-4 with friction)"},
    {"iters", 0, "N", "iterations at most (default: a hundred times those of a step)"},
    {"impulses", 0, NULL, "print the answer too"},
    CNI_OPTION_JSON,
    CNI_OPTION_END};
static const CniExample examples[] = {
    {"cairn solve problem.dat", "solve, and tell how good the answer is"},
    {"cairn solve spheres.hdf5 --solver psor --tol 1e-6 --iters 10000", "by a solver of choice"},
    {"cairn solve problem.dat --json --impulses > answer.json", "keep the answer"},
    {NULL, NULL}};
const CniCommand cni_command_solve = {
    .name = "solve",
    .summary = "solve a stored friction or complementarity problem",
    .operands = "PROBLEM",
    .operand_min = 1,
    .operand_max = 1,
    .description =
        "Solves a problem file: FCLib (HDF5), the text files of Siconos (LCP, MLCP, friction in "
        "the plane and in space, local, global, rolling), or Cairn's own JSON. What a file is, is "
        "seen from its content.\n\n"
        "Whatever the solver, the answer is certified by the same function. It has converged when "
        "the error that belongs to the kind of problem is at most --tol: error_siconos of an LCP, "
        "MLCP or global problem, the larger of error_siconos and error_scaled of a local friction "
        "problem, the residual of a problem in step form. If it is not, the exit status is 3.\n\n"
        "With --json --impulses the object also has z (LCP, MLCP), or r and, for global problems, "
        "v; multipliers of equality constraints are l. `cairn check --answer` reads it back.",
    .options = options,
    .examples = examples,
    .run = run};
