// SPDX-License-Identifier: Apache-2.0
// "functions": functions of time by name. What a kind may have is what its row lists; tables and
// splines have "points", a list of [time, value]. "couplings": relations between coordinates of
// joints, a list of terms each.
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "io/scene/scene_private.h"
#include "joint/joint.h"

CnStatus cni_scene_get_function(CniReader *reader, json_t *item, const char *key,
                                uint32_t *number) {
  json_t *value = json_object_get(item, key);
  int32_t index = -1;
  if (!value) return CN_OK;
  cni_scene_enter(reader, key);
  CNI_TRY(cni_scene_refer(reader, value, &reader->function_names, "function", &index));
  cni_scene_leave(reader);
  *number = (uint32_t)index + 1;
  return CN_OK;
}

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

// ---- couplings ----

// A joint by name, one of its coordinates (the only one need not be named), a coefficient.
static CnStatus read_term(CniReader *reader, json_t *item, CnCouplingTerm *term) {
  static const char *const keys[] = {"joint", "coordinate", "coefficient", NULL};
  const char *names[CN_JOINT_AXES + 1] = {0};
  int32_t joint = -1;
  CNI_TRY(cni_scene_keys(reader, item, keys));
  CNI_TRY(cni_scene_require(reader, item, "joint"));
  cni_scene_enter(reader, "joint");
  json_t *name = json_object_get(item, "joint");
  CNI_TRY(cni_scene_refer(reader, name, &reader->joint_names, "joint", &joint));
  CnJointKind kind = reader->scene->joints[joint].def.kind;
  int32_t count = cni_joint_coordinate_count(kind);
  if (count == 0)
    return cni_scene_fail(reader, name, "a %s joint has no coordinate", cn_joint_kind_name(kind));
  cni_scene_leave(reader);
  for (int32_t i = 0; i < count; i++) names[i] = cn_joint_coordinate_name(kind, i);
  if (count > 1) CNI_TRY(cni_scene_require(reader, item, "coordinate"));
  CNI_TRY(cni_scene_get_choice(reader, item, "coordinate", names, &term->coordinate));
  term->coefficient = 1;
  CNI_TRY(cni_scene_get_number(reader, item, "coefficient", CNI_ANY, &term->coefficient));
  term->joint.slot = (uint32_t)joint + 1;
  return CN_OK;
}

static CnStatus make_coupling(CniReader *reader, json_t *item) {
  static const char *const keys[] = {"name",   "terms",    "offset",    "square", "cube",
                                     "fourth", "function", "one_sided", NULL};
  CnScene *scene = reader->scene;
  int32_t number = scene->coupling_count;
  CniSceneCoupling c = {.def = cn_coupling_def_default()};
  CNI_TRY(cni_scene_keys(reader, item, keys));
  CNI_TRY(
      cni_scene_new_name(reader, item, &reader->coupling_names, number, "coupling", &c.def.name));
  CNI_TRY(cni_scene_require(reader, item, "terms"));
  json_t *terms = json_object_get(item, "terms");
  size_t count = json_array_size(terms);
  cni_scene_enter(reader, "terms");
  if (!json_is_array(terms) || count < 1 || count > CN_COUPLING_TERMS)
    return cni_scene_fail(reader, terms, "must be a list of 1 to %d terms", CN_COUPLING_TERMS);
  for (size_t i = 0; i < count; i++) {
    cni_scene_enter_index(reader, i);
    CNI_TRY(read_term(reader, json_array_get(terms, i), &c.def.terms[i]));
    cni_scene_leave(reader);
  }
  cni_scene_leave(reader);
  c.def.term_count = (int32_t)count;
  c.def.take_offset = json_object_get(item, "offset") == NULL;
  CNI_TRY(cni_scene_get_number(reader, item, "offset", CNI_ANY, &c.def.offset));
  CNI_TRY(cni_scene_get_number(reader, item, "square", CNI_ANY, &c.def.square));
  CNI_TRY(cni_scene_get_number(reader, item, "cube", CNI_ANY, &c.def.cube));
  CNI_TRY(cni_scene_get_number(reader, item, "fourth", CNI_ANY, &c.def.fourth));
  CNI_TRY(cni_scene_get_function(reader, item, "function", &c.def.function.slot));
  CNI_TRY(cni_scene_get_flag(reader, item, "one_sided", &c.def.one_sided));
  int bent = c.def.function.slot || c.def.square != 0 || c.def.cube != 0 || c.def.fourth != 0;
  for (int32_t i = bent; i < c.def.term_count; i++)
    if (c.def.terms[i].coefficient == 0)
      return cni_scene_fail(reader, item, "the coefficient of term %d is zero", (int)i);
  CNI_TRY(CNI_RESERVE(&scene->allocator, scene->couplings, scene->coupling_capacity, number,
                      number + 1));
  scene->couplings[scene->coupling_count++] = c;
  return CN_OK;
}

CnStatus cni_scene_read_couplings(CniReader *reader, json_t *root) {
  json_t *list = json_object_get(root, "couplings");
  if (!list) return CN_OK;
  cni_scene_enter(reader, "couplings");
  CNI_TRY(cni_scene_list(reader, list, make_coupling, &reader->item_count));
  cni_scene_leave(reader);
  return CN_OK;
}
