// SPDX-License-Identifier: Apache-2.0
// How few sweeps a step will do with: scene G comes to rest, and what is left of motion and overlap
// is measured.
//
// Each number of sweeps is a run of its own from the start. Kinetic energy per body at the end,
// `at_rest` if that is below `energy`; the deepest overlap over the last 20 steps, `holds` if that
// is below `limit` of the radius. The runs end with the first number of sweeps that does both: the
// least one of the list.
#include <math.h>
#include <string.h>

#include "bench.h"
#include "bodies.h"
#include "pile.h"
#include "scene_g.h"

// One run; *holds is its verdict.
static int run_sweeps(const Values *values, int32_t count, int32_t sweeps, int32_t threads,
                      Report *report, int *holds) {
  double limit = value_number(values, "limit");
  PileOptions options = pile_options(value_text(values, "solver"), threads);
  Bodies bodies;
  Pile pile;
  Figures sum;
  if (!pile_scene_g(&bodies, count)) {
    fprintf(stderr, "cairn-bench: out of memory\n");
    return 0;
  }
  bodies.iterations = sweeps;
  Row *row = report_row_begin(report);
  int ok = row && value_whole(values, "steps", 1, 1e7, &bodies.step_count) &&
           pile_build(&pile, &bodies, &options);
  if (ok && !pile_run(&pile, &bodies, &sum)) {
    pile_destroy(&pile);
    ok = 0;
  }
  if (ok) {
    CnWorldSums sums;
    cn_world_sums(pile.world, &sums);
    double depth = sum.overlap.max / SCENE_G_RADIUS;
    double energy = sums.kinetic_energy / count;
    int at_rest = energy < value_number(values, "energy");
    *holds = depth < limit && at_rest;
    row_number(row, "spheres", count);
    row_number(row, "threads", threads);
    row_number(row, "sweeps", sweeps);
    pile_row(row, &pile, &sum);
    row_number(row, "kinetic_energy_per_body", energy);
    row_flag(row, "at_rest", at_rest);
    row_number(row, "penetration_radius", depth);
    row_number(row, "penetration_limit", limit);
    row_flag(row, "holds", depth < limit);
    report_row_end(report, row);
    pile_destroy(&pile);
  }
  bodies_destroy(&bodies);
  return ok;
}

static int run(const Values *values, Report *report) {
  int32_t sweeps[VALUE_LIST], sweep_count, counts[VALUE_LIST], size_count, threads;
  if (!value_list(values, "sweeps", 1, 1e6, sweeps, &sweep_count) ||
      !value_list(values, "spheres", 1, 1e7, counts, &size_count) ||
      !value_whole(values, "threads", 1, 256, &threads))
    return 0;
  for (int32_t n = 0; n < size_count; n++) {
    int holds = 0;
    for (int32_t i = 0; i < sweep_count && !holds; i++)
      if (!run_sweeps(values, counts[n], sweeps[i], threads, report, &holds)) return 0;
    if (!holds || report->row_count == 0) continue;
    Row *row = &report->rows[report->row_count - 1];
    const Field *least = row_find(row, "sweeps");
    if (least) row_number(row, "least_sweeps", least->number);
  }
  return 1;
}

static const Parameter parameters[] = {
    {"spheres", "50000", "numbers of spheres"},
    {"steps", "2000", "steps"},
    {"sweeps", "4,6,8,15,30,60,120,240", "sweeps a step, ascending: one run each until it holds"},
    {"limit", "0.002", "overlap allowed, of the radius"},
    {"energy", "1e-4", "J, kinetic energy of a body at rest"},
    {"solver", "psor", "Cairn's solver"},
    {"threads", "2", "worker threads"},
    {NULL, NULL, NULL}};
static const Column columns[] = {{"spheres", "spheres"},
                                 {"sweeps", "sweeps"},
                                 {"ms_per_step", "ms/step"},
                                 {"contacts_mean", "contacts"},
                                 {"kinetic_energy_per_body", "kinetic energy/body J"},
                                 {"penetration_radius", "depth max / R"},
                                 {"holds", "holds"},
                                 {"at_rest", "at rest"},
                                 {"least_sweeps", "least"},
                                 {NULL, NULL}};
extern const Bench bench_rest;
const Bench bench_rest = {"rest",
                          "scene G at rest: the least sweeps that hold it (2 minutes a run)",
                          parameters, columns, run};
