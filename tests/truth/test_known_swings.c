// SPDX-License-Identifier: Apache-2.0
// Pendulums, rotors and oscillators by closed forms: periods, modes, reactions, work. By every integrator where all
// apply; `impulse` at three steps with its order.
#include "check.h"
#include "core/math.h"
#include "core/vec.h"
#include "known.h"

// How far off results with h, h/2 and h/4 may be, and that they come nearer with the order.
static void orders(const double *error, double least) {
  CHECK(error[1] <= error[0] * pow(2, -least) + 1e-12);
  CHECK(error[2] <= error[1] * pow(2, -least) + 1e-12);
}

// ---- a rod on two threads ----

// Rod of length L hung by two threads of length l, d apart, turned a little about the vertical:
// w^2 = m g d^2/(4 J l), J = m L^2/12.
static void bifilar(void **state) {
  (void)state;
  const double l = 0.5, d = 0.3, L = 0.6, angle = 0.02;
  double w = sqrt(KNOWN_G * d * d / (4 * l * L * L / 12));
  FOR_INTEGRATORS(name, 0, INTEGRATORS) {
    double s = cni_sin(angle), c = cni_cos(angle), down = sqrt(l * l - d * d / 2 * (1 - c));
    Known k =
        known_open(name, 0.002,
                   "{'bodies': [{'name': 'rod', 'position': [0, 0, %.17g], 'rotation': {'axis': "
                   "[0, 0, 1], 'radians': %.17g},"
                   "'mass': 1, 'inertia': [1e-3, 0.03, 0.03]}], 'joints': ["
                   "{'name': 'a', 'kind': 'distance', 'bodies': ['ground', 'rod'], 'anchors': "
                   "[[0.15, 0, 0], [%.17g, %.17g, %.17g]]},"
                   "{'name': 'b', 'kind': 'distance', 'bodies': ['ground', 'rod'], 'anchors': "
                   "[[-0.15, 0, 0], [%.17g, %.17g, %.17g]]}],"
                   "'sensors': [{'name': 'q', 'kind': 'rotation', 'body': 'rod', 'axis': 'z'},"
                   "{'name': 't', 'kind': 'joint_force', 'joint': 'a', 'axis': 'length'}]}",
                   -down, angle, 0.15 * c, 0.15 * s, -down, -0.15 * c, -0.15 * s, -down);
    double quarter = known_when(&k, "q", 0, 1.5);
    CHECK_REL(quarter, KNOWN_PI / 2 / w, 2e-3);
    CHECK_NEAR(known(&k, "t"), KNOWN_G / 2, 0.02);
    known_close(&k);
  }
}

// ---- Kater: a rod swings alike about its end and about the centre of percussion ----

static double rod_period(const char *name, double h, double pivot) {
  // centre at the distance `pivot` below the hinge, J = m L^2/12, L = 1
  Known k = known_open(name, h,
                       "{'bodies': [{'name': 'rod', 'position': [0, 0, %.17g], 'mass': 1, "
                       "'inertia': [%.17g, %.17g, 1e-3],"
                       "'velocity': [%.17g, 0, 0], 'spin': [0, %.17g, 0]}], 'joints': [{'name': "
                       "'j', 'kind': 'revolute', "
                       "'bodies': ['ground', 'rod'], 'anchor': [0, 0, 0], 'axis': [0, 1, 0]}],"
                       "'sensors': [{'name': 'a', 'kind': 'joint_coordinate', 'joint': 'j'}]}",
                       -pivot, 1.0 / 12, 1.0 / 12, -0.01 * pivot, 0.01);
  known_steps(&k, 1);
  double half = known_when(&k, "a", 0, 2), whole = known_when(&k, "a", 0, 3);
  known_close(&k);
  return 2 * (whole - half);
}

static void kater(void **state) {
  (void)state;
  double exact = 2 * KNOWN_PI * sqrt(2.0 / 3 / KNOWN_G);
  FOR_INTEGRATORS(name, 0, INTEGRATORS) {
    CHECK_REL(rod_period(name, 0.002, 1.0 / 2), exact, 1e-5);
    CHECK_REL(rod_period(name, 0.002, 1.0 / 6), exact, 1e-5);
  }
}

// ---- two masses on strings below each other, small: w^2 = (2 -+ sqrt 2) g/l ----

static void double_pendulum(void **state) {
  (void)state;
  FOR_INTEGRATORS(name, 0, INTEGRATORS)
  for (int mode = 0; mode < 2; mode++) {
    double w = sqrt((2 - (mode ? -1 : 1) * sqrt(2)) * KNOWN_G), a = 1e-3;
    double x = a, y = a + a * (mode ? -1 : 1) * sqrt(2); // of the two masses
    Known k = known_open(
        name, 0.001,
        "{'bodies': [{'name': 'a', 'position': [%.17g, 0, %.17g], 'mass': 1, 'inertia': [1, 1, 1]},"
        "{'name': 'b', 'position': [%.17g, 0, %.17g], 'mass': 1, 'inertia': [1, 1, 1]}], 'joints': "
        "["
        "{'kind': 'distance', 'bodies': ['ground', 'a'], 'anchors': [[0, 0, 0], [%.17g, 0, "
        "%.17g]]},"
        "{'kind': 'distance', 'bodies': ['a', 'b'], 'anchors': [[%.17g, 0, %.17g], [%.17g, 0, "
        "%.17g]]}],"
        "'sensors': [{'name': 'x', 'kind': 'position', 'body': 'a', 'axis': 'x'},"
        "{'name': 'y', 'kind': 'position', 'body': 'b', 'axis': 'x'}]}",
        x, -sqrt(1 - x * x), y, -sqrt(1 - x * x) - sqrt(1 - (y - x) * (y - x)), x, -sqrt(1 - x * x),
        x, -sqrt(1 - x * x), y, -sqrt(1 - x * x) - sqrt(1 - (y - x) * (y - x)));
    CHECK_REL(known_when(&k, "x", 0, 2), KNOWN_PI / 2 / w, 2e-3);
    CHECK_NEAR(known(&k, "y"), 0, 0.01 * a);
    known_close(&k);
  }
}

// ---- a cart with a pendulum: w^2 = g/l (1 + m/M) ----

static void cart(void **state) {
  (void)state;
  const double M = 3, m = 2, l = 0.4;
  double w = sqrt(KNOWN_G / l * (1 + m / M));
  FOR_INTEGRATORS(name, 0, INTEGRATORS) {
    Known k =
        known_open(name, 0.001,
                   "{'bodies': [{'name': 'cart', 'mass': %g, 'inertia': [1, 1, 1]},"
                   "{'name': 'bob', 'position': [0.004, 0, %.17g], 'mass': %g, 'inertia': [1e-9, "
                   "1e-9, 1e-9]}], 'joints': ["
                   "{'kind': 'prismatic', 'bodies': ['ground', 'cart'], 'anchor': [0, 0, 0], "
                   "'axis': [1, 0, 0]},"
                   "{'kind': 'distance', 'bodies': ['cart', 'bob'], 'anchors': [[0, 0, 0], [0.004, "
                   "0, %.17g]]}],"
                   "'sensors': [{'name': 'c', 'kind': 'position', 'body': 'cart', 'axis': 'x'},"
                   "{'name': 'b', 'kind': 'position', 'body': 'bob', 'axis': 'x'}]}",
                   M, -sqrt(l * l - 16e-6), m, -sqrt(l * l - 16e-6));
    double centre = m * 0.004 / (M + m), at = known_when(&k, "b", centre, 1);
    CHECK_REL(at, KNOWN_PI / 2 / w, 2e-3);
    CHECK_NEAR(M * known(&k, "c") + m * known(&k, "b"), m * 0.004, 1e-9);
    known_close(&k);
  }
}

// ---- the conical pendulum: pull m g/cos, w^2 = g/(l cos) ----

static void conical(void **state) {
  (void)state;
  const double l = 0.7, a = 0.6;
  double w = sqrt(KNOWN_G / (l * cni_cos(a))), r = l * cni_sin(a);
  FOR_INTEGRATORS(name, 0, INTEGRATORS) {
    Known k = known_open(name, 0.001,
                         "{'bodies': [{'name': 'b', 'position': [%.17g, 0, %.17g], 'velocity': [0, "
                         "%.17g, 0], 'spin': [0, 0, %.17g],"
                         "'mass': 2, 'inertia': [1e-6, 1e-6, 1e-6]}], 'joints': [{'name': 'j', "
                         "'kind': 'ball', 'bodies': ['ground', 'b'],"
                         "'anchor': [0, 0, 0]}], 'sensors': [{'name': 'z', 'kind': 'position', "
                         "'body': 'b', 'axis': 'z'},"
                         "{'name': 'x', 'kind': 'position', 'body': 'b', 'axis': 'x'},"
                         "{'name': 'f', 'kind': 'joint_force', 'joint': 'j'}]}",
                         r, -l * cni_cos(a), r * w, w);
    known_until(&k, 1);
    CHECK_NEAR(known(&k, "z"), -l * cni_cos(a), 2e-3);
    CHECK_NEAR(known(&k, "x"), r * cni_cos(w), 5e-3);
    CHECK_NEAR(hypot(known(&k, "f.x"), hypot(known(&k, "f.y"), known(&k, "f.z"))),
               2 * KNOWN_G / cni_cos(a), 0.2);
    known_close(&k);
  }
}

// ---- Kapitza: the pendulum stands on its head ----

// Its pivot shakes with A sin(W t): upright it swings with w^2 = (A W)^2/(2 l^2) - g/l in the mean.
static void kapitza(void **state) {
  (void)state;
  const double l = 0.25, A = 0.01, f = 60, W = 2 * KNOWN_PI * f;
  double w = sqrt(A * A * W * W / (2 * l * l) - KNOWN_G / l);
  FOR_INTEGRATORS(name, 0, RKF45) {
    Known k = known_open(
        name, 1.0 / (known_k < HEM5 ? 6000 : 1200),
        "{'functions': {'s': {'kind': 'sine', 'amplitude': %g, 'frequency': %g, 'phase': %.17g}}, "
        "'bodies': ["
        "{'name': 'pivot', 'kind': 'kinematic', 'motion': {'z': 's'}},"
        "{'name': 'b', 'position': [%.17g, 0, %.17g], 'mass': 1, 'inertia': [1e-7, 1e-7, 1e-7]}],"
        "'joints': [{'name': 'j', 'kind': 'revolute', 'bodies': ['pivot', 'b'], 'anchor': [0, 0, "
        "0], "
        "'axis': [0, 1, 0]}], 'sensors': [{'name': 'x', 'kind': 'position', 'body': 'b', 'axis': "
        "'x'}]}",
        A, f, KNOWN_PI / 2, l * cni_sin(0.05), l * cni_cos(0.05));
    CHECK(w > 5);
    double most = 0;
    double first = known_when(&k, "x", 0, 1);
    CHECK_REL(first, KNOWN_PI / 2 / w, 0.06); // the mean of the fast motion: order A/l
    while (known_time(&k) < KNOWN_PI / w) {
      known_steps(&k, 1);
      most = cn_max(most, fabs(known(&k, "x")));
    }
    CHECK(most < 0.06 * l);
    known_close(&k);
  }
}

// ---- a gyroscope in two rings ----

// A wheel of axial inertia C at the spin s about a level axis, its weight at the arm l: it goes round with
// m g l/(C s), exactly; rings without mass worth speaking of.
static void gimbals(void **state) {
  (void)state;
  const double m = 2, l = 0.1, C = 0.02, s = 120;
  double W = m * KNOWN_G * l / (C * s), error[3];
  FOR_INTEGRATORS(name, 0, INTEGRATORS)
  for (int i = 0; i < (known_k < HEM5 ? 3 : 1); i++) {
    Known k = known_open(
        name, 0.002 / (1 << i),
        "{'bodies': [{'name': 'outer', 'mass': 0.001, 'inertia': [1e-6, 1e-6, 1e-6], 'spin': [0, "
        "0, %.17g]},"
        "{'name': 'inner', 'mass': 0.001, 'inertia': [1e-6, 1e-6, 1e-6], 'spin': [0, 0, %.17g]},"
        "{'name': 'wheel', 'position': [%g, 0, 0], 'mass': %g, 'inertia': [%g, 0.01, 0.01],"
        "'velocity': [0, %.17g, 0], 'spin': [%.17g, 0, %.17g]}],"
        "'joints': [{'name': 'o', 'kind': 'revolute', 'bodies': ['ground', 'outer'], 'anchor': [0, "
        "0, 0], 'axis': [0, 0, 1]},"
        "{'name': 'i', 'kind': 'revolute', 'bodies': ['outer', 'inner'], 'anchor': [0, 0, 0], "
        "'axis': [0, 1, 0]},"
        "{'name': 'w', 'kind': 'revolute', 'bodies': ['inner', 'wheel'], 'anchor': [%g, 0, 0], "
        "'axis': [1, 0, 0]}],"
        "'sensors': [{'name': 'turn', 'kind': 'joint_coordinate', 'joint': 'o'},"
        "{'name': 'nod', 'kind': 'joint_coordinate', 'joint': 'i'},"
        "{'name': 'spin', 'kind': 'joint_rate', 'joint': 'w'}]}",
        W, W, l, m, C, W * l, s, W, l);
    known_until(&k, 0.4);
    error[i] = fabs(known(&k, "turn") - 0.4 * W);
    CHECK_NEAR(known(&k, "nod"), 0, known_k < HEM5 ? 0.02 : 1e-7);
    CHECK_NEAR(known(&k, "spin"), s, known_k < HEM5 ? 0.05 : 1e-6);
    CHECK(error[i] < (known_k < HEM5 ? 0.02 : 1e-7));
    known_close(&k);
    if (i == 2 && known_k == IMPULSE) orders(error, 0.9);
    if (i == 2 && known_k == MOREAU_JEAN) orders(error, 1.8);
  }
}

// ---- springs ----

// Two bodies on a spring: w^2 = k (1/m1 + 1/m2); the force told is that of the stretch.
static void two_bodies(void **state) {
  (void)state;
  double w = sqrt(300 * (1 / 2.0 + 1 / 3.0));
  FOR_INTEGRATORS(name, 0, INTEGRATORS) {
    Known k = known_open(
        name, 0.0005,
        "{'settings': {'gravity': [0, 0, 0]}, 'bodies': [{'name': 'a', 'mass': 2, 'inertia': [1, "
        "1, 1]},"
        "{'name': 'b', 'position': [1.1, 0, 0], 'mass': 3, 'inertia': [1, 1, 1]}], 'forces': "
        "[{'name': 's',"
        "'kind': 'spring', 'bodies': ['a', 'b'], 'anchors': [[0, 0, 0], [1.1, 0, 0]], 'stiffness': "
        "300, "
        "'rest_length': 1}], 'sensors': [{'name': 'l', 'kind': 'force_length', 'force': 's'},"
        "{'name': 'e', 'kind': 'force_energy', 'force': 's'}, {'name': 'ke', 'kind': "
        "'kinetic_energy'}]}");
    double quarter = known_when(&k, "l", 1, 1);
    CHECK_REL(quarter, KNOWN_PI / 2 / w, 5e-3);
    CHECK_REL(known(&k, "ke") + known(&k, "e"), 1.5, 0.02);
    known_close(&k);
  }
}

// A servo follows u = A sin W t: m x'' = k (u - x) + d (u' - x'), |x/u|^2 = (k^2 + d^2 W^2)/((k - m W^2)^2 + d^2 W^2).
static void servo(void **state) {
  (void)state;
  const double m = 2, stiff = 800, damp = 30, f = 2, W = 2 * KNOWN_PI * f, A = 0.05;
  double gain = sqrt((stiff * stiff + damp * damp * W * W) /
                     ((stiff - m * W * W) * (stiff - m * W * W) + damp * damp * W * W));
  FOR_INTEGRATORS(name, 0, INTEGRATORS) {
    Known k = known_open(name, known_k < HEM5 ? 0.0005 : 0.002,
                         "{'settings': {'gravity': [0, 0, 0]}, 'functions': {'u': {'kind': 'sine', "
                         "'amplitude': %g, 'frequency': %g}},"
                         "'bodies': [{'name': 'b', 'mass': %g, 'inertia': [1, 1, 1]}], 'joints': "
                         "[{'name': 'j', 'kind': 'prismatic',"
                         "'bodies': ['ground', 'b'], 'anchor': [0, 0, 0], 'axis': [1, 0, 0], "
                         "'travel': {'drive': 'position',"
                         "'motor_effort': 'unlimited', 'motor_function': 'u', 'motor_stiffness': "
                         "%g, 'motor_damping': %g}}],"
                         "'sensors': [{'name': 'x', 'kind': 'joint_coordinate', 'joint': 'j'},"
                         "{'name': 'm', 'kind': 'joint_effort', 'joint': 'j', 'axis': 'motor'}]}",
                         A, f, m, stiff, damp);
    known_until(&k, 1.5);
    double most = 0, force = 0;
    while (known_time(&k) < 2) {
      known_steps(&k, 1);
      most = cn_max(most, fabs(known(&k, "x")));
      force = cn_max(force, fabs(known(&k, "m")));
    }
    CHECK_REL(most, gain * A, known_k == IMPULSE ? 5e-3 : 1e-4);
    CHECK_REL(force, m * W * W * gain * A, known_k == IMPULSE ? 5e-3 : 1e-4);
    known_close(&k);
  }
}

// ---- turning ----

// Two masses of .5 kg on a light turntable are drawn from .5 m to .25 m: the spin goes from s to 4 s where their
// inertia is all, and what the motors give is the gain m r^2 s^2 (4 - 1)/2 each.
static void skater(void **state) {
  (void)state;
  const double J = 0.05, s = 3;
  double one = J + 2 * 0.5 * 0.25, two = J + 2 * 0.5 * 0.0625, fast = s * one / two;
  FOR_INTEGRATORS(name, 0, INTEGRATORS) {
    Known k = known_open(
        name, 0.002,
        "{'settings': {'gravity': [0, 0, 0]}, 'functions': {'in': {'kind': 'smooth_step', 'value': "
        "0, 'final': -0.25,"
        "'start': 0, 'end': 1}}, 'bodies': [{'name': 'table', 'mass': 1, 'inertia': [1, 1, %g], "
        "'spin': [0, 0, %g]},"
        "{'name': 'l', 'position': [-0.5, 0, 0], 'mass': 0.5, 'inertia': [1e-9, 1e-9, 1e-9], "
        "'velocity': [0, %g, 0], "
        "'spin': [0, 0, %g]}, {'name': 'r', 'position': [0.5, 0, 0], 'mass': 0.5, 'inertia': "
        "[1e-9, 1e-9, 1e-9], "
        "'velocity': [0, %g, 0], 'spin': [0, 0, %g]}], 'joints': [{'name': 'axis', 'kind': "
        "'revolute', "
        "'bodies': ['ground', 'table'], 'anchor': [0, 0, 0], 'axis': [0, 0, 1]},"
        "{'name': 'jl', 'kind': 'prismatic', 'bodies': ['table', 'l'], 'anchor': [-0.5, 0, 0], "
        "'axis': [-1, 0, 0],"
        "'travel': {'drive': 'position', 'motor_effort': 'unlimited', 'motor_function': 'in'}},"
        "{'name': 'jr', 'kind': 'prismatic', 'bodies': ['table', 'r'], 'anchor': [0.5, 0, 0], "
        "'axis': [1, 0, 0],"
        "'travel': {'drive': 'position', 'motor_effort': 'unlimited', 'motor_function': 'in'}}],"
        "'sensors': [{'name': 'w', 'kind': 'joint_rate', 'joint': 'axis'},"
        "{'name': 'm', 'kind': 'joint_effort', 'joint': 'jr', 'axis': 'motor'}]}",
        J, s, -0.5 * s, s, 0.5 * s, s);
    known_until(&k, 1.2);
    CHECK_REL(known(&k, "w"), fast, 1e-5);
    CHECK_REL(known(&k, "m"), -0.5 * 0.25 * fast * fast, 0.01);
    CHECK_REL(k.work[CN_BALANCE_DRIVES], (one * s * s) / 2 * (one / two - 1), 5e-3);
    known_close(&k);
  }
}

// A bead on a straight rod that turns with W: r = r0 cosh W t, pressed with 2 m W r', and the one who turns the rod puts in
// m (r'^2 + (W r)^2)/2 more than there was.
static void bead_on_rod(void **state) {
  (void)state;
  const double W = 4, r0 = 0.1, m = 0.5;
  FOR_INTEGRATORS(name, 0, INTEGRATORS) {
    Known k = known_open(
        name, 0.0005,
        "{'settings': {'gravity': [0, 0, 0]}, 'bodies': [{'name': 'rod', 'kind': 'kinematic', "
        "'spin': [0, 0, %g]},"
        "{'name': 'b', 'position': [%g, 0, 0], 'velocity': [0, %g, 0], 'spin': [0, 0, %g], 'mass': "
        "%g, "
        "'inertia': [1e-9, 1e-9, 1e-9]}], 'joints': [{'name': 'j', 'kind': 'prismatic', 'bodies': "
        "['rod', 'b'], "
        "'anchor': [%g, 0, 0], 'axis': [1, 0, 0]}], 'sensors': [{'name': 'r', 'kind': "
        "'joint_coordinate', "
        "'joint': 'j'}, {'name': 'f', 'kind': 'joint_force', 'joint': 'j', 'axis': 'length'}]}",
        W, r0, r0 * W, W, m, r0);
    known_until(&k, 0.5);
    double r = r0 * cosh(2), rate = W * r0 * sinh(2);
    double gain = m / 2 * (rate * rate + W * W * (r * r - r0 * r0));
    int first = known_k == IMPULSE;
    CHECK_REL(known(&k, "r") + r0, r, first ? 5e-3 : 1e-5);
    CHECK_REL(known(&k, "f"), 2 * m * W * rate, first ? 1e-2 : 2e-3);
    CHECK_REL(k.brought, gain, first ? 1e-2 : 1e-4);
    // hem5 and rkf45 know forces at the ends of their steps
    CHECK_REL(k.work[CN_BALANCE_DRIVES], gain, first ? 1e-2 : 2e-3);
    CHECK_NEAR(k.work[CN_BALANCE_JOINTS], 0, first ? 1e-2 * gain : 1e-4 * gain);
    known_close(&k);
  }
}

// A bead on a hoop that turns about its vertical diameter rests where cos = g/(W^2 R), and swings about there with
// W sin.
static void bead_on_hoop(void **state) {
  (void)state;
  const double W = 9, R = 0.3;
  double angle = acos(KNOWN_G / (W * W * R)), w = W * cni_sin(angle);
  FOR_INTEGRATORS(name, 0, INTEGRATORS) {
    double a = angle + 0.01, r = R * cni_sin(a);
    Known k = known_open(
        name, 0.0005,
        "{'curves': {'hoop': {'kind': 'path', 'closed': true, 'points': [[0.3, 0, 1], [-0.3, 0, "
        "1]]}},"
        "'bodies': [{'name': 'hoop', 'kind': 'kinematic', 'spin': [0, 0, %g], 'position': [0, 0, "
        "0]},"
        "{'name': 'b', 'position': [%.17g, 0, %.17g], 'velocity': [0, %.17g, 0], 'mass': 0.2, "
        "'inertia': [1e-5, 1e-5, 1e-5]}], 'joints': [{'name': 'j', 'kind': 'point_on_curve', "
        "'curve_a': 'hoop',"
        "'bodies': ['hoop', 'b'], 'frames': [{'rotation': {'axis': [1, 0, 0], 'degrees': 90}}, "
        "{}]}],"
        "'sensors': [{'name': 'z', 'kind': 'position', 'body': 'b', 'axis': 'z'}]}",
        W, r, -R * cni_cos(a), r * W);
    double quarter = known_when(&k, "z", -R * cni_cos(angle), 1);
    // half a step of `impulse` is as long as a tenth of the swing
    CHECK_REL(quarter, KNOWN_PI / 2 / w, known_k == IMPULSE ? 0.08 : 0.005);
    known_until(&k, 1);
    CHECK_NEAR(known(&k, "z"), -R * cni_cos(angle), 0.012 * R);
    known_close(&k);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bifilar), cmocka_unit_test(kater),       cmocka_unit_test(double_pendulum),
      cmocka_unit_test(cart),    cmocka_unit_test(conical),     cmocka_unit_test(kapitza),
      cmocka_unit_test(gimbals), cmocka_unit_test(two_bodies),  cmocka_unit_test(servo),
      cmocka_unit_test(skater),  cmocka_unit_test(bead_on_rod), cmocka_unit_test(bead_on_hoop)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
