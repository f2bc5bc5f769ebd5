// SPDX-License-Identifier: Apache-2.0
// Sweeps of several ranks over one problem, which all of them hold (problem/spread.c tells who sweeps what).
//
// A rank prepares and sweeps its own columns. Between the phases velocities are sent, six numbers a group: after
// even and after odd slabs those of each border to the rank that did not sweep it; before
// blocks that everybody sweeps those of their groups to all. Checks of convergence are made by each for its
// own blocks, and one failure anywhere is enough. In the end everybody gets all impulses and velocities; of a
// problem of which each has a part they stay with their owners.
//
// Where a rank has failed the others get to know at their next message. What sweeps is void, so the status is
// kept: nothing is sent after it, and the solve returns it.
//
// Cost: two messages of 48 bytes a group of the border a sweep; 24 bytes a contact and 48 a group once.
#include "solver/sweeps/psor.h"
#include "ranks/ranks.h"

#include <string.h>

#define NUMBERS 6 // of a group

// Blocks that everybody sweeps need what all have found.
typedef enum Kind { EVEN, ODD, REST, JOINTS } Kind;

CnStatus cni_psor_ranks_reserve(CniPsor *s, const CnProblem *p) {
  const CniSpread *spread = &s->schedule.spread;
  s->remote = CN_OK;
  s->links.stale = 0;
  if (spread->active == 0) return CN_OK;
  int32_t most = p->part ? NUMBERS * spread->common_count // nothing is told in the end
                         : p->row_count + NUMBERS * p->group_count;
  int32_t borders = NUMBERS * (spread->border_count + spread->ghost_count);
  if (borders > most) most = borders;
  return CNI_RESERVE(&s->allocator, s->links.numbers, s->links.capacity, 0, most + 1);
}

// ---- groups to numbers and back ----

static void pack(const CniPsor *s, const int32_t *list, int32_t count, double *to) {
  for (int32_t i = 0; i < count; i++, to += NUMBERS) {
    memcpy(to, &s->groups[list[i]].v, 3 * sizeof *to);
    memcpy(to + 3, &s->groups[list[i]].w, 3 * sizeof *to);
  }
}

static void unpack(CniPsor *s, const int32_t *list, int32_t count, const double *from) {
  for (int32_t i = 0; i < count; i++, from += NUMBERS) {
    memcpy(&s->groups[list[i]].v, from, 3 * sizeof *from);
    memcpy(&s->groups[list[i]].w, from + 3, 3 * sizeof *from);
  }
}

// ---- messages ----

// After even or odd slabs (`half` 0 or 1): borders that these have crossed go up to their owners, the others down.
static CnStatus cross_borders(CniPsor *s, int32_t half) {
  const CniSpread *spread = &s->schedule.spread;
  double *border = s->links.numbers, *ghosts = border + NUMBERS * (size_t)spread->border_count;
  CnPacket below = {spread->rank - 1, NUMBERS * sizeof(double) * (size_t)spread->border_count,
                    border};
  CnPacket above = {spread->rank + 1, NUMBERS * sizeof(double) * (size_t)spread->ghost_count,
                    ghosts};
  CnPacket out[2], in[2];
  int32_t n_out = 0, n_in = 0;
  // the slab below a border crosses it
  int comes_up = spread->border_count > 0 && (spread->first - 1) % 2 == half;
  int goes_up = spread->ghost_count > 0 && (spread->last - 1) % 2 == half;
  int goes_down = spread->border_count > 0 && !comes_up;
  int comes_down = spread->ghost_count > 0 && !goes_up;
  if (goes_down) pack(s, spread->border, spread->border_count, border);
  if (goes_up) pack(s, spread->ghosts, spread->ghost_count, ghosts);
  if (goes_down) out[n_out++] = below;
  if (goes_up) out[n_out++] = above;
  if (comes_up) in[n_in++] = below;
  if (comes_down) in[n_in++] = above;
  CNI_TRY(cni_ranks_exchange(s->schedule.ranks, out, n_out, in, n_in));
  if (comes_up) unpack(s, spread->border, spread->border_count, border);
  if (comes_down) unpack(s, spread->ghosts, spread->ghost_count, ghosts);
  return CN_OK;
}

// Common groups from their owners to all.
static CnStatus share_common(CniPsor *s) {
  const CniSpread *spread = &s->schedule.spread;
  if (spread->common_count == 0) return CN_OK;
  int64_t begin = spread->start[spread->rank] / (NUMBERS * (int64_t)sizeof(double));
  int64_t end = spread->start[spread->rank + 1] / (NUMBERS * (int64_t)sizeof(double));
  pack(s, spread->common + begin, (int32_t)(end - begin), s->links.numbers + NUMBERS * begin);
  CNI_TRY(cni_ranks_gather(s->schedule.ranks, s->links.numbers, spread->start));
  unpack(s, spread->common, spread->common_count, s->links.numbers);
  return CN_OK;
}

// ---- phases ----

static Kind kind_of(const CniPsor *s, int32_t phase) {
  int32_t phases = s->schedule.phase_count;
  if (phase >= phases) return JOINTS;
  if (phase == phases - 1) return REST;
  return s->schedule.cuts.rows > 1 ? (Kind)(phase / 2) : (Kind)phase;
}

// Some of the phases, with the numbers that their function knows.
typedef struct Part {
  CniPhaseLoop fn;
  void *context;
  int32_t first;
} Part;

static void run_part(void *context, int32_t phase, int32_t begin, int32_t end) {
  const Part *part = context;
  part->fn(part->context, part->first + phase, begin, end);
}

static CnStatus before(CniPsor *s, Kind kind) {
  if (kind < REST || !s->links.stale) return CN_OK;
  s->links.stale = 0;
  return share_common(s);
}

static CnStatus after(CniPsor *s, Kind kind) {
  if (kind >= REST) return CN_OK;
  s->links.stale = 1;
  return cross_borders(s, kind == ODD);
}

void cni_psor_run(CniPsor *s, int32_t count, const int32_t *sizes, const uint8_t *phases,
                  CniPhaseLoop fn, void *context) {
  if (s->schedule.spread.active == 0) {
    cni_parallel_phases(s->def.tasks, count, sizes, 1, fn, context);
    return;
  }
  for (int32_t i = 0; i < count && s->remote == CN_OK;) {
    Kind kind = kind_of(s, phases[i]);
    int32_t n = 1, any = sizes[i] > 0;
    for (; i + n < count && kind_of(s, phases[i + n]) == kind; n++) any |= sizes[i + n] > 0;
    Part part = {fn, context, i};
    if (any) s->remote = before(s, kind);
    if (any && s->remote == CN_OK) {
      cni_parallel_phases(s->def.tasks, n, sizes + i, 1, run_part, &part);
      s->remote = after(s, kind);
    }
    i += n;
  }
}

// ---- what all have to agree on ----

int cni_psor_anybody(CniPsor *s, int what) {
  int64_t sum = what;
  if (s->schedule.spread.active == 0) return what;
  if (s->remote == CN_OK) s->remote = cni_ranks_sum(s->schedule.ranks, &sum, 1);
  return s->remote != CN_OK || sum > 0;
}

double cni_psor_largest(CniPsor *s, double x) {
  if (s->schedule.spread.active > 0 && s->remote == CN_OK)
    s->remote = cni_ranks_largest(s->schedule.ranks, &x, 1);
  return x;
}

// ---- the answer ----

// Impulses and velocities of every rank, packed one after the other: those of a rank to numbers (out: 1) or
// from there. Returns how many they are.
static int64_t move_part(const CniPsor *s, int32_t rank, CnAnswer *answer, double *numbers,
                         int out) {
  const CniSpread *spread = &s->schedule.spread;
  const CnProblem *p = s->p;
  double *at = numbers;
  for (int32_t i = 0; i < p->block_count; i++) {
    if (spread->owner[i] != rank) continue;
    double *g = answer->g + p->blocks[i].row;
    size_t bytes = p->blocks[i].dim * sizeof *g;
    memcpy(out ? at : g, out ? g : at, bytes);
    at += p->blocks[i].dim;
  }
  for (int32_t i = 0; i < p->group_count; i++) {
    if (spread->home[i] != rank) continue;
    double *v = answer->v + NUMBERS * (size_t)i;
    memcpy(out ? at : v, out ? v : at, NUMBERS * sizeof *v);
    at += NUMBERS;
  }
  return at - numbers;
}

static int64_t part_size(const CniPsor *s, int32_t rank) {
  const CniSpread *spread = &s->schedule.spread;
  const CnProblem *p = s->p;
  int64_t size = 0;
  for (int32_t i = 0; i < p->block_count; i++)
    size += spread->owner[i] == rank ? (int64_t)p->blocks[i].dim : 0;
  for (int32_t i = 0; i < p->group_count; i++) size += spread->home[i] == rank ? NUMBERS : 0;
  return size;
}

CnStatus cni_psor_share_answer(CniPsor *s, CnAnswer *answer) {
  CniSpread *spread = &s->schedule.spread;
  CnRanks *ranks = s->schedule.ranks;
  if (spread->active == 0 || s->remote != CN_OK) return s->remote;
  if (s->p->part) return CN_OK;
  // nobody sweeps any more: the places of common groups are free
  int64_t *start = spread->start;
  start[0] = 0;
  for (int32_t r = 0; r < cni_ranks_count(ranks); r++)
    start[r + 1] = start[r] + (int64_t)sizeof(double) * part_size(s, r);
  double *numbers = s->links.numbers;
  move_part(s, spread->rank, answer, numbers + start[spread->rank] / (int64_t)sizeof(double), 1);
  CNI_TRY(cni_ranks_gather(ranks, numbers, start));
  for (int32_t r = 0; r < spread->active; r++)
    if (r != spread->rank) move_part(s, r, answer, numbers + start[r] / (int64_t)sizeof(double), 0);
  return CN_OK;
}
