// SPDX-License-Identifier: Apache-2.0
// Coordinates that are held while their joints go round: speed motors, dry friction, limits and
// ropes and couplings on turning arms, cranks and shafts, by closed forms.
#include "check.h"
#include "core/math.h"
#include "core/vec.h"
#include "worlds.h"

static const CnTwist REST = {{0, 0, 0}, {0, 0, 0}};
static const CnVec3 Z = {0, 0, 1}, X = {1, 0, 0};

static CnWorld *empty(double h) {
  CnWorldDef def = world_def_exact(h);
  def.gravity = CN_VEC3_ZERO;
  def.solver = cn_solver_def_default("auto");
  def.solver.effort = CN_EFFORT_EXACT;
  def.solver.tolerance = 1e-12;
  def.balance = 1;
  return world_make(&def);
}

static CnJointState state_of(const CnWorld *world, CnJointId joint) {
  CnJointState s;
  CHECK_OK(cn_joint_state(world, joint, &s));
  return s;
}

static void adds_up(const CnWorld *world, double energy) {
  CnStepBalance b;
  CHECK_OK(cn_world_balance(world, &b));
  CHECK_NEAR(b.residual.energy, 0, 1e-10 * energy);
  CHECK_NEAR(cn_norm(b.residual.momentum), 0, 1e-10 * energy);
  CHECK_NEAR(cn_norm(b.residual.angular_momentum), 0, 1e-10 * energy);
}

// ---- a slider on an arm that turns freely about z at 10 rad/s ----

typedef struct Arm {
  CnWorld *world;
  CnBodyId arm, slider;
  CnJointDef def; // of the slider's joint
  CnJointId bearing, joint;
} Arm;

static Arm arm(double h, double inertia) {
  Arm a = {.world = empty(h)};
  CnTwist turning = {{0, 0, 0}, {0, 0, 10}}, going = {{0, 5, 0}, {0, 0, 10}};
  a.arm =
      world_mass(a.world, 1, cn_vec3(inertia, inertia, 2 * inertia), world_at(0, 0, 0), turning);
  a.slider = world_mass(a.world, 0.4, cn_vec3(0.01, 0.02, 0.03), world_at(0.5, 0, 0), going);
  CnJointDef bearing = cn_joint_def_default(CN_JOINT_REVOLUTE);
  bearing.body_b = a.arm;
  CHECK_OK(cn_joint_def_along(a.world, CN_VEC3_ZERO, Z, &bearing));
  CHECK_OK(cn_joint_create(a.world, &bearing, &a.bearing));
  a.def = cn_joint_def_default(CN_JOINT_PRISMATIC);
  a.def.body_a = a.arm;
  a.def.body_b = a.slider;
  CHECK_OK(cn_joint_def_along(a.world, cn_vec3(0.5, 0, 0), X, &a.def));
  return a;
}

// Locked by a motor without bound or with one, by dry friction, by a stop: it stays where it is and
// they carry m w^2 r.
static void locked_slider(void **state) {
  (void)state;
  const double steps[] = {0.01, 0.001};
  for (int k = 0; k < 8; k++) {
    double h = steps[k % 2];
    Arm a = arm(h, 0.2);
    CnJointAxis *axis = &a.def.axes[0];
    if (k / 2 < 2) axis->motor_effort = k / 2 ? 40 : INFINITY;
    if (k / 2 == 2) axis->friction = 40;
    if (k / 2 == 3) axis->upper = 0;
    CHECK_OK(cn_joint_create(a.world, &a.def, &a.joint));
    for (int i = 0; i < (int)(0.5 / h + 0.5); i++) {
      world_step(a.world);
      adds_up(a.world, 100);
    }
    CnJointState s = state_of(a.world, a.joint);
    CHECK_NEAR(s.coordinate[0], 0, 1e-9);
    CHECK_NEAR(s.rate[0], 0, 30 * h * h * h);
    CHECK_REL(world_twist(a.world, a.arm).spin.z, 10, 2 * h * h);
    CHECK_REL(s.motor[0] + s.friction[0] + s.limit[0], -0.4 * 100 * 0.5, 4 * h * h * 100 / 12);
    cn_world_destroy(a.world);
  }
}

// Friction that cannot hold it: m r'' = m w^2 r - F, w by the angular momentum; with the arm's inertia
// large r is a hyperbolic cosine.
static void slipping_slider(void **state) {
  (void)state;
  double error[2];
  for (int k = 0; k < 2; k++) {
    double h = k ? 0.0005 : 0.001, w = 10, force = 19.5, m = 0.4;
    Arm a = arm(h, 1e6);
    a.def.axes[0].friction = force;
    CHECK_OK(cn_joint_create(a.world, &a.def, &a.joint));
    for (int i = 0; i < (int)(0.3 / h + 0.5); i++) world_step(a.world);
    double rest = force / (m * w * w), e = cni_exp(w * 0.3);
    double x = (0.5 - rest) * (e + 1 / e) / 2 + rest - 0.5;
    error[k] = fabs(state_of(a.world, a.joint).coordinate[0] - x) / x;
    cn_world_destroy(a.world);
  }
  CHECK(error[0] < 1e-4 && error[1] < 0.3 * error[0]);
}

// ---- a crank that is driven ----

// A crank with its centre off the axis, driven at 2 pi rad/s: the speed is that, and so is the place.
static void driven_crank(void **state) {
  (void)state;
  CnWorldDef def = world_def_exact(0.001);
  CnWorld *world = world_make(&def);
  CnJointDef hinge = cn_joint_def_default(CN_JOINT_REVOLUTE);
  CnJointId joint;
  hinge.body_b = world_mass(world, 2, cn_vec3(0.01, 0.02, 0.03), world_at(0.3, 0, 0), REST);
  hinge.axes[0].motor_speed = 2 * CNI_PI;
  hinge.axes[0].motor_effort = INFINITY;
  CHECK_OK(cn_joint_def_along(world, CN_VEC3_ZERO, cn_vec3(0, 1, 0), &hinge));
  CHECK_OK(cn_joint_create(world, &hinge, &joint));
  for (int i = 1; i <= 1500; i++) {
    world_step(world);
    CnJointState s = state_of(world, joint);
    CHECK_NEAR(s.rate[0], 2 * CNI_PI, 1e-9);
    CHECK_REL(s.coordinate[0], 2 * CNI_PI * 0.001 * i, 3.4e-6); // (h w)^2/12
  }
  cn_world_destroy(world);
}

// ---- a universal joint ----

#define BEND (CNI_PI / 6)

// A revolute joint of the ground.
static CnJointId shaft(CnWorld *world, CnBodyId body, CnVec3 axis, double speed) {
  CnJointDef def = cn_joint_def_default(CN_JOINT_REVOLUTE);
  CnJointId joint;
  def.body_b = body;
  if (speed > 0) def.axes[0].motor_speed = speed, def.axes[0].motor_effort = INFINITY;
  CHECK_OK(cn_joint_def_along(world, CN_VEC3_ZERO, axis, &def));
  CHECK_OK(cn_joint_create(world, &def, &joint));
  return joint;
}

// Two shafts at an angle b, the first one driven at w, a flywheel J on the second: with D = 1 - (sin b
// sin wt)^2 it turns at w cos b/D, and the motor gives J w^2 (sin b cos b)^2 sin(2wt)/D^3.
// Returns the largest error over the largest torque.
static double cardan(double h) {
  CnWorld *world = empty(h);
  double w = 10, j = 0.5, c = cni_cos(BEND), s = cni_sin(BEND);
  CnVec3 along = {c, s, 0};
  CnTwist turning = {{0, 0, 0}, {w, 0, 0}}, turned = {{0, 0, 0}, cn_scale(w * c, along)};
  CnPose tilted = {CN_VEC3_ZERO, world_turn(Z, BEND)};
  CnJointDef def = cn_joint_def_default(CN_JOINT_UNIVERSAL);
  CnJointId cross;
  def.body_a = world_mass(world, 1, cn_vec3(1e-3, 1e-3, 1e-3), world_at(0, 0, 0), turning);
  def.body_b = world_mass(world, 1, cn_vec3(j, j, j), tilted, turned);
  CnJointId drive = shaft(world, def.body_a, X, w), wheel = shaft(world, def.body_b, along, 0);
  // z along the shafts, x across both of them
  CnQuat half_turn = world_turn(cn_vec3(sqrt(0.5), 0, sqrt(0.5)), CNI_PI);
  def.frame_a.rotation = def.frame_b.rotation = half_turn;
  CHECK_OK(cn_joint_create(world, &def, &cross));
  double worst = 0, most = 0;
  for (int i = 0; i < (int)(2 * CNI_PI / w / h); i++) {
    world_step(world);
    adds_up(world, 100);
    double t = (i + 0.5) * h, d = 1 - s * s * cni_sin(w * t) * cni_sin(w * t);
    double wanted = j * w * w * s * s * c * c * cni_sin(2 * w * t) / (d * d * d);
    worst = cn_max(worst, fabs(state_of(world, drive).motor[0] - wanted));
    most = cn_max(most, fabs(wanted));
    t += 0.5 * h;
    d = 1 - s * s * cni_sin(w * t) * cni_sin(w * t);
    CHECK_REL(state_of(world, wheel).rate[0], w * c / d, 100 * w * h * w * h);
  }
  cn_world_destroy(world);
  return worst / most;
}

static void cardan_torque(void **state) {
  (void)state;
  double coarse = cardan(0.002), fine = cardan(0.001);
  CHECK(fine < 0.003 && fine < 0.55 * coarse);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(locked_slider),
      cmocka_unit_test(slipping_slider),
      cmocka_unit_test(driven_crank),
      cmocka_unit_test(cardan_torque),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
