// SPDX-License-Identifier: Apache-2.0
// Which joints of one body are one joint of the scene, and where its two frames are.
//
//     two hinges at right angles whose axes meet        universal
//     a slide and a hinge along one direction           cylindrical
//     two slides at right angles, a hinge across both   planar
//
// Nothing is between such joints: they are exact. What is left gets bodies between (between.c).
// A joint of the scene shows the description's coordinates: as drawn each stands at its `ref`.
#include <math.h>

#include "core/math.h"
#include "io/robots/model.h"

#define CLOSE 1e-12

static int square(CnVec3 a, CnVec3 b) { return fabs(cn_dot(a, b)) < CLOSE; }

static CnVec3 along(const CniRobotJoint *j, double by) { return cn_madd(j->anchor, by, j->axis); }

// Where two axes at right angles are nearest, on the first one.
static CnVec3 crossing(const CniRobotJoint *a, const CniRobotJoint *b) {
  return along(a, cn_dot(cn_sub(b->anchor, a->anchor), a->axis));
}

static int is_universal(const CniRobotJoint *j) {
  if (j[0].kind != CN_JOINT_REVOLUTE || j[1].kind != CN_JOINT_REVOLUTE) return 0;
  if (!square(j[0].axis, j[1].axis)) return 0;
  CnVec3 gap = cn_sub(crossing(&j[0], &j[1]), crossing(&j[1], &j[0]));
  return cn_norm(gap) < CLOSE;
}

static int is_cylindrical(const CniRobotJoint *j) {
  int slide = j[0].kind == CN_JOINT_PRISMATIC ? 0 : 1;
  return j[slide].kind == CN_JOINT_PRISMATIC && j[1 - slide].kind == CN_JOINT_REVOLUTE &&
         cn_norm(cn_sub(j[0].axis, j[1].axis)) < CLOSE;
}

static void name_cylindrical(CniRobotJoint *j) {
  int slide = j[0].kind == CN_JOINT_PRISMATIC ? 0 : 1;
  j[slide].coordinate = cn_joint_coordinate_name(CN_JOINT_CYLINDRICAL, 0);
  j[1 - slide].coordinate = cn_joint_coordinate_name(CN_JOINT_CYLINDRICAL, 1);
}

// x, y and the axis of the third are right-handed: either slide may be x.
static int first_is_y(const CniRobotJoint *j) {
  return j->made_count > 2 && cn_dot(cn_cross(j[0].axis, j[1].axis), j[2].axis) < 0;
}

// Two slides at right angles, a hinge across both.
static int is_planar(const CniRobotJoint *j) {
  int square_all =
      square(j[0].axis, j[1].axis) && square(j[0].axis, j[2].axis) && square(j[1].axis, j[2].axis);
  return square_all && j[0].kind == CN_JOINT_PRISMATIC && j[1].kind == CN_JOINT_PRISMATIC &&
         j[2].kind == CN_JOINT_REVOLUTE;
}

// In the order of their joints, but for first_is_y.
static void name_in_order(CniRobotJoint *j) {
  int swapped = first_is_y(j);
  for (int32_t i = 0; i < j->made_count; i++)
    j[i].coordinate = cn_joint_coordinate_name(j->made, i < 2 && swapped ? 1 - i : i);
}

// ---- frames, in the body as drawn ----

static void universal_frames(const CniRobotJoint *j, CnPose *a, CnPose *b) {
  CnMat3 axes = {.x = j[0].axis, .y = j[1].axis, .z = cn_cross(j[0].axis, j[1].axis)};
  *a = (CnPose){crossing(&j[0], &j[1]), cni_quat_from_mat(axes)};
  *b = *a;
  a->rotation = cn_qmul(a->rotation, cni_turn_about(cn_vec3(1, 0, 0), -j[0].ref));
  b->rotation = cn_qmul(b->rotation, cni_turn_about(cn_vec3(0, 1, 0), j[1].ref));
}

static void cylindrical_frames(const CniRobotJoint *j, CnPose *a, CnPose *b) {
  const CniRobotJoint *slide = &j[j[0].kind == CN_JOINT_REVOLUTE], *hinge = &j[slide == j];
  *a = (CnPose){hinge->anchor, cni_joint_axes(hinge->axis)};
  *b = (CnPose){cn_madd(hinge->anchor, slide->ref, slide->axis),
                cn_qmul(a->rotation, cni_turn_about(cn_vec3(0, 0, 1), hinge->ref))};
}

static void planar_frames(const CniRobotJoint *j, CnPose *a, CnPose *b) {
  int swapped = first_is_y(j);
  CnMat3 axes = {.x = j[swapped].axis, .y = j[!swapped].axis, .z = j[2].axis};
  *a = *b = (CnPose){j[2].anchor, cni_quat_from_mat(axes)};
  // the axes of a do not turn with the body: it is a that is moved
  for (int32_t i = 0; i < 2; i++) a->position = cn_madd(a->position, -j[i].ref, j[i].axis);
  b->rotation = cn_qmul(b->rotation, cni_turn_about(cn_vec3(0, 0, 1), j[2].ref));
}

// ---- the table ----

static const struct {
  CnJointKind kind;
  int32_t count;
  int (*fits)(const CniRobotJoint *j);
  void (*name)(CniRobotJoint *j); // the coordinates
  void (*frames)(const CniRobotJoint *j, CnPose *a, CnPose *b);
} composites[] = {{CN_JOINT_PLANAR, 3, is_planar, name_in_order, planar_frames},
                  {CN_JOINT_UNIVERSAL, 2, is_universal, name_in_order, universal_frames},
                  {CN_JOINT_CYLINDRICAL, 2, is_cylindrical, name_cylindrical, cylindrical_frames}};

void cni_robot_compose(CniRobotJoint *joints, int32_t count) {
  for (int32_t k = 0; k < count; k += joints[k].made_count) {
    CniRobotJoint *j = &joints[k];
    j->made = j->kind;
    j->made_count = 1;
    j->coordinate = cn_joint_coordinate_name(j->kind, 0);
    for (size_t i = 0; i < sizeof composites / sizeof *composites; i++) {
      if (k + composites[i].count > count || !composites[i].fits(j)) continue;
      j->made = composites[i].kind;
      j->made_count = composites[i].count;
      j->composite = (int32_t)i;
      for (int32_t r = 0; r < j->made_count; r++) j[r].rank = r;
      composites[i].name(j);
      break;
    }
  }
}

void cni_robot_frames(const CniRobotJoint *j, CnPose *a, CnPose *b) {
  if (j->made_count > 1) {
    composites[j->composite].frames(j, a, b);
    return;
  }
  int any = j->kind == CN_JOINT_UNIVERSAL || j->kind == CN_JOINT_BALL;
  *a = *b = (CnPose){j->anchor, any ? CN_QUAT_ONE : cni_joint_axes(j->axis)};
  if (j->kind == CN_JOINT_REVOLUTE)
    b->rotation = cn_qmul(b->rotation, cni_turn_about(cn_vec3(0, 0, 1), j->ref));
  if (j->kind == CN_JOINT_PRISMATIC) b->position = cn_madd(b->position, j->ref, j->axis);
}
