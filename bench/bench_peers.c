// SPDX-License-Identifier: Apache-2.0
// Scene G in Cairn, ODE and Bullet in the same run: by how much Cairn is faster, per contact and
// iteration, per step and in collision, and how deep things overlap.
//
// Peers are slower in no row that counts for them: a ratio is the fastest peer's time over Cairn's,
// once among the peers that compute in double precision as Cairn does, and once (`_single`) for
// Bullet in single precision, which has half the numbers to move and twice the lanes.
// The overlapping pairs at the end are found twice, by Cairn and by a plain search over the
// positions; the sum of their depths and the deepest must be the same to 1e-9, which a pair missed
// or taken twice would change. (Their numbers are printed and may differ by pairs that touch to
// round-off, whose gap has either sign.)
#include <math.h>
#include <string.h>

#include "bench.h"
#include "bodies.h"
#include "peer.h"
#include "pile.h"

// The best of the peers in each figure.
typedef struct Best {
  double step, collision, relaxation, depth_max, depth_mean;
} Best;

// Those in double precision, and those in single.
typedef struct Bests {
  Best same, single;
} Bests;

static const struct {
  const char *name;
  int is_single;
} peers[] = {{"ode", 0}, {"bullet64", 0}, {"bullet", 1}};

static double smaller(const Row *row, const char *key, double best) {
  const Field *field = row_find(row, key);
  return field ? fmin(best, field->number) : best;
}

static void better(const Row *row, Best *best) {
  best->step = smaller(row, "ms_per_step", best->step);
  best->collision = smaller(row, "ms_collision", best->collision);
  best->relaxation = smaller(row, "ns_per_contact_iteration", best->relaxation);
  best->depth_max = smaller(row, "penetration_max", best->depth_max);
  best->depth_mean = smaller(row, "penetration_mean", best->depth_mean);
}

static int peer_rows(const Values *values, const Bodies *bodies, Report *report, Bests *bests) {
  for (size_t i = 0; i < sizeof peers / sizeof peers[0]; i++) {
    double ms;
    if (!peer_row(report, values->directory, peers[i].name, bodies, &ms)) return 0;
    const Row *row = &report->rows[report->row_count - 1];
    better(row, peers[i].is_single ? &bests->single : &bests->same);
  }
  return 1;
}

static void ratio(Row *row, const char *key, double peer, double own) {
  if (isfinite(peer) && own > 0) row_number(row, key, peer / own);
}

static void ratios(Row *row, const Bests *bests, const Figures *sum) {
  const Best *same = &bests->same, *single = &bests->single;
  double n = sum->step_count, step = 1e3 * sum->seconds / n, collision = 1e3 * sum->collision / n;
  double relaxation = pile_ns_per_contact(sum);
  double depth_mean = sum->overlap.sum / (double)sum->overlap.count;
  ratio(row, "faster_step", same->step, step);
  ratio(row, "faster_collision", same->collision, collision);
  ratio(row, "faster_relaxation", same->relaxation, relaxation);
  ratio(row, "flatter_max", same->depth_max, sum->overlap.max);
  ratio(row, "flatter_mean", same->depth_mean, depth_mean);
  ratio(row, "faster_step_single", single->step, step);
  ratio(row, "faster_collision_single", single->collision, collision);
  ratio(row, "faster_relaxation_single", single->relaxation, relaxation);
  ratio(row, "flatter_max_single", single->depth_max, sum->overlap.max);
  ratio(row, "flatter_mean_single", single->depth_mean, depth_mean);
}

static int same_pairs(const Overlap *plain, const CnPenetration *own) {
  double sum = own->mean * own->overlap_count;
  return fabs(sum - plain->sum) <= 1e-9 * plain->sum &&
         fabs(own->max - plain->max) <= 1e-9 * plain->max;
}

static int cairn_row(const Values *values, Bodies *bodies, int32_t threads, const Bests *bests,
                     Report *report) {
  PileOptions options = pile_options(value_text(values, "solver"), threads);
  Row *row = report_row_begin(report);
  Pile pile;
  Figures sum;
  if (!row || !pile_build(&pile, bodies, &options)) return 0;
  CnPenetration depth;
  Overlap plain = {0, 0, 0};
  int ok = pile_run(&pile, bodies, &sum) && overlap_add(bodies, &plain) &&
           cn_world_penetration(pile.world, &depth) == CN_OK;
  if (ok) {
    row_text(row, "engine", "cairn");
    row_number(row, "spheres", bodies->sphere_count);
    row_number(row, "threads", threads);
    pile_row(row, &pile, &sum);
    ratios(row, bests, &sum);
    row_number(row, "overlaps", depth.overlap_count);
    row_number(row, "overlaps_plain", (double)plain.count);
    row_flag(row, "same_pairs", same_pairs(&plain, &depth));
    report_row_end(report, row);
  }
  pile_destroy(&pile);
  return ok;
}

static int run_size(const Values *values, int32_t count, Report *report) {
  int32_t threads[VALUE_LIST], thread_count, ok = 1;
  if (!value_list(values, "threads", 1, 256, threads, &thread_count)) return 0;
  Best none = {NAN, NAN, NAN, NAN, NAN};
  Bests bests = {none, none};
  for (int32_t i = -1; ok && i < thread_count; i++) {
    Bodies bodies;
    if (!pile_scene_g(&bodies, count)) {
      fprintf(stderr, "cairn-bench: out of memory\n");
      return 0;
    }
    ok = value_whole(values, "steps", 1, 1e6, &bodies.step_count) &&
         value_whole(values, "iterations", 1, 1e6, &bodies.iterations);
    if (ok && i < 0) ok = peer_rows(values, &bodies, report, &bests);
    if (ok && i >= 0) ok = cairn_row(values, &bodies, threads[i], &bests, report);
    bodies_destroy(&bodies);
  }
  return ok;
}

static int run(const Values *values, Report *report) {
  int32_t counts[VALUE_LIST], size_count;
  if (!value_list(values, "spheres", 1, 1e7, counts, &size_count)) return 0;
  for (int32_t i = 0; i < size_count; i++)
    if (!run_size(values, counts[i], report)) return 0;
  return 1;
}

static const Parameter parameters[] = {{"spheres", "1000,8000", "numbers of spheres"},
                                       {"steps", "200", "steps, the last 20 of which are measured"},
                                       {"iterations", "120", "sweeps of the solver in each step"},
                                       {"solver", "psor", "Cairn's solver"},
                                       {"threads", "1,2", "Cairn's worker threads"},
                                       {NULL, NULL, NULL}};
static const Column columns[] = {{"engine", "engine"},
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
                                 {"faster_step", "step x"},
                                 {"faster_relaxation", "contact x"},
                                 {"faster_collision", "collision x"},
                                 {"flatter_max", "depth x"},
                                 {"faster_step_single", "step x (single)"},
                                 {"faster_relaxation_single", "contact x (single)"},
                                 {"same_pairs", "same pairs"},
                                 {"status", "status"},
                                 {NULL, NULL}};
extern const Bench bench_peers;
const Bench bench_peers = {"peers", "scene G beside ODE and Bullet, with ratios (9 minutes)",
                           parameters, columns, run};
