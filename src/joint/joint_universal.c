// SPDX-License-Identifier: Apache-2.0
// Universal joint (Cardan, Hooke): a cross turns in frame a about x and in frame b about y, and stays
// at right angles. Shafts lie along z of their frames; where these coincide, the shafts are in line.
//
//     c(q) = p_b - p_a in the axes of a, and the angle by which x_a and y_b miss a right one
//     angle_a about x_a, angle_b about y_b:  frame b is frame a turned by angle_a about x and then by
//     angle_b about its own y
#include "core/math.h"
#include "joint/joint_private.h"

static void place(const CniJointSight *sight, CniJointPlace *p) {
  CniJointSlide slide = cni_joint_slide(sight, p);
  CnMat3 a = slide.axes, b = cn_qmat(sight->at_b.rotation);
  cni_joint_lock_along(p, &slide, CNI_X | CNI_Y | CNI_Z);
  CnVec3 across = cn_cross(b.y, a.x);
  double size = cn_norm(across);
  p->locked[p->locked_count++] = (CniJointRow){.angular = cn_scale(1 / cn_max(size, 1e-12), across),
                                               .value = cni_atan2(cn_dot(a.x, b.y), size),
                                               .turns = 1};
  // seen from b it is a that turns, the other way; its azimuth falls as the angle grows
  CniJointRow second = cni_joint_azimuth(b.y, b.x, a.x);
  second.value = -second.value;
  p->axes[p->axis_count++] = cni_joint_azimuth(a.x, a.y, b.y);
  p->axes[p->axis_count++] = second;
}

static const CniCoordinate coordinates[] = {{"angle_a", "rad"}, {"angle_b", "rad"}, {NULL, NULL}};

const CniJointKind cni_joint_universal = {
    .name = "universal",
    .summary = "two shafts along z with a cross between them: x of frame a, y of frame b",
    .locked_count = 4,
    .wraps = 1,
    .coordinates = coordinates,
    .place = place};
