// The sweeps of psor: time per contact and sweep, what a solve costs besides, and how the order of
// the sweeps changes what is reached.
//
// Two piles, made at once and not settled: spheres on a body-centred lattice without every tenth,
// and layers of boxes, each layer shifted by half a box and every box turned a little, so that a
// box touches several others with one to eight points each. Time per sweep is the difference
// between two solves of many and of few sweeps, the fastest of each: other load only ever adds.
// `residual_ratio` is the residual after 120 sweeps over that of the plain sweeps in stored order.
#include <stdlib.h>
#include <string.h>

#include "assembly/assembly.h"
#include "bench.h"
#include "bodies.h"
#include "core/math.h"
#include "core/rng.h"
#include "core/tasks.h"
#include "solver/psor.h"

#define RADIUS 0.1
#define STEP 0.005

// ---- the piles ----

typedef struct Pile {
  CniModel model;
  CniCollision *collision;
  CniArena arena;
  CnProblem *problem;
  CnAnswer answer;
  int32_t *block_of;
  double width; // m, of the base
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
  CniRng rng = {1};
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
  CniRng rng = {1};
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
                               .arena = &pile->arena};
  return cni_assemble(&assembly, pile->problem, &pile->answer, pile->block_of, pile->block_of);
}

static CnStatus pile_make(Pile *pile, int boxes, int32_t count) {
  CnAllocator allocator = cn_allocator_default();
  memset(pile, 0, sizeof *pile);
  CnProblemDef def = cn_problem_def_default();
  cni_arena_init(&pile->arena, &allocator);
  pile->answer = cn_answer_empty(&allocator);
  CnStatus status = cni_model_init(&pile->model, &allocator);
  if (status == CN_OK) status = cn_problem_create(&def, &pile->problem);
  if (status == CN_OK) status = cni_collision_create(NULL, &allocator, &pile->collision);
  if (status == CN_OK) status = boxes ? add_boxes(pile, count) : add_spheres(pile, count);
  if (status == CN_OK) status = add_walls(pile);
  if (status == CN_OK) status = assemble(pile);
  return status;
}

static void pile_release(Pile *pile) {
  cn_answer_release(&pile->answer);
  cn_problem_destroy(pile->problem);
  cni_collision_destroy(pile->collision);
  cni_arena_release(&pile->arena);
  cni_model_release(&pile->model);
  free(pile->block_of);
}

// ---- times ----

typedef struct Times {
  double few, many, setup; // s, of a solve; before its first sweep
  double residual;
  int32_t slabs;
  double fill; // lanes used
} Times;

#define FEW 20
#define MANY 120

// One cold solve; returns seconds.
static CnStatus solve_once(CniPsor *s, Pile *pile, int32_t sweeps, double *seconds, double *setup) {
  CnSolveReport report = {0};
  s->def.max_iterations = sweeps;
  memset(pile->answer.g, 0, (size_t)pile->answer.row_count * sizeof *pile->answer.g);
  double start = seconds_now();
  CnStatus status = cni_psor_solve(s, pile->problem, &pile->answer, &report);
  *seconds = cn_min(*seconds, seconds_now() - start);
  *setup = cn_min(*setup, report.seconds_setup);
  return status;
}

static CnStatus measure(Pile *pile, CnTasks *tasks, CniSimdLevel level, int one_by_one,
                        int32_t repeats, Times *t) {
  CnSolverDef def = cn_solver_def_default("psor");
  CnAllocator allocator = cn_allocator_default();
  def.tasks = tasks;
  void *state = NULL;
  CnStatus status = cni_psor_create(&def, &allocator, 0, &state);
  if (status != CN_OK) return status;
  CniPsor *s = state;
  s->level = level;
  s->schedule.one_by_one = one_by_one;
  *t = (Times){.few = INFINITY, .many = INFINITY, .setup = INFINITY};
  for (int32_t i = 0; status == CN_OK && i < repeats; i++) {
    status = solve_once(s, pile, FEW, &t->few, &t->setup);
    if (status == CN_OK) status = solve_once(s, pile, MANY, &t->many, &t->setup);
  }
  CnCertificate certificate = {0};
  if (status == CN_OK) status = cn_certify(pile->problem, &pile->answer, &certificate);
  t->residual = certificate.residual_speed;
  t->slabs = s->schedule.slab_count;
  int64_t lanes = 0, used = 0;
  for (int32_t i = 0; i < s->schedule.batch_count; i++) {
    lanes += CNI_BATCH_LANES * s->schedule.batches[i].length;
    used += s->schedule.batches[i].lane_count * s->schedule.batches[i].length;
  }
  t->fill = lanes > 0 ? (double)used / (double)lanes : 0;
  cni_psor_destroy(state);
  return status;
}

static int add_row(Report *report, Pile *pile, const char *what, int32_t threads,
                   CniSimdLevel level, int32_t repeats, const Times *plain, double *one_thread) {
  CnAllocator allocator = cn_allocator_default();
  CnTasks *tasks = NULL;
  Times t;
  Row *row = report_row_begin(report);
  if (!row || cn_tasks_create(threads, NULL, &allocator, &tasks) != CN_OK) return 0;
  CnStatus status = measure(pile, tasks, level, 0, repeats, &t);
  cn_tasks_destroy(tasks);
  if (status != CN_OK) return 0;
  double blocks = pile->problem->block_count, sweep = (t.many - t.few) / (MANY - FEW);
  if (threads == 1) *one_thread = sweep;
  row_text(row, "pile", what);
  row_number(row, "contacts", blocks);
  row_number(row, "threads", threads);
  row_text(row, "simd", cni_simd_level_name(level));
  row_number(row, "ns_per_contact_iteration", 1e9 * sweep / blocks);
  row_number(row, "of_one_thread", sweep / *one_thread);
  row_number(row, "setup_sweeps", t.setup / sweep);
  row_number(row, "other_sweeps", (t.few - FEW * sweep) / sweep);
  row_number(row, "plain_ns", 1e9 * (plain->many - plain->few) / (MANY - FEW) / blocks);
  row_number(row, "residual_ratio", t.residual / plain->residual);
  row_number(row, "slabs", t.slabs);
  row_number(row, "fill", t.fill);
  report_row_end(report, row);
  return 1;
}

static int run_pile(Report *report, int boxes, int32_t bodies, int32_t repeats) {
  Pile pile;
  Times plain;
  double one_thread = INFINITY;
  int ok = pile_make(&pile, boxes, bodies) == CN_OK;
  int32_t blocks = ok ? pile.problem->block_count : 1;
  repeats = repeats * (200000 / (blocks + 1) + 1);
  if (repeats > 400) repeats = 400;
  ok = ok && measure(&pile, NULL, CNI_SIMD_LEVEL_PLAIN, 1, 1, &plain) == CN_OK;
  const char *what = boxes ? "boxes" : "spheres";
  CniSimdLevel level = cni_simd_level();
  for (int32_t threads = 1; ok && threads <= 2; threads++)
    ok = add_row(report, &pile, what, threads, level, repeats, &plain, &one_thread);
  pile_release(&pile);
  return ok;
}

static int run(const Values *values, Report *report) {
  int32_t spheres[VALUE_LIST], boxes[VALUE_LIST], sphere_count, box_count, repeats;
  if (!value_list(values, "spheres", 1, 1e7, spheres, &sphere_count) ||
      !value_list(values, "boxes", 1, 1e7, boxes, &box_count) ||
      !value_whole(values, "repeats", 1, 1000, &repeats))
    return 0;
  for (int32_t i = 0; i < sphere_count + box_count; i++) {
    int is_box = i >= sphere_count;
    if (run_pile(report, is_box, is_box ? boxes[i - sphere_count] : spheres[i], repeats)) continue;
    fprintf(stderr, "cairn-bench: kernel: %s\n", cn_error_message());
    return 0;
  }
  return 1;
}

static const Parameter parameters[] = {{"spheres", "800,7000,42000", "numbers of spheres"},
                                       {"boxes", "200,1700,10000", "numbers of boxes"},
                                       {"repeats", "3", "solves, times 200000 / contacts"},
                                       {NULL, NULL, NULL}};
static const Column columns[] = {{"pile", "pile"},
                                 {"contacts", "contacts"},
                                 {"threads", "threads"},
                                 {"simd", "simd"},
                                 {"ns_per_contact_iteration", "ns"},
                                 {"of_one_thread", "of one"},
                                 {"setup_sweeps", "setup sweeps"},
                                 {"other_sweeps", "all but sweeps"},
                                 {"plain_ns", "plain ns"},
                                 {"residual_ratio", "residual"},
                                 {"slabs", "slabs"},
                                 {"fill", "fill"},
                                 {NULL, NULL}};
extern const Bench bench_kernel;
const Bench bench_kernel = {"kernel", "psor: time per contact and sweep, set-up, convergence",
                            parameters, columns, run};
