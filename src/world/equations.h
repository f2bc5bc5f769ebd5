// SPDX-License-Identifier: Apache-2.0
// A world as equations of motion: what hem5, rkf45 and moreau-jean ask for.
#ifndef CNI_WORLD_EQUATIONS_H
#define CNI_WORLD_EQUATIONS_H

#include "world/world.h"

typedef enum CniTouchKind {
  CNI_TOUCH_SPHERE_PLANE,
  CNI_TOUCH_BOX_PLANE,
  CNI_TOUCH_SPHERES
} CniTouchKind;

// A contact that may close: b moves against a (the plane, or the other sphere).
typedef struct CniWorldTouch {
  CniTouchKind kind;
  int32_t shape_a, shape_b, body_a, body_b;
  uint32_t feature; // corner of a box
} CniWorldTouch;

// A row of a joint (cni_joint_row) that is kept at start + speed (t - time of the step's start).
typedef struct CniWorldRow {
  int32_t joint, row;
  double start, speed;
} CniWorldRow;

struct CniWorldEquations {
  CnEquations equations;
  CniWorldTouch *touches;
  CnContactLaw *laws;
  CniWorldRow *rows;     // of the bilateral constraints
  double time;           // s, at the start of the step
  double *impulses;      // over the step, one a row of the Jacobian
  int32_t steps_impulse; // multipliers come as impulses (moreau-jean)
};

// Geometry of a contact at a pose: frame, points, gap.
typedef struct CniTouchFrame {
  CnVec3 axis[3];      // normal from a to b, tangents
  CnVec3 arm_a, arm_b; // to the point, from the centres of mass
  CnVec3 fixed_b;      // part of arm_b that turns with b; arm_a: fixed_a
  CnVec3 fixed_a;
  CnVec3 apart; // spheres: from centre to centre
  double gap, distance, radius_a, radius_b;
} CniTouchFrame;
CniTouchFrame cni_touch_frame(const CniModel *model, const CnPose *pose,
                              const CniWorldTouch *touch);

#endif
