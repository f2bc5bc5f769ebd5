// SPDX-License-Identifier: Apache-2.0
// Forces on their way through the files: scene and sensors; schema and manual against the table of
// kinds.
#include "check.h"

#include <cairn/run_look.h>

#include <cairn/scene.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "force/force.h"
#include "io/io.h"
#include "runs.h"
#include "source_dir.h"

static void scene(void **state) {
  (void)state;
  CnScene *s;
  CnWorld *world;
  CHECK_OK(cn_scene_open(CAIRN_SOURCE_DIR "/tests/scenes/good/strut.json", NULL, 0, NULL, &s));
  CnWorldDef def = cn_world_def_default();
  cn_scene_world_def(s, &def);
  CHECK_OK(cn_world_create(&def, &world));
  CHECK_OK(cn_scene_fill(s, world));
  CnSceneInfo info;
  cn_scene_info(s, &info);
  CHECK(info.force_count == 5);
  for (int i = 0; i < 800; i++) CHECK_OK(cn_world_step(world, NULL));
  double values[16];
  CHECK_OK(cn_scene_measure(s, world, values));
  double weight = 2 * 9.81;
  CHECK_NEAR(test_sensor(s, values, "pull", "N"), weight, 1e-8);
  CHECK_NEAR(test_sensor(s, values, "all.z", "N"), weight, 1e-8);
  CHECK_NEAR(test_sensor(s, values, "torque", "N m"), 0, 1e-12);
  CHECK_NEAR(test_sensor(s, values, "length", "m"), 1 + weight / 800, 1e-10);
  CHECK_NEAR(test_sensor(s, values, "rate", "m/s"), 0, 1e-10);
  CHECK_NEAR(test_sensor(s, values, "power", "W"), 0, 1e-8);
  CHECK_NEAR(test_sensor(s, values, "stored", "J"), weight * weight / 1600, 1e-8);
  cn_world_destroy(world);
  cn_scene_destroy(s);
}

// The springs of a run file, as the page draws them.
static void springs_of_a_run(void **state) {
  (void)state;
  CnScene *s;
  CnWorld *world;
  CniRunWriter *writer;
  CnRun *run;
  Scratch scratch = scratch_create();
  CHECK_OK(cn_scene_open(CAIRN_SOURCE_DIR "/tests/scenes/good/strut.json", NULL, 0, NULL, &s));
  CnWorldDef def = cn_world_def_default();
  cn_scene_world_def(s, &def);
  CHECK_OK(cn_world_create(&def, &world));
  CHECK_OK(cn_scene_fill(s, world));
  CniRunWriterDef to = {.path = scratch_file(&scratch, "strut.h5"), .scene = s};
  CHECK_OK(cni_run_writer_create(&to, world, &writer));
  CHECK_OK(cni_run_writer_close(writer));
  CHECK_OK(cn_run_open(scratch_file(&scratch, "strut.h5"), NULL, &run));
  CnRunJoint springs[3];
  int32_t count;
  CHECK_OK(cn_run_springs(run, NULL, 0, &count));
  CHECK_OK(cn_run_springs(run, springs, 3, &count));
  CHECK(count == 3); // drag and constant force are none
  for (int32_t i = 0; i < count; i++) {
    CHECK(springs[i].body_a == -1 && springs[i].body_b == i);
    CHECK_NEAR(springs[i].frame_a.position.x, i, 0);
    CHECK_NEAR(springs[i].frame_b.position.z, 0, 0);
  }
  cn_run_close(run);
  cn_world_destroy(world);
  cn_scene_destroy(s);
  scratch_remove(&scratch);
}

// Materials, motors and centres of mass of a run file.
static void look_of_a_run(void **state) {
  (void)state;
  CnScene *s;
  CnWorld *world;
  CniRunWriter *writer;
  CnRun *run;
  Scratch scratch = scratch_create();
  CHECK_OK(cn_scene_open(CAIRN_SOURCE_DIR "/tests/browser/everything.json", NULL, 0, NULL, &s));
  CnWorldDef def = cn_world_def_default();
  cn_scene_world_def(s, &def);
  CHECK_OK(cn_world_create(&def, &world));
  CHECK_OK(cn_scene_fill(s, world));
  CniRunWriterDef to = {.path = scratch_file(&scratch, "all.h5"), .scene = s};
  CHECK_OK(cni_run_writer_create(&to, world, &writer));
  CHECK_OK(cni_run_writer_close(writer));
  CHECK_OK(cn_run_open(scratch_file(&scratch, "all.h5"), NULL, &run));
  CnRunInfo info;
  cn_run_info(run, &info);
  CHECK(info.shape_count <= 64 && info.body_count <= 64 && info.joint_count == 3);

  int32_t materials[64], count, drives[3];
  char name[16];
  CHECK_OK(cn_run_materials(run, materials, &count));
  CHECK(count == 2);
  for (int32_t i = 0; i < info.shape_count; i++) {
    CnRunShape shape;
    CnRunBody body;
    CHECK_OK(cn_run_shape(run, i, &shape));
    CHECK_OK(cn_run_body(run, shape.body, &body));
    const char *want = strncmp(body.name, "ball", 4) == 0    ? "steel"
                       : strncmp(body.name, "crate", 5) == 0 ? "rubber"
                                                             : NULL;
    CHECK((materials[i] >= 0) == (want != NULL));
    if (!want) continue;
    CHECK_OK(cn_run_material_name(run, materials[i], name, sizeof name));
    assert_string_equal(name, want);
  }
  CHECK(cn_run_material_name(run, 2, name, sizeof name) == CN_INVALID_ARGUMENT);
  CHECK_OK(cn_run_drives(run, drives));
  CHECK(drives[0] == 0 && drives[1] == -1 && drives[2] == -1); // shoulder, elbow, string
  CnPose coms[64];
  CnVec3 moments[64];
  CHECK_OK(cn_run_inertias(run, coms, moments));
  // ball 0: 2/5 m r^2 with r = .08
  double m = 1000 * 4.0 / 3 * 3.14159265358979 * 0.08 * 0.08 * 0.08;
  CHECK_NEAR(moments[2].x, 0.4 * m * 0.08 * 0.08, 1e-12);
  cn_run_close(run);
  cn_world_destroy(world);
  cn_scene_destroy(s);
  scratch_remove(&scratch);
}

static void schema(void **state) {
  (void)state;
  json_error_t error;
  json_t *root = json_load_file(CAIRN_SOURCE_DIR "/docs/scene.schema.json", 0, &error);
  CHECK(root != NULL);
  json_t *defs = json_object_get(root, "$defs");
  json_t *force = json_object_get(json_object_get(defs, "force"), "properties");
  json_t *kinds = json_object_get(json_object_get(force, "kind"), "enum");
  CHECK(json_array_size(kinds) == CN_FORCE_KIND_COUNT);
  for (int32_t i = 0; i < CN_FORCE_KIND_COUNT; i++) {
    const CniForceKind *kind = cni_force_kinds[i];
    assert_string_equal(json_string_value(json_array_get(kinds, (size_t)i)), kind->name);
    for (const CniField *f = kind->fields; f->name; f++) {
      json_t *text = json_object_get(json_object_get(force, f->name), "description");
      CHECK(text != NULL);
      assert_string_equal(json_string_value(text), f->sentence);
    }
  }
  json_decref(root);
}

static char manual_text[1 << 20];

static void has(const char *row) {
  if (!strstr(manual_text, row)) print_message("docs/scene.md lacks: %s\n", row);
  CHECK(strstr(manual_text, row) != NULL);
}

static void manual(void **state) {
  (void)state;
  FILE *file = fopen(CAIRN_SOURCE_DIR "/docs/scene.md", "rb");
  CHECK(file != NULL);
  CHECK(fread(manual_text, 1, sizeof manual_text - 1, file) > 0);
  fclose(file);
  for (int32_t i = 0; i < CN_FORCE_KIND_COUNT; i++) {
    const CniForceKind *kind = cni_force_kinds[i];
    char row[512];
    int n = snprintf(row, sizeof row, "| `%s` |", kind->name);
    for (const CniField *f = kind->fields; f->name; f++)
      n += snprintf(row + n, sizeof row - (size_t)n, "%s`%s`", f == kind->fields ? " " : ", ",
                    f->name);
    snprintf(row + n, sizeof row - (size_t)n, " | %s | %s |", kind->single ? "one" : "two",
             kind->summary);
    has(row);
    for (const CniField *f = kind->fields; f->name; f++) {
      snprintf(row, sizeof row, "| `%s` | %s%s| %s", f->name, f->unit, f->unit[0] ? " " : "",
               f->sentence);
      has(row);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(scene), cmocka_unit_test(springs_of_a_run),
                                     cmocka_unit_test(look_of_a_run), cmocka_unit_test(schema),
                                     cmocka_unit_test(manual)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
