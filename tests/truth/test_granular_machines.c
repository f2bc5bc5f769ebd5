// SPDX-License-Identifier: Apache-2.0
// Shaker and granular flow of examples/machines: contacts, loads on the box, overlaps, what has left. The
// paper's 2,000 spheres: CAIRN_SHAKER=2000 (long.shaker).
#include "check.h"
#include "machines.h"

#include <stdlib.h>

#define PI 3.14159265358979323846

static double weight(const Machine *m) {
  CnWorldSums sums;
  cn_world_sums(m->world, &sums);
  return 9.81 * sums.mass;
}

static Machine shaker_of(int32_t n, double amplitude) {
  return machine_open("shaker", (CnSetting[]){{"n", n}, {"amplitude", amplitude}, {NULL, 0}});
}

// The box carries the weight when all is at rest.
static void settles(void **state) {
  (void)state;
  const char *asked = getenv("CAIRN_SHAKER");
  int32_t n = asked ? atoi(asked) : 200, steps = asked ? 1000 : 500;
  Machine m = shaker_of(n, 0);
  CnStepReport report;
  machine_steps(&m, steps - 1);
  CHECK_OK(cn_world_step(m.world, &report));
  print_message("%d spheres: %d contacts\n", (int)n, (int)report.contact_count);
  if (asked) CHECK_REL(report.contact_count, 6500, 0.15);
  if (!asked) CHECK(report.contact_count > 2 * n && report.contact_count < 4 * n);
  CHECK_REL(machine_sensor(&m, "floor"), -weight(&m), 0.05);
  CnPenetration depth;
  CHECK_OK(cn_world_penetration(m.world, &depth));
  CHECK(depth.max < 0.01 * 0.01);
  machine_close(&m);
}

// Shaken, the spheres follow the box: over a whole period its walls give them no momentum but what they
// slosh with, and the greatest force is of the size of m A w^2.
static void shakes(void **state) {
  (void)state;
  Machine m = shaker_of(200, 0.01);
  double most = 0, inertia = weight(&m) / 9.81 * 0.01 * (8 * PI) * (8 * PI);
  for (int32_t i = 1; i <= 500; i++) {
    machine_steps(&m, 1);
    CHECK_NEAR(machine_sensor(&m, "box"), 0.01 * sin(8 * PI * 0.001 * i), 1e-9);
    if (i > 250) most = fmax(most, fabs(machine_sensor(&m, "wall")));
  }
  CHECK(most > 0.3 * inertia && most < 4 * inertia);
  machine_close(&m);
}

// Nothing leaves before the gate opens; then it flows. Overlaps stay below .002 of the radius on the
// average (the paper's bound for its 120 sweeps).
static void flow(void **state) {
  (void)state;
  CnSetting settings[] = {{"n", 250}, {"settle", 0.5}, {"hole", 8}, {NULL, 0}};
  Machine m = machine_open("flow", settings);
  CnPenetration depth;
  machine_steps(&m, 199);
  CHECK_NEAR(machine_sensor(&m, "out"), 0, 0);
  CHECK(machine_sensor(&m, "on the gate") > 0);
  CHECK_OK(cn_world_penetration(m.world, &depth));
  CHECK(depth.mean < 0.002 * 0.1);
  machine_steps(&m, 300);
  double out = machine_sensor(&m, "out");
  CHECK(out > 5 && out < 250);
  machine_steps(&m, 100);
  CHECK(machine_sensor(&m, "out") >= out);
  machine_close(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(settles), cmocka_unit_test(shakes),
                                     cmocka_unit_test(flow)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
