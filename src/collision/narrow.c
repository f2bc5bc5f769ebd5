// Narrow: points of contact of the pairs that are left, in their order.
//
// A block of pairs writes its contacts into its own part of the room. Pairs with a sphere have one
// point at most; how many points others have is guessed from the last call, and parts that turn
// out too small are found once more. Then the parts are pushed together.
#include "collision/parts.h"

#include "core/error.h"

#define NARROW_A_TASK 128

static int has_sphere(const CniDetection *w, CniPair pair) {
  return ((w->proxies[pair.a].flags | w->proxies[pair.b].flags) & CNI_ROUND) != 0;
}

static void add_contact(const CniProxy *a, const CniProxy *b, CniPair pair, uint32_t feature,
                        const CniTouch *touch, CniPart *part) {
  if (part->count++ >= part->room) return;
  part->contacts[part->count - 1] = (CniContact){.shape_a = pair.a,
                                                 .shape_b = pair.b,
                                                 .body_a = a->body,
                                                 .body_b = b->body,
                                                 .feature = feature,
                                                 .point = touch->point,
                                                 .normal = touch->normal,
                                                 .gap = touch->gap};
}

// Two spheres, the most common case: the proxies say it all.
static void touch_spheres(const CniDetection *w, const CniProxy *a, const CniProxy *b, CniPair pair,
                          CniPart *part) {
  CnVec3 d = cn_sub(b->centre, a->centre);
  CniTouch t = cni_touch_spheres(a->centre, a->outradius, b->outradius, d, cn_norm(d));
  if (t.gap <= cni_pair_margin(w, a, b)) add_contact(a, b, pair, 0, &t, part);
}

// A sphere and a half-space, in either order.
static void touch_plane(const CniDetection *w, const CniProxy *a, const CniProxy *b, CniPair pair,
                        CniPart *part) {
  int swap = (a->flags & CNI_ENDLESS) != 0;
  const CniProxy *ball = swap ? b : a, *plane = swap ? a : b;
  CniTouch t =
      cni_touch_plane(ball->centre, ball->outradius, plane->centre, w->planes[plane->plane].up);
  if (!(t.gap <= cni_pair_margin(w, a, b))) return;
  if (swap) t.normal = cn_neg(t.normal);
  add_contact(a, b, pair, 0, &t, part);
}

// Any two shapes, by the table.
static void touch_any(const CniDetection *w, const CniProxy *a, const CniProxy *b, CniPair pair,
                      CniPart *part) {
  CniPlaced placed_a = cni_placed(w, pair.a), placed_b = cni_placed(w, pair.b);
  CniManifold manifold;
  cni_collide(&placed_a, &placed_b, cni_pair_margin(w, a, b), &manifold);
  for (int32_t i = 0; i < manifold.count; i++) {
    const CniPoint *p = &manifold.points[i];
    CniTouch t = {p->point, manifold.normal, p->gap};
    add_contact(a, b, pair, p->feature, &t, part);
  }
  if (!((a->flags | b->flags) & CNI_ROUND)) part->points += manifold.count;
}

static void touch(const CniDetection *w, CniPair pair, CniPart *part) {
  const CniProxy *a = &w->proxies[pair.a], *b = &w->proxies[pair.b];
  if (a->slot > b->slot) {
    const CniProxy *p = a;
    a = b;
    b = p;
    pair = (CniPair){pair.b, pair.a};
  }
  uint32_t both = a->flags & b->flags, either = a->flags | b->flags;
  if (both & CNI_ROUND)
    touch_spheres(w, a, b, pair, part);
  else if (either & CNI_ROUND && either & CNI_ENDLESS)
    touch_plane(w, a, b, pair, part);
  else
    touch_any(w, a, b, pair, part);
}

static void touch_parts(void *context, int32_t begin, int32_t end) {
  const CniDetection *w = context;
  for (int32_t n = begin; n < end; n++) {
    CniPart *part = &w->parts[n];
    if (w->overflow && !part->again) continue;
    part->count = part->points = 0;
    int32_t first = n * NARROW_A_TASK, left = w->key_count - first;
    int32_t last = first + (left < NARROW_A_TASK ? left : NARROW_A_TASK);
    for (int32_t k = first; k < last; k++) {
      if (k + CNI_AHEAD < w->key_count)
        __builtin_prefetch(&w->proxies[cni_key_pair(w, k + CNI_AHEAD).b]);
      touch(w, cni_key_pair(w, k), part);
    }
  }
}

// Room for the contacts as they are expected, cut into the parts' shares.
static CnStatus make_parts(CniCollision *c, CniDetection *w) {
  w->part_count = w->key_count > 0 ? (w->key_count - 1) / NARROW_A_TASK + 1 : 0;
  size_t bytes = (size_t)w->part_count * sizeof(CniPart);
  w->parts = cni_arena_take(w->arena, bytes);
  if (!w->parts) return cni_error_memory(bytes);
  int64_t total = 0;
  for (int32_t n = 0; n < w->part_count; n++) {
    CniPart part = {0};
    int32_t first = n * NARROW_A_TASK, left = w->key_count - first;
    int32_t pairs = left < NARROW_A_TASK ? left : NARROW_A_TASK;
    for (int32_t k = first; k < first + pairs; k++)
      part.others += !has_sphere(w, cni_key_pair(w, k));
    part.room = pairs - part.others;
    if (part.others > 0) part.room += 8 + (int32_t)(c->points * part.others);
    total += part.room;
    w->parts[n] = part;
  }
  if (total > INT32_MAX) return cni_error(CN_NO_MEMORY, "more than %d contacts", INT32_MAX);
  CNI_TRY(cni_array_reserve(&c->allocator, (void **)&c->contacts, &c->contact_capacity, 0,
                            (int32_t)total, sizeof(CniContact)));
  CniContact *at = c->contacts;
  for (int32_t n = 0; n < w->part_count; at += w->parts[n++].room) w->parts[n].contacts = at;
  return CN_OK;
}

// Parts with more contacts than room are found once more, into the arena.
static CnStatus widen_parts(CniDetection *w) {
  for (int32_t n = 0; n < w->part_count; n++) {
    CniPart *part = &w->parts[n];
    if (part->count <= part->room) continue;
    size_t bytes = (size_t)part->count * sizeof(CniContact);
    part->contacts = cni_arena_take(w->arena, bytes);
    if (!part->contacts) return cni_error_memory(bytes);
    part->room = part->count;
    part->again = w->overflow = 1;
  }
  if (w->overflow) cni_parallel_for(w->in->tasks, w->part_count, 1, touch_parts, w);
  return CN_OK;
}

// One part after another: down into the first room if every part stayed within its own.
static CnStatus join_parts(CniCollision *c, const CniDetection *w, int32_t *count) {
  int64_t total = 0;
  for (int32_t n = 0; n < w->part_count; n++) total += w->parts[n].count;
  if (total > INT32_MAX) return cni_error(CN_NO_MEMORY, "more than %d contacts", INT32_MAX);
  CniContact *all = c->contacts, *at;
  size_t bytes = (size_t)total * sizeof *all;
  if (w->overflow) all = cni_arena_take(w->arena, bytes);
  if (!all && total > 0) return cni_error_memory(bytes);
  at = all;
  for (int32_t n = 0; n < w->part_count; at += w->parts[n++].count)
    memmove(at, w->parts[n].contacts, (size_t)w->parts[n].count * sizeof *all);
  if (w->overflow) {
    CNI_TRY(cni_array_reserve(&c->allocator, (void **)&c->contacts, &c->contact_capacity, 0,
                              (int32_t)total, sizeof *all));
    memcpy(c->contacts, all, bytes);
  }
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
  CNI_TRY(make_parts(c, w));
  cni_parallel_for(w->in->tasks, w->part_count, 1, touch_parts, w);
  CNI_TRY(widen_parts(w));
  CNI_TRY(join_parts(c, w, count));
  expect_points(c, w);
  return CN_OK;
}
