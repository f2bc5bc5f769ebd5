// SPDX-License-Identifier: Apache-2.0
// What acts on joints and contacts beyond their constraints, by hem5, rkf45 and moreau-jean: dry
// friction, bearings, limited motors, armatures, resistance against rolling and spinning, by closed
// forms.
#include "check.h"
#include "core/math.h"
#include "toys.h"

#include <math.h>
#include <string.h>

static const double G = 9.81;
static const char *const names[3] = {"hem5", "rkf45", "moreau-jean"};

static CnWorld *world_by(int k, double h) {
  CnWorldDef def = cn_world_def_default();
  def.integrator = names[k];
  def.time_step = h;
  def.integration.tolerance = 1e-11;
  def.integration.project_start = 1;
  def.solver = cn_solver_def_default("auto");
  def.solver.effort = CN_EFFORT_EXACT;
  def.solver.tolerance = 1e-14;
  return toy_world_from(&def);
}

// A body of mass m and inertia j on a joint to the ground whose axis is `axis` through `at`.
typedef struct Part {
  CnWorld *world;
  CnBodyId body;
  CnJointId joint;
} Part;

static Part part(CnWorld *world, CnJointKind kind, double m, double j, CnVec3 at, CnVec3 axis,
                 const CnJointAxis *acts) {
  Part p = {.world = world};
  CnBodyDef body = cn_body_def_default();
  body.mass = m;
  body.inertia = (CnSym3){.xx = j, .yy = j, .zz = j};
  CHECK_OK(cn_body_create(world, &body, &p.body));
  CnJointDef joint = cn_joint_def_default(kind);
  joint.body_b = p.body;
  joint.axes[0] = *acts;
  CnVec3 z = cn_vec3(0, 0, 1), turn = cn_cross(z, axis);
  double s = cn_norm(turn), angle = cni_atan2(s, cn_dot(z, axis));
  CnQuat along = s > 0 ? cni_quat_exp(cn_scale(angle / s, turn)) : CN_QUAT_ONE;
  joint.frame_a = joint.frame_b = (CnPose){at, along};
  CHECK_OK(cn_joint_create(world, &joint, &p.joint));
  return p;
}

static CnJointState state_of(const Part *p) {
  CnJointState state;
  CHECK_OK(cn_joint_state(p->world, p->joint, &state));
  return state;
}

static CnJointAxis free_axis(void) { return cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0]; }

// ---- dry friction ----

// J .1, .5 N m, 20 rad/s: at rest after 4 s and 40 rad, and then exactly so.
static void rotor_stops(void **state) {
  (void)state;
  CnJointAxis acts = free_axis();
  acts.friction = .5;
  for (int k = 0; k < 3; k++) {
    Part p =
        part(world_by(k, .13), CN_JOINT_REVOLUTE, 1, .1, CN_VEC3_ZERO, cn_vec3(0, 0, 1), &acts);
    toy_set_twist(p.world, p.body, CN_VEC3_ZERO, cn_vec3(0, 0, 20));
    toy_steps(p.world, 10);
    double t = 1.3;
    CHECK_NEAR(state_of(&p).rate[0], 20 - 5 * t, 1e-10);
    CHECK_NEAR(state_of(&p).coordinate[0], 20 * t - 2.5 * t * t, 1e-9);
    CHECK_NEAR(state_of(&p).friction[0], -.5, 1e-9);
    toy_steps(p.world, 30);
    // moreau-jean stops within a step, which loses a quarter of it at most
    CHECK_NEAR(state_of(&p).coordinate[0], 40, k < 2 ? 1e-9 : 2.5 * .13 * .13);
    CHECK(fabs(state_of(&p).rate[0]) < 1e-14);
    CnPose pose = toy_pose(p.world, p.body);
    toy_steps(p.world, 10);
    CnPose later = toy_pose(p.world, p.body);
    CHECK(memcmp(&pose.rotation, &later.rotation, sizeof later.rotation) == 0 || k == 2);
    cn_world_destroy(p.world);
  }
}

// A block on a rail at 30 degrees: 2 N leave g/2 - 2, 6 N hold it.
static void rail(void **state) {
  (void)state;
  for (int k = 0; k < 3; k++)
    for (int holds = 0; holds < 2; holds++) {
      CnJointAxis acts = free_axis();
      acts.friction = holds ? 6 : 2;
      Part p = part(world_by(k, .1), CN_JOINT_PRISMATIC, 1, .1, CN_VEC3_ZERO,
                    cn_vec3(sqrt(.75), 0, -.5), &acts);
      toy_steps(p.world, 10);
      double a = holds ? 0 : G / 2 - 2;
      CHECK_NEAR(state_of(&p).rate[0], a, 1e-11);
      CHECK_NEAR(state_of(&p).coordinate[0], a / 2, 1e-11);
      CHECK_NEAR(state_of(&p).friction[0], holds ? -G / 2 : -2, 1e-9);
      cn_world_destroy(p.world);
    }
}

// Slides up the rail, stops, and comes down again: 4 N. Up with g/2 + 4, down with g/2 - 4.
static void up_and_down(void **state) {
  (void)state;
  CnJointAxis acts = free_axis();
  acts.friction = 4;
  double v = 3, up = v / (G / 2 + 4), top = v * up / 2, t = 1 - up, a = G / 2 - 4;
  for (int k = 0; k < 2; k++) {
    Part p = part(world_by(k, .1), CN_JOINT_PRISMATIC, 1, .1, CN_VEC3_ZERO,
                  cn_vec3(sqrt(.75), 0, -.5), &acts);
    toy_set_twist(p.world, p.body, cn_vec3(-v * sqrt(.75), 0, v * .5), CN_VEC3_ZERO);
    toy_steps(p.world, 10);
    CHECK_NEAR(state_of(&p).rate[0], a * t, 1e-9);
    CHECK_NEAR(state_of(&p).coordinate[0], a * t * t / 2 - top, 1e-9);
    cn_world_destroy(p.world);
  }
}

// ---- bearings ----

// A balanced rotor on a bearing: mu r m g slow it down, to rest at J w / (mu r m g).
static void bearing(void **state) {
  (void)state;
  CnJointAxis acts = free_axis();
  acts.friction_coefficient = .2;
  acts.friction_radius = .05;
  double m = 3, j = .1, w = 2, torque = .2 * .05 * m * G, rest = j * w / torque;
  for (int k = 0; k < 2; k++) {
    Part p =
        part(world_by(k, rest / 7), CN_JOINT_REVOLUTE, m, j, CN_VEC3_ZERO, cn_vec3(0, 1, 0), &acts);
    toy_set_twist(p.world, p.body, CN_VEC3_ZERO, cn_vec3(0, w, 0));
    toy_steps(p.world, 4);
    CHECK_NEAR(state_of(&p).rate[0], w * 3 / 7, 1e-9);
    CHECK_NEAR(state_of(&p).friction[0], -torque, 1e-9);
    toy_steps(p.world, 4);
    CHECK_NEAR(state_of(&p).coordinate[0], w * rest / 2, 1e-9);
    CHECK(fabs(state_of(&p).rate[0]) < 1e-14);
    cn_world_destroy(p.world);
  }
}

// A point mass on an arm without gravity: R = m l w^2 carries friction mu r R against w, so that
// w' = -c w^2 with c = mu r m l / J in the limit of small mu r / l; exactly R also has the part of
// the tangential acceleration: R = m l sqrt(w^4 + w'^2), w' = -b w^2, b^2 (J^2 - k^2) = k^2,
// k = mu r m l.
static void eccentric_bearing(void **state) {
  (void)state;
  CnJointAxis acts = free_axis();
  acts.friction_coefficient = .5;
  acts.friction_radius = .2;
  double m = 1, l = .5, own = .02, j = own + m * l * l, w = 3;
  double k0 = .5 * .2 * m * l, b = k0 / sqrt(j * j - k0 * k0);
  for (int k = 0; k < 2; k++) {
    CnWorldDef def = cn_world_def_default();
    def.integrator = names[k];
    def.gravity = CN_VEC3_ZERO;
    def.time_step = .1;
    def.integration.tolerance = 1e-11;
    Part p = part(toy_world_from(&def), CN_JOINT_REVOLUTE, m, own, cn_vec3(-l, 0, 0),
                  cn_vec3(0, 0, 1), &acts);
    toy_set_twist(p.world, p.body, cn_vec3(0, w * l, 0), cn_vec3(0, 0, w));
    toy_steps(p.world, 20);
    CHECK_NEAR(state_of(&p).rate[0], w / (1 + b * w * 2), 1e-8);
    CHECK_NEAR(state_of(&p).coordinate[0], log(1 + b * w * 2) / b, 1e-8);
    cn_world_destroy(p.world);
  }
}

// ---- motors ----

// Limited to 2 N m: J .1 runs up at 20 rad/s^2 and then holds 10 rad/s; against friction of .5 N m at
// 15, and with an armature of .1 at half of that.
static void run_up(void **state) {
  (void)state;
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < 3; i++) {
      CnJointAxis acts = free_axis();
      acts.motor_speed = 10;
      acts.motor_effort = 2;
      acts.friction = i > 0 ? .5 : 0;
      acts.armature = i > 1 ? .1 : 0;
      double a = i == 0 ? 20 : i == 1 ? 15 : 7.5, h = k < 2 ? .11 : .01;
      Part p =
          part(world_by(k, h), CN_JOINT_REVOLUTE, 1, .1, CN_VEC3_ZERO, cn_vec3(0, 0, 1), &acts);
      double t = .44, end = 2.2, up = 10 / a;
      toy_steps(p.world, (int)(t / h + .5));
      CHECK_NEAR(state_of(&p).rate[0], a * t, 1e-9);
      CHECK_NEAR(state_of(&p).motor[0], 2, 1e-8);
      CHECK_NEAR(state_of(&p).armature[0], i > 1 ? -.1 * a : 0, 1e-8);
      toy_steps(p.world, (int)((end - t) / h + .5));
      CHECK_NEAR(state_of(&p).rate[0], 10, 1e-12);
      CHECK_NEAR(state_of(&p).motor[0], i > 0 ? .5 : 0, 1e-8);
      CHECK_NEAR(state_of(&p).coordinate[0], 10 * (end - up / 2), k < 2 ? 1e-9 : 10 * h);
      cn_world_destroy(p.world);
    }
}

// A limited motor that has enough turns a hanging rod at 2 rad/s: its torque is (g/2) sin.
static void steady_speed(void **state) {
  (void)state;
  CnJointAxis acts = free_axis();
  acts.motor_speed = -2;
  acts.motor_effort = 5; // 4.905 at the most
  for (int k = 0; k < 2; k++) {
    Part p = part(world_by(k, .05), CN_JOINT_REVOLUTE, 1, 1.0 / 12, cn_vec3(0, 0, .5),
                  cn_vec3(0, 1, 0), &acts);
    toy_set_twist(p.world, p.body, cn_vec3(1, 0, 0), cn_vec3(0, -2, 0));
    toy_steps(p.world, 20);
    CHECK_NEAR(state_of(&p).rate[0], -2, 1e-11);
    CHECK_OK(cn_world_set_time_step(p.world, 1e-7));
    toy_steps(p.world, 1);
    CHECK_NEAR(state_of(&p).coordinate[0], -2, 1e-6);
    CHECK_NEAR(state_of(&p).motor[0], -G / 2 * cni_sin(2), 1e-6);
    cn_world_destroy(p.world);
  }
}

// An armature on a pendulum adds to its inertia: a rod with J_a swings as one of J + J_a.
static void armature(void **state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    CnJointAxis acts = free_axis();
    double angle[2];
    for (int i = 0; i < 2; i++) {
      acts.armature = i ? .2 : 0;
      CnWorld *world = world_by(k, .01);
      Part p = part(world, CN_JOINT_REVOLUTE, 1, i ? .1 : .3, cn_vec3(-.5, 0, 0), cn_vec3(0, 1, 0),
                    &acts);
      toy_steps(world, 100);
      angle[i] = state_of(&p).coordinate[0];
      cn_world_destroy(world);
    }
    CHECK(fabs(angle[0]) > .5);
    CHECK_NEAR(angle[1], angle[0], k < 2 ? 1e-8 : 1e-10);
  }
}

// A speed that follows a function of time, by a motor without a bound.
static void speed_function(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    CnWorld *world = world_by(k, .1);
    CnFunctionDef sine = cn_function_def_default(CN_FUNCTION_SINE);
    sine.amplitude = 2;
    sine.frequency = 3 / (2 * CNI_PI);
    CnJointAxis acts = free_axis();
    acts.motor_effort = INFINITY;
    CHECK_OK(cn_function_create(world, &sine, &acts.motor_function));
    Part p = part(world, CN_JOINT_REVOLUTE, 1, .1, CN_VEC3_ZERO, cn_vec3(0, 0, 1), &acts);
    toy_steps(world, 10);
    CHECK_NEAR(state_of(&p).rate[0], 2 * cni_sin(3), 1e-9);
    CHECK_NEAR(state_of(&p).coordinate[0], 2 * (1 - cni_cos(3)) / 3, 1e-9);
    cn_world_destroy(world);
  }
}

// A follower of 1 kg rests on a slider of 1 kg that is pushed up with 3 m g: both go up with g/2, and
// the cam between them carries 3/2 m g; pulled down with m g the slider leaves it alone.
static void pushes_only(void **state) {
  (void)state;
  for (int k = 0; k < 3; k++)
    for (int down = 0; down < 2; down++) {
      CnWorld *world = world_by(k, .05);
      CnJointAxis acts = free_axis(), none = free_axis();
      acts.drive = CN_DRIVE_EFFORT;
      acts.motor_effort = down ? -G : 3 * G;
      CnVec3 up = cn_vec3(0, 0, 1);
      Part low = part(world, CN_JOINT_PRISMATIC, 1, .1, CN_VEC3_ZERO, up, &acts);
      Part high = part(world, CN_JOINT_PRISMATIC, 1, .1, CN_VEC3_ZERO, up, &none);
      CnCouplingDef cam = cn_coupling_def_default();
      CnCouplingId id;
      cam.term_count = 2;
      cam.terms[0] = (CnCouplingTerm){high.joint, 0, 1};
      cam.terms[1] = (CnCouplingTerm){low.joint, 0, -1};
      cam.one_sided = 1;
      CHECK_OK(cn_coupling_create(world, &cam, &id));
      toy_steps(world, 20);
      CHECK_NEAR(state_of(&high).coordinate[0], down ? -G / 2 : G / 4, 1e-9);
      CHECK_NEAR(state_of(&low).coordinate[0], down ? -G : G / 4, 1e-9);
      CnCouplingState told;
      CHECK_OK(cn_coupling_state(world, id, &told));
      CHECK_NEAR(told.effort, down ? 0 : 1.5 * G, 1e-9);
      cn_world_destroy(world);
    }
}

// ---- rolling and spinning ----

static CnBodyId resisted_ball(CnWorld *world, double rolling, double spinning) {
  CnMaterialDef def = cn_material_def_default();
  CnMaterialId material;
  def.friction = .5;
  def.restitution = 0;
  def.rolling_friction = rolling;
  def.spinning_friction = spinning;
  CHECK_OK(cn_material_create(world, &def, &material));
  CnBodyDef body = cn_body_def_default();
  CnBodyId floor;
  CnShapeId id;
  body.kind = CN_BODY_FIXED;
  CHECK_OK(cn_body_create(world, &body, &floor));
  CnShapeDef plane = cn_shape_def_default(CN_SHAPE_PLANE);
  plane.material = material;
  CHECK_OK(cn_shape_create(world, floor, &plane, &id));
  return toy_ball(world, .1, cn_vec3(0, 0, .1), material);
}

// A ball that rolls at 1 m/s is slowed by 5/7 rho g / R, stops, and stays; one that spins by
// sigma m g / J.
static void ball_comes_to_rest(void **state) {
  (void)state;
  double rho = .004, r = .1, a = 5.0 / 7 * rho * G / r, v = 1;
  for (int k = 0; k < 3; k++) {
    CnWorld *world = world_by(k, .2);
    CnBodyId ball = resisted_ball(world, rho, 0);
    toy_set_twist(world, ball, cn_vec3(.6 * v, .8 * v, 0), cn_vec3(-.8 * v / r, .6 * v / r, 0));
    toy_steps(world, 10);
    CHECK_NEAR(toy_twist(world, ball).velocity.x, .6 * (v - 2 * a), 1e-8);
    toy_steps(world, 20);
    CnVec3 at = toy_pose(world, ball).position;
    CHECK_NEAR(at.x, .6 * v * v / (2 * a), k < 2 ? 1e-8 : 5e-3);
    CHECK_NEAR(at.y, .8 * v * v / (2 * a), k < 2 ? 1e-8 : 5e-3);
    CHECK(cn_norm(toy_twist(world, ball).spin) < 1e-12);
    cn_world_destroy(world);
  }
}

static void ball_stops_spinning(void **state) {
  (void)state;
  double sigma = .001, r = .1, w = 5, a = sigma * G / (.4 * r * r);
  for (int k = 0; k < 2; k++) {
    CnWorld *world = world_by(k, .1);
    CnBodyId ball = resisted_ball(world, 0, sigma);
    toy_set_twist(world, ball, CN_VEC3_ZERO, cn_vec3(0, 0, w));
    toy_steps(world, 10);
    CHECK_NEAR(toy_twist(world, ball).spin.z, w - a, 1e-9);
    toy_steps(world, 20);
    CHECK(fabs(toy_twist(world, ball).spin.z) < 1e-13);
    CnQuat q = toy_pose(world, ball).rotation;
    double angle = w * w / (2 * a);
    CHECK_NEAR(fabs(q.z), fabs(cni_sin(angle / 2)), 1e-9);
    cn_world_destroy(world);
  }
}

// ---- servos with a limited effort ----

// J .5, 2 N m: holds 1.5 N m, gives way to 3 N m with (3 - 2)/J, then draws back with 2/J, is at its place
// after sqrt(3) s/2 more and goes on to the other side; with dry friction it comes to rest there.
static void servo_gives_way(void **state) {
  (void)state;
  for (int k = 0; k < 3; k++)
    for (int rubs = 0; rubs < 2; rubs++) {
      CnJointAxis acts = free_axis();
      acts.drive = CN_DRIVE_POSITION;
      acts.motor_effort = 2;
      acts.motor_position = .3;
      acts.friction = rubs ? .5 : 0;
      double h = k < 2 ? .1 : .001, near = k < 2 ? 1e-8 : 2e-3;
      CnWorld *world = world_by(k, h);
      CHECK_OK(cn_world_set_gravity(world, CN_VEC3_ZERO));
      Part p = part(world, CN_JOINT_REVOLUTE, 1, .5, CN_VEC3_ZERO, cn_vec3(0, 0, 1), &acts);
      CnPose pose = {CN_VEC3_ZERO, cni_quat_exp(cn_vec3(0, 0, .3))};
      CHECK_OK(cn_body_set_pose(p.world, p.body, &pose));
      int second = k < 2 ? 10 : 1000;
      for (int i = 0; i < 2 * second; i++) {
        CHECK_OK(cn_body_apply_torque(p.world, p.body, cn_vec3(0, 0, i < second ? 1.5 : 3)));
        toy_steps(p.world, 1);
        if (i == second - 1) CHECK_NEAR(state_of(&p).coordinate[0], .3, 1e-12);
        if (i == second - 1)
          CHECK_NEAR(state_of(&p).motor[0] + state_of(&p).friction[0], -1.5, 1e-9);
      }
      double a = rubs ? 1 : 2;
      CHECK_NEAR(state_of(&p).coordinate[0] - .3, a / 2, near);
      CHECK_NEAR(state_of(&p).rate[0], a, near);
      CHECK_NEAR(state_of(&p).motor[0], -2, 1e-9);
      toy_steps(p.world, second);
      if (!rubs) CHECK_NEAR(state_of(&p).coordinate[0] - .3, 1.5 - 2 * .25, near);
      toy_steps(p.world, second / 2);
      double t = 1.5 - .5 - sqrt(.75), v = sqrt(12);
      if (!rubs) CHECK_NEAR(state_of(&p).coordinate[0] - .3, -v * t + 2 * t * t, near);
      if (!rubs) CHECK_NEAR(state_of(&p).motor[0], 2, 1e-9);
      toy_steps(p.world, rubs ? 5 * second : 0);
      if (rubs) CHECK_NEAR(state_of(&p).coordinate[0], .3, k < 2 ? 1e-9 : 1e-5);
      cn_world_destroy(p.world);
    }
}

// Follows .2 sin(3 t) as long as J th'' is within its bound.
static void servo_follows(void **state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    CnWorld *world = world_by(k, k < 2 ? .01 : .001);
    CHECK_OK(cn_world_set_gravity(world, CN_VEC3_ZERO));
    CnFunctionDef sine = cn_function_def_default(CN_FUNCTION_SINE);
    sine.amplitude = .2;
    sine.frequency = 3 / (2 * CNI_PI);
    CnJointAxis acts = free_axis();
    acts.drive = CN_DRIVE_POSITION;
    acts.motor_effort = 1;
    CHECK_OK(cn_function_create(world, &sine, &acts.motor_function));
    Part p = part(world, CN_JOINT_REVOLUTE, 1, .5, CN_VEC3_ZERO, cn_vec3(0, 0, 1), &acts);
    toy_set_twist(p.world, p.body, CN_VEC3_ZERO, cn_vec3(0, 0, .6));
    toy_steps(p.world, k < 2 ? 100 : 1000);
    CHECK_NEAR(state_of(&p).coordinate[0], .2 * cni_sin(3), k < 2 ? 1e-9 : 1e-5);
    CHECK_NEAR(state_of(&p).motor[0], -.9 * cni_sin(3), k < 2 ? 1e-4 : 2e-3);
    cn_world_destroy(p.world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(servo_gives_way),    cmocka_unit_test(servo_follows),
      cmocka_unit_test(rotor_stops),        cmocka_unit_test(rail),
      cmocka_unit_test(up_and_down),        cmocka_unit_test(bearing),
      cmocka_unit_test(eccentric_bearing),  cmocka_unit_test(run_up),
      cmocka_unit_test(steady_speed),       cmocka_unit_test(armature),
      cmocka_unit_test(speed_function),     cmocka_unit_test(pushes_only),
      cmocka_unit_test(ball_comes_to_rest), cmocka_unit_test(ball_stops_spinning)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
