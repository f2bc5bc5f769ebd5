// SPDX-License-Identifier: Apache-2.0
// ipm: interior point. Without friction row_ipm.c first; cone_ipm.c.
#include "solver/solver.h"
#include "solver/cones/cones.h"
#include "core/clock.h"

#include <string.h>

#define ROWS 60 // iterations without friction

typedef struct Ipm {
  CnAllocator allocator;
  CniCones *cones;
  double tolerance, time_budget;
  int32_t max_iterations;
} Ipm;

static CnStatus create(const CnSolverDef *def, const CnAllocator *allocator, void **state) {
  Ipm *s = cni_allocate(allocator, sizeof *s);
  if (!s) return cni_error_memory(sizeof *s);
  *s = (Ipm){*allocator, NULL, def->tolerance, def->time_budget, def->max_iterations};
  CnStatus status = cni_cones_create(allocator, &s->cones);
  if (status != CN_OK) {
    cni_release(allocator, s, sizeof *s);
    return status;
  }
  *state = s;
  return CN_OK;
}

static void destroy(void *state) {
  Ipm *s = state;
  if (!s) return;
  CnAllocator allocator = s->allocator;
  cni_cones_destroy(s->cones);
  cni_release(&allocator, s, sizeof *s);
}

// Problems without friction by the method of the paper, from the impulses given if there are any.
static CnStatus try_rows(Ipm *s, double *g, CniIpmEnd *end) {
  CniRowIpmRule rule = {.start = CNI_START_DAPUZZO, .warm = CNI_WARM_NONE, .max_iterations = ROWS};
  *end = (CniIpmEnd){0};
  if (!cni_row_ipm_takes(s->cones)) return CN_OK;
  for (int32_t i = 0; i < s->cones->n && rule.warm == CNI_WARM_NONE; i++)
    if (g[i] != 0) rule.warm = CNI_WARM_FULL;
  return cni_row_ipm(s->cones, &rule, NULL, g, end);
}

static CnStatus solve(void *state, const CnProblem *p, CnAnswer *answer, CniStepMemory *memory,
                      CnSolveReport *report) {
  Ipm *s = state;
  (void)memory;
  CniIpmRule rule = {s->tolerance, s->max_iterations, 1};
  CniIpmEnd end, rows;
  if (p->row_count > 0) {
    double start = s->time_budget > 0 ? cni_seconds() : 0;
    CNI_TRY(cni_cones_load(s->cones, p));
    if (s->time_budget > 0) s->cones->deadline = start + s->time_budget;
    double *g = cni_arena_take(&s->cones->arena, (size_t)p->row_count * sizeof *g);
    if (!g) return cni_error_memory((size_t)p->row_count * sizeof *g);
    cni_cones_import(s->cones, answer->g, g);
    // where its criteria are not enough for the tolerance the other goes on, or ends it by Newton
    CNI_TRY(try_rows(s, g, &rows));
    CNI_TRY(cni_cone_ipm(s->cones, &rule, g, &end));
    CNI_TRY(cni_cones_finish(s->cones, g));
    memcpy(answer->g, s->cones->result, (size_t)p->row_count * sizeof *answer->g);
    report->iterations = rows.iterations + end.iterations + end.newton_steps;
    if (end.stalled) report->outcome = CN_OUTCOME_STALLED;
    report->cut_by_time = end.stalled && s->cones->cut;
  }
  cni_problem_apply(p, answer->g, answer->v);
  cni_problem_velocity(p, answer->v, answer->g, answer->u);
  return CN_OK;
}

const CnSolverKind cni_solver_ipm = {
    .name = "ipm",
    .summary = "interior point on cones, both friction models, any mass ratio, to round-off",
    .accepts = CNI_ACCEPT_ALL_KINDS | CNI_ACCEPT_STEP | CNI_ACCEPT_EXPLICIT | CNI_ACCEPT_GLOBAL |
               CNI_ACCEPT_UNSYMMETRIC | CNI_ACCEPT_COULOMB | CNI_ACCEPT_CONVEX,
    .defaults = {.tolerance = 1e-8, .max_iterations = 200},
    .create = create,
    .solve = solve,
    .destroy = destroy,
};
