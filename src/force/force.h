// SPDX-License-Identifier: Apache-2.0
// Kinds of forces. A kind is one file, force_NAME.c, and one row of <cairn/force_list.h>.
//
// A force hinders nothing; otherwise it is made of what joints are made of. A kind gives rows, as
// the coordinates of a joint are (joint/joint.h), each with a stiffness k and a damping d, and
// beside them a load:
//
//     on b, at its frame:   sum over rows of -(k c + d c') (l, w)  +  (force, torque)
//
// and the opposite on a. c is how far a row is from where its spring is free. The step problem takes
// the rows as compliant ones, implicit and exact in every solver, and the load as it is at the start
// of the step; equations of motion evaluate the sum at every stage. A kind that knows its derivatives
// rather than its springs (user) gives the step problem other rows and loads than a stage: it looks
// at the time step.
//
// Nothing here knows of bodies, models or worlds.
#ifndef CNI_FORCE_H
#define CNI_FORCE_H

#include <cairn/force.h>

#include "core/function.h"
#include "joint/joint.h"

#define CNI_TAG_FORCE 0x63726f66u

typedef struct CniForceSight {
  CniJointSight at;      // the two frames and their lever arms; no definition
  CnVec3 velocity, spin; // of b's frame against a's
  const CnForceDef *def;
  const CniJointEnd *ends;
  double near; // rad: of kinds that wrap, about where the angle is
  double time;
  double time_step;          // s, of the step problem; 0: a stage, the force as it is now
  const CnFunctionDef *rest; // function of time that a length follows, with its bends; null: none
  const double *bends;
} CniForceSight;

typedef struct CniForcePlace {
  CniJointPlace rows;   // the axes; nothing is locked
  CnJointDef law;       // stiffness and damping of the axes; nothing else of it is filled in
  CnVec3 force, torque; // the load
  CnStatus status;      // of a function that failed
  const char *unfit;    // what a function gave that is not finite; null: nothing
} CniForcePlace;

typedef struct CniForceKind {
  const char *name, *summary;
  int32_t row_count; // at most
  int32_t single;    // 1: it acts on b alone
  int32_t wraps;     // 1: it goes with the turn about z, whole turns counted
  const CniField *fields;
  // Fills in what this kind needs beyond the checked fields, with the frames where they are now;
  // null: nothing.
  CnStatus (*fit)(const CniForceSight *sight, CnForceDef *def);
  // Add rows and load, in a fixed order.
  void (*place)(const CniForceSight *sight, CniForcePlace *place);
} CniForceKind;

extern const CniForceKind *const cni_force_kinds[CN_FORCE_KIND_COUNT]; // the library's
// Any kind; null: there is none. Those of the program (force_own.c) come after the library's.
static inline const CniForceKind *cni_force_kind(int64_t kind) {
  if (kind < CN_FORCE_KIND_COUNT) return cni_force_kinds[kind];
  return cn_own_row(CNI_OWN_FORCE, (int32_t)(kind - CN_FORCE_KIND_COUNT));
}
static inline int32_t cni_force_kind_count(void) {
  return CN_FORCE_KIND_COUNT + cn_own_count(CNI_OWN_FORCE);
}
// What a force does, as its function tells it (user, own kinds), at the end of a step where it is stiff.
CnForceSight cni_force_shown(const CniForceSight *sight);
void cni_force_take_effect(const CniForceSight *sight, const CnForceEffect *effect,
                           CniForcePlace *place);

// ---- for the kinds ----

#define CNI_FORCE_FIELD(sort, field, limits, unit_, sentence_)                                     \
  CNI_FIELD(sort, CnForceDef, field, limits, unit_, sentence_)

// A row without stiffness and damping is left out.
void cni_force_row(CniForcePlace *place, CniJointRow row, double stiffness, double damping);

// ---- for the users: any kind; ends a and b ----

CniForceSight cni_force_sight(const CnForceDef *def, const CniJointEnd ends[2]);
CnStatus cni_force_place(const CniForceSight *sight, CniForcePlace *place);
// What the bodies get from it, W.
double cni_force_power(const CniForcePlace *place, const CniJointEnd ends[2], CnTwist total);
// Force and torque on b at its frame, world axes.
CnTwist cni_force_total(const CniForcePlace *place, const CniJointEnd ends[2]);
double cni_force_energy(const CniForcePlace *place);

extern const CniField cni_force_fields[]; // of CnForceDef, of all kinds
// Everything but the bodies; rotations of the frames are brought to length one.
CnStatus cni_force_def_check(CnForceDef *def);

#endif
