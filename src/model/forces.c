// SPDX-License-Identifier: Apache-2.0
// Forces between two bodies, or on one. They are few: bodies have no lists of them and are found by
// their ids, so that nothing has to follow when bodies move in memory or their mass changes.
#include "model/model_private.h"

void cni_force_at(const CniModel *model, const CniForce *force, double time, const CnPose *pose,
                  const CnTwist *twist, CniForceAt *at) {
  const CnForceDef *def = &force->def;
  at->bodies[0] = cni_ids_find(&model->body_ids, def->body_a.slot, def->body_a.generation);
  at->bodies[1] = cni_ids_find(&model->body_ids, def->body_b.slot, def->body_b.generation);
  for (int32_t i = 0; i < 2; i++) {
    CnPose frame = cni_local_frame(model, at->bodies[i], i ? def->frame_b : def->frame_a);
    at->ends[i] = cni_joint_end(pose, twist, at->bodies[i], frame);
  }
  at->sight = cni_force_sight(def, at->ends);
  at->sight.near = force->near;
  at->sight.time = time;
  CnFunctionId id = def->rest_function;
  int32_t rest = id.slot ? cni_ids_find(&model->function_ids, id.slot, id.generation) : -1;
  if (rest >= 0) at->sight.rest = cni_function_of(model, rest, &at->sight.bends);
}

CnStatus cni_force_act(const CniForce *force, const CniForceAt *at, CniForcePlace *place) {
  if (force->def.kind == CN_FORCE_USER && !force->def.function)
    return cni_invalid(
        "force '%s' (slot %u) has no function: neither snapshots nor scenes keep one, "
        "set it with cn_force_set",
        force->name, (unsigned)force->slot);
  CnStatus status = cni_force_place(&at->sight, place);
  if (status != CN_OK && !cn_error_message()[0])
    return cni_error(status, "t = %g s: force '%s' (slot %u, %s) failed without a word (%s)",
                     at->sight.time, force->name, (unsigned)force->slot,
                     cni_force_kind(force->def.kind)->name, cn_status_name(status));
  CNI_TRY(status);
  if (!place->unfit) return CN_OK;
  return cni_error(CN_NOT_FINITE, "t = %g s: the %s of force '%s' (slot %u, %s) is not finite",
                   at->sight.time, place->unfit, force->name, (unsigned)force->slot,
                   cni_force_kind(force->def.kind)->name);
}

// Numbers, bodies, and what the kind takes from the present poses.
static CnStatus check(const CniModel *model, CniForce *force) {
  CnForceDef *def = &force->def;
  CniForceAt at;
  int32_t bodies[2];
  CNI_TRY(cni_force_def_check(def));
  CNI_TRY(cni_find_pair(model, "force", def->body_a, def->body_b, &bodies[0], &bodies[1]));
  int32_t function;
  if (def->rest_function.slot != 0 || def->rest_function.generation != 0)
    CNI_TRY(cni_model_find_function(model, def->rest_function, &function));
  const CniForceKind *kind = cni_force_kind(def->kind);
  if (kind->single && (bodies[0] >= 0 || bodies[1] < 0))
    return cni_invalid("force: %s acts on one body, which has to be body_b", kind->name);
  def->name = NULL;
  if (!kind->fit) return CN_OK;
  cni_force_at(model, force, 0, model->pose, NULL, &at);
  return kind->fit(&at.sight, def);
}

CnStatus cni_model_add_force(CniModel *model, const CnForceDef *given, CnForceId *id) {
  *id = (CnForceId){0, 0};
  CNI_TRY(cni_def_check("force", given, sizeof *given, CNI_TAG_FORCE));
  CniForce force = {.def = *given};
  cni_name_copy(force.name, given->name);
  CNI_TRY(check(model, &force));
  int32_t i = model->force_count;
  if (i == INT32_MAX) return cni_error(CN_NO_MEMORY, "a world holds at most %d forces", INT32_MAX);
  CNI_TRY(CNI_RESERVE(&model->allocator, model->forces, model->force_capacity, i, i + 1));
  CNI_TRY(cni_ids_reserve(&model->force_ids, &model->allocator));
  cni_ids_take(&model->force_ids, i, &force.slot, &force.generation);
  model->forces[model->force_count++] = force;
  *id = (CnForceId){force.slot, force.generation};
  return CN_OK;
}

CnStatus cni_model_set_force(CniModel *model, CnForceId id, const CnForceDef *given) {
  int32_t i;
  CNI_TRY(cni_model_find_force(model, id, &i));
  CniForce force = model->forces[i];
  const CniBodyPair old = CNI_BODY_PAIR_OF(force.def);
  CNI_TRY(cni_def_check("force", given, sizeof *given, CNI_TAG_FORCE));
  force.def = *given;
  CNI_TRY(check(model, &force));
  const CniBodyPair now = CNI_BODY_PAIR_OF(force.def);
  CNI_TRY(cni_check_same_pair("force", &old, &now));
  model->forces[i] = force;
  return CN_OK;
}

// The last force moves into the hole.
static void drop(CniModel *model, int32_t i) {
  cni_ids_free(&model->force_ids, model->forces[i].slot);
  int32_t last = --model->force_count;
  if (i == last) return;
  model->forces[i] = model->forces[last];
  cni_ids_move(&model->force_ids, model->forces[i].slot, i);
}

CnStatus cni_model_remove_force(CniModel *model, CnForceId id) {
  int32_t i;
  CNI_TRY(cni_model_find_force(model, id, &i));
  drop(model, i);
  return CN_OK;
}

void cni_forces_drop(CniModel *model, CnBodyId body) {
  for (int32_t i = model->force_count; i-- > 0;) {
    const CnForceDef *def = &model->forces[i].def;
    if (def->body_a.slot == body.slot || def->body_b.slot == body.slot) drop(model, i);
  }
}
