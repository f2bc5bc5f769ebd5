// SPDX-License-Identifier: Apache-2.0
// Bushing: springs and dampers along and about the three axes of frame a, free where the two frames
// coincide. What a rubber mount is; stiffnesses of any size, also none.
//
//     on b, in the axes of a:  force -(k_i d_i + c_i d_i'),  torque -(k_i phi_i + c_i phi_i')
//
// with d from a's origin to b's and phi the rotation vector from a to b. The line of action goes
// through b's origin.
#include "force/force.h"

static void place(const CniForceSight *sight, CniForcePlace *p) {
  const CnForceDef *def = sight->def;
  CniJointSlide slide = cni_joint_slide(&sight->at, &p->rows);
  if (sight->ends[0].ground) p->rows.arm_a = CN_VEC3_ZERO;
  CniJointRow turns[3];
  cni_joint_turn(&sight->at, turns);
  const CnVec3 axes[3] = {slide.axes.x, slide.axes.y, slide.axes.z};
  const double along[3][2] = {{def->linear_stiffness.x, def->linear_damping.x},
                              {def->linear_stiffness.y, def->linear_damping.y},
                              {def->linear_stiffness.z, def->linear_damping.z}};
  const double about[3][2] = {{def->angular_stiffness.x, def->angular_damping.x},
                              {def->angular_stiffness.y, def->angular_damping.y},
                              {def->angular_stiffness.z, def->angular_damping.z}};
  for (int32_t i = 0; i < 3; i++) {
    CniJointRow row = {.linear = axes[i], .value = cn_dot(axes[i], slide.d)};
    cni_force_row(p, row, along[i][0], along[i][1]);
  }
  for (int32_t i = 0; i < 3; i++) cni_force_row(p, turns[i], about[i][0], about[i][1]);
}

static const CniField fields[] = {
    CNI_FORCE_FIELD(VEC3, linear_stiffness, NOT_NEGATIVE, "N/m", "along the axes of frame a"),
    CNI_FORCE_FIELD(VEC3, linear_damping, NOT_NEGATIVE, "N s/m", "along the axes of frame a"),
    CNI_FORCE_FIELD(VEC3, angular_stiffness, NOT_NEGATIVE, "N m/rad", "about the axes of frame a"),
    CNI_FORCE_FIELD(VEC3, angular_damping, NOT_NEGATIVE, "N m s/rad", "about the axes of frame a"),
    CNI_FIELDS_END};

const CniForceKind cni_force_bushing = {.name = "bushing",
                                        .summary = "springs and dampers along and about three axes",
                                        .row_count = 6,
                                        .fields = fields,
                                        .place = place};
