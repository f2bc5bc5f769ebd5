// SPDX-License-Identifier: Apache-2.0
// Bodies that are continuous pass through nothing: every kind of shape, at 100 m/s with h = 0.01 s,
// against a plate of 1 mm, at rest or moving, straight, grazing and turning.
#include "check.h"
#include "placed.h"
#include "core/math.h"
#include "core/rng.h"
#include "core/vec.h"
#include "worlds.h"

#include <math.h>

#define STEP .01
#define THICK .0005 // half of the plate

// A shape of the kind, about 1 cm in size; hulls of a geometry.
static CnShapeDef small_shape(CnWorld *world, CnShapeKind kind, double length) {
  static const CnVec3 corners[] = {{-.006, -.004, -.003}, {.006, -.003, -.003}, {0, .005, -.004},
                                   {.001, .002, .006},    {-.003, 0, .005},     {.004, .001, .003}};
  CnShapeDef def = cn_shape_def_default(kind);
  CnGeometryId geometry;
  def.radius = .003;
  def.half_length = .005 * length;
  def.half_size = cn_vec3(.003, .004, .006 * length);
  if (kind == CN_SHAPE_HULL) {
    CHECK_OK(cn_geometry_create_points(world, NULL, corners, 6, &geometry));
    def.geometry = geometry;
  }
  return def;
}

static CnVec3 any_vector(CniRng *r) {
  double x = 2 * cni_rng_unit(r) - 1, y = 2 * cni_rng_unit(r) - 1;
  return cn_vec3(x, y, 2 * cni_rng_unit(r) - 1);
}

static CnBodyId small_body(CnWorld *world, const CnShapeDef *shape, CnVec3 position,
                           CnVec3 velocity, CnVec3 spin, CnMaterialId material, CniRng *r) {
  CnBodyDef def = cn_body_def_default();
  CnShapeDef on = *shape;
  CnBodyId body;
  CnShapeId id;
  CnVec3 axis = any_vector(r);
  def.pose.position = position;
  def.pose.rotation = world_turn(cn_scale(1 / cn_norm(axis), axis), 3 * cni_rng_unit(r));
  def.twist = (CnTwist){velocity, spin};
  def.continuous = 1;
  CHECK_OK(cn_body_create(world, &def, &body));
  on.material = material;
  CHECK_OK(cn_shape_create(world, body, &on, &id));
  return body;
}

static int bounded(CnShapeKind kind) { return kind != CN_SHAPE_PLANE; }

// Height of the centre over the middle of a plate.
static double height(const CnWorld *world, CnBodyId plate, CnBodyId body) {
  CnPose pose = world_pose(world, plate);
  CnVec3 up = cn_qmat(pose.rotation).z;
  return cn_dot(up, cn_sub(world_pose(world, body).position, pose.position));
}

static void stays_above(CnWorld *world, CnBodyId plate, CnBodyId body, int steps) {
  for (int i = 0; i < steps; i++) {
    world_step(world);
    CHECK(height(world, plate, body) > THICK);
  }
}

static void plate_at_rest(void **state) {
  (void)state;
  CniRng r = {1};
  for (int32_t kind = 0; kind < CN_SHAPE_KIND_COUNT; kind = next_convex(kind)) {
    for (int n = 0; bounded((CnShapeKind)kind) && n < 12; n++) {
      CnWorldDef def = cn_world_def_default();
      def.time_step = STEP;
      CnWorld *world = world_make(&def);
      CnMaterialId material = world_material(world, .3, n % 3 == 0 ? .5 : 0);
      CnBodyId plate =
          world_fixed_box(world, cn_vec3(100, 100, THICK), world_at(0, 0, 0), material);
      // straight, aslant and grazing; at rest and turning up to 2000 rad/s
      double slope = n % 3 == 0 ? 1 : n % 3 == 1 ? .8 : .05;
      CnVec3 velocity = cn_vec3(100 * sqrt(1 - slope * slope), 0, -100 * slope);
      CnVec3 spin = cn_scale(n % 2 ? 1000 : 0, any_vector(&r));
      CnShapeDef shape = small_shape(world, (CnShapeKind)kind, n % 4 == 3 ? 10 : 1);
      CnVec3 from = cn_vec3(0, 0, .08 + slope * 2 * cni_rng_unit(&r));
      CnBodyId body = small_body(world, &shape, from, velocity, spin, material, &r);
      stays_above(world, plate, body, 40);
      cn_world_destroy(world);
    }
  }
}

// The plate comes at 100 m/s: with a motion of its own, or free and heavy or light.
static void plate_that_moves(void **state) {
  (void)state;
  CniRng r = {2};
  for (int32_t kind = 0; kind < CN_SHAPE_KIND_COUNT; kind = next_convex(kind)) {
    for (int n = 0; bounded((CnShapeKind)kind) && n < 12; n++) {
      CnWorldDef def = cn_world_def_default();
      def.time_step = STEP;
      def.gravity = CN_VEC3_ZERO;
      CnWorld *world = world_make(&def);
      CnMaterialId material = world_material(world, .3, n % 4 == 0 ? .5 : 0);
      CnBodyDef of_plate = cn_body_def_default();
      CnShapeDef flat = cn_shape_def_default(CN_SHAPE_BOX);
      CnBodyId plate;
      CnShapeId id;
      of_plate.kind = n % 3 == 0 ? CN_BODY_KINEMATIC : CN_BODY_DYNAMIC;
      of_plate.twist.velocity.z = 50;
      of_plate.continuous = n % 3 == 2;
      flat.half_size = cn_vec3(30, 30, THICK);
      flat.density = n % 2 ? 1e-3 : 1e3;
      flat.material = material;
      CHECK_OK(cn_body_create(world, &of_plate, &plate));
      CHECK_OK(cn_shape_create(world, plate, &flat, &id));
      CnShapeDef shape = small_shape(world, (CnShapeKind)kind, n % 4 == 3 ? 10 : 1);
      CnVec3 from = cn_vec3(0, 0, .08 + 2 * cni_rng_unit(&r));
      CnVec3 spin = cn_scale(n % 2 ? 300 : 0, any_vector(&r));
      CnBodyId body = small_body(world, &shape, from, cn_vec3(n % 5, 0, -50), spin, material, &r);
      stays_above(world, plate, body, 20);
      cn_world_destroy(world);
    }
  }
}

// A rod at the angle a to a frictionless plate that does not turn before it hits it: with the arm
// c = l cos(a) of the end, J = (1 + e) m v/(1 + m c^2/I), velocity -v + J/m, spin c J/I.
static void end_of_a_rod(void **state) {
  (void)state;
  for (int n = 0; n < 20; n++) {
    CnWorldDef def = world_def_exact(STEP);
    def.gravity = CN_VEC3_ZERO;
    CnWorld *world = world_make(&def);
    double e = n % 2 ? .6 : 0, l = .05, v = 100, a = .2 + .05 * n;
    CnMaterialId material = world_material(world, 0, e);
    world_fixed_box(world, cn_vec3(10, 10, THICK), world_at(0, 0, 0), material);
    CnBodyDef rod = cn_body_def_default();
    CnShapeDef shape = cn_shape_def_default(CN_SHAPE_CAPSULE);
    CnBodyId body;
    CnShapeId id;
    CnBodyInfo info;
    rod.pose = (CnPose){{0, 0, .1 + .17 * n}, world_turn(cn_vec3(0, 1, 0), CNI_PI / 2 - a)};
    rod.twist.velocity = cn_vec3(0, 0, -v);
    rod.continuous = 1;
    shape.radius = .001;
    shape.half_length = l;
    shape.material = material;
    CHECK_OK(cn_body_create(world, &rod, &body));
    CHECK_OK(cn_shape_create(world, body, &shape, &id));
    CHECK_OK(cn_body_info(world, body, &info));
    CHECK(info.continuous == 1);
    for (int i = 0; i < 8 && world_twist(world, body).velocity.z == -v; i++) world_step(world);
    double c = l * cos(a), J = (1 + e) * v / (1 + info.mass * c * c / info.inertia.x);
    // a plastic blow ends with what is left of the gap
    CHECK_REL(world_twist(world, body).velocity.z, -v + J, 1e-4);
    CHECK_REL(fabs(world_twist(world, body).spin.y), info.mass * c * J / info.inertia.x, 1e-4);
    cn_world_destroy(world);
  }
}

// What slides over tiles and what rolls is not held up.
static void nothing_is_lost_on_the_floor(void **state) {
  (void)state;
  for (int n = 0; n < 3; n++) {
    CnWorldDef def = world_def_exact(STEP);
    CnWorld *world = world_make(&def);
    CnMaterialId material = world_material(world, n ? .5 : 0, 0);
    for (int k = -2; k < 40; k++)
      world_fixed_box(world, cn_vec3(.15, .5, .1), world_at(.3 * k, 0, -.1), material);
    CnBodyDef of = cn_body_def_default();
    CnShapeDef shape = cn_shape_def_default(n == 0   ? CN_SHAPE_BOX
                                            : n == 1 ? CN_SHAPE_CYLINDER
                                                     : CN_SHAPE_SPHERE);
    CnBodyId body;
    CnShapeId id;
    double v = 10, radius = .05;
    of.pose.position.z = radius;
    of.pose.rotation = world_turn(cn_vec3(1, 0, 0), n == 1 ? CNI_PI / 2 : 0);
    of.twist = (CnTwist){{v, 0, 0}, {0, n ? v / radius : 0, 0}};
    of.continuous = 1;
    shape.radius = shape.half_length = radius;
    shape.half_size = cn_vec3(radius, radius, radius);
    shape.material = material;
    CHECK_OK(cn_body_create(world, &of, &body));
    CHECK_OK(cn_shape_create(world, body, &shape, &id));
    for (int i = 0; i < 100; i++) world_step(world);
    CHECK_NEAR(world_pose(world, body).position.x, v, 1e-6);
    CHECK_NEAR(world_pose(world, body).position.z, radius, 1e-6);
    cn_world_destroy(world);
  }
}

// What cannot be done is refused.
static void not_with_joints(void **state) {
  (void)state;
  CnWorldDef def = world_def_exact(STEP);
  CnWorld *world = world_make(&def);
  CnBodyDef of = cn_body_def_default();
  CnJointDef joint = cn_joint_def_default(CN_JOINT_BALL);
  CnJointId id;
  of.continuous = 1;
  of.mass = 1;
  of.inertia = cn_sdiag(1, 1, 1);
  of.name = "dart";
  CHECK_OK(cn_body_create(world, &of, &joint.body_b));
  CHECK_STATUS(cn_joint_create(world, &joint, &id), CN_INVALID_ARGUMENT);
  CHECK_TEXT(cn_error_message(), "'dart' is continuous");
  of.kind = CN_BODY_KINEMATIC;
  CnBodyId none;
  CHECK_STATUS(cn_body_create(world, &of, &none), CN_INVALID_ARGUMENT);
  cn_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plate_at_rest), cmocka_unit_test(plate_that_moves),
      cmocka_unit_test(end_of_a_rod), cmocka_unit_test(nothing_is_lost_on_the_floor),
      cmocka_unit_test(not_with_joints)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
