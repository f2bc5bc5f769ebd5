// SPDX-License-Identifier: Apache-2.0
// A world as a machine: bodies with mass, rows that hold them, forces on them, as dense matrices at
// one position. What equilibrium, modes, inverse dynamics and the matrices of the interface share.
//
//     M a = f + E^T g,   E v = 0,   M = L L^T
//
// Rows are brought to B = E L^-T, so that lengths and angles are those of the kinetic energy, and
// factored (sparse/span.h): what is orthogonal to them is the space of free motions. A motion of the
// machine is six numbers a body, velocity of the centre of mass and spin in world axes; a step along
// it moves bodies by it, rotations by the exponential map.
#ifndef CNI_MACHINE_H
#define CNI_MACHINE_H

#include <cairn/mechanism.h>

#include "sparse/sparse.h"
#include "world/world.h"

#define CNI_MACHINE_BODIES 256    // dense matrices: beyond that it is refused
#define CNI_MACHINE_LOST 1e-9     // as sparse/direct.h
#define CNI_MACHINE_TOUCHING 1e-6 // of the smaller shape, or m and rad of limits: nearer it touches

// Where two shapes touch, or will.
typedef struct CniMachineContact {
  int32_t shape_a, shape_b, body_a, body_b;
  uint32_t feature;
  CnVec3 point, normal, tangents[2]; // at the machine's pose; normal from a to b
  double gap, friction;
} CniMachineContact;

// Whose a row is. Locked directions and drives of joints, couplings; of what only pushes (limits,
// one-sided couplings, contacts) the value is a gap.
typedef struct CniMachineRef {
  CnMachineRowKind kind;
  int32_t joint;  // dense; of a coupling or a contact: its number
  int32_t row;    // of cni_joint_row; of a contact: 0 normal, 1 and 2 tangents
  int32_t pushes; // 1: the effort is not negative
  double side;    // value is side (x - bound)
  double bound, rate, acceleration;
} CniMachineRef;

// A row at poses: value, and what of the twists of bodies is in its rate.
#define CNI_MACHINE_SIDES (2 * CN_COUPLING_TERMS)
typedef struct CniMachineRowAt {
  double value;
  int32_t side_count, bodies[CNI_MACHINE_SIDES];
  CnTwist sides[CNI_MACHINE_SIDES];
} CniMachineRowAt;

typedef struct CniMachine {
  CnWorld *world;
  CniModel *model;
  CniArena arena;
  double time;
  int32_t body_count, columns; // bodies with mass; six times that
  int32_t *bodies, *place;     // dense index of a body of the machine, and back (-1)
  CnPose *pose, *trial;        // of all bodies of the model
  CnTwist *twist;              // likewise, of the state looked at
  CnPose *old_pose;            // of the world at the beginning, to go back to
  CnTwist *old_twist;
  CniJoint *old_joints;
  CniMachineRef *refs;
  int32_t ref_count, held_count; // rows that hold come first, then those that push
  CniMachineContact *touches;
  int32_t touch_count;
  CniCollision *collision;
  double *mass_factor; // L, columns x columns
  int32_t *mass_first; // of its rows
  CniSpan span;        // of the rows that hold, over L and row_scale
  double *row_scale;   // what a held row does to centres of bodies, or else to their spins
} CniMachine;

typedef enum CniDrives { CNI_DRIVES_FREE, CNI_DRIVES_HOLD } CniDrives;

// Bodies, poses and rows of the world as it is. After a failure too it is ended.
CnStatus cni_machine_begin(CnWorld *world, CniDrives drives, CniMachine *m);
void cni_machine_end(CniMachine *m);

// Contacts nearer than `reach`: rows that push; sticking: of those that touch, `touching` of the
// smaller shape, tangents are rows that hold. Called again it finds them anew.
CnStatus cni_machine_contacts(CniMachine *m, CnMachineContacts contacts, double reach,
                              double touching);

// Rows that push and touch become rows that hold.
void cni_machine_hold_pushing(CniMachine *m, double touching);

void cni_machine_row_at(const CniMachine *m, const CniMachineRef *ref, const CnPose *pose,
                        CniMachineRowAt *at);
// The same as numbers of the machine's columns; returns the value.
double cni_machine_row(const CniMachine *m, const CniMachineRef *ref, double *row);
// d/dt of the row's rate with velocities that stand still, less the target's acceleration.
double cni_machine_curvature(const CniMachine *m, const CniMachineRef *ref);
// Rate that bodies outside the machine and the target give the row.
double cni_machine_rate(const CniMachine *m, const CniMachineRef *ref);

void cni_machine_mass(const CniMachine *m, double *mass); // columns x columns, armatures included
// L, and the factored rows that hold; memory of the arena.
CnStatus cni_machine_factor(CniMachine *m);
// x <- Z^T L^-1 x and back, Z the free motions: the first `freedoms` numbers count.
static inline int32_t cni_machine_freedoms(const CniMachine *m) {
  return m->columns - m->span.rank;
}
void cni_machine_reduce(const CniMachine *m, const double *x, double *work, double *reduced);
void cni_machine_expand(const CniMachine *m, const double *reduced, double *x);
// Z^T L^-1 a L^-T Z, freedoms x freedoms; a and work are columns x columns and destroyed.
void cni_machine_reduce_matrix(const CniMachine *m, double *a, double *work, double *reduced);
// Efforts of the rows that hold which leave of a load only what is free: shortest in the scale of
// the rows.
CnStatus cni_machine_efforts(CniMachine *m, const double *load, double *efforts);
// Poses of `from` moved along a motion.
void cni_machine_move(const CniMachine *m, const CnPose *from, const double *motion, double share,
                      CnPose *to);
// Close the rows that hold at `pose` by motions across them, with the factor there is.
// Returns the largest error left (m, rad).
double cni_machine_close(CniMachine *m, CnPose *pose, double *work, int32_t rounds);
// Close them from farther away, with factors of its own. What is left is in *error, of row *worst.
CnStatus cni_machine_assemble(CniMachine *m, double *error, int32_t *worst);
double cni_machine_open(const CniMachine *m, const CnPose *pose, int32_t *worst);
// The world takes over pose and twist; whole turns of angles are counted.
void cni_machine_commit(CniMachine *m);
// Joints and couplings keep these efforts of the rows, and what their springs and motors do, as those
// of the last step. Accelerations (null: none) are for armatures.
void cni_machine_keep(CniMachine *m, const double *efforts, const double *acceleration);
// The world is again as it was at the beginning.
void cni_machine_back(CniMachine *m);
// What a row is called in messages.
void cni_machine_row_name(const CniMachine *m, const CniMachineRef *ref, char *text, size_t size);

// ---- machine_forces.c ----

// Forces on the machine at its pose and twist: gravity, loads, springs, force elements, motors that
// give efforts, gyroscopic torques. `sizes` (null: not asked for) gets what was added up, without
// signs.
CnStatus cni_machine_load(CniMachine *m, double *load, double *sizes);
// -d load/d motion with the efforts of all rows kept, and -d load/d velocity; columns x columns.
CnStatus cni_machine_stiffness(CniMachine *m, const double *efforts, double *stiffness,
                               double *damping);
double cni_machine_energy(const CniMachine *m); // J, of gravity and springs

#endif
