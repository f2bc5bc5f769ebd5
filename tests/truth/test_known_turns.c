// SPDX-License-Identifier: Apache-2.0
// What turns as it rolls, by closed forms: cones, coins, balls that pivot; belts that grip and let go, blows at the
// centre of percussion. Torques and forces as users see them.
#include "check.h"
#include "core/math.h"
#include "core/vec.h"
#include "known.h"

#include <stdio.h>

#define FLOOR "{'name': 'floor', 'kind': 'fixed', 'shapes': [{'kind': 'plane', 'material': 'm'}]}"

static double least(int32_t integrator, double impulse, double moreau_jean, double rest) {
  return integrator == IMPULSE ? impulse : integrator == MOREAU_JEAN ? moreau_jean : rest;
}

// ---- resistance to rolling and to pivoting ----

// A ball that pivots on a lever d loses d m g/J of its spin a second and tells the torque d m g; one that rolls against a lever d
// slows down with a = g (d/r)/(1 + J/(m r^2)), by a force m a, and the torque about its centre is J a/r.
static void resistance(void **state) {
  (void)state;
  const double a = KNOWN_G * 0.2 / 1.4;
  FOR_INTEGRATORS(name, 0, INTEGRATORS) {
    Known k = known_open(
        name, 0.001,
        "{'materials': {'m': {'friction': 0.5, 'spinning_friction': 0.01, 'rolling_friction': "
        "0.02}}, 'bodies': [" FLOOR
        ", {'repeat': 2, 'items': [{'name': 'b{i}', 'position': [0, '=5*i', 0.1], 'velocity': "
        "['=3*i', 0, 0], 'spin': [0, '=30*i', '=20*(1-i)'], 'mass': 2, 'inertia': [0.008, 0.008, "
        "0.008], 'shapes': [{'kind': 'sphere', 'radius': 0.1, 'material': 'm'}]}]}],"
        "'sensors': [{'name': 'w', 'kind': 'spin', 'body': 'b0', 'axis': 'z'},"
        "{'name': 'pivot', 'kind': 'contact_torque', 'body': 'b0', 'axis': 'z'},"
        "{'name': 'v', 'kind': 'velocity', 'body': 'b1', 'axis': 'x'},"
        "{'name': 'F', 'kind': 'contact_force', 'body': 'b1', 'axis': 'x'},"
        "{'name': 'roll', 'kind': 'contact_torque', 'body': 'b1', 'axis': 'y'}]}");
    known_until(&k, 0.5);
    CHECK_NEAR(known(&k, "w"), 20 - 0.01 * 2 * KNOWN_G / 0.008 * 0.5, 1e-6);
    CHECK_NEAR(known(&k, "pivot"), -0.01 * 2 * KNOWN_G, 1e-7);
    CHECK_NEAR(known(&k, "v"), 3 - a * 0.5, 1e-7);
    CHECK_NEAR(known(&k, "F"), -2 * a, 1e-6);
    CHECK_NEAR(known(&k, "roll"), -0.008 * a / 0.1, 1e-6);
    CHECK_NEAR(k.work[CN_BALANCE_FRICTION], k.brought, known_k < HEM5 ? 1e-4 : 1e-2);
    known_close(&k);
  }
}

// ---- a cone that rolls about its tip ----

// On a floor that leans by b it swings as a pendulum of w^2 = 5 g sin b cos a/(H (1 + 5 cos^2 a)), a half of its angle, at any
// height (Landau and Lifshitz, 32).
static double swung(double w2, double angle, double time) {
  double rate = 0, h = time / 4000;
  for (int i = 0; i < 4000; i++) {
    double k1 = rate, l1 = -w2 * cni_sin(angle);
    double k2 = rate + h / 2 * l1, l2 = -w2 * cni_sin(angle + h / 2 * k1);
    double k3 = rate + h / 2 * l2, l3 = -w2 * cni_sin(angle + h / 2 * k2);
    double k4 = rate + h * l3, l4 = -w2 * cni_sin(angle + h * k3);
    angle += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    rate += h / 6 * (l1 + 2 * l2 + 2 * l3 + l4);
  }
  return angle;
}

// Rotation with these axes, as text.
static void write_turn(CnVec3 x, CnVec3 y, CnVec3 z, char text[128]) {
  double w = sqrt(1 + x.x + y.y + z.z) / 2;
  CHECK(w > 0.1);
  snprintf(text, 128, "[%.17g, %.17g, %.17g, %.17g]", w, (y.z - z.y) / (4 * w),
           (z.x - x.z) / (4 * w), (x.y - y.x) / (4 * w));
}

static void rolling_cone(void **state) {
  (void)state;
  const double H = 1, a = 0.35, lean = 0.2, from = 0.5, T = 1.2, c = cni_cos(a), s = cni_sin(a);
  const double w2 = 5 * KNOWN_G * c * cni_sin(lean) / (H * (1 + 5 * c * c));
  CnVec3 z = {-cni_cos(from) * c, -cni_sin(from) * c, -s};
  CnVec3 y = {-cni_sin(from), cni_cos(from), 0};
  double at = swung(w2, from, T), mass = 1000 * KNOWN_PI / 3 * H * H * H * s * s / (c * c);
  char turn[128];
  write_turn(cn_cross(y, z), y, z, turn);
  FOR_INTEGRATORS(name, 0, INTEGRATORS) {
    double error[2];
    for (int i = 0; i < (known_k < HEM5 ? 2 : 1); i++) {
      Known k = known_open(
          name, known_k < HEM5 ? 0.004 / (1 << i) : 0.02,
          "{'settings': {'gravity': [%.17g, 0, %.17g]}, 'materials': {'m': {'friction': 2}},"
          "'bodies': [" FLOOR ", {'name': 'c', 'position': [%.17g, %.17g, %.17g], 'rotation': %s,"
          "'shapes': [{'kind': 'cone', 'radius': %.17g, 'length': %g, 'material': 'm'}]}],"
          "'sensors': [{'name': 'x', 'kind': 'position', 'body': 'c', 'axis': 'x'},"
          "{'name': 'y', 'kind': 'position', 'body': 'c', 'axis': 'y'},"
          "{'name': 'N', 'kind': 'contact_force', 'body': 'c', 'axis': 'z'}]}",
          KNOWN_G * cni_sin(lean), -KNOWN_G * cni_cos(lean), -z.x * H / 2, -z.y * H / 2,
          -z.z * H / 2, turn, H * s / c, H);
      known_until(&k, T);
      error[i] = fabs(known(&k, "y") - cni_sin(at) * c * H / 2);
      CHECK_NEAR(known(&k, "x"), cni_cos(at) * c * H / 2, least(known_k, 1e-3, 1e-5, 1e-8));
      CHECK(error[i] < least(known_k, 1e-3, 1e-5, 1e-8));
      CHECK_REL(known(&k, "N"), mass * KNOWN_G * cni_cos(lean), least(known_k, 2e-2, 1e-6, 1e-6));
      known_close(&k);
    }
    if (known_k == IMPULSE) CHECK(error[0] / error[1] > 1.9);
    if (known_k == MOREAU_JEAN) CHECK(error[0] / error[1] > 3.5);
  }
}

// ---- a coin that goes round in a circle ----

typedef struct Coin {
  double r, b, lean,
      W; // radius, half thickness, angle of the axis to the vertical, turns about the vertical
  double mass, spin; // about the axis beside W
  CnVec3 axis, p, v, w, force;
  double gap; // of the torque, N m: linear in the spin
} Coin;

// p x F = W x L with the contact at p, v = -w x p, F = m (g z + W x v).
static void coin_with(Coin *c, double spin) {
  double m = c->mass = 2000 * KNOWN_PI * c->r * c->r * c->b;
  double across = m * (3 * c->r * c->r + 4 * c->b * c->b) / 12, along = m * c->r * c->r / 2;
  double sine = cni_sin(c->lean), cosine = cni_cos(c->lean);
  CnVec3 W = {0, 0, c->W};
  c->spin = spin;
  c->axis = cn_vec3(sine, 0, cosine);
  c->p = cn_vec3(c->r * cosine - c->b * sine, 0, -c->r * sine - c->b * cosine);
  c->w = cn_madd(W, spin, c->axis);
  c->v = cn_cross(c->p, c->w);
  c->force = cn_scale(m, cn_add(cn_vec3(0, 0, KNOWN_G), cn_cross(W, c->v)));
  double own = cn_dot(c->w, c->axis);
  CnVec3 L = cn_madd(cn_scale(across, c->w), own * (along - across), c->axis);
  c->gap = cn_cross(c->p, c->force).y - cn_cross(W, L).y;
}

static void rolling_coin(void **state) {
  (void)state;
  const double T = 0.5;
  FOR_INTEGRATORS(name, 0, INTEGRATORS)
  for (int i = 0; i < 2; i++) {
    Coin c = {.r = 0.1, .b = i ? 0.02 : 0.01, .lean = i ? 0.9 : 1.2, .W = i ? -8 : 3};
    coin_with(&c, 0);
    double start = c.gap;
    coin_with(&c, 1);
    coin_with(&c, start / (start - c.gap));
    CHECK_NEAR(c.gap, 0, 1e-12);
    double X = c.v.y / c.W;
    char turn[128];
    CnVec3 x = {0, 1, 0};
    write_turn(x, cn_cross(c.axis, x), c.axis, turn);
    Known k = known_open(
        name, known_k < HEM5 ? 0.0005 : 0.01,
        "{'materials': {'m': {'friction': 3}}, 'bodies': [" FLOOR
        ", {'name': 'c', 'position': [%.17g, 0, %.17g], 'rotation': %s, 'velocity': [0, %.17g, 0],"
        "'spin': [%.17g, 0, %.17g], 'shapes': [{'kind': 'cylinder', 'radius': %g, 'length': %g, "
        "'material': 'm'}]}],"
        "'sensors': [{'name': 'x', 'kind': 'position', 'body': 'c', 'axis': 'x'},"
        "{'name': 'y', 'kind': 'position', 'body': 'c', 'axis': 'y'},"
        "{'name': 'z', 'kind': 'position', 'body': 'c', 'axis': 'z'},"
        "{'name': 'N', 'kind': 'contact_force', 'body': 'c', 'axis': 'z'},"
        "{'name': 't', 'kind': 'contact_torque', 'body': 'c', 'axis': 'length'}]}",
        X, -c.p.z, turn, c.v.y, c.w.x, c.w.z, c.r, 2 * c.b);
    known_until(&k, T);
    double may = least(known_k, 2e-3, 2e-5, 1e-8);
    CHECK_NEAR(known(&k, "x"), X * cni_cos(c.W * T), may);
    CHECK_NEAR(known(&k, "y"), X * cni_sin(c.W * T), may);
    CHECK_NEAR(known(&k, "z"), -c.p.z, may);
    CHECK_REL(known(&k, "N"), c.mass * KNOWN_G, may);
    CHECK_REL(known(&k, "t"), cn_norm(cn_cross(c.p, c.force)), 10 * may);
    known_close(&k);
  }
}

// ---- a belt under a block on a spring ----

// It takes the block along until mu m g holds no more, which then swings about mu m g/k with V/w and is caught as it comes back to
// the speed of the belt.
static void belt_and_spring(void **state) {
  (void)state;
  const double k_spring = 50, V = 0.5, mu = 0.3, w = sqrt(50.0), x0 = mu * KNOWN_G / k_spring;
  FOR_INTEGRATORS(name, 0, HEM5 + 1) {
    Known k = known_open(
        name, 0.0005,
        "{'materials': {'m': {'friction': %g}, 'belt': {'friction': %g, 'surface_velocity': [%g, "
        "0, "
        "0]}}, 'bodies': [{'name': 'belt', 'kind': 'fixed', 'position': [0, 0, -0.1], 'shapes': "
        "[{'kind': 'box', 'size': [20, 2, 0.2], 'material': 'belt'}]},"
        "{'name': 'b', 'position': [0, 0, 0.1], 'velocity': [%g, 0, 0], 'mass': 1, 'inertia': "
        "[0.01, 0.01, 0.01], 'shapes': [{'kind': 'box', 'size': 0.2, 'material': 'm'}]}],"
        "'forces': [{'kind': 'spring', 'bodies': ['ground', 'b'], 'anchors': [[-5, 0, 0.1], [0, 0, "
        "0.1]], 'stiffness': %g}],"
        "'sensors': [{'name': 'most', 'kind': 'position', 'body': 'b', 'axis': 'x', 'statistic': "
        "'max'}, {'name': 'least', 'kind': 'position', 'body': 'b', 'axis': 'x', 'statistic': "
        "'min', 'from': 0.2}, {'name': 'F', 'kind': 'contact_force', 'body': 'b', 'axis': 'x', "
        "'statistic': 'max'}]}",
        mu, mu, V, V, k_spring);
    known_until(&k, 2);
    CHECK_NEAR(known(&k, "most"), x0 + V / w, least(known_k, 1e-3, 1e-5, 1e-6));
    CHECK_NEAR(known(&k, "least"), x0 - V / w, least(known_k, 1e-3, 1e-5, 1e-6));
    CHECK_REL(known(&k, "F"), mu * KNOWN_G, 1e-6);
    known_close(&k);
  }
}

// ---- a blow to a rod on a hinge ----

// At two thirds of its length the hinge feels nothing but the turning; at .9 L the impulse of the blow less that of the rod.
static void percussion(void **state) {
  (void)state;
  FOR_INTEGRATORS(name, 0, INTEGRATORS)
  for (int i = 0; i < 2; i++) {
    double d = i ? 0.9 : 2.0 / 3, h = 0.001, m = 0.5, u = 4, own = 1 / (d * d);
    double v = u * (m - own) / (m + own), blow = m * (u - v), w = blow * d;
    Known k = known_open(
        name, h,
        "{'settings': {'gravity': [0, 0, 0]}, 'materials': {'m': {'restitution': 1, 'friction': "
        "0}}, 'bodies': [{'name': 'rod', 'position': [0, 0, -0.5], 'mass': 3, 'inertia': [0.25, "
        "0.25, 0.001], 'shapes': [{'kind': 'box', 'size': [0.04, 0.04, 1], 'material': 'm'}]},"
        "{'name': 'ball', 'position': [-0.5, 0, %.17g], 'velocity': [%g, 0, 0], 'mass': %g, "
        "'inertia': [0.01, 0.01, 0.01], 'shapes': [{'kind': 'sphere', 'radius': 0.02, 'material': "
        "'m'}]}],"
        "'joints': [{'name': 'h', 'kind': 'revolute', 'bodies': ['ground', 'rod'], 'anchor': [0, "
        "0, "
        "0], 'axis': [0, 1, 0]}],"
        "'sensors': [{'name': 'v', 'kind': 'velocity', 'body': 'ball', 'axis': 'x'},"
        "{'name': 'w', 'kind': 'spin', 'body': 'rod', 'axis': 'y'},"
        "{'name': 'F', 'kind': 'joint_force', 'joint': 'h', 'axis': 'x', 'statistic': 'max'}]}",
        -d, u, m);
    known_until(&k, 0.2);
    double may = known_k == MOREAU_JEAN ? 2e-4 : 1e-9;
    CHECK_NEAR(known(&k, "v"), v, may);
    CHECK_NEAR(known(&k, "w"), -w, may);
    CHECK_NEAR(known(&k, "F") * h, 1.5 * w - blow, i ? 1e-4 : 1e-8);
    known_close(&k);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(resistance),   cmocka_unit_test(rolling_cone),
      cmocka_unit_test(rolling_coin), cmocka_unit_test(belt_and_spring),
      cmocka_unit_test(percussion),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
