// SPDX-License-Identifier: Apache-2.0
// Names: of built-in scenes; what a scene names of itself: references, coordinates, kinds, members.
#include <string.h>

#include "io/scene/scene_private.h"

#define MOST_KINDS 64

const char *cn_builtin_scene_name(int32_t index) {
  return index >= 0 && index < cni_builtin_scene_count ? cni_builtin_scenes[index].name : NULL;
}

const char *cn_builtin_scene_summary(int32_t index) {
  return index >= 0 && index < cni_builtin_scene_count ? cni_builtin_scenes[index].title : NULL;
}

CnStatus cni_scene_get_reference(CniReader *reader, json_t *object, const char *key,
                                 const CniNameTable *table, const char *what, int32_t *number) {
  CNI_TRY(cni_scene_require(reader, object, key));
  CNI_MEMBER (reader, object, key, value)
    CNI_TRY(cni_scene_refer(reader, value, table, what, number));
  return CN_OK;
}

CnStatus cni_scene_pair(CniReader *reader, const json_t *value, const char *what) {
  if (json_is_array(value) && json_array_size(value) == 2) return CN_OK;
  return cni_scene_fail(reader, value, "must be a list of two %s", what);
}

CnStatus cni_scene_get_coordinate(CniReader *reader, json_t *object, int32_t joint,
                                  int32_t *coordinate) {
  const char *words[CN_JOINT_AXES + 1] = {0};
  CnJointKind kind = reader->scene->joints[joint].def.kind;
  int32_t count = cni_joint_coordinate_count(kind);
  for (int32_t i = 0; i < count; i++) words[i] = cn_joint_coordinate_name(kind, i);
  if (count == 0) {
    cni_scene_enter(reader, "joint");
    return cni_scene_fail(reader, json_object_get(object, "joint"), "a %s joint has no coordinate",
                          cn_joint_kind_name(kind));
  }
  if (count > 1) CNI_TRY(cni_scene_require(reader, object, "coordinate"));
  return cni_scene_get_choice(reader, object, "coordinate", words, coordinate);
}

CnStatus cni_scene_get_kind(CniReader *reader, json_t *object, const char *(*name)(int32_t number),
                            int32_t *kind) {
  const char *words[MOST_KINDS] = {0};
  for (int32_t i = 0; i < MOST_KINDS - 1 && (words[i] = name(i)); i++) continue;
  CNI_TRY(cni_scene_require(reader, object, "kind"));
  return cni_scene_get_choice(reader, object, "kind", words, kind);
}

CnStatus cni_scene_read_named(CniReader *reader, json_t *root, const char *key, CniNameTable *names,
                              CniReadNamed read) {
  const char *word, *name;
  json_t *value;
  int32_t number = 0;
  CNI_MEMBER (reader, root, key, members) {
    if (!json_is_object(members)) return cni_scene_fail(reader, members, "must be an object");
    json_object_foreach(members, word, value) {
      if (strcmp(word, "comment") == 0) continue;
      cni_scene_enter(reader, word);
      if (!word[0] || strlen(word) >= CNI_NAME_SIZE)
        return cni_scene_fail(reader, value, "a name must have 1 .. %d bytes", CNI_NAME_SIZE - 1);
      CNI_TRY(cni_scene_keep(reader->scene, word, &name));
      CNI_TRY(read(reader, value, name));
      CNI_TRY(cni_name_add(names, &reader->scene->allocator, name, number++));
      cni_scene_leave(reader);
    }
  }
  return CN_OK;
}
