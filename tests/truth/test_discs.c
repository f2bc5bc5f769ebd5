// SPDX-License-Identifier: Apache-2.0
// Discs, pipes and what topples: Euler's disc in steady motion, a disc that rolls upright, a hollow
// cylinder down a slope, cylinder and cone at the angle where they fall over.
#include "check.h"
#include "core/math.h"
#include "core/vec.h"
#include "worlds.h"

#include <math.h>

#define G 9.81

static const CnVec3 x_axis = {1, 0, 0}, y_axis = {0, 1, 0};

static CnBodyId add(CnWorld *world, CnBodyDef *body, CnShapeKind kind, double radius, double half,
                    CnMaterialId material) {
  CnShapeDef shape = cn_shape_def_default(kind);
  CnBodyId id;
  CnShapeId made;
  shape.radius = radius;
  shape.half_length = half;
  shape.material = material;
  CHECK_OK(cn_body_create(world, body, &id));
  CHECK_OK(cn_shape_create(world, id, &shape, &made));
  return id;
}

// A thin disc of radius a leaning at the angle c to the floor, its centre at rest, turns about the
// vertical with W^2 = 4 g/(a sin c), its own spin W sin c along the line to the point of contact
// (Moffatt 2000). After a turn it is where it was.
static void eulers_disc(void **state) {
  (void)state;
  const double angles[] = {CNI_PI / 6, CNI_PI / 18};
  for (int k = 0; k < 2; k++) {
    double a = .1, thin = 1e-5, c = angles[k], turn = sqrt(4 * G / (a * sin(c)));
    int steps = 2000;
    CnWorldDef def = world_def_exact(2 * CNI_PI / turn / steps);
    CnWorld *world = world_make(&def);
    CnMaterialId material = world_material(world, 1, 0);
    world_floor(world, material);
    CnBodyDef disc = cn_body_def_default();
    CnVec3 down = cn_vec3(cos(c), 0, -sin(c));
    disc.pose = (CnPose){{0, 0, a * sin(c) + thin * cos(c)}, world_turn(y_axis, c)};
    disc.twist.spin = cn_scale(turn * sin(c), down);
    CnBodyId body = add(world, &disc, CN_SHAPE_CYLINDER, a, thin, material);
    double height = 0, away = 0;
    for (int i = 0; i < steps; i++) {
      world_step(world);
      CnVec3 p = world_pose(world, body).position;
      height = fmax(height, fabs(p.z - disc.pose.position.z));
      away = fmax(away, hypot(p.x, p.y));
      if (i != steps / 2 - 1) continue;
      // half a turn: it leans to the other side
      CnVec3 axis = cn_qmat(world_pose(world, body).rotation).z;
      CHECK_NEAR(axis.x, -sin(c), .02 * sin(c));
      CHECK_NEAR(axis.y, 0, .05 * sin(c));
    }
    CnVec3 axis = cn_qmat(world_pose(world, body).rotation).z;
    CHECK_NEAR(axis.x, sin(c), .02 * sin(c));
    CHECK_NEAR(axis.y, 0, .1 * sin(c));
    CHECK_NEAR(height, 0, .02 * a * sin(c));
    CHECK_NEAR(away, 0, .02 * a);
    cn_world_destroy(world);
  }
}

// A thin disc that rolls upright is stable above v^2 = g r/3 (Routh), and falls below.
static void rolls_upright(void **state) {
  (void)state;
  const double speeds[] = {.70, .45};
  for (int k = 0; k < 2; k++) {
    double r = .1, thin = 1e-6, lean = .002, v = speeds[k], most = 0;
    CnWorldDef def = world_def_exact(5e-4);
    CnWorld *world = world_make(&def);
    CnMaterialId material = world_material(world, 1, 0);
    world_floor(world, material);
    CnBodyDef disc = cn_body_def_default();
    CnQuat side = world_turn(x_axis, CNI_PI / 2 + lean);
    disc.pose = (CnPose){{0, 0, r * cos(lean) + thin * sin(lean)}, side};
    CnVec3 axle = cn_rotate(side, cn_vec3(0, 0, 1));
    disc.twist = (CnTwist){{v, 0, 0}, cn_scale(-v / r, axle)};
    CnBodyId body = add(world, &disc, CN_SHAPE_CYLINDER, r, thin, material);
    for (int i = 0; i < 3000 && most < .3; i++) {
      world_step(world);
      most = fmax(most, fabs(cn_qmat(world_pose(world, body).rotation).z.z));
    }
    CHECK(k == 0 ? most < 5 * lean : most > .3);
    cn_world_destroy(world);
  }
}

// A pipe, inner radius half of the outer: k^2/r^2 = .625, a = g sin/(1 + .625), least friction
// tan k^2/(r^2 + k^2).
static void hollow_cylinder(void **state) {
  (void)state;
  double r = .1, m = 2, k2 = .625, least = tan(CNI_PI / 6) * k2 / (1 + k2);
  for (int slips = 0; slips < 2; slips++) {
    CnWorldDef def = world_def_exact(1e-3);
    def.gravity = cn_vec3(G * .5, 0, -G * sqrt(.75));
    CnWorld *world = world_make(&def);
    CnMaterialId material = world_material(world, slips ? .95 * least : 1.05 * least, 0);
    world_floor(world, material);
    CnBodyDef pipe = cn_body_def_default();
    double axial = m * r * r * k2, across = axial / 2 + m * .04 / 12;
    pipe.mass = m;
    pipe.inertia = cn_sdiag(across, across, axial);
    pipe.pose = (CnPose){{0, 0, r}, world_turn(x_axis, CNI_PI / 2)};
    CnBodyId body = add(world, &pipe, CN_SHAPE_CYLINDER, r, .1, material);
    for (int i = 0; i < 500; i++) world_step(world);
    CnTwist twist = world_twist(world, body);
    double a = slips ? G * (.5 - .95 * least * sqrt(.75)) : G * .5 / (1 + k2);
    CHECK_REL(twist.velocity.x, a * .5, 1e-8);
    CHECK(slips ? twist.velocity.x > twist.spin.y * r + 1e-3
                : fabs(twist.velocity.x - twist.spin.y * r) < 1e-8);
    cn_world_destroy(world);
  }
}

// On a slope a cylinder falls over at atan(2 r/h), a cone on its base at atan(4 r/h): half a degree
// less and it stands.
static void topples(void **state) {
  (void)state;
  for (int n = 0; n < 4; n++) {
    int is_cone = n / 2, falls = n % 2;
    double r = .05, h = .2,
           angle = atan((is_cone ? 4 : 2) * r / h) + (falls ? 1 : -1) * CNI_PI / 360;
    CnWorldDef def = world_def_exact(2e-3);
    def.gravity = cn_vec3(G * sin(angle), 0, -G * cos(angle));
    CnWorld *world = world_make(&def);
    CnMaterialId material = world_material(world, 2, 0);
    world_floor(world, material);
    CnBodyDef body = cn_body_def_default();
    body.pose.position.z = h / 2;
    CnBodyId id =
        add(world, &body, is_cone ? CN_SHAPE_CONE : CN_SHAPE_CYLINDER, r, h / 2, material);
    for (int i = 0; i < 500; i++) world_step(world);
    double lean = acos(fmin(1, cn_qmat(world_pose(world, id).rotation).z.z));
    CHECK(falls ? lean > .1 : lean < 1e-5);
    cn_world_destroy(world);
  }
}

// A coin or a pillar that wobbles on its rim, in few steps a round: rolling does no work, so the energy above that of
// lying flat stays, but for an error of order h. Points of the rim that the contact is about to reach take no load.
static double energy_left(double radius, double half, double tilt, double time_step) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = time_step;
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, 1, 0);
  world_floor(world, material);
  CnBodyDef body = cn_body_def_default();
  double turn = sqrt(4 * G / (radius * sin(tilt)));
  CnVec3 down = cn_vec3(cos(tilt), 0, -sin(tilt));
  body.pose = (CnPose){{0, 0, radius * sin(tilt) + half * cos(tilt)}, world_turn(y_axis, tilt)};
  body.twist.spin = cn_scale(turn * sin(tilt), down);
  CnVec3 arm = cn_sub(cn_scale(radius, down), cn_scale(half, cn_vec3(sin(tilt), 0, cos(tilt))));
  body.twist.velocity = cn_neg(cn_cross(body.twist.spin, arm));
  add(world, &body, CN_SHAPE_CYLINDER, radius, half, material);
  double mass = 1000 * CNI_PI * radius * radius * 2 * half; // of the density of water
  double flat = mass * G * half, before = world_energy(world) - flat;
  for (int i = 0; i < (int)(0.3 / time_step + .5); i++) world_step(world);
  double left = (world_energy(world) - flat) / before;
  cn_world_destroy(world);
  return left;
}

static void wobbling(void **state) {
  (void)state;
  static const double cases[][3] = {{.08, .004, .1}, {.08, .004, .5}, {.08, .02, .2}};
  for (int k = 0; k < 3; k++) {
    const double *c = cases[k];
    double coarse = energy_left(c[0], c[1], c[2], .002),
           fine = energy_left(c[0], c[1], c[2], .0005);
    print_message("tilt %.1f: %.4f at h = .002, %.4f at .0005\n", c[2], coarse, fine);
    CHECK_NEAR(coarse, 1, .04);
    CHECK_NEAR(fine, 1, .01); // of order h
  }
}

// A cylinder turns about a place of its rim on which a large weight holds it, and slaps down on a floor, or on the
// end of another one: what comes down on the far side does not throw up the near one.
static double slap(double spin, int on_floor) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = 5e-4;
  def.gravity = cn_vec3(0, 0, -1000);
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, .5, 0);
  double r = .07, tilt = .18;
  if (on_floor) world_floor(world, material);
  for (int k = on_floor; k < 2; k++) {
    CnBodyDef body = cn_body_def_default();
    body.pose =
        (CnPose){{0, 0, k ? r * (cos(tilt) + sin(tilt)) : -r}, world_turn(y_axis, k ? tilt : 0)};
    if (k == 0) body.kind = CN_BODY_FIXED;
    if (k) body.twist.spin = cn_vec3(0, -spin, 0);
    CnVec3 arm = cn_sub(cn_rotate(body.pose.rotation, cn_vec3(r, 0, -r)), CN_VEC3_ZERO);
    body.twist.velocity = cn_neg(cn_cross(body.twist.spin, arm));
    add(world, &body, CN_SHAPE_CYLINDER, r, r, material);
  }
  double before = world_energy(world), most = 0;
  for (int i = 0; i < 20; i++) {
    world_step(world);
    most = fmax(most, world_energy(world) / before);
  }
  cn_world_destroy(world);
  return most;
}

static void slapping(void **state) {
  (void)state;
  for (int on_floor = 0; on_floor < 2; on_floor++)
    for (double spin = 30; spin <= 70; spin += 2) {
      double most = slap(spin, on_floor);
      if (most > 1.001)
        print_message("%s, %g rad/s: %.4f\n", on_floor ? "floor" : "other", spin, most);
      CHECK(most < 1.01);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(eulers_disc),     cmocka_unit_test(wobbling),
      cmocka_unit_test(slapping),        cmocka_unit_test(rolls_upright),
      cmocka_unit_test(hollow_cylinder), cmocka_unit_test(topples)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
