// SPDX-License-Identifier: Apache-2.0
// Point on a plane: the origin of frame b stays in the plane z = 0 of frame a; b turns as it likes.
//
//     c(q) = z_a . d with d = p_b - p_a,  x = x_a . d,  y = y_a . d
#include "joint/joint_private.h"

static void place(const CniJointSight *sight, CniJointPlace *p) {
  CniJointSlide slide = cni_joint_slide(sight, p);
  cni_joint_lock_along(p, &slide, CNI_Z);
  cni_joint_free_along(p, &slide, CNI_X | CNI_Y);
}

static const CniCoordinate coordinates[] = {{"x", "m"}, {"y", "m"}, {NULL, NULL}};

const CniJointKind cni_joint_point_on_plane = {
    .name = "point_on_plane",
    .summary = "the origin of frame b stays in the plane of x and y of frame a",
    .locked_count = 1,
    .coordinates = coordinates,
    .place = place,
    .curvature = cni_joint_fixed_curvature};
