// SPDX-License-Identifier: Apache-2.0
// What links bodies and drives them: joints, couplings of their coordinates, forces, functions of time,
// bodies that follow these, pairs that do not meet; curves, which joints share. A part of model.h.
#ifndef CNI_MODEL_LINKS_H
#define CNI_MODEL_LINKS_H

#include "core/function.h"
#include "force/force.h"
#include "joint/joint.h"

typedef struct CniModel CniModel;

typedef struct CniJoint {
  uint32_t slot, generation;
  int32_t body_a, body_b;  // dense; -1: the ground
  int32_t next_a, next_b;  // lists of joints per body, -1
  CnPose local_a, local_b; // frames from the centre of mass, principal axes (ground: world)
  // what every step reads and writes stands together
  double impulse_step;        // s: time step the impulse belongs to
  CnVec3 carried;             // N s: the force of `drift`, as `total`; the drift reckons with it
  CnTwist total;              // N s, N m s, world axes, on b at its frame: what it amounts to
  double near[CN_JOINT_AXES]; // rad: angles that wrap, with their whole turns; m: places on curves
  CniJointImpulse impulse;    // of the last step, along the rows: warm start
  double drift[CN_JOINT_AXES][CNI_PART_COUNT]; // along the coordinates, after the kick
  CnJointDef def;      // as given, a distance filled in; def.name is null: name has it
  CniCurve *curves[2]; // of kinds that have some
  char name[CNI_NAME_SIZE];
} CniJoint;

// Bodies of a force are found by their ids.
typedef struct CniForce {
  uint32_t slot, generation;
  double near;    // rad: of kinds that wrap, the angle with its whole turns
  CnForceDef def; // as given, a rest length filled in; def.name is null: name has it
  char name[CNI_NAME_SIZE];
} CniForce;

typedef struct CniFunction {
  uint32_t slot, generation;
  CnFunctionDef def; // its points are in `points`; def.name is null: name has it
  double *points;    // times, values, second derivatives; null: none
  char name[CNI_NAME_SIZE];
} CniFunction;

typedef struct CniCoupling {
  uint32_t slot, generation;
  CnCouplingDef def;   // def.name is null: name has it
  double impulse;      // of the last step: warm start
  double drift;        // what it did after the kick
  double impulse_step; // s
  char name[CNI_NAME_SIZE];
} CniCoupling;
#define CNI_TAG_COUPLING 0x6c70756fu

// The row of a coupling: bodies ascending, each once, and what of their twists is in it.
typedef struct CniCouplingPlace {
  double value; // of the relation less its offset
  int32_t body_count, bodies[2 * CN_COUPLING_TERMS];
  CnTwist rows[2 * CN_COUPLING_TERMS];
  int32_t turns; // the first coordinate is an angle
} CniCouplingPlace;

// The same by joints: what of a coordinate's row is in it.
typedef struct CniCouplingTerm {
  int32_t joint;
  CnVec3 arm_a, arm_b;
  CniJointRow row;
  double slope; // dc/dx
} CniCouplingTerm;

// Few: bodies are found by their ids.
typedef struct CniBodyMotion {
  CnBodyId body;
  CnMotionDef def; // the axis of length one
  CnPose start;    // of the body, with the functions at zero
} CniBodyMotion;
// Two bodies that do not meet; a has the smaller slot.
// What the program has put down about a thing.
typedef struct CniNote {
  uint32_t sort, slot, generation; // sort: CnThingSort of <cairn/change.h>
  uint64_t user_data;
  char name[CNI_NAME_SIZE]; // of shapes
} CniNote;
typedef struct CniDisabled {
  CnBodyId a, b;
} CniDisabled;

#define CNI_TAG_MOTION 0x746f6d6eu

CnStatus cni_model_add_joint(CniModel *model, const CnJointDef *def, CnJointId *id);
CnStatus cni_model_set_joint(CniModel *model, CnJointId id, const CnJointDef *def);
CnStatus cni_model_remove_joint(CniModel *model, CnJointId id);
CnStatus cni_model_add_function(CniModel *model, const CnFunctionDef *def, CnFunctionId *id);
CnStatus cni_model_set_function(CniModel *model, CnFunctionId id, const CnFunctionDef *def);
CnStatus cni_model_remove_function(CniModel *model, CnFunctionId id);
CnStatus cni_model_add_force(CniModel *model, const CnForceDef *def, CnForceId *id);
CnStatus cni_model_set_force(CniModel *model, CnForceId id, const CnForceDef *def);
CnStatus cni_model_remove_force(CniModel *model, CnForceId id);
CnStatus cni_model_add_curve(CniModel *model, const CnCurveDef *def, CnCurveId *id);
CnStatus cni_model_remove_curve(CniModel *model, CnCurveId id);
CnStatus cni_model_find_joint(const CniModel *model, CnJointId id, int32_t *index);
CnStatus cni_model_find_function(const CniModel *model, CnFunctionId id, int32_t *index);
CnStatus cni_model_find_force(const CniModel *model, CnForceId id, int32_t *index);
CnStatus cni_model_find_curve(const CniModel *model, CnCurveId id, int32_t *index);

// The bodies of a joint's or a force's definition, -1 for the ground; at most one of them is that.
CnStatus cni_joint_bodies(const CniModel *model, CnBodyId body_a, CnBodyId body_b, int32_t *a,
                          int32_t *b);
// The two ends of a joint at given poses and twists (null: at rest) of all bodies, and its rows.
void cni_joint_ends(const CniJoint *joint, const CnPose *pose, const CnTwist *twist, CniJointEnd *a,
                    CniJointEnd *b);
void cni_joint_sight_at(const CniJoint *joint, const CnPose *pose, CniJointSight *sight);
void cni_joint_at(const CniJoint *joint, const CnPose *pose, CniJointPlace *place);
void cni_joint_locked_at(const CniJoint *joint, const CnPose *pose, CniJointPlace *place);
void cni_joint_between(const CniJoint *joint, const CniJointEnd *a, const CniJointEnd *b,
                       CniJointPlace *place);
// Value and two derivatives of a function, by dense index, and of what a motor wants.
void cni_function_at(const CniModel *model, int32_t function, double t, double result[3]);
// When its slope jumps next after t; infinite: never.
double cni_function_kink(const CniModel *model, CnFunctionId id, double t);
// Its definition, and its second derivatives if it is a spline.
const CnFunctionDef *cni_function_of(const CniModel *model, int32_t function, const double **bends);
void cni_joint_target(const CniModel *model, const CnJointAxis *axis, double t, double result[3]);
CnStatus cni_model_add_coupling(CniModel *model, const CnCouplingDef *def, CnCouplingId *id);
CnStatus cni_model_remove_coupling(CniModel *model, CnCouplingId id);
CnStatus cni_model_find_coupling(const CniModel *model, CnCouplingId id, int32_t *index);
CnStatus cni_coupling_check(const CniModel *model, const CnCouplingDef *def);
void cni_coupling_at(const CniModel *model, const CniCoupling *coupling, const CnPose *pose,
                     CniCouplingPlace *place);
// Its value, and its terms, of which there is room for all.
double cni_coupling_terms(const CniModel *model, const CniCoupling *coupling, const CnPose *pose,
                          CniCouplingTerm *terms);
// c'' for bodies whose velocities stand still.
double cni_coupling_curvature(const CniModel *model, const CniCoupling *coupling,
                              const CnPose *pose, const CnTwist *twist);
// def null: none.
CnStatus cni_model_set_motion(CniModel *model, CnBodyId body, const CnMotionDef *def, double t);
// Copy a name, cut to fit at a character's border; null is the empty name.
void cni_name_copy(char name[CNI_NAME_SIZE], const char *text);
// What the program has put down about a thing (notes.c): null: nothing. Setting one takes the place of
// another of the same sort and slot.
const CniNote *cni_model_note(const CniModel *model, uint32_t sort, uint32_t slot,
                              uint32_t generation);
CnStatus cni_model_note_set(CniModel *model, const CniNote *note);
CnStatus cni_notes_consistent(const CniModel *model);
// Change what a body or a shape was made with (change.c). Nothing has changed where that fails.
CnStatus cni_model_set_mass(CniModel *model, int32_t body, CnBodyDef *mass);
CnStatus cni_model_set_kind(CniModel *model, int32_t body, CnBodyKind kind);
CnStatus cni_model_set_filter(CniModel *model, int32_t shape, uint32_t category, uint32_t mask);
// Pairs of bodies that do not meet (disabled.c); there may be such a pair already, or none.
CnStatus cni_model_disable_pair(CniModel *model, CnBodyId a, CnBodyId b);
CnStatus cni_model_enable_pair(CniModel *model, CnBodyId a, CnBodyId b);
int cni_pair_disabled(const CniModel *model, int32_t body_a, int32_t body_b); // dense indices
// Where the i-th motion has its body at a time, the twist there and its derivative; returns the body.
int32_t cni_motion_at(const CniModel *model, int32_t i, double t, CnPose *pose, CnTwist *twist,
                      CnTwist *change);
// When a velocity of a motion jumps next.
double cni_motions_kink(const CniModel *model, double t);
// Velocities that bring bodies with a motion to where they are to be at t + h; h 0: those at t. `old`
// gets those that they had.
void cni_motions_aim(CniModel *model, double t, double h, CnTwist *old);
void cni_motions_back(CniModel *model, const CnTwist *old);
// A checked function with memory of its own, for data read from outside.
CnStatus cni_function_make(CniModel *model, const CnFunctionDef *given, CniFunction *f);
// Whole turns of angles counted, after bodies have moved on for h: of joints and forces. places: of joints
// before that, null: not known.
void cni_turns_follow(CniModel *model, double h, const CniJointPlace *places);
// A force at a state (twist null: at rest): its bodies, a and b, their ends, and what it sees there.
typedef struct CniForceAt {
  int32_t bodies[2];
  CniJointEnd ends[2];
  CniForceSight sight;
} CniForceAt;
void cni_force_at(const CniModel *model, const CniForce *force, double time, const CnPose *pose,
                  const CnTwist *twist, CniForceAt *at);
// What it does there; a function that is missing or fails is an error.
CnStatus cni_force_act(const CniForce *force, const CniForceAt *at, CniForcePlace *place);

// Take a curve over likewise.
CnStatus cni_curve_keep(CniModel *model, const CniCurve *curve);
// The curves that a joint's definition names, and their count of uses by one more or less.
CnStatus cni_joint_find_curves(const CniModel *model, CniJoint *joint);
void cni_joint_use_curves(CniJoint *joint, int32_t change);

#endif
