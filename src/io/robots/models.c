// SPDX-License-Identifier: Apache-2.0
// Robots in a scene: each entry of "models" is translated and its parts are put into the lists of the
// scene, with the entry's name before theirs. Afterwards the scene stands for itself.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "io/io.h"
#include "io/robots/robot.h"

#define PATH_SIZE 1024
#define LARGEST CNI_XML_SIZE
#define MOST_SETTINGS 500

typedef struct Entry {
  const char *label; // of the scene
  size_t index;
  const json_t *item;
  CniInputs *inputs;
  const CnAllocator *allocator;
  char path[PATH_SIZE], prefix[64];
  CnPose place;
  CnSetting settings[MOST_SETTINGS];
  int32_t setting_count;
} Entry;

// "SCENE: /models/2/KEY: PROBLEM (got VALUE)"
static CnStatus fail(const Entry *e, const char *key, const char *problem) {
  char *got = json_dumps(json_object_get(e->item, key), JSON_ENCODE_ANY | JSON_COMPACT);
  json_free_t release;
  json_get_alloc_funcs(NULL, &release);
  CnStatus status = cni_bad_data("%.128s: /models/%zu%s%s: %s (got %.60s)", e->label, e->index,
                                 key[0] ? "/" : "", key, problem, got ? got : "nothing");
  if (got) release(got);
  return status;
}

static int read_numbers(const json_t *list, size_t count, double *values) {
  if (json_array_size(list) != count) return 0;
  for (size_t i = 0; i < count; i++) {
    if (!json_is_number(json_array_get(list, i))) return 0;
    values[i] = json_number_value(json_array_get(list, i));
  }
  return 1;
}

static CnStatus read_place(Entry *e) {
  const json_t *pose = json_object_get(e->item, "pose");
  const json_t *position = json_object_get(pose, "position");
  const json_t *rotation = json_object_get(pose, "rotation");
  e->place = CN_POSE_ONE;
  size_t known = (size_t)(position != NULL) + (size_t)(rotation != NULL);
  if (pose && (!json_is_object(pose) || json_object_size(pose) != known))
    return fail(e, "pose", "must have \"position\" and \"rotation\"");
  if (position && !read_numbers(position, 3, &e->place.position.x))
    return fail(e, "pose", "\"position\" must be three numbers");
  double q[4] = {1, 0, 0, 0};
  if (rotation && !read_numbers(rotation, 4, q))
    return fail(e, "pose", "\"rotation\" must be four numbers, [w, x, y, z]");
  e->place.rotation = (CnQuat){q[0], q[1], q[2], q[3]};
  double length = cn_qnorm2(e->place.rotation);
  if (!(length > 0.999 && length < 1.001))
    return fail(e, "pose", "\"rotation\" must be a unit quaternion");
  e->place.rotation = cn_qunit(e->place.rotation);
  return CN_OK;
}

static CnStatus read_start(Entry *e) {
  const json_t *start = json_object_get(e->item, "start");
  if (start && !json_is_object(start)) return fail(e, "start", "must be an object");
  for (void *at = json_object_iter((json_t *)(uintptr_t)start); at;
       at = json_object_iter_next((json_t *)(uintptr_t)start, at)) {
    const json_t *value = json_object_iter_value(at);
    if (!json_is_number(value) || e->setting_count == MOST_SETTINGS)
      return fail(e, "start", "must have a number for each joint");
    e->settings[e->setting_count++] =
        (CnSetting){json_object_iter_key(at), json_number_value(value)};
  }
  return CN_OK;
}

static CnStatus read_entry(Entry *e) {
  static const char *const keys[] = {"model", "name", "pose", "start", "comment", NULL};
  if (!json_is_object(e->item)) return fail(e, "", "must be an object");
  for (void *at = json_object_iter((json_t *)(uintptr_t)e->item); at;
       at = json_object_iter_next((json_t *)(uintptr_t)e->item, at)) {
    const char *const *key = keys;
    while (*key && strcmp(*key, json_object_iter_key(at)) != 0) key++;
    if (!*key)
      return fail(e, json_object_iter_key(at), "unknown key, there are model, name, pose, start");
  }
  const char *model = json_string_value(json_object_get(e->item, "model"));
  const char *name = json_string_value(json_object_get(e->item, "name"));
  if (!model || !model[0]) return fail(e, "model", "must be the path of a robot description");
  if (model[0] == '/' || strstr(model, ".."))
    return fail(e, "model", "must be in the folder of the scene or below");
  if (json_object_get(e->item, "name") && (!name || !name[0] || strlen(name) > 20))
    return fail(e, "name", "must have 1 to 20 bytes");
  const char *slash = strrchr(e->label, '/');
  size_t folder = slash ? (size_t)(slash + 1 - e->label) : 0;
  int n = snprintf(e->path, sizeof e->path, "%.*s%s", (int)folder, e->label, model);
  if (n < 0 || (size_t)n >= sizeof e->path) return fail(e, "model", "is too long a path");
  snprintf(e->prefix, sizeof e->prefix, "%s%s", name ? name : "", name ? "/" : "");
  CNI_TRY(read_place(e));
  return read_start(e);
}

static CnStatus read_whole(const Entry *e, char **text, size_t *size) {
  FILE *file = cni_no_file(e->path) ? NULL : fopen(e->path, "rb");
  if (!file) return fail(e, "model", "there is no such file beside the scene");
  long length = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  rewind(file);
  *text = length >= 0 && (size_t)length <= LARGEST ? malloc((size_t)length + 1) : NULL;
  *size = *text ? fread(*text, 1, (size_t)length, file) : 0;
  fclose(file);
  if (*text && cni_robot_is(*text, *size)) return CN_OK;
  free(*text);
  return fail(e, "model", "is no robot description");
}

// ---- putting together ----

static int merge_list(json_t *root, json_t *robot, const char *key) {
  json_t *from = json_object_get(robot, key), *to = json_object_get(root, key);
  if (!from) return 1;
  if (!to) return json_object_set(root, key, from) == 0;
  return json_is_array(to) && json_array_extend(to, from) == 0;
}

static int merge_object(json_t *root, json_t *robot, const char *key) {
  json_t *from = json_object_get(robot, key), *to = json_object_get(root, key);
  if (!from) return 1;
  if (!to) return json_object_set(root, key, from) == 0;
  return json_is_object(to) && json_object_update(to, from) == 0;
}

// What was not understood stays with the scene.
static int merge_notes(json_t *root, const json_t *robot, const char *path) {
  const char *notes = json_string_value(json_object_get(robot, "description"));
  const char *old = json_string_value(json_object_get(root, "description"));
  if (!notes || !notes[0] || (json_object_get(root, "description") && !old)) return 1;
  json_t *text =
      json_sprintf("%s%s%s:\n%s", old ? old : "", old && old[0] ? "\n" : "", path, notes);
  return json_object_set_new(root, "description", text) == 0;
}

static CnStatus merge(const Entry *e, json_t *root, json_t *robot) {
  static const char *const lists[] = {"bodies", "joints",  "disabled_pairs", "couplings",
                                      "forces", "sensors", "material_pairs", NULL};
  static const char *const objects[] = {"materials", "geometries", NULL};
  int good = merge_notes(root, robot, e->path);
  for (int32_t i = 0; lists[i]; i++) good &= merge_list(root, robot, lists[i]);
  for (int32_t i = 0; objects[i]; i++) good &= merge_object(root, robot, objects[i]);
  return good ? CN_OK : fail(e, "model", "does not fit: a list of the scene is none, or no memory");
}

static CnStatus add_model(Entry *e, json_t *root) {
  char *text = NULL, message[CNI_MESSAGE_SIZE];
  size_t size = 0;
  json_t *robot = NULL;
  CNI_TRY(read_entry(e));
  CNI_TRY(cni_inputs_note(e->inputs, e->allocator, e->path));
  CNI_TRY(read_whole(e, &text, &size));
  CniRobotDef def = {e->path, e->prefix, e->place, e->settings, e->setting_count, e->inputs};
  CnStatus status = cni_robot_read(&def, text, size, e->allocator, &robot);
  free(text);
  if (status == CN_NO_MEMORY) return status;
  if (status != CN_OK) {
    snprintf(message, sizeof message, "%.350s", cn_error_message());
    return fail(e, "model", message);
  }
  status = merge(e, root, robot);
  json_decref(robot);
  return status;
}

CnStatus cni_robot_models(json_t *root, const char *label, CniInputs *inputs,
                          const CnAllocator *allocator) {
  json_t *models = json_object_get(root, "models");
  Entry *e;
  if (!models) return CN_OK;
  CNI_TRY(cni_new(allocator, sizeof *e, &e));
  CnStatus status = CN_OK;
  if (!json_is_array(models))
    status = cni_bad_data("%.128s: /models: must be a list (got something else)", label);
  for (size_t i = 0; status == CN_OK && i < json_array_size(models); i++) {
    *e = (Entry){.label = label,
                 .index = i,
                 .item = json_array_get(models, i),
                 .inputs = inputs,
                 .allocator = allocator};
    status = add_model(e, root);
  }
  cni_release(allocator, e, sizeof *e);
  if (status == CN_OK) json_object_del(root, "models");
  return status;
}
