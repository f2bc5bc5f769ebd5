// SPDX-License-Identifier: Apache-2.0
// Cull: of the candidates those that may meet and could come within their margin, and the
// half-spaces with the shapes near them, all by ascending dense indices.
#include "collision/collision_private.h"
#include "core/sort.h"

#include "core/error.h"

#define PAIRS_A_TASK 2048

// ---- who may meet ----

// Are two bodies the ends of one joint? Both lists are walked at once, so that a hub with a
// thousand joints costs no more than its partner.
static int are_joined(const CniModel *m, int32_t a, int32_t b) {
  int32_t of_a = m->bodies[a].first_joint, of_b = m->bodies[b].first_joint;
  while (of_a >= 0 && of_b >= 0) {
    const CniJoint *i = &m->joints[of_a], *j = &m->joints[of_b];
    if (i->body_a == b || i->body_b == b || j->body_a == a || j->body_b == a) return 1;
    of_a = i->body_a == a ? i->next_a : i->next_b;
    of_b = j->body_a == b ? j->next_a : j->next_b;
  }
  return 0;
}

// May two shapes meet at all?
static int may_meet(const CniModel *m, const CniProxy *a, const CniProxy *b, CniPair pair) {
  if (a->body == b->body || (a->flags & b->flags & CNI_PRESCRIBED)) return 0;
  if ((a->flags | b->flags) & CNI_CHOOSY) {
    const CniShape *of_a = &m->shapes[pair.a], *of_b = &m->shapes[pair.b];
    if (!cni_masks_agree(of_a, of_b) || cni_shape_trigger(of_a) || cni_shape_trigger(of_b) ||
        cni_pair_disabled(m, a->body, b->body))
      return 0;
  }
  return !(a->flags & b->flags & CNI_JOINTED) || !are_joined(m, a->body, b->body);
}

// ---- half-spaces ----

// Half-spaces with the shapes [begin, end) that come near them. The slack covers rounding: what is
// kept beyond the margin the narrow phase drops.
static void find_plane_pairs(const void *context, int32_t begin, int32_t end, CniPairSink *sink) {
  const CniDetection *w = context;
  for (int32_t i = begin; i < end; i++) {
    const CniProxy *a = &w->proxies[i];
    if ((w->near && !w->near[i]) || a->flags & (CNI_ENDLESS | CNI_GHOST)) continue;
    CnVec3 x = a->centre;
    double far = fabs(x.x) + fabs(x.y) + fabs(x.z), own = a->outradius + a->reach;
    for (int32_t k = 0; k < w->plane_count; k++) {
      const CniPlane *plane = &w->planes[k];
      double r = own + cn_min(a->base, plane->base) + plane->reach;
      if (plane->rotates) r += cni_plane_swing(w, &w->proxies[plane->shape], a);
      double slack = 1e-9 * (r + far + plane->far);
      int near = cn_dot(plane->up, x) - plane->height <= r + slack;
      if (near && !cni_is_looked_for(w->in, a, &w->proxies[plane->shape])) near = 0;
      cni_sink_add(sink, i, plane->shape, near);
    }
  }
}

// ---- the lists ----

typedef struct CullLoop {
  const CniCollision *c;
  const CniDetection *w;
  uint64_t *left; // of each block, packed at its start
  int32_t *kept;  // how many
} CullLoop;

// The shape that a pair of the list belongs to.
static int32_t shape_of(const CniCollision *c, int32_t pair) {
  int32_t low = 1, high = c->wide_count;
  CNI_BISECT(low, high, middle, c->starts[middle] <= pair)
  return low - 1;
}

// One row of the list, its pairs [first, last): those that are left go to `left`, their number is
// the answer. Two single spheres with mass and without joints and masks need no more than the test of
// distance: most pairs of a pile.
static int32_t cull_row(const CniCollision *c, const CniDetection *w, int32_t row, int32_t first,
                        int32_t last, uint64_t *left) {
  const uint32_t special = CNI_ENDLESS | CNI_CHOOSY | CNI_JOINTED | CNI_PRESCRIBED;
  const CniProxy *a = &w->proxies[row];
  uint64_t key = (uint64_t)row << w->key_shift;
  int32_t n = 0;
  for (int32_t k = first; k < last; k++) {
    int32_t partner = c->partners[k];
    const CniProxy *b = &w->proxies[partner];
    double r = a->outradius + b->outradius + (cn_min(a->base, b->base) + a->reach + b->reach);
    r *= 1 + 1e-9;
    int near = cn_norm2(cn_sub(b->centre, a->centre)) <= r * r, plain = a->body != b->body;
    if ((a->flags | b->flags) & special)
      // a list may be older than a half-space in it
      plain = !((a->flags | b->flags) & CNI_ENDLESS) && near &&
              may_meet(w->in->model, a, b, (CniPair){row, partner});
    left[n] = key | (uint64_t)partner;
    n += near & plain;
  }
  return n;
}

static void cull_blocks(void *context, int32_t begin, int32_t end) {
  const CullLoop *loop = context;
  const CniCollision *c = loop->c;
  for (int32_t block = begin; block < end; block++) {
    int32_t first = block * PAIRS_A_TASK, left = c->pair_count - first, n = first;
    int32_t last = first + (left < PAIRS_A_TASK ? left : PAIRS_A_TASK);
    for (int32_t row = shape_of(c, first), k = first; k < last; row++) {
      int32_t row_end = c->starts[row + 1] < last ? c->starts[row + 1] : last;
      for (int32_t ahead = row_end; ahead < last && ahead < row_end + CNI_AHEAD; ahead++)
        __builtin_prefetch(&loop->w->proxies[c->partners[ahead]]);
      n += cull_row(c, loop->w, row, k, row_end, loop->left + n);
      k = row_end;
    }
    loop->kept[block] = n - first;
  }
}

static int32_t block_count(int32_t pairs) { return pairs > 0 ? (pairs - 1) / PAIRS_A_TASK + 1 : 0; }

// The blocks pushed together, and the pairs with half-spaces among them, all ascending. Whatever is
// left of a block stands at least as many places further on as there are half-spaces to come.
static void join_blocks(CniDetection *w, const CullLoop *loop, int32_t blocks,
                        const uint64_t *planes, int32_t plane_count) {
  uint64_t *at = w->keys;
  int32_t next = 0; // pair with a half-space
  for (int32_t b = 0; b < blocks; b++) {
    const uint64_t *from = loop->left + (size_t)b * PAIRS_A_TASK, *last = from + loop->kept[b];
    if (from == last) continue;
    if (next == plane_count || planes[next] > last[-1]) {
      size_t count = (size_t)loop->kept[b];
      if (at != from) memmove(at, from, count * sizeof *at);
      at += count;
      continue;
    }
    for (; from < last; *at++ = *from++)
      while (next < plane_count && planes[next] < *from) *at++ = planes[next++];
  }
  while (next < plane_count) *at++ = planes[next++];
  w->key_count = (int32_t)(at - w->keys);
}

// Candidates that are left and pairs with a half-space to the keys, where there is room for all.
static CnStatus cull_candidates(const CniCollision *c, CniDetection *w, const uint64_t *planes,
                                int32_t plane_count) {
  int32_t blocks = block_count(c->pair_count);
  CullLoop loop = {c, w, w->keys + plane_count, NULL};
  CNI_TRY(CNI_TAKE(w->arena, blocks, loop.kept));
  cni_parallel_for(w->in->tasks, blocks, 1, cull_blocks, &loop);
  join_blocks(w, &loop, blocks, planes, plane_count);
  return CN_OK;
}

// Pairs with a half-space, ascending, to *keys.
static CnStatus find_planes(CniDetection *w, uint64_t **keys, int32_t *count) {
  CniArena *arena = w->arena;
  CniPair *pairs = NULL;
  uint64_t *room;
  int32_t found = 0, n = 0;
  *count = 0;
  if (w->plane_count == 0) return CN_OK;
  CNI_TRY(cni_collect_pairs(find_plane_pairs, w, w->count, 1, w->in->tasks, arena, &pairs, &found));
  CNI_TRY(CNI_TAKE(arena, 2 * (size_t)found, room));
  for (int32_t k = 0; k < found; k++) {
    CniPair pair = pairs[k];
    if (may_meet(w->in->model, &w->proxies[pair.a], &w->proxies[pair.b], pair))
      room[n++] = (uint64_t)pair.a << w->key_shift | (uint64_t)pair.b;
  }
  CniSort sort = {room, room + n, NULL, NULL};
  cni_sort_keys(&sort, n, 2 * w->key_shift);
  *keys = sort.keys;
  *count = n;
  return CN_OK;
}

// Which shapes may be near half-spaces, where these rest as they did when the list was made.
static const uint8_t *near_planes(const CniCollision *c, const CniDetection *w) {
  size_t bytes = (size_t)w->plane_count * sizeof *w->planes;
  if (c->plane_count != w->plane_count || w->plane_count == 0) return NULL;
  return memcmp(c->planes, w->planes, bytes) == 0 ? c->near : NULL;
}

#define PLANE_SHARE 4 // at least every fourth shape may be near a half-space before memory moves

CnStatus cni_detection_cull(CniCollision *c, CniDetection *w) {
  size_t pairs = (size_t)c->pair_count;
  size_t room = pairs + (w->plane_count > 0 ? (size_t)w->count / PLANE_SHARE : 0);
  uint64_t *planes = NULL;
  int32_t plane_count = 0;
  CNI_TRY(CNI_TAKE(w->arena, room, w->keys));
  CniArenaMark mark = cni_arena_mark(w->arena);
  w->near = near_planes(c, w);
  CNI_TRY(find_planes(w, &planes, &plane_count));
  if (c->pair_count > INT32_MAX - plane_count)
    return cni_error(CN_NO_MEMORY, "more than %d pairs of shapes are near each other", INT32_MAX);
  size_t needed = pairs + (size_t)plane_count;
  if (needed > room) CNI_TRY(CNI_TAKE(w->arena, needed, w->keys));
  CNI_TRY(cull_candidates(c, w, planes, plane_count));
  if (needed <= room) cni_arena_back(w->arena, mark);
  return CN_OK;
}

// ---- the user's filter ----

void cni_detection_filter(CniDetection *w) {
  const CniCollisionInput *in = w->in;
  int32_t n = 0;
  for (int32_t k = 0; k < w->key_count; k++) {
    CniPair pair = cni_key_pair(w, k);
    CnShapeId id_a = cni_shape_id(in->model, pair.a), id_b = cni_shape_id(in->model, pair.b);
    int in_order = id_a.slot < id_b.slot;
    if (in->filter(in->filter_context, in_order ? id_a : id_b, in_order ? id_b : id_a))
      w->keys[n++] = w->keys[k];
  }
  w->key_count = n;
}
