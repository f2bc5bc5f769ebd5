// SPDX-License-Identifier: Apache-2.0
// What hem5, rkf45, moreau-jean and the event driver share: the equations of motion of a system
// with some of its constraints active, and the linear algebra of
//
//     [ M  -D^T ] [ w ]   [ f ]
//     [ H    0  ] [ L ] = [ r ]
//
// where D are the directions of the constraint forces and H the rows that are to hold. D and H are
// the Jacobian at one position (index 1) or at two (half-explicit stages); a slipping contact pulls
// its friction into D, so that the matrix is unsymmetric as a rule.
//
// Velocities come in groups (a body's six); a system without them is one group. M is a block a
// group, factored along its profile. A row of a Jacobian is kept as the numbers of the groups it
// touches, one group after another, and so is a column of M^-1 D^T. S = H M^-1 D^T couples rows
// that share a group: it is factored as a sparse matrix where that is smaller (schur.c), so that
// a chain costs as much as its links, and densely otherwise.
#ifndef CNI_MOTION_H
#define CNI_MOTION_H

#include <cairn/system.h>
#include "core/memory.h"
#include "core/vec.h"
#include "sparse/sparse.h"

// Numbers of one purpose, grown as needed and cut into cache-line aligned pieces.
typedef struct CniPool {
  CnAllocator allocator;
  double *data;
  int32_t capacity;
} CniPool;

// Arrays of doubles, or of structs of such, one after the other, all zeros; what was there is gone.
CnStatus cni_pool_lay(CniPool *pool, const CniArray *arrays);
#define CNI_CUT(pool, ...) cni_pool_lay(pool, CNI_LIST(__VA_ARGS__))
// What a piece of that many numbers uses up.
static inline int64_t cni_pool_need(int64_t count) { return (count + 7) / 8 * 8; }
void cni_pool_release(CniPool *pool);

// How the active rows hang together, and S in the form in which it is factored.
typedef struct CniSchur {
  CniArena arena; // structure and blocks
  CniLu *lu;      // null: there was no need of it yet
  int32_t known;  // the structure is that of the active rows
  int32_t sparse; // 1: the graph below is used; 0: S is dense
  CniLuGraph graph;
  int32_t *node_start; // rows that touch the same groups one after another are a node
  int32_t *key;        // the groups of all rows, by which a structure is known again
  int32_t key_rows, key_groups;
  double *values; // blocks of S as the factorisation takes them
  double *dense;  // S, rows `stride` apart; also the profile of the search for dependent rows
  int32_t dense_capacity, stride;
  int32_t *pivot;
  int32_t pivot_capacity;
} CniSchur;

// A force against a motion there is. Friction of a contact that slips, rolls or spins: its normal
// force L pulls -mu L along the direction of that motion into D. A row with a bound that moves: it
// gives its bound, a force like others; and so does a contact whose normal depends on others. Along one row the direction is one sign for good. Along two it
// is that of the velocity where D is made; where little of the speed at the start of the step is
// left, it is that of the start more and more: the equations stay smooth up to and beyond the instant
// at which the motion ends, and errors of a vanishing velocity do not decide. Likewise where it begins: the
// direction of a slow slip turns within u/(mu L W), which steps would have to follow.
typedef struct CniSlip {
  int32_t normal;      // place of the normal among the active rows; -1: a force that is given
  int32_t row, count;  // first row, and how many: 1 or 2
  int32_t place;       // of that row in the list, the other after it
  int32_t owner, part; // whose it is: for the event driver
  double friction;     // mu, or the force (N)
  double speed;        // m/s, at the start of the step; 0: none worth the name
  double slow;         // m/s: what is slower has the direction of the start
  double start[2];     // unit, along the rows: at the start of the step
  double now[2];       // where D is made
} CniSlip;

typedef struct CniSlips {
  const CniSlip *list;
  int32_t count;
} CniSlips;

typedef struct CniMotion {
  CnAllocator allocator;
  const CnSystem *system;
  const CnEquations *eq;
  int32_t q_count, v_count, row_count; // row_count: all rows of the Jacobian
  int32_t size, groups;                // velocities a group, groups

  // active rows, and after them those along which something slips
  int32_t *list; // list_count rows
  CniSlip *slip;
  int32_t slip_count;
  int32_t *touch_start; // per row of the list, and one more: its groups
  int32_t *touch;       // ascending
  int32_t active, list_count;
  int32_t list_capacity, slip_capacity, start_capacity, touch_capacity;
  int32_t entries; // numbers in a Jacobian of the list

  CniPool pool;
  double *mass, *profile; // M by blocks; their factors L L^T, lower part
  int32_t *first;         // first column of a row's profile in its block
  int32_t first_capacity;
  double *x; // M^-1 D^T, a column as a row of the Jacobian
  CniSchur schur;
  double *row_scale, *residual, *right, *multipliers, *wanted;
  double *all, *bounds; // multipliers of all rows; bounds, those before and what cni_repeat keeps
  double *gaps;         // of all constraints, set by cni_motion_gaps
  int32_t gap_capacity;
  double *scratch_v, *scratch_q, *scratch_g, *scratch_rate;
  int64_t systems;        // linear systems solved
  struct CniLeast *least; // shares reactions that bounds go with (least.h); null: nobody does
} CniMotion;

void cni_motion_init(CniMotion *m, const CnAllocator *allocator);
void cni_motion_release(CniMotion *m);

// Work on this system; no row is active.
CnStatus cni_motion_begin(CniMotion *m, const CnSystem *system);
// Active rows; slips may be null (nothing slips), their places are filled in here.
CnStatus cni_motion_set_rows(CniMotion *m, const int32_t *rows, const CniSlips *slips,
                             int32_t count);
// Velocity of slip i along its rows; returns its length.
double cni_motion_slip(const CniMotion *m, int32_t i, const double *jacobian, const double *rate,
                       const double *v, double u[2]);

void cni_motion_kinematics(const CniMotion *m, double t, const double *q, const double *v,
                           double *q_dot);
void cni_motion_normalise(const CniMotion *m, double *q);

// Jacobian of the list (`entries` numbers) and rates.
CnStatus cni_motion_jacobian(CniMotion *m, double t, const double *q, double *jacobian,
                             double *rate);
// start + row i of a Jacobian times v.
double cni_motion_row(const CniMotion *m, const double *jacobian, int32_t i, double start,
                      const double *v);
// d/dt (G v + r), v held, of the active rows.
CnStatus cni_motion_curvature(CniMotion *m, double t, const double *q, const double *v,
                              double *curvature);
// Evaluate and factor M. CN_STOPPED with a sentence where it is not positive definite.
CnStatus cni_motion_mass(CniMotion *m, double t, const double *q);
// Factor what is in m->mass.
CnStatus cni_motion_factor(CniMotion *m, double t);
// x <- M^-1 x, of all groups or of one.
void cni_motion_mass_solve(const CniMotion *m, double *x);
void cni_motion_group_solve(const CniMotion *m, int32_t group, double *x);

// Solve the system above with the mass factored last. Nothing passed may be scratch of the motion
// but scratch_g, scratch_v and multipliers. `columns` is the Jacobian of the list that
// makes D, `rows_of` the one whose first `active` rows are H. On entry w = f and multipliers = r.
// CN_STOPPED where S is singular.
CnStatus cni_motion_solve(CniMotion *m, double t, const double *columns, const double *rows_of,
                          double *w, double *multipliers);

// The same with the forces at a place times `weight`, those of bounds that move included; rows_of is
// the Jacobian of that place, or of another. On entry multipliers = r. Where bounds go with the forces
// that they change, they are followed (`follow`) by repetition. The mass is that factored last.
typedef struct CniPlaceOfForce {
  double t;
  const double *q, *v, *jacobian, *rate;
} CniPlaceOfForce;
CnStatus cni_motion_drive(CniMotion *m, const CniPlaceOfForce *at, double weight, int follow,
                          const double *rows_of, double *w, double *multipliers);

#define CNI_ROUNDED 1e-14 // of the largest force: smaller changes of a bound are none

// Numbers x that are to be f(x), by repetition: the next x, into fx. The first rounds take f(x) itself, later
// ones the best along the line of the last two (Anderson), which does not mind a slope beyond one.
typedef struct CniRepeat {
  int32_t count, round;
  double *x, *fx, *last; // last: x and f(x) - x of the round before
} CniRepeat;
void cni_repeat(CniRepeat *r);

// Accelerations and multipliers at a state, index 1. `jacobian` (of the list at q) may be null, and
// `rate` with it.
CnStatus cni_motion_accelerate(CniMotion *m, double t, const double *q, const double *v,
                               const double *jacobian, const double *rate, double *a,
                               double *multipliers);

// ---- schur.c ----

void cni_schur_release(CniMotion *m);
// m->x = M^-1 D^T, with the mass factored last.
void cni_motion_directions(CniMotion *m, const double *columns);
// v += M^-1 D^T g
void cni_motion_push(const CniMotion *m, const double *g, double *v);
// S with unit rows, factored; row_scale has their factors. CN_STOPPED where it is singular.
CnStatus cni_schur_factor(CniMotion *m, double t, const double *rows_of);
// x <- S^-1 x, the right side with unit rows
void cni_schur_solve(CniMotion *m, double *x);
// S as a matrix by rows: entries it has, and then start, column and values.
CnStatus cni_schur_count(CniMotion *m, int64_t *entries);
void cni_schur_write(const CniMotion *m, const double *rows_of, int32_t *start, int32_t *column,
                     double *values);

// Of the rows given those that do not depend on the ones before them, in the same order: `kept`
// (may be `rows`), *kept_count. Mass and Jacobian at q are evaluated. `share`: what has to be left of a
// row's own size.
#define CNI_SHARE_MOVES 1e-12 // rows of velocities
#define CNI_SHARE_PLACES 1e-8 // rows that places are moved along, by an error over its root
CnStatus cni_motion_independent(CniMotion *m, double t, const double *q, const int32_t *rows,
                                int32_t count, double share, int32_t *kept, int32_t *kept_count);

// The same for rows of equal rank: those that depend least on each other are kept, so that they do
// not come to depend on each other soon.
CnStatus cni_motion_strongest(CniMotion *m, double t, const double *q, const int32_t *rows,
                              int32_t count, int32_t *kept, int32_t *kept_count);

// ---- projection ----

// All gaps at q, into m->gaps.
CnStatus cni_motion_gaps(CniMotion *m, double t, const double *q);

// |g| and |G v + r| of the active rows that have a gap (tangents have none).
CnStatus cni_motion_drift(CniMotion *m, double t, const double *q, const double *v,
                          const double *jacobian, const double *rate, double *position,
                          double *velocity);

// q and v to g = 0, G v + r = 0 on the active rows, by the shortest way in the metric of M.
// CN_STOPPED with the size that is left where it does not succeed.
CnStatus cni_motion_project(CniMotion *m, double t, double *q, double *v);

// Largest |x|.
static inline double cni_largest(const double *x, int32_t count) {
  double most = 0;
  for (int32_t i = 0; i < count; i++) most = cn_max(most, fabs(x[i]));
  return most;
}

// Index of the gap of a bound, -1 for one without.
static inline int32_t cni_servo_gap(const CnEquations *eq, int32_t bound) {
  int32_t servo = bound - (eq->bound_count - eq->servo_count);
  return servo < 0 ? -1 : eq->bilateral_count + eq->contact_count + servo;
}
// Index of the gap of a row, -1 for one without; contact of a row, -1 for a bilateral one. A bound
// counts as a contact after them all.
int32_t cni_row_gap(const CnEquations *eq, int32_t row);
int32_t cni_row_contact(const CnEquations *eq, int32_t row);
static inline int32_t cni_normal_row(const CnEquations *eq, int32_t contact) {
  int32_t bound = contact - eq->contact_count;
  return eq->bilateral_count + (bound < 0 ? contact : eq->contact_count) * eq->contact_dim +
         (bound < 0 ? 0 : bound);
}
// Law of a contact, and the rows that it needs.
static inline CnContactLaw cni_contact_law_of(const CnEquations *eq, int32_t contact) {
  return eq->laws && contact < eq->contact_count ? eq->laws[contact] : (CnContactLaw){0, 0, 0, 0};
}
static inline int32_t cni_contact_rows(const CnEquations *eq, int32_t contact) {
  CnContactLaw law = cni_contact_law_of(eq, contact);
  int32_t dim = law.spinning > 0 ? 6 : law.rolling > 0 ? 5 : law.friction > 0 ? 3 : 1;
  return dim < eq->contact_dim || contact >= eq->contact_count ? dim : eq->contact_dim;
}
// s, what one of t is.
static inline double cni_time_unit(const CnEquations *eq) {
  return eq->time_unit > 0 ? eq->time_unit : 1;
}
// A name for messages: "joint 'hook'", "contact 'ball on floor'".
void cni_row_label(const CnSystem *system, int32_t row, char label[96]);

#endif
