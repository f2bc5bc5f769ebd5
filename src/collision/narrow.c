// SPDX-License-Identifier: Apache-2.0
// Narrow: points of contact of the pairs that are left, in their order.
//
// A block of pairs writes its contacts into its own part of the room. Pairs with a sphere have one
// point at most; how many points others have is guessed from the last call, and parts that turn
// out too small are found once more. Then the parts are pushed together.
#include "collision/collision_private.h"

#include "core/error.h"

#define NARROW_A_TASK 128

static int has_sphere(const CniDetection *w, CniPair pair) {
  uint32_t either = w->proxies[pair.a].flags | w->proxies[pair.b].flags;
  return (either & CNI_IS_SPHERE) && !(either & CNI_IS_MESH);
}

// Where the next contact goes; null where there is no room left.
static inline CniContact *next_contact(CniContactChunk *part) {
  int32_t at = part->count++;
  return at < part->room ? &part->contacts[at] : NULL;
}

static inline void set_contact(CniContact *contact, CniPair shapes, int32_t body_a, int32_t body_b,
                               CniPointContact touch, uint32_t feature, uint32_t two_spheres) {
  if (!contact) return;
  contact->shape_a = shapes.a;
  contact->shape_b = shapes.b;
  contact->body_a = body_a;
  contact->body_b = body_b;
  contact->feature = feature;
  contact->two_spheres = two_spheres;
  contact->point = touch.point;
  contact->normal = touch.normal;
  contact->gap = touch.gap;
}

// Two spheres, the most common case: the proxies say it all.
static inline CniPointContact between_spheres(CnVec3 a, double radius_a, CnVec3 b,
                                              double radius_b) {
  CnVec3 d = cn_sub(b, a);
  return cni_point_contact_spheres(a, radius_a, radius_b, d, cn_norm(d));
}

static void touch_spheres(const CniDetection *w, const CniProxy *a, const CniProxy *b, CniPair pair,
                          CniContactChunk *part) {
  CniPointContact t = between_spheres(a->centre, a->outradius, b->centre, b->outradius);
  if (!(t.gap <= cn_min(a->base, b->base) + a->reach + b->reach)) return; // no half-space
  uint32_t two = (a->flags & b->flags & CNI_LONE) && !((a->flags | b->flags) & CNI_OFFSET);
  // one branch, hardly ever taken: nobody can predict which of them are open
  if (((t.gap > 0) & (w->in->rows != 0) & cni_may_aim(a, b, t.gap)) && cni_aim_spheres(w, a, b, &t))
    two = 0;
  set_contact(next_contact(part), pair, a->body, b->body, t, 0, two);
}

// A sphere and a half-space, in either order.
static void touch_plane(const CniDetection *w, const CniProxy *a, const CniProxy *b, CniPair pair,
                        CniContactChunk *part) {
  int swap = (a->flags & CNI_ENDLESS) != 0;
  const CniProxy *ball = swap ? b : a, *plane = swap ? a : b;
  CniPointContact t = cni_point_contact_plane(ball->centre, ball->outradius, plane->centre,
                                              w->planes[plane->plane].up);
  if (!(t.gap <= cni_pair_margin(w, a, b))) return;
  if (swap) t.normal = cn_neg(t.normal);
  set_contact(next_contact(part), pair, a->body, b->body, t, 0, 0);
}

void cni_collision_spheres(CnVec3 a, double radius_a, CnVec3 b, double radius_b,
                           CniContact *contact) {
  CniPointContact t = between_spheres(a, radius_a, b, radius_b);
  contact->point = t.point;
  contact->normal = t.normal;
  contact->gap = t.gap;
}

// ---- any two shapes, by the table ----

void cni_touching_take(void *context, const CniManifold *manifold) {
  CniTouching *t = context;
  t->manifolds += manifold->count > 0;
  for (int32_t i = 0; i < manifold->count; i++) {
    const CniPoint *p = &manifold->points[i];
    CniPointContact touch = {p->point, manifold->normal, p->gap};
    set_contact(next_contact(t->part), t->pair, t->body_a, t->body_b, touch, p->feature, 0);
  }
}

// One manifold comes in order. Several are put in order, by insertion as they mostly come so, and of
// one name the deepest stays. Contacts without room are found once more.
void cni_touching_end(const CniTouching *t) {
  CniContactChunk *part = t->part;
  if (t->manifolds < 2 || part->count > part->room) return;
  int32_t count = t->first;
  for (int32_t i = t->first; i < part->count; i++) {
    CniContact c = part->contacts[i];
    int32_t at = count;
    while (at > t->first && part->contacts[at - 1].feature > c.feature) at--;
    CniContact *same = at > t->first ? &part->contacts[at - 1] : NULL;
    if (same && same->feature == c.feature) {
      if (c.gap < same->gap) *same = c;
      continue;
    }
    memmove(&part->contacts[at + 1], &part->contacts[at], (size_t)(count++ - at) * sizeof c);
    part->contacts[at] = c;
  }
  part->count = count;
}

// A convex shape in the middle of a surface?
static int is_clear(const CniDetection *w, const CniProxy *a, const CniPlaced *placed_a,
                    const CniProxy *b, const CniPlaced *placed_b, double margin, CniPair pair) {
  uint32_t of_a = a->flags & (CNI_IS_MESH | CNI_ENDLESS),
           of_b = b->flags & (CNI_IS_MESH | CNI_ENDLESS);
  if ((of_a ^ of_b) != CNI_IS_MESH || of_a & of_b) return 0;
  CniHint *hint = cni_axis_of(w->collision, pair);
  return hint &&
         cni_mesh_clear(of_a ? placed_b : placed_a, of_a ? placed_a : placed_b, margin, hint);
}

static void touch_any(const CniDetection *w, const CniProxy *a, const CniProxy *b, CniPair pair,
                      CniContactChunk *part) {
  CniPlaced room_a, room_b;
  const CniPlaced *placed_a = cni_placed_at(w, pair.a, &room_a);
  const CniPlaced *placed_b = cni_placed_at(w, pair.b, &room_b);
  CniTouching t = {pair, a->body, b->body, part, part->count, 0};
  int swept = cni_is_swept(w, a, b);
  double margin = swept ? cni_swept_margin(a, b) : cni_pair_margin(w, a, b);
  uint32_t either = a->flags | b->flags;
  part->pieces |= either & CNI_PIECE;
  if (is_clear(w, a, placed_a, b, placed_b, margin, pair)) return;
  CniHint *hint = either & (CNI_IS_MESH | CNI_ENDLESS) ? NULL : cni_axis_of(w->collision, pair);
  if (hint) {
    CniManifold manifold;
    cni_collide_again(placed_a, placed_b, margin, hint, &manifold);
    cni_touching_take(&t, &manifold);
  } else {
    cni_collide_all(placed_a, placed_b, margin, cni_touching_take, &t);
  }
  cni_touching_end(&t);
  if (w->in->rows && !swept && t.manifolds == 1 && !(either & CNI_IS_MESH))
    cni_aim_any(w, a, b, pair, part, t.first);
  if (!(either & CNI_IS_SPHERE) || either & CNI_IS_MESH) part->points += part->count - t.first;
}

static void touch(const CniDetection *w, CniPair pair, CniContactChunk *part) {
  const CniProxy *a = &w->proxies[pair.a], *b = &w->proxies[pair.b];
  if (a->slot > b->slot) {
    const CniProxy *p = a;
    a = b;
    b = p;
    pair = (CniPair){pair.b, pair.a};
  }
  uint32_t both = a->flags & b->flags, either = a->flags | b->flags;
  if (both & CNI_IS_SPHERE)
    touch_spheres(w, a, b, pair, part);
  else if (either & CNI_IS_SPHERE && either & CNI_ENDLESS)
    touch_plane(w, a, b, pair, part);
  else
    touch_any(w, a, b, pair, part);
}

static void touch_parts(void *context, int32_t begin, int32_t end) {
  const CniDetection *w = context;
  for (int32_t n = begin; n < end; n++) {
    CniContactChunk *part = &w->parts[n];
    if (w->overflow && !part->again) continue;
    part->count = part->points = 0;
    part->pieces = 0;
    int32_t first = n * NARROW_A_TASK, left = w->key_count - first;
    int32_t last = first + (left < NARROW_A_TASK ? left : NARROW_A_TASK);
    for (int32_t k = first; k < last; k++) {
      if (k + CNI_AHEAD < w->key_count)
        __builtin_prefetch(&w->proxies[cni_key_pair(w, k + CNI_AHEAD).b]);
      touch(w, cni_key_pair(w, k), part);
    }
  }
}

CnStatus cni_detection_parts(CniCollision *c, CniDetection *w) {
  int32_t count = w->key_count > 0 ? (w->key_count - 1) / NARROW_A_TASK + 1 : 0;
  if (!w->parts) CNI_TRY(CNI_TAKE(w->arena, count, w->parts));
  w->part_count = count;
  int64_t total = 0;
  for (int32_t n = 0; n < count; n++) {
    CniContactChunk part = {0};
    int32_t first = n * NARROW_A_TASK, left = w->key_count - first;
    int32_t pairs = left < NARROW_A_TASK ? left : NARROW_A_TASK;
    for (int32_t k = first; w->has_others && k < first + pairs; k++)
      part.others += !has_sphere(w, cni_key_pair(w, k));
    part.room = pairs - part.others;
    if (part.others > 0) part.room += 40 + (int32_t)(c->points * part.others);
    total += part.room;
    w->parts[n] = part;
  }
  if (total > INT32_MAX) return cni_error(CN_NO_MEMORY, "more than %d contacts", INT32_MAX);
  w->contact_room = (int32_t)total;
  return CN_OK;
}

// Parts with more contacts than room are found once more, into the arena.
static CnStatus widen_parts(CniDetection *w) {
  for (int32_t n = 0; n < w->part_count; n++) {
    CniContactChunk *part = &w->parts[n];
    if (part->count <= part->room) continue;
    CNI_TRY(CNI_TAKE(w->arena, part->count, part->contacts));
    part->room = part->count;
    part->again = w->overflow = 1;
  }
  if (w->overflow) cni_parallel_for(w->in->tasks, w->part_count, 1, touch_parts, w);
  return CN_OK;
}

// One part after another: down into the first room if every part stayed within its own.
static CnStatus join_parts(CniDetection *w, int32_t *count) {
  int64_t total = 0;
  for (int32_t n = 0; n < w->part_count; n++) total += w->parts[n].count;
  if (total > INT32_MAX) return cni_error(CN_NO_MEMORY, "more than %d contacts", INT32_MAX);
  size_t bytes = (size_t)total * sizeof(CniContact);
  if (w->overflow) w->contacts = cni_arena_take(w->arena, bytes);
  if (!w->contacts) return cni_error_memory(bytes);
  CniContact *at = w->contacts;
  for (int32_t n = 0; n < w->part_count; at += w->parts[n++].count)
    if (at != w->parts[n].contacts)
      memmove(at, w->parts[n].contacts, (size_t)w->parts[n].count * sizeof *at);
  *count = (int32_t)total;
  return CN_OK;
}

// What to expect of the next call: a quarter more points than a pair had in this one.
static void expect_points(CniCollision *c, const CniDetection *w) {
  int64_t others = 0, points = 0;
  for (int32_t n = 0; n < w->part_count; n++) {
    others += w->parts[n].others;
    points += w->parts[n].points;
  }
  if (others > 0) c->points = cn_clamp(1.25 * (double)points / (double)others, 0.5, CNI_MAX_POINTS);
}

CnStatus cni_detection_narrow(CniCollision *c, CniDetection *w, int32_t *count) {
  CniContact *at = w->contacts;
  cni_axes_check(c, w);
  for (int32_t n = 0; n < w->part_count; at += w->parts[n++].room) w->parts[n].contacts = at;
  cni_parallel_for(w->in->tasks, w->part_count, 1, touch_parts, w);
  CNI_TRY(widen_parts(w));
  CNI_TRY(join_parts(w, count));
  uint32_t pieces = 0;
  for (int32_t n = 0; n < w->part_count; n++) pieces |= w->parts[n].pieces;
  if (w->in->rows && pieces) CNI_TRY(cni_detection_seams(w, count));
  expect_points(c, w);
  return CN_OK;
}
