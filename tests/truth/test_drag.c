// SPDX-License-Identifier: Apache-2.0
// Drag by closed forms: speed that a fall ends with, decay of speed and spin, stiff drag.
#include "check.h"
#include "core/math.h"
#include "worlds.h"

#include <math.h>

#include "core/vec.h"

static const double G = 9.81;

typedef struct Falling {
  CnWorld *world;
  CnBodyId body;
} Falling;

// 2 kg and .5 kg m2, at a twist.
static Falling falling(const char *integrator, double h, CnVec3 gravity, CnTwist twist,
                       const CnForceDef *drag) {
  Falling x;
  CnForceDef force = *drag;
  CnForceId id;
  CnWorldDef def = world_def_exact(h);
  def.integrator = integrator;
  def.integration.tolerance = 1e-12;
  def.gravity = gravity;
  x.world = world_make(&def);
  x.body = world_mass(x.world, 2, cn_vec3(.5, .5, .5), world_at(0, 0, 0), twist);
  force.body_b = x.body;
  CHECK_OK(cn_force_create(x.world, &force, &id));
  return x;
}

// m g = c v, or m g = c v^2, also where a step is far longer than the fall takes to get there.
static void terminal_speed(void **state) {
  (void)state;
  const CnTwist rest = {{0, 0, 0}, {0, 0, 0}};
  for (int stiff = 0; stiff < 2; stiff++) {
    CnForceDef drag = cn_force_def_default(CN_FORCE_DRAG);
    drag.linear_drag = stiff ? 1e5 : 4;
    Falling x = falling("impulse", 0.01, cn_vec3(0, 0, -G), rest, &drag);
    for (int i = 0; i < 2000; i++) world_step(x.world);
    CHECK_NEAR(world_twist(x.world, x.body).velocity.z * drag.linear_drag / (2 * G), -1, 1e-10);
    cn_world_destroy(x.world);
    drag.linear_drag = 0;
    drag.quadratic_drag = stiff ? 1e4 : 0.5;
    x = falling("impulse", 0.01, cn_vec3(0, 0, -G), rest, &drag);
    for (int i = 0; i < 2000; i++) world_step(x.world);
    double speed = sqrt(2 * G / drag.quadratic_drag);
    CHECK_NEAR(world_twist(x.world, x.body).velocity.z / speed, -1, 1e-10);
    cn_world_destroy(x.world);
  }
}

// Without gravity: v = v0 e^(-c1 t/m), w = w0 e^(-c3 t/J); v = v0/(1 + c2 v0 t/m).
static void decay(void **state) {
  (void)state;
  static const char *const names[] = {"hem5", "rkf45", "impulse"};
  const CnTwist twist = {{3, 0, 4}, {0, 2, 0}};
  for (int k = 0; k < 3; k++) {
    double h = k == 2 ? 1e-3 : 0.05, near = k == 2 ? 5e-3 : 1e-9;
    int steps = k == 2 ? 1000 : 20; // 1 s
    CnForceDef drag = cn_force_def_default(CN_FORCE_DRAG);
    drag.linear_drag = 3;
    drag.angular_drag = 0.4;
    Falling x = falling(names[k], h, CN_VEC3_ZERO, twist, &drag);
    for (int i = 0; i < steps; i++) world_step(x.world);
    CnTwist now = world_twist(x.world, x.body);
    CHECK_NEAR(now.velocity.x, 3 * exp(-1.5), near);
    CHECK_NEAR(now.velocity.z, 4 * exp(-1.5), near);
    CHECK_NEAR(now.spin.y, 2 * exp(-0.8), near);
    cn_world_destroy(x.world);
    drag = cn_force_def_default(CN_FORCE_DRAG);
    drag.quadratic_drag = 0.7;
    x = falling(names[k], h, CN_VEC3_ZERO, twist, &drag);
    for (int i = 0; i < steps; i++) world_step(x.world);
    CHECK_NEAR(world_twist(x.world, x.body).velocity.z, 4 / (1 + 0.35 * 5), near);
    CHECK_NEAR(world_twist(x.world, x.body).spin.y, 2, 1e-12);
    CnForceState force;
    CHECK_OK(cn_force_state(x.world, cn_world_next_force(x.world, (CnForceId){0, 0}), &force));
    double speed = cn_norm(world_twist(x.world, x.body).velocity);
    CHECK_NEAR(force.power, -0.7 * speed * speed * speed, 1e-12);
    CHECK(force.energy == 0 && force.length == 0);
    cn_world_destroy(x.world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(terminal_speed), cmocka_unit_test(decay)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
