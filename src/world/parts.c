// SPDX-License-Identifier: Apache-2.0
// The public functions of materials, shapes and joints: handles and arguments checked, then the model.
#include "world/doors.h"

// ---- materials ----

CNI_CREATE(cn_material_create, CnMaterialDef, CnMaterialId, cni_model_add_material)
CNI_SET(cn_material_set, CnMaterialDef, CnMaterialId, cni_world_open, cni_model_set_material)
CNI_DESTROY(cn_material_destroy, CnMaterialId, cni_model_remove_material)

// ---- shapes ----

CnStatus cn_shape_create(CnWorld *world, CnBodyId body, const CnShapeDef *def, CnShapeId *shape) {
  CNI_FLOATS;
  if (!shape) return cni_null_argument("cn_shape_create", "the result pointer");
  *shape = (CnShapeId){0, 0};
  CNI_TRY(cni_world_open(world, "cn_shape_create"));
  if (!def) return cni_null_argument("cn_shape_create", "the definition");
  return cni_model_add_shape(&world->now.model, body, def, shape);
}

CnStatus cn_shape_destroy(CnWorld *world, CnShapeId shape) {
  CNI_FLOATS;
  CNI_TRY(cni_world_open(world, "cn_shape_destroy"));
  CNI_TRY(cni_contacts_name(world));
  return cni_model_remove_shape(&world->now.model, shape);
}

CnStatus cn_shape_body(const CnWorld *world, CnShapeId shape, CnBodyId *body) {
  CNI_FLOATS;
  int32_t i;
  CNI_ASK(world, cni_model_find_shape, shape, body, &i);
  const CniModel *model = &world->now.model;
  *body = cni_body_id(model, model->shapes[i].body);
  return CN_OK;
}

CnStatus cn_shape_def(const CnWorld *world, CnShapeId shape, CnShapeDef *def) {
  CNI_FLOATS;
  int32_t i;
  CNI_ASK(world, cni_model_find_shape, shape, def, &i);
  *def = cni_model_shape_def(&world->now.model, i);
  return CN_OK;
}

CnShapeId cn_body_shape(const CnWorld *world, CnBodyId body, int32_t index) {
  CnShapeId none = {0, 0};
  if (!world || index < 0) return none;
  const CniModel *model = &world->now.model;
  int32_t i = cni_ids_find(&model->body_ids, body.slot, body.generation);
  if (i < 0) return none;
  int32_t s = model->bodies[i].first_shape;
  while (s >= 0 && index-- > 0) s = model->shapes[s].next;
  return s >= 0 ? cni_shape_id(model, s) : none;
}

// ---- joints ----

CNI_CREATE(cn_joint_create, CnJointDef, CnJointId, cni_model_add_joint)
CNI_SET(cn_joint_set, CnJointDef, CnJointId, cni_world_open_in_hook, cni_model_set_joint)
CNI_DESTROY(cn_joint_destroy, CnJointId, cni_model_remove_joint)
CNI_DEF(cn_joint_def, CnJointDef, CnJointId, cni_model_find_joint, joints)
CNI_NEXT(cn_world_next_joint, CnJointId, joint_ids)

// A frame of the world, seen from a body.
static CnPose seen_from(const CniModel *model, int32_t body, CnPose frame) {
  if (body < 0) return frame;
  return cn_pose_mul(cn_pose_inverse(cni_model_body_pose(model, body)), frame);
}

static CnStatus fill_frames(const char *call, const CnWorld *world, CnPose frame, CnJointDef *def) {
  int32_t a, b;
  if (!world) return cni_null_argument(call, "the world");
  if (!def) return cni_null_argument(call, "the definition");
  CNI_TRY(cni_def_check("joint", def, sizeof *def, CNI_TAG_JOINT));
  const CniModel *model = &world->now.model;
  if (!cn_vec3_finite(frame.position))
    return cni_invalid("%s: anchor must be finite (got %g, %g, %g)", call, frame.position.x,
                       frame.position.y, frame.position.z);
  CNI_TRY(cni_joint_bodies(model, def->body_a, def->body_b, &a, &b));
  def->frame_a = seen_from(model, a, frame);
  def->frame_b = seen_from(model, b, frame);
  return CN_OK;
}

CnStatus cn_joint_def_at(const CnWorld *world, CnVec3 anchor, CnJointDef *def) {
  CNI_FLOATS;
  return fill_frames("cn_joint_def_at", world, (CnPose){anchor, CN_QUAT_ONE}, def);
}

CnStatus cn_joint_def_along(const CnWorld *world, CnVec3 anchor, CnVec3 axis, CnJointDef *def) {
  CNI_FLOATS;
  double length = cn_norm(axis);
  if (!(length > 0) || !isfinite(length))
    return cni_invalid("cn_joint_def_along: axis must have a direction (got %g, %g, %g)", axis.x,
                       axis.y, axis.z);
  return fill_frames("cn_joint_def_along", world, (CnPose){anchor, cni_joint_axes(axis)}, def);
}

CnStatus cn_joint_state(const CnWorld *world, CnJointId joint, CnJointState *state) {
  CNI_FLOATS;
  int32_t i;
  CNI_ASK(world, cni_model_find_joint, joint, state, &i);
  const CniModel *model = &world->now.model;
  const CniJoint *j = &model->joints[i];
  CniJointEnd a, b;
  CniJointPlace place;
  cni_joint_ends(j, model->pose, model->twist, &a, &b);
  cni_joint_between(j, &a, &b, &place);
  double per_second = j->impulse_step > 0 ? 1 / j->impulse_step : 0;
  CnQuat axes = cni_joint_sight(&j->def, &a, &b).at_a.rotation;
  state->force = cn_scale(per_second, j->total.velocity);
  state->torque = cn_scale(per_second, j->total.spin);
  state->local_force = cn_unrotate(axes, state->force);
  state->local_torque = cn_unrotate(axes, state->torque);
  cni_joint_errors(&place, &state->error, &state->turn_error);
  state->coordinate_count = place.axis_count;
  for (int32_t k = 0; k < place.axis_count; k++) {
    double x[CNI_PART_COUNT];
    for (int32_t p = 0; p < CNI_PART_COUNT; p++) x[p] = j->impulse.axes[k][p] + j->drift[k][p];
    state->coordinate[k] = place.axes[k].value;
    state->rate[k] = cni_joint_rate(&place, &place.axes[k], &a.twist, &b.twist);
    state->motor[k] = per_second * x[CNI_PART_MOTOR];
    state->limit[k] = per_second * (x[CNI_PART_LOWER] - x[CNI_PART_UPPER]);
    state->friction[k] = per_second * x[CNI_PART_FRICTION];
    state->spring[k] = per_second * x[CNI_PART_SPRING];
    state->armature[k] = per_second * x[CNI_PART_ARMATURE];
  }
  return CN_OK;
}
