// SPDX-License-Identifier: Apache-2.0
// What every rank keeps of the contacts of all: see share.h.
//
// A contact belongs to the rank of its lowest body with mass, also one that all have solved. Each rank sends its own
// in short, 8 bytes, impulses that are not zero, 24 bytes (48 of all where something rolls), and in full those
// that are not round; what comes is put in the order of one process.
#include "world/share/share.h"

#include <string.h>

#include "core/error.h"
#include "ranks/ranks.h"
#include "world/world.h"

typedef struct KeptInFull {
  CniContact contact;
  int64_t at; // place among those of its rank
} KeptInFull;

// Of one rank: contacts, impulses that it sends, contacts in full, 1: something rolls.
typedef struct Counts {
  int64_t contacts, impulses, full, turning;
} Counts;

// Where the reading of a rank's part is.
typedef struct Cursor {
  int64_t at, end;       // of its contacts
  int64_t impulse;       // the next one
  int64_t full, in_full; // the next one in full, and their end
  int64_t begin;
  uint64_t rank; // of the contact at hand
} Cursor;

// What all have sent, and where each rank's part begins and ends.
typedef struct CniParcel {
  CnRanks *ranks;
  CniArena *arena;
  int32_t rank, count;
  Counts *counts, all;
  int64_t *start; // in bytes
  CniShortContact *shorts;
  CnVec3 *linear,
      *angular; // of contacts that carry an impulse; angular: null unless something rolls
  KeptInFull *full;
  Cursor *cursors;
} CniParcel;

static int is_own(const CnWorld *world, CniShortContact c) {
  const CniModel *model = &world->now.model;
  const CniStepShare *s = &world->work.share;
  int32_t a = model->shapes[cni_short_shape(c.a)].body;
  int32_t b = model->shapes[cni_short_shape(c.b)].body;
  int32_t low = a < b ? a : b;
  if (!cni_has_mass(&model->mass[a])) low = b;
  if (!cni_has_mass(&model->mass[b])) low = a;
  return low >= s->begin && low < s->end;
}

// ---- sending ----

static int64_t of_rank(const CniParcel *p, int32_t rank, size_t field) {
  int64_t n;
  memcpy(&n, (const char *)&p->counts[rank] + field, sizeof n);
  return n;
}

// Begins and ends of the parts; a part has as many things as the field of the counts says.
static void find_starts(CniParcel *p, size_t field, size_t size) {
  p->start[0] = 0;
  for (int32_t r = 0; r < p->count; r++)
    p->start[r + 1] = p->start[r] + of_rank(p, r, field) * (int64_t)size;
}

static CnStatus share_counts(CniParcel *p, Counts own) {
  CNI_TRY(CNI_TAKE(p->arena, p->count, p->counts));
  CNI_TRY(CNI_TAKE(p->arena, p->count + 1, p->start));
  for (int32_t r = 0; r <= p->count; r++) p->start[r] = r * (int64_t)sizeof own;
  p->counts[p->rank] = own;
  CNI_TRY(cni_ranks_gather(p->ranks, p->counts, p->start));
  for (int32_t r = 0; r < p->count; r++) p->all.turning |= p->counts[r].turning;
  for (int32_t r = 0; r < p->count; r++) {
    Counts *c = &p->counts[r];
    if (p->all.turning) c->impulses = c->contacts; // zeros have signs there
    p->all.contacts += c->contacts;
    p->all.impulses += c->impulses;
    p->all.full += c->full;
  }
  if (p->all.contacts <= INT32_MAX) return CN_OK;
  return cni_error(CN_NO_MEMORY, "more than %d contacts", INT32_MAX);
}

static int is_carried(CniShortContact c) { return (c.b & CNI_SHORT_BIT) != 0; }

static Counts count_own(const CnWorld *world) {
  const CniStepContacts *now = &world->found;
  const CnProblem *problem = world->now.engine.problem;
  Counts own = {0, 0, 0, 0};
  for (int32_t i = 0; i < now->count; i++) {
    if (!is_own(world, now->shorts[i])) continue;
    own.contacts++;
    own.impulses += is_carried(now->shorts[i]);
  }
  for (int32_t i = 0; i < now->full_count; i++)
    own.full += is_own(world, now->shorts[now->full_at[i]]);
  for (int32_t i = 0; i < problem->set_count; i++)
    own.turning |= problem->sets[i].kind >= CN_BLOCK_ROLLING;
  return own;
}

static CnStatus send_shorts(const CnWorld *world, CniParcel *p) {
  const CniStepContacts *now = &world->found;
  CNI_TRY(CNI_TAKE(p->arena, p->all.contacts + 1, p->shorts));
  find_starts(p, offsetof(Counts, contacts), sizeof *p->shorts);
  CniShortContact *to = p->shorts + p->start[p->rank] / (int64_t)sizeof *p->shorts;
  for (int32_t i = 0; i < now->count; i++)
    if (is_own(world, now->shorts[i])) *to++ = now->shorts[i];
  return cni_ranks_gather(p->ranks, p->shorts, p->start);
}

static CnStatus send_impulses(const CnWorld *world, const CnAnswer *answer, CniParcel *p) {
  const CniStepContacts *now = &world->found;
  CNI_TRY(CNI_TAKE(p->arena, p->all.impulses + 1, p->linear));
  if (p->all.turning) CNI_TRY(CNI_TAKE(p->arena, p->all.impulses + 1, p->angular));
  find_starts(p, offsetof(Counts, impulses), sizeof *p->linear);
  int64_t at = p->start[p->rank] / (int64_t)sizeof *p->linear;
  for (int32_t i = 0; i < now->count; i++) {
    if (!is_own(world, now->shorts[i]) || !(p->angular || is_carried(now->shorts[i]))) continue;
    cni_contact_impulses(world->now.engine.problem, answer, now->first_block + i, 1, &p->linear[at],
                         p->angular ? &p->angular[at] : NULL);
    at++;
  }
  CNI_TRY(cni_ranks_gather(p->ranks, p->linear, p->start));
  return p->angular ? cni_ranks_gather(p->ranks, p->angular, p->start) : CN_OK;
}

static CnStatus send_full(const CnWorld *world, CniParcel *p) {
  const CniStepContacts *now = &world->found;
  if (p->all.full == 0) return CN_OK;
  CNI_TRY(CNI_TAKE(p->arena, p->all.full, p->full));
  find_starts(p, offsetof(Counts, full), sizeof *p->full);
  int64_t at = p->start[p->rank] / (int64_t)sizeof *p->full, place = 0;
  for (int32_t i = 0, k = 0; i < now->count; i++) {
    int own = is_own(world, now->shorts[i]), is_full = k < now->full_count && now->full_at[k] == i;
    if (own && is_full) p->full[at++] = (KeptInFull){now->full[k], place};
    place += own;
    k += is_full;
  }
  return cni_ranks_gather(p->ranks, p->full, p->start);
}

// ---- putting in order ----

static uint64_t rank_at(const CniParcel *p, const Cursor *c) {
  return c->at < c->end ? cni_short_rank(p->shorts[c->at]) : UINT64_MAX;
}

static void begin_reading(const CniParcel *p) {
  Cursor all = {0};
  for (int32_t r = 0; r < p->count; r++) {
    Cursor *c = &p->cursors[r];
    *c = all;
    c->begin = all.at;
    c->end = all.at += p->counts[r].contacts;
    c->in_full = all.full += p->counts[r].full;
    all.impulse += p->counts[r].impulses;
    c->rank = rank_at(p, c);
  }
}

// The rank whose contact comes next; null: there are no more. All contacts of a pair are of one rank. next: the pair
// before which it goes on.
static Cursor *whose_turn(const CniParcel *p, uint64_t *next) {
  Cursor *least = &p->cursors[0];
  *next = UINT64_MAX;
  for (int32_t r = 1; r < p->count; r++) {
    Cursor *c = &p->cursors[r];
    if (c->rank < least->rank) {
      *next = least->rank;
      least = c;
    } else if (c->rank < *next) {
      *next = c->rank;
    }
  }
  return least->rank < UINT64_MAX ? least : NULL;
}

static void put_in_order(CnWorld *world, const CniParcel *p) {
  CniStepContacts *now = &world->found;
  uint64_t next;
  now->count = now->full_count = 0;
  begin_reading(p);
  for (Cursor *c = whose_turn(p, &next); c; c = whose_turn(p, &next)) {
    for (; c->rank < next; c->at++, c->rank = rank_at(p, c)) {
      int32_t to = now->count++;
      now->shorts[to] = p->shorts[c->at];
      if (c->full == c->in_full || p->full[c->full].at != c->at - c->begin) continue;
      now->full[now->full_count] = p->full[c->full++].contact;
      now->full_at[now->full_count++] = to;
    }
  }
}

void cni_share_impulses(const CnWorld *world, CnVec3 *linear, CnVec3 *angular) {
  const CniParcel *p = world->work.share.parcel;
  uint64_t next;
  begin_reading(p);
  for (Cursor *c = whose_turn(p, &next); c; c = whose_turn(p, &next)) {
    for (; c->rank < next; c->at++, c->rank = rank_at(p, c), linear++) {
      int sent = p->angular || is_carried(p->shorts[c->at]);
      *linear = sent ? p->linear[c->impulse] : CN_VEC3_ZERO;
      if (p->angular) *angular++ = p->angular[c->impulse];
      c->impulse += sent;
    }
  }
}

CnStatus cni_share_keep(CnWorld *world, const CnAnswer *answer) {
  CniStepContacts *now = &world->found;
  const CnAllocator *a = &world->allocator;
  CniArena *arena = &world->memory.arena;
  CniParcel *p;
  CNI_TRY(CNI_TAKE(arena, 1, p));
  *p = (CniParcel){.ranks = world->now.settings.ranks, .arena = arena};
  p->rank = cni_ranks_rank(p->ranks);
  p->count = cni_ranks_count(p->ranks);
  CNI_TRY(share_counts(p, count_own(world)));
  CNI_TRY(send_shorts(world, p));
  CNI_TRY(send_impulses(world, answer, p));
  CNI_TRY(send_full(world, p));
  CNI_TRY(CNI_TAKE(arena, p->count, p->cursors));
  int32_t count = (int32_t)p->all.contacts, full = (int32_t)p->all.full;
  CNI_TRY(CNI_RESERVE(a, now->shorts, now->short_capacity, 0, count + 1));
  CNI_TRY(CNI_RESERVE(a, now->full, now->full_capacity, 0, full));
  CNI_TRY(CNI_RESERVE(a, now->full_at, now->full_at_capacity, 0, full));
  put_in_order(world, p);
  world->work.share.parcel = p;
  world->work.share.turning = (int32_t)p->all.turning;
  return CN_OK;
}

// ---- the deepest overlap ----

typedef struct Deepest {
  CniFinding finding;
  uint64_t order; // of the contact: the first of equal ones counts
  int64_t any;
} Deepest;

CnStatus cni_share_deepest(CnWorld *world, int32_t own) {
  CniFinding *worst = &world->work.overlap;
  CnRanks *ranks = world->now.settings.ranks;
  int32_t rank = cni_ranks_rank(ranks), count = cni_ranks_count(ranks);
  Deepest *all, *best = NULL;
  int64_t *start;
  CNI_TRY(CNI_TAKE(&world->memory.arena, count, all));
  CNI_TRY(CNI_TAKE(&world->memory.arena, count + 1, start));
  for (int32_t r = 0; r <= count; r++) start[r] = r * (int64_t)sizeof *all;
  memset(&all[rank], 0, sizeof *all);
  all[rank].any = own >= 0;
  if (own >= 0) {
    all[rank].finding = *worst;
    all[rank].order = cni_contact_rank(&world->work.contacts[own]);
  }
  CNI_TRY(cni_ranks_gather(ranks, all, start));
  for (int32_t r = 0; r < count; r++) {
    if (!all[r].any) continue;
    double deeper = best ? all[r].finding.relative - best->finding.relative : 1;
    if (deeper > 0 || (deeper == 0 && all[r].order < best->order)) best = &all[r];
  }
  if (best) *worst = best->finding;
  return CN_OK;
}
