// SPDX-License-Identifier: Apache-2.0
// Figures of docs/theory/limits.md that no other test holds: how much a rocking block loses inside the
// contact slop, and what fixed steps make of a stiff servo.
#include "check.h"
#include "core/math.h"
#include "toys.h"

#include <cairn/verdict.h>
#include <math.h>

static const double G = 9.81;

// Spin after the first impact of Housner's block, half sizes .1 and .3 m, let go at .1 rad: as if it were
// upright, of that before it. The truth is 1 - 3/2 sin^2 a, tan a = 1/3.
static double housner(double h, double slop) {
  double b = .1, half = .3, r2 = b * b + half * half, tilt = .1;
  double s = cni_sin(tilt), c = cni_cos(tilt), high = b * s + half * c, spin = 0;
  CnWorldDef def = cn_world_def_default();
  def.time_step = h;
  def.solver = cn_solver_def_default("auto");
  def.solver.tolerance = 1e-12;
  if (slop > 0) def.contact_slop = slop;
  CnWorld *world = toy_world_from(&def);
  CnMaterialId rough = toy_material(world, 2, 0);
  CnBodyDef ground = cn_body_def_default(), block = ground;
  CnShapeDef plane = cn_shape_def_default(CN_SHAPE_PLANE), box = cn_shape_def_default(CN_SHAPE_BOX);
  CnBodyId id, floor;
  CnShapeId shape;
  ground.kind = CN_BODY_FIXED;
  plane.material = box.material = rough;
  CHECK_OK(cn_body_create(world, &ground, &floor));
  CHECK_OK(cn_shape_create(world, floor, &plane, &shape));
  block.pose = (CnPose){cn_vec3(b - b * c + half * s, 0, high), cni_quat_exp(cn_vec3(0, tilt, 0))};
  box.half_size = cn_vec3(b, .2, half);
  CHECK_OK(cn_body_create(world, &block, &id));
  CHECK_OK(cn_shape_create(world, id, &box, &shape));
  double angle = tilt, work = 2 * G / (4.0 / 3 * r2);
  for (int i = 0; i < (int)(1 / h) && angle > -.02; i++) {
    toy_steps(world, 1);
    angle = 2 * toy_pose(world, id).rotation.y;
    spin = toy_twist(world, id).spin.y;
  }
  double fallen = toy_pose(world, id).position.z - half;
  cn_world_destroy(world);
  return sqrt(spin * spin + work * fallen) / sqrt(work * (high - half));
}

static void rocking_block(void **state) {
  (void)state;
  double truth = 1 - 1.5 * .1; // sin^2 a = 1/10
  double coarse = housner(.0005, 0) / truth - 1, fine = housner(.000125, 1e-7) / truth - 1;
  CHECK(coarse < -.004 && coarse > -.015);
  CHECK(fabs(fine) < .001);
}

// A servo of 20 kN/m and 200 N s/m that gives at most 30 N moves .3 kg along a smooth step.
static CnVerdict servo(double tolerance) {
  CnWorldDef def = cn_world_def_default();
  def.integrator = "hem5";
  def.time_step = .01;
  def.integration.tolerance = tolerance;
  if (!(tolerance > 0)) def.integration.step = .01;
  def.gravity = CN_VEC3_ZERO;
  def.balance = 1;
  CnWorld *world = toy_world_from(&def);
  CnFunctionDef way = cn_function_def_default(CN_FUNCTION_SMOOTH_STEP);
  CnFunctionId way_id;
  way.final = .06;
  way.end = .8;
  CHECK_OK(cn_function_create(world, &way, &way_id));
  CnBodyDef body = cn_body_def_default();
  CnJointDef joint = cn_joint_def_default(CN_JOINT_PRISMATIC);
  CnJointId joint_id;
  body.mass = .3;
  body.inertia = cn_sdiag(.001, .001, .001);
  CHECK_OK(cn_body_create(world, &body, &joint.body_b));
  joint.axes[0].drive = CN_DRIVE_POSITION;
  joint.axes[0].motor_function = way_id;
  joint.axes[0].motor_stiffness = 20000;
  joint.axes[0].motor_damping = 200;
  joint.axes[0].motor_effort = 30;
  CHECK_OK(cn_joint_def_along(world, CN_VEC3_ZERO, cn_vec3(1, 0, 0), &joint));
  CHECK_OK(cn_joint_create(world, &joint, &joint_id));
  toy_steps(world, 100);
  CnVerdict verdict;
  CHECK_OK(cn_world_verdict(world, &verdict));
  cn_world_destroy(world);
  return verdict;
}

static void stiff_servo(void **state) {
  (void)state;
  CHECK(!servo(0).trusted);
  CHECK(servo(1e-9).trusted);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(rocking_block),
                                     cmocka_unit_test(stiff_servo)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
