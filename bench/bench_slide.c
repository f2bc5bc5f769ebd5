// SPDX-License-Identifier: Apache-2.0
// Bodies slide without friction at 5 m/s over a flat floor of 200 triangles, split at random, for 2 s in steps
// of .01 s: a box of 1 x 1 x .5 m, a capsule that lies and a cylinder that stands (r .25, half length .4), a ball of
// .25 m. They start off the grid, in so many directions all round. Printed is the worst over the directions: the share of the
// speed that is lost, and how far the height has changed; of Cairn on a mesh and on a height field, and of
// Bullet and ODE on the same triangles.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/cairn.h>

#include "bench.h"
#include "peer.h"

#define CELLS 10
#define SIDE (CELLS + 1)
#define HALF 8. // m
#define SPEED 5.
#define STEP .01
#define STEPS 200
#define RADIUS .25
#define LENGTH .4 // half
#define KINDS 4

static const char *const words[KINDS] = {"box", "capsule", "cylinder", "sphere"};

typedef struct Slide {
  CnVec3 vertices[SIDE * SIDE];
  int32_t triangles[6 * CELLS * CELLS];
  int32_t kind;
  CnPose pose;
  CnVec3 velocity;
} Slide;

// Numbers in [-1, 1), the same everywhere.
static double draw(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) * 0x1p-52 - 1;
}

static void split_floor(Slide *s) {
  uint64_t rng = 7;
  int32_t *t = s->triangles;
  for (int32_t i = 0; i < SIDE * SIDE; i++) {
    int32_t x = i % SIDE, y = i / SIDE, inner = x > 0 && y > 0 && x < CELLS && y < CELLS;
    double cell = 2 * HALF / CELLS, off = inner ? .25 * cell : 0;
    double dx = draw(&rng), dy = draw(&rng);
    s->vertices[i] = (CnVec3){cell * x - HALF + off * dx, cell * y - HALF + off * dy, 0};
    if (x == CELLS || y == CELLS) continue;
    int32_t other = draw(&rng) < 0, a = i, b = i + 1, c = i + SIDE + 1, d = i + SIDE;
    const int32_t six[6] = {a, b, other ? d : c, other ? b : a, c, d};
    for (int32_t k = 0; k < 6; k++) *t++ = six[k];
  }
}

static void start(Slide *s, int32_t kind, int32_t n) {
  const double r = sqrt(.5), angle = .1 + .7 * n, turn = .15 * n;
  CnVec3 way = {cos(angle), sin(angle), 0};
  CnQuat about = {cos(turn), 0, 0, sin(turn)}, lying = {r, r, 0, 0};
  s->kind = kind;
  s->velocity = (CnVec3){SPEED * way.x, SPEED * way.y, 0};
  s->pose.position = (CnVec3){.0137 - 5 * way.x, -.0241 - 5 * way.y, kind == 2 ? LENGTH : RADIUS};
  s->pose.rotation = about;
  if (kind == 1)
    s->pose.rotation =
        (CnQuat){about.w * lying.w, about.w * lying.x, about.z * lying.x, about.z * lying.w};
}

static CnShapeDef shape_of(int32_t kind) {
  static const CnShapeKind kinds[KINDS] = {CN_SHAPE_BOX, CN_SHAPE_CAPSULE, CN_SHAPE_CYLINDER,
                                           CN_SHAPE_SPHERE};
  CnShapeDef def = cn_shape_def_default(kinds[kind]);
  def.half_size = (CnVec3){.5, .5, RADIUS};
  def.radius = RADIUS;
  def.half_length = LENGTH;
  return def;
}

// ---- Cairn -------------------------------------------------------------------------------------

static int add_floor(CnWorld *world, const Slide *s, int field, CnMaterialId smooth) {
  static double flat[41 * 41];
  CnBodyDef body = cn_body_def_default();
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_MESH);
  CnMeshDef mesh = cn_mesh_def_default();
  CnHeightsDef heights = cn_heights_def_default();
  CnBodyId id;
  CnShapeId of;
  mesh.vertices = s->vertices;
  mesh.vertex_count = SIDE * SIDE;
  mesh.triangles = s->triangles;
  mesh.triangle_count = 2 * CELLS * CELLS;
  heights.x_count = heights.y_count = 41;
  heights.x_spacing = heights.y_spacing = 2 * HALF / 40;
  heights.heights = flat;
  if (field) shape.pose.position = (CnVec3){-HALF, -HALF, 0};
  body.kind = CN_BODY_FIXED;
  shape.material = smooth;
  return (field ? cn_geometry_create_heights(world, &heights, &shape.geometry)
                : cn_geometry_create_mesh(world, &mesh, &shape.geometry)) == CN_OK &&
         cn_body_create(world, &body, &id) == CN_OK &&
         cn_shape_create(world, id, &shape, &of) == CN_OK;
}

static int slide(const Slide *s, int field, double *speed, double *height) {
  CnWorldDef def = cn_world_def_default();
  CnWorld *world = NULL;
  CnMaterialDef material = cn_material_def_default();
  CnBodyDef body = cn_body_def_default();
  CnShapeDef shape = shape_of(s->kind);
  CnMaterialId smooth;
  CnBodyId id = {0, 0};
  CnShapeId of;
  CnPose pose = s->pose;
  CnTwist twist = {s->velocity, {0, 0, 0}};
  def.time_step = STEP;
  material.friction = 0;
  body.pose = s->pose;
  body.twist.velocity = s->velocity;
  int ok = cn_world_create(&def, &world) == CN_OK &&
           cn_material_create(world, &material, &smooth) == CN_OK;
  shape.material = smooth;
  ok = ok && add_floor(world, s, field, smooth) && cn_body_create(world, &body, &id) == CN_OK &&
       cn_shape_create(world, id, &shape, &of) == CN_OK;
  for (int32_t i = 0; i < STEPS && ok; i++) ok = cn_world_step(world, NULL) == CN_OK;
  ok = ok && cn_body_pose(world, id, &pose) == CN_OK && cn_body_twist(world, id, &twist) == CN_OK;
  CnVec3 v = twist.velocity;
  *speed = sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
  *height = pose.position.z;
  cn_world_destroy(world);
  return ok;
}

// ---- peers -------------------------------------------------------------------------------------

// See peers/collide.h for the form.
static int write_slide(const void *list, FILE *file) {
  const Slide *s = list;
  static const double sizes[KINDS][3] = {
      {.5, .5, RADIUS}, {RADIUS, LENGTH}, {RADIUS, LENGTH}, {RADIUS}};
  static const int32_t counts[KINDS] = {3, 2, 2, 1};
  CnVec3 p = s->pose.position, v = s->velocity;
  CnQuat q = s->pose.rotation;
  fprintf(file, "%s", words[s->kind]);
  for (int32_t i = 0; i < counts[s->kind]; i++) fprintf(file, " %.17g", sizes[s->kind][i]);
  // sliding, it does not turn: the inertia says nothing
  fprintf(file, "\nmass 1 .05 .05 .05 0 0 0\nvelocity %.17g %.17g %.17g\n", v.x, v.y, v.z);
  fprintf(file, "surface %d %d\n", SIDE * SIDE, 2 * CELLS * CELLS);
  for (int32_t i = 0; i < SIDE * SIDE; i++)
    fprintf(file, "%.17g %.17g 0\n", s->vertices[i].x, s->vertices[i].y);
  for (int32_t i = 0; i < 6 * CELLS * CELLS; i++) fprintf(file, "%d\n", (int)s->triangles[i]);
  fprintf(file, "step %.17g %d 50 0\n", STEP, STEPS);
  for (int32_t i = 0; i < 2; i++)
    fprintf(file, "frame\n%.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", p.x, p.y, p.z, q.w, q.x,
            q.y, q.z);
  return 1;
}

typedef struct Engine {
  const char *program, *name; // no program: Cairn
  int32_t field;
} Engine;
static const Engine engines[] = {{NULL, "cairn", 0},
                                 {NULL, "cairn, height field", 1},
                                 {"collide_ode", "ODE", 0},
                                 {"collide_bullet", "Bullet", 0},
                                 {"collide_bullet64", "Bullet double", 0}};
#define ENGINES ((int32_t)(sizeof engines / sizeof engines[0]))

static PeerOutcome run_one(const char *directory, const Engine *e, const Slide *s, double *speed,
                           double *height) {
  FILE *answer;
  double unused[3];
  if (!e->program) return slide(s, e->field, speed, height) ? PEER_DONE : PEER_FAILED;
  PeerOutcome outcome = peer_exchange(directory, e->program, 60, write_slide, s, &answer);
  if (outcome == PEER_DONE &&
      fscanf(answer, "%lf %lf %lf %lf %lf", &unused[0], &unused[1], &unused[2], speed, height) != 5)
    outcome = PEER_FAILED;
  if (answer) fclose(answer);
  return outcome;
}

static int run(const Values *values, Report *report) {
  static Slide s;
  int32_t directions, only = strcmp(value_text(values, "peers"), "none") == 0;
  if (!value_whole(values, "directions", 1, 1000, &directions)) return 0;
  split_floor(&s);
  for (int32_t kind = 0; kind < KINDS; kind++)
    for (int32_t e = 0; e < (only ? 2 : ENGINES); e++) {
      Row *row = report_row_begin(report);
      double loss = 0, least = INFINITY, off = 0;
      PeerOutcome outcome = PEER_DONE;
      if (!row) return 0;
      for (int32_t n = 0; n < directions && outcome == PEER_DONE; n++) {
        double speed = NAN, height = NAN;
        start(&s, kind, n);
        outcome = run_one(values->directory, &engines[e], &s, &speed, &height);
        double lost = fabs(SPEED - speed) / SPEED, away = fabs(height - s.pose.position.z);
        loss = lost > loss || isnan(lost) ? lost : loss;
        least = fmin(least, lost);
        off = away > off || isnan(away) ? away : off;
      }
      row_text(row, "shape", words[kind]);
      row_text(row, "engine", engines[e].name);
      if (outcome == PEER_DONE) {
        row_number(row, "loss", loss);
        row_number(row, "least", least);
        row_number(row, "height", off);
      } else {
        row_text(row, "status", outcome == PEER_NOT_INSTALLED ? "not installed" : "failed");
      }
      report_row_end(report, row);
      if (!engines[e].program && outcome != PEER_DONE) return 0;
    }
  return 1;
}

static const Parameter parameters[] = {{"directions", "9", "ways to slide"},
                                       {"peers", "all", "none: Cairn alone"},
                                       {NULL, NULL, NULL}};
static const Column columns[] = {{"shape", "shape"},
                                 {"engine", "engine"},
                                 {"loss", "worst loss"},
                                 {"least", "least loss"},
                                 {"height", "height off, m"},
                                 {"status", "status"},
                                 {NULL, NULL}};
extern const Bench bench_slide;
const Bench bench_slide = {
    "slide",
    "bodies slide over a flat floor of triangles: speed lost at its inner edges, "
    "beside Bullet and ODE",
    parameters, columns, run};
