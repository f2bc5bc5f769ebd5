// SPDX-License-Identifier: Apache-2.0
// docs/scene.schema.json knows the shape kinds of the table, with their sizes, and no others.
#include "check.h"
#include "geometry/geometry.h"
#include "source_dir.h"

#include <jansson.h>
#include <string.h>

static json_t *schema(void) {
  json_error_t error;
  json_t *root = json_load_file(CAIRN_SOURCE_DIR "/docs/scene.schema.json", 0, &error);
  if (!root) fail_msg("%s", error.text);
  return root;
}

// Is one of the fields in a scene "size" for half_size?
static int is_size(const CniShapeKind *kind, const char *key) {
  for (const CniField *f = kind->fields; f->name; f++) {
    const char *name = strncmp(f->name, "half_", 5) == 0 ? f->name + 5 : f->name;
    if (strcmp(name, key) == 0) return 1;
  }
  return 0;
}

static void kinds_of_the_table(void **state) {
  (void)state;
  json_t *root = schema(), *defs = json_object_get(root, "$defs");
  json_t *shape = json_object_get(defs, "shape");
  json_t *kinds =
      json_object_get(json_object_get(json_object_get(shape, "properties"), "kind"), "enum");
  for (size_t k = 0; k < CN_SHAPE_KIND_COUNT; k++) {
    const CniShapeKind *kind = cni_shape_kinds[k];
    assert_string_equal(json_string_value(json_array_get(kinds, k)), kind->name);
    json_t *own = json_object_get(defs, kind->name), *value;
    json_t *properties = json_object_get(own, "properties");
    json_t *required = json_object_get(own, "required");
    int unbounded = cni_shape_unbounded((CnShapeKind)k);
    CHECK(own && json_is_false(json_object_get(own, "additionalProperties")));
    size_t needed = 0; // what may be zero may be left out
    for (const CniField *f = kind->fields; f->name; f++) needed += !cni_range_holds(f->range, 0);
    CHECK(json_array_size(required) == needed);
    for (size_t i = 0; i < json_array_size(required); i++)
      CHECK(is_size(kind, json_string_value(json_array_get(required, i))));
    static const char *const common[] = {"comment",  "kind",     "position", "rotation",
                                         "material", "category", "mask",     "trigger"};
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
      CHECK(json_object_get(properties, common[i]));
    CHECK(json_object_get(properties, unbounded ? "normal" : "density"));
    const char *key;
    size_t sizes = 0;
    json_object_foreach(properties, key, value) sizes += (size_t)is_size(kind, key);
    CHECK(sizes == (size_t)cni_field_count(kind->fields));
    size_t others = cni_shape_needs_geometry((CnShapeKind)k) ? 11 : 9; // "points" or "geometry"
    if (cni_shape_is_surface((CnShapeKind)k)) others = 21;             // "geometry" or a file's
    CHECK(json_object_size(properties) == sizes + others);
  }
  // and the height field, which is a mesh with a word of its own
  CHECK(json_array_size(kinds) == CN_SHAPE_KIND_COUNT + 1);
  CHECK(json_array_size(json_object_get(shape, "allOf")) == CN_SHAPE_KIND_COUNT + 1);
  json_decref(root);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(kinds_of_the_table)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
