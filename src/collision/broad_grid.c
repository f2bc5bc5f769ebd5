// SPDX-License-Identifier: Apache-2.0
// Broad phase by grids: which boxes overlap, in time linear in boxes and overlaps.
//
// Boxes are put in levels by their longest side, one level for each power of two, the coarsest
// first. A level has its own grid in y and z, with cells a little longer than the longest side of
// its boxes in that direction, and every box belongs to the cell of its lower corner. Cells with
// equal z form a slab, those with equal y and z a row; within a row boxes are sorted by their lower
// end in x, roughly by the same key and then each row by itself. So a level is one sorted list, and
// two boxes of a level can only meet if their rows are the same or next to each other. For each box
// its own row is swept forward, and of the eight rows around it the four that come later, so that
// no pair is found twice. The boxes of a row also ask all coarser levels for the rows near them, of
// which there are only a few: asking finer levels instead would walk over all the small things in
// the shadow of a large one.
//
// Only cells that hold something exist, so empty space and bodies far away cost nothing. Sides and
// cells are chosen for each direction and level, so thin plates and size ratios of a million do no
// harm. Boxes without end are kept apart and tested with all others.
//
// Why no pair is lost: cell = floor(lo / c) is computed as floor(lo * (1/c)) with relative error
// 2^-52. c is at least 2^-40 of the level's farthest coordinate, so a cell number is wrong by at
// most 2^-12, and c is at least 1 + 2^-10 times the longest side. Lower corners of two boxes that
// meet differ by at most one side, hence their cell numbers before rounding down by less than
// 1 - 2^-10.01 + 2^-11 < 1, and the cells by at most one. Comparisons in x leave the same slack.
//
// Cost: sorting is about six linear passes; finding about two tests for every overlapping pair of
// a dense pile. Idea: hierarchical hash grids (Ericson 2005, chapter 7), with sorting for hashing.
#include "collision/broad_private.h"

#include <float.h>

#include "core/error.h"

#define SLACK (1 + 0x1p-10)  // of a cell over the longest side
#define FAR_CELLS 0x1p40     // cells between the origin and the farthest box at most
#define FAR_SIZES 0x1p30     // boxes farther away than this many of their sizes: coarser level
#define LARGEST_SIDE 1e300   // longer ones count as unbounded
#define SMALLEST_CELL 1e-280 // so that its reciprocal is a number
#define LEVEL_LIMIT 2048     // exponents of doubles
#define PAIRS_EXPECTED 6     // per box: a dense pile has four or five
#define DIGIT_BITS 11        // of the sort
#define LEAST_X_BITS 6       // that place a box in its row
#define CELL_BITS 40         // of y and z cells in one key
#define ROWS_A_TASK 64

// A box in the order of the grid, 56 bytes.
typedef struct Item {
  CniBounds box;
  int32_t index;
  int32_t round; // a ball fills the box
} Item;

// Runs of items with the same y and z cell, and of rows with the same z cell. The end of one is the
// start of the next; one more closes the list.
typedef struct Row {
  int64_t y;
  int32_t first_item;
} Row;

typedef struct Slab {
  int64_t z;
  int32_t first_row;
} Slab;

typedef struct Level {
  int32_t first_item, first_slab;
  double cell_x;       // no side in x is longer
  double inv_y, inv_z; // cells per metre
  CniBounds box;       // around all of it
} Level;

typedef struct Grid {
  const CniBounds *bounds;
  const uint8_t *round; // null: no balls
  Item *items;
  Row *rows;
  Slab *slabs;
  Level *levels;
  int32_t item_count, row_count, slab_count, level_count;
  int32_t *unbounded; // indices
  int32_t unbounded_count;
} Grid;

// Rounded down; |x| < 2^62.
static inline int64_t floor_cell(double x) {
  int64_t i = (int64_t)x;
  return i - (x < (double)i);
}

static inline void widen(CniBounds *box, const CniBounds *b) {
  box->lo.x = cn_min(box->lo.x, b->lo.x), box->hi.x = cn_max(box->hi.x, b->hi.x);
  box->lo.y = cn_min(box->lo.y, b->lo.y), box->hi.y = cn_max(box->hi.y, b->hi.y);
  box->lo.z = cn_min(box->lo.z, b->lo.z), box->hi.z = cn_max(box->hi.z, b->hi.z);
}

// ---- building ----

// Longest side and distance of a box, which decide its level: the exponent of the longest side, or
// of 2^-30 of the distance if that is more.
static int32_t level_of(const CniBounds *b) {
  double side = cn_max(b->hi.x - b->lo.x, cn_max(b->hi.y - b->lo.y, b->hi.z - b->lo.z));
  double x = cn_max(fabs(b->lo.x), fabs(b->hi.x)), y = cn_max(fabs(b->lo.y), fabs(b->hi.y));
  double distance = cn_max(cn_max(x, y), cn_max(fabs(b->lo.z), fabs(b->hi.z)));
  double size = cn_max(side, distance / FAR_SIZES);
  if (!(side <= LARGEST_SIDE && distance <= DBL_MAX)) return -1;
  uint64_t bits;
  memcpy(&bits, &size, sizeof bits);
  return (int32_t)(bits >> 52);
}

// Set unbounded boxes apart, and deal the others out to the levels: order holds them by level. Fills
// level_count and first_item.
static CnStatus deal_out(Grid *g, int32_t count, CniArena *arena, int32_t *order) {
  int16_t *level;
  CNI_TRY(CNI_TAKE(arena, count, level));
  int32_t counts[LEVEL_LIMIT] = {0};
  for (int32_t i = 0; i < count; i++) {
    level[i] = -1;
    if (!cni_bounds_legal(&g->bounds[i])) continue;
    level[i] = (int16_t)level_of(&g->bounds[i]);
    if (level[i] < 0) {
      // kept in the order's far end until their number is known
      order[count - ++g->unbounded_count] = i;
      continue;
    }
    counts[level[i]]++;
    g->item_count++;
  }
  CNI_TRY(CNI_TAKE(arena, g->unbounded_count, g->unbounded));
  for (int32_t k = 0; k < g->unbounded_count; k++) g->unbounded[k] = order[count - 1 - k];

  // coarsest first; counts become places
  for (int32_t e = LEVEL_LIMIT - 1; e >= 0; e--) g->level_count += counts[e] > 0;
  CNI_TRY(CNI_TAKE(arena, g->level_count + 1, g->levels));
  int32_t l = 0, place = 0;
  for (int32_t e = LEVEL_LIMIT - 1; e >= 0; e--) {
    int32_t c = counts[e];
    if (c > 0) g->levels[l++] = (Level){.first_item = place};
    counts[e] = place;
    place += c;
  }
  g->levels[l] = (Level){.first_item = place};
  for (int32_t i = 0; i < count; i++)
    if (level[i] >= 0) order[counts[level[i]]++] = i;
  return CN_OK;
}

// A cell length: longer than all sides, and not too short for coordinates to be told apart.
static double cell_length(double side, double lo, double hi) {
  double distance = cn_max(fabs(lo), fabs(hi));
  return cn_max(cn_max(SLACK * side, distance / FAR_CELLS), SMALLEST_CELL);
}

// Cells of a level from its boxes.
static void measure_level(const Grid *g, Level *level, const int32_t *order, int32_t count) {
  CniBounds box = g->bounds[order[0]];
  CnVec3 side = {0, 0, 0};
  for (int32_t k = 0; k < count; k++) {
    const CniBounds *b = &g->bounds[order[k]];
    side.x = cn_max(side.x, b->hi.x - b->lo.x);
    side.y = cn_max(side.y, b->hi.y - b->lo.y);
    side.z = cn_max(side.z, b->hi.z - b->lo.z);
    widen(&box, b);
  }
  level->box = box;
  level->cell_x = cell_length(side.x, box.lo.x, box.hi.x);
  level->inv_y = 1 / cell_length(side.y, box.lo.y, box.hi.y);
  level->inv_z = 1 / cell_length(side.z, box.lo.z, box.hi.z);
}

// How a key tells where a box of a level begins.
typedef struct Digits {
  int32_t y_bits, z_bits, x_bits;
  int64_t y0, z0;
  double inv_x; // 0: x is left out
} Digits;

// x gets what is left of the last digit of the sort: it puts the boxes of a row nearly in order.
static Digits level_digits(const Level *level) {
  const CniBounds *box = &level->box;
  Digits d = {.y0 = floor_cell(box->lo.y * level->inv_y),
              .z0 = floor_cell(box->lo.z * level->inv_z)};
  d.y_bits = cni_bit_count((uint64_t)(floor_cell(box->hi.y * level->inv_y) - d.y0));
  d.z_bits = cni_bit_count((uint64_t)(floor_cell(box->hi.z * level->inv_z) - d.z0));
  double span = box->hi.x - box->lo.x;
  if (d.y_bits + d.z_bits > CELL_BITS || !(span > SMALLEST_CELL && span < LARGEST_SIDE)) return d;
  d.x_bits =
      LEAST_X_BITS + (DIGIT_BITS - (d.y_bits + d.z_bits + LEAST_X_BITS) % DIGIT_BITS) % DIGIT_BITS;
  d.inv_x = (double)(((int64_t)1 << d.x_bits) - 1) / span;
  return d;
}

// Sort a level's boxes by z cell, then y cell. One key holds both unless the level reaches very
// far.
static void sort_level(const Grid *g, const Level *level, CniSort *sort, int32_t *order,
                       int32_t count) {
  Digits d = level_digits(level);
  int32_t together = d.y_bits + d.z_bits <= CELL_BITS;
  for (int32_t k = 0; k < count; k++) {
    const CniBounds *b = &g->bounds[order[k]];
    uint64_t y = (uint64_t)(floor_cell(b->lo.y * level->inv_y) - d.y0);
    uint64_t z = (uint64_t)(floor_cell(b->lo.z * level->inv_z) - d.z0);
    uint64_t x = d.inv_x > 0 ? (uint64_t)((b->lo.x - level->box.lo.x) * d.inv_x) : 0;
    sort->keys[k] = together ? (z << d.y_bits | y) << d.x_bits | x : y;
    sort->values[k] = order[k];
  }
  cni_sort_keys(sort, count, together ? d.y_bits + d.z_bits + d.x_bits : d.y_bits);
  if (!together) {
    for (int32_t k = 0; k < count; k++) {
      double z = g->bounds[sort->values[k]].lo.z;
      sort->keys[k] = (uint64_t)(floor_cell(z * level->inv_z) - d.z0);
    }
    cni_sort_keys(sort, count, d.z_bits);
  }
  memcpy(order, sort->values, (size_t)count * sizeof *order);
}

// Rows by lower end in x, in place. Most are in order already; one that is not takes count^1.3
// steps or so (Shell 1959).
static void sort_rows(void *context, int32_t begin, int32_t end) {
  const Grid *g = context;
  for (int32_t r = begin; r < end; r++) {
    Item *row = g->items + g->rows[r].first_item;
    int32_t count = g->rows[r + 1].first_item - g->rows[r].first_item, gap = 1;
    while (gap < count / 9) gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3)
      for (int32_t i = gap; i < count; i++) {
        if (row[i - gap].box.lo.x <= row[i].box.lo.x) continue;
        Item item = row[i];
        int32_t at = i;
        for (; at >= gap && row[at - gap].box.lo.x > item.box.lo.x; at -= gap)
          row[at] = row[at - gap];
        row[at] = item;
      }
  }
}

// Rows and slabs of a level; `items` are filled and the runs noted unless there is no room for them
// yet, in which case they are only counted.
static void fill_level(Grid *g, Level *level, const int32_t *order, int32_t end) {
  level->first_slab = g->slab_count;
  int64_t last_y = 0, last_z = 0;
  for (int32_t k = level->first_item; k < end; k++) {
    const CniBounds *box = &g->bounds[order[k]];
    int64_t y = floor_cell(box->lo.y * level->inv_y), z = floor_cell(box->lo.z * level->inv_z);
    int new_slab = k == level->first_item || z != last_z, new_row = new_slab || y != last_y;
    last_y = y;
    last_z = z;
    if (g->rows) {
      g->items[k] = (Item){*box, order[k], g->round && g->round[order[k]]};
      if (new_slab) g->slabs[g->slab_count] = (Slab){z, g->row_count};
      if (new_row) g->rows[g->row_count] = (Row){y, k};
    }
    g->slab_count += new_slab;
    g->row_count += new_row;
  }
}

static void fill_levels(Grid *g, const int32_t *order) {
  g->row_count = g->slab_count = 0;
  for (int32_t l = 0; l < g->level_count; l++)
    fill_level(g, &g->levels[l], order, g->levels[l + 1].first_item);
}

static CnStatus build(Grid *g, int32_t count, CnTasks *tasks, CniArena *arena) {
  int32_t *order;
  CniSort sort;
  CNI_TRY(cni_sort_init(&sort, arena, count));
  CNI_TRY(CNI_TAKE(arena, (size_t)count + 1, order));
  CNI_TRY(CNI_TAKE(arena, (size_t)count + 1, g->items));
  CNI_TRY(deal_out(g, count, arena, order));
  for (int32_t l = 0; l < g->level_count; l++) {
    Level *level = &g->levels[l];
    int32_t first = level->first_item, size = g->levels[l + 1].first_item - first;
    measure_level(g, level, order + first, size);
    sort_level(g, level, &sort, order + first, size);
  }

  // a pile has few rows: count before room is made
  fill_levels(g, order);
  CNI_TRY(CNI_TAKE(arena, g->slab_count + 1, g->slabs));
  CNI_TRY(CNI_TAKE(arena, g->row_count + 1, g->rows));
  fill_levels(g, order);
  g->rows[g->row_count] = (Row){0, g->item_count};
  g->slabs[g->slab_count] = (Slab){0, g->row_count};
  g->levels[g->level_count].first_slab = g->slab_count;
  cni_parallel_for(tasks, g->row_count, ROWS_A_TASK, sort_rows, g);
  return CN_OK;
}

// ---- finding ----

// First item of [begin, end), a piece of one row, whose lower end in x is at least x.
static int32_t find_item(const Grid *g, int32_t begin, int32_t end, double x) {
  CNI_BISECT(begin, end, middle, g->items[middle].box.lo.x < x)
  return begin;
}

// First row of [begin, end), a piece of one slab, at y or beyond.
static int32_t find_row(const Grid *g, int32_t begin, int32_t end, int64_t y) {
  CNI_BISECT(begin, end, middle, g->rows[middle].y < y)
  return begin;
}

// First slab of [begin, end), a piece of one level, at z or beyond.
static int32_t find_slab(const Grid *g, int32_t begin, int32_t end, int64_t z) {
  CNI_BISECT(begin, end, middle, g->slabs[middle].z < z)
  return begin;
}

// Both boxes meet, and the balls in them if there are two. Without branches: which of the boxes
// around meet nobody can predict.
static inline int meet(const Item *a, const Item *b) {
  int balls = cni_balls_meet(&a->box, &b->box) | !(a->round & b->round);
  return cni_bounds_meet(&a->box, &b->box) & balls;
}

// Items [begin, end) of a row with those that follow them in the row, which ends at row_end.
static void sweep_row(const Grid *g, int32_t begin, int32_t end, int32_t row_end,
                      CniPairSink *sink) {
  for (int32_t i = begin; i < end; i++) {
    const Item *a = &g->items[i];
    for (int32_t j = i + 1; j < row_end && g->items[j].box.lo.x <= a->box.hi.x; j++)
      cni_sink_add(sink, a->index, g->items[j].index, meet(a, &g->items[j]));
  }
}

// Items [begin, end) of one row with all of another row, of a level with cells of length cell_x.
static void sweep_rows(const Grid *g, double cell_x, int32_t begin, int32_t end, int32_t row,
                       CniPairSink *sink) {
  int32_t row_end = g->rows[row + 1].first_item;
  double first_x = g->items[begin].box.lo.x - cell_x;
  int32_t start = find_item(g, g->rows[row].first_item, row_end, first_x);
  for (int32_t i = begin; i < end; i++) {
    const Item *a = &g->items[i];
    // boxes that begin a cell before this one end before it begins
    double x = a->box.lo.x - cell_x;
    while (start < row_end && g->items[start].box.lo.x < x) start++;
    for (int32_t j = start; j < row_end && g->items[j].box.lo.x <= a->box.hi.x; j++)
      cni_sink_add(sink, a->index, g->items[j].index, meet(a, &g->items[j]));
  }
}

// A number of cells, held within what an integer takes: beyond there is no box anyway.
static inline int64_t cell_of(double x, double inv) {
  return floor_cell(cn_clamp(x * inv, -0x1p50, 0x1p50));
}

// The box around items [begin, end).
static CniBounds box_around(const Grid *g, int32_t begin, int32_t end) {
  CniBounds box = g->items[begin].box;
  for (int32_t i = begin + 1; i < end; i++) widen(&box, &g->items[i].box);
  return box;
}

// Items [begin, end), a piece of one row with the given box around it, with a coarser level.
static void ask_level(const Grid *g, const Level *level, const CniBounds *box, int32_t begin,
                      int32_t end, CniPairSink *sink) {
  if (!cni_bounds_meet(box, &level->box)) return;
  int64_t y_lo = cell_of(box->lo.y, level->inv_y) - 1, y_hi = cell_of(box->hi.y, level->inv_y);
  int64_t z_lo = cell_of(box->lo.z, level->inv_z) - 1, z_hi = cell_of(box->hi.z, level->inv_z);
  int32_t slab_end = level[1].first_slab;
  int32_t slab = find_slab(g, level->first_slab, slab_end, z_lo);
  for (; slab < slab_end && g->slabs[slab].z <= z_hi; slab++) {
    int32_t row_end = g->slabs[slab + 1].first_row;
    int32_t row = find_row(g, g->slabs[slab].first_row, row_end, y_lo);
    for (; row < row_end && g->rows[row].y <= y_hi; row++)
      sweep_rows(g, level->cell_x, begin, end, row, sink);
  }
}

// Items [begin, end), a piece of row r in slab s of a level, with the later rows around it.
static void sweep_around(const Grid *g, const Level *level, int32_t s, int32_t r, int32_t begin,
                         int32_t end, CniPairSink *sink) {
  int64_t y = g->rows[r].y;
  if (r + 1 < g->slabs[s + 1].first_row && g->rows[r + 1].y == y + 1)
    sweep_rows(g, level->cell_x, begin, end, r + 1, sink);
  if (s + 1 == level[1].first_slab || g->slabs[s + 1].z != g->slabs[s].z + 1) return;
  int32_t row_end = g->slabs[s + 2].first_row;
  int32_t row = find_row(g, g->slabs[s + 1].first_row, row_end, y - 1);
  for (; row < row_end && g->rows[row].y <= y + 1; row++)
    sweep_rows(g, level->cell_x, begin, end, row, sink);
}

// Boxes without end: item_count + k is the k-th of them.
static void meet_unbounded(const Grid *g, int32_t begin, int32_t end, CniPairSink *sink) {
  for (int32_t i = begin; i < end; i++) {
    int32_t first = i < g->item_count ? 0 : i - g->item_count + 1;
    int32_t index = i < g->item_count ? g->items[i].index : g->unbounded[i - g->item_count];
    const CniBounds *box = &g->bounds[index];
    for (int32_t k = first; k < g->unbounded_count; k++)
      cni_sink_add(sink, index, g->unbounded[k], cni_bounds_meet(box, &g->bounds[g->unbounded[k]]));
  }
}

// The row of an item, and the slab of a row.
static int32_t row_of(const Grid *g, int32_t item) {
  int32_t low = 1, high = g->row_count;
  CNI_BISECT(low, high, middle, g->rows[middle].first_item <= item)
  return low - 1;
}

static int32_t slab_of(const Grid *g, int32_t row) {
  int32_t low = 1, high = g->slab_count;
  CNI_BISECT(low, high, middle, g->slabs[middle].first_row <= row)
  return low - 1;
}

static void find_pairs(const void *context, int32_t begin, int32_t end, CniPairSink *sink) {
  const Grid *g = context;
  if (g->unbounded_count > 0) meet_unbounded(g, begin, end, sink);
  if (end > g->item_count) end = g->item_count;
  if (begin >= end) return;

  int32_t r = row_of(g, begin), s = slab_of(g, r), l = 0;

  // row by row
  for (int32_t i = begin; i < end; r++) {
    while (g->slabs[s + 1].first_row <= r) s++;
    while (g->levels[l + 1].first_slab <= s) l++;
    int32_t row_end = g->rows[r + 1].first_item, stop = row_end < end ? row_end : end;
    sweep_row(g, i, stop, row_end, sink);
    sweep_around(g, &g->levels[l], s, r, i, stop, sink);
    if (l > 0) {
      CniBounds box = box_around(g, i, stop);
      for (int32_t k = 0; k < l; k++) ask_level(g, &g->levels[k], &box, i, stop, sink);
    }
    i = stop;
  }
}

CnStatus cni_broad_grid(const CniBounds *bounds, const uint8_t *round, int32_t count,
                        CnTasks *tasks, CniArena *arena, CniPair **pairs, int32_t *pair_count) {
  *pairs = NULL;
  *pair_count = 0;
  Grid grid = {.bounds = bounds, .round = round};
  CNI_TRY(build(&grid, count, tasks, arena));
  int32_t guess = PAIRS_EXPECTED + (grid.unbounded_count < 8 ? grid.unbounded_count : 8);
  return cni_collect_pairs(find_pairs, &grid, grid.item_count + grid.unbounded_count, guess, tasks,
                           arena, pairs, pair_count);
}
