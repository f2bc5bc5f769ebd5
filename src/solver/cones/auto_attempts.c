// SPDX-License-Identifier: Apache-2.0
// What auto tries on problems with cones, each from the best answer so far, and what it keeps of that. Each attempt counts
// what it costs; in which order they are made is the ladder's (auto_cones.c).
#include "solver/cones/auto_search.h"

#include "core/clock.h"
#include "solver/gradients/descent.h"
#include "solver/islands/islands.h"

#include <string.h>

#define BURST 16            // sweeps between checks of their progress
#define FIRST_BURSTS 20     // at the beginning, while each brings the error down to
#define FIRST_GAIN 0.3      // of what it was
#define LATER_BURST 64      // and later on
#define LATER_BURSTS 16     //
#define LATER_TRY 0.1       // part of the error at which Newton was tried last
#define LAST_BURSTS 40      // at the end: that many times at most
#define LAST_PLAIN 400      // sweeps without mixing and
#define LAST_MIXED 100      // with it
#define LAST_PATIENCE 5     // of these together: the gain by which it is seen what is in reach
#define LAST_GAIN 0.95      // above this there is no progress
#define DESCENT_ROWS 1500   // step problems of more rows begin with apgd
#define DESCENT_EXACT 8000  // with the exact law, for which factors do less, and
#define DESCENT_EAGER 20000 // so many with shifts that follow at once
#define WALK_ROWS 150       // machines of more rows walk first
#define NEAR 1e-2           // error from which Newton is tried
#define TRY_STEPS 12        // between sweeps
#define PATH_WORK 1e9       // numbers of factors computed along paths
#define PATH_MOST 9000      // factors
#define PATH_EACH 40        // and for each block: a path of more changes goes round and round
#define PATH_MANY 1000      // where there is work for fewer of them, a path begins from
#define PATH_NEAR 1e-6      // this error only

// ---- the best so far ----

// Is there work left to be done?
int cni_auto_funded(const CniAutoSearch *k) { return !k->budget || *k->budget > 0; }

// Multiplications of a step of Newton's method or of the interior point, and of a sweep.
static double step_work(const CniAutoSearch *k) { return cni_cones_flops(k->s->cones); }
static double sweep_work(const CniAutoSearch *k) {
  return k->swept ? 2. * k->swept->w.start[k->swept->w.row_count] : step_work(k);
}

// Count an attempt; 1 if it is the best so far. Nothing more is tried once an answer is within the
// tolerance or the time is over.
static int judge(CniAutoSearch *k, double error, int32_t steps,
                 double (*work)(const CniAutoSearch *k), const char *method) {
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

void cni_auto_keep(CniAutoSearch *k, const double *g, double error, int32_t steps,
                   const char *method) {
  if (judge(k, error, steps, sweep_work, method))
    memcpy(k->best, g, (size_t)k->p->row_count * sizeof *g);
}

static void keep_scaled(CniAutoSearch *k, const double *g, double error, int32_t steps,
                        const char *method) {
  if (judge(k, error, steps, step_work, method)) cni_cones_export(k->s->cones, g, k->best);
}

// So many steps, or those that the budget has left.
int32_t cni_auto_affordable(const CniAutoSearch *k, int32_t most) {
  if (!k->budget) return most;
  double left = *k->budget / step_work(k);
  return left >= most ? most : left >= 1 ? (int32_t)left : 0;
}

// ---- attempts ----

CnStatus cni_auto_try_ipm(CniAutoSearch *k, int32_t most) {
  CniCones *c = k->s->cones;
  // the convex model takes few; with the exact law more than a round helps small problems only
  if (!c->convex && most > CNI_ROUND_STEPS) {
    int32_t fewer = cni_cones_steps(c, most);
    most = fewer > CNI_ROUND_STEPS ? fewer : CNI_ROUND_STEPS;
  }
  CniIpmRule rule = {k->s->tolerance, cni_auto_affordable(k, most), 1};
  CniIpmEnd end;
  cni_cones_import(c, k->best, k->scaled);
  CNI_TRY(cni_cone_ipm(c, &rule, k->scaled, &end));
  keep_scaled(k, k->scaled, end.error, end.iterations + end.newton_steps, "ipm");
  return CN_OK;
}

// A few steps, or as many as it may take.
CnStatus cni_auto_try_newton(CniAutoSearch *k, const double *from, int32_t most) {
  CniCones *c = k->s->cones;
  CniConeNewton newton;
  CNI_TRY(cni_cone_newton_init(&newton, c));
  cni_cones_import(c, from, k->scaled);
  cni_cone_newton_start(&newton, k->scaled);
  int32_t stubborn = most == CNI_CONE_STEPS,
          limit = cni_auto_affordable(k, cni_cones_steps(c, most));
  int32_t steps = cni_cone_newton_run(&newton, limit, stubborn, k->s->tolerance);
  keep_scaled(k, newton.best, newton.error, steps, "newton");
  return CN_OK;
}

// From change of state to change of state.
CnStatus cni_auto_try_path(CniAutoSearch *k) {
  CniCones *c = k->s->cones;
  int32_t most = cni_auto_affordable(k, cni_cones_afford(c, PATH_WORK, PATH_MOST)), made = 0;
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
CnStatus cni_auto_swept_error(CniAutoSearch *k, double *error) {
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

static CnStatus keep_swept(CniAutoSearch *k, int32_t made) {
  double error;
  CNI_TRY(cni_auto_swept_error(k, &error));
  cni_auto_keep(k, k->mixed.best, error, made, cni_solver_psor.name);
  // asked again for as much more as it was missed by
  if (!k->done && k->mixed.error <= k->aim) k->aim *= cn_min(.1, .1 * k->s->tolerance / error);
  return CN_OK;
}

CnStatus cni_auto_first_sweeps(CniAutoSearch *k) {
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
CnStatus cni_auto_later_sweeps(CniAutoSearch *k) {
  CniMixed *m = &k->mixed;
  double tried = cn_min(NEAR, m->error);
  if (k->error < m->error) cni_mixed_restart(m, k->best);
  for (int32_t i = 0; i < LATER_BURSTS && !k->done && cni_auto_funded(k); i++) {
    CNI_TRY(keep_swept(k, cni_mixed_run(m, LATER_BURST, k->aim)));
    if (k->done || !(m->error <= LATER_TRY * tried)) continue;
    tried = m->error;
    CNI_TRY(cni_auto_try_newton(k, m->best, TRY_STEPS));
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
CnStatus cni_auto_last_sweeps(CniAutoSearch *k) {
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
  return k->done ? CN_OK : cni_auto_try_newton(k, m->best, CNI_CONE_STEPS);
}

// Room for an answer like the one given.
CnStatus cni_auto_new_answer(const CniAutoSearch *k, CniArena *arena, CnAnswer *answer) {
  *answer = *k->given;
  CNI_TRY(CNI_ARRAYS(arena, answer->row_count, double, &answer->g, &answer->u));
  return cni_arena_array(arena, answer->velocity_count, sizeof(double), &answer->v);
}

// Step problems: sweeps from zero with the exact solution of every block.
CnStatus cni_auto_plain_sweeps(CniAutoSearch *k) {
  CniCones *c = k->s->cones;
  CnSolveReport own = *k->report;
  CnAnswer answer;
  CNI_TRY(cni_auto_new_answer(k, &c->arena, &answer));
  CNI_TRY(cni_psor_solve(k->s->exact, k->p, &answer, k->memory, &own));
  cni_cones_import(c, answer.g, k->scaled);
  cni_cones_velocity(c, k->scaled, k->other);
  double error = cni_cones_error(c, k->scaled, k->other);
  cni_auto_keep(k, answer.g, error, own.iterations, cni_solver_psor.name);
  if (own.cut_by_time) k->done = k->report->cut_by_time = 1;
  return k->done ? CN_OK : cni_auto_try_newton(k, answer.g, CNI_CONE_STEPS);
}

// A solver of step problems, from the impulses given or the best.
CnStatus cni_auto_try_solver(CniAutoSearch *k, const CnSolverKind *kind, void *state,
                             const double *from, const char *method) {
  CnSolveReport own = *k->report;
  CnCertificate certificate;
  CnAnswer answer;
  CNI_TRY(cni_auto_new_answer(k, &k->s->room, &answer));
  memcpy(answer.g, from, (size_t)answer.row_count * sizeof *answer.g);
  CNI_TRY(kind->solve(state, k->p, &answer, k->memory, &own));
  CNI_TRY(cni_certify(k->p, &answer, k->memory, &certificate));
  cni_auto_keep(k, answer.g, cn_solve_error(k->p, &certificate), own.iterations, method);
  if (kind == &cni_solver_simplex) {
    memcpy(k->walked, answer.v, (size_t)answer.velocity_count * sizeof *k->walked);
    k->has_walked = 1;
  }
  if (own.cut_by_time && !(k->error <= k->s->tolerance)) k->done = k->report->cut_by_time = 1;
  return CN_OK;
}

// Joints and rows with bounds.
static CnStatus try_bounded(CniAutoSearch *k) {
  CniAutoCones *s = k->s;
  CnCertificate certificate;
  CnAnswer answer;
  CniBoundedAim aim = {.enough = s->tolerance * cni_free_speed(k->p),
                       .rounds = CNI_BOUNDED_ROUNDS,
                       .budget = INFINITY};
  CNI_TRY(cni_auto_new_answer(k, &s->room, &answer));
  memcpy(answer.g, k->given->g, (size_t)answer.row_count * sizeof *answer.g);
  CNI_TRY(cni_bounded_solve(&s->bounded, k->p, s->exact->def.tasks, &answer, &aim));
  if (!(aim.worst < INFINITY)) return CN_OK;
  CNI_TRY(cni_certify(k->p, &answer, k->memory, &certificate));
  cni_auto_keep(k, answer.g, cn_solve_error(k->p, &certificate), aim.rounds, "active rows");
  // rows that push each other to and fro are a matter of single pivots
  return k->done ? CN_OK
                 : cni_auto_try_solver(k, &cni_solver_simplex, k->s->walk, k->given->g,
                                       cni_solver_simplex.name);
}

// Before factors of all rows: joints alone are one linear system, and sweeps that solve it go
// before others where there are many rows. Without joints momentum carries the weights through a
// pile in less time than one factor takes.
CnStatus cni_auto_begin_step(CniAutoSearch *k) {
  int32_t joints = cni_joints_count(k->p), fits = 0;
  CniJoints *all = &k->s->exact->joints;
  // a linear system has its answer; where joints contradict each other no method has a better one
  if (joints > 0 && joints == k->p->block_count) {
    CNI_TRY(cni_auto_try_solver(k, &cni_solver_psor, k->s->exact, k->given->g, "direct"));
    if (cni_direct_fits(all->direct)) k->done = 1;
    return CN_OK;
  }
  if (joints > 0 && cni_bounded_takes(k->p)) CNI_TRY(try_bounded(k));
  if (k->done) return CN_OK;
  if (joints > 0) CNI_TRY(cni_joints_load(all, k->p, NULL, &fits));
  if (fits && cni_joints_contradict(all, k->p)) {
    CNI_TRY(cni_auto_try_solver(k, &cni_solver_psor, k->s->exact, k->given->g, "direct"));
    k->done = 1;
    return CN_OK;
  }
  if (k->p->row_count <= DESCENT_ROWS) return CN_OK;
  if (joints > 0)
    return cni_auto_try_solver(k, &cni_solver_psor, k->s->exact, k->given->g, cni_solver_psor.name);
  CniDescent *descent = k->s->descent;
  descent->def.max_iterations =
      k->p->friction == CN_FRICTION_CONVEX ? CNI_DESCENT_STEPS : DESCENT_EXACT;
  CNI_TRY(cni_auto_try_solver(k, &cni_solver_apgd, descent, k->given->g, cni_solver_apgd.name));
  if (k->done || k->p->friction == CN_FRICTION_CONVEX || k->p->row_count > CNI_FACTOR_ROWS)
    return CN_OK;
  descent->def.max_iterations = DESCENT_EAGER;
  descent->eager = 1;
  CnStatus status =
      cni_auto_try_solver(k, &cni_solver_apgd, descent, k->best, cni_solver_apgd.name);
  descent->eager = 0;
  return status;
}

// Rows without friction: the walk finds which of them act where conditioning keeps the interior point
// and Newton's method from the tolerance.
CnStatus cni_auto_try_walk(CniAutoSearch *k) {
  if (k->p->row_count > DESCENT_ROWS || !cni_bounded_takes(k->p)) return CN_OK;
  return cni_auto_try_solver(k, &cni_solver_simplex, k->s->walk, k->given->g,
                             cni_solver_simplex.name);
}

// Machines whose factors cost more than its pivots: the walk to its end, or not at all: what it leaves is no place to
// begin from. In small ones, whose time is no matter, the impulses that it gives to one of several dependent joints would
// make the next step's harder.
CnStatus cni_auto_walk_first(CniAutoSearch *k) {
  double *before, error = k->error;
  const char *method = k->report->method;
  size_t bytes = (size_t)k->p->row_count * sizeof *before;
  if (cni_joints_count(k->p) == 0 || k->p->row_count <= WALK_ROWS) return CN_OK;
  CNI_TRY(CNI_TAKE(&k->s->room, k->p->row_count, before));
  memcpy(before, k->best, bytes);
  CNI_TRY(cni_auto_try_walk(k));
  if (k->done) return CN_OK;
  memcpy(k->best, before, bytes);
  k->error = error;
  k->report->method = method;
  return CN_OK;
}
