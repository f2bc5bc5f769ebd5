// SPDX-License-Identifier: Apache-2.0
// A shaker of steel spheres (the paper of 2006: about 6,500 unilateral constraints, time and memory
// linear in their number).
//
// Spheres of R = 1 cm, 7800 kg/m^3, mu .2, in a box filled to 60 % of a cube, h = 1 ms. They settle
// for a second; then floor and walls move as x(t) = 1 cm sin(2 pi 4 t). Contacts are those within a
// tenth of the radius. Cost and bytes per contact should not depend on the number of spheres.
#include <cairn/numbers.h>
#include <math.h>
#include <string.h>

#include "bench.h"
#include "bodies.h"
#include "pile.h"

#define PI 3.14159265358979323846

#define RADIUS 0.01
#define STROKE 0.01
#define HERTZ 4.0
#define PAPER_SPHERES 2000
#define PAPER_CONTACTS 6500.0

typedef struct Shaker {
  CnBodyId box;
  double start; // s, when it begins to move; infinite: not yet
} Shaker;

// The box gets the velocity that takes it where it should be at the end of the step.
static void shake(void *context, CnWorld *world, double time, double time_step) {
  const Shaker *shaker = context;
  CnTwist twist;
  memset(&twist, 0, sizeof twist);
  if (time >= shaker->start) {
    double t = time - shaker->start, w = 2 * PI * HERTZ;
    twist.velocity.x = STROKE * (cn_sin(w * (t + time_step)) - cn_sin(w * t)) / time_step;
  }
  cn_body_set_twist(world, shaker->box, &twist);
}

static int run_size(const Values *values, int32_t count, int32_t threads, double first[2],
                    Report *report) {
  double settle = value_number(values, "settle"), seconds = value_number(values, "seconds");
  Bodies bodies;
  double side = cn_cbrt(count * (4.0 / 3.0 * PI * RADIUS * RADIUS * RADIUS) / 0.60);
  if (!pile_lattice(&bodies, count, RADIUS, 7800, side)) {
    fprintf(stderr, "cairn-bench: out of memory\n");
    return 0;
  }
  bodies.friction = 0.2;
  bodies.time_step = 1e-3;
  Shaker shaker = {{0, 0}, INFINITY};
  PileOptions options = pile_options(value_text(values, "solver"), threads);
  options.ground_kind = CN_BODY_KINEMATIC;
  options.contact_margin = 0.1 * RADIUS;
  options.hooks.before_step = shake;
  options.hooks.context = &shaker;
  Pile pile;
  int ok = value_whole(values, "iterations", 1, 1e6, &bodies.iterations) &&
           pile_build(&pile, &bodies, &options);
  bodies_destroy(&bodies);
  if (!ok) return 0;
  shaker.box = pile.ground;
  Figures sum;
  memset(&sum, 0, sizeof sum);
  ok = pile_steps(&pile, (int32_t)(settle / 1e-3), NULL);
  shaker.start = settle;
  Row *row = ok ? report_row_begin(report) : NULL;
  CnPenetration depth;
  ok = row && pile_steps(&pile, (int32_t)(seconds / 1e-3) + 1, &sum) &&
       cn_world_penetration(pile.world, &depth) == CN_OK;
  if (ok) {
    double contacts = sum.contacts / sum.step_count;
    double step_ns = 1e9 * sum.seconds / sum.contacts;
    CnWorldInfo info;
    cn_world_info(pile.world, &info);
    double bytes = (double)info.memory_bytes / contacts;
    if (!(first[0] > 0)) {
      first[0] = step_ns;
      first[1] = bytes;
    }
    row_number(row, "spheres", count);
    row_number(row, "threads", threads);
    pile_row(row, &pile, &sum);
    row_number(row, "penetration_max", depth.max);
    row_number(row, "penetration_mean", depth.mean);
    row_number(row, "step_ns_per_contact", step_ns);
    row_number(row, "bytes_per_contact", bytes);
    row_number(row, "time_ratio", step_ns / first[0]);
    row_number(row, "bytes_ratio", bytes / first[1]);
    if (count == PAPER_SPHERES) row_number(row, "paper_contacts", PAPER_CONTACTS);
    report_row_end(report, row);
  }
  pile_destroy(&pile);
  return ok;
}

static int run(const Values *values, Report *report) {
  int32_t counts[VALUE_LIST], size_count, threads[VALUE_LIST], thread_count;
  if (!value_list(values, "spheres", 1, 1e7, counts, &size_count) ||
      !value_list(values, "threads", 1, 256, threads, &thread_count))
    return 0;
  for (int32_t t = 0; t < thread_count; t++) {
    double first[2] = {0, 0};
    for (int32_t i = 0; i < size_count; i++)
      if (!run_size(values, counts[i], threads[t], first, report)) return 0;
  }
  return 1;
}

static const Parameter parameters[] = {{"spheres", "500,2000,8000,32000", "numbers of spheres"},
                                       {"settle", "1", "seconds before the box moves"},
                                       {"seconds", "0.25", "seconds it is shaken, all measured"},
                                       {"iterations", "120", "sweeps of the solver in each step"},
                                       {"solver", "psor", "Cairn's solver"},
                                       {"threads", "1,2", "worker threads"},
                                       {NULL, NULL, NULL}};
static const Column columns[] = {{"spheres", "spheres"},
                                 {"threads", "threads"},
                                 {"contacts_mean", "contacts"},
                                 {"paper_contacts", "paper"},
                                 {"ms_per_step", "ms/step"},
                                 {"ns_per_contact_iteration", "ns/contact/iteration"},
                                 {"step_ns_per_contact", "ns/contact/step"},
                                 {"time_ratio", "ratio"},
                                 {"bytes_per_contact", "bytes/contact"},
                                 {"bytes_ratio", "ratio"},
                                 {"penetration_max", "depth max m"},
                                 {NULL, NULL}};
extern const Bench bench_shaker;
const Bench bench_shaker = {"shaker", "steel spheres in a box that is shaken, 2006 (10 minutes)",
                            parameters, columns, run};
