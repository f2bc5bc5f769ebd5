// SPDX-License-Identifier: Apache-2.0
// Force elements, as the interface has them.
#include "core/error.h"
#include "core/floats.h"
#include "world/world.h"

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
  int32_t i, bodies[2];
  if (!state) return cni_null_argument("cn_force_state", "the result pointer");
  *state = (CnForceState){0};
  if (!world) return cni_null_argument("cn_force_state", "the world");
  const CniModel *model = &world->now.model;
  CNI_TRY(cni_model_find_force(model, force, &i));
  const CnForceDef *def = &model->forces[i].def;
  CniJointEnd ends[2];
  CniForcePlace place;
  cni_force_ends(model, &model->forces[i], model->pose, model->twist, bodies, ends);
  CniForceSight sight = cni_force_sight(def, ends);
  cni_force_place(def, ends, &place);
  CnTwist total = cni_force_total(&place, ends);
  state->force = total.velocity;
  state->torque = total.spin;
  state->power = cn_dot(total.velocity, sight.velocity) + cn_dot(total.spin, sight.spin);
  state->energy = cni_force_energy(&place);
  if (cni_force_kinds[def->kind]->single) return CN_OK;
  CnVec3 line = cn_sub(sight.at.at_b.position, sight.at.at_a.position);
  state->length = cn_norm(line);
  state->rate = cn_dot(cn_unit_or(line, cn_vec3(1, 0, 0)), sight.velocity);
  return CN_OK;
}
