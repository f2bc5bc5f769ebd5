// SPDX-License-Identifier: Apache-2.0
// All machines of examples/machines: the same hash with one worker and two, and when the second half is
// run from a snapshot; what the solver leaves is a number; momentum and energy of every step add up.
#include "check.h"
#include "core/vec.h"
#include "machines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name;
  int32_t steps;
  CnSetting settings[3];
} machines[] = {{"spider", 12, {{NULL, 0}}},
                {"gripper", 60, {{NULL, 0}}},
                {"slider-crank", 40, {{NULL, 0}}},
                {"four-bar", 40, {{NULL, 0}}},
                {"squeezer", 6, {{NULL, 0}}},
                {"geneva", 500, {{NULL, 0}}},
                {"differential", 60, {{NULL, 0}}},
                {"feeder", 300, {{NULL, 0}}},
                {"line", 24, {{"cartons", 1}, {"bottles", 4}, {NULL, 0}}},
                {"shaker", 120, {{"n", 150}, {NULL, 0}}},
                {"flow", 40, {{"n", 150}, {"settle", 0.1}, {NULL, 0}}},
                {"robots", 120, {{"blocks", 8}, {NULL, 0}}}};

static void adds_up(const CnWorld *world, const char *name) {
  CnStepBalance b;
  CnWorldSums sums;
  CHECK_OK(cn_world_balance(world, &b));
  cn_world_sums(world, &sums);
  double energy = fabs(b.change.energy) + sums.kinetic_energy + 1e-7;
  double momentum = cn_norm(b.change.momentum) + cn_norm(sums.momentum) + 1e-7;
  for (int32_t i = 0; i < CN_BALANCE_PART_COUNT; i++) {
    energy += fabs(b.parts[i].energy);
    momentum += cn_norm(b.parts[i].momentum);
  }
  if (!(fabs(b.residual.energy) < 1e-10 * energy) ||
      !(cn_norm(b.residual.momentum) < 1e-10 * momentum))
    fail_msg("%s: %g J and %g kg m/s are left", name, b.residual.energy,
             cn_norm(b.residual.momentum));
}

static void run(Machine *m, const char *name, int32_t steps) {
  CnStepReport report;
  for (int32_t i = 0; i < steps; i++) {
    CHECK_OK(cn_world_step(m->world, &report));
    adds_up(m->world, name);
    CHECK(isfinite(report.solve.certificate.residual) || report.integration.steps > 0);
  }
}

static void machine(const char *name, const CnSetting *settings, int32_t steps) {
  Machine one = machine_open_with(name, settings, 1), two = machine_open_with(name, settings, 2);
  size_t size = 0;
  run(&one, name, steps / 2);
  run(&two, name, steps / 2);
  CHECK_OK(cn_world_save(one.world, NULL, 0, &size));
  void *data = malloc(size);
  CHECK(data != NULL);
  CHECK_OK(cn_world_save(one.world, data, size, &size));
  run(&one, name, steps / 2);
  run(&two, name, steps / 2);
  CHECK(cn_world_hash(one.world) == cn_world_hash(two.world));
  CHECK_OK(cn_world_restore(two.world, data, size));
  run(&two, name, steps / 2);
  CHECK(cn_world_hash(one.world) == cn_world_hash(two.world));
  free(data);
  machine_close(&one);
  machine_close(&two);
}

static void all(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
    print_message("%s\n", machines[i].name);
    machine(machines[i].name, machines[i].settings, machines[i].steps);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(all)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
