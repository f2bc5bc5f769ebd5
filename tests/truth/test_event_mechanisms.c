// SPDX-License-Identifier: Apache-2.0
// Plane mechanisms as bodies and revolute joints in space, by hem5, against the figures of their
// equations in minimal coordinates: Andrews' squeezer, the four-bar of 2013, a rod that bounces off
// a stop.
#include "check.h"
#include "core/math.h"
#include "toys.h"

#include <math.h>

static const CnBodyId NONE = {0, 0};

static CnWorld *world_of(double h, double tolerance, double gravity) {
  CnWorldDef def = cn_world_def_default();
  def.integrator = "hem5";
  def.time_step = h;
  def.gravity = cn_vec3(0, -gravity, 0);
  def.integration.tolerance = tolerance;
  def.integration.project_start = 1;
  return toy_world_from(&def);
}

// A body in the plane x-y.
static CnBodyId part(CnWorld *world, double mass, double inertia, CnVec3 at) {
  CnBodyDef def = cn_body_def_default();
  CnBodyId body;
  def.mass = mass;
  def.inertia = (CnSym3){.xx = inertia, .yy = inertia, .zz = inertia};
  def.pose.position = at;
  CHECK_OK(cn_body_create(world, &def, &body));
  return body;
}

static CnJointId hinge(CnWorld *world, CnBodyId a, CnBodyId b, CnVec3 at, const CnJointAxis *acts) {
  CnJointDef def = cn_joint_def_default(CN_JOINT_REVOLUTE);
  CnJointId id;
  def.body_a = a;
  def.body_b = b;
  if (acts) def.axes[0] = *acts;
  CHECK_OK(cn_joint_def_along(world, at, cn_vec3(0, 0, 1), &def));
  CHECK_OK(cn_joint_create(world, &def, &id));
  return id;
}

static double angle_of(const CnWorld *world, CnJointId joint) {
  CnJointState state;
  CHECK_OK(cn_joint_state(world, joint, &state));
  return state.coordinate[0];
}

// A length along an angle, from a point.
static CnVec3 from(CnVec3 p, double length, double angle) {
  return cn_vec3(p.x + length * cni_cos(angle), p.y + length * cni_sin(angle), 0);
}

static CnJointAxis driven(double torque) {
  CnJointAxis acts = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
  acts.drive = CN_DRIVE_EFFORT;
  acts.motor_effort = torque;
  return acts;
}

// ---- Andrews' squeezer (Hairer and Wanner VII.7) ----

static void squeezer(void **state) {
  (void)state;
  double beta = -0.0617138900142764496, gamma = 0.455279819163070380, phi = 0.222668390165885885;
  double delta = 0.487364979543842550, omega = -phi, eps = 1.23054744454982119;
  double rr = .007, ra = .00092, d = .028, da = .0115, sa = .01874, sb = .01043, sc = .018;
  double sd = .02, zt = .04, ta = .02308, tb = .00916, e = .02, ea = .01421, u = .04, ua = .01228;
  double ub = .00449, zf = .02, fa = .01421, right = CNI_PI / 2;
  CnVec3 a = {-.06934, -.00227, 0}, b = {-.03635, .03273, 0}, c = {.014, .072, 0};
  CnVec3 o = {0, 0, 0}, p = from(o, rr, beta), f = from(p, -d, beta);
  CnVec3 pin5 = from(a, zt, delta), pin7 = from(a, u, eps - right);
  CnWorld *world = world_of(1e-3, 1e-11, 0);
  CnBodyId k1 = part(world, .04325, 2.194e-6, from(o, ra, beta));
  CnBodyId k2 = part(world, .00365, 4.410e-7, from(p, -da, beta));
  CnBodyId k3 = part(world, .02373, 5.255e-6, from(from(b, sa, gamma - right), sb, gamma));
  CnBodyId k4 = part(world, .00706, 5.667e-7, from(pin5, e - ea, phi + delta - right));
  CnBodyId k5 = part(world, .07050, 1.169e-5, from(from(a, ta, delta), tb, delta + right));
  CnBodyId k6 = part(world, .00706, 5.667e-7, from(pin7, zf - fa, omega + eps));
  CnBodyId k7 = part(world, .05498, 1.912e-5, from(from(a, ua, eps), ub, eps + right));
  CnJointAxis drive = driven(.033);
  CnJointId crank = hinge(world, NONE, k1, o, &drive), rod = hinge(world, k1, k2, p, NULL);
  CnJointId at_b = hinge(world, NONE, k3, b, NULL), five = hinge(world, NONE, k5, a, NULL);
  CnJointId seven = hinge(world, NONE, k7, a, NULL), four = hinge(world, k5, k4, pin5, NULL);
  hinge(world, k7, k6, pin7, NULL);
  hinge(world, k2, k3, f, NULL);
  hinge(world, k2, k4, f, NULL);
  hinge(world, k2, k6, f, NULL);
  CnForceDef spring = cn_force_def_default(CN_FORCE_SPRING);
  CnForceId id;
  CnPose pose = toy_pose(world, k3);
  spring.body_b = k3;
  spring.frame_a = (CnPose){c, CN_QUAT_ONE};
  spring.frame_b =
      (CnPose){cn_sub(from(from(b, sc, gamma - right), sd, gamma), pose.position), CN_QUAT_ONE};
  spring.stiffness = 4530;
  spring.rest_length = .07785;
  CHECK_OK(cn_force_create(world, &spring, &id));
  toy_steps(world, 30);
  CHECK_NEAR(beta + angle_of(world, crank), 15.8107711951537, 1e-8);
  CHECK_NEAR(angle_of(world, rod), -15.7563710584118, 1e-8);
  CHECK_NEAR(gamma + angle_of(world, at_b), 0.040822240119646, 1e-9);
  CHECK_NEAR(phi + angle_of(world, four), -0.534730116342080, 1e-9);
  CHECK_NEAR(delta + angle_of(world, five), 0.524409965879954, 1e-9);
  CHECK_NEAR(eps + angle_of(world, seven), 1.048080741041938, 1e-9);
  cn_world_destroy(world);
}

// ---- four-bar of 2013 ----

static void four_bar(void **state) {
  (void)state;
  double l2 = 1 + sqrt(3), angles[3] = {CNI_PI / 2, 0, CNI_PI / 6};
  CnVec3 o = {0, 0, 0}, q = {1, 0, 0}, p1 = from(o, 1, angles[0]), p2 = from(p1, l2, 0);
  CnWorld *world = world_of(.05, 1e-11, 0);
  CnBodyId one = part(world, 1, 1.0 / 12, from(o, .5, angles[0]));
  CnBodyId two = part(world, 1, l2 * l2 / 12, from(p1, l2 / 2, 0));
  CnBodyId three = part(world, 1, 4.0 / 12, from(q, 1, angles[2]));
  CnJointAxis drive = driven(6);
  CnJointId first = hinge(world, NONE, one, o, &drive), middle = hinge(world, one, two, p1, NULL);
  CnJointId last = hinge(world, NONE, three, q, NULL);
  hinge(world, two, three, p2, NULL);
  for (int i = 0; i < 2; i++) {
    static const double truth[2][3] = {{2.620034748349, .559893022285, 1.344953766479},
                                       {5.116731000805, 1.668218542194, 2.022127550070}};
    toy_steps(world, i ? 80 : 20);
    double phi1 = angles[0] + angle_of(world, first);
    CHECK_NEAR(phi1, truth[i][0], 1e-8);
    CHECK_NEAR(angles[1] - angles[0] + phi1 + angle_of(world, middle), truth[i][1], 1e-8);
    CHECK_NEAR(angles[2] + angle_of(world, last), truth[i][2], 1e-8);
  }
  cn_world_destroy(world);
}

// ---- a rod and a stop ----

// From the horizontal against a stop in the vertical, e = .5: four impacts to 1e-9 s.
static void stop(void **state) {
  (void)state;
  static const double impacts[4] = {.483333713593, 1.32987227193, 2.15535876325, 2.97593868109};
  double speed = 5.42494239601, now = 0;
  CnJointAxis acts = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
  acts.upper = 0;
  acts.restitution = .5;
  CnWorld *world = world_of(.1, 1e-12, 9.81);
  CnBodyId rod = part(world, 1, 1.0 / 12, cn_vec3(0, -.5, 0));
  CnJointId joint = hinge(world, NONE, rod, CN_VEC3_ZERO, &acts);
  CnPose pose = {cn_vec3(-.5, 0, 0), cni_quat_exp(cn_vec3(0, 0, -CNI_PI / 2))};
  CHECK_OK(cn_body_set_pose(world, rod, &pose));
  for (int i = 0; i < 4; i++) {
    CnJointState at;
    CHECK_OK(cn_world_set_time_step(world, (impacts[i] - 1e-9 - now) / 20));
    toy_steps(world, 20);
    CHECK_OK(cn_joint_state(world, joint, &at));
    CHECK_NEAR(at.rate[0], speed, 1e-7);
    CHECK_OK(cn_world_set_time_step(world, 2e-9));
    toy_steps(world, 1);
    now = impacts[i] + 1e-9;
    speed /= 2;
    CHECK_OK(cn_joint_state(world, joint, &at));
    CHECK_NEAR(at.rate[0], -speed, 1e-7);
  }
  cn_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(squeezer), cmocka_unit_test(four_bar),
                                     cmocka_unit_test(stop)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
