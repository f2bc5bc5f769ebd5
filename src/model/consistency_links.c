// SPDX-License-Identifier: Apache-2.0
// Does what bodies share and what acts between them fit together (consistency.c): geometries and curves,
// functions of time, couplings, motions, disabled pairs, forces.
#include "model/model_private.h"

static CnStatus check_geometries(const CniModel *model) {
  int64_t uses = 0;
  CNI_TRY(cni_check_slots(&model->geometry_ids, "geometry", model->geometry_count));
  for (int32_t i = 0; i < model->geometry_count; i++) {
    const CniGeometry *g = model->geometries[i];
    CNI_TRY(cni_check_named(&model->geometry_ids, "geometry", i, g->slot, g->generation, g->name));
    uses += g->use_count;
  }
  for (int32_t i = 0; i < model->shape_count; i++)
    uses -= model->shapes[i].extra && model->shapes[i].extra->geometry;
  return uses == 0 ? CN_OK : cni_damaged("geometry", 0, "uses and shapes differ");
}

static CnStatus check_curves(const CniModel *model) {
  int64_t uses = 0;
  CNI_TRY(cni_check_slots(&model->curve_ids, "curve", model->curve_count));
  for (int32_t i = 0; i < model->curve_count; i++) {
    const CniCurve *c = model->curves[i];
    CNI_TRY(cni_check_named(&model->curve_ids, "curve", i, c->slot, c->generation, c->name));
    uses += c->use_count;
  }
  for (int32_t i = 0; i < model->joint_count; i++)
    uses -= (model->joints[i].curves[0] != NULL) + (model->joints[i].curves[1] != NULL);
  return uses == 0 ? CN_OK : cni_damaged("curve", 0, "uses and joints differ");
}

CnStatus cni_shared_consistent(const CniModel *model) {
  CNI_TRY(check_geometries(model));
  return check_curves(model);
}

static CnStatus check_functions(const CniModel *model) {
  CNI_TRY(cni_check_slots(&model->function_ids, "function", model->function_count));
  for (int32_t i = 0; i < model->function_count; i++) {
    const CniFunction *f = &model->functions[i];
    CNI_TRY(cni_check_named(&model->function_ids, "function", i, f->slot, f->generation, f->name));
  }
  for (int32_t i = 0; i < model->joint_count; i++)
    for (int32_t k = 0; k < CN_JOINT_AXES; k++) {
      CnFunctionId id = model->joints[i].def.axes[k].motor_function;
      if (id.slot != 0 && cni_ids_find(&model->function_ids, id.slot, id.generation) < 0)
        return cni_damaged("joint", i, "a function of it names nothing");
    }
  return CN_OK;
}

static CnStatus check_couplings(const CniModel *model) {
  CNI_TRY(cni_check_slots(&model->coupling_ids, "coupling", model->coupling_count));
  for (int32_t i = 0; i < model->coupling_count; i++) {
    const CniCoupling *c = &model->couplings[i];
    CNI_TRY(cni_check_named(&model->coupling_ids, "coupling", i, c->slot, c->generation, c->name));
    if (cni_coupling_check(model, &c->def) != CN_OK) return cni_damaged_numbers("coupling", i);
    if (!isfinite(c->impulse + c->drift) || !isfinite(c->impulse_step) || c->impulse_step < 0)
      return cni_damaged("coupling", i, "its impulse is not finite");
  }
  return CN_OK;
}

static int is_material(const CniModel *model, CnMaterialId id) {
  int32_t i;
  return (id.slot == 0 && id.generation == 0) || cni_model_find_material(model, id, &i) == CN_OK;
}

static CnStatus check_law(const CniModel *model, int32_t i) {
  const CniPairLaw *l = &model->laws[i], *before = l - 1;
  const CniMaterialPair *p = &l->law;
  if (!is_material(model, l->a) || !is_material(model, l->b))
    return cni_damaged("law of a pair", i, "a material of it is none");
  int after = i == 0 || before->a.slot < l->a.slot ||
              (before->a.slot == l->a.slot && before->b.slot < l->b.slot);
  if (l->a.slot > l->b.slot || !after) return cni_damaged("law of a pair", i, "it is out of order");
  const double numbers[] = {p->friction, p->restitution, p->rolling_friction, p->spinning_friction,
                            p->cohesion};
  for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
    if (!(numbers[k] >= 0) || isinf(numbers[k]) || (k == 1 && numbers[k] > 1))
      return cni_damaged("law of a pair", i, "a number of it is out of its range");
  return CN_OK;
}

static CnStatus check_disabled(const CniModel *model, int32_t i) {
  const CniDisabled *d = &model->disabled[i];
  if (cni_ids_find(&model->body_ids, d->a.slot, d->a.generation) < 0 ||
      cni_ids_find(&model->body_ids, d->b.slot, d->b.generation) < 0)
    return cni_damaged("disabled pair", i, "a body of it is none");
  if (d->a.slot >= d->b.slot ||
      (i > 0 &&
       (d[-1].a.slot > d->a.slot || (d[-1].a.slot == d->a.slot && d[-1].b.slot >= d->b.slot))))
    return cni_damaged("disabled pair", i, "it is out of order");
  return CN_OK;
}

static CnStatus check_motion(const CniModel *model, int32_t i) {
  const CniBodyMotion *m = &model->motions[i];
  const CnFunctionId ids[] = {m->def.x, m->def.y, m->def.z, m->def.turn};
  int32_t body = cni_ids_find(&model->body_ids, m->body.slot, m->body.generation);
  if (body < 0 || body >= model->body_count || model->bodies[body].kind != CN_BODY_KINEMATIC)
    return cni_damaged("motion", i, "its body is not kinematic");
  for (int32_t k = 0; k < i; k++)
    if (model->motions[k].body.slot == m->body.slot)
      return cni_damaged("motion", i, "its body has another");
  for (int32_t k = 0; k < 4; k++)
    if (ids[k].slot != 0 && cni_ids_find(&model->function_ids, ids[k].slot, ids[k].generation) < 0)
      return cni_damaged("motion", i, "a function of it names nothing");
  CnQuat q = m->start.rotation;
  if (!(fabs(cn_norm(m->def.axis) - 1) < 1e-9) || !cn_vec3_finite(m->start.position) ||
      !(fabs(cn_qnorm2(q) - 1) < 1e-9))
    return cni_damaged("motion", i, "its axis or its start is no such thing");
  return CN_OK;
}

static CnStatus check_force(const CniModel *model, int32_t i) {
  const CniForce *f = &model->forces[i];
  int32_t a, b;
  CnForceDef copy = f->def;
  CNI_TRY(cni_check_named(&model->force_ids, "force", i, f->slot, f->generation, f->name));
  if (cni_force_def_check(&copy) != CN_OK) return cni_damaged_numbers("force", i);
  if (!cni_same_rotation(copy.frame_a, f->def.frame_a) ||
      !cni_same_rotation(copy.frame_b, f->def.frame_b))
    return cni_damaged("force", i, "a frame's rotation is not of length one");
  if (cni_find_pair(model, "force", copy.body_a, copy.body_b, &a, &b) != CN_OK)
    return cni_damaged_numbers("force", i);
  CnFunctionId id = copy.rest_function;
  if (id.slot != 0 && cni_ids_find(&model->function_ids, id.slot, id.generation) < 0)
    return cni_damaged("force", i, "a function of it names nothing");
  if (cni_force_kind(copy.kind)->single && (a >= 0 || b < 0))
    return cni_damaged("force", i, "it acts on one body and has others");
  return CN_OK;
}

CnStatus cni_links_consistent(const CniModel *model) {
  CNI_TRY(cni_check_slots(&model->force_ids, "force", model->force_count));
  for (int32_t i = 0; i < model->force_count; i++) CNI_TRY(check_force(model, i));
  CNI_TRY(check_functions(model));
  for (int32_t i = 0; i < model->motion_count; i++) CNI_TRY(check_motion(model, i));
  for (int32_t i = 0; i < model->disabled_count; i++) CNI_TRY(check_disabled(model, i));
  for (int32_t i = 0; i < model->law_count; i++) CNI_TRY(check_law(model, i));
  CNI_TRY(cni_notes_consistent(model));
  return check_couplings(model);
}
