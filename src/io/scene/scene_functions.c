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
  int32_t index = -1;
  CNI_MEMBER (reader, item, key, value) {
    CNI_TRY(cni_scene_refer(reader, value, &reader->function_names, "function", &index));
    *number = (uint32_t)index + 1;
  }
  return CN_OK;
}

static CnStatus read_points(CniReader *reader, json_t *item, CniSceneFunction *f) {
  static const char pair[] = "a list of two numbers: time and value";
  json_t *list = json_object_get(item, "points"), *value;
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
  CNI_ELEMENTS (reader, list, i, value) {
    double point[2];
    CNI_TRY(cni_scene_numbers(reader, value, 2, pair, CNI_ANY, point));
    f->points[i] = point[0];
    f->points[count + i] = point[1];
  }
  cni_scene_leave(reader);
  return CN_OK;
}

static const char *kind_name(int32_t i) {
  return i < CN_FUNCTION_KIND_COUNT ? cni_function_kinds[i].name : NULL;
}

static CnStatus read_function(CniReader *reader, json_t *value, const char *name) {
  static const char *const also[] = {"kind", "points", NULL};
  CnScene *scene = reader->scene;
  int32_t number = 0;
  uint64_t mentioned = 0;
  CniSceneFunction new = {.def = cn_function_def_default(CN_FUNCTION_CONSTANT)};
  new.def.name = name;
  // it is the scene's from here on, whole or not
  CNI_TRY(CNI_PUSH(&scene->allocator, scene->functions, scene->function_capacity,
                   scene->function_count, new));
  CniSceneFunction *f = &scene->functions[scene->function_count - 1];
  if (!json_is_object(value)) return cni_scene_fail(reader, value, "must be an object");
  CNI_TRY(cni_scene_get_kind(reader, value, kind_name, &number));
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
  return cni_scene_read_named(reader, root, "functions", &reader->function_names, read_function);
}

// ---- couplings ----

// A joint by name, one of its coordinates (the only one need not be named), a coefficient.
static CnStatus read_term(CniReader *reader, json_t *item, CnCouplingTerm *term) {
  static const char *const keys[] = {"joint", "coordinate", "coefficient", NULL};
  int32_t joint = -1;
  CNI_TRY(cni_scene_keys(reader, item, keys));
  CNI_TRY(cni_scene_get_reference(reader, item, "joint", &reader->joint_names, "joint", &joint));
  CNI_TRY(cni_scene_get_coordinate(reader, item, joint, &term->coordinate));
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
  json_t *terms = json_object_get(item, "terms"), *term;
  size_t count = json_array_size(terms);
  cni_scene_enter(reader, "terms");
  if (!json_is_array(terms) || count < 1 || count > CN_COUPLING_TERMS)
    return cni_scene_fail(reader, terms, "must be a list of 1 to %d terms", CN_COUPLING_TERMS);
  CNI_ELEMENTS (reader, terms, i, term) CNI_TRY(read_term(reader, term, &c.def.terms[i]));
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
  return CNI_PUSH(&scene->allocator, scene->couplings, scene->coupling_capacity,
                  scene->coupling_count, c);
}

CnStatus cni_scene_read_couplings(CniReader *reader, json_t *root) {
  return cni_scene_get_list(reader, root, "couplings", make_coupling, &reader->item_count);
}
