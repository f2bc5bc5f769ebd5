// SPDX-License-Identifier: Apache-2.0
// Generators: items of a list made many times over.
//
//     {"repeat": n, "as": "i", "items": [...]}
//     {"lattice": {"count": [nx, ny, nz], "spacing": s, "origin": [x, y, z], "limit": n}, ...}
//     {"random": {"count": n, "min": [x, y, z], "max": [x, y, z]}, ...}
//
// For every round the expressions of the items know the index (i, or the name given by "as"); in a
// lattice also the position x, y, z and the indices ix, iy, iz (x runs fastest, then y, then z); in
// a random one the position x, y, z, drawn in this order. "draw" names further numbers drawn from
// [0, 1), in their order, for each round. All draws of a scene come from one sequence that starts
// at the scene's seed; a generator with a "seed" of its own has a sequence of its own.
#include <stdio.h>
#include <string.h>

#include "io/scene/scene_private.h"

#define MOST_ROUNDS 1e15 // more cannot be counted; far more than a scene may have

typedef enum Kind { REPEAT, LATTICE, RANDOM, KIND_COUNT } Kind;
static const char *const kind_keys[KIND_COUNT] = {"repeat", "lattice", "random"};

typedef struct Generator {
  Kind kind;
  int64_t count;          // rounds
  int64_t side[3];        // of a lattice
  CnVec3 spacing, origin; // of a lattice
  CnVec3 lo, hi;          // of a random one
  int32_t first;          // its first variable
  int32_t position;       // variable of x, -1: none
  int32_t draw;           // first drawn variable
  int32_t draw_count;
} Generator;

// ---- variables ----

static CnStatus add_variable(CniReader *reader, const char *name, int32_t is_index) {
  if (!cni_expression_name_ok(name) || strlen(name) >= CNI_NAME_SIZE)
    return cni_scene_fail_text(reader, name,
                               "a name in expressions must be letters, digits and _, and none of "
                               "pi and the functions");
  if (cni_name_find(&reader->parameter_names, name) >= 0)
    return cni_scene_fail_text(reader, name, "this is already the name of a parameter");
  if (reader->variable_count == CNI_SCENE_VARIABLES)
    return cni_scene_fail_text(reader, name, "more than %d names from generators",
                               CNI_SCENE_VARIABLES);
  CniVariable *variable = &reader->variables[reader->variable_count++];
  *variable = (CniVariable){.value = 0, .is_index = is_index, .unset = 1};
  memcpy(variable->name, name, strlen(name));
  return CN_OK;
}

// The index under its name, and in a lattice one for each axis.
static CnStatus name_index(CniReader *reader, json_t *item, const Generator *g) {
  json_t *as = json_object_get(item, "as");
  const char *name = "i";
  if (as) {
    cni_scene_enter(reader, "as");
    if (!json_is_string(as)) return cni_scene_fail(reader, as, "must be a string");
    name = json_string_value(as);
  }
  CNI_TRY(add_variable(reader, name, 1));
  for (int32_t k = 0; g->kind == LATTICE && k < 3; k++) {
    char axis[CNI_NAME_SIZE + 8];
    snprintf(axis, sizeof axis, "%s%c", name, "xyz"[k]);
    CNI_TRY(add_variable(reader, axis, 0));
  }
  if (as) cni_scene_leave(reader);
  return CN_OK;
}

static CnStatus name_draws(CniReader *reader, json_t *item, Generator *g) {
  json_t *name;
  g->draw = reader->variable_count;
  CNI_MEMBER (reader, item, "draw", list) {
    if (!json_is_array(list)) return cni_scene_fail(reader, list, "must be a list of names");
    CNI_ELEMENTS (reader, list, i, name) {
      if (!json_is_string(name)) return cni_scene_fail(reader, name, "must be a string");
      for (int32_t k = g->first; k < reader->variable_count; k++)
        if (strcmp(reader->variables[k].name, json_string_value(name)) == 0)
          return cni_scene_fail(reader, name, "the generator already has this name");
      CNI_TRY(add_variable(reader, json_string_value(name), 0));
    }
  }
  g->draw_count = reader->variable_count - g->draw;
  return CN_OK;
}

static CnStatus name_variables(CniReader *reader, json_t *item, Generator *g) {
  g->first = reader->variable_count;
  g->position = -1;
  CNI_TRY(name_index(reader, item, g));
  if (g->kind != REPEAT) {
    static const char *const axes[] = {"x", "y", "z"};
    g->position = reader->variable_count;
    cni_scene_enter(reader, kind_keys[g->kind]);
    for (int32_t k = 0; k < 3; k++) CNI_TRY(add_variable(reader, axes[k], 0));
    cni_scene_leave(reader);
  }
  return name_draws(reader, item, g);
}

// ---- the three kinds ----

static CnStatus read_lattice(CniReader *reader, json_t *value, Generator *g) {
  static const char *const keys[] = {"count", "spacing", "origin", "limit", NULL};
  CNI_TRY(cni_scene_keys(reader, value, keys));
  CNI_TRY(cni_scene_require(reader, value, "count"));
  CNI_TRY(cni_scene_require(reader, value, "spacing"));
  double product = 1, n[3];
  CNI_MEMBER (reader, value, "count", count) {
    json_t *side;
    CNI_TRY(cni_scene_numbers(reader, count, 3, "a list of three numbers", CNI_NOT_NEGATIVE, n));
    CNI_ELEMENTS (reader, count, k, side) {
      if (n[k] != floor(n[k]))
        return cni_scene_fail_number(reader, side, n[k], "must be a whole number");
      if (n[k] > (double)reader->item_limit)
        return cni_scene_fail_number(reader, side, n[k], "a scene has at most %lld items",
                                     (long long)reader->item_limit);
      g->side[k] = (int64_t)n[k];
      product *= n[k];
    }
  }
  g->count = (int64_t)cn_min(product, MOST_ROUNDS);
  CNI_TRY(cni_scene_get_size(reader, value, "spacing", CNI_ANY, &g->spacing));
  CNI_TRY(cni_scene_get_vec3(reader, value, "origin", CNI_ANY, &g->origin));
  int64_t limit = g->count;
  CNI_TRY(cni_scene_get_integer(reader, value, "limit", 0, MOST_ROUNDS, &limit));
  if (limit < g->count) g->count = limit;
  return CN_OK;
}

static CnStatus read_random(CniReader *reader, json_t *value, Generator *g) {
  static const char *const keys[] = {"count", "min", "max", NULL};
  CNI_TRY(cni_scene_keys(reader, value, keys));
  CNI_TRY(cni_scene_require(reader, value, "count"));
  CNI_TRY(cni_scene_require(reader, value, "min"));
  CNI_TRY(cni_scene_require(reader, value, "max"));
  CNI_TRY(cni_scene_get_integer(reader, value, "count", 0, MOST_ROUNDS, &g->count));
  CNI_TRY(cni_scene_get_vec3(reader, value, "min", CNI_ANY, &g->lo));
  CNI_TRY(cni_scene_get_vec3(reader, value, "max", CNI_ANY, &g->hi));
  if (g->lo.x > g->hi.x || g->lo.y > g->hi.y || g->lo.z > g->hi.z)
    return cni_scene_fail(reader, value, "\"min\" must not be above \"max\"");
  if (!cn_vec3_finite(cn_sub(g->hi, g->lo)))
    return cni_scene_fail(reader, value, "the box from \"min\" to \"max\" is too large");
  return CN_OK;
}

static CnStatus read_generator(CniReader *reader, json_t *item, Generator *g) {
  const char *keys[] = {kind_keys[g->kind], "as", "draw", "seed", "items", NULL};
  CNI_TRY(cni_scene_keys(reader, item, keys));
  CNI_TRY(cni_scene_require(reader, item, "items"));
  json_t *value = json_object_get(item, kind_keys[g->kind]);
  if (g->kind == REPEAT)
    return cni_scene_get_integer(reader, item, "repeat", 0, MOST_ROUNDS, &g->count);
  cni_scene_enter(reader, kind_keys[g->kind]);
  CNI_TRY(g->kind == LATTICE ? read_lattice(reader, value, g) : read_random(reader, value, g));
  cni_scene_leave(reader);
  return CN_OK;
}

// ---- rounds ----

static void set_variables(CniReader *reader, const Generator *g, int64_t round) {
  CniVariable *v = reader->variables;
  v[g->first].value = (double)round;
  if (g->kind == LATTICE) {
    int64_t at[3] = {round % g->side[0], round / g->side[0] % g->side[1],
                     round / (g->side[0] * g->side[1])};
    const double *spacing = &g->spacing.x, *origin = &g->origin.x;
    for (int32_t k = 0; k < 3; k++) {
      v[g->first + 1 + k].value = (double)at[k];
      v[g->position + k].value = origin[k] + spacing[k] * (double)at[k];
    }
  }
  if (g->kind == RANDOM) {
    v[g->position].value = cni_rng_range(&reader->rng, g->lo.x, g->hi.x);
    v[g->position + 1].value = cni_rng_range(&reader->rng, g->lo.y, g->hi.y);
    v[g->position + 2].value = cni_rng_range(&reader->rng, g->lo.z, g->hi.z);
  }
  for (int32_t k = 0; k < g->draw_count; k++) v[g->draw + k].value = cni_rng_unit(&reader->rng);
  for (int32_t k = g->first; k < g->draw + g->draw_count; k++) v[k].unset = 0;
}

// ---- how much is to come ----
//
// A scene that would become too large is refused before it is built. Counts that depend on an index
// not yet set are not known; then an item counts as one.

static double least_items(CniReader *reader, json_t *list, int32_t depth);

// A number, if it can be known now.
static double number_or(CniReader *reader, json_t *value, double fallback) {
  if (json_is_number(value)) return json_number_value(value);
  const char *text = json_string_value(value);
  if (!text || text[0] != '=') return fallback;
  char problem[CNI_EXPRESSION_PROBLEM];
  double x;
  CniScope scope = cni_scene_scope(reader);
  CniExpressionResult result =
      cni_expression_evaluate(text + 1, strlen(text + 1), &scope, &x, problem);
  return result == CNI_EXPRESSION_OK ? x : fallback;
}

// Rounds of a generator inside another whose variables are not set, 0 if they cannot be known.
static double least_rounds(CniReader *reader, json_t *item) {
  json_t *lattice = json_object_get(item, "lattice"), *random = json_object_get(item, "random");
  if (json_object_get(item, "repeat")) return number_or(reader, json_object_get(item, "repeat"), 0);
  if (random) return number_or(reader, json_object_get(random, "count"), 0);
  json_t *count = json_object_get(lattice, "count"), *limit = json_object_get(lattice, "limit");
  double rounds = 1;
  for (size_t k = 0; k < 3; k++) rounds *= number_or(reader, json_array_get(count, k), 0);
  return limit ? cn_min(rounds, number_or(reader, limit, 0)) : rounds;
}

static int is_generator(const json_t *item) {
  for (Kind kind = 0; kind < KIND_COUNT; kind++)
    if (json_object_get(item, kind_keys[kind])) return 1;
  return 0;
}

// A name that a generator further in will set: what is outside under this name does not count.
static void hide(CniReader *reader, const char *name, const char *suffix) {
  if (!name || strlen(name) + strlen(suffix) >= CNI_NAME_SIZE) return;
  if (reader->variable_count == CNI_SCENE_VARIABLES) return;
  CniVariable *variable = &reader->variables[reader->variable_count++];
  *variable = (CniVariable){.unset = 1};
  snprintf(variable->name, sizeof variable->name, "%s%s", name, suffix);
}

static void hide_names(CniReader *reader, json_t *item) {
  static const char *const axes[] = {"x", "y", "z"};
  json_t *as = json_object_get(item, "as"), *draw = json_object_get(item, "draw"), *name;
  size_t i;
  hide(reader, as ? json_string_value(as) : "i", "");
  for (int32_t k = 0; k < 3; k++) {
    hide(reader, as ? json_string_value(as) : "i", axes[k]);
    hide(reader, axes[k], "");
  }
  json_array_foreach(draw, i, name) hide(reader, json_string_value(name), "");
}

static double least_items(CniReader *reader, json_t *list, int32_t depth) {
  double sum = 0;
  json_t *item;
  size_t i;
  json_array_foreach(list, i, item) {
    sum += 1;
    if (!is_generator(item) || depth == CNI_SCENE_NESTING) continue;
    double rounds = least_rounds(reader, item);
    if (!(rounds > 0)) continue;
    int32_t count = reader->variable_count;
    hide_names(reader, item);
    sum += rounds * least_items(reader, json_object_get(item, "items"), depth + 1);
    reader->variable_count = count;
  }
  return sum;
}

// ---- running ----

static CnStatus check_room(CniReader *reader, json_t *item, const Generator *g, int64_t count) {
  double more = (double)g->count * least_items(reader, json_object_get(item, "items"), 0);
  if (more <= (double)(reader->item_limit - count)) return CN_OK;
  cni_scene_enter(reader, kind_keys[g->kind]);
  json_t *value = json_object_get(item, kind_keys[g->kind]);
  return cni_scene_fail_number(reader, value, more, "a scene has at most %lld items",
                               (long long)reader->item_limit);
}

static CnStatus run_generator(CniReader *reader, json_t *item, Kind kind, CniMakeItem make,
                              int64_t *count) {
  if (reader->nesting == CNI_SCENE_NESTING)
    return cni_scene_fail(reader, item, "generators are nested deeper than %d", CNI_SCENE_NESTING);
  Generator g = {.kind = kind};
  CNI_TRY(read_generator(reader, item, &g));
  json_t *items = json_object_get(item, "items");
  cni_scene_enter(reader, "items");
  if (!json_is_array(items) || json_array_size(items) == 0)
    return cni_scene_fail(reader, items, "must be a list with at least one item");
  cni_scene_leave(reader);

  // a sequence of its own ends with the generator
  CniRng rng = reader->rng;
  int64_t seed = -1;
  CNI_TRY(cni_scene_get_integer(reader, item, "seed", 0, 9e15, &seed));
  if (seed >= 0) reader->rng.state = (uint64_t)seed;
  int32_t variable_count = reader->variable_count;
  CNI_TRY(name_variables(reader, item, &g));
  CNI_TRY(check_room(reader, item, &g, *count));
  cni_scene_enter(reader, "items");
  reader->nesting++;
  for (int64_t round = 0; round < g.count; round++) {
    set_variables(reader, &g, round);
    CNI_TRY(cni_scene_list(reader, items, make, count));
  }
  reader->nesting--;
  cni_scene_leave(reader);
  reader->variable_count = variable_count;
  if (seed >= 0) reader->rng = rng;
  return CN_OK;
}

static CnStatus one_item(CniReader *reader, json_t *item, CniMakeItem make, int64_t *count) {
  if (!json_is_object(item) && !(reader->lists && json_is_array(item)))
    return cni_scene_fail(reader, item, "must be %s", reader->lists ? "a list" : "an object");
  if (++*count > reader->item_limit)
    return cni_scene_fail(reader, item, "a scene has at most %lld items",
                          (long long)reader->item_limit);
  for (Kind kind = 0; kind < KIND_COUNT; kind++)
    if (json_object_get(item, kind_keys[kind]))
      return run_generator(reader, item, kind, make, count);
  return make(reader, item);
}

CnStatus cni_scene_list(CniReader *reader, json_t *list, CniMakeItem make, int64_t *count) {
  if (!json_is_array(list)) return cni_scene_fail(reader, list, "must be a list");
  json_t *item;
  CNI_ELEMENTS (reader, list, i, item) CNI_TRY(one_item(reader, item, make, count));
  return CN_OK;
}

CnStatus cni_scene_get_list(CniReader *reader, json_t *object, const char *key, CniMakeItem make,
                            int64_t *count) {
  CNI_MEMBER (reader, object, key, list) CNI_TRY(cni_scene_list(reader, list, make, count));
  return CN_OK;
}
