// SPDX-License-Identifier: Apache-2.0
// newton: the function of Fischer and Burmeister for LCP and MLCP (newton.c and lcp.c), projections
// for everything else (cone_newton.c).
#include "solver/solver.h"
#include "solver/cones/cones.h"
#include "solver/pivots/lcp.h"
#include "core/clock.h"

#include <string.h>

typedef struct Newton {
  CnAllocator allocator;
  CniLcpWork work;
  CniCones *cones;
  double tolerance, time_budget;
  int32_t max_steps;
} Newton;

static CnStatus create(const CnSolverDef *def, const CnAllocator *allocator, void **state) {
  Newton *s;
  CNI_TRY(cni_new(allocator, sizeof *s, &s));
  s->allocator = *allocator;
  s->tolerance = def->tolerance;
  s->time_budget = def->time_budget;
  s->max_steps = def->max_iterations;
  CnStatus status = cni_cones_create(allocator, &s->cones);
  if (status != CN_OK) {
    cni_release(allocator, s, sizeof *s);
    return status;
  }
  cni_lcp_work_init(&s->work, allocator);
  *state = s;
  return CN_OK;
}

static void destroy(void *state) {
  Newton *s = state;
  if (!s) return;
  cni_lcp_work_release(&s->work);
  cni_cones_destroy(s->cones);
  CnAllocator allocator = s->allocator;
  cni_release(&allocator, s, sizeof *s);
}

static CnStatus solve_cones(Newton *s, const CnProblem *p, CnAnswer *answer,
                            CnSolveReport *report) {
  CniConeNewton newton;
  if (p->row_count > 0) {
    double start = s->time_budget > 0 ? cni_seconds() : 0;
    CNI_TRY(cni_cones_load(s->cones, p));
    if (s->time_budget > 0) s->cones->deadline = start + s->time_budget;
    CNI_TRY(cni_cone_newton_init(&newton, s->cones));
    cni_cones_import(s->cones, answer->g, newton.step);
    cni_cone_newton_start(&newton, newton.step);
    int32_t steps = cni_cone_newton_run(&newton, s->max_steps, 1, s->tolerance);
    CNI_TRY(cni_cones_finish(s->cones, newton.best));
    memcpy(answer->g, s->cones->result, (size_t)p->row_count * sizeof *answer->g);
    report->iterations = steps;
    report->cut_by_time = s->cones->cut;
    if (newton.error > s->tolerance)
      report->outcome =
          steps < s->max_steps && !s->cones->cut ? CN_OUTCOME_STALLED : CN_OUTCOME_LIMIT;
  }
  cni_problem_apply(p, answer->g, answer->v);
  cni_problem_velocity(p, answer->v, answer->g, answer->u);
  return CN_OK;
}

static CnStatus solve(void *state, const CnProblem *p, CnAnswer *answer, CniStepMemory *memory,
                      CnSolveReport *report) {
  static const CnOutcome outcomes[] = {CN_OUTCOME_FINISHED, CN_OUTCOME_STALLED, CN_OUTCOME_LIMIT};
  (void)memory;
  Newton *s = state;
  CniAttempt attempt;
  if (!cni_problem_is_lcp(p)) return solve_cones(s, p, answer, report);
  CNI_TRY(cni_lcp_work_reserve(&s->work, p));
  cni_lcp_work_begin(&s->work, s->time_budget);
  CNI_TRY(cni_lcp_newton(&s->work, p, answer->g, s->max_steps, s->tolerance, &attempt));
  report->iterations = attempt.pivots;
  report->outcome = outcomes[attempt.end];
  report->cut_by_time = s->work.cut;
  if (p->row_count == 0) return CN_OK;
  memcpy(answer->g, s->work.g, (size_t)p->row_count * sizeof *answer->g);
  memcpy(answer->u, s->work.u, (size_t)p->row_count * sizeof *answer->u);
  return CN_OK;
}

const CnSolverKind cni_solver_newton = {
    .name = "newton",
    .summary =
        "globalised semismooth Newton: Fischer-Burmeister for LCP and MLCP, projections with "
        "a proximal term for cones",
    .accepts = CNI_ACCEPT_ALL_KINDS | CNI_ACCEPT_STEP | CNI_ACCEPT_EXPLICIT | CNI_ACCEPT_GLOBAL |
               CNI_ACCEPT_UNSYMMETRIC | CNI_ACCEPT_COULOMB | CNI_ACCEPT_CONVEX,
    .defaults = {.tolerance = 1e-10, .max_iterations = 100},
    .create = create,
    .solve = solve,
    .destroy = destroy,
};
