// SPDX-License-Identifier: Apache-2.0
// Built outside the tree against an installed libcairn-io: a built-in scene steps, and a run file that
// is not there is told so.
#include <cairn/run.h>
#include <cairn/scene.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  CnScene *scene;
  CnWorld *world;
  CnWorldDef def = cn_world_def_default();
  if (cn_scene_open("newton-cradle", NULL, 0, NULL, &scene) != CN_OK) return 1;
  cn_scene_world_def(scene, &def);
  if (cn_world_create(&def, &world) != CN_OK || cn_scene_fill(scene, world) != CN_OK) return 1;
  if (cn_world_step(world, NULL) != CN_OK) return 1;
  cn_world_destroy(world);
  cn_scene_destroy(scene);

  CnRun *run;
  CnStatus status = cn_run_open("none.h5", NULL, &run);
  printf("cairn-io %s: %s\n", cn_version(), cn_error_message());
  // the message of a failure in libcairn-io arrives in libcairn, also where both are shared
  return status == CN_FILE && strstr(cn_error_message(), "none.h5") ? 0 : 1;
}
