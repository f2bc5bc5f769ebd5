// SPDX-License-Identifier: Apache-2.0
// Rest positions by closed forms: chains, springs, levers, contacts, limits, motors.
#include "check.h"

#include <cairn/mechanism.h>
#include <string.h>

#include "core/math.h"
#include "toys.h"
#include "worlds.h"

static const double G = 9.81;
static const CnVec3 Y = {0, 1, 0}, MINUS_Y = {0, -1, 0}, X = {1, 0, 0};
static const CnBodyId GROUND = {0, 0};

static CnForceId spring(CnWorld *w, CnBodyId body, CnVec3 from, CnVec3 at, double k, double rest) {
  CnForceDef def = cn_force_def_default(CN_FORCE_SPRING);
  CnForceId force;
  def.body_b = body;
  def.frame_a.position = from;
  def.frame_b.position = at;
  def.stiffness = k;
  def.rest_length = rest;
  CHECK_OK(cn_force_create(w, &def, &force));
  return force;
}

static CnEquilibrium settle(CnWorld *w) {
  CnEquilibrium e;
  CHECK_OK(cn_world_equilibrium(w, NULL, &e));
  print_message("%d iterations, residual %.1e, %s, freedoms %d\n", e.iterations, e.residual,
                cn_stability_name((int32_t)e.stability), e.freedoms);
  CHECK(e.residual <= 1e-9);
  return e;
}

// Ten rods of .1 m and .1 kg between supports .8 m apart: rod i has the slope (5.5 - i) .981/H. From
// a V that hangs, and from one that stands and has to snap through.
static void chain(void **state) {
  (void)state;
  for (int up = 0; up < 2; up++) {
    CnWorld *w = toy_world(1e-3);
    double angle = cni_acos(0.8), side = up ? 1 : -1;
    CnBodyId rods[10];
    CnJointId first = {0, 0};
    CnVec3 end = CN_VEC3_ZERO;
    for (int i = 0; i < 10; i++) {
      double slope = i < 5 ? angle * side : -angle * side;
      CnVec3 way = cn_vec3(0.1 * cni_cos(slope), 0, 0.1 * cni_sin(slope));
      rods[i] = world_part(w, 0.1, 0.1 * 0.01 / 12, cn_madd(end, 0.5, way), -slope);
      CnJointId j =
          world_join(w, CN_JOINT_REVOLUTE, i ? rods[i - 1] : GROUND, rods[i], end, Y, NULL);
      if (i == 0) first = j;
      end = cn_add(end, way);
    }
    world_join(w, CN_JOINT_REVOLUTE, rods[9], GROUND, end, Y, NULL);
    CnEquilibrium e = settle(w);
    CHECK(e.stability == CN_STABLE && e.freedoms == 8);
    CnJointState s;
    CHECK_OK(cn_joint_state(w, first, &s));
    CHECK_NEAR(fabs(s.force.x), 3.30892370968, 1e-8);
    CHECK_NEAR(fabs(s.force.z), 4.905, 1e-8);
    double z = toy_pose(w, rods[4]).position.z, tilt = cni_atan2(0.5 * 0.981, 3.30892370968);
    CHECK_NEAR(z - 0.05 * cni_sin(tilt), -0.266864425824, 1e-8);
    cn_world_destroy(w);
  }
}

// A mass on a spring hangs m g/k below its free length, from any side of the support.
static void mass_on_spring(void **state) {
  (void)state;
  CnWorld *w = toy_world(1e-3);
  CnBodyId body = world_part(w, 2, 0.1, cn_vec3(0.4, 0.2, -0.1), 0);
  CnForceId force = spring(w, body, CN_VEC3_ZERO, CN_VEC3_ZERO, 300, 0.5);
  toy_set_twist(w, body, cn_vec3(1, 2, 3), cn_vec3(4, 5, 6));
  CnEquilibrium e = settle(w);
  CHECK(e.stability == CN_NEUTRAL && e.neutral_count == 3); // it may turn
  CnPose pose = toy_pose(w, body);
  CHECK_NEAR(pose.position.x, 0, 1e-8);
  CHECK_NEAR(pose.position.z, -(0.5 + 2 * G / 300), 1e-10);
  CHECK_NEAR(e.energy, 2 * G * pose.position.z + 0.5 * 300 * (2 * G / 300) * (2 * G / 300), 1e-9);
  CHECK_NEAR(cn_norm(toy_twist(w, body).velocity), 0, 0);
  CnForceState at;
  CHECK_OK(cn_force_state(w, force, &at));
  CHECK_NEAR(at.force.z, 2 * G, 1e-9);
  cn_world_destroy(w);
}

// A table on four soft legs, its load off centre: W/4 (1 +- x/a +- y/b) each, to the square of the
// tilt, which is 1e-4.
static void table(void **state) {
  (void)state;
  CnWorld *w = toy_world(1e-3);
  double a = 0.6, b = 0.4, x = 0.1, y = -0.05;
  CnBodyDef def = cn_body_def_default();
  CnBodyId body;
  CnForceId legs[4];
  def.mass = 30;
  def.inertia = (CnSym3){.xx = 3, .yy = 4, .zz = 5};
  def.com.position = cn_vec3(x, y, 0);
  CHECK_OK(cn_body_create(w, &def, &body));
  for (int i = 0; i < 4; i++) {
    CnForceDef f = cn_force_def_default(CN_FORCE_BUSHING);
    f.body_b = body;
    f.frame_a.position = f.frame_b.position = cn_vec3(i & 1 ? a : -a, i & 2 ? b : -b, 0);
    f.linear_stiffness = cn_vec3(1e6, 1e6, 1e6);
    CHECK_OK(cn_force_create(w, &f, &legs[i]));
  }
  CnEquilibrium e = settle(w);
  CHECK(e.stability == CN_STABLE);
  for (int i = 0; i < 4; i++) {
    CnForceState at;
    double share = 1 + (i & 1 ? x : -x) / a + (i & 2 ? y : -y) / b;
    CHECK_OK(cn_force_state(w, legs[i], &at));
    CHECK_REL(at.force.z, 30 * G / 4 * share, 1e-6);
  }
  cn_world_destroy(w);
}

// A lever of 1 m on a hinge and a spring of free length 1 from a point 1.5 m off the hinge: at rest
// where the spring is free, on either side; in the middle it is a saddle.
static void over_centre(void **state) {
  (void)state;
  const double starts[4] = {0.1, -0.1, 0, 0};
  double truth = cni_acos(0.75);
  for (int i = 0; i < 4; i++) {
    double angle = starts[i];
    CnWorldDef settings = cn_world_def_default();
    settings.gravity = CN_VEC3_ZERO;
    CnWorld *w = toy_world_from(&settings);
    CnBodyId lever =
        world_part(w, 1, 1.0 / 12, cn_vec3(0.5 * cni_sin(angle), 0, 0.5 * cni_cos(angle)), angle);
    CnJointId hinge = world_join(w, CN_JOINT_REVOLUTE, GROUND, lever, CN_VEC3_ZERO, Y, NULL);
    spring(w, lever, cn_vec3(0, 0, 1.5), cn_vec3(0, 0, 0.5), 100, 1);
    CnJointState s;
    CnEquilibriumDef def = cn_equilibrium_def_default();
    CnEquilibrium e;
    if (i == 3) { // the middle, as it is
      def.accept_saddle = 1;
      CHECK_OK(cn_world_equilibrium(w, &def, &e));
      CHECK(e.stability == CN_UNSTABLE && e.unstable_count == 1 && e.moved < 1e-12);
      cn_world_destroy(w);
      continue;
    }
    e = settle(w);
    CHECK(e.stability == CN_STABLE && e.freedoms == 1);
    CHECK_OK(cn_joint_state(w, hinge, &s));
    double at = s.coordinate[0] + angle;
    if (i < 2) CHECK_NEAR(at, i ? -truth : truth, 1e-9);
    if (i == 2) CHECK_NEAR(fabs(at), truth, 1e-9);
    CHECK(e.saddles_left == (i == 2));
    cn_world_destroy(w);
  }
}

// Two rods of 1 m and 1 kg, hinged at the top; one foot on a hinge, the other on a slide with a spring:
// m g L cos th = 2 L k sin th (2 L cos th - x0).
static void trestle(void **state) {
  (void)state;
  CnWorld *w = toy_world(1e-3);
  double th = 1, k = 40, rest = 1.2;
  CnVec3 top = cn_vec3(cni_cos(th), 0, cni_sin(th)), foot = cn_vec3(2 * cni_cos(th), 0, 0);
  CnJointAxis axis = cn_joint_def_default(CN_JOINT_PRISMATIC).axes[0];
  axis.stiffness = k;
  axis.rest = rest - foot.x;
  CnBodyId a = world_part(w, 1, 1.0 / 12, cn_scale(0.5, top), -th);
  CnBodyId b = world_part(w, 1, 1.0 / 12, cn_scale(0.5, cn_add(top, foot)), th);
  CnBodyId shoe = world_part(w, 0.2, 0.01, foot, 0);
  world_join(w, CN_JOINT_REVOLUTE, GROUND, a, CN_VEC3_ZERO, Y, NULL);
  world_join(w, CN_JOINT_REVOLUTE, a, b, top, Y, NULL);
  world_join(w, CN_JOINT_REVOLUTE, b, shoe, foot, Y, NULL);
  world_join(w, CN_JOINT_PRISMATIC, GROUND, shoe, foot, X, &axis);
  CnEquilibrium e = settle(w);
  CHECK(e.stability == CN_STABLE && e.freedoms == 1);
  double lo = 0.1, hi = 1.5; // the root between them
  for (int i = 0; i < 100; i++) {
    double t = 0.5 * (lo + hi);
    double f = G * cni_cos(t) - 2 * k * cni_sin(t) * (2 * cni_cos(t) - rest);
    if (f > 0)
      hi = t;
    else
      lo = t;
  }
  CHECK_NEAR(toy_pose(w, shoe).position.x, 2 * cni_cos(lo), 1e-8);
  cn_world_destroy(w);
}

// A box falls flat on the floor; a ball into a groove; a box on a slope sticks or goes for ever.
static void contacts(void **state) {
  (void)state;
  CnWorld *w = toy_world(1e-3);
  toy_floor(w);
  CnBodyId box =
      toy_box(w, cn_vec3(0.2, 0.1, 0.05), cn_vec3(0, 0, 0.7), cni_quat_exp(cn_vec3(0.1, 0.3, 1)));
  CnEquilibrium e = settle(w);
  CHECK(e.stability == CN_NEUTRAL && e.neutral_count == 3 && e.carrying_count >= 3);
  CHECK_NEAR(toy_pose(w, box).position.z, 0.05, 1e-9);
  cn_world_destroy(w);

  w = toy_world(1e-3);
  for (int i = 0; i < 2; i++) {
    CnBodyDef def = cn_body_def_default();
    CnShapeDef plane = cn_shape_def_default(CN_SHAPE_PLANE);
    CnBodyId wall;
    CnShapeId id;
    def.kind = CN_BODY_FIXED;
    def.pose.rotation = cni_quat_exp(cn_vec3(0, i ? 0.5 : -1, 0));
    CHECK_OK(cn_body_create(w, &def, &wall));
    CHECK_OK(cn_shape_create(w, wall, &plane, &id));
  }
  CnBodyId ball = toy_ball(w, 0.1, cn_vec3(0.5, 0, 1), (CnMaterialId){0, 0});
  e = settle(w);
  CHECK(e.carrying_count == 2);
  CnPose pose = toy_pose(w, ball);
  // .1 from both planes through the origin
  CHECK_NEAR(pose.position.x * cni_sin(0.5) + pose.position.z * cni_cos(0.5), 0.1, 1e-9);
  CHECK_NEAR(-pose.position.x * cni_sin(1) + pose.position.z * cni_cos(1), 0.1, 1e-9);
  cn_world_destroy(w);

  w = toy_world(1e-3);
  CnBodyId floor = toy_floor(w);
  CnPose tilted = {CN_VEC3_ZERO, cni_quat_exp(cn_vec3(0, 0.3, 0))};
  CHECK_OK(cn_body_set_pose(w, floor, &tilted));
  box = toy_box(w, cn_vec3(0.2, 0.1, 0.05), cn_rotate(tilted.rotation, cn_vec3(0, 0, 0.05)),
                tilted.rotation);
  CnEquilibriumDef def = cn_equilibrium_def_default();
  uint64_t hash = cn_world_hash(w);
  CHECK_STATUS(cn_world_equilibrium(w, NULL, &e), CN_STOPPED);
  CHECK_TEXT(cn_error_message(), "without end");
  CHECK(cn_world_hash(w) == hash);
  def.contacts = CN_CONTACTS_STICKING;
  CHECK_OK(cn_world_equilibrium(w, &def, &e));
  CHECK_NEAR(e.friction, cni_tan(0.3), 1e-9);
  CHECK_NEAR(e.friction_reserve, cni_tan(0.3) / 0.5, 1e-9);
  cn_world_destroy(w);
}

// A ball of .1 m whose centre of mass lies .04 m low rights itself.
static void tumbler(void **state) {
  (void)state;
  CnWorld *w = toy_world(1e-3);
  toy_floor(w);
  CnBodyDef def = cn_body_def_default();
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_SPHERE);
  CnBodyId body;
  CnShapeId id;
  def.mass = 1;
  def.inertia = (CnSym3){.xx = 0.003, .yy = 0.003, .zz = 0.003};
  def.com.position = cn_vec3(0, 0, -0.04);
  def.pose = (CnPose){cn_vec3(0, 0, 0.12), cni_quat_exp(cn_vec3(1.2, 1.6, 0))};
  shape.radius = 0.1;
  CHECK_OK(cn_body_create(w, &def, &body));
  CHECK_OK(cn_shape_create(w, body, &shape, &id));
  CnEquilibrium e = settle(w);
  CHECK(e.stability == CN_NEUTRAL && e.neutral_count == 3 && e.carrying_count == 1);
  CnPose pose = toy_pose(w, body);
  CHECK_NEAR(pose.position.z, 0.1, 1e-9);
  CHECK_NEAR(cn_rotate(pose.rotation, cn_vec3(0, 0, 1)).z, 1, 1e-12);
  CnModesDef modes = cn_modes_def_default();
  CnMode m[3];
  int32_t count;
  modes.contacts = CN_CONTACTS_STICKING;
  CHECK_OK(cn_world_modes(w, &modes, m, NULL, 3, &count));
  CHECK(count == 3);
  double rocking = sqrt(G * 0.04 / (0.003 + 0.06 * 0.06)) / (2 * CNI_PI);
  CHECK_NEAR(m[0].frequency, 0, 0);
  CHECK_REL(m[1].frequency, rocking, 1e-7);
  CHECK_REL(m[2].frequency, rocking, 1e-7);
  cn_world_destroy(w);
}

// A mass on ropes of 1 and .8 m from points 1 m apart: both are taut, and pull as the triangle says.
static void ropes(void **state) {
  (void)state;
  CnWorld *w = toy_world(1e-3);
  CnBodyId body = world_part(w, 2, 0.01, cn_vec3(0, 0.1, 0.2), 0);
  CnJointId rope[2];
  for (int i = 0; i < 2; i++) {
    CnJointDef def = cn_joint_def_default(CN_JOINT_ROPE);
    def.body_b = body;
    def.frame_a.position = cn_vec3(i ? 0.5 : -0.5, 0, 0);
    def.distance = i ? 0.8 : 1;
    CHECK_OK(cn_joint_create(w, &def, &rope[i]));
  }
  CnEquilibrium e = settle(w);
  CHECK(e.carrying_count == 2);
  CnVec3 at = toy_pose(w, body).position;
  double z = sqrt(1 - 0.68 * 0.68), first = 2 * G / (z * (1 + 1.7 / 0.8));
  CHECK_NEAR(at.x, 0.18, 1e-8);
  CHECK_NEAR(at.y, 0, 1e-8);
  CHECK_NEAR(at.z, -z, 1e-8);
  CnJointState s;
  CHECK_OK(cn_joint_state(w, rope[0], &s));
  CHECK_NEAR(cn_norm(s.force), first, 1e-7);
  CHECK_OK(cn_joint_state(w, rope[1], &s));
  CHECK_NEAR(cn_norm(s.force), 1.7 * first, 1e-7);
  cn_world_destroy(w);
}

// A rod from upright: leaves the saddle and hangs; against a stop it presses with 2.4525 N m; a motor
// holds it or is too weak, which is said; one that runs is refused.
static void rod(void **state) {
  (void)state;
  CnWorld *w = toy_world(1e-3);
  CnBodyId body = world_part(w, 1, 1.0 / 12, cn_vec3(0, 0, 0.5), 0);
  CnJointId hinge = world_join(w, CN_JOINT_REVOLUTE, GROUND, body, CN_VEC3_ZERO, MINUS_Y, NULL);
  CnEquilibrium e = settle(w);
  CHECK(e.saddles_left == 1 && e.stability == CN_STABLE);
  CHECK_NEAR(toy_pose(w, body).position.z, -0.5, 1e-12);
  CHECK_NEAR(e.turned, CNI_PI, 1e-6);
  CnJointDef def;
  CnJointState s;
  CHECK_OK(cn_joint_state(w, hinge, &s));
  CHECK_NEAR(fabs(s.coordinate[0]), CNI_PI, 1e-9);
  double down = s.coordinate[0]; // angles count from upright
  CHECK_OK(cn_joint_def(w, hinge, &def));
  def.axes[0].upper = down + 2;
  def.axes[0].lower = down + CNI_PI / 6;
  CHECK_OK(cn_joint_set(w, hinge, &def));
  e = settle(w);
  CHECK(e.carrying_count == 1 && e.freedoms == 0);
  CHECK_OK(cn_joint_state(w, hinge, &s));
  CHECK_NEAR(s.coordinate[0], down + CNI_PI / 6, 1e-9);
  CHECK_NEAR(s.limit[0], 0.25 * G, 1e-8);
  def.axes[0].drive = CN_DRIVE_POSITION;
  def.axes[0].motor_position = down + 1;
  def.axes[0].motor_effort = 5;
  CHECK_OK(cn_joint_set(w, hinge, &def));
  e = settle(w);
  CHECK_OK(cn_joint_state(w, hinge, &s));
  CHECK_NEAR(s.motor[0], 0.5 * G * cni_sin(1), 1e-8);
  def.axes[0].motor_effort = 3;
  CHECK_OK(cn_joint_set(w, hinge, &def));
  CHECK_STATUS(cn_world_equilibrium(w, NULL, &e), CN_STOPPED);
  CHECK_TEXT(cn_error_message(), "has 3");
  def.axes[0].drive = CN_DRIVE_SPEED;
  def.axes[0].motor_speed = 1;
  CHECK_OK(cn_joint_set(w, hinge, &def));
  CHECK_STATUS(cn_world_equilibrium(w, NULL, &e), CN_UNSUPPORTED);
  cn_world_destroy(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chain),       cmocka_unit_test(mass_on_spring), cmocka_unit_test(table),
      cmocka_unit_test(over_centre), cmocka_unit_test(trestle),        cmocka_unit_test(contacts),
      cmocka_unit_test(tumbler),     cmocka_unit_test(ropes),          cmocka_unit_test(rod)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
