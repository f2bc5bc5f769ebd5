// SPDX-License-Identifier: Apache-2.0
// The self-centring gripper of examples/machines: a torque T on a cam whose n spiral grooves run inwards
// by b a radian presses every finger with T/(n b), by virtual work.
#include "check.h"

#include <cairn/scene.h>
#include <cairn/verdict.h>

#include "source_dir.h"

static void closes(double torque, double b) {
  CnSetting settings[] = {{"torque", torque}, {"b", b}};
  CnWorldDef def = cn_world_def_default();
  CnScene *scene;
  CnWorld *world;
  double values[16];
  CHECK_OK(
      cn_scene_open(CAIRN_SOURCE_DIR "/examples/machines/gripper.json", settings, 2, NULL, &scene));
  cn_scene_world_def(scene, &def);
  def.balance = 1;
  CHECK_OK(cn_world_create(&def, &world));
  CHECK_OK(cn_scene_fill(scene, world));
  for (int32_t i = 0; i < 500; i++) CHECK_OK(cn_world_step(world, NULL));
  CHECK_OK(cn_scene_measure(scene, world, values));
  for (int32_t i = 0; i < 8; i++) CHECK_REL(values[i], torque / (8 * b), 1e-4);
  CHECK_REL(values[8], 0.001 / b, 1e-3); // each finger has come a millimetre
  // the torque is a function of time: what it brings does not come from nowhere
  CnVerdict verdict;
  CHECK_OK(cn_world_verdict(world, &verdict));
  if (!verdict.trusted) fail_msg("%s", verdict.line);
  cn_world_destroy(world);
  cn_scene_destroy(scene);
}

static void gripper(void **state) {
  (void)state;
  closes(4, 0.01);
  closes(2.5, 0.02);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(gripper)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
