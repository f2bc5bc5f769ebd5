// SPDX-License-Identifier: Apache-2.0
// Distance joint: the origins of the two frames keep a distance L.
//
//     c(q) = |p_b - p_a| - L,  one row along the line from a to b
//
// Where the two points coincide the line has no direction; a fixed one is taken, which lets the
// joint push them apart if L > 0.
#include "core/error.h"
#include "joint/joint_private.h"

static void place(const CniJointSight *sight, CniJointPlace *p) {
  p->locked[p->locked_count++] = cni_joint_line(sight, sight->def->distance);
}

// The line turns, too.
static double curvature(const CniJointSight *sight, const CniJointPlace *p, int32_t row,
                        const CnTwist *a, const CnTwist *b) {
  CnVec3 axis = p->locked[row].linear;
  CnVec3 u = cn_sub(cn_add(b->velocity, cn_cross(b->spin, p->arm_b)),
                    cn_add(a->velocity, cn_cross(a->spin, p->arm_a)));
  double along = cn_dot(axis, u), length = p->locked[row].value + sight->def->distance;
  double sum = cn_dot(axis, cni_joint_bend(p, a, b));
  return length > 0 ? sum + (cn_norm2(u) - along * along) / length : sum;
}

CnStatus cni_joint_fit_distance(const CniJointSight *sight, CnJointDef *def) {
  if (def->distance > 0) return CN_OK;
  double distance = cn_norm(cn_sub(sight->at_b.position, sight->at_a.position));
  if (!(distance > 0) || !isfinite(distance))
    return cni_invalid(
        "joint: distance 0 takes the present distance, which is %g: give one, or use "
        "a ball joint",
        distance);
  def->distance = distance;
  return CN_OK;
}

static const CniField fields[] = {CNI_JOINT_DISTANCE, CNI_JOINT_STIFFNESS, CNI_JOINT_DAMPING,
                                  CNI_FIELDS_END};

const CniJointKind cni_joint_distance = {.name = "distance",
                                         .summary = "the origins keep a distance",
                                         .locked_count = 1,
                                         .point = 1,
                                         .apart = 1,
                                         .fields = fields,
                                         .fit = cni_joint_fit_distance,
                                         .place = place,
                                         .curvature = curvature};
