// SPDX-License-Identifier: Apache-2.0
// Cams and grooves whose motion is known: an eccentric circle under a flat and under a roller, a spiral
// that closes a gripper, a groove that rests for half a turn, wires that are other joints.
#include "check.h"
#include "core/math.h"
#include "joint/joint.h"
#include "toys.h"
#include "worlds.h"

static const double G = 9.81;
static const CnBodyId NONE = {0, 0};
static const CnVec3 X = {1, 0, 0}, Y = {0, 1, 0}, Z = {0, 0, 1}, O = {0, 0, 0};

// Everything happens in the plane x, y; gravity acts along -y.
static CnWorld *world_of(const char *integrator, double h) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = h;
  def.integrator = integrator;
  def.integration.tolerance = 1e-11;
  def.integration.project_start = 1;
  def.gravity = cn_vec3(0, -G, 0);
  def.solver = cn_solver_def_default("auto");
  def.solver.effort = CN_EFFORT_EXACT;
  return toy_world_from(&def);
}

static CnBodyId part(CnWorld *w, double m, CnVec3 at) {
  CnBodyDef def = cn_body_def_default();
  CnBodyId body;
  def.mass = m;
  def.inertia = cn_sdiag(1e-2 * m, 1e-2 * m, 1e-2 * m);
  def.pose.position = at;
  CHECK_OK(cn_body_create(w, &def, &body));
  return body;
}

static CnCurveId curve(CnWorld *w, CnCurveKind kind, int closed, int count, const double *x,
                       const double *y, const double *bulges) {
  CnCurveDef def = cn_curve_def_default(kind);
  CnCurveId id;
  def.closed = closed;
  def.point_count = count;
  def.x = x;
  def.y = y;
  def.bulges = bulges;
  CHECK_OK(cn_curve_create(w, &def, &id));
  return id;
}

static CnCurveId circle(CnWorld *w, double x, double y, double r) {
  return curve(w, CN_CURVE_PATH, 1, 2, (double[]){x + r, x - r}, (double[]){y, y},
               (double[]){1, 1});
}

static CnJointAxis driven(double speed) {
  CnJointDef def = cn_joint_def_default(CN_JOINT_REVOLUTE);
  def.axes[0].motor_speed = speed;
  def.axes[0].motor_effort = INFINITY;
  return def.axes[0];
}

// ---- cams ----

typedef struct Cam {
  CnWorld *world;
  CnBodyId cam, follower;
  CnJointId joint;
} Cam;

// A circle about (0, -e) that turns about the origin; a follower of 1 kg on a vertical slide, flat or with
// a roller.
static Cam cam(const char *integrator, double h, double e, double r, double roller, double speed,
               int one_sided) {
  Cam c = {.world = world_of(integrator, h)};
  double line[2] = {-0.2, 0.2}, zero[2] = {0, 0};
  CnJointAxis motor = driven(speed);
  c.cam = part(c.world, 1, O);
  c.follower = part(c.world, 1, cn_vec3(0, r + roller - e, 0));
  world_join(c.world, CN_JOINT_REVOLUTE, NONE, c.cam, O, Z, &motor);
  world_join(c.world, CN_JOINT_PRISMATIC, NONE, c.follower, O, Y, NULL);
  CnJointDef def =
      cn_joint_def_default(roller > 0 ? CN_JOINT_POINT_ON_CURVE : CN_JOINT_CURVE_ON_CURVE);
  def.body_a = c.cam;
  def.body_b = c.follower;
  def.one_sided = one_sided;
  def.curve_a = circle(c.world, 0, -e, r);
  if (roller > 0)
    def.radius = roller;
  else
    def.curve_b = curve(c.world, CN_CURVE_PATH, 0, 2, line, zero, NULL);
  CHECK_OK(cn_joint_create(c.world, &def, &c.joint));
  toy_set_twist(c.world, c.cam, O, cn_vec3(0, 0, speed));
  return c;
}

static double lift_of(const Cam *c) { return toy_pose(c->world, c->follower).position.y; }

static void flat_follower(void **state) {
  (void)state;
  const double e = 0.01, r = 0.05, w = 20, h = 1e-3;
  for (int one_sided = 0; one_sided < 2; one_sided++) {
    Cam c = cam("hem5", h, e, r, 0, w, one_sided);
    for (int i = 1; i <= 400; i++) {
      toy_steps(c.world, 1);
      CHECK_NEAR(lift_of(&c), r - e * cni_cos(w * h * i), 1e-10);
      // at some time within the step
      CHECK_NEAR(world_joint(c.world, c.joint).force.y, G + e * w * w * cni_cos(w * h * i), 0.1);
    }
    cn_world_destroy(c.world);
  }
  // the first order of `impulse`, and nothing opens
  for (int one_sided = 0; one_sided < 2; one_sided++) {
    Cam c = cam("impulse", h, e, r, 0, w, one_sided);
    double worst = 0;
    for (int i = 1; i <= 400; i++) {
      toy_steps(c.world, 1);
      CnVec3 x = cn_rotate(toy_pose(c.world, c.cam).rotation, cn_vec3(0, -e, 0));
      worst = cn_max(worst, fabs(lift_of(&c) - (r + x.y)));
    }
    CHECK(worst < (one_sided ? 1e-5 : 1e-11));
    cn_world_destroy(c.world);
  }
}

static void lift_off(void **state) {
  (void)state;
  const double e = 0.01;
  for (int fast = 0; fast < 2; fast++)
    for (int kind = 0; kind < 2; kind++) {
      double w = sqrt(G / e) * (fast ? 1.001 : 0.999), gap = 0;
      Cam c = cam("hem5", 2e-3, e, 0.05, kind ? 0.02 : 0, w, 1);
      for (int i = 0; i < 150; i++) {
        toy_steps(c.world, 1);
        gap = cn_max(gap, world_joint(c.world, c.joint).coordinate[kind ? 1 : 2]);
      }
      // over a flat it leaves above sqrt(g/e), over a roller earlier
      if (kind)
        CHECK(gap > 1e-9);
      else
        CHECK(fast ? gap > 1e-9 : gap < 1e-12);
      cn_world_destroy(c.world);
    }
}

static void roller(void **state) {
  (void)state;
  const double e = 0.01, r = 0.05, roll = 0.02, w = 15, h = 2e-3, both = r + roll;
  for (int one_sided = 0; one_sided < 2; one_sided++) {
    Cam c = cam("hem5", h, e, r, roll, w, one_sided);
    for (int i = 1; i <= 300; i++) {
      toy_steps(c.world, 1);
      double s = e * cni_sin(w * h * i);
      CHECK_NEAR(lift_of(&c), sqrt(both * both - s * s) - e * cni_cos(w * h * i), 1e-10);
    }
    cn_world_destroy(c.world);
  }
}

// Half of the groove is a circle about the axle: there the follower rests, and the cam turns on.
static void dwell(void **state) {
  (void)state;
  const double r = 0.05, d = 0.03, h = 1e-3, w = CNI_PI;
  double x[4] = {r, -r, -r, r}, y[4] = {0, 0, -d, -d}, bulges[4] = {1, 0, 1, 0};
  CnWorld *world = world_of("hem5", h);
  CnJointAxis motor = driven(w);
  CnBodyId disc = part(world, 1, O), pin = part(world, 1, cn_vec3(0, r, 0));
  world_join(world, CN_JOINT_REVOLUTE, NONE, disc, O, Z, &motor);
  world_join(world, CN_JOINT_PRISMATIC, NONE, pin, O, Y, NULL);
  CnJointDef def = cn_joint_def_default(CN_JOINT_POINT_ON_CURVE);
  CnJointId id;
  def.body_a = disc;
  def.body_b = pin;
  def.curve_a = curve(world, CN_CURVE_PATH, 1, 4, x, y, bulges);
  CHECK_OK(cn_joint_create(world, &def, &id));
  toy_set_twist(world, disc, O, cn_vec3(0, 0, w));
  for (int i = 1; i <= 2000; i++) {
    toy_steps(world, 1);
    double angle = w * h * i, lift = toy_pose(world, pin).position.y;
    if (angle < CNI_PI / 2 || angle > 3 * CNI_PI / 2) {
      CHECK_NEAR(lift, r, 1e-10);
      if (fabs(angle - 3 * CNI_PI / 2) > 0.02)
        CHECK_NEAR(toy_twist(world, pin).velocity.y, 0, 1e-8);
    }
    if (i == 1000) CHECK_NEAR(lift, r + d, 1e-10);
  }
  CnCurvePoint p;
  CHECK_OK(cn_curve_point(world, def.curve_a, 0, &p));
  CHECK_NEAR(world_joint(world, id).coordinate[0], CNI_PI / 2 * r - p.length, 1e-9);
  cn_world_destroy(world);
}

// ---- grooves ----

// r = 0.05 + b a, one spiral for eight fingers: 4 N m on the ring give 4/(8 b) on each finger, which its
// stop holds.
static void gripper(void **state) {
  (void)state;
  enum { N = 81 };
  const double b = 0.01;
  double x[N], y[N];
  for (int i = 0; i < N; i++) {
    double a = -1 + 2.0 * i / (N - 1), r = 0.05 + b * a;
    x[i] = r * cni_cos(a);
    y[i] = r * cni_sin(a);
  }
  static const char *const integrators[] = {"impulse", "hem5"};
  for (int k = 0; k < 2; k++) {
    CnWorld *w = world_of(integrators[k], 1e-3);
    CHECK_OK(cn_world_set_gravity(w, O));
    CnBodyId ring = part(w, 1, O);
    CnJointDef hinge = cn_joint_def_default(CN_JOINT_REVOLUTE);
    hinge.axes[0].drive = CN_DRIVE_EFFORT;
    hinge.axes[0].motor_effort = -4;
    world_join(w, CN_JOINT_REVOLUTE, NONE, ring, O, Z, &hinge.axes[0]);
    CnCurveId spiral = curve(w, CN_CURVE_SPLINE, 0, N, x, y, NULL);
    CnJointId slides[8], id;
    for (int i = 0; i < 8; i++) {
      CnQuat turn = cni_quat_exp(cn_vec3(0, 0, i * CNI_PI / 4));
      CnVec3 out = cn_rotate(turn, X);
      CnJointAxis stop = cn_joint_def_default(CN_JOINT_PRISMATIC).axes[0];
      stop.upper = 0;
      CnBodyId finger = part(w, 0.1, cn_scale(0.05, out));
      slides[i] = world_join(w, CN_JOINT_PRISMATIC, NONE, finger, cn_scale(0.05, out), out, &stop);
      CnJointDef def = cn_joint_def_default(CN_JOINT_POINT_ON_CURVE);
      def.body_a = ring;
      def.body_b = finger;
      def.curve_a = spiral;
      def.frame_a.rotation = turn;
      CHECK_OK(cn_joint_create(w, &def, &id));
    }
    toy_steps(w, 20);
    // rigid stops share as they like, all alike where the norm is least
    double sum = 0;
    for (int i = 0; i < 8; i++) sum += world_joint(w, slides[i]).limit[0];
    CHECK_NEAR(sum, -400, 1e-3);
    for (int i = 0; i < 8 && k == 0; i++) CHECK_NEAR(world_joint(w, slides[i]).limit[0], -50, 1e-2);
    cn_world_destroy(w);
  }
}

// A bead on a straight wire is a point on a line, on a round one a pendulum.
static CnVec3 bead(const char *integrator, int kind, CnVec3 velocity) {
  CnWorld *w = world_of(integrator, integrator[0] == 'i' ? 1e-4 : 5e-3);
  CnBodyId b = part(w, 2, cn_vec3(0.3, 0, 0));
  double x[2] = {-1, 1}, y[2] = {-0.5, 0.5};
  CnJointDef def = cn_joint_def_default(CN_JOINT_POINT_ON_CURVE);
  CnJointId id;
  CnVec3 along = cn_unit_or(cn_vec3(2, 1, 0), X);
  if (kind == 1 || kind == 3)
    def = cn_joint_def_default(kind == 1 ? CN_JOINT_POINT_ON_LINE : CN_JOINT_DISTANCE);
  def.body_b = b;
  def.frame_b.position = cn_vec3(0, 0.05, kind < 2 ? 0.02 : 0); // not at the centre of mass
  def.frame_a.position = kind < 2 ? cn_vec3(0.3, 0.05, 0.02) : cn_vec3(0, 0.05, 0);
  if (kind == 0) def.curve_a = curve(w, CN_CURVE_PATH, 0, 2, x, y, NULL);
  if (kind == 1) {
    def.frame_a.rotation = cni_joint_axes(along);
    def.axes[0].lower = -2; // a wire has ends: what has limits is of first order in impulse
    def.axes[0].upper = 2;
  }
  if (kind == 2) def.curve_a = circle(w, 0, 0, 0.3);
  CHECK_OK(cn_joint_create(w, &def, &id));
  if (kind < 2) velocity = cn_scale(cn_dot(velocity, along), along);
  // without z the two spheres and circles agree; the body may turn about z
  toy_set_twist(w, b, velocity, cn_vec3(0, 0, kind < 2 ? 0 : 0.7));
  toy_steps(w, integrator[0] == 'i' ? 3000 : 60);
  CHECK(world_joint(w, id).error < 1e-9);
  CnVec3 p = toy_pose(w, b).position;
  cn_world_destroy(w);
  return p;
}

static void wires(void **state) {
  (void)state;
  static const char *const integrators[] = {"hem5", "rkf45", "impulse"};
  for (int i = 0; i < 3; i++)
    for (int kind = 0; kind < 4; kind += 2) {
      CnVec3 v = cn_vec3(0, 0.5, 0);
      CnVec3 a = bead(integrators[i], kind, v), b = bead(integrators[i], kind + 1, v);
      double tolerance = i < 2 ? 1e-9 : 1e-6;
      CHECK_NEAR(a.x, b.x, tolerance);
      CHECK_NEAR(a.y, b.y, tolerance);
      CHECK_NEAR(a.z, b.z, tolerance);
    }
}

// Round and round an oval that a spline makes: no energy is lost, order 5 in the tolerance's steps.
static void round_and_round(void **state) {
  (void)state;
  static const char *const integrators[] = {"hem5", "rkf45", "impulse"};
  CnVec3 last[3];
  for (int i = 0; i < 3; i++) {
    CnWorld *w = world_of(integrators[i], 1e-3);
    CnBodyId b = part(w, 1, cn_vec3(0.2, 0, 0));
    CnJointDef def = cn_joint_def_default(CN_JOINT_POINT_ON_CURVE);
    CnJointId id;
    def.body_b = b;
    def.frame_a.position = cn_vec3(0.2, 0, 0);
    toy_curves(w, &def);
    CHECK_OK(cn_joint_create(w, &def, &id));
    CnCurvePoint p;
    CHECK_OK(cn_curve_point(w, def.curve_a, 0, &p));
    toy_set_twist(w, b, cn_scale(4, cn_vec3(p.tangent_x, p.tangent_y, 0)), O);
    double worst = 0;
    for (int k = 0; k < 1000; k++) {
      toy_steps(w, 1);
      worst = cn_max(worst, world_joint(w, id).error);
    }
    CnJointState s = world_joint(w, id);
    last[i] = toy_pose(w, b).position;
    double energy = 0.5 * s.rate[0] * s.rate[0] + G * last[i].y;
    print_message("%s: error %.1e, energy %.1e, %.2f rounds\n", integrators[i], worst,
                  energy / 8 - 1, s.coordinate[0] / p.length);
    CHECK(worst < 1e-9);
    CHECK(s.coordinate[0] > 2 * p.length); // whole rounds are counted
    CHECK_NEAR(energy / 8, 1, i < 2 ? 1e-8 : 1e-2);
    cn_world_destroy(w);
  }
  CHECK_NEAR(last[0].x, last[1].x, 1e-8);
  CHECK_NEAR(last[0].y, last[1].y, 1e-8);
}

// A bead with friction on an inclined wire: g (sin - mu cos); the end of the wire is a stop.
static void rubbing(void **state) {
  (void)state;
  const double mu = 0.2, c = cni_cos(0.5), s = cni_sin(0.5);
  CnWorld *w = world_of("impulse", 1e-3);
  CnBodyId b = part(w, 1, cn_vec3(-c, -s, 0));
  double x[2] = {-2 * c, 2 * c}, y[2] = {-2 * s, 2 * s};
  CnJointDef def = cn_joint_def_default(CN_JOINT_POINT_ON_CURVE);
  CnJointId id;
  def.body_b = b;
  def.curve_a = curve(w, CN_CURVE_PATH, 0, 2, x, y, NULL);
  def.axes[0].friction_coefficient = mu;
  CHECK_OK(cn_joint_create(w, &def, &id));
  CHECK_NEAR(world_joint(w, id).coordinate[0], 1, 1e-12);
  toy_steps(w, 500);
  CHECK_NEAR(world_joint(w, id).rate[0], -G * (s - mu * c) * 0.5, 1e-2);
  toy_steps(w, 1000);
  CHECK_NEAR(world_joint(w, id).coordinate[0], 0, 1e-6);
  cn_world_destroy(w);
}

static void refusals(void **state) {
  (void)state;
  CnWorld *w = world_of("impulse", 1e-3);
  double x[3] = {0, 1, 1}, y[3] = {0, 0, 1};
  CnCurveDef def = cn_curve_def_default(CN_CURVE_PATH);
  CnCurveId id;
  def.x = x;
  def.y = y;
  def.point_count = 3;
  CHECK_STATUS(cn_curve_create(w, &def, &id), CN_INVALID_ARGUMENT);
  CHECK_TEXT(cn_error_message(), "corner of 90 degrees at point 1");
  def.point_count = 2;
  CHECK_OK(cn_curve_create(w, &def, &id));
  CnJointDef joint = cn_joint_def_default(CN_JOINT_POINT_ON_CURVE);
  CnJointId made;
  joint.body_b = part(w, 1, cn_vec3(0.5, 0, 0));
  CHECK_STATUS(cn_joint_create(w, &joint, &made), CN_INVALID_ARGUMENT);
  CHECK_TEXT(cn_error_message(), "needs a curve_a");
  joint.curve_a = id;
  joint.one_sided = 1;
  CHECK_STATUS(cn_joint_create(w, &joint, &made), CN_INVALID_ARGUMENT);
  CHECK_TEXT(cn_error_message(), "say `side`");
  joint.side = CN_SIDE_LEFT;
  CHECK_OK(cn_joint_create(w, &joint, &made));
  CHECK_STATUS(cn_curve_destroy(w, id), CN_INVALID_ARGUMENT);
  CHECK_OK(cn_joint_destroy(w, made));
  CHECK_OK(cn_curve_destroy(w, id));
  cn_world_destroy(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(flat_follower),   cmocka_unit_test(lift_off), cmocka_unit_test(roller),
      cmocka_unit_test(dwell),           cmocka_unit_test(gripper),  cmocka_unit_test(wires),
      cmocka_unit_test(round_and_round), cmocka_unit_test(rubbing),  cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
