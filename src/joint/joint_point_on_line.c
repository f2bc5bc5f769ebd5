// SPDX-License-Identifier: Apache-2.0
// Point on a line: the origin of frame b stays on z of frame a; b turns as it likes.
//
//     c(q) = x_a . d, y_a . d with d = p_b - p_a,  travel = z_a . d
#include "joint/joint_private.h"

static void place(const CniJointSight *sight, CniJointPlace *p) {
  CniJointSlide slide = cni_joint_slide(sight, p);
  cni_joint_lock_along(p, &slide, CNI_X | CNI_Y);
  cni_joint_free_along(p, &slide, CNI_Z);
}

static const CniCoordinate coordinates[] = {{"travel", "m"}, {NULL, NULL}};

const CniJointKind cni_joint_point_on_line = {.name = "point_on_line",
                                              .summary =
                                                  "the origin of frame b stays on z of frame a",
                                              .locked_count = 2,
                                              .coordinates = coordinates,
                                              .place = place,
                                              .curvature = cni_joint_fixed_curvature};
