// SPDX-License-Identifier: Apache-2.0
// What the files of assembly share with each other and with nobody else.
#ifndef CNI_ASSEMBLY_PRIVATE_H
#define CNI_ASSEMBLY_PRIVATE_H

#include "assembly/assembly.h"
#include "core/assert.h"

// Sets already in the problem, found by value: blocks with one law share one set. Open addressing;
// the memory is the arena's.
typedef struct CniSetTable {
  CnProblem *problem;
  CniArena *arena;
  int32_t *slots; // set index, -1: free; null while there are few sets
  int32_t capacity;
  int32_t last; // found before: most ask for that again
} CniSetTable;

// Index of a set equal to this one, added if there is none.
CnStatus cni_set_table_find(CniSetTable *table, const CnSet *set, int32_t *index);

// What the groups need: inertia of their own where a body is not like a ball, old velocities of
// their own where more than gravity acts.
void cni_groups_room(const CniAssemblyInput *input, CniProblemRoom *room);
// Group i from body i, and the ground after them. Room must be there.
void cni_assemble_groups(const CniAssemblyInput *input, CnProblem *problem);

// The group of a contact's body, and where tables have its shape.
static inline int32_t cni_body_group(const CniAssemblyInput *in, int32_t body) {
  return in->bodies ? cni_subset_place(in->bodies, body) : body;
}
static inline int32_t cni_shape_place(const CniAssemblyInput *in, int32_t shape) {
  return in->shapes ? cni_subset_place(in->shapes, shape) : shape;
}

// Joints, forces and couplings alike. The group of a body, of the ground (-1) the last; radius of gyration
// of two groups that move against each other; do rows turn?
static inline int32_t cni_group_of(const CnProblem *problem, int32_t body) {
  return body >= 0 ? body : problem->group_count - 1;
}
double cni_gyration(const CnProblem *problem, int32_t a, int32_t b);
int cni_rows_turn(const CniJointPlace *place);
// A force on the free velocity of a group.
void cni_group_push(CnProblem *problem, int32_t group, double h, CnVec3 force, CnVec3 arm,
                    CnVec3 torque);
// Blocks to the problem, impulses kept times `scale` to g; pair: locked rows are those of a pair.
CnStatus cni_write_blocks(const CniJointPlace *place, const CniJointBlock *blocks, int32_t count,
                          int32_t a, int32_t b, int pair_rows, CniJointImpulse *kept, double scale,
                          CnProblem *problem, CniSetTable *sets, double *g);

// The positive part of h^2 K - J of a body, K summed over forces f h^2 at its joints, p from its centre of
// mass; mass: what is felt at the joint if that alone holds the body. The last returns 0 if there is none.
typedef struct CniStiffness {
  CnSym3 sum;
  CnSym3 swing;         // less the mass about the joint with the longest lever
  double longest, next; // m^2
  int32_t any;
} CniStiffness;

// Forces: what they need; their compliant rows, the first of the problem, and their loads on the
// free velocities.
void cni_forces_room(const CniAssemblyInput *input, CniProblemRoom *room);
CnStatus cni_assemble_forces(const CniAssemblyInput *input, CnProblem *problem, CniSetTable *sets,
                             double *g);
// Couplings: a row each, after those of the forces.
void cni_couplings_room(const CniAssemblyInput *input, CniProblemRoom *room);
CnStatus cni_assemble_couplings(const CniAssemblyInput *in, CnProblem *problem, CniSetTable *sets,
                                double *g);
// ---- drift ----

// How many coordinates something may hold: so many rows in the drift.
int32_t cni_joint_hold_count(const CnJointDef *def);
// What holds the coordinates of joint i, which is at `place`; returns their number.
int32_t cni_joint_holds(const CniDriftInput *input, int32_t i, const CniJointPlace *place,
                        CniHold *holds);
CniHold cni_coupling_hold(const CniDriftInput *input, int32_t i, double value);

// The k that turns a body of that spin by h w (drift.c); h beyond three radians.
double cni_drift_stretched(double h, double spin);
#define CNI_DRIFT_LONG                                                                             \
  1.2 // rad: what turns by more in a step as a whole is not stretched (drift/pace.c)

// What joints do to turn a body within a drift, in its axes at the beginning: a couple, and forces f at
// arms r that turn with it.
typedef struct CniDriftTorque {
  CnVec3 couple;
  CnMat3 arms; // sum of r f^T
} CniDriftTorque;
// A rotation after a step k with the midpoint spin m; not a number where there is none.
CnQuat cni_drift_turned(CnQuat from, CnVec3 m, double k);
// Midpoint spin Wm in body axes, from a guess; torque may be null. Returns 0 if it was not found.
int cni_drift_middle(CnVec3 inertia, CnVec3 w0, const CniDriftTorque *torque, double h,
                     CnVec3 *middle);

// ---- contacts, in two passes ----

// The law between two materials and its sets (-1: not yet in the problem).
typedef struct CniMaterialSets {
  int32_t material_a, material_b;
  int32_t set, cohesive_set;
  int32_t moving; // a surface of the two has a velocity of its own
  CniMaterialPair law;
} CniMaterialSets;

// Laws of the pairs of materials that meet, by value; the memory is the arena's.
typedef struct CniLawTable {
  CniMaterialSets *laws;
  int32_t *slots; // law index, -1: free
  int32_t count, capacity, slot_capacity;
} CniLawTable;

// Law of one contact after the user's hook.
typedef struct CniTunedMaterial {
  CnVec3 surface; // m/s, of b's surface relative to a's
  double restitution;
} CniTunedMaterial;

// Of a shape, where contacts of spheres look for it: half a cache line.
typedef struct CniShapeCentre {
  CnVec3 centre; // of its body
  double inradius;
} CniShapeCentre;
_Static_assert(sizeof(CniShapeCentre) == 32, "never across two lines");

// What the first pass leaves for the second.
typedef struct CniContactPlan {
  CniLawTable laws;
  const uint32_t *shape_info;    // per shape that may have contacts: see below
  const CniShapeCentre *centres; // likewise
  int32_t *law_of;               // per contact; null with a hook and if all are alike
  CniTunedMaterial *tuned;       // per contact; null without a hook
  double least_recovery;         // m/s, of all contacts: the speed at which overlaps go away
  const uint8_t *squeezed;       // per contact: see squeeze.c; null: none is
  int32_t turning;               // some shape's body turns as prescribed
  // All contacts are of one law and have sphere blocks one after another, which the second pass
  // makes from the first one.
  int32_t uniform;
  int32_t first_block;
  CniBlock first;
} CniContactPlan;

// First: laws, sets, storages, and where every contact goes. Room for contact_count blocks must be
// there; room in the storages and rows is made here, and the counts set. block_of is filled unless
// all are alike.
CnStatus cni_plan_contacts(const CniAssemblyInput *input, CnProblem *problem, CniSetTable *sets,
                           int32_t *block_of, CniContactPlan *plan);
// Second, in parallel: geometry, right-hand side, warm start; block_of if all are alike.
void cni_fill_contacts(const CniAssemblyInput *input, CnProblem *problem,
                       const CniContactPlan *plan, int32_t *block_of, double *g);

// squeeze.c: overlaps that contradict each other, and the compliance they have. The least inradius of all
// shapes is known, and whether there are joints or kinematic bodies.
CnStatus cni_find_squeezed(const CniAssemblyInput *input, const CnProblem *problem, double inradius,
                           int driven, CniContactPlan *plan);
double cni_squeeze_compliance(const CnProblem *problem, const CniContact *contact, int driven);
#define CNI_PINCHED 2 // squeezed by what is driven

// Of b's surface against a's, for a rider on a body whose spin is prescribed (contacts/turntables.c).
CnVec3 cni_contact_ride(const CniAssemblyInput *in, const CniContactPlan *plan,
                        const CnProblem *problem, const CniContact *c);
// e of a contact, and its b_n without an impact.
double cni_contact_restitution(const CniContactPlan *plan, int32_t contact);
double cni_contact_plain_b(const CniAssemblyInput *in, const CniContactPlan *plan,
                           const CniContact *c);
// Contacts with restitution, in their order.
CnStatus cni_list_bounces(const CniAssemblyInput *input, const CnProblem *problem,
                          const CniContactPlan *plan, const int32_t *block_of);

// Surface velocity of a shape's material in world axes.
CnVec3 cni_surface_velocity(const CniAssemblyInput *input, int32_t shape, int32_t body);

// What is known of a shape for all of its contacts, one word each: CNI_INFO_ bits, and the material
// above them.
#define CNI_INFO_MASS 1u // its body has mass
#define CNI_INFO_BALL 2u // it meets its contacts like a ball about the centre of mass, or not turns
#define CNI_INFO_TURNS 4u // its body turns as prescribed
#define CNI_INFO_MOVED 8u // its body is kinematic
#define CNI_INFO_SHIFT 4

// Lever arms of a contact's point, and the contact's radius: distance of the point from the nearer
// centre that has mass.
typedef struct CniArms {
  CnVec3 a, b;
} CniArms;

static inline CniArms cni_contact_arms(const CniAssemblyInput *in, const CniContact *c) {
  return (CniArms){cn_sub(c->point, in->pose[c->body_a].position),
                   cn_sub(c->point, in->pose[c->body_b].position)};
}

// The gap below which a contact closes gently, and the overlap up to which it is a rigid one.
static inline double cni_contact_slop(const CniAssemblyInput *in, const CniContactPlan *plan,
                                      const CniContact *c) {
  if (in->contact_slop > 0) return in->contact_slop;
  return CNI_SLOP * cn_min(plan->centres[cni_shape_place(in, c->shape_a)].inradius,
                           plan->centres[cni_shape_place(in, c->shape_b)].inradius);
}

// How much farther apart than its row says the shapes of contact i are after the step, m, if they go
// on as they do (bend.c).
// `last` keeps what was found for the contacts before, of the same two shapes mostly.
typedef struct CniBend {
  int32_t low; // a contact; -1: none yet
  double way;
} CniBend;
double cni_contact_bend(const CniAssemblyInput *in, const CniContactPlan *plan, int32_t i,
                        CniBend *last);

static inline double cni_contact_length(CniArms arms, uint32_t info_a, uint32_t info_b) {
  double a = info_a & CNI_INFO_MASS ? cn_norm(arms.a) : INFINITY;
  double b = info_b & CNI_INFO_MASS ? cn_norm(arms.b) : INFINITY;
  double length = cn_min(a, b);
  return length > 0 && isfinite(length) ? length : 1;
}

// Can an impulse move the group? A block between two that it cannot move is none.
static inline int cni_group_has_mass(const CniGroup *group) { return group->inv_mass > 0; }

// Append a block header after those that are there; room must be there (asserted). The counts of rows and of
// the storage are the caller's.
static inline int32_t cni_append_block(CnProblem *problem, CniStorage storage, int32_t index,
                                       int32_t row, int32_t set, int32_t dim) {
  CNI_ASSERT(problem->block_count < problem->block_capacity && set < problem->set_count);
  int32_t block = problem->block_count++;
  problem->blocks[block] = cni_block_make(storage, index, row, set, problem->sets[set].kind, dim);
  return block;
}

#include "assembly/joints/joints_private.h"

#endif
