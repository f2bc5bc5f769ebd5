// SPDX-License-Identifier: Apache-2.0
// Machines out of textbooks by all integrators: speeds, torques and forces by closed forms. Schemes with
// events and error control are exact to round-off, the others to what a step of 1 ms leaves.
#include "check.h"
#include "toys.h"
#include "worlds.h"

#define H 1e-3
#define G 9.81
#define ANY INFINITY

static const char *const integrators[] = {"impulse", "moreau-jean", "hem5", "rkf45"};
static const CnVec3 O = {0, 0, 0}, X = {1, 0, 0}, Y = {0, 1, 0}, Z = {0, 0, 1};
static const CnBodyId GROUND = {0, 0};

typedef struct Bench {
  CnWorld *world;
  double fine, rough; // bounds of closed forms that the scheme meets exactly, and to its order
} Bench;

static CnWorld *world_by(const char *integrator, double gravity) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = H;
  def.integrator = integrator;
  def.gravity = cn_vec3(0, 0, -gravity);
  return world_make(&def);
}

static CnBodyId part(CnWorld *w, double mass, double inertia, CnVec3 at, CnVec3 spin) {
  CnTwist twist = {O, spin};
  return world_mass(w, mass, cn_vec3(inertia, inertia, inertia), (CnPose){at, CN_QUAT_ONE}, twist);
}

static CnJointDef joint_of(CnWorld *w, CnJointKind kind, CnBodyId a, CnBodyId b, CnVec3 at,
                           CnVec3 axis) {
  CnJointDef def = cn_joint_def_default(kind);
  def.body_a = a;
  def.body_b = b;
  CHECK_OK(cn_joint_def_along(w, at, axis, &def));
  return def;
}

static CnJointId make(CnWorld *w, const CnJointDef *def) {
  CnJointId id;
  CHECK_OK(cn_joint_create(w, def, &id));
  return id;
}

static CnJointId join(CnWorld *w, CnJointKind kind, CnBodyId a, CnBodyId b, CnVec3 at,
                      CnVec3 axis) {
  CnJointDef def = joint_of(w, kind, a, b, at, axis);
  return make(w, &def);
}

// By a motor: with a speed that nothing changes, or an effort.
static CnJointId driven(CnWorld *w, CnBodyId b, CnVec3 at, CnVec3 axis, CnDrive drive,
                        double wanted) {
  CnJointDef def = joint_of(w, CN_JOINT_REVOLUTE, GROUND, b, at, axis);
  def.axes[0].drive = drive;
  def.axes[0].motor_effort = drive == CN_DRIVE_EFFORT ? wanted : ANY;
  if (drive == CN_DRIVE_SPEED) def.axes[0].motor_speed = wanted;
  return make(w, &def);
}

// p q1 + r q2 stays as it is.
static CnCouplingId coupled(CnWorld *w, CnJointId a, double p, CnJointId b, double r) {
  CnCouplingDef def = cn_coupling_def_default();
  CnCouplingId id;
  def.term_count = 2;
  def.terms[0] = (CnCouplingTerm){a, 0, p};
  def.terms[1] = (CnCouplingTerm){b, 0, r};
  CHECK_OK(cn_coupling_create(w, &def, &id));
  return id;
}

static double effort_of(CnWorld *w, CnCouplingId id) {
  CnCouplingState state;
  CHECK_OK(cn_coupling_state(w, id, &state));
  return state.effort;
}

// Sun of 20 teeth driven by 2 N m, carrier, and a ring of 60 that stands.
static void planetary(const Bench *b) {
  CnWorld *w = b->world;
  double sun = .02, carrier = .3, ratio = 20. / 80, torque = 2;
  CnJointId s = driven(w, part(w, 1, sun, O, O), O, Z, CN_DRIVE_EFFORT, torque);
  CnVec3 up = {0, 0, .1};
  CnJointId c = join(w, CN_JOINT_REVOLUTE, GROUND, part(w, 1, carrier, up, O), up, Z);
  CnCouplingId gear = coupled(w, s, 20, c, -80);
  toy_steps(w, 500);
  double a = torque / (sun + carrier * ratio * ratio);
  CHECK_REL(world_joint(w, s).rate[0], .5 * a, b->fine);
  CHECK_REL(world_joint(w, c).rate[0], .5 * a * ratio, b->fine);
  CHECK_REL(-80 * effort_of(w, gear), carrier * ratio * a, b->fine);
}

// A drum with a load on its rope: the load falls with m g/(m + J/r^2).
static void winch(const Bench *b) {
  CnWorld *w = b->world;
  double r = .1, inertia = .05, m = 4, a = m * G / (m + inertia / (r * r));
  CnVec3 below = {r, 0, -1};
  CnJointId drum = join(w, CN_JOINT_REVOLUTE, GROUND, part(w, 5, inertia, O, O), O, Y);
  CnJointId load = join(w, CN_JOINT_PRISMATIC, GROUND, part(w, m, .1, below, O), below, Z);
  CnCouplingId rope = coupled(w, load, 1, drum, r);
  toy_steps(w, 500);
  CHECK_REL(world_joint(w, load).rate[0], -.5 * a, b->fine);
  CHECK_REL(effort_of(w, rope), m * (G - a), b->fine);
}

// Two flywheels with dry friction between them: 30 rad/s become J1/(J1 + J2) of it.
static void clutch(const Bench *b) {
  CnWorld *w = b->world;
  double first = .4, second = .1, torque = 2, speed = 30;
  CnVec3 up = {0, 0, .2};
  CnBodyId one = part(w, 1, first, O, cn_vec3(0, 0, speed)), two = part(w, 1, second, up, O);
  CnJointId axle = join(w, CN_JOINT_REVOLUTE, GROUND, one, O, Z);
  CnJointDef def = joint_of(w, CN_JOINT_REVOLUTE, one, two, up, Z);
  def.axes[0].friction = torque;
  CnJointId plates = make(w, &def);
  toy_steps(w, 600); // it slips for 1.2 s
  CHECK_REL(world_joint(w, axle).rate[0], speed - torque * .6 / first, b->fine);
  CHECK_REL(world_joint(w, plates).friction[0], torque, b->fine);
  toy_steps(w, 700);
  CHECK_REL(world_joint(w, axle).rate[0], speed * first / (first + second), b->fine);
  CHECK_NEAR(world_joint(w, plates).rate[0], 0, 1e-11);
}

// A ball on a rod, on a shaft that turns: it stays at cos phi = g/(w^2 l).
static void governor(const Bench *b) {
  CnWorld *w = b->world;
  double l = .5, speed = 6, c = G / (speed * speed * l), s = sqrt(1 - c * c);
  CnVec3 at = {l * s, 0, -l * c}, spin = {0, 0, speed};
  CnBodyId shaft = part(w, 1, .1, O, spin), ball = part(w, 1, 1e-6, at, spin);
  toy_set_twist(w, ball, cn_vec3(0, speed * l * s, 0), spin);
  driven(w, shaft, O, Z, CN_DRIVE_SPEED, speed);
  CnJointId rod = join(w, CN_JOINT_REVOLUTE, shaft, ball, O, Y);
  toy_steps(w, 500);
  CHECK_NEAR(world_joint(w, rod).coordinate[0], 0, b->rough);
  CHECK_REL(cn_norm(world_joint(w, rod).force), G / c, b->rough);
}

// Two rods almost in line press a slider against its stop: P/(2 tan a).
static void toggle(const Bench *b) {
  CnWorld *w = b->world;
  double l = .5, a = .1, c = l * cos(a), s = l * sin(a), p = 10;
  CnVec3 knee = {c, 0, s}, end = {2 * c, 0, 0}, down = {0, 0, -p / 2};
  CnBodyId one = part(w, .5, .01, cn_vec3(.5 * c, 0, .5 * s), O);
  CnBodyId two = part(w, .5, .01, cn_vec3(1.5 * c, 0, .5 * s), O), slider = part(w, 1, .1, end, O);
  join(w, CN_JOINT_REVOLUTE, GROUND, one, O, Y);
  join(w, CN_JOINT_REVOLUTE, one, two, knee, Y);
  join(w, CN_JOINT_REVOLUTE, two, slider, end, Y);
  CnJointDef def = joint_of(w, CN_JOINT_PRISMATIC, GROUND, slider, end, X);
  def.axes[0].upper = 0;
  CnJointId press = make(w, &def);
  for (int i = 0; i < 20; i++) {
    CHECK_OK(cn_body_apply_force(w, one, down, knee));
    CHECK_OK(cn_body_apply_force(w, two, down, knee));
    toy_steps(w, 1);
  }
  CHECK_REL(-world_joint(w, press).limit[0], p / (2 * tan(a)), b->fine);
}

// A crank's pin in the slot of a slider: x = r cos wt, and the motor gives m r^2 w^2 sin wt cos wt.
static void scotch_yoke(const Bench *b) {
  CnWorld *w = b->world;
  double r = .2, speed = 5, m = 3, t = .5;
  CnVec3 pin = {r, 0, 0};
  CnBodyId crank = part(w, 1, .1, O, cn_vec3(0, 0, speed)), yoke = part(w, m, .1, pin, O);
  CnJointId motor = driven(w, crank, O, Z, CN_DRIVE_SPEED, speed);
  CnJointId slide = join(w, CN_JOINT_PRISMATIC, GROUND, yoke, pin, X);
  join(w, CN_JOINT_POINT_ON_LINE, yoke, crank, pin, Y);
  toy_steps(w, 500);
  CHECK_NEAR(world_joint(w, slide).coordinate[0], r * cos(speed * t) - r, b->rough * r);
  CHECK_REL(world_joint(w, slide).rate[0], -r * speed * sin(speed * t), b->rough);
  if (b->rough < 1e-6) // others tell the mean of a step
    CHECK_REL(world_joint(w, motor).motor[0],
              m * r * r * speed * speed * sin(speed * t) * cos(speed * t), b->rough);
}

static void run(void (*machine)(const Bench *), double gravity) {
  for (size_t i = 0; i < sizeof integrators / sizeof integrators[0]; i++) {
    Bench b = {world_by(integrators[i], gravity), 1e-11, i < 2 ? 2e-3 : 1e-9};
    machine(&b);
    CnVerdict verdict;
    CHECK_OK(cn_world_verdict(b.world, &verdict));
    if (!verdict.trusted) print_message("%s: %s\n", integrators[i], verdict.line);
    CHECK(verdict.trusted);
    cn_world_destroy(b.world);
  }
}

static void gears_and_ropes(void **state) {
  (void)state;
  run(planetary, 0);
  run(winch, G);
}
static void friction_between_flywheels(void **state) {
  (void)state;
  run(clutch, 0);
}
static void linkages(void **state) {
  (void)state;
  run(governor, G);
  run(toggle, 0);
  run(scotch_yoke, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(gears_and_ropes),
                                     cmocka_unit_test(friction_between_flywheels),
                                     cmocka_unit_test(linkages)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
