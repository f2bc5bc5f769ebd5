// SPDX-License-Identifier: Apache-2.0
// Drives, limits, friction and armatures on the coordinates of joints, by closed forms.
#include "check.h"
#include "core/math.h"
#include "toys.h"

#include <stdlib.h>

static const double G = 9.81;

typedef struct Rod {
  CnWorld *world;
  CnBodyId body;
  CnJointId joint;
  CnJointDef def;
} Rod;

static CnWorld *exact_world(const char *integrator, double h) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = h;
  def.integrator = integrator;
  def.integration.tolerance = 1e-11;
  def.integration.project_start = 1;
  def.solver.max_iterations = 20000;
  def.solver.tolerance = 1e-14;
  return toy_world_from(&def);
}

// A body of mass m and inertia j about its centre, which lies where it is put.
static CnBodyId part(CnWorld *world, double m, double j, CnVec3 centre, double angle) {
  CnBodyDef def = cn_body_def_default();
  CnBodyId body;
  def.mass = m;
  def.inertia = (CnSym3){.xx = j, .yy = j, .zz = j};
  def.pose.position = centre;
  def.pose.rotation = cni_quat_exp(cn_vec3(0, angle, 0));
  CHECK_OK(cn_body_create(world, &def, &body));
  return body;
}

// A slender rod of 1 kg and 1 m on a hinge at the origin that turns about -y: hanging down at the
// angle 0, along +x at a right angle.
static Rod rod(const char *integrator, double h, double angle, const CnJointAxis *axis) {
  Rod r = {.world = exact_world(integrator, h)};
  r.body =
      part(r.world, 1, 1.0 / 12, cn_vec3(0.5 * cni_sin(angle), 0, -0.5 * cni_cos(angle)), -angle);
  r.def = cn_joint_def_default(CN_JOINT_REVOLUTE);
  r.def.body_b = r.body;
  if (axis) r.def.axes[0] = *axis;
  CnQuat along = cni_quat_exp(cn_vec3(CNI_PI / 2, 0, 0)); // z to -y
  r.def.frame_a = (CnPose){CN_VEC3_ZERO, along};
  r.def.frame_b = (CnPose){cn_vec3(0, 0, 0.5), along};
  return r;
}

static void make(Rod *r) { CHECK_OK(cn_joint_create(r->world, &r->def, &r->joint)); }

static CnJointState state_of(const Rod *r) {
  CnJointState state;
  CHECK_OK(cn_joint_state(r->world, r->joint, &state));
  return state;
}

static CnJointAxis free_axis(void) { return cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0]; }

// ---- prescribed motions ----

static double torque_at(double t) {
  double th = 0.5 * cni_sin(3 * t), bend = -4.5 * cni_sin(3 * t);
  return bend / 3 + 0.5 * G * cni_sin(th);
}

// th = sin(3 t)/2: the torque is th''/3 + (g/2) sin th.
static void prescribed(void **state) {
  (void)state;
  CHECK_NEAR(torque_at(0.2), 0.519499340641, 1e-12);
  CHECK_NEAR(torque_at(0.5), 0.849946475538, 1e-12);
  CnFunctionDef sine = cn_function_def_default(CN_FUNCTION_SINE);
  sine.amplitude = 0.5;
  sine.frequency = 3 / (2 * CNI_PI);
  CnJointAxis axis = free_axis();
  axis.drive = CN_DRIVE_POSITION;
  axis.motor_effort = INFINITY;
  const char *const by[] = {"hem5", "rkf45", "impulse"};
  for (int k = 0; k < 3; k++) {
    double h = 1e-3;
    int exact = k < 2;
    Rod r = rod(by[k], h, 0, &axis);
    CHECK_OK(cn_function_create(r.world, &sine, &r.def.axes[0].motor_function));
    make(&r);
    toy_set_twist(r.world, r.body, cn_vec3(0.75, 0, 0), cn_vec3(0, -1.5, 0));
    for (int i = 1; i <= 500; i++) {
      toy_steps(r.world, 1);
      CnJointState s = state_of(&r);
      double t = i * h;
      CHECK_NEAR(s.coordinate[0], 0.5 * cni_sin(3 * t), exact ? 1e-10 : 1e-6);
      // a mean over the step, or what it is at its end
      if (i > 1) CHECK_NEAR(s.motor[0], torque_at(exact ? t : t - h / 2), exact ? 1e-8 : 1e-2);
    }
    cn_world_destroy(r.world);
  }
}

// Constant speed: (g/2) sin th, by a limited motor that has enough; too weak, it stalls where its
// torque is that of gravity.
static void speed_and_stall(void **state) {
  (void)state;
  CnJointAxis axis = free_axis();
  axis.motor_speed = 2;
  axis.motor_effort = 10;
  Rod r = rod("impulse", 1e-3, 0, &axis);
  make(&r);
  toy_set_twist(r.world, r.body, cn_vec3(1, 0, 0), cn_vec3(0, -2, 0));
  for (int i = 0; i < 1000; i++) {
    toy_steps(r.world, 1);
    CnJointState s = state_of(&r);
    CHECK_NEAR(s.rate[0], 2, 1e-9);
    CHECK_NEAR(s.motor[0], 0.5 * G * cni_sin(s.coordinate[0] - 2e-3), 2e-2);
  }
  cn_world_destroy(r.world);

  axis.motor_effort = 3;
  axis.motor_speed = 0.2;
  axis.damping = 2;
  r = rod("impulse", 1e-3, 0, &axis);
  make(&r);
  toy_steps(r.world, 12000); // 24 of its time constants
  CHECK_NEAR(state_of(&r).coordinate[0] * 180 / CNI_PI, 37.7067894938, 1e-6);
  CHECK_NEAR(state_of(&r).motor[0], 3, 1e-9);
  cn_world_destroy(r.world);
}

// A servo holds the rod against gravity with k (target - th) = (g/2) sin th, however stiff; an
// effort of its own does the same, and so by hem5.
static void servo_and_effort(void **state) {
  (void)state;
  const char *const by[] = {"impulse", "hem5"};
  for (int k = 0; k < 2; k++) {
    CnJointAxis axis = free_axis();
    axis.drive = CN_DRIVE_POSITION;
    axis.motor_effort = 50;
    axis.motor_position = 0.7;
    axis.motor_stiffness = 40;
    axis.motor_damping = 8;
    Rod r = rod(by[k], 1e-2, 0, &axis);
    make(&r);
    toy_steps(r.world, 1500);
    double th = state_of(&r).coordinate[0];
    CHECK_NEAR(40 * (0.7 - th), 0.5 * G * cni_sin(th), 1e-8);
    cn_world_destroy(r.world);

    axis = free_axis();
    axis.drive = CN_DRIVE_EFFORT;
    axis.motor_effort = 0.5 * G * cni_sin(0.4);
    axis.damping = 2;
    r = rod(by[k], 1e-2, 0, &axis);
    make(&r);
    toy_steps(r.world, 3000);
    CHECK_NEAR(state_of(&r).coordinate[0], 0.4, 1e-7);
    if (k == 0) CHECK_NEAR(state_of(&r).motor[0], axis.motor_effort, 1e-12);
    cn_world_destroy(r.world);
  }
}

// ---- limits ----

// Released along +x: meets the stop in the vertical with sqrt(3 g), leaves with half of it, comes
// back after a swing; first order in h.
static void stop_with_restitution(void **state) {
  (void)state;
  double late[2];
  for (int k = 0; k < 2; k++) {
    double h = k ? 2.5e-4 : 5e-4, last = 0, top = 0;
    int impacts = 0;
    CnJointAxis axis = free_axis();
    axis.lower = 0;
    axis.restitution = 0.5;
    Rod r = rod("impulse", h, CNI_PI / 2, &axis);
    make(&r);
    for (int i = 1; impacts < 2; i++) {
      toy_steps(r.world, 1);
      CnJointState s = state_of(&r);
      if (last < -0.1 && s.rate[0] > 0) {
        impacts++;
        if (impacts == 1) CHECK_NEAR(s.rate[0], 2.712471198, 6 * h);
        late[k] = i * h - 1.32987227193;
      }
      if (impacts == 1) top = cn_max(top, s.coordinate[0]);
      CHECK(s.coordinate[0] > -1e-12);
      last = s.rate[0];
    }
    CHECK_NEAR(top * 180 / CNI_PI, 41.4096221093, 100 * h);
    cn_world_destroy(r.world);
  }
  CHECK(fabs(late[0]) < 6e-3 && fabs(late[1]) < 3e-3);
}

// Pressed against a stop at 30 degrees: the stop carries (g/2) sin 30; a soft one gives way by that
// over its stiffness.
static void stop_at_rest(void **state) {
  (void)state;
  for (int soft = 0; soft < 2; soft++) {
    CnJointAxis axis = free_axis();
    axis.lower = CNI_PI / 6;
    axis.restitution = soft ? 0 : 0.5;
    axis.limit_stiffness = soft ? 1000 : 0;
    axis.limit_damping = soft ? 20 : 0;
    Rod r = rod("impulse", 1e-3, CNI_PI / 6, &axis);
    make(&r);
    toy_steps(r.world, 10000);
    CnJointState s = state_of(&r);
    CHECK_NEAR(s.limit[0], 0.5 * G * cni_sin(s.coordinate[0]), 1e-8);
    if (soft) CHECK_NEAR(s.coordinate[0], CNI_PI / 6 - s.limit[0] / 1000, 1e-9);
    if (!soft) CHECK_NEAR(s.limit[0], 2.4525, 1e-8);
    if (!soft) CHECK_NEAR(s.coordinate[0], CNI_PI / 6, 1e-10);
    cn_world_destroy(r.world);
  }
}

// ---- friction and armature ----

// A rotor of 0.1 kg m2 at 20 rad/s, braked by 0.5 N m: stands still after 4 s and 40 rad. The same
// torque from the bearing's load: mu r m g.
static void bearing(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    double h = 1e-3;
    CnJointAxis axis = free_axis();
    Rod r = {.world = exact_world("impulse", h)};
    r.body = part(r.world, 2, 0.1, CN_VEC3_ZERO, 0);
    r.def = cn_joint_def_default(CN_JOINT_REVOLUTE);
    r.def.body_b = r.body;
    axis.friction = k ? 0 : 0.5;
    axis.friction_coefficient = k ? 0.5 / (2 * G * 0.03) : 0;
    axis.friction_radius = k ? 0.03 : 0;
    r.def.axes[0] = axis;
    CHECK_OK(cn_joint_def_along(r.world, CN_VEC3_ZERO, cn_vec3(0, 1, 0), &r.def));
    make(&r);
    toy_set_twist(r.world, r.body, CN_VEC3_ZERO, cn_vec3(0, 20, 0));
    toy_steps(r.world, 2000);
    CHECK_NEAR(state_of(&r).rate[0], 10, 1e-6);
    CHECK_NEAR(state_of(&r).friction[0], -0.5, 1e-6);
    toy_steps(r.world, 2100);
    CHECK_NEAR(state_of(&r).rate[0], 0, 1e-12);
    CHECK_NEAR(state_of(&r).coordinate[0], 40, 40 * h);
    double angle = state_of(&r).coordinate[0];
    toy_steps(r.world, 1000);
    CHECK_NEAR(state_of(&r).coordinate[0], angle, 1e-12);
    cn_world_destroy(r.world);
  }
}

// An effort of 2 N m on a rotor of 0.1 with an armature of 0.3 kg m2.
static void armature(void **state) {
  (void)state;
  Rod r = {.world = exact_world("impulse", 1e-3)};
  CHECK_OK(cn_world_set_gravity(r.world, CN_VEC3_ZERO));
  r.body = part(r.world, 2, 0.1, CN_VEC3_ZERO, 0);
  r.def = cn_joint_def_default(CN_JOINT_REVOLUTE);
  r.def.body_b = r.body;
  r.def.axes[0].drive = CN_DRIVE_EFFORT;
  r.def.axes[0].motor_effort = 2;
  r.def.axes[0].armature = 0.3;
  CHECK_OK(cn_joint_def_along(r.world, CN_VEC3_ZERO, cn_vec3(0, 1, 0), &r.def));
  make(&r);
  toy_steps(r.world, 1000);
  CHECK_NEAR(state_of(&r).rate[0], 5, 1e-10);
  CHECK_NEAR(state_of(&r).armature[0], -1.5, 1e-9);
  cn_world_destroy(r.world);
}

// J .1, k 10, c .2, from 1 rad.
static void torsion_spring(void **state) {
  (void)state;
  Rod r = {.world = exact_world("hem5", 1e-2)};
  CHECK_OK(cn_world_set_gravity(r.world, CN_VEC3_ZERO));
  r.body = part(r.world, 2, 0.1, CN_VEC3_ZERO, 0);
  r.def = cn_joint_def_default(CN_JOINT_REVOLUTE);
  r.def.body_b = r.body;
  r.def.axes[0].stiffness = 10;
  r.def.axes[0].damping = 0.2;
  r.def.axes[0].rest = 1;
  CHECK_OK(cn_joint_def_along(r.world, CN_VEC3_ZERO, cn_vec3(0, 1, 0), &r.def));
  make(&r);
  toy_steps(r.world, 100);
  CHECK_NEAR(1 - state_of(&r).coordinate[0], -0.33685168059, 1e-9);
  cn_world_destroy(r.world);
}

// ---- slider-crank ----

// Crank .1 m 1 kg, rod .4 m 2 kg, slider 3 kg, no gravity, crank at 10 rad/s: the torque at the end
// of a step that comes to the angle, and the mean acceleration of the slider.
static double crank_torque(double angle, CnVec3 *acceleration) {
  const double h = 1e-5, w = 10;
  double th = angle - w * h, s = 0.1 * cni_sin(th);
  double lean = cni_asin(s / 0.4); // of the rod, downwards along the way
  CnWorld *world = exact_world("hem5", h);
  CHECK_OK(cn_world_set_gravity(world, CN_VEC3_ZERO));
  CnVec3 pin = cn_vec3(0.1 * cni_cos(th), 0, s);
  CnVec3 wrist = cn_vec3(pin.x + 0.4 * cni_cos(lean), 0, 0);
  CnBodyId bodies[4] = {{0, 0},
                        part(world, 1, 0.01 / 12, cn_scale(0.5, pin), 0),
                        part(world, 2, 2 * 0.16 / 12, cn_scale(0.5, cn_add(pin, wrist)), 0),
                        part(world, 3, 1, wrist, 0)};
  const CnVec3 anchors[3] = {CN_VEC3_ZERO, pin, wrist};
  CnJointId joints[3], rail;
  for (int i = 0; i < 3; i++) {
    CnJointDef def = cn_joint_def_default(CN_JOINT_REVOLUTE);
    def.body_a = bodies[i];
    def.body_b = bodies[i + 1];
    if (i == 0) def.axes[0].motor_speed = w;
    if (i == 0) def.axes[0].motor_effort = INFINITY;
    CHECK_OK(cn_joint_def_along(world, anchors[i], cn_vec3(0, -1, 0), &def));
    CHECK_OK(cn_joint_create(world, &def, &joints[i]));
  }
  // the plane is held by the hinges: the slider needs a line only
  CnJointDef def = cn_joint_def_default(CN_JOINT_CYLINDRICAL);
  def.body_b = bodies[3];
  CHECK_OK(cn_joint_def_along(world, wrist, cn_vec3(1, 0, 0), &def));
  CHECK_OK(cn_joint_create(world, &def, &rail));
  CnJointState before, after, drive;
  double w2 = -w * cni_cos(th) * 0.1 / (0.4 * cni_cos(lean)); // about -y as well
  toy_set_twist(world, bodies[1], cn_vec3(-0.5 * w * pin.z, 0, 0.5 * w * pin.x), cn_vec3(0, -w, 0));
  CnVec3 vp = cn_vec3(-w * pin.z, 0, w * pin.x);
  double slide = vp.x + 0.4 * cni_sin(lean) * w2;
  toy_set_twist(world, bodies[2], cn_vec3(0.5 * (vp.x + slide), 0, 0.5 * vp.z), cn_vec3(0, -w2, 0));
  toy_set_twist(world, bodies[3], cn_vec3(slide, 0, 0), CN_VEC3_ZERO);
  CHECK_OK(cn_joint_state(world, rail, &before));
  toy_steps(world, 1);
  CHECK_OK(cn_joint_state(world, rail, &after));
  CHECK_OK(cn_joint_state(world, joints[0], &drive));
  acceleration->x = (after.rate[0] - before.rate[0]) / h;
  cn_world_destroy(world);
  return drive.motor[0];
}

static void slider_crank(void **state) {
  (void)state;
  const double torques[][2] = {
      {30, 2.56393227982}, {60, 1.61475243491}, {90, -1.03279555899}, {135, -1.79777635877}};
  const double accelerations[][2] = {
      {0, -12.5}, {30, -9.95013279494}, {90, 2.58198889747}, {180, 7.5}};
  CnVec3 a;
  for (int i = 0; i < 4; i++) {
    double torque = crank_torque(torques[i][0] * CNI_PI / 180, &a);
    print_message("crank at %g degrees: torque off by %.1e\n", torques[i][0],
                  torque - torques[i][1]);
    CHECK_NEAR(torque, torques[i][1], 1e-8);
    crank_torque(accelerations[i][0] * CNI_PI / 180 + 0.5 * 10 * 1e-5, &a);
    CHECK_NEAR(a.x, accelerations[i][1], 1e-7);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(prescribed),       cmocka_unit_test(speed_and_stall),
      cmocka_unit_test(servo_and_effort), cmocka_unit_test(stop_with_restitution),
      cmocka_unit_test(stop_at_rest),     cmocka_unit_test(bearing),
      cmocka_unit_test(armature),         cmocka_unit_test(torsion_spring),
      cmocka_unit_test(slider_crank),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
