// SPDX-License-Identifier: Apache-2.0
// Prismatic joint: frame b slides along z of frame a and does not turn.
//
//     c(q) = x_a . d, y_a . d with d = p_b - p_a, and the rotation vector from a to b
//     travel = z_a . d
#include "joint/joint_private.h"

static void place(const CniJointSight *sight, CniJointPlace *p) {
  CniJointSlide slide = cni_joint_slide(sight, p);
  cni_joint_lock_along(p, &slide, CNI_X | CNI_Y);
  cni_joint_lock_turn(sight, p);
  cni_joint_free_along(p, &slide, CNI_Z);
}

static const CniCoordinate coordinates[] = {{"travel", "m"}, {NULL, NULL}};

const CniJointKind cni_joint_prismatic = {.name = "prismatic",
                                          .summary = "frame b slides along z of frame a",
                                          .locked_count = 5,
                                          .coordinates = coordinates,
                                          .place = place};
