// SPDX-License-Identifier: Apache-2.0
// Inverse dynamics by closed forms: slider-crank, two-link arm, pendulum with armature, gears.
#include "check.h"

#include <cairn/mechanism.h>

#include "core/math.h"
#include "toys.h"
#include "worlds.h"

static const double G = 9.81;
static const CnVec3 Y = {0, 1, 0}, MINUS_Y = {0, -1, 0};
static const CnBodyId GROUND = {0, 0};

// Torque of the crank at 10 rad/s, started stretched out; the truth is the derivative of the reduced
// inertia.
static void slider_crank(void **state) {
  (void)state;
  const double degrees[4] = {30, 60, 90, 135};
  const double truth[4] = {2.56393227982, 1.61475243491, -1.03279555899, -1.79777635877};
  CnWorldDef settings = cn_world_def_default();
  settings.gravity = CN_VEC3_ZERO;
  CnWorld *w = toy_world_from(&settings);
  CnFunctionDef ramp = cn_function_def_default(CN_FUNCTION_RAMP);
  CnFunctionId function;
  ramp.rate = 10;
  ramp.end = 1e3;
  CHECK_OK(cn_function_create(w, &ramp, &function));
  CnJointAxis drive = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
  drive.drive = CN_DRIVE_POSITION;
  drive.motor_effort = INFINITY;
  drive.motor_function = function;
  CnBodyId crank = world_part(w, 1, 0.01 / 12, cn_vec3(0.05, 0, 0), 0);
  CnBodyId rod = world_part(w, 2, 2 * 0.16 / 12, cn_vec3(0.3, 0, 0), 0);
  CnBodyId slider = world_part(w, 3, 1, cn_vec3(0.5, 0, 0), 0);
  CnJointId motor = world_join(w, CN_JOINT_REVOLUTE, GROUND, crank, CN_VEC3_ZERO, MINUS_Y, &drive);
  world_join(w, CN_JOINT_REVOLUTE, crank, rod, cn_vec3(0.1, 0, 0), Y, NULL);
  world_join(w, CN_JOINT_REVOLUTE, rod, slider, cn_vec3(0.5, 0, 0), Y, NULL);
  CnJointId guide =
      world_join(w, CN_JOINT_PRISMATIC, GROUND, slider, cn_vec3(0.5, 0, 0), cn_vec3(1, 0, 0), NULL);
  for (int turns = 0; turns < 3; turns += 2)
    for (int i = 0; i < 4; i++) {
      CnInverse inverse;
      CnJointState at;
      double angle = (degrees[i] / 180 + 2 * turns) * CNI_PI;
      CHECK_OK(cn_world_inverse(w, angle / 10, NULL, 0, &inverse));
      CHECK(inverse.freedoms == 0);
      CHECK_OK(cn_joint_state(w, motor, &at));
      CHECK_NEAR(at.motor[0], truth[i], 2e-11);
      CHECK_NEAR(at.coordinate[0], angle, 1e-12);
      CHECK_NEAR(inverse.power, 10 * truth[i], 1e-9);
      CHECK_OK(cn_joint_state(w, guide, &at));
      double s = 0.1 * cni_cos(angle) + sqrt(0.16 - 0.01 * cni_sin(angle) * cni_sin(angle));
      CHECK_NEAR(at.coordinate[0] + 0.5, s, 1e-12);
    }
  cn_world_destroy(w);
}

// An arm of two rods (1 m, 1 kg; angles from hanging) with given angles, rates and accelerations:
// Lagrange's equations.
static void two_links(void **state) {
  (void)state;
  CnWorld *w = toy_world(1e-3);
  CnBodyId a = world_part(w, 1, 1.0 / 12, cn_vec3(0, 0, -0.5), 0);
  CnBodyId b = world_part(w, 1, 1.0 / 12, cn_vec3(0, 0, -1.5), 0);
  CnJointId j1 = world_join(w, CN_JOINT_REVOLUTE, GROUND, a, CN_VEC3_ZERO, MINUS_Y, NULL);
  CnJointId j2 = world_join(w, CN_JOINT_REVOLUTE, a, b, cn_vec3(0, 0, -1), MINUS_Y, NULL);
  double q1 = 0.8, q2 = -2.1, u1 = 1.7, u2 = 3.1, a1 = -4, a2 = 9;
  CnDriveMotion motions[2] = {{j1, 0, q1, u1, a1, 0}, {j2, 0, q2, u2, a2, 0}};
  CnInverse inverse;
  CHECK_OK(cn_world_inverse(w, 0, motions, 2, &inverse));
  double c = cni_cos(q2), s = cni_sin(q2);
  double t1 = (5.0 / 3 + c) * a1 + (1.0 / 3 + c / 2) * a2 - s * (u1 * u2 + u2 * u2 / 2) +
              1.5 * G * cni_sin(q1) + 0.5 * G * cni_sin(q1 + q2);
  double t2 = (1.0 / 3 + c / 2) * a1 + a2 / 3 + s * u1 * u1 / 2 + 0.5 * G * cni_sin(q1 + q2);
  CHECK_NEAR(motions[0].effort, t1, 1e-10);
  CHECK_NEAR(motions[1].effort, t2, 1e-10);
  CHECK_NEAR(inverse.power, t1 * u1 + t2 * u2, 1e-9);
  // only the first is prescribed: the second swings
  motions[0].acceleration = 0;
  motions[0].rate = 0;
  CnJointState at;
  CHECK_OK(cn_body_set_twist(w, a, &(CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO}));
  CHECK_OK(cn_body_set_twist(w, b, &(CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO}));
  CHECK_OK(cn_world_inverse(w, 0, motions, 1, &inverse));
  CHECK(inverse.freedoms == 1);
  a2 = -1.5 * G * cni_sin(q1 + q2);
  CHECK_NEAR(motions[0].effort,
             (1.0 / 3 + c / 2) * a2 + 1.5 * G * cni_sin(q1) + 0.5 * G * cni_sin(q1 + q2), 1e-10);
  CHECK_OK(cn_joint_state(w, j2, &at));
  CHECK_NEAR(at.motor[0], 0, 0);
  motions[0].coordinate = 1;
  CHECK_STATUS(cn_world_inverse(w, 0, motions, 1, &inverse), CN_INVALID_ARGUMENT);
  cn_world_destroy(w);
}

// A drum with an armature on a gear: torque (J1 + A + r^2 J2) alpha on the first shaft; the coupling
// tells what the teeth carry.
static void gears(void **state) {
  (void)state;
  CnWorld *w = toy_world(1e-3);
  CnJointAxis axis = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
  axis.armature = 0.003;
  CnJointId j1 = world_join(w, CN_JOINT_REVOLUTE, GROUND, world_part(w, 1, 0.02, CN_VEC3_ZERO, 0),
                            CN_VEC3_ZERO, Y, &axis);
  CnJointId j2 = world_join(w, CN_JOINT_REVOLUTE, GROUND,
                            world_part(w, 1, 0.5, cn_vec3(1, 0, 0), 0), cn_vec3(1, 0, 0), Y, NULL);
  CnCouplingDef gear = cn_coupling_def_default();
  CnCouplingId coupling;
  gear.term_count = 2;
  gear.terms[0] = (CnCouplingTerm){j1, 0, 1};
  gear.terms[1] = (CnCouplingTerm){j2, 0, 5};
  CHECK_OK(cn_coupling_create(w, &gear, &coupling));
  CnDriveMotion motion = {j1, 0, 40, 3, 50, 0};
  CnInverse inverse;
  CnJointState at;
  CnCouplingState teeth;
  CHECK_OK(cn_world_inverse(w, 0, &motion, 1, &inverse));
  CHECK_NEAR(motion.effort, (0.02 + 0.003 + 0.5 / 25) * 50, 1e-12);
  CHECK_OK(cn_joint_state(w, j2, &at));
  CHECK_NEAR(at.coordinate[0], -8, 1e-12);
  CHECK_OK(cn_joint_state(w, j1, &at));
  CHECK_NEAR(at.armature[0], -0.003 * 50, 1e-12);
  CHECK_OK(cn_coupling_state(w, coupling, &teeth));
  CHECK_NEAR(teeth.effort * 5, 0.5 * -10, 1e-12);
  // two motions that contradict the gear are refused, and nothing has changed
  CnDriveMotion both[2] = {{j1, 0, 1, 0, 0, 0}, {j2, 0, 1, 0, 0, 0}};
  uint64_t hash = cn_world_hash(w);
  CHECK_STATUS(cn_world_inverse(w, 0, both, 2, &inverse), CN_STOPPED);
  CHECK(cn_world_hash(w) == hash);
  cn_world_destroy(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(slider_crank), cmocka_unit_test(two_links),
                                     cmocka_unit_test(gears)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
