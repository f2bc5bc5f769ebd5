// SPDX-License-Identifier: Apache-2.0
// Many things that do not touch each other: stacks of boxes and jointed arms whose feet lie on the floor. Each
// is an island, which `auto` solves by the method that suits it, in parallel, and not at all while it rests.
//
// Rows: the first steps, in which everything settles, and steps later on with one stack in a hundred pushed, so
// that the others rest beside it. Time of the solves, certificates included, and processor time of whole steps
// (all threads together); psor with 120 sweeps for comparison, and the hash of the end, which is the same for
// any number of threads.
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cairn/world.h>

#include "bench.h"

#define BOXES 5
#define HALF 0.1
#define PUSHED 100 // one stack in so many

typedef struct Yard {
  CnWorld *world;
  CnMaterialId material;
  int32_t count, arms;
} Yard;

static CnBodyId add_box(Yard *yard, CnVec3 half, CnVec3 at) {
  CnBodyDef def = cn_body_def_default();
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_BOX);
  CnBodyId body = {0, 0};
  CnShapeId id;
  def.pose.position = at;
  shape.half_size = half;
  shape.density = 1000;
  shape.material = yard->material;
  if (cn_body_create(yard->world, &def, &body) == CN_OK)
    cn_shape_create(yard->world, body, &shape, &id);
  return body;
}

static CnStatus join(Yard *yard, CnBodyId a, CnBodyId b, CnVec3 at) {
  CnJointDef def = cn_joint_def_default(CN_JOINT_BALL);
  CnJointId id;
  def.body_a = a;
  def.body_b = b;
  CnStatus status = cn_joint_def_at(yard->world, at, &def);
  return status == CN_OK ? cn_joint_create(yard->world, &def, &id) : status;
}

// An arm of two bars from a post, its end on the floor.
static CnStatus add_arm(Yard *yard, double x, double y) {
  CnVec3 bar = {0.2, 0.03, 0.03};
  CnBodyId upper = add_box(yard, bar, (CnVec3){x + 0.2, y, 0.03});
  CnBodyId lower = add_box(yard, bar, (CnVec3){x + 0.62, y, 0.03});
  CnStatus status = join(yard, (CnBodyId){0, 0}, upper, (CnVec3){x, y, 0.03});
  return status == CN_OK ? join(yard, upper, lower, (CnVec3){x + 0.41, y, 0.03}) : status;
}

static CnStatus build(Yard *yard, const char *solver, int32_t threads) {
  CnWorldDef def = cn_world_def_default();
  CnMaterialDef rough = cn_material_def_default();
  CnShapeDef plane = cn_shape_def_default(CN_SHAPE_PLANE);
  CnBodyDef floor = cn_body_def_default();
  CnBodyId ground;
  CnShapeId id;
  def.time_step = 0.005;
  def.worker_count = threads;
  def.solver = cn_solver_def_default(solver);
  def.solver.max_iterations = 120;
  CnStatus status = cn_world_create(&def, &yard->world);
  if (status != CN_OK) return status;
  rough.friction = 0.5;
  status = cn_material_create(yard->world, &rough, &yard->material);
  floor.kind = CN_BODY_FIXED;
  plane.material = yard->material;
  if (status == CN_OK) status = cn_body_create(yard->world, &floor, &ground);
  if (status == CN_OK) status = cn_shape_create(yard->world, ground, &plane, &id);
  for (int32_t i = 0; i < yard->count && status == CN_OK; i++) {
    double x = i % 40, y = (double)(i / 40);
    if (yard->arms)
      status = add_arm(yard, x, y);
    else
      for (int32_t k = 0; k < BOXES; k++)
        add_box(yard, (CnVec3){HALF, HALF, HALF},
                (CnVec3){x + 0.01 * (k % 2), y, HALF * (2 * k + 1)});
  }
  return status;
}

static void push(Yard *yard) {
  int32_t i = 0, each = PUSHED * (yard->arms ? 2 : BOXES);
  for (CnBodyId id = cn_world_next_body(yard->world, (CnBodyId){0, 0}); id.slot;
       id = cn_world_next_body(yard->world, id), i++) {
    CnTwist twist = {{0.1, 0, 0}, {0, 0, 0}};
    if (i > 0 && i % each == 0) cn_body_set_twist(yard->world, id, &twist);
  }
}

static CnStatus count_steps(Report *report, Yard *yard, const char *solver, const char *when,
                            int32_t threads, int32_t steps) {
  CnStepReport step;
  double seconds = 0, residual = 0;
  CnStatus status = CN_OK;
  Row *row = report_row_begin(report);
  clock_t begin = clock();
  for (int32_t i = 0; i < steps && status == CN_OK; i++) {
    status = cn_world_step(yard->world, &step);
    if (status != CN_OK) break;
    seconds += step.solve.seconds + step.solve.seconds_certificate;
    if (step.solve.certificate.residual > residual) residual = step.solve.certificate.residual;
  }
  if (!row || status != CN_OK) return row ? status : CN_NO_MEMORY;
  char hash[20];
  snprintf(hash, sizeof hash, "%016llx", (unsigned long long)cn_world_hash(yard->world));
  row_text(row, "things", yard->arms ? "arms" : "stacks");
  row_number(row, "count", yard->count);
  row_text(row, "solver", solver);
  row_number(row, "threads", threads);
  row_text(row, "when", when);
  row_number(row, "solve_ms", 1e3 * seconds / steps);
  row_number(row, "processor_ms", 1e3 * (double)(clock() - begin) / CLOCKS_PER_SEC / steps);
  row_number(row, "residual", residual);
  row_text(row, "hash", hash);
  report_row_end(report, row);
  return CN_OK;
}

static CnStatus run_yard(Report *report, int32_t count, int32_t arms, const char *solver,
                         int32_t threads, int32_t steps) {
  Yard yard = {.count = count, .arms = arms};
  CnStatus status = build(&yard, solver, threads);
  if (status == CN_OK) status = count_steps(report, &yard, solver, "settles", threads, steps);
  for (int32_t i = 0; i < 2 * steps && status == CN_OK; i++)
    status = cn_world_step(yard.world, NULL);
  if (status == CN_OK) push(&yard);
  if (status == CN_OK) status = count_steps(report, &yard, solver, "some move", threads, steps);
  cn_world_destroy(yard.world);
  return status;
}

static int run(const Values *values, Report *report) {
  int32_t count, steps, threads;
  if (!value_whole(values, "count", 1, 1e5, &count) ||
      !value_whole(values, "steps", 1, 1e6, &steps) ||
      !value_whole(values, "threads", 1, 64, &threads))
    return 0;
  CnStatus status = CN_OK;
  for (int32_t arms = 0; arms < 2 && status == CN_OK; arms++) {
    status = run_yard(report, count, arms, "psor", 1, steps);
    for (int32_t k = 1; k <= threads && status == CN_OK; k++)
      status = run_yard(report, count, arms, "auto", k, steps);
  }
  if (status != CN_OK) fprintf(stderr, "cairn-bench: islands: %s\n", cn_error_message());
  return status == CN_OK;
}

static const Parameter parameters[] = {{"count", "1000", "stacks, and arms"},
                                       {"steps", "40", "steps of each row"},
                                       {"threads", "2", "from one worker thread to so many"},
                                       {NULL, NULL, NULL}};
static const Column columns[] = {{"things", "things"},
                                 {"count", "count"},
                                 {"solver", "solver"},
                                 {"threads", "threads"},
                                 {"when", "when"},
                                 {"solve_ms", "solve ms/step"},
                                 {"processor_ms", "processor ms/step"},
                                 {"residual", "residual"},
                                 {"hash", "hash"},
                                 {NULL, NULL}};
extern const Bench bench_islands;
const Bench bench_islands = {"islands", "many small things apart: island by island, in parallel",
                             parameters, columns, run};
