// SPDX-License-Identifier: Apache-2.0
// Forces of joints that are no rows in the equations of motion: springs, soft limits, motors that are
// forces. The step problem has rows for all of them (joints.c).
#include "assembly/assembly_private.h"

void cni_joint_stage_ends(const CniJoint *joint, const CnPose *pose, const double *v,
                          CniJointEnd *a, CniJointEnd *b) {
  cni_joint_ends(joint, pose, (const CnTwist *)v, a, b);
  a->pose.rotation = cn_qunit(a->pose.rotation);
  if (!b->ground) b->pose.rotation = cn_qunit(b->pose.rotation);
}

int cni_joint_is_spring(const CniJoint *joint) {
  return joint->def.stiffness > 0 || joint->def.damping > 0;
}

int cni_axis_is_soft(const CnJointAxis *axis) {
  return axis->limit_stiffness > 0 || axis->limit_damping > 0;
}

// Does it push without rows: by springs, by motors that are forces, by soft limits?
int cni_joint_has_efforts(const CniJoint *joint) {
  int any = cni_joint_is_spring(joint);
  for (int32_t k = 0; k < cni_joint_coordinate_count(joint->def.kind); k++) {
    const CnJointAxis *axis = &joint->def.axes[k];
    any |= axis->stiffness > 0 || axis->damping > 0 || axis->drive == CN_DRIVE_EFFORT ||
           cni_joint_is_servo(axis) || cni_axis_is_soft(axis);
  }
  return any;
}

// What a soft limit pushes back: never less than nothing.
static double soft_limit(const CnJointAxis *axis, double depth, double rate) {
  return depth > 0 ? cn_max(0, axis->limit_stiffness * depth + axis->limit_damping * rate) : 0;
}

// Joints with stiffness or damping: -(k c + d c') along their rows; springs, soft limits and motors
// without rows on coordinates.
void cni_joint_efforts(const CniModel *model, const CniJoint *joint, double t, const CnPose *pose,
                       const double *v, CniJointPlace *place, CniJointImpulse *efforts) {
  CniJointEnd a, b;
  *efforts = (CniJointImpulse){0};
  cni_joint_stage_ends(joint, pose, v, &a, &b);
  cni_joint_between(joint, &a, &b, place);
  for (int32_t k = 0; cni_joint_is_spring(joint) && k < place->locked_count; k++) {
    const CniJointRow *row = &place->locked[k];
    double rate = cni_joint_rate(place, row, &a.twist, &b.twist);
    efforts->locked[k] = -(joint->def.stiffness * row->value + joint->def.damping * rate);
  }
  for (int32_t k = 0; k < place->axis_count; k++) {
    const CnJointAxis *axis = &joint->def.axes[k];
    const CniJointRow *row = &place->axes[k];
    double target[3], rate = cni_joint_rate(place, row, &a.twist, &b.twist);
    if (cni_axis_is_soft(axis)) {
      efforts->axes[k][CNI_PART_LOWER] = soft_limit(axis, axis->lower - row->value, -rate);
      efforts->axes[k][CNI_PART_UPPER] = soft_limit(axis, row->value - axis->upper, rate);
    }
    if (axis->stiffness > 0 || axis->damping > 0)
      efforts->axes[k][CNI_PART_SPRING] = cni_joint_spring(axis, place, row, &a.twist, &b.twist);
    if (axis->drive != CN_DRIVE_EFFORT && !cni_joint_is_servo(axis)) continue;
    cni_joint_target(model, axis, t, target);
    efforts->axes[k][CNI_PART_MOTOR] = cni_joint_push(axis, target, row->value, rate);
  }
}
