// SPDX-License-Identifier: Apache-2.0
// Bodies between the joints of one body, which the description does not know. What they weigh is taken out of
// the body, so that mass, centre and inertia of the whole stay what they are at the start. Most of it moves as it
// did in the body, so that they stay it:
//
//     mass     where no slide is below and the hinges below meet in a point, a thousandth of the mass there, less
//              where its lever would use up the inertia. Otherwise a ten millionth: as slides move, the mass
//              matrix is off by about that share of itself.
//              Slides below get what they no longer carry as armature, so that their inertia is exact; their weight
//              is not, where gravity is along them.
//     inertia  where only slides are below, which do not turn, half of it; else a ten millionth, which is how
//              far the mass matrix is off as hinges turn. (That of a rod along the axis of a single hinge would
//              be exact, but a body that is light about one axis only tumbles: joints open.)
//
// Joints are put where these masses are, along their axes: a lever of a light body is a light mass.
#include <math.h>

#include "core/math.h"
#include "io/robots/model.h"

#define SHARE 1e-3  // of the mass, as a point that stays
#define LIGHT 1e-7  // of the mass where there is none, and of the inertia
#define NEEDLE 1e-8 // of the largest principal inertia, about all axes
#define LEVER 0.1   // of the least inertia that a point's lever may take

static int turns(const CniRobotJoint *j) { return j->kind != CN_JOINT_PRISMATIC; }

static CnVec3 on_axis(const CniRobotJoint *j, CnVec3 point) {
  double t = cn_dot(cn_sub(point, j->anchor), j->axis);
  return cn_madd(j->anchor, t, j->axis);
}

// The point of a's axis that is nearest to b's; 0: they are parallel.
static int meeting(const CniRobotJoint *a, const CniRobotJoint *b, CnVec3 *point) {
  double c = cn_dot(a->axis, b->axis), s2 = 1 - c * c;
  if (s2 < 1e-9) return 0;
  CnVec3 d = cn_sub(b->anchor, a->anchor);
  *point = cn_madd(a->anchor, (cn_dot(d, a->axis) - c * cn_dot(d, b->axis)) / s2, a->axis);
  return 1;
}

// The point next to `near` that none of these joints moves but for slides; 0: there is none.
static int still_point(const CniRobotJoint *j, int32_t count, CnVec3 near, CnVec3 *point) {
  const CniRobotJoint *first = NULL;
  int met = 0;
  *point = near;
  for (int32_t i = 0; i < count; i++) {
    if (!turns(&j[i]) || met) continue;
    if (j[i].kind == CN_JOINT_BALL) {
      *point = j[i].anchor;
      met = 1;
    } else if (first) {
      met = meeting(first, &j[i], point);
    } else {
      first = &j[i];
      *point = on_axis(first, near);
    }
  }
  for (int32_t i = 0; i < count; i++) {
    if (!turns(&j[i])) continue;
    CnVec3 nearest = j[i].kind == CN_JOINT_BALL ? j[i].anchor : on_axis(&j[i], *point);
    if (!(cn_norm(cn_sub(nearest, *point)) <= 1e-9 * (1 + cn_norm(*point)))) return 0;
  }
  return 1;
}

// Where the mass of what is above these joints is put: that point, or else the centre.
static CnVec3 pivot(const CniRobotJoint *j, int32_t count, CnVec3 com) {
  CnVec3 point;
  return still_point(j, count, com, &point) ? point : com;
}

void cni_robot_place_joints(CniRobot *robot, const CniRobotBody *b) {
  if (b->joint_count == 0) return;
  CniRobotJoint *j = &robot->joints[b->first_joint];
  if (j->made_count == b->joint_count) return;
  for (int32_t i = b->joint_count - 1; i >= 0; i--) {
    CnVec3 point = pivot(j + i, b->joint_count - i, b->com.position);
    if (j[i].kind == CN_JOINT_PRISMATIC) j[i].anchor = point;
    if (j[i].kind == CN_JOINT_REVOLUTE) j[i].anchor = on_axis(&j[i], point);
  }
}

// ---- taking it out of the body ----

static CnSym3 add(CnSym3 a, double by, CnSym3 b) {
  return (CnSym3){a.xx + by * b.xx, a.yy + by * b.yy, a.zz + by * b.zz,
                  a.xy + by * b.xy, a.xz + by * b.xz, a.yz + by * b.yz};
}

// 1 - d d^T / |d|^2 times |d|^2: the inertia of a mass of 1 at d, or of a rod along d.
static CnSym3 across(CnVec3 d) {
  double d2 = cn_norm2(d);
  return (CnSym3){d2 - d.x * d.x, d2 - d.y * d.y, d2 - d.z * d.z,
                  -d.x * d.y,     -d.x * d.z,     -d.y * d.z};
}

static void take_mass(CniRobotBody *b, double mass, CnVec3 point) {
  CnVec3 d = cn_unrotate(b->com.rotation, cn_sub(point, b->com.position));
  double left = b->mass - mass;
  b->inertia = add(b->inertia, -mass * b->mass / left, across(d));
  b->com.position =
      cn_scale(1 / left, cn_sub(cn_scale(b->mass, b->com.position), cn_scale(mass, point)));
  b->mass = left;
}

static double least_of(CnSym3 s, double *most) {
  CnVec3 values;
  CnMat3 axes;
  cni_seigen(s, &values, &axes);
  *most = fmax(values.x, fmax(values.y, values.z));
  return fmin(values.x, fmin(values.y, values.z));
}

// The distance of the centre from the nearest axis of a hinge or ball of the body.
static double nearest_axis(const CniRobot *robot, const CniRobotBody *b) {
  double nearest = INFINITY;
  for (int32_t i = 0; i < b->joint_count; i++) {
    const CniRobotJoint *j = &robot->joints[b->first_joint + i];
    if (!turns(j)) continue;
    CnVec3 point = j->kind == CN_JOINT_BALL ? j->anchor : on_axis(j, b->com.position);
    nearest = fmin(nearest, cn_norm(cn_sub(b->com.position, point)));
  }
  return isfinite(nearest) ? nearest : 0;
}

// A share of the inertia that turns: of the body's own and of its mass at the nearest axis; of a needle so much
// about its axis that it is not lost beside that across.
static CnSym3 light_inertia(const CniRobot *robot, const CniRobotBody *b) {
  double most, least = least_of(b->inertia, &most), d = nearest_axis(robot, b);
  double more = fmin(LIGHT * b->mass * d * d + NEEDLE * most, LEVER * least);
  return add(cn_sdiag(more, more, more), LIGHT, b->inertia);
}

CniRobotPart cni_robot_between(const CniRobot *robot, CniRobotBody *b, int32_t below) {
  CniRobotJoint *j = &robot->joints[b->first_joint + below];
  int32_t count = b->joint_count - below, slides = 0;
  double share = LIGHT, most, least = least_of(b->inertia, &most);
  CnVec3 com = b->com.position, point = com;
  int still = still_point(j, count, com, &point);
  if (!still) point = com;
  for (int32_t i = 0; i < count; i++) slides += !turns(&j[i]);
  double lever = b->mass * cn_norm2(cn_sub(point, com));
  if (still && slides == 0) share = lever * SHARE > LEVER * least ? LEVER * least / lever : SHARE;
  if (share < LIGHT || (slides > 0 && LIGHT * lever > LEVER * least)) share = LIGHT, point = com;
  // where that is at the start, seen from between the joints
  CnPose way = CN_POSE_ONE;
  for (int32_t i = 0; i < count; i++) way = cn_pose_mul(way, cni_robot_motion(&j[i]));
  CniRobotPart part = {.mass = share * b->mass};
  for (int32_t i = 0; i < count; i++)
    if (!turns(&j[i])) j[i].armature += part.mass; // which they no longer carry
  take_mass(b, part.mass, point);
  part.inertia =
      slides == count ? add(cn_sdiag(0, 0, 0), 0.5, b->inertia) : light_inertia(robot, b);
  part.com = (CnPose){cn_pose_point(way, point), cn_qmul(way.rotation, b->com.rotation)};
  b->inertia = add(b->inertia, -1, part.inertia);
  return part;
}
