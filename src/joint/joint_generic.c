// SPDX-License-Identifier: Apache-2.0
// Generic joint: six coordinates and nothing locked. What holds is what acts on them: limits (equal
// ones leave no play), drives that keep a position, springs.
//
//     x, y, z = p_b - p_a in the axes of a
//     rx, ry, rz = turn of b about one of the three axes, whole turns counted, and the tilt of that
//                  axis in the other two, up to half a turn (joint_turn.c: twist and tilt)
//
// Three angles cannot all go round: any three have a place where two of them mean the same. The axis
// that turns is the one that two locked ones leave, else the last whose motor or limits ask for more
// than half a turn, else z.
#include "core/error.h"
#include "core/math.h"
#include "joint/joint_private.h"

#define ANGLES 3 // rx among the coordinates

static int is_locked(const CnJointAxis *axis) { return axis->lower == axis->upper; }

static int is_far(double angle) { return isfinite(angle) && fabs(angle) > CNI_PI; }

static int asks_far(const CnJointAxis *axis) {
  return is_far(axis->lower) || is_far(axis->upper) ||
         (axis->drive == CN_DRIVE_POSITION && is_far(axis->motor_position));
}

static int32_t turning_axis(const CnJointAxis *angle) {
  int32_t open = 0, one = 2, asks = 2;
  for (int32_t i = 0; i < 3; i++) {
    const CnJointAxis *axis = &angle[i];
    if (!is_locked(axis)) open++, one = i;
    if (asks_far(axis) || (axis->drive == CN_DRIVE_SPEED && axis->motor_effort > 0)) asks = i;
  }
  return open == 1 ? one : asks;
}

// The frames with the axis that turns as their z: x, y, z go to y, z, x, `ahead` times.
static CniJointSight turned(const CniJointSight *sight, int32_t ahead) {
  static const CnQuat to[3] = {{0.5, 0.5, 0.5, 0.5}, {-0.5, 0.5, 0.5, 0.5}, {1, 0, 0, 0}};
  CniJointSight own = *sight;
  CnQuat q = sight->turn;
  if (ahead == 2) return own;
  own.at_a.rotation = cn_qmul(sight->at_a.rotation, to[ahead]);
  own.turn = ahead ? (CnQuat){q.w, q.z, q.x, q.y} : (CnQuat){q.w, q.y, q.z, q.x};
  return own;
}

static void place(const CniJointSight *sight, CniJointPlace *p) {
  CniJointSlide slide = cni_joint_slide(sight, p);
  cni_joint_free_along(p, &slide, CNI_X | CNI_Y | CNI_Z);
  int32_t axis = turning_axis(sight->def->axes + ANGLES);
  CniJointSight own = turned(sight, axis);
  CniJointRow tilt[2], *rows = &p->axes[p->axis_count];
  cni_joint_tilt(&own, tilt);
  for (int32_t i = 0; i < 2; i++) rows[(axis + 1 + i) % 3] = tilt[i];
  rows[axis] = cni_joint_twist(&own);
  p->axis_count += 3;
}

static const CniCoordinate coordinates[] = {
    {"x", "m"}, {"y", "m"}, {"z", "m"}, {"rx", "rad"}, {"ry", "rad"}, {"rz", "rad"}, {NULL, NULL}};

static CnStatus fit(const CniJointSight *sight, CnJointDef *def) {
  (void)sight;
  int32_t axis = turning_axis(def->axes + ANGLES);
  for (int32_t i = 0; i < 3; i++) {
    const CnJointAxis *angle = &def->axes[ANGLES + i];
    double far = is_far(angle->lower)   ? angle->lower
                 : is_far(angle->upper) ? angle->upper
                                        : angle->motor_position;
    if (i == axis || !asks_far(angle)) continue;
    return cni_invalid("joint: %s of generic goes up to half a turn where %s turns (got %g rad); "
                       "lock the other two by equal limits, or give the joint other frames",
                       coordinates[ANGLES + i].name, coordinates[ANGLES + axis].name, far);
  }
  return CN_OK;
}

const CniJointKind cni_joint_generic = {.name = "generic",
                                        .summary =
                                            "six coordinates, each free until something acts on it",
                                        .locked_count = 0,
                                        .wraps = 1,
                                        .coordinates = coordinates,
                                        .fit = fit,
                                        .place = place};
