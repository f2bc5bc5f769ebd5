// SPDX-License-Identifier: Apache-2.0
// Definitions read by their descriptions: a member of a JSON object a field, under the field's name
// in files. Where a scene says something in other words than the struct (sizes, places of joints), the
// readers of shapes and joints do it themselves.
#include <math.h>
#include <string.h>

#include "io/scene/scene_private.h"

#define MOST_KEYS 64

static const char *const pose_keys[] = {"position", "rotation", NULL};
static const char *const twist_keys[] = {"velocity", "spin", NULL};

// The pose and the twist of a definition are two members each of its own object; null: one member.
static const char *const *own_keys(const CniField *field) {
  if (field->type == CNI_FIELD_TWIST) return twist_keys;
  return field->type == CNI_FIELD_POSE && strcmp(field->name, "pose") == 0 ? pose_keys : NULL;
}

CnStatus cni_scene_field_keys(CniReader *reader, json_t *value, const CniField *fields,
                              const char *const *others) {
  const char *keys[MOST_KEYS + 1] = {0};
  int32_t count = 0;
  for (; others && *others && count < MOST_KEYS; others++) keys[count++] = *others;
  for (; fields->name && count < MOST_KEYS - 1; fields++) {
    const char *const *own = own_keys(fields);
    if (fields->where & CNI_NOT_IN_SCENE) continue;
    keys[count++] = own ? own[0] : cni_field_file_name(fields);
    if (own) keys[count++] = own[1];
  }
  return cni_scene_keys(reader, value, keys);
}

// ---- values ----

static CnStatus get_integer(CniReader *reader, json_t *value, const CniField *field, int32_t *at) {
  double x;
  CNI_TRY(cni_scene_number(reader, value, CNI_ANY, &x));
  if (x != floor(x)) return cni_scene_fail_number(reader, value, x, "must be a whole number");
  if (!cni_range_holds(field->range, x))
    return cni_scene_fail_number(reader, value, x, "%s", cni_range_text(field->range));
  if (x > CNI_SCENE_INTEGER)
    return cni_scene_fail_number(reader, value, x, "must be at most %.0f", CNI_SCENE_INTEGER);
  *at = (int32_t)x;
  return CN_OK;
}

// A choice's number, or a word as its table has it.
static CnStatus get_word(CniReader *reader, json_t *object, const char *key, const CniField *field,
                         void *at) {
  const char *words[MOST_KEYS + 1] = {0};
  int32_t choice = -1;
  for (int32_t i = 0; i < MOST_KEYS && cni_field_word(field, i); i++)
    words[i] = cni_field_word(field, i);
  CNI_TRY(cni_scene_get_choice(reader, object, key, words, &choice));
  if (field->type == CNI_FIELD_WORD)
    memcpy(at, &words[choice], sizeof words[choice]);
  else
    memcpy(at, &choice, sizeof choice);
  return CN_OK;
}

static CnStatus get_bits(CniReader *reader, json_t *object, const char *key, uint32_t *bits) {
  int64_t number = *bits;
  CNI_TRY(cni_scene_get_integer(reader, object, key, 0, 4294967295.0, &number));
  *bits = (uint32_t)number;
  return CN_OK;
}

static CnStatus get_pose(CniReader *reader, json_t *object, const CniField *field, CnPose *pose) {
  if (own_keys(field)) return cni_scene_get_pose(reader, object, pose);
  CNI_MEMBER (reader, object, field->name, value) {
    CNI_TRY(cni_scene_keys(reader, value, pose_keys));
    CNI_TRY(cni_scene_get_pose(reader, value, pose));
  }
  return CN_OK;
}

static CnStatus get_twist(CniReader *reader, json_t *object, CnTwist *twist) {
  CNI_TRY(cni_scene_get_vec3(reader, object, "velocity", CNI_ANY, &twist->velocity));
  return cni_scene_get_vec3(reader, object, "spin", CNI_ANY, &twist->spin);
}

// The diagonal, or all six numbers.
static CnStatus get_tensor(CniReader *reader, json_t *object, const char *key, CnSym3 *tensor) {
  json_t *number;
  CNI_MEMBER (reader, object, key, value) {
    size_t count = json_array_size(value);
    if (count != 3 && count != 6)
      return cni_scene_fail(reader, value,
                            "must be three numbers [xx, yy, zz] or six [xx, yy, zz, xy, xz, yz]");
    double j[6] = {0, 0, 0, 0, 0, 0};
    CNI_ELEMENTS (reader, value, i, number)
      CNI_TRY(cni_scene_number(reader, number, i < 3 ? CNI_POSITIVE : CNI_ANY, &j[i]));
    *tensor = (CnSym3){j[0], j[1], j[2], j[3], j[4], j[5]};
  }
  return CN_OK;
}

CnStatus cni_scene_get_field(CniReader *reader, json_t *object, const CniField *field, void *def) {
  const char *key = cni_field_file_name(field);
  json_t *value = json_object_get(object, key);
  void *at = cni_field_at(field, def);
  if (!value && !own_keys(field)) return CN_OK;
  switch (field->type) {
  case CNI_FIELD_POSE:
    return get_pose(reader, object, field, at);
  case CNI_FIELD_TWIST:
    return get_twist(reader, object, at);
  case CNI_FIELD_SYM3:
    return get_tensor(reader, object, key, at);
  case CNI_FIELD_REAL:
    return cni_scene_get_number(reader, object, key, field->range, at);
  case CNI_FIELD_VEC3:
    return cni_scene_get_vec3(reader, object, key, field->range, at);
  case CNI_FIELD_FLAG:
    return cni_scene_get_flag(reader, object, key, at);
  case CNI_FIELD_BITS:
    return get_bits(reader, object, key, at);
  case CNI_FIELD_CHOICE:
  case CNI_FIELD_WORD:
    return get_word(reader, object, key, field, at);
  case CNI_FIELD_INTEGER:
    cni_scene_enter(reader, key);
    CNI_TRY(get_integer(reader, value, field, at));
    cni_scene_leave(reader);
    return CN_OK;
  default:
    return cni_scene_fail(reader, object, "\"%s\" cannot be given here", key);
  }
}

CnStatus cni_scene_get_fields(CniReader *reader, json_t *object, const CniField *fields, void *def,
                              uint64_t *mentioned) {
  for (int32_t i = 0; fields[i].name; i++) {
    if (fields[i].where & CNI_NOT_IN_SCENE) continue;
    CNI_TRY(cni_scene_get_field(reader, object, &fields[i], def));
    if (json_object_get(object, cni_field_file_name(&fields[i]))) *mentioned |= (uint64_t)1 << i;
  }
  return CN_OK;
}
