// SPDX-License-Identifier: Apache-2.0
// Slabs: the groups cut into layers, so that a block reaches from its layer to the next at most.
//
// How many slabs there are depends on the size of the problem alone: a multiple of four, so that
// two workers have as much to do among the even ones as among the odd ones, and few, as sweeps pass
// on less across the border of two slabs. Slabs five bodies thick, swept along the load, leave 1.02
// times the residual of a sweep along the load without slabs, slabs two bodies thick 1.05, one
// and a half up to 1.1: thinner ones are not made, so up to 5 x 5 x 5 bodies are one slab, whatever
// the number of their blocks.
//
// A world keeps its bodies in that many stretches of equal number (world/order.c), each along the
// load. If hardly any block reaches further than from a stretch to the next, the stretches are the
// slabs.
//
// Otherwise groups of neighbouring index form a cell. Two cells are linked if a block joins them. A
// breadth-first walk over the cells gives levels, and links exist only inside a level and between a
// level and the next: whatever the shape of the pile or the order of its bodies, consecutive levels
// are layers. Levels are joined into slabs of about equal numbers of blocks. The walk starts from
// as many of the first cells as one side of a cube has: where bodies lie in memory along slabs of
// space these are one side of the pile. Parts of the problem that hang together with none of these
// cells follow, each from a far corner, which is the end of another walk.
//
// A cell with very many neighbours (a drum that touches everything in it) would make the whole pile
// one layer. It is left out of the walk, and its blocks belong to no slab.
//
// Bodies in random order give cells that all touch each other, hence one slab: still right, but
// nothing to share.
//
// Cost: one pass over the blocks, two with a walk; the graph of cells is small.
#include "problem/problem.h"

#include <string.h>

#define CELL_BITS 3         // groups in a cell, at least: a power of two
#define CELL_LIMIT 2048     // cells
#define HUB_NEIGHBOURS 64   // more than these are too many
#define BLOCKS_PER_SLAB 240 // at least: two microseconds, some barriers
#define LEAST_SLABS 4       // fewer are not worth a barrier
#define LEAST_SIDE 6        // bodies along the side of a cube
#define SIDE_PER_SLABS 20   // bodies along the side of a cube that are cut into LEAST_SLABS
#define STRAY 32            // one block in so many may fit in no stretch

int32_t cni_slab_aim(int32_t moving) {
  int32_t side = 1;
  while ((int64_t)side * side * side < moving) side++;
  if (side < LEAST_SIDE) return 1;
  int32_t count = LEAST_SLABS * ((side + SIDE_PER_SLABS / 2) / SIDE_PER_SLABS);
  if (count < LEAST_SLABS) return LEAST_SLABS;
  return count < CNI_SLAB_LIMIT ? count : CNI_SLAB_LIMIT;
}

// ---- stretches ----

// The groups from the first to the last with mass in `count` stretches.
static void cut_stretches(CniSchedule *s, const CnProblem *p, int32_t count) {
  int32_t first = 0, last = p->group_count - 1;
  while (first <= last && s->massless[first]) first++;
  while (last >= first && s->massless[last]) last--;
  int32_t moving = last + 1 - first;
  memset(s->layers, 0, (size_t)p->group_count);
  for (int32_t k = 1, at = 0; k < count; k++, at = 0) {
    // number i lies in stretch i count / moving
    at = (int32_t)(((int64_t)k * moving + count - 1) / count);
    int32_t end = (int32_t)(((int64_t)(k + 1) * moving + count - 1) / count);
    if (end > moving) end = moving;
    if (end > at) memset(s->layers + first + at, k, (size_t)(end - at));
  }
}

int cni_schedule_stretches_fit(const CniSchedule *s, const CnProblem *p) {
  int32_t count = s->slab_count, stray = 0;
  for (int32_t i = 0; i <= count; i++) {
    int64_t blocks = 0;
    for (int32_t task = 0; task < cni_schedule_task_count(p); task++)
      blocks += cni_schedule_shares(s, task)[i].blocks;
    if (i == count)
      stray = (int32_t)blocks;
    else if (blocks * count * 4 > (int64_t)p->block_count * 5)
      return 0;
  }
  return stray <= p->block_count / STRAY;
}

// ---- cells ----

typedef struct Graph {
  int32_t cell_count, words; // words of 64 bits in a row
  uint64_t *rows;
  int32_t *slab;   // per cell: level during the walk, then slab
  int32_t *weight; // blocks per cell
  int32_t *queue;
  int32_t *mark; // number of the walk that has seen the cell; -1 for a hub
} Graph;

static CnStatus make_graph(CniSchedule *s, const CnProblem *p, int32_t *cell_bits, Graph *graph) {
  int32_t bits = CELL_BITS;
  while (p->group_count >> bits >= CELL_LIMIT) bits++;
  int32_t count = (p->group_count >> bits) + 1, words = count / 64 + 1;
  CNI_TRY(CNI_RESERVE(&s->allocator, s->neighbours, s->neighbour_capacity, 0, count * words));
  CNI_TRY(CNI_RESERVE(&s->allocator, s->cells, s->cell_capacity, 0, 4 * count));
  *cell_bits = bits;
  *graph = (Graph){count,
                   words,
                   s->neighbours,
                   s->cells,
                   s->cells + count,
                   s->cells + 2 * count,
                   s->cells + 3 * count};
  memset(graph->rows, 0, (size_t)count * (size_t)words * sizeof *graph->rows);
  memset(s->cells, 0, 4 * (size_t)count * sizeof *s->cells);
  return CN_OK;
}

static void link_cells(Graph *graph, int32_t i, int32_t j) {
  graph->rows[(size_t)i * (size_t)graph->words + (size_t)(j / 64)] |= UINT64_C(1) << (j % 64);
  graph->rows[(size_t)j * (size_t)graph->words + (size_t)(i / 64)] |= UINT64_C(1) << (i % 64);
}

static void link_blocks(const CniSchedule *s, const CnProblem *p, int32_t cell_bits, Graph *graph) {
  for (int32_t i = 0; i < p->block_count; i++) {
    CniEnds e = s->ends[i];
    if (e.a < 0 && e.b < 0) continue;
    int32_t a = (e.a >= 0 ? e.a : e.b) >> cell_bits, b = (e.b >= 0 ? e.b : e.a) >> cell_bits;
    graph->weight[a]++;
    if (a != b) link_cells(graph, a, b);
  }
}

static void mark_hubs(Graph *graph) {
  for (int32_t i = 0; i < graph->cell_count; i++) {
    const uint64_t *row = graph->rows + (size_t)i * (size_t)graph->words;
    int32_t count = 0;
    for (int32_t w = 0; w < graph->words; w++)
      if (row[w]) count += __builtin_popcountll(row[w]);
    if (count > HUB_NEIGHBOURS) graph->mark[i] = -1;
  }
}

// Walk over everything that hangs together with the cells [first, last); they get `level`, the
// others the levels after it. Returns the last cell reached, -1 if there is none.
static int32_t walk(Graph *graph, int32_t first, int32_t last, int32_t number, int32_t level) {
  int32_t begin = 0, end = 0;
  for (int32_t i = first; i < last; i++) {
    if (graph->mark[i] < 0) continue;
    graph->mark[i] = number;
    graph->slab[i] = level;
    graph->queue[end++] = i;
  }
  while (begin < end) {
    int32_t i = graph->queue[begin++];
    const uint64_t *row = graph->rows + (size_t)i * (size_t)graph->words;
    for (int32_t w = 0; w < graph->words; w++) {
      for (uint64_t bits = row[w]; bits; bits &= bits - 1) {
        int32_t j = 64 * w + __builtin_ctzll(bits);
        if (graph->mark[j] < 0 || graph->mark[j] == number) continue;
        graph->mark[j] = number;
        graph->slab[j] = graph->slab[i] + 1;
        graph->queue[end++] = j;
      }
    }
  }
  return end > 0 ? graph->queue[end - 1] : -1;
}

// Cells on one side of a pile that is about as long, wide and high.
static int32_t side_cells(const Graph *graph) {
  int64_t n = graph->cell_count, side = 1;
  while (side * side * side < n * n) side++;
  return (int32_t)side;
}

// Levels of all cells; returns how many there are.
static int32_t find_levels(Graph *graph) {
  int32_t number = 1, last = walk(graph, 0, side_cells(graph), number, 0);
  int32_t levels = last >= 0 ? graph->slab[last] + 1 : 0;
  for (int32_t i = 0; i < graph->cell_count; i++) {
    if (graph->mark[i] != 0) continue;
    int32_t far = walk(graph, i, i + 1, ++number, 0);
    last = walk(graph, far, far + 1, ++number, levels);
    levels = graph->slab[last] + 1;
  }
  return levels;
}

// Join levels into slabs. The queue's room takes the weight of each level, then its slab.
static int32_t join_levels(Graph *graph, int32_t level_count, int32_t wanted) {
  int32_t *level = graph->queue, slab = 0;
  int64_t total = 0, done = 0;
  memset(level, 0, (size_t)level_count * sizeof *level);
  for (int32_t i = 0; i < graph->cell_count; i++) {
    if (graph->mark[i] < 0) continue;
    level[graph->slab[i]] += graph->weight[i];
    total += graph->weight[i];
  }
  for (int32_t i = 0; i < level_count; i++) {
    // the next slab begins where this one is nearest to its share
    if (slab + 1 < wanted && (2 * done + level[i]) * wanted >= 2 * total * (slab + 1)) slab++;
    done += level[i];
    level[i] = slab;
  }
  for (int32_t i = 0; i < graph->cell_count; i++)
    graph->slab[i] = graph->mark[i] < 0 ? -1 : level[graph->slab[i]];
  return slab + 1;
}

CnStatus cni_schedule_walk(CniSchedule *s, const CnProblem *p) {
  Graph graph;
  int32_t cell_bits, wanted = s->slab_count;
  s->slab_count = 1;
  CNI_TRY(make_graph(s, p, &cell_bits, &graph));
  link_blocks(s, p, cell_bits, &graph);
  mark_hubs(&graph);
  int32_t count = join_levels(&graph, find_levels(&graph), wanted);
  if (count < LEAST_SLABS) return CN_OK;
  for (int32_t i = 0; i < p->group_count; i++) {
    int32_t slab = graph.slab[i >> cell_bits];
    s->layers[i] = (uint8_t)(slab < 0 ? CNI_NO_LAYER : slab);
  }
  s->slab_count = count;
  return CN_OK;
}

void cni_schedule_stretches(CniSchedule *s, const CnProblem *p) {
  s->slab_count = 1;
  if (p->block_count < LEAST_SLABS * BLOCKS_PER_SLAB) return;
  int32_t moving = 0;
  for (int32_t i = 0; i < p->group_count; i++) moving += !s->massless[i];
  int32_t count = cni_slab_aim(moving);
  if (count == 1) return;
  cut_stretches(s, p, count);
  s->slab_count = count;
}
