// SPDX-License-Identifier: Apache-2.0
// Every setting that the descriptions list goes through scenes, snapshots and run files: a world
// with none at its default is written and read back in each form.
#include "check.h"
#include "runs.h"

#include <hdf5.h>
#include <stdio.h>
#include <string.h>

#include "io/io.h"
#include "world/world.h"

// A value of the field that is not its default.
static void make_other(const CniField *f, void *at) {
  static const double numbers[] = {0.5, 0.75, 1.5, 6, 12};
  int32_t integer = (int32_t)f->fallback[0];
  if (f->type == CNI_FIELD_VEC3) {
    memcpy(at, (double[]){1, 2, 3}, 3 * sizeof(double));
  } else if (f->type == CNI_FIELD_REAL || f->type == CNI_FIELD_INTEGER) {
    double old = f->fallback[0], x = old;
    for (int i = 4; i >= 0 && x == old; i--)
      if (cni_range_holds(f->range, numbers[i])) x = numbers[i];
    CHECK(x != old && (f->type == CNI_FIELD_REAL || x == (int32_t)x));
    integer = (int32_t)x;
    memcpy(at, f->type == CNI_FIELD_REAL ? (void *)&x : (void *)&integer, cni_field_size(f));
  } else {
    integer = integer == 0 ? 1 : 0;
    const char *word = f->type == CNI_FIELD_WORD ? cni_field_word(f, integer) : NULL;
    memcpy(at, word ? (void *)&word : (void *)&integer, cni_field_size(f));
  }
}

static CnWorldDef other_def(void) {
  CnWorldDef def = cn_world_def_default();
  for (int p = 0; p < CNI_SETTINGS_PARTS; p++)
    for (const CniField *f = cni_settings_parts[p].fields; f->name; f++)
      make_other(f, cni_field_at(f, (char *)&def + cni_settings_parts[p].base));
  return def;
}

// The settings that a form leaves out are those of the default.
static void check_equal(const CnWorldDef *a, const CnWorldDef *b, uint32_t left_out) {
  CnWorldDef usual = cn_world_def_default();
  for (int p = 0; p < CNI_SETTINGS_PARTS; p++) {
    size_t base = cni_settings_parts[p].base;
    for (const CniField *f = cni_settings_parts[p].fields; f->name; f++) {
      const CniField one[2] = {*f, CNI_FIELDS_END};
      const CnWorldDef *expected = f->where & left_out ? &usual : b;
      if (!cni_fields_equal(one, (const char *)a + base, (const char *)expected + base))
        fail_msg("%s%s differs", cni_settings_parts[p].prefix, f->name);
    }
  }
}

// ---- scenes ----

static void put_json(FILE *file, const CniField *f, const void *at) {
  const double *x = at;
  const int32_t *integer = at;
  const char *word = NULL;
  if (f->type == CNI_FIELD_WORD) memcpy(&word, at, sizeof word);
  if (f->type == CNI_FIELD_CHOICE) word = cni_field_word(f, *integer);
  fprintf(file, "\"%s\": ", cni_field_file_name(f));
  if (word)
    fprintf(file, "\"%s\"", word);
  else if (f->type == CNI_FIELD_VEC3)
    fprintf(file, "[%.17g, %.17g, %.17g]", x[0], x[1], x[2]);
  else if (f->type == CNI_FIELD_REAL)
    fprintf(file, "%.17g", *x);
  else if (f->type == CNI_FIELD_FLAG)
    fprintf(file, *integer ? "true" : "false");
  else
    fprintf(file, "%d", (int)*integer);
}

static void put_table(FILE *file, const CniSettingsPart *part, const CnWorldDef *def) {
  for (const CniField *f = part->fields; f->name; f++) {
    if (f->where & CNI_NOT_IN_SCENE || strcmp(f->name, "integrator") == 0) continue;
    put_json(file, f, cni_field_of(f, (const char *)def + part->base));
    fprintf(file, ", ");
  }
  fprintf(file, "\"comment\": 0");
}

static void scenes(void **state) {
  (void)state;
  char text[8192];
  CnWorldDef def = other_def(), read = cn_world_def_default();
  FILE *file = fmemopen(text, sizeof text, "w");
  fprintf(file, "{\"settings\": {");
  put_table(file, &cni_settings_parts[0], &def);
  fprintf(file, ", \"solver\": {");
  put_table(file, &cni_settings_parts[1], &def);
  fprintf(file, "}, \"integrator\": {\"name\": \"%s\", ", def.integrator);
  put_table(file, &cni_settings_parts[2], &def);
  fprintf(file, "}}}");
  fclose(file);
  CnAllocator allocator = cn_allocator_default();
  CnScene *scene;
  CHECK_OK(cn_scene_parse(text, strlen(text), "s", NULL, 0, &allocator, &scene));
  cn_scene_world_def(scene, &read);
  check_equal(&read, &def, CNI_NOT_IN_SCENE);
  cn_scene_destroy(scene);
}

// ---- snapshots ----

static void snapshots(void **state) {
  (void)state;
  static unsigned char data[65536];
  CnWorldDef def = other_def(), usual = cn_world_def_default(), read;
  CnWorld *world, *other;
  size_t size;
  CHECK_OK(cn_world_create(&def, &world));
  CHECK_OK(cn_world_create(&usual, &other));
  CHECK_OK(cn_world_settings(world, &read));
  check_equal(&read, &def, 0);
  CHECK_OK(cn_world_save(world, data, sizeof data, &size));
  CHECK_OK(cn_world_restore(other, data, size));
  CHECK_OK(cn_world_settings(other, &read));
  check_equal(&read, &def, CNI_NOT_IN_SNAPSHOT);
  cn_world_destroy(other);
  cn_world_destroy(world);
}

// ---- run files ----

static void run_files(void **state) {
  (void)state;
  CnWorldDef def = other_def();
  CnWorld *world;
  CHECK_OK(cn_world_create(&def, &world));
  CniRunWriterDef writer_def = {
      .path = test_path("settings.h5"), .replace = 1, .allocator = cn_allocator_default()};
  CniRunWriter *writer;
  CHECK_OK(cni_run_writer_create(&writer_def, world, &writer));
  CHECK_OK(cni_run_writer_close(writer));
  cn_world_destroy(world);
  hid_t file = H5Fopen(test_path("settings.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
  hid_t group = H5Gopen2(file, "/settings", H5P_DEFAULT);
  CHECK(file >= 0 && group >= 0);
  for (int p = 0; p < CNI_SETTINGS_PARTS; p++)
    for (const CniField *f = cni_settings_parts[p].fields; f->name; f++) {
      char name[64];
      double x;
      snprintf(name, sizeof name, "%s%s", cni_settings_parts[p].run_prefix, cni_field_file_name(f));
      if (f->where & CNI_NOT_IN_RUN) continue;
      if (H5Aexists(group, name) <= 0) fail_msg("/settings lacks %s", name);
      if (f->type != CNI_FIELD_REAL) continue;
      hid_t attribute = H5Aopen(group, name, H5P_DEFAULT);
      CHECK(H5Aread(attribute, H5T_NATIVE_DOUBLE, &x) >= 0);
      CHECK(x == *(const double *)cni_field_of(f, (char *)&def + cni_settings_parts[p].base));
      H5Aclose(attribute);
    }
  CHECK(H5Aexists(group, "solver") > 0 && H5Aexists(group, "frames_per_second") > 0);
  H5Gclose(group);
  H5Fclose(file);
}

static int begin(void **state) {
  (void)state;
  test_folder_make();
  return 0;
}

static int end(void **state) {
  (void)state;
  test_folder_remove();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scenes),
      cmocka_unit_test(snapshots),
      cmocka_unit_test(run_files),
  };
  return cmocka_run_group_tests(tests, begin, end);
}
