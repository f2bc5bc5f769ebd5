// SPDX-License-Identifier: Apache-2.0
// Weld: the two frames coincide, origin and axes; two bodies move as one.
//
//     c(q) = p_b - p_a in the axes of a, and the rotation vector from a to b
//
// Two welded bodies tell what one body with two shapes cannot: the force and the bending moment
// between them.
#include "joint/joint_private.h"

static void place(const CniJointSight *sight, CniJointPlace *p) {
  CniJointSlide slide = cni_joint_slide(sight, p);
  cni_joint_lock_along(p, &slide, CNI_X | CNI_Y | CNI_Z);
  cni_joint_lock_turn(sight, p);
}

const CniJointKind cni_joint_weld = {.name = "weld",
                                     .summary = "the two frames coincide",
                                     .locked_count = 6,
                                     .place = place,
                                     .lock_turn = cni_joint_lock_turn};
