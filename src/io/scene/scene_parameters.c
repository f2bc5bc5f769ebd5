// SPDX-License-Identifier: Apache-2.0
// Parameters: numbers with names, which expressions use and a user may set. A parameter may itself
// be an expression of others, in any order.
//
// Order of evaluation: a stack of parameters that wait for each other. One whose expression meets a
// name without a value is set aside, that name is evaluated first, and the expression starts again;
// each parameter is waited for at most once, so the work is linear. One that waits for itself is a
// circle.
#include <stdio.h>
#include <string.h>

#include "io/scene/scene_private.h"

#define MOST_PARAMETERS 1000

// ---- names in sight ----

static int find_name(void *context, const char *name, size_t length, double *value) {
  CniReader *reader = context;
  char word[CNI_NAME_SIZE];
  if (length >= sizeof word) return 0;
  memcpy(word, name, length);
  word[length] = 0;
  for (int32_t i = reader->variable_count - 1; i >= 0; i--) {
    if (strcmp(reader->variables[i].name, word) != 0) continue;
    if (reader->variables[i].unset) return -1;
    *value = reader->variables[i].value;
    return 1;
  }
  int32_t i = cni_name_find(&reader->parameter_names, word);
  if (i < 0) return 0;
  reader->scene->parameters[i].used = 1;
  if (reader->known && !reader->known[i]) {
    reader->waiting_for = i;
    return -1;
  }
  *value = reader->scene->parameters[i].value;
  return 1;
}

static void offer_names(void *context, CniNearestName *nearest) {
  CniReader *reader = context;
  for (int32_t i = 0; i < reader->variable_count; i++)
    cni_nearest_offer(nearest, reader->variables[i].name);
  for (int32_t i = 0; i < reader->scene->parameter_count; i++)
    cni_nearest_offer(nearest, reader->scene->parameters[i].name);
}

CniScope cni_scene_scope(CniReader *reader) { return (CniScope){find_name, offer_names, reader}; }

// ---- the list ----

static CnStatus add_parameter(CniReader *reader, const char *key, json_t *value) {
  static const char *const keys[] = {"default", "min", "max", "integer", "summary", NULL};
  CnScene *scene = reader->scene;
  if (!cni_expression_name_ok(key) || strlen(key) >= CNI_NAME_SIZE)
    return cni_scene_fail(reader, value,
                          "a parameter's name must be letters, digits and _, and none of "
                          "pi and the functions");
  CniSceneParameter parameter = {.summary = ""};
  CNI_TRY(cni_scene_keep(scene, key, &parameter.name));
  if (json_is_object(value)) {
    CNI_TRY(cni_scene_keys(reader, value, keys));
    CNI_TRY(cni_scene_require(reader, value, "default"));
    CNI_TRY(cni_scene_get_text(reader, value, "summary", &parameter.summary));
  }
  parameter.derived = json_is_string(value);
  int32_t number = scene->parameter_count;
  if (number == MOST_PARAMETERS)
    return cni_scene_fail(reader, value, "a scene has at most %d parameters", MOST_PARAMETERS);
  CNI_TRY(CNI_PUSH(&scene->allocator, scene->parameters, scene->parameter_capacity,
                   scene->parameter_count, parameter));
  return cni_name_add(&reader->parameter_names, &scene->allocator, parameter.name, number);
}

// ---- evaluation ----

typedef struct Evaluation {
  json_t *members;         // of /parameters
  const CnSetting **given; // per parameter: set from outside, or null
  int32_t use_given;
  int32_t *stack; // parameters that wait, the outermost first
  int32_t stack_count;
  uint8_t *known;
} Evaluation;

// Stand at a parameter's number, and return it.
static json_t *enter_parameter(CniReader *reader, const Evaluation *e, int32_t i) {
  const char *name = reader->scene->parameters[i].name;
  json_t *value = json_object_get(e->members, name);
  cni_scene_enter(reader, name);
  if (!json_is_object(value)) return value;
  cni_scene_enter(reader, "default");
  return json_object_get(value, "default");
}

static CnStatus circle(CniReader *reader, const Evaluation *e, int32_t i, json_t *value) {
  char names[160] = "";
  int32_t k = 0;
  while (e->stack[k] != i) k++;
  for (; k < e->stack_count; k++) {
    const char *name = reader->scene->parameters[e->stack[k]].name;
    cni_line_add(names, sizeof names, name, strlen(name));
    cni_line_add(names, sizeof names, " -> ", 4);
  }
  const char *name = reader->scene->parameters[i].name;
  cni_line_add(names, sizeof names, name, strlen(name));
  return cni_scene_fail(reader, value, "parameters need each other in a circle: %s", names);
}

// Evaluate the parameter on top of the stack, or put the one it waits for above it.
static CnStatus evaluate_top(CniReader *reader, Evaluation *e) {
  int32_t i = e->stack[e->stack_count - 1];
  CniSceneParameter *parameter = &reader->scene->parameters[i];
  int32_t depth = reader->depth;
  json_t *value = enter_parameter(reader, e, i);
  const char *text = json_is_string(value) ? json_string_value(value) : "";
  CniExpressionResult result = CNI_EXPRESSION_OK;
  if (e->use_given && e->given[i]) {
    parameter->value = e->given[i]->value;
  } else if (text[0] == '=') {
    char problem[CNI_EXPRESSION_PROBLEM];
    CniScope scope = cni_scene_scope(reader);
    result =
        cni_expression_evaluate(text + 1, strlen(text + 1), &scope, &parameter->value, problem);
    if (result == CNI_EXPRESSION_WRONG) return cni_scene_fail(reader, value, "%s", problem);
  } else {
    CNI_TRY(cni_scene_number(reader, value, CNI_ANY, &parameter->value));
  }
  if (result == CNI_EXPRESSION_OK) {
    e->known[i] = 1;
    e->stack_count--;
  } else {
    int32_t next = reader->waiting_for;
    for (int32_t k = 0; k < e->stack_count; k++)
      if (e->stack[k] == next) return circle(reader, e, next, value);
    e->stack[e->stack_count++] = next;
  }
  reader->depth = depth;
  return CN_OK;
}

static CnStatus evaluate_all(CniReader *reader, Evaluation *e) {
  int32_t count = reader->scene->parameter_count;
  memset(e->known, 0, (size_t)count);
  reader->known = e->known;
  for (int32_t i = 0; i < count; i++) {
    if (e->known[i]) continue;
    e->stack[0] = i;
    e->stack_count = 1;
    while (e->stack_count > 0) CNI_TRY(evaluate_top(reader, e));
  }
  reader->known = NULL;
  return CN_OK;
}

// Bounds that the scene sets to its parameters.
static CnStatus check_bounds(CniReader *reader, json_t *members) {
  for (int32_t i = 0; i < reader->scene->parameter_count; i++) {
    const CniSceneParameter *parameter = &reader->scene->parameters[i];
    json_t *value = json_object_get(members, parameter->name);
    if (!json_is_object(value)) continue;
    cni_scene_enter(reader, parameter->name);
    double x = parameter->value, least = -INFINITY, largest = INFINITY;
    int32_t whole = 0;
    CNI_TRY(cni_scene_get_number(reader, value, "min", CNI_ANY, &least));
    CNI_TRY(cni_scene_get_number(reader, value, "max", CNI_ANY, &largest));
    CNI_TRY(cni_scene_get_flag(reader, value, "integer", &whole));
    if (x < least) return cni_scene_fail_number(reader, NULL, x, "must be at least %g", least);
    if (x > largest) return cni_scene_fail_number(reader, NULL, x, "must be at most %g", largest);
    if (whole && x != floor(x))
      return cni_scene_fail_number(reader, NULL, x, "must be a whole number");
    cni_scene_leave(reader);
  }
  return CN_OK;
}

// What may be set: "; there are a, b, c".
static void list_names(const CnScene *scene, char *names, size_t size) {
  int32_t count = 0, left = 0;
  snprintf(names, size, "%s", scene->parameter_count > 0 ? "; there are " : "; it has none");
  for (int32_t i = 0; i < scene->parameter_count; i++) {
    const CniSceneParameter *p = &scene->parameters[i];
    if (p->derived) continue;
    if (strlen(names) + strlen(p->name) + 24 > size) {
      left++;
      continue;
    }
    if (count++ > 0) cni_line_add(names, size, ", ", 2);
    cni_line_add(names, size, p->name, strlen(p->name));
  }
  if (left > 0) cni_line_add(names, size, ", ...", 5);
}

static CnStatus place_settings(CniReader *reader, const CnSetting *settings, int32_t count,
                               const CnSetting **given) {
  for (int32_t i = 0; i < count; i++) {
    const CnSetting *s = &settings[i];
    int32_t number = cni_name_find(&reader->parameter_names, s->key);
    cni_scene_enter(reader, s->key);
    if (number < 0) {
      CniNearestName nearest = cni_nearest(s->key, strlen(s->key));
      offer_names(reader, &nearest);
      char hint[CNI_HINT_SIZE], names[240];
      cni_nearest_hint(&nearest, hint);
      list_names(reader->scene, names, sizeof names);
      return cni_scene_fail_number(reader, NULL, s->value, "the scene has no such parameter%s%s",
                                   hint, hint[0] ? "" : names);
    }
    if (!isfinite(s->value)) return cni_scene_fail_number(reader, NULL, s->value, "must be finite");
    cni_scene_leave(reader);
    if (given) given[number] = s;
  }
  return CN_OK;
}

// The defaults are what the scene says alone; then the values, with what was set from outside.
static CnStatus evaluate_twice(CniReader *reader, Evaluation *e, const CnSetting *settings,
                               int32_t setting_count) {
  CnScene *scene = reader->scene;
  for (int32_t i = 0; i < scene->parameter_count; i++) e->given[i] = NULL;
  CNI_TRY(place_settings(reader, settings, setting_count, e->given));
  e->use_given = 0;
  CNI_TRY(evaluate_all(reader, e));
  for (int32_t i = 0; i < scene->parameter_count; i++)
    scene->parameters[i].default_value = scene->parameters[i].value;
  e->use_given = 1;
  CNI_TRY(evaluate_all(reader, e));
  return check_bounds(reader, e->members);
}

CnStatus cni_scene_read_parameters(CniReader *reader, json_t *root, const CnSetting *settings,
                                   int32_t setting_count) {
  CnScene *scene = reader->scene;
  json_t *members = json_object_get(root, "parameters"), *value;
  const char *key;
  cni_scene_enter(reader, "parameters");
  if (members && !json_is_object(members))
    return cni_scene_fail(reader, members, "must be an object");
  json_object_foreach(members, key, value) {
    if (strcmp(key, "comment") == 0) continue;
    cni_scene_enter(reader, key);
    CNI_TRY(add_parameter(reader, key, value));
    cni_scene_leave(reader);
  }
  int32_t count = scene->parameter_count;
  if (count == 0) {
    CNI_TRY(place_settings(reader, settings, setting_count, NULL));
  } else {
    Evaluation e = {.members = members};
    CniArena arena;
    cni_arena_init(&arena, &scene->allocator);
    CnStatus status = cni_arena_array(&arena, count, sizeof *e.given, &e.given);
    if (status == CN_OK) status = cni_arena_array(&arena, count, sizeof *e.stack, &e.stack);
    if (status == CN_OK) status = cni_arena_array(&arena, count, 1, &e.known);
    if (status == CN_OK) status = evaluate_twice(reader, &e, settings, setting_count);
    cni_arena_release(&arena);
    CNI_TRY(status);
  }
  cni_scene_leave(reader);
  return CN_OK;
}
