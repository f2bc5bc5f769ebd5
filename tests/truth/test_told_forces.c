// SPDX-License-Identifier: Apache-2.0
// What hem5 and rkf45 tell of forces is that of the end of the step, whatever its length and however many
// steps it was made in: reactions of joints, efforts of motors and springs, contacts, by closed forms of
// the instant. With an impact in the step it is the impulse over the step.
#include "check.h"
#include "core/math.h"
#include "toys.h"

#include <math.h>

static const double G = 9.81;
static const char *const names[2] = {"hem5", "rkf45"};
static const double steps[3] = {.01, .05, .2};

static CnWorld *world_by(int k, double h, CnVec3 gravity) {
  CnWorldDef def = cn_world_def_default();
  def.integrator = names[k];
  def.time_step = h;
  def.integration.tolerance = 1e-11;
  def.gravity = gravity;
  return toy_world_from(&def);
}

static CnBodyId rod(CnWorld *world, CnVec3 centre) {
  CnBodyDef def = cn_body_def_default();
  CnBodyId id;
  def.mass = 2;
  def.inertia = cn_sdiag(.3, .3, .3);
  def.pose.position = centre;
  CHECK_OK(cn_body_create(world, &def, &id));
  return id;
}

static CnJointId hinge(CnWorld *world, CnBodyId body, CnJointDef def) {
  CnJointId id;
  def.body_b = body;
  CHECK_OK(cn_joint_def_along(world, CN_VEC3_ZERO, cn_vec3(0, 1, 0), &def));
  CHECK_OK(cn_joint_create(world, &def, &id));
  return id;
}

// A pendulum with J = .3 kg m2 and 2 kg at .8 m from its hinge, let go from the side: with r from the hinge to
// the centre and w its spin, the hinge gives m (dw x r - w^2 r - g).
static void pendulum(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 3; i++) {
      CnWorld *world = world_by(k, steps[i], cn_vec3(0, 0, -G));
      CnBodyId id = rod(world, cn_vec3(.8, 0, 0));
      CnJointId joint = hinge(world, id, cn_joint_def_default(CN_JOINT_REVOLUTE));
      for (int n = 0; n < 8; n++) {
        toy_steps(world, 1);
        CnVec3 r = toy_pose(world, id).position;
        double w = toy_twist(world, id).spin.y, turn = 2 * G * r.x / (.3 + 2 * .64);
        CnVec3 a = cn_madd(cn_cross(cn_vec3(0, turn, 0), r), -w * w, r);
        CnVec3 force = cn_scale(2, cn_sub(a, cn_vec3(0, 0, -G)));
        CnJointState told;
        CHECK_OK(cn_joint_state(world, joint, &told));
        CHECK(cn_norm(cn_sub(told.force, force)) < 1e-7);
      }
      cn_world_destroy(world);
    }
}

// A spring of 40 N m/rad about a hinge, and a motor that drives another body along a(t) = .5 sin 3 t.
static void efforts(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 3; i++) {
      CnWorld *world = world_by(k, steps[i], CN_VEC3_ZERO);
      CnBodyId a = rod(world, CN_VEC3_ZERO), b = rod(world, CN_VEC3_ZERO);
      CnFunctionDef wave = cn_function_def_default(CN_FUNCTION_SINE);
      CnFunctionId wave_id;
      wave.amplitude = .5;
      wave.frequency = 3 / (2 * CNI_PI);
      CHECK_OK(cn_function_create(world, &wave, &wave_id));
      CnJointDef spring = cn_joint_def_default(CN_JOINT_REVOLUTE), motor = spring;
      spring.axes[0].stiffness = 40;
      motor.axes[0].drive = CN_DRIVE_POSITION;
      motor.axes[0].motor_effort = INFINITY;
      motor.axes[0].motor_function = wave_id;
      CnJointId sprung = hinge(world, a, spring), driven = hinge(world, b, motor);
      toy_set_twist(world, a, CN_VEC3_ZERO, cn_vec3(0, 2, 0));
      toy_set_twist(world, b, CN_VEC3_ZERO, cn_vec3(0, 1.5, 0));
      for (int n = 1; n <= 8; n++) {
        toy_steps(world, 1);
        double t = n * steps[i], f = sqrt(40 / .3);
        CnJointState told;
        CHECK_OK(cn_joint_state(world, sprung, &told));
        CHECK_NEAR(told.spring[0], -40 * 2 / f * cni_sin(f * t), 1e-6);
        CHECK_OK(cn_joint_state(world, driven, &told));
        CHECK_NEAR(told.motor[0], -.3 * .5 * 9 * cni_sin(3 * t), 1e-7);
      }
      cn_world_destroy(world);
    }
}

// A ball slides without friction on a fixed one: with u from centre to centre, unit, it is pressed with
// m (g u_z - v^2/R).
static void contact(void **state) {
  (void)state;
  double R = 1.1;
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 2; i++) {
      CnWorld *world = world_by(k, steps[i], cn_vec3(0, 0, -G));
      CnMaterialId smooth = toy_material(world, 0, 0);
      CnBodyDef fixed = cn_body_def_default();
      CnShapeDef shape = cn_shape_def_default(CN_SHAPE_SPHERE);
      CnBodyId ground;
      CnShapeId shape_id;
      fixed.kind = CN_BODY_FIXED;
      shape.radius = 1;
      shape.material = smooth;
      CHECK_OK(cn_body_create(world, &fixed, &ground));
      CHECK_OK(cn_shape_create(world, ground, &shape, &shape_id));
      CnBodyId ball = toy_ball(world, .1, cn_vec3(0, 0, R), smooth);
      CnBodyInfo info;
      CHECK_OK(cn_body_info(world, ball, &info));
      toy_set_twist(world, ball, cn_vec3(1, 0, 0), CN_VEC3_ZERO);
      for (int n = 0; n < 4; n++) {
        toy_steps(world, 1);
        CnTwist v = toy_twist(world, ball);
        double up = toy_pose(world, ball).position.z / R;
        CnContact touch;
        CHECK_OK(cn_world_contact(world, 0, &touch));
        CHECK_REL(cn_norm(touch.force), info.mass * (G * up - cn_norm2(v.velocity) / R), 1e-8);
      }
      cn_world_destroy(world);
    }
}

// A ball that bounces within the step leaves m (1 + e) v there.
static void impact(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    CnWorld *world = world_by(k, .1, cn_vec3(0, 0, -G));
    CnMaterialId lively = toy_material(world, 0, .5);
    toy_floor(world);
    CnBodyId ball = toy_ball(world, .1, cn_vec3(0, 0, .2), lively);
    CnBodyInfo info;
    CHECK_OK(cn_body_info(world, ball, &info));
    toy_steps(world, 1);
    toy_steps(world, 1); // it meets the floor after .1428 s, and again .1428 s later
    double sum = 0;
    CnContact touch;
    for (int32_t i = 0; cn_world_contact(world, i, &touch) == CN_OK; i++)
      sum += cn_norm(touch.impulse);
    CHECK_REL(sum, info.mass * 1.5 * sqrt(2 * G * .1), 1e-9);
    cn_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(pendulum), cmocka_unit_test(efforts),
                                     cmocka_unit_test(contact), cmocka_unit_test(impact)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
