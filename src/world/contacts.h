// SPDX-License-Identifier: Apache-2.0
// The contacts of a world have one owner, the files contacts*.c. Their way through a step:
//
//     found    collision, in the memory of the step
//     noted    cni_contacts_begin, assembly, cni_contacts_note: two shapes each, 8 bytes; in full
//              those that are not round. The solver then works where they were found
//     kept     cni_contacts_commit: events, impulses, then the new in the place of the old
//     given    to users (cn_world_contact), to the next step (cni_contacts_warm), to snapshots
//     named    before something is destroyed: ids instead of places
#ifndef CNI_WORLD_CONTACTS_H
#define CNI_WORLD_CONTACTS_H

#include <cairn/world.h>

#include "assembly/assembly.h"
#include "world/share/share.h"

#define CNI_CONTACTS_PER_TASK 1024

struct CniContents;

static inline int cni_is_zero(CnVec3 a) { return a.x == 0 && a.y == 0 && a.z == 0; }

// Contacts of the last step, in the order in which they were solved, and its events.
//
// They are kept in short, 8 bytes and an impulse each: a round contact is computed from where its
// bodies were and are when somebody asks for it, the others are kept. Before something is
// destroyed or put elsewhere, and in a snapshot, all of them are written out and named: the slots of the shapes take
// the place of shape_a and shape_b, the generations that of body_a and body_b.
typedef struct CniContactCache {
  CniShortContact *shorts; // not those that are named
  CniContact *full;        // those that are not round; named: all of them
  int32_t *full_at;        // which contacts they are, ascending; not those that are named
  CnVec3 *before;          // positions of the bodies where the impulses of the step acted
  uint32_t
      *before_slots; // of these bodies, where ranks have their own; otherwise they are all bodies
  CnVec3 *linear;    // N s, world axes, on b
  CnVec3 *angular;   // N m s, likewise; only where something rolls or spins
  CnContactEvent *events;
  CnContactEvent *inside; // what is in triggers: CNI_TRIGGER_INSIDE, by ascending slots
  int32_t inside_count, inside_capacity;
  int32_t count, full_count, before_count;
  int32_t before_spread; // 1: others of several ranks have the positions of their bodies
  int32_t short_capacity, full_capacity, full_at_capacity, before_capacity, before_slot_capacity;
  int32_t linear_capacity, angular_capacity;
  int32_t named;
  int32_t unsorted; // bodies have been put in another order since: no longer by rank
  int32_t turning;  // `angular` is in use
  int32_t event_count, event_capacity;
  double time_step;   // s, of the step the impulses belong to; 0: none
  int32_t spread;     // 1: others of several ranks have the others, as told there
  CniStepShare share; // of the step
  uint64_t *
      keys; // rank of each in the order of solving, from when bodies are put in another order; spread only
  int32_t keyed,
      key_capacity; // 1: they are there; 2: and the contacts are with those who own them now
} CniContactCache;

// Contacts of the step under way that have a block, by ascending rank.
typedef struct CniStepContacts {
  CniShortContact *shorts;
  CniContact *full; // those that are not round
  int32_t *full_at; // which ones they are, ascending
  int32_t count, full_count;
  int32_t short_capacity, full_capacity, full_at_capacity;
  int32_t first_block; // of the contacts; the others follow
  CniBounces bounces;  // rounds of impacts
} CniStepContacts;

// Room for impulses of that many contacts, angular ones too if wanted, and events.
CnStatus cni_contacts_reserve(CniContactCache *cache, const CnAllocator *allocator, int32_t count,
                              int32_t turning, int32_t event_count);
void cni_contacts_release(CniContactCache *cache, const CnAllocator *allocator);
// Write out and name the contacts, before something is destroyed. Without memory nothing changes.
CnStatus cni_contacts_name(struct CnWorld *world);
// The same if some are computed from where bodies are, before a body is put elsewhere.
CnStatus cni_contacts_fix(struct CnWorld *world);
// Contacts of the last step over all ranks.
static inline int32_t cni_contacts_total(const CniContactCache *cache) {
  return cache->spread ? cache->share.total : cache->count;
}
// Are all of them here? `call` is for the message.
CnStatus cni_contacts_here(const CniContactCache *cache, const char *call);
// Contacts that are not named follow when bodies are put in another order: one call before, with
// room as for the model, one after.
void cni_contacts_leave(struct CniContents *contents, const int32_t *order, void *scratch);
void cni_contacts_arrive(struct CniContents *contents);
// A contact as it was found, its point carried to where the step ends; shapes and bodies by dense
// indices, or named.
CniContact cni_contact_found(const struct CniContents *contents, int32_t index);
// The ids of a contact's shapes.
void cni_contact_shapes(const struct CniContents *contents, int32_t index, CnShapeId *a,
                        CnShapeId *b);
// What the contacts kept from the last step say about the shapes of now.
CnStatus cni_contacts_warm(CnWorld *world, CniOldContacts *old);
// Dense indices of its shapes, -1 where one has gone.
void cni_contact_find_shapes(const struct CniContents *contents, int32_t index, int32_t *a,
                             int32_t *b);

// Room to note that many contacts, of which assembly fills found.shorts; then those without a block
// are taken out, and those that are not round set down in full.
CnStatus cni_contacts_begin(CnWorld *world, int32_t count);
CnStatus cni_contacts_note(CnWorld *world);
void cni_step_contacts_release(CniStepContacts *contacts, const CnAllocator *allocator);
// What is wrong with them: not by ascending rank, or not those of their blocks. For checked builds.
const char *cni_contacts_fault(const CnWorld *world);
// When a step of several ranks is solved: contacts that others own are left to them.
CnStatus cni_contacts_share(CnWorld *world, const CnAnswer *answer);
// Events against the contacts kept so far, then the new contacts in their place. Fails only for
// lack of memory, before anything has changed.
CnStatus cni_contacts_commit(CnWorld *world, const CnPose *pose, const CnAnswer *answer);
// The way of the point of a contact from where impulses acted to the end of the step, bodies a and b having
// gone these ways: with the body that has a mass, so that lever arms stay; between two of them half of both.
CnVec3 cni_contact_way(const CniModel *model, int32_t a, CnVec3 way_a, int32_t b, CnVec3 way_b);

// ---- triggers.c ----

#define CNI_TRIGGER_INSIDE (CN_TRIGGER_LEFT + 1) // in snapshots beside the events

// Shapes that are in triggers where the step ends, in the arena by ascending slots.
typedef struct CniTriggered {
  CnContactEvent *inside;
  int32_t count, event_count; // event_count: entered or left since the last step
} CniTriggered;
CnStatus cni_triggers_find(CnWorld *world, const CnPose *pose, CniTriggered *found);
// Events after those of contacts, for which there is room in the cache. Cannot fail.
void cni_triggers_write(CnWorld *world, const CniTriggered *found);

// ---- contacts_events.c ----

// Began: touching now and not before. Ended: the reverse. The contacts of this step are cut into
// blocks where a pair begins, those of the last step at the same ranks. A block notes its events at
// a place of its own, where there is room for one of each contact of both steps.
typedef struct CniEventLoop {
  const CnWorld *world;
  CniOldContacts old;
  CniShortContact *notes; // shapes; the top bit of a: it ended
  int32_t *places;        // where the notes of each block begin
  int32_t *starts;        // first event of each block; while noting: [block + 1] takes the number
  CnContactEvent *events;
  int32_t block_count, count; // count: of events, those of lost pairs included
} CniEventLoop;
CnStatus cni_events_find(CnWorld *world, CniEventLoop *loop);
// There must be room for them in the cache. Cannot fail.
void cni_events_write(CnWorld *world, CniEventLoop *loop);
// Are two shapes among the contacts of the last step, pressing or not? In steps after which bodies were put in
// another order that is not known, and said of all.
int cni_world_pair_is_near(const CnWorld *world, CnShapeId a, CnShapeId b);

#endif
