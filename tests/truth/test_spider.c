// SPDX-License-Identifier: Apache-2.0
// The spider robot of examples/machines: 37 parts, 48 hinges, 12 loops, Klann legs. At h = .01 s its
// hinges stay closed, its cranks keep 4 rad/s once they have it, and it walks .70 to .72 m towards -x in
// five seconds.
#include "check.h"

#include <string.h>

#include <cairn/scene.h>

#include "source_dir.h"

static void walks(void **state) {
  (void)state;
  const int32_t steps = 500;
  CnWorldDef def = cn_world_def_default();
  CnScene *scene;
  CnWorld *world;
  CnMechanism mechanism;
  CnSceneInfo info;
  CHECK_OK(cn_scene_open(CAIRN_SOURCE_DIR "/examples/machines/spider.json", NULL, 0, NULL, &scene));
  cn_scene_world_def(scene, &def);
  CHECK_OK(cn_world_create(&def, &world));
  CHECK_OK(cn_scene_fill(scene, world));
  CHECK_OK(cn_world_mechanism(world, &mechanism, NULL, 0));
  CHECK(mechanism.freedoms == 18 && mechanism.dependent_count == 36);
  cn_scene_info(scene, &info);
  CHECK(info.body_count == 38 && info.joint_count == 48);
  double open = 0, values[16], speed = 0;
  for (int32_t i = 1; i <= steps; i++) {
    CHECK_OK(cn_world_step(world, NULL));
    for (CnJointId j = cn_world_next_joint(world, (CnJointId){0, 0}); j.slot;
         j = cn_world_next_joint(world, j)) {
      CnJointState at;
      CHECK_OK(cn_joint_state(world, j, &at));
      open = fmax(open, at.error);
    }
    CHECK(info.sensor_count <= 16);
    CHECK_OK(cn_scene_measure(scene, world, values));
    if (i > 55) speed = fmax(speed, fabs(values[3] - 4));
  }
  CHECK_NEAR(open, 0, 1e-9); // asked: 1e-4
  CHECK_NEAR(speed, 0, 1e-3);
  CHECK_NEAR(values[0], -0.71, 0.01);
  cn_world_destroy(world);
  cn_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(walks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
