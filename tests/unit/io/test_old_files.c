// SPDX-License-Identifier: Apache-2.0
// Files that Cairn 0.1.0 wrote (tests/data/README.md): a run is read, exported and shown, a checkpoint goes on.
#include "check.h"
#include "old_hash.h"
#include "runs.h"
#include "source_dir.h"

#include <cairn/checkpoint.h>
#include <cairn/run_look.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DATA CAIRN_SOURCE_DIR "/tests/data/"

// Unpacked in the test's own folder; null where there is no gzip.
static const char *unpack(void) {
  char command[1024];
  const char *path = test_path("run-0.1.h5");
  snprintf(command, sizeof command, "gzip -dc '" DATA "run-0.1.h5.gz' > '%s'", path);
  return system(command) == 0 ? path : NULL;
}

// Newton's cradle: five balls of one mass on two strings each, the first lifted; 200 steps of 0.25 ms.
static void test_run(void **state) {
  (void)state;
  const char *path = unpack();
  if (!path) skip();
  CnRun *run;
  CnRunInfo info;
  CHECK_OK(cn_run_open(path, NULL, &run));
  cn_run_info(run, &info);
  assert_string_equal(info.cairn_version, "0.1.0");
  CHECK(info.complete && info.step_count == 200 && info.frame_count == 4 && info.body_count == 5);
  CHECK(info.joint_count == 10 && info.joints_recorded && info.contacts_recorded);
  assert_string_equal(info.verdict, ""); // 0.1 gave none
  CnPose first[5], last[5];
  CnTwist twists[5];
  CnJointState joints[10];
  double time, kinetic[200], potential[200];
  CHECK_OK(cn_run_frame(run, 0, &time, first, NULL));
  CHECK(time == 0);
  CHECK_OK(cn_run_frame(run, 3, &time, last, twists));
  CHECK_NEAR(time, 0.05, 1e-9);
  CHECK(last[0].position.z < first[0].position.z); // the lifted one falls, the others hang
  CHECK_NEAR(last[4].position.z, first[4].position.z, 1e-6);
  CHECK_OK(cn_run_joint_states(run, 3, joints));
  CHECK_OK(cn_run_values(run, "kinetic_energy", 0, 200, kinetic));
  CHECK_OK(cn_run_values(run, "potential_energy", 0, 200, potential));
  CHECK_NEAR(kinetic[199] + potential[199], kinetic[0] + potential[0], 1e-4);
  CnWorldDef def = cn_world_def_default();
  CHECK_OK(cn_run_settings(run, &def));
  CHECK(def.time_step == 2.5e-4 && strcmp(def.solver.name, "psor") == 0);
  int32_t springs;
  CHECK_OK(cn_run_springs(run, NULL, 0, &springs));
  CHECK(springs == 0);
  // 0.1 told neither materials nor motors
  CnPose coms[8];
  CnVec3 moments[8];
  int32_t materials[8], drives[16], named;
  CHECK_OK(cn_run_inertias(run, coms, moments));
  CHECK(moments[0].x > 0 && coms[0].rotation.w == 1);
  CHECK_OK(cn_run_materials(run, materials, &named));
  CHECK(named == 0 && materials[0] == -1);
  CHECK_OK(cn_run_drives(run, drives));
  CHECK(drives[0] == -1);
  CHECK_OK(cn_page_from_run(run, test_path("old.html"), 0));
  cn_run_close(run);
  CHECK_OK(cn_run_export(path, "csv", test_path("old")));
}

// The state that 0.1 told the hash of, in a world of today, which then goes on.
static void test_checkpoint(void **state) {
  (void)state;
  CnCheckpoint checkpoint;
  CnScene *scene;
  CnWorld *world;
  CHECK_OK(cn_checkpoint_read(DATA "checkpoint-0.1.ckpt", NULL, &checkpoint));
  CHECK(checkpoint.step == 200 && !checkpoint.run_path);
  CHECK_OK(cn_scene_parse(checkpoint.scene_text, strlen(checkpoint.scene_text),
                          checkpoint.scene_label, checkpoint.settings, checkpoint.setting_count,
                          NULL, &scene));
  CnWorldDef def = cn_world_def_default();
  cn_scene_world_def(scene, &def);
  CHECK_OK(cn_world_create(&def, &world));
  CHECK_OK(cn_world_restore(world, checkpoint.snapshot, checkpoint.snapshot_size));
  CHECK(old_hash(world) == 0x3111dd89e4d9eec7u);
  CnWorldInfo info;
  CnWorldSums before, after;
  cn_world_sums(world, &before);
  for (int i = 0; i < 200; i++) CHECK_OK(cn_world_step(world, NULL));
  cn_world_info(world, &info);
  cn_world_sums(world, &after);
  CHECK(info.step == 400 && info.joint_count == 10);
  CHECK_NEAR(info.time, 0.1, 1e-12);
  CHECK_NEAR(after.kinetic_energy + after.potential_energy,
             before.kinetic_energy + before.potential_energy, 1e-4);
  cn_checkpoint_release(&checkpoint);
  cn_scene_destroy(scene);
  cn_world_destroy(world);
}

static int begin(void **state) {
  (void)state;
  return test_folder_make() == NULL;
}

static int end(void **state) {
  (void)state;
  test_folder_remove();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_run), cmocka_unit_test(test_checkpoint)};
  return cmocka_run_group_tests(tests, begin, end);
}
