// Contacts of the last step: the cache of impulses that starts the next solve, what users may ask
// of a contact, events, and overlaps at the present positions.
//
// Contacts ascend by rank, so a pair of shapes is a run of neighbours, and comparing the last step
// with this one is a merge. While the solver works, the contacts of its step are there beside those
// of the last one, which stay until the step has succeeded. Both are kept in short: in full they
// would be the largest part of a world's memory.
#include <string.h>

#include "core/error.h"
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
    *a = cni_shape_id(&contents->model, cache->shorts[index].shape_a);
    *b = cni_shape_id(&contents->model, cache->shorts[index].shape_b);
  }
}

CniContact cni_contact_found(const CniContents *contents, int32_t index) {
  const CniContactCache *cache = &contents->contacts;
  if (cache->named) return cache->full[index];
  const CniShortContact *c = &cache->shorts[index];
  const CniShape *a = &contents->model.shapes[c->shape_a], *b = &contents->model.shapes[c->shape_b];
  CniContact found = {.round = 1};
  if (c->full >= 0)
    found = cache->full[c->full];
  else
    cni_collision_spheres(cache->before[a->body], a->radius, cache->before[b->body], b->radius,
                          &found);
  found.shape_a = c->shape_a;
  found.shape_b = c->shape_b;
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
    c->shape_a = (int32_t)model->shapes[c->shape_a].slot;
    c->shape_b = (int32_t)model->shapes[c->shape_b].slot;
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
    c->shape_a = slots[c->shape_a - 1].index;
    c->shape_b = slots[c->shape_b - 1].index;
  }
  cache->unsorted = 1;
}

// Dense indices of the shapes of a contact, -1 where one has gone.
static void find_shapes(const CniContents *contents, int32_t i, int32_t *a, int32_t *b) {
  const CniContactCache *cache = &contents->contacts;
  const CniIds *ids = &contents->model.shape_ids;
  if (!cache->named) {
    *a = cache->shorts[i].shape_a;
    *b = cache->shorts[i].shape_b;
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
  CniArena *arena = &world->arena;
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
                          .linear = cache->linear,
                          .angular = cache->turning ? cache->angular : NULL,
                          .time_step = cache->time_step};
  if ((cache->named || cache->unsorted) && cache->count > 0) return sort_old(world, old);
  old->count = cache->count;
  return CN_OK;
}

// ---- pairs that touch ----

static int is_zero(CnVec3 a) { return a.x == 0 && a.y == 0 && a.z == 0; }

static int old_carries(const CniContactCache *cache, int32_t i) {
  return !is_zero(cache->linear[i]) || (cache->turning && !is_zero(cache->angular[i]));
}

static uint64_t new_rank(const CnWorld *world, int32_t i) {
  return cni_pair_rank(world->fresh[i].shape_a, world->fresh[i].shape_b);
}

static int new_carries(const CnWorld *world, const CnAnswer *answer, int32_t i) {
  const CniBlock *block = &world->now.engine.problem->blocks[world->work.first_block + i];
  for (int32_t r = 0; r < block->dim; r++)
    if (answer->g[block->row + r] != 0) return 1;
  return 0;
}

// The next touching pair of the last step from contact *i on, before `end`; 0 if there is none.
static int next_old(const CnWorld *world, const CniOldContacts *old, int32_t end, int32_t *i,
                    uint64_t *rank) {
  while (*i < end) {
    int touching = 0;
    *rank = cni_old_rank(old, *i);
    for (; *i < end && cni_old_rank(old, *i) == *rank; ++*i)
      touching |= old_carries(&world->now.contacts, old->place ? old->place[*i] : *i);
    if (touching) return 1;
  }
  return 0;
}

// The same for the step just solved.
static int next_new(const CnWorld *world, const CnAnswer *answer, int32_t end, int32_t *i,
                    uint64_t *rank) {
  while (*i < end) {
    int touching = 0;
    *rank = new_rank(world, *i);
    for (; *i < end && new_rank(world, *i) == *rank; ++*i)
      touching |= new_carries(world, answer, *i);
    if (touching) return 1;
  }
  return 0;
}

// Events as they are found: counted, and written if there is room for them already.
typedef struct EventList {
  CnContactEvent *events; // null: count
  int32_t count;
} EventList;

static void add_event(EventList *list, CnContactEventKind kind, CnShapeId a, CnShapeId b) {
  if (list->events) list->events[list->count] = (CnContactEvent){kind, a, b};
  list->count++;
}

static void add_pair(EventList *list, CnContactEventKind kind, const CniModel *model,
                     uint64_t rank) {
  CnShapeId a = cni_shape_id(model, (int32_t)(rank >> 32)), b = cni_shape_id(model, (int32_t)rank);
  add_event(list, kind, a.slot < b.slot ? a : b, a.slot < b.slot ? b : a);
}

// Pairs that touched and of which a shape has gone.
static void end_lost_pairs(const CnWorld *world, EventList *list) {
  const CniContactCache *cache = &world->now.contacts;
  if (!cache->named) return;
  for (int32_t i = 0; i < cache->count;) {
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
    if (touching && (a < 0 || b < 0)) add_event(list, CN_CONTACT_ENDED, id_a, id_b);
  }
}

// Began: touching now and not before. Ended: the reverse. The contacts of this step are cut into
// blocks where a pair begins, those of the last step at the same ranks.
typedef struct EventLoop {
  const CnWorld *world;
  const CnAnswer *answer;
  CniOldContacts old;
  int32_t *starts;        // first event of each block; while counting: [block + 1] takes the number
  CnContactEvent *events; // null: count
} EventLoop;

// Where a block begins among the new contacts and the old ones.
static void block_begin(const EventLoop *loop, int32_t block, int32_t *new, int32_t *old) {
  const CnWorld *world = loop->world;
  int64_t first = (int64_t)block * CONTACTS_PER_TASK;
  int32_t count = world->work.fresh_count;
  *new = *old = 0;
  if (block == 0) return;
  *new = first < count ? (int32_t)first : count;
  while (*new < count && new_rank(world, *new) == new_rank(world, *new - 1)) ++*new;
  *old = *new == count ? loop->old.count : cni_old_find(&loop->old, new_rank(world, *new));
}

static void compare_blocks(void *context, int32_t begin, int32_t end) {
  const EventLoop *loop = context;
  const CnWorld *world = loop->world;
  const CniModel *model = &world->now.model;
  for (int32_t block = begin; block < end; block++) {
    if (loop->events && loop->starts[block] == loop->starts[block + 1]) continue;
    EventList list = {loop->events ? loop->events + loop->starts[block] : NULL, 0};
    int32_t i, j, i_end, j_end;
    block_begin(loop, block, &j, &i);
    block_begin(loop, block + 1, &j_end, &i_end);
    uint64_t old = 0, new = 0;
    int has_old = next_old(world, &loop->old, i_end, &i, &old);
    int has_new = next_new(world, loop->answer, j_end, &j, &new);
    while (has_old || has_new) {
      int ended = has_old && (!has_new || old < new), began = has_new && (!has_old || new < old);
      if (ended) add_pair(&list, CN_CONTACT_ENDED, model, old);
      if (began) add_pair(&list, CN_CONTACT_BEGAN, model, new);
      if (!began) has_old = next_old(world, &loop->old, i_end, &i, &old);
      if (!ended) has_new = next_new(world, loop->answer, j_end, &j, &new);
    }
    if (!loop->events) loop->starts[block + 1] = list.count;
  }
}

// Count the events: starts[block_count] is their number.
static CnStatus count_events(CnWorld *world, const CnAnswer *answer, int32_t block_count,
                             EventLoop *loop) {
  size_t bytes = ((size_t)block_count + 1) * sizeof(int32_t);
  *loop =
      (EventLoop){.world = world, .answer = answer, .starts = cni_arena_take(&world->arena, bytes)};
  if (!loop->starts) return cni_error_memory(bytes);
  CNI_TRY(cni_contacts_warm(world, &loop->old));
  EventList lost = {NULL, 0};
  end_lost_pairs(world, &lost);
  cni_parallel_for(world->tasks, block_count, 1, compare_blocks, loop);
  loop->starts[0] = lost.count;
  for (int32_t i = 0; i < block_count; i++) loop->starts[i + 1] += loop->starts[i];
  return CN_OK;
}

// ---- contacts in short ----

typedef struct NoteLoop {
  const CnWorld *world;
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
      int32_t kept = work->block_of[i] >= 0;
      count += kept;
      others += kept && !work->contacts[i].round;
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
      const CniContact *c = &work->contacts[i];
      if (work->block_of[i] < 0) continue;
      if (!c->round) world->full[other] = *c;
      world->fresh[at++] = (CniShortContact){c->shape_a, c->shape_b, c->round ? -1 : other++};
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

CnStatus cni_contacts_note(CnWorld *world) {
  CniStepWork *work = &world->work;
  int32_t tasks = work->contact_count / CONTACTS_PER_TASK + 1;
  size_t bytes = (size_t)tasks * sizeof(int32_t);
  NoteLoop loop = {world, cni_arena_take(&world->arena, bytes),
                   cni_arena_take(&world->arena, bytes)};
  if (!loop.counts || !loop.others) return cni_error_memory(bytes);
  cni_parallel_for(world->tasks, tasks, 1, count_contacts, &loop);
  work->fresh_count = sum_up(loop.counts, tasks);
  work->full_count = sum_up(loop.others, tasks);
  // the blocks of contacts are the last ones, in the order of the contacts
  work->first_block = world->now.engine.problem->block_count - work->fresh_count;
  CNI_TRY(cni_array_reserve(&world->allocator, (void **)&world->fresh, &world->fresh_capacity, 0,
                            work->fresh_count, sizeof *world->fresh));
  CNI_TRY(cni_array_reserve(&world->allocator, (void **)&world->full, &world->full_capacity, 0,
                            work->full_count, sizeof *world->full));
  cni_parallel_for(world->tasks, tasks, 1, note_contacts, &loop);
  return CN_OK;
}

// ---- the end of a step ----

typedef struct KeepLoop {
  const CnWorld *world;
  const CnAnswer *answer;
  CniContactCache *cache;
} KeepLoop;

static void keep_impulses(void *context, int32_t begin, int32_t end) {
  const KeepLoop *loop = context;
  const CnWorld *world = loop->world;
  CniContactCache *cache = loop->cache;
  for (int32_t i = begin; i < end; i++) {
    CniContactImpulse impulse =
        cni_contact_impulse(world->now.engine.problem, loop->answer, world->work.first_block + i);
    cache->linear[i] = impulse.linear;
    if (cache->turning) cache->angular[i] = impulse.angular;
  }
}

// The contacts of the step take the place of those of the last one, whose memory serves the next.
static void exchange_contacts(CnWorld *world) {
  CniContactCache *cache = &world->now.contacts;
  CniShortContact *shorts = cache->shorts;
  CniContact *full = cache->full;
  int32_t short_capacity = cache->short_capacity, full_capacity = cache->full_capacity;
  cache->shorts = world->fresh;
  cache->full = world->full;
  cache->short_capacity = world->fresh_capacity;
  cache->full_capacity = world->full_capacity;
  world->fresh = shorts;
  world->full = full;
  world->fresh_capacity = short_capacity;
  world->full_capacity = full_capacity;
  cache->count = world->work.fresh_count;
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
  EventLoop compare;
  CNI_TRY(count_events(world, answer, blocks, &compare));
  int32_t events = compare.starts[blocks];
  CNI_TRY(cni_contacts_reserve(cache, allocator, work->fresh_count, turning, events));
  if (work->full_count < work->fresh_count)
    CNI_TRY(cni_array_reserve(allocator, (void **)&cache->before, &cache->before_capacity,
                              cache->before_count, bodies, sizeof *cache->before));

  // nothing fails from here on
  EventList lost = {cache->events, 0};
  end_lost_pairs(world, &lost);
  compare.events = cache->events;
  if (events > lost.count) cni_parallel_for(world->tasks, blocks, 1, compare_blocks, &compare);
  cache->event_count = events;
  exchange_contacts(world);
  cache->before_count = cache->full_count < cache->count ? bodies : 0;
  cache->turning = turning;
  KeepLoop loop = {world, answer, cache};
  cni_parallel_for(world->tasks, cache->count, CONTACTS_PER_TASK, keep_impulses, &loop);
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
  if (!penetration) return cni_null_argument("cn_world_penetration", "the result pointer");
  *penetration = (CnPenetration){0};
  CNI_TRY(cni_world_open(world, "cn_world_penetration"));
  CniModel *model = &world->now.model;
  if (model->body_count == 0) return CN_OK;
  CNI_TRY(cni_arena_reset(&world->arena));
  size_t bytes = (size_t)model->body_count * sizeof(CnTwist);
  CnTwist *rest = cni_arena_take(&world->arena, bytes);
  if (!rest) return cni_error_memory(bytes);
  for (int32_t i = 0; i < model->body_count; i++) rest[i] = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
  CniCollisionInput input = {.model = model,
                             .pose = model->pose,
                             .twist = rest,
                             .time_step = world->now.settings.time_step,
                             .margin = world->now.settings.contact_margin,
                             .tasks = world->tasks,
                             .arena = &world->arena,
                             .filter = world->hooks.filter ? cni_world_filter : NULL,
                             .filter_context = world};
  const CniContact *contacts;
  int32_t count;
  CNI_TRY(cni_collision_detect(world->collision, &input, &contacts, &count));
  *penetration = overlaps(contacts, count);
  return CN_OK;
}
