// SPDX-License-Identifier: Apache-2.0
// Small dense complementarity problems handed to the solver table (clash.h).
#include "integrator/clash.h"

#include "core/vec.h"
#include "solver/solver.h"

CnStatus cni_clash_init(CniClash *clash, const CnAllocator *allocator) {
  *clash = (CniClash){.allocator = *allocator, .answer = cn_answer_empty(allocator)};
  CnProblemDef def = cn_problem_def_default();
  def.form = CN_FORM_EXPLICIT;
  def.allocator = *allocator;
  return cn_problem_create(&def, &clash->problem);
}

void cni_clash_release(CniClash *clash) {
  const CnAllocator *a = &clash->allocator;
  cn_answer_release(&clash->answer);
  cn_problem_destroy(clash->problem);
  cni_release(a, clash->w, (size_t)clash->w_capacity * sizeof *clash->w);
  cni_release(a, clash->q, (size_t)clash->q_capacity * sizeof *clash->q);
  cni_release(a, clash->start, (size_t)clash->start_capacity * sizeof *clash->start);
  cni_release(a, clash->column, (size_t)clash->column_capacity * sizeof *clash->column);
  cni_release(a, clash->sets, (size_t)clash->set_capacity * sizeof *clash->sets);
  cni_release(a, clash->dims, (size_t)clash->dim_capacity * sizeof *clash->dims);
}

CnStatus cni_clash_begin(CniClash *clash, CniMotion *m, const double *columns,
                         const double *rows_of) {
  const CnAllocator *a = &clash->allocator;
  int64_t entries;
  int32_t n = m->active;
  CNI_TRY(cni_schur_count(m, &entries));
  if (entries > 100000000)
    return cni_error(CN_UNSUPPORTED, "%d rows of contacts at once are too many for a dense matrix",
                     (int)n);
  clash->row_count = n;
  clash->block_count = 0;
  m->systems++;
  CNI_TRY(CNI_RESERVE(a, clash->w, clash->w_capacity, 0, (int32_t)entries + 1));
  CNI_TRY(CNI_RESERVE(a, clash->column, clash->column_capacity, 0, (int32_t)entries + 1));
  CNI_TRY(CNI_RESERVE(a, clash->q, clash->q_capacity, 0, n + 1));
  CNI_TRY(CNI_RESERVE(a, clash->start, clash->start_capacity, 0, n + 1));
  CNI_TRY(CNI_RESERVE(a, clash->sets, clash->set_capacity, 0, n + 1));
  CNI_TRY(CNI_RESERVE(a, clash->dims, clash->dim_capacity, 0, n + 1));
  cni_motion_directions(m, columns);
  cni_schur_write(m, rows_of, clash->start, clash->column, clash->w);
  return CN_OK;
}

void cni_clash_block(CniClash *clash, CnBlockKind kind, int32_t dim, double mu) {
  CnSet set = cn_set_default(kind);
  set.mu = mu;
  clash->sets[clash->block_count] = set;
  clash->dims[clash->block_count++] = dim;
}

int32_t cni_clash_contact(CniClash *clash, const CnEquations *eq, int32_t contact) {
  static const CnBlockKind kinds[7] = {
      [1] = CN_BLOCK_UNILATERAL, [2] = CN_BLOCK_FRICTION_2D, [3] = CN_BLOCK_FRICTION,
      [5] = CN_BLOCK_ROLLING,    [6] = CN_BLOCK_SPINNING,
  };
  CnContactLaw law = cni_contact_law_of(eq, contact);
  int32_t dim = cni_contact_rows(eq, contact);
  cni_clash_block(clash, kinds[dim], dim, law.friction);
  clash->sets[clash->block_count - 1].mu_roll = law.rolling;
  clash->sets[clash->block_count - 1].mu_spin = law.spinning;
  return dim;
}

int32_t cni_clash_bound(CniClash *clash, double bound) {
  cni_clash_block(clash, CN_BLOCK_INTERVAL, 1, 0);
  clash->sets[clash->block_count - 1].lo = -bound;
  clash->sets[clash->block_count - 1].hi = bound;
  return 1;
}

void cni_clash_renew(CniClash *clash) {
  clash->together = 1;
  clash->spent = 0;
}

// Who cannot solve one problem of a step seldom solves the next; what is solved counts little.
#define SOLVED 0.125

static CnStatus solve_within(CniClash *clash, CnSolver *solver, CnSolveReport *report) {
  if (!clash->together) clash->spent = 0;
  double allowed = cn_max(0, cni_solver_allowance(solver, clash->row_count) - clash->spent);
  double left = allowed;
  cni_solver_allow(solver, &left);
  CnStatus status = cn_solver_solve(solver, clash->problem, &clash->answer, report);
  cni_solver_allow(solver, NULL);
  if (status == CN_OK) clash->spent += (report->converged ? SOLVED : 1) * (allowed - left);
  return status;
}

CnStatus cni_clash_solve(CniClash *clash, CnSolver *solver, CnSolveReport *report) {
  int32_t n = clash->row_count;
  CnSparse w = {n, n, clash->start, clash->column, clash->w};
  cn_problem_clear(clash->problem);
  CNI_TRY(cn_problem_set_explicit(clash->problem, &w, clash->q));
  for (int32_t i = 0; i < clash->block_count; i++) {
    int32_t set, block;
    CNI_TRY(cn_problem_add_set(clash->problem, &clash->sets[i], &set));
    CNI_TRY(cn_problem_add_explicit(clash->problem, set, clash->dims[i], &block));
  }
  CNI_TRY(cn_answer_fit(&clash->answer, clash->problem));
  return solve_within(clash, solver, report);
}

CnStatus cni_clash_solver(const char *name, const CnAllocator *allocator, CnSolver **solver) {
  CnSolverDef def = cn_solver_def_default(name);
  def.tolerance = 1e-14;
  def.effort = CN_EFFORT_EXACT;
  def.max_iterations = 20000;
  def.check_interval = 20;
  def.local = CN_LOCAL_EXACT;
  def.allocator = *allocator;
  return cn_solver_create(&def, solver);
}
