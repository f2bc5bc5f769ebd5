// SPDX-License-Identifier: Apache-2.0
// Bodies whose sides are flush, by hem5, rkf45 and moreau-jean: a side is no wall for what stands on
// top of its body, and a top is no floor for what stands beside it.
#include "check.h"
#include "toys.h"

static const double G = 9.81, SIDE = .1;
static const char *const names[3] = {"hem5", "rkf45", "moreau-jean"};
static const double steps[3] = {.01, .01, .001};

static CnWorld *world_by(int k) {
  CnWorldDef def = cn_world_def_default();
  def.integrator = names[k];
  def.time_step = steps[k];
  def.solver = cn_solver_def_default("auto");
  def.solver.effort = CN_EFFORT_EXACT;
  def.solver.tolerance = 1e-14;
  return toy_world_from(&def);
}

static CnBodyId body_of(CnWorld *world, CnBodyKind kind, CnShapeDef shape, double friction,
                        CnVec3 centre) {
  CnBodyDef body = cn_body_def_default();
  CnBodyId id;
  CnShapeId shape_id;
  body.kind = kind;
  body.pose.position = centre;
  CHECK_OK(cn_body_create(world, &body, &id));
  shape.material = toy_material(world, friction, 0);
  if (shape.kind == CN_SHAPE_HULL) {
    CnVec3 points[8];
    for (int i = 0; i < 8; i++)
      points[i] = cn_vec3(i & 1 ? SIDE : -SIDE, i & 2 ? SIDE : -SIDE, i & 4 ? SIDE : -SIDE);
    CHECK_OK(cn_geometry_create_points(world, NULL, points, 8, &shape.geometry));
  }
  CHECK_OK(cn_shape_create(world, id, &shape, &shape_id));
  return id;
}

static void floor_of(CnWorld *world) {
  CnShapeDef plane = cn_shape_def_default(CN_SHAPE_PLANE);
  body_of(world, CN_BODY_FIXED, plane, 0, CN_VEC3_ZERO);
}

static CnShapeDef box_of(double half) {
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_BOX);
  shape.half_size = cn_vec3(half, half, SIDE);
  return shape;
}

static CnShapeDef cylinder_of(double radius) {
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_CYLINDER);
  shape.radius = radius;
  shape.half_length = SIDE;
  return shape;
}

// The lower one slides away for 0.1 s: what lies on it feels its friction alone, mu g t.
static void slides_under(int k, CnShapeDef upper, double friction, CnVec3 place, double speed) {
  CnWorld *world = world_by(k);
  floor_of(world);
  CnBodyId below = body_of(world, CN_BODY_DYNAMIC, box_of(SIDE), friction, cn_vec3(0, 0, SIDE));
  CnBodyId above =
      body_of(world, CN_BODY_DYNAMIC, upper, friction, cn_vec3(place.x, place.y, 3 * SIDE));
  toy_set_twist(world, below, cn_vec3(speed, 0, 0), CN_VEC3_ZERO);
  toy_steps(world, (int)(.1 / steps[k] + .5));
  double sign = speed > 0 ? 1 : -1;
  CHECK_NEAR(toy_twist(world, above).velocity.x, sign * friction * G * .1, 1e-6);
  CHECK_NEAR(toy_twist(world, above).velocity.y, 0, 1e-6);
  CHECK_NEAR(toy_pose(world, above).position.z, 3 * SIDE, 1e-6);
  if (friction == 0) CHECK_NEAR(toy_twist(world, below).velocity.x, speed, 1e-6);
  cn_world_destroy(world);
}

static void boxes(void **state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    slides_under(k, box_of(SIDE), 0, CN_VEC3_ZERO, .3);
    slides_under(k, box_of(SIDE), 0, CN_VEC3_ZERO, -.3);
    slides_under(k, box_of(.08), 0, cn_vec3(.02, 0, 0), .1);
    slides_under(k, box_of(.08), 0, cn_vec3(.02, .02, 0), .1);
    slides_under(k, box_of(SIDE), 0, cn_vec3(0, .03, 0), .3);
  }
}

static void rubbing_boxes(void **state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    slides_under(k, box_of(SIDE), .02, CN_VEC3_ZERO, .1);
    slides_under(k, box_of(.08), .02, CN_VEC3_ZERO, .1);
    slides_under(k, box_of(.08), .02, cn_vec3(.02, 0, 0), .1);
  }
}

// The lower one is pushed with 5 N, by the solver of every day: it goes with what friction leaves of
// them, the upper one with the rest, and edges that are parallel but for round-off are no overlap.
static void pushed_under(void **state) {
  (void)state;
  static const double halves[4] = {.075, .08, SIDE, .15};
  double push = 5, mu = .1, t = .05;
  for (int i = 0; i < 4; i++) {
    CnWorldDef def = cn_world_def_default();
    def.integrator = "moreau-jean";
    def.time_step = 1e-3;
    CnWorld *world = toy_world_from(&def);
    floor_of(world);
    CnBodyId id[2];
    for (int k = 0; k < 2; k++) {
      CnShapeDef shape = box_of(k ? halves[i] : SIDE);
      shape.density = 1 / (8 * shape.half_size.x * shape.half_size.y * shape.half_size.z);
      id[k] = body_of(world, CN_BODY_DYNAMIC, shape, mu, cn_vec3(0, 0, (1 + 2 * k) * SIDE));
    }
    CnForceDef force = cn_force_def_default(CN_FORCE_CONSTANT);
    CnForceId unused;
    force.force = cn_vec3(push, 0, 0);
    force.body_b = id[0];
    CHECK_OK(cn_force_create(world, &force, &unused));
    toy_steps(world, 50);
    CHECK_NEAR(toy_twist(world, id[0]).velocity.x, (push - mu * G) * t, 1e-5);
    CHECK_NEAR(toy_twist(world, id[1]).velocity.x, mu * G * t, 1e-5);
    cn_world_destroy(world);
  }
}

static void other_shapes(void **state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    slides_under(k, cn_shape_def_default(CN_SHAPE_HULL), 0, CN_VEC3_ZERO, .3);
    slides_under(k, cylinder_of(SIDE), 0, CN_VEC3_ZERO, .1);
  }
}

// Beside a fixed one of the same height, its side against it, a box falls freely.
static void falls_beside(void **state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    CnWorld *world = world_by(k);
    body_of(world, CN_BODY_FIXED, box_of(SIDE), 0, CN_VEC3_ZERO);
    CnBodyId id = body_of(world, CN_BODY_DYNAMIC, box_of(SIDE), 0, cn_vec3(2 * SIDE, 0, 0));
    toy_steps(world, (int)(.05 / steps[k] + .5));
    CHECK_NEAR(toy_twist(world, id).velocity.z, -G * .05, 1e-9);
    CHECK_NEAR(toy_twist(world, id).velocity.x, 0, 1e-9);
    cn_world_destroy(world);
  }
}

// But what is really beside it is stopped by it.
static void side_stops(void **state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    CnWorld *world = world_by(k);
    floor_of(world);
    body_of(world, CN_BODY_FIXED, box_of(SIDE), 0, cn_vec3(0, 0, SIDE));
    CnBodyId id = body_of(world, CN_BODY_DYNAMIC, box_of(SIDE), 0, cn_vec3(2 * SIDE, 0, SIDE));
    toy_set_twist(world, id, cn_vec3(-1, 0, 0), CN_VEC3_ZERO);
    toy_steps(world, (int)(.05 / steps[k] + .5));
    CHECK_NEAR(toy_twist(world, id).velocity.x, 0, 1e-9);
    CHECK_NEAR(toy_pose(world, id).position.x, 2 * SIDE, 2 * steps[k]);
    cn_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(boxes),        cmocka_unit_test(rubbing_boxes),
      cmocka_unit_test(pushed_under), cmocka_unit_test(other_shapes),
      cmocka_unit_test(falls_beside), cmocka_unit_test(side_stops)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
