// SPDX-License-Identifier: Apache-2.0
// Direct solution of joints: vectors that S does not see.
//
// A row that was left out, the i-th, has L^T n = e_i: n is zero after it, and before it in those places alone
// that lie below it in the tree of elimination, a loop or two of a machine. S n = L D e_i = 0 but for the
// pivot that was lost. With all of them as N the y of least norm is
//
//     y - N (N^T D N)^-1 N^T D y
//
// Up to eight rows left out, of neighbouring branches, are a chunk, side by side in lanes. Those of a loop or of
// loops that hang together stand in one where it has room for them, so that its places are those of these
// loops alone. N^T D N is factored as it is, row by row from its first number on: chunks of different loops do not see
// each other.
#include "sparse/direct/direct_private.h"

#include "core/vec.h"

#include <string.h>

#define LINE CNI_DIRECT_LINE
#define SINGULAR 1e-10 // of the diagonal: vectors that depend on each other

// The region of an island, in lines.
typedef struct Room {
  double *lines;
  int32_t *place;
  int32_t most, lines_used, places_used;
} Room;

static Room room_of(const CniDirect *d, int32_t island) {
  int32_t begin = d->first_row[d->island_start[island]];
  int32_t end = d->first_row[d->island_start[island + 1]];
  return (Room){.lines = d->null + (size_t)(LINE * CNI_DIRECT_NULL) * (size_t)begin,
                .place = d->null_place + (size_t)CNI_DIRECT_NULL * (size_t)begin,
                .most = CNI_DIRECT_NULL * (end - begin)};
}

static int is_block(const CniDirect *d, int32_t k) { return d->order[k] < d->block_count; }

// Does place k come before one of the chunk at hand?
static int reaches(const CniDirect *d, int32_t k) {
  for (int32_t e = d->start[k]; e < d->start[k + 1]; e++)
    if (d->null_at[d->pattern[e]] >= 0) return 1;
  return 0;
}

// Lines of some rows left out, down the tree. Returns 0 where there is no room.
static int find_chunk(const CniDirect *d, int32_t island, const int32_t *rows, int32_t count,
                      Room *room) {
  int32_t first = d->island_start[island], last = 0, base = room->lines_used;
  double *lines = room->lines + (size_t)LINE * (size_t)base;
  for (int32_t j = first; j < d->island_start[island + 1]; j++) d->null_at[j] = -1;
  for (int32_t i = 0; i < count; i++) {
    int32_t k = rows[i] / LINE;
    d->null_at[k] = 0; // to be
    if (k > last) last = k;
  }
  for (int32_t j = last; j >= first; j--) {
    int32_t n = d->dim[j];
    if (d->null_at[j] < 0 && !reaches(d, j)) continue;
    if (room->lines_used + n > room->most) return 0;
    int32_t at = room->lines_used - base;
    double *own = lines + (size_t)LINE * (size_t)at;
    memset(own, 0, (size_t)(LINE * n) * sizeof *own);
    for (int32_t i = 0; i < count && d->null_at[j] == 0; i++)
      if (rows[i] / LINE == j) own[LINE * (rows[i] % LINE) + i] = 1;
    d->null_at[j] = at;
    d->kernels->backward_lanes(d, j, d->null_at, lines);
    room->place[room->places_used++] = j;
    room->lines_used += n;
  }
  return 1;
}

// w = A^T D B of two chunks; both have their places descending. Returns 0 where they share none.
static int join_chunks(const CniDirect *d, const Room *room, const int32_t *chunk,
                       const int32_t *line, int32_t a, int32_t b, double *w) {
  int32_t i = chunk[a], j = chunk[b], any = 0;
  const double *x = room->lines + (size_t)LINE * (size_t)line[a];
  const double *y = room->lines + (size_t)LINE * (size_t)line[b];
  memset(w, 0, LINE * LINE * sizeof *w);
  while (i < chunk[a + 1] && j < chunk[b + 1]) {
    int32_t p = room->place[i], q = room->place[j];
    if (p == q && is_block(d, p)) {
      d->kernels->join(w, x, y, d->weight + (size_t)LINE * (size_t)p, d->dim[p]);
      any = 1;
    }
    if (p >= q) {
      x += LINE * d->dim[p];
      i++;
    }
    if (q >= p) {
      y += LINE * d->dim[q];
      j++;
    }
  }
  return any;
}

// The chunks of an island: where their places, lines and rows begin, and those of the one after the last.
typedef struct Chunks {
  int32_t *place, *line, *row;
} Chunks;

static Chunks chunks_of(const CniDirect *d, int32_t island) {
  int32_t at = 2 * (d->island_start[island] + island);
  return (Chunks){d->null_chunk + at, d->null_line + at, d->null_begin + at};
}

// Is place b before place a in its branch, or a itself?
static int is_below(const CniDirect *d, int32_t b, int32_t a) {
  while (b < a && d->start[b] < d->start[b + 1]) b = d->pattern[d->start[b]];
  return a == b;
}

// Rows of a list whose vectors may meet that of the first, those before it in its branch; more than fit a chunk
// are not counted.
static int32_t together(const CniDirect *d, const int32_t *rows, int32_t count) {
  int32_t i = 1;
  while (i < count && i <= LINE && is_below(d, rows[i] / LINE, rows[0] / LINE)) i++;
  return i;
}

// How many rows of a list are the next chunk.
static int32_t chunk_size(const CniDirect *d, const int32_t *rows, int32_t count) {
  int32_t size = together(d, rows, count);
  while (size < LINE && size < count) {
    int32_t more = together(d, rows + size, count - size);
    if (size + more > LINE) break;
    size += more;
  }
  return size < LINE ? size : LINE;
}

// G = L L^T in place, rows from their first number on, which is noted. Returns 0 where it is singular.
static int factor_gram(double *g, int32_t n, int32_t *firsts) {
  for (int32_t i = 0; i < n; i++) {
    double *row = g + (size_t)i * (size_t)n, size = row[i];
    int32_t first = 0;
    while (first < i && row[first] == 0) first++;
    firsts[i] = first;
    for (int32_t j = first; j < i; j++) {
      const double *other = g + (size_t)j * (size_t)n;
      double sum = row[j];
      for (int32_t k = first; k < j; k++) sum -= row[k] * other[k];
      row[j] = sum / other[j];
    }
    for (int32_t k = first; k < i; k++) row[i] -= row[k] * row[k];
    if (!(row[i] > SINGULAR * size)) return 0;
    row[i] = sqrt(row[i]);
  }
  return 1;
}

// x <- G^-1 x
static void solve_gram(const double *g, int32_t n, const int32_t *firsts, double *x) {
  for (int32_t i = 0; i < n; i++) {
    const double *row = g + (size_t)i * (size_t)n;
    for (int32_t j = firsts[i]; j < i; j++) x[i] -= row[j] * x[j];
    x[i] /= row[i];
  }
  for (int32_t i = n - 1; i >= 0; i--) {
    const double *row = g + (size_t)i * (size_t)n;
    x[i] /= row[i];
    for (int32_t j = firsts[i]; j < i; j++) x[j] -= row[j] * x[i];
  }
}

// N^T D N, lower half, after the lines of all chunks.
static int make_gram(CniDirect *d, int32_t island, int32_t count, Room *room) {
  Chunks c = chunks_of(d, island);
  _Alignas(64) double w[LINE * LINE];
  int32_t n = d->null_lost[island];
  if ((int64_t)room->lines_used * LINE + (int64_t)n * n > (int64_t)room->most * LINE) return 0;
  double *g = room->lines + (size_t)LINE * (size_t)room->lines_used;
  memset(g, 0, (size_t)n * (size_t)n * sizeof *g);
  for (int32_t a = 0; a < count; a++)
    for (int32_t b = 0; b <= a; b++) {
      if (!join_chunks(d, room, c.place, c.line, a, b, w)) continue;
      for (int32_t i = c.row[a]; i < c.row[a + 1]; i++)
        for (int32_t j = c.row[b]; j < c.row[b + 1]; j++)
          g[i * n + j] = w[LINE * (i - c.row[a]) + j - c.row[b]];
    }
  return factor_gram(g, n, d->null_first + d->first_row[d->island_start[island]]);
}

// Rows left out, by branches; returns how many.
static int32_t list_lost(const CniDirect *d, int32_t island, int32_t *rows) {
  int32_t count = 0;
  for (int32_t k = d->island_start[island]; k < d->island_start[island + 1]; k++)
    for (int32_t r = 0; r < d->dim[k] && is_block(d, k); r++) {
      if (!d->lost[LINE * k + r]) continue;
      int32_t at = count++;
      for (; at > 0 && d->branch[rows[at - 1] / LINE] > d->branch[k]; at--) rows[at] = rows[at - 1];
      rows[at] = LINE * k + r;
    }
  return count;
}

static void find_all(CniDirect *d, int32_t island) {
  int32_t first = d->island_start[island], count = 0;
  int32_t *rows = d->null_row + d->first_row[first];
  Room room = room_of(d, island);
  Chunks c = chunks_of(d, island);
  d->null_known[island] = 1;
  d->null_count[island] = -1;
  int32_t lost = d->null_lost[island] = list_lost(d, island, rows);
  c.row[0] = c.place[0] = c.line[0] = 0;
  for (; c.row[count] < lost; count++) {
    const int32_t *from = rows + c.row[count];
    int32_t size = chunk_size(d, from, lost - c.row[count]);
    if (!find_chunk(d, island, from, size, &room)) return;
    c.row[count + 1] = c.row[count] + size;
    c.place[count + 1] = room.places_used;
    c.line[count + 1] = room.lines_used;
  }
  if (make_gram(d, island, count, &room)) d->null_count[island] = count;
}

int cni_direct_project(CniDirect *d, int32_t island) {
  if (!d->null_known[island]) find_all(d, island);
  int32_t count = d->null_count[island], n = d->null_lost[island], first = d->island_start[island];
  if (count < 0) return 0;
  Chunks own = chunks_of(d, island);
  Room room = room_of(d, island);
  const double *g = room.lines + (size_t)LINE * (size_t)own.line[count];
  double *t = d->image + (size_t)LINE * (size_t)first;
  _Alignas(64) double w[LINE];
  for (int32_t c = 0; c < count; c++) {
    const double *a = room.lines + (size_t)LINE * (size_t)own.line[c];
    memset(w, 0, sizeof w);
    for (int32_t i = own.place[c]; i < own.place[c + 1]; a += LINE * d->dim[room.place[i]], i++) {
      size_t k = (size_t)LINE * (size_t)room.place[i];
      if (is_block(d, room.place[i]))
        d->kernels->along(w, a, d->weight + k, d->y + k, d->dim[room.place[i]]);
    }
    memcpy(t + own.row[c], w, (size_t)(own.row[c + 1] - own.row[c]) * sizeof *t);
  }
  solve_gram(g, n, d->null_first + d->first_row[first], t);
  for (int32_t c = 0; c < count; c++) {
    const double *a = room.lines + (size_t)LINE * (size_t)own.line[c];
    memset(w, 0, sizeof w);
    memcpy(w, t + own.row[c], (size_t)(own.row[c + 1] - own.row[c]) * sizeof *t);
    for (int32_t i = own.place[c]; i < own.place[c + 1]; a += LINE * d->dim[room.place[i]], i++)
      d->kernels->take_away(w, a, d->y + (size_t)LINE * (size_t)room.place[i],
                            d->dim[room.place[i]]);
  }
  return 1;
}
