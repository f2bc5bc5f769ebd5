// SPDX-License-Identifier: Apache-2.0
// How many workers and ranks a pile has work for: the columns of its sweep, and what as many workers as asked for
// would make of them. No clock: the cost of a column is the number of its batches, a worker takes the next
// column when it is free, and a colour ends with its last column. `efficiency` is the work over workers times the
// longest. Of ranks it is the fullest one over the mean, each with its slabs.
#include <stdlib.h>
#include <string.h>

#include <cairn/world.h>

#include "bench.h"
#include "pile.h"
#include "problem/problem.h"
#include "scene_g.h"

#define MOST_WORKERS 1024

// The time of a colour by some workers, in batches.
static double colour_time(const CniSchedule *s, int32_t phase, int32_t workers, double *work) {
  double busy[MOST_WORKERS] = {0}, longest = 0;
  for (int32_t i = 0; i < cni_schedule_phase_size(s, phase); i++) {
    int32_t column = cni_schedule_column(s, phase, i), free = 0;
    double cost = s->start[column + 1] - s->start[column];
    for (int32_t k = 1; k < workers; k++)
      if (busy[k] < busy[free]) free = k;
    busy[free] += cost;
    *work += cost;
    if (busy[free] > longest) longest = busy[free];
  }
  return longest;
}

static double efficiency(const CniSchedule *s, int32_t workers) {
  double time = 0, work = 0;
  for (int32_t phase = 0; phase < s->phase_count; phase++)
    time += colour_time(s, phase, workers, &work);
  return time > 0 ? work / (workers * time) : 1;
}

// Parts that can be swept at once, in the colour that has the fewest.
static int32_t parts(const CniSchedule *s) {
  int32_t least = s->column_count;
  for (int32_t phase = 0; phase + (s->phase_count > 1) < s->phase_count; phase++)
    if (cni_schedule_phase_size(s, phase) < least) least = cni_schedule_phase_size(s, phase);
  return least;
}

static double fullest(const CniSchedule *s) {
  int32_t most = 0, all = s->start[s->column_count];
  for (int32_t i = 0; i < s->column_count; i++)
    if (s->start[i + 1] - s->start[i] > most) most = s->start[i + 1] - s->start[i];
  return all > 0 ? (double)most * s->column_count / all : 1;
}

static CnStatus add_row(Report *report, CnWorld *world, int32_t spheres, int32_t workers) {
  CnProblem *p;
  CnAllocator allocator = cn_allocator_default();
  CniSchedule s;
  const CniBatchRule rule = {CNI_BATCH_LANES, 1};
  CnStatus status = cn_world_problem(world, &p, NULL);
  if (status != CN_OK) return status;
  uint8_t *kinds = calloc((size_t)p->block_count + 1, 1);
  Row *row = report_row_begin(report);
  cni_schedule_init(&s, &allocator);
  if (!kinds || !row) status = CN_NO_MEMORY;
  if (status == CN_OK) status = cni_schedule_make(&s, p, kinds, &rule, NULL);
  if (status == CN_OK) {
    row_number(row, "spheres", spheres);
    row_number(row, "contacts", p->block_count);
    row_number(row, "slabs", s.cuts.slabs);
    row_number(row, "rows", s.cuts.rows);
    row_number(row, "at_once", parts(&s));
    row_number(row, "fullest", fullest(&s));
    row_number(row, "rest",
               (double)(s.unit_start[s.column_count + 1] - s.unit_start[s.column_count]));
    row_number(row, "workers", workers);
    row_number(row, "efficiency", efficiency(&s, workers));
    row_number(row, "ranks", s.cuts.slabs / 2);
    report_row_end(report, row);
  }
  cni_schedule_release(&s);
  free(kinds);
  return status;
}

static int run(const Values *values, Report *report) {
  int32_t spheres[VALUE_LIST], workers[VALUE_LIST], count, worker_count, steps;
  if (!value_list(values, "spheres", 100, 1e8, spheres, &count) ||
      !value_list(values, "workers", 1, MOST_WORKERS, workers, &worker_count) ||
      !value_whole(values, "steps", 1, 1000000, &steps))
    return 0;
  for (int32_t i = 0; i < count; i++) {
    Bodies bodies;
    Pile pile;
    PileOptions options = pile_options("psor", 1);
    if (!pile_scene_g(&bodies, spheres[i])) return 0;
    bodies.iterations = 20;
    if (!pile_build(&pile, &bodies, &options)) return 0;
    CnStatus status = pile_steps(&pile, steps, NULL) ? CN_OK : CN_STOPPED;
    for (int32_t k = 0; k < worker_count && status == CN_OK; k++)
      status = add_row(report, pile.world, spheres[i], workers[k]);
    pile_destroy(&pile);
    bodies_destroy(&bodies);
    if (status == CN_OK) continue;
    fprintf(stderr, "cairn-bench: columns: %s\n", cn_error_message());
    return 0;
  }
  return 1;
}

static const Parameter parameters[] = {
    {"spheres", "8000,27000,216000", "numbers of spheres"},
    {"workers", "2,4,16", "threads"},
    {"steps", "60", "before the look: spheres begin apart and fall"},
    {NULL, NULL, NULL}};
static const Column columns[] = {{"spheres", "spheres"},
                                 {"contacts", "contacts"},
                                 {"slabs", "slabs"},
                                 {"rows", "rows"},
                                 {"at_once", "at once"},
                                 {"fullest", "fullest"},
                                 {"rest", "rest"},
                                 {"workers", "workers"},
                                 {"efficiency", "efficiency"},
                                 {"ranks", "ranks"},
                                 {NULL, NULL}};
extern const Bench bench_columns;
const Bench bench_columns = {"columns", "work for many workers and ranks, counted (2 minutes)",
                             parameters, columns, run};
