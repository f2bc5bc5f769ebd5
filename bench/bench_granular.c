// SPDX-License-Identifier: Apache-2.0
// Granular matter: scene G, a pile of equal spheres, engine beside engine in the same run; and the
// flow of spheres out of a box.
//
// Scene G: figures are means over the last 20 steps; the penetration is computed from positions by
// the same code for every engine, its maximum over those steps and its mean over all overlapping
// pairs in them.
//
// Flow (Tasora and Anitescu 2007: 50,000 spheres, 120 iterations, 18 s a step): scene G settles;
// then a square opening of 16 R in the wall at +x, flush with the floor, lets the spheres out.
// Spheres below z = -10 R or beyond 20 R from the wall are removed. Contacts are those within a
// fifth of the radius: then 9,000 spheres give the 100,000 constraints of the paper, and 120,000 its
// two million unknowns.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bodies.h"
#include "peer.h"
#include "pile.h"
#include "scene_g.h"

#define PAPER_SPHERES 50000
#define PAPER_SECONDS 18.0 // a step

// ---- scene G ----------------------------------------------------------------------------------

// Cairn's row, with the fastest peer's time and the ratio where there is one. The positions in
// `bodies` are changed.
static int cairn_row(const Values *values, Bodies *bodies, int32_t threads, double peer_ms,
                     Report *report) {
  PileOptions options = pile_options(value_text(values, "solver"), threads);
  Row *row = report_row_begin(report);
  Pile pile;
  Figures sum;
  if (!row || !pile_build(&pile, bodies, &options)) return 0;
  int ok = pile_run(&pile, bodies, &sum);
  if (ok) {
    row_text(row, "scene", "pile");
    row_text(row, "engine", "cairn");
    row_number(row, "spheres", bodies->sphere_count);
    row_text(row, "solver", options.solver);
    row_number(row, "threads", threads);
    pile_row(row, &pile, &sum);
    if (isfinite(peer_ms)) {
      row_number(row, "peer_ms_per_step", peer_ms);
      row_number(row, "ratio", 1e3 * sum.seconds / sum.step_count / peer_ms);
    }
    report_row_end(report, row);
  }
  pile_destroy(&pile);
  return ok;
}

static int read_counts(const Values *values, Bodies *bodies) {
  return value_whole(values, "steps", 1, 1e6, &bodies->step_count) &&
         value_whole(values, "iterations", 1, 1e6, &bodies->iterations);
}

static int out_of_memory(void) {
  fprintf(stderr, "cairn-bench: out of memory\n");
  return 0;
}

static int run_pile(const Values *values, int32_t count, Report *report) {
  static const char *const peers[] = {"ode", "bullet"};
  int32_t threads[VALUE_LIST], thread_count;
  if (!value_list(values, "threads", 1, 256, threads, &thread_count)) return 0;
  Bodies bodies;
  double peer_ms = NAN;
  if (!pile_scene_g(&bodies, count)) return out_of_memory();
  int ok = read_counts(values, &bodies);
  for (size_t i = 0; ok && i < 2; i++) {
    double ms;
    if (strcmp(value_text(values, "peers"), "none") == 0) break;
    ok = peer_row(report, values->directory, peers[i], &bodies, &ms);
    peer_ms = fmin(peer_ms, ms);
  }
  for (int32_t i = 0; ok && i < thread_count; i++) {
    bodies_destroy(&bodies);
    if (!pile_scene_g(&bodies, count)) return out_of_memory();
    ok = read_counts(values, &bodies) && cairn_row(values, &bodies, threads[i], peer_ms, report);
  }
  bodies_destroy(&bodies);
  return ok;
}

// ---- flow out of a box ------------------------------------------------------------------------

typedef struct Settled {
  void *data; // a snapshot
  size_t size;
} Settled;

// In place of the wall at +x three blocks that leave the opening free.
static CnStatus open_wall(Pile *pile, double side) {
  const double r = SCENE_G_RADIUS, half = 8 * r, thick = r, high = 50 * r + side;
  const int32_t wall = 2; // floor, -x, +x
  CnStatus status = cn_shape_destroy(pile->world, cn_body_shape(pile->world, pile->ground, wall));
  double beside = 0.25 * side + 0.5 * half;
  const double blocks[3][4] = {// y and z of the centre, half sizes
                               {-beside, high, 0.25 * side - 0.5 * half, high},
                               {beside, high, 0.25 * side - 0.5 * half, high},
                               {0, 2 * half + high, half, high}};
  for (int32_t i = 0; status == CN_OK && i < 3; i++) {
    CnShapeDef def = cn_shape_def_default(CN_SHAPE_BOX);
    CnShapeId id;
    if (!(blocks[i][2] > 0)) continue;
    def.pose.position = (CnVec3){0.5 * side + thick, blocks[i][0], blocks[i][1]};
    def.half_size = (CnVec3){thick, blocks[i][2], blocks[i][3]};
    def.material = pile->material;
    status = cn_shape_create(pile->world, pile->ground, &def, &id);
  }
  return status;
}

// Remove the spheres that are out; answers how many.
static int32_t remove_gone(Pile *pile, double side) {
  int32_t gone = 0;
  for (int32_t i = 0; i < pile->sphere_count; i++) {
    CnPose pose;
    if (cn_body_pose(pile->world, pile->ids[i], &pose) != CN_OK) continue;
    if (pose.position.z >= -10 * SCENE_G_RADIUS &&
        pose.position.x <= 0.5 * side + 20 * SCENE_G_RADIUS)
      continue;
    gone += cn_body_destroy(pile->world, pile->ids[i]) == CN_OK;
  }
  return gone;
}

static int flow_steps(Pile *pile, double side, int32_t steps, Figures *sum, int32_t *gone) {
  memset(sum, 0, sizeof *sum);
  *gone = 0;
  for (int32_t i = 0; i < steps; i++) {
    if (!pile_step(pile, sum)) return 0;
    *gone += remove_gone(pile, side);
  }
  return 1;
}

static PileOptions flow_options(const Values *values, int32_t threads) {
  PileOptions options = pile_options(value_text(values, "solver"), threads);
  options.contact_margin = 0.2 * SCENE_G_RADIUS;
  return options;
}

// The box full of spheres at rest, from a snapshot so that it settles only once.
static int flow_row(const Values *values, const Bodies *bodies, const Settled *settled,
                    int32_t threads, Report *report) {
  int32_t steps, gone, n = bodies->sphere_count;
  double side = scene_g_side(n);
  if (!value_whole(values, "flow_steps", 1, 1e6, &steps)) return 0;
  PileOptions options = flow_options(values, threads);
  Pile pile;
  Figures sum;
  if (!pile_build(&pile, bodies, &options)) return 0;
  int ok = cn_world_restore(pile.world, settled->data, settled->size) == CN_OK &&
           open_wall(&pile, side) == CN_OK;
  Row *row = ok ? report_row_begin(report) : NULL;
  CnPenetration depth = {0, 0, 0};
  ok = row && flow_steps(&pile, side, steps, &sum, &gone) &&
       cn_world_penetration(pile.world, &depth) == CN_OK;
  if (ok) {
    double contacts = sum.contacts / sum.step_count;
    row_text(row, "scene", "flow");
    row_text(row, "engine", "cairn");
    row_number(row, "spheres", n);
    row_text(row, "solver", options.solver);
    row_number(row, "threads", threads);
    pile_row(row, &pile, &sum);
    row_number(row, "unknowns", 6.0 * n + 3 * contacts);
    row_number(row, "seconds_per_step", sum.seconds / sum.step_count);
    row_number(row, "penetration_max", depth.max);
    row_number(row, "penetration_mean", depth.mean);
    row_number(row, "penetration_radius", depth.max / SCENE_G_RADIUS);
    row_number(row, "removed", gone);
    if (n == PAPER_SPHERES) {
      row_number(row, "paper_seconds_per_step", PAPER_SECONDS);
      row_number(row, "paper_penetration_radius", 0.002);
      row_number(row, "ratio", sum.seconds / sum.step_count / PAPER_SECONDS);
    }
    report_row_end(report, row);
  }
  pile_destroy(&pile);
  return ok;
}

static int settle_box(const Values *values, const Bodies *bodies, int32_t threads,
                      Settled *settled) {
  PileOptions options = flow_options(values, threads);
  double seconds = value_number(values, "settle");
  Pile pile;
  *settled = (Settled){NULL, 0};
  if (!pile_build(&pile, bodies, &options)) return 0;
  int ok = pile_steps(&pile, (int32_t)(seconds / bodies->time_step), NULL) &&
           cn_world_save(pile.world, NULL, 0, &settled->size) == CN_OK &&
           (settled->data = malloc(settled->size)) != NULL &&
           cn_world_save(pile.world, settled->data, settled->size, &settled->size) == CN_OK;
  pile_destroy(&pile);
  return ok;
}

static int run_flow(const Values *values, int32_t count, Report *report) {
  int32_t threads[VALUE_LIST], thread_count, most = 1;
  Bodies bodies;
  Settled settled;
  if (count == 0) return 1;
  if (!value_list(values, "threads", 1, 256, threads, &thread_count)) return 0;
  for (int32_t i = 0; i < thread_count; i++) most = threads[i] > most ? threads[i] : most;
  if (!pile_scene_g(&bodies, count)) return out_of_memory();
  int ok = value_whole(values, "iterations", 1, 1e6, &bodies.iterations) &&
           settle_box(values, &bodies, most, &settled);
  for (int32_t i = 0; ok && i < thread_count; i++)
    ok = flow_row(values, &bodies, &settled, threads[i], report);
  if (ok) free(settled.data);
  bodies_destroy(&bodies);
  return ok;
}

// ---- the benchmark ----------------------------------------------------------------------------

static int run(const Values *values, Report *report) {
  int32_t counts[VALUE_LIST], piles, flows[VALUE_LIST], flow_count;
  if (!value_list(values, "spheres", 0, 1e7, counts, &piles) ||
      !value_list(values, "flow", 0, 1e7, flows, &flow_count))
    return 0;
  for (int32_t i = 0; i < piles; i++)
    if (counts[i] > 0 && !run_pile(values, counts[i], report)) return 0;
  for (int32_t i = 0; i < flow_count; i++)
    if (!run_flow(values, flows[i], report)) return 0;
  return 1;
}

static const Parameter parameters[] = {
    {"spheres", "1000,8000", "numbers of spheres in the pile, 0: none"},
    {"steps", "200", "steps of the pile, the last 20 of which are measured"},
    {"iterations", "120", "sweeps of the solver in each step"},
    {"solver", "psor", "Cairn's solver"},
    {"threads", "1,2", "Cairn's worker threads"},
    {"peers", "all", "all, or none to run Cairn alone"},
    {"flow", "0",
     "spheres that flow out of a box, 0: none (the paper: 9000,50000,120000: 10 minutes)"},
    {"settle", "3", "seconds before the box is opened"},
    {"flow_steps", "20", "steps after it, all measured"},
    {NULL, NULL, NULL}};
static const Column columns[] = {{"engine", "engine"},
                                 {"scene", "scene"},
                                 {"spheres", "spheres"},
                                 {"threads", "threads"},
                                 {"ms_per_step", "ms/step"},
                                 {"ms_collision", "collision"},
                                 {"contacts_mean", "contacts"},
                                 {"ns_per_contact_iteration", "ns/contact/iteration"},
                                 {"setup_sweeps", "set-up in sweeps"},
                                 {"rest_sweeps", "all but sweeps in sweeps"},
                                 {"penetration_max", "depth max m"},
                                 {"penetration_mean", "mean m"},
                                 {"residual_mean", "residual"},
                                 {"paper_seconds_per_step", "paper s/step"},
                                 {"ratio", "ratio"},
                                 {"status", "status"},
                                 {NULL, NULL}};
extern const Bench bench_granular;
const Bench bench_granular = {
    "granular", "scene G, a pile of equal spheres beside other engines; flow out of a box",
    parameters, columns, run};
