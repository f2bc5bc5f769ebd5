// SPDX-License-Identifier: Apache-2.0
// lemke: complementary pivoting with the lexicographic rule. See lemke.c, reduce.c and lcp.c.
#include "solver/solver.h"
#include "solver/pivots/lcp.h"

#include <string.h>

typedef struct Lemke {
  CnAllocator allocator;
  CniLcpWork work;
  double tolerance;
  int32_t max_pivots;
} Lemke;

static CnStatus create(const CnSolverDef *def, const CnAllocator *allocator, void **state) {
  Lemke *s;
  CNI_TRY(cni_new(allocator, sizeof *s, &s));
  s->allocator = *allocator;
  s->tolerance = def->tolerance;
  s->max_pivots = def->max_iterations;
  cni_lcp_work_init(&s->work, allocator);
  *state = s;
  return CN_OK;
}

static void destroy(void *state) {
  Lemke *s = state;
  if (!s) return;
  cni_lcp_work_release(&s->work);
  CnAllocator allocator = s->allocator;
  cni_release(&allocator, s, sizeof *s);
}

static CnStatus solve(void *state, const CnProblem *p, CnAnswer *answer, CniStepMemory *memory,
                      CnSolveReport *report) {
  static const CnOutcome outcomes[] = {CN_OUTCOME_FINISHED, CN_OUTCOME_RAY, CN_OUTCOME_LIMIT};
  (void)memory;
  Lemke *s = state;
  CniAttempt attempt;
  CNI_TRY(cni_lcp_work_reserve(&s->work, p));
  CNI_TRY(cni_lcp_lemke(&s->work, p, 0, s->max_pivots, s->tolerance, &attempt));
  report->iterations = attempt.pivots;
  report->outcome = outcomes[attempt.end];
  if (p->row_count == 0) return CN_OK;
  memcpy(answer->g, s->work.g, (size_t)p->row_count * sizeof *answer->g);
  memcpy(answer->u, s->work.u, (size_t)p->row_count * sizeof *answer->u);
  return CN_OK;
}

const CnSolverKind cni_solver_lemke = {
    .name = "lemke",
    .summary = "complementary pivoting: exact LCP and MLCP of any symmetry, dense",
    .accepts = CNI_ACCEPT_KIND(CN_BLOCK_BILATERAL) | CNI_ACCEPT_KIND(CN_BLOCK_UNILATERAL) |
               CNI_ACCEPT_EXPLICIT | CNI_ACCEPT_UNSYMMETRIC,
    .defaults = {.tolerance = 1e-10, .max_iterations = 10000},
    .create = create,
    .solve = solve,
    .destroy = destroy,
};
