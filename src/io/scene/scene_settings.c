// SPDX-License-Identifier: Apache-2.0
// Settings of the world and materials. Settings are kept as a world definition and a set of bits
// for what the scene mentions, so that everything else stays as the caller has it.
#include <string.h>

#include "core/floats.h"
#include "integrator/integrator.h"
#include "io/scene/scene_private.h"
#include "solver/solver.h"
#include "world/world.h"

// ---- the solver ----

static CnStatus read_solver(CniReader *reader, json_t *settings) {
  json_t *value = json_object_get(settings, "solver");
  if (!value) return CN_OK;
  CniSceneSettings *s = &reader->scene->settings;
  CnSolverDef *solver = &s->def.solver;
  CniField name = cni_solver_fields[0];
  if (json_is_string(value)) {
    name.file = "solver";
    CNI_TRY(cni_scene_get_field(reader, settings, &name, solver));
    *solver = cn_solver_def_default(solver->name);
    s->solver = 1;
    return CN_OK;
  }
  cni_scene_enter(reader, "solver");
  CNI_TRY(cni_scene_field_keys(reader, value, cni_solver_fields, NULL));
  // the defaults of the others depend on the name
  CNI_TRY(cni_scene_get_field(reader, value, &name, solver));
  *solver = cn_solver_def_default(solver->name);
  CNI_TRY(cni_scene_get_fields(reader, value, cni_solver_fields, solver, &s->solver));
  cni_scene_leave(reader);
  return CN_OK;
}

static void put_solver(const CniSceneSettings *s, CnSolverDef *solver) {
  if (s->solver & 1) {
    CnSolverDef own = cn_solver_def_default(s->def.solver.name);
    own.allocator = solver->allocator;
    own.tasks = solver->tasks;
    *solver = own;
  }
  cni_fields_copy(cni_solver_fields, s->solver, &s->def.solver, solver);
}

// ---- the integrator ----

// A name, or an object with the name and numbers.
static CnStatus read_integrator(CniReader *reader, json_t *settings) {
  CniSceneSettings *s = &reader->scene->settings;
  json_t *value = json_object_get(settings, "integrator");
  CniField name = *cni_field_find(cni_world_fields, "integrator");
  if (json_is_string(value)) return cni_scene_get_field(reader, settings, &name, &s->def);
  static const char *const also[] = {"name", NULL};
  name.file = "name";
  cni_scene_enter(reader, "integrator");
  CNI_TRY(cni_scene_field_keys(reader, value, cni_integrator_fields, also));
  CNI_TRY(cni_scene_get_field(reader, value, &name, &s->def));
  CNI_TRY(cni_scene_get_fields(reader, value, cni_integrator_fields, &s->def.integration,
                               &s->integration));
  cni_scene_leave(reader);
  return CN_OK;
}

// ---- all of them ----

CnStatus cni_scene_read_settings(CniReader *reader, json_t *root) {
  static const char *const also[] = {"time", "solver", NULL};
  CniSceneSettings *s = &reader->scene->settings;
  s->def = cn_world_def_default();
  s->time = 1;
  json_t *value = cni_scene_go_in(reader, root, "settings");
  if (!value) return CN_OK;
  CNI_TRY(cni_scene_field_keys(reader, value, cni_world_fields, also));
  CNI_TRY(cni_scene_get_number(reader, value, "time", CNI_POSITIVE, &s->time));
  for (int32_t i = 0; cni_world_fields[i].name; i++) {
    const CniField *field = &cni_world_fields[i];
    if (field->where & CNI_NOT_IN_SCENE || !json_object_get(value, field->name)) continue;
    if (strcmp(field->name, "integrator") == 0)
      CNI_TRY(read_integrator(reader, value));
    else
      CNI_TRY(cni_scene_get_field(reader, value, field, &s->def));
    s->world |= (uint64_t)1 << i;
  }
  CNI_TRY(read_solver(reader, value));
  cni_scene_leave(reader);
  return CN_OK;
}

void cn_scene_world_def(const CnScene *scene, CnWorldDef *def) {
  CNI_FLOATS;
  if (!scene || !def) return;
  const CniSceneSettings *s = &scene->settings;
  cni_fields_copy(cni_world_fields, s->world, &s->def, def);
  cni_fields_copy(cni_integrator_fields, s->integration, &s->def.integration, &def->integration);
  put_solver(s, &def->solver);
}

// ---- materials ----

CnStatus cni_scene_get_color(CniReader *reader, json_t *item, double color[4]) {
  for (int32_t i = 0; i < 4; i++) color[i] = -1;
  CNI_MEMBER (reader, item, "color", value)
    CNI_TRY(cni_scene_numbers(reader, value, 3, "a list of red, green and blue, each 0 .. 1",
                              CNI_SHARE, color));
  return cni_scene_get_number(reader, item, "opacity", CNI_SHARE, &color[3]);
}

static CnStatus read_material(CniReader *reader, json_t *value, const char *name) {
  static const char *const also[] = {"surface_function", "color", "opacity", NULL};
  CnScene *scene = reader->scene;
  const CnAllocator *a = &scene->allocator;
  double color[4];
  CnMaterialDef def = cn_material_def_default();
  uint64_t mentioned = 0;
  CNI_TRY(cni_scene_field_keys(reader, value, cni_material_fields, also));
  CNI_TRY(cni_scene_get_fields(reader, value, cni_material_fields, &def, &mentioned));
  CNI_TRY(cni_scene_get_function(reader, value, also[0], &def.surface_function.slot));
  if (def.surface_function.slot > 0 && !(cn_norm2(def.surface_velocity) > 0))
    return cni_scene_fail(reader, value, "a \"surface_function\" needs a \"surface_velocity\"");
  def.name = name;
  CNI_TRY(cni_scene_get_color(reader, value, color));
  CNI_TRY(CNI_RESERVE(a, scene->material_colors, scene->material_color_capacity,
                      scene->material_count, scene->material_count + 1));
  memcpy(scene->material_colors[scene->material_count], color, sizeof color);
  return CNI_PUSH(a, scene->materials, scene->material_capacity, scene->material_count, def);
}

// What is not mentioned is as the rules of the two make it.
static CnStatus make_law(CniReader *reader, json_t *item) {
  static const char *const keys[] = {
      "materials",         "friction", "restitution", "rolling_friction",
      "spinning_friction", "cohesion", NULL};
  CnScene *scene = reader->scene;
  CniSceneLaw law = {.def = cn_material_def_default()};
  int32_t *sides[2] = {&law.a, &law.b};
  json_t *name;
  CNI_TRY(cni_scene_keys(reader, item, keys));
  CNI_TRY(cni_scene_require(reader, item, "materials"));
  CNI_MEMBER (reader, item, "materials", list) {
    CNI_TRY(cni_scene_pair(reader, list, "materials"));
    CNI_ELEMENTS (reader, list, i, name)
      CNI_TRY(cni_scene_refer(reader, name, &reader->material_names, "material", sides[i]));
    for (int32_t i = 0; i < scene->law_count; i++) {
      const CniSceneLaw *l = &scene->laws[i];
      if ((l->a == law.a && l->b == law.b) || (l->a == law.b && l->b == law.a))
        return cni_scene_fail(reader, list, "these two have a law already");
    }
  }
  CniMaterialPair usual = cni_material_combine(&scene->materials[law.a], &scene->materials[law.b]);
  law.def.friction = usual.friction;
  law.def.restitution = usual.restitution;
  law.def.rolling_friction = usual.rolling_friction;
  law.def.spinning_friction = usual.spinning_friction;
  law.def.cohesion = usual.cohesion;
  for (int32_t i = 1; keys[i]; i++)
    CNI_TRY(
        cni_scene_get_field(reader, item, cni_field_find(cni_material_fields, keys[i]), &law.def));
  return CNI_PUSH(&scene->allocator, scene->laws, scene->law_capacity, scene->law_count, law);
}

CnStatus cni_scene_read_laws(CniReader *reader, json_t *root) {
  return cni_scene_get_list(reader, root, "material_pairs", make_law, &reader->item_count);
}

CnStatus cni_scene_read_materials(CniReader *reader, json_t *root) {
  return cni_scene_read_named(reader, root, "materials", &reader->material_names, read_material);
}
