// SPDX-License-Identifier: Apache-2.0
// Revolute joint (hinge): frame b turns about z of frame a, which is its own z too.
//
//     c(q) = p_b - p_a in the axes of a, and the tilt of z_b against z_a
//     angle = turn of b about z, whole turns counted
#include "joint/joint_private.h"

static void lock(const CniJointSight *sight, CniJointPlace *p) {
  CniJointSlide slide = cni_joint_slide(sight, p);
  cni_joint_lock_along(p, &slide, CNI_X | CNI_Y | CNI_Z);
  cni_joint_lock_tilt(sight, p);
}

static void turn(const CniJointSight *sight, CniJointPlace *p) {
  p->axes[p->axis_count++] = cni_joint_twist(sight);
}

static void place(const CniJointSight *sight, CniJointPlace *p) {
  lock(sight, p);
  turn(sight, p);
}

static const CniCoordinate coordinates[] = {{"angle", "rad"}, {NULL, NULL}};

const CniJointKind cni_joint_revolute = {.name = "revolute",
                                         .summary = "frame b turns about z of frame a",
                                         .locked_count = 5,
                                         .wraps = 1,
                                         .coordinates = coordinates,
                                         .place = place,
                                         .lock = lock,
                                         .lock_turn = cni_joint_lock_tilt,
                                         .free = turn,
                                         .turn_values = cni_joint_tilt_values,
                                         .curvature = cni_joint_fixed_curvature};
