// SPDX-License-Identifier: Apache-2.0
// The law of discharge: how fast grains run through a hole in the floor.
//
// The rate does not depend on the height of the filling but on the hole alone, as Beverloo found:
// W ~ (D - 1.4 d)^2.5, D the diameter of the hole, d of the grains. Spheres of scene G in a box as
// wide as three times the largest hole, settled; then the hole is opened, and the spheres that have
// fallen through are counted between `begin` and `end`. The slope of ln W over ln(D - 1.4 d) is set
// beside 2.5.
//
// The hole: contacts with the floor whose point lies inside the circle are taken out by the modify
// hook, and a ring of small fixed spheres is the rim over which grains roll.
#include <cairn/numbers.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bodies.h"
#include "pile.h"
#include "scene_g.h"

#define PI 3.14159265358979323846

#define RIM 0.02 // m, radius of the spheres of the rim

typedef struct Hole {
  CnShapeId floor;
  double radius; // m, 0: closed
} Hole;

static int same_shape(CnShapeId a, CnShapeId b) {
  return a.slot == b.slot && a.generation == b.generation;
}

static void let_through(void *context, const CnWorld *world, CnContactTuning *contact) {
  const Hole *hole = context;
  (void)world;
  if (!same_shape(contact->shape_a, hole->floor) && !same_shape(contact->shape_b, hole->floor))
    return;
  double x = contact->point.x, y = contact->point.y;
  if (x * x + y * y < hole->radius * hole->radius) contact->enabled = 0;
}

// The rim, flush with the floor.
static CnStatus add_rim(Pile *pile, double radius) {
  CnBodyDef def = cn_body_def_default();
  def.kind = CN_BODY_FIXED;
  CnBodyId body;
  CnStatus status = cn_body_create(pile->world, &def, &body);
  int32_t count = (int32_t)ceil(2 * PI * radius / RIM);
  for (int32_t i = 0; status == CN_OK && i < count; i++) {
    double angle = 2 * PI * i / count;
    CnShapeDef ball = cn_shape_def_default(CN_SHAPE_SPHERE);
    CnShapeId id;
    ball.radius = RIM;
    ball.pose.position = (CnVec3){radius * cn_cos(angle), radius * cn_sin(angle), -RIM};
    ball.material = pile->material;
    status = cn_shape_create(pile->world, body, &ball, &id);
  }
  return status;
}

// Remove what has fallen through; answers how many.
static int32_t count_out(Pile *pile) {
  int32_t out = 0;
  for (int32_t i = 0; i < pile->sphere_count; i++) {
    CnPose pose;
    if (cn_body_pose(pile->world, pile->ids[i], &pose) != CN_OK) continue;
    if (pose.position.z < -5 * SCENE_G_RADIUS)
      out += cn_body_destroy(pile->world, pile->ids[i]) == CN_OK;
  }
  return out;
}

// Spheres a second through a hole of the given diameter; negative on failure.
static double discharge(const Values *values, const Bodies *bodies, double diameter,
                        int32_t threads, Row *row) {
  double begin = value_number(values, "begin"), end = value_number(values, "end");
  double settle = value_number(values, "settle"), h = bodies->time_step;
  Hole hole = {{0, 0}, 0};
  PileOptions options = pile_options(value_text(values, "solver"), threads);
  options.hooks.modify = let_through;
  options.hooks.context = &hole;
  Pile pile;
  Figures sum;
  memset(&sum, 0, sizeof sum);
  if (!pile_build(&pile, bodies, &options)) return -1;
  hole.floor = cn_body_shape(pile.world, pile.ground, 0);
  int ok =
      pile_steps(&pile, (int32_t)(settle / h), NULL) && add_rim(&pile, 0.5 * diameter) == CN_OK;
  hole.radius = 0.5 * diameter;
  int32_t out = 0, steps = (int32_t)(end / h);
  for (int32_t i = 0; ok && i < steps; i++) {
    ok = pile_step(&pile, &sum);
    int32_t now = count_out(&pile);
    if (i * h >= begin) out += now;
  }
  CnWorldInfo info;
  cn_world_info(pile.world, &info);
  if (ok) {
    pile_row(row, &pile, &sum);
    row_number(row, "left", info.body_count - 2);
  }
  pile_destroy(&pile);
  return ok ? out / (end - begin) : -1;
}

// Slope of the straight line through the points.
static double slope(const double *x, const double *y, int32_t n) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (int32_t i = 0; i < n; i++) {
    sx += x[i];
    sy += y[i];
    sxx += x[i] * x[i];
    sxy += x[i] * y[i];
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

static int run(const Values *values, Report *report) {
  const double d = 2 * SCENE_G_RADIUS;
  int32_t holes[VALUE_LIST], hole_count, count, threads;
  if (!value_list(values, "holes", 2, 100, holes, &hole_count) ||
      !value_whole(values, "spheres", 1, 1e7, &count) ||
      !value_whole(values, "threads", 1, 256, &threads))
    return 0;
  double x[VALUE_LIST], y[VALUE_LIST], widest = 0;
  for (int32_t i = 0; i < hole_count; i++) widest = fmax(widest, holes[i] * d);
  for (int32_t i = 0; i < hole_count; i++) {
    Bodies bodies;
    if (!pile_lattice(&bodies, count, SCENE_G_RADIUS, SCENE_G_DENSITY, 3 * widest)) return 0;
    Row *row = report_row_begin(report);
    double rate = -1;
    if (row && value_whole(values, "iterations", 1, 1e6, &bodies.iterations)) {
      row_number(row, "spheres", count);
      row_number(row, "threads", threads);
      row_number(row, "hole_diameters", holes[i]);
      rate = discharge(values, &bodies, holes[i] * d, threads, row);
    }
    bodies_destroy(&bodies);
    if (rate < 0) return 0;
    double mass = SCENE_G_DENSITY * 4.0 / 3.0 * PI * d * d * d / 8;
    row_number(row, "spheres_per_second", rate);
    row_number(row, "kg_per_second", rate * mass);
    x[i] = log(holes[i] * d - 1.4 * d);
    y[i] = log(rate);
    if (i + 1 == hole_count && i > 0 && rate > 0) {
      row_number(row, "slope", slope(x, y, hole_count));
      row_number(row, "law_slope", 2.5);
    }
    report_row_end(report, row);
  }
  return 1;
}

static const Parameter parameters[] = {
    {"holes", "5,6,8,10", "diameters of the hole over that of a grain"},
    {"spheres", "20000", "number of grains"},
    {"settle", "2", "seconds before the hole is opened"},
    {"begin", "1", "seconds after which grains are counted"},
    {"end", "5", "seconds at which counting ends"},
    {"iterations", "60", "sweeps of the solver in each step"},
    {"solver", "psor", "Cairn's solver"},
    {"threads", "2", "worker threads: the grains do not see them"},
    {NULL, NULL, NULL}};
static const Column columns[] = {{"hole_diameters", "D/d"},
                                 {"spheres", "spheres"},
                                 {"spheres_per_second", "spheres/s"},
                                 {"kg_per_second", "kg/s"},
                                 {"slope", "slope"},
                                 {"law_slope", "law"},
                                 {"left", "left"},
                                 {"ms_per_step", "ms/step"},
                                 {"penetration_max", "depth max m"},
                                 {NULL, NULL}};
extern const Bench bench_discharge;
const Bench bench_discharge = {"discharge",
                               "grains through a hole in the floor: the 5/2 law (12 minutes)",
                               parameters, columns, run};
