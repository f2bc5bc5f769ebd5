// SPDX-License-Identifier: Apache-2.0
// Is `auto` worth being the default? Scenes in three sizes, each run with `auto` as it is and with every
// other solver by itself; of those that are as near as `auto` is, or nearer, the fastest is the best
// single solver, which nobody knows beforehand.
//
// A run warms up and then counts some steps: seconds of their solves, certificates included, and the largest
// residual among them. Short runs are made several times, and the fastest counts. All are asked for
// the tolerance that auto has, which is sharper where problems have few rows; as near as auto: within the
// larger of that and what it reached where its budget ended. A solver that has used `patience` times the time of
// auto has no answer; where nobody has one the ratio is less than 1/patience and counted as that.
// `worse`: auto is neither nearer nor cheaper than psor with 120 sweeps. What falls is chaos: two runs that differ in
// the last digit have different impacts soon. So these two are told from the same states: each counted
// step of the run of auto is made by both from its snapshot. Nearer: in the geometric mean of these steps, of what is above
// the tolerance; the largest of them beside it. That is a matter of luck where much rubs, as contacts snap while they are swept:
// in rough piles psor's own largest one is half as large again with 122 sweeps as with 120.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/scene.h>
#include <cairn/state.h>
#include <cairn/world.h>

#include "bench.h"

#ifdef BENCH_IO

#define PSOR_SWEEPS 120
#define USUAL 1e-4    // tolerance of auto
#define SHARP 1e-8    // and where the problem has no more than
#define SHARP_ROWS 60 // rows
#define SHORT 0.2     // s: shorter runs are made again,
#define REPEATS 4     // so many times at most
#define ROUNDED                                                                                    \
  1.001         // residuals as alike as this are the same: velocities are added up in another order
#define SIDES 3 // times that a step from a snapshot is made; the fastest counts

typedef struct Task {
  const char *name, *scene;
  CnSetting settings[1]; // beside the size; no key: none
  const char *size;      // the parameter that is varied
  double sizes[3];
  int32_t fall; // steps before those that warm up
} Task;

static const Task tasks[] = {
    {"stack", "stack", {{NULL, 0}}, "boxes", {5, 10, 30}, 0},
    {"stack, 1000x", "stack", {{"ratio", 1e3}}, "boxes", {5, 10, 20}, 0},
    {"stack, 1e6x", "stack", {{"ratio", 1e6}}, "boxes", {5, 10, 20}, 0},
    {"pyramid", "pyramid", {{NULL, 0}}, "rows", {4, 8, 16}, 0},
    {"pyramid, tight", "pyramid", {{"spacing", 1.02}}, "rows", {4, 8, 16}, 0},
    {"heap", "heap", {{NULL, 0}}, "boxes", {10, 40, 160}, 450},
    {"heap, slippery", "heap", {{"mu", 0.1}}, "boxes", {10, 40, 160}, 450},
    {"heap, rough", "heap", {{"mu", 1}}, "boxes", {10, 40, 160}, 450},
    {"domino", "domino", {{NULL, 0}}, "dominoes", {10, 20, 40}, 0},
    {"conveyor", "conveyor", {{NULL, 0}}, "boxes", {4, 12, 36}, 0},
    {"conveyor, fast", "conveyor", {{"speed", 4}}, "boxes", {4, 12, 36}, 0},
    {"granular", "granular", {{NULL, 0}}, "spheres", {50, 300, 1500}, 60},
    {"granular, smooth", "granular", {{"mu", 0}}, "spheres", {50, 300, 1500}, 60},
    {"granular, rough", "granular", {{"mu", 1}}, "spheres", {50, 300, 1500}, 60},
    {"scene G", "scene-g", {{NULL, 0}}, "n", {100, 1000, 4000}, 0},
    {"shapes", "shapes", {{NULL, 0}}, "layers", {1, 3, 9}, 0},
    {"shapes, smooth", "shapes", {{"friction", 0}}, "layers", {1, 3, 9}, 0},
    {"cradle", "newton-cradle", {{"degrees", 5}}, "balls", {3, 5, 9}, 0},
    {"chain", "chain", {{NULL, 0}}, "links", {10, 30, 100}, 0},
    {"chain of equals", "chain", {{"ratio", 1}}, "links", {10, 30, 100}, 0},
    {"slope, sticks", "slope", {{NULL, 0}}, "turn", {0, 20, 45}, 0},
    {"slope, slides", "slope", {{"tan", 0.51}}, "turn", {0, 20, 45}, 0},
};

typedef struct Contender {
  const char *name, *solver;
  int32_t tolerance; // 1: the one of auto
  int32_t iterations;
} Contender;

// The first one is judged; the second one is what it must not be worse than.
static const Contender contenders[] = {
    {"auto", "auto", 0, 120},     {"psor 120", "psor", 0, PSOR_SWEEPS},
    {"psor", "psor", 1, 5000},    {"pssor", "pssor", 1, 2500},
    {"apgd", "apgd", 1, 3000},    {"spg", "spg", 1, 3000},
    {"newton", "newton", 1, 300}, {"ipm", "ipm", 1, 300},
};
#define CONTENDERS (int32_t)(sizeof contenders / sizeof contenders[0])

// Steps to make, and for how long.
typedef struct Run {
  int32_t warm, counted;
  double tolerance, most; // s
} Run;

typedef struct Outcome {
  double seconds, residual, contacts; // of the counted steps: all, the largest, the mean
  double all;                         // s, with those that warm up
  double logarithm;                   // of the residuals of a side, those of psor taken away
  int32_t rows;                       // of the last one
  int finished;
} Outcome;

static CnStatus open_world(const Task *task, double size, const Contender *by, double tolerance,
                           CnWorld **world) {
  CnSetting settings[2] = {{task->size, size}, task->settings[0]};
  CnAllocator allocator = cn_allocator_default();
  CnScene *scene = NULL;
  CnStatus status =
      cn_scene_open(task->scene, settings, settings[1].key ? 2 : 1, &allocator, &scene);
  if (status != CN_OK) return status;
  CnWorldDef def = cn_world_def_default();
  cn_scene_world_def(scene, &def);
  def.solver = cn_solver_def_default(by->solver);
  def.solver.tolerance = by->tolerance ? tolerance : 0;
  def.solver.max_iterations = by->iterations;
  status = cn_world_create(&def, world);
  if (status == CN_OK) status = cn_scene_fill(scene, *world);
  cn_scene_destroy(scene);
  return status;
}

static CnStatus run_once(const Task *task, double size, const Contender *by, const Run *run,
                         Outcome *out) {
  CnWorld *world = NULL;
  *out = (Outcome){0};
  CnStatus status = open_world(task, size, by, run->tolerance, &world);
  int32_t i = 0;
  for (; status == CN_OK && i < run->warm + run->counted && out->all <= run->most; i++) {
    CnStepReport report;
    status = cn_world_step(world, &report);
    double seconds = report.solve.seconds + report.solve.seconds_certificate;
    out->all += seconds;
    if (i < run->warm) continue;
    out->seconds += seconds;
    out->residual = fmax(out->residual, report.solve.certificate.residual);
    out->contacts += (double)report.contact_count / run->counted;
  }
  out->finished = status == CN_OK && i == run->warm + run->counted;
  CnProblem *problem;
  if (out->finished && cn_world_problem(world, &problem, NULL) == CN_OK) {
    CnProblemInfo info;
    cn_problem_info(problem, &info);
    out->rows = info.row_count;
  }
  cn_world_destroy(world);
  return status == CN_UNSUPPORTED ? CN_OK : status;
}

// A world that goes on as the snapshot does, by a solver, makes a step.
static CnStatus step_from(CnWorld *world, const void *snapshot, size_t bytes, const CnSolverDef *by,
                          Outcome *out, double *residual) {
  CnWorldDef def;
  CnStepReport report;
  CnStatus status = cn_world_restore(world, snapshot, bytes);
  if (status == CN_OK) status = cn_world_settings(world, &def);
  if (status != CN_OK) return status;
  def.solver = *by;
  status = cn_world_set_settings(world, &def);
  double seconds = INFINITY;
  for (int32_t i = 0; status == CN_OK && i < SIDES; i++) {
    if (i > 0) status = cn_world_restore(world, snapshot, bytes);
    if (status == CN_OK && i > 0) status = cn_world_set_settings(world, &def);
    if (status == CN_OK) status = cn_world_step(world, &report);
    seconds = fmin(seconds, report.solve.seconds + report.solve.seconds_certificate);
  }
  out->seconds += seconds;
  if (status != CN_OK) return status;
  *residual = report.solve.certificate.residual;
  out->residual = fmax(out->residual, *residual);
  return CN_OK;
}

// auto and psor's sweeps side by side on the counted steps of a run of auto.
static CnStatus run_sides(const Task *task, double size, const Run *run, Outcome sides[2]) {
  CnWorld *worlds[3] = {NULL}; // that leads, and two that follow
  CnSolverDef solvers[2];
  void *snapshot = NULL;
  size_t room = 0, bytes;
  CnStatus status = CN_OK;
  sides[0] = sides[1] = (Outcome){0};
  for (int32_t i = 0; status == CN_OK && i < 3; i++) {
    CnWorldDef def;
    const Contender *by = &contenders[i % 2];
    status = open_world(task, size, by, run->tolerance, &worlds[i]);
    if (status == CN_OK) status = cn_world_settings(worlds[i], &def);
    if (status == CN_OK) solvers[i % 2] = def.solver;
  }
  for (int32_t i = 0; status == CN_OK && i < run->warm + run->counted; i++) {
    if (i >= run->warm && cn_world_save(worlds[0], NULL, 0, &bytes) == CN_OK && bytes > room) {
      free(snapshot);
      room = 2 * bytes;
      snapshot = malloc(room);
      if (!snapshot) status = CN_NO_MEMORY;
    }
    if (i >= run->warm && status == CN_OK)
      status = cn_world_save(worlds[0], snapshot, room, &bytes);
    double residuals[2] = {0};
    for (int32_t k = 0; k < 2 && i >= run->warm && status == CN_OK; k++)
      status = step_from(worlds[1 + k], snapshot, bytes, &solvers[k], &sides[k], &residuals[k]);
    sides[0].logarithm +=
        log(fmax(residuals[0], run->tolerance) / fmax(residuals[1], run->tolerance));
    if (status == CN_OK) status = cn_world_step(worlds[0], NULL);
  }
  free(snapshot);
  for (int32_t i = 0; i < 3; i++) cn_world_destroy(worlds[i]);
  return status;
}

static CnStatus run_best(const Task *task, double size, const Contender *by, const Run *run,
                         Outcome *out) {
  CnStatus status = run_once(task, size, by, run, out);
  for (int32_t i = 1; status == CN_OK && out->finished && out->all < SHORT && i < REPEATS; i++) {
    Outcome again;
    status = run_once(task, size, by, run, &again);
    if (again.finished && again.seconds < out->seconds) *out = again;
  }
  return status;
}

typedef struct Sum {
  double logarithms, worst;
  int32_t count, worse;
} Sum;

// The ratio to the best single solver; that is -1 where there is none.
static double ratio_of(const Outcome *outcomes, double near, double patience, int32_t *best) {
  *best = -1;
  for (int32_t i = 1; i < CONTENDERS; i++)
    if (outcomes[i].finished && outcomes[i].residual <= near &&
        (*best < 0 || outcomes[i].seconds < outcomes[*best].seconds))
      *best = i;
  if (*best < 0) return 1 / patience;
  return outcomes[*best].seconds > 0 ? outcomes[0].seconds / outcomes[*best].seconds : 1;
}

static void tell(Row *row, const Task *task, double size, const Outcome *outcomes,
                 const Outcome sides[2], int32_t counted, int32_t best, double ratio) {
  const Outcome *own = &outcomes[0];
  row_text(row, "scene", task->name);
  row_number(row, "size", size);
  row_number(row, "contacts", own->contacts);
  row_number(row, "auto_us", 1e6 * own->seconds / counted);
  row_number(row, "auto_residual", own->residual);
  row_number(row, "psor_cost", sides[0].seconds / sides[1].seconds);
  row_number(row, "psor_residual", exp(sides[0].logarithm / counted));
  row_number(row, "psor_largest", sides[0].residual / sides[1].residual);
  row_text(row, "best", best < 0 ? "none" : contenders[best].name);
  if (best >= 0) row_number(row, "best_us", 1e6 * outcomes[best].seconds / counted);
  row_number(row, "ratio", ratio);
}

static int run_size(const Values *values, const Task *task, double size, Report *report, Sum *sum) {
  Run run = {.tolerance = USUAL, .most = INFINITY};
  int32_t best;
  Outcome outcomes[CONTENDERS], sides[2];
  double patience = value_number(values, "patience");
  if (!value_whole(values, "warm", 0, 1e6, &run.warm) ||
      !value_whole(values, "counted", 1, 1e6, &run.counted))
    return 0;
  run.warm += task->fall;
  Row *row = report_row_begin(report);
  for (int32_t i = 0; row && i < CONTENDERS; i++) {
    CnStatus status = run_best(task, size, &contenders[i], &run, &outcomes[i]);
    if (status != CN_OK) {
      fprintf(stderr, "cairn-bench: auto: %s: %s\n", task->name, cn_error_message());
      return 0;
    }
    if (i > 0) continue;
    run.most = patience * outcomes[0].all + 0.01;
    run.tolerance = outcomes[0].rows <= SHARP_ROWS ? SHARP : USUAL;
  }
  if (!row) return 0;
  const Outcome *own = &outcomes[0];
  CnStatus status = run_sides(task, size, &run, sides);
  if (status != CN_OK) {
    fprintf(stderr, "cairn-bench: auto: %s: %s\n", task->name, cn_error_message());
    return 0;
  }
  double ratio = ratio_of(outcomes, fmax(run.tolerance, own->residual), patience, &best);
  tell(row, task, size, outcomes, sides, run.counted, best, ratio);
  sum->logarithms += log(ratio);
  sum->worst = fmax(sum->worst, ratio);
  sum->count++;
  int worse =
      exp(sides[0].logarithm / run.counted) > ROUNDED && sides[0].seconds > sides[1].seconds;
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
    {"patience", "2", "times the time of auto that others may take"},
    {NULL, NULL, NULL}};
static const Column columns[] = {{"scene", "scene"},
                                 {"size", "size"},
                                 {"contacts", "contacts"},
                                 {"auto_us", "auto us/step"},
                                 {"auto_residual", "residual"},
                                 {"psor_cost", "of psor 120: cost"},
                                 {"psor_residual", "residual, mean"},
                                 {"psor_largest", "largest"},
                                 {"best", "best single"},
                                 {"best_us", "us/step"},
                                 {"ratio", "ratio"},
                                 {"worse", "worse than psor"},
                                 {NULL, NULL}};
extern const Bench bench_auto;
const Bench bench_auto = {"auto", "auto against the best single solver, scene by scene", parameters,
                          columns, run};
