// Model and poses in, contacts out.
//
// Broad phase: bounds grown by the margin and the way of one step -> pairs of shapes that may meet,
// sorted by key. Narrow phase: pairs -> contacts with a gap below the margin, each with a key that
// lasts from step to step. Output is a function of the input alone: nothing remembered can change
// it, and neither can the broad phase chosen or the number of workers.
//
// No contact is made between shapes of one body, of two bodies without inverse mass, of two bodies
// that a joint connects directly, or where category and mask or the user's filter say no. A key
// names slots, and a slot freed may be used again: who keeps something by key drops it when a shape
// is removed.
#ifndef CNI_COLLISION_H
#define CNI_COLLISION_H

#include "core/memory.h"
#include "core/tasks.h"
#include "geometry/geometry.h"
#include "model/model.h"

// Lasting name of a contact: slots of the two shapes (a's is the smaller) and the feature.
typedef struct CniContactKey {
  uint32_t shape_a, shape_b, feature; // shape slots
} CniContactKey;

// -1, 0, 1
int cni_contact_key_compare(const CniContactKey *a, const CniContactKey *b);

typedef struct CniContact {
  CniContactKey key;
  int32_t shape_a, shape_b; // dense indices
  int32_t body_a, body_b;   // dense indices
  CnVec3 point, normal;     // world; normal from a to b
  double gap;
} CniContact;

typedef struct CniCollisionInput {
  const CniModel *model;
  const CnPose *pose;   // per body, centre of mass
  const CnTwist *twist; // per body: how far things may come in one step
  CnVec3 gravity;
  double time_step;
  double margin; // m, 0: 0.05 of the smaller inradius
  CnTasks *tasks;
  // user filter, null: none; called from this thread for pairs within their margin, by ascending
  // key
  int32_t (*filter)(void *context, CnShapeId a, CnShapeId b);
  void *filter_context;
} CniCollisionInput;

typedef struct CniCollision CniCollision;
// A name of the table below; null: its first row. An unknown one is an error that lists the names.
CnStatus cni_collision_create(const char *broad_phase, const CnAllocator *allocator,
                              CniCollision **collision);
void cni_collision_destroy(CniCollision *collision);

// Find all contacts, sorted by key. The array belongs to the collision object and lives until the
// next call. On failure nothing that a later call depends on has changed. A body whose state is not
// finite is CN_NOT_FINITE. A time step of 0 gives the contacts within the base margin as they are.
CnStatus cni_collision_detect(CniCollision *collision, const CniCollisionInput *input,
                              const CniContact **contacts, int32_t *count);

// ---- broad phases: one table ----

typedef struct CniPair {
  int32_t a, b; // indices of bounds, a < b
} CniPair;

typedef struct CniBroadPhase {
  const char *name, *summary;
  // All pairs of overlapping bounds, in any order, none twice. Touching is overlapping; sides may
  // be infinite; bounds with lo > hi or a side that is no number meet nothing. Working memory from
  // the arena; *pairs too. Pure: nothing is kept.
  CnStatus (*find)(const CniBounds *bounds, int32_t count, CnTasks *tasks, CniArena *arena,
                   CniPair **pairs, int32_t *pair_count);
} CniBroadPhase;

extern const CniBroadPhase cni_broad_phases[];
extern const int32_t cni_broad_phase_count;

#endif
