// SPDX-License-Identifier: Apache-2.0
// Projected successive over-relaxation, forth (psor) or forth and back (pssor).
//
// Unknowns are the impulses g. The sweep keeps v = M^-1 (k + E^T g) true at all times, so N is
// never formed: a block costs two group reads and two writes whatever the size of the pile. Blocks
// are visited in the order of the schedule (problem/batches.h), which is part of the result.
//
//     d = g_i - (omega/eta_i)(E_i v + b_i + C g_i)
//     g_i <- (1 - lambda) g_i + lambda P_K(d),   v += M^-1 E_i^T (change of g_i)
//
// Joints are one block: after every sweep the bilateral rows of an island are solved together,
// exactly, by one back-substitution (sparse/direct.h), so that a mechanism neither stretches nor
// needs sweeps to pass on what happens at its ends; without contacts that is the answer. On the
// convex problem every sweep decreases the dual objective 1/2 g^T N g + r^T g. Cost: one pass over
// the blocks an iteration (two for pssor).
//
// Threads: a sweep is the columns of the schedule colour by colour, then the rest; many sweeps are one
// region of the pool, with a barrier after each of these. One thread takes the same columns one after
// the other.
//
// Memory: lanes are one stream, which processors read ahead by themselves. Groups are not: once
// lanes and groups together do not fit in the cache, a sweep prefetches the groups of the batch four
// batches ahead, of each contact the second one, as the first was mostly the second of a contact
// before. That hides most of the wait (200,000 spheres: 11.5 instead of 16.4 ns a contact); where
// all is in the cache it would cost a tenth, with two threads a third.
//
// Convergence is checked every check_interval iterations, on the certificate's own measure. A
// check ends at the first block that fails, and the next check begins with that block: while the
// answer is far off, a check costs next to nothing. When no block fails, v is recomputed from g,
// without the sweeps' round-off, and checked again, so that what stops a solve is what certifies
// it. The sweeps do not see these checks: the bits depend on the number of iterations alone.
//
// References: Tasora and Anitescu 2006, 2007.
#include "solver/sweeps/psor.h"
#include "core/assert.h"
#include "core/clock.h"

#include <string.h>

#define SWEEPS_PER_REGION 32
#define CACHE_BYTES (28u << 20) // a little less than the caches of most processors

CnStatus cni_psor_create(const CnSolverDef *def, const CnAllocator *allocator, int32_t back,
                         void **state) {
  CniPsor *s;
  CNI_TRY(cni_new(allocator, sizeof *s, &s));
  s->allocator = *allocator;
  s->def = *def;
  s->rule = (CniLocalRule){def->relaxation, def->acceleration, (int32_t)def->local};
  s->back = back;
  s->level = cni_simd_level();
  s->cache_bytes = CACHE_BYTES;
  cni_schedule_init(&s->schedule, allocator);
  cni_joints_init(&s->joints, allocator);
  s->schedule.with_groups = 1;
  *state = s;
  return CN_OK;
}

void cni_psor_destroy(void *state) {
  CniPsor *s = state;
  if (!s) return;
  CnAllocator a = s->allocator;
  cni_schedule_release(&s->schedule);
  cni_joints_release(&s->joints);
#define DROP(array, capacity) CNI_RELEASE(&a, s->array, s->capacity)
  DROP(runs, run_capacity);
  DROP(run_start, run_start_capacity);
  DROP(column_counts, column_count_capacity);
  DROP(failed, failed_capacity);
  DROP(rows, rows_capacity);
  DROP(entries, entry_capacity);
  DROP(pool, pool_capacity);
  DROP(g, g_capacity);
  DROP(u, u_capacity);
  DROP(v, v_capacity);
  DROP(links.numbers, links.capacity);
#undef DROP
  cni_release(&a, s, sizeof *s);
}

// ---- sweeps ----

void cni_psor_sweep_lanes(CniPsor *s, CniPsorUpdate law, const CniPsorRun *run, int32_t begin,
                          int32_t count, int32_t step) {
  CniPsorKernel sweep = s->kernels->sweep[run->kind][law];
  CniPsorSets sets = {s->sets, s->set_numbers + run->begin + begin};
  size_t stride = (size_t)(1 + cni_psor_lines(run->kind) * run->length);
  sweep(s->groups, s->inertia, s->p->group_count, s->lines + run->offset + (size_t)begin * stride,
        sets, count, run->length, step, s->rule.lambda, s->ahead);
}

static void sweep_run(CniPsor *s, CniPsorUpdate law, const CniPsorRun *run, int32_t step) {
  if (run->kind < CNI_PSOR_LANE_KINDS)
    cni_psor_sweep_lanes(s, law, run, 0, run->count, step);
  else if (law == CNI_PSOR_APPLY)
    cni_psor_apply_rows(s, run->begin, run->begin + run->count);
  else
    cni_psor_rows(s, run->begin, run->begin + run->count, step);
}

void cni_psor_sweep_column(CniPsor *s, CniPsorUpdate law, int32_t column, int32_t step) {
  int32_t begin = s->run_start[column], end = s->run_start[column + 1];
  for (int32_t i = step > 0 ? begin : end - 1; i >= begin && i < end; i += step)
    sweep_run(s, law, &s->runs[i], step);
}

// Phase k of an iteration: forth through the phases of the schedule, then back, then the joints.
static void sweep_phase(void *context, int32_t phase, int32_t begin, int32_t end) {
  CniPsor *s = context;
  int32_t phases = s->schedule.phase_count, sweeps = s->back ? 2 * phases : phases;
  int32_t k = phase % (sweeps + (s->joint_count > 0));
  if (k == sweeps) {
    cni_joints_relax(&s->joints, s->p, s->groups, s->g, s->rule.lambda, begin, end);
    return;
  }
  int32_t forth = k < phases, of = forth ? k : 2 * phases - 1 - k;
  for (int32_t i = begin; i < end; i++)
    cni_psor_sweep_column(s, s->law, cni_schedule_column(&s->schedule, of, i), forth ? 1 : -1);
}

static void iterate_explicit(CniPsor *s, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    cni_psor_explicit(s, 0, s->rows_count, 1);
    if (s->back) cni_psor_explicit(s, 0, s->rows_count, -1);
  }
}

// One thread takes the columns in an order that finds groups in the cache which the column before has left there.
static void iterate_alone(CniPsor *s, int32_t count) {
  const CniSchedule *schedule = &s->schedule;
  int32_t columns = schedule->column_count, all = columns + (schedule->phase_count > 1);
  int32_t islands = s->joint_count > 0 ? cni_direct_islands(s->joints.direct) : 0;
  for (int32_t i = 0; i < count; i++) {
    for (int32_t k = 0; k < all; k++)
      cni_psor_sweep_column(s, s->law, k < columns ? cni_schedule_near(schedule, k) : k, 1);
    for (int32_t k = all - 1; s->back && k >= 0; k--)
      cni_psor_sweep_column(s, s->law, k < columns ? cni_schedule_near(schedule, k) : k, -1);
    if (islands > 0)
      cni_joints_relax(&s->joints, s->p, s->groups, s->g, s->rule.lambda, 0, islands);
  }
}

void cni_psor_iterate(CniPsor *s, int32_t count) {
  CNI_ASSERT(count >= 0 && count <= SWEEPS_PER_REGION);
  if (s->p->form == CN_FORM_EXPLICIT) {
    iterate_explicit(s, count);
    return;
  }
  if (cni_tasks_worker_count(s->def.tasks) == 1 && s->schedule.spread.active == 0) {
    iterate_alone(s, count);
    return;
  }
  int32_t counts[(2 * CNI_SWEEP_PHASES + 1) * SWEEPS_PER_REGION], n = 0;
  uint8_t which[(2 * CNI_SWEEP_PHASES + 1) * SWEEPS_PER_REGION];
  int32_t phases = s->schedule.phase_count;
  for (int32_t i = 0; i < count; i++) {
    for (int32_t k = 0; k < phases; k++, n++) {
      counts[n] = cni_schedule_phase_size(&s->schedule, k);
      which[n] = (uint8_t)k;
    }
    for (int32_t k = phases - 1; s->back && k >= 0; k--, n++) {
      counts[n] = cni_schedule_phase_size(&s->schedule, k);
      which[n] = (uint8_t)k;
    }
    if (s->joint_count == 0) continue;
    counts[n] = cni_direct_islands(s->joints.direct);
    which[n++] = (uint8_t)phases;
  }
  cni_psor_run(s, n, counts, which, sweep_phase, s);
}

// ---- the answer ----

// Impulses and velocities; v afresh from g, without the sweeps' round-off. (The constraint
// velocities of the step form are the certificate's to fill.)
static CnStatus finish(CniPsor *s, CnAnswer *answer) {
  const CnProblem *p = s->p;
  if (p->form == CN_FORM_EXPLICIT) {
    if (p->row_count > 0) memcpy(answer->g, s->g, (size_t)p->row_count * sizeof *s->g);
    cni_problem_velocity(p, answer->v, answer->g, answer->u);
    return CN_OK;
  }
  if (s->joint_count > 0) cni_joints_least(&s->joints, p, s->g);
  cni_psor_restart(s);
  cni_psor_leave(s);
  cni_psor_answer(s, answer);
  return cni_psor_share_answer(s, answer);
}

// Iterations until the next check of tolerance and clock, a change of their steps, or the end.
static int32_t next_stretch(const CniPsor *s, int32_t done, int32_t wanted) {
  const CnSolverDef *def = &s->def;
  int32_t stretch = wanted - done, change = cni_psor_to_change(s, done);
  if (change < stretch) stretch = change;
  if (def->tolerance > 0 && s->p->form == CN_FORM_EXPLICIT) return 1;
  if (def->tolerance > 0 || def->time_budget > 0) {
    int32_t to_check = def->check_interval - done % def->check_interval;
    if (to_check < stretch) stretch = to_check;
  }
  return stretch < SWEEPS_PER_REGION ? stretch : SWEEPS_PER_REGION;
}

// Small explicit problems are often solved in a few sweeps: they are looked at after the first one
// and whenever the impulses have settled so far that the tolerance seems within reach.
static int is_time_to_check(const CniPsor *s, int32_t iterations) {
  if (iterations % s->def.check_interval == 0) return 1;
  if (s->p->form != CN_FORM_EXPLICIT || !(s->def.tolerance > 0)) return 0;
  return iterations == 1 || s->change <= s->check_below;
}

// A problem of joints alone is one linear system; *done: 1 if its factor is of a size to be used.
static CnStatus solve_joints(CniPsor *s, const CnProblem *p, CnAnswer *answer,
                             CnSolveReport *report, int32_t *done) {
  CNI_TRY(cni_joints_load(&s->joints, p, s->def.tasks, done));
  s->met = *done;
  if (!*done) return CN_OK;
  cni_joints_answer(&s->joints, p, s->def.tasks, 1, answer->g, answer->v);
  report->iterations = 1;
  return CN_OK;
}

CnStatus cni_psor_solve(void *state, const CnProblem *p, CnAnswer *answer, CniStepMemory *memory,
                        CnSolveReport *report) {
  CniPsor *s = state;
  const CnSolverDef *def = &s->def;
  double start = cni_seconds();
  int32_t joints = cni_joints_count(p), done = 0;
  int any = p->block_count > 0 || p->part; // other ranks may have some
  s->met = !any;
  if (joints > 0 && joints == p->block_count) CNI_TRY(solve_joints(s, p, answer, report, &done));
  if (done) return CN_OK;
  CNI_TRY(cni_psor_prepare(s, p, answer, memory));
  s->limit = 0;
  if (def->tolerance > 0 && p->form == CN_FORM_STEP)
    s->limit = def->tolerance * cni_psor_free_speed(s);
  report->seconds_setup = cni_seconds() - start;

  int32_t iterations = 0, wanted = any ? def->max_iterations : 0;
  if (s->check_first > 0 && s->limit > 0 && wanted > 0 &&
      cni_psor_good_enough(s, s->check_first * s->limit)) {
    s->met = 1;
    wanted = 0;
  }
  while (iterations < wanted) {
    int32_t stretch = next_stretch(s, iterations, wanted);
    cni_psor_change_steps(s, iterations);
    cni_psor_iterate(s, stretch);
    iterations += stretch;
    if (iterations == wanted || !is_time_to_check(s, iterations)) continue;
    if (def->tolerance > 0 && cni_psor_good_enough(s, s->limit)) {
      s->met = 1;
      break;
    }
    if (def->time_budget > 0 && cni_psor_anybody(s, cni_seconds() - start > def->time_budget)) {
      report->cut_by_time = 1;
      break;
    }
  }
  report->iterations = iterations;
  double swept = cni_seconds();
  CnStatus status = finish(s, answer);
  report->seconds_finish = cni_seconds() - swept;
  return status;
}
