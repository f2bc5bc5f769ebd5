// auto: tries in a fixed order and returns only what the certificate confirms.
//
// Linear complementarity problems (bilateral and unilateral blocks in explicit form):
//   1. lemke with the covering vector of ones
//   2. lemke with other covering vectors: the path is another one, and where the matrix is merely
//      copositive one path may end on a ray and the next at a solution
// Everything else: psor.
//
// What to try next depends on sizes and counts, never on time. The first answer whose error is
// within the tolerance ends the search; if there is none the best one is returned, and the report
// says so.
#include "solver/solver.h"
#include "solver/lcp.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/vec.h"

#include <string.h>

#define COVERS 4 // covering vectors that are tried

typedef struct Auto {
  CnAllocator allocator;
  CniLcpWork work;
  void *sweeps; // of psor
  double tolerance;
  int32_t max_iterations;
} Auto;

static CnStatus create(const CnSolverDef *def, const CnAllocator *allocator, void **state) {
  Auto *s = cni_allocate(allocator, sizeof *s);
  if (!s) return cni_error_memory(sizeof *s);
  s->allocator = *allocator;
  s->tolerance = def->tolerance;
  s->max_iterations = def->max_iterations;
  CnStatus status = cni_solver_psor.create(def, allocator, &s->sweeps);
  if (status != CN_OK) {
    cni_release(allocator, s, sizeof *s);
    return status;
  }
  cni_lcp_work_init(&s->work, allocator);
  *state = s;
  return CN_OK;
}

static void destroy(void *state) {
  Auto *s = state;
  if (!s) return;
  cni_lcp_work_release(&s->work);
  cni_solver_psor.destroy(s->sweeps);
  CnAllocator allocator = s->allocator;
  cni_release(&allocator, s, sizeof *s);
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
  double *g = k->best_g, *u = k->best_u;
  k->best_g = k->g;
  k->best_u = k->u;
  k->g = g;
  k->u = u;
  return 1;
}

static CnStatus search_lcp(Auto *s, CnProblem *p, Search *search) {
  static const CnOutcome outcomes[] = {CN_OUTCOME_FINISHED, CN_OUTCOME_RAY, CN_OUTCOME_LIMIT};
  CnSolveReport *report = search->report;
  for (int32_t cover = 0; cover < COVERS; cover++) {
    CniAttempt attempt;
    int32_t limit = 20 * p->row_count + 100;
    CNI_TRY(cni_lcp_lemke(&s->work, p, cover, limit, s->tolerance, &attempt));
    report->iterations += attempt.pivots;
    if (keep_better(search, attempt.error, "lemke")) report->outcome = outcomes[attempt.end];
    if (search->best <= s->tolerance) return CN_OK;
  }
  CniAttempt attempt;
  CNI_TRY(cni_lcp_branch(&s->work, p, 100000, s->tolerance, &attempt));
  report->iterations += attempt.pivots;
  if (keep_better(search, attempt.error, "branch")) report->outcome = CN_OUTCOME_FINISHED;
  if (search->best > s->tolerance && attempt.end == CNI_PATH_RAY)
    report->outcome = CN_OUTCOME_INFEASIBLE;
  return CN_OK;
}

static CnStatus solve_lcp(Auto *s, CnProblem *p, CnAnswer *answer, CnSolveReport *report) {
  if (p->row_count == 0) return CN_OK;
  Search search = {&s->work, report, INFINITY};
  report->attempts = 0;
  CNI_TRY(cni_lcp_work_reserve(&s->work, p));
  CNI_TRY(search_lcp(s, p, &search));
  size_t bytes = (size_t)p->row_count * sizeof(double);
  memcpy(answer->g, s->work.best_g, bytes);
  memcpy(answer->u, s->work.best_u, bytes);
  return CN_OK;
}

static CnStatus solve(void *state, CnProblem *p, CnAnswer *answer, CnSolveReport *report) {
  Auto *s = state;
  if (cni_problem_is_lcp(p)) return solve_lcp(s, p, answer, report);
  report->method = cni_solver_psor.name;
  return cni_solver_psor.solve(s->sweeps, p, answer, report);
}

const CnSolverKind cni_solver_auto = {
    .name = "auto",
    .summary = "tries the solvers in a fixed order until the certificate confirms an answer",
    .accepts = CNI_ACCEPT_ALL_KINDS | CNI_ACCEPT_STEP | CNI_ACCEPT_EXPLICIT |
               CNI_ACCEPT_UNSYMMETRIC | CNI_ACCEPT_COULOMB | CNI_ACCEPT_CONVEX,
    .defaults = {.tolerance = 1e-8,
                 .max_iterations = 120,
                 .relaxation = 1,
                 .acceleration = 1,
                 .local = CN_LOCAL_SPLIT,
                 .check_interval = 10},
    .create = create,
    .solve = solve,
    .destroy = destroy,
};
