// SPDX-License-Identifier: Apache-2.0
// The worked examples of docs/howto: every scene there runs (or comes to rest, or vibrates), and its
// sensors show at the end what the page says.
#include "check.h"

#include <cairn/mechanism.h>
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

typedef struct Example {
  CnScene *scene;
  CnWorld *world;
  CnSceneInfo info;
  CnWorldDef def;
} Example;

static Example open_example(const char *json, size_t size) {
  Example e = {.def = cn_world_def_default()};
  CHECK_OK(cn_scene_parse(json, size, CAIRN_SOURCE_DIR "/examples/scenes/howto", NULL, 0, NULL,
                          &e.scene));
  cn_scene_info(e.scene, &e.info);
  cn_scene_world_def(e.scene, &e.def);
  CHECK_OK(cn_world_create(&e.def, &e.world));
  CHECK_OK(cn_scene_fill(e.scene, e.world));
  return e;
}

static void close_example(Example *e) {
  cn_world_destroy(e->world);
  cn_scene_destroy(e->scene);
}

// The figures of a row "| `name` | value | ..." before `end`; `count` of them are compared.
static void compare(const char *name, const double *values, int count, const char *rest,
                    const char *end) {
  char row[128];
  snprintf(row, sizeof row, "| `%s` | ", name);
  const char *at = strstr(rest, row);
  if (!at || at > end) fail_msg("no figure for %s", name);
  at += strlen(row);
  for (int k = 0; k < count; k++) {
    char *after;
    double wanted = strtod(at, &after);
    CHECK_NEAR(values[k], wanted, 5e-3 * fabs(wanted) + 1e-6);
    at = strstr(after, "| ");
    if (k + 1 < count) CHECK(at != NULL);
    if (at) at += 2;
  }
}

static int32_t compare_sensors(const Example *e, const char *rest, const char *end) {
  double values[32];
  CHECK(e->info.sensor_count <= 32);
  CHECK_OK(cn_scene_measure(e->scene, e->world, values));
  for (int32_t i = 0; i < e->info.sensor_count; i++) {
    CnSensorInfo sensor;
    CHECK_OK(cn_scene_sensor(e->scene, i, &sensor));
    compare(sensor.name, &values[i], 1, rest, end);
  }
  return e->info.sensor_count;
}

// Runs the scene for its time.
static int32_t runs(Example *e, const char *rest, const char *end) {
  int32_t steps = (int32_t)(e->info.time / e->def.time_step + 0.5);
  for (int32_t i = 0; i < steps; i++) CHECK_OK(cn_world_step(e->world, NULL));
  return compare_sensors(e, rest, end);
}

static int32_t rests(Example *e, const char *rest, const char *end) {
  CHECK_OK(cn_world_equilibrium(e->world, NULL, NULL));
  return compare_sensors(e, rest, end);
}

// Rows "| `mode` | frequency | damping |".
static int32_t vibrates(Example *e, const char *rest, const char *end) {
  CnMode modes[16];
  int32_t count;
  CHECK_OK(cn_world_modes(e->world, NULL, modes, NULL, 16, &count));
  CHECK(count <= 16);
  for (int32_t i = 0; i < count; i++) {
    char name[16];
    snprintf(name, sizeof name, "%d", (int)i + 1);
    compare(name, (double[]){modes[i].frequency, modes[i].damping}, 2, rest, end);
  }
  return count;
}

static const struct {
  const char *name;
  int32_t (*try)(Example *e, const char *rest, const char *end);
} howtos[] = {{"joints", runs},    {"drives", runs},       {"forces", runs},
              {"reactions", runs}, {"closed-loops", runs}, {"equilibrium", rests},
              {"modes", vibrates}, {"cams", runs},         {"meshes", runs}};

static void pages(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof howtos / sizeof howtos[0]; i++) {
    int32_t rows = 0;
    read_page(howtos[i].name);
    const char *block = strstr(text, "```json\n");
    while (block) {
      const char *start = block + 8, *stop = strstr(start, "```");
      CHECK(stop != NULL);
      block = strstr(stop + 3, "```json\n");
      print_message("%s\n", howtos[i].name);
      Example e = open_example(start, (size_t)(stop - start));
      rows += howtos[i].try(&e, stop, block ? block : text + strlen(text));
      close_example(&e);
    }
    CHECK(rows >= 2);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(pages)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
