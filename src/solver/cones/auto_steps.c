// SPDX-License-Identifier: Apache-2.0
// auto on the steps of a world, within the work that an effort allows.
//
//   0. The impulses of the step before, if they still hold: a scene at rest. Where they nearly do, some
//      steps of apgd, which keep what is alike alike.
//   1. Joints alone: one linear system.
//   2. Few rows beside the joints, a walking machine: the joints are eliminated (few.c).
//   3. Sweeps over everything, which solve the joints of an island exactly, from the impulses of the step
//      before, until the tolerance or the number of sweeps is reached. That is all that large piles get, with
//      longer steps in most of the sweeps.
//      Then some steps of apgd where islands may be factored.
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
#include "solver/gradients/descent.h"
#include "solver/solver.h"

#include <string.h>

#define SMALL_ROWS 60        // problems of so few rows beside joints are solved
#define SMALL_TOLERANCE 1e-8 // to this, if need be by factors after
#define SMALL_SWEEPS 20      // so many sweeps
#define ENOUGH                                                                                     \
  300 // times that tolerance is enough where few rows are solved without sweeps and factors of all
#define GIVEN 0.9         // of the tolerance: impulses given that hold so far are the answer
#define GIVEN_BLOCKS 2000 // larger problems look at them when they are laid out for sweeps
#define FEW_ROWS 128      // rows beside joints that are solved with the joints eliminated
#define NEAR_BLOCKS 400   // problems of so many blocks, if the impulses given are
#define NEAR 1e-2         // so good, have Newton's method from there after
#define FIRST_SWEEPS 40   // so many sweeps
#define COLD_STEPS 2000   // of apgd on stacks where nothing is given: what is alike stays alike
#define COLD_BLOCKS 100   // if they have no more blocks
#define BARELY 3          // times what holds: impulses given that are so near have first
#define BURST 40          // steps of apgd, which would not spoil them as sweeps do
#define LOADED 100        // ratio of masses from which stacks have
#define LOADED_BARELY 10  // if they are so near
#define LOADED_BURST 600  // steps
#define APART 1e4         // ratio of masses from which sweeps come after Newton's method
#define TWICE 2           // times the sweeps, in problems of NEAR_BLOCKS, and then
#define DESCENT 5         // times the sweeps: steps of apgd before islands are factored
#define HALFWAY 0.5       // of the tolerance is asked of sweeps where that costs little
#define FURTHER 0.3       // of bursts of apgd
#define DEEPER 0.1        // of the tolerance is asked of factors: the next step may still hold
#define OVER 1.4          // relaxation of sweeps where nothing rubs
#define LONGER 1.5        // and of large piles, but for the first
#define LONGER_FIRST 10   // sweeps, which suffice at rest,
#define LONGER_LAST 5     // and the last, one of so many, which smooth what the others leave
#define SPARED 24        // one of so many sweeps pays for what psor does not do: islands, tolerance
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
  cni_few_init(&s->few, def, allocator);
  s->allocator = *allocator;
  CnStatus status = cni_psor_create(def, allocator, 0, &sweeps);
  s->sweeps = sweeps;
  if (s->sweeps) s->sweeps->check_first = GIVEN;
  return status;
}

void cni_auto_steps_release(CniAutoSteps *s) {
  cni_psor_destroy(s->sweeps);
  cni_few_release(&s->few);
  CNI_RELEASE(&s->allocator, s->given, s->given_capacity);
}

CniAutoRound cni_auto_steps_limits(const CniAutoSteps *s, const CnProblem *p) {
  const Allowance *allowed = &allowances[s->effort];
  double work = allowed->times * CONTACT_WORK * s->sweep_count * (double)p->block_count;
  return (CniAutoRound){.tolerance = s->tolerance, .budget = cn_max(allowed->work, work)};
}

int cni_auto_steps_allows(const CniAutoSteps *s, int32_t bodies, int32_t rows) {
  return bodies <= allowances[s->effort].bodies && rows <= allowances[s->effort].rows;
}

double cni_auto_steps_holds(const CniAutoSteps *s, const CnProblem *p, const int32_t *list,
                            int32_t count, int moves) {
  int32_t rows = 0;
  for (int32_t i = 0; i < count; i++) {
    if (p->blocks[list[i]].kind == CN_BLOCK_BILATERAL) return 0;
    rows += p->blocks[list[i]].dim;
  }
  return GIVEN *
         (rows <= SMALL_ROWS && !moves ? cn_min(s->tolerance, SMALL_TOLERANCE) : s->tolerance);
}

// Few rows beside the joints; an island that was taken out, or everything.
static CnStatus try_few(CniAutoSteps *s, CniAutoCones *cones, const CnProblem *p, CnAnswer *answer,
                        CniStepMemory *memory, CnSolveReport *report, CniAutoRound *round,
                        CniFewAim *aim) {
  // sweeps and factors for the last of the digits that were only wished for are not worth their price
  double enough = cn_min(s->tolerance, ENOUGH * round->tolerance);
  *aim = (CniFewAim){.limit = round->tolerance * round->speed,
                     .enough = cn_max(enough, round->tolerance) * round->speed,
                     .budget = round->budget,
                     .sweeps = s->sweep_count,
                     .worst = INFINITY};
  CNI_TRY(cni_few_solve(&s->few, cones, p, answer, memory, aim, report));
  round->budget = aim->budget;
  return CN_OK;
}

CnStatus cni_auto_steps_finish(CniAutoSteps *s, CniAutoCones *cones, const CnProblem *p,
                               CnAnswer *answer, CniStepMemory *memory, CnSolveReport *report,
                               CniAutoRound *round, double worst, int *better) {
  CniFewAim aim = {.met = 0};
  double deeper = p->block_count <= NEAR_BLOCKS ? DEEPER : 1, error = 0;
  *better = 0;
  if (worst <= round->tolerance * round->speed) return CN_OK;
  if (!cni_auto_steps_allows(s, p->group_count, p->row_count)) return CN_OK;
  CnSolveReport own = {.method = report->method};
  if (!round->few && cni_joints_count(p) > 0 && cni_few_rows(p) <= FEW_ROWS)
    CNI_TRY(try_few(s, cones, p, answer, memory, &own, round, &aim));
  if (!aim.met)
    CNI_TRY(cni_auto_cones_within(cones, p, answer, memory, deeper * round->tolerance,
                                  &round->budget, 0, &own, &error));
  report->iterations += own.iterations;
  report->attempts += own.attempts;
  report->cut_by_time |= own.cut_by_time;
  *better = error * round->speed < worst;
  if (*better) report->method = own.method;
  return CN_OK;
}

// m/s: the residual of the impulses of the step before, as far as it is above `most`. Velocities are theirs.
static double given_residual(const CnProblem *p, CnAnswer *answer, double most) {
  double worst = 0;
  cni_problem_apply(p, answer->g, answer->v);
  for (int32_t i = 0; i < p->block_count && worst <= most; i++) {
    const CniBlock *block = &p->blocks[i];
    worst = cn_max(worst, cni_block_residual(p, block, answer->g + block->row, answer->v));
  }
  return worst;
}

static int may_be_factored(const CniAutoSteps *s, const CnProblem *p) {
  return cni_auto_steps_allows(s, p->group_count, p->row_count);
}

// So many steps of apgd at most.
static CnStatus descend(CniAutoCones *cones, const CnProblem *p, CnAnswer *answer,
                        CniStepMemory *memory, CnSolveReport *report, const CniAutoRound *round,
                        int32_t most, double part, int *done) {
  CnSolveReport own = *report;
  CniDescent *descent = cones->descent;
  CnSolverDef def = descent->def;
  descent->def.max_iterations = most;
  descent->def.tolerance = part * round->tolerance;
  CNI_TRY(cni_answer_reserve_u(answer));
  CnStatus status = cni_solver_apgd.solve(descent, p, answer, memory, &own);
  descent->def = def;
  CNI_TRY(status);
  report->iterations += own.iterations;
  report->attempts++;
  report->cut_by_time |= own.cut_by_time;
  *done = descent->best_residual <= round->tolerance * round->speed;
  if (*done) report->method = cni_solver_apgd.name;
  return CN_OK;
}

static int is_cold(const CnProblem *p, const CnAnswer *answer) {
  for (int32_t i = 0; i < p->row_count; i++)
    if (answer->g[i] != 0) return 0;
  return 1;
}

// Newton's method from impulses that nearly hold.
static CnStatus try_near(CniAutoCones *cones, const CnProblem *p, CnAnswer *answer,
                         CniStepMemory *memory, CnSolveReport *report, CniAutoRound *round,
                         int *done) {
  double error;
  CNI_TRY(cni_auto_cones_within(cones, p, answer, memory, DEEPER * round->tolerance, &round->budget,
                                1, report, &error));
  *done = error <= round->tolerance;
  if (*done) cni_problem_apply(p, answer->g, answer->v);
  return CN_OK;
}

// Contacts without friction and nothing else: a convex problem, on which sweeps that go too far by less than twice
// only descend. In falling and settled piles of 1,500 spheres 120 of them leave a half to a sixth of what exact ones
// leave. With friction they gain a third while spheres fall, and lose a tenth where these rest.
static int is_smooth(const CnProblem *p) {
  return p->row_count == p->block_count && cni_joints_count(p) == 0;
}

// Are sweeps all that these contacts get, and is nothing else asked of sweeps? (Joints: nobody has measured these.)
static int is_pile(const CniAutoSteps *s, const CnProblem *p) {
  const CnSolverDef *def = &s->sweeps->def;
  return p->block_count > NEAR_BLOCKS && !may_be_factored(s, p) && cni_joints_count(p) == 0 &&
         !is_smooth(p) && p->friction == CN_FRICTION_COULOMB && def->local == CN_LOCAL_SPLIT &&
         def->relaxation == 1;
}

// So many sweeps at most.
static CnStatus sweep(CniAutoSteps *s, const CnProblem *p, CnAnswer *answer, CniStepMemory *memory,
                      CnSolveReport *report, CniAutoRound *round, int32_t most, int *done) {
  CniPsor *sweeps = s->sweeps;
  int32_t before = report->iterations;
  double part = p->block_count <= NEAR_BLOCKS ? HALFWAY : 1;
  sweeps->def.tolerance = part * round->tolerance;
  sweeps->rule.omega = is_smooth(p) && sweeps->def.relaxation == 1 ? OVER : sweeps->def.relaxation;
  sweeps->longer = (CniPsorLonger){1, 0, 0};
  if (is_pile(s, p)) {
    most -= most / SPARED;
    sweeps->longer = (CniPsorLonger){LONGER, LONGER_FIRST, most - most / LONGER_LAST};
  }
  sweeps->def.max_iterations = most;
  CNI_TRY(cni_psor_solve(sweeps, p, answer, memory, report));
  round->made += report->iterations;
  report->iterations += before;
  round->speed = sweeps->limit / sweeps->def.tolerance;
  *done = sweeps->met;
  return CN_OK;
}

// Where masses are far apart sweeps would take long and spoil what is near.
static double mass_ratio(const CnProblem *p) {
  double least = INFINITY, most = 0;
  for (int32_t i = 0; i < p->group_count; i++) {
    double x = p->groups[i].inv_mass;
    if (!(x > 0)) continue;
    least = cn_min(least, x);
    most = cn_max(most, x);
  }
  return most > 0 ? most / least : 1;
}

// Are there hardly more pairs of bodies that touch than bodies, as in stacks and trees? Their factors are
// cheap. The contacts of a pair stand one after the other.
static int is_tree(const CnProblem *p) {
  int32_t pairs = 0, last[2] = {-1, -1};
  for (int32_t i = 0; i < p->block_count; i++) {
    int32_t now[2];
    cni_block_pair(p, &p->blocks[i], now);
    pairs += now[0] != last[0] || now[1] != last[1];
    last[0] = now[0];
    last[1] = now[1];
  }
  return pairs <= p->group_count;
}

// Problems without joints that are not large: some sweeps, and where these do not suffice Newton's method from
// what was given, if that is near, which sweeps may have spoilt.
static CnStatus begin_contacts(CniAutoSteps *s, CniAutoCones *cones, const CnProblem *p,
                               CnAnswer *answer, CniStepMemory *memory, CnSolveReport *report,
                               CniAutoRound *round, int near, int few, int *done) {
  size_t bytes = (size_t)p->row_count * sizeof *s->given;
  CNI_TRY(CNI_RESERVE(&s->allocator, s->given, s->given_capacity, 0, p->row_count));
  memcpy(s->given, answer->g, bytes);
  int32_t most = few ? SMALL_SWEEPS : near ? FIRST_SWEEPS : TWICE * s->sweep_count;
  if (most > TWICE * s->sweep_count) most = TWICE * s->sweep_count;
  CNI_TRY(sweep(s, p, answer, memory, report, round, most, done));
  if (*done || report->cut_by_time) return CN_OK;
  if (near) {
    memcpy(answer->g, s->given, bytes);
    round->made = 0;
  }
  return near && !few ? try_near(cones, p, answer, memory, report, round, done) : CN_OK;
}

// Steps of apgd before sweeps, where these would spoil what is nearly right; `off`: how far the impulses
// given are from holding.
static int32_t first_steps(const CnProblem *p, const CnAnswer *answer, int tree, double ratio,
                           double off) {
  if (!tree) return off <= BARELY ? BURST : 0;
  if (p->block_count <= COLD_BLOCKS && is_cold(p, answer)) return COLD_STEPS;
  return ratio > LOADED && off <= LOADED_BARELY ? LOADED_BURST : 0;
}

// Joints and rows with bounds, from what was given; those that push each other to and fro are a matter of single
// pivots.
static CnStatus try_bounded(CniAutoSteps *s, CniAutoCones *cones, const CnProblem *p,
                            CnAnswer *answer, CniStepMemory *memory, CnSolveReport *report,
                            CniAutoRound *round, int *done) {
  size_t bytes = (size_t)p->row_count * sizeof *s->given;
  round->speed = cni_free_speed(p);
  CniBoundedAim aim = {.enough = HALFWAY * round->tolerance * round->speed,
                       .rounds = CNI_BOUNDED_ROUNDS,
                       .budget = round->budget};
  CNI_TRY(CNI_RESERVE(&s->allocator, s->given, s->given_capacity, 0, p->row_count));
  memcpy(s->given, answer->g, bytes);
  CNI_TRY(cni_bounded_solve(&cones->bounded, p, s->sweeps->def.tasks, answer, &aim));
  round->budget = aim.budget;
  report->iterations += aim.rounds;
  *done = aim.worst <= aim.enough;
  if (*done) report->method = "active rows";
  if (*done) return CN_OK;
  double error = INFINITY;
  memcpy(answer->g, s->given, bytes);
  if (aim.worst < INFINITY)
    CNI_TRY(
        cni_auto_cones_walk(cones, p, answer, memory, HALFWAY * round->tolerance, report, &error));
  *done = error <= round->tolerance;
  if (!*done) memcpy(answer->g, s->given, bytes);
  return CN_OK;
}

// Problems that are not large: what was given, few rows beside joints. *done: 1: that is the answer;
// *swept: 0: sweeps are still to be made.
static CnStatus begin(CniAutoSteps *s, CniAutoCones *cones, const CnProblem *p, CnAnswer *answer,
                      CniStepMemory *memory, CnSolveReport *report, CniAutoRound *round, int *done,
                      int *swept) {
  int32_t joints = cni_joints_count(p), others = cni_few_rows(p);
  int few = joints > 0 ? others <= FEW_ROWS : others <= SMALL_ROWS && !round->moves;
  *done = *swept = 0;
  if (others <= SMALL_ROWS && (joints > 0 || !round->moves))
    round->tolerance = cn_min(round->tolerance, SMALL_TOLERANCE);
  if (joints > 0 && others > 0 && cni_bounded_takes(p))
    CNI_TRY(try_bounded(s, cones, p, answer, memory, report, round, done));
  if (*done || p->block_count > GIVEN_BLOCKS || others == 0) return CN_OK;
  if (joints == 0 && !few && !may_be_factored(s, p)) return CN_OK; // as larger ones do
  round->speed = cni_free_speed(p);
  double limit = GIVEN * round->tolerance * round->speed, near = NEAR * round->speed;
  if (joints == 0) {
    int small = p->block_count <= NEAR_BLOCKS && p->group_count <= allowances[s->effort].bodies;
    double given = given_residual(p, answer, small ? near : BARELY * limit);
    if (given <= limit) {
      report->method = "given";
      *done = 1;
      return CN_OK;
    }
    int tree = small && is_tree(p);
    double ratio = small ? mass_ratio(p) : 1;
    int32_t burst = first_steps(p, answer, tree, ratio, given / limit);
    if (ratio > APART)
      CNI_TRY(try_near(cones, p, answer, memory, report, round, done));
    else if (burst > 0 && !few)
      CNI_TRY(descend(cones, p, answer, memory, report, round, burst, tree ? 1 : FURTHER, done));
    if (*done || report->cut_by_time) return CN_OK;
    if (small) {
      int hopeful = given <= near && ratio <= APART && (few || tree);
      CNI_TRY(begin_contacts(s, cones, p, answer, memory, report, round, hopeful, few, done));
    }
  }
  if (*done || !few || report->cut_by_time) return CN_OK;
  CniFewAim aim;
  CNI_TRY(try_few(s, cones, p, answer, memory, report, round, &aim));
  *done = aim.met;
  *swept = aim.taken;
  return CN_OK;
}

CnStatus cni_auto_steps_whole(CniAutoSteps *s, CniAutoCones *cones, const CnProblem *p,
                              CnAnswer *answer, CniStepMemory *memory, CnSolveReport *report,
                              CniAutoRound *round, int *done) {
  int swept = 0;
  report->method = cni_solver_psor.name;
  CNI_TRY(begin(s, cones, p, answer, memory, report, round, done, &swept));
  int factors = may_be_factored(s, p) && cni_joints_count(p) == 0;
  int32_t most = factors && p->block_count <= NEAR_BLOCKS ? TWICE * s->sweep_count : s->sweep_count;
  if (!swept && !*done && !report->cut_by_time && round->made < most)
    CNI_TRY(sweep(s, p, answer, memory, report, round, most - round->made, done));
  // momentum carries weights through a pile of boxes in fewer steps than sweeps take, and for less than
  // a factor: where one is the alternative
  if (!swept && !*done && !report->cut_by_time && factors)
    CNI_TRY(descend(cones, p, answer, memory, report, round, DESCENT * s->sweep_count, 1, done));
  return CN_OK;
}
