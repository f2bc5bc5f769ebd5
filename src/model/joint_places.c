// SPDX-License-Identifier: Apache-2.0
// Where joints are: their frames seen from the centres of mass, their two ends at given poses and twists, and
// angles with their whole turns from step to step.
#include "core/math.h"
#include "model/model_private.h"

CnPose cni_local_frame(const CniModel *model, int32_t body, CnPose frame) {
  if (body < 0) return frame;
  CnPose com = cni_body_com(&model->bodies[body]);
  return (CnPose){cn_pose_local(com, frame.position),
                  cn_qmul(cn_qconj(com.rotation), frame.rotation)};
}

void cni_joint_local_frames(const CniModel *model, CniJoint *joint) {
  joint->local_a = cni_local_frame(model, joint->body_a, joint->def.frame_a);
  joint->local_b = cni_local_frame(model, joint->body_b, joint->def.frame_b);
}

CniJointEnd cni_joint_end(const CnPose *pose, const CnTwist *twist, int32_t body, CnPose local) {
  if (body < 0) return (CniJointEnd){.pose = CN_POSE_ONE, .local = local, .ground = 1};
  CniJointEnd end = {.pose = pose[body], .local = local};
  if (twist) end.twist = twist[body];
  return end;
}

void cni_joint_ends(const CniJoint *joint, const CnPose *pose, const CnTwist *twist, CniJointEnd *a,
                    CniJointEnd *b) {
  *a = cni_joint_end(pose, twist, joint->body_a, joint->local_a);
  *b = cni_joint_end(pose, twist, joint->body_b, joint->local_b);
  a->curve = joint->curves[0];
  b->curve = joint->curves[1];
  a->along = joint->near[0];
  b->along = joint->near[1];
}

void cni_joint_sight_at(const CniJoint *joint, const CnPose *pose, CniJointSight *s) {
  const CnPose *a = joint->body_a >= 0 ? &pose[joint->body_a] : NULL;
  const CnPose *b = joint->body_b >= 0 ? &pose[joint->body_b] : NULL;
  s->at_a = cni_joint_frame(a, &joint->local_a, &s->arm_a);
  s->at_b = cni_joint_frame(b, &joint->local_b, &s->arm_b);
  s->turn = cn_qmul(cn_qconj(s->at_a.rotation), s->at_b.rotation);
  s->def = &joint->def;
  for (int32_t i = 0; i < 2; i++) {
    s->curves[i] = joint->curves[i];
    s->along[i] = joint->near[i];
  }
}

void cni_joint_at(const CniJoint *joint, const CnPose *pose, CniJointPlace *place) {
  CniJointSight sight;
  cni_joint_sight_at(joint, pose, &sight);
  cni_joint_see(&sight, place);
  cni_joint_unroll(place, joint->near);
}

void cni_joint_locked_at(const CniJoint *joint, const CnPose *pose, CniJointPlace *place) {
  CniJointSight sight;
  cni_joint_sight_at(joint, pose, &sight);
  cni_joint_see_locked(&sight, place);
}

void cni_joint_between(const CniJoint *joint, const CniJointEnd *a, const CniJointEnd *b,
                       CniJointPlace *place) {
  cni_joint_place(&joint->def, a, b, place);
  cni_joint_unroll(place, joint->near);
}

// Limits that leave out all of the short way round tell the whole turns that an angle starts with.
void cni_joint_first_turns(const CniModel *model, CniJoint *joint) {
  int far = 0;
  if (joint->curves[0] || !cni_joint_kind(joint->def.kind)->wraps) return;
  for (int32_t k = 0; k < CN_JOINT_AXES; k++) {
    const CnJointAxis *axis = &joint->def.axes[k];
    double inside = cn_min(CNI_PI, 0.5 * (axis->upper - axis->lower));
    if (axis->near != 0)
      joint->near[k] = axis->near;
    else if (axis->lower > CNI_PI)
      joint->near[k] = axis->lower + inside;
    else if (axis->upper < -CNI_PI)
      joint->near[k] = axis->upper - inside;
    far |= joint->near[k] != 0;
  }
  if (!far) return;
  CniJointPlace place;
  cni_joint_at(joint, model->pose, &place);
  for (int32_t k = 0; k < CN_JOINT_AXES; k++)
    joint->near[k] = k < place.axis_count && place.axes[k].wraps == 1 ? place.axes[k].value : 0;
}

static void forces_follow(CniModel *model, double h) {
  for (int32_t i = 0; i < model->force_count; i++) {
    CniForce *force = &model->forces[i];
    CniForceAt at;
    if (!cni_force_kind(force->def.kind)->wraps) continue;
    cni_force_at(model, force, 0, model->pose, model->twist, &at);
    CniJointRow twist = cni_joint_twist(&at.sight.at);
    force->near =
        cni_joint_nearest(twist.value, force->near + h * cn_dot(twist.angular, at.sight.spin));
  }
}

// An angle is nearest to where its rate would have brought it, so that turns are not lost at any
// speed that stays.
//
// Of a hinge that was seen before it moved that is all there is to know: where its rate has brought it. Where it
// is the next look at it tells.
static void follow_hinge(CniModel *model, CniJoint *joint, double h, double from) {
  CnVec3 axis = cn_rotate(joint->local_a.rotation, cn_vec3(0, 0, 1)), w = CN_VEC3_ZERO;
  if (joint->body_a >= 0) axis = cn_rotate(model->pose[joint->body_a].rotation, axis);
  if (joint->body_a >= 0) w = cn_neg(model->twist[joint->body_a].spin);
  if (joint->body_b >= 0) w = cn_add(w, model->twist[joint->body_b].spin);
  joint->near[0] = from + h * cn_dot(axis, w);
}

void cni_turns_follow(CniModel *model, double h, const CniJointPlace *places) {
  forces_follow(model, h);
  for (int32_t i = 0; i < model->joint_count; i++) {
    CniJoint *joint = &model->joints[i];
    const CnTwist rest = {CN_VEC3_ZERO, CN_VEC3_ZERO};
    const CnTwist *a = joint->body_a >= 0 ? &model->twist[joint->body_a] : &rest;
    const CnTwist *b = joint->body_b >= 0 ? &model->twist[joint->body_b] : &rest;
    CniJointSight sight;
    CniJointPlace place;
    if (!cni_joint_kind(joint->def.kind)->wraps) continue;
    if (places && joint->def.kind == CN_JOINT_REVOLUTE) {
      follow_hinge(model, joint, h, places[i].axes[0].value);
      continue;
    }
    cni_joint_sight_at(joint, model->pose, &sight);
    cni_joint_see_free(&sight, &place);
    for (int32_t k = 0; k < place.axis_count; k++)
      joint->near[k] += h * cni_joint_rate(&place, &place.axes[k], a, b);
    cni_joint_unroll(&place, joint->near);
    for (int32_t k = 0; k < place.axis_count; k++)
      joint->near[k] = place.axes[k].wraps ? place.axes[k].value : 0;
  }
}
