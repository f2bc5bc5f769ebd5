// SPDX-License-Identifier: Apache-2.0
// Laws of surfaces with closed answers: rolling and spinning resistance, a conveyor belt, cohesion,
// and a contact that the user's hook changes.
#include "check.h"
#include "core/vec.h"
#include "worlds.h"

#define G 9.81

static CnMaterialId make_material(CnWorld *world, CnMaterialDef def) {
  CnMaterialId id;
  CHECK_OK(cn_material_create(world, &def, &id));
  return id;
}

// A rolling ball is slowed by 5 mu_r g/(7 r): the resistance is a torque mu_r m g, and the ball's
// inertia about its contact is 7/5 m r^2.
static void rolling_resistance(void **state) {
  (void)state;
  double h = 1e-3, r = 0.2, mu_r = 0.002, v0 = 1;
  CnWorldDef def = world_def_exact(h);
  CnWorld *world = world_make(&def);
  CnMaterialDef m = cn_material_def_default();
  m.rolling_friction = mu_r;
  CnMaterialId material = make_material(world, m);
  world_floor(world, material);
  CnBodyId ball = world_ball(world, r, 3, cn_vec3(0, 0, r), CN_VEC3_ZERO, material);
  CnTwist twist = {{v0, 0, 0}, {0, v0 / r, 0}};
  CHECK_OK(cn_body_set_twist(world, ball, &twist));
  double a = 5 * mu_r * G / (7 * r);
  for (int i = 0; i < 1000; i++) world_step_converged(world);
  twist = world_twist(world, ball);
  CHECK_NEAR(twist.velocity.x, v0 - a, 1e-9);
  CHECK_NEAR(twist.spin.y, (v0 - a) / r, 1e-8);
  CnContact c;
  CHECK_OK(cn_world_contact(world, 0, &c));
  CHECK_NEAR(cn_norm(c.torque), mu_r * 3 * G, 1e-9);

  // and it stops for good, at v0/a
  while (world_info(world).time < v0 / a + 2 * h) world_step_converged(world);
  double stop = world_pose(world, ball).position.x;
  for (int i = 0; i < 100; i++) world_step_converged(world);
  CHECK_NEAR(world_pose(world, ball).position.x, stop, 1e-9);
  CHECK_NEAR(stop, v0 * v0 / (2 * a), v0 * h);
  cn_world_destroy(world);
}

// A ball that spins on the spot is slowed by mu_s m g/J and does not go anywhere.
static void spinning_resistance(void **state) {
  (void)state;
  double r = 0.2, mass = 3, mu_s = 0.003;
  CnWorldDef def = world_def_exact(1e-3);
  CnWorld *world = world_make(&def);
  CnMaterialDef m = cn_material_def_default();
  m.spinning_friction = mu_s;
  CnMaterialId material = make_material(world, m);
  world_floor(world, material);
  CnBodyId ball = world_ball(world, r, mass, cn_vec3(0, 0, r), CN_VEC3_ZERO, material);
  CnTwist twist = {{0, 0, 0}, {0, 0, 5}};
  CHECK_OK(cn_body_set_twist(world, ball, &twist));
  for (int i = 0; i < 1000; i++) world_step_converged(world);
  CHECK_NEAR(world_twist(world, ball).spin.z, 5 - mu_s * mass * G / (0.4 * mass * r * r), 1e-9);
  for (int i = 0; i < 2000; i++) world_step_converged(world);
  CHECK_NEAR(world_twist(world, ball).spin.z, 0, 1e-9);
  CHECK_NEAR(cn_norm(cn_sub(world_pose(world, ball).position, cn_vec3(0, 0, r))), 0, 1e-9);
  cn_world_destroy(world);
}

// A block put on a belt is taken along at mu g until it has the belt's speed.
static void conveyor(void **state) {
  (void)state;
  double h = 1e-3, belt = 2;
  CnWorldDef def = world_def_exact(h);
  CnWorld *world = world_make(&def);
  CnMaterialDef m = cn_material_def_default();
  m.friction = 0.4;
  CnMaterialId plain = make_material(world, m);
  m.surface_velocity = cn_vec3(0, belt, 0);
  world_floor(world, make_material(world, m));
  CnVec3 half = {0.2, 0.2, 0.05};
  CnBodyId block = world_box(world, half, 1, world_at(0, 0, 0.05), CN_VEC3_ZERO, plain);
  for (int i = 0; i < 400; i++) world_step_converged(world);
  CHECK_NEAR(world_twist(world, block).velocity.y, 0.4 * G * 0.4, 1e-9);
  for (int i = 0; i < 600; i++) world_step_converged(world);
  CHECK_NEAR(world_twist(world, block).velocity.y, belt, 1e-9);
  CHECK_NEAR(world_twist(world, block).velocity.x, 0, 1e-9);
  cn_world_destroy(world);
}

// A belt that runs to and fro, v = 2 cos(w t), with enough friction to hold a block: the block goes along, in
// the middle of every step at the speed of its end; the same after save and restore.
static void shaken_belt(void **state) {
  (void)state;
  double h = 1e-3, w = 1.5;
  CnWorldDef def = world_def_exact(h);
  CnWorld *world = world_make(&def), *copy = world_make(&def);
  CnFunctionDef sine = cn_function_def_default(CN_FUNCTION_SINE);
  CnMaterialDef m = cn_material_def_default();
  sine.amplitude = 1;
  sine.frequency = w / (2 * 3.14159265358979323846);
  sine.phase = 3.14159265358979323846 / 2;
  CHECK_OK(cn_function_create(world, &sine, &m.surface_function));
  m.friction = 0.4;
  CnMaterialDef other = m;
  other.surface_function = (CnFunctionId){0, 0};
  CnMaterialId plain = make_material(world, other);
  m.surface_velocity = cn_vec3(0, 2, 0);
  world_floor(world, make_material(world, m));
  CHECK_STATUS(cn_function_destroy(world, m.surface_function), CN_INVALID_ARGUMENT);
  CnVec3 half = {0.2, 0.2, 0.05};
  CnBodyId block = world_box(world, half, 1, world_at(0, 0, 0.05), cn_vec3(0, 2, 0), plain);
  double way = 0;
  for (int i = 1; i <= 1000; i++) {
    static char data[20000];
    size_t size;
    world_step_converged(world);
    CHECK_NEAR(world_twist(world, block).velocity.y, 2 * cos(w * i * h), 1e-9);
    way += h * 2 * cos(w * i * h);
    if (i != 500) continue;
    CHECK_OK(cn_world_save(world, data, sizeof data, &size));
    CHECK_OK(cn_world_restore(copy, data, size));
  }
  CHECK_NEAR(world_pose(world, block).position.y, way, 1e-9);
  for (int i = 0; i < 500; i++) world_step_converged(copy);
  CHECK(cn_world_hash(world) == cn_world_hash(copy));
  cn_world_destroy(copy);
  cn_world_destroy(world);
}

// A ball under a ceiling: cohesion of more than its weight holds it, of less lets it fall freely.
static double hang(double cohesion) {
  CnWorldDef def = world_def_exact(1e-3);
  CnWorld *world = world_make(&def);
  CnMaterialDef m = cn_material_def_default();
  m.cohesion = cohesion;
  CnMaterialId material = make_material(world, m);
  world_fixed_box(world, cn_vec3(1, 1, 0.1), world_at(0, 0, 0.1), material);
  CnBodyId ball = world_ball(world, 0.1, 1, cn_vec3(0, 0, -0.1), CN_VEC3_ZERO, material);
  for (int i = 0; i < 1000; i++) world_step_converged(world);
  double drop = -0.1 - world_pose(world, ball).position.z;
  cn_world_destroy(world);
  return drop;
}

static void cohesion(void **state) {
  (void)state;
  CHECK_NEAR(hang(9.9), 0, 1e-9);
  CHECK_NEAR(hang(0), G / 2, 0.01);
  // the bond ends within a ten-thousandth of the radius: 1e-5 m at (9.81 - 9) m/s^2 take 5 ms
  CHECK_NEAR(hang(9.0), G / 2 * 0.995 * 0.995, 0.02);
}

// The hook takes the friction from every contact: the block slides on for ever.
static void no_friction(void *context, const CnWorld *world, CnContactTuning *contact) {
  (void)context, (void)world;
  contact->friction = 0;
}

static void hook(void **state) {
  (void)state;
  CnWorldDef def = world_def_exact(1e-3);
  def.hooks.modify = no_friction;
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, 0.5, 0);
  world_floor(world, material);
  CnVec3 half = {0.2, 0.2, 0.05};
  CnBodyId block = world_box(world, half, 1, world_at(0, 0, 0.05), cn_vec3(3, 0, 0), material);
  for (int i = 0; i < 500; i++) world_step_converged(world);
  CHECK_NEAR(world_twist(world, block).velocity.x, 3, 1e-12);
  CHECK_NEAR(world_pose(world, block).position.x, 1.5, 1e-9);
  cn_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rolling_resistance), cmocka_unit_test(spinning_resistance),
      cmocka_unit_test(conveyor),           cmocka_unit_test(shaken_belt),
      cmocka_unit_test(cohesion),           cmocka_unit_test(hook),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
