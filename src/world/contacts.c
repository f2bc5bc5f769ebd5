// Contacts of the last step: the cache of impulses that starts the next solve, what users may ask
// of a contact, events, and overlaps at the present positions.
//
// Arrays are sorted by key, so a pair of shapes is a run of neighbours, and comparing the last step
// with this one is a merge.
#include "core/error.h"
#include "problem/problem.h"
#include "world/world.h"

CnStatus cni_contacts_reserve(CniContactCache *cache, const CnAllocator *allocator, int32_t count,
                              int32_t event_count) {
  CNI_TRY(cni_array_reserve(allocator, (void **)&cache->impulses, &cache->impulse_capacity,
                            cache->count, count, sizeof *cache->impulses));
  CNI_TRY(cni_array_reserve(allocator, (void **)&cache->infos, &cache->info_capacity, cache->count,
                            count, sizeof *cache->infos));
  return cni_array_reserve(allocator, (void **)&cache->events, &cache->event_capacity,
                           cache->event_count, event_count, sizeof *cache->events);
}

// ---- pairs that touch ----

typedef struct Pair {
  CnShapeId a, b;
} Pair;

static int same_shapes(const CniContactKey *p, const CniContactKey *q) {
  return p->shape_a == q->shape_a && p->shape_b == q->shape_b;
}

static int is_zero(CnVec3 a) { return a.x == 0 && a.y == 0 && a.z == 0; }

static int carries(const CniContactImpulse *impulse) {
  return !is_zero(impulse->linear) || !is_zero(impulse->angular);
}

// The next touching pair of the last step from contact *i on; 0 at the end.
static int next_old(const CniContactCache *cache, int32_t *i, Pair *pair) {
  while (*i < cache->count) {
    const CniContactKey *key = &cache->impulses[*i].key;
    const CniContactInfo *info = &cache->infos[*i];
    int touching = 0;
    for (; *i < cache->count && same_shapes(key, &cache->impulses[*i].key); ++*i)
      touching |= carries(&cache->impulses[*i]);
    if (!touching) continue;
    *pair = (Pair){{key->shape_a, info->generation_a}, {key->shape_b, info->generation_b}};
    return 1;
  }
  return 0;
}

static CnShapeId shape_id(const CniModel *model, int32_t shape) {
  return (CnShapeId){model->shapes[shape].slot, model->shapes[shape].generation};
}

// The same for the step just solved.
static int next_new(const CnWorld *world, const CnAnswer *answer, int32_t *i, Pair *pair) {
  const CniStepWork *work = &world->work;
  while (*i < work->contact_count) {
    const CniContact *first = &work->contacts[*i];
    int touching = 0;
    for (; *i < work->contact_count && same_shapes(&first->key, &work->contacts[*i].key); ++*i) {
      if (work->block_of[*i] < 0) continue;
      CniContactImpulse impulse = cni_contact_impulse(world->now.engine.problem, answer,
                                                      &work->contacts[*i], work->block_of[*i]);
      touching |= carries(&impulse);
    }
    if (!touching) continue;
    *pair = (Pair){shape_id(&world->now.model, first->shape_a),
                   shape_id(&world->now.model, first->shape_b)};
    return 1;
  }
  return 0;
}

static int compare_pairs(const Pair *p, const Pair *q) {
  const uint32_t a[4] = {p->a.slot, p->b.slot, p->a.generation, p->b.generation};
  const uint32_t b[4] = {q->a.slot, q->b.slot, q->a.generation, q->b.generation};
  for (int k = 0; k < 4; k++)
    if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
  return 0;
}

// Began: touching now and not before. Ended: the reverse, also when a shape has gone since. Answers
// how many there are and writes them, unless `events` is null.
static int32_t compare_steps(const CnWorld *world, const CnAnswer *answer, CnContactEvent *events) {
  const CniContactCache *cache = &world->now.contacts;
  int32_t i = 0, j = 0, count = 0;
  Pair old = {0}, new = {0};
  int has_old = next_old(cache, &i, &old), has_new = next_new(world, answer, &j, &new);
  while (has_old || has_new) {
    int order = !has_old ? 1 : !has_new ? -1 : compare_pairs(&old, &new);
    CnContactEvent event = {CN_CONTACT_ENDED, old.a, old.b};
    if (order > 0) event = (CnContactEvent){CN_CONTACT_BEGAN, new.a, new.b};
    if (order != 0 && events) events[count] = event;
    count += order != 0;
    if (order <= 0) has_old = next_old(cache, &i, &old);
    if (order >= 0) has_new = next_new(world, answer, &j, &new);
  }
  return count;
}

// ---- the cache in a step ----

// The shapes of an old contact still exist.
static int alive(const CniModel *model, const CniContactCache *cache, int32_t i) {
  const CniContactKey *key = &cache->impulses[i].key;
  const CniContactInfo *info = &cache->infos[i];
  return cni_ids_find(&model->shape_ids, key->shape_a, info->generation_a) >= 0 &&
         cni_ids_find(&model->shape_ids, key->shape_b, info->generation_b) >= 0;
}

CnStatus cni_contacts_warm(CnWorld *world, const CniContactImpulse **impulses, int32_t *count) {
  const CniContactCache *cache = &world->now.contacts;
  *impulses = cache->impulses;
  *count = cache->count;
  if (!cache->stale || cache->count == 0) return CN_OK;
  // a slot may have been given to another shape since: its contacts start from nothing
  size_t bytes = (size_t)cache->count * sizeof *cache->impulses;
  CniContactImpulse *kept = cni_arena_take(&world->arena, bytes);
  if (!kept) return cni_error_memory(bytes);
  *count = 0;
  for (int32_t i = 0; i < cache->count; i++)
    if (alive(&world->now.model, cache, i)) kept[(*count)++] = cache->impulses[i];
  *impulses = kept;
  return CN_OK;
}

CnStatus cni_contacts_commit(CnWorld *world, const CnAnswer *answer) {
  const CniStepWork *work = &world->work;
  const CniModel *model = &world->now.model;
  CniContactCache *cache = &world->now.contacts;
  int32_t blocks = 0, events = compare_steps(world, answer, NULL);
  for (int32_t i = 0; i < work->contact_count; i++) blocks += work->block_of[i] >= 0;
  CNI_TRY(cni_contacts_reserve(cache, &world->allocator, blocks, events));

  // nothing fails from here on
  cache->event_count = compare_steps(world, answer, cache->events);
  int32_t count = 0;
  for (int32_t i = 0; i < work->contact_count; i++) {
    const CniContact *c = &work->contacts[i];
    if (work->block_of[i] < 0) continue;
    const CniBody *a = &model->bodies[c->body_a], *b = &model->bodies[c->body_b];
    cache->infos[count] = (CniContactInfo){.body_a = {a->slot, a->generation},
                                           .body_b = {b->slot, b->generation},
                                           .generation_a = model->shapes[c->shape_a].generation,
                                           .generation_b = model->shapes[c->shape_b].generation,
                                           .point = c->point,
                                           .normal = c->normal,
                                           .gap = c->gap};
    cache->impulses[count++] =
        cni_contact_impulse(world->now.engine.problem, answer, c, work->block_of[i]);
  }
  cache->count = count;
  cache->time_step = work->time_step;
  cache->stale = 0;
  return CN_OK;
}

// ---- questions ----

CnStatus cn_world_contact(const CnWorld *world, int32_t index, CnContact *contact) {
  if (!contact) return cni_null_argument("cn_world_contact", "the result pointer");
  *contact = (CnContact){0};
  if (!world) return cni_null_argument("cn_world_contact", "the world");
  const CniContactCache *cache = &world->now.contacts;
  if (index < 0 || index >= cache->count)
    return cni_error(CN_INVALID_ARGUMENT, "contact %d is none: the last step had %d", (int)index,
                     (int)cache->count);
  const CniContactImpulse *impulse = &cache->impulses[index];
  const CniContactInfo *info = &cache->infos[index];
  double per_second = 1 / cache->time_step;
  *contact = (CnContact){.body_a = info->body_a,
                         .body_b = info->body_b,
                         .shape_a = {impulse->key.shape_a, info->generation_a},
                         .shape_b = {impulse->key.shape_b, info->generation_b},
                         .feature = impulse->key.feature,
                         .point = info->point,
                         .normal = info->normal,
                         .gap = info->gap,
                         .impulse = impulse->linear,
                         .force = cn_scale(per_second, impulse->linear),
                         .torque = cn_scale(per_second, impulse->angular)};
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
    const CniContactKey *key = &contacts[i].key;
    double gap = 0;
    for (; i < count && same_shapes(key, &contacts[i].key); i++) gap = cn_min(gap, contacts[i].gap);
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
                             .filter = world->hooks.filter ? cni_world_filter : NULL,
                             .filter_context = world};
  const CniContact *contacts;
  int32_t count;
  CNI_TRY(cni_collision_detect(world->collision, &input, &contacts, &count));
  *penetration = overlaps(contacts, count);
  return CN_OK;
}
