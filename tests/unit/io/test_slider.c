// SPDX-License-Identifier: Apache-2.0
// A joint with a coordinate on its way through the files: scene, sensors, run file.
#include "check.h"
#include "runs.h"
#include "source_dir.h"

#include <string.h>

#include <cairn/run.h>

// 20 N push the cart to its limit: the spring holds 8/4 N of it, limit and friction the rest.
static void slider(void **state) {
  (void)state;
  CnScene *scene;
  CnWorld *world;
  CnStepReport report;
  CHECK_OK(cn_scene_open(CAIRN_SOURCE_DIR "/tests/scenes/good/slider.json", NULL, 0, NULL, &scene));
  CnWorldDef def = cn_world_def_default();
  cn_scene_world_def(scene, &def);
  CHECK_OK(cn_world_create(&def, &world));
  CHECK_OK(cn_scene_fill(scene, world));
  CniRunWriterDef file = {.path = test_path("slider.h5"),
                          .scene = scene,
                          .record_joints = 1,
                          .allocator = cn_allocator_default()};
  CniRunWriter *writer;
  CHECK_OK(cni_run_writer_create(&file, world, &writer));
  for (int i = 0; i < 1000; i++) {
    CHECK_OK(cn_world_step(world, &report));
    CHECK_OK(cni_run_writer_step(writer, world, &report));
  }
  CHECK_OK(cni_run_writer_close(writer));

  double values[16];
  CHECK_OK(cn_scene_measure(scene, world, values));
  CHECK_NEAR(test_sensor(scene, values, "travel", "m"), 0.25, 1e-9);
  CHECK_NEAR(test_sensor(scene, values, "speed", "m/s"), 0, 1e-9);
  CHECK_NEAR(test_sensor(scene, values, "motor", "N"), 20, 1e-9);
  CHECK_NEAR(test_sensor(scene, values, "spring", "N"), -2, 1e-6);
  CHECK_NEAR(test_sensor(scene, values, "limit", "N") + test_sensor(scene, values, "friction", "N"),
             -18, 1e-6);
  CHECK_NEAR(test_sensor(scene, values, "effort", "N"), 0, 1e-6);
  CHECK_NEAR(test_sensor(scene, values, "force", "N"), 0, 1e-6);
  CHECK_NEAR(test_sensor(scene, values, "torque", "N m"), 0, 1e-6);
  CHECK_NEAR(test_sensor(scene, values, "turned", "rad"), 0, 1e-9);

  CnRun *run;
  CnRunInfo info;
  CnRunJoint joint;
  CnJointState recorded, now;
  CHECK_OK(cn_run_open(test_path("slider.h5"), NULL, &run));
  cn_run_info(run, &info);
  CHECK_OK(cn_run_joint(run, 0, &joint));
  CHECK(joint.kind == CN_JOINT_PRISMATIC && joint.body_a == -1 && joint.body_b == 0);
  CHECK_OK(cn_run_joint_states(run, info.frame_count - 1, &recorded));
  CHECK_OK(cn_joint_state(world, cn_world_next_joint(world, (CnJointId){0, 0}), &now));
  CHECK(now.coordinate_count == 1);
  assert_memory_equal(&recorded, &now, sizeof now);
  cn_run_close(run);
  cn_world_destroy(world);
  cn_scene_destroy(scene);
}

static int start(void **state) {
  (void)state;
  return test_folder_make() == NULL;
}

static int stop(void **state) {
  (void)state;
  test_folder_remove();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(slider)};
  return cmocka_run_group_tests(tests, start, stop);
}
