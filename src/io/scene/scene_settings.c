// SPDX-License-Identifier: Apache-2.0
// Settings of the world and materials. Settings are kept as a world definition and a set of bits
// for what the scene mentions, so that everything else stays as the caller has it.
#include <cairn/system.h>
#include <stddef.h>
#include <string.h>

#include "core/error.h"
#include "core/floats.h"
#include "io/scene/scene_private.h"

enum {
  GRAVITY = 1 << 0,
  INTEGRATOR = 1 << 2,
  FRICTION = 1 << 3,
  GEOMETRIC_STIFFNESS = 1 << 8,
  BROAD_PHASE = 1 << 9,
  SOLVER_NAME = 1 << 10,
  SOLVER_ITERATIONS = 1 << 11,
  SOLVER_TOLERANCE = 1 << 12,
  SOLVER_RELAXATION = 1 << 13,
  SOLVER_ACCELERATION = 1 << 14,
  SOLVER_LOCAL = 1 << 15,
  SOLVER_CHECK_INTERVAL = 1 << 16,
  NUMBERS = 17 // the first bit of the table of numbers
};

// Numbers of the world's definition.
static const struct {
  const char *key;
  CniRange range;
  size_t offset;
} numbers[] = {
    {"time_step", CNI_POSITIVE, offsetof(CnWorldDef, time_step)},
    {"stabilisation", CNI_POSITIVE_SHARE, offsetof(CnWorldDef, stabilisation)},
    {"contact_stabilisation", CNI_POSITIVE_SHARE, offsetof(CnWorldDef, contact_stabilisation)},
    {"contact_slop", CNI_NOT_NEGATIVE, offsetof(CnWorldDef, contact_slop)},
    {"recovery_speed", CNI_NOT_NEGATIVE, offsetof(CnWorldDef, recovery_speed)},
    {"restitution_threshold", CNI_NOT_NEGATIVE, offsetof(CnWorldDef, restitution_threshold)},
    {"contact_margin", CNI_NOT_NEGATIVE, offsetof(CnWorldDef, contact_margin)},
};
#define NUMBER_COUNT ((int32_t)(sizeof numbers / sizeof numbers[0]))

static double *number_of(CnWorldDef *def, int32_t i) {
  return (double *)(void *)((char *)def + numbers[i].offset);
}

#define MOST_WORDS 32

// A word of one of the library's tables; the answer is the table's own string.
static CnStatus get_table_word(CniReader *reader, json_t *object, const char *key,
                               const char *(*name)(int32_t index), const char **word) {
  const char *words[MOST_WORDS + 1] = {0};
  for (int32_t i = 0; i < MOST_WORDS && name(i); i++) words[i] = name(i);
  int32_t choice = -1;
  CNI_TRY(cni_scene_get_choice(reader, object, key, words, &choice));
  if (choice >= 0) *word = words[choice];
  return CN_OK;
}

static void mention(CniReader *reader, json_t *object, const char *key, uint32_t bit) {
  if (json_object_get(object, key)) reader->scene->settings.mentioned |= bit;
}

static CnStatus read_solver(CniReader *reader, json_t *settings) {
  static const char *const keys[] = {"name",  "iterations",     "tolerance",    "relaxation",
                                     "local", "check_interval", "acceleration", NULL};
  static const char *const locals[] = {"split", "projection", "exact", NULL};
  json_t *value = json_object_get(settings, "solver");
  if (!value) return CN_OK;
  CnSolverDef *solver = &reader->scene->settings.def.solver;
  const char *name = NULL;
  if (json_is_string(value)) {
    CNI_TRY(get_table_word(reader, settings, "solver", cn_solver_name, &name));
    *solver = cn_solver_def_default(name);
    reader->scene->settings.mentioned |= SOLVER_NAME;
    return CN_OK;
  }
  cni_scene_enter(reader, "solver");
  CNI_TRY(cni_scene_keys(reader, value, keys));
  CNI_TRY(get_table_word(reader, value, "name", cn_solver_name, &name));
  if (name) *solver = cn_solver_def_default(name);
  int64_t iterations = solver->max_iterations, interval = solver->check_interval;
  int32_t local = (int32_t)solver->local;
  CNI_TRY(cni_scene_get_integer(reader, value, "iterations", 1, 1e9, &iterations));
  CNI_TRY(cni_scene_get_number(reader, value, "tolerance", CNI_NOT_NEGATIVE, &solver->tolerance));
  CNI_TRY(cni_scene_get_number(reader, value, "relaxation", CNI_RELAXATION, &solver->relaxation));
  CNI_TRY(cni_scene_get_number(reader, value, "acceleration", CNI_POSITIVE_SHARE,
                               &solver->acceleration));
  CNI_TRY(cni_scene_get_choice(reader, value, "local", locals, &local));
  CNI_TRY(cni_scene_get_integer(reader, value, "check_interval", 1, 1e9, &interval));
  solver->max_iterations = (int32_t)iterations;
  solver->check_interval = (int32_t)interval;
  solver->local = (CnLocalSolve)local;
  mention(reader, value, "name", SOLVER_NAME);
  mention(reader, value, "iterations", SOLVER_ITERATIONS);
  mention(reader, value, "tolerance", SOLVER_TOLERANCE);
  mention(reader, value, "relaxation", SOLVER_RELAXATION);
  mention(reader, value, "acceleration", SOLVER_ACCELERATION);
  mention(reader, value, "local", SOLVER_LOCAL);
  mention(reader, value, "check_interval", SOLVER_CHECK_INTERVAL);
  cni_scene_leave(reader);
  return CN_OK;
}

// ---- the integrator ----

static const struct {
  const char *key;
  CniRange range;
  size_t offset;
} integration_numbers[] = {
    {"tolerance", CNI_NOT_NEGATIVE, offsetof(CnIntegratorDef, tolerance)},
    {"step", CNI_NOT_NEGATIVE, offsetof(CnIntegratorDef, step)},
    {"step_max", CNI_NOT_NEGATIVE, offsetof(CnIntegratorDef, step_max)},
    {"step_min", CNI_NOT_NEGATIVE, offsetof(CnIntegratorDef, step_min)},
    {"drift_limit", CNI_NOT_NEGATIVE, offsetof(CnIntegratorDef, drift_limit)},
    {"event_tolerance", CNI_POSITIVE, offsetof(CnIntegratorDef, event_tolerance)},
    {"accumulation", CNI_NOT_NEGATIVE, offsetof(CnIntegratorDef, accumulation)},
    {"theta", CNI_POSITIVE_SHARE, offsetof(CnIntegratorDef, theta)},
};
#define INTEGRATION_COUNT ((int32_t)(sizeof integration_numbers / sizeof integration_numbers[0]))
enum { PROJECTION = 1 << 16, PROJECT_START = 1 << 17, MAX_EVENTS = 1 << 18, IMPACT = 1 << 19 };

static double *integration_number(CnIntegratorDef *def, int32_t i) {
  return (double *)(void *)((char *)def + integration_numbers[i].offset);
}

static CnStatus read_integrator(CniReader *reader, json_t *settings) {
  static const char *const keys[] = {
      "name",          "tolerance",       "step",         "step_max", "step_min",
      "drift_limit",   "event_tolerance", "accumulation", "theta",    "projection",
      "project_start", "max_events",      "impact",       NULL};
  static const char *const impacts[] = {"simultaneous", "sequential", NULL};
  CniSceneSettings *s = &reader->scene->settings;
  json_t *value = json_object_get(settings, "integrator");
  if (!value || json_is_string(value))
    return get_table_word(reader, settings, "integrator", cn_integrator_name, &s->def.integrator);
  CnIntegratorDef *def = &s->def.integration;
  cni_scene_enter(reader, "integrator");
  CNI_TRY(cni_scene_keys(reader, value, keys));
  CNI_TRY(get_table_word(reader, value, "name", cn_integrator_name, &s->def.integrator));
  for (int32_t i = 0; i < INTEGRATION_COUNT; i++) {
    CNI_TRY(cni_scene_get_number(reader, value, integration_numbers[i].key,
                                 integration_numbers[i].range, integration_number(def, i)));
    if (json_object_get(value, integration_numbers[i].key)) s->integration |= 1u << i;
  }
  int64_t projection = def->projection, events = def->max_events;
  int32_t impact = (int32_t)def->impact;
  CNI_TRY(cni_scene_get_integer(reader, value, "projection", 0, 1e9, &projection));
  CNI_TRY(cni_scene_get_integer(reader, value, "max_events", 0, 1e9, &events));
  CNI_TRY(cni_scene_get_flag(reader, value, "project_start", &def->project_start));
  CNI_TRY(cni_scene_get_choice(reader, value, "impact", impacts, &impact));
  def->projection = (int32_t)projection;
  def->max_events = (int32_t)events;
  def->impact = (CnImpact)impact;
  if (json_object_get(value, "projection")) s->integration |= PROJECTION;
  if (json_object_get(value, "project_start")) s->integration |= PROJECT_START;
  if (json_object_get(value, "max_events")) s->integration |= MAX_EVENTS;
  if (json_object_get(value, "impact")) s->integration |= IMPACT;
  cni_scene_leave(reader);
  return CN_OK;
}

static void put_integration(const CniSceneSettings *s, CnIntegratorDef *def) {
  CnIntegratorDef from = s->def.integration;
  for (int32_t i = 0; i < INTEGRATION_COUNT; i++)
    if (s->integration & 1u << i) *integration_number(def, i) = *integration_number(&from, i);
  if (s->integration & PROJECTION) def->projection = from.projection;
  if (s->integration & PROJECT_START) def->project_start = from.project_start;
  if (s->integration & MAX_EVENTS) def->max_events = from.max_events;
  if (s->integration & IMPACT) def->impact = from.impact;
}

static CnStatus read_numbers(CniReader *reader, json_t *value, CnWorldDef *def) {
  CNI_TRY(cni_scene_get_vec3(reader, value, "gravity", CNI_ANY, &def->gravity));
  CNI_TRY(cni_scene_get_number(reader, value, "time", CNI_POSITIVE, &reader->scene->settings.time));
  mention(reader, value, "gravity", GRAVITY);
  for (int32_t i = 0; i < NUMBER_COUNT; i++) {
    CNI_TRY(
        cni_scene_get_number(reader, value, numbers[i].key, numbers[i].range, number_of(def, i)));
    mention(reader, value, numbers[i].key, 1u << (NUMBERS + i));
  }
  return CN_OK;
}

CnStatus cni_scene_read_settings(CniReader *reader, json_t *root) {
  static const char *const keys[] = {"gravity",
                                     "time_step",
                                     "time",
                                     "integrator",
                                     "solver",
                                     "friction",
                                     "stabilisation",
                                     "contact_stabilisation",
                                     "contact_slop",
                                     "recovery_speed",
                                     "restitution_threshold",
                                     "contact_margin",
                                     "geometric_stiffness",
                                     "broad_phase",
                                     NULL};
  static const char *const models[] = {"coulomb", "convex", NULL};
  CnWorldDef *def = &reader->scene->settings.def;
  *def = cn_world_def_default();
  reader->scene->settings.time = 1;
  json_t *value = json_object_get(root, "settings");
  if (!value) return CN_OK;
  cni_scene_enter(reader, "settings");
  CNI_TRY(cni_scene_keys(reader, value, keys));
  CNI_TRY(read_numbers(reader, value, def));
  int32_t model = (int32_t)def->friction;
  CNI_TRY(cni_scene_get_choice(reader, value, "friction", models, &model));
  def->friction = (CnFrictionModel)model;
  CNI_TRY(read_integrator(reader, value));
  CNI_TRY(get_table_word(reader, value, "broad_phase", cn_broad_phase_name, &def->broad_phase));
  CNI_TRY(cni_scene_get_flag(reader, value, "geometric_stiffness", &def->geometric_stiffness));
  CNI_TRY(read_solver(reader, value));
  mention(reader, value, "friction", FRICTION);
  mention(reader, value, "integrator", INTEGRATOR);
  mention(reader, value, "broad_phase", BROAD_PHASE);
  mention(reader, value, "geometric_stiffness", GEOMETRIC_STIFFNESS);
  cni_scene_leave(reader);
  return CN_OK;
}

static void put_solver(const CniSceneSettings *s, CnSolverDef *solver) {
  const CnSolverDef *from = &s->def.solver;
  if (s->mentioned & SOLVER_NAME) {
    CnSolverDef own = cn_solver_def_default(from->name);
    own.allocator = solver->allocator;
    own.tasks = solver->tasks;
    *solver = own;
  }
  if (s->mentioned & SOLVER_ITERATIONS) solver->max_iterations = from->max_iterations;
  if (s->mentioned & SOLVER_TOLERANCE) solver->tolerance = from->tolerance;
  if (s->mentioned & SOLVER_RELAXATION) solver->relaxation = from->relaxation;
  if (s->mentioned & SOLVER_ACCELERATION) solver->acceleration = from->acceleration;
  if (s->mentioned & SOLVER_LOCAL) solver->local = from->local;
  if (s->mentioned & SOLVER_CHECK_INTERVAL) solver->check_interval = from->check_interval;
}

void cn_scene_world_def(const CnScene *scene, CnWorldDef *def) {
  CNI_FLOATS;
  if (!scene || !def) return;
  const CniSceneSettings *s = &scene->settings;
  if (s->mentioned & GRAVITY) def->gravity = s->def.gravity;
  if (s->mentioned & INTEGRATOR) def->integrator = s->def.integrator;
  put_integration(s, &def->integration);
  if (s->mentioned & FRICTION) def->friction = s->def.friction;
  for (int32_t i = 0; i < NUMBER_COUNT; i++) {
    CnWorldDef from = s->def;
    if (s->mentioned & 1u << (NUMBERS + i)) *number_of(def, i) = *number_of(&from, i);
  }
  if (s->mentioned & GEOMETRIC_STIFFNESS) def->geometric_stiffness = s->def.geometric_stiffness;
  if (s->mentioned & BROAD_PHASE) def->broad_phase = s->def.broad_phase;
  put_solver(s, &def->solver);
}

// ---- materials ----

static CnStatus read_material(CniReader *reader, json_t *value, CnMaterialDef *def) {
  static const char *const keys[] = {"friction",          "restitution",      "rolling_friction",
                                     "spinning_friction", "cohesion",         "surface_velocity",
                                     "friction_rule",     "restitution_rule", NULL};
  static const char *const rules[] = {"geometric", "average", "min", "product", "max", NULL};
  CNI_TRY(cni_scene_keys(reader, value, keys));
  CNI_TRY(cni_scene_get_number(reader, value, "friction", CNI_NOT_NEGATIVE, &def->friction));
  CNI_TRY(cni_scene_get_number(reader, value, "restitution", CNI_SHARE, &def->restitution));
  CNI_TRY(cni_scene_get_number(reader, value, "rolling_friction", CNI_NOT_NEGATIVE,
                               &def->rolling_friction));
  CNI_TRY(cni_scene_get_number(reader, value, "spinning_friction", CNI_NOT_NEGATIVE,
                               &def->spinning_friction));
  CNI_TRY(cni_scene_get_number(reader, value, "cohesion", CNI_NOT_NEGATIVE, &def->cohesion));
  CNI_TRY(cni_scene_get_vec3(reader, value, "surface_velocity", CNI_ANY, &def->surface_velocity));
  int32_t friction = (int32_t)def->friction_rule, restitution = (int32_t)def->restitution_rule;
  CNI_TRY(cni_scene_get_choice(reader, value, "friction_rule", rules, &friction));
  CNI_TRY(cni_scene_get_choice(reader, value, "restitution_rule", rules, &restitution));
  def->friction_rule = (CnCombine)friction;
  def->restitution_rule = (CnCombine)restitution;
  return CN_OK;
}

CnStatus cni_scene_read_materials(CniReader *reader, json_t *root) {
  CnScene *scene = reader->scene;
  json_t *members = json_object_get(root, "materials"), *value;
  const char *key;
  if (!members) return CN_OK;
  cni_scene_enter(reader, "materials");
  if (!json_is_object(members)) return cni_scene_fail(reader, members, "must be an object");
  json_object_foreach(members, key, value) {
    if (strcmp(key, "comment") == 0) continue;
    cni_scene_enter(reader, key);
    if (!key[0] || strlen(key) >= CNI_NAME_SIZE)
      return cni_scene_fail(reader, value, "a name must have 1 .. %d bytes", CNI_NAME_SIZE - 1);
    int32_t number = scene->material_count;
    CnMaterialDef def = cn_material_def_default();
    CNI_TRY(read_material(reader, value, &def));
    def.name = cni_text_keep(&scene->texts, &scene->allocator, key, strlen(key));
    if (!def.name) return CN_NO_MEMORY;
    CNI_TRY(cni_array_reserve(&scene->allocator, (void **)&scene->materials,
                              &scene->material_capacity, number, number + 1, sizeof def));
    scene->materials[number] = def;
    scene->material_count++;
    CNI_TRY(cni_name_add(&reader->material_names, &scene->allocator, def.name, number));
    cni_scene_leave(reader);
  }
  cni_scene_leave(reader);
  return CN_OK;
}
