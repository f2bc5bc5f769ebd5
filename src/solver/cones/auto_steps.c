// SPDX-License-Identifier: Apache-2.0
// auto on the steps of a world, within the work that an effort allows.
//
//   0. The impulses of the step before, if they still hold: a scene at rest.
//   1. Joints alone: one linear system.
//   2. Few rows beside the joints, a walking machine: the joints are eliminated (few.c).
//   3. Sweeps over everything, which solve the joints of an island exactly, from the impulses of the step
//      before, until the tolerance or the number of sweeps is reached. That is all that large piles get.
//   4. Islands that are not there yet, one by one, while the budget lasts: machines as in 2, then
//      Newton's method from what there is, the interior point, simplex where nothing rubs (auto_cones.c).
//      What an island costs is known when its matrix is ordered: those that cost too much keep what the
//      sweeps gave.
//
// Problems of a few rows, a box on a slope, cost so little that they are solved as the exact effort would:
// their contacts creep by nothing.
//
// The budget counts sweeps and multiplications in factors, never time, and begins anew in every step:
// the answer is a function of the problem and of the impulses given.
#include "solver/cones/auto_steps.h"

#include <string.h>

#define SMALL_ROWS 60        // problems of so few rows beside joints are solved
#define SMALL_TOLERANCE 1e-8 // to this, if need be by factors after
#define GIVEN 0.5            // of the tolerance: impulses given that hold so far are the answer
#define FEW_ROWS 128         // rows beside joints that are solved with the joints eliminated
#define GIVEN_BLOCKS                                                                               \
  2000 // problems of more blocks look at the impulses given when they are laid out for sweeps
#define CONTACT_WORK 150 // multiplications and additions of a block in a sweep

// What the efforts allow: sweeps as a part of those of the definition, rows and bodies of islands that are
// factored (ordering larger ones would take longer than the sweeps), multiplications in their factors: so many in any case, or so many times what the sweeps took.
typedef struct Allowance {
  double sweeps;
  int32_t rows, bodies;
  double work, times;
} Allowance;
static const Allowance allowances[] = {
    [CN_EFFORT_QUICK] = {1. / 3, 300, 50, 1e7, 1},
    [CN_EFFORT_NORMAL] = {1, 6000, 250, 1e8, 4},
    [CN_EFFORT_EXACT] = {1, INT32_MAX, INT32_MAX, INFINITY, 1},
};

CnStatus cni_auto_steps_create(CniAutoSteps *s, const CnSolverDef *def,
                               const CnAllocator *allocator) {
  void *sweeps = NULL;
  s->tolerance = def->tolerance;
  s->effort = def->effort;
  s->sweep_count = (int32_t)(def->max_iterations * allowances[def->effort].sweeps + 0.5);
  if (s->sweep_count < 1) s->sweep_count = 1;
  cni_islands_init(&s->islands, allocator);
  cni_few_init(&s->few, def, allocator);
  s->answer = cn_answer_empty(allocator);
  CnStatus status = cni_psor_create(def, allocator, 0, &sweeps);
  s->sweeps = sweeps;
  if (s->sweeps) s->sweeps->check_first = GIVEN;
  return status;
}

void cni_auto_steps_release(CniAutoSteps *s) {
  cni_psor_destroy(s->sweeps);
  cni_islands_release(&s->islands);
  cni_few_release(&s->few);
  cn_answer_release(&s->answer);
}

static double worst_residual(const CniIslands *islands, const CnProblem *p, const CnAnswer *answer,
                             int32_t island) {
  double worst = 0;
  for (int32_t k = islands->start[island]; k < islands->start[island + 1]; k++) {
    const CniBlock *block = &p->blocks[islands->list[k]];
    worst = cn_max(worst, cni_block_residual(p, block, answer->g + block->row, answer->v));
  }
  return worst;
}

// Impulses of an island's blocks: from those of all, or to them.
static void exchange(const CniIslands *islands, const CnProblem *p, int32_t island, double *all,
                     double *own, int out) {
  for (int32_t k = islands->start[island]; k < islands->start[island + 1]; k++) {
    const CniBlock *block = &p->blocks[islands->list[k]];
    size_t bytes = (size_t)block->dim * sizeof *own;
    if (out)
      memcpy(all + block->row, own, bytes);
    else
      memcpy(own, all + block->row, bytes);
    own += block->dim;
  }
}

// The part of one solve that its islands share.
typedef struct Round {
  double tolerance, speed; // speed: what residuals are relative to
  double budget;
  int32_t changed;
} Round;

// Few rows beside the joints; an island that was taken out, or everything.
static CnStatus try_few(CniAutoSteps *s, CniAutoCones *cones, const CnProblem *p, CnAnswer *answer,
                        CniStepMemory *memory, CnSolveReport *report, Round *round,
                        CniFewAim *aim) {
  *aim = (CniFewAim){round->tolerance * round->speed, round->budget, s->sweep_count, 0, 0};
  CNI_TRY(cni_few_solve(&s->few, cones, p, answer, memory, aim, report));
  round->budget = aim->budget;
  return CN_OK;
}

static CnStatus improve(CniAutoSteps *s, CniAutoCones *cones, const CnProblem *p, CnAnswer *answer,
                        CniStepMemory *memory, CnSolveReport *report, Round *round,
                        int32_t island) {
  double worst = worst_residual(&s->islands, p, answer, island), error;
  CniFewAim aim = {.met = 0};
  if (worst <= round->tolerance * round->speed) return CN_OK;
  CNI_TRY(cni_islands_take(&s->islands, p, island, round->speed));
  const CnProblem *part = s->islands.part;
  if (part->group_count > allowances[s->effort].bodies) return CN_OK;
  CNI_TRY(cni_answer_fit(&s->answer, part));
  CNI_TRY(cni_answer_reserve_u(&s->answer));
  exchange(&s->islands, p, island, answer->g, s->answer.g, 0);
  CnSolveReport own = {.method = report->method};
  if (cni_joints_count(part) > 0 && cni_few_rows(part) <= FEW_ROWS &&
      part->block_count < p->block_count)
    CNI_TRY(try_few(s, cones, part, &s->answer, memory, &own, round, &aim));
  if (aim.met)
    error = 0;
  else
    CNI_TRY(cni_auto_cones_within(cones, part, &s->answer, memory, round->tolerance, &round->budget,
                                  &own, &error));
  report->iterations += own.iterations;
  report->attempts += own.attempts;
  report->cut_by_time |= own.cut_by_time;
  if (!(error * round->speed < worst)) return CN_OK;
  exchange(&s->islands, p, island, answer->g, s->answer.g, 1);
  report->method = own.method;
  round->changed = 1;
  return CN_OK;
}

// m/s: the largest speed without any impulse, as the certificate has it.
static double free_speed(const CnProblem *p) {
  double largest = 0;
  for (int32_t i = 0; i < p->block_count; i++) {
    double r[CNI_MAX_DIM], sum = 0;
    cni_block_b(p, &p->blocks[i], r);
    cni_storages[p->blocks[i].storage].free(p, &p->blocks[i], r);
    for (int32_t d = 0; d < p->blocks[i].dim; d++) sum += r[d] * r[d];
    largest = cn_max(largest, sum);
  }
  return cn_max(sqrt(largest), p->speed);
}

// Do the impulses of the step before hold? Then velocities are theirs.
static int given_holds(const CnProblem *p, CnAnswer *answer, double limit) {
  cni_problem_apply(p, answer->g, answer->v);
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    if (!(cni_block_residual(p, block, answer->g + block->row, answer->v) <= limit)) return 0;
  }
  return 1;
}

// Problems that are not large: what was given, few rows beside joints. *done: 1: that is the answer;
// *swept: 0: sweeps are still to be made.
static CnStatus begin(CniAutoSteps *s, CniAutoCones *cones, const CnProblem *p, CnAnswer *answer,
                      CniStepMemory *memory, CnSolveReport *report, Round *round, int *done,
                      int *swept) {
  int32_t joints = cni_joints_count(p), others = cni_few_rows(p);
  *done = *swept = 0;
  if (others <= SMALL_ROWS) round->tolerance = cn_min(round->tolerance, SMALL_TOLERANCE);
  if (p->block_count > GIVEN_BLOCKS || others == 0) return CN_OK;
  round->speed = free_speed(p);
  double limit = round->tolerance * round->speed;
  if (joints == 0 && given_holds(p, answer, GIVEN * limit)) {
    report->method = "given";
    *done = 1;
    return CN_OK;
  }
  if (others > (joints > 0 ? FEW_ROWS : SMALL_ROWS)) return CN_OK;
  CniFewAim aim;
  CNI_TRY(try_few(s, cones, p, answer, memory, report, round, &aim));
  *done = aim.met;
  *swept = aim.taken;
  return CN_OK;
}

static CnStatus sweep(CniAutoSteps *s, const CnProblem *p, CnAnswer *answer, CniStepMemory *memory,
                      CnSolveReport *report, Round *round, int *done) {
  CniPsor *sweeps = s->sweeps;
  sweeps->def.tolerance = round->tolerance;
  sweeps->def.max_iterations = s->sweep_count;
  CNI_TRY(cni_psor_solve(sweeps, p, answer, memory, report));
  round->speed = sweeps->limit / round->tolerance;
  *done = sweeps->met;
  return CN_OK;
}

CnStatus cni_auto_steps_solve(CniAutoSteps *s, CniAutoCones *cones, const CnProblem *p,
                              CnAnswer *answer, CniStepMemory *memory, CnSolveReport *report) {
  const Allowance *allowed = &allowances[s->effort];
  double work = allowed->times * CONTACT_WORK * s->sweep_count * (double)p->block_count;
  Round round = {.tolerance = s->tolerance, .budget = cn_max(allowed->work, work)};
  int done = 0, swept = 0;
  report->method = cni_solver_psor.name;
  CNI_TRY(begin(s, cones, p, answer, memory, report, &round, &done, &swept));
  if (!swept && !done) CNI_TRY(sweep(s, p, answer, memory, report, &round, &done));
  if (done || report->cut_by_time) return CN_OK;
  CNI_TRY(cni_islands_find(&s->islands, p));
  for (int32_t i = 0; i < s->islands.count && round.budget > 0 && !report->cut_by_time; i++)
    if (s->islands.rows[i] <= allowed->rows)
      CNI_TRY(improve(s, cones, p, answer, memory, report, &round, i));
  if (round.changed) cni_problem_apply(p, answer->g, answer->v);
  return CN_OK;
}
