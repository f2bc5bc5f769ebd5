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
#include "model/model.h"

#define CNI_KIND_NAME_SIZE 32 // of solvers and integrators, whose names are ours

// Numbers of CnWorldDef that change results.
typedef struct CniSettings {
  CnVec3 gravity;
  double time_step;
  double stabilisation, contact_stabilisation, contact_slop;
  double recovery_speed, restitution_threshold, contact_margin;
  int32_t geometric_stiffness;
  CnFrictionModel friction;
  char integrator[CNI_KIND_NAME_SIZE];
  char solver[CNI_KIND_NAME_SIZE];
  CnSolverDef solver_def; // its name, allocator and tasks are filled in at use
} CniSettings;

// What makes a step, built from the settings.
typedef struct CniEngine {
  CnProblem *problem;
  CnAnswer answer;
  CnSolver *solver;
  CnIntegrator *integrator;
  int32_t solved; // 1: problem and answer are those of the last step
} CniEngine;

// A contact of the last step beside its impulse. Ids are kept, not indices: bodies may go.
typedef struct CniContactInfo {
  CnBodyId body_a, body_b;
  uint32_t generation_a, generation_b; // of the shapes, whose slots are in the key
  CnVec3 point, normal;
  double gap;
} CniContactInfo; // 80 bytes

_Static_assert(sizeof(CniContactInfo) == 80, "memory per contact is promised");

// Contacts of the last step, sorted by key, and its events.
typedef struct CniContactCache {
  CniContactImpulse *impulses;
  CniContactInfo *infos;
  CnContactEvent *events;
  int32_t count, impulse_capacity, info_capacity;
  int32_t event_count, event_capacity;
  double time_step; // s, of the step the impulses belong to; 0: none
  int32_t stale;    // 1: a shape may have been destroyed since
} CniContactCache;

// What a snapshot holds.
typedef struct CniContents {
  CniSettings settings;
  CniEngine engine;
  CniModel model;
  CniContactCache contacts;
  double time;
  int64_t step;
} CniContents;

typedef enum CniBusy {
  CNI_IDLE = 0,
  CNI_BUSY_HOOK, // inside before_step: loads, poses and twists may be set
  CNI_BUSY_STEP  // nothing may be changed
} CniBusy;

// What the system knows between its calls in one step.
typedef struct CniStepWork {
  const CniContact *contacts; // the collision's own array
  int32_t contact_count;
  int32_t *joint_block_of, *block_of; // in the arena
  double time_step;
  double seconds_collision;
  CnStatus commit; // what became of `done`
} CniStepWork;

struct CnWorld {
  CniContents now;
  CniStepWork work;
  CniBusy busy;
  CniArena arena; // of one step or query
  CniCollision *collision;
  CnTasks *tasks; // null: the calling thread
  CnHooks hooks;
  CnLog log;
  CniMeter meter;
  CnAllocator allocator; // the meter's
};

// ---- contents ----

// Check settings that came from a definition or a snapshot; names are looked up by the engine.
CnStatus cni_settings_check(const CniSettings *settings);
CnStatus cni_engine_create(CniEngine *engine, CniSettings *settings, const CnAllocator *allocator,
                           CnTasks *tasks);
// An empty world's contents, the settings taken over. On failure nothing has to be released.
CnStatus cni_contents_create(CniContents *contents, const CniSettings *settings,
                             const CnAllocator *allocator, CnTasks *tasks);
void cni_contents_release(CniContents *contents, const CnAllocator *allocator);

// ---- contacts ----

CnStatus cni_contacts_reserve(CniContactCache *cache, const CnAllocator *allocator, int32_t count,
                              int32_t event_count);
// Old impulses whose shapes still exist, from the cache itself or in the arena.
CnStatus cni_contacts_warm(CnWorld *world, const CniContactImpulse **impulses, int32_t *count);
// Events against the contacts kept so far, then the new contacts in their place. Fails only for
// lack of memory, before anything has changed.
CnStatus cni_contacts_commit(CnWorld *world, const CnAnswer *answer);

// ---- the step ----

CnSystem cni_system_of(CnWorld *world);
// One body along its twist for the time h.
CnPose cni_advance_pose(CnPose pose, CnTwist twist, double h);
int32_t cni_world_filter(void *context, CnShapeId a, CnShapeId b);

double cni_seconds(void); // a clock for reports, never for results

// ---- doors ----

// The world is there and outside a step; `call` is the function's name for the message.
CnStatus cni_world_open(const CnWorld *world, const char *call);
// The same, but before_step may call too.
CnStatus cni_world_open_in_hook(const CnWorld *world, const char *call);
CnStatus cni_null_argument(const char *call, const char *what);

// ---- snapshots ----

#define CNI_SNAPSHOT_HEADER 32 // bytes: magic, version, size, checksum
// Write size and checksum of a snapshot into its header.
void cni_snapshot_seal(void *data, size_t size);

#endif
