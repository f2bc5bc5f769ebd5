// SPDX-License-Identifier: Apache-2.0
// Prismatic joint: frame b slides along z of frame a and does not turn.
//
//     c(q) = x_a . d, y_a . d with d = p_b - p_a, and the rotation vector from a to b
//     travel = z_a . d
//
// x_a turns with a, so (x_a . d)' = x_a . (p_b' - p_a' - w_a x d): on the side of a the lever arm
// goes to b's point. z_a likewise.
#include "joint/joint_private.h"

static void place(const CniJointSight *sight, CniJointPlace *p) {
  CnVec3 d = cn_sub(sight->at_b.position, sight->at_a.position);
  CnMat3 axes = cn_qmat(sight->at_a.rotation);
  p->arm_a = cn_add(sight->arm_a, d);
  cni_joint_lock(p, axes.x, cn_dot(axes.x, d));
  cni_joint_lock(p, axes.y, cn_dot(axes.y, d));
  cni_joint_lock_turn(sight, p);
  cni_joint_free(p, axes.z, cn_dot(axes.z, d));
}

static const CniCoordinate coordinates[] = {{"travel", "m"}, {NULL, NULL}};

const CniJointKind cni_joint_prismatic = {.name = "prismatic",
                                          .summary = "frame b slides along z of frame a",
                                          .locked_count = 5,
                                          .coordinates = coordinates,
                                          .place = place};
