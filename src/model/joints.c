// SPDX-License-Identifier: Apache-2.0
// Joints between two bodies, or a body and the ground. Each body has a list of its joints, linked
// through next_a where the body is the joint's a and through next_b where it is b; the ground has
// no list.
#include "core/error.h"
#include "core/memory.h"
#include "model/model_private.h"

CnJointDef cn_joint_def_default(CnJointKind kind) {
  return (CnJointDef){
      .kind = kind, .frame_a = CN_POSE_ONE, .frame_b = CN_POSE_ONE, .tag = CNI_TAG_JOINT};
}

CnStatus cni_joint_def_check(CnJointDef *def) {
  if (def->tag != CNI_TAG_JOINT)
    return cni_error(CN_INVALID_ARGUMENT,
                     "joint: the definition was not made by cn_joint_def_default (tag %u)",
                     (unsigned)def->tag);
  if ((uint32_t)def->kind >= CN_JOINT_KIND_COUNT)
    return cni_error(CN_INVALID_ARGUMENT, "joint: kind %d is none", (int)def->kind);
  CNI_TRY(cni_check_pose("joint: frame_a", &def->frame_a));
  CNI_TRY(cni_check_pose("joint: frame_b", &def->frame_b));
  CNI_TRY(cni_check_not_negative("joint: distance", def->distance));
  CNI_TRY(cni_check_not_negative("joint: stiffness", def->stiffness));
  return cni_check_not_negative("joint: damping", def->damping);
}

// The two bodies of a joint; b is -1 for the ground.
static CnStatus find_bodies(const CniModel *model, const CnJointDef *def, int32_t *a, int32_t *b) {
  *b = -1;
  CNI_TRY(cni_model_find_body(model, def->body_a, a));
  if (def->body_b.slot != 0 || def->body_b.generation != 0)
    CNI_TRY(cni_model_find_body(model, def->body_b, b));
  char label[CNI_NAME_SIZE + 16];
  cni_model_body_label(model, *a, label);
  if (*a == *b)
    return cni_error(CN_INVALID_ARGUMENT, "joint: body_a and body_b are both %s", label);
  int dynamic = model->bodies[*a].kind == CN_BODY_DYNAMIC ||
                (*b >= 0 && model->bodies[*b].kind == CN_BODY_DYNAMIC);
  if (!dynamic)
    return cni_error(CN_INVALID_ARGUMENT, "joint: neither %s nor the other side is dynamic", label);
  return CN_OK;
}

// Distance of the two anchors now, for a distance joint that was given none.
static CnStatus fill_distance(const CniModel *model, int32_t a, int32_t b, CnJointDef *def) {
  if (def->kind != CN_JOINT_DISTANCE || def->distance > 0) return CN_OK;
  CnVec3 from = cn_pose_point(cni_model_body_pose(model, a), def->frame_a.position);
  CnVec3 to = def->frame_b.position;
  if (b >= 0) to = cn_pose_point(cni_model_body_pose(model, b), to);
  def->distance = cn_norm(cn_sub(to, from));
  if (def->distance > 0 && isfinite(def->distance)) return CN_OK;
  return cni_error(CN_INVALID_ARGUMENT,
                   "joint: distance 0 takes the present distance, which is %g: give one, or use a "
                   "ball joint",
                   def->distance);
}

void cni_joint_local_anchors(const CniModel *model, CniJoint *joint) {
  joint->local_a =
      cn_pose_local(cni_body_com(&model->bodies[joint->body_a]), joint->def.frame_a.position);
  joint->local_b = joint->def.frame_b.position;
  if (joint->body_b >= 0)
    joint->local_b =
        cn_pose_local(cni_body_com(&model->bodies[joint->body_b]), joint->def.frame_b.position);
}

CnStatus cni_model_add_joint(CniModel *model, const CnJointDef *given, CnJointId *id) {
  *id = (CnJointId){0, 0};
  CniJoint joint = {.def = *given, .next_a = -1, .next_b = -1};
  CNI_TRY(cni_joint_def_check(&joint.def));
  CNI_TRY(find_bodies(model, &joint.def, &joint.body_a, &joint.body_b));
  CNI_TRY(fill_distance(model, joint.body_a, joint.body_b, &joint.def));
  if (model->joint_count == INT32_MAX)
    return cni_error(CN_NO_MEMORY, "a world holds at most %d joints", INT32_MAX);
  CNI_TRY(cni_array_reserve(&model->allocator, (void **)&model->joints, &model->joint_capacity,
                            model->joint_count, model->joint_count + 1, sizeof(CniJoint)));
  CNI_TRY(cni_ids_reserve(&model->joint_ids, &model->allocator));

  int32_t i = model->joint_count++;
  cni_ids_take(&model->joint_ids, i, &joint.slot, &joint.generation);
  joint.kind = joint.def.kind;
  joint.def.name = NULL;
  cni_name_copy(joint.name, given->name);
  cni_joint_local_anchors(model, &joint);

  // to the front of both lists
  CniBody *a = &model->bodies[joint.body_a];
  joint.next_a = a->first_joint;
  a->first_joint = i;
  if (joint.body_b >= 0) {
    CniBody *b = &model->bodies[joint.body_b];
    joint.next_b = b->first_joint;
    b->first_joint = i;
  }
  model->joints[i] = joint;
  *id = (CnJointId){joint.slot, joint.generation};
  return CN_OK;
}

// The link of a body's list that holds joint i.
static int32_t *link_to(CniModel *model, int32_t body, int32_t i) {
  int32_t *link = &model->bodies[body].first_joint;
  while (*link != i) {
    CniJoint *joint = &model->joints[*link];
    link = joint->body_a == body ? &joint->next_a : &joint->next_b;
  }
  return link;
}

void cni_joint_drop(CniModel *model, int32_t i) {
  CniJoint *joint = &model->joints[i];
  *link_to(model, joint->body_a, i) = joint->next_a;
  if (joint->body_b >= 0) *link_to(model, joint->body_b, i) = joint->next_b;
  cni_ids_free(&model->joint_ids, joint->slot);

  // the last joint moves into the hole
  int32_t last = --model->joint_count;
  if (i == last) return;
  const CniJoint *moved = &model->joints[last];
  *link_to(model, moved->body_a, last) = i;
  if (moved->body_b >= 0) *link_to(model, moved->body_b, last) = i;
  model->joints[i] = *moved;
  cni_ids_move(&model->joint_ids, moved->slot, i);
}

CnStatus cni_model_remove_joint(CniModel *model, CnJointId id) {
  int32_t i;
  CNI_TRY(cni_model_find_joint(model, id, &i));
  cni_joint_drop(model, i);
  return CN_OK;
}

void cni_joints_body_moved(CniModel *model, int32_t from, int32_t to) {
  for (int32_t i = model->bodies[to].first_joint; i >= 0;) {
    CniJoint *joint = &model->joints[i];
    int is_a = joint->body_a == from;
    i = is_a ? joint->next_a : joint->next_b;
    *(is_a ? &joint->body_a : &joint->body_b) = to;
  }
}
