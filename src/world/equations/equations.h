// SPDX-License-Identifier: Apache-2.0
// A world as equations of motion: what hem5, rkf45 and moreau-jean ask for.
#ifndef CNI_WORLD_EQUATIONS_EQUATIONS_H
#define CNI_WORLD_EQUATIONS_EQUATIONS_H

#include "world/world.h"

// A piece of the same solid as a shape of a touch, which may cover it (covers.c): the body that has it as
// seen from the body of the touch.
typedef struct CniCover {
  int32_t shape, of_b; // of_b: it covers the touch's shape_b, else shape_a
  CnPose seen;
} CniCover;

// A contact that may close: b moves against a (the half-space, or the shape that comes first in
// memory).
typedef struct CniWorldTouch {
  int32_t shape_a, shape_b, body_a, body_b;
  uint32_t feature; // its name within the pair, as collision's
  int32_t contact;  // which of the contacts found
  CnVec3 aside;     // unit: the first tangent is this, laid into the plane of contact
  CnVec3 surface;   // m/s, of b's surface against a's by itself, in the axes of `belt`
  int32_t belt;     // the body that carries it
  double cohesion;  // N: pulls while the gap is at most `range`
  double range;     // m
  const CniCover *covers;
  int32_t cover_count;
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

// Two bodies with features near each other: these are listed while b stays near where it was seen
// from a.
typedef struct CniNear {
  int32_t body_a, body_b;
  CnPose seen;
  double way, arm; // m; of the farthest point of b
} CniNear;

// A row of a joint or a coupling. It is kept at start + speed (t - time of the step's start), or at
// what the function of its motor says.
typedef enum CniFollows {
  CNI_FOLLOWS_NOTHING = 0,
  CNI_FOLLOWS_PLACE,
  CNI_FOLLOWS_SPEED
} CniFollows;

typedef struct CniWorldRow {
  int32_t joint, row; // of the joint (cni_joint_row); joint -1: the coupling `row`
  CniJointPart part;  // what it does, and as what its impulse is kept
  CniFollows follows;
  int32_t rotor; // of an armature: its number, -1: none
  int32_t
      first;   // of a bound: the first locked row of its joint; of a cam's: the first of its limits
  double side; // -1: an upper limit, whose gap is bound - x
  double start, speed;
} CniWorldRow;

// Units in which a world is given to the integrator (units.c), powers of two: m, s, kg.
typedef struct CniUnits {
  double length, time, mass;
} CniUnits;

// What whole turns are counted of, a joint or a force, from the last state that the integrator goes on
// from (turns.c).
typedef struct CniTurns {
  double *near; // its own: about where it is now
  const CniJoint *joint;
  const CniForce *force;
  int32_t count;
  double start[CN_JOINT_AXES]; // of the world's step
  double from[CN_JOINT_AXES], rate[CN_JOINT_AXES];
} CniTurns;

typedef struct CniWorldTurns {
  CniTurns *list;
  int32_t count;
  double time; // s, of that state
} CniWorldTurns;

struct CniWorldEquations {
  CnEquations equations, plain; // plain: in m, s, kg
  CniUnits unit;
  double *q, *v; // state at the start in these units; null: they are m, s, kg
  double *scratch_q, *scratch_v, *scratch_rows;
  int32_t *scratch_groups;
  CniWorldTouch *touches; // the first of the contacts, then the limits
  int32_t touch_count, limit_count;
  CniWorldRow *rows;    // bilateral, limits, bounds
  double *velocity;     // at the start, with those of rotors; null: no rotors
  double *rotors;       // their inertias
  int32_t *rotor_turns; // 1: in rad, 0: in m
  int32_t rotor_count;
  CniJointImpulse *efforts; // over the step, of what is not rows, a joint
  CnContactLaw *laws;
  CniReach *reach; // a body
  CniNear *nears;
  int32_t near_count;
  CnTwist *known;                                // velocities of bodies that are not free
  CnTwist *change;                               // their derivatives; null: none follows a motion
  double *here_q, *here_v, *line;                // states with those that do, a row of the Jacobian
  int32_t *follows;                              // a body: does it follow a motion?
  double time;                                   // s, at the start of the step
  double *impulses;                              // over the step, one a row of the Jacobian
  int32_t struck;                                // impacts are among them
  double *ends;                                  // forces at the end, of hem5 and rkf45
  CniJointImpulse *end_efforts;                  // likewise, as `efforts`
  int32_t steps_impulse;                         // multipliers come as impulses (moreau-jean)
  int32_t events_lost;                           // no memory for the log
  CniWorks power, works;                         // W, at the last point; J, over the step so far
  double *last_q, *last_v, *middle_q, *middle_v; // states there, and half way from there
  int32_t works_known, jumped;                   // are they; velocities have jumped since
  int32_t started;                               // the forces of motors are known at the last point
  CniWorldTurns turns;
};

// Velocities of bodies and rotors, in groups of six.
static inline int32_t cni_equations_velocities(const struct CniWorldEquations *eq,
                                               const CniModel *model) {
  return 6 * (model->body_count + (eq->rotor_count + 5) / 6);
}

static inline int cni_is_free(const CniModel *model, int32_t body) {
  return body >= 0 && cni_has_mass(&model->mass[body]);
}
// Is it moved, by forces or by functions of time?
static inline int cni_is_moved(const CnWorld *world, int32_t body) {
  const struct CniWorldEquations *eq = world->work.equations;
  return cni_is_free(&world->now.model, body) || (body >= 0 && eq->change && eq->follows[body]);
}
// Bodies that follow functions of time are where these say, at any state: q and v (may be null)
// become those with them in their places, `known` and `change` are those at t.
void cni_equations_here(const CnWorld *world, double t, const double **q, const double **v);
// Cleared memory of the step's arena.
CnStatus cni_equations_take(CnWorld *world, int32_t count, size_t size, void *memory);

// side * (axis . velocity of a point of the body + spin . the body's): six numbers where it is free,
// with the velocity known a rate where it is not.
void cni_put_point(const CniModel *model, const CnTwist *known, int32_t body, double side,
                   CnVec3 axis, CnVec3 arm, CnVec3 spin, double *at, double *rate);
// A row on two bodies, the free ones by ascending index: that of two points, and of the spins along
// `turn`; returns where the next one begins.
double *cni_put_pair(const CniModel *model, const CnTwist *known, int32_t body_a, CnVec3 arm_a,
                     int32_t body_b, CnVec3 arm_b, CnVec3 axis, CnVec3 turn, double *row,
                     double *rate);
// The free ones of two bodies, ascending; returns how many.
int32_t cni_pair_groups(const CniModel *model, int32_t a, int32_t b, int32_t *list);

// ---- rows.c: rows of joints and couplings ----

// Which there are, and the velocities of rotors.
CnStatus cni_rows_list(CnWorld *world);
// Refuse what cannot be followed.
CnStatus cni_rows_check(const CnWorld *world);
double cni_row_value(const CnWorld *world, const CniWorldRow *row, double t, const CnPose *pose);
double *cni_row_write(const CnWorld *world, const CniWorldRow *row, const CnPose *pose,
                      const CnTwist *known, double *at, double *rate);
// How fast the place moves at which a row is kept.
double cni_row_speed(const CnWorld *world, const CniWorldRow *row, double t);
double cni_row_curvature(const CnWorld *world, const CniWorldRow *row, double t, const CnPose *pose,
                         const double *v);
int32_t cni_row_groups(const CnWorld *world, const CniWorldRow *row, int32_t *list);
void cni_row_name(const CnWorld *world, const CniWorldRow *row, char *text, size_t capacity);
// CnEquations::bounds
void cni_rows_bounds(void *context, double t, const double *q, const double *multipliers,
                     int32_t impact, double *bounds);

// Is its value an angle?
int cni_row_turns(const CnWorld *world, const CniWorldRow *row);

// ---- units.c ----

CniUnits cni_units_of(const CnWorld *world);
static inline int cni_units_plain(const CniUnits *u) {
  return u->length == 1 && u->time == 1 && u->mass == 1;
}
// The functions of eq->equations in its units.
void cni_units_put(struct CniWorldEquations *eq);
// A state out of these units, or into them; either may be null.
void cni_units_state(const CnWorld *world, const double *q, const double *v, int out, double *q_to,
                     double *v_to);
// What one of a row's force or impulse, and of its velocity, is.
double cni_units_force(CnWorld *world, int32_t row, int impulse);
double cni_units_speed(CnWorld *world, int32_t row);
// What a row of the Jacobian belongs to: a joint or a coupling, or null and a touch with the row's
// number in it.
const CniWorldRow *cni_equations_row(const struct CniWorldEquations *eq, int32_t row,
                                     int32_t *touch, int32_t *k);

// The row of the Jacobian of limit i.
static inline int32_t cni_limit_row(const struct CniWorldEquations *eq, int32_t i) {
  return eq->equations.bilateral_count + (eq->touch_count + i) * eq->equations.contact_dim;
}

// ---- touches.c ----

// Geometry of a contact at a pose: frame, points, gap.
typedef struct CniTouchFrame {
  CniGapBend bend;
  CnVec3 axis[3];          // normal from a to b, tangents
  CnVec3 arm_a, arm_b;     // to the point, from the centres of mass
  CnVec3 fixed_a, fixed_b; // parts of the arms that turn with the bodies
  double gap, radius_a, radius_b, domain;
} CniTouchFrame;
// Cohesion, which pulls a touch together at these poses; 0: it does not.
double cni_touch_pull(const CniModel *model, const CnPose *pose, const CniWorldTouch *touch,
                      CniTouchFrame *frame);
// How fast b's surface moves against a's by itself, world axes.
CnVec3 cni_touch_surface(const CnPose *pose, const CniWorldTouch *touch);
CniTouchFrame cni_touch_frame(const CniModel *model, const CnPose *pose,
                              const CniWorldTouch *touch);
// The same with the two bodies at these poses, without covers.
CniTouchFrame cni_touch_between(const CniModel *model, CnPose pose_a, CnPose pose_b,
                                const CniWorldTouch *touch);
// A row of a touch, as cni_put_pair.
double *cni_touch_write(const CniModel *model, const CnPose *pose, const CnTwist *known,
                        const CniWorldTouch *touch, int32_t row, double *at, double *rate);
// How fast b's surface moves against a's along a row, by itself.
double cni_touch_slide(const CniModel *model, const CnPose *pose, const CniWorldTouch *touch,
                       int32_t row);
double cni_touch_curvature(const CniModel *model, const CnPose *pose, const double *v,
                           const CniWorldTouch *touch, int32_t row);
// The contacts that bodies at these poses may make within h, into eq and as those of the step.
CnStatus cni_touches_find(CnWorld *world, struct CniWorldEquations *eq, double t,
                          const CnPose *pose, const CnTwist *twist, double h);
// The smaller inradius.
double cni_touch_size(const CniModel *model, const CniWorldTouch *touch);
// The first touch of the same two shapes with a feature of the same kind; -1: none.
int32_t cni_touch_like(const struct CniWorldEquations *eq, const CniWorldTouch *touch);
// Functions of CnEquations.
int32_t cni_touches_cover(void *context, double t, const double *q);
void cni_touches_domains(void *context, double t, const double *q, double *domain);
void cni_touch_name(void *context, int32_t contact, char *text, size_t capacity);

// ---- covers.c: flush seams ----

CnStatus cni_covers_find(CnWorld *world, struct CniWorldEquations *eq, const CnPose *pose);
// Is the place of a touch no surface, because another piece covers that of its shape_a (1) or shape_b
// (2)? *cover: that piece.
int32_t cni_touch_cover(const CniModel *model, CnPose pose_a, CnPose pose_b,
                        const CniWorldTouch *touch, const CniTouchFrame *f, CniPlaced *cover);
// Of its feature, negative where it is covered.
double cni_touch_domain(const CniModel *model, const CnPose *pose, const CniWorldTouch *touch);

// ---- powers.c ----

// Where the step begins, and at a point within it or at its end, `step` after the last one.
CnStatus cni_powers_begin(CnWorld *world, const double *q, const double *v);
void cni_powers_note(CnWorld *world, double t, double step, const double *q, const double *v,
                     const double *multipliers);
// From where the integrator goes on after an impact.
void cni_powers_again(CnWorld *world, double t, const double *q, const double *v);
// The forces where a step begins (CniStarted), and whether anybody wants them.
void cni_powers_start(void *context, double t, const double *q, const double *v,
                      const double *multipliers);
int cni_powers_ask(const CnWorld *world);

// ---- turns.c: whole turns within the step ----

CnStatus cni_turns_take(CnWorld *world, struct CniWorldEquations *eq);
// Angles are about where they are at t; where the step began.
void cni_turns_at(const CnWorld *world, double t);
void cni_turns_back(const CnWorld *world);
// They are counted on from a state.
void cni_turns_from(CnWorld *world, double t, const double *q, const double *v);

// ---- told.c ----

// Of the contacts of a pair, from `begin` to `end`, the one that is nearest to a place.
int32_t cni_nearest_contact(const CniContact *c, int32_t begin, int32_t end, CnVec3 point);
// The contacts of the step where the touches are that are closed, or close within it.
CnStatus cni_tell_contacts(CnWorld *world, const CnPose *pose, const CnTwist *twist);

#endif
