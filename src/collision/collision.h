// SPDX-License-Identifier: Apache-2.0
// Model and poses in, contacts out.
//
// Broad phase: bounds grown by the margin and the way of one step -> pairs of shapes that may meet.
// Narrow phase: pairs -> contacts with a gap below the margin, each with a name that lasts from
// step to step. Output is a function of the input alone: nothing remembered can change it, and
// neither can the broad phase chosen or the number of workers.
//
// Two orders. Which of two shapes is a is decided by the slots of their ids (the smaller), so that
// normals and features keep their meaning as long as both live. The contacts themselves stand in
// the order of the shapes in memory (cni_contact_rank), so that neighbours in space, whose bodies
// are neighbours in memory, are solved one after another.
//
// No contact is made between shapes of one body, of two bodies without inverse mass, of two bodies
// that a joint connects directly, or where category and mask or the user's filter say no. A slot
// freed may be used again: who keeps something by slot keeps the generation too.
#ifndef CNI_COLLISION_H
#define CNI_COLLISION_H

#include "core/memory.h"
#include "core/tasks.h"
#include "geometry/geometry.h"
#include "model/model.h"

typedef struct CniContact {
  int32_t shape_a, shape_b; // dense indices; a has the smaller slot
  int32_t body_a, body_b;   // dense indices
  uint32_t feature;         // which corners, edges or faces: lasting name within the pair
  uint32_t two_spheres;     // 1: two spheres about the origins of their bodies, alone on them
  CnVec3 point, normal;     // world; normal from a to b
  double gap;
} CniContact;
_Static_assert(sizeof(CniContact) == 80, "memory per contact is promised");

// A contact in short: dense indices of its shapes below the top bits, which tell of its impulse. A
// one of two spheres is a function of two positions (cni_collision_spheres).
typedef struct CniShortContact {
  uint32_t a; // CNI_SHORT_BIT: it bore a load, the linear impulse is not zero
  uint32_t b; // CNI_SHORT_BIT: it carried an impulse, linear or angular
} CniShortContact;
#define CNI_SHORT_BIT 0x80000000u
#define CNI_SHORT_NONE UINT32_MAX // instead of a: no contact
static inline int32_t cni_short_shape(uint32_t word) { return (int32_t)(word & ~CNI_SHORT_BIT); }

// Pairs of shapes by their places in memory: contacts ascend by rank, those of a pair by feature.
static inline uint64_t cni_pair_rank(int32_t a, int32_t b) {
  int32_t low = a < b ? a : b;
  return (uint64_t)low << 32 | (uint32_t)(a ^ b ^ low);
}
static inline uint64_t cni_short_rank(CniShortContact c) {
  return cni_pair_rank(cni_short_shape(c.a), cni_short_shape(c.b));
}
static inline uint64_t cni_contact_rank(const CniContact *c) {
  return cni_pair_rank(c->shape_a, c->shape_b);
}

typedef struct CniCollisionInput {
  const CniModel *model;
  const CnPose *pose;   // per body, centre of mass
  const CnTwist *twist; // per body: how far things may come in one step
  CnVec3 gravity;
  double time_step;
  double margin; // m, 0: of the smaller inradius (collision.c)
  int32_t rows;  // 1: contacts are for rows of a step: open ones are aimed, flush seams closed
  // 1: those alone whose lowest body with mass is one of these: several ranks have the others
  int32_t some, first_body, last_body; // last_body: one more
  CnTasks *tasks;
  CniArena *arena; // working memory and result; null: the object's own
  // user filter, null: none; called from this thread for pairs within their margin, by ascending
  // rank
  int32_t (*filter)(void *context, CnShapeId a, CnShapeId b);
  void *filter_context;
} CniCollisionInput;

typedef struct CniCollision CniCollision;
// A name of the table below; null: its first row. An unknown one is an error that lists the names.
CnStatus cni_collision_create(const char *broad_phase, const CnAllocator *allocator,
                              CniCollision **collision);
void cni_collision_destroy(CniCollision *collision);
// Of several ranks: an arena that is reset next gets room for what the next detection is likely to need, which
// otherwise takes memory beside it.
void cni_collision_expect(const CniCollision *collision, CniArena *arena);
// What is wrong with contacts that were found: shapes that are not there or not of these bodies, an
// order that does not ascend by rank, then feature. Null: nothing is. For checked builds and tests.
const char *cni_collision_fault(const CniModel *model, const CniContact *contacts, int32_t count);

// Find all contacts, by ascending rank. The array lives in the arena, as the working memory does,
// until the caller goes back to a mark from before; without an arena until the next call. On
// failure nothing that a later call depends on has changed. A body whose state is not finite is
// CN_NOT_FINITE. A time step of 0 gives the contacts within the base margin as they are.
CnStatus cni_collision_detect(CniCollision *collision, const CniCollisionInput *input,
                              const CniContact **contacts, int32_t *count);

// Bodies that are continuous go no farther than to where they touch (sweep.c): their poses at the end
// of a step, between the last detection and its end, which is to come.
typedef struct CniSweepInput {
  const CniModel *model;
  double time_step;
  // a body after the time t of the step if nothing stops it, and its twist then
  CnPose (*path)(const void *context, int32_t body, double t, CnTwist *twist);
  const void *context;
  CnPose *pose_new;
  CnTwist *end; // null: twists do not change on the way
  CniArena *arena;
  CnTasks *tasks;
} CniSweepInput;
CnStatus cni_collision_sweep(const CniCollision *collision, const CniSweepInput *input);

// Pairs that lie in each other at the end of a step by more than the rows of their contacts say are moved
// apart (correct.c).
typedef struct CniCorrectInput {
  const CniModel *model;
  const CniContact *contacts; // that have rows, by ascending rank
  int32_t count;
  double time_step;
  const double *times;   // by body: when impulses acted; null: at the beginning
  const CnPose *pose;    // where they acted
  const CnTwist *twist;  // after the impulses
  const int32_t *bodies; // whose twists these are, ascending; null: all
  int32_t body_count;
  CnTwist *end; // at the end of the step: angular momentum that moving took is given back
  CnPose *pose_new;
  CnBalanceTerm *term; // what it did; null: nobody asks
  CniArena *arena;
  CnTasks *tasks;
} CniCorrectInput;
// deepest: a contact of the deepest of them, with the gap that it had, if there are any.
CnStatus cni_collision_correct(const CniCorrectInput *input, CniContact *deepest, int32_t *any);
// Are there any?
CnStatus cni_collision_deeper(const CniCorrectInput *input, int32_t *any);
// May there be any? Looks at velocities alone.
int cni_collision_may_deepen(const CniCorrectInput *input);

// Point, normal and gap of a contact of two spheres as they were found with the bodies at these positions,
// bit by bit.
void cni_collision_spheres(CnVec3 a, double radius_a, CnVec3 b, double radius_b,
                           CniContact *contact);

// ---- broad phases: one table ----

typedef struct CniPair {
  int32_t a, b; // indices of bounds, a < b
} CniPair;

typedef struct CniBroadPhase {
  const char *name, *summary;
  // All pairs of overlapping bounds, in any order, none twice. Touching is overlapping; sides may
  // be infinite; bounds with lo > hi or a side that is no number meet nothing. `round` (null: none)
  // tells which bounds are filled by a ball: a pair of two balls that do not meet is left out.
  // Working memory from the arena; *pairs too. Pure: nothing is kept.
  CnStatus (*find)(const CniBounds *bounds, const uint8_t *round, int32_t count, CnTasks *tasks,
                   CniArena *arena, CniPair **pairs, int32_t *pair_count);
} CniBroadPhase;

extern const CniBroadPhase cni_broad_phases[];
extern const int32_t cni_broad_phase_count;

#endif
