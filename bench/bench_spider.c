// SPDX-License-Identifier: Apache-2.0
// The spider of examples/machines (the paper of 2007: 37 parts, 12 motors, 50 iterations, h = .01 s, 1 ms a
// step on its machine): microseconds a step, how far it walks, how far its hinges open. Beside it
// the same machine in the other engines that are installed, with as many iterations: ODE's dWorldStep and
// dWorldQuickStep, Bullet's rigid bodies and MuJoCo. Engines that converge walk .70 to .72 m in 5 s.
#include <cairn/scene.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "peer.h"

#define PEER_SECONDS 60

#ifdef BENCH_IO

typedef struct Spider {
  CnScene *scene;
  CnWorld *world;
  CnBodyId *bodies; // without the floor
  int32_t body_count, joint_count, steps, method, iterations;
  double h, speed, friction, start; // start: m, of the trunk
} Spider;

typedef struct Figures {
  double seconds, open, walked, height;
} Figures;

static int32_t number_of(const Spider *s, CnBodyId id) {
  int32_t i = 0;
  while (i < s->body_count && s->bodies[i].slot != id.slot) i++;
  return i < s->body_count ? i : -1;
}

static CnStatus list_bodies(Spider *s) {
  CnSceneInfo info;
  cn_scene_info(s->scene, &info);
  s->bodies = calloc((size_t)info.body_count + 1, sizeof *s->bodies);
  if (!s->bodies) return CN_NO_MEMORY;
  for (CnBodyId id = cn_world_next_body(s->world, (CnBodyId){0, 0}); id.slot;
       id = cn_world_next_body(s->world, id)) {
    CnBodyInfo body;
    CnStatus status = cn_body_info(s->world, id, &body);
    if (status != CN_OK) return status;
    if (body.kind == CN_BODY_DYNAMIC) s->bodies[s->body_count++] = id;
  }
  s->joint_count = info.joint_count;
  return CN_OK;
}

static CnStatus open_spider(Spider *s, const char *solver) {
  const CnSetting settings[] = {{"speed", s->speed}, {"friction", s->friction}};
  CnWorldDef def = cn_world_def_default();
  CnPose pose;
  CnStatus status = cn_scene_open(BENCH_SOURCE_DIR "/examples/machines/spider.json", settings, 2,
                                  NULL, &s->scene);
  if (status != CN_OK) return status;
  cn_scene_world_def(s->scene, &def);
  def.time_step = s->h;
  if (strcmp(solver, "default") != 0) def.solver = cn_solver_def_default(solver);
  status = cn_world_create(&def, &s->world);
  if (status == CN_OK) status = cn_scene_fill(s->scene, s->world);
  if (status == CN_OK) status = list_bodies(s);
  if (status == CN_OK) status = cn_body_pose(s->world, s->bodies[0], &pose);
  if (status == CN_OK) s->start = pose.position.x;
  return status;
}

static void close_spider(Spider *s) {
  cn_world_destroy(s->world);
  cn_scene_destroy(s->scene);
  free(s->bodies);
}

// ---- the list for peers ------------------------------------------------------------------------

static CnVec3 rotated(CnQuat q, CnVec3 v) {
  CnVec3 t = {2 * (q.y * v.z - q.z * v.y), 2 * (q.z * v.x - q.x * v.z),
              2 * (q.x * v.y - q.y * v.x)};
  return (CnVec3){v.x + q.w * t.x + q.y * t.z - q.z * t.y, v.y + q.w * t.y + q.z * t.x - q.x * t.z,
                  v.z + q.w * t.z + q.x * t.y - q.y * t.x};
}

static void write_body(const Spider *s, int32_t i, FILE *file) {
  CnPose pose;
  CnBodyInfo info;
  CnShapeDef box;
  cn_body_pose(s->world, s->bodies[i], &pose);
  cn_body_info(s->world, s->bodies[i], &info);
  cn_shape_def(s->world, cn_body_shape(s->world, s->bodies[i], 0), &box);
  const double *x = &pose.position.x;
  fprintf(file, "box");
  for (int32_t k = 0; k < 7; k++) fprintf(file, " %.17g", x[k]);
  fprintf(file, " %.17g %.17g %.17g %.17g 0 0 0 0 0 0\n", 2 * box.half_size.x, 2 * box.half_size.y,
          2 * box.half_size.z, info.mass);
}

static void write_feet(const Spider *s, int32_t i, FILE *file) {
  CnBodyInfo info;
  cn_body_info(s->world, s->bodies[i], &info);
  for (int32_t k = 0; k < info.shape_count; k++) {
    CnShapeDef foot;
    cn_shape_def(s->world, cn_body_shape(s->world, s->bodies[i], k), &foot);
    CnVec3 at = foot.pose.position;
    if (foot.kind == CN_SHAPE_SPHERE)
      fprintf(file, "foot %d %.17g %.17g %.17g %.17g\n", (int)i, at.x, at.y, at.z, foot.radius);
  }
}

static void write_hinge(const Spider *s, int32_t i, const CnJointDef *def, FILE *file) {
  CnPose pose;
  const CnJointAxis *angle = &def->axes[0];
  cn_body_pose(s->world, def->body_a, &pose);
  CnVec3 from = rotated(pose.rotation, def->frame_a.position);
  CnVec3 axis = rotated(pose.rotation, rotated(def->frame_a.rotation, (CnVec3){0, 0, 1}));
  fprintf(file, "hinge %d %d %.17g %.17g %.17g %.17g %.17g %.17g\n", (int)number_of(s, def->body_a),
          (int)number_of(s, def->body_b), pose.position.x + from.x, pose.position.y + from.y,
          pose.position.z + from.z, axis.x, axis.y, axis.z);
  if (angle->motor_effort > 0 && angle->drive == CN_DRIVE_POSITION)
    fprintf(file, "keep %d\n", (int)i);
  else if (angle->motor_effort > 0) // the function of the scene
    fprintf(file, "drive %d %.17g .5 %.17g\n", (int)i, s->speed, angle->motor_effort);
}

static int write_machine(const void *list, FILE *file) {
  const Spider *s = list;
  int32_t i = 0;
  fprintf(file, "step %.17g %d %d\n", s->h, (int)s->steps, (int)s->method);
  fprintf(file, "floor %.17g %d\n", s->friction, (int)s->iterations);
  for (int32_t k = 0; k < s->body_count; k++) write_body(s, k, file);
  for (CnJointId id = cn_world_next_joint(s->world, (CnJointId){0, 0}); id.slot;
       id = cn_world_next_joint(s->world, id)) {
    CnJointDef def;
    if (cn_joint_def(s->world, id, &def) != CN_OK) return 0;
    write_hinge(s, i++, &def, file);
  }
  for (int32_t k = 0; k < s->body_count; k++) write_feet(s, k, file);
  return !ferror(file);
}

// ---- rows --------------------------------------------------------------------------------------

static void fill_row(Row *row, const Spider *s, const char *engine, const Figures *f,
                     double cairn) {
  row_text(row, "engine", engine);
  row_number(row, "h", s->h);
  row_number(row, "steps", s->steps);
  row_number(row, "us_per_step", 1e6 * f->seconds);
  row_number(row, "joint_error", f->open);
  row_number(row, "walked", f->walked);
  row_number(row, "height", f->height);
  row_number(row, "ratio", f->seconds / cairn);
}

static double joint_error(const Spider *s) {
  double most = 0;
  CnJointState state;
  for (CnJointId id = cn_world_next_joint(s->world, (CnJointId){0, 0}); id.slot;
       id = cn_world_next_joint(s->world, id))
    if (cn_joint_state(s->world, id, &state) == CN_OK) most = fmax(most, state.error);
  return most;
}

static int cairn_row(Report *report, Spider *s, const char *solver, Figures *f) {
  char name[64];
  CnPose pose;
  Row *row = report_row_begin(report);
  if (!row) return 0;
  *f = (Figures){0, 0, 0, 0};
  for (int32_t i = 0; i < s->steps; i++) {
    double start = seconds_now();
    if (cn_world_step(s->world, NULL) != CN_OK) return 0;
    // the first steps find the order and take the memory
    if (i >= s->steps / 10) f->seconds += seconds_now() - start;
    f->open = fmax(f->open, joint_error(s));
  }
  if (cn_body_pose(s->world, s->bodies[0], &pose) != CN_OK) return 0;
  f->seconds /= s->steps - s->steps / 10;
  f->walked = s->start - pose.position.x;
  f->height = pose.position.z;
  snprintf(name, sizeof name, "cairn %s", solver);
  fill_row(row, s, name, f, f->seconds);
  report_row_end(report, row);
  return 1;
}

static const struct {
  const char *name, *program;
  int32_t method;
} engines[] = {{"ODE direct", "hinges_ode", 0},
               {"ODE QuickStep", "hinges_ode", 1},
               {"Bullet", "hinges_rigid", 0},
               {"MuJoCo", "hinges_mujoco", 0}};

static int engine_row(const Values *values, Report *report, Spider *s, int32_t engine,
                      double cairn) {
  Row *row = report_row_begin(report);
  Figures f = {NAN, NAN, NAN, NAN};
  FILE *answer;
  double n[11];
  int count = 0;
  if (!row) return 0;
  s->method = engines[engine].method;
  PeerOutcome outcome = peer_exchange(values->directory, engines[engine].program, PEER_SECONDS,
                                      write_machine, s, &answer);
  if (outcome == PEER_DONE) {
    while (count < 11 && fscanf(answer, "%lf", &n[count]) == 1) count++;
    fclose(answer);
  }
  if (count == 11)
    f = (Figures){n[0], n[1], s->start - n[8], n[10]};
  else if (outcome == PEER_DONE)
    outcome = PEER_FAILED;
  fill_row(row, s, engines[engine].name, &f, cairn);
  if (outcome != PEER_DONE)
    row_text(row, "status", outcome == PEER_NOT_INSTALLED ? "not installed" : "failed");
  report_row_end(report, row);
  return 1;
}

static int run(const Values *values, Report *report) {
  Spider s = {.h = value_number(values, "h"),
              .speed = value_number(values, "speed"),
              .friction = value_number(values, "friction")};
  const char *solver = value_text(values, "solver");
  double seconds = value_number(values, "seconds");
  Figures own;
  if (!value_whole(values, "iterations", 1, 1e6, &s.iterations)) return 0;
  if (!(s.h > 0 && seconds >= s.h && seconds / s.h < 1e6)) {
    fprintf(stderr, "cairn-bench: spider: a step of h within the seconds, and a million at most\n");
    return 0;
  }
  s.steps = (int32_t)(seconds / s.h + 0.5);
  Spider start = s; // peers begin where the world did
  int ok = open_spider(&s, solver) == CN_OK && open_spider(&start, solver) == CN_OK &&
           cairn_row(report, &s, solver, &own);
  if (!ok) fprintf(stderr, "cairn-bench: spider: %s\n", cn_error_message());
  int peers = strcmp(value_text(values, "peers"), "none") != 0;
  for (int32_t i = 0; ok && peers && i < (int32_t)(sizeof engines / sizeof engines[0]); i++)
    ok = engine_row(values, report, &start, i, own.seconds);
  close_spider(&s);
  close_spider(&start);
  return ok;
}

#else

static int run(const Values *values, Report *report) {
  (void)values;
  (void)report;
  fprintf(stderr, "cairn-bench: spider needs scenes, which this build is without\n");
  return 0;
}

#endif

static const Parameter parameters[] = {
    {"h", "0.01", "time step, s"},
    {"seconds", "5", "that it walks; the first tenth of the steps is not timed"},
    {"speed", "4", "of the cranks, rad/s"},
    {"friction", "0.6", "of the feet"},
    {"solver", "default", "Cairn's solver"},
    {"iterations", "50", "of the other engines"},
    {"peers", "all", "none: Cairn alone"},
    {NULL, NULL, NULL}};
static const Column columns[] = {{"engine", "engine"},         {"h", "h s"},
                                 {"us_per_step", "us a step"}, {"joint_error", "joints open, m"},
                                 {"walked", "walked, m"},      {"height", "body at, m"},
                                 {"ratio", "of Cairn's time"}, {NULL, NULL}};
extern const Bench bench_spider;
const Bench bench_spider = {"spider", "the walking robot of 2007: time, way, joints, beside others",
                            parameters, columns, run};
