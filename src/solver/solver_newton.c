// newton: the function of Fischer and Burmeister. See newton.c and lcp.c.
#include "solver/solver.h"
#include "solver/lcp.h"
#include "core/error.h"
#include "core/memory.h"

#include <string.h>

typedef struct Newton {
  CnAllocator allocator;
  CniLcpWork work;
  double tolerance;
  int32_t max_steps;
} Newton;

static CnStatus create(const CnSolverDef *def, const CnAllocator *allocator, void **state) {
  Newton *s = cni_allocate(allocator, sizeof *s);
  if (!s) return cni_error_memory(sizeof *s);
  s->allocator = *allocator;
  s->tolerance = def->tolerance;
  s->max_steps = def->max_iterations;
  cni_lcp_work_init(&s->work, allocator);
  *state = s;
  return CN_OK;
}

static void destroy(void *state) {
  Newton *s = state;
  if (!s) return;
  cni_lcp_work_release(&s->work);
  CnAllocator allocator = s->allocator;
  cni_release(&allocator, s, sizeof *s);
}

static CnStatus solve(void *state, CnProblem *p, CnAnswer *answer, CnSolveReport *report) {
  static const CnOutcome outcomes[] = {CN_OUTCOME_FINISHED, CN_OUTCOME_STALLED, CN_OUTCOME_LIMIT};
  Newton *s = state;
  CniAttempt attempt;
  CNI_TRY(cni_lcp_work_reserve(&s->work, p));
  CNI_TRY(cni_lcp_newton(&s->work, p, answer->g, s->max_steps, s->tolerance, &attempt));
  report->iterations = attempt.pivots;
  report->outcome = outcomes[attempt.end];
  if (p->row_count == 0) return CN_OK;
  memcpy(answer->g, s->work.g, (size_t)p->row_count * sizeof *answer->g);
  memcpy(answer->u, s->work.u, (size_t)p->row_count * sizeof *answer->u);
  return CN_OK;
}

const CnSolverKind cni_solver_newton = {
    .name = "newton",
    .summary = "globalised Newton steps on the Fischer-Burmeister function: LCP and MLCP, dense",
    .accepts = CNI_ACCEPT_KIND(CN_BLOCK_BILATERAL) | CNI_ACCEPT_KIND(CN_BLOCK_UNILATERAL) |
               CNI_ACCEPT_EXPLICIT | CNI_ACCEPT_UNSYMMETRIC,
    .defaults = {.tolerance = 1e-10,
                 .max_iterations = 100,
                 .relaxation = 1,
                 .acceleration = 1,
                 .local = CN_LOCAL_SPLIT,
                 .check_interval = 10},
    .create = create,
    .solve = solve,
    .destroy = destroy,
};
