// SPDX-License-Identifier: Apache-2.0
// Armatures of machines whose joints turn about each other: what a rotor resists is there all the step
// long, and its energy is part of the machine's.
#include "check.h"
#include "worlds.h"

#include "core/math.h"
#include "core/vec.h"

static CnWorld *world_by(const char *integrator, double h, double g) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = h;
  def.integrator = integrator;
  def.gravity = cn_vec3(0, 0, -g);
  def.balance = 1;
  return world_make(&def);
}

static CnJointAxis rotor(double armature) {
  CnJointAxis axis = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
  axis.armature = armature;
  return axis;
}

static void check_verdict(CnWorld *world) {
  CnVerdict v;
  CHECK_OK(cn_world_verdict(world, &v));
  if (!v.trusted) print_message("%s\n", v.line);
  CHECK(v.trusted);
}

// ---- an arm of two rods of 1 kg and .5 m, with rotors in both hinges ----

typedef struct Arm {
  double q1, q2, w1, w2;
} Arm;

#define LONG 0.5

static Arm slope(Arm y, double a1, double a2, double g) {
  double l = LONG, c = l / 2, j = l * l / 12 + c * c, k = l * c * cni_cos(y.q2);
  double s = l * c * cni_sin(y.q2), m11 = 2 * j + l * l + 2 * k + a1, m12 = j + k, m22 = j + a2;
  double weight2 = g * c * cni_cos(y.q1 + y.q2), weight1 = g * (c + l) * cni_cos(y.q1) + weight2;
  double r1 = s * (2 * y.w1 + y.w2) * y.w2 + weight1, r2 = -s * y.w1 * y.w1 + weight2;
  double det = m11 * m22 - m12 * m12;
  return (Arm){y.w1, y.w2, (m22 * r1 - m12 * r2) / det, (m11 * r2 - m12 * r1) / det};
}

static Arm ahead(Arm y, double h, Arm k) {
  return (Arm){y.q1 + h * k.q1, y.q2 + h * k.q2, y.w1 + h * k.w1, y.w2 + h * k.w2};
}

// By Runge and Kutta's rule.
static Arm exact_arm(double a1, double a2, double g, double time) {
  Arm y = {0, 0, 3, -4};
  int n = 1000;
  double h = time / n;
  for (int i = 0; i < n; i++) {
    Arm k1 = slope(y, a1, a2, g), k2 = slope(ahead(y, h / 2, k1), a1, a2, g);
    Arm k3 = slope(ahead(y, h / 2, k2), a1, a2, g), k4 = slope(ahead(y, h, k3), a1, a2, g);
    y = ahead(ahead(ahead(ahead(y, h / 6, k1), h / 3, k2), h / 3, k3), h / 6, k4);
  }
  return y;
}

// How far the arm is from that after half a second.
static double arm_error(const char *integrator, double h, double a1, double a2, double g) {
  CnWorld *world = world_by(integrator, h, g);
  CnVec3 j = {.001, LONG * LONG / 12, LONG * LONG / 12}, y = {0, 1, 0};
  CnTwist first = {{0, 0, -.75}, {0, 3, 0}}, second = {{0, 0, -1.25}, {0, -1, 0}};
  CnBodyId none = {0, 0}, a = world_mass(world, 1, j, world_at(.25, 0, 0), first);
  CnBodyId b = world_mass(world, 1, j, world_at(.75, 0, 0), second);
  CnJointAxis axes[] = {rotor(a1), rotor(a2)};
  CnJointId j1 = world_join(world, CN_JOINT_REVOLUTE, none, a, CN_VEC3_ZERO, y, &axes[0]);
  CnJointId j2 = world_join(world, CN_JOINT_REVOLUTE, a, b, cn_vec3(LONG, 0, 0), y, &axes[1]);
  int32_t steps = (int32_t)(.5 / h + .5);
  for (int32_t i = 0; i < steps; i++) CHECK_OK(cn_world_step(world, NULL));
  CnJointState s1 = world_joint(world, j1), s2 = world_joint(world, j2);
  Arm x = exact_arm(a1, a2, g, .5);
  double off = cn_max(fabs(s1.coordinate[0] - x.q1), fabs(s2.coordinate[0] - x.q2));
  check_verdict(world);
  cn_world_destroy(world);
  return cn_max(off, cn_max(fabs(s1.rate[0] - x.w1), fabs(s2.rate[0] - x.w2)));
}

static void arm_with_rotors(void **state) {
  (void)state;
  const double armatures[][2] = {{0, 0}, {.2, .2}, {0, .2}, {.2, 0}};
  for (int k = 0; k < 4; k++)
    for (int n = 0; n < 2; n++) {
      double a1 = armatures[k][0], a2 = armatures[k][1], g = n ? 9.81 : 0;
      double coarse = arm_error("impulse", 2e-3, a1, a2, g);
      double fine = arm_error("impulse", 5e-4, a1, a2, g), hem5 = arm_error("hem5", .02, a1, a2, g);
      print_message("armatures %g %g, g %g: %.2g, %.2g, hem5 %.2g\n", a1, a2, g, coarse, fine,
                    hem5);
      CHECK(hem5 < 1e-5);
      CHECK(fine < .08 * coarse && fine < 2e-4);
    }
}

// ---- a flywheel on the crank of an engine, no weight: J(q) w^2 stays ----

static double crank_inertia(double q) {
  double r = .1, l = .4, turn = cni_asin(r / l * cni_sin(q)),
         rod = r * cni_cos(q) / (l * cni_cos(turn));
  double piston = -r * cni_sin(q) - r * cni_cos(q) * cni_sin(turn) / cni_cos(turn);
  double x = -r * cni_sin(q) - l / 2 * cni_sin(turn) * rod;
  double z = r * cni_cos(q) - l / 2 * cni_cos(turn) * rod;
  return r * r / 3 + 2 * (l * l / 12 * rod * rod + x * x + z * z) + 3 * piston * piston;
}

static void flywheel(void **state) {
  (void)state;
  const char *const by[] = {"impulse", "moreau-jean", "hem5"};
  const double steps[] = {1e-3, 1e-3, .01}, armature = .3, w = 10;
  for (int k = 0; k < 3; k++) {
    CnWorld *world = world_by(by[k], steps[k], 0);
    CnBodyId none = {0, 0};
    CnTwist up = {{0, 0, .5}, {0, -w, 0}}, back = {{0, 0, .5}, {0, w / 4, 0}};
    CnBodyId crank =
        world_mass(world, 1, cn_vec3(.001, .01 / 12, .01 / 12), world_at(.05, 0, 0), up);
    CnBodyId rod =
        world_mass(world, 2, cn_vec3(.001, .32 / 12, .32 / 12), world_at(.3, 0, 0), back);
    CnBodyId piston =
        world_mass(world, 3, cn_vec3(.01, .01, .01), world_at(.5, 0, 0), (CnTwist){0});
    CnVec3 y = {0, 1, 0}, end = {.5, 0, 0};
    CnJointAxis axis = rotor(armature);
    CnJointId hinge =
        world_join(world, CN_JOINT_REVOLUTE, none, crank, CN_VEC3_ZERO, cn_neg(y), &axis);
    world_join(world, CN_JOINT_REVOLUTE, crank, rod, cn_vec3(.1, 0, 0), y, NULL);
    world_join(world, CN_JOINT_REVOLUTE, rod, piston, end, y, NULL);
    world_join(world, CN_JOINT_CYLINDRICAL, none, piston, end, cn_vec3(1, 0, 0), NULL);
    double worst = 0;
    for (int n = 0; n < 5; n++) {
      for (int32_t i = 0; i < (int32_t)(.04 / steps[k] + .5); i++) {
        double before = world_joint(world, hinge).rate[0], after;
        CnStepBalance balance;
        CHECK_OK(cn_world_step(world, NULL));
        CHECK_OK(cn_world_balance(world, &balance));
        after = world_joint(world, hinge).rate[0];
        double taken = .5 * armature * (before * before - after * after);
        if (k != 1) CHECK_NEAR(balance.parts[CN_BALANCE_DRIVES].energy, taken, 1e-6);
      }
      CnJointState s = world_joint(world, hinge);
      double ratio = (crank_inertia(0) + armature) / (crank_inertia(s.coordinate[0]) + armature);
      worst = cn_max(worst, fabs(s.rate[0] / (w * sqrt(ratio)) - 1));
    }
    print_message("flywheel by %s: %.2g\n", by[k], worst);
    CHECK(worst < (k == 1 ? 1e-5 : 1e-8));
    check_verdict(world);
    cn_world_destroy(world);
  }
}

// A slider on a beam that turns, without weight, its motion geared to a rotor: angular momentum stays, and
// ((J + m r^2) w^2 + (m + A) r'^2)/2 does.
static void slider_with_rotor(void **state) {
  (void)state;
  double j = .2, m = 1, a = .7, w = 6, r = .2;
  CnWorld *world = world_by("impulse", 1e-3, 0);
  CnBodyId none = {0, 0};
  CnTwist turn = {CN_VEC3_ZERO, {0, 0, w}}, start = {{0, w * r, 0}, {0, 0, w}};
  CnBodyId beam = world_mass(world, 1, cn_vec3(.1, .1, j / 2), world_at(0, 0, 0), turn);
  CnBodyId slider = world_mass(world, m, cn_vec3(.1, .1, j / 2), world_at(r, 0, 0), start);
  CnJointAxis axis = cn_joint_def_default(CN_JOINT_PRISMATIC).axes[0];
  axis.armature = a;
  world_join(world, CN_JOINT_REVOLUTE, none, beam, CN_VEC3_ZERO, cn_vec3(0, 0, 1), NULL);
  CnJointId guide = world_join(world, CN_JOINT_PRISMATIC, beam, slider, cn_vec3(r, 0, 0),
                               cn_vec3(1, 0, 0), &axis);
  double worst = 0;
  for (int i = 0; i < 300; i++) {
    CHECK_OK(cn_world_step(world, NULL));
    CnJointState s = world_joint(world, guide);
    double at = r + s.coordinate[0], all = j + m * at * at, first = j + m * r * r;
    double spin = world_twist(world, beam).spin.z, rate = s.rate[0];
    CHECK_REL(spin, w * first / all, 1e-5);
    worst = cn_max(worst, fabs((all * spin * spin + (m + a) * rate * rate) / (first * w * w) - 1));
  }
  print_message("slider: out by %.3g m, energy %.2g\n", world_joint(world, guide).coordinate[0],
                worst);
  CHECK(worst < 1e-5 && world_joint(world, guide).coordinate[0] > .15);
  check_verdict(world);
  cn_world_destroy(world);
}

// Two bodies that float, a rotor between them: nobody brakes the whole.
static void floating_rotor(void **state) {
  (void)state;
  CnWorld *world = world_by("impulse", 1e-3, 0);
  CnVec3 z = {0, 0, 1}, at = {.3, 0, 0};
  CnTwist one = {{0, 0, 0}, {1, 0, 2}}, other = {{0, .6, -.3}, {1, 0, -3}};
  other.velocity = cn_add(cn_cross(one.spin, at), cn_cross(other.spin, at));
  CnBodyId a = world_mass(world, 1, cn_vec3(.02, .03, .04), world_at(0, 0, 0), one);
  CnBodyId b = world_mass(world, 2, cn_vec3(.03, .05, .04), world_at(.6, 0, 0), other);
  CnJointAxis axis = rotor(.1);
  CnJointId hinge = world_join(world, CN_JOINT_REVOLUTE, a, b, at, z, &axis);
  CnWorldSums before, after;
  cn_world_sums(world, &before);
  double rate = world_joint(world, hinge).rate[0];
  double energy = before.kinetic_energy + .05 * rate * rate;
  for (int i = 0; i < 500; i++) CHECK_OK(cn_world_step(world, NULL));
  cn_world_sums(world, &after);
  rate = world_joint(world, hinge).rate[0];
  CnVec3 lost = cn_sub(after.angular_momentum, before.angular_momentum);
  print_message("floating: L %.2g, energy %.2g\n", cn_norm(lost) / cn_norm(before.angular_momentum),
                (after.kinetic_energy + .05 * rate * rate) / energy - 1);
  CHECK(cn_norm(lost) < 1e-11 * cn_norm(before.angular_momentum));
  CHECK_REL(after.kinetic_energy + .05 * rate * rate, energy, 1e-5);
  check_verdict(world);
  cn_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(arm_with_rotors), cmocka_unit_test(flywheel),
                                     cmocka_unit_test(slider_with_rotor),
                                     cmocka_unit_test(floating_rotor)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
