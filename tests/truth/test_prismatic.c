// SPDX-License-Identifier: Apache-2.0
// Sliders: dry friction on an incline, motors that keep a speed or stall, limits, springs, changes
// while it moves; by closed forms.
#include "check.h"
#include "core/math.h"
#include "toys.h"

#include <stdlib.h>
#include <string.h>

static const double G = 9.81;

static void near3(CnVec3 a, CnVec3 b, double tolerance) {
  CHECK_NEAR(a.x, b.x, tolerance);
  CHECK_NEAR(a.y, b.y, tolerance);
  CHECK_NEAR(a.z, b.z, tolerance);
}

typedef struct Slider {
  CnWorld *world;
  CnBodyId body;
  CnJointId joint;
  CnJointDef def;
} Slider;

// A box of 1 kg on a rail of the ground, from which its travel is measured.
static Slider slider(CnVec3 along, double h, const CnJointAxis *axis) {
  Slider s;
  CnWorldDef def = cn_world_def_default();
  def.time_step = h;
  def.solver.max_iterations = 5000;
  def.solver.tolerance = 1e-13;
  s.world = toy_world_from(&def);
  s.body = toy_box(s.world, cn_vec3(0.05, 0.05, 0.05), cn_vec3(0.3, 0, 0), CN_QUAT_ONE);
  s.def = cn_joint_def_default(CN_JOINT_PRISMATIC);
  s.def.body_b = s.body;
  if (axis) s.def.axes[0] = *axis;
  CHECK_OK(cn_joint_def_along(s.world, cn_vec3(0.3, 0, 0), along, &s.def));
  CHECK_OK(cn_joint_create(s.world, &s.def, &s.joint));
  return s;
}

static CnJointState state_of(const Slider *s) {
  CnJointState state;
  CHECK_OK(cn_joint_state(s->world, s->joint, &state));
  CHECK(state.coordinate_count == 1);
  return state;
}

static CnJointAxis free_axis(void) { return cn_joint_def_default(CN_JOINT_PRISMATIC).axes[0]; }

// Down a rail at 30 degrees: a = g/2 - F/m, or nothing moves.
static void friction_on_an_incline(void **state) {
  (void)state;
  CnVec3 down = cn_vec3(cni_cos(CNI_PI / 6), 0, -0.5);
  CnJointAxis axis = free_axis();
  axis.friction = 2;
  Slider s = slider(down, 1e-3, &axis);
  toy_steps(s.world, 500);
  CnJointState at = state_of(&s);
  CHECK_NEAR(at.rate[0], 0.5 * (G / 2 - 2), 1e-9);
  CHECK_NEAR(at.coordinate[0], 0.5 * 0.25 * (G / 2 - 2), 1e-3);
  CHECK_NEAR(at.friction[0], -2, 1e-9);
  // all that the rail does to the box: friction up the rail, and what carries it
  near3(at.force,
        cn_madd(cn_scale(-2, down), G * cni_cos(CNI_PI / 6), cn_vec3(0.5, 0, cni_cos(CNI_PI / 6))),
        1e-6);
  CHECK_NEAR(at.local_force.z, -2, 1e-6);
  CHECK(at.error < 1e-9 && at.turn_error < 1e-9);
  cn_world_destroy(s.world);

  axis.friction = 6;
  s = slider(down, 1e-3, &axis);
  toy_steps(s.world, 500);
  at = state_of(&s);
  CHECK_NEAR(at.rate[0], 0, 1e-10);
  CHECK_NEAR(at.coordinate[0], 0, 1e-10);
  CHECK_NEAR(at.friction[0], -G / 2, 1e-8);
  cn_world_destroy(s.world);
}

// With 2 N the slider reaches 1 m/s after half a second and keeps it; against gravity 5 N stall.
static void motors(void **state) {
  (void)state;
  CnJointAxis axis = free_axis();
  axis.motor_speed = 1;
  axis.motor_effort = 2;
  Slider s = slider(cn_vec3(1, 0, 0), 1e-3, &axis);
  toy_steps(s.world, 250);
  CnJointState at = state_of(&s);
  CHECK_NEAR(at.rate[0], 0.5, 1e-9);
  CHECK_NEAR(at.motor[0], 2, 1e-9);
  toy_steps(s.world, 500);
  at = state_of(&s);
  CHECK_NEAR(at.rate[0], 1, 1e-9);
  CHECK_NEAR(at.motor[0], 0, 1e-6);
  // another speed, with all the effort it wants
  s.def.axes[0].motor_speed = -0.5;
  s.def.axes[0].motor_effort = INFINITY;
  CHECK_OK(cn_joint_set(s.world, s.joint, &s.def));
  toy_steps(s.world, 1);
  CHECK_NEAR(state_of(&s).rate[0], -0.5, 1e-9);
  cn_world_destroy(s.world);

  axis.motor_effort = 5;
  s = slider(cn_vec3(0, 0, 1), 1e-3, &axis);
  toy_steps(s.world, 100);
  at = state_of(&s);
  CHECK_NEAR(at.rate[0], -0.1 * (G - 5), 1e-9);
  CHECK_NEAR(at.motor[0], 5, 1e-9);
  s.def.axes[0].motor_effort = 20;
  CHECK_OK(cn_joint_set(s.world, s.joint, &s.def));
  toy_steps(s.world, 400);
  at = state_of(&s);
  CHECK_NEAR(at.rate[0], 1, 1e-9);
  CHECK_NEAR(at.motor[0], G, 1e-6);
  cn_world_destroy(s.world);
}

static void limits(void **state) {
  (void)state;
  for (int up = 0; up < 2; up++) {
    CnJointAxis axis = free_axis();
    axis.lower = up ? -INFINITY : -0.1;
    axis.upper = up ? 0.1 : INFINITY;
    Slider s = slider(cn_vec3(0, 0, up ? -1 : 1), 1e-3, &axis);
    for (int i = 0; i < 300; i++) {
      toy_steps(s.world, 1);
      CHECK(fabs(state_of(&s).coordinate[0]) <= 0.1 + 1e-12);
    }
    CnJointState at = state_of(&s);
    CHECK_NEAR(at.coordinate[0], up ? 0.1 : -0.1, 1e-12);
    CHECK_NEAR(at.limit[0], up ? -G : G, 1e-6);
    CHECK_NEAR(at.force.z, G, 1e-6);
    CHECK_NEAR(at.rate[0], 0, 1e-9);
    cn_world_destroy(s.world);
  }
}

// Hangs at m g/k below its rest; damped, so it gets there.
static void springs(void **state) {
  (void)state;
  CnJointAxis axis = free_axis();
  axis.stiffness = 200;
  axis.damping = 20;
  axis.rest = 0.05;
  Slider s = slider(cn_vec3(0, 0, 1), 1e-3, &axis);
  toy_steps(s.world, 3000);
  CnJointState at = state_of(&s);
  CHECK_NEAR(at.coordinate[0], 0.05 - G / 200, 1e-9);
  CHECK_NEAR(at.spring[0], G, 1e-7);
  cn_world_destroy(s.world);
}

// ---- changes ----

static void refused(const Slider *s, CnJointDef def, const char *word) {
  CHECK_STATUS(cn_joint_set(s->world, s->joint, &def), CN_INVALID_ARGUMENT);
  CHECK(strstr(cn_error_message(), word) != NULL);
}

typedef struct Change {
  CnJointId joint;
  double speed;
} Change;

static void change_speed(void *context, CnWorld *world, double time, double time_step) {
  const Change *change = context;
  CnJointDef def;
  (void)time;
  (void)time_step;
  CHECK_OK(cn_joint_def(world, change->joint, &def));
  def.axes[0].motor_speed = change->speed;
  CHECK_OK(cn_joint_set(world, change->joint, &def));
}

static void changes(void **state) {
  (void)state;
  CnJointAxis axis = free_axis();
  axis.motor_effort = 100;
  Slider s = slider(cn_vec3(1, 0, 0), 1e-3, &axis);
  CnJointDef def = s.def;
  def.frame_a.position.x += 0.1;
  refused(&s, def, "frame_a");
  def = s.def;
  def.body_a = s.body;
  refused(&s, def, "body_a");
  def = s.def;
  def.kind = CN_JOINT_BALL;
  def.axes[0] = free_axis();
  refused(&s, def, "kind");
  def = s.def;
  def.axes[0].friction = -1;
  refused(&s, def, "friction");
  cn_world_destroy(s.world);

  // in the hook, and back if the step fails: a body without mass
  Change change = {{0, 0}, 0.25};
  CnWorldDef world = cn_world_def_default();
  world.hooks.before_step = change_speed;
  world.hooks.context = &change;
  CnWorld *w = toy_world_from(&world);
  CnBodyId box = toy_box(w, cn_vec3(0.05, 0.05, 0.05), CN_VEC3_ZERO, CN_QUAT_ONE);
  def = cn_joint_def_default(CN_JOINT_PRISMATIC);
  def.body_b = box;
  def.axes[0].motor_effort = INFINITY;
  CHECK_OK(cn_joint_create(w, &def, &change.joint));
  CHECK_OK(cn_world_step(w, NULL));
  CnJointState at;
  CHECK_OK(cn_joint_state(w, change.joint, &at));
  CHECK_NEAR(at.rate[0], 0.25, 1e-9);
  change.speed = 1e300;
  CnTwist wild = {{1e308, 1e308, 1e308}, {0, 0, 0}};
  CHECK_OK(cn_body_set_twist(w, box, &wild));
  CHECK(cn_world_step(w, NULL) != CN_OK);
  CHECK_OK(cn_joint_def(w, change.joint, &def));
  CHECK_NEAR(def.axes[0].motor_speed, 0.25, 0);
  cn_world_destroy(w);
}

// ---- two free bodies ----

// A motor between two free cubes changes neither momentum nor angular momentum; a saved world goes
// on with the same bits.
static void two_free_bodies(void **state) {
  (void)state;
  CnWorld *w = toy_world(1e-3);
  CHECK_OK(cn_world_set_gravity(w, CN_VEC3_ZERO));
  CnBodyId a = toy_box(w, cn_vec3(0.1, 0.1, 0.1), CN_VEC3_ZERO, CN_QUAT_ONE);
  CnBodyId b = toy_box(w, cn_vec3(0.1, 0.1, 0.1), cn_vec3(0.3, 0.05, 0), CN_QUAT_ONE);
  toy_set_twist(w, a, cn_vec3(0.1, 0.2, -0.3), cn_vec3(1, 2, 3));
  toy_set_twist(w, b, cn_vec3(0.1, 0.2, -0.3), cn_vec3(1, 2, 3));
  CnJointDef def = cn_joint_def_default(CN_JOINT_PRISMATIC);
  CnJointId id;
  def.body_a = a;
  def.body_b = b;
  def.axes[0].motor_speed = 0.2;
  def.axes[0].motor_effort = 30;
  def.axes[0].upper = 0.07;
  def.axes[0].friction = 1;
  CHECK_OK(cn_joint_def_along(w, cn_vec3(0.3, 0.05, 0), cn_vec3(1, 1, 0), &def));
  CHECK_OK(cn_joint_create(w, &def, &id));
  CnWorldSums before, after;
  cn_world_sums(w, &before);
  toy_steps(w, 200);
  size_t size;
  CHECK_OK(cn_world_save(w, NULL, 0, &size));
  void *data = malloc(size);
  CHECK_OK(cn_world_save(w, data, size, &size));
  CnWorld *copy = toy_world(1e-2);
  CHECK_OK(cn_world_restore(copy, data, size));
  toy_steps(w, 300);
  toy_steps(copy, 300);
  CHECK(cn_world_hash(w) == cn_world_hash(copy));
  cn_world_sums(w, &after);
  near3(after.momentum, before.momentum, 1e-12);
  near3(after.angular_momentum, before.angular_momentum, 1e-12);
  CnJointState at;
  CHECK_OK(cn_joint_state(w, id, &at));
  CHECK_NEAR(at.coordinate[0], 0.07, 1e-5);
  free(data);
  cn_world_destroy(copy);
  cn_world_destroy(w);
}

// ---- the equations of motion ----

// A cart on a rail with a bob on a ball joint, by hem5.
static void cart_by_hem5(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  def.time_step = 1e-2;
  def.integrator = "hem5";
  def.integration.tolerance = 1e-11;
  CnWorld *w = toy_world_from(&def);
  CnBodyId cart = toy_box(w, cn_vec3(0.05, 0.05, 0.05), CN_VEC3_ZERO, CN_QUAT_ONE);
  CnBodyId bob = toy_ball(w, 0.05, cn_vec3(0.2, 0.1, -0.3), (CnMaterialId){0, 0});
  CnJointDef rail = cn_joint_def_default(CN_JOINT_PRISMATIC);
  CnJointDef hook = cn_joint_def_default(CN_JOINT_BALL);
  CnJointId slide, hang;
  rail.body_b = cart;
  CHECK_OK(cn_joint_def_along(w, CN_VEC3_ZERO, cn_vec3(1, 0.5, 0.2), &rail));
  CHECK_OK(cn_joint_create(w, &rail, &slide));
  hook.body_a = cart;
  hook.body_b = bob;
  CHECK_OK(cn_joint_def_at(w, CN_VEC3_ZERO, &hook));
  CHECK_OK(cn_joint_create(w, &hook, &hang));
  CnWorldSums before, after;
  cn_world_sums(w, &before);
  toy_steps(w, 100);
  cn_world_sums(w, &after);
  CHECK_NEAR(after.kinetic_energy + after.potential_energy,
             before.kinetic_energy + before.potential_energy, 1e-8);
  CHECK(after.kinetic_energy > 0.1);
  CnJointState at;
  CHECK_OK(cn_joint_state(w, slide, &at));
  CHECK(at.error < 1e-10 && at.turn_error < 1e-10 && fabs(at.coordinate[0]) > 0.01);
  CHECK(cn_norm(at.force) > 1);

  // dry friction that nothing overcomes holds the cart
  rail.axes[0].friction = 1e4;
  CHECK_OK(cn_joint_set(w, slide, &rail));
  toy_steps(w, 100);
  CHECK_OK(cn_joint_state(w, slide, &at));
  CHECK_NEAR(at.rate[0], 0, 1e-9);
  // against a motor that wants to be elsewhere, too, but has no more than 1 N
  rail.axes[0].drive = CN_DRIVE_POSITION;
  rail.axes[0].motor_effort = 1;
  CHECK_OK(cn_joint_set(w, slide, &rail));
  toy_steps(w, 10);
  CHECK_OK(cn_joint_state(w, slide, &at));
  CHECK_NEAR(at.rate[0], 0, 1e-9);
  cn_world_destroy(w);
}

// A spring and a motor without a bound, by hem5: x = cos(10 t)/10, and a constant speed.
static void spring_and_motor_by_hem5(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  def.time_step = 1e-2;
  def.integrator = "hem5";
  def.integration.tolerance = 1e-12;
  CnWorld *w = toy_world_from(&def);
  CHECK_OK(cn_world_set_gravity(w, CN_VEC3_ZERO));
  CnBodyId box = toy_box(w, cn_vec3(0.05, 0.05, 0.05), cn_vec3(0.1, 0, 0), CN_QUAT_ONE);
  CnBodyId other = toy_box(w, cn_vec3(0.05, 0.05, 0.05), cn_vec3(0.1, 1, 0), CN_QUAT_ONE);
  CnJointDef d = cn_joint_def_default(CN_JOINT_PRISMATIC);
  CnJointId spring, motor;
  CnJointState at;
  d.body_b = box;
  CHECK_OK(cn_joint_def_along(w, CN_VEC3_ZERO, cn_vec3(1, 0, 0), &d));
  d.frame_b.position = CN_VEC3_ZERO;
  d.axes[0].stiffness = 100;
  CHECK_OK(cn_joint_create(w, &d, &spring));
  d.body_b = other;
  CHECK_OK(cn_joint_def_along(w, cn_vec3(0.1, 1, 0), cn_vec3(1, 0, 0), &d));
  d.axes[0] = free_axis();
  d.axes[0].motor_speed = 0.5;
  d.axes[0].motor_effort = INFINITY;
  CHECK_OK(cn_joint_create(w, &d, &motor));
  toy_set_twist(w, other, cn_vec3(0.5, 0, 0), CN_VEC3_ZERO);
  toy_steps(w, 100);
  CHECK_OK(cn_joint_state(w, spring, &at));
  CHECK_NEAR(at.coordinate[0], 0.1 * cni_cos(10), 1e-8);
  CHECK_OK(cn_joint_state(w, motor, &at));
  CHECK_NEAR(at.coordinate[0], 0.5, 1e-10);
  CHECK_NEAR(at.rate[0], 0.5, 1e-10);
  cn_world_destroy(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(friction_on_an_incline),
      cmocka_unit_test(motors),
      cmocka_unit_test(limits),
      cmocka_unit_test(springs),
      cmocka_unit_test(changes),
      cmocka_unit_test(two_free_bodies),
      cmocka_unit_test(cart_by_hem5),
      cmocka_unit_test(spring_and_motor_by_hem5),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
