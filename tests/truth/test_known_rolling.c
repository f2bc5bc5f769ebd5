// SPDX-License-Identifier: Apache-2.0
// Rolling and dry friction by closed forms: where bodies go, with which forces, and where the energy goes.
#include "check.h"
#include "core/math.h"
#include "core/vec.h"
#include "known.h"

#define BALL_MASS (1000 * 4 * KNOWN_PI / 3 * 1e-3) // of radius .1

#define FLOOR "{'name': 'floor', 'kind': 'fixed', 'shapes': [{'kind': 'plane', 'material': 'm'}]}"
#define BALL "'shapes': [{'kind': 'sphere', 'radius': 0.1, 'material': 'm'}]"

// ---- balls that slide until they roll ----

// Thrown with v and backspin s: it rolls with (5 v - 2 r s)/7, back to where it came from where that is negative; friction takes
// m (v + r s)^2/7.
static void backspin(void **state) {
  (void)state;
  FOR_INTEGRATORS(name, 0, INTEGRATORS)
  for (int i = 0; i < 2; i++) {
    double v = 2, s = i ? 80 : 20;
    Known k = known_open(
        name, 0.001,
        "{'materials': {'m': {'friction': 0.4}}, 'bodies': [" FLOOR
        ", {'name': 'b', 'position': [0, 0, 0.1], 'velocity': [%g, 0, 0], 'spin': [0, %g, 0], " BALL
        "}], 'sensors': [{'name': 'v', 'kind': 'velocity', 'body': 'b', 'axis': 'x'},"
        "{'name': 'w', 'kind': 'spin', 'body': 'b', 'axis': 'y'}]}",
        v, -s);
    known_until(&k, 1.2);
    double rolls = (5 * v - 0.2 * s) / 7;
    CHECK_NEAR(known(&k, "v"), rolls, 1e-6);
    CHECK_NEAR(known(&k, "w"), 10 * rolls, 1e-5);
    CHECK_REL(k.work[CN_BALANCE_FRICTION], -BALL_MASS * (v + 0.1 * s) * (v + 0.1 * s) / 7, 1e-5);
    known_close(&k);
  }
}

// A hoop, a cylinder, a ball that spin are put down: they roll away with r s/2, r s/3, 2 r s/7.
static void put_down(void **state) {
  (void)state;
  const double share[3] = {1.0 / 2, 1.0 / 3, 2.0 / 7}, inertia[3] = {0.04, 0.02, 0.016};
  FOR_INTEGRATORS(name, 0, INTEGRATORS)
  for (int i = 0; i < 3; i++) {
    Known k =
        known_open(name, 0.002,
                   "{'materials': {'m': {'friction': 0.5}}, 'bodies': [" FLOOR
                   ", {'name': 'b', 'position': [0, 0, 0.1], 'mass': 4, 'inertia': [%g, %g, %g], "
                   "'spin': [0, 50, 0], " BALL "}],"
                   "'sensors': [{'name': 'v', 'kind': 'velocity', 'body': 'b', 'axis': 'x'}]}",
                   inertia[i], inertia[i], inertia[i]);
    known_until(&k, 1);
    CHECK_NEAR(known(&k, "v"), share[i] * 5, 1e-6);
    CHECK_REL(
        k.work[CN_BALANCE_FRICTION],
        -(0.5 * inertia[i] * 2500 - k.brought) * 0 -
            (0.5 * inertia[i] * 2500 - 0.5 * (4 + inertia[i] / 0.01) * share[i] * share[i] * 25),
        1e-5);
    known_close(&k);
  }
}

// On a belt with V a ball comes to 2 V/7; the belt gives 2 m V^2/7, half of it heat.
static void ball_on_belt(void **state) {
  (void)state;
  const double V = 2.1;
  FOR_INTEGRATORS(name, 0, INTEGRATORS) {
    Known k = known_open(
        name, 0.001,
        "{'materials': {'m': {'friction': 0.5, 'surface_velocity': [0, 0, 0]}, 'belt': "
        "{'friction': 0.5, "
        "'surface_velocity': [%g, 0, 0]}}, 'bodies': [{'kind': 'fixed', 'position': [0, 0, -1], "
        "'shapes': [{'kind': 'box', "
        "'size': [20, 2, 2], 'material': 'belt'}]}, {'name': 'b', 'position': [0, 0, 0.1], " BALL
        "}],"
        "'sensors': [{'name': 'v', 'kind': 'velocity', 'body': 'b', 'axis': 'x'},"
        "{'name': 'w', 'kind': 'spin', 'body': 'b', 'axis': 'y'}]}",
        V);
    known_until(&k, 0.5);
    CHECK_NEAR(known(&k, "v"), 2 * V / 7, 1e-6);
    CHECK_NEAR(known(&k, "w"), -5 * V / 7 / 0.1, 1e-5);
    if (known_k < HEM5) { // they know the work of the belt over the step
      CHECK_REL(k.work[CN_BALANCE_DRIVES], 2 * BALL_MASS * V * V / 7, 1e-4);
      CHECK_REL(k.work[CN_BALANCE_FRICTION], -BALL_MASS * V * V / 7, 1e-4);
    }
    CHECK_REL(k.brought, BALL_MASS * V * V / 7, 1e-5);
    known_close(&k);
  }
}

// ---- a ball on a turntable goes in circles of its own, with 2/7 of the table's speed ----

static void turntable_ball(void **state) {
  (void)state;
  const double W = 3.5, v = 0.4; // rolls past the axis: a circle of v/(2 W/7), W' = 1 rad/s
  FOR_INTEGRATORS(name, 0, INTEGRATORS) {
    Known k = known_open(
        name, known_k < HEM5 ? 0.001 : 0.005,
        "{'materials': {'m': {'friction': 1}}, 'bodies': [{'name': 'table', 'kind': 'kinematic', "
        "'spin': [0, 0, %g], 'position': [0, 0, -0.1], 'shapes': [{'kind': 'cylinder', 'radius': "
        "3, 'length': 0.2, "
        "'material': 'm'}]}, {'name': 'b', 'position': [0, 0, 0.1], 'velocity': [%g, 0, 0], "
        "'spin': [0, %g, 0], " BALL "}], 'sensors': [{'name': 'x', 'kind': 'position', 'body': "
        "'b'}, {'name': 'v', 'kind': 'velocity', 'body': 'b'},"
        "{'name': 'f', 'kind': 'contact_force', 'body': 'b'}]}",
        W, v, v / 0.1);
    known_until(&k, KNOWN_PI / 2);
    double t = known_time(&k), first = known_k == IMPULSE ? 3e-3 : 1e-6;
    CHECK_NEAR(known(&k, "x.x"), v * cni_sin(t), first);
    CHECK_NEAR(known(&k, "x.y"), v * (1 - cni_cos(t)), first);
    CHECK_NEAR(known(&k, "v.x"), v * cni_cos(t), first);
    CHECK_NEAR(known(&k, "v.y"), v * cni_sin(t), first);
    CHECK_NEAR(known(&k, "f.x"), -BALL_MASS * v * cni_sin(t), 5 * first);
    known_until(&k, KNOWN_PI);
    t = known_time(&k);
    CHECK_NEAR(known(&k, "x.x"), v * cni_sin(t), first);
    CHECK_NEAR(known(&k, "x.y"), v * (1 - cni_cos(t)), first);
    known_close(&k);
  }
}

// ---- down from a ball ----

// A ball that rolls down a fixed one is pressed with m g (17 cos - 10)/7 and leaves at cos = 10/17; a smooth one at 2/3.
static void off_a_ball(void **state) {
  (void)state;
  FOR_INTEGRATORS(name, 0, INTEGRATORS)
  for (int rough = 0; rough < 2; rough++) {
    double R = 0.6, a = 0.2;
    Known k = known_open(
        name, 0.0005,
        "{'materials': {'m': {'friction': %g}}, 'bodies': [{'kind': 'fixed', 'shapes': [{'kind': "
        "'sphere', "
        "'radius': 0.5, 'material': 'm'}]}, {'name': 'b', 'position': [%.17g, 0, %.17g], " BALL
        "}],"
        "'sensors': [{'name': 'z', 'kind': 'position', 'body': 'b', 'axis': 'z'},"
        "{'name': 'n', 'kind': 'contact_force', 'body': 'b', 'axis': 'normal'}]}",
        rough ? 30.0 : 0.0, R * cni_sin(a), R * cni_cos(a));
    double start = cni_cos(a), first = known_k < HEM5 ? 0.02 : 1e-5, last = 1;
    while (known(&k, "z") / R > 0.75) {
      known_steps(&k, 1);
      last = known(&k, "z") / R;
      double force = rough ? (17 * last - 10 * start) / 7 : 3 * last - 2 * start;
      CHECK_NEAR(known(&k, "n"), BALL_MASS * KNOWN_G * force, BALL_MASS * KNOWN_G * first);
    }
    while (known(&k, "n") > 0) {
      last = known(&k, "z") / R;
      known_steps(&k, 1);
    }
    CHECK_NEAR(last, (rough ? 10.0 / 17 : 2.0 / 3) * start, 5e-3);
    known_close(&k);
  }
}

// ---- a ball in a groove ----

// Walls at 45 degrees: it turns about the chord at r/sqrt 2, a = g sin/(1 + 2/5 2).
static void groove(void **state) {
  (void)state;
  const double slope = 0.2;
  FOR_INTEGRATORS(name, 0, INTEGRATORS) {
    Known k = known_open(
        name, 0.001,
        "{'settings': {'gravity': [%.17g, 0, %.17g]}, 'materials': {'m': {'friction': 0.6}}, "
        "'bodies': ["
        "{'kind': 'fixed', 'shapes': [{'kind': 'plane', 'normal': [0, 1, 1], 'material': 'm'}, "
        "{'kind': 'plane', 'normal': [0, -1, 1], 'material': 'm'}]},"
        "{'name': 'b', 'position': [0, 0, %.17g], " BALL "}],"
        "'sensors': [{'name': 'v', 'kind': 'velocity', 'body': 'b', 'axis': 'x'},"
        "{'name': 'f', 'kind': 'contact_force', 'body': 'b'}]}",
        KNOWN_G * cni_sin(slope), -KNOWN_G * cni_cos(slope), 0.1 * sqrt(2));
    known_until(&k, 0.5);
    double a = KNOWN_G * cni_sin(slope) / 1.8;
    CHECK_REL(known(&k, "v"), a * 0.5, 1e-5);
    CHECK_REL(known(&k, "f.z"), BALL_MASS * KNOWN_G * cni_cos(slope), 1e-5);
    CHECK_REL(known(&k, "f.x"), -BALL_MASS * 0.8 * a, 1e-5);
    known_close(&k);
  }
}

// ---- rolling resistance ----

// With the lever d a ball stays on a slope of tan < d/r, and rolls down with 5 g (sin - cos d/r)/7 on a steeper one.
static void rolling_resistance(void **state) {
  (void)state;
  FOR_INTEGRATORS(name, 0, INTEGRATORS)
  for (int steep = 0; steep < 2; steep++) {
    double slope = atan(steep ? 0.13 : 0.07);
    Known k = known_open(
        name, 0.001,
        "{'settings': {'gravity': [%.17g, 0, %.17g]}, 'materials': {'m': {'friction': 0.6, "
        "'rolling_friction': 0.01}}, 'bodies': [" FLOOR
        ", {'name': 'b', 'position': [0, 0, 0.1], " BALL "}],"
        "'sensors': [{'name': 'v', 'kind': 'velocity', 'body': 'b', 'axis': 'x'}]}",
        KNOWN_G * cni_sin(slope), -KNOWN_G * cni_cos(slope));
    known_until(&k, 0.5);
    double a = steep ? 5.0 / 7 * KNOWN_G * (cni_sin(slope) - 0.1 * cni_cos(slope)) : 0;
    CHECK_NEAR(known(&k, "v"), 0.5 * a, 1e-6);
    known_close(&k);
  }
}

// ---- a spool that is pulled by its thread ----

// Thread at the radius r under a spool of radius R at the angle a above the floor: it rolls after the thread where
// cos a > r/R and away where it is less: a_x = F (cos a - r/R) /(m (1 + J/(m R^2))).
static void spool(void **state) {
  (void)state;
  const double F = 2, R = 0.1, r = 0.05, m = 2, J = 0.006;
  FOR_INTEGRATORS(name, 0, INTEGRATORS)
  for (int up = 0; up < 2; up++) {
    double a = up ? 1.3 : 0.6;
    // the thread's force at its point on the hub, as a force and a torque about the axis
    Known k = known_open(
        name, 0.001,
        "{'materials': {'m': {'friction': 0.5}}, 'bodies': [" FLOOR
        ", {'name': 'b', 'position': [0, 0, 0.1], 'mass': %g, 'inertia': [%g, %g, %g], " BALL "}],"
        "'forces': [{'kind': 'constant', 'body': 'b', 'force': [%.17g, 0, %.17g], 'torque': [0, "
        "%.17g, 0]}],"
        "'sensors': [{'name': 'v', 'kind': 'velocity', 'body': 'b', 'axis': 'x'},"
        "{'name': 'f', 'kind': 'contact_force', 'body': 'b', 'axis': 'x'}]}",
        m, J, J, J, F * cni_cos(a), F * cni_sin(a), -F * r);
    known_until(&k, 0.4);
    double acceleration = F * (cni_cos(a) - r / R) / (m + J / (R * R));
    CHECK(up ? acceleration < 0 : acceleration > 0);
    CHECK_REL(known(&k, "v"), 0.4 * acceleration, 1e-6);
    CHECK_NEAR(known(&k, "f"), m * acceleration - F * cni_cos(a), 1e-5);
    known_close(&k);
  }
}

// ---- a plank rocks on a cylinder ----

// Half thickness a on the radius R: w^2 = g (R - a)/(k^2 + a^2), k^2 = (L^2 + (2 a)^2)/12.
static void plank(void **state) {
  (void)state;
  const double R = 0.3, a = 0.05, L = 1;
  double w = sqrt(KNOWN_G * (R - a) / ((L * L + 4 * a * a) / 12 + a * a));
  FOR_INTEGRATORS(name, 0, HEM5) {
    Known k =
        known_open(name, 0.001,
                   "{'materials': {'m': {'friction': 2}}, 'bodies': [{'kind': 'fixed', 'position': "
                   "[0, 0, %g], 'shapes': ["
                   "{'kind': 'cylinder', 'radius': %g, 'length': 1, 'rotation': {'axis': [1, 0, "
                   "0], 'degrees': 90}, "
                   "'material': 'm'}]}, {'name': 'p', 'position': [0, 0, %g], 'spin': [0, 0.1, 0], "
                   "'velocity': [%g, 0, 0],"
                   "'shapes': [{'kind': 'box', 'size': [%g, 0.2, %g], 'material': 'm'}]}],"
                   "'sensors': [{'name': 'q', 'kind': 'rotation', 'body': 'p', 'axis': 'y'}]}",
                   -R, R, a, 0.1 * a, L, 2 * a);
    known_steps(&k, 5);
    double half = known_when(&k, "q", 0, 2);
    CHECK_REL(half, KNOWN_PI / w, 0.01);
    known_close(&k);
  }
}

// ---- limits of friction ----

// A ladder of length 2 l leans with mu at floor and wall: it stands above tan a = (1 - mu^2)/(2 mu).
static void ladder(void **state) {
  (void)state;
  const double mu = 0.4;
  double limit = atan((1 - mu * mu) / (2 * mu));
  FOR_INTEGRATORS(name, 0, HEM5)
  for (int i = 0; i < 2; i++) {
    double a = limit + (i ? 0.02 : -0.02), r = 0.01, l = 0.5;
    Known k =
        known_open(name, 0.001,
                   "{'materials': {'m': {'friction': %g}}, 'bodies': [{'kind': 'fixed', 'shapes': "
                   "[{'kind': 'plane', "
                   "'material': 'm'}, {'kind': 'plane', 'normal': [1, 0, 0], 'material': 'm'}]},"
                   "{'name': 'b', 'position': [%.17g, 0, %.17g], 'rotation': {'axis': [0, 1, 0], "
                   "'radians': %.17g}, 'shapes': ["
                   "{'kind': 'capsule', 'radius': %g, 'length': %g, 'material': 'm'}]}],"
                   "'sensors': [{'name': 'v', 'kind': 'velocity', 'body': 'b', 'axis': 'length'}]}",
                   mu, l * cni_cos(a) + r, l * cni_sin(a) + r, a - KNOWN_PI / 2, r, 2 * l);
    known_until(&k, 0.5);
    CHECK(i ? known(&k, "v") < 1e-6 : known(&k, "v") > 0.05);
    known_close(&k);
  }
}

// A rod whose tips are small against it slips down a smooth wall: it presses with 3/4 m g sin a (3 cos a - 2 cos a0), a from the
// wall, and leaves the wall at two thirds of its height.
static void slipping_rod(void **state) {
  (void)state;
  FOR_INTEGRATORS(name, 0, INTEGRATORS) {
    double a0 = 0.5, r = 1e-5, l = 1, cosine;
    Known k = known_open(
        name, 0.001,
        "{'materials': {'m': {'friction': 0}}, 'bodies': [{'name': 'f', 'kind': 'fixed', 'shapes': "
        "[{'kind': 'plane', 'material': 'm'}]}, {'name': 'w', 'kind': 'fixed', 'shapes': [{'kind': "
        "'plane', 'normal': [1, 0, 0], 'material': 'm'}]}, {'name': 'b', 'mass': 3, "
        "'inertia': [1, 1, 0.001], 'position': [%.17g, 0, %.17g], 'rotation': {'axis': [0, 1, 0], "
        "'radians': %.17g}, 'shapes': [{'kind': 'sphere', 'radius': %g, 'position': [0, 0, %g], "
        "'material': 'm'}, {'kind': 'sphere', 'radius': %g, 'position': [0, 0, -%g], 'material': "
        "'m'}]}], 'sensors': [{'name': 'n', 'kind': 'contact_force', 'bodies': ['b', 'w'], "
        "'axis': 'normal'}, {'name': 'z', 'kind': 'position', 'body': 'b', 'axis': 'z'}]}",
        l * cni_sin(a0) + r, l * cni_cos(a0) + r, -a0, r, l, r, l);
    for (int i = 0; i < 400; i++) {
      known_steps(&k, 1);
      cosine = (known(&k, "z") - r) / l;
      double force =
          3 * KNOWN_G * 0.75 * sqrt(1 - cosine * cosine) * (3 * cosine - 2 * cni_cos(a0));
      CHECK_NEAR(known(&k, "n"), force, 0.1);
    }
    while (known(&k, "n") > 0) known_steps(&k, 1);
    cosine = (known(&k, "z") - r) / l;
    CHECK_NEAR(cosine / cni_cos(a0), 2.0 / 3, 0.005);
    known_close(&k);
  }
}

// A box of width b and height c on a cart: it topples where the cart accelerates with more than g b/c.
static void topples(void **state) {
  (void)state;
  FOR_INTEGRATORS(name, 0, HEM5)
  for (int i = 0; i < 2; i++) {
    double limit = KNOWN_G * 0.1 / 0.3, a = limit * (i ? 1.05 : 0.95);
    Known k = known_open(name, 0.001,
                         "{'materials': {'m': {'friction': 2}}, 'functions': {'v': {'kind': "
                         "'ramp', 'rate': %.17g}}, 'bodies': ["
                         "{'name': 'cart', 'mass': 50, 'inertia': [9, 9, 9], 'position': [0, 0, "
                         "-0.1], 'shapes': [{'kind': 'box', "
                         "'size': [2, 1, 0.2], 'material': 'm'}]}, {'name': 'box', 'position': [0, "
                         "0, 0.15], 'shapes': [{'kind': 'box', "
                         "'size': [0.1, 0.1, 0.3], 'material': 'm'}]}], 'joints': [{'name': 'j', "
                         "'kind': 'prismatic', 'bodies': ['ground', "
                         "'cart'], 'anchor': [0, 0, -0.1], 'axis': [1, 0, 0], 'travel': {'drive': "
                         "'speed', 'motor_effort': 'unlimited', "
                         "'motor_function': 'v'}}], 'sensors': [{'name': 'q', 'kind': 'rotation', "
                         "'body': 'box', 'axis': 'y'},"
                         "{'name': 'm', 'kind': 'joint_effort', 'joint': 'j', 'axis': 'motor'}]}",
                         a);
    known_until(&k, 0.2);
    if (!i) CHECK_REL(known(&k, "m"), 53 * a, 1e-6);
    known_until(&k, 0.6);
    CHECK(i ? fabs(known(&k, "q")) > 0.1 : fabs(known(&k, "q")) < 1e-6);
    known_close(&k);
  }
}

// Two round fingers press a block with N each: mu 2 N holds it or not; it slips with g - 2 mu N/m.
static void grip(void **state) {
  (void)state;
  const double m = 1, mu = 0.5;
  FOR_INTEGRATORS(name, 0, HEM5)
  for (int i = 0; i < 2; i++) {
    double N = KNOWN_G * m / (2 * mu) * (i ? 1.02 : 0.8);
    Known k =
        known_open(name, 0.001,
                   "{'materials': {'m': {'friction': %g}}, 'bodies': [{'name': 'b', 'shapes': "
                   "[{'kind': 'box', 'size': 0.1, "
                   "'material': 'm'}]},"
                   "{'name': 'l', 'position': [-0.06, 0, 0], 'shapes': [{'kind': 'sphere', "
                   "'radius': 0.01, 'material': 'm'}]},"
                   "{'name': 'r', 'position': [0.06, 0, 0], 'shapes': [{'kind': 'sphere', "
                   "'radius': 0.01, 'material': 'm'}]}],"
                   "'joints': [{'kind': 'prismatic', 'bodies': ['ground', 'l'], 'anchor': [-0.06, "
                   "0, 0], 'axis': [1, 0, 0], "
                   "'travel': {'drive': 'effort', 'motor_effort': %.17g}}, {'kind': 'prismatic', "
                   "'bodies': ['ground', 'r'], "
                   "'anchor': [0.06, 0, 0], 'axis': [-1, 0, 0], 'travel': {'drive': 'effort', "
                   "'motor_effort': %.17g}}],"
                   "'sensors': [{'name': 'v', 'kind': 'velocity', 'body': 'b', 'axis': 'z'},"
                   "{'name': 'n', 'kind': 'contact_force', 'bodies': ['b', 'l'], 'axis': 'x'}]}",
                   mu, N, N);
    known_until(&k, 0.2);
    CHECK_NEAR(known(&k, "n"), N, 1e-4);
    CHECK_NEAR(known(&k, "v"), i ? 0 : -0.2 * (KNOWN_G - 2 * mu * N / m), 1e-5);
    known_close(&k);
  }
}

// ---- blocks ----

// A block slides on a free cart until they go together: momentum stays, friction takes m M v^2/(2 (m + M)), and the
// block has slid v^2 M/(2 mu g (m + M)).
static void block_on_cart(void **state) {
  (void)state;
  const double m = 1, M = 4, v = 2, mu = 0.3;
  FOR_INTEGRATORS(name, 0, HEM5) {
    Known k = known_open(name, 0.001,
                         "{'materials': {'m': {'friction': %g}}, 'bodies': [{'name': 'cart', "
                         "'mass': %g, 'inertia': [1, 1, 1], "
                         "'position': [0, 0, -0.1], 'shapes': [{'kind': 'box', 'size': [4, 1, "
                         "0.2], 'material': 'm'}]},"
                         "{'name': 'b', 'position': [-1, 0, 0.05], 'velocity': [%g, 0, 0], "
                         "'shapes': [{'kind': 'box', 'size': 0.1, "
                         "'material': 'm'}]}], 'joints': [{'kind': 'prismatic', 'bodies': "
                         "['ground', 'cart'], 'anchor': [0, 0, -0.1], "
                         "'axis': [1, 0, 0]}], 'sensors': [{'name': 'v', 'kind': 'velocity', "
                         "'body': 'b', 'axis': 'x'},"
                         "{'name': 'c', 'kind': 'position', 'body': 'cart', 'axis': 'x'},"
                         "{'name': 'x', 'kind': 'position', 'body': 'b', 'axis': 'x'}]}",
                         mu, M, v);
    known_until(&k, 1);
    CHECK_NEAR(known(&k, "v"), v * m / (m + M), 1e-6);
    CHECK_NEAR(known(&k, "x") - known(&k, "c") + 1, v * v * M / (2 * mu * KNOWN_G * (m + M)), 2e-3);
    CHECK_REL(k.work[CN_BALANCE_FRICTION], -m * M * v * v / (2 * (m + M)), 1e-5);
    known_close(&k);
  }
}

// A smooth block on a smooth wedge that is free to move: the wedge goes back with m g sin cos/(M + m sin^2), and is pressed
// with m M g cos/(M + m sin^2).
static void wedge(void **state) {
  (void)state;
  const double a = 0.5, m = 1, M = 5;
  double s = cni_sin(a), c = cni_cos(a), back = m * KNOWN_G * s * c / (M + m * s * s);
  FOR_INTEGRATORS(name, 0, HEM5) {
    double up = 0.1 + 0.05; // half of the wedge's box and of the block
    Known k = known_open(name, 0.0005,
                         "{'materials': {'m': {'friction': 0}}, 'bodies': [{'name': 'w', 'mass': "
                         "%g, 'inertia': [1, 1, 1], "
                         "'rotation': {'axis': [0, 1, 0], 'radians': %.17g}, 'shapes': [{'kind': "
                         "'box', 'size': [4, 1, 0.2], "
                         "'material': 'm'}]}, {'name': 'b', 'rotation': {'axis': [0, 1, 0], "
                         "'radians': %.17g}, 'position': [%.17g, 0, %.17g],"
                         "'shapes': [{'kind': 'box', 'size': 0.1, 'material': 'm'}]}], 'joints': "
                         "[{'name': 'j', 'kind': 'prismatic', "
                         "'bodies': ['ground', 'w'], 'anchor': [0, 0, 0], 'axis': [1, 0, 0]}],"
                         "'sensors': [{'name': 'w', 'kind': 'velocity', 'body': 'w', 'axis': 'x'},"
                         "{'name': 'b', 'kind': 'velocity', 'body': 'b', 'axis': 'x'},"
                         "{'name': 'n', 'kind': 'contact_force', 'body': 'b', 'axis': 'normal'},"
                         "{'name': 'f', 'kind': 'joint_force', 'joint': 'j', 'axis': 'z'}]}",
                         M, a, a, up * s, up * c);
    known_until(&k, 0.3);
    CHECK_REL(known(&k, "w"), -0.3 * back, 1e-4);
    CHECK_NEAR(M * known(&k, "w") + m * known(&k, "b"), 0, 1e-9);
    CHECK_REL(known(&k, "n"), m * M * KNOWN_G * c / (M + m * s * s), 1e-3);
    known_close(&k);
  }
}

// Two stacked blocks, the lower one pulled with F: they go together up to mu g (m1 + m2) on a smooth floor, beyond that the
// upper one has mu g and the lower one (F - mu m g)/M.
static void stacked(void **state) {
  (void)state;
  const double m = 1, M = 8, mu = 0.25;
  FOR_INTEGRATORS(name, 0, HEM5)
  for (int i = 0; i < 2; i++) {
    double F = mu * KNOWN_G * (m + M) * (i ? 1.2 : 0.98);
    Known k =
        known_open(name, 0.001,
                   "{'materials': {'m': {'friction': %g}, 'ice': {'friction': 0, 'friction_rule': "
                   "'product'}}, 'bodies': ["
                   "{'kind': 'fixed', 'shapes': [{'kind': 'plane', 'material': 'ice'}]},"
                   "{'name': 'low', 'position': [0, 0, 0.1], 'shapes': [{'kind': 'box', 'size': "
                   "0.2, 'material': 'm'}]},"
                   "{'name': 'top', 'position': [0, 0, 0.25], 'shapes': [{'kind': 'box', 'size': "
                   "0.1, 'material': 'm'}]}],"
                   "'forces': [{'kind': 'constant', 'body': 'low', 'force': [%.17g, 0, 0]}],"
                   "'sensors': [{'name': 'l', 'kind': 'velocity', 'body': 'low', 'axis': 'x'},"
                   "{'name': 't', 'kind': 'velocity', 'body': 'top', 'axis': 'x'}]}",
                   mu, F);
    known_until(&k, 0.1);
    CHECK_NEAR(known(&k, "t"), 0.1 * (i ? mu * KNOWN_G : F / (m + M)), 1e-5);
    CHECK_NEAR(known(&k, "l"), 0.1 * (i ? (F - mu * m * KNOWN_G) / M : F / (m + M)), 1e-5);
    known_close(&k);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(backspin),
                                     cmocka_unit_test(put_down),
                                     cmocka_unit_test(ball_on_belt),
                                     cmocka_unit_test(turntable_ball),
                                     cmocka_unit_test(off_a_ball),
                                     cmocka_unit_test(groove),
                                     cmocka_unit_test(rolling_resistance),
                                     cmocka_unit_test(spool),
                                     cmocka_unit_test(plank),
                                     cmocka_unit_test(ladder),
                                     cmocka_unit_test(slipping_rod),
                                     cmocka_unit_test(topples),
                                     cmocka_unit_test(grip),
                                     cmocka_unit_test(block_on_cart),
                                     cmocka_unit_test(wedge),
                                     cmocka_unit_test(stacked)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
