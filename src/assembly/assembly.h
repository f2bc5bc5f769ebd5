// SPDX-License-Identifier: Apache-2.0
// Model and contacts in, step problem out: groups from bodies, blocks from joints and contacts,
// warm start from the impulses of the last step; and the way back, from the answer to impulses.
#ifndef CNI_ASSEMBLY_H
#define CNI_ASSEMBLY_H

#include "collision/collision.h"
#include "core/memory.h"
#include "model/model.h"
#include "problem/problem.h"
#include <cairn/solver.h>

// Impulse of a contact, world axes, on b.
typedef struct CniContactImpulse {
  CnVec3 linear;  // N s
  CnVec3 angular; // N m s: rolling and spinning
} CniContactImpulse;

// What the contacts of the last step carried: the warm start. By rank in the present places of the
// shapes, then by feature.
typedef struct CniOldContacts {
  int32_t count;                 // those whose shapes both still exist
  const uint64_t *rank;          // ascending; null: that of the contacts in short
  const int32_t *place;          // in the arrays below; null: in the same order
  const CniShortContact *shorts; // null: all are in full
  const CniContact *full;        // of these only the features are read
  const int32_t *full_at;        // places of those in full, ascending, if not all are
  int32_t full_count;
  const CnVec3 *linear;  // as in CniContactImpulse
  const CnVec3 *angular; // null: none anywhere
  double time_step;      // s, of the step that they belong to; 0: none
} CniOldContacts;

static inline uint64_t cni_old_rank(const CniOldContacts *old, int32_t i) {
  return old->rank ? old->rank[i] : cni_short_rank(old->shorts[i]);
}
// First old contact whose rank is not below the given one.
int32_t cni_old_find(const CniOldContacts *old, uint64_t rank);

// A contact that bounces: what later rounds of a step (impacts.c) must know of it.
typedef struct CniBounce {
  int32_t block;
  int32_t state; // CniBounceState
  double gap, restitution;
  double plain; // b_n without an impact
  double rest;  // the same, if it may rest: a small gap closes gently
  // of an impact in two phases (not by Newton's law)
  double before;        // m/s, u_n before the compression
  double now;           // m/s, u_n after the stage so far
  double pressed, work; // N s and J, of the compression so far
  double target;        // m/s, u_n after the rebound
} CniBounce;
typedef enum CniBounceState {
  CNI_BOUNCE_PLAIN = 0, // no impact: the row of any contact
  CNI_BOUNCE_IMPACT,    // b_n has its restitution
  CNI_BOUNCE_OPEN       // hit by another impact: left out of this round
} CniBounceState;
typedef struct CniBounces {
  CniBounce *items;
  int32_t count, capacity;
  int32_t sequential; // contacts at rest are hit one after another, too
  int32_t law;        // CnRestitutionLaw
  int32_t stage;      // of the compression
  int32_t rebound;    // the present solve is one of the rebound: 1 is the first
  double threshold;   // m/s, slower ones do not bounce
  double time_step;
  double *total; // impulses of all rounds, if there were some
  int32_t rounds, total_capacity;
} CniBounces;

#define CNI_FEW_BOUNCES 512 // up to so many a step may have rounds
// Speed that a compression has to reach in a stage: the stages share it.
#define CNI_STAGES 16
static inline double cni_stage_b(const CniBounce *bounce, int32_t stage) {
  if (stage < CNI_STAGES - 1) return -bounce->before * (1 - (stage + 1.0) / CNI_STAGES);
  return bounce->plain < 0 ? bounce->plain : 0;
}

// After a solve of a step's problem, `solves` so far: do impacts follow from its impacts? Then problem
// and answer are those of the next round (1), or of the same one, to be solved anew (2).
CnStatus cni_bounce_again(CniBounces *bounces, int32_t solves, CnProblem *problem, CnAnswer *answer,
                          int32_t *again);

typedef struct CniAssemblyInput {
  const CniModel *model;
  const CnPose *pose;
  const CnTwist *twist;
  const CnTwist *loads; // beside the model's, about the centres of mass; null: none
  const double *times;  // by body: of the step that is over already; null: nothing is
  const uint8_t *flies; // by body: 1: gravity does not act on it here; null: it does on all
  const CniContact *contacts;
  int32_t contact_count;
  CniOldContacts old;
  CnVec3 gravity;
  double time, time_step;
  double stabilisation, contact_stabilisation, restitution_threshold;
  double recovery_speed; // m/s; below 0: by the size of the smaller shape and gravity
  double contact_slop;   // m, 0: SLOP of the smaller inradius
  double late;           // 1 - theta of springs
  int32_t geometric_stiffness;
  void (*modify)(void *context, CnContactTuning *contact); // null: none
  void *modify_context;
  int32_t movable; // 1: every contact has a body with mass, as all that collision finds have
  // filled: each contact in short, CNI_SHORT_BIT of a: it is not of two spheres; CNI_SHORT_NONE: it has no
  // block; null: nobody asks
  CniShortContact *shorts;
  CniBounces *bounces;   // filled: contacts with restitution; null: nobody asks
  CniJointPlace *places; // filled: where the joints are; null: nobody asks
  CniArena *arena;       // working memory of this step: taken from, never reset here
  CnTasks *tasks;
} CniAssemblyInput;

// Groups are bodies: group i is body i; one more at the end, without mass, is the ground. Joints
// come first, in dense order, then contacts in the order given, by ascending rank. block_of tells
// where a contact went, -1 where the modify hook took it out. Contacts without a body that has mass
// have no block (-1). Joint i has the blocks joint_blocks[i] .. joint_blocks[i + 1] - 1, none
// without a body that has mass; they are those of cni_joint_blocks. Fills the problem (cleared
// first) and the answer (fitted; g = warm start). block_of has contact_count entries and
// joint_blocks joint_count + 1, both given by the caller. On failure the problem is empty.
CnStatus cni_assemble(const CniAssemblyInput *input, CnProblem *problem, CnAnswer *answer,
                      int32_t *joint_blocks, int32_t *block_of);

// The law of one contact, its materials' or what the modify hook makes of it, and how fast b's surface
// moves against a's by itself (world axes). Model, pose and modify of the input are read.
CnStatus cni_contact_law(const CniAssemblyInput *input, const CniContact *contact,
                         CniMaterialPair *law, CnVec3 *surface, int32_t *enabled);

// Impulses of the blocks [first, first + count) from the answer, for the cache and for users.
// `angular` may be null.
void cni_contact_impulses(const CnProblem *problem, const CnAnswer *answer, int32_t first,
                          int32_t count, CnVec3 *linear, CnVec3 *angular);

// Of the same blocks those that contradict each other: overlaps whose compliance has taken more than
// half of the speed that they ask for. Adds to the rows of the report; the first ones' places among
// the blocks to `contacts`, room for CN_REPORT_ROWS, the rest -1.
void cni_contacts_contradict(const CnProblem *problem, const double *g, int32_t first,
                             int32_t count, CnSolveReport *report, int32_t *contacts);

// ---- joints ----

// A joint keeps the impulses of its blocks, the warm start of the next step, and what they amount to.
// Poses of the model and time are those at which the problem was made.
void cni_joint_keep(const CniModel *model, CniJoint *joint, double time, double time_step,
                    double late, const CnProblem *problem, const double *g, int32_t first_block,
                    const CniJointPlace *places);
// The impulse of a part of a joint's row from the equations of motion into g; rows as in
// cni_joint_row.
void cni_joint_put(const CniJoint *joint, const CnPose *pose, const CnProblem *problem,
                   int32_t first_block, int32_t end_block, int32_t row, CniJointPart part,
                   double impulse, double *g);

// The ends of a joint at poses whose quaternions may be off the sphere by the error of a stage; twists
// from v, null: at rest.
void cni_joint_stage_ends(const CniJoint *joint, const CnPose *pose, const double *v,
                          CniJointEnd *a, CniJointEnd *b);
int cni_joint_is_spring(const CniJoint *joint); // its locked directions are soft
int cni_axis_is_soft(const CnJointAxis *axis);  // its limits are
// Does a joint push without rows in the equations of motion, and what (efforts.c).
int cni_joint_has_efforts(const CniJoint *joint);
void cni_joint_efforts(const CniModel *model, const CniJoint *joint, double t, const CnPose *pose,
                       const double *v, CniJointPlace *place, CniJointImpulse *efforts);

// The blocks of couplings come just before those of joints: end_block is the first of these.
void cni_couplings_keep(CniModel *model, double time_step, const CnProblem *problem,
                        const double *g, int32_t end_block);
void cni_coupling_put(const CniModel *model, int32_t coupling, const CnProblem *problem,
                      int32_t end_block, double impulse, double *g);

// Springs of forces over a step of the equations of motion, by the trapezoidal rule, into g.
CnStatus cni_forces_put(const CniModel *model, const CnPose *pose_new, const CnTwist *twist_new,
                        double time, double time_step, const CnProblem *problem, double *g);

// What springs do after the drift, as momenta: six numbers a group, added to.
void cni_late_springs(const CniModel *model, const CnProblem *problem, const int32_t *joint_blocks,
                      const double *g, double late, double *momentum);

// ---- balance ----

typedef struct CniBalanceInput {
  const CniModel *model;
  const CnProblem *problem;
  const CnAnswer *answer;
  const CnPose *from, *pose, *pose_new; // before the step, where impulses act, after it
  const CnTwist *start, *twist, *end;   // likewise
  const uint8_t *flies;        // by body: gravity acts before and after the impulses; null: on none
  const CnBalanceTerm *drift;  // of joints in the drift, by part; null: none
  const CnTwist *late;         // momenta of springs after it, by body; null: none
  const int32_t *joint_blocks; // of cni_assemble
  CnVec3 gravity;
  double time, time_step, restitution_threshold;
  int32_t geometric_stiffness;
  int32_t rounds; // of impacts, if more than one: the groups are those of the last one
  // 1: the impulses are sums over a step of the equations of motion. Joints work by the means of
  // their rates at both ends; of contacts and forces directions are those of the problem, velocities
  // means of both ends; what that leaves is the scheme's.
  int32_t by_quadrature;
  CniArena *arena;
} CniBalanceInput;
CnStatus cni_balance(const CniBalanceInput *input, CnStepBalance *balance);

// ---- free motion ----

// Attitude and spin of a free body after the time h: energy and angular momentum (as a vector) stay
// for any h. Inertias are principal and not all equal.
void cni_drift_turn(CnVec3 inertia, double h, CnQuat *rotation, CnVec3 *spin);

// What holds a coordinate of a joint, or the relation of a coupling, in the drift as in the kick.
typedef struct CniHold {
  int32_t axis;
  CniJointPart part;
  int32_t side;   // 1, -1: not below, not above its target; 0: neither
  int32_t active; // 0: watched
  double target;  // m or rad: where it is to be at the end
  double rate;    // rad/s, of a motor that keeps it: the target is then that of the beginning
  double passed;  // m or rad: how far it is from where it may be, at the beginning
  double lo, hi;  // N s or N m s: what the drift may add
  double impulse; // where it does not hold: what it adds
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

// May kicks act every other step, twice as much? Joints lock and do nothing else, and their forces do not
// make bodies swing faster than that resolves. Model, pose, time_step, places and tasks of the input
// are read, places filled.
int cni_joints_calm(const CniAssemblyInput *input);

typedef struct CniDriftInput {
  const CniModel *model;
  const CnProblem *problem; // of the kick
  const double *g;          // its impulses
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
  CniTorn *torn; // out: added to
  struct CniDirect *direct;
  CniArena *arena;
  CnTasks *tasks;
} CniDriftInput;
// Does a joint's drift move this body?
int cni_drift_takes(const CniModel *model, int32_t body);
// Motion of the bodies on rigid joints, which stay together. Working memory from the arena.
CnStatus cni_drift_joints(const CniDriftInput *input);

#endif
