// SPDX-License-Identifier: Apache-2.0
// Screw joint: frame b turns about z of frame a and travels with the turn, `lead` a whole one.
//
//     c(q) = x_a . d, y_a . d, z_a . d - lead angle/(2 pi) with d = p_b - p_a, and the tilt of z_b
//     angle = turn of b about z
//
// The travel tells the whole turns of the angle.
#include "core/math.h"
#include "joint/joint_private.h"

static const CniField fields[] = {CNI_JOINT_LEAD, CNI_FIELDS_END};

static void place(const CniJointSight *sight, CniJointPlace *p) {
  CniJointSlide slide = cni_joint_slide(sight, p);
  double per_radian = sight->def->lead / (2 * CNI_PI), travel = cn_dot(slide.axes.z, slide.d);
  CniJointRow twist = cni_joint_twist(sight);
  if (per_radian != 0) {
    twist.value = cni_joint_nearest(twist.value, travel / per_radian);
    twist.wraps = 0;
  }
  cni_joint_lock_along(p, &slide, CNI_X | CNI_Y);
  p->locked[p->locked_count++] = (CniJointRow){.linear = slide.axes.z,
                                               .angular = cn_scale(-per_radian, twist.angular),
                                               .value = travel - per_radian * twist.value};
  cni_joint_lock_tilt(sight, p);
  p->axes[p->axis_count++] = twist;
}

static const CniCoordinate coordinates[] = {{"angle", "rad"}, {NULL, NULL}};

const CniJointKind cni_joint_screw = {
    .name = "screw",
    .summary = "frame b turns about z of frame a and travels with the turn",
    .locked_count = 5,
    .wraps = 1,
    .coordinates = coordinates,
    .fields = fields,
    .place = place};
