// SPDX-License-Identifier: Apache-2.0
// Torsion spring and damper between the two frames, about z, with an angle at which it is free:
//
//     torque on b:  -(k (angle - rest) + d angle')  about z
//
// The angle is that of a revolute joint, with its whole turns.
#include "force/force.h"

static void place(const CniForceSight *sight, CniForcePlace *p) {
  CniJointRow row = cni_joint_twist(&sight->at);
  row.value = cni_joint_nearest(row.value, sight->near) - sight->def->rest_angle;
  row.wraps = 0;
  cni_force_row(p, row, sight->def->torsion_stiffness, sight->def->torsion_damping);
}

static const CniField fields[] = {
    CNI_FORCE_FIELD(REAL, torsion_stiffness, NOT_NEGATIVE, "N m/rad", "of a torsion spring"),
    CNI_FORCE_FIELD(REAL, torsion_damping, NOT_NEGATIVE, "N m s/rad", "of a torsion damper"),
    CNI_FORCE_FIELD(REAL, rest_angle, ANY, "rad", "where a torsion spring is free"),
    CNI_FIELDS_END};

const CniForceKind cni_force_torsion = {.name = "torsion",
                                        .summary = "spring and damper about z of the two frames",
                                        .row_count = 1,
                                        .wraps = 1,
                                        .fields = fields,
                                        .place = place};
