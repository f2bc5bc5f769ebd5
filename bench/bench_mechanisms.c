// SPDX-License-Identifier: Apache-2.0
// Mechanisms of hinges: microseconds a body and step, and what the joints and the motion are worth.
//
// chain: n boxes .1 x .02 x .02 m, .1 kg, hinged about y end to end, the first to the ground at the
// origin, straight, 30 degrees below +x, at rest; the tip against a solution by a planar recursion
// with small steps. btree: body i hangs at the end of body (i-1)/2, turned by 35 degrees to either
// side about y or z. ladder: n windows of rods 1 m, 1 kg, section .01 x .01: 2n + 1 bodies, 3n + 1
// hinges, three rows too many a window; upright, let go at 1 m/s. h = .001, 1000 steps up to 100
// bodies, 200 up to 1000, 20 beyond. Beside each row the same machine in the other engines that are
// installed: ODE's dWorldStep (dense: up to `direct` bodies) and dWorldQuickStep; Bullet, as
// multibodies; Simbody; MuJoCo, where the tree is not too deep for its reader. Their time over Cairn's
// is in `ratio`.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/cairn.h>

#include "bench.h"
#include "peer.h"

#define STEP 1e-3
#define PEER_SECONDS 60 // each: all rows together are a matter of minutes
#define DEGREE (3.14159265358979323846 / 180)

typedef struct Link { // what the list for peers has of a body
  CnPose pose;
  CnTwist twist;
  CnVec3 size;
  double mass;
} Link;

typedef struct Hinge {
  int32_t a, b; // -1: the ground
  CnVec3 at, axis;
} Hinge;

typedef struct Machine {
  CnWorld *world;
  const char *acts; // on hinges
  Link *links;
  Hinge *hinges;
  int32_t method; // of the peer
  double seconds; // a step of Cairn's
  CnBodyId *bodies;
  CnJointId *joints;
  int32_t body_count, joint_count;
} Machine;

static CnVec3 vec(double x, double y, double z) { return (CnVec3){x, y, z}; }

static CnVec3 plus(CnVec3 a, double s, CnVec3 b) {
  return vec(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}

static CnVec3 rotated(CnQuat q, CnVec3 v) {
  CnVec3 t = {2 * (q.y * v.z - q.z * v.y), 2 * (q.z * v.x - q.x * v.z),
              2 * (q.x * v.y - q.y * v.x)};
  return vec(v.x + q.w * t.x + q.y * t.z - q.z * t.y, v.y + q.w * t.y + q.z * t.x - q.x * t.z,
             v.z + q.w * t.z + q.x * t.y - q.y * t.x);
}

static CnVec3 point_of(CnPose pose, CnVec3 at) {
  return plus(pose.position, 1, rotated(pose.rotation, at));
}

static CnQuat times(CnQuat a, CnQuat b) {
  return (CnQuat){
      a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
      a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

static CnQuat turn(CnVec3 axis, double angle) {
  double c = cos(0.5 * angle), s = sin(0.5 * angle);
  return (CnQuat){c, s * axis.x, s * axis.y, s * axis.z};
}

static int add_box(Machine *m, CnVec3 centre, CnQuat rotation, CnVec3 size, double mass,
                   CnTwist twist) {
  CnBodyDef def = cn_body_def_default();
  m->links[m->body_count] = (Link){{centre, rotation}, twist, size, mass};
  def.pose = (CnPose){centre, rotation};
  def.twist = twist;
  def.mass = mass;
  double x = size.x * size.x, y = size.y * size.y, z = size.z * size.z, f = mass / 12;
  def.inertia = (CnSym3){f * (y + z), f * (x + z), f * (x + y), 0, 0, 0};
  return cn_body_create(m->world, &def, &m->bodies[m->body_count++]) == CN_OK;
}

// Place in a list that ends with null, which is that of none.
static int32_t find(const char *const *names, const char *name) {
  int32_t k = 0;
  while (names[k] && strcmp(names[k], name) != 0) k++;
  return k;
}

// What acts on every hinge besides, of the name; 0: there is none of it.
static int act(const char *acts, CnJointAxis *axis) {
  static const char *const names[] = {"none", "spring", "friction", "motor", "servo", NULL};
  int32_t k = find(names, acts);
  if (k == 1) axis->stiffness = 2, axis->damping = .01;
  if (k == 2) axis->friction = .01;
  if (k == 3) axis->motor_speed = .5, axis->motor_effort = .05;
  if (k == 4) {
    axis->drive = CN_DRIVE_POSITION;
    axis->motor_effort = 100;
    axis->motor_stiffness = 5;
    axis->motor_damping = .1;
  }
  return names[k] != NULL;
}

// Between bodies a and b of the list; -1: the ground.
static int add_hinge(Machine *m, int32_t a, int32_t b, CnVec3 at, CnVec3 axis) {
  CnJointDef def = cn_joint_def_default(CN_JOINT_REVOLUTE);
  m->hinges[m->joint_count] = (Hinge){a, b, at, axis};
  if (a >= 0) def.body_a = m->bodies[a];
  if (b >= 0) def.body_b = m->bodies[b];
  if (!act(m->acts, &def.axes[0])) return 0;
  return cn_joint_def_along(m->world, at, axis, &def) == CN_OK &&
         cn_joint_create(m->world, &def, &m->joints[m->joint_count++]) == CN_OK;
}

// ---- the machines ------------------------------------------------------------------------------

static const CnVec3 link_size = {.1, .02, .02};
static const CnTwist at_rest = {{0, 0, 0}, {0, 0, 0}};

static int make_chain(Machine *m, int32_t n) {
  CnVec3 y = {0, 1, 0}, end = {0, 0, 0};
  CnQuat down = turn(y, 30 * DEGREE);
  CnVec3 along = rotated(down, vec(.1, 0, 0));
  int ok = 1;
  for (int32_t i = 0; i < n && ok; i++, end = plus(end, 1, along))
    ok = add_box(m, plus(end, .5, along), down, link_size, .1, at_rest) &&
         add_hinge(m, i - 1, i, end, y);
  return ok;
}

static int make_btree(Machine *m, int32_t n) {
  int ok = 1;
  for (int32_t i = 0; i < n && ok; i++) {
    CnVec3 y = {0, 1, 0}, z = {0, 0, 1}, start = {0, 0, 0};
    CnQuat q = turn(y, 30 * DEGREE);
    int32_t parent = i > 0 ? (i - 1) / 2 : -1;
    if (parent >= 0) {
      CnPose pose;
      ok = cn_body_pose(m->world, m->bodies[parent], &pose) == CN_OK;
      start = point_of(pose, vec(.05, 0, 0));
      q = times(pose.rotation, turn(i % 4 < 2 ? y : z, (i % 2 ? 35 : -35) * DEGREE));
    }
    ok = ok && add_box(m, plus(start, 1, rotated(q, vec(.05, 0, 0))), q, link_size, .1, at_rest) &&
         add_hinge(m, parent, i, start, rotated(q, i % 2 ? y : z));
  }
  return ok;
}

static int make_ladder(Machine *m, int32_t windows) {
  CnVec3 y = {0, 1, 0}, upright = {.01, .01, 1}, level = {1, .01, .01};
  CnTwist swing = {{.5, 0, 0}, {0, 1, 0}}, slide = {{1, 0, 0}, {0, 0, 0}};
  int ok = 1;
  for (int32_t i = 0; i <= windows && ok; i++)
    ok = add_box(m, vec(i, 0, .5), (CnQuat){1, 0, 0, 0}, upright, 1, swing) &&
         add_hinge(m, -1, i, vec(i, 0, 0), y);
  for (int32_t i = 0; i < windows && ok; i++) {
    int32_t bar = m->body_count;
    ok = add_box(m, vec(i + .5, 0, 1), (CnQuat){1, 0, 0, 0}, level, 1, slide) &&
         add_hinge(m, i, bar, vec(i, 0, 1), y) && add_hinge(m, i + 1, bar, vec(i + 1, 0, 1), y);
  }
  return ok;
}

typedef struct Kind {
  const char *name, *parameter;
  int (*make)(Machine *machine, int32_t n);
  int32_t bodies_per, bodies_more; // of n
} Kind;

static const Kind kinds[] = {{"chain", "chain", make_chain, 1, 0},
                             {"btree", "btree", make_btree, 1, 0},
                             {"ladder", "ladder", make_ladder, 2, 1},
                             {NULL, NULL, NULL, 0, 0}};

// ---- figures -----------------------------------------------------------------------------------

typedef struct Truth {
  int32_t n;
  double time, x, z;
} Truth;

static const Truth tips[] = {{10, 1, -.8297311573, -.5492730813},
                             {100, 1, 5.2311153387, -7.9251858488},
                             {1000, .2, 86.5139473893, -50.1450508138},
                             {10000, .02, 866.0245530257, -500.0014708143}};

static double tip_error(int32_t n, double time, CnVec3 tip) {
  for (size_t i = 0; i < sizeof tips / sizeof tips[0]; i++)
    if (tips[i].n == n && fabs(tips[i].time - time) < 1e-9)
      return hypot(tip.x - tips[i].x, tip.z - tips[i].z);
  return NAN;
}

static double joint_error(const Machine *m) {
  double most = 0;
  CnJointState state;
  for (int32_t i = 0; i < m->joint_count; i++)
    if (cn_joint_state(m->world, m->joints[i], &state) == CN_OK) most = fmax(most, state.error);
  return most;
}

static int32_t steps_of(int32_t bodies) { return bodies <= 100 ? 1000 : bodies <= 1000 ? 200 : 20; }

static int step_all(const Machine *m, int32_t steps, double *seconds, double *error) {
  *seconds = *error = 0;
  for (int32_t i = 0; i < steps; i++) {
    double start = seconds_now();
    if (cn_world_step(m->world, NULL) != CN_OK) return 0;
    // the first steps find the order and take the memory
    if (i >= steps / 10) *seconds += seconds_now() - start;
    *error = fmax(*error, joint_error(m));
  }
  *seconds /= steps - steps / 10;
  return 1;
}

// ---- rows --------------------------------------------------------------------------------------

typedef struct Figures {
  double seconds, error;
  CnVec3 tip;
} Figures;

static void fill_row(Row *row, const Kind *kind, int32_t n, const Machine *m, const char *engine,
                     const Figures *f) {
  int32_t steps = steps_of(m->body_count);
  row_text(row, "mechanism", kind->name);
  row_number(row, "n", n);
  row_number(row, "bodies", m->body_count);
  row_number(row, "joints", m->joint_count);
  row_text(row, "engine", engine);
  row_number(row, "steps", steps);
  row_number(row, "us_per_step", 1e6 * f->seconds);
  row_number(row, "us_per_body", 1e6 * f->seconds / m->body_count);
  row_number(row, "joint_error", f->error);
  if (kind->make == make_chain && strcmp(m->acts, "none") == 0)
    row_number(row, "tip_error", tip_error(n, steps * STEP, f->tip));
  row_number(row, "ratio", f->seconds / m->seconds);
}

static int cairn_row(Report *report, const Kind *kind, int32_t n, Machine *m, const char *solver) {
  Row *row = report_row_begin(report);
  Figures f;
  CnPose pose;
  char name[64];
  if (!row || !step_all(m, steps_of(m->body_count), &f.seconds, &f.error)) return 0;
  if (cn_body_pose(m->world, m->bodies[m->body_count - 1], &pose) != CN_OK) return 0;
  f.tip = point_of(pose, vec(.05, 0, 0));
  m->seconds = f.seconds;
  snprintf(name, sizeof name, "cairn %s", solver);
  fill_row(row, kind, n, m, name, &f);
  report_row_end(report, row);
  return 1;
}

static int write_machine(const void *list, FILE *file) {
  const Machine *m = list;
  fprintf(file, "step %.17g %d %d\n", STEP, (int)steps_of(m->body_count), (int)m->method);
  for (int32_t i = 0; i < m->body_count; i++) {
    const Link *l = &m->links[i];
    const double *x = &l->pose.position.x, *v = &l->twist.velocity.x;
    fprintf(file, "box");
    for (int32_t k = 0; k < 7; k++) fprintf(file, " %.17g", x[k]);
    fprintf(file, " %.17g %.17g %.17g %.17g", l->size.x, l->size.y, l->size.z, l->mass);
    for (int32_t k = 0; k < 6; k++) fprintf(file, " %.17g", v[k]);
    fprintf(file, "\n");
  }
  for (int32_t i = 0; i < m->joint_count; i++) {
    const Hinge *h = &m->hinges[i];
    fprintf(file, "hinge %d %d %.17g %.17g %.17g %.17g %.17g %.17g\n", (int)h->a, (int)h->b,
            h->at.x, h->at.y, h->at.z, h->axis.x, h->axis.y, h->axis.z);
  }
  return !ferror(file);
}

typedef struct Engine {
  const char *name, *program;
  int32_t method;
  const char *most; // parameter: most bodies; null: any number
  int32_t loops;    // 1: of machines with loops
  int32_t depth;    // most hinges from the ground to a body
} Engine;

static const Engine engines[] = {{"ODE direct", "hinges_ode", 0, "direct", 0, INT32_MAX},
                                 {"ODE QuickStep", "hinges_ode", 1, NULL, 0, INT32_MAX},
                                 {"Bullet multibody", "hinges_bullet", 0, "loops", 1, INT32_MAX},
                                 {"Simbody", "hinges_simbody", 0, "simbody", 1, INT32_MAX},
                                 {"MuJoCo", "hinges_mujoco", 0, "mujoco", 0, 90},
                                 {NULL, NULL, 0, NULL, 0, 0}};

// Hinges from the ground to the last body: no other one is deeper.
static int32_t depth_of(const Machine *m) {
  int32_t depth = 0, body = m->body_count - 1;
  for (int32_t i = m->joint_count - 1; i >= 0 && body >= 0; i--) {
    if (m->hinges[i].b != body) continue;
    body = m->hinges[i].a;
    depth++;
  }
  return depth;
}

static int engine_row(const Values *values, Report *report, const Kind *kind, int32_t n, Machine *m,
                      const Engine *engine) {
  Row *row = report_row_begin(report);
  Figures f = {NAN, NAN, {NAN, NAN, NAN}};
  FILE *answer;
  CnVec3 x;
  if (!row) return 0;
  m->method = engine->method;
  PeerOutcome outcome =
      peer_exchange(values->directory, engine->program, PEER_SECONDS, write_machine, m, &answer);
  if (outcome == PEER_DONE) {
    if (fscanf(answer, "%lf %lf %lf %lf %lf %lf %lf %lf", &f.seconds, &f.error, &f.tip.x, &f.tip.y,
               &f.tip.z, &x.x, &x.y, &x.z) != 8)
      outcome = PEER_FAILED;
    f.tip = plus(f.tip, .05, x);
    fclose(answer);
  }
  fill_row(row, kind, n, m, engine->name, &f);
  if (outcome != PEER_DONE)
    row_text(row, "status", outcome == PEER_NOT_INSTALLED ? "not installed" : "failed");
  report_row_end(report, row);
  return 1;
}

static int peer_rows(const Values *values, Report *report, const Kind *kind, int32_t n,
                     Machine *m) {
  for (const Engine *engine = engines; engine->name; engine++) {
    int32_t most = INT32_MAX;
    int free = engine->loops && m->joint_count == m->body_count;
    if (engine->most && !free && !value_whole(values, engine->most, 0, 1e6, &most)) return 0;
    if (m->body_count > most || depth_of(m) > engine->depth) continue;
    if (!engine_row(values, report, kind, n, m, engine)) return 0;
  }
  return 1;
}

static int rows_of(const Values *values, Report *report, const Kind *kind, int32_t n) {
  size_t bodies = (size_t)(kind->bodies_per * n + kind->bodies_more);
  const char *solver = value_text(values, "solver");
  Machine m = {.acts = value_text(values, "acts"),
               .bodies = calloc(bodies, sizeof *m.bodies),
               .joints = calloc(2 * bodies, sizeof *m.joints),
               .links = calloc(bodies, sizeof *m.links),
               .hinges = calloc(2 * bodies, sizeof *m.hinges)};
  CnWorldDef def = cn_world_def_default();
  static const char *const efforts[] = {"quick", "normal", "exact", NULL};
  def.time_step = STEP;
  if (strcmp(solver, "default") != 0) def.solver = cn_solver_def_default(solver);
  def.solver.effort = (CnEffort)find(efforts, value_text(values, "effort"));
  int ok = m.bodies && m.joints && m.links && m.hinges &&
           cn_world_create(&def, &m.world) == CN_OK && kind->make(&m, n) &&
           cairn_row(report, kind, n, &m, solver);
  if (!ok) fprintf(stderr, "mechanisms: %s of %d: %s\n", kind->name, (int)n, cn_error_message());
  if (ok && strcmp(m.acts, "none") == 0 && strcmp(value_text(values, "peers"), "none") != 0)
    ok = peer_rows(values, report, kind, n, &m);
  cn_world_destroy(m.world);
  free(m.bodies);
  free(m.joints);
  free(m.links);
  free(m.hinges);
  return ok;
}

static int run(const Values *values, Report *report) {
  for (const Kind *kind = kinds; kind->name; kind++) {
    int32_t numbers[VALUE_LIST], count;
    if (!value_list(values, kind->parameter, 1, 1e6, numbers, &count)) return 0;
    for (int32_t i = 0; i < count; i++)
      if (!rows_of(values, report, kind, numbers[i])) return 0;
  }
  return 1;
}

static const Parameter parameters[] = {
    {"chain", "10,100,1000,10000", "bodies of chains"},
    {"btree", "10,100,1000,10000", "bodies of binary trees"},
    {"ladder", "10,40,100,1000", "windows of ladders"},
    {"solver", "default", "the solver"},
    {"effort", "exact", "of auto: quick, normal, exact"},
    {"acts", "none", "on every hinge: spring, friction, motor (.5 rad/s), servo; Cairn alone"},
    {"peers", "all", "none: Cairn alone"},
    {"direct", "150", "most bodies of ODE's dWorldStep, whose time grows with their cube"},
    {"loops", "300", "most bodies of ladders of Bullet, whose sweeps over loops are dense"},
    {"simbody", "30",
     "most bodies of ladders of Simbody, whose loops with rows too many are dense"},
    {"mujoco", "1000", "most bodies of MuJoCo"},
    {NULL, NULL, NULL}};
static const Column columns[] = {{"mechanism", "mechanism"},
                                 {"n", "n"},
                                 {"bodies", "bodies"},
                                 {"joints", "joints"},
                                 {"engine", "engine"},
                                 {"us_per_step", "us a step"},
                                 {"us_per_body", "us a body"},
                                 {"joint_error", "joints open, m"},
                                 {"tip_error", "tip off, m"},
                                 {"ratio", "of Cairn's time"},
                                 {NULL, NULL}};
extern const Bench bench_mechanisms;
const Bench bench_mechanisms = {"mechanisms",
                                "chains, trees and ladders of hinges: time a body, joints, motion",
                                parameters, columns, run};
