// SPDX-License-Identifier: Apache-2.0
// Any text as a robot description: refused with one line, or translated into a scene that is read or
// refused with one line; a world can be filled with what was read.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/scene.h>

#include "fuzz.h"
#include "io/robots/robot.h"
#include "io/scene/scene_private.h"

// Large scenes are slow and show nothing new.
#define ITEMS 300
#define SIZE 20000

static void require(int condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "fuzz_robot: %s: %s\n", what, cn_error_message());
  abort();
}

static void check_line(void) {
  const char *line = cn_error_message();
  require(line[0] != 0, "no line");
  for (; *line; line++) require((unsigned char)*line >= 32, "more than a line");
}

static void check_scene(const char *text, size_t length) {
  CnScene *scene = NULL;
  CnWorld *world = NULL;
  CnStatus status = cni_scene_parse_limited(text, length, "s", NULL, 0, NULL,
                                            &(CnSceneOptions){.files = "/nowhere"}, ITEMS, &scene);
  if (status != CN_OK) {
    check_line();
    return;
  }
  CnWorldDef def = cn_world_def_default();
  cn_scene_world_def(scene, &def);
  require(cn_world_create(&def, &world) == CN_OK, "no world");
  require(cn_scene_fill(scene, world) == CN_OK, "not filled");
  cn_world_destroy(world);
  cn_scene_destroy(scene);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  CnAllocator allocator = cn_allocator_default();
  CniRobotDef def = {"r/r.urdf", "", CN_POSE_ONE, NULL, 0, NULL};
  char *text = NULL;
  size_t length = 0;
  if (size > SIZE) return 0;
  if (cni_robot_text(&def, (const char *)data, size, &allocator, &text, &length) != CN_OK) {
    check_line();
    return 0;
  }
  check_scene(text, length);
  cni_release(&allocator, text, length + 1);
  return 0;
}
