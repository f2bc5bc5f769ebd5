// SPDX-License-Identifier: Apache-2.0
// The table of broad phases and what they share.
//
// Collecting works on blocks of items, each with its own room; room is a guess, and only blocks
// that exceed it are run a second time, into room that is then known to fit.
#include "collision/broad_private.h"

#include "core/error.h"

const CniBroadPhase cni_broad_phases[] = {
    {"grid", "grids of cells, one for each size of body, by sorting; linear", cni_broad_grid},
    {"sap", "sort and sweep along the best axis, in stripes of the second best", cni_broad_sap},
};
const int32_t cni_broad_phase_count = (int32_t)(sizeof cni_broad_phases / sizeof *cni_broad_phases);

const char *cn_broad_phase_name(int32_t index) {
  return index >= 0 && index < cni_broad_phase_count ? cni_broad_phases[index].name : NULL;
}

// ---- collecting ----

#define BLOCK_ITEMS 512

typedef struct Collector {
  CniPairFinder find;
  const void *context;
  int32_t item_count, block_count;
  int64_t capacity;   // pairs a block may keep in the first try
  CniPairSink *sinks; // one a block
  int32_t overflow;   // a second try is under way: only blocks that had not enough room
} Collector;

static void run_blocks(void *context, int32_t begin, int32_t end) {
  const Collector *c = context;
  for (int32_t block = begin; block < end; block++) {
    CniPairSink *sink = &c->sinks[block];
    if (c->overflow) {
      if (sink->capacity == c->capacity) continue;
      sink->count = 0;
    }
    int32_t first = block * BLOCK_ITEMS, left = c->item_count - first;
    c->find(c->context, first, first + (left < BLOCK_ITEMS ? left : BLOCK_ITEMS), sink);
  }
}

// Sinks with equal room for all blocks, one after another.
static CnStatus make_sinks(Collector *c, CniArena *arena) {
  size_t blocks = (size_t)c->block_count, stride = (size_t)c->capacity + 1;
  CniPair *room;
  CNI_TRY(CNI_TAKE(arena, blocks, c->sinks));
  CNI_TRY(CNI_TAKE(arena, blocks * stride, room));
  for (size_t b = 0; b < blocks; b++)
    c->sinks[b] = (CniPairSink){room + b * stride, c->capacity, 0};
  return CN_OK;
}

// Give blocks that found too much the room they need. Capacities differ from then on.
static CnStatus widen_sinks(Collector *c, CniArena *arena) {
  for (int32_t b = 0; b < c->block_count; b++) {
    CniPairSink *sink = &c->sinks[b];
    if (sink->count <= sink->capacity) continue;
    CNI_TRY(CNI_TAKE(arena, sink->count + 1, sink->pairs));
    sink->capacity = sink->count;
    c->overflow = 1;
  }
  return CN_OK;
}

CnStatus cni_collect_pairs(CniPairFinder find, const void *context, int32_t item_count,
                           int32_t guess, CnTasks *tasks, CniArena *arena, CniPair **pairs,
                           int32_t *pair_count) {
  *pairs = NULL;
  *pair_count = 0;
  if (item_count == 0) return CN_OK;
  Collector c = {.find = find, .context = context, .item_count = item_count};
  c.block_count = (item_count - 1) / BLOCK_ITEMS + 1;
  c.capacity = (int64_t)guess * (item_count < BLOCK_ITEMS ? item_count : BLOCK_ITEMS);
  CNI_TRY(make_sinks(&c, arena));
  cni_parallel_for(tasks, c.block_count, 1, run_blocks, &c);

  int64_t total = 0;
  for (int32_t b = 0; b < c.block_count; b++) total += c.sinks[b].count;
  if (total > INT32_MAX)
    return cni_error(CN_NO_MEMORY, "%lld pairs of shapes overlap, more than %d", (long long)total,
                     INT32_MAX);
  CNI_TRY(widen_sinks(&c, arena));
  if (c.overflow) cni_parallel_for(tasks, c.block_count, 1, run_blocks, &c);

  // one after another: down into the first room if every block stayed within it
  CniPair *all = c.sinks[0].pairs;
  if (c.overflow) CNI_TRY(CNI_TAKE(arena, total, all));
  int64_t at = 0;
  for (int32_t b = 0; b < c.block_count; b++) {
    memmove(all + at, c.sinks[b].pairs, (size_t)c.sinks[b].count * sizeof(CniPair));
    at += c.sinks[b].count;
  }
  *pairs = all;
  *pair_count = (int32_t)total;
  return CN_OK;
}
