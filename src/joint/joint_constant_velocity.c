// SPDX-License-Identifier: Apache-2.0
// Constant-velocity joint: two shafts along z of their frames meet in a point and turn alike at any
// angle between them. The rotation from a to b is the shortest one that takes z_a to z_b: nothing of
// it is a turn about z.
//
//     c(q) = p_b - p_a in the axes of a, and the twist
//     bend_x, bend_y = rotation vector that takes z_a to z_b
#include "joint/joint_private.h"

static void place(const CniJointSight *sight, CniJointPlace *p) {
  CniJointSlide slide = cni_joint_slide(sight, p);
  CniJointRow twist = cni_joint_twist(sight);
  cni_joint_lock_along(p, &slide, CNI_X | CNI_Y | CNI_Z);
  twist.wraps = 0;
  p->locked[p->locked_count++] = twist;
  cni_joint_tilt(sight, &p->axes[p->axis_count]);
  p->axis_count += 2;
}

static const CniCoordinate coordinates[] = {{"bend_x", "rad"}, {"bend_y", "rad"}, {NULL, NULL}};

const CniJointKind cni_joint_constant_velocity = {
    .name = "constant_velocity",
    .summary = "shafts along z that meet in a point turn alike",
    .locked_count = 4,
    .coordinates = coordinates,
    .place = place};
