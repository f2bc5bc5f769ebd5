// SPDX-License-Identifier: Apache-2.0
// Contacts of the last step: the cache of impulses that starts the next solve, what users may ask
// of a contact, events, and overlaps at the present positions.
//
// Contacts ascend by rank, so a pair of shapes is a run of neighbours, and comparing the last step
// with this one is a merge. The contacts of the last step stay until this one has succeeded. They
// are kept in short: in full they would be the largest part of a world's memory. Those of this step
// are not kept at all while the solver works, but for those that are not round: blocks know bodies,
// and where a body has one shape that is enough.
#include <string.h>

#include "core/error.h"
#include "core/floats.h"
#include "core/sort.h"
#include "core/tasks.h"
#include "problem/problem.h"
#include "world/world.h"

#define CONTACTS_PER_TASK 1024

CnStatus cni_contacts_reserve(CniContactCache *cache, const CnAllocator *allocator, int32_t count,
                              int32_t turning, int32_t event_count) {
  CNI_TRY(cni_array_reserve(allocator, (void **)&cache->linear, &cache->linear_capacity,
                            cache->count, count, sizeof *cache->linear));
  if (turning)
    CNI_TRY(cni_array_reserve(allocator, (void **)&cache->angular, &cache->angular_capacity,
                              cache->turning ? cache->count : 0, count, sizeof *cache->angular));
  return cni_array_reserve(allocator, (void **)&cache->events, &cache->event_capacity,
                           cache->event_count, event_count, sizeof *cache->events);
}

void cni_contacts_release(CniContactCache *c, const CnAllocator *allocator) {
  cni_release(allocator, c->shorts, (size_t)c->short_capacity * sizeof *c->shorts);
  cni_release(allocator, c->full, (size_t)c->full_capacity * sizeof *c->full);
  cni_release(allocator, c->full_at, (size_t)c->full_at_capacity * sizeof *c->full_at);
  cni_release(allocator, c->before, (size_t)c->before_capacity * sizeof *c->before);
  cni_release(allocator, c->linear, (size_t)c->linear_capacity * sizeof *c->linear);
  cni_release(allocator, c->angular, (size_t)c->angular_capacity * sizeof *c->angular);
  cni_release(allocator, c->events, (size_t)c->event_capacity * sizeof *c->events);
  *c = (CniContactCache){0};
}

// ---- names ----

void cni_contact_shapes(const CniContents *contents, int32_t index, CnShapeId *a, CnShapeId *b) {
  const CniContactCache *cache = &contents->contacts;
  if (cache->named) {
    const CniContact *c = &cache->full[index];
    *a = (CnShapeId){(uint32_t)c->shape_a, (uint32_t)c->body_a};
    *b = (CnShapeId){(uint32_t)c->shape_b, (uint32_t)c->body_b};
  } else {
    *a = cni_shape_id(&contents->model, cni_short_shape(cache->shorts[index].a));
    *b = cni_shape_id(&contents->model, cni_short_shape(cache->shorts[index].b));
  }
}

CniContact cni_contact_found(const CniContents *contents, int32_t index) {
  const CniContactCache *cache = &contents->contacts;
  if (cache->named) return cache->full[index];
  int32_t shape_a = cni_short_shape(cache->shorts[index].a);
  int32_t shape_b = cni_short_shape(cache->shorts[index].b);
  const CniShape *a = &contents->model.shapes[shape_a], *b = &contents->model.shapes[shape_b];
  int32_t full = cni_lower_bound(cache->full_at, cache->full_count, index);
  CniContact found = {.round = 1};
  if (full < cache->full_count && cache->full_at[full] == index)
    found = cache->full[full];
  else
    cni_collision_spheres(cache->before[a->body], a->radius, cache->before[b->body], b->radius,
                          &found);
  found.shape_a = shape_a;
  found.shape_b = shape_b;
  found.body_a = a->body;
  found.body_b = b->body;
  return found;
}

CnStatus cni_contacts_name(CniContents *contents) {
  CniContactCache *cache = &contents->contacts;
  if (cache->named) return CN_OK;
  CNI_TRY(cni_array_reserve(&contents->model.allocator, (void **)&cache->full,
                            &cache->full_capacity, cache->full_count, cache->count,
                            sizeof *cache->full));
  // from behind: a contact kept in full never stands after its place among all
  for (int32_t i = cache->count - 1; i >= 0; i--) {
    CnShapeId a, b;
    cni_contact_shapes(contents, i, &a, &b);
    CniContact c = cni_contact_found(contents, i);
    c.shape_a = (int32_t)a.slot;
    c.body_a = (int32_t)a.generation;
    c.shape_b = (int32_t)b.slot;
    c.body_b = (int32_t)b.generation;
    cache->full[i] = c;
  }
  cache->full_count = cache->count;
  cache->named = 1;
  return CN_OK;
}

void cni_contacts_leave(CniContents *contents, const int32_t *order, void *scratch) {
  CniContactCache *cache = &contents->contacts;
  const CniModel *model = &contents->model;
  if (cache->named) return;
  for (int32_t i = 0; i < cache->count; i++) {
    CniShortContact *c = &cache->shorts[i];
    c->a = model->shapes[cni_short_shape(c->a)].slot | (c->a & CNI_SHORT_BIT);
    c->b = model->shapes[cni_short_shape(c->b)].slot | (c->b & CNI_SHORT_BIT);
  }
  if (cache->before_count == 0) return;
  CnVec3 *moved = scratch;
  for (int32_t i = 0; i < model->body_count; i++) moved[i] = cache->before[order[i]];
  memcpy(cache->before, moved, (size_t)model->body_count * sizeof *moved);
}

void cni_contacts_arrive(CniContents *contents) {
  CniContactCache *cache = &contents->contacts;
  const CniSlot *slots = contents->model.shape_ids.slots; // counted from 1 outside
  if (cache->named) return;
  for (int32_t i = 0; i < cache->count; i++) {
    CniShortContact *c = &cache->shorts[i];
    c->a = (uint32_t)slots[cni_short_shape(c->a) - 1].index | (c->a & CNI_SHORT_BIT);
    c->b = (uint32_t)slots[cni_short_shape(c->b) - 1].index | (c->b & CNI_SHORT_BIT);
  }
  cache->unsorted = 1;
}

// Dense indices of the shapes of a contact, -1 where one has gone.
static void find_shapes(const CniContents *contents, int32_t i, int32_t *a, int32_t *b) {
  const CniContactCache *cache = &contents->contacts;
  const CniIds *ids = &contents->model.shape_ids;
  if (!cache->named) {
    *a = cni_short_shape(cache->shorts[i].a);
    *b = cni_short_shape(cache->shorts[i].b);
    return;
  }
  const CniContact *c = &cache->full[i];
  *a = cni_ids_find(ids, (uint32_t)c->shape_a, (uint32_t)c->body_a);
  *b = cni_ids_find(ids, (uint32_t)c->shape_b, (uint32_t)c->body_b);
}

// ---- the warm start ----

// Contacts whose shapes still exist, sorted by the present rank. The sort is stable, so that
// features of a pair go on ascending.
static CnStatus sort_old(CnWorld *world, CniOldContacts *old) {
  const CniModel *model = &world->now.model;
  const CniContactCache *cache = &world->now.contacts;
  CniArena *arena = &world->memory.arena;
  CniSort sort;
  size_t size = (size_t)cache->count, bytes = size * (sizeof *sort.keys + sizeof *sort.values);
  uint64_t *rank = cni_arena_take(arena, size * sizeof *rank);
  int32_t *place = cni_arena_take(arena, size * sizeof *place);
  CniArenaMark mark = cni_arena_mark(arena);
  sort = (CniSort){rank, cni_arena_take(arena, size * sizeof *rank), place,
                   cni_arena_take(arena, size * sizeof *place)};
  if (!rank || !place || !sort.spare_keys || !sort.spare_values) return cni_error_memory(2 * bytes);
  int32_t n = 0, bits = cni_bit_count((uint64_t)model->shape_count);
  for (int32_t i = 0; i < cache->count; i++) {
    int32_t a, b;
    find_shapes(&world->now, i, &a, &b);
    if (a < 0 || b < 0) continue;
    sort.keys[n] = (uint64_t)(a < b ? a : b) << bits | (uint64_t)(a < b ? b : a);
    sort.values[n++] = i;
  }
  cni_sort_keys(&sort, n, 2 * bits);
  uint64_t mask = ((uint64_t)1 << bits) - 1;
  for (int32_t k = 0; k < n; k++) rank[k] = sort.keys[k] >> bits << 32 | (sort.keys[k] & mask);
  if (sort.values != place && n > 0) memcpy(place, sort.values, (size_t)n * sizeof *place);
  cni_arena_back(arena, mark);
  old->rank = rank;
  old->place = place;
  old->count = n;
  return CN_OK;
}

CnStatus cni_contacts_warm(CnWorld *world, CniOldContacts *old) {
  const CniContactCache *cache = &world->now.contacts;
  *old = (CniOldContacts){.shorts = cache->named ? NULL : cache->shorts,
                          .full = cache->full,
                          .full_at = cache->full_at,
                          .full_count = cache->named ? 0 : cache->full_count,
                          .linear = cache->linear,
                          .angular = cache->turning ? cache->angular : NULL,
                          .time_step = cache->time_step};
  if ((cache->named || cache->unsorted) && cache->count > 0) return sort_old(world, old);
  old->count = cache->count;
  return CN_OK;
}

// ---- contacts of the step under way ----

typedef struct NoteLoop {
  const CnWorld *world;
  const uint8_t *kept;      // CNI_KEPT per contact
  int32_t *counts, *others; // of contacts with a block, and of those that are not round, per task
                            // and then from the start
} NoteLoop;

static int32_t task_end(int32_t task, int32_t count) {
  return count - task * CONTACTS_PER_TASK > CONTACTS_PER_TASK ? (task + 1) * CONTACTS_PER_TASK
                                                              : count;
}

static void count_contacts(void *context, int32_t begin, int32_t end) {
  const NoteLoop *loop = context;
  const CniStepWork *work = &loop->world->work;
  for (int32_t task = begin; task < end; task++) {
    int32_t last = task_end(task, work->contact_count), count = 0, others = 0;
    for (int32_t i = task * CONTACTS_PER_TASK; i < last; i++) {
      count += loop->kept[i] != CNI_KEPT_NOT;
      others += loop->kept[i] == CNI_KEPT_OTHER;
    }
    loop->counts[task] = count;
    loop->others[task] = others;
  }
}

static void note_contacts(void *context, int32_t begin, int32_t end) {
  const NoteLoop *loop = context;
  const CnWorld *world = loop->world;
  const CniStepWork *work = &world->work;
  for (int32_t task = begin; task < end; task++) {
    int32_t last = task_end(task, work->contact_count);
    int32_t at = loop->counts[task], other = loop->others[task];
    for (int32_t i = task * CONTACTS_PER_TASK; i < last; i++) {
      if (loop->kept[i] == CNI_KEPT_NOT) continue;
      if (loop->kept[i] == CNI_KEPT_OTHER) {
        world->full[other] = work->contacts[i];
        world->full_at[other++] = at;
      }
      at++;
    }
  }
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

CnStatus cni_contacts_note(CnWorld *world, const uint8_t *kept) {
  CniStepWork *work = &world->work;
  int32_t tasks = work->contact_count / CONTACTS_PER_TASK + 1;
  size_t bytes = (size_t)tasks * sizeof(int32_t);
  NoteLoop loop = {world, kept, cni_arena_take(&world->memory.arena, bytes),
                   cni_arena_take(&world->memory.arena, bytes)};
  if (!loop.counts || !loop.others) return cni_error_memory(bytes);
  cni_parallel_for(world->tasks, tasks, 1, count_contacts, &loop);
  work->fresh_count = sum_up(loop.counts, tasks);
  work->full_count = sum_up(loop.others, tasks);
  // the blocks of contacts are the last ones, in the order of the contacts
  work->first_block = world->now.engine.problem->block_count - work->fresh_count;
  CNI_TRY(cni_array_reserve(&world->allocator, (void **)&world->full, &world->full_capacity, 0,
                            work->full_count, sizeof *world->full));
  CNI_TRY(cni_array_reserve(&world->allocator, (void **)&world->full_at, &world->full_at_capacity,
                            0, work->full_count, sizeof *world->full_at));
  cni_parallel_for(world->tasks, tasks, 1, note_contacts, &loop);
  return CN_OK;
}

typedef struct FreshLoop {
  const CnWorld *world;
  const CnAnswer *answer;
} FreshLoop;

// Does the block carry an impulse?
static uint32_t carries(const CnAnswer *answer, const CniBlock *block) {
  const double *g = &answer->g[block->row];
  int any = 0;
  for (int32_t r = 0; r < block->dim; r++) any |= g[r] != 0;
  return any ? CNI_SHORT_BIT : 0;
}

// Contacts in short, from the blocks where they are round.
static void list_fresh(void *context, int32_t begin, int32_t end) {
  const FreshLoop *loop = context;
  const CnWorld *world = loop->world;
  const CniStepWork *work = &world->work;
  const CnProblem *p = world->now.engine.problem;
  const CniBody *bodies = world->now.model.bodies;
  int32_t full = cni_lower_bound(world->full_at, work->full_count, begin);
  int32_t next = full < work->full_count ? world->full_at[full] : INT32_MAX;
  for (int32_t i = begin; i < end; i++) {
    const CniBlock *block = &p->blocks[work->first_block + i];
    int32_t a, b;
    if (i == next) {
      a = world->full[full].shape_a;
      b = world->full[full].shape_b;
      full++;
      next = full < work->full_count ? world->full_at[full] : INT32_MAX;
    } else {
      const int32_t index = block->index, sphere = block->storage == CNI_SPHERE;
      a = bodies[sphere ? p->spheres[index].group_a : p->pairs[index].group_a].first_shape;
      b = bodies[sphere ? p->spheres[index].group_b : p->pairs[index].group_b].first_shape;
    }
    work->fresh[i] = (CniShortContact){(uint32_t)a, (uint32_t)b | carries(loop->answer, block)};
  }
}

static CnStatus take_fresh(CnWorld *world, const CnAnswer *answer) {
  size_t bytes = (size_t)world->work.fresh_count * sizeof *world->work.fresh;
  world->work.fresh = cni_arena_take(&world->memory.arena, bytes);
  if (!world->work.fresh) return cni_error_memory(bytes);
  FreshLoop loop = {world, answer};
  cni_parallel_for(world->tasks, world->work.fresh_count, CONTACTS_PER_TASK, list_fresh, &loop);
  return CN_OK;
}

// ---- pairs that touch ----

static int is_zero(CnVec3 a) { return a.x == 0 && a.y == 0 && a.z == 0; }

static int old_carries(const CniContactCache *cache, int32_t i) {
  if (!cache->named) return (cache->shorts[i].b & CNI_SHORT_BIT) != 0;
  return !is_zero(cache->linear[i]) || (cache->turning && !is_zero(cache->angular[i]));
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
  const CniShortContact *fresh = world->work.fresh;
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
    find_shapes(&world->now, i, &a, &b);
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

// Began: touching now and not before. Ended: the reverse. The contacts of this step are cut into
// blocks where a pair begins, those of the last step at the same ranks. A block notes its events at
// a place of its own, where there is room for one of each contact of both steps.
typedef struct EventLoop {
  const CnWorld *world;
  CniOldContacts old;
  CniShortContact *notes; // shapes; the top bit of a: it ended
  int32_t *places;        // where the notes of each block begin
  int32_t *starts;        // first event of each block; while noting: [block + 1] takes the number
  CnContactEvent *events;
} EventLoop;

// Where a block begins among the new contacts and the old ones.
static void block_begin(const EventLoop *loop, int32_t block, int32_t *new, int32_t *old) {
  const CniStepWork *work = &loop->world->work;
  int64_t first = (int64_t)block * CONTACTS_PER_TASK;
  int32_t count = work->fresh_count;
  *new = *old = 0;
  if (block == 0) return;
  *new = first < count ? (int32_t)first : count;
  while (*new < count && cni_short_rank(work->fresh[*new]) == cni_short_rank(work->fresh[*new - 1]))
    ++*new;
  *old =
      *new == count ? loop->old.count : cni_old_find(&loop->old, cni_short_rank(work->fresh[*new]));
}

static void note_events(void *context, int32_t begin, int32_t end) {
  const EventLoop *loop = context;
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
      if (before != now)
        notes[count++] = (CniShortContact){(uint32_t)(rank >> 32) | (before ? CNI_SHORT_BIT : 0),
                                           (uint32_t)rank};
      if (old == rank) old = i < i_end ? pass_old(world, &loop->old, i_end, &i, &touched) : none;
      if (new == rank) new = j < j_end ? pass_new(world, j_end, &j, &touches) : none;
    }
    loop->starts[block + 1] = count;
  }
}

static void write_events(void *context, int32_t begin, int32_t end) {
  const EventLoop *loop = context;
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

// Find the events: starts[block_count] is their number, those of lost pairs included.
static CnStatus find_events(CnWorld *world, int32_t block_count, EventLoop *loop) {
  *loop = (EventLoop){.world = world};
  CNI_TRY(cni_contacts_warm(world, &loop->old));
  size_t starts = ((size_t)block_count + 1) * sizeof *loop->starts;
  size_t notes = ((size_t)world->work.fresh_count + (size_t)loop->old.count) * sizeof *loop->notes;
  loop->starts = cni_arena_take(&world->memory.arena, starts);
  loop->places = cni_arena_take(&world->memory.arena, starts);
  loop->notes = cni_arena_take(&world->memory.arena, notes);
  if (!loop->starts || !loop->places || !loop->notes) return cni_error_memory(2 * starts + notes);
  cni_parallel_for(world->tasks, block_count, 1, note_events, loop);
  loop->starts[0] = end_lost_pairs(world, NULL);
  for (int32_t i = 0; i < block_count; i++) loop->starts[i + 1] += loop->starts[i];
  return CN_OK;
}

// ---- the end of a step ----

typedef struct KeepLoop {
  const CnWorld *world;
  const CnAnswer *answer;
  CniContactCache *cache;
} KeepLoop;

static void keep_contacts(void *context, int32_t begin, int32_t end) {
  const KeepLoop *loop = context;
  const CniStepWork *work = &loop->world->work;
  CniContactCache *cache = loop->cache;
  cni_contact_impulses(loop->world->now.engine.problem, loop->answer, work->first_block + begin,
                       end - begin, &cache->linear[begin],
                       cache->turning ? &cache->angular[begin] : NULL);
  for (int32_t i = begin; i < end; i++) {
    CniShortContact c = work->fresh[i];
    int loaded = !is_zero(cache->linear[i]);
    int carried = loaded || (cache->turning && !is_zero(cache->angular[i]));
    cache->shorts[i] =
        (CniShortContact){c.a | (loaded ? CNI_SHORT_BIT : 0),
                          (uint32_t)cni_short_shape(c.b) | (carried ? CNI_SHORT_BIT : 0)};
  }
}

// What is kept in full takes the place of that of the last step, whose memory serves the next.
static void exchange_full(CnWorld *world) {
  CniContactCache *cache = &world->now.contacts;
  CniContact *full = cache->full;
  int32_t *full_at = cache->full_at;
  int32_t full_capacity = cache->full_capacity, full_at_capacity = cache->full_at_capacity;
  cache->full = world->full;
  cache->full_at = world->full_at;
  cache->full_capacity = world->full_capacity;
  cache->full_at_capacity = world->full_at_capacity;
  world->full = full;
  world->full_at = full_at;
  world->full_capacity = full_capacity;
  world->full_at_capacity = full_at_capacity;
  cache->full_count = world->work.full_count;
}

static int any_turning(const CnProblem *p) {
  for (int32_t i = 0; i < p->set_count; i++)
    if (p->sets[i].kind >= CN_BLOCK_ROLLING) return 1;
  return 0;
}

CnStatus cni_contacts_commit(CnWorld *world, const CnAnswer *answer) {
  CniStepWork *work = &world->work;
  CniContactCache *cache = &world->now.contacts;
  const CnAllocator *allocator = &world->allocator;
  int32_t turning = any_turning(world->now.engine.problem);
  int32_t blocks = work->fresh_count / CONTACTS_PER_TASK + 1, bodies = world->now.model.body_count;
  EventLoop loop;
  CNI_TRY(take_fresh(world, answer));
  CNI_TRY(find_events(world, blocks, &loop));
  int32_t events = loop.starts[blocks];
  CNI_TRY(cni_contacts_reserve(cache, allocator, work->fresh_count, turning, events));
  CNI_TRY(cni_array_reserve(allocator, (void **)&cache->shorts, &cache->short_capacity,
                            cache->named ? 0 : cache->count, work->fresh_count,
                            sizeof *cache->shorts));
  if (work->full_count < work->fresh_count)
    CNI_TRY(cni_array_reserve(allocator, (void **)&cache->before, &cache->before_capacity,
                              cache->before_count, bodies, sizeof *cache->before));

  // nothing fails from here on
  end_lost_pairs(world, cache->events);
  loop.events = cache->events;
  cni_parallel_for(world->tasks, blocks, 1, write_events, &loop);
  cache->event_count = events;
  exchange_full(world);
  cache->count = work->fresh_count;
  cache->before_count = cache->full_count < cache->count ? bodies : 0;
  cache->turning = turning;
  KeepLoop keep = {world, answer, cache};
  cni_parallel_for(world->tasks, cache->count, CONTACTS_PER_TASK, keep_contacts, &keep);
  cache->named = cache->unsorted = 0;
  cache->time_step = work->time_step;
  return CN_OK;
}

// ---- questions ----

// The body of a shape, none if the shape has gone.
static CnBodyId body_of(const CniModel *model, CnShapeId shape) {
  int32_t i = cni_ids_find(&model->shape_ids, shape.slot, shape.generation);
  if (i < 0) return (CnBodyId){0, 0};
  return cni_body_id(model, model->shapes[i].body);
}

CnStatus cn_world_contact(const CnWorld *world, int32_t index, CnContact *contact) {
  CNI_FLOATS;
  if (!contact) return cni_null_argument("cn_world_contact", "the result pointer");
  *contact = (CnContact){0};
  if (!world) return cni_null_argument("cn_world_contact", "the world");
  const CniContactCache *cache = &world->now.contacts;
  if (index < 0 || index >= cache->count)
    return cni_error(CN_INVALID_ARGUMENT, "contact %d is none: the last step had %d", (int)index,
                     (int)cache->count);
  CniContact c = cni_contact_found(&world->now, index);
  CnShapeId shape_a, shape_b;
  cni_contact_shapes(&world->now, index, &shape_a, &shape_b);
  CnVec3 linear = cache->linear[index];
  CnVec3 angular = cache->turning ? cache->angular[index] : CN_VEC3_ZERO;
  double per_second = 1 / cache->time_step;
  *contact = (CnContact){.body_a = body_of(&world->now.model, shape_a),
                         .body_b = body_of(&world->now.model, shape_b),
                         .shape_a = shape_a,
                         .shape_b = shape_b,
                         .feature = c.feature,
                         .point = c.point,
                         .normal = c.normal,
                         .gap = c.gap,
                         .impulse = linear,
                         .force = cn_scale(per_second, linear),
                         .torque = cn_scale(per_second, angular)};
  return CN_OK;
}

void cn_world_events(const CnWorld *world, const CnContactEvent **events, int32_t *count) {
  if (events) *events = world ? world->now.contacts.events : NULL;
  if (count) *count = world ? world->now.contacts.event_count : 0;
}

// Deepest overlap of each pair of shapes, from contacts sorted by pair.
static CnPenetration overlaps(const CniContact *contacts, int32_t count) {
  CnPenetration result = {0};
  double sum = 0;
  for (int32_t i = 0; i < count;) {
    uint64_t rank = cni_contact_rank(&contacts[i]);
    double gap = 0;
    for (; i < count && cni_contact_rank(&contacts[i]) == rank; i++)
      gap = cn_min(gap, contacts[i].gap);
    if (!(gap < 0)) continue;
    result.overlap_count++;
    result.max = cn_max(result.max, -gap);
    sum -= gap;
  }
  if (result.overlap_count > 0) result.mean = sum / result.overlap_count;
  return result;
}

CnStatus cn_world_penetration(CnWorld *world, CnPenetration *penetration) {
  CNI_FLOATS;
  if (!penetration) return cni_null_argument("cn_world_penetration", "the result pointer");
  *penetration = (CnPenetration){0};
  CNI_TRY(cni_world_open(world, "cn_world_penetration"));
  CniModel *model = &world->now.model;
  if (model->body_count == 0) return CN_OK;
  CNI_TRY(cni_step_memory_reset(&world->memory));
  size_t bytes = (size_t)model->body_count * sizeof(CnTwist);
  CnTwist *rest = cni_arena_take(&world->memory.arena, bytes);
  if (!rest) return cni_error_memory(bytes);
  for (int32_t i = 0; i < model->body_count; i++) rest[i] = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
  CniCollisionInput input = {.model = model,
                             .pose = model->pose,
                             .twist = rest,
                             .time_step = world->now.settings.time_step,
                             .margin = world->now.settings.contact_margin,
                             .tasks = world->tasks,
                             .arena = &world->memory.arena,
                             .filter = world->hooks.filter ? cni_world_filter : NULL,
                             .filter_context = world};
  const CniContact *contacts;
  int32_t count;
  CNI_TRY(cni_collision_detect(world->collision, &input, &contacts, &count));
  *penetration = overlaps(contacts, count);
  return CN_OK;
}
