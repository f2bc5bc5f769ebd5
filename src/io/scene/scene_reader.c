// SPDX-License-Identifier: Apache-2.0
// Reading numbers, words and names out of a scene, with the place in the file always known.
//
// A failure is one line: file, JSON pointer, problem, and the value that was found there. Values of
// generated items also say for which index.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/math.h"
#include "io/scene/scene_private.h"

// ---- lines ----

#define LINE_SIZE 512

void cni_line_add(char *line, size_t size, const char *text, size_t length) {
  size_t used = strlen(line);
  size_t room = size - 1 - used;
  if (length > room) {
    // a character of several bytes is kept whole or not at all
    length = room;
    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80) length--;
  }
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)text[i];
    line[used + i] = c < 32 || c == 127 ? '?' : (char)c;
  }
  line[used + length] = 0;
}

static void add(char *line, size_t size, const char *text) {
  cni_line_add(line, size, text, strlen(text));
}

// At most `limit` bytes of a text, the rest shown as dots.
static void add_short(char *line, size_t size, const char *text, size_t limit) {
  size_t length = strlen(text);
  size_t room = strlen(line) + limit + 1;
  cni_line_add(line, room < size ? room : size, text, length);
  if (length > limit) cni_line_add(line, size, "...", 3);
}

// ---- the place ----

void cni_scene_enter(CniReader *reader, const char *key) {
  if (reader->depth < CNI_SCENE_PATH) reader->path[reader->depth] = (CniPathStep){key, 0};
  reader->depth++;
}

void cni_scene_enter_index(CniReader *reader, size_t index) {
  if (reader->depth < CNI_SCENE_PATH) reader->path[reader->depth] = (CniPathStep){NULL, index};
  reader->depth++;
}

void cni_scene_leave(CniReader *reader) { reader->depth--; }

json_t *cni_scene_go_in(CniReader *reader, const json_t *object, const char *key) {
  json_t *value = json_object_get(object, key);
  if (value) cni_scene_enter(reader, key);
  return value;
}

json_t *cni_scene_go_out(CniReader *reader) {
  cni_scene_leave(reader);
  return NULL;
}

json_t *cni_scene_element(CniReader *reader, const json_t *list, size_t i) {
  json_t *item = json_array_get(list, i);
  if (item) cni_scene_enter_index(reader, i);
  return item;
}

// A key in a pointer writes ~ as ~0 and / as ~1.
static void add_key(char *pointer, size_t size, const char *key) {
  char step[64] = "";
  for (const char *c = key; *c; c++) {
    int inside = ((unsigned char)*c & 0xc0) == 0x80; // a character of several bytes stays whole
    if (strlen(step) > sizeof step - 8 && !inside) break;
    const char *escaped = *c == '~' ? "~0" : *c == '/' ? "~1" : NULL;
    cni_line_add(step, sizeof step, escaped ? escaped : c, escaped ? 2 : 1);
  }
  add(pointer, size, step);
}

// In an included file elements have other numbers.
static void write_pointer(const CniReader *reader, const CniOrigin *origin, char *pointer,
                          size_t size) {
  pointer[0] = 0;
  int32_t depth = reader->depth < CNI_SCENE_PATH ? reader->depth : CNI_SCENE_PATH;
  for (int32_t i = 0; i < depth; i++) {
    const CniPathStep *step = &reader->path[i];
    char index[24];
    snprintf(index, sizeof index, "%zu", origin && i == 1 ? origin->index : step->index);
    cni_line_add(pointer, size, "/", 1);
    if (step->key)
      add_key(pointer, size, step->key);
    else
      add(pointer, size, index);
  }
  if (depth == 0) cni_line_add(pointer, size, "/", 1);
}

// ---- values in words ----

static void describe_number(char *text, size_t size, double value) {
  // as many digits as it takes to mean this number and no other
  for (int digits = 6; digits <= 17; digits += 1) {
    snprintf(text, size, "%.*g", digits, value);
    double back;
    if (sscanf(text, "%lf", &back) == 1 && back == value) return;
  }
}

static void describe_string(char *text, size_t size, const char *string) {
  cni_line_add(text, size, "\"", 1);
  add_short(text, size, string, 60);
  cni_line_add(text, size, "\"", 1);
}

static void describe_object(char *text, size_t size, json_t *object) {
  const char *key;
  json_t *member;
  int32_t count = 0;
  cni_line_add(text, size, "{", 1);
  json_object_foreach(object, key, member) {
    if (count++ > 0) cni_line_add(text, size, ", ", 2);
    if (count > 6) {
      cni_line_add(text, size, "...", 3);
      break;
    }
    add_short(text, size, key, 24);
  }
  cni_line_add(text, size, "}", 1);
}

// A short list of numbers and words as it stands, another by its length.
static void describe_list(char *text, size_t size, const json_t *list) {
  size_t count = json_array_size(list);
  int plain = count <= 6;
  for (size_t i = 0; i < count && plain; i++) {
    const json_t *entry = json_array_get(list, i);
    plain = json_is_number(entry) || (json_is_string(entry) && json_string_length(entry) < 24);
  }
  char words[48] = "";
  if (!plain) {
    snprintf(words, sizeof words, "a list of %zu", count);
    add(text, size, words);
    return;
  }
  cni_line_add(text, size, "[", 1);
  for (size_t i = 0; i < count; i++) {
    const json_t *entry = json_array_get(list, i);
    if (i > 0) cni_line_add(text, size, ", ", 2);
    if (json_is_string(entry)) {
      describe_string(text, size, json_string_value(entry));
    } else {
      describe_number(words, sizeof words, json_number_value(entry));
      add(text, size, words);
    }
  }
  cni_line_add(text, size, "]", 1);
}

static void describe(char *text, size_t size, const json_t *value) {
  text[0] = 0;
  if (json_is_number(value))
    describe_number(text, size, json_number_value(value));
  else if (json_is_string(value))
    describe_string(text, size, json_string_value(value));
  else if (json_is_object(value))
    describe_object(text, size, (json_t *)value);
  else if (json_is_array(value))
    describe_list(text, size, value);
  else
    add(text, size,
        !value                 ? "nothing"
        : json_is_true(value)  ? "true"
        : json_is_false(value) ? "false"
                               : "null");
}

// The indices of the generators around an item: ", i = 3".
static void add_indices(char *text, size_t size, const CniReader *reader) {
  for (int32_t i = 0; i < reader->variable_count; i++) {
    const CniVariable *v = &reader->variables[i];
    if (!v->is_index || v->unset) continue;
    char words[CNI_NAME_SIZE + 32];
    snprintf(words, sizeof words, ", %s = %.0f", v->name, v->value);
    add(text, size, words);
  }
}

// ---- failures ----

static CnStatus fail(const CniReader *reader, const char *got, const char *format, va_list args) {
  char problem[400], pointer[200], line[LINE_SIZE] = "";
  vsnprintf(problem, sizeof problem, format, args);
  const CniOrigin *origin = cni_scene_origin(reader);
  write_pointer(reader, origin, pointer, sizeof pointer);
  int32_t file = origin ? origin->file : -1;
  add_short(line, sizeof line, file >= 0 ? reader->included[file].label : reader->label, 120);
  const char *parts[] = {": ", pointer, ": ", problem, " (got "};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) add(line, sizeof line, parts[i]);
  add_short(line, sizeof line, got, 160);
  add(line, sizeof line, ")");
  return cni_bad_data("%s", line);
}

CnStatus cni_scene_fail(const CniReader *reader, const json_t *got, const char *format, ...) {
  char text[160];
  describe(text, sizeof text, got);
  if (got && (json_is_string(got))) add_indices(text, sizeof text, reader);
  va_list args;
  va_start(args, format);
  CnStatus status = fail(reader, text, format, args);
  va_end(args);
  return status;
}

CnStatus cni_scene_fail_number(const CniReader *reader, const json_t *got, double value,
                               const char *format, ...) {
  char text[160] = "";
  describe_number(text, 40, value);
  if (json_is_string(got)) {
    cni_line_add(text, sizeof text, " from ", 6);
    describe_string(text, sizeof text, json_string_value(got));
    add_indices(text, sizeof text, reader);
  }
  va_list args;
  va_start(args, format);
  CnStatus status = fail(reader, text, format, args);
  va_end(args);
  return status;
}

CnStatus cni_scene_fail_text(const CniReader *reader, const char *got, const char *format, ...) {
  va_list args;
  va_start(args, format);
  CnStatus status = fail(reader, got, format, args);
  va_end(args);
  return status;
}

CnStatus cni_scene_fail_call(const CniReader *reader, const json_t *got, CnStatus status) {
  if (status == CN_NO_MEMORY) return status;
  char problem[256] = "";
  cni_line_add(problem, sizeof problem, cn_error_message(), strlen(cn_error_message()));
  // a sentence that names its value already keeps it
  char *value = strstr(problem, " (got "), *end = strrchr(problem, ')');
  if (!value || !end) return cni_scene_fail(reader, got, "%s", problem);
  *value = *end = 0;
  return cni_scene_fail_text(reader, value + 6, "%s", problem);
}

// ---- objects ----

#define MOST_LISTED 12 // keys: longer lists are in docs/scene.md

CnStatus cni_scene_keys(CniReader *reader, json_t *value, const char *const *keys) {
  if (!json_is_object(value)) return cni_scene_fail(reader, value, "must be an object");
  const char *key;
  json_t *member;
  json_object_foreach(value, key, member) {
    int known = strcmp(key, "comment") == 0;
    for (int32_t i = 0; keys[i] && !known; i++) known = strcmp(keys[i], key) == 0;
    if (known) continue;
    CniNearestName nearest = cni_nearest(key, strlen(key));
    for (int32_t i = 0; keys[i]; i++) cni_nearest_offer(&nearest, keys[i]);
    char hint[CNI_HINT_SIZE];
    cni_nearest_hint(&nearest, hint);
    cni_scene_enter(reader, key);
    if (hint[0]) return cni_scene_fail(reader, member, "unknown key%s", hint);
    char list[240] = "";
    int32_t count = 0;
    while (keys[count]) count++;
    if (count > MOST_LISTED) return cni_scene_fail(reader, member, "unknown key");
    for (int32_t i = 0; keys[i]; i++) {
      if (i > 0) cni_line_add(list, sizeof list, ", ", 2);
      cni_line_add(list, sizeof list, keys[i], strlen(keys[i]));
    }
    return cni_scene_fail(reader, member, "unknown key, there are %s", list);
  }
  return CN_OK;
}

CnStatus cni_scene_require(CniReader *reader, json_t *object, const char *key) {
  if (json_object_get(object, key)) return CN_OK;
  return cni_scene_fail(reader, object, "\"%s\" is missing", key);
}

// ---- numbers ----

CnStatus cni_scene_number(CniReader *reader, json_t *value, CniRange range, double *number) {
  double x = 0;
  if (json_is_number(value)) {
    x = json_number_value(value);
  } else if (json_is_string(value) && json_string_value(value)[0] == '=') {
    char problem[CNI_EXPRESSION_PROBLEM];
    CniScope scope = cni_scene_scope(reader);
    const char *text = json_string_value(value) + 1;
    if (cni_expression_evaluate(text, strlen(text), &scope, &x, problem) == CNI_EXPRESSION_WRONG)
      return cni_scene_fail(reader, value, "%s", problem);
  } else {
    return cni_scene_fail(reader, value, "must be a number or \"=expression\"");
  }
  if (!cni_range_holds(range, x))
    return cni_scene_fail_number(reader, value, x, "%s", cni_range_text(range));
  *number = x;
  return CN_OK;
}

CnStatus cni_scene_get_number(CniReader *reader, json_t *object, const char *key, CniRange range,
                              double *number) {
  CNI_MEMBER (reader, object, key, value) CNI_TRY(cni_scene_number(reader, value, range, number));
  return CN_OK;
}

CnStatus cni_scene_get_integer(CniReader *reader, json_t *object, const char *key, double least,
                               double largest, int64_t *number) {
  CNI_MEMBER (reader, object, key, value) {
    double x;
    CNI_TRY(cni_scene_number(reader, value, CNI_ANY, &x));
    if (x != floor(x)) return cni_scene_fail_number(reader, value, x, "must be a whole number");
    if (x < least) return cni_scene_fail_number(reader, value, x, "must be at least %.0f", least);
    if (x > largest)
      return cni_scene_fail_number(reader, value, x, "must be at most %.0f", largest);
    *number = (int64_t)x;
  }
  return CN_OK;
}

CnStatus cni_scene_numbers(CniReader *reader, json_t *list, size_t count, const char *must,
                           CniRange range, double *numbers) {
  if (!json_is_array(list) || json_array_size(list) != count)
    return cni_scene_fail(reader, list, "must be %s", must);
  json_t *value;
  CNI_ELEMENTS (reader, list, i, value)
    CNI_TRY(cni_scene_number(reader, value, range, &numbers[i]));
  return CN_OK;
}

CnStatus cni_scene_get_vec3(CniReader *reader, json_t *object, const char *key, CniRange range,
                            CnVec3 *vector) {
  double x[3];
  CNI_MEMBER (reader, object, key, value) {
    CNI_TRY(cni_scene_numbers(reader, value, 3, "a list of three numbers", range, x));
    *vector = cn_vec3(x[0], x[1], x[2]);
  }
  return CN_OK;
}

CnStatus cni_scene_get_size(CniReader *reader, json_t *object, const char *key, CniRange range,
                            CnVec3 *vector) {
  if (json_is_array(json_object_get(object, key)))
    return cni_scene_get_vec3(reader, object, key, range, vector);
  CNI_TRY(cni_scene_get_number(reader, object, key, range, &vector->x));
  if (json_object_get(object, key)) *vector = cn_vec3(vector->x, vector->x, vector->x);
  return CN_OK;
}

CnStatus cni_scene_get_flag(CniReader *reader, json_t *object, const char *key, int32_t *flag) {
  CNI_MEMBER (reader, object, key, value) {
    if (!json_is_boolean(value)) return cni_scene_fail(reader, value, "must be true or false");
    *flag = json_is_true(value);
  }
  return CN_OK;
}

CnStatus cni_scene_get_choice(CniReader *reader, json_t *object, const char *key,
                              const char *const *words, int32_t *choice) {
  json_t *value = json_object_get(object, key);
  if (!value) return CN_OK;
  cni_scene_enter(reader, key);
  const char *text = json_string_value(value);
  char list[400] = "", hint[CNI_HINT_SIZE];
  CniNearestName nearest = cni_nearest(text ? text : "", text ? strlen(text) : 0);
  for (int32_t i = 0; words[i]; i++) {
    if (text && strcmp(words[i], text) == 0) {
      *choice = i;
      cni_scene_leave(reader);
      return CN_OK;
    }
    if (i > 0) cni_line_add(list, sizeof list, words[i + 1] ? ", " : " or ", words[i + 1] ? 2 : 4);
    cni_line_add(list, sizeof list, words[i], strlen(words[i]));
    cni_nearest_offer(&nearest, words[i]);
  }
  cni_nearest_hint(&nearest, hint);
  // where the list is too long for a line, the one that was meant will do
  if (strlen(list) + strlen(hint) > 300 && hint[0])
    return cni_scene_fail(reader, value, "is none of those in docs/scene.md%s", hint);
  return cni_scene_fail(reader, value, "must be %s%s", list, hint);
}

// ---- poses ----

// Half the angle's cosine, and its sine along the axis.
static CnStatus read_axis_angle(CniReader *reader, json_t *value, CnQuat *rotation) {
  static const char *const keys[] = {"axis", "degrees", "radians", NULL};
  CNI_TRY(cni_scene_keys(reader, value, keys));
  CNI_TRY(cni_scene_require(reader, value, "axis"));
  int degrees = json_object_get(value, "degrees") != NULL;
  int radians = json_object_get(value, "radians") != NULL;
  if (degrees == radians)
    return cni_scene_fail(reader, value, "needs an angle: either \"degrees\" or \"radians\"");
  CnVec3 axis = CN_VEC3_ZERO;
  double angle = 0;
  CNI_TRY(cni_scene_get_vec3(reader, value, "axis", CNI_ANY, &axis));
  CNI_TRY(cni_scene_get_number(reader, value, "degrees", CNI_ANY, &angle));
  CNI_TRY(cni_scene_get_number(reader, value, "radians", CNI_ANY, &angle));
  double length = cn_norm(axis);
  if (!(length > 1e-100 && length < 1e100)) {
    cni_scene_enter(reader, "axis");
    return cni_scene_fail_number(reader, NULL, length, "the axis must have a length");
  }
  double half = degrees ? angle * CNI_PI / 360 : angle / 2;
  double s = cni_sin(half) / length;
  *rotation = (CnQuat){cni_cos(half), s * axis.x, s * axis.y, s * axis.z};
  return CN_OK;
}

static CnStatus read_quaternion(CniReader *reader, json_t *value, CnQuat *rotation) {
  double q[4];
  CNI_TRY(cni_scene_numbers(reader, value, 4, "a quaternion [w, x, y, z]", CNI_ANY, q));
  *rotation = (CnQuat){q[0], q[1], q[2], q[3]};
  double n2 = cn_qnorm2(*rotation);
  // four digits typed by hand pass; what is further off was not meant to be a rotation
  if (!(fabs(n2 - 1) <= 2e-3))
    return cni_scene_fail_number(reader, NULL, sqrt(n2), "a quaternion must have length 1");
  return CN_OK;
}

CnStatus cni_scene_get_pose(CniReader *reader, json_t *object, CnPose *pose) {
  CNI_TRY(cni_scene_get_vec3(reader, object, "position", CNI_ANY, &pose->position));
  CNI_MEMBER (reader, object, "rotation", value) {
    if (json_is_array(value))
      CNI_TRY(read_quaternion(reader, value, &pose->rotation));
    else if (json_is_object(value))
      CNI_TRY(read_axis_angle(reader, value, &pose->rotation));
    else
      return cni_scene_fail(reader, value,
                            "must be [w, x, y, z] or {\"axis\", \"degrees\" or \"radians\"}");
  }
  return cni_check_pose("pose", pose);
}

// ---- words ----

CnStatus cni_scene_keep(CnScene *scene, const char *text, const char **kept) {
  *kept = cni_text_keep(&scene->texts, &scene->allocator, text, strlen(text));
  return *kept ? CN_OK : CN_NO_MEMORY;
}

CnStatus cni_scene_get_text(CniReader *reader, json_t *object, const char *key, const char **text) {
  CNI_MEMBER (reader, object, key, value) {
    if (!json_is_string(value)) return cni_scene_fail(reader, value, "must be a string");
    CNI_TRY(cni_scene_keep(reader->scene, json_string_value(value), text));
  }
  return CN_OK;
}

// Replace the {expression} at the start of `text`; answers how much of the text it took.
static CnStatus replace(CniReader *reader, json_t *value, const char *text, char *name,
                        size_t *taken) {
  const char *end = strchr(text, '}');
  if (!end) return cni_scene_fail(reader, value, "a name has '{' without '}'");
  CniScope scope = cni_scene_scope(reader);
  char problem[CNI_EXPRESSION_PROBLEM], digits[32];
  double x;
  size_t length = (size_t)(end - text) - 1;
  if (cni_expression_evaluate(text + 1, length, &scope, &x, problem) != CNI_EXPRESSION_OK)
    return cni_scene_fail(reader, value, "%s", problem);
  if (x != floor(x) || fabs(x) > 1e15)
    return cni_scene_fail(reader, value, "{%.*s} is no whole number: %g",
                          (int)(length > 40 ? 40 : length), text + 1, x);
  snprintf(digits, sizeof digits, "%.0f", x + 0.0);
  add(name, CNI_NAME_SIZE + 1, digits);
  *taken = length + 2;
  return CN_OK;
}

CnStatus cni_scene_name(CniReader *reader, json_t *value, char name[CNI_NAME_SIZE]) {
  if (!json_is_string(value)) return cni_scene_fail(reader, value, "must be a string");
  const char *text = json_string_value(value);
  // one byte more than allowed, so that too long a name shows
  char made[CNI_NAME_SIZE + 1] = "";
  if (!text[0]) return cni_scene_fail(reader, value, "a name must not be empty");
  while (*text) {
    size_t taken = 1;
    unsigned char c = (unsigned char)*text;
    if (c < 32 || c == 127)
      return cni_scene_fail(reader, value, "a name must not have control characters");
    if (c == '}') return cni_scene_fail(reader, value, "a name has '}' without '{'");
    if (c == '{') {
      CNI_TRY(replace(reader, value, text, made, &taken));
    } else {
      size_t used = strlen(made);
      if (used < CNI_NAME_SIZE) made[used] = *text, made[used + 1] = 0;
    }
    text += taken;
  }
  if (strlen(made) >= CNI_NAME_SIZE)
    return cni_scene_fail(reader, value, "a name must be shorter than %d bytes", CNI_NAME_SIZE);
  memcpy(name, made, CNI_NAME_SIZE);
  return CN_OK;
}

CnStatus cni_scene_new_name(CniReader *reader, json_t *object, CniNameTable *table, int32_t number,
                            const char *what, const char **name) {
  CnScene *scene = reader->scene;
  char made[CNI_NAME_SIZE];
  *name = NULL;
  CNI_MEMBER (reader, object, "name", value) {
    CNI_TRY(cni_scene_name(reader, value, made));
    if (cni_name_find(table, made) >= 0)
      return cni_scene_fail(reader, value, "there is already a %s named \"%s\"", what, made);
    CNI_TRY(cni_scene_keep(scene, made, name));
    CNI_TRY(cni_name_add(table, &scene->allocator, *name, number));
  }
  return CN_OK;
}

CnStatus cni_scene_refer(CniReader *reader, json_t *value, const CniNameTable *table,
                         const char *what, int32_t *number) {
  char name[CNI_NAME_SIZE], hint[CNI_HINT_SIZE];
  CNI_TRY(cni_scene_name(reader, value, name));
  *number = cni_name_find(table, name);
  if (*number >= 0) return CN_OK;
  CniNearestName nearest = cni_nearest(name, strlen(name));
  for (int32_t i = 0; i < table->capacity; i++)
    if (table->entries[i].name) cni_nearest_offer(&nearest, table->entries[i].name);
  cni_nearest_hint(&nearest, hint);
  return cni_scene_fail(reader, value, "there is no %s named \"%s\"%s", what, name, hint);
}
