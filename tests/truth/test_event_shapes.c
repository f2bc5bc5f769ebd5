// SPDX-License-Identifier: Apache-2.0
// Shapes with smooth gaps by hem5, rkf45 and moreau-jean: what rolls, rocks, slides and tips over, on
// half-spaces and on each other, by closed forms.
#include "check.h"
#include "core/math.h"
#include "toys.h"

#include <math.h>

static const double G = 9.81;
static const char *const names[3] = {"hem5", "rkf45", "moreau-jean"};

// Gravity leans by an angle towards +x.
static CnWorld *world_by(int k, double h, double tolerance, double lean) {
  CnWorldDef def = cn_world_def_default();
  def.integrator = names[k];
  def.time_step = h;
  def.integration.tolerance = tolerance;
  def.gravity = cn_vec3(G * cni_sin(lean), 0, -G * cni_cos(lean));
  def.solver = cn_solver_def_default("auto");
  def.solver.effort = CN_EFFORT_EXACT;
  def.solver.tolerance = 1e-14;
  return toy_world_from(&def);
}

static double bounce; // restitution of what is made

static CnBodyId body_of(CnWorld *world, CnBodyKind kind, CnShapeDef shape, double friction,
                        CnPose pose) {
  CnBodyDef body = cn_body_def_default();
  CnBodyId id;
  CnShapeId shape_id;
  body.kind = kind;
  body.pose = pose;
  CHECK_OK(cn_body_create(world, &body, &id));
  shape.material = toy_material(world, friction, bounce);
  CHECK_OK(cn_shape_create(world, id, &shape, &shape_id));
  return id;
}

static CnShapeDef shape_of(CnShapeKind kind, CnVec3 half, double radius, double half_length) {
  CnShapeDef shape = cn_shape_def_default(kind);
  shape.half_size = half;
  shape.radius = radius;
  shape.half_length = half_length;
  return shape;
}

static CnBodyId floor_of(CnWorld *world, double friction) {
  return body_of(world, CN_BODY_FIXED, cn_shape_def_default(CN_SHAPE_PLANE), friction, CN_POSE_ONE);
}

static CnPose at(double x, double y, double z) { return (CnPose){cn_vec3(x, y, z), CN_QUAT_ONE}; }

static const CnQuat lying = {0.70710678118654752, 0.70710678118654752, 0, 0}; // z along -y

// ---- on half-spaces ----

// A cylinder rolls down 30 degrees with 2/3 g sin.
static void rolling_cylinder(void **state) {
  (void)state;
  double lean = CNI_PI / 6, a = 2.0 / 3 * G * cni_sin(lean);
  for (int k = 0; k < 3; k++) {
    CnWorld *world = world_by(k, .05, 1e-10, lean);
    floor_of(world, .5);
    CnPose pose = {cn_vec3(0, 0, .1), lying};
    CnBodyId id = body_of(world, CN_BODY_DYNAMIC, shape_of(CN_SHAPE_CYLINDER, CN_VEC3_ZERO, .1, .2),
                          .5, pose);
    toy_steps(world, 20);
    CHECK_NEAR(toy_twist(world, id).velocity.x, a, 1e-8);
    CHECK_NEAR(toy_twist(world, id).spin.y, a / .1, 1e-7);
    CHECK_NEAR(toy_pose(world, id).position.x, a / 2, 1e-8);
    CHECK_NEAR(toy_pose(world, id).position.z, .1, 1e-9);
    CHECK_NEAR(toy_pose(world, id).position.y, 0, 1e-9);
    cn_world_destroy(world);
  }
}

// Standing on its end a cylinder slides with g (sin - mu cos), and does not turn.
static void standing_cylinder(void **state) {
  (void)state;
  double lean = .3, mu = .2, a = G * (cni_sin(lean) - mu * cni_cos(lean));
  for (int k = 0; k < 2; k++) {
    CnWorld *world = world_by(k, .05, 1e-10, lean);
    floor_of(world, mu);
    CnBodyId id = body_of(world, CN_BODY_DYNAMIC, shape_of(CN_SHAPE_CYLINDER, CN_VEC3_ZERO, .1, .1),
                          mu, at(0, 0, .1));
    toy_steps(world, 10);
    CHECK_NEAR(toy_twist(world, id).velocity.x, a / 2, 1e-8);
    CHECK_NEAR(cn_norm(toy_twist(world, id).spin), 0, 1e-8);
    cn_world_destroy(world);
  }
}

// An ellipsoid .1, .1, .06 m on its flat pole rocks with the period .488303168126 s.
static void rocking_ellipsoid(void **state) {
  (void)state;
  double period = .488303168126, angle = 1e-4;
  for (int k = 0; k < 3; k++) {
    CnWorld *world = world_by(k, period / 200, 1e-10, 0);
    floor_of(world, 1);
    CnPose pose = {cn_vec3(0, 0, 0), cni_quat_exp(cn_vec3(0, angle, 0))};
    double s = cni_sin(angle), c = cni_cos(angle);
    pose.position.z = sqrt(.01 * s * s + .0036 * c * c);
    CnBodyId id = body_of(world, CN_BODY_DYNAMIC,
                          shape_of(CN_SHAPE_ELLIPSOID, cn_vec3(.1, .1, .06), 0, 0), 1, pose);
    toy_steps(world, 50); // a quarter: upright, fastest
    CHECK_NEAR(2 * toy_pose(world, id).rotation.y / angle, 0, k < 2 ? 1e-6 : 1e-3);
    toy_steps(world, 150);
    CHECK_NEAR(2 * toy_pose(world, id).rotation.y / angle, 1, k < 2 ? 1e-6 : 1e-3);
    cn_world_destroy(world);
  }
}

// Order of convergence while an ellipsoid rocks far, sliding and rolling.
static CnPose rock(int k, double h, double tolerance) {
  CnWorldDef def = cn_world_def_default();
  def.integrator = names[k];
  def.time_step = .1;
  def.integration.tolerance = tolerance;
  def.integration.step = h;
  CnWorld *world = toy_world_from(&def);
  floor_of(world, .9);
  double s = cni_sin(.5), c = cni_cos(.5);
  CnPose pose = {cn_vec3(0, 0, sqrt(.01 * s * s + .0036 * c * c)), cni_quat_exp(cn_vec3(0, .5, 0))};
  CnBodyId id = body_of(world, CN_BODY_DYNAMIC,
                        shape_of(CN_SHAPE_ELLIPSOID, cn_vec3(.1, .08, .06), 0, 0), .9, pose);
  toy_steps(world, 1);
  pose = toy_pose(world, id);
  cn_world_destroy(world);
  return pose;
}

static void order(void **state) {
  (void)state;
  CnPose truth = rock(0, 0, 1e-13);
  for (int k = 0; k < 2; k++) {
    double error[2];
    for (int i = 0; i < 2; i++) {
      CnPose pose = rock(k, .0125 / (1 << i), 0);
      error[i] =
          cn_norm(cn_sub(pose.position, truth.position)) + fabs(pose.rotation.y - truth.rotation.y);
    }
    CHECK(log2(error[0] / error[1]) > 4.8);
  }
}

// ---- on each other ----

// A box slides over a fixed box: v^2 / (2 mu g), and stays.
static void box_on_box(void **state) {
  (void)state;
  double v = 1.5, mu = .3, way = v * v / (2 * mu * G);
  for (int k = 0; k < 3; k++) {
    CnWorld *world = world_by(k, k < 2 ? .05 : .01, 1e-9, 0);
    body_of(world, CN_BODY_FIXED, shape_of(CN_SHAPE_BOX, cn_vec3(2, 1, .5), 0, 0), mu,
            at(0, 0, -.5));
    CnBodyId id = body_of(world, CN_BODY_DYNAMIC, shape_of(CN_SHAPE_BOX, cn_vec3(.3, .2, .1), 0, 0),
                          mu, at(-.5, 0, .1));
    toy_set_twist(world, id, cn_vec3(v * .6, v * .8, 0), CN_VEC3_ZERO);
    toy_steps(world, k < 2 ? 14 : 70);
    CnVec3 place = toy_pose(world, id).position;
    CHECK_NEAR(place.x, -.5 + .6 * way, k < 2 ? 1e-7 : 1e-2);
    CHECK_NEAR(place.y, .8 * way, k < 2 ? 1e-7 : 1e-2);
    CHECK_NEAR(place.z, .1, 1e-9);
    CHECK(cn_norm(toy_twist(world, id).velocity) < 1e-10);
    cn_world_destroy(world);
  }
}

// A tower of three boxes stands, and its contacts carry what is above.
static void tower(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    CnWorld *world = world_by(k, .05, 1e-8, 0);
    CnBodyId ids[3];
    floor_of(world, .5);
    for (int i = 0; i < 3; i++)
      ids[i] = body_of(world, CN_BODY_DYNAMIC, shape_of(CN_SHAPE_BOX, cn_vec3(.1, .1, .1), 0, 0),
                       .5, at(0, 0, .1 + .2 * i));
    toy_steps(world, 5);
    for (int i = 0; i < 3; i++) {
      CHECK_NEAR(toy_pose(world, ids[i]).position.z, .1 + .2 * i, 1e-10);
      CHECK(cn_norm(toy_twist(world, ids[i]).velocity) < 1e-10);
    }
    cn_world_destroy(world);
  }
}

// A block of half sizes b, h on a fixed box, leaning beyond its corner, tips about the edge: from rest
// at the angle a its spin is w^2 = 2 m g (z_0 - z) / (J + m r^2).
static void tipping_block(void **state) {
  (void)state;
  double b = .1, h = .3, r = sqrt(b * b + h * h), corner = cni_atan2(b, h), lean = corner + .05;
  for (int k = 0; k < 2; k++)
    for (int hull = 0; hull < 2; hull++) {
      CnWorld *world = world_by(k, .02, 1e-10, 0);
      body_of(world, CN_BODY_FIXED, shape_of(CN_SHAPE_BOX, cn_vec3(2, 1, .5), 0, 0), 2,
              at(0, 0, -.5));
      // about the edge at x = 0, the centre to its right
      CnPose pose = {cn_vec3(r * cni_sin(lean - corner), 0, r * cni_cos(lean - corner)),
                     cni_quat_exp(cn_vec3(0, lean, 0))};
      CnShapeDef shape = shape_of(CN_SHAPE_BOX, cn_vec3(b, .2, h), 0, 0);
      if (hull) {
        CnVec3 points[8];
        for (int i = 0; i < 8; i++)
          points[i] = cn_vec3(i & 1 ? b : -b, i & 2 ? .2 : -.2, i & 4 ? h : -h);
        shape = cn_shape_def_default(CN_SHAPE_HULL);
        CHECK_OK(cn_geometry_create_points(world, "block", points, 8, &shape.geometry));
      }
      CnBodyId id = body_of(world, CN_BODY_DYNAMIC, shape, 2, pose);
      for (int i = 0; i < 20; i++) {
        toy_steps(world, 1);
        CnVec3 place = toy_pose(world, id).position;
        double w = toy_twist(world, id).spin.y;
        CHECK_NEAR(place.x * place.x + place.z * place.z, r * r, 1e-9);
        CHECK_NEAR(w * w, 2 * G * (pose.position.z - place.z) / (4.0 / 3 * r * r), 1e-7);
      }
      CHECK(toy_twist(world, id).spin.y > .5);
      cn_world_destroy(world);
    }
}

// Without friction a box leaves a table at constant speed, begins to tip when its centre has passed the
// edge, and is nowhere below it.
static void over_the_edge(void **state) {
  (void)state;
  double v = 1, half = .2, thick = .05;
  for (int k = 0; k < 2; k++) {
    CnWorld *world = world_by(k, .02, 1e-9, 0);
    body_of(world, CN_BODY_FIXED, shape_of(CN_SHAPE_BOX, cn_vec3(1, 1, .5), 0, 0), 0,
            at(-1, 0, -.5));
    CnBodyId id =
        body_of(world, CN_BODY_DYNAMIC, shape_of(CN_SHAPE_BOX, cn_vec3(half, .1, thick), 0, 0), 0,
                at(-.1, 0, thick));
    toy_set_twist(world, id, cn_vec3(v, 0, 0), CN_VEC3_ZERO);
    for (int i = 1; i <= 20; i++) {
      toy_steps(world, 1);
      CnPose pose = toy_pose(world, id);
      double x = -.1 + v * .02 * i, tilt = 2 * pose.rotation.y;
      if (x < -1e-9) CHECK_NEAR(tilt, 0, 1e-9);
      if (x < -1e-9) CHECK_NEAR(pose.position.x, x, 1e-9);
      if (x > .03) CHECK(tilt > 1e-4);
      // the edge of the table touches its lower side: height of (0, 0) above that side
      CnVec3 edge = cn_pose_local(pose, CN_VEC3_ZERO);
      if (edge.x > -half) CHECK_NEAR(edge.z, -thick, 1e-9);
    }
    CHECK(toy_twist(world, id).spin.y > .5);
    cn_world_destroy(world);
  }
}

// A capsule rolls on a box: k^2/r^2 = .464285714286 down a slope of 30 degrees for r .05, half
// length .06.
static void capsule_on_box(void **state) {
  (void)state;
  double lean = CNI_PI / 6, a = 3.34975609756;
  for (int k = 0; k < 2; k++) {
    CnWorld *world = world_by(k, .05, 1e-10, lean);
    body_of(world, CN_BODY_FIXED, shape_of(CN_SHAPE_BOX, cn_vec3(3, 1, .5), 0, 0), .5,
            at(2, 0, -.5));
    CnPose pose = {cn_vec3(0, 0, .05), lying};
    CnBodyId id = body_of(world, CN_BODY_DYNAMIC,
                          shape_of(CN_SHAPE_CAPSULE, CN_VEC3_ZERO, .05, .06), .5, pose);
    toy_steps(world, 10);
    CHECK_NEAR(toy_twist(world, id).velocity.x, a / 2, 1e-7);
    CHECK_NEAR(toy_pose(world, id).position.x, a / 8, 1e-7);
    cn_world_destroy(world);
  }
}

// A box falls on its corner on a fixed box, and comes to rest on a face: no energy is won on the way.
static void landing(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 3; i++) {
      CnWorld *world = world_by(k, .02, 1e-7, 0);
      body_of(world, CN_BODY_FIXED, shape_of(CN_SHAPE_BOX, cn_vec3(2, 2, .5), 0, 0), .6,
              at(0, 0, -.5));
      CnPose pose = {cn_vec3(0, 0, .5), cni_quat_exp(cn_vec3(.5 + .1 * i, .3, .2))};
      CnBodyId id = body_of(world, CN_BODY_DYNAMIC,
                            shape_of(CN_SHAPE_BOX, cn_vec3(.2, .15, .1), 0, 0), .6, pose);
      CnWorldSums sums;
      cn_world_sums(world, &sums);
      double before = sums.kinetic_energy + sums.potential_energy;
      for (int n = 0; n < 100; n++) {
        toy_steps(world, 1);
        cn_world_sums(world, &sums);
        CHECK(sums.kinetic_energy + sums.potential_energy < before + 1e-6 * fabs(before));
        before = sums.kinetic_energy + sums.potential_energy;
      }
      CHECK(sums.kinetic_energy < 1e-12);
      double z = toy_pose(world, id).position.z;
      CHECK(fabs(z - .1) < 1e-9 || fabs(z - .15) < 1e-9 || fabs(z - .2) < 1e-9);
      cn_world_destroy(world);
    }
}

// Two boxes meet corner to face and edge to edge in the air, and part again.
static void meeting_boxes(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 4; i++) {
      CnWorldDef def = cn_world_def_default();
      def.integrator = names[k];
      def.gravity = CN_VEC3_ZERO;
      def.time_step = .02;
      CnWorld *world = toy_world_from(&def);
      CnShapeDef shape = shape_of(CN_SHAPE_BOX, cn_vec3(.2, .15, .1), 0, 0);
      bounce = .5;
      CnPose one = {CN_VEC3_ZERO, cni_quat_exp(cn_vec3(.3 + .2 * i, .5, .1 * i))};
      CnPose two = {cn_vec3(.02, .03, .7), cni_quat_exp(cn_vec3(.7, .1 * i, .9))};
      body_of(world, CN_BODY_DYNAMIC, shape, .3, one);
      CnBodyId b = body_of(world, CN_BODY_DYNAMIC, shape, .3, two);
      bounce = 0;
      toy_set_twist(world, b, cn_vec3(0, 0, -2), cn_vec3(.3, 1, .2));
      CnWorldSums before, after;
      cn_world_sums(world, &before);
      toy_steps(world, 30);
      cn_world_sums(world, &after);
      CHECK(cn_norm(cn_sub(after.momentum, before.momentum)) < 1e-9);
      CHECK(cn_norm(cn_sub(after.angular_momentum, before.angular_momentum)) < 1e-8);
      CHECK(after.kinetic_energy < before.kinetic_energy - .1);
      cn_world_destroy(world);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(rolling_cylinder),
                                     cmocka_unit_test(standing_cylinder),
                                     cmocka_unit_test(rocking_ellipsoid),
                                     cmocka_unit_test(order),
                                     cmocka_unit_test(box_on_box),
                                     cmocka_unit_test(tower),
                                     cmocka_unit_test(tipping_block),
                                     cmocka_unit_test(over_the_edge),
                                     cmocka_unit_test(capsule_on_box),
                                     cmocka_unit_test(meeting_boxes),
                                     cmocka_unit_test(landing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
