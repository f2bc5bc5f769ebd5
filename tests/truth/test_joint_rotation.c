// SPDX-License-Identifier: Apache-2.0
// Rotation on joints: joints do no work, so what turns keeps turning, and momentum and energy of
// tumbling mechanisms stay. The heavy top: energy, period of nutation, precession.
#include "check.h"
#include "core/math.h"
#include "core/vec.h"
#include "worlds.h"

typedef struct Arm {
  CnWorld *world;
  CnBodyId body;
  CnJointId joint;
} Arm;

// A body whose centre is 1 m from the ball joint that holds it, turning at 10 rad/s, no gravity.
static Arm arm(double h, CnVec3 inertia) {
  CnWorldDef def = world_def_exact(h);
  def.gravity = CN_VEC3_ZERO;
  Arm a = {.world = world_make(&def)};
  CnTwist twist = {{0, 10, 0}, {0, 0, 10}};
  a.body = world_mass(a.world, 1, inertia, world_at(1, 0, 0), twist);
  CnJointDef joint = cn_joint_def_default(CN_JOINT_BALL);
  joint.body_a = a.body;
  CHECK_OK(cn_joint_def_at(a.world, CN_VEC3_ZERO, &joint));
  CHECK_OK(cn_joint_create(a.world, &joint, &a.joint));
  return a;
}

static void keeps_turning(void **state) {
  (void)state;
  const CnVec3 inertias[] = {{1.0 / 12, 1.0 / 12, 1.0 / 12}, {0.01, 0.3, 0.3}, {1e-6, 1e-6, 1e-6}};
  for (int k = 0; k < 3; k++) {
    Arm a = arm(0.01, inertias[k]);
    CnJointState joint;
    for (int i = 0; i < 1000; i++) {
      world_step(a.world);
      CHECK_OK(cn_joint_state(a.world, a.joint, &joint));
      CHECK(joint.error < 1e-12);
    }
    CnTwist now = world_twist(a.world, a.body);
    CHECK_REL(now.spin.z, 10, 1e-6);
    CHECK_REL(cn_norm(now.velocity), 10, 1e-6);
    CHECK_REL(cn_norm(joint.force), 100, 3e-3); // m w^2 r
    cn_world_destroy(a.world);
  }
}

// A chain of three bodies, not like balls, tumbling: momentum and angular momentum to round-off, and
// the energy.
static void tumbling_chain(void **state) {
  (void)state;
  CnWorldDef def = world_def_exact(0.01);
  def.gravity = CN_VEC3_ZERO;
  def.solver.local = CN_LOCAL_EXACT;
  CnWorld *world = world_make(&def);
  CnBodyId bodies[3];
  for (int i = 0; i < 3; i++) {
    CnTwist twist = {{0, i == 1 ? 1 : 0, i == 2 ? 2 : 0}, {0, i == 0 ? 2 : 0, 1}};
    bodies[i] = world_mass(world, 1 + i, cn_vec3(0.1, 0.2, 0.25), world_at(i, 0, 0), twist);
  }
  for (int i = 0; i < 2; i++) {
    CnJointDef joint = cn_joint_def_default(CN_JOINT_BALL);
    CnJointId id;
    joint.body_a = bodies[i];
    joint.body_b = bodies[i + 1];
    CHECK_OK(cn_joint_def_at(world, cn_vec3(i + 0.5, 0, 0), &joint));
    CHECK_OK(cn_joint_create(world, &joint, &id));
  }
  CnWorldSums start, first, now;
  cn_world_sums(world, &start);
  world_step(world); // takes what the joints do not allow
  cn_world_sums(world, &first);
  for (int i = 0; i < 1000; i++) world_step(world);
  cn_world_sums(world, &now);
  CHECK_NEAR(cn_norm(cn_sub(now.momentum, start.momentum)), 0, 1e-11);
  CHECK_NEAR(cn_norm(cn_sub(now.angular_momentum, start.angular_momentum)), 0, 1e-10);
  CHECK_REL(now.kinetic_energy, first.kinetic_energy, 1e-2);
  cn_world_destroy(world);
}

// ---- the heavy top ----

#define NUTATION 0.464150731984557  // s
#define PRECESSION 2.26607656043123 // rad in that time

typedef struct Top {
  double energy; // largest relative error on the way
  double lz, angle;
} Top;

// m .5 kg, l .1 m, A .002 and C .0015 kg m^2 about the centre of mass, 60 degrees, 60 rad/s: one
// nutation in n steps.
static Top top(int32_t n) {
  CnWorldDef def = world_def_exact(NUTATION / n);
  CnWorld *world = world_make(&def);
  double m = 0.5, l = 0.1, tilt = CNI_PI / 3;
  CnQuat q = world_turn(cn_vec3(1, 0, 0), tilt);
  CnVec3 axis = cn_rotate(q, cn_vec3(0, 0, 1));
  CnPose pose = {cn_scale(l, axis), q};
  CnTwist twist = {CN_VEC3_ZERO, cn_scale(60, axis)};
  CnBodyId body = world_mass(world, m, cn_vec3(0.002, 0.002, 0.0015), pose, twist);
  CnJointDef joint = cn_joint_def_default(CN_JOINT_BALL);
  CnJointId id;
  joint.body_a = body;
  CHECK_OK(cn_joint_def_at(world, CN_VEC3_ZERO, &joint));
  CHECK_OK(cn_joint_create(world, &joint, &id));
  CnWorldSums start, now;
  cn_world_sums(world, &start);
  double e = start.kinetic_energy + start.potential_energy;
  Top t = {0, 0, 0};
  for (int32_t i = 0; i < n; i++) {
    world_step(world);
    cn_world_sums(world, &now);
    t.energy = cn_max(t.energy, fabs((now.kinetic_energy + now.potential_energy) / e - 1));
    t.lz = cn_max(t.lz, fabs(now.angular_momentum.z / start.angular_momentum.z - 1));
  }
  CnVec3 x = world_pose(world, body).position, from = pose.position;
  t.angle = cni_atan2(from.x * x.y - from.y * x.x, from.x * x.x + from.y * x.y);
  cn_world_destroy(world);
  return t;
}

static void heavy_top(void **state) {
  (void)state;
  Top coarse = top(200), fine = top(400), finest = top(800);
  CHECK(coarse.energy < 0.01);
  CHECK(coarse.lz < 1e-9);
  CHECK(coarse.energy / fine.energy > 1.85);
  CHECK_NEAR(fine.angle, PRECESSION, 0.02 * PRECESSION);
  CHECK(fabs(fine.angle - PRECESSION) / fabs(finest.angle - PRECESSION) > 1.85);
}

// A flywheel in a bearing at its centre of mass carries a body welded to it 0.3 m out: it goes on
// turning, and the weld pulls with m w^2 r.
static void flywheel(void **state) {
  (void)state;
  CnWorldDef def = world_def_exact(0.01);
  def.gravity = CN_VEC3_ZERO;
  CnWorld *world = world_make(&def);
  CnTwist turn = {{0, 0, 0}, {0, 0, 20}}, along = {{0, 6, 0}, {0, 0, 20}};
  CnBodyId wheel = world_mass(world, 5, cn_vec3(0.1, 0.1, 0.2), world_at(0, 0, 0), turn);
  CnBodyId rider = world_mass(world, 1, cn_vec3(1e-3, 1e-3, 1e-3), world_at(0.3, 0, 0), along);
  CnJointDef bearing = cn_joint_def_default(CN_JOINT_REVOLUTE);
  CnJointDef weld = cn_joint_def_default(CN_JOINT_WELD);
  CnJointId joints[2];
  bearing.body_b = wheel;
  weld.body_a = wheel;
  weld.body_b = rider;
  CHECK_OK(cn_joint_def_along(world, CN_VEC3_ZERO, cn_vec3(0, 0, 1), &bearing));
  CHECK_OK(cn_joint_def_at(world, cn_vec3(0.3, 0, 0), &weld));
  CHECK_OK(cn_joint_create(world, &bearing, &joints[0]));
  CHECK_OK(cn_joint_create(world, &weld, &joints[1]));
  for (int i = 0; i < 1000; i++) {
    CnJointState now;
    world_step(world);
    for (int k = 0; k < 2 && i > 0; k++) {
      CHECK_OK(cn_joint_state(world, joints[k], &now));
      CHECK(now.error < 1e-6);
      CHECK_REL(cn_norm(now.force), 120, 0.01);
    }
  }
  CHECK_REL(world_twist(world, wheel).spin.z, 20, 2e-3);
  cn_world_destroy(world);
}

// An eccentric rotor with bearing friction mu r times its own reaction m w^2 e: I w' = -mu r m e w^2,
// hence w = w0/(1 + w0 t mu r m e/I).
static void eccentric_rotor(void **state) {
  (void)state;
  CnWorldDef def = world_def_exact(1e-3);
  def.gravity = CN_VEC3_ZERO;
  CnWorld *world = world_make(&def);
  CnTwist twist = {{0, 2, 0}, {0, 0, 20}};
  CnBodyId rotor = world_mass(world, 2, cn_vec3(0.01, 0.01, 0.02), world_at(0.1, 0, 0), twist);
  CnJointDef bearing = cn_joint_def_default(CN_JOINT_REVOLUTE);
  CnJointId joint;
  bearing.body_b = rotor;
  bearing.axes[0].friction_coefficient = 0.3;
  bearing.axes[0].friction_radius = 0.02;
  CHECK_OK(cn_joint_def_along(world, CN_VEC3_ZERO, cn_vec3(0, 0, 1), &bearing));
  CHECK_OK(cn_joint_create(world, &bearing, &joint));
  for (int i = 0; i < 1000; i++) world_step(world);
  CHECK_REL(world_twist(world, rotor).spin.z, 20 / (1 + 20 * 0.006 * 0.2 / 0.04), 2e-3);
  cn_world_destroy(world);
}

// Limits farther than half a turn away, on a hinge of a body that a weld holds, are where they are and not
// a turn nearer: a wheel at 2 rad/s for 1 s gets to 2 rad, at 0 it rests, and at 20 rad/s it turns up to its
// limit at 13 rad and stays there.
static void far_limits(void **state) {
  (void)state;
  const double limits[] = {4, 6.2, 6.29, 6.5, 7, 12.5, 13}, speeds[] = {0, 2, -2, 20};
  for (int32_t k = 0; k < 7 * 4; k++) {
    double limit = limits[k / 4], speed = speeds[k % 4];
    CnWorldDef def = world_def_exact(2e-3);
    def.gravity = CN_VEC3_ZERO;
    CnWorld *world = world_make(&def);
    CnVec3 one = {1, 1, 1};
    CnTwist twists[2] = {{{0, 0, 0}, {0, 0, 0}}, {{0, 0, 0}, {0, 0, speed}}};
    CnJointDef weld = cn_joint_def_default(CN_JOINT_WELD),
               hinge = cn_joint_def_default(CN_JOINT_REVOLUTE);
    CnJointId id;
    weld.body_b = hinge.body_a = world_mass(world, 1, one, world_at(0, 0, 0), twists[0]);
    hinge.body_b = world_mass(world, 1, one, world_at(0, 0, 0), twists[1]);
    hinge.axes[0].lower = -limit;
    hinge.axes[0].upper = limit;
    CHECK_OK(cn_joint_def_at(world, CN_VEC3_ZERO, &weld));
    CHECK_OK(cn_joint_create(world, &weld, &id));
    CHECK_OK(cn_joint_def_along(world, CN_VEC3_ZERO, cn_vec3(0, 0, 1), &hinge));
    CHECK_OK(cn_joint_create(world, &hinge, &id));
    for (int i = 0; i < 500; i++) world_step(world);
    CnJointState now;
    CHECK_OK(cn_joint_state(world, id, &now));
    CHECK_NEAR(now.coordinate[0], cn_min(speed, limit), 1e-9);
    CHECK_NEAR(world_twist(world, hinge.body_b).spin.z, speed < limit ? speed : 0, 1e-9);
    cn_world_destroy(world);
  }
}

// Limits that leave out the short way round tell the turn of the start; others start the short way.
static void start_within_limits(void **state) {
  (void)state;
  const double turn = 2 * CNI_PI, from[] = {6, -8, 6, 20, -6.2, 1},
               to[] = {8, -6, INFINITY, 21, 6.2, 2}, at[] = {7, -7, 7, 20.5, 4, 0},
               expected[] = {7, -7, 7, 20.5, 4 - turn, 0};
  for (int32_t k = 0; k < 6; k++) {
    CnWorldDef def = world_def_exact(1e-3);
    def.gravity = CN_VEC3_ZERO;
    CnWorld *world = world_make(&def);
    CnPose pose = {CN_VEC3_ZERO, cni_quat_exp(cn_vec3(0, 0, at[k]))};
    CnTwist spin = {{0, 0, 0}, {0, 0, .1}};
    CnJointDef hinge = cn_joint_def_default(CN_JOINT_REVOLUTE);
    CnJointState now;
    CnJointId id;
    hinge.body_b = world_mass(world, 1, cn_vec3(1, 1, 1), pose, spin);
    hinge.axes[0].lower = from[k];
    hinge.axes[0].upper = to[k];
    CHECK_OK(cn_joint_create(world, &hinge, &id));
    CHECK_OK(cn_joint_state(world, id, &now));
    CHECK_NEAR(now.coordinate[0], expected[k], 1e-12);
    for (int i = 0; k < 5 && i < 100; i++) world_step(world);
    CHECK_OK(cn_joint_state(world, id, &now));
    CHECK_NEAR(now.coordinate[0], k < 5 ? expected[k] + .01 : 0, 1e-9);
    cn_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keeps_turning),       cmocka_unit_test(tumbling_chain),
      cmocka_unit_test(heavy_top),           cmocka_unit_test(flywheel),
      cmocka_unit_test(eccentric_rotor),     cmocka_unit_test(far_limits),
      cmocka_unit_test(start_within_limits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
