// SPDX-License-Identifier: Apache-2.0
// Spherical joint: a ball joint whose turns can be limited, driven, sprung and braked.
//
//     c(q) = p_b - p_a in the axes of a
//     swing = angle between z_a and z_b, 0 to pi;  twist = what is left: turn about z
//
// A limit on the swing is a cone; its row has no direction of its own where z_a and z_b coincide, and
// takes x of a.
#include "joint/joint_private.h"

static void lock(const CniJointSight *sight, CniJointPlace *p) {
  CniJointSlide slide = cni_joint_slide(sight, p);
  cni_joint_lock_along(p, &slide, CNI_X | CNI_Y | CNI_Z);
}

static void place(const CniJointSight *sight, CniJointPlace *p) {
  lock(sight, p);
  p->axes[p->axis_count++] = cni_joint_swing(sight);
  p->axes[p->axis_count++] = cni_joint_twist(sight);
}

static const CniCoordinate coordinates[] = {{"swing", "rad"}, {"twist", "rad"}, {NULL, NULL}};

const CniJointKind cni_joint_spherical = {
    .name = "spherical",
    .summary = "a ball joint with the angle between the two z and the turn about z",
    .locked_count = 3,
    .wraps = 1,
    .coordinates = coordinates,
    .place = place,
    .lock = lock,
    .curvature = cni_joint_fixed_curvature};
