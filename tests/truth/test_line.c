// SPDX-License-Identifier: Apache-2.0
// The packaging line of examples/machines: a row of ten goes into the carton, all of them stand.
// CAIRN_CARTONS=5 (long.line): a hundred bottles, 20 in each of five cartons.
#include "check.h"
#include "machines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void packs(void **state) {
  (void)state;
  const char *asked = getenv("CAIRN_CARTONS");
  int32_t cartons = asked ? atoi(asked) : 1, bottles = asked ? 20 * cartons : 10, standing = 0;
  CnSetting settings[] = {{"cartons", cartons}, {"bottles", bottles}, {NULL, 0}};
  Machine m = machine_open("line", settings);
  double time = asked ? m.info.time : 1.5; // one row is in after the first push
  machine_steps(&m, (int32_t)(time / m.def.time_step + 0.5));
  for (int32_t i = 0; i < cartons; i++) {
    char name[32];
    snprintf(name, sizeof name, "carton%d", (int)i);
    CHECK_NEAR(machine_sensor(&m, name), asked ? 20 : 10, 0);
  }
  for (CnBodyId b = cn_world_next_body(m.world, (CnBodyId){0, 0}); b.slot;
       b = cn_world_next_body(m.world, b)) {
    CnBodyInfo info;
    CnPose pose;
    CHECK_OK(cn_body_info(m.world, b, &info));
    if (!info.name || strncmp(info.name, "bottle", 6) != 0) continue;
    CHECK_OK(cn_body_pose(m.world, b, &pose));
    double up = 1 - 2 * (pose.rotation.x * pose.rotation.x + pose.rotation.y * pose.rotation.y);
    CHECK(up > 0.99 && fabs(pose.position.z) < 0.005);
    standing++;
  }
  CHECK(standing == bottles);
  machine_close(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(packs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
