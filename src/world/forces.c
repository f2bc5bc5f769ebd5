// SPDX-License-Identifier: Apache-2.0
// Force elements, the forces of the hook, functions of time and couplings, as the interface has them.
#include "core/error.h"
#include "world/doors.h"

CNI_CREATE(cn_force_create, CnForceDef, CnForceId, cni_model_add_force)
CNI_SET(cn_force_set, CnForceDef, CnForceId, cni_world_open_in_hook, cni_model_set_force)
CNI_DESTROY(cn_force_destroy, CnForceId, cni_model_remove_force)
CNI_DEF(cn_force_def, CnForceDef, CnForceId, cni_model_find_force, forces)
CNI_NEXT(cn_world_next_force, CnForceId, force_ids)

CnStatus cn_force_state(const CnWorld *world, CnForceId force, CnForceState *state) {
  CNI_FLOATS;
  int32_t i;
  CNI_ASK(world, cni_model_find_force, force, state, &i);
  const CniModel *model = &world->now.model;
  CniForceAt at;
  CniForcePlace place;
  cni_force_at(model, &model->forces[i], world->now.time, model->pose, model->twist, &at);
  CNI_TRY(cni_force_act(&model->forces[i], &at, &place));
  CnTwist total = cni_force_total(&place, at.ends);
  state->force = total.velocity;
  state->torque = total.spin;
  state->power = cni_force_power(&place, at.ends, total);
  state->energy = cni_force_energy(&place);
  if (cni_force_kind(model->forces[i].def.kind)->single) return CN_OK;
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
    CNI_TRY(CNI_TAKE(&world->memory.arena, n, work->loads));
    CNI_TRY(CNI_TAKE(&world->memory.arena, n, work->stage));
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

CNI_CREATE(cn_function_create, CnFunctionDef, CnFunctionId, cni_model_add_function)
CNI_SET(cn_function_set, CnFunctionDef, CnFunctionId, cni_world_open, cni_model_set_function)
CNI_DESTROY(cn_function_destroy, CnFunctionId, cni_model_remove_function)
CNI_DEF(cn_function_def, CnFunctionDef, CnFunctionId, cni_model_find_function, functions)
CNI_NEXT(cn_world_next_function, CnFunctionId, function_ids)

CnStatus cn_function_value(const CnWorld *world, CnFunctionId function, double time,
                           double result[3]) {
  CNI_FLOATS;
  int32_t i;
  if (!result) return cni_null_argument("cn_function_value", "the result pointer");
  result[0] = result[1] = result[2] = 0;
  if (!world) return cni_null_argument("cn_function_value", "the world");
  CNI_TRY(cni_model_find_function(&world->now.model, function, &i));
  if (!isfinite(time)) return cni_invalid("cn_function_value: time must be finite (got %g)", time);
  cni_function_at(&world->now.model, i, time, result);
  return CN_OK;
}

CnStatus cn_pair_disable(CnWorld *world, CnBodyId a, CnBodyId b) {
  CNI_FLOATS;
  CNI_TRY(cni_world_open(world, "cn_pair_disable"));
  return cni_model_disable_pair(&world->now.model, a, b);
}

CnStatus cn_pair_enable(CnWorld *world, CnBodyId a, CnBodyId b) {
  CNI_FLOATS;
  CNI_TRY(cni_world_open(world, "cn_pair_enable"));
  return cni_model_enable_pair(&world->now.model, a, b);
}

CnStatus cn_body_set_motion(CnWorld *world, CnBodyId body, const CnMotionDef *def) {
  CNI_FLOATS;
  CNI_TRY(cni_world_open(world, "cn_body_set_motion"));
  return cni_model_set_motion(&world->now.model, body, def, world->now.time);
}

// ---- couplings ----

CNI_CREATE(cn_coupling_create, CnCouplingDef, CnCouplingId, cni_model_add_coupling)
CNI_DESTROY(cn_coupling_destroy, CnCouplingId, cni_model_remove_coupling)
CNI_DEF(cn_coupling_def, CnCouplingDef, CnCouplingId, cni_model_find_coupling, couplings)
CNI_NEXT(cn_world_next_coupling, CnCouplingId, coupling_ids)

CnStatus cn_coupling_state(const CnWorld *world, CnCouplingId coupling, CnCouplingState *state) {
  CNI_FLOATS;
  int32_t i;
  CNI_ASK(world, cni_model_find_coupling, coupling, state, &i);
  const CniModel *model = &world->now.model;
  const CniCoupling *c = &model->couplings[i];
  CniCouplingPlace place;
  cni_coupling_at(model, c, model->pose, &place);
  state->effort = c->impulse_step > 0 ? (c->impulse + c->drift) / c->impulse_step : 0;
  state->error = place.value;
  return CN_OK;
}
