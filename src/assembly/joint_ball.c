// SPDX-License-Identifier: Apache-2.0
// Ball joint: the origins of the two frames coincide.
//
//     c(q) = p_b - p_a,  rows along the world axes
//
// With world axes as the block's frame the impulse is a world vector, so it means the same in the
// next step however the bodies have turned.
#include "assembly/assembly_private.h"

void cni_joint_ball_rows(const CniModel *model, const CnPose *pose, const CniJoint *joint,
                         CniJointRows *rows) {
  (void)model;
  CnVec3 c = cni_joint_anchors(pose, joint, rows);
  rows->dim = 3;
  rows->normal = cn_vec3(1, 0, 0);
  rows->tangent = cn_vec3(0, 1, 0);
  rows->error[0] = c.x;
  rows->error[1] = c.y;
  rows->error[2] = c.z;
}
