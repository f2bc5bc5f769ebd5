// SPDX-License-Identifier: Apache-2.0
// Generic joint: six coordinates and nothing locked. What holds is what acts on them: limits (equal
// ones leave no play), drives that keep a position, springs.
//
//     x, y, z = p_b - p_a in the axes of a;  rx, ry, rz = rotation vector from a to b, up to half a turn
#include "joint/joint_private.h"

static void place(const CniJointSight *sight, CniJointPlace *p) {
  CniJointSlide slide = cni_joint_slide(sight, p);
  cni_joint_free_along(p, &slide, CNI_X | CNI_Y | CNI_Z);
  cni_joint_turn(sight, &p->axes[p->axis_count]);
  p->axis_count += 3;
}

static const CniCoordinate coordinates[] = {
    {"x", "m"}, {"y", "m"}, {"z", "m"}, {"rx", "rad"}, {"ry", "rad"}, {"rz", "rad"}, {NULL, NULL}};

const CniJointKind cni_joint_generic = {.name = "generic",
                                        .summary =
                                            "six coordinates, each free until something acts on it",
                                        .locked_count = 0,
                                        .coordinates = coordinates,
                                        .place = place};
