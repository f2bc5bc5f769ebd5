// SPDX-License-Identifier: Apache-2.0
// The drift of bodies on joints (drift_joints.c): what is given, what holds, what comes back. A part of
// assembly.h.
#ifndef CNI_ASSEMBLY_DRIFT_H
#define CNI_ASSEMBLY_DRIFT_H

#include "core/memory.h"
#include "model/model.h"
#include "problem/problem.h"
#include <cairn/solver.h>

// What holds a coordinate of a joint, or the relation of a coupling, in the drift as in the kick.
typedef struct CniHold {
  int32_t axis;
  CniJointPart part;
  int32_t side;      // 1, -1: not below, not above its target; 0: neither
  int32_t active;    // 0: watched
  double target;     // m or rad: where it is to be at the end
  double rate;       // rad/s, of a motor that keeps it: the target is then that of the beginning
  double near;       // rad, of a limit: where its rate brings it, which tells the whole turns
  double passed;     // m or rad: how far it is from where it may be, at the beginning
  double lo, hi;     // N s or N m s: what the drift may add
  double impulse;    // where it does not hold: what it adds
  double compliance; // of a rotor: 1 over its inertia
} CniHold;

// What the drift added along a coordinate, or by a coupling; the other one is -1.
typedef struct CniDriftEffort {
  int32_t joint, coupling, axis;
  CniJointPart part;
  double impulse;
} CniDriftEffort;

// Joints and couplings that ask for places which exclude each other.
typedef struct CniTorn {
  int32_t count, links[CN_REPORT_ROWS]; // a joint, or -1 less a coupling
} CniTorn;

typedef struct CniDriftInput {
  const CniModel *model;
  const CnProblem *problem; // of the kick
  const double *g;          // its impulses
  const double *last;       // those of its last round, whose bounds the problem has
  const int32_t *joint_blocks;
  const CniJointPlace *places;     // of the joints where the step begins; null: not known
  const CnPose *pose;              // where the step begins
  const CnTwist *twist;            // after its impulses
  double time_step, stabilisation; // share of the joints' errors that goes away
  double recovery_speed;           // m/s: no faster than that; below 0: as contacts have it
  double threshold;                // m/s or rad/s: faster ones bounce at their limits
  CnVec3 gravity;
  CnPose *pose_new;               // in: of bodies that move as prescribed; out: of those on joints
  CnTwist *end;                   // out: theirs
  CnTwist *reactions;             // out, by joint: impulse on b at its frame; zeros before
  CnBalanceTerm *terms;           // by CnBalancePart: added to; null: nobody asks
  const CniDriftEffort **efforts; // out, from the arena
  int32_t *effort_count;
  CniTorn *torn;   // out: added to
  int32_t *missed; // out: joints did not come to where they should by Newton's method
  struct CniDirect *direct;
  CniArena *arena;
  CnTasks *tasks;
} CniDriftInput;
// Does a joint's drift move this body?
int cni_drift_takes(const CniModel *model, int32_t body);
// Motion of the bodies on rigid joints, which stay together. Working memory from the arena.
CnStatus cni_drift_joints(const CniDriftInput *input);

// What the scheme took of the angular momentum of machines that float, given back (whole_turn.c).
typedef struct CniWholeTurn {
  const CniModel *model;
  const CnProblem *problem; // of the kick before the drift, with its impulses; null: there was none
  const double *g;
  const int32_t *joint_blocks;
  const CnPose *pose;   // where the drift begins,
  const CnTwist *twist; // and how
  const CnPose *pose_new;
  CnTwist *end;         // of the drift; changed
  int32_t missed;       // it left joints apart
  CnBalanceTerm *terms; // by CnBalancePart: added to; null: nobody asks
  CniArena *arena;
} CniWholeTurn;
CnStatus cni_whole_turn(const CniWholeTurn *input);

#endif
