// SPDX-License-Identifier: Apache-2.0
// Direct solution of joints: what other rows lose by them, W -= C^T S^-1 C.
//
// With Y = L^-1 C that is Y^T D^-1 Y, rows that were left out adding nothing. A column of C is zero but for the
// joints of a body or two, and Y but for the places from there to the root of the tree of elimination. Columns
// are taken eight at a time, side by side in lanes, those of neighbouring branches together, and a chunk of
// eight goes through its own places only. The order of the columns cannot be seen in Y.
#include "sparse/direct/direct_private.h"

#include "core/error.h"

#include <string.h>

#define LINE CNI_DIRECT_LINE

typedef struct Chunk {
  double *y;       // a line a row
  uint8_t *active; // per place
  int32_t column[LINE];
  int32_t count;
} Chunk;

// Of a row of S: its place, its line among all, and the branch that it is of.
typedef struct Spot {
  int32_t place, line, branch;
} Spot;

// Columns by their first branches.
static void sort_columns(int32_t n, const int32_t *start, const CniDirectEntry *entries,
                         const Spot *spots, int32_t *order, int32_t *first) {
  for (int32_t i = 0; i < n; i++) {
    int32_t at = i, own = INT32_MAX;
    for (int32_t e = start[i]; e < start[i + 1]; e++) {
      int32_t other = spots[entries[e].row].branch;
      if (other < own) own = other;
    }
    for (; at > 0 && first[at - 1] > own; at--) {
      first[at] = first[at - 1];
      order[at] = order[at - 1];
    }
    first[at] = own;
    order[at] = i;
  }
}

static void load(const Chunk *c, int32_t lane, const CniDirectEntry *entry,
                 const CniDirectEntry *end, const Spot *spots) {
  double *own = c->y + lane;
  for (; entry < end; entry++) {
    const Spot *spot = &spots[entry->row];
    own[LINE * spot->line] += entry->value;
    c->active[spot->place] = 1;
  }
}

static void substitute(const CniDirect *d, const Chunk *c) {
  for (int32_t k = 0; k < d->node_count; k++) {
    if (!c->active[k]) continue;
    d->kernels->forward_lanes(d, k, c->y);
    for (int32_t e = d->start[k]; e < d->start[k + 1]; e++) c->active[d->pattern[e]] = 1;
  }
}

static void take(const CniDirect *d, const Chunk *a, const Chunk *b, int32_t n, double *w) {
  _Alignas(64) double sum[LINE * LINE] = {0};
  for (int32_t k = 0; k < d->node_count; k++)
    if (a->active[k] && b->active[k]) {
      size_t at = (size_t)LINE * (size_t)d->first_row[k];
      d->kernels->join(sum, a->y + at, b->y + at, d->inverse + (size_t)LINE * (size_t)k, d->dim[k]);
    }
  for (int32_t i = 0; i < a->count; i++)
    for (int32_t j = a == b ? i : 0; j < b->count; j++) {
      int32_t r = a->column[i], s = b->column[j];
      w[(size_t)(r < s ? r : s) * (size_t)n + (size_t)(r < s ? s : r)] -= sum[LINE * i + j];
    }
}

CnStatus cni_direct_eliminate(CniDirect *d, CniArena *room, int32_t n, const int32_t *start,
                              const CniDirectEntry *entries, double *w) {
  int32_t count = (n + LINE - 1) / LINE, *order, *first;
  Spot *spots;
  Chunk *chunks;
  CNI_TRY(CNI_TAKE(room, d->row_count, spots));
  CNI_TRY(CNI_TAKE(room, n, order));
  CNI_TRY(CNI_TAKE(room, n, first));
  CNI_TRY(CNI_TAKE(room, count, chunks));
  for (int32_t b = 0; b < d->block_count; b++) {
    int32_t k = d->place[b];
    for (int32_t r = 0; r < d->blocks[b].dim; r++)
      spots[d->blocks[b].row + r] = (Spot){k, d->first_row[k] + r, d->branch[k]};
  }
  sort_columns(n, start, entries, spots, order, first);
  for (int32_t i = 0; i < count; i++) {
    Chunk *c = &chunks[i];
    c->count = n - LINE * i < LINE ? n - LINE * i : LINE;
    CNI_TRY(CNI_LAY(room, CNI_ARRAY(LINE * (int64_t)d->first_row[d->node_count], c->y),
                    CNI_ARRAY(d->node_count, c->active)));
    for (int32_t lane = 0; lane < c->count; lane++) {
      int32_t column = c->column[lane] = order[LINE * i + lane];
      load(c, lane, entries + start[column], entries + start[column + 1], spots);
    }
    substitute(d, c);
    for (int32_t j = 0; j <= i; j++) take(d, &chunks[j], c, n, w);
  }
  return CN_OK;
}
