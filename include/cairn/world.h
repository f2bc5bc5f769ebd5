// SPDX-License-Identifier: Apache-2.0
/// Worlds of rigid bodies: create, fill, step, ask, save and restore.
///
/// Everything in a world is named by an id (a value; zero means none). An id of something destroyed
/// is detected and answered with CN_INVALID_HANDLE. Bodies, shapes, materials, joints and
/// forces can be added and removed between any two steps. State is kept at the centre of mass; this interface
/// speaks of the body frame. Velocities and spins are in world axes.
#ifndef CAIRN_WORLD_H
#define CAIRN_WORLD_H

#include <cairn/base.h>
#include <cairn/force.h>
#include <cairn/function.h>
#include <cairn/joint.h>
#include <cairn/mesh.h>
#include <cairn/problem.h>
#include <cairn/ranks.h>
#include <cairn/shape.h>
#include <cairn/solver.h>
#include <cairn/system.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CnWorld CnWorld;

typedef struct CnShapeId {
  uint32_t slot, generation;
} CnShapeId;

// ---- hooks ------------------------------------------------------------------------------------

/// What a user may change in a contact before the problem is written. The surface velocity is that
/// of b's surface relative to a's, world axes.
typedef struct CnContactTuning {
  CnBodyId body_a, body_b;
  CnShapeId shape_a, shape_b;
  CnVec3 point, normal;     ///< m; unit, from a to b
  double gap;               ///< m
  double friction;          ///< >= 0
  double restitution;       ///< 0 .. 1
  double rolling_friction;  ///< m, >= 0
  double spinning_friction; ///< m, >= 0
  double cohesion;          ///< N, >= 0
  CnVec3 surface_velocity;  ///< m/s
  int32_t enabled;          ///< 0 takes the contact out of this step
} CnContactTuning;

/// A body at a stage of a step, as the force hook sees it; world axes.
typedef struct CnStageBody {
  CnBodyId body;
  CnVec3 centre; ///< m, of mass
  CnPose pose;   ///< of the body frame
  CnTwist twist; ///< m/s of the centre of mass, rad/s
} CnStageBody;

/// User functions called inside a step, always from the thread that called cn_world_step. They must
/// be functions of what they are given: a result may not depend on when or how often they are
/// called. They are called rounding to nearest, whatever the host's mode is, and leave it so.
typedef struct CnHooks {
  /// Before each step: read the state, apply forces, set poses and twists. Creating and destroying
  /// answers CN_BUSY. If the step fails, what was set here is taken back.
  void (*before_step)(void *context, CnWorld *world, double time, double time_step);
  /// Return 0 to keep two shapes from touching. Called for pairs that come near each other.
  int32_t (*filter)(void *context, const CnWorld *world, CnShapeId shape_a, CnShapeId shape_b);
  /// Change a contact's law for this step.
  void (*modify)(void *context, const CnWorld *world, CnContactTuning *contact);
  /// Forces of your own on all bodies at a stage: `loads` (zero before the call, in the order of
  /// `bodies`) takes force and torque about the centre of mass. impulse asks at the start of a step,
  /// the other integrators at each of their stages. A status other than CN_OK ends the step with it.
  CnStatus (*force)(void *context, const CnWorld *world, double time, const CnStageBody *bodies,
                    int32_t body_count, CnTwist *loads);
  void *context;
} CnHooks;

/// What the coefficient of restitution e is about, in `impulse`. Without friction the three agree; with
/// it Newton's law may create energy. Worlds with more than 512 contacts that bounce use Newton's.
typedef enum CnRestitutionLaw {
  CN_RESTITUTION_NEWTON = 0, ///< speeds: u+ = -e u-
  CN_RESTITUTION_POISSON,    ///< impulses: of the rebound e times that of the compression
  CN_RESTITUTION_ENERGETIC   ///< work: of the rebound e^2 times that of the compression (Stronge)
} CnRestitutionLaw;

// ---- the world --------------------------------------------------------------------------------

/// How to build a world. Start from cn_world_def_default() and change what you need.
typedef struct CnWorldDef {
  uint32_t size, tag;          ///< set by cn_world_def_default
  CnVec3 gravity;              ///< m/s^2, default (0, 0, -9.81)
  double time_step;            ///< s, > 0, default 1e-3
  const char *integrator;      ///< a name cn_integrator_name lists, default "impulse"
  CnIntegratorDef integration; ///< numbers of hem5, rkf45 and moreau-jean; its name, solver,
                               ///< observer and allocator are the world's
  CnSolverDef solver; ///< default cn_solver_def_default("auto"), with the integrator "moreau-jean"
      ///< of the effort "exact" while `name` is as the default function set it; its allocator and tasks
      ///< are the world's
  CnFrictionModel friction; ///< default CN_FRICTION_COULOMB
  double stabilisation; ///< kappa in (0, 1]: share of a joint's error removed per step, default 0.2
  double contact_stabilisation; ///< the same for contacts, default 0.02;
                                ///< docs/theory/step-problem.md tells why it is small
  double contact_slop; ///< m, >= 0: a smaller gap closes gently, by contact_stabilisation; default
                       ///< 0 means 0.001 of the smaller shape's radius
  double recovery_speed; ///< m/s: fastest speed at which overlaps are pushed apart; -1 (default):
                         ///< sqrt(g r), r the smaller shape's radius; no bound without gravity
  double
      restitution_threshold; ///< m/s: slower impacts do not bounce; -1 (default): g h, what gravity
                             ///< adds in a step
  CnRestitutionLaw restitution_law; ///< default CN_RESTITUTION_NEWTON
  double contact_margin; ///< m, >= 0: gaps below it always make a contact; default 0 means 0.05 of
      ///< the smaller shape's radius r, at most 2 h sqrt(g r). The distance covered in a
      ///< step is added.
  double
      spring_theta; ///< in [1/2, 1]: 1 (default) damps springs that h does not resolve, 1/2 keeps
                    ///< their energy (`impulse`; docs/theory/step-problem.md)
  int32_t geometric_stiffness; ///< 1 (default): joints under tension stay stable at large steps
  int32_t assemble;            ///< 1: before the first step bodies are moved so that the joints fit
                               ///< (cn_world_assemble to 1e-10); default 0
  int32_t balance;             ///< 1: every step keeps its balance for cn_world_balance; default 0
  const char *broad_phase; ///< a name cn_broad_phase_name lists, default "grid"; never changes bits
  int32_t worker_count;    ///< >= 1, default 1; results do not depend on it
  CnTaskHost task_host;    ///< default none: Cairn's own threads
  CnRanks *ranks;          ///< borrowed, default null. With several all make the same calls, and
                           ///< psor, pssor and auto share their sweeps (integrator impulse alone);
                           ///< results do not depend on it
  CnHooks hooks;           ///< default none
  CnLog log;               ///< default none
  CnAllocator allocator;   ///< default malloc and free
} CnWorldDef;

/// The usual settings, each as its field says.
CN_API CnWorldDef cn_world_def_default(void);

/// Create a world. On failure *world is NULL and nothing has to be released.
CN_API CnStatus cn_world_create(const CnWorldDef *def, CnWorld **world);
/// Release a world and everything in it. Null is allowed.
CN_API void cn_world_destroy(CnWorld *world);

/// What one step did.
typedef struct CnStepReport {
  int64_t step;          ///< number of steps made so far
  double time;           ///< s, at the end of the step
  int32_t contact_count; ///< contact blocks in the problem, potential ones included
  int32_t joint_count;
  CnSolveReport
      solve; ///< its infeasible rows are also those of contacts that contradict each other
  int32_t contradicting[CN_REPORT_ROWS]; ///< the first of these, for cn_world_contact; -1: no more
  CnIntegratorReport integration; ///< of hem5, rkf45 and moreau-jean: drift, error, steps, events
  double seconds_collision;       ///< poses to contacts
  double seconds_solver;          ///< the rest of the step
  double seconds_setup;           ///< the part of seconds_solver outside the sweeps
  double seconds_assembly;        ///< the part of seconds_setup from contacts to the step problem
  double seconds_end; ///< the part of seconds_setup after the solve: events, contacts and
                      ///< impulses kept, the new state
} CnStepReport;

/// Advance by one time step. A solver that stops early is reported in *report (may be NULL), not as
/// an error. On any failure the world is as it was before the call.
CN_API CnStatus cn_world_step(CnWorld *world, CnStepReport *report);

/// How wrong the next step is by itself: largest differences over all bodies between one step and two
/// of half its length, from the present state. An integrator of order p has an error of the step of
/// about 2^p/(2^p - 1) of that: twice of it with `impulse`, four thirds with `moreau-jean`; where an
/// impact falls into the step it is of the size of the step's motion.
typedef struct CnStepEstimate {
  double position, turn; ///< m, of centres of mass; rad
  double velocity, spin; ///< m/s, rad/s
} CnStepEstimate;

/// Find it. The world is not changed: the steps are made in a copy, with its hooks. Takes memory and
/// the time of three steps and a snapshot.
CN_API CnStatus cn_world_estimate(CnWorld *world, CnStepEstimate *estimate);

/// The step problem of the last step and its answer, for a look at what was solved: to certify,
/// expand, write to a file or solve again with another solver. Groups are the bodies in an order of
/// the world's own (cn_world_problem_body), the last one the ground; blocks of forces and joints come
/// before those of contacts (cn_world_problem_block). Both stay the world's, are not to be changed, and live
/// until it is stepped, restored or destroyed. `answer` may be null. Before the
/// first step, after a restore and after a step that failed there is none: CN_INVALID_ARGUMENT. Where several ranks
/// have parts of it (<cairn/ranks.h>): CN_UNSUPPORTED.
CN_API CnStatus cn_world_problem(CnWorld *world, CnProblem **problem, const CnAnswer **answer);

/// The body of a group of that problem; none for the ground. A body destroyed since is told all the
/// same: its id is stale. CN_INVALID_ARGUMENT where there is no problem or no such group.
CN_API CnStatus cn_world_problem_body(const CnWorld *world, int32_t group, CnBodyId *body);

/// Whose a block is.
typedef struct CnBlockOwner {
  CnJointId joint; ///< none if it is a contact's or a force's
  int32_t contact; ///< for cn_world_contact; -1 if it is a joint's or a force's
} CnBlockOwner;

/// The contact or joint of a block of that problem; a joint may have several. Fails as above.
CN_API CnStatus cn_world_problem_block(const CnWorld *world, int32_t block, CnBlockOwner *owner);

/// Change the time step or gravity from the next step on.
CN_API CnStatus cn_world_set_time_step(CnWorld *world, double time_step);
/// Change gravity (m/s^2) from the next step on.
CN_API CnStatus cn_world_set_gravity(CnWorld *world, CnVec3 gravity);

/// All settings as they are now: a definition that makes a world like this one. Its names are the
/// library's own strings.
CN_API CnStatus cn_world_settings(const CnWorld *world, CnWorldDef *def);

/// Settings, sizes and clock.
typedef struct CnWorldInfo {
  CnVec3 gravity;
  double time_step, time;
  int64_t step;
  int32_t body_count, shape_count, joint_count, material_count, contact_count, force_count;
  size_t memory_bytes, memory_peak_bytes; ///< from the world's allocator
} CnWorldInfo;
/// Clock, sizes and memory of a world.
CN_API void cn_world_info(const CnWorld *world, CnWorldInfo *info);

/// Sums over all bodies, from the present state.
typedef struct CnWorldSums {
  double kinetic_energy;   ///< J
  double potential_energy; ///< J, of gravity, zero at the origin
  CnVec3 momentum;         ///< kg m/s
  CnVec3 angular_momentum; ///< kg m^2/s about the origin
  double mass;             ///< kg, dynamic bodies
} CnWorldSums;
/// Energies, momenta and mass of all bodies, from the present state.
CN_API void cn_world_sums(const CnWorld *world, CnWorldSums *sums);

/// What can change momentum and energy in a step.
typedef enum CnBalancePart {
  CN_BALANCE_GRAVITY = 0,
  CN_BALANCE_LOADS,         ///< forces and torques applied, loads of force elements
  CN_BALANCE_SPRINGS,       ///< springs and dampers of joints and force elements
  CN_BALANCE_DRIVES,        ///< motors of joints, armatures, kinematic bodies, belts
  CN_BALANCE_JOINTS,        ///< locked directions
  CN_BALANCE_FRICTION,      ///< of contacts and of joints
  CN_BALANCE_IMPACTS,       ///< normals of contacts that closed faster than restitution_threshold,
                            ///< limits of joints
  CN_BALANCE_STABILISATION, ///< normals of the other contacts: what rests, overlaps that go away
  CN_BALANCE_SCHEME, ///< what is the time step's and not the world's: the weight's work in the kick
                     ///< less that along the way, geometric stiffness
  CN_BALANCE_PART_COUNT
} CnBalancePart;

/// Name of a part, for example "gravity"; null past the last one.
CN_API const char *cn_balance_part_name(int32_t part);

typedef struct CnBalanceTerm {
  CnVec3 momentum;         ///< kg m/s
  CnVec3 angular_momentum; ///< kg m^2/s about the origin
  double energy;           ///< J: kinetic energy, or work
} CnBalanceTerm;

/// Where momentum and kinetic energy of the bodies with mass went in a step. Impulses
/// are those on these bodies. Contacts, joints and springs work with the velocity of their two sides
/// against each other; what a kinematic body or a belt gives through them is work of drives.
/// The parts add up to the change: what is left is round-off. With hem5, rkf45 and
/// moreau-jean impulses are sums over the step and work is that with the mean velocities of its two
/// ends; what that does not tell goes to the part `scheme`.
typedef struct CnStepBalance {
  CnBalanceTerm change; ///< from the beginning of the step to its end
  CnBalanceTerm parts[CN_BALANCE_PART_COUNT];
  CnBalanceTerm residual; ///< change less all parts
} CnStepBalance;

/// The balance of the last step. CN_INVALID_ARGUMENT where there is none: before the first step,
/// after a restore, and without CnWorldDef::balance.
CN_API CnStatus cn_world_balance(const CnWorld *world, CnStepBalance *balance);

/// Overlaps at the present positions: pairs of shapes with a negative gap. Allocates working memory
/// on first use.
typedef struct CnPenetration {
  double max, mean; ///< m, over the overlapping pairs; 0 without one
  int32_t overlap_count;
} CnPenetration;
/// Find overlaps. Takes the time of a collision detection.
CN_API CnStatus cn_world_penetration(CnWorld *world, CnPenetration *penetration);

/// 64-bit hash of all positions and velocities: a sum over the bodies, each with the slot of its id, so that
/// it does not depend on where bodies lie in memory.
CN_API uint64_t cn_world_hash(const CnWorld *world);

/// Write a snapshot. With data NULL only *size is set. A restored world continues with the same
/// bits; ids stay valid. CN_INVALID_ARGUMENT if capacity is too small.
CN_API CnStatus cn_world_save(const CnWorld *world, void *data, size_t capacity, size_t *size);

/// Of several ranks (<cairn/ranks.h>) each keeps its own contacts of a step. After this call, which all ranks
/// make, every rank has all of them until the next step, for cn_world_contact, cn_world_save and whatever else
/// asks for contacts; without it these are CN_REMOTE. With one rank nothing is to be done.
CN_API CnStatus cn_world_gather(CnWorld *world);

/// Replace a world's contents by a snapshot: bodies, shapes, materials, joints, contacts, clock and
/// the numbers of CnWorldDef that change results. Threads, hooks, log, allocator and broad phase
/// stay. On failure (damaged, other version) the world is unchanged.
CN_API CnStatus cn_world_restore(CnWorld *world, const void *data, size_t size);

// ---- bodies -----------------------------------------------------------------------------------

typedef enum CnBodyKind {
  CN_BODY_DYNAMIC = 0, ///< moves by forces
  CN_BODY_KINEMATIC,   ///< moves with its prescribed velocity and spin
  CN_BODY_FIXED        ///< does not move
} CnBodyKind;

/// How to build one rigid body. With mass 0 the mass properties are taken from the shapes. A body
/// that is not dynamic turns about the origin of its own frame, wherever its mass is.
typedef struct CnBodyDef {
  uint32_t size, tag; ///< set by cn_body_def_default
  CnBodyKind kind;    ///< default CN_BODY_DYNAMIC
  CnPose pose;        ///< of the body frame, default identity
  CnTwist twist;      ///< of the body frame's origin, world axes
  double mass;        ///< kg, >= 0; default 0: from the shapes
  CnPose com;         ///< centre of mass and axes of the inertia, in the body frame (mass > 0)
  CnSym3 inertia;     ///< kg m^2, about the centre of mass, in the axes of com (mass > 0)
  const char *name;   ///< copied; appears in messages and files; may be NULL
  uint64_t user_data; ///< yours
  /// 1: dynamic, and fast for its size: it stops where it first touches within a step and goes on in
  /// the next one, so that it passes through nothing thin (docs/howto/shapes.md). Not with joints.
  int32_t continuous;
} CnBodyDef;

/// A dynamic body at the origin, at rest, with its mass from its shapes.
CN_API CnBodyDef cn_body_def_default(void);
/// Add a body. On failure *body is none.
CN_API CnStatus cn_body_create(CnWorld *world, const CnBodyDef *def, CnBodyId *body);

/// Destroy a body with its shapes, joints and forces.
CN_API CnStatus cn_body_destroy(CnWorld *world, CnBodyId body);

/// Pose of the body frame; velocity of its origin and spin.
CN_API CnStatus cn_body_pose(const CnWorld *world, CnBodyId body, CnPose *pose);
/// Velocity of the body frame's origin and spin, world axes.
CN_API CnStatus cn_body_twist(const CnWorld *world, CnBodyId body, CnTwist *twist);
/// Put the body frame elsewhere; its velocity stays. May be called in before_step.
CN_API CnStatus cn_body_set_pose(CnWorld *world, CnBodyId body, const CnPose *pose);
/// Give it another velocity and spin; those of a fixed body are zero. May be called in before_step.
CN_API CnStatus cn_body_set_twist(CnWorld *world, CnBodyId body, const CnTwist *twist);

/// Add a force at a point (world axes), or a torque, for the next step only. Bodies that are not
/// dynamic do not feel it.
CN_API CnStatus cn_body_apply_force(CnWorld *world, CnBodyId body, CnVec3 force, CnVec3 point);
/// Add a torque (N m, world axes) for the next step only. May be called in before_step.
CN_API CnStatus cn_body_apply_torque(CnWorld *world, CnBodyId body, CnVec3 torque);

typedef struct CnBodyInfo {
  CnBodyKind kind;
  double mass;      ///< kg
  CnPose com;       ///< in the body frame; axes are principal (identity unless dynamic)
  CnVec3 inertia;   ///< kg m^2, principal (0 unless dynamic)
  const char *name; ///< "" without one; valid until a body is created or destroyed
  uint64_t user_data;
  int32_t shape_count;
  int32_t continuous; ///< as defined
} CnBodyInfo;
/// Kind, mass, name and user data of a body.
CN_API CnStatus cn_body_info(const CnWorld *world, CnBodyId body, CnBodyInfo *info);

/// Walk over all bodies by ascending slot: the first after none (zero), the next after a body; none
/// at the end. The order does not change while a body lives.
CN_API CnBodyId cn_world_next_body(const CnWorld *world, CnBodyId previous);

// ---- materials --------------------------------------------------------------------------------

/// How two materials' values make one. With two different rules the later in this list wins.
typedef enum CnCombine {
  CN_COMBINE_GEOMETRIC = 0, ///< sqrt(a b)
  CN_COMBINE_AVERAGE,
  CN_COMBINE_MIN,
  CN_COMBINE_PRODUCT,
  CN_COMBINE_MAX
} CnCombine;

typedef struct CnMaterialDef {
  uint32_t size, tag;            ///< set by cn_material_def_default
  double friction;               ///< >= 0, default 0.5
  double restitution;            ///< 0 .. 1, default 0
  double rolling_friction;       ///< m, >= 0, default 0; combined by MAX
  double spinning_friction;      ///< m, >= 0, default 0; combined by MAX
  double cohesion;               ///< N, >= 0, default 0; combined by MIN
  CnVec3 surface_velocity;       ///< m/s in the body frame (conveyor belts); default 0
  CnFunctionId surface_function; ///< not none: times this function of time (`impulse` only)
  CnCombine friction_rule;       ///< default CN_COMBINE_GEOMETRIC
  CnCombine restitution_rule;    ///< default CN_COMBINE_MAX
  const char *name;              ///< copied; may be NULL
} CnMaterialDef;

/// Friction 0.5, no restitution, everything else 0.
CN_API CnMaterialDef cn_material_def_default(void);
/// Add a material. On failure *material is none.
CN_API CnStatus cn_material_create(CnWorld *world, const CnMaterialDef *def,
                                   CnMaterialId *material);
/// Give a material other numbers; shapes that have it follow. Its name stays.
CN_API CnStatus cn_material_set(CnWorld *world, CnMaterialId material, const CnMaterialDef *def);

/// Destroy a material that no shape uses (CN_INVALID_ARGUMENT otherwise).
CN_API CnStatus cn_material_destroy(CnWorld *world, CnMaterialId material);

// ---- geometries ----

/// A geometry from 4 to 65536 points: their convex hull, of at most 256 vertices. The name (null:
/// none) is copied, the points are not needed any more. Points that are flat to 1e-6 of their size
/// are refused; facets that are flat to 1e-7 of it become one face.
CN_API CnStatus cn_geometry_create_points(CnWorld *world, const char *name, const CnVec3 *points,
                                          int32_t count, CnGeometryId *geometry);

/// A geometry from triangles (mesh.h): a surface that need not be convex, for shapes of kind
/// CN_SHAPE_MESH. Refused where a triangle has no area or names a vertex that is not there.
CN_API CnStatus cn_geometry_create_mesh(CnWorld *world, const CnMeshDef *def,
                                        CnGeometryId *geometry);
/// A geometry from a grid of heights (mesh.h), for shapes of kind CN_SHAPE_MESH.
CN_API CnStatus cn_geometry_create_heights(CnWorld *world, const CnHeightsDef *def,
                                           CnGeometryId *geometry);

/// Destroy a geometry that no shape uses (CN_INVALID_ARGUMENT otherwise).
CN_API CnStatus cn_geometry_destroy(CnWorld *world, CnGeometryId geometry);

typedef struct CnGeometryInfo {
  const char *name; ///< "" without one; valid as long as the geometry
  int32_t vertex_count, edge_count, face_count;
  int32_t use_count; ///< shapes that have it
  double volume;     ///< m^3; 0 of a mesh that is not closed
  CnVec3 centre;     ///< m, of the volume, in the frame of the points
  int32_t closed;    ///< 1: it encloses a volume; a hull does
  int32_t is_mesh;   ///< 1: for shapes of kind CN_SHAPE_MESH, 0: of kind CN_SHAPE_HULL
} CnGeometryInfo;
/// Name, sizes and volume of a geometry.
CN_API CnStatus cn_geometry_info(const CnWorld *world, CnGeometryId geometry, CnGeometryInfo *info);

// ---- shapes -----------------------------------------------------------------------------------

/// Add a shape to a body. Shapes of one body do not meet each other.
CN_API CnStatus cn_shape_create(CnWorld *world, CnBodyId body, const CnShapeDef *def,
                                CnShapeId *shape);
/// Take a shape off its body, whose mass follows if it comes from shapes.
CN_API CnStatus cn_shape_destroy(CnWorld *world, CnShapeId shape);
/// The body that a shape is on.
CN_API CnStatus cn_shape_body(const CnWorld *world, CnShapeId shape, CnBodyId *body);

/// The definition a shape was made from.
CN_API CnStatus cn_shape_def(const CnWorld *world, CnShapeId shape, CnShapeDef *def);

/// The index-th shape of a body, none past the end.
CN_API CnShapeId cn_body_shape(const CnWorld *world, CnBodyId body, int32_t index);

// ---- joints -----------------------------------------------------------------------------------

/// Fill both frames of a joint definition from an anchor in the world, at the bodies' present
/// poses.
CN_API CnStatus cn_joint_def_at(const CnWorld *world, CnVec3 anchor, CnJointDef *def);
/// The same with z of both frames along an axis of the world, which need not have length one.
CN_API CnStatus cn_joint_def_along(const CnWorld *world, CnVec3 anchor, CnVec3 axis,
                                   CnJointDef *def);

/// Add a joint. Shapes of two bodies that a joint connects directly do not meet each other.
CN_API CnStatus cn_joint_create(CnWorld *world, const CnJointDef *def, CnJointId *joint);
/// Destroy a joint and its couplings.
CN_API CnStatus cn_joint_destroy(CnWorld *world, CnJointId joint);
/// Change what a joint does: stiffness, distance, limits, motors, friction, springs. Kind, bodies
/// and frames must be those of the joint; its name stays. May be called in before_step.
CN_API CnStatus cn_joint_set(CnWorld *world, CnJointId joint, const CnJointDef *def);
/// The definition a joint has now, the one it was made from unless cn_joint_set changed it; its name lives until a joint is created or destroyed.
CN_API CnStatus cn_joint_def(const CnWorld *world, CnJointId joint, CnJointDef *def);
/// Walk over all joints by ascending slot, as cn_world_next_body does over bodies.
CN_API CnJointId cn_world_next_joint(const CnWorld *world, CnJointId previous);

/// What a joint did in the last step, and where it is.
CN_API CnStatus cn_joint_state(const CnWorld *world, CnJointId joint, CnJointState *state);

/// The machine that all joints and couplings make, at the present position. Springs, limits, motors,
/// compliant joints and one-sided couplings lock nothing.
typedef struct CnMechanism {
  int32_t freedoms;         ///< degrees of freedom: six a dynamic body less the rows that count
  int32_t locked_count;     ///< rows of locked directions and of couplings
  int32_t dependent_count;  ///< those that follow from others: they do not count
  double error, turn_error; ///< m, rad: of the joint or coupling that is farthest open
  CnJointId worst;          ///< that joint; none: a coupling
} CnMechanism;

/// A locked direction (of CnJointDef's kind, counted from 0) that follows from those of others.
typedef struct CnDependentRow {
  CnJointId joint; ///< none: it is a coupling's
  int32_t row;     ///< of a coupling its slot
} CnDependentRow;

/// Count freedoms, and list at most `capacity` dependent rows (null: none). Where rows depend on each
/// other, which of them is named is a choice; their number is not. Allocates; linear in most machines.
CN_API CnStatus cn_world_mechanism(CnWorld *world, CnMechanism *mechanism, CnDependentRow *rows,
                                   int32_t capacity);

/// Move dynamic bodies as little as possible, heavy ones least, so that no rigid joint is open and no
/// coupling off by more than the tolerance (m, rad). Velocities stay. Where that is impossible the message
/// names what stays open and its error (CN_INVALID_DATA), and nothing has changed. `mechanism` may be null.
CN_API CnStatus cn_world_assemble(CnWorld *world, double tolerance, CnMechanism *mechanism);

// ---- couplings of joints ----------------------------------------------------------------------

/// Add a coupling. It belongs to its joints: with one of them it is destroyed.
CN_API CnStatus cn_coupling_create(CnWorld *world, const CnCouplingDef *def,
                                   CnCouplingId *coupling);
/// Destroy a coupling; its joints stay.
CN_API CnStatus cn_coupling_destroy(CnWorld *world, CnCouplingId coupling);
/// The definition it was made from, its offset filled in; its name lives until a coupling is created
/// or destroyed.
CN_API CnStatus cn_coupling_def(const CnWorld *world, CnCouplingId coupling, CnCouplingDef *def);
/// What a coupling did in the last step, and how far it is off.
CN_API CnStatus cn_coupling_state(const CnWorld *world, CnCouplingId coupling,
                                  CnCouplingState *state);
/// Walk over all couplings by ascending slot, as cn_world_next_body does over bodies.
CN_API CnCouplingId cn_world_next_coupling(const CnWorld *world, CnCouplingId previous);

// ---- motions ----------------------------------------------------------------------------------

/// How a kinematic body moves by functions of time, from where it is when it is told so: the
/// functions say how far their values have come since then.
typedef struct CnMotionDef {
  uint32_t size, tag;   ///< set by cn_motion_def_default
  CnFunctionId x, y, z; ///< m, along the axes of the world; none: it stays
  CnFunctionId turn;    ///< rad, about `axis` through the origin of the body; none: it does not
  CnVec3 axis;          ///< in the world, of any length; default z
} CnMotionDef;

/// A motion without functions: the body stays where it is.
CN_API CnMotionDef cn_motion_def_default(void);
/// Null: the body keeps the velocity it has.
CN_API CnStatus cn_body_set_motion(CnWorld *world, CnBodyId body, const CnMotionDef *def);

// ---- pairs that do not meet -------------------------------------------------------------------

/// Two bodies meet no more, whatever their shapes; until cn_pair_enable, or until one is destroyed.
/// Nothing happens if they did not meet anyway.
CN_API CnStatus cn_pair_disable(CnWorld *world, CnBodyId a, CnBodyId b);
/// They meet again.
CN_API CnStatus cn_pair_enable(CnWorld *world, CnBodyId a, CnBodyId b);

// ---- curves: cams and grooves -----------------------------------------------------------------

/// A curve for joints, which may share it. Corners are refused.
CN_API CnStatus cn_curve_create(CnWorld *world, const CnCurveDef *def, CnCurveId *curve);
/// Destroy a curve that no joint uses (CN_INVALID_ARGUMENT otherwise).
CN_API CnStatus cn_curve_destroy(CnWorld *world, CnCurveId curve);
/// Its definition; name and points live as long as the curve.
CN_API CnStatus cn_curve_def(const CnWorld *world, CnCurveId curve, CnCurveDef *def);
/// The place at the arc length s (m), with the length of the whole; beyond its ends an open curve goes on
/// straight, a closed one round and round.
CN_API CnStatus cn_curve_point(const CnWorld *world, CnCurveId curve, double s,
                               CnCurvePoint *point);
/// Walk over all curves by ascending slot, as cn_world_next_body does over bodies.
CN_API CnCurveId cn_world_next_curve(const CnWorld *world, CnCurveId previous);

// ---- functions of time ------------------------------------------------------------------------

/// Add a function of time; points are copied. On failure *function is none.
CN_API CnStatus cn_function_create(CnWorld *world, const CnFunctionDef *def,
                                   CnFunctionId *function);
/// One that a joint or a body follows cannot be destroyed.
CN_API CnStatus cn_function_destroy(CnWorld *world, CnFunctionId function);
/// Become another function, of any kind; whoever follows it follows on.
CN_API CnStatus cn_function_set(CnWorld *world, CnFunctionId function, const CnFunctionDef *def);
/// The definition a function has now; its name and points live until a function is created, set or
/// destroyed.
CN_API CnStatus cn_function_def(const CnWorld *world, CnFunctionId function, CnFunctionDef *def);
/// Value, first and second derivative at a time (s).
CN_API CnStatus cn_function_value(const CnWorld *world, CnFunctionId function, double time,
                                  double result[3]);
/// Walk over all functions by ascending slot, as cn_world_next_body does over bodies.
CN_API CnFunctionId cn_world_next_function(const CnWorld *world, CnFunctionId previous);

// ---- forces -----------------------------------------------------------------------------------

/// Add a force. It belongs to its bodies: with one of them it is destroyed.
CN_API CnStatus cn_force_create(CnWorld *world, const CnForceDef *def, CnForceId *force);
/// Destroy a force.
CN_API CnStatus cn_force_destroy(CnWorld *world, CnForceId force);
/// Change the numbers of a force. Kind, bodies and frames must be those of the force; its name
/// stays. May be called in before_step.
CN_API CnStatus cn_force_set(CnWorld *world, CnForceId force, const CnForceDef *def);
/// The definition a force has now; its name lives until a force is created or destroyed.
CN_API CnStatus cn_force_def(const CnWorld *world, CnForceId force, CnForceDef *def);
/// Walk over all forces by ascending slot, as cn_world_next_body does over bodies.
CN_API CnForceId cn_world_next_force(const CnWorld *world, CnForceId previous);
/// What a force does in the present state.
CN_API CnStatus cn_force_state(const CnWorld *world, CnForceId force, CnForceState *state);

// ---- contacts ---------------------------------------------------------------------------------

/// A contact of the last step, potential ones (positive gap, no impulse) included. Shape a is the
/// one with the smaller slot. A body whose shape was destroyed since is none.
///
/// Points belong to the poses at the end of the step, so that (point - x) x force is the torque about
/// a point x of a body. With `impulse` they have gone along with the body that has a mass from where the
/// impulse acted (between two of them by half of both ways): lever arms about its centre of mass
/// are those of the step, and time_step times the torque is the angular momentum that it got. With the other
/// integrators points and normals are those where the bodies are, directions of forces too.
typedef struct CnContact {
  CnBodyId body_a, body_b;
  CnShapeId shape_a, shape_b;
  uint32_t feature; ///< which corners, edges or faces meet; the same from step to step
  CnVec3 point;     ///< m, world, at the end of the step, where the poses are (see below)
  CnVec3 normal;    ///< unit, from a to b
  double gap;       ///< m, at the start of the step
  CnVec3 impulse;   ///< N s, on b, world axes (hem5, rkf45: force at the end, unless bodies hit)
  CnVec3 force;     ///< N, impulse over the time step
  CnVec3 torque;    ///< N m, rolling and spinning resistance on b
} CnContact;

/// Contact `index` of the last step (0 .. contact_count-1), in the order in which they were solved:
/// those of two shapes stand together by ascending feature.
CN_API CnStatus cn_world_contact(const CnWorld *world, int32_t index, CnContact *contact);

typedef enum CnContactEventKind {
  CN_CONTACT_BEGAN = 0,
  CN_CONTACT_ENDED,
  CN_TRIGGER_ENTERED, ///< shape_a is a trigger, shape_b overlaps it where the step ends
  CN_TRIGGER_LEFT     ///< no longer, or one of the two has gone
} CnContactEventKind;

/// Two shapes began or ceased to touch (to exchange an impulse) in the last step; or one entered or left
/// a trigger. A trigger sees the shapes of other bodies whose category and mask agree with its own,
/// but no other trigger, and no fixed body if its own is fixed.
typedef struct CnContactEvent {
  CnContactEventKind kind;
  CnShapeId shape_a, shape_b; ///< may name a shape destroyed since
} CnContactEvent;

/// The events of the last step; the array lives until the next step or restore.
CN_API void cn_world_events(const CnWorld *world, const CnContactEvent **events, int32_t *count);

/// An event that hem5 or rkf45 placed in time, inside the last step. Shape a has the smaller slot.
typedef struct CnLocatedEvent {
  CnEventKind kind;
  CnShapeId shape_a, shape_b;
  double time;    ///< s
  double speed;   ///< as in CnEvent
  double impulse; ///< as in CnEvent
} CnLocatedEvent;

/// The located events of the last step in the order of time; valid until the next step or restore.
CN_API void cn_world_located_events(const CnWorld *world, const CnLocatedEvent **events,
                                    int32_t *count);

/// The table of broad phases: name of entry `index`, null past the end.
CN_API const char *cn_broad_phase_name(int32_t index);

#ifdef __cplusplus
}
#endif
#endif
