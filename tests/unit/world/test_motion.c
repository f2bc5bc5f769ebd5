// SPDX-License-Identifier: Apache-2.0
// Motion without contacts, where every number is known: free fall, forces and torques, bodies with
// a centre of mass off their origin, kinematic bodies, joints, energies and momenta.
#include "check.h"
#include "toys.h"

#include "core/math.h"

#include <cairn/system.h>

static const CnMaterialId no_material = {0, 0};

static void check_vec(CnVec3 a, CnVec3 b, double tolerance) {
  CHECK_NEAR(a.x, b.x, tolerance);
  CHECK_NEAR(a.y, b.y, tolerance);
  CHECK_NEAR(a.z, b.z, tolerance);
}

// n steps of semi-implicit Euler: v = v0 + n h g, x = x0 + n h v0 + n (n + 1)/2 h^2 g.
static void test_free_fall(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  def.time_step = 0.01;
  def.integrator = "impulse";
  CnWorld *w = toy_world_from(&def);
  CnBodyId ball = toy_ball(w, 0.1, cn_vec3(1, 2, 3), no_material);
  toy_set_twist(w, ball, cn_vec3(0.5, -1, 2), CN_VEC3_ZERO);
  CnStepReport report;
  for (int n = 1; n <= 100; n++) {
    CHECK_OK(cn_world_step(w, &report));
    double t = 0.01 * n, fall = -9.81 * 1e-4 * n * (n + 1) / 2;
    CHECK(report.step == n && report.contact_count == 0);
    CHECK_NEAR(report.time, t, 1e-13);
    check_vec(toy_twist(w, ball).velocity, cn_vec3(0.5, -1, 2 - 9.81 * t), 1e-12);
    check_vec(toy_pose(w, ball).position, cn_vec3(1 + 0.5 * t, 2 - t, 3 + 2 * t + fall), 1e-12);
  }
  CnWorldInfo info;
  cn_world_info(w, &info);
  CHECK(info.step == 100 && info.body_count == 1 && info.shape_count == 1);
  CHECK_NEAR(info.time, 1, 1e-13);
  CHECK_OK(cn_world_set_gravity(w, CN_VEC3_ZERO));
  CHECK_OK(cn_world_set_time_step(w, 0.5));
  CnVec3 x = toy_pose(w, ball).position, v = toy_twist(w, ball).velocity;
  toy_steps(w, 1);
  check_vec(toy_pose(w, ball).position, cn_madd(x, 0.5, v), 1e-14);
  cn_world_destroy(w);
}

// An eccentric body thrown with a spin: its centre of mass flies on the parabola, the body frame
// goes round it.
static void test_off_centre(void **state) {
  (void)state;
  CnWorld *w = toy_world(1e-3);
  CnBodyDef def = cn_body_def_default();
  def.mass = 2;
  def.com.position = cn_vec3(0.5, 0, 0);
  def.inertia = cn_sdiag(1, 1, 1);
  def.twist.velocity = cn_vec3(0, 0, 1);
  def.twist.spin = cn_vec3(0, 0, 2);
  CnBodyId body;
  CHECK_OK(cn_body_create(w, &def, &body));
  // the centre's velocity is v + w x r = (0, 1, 1)
  CnWorldSums sums;
  cn_world_sums(w, &sums);
  check_vec(sums.momentum, cn_vec3(0, 2, 2), 1e-14);
  CHECK_NEAR(sums.kinetic_energy, 0.5 * 2 * 2 + 0.5 * 1 * 4, 1e-14);
  check_vec(sums.angular_momentum, cn_vec3(0, -1, 1 + 2), 1e-14); // r x p + J w
  check_vec(toy_twist(w, body).velocity, def.twist.velocity, 1e-15);
  int n = 500;
  toy_steps(w, n);
  double t = 0.5, fall = -9.81 * 1e-6 * n * (n + 1) / 2;
  CnVec3 centre = cn_vec3(0.5, t, t + fall);
  CnVec3 arm = cn_vec3(0.5 * cni_cos(2 * t), 0.5 * cni_sin(2 * t), 0);
  check_vec(toy_pose(w, body).position, cn_sub(centre, arm), 1e-11);
  CnVec3 v = cn_vec3(0, 1, 1 - 9.81 * t);
  check_vec(toy_twist(w, body).velocity, cn_sub(v, cn_cross(cn_vec3(0, 0, 2), arm)), 1e-11);
  cn_world_destroy(w);
}

static void test_forces(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  def.time_step = 0.25;
  def.gravity = CN_VEC3_ZERO;
  CnWorld *w = toy_world_from(&def);
  CnBodyDef body = cn_body_def_default();
  body.mass = 4;
  body.inertia = cn_sdiag(2, 2, 2);
  CnBodyId b;
  CHECK_OK(cn_body_create(w, &body, &b));
  // force through a point: dv = h f/m, dw = h (r x f)/J; it acts for one step only
  CHECK_OK(cn_body_apply_force(w, b, cn_vec3(0, 8, 0), cn_vec3(0.5, 0, 0)));
  CHECK_OK(cn_body_apply_torque(w, b, cn_vec3(1, 0, 0)));
  CHECK_OK(cn_body_apply_torque(w, b, cn_vec3(1, 0, 0)));
  toy_steps(w, 1);
  check_vec(toy_twist(w, b).velocity, cn_vec3(0, 0.5, 0), 1e-15);
  check_vec(toy_twist(w, b).spin, cn_vec3(0.25, 0, 0.5), 1e-15);
  toy_steps(w, 1);
  check_vec(toy_twist(w, b).velocity, cn_vec3(0, 0.5, 0), 1e-15);
  check_vec(toy_twist(w, b).spin, cn_vec3(0.25, 0, 0.5), 1e-15);
  // bodies that are not dynamic do not feel forces
  CnBodyId floor = toy_floor(w);
  CHECK_OK(cn_body_apply_force(w, floor, cn_vec3(0, 0, 1), CN_VEC3_ZERO));
  toy_steps(w, 1);
  check_vec(toy_twist(w, floor).velocity, CN_VEC3_ZERO, 0);
  cn_world_destroy(w);
}

// A kinematic body does what it is told, about its own frame, whatever pushes it.
static void test_kinematic(void **state) {
  (void)state;
  CnWorld *w = toy_world(0.01);
  CnBodyDef def = cn_body_def_default();
  def.kind = CN_BODY_KINEMATIC;
  def.twist.velocity = cn_vec3(0.1, 0, 0);
  def.twist.spin = cn_vec3(0, 0, 1);
  CnBodyId arm;
  CnShapeId shape;
  CHECK_OK(cn_body_create(w, &def, &arm));
  CnShapeDef box = cn_shape_def_default(CN_SHAPE_BOX);
  box.half_size = cn_vec3(1, 0.1, 0.1);
  box.pose.position.x = 1;
  CHECK_OK(cn_shape_create(w, arm, &box, &shape));
  toy_ball(w, 0.1, cn_vec3(1, 0.3, 0), no_material); // in the way
  toy_steps(w, 100);
  check_vec(toy_pose(w, arm).position, cn_vec3(0.1, 0, 0), 1e-13);
  check_vec(toy_twist(w, arm).spin, cn_vec3(0, 0, 1), 0);
  CnQuat q = toy_pose(w, arm).rotation;
  CHECK_NEAR(q.w, cni_cos(0.5), 1e-13);
  CHECK_NEAR(q.z, cni_sin(0.5), 1e-13);
  cn_world_destroy(w);
}

// Two weights on a massless-free rod hang at rest: the ground's joint carries both, the rod one.
static void test_joint_forces(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  def.time_step = 0.01;
  def.solver.max_iterations = 2000;
  CnWorld *w = toy_world_from(&def);
  CnBodyDef body = cn_body_def_default();
  body.mass = 2;
  body.inertia = cn_sdiag(1, 1, 1);
  body.pose.position.z = -1;
  CnBodyId upper, lower;
  CHECK_OK(cn_body_create(w, &body, &upper));
  body.mass = 3;
  body.pose.position.z = -3;
  CHECK_OK(cn_body_create(w, &body, &lower));
  CnJointDef d = cn_joint_def_default(CN_JOINT_BALL);
  CnJointId hook, rod;
  CnJointState at;
  d.body_a = upper;
  CHECK_OK(cn_joint_def_at(w, CN_VEC3_ZERO, &d));
  check_vec(d.frame_a.position, cn_vec3(0, 0, 1), 1e-15);
  CHECK_OK(cn_joint_create(w, &d, &hook));
  d = cn_joint_def_default(CN_JOINT_DISTANCE);
  d.body_a = upper;
  d.body_b = lower;
  CHECK_OK(cn_joint_create(w, &d, &rod));
  CHECK_OK(cn_joint_state(w, hook, &at));
  check_vec(at.force, CN_VEC3_ZERO, 0);
  toy_steps(w, 50);
  // on the ground (b) the hook pulls down with both weights
  CHECK_OK(cn_joint_state(w, hook, &at));
  check_vec(at.force, cn_vec3(0, 0, -5 * 9.81), 1e-6);
  CHECK_NEAR(at.error, 0, 1e-6);
  CHECK_OK(cn_joint_state(w, rod, &at));
  check_vec(at.force, cn_vec3(0, 0, 3 * 9.81), 1e-6);
  CHECK_NEAR(at.error, 0, 1e-6);
  // pull the lower weight half a metre down: the rod is too long by that
  CnPose pose = toy_pose(w, lower);
  pose.position.z -= 0.5;
  CHECK_OK(cn_body_set_pose(w, lower, &pose));
  CHECK_OK(cn_joint_state(w, rod, &at));
  CHECK_NEAR(at.error, 0.5, 1e-6);
  cn_world_destroy(w);
}

static void test_sums(void **state) {
  (void)state;
  CnWorld *w = toy_world(0.01);
  CnBodyId a = toy_ball(w, 0.1, cn_vec3(1, 0, 2), no_material);
  CnBodyId b = toy_ball(w, 0.2, cn_vec3(0, -3, 1), no_material);
  CnBodyDef def = cn_body_def_default();
  def.kind = CN_BODY_KINEMATIC;
  def.twist.velocity.x = 100; // counts for nothing
  CnBodyId belt;
  CHECK_OK(cn_body_create(w, &def, &belt));
  CnVec3 va = cn_vec3(1, 2, 3), vb = cn_vec3(-1, 0, 1), wa = cn_vec3(0, 0, 5);
  toy_set_twist(w, a, va, wa);
  toy_set_twist(w, b, vb, CN_VEC3_ZERO);
  double ma = 4 * CNI_PI / 3, mb = 8 * ma, ja = 0.4 * ma * 0.01;
  CnWorldSums s;
  cn_world_sums(w, &s);
  CHECK_REL(s.mass, ma + mb, 1e-14);
  CHECK_REL(s.kinetic_energy, 0.5 * ma * 14 + 0.5 * mb * 2 + 0.5 * ja * 25, 1e-14);
  CHECK_REL(s.potential_energy, 9.81 * (2 * ma + mb), 1e-14);
  check_vec(s.momentum, cn_madd(cn_scale(ma, va), mb, vb), 1e-12);
  CnVec3 l = cn_add(cn_scale(ma, cn_cross(cn_vec3(1, 0, 2), va)),
                    cn_scale(mb, cn_cross(cn_vec3(0, -3, 1), vb)));
  check_vec(s.angular_momentum, cn_madd(l, ja, wa), 1e-12);
  cn_world_destroy(w);
}

// A stray body keeps energy and momenta while nothing acts on it, whatever its inertia.
static void test_conservation(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  def.gravity = CN_VEC3_ZERO;
  CnWorld *w = toy_world_from(&def);
  CnBodyId box = toy_box(w, cn_vec3(0.1, 0.2, 0.4), CN_VEC3_ZERO, CN_QUAT_ONE);
  toy_set_twist(w, box, cn_vec3(1, 0, 0), cn_vec3(0.1, 5, 0.2));
  CnWorldSums before, after;
  cn_world_sums(w, &before);
  toy_steps(w, 1000);
  cn_world_sums(w, &after);
  CHECK_REL(after.kinetic_energy, before.kinetic_energy, 1e-4);
  CHECK_REL(cn_norm(after.angular_momentum), cn_norm(before.angular_momentum), 1e-2);
  check_vec(after.momentum, before.momentum, 1e-12);
  CHECK_NEAR(cn_qnorm2(toy_pose(w, box).rotation), 1, 1e-14);
  cn_world_destroy(w);
}

// Shapes and bodies that come and go between steps: the others do not notice.
static void test_changes_during_run(void **state) {
  (void)state;
  CnWorld *w = toy_world(0.01);
  CnBodyId kept = toy_ball(w, 0.1, cn_vec3(0, 0, 100), no_material);
  double v = 0;
  for (int n = 0; n < 60; n++) {
    CnBodyId guest = toy_ball(w, 0.1, cn_vec3(5, 0, 0), no_material);
    CnShapeDef extra = cn_shape_def_default(CN_SHAPE_SPHERE);
    CnShapeId shape;
    extra.radius = 0.05;
    extra.pose.position.x = 0.2;
    CHECK_OK(cn_shape_create(w, kept, &extra, &shape));
    toy_steps(w, 1);
    v -= 0.0981;
    CHECK_NEAR(toy_twist(w, kept).velocity.z, v, 1e-12);
    CHECK_OK(cn_shape_destroy(w, shape));
    CHECK_OK(cn_body_destroy(w, n % 2 ? guest : cn_world_next_body(w, kept)));
    CHECK_NEAR(toy_twist(w, kept).velocity.z, v, 1e-12);
  }
  CnWorldInfo info;
  cn_world_info(w, &info);
  CHECK(info.body_count == 1 && info.shape_count == 1);
  cn_world_destroy(w);
}

// An empty world has a clock and nothing else.
static void test_empty(void **state) {
  (void)state;
  CnWorld *w = toy_world(0.5);
  CnPenetration penetration;
  CnStepReport report;
  CHECK_OK(cn_world_step(w, &report));
  CHECK_NEAR(report.time, 0.5, 0);
  CHECK_OK(cn_world_penetration(w, &penetration));
  CHECK(penetration.overlap_count == 0);
  cn_world_destroy(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_free_fall),    cmocka_unit_test(test_off_centre),
      cmocka_unit_test(test_forces),       cmocka_unit_test(test_kinematic),
      cmocka_unit_test(test_joint_forces), cmocka_unit_test(test_sums),
      cmocka_unit_test(test_conservation), cmocka_unit_test(test_changes_during_run),
      cmocka_unit_test(test_empty),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
