// SPDX-License-Identifier: Apache-2.0
// Trust: small scenes with an exact answer on which engines go wrong. Every engine gets the same
// mechanism and is judged by the same code from the positions it prints. A row is green where Cairn
// is within the bound; red rows are honest. Cairn runs twice: as it is by default, with no more
// sweeps than the others get, and with all its effort, which solves every step to 1e-8 whatever
// that takes (ms a step are beside it).
//
// Unit cubes of 1 kg, mu .5, h = .01 and 120 iterations unless said. Stack: ten cubes, the top one
// heavier. Pyramid: 20 rows, spacing 1.1. Slopes: box 1 x 1 x .5 on a floor with tilted gravity,
// along an axis of the box and turned by 45 degrees. Chain: 30 links of 1 kg and a ball of 1000 kg
// at the end, released horizontally; by how much it is longer than it can be.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/cairn.h>

#include "bench.h"
#include "mechanism.h"
#include "peer.h"

#define PEER_SECONDS 120 // a peer that needs longer has no answer

// ---- what an engine did ------------------------------------------------------------------------

typedef struct Track {
  char engine[64];
  int32_t part_count, frame_count;
  double *time;      // per frame
  double *positions; // x y z per part, per frame
} Track;

static void track_release(Track *track) {
  free(track->time);
  free(track->positions);
  memset(track, 0, sizeof *track);
}

static int track_init(Track *track, const Mechanism *m) {
  memset(track, 0, sizeof *track);
  size_t frames = (size_t)(m->step_count / m->frame_every);
  track->part_count = m->part_count;
  track->time = calloc(frames + 1, sizeof *track->time);
  track->positions = calloc((frames + 1) * 3 * (size_t)m->part_count, sizeof *track->positions);
  return track->time && track->positions;
}

static double *track_frame(const Track *track, int32_t frame) {
  return track->positions + 3 * (size_t)frame * (size_t)track->part_count;
}

// Lines of a peer to frames; 0 if one is not as it should be.
static int track_read(Track *track, const Mechanism *m, FILE *file) {
  if (fscanf(file, "engine %63[^\n]\n", track->engine) != 1) return 0;
  int32_t expected = m->step_count / m->frame_every;
  for (int32_t i = 0; i < expected; i++) {
    if (fscanf(file, " frame %lf", &track->time[i]) != 1) return 0;
    double *x = track_frame(track, i);
    for (int32_t k = 0; k < 3 * track->part_count; k++)
      if (fscanf(file, "%lf", &x[k]) != 1) return 0;
    track->frame_count++;
  }
  return 1;
}

static int write_mechanism(const void *list, FILE *file) { return mechanism_write(list, file); }

static PeerOutcome peer_track(const Values *values, const char *name, const Mechanism *m,
                              Track *track) {
  FILE *answer;
  PeerOutcome outcome =
      peer_exchange(values->directory, name, PEER_SECONDS, write_mechanism, m, &answer);
  if (outcome != PEER_DONE) return outcome;
  int ok = track_read(track, m, answer);
  fclose(answer);
  return ok ? PEER_DONE : PEER_FAILED;
}

// ---- Cairn -------------------------------------------------------------------------------------

static CnStatus add_part(CnWorld *world, const Part *p, CnMaterialId material, int32_t contacts,
                         CnBodyId *id) {
  CnBodyDef def = cn_body_def_default();
  def.pose.position = (CnVec3){p->position[0], p->position[1], p->position[2]};
  def.pose.rotation = (CnQuat){p->rotation[0], p->rotation[1], p->rotation[2], p->rotation[3]};
  CnStatus status = cn_body_create(world, &def, id);
  if (status != CN_OK) return status;
  CnShapeDef shape = cn_shape_def_default(p->is_box ? CN_SHAPE_BOX : CN_SHAPE_SPHERE);
  const double *s = p->half_size;
  shape.half_size = (CnVec3){s[0], s[1], s[2]};
  shape.radius = p->radius;
  double volume =
      p->is_box ? 8 * s[0] * s[1] * s[2] : 4.0 / 3 * 3.14159265358979323846 * pow(p->radius, 3);
  shape.density = p->mass / volume;
  shape.material = material;
  if (!contacts) shape.mask = 0;
  CnShapeId shape_id;
  return cn_shape_create(world, *id, &shape, &shape_id);
}

static CnStatus add_joint(CnWorld *world, const BallJoint *j, const CnBodyId *ids) {
  CnJointDef def = cn_joint_def_default(CN_JOINT_BALL);
  def.body_a = ids[j->a < 0 ? j->b : j->a];
  if (j->a >= 0 && j->b >= 0) def.body_b = ids[j->b];
  CnVec3 anchor = {j->anchor[0], j->anchor[1], j->anchor[2]};
  CnStatus status = cn_joint_def_at(world, anchor, &def);
  CnJointId id;
  return status == CN_OK ? cn_joint_create(world, &def, &id) : status;
}

// Solver null: the default one, with the mechanism's number of iterations.
static CnStatus build_world(const Mechanism *m, const char *solver, int32_t threads,
                            CnWorld **world, CnBodyId *ids) {
  CnWorldDef def = cn_world_def_default();
  if (solver) def.solver = cn_solver_def_default(solver);
  if (solver)
    def.solver.effort = CN_EFFORT_EXACT;
  else
    def.solver.max_iterations = m->iterations;
  def.gravity = (CnVec3){m->gravity[0], m->gravity[1], m->gravity[2]};
  def.time_step = m->time_step;
  def.worker_count = threads;
  CnStatus status = cn_world_create(&def, world);
  if (status != CN_OK) return status;
  CnMaterialDef material = cn_material_def_default();
  material.friction = m->friction;
  CnMaterialId material_id;
  status = cn_material_create(*world, &material, &material_id);
  if (status == CN_OK && m->plane) {
    CnBodyDef ground = cn_body_def_default();
    ground.kind = CN_BODY_FIXED;
    CnShapeDef plane = cn_shape_def_default(CN_SHAPE_PLANE);
    plane.material = material_id;
    CnBodyId body;
    CnShapeId shape;
    status = cn_body_create(*world, &ground, &body);
    if (status == CN_OK) status = cn_shape_create(*world, body, &plane, &shape);
  }
  for (int32_t i = 0; status == CN_OK && i < m->part_count; i++)
    status = add_part(*world, &m->parts[i], material_id, m->contacts, &ids[i]);
  for (int32_t i = 0; status == CN_OK && i < m->joint_count; i++)
    status = add_joint(*world, &m->joints[i], ids);
  return status;
}

static CnStatus keep_frame(const CnWorld *world, const CnBodyId *ids, Track *track, double time) {
  double *x = track_frame(track, track->frame_count);
  track->time[track->frame_count++] = time;
  for (int32_t i = 0; i < track->part_count; i++, x += 3) {
    CnPose pose;
    CnStatus status = cn_body_pose(world, ids[i], &pose);
    if (status != CN_OK) return status;
    x[0] = pose.position.x;
    x[1] = pose.position.y;
    x[2] = pose.position.z;
  }
  return CN_OK;
}

static CnStatus cairn_track(const Mechanism *m, const char *solver, Track *track) {
  CnBodyId *ids = calloc((size_t)m->part_count + 1, sizeof *ids);
  CnWorld *world = NULL;
  CnStatus status = ids ? build_world(m, solver, 1, &world, ids) : CN_NO_MEMORY;
  for (int32_t step = 1; status == CN_OK && step <= m->step_count; step++) {
    status = cn_world_step(world, NULL);
    if (status == CN_OK && step % m->frame_every == 0)
      status = keep_frame(world, ids, track, step * m->time_step);
  }
  cn_world_destroy(world);
  free(ids);
  return status;
}

// ---- the tests ---------------------------------------------------------------------------------

static const double half_cube[3] = {0.5, 0.5, 0.5};

static int build_stack(Mechanism *m, double ratio) {
  m->step_count = 200;
  for (int i = 0; i < 10; i++) {
    double at[3] = {0, 0, 0.5 + i};
    if (!mechanism_add_box(m, at, half_cube, i == 9 ? ratio : 1)) return 0;
  }
  return 1;
}

static int build_pyramid(Mechanism *m, double rows) {
  m->step_count = 1000;
  m->frame_every = 10;
  for (int row = 0; row < rows; row++)
    for (int i = 0; i < rows - row; i++) {
      double at[3] = {1.1 * (i - 0.5 * (rows - row - 1)), 0, 0.5 + row};
      if (!mechanism_add_box(m, at, half_cube, 1)) return 0;
    }
  return 1;
}

// Gravity tilted in the x direction by the slope; the box turned about z.
static int build_slope(Mechanism *m, double slope, double degrees) {
  m->step_count = 300;
  double c = 1 / sqrt(1 + slope * slope), half = degrees * 3.14159265358979323846 / 360;
  m->gravity[0] = 9.81 * slope * c;
  m->gravity[2] = -9.81 * c;
  double at[3] = {0, 0, 0.25}, size[3] = {0.5, 0.5, 0.25};
  Part *part = mechanism_add_box(m, at, size, 1);
  if (!part) return 0;
  part->rotation[0] = cos(half);
  part->rotation[3] = sin(half);
  return 1;
}

static int build_slope_straight(Mechanism *m, double slope) { return build_slope(m, slope, 0); }
static int build_slope_turned(Mechanism *m, double slope) { return build_slope(m, slope, 45); }

static int build_rolling(Mechanism *m, double degrees) {
  m->step_count = 200;
  double a = degrees * 3.14159265358979323846 / 180, at[3] = {0, 0, 0.1};
  m->gravity[0] = 9.81 * sin(a);
  m->gravity[2] = -9.81 * cos(a);
  return mechanism_add_sphere(m, at, 0.1, 1) != NULL;
}

static int build_chain(Mechanism *m, double h) {
  m->time_step = h;
  m->step_count = (int32_t)floor(5 / h + 0.5);
  m->frame_every = (int32_t)floor(0.01 / h + 0.5);
  m->contacts = 0;
  m->plane = 0;
  double link[3] = {0.1, 0.025, 0.025};
  for (int i = 0; i < 30; i++) {
    double at[3] = {0.2 * i + 0.1, 0, 10}, anchor[3] = {0.2 * i, 0, 10};
    if (!mechanism_add_box(m, at, link, 1) || !mechanism_add_ball(m, i - 1, i, anchor)) return 0;
  }
  double at[3] = {6.25, 0, 10}, anchor[3] = {6, 0, 10};
  return mechanism_add_sphere(m, at, 0.25, 1000) && mechanism_add_ball(m, 29, 30, anchor);
}

static double distance(const double *a, const double *b) {
  double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return sqrt(x * x + y * y + z * z);
}

// Farthest that any part ever was from where it started.
static double measure_drift(const Mechanism *m, const Track *track) {
  double worst = 0;
  for (int32_t f = 0; f < track->frame_count; f++)
    for (int32_t i = 0; i < m->part_count; i++) {
      double d = distance(track_frame(track, f) + 3 * i, m->parts[i].position);
      if (!(d <= worst)) worst = d;
    }
  return worst;
}

// Acceleration along x from the way made from rest.
static double measure_acceleration(const Mechanism *m, const Track *track) {
  int32_t last = track->frame_count - 1;
  double way = track_frame(track, last)[0] - m->parts[0].position[0], t = track->time[last];
  // a semi-implicit step is half a step ahead of the parabola
  return 2 * way / (t * (t + m->time_step));
}

// Most by which the last part was farther from its anchor than the chain is long.
static double measure_overlength(const Mechanism *m, const Track *track) {
  const double anchor[3] = {0, 0, 10};
  double worst = 0;
  for (int32_t f = 0; f < track->frame_count; f++) {
    double d = distance(track_frame(track, f) + 3 * (m->part_count - 1), anchor) - 6.25;
    if (!(d <= worst)) worst = d;
  }
  return worst;
}

typedef struct Test {
  const char *name, *unit;
  int (*build)(Mechanism *m, double number);
  double number;
  double (*measure)(const Mechanism *m, const Track *track);
  double exact, bound; // green: |measured - exact| <= bound
} Test;

static const Test tests[] = {
    {"stack of 10, top 1000x, drift in 2 s", "m", build_stack, 1e3, measure_drift, 0, 1e-3},
    {"stack of 10, top 1e6x, drift in 2 s", "m", build_stack, 1e6, measure_drift, 0, 1e-3},
    {"pyramid of 20 rows, drift in 10 s", "m", build_pyramid, 20, measure_drift, 0, 5e-3},
    {"slope .49, creep in 3 s", "m", build_slope_straight, 0.49, measure_drift, 0, 1e-9},
    {"slope .49 turned 45 deg, creep in 3 s", "m", build_slope_turned, 0.49, measure_drift, 0,
     1e-9},
    {"slope .51, acceleration", "m/s2", build_slope_straight, 0.51, measure_acceleration, 0.08739,
     8.7e-5},
    {"slope .51 turned 45 deg, acceleration", "m/s2", build_slope_turned, 0.51,
     measure_acceleration, 0.08739, 8.7e-5},
    {"sphere rolling on 30 deg, acceleration", "m/s2", build_rolling, 30, measure_acceleration,
     3.503571, 3.5e-3},
    {"chain with 1000 kg, h .01, overlength", "m", build_chain, 0.01, measure_overlength, 0, 0.05},
    {"chain with 1000 kg, h .001, overlength", "m", build_chain, 0.001, measure_overlength, 0,
     0.01},
};

// How Cairn runs: solver (null: the default one) and the keys of a row.
typedef struct Mode {
  const char *solver, *value, *green, *cost;
} Mode;
static const Mode modes[] = {{NULL, "cairn", "green", "cairn_ms_per_step"},
                             {"auto", "cairn_auto", "green_auto", "cairn_auto_ms_per_step"}};

static int run_cairn(const Test *test, const Mechanism *m, const Mode *mode, Row *row) {
  Track track;
  if (!track_init(&track, m)) return 0;
  double start = seconds_now();
  CnStatus status = cairn_track(m, mode->solver, &track);
  double seconds = seconds_now() - start;
  if (status != CN_OK) fprintf(stderr, "cairn-bench: trust: %s\n", cn_error_message());
  double measured = status == CN_OK ? test->measure(m, &track) : NAN;
  row_number(row, mode->value, measured);
  row_flag(row, mode->green, fabs(measured - test->exact) <= test->bound);
  row_number(row, mode->cost, 1e3 * seconds / m->step_count);
  track_release(&track);
  return 1;
}

static const char *const peers[][2] = {
    {"trust_ode", "ode"}, {"trust_bullet", "bullet"}, {"trust_mujoco", "mujoco"}};

static int run_test(const Values *values, const Test *test, Report *report) {
  Mechanism m;
  mechanism_init(&m);
  Track track;
  Row *row = test->build(&m, test->number) ? report_row_begin(report) : NULL;
  if (!row) return 0;
  row_text(row, "test", test->name);
  row_text(row, "unit", test->unit);
  row_number(row, "exact", test->exact);
  row_number(row, "bound", test->bound);
  for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
    if (!run_cairn(test, &m, &modes[i], row)) return 0;
  for (size_t i = 0; i < sizeof peers / sizeof peers[0]; i++) {
    if (!track_init(&track, &m)) return 0;
    PeerOutcome outcome = peer_track(values, peers[i][0], &m, &track);
    if (outcome == PEER_DONE)
      row_number(row, peers[i][1], test->measure(&m, &track));
    else
      row_text(row, peers[i][1], outcome == PEER_FAILED ? "no answer" : "not installed");
    track_release(&track);
  }
  report_row_end(report, row);
  mechanism_release(&m);
  return 1;
}

// ---- bits --------------------------------------------------------------------------------------

// The pyramid for 50 steps; with `restore` through a snapshot into a fresh world half way.
static CnStatus pyramid_hash(const Mechanism *m, const char *solver, int32_t threads, int restore,
                             uint64_t *hash) {
  CnBodyId *ids = calloc((size_t)m->part_count + 1, sizeof *ids);
  CnWorld *world = NULL, *other = NULL;
  void *data = NULL;
  size_t size = 0;
  CnStatus status = ids ? build_world(m, solver, threads, &world, ids) : CN_NO_MEMORY;
  for (int step = 0; status == CN_OK && step < 50; step++) {
    status = cn_world_step(world, NULL);
    if (status != CN_OK || !restore || step != 25) continue;
    status = cn_world_save(world, NULL, 0, &size);
    data = malloc(size);
    if (status == CN_OK) status = data ? cn_world_save(world, data, size, &size) : CN_NO_MEMORY;
    if (status == CN_OK) status = build_world(m, solver, threads, &other, ids);
    if (status == CN_OK) status = cn_world_restore(other, data, size);
    CnWorld *old = world;
    world = other;
    other = old;
  }
  if (status == CN_OK) *hash = cn_world_hash(world);
  cn_world_destroy(world);
  cn_world_destroy(other);
  free(data);
  free(ids);
  return status;
}

static int run_bits(Report *report, const char *name, int32_t threads, int restore) {
  Mechanism m;
  mechanism_init(&m);
  Row *row = build_pyramid(&m, 12) ? report_row_begin(report) : NULL;
  if (!row) return 0;
  row_text(row, "test", name);
  row_text(row, "unit", "bits");
  row_text(row, "exact", "same");
  for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
    uint64_t plain = 0, varied = 1;
    int same = pyramid_hash(&m, modes[i].solver, 1, 0, &plain) == CN_OK &&
               pyramid_hash(&m, modes[i].solver, threads, restore, &varied) == CN_OK &&
               plain == varied;
    row_text(row, modes[i].value, same ? "same" : "differ");
    row_flag(row, modes[i].green, same);
  }
  for (size_t i = 0; i < sizeof peers / sizeof peers[0]; i++) row_text(row, peers[i][1], "-");
  report_row_end(report, row);
  mechanism_release(&m);
  return 1;
}

static int run(const Values *values, Report *report) {
  double only = value_number(values, "only");
  int32_t count = (int32_t)(sizeof tests / sizeof tests[0]);
  for (int32_t i = 0; i < count; i++)
    if ((only < 0 || only == i) && !run_test(values, &tests[i], report)) return 0;
  if (only >= 0 && only < count) return 1;
  return run_bits(report, "restored in contact", 1, 1) && run_bits(report, "1 and 2 threads", 2, 0);
}

static const Parameter parameters[] = {{"only", "-1", "number of one test, 10: the bits, -1: all"},
                                       {NULL, NULL, NULL}};
static const Column columns[] = {
    {"test", "test"},        {"unit", "unit"},   {"exact", "exact"},
    {"cairn", "cairn"},      {"green", "green"}, {"cairn_auto", "cairn auto"},
    {"green_auto", "green"}, {"ode", "ODE"},     {"bullet", "Bullet"},
    {"mujoco", "MuJoCo"},    {NULL, NULL},
};

const Bench bench_trust = {"trust", "small scenes with an exact answer, engine beside engine",
                           parameters, columns, run};
