// SPDX-License-Identifier: Apache-2.0
// The solver table and the frame around every solve.
//
// A solver gets a checked problem and an answer that fits; it returns impulses and velocities. What
// they are worth is not its business: the certificate is computed here, by the same function for
// all of them, and `converged` follows from it.
#include "solver/solver.h"
#include "core/assert.h"
#include "core/clock.h"
#include "core/floats.h"
#include "core/own/own.h"
#include "core/vec.h"
#include "solver/joints/joints.h"
#include "sparse/sparse.h"

#include <stdio.h>
#include <string.h>

#define SOLVER_TAG 0x736f6c76u // "solv"

struct CnSolver {
  const CnSolverKind *kind;
  void *state;
  CnSolverDef def;
  CnAllocator allocator;
  CniStepMemory memory; // of users' solves
  CniJoints joints;     // to see which ones contradict each other, where some seem to
};

// ---- the table ----

#define CN_SOLVER(name) &cni_solver_##name,
const CnSolverKind *const cni_solver_kinds[] = {
#include "solver/solver_list.inc"
};
#undef CN_SOLVER
const int32_t cni_solver_kind_count =
    (int32_t)(sizeof cni_solver_kinds / sizeof cni_solver_kinds[0]);

const CnSolverKind *cni_solver_kind(int32_t index) {
  if (index >= cni_solver_kind_count)
    return cn_own_row(CNI_OWN_SOLVER, index - cni_solver_kind_count);
  return index >= 0 ? cni_solver_kinds[index] : NULL;
}

const CnSolverKind *cni_solver_find(const char *name) {
  const CnSolverKind *kind;
  for (int32_t i = 0; name && (kind = cni_solver_kind(i)); i++)
    if (strcmp(kind->name, name) == 0) return kind;
  return NULL;
}

const char *cni_solver_builtin_name(int32_t index) {
  return index >= 0 && index < cni_solver_kind_count ? cni_solver_kinds[index]->name : NULL;
}

const char *cn_solver_name(int32_t index) {
  const CnSolverKind *kind = cni_solver_kind(index);
  return kind ? kind->name : NULL;
}

const char *cn_solver_summary(int32_t index) {
  const CnSolverKind *kind = cni_solver_kind(index);
  return kind ? kind->summary : NULL;
}

const char *cn_outcome_name(CnOutcome outcome) {
  static const char *const names[CN_OUTCOME_COUNT] = {"finished", "ray", "limit", "stalled",
                                                      "infeasible"};
  return (uint32_t)outcome < CN_OUTCOME_COUNT ? names[outcome] : "unknown";
}

// ---- what a problem needs and a solver accepts ----

// Unsymmetric beyond the round-off of whoever wrote the file.
static int unsymmetric(const CnProblem *p) {
  const CnSparse *w = &p->w;
  double largest = 0, defect = 0;
  for (int32_t i = 0; i < w->row_count; i++) {
    for (int32_t e = w->start[i]; e < w->start[i + 1]; e++) {
      largest = cn_max(largest, fabs(w->value[e]));
      defect = cn_max(defect, fabs(w->value[e] - cni_sparse_entry(w, w->column[e], i)));
    }
  }
  return defect > 1e-10 * largest;
}

// The bits that a solver must accept. Symmetry costs a pass and is looked at last.
static uint32_t needs(const CnProblem *p) {
  static const uint32_t forms[] = {[CN_FORM_STEP] = CNI_ACCEPT_STEP,
                                   [CN_FORM_EXPLICIT] = CNI_ACCEPT_EXPLICIT,
                                   [CN_FORM_GLOBAL] = CNI_ACCEPT_GLOBAL};
  uint32_t bits = forms[p->form];
  for (int32_t i = 0; i < p->block_count; i++) bits |= CNI_ACCEPT_KIND(p->blocks[i].kind);
  uint32_t cones = CNI_ACCEPT_KIND(CN_BLOCK_FRICTION_2D) | CNI_ACCEPT_KIND(CN_BLOCK_FRICTION) |
                   CNI_ACCEPT_KIND(CN_BLOCK_ROLLING) | CNI_ACCEPT_KIND(CN_BLOCK_SPINNING);
  if (bits & cones)
    bits |= p->friction == CN_FRICTION_CONVEX ? CNI_ACCEPT_CONVEX : CNI_ACCEPT_COULOMB;
  return bits;
}

// In words, the first thing that is missing.
static const char *missing_name(uint32_t missing) {
  for (int32_t kind = 0; kind < CN_BLOCK_KIND_COUNT; kind++) {
    if (missing & CNI_ACCEPT_KIND(kind)) return cn_block_kind_name((CnBlockKind)kind);
  }
  if (missing & CNI_ACCEPT_STEP) return "step-form";
  if (missing & CNI_ACCEPT_EXPLICIT) return "explicit-form";
  if (missing & CNI_ACCEPT_GLOBAL) return "global-form";
  if (missing & CNI_ACCEPT_UNSYMMETRIC) return "unsymmetric";
  return missing & CNI_ACCEPT_CONVEX ? "convex-friction" : "coulomb-friction";
}

// Bits of a problem that is an LCP or MLCP.
static int is_lcp(uint32_t bits) {
  uint32_t rows = CNI_ACCEPT_KIND(CN_BLOCK_BILATERAL) | CNI_ACCEPT_KIND(CN_BLOCK_UNILATERAL);
  return !(bits & (CNI_ACCEPT_STEP | CNI_ACCEPT_GLOBAL | (CNI_ACCEPT_ALL_KINDS & ~rows)));
}

// The error of a certificate that `converged` is about.
static double deciding_error(uint32_t bits, const CnCertificate *c) {
  if (bits & CNI_ACCEPT_STEP) return c->residual;
  return is_lcp(bits) || bits & CNI_ACCEPT_GLOBAL ? c->error_siconos
                                                  : cn_max(c->error_siconos, c->error_scaled);
}

double cn_solve_error(const CnProblem *p, const CnCertificate *certificate) {
  if (!p || !certificate) return NAN;
  return deciding_error(needs(p), certificate);
}

static CnStatus check_needs(const CnSolverKind *kind, const CnProblem *p, uint32_t bits) {
  if (p->form == CN_FORM_EXPLICIT && !(kind->accepts & CNI_ACCEPT_UNSYMMETRIC) && unsymmetric(p))
    bits |= CNI_ACCEPT_UNSYMMETRIC;
  uint32_t accepts = kind->accepts;
  if (accepts & CNI_ACCEPT_RELAXED) accepts |= CNI_ACCEPT_COULOMB;
  uint32_t missing = bits & ~accepts;
  if (!missing) return CN_OK;
  char list[256] = "";
  size_t used = 0;
  const CnSolverKind *other;
  for (int32_t i = 0; (other = cni_solver_kind(i)) && used < sizeof list; i++) {
    if (bits & ~other->accepts) continue;
    used +=
        (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", other->name);
  }
  return cni_error(CN_UNSUPPORTED, "solver %s cannot take %s problems; these can: %s", kind->name,
                   missing_name(missing), used ? list : "none");
}

CnStatus cni_solver_check(const CnSolverKind *kind, const CnProblem *p) {
  return check_needs(kind, p, needs(p));
}

// ---- definition ----

const char *const cni_efforts[] = {"quick", "normal", "exact", NULL};
static const char *const locals[] = {"split", "projection", "exact", NULL};

const CniField cni_solver_fields[] = {
    CNI_FIELD(WORD, CnSolverDef, name, ANY, "", "the method", .table = cn_solver_name,
              .where = CNI_NOT_IN_RUN),
    CNI_FIELD(REAL, CnSolverDef, tolerance, NOT_NEGATIVE, "",
              "stop early when the error is below; 0 uses all iterations"),
    CNI_FIELD(INTEGER, CnSolverDef, max_iterations, AT_LEAST_1, "",
              "most iterations of a step; the default is the solver's", .fallback = {1},
              .file = "iterations"),
    CNI_FIELD(REAL, CnSolverDef, time_budget, NOT_NEGATIVE, "s",
              "longest time of a solve, 0: no bound; a step it cut is outside the promise of bits"),
    CNI_FIELD(REAL, CnSolverDef, relaxation, RELAXATION, "", "omega, the share of each correction",
              .fallback = {1}),
    CNI_FIELD(REAL, CnSolverDef, acceleration, POSITIVE_SHARE, "",
              "lambda, the share of each sweep", .fallback = {1}),
    CNI_FIELD(CHOICE, CnSolverDef, local, ANY, "", "how the impulse of one block is found",
              .words = locals, .where = CNI_NUMBER_IN_RUN),
    CNI_FIELD(INTEGER, CnSolverDef, check_interval, AT_LEAST_1, "",
              "iterations from one convergence check to the next", .fallback = {10}),
    CNI_FIELD(INTEGER, CnSolverDef, facets, FACETS, "",
              "sides of the pyramids in place of friction cones (simplex)", .fallback = {8}),
    CNI_FIELD(CHOICE, CnSolverDef, effort, ANY, "", "how much work auto may spend on a step",
              .words = cni_efforts, .fallback = {CN_EFFORT_NORMAL}),
    CNI_FIELDS_END,
};

CnSolverDef cn_solver_def_default(const char *name) {
  const CnSolverKind *kind = cni_solver_find(name);
  CnSolverDef def = {.size = sizeof def, .tag = SOLVER_TAG};
  cni_fields_default(cni_solver_fields, &def);
  if (kind) {
    def.tolerance = kind->defaults.tolerance;
    def.max_iterations = kind->defaults.max_iterations;
  }
  def.name = kind ? kind->name : name;
  def.allocator = cn_allocator_default();
  return def;
}

double cn_solver_tolerance(const CnSolverDef *def) {
  static const double usual[] = {1e-3, 1e-4, 1e-8};
  if (!def) return NAN;
  if (def->tolerance > 0 || cni_solver_find(def->name) != &cni_solver_auto) return def->tolerance;
  return (uint32_t)def->effort <= CN_EFFORT_EXACT ? usual[def->effort] : NAN;
}

static CnStatus check_def(const CnSolverDef *def) {
  CNI_TRY(cni_def_check("solver", def, sizeof *def, SOLVER_TAG));
  CnSolverDef copy = *def;
  CNI_TRY(cni_fields_check(cni_solver_fields, "solver", &copy));
  if (!def->allocator.allocate || !def->allocator.release)
    return cni_invalid("solver: the allocator lacks a function");
  return CN_OK;
}

CnStatus cn_solver_create(const CnSolverDef *def, CnSolver **solver) {
  CNI_FLOATS;
  if (!solver) return cni_invalid("cn_solver_create: solver is null");
  *solver = NULL;
  CNI_TRY(check_def(def));
  CnSolver *made = cni_allocate(&def->allocator, sizeof *made);
  if (!made) return cni_error_memory(sizeof *made);
  const CnSolverKind *kind = cni_solver_find(def->name);
  *made = (CnSolver){kind, NULL, *def, def->allocator, {.holders = 0}, {.direct = NULL}};
  cni_joints_init(&made->joints, &def->allocator);
  cni_step_memory_init(&made->memory, &def->allocator);

  // the caller's string may not live as long as the solver
  made->def.name = kind->name;
  made->def.tolerance = cn_solver_tolerance(def);
  CnStatus status = kind->create(&made->def, &made->allocator, &made->state);
  if (status != CN_OK) {
    cni_release(&def->allocator, made, sizeof *made);
    return status;
  }
  *solver = made;
  return CN_OK;
}

void cn_solver_destroy(CnSolver *solver) {
  if (!solver) return;
  CnAllocator allocator = solver->allocator;
  solver->kind->destroy(solver->state);
  cni_joints_release(&solver->joints);
  cni_step_memory_release(&solver->memory);
  cni_release(&allocator, solver, sizeof *solver);
}

// ---- solving ----

static CnStatus check_answer(const CnProblem *p, const CnAnswer *answer) {
  int32_t v_count = cni_problem_velocity_count(p);
  if (answer->row_count != p->row_count || answer->velocity_count != v_count)
    return cni_invalid("answer has %d rows and %d velocities, the problem %d and %d: call "
                       "cn_answer_fit",
                       (int)answer->row_count, (int)answer->velocity_count, (int)p->row_count,
                       (int)v_count);
  for (int32_t i = 0; i < p->row_count; i++) {
    if (!isfinite(answer->g[i]))
      return cni_invalid("warm start: g[%d] is %g", (int)i, answer->g[i]);
  }
  return CN_OK;
}

// ---- global problems by way of the explicit form ----

// How often a global problem is solved again because its own measure, which does not divide by |q|,
// asks for more than that of the explicit form.
#define GLOBAL_ROUNDS 4
#define UNMET_WITHIN 1e-2 // and where work is bounded
#define UNMET 1e-6        // residual from which it is asked whether joints contradict each other

// Solve the explicit form to `tolerance` from answer->g, then v and u of the global problem.
static CnStatus solve_round(CnSolver *solver, double tolerance, const CnProblem *reduced,
                            const CnProblem *p, CnAnswer *local, CnAnswer *answer,
                            CniStepMemory *memory, CnSolveReport *report) {
  CnSolver *used = solver;
  CnSolverDef def = solver->def;
  if (tolerance != def.tolerance) {
    def.tolerance = tolerance;
    CNI_TRY(cn_solver_create(&def, &used));
  }
  int32_t before = report->iterations;
  CnStatus status = used->kind->solve(used->state, reduced, local, memory, report);
  report->iterations += before;
  if (used != solver) cn_solver_destroy(used);
  if (status != CN_OK) return status;
  if (p->row_count > 0) memcpy(answer->g, local->g, (size_t)p->row_count * sizeof *answer->g);
  CNI_TRY(cn_answer_complete(answer, p));
  return cni_certify(p, answer, memory, &report->certificate);
}

static CnStatus solve_global(CnSolver *solver, const CnProblem *p, const CnProblem *reduced,
                             CnAnswer *local, CnAnswer *answer, CniStepMemory *memory,
                             CnSolveReport *report) {
  CNI_TRY(cni_solver_check(solver->kind, reduced));
  CNI_TRY(cn_answer_fit(local, reduced));
  if (p->row_count > 0) memcpy(local->g, answer->g, (size_t)p->row_count * sizeof *local->g);
  double wanted = solver->def.tolerance, tolerance = wanted, last = INFINITY;
  for (int32_t i = 0; i < GLOBAL_ROUNDS; i++) {
    CnStatus status = solve_round(solver, tolerance, reduced, p, local, answer, memory, report);
    if (i > 0 && status != CN_OK) break; // the answer of the round before stands
    CNI_TRY(status);
    double error = report->certificate.error_siconos;
    int met = cni_problem_error(reduced, local->g, local->u) <= tolerance;
    if (!(error > wanted) || wanted <= 0 || !met || !(error < last)) break;
    last = error;
    tolerance *= wanted / error / 2;
  }
  return CN_OK;
}

// Reduce, solve, and certify on the problem as given.
static CnStatus solve_by_elimination(CnSolver *solver, const CnProblem *p, CnAnswer *answer,
                                     CniStepMemory *memory, CnSolveReport *report) {
  CnProblem *reduced;
  double start = cni_seconds();
  CNI_TRY(cn_problem_to_explicit(p, &reduced));
  double setup = cni_seconds() - start;
  CnAnswer local = cn_answer_empty(&p->allocator);
  CnStatus status = solve_global(solver, p, reduced, &local, answer, memory, report);
  report->seconds_setup += setup;
  cn_answer_release(&local);
  cn_problem_destroy(reduced);
  return status;
}

// ---- any problem ----

// Joints and limits that ask for speeds which no motion has: where the answer leaves some unmet, they are
// looked for after the answer. Without memory for that a step of a world fails, as its verdict would
// know of fewer than that of a copy; others have their answer. What else goes wrong leaves no names.
static CnStatus name_joints(CnSolver *solver, const CnProblem *p, CnAnswer *answer,
                            CnSolveReport *report) {
  const CnCertificate *certificate = &report->certificate;
  int thorough = solver->kind == &cni_solver_auto;
  double unmet = !thorough                               ? UNMET
                 : solver->def.effort == CN_EFFORT_EXACT ? solver->def.tolerance
                                                         : UNMET_WITHIN;
  if (!(certificate->residual > unmet) || report->infeasible_count > 0) return CN_OK;
  if (!thorough && !(certificate->joint_speed > UNMET * certificate->residual_speed)) return CN_OK;
  if (cni_joints_count(p) == 0) return CN_OK;
  if (thorough && !answer->u) { // a step whose sweeps sufficed has none
    CNI_TRY(cni_answer_reserve_u(answer));
    cni_problem_velocity(p, answer->v, answer->g, answer->u);
  }
  CnStatus status =
      cni_joints_disprove(&solver->joints, p, thorough ? answer : NULL, solver->def.tasks,
                          report->infeasible_rows, CN_REPORT_ROWS, &report->infeasible_count);
  if (status != CN_OK) return status == CN_NO_MEMORY ? status : CN_OK;
  if (report->infeasible_count > 0) report->outcome = CN_OUTCOME_INFEASIBLE;
  return CN_OK;
}

static CnStatus solve(CnSolver *solver, const CnProblem *problem, CnAnswer *answer,
                      CniStepMemory *memory, CnSolveReport *report) {
  const CnSolverKind *kind = solver->kind;
  double begin = cni_seconds();
  CNI_TRY(cni_problem_check(problem));
  CNI_VALIDATE(cni_problem_fault(problem));
  uint32_t bits = needs(problem);
  int eliminate = problem->form == CN_FORM_GLOBAL && !(kind->accepts & CNI_ACCEPT_GLOBAL);
  if (!eliminate) CNI_TRY(check_needs(kind, problem, bits));
  CNI_TRY(check_answer(problem, answer));

  if (problem->b_per_block && !(kind->accepts & CNI_TAKES_B_PER_BLOCK))
    return cni_invalid(
        "%s reads all rows of b, which the problem does not have yet: a world's is given "
        "out by cn_world_problem",
        kind->name);

  // what the certificate needs is fetched first: after the solve nothing may fail
  if (problem->form != CN_FORM_STEP || !(kind->accepts & CNI_LEAVES_U))
    CNI_TRY(cni_answer_reserve_u(answer));
  CNI_TRY(cni_certify_reserve(problem, answer, memory));
  CnSolveReport made; // to clear all of it takes as long as solving a few rows
  made.solver = made.method = kind->name;
  made.friction = problem->friction;
  made.iterations = made.cut_by_time = 0;
  made.attempts = 1;
  made.seconds_setup = made.seconds_finish = made.pyramid_residual = 0;
  made.facets = made.infeasible_count = 0;
  for (int32_t i = 0; i < CN_REPORT_ROWS; i++) made.infeasible_rows[i] = -1;
  made.outcome = CN_OUTCOME_FINISHED;
  if (eliminate)
    CNI_TRY(solve_by_elimination(solver, problem, answer, memory, &made));
  else
    CNI_TRY(kind->solve(solver->state, problem, answer, memory, &made));
  double solved = cni_seconds();
  made.seconds = solved - begin;
  CNI_TRY(cni_certify(problem, answer, memory, &made.certificate));
  double error = deciding_error(bits, &made.certificate);
  if (made.facets > 0)
    error = made.pyramid_residual =
        cni_pyramid_residual(problem, made.facets, answer->g, answer->u);
  made.converged = error <= solver->def.tolerance;
  if (problem->form == CN_FORM_STEP && name_joints(solver, problem, answer, &made) != CN_OK &&
      memory != &solver->memory)
    return CN_NO_MEMORY;
  made.seconds_certificate = cn_max(0, cni_seconds() - solved);
  if (report) *report = made;
  return CN_OK;
}

CnStatus cni_solver_solve(CnSolver *solver, const CnProblem *problem, CnAnswer *answer,
                          CniStepMemory *memory, CnSolveReport *report) {
  if (!solver || !problem || !answer)
    return cni_invalid("cn_solver_solve: %s is null", !solver    ? "solver"
                                                      : !problem ? "problem"
                                                                 : "answer");
  if (memory) {
    cni_step_memory_hold(memory);
    CnStatus status = solve(solver, problem, answer, memory, report);
    cni_step_memory_let_go(memory);
    return status;
  }
  // what this solve takes is kept for the next one
  CNI_TRY(cni_step_memory_reset(&solver->memory));
  cni_step_memory_hold(&solver->memory);
  return solve(solver, problem, answer, &solver->memory, report);
}

CnStatus cn_solver_solve(CnSolver *solver, const CnProblem *problem, CnAnswer *answer,
                         CnSolveReport *report) {
  CNI_FLOATS;
  return cni_solver_solve(solver, problem, answer, NULL, report);
}

// Multiplications of a solve with the effort `exact`, some seconds at a hundred contacts; with the others shares of it.
#define WORK 2e9
#define FACTORS 400. // dense ones

double cni_solver_allowance(const CnSolver *solver, double rows) {
  static const double shares[] = {0.01, 0.1, 1};
  return shares[solver->def.effort] * (WORK + FACTORS * rows * rows * rows);
}

void cni_solver_allow(CnSolver *solver, double *work) { solver->memory.work = work; }

int cni_solver_takes_b_per_block(const CnSolver *solver) {
  return (solver->kind->accepts & CNI_TAKES_B_PER_BLOCK) != 0;
}

CnStatus cn_solve(const CnProblem *problem, const char *solver, double tolerance, CnAnswer *answer,
                  CnSolveReport *report) {
  CNI_FLOATS;
  if (!problem) return cni_invalid("cn_solve: problem is null");
  CnSolverDef def = cn_solver_def_default(solver);
  def.tolerance = tolerance;
  def.effort = CN_EFFORT_EXACT;
  def.allocator = problem->allocator;

  // who names a tolerance wants it reached; defaults are for steps of a world
  if (def.max_iterations <= INT32_MAX / 100) def.max_iterations *= 100;
  CnSolver *made;
  CNI_TRY(cn_solver_create(&def, &made));
  CnStatus status = cn_solver_solve(made, problem, answer, report);
  cn_solver_destroy(made);
  return status;
}
