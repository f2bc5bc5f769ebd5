// SPDX-License-Identifier: Apache-2.0
// Any text as a scene: refused with one line that has file, pointer, problem and value, or
// accepted; then a world can be filled with it and its sensors read.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/scene.h>

#include "fuzz.h"
#include "io/scene/scene_private.h"

// Large scenes are slow and show nothing new.
#define ITEMS 300

static void require(int condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "fuzz_scene: %s: %s\n", what, cn_error_message());
  abort();
}

static void check_line(const char *line) {
  size_t length = strlen(line);
  require(strncmp(line, "s: /", 4) == 0, "no pointer");
  for (size_t i = 0; i < length; i++) require((unsigned char)line[i] >= 32, "more than a line");
  if (length < 500) require(strstr(line, " (got ") && line[length - 1] == ')', "no value");
}

static void check_scene(CnScene *scene) {
  CnWorldDef def = cn_world_def_default();
  cn_scene_world_def(scene, &def);
  CnWorld *world = NULL;
  require(cn_world_create(&def, &world) == CN_OK, "no world");
  require(cn_scene_fill(scene, world) == CN_OK, "not filled");
  CnSceneInfo info;
  cn_scene_info(scene, &info);
  double *values = malloc(((size_t)info.sensor_count + 1) * sizeof *values);
  require(values && cn_scene_measure(scene, world, values) == CN_OK, "not measured");
  free(values);
  cn_world_destroy(world);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  CnScene *scene = NULL;
  CnStatus status = cni_scene_parse_limited((const char *)data, size, "s", NULL, 0, NULL,
                                            &(CnSceneOptions){.files = "/nowhere"}, ITEMS, &scene);
  if (status == CN_OK)
    check_scene(scene);
  else
    check_line(cn_error_message());
  require((status == CN_OK) == (scene != NULL), "scene and status disagree");
  cn_scene_destroy(scene);
  return 0;
}
