// SPDX-License-Identifier: Apache-2.0
// Joints between two bodies, or a body and the ground. Each body has a list of its joints, linked
// through next_a where the body is the joint's a and through next_b where it is b; the ground has
// no list.
#include <string.h>

#include "model/model_private.h"

static int is_none(CnBodyId id) { return id.slot == 0 && id.generation == 0; }

CnStatus cni_joint_bodies(const CniModel *model, CnBodyId body_a, CnBodyId body_b, int32_t *a,
                          int32_t *b) {
  *a = *b = -1;
  if (!is_none(body_a) || is_none(body_b)) CNI_TRY(cni_model_find_body(model, body_a, a));
  return is_none(body_b) ? CN_OK : cni_model_find_body(model, body_b, b);
}

static int is_dynamic(const CniModel *model, int32_t body) {
  return body >= 0 && model->bodies[body].kind == CN_BODY_DYNAMIC;
}

CnStatus cni_find_pair(const CniModel *model, const char *sort, CnBodyId body_a, CnBodyId body_b,
                       int32_t *a, int32_t *b) {
  CNI_TRY(cni_joint_bodies(model, body_a, body_b, a, b));
  char label[CNI_NAME_SIZE + 16];
  cni_model_body_label(model, *a >= 0 ? *a : *b, label);
  if (*a == *b) return cni_invalid("%s: body_a and body_b are both %s", sort, label);
  int dynamic = is_dynamic(model, *a) || is_dynamic(model, *b);
  if (!dynamic) return cni_invalid("%s: neither %s nor the other side is dynamic", sort, label);
  return CN_OK;
}

// What the kind takes from the present poses of the body frames, such as a distance not given.
CnStatus cni_joint_fit(const CniModel *model, CniJoint *joint) {
  const CniJointKind *kind = cni_joint_kind(joint->def.kind);
  if (!kind->fit) return CN_OK;
  CniJointEnd a = {.local = joint->def.frame_a, .ground = joint->body_a < 0};
  CniJointEnd b = {.local = joint->def.frame_b, .ground = joint->body_b < 0};
  if (!a.ground) a.pose = cni_model_body_pose(model, joint->body_a);
  if (!b.ground) b.pose = cni_model_body_pose(model, joint->body_b);
  a.curve = joint->curves[0];
  b.curve = joint->curves[1];
  a.along = b.along = NAN;
  CniJointSight sight = cni_joint_sight(&joint->def, &a, &b);
  return kind->fit(&sight, &joint->def);
}

// What a motor follows is there.
CnStatus cni_joint_check_functions(const CniModel *model, const CnJointDef *def) {
  int32_t i;
  for (int32_t k = 0; k < CN_JOINT_AXES; k++) {
    CnFunctionId id = def->axes[k].motor_function;
    if (id.slot != 0 || id.generation != 0) CNI_TRY(cni_model_find_function(model, id, &i));
  }
  return CN_OK;
}

// A body that stops somewhere within a step would leave its joints open.
static CnStatus check_continuous(const CniModel *model, int32_t body) {
  char label[CNI_NAME_SIZE + 16];
  if (body < 0 || !model->bodies[body].continuous) return CN_OK;
  cni_model_body_label(model, body, label);
  return cni_invalid("joint: %s is continuous and cannot have joints", label);
}

CnStatus cni_model_add_joint(CniModel *model, const CnJointDef *given, CnJointId *id) {
  *id = (CnJointId){0, 0};
  CNI_TRY(cni_def_check("joint", given, sizeof *given, CNI_TAG_JOINT));
  CniJoint joint = {.def = *given, .next_a = -1, .next_b = -1};
  CNI_TRY(cni_joint_def_check(&joint.def));
  CNI_TRY(
      cni_find_pair(model, "joint", given->body_a, given->body_b, &joint.body_a, &joint.body_b));
  CNI_TRY(cni_joint_check_functions(model, &joint.def));
  CNI_TRY(check_continuous(model, joint.body_a));
  CNI_TRY(check_continuous(model, joint.body_b));
  CNI_TRY(cni_joint_find_curves(model, &joint));
  CNI_TRY(cni_joint_fit(model, &joint));
  if (model->joint_count == INT32_MAX)
    return cni_error(CN_NO_MEMORY, "a world holds at most %d joints", INT32_MAX);
  CNI_TRY(CNI_RESERVE(&model->allocator, model->joints, model->joint_capacity, model->joint_count,
                      model->joint_count + 1));
  CNI_TRY(cni_ids_reserve(&model->joint_ids, &model->allocator));

  int32_t i = model->joint_count++;
  model->edits++;
  cni_ids_take(&model->joint_ids, i, &joint.slot, &joint.generation);
  joint.def.name = NULL;
  cni_name_copy(joint.name, given->name);
  cni_joint_local_frames(model, &joint);
  cni_joint_look_along(model, &joint);
  cni_joint_first_turns(model, &joint);
  cni_joint_use_curves(&joint, 1);

  // to the front of both lists
  for (int32_t side = 0; side < 2; side++) {
    int32_t body = side ? joint.body_b : joint.body_a;
    if (body < 0) continue;
    *(side ? &joint.next_b : &joint.next_a) = model->bodies[body].first_joint;
    model->bodies[body].first_joint = i;
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
  model->edits++;
  cni_couplings_drop(model, (CnJointId){joint->slot, joint->generation});
  cni_joint_use_curves(joint, -1);
  if (joint->body_a >= 0) *link_to(model, joint->body_a, i) = joint->next_a;
  if (joint->body_b >= 0) *link_to(model, joint->body_b, i) = joint->next_b;
  cni_ids_free(&model->joint_ids, joint->slot);

  // the last joint moves into the hole
  int32_t last = --model->joint_count;
  if (i == last) return;
  const CniJoint *moved = &model->joints[last];
  if (moved->body_a >= 0) *link_to(model, moved->body_a, last) = i;
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
