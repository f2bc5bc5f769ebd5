// SPDX-License-Identifier: Apache-2.0
// auto on the islands of a step: each is a problem of its own, solved by the method that suits it.
//
// Where small islands make up most of a step every island is solved by itself, as if it were the only one
// in the world (auto_steps.c): those whose impulses still hold are left as they are and cost their
// residuals, a machine has its joints eliminated, a stack its sweeps and factors, and what one of them needs
// no other one pays. Else, in a pile with some loose bodies, sweeps over everything come first, and
// islands that they leave short of the tolerance are finished.
//
// Threads. A worker has a hand: all that a solve of one island needs. Island number i is for hand i modulo
// the number of hands, and leaves impulses and velocities in places that are its own. What a hand did before
// does not show, so neither does the number of workers. Hands get memory only from the thread that called
// (gate.h): an island that asks for some while others work is done over after them, which happens in the
// first steps alone.
//
// Budget. Each island has the part of the step's that its blocks are; what is left over goes to those that
// did not come to an end.
#include "solver/cones/auto_islands.h"

#include "core/clock.h"
#include "core/tasks.h"
#include "core/vec.h"
#include "solver/solver.h"

#include <string.h>

#define SMALL_BLOCKS 400 // of islands for a hand; larger ones have all workers
#define MOST 0.5         // of all blocks: small islands that are so much are solved by themselves
#define SLOW 1e-3        // of the free speed: what bodies at rest do not exceed
#define RESTS 1          // an island whose impulses hold, and
#define MOVES 2          // one that moves
#define LOOK 16          // islands that a worker looks at in one go

struct CniHand {
  CniGate gate;
  CniAutoSteps own_steps;
  CniAutoCones own_cones;
  CniAutoSteps *steps; // its own, or those of the whole for large islands
  CniAutoCones *cones;
  CniPart part;
  CnAnswer answer;
  CniStepMemory own_memory;
  CniStepMemory *memory;
};

struct CniIslandJob {
  int32_t island;
  int32_t moves; // 1: no more than the tolerance is asked for
  int32_t met;   // 1: within the tolerance
  double budget; // what it may take; then what is left
  CnStatus status;
  CnSolveReport report;
};

// One solve.
typedef struct Round {
  CniAutoIslands *s;
  CniAutoSteps *steps;
  CniAutoCones *cones;
  const CnProblem *p;
  CnAnswer *answer;
  CniAutoRound limits; // of the step
  double deadline;     // 0: none
  int finish;          // 1: from what sweeps left; 0: from the beginning
} Round;

// ---- hands ----

void cni_auto_islands_init(CniAutoIslands *s, const CnSolverDef *def,
                           const CnAllocator *allocator) {
  memset(s, 0, sizeof *s);
  s->allocator = *allocator;
  s->def = *def;
  cni_islands_init(&s->islands, allocator);
}

static void release_hand(CniAutoIslands *s, CniHand *hand) {
  cni_auto_steps_release(&hand->own_steps);
  cni_auto_cones_release(&hand->own_cones);
  cni_part_release(&hand->part);
  cn_answer_release(&hand->answer);
  cni_step_memory_release(&hand->own_memory);
  cni_release(&s->allocator, hand, sizeof *hand);
}

void cni_auto_islands_release(CniAutoIslands *s) {
  for (int32_t i = 0; i < s->hand_count; i++) release_hand(s, s->hands[i]);
  CNI_RELEASE(&s->allocator, s->hands, s->hand_capacity);
  CNI_RELEASE(&s->allocator, s->jobs, s->job_capacity);
  CNI_RELEASE(&s->allocator, s->rest, s->rest_capacity);
  cni_islands_release(&s->islands);
}

static CnStatus make_hand(CniAutoIslands *s) {
  CnSolverDef def = s->def;
  CniHand *hand;
  CNI_TRY(CNI_RESERVE(&s->allocator, s->hands, s->hand_capacity, s->hand_count, s->hand_count + 1));
  CNI_TRY(cni_new(&s->allocator, sizeof *hand, &hand));
  CnAllocator own = cni_gate_allocator(&hand->gate, &s->allocator);
  def.tasks = NULL;
  def.allocator = own;
  hand->steps = &hand->own_steps;
  hand->cones = &hand->own_cones;
  hand->memory = &hand->own_memory;
  hand->answer = cn_answer_empty(&own);
  cni_part_init(&hand->part, &own);
  cni_step_memory_init(&hand->own_memory, &own);
  CnStatus status = cni_auto_cones_create(&hand->own_cones, &def, &own);
  if (status == CN_OK) status = cni_auto_steps_create(&hand->own_steps, &def, &own);
  if (status == CN_OK)
    s->hands[s->hand_count++] = hand;
  else
    release_hand(s, hand);
  return status;
}

// ---- one island ----

static const int32_t *blocks_of(const CniIslands *islands, int32_t island) {
  return islands->list + islands->start[island];
}

static int32_t block_count(const CniIslands *islands, int32_t island) {
  return islands->start[island + 1] - islands->start[island];
}

// Impulses of an island's blocks: from those of all, or to them; and velocities of its bodies to those of
// all.
static void exchange(const Round *k, CniHand *hand, int32_t island, int out) {
  const int32_t *list = blocks_of(&k->s->islands, island);
  const CnProblem *part = hand->part.problem;
  double *own = hand->answer.g;
  for (int32_t i = 0; i < part->block_count; i++) {
    const CniBlock *block = &k->p->blocks[list[i]];
    double *all = k->answer->g + block->row;
    memcpy(out ? all : own, out ? own : all, (size_t)block->dim * sizeof *own);
    own += block->dim;
  }
  for (int32_t i = 0; i < part->group_count && out; i++)
    if (part->groups[i].inv_mass > 0)
      memcpy(k->answer->v + 6 * (size_t)hand->part.taken[i], hand->answer.v + 6 * (size_t)i,
             6 * sizeof *own);
}

// m/s
static double worst_residual(const CnProblem *p, const CnAnswer *answer, const int32_t *list,
                             int32_t count, double most) {
  double worst = 0;
  for (int32_t i = 0; i < count && worst <= most; i++) {
    const CniBlock *block = &p->blocks[list ? list[i] : i];
    worst = cn_max(worst, cni_block_residual(p, block, answer->g + block->row, answer->v));
  }
  return worst;
}

// The part in a hand, from the impulses in its answer.
static CnStatus solve_part(const Round *k, CniHand *hand, CniIslandJob *job) {
  const CnProblem *part = hand->part.problem;
  CniAutoRound round = k->limits;
  int changed = !k->finish;
  round.budget = job->budget;
  round.moves = job->moves;
  if (k->finish)
    cni_problem_apply(part, hand->answer.g, hand->answer.v);
  else
    CNI_TRY(cni_auto_steps_whole(hand->steps, hand->cones, part, &hand->answer, hand->memory,
                                 &job->report, &round, &job->met));
  if (!job->met && !job->report.cut_by_time && round.budget > 0) {
    int better = 0;
    double worst = worst_residual(part, &hand->answer, NULL, part->block_count, INFINITY);
    CNI_TRY(cni_auto_steps_finish(hand->steps, hand->cones, part, &hand->answer, hand->memory,
                                  &job->report, &round, worst, &better));
    if (better) cni_problem_apply(part, hand->answer.g, hand->answer.v);
    worst = worst_residual(part, &hand->answer, NULL, part->block_count, INFINITY);
    job->met = worst <= round.tolerance * round.speed;
    changed |= better;
  }
  job->budget = round.budget;
  if (changed) exchange(k, hand, job->island, 1);
  return CN_OK;
}

static CnStatus run_job(const Round *k, CniHand *hand, CniIslandJob *job) {
  const CniIslands *islands = &k->s->islands;
  double budget = job->budget;
  job->report = (CnSolveReport){.method = cni_solver_psor.name};
  job->met = 0;
  if (k->deadline > 0 && cni_seconds() > k->deadline) {
    job->report.cut_by_time = 1;
    return CN_OK;
  }
  CNI_TRY(cni_part_take(&hand->part, k->p, blocks_of(islands, job->island),
                        block_count(islands, job->island), k->limits.speed));
  CNI_TRY(cni_answer_fit(&hand->answer, hand->part.problem));
  CNI_TRY(cni_answer_reserve_u(&hand->answer));
  exchange(k, hand, job->island, 0);
  cni_step_memory_hold(hand->memory);
  CnStatus status = solve_part(k, hand, job);
  cni_step_memory_let_go(hand->memory);
  if (status != CN_OK) job->budget = budget;
  return status;
}

// ---- all of them ----

static int is_large(const Round *k, const CniIslandJob *job) {
  return block_count(&k->s->islands, job->island) > SMALL_BLOCKS;
}

// The jobs of some hands.
static void run_hands(void *context, int32_t begin, int32_t end) {
  const Round *k = context;
  CniAutoIslands *s = k->s;
  for (int32_t h = begin; h < end; h++)
    for (int32_t i = h; i < s->job_count; i += s->hand_count)
      if (!is_large(k, &s->jobs[i])) s->jobs[i].status = run_job(k, s->hands[h], &s->jobs[i]);
}

// Hands for all workers, ready for a problem.
static CnStatus ready_hands(CniAutoIslands *s, const CnProblem *p) {
  int32_t workers = cni_tasks_worker_count(s->def.tasks);
  while (s->hand_count < workers) CNI_TRY(make_hand(s));
  for (int32_t i = 0; i < s->hand_count; i++) {
    CNI_TRY(cni_part_begin(&s->hands[i]->part, p));
    CNI_TRY(cni_step_memory_reset(&s->hands[i]->own_memory));
  }
  return CN_OK;
}

// Large ones first, with all workers; then the others, and those over that asked for memory.
static CnStatus run_jobs(Round *k) {
  CniAutoIslands *s = k->s;
  if (s->job_count == 0) return CN_OK;
  CNI_TRY(ready_hands(s, k->p));
  CniHand *first = s->hands[0];
  for (int32_t i = 0; i < s->job_count; i++) {
    s->jobs[i].status = CN_OK;
    if (!is_large(k, &s->jobs[i])) continue;
    first->steps = k->steps;
    first->cones = k->cones;
    CnStatus status = run_job(k, first, &s->jobs[i]);
    first->steps = &first->own_steps;
    first->cones = &first->own_cones;
    CNI_TRY(status);
  }
  for (int32_t i = 0; i < s->hand_count && s->hand_count > 1; i++)
    cni_gate_shut(&s->hands[i]->gate);
  cni_parallel_for(s->def.tasks, s->hand_count, 1, run_hands, k);
  for (int32_t i = 0; i < s->hand_count; i++) cni_gate_open(&s->hands[i]->gate);
  for (int32_t i = 0; i < s->job_count; i++) {
    CniIslandJob *job = &s->jobs[i];
    if (job->status != CN_OK && s->hand_count > 1)
      job->status = run_job(k, s->hands[i % s->hand_count], job);
    CNI_TRY(job->status);
  }
  return CN_OK;
}

// What the jobs did, to the step's report: the most sweeps of one, and its method where it is that of all.
static void add_reports(const Round *k, CnSolveReport *report) {
  const CniAutoIslands *s = k->s;
  int32_t most = 0;
  for (int32_t i = 0; i < s->job_count; i++) {
    const CnSolveReport *own = &s->jobs[i].report;
    if (own->iterations > most) most = own->iterations;
    report->attempts += own->attempts;
    report->cut_by_time |= own->cut_by_time;
    if (i == 0)
      report->method = own->method;
    else if (strcmp(report->method, own->method) != 0)
      report->method = "islands";
  }
  report->iterations += most;
}

// The budget for those that did not come to an end, which are all that stay.
static void share_rest(Round *k) {
  CniAutoIslands *s = k->s;
  double left = 0;
  int32_t count = 0;
  for (int32_t i = 0; i < s->job_count; i++) {
    left += cn_max(0, s->jobs[i].budget);
    if (!s->jobs[i].met && !s->jobs[i].report.cut_by_time) s->jobs[count++] = s->jobs[i];
  }
  s->job_count = count;
  for (int32_t i = 0; i < count; i++) s->jobs[i].budget = left / count;
}

static CnStatus run_twice(Round *k, CnSolveReport *report) {
  CNI_TRY(run_jobs(k));
  add_reports(k, report);
  const char *method = report->method;
  int32_t count = k->s->job_count;
  share_rest(k);
  k->finish = 1;
  if (k->s->job_count == 0 || k->s->job_count == count) return CN_OK;
  CNI_TRY(run_jobs(k));
  add_reports(k, report);
  report->method = method;
  return CN_OK;
}

// ---- which islands ----

// Does a body move faster than what is beneath notice, with the impulses given?
static int moves(const Round *k, const int32_t *list, int32_t count) {
  double most = SLOW * k->limits.speed;
  for (int32_t i = 0; i < count; i++) {
    int32_t pair[2];
    cni_block_pair(k->p, &k->p->blocks[list[i]], pair);
    for (int32_t side = 0; side < 2; side++) {
      int32_t group = pair[side];
      if (group < 0 || !(k->p->groups[group].inv_mass > 0)) continue;
      const double *v = k->answer->v + 6 * (size_t)group;
      if (v[0] * v[0] + v[1] * v[1] + v[2] * v[2] > most * most) return 1;
    }
  }
  return 0;
}

// Do the impulses given hold? Islands with joints are solved in any case.
static void look_at(void *context, int32_t begin, int32_t end) {
  const Round *k = context;
  const CniIslands *islands = &k->s->islands;
  for (int32_t i = begin; i < end; i++) {
    const int32_t *list = blocks_of(islands, i);
    int32_t count = block_count(islands, i);
    int fast = moves(k, list, count);
    double limit = cni_auto_steps_holds(k->steps, k->p, list, count, fast) * k->limits.speed;
    int rests = limit > 0 && worst_residual(k->p, k->answer, list, count, limit) <= limit;
    k->s->rest[i] = rests ? RESTS : fast ? MOVES : 0;
  }
}

static CnStatus add_job(CniAutoIslands *s, int32_t island, double budget) {
  CniIslandJob job = {.island = island, .budget = budget};
  return CNI_PUSH(&s->allocator, s->jobs, s->job_capacity, s->job_count, job);
}

// All islands that do not rest.
static CnStatus solve_each(Round *k, CnSolveReport *report) {
  CniAutoIslands *s = k->s;
  const CniIslands *islands = &s->islands;
  int64_t moving = 0;
  cni_islands_list(&s->islands, k->p);
  CNI_TRY(CNI_RESERVE(&s->allocator, s->rest, s->rest_capacity, 0, islands->count));
  cni_problem_apply(k->p, k->answer->g, k->answer->v);
  cni_parallel_for(s->def.tasks, islands->count, LOOK, look_at, k);
  for (int32_t i = 0; i < islands->count; i++)
    if (s->rest[i] != RESTS) moving += block_count(islands, i);
  report->method = "given";
  for (int32_t i = 0; i < islands->count; i++)
    if (s->rest[i] != RESTS) {
      CNI_TRY(add_job(s, i, k->limits.budget * block_count(islands, i) / (double)moving));
      s->jobs[s->job_count - 1].moves = s->rest[i] == MOVES;
    }
  return s->job_count > 0 ? run_twice(k, report) : CN_OK;
}

// Those that sweeps left.
static CnStatus finish_each(Round *k, CnSolveReport *report) {
  CniAutoIslands *s = k->s;
  const CniIslands *islands = &s->islands;
  double limit = k->limits.tolerance * k->limits.speed;
  for (int32_t i = 0; i < islands->count; i++) {
    int32_t count = block_count(islands, i);
    if (!cni_auto_steps_allows(k->steps, islands->bodies[i], islands->rows[i])) continue;
    cni_islands_list(&s->islands, k->p);
    if (worst_residual(k->p, k->answer, blocks_of(islands, i), count, limit) > limit)
      CNI_TRY(add_job(s, i, 0));
  }
  for (int32_t i = 0; i < s->job_count; i++) s->jobs[i].budget = k->limits.budget / s->job_count;
  k->finish = 1;
  k->limits.few = islands->count == 1;
  return s->job_count > 0 ? run_twice(k, report) : CN_OK;
}

// Are there several, and are the small ones most of it?
static int are_apart(const CniIslands *islands, int32_t blocks) {
  int32_t small = 0;
  for (int32_t i = 0; i < islands->count; i++)
    if (block_count(islands, i) <= SMALL_BLOCKS) small += block_count(islands, i);
  return islands->count > 1 && small >= MOST * blocks;
}

CnStatus cni_auto_islands_solve(CniAutoIslands *s, CniAutoSteps *steps, CniAutoCones *cones,
                                const CnProblem *p, CnAnswer *answer, CniStepMemory *memory,
                                CnSolveReport *report) {
  Round k = {.s = s, .steps = steps, .cones = cones, .p = p, .answer = answer};
  int done = 0;
  k.limits = cni_auto_steps_limits(steps, p);
  k.deadline = s->def.time_budget > 0 ? cni_seconds() + s->def.time_budget : 0;
  s->job_count = 0;
  int found = p->block_count > cni_joints_count(p);
  if (found) {
    CNI_TRY(cni_islands_find(&s->islands, p));
    if (are_apart(&s->islands, p->block_count)) {
      k.limits.speed = cni_free_speed(p);
      k.limits.few = 1;
      return solve_each(&k, report);
    }
  }
  CNI_TRY(cni_auto_steps_whole(steps, cones, p, answer, memory, report, &k.limits, &done));
  if (done || report->cut_by_time || p->block_count == 0) return CN_OK;
  if (!found) CNI_TRY(cni_islands_find(&s->islands, p));
  return finish_each(&k, report);
}
