// SPDX-License-Identifier: Apache-2.0
// Triggers: shapes that tell what overlaps them where a step ends. A shape is looked at if the ball about
// it reaches the bounds of a trigger; of what is outside the bounds of all of them, mostly nearly all of
// a world, no more than its place is read. What is inside is kept by the ids of both, ascending, so that
// what entered and left is a merge with the list of the last step, which is in the snapshot.
#include "core/error.h"
#include "core/sort.h"
#include "world/world.h"

static int overlap(const CniPlaced *a, const CniPlaced *b) {
  if (!cni_shape_unbounded(a->kind) && !cni_shape_unbounded(b->kind)) {
    double reach = (cni_shape_outradius(a) + cni_shape_outradius(b)) * (1 + 1e-9);
    if (!(cn_norm2(cn_sub(a->pose.position, b->pose.position)) <= reach * reach)) return 0;
  }
  return cni_places(a, b).gap <= 0;
}

static int may_see(const CniModel *m, const CniShape *trigger, const CniShape *other) {
  int fixed = m->bodies[trigger->body].kind == CN_BODY_FIXED;
  return other->body != trigger->body && !cni_shape_trigger(other) &&
         !(fixed && m->bodies[other->body].kind == CN_BODY_FIXED) &&
         cni_masks_agree(trigger, other) && !cni_pair_disabled(m, trigger->body, other->body);
}

// A trigger where the step ends.
typedef struct Zone {
  CniPlaced placed;
  CniBounds bounds;
  int32_t shape;
} Zone;

// Does a ball reach into bounds? Round-off may say yes.
static int reaches(const CniBounds *b, CnVec3 centre, double radius) {
  return centre.x + radius >= b->lo.x && centre.x - radius <= b->hi.x &&
         centre.y + radius >= b->lo.y && centre.y - radius <= b->hi.y &&
         centre.z + radius >= b->lo.z && centre.z - radius <= b->hi.z;
}

// All triggers, and the bounds of them together.
static CnStatus list_zones(const CniModel *m, const CnPose *pose, CniArena *arena, Zone **zones,
                           CniBounds *all) {
  int32_t n = 0;
  *all = (CniBounds){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  CNI_TRY(CNI_TAKE(arena, m->trigger_count, *zones));
  for (int32_t i = 0; i < m->shape_count && n < m->trigger_count; i++) {
    const CniShape *trigger = &m->shapes[i];
    if (!cni_shape_trigger(trigger)) continue;
    Zone *zone = &(*zones)[n++];
    zone->shape = i;
    zone->placed = cni_model_placed(m, i, &pose[trigger->body]);
    zone->bounds = cni_shape_bounds(&zone->placed);
    const CniBounds *b = &zone->bounds;
    all->lo =
        cn_vec3(cn_min(all->lo.x, b->lo.x), cn_min(all->lo.y, b->lo.y), cn_min(all->lo.z, b->lo.z));
    all->hi =
        cn_vec3(cn_max(all->hi.x, b->hi.x), cn_max(all->hi.y, b->hi.y), cn_max(all->hi.z, b->hi.z));
  }
  return CN_OK;
}

// Pairs of dense indices; beyond the room they are counted.
static int32_t find_inside(const CniModel *m, const CnPose *pose, const Zone *zones,
                           const CniBounds *all, uint64_t *keys, int32_t *pairs, int32_t room) {
  int32_t count = 0;
  for (int32_t k = 0; k < m->shape_count; k++) {
    const CniShape *other = &m->shapes[k];
    const CniShapePoses *poses = cni_shape_poses(other);
    CnPose body = pose[other->body];
    CnVec3 centre = poses ? cn_pose_point(body, poses->pose.position) : body.position;
    double radius = cni_shape_unbounded(other->kind) ? INFINITY : cni_model_outradius(other);
    radius *= 1 + 1e-9;
    if (!reaches(all, centre, radius)) continue;
    CniPlaced placed = cni_model_placed(m, k, &body);
    for (int32_t i = 0; i < m->trigger_count; i++) {
      const CniShape *trigger = &m->shapes[zones[i].shape];
      if (!reaches(&zones[i].bounds, centre, radius) || !may_see(m, trigger, other) ||
          !overlap(&zones[i].placed, &placed))
        continue;
      if (count < room) {
        keys[count] = (uint64_t)trigger->slot << 32 | other->slot;
        pairs[2 * (size_t)count] = zones[i].shape;
        pairs[2 * (size_t)count + 1] = k;
      }
      count++;
    }
  }
  return count;
}

static uint64_t key_of(const CnContactEvent *e) {
  return (uint64_t)e->shape_a.slot << 32 | e->shape_b.slot;
}
static int same(const CnContactEvent *a, const CnContactEvent *b) {
  return key_of(a) == key_of(b) && a->shape_a.generation == b->shape_a.generation &&
         a->shape_b.generation == b->shape_b.generation;
}

// What changed from one list to the other; events may be null.
static int32_t merge(const CnContactEvent *old, int32_t old_count, const CnContactEvent *new,
                     int32_t new_count, CnContactEvent *events) {
  int32_t i = 0, k = 0, n = 0;
  while (i < old_count || k < new_count) {
    if (i < old_count && k < new_count && same(&old[i], &new[k])) {
      i++;
      k++;
      continue;
    }
    int left = k == new_count || (i < old_count && key_of(&old[i]) <= key_of(&new[k]));
    const CnContactEvent *e = left ? &old[i++] : &new[k++];
    if (events)
      events[n] =
          (CnContactEvent){left ? CN_TRIGGER_LEFT : CN_TRIGGER_ENTERED, e->shape_a, e->shape_b};
    n++;
  }
  return n;
}

CnStatus cni_triggers_find(CnWorld *world, const CnPose *pose, CniTriggered *found) {
  const CniModel *m = &world->now.model;
  const CniContactCache *cache = &world->now.contacts;
  CniArena *arena = &world->memory.arena;
  *found = (CniTriggered){0};
  if (m->trigger_count == 0 && cache->inside_count == 0) return CN_OK;
  CniSort sort;
  CniBounds all;
  Zone *zones;
  CNI_TRY(list_zones(m, pose, arena, &zones, &all));
  int32_t *pairs, room = 2 * cache->inside_count + 16, count;
  for (;; room = count) {
    CNI_TRY(cni_sort_init(&sort, arena, room));
    CNI_TRY(CNI_TAKE(arena, 2 * (size_t)room, pairs));
    count = find_inside(m, pose, zones, &all, sort.keys, pairs, room);
    if (count <= room) break;
  }
  CNI_TRY(CNI_TAKE(arena, count, found->inside));
  for (int32_t i = 0; i < count; i++) sort.values[i] = i;
  cni_sort_keys(&sort, count, 64);
  for (int32_t i = 0; i < count; i++) {
    const int32_t *pair = &pairs[2 * (size_t)sort.values[i]];
    found->inside[i] = (CnContactEvent){(CnContactEventKind)CNI_TRIGGER_INSIDE,
                                        cni_shape_id(m, pair[0]), cni_shape_id(m, pair[1])};
  }
  found->count = count;
  found->event_count = merge(cache->inside, cache->inside_count, found->inside, count, NULL);
  return CN_OK;
}

void cni_triggers_write(CnWorld *world, const CniTriggered *found) {
  CniContactCache *cache = &world->now.contacts;
  if (found->count == 0 && cache->inside_count == 0) return;
  cache->event_count += merge(cache->inside, cache->inside_count, found->inside, found->count,
                              cache->events + cache->event_count);
  for (int32_t i = 0; i < found->count; i++) cache->inside[i] = found->inside[i];
  cache->inside_count = found->count;
}
