// SPDX-License-Identifier: Apache-2.0
// Planar joint: frame b slides in the plane z = 0 of frame a and turns about its normal.
//
//     c(q) = z_a . d with d = p_b - p_a, and the tilt of z_b against z_a
//     x = x_a . d,  y = y_a . d,  angle = turn of b about z
#include "joint/joint_private.h"

static void place(const CniJointSight *sight, CniJointPlace *p) {
  CniJointSlide slide = cni_joint_slide(sight, p);
  cni_joint_lock_along(p, &slide, CNI_Z);
  cni_joint_lock_tilt(sight, p);
  cni_joint_free_along(p, &slide, CNI_X | CNI_Y);
  p->axes[p->axis_count++] = cni_joint_twist(sight);
}

static const CniCoordinate coordinates[] = {{"x", "m"}, {"y", "m"}, {"angle", "rad"}, {NULL, NULL}};

const CniJointKind cni_joint_planar = {
    .name = "planar",
    .summary = "frame b slides in the plane of x and y of frame a and turns in it",
    .locked_count = 3,
    .wraps = 1,
    .coordinates = coordinates,
    .place = place,
    .curvature = cni_joint_fixed_curvature};
