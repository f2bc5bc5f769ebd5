// SPDX-License-Identifier: Apache-2.0
// Stick and slip in space by hem5 and rkf45: decided for all closed contacts together, redundant or
// not; sliding that turns, rolls and stops, by closed forms.
#include "check.h"
#include "core/math.h"
#include "toys.h"

#include <math.h>

static const char *const names[2] = {"hem5", "rkf45"};
static const double G = 9.81;

static CnWorldDef def_of(const char *integrator, double h, double tolerance) {
  CnWorldDef def = cn_world_def_default();
  def.integrator = integrator;
  def.time_step = h;
  def.integration.tolerance = tolerance;
  return def;
}

static CnBodyId box(CnWorld *world, CnVec3 half, CnVec3 at, double friction) {
  CnBodyId id = toy_box(world, half, at, CN_QUAT_ONE);
  CnShapeId shape = cn_body_shape(world, id, 0);
  CnShapeDef def;
  CHECK_OK(cn_shape_def(world, shape, &def));
  CHECK_OK(cn_shape_destroy(world, shape));
  def.material = toy_material(world, friction, 0);
  CHECK_OK(cn_shape_create(world, id, &def, &shape));
  return id;
}

// The geometric mean with the floor's .5: the friction asked for.
static double with_floor(double mu) { return mu * mu / .5; }

static CnWorld *slope_world(const char *name, double slope) {
  CnWorldDef def = def_of(name, .05, 1e-9);
  double c = 1 / sqrt(1 + slope * slope);
  def.gravity = cn_vec3(G * slope * c, 0, -G * c);
  CnWorld *world = toy_world_from(&def);
  toy_floor(world);
  return world;
}

// A box on its four corners on a slope of tan .45: it stays with mu .5, and goes with .4 at
// g (sin - mu cos), straight.
static void box_on_slope(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++)
    for (int goes = 0; goes < 2; goes++) {
      double mu = goes ? .4 : .5, slope = .45, c = 1 / sqrt(1 + slope * slope);
      CnWorld *world = slope_world(names[k], slope);
      CnBodyId id = box(world, cn_vec3(.3, .2, .1), cn_vec3(0, 0, .1), with_floor(mu));
      toy_steps(world, 20);
      CnPose pose = toy_pose(world, id);
      double a = goes ? G * c * (slope - mu) : 0;
      CHECK_NEAR(pose.position.x, a / 2, 1e-9);
      CHECK_NEAR(pose.position.y, 0, 1e-9);
      CHECK_NEAR(pose.position.z, .1, 1e-10);
      CHECK_NEAR(pose.rotation.w, 1, 1e-12);
      CHECK_NEAR(toy_twist(world, id).velocity.x, a, 1e-9);
      cn_world_destroy(world);
    }
}

// 5 m/s, mu .3: it stops after 1.698946653 s and 4.247366633 m, in any direction, and stays.
static void block_stops(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    CnWorldDef def = def_of(names[k], .1, 1e-10);
    CnWorld *world = toy_world_from(&def);
    toy_floor(world);
    CnBodyId id = box(world, cn_vec3(.5, .5, .05), cn_vec3(0, 0, .05), with_floor(.3));
    toy_set_twist(world, id, cn_vec3(3, 4, 0), CN_VEC3_ZERO);
    double stops = 0;
    for (int i = 0; i < 20; i++) {
      const CnLocatedEvent *events;
      int32_t count;
      toy_steps(world, 1);
      cn_world_located_events(world, &events, &count);
      for (int32_t e = 0; e < count; e++)
        if (events[e].kind == CN_EVENT_STICK) stops = events[e].time;
    }
    CHECK_NEAR(stops, 1.698946653, 1e-8);
    CnPose pose = toy_pose(world, id);
    CHECK_NEAR(pose.position.x, .6 * 4.247366633, 1e-8);
    CHECK_NEAR(pose.position.y, .8 * 4.247366633, 1e-8);
    CHECK(cn_norm(toy_twist(world, id).velocity) < 1e-12);
    cn_world_destroy(world);
  }
}

// A ball thrown flat with a spin about another axis slides on a parabola (the direction of slip does
// not turn) until it rolls: after |u| / (7/2 mu g), u the slip at the start.
static void ball_slides_and_rolls(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    CnWorldDef def = def_of(names[k], .1, 1e-11);
    CnWorld *world = toy_world_from(&def);
    toy_floor(world);
    double r = .1, mu = .3;
    CnBodyId id = toy_ball(world, r, cn_vec3(0, 0, r), toy_material(world, with_floor(mu), 0));
    CnVec3 v = cn_vec3(5, 0, 0), w = cn_vec3(20, 0, 3);
    toy_set_twist(world, id, v, w);
    CnVec3 u = cn_add(v, cn_cross(w, cn_vec3(0, 0, -r)));
    double speed = cn_norm(u), time = speed / (3.5 * mu * G);
    CnVec3 brake = cn_scale(-mu * G / speed, u), end = cn_madd(v, time, brake);
    toy_steps(world, 10);
    CHECK(time < 1);
    CnTwist twist = toy_twist(world, id);
    CHECK(cn_norm(cn_sub(twist.velocity, end)) < 1e-8);
    CHECK_NEAR(twist.spin.y * r, end.x, 1e-8);
    CHECK_NEAR(-twist.spin.x * r, end.y, 1e-8);
    CHECK_NEAR(twist.spin.z, 3, 1e-10);
    CnVec3 place = cn_madd(cn_scale(time, v), .5 * time * time, brake);
    place = cn_madd(place, 1 - time, end);
    CnVec3 at = toy_pose(world, id).position;
    CHECK_NEAR(at.x, place.x, 1e-8);
    CHECK_NEAR(at.y, place.y, 1e-8);
    CHECK_NEAR(at.z, r, 1e-12);
    cn_world_destroy(world);
  }
}

// A block shot across a slope: the direction of slip turns. With v the speed, f its angle to the line
// of fall, T = tan(f/2): v = C T^(n-1) (1 + T^2), n = mu cos/sin; here against fine steps of the plane
// equations v' = g (sin cos f - mu cos), f' = -g sin sin f / v.
static void block_turns(void **state) {
  (void)state;
  double slope = .5, mu = .4, c = 1 / sqrt(1 + slope * slope), s = slope * c;
  double v[2] = {0, 2}, x[2] = {0, 0};
  int steps = 4000;
  double h = .5 / steps;
  for (int i = 0; i < steps; i++) { // Runge-Kutta of order 4
    double k[5][2], y[5][2], w[2];
    for (int j = 0; j < 4; j++) {
      double part = j == 0 ? 0 : j == 3 ? h : h / 2;
      for (int n = 0; n < 2; n++) w[n] = v[n] + (j ? part * k[j - 1][n] : 0);
      double size = sqrt(w[0] * w[0] + w[1] * w[1]);
      for (int n = 0; n < 2; n++) {
        k[j][n] = (n ? 0 : G * s) - mu * G * c * w[n] / size;
        y[j][n] = w[n];
      }
    }
    for (int n = 0; n < 2; n++) {
      x[n] += h * (y[0][n] + 2 * y[1][n] + 2 * y[2][n] + y[3][n]) / 6;
      v[n] += h * (k[0][n] + 2 * k[1][n] + 2 * k[2][n] + k[3][n]) / 6;
    }
  }
  for (int k = 0; k < 2; k++) {
    CnWorld *world = slope_world(names[k], slope);
    // a flat plate: what friction tips does not matter
    CnBodyId id = box(world, cn_vec3(1, 1, 1e-4), cn_vec3(0, 0, 1e-4), with_floor(mu));
    toy_set_twist(world, id, cn_vec3(0, 2, 0), CN_VEC3_ZERO);
    toy_steps(world, 10);
    CnPose pose = toy_pose(world, id);
    CHECK_NEAR(pose.position.x, x[0], 2e-4);
    CHECK_NEAR(pose.position.y, x[1], 2e-4);
    CHECK_NEAR(toy_twist(world, id).velocity.x, v[0], 1e-3);
    cn_world_destroy(world);
  }
}

// Order of both integrators while a ball slides with a slip that turns: a ball on a ball.
static CnPose slide(const char *name, double h, double tolerance) {
  CnWorldDef def = def_of(name, .1, tolerance);
  def.integration.step = h;
  CnWorld *world = toy_world_from(&def);
  CnMaterialId material = toy_material(world, .3, 0);
  CnBodyDef body = cn_body_def_default();
  CnBodyId under;
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_SPHERE);
  CnShapeId shape_id;
  body.kind = CN_BODY_FIXED;
  CHECK_OK(cn_body_create(world, &body, &under));
  shape.radius = 1;
  shape.material = material;
  CHECK_OK(cn_shape_create(world, under, &shape, &shape_id));
  CnBodyId id = toy_ball(world, .1, cn_vec3(1.1 * .28, 0, 1.1 * .96), material);
  toy_set_twist(world, id, cn_vec3(0, 1, 0), cn_vec3(10, 30, 5));
  toy_steps(world, 2);
  CnPose pose = toy_pose(world, id);
  cn_world_destroy(world);
  return pose;
}

static void order_while_slipping(void **state) {
  (void)state;
  CnPose truth = slide("hem5", 0, 1e-13);
  for (int k = 0; k < 2; k++) {
    double error[2];
    for (int i = 0; i < 2; i++) {
      CnPose pose = slide(names[k], .02 / (1 << i), 0);
      error[i] = cn_norm(cn_sub(pose.position, truth.position)) +
                 fabs(pose.rotation.x - truth.rotation.x) +
                 fabs(pose.rotation.y - truth.rotation.y);
    }
    CHECK(log2(error[0] / error[1]) > 4.8);
  }
}

// A stack of redundant contacts stays: 40 s of nothing.
static void table_rests(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    CnWorld *world = slope_world(names[k], .3);
    CnBodyId id = box(world, cn_vec3(.1, .3, .25), cn_vec3(0, 0, .25), with_floor(.5));
    toy_steps(world, 40);
    CHECK_NEAR(toy_pose(world, id).position.x, 0, 1e-12);
    CHECK_NEAR(toy_pose(world, id).position.z, .25, 1e-12);
    CnContact contact;
    CnVec3 sum = CN_VEC3_ZERO;
    CnWorldInfo info;
    CnBodyInfo body;
    cn_world_info(world, &info);
    for (int32_t i = 0; i < info.contact_count; i++) {
      CHECK_OK(cn_world_contact(world, i, &contact));
      sum = cn_add(sum, contact.force);
    }
    CHECK_OK(cn_body_info(world, id, &body));
    CHECK_NEAR(cn_norm(sum), body.mass * G, 1e-6);
    cn_world_destroy(world);
  }
}

// A capsule (r .05, l .12) across a slope of 30 degrees rolls on both its ends: a = 3.34975609756.
static void capsule_rolls(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    CnWorldDef def = def_of(names[k], .05, 1e-10);
    def.gravity = cn_vec3(G * .5, 0, -G * sqrt(.75));
    CnWorld *world = toy_world_from(&def);
    toy_floor(world);
    CnBodyDef body = cn_body_def_default();
    CnShapeDef shape = cn_shape_def_default(CN_SHAPE_CAPSULE);
    CnBodyId id;
    CnShapeId shape_id;
    body.pose.position = cn_vec3(0, 0, .05);
    body.pose.rotation = (CnQuat){sqrt(.5), sqrt(.5), 0, 0};
    CHECK_OK(cn_body_create(world, &body, &id));
    shape.radius = .05;
    shape.half_length = .06;
    shape.material = toy_material(world, 1, 0);
    CHECK_OK(cn_shape_create(world, id, &shape, &shape_id));
    toy_steps(world, 10);
    CHECK_NEAR(toy_twist(world, id).velocity.x, .5 * 3.34975609756, 1e-9);
    CHECK_NEAR(toy_twist(world, id).spin.y, .5 * 3.34975609756 / .05, 1e-8);
    CHECK_NEAR(toy_pose(world, id).position.z, .05, 1e-12);
    CHECK_NEAR(toy_pose(world, id).position.y, 0, 1e-10);
    cn_world_destroy(world);
  }
}

// ---- belts and hooks ----

// The half-space z <= 0 of a material.
static void plane(CnWorld *world, const CnMaterialDef *material, CnMaterialId *id) {
  CnBodyDef body = cn_body_def_default();
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_PLANE);
  CnBodyId under;
  CnShapeId shape_id;
  CHECK_OK(cn_material_create(world, material, id));
  body.kind = CN_BODY_FIXED;
  CHECK_OK(cn_body_create(world, &body, &under));
  shape.material = *id;
  CHECK_OK(cn_shape_create(world, under, &shape, &shape_id));
}

// A box laid on a belt of 1 m/s, mu .3: it rides after 1/(mu g).
static void belt(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    CnWorldDef def = def_of(names[k], .1, 1e-10);
    CnWorld *world = toy_world_from(&def);
    CnMaterialDef material = cn_material_def_default();
    CnMaterialId material_id;
    material.friction = .3;
    material.surface_velocity = cn_vec3(.6, .8, 0);
    plane(world, &material, &material_id);
    CnBodyId id = box(world, cn_vec3(.2, .2, .05), cn_vec3(0, 0, .05), .3);
    toy_steps(world, 10);
    double way = 1 - 1 / (2 * .3 * G);
    CnPose pose = toy_pose(world, id);
    CHECK_NEAR(pose.position.x, .6 * way, 1e-8);
    CHECK_NEAR(pose.position.y, .8 * way, 1e-8);
    CHECK_NEAR(toy_twist(world, id).velocity.y, .8, 1e-12);
    cn_world_destroy(world);
  }
}

// A ball of mass m under a ceiling (gravity up, the floor's plane above it): cohesion of 2 m g holds it
// with a pull of m g, half of m g does not.
static void cohesion(void **state) {
  (void)state;
  static const char *const all[3] = {"hem5", "rkf45", "moreau-jean"};
  for (int k = 0; k < 3; k++)
    for (int holds = 0; holds < 2; holds++) {
      CnWorldDef def = def_of(all[k], .01, 1e-9);
      def.gravity = cn_vec3(0, 0, G);
      def.solver = cn_solver_def_default("auto");
      def.solver.effort = CN_EFFORT_EXACT;
      CnWorld *world = toy_world_from(&def);
      CnMaterialDef material = cn_material_def_default();
      CnMaterialId material_id;
      double mass = 4 * CNI_PI / 3;
      material.cohesion = (holds ? 2 : .5) * mass * G;
      plane(world, &material, &material_id);
      CnBodyId id = toy_ball(world, .1, cn_vec3(0, 0, .1), material_id);
      toy_steps(world, 20);
      double z = toy_pose(world, id).position.z;
      if (holds) {
        CnContact contact;
        CHECK_NEAR(z, .1, 1e-11);
        CHECK_OK(cn_world_contact(world, 0, &contact));
        CHECK_NEAR(fabs(contact.force.z), mass * G, 1e-6);
      } else {
        CHECK(z > .1 + .15 * G * .04);
      }
      cn_world_destroy(world);
    }
}

static void oil(void *context, const CnWorld *world, CnContactTuning *contact) {
  const double *friction = context;
  (void)world;
  contact->friction = *friction;
}

static void modify_hook(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    double mu = .25, slope = .45, c = 1 / sqrt(1 + slope * slope);
    CnWorldDef def = def_of(names[k], .1, 1e-9);
    def.gravity = cn_vec3(G * slope * c, 0, -G * c);
    def.hooks.modify = oil;
    def.hooks.context = &mu;
    CnWorld *world = toy_world_from(&def);
    toy_floor(world);
    CnBodyId id = box(world, cn_vec3(.3, .2, .1), cn_vec3(0, 0, .1), 1);
    toy_steps(world, 10);
    CHECK_NEAR(toy_twist(world, id).velocity.x, G * c * (slope - mu), 1e-9);
    cn_world_destroy(world);
  }
}

// ---- limits and springs of joints ----

// A rod of 1 m and 1 kg on a hinge about y, at an angle from hanging.
static CnWorld *hinged(const char *name, double h, double angle, const CnJointAxis *axis,
                       CnBodyId *id, CnJointId *joint_id) {
  CnWorldDef def = def_of(name, h, 1e-11);
  CnWorld *world = toy_world_from(&def);
  CnBodyDef body = cn_body_def_default();
  body.mass = 1;
  body.inertia = (CnSym3){1.0 / 12, 1.0 / 12, .01, 0, 0, 0};
  body.pose.position = cn_vec3(.5 * sin(angle), 0, -.5 * cos(angle));
  body.pose.rotation = (CnQuat){cos(angle / 2), 0, -sin(angle / 2), 0};
  CHECK_OK(cn_body_create(world, &body, id));
  CnJointDef joint = cn_joint_def_default(CN_JOINT_REVOLUTE);
  joint.body_b = *id;
  joint.frame_b.position = cn_vec3(0, 0, .5);
  // the axis of the hinge is z of its frames: along -y, so that the angle is that from hanging
  CnQuat turn = {sqrt(.5), sqrt(.5), 0, 0};
  joint.frame_a.rotation = joint.frame_b.rotation = turn;
  joint.axes[0] = *axis;
  CHECK_OK(cn_joint_create(world, &joint, joint_id));
  return world;
}

// From the horizontal to a stop in the vertical: it hits at .483333713593 s with 5.42494239601.
static void stop(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    CnJointAxis axis = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
    axis.lower = 0;
    CnBodyId id;
    CnJointId joint;
    CnJointState at;
    double hit = .483333713593;
    CnWorld *world = hinged(names[k], (hit - 1e-9) / 10, 2 * atan(1), &axis, &id, &joint);
    toy_steps(world, 10);
    CHECK_OK(cn_joint_state(world, joint, &at));
    CHECK_NEAR(at.rate[0], -5.42494239601, 1e-8);
    CHECK_OK(cn_world_set_time_step(world, 2e-9));
    toy_steps(world, 1);
    CHECK_OK(cn_joint_state(world, joint, &at));
    CHECK_NEAR(at.rate[0], 0, 1e-12);
    CHECK_NEAR(at.limit[0] * 2e-9, 5.42494239601 / 3, 1e-8);
    CHECK_OK(cn_world_set_time_step(world, .1));
    toy_steps(world, 10);
    CHECK_NEAR(toy_pose(world, id).position.x, 0, 1e-12);
    cn_world_destroy(world);
  }
}

// Pressed against a stop at 30 degrees by gravity: 2.4525 N m; held by a spring at 60: its effort.
static void at_the_stop(void **state) {
  (void)state;
  static const char *const all[3] = {"hem5", "rkf45", "moreau-jean"};
  double degrees = atan(1) / 45;
  for (int k = 0; k < 3; k++) {
    CnJointAxis axis = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
    axis.lower = 30 * degrees;
    CnBodyId id;
    CnJointId joint;
    CnJointState at;
    CnWorld *world = hinged(all[k], .01, 30 * degrees, &axis, &id, &joint);
    toy_steps(world, 100);
    CHECK_OK(cn_joint_state(world, joint, &at));
    CHECK_NEAR(at.limit[0], 2.4525, 1e-9);
    CHECK_NEAR(at.coordinate[0], 30 * degrees, 1e-12);
    cn_world_destroy(world);

    axis.lower = -INFINITY;
    axis.stiffness = 20;
    axis.rest = 60 * degrees + G / 2 * sin(60 * degrees) / 20;
    world = hinged(all[k], .01, 60 * degrees, &axis, &id, &joint);
    toy_steps(world, 10);
    CHECK_OK(cn_joint_state(world, joint, &at));
    CHECK_NEAR(at.spring[0], G / 2 * sin(60 * degrees), 1e-8);
    CHECK_NEAR(at.coordinate[0], 60 * degrees, 1e-9);
    cn_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(box_on_slope),
                                     cmocka_unit_test(block_stops),
                                     cmocka_unit_test(ball_slides_and_rolls),
                                     cmocka_unit_test(block_turns),
                                     cmocka_unit_test(order_while_slipping),
                                     cmocka_unit_test(table_rests),
                                     cmocka_unit_test(capsule_rolls),
                                     cmocka_unit_test(cohesion),
                                     cmocka_unit_test(belt),
                                     cmocka_unit_test(modify_hook),
                                     cmocka_unit_test(stop),
                                     cmocka_unit_test(at_the_stop)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
