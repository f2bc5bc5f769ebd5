// SPDX-License-Identifier: Apache-2.0
// Kinematic bodies that follow functions of time, and the forces torsion, bushing and attraction, by
// closed forms.
#include "check.h"
#include "core/math.h"
#include "toys.h"

#include <stdlib.h>
#include <string.h>

static const double G = 9.81;

static CnBodyId table(CnWorld *w, CnVec3 at) {
  CnBodyDef def = cn_body_def_default();
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_BOX);
  CnBodyId body;
  CnShapeId id;
  def.kind = CN_BODY_KINEMATIC;
  def.pose.position = at;
  CHECK_OK(cn_body_create(w, &def, &body));
  shape.half_size = cn_vec3(0.5, 0.5, 0.1);
  CHECK_OK(cn_shape_create(w, body, &shape, &id));
  return body;
}

static CnFunctionId sine(CnWorld *w, double amplitude, double frequency, double phase) {
  CnFunctionDef def = cn_function_def_default(CN_FUNCTION_SINE);
  CnFunctionId id;
  def.amplitude = amplitude;
  def.frequency = frequency;
  def.phase = phase;
  CHECK_OK(cn_function_create(w, &def, &id));
  return id;
}

static double force_on(const CnWorld *w, CnBodyId body) {
  CnContact contact;
  double sum = 0;
  for (int32_t i = 0; cn_world_contact(w, i, &contact) == CN_OK; i++) sum += contact.force.z;
  (void)body;
  return fabs(sum);
}

// A ball on a shaker: z = a sin(w t), carried with m (g + z''), as long as that is a push.
static void shaker(void **state) {
  (void)state;
  CnWorld *w = toy_world(1e-3);
  CnBodyId ground = table(w, cn_vec3(0, 0, -0.1));
  CnBodyId ball = toy_ball(w, 0.1, cn_vec3(0, 0, 0.1), (CnMaterialId){0, 0});
  double m = 1000 * 4 * CNI_PI / 3 * 0.001, a = 0.01, f = 2, omega = 2 * CNI_PI * f;
  CnMotionDef motion = cn_motion_def_default();
  motion.z = sine(w, a, f, CNI_PI / 2); // counted from its top: starts at rest
  CHECK_OK(cn_body_set_motion(w, ground, &motion));
  for (int i = 1; i <= 1000; i++) {
    double t = i * 1e-3, back = -omega * omega * a * cni_cos(omega * (t - 0.5e-3));
    toy_steps(w, 1);
    CHECK_NEAR(toy_pose(w, ground).position.z, -0.1 + a * (cni_cos(omega * t) - 1), 1e-14);
    CHECK_NEAR(toy_pose(w, ball).position.z - toy_pose(w, ground).position.z, 0.2, 2e-5);
    if (i > 20) CHECK_NEAR(force_on(w, ball), m * (G + back), 0.05);
  }
  CHECK_STATUS(cn_function_destroy(w, motion.z), CN_INVALID_ARGUMENT);
  CHECK_OK(cn_body_set_motion(w, ground, NULL));
  CHECK_OK(cn_function_destroy(w, motion.z));
  motion = cn_motion_def_default();
  CHECK_STATUS(cn_body_set_motion(w, ball, &motion), CN_INVALID_ARGUMENT);
  CHECK(strstr(cn_error_message(), "kinematic") != NULL);
  cn_world_destroy(w);
}

// Largest error of the force on a block that rides a table which shakes along `axis`, against m (g + a)
// or m a at the beginning of each step; the block sticks.
static double ride(double h, int axis) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = h;
  def.solver = cn_solver_def_default("auto");
  def.solver.effort = CN_EFFORT_EXACT;
  def.solver.tolerance = 1e-12;
  CnWorld *w = toy_world_from(&def);
  CnBodyId ground = table(w, cn_vec3(0, 0, -0.1));
  CnBodyId box = toy_box(w, cn_vec3(0.1, 0.1, 0.05), cn_vec3(0, 0, 0.05), CN_QUAT_ONE);
  double m = 1000 * 8 * 0.1 * 0.1 * 0.05, a = 0.005, f = 3, omega = 2 * CNI_PI * f, worst = 0;
  CnMotionDef motion = cn_motion_def_default();
  CnFunctionId shakes = sine(w, a, f, CNI_PI / 2); // starts at rest
  *(axis == 2 ? &motion.z : &motion.x) = shakes;
  CHECK_OK(cn_body_set_motion(w, ground, &motion));
  for (int i = 0; i < (int)(0.5 / h + 0.5); i++) {
    CnContact contact;
    CnVec3 sum = CN_VEC3_ZERO;
    toy_steps(w, 1);
    for (int32_t k = 0; cn_world_contact(w, k, &contact) == CN_OK; k++)
      sum = cn_add(sum, contact.force);
    double back = -omega * omega * a * cni_cos(omega * i * h);
    CnVec3 wanted = {axis == 2 ? 0 : m * back, 0, m * (G + (axis == 2 ? back : 0))};
    if (sum.z < 0) sum = cn_neg(sum); // on the one that is named second
    if (i > 1) worst = cn_max(worst, cn_norm(cn_sub(sum, wanted)));
  }
  CHECK_NEAR(toy_pose(w, box).position.x, toy_pose(w, ground).position.x, 1e-6);
  cn_world_destroy(w);
  return worst;
}

static void lift_forces(void **state) {
  (void)state;
  for (int axis = 0; axis < 3; axis += 2) {
    double coarse = ride(0.004, axis), middle = ride(0.002, axis), fine = ride(0.001, axis);
    CHECK(coarse < 4.6 * middle && coarse > 3.4 * middle);
    CHECK(middle < 4.6 * fine && middle > 3.4 * fine);
  }
}

// A turntable goes round by a ramp and lands where it should, saved and restored on the way.
static void turntable(void **state) {
  (void)state;
  CnWorld *w = toy_world(1e-2), *copy = toy_world(1e-3);
  CnBodyId body = table(w, cn_vec3(1, 2, 3));
  CnFunctionDef ramp = cn_function_def_default(CN_FUNCTION_RAMP);
  CnMotionDef motion = cn_motion_def_default();
  ramp.rate = 2;
  ramp.value = 5;
  CHECK_OK(cn_function_create(w, &ramp, &motion.turn));
  motion.x = sine(w, 0.3, 1, 0);
  motion.axis = cn_vec3(0, 3, 0);
  CHECK_OK(cn_body_set_motion(w, body, &motion));
  toy_steps(w, 100);
  size_t size;
  CHECK_OK(cn_world_save(w, NULL, 0, &size));
  char *data = malloc(size);
  CHECK_OK(cn_world_save(w, data, size, &size));
  CHECK_OK(cn_world_restore(copy, data, size));
  toy_steps(w, 160);
  toy_steps(copy, 160);
  CHECK(cn_world_hash(w) == cn_world_hash(copy));
  CnPose at = toy_pose(copy, body);
  CnQuat wanted = cni_quat_exp(cn_vec3(0, 2 * 2.6, 0));
  CHECK_NEAR(fabs(at.rotation.w * wanted.w + at.rotation.y * wanted.y), 1, 1e-13);
  CHECK_NEAR(at.position.x, 1 + 0.3 * cni_sin(2 * CNI_PI * 2.6), 1e-12);
  CHECK_NEAR(at.position.z, 3, 1e-14);
  CHECK_NEAR(toy_twist(copy, body).spin.y, 2, 1e-9);
  CHECK_OK(cn_body_destroy(w, body));
  toy_steps(w, 1);
  free(data);
  cn_world_destroy(copy);
  cn_world_destroy(w);
}

// ---- forces ----

static CnWorld *exact(double h) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = h;
  def.integrator = "hem5";
  def.integration.tolerance = 1e-11;
  return toy_world_from(&def);
}

// A ball turned against a torsion spring: phi = phi_0 cos(sqrt(k/J) t).
static void torsion(void **state) {
  (void)state;
  CnWorld *w = exact(1e-2);
  CHECK_OK(cn_world_set_gravity(w, CN_VEC3_ZERO));
  CnBodyId ball = toy_ball(w, 0.1, CN_VEC3_ZERO, (CnMaterialId){0, 0});
  double m = 1000 * 4 * CNI_PI / 3 * 0.001, j = 0.4 * m * 0.01;
  CnForceDef def = cn_force_def_default(CN_FORCE_TORSION);
  CnForceId id;
  def.body_b = ball;
  def.torsion_stiffness = 2;
  def.rest_angle = 0.5;
  CHECK_OK(cn_force_create(w, &def, &id));
  toy_steps(w, 100);
  CnPose at = toy_pose(w, ball);
  double phi = 2 * cni_atan2(at.rotation.z, at.rotation.w);
  CHECK_NEAR(phi, 0.5 - 0.5 * cni_cos(sqrt(2 / j)), 1e-8);
  cn_world_destroy(w);
}

// Hangs in a bushing: m g/k along, torque over stiffness about; the same by impulse and hem5.
static void bushing(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    CnWorld *w = k ? exact(1e-2) : toy_world(1e-3);
    CnBodyId box = toy_box(w, cn_vec3(0.05, 0.05, 0.05), CN_VEC3_ZERO, CN_QUAT_ONE);
    CnForceDef def = cn_force_def_default(CN_FORCE_BUSHING), twist;
    CnForceId id, load;
    def.body_b = box;
    def.linear_stiffness = cn_vec3(100, 200, 400);
    def.linear_damping = cn_vec3(30, 30, 30);
    def.angular_stiffness = cn_vec3(1, 2, 3);
    def.angular_damping = cn_vec3(0.05, 0.05, 0.05);
    CHECK_OK(cn_force_create(w, &def, &id));
    twist = cn_force_def_default(CN_FORCE_CONSTANT);
    twist.body_b = box;
    twist.torque = cn_vec3(0, 0.4, 0);
    CHECK_OK(cn_force_create(w, &twist, &load));
    toy_steps(w, k ? 600 : 6000);
    CnPose at = toy_pose(w, box);
    CHECK_NEAR(at.position.z, -G / 400, 1e-8);
    CHECK_NEAR(2 * cni_atan2(at.rotation.y, at.rotation.w), 0.2, 1e-8);
    CnForceState s;
    CHECK_OK(cn_force_state(w, id, &s));
    CHECK_NEAR(s.force.z, G, 1e-6);
    CHECK_NEAR(s.torque.y, -0.4, 1e-6);
    CHECK_NEAR(s.energy, 0.5 * G * G / 400 + 0.5 * 2 * 0.04, 1e-7);
    cn_world_destroy(w);
  }
}

// A circle about the origin: after one turn of 2 pi sqrt(m r^3/strength) back where it was.
static void attraction(void **state) {
  (void)state;
  double m = 1000 * 4 * CNI_PI / 3 * 0.001, period = 2 * CNI_PI * sqrt(m);
  CnWorld *w = exact(period / 100);
  CHECK_OK(cn_world_set_gravity(w, CN_VEC3_ZERO));
  CnBodyId ball = toy_ball(w, 0.1, cn_vec3(1, 0, 0), (CnMaterialId){0, 0});
  toy_set_twist(w, ball, cn_vec3(0, sqrt(1 / m), 0), CN_VEC3_ZERO);
  CnForceDef def = cn_force_def_default(CN_FORCE_ATTRACTION);
  CnForceId id;
  def.body_b = ball;
  def.strength = 1;
  CHECK_OK(cn_force_create(w, &def, &id));
  toy_steps(w, 100);
  CHECK_NEAR(toy_pose(w, ball).position.x, 1, 1e-8);
  CHECK_NEAR(toy_pose(w, ball).position.y, 0, 1e-8);
  cn_world_destroy(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(shaker),    cmocka_unit_test(lift_forces),
                                     cmocka_unit_test(turntable), cmocka_unit_test(torsion),
                                     cmocka_unit_test(bushing),   cmocka_unit_test(attraction)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
