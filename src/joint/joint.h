// SPDX-License-Identifier: Apache-2.0
// Kinds of joints. A kind is one file, joint_NAME.c, and one row of <cairn/joint_list.h>.
//
// A kind says where a joint is: for two frames in the world it gives rows. A row is a function of
// the two frames, c(q), with its exact derivative
//
//     c' = l . (v_b + w_b x arm_b - v_a - w_a x arm_a) + w . (w_b - w_a)
//
// that is a direction l for the two points, a direction w for the two spins, and one pair of lever
// arms for all rows of the joint. Locked directions are rows with c = 0; coordinates are rows whose
// c is free, measured from where the frames coincide, and on which limits, motors, friction and
// springs act (joint_blocks.c). Because the rows are derivatives of what they correct, the step
// problem, the equations of motion and the reports all use the same ones.
//
// Nothing here knows of bodies, models or worlds.
#ifndef CNI_JOINT_H
#define CNI_JOINT_H

#include <cairn/joint.h>
#include <cairn/problem.h>

#include "core/fields.h"
#include "core/own/own.h"
#include "core/vec.h"
#include "geometry/geometry.h"

#define CNI_TAG_JOINT 0x746e6f6au

// ---- one end of a joint ----

typedef struct CniJointEnd {
  CnPose pose;           // of the centre of mass, principal axes
  CnPose local;          // the joint's frame from there; on the ground: in the world
  CnTwist twist;         // at the centre of mass
  int32_t ground;        // 1: pose and twist are not read
  const CniCurve *curve; // of kinds that have curves
  double along;          // m: about where on it; not a number: nobody knows
} CniJointEnd;

// ---- what a kind sees and gives ----

typedef struct CniJointSight {
  CnPose at_a, at_b;   // the two frames in the world
  CnQuat turn;         // from a to b
  CnVec3 arm_a, arm_b; // from the centres of mass to their origins, world axes; zero on the ground
  const CniCurve *curves[2];
  double along[2];
  const CnJointDef *def;
} CniJointSight;

typedef struct CniJointRow {
  CnVec3 linear, angular;
  double value;  // c: error of a locked direction, or a coordinate
  int32_t turns; // 1: in rad; 0: in m
  int32_t wraps; // 1: an angle whose whole turns the two frames do not tell; CNI_ALONG
} CniJointRow;
#define CNI_ALONG 2 // a place on a curve, remembered as it is

#define CNI_JOINT_LOCKED 6

typedef struct CniJointPlace {
  CnVec3 arm_a, arm_b; // as in the sight unless the kind says otherwise of arm_a
  CniJointRow locked[CNI_JOINT_LOCKED], axes[CN_JOINT_AXES];
  int32_t locked_count, axis_count;
} CniJointPlace;

typedef struct CniCoordinate {
  const char *name, *unit; // "m" or "rad"
} CniCoordinate;

typedef struct CniJointKind {
  const char *name, *summary;
  int32_t locked_count;
  int32_t point;  // 1: locked rows are the first axes of an orthonormal frame at the point: the
                  // storage `pair` of the step problem holds them
  int32_t wraps;  // 1: some of its coordinates do
  int32_t apart;  // 1: it holds two points apart, so that a scene has to give both
  int32_t curves; // how many it has, on a first; the first coordinates are the places on them
  int32_t gap;    // of kinds with curves: the coordinate that is the gap
  const CniCoordinate *coordinates; // ends with a null name; null: none
  const CniField *fields;           // of CnJointDef beyond frames and axes; null: none
  // Fills in what this kind needs beyond the checked fields, with the frames where they are now;
  // null: nothing.
  CnStatus (*fit)(const CniJointSight *sight, CnJointDef *def);
  // Add the rows, in a fixed order.
  void (*place)(const CniJointSight *sight, CniJointPlace *place);
  // The locked ones alone; null: it takes no less time.
  void (*lock)(const CniJointSight *sight, CniJointPlace *place);
  // Where the first three locked rows hold b's origin at a's: the ones after them; and the coordinates
  // alone. Null: as above.
  void (*lock_turn)(const CniJointSight *sight, CniJointPlace *place);
  void (*free)(const CniJointSight *sight, CniJointPlace *place);
  // Values alone of the rows of lock_turn. Null: as above.
  void (*turn_values)(const CniJointSight *sight, double *values);
  // c'' of a locked row, or of the gap, for bodies whose velocities stand still; null: by differences.
  double (*curvature)(const CniJointSight *sight, const CniJointPlace *place, int32_t row,
                      const CnTwist *a, const CnTwist *b);
} CniJointKind;

extern const CniJointKind *const cni_joint_kinds[CN_JOINT_KIND_COUNT]; // the library's
// Any kind; null: there is none. Those of the program (joint_own.c) come after the library's.
static inline const CniJointKind *cni_joint_kind(int64_t kind) {
  if (kind < CN_JOINT_KIND_COUNT) return cni_joint_kinds[kind];
  return cn_own_row(CNI_OWN_JOINT, (int32_t)(kind - CN_JOINT_KIND_COUNT));
}
static inline int32_t cni_joint_kind_count(void) {
  return CN_JOINT_KIND_COUNT + cn_own_count(CNI_OWN_JOINT);
}
static inline int32_t cni_joint_coordinate_count(CnJointKind kind) {
  const CniCoordinate *coordinates = cni_joint_kind(kind)->coordinates;
  int32_t count = 0;
  while (coordinates && coordinates[count].name) count++;
  return count;
}
// Of this joint: one-sided ones lock nothing.
static inline int32_t cni_joint_locked_count(const CnJointDef *def) {
  return def->one_sided ? 0 : cni_joint_kind(def->kind)->locked_count;
}

// ---- for the kinds: rows to add ----

void cni_joint_lock(CniJointPlace *place, CnVec3 linear, double value);
void cni_joint_free(CniJointPlace *place, CnVec3 linear, double value);
// The origins coincide: three rows along the world's axes.
void cni_joint_lock_point(const CniJointSight *sight, CniJointPlace *place);
// Distance of the origins less `length`.
CniJointRow cni_joint_line(const CniJointSight *sight, double length);

// Rows along axes of a: e . d with d = p_b - p_a. They turn with a, so (e . d)' = e . (p_b' - p_a' -
// w_a x d): on the side of a the lever arm goes to b's point, and force and reaction have one line
// of action even where the frames are apart.
typedef struct CniJointSlide {
  CnVec3 d;
  CnMat3 axes; // of a
} CniJointSlide;
#define CNI_X 1
#define CNI_Y 2
#define CNI_Z 4
CniJointSlide cni_joint_slide(const CniJointSight *sight, CniJointPlace *place); // moves arm_a
void cni_joint_lock_along(CniJointPlace *place, const CniJointSlide *slide, int32_t axes);
void cni_joint_free_along(CniJointPlace *place, const CniJointSlide *slide, int32_t axes);

// The frames are parallel: three rows, the rotation vector from a to b in the axes of a.
void cni_joint_lock_turn(const CniJointSight *sight, CniJointPlace *place);
// The same as rows by themselves.
void cni_joint_turn(const CniJointSight *sight, CniJointRow rows[3]);
// z of b lies along z of a: two rows, the shortest rotation vector from one to the other, whose
// third component is zero.
void cni_joint_lock_tilt(const CniJointSight *sight, CniJointPlace *place);
void cni_joint_tilt(const CniJointSight *sight, CniJointRow rows[2]);
void cni_joint_tilt_values(const CniJointSight *sight, double values[2]);
// Angle between z of a and z of b.
CniJointRow cni_joint_swing(const CniJointSight *sight);
// Turn of b about z that is left when its z has been laid along z of a the short way.
CniJointRow cni_joint_twist(const CniJointSight *sight);
// Angle of `u`, which turns with b, about `axis` of a, from `start` of a; unit vectors.
CniJointRow cni_joint_azimuth(CnVec3 axis, CnVec3 start, CnVec3 u);
// The angle that differs from `angle` by whole turns and is nearest to `near`.
double cni_joint_nearest(double angle, double near);

// Curvature of rows along axes of a and, if the last two turn, those of the tilt.
double cni_joint_fixed_curvature(const CniJointSight *sight, const CniJointPlace *place,
                                 int32_t row, const CnTwist *a, const CnTwist *b);
double cni_joint_tilt_curvature(const CniJointSight *sight, int32_t row, const CnTwist *a,
                                const CnTwist *b);
// w x (w x arm): acceleration of b's point less that of a's.
CnVec3 cni_joint_bend(const CniJointPlace *place, const CnTwist *a, const CnTwist *b);
// c'' of e . d for an axis e of a, d reaching from a's origin to the point of b that is `reach` from its
// own; velocities stand still.
double cni_joint_slide_curvature(const CniJointSight *sight, CnVec3 reach, CnVec3 e,
                                 const CnTwist *a, const CnTwist *b);

// ---- for the users: any kind ----

// A frame in the world and the arm that leads there; pose: of the centre of mass, null on the ground.
static inline CnPose cni_joint_frame(const CnPose *pose, const CnPose *local, CnVec3 *arm) {
  *arm = CN_VEC3_ZERO;
  if (!pose) return *local;
  *arm = cn_rotate(pose->rotation, local->position);
  return (CnPose){cn_add(pose->position, *arm), cn_qmul(pose->rotation, local->rotation)};
}
CniJointSight cni_joint_sight(const CnJointDef *def, const CniJointEnd *a, const CniJointEnd *b);
// All rows of a sight; the locked ones, coordinates may be there or not; the coordinates, locked ones may.
void cni_joint_see(const CniJointSight *sight, CniJointPlace *place);
void cni_joint_see_locked(const CniJointSight *sight, CniJointPlace *place);
void cni_joint_see_free(const CniJointSight *sight, CniJointPlace *place);
void cni_joint_place(const CnJointDef *def, const CniJointEnd *a, const CniJointEnd *b,
                     CniJointPlace *place);
// Angles that wrap are brought near to given values.
void cni_joint_unroll(CniJointPlace *place, const double *near);
double cni_joint_rate(const CniJointPlace *place, const CniJointRow *row, const CnTwist *a,
                      const CnTwist *b);
// What a force F that rubs along a coordinate is as its effort, over F: 1 where the coordinate is the way
// of the point on which F acts; friction_radius of turns; of a place on a curve, from which that point
// is away, the way along the curve is another one, and F, not the effort, is mu R.
double cni_joint_rub_arm(const CnJointDef *def, const CniJointPlace *place, int32_t axis);
// What spring and damper of a coordinate do along it: -(k (x - rest) + d x').
double cni_joint_spring(const CnJointAxis *axis, const CniJointPlace *place, const CniJointRow *row,
                        const CnTwist *a, const CnTwist *b);
// c'' of a locked row (see CniJointKind), and by differences whatever the kind gives; of a
// coordinate always so (row CNI_JOINT_LOCKED + its number).
double cni_joint_curvature(const CnJointDef *def, const CniJointEnd *a, const CniJointEnd *b,
                           int32_t row);
double cni_joint_curvature_by_differences(const CnJointDef *def, const CniJointEnd *a,
                                          const CniJointEnd *b, int32_t row);
static inline const CniJointRow *cni_joint_row(const CniJointPlace *place, int32_t row) {
  return row < CNI_JOINT_LOCKED ? &place->locked[row] : &place->axes[row - CNI_JOINT_LOCKED];
}
// Axes whose z is along `axis`, which has a direction.
CnQuat cni_joint_axes(CnVec3 axis);
// How far the locked directions are from zero: m, rad.
void cni_joint_errors(const CniJointPlace *place, double *error, double *turn_error);

// ---- what a joint does in a step (joint_blocks.c) ----

typedef enum CniJointPart {
  CNI_PART_SPRING = 0, // spring and damper
  CNI_PART_LOWER,
  CNI_PART_UPPER,
  CNI_PART_MOTOR,
  CNI_PART_FRICTION,
  CNI_PART_ARMATURE,
  CNI_PART_COUNT,
  CNI_PART_LOCKED = CNI_PART_COUNT
} CniJointPart;

// Impulses of a joint over a step: N s, or N m s where the row turns, on b. Those of a limit are
// never negative, and the upper one acts against its coordinate.
typedef struct CniJointImpulse {
  double locked[CNI_JOINT_LOCKED];
  double axes[CN_JOINT_AXES][CNI_PART_COUNT];
} CniJointImpulse;

// What a motor wants during a step: position or speed or effort, as it is driven.
typedef struct CniJointTarget {
  double start, middle, end, rate; // rate: at the end
} CniJointTarget;

typedef struct CniJointStep {
  double time_step;
  double stabilisation;        // share of a position drive's error that is removed in a step
  double length;               // m: rows that turn are multiplied by it, so that all are in m/s
  double threshold;            // m/s or rad/s: slower than this nothing bounces
  double reaction;             // N: of the locked directions, or of a cam's gap
  double late;                 // 1 - theta of springs: what of their impulse follows the drift
  double rates[CN_JOINT_AXES]; // of the coordinates at the start of the step
  CniJointTarget targets[CN_JOINT_AXES];
  // N s, N m s, of a motor's or the friction's effort: what the drift will need of it, as it did last
  double later[CN_JOINT_AXES][CNI_PART_COUNT];
} CniJointStep;

// A block of the step problem. Its rows are those of the place times `scale`.
typedef struct CniJointBlock {
  CniJointPart part;
  int32_t axis, dim;
  CnSet set;
  double b[CNI_JOINT_LOCKED], scale[CNI_JOINT_LOCKED];
  double share; // of its impulse that is in the problem: theta of springs, 1
} CniJointBlock;
#define CNI_JOINT_BLOCKS (1 + CN_JOINT_AXES * CNI_PART_COUNT)

// The blocks of a joint, locked directions first, then by coordinate and part; which there are is a
// matter of the definition alone. Returns their number.
int32_t cni_joint_blocks(const CnJointDef *def, const CniJointPlace *place,
                         const CniJointStep *step, CniJointBlock *blocks);
// The first of them alone; returns 0 where nothing is locked. All there is where nothing acts on the
// coordinates of a joint.
int32_t cni_joint_locked_block(const CnJointDef *def, const CniJointPlace *place, double time_step,
                               double late, double length, CniJointBlock *block);
int cni_joint_is_plain(const CnJointDef *def);
// Their number and that of their rows, without a place.
void cni_joint_count(const CnJointDef *def, int32_t *blocks, int32_t *rows);
// Where a block's impulse of row `row` is kept.
static inline double *cni_joint_kept(const CniJointBlock *block, int32_t row, CniJointImpulse *x) {
  return block->part == CNI_PART_LOCKED ? &x->locked[row] : &x->axes[block->axis][block->part];
}
static inline const CniJointRow *cni_joint_block_row(const CniJointBlock *block, int32_t row,
                                                     const CniJointPlace *place) {
  return block->part == CNI_PART_LOCKED ? &place->locked[row] : &place->axes[block->axis];
}
static inline int cni_joint_is_servo(const CnJointAxis *axis) {
  return axis->drive != CN_DRIVE_EFFORT && axis->motor_effort > 0 &&
         (axis->motor_damping > 0 ||
          (axis->motor_stiffness > 0 && axis->drive == CN_DRIVE_POSITION));
}
// May a motor, friction or a limit hold a coordinate where it is, or at its speed?
int cni_joint_may_hold(const CnJointAxis *axis);
// What a motor without a row does in a state: an effort, or that of a servo; target: value and
// derivatives.
double cni_joint_push(const CnJointAxis *axis, const double target[3], double x, double rate);
// What is done along a coordinate in all, by parts.
double cni_joint_effort(const double parts[CNI_PART_COUNT]);
// All of it as one impulse and one angular impulse on b at its frame's origin, world axes.
CnTwist cni_joint_total(const CniJointPlace *place, const CniJointImpulse *impulse);

// ---- definitions ----

extern const CniField cni_joint_fields[];      // of CnJointDef, of all kinds
extern const CniField cni_joint_axis_fields[]; // of CnJointAxis
// Everything but the bodies; rotations of the frames are brought to length one.
CnStatus cni_joint_def_check(CnJointDef *def);

#endif
