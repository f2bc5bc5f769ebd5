// SPDX-License-Identifier: Apache-2.0
// What every rank keeps of the contacts of a step, and what all are told: see share.h.
//
// A contact belongs to the rank of its lowest body with mass, also one that all have solved. Told are numbers,
// events, the deepest overlap, and contacts in full where some of them lie deeper at the end of the step than
// their rows say, as these are taken back one after the other.
#include "world/share/share.h"

#include <string.h>

#include "core/error.h"
#include "core/floats.h"
#include "ranks/ranks.h"
#include "world/world.h"

// ---- own contacts ----

static void keep_own(CnWorld *world) {
  CniStepContacts *now = &world->found;
  int32_t *places = world->work.share.places, count = 0, full = 0;
  for (int32_t i = 0, k = 0; i < now->count; i++) {
    int is_full = k < now->full_count && now->full_at[k] == i;
    k += is_full;
    if (!cni_share_owns(world, cni_short_rank(now->shorts[i]))) continue;
    if (is_full) {
      now->full[full] = now->full[k - 1];
      now->full_at[full++] = count;
    }
    places[count] = i;
    now->shorts[count++] = now->shorts[i];
  }
  now->count = count;
  now->full_count = full;
}

// May any of the own contacts in full end deeper than its rows say?
static int may_end_deeper(const CnWorld *world, const CnAnswer *answer) {
  const CnProblem *p = world->now.engine.problem;
  const CniCorrectInput in = {.model = &world->now.model,
                              .contacts = world->found.full,
                              .count = world->found.full_count,
                              .time_step = world->work.time_step,
                              .twist = (const CnTwist *)answer->v,
                              .bodies = p->of.numbers,
                              .body_count = p->group_count};
  return cni_collision_may_deepen(&in);
}

CnStatus cni_share_keep(CnWorld *world, const CnAnswer *answer) {
  CniStepShare *s = &world->work.share;
  const CnProblem *problem = world->now.engine.problem;
  const CniModel *model = &world->now.model;
  int64_t sums[3] = {0, 0,
                     0}; // contacts, whether something rolls, or is asked for where the step ends
  // without a rest they all are its own
  if (s->rest) {
    CNI_TRY(CNI_TAKE(&world->memory.arena, world->found.count, s->places));
    keep_own(world);
  }
  sums[0] = world->found.count;
  for (int32_t i = 0; i < problem->set_count; i++)
    sums[1] |= problem->sets[i].kind >= CN_BLOCK_ROLLING;
  sums[2] = may_end_deeper(world, answer);
  CNI_TRY(cni_ranks_sum(world->now.settings.ranks, sums, 3));
  if (sums[0] > INT32_MAX) return cni_error(CN_NO_MEMORY, "more than %d contacts", INT32_MAX);
  s->total = (int32_t)sums[0];
  s->turning = sums[1] > 0;
  s->lean = sums[2] == 0 && model->trigger_count == 0 && world->now.contacts.inside_count == 0;
  return CN_OK;
}

// ---- what is kept goes elsewhere ----

CnStatus cni_share_reorder(CnWorld *world, int comes) {
  CniContactCache *cache = &world->now.contacts;
  CniEngine *engine = &world->now.engine;
  const CnAllocator *a = &world->allocator;
  CNI_RELEASE(a, engine->group_bodies, engine->group_capacity);
  engine->group_bodies = NULL;
  engine->group_capacity = 0;
  if (!comes) return CN_OK;
  return CNI_RESERVE(a, cache->keys, cache->key_capacity, 0, world->found.count);
}

void cni_share_settled(CnWorld *world) {
  CniContactCache *cache = &world->now.contacts;
  CNI_RELEASE(&world->allocator, cache->keys, cache->key_capacity);
  cache->keys = NULL;
  cache->key_capacity = 0;
}

static CnStatus gather_contacts(CnWorld *world) {
  CniContactCache *cache = &world->now.contacts;
  if (!cache->spread) return CN_OK;
  CNI_TRY(cni_ranks_tell(world->now.settings.ranks, cni_share_pass(world, NULL)));
  cache->spread = cache->keyed = 0;
  return CN_OK;
}

CnStatus cni_share_whole(CnWorld *world) {
  CNI_TRY(gather_contacts(world));
  return cni_ranks_tell(world->now.settings.ranks, cni_share_places(world));
}

CnStatus cn_world_gather(CnWorld *world) {
  CNI_FLOATS;
  CNI_TRY(cni_world_idle(world, "cn_world_gather"));
  return cni_share_whole(world);
}

// Do ranks own the same bodies as when the contacts were kept?
static int owners_stay(const CnWorld *world) {
  const CniStepShare *s = &world->work.share, *was = &world->now.contacts.share;
  return s->first == was->first && s->count == was->count && s->cuts.slabs == was->cuts.slabs;
}

CnStatus cni_share_old(CnWorld *world) {
  const CniStepShare *s = &world->work.share;
  // contacts of the rest are solved by all, who have to know what they did before
  return s->part && !s->rest && owners_stay(world) ? CN_OK : gather_contacts(world);
}

CnStatus cni_share_hand_over(CnWorld *world) {
  CniContactCache *cache = &world->now.contacts;
  int32_t *begins;
  if (!world->work.share.asked || !cache->spread || cache->keyed != 1 || !owners_stay(world))
    return CN_OK;
  CniArenaMark mark = cni_arena_mark(&world->memory.arena);
  CNI_TRY(CNI_TAKE(&world->memory.arena, cni_ranks_count(world->now.settings.ranks) + 1, begins));
  cni_share_begins(world, begins);
  CNI_TRY(cni_share_pass(world, begins));
  cni_arena_back(&world->memory.arena, mark);
  cache->keyed = 2;
  return CN_OK;
}

// ---- what all are told ----

CnStatus cni_share_tell(CnWorld *world, const void *own, int64_t count, size_t size,
                        int64_t **start, void *address) {
  CnRanks *ranks = world->now.settings.ranks;
  CniArena *arena = &world->memory.arena;
  int32_t rank = cni_ranks_rank(ranks), ranks_count = cni_ranks_count(ranks);
  int64_t *counts;
  CNI_TRY(CNI_TAKE(arena, ranks_count, counts));
  CNI_TRY(CNI_TAKE(arena, ranks_count + 1, *start));
  for (int32_t r = 0; r <= ranks_count; r++) (*start)[r] = r * (int64_t)sizeof *counts;
  counts[rank] = count;
  CNI_TRY(cni_ranks_gather(ranks, counts, *start));
  (*start)[0] = 0;
  for (int32_t r = 0; r < ranks_count; r++)
    (*start)[r + 1] = (*start)[r] + counts[r] * (int64_t)size;
  size_t bytes = (size_t)(*start)[ranks_count];
  if (bytes / size > INT32_MAX) return cni_error(CN_NO_MEMORY, "more than %d things", INT32_MAX);
  void *all = cni_arena_take(arena, bytes);
  if (!all) return cni_error_memory(bytes);
  if (count > 0) memcpy((char *)all + (*start)[rank], own, (size_t)count * size);
  memcpy(address, &all, sizeof all);
  return cni_ranks_gather(ranks, all, *start);
}

static uint64_t rank_of_note(CniShortContact note) {
  return (uint64_t)(note.a & ~CNI_SHORT_BIT) << 32 | note.b;
}

// Notes of all ranks by ascending pairs: these are different ones on each rank.
static void merge_notes(const CniShortContact *notes, int64_t *next, const int64_t *end,
                        int32_t ranks, CniShortContact *to) {
  for (;;) {
    int32_t least = -1;
    for (int32_t r = 0; r < ranks; r++)
      if (next[r] < end[r] &&
          (least < 0 || rank_of_note(notes[next[r]]) < rank_of_note(notes[next[least]])))
        least = r;
    if (least < 0) return;
    *to++ = notes[next[least]++];
  }
}

CnStatus cni_share_events(CnWorld *world, CniEventLoop *loop) {
  CniArena *arena = &world->memory.arena;
  int32_t ranks = cni_ranks_count(world->now.settings.ranks), own = 0;
  CniShortContact *all, *merged;
  int64_t *start, *next, one = sizeof *all;
  for (int32_t b = 0; b < loop->block_count; b++)
    for (int32_t i = 0; i < loop->starts[b + 1]; i++)
      loop->notes[own++] = loop->notes[loop->places[b] + i];
  CNI_TRY(cni_share_tell(world, loop->notes, own, sizeof *all, &start, &all));
  for (int32_t r = 0; r <= ranks; r++) start[r] /= one;
  CNI_TRY(CNI_TAKE(arena, start[ranks] + 1, merged));
  CNI_TRY(CNI_TAKE(arena, ranks, next));
  memcpy(next, start, (size_t)ranks * sizeof *next);
  merge_notes(all, next, start + 1, ranks, merged);
  loop->notes = merged;
  loop->block_count = 1;
  loop->places[0] = 0;
  loop->starts[1] = (int32_t)start[ranks];
  return CN_OK;
}

CnStatus cni_share_full(CnWorld *world, int deeper, const CniContact **full, int32_t *count) {
  CnRanks *ranks = world->now.settings.ranks;
  int64_t any = deeper, *start, one = sizeof **full;
  *count = 0;
  CNI_TRY(cni_ranks_sum(ranks, &any, 1));
  if (any == 0) return CN_OK;
  CniContact *all, *merged;
  CNI_TRY(cni_share_tell(world, *full, world->found.full_count, sizeof *all, &start, &all));
  int64_t total = start[cni_ranks_count(ranks)] / one;
  CNI_TRY(CNI_TAKE(&world->memory.arena, total + 1, merged));
  CNI_TRY(cni_share_merge(world, all, start, merged));
  *full = merged;
  *count = (int32_t)total;
  return CN_OK;
}

// ---- the deepest overlap ----

typedef struct Deepest {
  CniFinding finding;
  uint64_t order; // of the contact: the first of equal ones counts
  int64_t any;
} Deepest;

CnStatus cni_share_deepest(CnWorld *world, int32_t own) {
  CniFinding *worst = &world->work.overlap;
  CnRanks *ranks = world->now.settings.ranks;
  int32_t rank = cni_ranks_rank(ranks), count = cni_ranks_count(ranks);
  Deepest *all, *best = NULL;
  int64_t *start;
  CNI_TRY(CNI_TAKE(&world->memory.arena, count, all));
  CNI_TRY(CNI_TAKE(&world->memory.arena, count + 1, start));
  for (int32_t r = 0; r <= count; r++) start[r] = r * (int64_t)sizeof *all;
  memset(&all[rank], 0, sizeof *all);
  all[rank].any = own >= 0;
  if (own >= 0) {
    all[rank].finding = *worst;
    all[rank].order = cni_contact_rank(&world->work.contacts[own]);
  }
  CNI_TRY(cni_ranks_gather(ranks, all, start));
  for (int32_t r = 0; r < count; r++) {
    if (!all[r].any) continue;
    double deeper = best ? all[r].finding.relative - best->finding.relative : 1;
    if (deeper > 0 || (deeper == 0 && all[r].order < best->order)) best = &all[r];
  }
  if (best) *worst = best->finding;
  return CN_OK;
}
