// SPDX-License-Identifier: Apache-2.0
// Pairs of shapes that began or ceased to press on each other in a step: a merge of its contacts with
// those of the last one, both by ascending rank, in parallel.
#include "core/error.h"
#include "core/tasks.h"
#include "world/world.h"

static int old_carries(const CniContactCache *cache, int32_t i) {
  if (!cache->named) return (cache->shorts[i].b & CNI_SHORT_BIT) != 0;
  return !cni_is_zero(cache->linear[i]) || (cache->turning && !cni_is_zero(cache->angular[i]));
}

// The pair at contact *i of the last step: its rank, and whether it touched; *i goes to the next.
static uint64_t pass_old(const CnWorld *world, const CniOldContacts *old, int32_t end, int32_t *i,
                         int *touched) {
  uint64_t rank = cni_old_rank(old, *i);
  *touched = 0;
  do {
    *touched |= old_carries(&world->now.contacts, old->place ? old->place[*i] : *i);
    ++*i;
  } while (*i < end && cni_old_rank(old, *i) == rank);
  return rank;
}

// The same for the step just solved.
static uint64_t pass_new(const CnWorld *world, int32_t end, int32_t *i, int *touches) {
  const CniShortContact *fresh = world->found.shorts;
  uint64_t rank = cni_short_rank(fresh[*i]);
  *touches = 0;
  do {
    *touches |= (fresh[*i].b & CNI_SHORT_BIT) != 0;
    ++*i;
  } while (*i < end && cni_short_rank(fresh[*i]) == rank);
  return rank;
}

// Pairs that touched and of which a shape has gone: counted, and written if there is room for them
// already.
static int32_t end_lost_pairs(const CnWorld *world, CnContactEvent *events) {
  const CniContactCache *cache = &world->now.contacts;
  int32_t count = 0;
  for (int32_t i = 0; cache->named && i < cache->count;) {
    const CniContact *c = &cache->full[i];
    int32_t a, b, touching = 0;
    cni_contact_find_shapes(&world->now, i, &a, &b);
    CnShapeId id_a, id_b;
    cni_contact_shapes(&world->now, i, &id_a, &id_b);
    for (; i < cache->count; i++) {
      const CniContact *d = &cache->full[i];
      if (d->shape_a != c->shape_a || d->shape_b != c->shape_b) break;
      touching |= old_carries(cache, i);
    }
    if (!touching || (a >= 0 && b >= 0)) continue;
    if (events) events[count] = (CnContactEvent){CN_CONTACT_ENDED, id_a, id_b};
    count++;
  }
  return count;
}

// Where a block begins among the new contacts and the old ones.
static void block_begin(const CniEventLoop *loop, int32_t block, int32_t *new, int32_t *old) {
  const CniShortContact *shorts = loop->world->found.shorts;
  int64_t first = (int64_t)block * CNI_CONTACTS_PER_TASK;
  int32_t count = loop->world->found.count;
  *new = *old = 0;
  if (block == 0) return;
  *new = first < count ? (int32_t)first : count;
  while (*new < count && cni_short_rank(shorts[*new]) == cni_short_rank(shorts[*new - 1])) ++*new;
  *old = *new == count ? loop->old.count : cni_old_find(&loop->old, cni_short_rank(shorts[*new]));
}

static void note_events(void *context, int32_t begin, int32_t end) {
  const CniEventLoop *loop = context;
  const CnWorld *world = loop->world;
  for (int32_t block = begin; block < end; block++) {
    int32_t i, j, i_end, j_end, count = 0;
    block_begin(loop, block, &j, &i);
    block_begin(loop, block + 1, &j_end, &i_end);
    CniShortContact *notes = loop->notes + i + j;
    loop->places[block] = i + j;
    uint64_t old = UINT64_MAX, new = UINT64_MAX, none = UINT64_MAX;
    int touched = 0, touches = 0;
    if (i < i_end) old = pass_old(world, &loop->old, i_end, &i, &touched);
    if (j < j_end) new = pass_new(world, j_end, &j, &touches);
    while (old != none || new != none) {
      uint64_t rank = old < new ? old : new;
      int before = old == rank && touched, now = new == rank &&touches;
      if (before != now && (!world->work.share.part || cni_share_owns(world, rank)))
        notes[count++] = (CniShortContact){(uint32_t)(rank >> 32) | (before ? CNI_SHORT_BIT : 0),
                                           (uint32_t)rank};
      if (old == rank) old = i < i_end ? pass_old(world, &loop->old, i_end, &i, &touched) : none;
      if (new == rank) new = j < j_end ? pass_new(world, j_end, &j, &touches) : none;
    }
    loop->starts[block + 1] = count;
  }
}

static void write_events(void *context, int32_t begin, int32_t end) {
  const CniEventLoop *loop = context;
  const CniModel *model = &loop->world->now.model;
  for (int32_t block = begin; block < end; block++) {
    const CniShortContact *note = loop->notes + loop->places[block];
    for (int32_t at = loop->starts[block]; at < loop->starts[block + 1]; at++, note++) {
      CnShapeId a = cni_shape_id(model, cni_short_shape(note->a));
      CnShapeId b = cni_shape_id(model, cni_short_shape(note->b));
      int ended = (note->a & CNI_SHORT_BIT) != 0, in_order = a.slot < b.slot;
      loop->events[at] = (CnContactEvent){ended ? CN_CONTACT_ENDED : CN_CONTACT_BEGAN,
                                          in_order ? a : b, in_order ? b : a};
    }
  }
}

CnStatus cni_events_find(CnWorld *world, CniEventLoop *loop) {
  int32_t blocks = world->found.count / CNI_CONTACTS_PER_TASK + 1;
  *loop = (CniEventLoop){.world = world, .block_count = blocks};
  CNI_TRY(cni_contacts_warm(world, &loop->old));
  size_t starts = ((size_t)blocks + 1) * sizeof *loop->starts;
  size_t notes = ((size_t)world->found.count + (size_t)loop->old.count) * sizeof *loop->notes;
  CniArena *arena = &world->memory.arena;
  loop->starts = cni_arena_take(arena, starts);
  loop->places = cni_arena_take(arena, starts);
  loop->notes = cni_arena_take(arena, notes);
  if (!loop->starts || !loop->places || !loop->notes) return cni_error_memory(2 * starts + notes);
  cni_parallel_for(world->tasks, blocks, 1, note_events, loop);
  if (world->work.share.part) CNI_TRY(cni_share_events(world, loop));
  blocks = loop->block_count;
  loop->starts[0] = end_lost_pairs(world, NULL);
  for (int32_t i = 0; i < blocks; i++) loop->starts[i + 1] += loop->starts[i];
  loop->count = loop->starts[blocks];
  return CN_OK;
}

void cni_events_write(CnWorld *world, CniEventLoop *loop) {
  CniContactCache *cache = &world->now.contacts;
  end_lost_pairs(world, cache->events);
  loop->events = cache->events;
  cni_parallel_for(world->tasks, loop->block_count, 1, write_events, loop);
  cache->event_count = loop->count;
}

int cni_world_pair_is_near(const CnWorld *world, CnShapeId a, CnShapeId b) {
  const CniContactCache *cache = &world->now.contacts;
  const CniIds *ids = &world->now.model.shape_ids;
  int32_t i = cni_ids_find(ids, a.slot, a.generation), j = cni_ids_find(ids, b.slot, b.generation);
  if (i < 0 || j < 0) return 0;
  if (cache->named || cache->unsorted) return 1;
  uint64_t rank = cni_pair_rank(i, j);
  int32_t lo = 0, hi = cache->count;
  while (lo < hi) {
    int32_t middle = lo + (hi - lo) / 2;
    if (cni_short_rank(cache->shorts[middle]) < rank)
      lo = middle + 1;
    else
      hi = middle;
  }
  return lo < cache->count && cni_short_rank(cache->shorts[lo]) == rank;
}
