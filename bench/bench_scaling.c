// SPDX-License-Identifier: Apache-2.0
// How time and memory grow with the size of scene G: from a thousand spheres to a million; and a
// pile of boxes and spheres, every other sphere of scene G being a box.
//
// All steps are measured but the first two, in which memory is taken. Time per contact and sweep
// and bytes per sphere are set beside those of `reference` spheres, if that size is in the list
// before.
#include <math.h>
#include <string.h>

#include "bench.h"
#include "bodies.h"
#include "pile.h"

#define FIRST_STEPS 2

typedef struct Reference {
  double ns, step_ns; // per contact and iteration; per contact, the whole step
} Reference;

static int run_size(const Values *values, int32_t count, int boxes, int32_t threads,
                    Reference *reference, Report *report) {
  int32_t steps, against;
  Bodies bodies;
  const char *key = boxes ? "mixed_steps" : "steps";
  if (!value_whole(values, key, FIRST_STEPS + 1, 1e6, &steps) ||
      !value_whole(values, "reference", 1, 1e7, &against))
    return 0;
  if (!pile_scene_g(&bodies, count)) {
    fprintf(stderr, "cairn-bench: out of memory\n");
    return 0;
  }
  PileOptions options = pile_options(value_text(values, "solver"), threads);
  options.boxes = boxes;
  Pile pile;
  Figures sum;
  memset(&sum, 0, sizeof sum);
  int ok = value_whole(values, "iterations", 1, 1e6, &bodies.iterations) &&
           pile_build(&pile, &bodies, &options);
  bodies_destroy(&bodies);
  if (!ok) return 0;
  ok = pile_steps(&pile, FIRST_STEPS, NULL);
  Row *row = ok ? report_row_begin(report) : NULL;
  ok = row && pile_steps(&pile, steps - FIRST_STEPS, &sum);
  if (ok) {
    double n = sum.step_count, contacts = sum.contacts / n, ns = pile_ns_per_contact(&sum);
    double step_ns = 1e9 * sum.seconds / n / contacts;
    CnWorldInfo info;
    cn_world_info(pile.world, &info);
    row_text(row, "pile", boxes ? "boxes and spheres" : "spheres");
    row_number(row, "spheres", count);
    row_number(row, "threads", threads);
    pile_row(row, &pile, &sum);
    row_number(row, "unknowns", 6.0 * count + 3 * contacts);
    row_number(row, "step_ns_per_contact", step_ns);
    row_number(row, "bytes_per_sphere", (double)info.memory_peak_bytes / count);
    row_number(row, "bytes_per_contact", (double)info.memory_peak_bytes / contacts);
    if (reference->ns > 0) {
      row_number(row, "ratio", ns / reference->ns);
      row_number(row, "step_ratio", step_ns / reference->step_ns);
    }
    if (count == against) *reference = (Reference){ns, step_ns};
    report_row_end(report, row);
  }
  pile_destroy(&pile);
  return ok;
}

static int run(const Values *values, Report *report) {
  int32_t counts[VALUE_LIST], size_count, mixed[VALUE_LIST], mixed_count;
  int32_t threads[VALUE_LIST], thread_count;
  if (!value_list(values, "spheres", 0, 1e7, counts, &size_count) ||
      !value_list(values, "mixed", 0, 1e7, mixed, &mixed_count) ||
      !value_list(values, "threads", 1, 256, threads, &thread_count))
    return 0;
  for (int32_t t = 0; t < thread_count; t++) {
    Reference reference = {0, 0}, none = {0, 0};
    for (int32_t i = 0; i < size_count; i++)
      if (counts[i] > 0 && !run_size(values, counts[i], 0, threads[t], &reference, report))
        return 0;
    for (int32_t i = 0; i < mixed_count; i++)
      if (mixed[i] > 0 && !run_size(values, mixed[i], 1, threads[t], &none, report)) return 0;
  }
  return 1;
}

static const Parameter parameters[] = {
    {"spheres", "1000,8000,50000,200000,1000000", "numbers of spheres, 0: none"},
    {"steps", "20", "steps"},
    {"mixed", "0", "boxes and spheres together, 0: none (100000: 4 minutes)"},
    {"mixed_steps", "100", "steps of these"},
    {"iterations", "120", "sweeps of the solver in each step"},
    {"solver", "psor", "Cairn's solver"},
    {"threads", "1,2", "worker threads"},
    {"reference", "8000", "the size to compare with"},
    {NULL, NULL, NULL}};
static const Column columns[] = {{"pile", "pile"},
                                 {"spheres", "bodies"},
                                 {"threads", "threads"},
                                 {"contacts_mean", "contacts"},
                                 {"unknowns", "unknowns"},
                                 {"ms_per_step", "ms/step"},
                                 {"ms_collision", "collision"},
                                 {"ns_per_contact_iteration", "ns/contact/iteration"},
                                 {"ratio", "ratio"},
                                 {"step_ratio", "step ratio"},
                                 {"setup_sweeps", "set-up in sweeps"},
                                 {"rest_sweeps", "all but sweeps in sweeps"},
                                 {"bytes_per_sphere", "bytes/sphere"},
                                 {"peak_memory_bytes", "peak bytes"},
                                 {NULL, NULL}};
extern const Bench bench_scaling;
const Bench bench_scaling = {"scaling", "scene G from a thousand spheres to a million (8 minutes)",
                             parameters, columns, run};
