// SPDX-License-Identifier: Apache-2.0
/// Joints: the kinds, how one is defined, what it tells. Part of <cairn/world.h>.
///
/// A joint locks some directions between a frame on body a and a frame on body b (or on the ground)
/// and leaves others free. A free direction is a coordinate with a name and a unit: the travel of a
/// prismatic joint in m, an angle in rad. Limits, motors, dry friction and springs act on
/// coordinates, the same way for all kinds. Where a kind has an axis, it is z of frame a. Whole turns of
/// an angle are counted from step to step, at creation from `near`, or as limits ask that leave the short way
/// round out, or from that.
#ifndef CAIRN_JOINT_H
#define CAIRN_JOINT_H

#include <cairn/base.h>
#include <cairn/curve.h>
#include <cairn/function.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CnBodyId {
  uint32_t slot, generation;
} CnBodyId;
typedef struct CnJointId {
  uint32_t slot, generation;
} CnJointId;

/// CN_JOINT_BALL, CN_JOINT_DISTANCE ...: the rows of <cairn/joint_list.h>.
typedef enum CnJointKind {
#define CN_JOINT(KIND, name) CN_JOINT_##KIND,
#include <cairn/joint_list.h>
#undef CN_JOINT
  CN_JOINT_KIND_COUNT
} CnJointKind;

/// Name of a kind, as in scenes and run files: "ball"; null past the end.
CN_API const char *cn_joint_kind_name(CnJointKind kind);
/// Name and unit ("m", "rad") of a kind's coordinate `index`; null past the last one.
CN_API const char *cn_joint_coordinate_name(CnJointKind kind, int32_t index);
/// The unit of a kind's coordinate `index`, "m" or "rad"; null past the last one.
CN_API const char *cn_joint_coordinate_unit(CnJointKind kind, int32_t index);

#define CN_JOINT_AXES 6 ///< no joint has more coordinates

/// What a motor wants of its coordinate.
typedef enum CnDrive {
  CN_DRIVE_SPEED = 0, ///< motor_speed, with at most motor_effort
  CN_DRIVE_POSITION,  ///< motor_position, with at most motor_effort
  CN_DRIVE_EFFORT     ///< nothing: it gives motor_effort, of either sign
} CnDrive;

/// What acts on one coordinate; all of it may act at once. Effort is a force (N) or a torque (N m).
/// Without stiffness and damping of its own a motor keeps its target exactly as long as its effort
/// suffices; with them it is a servo, k (target - x) + d (target' - x'), taken at the end of the
/// step so that no gain is too large. Numbers are 0 by default.
typedef struct CnJointAxis {
  double lower, upper; ///< m or rad; default -infinity and infinity: no limit
  double motor_speed;  ///< m/s or rad/s, what the motor wants
  double motor_effort; ///< N or N m, >= 0: what it can give; default 0: no motor; may be infinite
  double friction;     ///< N or N m, >= 0: dry friction, default 0
  double stiffness;    ///< N/m or N m/rad, >= 0: spring about `rest`, default 0
  double damping;      ///< N s/m or N m s/rad, >= 0, default 0
  double rest;         ///< m or rad, where the spring is free
  CnDrive drive;
  CnFunctionId motor_function; ///< not none: the target as a function of time, not the number
  double motor_position;       ///< m or rad
  double motor_stiffness;      ///< N/m or N m/rad, >= 0: of a servo
  double motor_damping;        ///< N s/m or N m s/rad, >= 0: of a servo
  double restitution;          ///< of the limits, 0 to 1
  double limit_stiffness;      ///< N/m or N m/rad, >= 0: of soft limits
  double limit_damping;        ///< N s/m or N m s/rad, >= 0: of soft limits
  double friction_coefficient; ///< >= 0: dry friction in proportion to the joint's own reaction
  double friction_radius;      ///< m, >= 0: at which it acts where the coordinate is an angle
  double armature;             ///< kg or kg m^2, >= 0: inertia of a motor, seen at the coordinate
  double near; ///< rad: about where an angle starts, whole turns included; 0: see above
} CnJointAxis;

/// Where the follower of a curve is, seen along the curve.
typedef enum CnCurveSide {
  CN_SIDE_PRESENT = 0, ///< where it is at creation
  CN_SIDE_LEFT,
  CN_SIDE_RIGHT ///< outside of a closed curve that goes round counter-clockwise
} CnCurveSide;

/// One struct for all joints: the kind selects which fields are read.
typedef struct CnJointDef {
  uint32_t size, tag; ///< set by cn_joint_def_default
  CnJointKind kind;
  CnBodyId body_a, body_b;         ///< one of them may be none: the ground
  CnPose frame_a, frame_b;         ///< in the body frames (ground: in the world)
  double distance;                 ///< m, >= 0: distance joints, ropes; 0: that at creation
  double stiffness;                ///< N/m, >= 0: ball and distance joints; 0 (default) is rigid
  double damping;                  ///< N s/m, >= 0: likewise
  double lead;                     ///< m: screws; travel of a whole turn, negative: left-handed
  CnCurveId curve_a, curve_b;      ///< point_on_curve, curve_on_curve: in x, y of the frames
  int32_t one_sided;               ///< 1: a cam, which only pushes; 0 (default): a groove
  CnCurveSide side;                ///< of the follower, where that matters
  double radius;                   ///< m, >= 0: of the roller of a point_on_curve
  CnJointAxis axes[CN_JOINT_AXES]; ///< one a coordinate of the kind
  const char *name;                ///< copied; may be NULL
} CnJointDef;

/// A definition of the kind with both frames the identity, and nothing acting on its coordinates.
CN_API CnJointDef cn_joint_def_default(CnJointKind kind);

/// What a joint did in the last step, and where it is. Forces are means over the step (hem5, rkf45: at
/// its end, in steps without impacts), on body b at its frame's origin, everything that the joint does
/// included: locked directions, limits, motors, friction, springs.
typedef struct CnJointState {
  CnVec3 force;                     ///< N, world axes
  double error;                     ///< m, how far the origins are from where the joint wants them
  CnVec3 torque;                    ///< N m, world axes
  CnVec3 local_force, local_torque; ///< the same in the axes of frame a
  double turn_error;                ///< rad, how far the frames are turned out of place
  int32_t coordinate_count;         ///< of the kind; so many entries of what follows are in use
  double coordinate[CN_JOINT_AXES]; ///< m or rad, at the end of the step
  double rate[CN_JOINT_AXES];       ///< m/s or rad/s
  double motor[CN_JOINT_AXES];      ///< N or N m along the coordinate, as all efforts
  double limit[CN_JOINT_AXES];      ///< above zero at the lower limit
  double friction[CN_JOINT_AXES];
  double spring[CN_JOINT_AXES];   ///< spring and damper
  double armature[CN_JOINT_AXES]; ///< what the inertia of a motor asks for
} CnJointState;

// ---- couplings: gears, racks, differentials ----

typedef struct CnCouplingId {
  uint32_t slot, generation;
} CnCouplingId;

#define CN_COUPLING_TERMS 8 ///< no coupling has more

typedef struct CnCouplingTerm {
  CnJointId joint;
  int32_t coordinate; ///< of the joint
  double
      coefficient; ///< m and rad may be mixed: a pinion of radius r drives its rack with 1 and -r
} CnCouplingTerm;

/// A relation between coordinates x_i of joints that is kept exactly:
///
///     sum over terms of coefficient x_i  +  square x_0^2 + cube x_0^3 + fourth x_0^4
///                                        +  function(x_0)  =  offset
///
/// A gear with the ratio r: x_0 - r x_1 = 0. A differential: x_0 + x_1 - 2 x_2 = 0. A groove in a
/// cam: x_1 - f(x_0) = 0; a cam that only pushes its follower: one-sided.
typedef struct CnCouplingDef {
  uint32_t size, tag;  ///< set by cn_coupling_def_default
  int32_t term_count;  ///< 1 to CN_COUPLING_TERMS
  int32_t take_offset; ///< 1 (default): offset is what it is at creation
  CnCouplingTerm terms[CN_COUPLING_TERMS];
  double offset;
  double square, cube, fourth; ///< of the first term's coordinate
  CnFunctionId function;       ///< of it, in place of a time; default none
  int32_t one_sided;           ///< 1: the sum may be above the offset
  const char *name;            ///< copied; may be NULL
} CnCouplingDef;

/// A coupling without terms that takes its offset from where things are.
CN_API CnCouplingDef cn_coupling_def_default(void);

typedef struct CnCouplingState {
  double effort; ///< times a coefficient it is what the coordinate gets, N or N m, mean of the step
  double error;  ///< of the relation, now
} CnCouplingState;

#ifdef __cplusplus
}
#endif
#endif
