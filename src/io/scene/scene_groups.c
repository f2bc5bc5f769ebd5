// SPDX-License-Identifier: Apache-2.0
// Groups of bodies by name: which of them ignore each other; and pairs of bodies that do. A group is a
// bit of category and mask; bit 0 is that of shapes without a group.
#include <string.h>

#include "io/scene/scene_private.h"

static CnStatus read_group(CniReader *reader, json_t *value, const char *name) {
  static const char *const keys[] = {"ignores", NULL};
  (void)name;
  if (reader->group_count == CNI_SCENE_GROUPS)
    return cni_scene_fail(reader, value, "a scene has at most %d groups", CNI_SCENE_GROUPS);
  reader->group_masks[reader->group_count++] = UINT32_MAX;
  return cni_scene_keys(reader, value, keys);
}

static uint32_t bit_of(int32_t group) { return 1u << (group + 1); }

static CnStatus read_ignored(CniReader *reader, json_t *list, int32_t group) {
  json_t *item;
  if (json_is_string(list) && strcmp(json_string_value(list), "all") == 0) {
    reader->group_masks[group] = 0;
    return CN_OK;
  }
  if (!json_is_array(list))
    return cni_scene_fail(reader, list, "must be a list of groups, or \"all\"");
  CNI_ELEMENTS (reader, list, i, item) {
    int32_t other;
    CNI_TRY(cni_scene_refer(reader, item, &reader->group_names, "group", &other));
    reader->group_masks[group] &= ~bit_of(other);
    reader->group_masks[other] &= ~bit_of(group);
  }
  return CN_OK;
}

// Names first: a group may ignore one that comes later.
CnStatus cni_scene_read_groups(CniReader *reader, json_t *root) {
  const char *word;
  json_t *value;
  int32_t group = 0;
  reader->body_category = CNI_USUAL_CATEGORY; // of shapes of parts
  reader->body_mask = CNI_USUAL_MASK;
  CNI_TRY(cni_scene_read_named(reader, root, "groups", &reader->group_names, read_group));
  CNI_MEMBER (reader, root, "groups", members) {
    json_object_foreach(members, word, value) {
      if (strcmp(word, "comment") == 0) continue;
      cni_scene_enter(reader, word);
      CNI_MEMBER (reader, value, "ignores", list) CNI_TRY(read_ignored(reader, list, group));
      cni_scene_leave(reader);
      group++;
    }
  }
  return CN_OK;
}

CnStatus cni_scene_get_group(CniReader *reader, json_t *item) {
  int32_t group = -1;
  reader->body_category = CNI_USUAL_CATEGORY;
  reader->body_mask = CNI_USUAL_MASK;
  CNI_MEMBER (reader, item, "group", value) {
    CNI_TRY(cni_scene_refer(reader, value, &reader->group_names, "group", &group));
    reader->body_category = bit_of(group);
    reader->body_mask = reader->group_masks[group];
  }
  return CN_OK;
}

static CnStatus make_pair(CniReader *reader, json_t *item) {
  CnScene *scene = reader->scene;
  static const char *const keys[] = {"bodies", NULL};
  CniScenePair pair = {0, 0};
  int32_t *bodies[2] = {&pair.a, &pair.b};
  json_t *name;
  CNI_TRY(cni_scene_keys(reader, item, keys));
  CNI_TRY(cni_scene_require(reader, item, "bodies"));
  CNI_MEMBER (reader, item, "bodies", list) {
    if (!json_is_array(list) || json_array_size(list) != 2)
      return cni_scene_fail(reader, list, "must be a list of two bodies");
    CNI_ELEMENTS (reader, list, i, name)
      CNI_TRY(cni_scene_refer(reader, name, &reader->body_names, "body", bodies[i]));
  }
  if (pair.a == pair.b) return cni_scene_fail(reader, item, "a body and itself");
  return CNI_PUSH(&scene->allocator, scene->pairs, scene->pair_capacity, scene->pair_count, pair);
}

CnStatus cni_scene_read_pairs(CniReader *reader, json_t *root) {
  int64_t count = 0;
  return cni_scene_get_list(reader, root, "disabled_pairs", make_pair, &count);
}
