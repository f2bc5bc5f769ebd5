// SPDX-License-Identifier: Apache-2.0
/// What a designer asks of a machine: its matrices, the efforts that a motion needs, where it comes
/// to rest, and how it vibrates about that place. Dense matrices: up to 256 bodies with mass.
#ifndef CAIRN_MECHANISM_H
#define CAIRN_MECHANISM_H

#include <cairn/world.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- matrices ---------------------------------------------------------------------------------

/// What contacts do in the questions below. Friction is never slipping friction: a contact slides
/// freely or sticks.
typedef enum CnMachineContacts {
  CN_CONTACTS_FRICTIONLESS = 0, ///< they push along their normals
  CN_CONTACTS_STICKING,         ///< shapes that touch roll on each other without slipping
  CN_CONTACTS_NONE              ///< they are not there
} CnMachineContacts;

typedef enum CnMachineRowKind {
  CN_MACHINE_LOCKED = 0, ///< a locked direction of a joint
  CN_MACHINE_DRIVE,      ///< a coordinate that a motor keeps
  CN_MACHINE_COUPLING,   ///< a relation between coordinates
  CN_MACHINE_LIMIT,      ///< a limit of a coordinate
  CN_MACHINE_CONTACT     ///< two shapes
} CnMachineRowKind;

/// A row of the constraint Jacobian: whose it is.
typedef struct CnMachineRow {
  CnMachineRowKind kind;
  CnJointId joint;       ///< locked directions, drives, limits
  int32_t index;         ///< locked direction, or coordinate; contacts: 0 normal, 1, 2 tangents
  CnCouplingId coupling; ///< couplings
  CnShapeId shape_a, shape_b; ///< contacts
  double error;               ///< m or rad: how far it is from where it is held
} CnMachineRow;

/// A coordinate of the machine that may be chosen freely: one of a joint, or of a body (coordinate 0
/// to 2: along x, y, z; 3 to 5: about them). Joints come first, in the order of cn_world_next_joint.
typedef struct CnMachineFreedom {
  CnJointId joint;    ///< none: a body's
  CnBodyId body;      ///< none: a joint's
  int32_t coordinate; ///< of it
} CnMachineFreedom;

/// Which matrix; n bodies with mass, m rows, d freedoms. By rows; six columns a body: velocity of
/// the centre of mass and spin, world axes.
typedef enum CnMachineMatrix {
  CN_MACHINE_MASS = 0,      ///< 6n x 6n, armatures of motors included
  CN_MACHINE_JACOBIAN,      ///< m x 6n
  CN_MACHINE_LOADS,         ///< 6n x 1: forces and torques, with those that spinning bodies ask for
  CN_MACHINE_BASIS,         ///< 6n x d: motions with one freedom at rate 1, the others at rest
  CN_MACHINE_REDUCED_MASS,  ///< d x d: basis^T mass basis, the textbook's mass matrix
  CN_MACHINE_REDUCED_LOADS, ///< d x 1: basis^T loads, without what a moving basis asks for
  CN_MACHINE_STIFFNESS,     ///< 6n x 6n: -d(loads)/d(motion), efforts of the rows kept: those that
                            ///< hold the loads as far as they can
  CN_MACHINE_DAMPING,       ///< 6n x 6n: -d(loads)/d(velocity)
  CN_MACHINE_MATRIX_COUNT
} CnMachineMatrix;

/// A picture of a world's machine at its present position. It stays as it is when the world goes on, and is
/// destroyed before it.
typedef struct CnMachine CnMachine;

typedef struct CnMachineDef {
  uint32_t size, tag;         ///< set by cn_machine_def_default
  CnMachineContacts contacts; ///< default CN_CONTACTS_NONE; touching shapes alone make rows
  int32_t hold_drives; ///< 1: motors keep their coordinates, as rows; default 0: they are free
} CnMachineDef;

typedef struct CnMachineInfo {
  int32_t body_count, row_count;
  int32_t dependent_count; ///< rows that follow from others
  int32_t freedom_count;   ///< six a body less the rows that do not
} CnMachineInfo;

/// Without contacts, with motors that are free.
CN_API CnMachineDef cn_machine_def_default(void);
/// def null: the default. On failure *machine is NULL.
CN_API CnStatus cn_machine_create(CnWorld *world, const CnMachineDef *def, CnMachine **machine);
/// Release a machine. Null is allowed.
CN_API void cn_machine_destroy(CnMachine *machine);
/// How many bodies, rows and freedoms it has.
CN_API CnStatus cn_machine_info(const CnMachine *machine, CnMachineInfo *info);
/// The body of columns 6 index to 6 index + 5; a row of the Jacobian; a freedom.
CN_API CnStatus cn_machine_body(const CnMachine *machine, int32_t index, CnBodyId *body);
/// Row `index` of the Jacobian: whose it is.
CN_API CnStatus cn_machine_row(const CnMachine *machine, int32_t index, CnMachineRow *row);
/// Freedom `index`: which coordinate it is.
CN_API CnStatus cn_machine_freedom(const CnMachine *machine, int32_t index,
                                   CnMachineFreedom *freedom);
/// Copy a matrix; `capacity` numbers are there. values null: only the sizes are told.
CN_API CnStatus cn_machine_matrix(const CnMachine *machine, CnMachineMatrix which, double *values,
                                  int64_t capacity, int32_t *rows, int32_t *columns);

// ---- inverse dynamics -------------------------------------------------------------------------

/// A coordinate whose motion is prescribed, and the effort that it takes.
typedef struct CnDriveMotion {
  CnJointId joint;
  int32_t coordinate;
  double value, rate, acceleration; ///< m or rad, and per s, per s^2
  double effort;                    ///< filled in: N or N m along the coordinate
} CnDriveMotion;

typedef struct CnInverse {
  int32_t freedoms; ///< left without a prescribed motion: they go on as forces have it
  double error;     ///< m, rad: what the joints and motions contradict each other by
  double speed;     ///< m/s, rad/s: likewise
  double power;     ///< W of all prescribed motions
} CnInverse;

/// Efforts that prescribed motions need at a time: the position and velocity that they ask for are
/// found from the present ones, then the accelerations, then the forces. Motors take part with their
/// targets at that time and whatever effort it takes (those of speed where their coordinates are now), so
/// `motions` may be null; a given motion goes before the motor of its coordinate. The world is left there,
/// and cn_joint_state, cn_coupling_state and sensors tell reactions and efforts as after a step; its clock
/// stays. One-sided couplings take part where they carry; contacts, limits and dry friction of joints do
/// not. On failure nothing has changed.
CN_API CnStatus cn_world_inverse(CnWorld *world, double time, CnDriveMotion *motions,
                                 int32_t motion_count, CnInverse *inverse);

// ---- equilibrium ------------------------------------------------------------------------------

typedef enum CnStability {
  CN_STABLE = 0, ///< every small motion raises the potential energy
  CN_NEUTRAL,    ///< some change it by nothing: a body may be moved without a force
  CN_UNSTABLE    ///< some lower it: a saddle or a top
} CnStability;
/// Name of it: "stable"; null past the last one.
CN_API const char *cn_stability_name(int32_t stability);

typedef struct CnEquilibriumDef {
  uint32_t size, tag;         ///< set by cn_equilibrium_def_default
  CnMachineContacts contacts; ///< default CN_CONTACTS_FRICTIONLESS
  int32_t accept_saddle;      ///< 1: the first place without forces will do; default 0: one that is
                              ///< not stable is left along its steepest way down
  int32_t max_iterations;     ///< default 1000
  double tolerance; ///< default 1e-11: forces left, relative to those that act; where round-off
                    ///< of stiff springs leaves more, so much as it leaves, up to 1e-5
  double max_work;  ///< default 3e11: products of dense matrices, some minutes; an iteration takes
                    ///< about n^3 of them, n six a body and one a contact
  /// Called once an iteration, null (default): with the forces left and the share of max_work made.
  void (*progress)(void *context, int32_t iteration, double residual, double share);
  void *context;
} CnEquilibriumDef;

typedef struct CnEquilibrium {
  int32_t iterations;
  int32_t freedoms;       ///< of the machine with the contacts and limits that carry
  int32_t carrying_count; ///< contact points and limits that push
  CnStability stability;
  int32_t unstable_count, neutral_count; ///< directions
  int32_t saddles_left;                  ///< places without forces that were not stable
  double force, torque;                  ///< N, N m: largest left on a body
  double residual;                       ///< relative to the forces that act
  double energy;                         ///< J, of gravity (zero at the origin) and springs
  double moved, turned;                  ///< m, rad: of the body that went farthest
  double friction;         ///< sticking: largest ratio of tangential to normal force of two shapes
  double friction_reserve; ///< sticking: largest of that ratio over their coefficient of friction:
                           ///< above 1 they would slip
} CnEquilibrium;

/// Frictionless contacts, stable places only, 1e-11.
CN_API CnEquilibriumDef cn_equilibrium_def_default(void);

/// Move a world to where it is at rest: no forces are left but those that rows and contacts hold. Of
/// a conservative machine that is a minimum of its potential energy, found by Newton's method with
/// steps that go down. Motors that keep a position or are at rest hold; dampers, dry friction of
/// joints and the effort a motor has do not matter. Velocities of dynamic bodies become zero. Where
/// none is found: CN_STOPPED, a sentence, and nothing has changed. def null: the default.
CN_API CnStatus cn_world_equilibrium(CnWorld *world, const CnEquilibriumDef *def,
                                     CnEquilibrium *equilibrium);

// ---- modes ------------------------------------------------------------------------------------

typedef struct CnModesDef {
  uint32_t size, tag;         ///< set by cn_modes_def_default
  CnMachineContacts contacts; ///< default CN_CONTACTS_FRICTIONLESS: shapes that touch stay so
  double tolerance;           ///< default 1e-6: how far from an equilibrium the world may be
} CnModesDef;

/// A motion exp(lambda t) about an equilibrium; of a pair of conjugates one.
typedef struct CnMode {
  double frequency;       ///< Hz, damped: Im lambda/(2 pi); 0: it creeps
  double natural;         ///< Hz: |lambda|/(2 pi)
  double damping;         ///< ratio -Re lambda/|lambda|; 0 without a damper; below 0 it grows
  double real, imaginary; ///< lambda, 1/s
} CnMode;

/// How a body moves in a mode; the largest number of all bodies is about 1 (m, or rad).
typedef struct CnModeShape {
  CnTwist real, imaginary; ///< of the centre of mass, world axes
} CnModeShape;

/// Frictionless contacts, within 1e-6 of an equilibrium.
CN_API CnModesDef cn_modes_def_default(void);

/// Modes about the present position, ascending by natural frequency. *count is how many there are;
/// the first `capacity` are given. Shapes (null: not asked for): body_count of CnWorldInfo each, in
/// the order of cn_world_next_body. Where the position is no equilibrium: CN_INVALID_ARGUMENT. Bodies
/// that spin about an axis of symmetry take part with their gyroscopic torques; other motion is
/// refused. def null: the default.
CN_API CnStatus cn_world_modes(CnWorld *world, const CnModesDef *def, CnMode *modes,
                               CnModeShape *shapes, int32_t capacity, int32_t *count);

#ifdef __cplusplus
}
#endif
#endif
