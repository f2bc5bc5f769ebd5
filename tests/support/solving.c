// SPDX-License-Identifier: Apache-2.0
#include "solving.h"

#include "check.h"

#include <stdlib.h>

CnSolverDef patient_def(const char *name, double tolerance) {
  CnSolverDef def = cn_solver_def_default(name);
  def.effort = CN_EFFORT_EXACT;
  def.tolerance = tolerance;
  def.max_iterations = 20000;
  return def;
}

CniStepMemory held_memory(void) {
  CnAllocator allocator = cn_allocator_default();
  CniStepMemory memory;
  cni_step_memory_init(&memory, &allocator);
  cni_step_memory_hold(&memory);
  return memory;
}

CnSolveReport solve_def(const CnSolverDef *def, const CnProblem *problem, CnAnswer *answer) {
  CnSolver *solver = NULL;
  CnSolveReport report = {0};
  CHECK_OK(cn_solver_create(def, &solver));
  CHECK_OK(cn_solver_solve(solver, problem, answer, &report));
  cn_solver_destroy(solver);
  return report;
}

CnAnswer solve_with(const char *name, const CnProblem *problem, double tolerance) {
  CnSolverDef def = patient_def(name, tolerance);
  CnAnswer answer = cn_answer_empty(NULL);
  CHECK_OK(cn_answer_fit(&answer, problem));
  CnSolveReport report = solve_def(&def, problem, &answer);
  if (!report.converged)
    print_error("%s: residual %g after %d iterations\n", name, report.certificate.residual,
                (int)report.iterations);
  CHECK(report.converged);
  return answer;
}

double dual_objective(const CnProblem *p, const double *g) {
  double sum = 0;
  for (int32_t i = 0; i < p->w.row_count; i++) {
    double row = 0;
    for (int32_t e = p->w.start[i]; e < p->w.start[i + 1]; e++)
      row += p->w.value[e] * g[p->w.column[e]];
    sum += g[i] * (.5 * row + p->b[i]);
  }
  return sum;
}

CnProblem *dense_problem(int32_t size, const double *w, const double *q, const CnSet *sets,
                         const int32_t *dims, int32_t block_count, CnFrictionModel friction) {
  CnProblemDef def = cn_problem_def_default();
  def.form = CN_FORM_EXPLICIT;
  def.friction = friction;
  CnProblem *p = NULL;
  CHECK_OK(cn_problem_create(&def, &p));
  int32_t *start = malloc(((size_t)size + 1) * sizeof *start);
  int32_t *column = malloc((size_t)size * (size_t)size * sizeof *column);
  double *value = malloc((size_t)size * (size_t)size * sizeof *value);
  CHECK(start && column && value);
  for (int32_t i = 0; i <= size; i++) start[i] = i * size;
  for (int32_t i = 0; i < size * size; i++) {
    column[i] = i % size;
    value[i] = w[i];
  }
  CnSparse sparse = {size, size, start, column, value};
  CHECK_OK(cn_problem_set_explicit(p, &sparse, q));
  for (int32_t i = 0; i < block_count; i++) {
    int32_t set = -1;
    CHECK_OK(cn_problem_add_set(p, &sets[i], &set));
    CHECK_OK(cn_problem_add_explicit(p, set, dims[i], NULL));
  }
  free(start);
  free(column);
  free(value);
  return p;
}
