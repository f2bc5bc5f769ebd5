// SPDX-License-Identifier: Apache-2.0
// Direct solution of joints: order and pattern.
//
// The graph of blocks and hubs is ordered by minimum degree. A block goes before the hubs it acts on
// if its other bodies can hold it alone: it has one with a regular inertia that is no hub, and it is
// the first that ties its part of the mechanism (what hangs together without hubs) to a hub, and
// nothing ties that part to the ground. All other blocks at hubs wait for them, so that no pivot is singular that S does not make so.
//
// Then the pattern: column k has the neighbours of its node that come later, and what the columns
// whose first entry is k have besides.
#include "sparse/direct/direct_private.h"

#include "core/error.h"
#include "core/vec.h"
#include "sparse/order.h"

#include <string.h>

#define HUB_SIDES 7  // bodies with so many blocks are hubs
#define WORK_ROW 2e4 // multiplications of a factor that fits: a row,
#define WORK 3e8     // and besides
#define THIN 1e-12   // determinant over cube of the trace: a singular inverse inertia

CnStatus cni_direct_create(const CnAllocator *allocator, CniDirect **direct) {
  CniDirect *d = cni_allocate(allocator, sizeof *d);
  *direct = d;
  if (!d) return cni_error_memory(sizeof *d);
  memset(d, 0, sizeof *d);
  d->allocator = *allocator;
  d->kernels = cni_direct_kernels(cni_simd_level());
  d->least_pivot = CNI_DIRECT_LOST;
  cni_arena_init(&d->arena, allocator);
  return CN_OK;
}

void cni_direct_destroy(CniDirect *d) {
  if (!d) return;
  CnAllocator allocator = d->allocator;
  cni_release(&allocator, d->pattern, (size_t)d->pattern_capacity * sizeof *d->pattern);
  cni_arena_release(&d->arena);
  cni_release(&allocator, d, sizeof *d);
}

static int is_thin(const CniDirectBody *body) {
  const CnSym3 *j = &body->inv_inertia;
  double trace = j->xx + j->yy + j->zz;
  return !(cn_sdet(*j) > THIN * trace * trace * trace);
}

static int is_same(const CniDirect *d, const CniDirectSystem *s) {
  if (!d->valid || d->body_count != s->body_count || d->block_count != s->block_count ||
      d->side_count != s->side_count || d->row_count != s->row_count)
    return 0;
  if (s->block_count > 0 &&
      memcmp(d->blocks, s->blocks, (size_t)s->block_count * sizeof *s->blocks) != 0)
    return 0;
  if (s->side_count > 0 &&
      memcmp(d->sides, s->sides, (size_t)s->side_count * sizeof *s->sides) != 0)
    return 0;
  for (int32_t i = 0; d->hub_count > 0 && i < s->body_count; i++)
    if (s->bodies && d->thin[i] != is_thin(&s->bodies[i])) return 0;
  return 1;
}

#define TAKE(count, pointer) CNI_TRY(cni_arena_array(arena, count, sizeof *(pointer), &(pointer)))

// Copies to compare with, and who is a hub.
static CnStatus copy(CniDirect *d, const CniDirectSystem *s) {
  CniArena *arena = &d->arena;
  d->body_count = s->body_count;
  d->block_count = s->block_count;
  d->side_count = s->side_count;
  d->row_count = s->row_count;
  TAKE(s->block_count, d->blocks);
  TAKE(s->side_count, d->sides);
  TAKE(s->side_count, d->side_block);
  TAKE(s->body_count, d->thin);
  TAKE(s->body_count, d->first_side);
  TAKE(s->body_count, d->hub_of);
  if (s->block_count > 0) memcpy(d->blocks, s->blocks, (size_t)s->block_count * sizeof *s->blocks);
  if (s->side_count > 0) memcpy(d->sides, s->sides, (size_t)s->side_count * sizeof *s->sides);
  for (int32_t i = 0; i < s->body_count; i++) d->first_side[i] = -1;
  for (int32_t i = 0; i < s->block_count; i++)
    for (int32_t k = s->blocks[i].side; k < s->blocks[i].side + s->blocks[i].side_count; k++) {
      int32_t body = s->sides[k].body;
      d->side_block[k] = i;
      d->hub_of[body]++;
      if (d->first_side[body] < 0) d->first_side[body] = k;
    }
  d->hub_count = 0;
  for (int32_t i = 0; i < s->body_count; i++) {
    d->thin[i] = (uint8_t)(s->bodies && is_thin(&s->bodies[i]));
    d->hub_of[i] = d->hub_of[i] >= HUB_SIDES ? d->hub_count++ : -1;
  }
  d->node_count = d->block_count + d->hub_count;
  TAKE(d->hub_count, d->hubs);
  for (int32_t i = 0; i < s->body_count; i++)
    if (d->hub_of[i] >= 0) d->hubs[d->hub_of[i]] = i;
  return CN_OK;
}

// ---- the graph ----

typedef struct Work {
  CniDirect *d;
  CniArena *arena;
  int32_t *body_start, *body_side; // sides by bodies
  int32_t *start, *neighbor;       // the graph
  int32_t *after_start, *after;    // hubs that blocks wait for
  int32_t *mark, *island;          // per node
  int32_t *weight;                 // rows of a node
} Work;

static CnStatus sort_sides(Work *w) {
  CniDirect *d = w->d;
  CniArena *arena = w->arena;
  TAKE(d->body_count + 1, w->body_start);
  TAKE(d->side_count, w->body_side);
  for (int32_t i = 0; i < d->side_count; i++) w->body_start[d->sides[i].body + 1]++;
  for (int32_t i = 0; i < d->body_count; i++) w->body_start[i + 1] += w->body_start[i];
  for (int32_t i = 0; i < d->side_count; i++) w->body_side[w->body_start[d->sides[i].body]++] = i;
  for (int32_t i = d->body_count; i > 0; i--) w->body_start[i] = w->body_start[i - 1];
  w->body_start[0] = 0;
  return CN_OK;
}

// Neighbours of a node, each once, to `to` (null: count only).
static int32_t list_neighbors(Work *w, int32_t node, int32_t *to) {
  const CniDirect *d = w->d;
  int32_t count = 0;
  w->mark[node] = node;
  if (node >= d->block_count) {
    int32_t body = d->hubs[node - d->block_count];
    for (int32_t i = w->body_start[body]; i < w->body_start[body + 1]; i++, count++)
      if (to) to[count] = d->side_block[w->body_side[i]];
    return count;
  }
  const CniDirectBlock *block = &d->blocks[node];
  for (int32_t k = block->side; k < block->side + block->side_count; k++) {
    int32_t body = d->sides[k].body;
    if (d->hub_of[body] >= 0) {
      if (to) to[count] = d->block_count + d->hub_of[body];
      count++;
      continue;
    }
    for (int32_t i = w->body_start[body]; i < w->body_start[body + 1]; i++) {
      int32_t other = d->side_block[w->body_side[i]];
      if (w->mark[other] == node) continue;
      w->mark[other] = node;
      if (to) to[count] = other;
      count++;
    }
  }
  return count;
}

static void clear_marks(Work *w) {
  for (int32_t i = 0; i < w->d->node_count; i++) w->mark[i] = -1;
}

static CnStatus make_graph(Work *w) {
  CniDirect *d = w->d;
  CniArena *arena = w->arena;
  int64_t total = 0;
  TAKE(d->node_count + 1, w->start);
  TAKE(d->node_count, w->mark);
  TAKE(d->node_count, w->weight);
  clear_marks(w);
  for (int32_t i = 0; i < d->node_count; i++) {
    total += list_neighbors(w, i, NULL);
    if (total > INT32_MAX / 2)
      return cni_invalid("joints: too many share bodies (%d blocks)", (int)d->block_count);
    w->start[i + 1] = (int32_t)total;
    w->weight[i] = i < d->block_count ? d->blocks[i].dim : CNI_DIRECT_DIM;
  }
  TAKE(total, w->neighbor);
  clear_marks(w);
  for (int32_t i = 0; i < d->node_count; i++) list_neighbors(w, i, w->neighbor + w->start[i]);
  return CN_OK;
}

// Parts of the graph, numbered by their first nodes; hubs: whether they connect. `stack` is as long
// as there are nodes.
static int32_t find_parts(const Work *w, int hubs, int32_t *stack, int32_t *part) {
  const CniDirect *d = w->d;
  int32_t count = 0, most = hubs ? d->node_count : d->block_count;
  for (int32_t i = 0; i < most; i++) part[i] = -1;
  for (int32_t i = 0; i < most; i++) {
    if (part[i] >= 0) continue;
    int32_t depth = 0;
    part[i] = count;
    stack[depth++] = i;
    while (depth > 0) {
      int32_t node = stack[--depth];
      for (int32_t k = w->start[node]; k < w->start[node + 1]; k++) {
        int32_t other = w->neighbor[k];
        if (other >= most || part[other] >= 0) continue;
        part[other] = count;
        stack[depth++] = other;
      }
    }
    count++;
  }
  return count;
}

// Can the bodies of a block that are no hubs hold it?
static int stands_alone(const CniDirect *d, const CniDirectBlock *block) {
  for (int32_t k = block->side; k < block->side + block->side_count; k++)
    if (d->hub_of[d->sides[k].body] < 0 && !d->thin[d->sides[k].body]) return 1;
  return 0;
}

static CnStatus make_waits(Work *w) {
  CniDirect *d = w->d;
  CniArena *arena = w->arena;
  uint8_t *tied;
  int32_t *stack, *part, total = 0;
  if (d->hub_count == 0) return CN_OK;
  TAKE(d->node_count + 1, w->after_start);
  TAKE(d->side_count, w->after);
  TAKE(d->node_count, stack);
  TAKE(d->node_count, part);
  TAKE(find_parts(w, 0, stack, part), tied);
  for (int32_t i = 0; i < d->block_count; i++) tied[part[i]] |= d->blocks[i].side_count < 2;
  for (int32_t i = 0; i < d->node_count; i++) {
    w->after_start[i] = total;
    if (i >= d->block_count) continue;
    const CniDirectBlock *block = &d->blocks[i];
    int32_t first = total;
    for (int32_t k = block->side; k < block->side + block->side_count; k++)
      if (d->hub_of[d->sides[k].body] >= 0)
        w->after[total++] = d->block_count + d->hub_of[d->sides[k].body];
    if (total == first || tied[part[i]] || !stands_alone(d, block)) continue;
    tied[part[i]] = 1;
    total = first;
  }
  w->after_start[d->node_count] = total;
  return CN_OK;
}

// ---- order ----

// Islands one after the other, each in the order found; blocks of islands.
static CnStatus order_islands(Work *w, int32_t *found) {
  CniDirect *d = w->d;
  CniArena *arena = &d->arena;
  int32_t *next = found + d->node_count, *island = next + d->node_count; // also the stack
  d->island_count = find_parts(w, 1, next, island);
  TAKE(d->island_count + 1, d->island_start);
  TAKE(d->island_count + 1, d->block_start);
  TAKE(d->block_count, d->block_list);
  TAKE(d->node_count, d->order);
  TAKE(d->node_count, d->place);
  for (int32_t i = 0; i < d->node_count; i++) {
    d->island_start[island[i] + 1]++;
    if (i < d->block_count) d->block_start[island[i] + 1]++;
  }
  for (int32_t i = 0; i < d->island_count; i++) {
    d->island_start[i + 1] += d->island_start[i];
    d->block_start[i + 1] += d->block_start[i];
  }
  for (int32_t i = 0; i < d->island_count; i++) next[i] = d->island_start[i];
  for (int32_t i = 0; i < d->node_count; i++) d->order[next[island[found[i]]]++] = found[i];
  for (int32_t i = 0; i < d->node_count; i++) d->place[d->order[i]] = i;
  for (int32_t i = 0; i < d->island_count; i++) next[i] = d->block_start[i];
  for (int32_t i = 0; i < d->block_count; i++) d->block_list[next[island[i]]++] = i;
  return CN_OK;
}

static CnStatus find_order(Work *w) {
  CniDirect *d = w->d;
  CniArena *arena = w->arena;
  int32_t *found;
  TAKE(3 * (int64_t)d->node_count, found);
  CniGraph graph = {d->node_count,  w->start, w->neighbor, w->weight,
                    w->after_start, w->after, NULL};
  CNI_TRY(cni_order(arena, &graph, found));
  return order_islands(w, found);
}

// ---- pattern ----

static void sort_places(int32_t *list, int32_t count) {
  for (int32_t gap = count / 2; gap > 0; gap /= 2)
    for (int32_t i = gap; i < count; i++) {
      int32_t x = list[i], k = i;
      for (; k >= gap && list[k - gap] > x; k -= gap) list[k] = list[k - gap];
      list[k] = x;
    }
}

// first[k]: columns whose first entry is k, as a list by `next`.
static CnStatus fill_columns(Work *w, int32_t *first, int32_t *next) {
  CniDirect *d = w->d;
  int32_t end = 0;
  clear_marks(w);
  for (int32_t k = 0; k < d->node_count; k++) first[k] = -1;
  for (int32_t k = 0; k < d->node_count; k++) {
    int32_t node = d->order[k], begin = end;
    int64_t most = w->start[node + 1] - w->start[node];
    for (int32_t c = first[k]; c >= 0; c = next[c]) most += d->start[c + 1] - d->start[c];
    if (most > d->node_count) most = d->node_count;
    if (end + most > INT32_MAX)
      return cni_invalid("joints: the factor of %d blocks is too large", (int)d->block_count);
    CNI_TRY(CNI_RESERVE(&d->allocator, d->pattern, d->pattern_capacity, end, end + (int32_t)most));
    w->mark[k] = k;
    for (int32_t i = w->start[node]; i < w->start[node + 1]; i++) {
      int32_t other = d->place[w->neighbor[i]];
      if (other < k || w->mark[other] == k) continue;
      w->mark[other] = k;
      d->pattern[end++] = other;
    }
    for (int32_t c = first[k]; c >= 0; c = next[c])
      for (int32_t i = d->start[c] + 1; i < d->start[c + 1]; i++) {
        if (w->mark[d->pattern[i]] == k) continue;
        w->mark[d->pattern[i]] = k;
        d->pattern[end++] = d->pattern[i];
      }
    d->start[k + 1] = end;
    if (end == begin) continue;
    sort_places(d->pattern + begin, end - begin);
    next[k] = first[d->pattern[begin]];
    first[d->pattern[begin]] = k;
  }
  return CN_OK;
}

static CnStatus find_pattern(Work *w) {
  CniDirect *d = w->d;
  int32_t *first, *next;
  CniArena *arena = w->arena;
  TAKE(d->node_count, first);
  TAKE(d->node_count, next);
  arena = &d->arena;
  TAKE(d->node_count + 1, d->start);
  TAKE(d->node_count + 1, d->dim);
  TAKE(d->node_count + 1, d->panel);
  CNI_TRY(fill_columns(w, first, next));
  for (int32_t k = 0; k < d->node_count; k++) d->dim[k] = w->weight[d->order[k]];
  d->line_count = 0;
  double work = 0, all_rows = 0;
  for (int32_t k = 0; k < d->node_count; k++) {
    int32_t rows = d->dim[k];
    d->panel[k] = d->line_count;
    for (int32_t i = d->start[k]; i < d->start[k + 1]; i++) rows += d->dim[d->pattern[i]];
    d->line_count += (int64_t)(1 + d->start[k + 1] - d->start[k]) * d->dim[k];
    work += (double)d->dim[k] * rows * rows;
    all_rows += d->dim[k];
  }
  d->panel[d->node_count] = d->line_count;
  d->size = CNI_DIRECT_LINE * (int64_t)d->node_count;
  d->work = work;
  d->too_large = work > WORK + WORK_ROW * all_rows;
  return CN_OK;
}

// The tree of elimination: above a column is the first of its pattern. Branches one after the other, each
// column before those below it.
static CnStatus list_branches(Work *w) {
  CniDirect *d = w->d;
  CniArena *arena = w->arena;
  int32_t n = d->node_count, *size, *next, cursor = 0;
  TAKE(n, size);
  TAKE(n, next);
  arena = &d->arena;
  TAKE(n, d->branch);
  TAKE(n + 1, d->first_row);
  for (int32_t k = 0; k < n; k++) d->first_row[k + 1] = d->first_row[k] + d->dim[k];
  for (int32_t k = 0; k < n; k++) {
    size[k]++;
    if (d->start[k] < d->start[k + 1]) size[d->pattern[d->start[k]]] += size[k];
  }
  for (int32_t k = n - 1; k >= 0; k--) {
    int32_t *from = d->start[k] < d->start[k + 1] ? &next[d->pattern[d->start[k]]] : &cursor;
    d->branch[k] = *from;
    *from += size[k];
    next[k] = d->branch[k] + 1;
  }
  return CN_OK;
}

// ---- links ----

static int32_t panel_block(const CniDirect *d, int32_t column, int32_t place) {
  int32_t lo = d->start[column], hi = d->start[column + 1];
  while (hi - lo > 1) {
    int32_t middle = lo + (hi - lo) / 2;
    if (d->pattern[middle] <= place)
      lo = middle;
    else
      hi = middle;
  }
  return 1 + lo - d->start[column];
}

// Links of a body; to: where the next of each column goes, null: counted in link_start.
static void link_body(Work *w, int32_t body, int32_t *to) {
  CniDirect *d = w->d;
  int32_t hub = d->hub_of[body] >= 0 ? d->place[d->block_count + d->hub_of[body]] : -1;
  for (int32_t i = w->body_start[body]; i < w->body_start[body + 1]; i++) {
    int32_t side = w->body_side[i], place = d->place[d->side_block[side]];
    int32_t others = hub >= 0 ? w->body_start[body] + 1 : i; // the hub alone, or those before
    for (int32_t k = w->body_start[body]; k < others; k++) {
      int32_t other = hub >= 0 ? -1 : w->body_side[k];
      int32_t there = hub >= 0 ? hub : d->place[d->side_block[other]];
      int32_t column = place < there ? place : there, below = place < there ? there : place;
      if (!to) {
        d->link_start[column + 1]++;
        continue;
      }
      d->links[to[column]++] =
          (CniDirectLink){place < there ? other : side, place < there ? side : other,
                          panel_block(d, column, below)};
    }
  }
}

// By blocks of the panel; those of a block stay in their order.
static void sort_links(CniDirect *d, int32_t column) {
  for (int32_t i = d->link_start[column] + 1; i < d->link_start[column + 1]; i++) {
    CniDirectLink link = d->links[i];
    int32_t k = i;
    for (; k > d->link_start[column] && d->links[k - 1].block > link.block; k--)
      d->links[k] = d->links[k - 1];
    d->links[k] = link;
  }
}

static CnStatus make_links(Work *w) {
  CniDirect *d = w->d;
  CniArena *arena = &d->arena;
  int32_t *next = w->mark;
  TAKE(d->node_count + 1, d->link_start);
  for (int32_t i = 0; i < d->body_count; i++) link_body(w, i, NULL);
  for (int32_t i = 0; i < d->node_count; i++) d->link_start[i + 1] += d->link_start[i];
  TAKE(d->link_start[d->node_count], d->links);
  for (int32_t i = 0; i < d->node_count; i++) next[i] = d->link_start[i];
  for (int32_t i = 0; i < d->body_count; i++) link_body(w, i, next);
  for (int32_t k = 0; k < d->node_count; k++) sort_links(d, k);
  return CN_OK;
}

static CnStatus take_numbers(CniDirect *d) {
  CniArena *arena = &d->arena;
  TAKE(CNI_DIRECT_LINE * d->line_count, d->value);
  TAKE(d->size, d->inverse);
  TAKE(d->size, d->diagonal);
  TAKE(d->size, d->weight);
  TAKE(d->size, d->lost);
  TAKE(d->size, d->imposed);
  TAKE(d->island_count, d->care);
  TAKE(CNI_DIRECT_LINE * d->line_count, d->value_shifted);
  TAKE(d->size, d->inverse_shifted);
  TAKE(d->island_count, d->shift);
  TAKE(d->island_count, d->asked);
  TAKE(d->island_count, d->given);
  TAKE(d->size, d->scale);
  TAKE(d->island_count, d->scaled);
  TAKE(d->size, d->y);
  TAKE(d->size, d->residual);
  TAKE(d->size, d->step);
  TAKE(d->size, d->image);
  TAKE(d->size, d->sum);
  TAKE(d->body_count, d->roots);
  TAKE(6 * CNI_DIRECT_LINE * (int64_t)d->side_count, d->f);
  TAKE(d->body_count, d->moved);
  int64_t rows = d->first_row[d->node_count], lines = CNI_DIRECT_NULL * rows;
  TAKE(CNI_DIRECT_LINE * lines, d->null);
  TAKE(lines, d->null_place);
  TAKE(rows, d->null_row);
  TAKE(rows, d->null_first);
  TAKE(2 * (d->node_count + d->island_count), d->null_chunk);
  TAKE(2 * (d->node_count + d->island_count), d->null_line);
  TAKE(2 * (d->node_count + d->island_count), d->null_begin);
  TAKE(d->node_count, d->null_at);
  TAKE(d->island_count, d->null_count);
  TAKE(d->island_count, d->null_lost);
  TAKE(d->island_count, d->null_known);
  TAKE(d->island_count, d->null_used);
  return CN_OK;
}

static CnStatus shape(CniDirect *d, const CniDirectSystem *s, CniArena *arena) {
  Work w = {.d = d, .arena = arena};
  CNI_TRY(cni_arena_reset(&d->arena));
  CNI_TRY(copy(d, s));
  CNI_TRY(sort_sides(&w));
  CNI_TRY(make_graph(&w));
  CNI_TRY(make_waits(&w));
  CNI_TRY(find_order(&w));
  CNI_TRY(find_pattern(&w));
  if (d->too_large) return CN_OK;
  CNI_TRY(list_branches(&w));
  CNI_TRY(make_links(&w));
  return take_numbers(d);
}

CnStatus cni_direct_shape(CniDirect *d, const CniDirectSystem *s) {
  if (is_same(d, s)) return CN_OK;
  CniArena work;
  d->valid = 0;
  cni_arena_init(&work, &d->allocator);
  CnStatus status = shape(d, s, &work);
  cni_arena_release(&work);
  d->valid = status == CN_OK;
  return status;
}

int cni_direct_fits(const CniDirect *d) { return d->valid && !d->too_large; }

int32_t cni_direct_islands(const CniDirect *d) { return d->island_count; }

void cni_direct_island(const CniDirect *d, int32_t island, int32_t *begin, int32_t *end) {
  *begin = d->block_start[island];
  *end = d->block_start[island + 1];
}

const int32_t *cni_direct_blocks(const CniDirect *d) { return d->block_list; }

double cni_direct_work(const CniDirect *d) { return d->work; }

int64_t cni_direct_numbers(const CniDirect *d) { return CNI_DIRECT_LINE * d->line_count; }
