// SPDX-License-Identifier: Apache-2.0
// The vibratory feeder of examples/machines: parts climb, with the speed of the throw regime,
//
//     v = g n^2/(2 f) (cos a cot b - sin a),   K^2 = 1 + ((cos 2 pi n + 2 pi^2 n^2 - 1)/(2 pi n - sin 2 pi n))^2
//
// where n is the share of a period in the air, K the throw number, a the incline, b the angle of the
// swing to the track: a part takes off with the track's speed and stays where it lands.
#include "check.h"
#include "machines.h"

#define PI 3.14159265358979323846

static double share_in_the_air(double throw) {
  double low = 1e-3, high = 1;
  for (int32_t i = 0; i < 60; i++) {
    double n = (low + high) / 2, t = 2 * PI * n;
    double k = sqrt(1 + pow((cos(t) + t * t / 2 - 1) / (t - sin(t)), 2));
    *(k < throw ? &low : &high) = n;
  }
  return low;
}

static void climbs(double throw, double angle, double incline) {
  CnSetting settings[] = {
      {"parts", 2}, {"throw", throw}, {"angle", angle}, {"incline", incline}, {NULL, 0}};
  Machine m = machine_open("feeder", settings);
  double a = incline * PI / 180, b = angle * PI / 180, n = share_in_the_air(throw);
  double wanted = 9.81 * n * n / (2 * 25) * (cos(a) / tan(b) - sin(a));
  machine_steps(&m, 5 * 160);
  double x = machine_sensor(&m, "travel"), z = machine_sensor(&m, "height");
  machine_steps(&m, 20 * 160);
  double along = (machine_sensor(&m, "travel") - x) / cos(a) / (20 / 25.0);
  CHECK_REL(along, wanted, 0.2);
  if (incline > 0) CHECK(machine_sensor(&m, "height") - z > 0.9 * 0.8 * along * sin(a));
  machine_close(&m);
}

static void feeder(void **state) {
  (void)state;
  CHECK_NEAR(share_in_the_air(3.2969), 1, 1e-3); // the well-known end of the regime
  climbs(2.2, 45, 4);
  climbs(2.8, 60, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(feeder)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
