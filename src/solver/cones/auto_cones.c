// SPDX-License-Identifier: Apache-2.0
// auto on problems with cones: a ladder of methods, each from the best answer so far.
//
//   0. the impulses given
//   1. explicit problems, and global ones by way of their explicit form: mixed sweeps (mixed.c)
//      while they come nearer fast, which ends most of them before anything is factored
//   2. step problems of joints alone: one linear system; of joints and rows with bounds: the active rows
//      with the factor of the joints (joints/bounded.c), then simplex; those of many rows: sweeps that solve their
//      joints exactly, or without joints apgd, which alone are left where factors would be too
//      large; other warm problems: a few steps of Newton
//   3. ipm, one round
//      step problems without friction: simplex, which is exact in finitely many pivots; with joints before ipm too
//   4. explicit problems: more mixed sweeps, a few steps of Newton from every tenfold improvement
//   5. ipm, all of its rounds
//   6. sweeps once more, plain and mixed, while the tolerance is in reach, and Newton with a
//      proximal term from where they end
//   7. the path from change of state to change of state (cone_path.c), which ends settled piles
//   8. step problems: Newton with a proximal term from the impulses given, then from where plain
//      sweeps end
//
// It ends at the first answer within the tolerance. Efforts are counted in sweeps and
// factorisations, fewer where factors are large, never in time (but for the time budget). Sweeps
// end early where their progress says that the tolerance is out of reach.
#include "solver/cones/auto_search.h"

#include "core/clock.h"

#include <string.h>

#define WALK_PIVOTS 10000 // of simplex
#define REDUCED_ROWS 6000 // global problems of more rows are not brought to their explicit form
#define IPM_STEPS 260     // and of all
#define WARM_STEPS 6      // steps of Newton from impulses that are given
#define LEAST_STEPS 6     // within a budget: with fewer nothing is begun
#define SHARPER 0.5
#define SHARP 1e-6 // tolerances that are asked for more than they say

CnStatus cni_auto_cones_create(CniAutoCones *s, const CnSolverDef *def,
                               const CnAllocator *allocator) {
  CnSolverDef exact = *def, descent = *def, walk = *def;
  void *sweeps = NULL;
  descent.max_iterations = CNI_DESCENT_STEPS;
  exact.local = CN_LOCAL_EXACT;
  walk.max_iterations = WALK_PIVOTS;
  s->allocator = *allocator;
  s->tolerance = def->tolerance;
  s->time_budget = def->time_budget;
  cni_arena_init(&s->room, allocator);
  cni_bounded_init(&s->bounded, allocator);
  CNI_TRY(cni_psor_create(&exact, allocator, 0, &sweeps));
  s->exact = sweeps;
  CNI_TRY(cni_solver_apgd.create(&descent, allocator, &s->descent));
  CNI_TRY(cni_solver_simplex.create(&walk, allocator, &s->walk));
  return cni_cones_create(allocator, &s->cones);
}

void cni_auto_cones_release(CniAutoCones *s) {
  cni_psor_destroy(s->exact);
  cni_solver_apgd.destroy(s->descent);
  cni_solver_simplex.destroy(s->walk);
  cni_bounded_release(&s->bounded);
  cni_cones_destroy(s->cones);
  cni_arena_release(&s->room);
  CNI_RELEASE(&s->allocator, s->best, s->best_capacity);
}

// ---- the ladder ----

// Room for answers of a global problem, and its explicit form.
static CnStatus reduce(CniAutoSearch *k) {
  CNI_TRY(cni_auto_new_answer(k, &k->s->room, &k->trial));
  CNI_TRY(cn_problem_to_explicit(k->p, &k->made));
  k->swept = k->made;
  return CN_OK;
}

// Before anything is factored: the impulses given, and sweeps.
static CnStatus begin_swept(CniAutoSearch *k) {
  double error;
  size_t bytes = (size_t)k->p->row_count * sizeof(double);
  CNI_TRY(cni_mixed_init(&k->mixed, &k->s->room, k->s->exact, k->swept, k->given, k->memory));
  // not as the sweeps have projected them
  memcpy(k->mixed.best, k->given->g, bytes);
  k->mixed.error = cni_problem_error(k->swept, k->given->g, k->mixed.u);
  CNI_TRY(cni_auto_swept_error(k, &error));
  cni_auto_keep(k, k->given->g, error, 0, "given");
  return k->done ? CN_OK : cni_auto_first_sweeps(k);
}

static CnStatus load(CniAutoSearch *k) {
  CniCones *c = k->s->cones;
  CNI_TRY(cni_cones_load(c, k->p));
  c->deadline = k->deadline;
  return CNI_LAY(&c->arena, CNI_ARRAY(c->n, k->scaled), CNI_ARRAY(c->n, k->other));
}

// The impulses given, of step and global problems.
static CnStatus begin_other(CniAutoSearch *k) {
  CniCones *c = k->s->cones;
  int32_t warm = 0;
  for (int32_t i = 0; i < c->n && !warm; i++) warm = k->given->g[i] != 0;
  cni_cones_import(c, k->given->g, k->scaled);
  cni_cones_velocity(c, k->scaled, k->other);
  cni_auto_keep(k, k->given->g, cni_cones_error(c, k->scaled, k->other), 0, "given");
  return warm && !k->done ? cni_auto_try_newton(k, k->best, WARM_STEPS) : CN_OK;
}

static CnStatus climb(CniAutoSearch *k) {
  k->aim = k->s->tolerance;
  if (k->p->form == CN_FORM_EXPLICIT) k->swept = k->p;
  if (k->p->form == CN_FORM_GLOBAL && k->p->row_count <= REDUCED_ROWS) CNI_TRY(reduce(k));
  if (k->swept) {
    CNI_TRY(begin_swept(k));
    if (k->done) return CN_OK;
  }
  if (k->p->form == CN_FORM_STEP) {
    CNI_TRY(cni_auto_begin_step(k));
    if (k->done || k->p->row_count > CNI_FACTOR_ROWS) return CN_OK;
  }
  CNI_TRY(load(k));
  if (cni_auto_affordable(k, LEAST_STEPS) < LEAST_STEPS) return CN_OK;
  if (!k->swept) CNI_TRY(begin_other(k));
  if (!k->done && k->p->form == CN_FORM_STEP) CNI_TRY(cni_auto_walk_first(k));
  if (!k->done) CNI_TRY(cni_auto_try_ipm(k, k->swept ? CNI_ROUND_STEPS : IPM_STEPS));
  if (!k->done && k->p->form == CN_FORM_STEP) CNI_TRY(cni_auto_try_walk(k));
  if (!k->done && k->swept) {
    CNI_TRY(cni_auto_later_sweeps(k));
    if (!k->done && cni_auto_funded(k)) CNI_TRY(cni_auto_try_ipm(k, IPM_STEPS));
  }
  if (!k->done && k->swept && cni_auto_funded(k)) CNI_TRY(cni_auto_last_sweeps(k));
  if (!k->done && cni_auto_funded(k)) CNI_TRY(cni_auto_try_path(k));
  if (!k->done && !k->swept && cni_auto_funded(k))
    CNI_TRY(cni_auto_try_newton(k, k->given->g, CNI_CONE_STEPS));
  if (!k->done && k->p->form == CN_FORM_STEP) CNI_TRY(cni_auto_plain_sweeps(k));
  return CN_OK;
}

// Joints that contradict each other have no better answer than the one that sweeps have.
static CnStatus look_at_joints(CniAutoSearch *k) {
  int32_t joints = cni_joints_count(k->p), fits = 0;
  CniJoints *all = &k->s->exact->joints;
  if (joints > 0) CNI_TRY(cni_joints_load(all, k->p, NULL, &fits));
  k->done = fits && cni_joints_contradict(all, k->p);
  return CN_OK;
}

static CnStatus climb_within(CniAutoSearch *k) {
  CNI_TRY(look_at_joints(k));
  if (k->done) return CN_OK;
  CNI_TRY(load(k));
  if (cni_auto_affordable(k, LEAST_STEPS) < LEAST_STEPS) return CN_OK;
  CNI_TRY(begin_other(k));
  if (!k->done && cni_auto_affordable(k, 1)) CNI_TRY(cni_auto_try_ipm(k, CNI_ROUND_STEPS));
  if (!k->done && *k->budget > 0 && k->p->form == CN_FORM_STEP) CNI_TRY(cni_auto_try_walk(k));
  if (!k->done && cni_auto_affordable(k, 1))
    CNI_TRY(cni_auto_try_newton(k, k->best, CNI_CONE_STEPS));
  return CN_OK;
}

// The impulses given, and a few steps of Newton's method from there.
static CnStatus climb_near(CniAutoSearch *k) {
  CNI_TRY(load(k));
  return cni_auto_affordable(k, LEAST_STEPS) < LEAST_STEPS ? CN_OK : begin_other(k);
}

// The best impulses to the answer; memory into one piece, so that the next solve of this size asks for none.
static CnStatus leave(CniAutoSearch *k, CnAnswer *answer) {
  if (k->scaled) CNI_TRY(cni_cones_finish(k->s->cones, k->scaled));
  CNI_TRY(cni_arena_reset(&k->s->room));
  memcpy(answer->g, k->best, (size_t)k->p->row_count * sizeof *k->best);
  return CN_OK;
}

// Room for the best, which is what was given.
static CnStatus enter(CniAutoSearch *k) {
  CniAutoCones *s = k->s;
  CNI_TRY(CNI_RESERVE(&s->allocator, s->best, s->best_capacity, 0,
                      2 * k->p->row_count + k->given->velocity_count));
  CNI_TRY(cni_arena_reset(&s->room));
  k->best = s->best;
  k->walked = s->best + k->p->row_count;
  memcpy(k->best, k->given->g, (size_t)k->p->row_count * sizeof *k->best);
  return CN_OK;
}

static CniAutoSearch search_for(CniAutoCones *s, const CnProblem *p, CnAnswer *answer,
                                CniStepMemory *memory, CnSolveReport *report) {
  return (CniAutoSearch){.s = s,
                         .p = p,
                         .memory = memory,
                         .report = report,
                         .given = answer,
                         .error = INFINITY,
                         .deadline = s->time_budget > 0 ? cni_seconds() + s->time_budget : 0};
}

CnStatus cni_auto_cones_within(CniAutoCones *s, const CnProblem *p, CnAnswer *answer,
                               CniStepMemory *memory, double tolerance, double *budget, int near,
                               CnSolveReport *report, double *error) {
  CniAutoSearch k = search_for(s, p, answer, memory, report);
  double own = s->tolerance;
  k.budget = budget;
  s->tolerance = tolerance;
  CnStatus status = enter(&k);
  if (status == CN_OK) status = near ? climb_near(&k) : climb_within(&k);
  s->tolerance = own;
  if (status == CN_OK) status = leave(&k, answer);
  *error = k.error;
  return status;
}

// The answer's velocities from the best impulses, or as a walk has them.
static void move(CniAutoSearch *k, CnAnswer *answer) {
  if (k->has_walked && k->report->method == cni_solver_simplex.name)
    memcpy(answer->v, k->walked, (size_t)answer->velocity_count * sizeof *k->walked);
  else
    cni_problem_apply(k->p, answer->g, answer->v);
}

CnStatus cni_auto_cones_walk(CniAutoCones *s, const CnProblem *p, CnAnswer *answer,
                             CniStepMemory *memory, double tolerance, CnSolveReport *report,
                             double *error) {
  CniAutoSearch k = search_for(s, p, answer, memory, report);
  double own = s->tolerance;
  s->tolerance = tolerance;
  CnStatus status = enter(&k);
  if (status == CN_OK)
    status =
        cni_auto_try_solver(&k, &cni_solver_simplex, s->walk, answer->g, cni_solver_simplex.name);
  s->tolerance = own;
  if (status == CN_OK) status = leave(&k, answer);
  if (status == CN_OK) move(&k, answer);
  *error = k.error;
  return status;
}

// From the impulses in the answer, to the best that is found.
static CnStatus climb_from(CniAutoSearch *k, CnAnswer *answer) {
  double own = k->s->tolerance;
  CNI_TRY(enter(k));
  // the certificate of a step measures each row, and is met by a hair only where more is asked for
  if (k->p->form == CN_FORM_STEP && own <= SHARP) k->s->tolerance *= SHARPER;
  CnStatus status = climb(k);
  k->s->tolerance = own;
  cn_problem_destroy(k->made);
  k->made = NULL;
  CNI_TRY(status);
  return leave(k, answer);
}

// Impulses that fight each other, as those of rows that contradicted each other in the step before, may be
// so large that their round-off is more than what may be left: once more from none.
static CnStatus climb_again(CniAutoSearch *k, CnAnswer *answer) {
  CniAutoCones *s = k->s;
  size_t bytes = (size_t)k->p->row_count * sizeof *answer->g;
  const char *method = k->report->method;
  double *first = k->walked + k->given->velocity_count;
  CniAutoSearch again = search_for(s, k->p, answer, k->memory, k->report);
  again.deadline = k->deadline;
  memcpy(first, answer->g, bytes);
  memset(answer->g, 0, bytes);
  CNI_TRY(climb_from(&again, answer));
  if (again.error < k->error) {
    *k = again;
    return CN_OK;
  }
  memcpy(answer->g, first, bytes);
  k->report->method = method;
  k->has_walked = 0; // those velocities are gone
  return CN_OK;
}

CnStatus cni_auto_cones_solve(CniAutoCones *s, const CnProblem *p, CnAnswer *answer,
                              CniStepMemory *memory, CnSolveReport *report) {
  CniAutoSearch k = search_for(s, p, answer, memory, report);
  if (p->form == CN_FORM_EXPLICIT) k.budget = memory->work;
  int warm = 0;
  for (int32_t i = 0; i < p->row_count && !warm; i++) warm = answer->g[i] != 0;
  report->attempts = 0;
  if (p->row_count > 0) {
    CNI_TRY(climb_from(&k, answer));
    if (warm && !(k.error <= s->tolerance) && !report->cut_by_time && p->form == CN_FORM_STEP)
      CNI_TRY(climb_again(&k, answer));
    if (!(k.error <= s->tolerance)) report->outcome = CN_OUTCOME_STALLED;
  }
  move(&k, answer);
  if (answer->u) cni_problem_velocity(p, answer->v, answer->g, answer->u); // a step's may be left
  return CN_OK;
}
