// SPDX-License-Identifier: Apache-2.0
// Times of collision: the broad phases alone, and poses to contacts, on a packed pile of equal
// spheres in a box of five planes.
//
// The pile is a body-centred lattice of touching spheres without every tenth, shaken a little:
// density (0.61) and contacts (3.6 a sphere) of a random packing. Its bodies are numbered at
// random, as after a while a real pile is in no order either. The fastest of
// several runs is reported, as other load only ever adds time.
#include <stdlib.h>

#include "bench.h"
#include "bodies.h"
#include "collision/collision.h"
#include "core/math.h"
#include "core/rng.h"

#define RADIUS 0.1
#define REPEATS 7

// One row: what was found and how long it took.
static void fill_row(Report *report, Row *row, int32_t spheres, const char *what, int32_t workers,
                     int32_t found, double seconds) {
  row_text(row, "what", what);
  row_number(row, "spheres", spheres);
  row_number(row, "threads", workers);
  row_number(row, "found", found);
  row_number(row, "ms", 1e3 * seconds);
  report_row_end(report, row);
}

// Centres of the pile; returns the side of its base.
static double make_pile(CnVec3 *centres, int32_t count) {
  // two spheres in a cubic cell, touching along its diagonals
  double a = 4 * RADIUS / sqrt(3);
  int32_t side = 1;
  while (1.8 * side * side * side < count) side++;
  CniRng rng = {1};
  int32_t n = 0;
  for (int32_t i = 0; n < count; i++) {
    if (cni_rng_unit(&rng) < 0.1) continue;
    int32_t cell = i / 2, x = cell % side, y = cell / side % side, z = cell / side / side;
    double d = 0.5 * (i % 2);
    double jx = cni_rng_range(&rng, -0.01, 0.01), jy = cni_rng_range(&rng, -0.01, 0.01);
    double jz = cni_rng_range(&rng, -0.01, 0.01);
    centres[n++] = (CnVec3){(x + d) * a + (1 + jx) * RADIUS, (y + d) * a + (1 + jy) * RADIUS,
                            (z + d) * a + (1 + jz) * RADIUS};
  }
  for (int32_t i = count - 1; i > 0; i--) {
    int32_t j = (int32_t)cni_rng_range(&rng, 0, i + 1);
    CnVec3 c = centres[i];
    centres[i] = centres[j];
    centres[j] = c;
  }
  return (side - 0.5) * a + 2 * RADIUS;
}

static int time_broad(Report *report, const CnVec3 *centres, int32_t count, int32_t workers) {
  CnAllocator allocator = cn_allocator_default();
  CnTasks *tasks = NULL;
  CniBounds *bounds = malloc((size_t)count * sizeof *bounds);
  if (!bounds || cn_tasks_create(workers, NULL, &allocator, &tasks) != CN_OK) {
    free(bounds);
    return 0;
  }
  double r = 1.025 * RADIUS + 1e-3; // margin, and the way of a slow step
  for (int32_t i = 0; i < count; i++) {
    CnVec3 c = centres[i];
    bounds[i] = (CniBounds){{c.x - r, c.y - r, c.z - r}, {c.x + r, c.y + r, c.z + r}};
  }
  int ok = 1;
  for (int32_t k = 0; ok && k < cni_broad_phase_count; k++) {
    Row *row = report_row_begin(report);
    CniArena arena;
    cni_arena_init(&arena, &allocator);
    double best = INFINITY;
    int32_t pair_count = 0;
    ok = row != NULL;
    for (int32_t i = 0; ok && i < REPEATS; i++) {
      CniPair *pairs = NULL;
      double start = seconds_now();
      ok = cni_broad_phases[k].find(bounds, NULL, count, tasks, &arena, &pairs, &pair_count) ==
           CN_OK;
      best = cn_min(best, seconds_now() - start);
      ok = ok && cni_arena_reset(&arena) == CN_OK;
    }
    if (ok) fill_row(report, row, count, cni_broad_phases[k].name, workers, pair_count, best);
    cni_arena_release(&arena);
  }
  cn_tasks_destroy(tasks);
  free(bounds);
  return ok;
}

// The pile as a model: spheres, a floor and four walls.
static CnStatus make_model(CniModel *model, const CnVec3 *centres, int32_t count, double side) {
  CnBodyDef body = cn_body_def_default();
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_SPHERE);
  CnBodyId id;
  CnShapeId shape_id;
  shape.radius = RADIUS;
  for (int32_t i = 0; i < count; i++) {
    body.pose.position = centres[i];
    CnStatus status = cni_model_add_body(model, &body, &id);
    if (status == CN_OK) status = cni_model_add_shape(model, id, &shape, &shape_id);
    if (status != CN_OK) return status;
  }
  double s = 0.70710678118654757;
  const CnPose walls[5] = {{{0, 0, 0}, {1, 0, 0, 0}},
                           {{0, 0, 0}, {s, 0, s, 0}},
                           {{side, 0, 0}, {s, 0, -s, 0}},
                           {{0, 0, 0}, {s, -s, 0, 0}},
                           {{0, side, 0}, {s, s, 0, 0}}};
  body = cn_body_def_default();
  body.kind = CN_BODY_FIXED;
  CnStatus status = cni_model_add_body(model, &body, &id);
  for (int32_t i = 0; i < 5 && status == CN_OK; i++) {
    shape = cn_shape_def_default(CN_SHAPE_PLANE);
    shape.pose = walls[i];
    status = cni_model_add_shape(model, id, &shape, &shape_id);
  }
  return status;
}

static int time_detect(Report *report, const CniModel *model, int32_t workers) {
  CnAllocator allocator = cn_allocator_default();
  CniCollision *collision = NULL;
  CnTasks *tasks = NULL;
  Row *row = report_row_begin(report);
  int ok = 0;
  if (row && cn_tasks_create(workers, NULL, &allocator, &tasks) == CN_OK &&
      cni_collision_create("grid", &allocator, &collision) == CN_OK) {
    CniCollisionInput input = {.model = model,
                               .pose = model->pose,
                               .twist = model->twist,
                               .gravity = {0, 0, -9.81},
                               .time_step = 0.005,
                               .tasks = tasks};
    const CniContact *contacts = NULL;
    int32_t count = 0;
    double best = INFINITY;
    ok = 1;
    for (int32_t i = 0; ok && i < REPEATS; i++) {
      double start = seconds_now();
      ok = cni_collision_detect(collision, &input, &contacts, &count) == CN_OK;
      best = cn_min(best, seconds_now() - start);
    }
    if (ok) fill_row(report, row, model->body_count - 1, "detect", workers, count, best);
  }
  cni_collision_destroy(collision);
  cn_tasks_destroy(tasks);
  return ok;
}

// One size: the broad phases, then everything, with one worker and two.
static int run_size(Report *report, int32_t count) {
  CnVec3 *centres = malloc((size_t)count * sizeof *centres);
  if (!centres) return 0;
  double side = make_pile(centres, count);
  int ok = 1;
  for (int32_t workers = 1; ok && workers <= 2; workers++)
    ok = time_broad(report, centres, count, workers);
  CnAllocator allocator = cn_allocator_default();
  CniModel model;
  if (ok && cni_model_init(&model, &allocator) == CN_OK) {
    ok = make_model(&model, centres, count, side) == CN_OK;
    for (int32_t workers = 1; ok && workers <= 2; workers++)
      ok = time_detect(report, &model, workers);
    cni_model_release(&model);
  }
  free(centres);
  return ok;
}

static int run(const Values *values, Report *report) {
  int32_t counts[VALUE_LIST], size_count = 0;
  if (!value_list(values, "spheres", 1, 1e7, counts, &size_count)) return 0;
  for (int32_t i = 0; i < size_count; i++) {
    if (run_size(report, counts[i])) continue;
    fprintf(stderr, "cairn-bench: broad: %s\n", cn_error_message());
    return 0;
  }
  return 1;
}

static const Parameter parameters[] = {{"spheres", "8000,50000,100000", "numbers of spheres"},
                                       {NULL, NULL, NULL}};
static const Column columns[] = {{"what", "what"},   {"spheres", "spheres"}, {"threads", "threads"},
                                 {"found", "found"}, {"ms", "ms"},           {NULL, NULL}};
extern const Bench bench_broad;
const Bench bench_broad = {"broad", "collision: broad phases alone, and poses to contacts",
                           parameters, columns, run};
