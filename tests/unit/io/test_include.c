// SPDX-License-Identifier: Apache-2.0
// Scenes of several files: what wins, in which order lists come, circles, and files outside.
#include "check.h"

#include <cairn/scene.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "runs.h"

static char folder[200];

static void put(const char *name, const char *text) {
  char path[300];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  CHECK(file != NULL);
  fputs(text, file);
  fclose(file);
}

static CnStatus open_it(const char *name, CnScene **scene) {
  char path[300];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return cn_scene_open(path, NULL, 0, NULL, scene);
}

static void refuse(const char *text, const char *message) {
  CnScene *scene;
  put("bad.json", text);
  CHECK_STATUS(open_it("bad.json", &scene), CN_INVALID_DATA);
  CHECK_TEXT(cn_error_message(), message);
}

#define BALL(name, radius)                                                                         \
  "{\"name\": \"" name "\", \"shapes\": [{\"kind\": \"sphere\", \"radius\": " radius               \
  ", \"material\": \"m\"}]}"

static void together(void **state) {
  (void)state;
  put("below/materials.json",
      "{\"parameters\": {\"mu\": 0.2, \"r\": 0.1}, \"materials\": {\"m\": {\"friction\": \"=mu\"}, "
      "\"n\": {\"friction\": 0.3}}}");
  put("a.json", "{\"include\": [\"below/materials.json\"], \"title\": \"of a\", \"settings\": "
                "{\"time_step\": 0.5, "
                "\"time\": 7}, \"bodies\": [" BALL("a", "\"=r\"") "]}");
  put("b.json", "{\"include\": [\"below/materials.json\"], \"bodies\": [" BALL("b", "0.1") "]}");
  put("all.json", "{\"include\": [\"a.json\", \"b.json\"], \"parameters\": {\"mu\": 0.9}, "
                  "\"settings\": {\"time\": 3}, "
                  "\"bodies\": [" BALL("own", "0.1") "]}");
  CnScene *scene, *again;
  CnSceneInfo info;
  CHECK_OK(open_it("all.json", &scene));
  cn_scene_info(scene, &info);
  CHECK(info.body_count == 3 && info.material_count == 2 && info.parameter_count == 2);
  assert_string_equal(info.title, "of a");
  CHECK_NEAR(info.time, 3, 0); // the scene's own
  CnWorldDef def = cn_world_def_default();
  cn_scene_world_def(scene, &def);
  CHECK_NEAR(def.time_step, 0.5, 0); // of a
  CnWorld *world;
  CHECK_OK(cn_world_create(&def, &world));
  CHECK_OK(cn_scene_fill(scene, world));
  static const char *const names[] = {"a", "b", "own"};
  CnBodyId body = {0, 0};
  for (size_t i = 0; i < 3; i++) {
    CnBodyInfo about;
    body = cn_world_next_body(world, body);
    CHECK_OK(cn_body_info(world, body, &about));
    assert_string_equal(about.name, names[i]);
  }
  CnSceneParameter mu;
  int found = 0;
  for (int32_t i = 0; i < 2; i++) {
    CHECK_OK(cn_scene_parameter(scene, i, &mu));
    if (strcmp(mu.name, "mu") == 0) found = mu.value == 0.9;
  }
  CHECK(found);
  // the text that is kept stands for itself
  CHECK_OK(cn_scene_parse(info.text, info.text_size, "elsewhere", NULL, 0, NULL, &again));
  CnSceneInfo other;
  cn_scene_info(again, &other);
  CHECK(other.body_count == 3 && !strstr(other.text, "include"));
  cn_scene_destroy(again);
  cn_world_destroy(world);
  cn_scene_destroy(scene);
}

static void refused(void **state) {
  (void)state;
  put("x.json", "{\"include\": [\"y.json\"]}");
  put("y.json", "{\"include\": [\"x.json\"]}");
  put("self.json", "{\"include\": [\"bad.json\"]}");
  put("broken.json", "{\"bodies\": [}");
  put("list.json", "[]");
  refuse("{\"include\": [\"x.json\"]}",
         "/include/0/include/0/include/0: files include each other in a circle");
  refuse("{\"include\": [\"bad.json\"]}", "/include/0: files include each other in a circle");
  refuse("{\"include\": [\"self.json\"]}", "files include each other in a circle");
  refuse("{\"include\": \"x.json\"}", "/include: must be a list of files");
  refuse("{\"include\": [3]}", "/include/0: must be the name of a file");
  refuse("{\"include\": [\"../x.json\"]}", "must lie in the folder of the scene or below");
  refuse("{\"include\": [\"/etc/passwd\"]}", "must lie in the folder of the scene or below");
  refuse("{\"include\": [\"none.json\"]}", "/include/0: No such file");
  refuse("{\"include\": [\"broken.json\"]}", "/include/0: line 1, column 13");
  refuse("{\"include\": [\"list.json\"]}", "/include/0: is no scene");
}

// What is wrong in an included file is told by its name and its own numbers.
static void told(void **state) {
  (void)state;
  put("one.json", "{\"bodies\": [" BALL("a", "0.1") ", " BALL("b", "0.1") "]}");
  put("two.json",
      "{\"materials\": {\"m\": {}}, \"bodies\": [" BALL("c", "0.1") ", " BALL("d", "-1") "]}");
  put("law.json", "{\"materials\": {\"m\": {\"friction\": -2}}}");
  put("below/deep.json", "{\"settings\": {\"time_step\": 0}}");
  put("over.json", "{\"include\": [\"below/deep.json\"], \"sensors\": 3}");
  refuse("{\"include\": [\"one.json\", \"two.json\"]}", "/two.json: /bodies/1/shapes/0/radius: ");
  refuse("{\"include\": [\"law.json\"], \"bodies\": []}", "/law.json: /materials/m/friction: ");
  refuse("{\"include\": [\"over.json\"]}", "/below/deep.json: /settings/time_step: ");
  put("below/deep.json", "{}");
  refuse("{\"include\": [\"over.json\"]}", "/over.json: /sensors: ");
  // the scene's own are counted without those that were put before them
  refuse("{\"include\": [\"one.json\"], \"materials\": {\"m\": {}}, \"bodies\": [" BALL("e",
                                                                                        "-1") "]}",
         "/bad.json: /bodies/0/shapes/0/radius: ");
}

static int begin(void **state) {
  char below[300];
  (void)state;
  snprintf(folder, sizeof folder, "%s", test_folder_make());
  snprintf(below, sizeof below, "%s/below", folder);
  return mkdir(below, 0700);
}

static int end(void **state) {
  (void)state;
  test_folder_remove();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(together), cmocka_unit_test(refused),
                                     cmocka_unit_test(told)};
  return cmocka_run_group_tests(tests, begin, end);
}
