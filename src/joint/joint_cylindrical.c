// SPDX-License-Identifier: Apache-2.0
// Cylindrical joint: frame b slides along z of frame a and turns about it, as a shaft in a bush.
//
//     c(q) = x_a . d, y_a . d with d = p_b - p_a, and the tilt of z_b against z_a
//     travel = z_a . d,  angle = turn of b about z
#include "joint/joint_private.h"

static void place(const CniJointSight *sight, CniJointPlace *p) {
  CniJointSlide slide = cni_joint_slide(sight, p);
  cni_joint_lock_along(p, &slide, CNI_X | CNI_Y);
  cni_joint_lock_tilt(sight, p);
  cni_joint_free_along(p, &slide, CNI_Z);
  p->axes[p->axis_count++] = cni_joint_twist(sight);
}

static const CniCoordinate coordinates[] = {{"travel", "m"}, {"angle", "rad"}, {NULL, NULL}};

const CniJointKind cni_joint_cylindrical = {
    .name = "cylindrical",
    .summary = "frame b slides along z of frame a and turns about it",
    .locked_count = 4,
    .wraps = 1,
    .coordinates = coordinates,
    .place = place,
    .curvature = cni_joint_fixed_curvature};
