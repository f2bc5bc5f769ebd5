// SPDX-License-Identifier: Apache-2.0
// The world from the inside: everything that a snapshot replaces (contents) and everything that
// stays with the process (threads, hooks, memory).
//
// A step is a transaction. It reads the contents, works in memory of its own, and writes the new
// state in one go at the end (cni_system_of, done), after everything that can fail.
#ifndef CNI_WORLD_H
#define CNI_WORLD_H

#include <cairn/system.h>
#include <cairn/world.h>

#include "assembly/assembly.h"
#include "collision/collision.h"
#include "core/memory.h"
#include "core/sort.h"
#include "model/model.h"
#include "world/contacts.h"
#include "world/share/share.h"
#include "world/verdict/watch.h"

// The definition a world was made from, kept up to date. Names are those of the library's tables;
// allocators, tasks and the integrator's own names are filled in at use.
typedef CnWorldDef CniSettings;
extern const CniField cni_world_fields[]; // of CnWorldDef without solver and integration

// All of them, struct by struct: "time_step", "solver.tolerance", "integrator.theta".
typedef struct CniSettingsPart {
  const char *prefix;     // of names in snapshots and on the command line
  const char *run_prefix; // of attributes in run files
  const CniField *fields;
  size_t base; // in CnWorldDef
} CniSettingsPart;
#define CNI_SETTINGS_PARTS 3
extern const CniSettingsPart cni_settings_parts[CNI_SETTINGS_PARTS];

// What makes a step, built from the settings.
typedef struct CniEngine {
  CnProblem *problem;
  CnAnswer answer;
  CnSolver *solver;
  CnIntegrator *integrator;
  // 1: problem and answer are those of the last step; 2: once they are asked for; 3: of several ranks each has
  // a part of them
  int32_t solved;
  // whose its groups and blocks are (problem.c)
  CnBodyId *group_bodies; // if `groups_named`; otherwise group i is body i
  CnJointId *block_joints;
  int32_t groups_named, joint_block_count;
  int32_t group_capacity, joint_capacity;
} CniEngine;

// What a snapshot holds.
typedef struct CniContents {
  CniSettings settings;
  CniEngine engine;
  CniModel model;
  CniContactCache contacts;
  double time;
  int64_t step;
  CniWatch watch;
} CniContents;

typedef enum CniBusy {
  CNI_IDLE = 0,
  CNI_BUSY_HOOK, // inside before_step: loads, poses and twists may be set
  CNI_BUSY_STEP  // nothing may be changed
} CniBusy;

// What the system knows between its calls in one step.
typedef struct CniStepWork {
  const CniContact *contacts; // in the arena until the problem is made
  int32_t contact_count;
  CniStepShare share;  // of the contacts, over several ranks
  const double *told;  // velocities of all bodies then, in the arena; null: the answer has them
  const CnPose *moved; // of a shared step: the new poses; null: they come last
  int32_t named;       // the message tells whose state is not finite
  CniArenaMark mark;   // of the arena, before the contacts were looked for
  const CnTwist *late; // likewise: momenta of springs after the drift
  const CnTwist *reactions;      // in the arena: what joints carried in the drift; null: nothing
  const CniDriftEffort *efforts; // there, too: along their coordinates
  int32_t effort_count;
  int32_t missed;             // joints were not found in the drift to round-off
  CniTorn torn;               // joints that contradict each other
  int32_t drifted;            // the step began with its drift: impulses act at its end
  CnBalanceTerm *drift_terms; // null: nobody asks
  int32_t *joint_blocks;      // in the arena: first block of each joint, and the end
  CniJointPlace *places;      // likewise: of the joints where the step begins; null: not known
  const int32_t *block_of;    // as long as the contacts
  double time_step;
  double seconds_collision, seconds_assembly, seconds_end;
  double found, drifts;   // clock: when contacts were found, when the drift began; 0: not known
  CniFinding overlap;     // the deepest where the step begins
  const CniFinding *open; // the joint farthest open there; null: look at all
  void *order_scratch;    // for another order of the bodies
  struct CniWorldEquations *equations; // in the arena; null: the step works with the problem
  CnTwist *loads;                      // in the arena: of the force hook
  const struct CniTouch *touch; // impulses act later than at the beginning; null: they do not
  CnStageBody *stage;
  CniJointRub rub;
  int32_t springs; // the verdict wants to know of springs, and nobody keeps a balance
} CniStepWork;

// Where bodies are and how they move when the impulses of the step act (touch.c).
typedef struct CniTouch {
  CnPose *pose;
  CnTwist *twist;
  double *time;   // s, from the beginning of the step
  uint8_t *flies; // its weight acts before and after, not with the impulses
  int32_t capacity;
} CniTouch;

// What joints may do to the energy, by the edits of the model (verdict/watch.c).
typedef struct CniJointsKnown {
  uint64_t edits;
  int32_t any, rotors, acting, storing;
} CniJointsKnown;

struct CnWorld {
  CniContents now;
  CniJointsKnown joints_known;
  CniStepWork work;
  CniBusy busy;
  CniStepMemory memory; // of one step or query
  CniCollision *collision;
  struct CniDirect *direct; // for the drift of bodies on joints; null: there was none yet
  CniTree *tree;            // of a machine of hinges; likewise
  CnTasks *tasks;           // null: the calling thread
  CnHooks hooks;
  CnLog log;
  CniMeter meter;
  CnAllocator allocator;   // the meter's
  CnLocatedEvent *located; // of the last step
  int32_t located_count, located_capacity;
  CniStepContacts found; // of the step under way
  CniTouch touch;        // likewise
  CnStepBalance balance; // of the last step
  CniSoftWork soft;      // likewise
  int32_t balance_known;
};

// ---- contents ----

// Check settings that came from a definition or a snapshot, and take the tables' own names; the
// numbers of solver and integrator are looked at by the engine.
extern const char cni_unnamed_solver[]; // "auto", told apart by its address
CnStatus cni_settings_check(CniSettings *settings);
CnStatus cni_world_def_check(const CnWorldDef *def);
CnStatus cni_engine_create(CniEngine *engine, const CniSettings *settings,
                           const CnAllocator *allocator, CnTasks *tasks);
void cni_engine_release(CniEngine *engine, const CnAllocator *allocator);
// An empty world's contents, the settings taken over. On failure nothing has to be released.
CnStatus cni_contents_create(CniContents *contents, const CniSettings *settings,
                             const CnAllocator *allocator, CnTasks *tasks);
void cni_contents_release(CniContents *contents, const CnAllocator *allocator);

// ---- problem.c: whose the groups and blocks of the last step's problem are ----

// Groups by ids from now on, before bodies change their places: when one is destroyed, and with
// another order. The first call makes room and may fail; after it the second cannot.
CnStatus cni_problem_map_reserve(CniContents *contents);
void cni_problem_map_name(CniContents *contents);
// Joints of the blocks of the step just made: room, and then what it is for.
CnStatus cni_problem_map_begin(CnWorld *world);
void cni_problem_map_joints(CnWorld *world);

// ---- the order of bodies ----

// Memory to find it, from the arena, where it is time to look.
typedef struct CniOrderRoom {
  int32_t moving; // bodies with mass; 0: nobody looks
  CniSort sort;
  uint64_t *keys;
  void *scratch;
} CniOrderRoom;
CnStatus cni_order_room(CnWorld *world, CniOrderRoom *room);
// Would bodies at these poses better stand in another order after this step? Null: not.
const int32_t *cni_order_find(CnWorld *world, const CnPose *pose, CniOrderRoom *room);
// Put them in that order: order[i] is the present index of the body that comes to i. Cannot fail.
void cni_order_apply(CnWorld *world, const int32_t *order);

// ---- the step ----

CnSystem cni_system_of(CnWorld *world);
// A machine of hinges steps by itself (tree_step.c), without a step problem: is the step taken?
CnStatus cni_world_tree_step(CnWorld *world, CnSolveReport *solve, int32_t *taken);
// The problem that such a step would have solved, and its answer, before anything changes.
CnStatus cni_world_tree_problem(CnWorld *world);
double cni_multiple_of_step(double t,
                            double h); // t, or the multiple of h that it is but for round-off

// For integrators that work with equations (equations.c): what may touch, what is refused, and the
// observer, into work.equations; contacts near by and their frames as for any step.
CnStatus cni_equations_prepare(CnWorld *world);
const CnEquations *cni_equations_of(const CnWorld *world); // null: none prepared
// State at the start of the step, velocities of rotors included, in the units of the equations, what one
// of their time is (s), and the number of velocities.
typedef struct CniStart {
  const double *q, *v;
  double time_unit;
} CniStart;
CniStart cni_equations_start(const CnWorld *world);
// What the integrator tells of the step, in m and s.
void cni_equations_report(const CnWorld *world, CnIntegratorReport *report);
// A state of the equations in m and s; where it is in them already, it is given back.
void cni_equations_plain(CnWorld *world, const double **q, const double **v, double *t);
int32_t cni_equations_velocity_count(const CnWorld *world);
// Whole turns at the end of the step, if they have been counted within it: then it returns 1; those of its start.
int cni_equations_turned(CnWorld *world, double t, const double *q, const double *v);
void cni_equations_undo(CnWorld *world);
// List the contacts anew, from a state within the step on.
CnStatus cni_equations_detect(CnWorld *world, double t, const double *q, const double *v, double h);
// Contacts of bodies at these poses that move with these twists for the time h, for the step.
CnStatus cni_world_detect(CnWorld *world, const CnPose *pose, const CnTwist *twist, CnVec3 gravity,
                          double h);
// Do bodies bounce in the step? Then they are moved to where they touch, into work.touch, with the
// contacts there.
CnStatus cni_world_touch(CnWorld *world, const CnPose *pose, const CnTwist *twist, double h);
CnStatus cni_touch_reserve(CnWorld *world);
void cni_touch_release(CniTouch *touch, const CnAllocator *allocator);
double cni_bounce_threshold(const CnWorld *world, double h); // m/s: what is slower does not bounce
// Do motors without a bound follow their targets, in a state at the end of a step? An error names one that does not.
CnStatus cni_motors_follow(CnWorld *world, double t, const double *q, const double *v);
// Impulses of the step just made, as an answer to its problem.
CnStatus cni_equations_answer(CnWorld *world, const CnAnswer **answer);
// The work of springs, motors and loads over the step; null: not known.
const CniWorks *cni_equations_works(const CnWorld *world);
// After the balance: by hem5 and rkf45 the answer is what is told, in a step without impacts the forces at
// its end times its length; and, once bodies are there, the directions of joints at the end.
void cni_equations_tell(CnWorld *world);
void cni_equations_turn(CnWorld *world);
// Refuse shapes that could not be followed if they met, wherever they are. Looks at all pairs.
CnStatus cni_equations_meet(const CnWorld *world);

// Contacts at the present positions, as they are, in the memory of a step; nothing else changes.
CnStatus cni_world_touching(CnWorld *world, const CniContact **contacts, int32_t *count);

// What the force hook says of a state: valid until it is asked again; null: there is no hook.
CnStatus cni_world_loads(CnWorld *world, double t, const CnPose *pose, const CnTwist *twist,
                         const CnTwist **loads);

// The motion after the impulses of `impulse` (system_drift.c), and what joints and couplings did in it. Where
// only gravity and rigid joints act every other step has it first.
CnStatus cni_drift_after(void *world, const double *q, const double *v, double h, double *q_new,
                         const double **v_end);
int cni_drift_calm(CnWorld *world, const double *q, double h);
CnStatus cni_drift_first(CnWorld *world, const double *q, const double *v, double h);
void cni_drift_keep(CniModel *model, const CniStepWork *work);

// A body without forces from there for the time t, and its twist then.
CnPose cni_world_path(const CniModel *model, int32_t body, CnPose from, double t, CnTwist *twist);
// One body along its twist for the time h.
CnPose cni_advance_pose(CnPose pose, CnTwist twist, double h);
// A step has failed: the state of a body, which has that twist after it, is not finite.
CnStatus cni_world_not_finite(const CnWorld *world, int32_t body, const CnTwist *twist);
int cni_pose_finite(const CnPose *pose);
int cni_twist_finite(const CnTwist *twist);
int32_t cni_world_filter(void *context, CnShapeId a, CnShapeId b);
void cni_world_modify(void *context, CnContactTuning *contact);

// ---- doors ----

// The world is there and outside a step; `call` is the function's name for the message. What may be changed
// now must not change the last step's problem: it is made where it was not needed so far.
CnStatus cni_world_open(CnWorld *world, const char *call);
CnStatus cni_world_idle(const CnWorld *world, const char *call); // nothing will be changed
// The same as the first, but before_step may call too.
CnStatus cni_world_open_in_hook(CnWorld *world, const char *call);
// No function of the program runs that this world may have called (door/own_calls.c).
CnStatus cni_world_uncalled(const CnWorld *world, const char *call);
// The rows of joints of the program's kinds are numbers there.
CnStatus cni_world_rows_finite(const CnWorld *world, const CnPose *pose);
CnStatus cni_null_argument(const char *call, const char *what);

// Give a placed shape its geometry, hull or mesh; none: it gets none.
void cni_world_form(const CnWorld *world, CnGeometryId geometry, CniPlaced *placed);

// A placed shape as triangles, in its own frame (door/look.c).
struct CnTriangles;
CnStatus cni_triangles_fill(const char *call, const CniPlaced *placed, int32_t quarter,
                            struct CnTriangles *triangles);

// ---- snapshots ----

#define CNI_SNAPSHOT_HEADER 32 // bytes: magic, version, size, checksum
#define CNI_SNAPSHOT_SEAL 16   // where size and checksum are
// Write size and checksum of a snapshot into its header.
void cni_snapshot_seal(void *data, size_t size);

// Close the joints (mechanism/mechanism.c). Nothing has changed where that fails.
#define CNI_ASSEMBLED 1e-10 // m, rad: before the first step
CnStatus cni_world_assemble(CnWorld *world, double tolerance, CnMechanism *mechanism);

// The balance of the step at work (verdict/balance.c); by what solved it.
// Or, without one, what springs do alone.
CnStatus cni_balance_step(CnWorld *world, const CnPose *pose, const CnTwist *twist,
                          const CnAnswer *answer, int solved);

#endif
