// SPDX-License-Identifier: Apache-2.0
// Contacts kept from the last step: their names while bodies come and go, and the warm start of the
// next solve.
//
// Contacts ascend by rank, so a pair of shapes is a run of neighbours, and comparing the last step
// with this one is a merge. They are kept in short: in full they would be the largest part of a
// world's memory. See contacts.h for the way of a contact through a step.
#include <string.h>

#include "core/floats.h"
#include "core/sort.h"
#include "world/world.h"

CnStatus cni_contacts_reserve(CniContactCache *cache, const CnAllocator *allocator, int32_t count,
                              int32_t turning, int32_t event_count) {
  CNI_TRY(CNI_RESERVE(allocator, cache->linear, cache->linear_capacity, cache->count, count));
  if (turning)
    CNI_TRY(CNI_RESERVE(allocator, cache->angular, cache->angular_capacity,
                        cache->turning ? cache->count : 0, count));
  return CNI_RESERVE(allocator, cache->events, cache->event_capacity, cache->event_count,
                     event_count);
}

void cni_contacts_release(CniContactCache *c, const CnAllocator *allocator) {
  cni_release(allocator, c->shorts, (size_t)c->short_capacity * sizeof *c->shorts);
  cni_release(allocator, c->full, (size_t)c->full_capacity * sizeof *c->full);
  cni_release(allocator, c->full_at, (size_t)c->full_at_capacity * sizeof *c->full_at);
  cni_release(allocator, c->before, (size_t)c->before_capacity * sizeof *c->before);
  CNI_RELEASE(allocator, c->before_slots, c->before_slot_capacity);
  cni_release(allocator, c->linear, (size_t)c->linear_capacity * sizeof *c->linear);
  cni_release(allocator, c->angular, (size_t)c->angular_capacity * sizeof *c->angular);
  cni_release(allocator, c->events, (size_t)c->event_capacity * sizeof *c->events);
  CNI_RELEASE(allocator, c->inside, c->inside_capacity);
  CNI_RELEASE(allocator, c->keys, c->key_capacity);
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

CnVec3 cni_contact_way(const CniModel *model, int32_t a, CnVec3 way_a, int32_t b, CnVec3 way_b) {
  int moves_a = cni_has_mass(&model->mass[a]), moves_b = cni_has_mass(&model->mass[b]);
  if (moves_a && moves_b) return cn_scale(0.5, cn_add(way_a, way_b));
  return moves_b ? way_b : way_a;
}

// Of two spheres, from where their bodies were and are.
static CniContact round_contact(const CniContents *contents, const CniShape *a, const CniShape *b) {
  const CnVec3 *from = contents->contacts.before;
  const CnPose *to = contents->model.pose;
  CniContact found = {.two_spheres = 1};
  cni_collision_spheres(from[a->body], a->radius, from[b->body], b->radius, &found);
  CnVec3 way_a = cn_sub(to[a->body].position, from[a->body]);
  CnVec3 way_b = cn_sub(to[b->body].position, from[b->body]);
  CnVec3 way = cni_contact_way(&contents->model, a->body, way_a, b->body, way_b);
  found.point = cn_add(found.point, way);
  return found;
}

CniContact cni_contact_found(const CniContents *contents, int32_t index) {
  const CniContactCache *cache = &contents->contacts;
  if (cache->named) return cache->full[index];
  int32_t shape_a = cni_short_shape(cache->shorts[index].a);
  int32_t shape_b = cni_short_shape(cache->shorts[index].b);
  const CniShape *a = &contents->model.shapes[shape_a], *b = &contents->model.shapes[shape_b];
  int32_t full = cni_lower_bound(cache->full_at, cache->full_count, index);
  int is_full = full < cache->full_count && cache->full_at[full] == index;
  CniContact found = is_full ? cache->full[full] : round_contact(contents, a, b);
  found.shape_a = shape_a;
  found.shape_b = shape_b;
  found.body_a = a->body;
  found.body_b = b->body;
  return found;
}

CnStatus cni_contacts_here(const CniContactCache *cache, const char *call) {
  if (!cache->spread && !cache->before_spread) return CN_OK;
  return cni_error(CN_REMOTE,
                   "%s: each of several ranks has its own contacts: all call cn_world_gather first",
                   call);
}

CnStatus cni_contacts_name(CnWorld *world) {
  CniContents *contents = &world->now;
  CniContactCache *cache = &contents->contacts;
  if (cache->named) return CN_OK;
  CNI_TRY(cni_share_whole(world));
  CNI_TRY(CNI_RESERVE(&contents->model.allocator, cache->full, cache->full_capacity,
                      cache->full_count, cache->count));
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

CnStatus cni_contacts_fix(CnWorld *world) {
  const CniContactCache *cache = &world->now.contacts;
  return cache->before_count > 0 || cache->before_spread ? cni_contacts_name(world) : CN_OK;
}

void cni_contacts_leave(CniContents *contents, const int32_t *order, void *scratch) {
  CniContactCache *cache = &contents->contacts;
  const CniModel *model = &contents->model;
  if (cache->named) return;
  for (int32_t i = 0; cache->spread && i < cache->count; i++)
    cache->keys[i] = cni_short_rank(cache->shorts[i]);
  cache->keyed = cache->spread;
  for (int32_t i = 0; i < cache->count; i++) {
    CniShortContact *c = &cache->shorts[i];
    c->a = model->shapes[cni_short_shape(c->a)].slot | (c->a & CNI_SHORT_BIT);
    c->b = model->shapes[cni_short_shape(c->b)].slot | (c->b & CNI_SHORT_BIT);
  }
  if (cache->before_count == 0 || cache->before_spread) return;
  cni_permute(cache->before, sizeof *cache->before, order, model->body_count, scratch);
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
void cni_contact_find_shapes(const CniContents *contents, int32_t i, int32_t *a, int32_t *b) {
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
    cni_contact_find_shapes(&world->now, i, &a, &b);
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
  CNI_TRY(cni_contacts_here(cache, "cn_world_contact"));
  if (index < 0 || index >= cache->count)
    return cni_invalid("contact %d is none: the last step had %d", (int)index, (int)cache->count);
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
