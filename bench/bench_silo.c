// SPDX-License-Identifier: Apache-2.0
// A silo: the walls carry the weight of a tall filling (Janssen 1895).
//
// Spheres of scene G in a square shaft of side 16 R, filled 2, 4 and 8 sides high, mu .4 among
// themselves and with the walls. When they are at rest the force on the floor is summed over its
// contacts, mean over the last `mean` seconds. Without friction it would be the whole weight; with
// it, from 4 to 8 sides it should rise by less than 20 % of the added weight.
#include <math.h>
#include <string.h>

#include "bench.h"
#include "bodies.h"
#include "pile.h"
#include "scene_g.h"

#define PI 3.14159265358979323846

// Force on the floor (the first shape of the ground) now, N.
static double floor_force(const Pile *pile) {
  CnShapeId floor = cn_body_shape(pile->world, pile->ground, 0);
  CnWorldInfo info;
  cn_world_info(pile->world, &info);
  double sum = 0;
  for (int32_t i = 0; i < info.contact_count; i++) {
    CnContact c;
    if (cn_world_contact(pile->world, i, &c) != CN_OK) continue;
    if (c.shape_a.slot == floor.slot) sum += c.force.z;
    if (c.shape_b.slot == floor.slot) sum -= c.force.z;
  }
  return sum;
}

typedef struct Filling {
  double weight, force; // N
} Filling;

static int run_filling(const Values *values, int32_t sides, int32_t threads, Filling *filling,
                       Row *row) {
  const double r = SCENE_G_RADIUS, side = 16 * r;
  double seconds = value_number(values, "seconds"), mean = value_number(values, "mean");
  double volume = 4.0 / 3.0 * PI * r * r * r;
  int32_t count = (int32_t)(0.60 * sides * side * side * side / volume);
  Bodies bodies;
  if (!pile_lattice(&bodies, count, r, SCENE_G_DENSITY, side)) return 0;
  PileOptions options = pile_options(value_text(values, "solver"), threads);
  Pile pile;
  Figures sum;
  memset(&sum, 0, sizeof sum);
  int ok = value_whole(values, "iterations", 1, 1e6, &bodies.iterations) &&
           pile_build(&pile, &bodies, &options);
  double h = bodies.time_step;
  bodies_destroy(&bodies);
  if (!ok) return 0;
  int32_t last = (int32_t)(mean / h) + 1;
  ok = pile_steps(&pile, (int32_t)(seconds / h), NULL);
  double force = 0;
  for (int32_t i = 0; ok && i < last; i++) {
    ok = pile_step(&pile, &sum);
    force += floor_force(&pile) / last;
  }
  CnWorldSums sums;
  CnPenetration depth;
  cn_world_sums(pile.world, &sums);
  ok = ok && cn_world_penetration(pile.world, &depth) == CN_OK;
  if (ok) {
    *filling = (Filling){sums.mass * SCENE_G_GRAVITY, force};
    row_number(row, "sides", sides);
    row_number(row, "spheres", count);
    row_number(row, "threads", threads);
    pile_row(row, &pile, &sum);
    row_number(row, "penetration_max", depth.max);
    row_number(row, "weight", filling->weight);
    row_number(row, "floor_force", force);
    row_number(row, "carried_by_floor", force / filling->weight);
    row_number(row, "kinetic_energy", sums.kinetic_energy);
  }
  pile_destroy(&pile);
  return ok;
}

static int run(const Values *values, Report *report) {
  int32_t sides[VALUE_LIST], count, threads;
  if (!value_list(values, "sides", 1, 100, sides, &count) ||
      !value_whole(values, "threads", 1, 256, &threads))
    return 0;
  Filling before = {0, 0};
  for (int32_t i = 0; i < count; i++) {
    Filling filling;
    Row *row = report_row_begin(report);
    if (!row || !run_filling(values, sides[i], threads, &filling, row)) return 0;
    if (i > 0)
      row_number(row, "rise", (filling.force - before.force) / (filling.weight - before.weight));
    before = filling;
    report_row_end(report, row);
  }
  return 1;
}

static const Parameter parameters[] = {
    {"sides", "2,4,8", "heights of the filling over the side of the shaft"},
    {"seconds", "8", "seconds to come to rest"},
    {"mean", "0.5", "seconds over which the force is measured"},
    {"iterations", "120", "sweeps of the solver in each step"},
    {"solver", "psor", "Cairn's solver"},
    {"threads", "2", "worker threads: the grains do not see them"},
    {NULL, NULL, NULL}};
static const Column columns[] = {{"sides", "sides"},
                                 {"spheres", "spheres"},
                                 {"weight", "weight N"},
                                 {"floor_force", "on the floor N"},
                                 {"carried_by_floor", "share"},
                                 {"rise", "rise / added weight"},
                                 {"kinetic_energy", "kinetic energy J"},
                                 {"ms_per_step", "ms/step"},
                                 {"penetration_max", "depth max m"},
                                 {NULL, NULL}};
extern const Bench bench_silo;
const Bench bench_silo = {"silo", "weight on the floor of a tall filling (10 minutes)", parameters,
                          columns, run};
