// SPDX-License-Identifier: Apache-2.0
// Collision of convex bodies of all kinds.
//
// narrow: two shapes of 5 to 10 cm, hulls of 8 to 40 corners, with a gap within half a millimetre:
// nanoseconds a pair, points included, by a search and by the parts that touched in the call before.
// mixed: hulls of 16 and of 64 points, capsules, cylinders and boxes in turn (sizes and densities of
// the usual pile: .1 to .18 m, 1000 kg/m^3) fall into a bin; the poses of `frames` steps after `settle`
// are handed to every engine, which finds what touches in each: milliseconds of the fastest frame but the
// first, poses to contacts, broad and narrow phase, of the processor's time, all on one thread. The pairs are compared: those `missing` of a peer's
// are deeper than .1 mm in Cairn, `extra` ones farther apart than that. `ahead` is what a step asks for:
// contacts that may close within it as well.
// pile: the same bodies in layers of 10 x 10 from 1.5 m up on a ground of 20,000 triangles,
// z = .12 (x^2 + y^2) + .05 sin 3x cos 3y, after `steps` steps of .005 s, 50 iterations of psor: times of a
// step and of its collision, the deepest overlap, and what a contact point costs in a sweep (of the
// processor's time), beside a pile of boxes; then the same pile in the other engines, by 50 iterations of theirs.
// hopper: 2,000 of the same bodies poured through a hopper of 20,000 triangles, .8 s of it in steps of .5 ms: the
// last 20 steps, as of the pile. Cairn by as many iterations as the others, and by the fewer that leave no
// deeper overlaps; `iterations` and overlaps of all are told.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cairn/cairn.h>

#include "bench.h"
#include "collision/collision.h"
#include "convex_pairs.h"
#include "core/clock.h"
#include "hopper.h"
#include "peer.h"
#include "world/world.h"

#define STEP 5e-3
#define ITERATIONS 50
#define MU .5
#define HULLS 8
#define TOLERANCE 1e-4 // m, of pairs that are compared
#define TOUCHING 1e-9  // m, of what is timed
#define PEER_SECONDS 600
#define SAMPLES 101 // of the ground, each way
#define CELL .06    // m
#define WIDE 3.     // m, to each side
#define FINE 5e-4   // s, of the hopper

typedef enum Ground { BIN, TERRAIN, HOPPER } Ground;

// ---- a pile ------------------------------------------------------------------------------------

typedef struct Touch {
  int32_t a, b; // bodies, a < b
  double gap;   // the least
} Touch;

typedef struct Pile {
  CnWorld *world;
  CnBodyId *bodies;
  CnGeometryId hulls[2][HULLS];
  int32_t count, frame_count;
  CnPose *frames; // poses of the bodies, frame after frame
  Touch *touches; // of the last frame, ascending, with those that nearly touch
  int32_t touch_count;
  double seconds; // a frame
  double half;    // of the bin
  int32_t steps;  // that peers are to make; 0: they look at the frames
  Ground ground;
  double time_step, top;
  int32_t iterations;
} Pile;

// Hull of 16, hull of 64, capsule, cylinder, box; or boxes alone.
static CnShapeDef shape_of(const Pile *p, int32_t i, int boxes) {
  static const CnShapeKind kinds[5] = {CN_SHAPE_HULL, CN_SHAPE_HULL, CN_SHAPE_CAPSULE,
                                       CN_SHAPE_CYLINDER, CN_SHAPE_BOX};
  int32_t k = boxes ? 4 : i % 5;
  CnShapeDef def = cn_shape_def_default(kinds[k]);
  def.radius = k == 2 ? .05 : .07;
  def.half_length = k == 2 ? .06 : .07;
  def.half_size = cn_vec3(.09, .07, .05);
  if (k < 2) def.geometry = p->hulls[k][i / 5 % HULLS];
  return def;
}

static int add_bin(CnWorld *world, double half) {
  static const CnVec3 sides[4] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
  const double r = sqrt(.5);
  CnBodyDef fixed = cn_body_def_default();
  CnShapeDef plane = cn_shape_def_default(CN_SHAPE_PLANE);
  CnBodyId id;
  CnShapeId shape;
  fixed.kind = CN_BODY_FIXED;
  int ok = cn_body_create(world, &fixed, &id) == CN_OK &&
           cn_shape_create(world, id, &plane, &shape) == CN_OK;
  for (int32_t k = 0; k < 4 && ok; k++) {
    CnVec3 d = sides[k];
    plane.pose.position = cn_scale(-half, d);
    plane.pose.rotation = (CnQuat){r, -r * d.y, r * d.x, 0}; // z to d
    ok = cn_shape_create(world, id, &plane, &shape) == CN_OK;
  }
  return ok;
}

// The ground of the pile, in cells of .06 m over 6 x 6 m.
static void set_heights(double heights[SAMPLES * SAMPLES]) {
  for (int32_t i = 0; i < SAMPLES * SAMPLES; i++) {
    double x = CELL * (i % SAMPLES) - WIDE, y = CELL * (i / SAMPLES) - WIDE;
    heights[i] = .12 * (x * x + y * y) + .05 * sin(3 * x) * cos(3 * y);
  }
}

static int add_ground(CnWorld *world) {
  static double heights[SAMPLES * SAMPLES];
  CnBodyDef fixed = cn_body_def_default();
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_MESH);
  CnHeightsDef def = cn_heights_def_default();
  CnBodyId id;
  CnShapeId shape_id;
  fixed.kind = CN_BODY_FIXED;
  set_heights(heights);
  def.x_count = def.y_count = SAMPLES;
  def.x_spacing = def.y_spacing = CELL;
  def.heights = heights;
  shape.pose.position = cn_vec3(-WIDE, -WIDE, 0);
  return cn_geometry_create_heights(world, &def, &shape.geometry) == CN_OK &&
         cn_body_create(world, &fixed, &id) == CN_OK &&
         cn_shape_create(world, id, &shape, &shape_id) == CN_OK;
}

static int add_hopper(CnWorld *world, double top) {
  static Hopper hopper;
  CnBodyDef fixed = cn_body_def_default();
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_MESH);
  CnMeshDef def = cn_mesh_def_default();
  CnBodyId id;
  CnShapeId shape_id;
  fixed.kind = CN_BODY_FIXED;
  hopper_fill(&hopper, top);
  def.vertices = hopper.vertices;
  def.vertex_count = HOPPER_VERTICES;
  def.triangles = hopper.triangles;
  def.triangle_count = HOPPER_TRIANGLES;
  return cn_geometry_create_mesh(world, &def, &shape.geometry) == CN_OK &&
         cn_body_create(world, &fixed, &id) == CN_OK &&
         cn_shape_create(world, id, &shape, &shape_id) == CN_OK;
}

// Where bodies start.
static CnVec3 *pile_places(Pile *p, int32_t side) {
  CnVec3 *places = calloc((size_t)p->count, sizeof *places);
  double middle = .5 * (side - 1);
  if (!places) return NULL;
  if (p->ground == HOPPER) p->top = hopper_places(places, p->count) + 1;
  for (int32_t i = 0; i < p->count && p->ground != HOPPER; i++)
    places[i] = cn_vec3(.25 * (i % side - middle), .25 * (i / side % side - middle),
                        (p->ground == TERRAIN ? 1.5 : .2) + .25 * (i / side / side));
  return places;
}

static int pile_create(Pile *p, int32_t count, int boxes, Ground ground, int32_t iterations) {
  CniRng rng = {1};
  CnWorldDef def = cn_world_def_default();
  int32_t side = ground ? 10 : (int32_t)ceil(.8 * cbrt(count));
  *p = (Pile){.count = count,
              .bodies = calloc((size_t)count, sizeof *p->bodies),
              .ground = ground,
              .iterations = iterations,
              .time_step = ground == HOPPER ? FINE : STEP};
  def.time_step = p->time_step;
  def.solver.name = "psor";
  def.solver.max_iterations = iterations;
  def.solver.tolerance = 0;
  if (!p->bodies || cn_world_create(&def, &p->world) != CN_OK) return 0;
  for (int32_t k = 0; k < 2 * HULLS; k++) {
    CnVec3 points[64];
    int32_t corners = k < HULLS ? 16 : 64;
    hull_points(points, corners, &rng);
    if (cn_geometry_create_points(p->world, NULL, points, corners,
                                  &p->hulls[k / HULLS][k % HULLS]) != CN_OK)
      return 0;
  }
  p->half = .125 * side + .05;
  CnVec3 *places = pile_places(p, side);
  int ok = places && (ground == HOPPER    ? add_hopper(p->world, p->top)
                      : ground == TERRAIN ? add_ground(p->world)
                                          : add_bin(p->world, p->half));
  for (int32_t i = 0; i < count && ok; i++) {
    CnBodyDef body = cn_body_def_default();
    CnShapeDef shape = shape_of(p, i, boxes);
    CnShapeId id;
    body.pose = (CnPose){places[i], random_rotation(&rng)};
    ok = cn_body_create(p->world, &body, &p->bodies[i]) == CN_OK &&
         cn_shape_create(p->world, p->bodies[i], &shape, &id) == CN_OK;
  }
  free(places);
  return ok;
}

static void pile_destroy(Pile *p) {
  cn_world_destroy(p->world);
  free(p->bodies);
  free(p->frames);
  free(p->touches);
}

// The poses of the start, twice, as the form has at least two frames.
static int pile_start(Pile *p) {
  p->frames = calloc(2 * (size_t)p->count, sizeof *p->frames);
  p->frame_count = 2;
  for (int32_t i = 0; p->frames && i < p->count; i++) {
    cn_body_pose(p->world, p->bodies[i], &p->frames[i]);
    p->frames[p->count + i] = p->frames[i];
  }
  return p->frames != NULL;
}

// Settle, and keep the poses of the frames.
static int pile_settle(Pile *p, int32_t settle, int32_t frames) {
  p->frames = calloc((size_t)frames * (size_t)p->count, sizeof *p->frames);
  p->frame_count = frames;
  if (!p->frames) return 0;
  for (int32_t n = 0; n < settle + frames; n++) {
    if (cn_world_step(p->world, NULL) != CN_OK) return 0;
    for (int32_t i = 0; n >= settle && i < p->count; i++)
      cn_body_pose(p->world, p->bodies[i], &p->frames[(n - settle) * p->count + i]);
  }
  return 1;
}

// The processor's time: what others do on the machine does not count.
static double processor_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---- our own figures ---------------------------------------------------------------------------

static int compare_touches(const void *a, const void *b) {
  const Touch *s = a, *t = b;
  return s->a != t->a ? (s->a > t->a) - (s->a < t->a) : (s->b > t->b) - (s->b < t->b);
}

static void keep_touches(Pile *p, const int32_t *number, const CniContact *contacts,
                         int32_t count) {
  p->touch_count = 0;
  for (int32_t i = 0; i < count; i++) {
    int32_t a = number[contacts[i].body_a], b = number[contacts[i].body_b];
    if (a < 0 || b < 0) continue;
    p->touches[p->touch_count++] = (Touch){a < b ? a : b, a < b ? b : a, contacts[i].gap};
  }
  qsort(p->touches, (size_t)p->touch_count, sizeof *p->touches, compare_touches);
  int32_t n = 0;
  for (int32_t i = 0; i < p->touch_count; i++) {
    Touch *last = &p->touches[n > 0 ? n - 1 : 0];
    if (n > 0 && compare_touches(last, &p->touches[i]) == 0)
      last->gap = cn_min(last->gap, p->touches[i].gap);
    else
      p->touches[n++] = p->touches[i];
  }
  p->touch_count = n;
}

// Contacts of every frame: those that touch, or as a step finds them, with its margin. Then, untimed,
// those of the last one that nearly touch, to be compared.
static int detect_frames(Pile *p, int ahead) {
  CniModel *model = &p->world->now.model;
  CnAllocator allocator = cn_allocator_default();
  size_t bodies = (size_t)model->body_count;
  int32_t *number = malloc(bodies * sizeof *number), count = 0, at;
  CnPose *pose = malloc(bodies * sizeof *pose);
  CnTwist *twist = calloc(bodies, sizeof *twist);
  CniCollision *collision = NULL;
  const CniContact *contacts = NULL;
  int ok = number && pose && twist && cni_collision_create(NULL, &allocator, &collision) == CN_OK;
  for (size_t i = 0; i < bodies && ok; i++) number[i] = -1, pose[i] = model->pose[i];
  CniCollisionInput input = {.model = model,
                             .pose = pose,
                             .twist = twist,
                             .time_step = ahead ? STEP : 0,
                             .margin = ahead ? 0 : TOUCHING,
                             .gravity = {0, 0, -9.81}};
  p->seconds = INFINITY;
  for (int32_t f = 0; f < p->frame_count && ok; f++) {
    for (int32_t i = 0; i < p->count && ok; i++) {
      ok = cni_model_find_body(model, p->bodies[i], &at) == CN_OK;
      if (!ok) break;
      number[at] = i;
      pose[at] = cn_pose_mul(p->frames[f * p->count + i], cni_body_com(&model->bodies[at]));
    }
    double start = processor_seconds();
    ok = ok && cni_collision_detect(collision, &input, &contacts, &count) == CN_OK;
    if (f > 0) p->seconds = cn_min(p->seconds, processor_seconds() - start);
  }
  input.margin = TOLERANCE;
  if (!ahead) ok = ok && cni_collision_detect(collision, &input, &contacts, &count) == CN_OK;
  if (ok && !ahead) ok = (p->touches = calloc((size_t)count + 1, sizeof *p->touches)) != NULL;
  if (ok && !ahead) keep_touches(p, number, contacts, count);
  cni_collision_destroy(collision);
  free(number);
  free(pose);
  free(twist);
  return ok;
}

// ---- peers -------------------------------------------------------------------------------------

static void write_shape(const Pile *p, int32_t i, FILE *file) {
  CnShapeDef def = shape_of(p, i, 0);
  if (def.kind == CN_SHAPE_CAPSULE || def.kind == CN_SHAPE_CYLINDER)
    fprintf(file, "%s %.17g %.17g\n", cn_shape_kind_name(def.kind), def.radius, def.half_length);
  if (def.kind == CN_SHAPE_BOX)
    fprintf(file, "box %.17g %.17g %.17g\n", def.half_size.x, def.half_size.y, def.half_size.z);
  if (def.kind == CN_SHAPE_HULL) fprintf(file, "hull %d\n", (int)((i % 5) * HULLS + i / 5 % HULLS));
}

// Geometry n is that of one of the first bodies.
static int write_hull(const Pile *p, int32_t n, FILE *file) {
  const CniModel *model = &p->world->now.model;
  int32_t body;
  if (cni_model_find_body(model, p->bodies[5 * (n % HULLS) + n / HULLS], &body) != CN_OK) return 0;
  const CniHull *h = model->shapes[model->bodies[body].first_shape].extra->geometry->hull;
  CnVec3 origin = p->steps > 0 ? h->centre : CN_VEC3_ZERO;
  fprintf(file, "geometry %d %d\n", (int)h->vertex_count, (int)h->face_count);
  for (int32_t v = 0; v < h->vertex_count; v++) {
    CnVec3 x = cn_sub(h->vertices[v], origin);
    fprintf(file, "%.17g %.17g %.17g\n", x.x, x.y, x.z);
  }
  for (int32_t f = 0; f < h->face_count; f++) {
    const CniHullFace *face = &h->faces[f];
    fprintf(file, "%.17g %.17g %.17g %.17g %d", face->normal.x, face->normal.y, face->normal.z,
            face->height - cn_dot(face->normal, origin), (int)face->count);
    for (int32_t k = 0; k < face->count; k++)
      fprintf(file, " %d", (int)h->corners[face->first + k].vertex);
    fprintf(file, "\n");
  }
  return 1;
}

// The mass of a body, about its origin, which is its centre of mass; for steps.
static int write_mass(const Pile *p, int32_t i, FILE *file) {
  const CniModel *model = &p->world->now.model;
  int32_t body;
  if (cni_model_find_body(model, p->bodies[i], &body) != CN_OK) return 0;
  CniPlaced placed = cni_model_placed(model, model->bodies[body].first_shape, &CN_POSE_ONE);
  placed.pose = CN_POSE_ONE;
  CniMassProps m = cni_shape_mass(&placed, 1000);
  CnSym3 j = m.inertia;
  fprintf(file, "mass %.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", m.mass, j.xx, j.yy, j.zz, j.xy,
          j.xz, j.yz);
  return 1;
}

static CnVec3 centre_of(const Pile *p, int32_t i) {
  const CniModel *model = &p->world->now.model;
  int32_t body;
  if (cni_model_find_body(model, p->bodies[i], &body) != CN_OK) return CN_VEC3_ZERO;
  return model->pose[body].position;
}

static void write_hopper(const Pile *p, FILE *file) {
  static Hopper hopper;
  hopper_fill(&hopper, p->top);
  fprintf(file, "surface %d %d\n", HOPPER_VERTICES, HOPPER_TRIANGLES);
  for (int32_t i = 0; i < HOPPER_VERTICES; i++) {
    CnVec3 v = hopper.vertices[i];
    fprintf(file, "%.17g %.17g %.17g\n", v.x, v.y, v.z);
  }
  for (int32_t i = 0; i < 3 * HOPPER_TRIANGLES; i++)
    fprintf(file, "%d\n", (int)hopper.triangles[i]);
  fprintf(file, "step %.17g %d %d %.17g\n", FINE, (int)p->steps, ITERATIONS, MU);
}

static void write_steps(const Pile *p, FILE *file) {
  static double heights[SAMPLES * SAMPLES];
  set_heights(heights);
  fprintf(file, "terrain %d %.17g\n", SAMPLES, CELL);
  for (int32_t i = 0; i < SAMPLES * SAMPLES; i++) fprintf(file, "%.17g\n", heights[i]);
  fprintf(file, "step %.17g %d %d %.17g\n", STEP, (int)p->steps, ITERATIONS, MU);
}

// See peers/collide.h for the form.
static int write_pile(const void *list, FILE *file) {
  const Pile *p = list;
  int ok = 1;
  for (int32_t k = 0; k < 2 * HULLS && ok; k++) ok = write_hull(p, k, file);
  for (int32_t i = 0; i < p->count && ok; i++) {
    write_shape(p, i, file);
    if (p->steps > 0) ok = write_mass(p, i, file);
  }
  if (p->steps > 0) (p->ground == HOPPER ? write_hopper : write_steps)(p, file);
  for (int32_t f = 0; f < p->frame_count; f++) {
    fprintf(file, "frame\n");
    for (int32_t i = 0; i < p->count; i++) {
      CnPose pose = p->frames[f * p->count + i];
      const double *x = &pose.position.x;
      if (p->steps > 0) pose.position = centre_of(p, i);
      for (int32_t k = 0; k < 7; k++) fprintf(file, k ? " %.17g" : "%.17g", x[k]);
      fprintf(file, "\n");
    }
  }
  return ok && !ferror(file);
}

// The peer's pairs of the last frame against ours.
static void compare_pairs(const Pile *p, FILE *answer, int32_t *pairs, int32_t *missing,
                          int32_t *extra) {
  uint8_t *seen = calloc((size_t)p->touch_count + 1, 1);
  Touch t = {0};
  *pairs = *missing = *extra = 0;
  while (seen && fscanf(answer, "%d %d", &t.a, &t.b) == 2) {
    const Touch *ours =
        bsearch(&t, p->touches, (size_t)p->touch_count, sizeof *p->touches, compare_touches);
    ++*pairs;
    if (ours) seen[ours - p->touches] = 1;
    *extra += !ours || ours->gap > TOLERANCE;
  }
  for (int32_t i = 0; seen && i < p->touch_count; i++)
    *missing += !seen[i] && p->touches[i].gap < -TOLERANCE;
  free(seen);
}

#define PEERS 3
static const char *const peers[PEERS][2] = {
    {"collide_ode", "ODE"}, {"collide_bullet", "Bullet"}, {"collide_bullet64", "Bullet double"}};

static int peer_rows(const Values *values, Report *report, const Pile *p) {
  for (size_t k = 0; k < PEERS; k++) {
    Row *row = report_row_begin(report);
    FILE *answer;
    double seconds;
    int32_t pairs, missing, extra;
    if (!row) return 0;
    row_text(row, "what", "mixed");
    row_text(row, "engine", peers[k][1]);
    row_number(row, "bodies", p->count);
    PeerOutcome outcome =
        peer_exchange(values->directory, peers[k][0], PEER_SECONDS, write_pile, p, &answer);
    if (outcome == PEER_DONE && fscanf(answer, "%lf", &seconds) == 1) {
      compare_pairs(p, answer, &pairs, &missing, &extra);
      row_number(row, "ms", 1e3 * seconds);
      row_number(row, "pairs", pairs);
      row_number(row, "missing", missing);
      row_number(row, "extra", extra);
      row_flag(row, "same_pairs", missing + extra == 0);
      row_number(row, "ratio", p->seconds / seconds); // ours to it
    } else {
      row_text(row, "status", outcome == PEER_NOT_INSTALLED ? "not installed" : "failed");
    }
    if (answer) fclose(answer);
    report_row_end(report, row);
  }
  return 1;
}

static int cairn_row(Report *report, Pile *p, int ahead) {
  Row *row = report_row_begin(report);
  int32_t touching = 0;
  if (!row || !detect_frames(p, ahead)) return 0;
  for (int32_t i = 0; i < p->touch_count; i++) touching += p->touches[i].gap <= 0;
  row_text(row, "what", ahead ? "ahead" : "mixed");
  row_text(row, "engine", "cairn");
  row_number(row, "bodies", p->count);
  row_number(row, "ms", 1e3 * p->seconds);
  row_number(row, "pairs", touching);
  report_row_end(report, row);
  return 1;
}

static int mixed_rows(const Values *values, Report *report, int32_t count) {
  Pile p = {0};
  int32_t settle, frames;
  int ok = value_whole(values, "settle", 0, 1e6, &settle) &&
           value_whole(values, "frames", 2, 1000, &frames) &&
           pile_create(&p, count, 0, 0, ITERATIONS) && pile_settle(&p, settle, frames) &&
           cairn_row(report, &p, 0);
  if (ok && strcmp(value_text(values, "peers"), "none") != 0) ok = peer_rows(values, report, &p);
  ok = ok && cairn_row(report, &p, 1);
  pile_destroy(&p);
  return ok;
}

// ---- steps -------------------------------------------------------------------------------------

// What a contact point costs in a sweep, ns: the problem of the last step with 200 sweeps more than 50.
static double sweep_cost(CnWorld *world) {
  CnProblem *problem;
  CnAnswer answer = cn_answer_empty(NULL);
  double least[2] = {INFINITY, INFINITY};
  if (cn_world_problem(world, &problem, NULL) != CN_OK || problem->block_count == 0) return NAN;
  for (int32_t k = 0; k < 10; k++) {
    CnSolverDef def = cn_solver_def_default("psor");
    CnSolver *solver = NULL;
    def.max_iterations = k % 2 ? 250 : 50;
    def.tolerance = 0;
    CnSolveReport report;
    int ok = cn_solver_create(&def, &solver) == CN_OK && cn_answer_fit(&answer, problem) == CN_OK;
    double start = processor_seconds();
    ok = ok && cn_solver_solve(solver, problem, &answer, &report) == CN_OK;
    if (ok) least[k % 2] = cn_min(least[k % 2], processor_seconds() - start);
    cn_solver_destroy(solver);
  }
  double ns = 1e9 * (least[1] - least[0]) / 200 / problem->block_count;
  cn_answer_release(&answer);
  return ns;
}

static int pile_row(Report *report, int32_t count, int32_t steps, int boxes, Ground ground,
                    int32_t iterations, double *ns) {
  Pile p = {0};
  Row *row = report_row_begin(report);
  double collision = 0, processor = 0, contacts = 0;
  int32_t last = steps < 20 ? steps : 20;
  CnPenetration deep = {0};
  int ok = row && pile_create(&p, count, boxes, ground, iterations);
  for (int32_t n = 0; n < steps && ok; n++) {
    CnStepReport step;
    double start = processor_seconds();
    ok = cn_world_step(p.world, &step) == CN_OK;
    if (n < steps - last || !ok) continue;
    double seconds = processor_seconds() - start,
           all = step.seconds_collision + step.seconds_solver;
    processor += seconds / last;
    collision += seconds * step.seconds_collision / all / last; // its share, by the clock
    contacts += step.contact_count / (double)last;
  }
  ok = ok && cn_world_penetration(p.world, &deep) == CN_OK;
  if (ok) {
    double relative = *ns;
    *ns = sweep_cost(p.world);
    row_text(row, "what", boxes ? "pile of boxes" : ground == HOPPER ? "hopper" : "pile");
    row_text(row, "engine", "cairn");
    row_number(row, "bodies", count);
    row_number(row, "ms", 1e3 * processor);
    row_number(row, "ms_collision", 1e3 * collision);
    row_number(row, "contacts", contacts);
    row_number(row, "iterations", iterations);
    row_number(row, "penetration_max", deep.max);
    row_number(row, "ns_per_contact_iteration", *ns);
    if (!boxes && ground == TERRAIN) row_number(row, "ratio", *ns / relative); // to boxes
    report_row_end(report, row);
  }
  pile_destroy(&p);
  return ok;
}

// The steps of the peers.
static int pile_peers(const Values *values, Report *report, int32_t count, int32_t steps,
                      Ground ground) {
  Pile p = {0};
  int ok = pile_create(&p, count, 0, ground, ITERATIONS) && pile_start(&p);
  p.steps = steps;
  for (size_t k = 0; k < PEERS && ok; k++) {
    Row *row = report_row_begin(report);
    FILE *answer;
    double seconds, collision, deepest;
    if (!(ok = row != NULL)) break;
    row_text(row, "what", ground == HOPPER ? "hopper" : "pile");
    row_text(row, "engine", peers[k][1]);
    row_number(row, "bodies", count);
    PeerOutcome outcome =
        peer_exchange(values->directory, peers[k][0], PEER_SECONDS, write_pile, &p, &answer);
    if (outcome == PEER_DONE &&
        fscanf(answer, "%lf %lf %lf", &seconds, &collision, &deepest) == 3) {
      row_number(row, "ms", 1e3 * seconds);
      row_number(row, "ms_collision", 1e3 * collision);
      row_number(row, "iterations", ITERATIONS);
      row_number(row, "penetration_max", deepest);
    } else {
      row_text(row, "status", outcome == PEER_NOT_INSTALLED ? "not installed" : "failed");
    }
    if (answer) fclose(answer);
    report_row_end(report, row);
  }
  pile_destroy(&p);
  return ok;
}

static int run(const Values *values, Report *report) {
  int32_t count, bodies, steps, poured, pours, sweeps;
  double seconds = value_number(values, "seconds"), ns = NAN;
  if (!value_whole(values, "bodies", 5 * HULLS, 1e6, &count) ||
      !value_whole(values, "pile", 0, 1e6, &bodies) ||
      !value_whole(values, "steps", 1, 1e6, &steps) ||
      !value_whole(values, "hopper", 0, 1e6, &poured) ||
      !value_whole(values, "pours", 1, 1e6, &pours) ||
      !value_whole(values, "sweeps", 1, 1e6, &sweeps))
    return 0;
  int ok = narrow_rows(report, seconds) && mixed_rows(values, report, count);
  if (ok && bodies > 0)
    ok = pile_row(report, bodies, steps, 1, TERRAIN, ITERATIONS, &ns) &&
         pile_row(report, bodies, steps, 0, TERRAIN, ITERATIONS, &ns);
  int peered = strcmp(value_text(values, "peers"), "none") != 0;
  if (ok && bodies > 0 && peered) ok = pile_peers(values, report, bodies, steps, TERRAIN);
  if (ok && poured > 0)
    ok = pile_row(report, poured, pours, 0, HOPPER, sweeps, &ns) &&
         pile_row(report, poured, pours, 0, HOPPER, ITERATIONS, &ns);
  if (ok && poured > 0 && peered) ok = pile_peers(values, report, poured, pours, HOPPER);
  if (!ok) fprintf(stderr, "cairn-bench: collision: %s\n", cn_error_message());
  return ok;
}

static const Parameter parameters[] = {
    {"bodies", "5000", "bodies whose contacts are found by all engines"},
    {"settle", "300", "steps before that"},
    {"frames", "10", "poses that are looked at"},
    {"pile", "2000", "bodies of the pile whose steps are timed; 0: none"},
    {"steps", "600", "its steps"},
    {"hopper", "2000", "bodies poured through a hopper; 0: none"},
    {"pours", "1600", "steps of that"},
    {"sweeps", "12", "iterations of Cairn in the hopper, beside a row with 50"},
    {"seconds", ".3", "s, for each pair of shapes"},
    {"peers", "all", "none: Cairn alone"},
    {NULL, NULL, NULL}};
static const Column columns[] = {{"what", "what"},
                                 {"engine", "engine"},
                                 {"bodies", "bodies"},
                                 {"ns", "ns a pair"},
                                 {"ns_again", "ns again"},
                                 {"ms", "ms"},
                                 {"ms_collision", "collision, ms"},
                                 {"contacts", "contacts"},
                                 {"iterations", "iterations"},
                                 {"pairs", "touching"},
                                 {"missing", "missing"},
                                 {"extra", "extra"},
                                 {"ratio", "ratio"},
                                 {"penetration_max", "overlap, m"},
                                 {"ns_per_contact_iteration", "ns/contact/iteration"},
                                 {NULL, NULL}};
extern const Bench bench_collision;
const Bench bench_collision = {"collision",
                               "convex bodies of all kinds: pairs, broad and narrow phase beside "
                               "Bullet and ODE, a pile",
                               parameters, columns, run};
