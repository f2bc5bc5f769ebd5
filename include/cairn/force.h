// SPDX-License-Identifier: Apache-2.0
/// Force elements: the kinds, how one is defined, what it tells. Part of <cairn/world.h>.
///
/// A force acts between a frame on body a and a frame on body b, or on body b alone, and hinders
/// nothing. It is a function of where the bodies are and how they move: `impulse` takes stiffness
/// and damping at the end of a step, so that no spring is too stiff; the other integrators evaluate
/// it at each of their stages.
#ifndef CAIRN_FORCE_H
#define CAIRN_FORCE_H

#include <cairn/base.h>
#include <cairn/joint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CnForceId {
  uint32_t slot, generation;
} CnForceId;

/// CN_FORCE_SPRING ...: the rows of <cairn/force_list.h>.
typedef enum CnForceKind {
#define CN_FORCE(KIND, name) CN_FORCE_##KIND,
#include <cairn/force_list.h>
#undef CN_FORCE
  CN_FORCE_KIND_COUNT
} CnForceKind;

/// Name of a kind, as in scenes and run files: "spring"; null past the end.
CN_API const char *cn_force_kind_name(CnForceKind kind);

/// What a force of your own sees: the frames in the world, and how their origins move and turn.
typedef struct CnForceSight {
  double time;              ///< s, of the stage
  CnBodyId body_a, body_b;  ///< none: the ground
  CnPose frame_a, frame_b;  ///< m
  CnTwist twist_a, twist_b; ///< m/s, rad/s, world axes
} CnForceSight;

/// What it does; zero before the call. World axes.
typedef struct CnForceEffect {
  CnVec3 force, torque;   ///< N, N m on body b at the origin of its frame; a feels the opposite at
                          ///< the same point
  int32_t stiff;          ///< 1: the matrices below are given, and `impulse` takes the force at the
                          ///< end of its step, so that it may be stiff
  double stiffness[6][6]; ///< -d(force, torque)/d(shift, turn) of b's frame seen from a
  double damping[6][6];   ///< -d(force, torque)/d(velocity, spin) of it
} CnForceEffect;

/// A force of your own: a function of what it is shown and of nothing else. A status other than
/// CN_OK ends the step with it; CN_STOPPED lets hem5 and rkf45 try a shorter one first.
typedef CnStatus (*CnForceFunction)(void *context, const CnForceSight *sight,
                                    CnForceEffect *effect);

/// One struct for all forces: the kind selects which fields are read. All numbers are 0 by default.
typedef struct CnForceDef {
  uint32_t size, tag; ///< set by cn_force_def_default
  CnForceKind kind;
  CnBodyId body_a, body_b; ///< none: the ground; a force on one body acts on b, and a is none
  CnPose frame_a, frame_b; ///< in the body frames (ground: in the world)
  double stiffness;        ///< N/m, >= 0: springs
  double damping;          ///< N s/m, >= 0: springs
  double rest_length;      ///< m, >= 0: springs; 0 takes the length at creation
  CnFunctionId
      rest_function;     ///< springs: not none: the rest length as a function of time, an actuator
  double linear_drag;    ///< N s/m, >= 0: drag
  double quadratic_drag; ///< N s2/m2, >= 0: drag
  double angular_drag;   ///< N m s, >= 0: drag
  CnVec3 force, torque;  ///< N, N m: constant forces, on b at its frame
  int32_t body_fixed;    ///< constant forces: 1: in the axes of frame b; 0: of the world
  double torsion_stiffness;                  ///< N m/rad, >= 0: torsion springs, about z
  double torsion_damping;                    ///< N m s/rad, >= 0: torsion springs
  double rest_angle;                         ///< rad: torsion springs
  CnVec3 linear_stiffness, linear_damping;   ///< N/m, N s/m, >= 0: bushings, axes of frame a
  CnVec3 angular_stiffness, angular_damping; ///< N m/rad, N m s/rad, >= 0: bushings
  // What is beside the diagonal of a bushing's 6 x 6 matrices, none of whose eigenvalues is negative:
  CnVec3 linear_coupling, angular_coupling; ///< N/m, N m/rad: xy, xz, yz
  CnVec3 mixed_x, mixed_y, mixed_z;         ///< N/rad: force along x by turns about x, y, z
  CnVec3 linear_damping_coupling;           ///< N s/m: xy, xz, yz
  CnVec3 angular_damping_coupling;          ///< N m s/rad
  CnVec3 mixed_damping_x, mixed_damping_y, mixed_damping_z; ///< N s/rad
  double strength;          ///< N m2: attractions, force times distance squared
  CnForceFunction function; ///< user forces. Not in snapshots nor scenes: after a restore it is set
                            ///< again by cn_force_set, under the same id; a step without is refused
  void *context;            ///< user forces: given to the function
  const char *name;         ///< copied; may be NULL
} CnForceDef;

/// A definition of the kind with every number 0 and both frames the identity.
CN_API CnForceDef cn_force_def_default(CnForceKind kind);

/// What a force does in the present state.
typedef struct CnForceState {
  CnVec3 force, torque; ///< N, N m on body b at its frame, world axes; a feels the opposite
  double length, rate;  ///< m, m/s: distance of the two origins; 0 for a force on one body
  double power;         ///< W that the bodies get from it
  double energy;        ///< J stored in its springs
} CnForceState;

#ifdef __cplusplus
}
#endif
#endif
