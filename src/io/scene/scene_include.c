// SPDX-License-Identifier: Apache-2.0
// Scenes made of several files: "include" names files whose parts become those of the scene, before anything
// is read. Lists are put before the scene's own; of objects and single values the scene's own win. A file
// counts once; files that include each other in a circle are refused. Afterwards the scene stands for itself: its
// text, which run files and checkpoints keep, has everything in it.
#define _XOPEN_SOURCE 700 // realpath
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/robots/robot.h"
#include "io/scene/scene_private.h"

#define MOST_FILES 64
#define LARGEST ((long)1 << 26)

typedef struct Included {
  CniReader *reader;
  char *paths[MOST_FILES]; // as they really are
  int32_t count;
  uint8_t open[MOST_FILES]; // its own includes are being read
} Included;

static int merge_list(json_t *root, json_t *part, const char *key) {
  json_t *from = json_object_get(part, key), *own = json_object_get(root, key);
  if (!json_is_array(from)) return !from || own ? 1 : json_object_set(root, key, from) == 0;
  if (!json_is_array(own)) return own ? 1 : json_object_set(root, key, from) == 0;
  json_t *both = json_array();
  int good = both && json_array_extend(both, from) == 0 && json_array_extend(both, own) == 0;
  return json_object_set_new(root, key, both) == 0 && good;
}

static int merge_object(json_t *root, json_t *part, const char *key) {
  json_t *from = json_object_get(part, key), *own = json_object_get(root, key);
  if (!from) return 1;
  if (!own) return json_object_set(root, key, from) == 0;
  return !json_is_object(own) || !json_is_object(from) ||
         json_object_update_missing(own, from) == 0;
}

static CnStatus merge(CniReader *reader, json_t *root, json_t *part, json_t *value) {
  static const char *const lists[] = {
      "models",  "bodies", "disabled_pairs", "joints",         "couplings", "forces",
      "sources", "sinks",  "sensors",        "material_pairs", NULL};
  const char *key;
  json_t *member;
  int good = 1;
  json_object_foreach(part, key, member) {
    int is_list = 0;
    for (int32_t i = 0; lists[i]; i++) is_list |= strcmp(lists[i], key) == 0;
    good &= is_list ? merge_list(root, part, key) : merge_object(root, part, key);
  }
  return good ? CN_OK : cni_scene_fail(reader, value, "no memory for what the file has");
}

static CnStatus read_json(CniReader *reader, json_t *value, const char *path, json_t **part) {
  FILE *file = fopen(path, "rb");
  if (!file) return cni_scene_fail(reader, value, "%s", strerror(errno));
  json_error_t error;
  long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  rewind(file);
  *part = size < 0 || size > LARGEST
              ? NULL
              : json_loadf(file, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);
  fclose(file);
  if (size < 0 || size > LARGEST) return cni_scene_fail(reader, value, "is too large for a scene");
  if (!*part)
    return cni_scene_fail(reader, value, "line %d, column %d: %s", error.line, error.column,
                          error.text);
  if (json_is_object(*part)) return CN_OK;
  json_decref(*part);
  return cni_scene_fail(reader, value, "is no scene");
}

// ---- who brought what ----

static CnStatus note(CniReader *reader, const json_t *value, size_t index) {
  CniOrigin origin = {value, reader->included_count - 1, index};
  // there is one true, one false and one null in all
  if (json_is_boolean(value) || json_is_null(value)) return CN_OK;
  return CNI_PUSH(&reader->scene->allocator, reader->origins, reader->origin_capacity,
                  reader->origin_count, origin);
}

// All that a file has itself, before others are put into it.
static CnStatus note_all(CniReader *reader, json_t *part) {
  const char *key, *inner;
  json_t *member, *item;
  size_t i;
  json_object_foreach(part, key, member) {
    CNI_TRY(note(reader, member, 0));
    json_array_foreach(member, i, item) CNI_TRY(note(reader, item, i));
    json_object_foreach(member, inner, item) CNI_TRY(note(reader, item, 0));
  }
  return CN_OK;
}

static CnStatus note_file(CniReader *reader, const char *name, json_t *part) {
  CnScene *scene = reader->scene;
  const char *slash = strrchr(reader->label, '/');
  char text[CNI_SCENE_FILE_PATH];
  CniIncluded file = {json_incref(part), NULL};
  // read like the scene itself: from its folder
  snprintf(text, sizeof text, "%.*s%s", slash ? (int)(slash + 1 - reader->label) : 0, reader->label,
           name);
  file.label = cni_text_keep(&scene->texts, &scene->allocator, text, strlen(text));
  CnStatus status = file.label ? CNI_PUSH(&scene->allocator, reader->included,
                                          reader->included_capacity, reader->included_count, file)
                               : CN_NO_MEMORY;
  if (status != CN_OK) json_decref(part);
  CNI_TRY(status);
  return note_all(reader, part);
}

static const CniOrigin *find_origin(const CniReader *reader, const json_t *value) {
  for (int32_t i = 0; value && i < reader->origin_count; i++)
    if (reader->origins[i].value == value) return &reader->origins[i];
  return NULL;
}

const CniOrigin *cni_scene_origin(const CniReader *reader) {
  const CniPathStep *path = reader->path;
  if (!reader->root || reader->origin_count == 0 || reader->depth < 1 || !path[0].key) return NULL;
  const json_t *member = json_object_get(reader->root, path[0].key), *item = NULL;
  if (reader->depth > 1)
    item =
        path[1].key ? json_object_get(member, path[1].key) : json_array_get(member, path[1].index);
  const CniOrigin *found = find_origin(reader, item);
  // a list that was put together is nobody's, and so is what is missing from an object
  return found || item ? found : find_origin(reader, member);
}

void cni_scene_release_included(CniReader *reader) {
  const CnAllocator *a = &reader->scene->allocator;
  for (int32_t i = 0; i < reader->included_count; i++) json_decref(reader->included[i].root);
  CNI_RELEASE(a, reader->included, reader->included_capacity);
  CNI_RELEASE(a, reader->origins, reader->origin_capacity);
}

// ---- putting together ----

static CnStatus include_all(Included *in, json_t *root);

// One file with all that it includes itself.
static CnStatus include_one(Included *in, json_t *root, json_t *value) {
  CniReader *reader = in->reader;
  char path[CNI_SCENE_FILE_PATH];
  json_t *part = NULL;
  if (!json_is_string(value)) return cni_scene_fail(reader, value, "must be the name of a file");
  CNI_TRY(cni_scene_find_file(reader, value, json_string_value(value), path));
  for (int32_t i = 0; i < in->count; i++) {
    if (strcmp(in->paths[i], path) != 0) continue;
    return in->open[i] ? cni_scene_fail(reader, value, "files include each other in a circle")
                       : CN_OK;
  }
  if (in->count == MOST_FILES)
    return cni_scene_fail(reader, value, "a scene is made of at most %d files", MOST_FILES);
  int32_t own = in->count;
  in->paths[own] = strdup(path);
  if (!in->paths[own]) return CN_NO_MEMORY;
  in->count++;
  in->open[own] = 1;
  CNI_TRY(read_json(reader, value, path, &part));
  CnStatus status = note_file(reader, json_string_value(value), part);
  if (status == CN_OK) status = include_all(in, part);
  if (status == CN_OK) status = merge(reader, root, part, value);
  json_decref(part);
  in->open[own] = 0;
  return status;
}

// The last first: what stands earlier in the list comes first in the lists of the scene.
static CnStatus include_all(Included *in, json_t *root) {
  CniReader *reader = in->reader;
  json_t *list = json_object_get(root, "include");
  if (!list) return CN_OK;
  cni_scene_enter(reader, "include");
  if (!json_is_array(list)) return cni_scene_fail(reader, list, "must be a list of files");
  for (size_t i = json_array_size(list); i-- > 0;) {
    cni_scene_enter_index(reader, i);
    CNI_TRY(include_one(in, root, json_array_get(list, i)));
    cni_scene_leave(reader);
  }
  cni_scene_leave(reader);
  json_object_del(root, "include");
  return CN_OK;
}

CnStatus cni_scene_include(CniReader *reader, json_t *root) {
  Included in = {.reader = reader};
  char *real = realpath(reader->label, NULL);
  // the scene itself, where it is a file
  if (real) {
    in.paths[in.count] = real;
    in.open[in.count++] = 1;
  }
  CnStatus status = json_object_get(root, "include") ? note_all(reader, root) : CN_OK;
  if (status == CN_OK) status = include_all(&in, root);
  for (int32_t i = 0; i < in.count; i++) free(in.paths[i]);
  return status;
}

// Other files and robots become part of the scene, which then needs their files no more.
// What the file asks for of others, before anything of it counts; the text is then that of all together.
CnStatus cni_scene_include_files(CniReader *reader, json_t *root) {
  CnScene *scene = reader->scene;
  const CnAllocator *a = &scene->allocator;
  char *text;
  size_t size;
  if (!json_object_get(root, "include") && !json_object_get(root, "models")) return CN_OK;
  if (!json_is_object(root)) return CN_OK;
  CNI_TRY(cni_scene_include(reader, root));
  CNI_TRY(cni_robot_models(root, reader->label, &scene->inputs, a));
  CNI_TRY(cni_json_text(root, a, &text, &size));
  scene->text = cni_text_keep(&scene->texts, a, text, size);
  scene->text_size = size;
  cni_release(a, text, size + 1);
  return scene->text ? CN_OK : CN_NO_MEMORY;
}
