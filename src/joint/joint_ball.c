// SPDX-License-Identifier: Apache-2.0
// Ball joint: the origins of the two frames coincide.
//
//     c(q) = p_b - p_a,  rows along the world axes
//
// With world axes the impulse is a world vector, so it means the same in the next step however the
// bodies have turned.
#include "joint/joint_private.h"

static void place(const CniJointSight *sight, CniJointPlace *p) { cni_joint_lock_point(sight, p); }

static double curvature(const CniJointSight *sight, const CniJointPlace *p, int32_t row,
                        const CnTwist *a, const CnTwist *b) {
  (void)sight;
  return cn_dot(p->locked[row].linear, cni_joint_bend(p, a, b));
}

static const CniField fields[] = {CNI_JOINT_STIFFNESS, CNI_JOINT_DAMPING, CNI_FIELDS_END};

const CniJointKind cni_joint_ball = {.name = "ball",
                                     .summary = "the origins of the two frames coincide",
                                     .locked_count = 3,
                                     .point = 1,
                                     .fields = fields,
                                     .place = place,
                                     .curvature = curvature};
