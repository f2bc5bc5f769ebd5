// SPDX-License-Identifier: Apache-2.0
/// A kind of joint of your own, by the side of the library's: locked directions and coordinates as
/// functions of two frames. Limits, motors, friction, springs, couplings, snapshots, scenes, every solver and
/// integrator take it as they take the others. Part of <cairn/own.h>.
#ifndef CAIRN_OWN_JOINT_H
#define CAIRN_OWN_JOINT_H

#include <cairn/joint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// No kind at all; numbers of kinds that were added begin with CN_JOINT_KIND_COUNT.
#define CN_JOINT_KIND_NONE ((CnJointKind)0x7fffffff)

/// What a kind sees: its two frames in the world.
typedef struct CnJointSight {
  CnPose frame_a, frame_b; ///< m
  const CnJointDef *def;   ///< the joint's numbers; bodies and names are not to be read
} CnJointSight;

/// A row: a function c of the two frames and its exact derivative
///
///     c' = linear . (p_b' - p_a') + angular . (w_b - w_a)
///
/// where p_a, p_b are the origins of the frames and w_a, w_b the spins of the bodies, world axes.
typedef struct CnJointRow {
  CnVec3 linear, angular;
  double value;  ///< c: what is off in a locked direction, or a coordinate; m or rad
  int32_t turns; ///< 1: c is in rad; 0: in m
} CnJointRow;

/// The rows of a joint; all zero before the call.
typedef struct CnJointRows {
  CnJointRow locked[6];           ///< the first `locked_count` of the kind are read: c = 0 is kept
  CnJointRow axes[CN_JOINT_AXES]; ///< one a coordinate
  int32_t at_b; ///< 1: p_a is the point of body a that is at p_b now, as rows along axes that turn
                ///< with a need it: (e . d)' = e . (p_b' - p_a' - w_a x d), d = p_b - p_a
} CnJointRows;

/// A coordinate that a kind leaves free.
typedef struct CnOwnCoordinate {
  const char *name; ///< as in scenes; copied
  const char *unit; ///< "m" or "rad"
} CnOwnCoordinate;

/// A kind of joint.
typedef struct CnOwnJoint {
  uint32_t size;            ///< sizeof(CnOwnJoint)
  int32_t locked_count;     ///< 0 to 6 locked directions
  int32_t coordinate_count; ///< 0 to CN_JOINT_AXES
  const char *name;         ///< small letters, digits, _ and -; at most 31 bytes; copied
  const char *summary;      ///< one line; copied
  CnOwnCoordinate coordinates[CN_JOINT_AXES];
  /// Numbers of CnJointDef that the kind reads, by their names: "distance", "lead", "radius",
  /// "stiffness" and "damping" (of the locked directions; 0 is rigid). The others must be left alone.
  const char *reads[6];
  /// Fill in the rows: a function of the sight alone.
  void (*place)(void *context, const CnJointSight *sight, CnJointRows *rows);
  void *context; ///< given to the function; has to live as long as the program
} CnOwnJoint;

/// Put a kind into the table; *kind is its number for cn_joint_def_default, and scenes know its name. The
/// struct is copied. A name that is taken is CN_INVALID_ARGUMENT; there is room for 16. Kinds stay until the
/// program ends: register before worlds are made. A snapshot names the kind, and is refused where it is not
/// there; the number may be another one. May be called from any thread.
CN_API CnStatus cn_joint_register(const CnOwnJoint *joint, CnJointKind *kind);

/// The kind of that name, the library's or a program's own; CN_JOINT_KIND_NONE: there is none.
CN_API CnJointKind cn_joint_kind_find(const char *name);

#ifdef __cplusplus
}
#endif
#endif
