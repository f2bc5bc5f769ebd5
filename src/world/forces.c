// SPDX-License-Identifier: Apache-2.0
// Force elements, the forces of the hook and functions of time, as the interface has them.
#include "core/error.h"
#include "core/floats.h"
#include "world/world.h"

#include <string.h>

CnStatus cn_force_create(CnWorld *world, const CnForceDef *def, CnForceId *force) {
  CNI_FLOATS;
  if (!force) return cni_null_argument("cn_force_create", "the result pointer");
  *force = (CnForceId){0, 0};
  CNI_TRY(cni_world_open(world, "cn_force_create"));
  if (!def) return cni_null_argument("cn_force_create", "the definition");
  return cni_model_add_force(&world->now.model, def, force);
}

CnStatus cn_force_set(CnWorld *world, CnForceId force, const CnForceDef *def) {
  CNI_FLOATS;
  CNI_TRY(cni_world_open_in_hook(world, "cn_force_set"));
  if (!def) return cni_null_argument("cn_force_set", "the definition");
  return cni_model_set_force(&world->now.model, force, def);
}

CnStatus cn_force_destroy(CnWorld *world, CnForceId force) {
  CNI_FLOATS;
  CNI_TRY(cni_world_open(world, "cn_force_destroy"));
  return cni_model_remove_force(&world->now.model, force);
}

CnStatus cn_force_def(const CnWorld *world, CnForceId force, CnForceDef *def) {
  CNI_FLOATS;
  int32_t i;
  if (!def) return cni_null_argument("cn_force_def", "the result pointer");
  *def = (CnForceDef){0};
  if (!world) return cni_null_argument("cn_force_def", "the world");
  CNI_TRY(cni_model_find_force(&world->now.model, force, &i));
  *def = world->now.model.forces[i].def;
  def->name = world->now.model.forces[i].name;
  return CN_OK;
}

CnForceId cn_world_next_force(const CnWorld *world, CnForceId previous) {
  CnForceId next = {0, 0};
  if (world) next.slot = cni_ids_next(&world->now.model.force_ids, previous.slot, &next.generation);
  return next;
}

CnStatus cn_force_state(const CnWorld *world, CnForceId force, CnForceState *state) {
  CNI_FLOATS;
  int32_t i;
  if (!state) return cni_null_argument("cn_force_state", "the result pointer");
  *state = (CnForceState){0};
  if (!world) return cni_null_argument("cn_force_state", "the world");
  const CniModel *model = &world->now.model;
  CNI_TRY(cni_model_find_force(model, force, &i));
  CniForceAt at;
  CniForcePlace place;
  cni_force_at(model, &model->forces[i], world->now.time, model->pose, model->twist, &at);
  CNI_TRY(cni_force_act(&model->forces[i], &at, &place));
  CnTwist total = cni_force_total(&place, at.ends);
  state->force = total.velocity;
  state->torque = total.spin;
  state->power = cni_force_power(&place, at.ends, total);
  state->energy = cni_force_energy(&place);
  if (cni_force_kinds[model->forces[i].def.kind]->single) return CN_OK;
  CnVec3 line = cn_sub(at.sight.at.at_b.position, at.sight.at.at_a.position);
  state->length = cn_norm(line);
  state->rate = cn_dot(cn_unit_or(line, cn_vec3(1, 0, 0)), at.sight.velocity);
  return CN_OK;
}

// ---- the hook ----

CnStatus cni_world_loads(CnWorld *world, double t, const CnPose *pose, const CnTwist *twist,
                         const CnTwist **loads) {
  const CniModel *model = &world->now.model;
  CniStepWork *work = &world->work;
  size_t n = (size_t)model->body_count;
  *loads = NULL;
  if (!world->hooks.force || n == 0) return CN_OK;
  if (!work->loads) {
    work->loads = cni_arena_take(&world->memory.arena, n * sizeof *work->loads);
    work->stage = cni_arena_take(&world->memory.arena, n * sizeof *work->stage);
    if (!work->loads || !work->stage) return cni_error_memory(n * sizeof *work->stage);
  }
  for (int32_t i = 0; i < model->body_count; i++) {
    CnPose at = pose[i];
    at.rotation = cn_qunit(at.rotation); // of a stage: off the sphere by its error
    work->stage[i] =
        (CnStageBody){cni_body_id(model, i), at.position,
                      cn_pose_mul(at, cn_pose_inverse(cni_body_com(&model->bodies[i]))), twist[i]};
  }
  memset(work->loads, 0, n * sizeof *work->loads);
  CNI_TRY(world->hooks.force(world->hooks.context, world, t, work->stage, model->body_count,
                             work->loads));
  *loads = work->loads;
  return CN_OK;
}

// ---- functions of time ----

CnStatus cn_function_create(CnWorld *world, const CnFunctionDef *def, CnFunctionId *function) {
  CNI_FLOATS;
  if (!function) return cni_null_argument("cn_function_create", "the result pointer");
  *function = (CnFunctionId){0, 0};
  CNI_TRY(cni_world_open(world, "cn_function_create"));
  if (!def) return cni_null_argument("cn_function_create", "the definition");
  return cni_model_add_function(&world->now.model, def, function);
}

CnStatus cn_function_set(CnWorld *world, CnFunctionId function, const CnFunctionDef *def) {
  CNI_FLOATS;
  CNI_TRY(cni_world_open(world, "cn_function_set"));
  if (!def) return cni_null_argument("cn_function_set", "the definition");
  return cni_model_set_function(&world->now.model, function, def);
}

CnStatus cn_function_destroy(CnWorld *world, CnFunctionId function) {
  CNI_FLOATS;
  CNI_TRY(cni_world_open(world, "cn_function_destroy"));
  return cni_model_remove_function(&world->now.model, function);
}

CnStatus cn_function_def(const CnWorld *world, CnFunctionId function, CnFunctionDef *def) {
  CNI_FLOATS;
  int32_t i;
  if (!def) return cni_null_argument("cn_function_def", "the result pointer");
  *def = (CnFunctionDef){0};
  if (!world) return cni_null_argument("cn_function_def", "the world");
  CNI_TRY(cni_model_find_function(&world->now.model, function, &i));
  *def = world->now.model.functions[i].def;
  def->name = world->now.model.functions[i].name;
  return CN_OK;
}

CnStatus cn_function_value(const CnWorld *world, CnFunctionId function, double time,
                           double result[3]) {
  CNI_FLOATS;
  int32_t i;
  if (!result) return cni_null_argument("cn_function_value", "the result pointer");
  result[0] = result[1] = result[2] = 0;
  if (!world) return cni_null_argument("cn_function_value", "the world");
  CNI_TRY(cni_model_find_function(&world->now.model, function, &i));
  if (!isfinite(time))
    return cni_error(CN_INVALID_ARGUMENT, "cn_function_value: time must be finite (got %g)", time);
  cni_function_at(&world->now.model, i, time, result);
  return CN_OK;
}

CnStatus cn_body_set_motion(CnWorld *world, CnBodyId body, const CnMotionDef *def) {
  CNI_FLOATS;
  CNI_TRY(cni_world_open(world, "cn_body_set_motion"));
  return cni_model_set_motion(&world->now.model, body, def, world->now.time);
}

CnFunctionId cn_world_next_function(const CnWorld *world, CnFunctionId previous) {
  CnFunctionId next = {0, 0};
  if (world)
    next.slot = cni_ids_next(&world->now.model.function_ids, previous.slot, &next.generation);
  return next;
}
