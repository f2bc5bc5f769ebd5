// SPDX-License-Identifier: Apache-2.0
// Model and contacts in, step problem out: groups from bodies, blocks from joints and contacts,
// warm start from the impulses of the last step; and the way back, from the answer to impulses.
#ifndef CNI_ASSEMBLY_H
#define CNI_ASSEMBLY_H

#include "assembly/balance.h"
#include "assembly/drift.h"
#include "assembly/links.h"
#include "assembly/tree.h"
#include "collision/collision.h"
#include "core/math/subset.h"
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
  const CniContact *full;        // of these only features and normals are read
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
  int32_t own; // sets from there on are those of one block each
} CniBounces;

#define CNI_SLOP 1e-3 // of the smaller inradius: the slop where none is given

// Of overlaps deeper than the slop: are any squeezed (squeeze.c)?
CnStatus cni_squeeze_any(const CniModel *model, const CniContact *deep, int32_t count,
                         CniArena *arena, int *any);

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

// Friction in proportion to what joints carry: after a solve, is the problem to be solved again, with the
// bounds of what they carry by its answer? Where friction slips and makes more than itself of what it goes with
// there is no such force: it jams.
typedef struct CniJointRub {
  const CniModel *model;
  const CniJointPlace *places;
  const int32_t *joint_blocks;
  double time_step, late;
  int32_t solves, repeats; // 0 before the first
  int32_t own;             // sets from there on are those of one block each
  double growing, grown;   // how much a bound grew in this solve, and in a row of them
  int32_t uneven;          // 1: a bound fell after the first solve, or a joint jams
  CniTorn jammed;          // joints whose friction grows without end
} CniJointRub;
CnStatus cni_joints_rub(CniJointRub *in, CnProblem *problem, const double *g, int32_t *again);

typedef struct CniAssemblyInput {
  const CniModel *model;
  const CnPose *pose;
  const CnTwist *twist;
  const CnTwist *loads; // beside the model's, about the centres of mass; null: none
  const double *times;  // by body: of the step that is over already; null: nothing is
  const uint8_t *flies; // by body: 1: gravity does not act on it here; null: it does on all
  const CniContact *contacts;
  int32_t contact_count;
  // the bodies that get groups, those of all contacts among them, and the shapes of contacts; null: all
  const CniSubset *bodies, *shapes;
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
  double *least_inradius; // filled, where there are contacts: of all shapes; null: nobody asks
  CniBounces *bounces;    // filled: contacts with restitution; null: nobody asks
  CniJointPlace *places;  // filled: where the joints are; null: nobody asks
  CniArena *arena;        // working memory of this step: taken from, never reset here
  CnTasks *tasks;
} CniAssemblyInput;

// Groups are bodies: group i is body i, or the one at place i of `bodies`; one more at the end, without mass, is the ground. Joints
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

// An impulse on b and an angular one about the point, world axes, added to the numbers of a block.
void cni_contact_put(const CnProblem *problem, const CniBlock *block, CnVec3 linear, CnVec3 angular,
                     double *g);

// Of the same blocks those that contradict each other: overlaps whose compliance has taken more than
// half of the speed that they ask for. Adds to the rows of the report; the first ones' places among
// the blocks to `contacts`, room for CN_REPORT_ROWS, the rest -1.
void cni_contacts_contradict(const CnProblem *problem, const double *g, int32_t first,
                             int32_t count, CnSolveReport *report, int32_t *contacts);

// ---- free motion ----

// Attitude and spin of a free body after the time h: energy and angular momentum (as a vector) stay
// for any h. Inertias are principal and not all equal.
void cni_drift_turn(CnVec3 inertia, double h, CnQuat *rotation, CnVec3 *spin);

// May kicks act every other step, twice as much? Joints lock and do nothing else, and their forces do not
// make bodies swing faster than that resolves. Model, pose, time_step, places and tasks of the input
// are read, places filled.
int cni_joints_calm(const CniAssemblyInput *input);

#endif
