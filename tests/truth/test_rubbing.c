// SPDX-License-Identifier: Apache-2.0
// Dry friction in proportion to what a joint carries, by every integrator: cams that only push, a follower
// with a radius, coordinates whose friction changes the reaction that it goes with, the first step.
#include "check.h"
#include "core/math.h"
#include "toys.h"
#include "worlds.h"

static const double G = 9.81;
static const CnBodyId NONE = {0, 0};
static const CnVec3 Y = {0, 1, 0}, Z = {0, 0, 1}, O = {0, 0, 0};
static const char *const names[4] = {"impulse", "moreau-jean", "hem5", "rkf45"};

static CnWorld *world_of(int k, double h, CnVec3 gravity) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = h;
  def.integrator = names[k];
  def.integration.tolerance = 1e-11;
  def.integration.project_start = 1;
  def.gravity = gravity;
  def.solver = cn_solver_def_default("auto");
  def.solver.effort = CN_EFFORT_EXACT;
  return toy_world_from(&def);
}

static CnBodyId part(CnWorld *w, double m, double j, CnVec3 at, CnVec3 velocity, CnVec3 spin) {
  CnBodyDef def = cn_body_def_default();
  CnBodyId body;
  def.mass = m;
  def.inertia = cn_sdiag(j, j, j);
  def.pose.position = at;
  CHECK_OK(cn_body_create(w, &def, &body));
  toy_set_twist(w, body, velocity, spin);
  return body;
}

static CnCurveId curve(CnWorld *w, int closed, const double *x, const double *y,
                       const double *bulges) {
  CnCurveDef def = cn_curve_def_default(CN_CURVE_PATH);
  CnCurveId id;
  def.closed = closed;
  def.point_count = 2;
  def.x = x;
  def.y = y;
  def.bulges = bulges;
  CHECK_OK(cn_curve_create(w, &def, &id));
  return id;
}

static CnCurveId circle(CnWorld *w, double y, double r) {
  return curve(w, 1, (double[]){r, -r}, (double[]){y, y}, (double[]){1, 1});
}

// A circle of radius r about (0, -e) turns with w under a flat of mass m on a spring: the flat is pressed with
// N = m (g + e w^2 cos) + k (lift + preload), dragged along with mu N, and the motor gives
// N e sin + mu N y at the height y of the flat.
static void flat_cam(void **state) {
  (void)state;
  const double e = .01, r = .05, w = 20, mu = .3, k = 300, t = .115;
  for (int i = 0; i < 8; i++) {
    int one_sided = i % 2, by = i / 2, n = by < 2 ? 1150 : 115;
    CnWorld *world = world_of(by, t / n, cn_vec3(0, -G, 0));
    CnBodyId cam = part(world, 1, .01, O, O, cn_vec3(0, 0, w));
    CnBodyId flat = part(world, 1, .01, cn_vec3(0, r - e, 0), O, O);
    CnJointDef shaft = cn_joint_def_default(CN_JOINT_REVOLUTE),
               guide = cn_joint_def_default(CN_JOINT_PRISMATIC),
               def = cn_joint_def_default(CN_JOINT_CURVE_ON_CURVE);
    shaft.axes[0].motor_speed = w;
    shaft.axes[0].motor_effort = INFINITY;
    guide.axes[0].stiffness = k;
    guide.axes[0].rest = -.02;
    CnJointId motor = world_join(world, CN_JOINT_REVOLUTE, NONE, cam, O, Z, &shaft.axes[0]);
    world_join(world, CN_JOINT_PRISMATIC, NONE, flat, cn_vec3(0, r - e, 0), Y, &guide.axes[0]);
    def.body_a = cam;
    def.body_b = flat;
    def.one_sided = one_sided;
    def.curve_a = circle(world, -e, r);
    def.curve_b = curve(world, 0, (double[]){-.1, .1}, (double[]){0, 0}, NULL);
    def.axes[3].friction_coefficient = mu; // the slide
    CnJointId id;
    CHECK_OK(cn_joint_create(world, &def, &id));
    toy_steps(world, n);
    double lift = e * (1 - cni_cos(w * t)), y = r - e + lift;
    double normal = G + e * w * w * cni_cos(w * t) + k * (lift + .02);
    double turn = normal * e * cni_sin(w * t) + mu * normal * y, near = by < 2 ? 3e-3 : 1e-7;
    CHECK_NEAR(world_joint(world, id).force.x, -mu * normal, near * normal);
    CHECK_NEAR(world_joint(world, id).force.y, normal, near * normal);
    CHECK_NEAR(world_joint(world, motor).motor[0], turn, near * turn);
    cn_world_destroy(world);
  }
}

// A point on the outside of a circle of radius R, its own r away from it, slides down with mu: by the angle f from
// the top, with p = R + r,  d(v^2)/df = 2 g p (sin f - mu cos f) + 2 mu v^2. The friction is mu N whatever r is.
static double square(double f, double p, double mu, double f0, double v0) {
  double a = -2 * G * p * (1 - 2 * mu * mu) / (1 + 4 * mu * mu);
  double b = -6 * G * p * mu / (1 + 4 * mu * mu);
  double start = v0 * v0 - a * cni_cos(f0) - b * cni_sin(f0);
  return start * cni_exp(2 * mu * (f - f0)) + a * cni_cos(f) + b * cni_sin(f);
}

static void roller_cam(void **state) {
  (void)state;
  const double big = .5, mu = .2, f0 = .3, v0 = .33, t = .4;
  for (int i = 0; i < 8; i++) {
    double r = i % 2 ? .2 : .05, p = big + r;
    int by = i / 2, n = by < 2 ? 4000 : 40;
    CnWorld *world = world_of(by, t / n, cn_vec3(0, -G, 0));
    double s = cni_sin(f0), c = cni_cos(f0);
    CnBodyId b = part(world, 1, .1, cn_vec3(p * s, p * c, 0), cn_vec3(v0 * c, -v0 * s, 0), O);
    CnJointDef def = cn_joint_def_default(CN_JOINT_POINT_ON_CURVE);
    CnJointId id;
    def.body_b = b;
    def.one_sided = 1;
    def.radius = r;
    def.curve_a = circle(world, 0, big);
    def.axes[0].friction_coefficient = mu; // the travel
    CHECK_OK(cn_joint_create(world, &def, &id));
    toy_steps(world, n);
    CnVec3 x = toy_pose(world, b).position, v = toy_twist(world, b).velocity;
    double f = cni_atan2(x.x, x.y);
    CHECK(f > .6);
    CHECK_NEAR(cn_norm(v), sqrt(square(f, p, mu, f0, v0)), by < 2 ? 1e-3 : 1e-8);
    cn_world_destroy(world);
  }
}

// A bead thrown up in a circular groove: where it is too slow for the upper half its reaction passes through zero, where
// nothing locks, and the other wall carries it. With f from the bottom, f'' = -g/R sin f - mu |f'^2 + g/R cos f| sign f'.
static void groove(void **state) {
  (void)state;
  const double big = .5, mus[2] = {.2, .4}, speed = 7, t = .6;
  for (int i = 0; i < 8; i++) {
    double mu = mus[i % 2], y[2] = {0, speed / big}, k[5][2] = {{0}};
    int by = i / 2, n = by < 2 ? 6000 : 60, fine = 20000;
    CnWorld *world = world_of(by, t / n, cn_vec3(0, -G, 0));
    CnBodyId bead = part(world, .4, 1e-3, cn_vec3(0, -big, 0), cn_vec3(speed, 0, 0), O);
    CnJointDef def = cn_joint_def_default(CN_JOINT_POINT_ON_CURVE);
    CnJointId id;
    def.body_b = bead;
    def.curve_a = circle(world, 0, big);
    def.axes[0].friction_coefficient = mu;
    CHECK_OK(cn_joint_create(world, &def, &id));
    toy_steps(world, n);
    static const double at[5] = {0, 0, .5, .5, 1}, weight[5] = {0, 1, 2, 2, 1};
    for (int step = 0; step < fine; step++) {
      for (int s = 1; s < 5; s++) {
        double f = y[0] + at[s] * k[s - 1][0], rate = y[1] + at[s] * k[s - 1][1];
        double rubs = mu * fabs(rate * rate + G / big * cni_cos(f));
        k[s][0] = t / fine * rate;
        k[s][1] = t / fine * (-G / big * cni_sin(f) - (rate > 0 ? rubs : -rubs));
      }
      for (int s = 1; s < 5; s++)
        for (int j = 0; j < 2; j++) y[j] += weight[s] / 6 * k[s][j];
    }
    double near = by < 2 ? 2e-3 : 1e-6;
    CnVec3 x = toy_pose(world, bead).position, v = toy_twist(world, bead).velocity;
    CHECK_NEAR(x.x, big * cni_sin(y[0]), near);
    CHECK_NEAR(x.y, -big * cni_cos(y[0]), near);
    CHECK_NEAR(cn_norm(v), big * fabs(y[1]), 10 * near);
    cn_world_destroy(world);
  }
}

// A follower that rubs on a gap that is a spring is refused where it would be left out.
static void soft_gap(void **state) {
  (void)state;
  for (int by = 1; by < 4; by++) {
    CnWorld *world = world_of(by, 1e-3, cn_vec3(0, -G, 0));
    CnJointDef def = cn_joint_def_default(CN_JOINT_POINT_ON_CURVE);
    CnJointId id;
    def.body_b = part(world, 1, .1, cn_vec3(0, .55, 0), O, O);
    def.one_sided = 1;
    def.radius = .05;
    def.curve_a = circle(world, 0, .5);
    def.axes[0].friction_coefficient = .2;
    def.axes[1].limit_stiffness = 1e4;
    CHECK_OK(cn_joint_create(world, &def, &id));
    CHECK(cn_world_step(world, NULL) == CN_UNSUPPORTED);
    cn_world_destroy(world);
  }
}

// A body hangs on a point that slides on an inclined plane, with friction along both of its axes, and comes to a
// stop: the centre of mass swings, so that friction changes the reaction that it goes with. `impulse` comes to
// what hem5 finds with the first order of the step.
static double slid(int by, double h) {
  CnWorld *world = world_of(by, h, cn_vec3(0, 0, -G));
  CnBodyDef body = cn_body_def_default();
  CnJointDef def = cn_joint_def_default(CN_JOINT_POINT_ON_PLANE);
  CnJointId id;
  body.mass = 1.75;
  body.inertia = cn_sdiag(.0303, .0422, .0447);
  body.pose.position = cn_vec3(-.0678, .01155, .9736);
  body.pose.rotation = cn_qunit((CnQuat){-.0407, -.7141, .2902, -.6357});
  CHECK_OK(cn_body_create(world, &body, &def.body_b));
  def.axes[0].friction_coefficient = .15;
  def.axes[0].upper = .2112;
  def.axes[1].friction_coefficient = .17;
  CHECK_OK(cn_joint_def_along(world, cn_vec3(-.2103, -.0455, .9377), cn_vec3(.5906, -.4718, 1.343),
                              &def));
  CHECK_OK(cn_joint_create(world, &def, &id));
  toy_steps(world, (int)(.4 / h + .5));
  double y = world_joint(world, id).coordinate[1];
  cn_world_destroy(world);
  return y;
}

static void coupled(void **state) {
  (void)state;
  double exact = slid(2, 1e-2);
  CHECK_NEAR(slid(3, 1e-2), exact, 1e-8);
  CHECK_NEAR(slid(1, 1e-3), exact, 1e-4);
  CHECK_NEAR(slid(0, 1e-3), exact, 3e-4);
  CHECK_NEAR(slid(0, 1e-4), exact, 3e-5);
}

// A screw whose lead is below mu times its circumference does not begin to turn under its load, from the first
// step on; with less friction it comes down with the acceleration g k/(k + 2 pi J/(m l)), l its lead,
// k = l/(2 pi) - mu r.
static void screw(void **state) {
  (void)state;
  const double lead = .01, r = .02, m = 50, j = .002, pi = CNI_PI;
  for (int i = 0; i < 8; i++) {
    int by = i / 2, locks = i % 2;
    double mu = locks ? lead / (2 * pi * r) * 1.0016 : .05, t = .1, h = by < 2 ? 2e-3 : 1e-2;
    CnWorld *world = world_of(by, h, cn_vec3(0, 0, -G));
    CnBodyId nut = part(world, m, j, O, O, O);
    CnJointDef def = cn_joint_def_default(CN_JOINT_SCREW);
    CnJointId id;
    def.body_b = nut;
    def.lead = lead;
    def.axes[0].friction_coefficient = mu;
    def.axes[0].friction_radius = r;
    CHECK_OK(cn_joint_def_along(world, O, Z, &def));
    CHECK_OK(cn_joint_create(world, &def, &id));
    toy_steps(world, (int)(t / h + .5));
    double v = toy_twist(world, nut).velocity.z;
    if (locks) CHECK(fabs(toy_pose(world, nut).position.z) < 1e-9 && fabs(v) < 1e-9);
    double k = lead / (2 * pi) - mu * r, a = G * k / (k + 2 * pi * j / (m * lead));
    if (!locks) CHECK_NEAR(v, -a * t, by < 2 ? 1e-6 : 1e-9);
    cn_world_destroy(world);
  }
}

// A pendulum whose swing rubs with .5 N m: on a hinge, and on a spherical joint whose z axes are .5 rad apart.
static CnTwist swung(int by, double h, int spherical, double apart, double armature,
                     CnStatus *status) {
  CnWorld *world = world_of(by, h, cn_vec3(0, 0, -G));
  CnJointDef def = cn_joint_def_default(spherical ? CN_JOINT_SPHERICAL : CN_JOINT_REVOLUTE);
  CnJointId id;
  def.body_b = part(world, 1, .04, cn_vec3(.1, 0, -.3), O, O);
  CHECK_OK(cn_joint_def_along(world, O, spherical ? Z : Y, &def));
  if (spherical) def.frame_a.rotation = cn_qmul(world_turn(Y, -apart), def.frame_a.rotation);
  def.axes[0].friction = armature > 0 ? 0 : .5;
  def.axes[0].armature = armature;
  CHECK_OK(cn_joint_create(world, &def, &id));
  *status = CN_OK;
  for (int i = 0; i < (int)(.3 / h + .5) && *status == CN_OK; i++)
    *status = cn_world_step(world, NULL);
  CnTwist twist = toy_twist(world, def.body_b);
  cn_world_destroy(world);
  return twist;
}

static void swing(void **state) {
  (void)state;
  CnStatus status;
  for (int by = 0; by < 4; by++)
    for (int rotor = 0; rotor < 2; rotor++) {
      double h = by < 2 ? 1e-3 : 1e-2, armature = rotor ? .1 : 0;
      CnTwist hinge = swung(by, h, 0, 0, armature, &status);
      CnTwist ball = swung(by, h, 1, .5, armature, &status);
      CHECK_OK(status);
      CHECK(hinge.spin.y > .2);
      CHECK_NEAR(ball.spin.y, hinge.spin.y, by < 2 ? 1e-6 : 1e-8);
      // without a direction it is refused by name, or found to the order of the step
      ball = swung(by, h, 1, 0, armature, &status);
      int follows = by == 0 || (by == 1 && !rotor);
      CHECK(status == (follows ? CN_OK : CN_UNSUPPORTED));
      if (follows) CHECK_NEAR(ball.spin.y, hinge.spin.y, 1e-2);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(flat_cam), cmocka_unit_test(roller_cam), cmocka_unit_test(soft_gap),
      cmocka_unit_test(coupled),  cmocka_unit_test(screw),      cmocka_unit_test(swing),
      cmocka_unit_test(groove),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
