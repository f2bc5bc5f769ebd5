// SPDX-License-Identifier: Apache-2.0
// "functions": functions of time by name. What a kind may have is what its row lists; tables and
// splines have "points", a list of [time, value].
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "io/scene/scene_private.h"

static CnStatus read_point(CniReader *reader, json_t *value, double point[2]) {
  if (!json_is_array(value) || json_array_size(value) != 2)
    return cni_scene_fail(reader, value, "must be a list of two numbers: time and value");
  for (size_t k = 0; k < 2; k++) {
    cni_scene_enter_index(reader, k);
    CNI_TRY(cni_scene_number(reader, json_array_get(value, k), CNI_ANY, &point[k]));
    cni_scene_leave(reader);
  }
  return CN_OK;
}

static CnStatus read_points(CniReader *reader, json_t *item, CniSceneFunction *f) {
  json_t *list = json_object_get(item, "points");
  CNI_TRY(cni_scene_require(reader, item, "points"));
  cni_scene_enter(reader, "points");
  size_t count = json_array_size(list);
  if (!json_is_array(list) || count == 0 || count > CNI_SCENE_ITEMS)
    return cni_scene_fail(reader, list, "must be a list of points");
  f->points = cni_allocate(&reader->scene->allocator, 2 * count * sizeof(double));
  if (!f->points) return cni_error_memory(2 * count * sizeof(double));
  f->def.point_count = (int32_t)count;
  f->def.times = f->points;
  f->def.values = f->points + count;
  for (size_t i = 0; i < count; i++) {
    double point[2];
    cni_scene_enter_index(reader, i);
    CNI_TRY(read_point(reader, json_array_get(list, i), point));
    cni_scene_leave(reader);
    f->points[i] = point[0];
    f->points[count + i] = point[1];
  }
  cni_scene_leave(reader);
  return CN_OK;
}

static CnStatus read_function(CniReader *reader, json_t *value, CniSceneFunction *f) {
  static const char *const also[] = {"kind", "points", NULL};
  const char *kinds[CN_FUNCTION_KIND_COUNT + 1] = {0};
  for (int32_t i = 0; i < CN_FUNCTION_KIND_COUNT; i++) kinds[i] = cni_function_kinds[i].name;
  int32_t number = 0;
  uint64_t mentioned = 0;
  if (!json_is_object(value)) return cni_scene_fail(reader, value, "must be an object");
  CNI_TRY(cni_scene_require(reader, value, "kind"));
  CNI_TRY(cni_scene_get_choice(reader, value, "kind", kinds, &number));
  const CniFunctionKind *kind = &cni_function_kinds[number];
  f->def.kind = (CnFunctionKind)number;
  CNI_TRY(cni_scene_field_keys(reader, value, kind->fields, also));
  CNI_TRY(cni_scene_get_fields(reader, value, kind->fields, &f->def, &mentioned));
  if (kind->least_points > 0)
    CNI_TRY(read_points(reader, value, f));
  else if (json_object_get(value, "points"))
    return cni_scene_fail(reader, value, "a %s has no \"points\"", kind->name);
  CnStatus status = cni_function_check(&f->def);
  return status == CN_OK ? CN_OK : cni_scene_fail_call(reader, value, status);
}

CnStatus cni_scene_read_functions(CniReader *reader, json_t *root) {
  CnScene *scene = reader->scene;
  json_t *members = json_object_get(root, "functions"), *value;
  const char *key;
  if (!members) return CN_OK;
  cni_scene_enter(reader, "functions");
  if (!json_is_object(members)) return cni_scene_fail(reader, members, "must be an object");
  json_object_foreach(members, key, value) {
    if (strcmp(key, "comment") == 0) continue;
    cni_scene_enter(reader, key);
    if (!key[0] || strlen(key) >= CNI_NAME_SIZE)
      return cni_scene_fail(reader, value, "a name must have 1 .. %d bytes", CNI_NAME_SIZE - 1);
    int32_t number = scene->function_count;
    CNI_TRY(CNI_RESERVE(&scene->allocator, scene->functions, scene->function_capacity, number,
                        number + 1));
    // it is the scene's from here on, whole or not
    CniSceneFunction *f = &scene->functions[scene->function_count++];
    *f = (CniSceneFunction){.def = cn_function_def_default(CN_FUNCTION_CONSTANT)};
    CNI_TRY(read_function(reader, value, f));
    f->def.name = cni_text_keep(&scene->texts, &scene->allocator, key, strlen(key));
    if (!f->def.name) return CN_NO_MEMORY;
    CNI_TRY(cni_name_add(&reader->function_names, &scene->allocator, f->def.name, number));
    cni_scene_leave(reader);
  }
  cni_scene_leave(reader);
  return CN_OK;
}
