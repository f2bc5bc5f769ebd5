// SPDX-License-Identifier: Apache-2.0
// Robots under a rain of blocks (examples/machines/robots.json): joints stay closed, nothing passes the floor
// or another body, and what is thrown in comes to rest. Once with the small robots beside the scene, once,
// where they are there (../shared/data or CAIRN_PROBLEM_DIR), with a real humanoid, quadruped and arm.
#include "check.h"
#include "machines.h"
#include "problems.h"
#include "source_dir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void rains(Machine *m, int32_t steps) {
  CnPenetration depth;
  machine_steps(m, steps);
  CHECK(machine_open_by(m) < 1e-4);
  CHECK_OK(cn_world_penetration(m->world, &depth));
  CHECK(depth.mean < 1e-3 && depth.max < 0.02);
  for (CnBodyId b = cn_world_next_body(m->world, (CnBodyId){0, 0}); b.slot;
       b = cn_world_next_body(m->world, b)) {
    CnPose pose;
    CHECK_OK(cn_body_pose(m->world, b, &pose));
    CHECK(pose.position.z > -0.05 && pose.position.z < 5);
    CHECK(fabs(pose.position.x) < 10 && fabs(pose.position.y) < 10);
  }
}

static void own(void **state) {
  (void)state;
  Machine m = machine_open("robots", (CnSetting[]){{"blocks", 10}, {NULL, 0}});
  rains(&m, 480);
  machine_close(&m);
}

// The scene's text with other models in it, as if it lay beside them.
static char *with_real_robots(void) {
  static const char *const pairs[][2] = {
      {"robots/doll.xml\", \"name\": \"doll\", \"pose\": {\"position\": [0, 0, 0.2]}, "
       "\"start\": {\"knee_left\": 0.4, \"knee_right\": 0.6}",
       "humanoid/humanoid.xml\", \"name\": \"doll\", \"start\": {}"},
      {"robots/dog.urdf", "ant/ant.xml"},
      {"[0.8, 0.1, 0.45]", "[0.8, 0.1, 0]"}, // it brings its floor along
      {"\"start\": {\"floating\": 1}", "\"start\": {}"},
      {"robots/arm.urdf", "panda/panda.urdf"},
      {"\"start\": {\"shoulder\": 0.5, \"elbow\": 0.8}",
       "\"start\": {\"panda_joint2\": 0.3, \"panda_joint4\": -1.5}"},
      {"dog/trunk", "dog/torso"},
      {"arm/elbow", "arm/panda_joint4"}};
  FILE *file = fopen(CAIRN_SOURCE_DIR "/examples/machines/robots.json", "rb");
  char *text = calloc(1, 1 << 14), *made = calloc(1, 1 << 14);
  CHECK(file && text && made && fread(text, 1, (1 << 14) - 1, file) > 0);
  fclose(file);
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    char *at = strstr(text, pairs[i][0]);
    if (!at) fail_msg("no %s", pairs[i][0]);
    int n = snprintf(made, 1 << 14, "%.*s%s%s", (int)(at - text), text, pairs[i][1],
                     at + strlen(pairs[i][0]));
    CHECK(n > 0 && n < 1 << 14);
    memcpy(text, made, 1 << 14);
  }
  free(made);
  return text;
}

static void real(void **state) {
  (void)state;
  if (!problem_folder_has("robots/humanoid/humanoid.xml")) skip();
  char label[1024], *text = with_real_robots();
  Machine m = {.def = cn_world_def_default()};
  snprintf(label, sizeof label, "%s/robots/heap.json", problem_folder());
  CnStatus status =
      cn_scene_parse(text, strlen(text), label, (CnSetting[]){{"blocks", 10}}, 1, NULL, &m.scene);
  if (status != CN_OK) fail_msg("%s", cn_error_message());
  cn_scene_info(m.scene, &m.info);
  cn_scene_world_def(m.scene, &m.def);
  CHECK_OK(cn_world_create(&m.def, &m.world));
  CHECK_OK(cn_scene_fill(m.scene, m.world));
  rains(&m, 160);
  machine_close(&m);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(own), cmocka_unit_test(real)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
