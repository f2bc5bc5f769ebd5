// SPDX-License-Identifier: Apache-2.0
// The worked examples of docs/howto: every scene there runs, and its sensors show at the end what the
// page says.
#include "check.h"

#include <cairn/scene.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/vec.h"
#include "source_dir.h"

static char text[1 << 16];

static void read_page(const char *name) {
  char path[512];
  snprintf(path, sizeof path, CAIRN_SOURCE_DIR "/docs/howto/%s.md", name);
  FILE *file = fopen(path, "rb");
  CHECK(file != NULL);
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
}

// Runs the scene for its time; compares rows "| `sensor` | value |" up to `end`.
static int32_t try_scene(const char *json, size_t size, const char *rest, const char *end) {
  CnScene *scene;
  CnWorld *world;
  CnSceneInfo info;
  CnWorldDef def = cn_world_def_default();
  CHECK_OK(cn_scene_parse(json, size, "howto", NULL, 0, NULL, &scene));
  cn_scene_info(scene, &info);
  cn_scene_world_def(scene, &def);
  CHECK_OK(cn_world_create(&def, &world));
  CHECK_OK(cn_scene_fill(scene, world));
  int32_t steps = (int32_t)(info.time / def.time_step + 0.5), rows = 0;
  for (int32_t i = 0; i < steps; i++) CHECK_OK(cn_world_step(world, NULL));
  double values[32];
  CHECK(info.sensor_count <= 32);
  CHECK_OK(cn_scene_measure(scene, world, values));
  for (int32_t i = 0; i < info.sensor_count; i++) {
    CnSensorInfo sensor;
    char row[128];
    CHECK_OK(cn_scene_sensor(scene, i, &sensor));
    snprintf(row, sizeof row, "| `%s` | ", sensor.name);
    const char *at = strstr(rest, row);
    if (!at || at > end) fail_msg("no figure for %s", sensor.name);
    double wanted = strtod(at + strlen(row), NULL);
    CHECK_NEAR(values[i], wanted, 5e-3 * fabs(wanted) + 1e-6);
    rows++;
  }
  cn_world_destroy(world);
  cn_scene_destroy(scene);
  return rows;
}

static void pages(void **state) {
  (void)state;
  const char *const names[] = {"joints", "drives", "forces", "reactions", "closed-loops"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    int32_t rows = 0;
    read_page(names[i]);
    const char *block = strstr(text, "```json\n");
    while (block) {
      const char *start = block + 8, *stop = strstr(start, "```");
      CHECK(stop != NULL);
      block = strstr(stop + 3, "```json\n");
      print_message("%s\n", names[i]);
      rows += try_scene(start, (size_t)(stop - start), stop, block ? block : text + strlen(text));
    }
    CHECK(rows >= 3);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(pages)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
