// SPDX-License-Identifier: Apache-2.0
// Distance joint: the origins of the two frames keep a distance L.
//
//     c(q) = |p_b - p_a| - L,  one row along the line from a to b
//
// Where the two points coincide the line has no direction; a fixed one is taken, which lets the
// joint push them apart if L > 0.
#include "assembly/assembly_private.h"

void cni_joint_distance_rows(const CniModel *model, const CnPose *pose, const CniJoint *joint,
                             CniJointRows *rows) {
  (void)model;
  CnVec3 line = cni_joint_anchors(pose, joint, rows);
  CnVec3 t2;
  rows->dim = 1;
  rows->normal = cn_unit_or(line, cn_vec3(1, 0, 0));
  cn_tangents(rows->normal, &rows->tangent, &t2);
  rows->error[0] = cn_norm(line) - joint->def.distance;
  rows->error[1] = rows->error[2] = 0;
}
