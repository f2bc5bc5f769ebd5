// SPDX-License-Identifier: Apache-2.0
// Linkages of examples/machines against closed forms: torque of a slider-crank, angles of a four-bar,
// Andrews' squeezer after .03 s, steps and speeds of a Geneva drive, accelerations of a differential.
#include "check.h"
#include "machines.h"

#include <cairn/verdict.h>

#define PI 3.14159265358979323846

// ---- slider-crank ----

// Twice the energy over the square of the crank's speed: what the crank feels as its inertia.
static double felt(double r, double l, double th) {
  double phi = asin(r * sin(th) / l), rate = r * cos(th) / (l * cos(phi));
  double x = -r * sin(th) - l / 2 * sin(phi) * rate, y = r * cos(th) / 2;
  double slider = -r * sin(th) - l * sin(phi) * rate;
  return 1 * r * r / 3 + 2 * (x * x + y * y + l * l / 12 * rate * rate) + 3 * slider * slider;
}

static void crank(double r, double l, double speed) {
  Machine m =
      machine_open("slider-crank", (CnSetting[]){{"r", r}, {"l", l}, {"speed", speed}, {NULL, 0}});
  for (int32_t k = 0; k < 6; k++) {
    machine_steps(&m, 30); // degrees
    double th = 30 * (k + 1) * PI / 180, d = 1e-4;
    double torque = speed * speed * (felt(r, l, th + d) - felt(r, l, th - d)) / (4 * d);
    CHECK_NEAR(machine_sensor(&m, "torque"), torque, 1e-6 * 30 * r * r * speed * speed);
    CHECK_NEAR(machine_sensor(&m, "slider"), r * cos(th) + sqrt(l * l - pow(r * sin(th), 2)), 1e-9);
  }
  machine_close(&m);
}

static void slider_crank(void **state) {
  (void)state;
  static const double table[][2] = {
      {30, 2.56393227982}, {60, 1.61475243491}, {90, -1.03279555899}, {135, -1.79777635877}};
  Machine m = machine_open("slider-crank", NULL);
  for (int32_t k = 0, at = 0; k < 4; k++) {
    machine_steps(&m, (int32_t)table[k][0] - at);
    at = (int32_t)table[k][0];
    CHECK_REL(machine_sensor(&m, "torque"), table[k][1], 1e-9);
  }
  machine_close(&m);
  crank(0.03, 0.05, 40);
}

// ---- four-bar ----

// Freudenstein: k1 cos psi - k2 cos th + k3 = cos(th - psi), the open branch.
static double rocker(double a, double b, double c, double d, double th) {
  double k1 = d / a, k2 = d / c, k3 = (a * a - b * b + c * c + d * d) / (2 * a * c);
  double p = cos(th) - k1 - k2 * cos(th) + k3, q = -2 * sin(th), r = k1 - (k2 + 1) * cos(th) + k3;
  return 2 * atan2(-q - sqrt(q * q - 4 * p * r), 2 * p);
}

static void four_bar(void **state) {
  (void)state;
  Machine m = machine_open("four-bar", NULL);
  for (int32_t k = 1; k <= 8; k++) {
    machine_steps(&m, 45);
    double off = machine_sensor(&m, "rocker") - rocker(0.1, 0.3, 0.25, 0.35, k * PI / 4);
    CHECK_NEAR(sin(off), 0, 1e-8);
    CHECK_NEAR(cos(off), 1, 1e-8);
  }
  // a whole turn: no work, the same speed
  CHECK_NEAR(machine_sensor(&m, "rate of the rocker"), -6 * 0.1 / 0.25, 1e-7);
  CHECK_NEAR(machine_open_by(&m), 0, 1e-12);
  machine_close(&m);
}

// ---- Andrews' squeezer ----

static void squeezer(void **state) {
  (void)state;
  Machine m = machine_open("squeezer", NULL);
  machine_steps(&m, 100);
  CHECK_NEAR(machine_sensor(&m, "beta"), 15.8107711951537, 1e-5);
  CHECK_NEAR(machine_sensor(&m, "theta"), -15.7563710584118, 1e-5);
  CHECK_NEAR(machine_sensor(&m, "gamma"), 0.040822240119646, 1e-7);
  CHECK_NEAR(machine_sensor(&m, "delta"), 0.524409965879954, 1e-7);
  CHECK_NEAR(machine_sensor(&m, "eps"), 1.048080741041938, 1e-7);
  double invariant = machine_sensor(&m, "kinetic") + machine_sensor(&m, "spring") -
                     0.033 * machine_sensor(&m, "beta");
  CHECK_NEAR(invariant, 1.437832957532140, 1e-6);
  machine_close(&m);
}

// ---- Geneva drive ----

static void geneva(void **state) {
  (void)state;
  // the formula is that of a pin without play; the next slot is a matter of the scene's own
  Machine m = machine_open("geneva", (CnSetting[]){{"play", 2e-6}, {NULL, 0}});
  double lam = sqrt(0.5), most = 0;
  for (int32_t i = 1; i <= 1800;
       i++) { // a turn; the pin is in the middle of the slot at 90 degrees
    machine_steps(&m, 1);
    double a = i * PI / 900 - PI / 2, speed = machine_sensor(&m, "speed of the wheel") / 10;
    double wanted = lam * (cos(a) - lam) / (1 - 2 * lam * cos(a) + lam * lam);
    most = fmax(most, -speed);
    if (fabs(a) < 40 * PI / 180) CHECK_NEAR(-speed, wanted, 0.06);
    if (fabs(a) > 50 * PI / 180) CHECK_NEAR(speed, 0, 1e-6);
  }
  CHECK_REL(most, 1 + sqrt(2), 0.01);
  CHECK_NEAR(machine_sensor(&m, "wheel"), -PI / 2, 2e-3);
  machine_close(&m);
  m = machine_open("geneva", NULL);
  machine_steps(&m, 2 * 1800);
  CHECK_NEAR(machine_sensor(&m, "wheel"), -PI, 2e-3);
  CnVerdict verdict; // though all centres of mass are at rest
  CHECK_OK(cn_world_verdict(m.world, &verdict));
  CHECK(verdict.trusted);
  machine_close(&m);
}

// ---- differential ----

static void differential(void **state) {
  (void)state;
  Machine m = machine_open("differential", (CnSetting[]){{"torque", 12}, {"right", 4}, {NULL, 0}});
  machine_steps(&m, 500);
  double mean = (12 - 2 - 4) / (0.1 + 0.002 + 0.5 * 0.06 * 0.06 + 2 * 0.2);
  double apart = (4 - 2) / (2 * 0.2 + 0.002 * 1.5 * 1.5);
  CHECK_REL(machine_sensor(&m, "carrier"), mean, 2e-4); // of first order in h
  CHECK_REL(machine_sensor(&m, "left"), mean + apart, 2e-4);
  CHECK_REL(machine_sensor(&m, "right"), mean - apart, 2e-4);
  CHECK_REL(machine_sensor(&m, "planet"), 1.5 * apart, 2e-4);
  machine_close(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(slider_crank), cmocka_unit_test(four_bar),
                                     cmocka_unit_test(squeezer), cmocka_unit_test(geneva),
                                     cmocka_unit_test(differential)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
