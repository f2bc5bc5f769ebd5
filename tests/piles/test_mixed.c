// SPDX-License-Identifier: Apache-2.0
// A pile of all shapes and of compounds: hulls of 16 and of 64 points, capsules, cylinders, boxes,
// cones, ellipsoids, rounded boxes, hammers, spheres, dropped into a bin. Nothing leaves it, overlaps
// stay below a hundredth of the smallest size and below 1 mm, and the result does not depend on the
// number of threads. CAIRN_PILE_BODIES and CAIRN_PILE_STEPS say how large and how long.
#include "check.h"
#include "core/rng.h"
#include "core/vec.h"
#include <cairn/cairn.h>
#include <stdio.h>
#include <stdlib.h>

#define KINDS 10
#define SMALLEST .06 // m, the thinnest of all: a hammer's handle

static int number(const char *name, int otherwise) {
  const char *text = getenv(name);
  return text ? atoi(text) : otherwise;
}

static double unit(CniRng *rng) { return cni_rng_range(rng, -1, 1); }

static CnVec3 direction(CniRng *rng) {
  for (;;) {
    double x = unit(rng), y = unit(rng), z = unit(rng), n2 = x * x + y * y + z * z;
    if (n2 < 1 && n2 > .01) return cn_scale(1 / sqrt(n2), cn_vec3(x, y, z));
  }
}

static CnGeometryId some_hull(CnWorld *world, int points, CniRng *rng) {
  CnVec3 p[64];
  CnGeometryId id;
  for (int i = 0; i < points; i++) {
    CnVec3 d = direction(rng);
    p[i] = cn_vec3(.1 * d.x, .08 * d.y, .07 * d.z);
  }
  CHECK_OK(cn_geometry_create_points(world, NULL, p, points, &id));
  return id;
}

static CnShapeDef shape_of(int kind, CnGeometryId small, CnGeometryId large) {
  static const CnShapeKind kinds[KINDS] = {
      CN_SHAPE_HULL, CN_SHAPE_HULL,      CN_SHAPE_CAPSULE, CN_SHAPE_CYLINDER, CN_SHAPE_BOX,
      CN_SHAPE_CONE, CN_SHAPE_ELLIPSOID, CN_SHAPE_BOX,     CN_SHAPE_CYLINDER, CN_SHAPE_SPHERE};
  CnShapeDef def = cn_shape_def_default(kinds[kind]);
  def.radius = kind == 2 ? .05 : kind == 8 ? .03 : .07;
  def.half_length = kind == 2 ? .06 : kind == 8 ? .1 : .07;
  def.half_size = cn_vec3(.09, .07, .05);
  if (kind == 7) def.rounding = .02, def.half_size = cn_vec3(.07, .05, .03);
  if (kinds[kind] == CN_SHAPE_HULL) def.geometry = kind == 0 ? small : large;
  return def;
}

static void add_body(CnWorld *world, int i, int side, CnShapeDef def, CniRng *rng) {
  CnBodyDef body = cn_body_def_default();
  CnBodyId id;
  CnShapeId shape;
  CnVec3 axis = direction(rng);
  double half = 1.5 * cni_rng_unit(rng), s = sin(half);
  body.pose.position =
      cn_vec3(.25 * (i % side - .5 * (side - 1)), .25 * (i / side % side - .5 * (side - 1)),
              .2 + .25 * (i / side / side));
  body.pose.rotation = (CnQuat){cos(half), s * axis.x, s * axis.y, s * axis.z};
  CHECK_OK(cn_body_create(world, &body, &id));
  CHECK_OK(cn_shape_create(world, id, &def, &shape));
  if (i % KINDS != 8) return;
  // the head of a hammer
  CnShapeDef head = cn_shape_def_default(CN_SHAPE_BOX);
  head.half_size = cn_vec3(.04, .08, .04);
  head.pose.position.z = .1;
  CHECK_OK(cn_shape_create(world, id, &head, &shape));
}

// A floor and four walls.
static void add_bin(CnWorld *world, double half) {
  static const CnVec3 sides[4] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
  const double r = sqrt(.5);
  CnBodyDef fixed = cn_body_def_default();
  CnShapeDef plane = cn_shape_def_default(CN_SHAPE_PLANE);
  CnBodyId id;
  CnShapeId shape;
  fixed.kind = CN_BODY_FIXED;
  CHECK_OK(cn_body_create(world, &fixed, &id));
  CHECK_OK(cn_shape_create(world, id, &plane, &shape));
  for (int k = 0; k < 4; k++) {
    CnVec3 d = sides[k];
    plane.pose.position = cn_scale(-half, d);
    plane.pose.rotation = (CnQuat){r, -r * d.y, r * d.x, 0}; // z to d
    CHECK_OK(cn_shape_create(world, id, &plane, &shape));
  }
}

static uint64_t pile(int bodies, int steps, int threads, int check) {
  CniRng rng = {1};
  CnWorldDef def = cn_world_def_default();
  CnWorld *world;
  CnGeometryId small[8], large[8];
  int side = bodies >= 1000 ? 10 : 5;
  double half = .125 * side + .1;
  def.time_step = .005;
  def.worker_count = threads;
  CHECK_OK(cn_world_create(&def, &world));
  add_bin(world, half);
  for (int i = 0; i < 8; i++) {
    small[i] = some_hull(world, 16, &rng);
    large[i] = some_hull(world, 64, &rng);
  }
  for (int i = 0; i < bodies; i++)
    add_body(world, i, side, shape_of(i % KINDS, small[i / KINDS % 8], large[i / KINDS % 8]), &rng);
  for (int n = 0; n < steps; n++) CHECK_OK(cn_world_step(world, NULL));
  CnPenetration deep;
  CnWorldInfo info;
  cn_world_info(world, &info);
  CHECK_OK(cn_world_penetration(world, &deep));
  for (CnBodyId b = cn_world_next_body(world, (CnBodyId){0, 0}); check && b.slot;
       b = cn_world_next_body(world, b)) {
    CnPose pose;
    CHECK_OK(cn_body_pose(world, b, &pose));
    CHECK(fabs(pose.position.x) < half && fabs(pose.position.y) < half && pose.position.z > -1e-9);
  }
  if (check) {
    printf("mixed pile of %d, %d steps: deepest overlap %.3g mm, %d contacts\n", bodies, steps,
           1e3 * deep.max, (int)info.contact_count);
    CHECK(deep.max < 1e-3 && deep.max < .01 * SMALLEST);
  }
  uint64_t hash = cn_world_hash(world);
  cn_world_destroy(world);
  return hash;
}

static void stays_in_the_bin(void **state) {
  (void)state;
  int bodies = number("CAIRN_PILE_BODIES", 100), steps = number("CAIRN_PILE_STEPS", 400);
  CHECK(pile(bodies, steps, 2, 1) != 0);
}

static void same_for_all_threads(void **state) {
  (void)state;
  int steps = number("CAIRN_PILE_STEPS", 0) ? 200 : 60;
  int bodies = number("CAIRN_PILE_BODIES", 100);
  CHECK(pile(bodies, steps, 1, 0) == pile(bodies, steps, 2, 0));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(stays_in_the_bin),
                                     cmocka_unit_test(same_for_all_threads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
