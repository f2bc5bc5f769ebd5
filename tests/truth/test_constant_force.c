// SPDX-License-Identifier: Apache-2.0
// Constant forces by closed forms: in the axes of the world, fixed to a body that turns, off its
// centre.
#include "check.h"
#include "core/math.h"
#include "worlds.h"

#include <string.h>

#include "core/vec.h"

static const CnVec3 none = {0, 0, 0};

typedef struct Pushed {
  CnWorld *world;
  CnBodyId body;
  CnForceId force;
} Pushed;

// 2 kg and .5 kg m2.
static Pushed pushed(const char *integrator, double h, CnVec3 spin, const CnForceDef *given) {
  Pushed x;
  CnForceDef def = *given;
  CnWorldDef world = world_def_exact(h);
  world.integrator = integrator;
  world.integration.tolerance = 1e-12;
  world.gravity = none;
  x.world = world_make(&world);
  x.body = world_mass(x.world, 2, cn_vec3(.5, .5, .5), world_at(1, 2, 3), (CnTwist){none, spin});
  def.body_b = x.body;
  CHECK_OK(cn_force_create(x.world, &def, &x.force));
  return x;
}

static CnTwist after(Pushed *x, int steps) {
  for (int i = 0; i < steps; i++) world_step(x->world);
  CnTwist twist = world_twist(x->world, x->body);
  cn_world_destroy(x->world);
  return twist;
}

// A body that turns at w: m v = F/w (sin w t, 1 - cos w t).
static void turns_with_the_body(void **state) {
  (void)state;
  double w = 3, error[2];
  CnForceDef def = cn_force_def_default(CN_FORCE_CONSTANT);
  def.force = cn_vec3(5, 0, 0);
  def.body_fixed = 1;
  CnVec3 v = cn_scale(5 / (2 * w), cn_vec3(cni_sin(w), 1 - cni_cos(w), 0));
  Pushed x = pushed("hem5", 0.05, cn_vec3(0, 0, w), &def);
  CHECK(cn_norm(cn_sub(after(&x, 20).velocity, v)) < 1e-9);
  for (int k = 0; k < 2; k++) {
    x = pushed("impulse", k ? 1e-3 : 2e-3, cn_vec3(0, 0, w), &def);
    error[k] = cn_norm(cn_sub(after(&x, k ? 1000 : 500).velocity, v));
  }
  CHECK(error[1] < 5e-3);
  CHECK_NEAR(error[0] / error[1], 2, 0.05);
  // in the axes of the world the spin does not matter
  def.body_fixed = 0;
  x = pushed("impulse", 0.01, cn_vec3(0, 0, w), &def);
  CHECK_NEAR(after(&x, 100).velocity.x, 2.5, 1e-12);
}

// Off the centre it turns the body: in a first step by h arm x F/J; a torque by h T/J.
static void at_a_point(void **state) {
  (void)state;
  CnForceDef def = cn_force_def_default(CN_FORCE_CONSTANT);
  def.force = cn_vec3(0, 0, 4);
  def.torque = cn_vec3(1, 0, 0);
  def.frame_b.position = cn_vec3(0, 0.25, 0);
  Pushed x = pushed("impulse", 0.01, none, &def);
  CnForceState now;
  CHECK_OK(cn_force_state(x.world, x.force, &now));
  CHECK(now.force.z == 4 && now.torque.x == 1 && now.power == 0);
  CnTwist twist = after(&x, 1);
  CHECK_NEAR(twist.velocity.z, 0.02, 1e-15);
  CHECK_NEAR(twist.spin.x, 0.01 * (4 * 0.25 + 1) / 0.5, 1e-15);
}

// It acts on one body, which is b, and has no numbers of springs.
static void refused(void **state) {
  (void)state;
  CnForceDef def = cn_force_def_default(CN_FORCE_CONSTANT);
  Pushed x = pushed("impulse", 0.01, none, &def);
  CnForceId id;
  def.body_a = x.body;
  CHECK_STATUS(cn_force_create(x.world, &def, &id), CN_INVALID_ARGUMENT);
  CHECK(strstr(cn_error_message(), "body_b"));
  def = cn_force_def_default(CN_FORCE_CONSTANT);
  def.body_b = x.body;
  def.stiffness = 1;
  CHECK_STATUS(cn_force_create(x.world, &def, &id), CN_INVALID_ARGUMENT);
  CHECK(strstr(cn_error_message(), "constant has no stiffness"));
  def.stiffness = 0;
  def.force.y = INFINITY;
  CHECK_STATUS(cn_force_create(x.world, &def, &id), CN_INVALID_ARGUMENT);
  CHECK(strstr(cn_error_message(), "force"));
  cn_world_destroy(x.world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(turns_with_the_body),
                                     cmocka_unit_test(at_a_point), cmocka_unit_test(refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
