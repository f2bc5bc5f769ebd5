// SPDX-License-Identifier: Apache-2.0
// What ranks cost: scene G by one process and by ranks as threads, the same steps from the same state, in processor
// time, which a busy machine does not change. A step with all sweeps less one with a single sweep is the sweeps.
//
// `sum` is all ranks together over one process: 1 would be free. `longest` is the rank that the others wait for:
// of the sweeps alone, then of the whole step, over one process; its inverse is the speed-up that as many processors
// give. Borders and waiting are in it, the network is not. `bytes` is the most memory of a rank, a sphere of the whole
// scene, over the steps from its beginning. `same` says whether the hash is that of one process.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cairn/ranks.h>
#include <cairn/state.h>
#include <cairn/world.h>

#include "bench.h"
#include "pile.h"
#include "scene_g.h"

#define MOST_RANKS 64

static double processor(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Where all begin.
typedef struct Start {
  int32_t spheres, settle, steps, iterations, timed;
  void *snapshot;
  size_t size;
} Start;

typedef struct Member {
  pthread_t thread;
  CnRanks *ranks;
  const Start *start;
  double seconds[2]; // a step with one sweep, with all
  double bytes;
  uint64_t hash;
  CnStatus status;
  char message[256];
} Member;

// The fastest of some steps, each from the start.
static CnStatus time_steps(Member *m, CnWorld *world, int32_t iterations, double *best) {
  CnWorldDef def;
  CnStatus status = cn_world_restore(world, m->start->snapshot, m->start->size);
  if (status == CN_OK) status = cn_world_settings(world, &def);
  def.ranks = m->ranks;
  def.solver.max_iterations = iterations;
  if (status == CN_OK) status = cn_world_set_settings(world, &def);
  *best = 1e99;
  for (int32_t i = 0; i < m->start->steps && status == CN_OK; i++) {
    double start = processor();
    status = cn_world_step(world, NULL);
    double took = processor() - start;
    if (took < *best) *best = took;
  }
  m->hash = cn_world_hash(world);
  return status;
}

// A world of its own, from the beginning: one that was restored has held its contacts in full.
static CnStatus weigh(Member *m) {
  Bodies bodies;
  Pile pile;
  CnWorldDef def;
  CnWorldInfo info;
  PileOptions options = pile_options("psor", 1);
  if (!pile_scene_g(&bodies, m->start->spheres)) return CN_NO_MEMORY;
  bodies.iterations = 20;
  if (!pile_build(&pile, &bodies, &options)) return CN_NO_MEMORY;
  CnStatus status = cn_world_settings(pile.world, &def);
  bodies_destroy(&bodies);
  def.ranks = m->ranks;
  if (status == CN_OK) status = cn_world_set_settings(pile.world, &def);
  for (int32_t i = 0; i < m->start->settle && status == CN_OK; i++)
    status = cn_world_step(pile.world, NULL);
  cn_world_info(pile.world, &info);
  m->bytes = (double)info.memory_peak_bytes / m->start->spheres;
  if (!m->start->timed) m->hash = cn_world_hash(pile.world);
  pile_destroy(&pile);
  return status;
}

static void *run_member(void *context) {
  Member *m = context;
  CnWorld *world = NULL;
  CnWorldDef def = cn_world_def_default();
  def.solver = cn_solver_def_default("psor");
  def.ranks = m->ranks;
  m->status = cn_world_create(&def, &world);
  const int32_t iterations[2] = {1, m->start->iterations};
  for (int32_t k = 0; k < 2 && m->status == CN_OK && m->start->timed; k++)
    m->status = time_steps(m, world, iterations[k], &m->seconds[k]);
  if (m->status == CN_OK) m->status = weigh(m);
  if (m->status != CN_OK) snprintf(m->message, sizeof m->message, "%s", cn_error_message());
  cn_world_destroy(world);
  cn_ranks_destroy(m->ranks);
  return NULL;
}

static int run_ranks(const Start *start, int32_t count, Member *members) {
  CnRanks *ranks[MOST_RANKS];
  if (cn_ranks_create_threads(count, NULL, ranks) != CN_OK) return 0;
  for (int32_t i = 0; i < count; i++) {
    members[i] = (Member){.ranks = ranks[i], .start = start};
    if (pthread_create(&members[i].thread, NULL, run_member, &members[i]) != 0) abort();
  }
  for (int32_t i = 0; i < count; i++) pthread_join(members[i].thread, NULL);
  for (int32_t i = 0; i < count; i++) {
    if (members[i].status == CN_OK) continue;
    fprintf(stderr, "cairn-bench: ranks: %s\n", members[i].message);
    return 0;
  }
  return 1;
}

static double larger(double a, double b) { return a > b ? a : b; }

static void add_row(Report *report, const Start *start, int32_t count, const Member *members,
                    const Member *one) {
  Row *row = report_row_begin(report);
  double sweeps = 0, longest = 0, step = 0, bytes = 0, alone = one->seconds[1] - one->seconds[0];
  for (int32_t i = 0; i < count; i++) {
    double own = members[i].seconds[1] - members[i].seconds[0];
    sweeps += own;
    longest = larger(longest, own);
    step = larger(step, members[i].seconds[1]);
    bytes = larger(bytes, members[i].bytes);
  }
  if (!row) return;
  row_number(row, "spheres", start->spheres);
  row_number(row, "ranks", count);
  row_number(row, "ms_sweep", 1e3 * longest / (start->iterations - 1));
  row_number(row, "sum", sweeps / alone);
  row_number(row, "longest_sweeps", longest / alone);
  row_number(row, "longest_step", step / one->seconds[1]);
  row_number(row, "bytes", bytes);
  int same = members[0].hash == (start->timed ? one : &members[count - 1])->hash;
  row_text(row, "same", same ? "yes" : "no");
  report_row_end(report, row);
}

// Scene G after so many steps.
static int begin(Start *start) {
  Bodies bodies;
  Pile pile;
  PileOptions options = pile_options("psor", 1);
  if (!pile_scene_g(&bodies, start->spheres)) return 0;
  bodies.iterations = 20;
  if (!pile_build(&pile, &bodies, &options)) return 0;
  int ok = pile_steps(&pile, start->settle, NULL) &&
           cn_world_save(pile.world, NULL, 0, &start->size) == CN_OK &&
           (start->snapshot = malloc(start->size)) != NULL &&
           cn_world_save(pile.world, start->snapshot, start->size, &start->size) == CN_OK;
  pile_destroy(&pile);
  bodies_destroy(&bodies);
  return ok;
}

static int run(const Values *values, Report *report) {
  int32_t spheres[VALUE_LIST], ranks[VALUE_LIST], count, rank_count;
  static Member one[1], members[MOST_RANKS];
  Start start = {.spheres = 0};
  if (!value_list(values, "spheres", 100, 1e8, spheres, &count) ||
      !value_list(values, "ranks", 2, MOST_RANKS, ranks, &rank_count) ||
      !value_whole(values, "settle", 1, 1000000, &start.settle) ||
      !value_whole(values, "steps", 1, 1000, &start.steps) ||
      !value_whole(values, "iterations", 2, 100000, &start.iterations) ||
      !value_whole(values, "timed", 0, 1, &start.timed))
    return 0;
  for (int32_t i = 0; i < count; i++) {
    start.spheres = spheres[i];
    int ok = !start.timed || (begin(&start) && run_ranks(&start, 1, one));
    if (ok && start.timed) add_row(report, &start, 1, one, one);
    for (int32_t k = 0; k < rank_count && ok; k++) {
      ok = run_ranks(&start, ranks[k], members);
      if (ok) add_row(report, &start, ranks[k], members, one);
    }
    free(start.snapshot);
    start.snapshot = NULL;
    if (!ok) return 0;
  }
  return 1;
}

static const Parameter parameters[] = {{"spheres", "27000,216000", "numbers of spheres"},
                                       {"ranks", "2,4", "as threads"},
                                       {"settle", "12", "steps before, with 20 sweeps"},
                                       {"steps", "3", "of which the fastest counts"},
                                       {"iterations", "120", "sweeps of a step"},
                                       {"timed", "1", "0: memory alone, without one process"},
                                       {NULL, NULL, NULL}};
static const Column columns[] = {{"spheres", "spheres"},
                                 {"ranks", "ranks"},
                                 {"ms_sweep", "ms/sweep"},
                                 {"sum", "sum"},
                                 {"longest_sweeps", "longest, sweeps"},
                                 {"longest_step", "longest, step"},
                                 {"bytes", "bytes a sphere"},
                                 {"same", "same"},
                                 {NULL, NULL}};
extern const Bench bench_ranks;
const Bench bench_ranks = {"ranks", "several ranks beside one process, processor time (4 minutes)",
                           parameters, columns, run};
