// SPDX-License-Identifier: Apache-2.0
// Weld: the two frames coincide, origin and axes; two bodies move as one.
//
//     c(q) = p_b - p_a in the axes of a, and the rotation vector from a to b
//
// Two welded bodies tell what one body with two shapes cannot: the force and the bending moment
// between them. As with the prismatic joint the lever arm on the side of a goes to b's point, so
// that force and reaction have one line of action even where the frames are apart.
#include "joint/joint_private.h"

static void place(const CniJointSight *sight, CniJointPlace *p) {
  CnVec3 d = cn_sub(sight->at_b.position, sight->at_a.position);
  CnMat3 axes = cn_qmat(sight->at_a.rotation);
  p->arm_a = cn_add(sight->arm_a, d);
  cni_joint_lock(p, axes.x, cn_dot(axes.x, d));
  cni_joint_lock(p, axes.y, cn_dot(axes.y, d));
  cni_joint_lock(p, axes.z, cn_dot(axes.z, d));
  cni_joint_lock_turn(sight, p);
}

const CniJointKind cni_joint_weld = {
    .name = "weld", .summary = "the two frames coincide", .locked_count = 6, .place = place};
