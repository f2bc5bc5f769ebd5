// SPDX-License-Identifier: Apache-2.0
// States of chosen bodies, and of all joints as plain numbers (<cairn/state.h>).
#include <cairn/state.h>

#include "world/doors.h"

CnStatus cn_bodies_get_state(const CnWorld *world, const CnBodyId *bodies, int32_t count,
                             CnPose *poses, CnTwist *twists) {
  CNI_FLOATS;
  const char *call = "cn_bodies_get_state";
  int32_t i;
  if (!world) return cni_null_argument(call, "the world");
  if (count < 0 || (count > 0 && !bodies)) return cni_null_argument(call, "the array of bodies");
  const CniModel *model = &world->now.model;
  for (int32_t k = 0; k < count; k++) CNI_TRY(cni_model_find_body(model, bodies[k], &i));
  for (int32_t k = 0; k < count; k++) {
    CNI_TRY(cni_model_find_body(model, bodies[k], &i));
    if (poses) poses[k] = cni_model_body_pose(model, i);
    if (twists) twists[k] = cni_model_body_twist(model, i);
  }
  return CN_OK;
}

// A failure is seen before anything is set.
static CnStatus check(const CniModel *model, CnBodyId body, const CnPose *pose,
                      const CnTwist *twist) {
  int32_t i;
  CnPose copy;
  CNI_TRY(cni_model_find_body(model, body, &i));
  if (pose) {
    copy = *pose;
    CNI_TRY(cni_check_pose("cn_bodies_set_state: pose", &copy));
  }
  if (!twist) return CN_OK;
  CNI_TRY(cni_check_twist("cn_bodies_set_state: twist", twist));
  int moves = cn_norm2(twist->velocity) != 0 || cn_norm2(twist->spin) != 0;
  char label[CNI_NAME_SIZE + 16];
  cni_model_body_label(model, i, label);
  if (model->bodies[i].kind == CN_BODY_FIXED && moves)
    return cni_invalid("cn_bodies_set_state: %s is fixed", label);
  return CN_OK;
}

CnStatus cn_bodies_set_state(CnWorld *world, const CnBodyId *bodies, int32_t count,
                             const CnPose *poses, const CnTwist *twists) {
  CNI_FLOATS;
  const char *call = "cn_bodies_set_state";
  CNI_TRY(cni_world_open_in_hook(world, call));
  if (count < 0 || (count > 0 && !bodies)) return cni_null_argument(call, "the array of bodies");
  CniModel *model = &world->now.model;
  for (int32_t k = 0; k < count; k++)
    CNI_TRY(check(model, bodies[k], poses ? &poses[k] : NULL, twists ? &twists[k] : NULL));
  if (poses) CNI_TRY(cni_contacts_fix(world));
  for (int32_t k = 0; k < count; k++) {
    int32_t i;
    CNI_TRY(cni_model_find_body(model, bodies[k], &i));
    if (poses) {
      CnPose pose = poses[k];
      CNI_TRY(cni_check_pose(call, &pose)); // of length one
      cni_model_set_body_pose(model, i, &pose);
    }
    if (twists) cni_model_set_body_twist(model, i, &twists[k]);
  }
  return CN_OK;
}

CnStatus cn_world_joint_coordinates(const CnWorld *world, double *coordinates, double *rates,
                                    int32_t capacity, int32_t *count) {
  CNI_FLOATS;
  const char *call = "cn_world_joint_coordinates";
  if (!count) return cni_null_argument(call, "the count");
  *count = 0;
  if (!world) return cni_null_argument(call, "the world");
  if (capacity < 0) return cni_invalid("%s: room for %d", call, (int)capacity);
  CnJointId joint = {0, 0};
  while (joint = cn_world_next_joint(world, joint), joint.slot) {
    CnJointState state;
    CNI_TRY(cn_joint_state(world, joint, &state));
    for (int32_t k = 0; k < state.coordinate_count; k++, ++*count) {
      if (*count >= capacity) continue;
      if (coordinates) coordinates[*count] = state.coordinate[k];
      if (rates) rates[*count] = state.rate[k];
    }
  }
  return CN_OK;
}
