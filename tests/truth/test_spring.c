// SPDX-License-Identifier: Apache-2.0
// Springs and dampers as force elements, by closed forms: oscillation, decay, rest, momentum.
#include "check.h"
#include "core/math.h"
#include "worlds.h"

#include <math.h>

#include "core/vec.h"

static const double G = 9.81;
static const CnTwist at_rest = {{0, 0, 0}, {0, 0, 0}};

typedef struct Hung {
  CnWorld *world;
  CnBodyId body;
  CnForceId force;
} Hung;

// A mass of 2 kg that hangs at z from the ground by a spring of rest length 1 m.
static Hung hung(const char *integrator, double h, double z, double stiffness, double damping) {
  Hung x;
  CnWorldDef def = world_def_exact(h);
  def.integrator = integrator;
  def.integration.tolerance = 1e-12;
  x.world = world_make(&def);
  x.body = world_mass(x.world, 2, cn_vec3(1, 1, 1), world_at(0, 0, z), at_rest);
  CnForceDef force = cn_force_def_default(CN_FORCE_SPRING);
  force.body_b = x.body;
  force.stiffness = stiffness;
  force.damping = damping;
  force.rest_length = 1;
  CHECK_OK(cn_force_create(x.world, &force, &x.force));
  return x;
}

static double height(const Hung *x) { return world_pose(x->world, x->body).position.z; }

// z = -1 - m g/k + a e^(-s t) (cos w t + s/w sin w t)
static double damped(double stiffness, double damping, double a, double t) {
  double s = damping / 4, w = sqrt(stiffness / 2 - s * s);
  double swing = cni_cos(w * t) + s / w * cni_sin(w * t);
  return -1 - 2 * G / stiffness + a * exp(-s * t) * swing;
}

static double run(const char *integrator, double h, int steps, double damping) {
  double k = 50, a = 0.1;
  Hung x = hung(integrator, h, damped(k, damping, a, 0), k, damping);
  for (int i = 0; i < steps; i++) world_step(x.world);
  double z = height(&x);
  cn_world_destroy(x.world);
  return z - damped(k, damping, a, steps * h);
}

static void swings_and_decays(void **state) {
  (void)state;
  for (int damps = 0; damps < 2; damps++) {
    double d = damps ? 1.5 : 0;
    CHECK_NEAR(run("hem5", 0.1, 30, d), 0, 1e-9);
    CHECK_NEAR(run("rkf45", 0.1, 30, d), 0, 1e-9);
    CHECK_NEAR(run("moreau-jean", 1e-3, 1000, d), 0, 1e-5);
    // first order: half the step, half the error
    double coarse = run("impulse", 2e-3, 500, d), fine = run("impulse", 1e-3, 1000, d);
    CHECK(fabs(fine) < 2e-3);
    CHECK_NEAR(coarse / fine, 2, 0.1);
  }
}

// At rest it is longer by m g/k, whatever the step is: also 1e6 times stiffer than the step sees.
static void hangs(void **state) {
  (void)state;
  for (int stiff = 0; stiff < 2; stiff++) {
    double k = stiff ? 1e10 : 400;
    Hung x = hung("impulse", 0.01, -1, k, stiff ? 1e7 : 60);
    for (int i = 0; i < 800; i++) world_step(x.world);
    CHECK_NEAR(height(&x), -1 - 2 * G / k, 1e-12);
    CnForceState now;
    CHECK_OK(cn_force_state(x.world, x.force, &now));
    if (!stiff) CHECK_NEAR(now.force.z, 2 * G, 1e-8);
    if (!stiff) CHECK_NEAR(now.energy, 2 * G * G / k, 1e-9);
    CHECK_NEAR(now.length, -height(&x), 1e-15);
    CHECK_NEAR(now.rate, 0, 1e-12);
    CHECK_NEAR(now.power, 0, 1e-9);
    cn_world_destroy(x.world);
  }
}

static CnVec3 angular_momentum(const CnWorld *world, CnBodyId body, double mass, double inertia) {
  CnTwist twist = world_twist(world, body);
  CnVec3 at = world_pose(world, body).position;
  return cn_madd(cn_scale(mass, cn_cross(at, twist.velocity)), inertia, twist.spin);
}

// Two bodies, tied off their centres: the spring gives nothing to the pair.
static void keeps_momentum(void **state) {
  (void)state;
  static const char *const names[] = {"impulse", "hem5", "moreau-jean"};
  for (int k = 0; k < 3; k++) {
    CnWorldDef def = world_def_exact(0.01);
    def.integrator = names[k];
    def.gravity = CN_VEC3_ZERO;
    CnWorld *world = world_make(&def);
    CnTwist twist = {{0.3, -0.1, 0.2}, {1, 2, -1}};
    CnBodyId a = world_mass(world, 1, cn_vec3(.1, .1, .1), world_at(0, 0, 0), twist);
    CnBodyId b = world_mass(world, 3, cn_vec3(.4, .4, .4), world_at(1, 0, 0), at_rest);
    CnForceDef def_force = cn_force_def_default(CN_FORCE_SPRING);
    CnForceId force;
    def_force.body_a = a;
    def_force.body_b = b;
    def_force.frame_a.position = cn_vec3(0, 0.2, 0);
    def_force.frame_b.position = cn_vec3(-0.1, 0, 0.3);
    def_force.stiffness = 40;
    def_force.damping = 0.5;
    CHECK_OK(cn_force_create(world, &def_force, &force));
    CnVec3 turn = cn_add(angular_momentum(world, a, 1, .1), angular_momentum(world, b, 3, .4));
    for (int i = 0; i < 200; i++) {
      world_step(world);
      CnVec3 sum = cn_madd(world_twist(world, a).velocity, 3, world_twist(world, b).velocity);
      CHECK(cn_norm(cn_sub(sum, twist.velocity)) < 1e-12);
    }
    CnVec3 after = cn_add(angular_momentum(world, a, 1, .1), angular_momentum(world, b, 3, .4));
    if (k == 1) CHECK(cn_norm(cn_sub(after, turn)) < 1e-6);
    CHECK(cn_norm(world_twist(world, b).velocity) > 0.01); // it does act
    cn_world_destroy(world);
  }
}

// What it gives, minus what the damper takes, is what the bodies and the spring hold.
static void gives_what_it_stores(void **state) {
  (void)state;
  Hung x = hung("hem5", 0.01, -1.3, 50, 0);
  CnForceState now;
  CHECK_OK(cn_force_state(x.world, x.force, &now));
  double all = now.energy + world_energy(x.world);
  CHECK_NEAR(now.energy, 0.5 * 50 * 0.09, 1e-12);
  for (int i = 0; i < 100; i++) {
    world_step(x.world);
    CHECK_OK(cn_force_state(x.world, x.force, &now));
    CHECK_NEAR(now.energy + world_energy(x.world), all, 1e-9);
    CHECK_NEAR(now.power, now.force.z * world_twist(x.world, x.body).velocity.z, 1e-12);
  }
  cn_world_destroy(x.world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(swings_and_decays), cmocka_unit_test(hangs),
                                     cmocka_unit_test(keeps_momentum),
                                     cmocka_unit_test(gives_what_it_stores)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
