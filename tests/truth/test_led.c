// SPDX-License-Identifier: Apache-2.0
// Bodies and surfaces that move as prescribed: what they put in is work of drives, and contacts, joints and springs
// work by the motion of their two sides against each other. Their places and velocities are those of their
// functions, from the first step on and after a restore.
#include "check.h"
#include "core/math.h"
#include "core/vec.h"
#include "known.h"

#include <stdlib.h>

static double drives(const Known *k) { return k->work[CN_BALANCE_DRIVES]; }
static double friction(const Known *k) { return k->work[CN_BALANCE_FRICTION]; }
static double impacts(const Known *k) { return k->work[CN_BALANCE_IMPACTS]; }
static double springs(const Known *k) { return k->work[CN_BALANCE_SPRINGS]; }
static double resting(const Known *k) { return k->work[CN_BALANCE_STABILISATION]; }

// ---- a belt takes a box along ----

// mu m g pulls for V/(mu g): the belt gives m V^2, half of which is heat. By a belt, and by a table that moves.
static void conveyor(void **state) {
  (void)state;
  const double V = 1.5, m = 8;
  for (int moved = 0; moved < 2; moved++) FOR_INTEGRATORS(name, 0, MOREAU_JEAN + 1) {
      Known k =
          known_open(name, 0.001,
                     "{'materials': {'m': {'friction': 0.5}, 'belt': {'friction': 0.5, "
                     "'surface_velocity': [%g, 0, 0]}},"
                     "'bodies': [{'name': 'belt', 'kind': '%s', 'velocity': [%g, 0, 0], "
                     "'position': [0, 0, -0.1],"
                     "'shapes': [{'kind': 'box', 'size': [20, 1, 0.2], 'material': 'belt'}]},"
                     "{'name': 'box', 'position': [0, 0, 0.1], 'shapes': [{'kind': 'box', 'size': "
                     "0.2, 'material': 'm'}]}],"
                     "'sensors': [{'name': 'v', 'kind': 'velocity', 'body': 'box', 'axis': 'x'},"
                     "{'name': 'x', 'kind': 'position', 'body': 'box', 'axis': 'x'}]}",
                     moved ? 0 : V, moved ? "kinematic" : "fixed", moved ? V : 0);
      known_until(&k, 0.8);
      CHECK_NEAR(known(&k, "v"), V, 1e-6);
      CHECK_NEAR(known(&k, "x"), V * 0.8 - V * V / KNOWN_G, 2e-3);
      CHECK_REL(drives(&k), m * V * V, 1e-6);
      CHECK_REL(friction(&k), -m * V * V / 2, 1e-6);
      CHECK_NEAR(impacts(&k), 0, known_k == IMPULSE ? 1e-9 : 1e-3); // by means over the step
      CHECK_NEAR(k.brought, m * V * V / 2, 1e-6);
      CHECK(k.left < 1e-10);
      known_close(&k);
    }
}

// ---- a piston pushes a body against a spring ----

// The piston goes z = a (1 - cos w t)/2 up and carries a box on a spring: it gives the weight's work, the spring's and
// nothing else, at the top m g a + k a^2/2.
static void piston(void **state) {
  (void)state;
  const double a = 0.04, stiffness = 500, m = 1;
  FOR_INTEGRATORS(name, 0, INTEGRATORS) {
    Known k = known_open(
        name, 0.001,
        "{'materials': {'m': {'friction': 0.3}}, 'functions': {'up': {'kind': 'sine', 'value': %g, "
        "'amplitude': %g, "
        "'frequency': 1, 'phase': %.17g}}, 'bodies': [{'name': 'piston', 'kind': 'kinematic', "
        "'position': [0, 0, -0.1], 'motion': {'z': 'up'}, 'shapes': [{'kind': 'box', 'size': 0.2, "
        "'material': 'm'}]},"
        "{'name': 'box', 'position': [0, 0, 0.05], 'shapes': [{'kind': 'box', 'size': 0.1, "
        "'material': 'm'}]}],"
        "'forces': [{'name': 's', 'kind': 'spring', 'bodies': ['ground', 'box'], 'anchors': [[0, "
        "0, 1.05], "
        "[0, 0, 0.05]], 'stiffness': %g}], 'sensors': [{'name': 'z', 'kind': 'position', 'body': "
        "'box', 'axis': 'z'},"
        "{'name': 'f', 'kind': 'contact_force', 'bodies': ['box', 'piston'], 'axis': 'z'}]}",
        a / 2, a / 2, -KNOWN_PI / 2, stiffness);
    known_until(&k, 0.5);
    double w2 = 4 * KNOWN_PI * KNOWN_PI, stored = stiffness * a * a / 2;
    int soft = known_k == IMPULSE;
    CHECK_NEAR(known(&k, "z"), 0.05 + a, 1e-4);
    CHECK_NEAR(known(&k, "f"), m * KNOWN_G + stiffness * a - m * w2 * a / 2, soft ? 0.05 : 2e-3);
    // hem5 and rkf45 know the forces of contacts at the ends of their steps
    CHECK_NEAR(drives(&k), m * KNOWN_G * a + stored, soft ? 5e-3 : known_k < HEM5 ? 2e-5 : 2e-3);
    CHECK_NEAR(springs(&k), -stored, soft ? 2e-3 : 2e-5);
    CHECK_NEAR(impacts(&k) + resting(&k) + friction(&k), 0, soft ? 2e-3 : 1e-4);
    CHECK(k.left < 1e-10);
    known_close(&k);
  }
}

// A spring whose other end is moved, x = V t: it has k V^2 t^2/2 when the body is held, all of it from the one who moves
// it; by a force element and by a joint.
static void pulled_spring(void **state) {
  (void)state;
  const char *const links[2] = {"'forces': [{'kind': 'spring', 'bodies': ['hand', 'b'], 'anchors': "
                                "[[1, 0, 0], [0, 0, 0]], 'stiffness': 200, "
                                "'rest_length': 1}]",
                                "'joints': [{'kind': 'prismatic', 'bodies': ['hand', 'b'], "
                                "'anchor': [0, 0, 0], 'axis': [1, 0, 0], "
                                "'travel': {'stiffness': 200}}]"};
  for (int link = 0; link < 2; link++) FOR_INTEGRATORS(name, 0, INTEGRATORS) {
      Known k = known_open(
          name, 0.001,
          "{'settings': {'gravity': [0, 0, 0]}, 'bodies': [{'name': 'hand', 'kind': 'kinematic', "
          "'position': [1, 0, 0],"
          "'velocity': [0.5, 0, 0]}, {'name': 'b', 'mass': 2, 'inertia': [1, 1, 1]}], %s,"
          "'sensors': [{'name': 'v', 'kind': 'velocity', 'body': 'b', 'axis': 'x'}]}",
          links[link]);
      // x'' = 100 (V t - x): v = V (1 - cos 10 t), the spring's stretch is V sin(10 t)/10
      known_until(&k, 0.2);
      double V = 0.5, v = V * (1 - cni_cos(2)), stretch = V * cni_sin(2) / 10;
      double stored = 100 * stretch * stretch,
             given = 2 * V * v; // hand's force is the body's momentum
      int soft = known_k == IMPULSE;
      CHECK_NEAR(known(&k, "v"), v, soft ? 1e-2 : 1e-5);
      CHECK_NEAR(drives(&k), given, soft ? 1e-2 : 1e-5);
      CHECK_NEAR(springs(&k), -stored, soft ? 1e-2 : 1e-5);
      CHECK_NEAR(k.brought, v * v, soft ? 1e-2 : 2e-5);
      CHECK(k.left < 1e-10);
      known_close(&k);
    }
}

// ---- a ball bounces on a plate that comes to meet it ----

// Plate at V up, ball at u down: it leaves with V + e (V + u). In the plate's frame it loses (1 - e^2) m (u + V)^2/2 by
// impact; the plate gives the impulse times V.
static void bounce(void **state) {
  (void)state;
  const double m = 1000 * 4 * KNOWN_PI / 3 * 1e-3, V = 0.7, u = 1.3, e = 0.6;
  FOR_INTEGRATORS(name, 0, INTEGRATORS) {
    Known k =
        known_open(name, 0.001,
                   "{'settings': {'gravity': [0, 0, 0]}, 'materials': {'m': {'restitution': %g}},"
                   "'bodies': [{'name': 'plate', 'kind': 'kinematic', 'position': [0, 0, -0.1], "
                   "'velocity': [0, 0, %g],"
                   "'shapes': [{'kind': 'box', 'size': [1, 1, 0.2], 'material': 'm'}]},"
                   "{'name': 'b', 'position': [0, 0, 0.2], 'velocity': [0, 0, %g], 'shapes': "
                   "[{'kind': 'sphere', 'radius': 0.1, "
                   "'material': 'm'}]}], 'sensors': [{'name': 'v', 'kind': 'velocity', 'body': "
                   "'b', 'axis': 'z'}]}",
                   e, V, -u);
    known_until(&k, 0.1);
    double p = m * (1 + e) * (u + V);
    CHECK_NEAR(known(&k, "v"), V + e * (V + u), 1e-9);
    CHECK_REL(drives(&k), p * V, 1e-9);
    CHECK_REL(impacts(&k), -(1 - e * e) * m * (u + V) * (u + V) / 2, 1e-9);
    CHECK(k.left < 1e-10);
    known_close(&k);
  }
}

// ---- a hand with fingers lifts a part: the tutorial's gripper ----

// Fingers of .648 kg and a part of 1 kg go up by .2 m: the hand gives m g .2, beside what the motors give to close.
static void gripper(void **state) {
  (void)state;
  Known k = known_open(
      "impulse", 0.002,
      "{'materials': {'rubber': {'friction': 0.8}}, 'functions': {'lift': {'kind': 'smooth_step', "
      "'start': 1, 'end': 2, "
      "'value': 0, 'final': 0.2}}, 'bodies': [{'name': 'floor', 'kind': 'fixed', 'shapes': "
      "[{'kind': 'plane'}]},"
      "{'name': 'part', 'position': [0, 0, 0.05], 'shapes': [{'kind': 'box', 'size': 0.1, "
      "'material': 'rubber'}]},"
      "{'name': 'hand', 'kind': 'kinematic', 'position': [0, 0, 0.3], 'motion': {'z': 'lift'}},"
      "{'name': 'left', 'position': [-0.12, 0, 0.17], 'shapes': [{'kind': 'box', 'size': [0.02, "
      "0.06, 0.2], "
      "'density': 2700, 'material': 'rubber'}]},"
      "{'name': 'right', 'position': [0.12, 0, 0.17], 'shapes': [{'kind': 'box', 'size': [0.02, "
      "0.06, 0.2], "
      "'density': 2700, 'material': 'rubber'}]}],"
      "'joints': [{'name': 'l', 'kind': 'prismatic', 'bodies': ['hand', 'left'], 'anchor': [-0.12, "
      "0, 0.17], "
      "'axis': [1, 0, 0], 'travel': {'drive': 'effort', 'motor_effort': 20}},"
      "{'name': 'r', 'kind': 'prismatic', 'bodies': ['hand', 'right'], 'anchor': [0.12, 0, 0.17], "
      "'axis': [-1, 0, 0], "
      "'travel': {'drive': 'effort', 'motor_effort': 20}}],"
      "'sensors': [{'name': 'z', 'kind': 'position', 'body': 'part', 'axis': 'z'}]}");
  known_until(&k, 1);
  double before[CN_BALANCE_PART_COUNT], weight = (1 + 2 * 0.648) * KNOWN_G;
  for (int i = 0; i < CN_BALANCE_PART_COUNT; i++) before[i] = k.work[i];
  CHECK_NEAR(impacts(&k), -2 * 20 * 0.06, 0.03); // what the fingers came with
  known_until(&k, 3);
  CHECK_NEAR(known(&k, "z"), 0.25, 1e-5);
  CHECK_REL(drives(&k) - before[CN_BALANCE_DRIVES], weight * 0.2, 1e-3);
  CHECK_NEAR(impacts(&k), before[CN_BALANCE_IMPACTS], 1e-6);
  CHECK_NEAR(friction(&k), before[CN_BALANCE_FRICTION], 1e-3);
  CHECK_NEAR(k.work[CN_BALANCE_JOINTS] - before[CN_BALANCE_JOINTS], 0, 4e-3);
  CHECK(k.left < 1e-9);
  known_close(&k);
}

// ---- places and velocities of motions ----

// x = a sin w t, and a turn: at the start the body moves with a w, accelerations have no spike, and after N steps it
// is where its function is at N h; the same after a restore.
static void sine(void **state) {
  (void)state;
  const double a = 0.01, f = 5, w = 2 * KNOWN_PI * f;
  FOR_INTEGRATORS(name, 0, INTEGRATORS) {
    Known k = known_open(
        name, 0.001,
        "{'functions': {'s': {'kind': 'sine', 'amplitude': %g, 'frequency': %g}, 'r': {'kind': "
        "'ramp', 'rate': 3}},"
        "'bodies': [{'name': 'plate', 'kind': 'kinematic', 'motion': {'x': 's', 'turn': 'r'}}],"
        "'sensors': [{'name': 'x', 'kind': 'position', 'body': 'plate', 'axis': 'x'},"
        "{'name': 'v', 'kind': 'velocity', 'body': 'plate', 'axis': 'x'},"
        "{'name': 'w', 'kind': 'spin', 'body': 'plate', 'axis': 'z'},"
        "{'name': 'a', 'kind': 'acceleration', 'body': 'plate', 'axis': 'x'}]}",
        a, f);
    int late = known_k == IMPULSE; // velocities are those of the middle of the step
    CHECK_NEAR(known(&k, "v"), a * w, 1e-12);
    CHECK_NEAR(known(&k, "w"), 3, 1e-12);
    double most = 0;
    for (int i = 1; i <= 400; i++) {
      known_steps(&k, 1);
      double t = i * k.h, at = late ? t - k.h / 2 : t;
      CHECK_NEAR(known(&k, "x"), a * cni_sin(w * t), 1e-13);
      CHECK_NEAR(known(&k, "v"), a * w * cni_cos(w * at), late ? a * w * w * w * k.h * k.h : 1e-12);
      CHECK_NEAR(known(&k, "w"), 3, 1e-9);
      most = cn_max(most, fabs(known(&k, "a")));
    }
    CHECK(most < 1.001 * a * w * w);
    size_t size;
    CHECK_OK(cn_world_save(k.world, NULL, 0, &size));
    void *data = malloc(size);
    CHECK_OK(cn_world_save(k.world, data, size, &size));
    known_steps(&k, 55);
    CHECK_OK(cn_world_restore(k.world, data, size));
    CHECK_NEAR(known(&k, "x"), a * cni_sin(w * 0.4), 1e-13);
    known_steps(&k, 7);
    CHECK_NEAR(known(&k, "x"), a * cni_sin(w * 0.407), 1e-13);
    free(data);
    known_close(&k);
  }
}

// A load that begins with the plate's speed is not kicked: it is carried with m (g + z'') from the first step on.
static void carried_from_the_start(void **state) {
  (void)state;
  const double a = 0.01, f = 3, w = 2 * KNOWN_PI * f, m = 1;
  FOR_INTEGRATORS(name, 0, INTEGRATORS) {
    Known k = known_open(
        name, 0.001,
        "{'functions': {'s': {'kind': 'sine', 'amplitude': %g, 'frequency': %g}}, 'bodies': ["
        "{'name': 'plate', 'kind': 'kinematic', 'position': [0, 0, -0.1], 'motion': {'z': 's'}, "
        "'shapes': [{'kind': 'box', 'size': [1, 1, 0.2]}]},"
        "{'name': 'b', 'position': [0, 0, 0.05], 'velocity': [0, 0, %.17g], 'shapes': [{'kind': "
        "'box', 'size': 0.1}]}],"
        "'sensors': [{'name': 'f', 'kind': 'contact_force', 'body': 'b', 'axis': 'z'}]}",
        a, f, a * w);
    for (int i = 1; i <= 60; i++) {
      known_steps(&k, 1);
      double at = (i - (known_k < HEM5 ? 0.5 : 0)) * k.h;
      // the first step of `impulse` brings the load from its speed at 0 to the mean one of the plate
      if (i > 1 || known_k != IMPULSE)
        CHECK_NEAR(known(&k, "f"), m * (KNOWN_G - a * w * w * cni_sin(w * at)),
                   known_k < HEM5 ? 0.05 : 1e-3);
      else
        CHECK_NEAR(known(&k, "f"), m * KNOWN_G, 0.05);
    }
    CHECK_NEAR(impacts(&k), 0, 1e-6);
    known_close(&k);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(conveyor),
                                     cmocka_unit_test(piston),
                                     cmocka_unit_test(pulled_spring),
                                     cmocka_unit_test(bounce),
                                     cmocka_unit_test(gripper),
                                     cmocka_unit_test(sine),
                                     cmocka_unit_test(carried_from_the_start)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
