// SPDX-License-Identifier: Apache-2.0
// A world as equations of motion: what hem5, rkf45 and moreau-jean ask for.
#ifndef CNI_WORLD_EQUATIONS_H
#define CNI_WORLD_EQUATIONS_H

#include "world/world.h"

// A contact that may close: b moves against a (the half-space, or the shape that comes first in
// memory).
typedef struct CniWorldTouch {
  int32_t shape_a, shape_b, body_a, body_b;
  uint32_t feature; // its name within the pair, as collision's
  int32_t contact;  // which of the contacts found
  CnVec3 surface;   // m/s, of b's surface against a's by itself, in the axes of `belt`
  int32_t belt;     // the body that carries it
  double cohesion;  // N: pulls while the gap is at most `range`
  double range;     // m
} CniWorldTouch;

// By the names of contacts.
static inline int cni_touch_before(const CniWorldTouch *a, const CniWorldTouch *b) {
  uint64_t rank_a = cni_pair_rank(a->shape_a, a->shape_b);
  uint64_t rank_b = cni_pair_rank(b->shape_a, b->shape_b);
  return rank_a < rank_b || (rank_a == rank_b && a->feature < b->feature);
}

// How far a body may go before contacts may be missing.
typedef struct CniReach {
  CnPose start;
  double way, turn;               // m; length of the chord of a turn, 2: any
  double likely_way, likely_turn; // what its velocity and the loads alone amount to
  double arm;                     // m: of the farthest point that turns
} CniReach;

// A row of a joint (cni_joint_row) that is kept at start + speed (t - time of the step's start), or
// follows the target of its motor; joint -1: the coupling `row`.
typedef struct CniWorldRow {
  int32_t joint, row, follows;
  double start, speed;
} CniWorldRow;

// A limit of a joint's coordinate x, a contact without friction: its gap is side (x - bound).
typedef struct CniWorldLimit {
  int32_t joint, row;
  double side, bound;
} CniWorldLimit;

struct CniWorldEquations {
  CnEquations equations;
  CniWorldTouch *touches; // the first of the contacts
  CniWorldLimit *limits;  // the others
  int32_t touch_count, limit_count;
  CniJointImpulse *efforts; // over the step, of what is not rows, a joint
  CnContactLaw *laws;
  CniReach *reach;       // a body
  CniWorldRow *rows;     // of the bilateral constraints
  double time;           // s, at the start of the step
  double *impulses;      // over the step, one a row of the Jacobian
  int32_t steps_impulse; // multipliers come as impulses (moreau-jean)
  int32_t events_lost;   // no memory for the log
};

static inline int cni_is_free(const CniModel *model, int32_t body) {
  return body >= 0 && cni_has_mass(&model->mass[body]);
}
// Cleared memory of the step's arena.
CnStatus cni_equations_take(CnWorld *world, int32_t count, size_t size, void *memory);

// ---- touches.c ----

// Geometry of a contact at a pose: frame, points, gap.
typedef struct CniTouchFrame {
  CniGapBend bend;
  CnVec3 axis[3];          // normal from a to b, tangents
  CnVec3 arm_a, arm_b;     // to the point, from the centres of mass
  CnVec3 fixed_a, fixed_b; // parts of the arms that turn with the bodies
  double gap, radius_a, radius_b;
} CniTouchFrame;
// Cohesion, which pulls a touch together at these poses; 0: it does not.
double cni_touch_pull(const CniModel *model, const CnPose *pose, const CniWorldTouch *touch,
                      CniTouchFrame *frame);
// How fast b's surface moves against a's by itself, world axes.
CnVec3 cni_touch_surface(const CnPose *pose, const CniWorldTouch *touch);
CniTouchFrame cni_touch_frame(const CniModel *model, const CnPose *pose,
                              const CniWorldTouch *touch);
double cni_touch_curvature(const CniModel *model, const CnPose *pose, const double *v,
                           const CniWorldTouch *touch, int32_t row);
// The contacts that bodies at these poses may make within h, into eq and as those of the step.
CnStatus cni_touches_find(CnWorld *world, struct CniWorldEquations *eq, const CnPose *pose,
                          const CnTwist *twist, double h);
// Functions of CnEquations.
int32_t cni_touches_cover(void *context, double t, const double *q);
void cni_touch_name(void *context, int32_t contact, char *text, size_t capacity);

#endif
