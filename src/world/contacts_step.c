// SPDX-License-Identifier: Apache-2.0
// Contacts of the step under way: noted in short when their blocks are made, kept with their impulses
// when the step is accepted.
//
// Collision's contacts lie where the solver will work, so that nothing of them is left afterwards.
// What is noted before: the two shapes of each contact that has a block, 8 bytes, by assembly on its
// way; and in full those that are not of two spheres. At the end of the step these arrays change places with
// those of the last step, whose memory serves the next.
#include <string.h>

#include "core/assert.h"
#include "core/error.h"
#include "core/tasks.h"
#include "problem/problem.h"
#include "world/world.h"

// ---- when their blocks are made ----

CnStatus cni_contacts_begin(CnWorld *world, int32_t count) {
  CniStepContacts *now = &world->found;
  now->count = now->full_count = 0;
  return CNI_RESERVE(&world->allocator, now->shorts, now->short_capacity, 0, count > 0 ? count : 1);
}

void cni_step_contacts_release(CniStepContacts *now, const CnAllocator *allocator) {
  cni_release(allocator, now->shorts, (size_t)now->short_capacity * sizeof *now->shorts);
  cni_release(allocator, now->full, (size_t)now->full_capacity * sizeof *now->full);
  cni_release(allocator, now->full_at, (size_t)now->full_at_capacity * sizeof *now->full_at);
  CNI_RELEASE(allocator, now->bounces.items, now->bounces.capacity);
  CNI_RELEASE(allocator, now->bounces.total, now->bounces.total_capacity);
}

typedef struct NoteLoop {
  const CnWorld *world;
  int32_t *counts,
      *others; // of contacts with a block, and of those that are not of two spheres, per task
               // and then from the start
} NoteLoop;

static int32_t task_end(int32_t task, int32_t count) {
  return count - task * CNI_CONTACTS_PER_TASK > CNI_CONTACTS_PER_TASK
             ? (task + 1) * CNI_CONTACTS_PER_TASK
             : count;
}

static void count_contacts(void *context, int32_t begin, int32_t end) {
  const NoteLoop *loop = context;
  const CniShortContact *shorts = loop->world->found.shorts;
  for (int32_t task = begin; task < end; task++) {
    int32_t last = task_end(task, loop->world->work.contact_count), count = 0, others = 0;
    for (int32_t i = task * CNI_CONTACTS_PER_TASK; i < last; i++) {
      int has_block = shorts[i].a != CNI_SHORT_NONE;
      count += has_block;
      others += has_block & (shorts[i].a >= CNI_SHORT_BIT);
    }
    loop->counts[task] = count;
    loop->others[task] = others;
  }
}

// Those that are not of two spheres, as found.
static void note_others(void *context, int32_t begin, int32_t end) {
  const NoteLoop *loop = context;
  const CniStepContacts *now = &loop->world->found;
  const CniStepWork *work = &loop->world->work;
  for (int32_t task = begin; task < end; task++) {
    int32_t last = task_end(task, work->contact_count);
    int32_t at = loop->counts[task], other = loop->others[task];
    for (int32_t i = task * CNI_CONTACTS_PER_TASK; i < last; i++) {
      CniShortContact *c = &now->shorts[i];
      if (c->a == CNI_SHORT_NONE) continue;
      if (c->a & CNI_SHORT_BIT) {
        now->full[other] = work->contacts[i];
        now->full_at[other++] = at;
        c->a &= ~CNI_SHORT_BIT;
      }
      at++;
    }
  }
}

// Contacts that the modify hook took out leave no gap.
static void close_up(CniStepContacts *now, int32_t found) {
  int32_t at = 0;
  for (int32_t i = 0; i < found; i++)
    if (now->shorts[i].a != CNI_SHORT_NONE) now->shorts[at++] = now->shorts[i];
}

static int32_t sum_up(int32_t *counts, int32_t tasks) {
  int32_t sum = 0;
  for (int32_t t = 0; t < tasks; t++) {
    int32_t n = counts[t];
    counts[t] = sum;
    sum += n;
  }
  return sum;
}

CnStatus cni_contacts_note(CnWorld *world) {
  CniStepContacts *now = &world->found;
  int32_t found = world->work.contact_count, tasks = found / CNI_CONTACTS_PER_TASK + 1;
  NoteLoop loop = {world, NULL, NULL};
  CNI_TRY(CNI_TAKE(&world->memory.arena, tasks, loop.counts));
  CNI_TRY(CNI_TAKE(&world->memory.arena, tasks, loop.others));
  CNI_ASSERT(found <= now->short_capacity);
  cni_parallel_for(world->tasks, tasks, 1, count_contacts, &loop);
  int32_t count = sum_up(loop.counts, tasks), others = sum_up(loop.others, tasks);
  CNI_TRY(CNI_RESERVE(&world->allocator, now->full, now->full_capacity, 0, others));
  CNI_TRY(CNI_RESERVE(&world->allocator, now->full_at, now->full_at_capacity, 0, others));
  if (others > 0) cni_parallel_for(world->tasks, tasks, 1, note_others, &loop);
  if (count < found) close_up(now, found);
  now->count = count;
  now->full_count = others;
  // the blocks of contacts are the last ones, in the order of the contacts
  now->first_block = world->now.engine.problem->block_count - count;
  CNI_VALIDATE(cni_contacts_fault(world));
  return CN_OK;
}

// What a block must be for the contact that stands at its place: between these bodies.
static int is_of(const CnProblem *p, const CniBlock *block, int32_t a, int32_t b) {
  int32_t i = block->index;
  if (block->storage == CNI_SPHERE) return p->spheres[i].group_a == a && p->spheres[i].group_b == b;
  return block->storage == CNI_PAIR && p->pairs[i].group_a == a && p->pairs[i].group_b == b;
}

const char *cni_contacts_fault(const CnWorld *world) {
  const CniStepContacts *now = &world->found;
  const CnProblem *p = world->now.engine.problem;
  const CniShape *shapes = world->now.model.shapes;
  if (now->first_block < 0) return "there are fewer blocks than contacts";
  for (int32_t i = 0; i < now->count; i++) {
    int32_t a = cni_short_shape(now->shorts[i].a), b = cni_short_shape(now->shorts[i].b);
    if (i > 0 && cni_short_rank(now->shorts[i]) < cni_short_rank(now->shorts[i - 1]))
      return "the contacts noted do not ascend by rank";
    int32_t at_a = shapes[a].body, at_b = shapes[b].body;
    if (world->work.share.part) {
      at_a = cni_problem_group_from(p, at_a);
      at_b = cni_problem_group_from(p, at_b);
    }
    if (!is_of(p, &p->blocks[now->first_block + i], at_a, at_b))
      return "a contact noted is not that of its block";
  }
  for (int32_t i = 0; i < now->full_count; i++)
    if (now->full_at[i] < 0 || now->full_at[i] >= now->count ||
        (i > 0 && now->full_at[i] <= now->full_at[i - 1]))
      return "places of the contacts in full do not ascend";
  return NULL;
}

// ---- when the step is accepted ----

typedef struct KeepLoop {
  const CnWorld *world;
  const CnAnswer *answer;
  CniContactCache *cache;
} KeepLoop;

// Does the block carry an impulse?
static void mark_carried(void *context, int32_t begin, int32_t end) {
  const KeepLoop *loop = context;
  const CniStepContacts *now = &loop->world->found;
  const CniBlock *blocks = &loop->world->now.engine.problem->blocks[now->first_block];
  for (int32_t i = begin; i < end; i++) {
    const double *g = &loop->answer->g[blocks[i].row];
    int any = g[0] != 0;
    if (blocks[i].dim == 3) // nearly all of them
      any |= (g[1] != 0) | (g[2] != 0);
    else
      for (int32_t r = 1; r < blocks[i].dim; r++) any |= g[r] != 0;
    now->shorts[i].b |= any ? CNI_SHORT_BIT : 0; // no branch: nobody can predict which
  }
}

static void keep_contacts(void *context, int32_t begin, int32_t end) {
  const KeepLoop *loop = context;
  const CniStepContacts *now = &loop->world->found;
  CniContactCache *cache = loop->cache;
  const CnProblem *p = loop->world->now.engine.problem;
  const int32_t *places = loop->world->work.share.places;
  CnVec3 *angular = cache->turning ? cache->angular : NULL;
  if (!places)
    cni_contact_impulses(p, loop->answer, now->first_block + begin, end - begin,
                         &cache->linear[begin], angular ? angular + begin : NULL);
  for (int32_t i = begin; places && i < end; i++)
    cni_contact_impulses(p, loop->answer, now->first_block + places[i], 1, &cache->linear[i],
                         angular ? angular + i : NULL);
  for (int32_t i = begin; i < end; i++) {
    CniShortContact *c = &now->shorts[i];
    int loaded = !cni_is_zero(cache->linear[i]);
    int carried = loaded || (cache->turning && !cni_is_zero(cache->angular[i]));
    *c = (CniShortContact){c->a | (loaded ? CNI_SHORT_BIT : 0),
                           (uint32_t)cni_short_shape(c->b) | (carried ? CNI_SHORT_BIT : 0)};
  }
}

#define EXCHANGE(type, x, y)                                                                       \
  do {                                                                                             \
    type exchanged = x;                                                                            \
    x = y;                                                                                         \
    y = exchanged;                                                                                 \
  } while (0)

// What was noted takes the place of that of the last step, whose memory serves the next.
static void exchange(CniContactCache *cache, CniStepContacts *now) {
  EXCHANGE(CniShortContact *, cache->shorts, now->shorts);
  EXCHANGE(CniContact *, cache->full, now->full);
  EXCHANGE(int32_t *, cache->full_at, now->full_at);
  EXCHANGE(int32_t, cache->short_capacity, now->short_capacity);
  EXCHANGE(int32_t, cache->full_capacity, now->full_capacity);
  EXCHANGE(int32_t, cache->full_at_capacity, now->full_at_capacity);
  cache->count = now->count;
  cache->full_count = now->full_count;
}

// Contacts in full go along with their bodies to where the step ends.
static void carry(const CniModel *model, const CnPose *from, const CnPose *to,
                  CniStepContacts *now) {
  for (int32_t i = 0; i < now->full_count; i++) {
    CniContact *c = &now->full[i];
    int32_t a = c->body_a, b = c->body_b;
    CnVec3 way_a = cn_sub(to[a].position, from[a].position);
    CnVec3 way_b = cn_sub(to[b].position, from[b].position);
    c->point = cn_add(c->point, cni_contact_way(model, a, way_a, b, way_b));
  }
}

// The same, where bodies have yet to be moved.
static void carry_ahead(const CnWorld *world, const CnAnswer *answer, CniStepContacts *now) {
  const CniModel *model = &world->now.model;
  for (int32_t i = 0; i < now->full_count; i++) {
    CniContact *c = &now->full[i];
    CnVec3 way_a = cni_share_way(world, answer, c->body_a);
    CnVec3 way_b = cni_share_way(world, answer, c->body_b);
    c->point = cn_add(c->point, cni_contact_way(model, c->body_a, way_a, c->body_b, way_b));
  }
}

static int any_turning(const CnProblem *p) {
  for (int32_t i = 0; i < p->set_count; i++)
    if (p->sets[i].kind >= CN_BLOCK_ROLLING) return 1;
  return 0;
}

CnStatus cni_contacts_share(CnWorld *world, const CnAnswer *answer) {
  KeepLoop keep = {world, answer, &world->now.contacts};
  if (!world->work.share.part) return CN_OK;
  cni_parallel_for(world->tasks, world->found.count, CNI_CONTACTS_PER_TASK, mark_carried, &keep);
  return cni_share_keep(world, answer);
}

CnStatus cni_contacts_commit(CnWorld *world, const CnPose *pose, const CnAnswer *answer) {
  CniStepContacts *now = &world->found;
  CniContactCache *cache = &world->now.contacts;
  const CnAllocator *allocator = &world->allocator;
  int32_t turning = any_turning(world->now.engine.problem), bodies = world->now.model.body_count;
  KeepLoop keep = {world, answer, cache};
  CniEventLoop events;
  if (world->work.share.part)
    turning = world->work.share.turning;
  else
    cni_parallel_for(world->tasks, now->count, CNI_CONTACTS_PER_TASK, mark_carried, &keep);
  CNI_TRY(cni_events_find(world, &events));
  CniTriggered triggered;
  CNI_TRY(cni_triggers_find(world, pose, &triggered));
  CNI_TRY(cni_contacts_reserve(cache, allocator, now->count, turning,
                               events.count + triggered.event_count));
  CNI_TRY(CNI_RESERVE(allocator, cache->inside, cache->inside_capacity, cache->inside_count,
                      triggered.count));
  // others' contacts may be round, and be asked for
  const CniStepShare *share = &world->work.share;
  int round = share->part || now->full_count < now->count;
  if (share->part) bodies = share->end - share->begin;
  if (round)
    CNI_TRY(
        CNI_RESERVE(allocator, cache->before, cache->before_capacity, cache->before_count, bodies));
  if (share->part)
    CNI_TRY(CNI_RESERVE(allocator, cache->before_slots, cache->before_slot_capacity,
                        cache->before_spread ? cache->before_count : 0, bodies));
  if (share->lean) {
    carry_ahead(world, answer, now);
    CNI_TRY(cni_share_move(world, answer));
  }

  // nothing fails from here on
  cni_events_write(world, &events);
  cni_triggers_write(world, &triggered);
  cache->turning = turning;
  cni_parallel_for(world->tasks, now->count, CNI_CONTACTS_PER_TASK, keep_contacts, &keep);
  const CniTouch *touch = world->work.touch;
  if (!world->work.equations && !share->lean) // those place them by their touches (told.c)
    carry(&world->now.model, touch ? touch->pose : world->now.model.pose, pose, now);
  exchange(cache, now);
  cache->before_count = round ? bodies : 0;
  cache->named = cache->unsorted = cache->keyed = 0;
  cache->spread = cache->before_spread = world->work.share.part;
  cache->share = world->work.share;
  cache->time_step = world->work.time_step;
  return CN_OK;
}
