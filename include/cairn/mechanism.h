// SPDX-License-Identifier: Apache-2.0
/// What a designer asks of a machine: its matrices, and the efforts that a motion needs. Dense matrices: up to 256 bodies with mass.
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

/// A picture of a world's machine at its present position. It stays as it is when the world goes on.
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

CN_API CnMachineDef cn_machine_def_default(void);
/// def null: the default. On failure *machine is NULL.
CN_API CnStatus cn_machine_create(CnWorld *world, const CnMachineDef *def, CnMachine **machine);
CN_API void cn_machine_destroy(CnMachine *machine);
CN_API CnStatus cn_machine_info(const CnMachine *machine, CnMachineInfo *info);
/// The body of columns 6 index to 6 index + 5; a row of the Jacobian; a freedom.
CN_API CnStatus cn_machine_body(const CnMachine *machine, int32_t index, CnBodyId *body);
CN_API CnStatus cn_machine_row(const CnMachine *machine, int32_t index, CnMachineRow *row);
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
/// found from the present ones, then the accelerations, then the forces. Motors that keep a position
/// or a speed take part with their targets at that time and whatever effort it takes, so `motions` may
/// be null; a given motion goes before the motor of its coordinate. The world is left in the position
/// and with the velocities found, and cn_joint_state, cn_coupling_state and sensors tell reactions
/// and efforts as after a step; its clock stays. Contacts, limits and dry friction of joints do not
/// take part. On failure nothing has changed.
CN_API CnStatus cn_world_inverse(CnWorld *world, double time, CnDriveMotion *motions,
                                 int32_t motion_count, CnInverse *inverse);

#ifdef __cplusplus
}
#endif
#endif
