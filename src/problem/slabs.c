// SPDX-License-Identifier: Apache-2.0
// Slabs and their rows: the groups cut into layers, so that a block reaches from its slab to the next
// and from its row to the next at most.
//
// How many slabs there are depends on the size of the problem alone: a multiple of four, so that
// two workers have as much to do among the even ones as among the odd ones, and few, as sweeps pass
// on less across the border of two slabs. Slabs five bodies thick, swept along the load, leave 1.02
// times the residual of a sweep along the load without slabs, slabs two bodies thick 1.05, one
// and a half up to 1.1: thinner ones are not made, so up to 5 x 5 x 5 bodies are one slab, whatever
// the number of their blocks. From 18 x 18 x 18 bodies on slabs are cut into rows three and a half bodies
// thick at least: the parts that can be swept at once are then as the square of the side, not as the
// side (216,000 spheres: 48, of which 16 workers have .97 of their time to do, `cairn-bench columns`). More
// and thinner ones would leave lanes empty, as every column ends with some batches that are not full.
//
// A world keeps its bodies in that many stretches of equal number (world/order.c), each along the
// load. If hardly any block reaches further than from a stretch to the next, slab by slab and row by
// row, the stretches are the columns. A pile too narrow for its rows shows it by the blocks that reach
// from one row to another (one in twice as many as a row has bodies across, for spheres in a heap):
// then its slabs have one row.
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
#define LEAST_ROW_SIDE 18   // and that are cut into rows
#define SIDE_PER_ROWS 7     // bodies along it that are cut into two rows, at least
#define STRAY 32            // one block in so many may fit in no column
#define ACROSS 5            // and one in so many reach from a row to another

CniCuts cni_cuts_aim(int32_t moving) {
  int32_t side = 1;
  while ((int64_t)side * side * side < moving) side++;
  if (side < LEAST_SIDE) return (CniCuts){1, 1};
  int32_t count = LEAST_SLABS * ((side + SIDE_PER_SLABS / 2) / SIDE_PER_SLABS);
  if (count < LEAST_SLABS) count = LEAST_SLABS;
  if (count > CNI_CUT_LIMIT) count = CNI_CUT_LIMIT;
  if (side < LEAST_ROW_SIDE) return (CniCuts){count, 1};
  int32_t rows = 2 * (side / SIDE_PER_ROWS);
  return (CniCuts){count, rows < CNI_CUT_LIMIT ? rows : CNI_CUT_LIMIT};
}

void cni_schedule_cut(CniSchedule *s, CniCuts cuts) {
  s->cuts = cuts;
  s->column_count = cuts.slabs * cuts.rows;
  s->phase_count = s->column_count == 1 ? 1 : cuts.rows == 1 ? 3 : 5;
}

// ---- stretches ----

// The groups from the first to the last with mass in a stretch for each column.
static void cut_stretches(CniSchedule *s, const CnProblem *p) {
  int32_t first = 0, last = p->group_count - 1, count = s->column_count;
  while (first <= last && s->massless[first]) first++;
  while (last >= first && s->massless[last]) last--;
  if (p->part) first = p->of.first;
  int32_t moving = p->part ? p->of.count : last + 1 - first;
  memset(s->layers, 0, (size_t)p->group_count * sizeof *s->layers);
  for (int32_t k = 1; k < count; k++) {
    // number i lies in stretch i count / moving; the rows of a slab are one stretch too
    CniLayer layer = {(uint8_t)(k / s->cuts.rows), (uint8_t)(k % s->cuts.rows)};
    int32_t at = (int32_t)(((int64_t)k * moving + count - 1) / count);
    int32_t end = (int32_t)(((int64_t)(k + 1) * moving + count - 1) / count);
    if (end > moving) end = moving;
    at += first;
    end += first;
    if (p->part) {
      at = cni_problem_group_from(p, at);
      end = cni_problem_group_from(p, end);
    }
    for (int32_t i = at; i < end; i++) s->layers[i] = layer;
  }
}

int cni_cuts_fit(CniCuts cuts, int64_t all, CniBlocksIn in, const void *context) {
  int32_t count = cuts.slabs * cuts.rows;
  if (all < LEAST_SLABS * BLOCKS_PER_SLAB || in(context, count) > all / STRAY) return 0;
  if (cuts.rows > 1 && in(context, count + 1) > all / ACROSS) return 0;
  // no slab a quarter more than the mean; a column, of which there are more to choose from, a half
  int64_t quarters = cuts.rows > 1 ? 6 : 5;
  for (int32_t i = 0; i < count; i++)
    if (4 * count * in(context, i) > quarters * all) return 0;
  return 1;
}

typedef struct Shares {
  const CniSchedule *s;
  const CnProblem *p;
} Shares;

// Blocks in the shares number i of all stretches.
static int64_t blocks_in(const void *context, int32_t i) {
  const Shares *shares = context;
  int64_t blocks = 0;
  for (int32_t k = 0; k < cni_schedule_share_count(shares->p); k++)
    blocks += (int64_t)(cni_share_sum(&cni_schedule_shares(shares->s, k)[i]) >> 32);
  return blocks;
}

int cni_schedule_fits(const CniSchedule *s, const CnProblem *p) {
  return cni_cuts_fit(s->cuts, p->block_count, blocks_in, &(Shares){s, p});
}

void cni_schedule_join_rows(CniSchedule *s, const CnProblem *p) {
  cni_schedule_cut(s, (CniCuts){s->cuts.slabs, 1});
  for (int32_t i = 0; i < p->group_count; i++) s->layers[i].row = 0;
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
  int32_t cell_bits, wanted = s->cuts.slabs;
  cni_schedule_cut(s, (CniCuts){1, 1});
  CNI_TRY(make_graph(s, p, &cell_bits, &graph));
  link_blocks(s, p, cell_bits, &graph);
  mark_hubs(&graph);
  int32_t count = join_levels(&graph, find_levels(&graph), wanted);
  if (count < LEAST_SLABS) return CN_OK;
  for (int32_t i = 0; i < p->group_count; i++) {
    int32_t slab = graph.slab[i >> cell_bits];
    s->layers[i] = (CniLayer){(uint8_t)(slab < 0 ? CNI_NO_LAYER : slab), 0};
  }
  cni_schedule_cut(s, (CniCuts){count, 1});
  return CN_OK;
}

void cni_schedule_stretches(CniSchedule *s, const CnProblem *p) {
  cni_schedule_cut(s, (CniCuts){1, 1});
  if (p->part) {
    cni_schedule_cut(s, (CniCuts){p->part_slabs, p->part_rows});
    cut_stretches(s, p);
    return;
  }
  if (p->block_count < LEAST_SLABS * BLOCKS_PER_SLAB) return;
  int32_t moving = 0;
  for (int32_t i = 0; i < p->group_count; i++) moving += !s->massless[i];
  CniCuts cuts = cni_cuts_aim(moving);
  if (cuts.slabs == 1) return;
  cni_schedule_cut(s, cuts);
  cut_stretches(s, p);
}
