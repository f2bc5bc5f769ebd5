// Scene G: a pile of equal spheres, engine beside engine in the same run.
//
// Figures are means over the last 20 steps; the penetration is computed from positions by the same
// code for every engine, its maximum over those steps and its mean over all overlapping pairs in
// them.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bodies.h"
#include "peer.h"
#include "scene_g.h"

// A whole number of a parameter in [low, high]; 0 and a line on stderr otherwise.
static int whole(const Values *values, const char *key, double low, double high, int32_t *result) {
  double number = value_number(values, key);
  if (number >= low && number <= high && number == floor(number)) {
    *result = (int32_t)number;
    return 1;
  }
  fprintf(stderr, "cairn-bench: granular: %s must be a whole number in %g .. %g (got %s)\n", key,
          low, high, value_text(values, key));
  return 0;
}

static int build(Bodies *bodies, int32_t count) {
  double *positions = malloc(3 * (size_t)count * sizeof *positions);
  if (!positions || !bodies_create(bodies, count, SCENE_G_PLANES)) {
    free(positions);
    return 0;
  }
  scene_g_positions(count, positions);
  for (int32_t i = 0; i < count; i++) {
    Sphere *s = &bodies->spheres[i];
    memcpy(s->position, positions + 3 * (size_t)i, sizeof s->position);
    s->radius = SCENE_G_RADIUS;
    s->density = SCENE_G_DENSITY;
  }
  free(positions);
  double planes[SCENE_G_PLANES][4];
  scene_g_planes(count, planes[0]);
  for (int32_t i = 0; i < SCENE_G_PLANES; i++) {
    memcpy(bodies->planes[i].normal, planes[i], sizeof bodies->planes[i].normal);
    bodies->planes[i].offset = planes[i][3];
  }
  bodies->gravity[2] = -SCENE_G_GRAVITY;
  bodies->friction = SCENE_G_FRICTION;
  bodies->time_step = SCENE_G_TIME_STEP;
  return 1;
}

// All engines on one size.
static int run_size(const Values *values, int32_t count, Report *report) {
  Bodies bodies;
  if (!build(&bodies, count)) {
    fprintf(stderr, "cairn-bench: out of memory\n");
    return 0;
  }
  double ode_ms = NAN;
  int ok = whole(values, "steps", 1, 1e6, &bodies.step_count) &&
           whole(values, "iterations", 1, 1e6, &bodies.iterations);
  if (ok && strcmp(value_text(values, "peers"), "none") != 0)
    ok = peer_row(report, values->directory, "ode", &bodies, &ode_ms);
  bodies_destroy(&bodies);
  return ok;
}

static int run(const Values *values, Report *report) {
  // sizes separated by commas
  for (const char *at = value_text(values, "spheres"); *at;) {
    char *end = NULL;
    long count = strtol(at, &end, 10);
    if (end == at || count < 1 || count > 10000000 || (*end && *end != ',')) {
      fprintf(stderr, "cairn-bench: granular: spheres must be numbers in 1 .. 1e7 (got %s)\n",
              value_text(values, "spheres"));
      return 0;
    }
    if (!run_size(values, (int32_t)count, report)) return 0;
    at = *end ? end + 1 : end;
  }
  return 1;
}

static const Parameter parameters[] = {{"spheres", "1000,8000", "numbers of spheres"},
                                       {"steps", "200", "steps, the last 20 of which are measured"},
                                       {"iterations", "120", "sweeps of the solver in each step"},
                                       {"peers", "all", "all, or none to run Cairn alone"},
                                       {NULL, NULL, NULL}};
static const Column columns[] = {{"engine", "engine"},
                                 {"spheres", "spheres"},
                                 {"ms_per_step", "ms/step"},
                                 {"ms_collision", "collision"},
                                 {"contacts_mean", "contacts"},
                                 {"ns_per_contact_iteration", "ns/contact/iteration"},
                                 {"penetration_max", "depth max m"},
                                 {"penetration_mean", "mean m"},
                                 {"ratio", "ratio"},
                                 {"status", "status"},
                                 {NULL, NULL}};
extern const Bench bench_granular;
const Bench bench_granular = {"granular", "scene G, a pile of equal spheres, beside other engines",
                              parameters, columns, run};
