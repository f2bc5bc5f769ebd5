// SPDX-License-Identifier: Apache-2.0
// Built outside the tree against an installed libcairn-io: a built-in scene steps, one with a kind of the program does,
// and a run file that is not there is told so.
#include <cairn/cairn.h>
#include <cairn/run.h>
#include <cairn/scene.h>
#include <stdio.h>
#include <string.h>

static CnStatus lift(void *context, const CnForceDef *def, const CnForceSight *sight,
                     CnForceEffect *effect) {
  (void)context;
  (void)sight;
  effect->force.z = def->strength;
  return CN_OK;
}

// A kind that the program has added to the tables of libcairn stands in a scene that libcairn-io reads, also where
// both are shared: 2 kg lifted by 10 N without gravity come to 5 m/s^2.
static int own_kind(void) {
  static const char text[] =
      "{\"settings\": {\"gravity\": [0, 0, 0]}, \"bodies\": [{\"name\": \"b\", \"mass\": 2, "
      "\"inertia\": [1, 1, 1]}],"
      " \"forces\": [{\"kind\": \"lift\", \"body\": \"b\", \"strength\": 10}]}";
  CnOwnForce kind = {
      .size = sizeof kind, .single = 1, .name = "lift", .reads = {"strength"}, .evaluate = lift};
  CnForceKind number;
  CnScene *scene;
  CnWorld *world;
  CnWorldDef def = cn_world_def_default();
  CnTwist twist;
  if (cn_force_register(&kind, &number) != CN_OK) return 0;
  if (cn_scene_parse(text, sizeof text - 1, "own", NULL, 0, NULL, &scene) != CN_OK) return 0;
  cn_scene_world_def(scene, &def);
  if (cn_world_create(&def, &world) != CN_OK || cn_scene_fill(scene, world) != CN_OK) return 0;
  if (cn_world_step(world, NULL) != CN_OK) return 0;
  if (cn_body_twist(world, cn_world_find_body(world, "b"), &twist) != CN_OK) return 0;
  cn_world_destroy(world);
  cn_scene_destroy(scene);
  double speed = 5 * def.time_step, off = twist.velocity.z - speed;
  return off < 1e-12 && off > -1e-12;
}

int main(void) {
  if (!own_kind()) {
    fprintf(stderr, "own kind: %s\n", cn_error_message());
    return 1;
  }
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
