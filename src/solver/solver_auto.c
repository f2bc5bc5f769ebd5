// SPDX-License-Identifier: Apache-2.0
// auto: tries in a fixed order and returns only what the certificate confirms.
//
// Linear complementarity problems (bilateral and unilateral blocks in explicit form), until one
// answer is within the tolerance or it is proved that there is none:
//   0. the impulses given, if they are a solution already
//   1. lemke with the covering vector of ones
//   2. up to 12 complementarity rows: all cases (branch.c)
//   3. lemke with other covering vectors: the path is another one, and where the matrix is merely
//      copositive one path may end on a ray and the next at a solution
//   4. the search for the active rows (active.c)
//   5. newton from the impulses given, from ones, and from numbers at random
//   6. up to 128 pairs: cases, a limited number of them
//   7. psor
// Problems of more than 4000 rows, whose dense matrix would be large, start with 7.
//
// Steps of a world with an effort that is quick or normal: auto_islands.c and auto_steps.c.
//
// Everything else (friction, limits, step problems), likewise: auto_cones.c. Explicit problems
// of more than 60000 rows, whose factors would be large, are psor's alone.
//
// Who asks for many solves, as an integrator, lends them work (CniStepMemory.work); what tries then gets what is left.
//
// What to try next depends on sizes and counts, never on time. If no answer is within the tolerance
// the best one is returned, and the report says so.
#include "solver/cones/auto_islands.h"
#include "solver/pivots/lcp.h"
#include "core/rng.h"

#include <string.h>

#define DENSE_ROWS 4000  // more rows are not treated by dense methods
#define CASES_FEW 12     // complementarity rows whose cases are tried at once
#define CASES_MOST 128   // pairs of which cases are tried at all
#define CASES_WORK 1e9   // numbers to be computed in the cases
#define COVERS 4         // covering vectors
#define ACTIVE_STEPS 50  // steps of the search for the active rows
#define NEWTON_STARTS 3  // points that newton starts from
#define NEWTON_STEPS 100 // steps from each, and
#define NEWTON_WORK 4e10 // numbers to be computed in these

typedef struct Auto {
  CnAllocator allocator;
  CniLcpWork work;
  CniAutoCones cones;
  CniAutoSteps steps;
  CniAutoIslands islands;
  void *sweeps;          // of psor
  CniStepMemory *memory; // of this solve
  double tolerance, time_budget;
} Auto;

static void destroy(void *state) {
  Auto *s = state;
  if (!s) return;
  cni_lcp_work_release(&s->work);
  cni_auto_cones_release(&s->cones);
  cni_auto_steps_release(&s->steps);
  cni_auto_islands_release(&s->islands);
  cni_solver_psor.destroy(s->sweeps);
  CnAllocator allocator = s->allocator;
  cni_release(&allocator, s, sizeof *s);
}

static CnStatus create(const CnSolverDef *def, const CnAllocator *allocator, void **state) {
  Auto *s;
  CNI_TRY(cni_new(allocator, sizeof *s, &s));
  s->allocator = *allocator;
  s->tolerance = def->tolerance;
  s->time_budget = def->time_budget;
  cni_lcp_work_init(&s->work, allocator);
  cni_auto_islands_init(&s->islands, def, allocator);
  CnStatus status = cni_solver_psor.create(def, allocator, &s->sweeps);
  if (status == CN_OK) status = cni_auto_cones_create(&s->cones, def, allocator);
  if (status == CN_OK) status = cni_auto_steps_create(&s->steps, def, allocator);
  if (status != CN_OK) {
    destroy(s);
    return status;
  }
  *state = s;
  return CN_OK;
}

// The best answer so far is in the work's best_g and best_u: the caller's changes only at the end.
typedef struct Search {
  CniLcpWork *work;
  CnSolveReport *report;
  double best;
} Search;

static int keep_better(Search *search, double error, const char *method) {
  CniLcpWork *k = search->work;
  search->report->attempts++;
  if (!(error < search->best)) return 0;
  search->best = error;
  search->report->method = method;
  CNI_SWAP(double *, k->best_g, k->g);
  CNI_SWAP(double *, k->best_u, k->u);
  return 1;
}

// The impulses given; zero is left to the others.
static int given_is_good(Auto *s, const CnProblem *p, const CnAnswer *answer, Search *search) {
  int any = 0;
  for (int32_t i = 0; i < p->row_count && !any; i++) any = answer->g[i] != 0;
  if (!any) return 0;
  memcpy(s->work.g, answer->g, (size_t)p->row_count * sizeof *answer->g);
  double error = cni_problem_error(p, s->work.g, s->work.u);
  return keep_better(search, error, "given") && error <= s->tolerance;
}

// What an attempt was worth; 1 if nothing has to be tried any more.
static int settle(Auto *s, Search *search, const CniAttempt *attempt, double work,
                  const char *method) {
  CnSolveReport *report = search->report;
  double *left = s->memory->work;
  report->iterations += attempt->pivots;
  if (left) *left -= attempt->pivots * work;
  keep_better(search, attempt->error, method);
  if (search->best <= s->tolerance) {
    report->outcome = CN_OUTCOME_FINISHED;
    return 1;
  }
  report->outcome = attempt->hopeless ? CN_OUTCOME_INFEASIBLE : CN_OUTCOME_STALLED;
  if (cni_lcp_work_late(&s->work)) report->cut_by_time = 1;
  return attempt->hopeless || report->cut_by_time || (left && !(*left > 0));
}

// So much work, or what is left of it.
static double affordable(const Auto *s, double work) {
  return s->memory->work ? cn_clamp(*s->memory->work, 0, work) : work;
}

// The work of a pivot of a dense table, and of a factor.
static double pivot_work(const CnProblem *p) { return (double)p->row_count * p->row_count; }
static double factor_work(const CnProblem *p) { return pivot_work(p) * p->row_count; }

static CnStatus try_lemke(Auto *s, const CnProblem *p, Search *search, int32_t cover, int *done) {
  CniAttempt attempt;
  int32_t n = p->row_count, limit = 20 * n + 100;
  if (affordable(s, limit * pivot_work(p)) < limit * pivot_work(p)) limit = 3 * n + 20;
  CNI_TRY(cni_lcp_lemke(&s->work, p, cover, limit, s->tolerance, &attempt));
  *done = settle(s, search, &attempt, pivot_work(p), "lemke");
  return CN_OK;
}

static CnStatus try_cases(Auto *s, const CnProblem *p, Search *search, int *done) {
  // the tableau of the last path tells how many pairs there are
  double pairs = s->work.reduced.t.pairs, most = affordable(s, CASES_WORK) / (pairs * pairs + 1);
  CniAttempt attempt;
  if (pairs > CASES_MOST) return CN_OK;
  int32_t limit = most < 1e6 ? (int32_t)most : 1000000;
  CNI_TRY(cni_lcp_branch(&s->work, p, limit, s->tolerance, &attempt));
  *done = settle(s, search, &attempt, pairs * pairs, "cases");
  return CN_OK;
}

static CnStatus try_newton(Auto *s, const CnProblem *p, Search *search, const double *given,
                           int *done) {
  CniLcpWork *k = &s->work;
  double most = affordable(s, NEWTON_WORK) / (factor_work(p) + 1) + 5;
  int32_t limit = most < NEWTON_STEPS ? (int32_t)most : NEWTON_STEPS;
  CniRng rng = {1};
  for (int32_t start = 0; start < NEWTON_STARTS && !*done; start++) {
    CniAttempt attempt;
    for (int32_t i = 0; i < p->row_count; i++)
      k->spare[i] = start == 0 ? given[i] : start == 1 ? 1 : cni_rng_range(&rng, 0, 10);
    CNI_TRY(cni_lcp_newton(k, p, k->spare, limit, s->tolerance, &attempt));
    *done = settle(s, search, &attempt, factor_work(p), "newton");
  }
  return CN_OK;
}

static CnStatus try_sweeps(Auto *s, const CnProblem *p, Search *search, const CnAnswer *given) {
  CniLcpWork *k = &s->work;
  CnAnswer answer = *given;
  answer.g = k->g;
  answer.u = k->u;
  memcpy(k->g, given->g, (size_t)p->row_count * sizeof *k->g);
  CnSolveReport report = *search->report;
  CNI_TRY(cni_solver_psor.solve(s->sweeps, p, &answer, s->memory, &report));
  if (report.cut_by_time) search->report->cut_by_time = 1;
  CniAttempt attempt = {.pivots = report.iterations, .error = cni_problem_error(p, k->g, k->u)};
  settle(s, search, &attempt, 2. * p->w.start[p->row_count], cni_solver_psor.name);
  return CN_OK;
}

static CnStatus search_lcp(Auto *s, const CnProblem *p, const CnAnswer *given, Search *search) {
  int done = given_is_good(s, p, given, search);
  if (done) return CN_OK;
  if (p->row_count > DENSE_ROWS) return try_sweeps(s, p, search, given);
  CNI_TRY(try_lemke(s, p, search, 0, &done));
  int few = s->work.reduced.complementary <= CASES_FEW;
  if (!done && few) CNI_TRY(try_cases(s, p, search, &done));
  for (int32_t cover = 1; cover < COVERS && !done; cover++)
    CNI_TRY(try_lemke(s, p, search, cover, &done));
  if (!done) {
    CniAttempt attempt;
    CNI_TRY(cni_lcp_active(&s->work, p, given->g, ACTIVE_STEPS, s->tolerance, &attempt));
    done = settle(s, search, &attempt, factor_work(p), "active rows");
  }
  if (!done) CNI_TRY(try_newton(s, p, search, given->g, &done));
  if (!done && !few) CNI_TRY(try_cases(s, p, search, &done));
  return done ? CN_OK : try_sweeps(s, p, search, given);
}

static CnStatus solve_lcp(Auto *s, const CnProblem *p, CnAnswer *answer, CnSolveReport *report) {
  if (p->row_count == 0) return CN_OK;
  Search search = {&s->work, report, INFINITY};
  report->attempts = 0;
  CNI_TRY(cni_lcp_work_reserve(&s->work, p));
  cni_lcp_work_begin(&s->work, s->time_budget);
  CNI_TRY(search_lcp(s, p, answer, &search));
  size_t bytes = (size_t)p->row_count * sizeof(double);
  memcpy(answer->g, s->work.best_g, bytes);
  memcpy(answer->u, s->work.best_u, bytes);
  return CN_OK;
}

static CnStatus solve(void *state, const CnProblem *p, CnAnswer *answer, CniStepMemory *memory,
                      CnSolveReport *report) {
  Auto *s = state;
  s->memory = memory;
  if (cni_problem_is_lcp(p)) return solve_lcp(s, p, answer, report);
  if (p->form == CN_FORM_STEP && s->steps.effort != CN_EFFORT_EXACT)
    return cni_auto_islands_solve(&s->islands, &s->steps, &s->cones, p, answer, memory, report);
  if (p->row_count <= CNI_FACTOR_ROWS || p->form != CN_FORM_EXPLICIT)
    return cni_auto_cones_solve(&s->cones, p, answer, memory, report);
  report->method = cni_solver_psor.name;
  return cni_solver_psor.solve(s->sweeps, p, answer, memory, report);
}

const CnSolverKind cni_solver_auto = {
    .name = "auto",
    .summary = "tries the solvers in a fixed order until the certificate confirms an answer",
    .accepts = CNI_ACCEPT_ALL_KINDS | CNI_ACCEPT_STEP | CNI_ACCEPT_EXPLICIT |
               CNI_ACCEPT_UNSYMMETRIC | CNI_ACCEPT_COULOMB | CNI_ACCEPT_CONVEX | CNI_ACCEPT_GLOBAL |
               CNI_LEAVES_U,
    .defaults = {.tolerance = 0, .max_iterations = 120},
    .create = create,
    .solve = solve,
    .destroy = destroy,
};
