// SPDX-License-Identifier: Apache-2.0
// The public functions of bodies: handles and arguments checked, then the model.
#include "world/doors.h"

CNI_CREATE(cn_body_create, CnBodyDef, CnBodyId, cni_model_add_body)
CNI_NEXT(cn_world_next_body, CnBodyId, body_ids)

CnStatus cn_body_destroy(CnWorld *world, CnBodyId body) {
  CNI_FLOATS;
  CNI_TRY(cni_world_open(world, "cn_body_destroy"));
  CNI_TRY(cni_contacts_name(world));
  if (world->now.engine.solved && !world->now.engine.groups_named)
    CNI_TRY(cni_problem_map_reserve(&world->now));
  cni_problem_map_name(&world->now);
  return cni_model_remove_body(&world->now.model, body);
}

// A question about a body: world, handle and the place for the result.
static CnStatus ask(const CnWorld *world, const char *call, CnBodyId body, const void *result,
                    int32_t *index) {
  if (!world) return cni_null_argument(call, "the world");
  if (!result) return cni_null_argument(call, "the result pointer");
  return cni_model_find_body(&world->now.model, body, index);
}

CnStatus cn_body_pose(const CnWorld *world, CnBodyId body, CnPose *pose) {
  CNI_FLOATS;
  int32_t i;
  if (pose) *pose = CN_POSE_ONE;
  CNI_TRY(ask(world, "cn_body_pose", body, pose, &i));
  *pose = cni_model_body_pose(&world->now.model, i);
  return CN_OK;
}

CnStatus cn_body_twist(const CnWorld *world, CnBodyId body, CnTwist *twist) {
  CNI_FLOATS;
  int32_t i;
  if (twist) *twist = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
  CNI_TRY(ask(world, "cn_body_twist", body, twist, &i));
  *twist = cni_model_body_twist(&world->now.model, i);
  return CN_OK;
}

CnStatus cn_body_set_pose(CnWorld *world, CnBodyId body, const CnPose *pose) {
  CNI_FLOATS;
  int32_t i;
  CNI_TRY(cni_world_open_in_hook(world, "cn_body_set_pose"));
  CNI_TRY(ask(world, "cn_body_set_pose", body, world, &i));
  if (!pose) return cni_null_argument("cn_body_set_pose", "the pose");
  CnPose checked = *pose;
  CNI_TRY(cni_check_pose("cn_body_set_pose: pose", &checked));
  CNI_TRY(cni_contacts_fix(world));
  cni_model_set_body_pose(&world->now.model, i, &checked);
  return CN_OK;
}

CnStatus cn_body_set_twist(CnWorld *world, CnBodyId body, const CnTwist *twist) {
  CNI_FLOATS;
  int32_t i;
  CNI_TRY(cni_world_open_in_hook(world, "cn_body_set_twist"));
  CNI_TRY(ask(world, "cn_body_set_twist", body, world, &i));
  if (!twist) return cni_null_argument("cn_body_set_twist", "the twist");
  CNI_TRY(cni_check_twist("cn_body_set_twist: twist", twist));
  CniModel *model = &world->now.model;
  int moves = cn_norm2(twist->velocity) != 0 || cn_norm2(twist->spin) != 0;
  if (model->bodies[i].kind == CN_BODY_FIXED && moves) {
    char label[CNI_NAME_SIZE + 16];
    cni_model_body_label(model, i, label);
    return cni_invalid("cn_body_set_twist: %s is fixed", label);
  }
  cni_model_set_body_twist(model, i, twist);
  return CN_OK;
}

// Add to a body's load. A sum that is not finite is refused; bodies that are not dynamic do not
// feel forces.
static CnStatus add_load(CnWorld *world, const char *call, int32_t i, CnVec3 force, CnVec3 torque) {
  CniModel *model = &world->now.model;
  CnTwist load = cni_model_load(model, i);
  load.velocity = cn_add(load.velocity, force);
  load.spin = cn_add(load.spin, torque);
  CNI_TRY(cni_check_vec3(call, load.velocity));
  CNI_TRY(cni_check_vec3(call, load.spin));
  if (model->bodies[i].kind != CN_BODY_DYNAMIC) return CN_OK;
  CNI_TRY(cni_model_loads(model));
  model->load[i] = load;
  return CN_OK;
}

CnStatus cn_body_apply_force(CnWorld *world, CnBodyId body, CnVec3 force, CnVec3 point) {
  CNI_FLOATS;
  int32_t i;
  CNI_TRY(cni_world_open_in_hook(world, "cn_body_apply_force"));
  CNI_TRY(ask(world, "cn_body_apply_force", body, world, &i));
  CNI_TRY(cni_check_vec3("cn_body_apply_force: force", force));
  CNI_TRY(cni_check_vec3("cn_body_apply_force: point", point));
  CnVec3 arm = cn_sub(point, world->now.model.pose[i].position);
  return add_load(world, "cn_body_apply_force: the sum of loads", i, force, cn_cross(arm, force));
}

CnStatus cn_body_apply_torque(CnWorld *world, CnBodyId body, CnVec3 torque) {
  CNI_FLOATS;
  int32_t i;
  CNI_TRY(cni_world_open_in_hook(world, "cn_body_apply_torque"));
  CNI_TRY(ask(world, "cn_body_apply_torque", body, world, &i));
  CNI_TRY(cni_check_vec3("cn_body_apply_torque: torque", torque));
  return add_load(world, "cn_body_apply_torque: the sum of loads", i, CN_VEC3_ZERO, torque);
}

CnStatus cn_body_info(const CnWorld *world, CnBodyId body, CnBodyInfo *info) {
  CNI_FLOATS;
  int32_t i;
  if (info) *info = (CnBodyInfo){.com = CN_POSE_ONE, .name = ""};
  CNI_TRY(ask(world, "cn_body_info", body, info, &i));
  const CniModel *model = &world->now.model;
  const CniBody *b = &model->bodies[i];
  *info = (CnBodyInfo){.kind = b->kind,
                       .mass = model->mass[i].mass,
                       .com = cni_body_com(b),
                       .inertia = cni_model_principal(model, i),
                       .name = cni_body_name(b),
                       .user_data = b->user_data,
                       .shape_count = cni_model_shape_count(model, i),
                       .continuous = b->continuous};
  return CN_OK;
}
