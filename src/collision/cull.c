// Cull and sort: of the pairs of shapes that came near each other those that may meet and could
// come within their margin, each once, by ascending dense indices.
#include "collision/parts.h"

#include "core/error.h"

#define PAIRS_A_TASK 2048

// ---- half-spaces ----

// Half-spaces with the shapes [begin, end) that come near them.
static void find_plane_pairs(const void *context, int32_t begin, int32_t end, CniPairSink *sink) {
  const CniDetection *w = context;
  for (int32_t i = begin; i < end; i++) {
    const CniProxy *a = &w->proxies[i];
    if (a->flags & CNI_ENDLESS) continue;
    for (int32_t k = 0; k < w->plane_count; k++) {
      const CniPlane *plane = &w->planes[k];
      const CniProxy *b = &w->proxies[plane->shape];
      CnVec3 d = cn_sub(a->centre, b->centre);
      double r = a->outradius + cni_pair_margin(w, a, b);
      double slack = 1e-9 * (r + fabs(d.x) + fabs(d.y) + fabs(d.z));
      cni_sink_add(sink, i, plane->shape, cn_dot(plane->up, d) <= r + slack);
    }
  }
}

CnStatus cni_detection_planes(CniDetection *w, CniArena *arena) {
  if (w->plane_count == 0) return CN_OK;
  return cni_collect_pairs(find_plane_pairs, w, w->count, 1, w->in->tasks, arena, &w->plane_pairs,
                           &w->plane_pair_count);
}

// ---- cull ----

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

static int masks_agree(const CniModel *m, CniPair pair) {
  const CniShape *a = &m->shapes[pair.a], *b = &m->shapes[pair.b];
  return (a->category & b->mask) && (b->category & a->mask);
}

// May two shapes meet at all?
static int may_meet(const CniModel *m, const CniProxy *a, const CniProxy *b, CniPair pair) {
  if (a->body == b->body || (a->flags & b->flags & CNI_PRESCRIBED)) return 0;
  if ((a->flags | b->flags) & CNI_CHOOSY && !masks_agree(m, pair)) return 0;
  return !(a->flags & b->flags & CNI_JOINTED) || !are_joined(m, a->body, b->body);
}

// Could two shapes come within their margin? The slack covers rounding, so that nothing the narrow
// phase would keep is dropped.
static inline int are_near(const CniDetection *w, const CniProxy *a, const CniProxy *b) {
  double r = (a->outradius + b->outradius + cni_pair_margin(w, a, b)) * (1 + 1e-9);
  return cn_norm2(cn_sub(b->centre, a->centre)) <= r * r;
}

// A list of pairs being turned into keys in its own memory: both are 8 bytes, and a key is written
// only after its pair was read.
typedef struct CullLoop {
  const CniDetection *w;
  CniPair *pairs;
  uint64_t *keys; // the same memory
  int32_t count;
  int32_t planes; // of half-spaces, whose nearness is known
  int32_t *kept;  // pairs left in each block, packed at its start
} CullLoop;
_Static_assert(sizeof(CniPair) == sizeof(uint64_t), "a key takes the place of a pair");

static CniPair pair_at(const CullLoop *loop, int32_t k) {
  CniPair pair;
  memcpy(&pair, (const char *)loop->pairs + (size_t)k * sizeof pair, sizeof pair);
  return pair;
}

static void cull_blocks(void *context, int32_t begin, int32_t end) {
  const CullLoop *loop = context;
  const CniDetection *w = loop->w;
  for (int32_t block = begin; block < end; block++) {
    int32_t first = block * PAIRS_A_TASK, left = loop->count - first, n = first;
    int32_t last = first + (left < PAIRS_A_TASK ? left : PAIRS_A_TASK);
    for (int32_t k = first; k < last; k++) {
      if (k + CNI_AHEAD < last) {
        CniPair ahead = pair_at(loop, k + CNI_AHEAD);
        __builtin_prefetch(&w->proxies[ahead.a]);
        __builtin_prefetch(&w->proxies[ahead.b]);
      }
      CniPair pair = pair_at(loop, k);
      const CniProxy *a = &w->proxies[pair.a], *b = &w->proxies[pair.b];
      if (!loop->planes && !are_near(w, a, b)) continue;
      if (!may_meet(w->in->model, a, b, pair)) continue;
      uint64_t key = (uint64_t)pair.a << w->key_shift | (uint64_t)pair.b;
      memcpy(loop->keys + n++, &key, sizeof key);
    }
    loop->kept[block] = n - first;
  }
}

static int32_t block_count(int32_t pairs) { return pairs > 0 ? (pairs - 1) / PAIRS_A_TASK + 1 : 0; }

static CnStatus cull_list(CniDetection *w, CniArena *arena, CniPair *pairs, int32_t count,
                          int32_t planes, CullLoop *loop) {
  size_t bytes = (size_t)block_count(count) * sizeof(int32_t);
  *loop = (CullLoop){w, pairs, (uint64_t *)(void *)pairs, count, planes, NULL};
  loop->kept = cni_arena_take(arena, bytes);
  if (!loop->kept) return cni_error_memory(bytes);
  cni_parallel_for(w->in->tasks, block_count(count), 1, cull_blocks, loop);
  for (int32_t b = 0; b < block_count(count); b++) w->key_count += loop->kept[b];
  return CN_OK;
}

// The keys of a list, without the gaps, behind those that are there.
static uint64_t *pack_keys(uint64_t *to, const CullLoop *loop) {
  for (int32_t b = 0; b < block_count(loop->count); b++) {
    memcpy(to, loop->keys + (size_t)b * PAIRS_A_TASK, (size_t)loop->kept[b] * sizeof *to);
    to += loop->kept[b];
  }
  return to;
}

CnStatus cni_detection_cull(CniDetection *w, CniArena *arena) {
  int64_t all = (int64_t)w->pair_count + w->plane_pair_count;
  if (all > INT32_MAX)
    return cni_error(CN_NO_MEMORY, "%lld pairs of shapes are near each other, more than %d",
                     (long long)all, INT32_MAX);
  w->key_shift = cni_bit_count((uint64_t)w->count);
  CullLoop bodies, planes;
  CNI_TRY(cull_list(w, arena, w->pairs, w->pair_count, 0, &bodies));
  CNI_TRY(cull_list(w, arena, w->plane_pairs, w->plane_pair_count, 1, &planes));

  size_t bytes = (size_t)w->key_count * sizeof(uint64_t);
  w->sort.keys = cni_arena_take(arena, bytes);
  if (!w->sort.keys) return cni_error_memory(bytes);
  if (w->key_count == 0) return CN_OK;
  pack_keys(pack_keys(w->sort.keys, &bodies), &planes);
  // the list of pairs has served, and its memory mostly suffices
  w->sort.spare_keys = w->key_count <= w->pair_count ? bodies.keys : cni_arena_take(arena, bytes);
  if (!w->sort.spare_keys) return cni_error_memory(bytes);
  cni_sort_keys(&w->sort, w->key_count, 2 * w->key_shift);
  return CN_OK;
}

// ---- the user's filter ----

void cni_detection_filter(CniDetection *w) {
  const CniCollisionInput *in = w->in;
  int32_t n = 0;
  for (int32_t k = 0; k < w->key_count; k++) {
    CniPair pair = cni_key_pair(w, k);
    const CniShape *a = &in->model->shapes[pair.a], *b = &in->model->shapes[pair.b];
    CnShapeId id_a = {a->slot, a->generation}, id_b = {b->slot, b->generation};
    int in_order = a->slot < b->slot;
    if (in->filter(in->filter_context, in_order ? id_a : id_b, in_order ? id_b : id_a))
      w->sort.keys[n++] = w->sort.keys[k];
  }
  w->key_count = n;
}
