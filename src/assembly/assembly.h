// Model and contacts in, step problem out: groups from bodies, blocks from joints and contacts,
// warm start from the impulses of the last step; and the way back, from the answer to impulses.
#ifndef CNI_ASSEMBLY_H
#define CNI_ASSEMBLY_H

#include "collision/collision.h"
#include "core/memory.h"
#include "model/model.h"
#include "problem/problem.h"

// Impulse that a contact of the last step carried, by key: the warm start. World axes, on b.
typedef struct CniContactImpulse {
  CniContactKey key;
  CnVec3 linear;  // N s
  CnVec3 angular; // N m s: rolling and spinning
} CniContactImpulse;

typedef struct CniAssemblyInput {
  const CniModel *model;
  const CnPose *pose;
  const CnTwist *twist;
  const CniContact *contacts;
  int32_t contact_count;
  const CniContactImpulse *old_impulses; // sorted by key
  int32_t old_impulse_count;
  double old_time_step; // s, step of the old impulses; 0: none
  CnVec3 gravity;
  double time, time_step;
  double stabilisation, contact_stabilisation, recovery_speed, restitution_threshold;
  double contact_slop; // m, 0: SLOP of the smaller inradius
  int32_t geometric_stiffness;
  void (*modify)(void *context, CnContactTuning *contact); // null: none
  void *modify_context;
  CniArena *arena; // working memory of this step: taken from, never reset here
  CnTasks *tasks;
} CniAssemblyInput;

// Groups are bodies: group i is body i; one more at the end, without mass, is the ground. Joints
// come first, in dense order, then contacts by key. block_of tells where a contact went, -1 where
// the modify hook took it out; joint_block_of likewise. Joints and contacts without a body that has
// mass have no block (-1). Fills the problem (cleared first) and the answer (fitted; g = warm
// start). block_of has contact_count entries and joint_block_of joint_count entries, both given by
// the caller. On failure the problem is empty.
//
// The rows of a joint's block are CniJointRows of its kind: a ball joint's impulse is a world
// vector on b, a distance joint's is along the line from a to b.
CnStatus cni_assemble(const CniAssemblyInput *input, CnProblem *problem, CnAnswer *answer,
                      int32_t *joint_block_of, int32_t *block_of);

// Impulse of a contact from the answer, for the cache and for users.
CniContactImpulse cni_contact_impulse(const CnProblem *problem, const CnAnswer *answer,
                                      const CniContact *contact, int32_t block);

// ---- joints: one table ----

typedef struct CniJointRows {
  int32_t dim; // rows of its one pair block
  CnVec3 normal, tangent;
  CnVec3 arm_a, arm_b;
  double error[3]; // c(q) along the rows, m
} CniJointRows;

typedef struct CniJointKindRow {
  const char *name;
  int32_t dim;
  void (*rows)(const CniModel *model, const CnPose *pose, const CniJoint *joint,
               CniJointRows *rows);
} CniJointKindRow;

extern const CniJointKindRow cni_joint_kinds[CN_JOINT_KIND_COUNT];

// ---- free motion ----

// Spin after a step of the torque-free gyroscopic motion: implicit midpoint in body axes, which
// keeps the rotational energy and the size of the angular momentum for any h.
CnVec3 cni_gyroscopic_spin(CnVec3 inertia, CnQuat rotation, CnVec3 spin, double h);

#endif
