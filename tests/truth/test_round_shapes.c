// SPDX-License-Identifier: Apache-2.0
// Cylinder, cone, ellipsoid and rounded shapes: exact mass, rest in every pose, rolling, rocking.
#include "check.h"
#include "core/math.h"
#include "core/vec.h"
#include "worlds.h"

#include <math.h>

#define G 9.81

static const CnVec3 x_axis = {1, 0, 0}, y_axis = {0, 1, 0};

static CnShapeDef sized(CnShapeKind kind, CnVec3 half, double radius, double top, double length,
                        double rounding) {
  CnShapeDef def = cn_shape_def_default(kind);
  def.half_size = half;
  def.radius = radius;
  def.top_radius = top;
  def.half_length = length;
  def.rounding = rounding;
  return def;
}
static CnShapeDef cylinder(double r, double l, double rounding) {
  return sized(CN_SHAPE_CYLINDER, CN_VEC3_ZERO, r, 0, l, rounding);
}
static CnShapeDef cone(double r, double top, double l) {
  return sized(CN_SHAPE_CONE, CN_VEC3_ZERO, r, top, l, 0);
}
static CnShapeDef ellipsoid(double a, double b, double c) {
  return sized(CN_SHAPE_ELLIPSOID, cn_vec3(a, b, c), 0, 0, 0, 0);
}

static CnBodyId add(CnWorld *world, CnShapeDef def, CnPose pose, CnMaterialId material) {
  CnBodyDef body = cn_body_def_default();
  CnBodyId id;
  CnShapeId shape;
  body.pose = pose;
  CHECK_OK(cn_body_create(world, &body, &id));
  def.material = material;
  CHECK_OK(cn_shape_create(world, id, &def, &shape));
  return id;
}

static CnPose turned(double x, double y, double z, CnVec3 axis, double angle) {
  CnPose pose = world_at(x, y, z);
  pose.rotation = world_turn(axis, angle);
  return pose;
}

static void masses(void **state) {
  (void)state;
  CnWorldDef def = world_def_exact(1e-3);
  CnWorld *world = world_make(&def);
  CnBodyInfo info;
  CnBodyId body = add(world, cone(.05, 0, .1), world_at(0, 0, 0), (CnMaterialId){0, 0});
  CHECK_OK(cn_body_info(world, body, &info));
  CHECK_REL(info.mass, .523598775598, 1e-11);
  CHECK_REL(fmin(info.inertia.x, info.inertia.z), .000392699081699, 1e-11);
  CHECK_REL(fmax(info.inertia.x, info.inertia.z), .000981747704247, 1e-11);
  CHECK_NEAR(info.com.position.z, -.05, 1e-14); // a quarter of the height above the base
  body = add(world, cylinder(.1, .2, 0), world_at(0, 0, 0), (CnMaterialId){0, 0});
  CHECK_OK(cn_body_info(world, body, &info));
  CHECK_REL(info.mass, 1000 * CNI_PI * .01 * .4, 1e-12);
  // a cylinder that is almost nothing but rounding is a ball
  body = add(world, cylinder(1e-9, 1e-9, .1), world_at(0, 0, 0), (CnMaterialId){0, 0});
  CHECK_OK(cn_body_info(world, body, &info));
  CHECK_REL(info.mass, 4000 * CNI_PI / 3 * .001, 1e-6);
  CHECK_REL(info.inertia.x, .4 * info.mass * .01, 1e-6);
  cn_world_destroy(world);
}

typedef struct Pose {
  CnShapeDef def;
  CnPose pose;
} Pose;

// Ten seconds on the ground and on a box: the forces are the weight, and nothing moves.
static void rest(void **state) {
  (void)state;
  double up = atan(.1 / .3); // of the wall of the whole cone
  const Pose poses[] = {
      {cylinder(.1, .2, 0), world_at(0, 0, .2)},
      {cylinder(.1, .2, 0), turned(0, 0, .1, x_axis, CNI_PI / 2)},
      {cylinder(.1, .05, .02), world_at(0, 0, .07)},
      {cylinder(.1, .2, .02), turned(0, 0, .12, x_axis, CNI_PI / 2)},
      {cone(.1, 0, .15), world_at(0, 0, .15)},
      {cone(.1, .05, .15), turned(0, 0, .15, x_axis, CNI_PI)},
      {cone(.1, 0, .15), turned(0, 0, .05 * cos(up), x_axis, CNI_PI / 2 + up)},
      {ellipsoid(.1, .12, .06), world_at(0, 0, .06)},
      {sized(CN_SHAPE_BOX, cn_vec3(.1, .08, .05), 0, 0, 0, .02), world_at(0, 0, .07)},
  };
  for (size_t i = 0; i < sizeof poses / sizeof poses[0]; i++)
    for (int on_box = 0; on_box < 2; on_box++) {
      CnWorldDef def = world_def_exact(1e-2);
      def.solver.tolerance = 1e-10;
      CnWorld *world = world_make(&def);
      CnMaterialId material = world_material(world, .5, 0);
      CnBodyId floor =
          on_box ? world_fixed_box(world, cn_vec3(1, 1, 1), world_at(.1, .07, -1), material)
                 : world_floor(world, material);
      CnBodyId body = add(world, poses[i].def, poses[i].pose, material);
      CnBodyInfo info;
      CHECK_OK(cn_body_info(world, body, &info));
      for (int n = 0; n < 1000; n++) world_step(world);
      CnPose end = world_pose(world, body);
      double moved = cn_norm(cn_sub(end.position, poses[i].pose.position));
      CnQuat q = cn_qmul(cn_qconj(poses[i].pose.rotation), end.rotation);
      double turn = 2 * sqrt(q.x * q.x + q.y * q.y + q.z * q.z);
      CnVec3 force = world_force(world, floor, body);
      if (!(moved < 1e-8 && turn < 1e-7)) print_message("pose %d on %d:\n", (int)i, on_box);
      CHECK_NEAR(moved, 0, 1e-8);
      CHECK_NEAR(turn, 0, 1e-7);
      CHECK_REL(force.z, G * info.mass, 1e-9);
      CHECK_NEAR(force.x, 0, 1e-9 * G * info.mass);
      CHECK_NEAR(force.y, 0, 1e-9 * G * info.mass);
      cn_world_destroy(world);
    }
}

// Down a slope of 30 degrees without slip: a = g sin/(1 + k^2/r^2), constant and without a bump.
static void rolling(void **state) {
  (void)state;
  const struct {
    CnShapeDef def;
    double radius, k2; // k2: k^2/r^2
  } cases[] = {
      {cylinder(.1, .2, 0), .1, .5},
      {cylinder(.1, .01, 0), .1, .5},
      {ellipsoid(.1, .1, .06), .1, .4},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    CnWorldDef def = world_def_exact(1e-3);
    def.gravity = cn_vec3(G * .5, 0, -G * sqrt(.75));
    CnWorld *world = world_make(&def);
    CnMaterialId material = world_material(world, .5, 0);
    world_floor(world, material);
    CnPose pose = turned(0, 0, cases[i].radius, x_axis, CNI_PI / 2);
    CnBodyId body = add(world, cases[i].def, pose, material);
    double a = G * .5 / (1 + cases[i].k2), bump = 0;
    for (int n = 0; n < 500; n++) {
      world_step(world);
      bump = fmax(bump, fabs(world_pose(world, body).position.z - cases[i].radius));
    }
    CnTwist twist = world_twist(world, body);
    CHECK_REL(twist.velocity.x, a * .5, 1e-8);
    CHECK_REL(twist.spin.y, a * .5 / cases[i].radius, 1e-8);
    CHECK_NEAR(twist.velocity.y, 0, 1e-9);
    CHECK_NEAR(bump, 0, 1e-8);
    cn_world_destroy(world);
  }
}

// Below the least friction it slips, above it rolls: tan/(1 + r^2/k^2) at 30 degrees.
static void least_friction(void **state) {
  (void)state;
  double least = tan(CNI_PI / 6) / 3;
  for (int more = 0; more < 2; more++) {
    CnWorldDef def = world_def_exact(1e-3);
    def.gravity = cn_vec3(G * .5, 0, -G * sqrt(.75));
    CnWorld *world = world_make(&def);
    CnMaterialId material = world_material(world, least * (more ? 1.001 : .999), 0);
    world_floor(world, material);
    CnBodyId body = add(world, cylinder(.1, .2, 0), turned(0, 0, .1, x_axis, CNI_PI / 2), material);
    for (int n = 0; n < 200; n++) world_step(world);
    CnTwist twist = world_twist(world, body);
    double slip = twist.velocity.x - .1 * twist.spin.y;
    if (more)
      CHECK_NEAR(slip, 0, 1e-9);
    else
      CHECK(slip > 1e-4);
    cn_world_destroy(world);
  }
}

// Period by the first two moments at which a quantity crosses zero upwards.
typedef double (*Quantity)(const CnWorld *world, CnBodyId body);
static double period(CnWorld *world, CnBodyId body, Quantity of, double h, int most) {
  double last = of(world, body), times[2];
  int found = 0;
  for (int n = 1; n <= most && found < 2; n++) {
    world_step(world);
    double now = of(world, body);
    if (last < 0 && now >= 0) times[found++] = h * (n - now / (now - last));
    last = now;
  }
  CHECK(found == 2);
  return times[1] - times[0];
}

static double lean(const CnWorld *world, CnBodyId body) {
  return cn_qmat(world_pose(world, body).rotation).z.x;
}

// An ellipsoid on its flat pole rocks by its curvature a^2/c.
static void rocking(void **state) {
  (void)state;
  double h = 2e-4, angle = 1e-3;
  CnWorldDef def = world_def_exact(h);
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, 1, 0);
  world_floor(world, material);
  double z = sqrt(.06 * .06 * cos(angle) * cos(angle) + .01 * sin(angle) * sin(angle));
  CnBodyId body = add(world, ellipsoid(.1, .1, .06), turned(0, 0, z, y_axis, angle), material);
  CHECK_REL(period(world, body, lean, h, 12000), .488303168126, 1e-3);
  cn_world_destroy(world);
}

// Of the direction from the apex to the middle of the base, across the slope.
static double across(const CnWorld *world, CnBodyId body) {
  return -cn_qmat(world_pose(world, body).rotation).z.y;
}

// A cone on its side rolls about its apex: half angle 20 degrees, height .1, on a slope of 15.
static void cone_on_its_side(void **state) {
  (void)state;
  double h = 5e-4, half = 20 * CNI_PI / 180, tilt = 15 * CNI_PI / 180, height = .1;
  CnWorldDef def = world_def_exact(h);
  def.gravity = cn_vec3(G * sin(tilt), 0, -G * cos(tilt));
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, 1, 0);
  world_floor(world, material);
  double r = height * tan(half);
  // axis along -x and up from the base to the apex: the base is downhill, turned aside a little
  CnQuat lie = world_turn(y_axis, -(CNI_PI / 2 + half));
  CnPose pose = {CN_VEC3_ZERO, cn_qmul(world_turn(cn_vec3(0, 0, 1), .02), lie)};
  // the apex on the ground at the origin
  CnVec3 apex = cn_rotate(pose.rotation, cn_vec3(0, 0, height / 2));
  pose.position = cn_neg(apex);
  CnBodyId body = add(world, cone(r, 0, height / 2), pose, material);
  CHECK_REL(period(world, body, across, h, 8000), 1.33866844075, 2e-3);
  cn_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(masses),  cmocka_unit_test(rest),
      cmocka_unit_test(rolling), cmocka_unit_test(least_friction),
      cmocka_unit_test(rocking), cmocka_unit_test(cone_on_its_side),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
