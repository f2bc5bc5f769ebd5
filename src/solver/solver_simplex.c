// SPDX-License-Identifier: Apache-2.0
// simplex: the walk of the 2005 paper on the sparse saddle matrix. See simplex_walk.c and
// simplex_rows.c.
#include "solver/pivots/simplex.h"
#include "solver/solver.h"

#include "core/clock.h"

#include <string.h>

typedef struct Simplex {
  CnAllocator allocator;
  CniSimplex walk;
  CnTasks *tasks;
  double *g, *v;
  int32_t g_capacity, v_capacity;
  int32_t max_pivots, facets;
} Simplex;

static CnStatus create(const CnSolverDef *def, const CnAllocator *allocator, void **state) {
  Simplex *s;
  CNI_TRY(cni_new(allocator, sizeof *s, &s));
  s->allocator = s->walk.allocator = *allocator;
  s->tasks = def->tasks;
  s->max_pivots = def->max_iterations;
  s->facets = def->facets;
  *state = s;
  return CN_OK;
}

static void destroy(void *state) {
  Simplex *s = state;
  if (!s) return;
  CnAllocator allocator = s->allocator;
  cni_simplex_release(&s->walk);
  CNI_RELEASE(&allocator, s->g, s->g_capacity);
  CNI_RELEASE(&allocator, s->v, s->v_capacity);
  cni_release(&allocator, s, sizeof *s);
}

static int has_cones(const CnProblem *p) {
  for (int32_t i = 0; i < p->block_count; i++)
    if (p->blocks[i].kind == CN_BLOCK_FRICTION || p->blocks[i].kind == CN_BLOCK_FRICTION_2D)
      return 1;
  return 0;
}

// The walk's figures as the report has them; rows are the problem's.
static void fill_report(const CniSimplexRows *rows, const CniSimplexWalk *walk,
                        CnSolveReport *report) {
  report->iterations = walk->pivots;
  report->infeasible_count = walk->infeasible;
  for (int32_t i = 0; i < walk->infeasible && i < CN_REPORT_ROWS; i++)
    report->infeasible_rows[i] = rows->from[rows->from_start[walk->named[i]]];
  report->outcome = walk->infeasible  ? CN_OUTCOME_INFEASIBLE
                    : !walk->finished ? CN_OUTCOME_LIMIT
                                      : CN_OUTCOME_FINISHED;
}

// Velocities are the free ones and the walk's change of them, not those computed back from the
// impulses: a light part between heavy ones would have the round-off of their weights.
static void take_velocities(const CnProblem *p, const double *change, CnAnswer *answer) {
  if (p->form == CN_FORM_EXPLICIT) return;
  for (int32_t i = 0; p->form == CN_FORM_GLOBAL && i < answer->velocity_count; i++)
    answer->v[i] = p->global->v_free[i] + change[i];
  for (int32_t i = 0; i < p->group_count; i++) {
    if (!(p->groups[i].inv_mass > 0)) continue;
    CnTwist free = cni_group_free(&p->groups[i]);
    double *v = answer->v + 6 * (int64_t)i;
    v[0] = free.velocity.x + change[0];
    v[1] = free.velocity.y + change[1];
    v[2] = free.velocity.z + change[2];
    v[3] = free.spin.x + change[3];
    v[4] = free.spin.y + change[4];
    v[5] = free.spin.z + change[5];
    change += 6;
  }
  cni_problem_velocity(p, answer->v, answer->g, answer->u);
}

static CnStatus solve_rows(Simplex *s, const CnProblem *p, const CniSimplexRows *rows,
                           CnAnswer *answer, CnSolveReport *report) {
  CniSimplexWalk walk;
  CNI_TRY(CNI_RESERVE(&s->allocator, s->g, s->g_capacity, 0, rows->row_count + 1));
  CNI_TRY(CNI_RESERVE(&s->allocator, s->v, s->v_capacity, 0, rows->v_count + 1));
  cni_simplex_start(rows, p, s->facets, answer->g, s->g);
  CNI_TRY(cni_simplex_walk(&s->walk, rows, s->max_pivots, s->tasks, s->g, s->v, &walk));
  cni_simplex_impulses(rows, p->row_count, s->g, answer->g);
  fill_report(rows, &walk, report);
  CNI_TRY(cn_answer_complete(answer, p));
  if (walk.reached) take_velocities(p, s->v, answer);
  return CN_OK;
}

static CnStatus solve(void *state, const CnProblem *p, CnAnswer *answer, CniStepMemory *memory,
                      CnSolveReport *report) {
  Simplex *s = state;
  (void)memory;
  CniSimplexRows rows;
  double start = cni_seconds();
  CNI_TRY(cni_simplex_rows(p, s->facets, &s->allocator, &rows));
  report->seconds_setup = cni_seconds() - start;
  if (has_cones(p)) {
    report->friction = CN_FRICTION_CONVEX;
    report->facets = s->facets;
  }
  CnStatus status = solve_rows(s, p, &rows, answer, report);
  cni_simplex_rows_release(&rows);
  return status;
}

const CnSolverKind cni_solver_simplex = {
    .name = "simplex",
    .summary = "sparse simplex of active rows: exact in finitely many pivots, friction by pyramids",
    .accepts = CNI_ACCEPT_KIND(CN_BLOCK_BILATERAL) | CNI_ACCEPT_KIND(CN_BLOCK_UNILATERAL) |
               CNI_ACCEPT_KIND(CN_BLOCK_INTERVAL) | CNI_ACCEPT_KIND(CN_BLOCK_FRICTION_2D) |
               CNI_ACCEPT_KIND(CN_BLOCK_FRICTION) | CNI_ACCEPT_STEP | CNI_ACCEPT_EXPLICIT |
               CNI_ACCEPT_GLOBAL | CNI_ACCEPT_CONVEX | CNI_ACCEPT_RELAXED,
    .defaults = {.tolerance = 1e-10, .max_iterations = 1000000},
    .create = create,
    .solve = solve,
    .destroy = destroy,
};
