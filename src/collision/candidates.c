// Candidates: pairs of shapes that may come near each other, kept as long as they last.
//
// The broad phase is asked with bounds that are wider than needed by a skin, SKIN of the shape's
// size. As long as the bounds of every shape, grown by its margin and its reach, lie within its
// wide bounds, two shapes whose bounds overlap have wide bounds that overlap: every pair that the
// broad phase would find now is in the list. What is in it beyond that the cull drops, by a test
// that looks at the present alone. So the contacts do not depend on when the list was made, and
// neither on which shapes there were then: it speaks of places in memory and of space only.
//
// In a pile at rest a list serves for ever. Where something moves so fast that a list serves one
// call only, the skin is of no use: after HURRY such lists the next CALM ones are made without.
//
// The list is sorted when it is made, and the cull keeps the order.
#include "collision/parts.h"

#include "core/error.h"

#define SKIN 0.2 // of the inradius
#define HURRY 4
#define CALM 16
#define SHAPES_A_TASK 256
#define PAIRS_A_TASK 4096

typedef struct WideLoop {
  const CniDetection *w;
  CniBounds *wide;
  double skin;
} WideLoop;

static void widen(void *context, int32_t begin, int32_t end) {
  const WideLoop *loop = context;
  for (int32_t i = begin; i < end; i++) loop->wide[i] = cni_grown_bounds(loop->w, i, loop->skin);
}

typedef struct KeyLoop {
  const CniDetection *w;
  const CniPair *pairs;
  uint64_t *keys;
} KeyLoop;

static void make_keys(void *context, int32_t begin, int32_t end) {
  const KeyLoop *loop = context;
  for (int32_t k = begin; k < end; k++)
    loop->keys[k] = (uint64_t)loop->pairs[k].a << loop->w->key_shift | (uint64_t)loop->pairs[k].b;
}

// How wide the next list is to be.
static double choose_skin(CniCollision *c) {
  c->hurried = c->age > 1 ? 0 : c->hurried + 1;
  if (c->narrow_left == 0 && c->hurried > HURRY) c->narrow_left = CALM;
  if (c->narrow_left == 0) return SKIN;
  c->narrow_left--;
  c->hurried = 0;
  return 0;
}

CnStatus cni_detection_candidates(CniCollision *c, CniDetection *w) {
  double skin = choose_skin(c);
  c->wide_count = -1; // until all is done
  c->age = 0;
  CNI_TRY(cni_array_reserve(&c->allocator, (void **)&c->wide, &c->wide_capacity, 0, w->count,
                            sizeof *c->wide));
  WideLoop wide = {w, c->wide, skin};
  cni_parallel_for(w->in->tasks, w->count, SHAPES_A_TASK, widen, &wide);

  CniPair *pairs = NULL;
  CNI_TRY(c->broad->find(c->wide, w->count, w->in->tasks, w->arena, &pairs, &c->key_count));
  CNI_TRY(cni_array_reserve(&c->allocator, (void **)&c->keys, &c->key_capacity, 0, c->key_count,
                            sizeof *c->keys));
  size_t bytes = (size_t)c->key_count * sizeof(uint64_t);
  uint64_t *spare = cni_arena_take(w->arena, bytes);
  if (!spare) return cni_error_memory(bytes);
  KeyLoop keys = {w, pairs, c->keys};
  cni_parallel_for(w->in->tasks, c->key_count, PAIRS_A_TASK, make_keys, &keys);
  CniSort sort = {c->keys, spare, NULL, NULL};
  cni_sort_keys(&sort, c->key_count, 2 * w->key_shift);
  if (sort.keys != c->keys && bytes > 0) memcpy(c->keys, sort.keys, bytes);
  c->wide_count = w->count;
  return CN_OK;
}
