// SPDX-License-Identifier: Apache-2.0
// What is written about joints, held against the table of kinds: docs/scene.schema.json and
// docs/scene.md.
#include "check.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "joint/joint.h"
#include "source_dir.h"

static int holds(const json_t *list, const char *word) {
  size_t i;
  json_t *value;
  json_array_foreach(list, i, value) if (strcmp(json_string_value(value), word) == 0) return 1;
  return 0;
}

static void schema(void **state) {
  (void)state;
  json_error_t error;
  json_t *root = json_load_file(CAIRN_SOURCE_DIR "/docs/scene.schema.json", 0, &error);
  CHECK(root != NULL);
  json_t *defs = json_object_get(root, "$defs");
  json_t *joint = json_object_get(json_object_get(defs, "joint"), "properties");
  json_t *kinds = json_object_get(json_object_get(joint, "kind"), "enum");
  CHECK(json_array_size(kinds) == CN_JOINT_KIND_COUNT);
  for (int32_t i = 0; i < CN_JOINT_KIND_COUNT; i++) {
    CHECK(holds(kinds, cni_joint_kinds[i]->name));
    for (const CniField *f = cni_joint_kinds[i]->fields; f && f->name; f++)
      CHECK(json_object_get(joint, f->name) != NULL);
  }
  json_t *axis = json_object_get(json_object_get(defs, "jointAxis"), "properties");
  CHECK((int32_t)json_object_size(axis) == cni_field_count(cni_joint_axis_fields) + 1);
  for (const CniField *f = cni_joint_axis_fields; f->name; f++) {
    json_t *property = json_object_get(axis, f->name);
    CHECK(property != NULL);
    assert_string_equal(json_string_value(json_object_get(property, "description")), f->sentence);
  }
  json_decref(root);
}

static char *read_text(const char *path) {
  FILE *file = fopen(path, "rb");
  CHECK(file != NULL);
  char *text = calloc(1, 1 << 20);
  CHECK(fread(text, 1, (1 << 20) - 1, file) > 0);
  fclose(file);
  return text;
}

// "`a`, `b`", one word after another
static void add_word(char *line, size_t size, const char *before, const char *word) {
  size_t n = strlen(line);
  snprintf(line + n, size - n, "%s`%s`", before, word);
}

static void manual(void **state) {
  (void)state;
  char *text = read_text(CAIRN_SOURCE_DIR "/docs/scene.md");
  for (int32_t i = 0; i < CN_JOINT_KIND_COUNT; i++) {
    const CniJointKind *kind = cni_joint_kinds[i];
    char row[512] = "";
    snprintf(row, sizeof row, "| `%s` |", kind->name);
    for (const CniField *f = kind->fields; f && f->name; f++)
      add_word(row, sizeof row, f == kind->fields ? " " : ", ", f->name);
    snprintf(row + strlen(row), sizeof row - strlen(row), " |");
    for (const CniCoordinate *c = kind->coordinates; c && c->name; c++) {
      add_word(row, sizeof row, c == kind->coordinates ? " " : ", ", c->name);
      snprintf(row + strlen(row), sizeof row - strlen(row), " (%s)", c->unit);
    }
    snprintf(row + strlen(row), sizeof row - strlen(row), " | %s |", kind->summary);
    if (!strstr(text, row)) print_message("docs/scene.md lacks: %s\n", row);
    CHECK(strstr(text, row) != NULL);
  }
  for (const CniField *f = cni_joint_axis_fields; f->name; f++) {
    char row[256];
    snprintf(row, sizeof row, "| `%s` | %s | %s", f->name, f->unit, f->sentence);
    if (!strstr(text, row)) print_message("docs/scene.md lacks: %s\n", row);
    CHECK(strstr(text, row) != NULL);
  }
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(schema), cmocka_unit_test(manual)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
