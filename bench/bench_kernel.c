// SPDX-License-Identifier: Apache-2.0
// The sweeps of psor: time per contact and sweep, what a solve costs besides, and how the order of
// the sweeps changes what is reached.
//
// Two piles, made at once and not settled: spheres on a body-centred lattice without every tenth,
// and layers of boxes, each layer shifted by half a box and every box turned a little, so that a
// box touches several others with one to eight points each. The fastest of many short runs is
// reported, as other load only ever adds time. Times before the first and after the last sweep are
// in sweeps.
//
// Convergence: what 120 sweeps from g = 0 leave, over what plain scalar sweeps in stored order
// leave. The residual is that of the worst contact and jumps from sweep to sweep and from pile to
// pile, so `residual_ratio` is the geometric mean over the last ten sweeps and over several piles
// that differ in their jitter; `error_ratio` is the same of error_scaled, a Euclidean norm over all
// contacts.
#include <stdlib.h>
#include <string.h>

#include "assembly/assembly.h"
#include "bench.h"
#include "bodies.h"
#include "core/math.h"
#include "core/rng.h"
#include "core/tasks.h"
#include "solver/sweeps/psor.h"

#define RADIUS 0.1
#define STEP 0.005

// ---- the piles ----

typedef struct Pile {
  CniModel model;
  CniCollision *collision;
  CniArena arena;
  CniStepMemory memory; // of the solves, held; it lends the groups as a world does
  CnProblem *problem;
  CnAnswer answer;
  int32_t *block_of;
  double width;  // m, of the base
  uint64_t seed; // of the jitter
} Pile;

static CnStatus add_body(CniModel *model, const CnBodyDef *body, const CnShapeDef *shape) {
  CnBodyId id;
  CnShapeId shape_id;
  CnStatus status = cni_model_add_body(model, body, &id);
  return status == CN_OK ? cni_model_add_shape(model, id, shape, &shape_id) : status;
}

// Two spheres in a cubic cell, touching along its diagonals; x fastest, then y, then z.
static CnStatus add_spheres(Pile *pile, int32_t count) {
  double a = 4 * RADIUS / sqrt(3);
  int32_t side = 1;
  while (1.8 * side * side * side < count) side++;
  CniRng rng = {pile->seed};
  CnBodyDef body = cn_body_def_default();
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_SPHERE);
  shape.radius = RADIUS;
  shape.density = 2000;
  CnStatus status = CN_OK;
  int32_t layer = side * side;
  for (int32_t i = 0, n = 0; status == CN_OK && n < count; i++) {
    if (cni_rng_unit(&rng) < 0.1) continue;
    int32_t z = i / layer, y = i % layer / side, x = i % side;
    double d = z % 2 ? .5 : 0, jitter = .01 * RADIUS;
    body.pose.position.x = (x + d) * a + RADIUS + cni_rng_range(&rng, -jitter, jitter);
    body.pose.position.y = (y + d) * a + RADIUS + cni_rng_range(&rng, -jitter, jitter);
    body.pose.position.z = .5 * z * a + RADIUS + cni_rng_range(&rng, -jitter, jitter);
    status = add_body(&pile->model, &body, &shape);
    n++;
  }
  pile->width = (side - .5) * a + 2 * RADIUS;
  return status;
}

// Boxes of edge 2 R, a layer for every edge length.
static CnStatus add_boxes(Pile *pile, int32_t count) {
  int32_t side = 1;
  while (side * side * side < count) side++;
  CniRng rng = {pile->seed};
  CnBodyDef body = cn_body_def_default();
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_BOX);
  shape.half_size = (CnVec3){RADIUS, RADIUS, RADIUS};
  shape.density = 2000;
  CnStatus status = CN_OK;
  double pitch = 2.3 * RADIUS;
  for (int32_t i = 0; status == CN_OK && i < count; i++) {
    int32_t z = i / (side * side), y = i / side % side, x = i % side;
    double shift = z % 2 ? .5 : 0, yaw = cni_rng_range(&rng, -.2, .2);
    double tilt = cni_rng_range(&rng, -.005, .005);
    body.pose.position.x = (x + shift + .75) * pitch;
    body.pose.position.y = (y + shift + .75) * pitch;
    body.pose.position.z = (2 * z + 1) * RADIUS;
    body.pose.rotation = (CnQuat){sqrt(1 - yaw * yaw - tilt * tilt), tilt, 0, yaw};
    status = add_body(&pile->model, &body, &shape);
  }
  pile->width = (side + 1) * pitch;
  return status;
}

static CnStatus add_walls(Pile *pile) {
  double s = 0.70710678118654757, side = pile->width;
  const CnPose walls[5] = {{{0, 0, 0}, {1, 0, 0, 0}},
                           {{0, 0, 0}, {s, 0, s, 0}},
                           {{side, 0, 0}, {s, 0, -s, 0}},
                           {{0, 0, 0}, {s, -s, 0, 0}},
                           {{0, side, 0}, {s, s, 0, 0}}};
  CnBodyDef body = cn_body_def_default();
  body.kind = CN_BODY_FIXED;
  CnStatus status = CN_OK;
  for (int32_t i = 0; i < 5 && status == CN_OK; i++) {
    CnShapeDef shape = cn_shape_def_default(CN_SHAPE_PLANE);
    shape.pose = walls[i];
    status = add_body(&pile->model, &body, &shape);
  }
  return status;
}

static CnStatus assemble(Pile *pile) {
  CniModel *model = &pile->model;
  CnVec3 gravity = {0, 0, -9.81};
  CniCollisionInput input = {.model = model,
                             .pose = model->pose,
                             .twist = model->twist,
                             .gravity = gravity,
                             .time_step = STEP};
  const CniContact *contacts = NULL;
  int32_t count = 0;
  CnStatus status = cni_collision_detect(pile->collision, &input, &contacts, &count);
  if (status != CN_OK) return status;
  pile->block_of = malloc(((size_t)count + 1) * sizeof *pile->block_of);
  if (!pile->block_of) return CN_NO_MEMORY;
  CniAssemblyInput assembly = {.model = model,
                               .pose = model->pose,
                               .twist = model->twist,
                               .contacts = contacts,
                               .contact_count = count,
                               .gravity = gravity,
                               .time_step = STEP,
                               .stabilisation = .2,
                               .recovery_speed = 1,
                               .restitution_threshold = .01,
                               // the jitter makes overlaps that walls hold: not jaws (squeeze.c)
                               .contact_slop = .1 * RADIUS,
                               .arena = &pile->arena};
  return cni_assemble(&assembly, pile->problem, &pile->answer, pile->block_of, pile->block_of);
}

static CnStatus pile_make(Pile *pile, int boxes, int32_t count, uint64_t seed) {
  CnAllocator allocator = cn_allocator_default();
  memset(pile, 0, sizeof *pile);
  pile->seed = seed;
  CnProblemDef def = cn_problem_def_default();
  cni_arena_init(&pile->arena, &allocator);
  cni_step_memory_init(&pile->memory, &allocator);
  cni_step_memory_hold(&pile->memory);
  pile->answer = cn_answer_empty(&allocator);
  CnStatus status = cni_model_init(&pile->model, &allocator);
  if (status == CN_OK) status = cn_problem_create(&def, &pile->problem);
  if (status == CN_OK) status = cni_collision_create(NULL, &allocator, &pile->collision);
  if (status == CN_OK) status = boxes ? add_boxes(pile, count) : add_spheres(pile, count);
  if (status == CN_OK) status = add_walls(pile);
  if (status == CN_OK) status = assemble(pile);
  if (status == CN_OK) pile->memory.lent_groups = pile->problem->groups;
  return status;
}

static void pile_release(Pile *pile) {
  cn_answer_release(&pile->answer);
  cn_problem_destroy(pile->problem);
  cni_collision_destroy(pile->collision);
  cni_arena_release(&pile->arena);
  cni_step_memory_release(&pile->memory);
  cni_model_release(&pile->model);
  free(pile->block_of);
}

// ---- times ----

#define SWEEPS 120 // of the residual
#define LAST 10    // over which its mean is taken

typedef struct Times {
  double sweep, prepare, rest; // s: one sweep, up to the first, after the last
  double certificate;          // s
  double looks;                // part of the time of SWEEPS sweeps that goes to looks
  double residual, error;      // logarithms, after SWEEPS
  double fill;                 // part of the lanes that are used
  double bytes;                // of constants and impulses, all contacts
  int32_t slabs, columns;
} Times;

// Time of a region of sweeps that is a fraction of the scheduler's time slice.
static double time_sweeps(CniPsor *s, int32_t contacts, double seconds) {
  int32_t count = 20000 / (contacts + 1) + 1;
  if (count > 30) count = 30;
  double best = INFINITY, end = seconds_now() + seconds;
  for (double now = 0; now < end;) {
    double start = seconds_now();
    cni_psor_iterate(s, count);
    now = seconds_now();
    best = cn_min(best, (now - start) / count);
  }
  return best;
}

// Everything but the sweeps, as a solve of one sweep.
static CnStatus time_rest(CniPsor *s, Pile *pile, double seconds, Times *t) {
  double whole = INFINITY, end = seconds_now() + seconds;
  t->prepare = INFINITY;
  CnStatus status = CN_OK;
  s->def.max_iterations = 1;
  while (status == CN_OK && (seconds_now() < end || whole == INFINITY)) {
    CnSolveReport report = {0};
    double start = seconds_now();
    status = cni_psor_solve(s, pile->problem, &pile->answer, &pile->memory, &report);
    whole = cn_min(whole, seconds_now() - start);
    t->prepare = cn_min(t->prepare, report.seconds_setup);
  }
  t->rest = whole - t->prepare - t->sweep;
  return status;
}

// Looks at a tolerance that is never met, as part of a solve of SWEEPS sweeps.
static CnStatus time_looks(CniPsor *s, Pile *pile, Times *t) {
  double sweeps = INFINITY, looks = INFINITY, before = s->def.tolerance;
  CnStatus status = CN_OK;
  s->def.tolerance = 1e-300;
  for (int32_t round = 0; status == CN_OK && round < 5; round++) {
    double look = 0, sweep = 0;
    status = cni_psor_prepare(s, pile->problem, &pile->answer, &pile->memory);
    if (status != CN_OK) break;
    double start = seconds_now(), limit = s->def.tolerance * cni_psor_free_speed(s);
    look += seconds_now() - start;
    for (int32_t i = 0; i < SWEEPS; i += s->def.check_interval) {
      start = seconds_now();
      cni_psor_iterate(s, s->def.check_interval);
      double middle = seconds_now();
      cni_psor_good_enough(s, limit);
      look += seconds_now() - middle;
      sweep += middle - start;
    }
    cni_psor_leave(s);
    sweeps = cn_min(sweeps, sweep);
    looks = cn_min(looks, look);
  }
  s->def.tolerance = before;
  t->looks = looks / (looks + sweeps);
  return status;
}

static CnStatus time_certificate(Pile *pile, Times *t) {
  CnStatus status = CN_OK;
  t->certificate = INFINITY;
  for (int32_t round = 0; status == CN_OK && round < 20; round++) {
    CnCertificate certificate;
    double start = seconds_now();
    status = cni_certify(pile->problem, &pile->answer, &pile->memory, &certificate);
    t->certificate = cn_min(t->certificate, seconds_now() - start);
  }
  return status;
}

static double lanes_used(const CniSchedule *schedule) {
  int64_t lanes = 0, used = 0;
  for (int32_t i = 0; i < schedule->batch_count; i++) {
    const CniBatch *batch = &schedule->batches[i];
    lanes += CNI_BATCH_LANES * batch->length;
    used += batch->lane_count * batch->length;
  }
  return lanes > 0 ? (double)used / (double)lanes : 0;
}

// A cold solve; mean logarithms of what its last sweeps leave.
static CnStatus find_residual(CniPsor *s, Pile *pile, Times *t) {
  CnStatus status = CN_OK;
  t->residual = t->error = 0;
  memset(pile->answer.g, 0, (size_t)pile->answer.row_count * sizeof *pile->answer.g);
  for (int32_t i = LAST - 1; status == CN_OK && i >= 0; i--) {
    CnSolveReport report = {0};
    CnCertificate certificate = {0};
    s->def.max_iterations = i == LAST - 1 ? SWEEPS - i : 1;
    status = cni_psor_solve(s, pile->problem, &pile->answer, &pile->memory, &report);
    if (status == CN_OK)
      status = cni_certify(pile->problem, &pile->answer, &pile->memory, &certificate);
    t->residual += log(certificate.residual_speed) / LAST;
    t->error += log(certificate.error_scaled) / LAST;
  }
  return status;
}

static CnStatus measure(CniPsor *s, Pile *pile, double seconds, Times *t) {
  CnStatus status = find_residual(s, pile, t);
  if (status == CN_OK) status = cni_psor_prepare(s, pile->problem, &pile->answer, &pile->memory);
  if (status != CN_OK) return status;
  t->slabs = s->schedule.cuts.slabs;
  t->columns = s->schedule.column_count;
  t->fill = lanes_used(&s->schedule);
  t->bytes = (double)s->set_count * CNI_LINES_SET * sizeof(CniPsorLine);
  for (int32_t i = 0; i < s->run_count; i++) {
    const CniPsorRun *run = &s->runs[i];
    double lines = run->count * (1.0 + cni_psor_lines(run->kind) * run->length);
    if (run->kind < CNI_PSOR_LANE_KINDS) t->bytes += lines * sizeof(CniPsorLine);
  }
  t->sweep = t->prepare = t->rest = t->certificate = t->looks = 0;
  if (seconds > 0) t->sweep = time_sweeps(s, pile->problem->block_count, seconds);
  cni_psor_leave(s);
  if (!(seconds > 0)) return status;
  status = time_looks(s, pile, t);
  if (status == CN_OK) status = time_rest(s, pile, seconds, t);
  if (status == CN_OK) status = time_certificate(pile, t);
  return status;
}

static CnStatus measure_with(Pile *pile, CnTasks *tasks, CniSimdLevel level, int one_by_one,
                             CnFrictionModel friction, double seconds, Times *t) {
  CnSolverDef def = cn_solver_def_default("psor");
  CnAllocator allocator = cn_allocator_default();
  def.tasks = tasks;
  void *state = NULL;
  CnStatus status = cni_psor_create(&def, &allocator, 0, &state);
  if (status != CN_OK) return status;
  CniPsor *s = state;
  s->level = level;
  s->schedule.one_by_one = one_by_one;
  pile->problem->friction = friction;
  pile->problem->tasks = tasks;
  status = measure(s, pile, seconds, t);
  pile->problem->tasks = NULL;
  cni_psor_destroy(state);
  return status;
}

typedef struct Case {
  int boxes;
  int32_t bodies;
  CnFrictionModel friction;
  int32_t threads, piles;
  CniSimdLevel level;
  double seconds;
} Case;

// Geometric means over piles.
typedef struct Ratios {
  double residual, error;
} Ratios;

static CnStatus pile_ratios(const Case *c, uint64_t seed, Ratios *sum) {
  Pile pile;
  Times plain = {0}, own = {0};
  CnStatus status = pile_make(&pile, c->boxes, c->bodies, seed);
  if (status == CN_OK)
    status = measure_with(&pile, NULL, CNI_SIMD_LEVEL_PLAIN, 1, c->friction, 0, &plain);
  if (status == CN_OK) status = measure_with(&pile, NULL, c->level, 0, c->friction, 0, &own);
  pile_release(&pile);
  sum->residual += own.residual - plain.residual;
  sum->error += own.error - plain.error;
  return status;
}

static CnStatus find_ratios(const Case *c, Ratios *ratios) {
  CnStatus status = CN_OK;
  Ratios sum = {0, 0};
  for (int32_t i = 1; status == CN_OK && i <= c->piles; i++)
    status = pile_ratios(c, (uint64_t)i, &sum);
  *ratios = (Ratios){exp(sum.residual / c->piles), exp(sum.error / c->piles)};
  return status;
}

// One row. one_thread: time of a sweep by one thread, set by the row of one thread.
static CnStatus add_row(Report *report, Pile *pile, const Case *c, const Ratios *ratios,
                        double *one_thread) {
  CnAllocator allocator = cn_allocator_default();
  CnTasks *tasks = NULL;
  Times t;
  Row *row = report_row_begin(report);
  if (!row) return CN_NO_MEMORY;
  CnStatus status = cn_tasks_create(c->threads, NULL, &allocator, &tasks);
  if (status == CN_OK) status = measure_with(pile, tasks, c->level, 0, c->friction, c->seconds, &t);
  cn_tasks_destroy(tasks);
  if (status != CN_OK) return status;
  double blocks = pile->problem->block_count;
  if (c->threads == 1) *one_thread = t.sweep;
  row_text(row, "pile", c->boxes ? "boxes" : "spheres");
  row_text(row, "friction", cn_friction_model_name(c->friction));
  row_number(row, "contacts", blocks);
  row_number(row, "threads", c->threads);
  row_text(row, "simd", cni_simd_level_name(c->level));
  row_number(row, "ns_per_contact_iteration", 1e9 * t.sweep / blocks);
  row_number(row, "of_one_thread", t.sweep / *one_thread);
  row_number(row, "prepare_sweeps", t.prepare / t.sweep);
  row_number(row, "finish_sweeps", t.rest / t.sweep);
  row_number(row, "certificate_sweeps", t.certificate / t.sweep);
  row_number(row, "look_share", t.looks);
  row_number(row, "residual_ratio", ratios->residual);
  row_number(row, "error_ratio", ratios->error);
  row_number(row, "piles", c->piles);
  row_number(row, "bytes_per_contact", t.bytes / blocks);
  row_number(row, "gigabytes_per_second", 1e-9 * t.bytes / t.sweep);
  row_number(row, "slabs", t.slabs);
  row_number(row, "columns", t.columns);
  row_number(row, "fill", t.fill);
  report_row_end(report, row);
  return CN_OK;
}

static CnStatus run_model(Report *report, Pile *pile, Case c, CnFrictionModel friction) {
  Ratios ratios;
  double one_thread = INFINITY;
  c.friction = friction;
  CnStatus status = find_ratios(&c, &ratios);
  for (c.threads = 1; status == CN_OK && c.threads <= 2; c.threads++)
    status = add_row(report, pile, &c, &ratios, &one_thread);
  return status;
}

static int run_pile(Report *report, const Case *c) {
  Pile pile;
  CnStatus status = pile_make(&pile, c->boxes, c->bodies, 1);
  if (status == CN_OK) status = run_model(report, &pile, *c, CN_FRICTION_COULOMB);
  if (status == CN_OK) status = run_model(report, &pile, *c, CN_FRICTION_CONVEX);
  pile_release(&pile);
  return status == CN_OK;
}

static int run(const Values *values, Report *report) {
  int32_t spheres[VALUE_LIST], boxes[VALUE_LIST], sphere_count, box_count, piles;
  double seconds = value_number(values, "seconds");
  if (!value_list(values, "spheres", 1, 1e7, spheres, &sphere_count) ||
      !value_list(values, "boxes", 1, 1e7, boxes, &box_count) ||
      !value_whole(values, "piles", 1, 1000, &piles))
    return 0;
  if (!(seconds > 0 && seconds < 1000)) {
    fprintf(stderr, "cairn-bench: seconds must be positive\n");
    return 0;
  }
  for (int32_t i = 0; i < sphere_count + box_count; i++) {
    int is_box = i >= sphere_count;
    Case c = {.boxes = is_box,
              .bodies = is_box ? boxes[i - sphere_count] : spheres[i],
              .piles = piles,
              .level = cni_simd_level(),
              .seconds = seconds};
    if (run_pile(report, &c)) continue;
    fprintf(stderr, "cairn-bench: kernel: %s\n", cn_error_message());
    return 0;
  }
  return 1;
}

static const Parameter parameters[] = {{"spheres", "800,7000,42000", "numbers of spheres"},
                                       {"boxes", "200,1700,10000", "numbers of boxes"},
                                       {"seconds", "0.5", "for each of the times of a row"},
                                       {"piles", "4", "over which residuals are compared"},
                                       {NULL, NULL, NULL}};
static const Column columns[] = {{"pile", "pile"},
                                 {"friction", "friction"},
                                 {"contacts", "contacts"},
                                 {"threads", "threads"},
                                 {"simd", "simd"},
                                 {"ns_per_contact_iteration", "ns/contact/sweep"},
                                 {"of_one_thread", "of one thread"},
                                 {"prepare_sweeps", "prepare"},
                                 {"finish_sweeps", "finish"},
                                 {"certificate_sweeps", "certificate"},
                                 {"look_share", "looks"},
                                 {"residual_ratio", "residual"},
                                 {"error_ratio", "error"},
                                 {"bytes_per_contact", "bytes"},
                                 {"gigabytes_per_second", "GB/s"},
                                 {"slabs", "slabs"},
                                 {"columns", "columns"},
                                 {"fill", "fill"},
                                 {NULL, NULL}};
extern const Bench bench_kernel;
const Bench bench_kernel = {"kernel",
                            "psor: time per contact and sweep, set-up, convergence (3 minutes)",
                            parameters, columns, run};
