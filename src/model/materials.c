// SPDX-License-Identifier: Apache-2.0
// Materials: the laws of surfaces, and how two of them make the law of a contact.
#include "model/model_private.h"

static const char *const rules[] = {"geometric", "average", "min", "product", "max", NULL};

const CniField cni_material_fields[] = {
    CNI_FIELD(REAL, CnMaterialDef, friction, NOT_NEGATIVE, "", "sliding friction",
              .fallback = {0.5}),
    CNI_FIELD(REAL, CnMaterialDef, restitution, SHARE, "", "restitution"),
    CNI_FIELD(REAL, CnMaterialDef, rolling_friction, NOT_NEGATIVE, "m",
              "rolling friction; the larger of two counts"),
    CNI_FIELD(REAL, CnMaterialDef, spinning_friction, NOT_NEGATIVE, "m",
              "friction against spinning; the larger of two counts"),
    CNI_FIELD(REAL, CnMaterialDef, cohesion, NOT_NEGATIVE, "N",
              "pull that a contact holds; the smaller of two counts"),
    CNI_FIELD(VEC3, CnMaterialDef, surface_velocity, ANY, "m/s",
              "in the body frame (conveyor belts)"),
    {.name = "surface_function",
     .type = CNI_FIELD_BITS,
     .offset = offsetof(CnMaterialDef, surface_function), // its slot comes first
     .unit = "",
     .sentence = "function of time that the surface velocity is multiplied with",
     .where = CNI_NOT_IN_SCENE | CNI_NOT_IN_RUN},
    CNI_FIELD(CHOICE, CnMaterialDef, friction_rule, ANY, "",
              "how two friction values make one; of two rules the later in the list wins",
              .words = rules),
    CNI_FIELD(CHOICE, CnMaterialDef, restitution_rule, ANY, "", "the same for restitution",
              .words = rules, .fallback = {CN_COMBINE_MAX}),
    CNI_FIELDS_END,
};

CnMaterialDef cn_material_def_default(void) {
  CnMaterialDef def = {.size = sizeof def, .tag = CNI_TAG_MATERIAL};
  cni_fields_default(cni_material_fields, &def);
  return def;
}

CnStatus cni_material_def_check(const CnMaterialDef *def) {
  CNI_TRY(cni_def_check("material", def, sizeof *def, CNI_TAG_MATERIAL));
  CnMaterialDef copy = *def;
  return cni_fields_check(cni_material_fields, "material", &copy);
}

static CnStatus check(const CniModel *model, const CnMaterialDef *def) {
  int32_t function;
  CNI_TRY(cni_material_def_check(def));
  CnFunctionId id = def->surface_function;
  return id.slot != 0 || id.generation != 0 ? cni_model_find_function(model, id, &function) : CN_OK;
}

CnVec3 cni_material_surface(const CniModel *model, int32_t i, double t) {
  const CnMaterialDef *def = &model->materials[i].def;
  CnFunctionId id = def->surface_function;
  double value[3];
  if (id.slot == 0) return def->surface_velocity;
  cni_function_at(model, cni_ids_find(&model->function_ids, id.slot, id.generation), t, value);
  return cn_scale(value[0], def->surface_velocity);
}

CnStatus cni_model_add_material(CniModel *model, const CnMaterialDef *def, CnMaterialId *id) {
  *id = (CnMaterialId){0, 0};
  CNI_TRY(check(model, def));
  if (model->material_count == INT32_MAX)
    return cni_error(CN_NO_MEMORY, "a world holds at most %d materials", INT32_MAX);
  CNI_TRY(CNI_RESERVE(&model->allocator, model->materials, model->material_capacity,
                      model->material_count, model->material_count + 1));
  CNI_TRY(cni_ids_reserve(&model->material_ids, &model->allocator));
  int32_t i = model->material_count++;
  CniMaterial *m = &model->materials[i];
  *m = (CniMaterial){.def = *def};
  m->def.name = NULL;
  cni_name_copy(m->name, def->name);
  cni_ids_take(&model->material_ids, i, &m->slot, &m->generation);
  *id = (CnMaterialId){m->slot, m->generation};
  return CN_OK;
}

CnStatus cni_model_set_material(CniModel *model, CnMaterialId id, const CnMaterialDef *def) {
  int32_t i;
  CNI_TRY(cni_model_find_material(model, id, &i));
  CNI_TRY(check(model, def));
  CniMaterial *m = &model->materials[i];
  m->def = *def;
  m->def.name = NULL;
  cni_name_copy(m->name, def->name);
  return CN_OK;
}

CnStatus cni_model_set_pair(CniModel *model, CnMaterialId a, CnMaterialId b,
                            const CnMaterialDef *def) {
  if (!def) return cni_model_set_law(model, a, b, NULL);
  CNI_TRY(check(model, def));
  CniMaterialPair law = {def->friction, def->restitution, def->rolling_friction,
                         def->spinning_friction, def->cohesion};
  return cni_model_set_law(model, a, b, &law);
}

CnStatus cni_model_remove_material(CniModel *model, CnMaterialId id) {
  int32_t i;
  CNI_TRY(cni_model_find_material(model, id, &i));
  const CniMaterial *m = &model->materials[i];
  if (m->use_count > 0)
    return cni_invalid("material %u '%s' is used by %d shapes", (unsigned)m->slot, m->name,
                       (int)m->use_count);
  cni_laws_drop(model, id);
  cni_ids_free(&model->material_ids, id.slot);
  int32_t last = --model->material_count;
  if (i == last) return CN_OK;
  model->materials[i] = model->materials[last];
  cni_ids_move(&model->material_ids, model->materials[i].slot, i);
  // rare, so shapes keep no lists by material
  for (int32_t s = 0; s < model->shape_count; s++)
    if (model->shapes[s].material == last) model->shapes[s].material = i;
  return CN_OK;
}

static double combine(CnCombine rule_a, CnCombine rule_b, double a, double b) {
  switch (rule_a > rule_b ? rule_a : rule_b) {
  case CN_COMBINE_AVERAGE:
    return (a + b) / 2;
  case CN_COMBINE_MIN:
    return cn_min(a, b);
  case CN_COMBINE_PRODUCT:
    return a * b;
  case CN_COMBINE_MAX:
    return cn_max(a, b);
  default:
    return a == b ? a : sqrt(a * b);
  }
}

CniMaterialPair cni_material_combine(const CnMaterialDef *a, const CnMaterialDef *b) {
  return (CniMaterialPair){
      .friction = combine(a->friction_rule, b->friction_rule, a->friction, b->friction),
      .restitution =
          combine(a->restitution_rule, b->restitution_rule, a->restitution, b->restitution),
      .rolling_friction = cn_max(a->rolling_friction, b->rolling_friction),
      .spinning_friction = cn_max(a->spinning_friction, b->spinning_friction),
      .cohesion = cn_min(a->cohesion, b->cohesion)};
}
