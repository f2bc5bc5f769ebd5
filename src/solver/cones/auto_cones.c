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
#include "solver/cones/auto_cones.h"

#include "core/clock.h"
#include "solver/gradients/descent.h"
#include "solver/islands/islands.h"
#include "solver/sweeps/mixed.h"

#include <string.h>

#define BURST 16          // sweeps between checks of their progress
#define FIRST_BURSTS 20   // at the beginning, while each brings the error down to
#define FIRST_GAIN 0.3    // of what it was
#define LATER_BURST 64    // and later on
#define LATER_BURSTS 16   //
#define LATER_TRY 0.1     // part of the error at which Newton was tried last
#define LAST_BURSTS 40    // at the end: that many times at most
#define LAST_PLAIN 400    // sweeps without mixing and
#define LAST_MIXED 100    // with it
#define LAST_PATIENCE 5   // of these together: the gain by which it is seen what is in reach
#define LAST_GAIN 0.95    // above this there is no progress
#define DESCENT_ROWS 1500 // step problems of more rows begin with apgd
#define DESCENT_STEPS 4000
#define DESCENT_EXACT 8000  // with the exact law, for which factors do less, and
#define DESCENT_EAGER 20000 // so many with shifts that follow at once
#define WALK_PIVOTS 10000   // of simplex
#define WALK_ROWS 150       // machines of more rows walk first
#define REDUCED_ROWS 6000   // global problems of more rows are not brought to their explicit form
#define NEAR 1e-2           // error from which Newton is tried
#define ROUND_STEPS 60      // iterations of one round of the interior point
#define IPM_STEPS 260       // and of all
#define WARM_STEPS 6        // steps of Newton from impulses that are given
#define TRY_STEPS 12        // between sweeps
#define LEAST_STEPS 6       // within a budget: with fewer nothing is begun
#define CONE_STEPS 300      // and where all else has failed
#define PATH_WORK 1e9       // numbers of factors computed along paths
#define PATH_MOST 9000      // factors
#define PATH_EACH 40        // and for each block: a path of more changes goes round and round
#define PATH_MANY 1000      // where there is work for fewer of them, a path begins from
#define PATH_NEAR 1e-6      // this error only
#define SHARPER 0.5
#define SHARP 1e-6 // tolerances that are asked for more than they say

CnStatus cni_auto_cones_create(CniAutoCones *s, const CnSolverDef *def,
                               const CnAllocator *allocator) {
  CnSolverDef exact = *def, descent = *def, walk = *def;
  void *sweeps = NULL;
  descent.max_iterations = DESCENT_STEPS;
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

// ---- the best so far ----

typedef struct Search {
  CniAutoCones *s;
  const CnProblem *p;
  CniStepMemory *memory;
  CnSolveReport *report;
  const CnAnswer *given;
  double *best;   // impulses of the problem
  double *walked; // velocities of the walk of simplex, truer than those of its impulses
  int has_walked;
  double *scaled, *other; // work, in the units of the cones
  const CnProblem *swept; // explicit form of the problem, null: none; borrowed or
  CnProblem *made;        // made for this solve
  CniMixed mixed;         // sweeps over that
  CnAnswer trial;         // of a global problem
  double aim;             // error that the sweeps are to reach
  double error, deadline;
  double *budget; // multiplications that are left, null: there is no bound
  int32_t done;
} Search;

// Is there work left to be done?
static int funded(const Search *k) { return !k->budget || *k->budget > 0; }

// Multiplications of a step of Newton's method or of the interior point, and of a sweep.
static double step_work(const Search *k) { return cni_cones_flops(k->s->cones); }
static double sweep_work(const Search *k) {
  return k->swept ? 2. * k->swept->w.start[k->swept->w.row_count] : step_work(k);
}

// Count an attempt; 1 if it is the best so far. Nothing more is tried once an answer is within the
// tolerance or the time is over.
static int judge(Search *k, double error, int32_t steps, double (*work)(const Search *k),
                 const char *method) {
  CnSolveReport *report = k->report;
  report->iterations += steps;
  report->attempts++;
  if (k->budget && steps > 0) *k->budget -= steps * work(k);
  int better = error < k->error;
  if (better) {
    k->error = error;
    report->method = method;
  }
  k->done = k->error <= k->s->tolerance;
  if (!k->done && k->deadline > 0 && cni_seconds() > k->deadline) k->done = report->cut_by_time = 1;
  return better;
}

static void keep(Search *k, const double *g, double error, int32_t steps, const char *method) {
  if (judge(k, error, steps, sweep_work, method))
    memcpy(k->best, g, (size_t)k->p->row_count * sizeof *g);
}

static void keep_scaled(Search *k, const double *g, double error, int32_t steps,
                        const char *method) {
  if (judge(k, error, steps, step_work, method)) cni_cones_export(k->s->cones, g, k->best);
}

// So many steps, or those that the budget has left.
static int32_t affordable(const Search *k, int32_t most) {
  if (!k->budget) return most;
  double left = *k->budget / step_work(k);
  return left >= most ? most : left >= 1 ? (int32_t)left : 0;
}

// ---- attempts ----

static CnStatus try_ipm(Search *k, int32_t most) {
  CniCones *c = k->s->cones;
  // the convex model takes few; with the exact law more than a round helps small problems only
  if (!c->convex && most > ROUND_STEPS) {
    int32_t fewer = cni_cones_steps(c, most);
    most = fewer > ROUND_STEPS ? fewer : ROUND_STEPS;
  }
  CniIpmRule rule = {k->s->tolerance, affordable(k, most), 1};
  CniIpmEnd end;
  cni_cones_import(c, k->best, k->scaled);
  CNI_TRY(cni_cone_ipm(c, &rule, k->scaled, &end));
  keep_scaled(k, k->scaled, end.error, end.iterations + end.newton_steps, "ipm");
  return CN_OK;
}

// A few steps, or as many as it may take.
static CnStatus try_newton(Search *k, const double *from, int32_t most) {
  CniCones *c = k->s->cones;
  CniConeNewton newton;
  CNI_TRY(cni_cone_newton_init(&newton, c));
  cni_cones_import(c, from, k->scaled);
  cni_cone_newton_start(&newton, k->scaled);
  int32_t stubborn = most == CONE_STEPS, limit = affordable(k, cni_cones_steps(c, most));
  int32_t steps = cni_cone_newton_run(&newton, limit, stubborn, k->s->tolerance);
  keep_scaled(k, newton.best, newton.error, steps, "newton");
  return CN_OK;
}

// From change of state to change of state.
static CnStatus try_path(Search *k) {
  CniCones *c = k->s->cones;
  int32_t most = affordable(k, cni_cones_afford(c, PATH_WORK, PATH_MOST)), made = 0;
  double error;
  if (!cni_cone_path_takes(c) || (most < PATH_MANY && k->error > PATH_NEAR)) return CN_OK;
  if (most / PATH_EACH > k->p->block_count) most = PATH_EACH * k->p->block_count;
  cni_cones_import(c, k->best, k->scaled);
  CNI_TRY(cni_cone_path(c, k->s->tolerance, most, k->scaled, &error, &made));
  keep_scaled(k, k->scaled, error, made, "path");
  return CN_OK;
}

// The deciding error of what the sweeps found. The measure of a global problem is another one than
// that of its explicit form.
static CnStatus swept_error(Search *k, double *error) {
  CniMixed *m = &k->mixed;
  CnCertificate certificate;
  *error = m->error;
  if (k->swept == k->p) return CN_OK;
  memcpy(k->trial.g, m->best, (size_t)m->n * sizeof *m->best);
  CNI_TRY(cn_answer_complete(&k->trial, k->p));
  CNI_TRY(cni_certify(k->p, &k->trial, k->memory, &certificate));
  *error = cn_max(certificate.error_siconos, certificate.error_scaled);
  return CN_OK;
}

static CnStatus keep_swept(Search *k, int32_t made) {
  double error;
  CNI_TRY(swept_error(k, &error));
  keep(k, k->mixed.best, error, made, cni_solver_psor.name);
  // asked again for as much more as it was missed by
  if (!k->done && k->mixed.error <= k->aim) k->aim *= cn_min(.1, .1 * k->s->tolerance / error);
  return CN_OK;
}

static CnStatus first_sweeps(Search *k) {
  CniMixed *m = &k->mixed;
  double before = INFINITY;
  int32_t made = 0;
  for (int32_t i = 0; i < FIRST_BURSTS && !k->done; i++) {
    if (i > 1 && !(m->error <= FIRST_GAIN * before)) break;
    before = m->error;
    made += cni_mixed_run(m, BURST, k->aim);
    if (!(m->error <= k->aim)) continue;
    CNI_TRY(keep_swept(k, made));
    made = 0;
  }
  return k->done ? CN_OK : keep_swept(k, made);
}

// Sweeps and Newton from what they reach.
static CnStatus later_sweeps(Search *k) {
  CniMixed *m = &k->mixed;
  double tried = cn_min(NEAR, m->error);
  if (k->error < m->error) cni_mixed_restart(m, k->best);
  for (int32_t i = 0; i < LATER_BURSTS && !k->done && funded(k); i++) {
    CNI_TRY(keep_swept(k, cni_mixed_run(m, LATER_BURST, k->aim)));
    if (k->done || !(m->error <= LATER_TRY * tried)) continue;
    tried = m->error;
    CNI_TRY(try_newton(k, m->best, TRY_STEPS));
  }
  return CN_OK;
}

// Do so many times the gain (below 1) outweigh the factor that is missing?
static int within_reach(double missing, double gain, int32_t times) {
  for (int32_t i = 0; i < times && missing > 1; i++) missing *= gain;
  return gain < LAST_GAIN && missing <= 1;
}

// Sweeps that are mixed jump about where contacts change their states; plain ones settle them, and
// mixed ones may end it from there.
static CnStatus last_sweeps(Search *k) {
  CniMixed *m = &k->mixed;
  double before = 1, change = 1, *settled;
  int32_t made = 0;
  CNI_TRY(cni_arena_array(&k->s->room, m->n, sizeof(double), &settled));
  if (k->error < m->error) cni_mixed_restart(m, k->best);
  int32_t most = k->budget ? (int32_t)cn_clamp(*k->budget / sweep_work(k), 0, 1e6) : INT32_MAX;
  for (int32_t i = 0; i < LAST_BURSTS && !(m->error <= k->aim) && made < most; i++) {
    if (i % LAST_PATIENCE == 0) {
      if (i > 0 && !within_reach(m->error / k->aim, change / before, LAST_BURSTS / LAST_PATIENCE))
        break;
      before = change;
    }
    m->plain = 1;
    made += cni_mixed_run(m, LAST_PLAIN, k->aim);
    m->plain = 0;
    change = m->sweeps->change;
    memcpy(settled, m->sweeps->g, (size_t)m->n * sizeof *settled);
    made += cni_mixed_run(m, LAST_MIXED, k->aim);
    cni_mixed_restart(m, settled);
  }
  CNI_TRY(keep_swept(k, made));
  return k->done ? CN_OK : try_newton(k, m->best, CONE_STEPS);
}

// Room for an answer like the one given.
static CnStatus new_answer(const Search *k, CniArena *arena, CnAnswer *answer) {
  *answer = *k->given;
  CNI_TRY(CNI_ARRAYS(arena, answer->row_count, double, &answer->g, &answer->u));
  return cni_arena_array(arena, answer->velocity_count, sizeof(double), &answer->v);
}

// Step problems: sweeps from zero with the exact solution of every block.
static CnStatus plain_sweeps(Search *k) {
  CniCones *c = k->s->cones;
  CnSolveReport own = *k->report;
  CnAnswer answer;
  CNI_TRY(new_answer(k, &c->arena, &answer));
  CNI_TRY(cni_psor_solve(k->s->exact, k->p, &answer, k->memory, &own));
  cni_cones_import(c, answer.g, k->scaled);
  cni_cones_velocity(c, k->scaled, k->other);
  double error = cni_cones_error(c, k->scaled, k->other);
  keep(k, answer.g, error, own.iterations, cni_solver_psor.name);
  if (own.cut_by_time) k->done = k->report->cut_by_time = 1;
  return k->done ? CN_OK : try_newton(k, answer.g, CONE_STEPS);
}

// A solver of step problems, from the impulses given or the best.
static CnStatus try_solver(Search *k, const CnSolverKind *kind, void *state, const double *from,
                           const char *method) {
  CnSolveReport own = *k->report;
  CnCertificate certificate;
  CnAnswer answer;
  CNI_TRY(new_answer(k, &k->s->room, &answer));
  memcpy(answer.g, from, (size_t)answer.row_count * sizeof *answer.g);
  CNI_TRY(kind->solve(state, k->p, &answer, k->memory, &own));
  CNI_TRY(cni_certify(k->p, &answer, k->memory, &certificate));
  keep(k, answer.g, cn_solve_error(k->p, &certificate), own.iterations, method);
  if (kind == &cni_solver_simplex) {
    memcpy(k->walked, answer.v, (size_t)answer.velocity_count * sizeof *k->walked);
    k->has_walked = 1;
  }
  if (own.cut_by_time && !(k->error <= k->s->tolerance)) k->done = k->report->cut_by_time = 1;
  return CN_OK;
}

// Joints and rows with bounds.
static CnStatus try_bounded(Search *k) {
  CniAutoCones *s = k->s;
  CnCertificate certificate;
  CnAnswer answer;
  CniBoundedAim aim = {.enough = s->tolerance * cni_free_speed(k->p),
                       .rounds = CNI_BOUNDED_ROUNDS,
                       .budget = INFINITY};
  CNI_TRY(new_answer(k, &s->room, &answer));
  memcpy(answer.g, k->given->g, (size_t)answer.row_count * sizeof *answer.g);
  CNI_TRY(cni_bounded_solve(&s->bounded, k->p, s->exact->def.tasks, &answer, &aim));
  if (!(aim.worst < INFINITY)) return CN_OK;
  CNI_TRY(cni_certify(k->p, &answer, k->memory, &certificate));
  keep(k, answer.g, cn_solve_error(k->p, &certificate), aim.rounds, "active rows");
  // rows that push each other to and fro are a matter of single pivots
  return k->done
             ? CN_OK
             : try_solver(k, &cni_solver_simplex, k->s->walk, k->given->g, cni_solver_simplex.name);
}

// Before factors of all rows: joints alone are one linear system, and sweeps that solve it go
// before others where there are many rows. Without joints momentum carries the weights through a
// pile in less time than one factor takes.
static CnStatus begin_step(Search *k) {
  int32_t joints = cni_joints_count(k->p), fits = 0;
  CniJoints *all = &k->s->exact->joints;
  // a linear system has its answer; where joints contradict each other no method has a better one
  if (joints > 0 && joints == k->p->block_count) {
    CNI_TRY(try_solver(k, &cni_solver_psor, k->s->exact, k->given->g, "direct"));
    if (cni_direct_fits(all->direct)) k->done = 1;
    return CN_OK;
  }
  if (joints > 0 && cni_bounded_takes(k->p)) CNI_TRY(try_bounded(k));
  if (k->done) return CN_OK;
  if (joints > 0) CNI_TRY(cni_joints_load(all, k->p, NULL, &fits));
  if (fits && cni_joints_contradict(all, k->p)) {
    CNI_TRY(try_solver(k, &cni_solver_psor, k->s->exact, k->given->g, "direct"));
    k->done = 1;
    return CN_OK;
  }
  if (k->p->row_count <= DESCENT_ROWS) return CN_OK;
  if (joints > 0)
    return try_solver(k, &cni_solver_psor, k->s->exact, k->given->g, cni_solver_psor.name);
  CniDescent *descent = k->s->descent;
  descent->def.max_iterations =
      k->p->friction == CN_FRICTION_CONVEX ? DESCENT_STEPS : DESCENT_EXACT;
  CNI_TRY(try_solver(k, &cni_solver_apgd, descent, k->given->g, cni_solver_apgd.name));
  if (k->done || k->p->friction == CN_FRICTION_CONVEX || k->p->row_count > CNI_FACTOR_ROWS)
    return CN_OK;
  descent->def.max_iterations = DESCENT_EAGER;
  descent->eager = 1;
  CnStatus status = try_solver(k, &cni_solver_apgd, descent, k->best, cni_solver_apgd.name);
  descent->eager = 0;
  return status;
}

// Rows without friction: the walk finds which of them act where conditioning keeps the interior point
// and Newton's method from the tolerance.
static CnStatus try_walk(Search *k) {
  if (k->p->row_count > DESCENT_ROWS || !cni_bounded_takes(k->p)) return CN_OK;
  return try_solver(k, &cni_solver_simplex, k->s->walk, k->given->g, cni_solver_simplex.name);
}

// Machines whose factors cost more than its pivots: the walk to its end, or not at all: what it leaves is no place to
// begin from. In small ones, whose time is no matter, the impulses that it gives to one of several dependent joints would
// make the next step's harder.
static CnStatus walk_first(Search *k) {
  double *before, error = k->error;
  const char *method = k->report->method;
  size_t bytes = (size_t)k->p->row_count * sizeof *before;
  if (cni_joints_count(k->p) == 0 || k->p->row_count <= WALK_ROWS) return CN_OK;
  CNI_TRY(CNI_TAKE(&k->s->room, k->p->row_count, before));
  memcpy(before, k->best, bytes);
  CNI_TRY(try_walk(k));
  if (k->done) return CN_OK;
  memcpy(k->best, before, bytes);
  k->error = error;
  k->report->method = method;
  return CN_OK;
}

// ---- the ladder ----

// Room for answers of a global problem, and its explicit form.
static CnStatus reduce(Search *k) {
  CNI_TRY(new_answer(k, &k->s->room, &k->trial));
  CNI_TRY(cn_problem_to_explicit(k->p, &k->made));
  k->swept = k->made;
  return CN_OK;
}

// Before anything is factored: the impulses given, and sweeps.
static CnStatus begin_swept(Search *k) {
  double error;
  size_t bytes = (size_t)k->p->row_count * sizeof(double);
  CNI_TRY(cni_mixed_init(&k->mixed, &k->s->room, k->s->exact, k->swept, k->given, k->memory));
  // not as the sweeps have projected them
  memcpy(k->mixed.best, k->given->g, bytes);
  k->mixed.error = cni_problem_error(k->swept, k->given->g, k->mixed.u);
  CNI_TRY(swept_error(k, &error));
  keep(k, k->given->g, error, 0, "given");
  return k->done ? CN_OK : first_sweeps(k);
}

static CnStatus load(Search *k) {
  CniCones *c = k->s->cones;
  CNI_TRY(cni_cones_load(c, k->p));
  c->deadline = k->deadline;
  return CNI_LAY(&c->arena, CNI_ARRAY(c->n, k->scaled), CNI_ARRAY(c->n, k->other));
}

// The impulses given, of step and global problems.
static CnStatus begin_other(Search *k) {
  CniCones *c = k->s->cones;
  int32_t warm = 0;
  for (int32_t i = 0; i < c->n && !warm; i++) warm = k->given->g[i] != 0;
  cni_cones_import(c, k->given->g, k->scaled);
  cni_cones_velocity(c, k->scaled, k->other);
  keep(k, k->given->g, cni_cones_error(c, k->scaled, k->other), 0, "given");
  return warm && !k->done ? try_newton(k, k->best, WARM_STEPS) : CN_OK;
}

static CnStatus climb(Search *k) {
  k->aim = k->s->tolerance;
  if (k->p->form == CN_FORM_EXPLICIT) k->swept = k->p;
  if (k->p->form == CN_FORM_GLOBAL && k->p->row_count <= REDUCED_ROWS) CNI_TRY(reduce(k));
  if (k->swept) {
    CNI_TRY(begin_swept(k));
    if (k->done) return CN_OK;
  }
  if (k->p->form == CN_FORM_STEP) {
    CNI_TRY(begin_step(k));
    if (k->done || k->p->row_count > CNI_FACTOR_ROWS) return CN_OK;
  }
  CNI_TRY(load(k));
  if (affordable(k, LEAST_STEPS) < LEAST_STEPS) return CN_OK;
  if (!k->swept) CNI_TRY(begin_other(k));
  if (!k->done && k->p->form == CN_FORM_STEP) CNI_TRY(walk_first(k));
  if (!k->done) CNI_TRY(try_ipm(k, k->swept ? ROUND_STEPS : IPM_STEPS));
  if (!k->done && k->p->form == CN_FORM_STEP) CNI_TRY(try_walk(k));
  if (!k->done && k->swept) {
    CNI_TRY(later_sweeps(k));
    if (!k->done && funded(k)) CNI_TRY(try_ipm(k, IPM_STEPS));
  }
  if (!k->done && k->swept && funded(k)) CNI_TRY(last_sweeps(k));
  if (!k->done && funded(k)) CNI_TRY(try_path(k));
  if (!k->done && !k->swept && funded(k)) CNI_TRY(try_newton(k, k->given->g, CONE_STEPS));
  if (!k->done && k->p->form == CN_FORM_STEP) CNI_TRY(plain_sweeps(k));
  return CN_OK;
}

// Joints that contradict each other have no better answer than the one that sweeps have.
static CnStatus look_at_joints(Search *k) {
  int32_t joints = cni_joints_count(k->p), fits = 0;
  CniJoints *all = &k->s->exact->joints;
  if (joints > 0) CNI_TRY(cni_joints_load(all, k->p, NULL, &fits));
  k->done = fits && cni_joints_contradict(all, k->p);
  return CN_OK;
}

static CnStatus climb_within(Search *k) {
  CNI_TRY(look_at_joints(k));
  if (k->done) return CN_OK;
  CNI_TRY(load(k));
  if (affordable(k, LEAST_STEPS) < LEAST_STEPS) return CN_OK;
  CNI_TRY(begin_other(k));
  if (!k->done && affordable(k, 1)) CNI_TRY(try_ipm(k, ROUND_STEPS));
  if (!k->done && *k->budget > 0 && k->p->form == CN_FORM_STEP) CNI_TRY(try_walk(k));
  if (!k->done && affordable(k, 1)) CNI_TRY(try_newton(k, k->best, CONE_STEPS));
  return CN_OK;
}

// The impulses given, and a few steps of Newton's method from there.
static CnStatus climb_near(Search *k) {
  CNI_TRY(load(k));
  return affordable(k, LEAST_STEPS) < LEAST_STEPS ? CN_OK : begin_other(k);
}

// The best impulses to the answer; memory into one piece, so that the next solve of this size asks for none.
static CnStatus leave(Search *k, CnAnswer *answer) {
  if (k->scaled) CNI_TRY(cni_cones_finish(k->s->cones, k->scaled));
  CNI_TRY(cni_arena_reset(&k->s->room));
  memcpy(answer->g, k->best, (size_t)k->p->row_count * sizeof *k->best);
  return CN_OK;
}

// Room for the best, which is what was given.
static CnStatus enter(Search *k) {
  CniAutoCones *s = k->s;
  CNI_TRY(CNI_RESERVE(&s->allocator, s->best, s->best_capacity, 0,
                      2 * k->p->row_count + k->given->velocity_count));
  CNI_TRY(cni_arena_reset(&s->room));
  k->best = s->best;
  k->walked = s->best + k->p->row_count;
  memcpy(k->best, k->given->g, (size_t)k->p->row_count * sizeof *k->best);
  return CN_OK;
}

static Search search_for(CniAutoCones *s, const CnProblem *p, CnAnswer *answer,
                         CniStepMemory *memory, CnSolveReport *report) {
  return (Search){.s = s,
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
  Search k = search_for(s, p, answer, memory, report);
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
static void move(Search *k, CnAnswer *answer) {
  if (k->has_walked && k->report->method == cni_solver_simplex.name)
    memcpy(answer->v, k->walked, (size_t)answer->velocity_count * sizeof *k->walked);
  else
    cni_problem_apply(k->p, answer->g, answer->v);
}

CnStatus cni_auto_cones_walk(CniAutoCones *s, const CnProblem *p, CnAnswer *answer,
                             CniStepMemory *memory, double tolerance, CnSolveReport *report,
                             double *error) {
  Search k = search_for(s, p, answer, memory, report);
  double own = s->tolerance;
  s->tolerance = tolerance;
  CnStatus status = enter(&k);
  if (status == CN_OK)
    status = try_solver(&k, &cni_solver_simplex, s->walk, answer->g, cni_solver_simplex.name);
  s->tolerance = own;
  if (status == CN_OK) status = leave(&k, answer);
  if (status == CN_OK) move(&k, answer);
  *error = k.error;
  return status;
}

// From the impulses in the answer, to the best that is found.
static CnStatus climb_from(Search *k, CnAnswer *answer) {
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
static CnStatus climb_again(Search *k, CnAnswer *answer) {
  CniAutoCones *s = k->s;
  size_t bytes = (size_t)k->p->row_count * sizeof *answer->g;
  const char *method = k->report->method;
  double *first = k->walked + k->given->velocity_count;
  Search again = search_for(s, k->p, answer, k->memory, k->report);
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
  Search k = search_for(s, p, answer, memory, report);
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
