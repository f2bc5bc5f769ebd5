// SPDX-License-Identifier: Apache-2.0
// Contacts that are kept go to other ranks: to all, where somebody asks for contacts of others, or to those
// who own them, once bodies were put in another order.
//
// Every rank has its own in the order in which they were solved, and all contacts of a pair. What comes from
// all ranks is put in that order again: it goes by the ranks of the pairs, or, where bodies have changed their
// places since, by what these were then.
#include "world/share/share.h"

#include <string.h>

#include "core/error.h"
#include "core/sort.h"
#include "ranks/ranks.h"
#include "world/world.h"

typedef struct KeptInFull {
  CniContact contact;
  int64_t at; // place among those that go with it
} KeptInFull;

typedef struct Counts {
  int64_t contacts, full;
} Counts;

// Where the reading of a rank's part is.
typedef struct Cursor {
  int64_t begin, at, end; // of its contacts
  int64_t full, in_full;  // the next one in full, and their end
  uint64_t key;           // of the contact at hand
} Cursor;

typedef struct Parcel {
  CnRanks *ranks;
  CniArena *arena;
  CniContactCache *cache;
  int32_t rank, count;
  const int32_t *begins; // null: all go to all
  int32_t *list;         // own contacts, by who gets them
  Counts *out, *in;      // for each rank, from each
  int64_t *out_bytes, *in_bytes;
  Counts all; // that come
  CniShortContact *shorts;
  uint64_t *keys;
  CnVec3 *linear, *angular;
  KeptInFull *full;
  Cursor *cursors;
} Parcel;

// ---- who gets what ----

static int32_t low_body(const CniModel *model, CniShortContact c) {
  int32_t a = model->shapes[cni_short_shape(c.a)].body;
  int32_t b = model->shapes[cni_short_shape(c.b)].body;
  int32_t low = a < b ? a : b;
  if (!cni_has_mass(&model->mass[a])) low = b;
  if (!cni_has_mass(&model->mass[b])) low = a;
  return low;
}

int cni_share_owns(const CnWorld *world, uint64_t rank) {
  CniShortContact c = {(uint32_t)(rank >> 32), (uint32_t)rank};
  int32_t low = low_body(&world->now.model, c);
  return low >= world->work.share.begin && low < world->work.share.end;
}

static int32_t owner_of(const Parcel *p, const CniModel *model, CniShortContact c) {
  int32_t low = low_body(model, c), rank = 0;
  while (rank + 1 < p->count && low >= p->begins[rank + 1]) rank++;
  return rank;
}

// Own contacts by who gets them, those of one rank in their order; and how many these are.
static CnStatus deal(Parcel *p, const CniModel *model) {
  const CniContactCache *cache = p->cache;
  int64_t *next = p->out_bytes;
  memset(p->out, 0, (size_t)p->count * sizeof *p->out);
  if (!p->begins) {
    for (int32_t r = 0; r < p->count; r++) p->out[r] = (Counts){cache->count, cache->full_count};
    return CN_OK;
  }
  CNI_TRY(CNI_TAKE(p->arena, cache->count + 1, p->list));
  for (int32_t i = 0; i < cache->count; i++)
    p->out[owner_of(p, model, cache->shorts[i])].contacts++;
  for (int32_t i = 0; i < cache->full_count; i++)
    p->out[owner_of(p, model, cache->shorts[cache->full_at[i]])].full++;
  next[0] = 0;
  for (int32_t r = 0; r < p->count; r++) next[r + 1] = next[r] + p->out[r].contacts;
  for (int32_t i = 0; i < cache->count; i++)
    p->list[next[owner_of(p, model, cache->shorts[i])]++] = i;
  return CN_OK;
}

static int64_t field_of(const Counts *counts, size_t field) {
  int64_t n;
  memcpy(&n, (const char *)counts + field, sizeof n);
  return n;
}

// Begins and ends in bytes, of things of a size that one of the counts says.
static void find_bytes(const Parcel *p, size_t field, size_t size) {
  p->out_bytes[0] = p->in_bytes[0] = 0;
  for (int32_t r = 0; r < p->count; r++) {
    p->out_bytes[r + 1] = p->out_bytes[r] + field_of(&p->out[r], field) * (int64_t)size;
    p->in_bytes[r + 1] = p->in_bytes[r] + field_of(&p->in[r], field) * (int64_t)size;
  }
}

static CnStatus agree(Parcel *p) {
  int64_t one = sizeof(Counts);
  for (int32_t r = 0; r <= p->count; r++) p->out_bytes[r] = r * one;
  CNI_TRY(cni_ranks_swap(p->ranks, p->out, p->out_bytes, p->in, p->out_bytes));
  for (int32_t r = 0; r < p->count; r++) {
    p->all.contacts += p->in[r].contacts;
    p->all.full += p->in[r].full;
  }
  if (p->all.contacts < INT32_MAX) return CN_OK;
  return cni_error(CN_NO_MEMORY, "more than %d contacts", INT32_MAX);
}

// ---- passing on ----

// Things in the order of who gets them.
static CnStatus send(Parcel *p, size_t field, const void *own, size_t size, void *got) {
  find_bytes(p, field, size);
  if (p->begins) return cni_ranks_swap(p->ranks, own, p->out_bytes, got, p->in_bytes);
  size_t bytes = (size_t)(p->in_bytes[p->rank + 1] - p->in_bytes[p->rank]);
  if (bytes > 0) memcpy((char *)got + p->in_bytes[p->rank], own, bytes);
  return cni_ranks_gather(p->ranks, got, p->in_bytes);
}

// What there is one of for each contact.
static CnStatus pass(Parcel *p, const void *own, size_t size, void *address) {
  CniArenaMark mark;
  void *got = cni_arena_take(p->arena, (size_t)(p->all.contacts + 1) * size);
  if (!got) return cni_error_memory((size_t)(p->all.contacts + 1) * size);
  memcpy(address, &got, sizeof got);
  mark = cni_arena_mark(p->arena);
  char *packed = NULL;
  if (p->begins) {
    packed = cni_arena_take(p->arena, (size_t)p->cache->count * size);
    if (!packed) return cni_error_memory((size_t)p->cache->count * size);
    for (int32_t i = 0; i < p->cache->count; i++)
      memcpy(packed + (size_t)i * size, (const char *)own + (size_t)p->list[i] * size, size);
  }
  CNI_TRY(send(p, offsetof(Counts, contacts), packed ? packed : own, size, got));
  cni_arena_back(p->arena, mark);
  return CN_OK;
}

static CnStatus pass_full(Parcel *p) {
  const CniContactCache *cache = p->cache;
  KeptInFull *own;
  int64_t n = 0, at = 0;
  int32_t to = 0;
  CNI_TRY(CNI_TAKE(p->arena, p->all.full + 1, p->full));
  CNI_TRY(CNI_TAKE(p->arena, cache->full_count + 1, own));
  for (int32_t k = 0; k < cache->count; k++, at++) {
    for (; p->begins && at == p->out[to].contacts; at = 0) to++;
    int32_t i = p->list ? p->list[k] : k;
    int32_t full = cni_lower_bound(cache->full_at, cache->full_count, i);
    if (full < cache->full_count && cache->full_at[full] == i)
      own[n++] = (KeptInFull){cache->full[full], at};
  }
  return send(p, offsetof(Counts, full), own, sizeof *own, p->full);
}

// ---- putting in order ----

static uint64_t key_at(const Parcel *p, const Cursor *c) {
  if (c->at == c->end) return UINT64_MAX;
  return p->keys ? p->keys[c->at] : cni_short_rank(p->shorts[c->at]);
}

static void begin_reading(const Parcel *p) {
  Counts all = {0, 0};
  for (int32_t r = 0; r < p->count; r++) {
    Cursor *c = &p->cursors[r];
    *c = (Cursor){.begin = all.contacts, .at = all.contacts, .full = all.full};
    c->end = all.contacts += p->in[r].contacts;
    c->in_full = all.full += p->in[r].full;
    c->key = key_at(p, c);
  }
}

// The rank whose contact comes next; null: there are no more. next: the pair before which it goes on.
static Cursor *whose_turn(const Parcel *p, uint64_t *next) {
  Cursor *least = &p->cursors[0];
  *next = UINT64_MAX;
  for (int32_t r = 1; r < p->count; r++) {
    Cursor *c = &p->cursors[r];
    if (c->key < least->key) {
      *next = least->key;
      least = c;
    } else if (c->key < *next) {
      *next = c->key;
    }
  }
  return least->key < UINT64_MAX ? least : NULL;
}

static void put_in_order(const Parcel *p) {
  CniContactCache *cache = p->cache;
  uint64_t next;
  cache->count = cache->full_count = 0;
  begin_reading(p);
  for (Cursor *c = whose_turn(p, &next); c; c = whose_turn(p, &next)) {
    for (; c->key < next; c->at++, c->key = key_at(p, c)) {
      int32_t to = cache->count++;
      cache->shorts[to] = p->shorts[c->at];
      cache->linear[to] = p->linear[c->at];
      if (p->angular) cache->angular[to] = p->angular[c->at];
      if (p->keys && p->begins) cache->keys[to] = p->keys[c->at];
      if (c->full == c->in_full || p->full[c->full].at != c->at - c->begin) continue;
      cache->full[cache->full_count] = p->full[c->full++].contact;
      cache->full_at[cache->full_count++] = to;
    }
  }
}

static CnStatus take_room(const CnWorld *world, const Parcel *p) {
  CniContactCache *c = p->cache;
  const CnAllocator *a = &world->allocator;
  int32_t count = (int32_t)p->all.contacts, full = (int32_t)p->all.full;
  CNI_TRY(CNI_RESERVE(a, c->shorts, c->short_capacity, c->count, count + 1));
  CNI_TRY(CNI_RESERVE(a, c->full, c->full_capacity, c->full_count, full));
  CNI_TRY(CNI_RESERVE(a, c->full_at, c->full_at_capacity, c->full_count, full));
  if (p->keys && p->begins) CNI_TRY(CNI_RESERVE(a, c->keys, c->key_capacity, c->count, count));
  return cni_contacts_reserve(c, a, count, c->turning, c->event_count);
}

static CnStatus pass_all(CnWorld *world, Parcel *p) {
  const CniContactCache *cache = p->cache;
  CNI_TRY(CNI_TAKE(p->arena, p->count, p->out));
  CNI_TRY(CNI_TAKE(p->arena, p->count, p->in));
  CNI_TRY(CNI_TAKE(p->arena, p->count + 1, p->out_bytes));
  CNI_TRY(CNI_TAKE(p->arena, p->count + 1, p->in_bytes));
  CNI_TRY(CNI_TAKE(p->arena, p->count, p->cursors));
  CNI_TRY(deal(p, &world->now.model));
  CNI_TRY(agree(p));
  CNI_TRY(pass(p, cache->shorts, sizeof *cache->shorts, &p->shorts));
  CNI_TRY(pass(p, cache->linear, sizeof *cache->linear, &p->linear));
  if (cache->keyed) CNI_TRY(pass(p, cache->keys, sizeof *cache->keys, &p->keys));
  if (cache->turning) CNI_TRY(pass(p, cache->angular, sizeof *cache->angular, &p->angular));
  CNI_TRY(pass_full(p));
  CNI_TRY(take_room(world, p));
  put_in_order(p);
  return CN_OK;
}

CnStatus cni_share_pass(CnWorld *world, const int32_t *begins) {
  CnRanks *ranks = world->now.settings.ranks;
  CniArena *arena = &world->memory.arena;
  Parcel p = {.ranks = ranks,
              .arena = arena,
              .cache = &world->now.contacts,
              .rank = cni_ranks_rank(ranks),
              .count = cni_ranks_count(ranks),
              .begins = begins};
  CniArenaMark mark = cni_arena_mark(arena);
  CnStatus status = pass_all(world, &p);
  cni_arena_back(arena, mark);
  return status;
}
