// SPDX-License-Identifier: Apache-2.0
// Questions about where things are. Shapes are looked at in the order of their slots, which nothing
// but creation changes; the ball about a shape keeps most of them short.
#include <cairn/query.h>
#include <math.h>

#include "core/error.h"
#include "core/floats.h"
#include "world/world.h"

CnQueryFilter cn_query_filter_default(void) {
  return (CnQueryFilter){.category = CNI_USUAL_CATEGORY, .mask = CNI_USUAL_MASK};
}

// ---- shapes one after another ----

typedef struct Walk {
  const CniModel *model;
  const CnQueryFilter *filter;
  int32_t slot; // of the next one
  CnShapeId id;
  CnBodyId body;
  CniPlaced placed;
} Walk;

static Walk begin(const CnWorld *world, const CnQueryFilter *filter) {
  return (Walk){.model = &world->now.model, .filter = filter};
}

static int counts(const Walk *w, const CniShape *shape) {
  const CnQueryFilter *f = w->filter;
  if (!f) return 1;
  if (!(f->mask & cni_shape_category(shape)) || !(cni_shape_mask(shape) & f->category)) return 0;
  if (f->except.slot && f->except.slot == w->body.slot &&
      f->except.generation == w->body.generation)
    return 0;
  return !f->accept || f->accept(f->context, w->id);
}

static void place(Walk *w, int32_t i) {
  const CniModel *model = w->model;
  const CniShape *shape = &model->shapes[i];
  const CniBody *body = &model->bodies[shape->body];
  w->id = (CnShapeId){shape->slot, model->shape_ids.slots[shape->slot - 1].generation};
  w->body = (CnBodyId){body->slot, model->body_ids.slots[body->slot - 1].generation};
  w->placed = cni_model_placed(model, i, &model->pose[shape->body]);
}

static int next(Walk *w) {
  const CniIds *ids = &w->model->shape_ids;
  while (w->slot < ids->slot_count) {
    const CniSlot *slot = &ids->slots[w->slot++];
    if ((slot->generation & 1u) == 0) continue;
    place(w, slot->index);
    if (counts(w, &w->model->shapes[slot->index])) return 1;
  }
  return 0;
}

// May something of this radius that goes from `from` along `way` meet the shape before `most`?
static int in_reach(const CniPlaced *shape, CnVec3 from, double radius, CnVec3 way, double most) {
  CnVec3 normal;
  if (cni_shape_unbounded(shape->kind)) return 1;
  double ball = (cni_shape_outradius(shape) + radius) * (1 + 1e-9);
  CnVec3 apart = cn_sub(from, shape->pose.position);
  if (cn_norm2(apart) <= ball * ball) return 1;
  if (!(cn_norm2(way) > 0)) return 0;
  return cni_ray_ball(shape->pose.position, ball, from, way, &normal) <= most;
}

// ---- what is given ----

static CnStatus check(const CnWorld *world, const char *call, const void *result) {
  if (!result) return cni_null_argument(call, "the result pointer");
  return world ? CN_OK : cni_null_argument(call, "the world");
}

static CnStatus given_shape(const CnWorld *world, const char *call, const CnShapeDef *given,
                            CniPlaced *placed) {
  if (!given) return cni_null_argument(call, "the shape");
  CNI_TRY(cni_def_check("shape", given, sizeof *given, CNI_TAG_SHAPE));
  CnShapeDef def = *given;
  CNI_TRY(cni_shape_check(&def));
  CNI_TRY(cni_check_pose("shape: pose", &def.pose));
  *placed = cni_shape_placed(&def);
  cni_world_form(world, def.geometry, placed);
  int found = cni_shape_is_surface(def.kind) ? placed->mesh != NULL : placed->hull != NULL;
  if (cni_shape_needs_geometry(def.kind) && !found)
    return cni_error(CN_INVALID_HANDLE, "%s: the shape's geometry %u does not exist", call,
                     (unsigned)def.geometry.slot);
  return CN_OK;
}

// ---- rays ----

static CnHit hit_of(const Walk *w, double at, CnVec3 point, CnVec3 normal) {
  return (CnHit){.shape = w->id, .body = w->body, .at = at, .point = point, .normal = normal};
}

CnStatus cn_world_ray_all(const CnWorld *world, CnVec3 origin, CnVec3 way,
                          const CnQueryFilter *filter, CnHit *hits, int32_t capacity,
                          int32_t *count) {
  CNI_FLOATS;
  CNI_TRY(check(world, "cn_world_ray_all", count));
  *count = 0;
  if (!hits && capacity > 0) return cni_null_argument("cn_world_ray_all", "the hits");
  CNI_TRY(cni_check_vec3("cn_world_ray_all: origin", origin));
  CNI_TRY(cni_check_vec3("cn_world_ray_all: way", way));
  if (!(cn_norm(way) > CNI_NO_DIRECTION))
    return cni_invalid("cn_world_ray_all: the way has no length");
  for (Walk w = begin(world, filter); next(&w);) {
    CnVec3 normal;
    if (!in_reach(&w.placed, origin, 0, way, 1)) continue;
    double at = cni_shape_ray(&w.placed, origin, way, &normal);
    if (!(at <= 1)) continue;
    // into its place; what is beyond the capacity falls off the end
    int32_t i = *count < capacity ? *count : capacity;
    *count += 1;
    for (; i > 0 && hits[i - 1].at > at; i--)
      if (i < capacity) hits[i] = hits[i - 1];
    if (i < capacity) hits[i] = hit_of(&w, at, cn_madd(origin, at, way), normal);
  }
  return CN_OK;
}

CnStatus cn_world_ray(const CnWorld *world, CnVec3 origin, CnVec3 way, const CnQueryFilter *filter,
                      CnHit *hit) {
  CNI_FLOATS;
  int32_t count;
  if (!hit) return cni_null_argument("cn_world_ray", "the result pointer");
  *hit = (CnHit){.at = 1};
  return cn_world_ray_all(world, origin, way, filter, hit, 1, &count);
}

// ---- shapes ----

CnStatus cn_world_cast(const CnWorld *world, const CnShapeDef *shape, CnVec3 way,
                       const CnQueryFilter *filter, CnHit *hit) {
  CNI_FLOATS;
  CniPlaced moved;
  CNI_TRY(check(world, "cn_world_cast", hit));
  *hit = (CnHit){.at = 1};
  CNI_TRY(given_shape(world, "cn_world_cast", shape, &moved));
  CNI_TRY(cni_check_vec3("cn_world_cast: way", way));
  if (cni_shape_unbounded(moved.kind) || cni_shape_is_surface(moved.kind))
    return cni_invalid("cn_world_cast: a %s cannot be moved", cni_shape_kinds[moved.kind]->name);
  double radius = cni_shape_outradius(&moved);
  for (Walk w = begin(world, filter); next(&w);) {
    CniPlaces places;
    if (!in_reach(&w.placed, moved.pose.position, radius, way, hit->at)) continue;
    double at = cni_cast(&moved, &w.placed, way, 1, &places);
    if (!(at <= 1) || (hit->shape.slot && !(at < hit->at))) continue;
    *hit = hit_of(&w, at, places.b, cn_neg(places.normal));
  }
  return CN_OK;
}

CnStatus cn_world_overlap(const CnWorld *world, const CnShapeDef *shape,
                          const CnQueryFilter *filter, CnShapeId *shapes, int32_t capacity,
                          int32_t *count) {
  CNI_FLOATS;
  CniPlaced given;
  CNI_TRY(check(world, "cn_world_overlap", count));
  *count = 0;
  if (!shapes && capacity > 0) return cni_null_argument("cn_world_overlap", "the shapes");
  CNI_TRY(given_shape(world, "cn_world_overlap", shape, &given));
  int unbounded = cni_shape_unbounded(given.kind);
  double radius = unbounded ? INFINITY : cni_shape_outradius(&given);
  for (Walk w = begin(world, filter); next(&w);) {
    if (!in_reach(&w.placed, given.pose.position, radius, CN_VEC3_ZERO, 0)) continue;
    if (!(cni_places(&given, &w.placed).gap <= 0)) continue;
    if (*count < capacity) shapes[*count] = w.id;
    *count += 1;
  }
  return CN_OK;
}

// ---- nearest places ----

static CnClosest closest_of(const Walk *w, CniPlaces p) {
  return (CnClosest){.shape = w->id,
                     .body = w->body,
                     .gap = p.gap,
                     .normal = p.normal,
                     .point = p.a,
                     .shape_point = p.b};
}

CnStatus cn_world_closest(const CnWorld *world, CnVec3 point, const CnQueryFilter *filter,
                          CnClosest *closest) {
  CNI_FLOATS;
  CNI_TRY(check(world, "cn_world_closest", closest));
  *closest = (CnClosest){.gap = INFINITY};
  CNI_TRY(cni_check_vec3("cn_world_closest: point", point));
  CniPlaced given = {.kind = CN_SHAPE_SPHERE, .pose = {point, CN_QUAT_ONE}};
  for (Walk w = begin(world, filter); next(&w);) {
    double reach = cn_max(closest->gap, 0); // what overlaps may do so more
    if (!in_reach(&w.placed, point, reach, CN_VEC3_ZERO, 0)) continue;
    CniPlaces p = cni_places(&given, &w.placed);
    if (p.gap < closest->gap) *closest = closest_of(&w, p);
  }
  return CN_OK;
}

CnStatus cn_shape_closest(const CnWorld *world, CnShapeId a, CnShapeId b, CnClosest *closest) {
  CNI_FLOATS;
  int32_t first, second;
  CNI_TRY(check(world, "cn_shape_closest", closest));
  *closest = (CnClosest){.gap = INFINITY};
  CNI_TRY(cni_model_find_shape(&world->now.model, a, &first));
  CNI_TRY(cni_model_find_shape(&world->now.model, b, &second));
  Walk from = begin(world, NULL), to = from;
  place(&from, first);
  place(&to, second);
  *closest = closest_of(&to, cni_places(&from.placed, &to.placed));
  return CN_OK;
}

// ---- overlaps ----

// A detection outside a step, which changes nothing. The filter hook is called on the way. It may
// look at the world and not change it: the world is busy as in a step, and so are its arrays.

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

CnStatus cni_world_touching(CnWorld *world, const CniContact **contacts, int32_t *count) {
  CniModel *model = &world->now.model;
  *contacts = NULL;
  *count = 0;
  if (model->body_count == 0) return CN_OK;
  CNI_TRY(cni_step_memory_reset(&world->memory));
  CnTwist *rest;
  CNI_TRY(CNI_TAKE(&world->memory.arena, model->body_count, rest));
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
  world->busy = CNI_BUSY_STEP;
  CnStatus status = cni_collision_detect(world->collision, &input, contacts, count);
  world->busy = CNI_IDLE;
  return status;
}

CnStatus cn_world_penetration(CnWorld *world, CnPenetration *penetration) {
  CNI_FLOATS;
  const CniContact *contacts;
  int32_t count;
  if (!penetration) return cni_null_argument("cn_world_penetration", "the result pointer");
  *penetration = (CnPenetration){0};
  CNI_TRY(cni_world_idle(world, "cn_world_penetration"));
  CNI_TRY(cni_world_touching(world, &contacts, &count));
  *penetration = overlaps(contacts, count);
  return CN_OK;
}

// ---- bodies ----

CnStatus cn_body_overlaps(const CnWorld *world, CnBodyId body, CnBodyId *bodies, int32_t capacity,
                          int32_t *count) {
  CNI_FLOATS;
  int32_t own;
  CNI_TRY(check(world, "cn_body_overlaps", count));
  *count = 0;
  if (!bodies && capacity > 0) return cni_null_argument("cn_body_overlaps", "the bodies");
  const CniModel *model = &world->now.model;
  CNI_TRY(cni_model_find_body(model, body, &own));
  for (CnBodyId id = cn_world_next_body(world, (CnBodyId){0, 0}); id.slot;
       id = cn_world_next_body(world, id)) {
    int32_t other, met = 0;
    CNI_TRY(cni_model_find_body(model, id, &other));
    if (other == own) continue;
    for (int32_t i = model->bodies[own].first_shape; i >= 0 && !met; i = model->shapes[i].next) {
      CniPlaced a = cni_model_placed(model, i, &model->pose[own]);
      double radius = cni_shape_unbounded(a.kind) ? INFINITY : cni_shape_outradius(&a);
      for (int32_t k = model->bodies[other].first_shape; k >= 0 && !met;
           k = model->shapes[k].next) {
        CniPlaced b = cni_model_placed(model, k, &model->pose[other]);
        met = in_reach(&b, a.pose.position, radius, CN_VEC3_ZERO, 0) && cni_places(&a, &b).gap <= 0;
      }
    }
    if (met && *count < capacity) bodies[*count] = id;
    *count += met;
  }
  return CN_OK;
}

// ---- contacts ----

typedef struct Numbers {
  int32_t *list, capacity, count;
} Numbers;

// Into its place; what is beyond the capacity falls off the end.
static void take_number(Numbers *n, int32_t number) {
  int32_t i = n->count < n->capacity ? n->count : n->capacity;
  n->count++;
  for (; i > 0 && n->list[i - 1] > number; i--)
    if (i < n->capacity) n->list[i] = n->list[i - 1];
  if (i < n->capacity) n->list[i] = number;
}

// Contacts of two shapes stand together, by ascending rank.
static void take_pair(const CniContactCache *cache, uint64_t rank, Numbers *n) {
  int32_t low = 0, high = cache->count;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (cni_short_rank(cache->shorts[middle]) < rank)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < cache->count && cni_short_rank(cache->shorts[low]) == rank; low++)
    take_number(n, low);
}

CnStatus cn_world_contacts_of(const CnWorld *world, CnBodyId body, CnBodyId other,
                              int32_t *contacts, int32_t capacity, int32_t *count) {
  CNI_FLOATS;
  CNI_TRY(check(world, "cn_world_contacts_of", count));
  *count = 0;
  if (!contacts && capacity > 0) return cni_null_argument("cn_world_contacts_of", "the contacts");
  const CniModel *model = &world->now.model;
  const CniContactCache *cache = &world->now.contacts;
  CNI_TRY(cni_contacts_here(cache, "cn_world_contacts_of"));
  Numbers n = {contacts, capacity > 0 ? capacity : 0, 0};
  int32_t a, b = -1;
  CNI_TRY(cni_model_find_body(model, body, &a));
  if (other.slot != 0) CNI_TRY(cni_model_find_body(model, other, &b));
  if (b >= 0 && !cache->named && !cache->unsorted) {
    for (int32_t i = model->bodies[a].first_shape; i >= 0; i = model->shapes[i].next)
      for (int32_t k = model->bodies[b].first_shape; k >= 0; k = model->shapes[k].next)
        take_pair(cache, cni_pair_rank(i, k), &n);
  } else {
    for (int32_t i = 0; i < cache->count; i++) {
      int32_t shapes[2], first, second;
      cni_contact_find_shapes(&world->now, i, &shapes[0], &shapes[1]);
      first = shapes[0] < 0 ? -1 : model->shapes[shapes[0]].body;
      second = shapes[1] < 0 ? -1 : model->shapes[shapes[1]].body;
      if (second == a) {
        second = first;
        first = a;
      }
      if (first == a && (b < 0 ? other.slot == 0 : second == b)) take_number(&n, i);
    }
  }
  *count = n.count;
  return CN_OK;
}
