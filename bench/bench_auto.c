// SPDX-License-Identifier: Apache-2.0
// Is `auto` worth being the default? Scenes in three sizes, each run with `auto` as it is and with every
// other solver by itself; of those that are as near as `auto` is, or nearer, the fastest is the best
// single solver, which nobody knows beforehand.
//
// A run warms up and then counts some steps: seconds of their solves and the largest residual among
// them. As near as auto: within the larger of its tolerance and what it reached where its budget ended.
// A solver that has used `patience` times the time of auto has no answer. `worse`: auto is neither
// nearer nor cheaper than psor with 120 sweeps.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/scene.h>
#include <cairn/world.h>

#include "bench.h"

#ifdef BENCH_IO

#define PSOR_SWEEPS 120

typedef struct Task {
  const char *name, *scene;
  CnSetting settings[1]; // beside the size; no key: none
  const char *size;      // the parameter that is varied
  double sizes[3];
} Task;

static const Task tasks[] = {
    {"stack", "stack", {{NULL, 0}}, "boxes", {5, 10, 30}},
    {"stack, 1000x", "stack", {{"ratio", 1e3}}, "boxes", {5, 10, 20}},
    {"stack, 1e6x", "stack", {{"ratio", 1e6}}, "boxes", {5, 10, 20}},
    {"pyramid", "pyramid", {{NULL, 0}}, "rows", {4, 8, 16}},
    {"pyramid, tight", "pyramid", {{"spacing", 1.02}}, "rows", {4, 8, 16}},
    {"heap", "heap", {{NULL, 0}}, "boxes", {10, 40, 160}},
    {"heap, slippery", "heap", {{"mu", 0.1}}, "boxes", {10, 40, 160}},
    {"heap, rough", "heap", {{"mu", 1}}, "boxes", {10, 40, 160}},
    {"domino", "domino", {{NULL, 0}}, "dominoes", {10, 20, 40}},
    {"conveyor", "conveyor", {{NULL, 0}}, "boxes", {4, 12, 36}},
    {"conveyor, fast", "conveyor", {{"speed", 4}}, "boxes", {4, 12, 36}},
    {"granular", "granular", {{NULL, 0}}, "spheres", {50, 300, 1500}},
    {"granular, smooth", "granular", {{"mu", 0}}, "spheres", {50, 300, 1500}},
    {"granular, rough", "granular", {{"mu", 1}}, "spheres", {50, 300, 1500}},
    {"scene G", "scene-g", {{NULL, 0}}, "n", {100, 1000, 4000}},
    {"shapes", "shapes", {{NULL, 0}}, "layers", {1, 3, 9}},
    {"shapes, smooth", "shapes", {{"friction", 0}}, "layers", {1, 3, 9}},
    {"cradle", "newton-cradle", {{"degrees", 5}}, "balls", {3, 5, 9}},
    {"chain", "chain", {{NULL, 0}}, "links", {10, 30, 100}},
    {"chain of equals", "chain", {{"ratio", 1}}, "links", {10, 30, 100}},
    {"slope, sticks", "slope", {{NULL, 0}}, "turn", {0, 20, 45}},
    {"slope, slides", "slope", {{"tan", 0.51}}, "turn", {0, 20, 45}},
};

typedef struct Contender {
  const char *name, *solver;
  double tolerance;
  int32_t iterations;
} Contender;

// The first one is judged; the second one is what it must not be worse than.
static const Contender contenders[] = {
    {"auto", "auto", 0, 120},        {"psor 120", "psor", 0, PSOR_SWEEPS},
    {"psor", "psor", 1e-4, 5000},    {"pssor", "pssor", 1e-4, 2500},
    {"apgd", "apgd", 1e-4, 3000},    {"spg", "spg", 1e-4, 3000},
    {"newton", "newton", 1e-4, 300}, {"ipm", "ipm", 1e-4, 300},
};
#define CONTENDERS (int32_t)(sizeof contenders / sizeof contenders[0])

typedef struct Outcome {
  double seconds, residual, contacts; // of the counted steps: all, the largest, the mean
  int finished;
} Outcome;

static CnStatus open_world(const Task *task, double size, const Contender *by, CnWorld **world) {
  CnSetting settings[2] = {{task->size, size}, task->settings[0]};
  CnAllocator allocator = cn_allocator_default();
  CnScene *scene = NULL;
  CnStatus status =
      cn_scene_open(task->scene, settings, settings[1].key ? 2 : 1, &allocator, &scene);
  if (status != CN_OK) return status;
  CnWorldDef def = cn_world_def_default();
  cn_scene_world_def(scene, &def);
  def.solver = cn_solver_def_default(by->solver);
  def.solver.tolerance = by->tolerance;
  def.solver.max_iterations = by->iterations;
  status = cn_world_create(&def, world);
  if (status == CN_OK) status = cn_scene_fill(scene, *world);
  cn_scene_destroy(scene);
  return status;
}

static CnStatus run_one(const Task *task, double size, const Contender *by, int32_t warm,
                        int32_t counted, double most, Outcome *out) {
  CnWorld *world = NULL;
  double all = 0;
  *out = (Outcome){0};
  CnStatus status = open_world(task, size, by, &world);
  int32_t i = 0;
  for (; status == CN_OK && i < warm + counted && all <= most; i++) {
    CnStepReport report;
    status = cn_world_step(world, &report);
    all += report.solve.seconds;
    if (i < warm) continue;
    out->seconds += report.solve.seconds;
    out->residual = fmax(out->residual, report.solve.certificate.residual);
    out->contacts += (double)report.contact_count / counted;
  }
  out->finished = status == CN_OK && i == warm + counted;
  cn_world_destroy(world);
  return status == CN_UNSUPPORTED ? CN_OK : status;
}

typedef struct Sum {
  double logarithms, worst;
  int32_t count, worse;
} Sum;

static int run_size(const Values *values, const Task *task, double size, Report *report, Sum *sum) {
  int32_t warm, counted, best = -1;
  Outcome outcomes[CONTENDERS];
  double patience = value_number(values, "patience");
  if (!value_whole(values, "warm", 0, 1e6, &warm) ||
      !value_whole(values, "counted", 1, 1e6, &counted))
    return 0;
  Row *row = report_row_begin(report);
  for (int32_t i = 0; row && i < CONTENDERS; i++) {
    double most =
        i == 0 ? INFINITY : patience * outcomes[0].seconds * (warm + counted) / counted + 0.05;
    CnStatus status = run_one(task, size, &contenders[i], warm, counted, most, &outcomes[i]);
    if (status != CN_OK) {
      fprintf(stderr, "cairn-bench: auto: %s: %s\n", task->name, cn_error_message());
      return 0;
    }
    double near = fmax(1e-4, outcomes[0].residual);
    if (i > 0 && outcomes[i].finished && outcomes[i].residual <= near &&
        (best < 0 || outcomes[i].seconds < outcomes[best].seconds))
      best = i;
  }
  if (!row) return 0;
  const Outcome *own = &outcomes[0], *psor = &outcomes[1];
  row_text(row, "scene", task->name);
  row_number(row, "size", size);
  row_number(row, "contacts", own->contacts);
  row_number(row, "auto_us", 1e6 * own->seconds / counted);
  row_number(row, "auto_residual", own->residual);
  row_number(row, "psor_us", 1e6 * psor->seconds / counted);
  row_number(row, "psor_residual", psor->residual);
  row_text(row, "best", best < 0 ? "none" : contenders[best].name);
  if (best >= 0 && outcomes[best].seconds > 0 && own->contacts > 0) {
    double ratio = own->seconds / outcomes[best].seconds;
    row_number(row, "best_us", 1e6 * outcomes[best].seconds / counted);
    row_number(row, "ratio", ratio);
    sum->logarithms += log(ratio);
    sum->worst = fmax(sum->worst, ratio);
    sum->count++;
  }
  int worse = own->residual > fmax(1e-4, psor->residual) && own->seconds > psor->seconds;
  row_flag(row, "worse", worse);
  sum->worse += worse;
  report_row_end(report, row);
  return 1;
}

static int run(const Values *values, Report *report) {
  Sum sum = {0};
  const char *only = value_text(values, "scene");
  for (size_t t = 0; t < sizeof tasks / sizeof tasks[0]; t++)
    for (int32_t k = 0; k < 3; k++)
      if (!only[0] || strcmp(only, tasks[t].name) == 0 || strcmp(only, "all") == 0)
        if (!run_size(values, &tasks[t], tasks[t].sizes[k], report, &sum)) return 0;
  Row *row = sum.count > 0 ? report_row_begin(report) : NULL;
  if (!row) return sum.count == 0;
  row_text(row, "scene", "geometric mean, worst in best_us");
  row_number(row, "size", sum.count);
  row_number(row, "ratio", exp(sum.logarithms / sum.count));
  row_number(row, "best_us", sum.worst);
  row_flag(row, "worse", sum.worse);
  report_row_end(report, row);
  return 1;
}

#else

static int run(const Values *values, Report *report) {
  (void)values;
  (void)report;
  fprintf(stderr, "cairn-bench: auto needs scenes, which this build is without\n");
  return 0;
}

#endif

static const Parameter parameters[] = {
    {"scene", "all", "one of the names of the table"},
    {"warm", "40", "steps before those that count"},
    {"counted", "20", "steps that count"},
    {"patience", "10", "times the time of auto that others may take"},
    {NULL, NULL, NULL}};
static const Column columns[] = {{"scene", "scene"},
                                 {"size", "size"},
                                 {"contacts", "contacts"},
                                 {"auto_us", "auto us/step"},
                                 {"auto_residual", "residual"},
                                 {"psor_us", "psor 120 us"},
                                 {"psor_residual", "residual"},
                                 {"best", "best single"},
                                 {"best_us", "us/step"},
                                 {"ratio", "ratio"},
                                 {"worse", "worse than psor"},
                                 {NULL, NULL}};
extern const Bench bench_auto;
const Bench bench_auto = {"auto", "auto against the best single solver, scene by scene", parameters,
                          columns, run};
