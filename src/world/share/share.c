// SPDX-License-Identifier: Apache-2.0
// Whose contacts are whose, and whether a step can be shared: see share.h.
//
// What decides is counted over all ranks in whole numbers, and the rules are those of one process
// (cni_cuts_fit): so the columns are the same. Steps that look at contacts of others before they are solved are
// not shared: mechanisms, hooks that see contacts, few bodies that bounce, overlaps that are held from two sides.
#include "world/share/share.h"

#include <string.h>

#include "core/error.h"
#include "ranks/ranks.h"
#include "world/world.h"

// Where a body lies among the places from the first with mass to the last, cut into so many stretches.
static int32_t stretch_of(const CniStepShare *s, int32_t body, int32_t stretches) {
  return (int32_t)((int64_t)(body - s->first) * stretches / s->count);
}

// The first body of a slab.
static int32_t slab_begin(const CniStepShare *s, int32_t slab) {
  return s->first + (int32_t)(((int64_t)slab * s->count + s->cuts.slabs - 1) / s->cuts.slabs);
}

void cni_share_begins(const CnWorld *world, int32_t *begins) {
  const CniStepShare *s = &world->work.share;
  int32_t ranks = cni_ranks_count(world->now.settings.ranks);
  for (int32_t r = 0; r <= ranks; r++)
    begins[r] = slab_begin(s, cni_part_first_slab(s->cuts.slabs, ranks, r));
}

static int may_bounce(const CniModel *model) {
  for (int32_t i = 0; i < model->material_count; i++)
    if (model->materials[i].def.restitution > 0) return 1;
  for (int32_t i = 0; i < model->law_count; i++)
    if (model->laws[i].law.restitution > 0) return 1;
  return 0;
}

static int may_stick(const CniModel *model) {
  for (int32_t i = 0; i < model->material_count; i++)
    if (model->materials[i].def.cohesion > 0) return 1;
  for (int32_t i = 0; i < model->law_count; i++)
    if (model->laws[i].law.cohesion > 0) return 1;
  return 0;
}

static int is_plain(const CnWorld *world) {
  const CniSettings *settings = &world->now.settings;
  const CniModel *model = &world->now.model;
  if (cni_ranks_count(settings->ranks) == 1 || settings->balance) return 0;
  if (strcmp(settings->solver.name, "psor") != 0 && strcmp(settings->solver.name, "pssor") != 0)
    return 0;
  if (model->joint_count + model->coupling_count + model->force_count + model->motion_count > 0)
    return 0;
  return !world->hooks.filter && !world->hooks.modify && !may_stick(model);
}

void cni_share_begin(CnWorld *world) {
  const CniModel *model = &world->now.model;
  CniStepShare *s = &world->work.share;
  *s = (CniStepShare){.first = -1};
  if (!is_plain(world)) return;
  int32_t moving = 0, last = -1;
  for (int32_t i = 0; i < model->body_count; i++) {
    const CniBody *body = &model->bodies[i];
    if (body->kind == CN_BODY_KINEMATIC || body->continuous) return;
    if (!cni_has_mass(&model->mass[i])) continue;
    if (s->first < 0) s->first = i;
    last = i;
    moving++;
  }
  s->moving = moving;
  s->bounces = may_bounce(model);
  s->cuts = cni_cuts_aim(moving);
  s->count = last + 1 - s->first;
  if (s->cuts.slabs < 4 || (s->bounces && moving <= CNI_FEW_BOUNCES)) return;
  int32_t ranks = cni_ranks_count(world->now.settings.ranks);
  int32_t rank = cni_ranks_rank(world->now.settings.ranks);
  s->begin = slab_begin(s, cni_part_first_slab(s->cuts.slabs, ranks, rank));
  s->end = slab_begin(s, cni_part_first_slab(s->cuts.slabs, ranks, rank + 1));
  s->asked = 1;
}

// ---- counts ----

enum { ALL, BOUNCING, DEEP, REST, REST_OF_SLABS, ACROSS, COLUMNS };

// Of contacts: in each column, then in each slab.
typedef struct Survey {
  const CnWorld *world;
  const CniStepShare *share;
  double slop; // m, 0: by the sizes
  int64_t *counts;
  CniCuts cuts; // that are asked about
} Survey;

// The slab and row of a contact's end; of one without mass those of the other.
static CniCuts place_of(const Survey *v, int32_t body, int32_t other) {
  const CniStepShare *s = v->share;
  if (!cni_has_mass(&v->world->now.model.mass[body])) body = other;
  int32_t stretch = stretch_of(s, body, s->cuts.slabs * s->cuts.rows);
  return (CniCuts){stretch / s->cuts.rows, stretch % s->cuts.rows};
}

// Where both ends of a contact lie, and the lower slab and row of them.
typedef struct Ends {
  CniCuts a, b, lower;
} Ends;

static Ends ends_of(const Survey *v, const CniContact *c) {
  Ends e = {.a = place_of(v, c->body_a, c->body_b), .b = place_of(v, c->body_b, c->body_a)};
  e.lower.slabs = e.a.slabs < e.b.slabs ? e.a.slabs : e.b.slabs;
  e.lower.rows = e.a.rows < e.b.rows ? e.a.rows : e.b.rows;
  return e;
}

static int fits(const Ends *e, int32_t rows) {
  int32_t slabs = e->a.slabs + e->b.slabs - 2 * e->lower.slabs;
  int32_t across = e->a.rows + e->b.rows - 2 * e->lower.rows;
  return slabs <= 1 && (rows == 1 || across <= 1);
}

// Is the overlap deeper than the slop?
static int is_deep(const Survey *v, const CniContact *c) {
  const CniShape *shapes = v->world->now.model.shapes;
  if (!(c->gap < 0)) return 0;
  double slop = v->slop > 0 ? v->slop
                            : CNI_SLOP * cn_min(cni_model_inradius(&shapes[c->shape_a]),
                                                cni_model_inradius(&shapes[c->shape_b]));
  return c->gap < -slop;
}

static void count_contact(const Survey *v, const CniContact *c) {
  const CniModel *model = &v->world->now.model;
  const CniStepShare *s = v->share;
  int32_t columns = s->cuts.slabs * s->cuts.rows;
  const Ends e = ends_of(v, c);
  v->counts[ALL]++;
  if (s->bounces) {
    const CniShape *a = &model->shapes[c->shape_a], *b = &model->shapes[c->shape_b];
    v->counts[BOUNCING] += cni_model_law(model, a->material, b->material).restitution > 0;
  }
  v->counts[DEEP] += is_deep(v, c);
  if (fits(&e, s->cuts.rows))
    v->counts[COLUMNS + e.lower.slabs * s->cuts.rows + e.lower.rows]++;
  else
    v->counts[REST]++;
  v->counts[ACROSS] += s->cuts.rows > 1 && e.a.rows != e.b.rows;
  if (fits(&e, 1))
    v->counts[COLUMNS + columns + e.lower.slabs]++;
  else
    v->counts[REST_OF_SLABS]++;
}

static int64_t blocks_in(const void *context, int32_t i) {
  const Survey *v = context;
  int32_t count = v->cuts.slabs * v->cuts.rows, all = v->share->cuts.slabs * v->share->cuts.rows;
  int joined = v->cuts.rows < v->share->cuts.rows;
  if (i == count) return v->counts[joined ? REST_OF_SLABS : REST];
  return i > count ? v->counts[ACROSS] : v->counts[COLUMNS + (joined ? all : 0) + i];
}

// Columns, or slabs of one row, or neither: then the walk over all bodies decides.
static int choose_cuts(Survey *v) {
  int64_t all = v->counts[ALL];
  v->cuts = v->share->cuts;
  if (cni_cuts_fit(v->cuts, all, blocks_in, v)) return 1;
  if (v->cuts.rows == 1) return 0;
  v->cuts.rows = 1;
  return cni_cuts_fit(v->cuts, all, blocks_in, v);
}

// ---- contacts of all ranks ----

typedef struct List {
  const CniContact *at, *end;
} List;

static int comes_before(const CniContact *a, const CniContact *b) {
  uint64_t x = cni_contact_rank(a), y = cni_contact_rank(b);
  return x < y || (x == y && a->feature < b->feature);
}

// Lists that ascend to one that does; the answer is its end.
static CniContact *merge(List *lists, int32_t count, CniContact *to) {
  for (;;) {
    List *least = NULL;
    const CniContact *next = NULL; // of the others
    for (int32_t i = 0; i < count; i++) {
      if (lists[i].at == lists[i].end) continue;
      if (!least || comes_before(lists[i].at, least->at)) {
        if (least) next = least->at;
        least = &lists[i];
      } else if (!next || comes_before(lists[i].at, next)) {
        next = lists[i].at;
      }
    }
    if (!least) return to;
    do *to++ = *least->at++;
    while (least->at < least->end && (!next || comes_before(least->at, next)));
  }
}

CnStatus cni_share_merge(CnWorld *world, const CniContact *all, const int64_t *start,
                         CniContact *to) {
  int32_t count = cni_ranks_count(world->now.settings.ranks);
  int64_t one = sizeof *all;
  List *lists;
  CNI_TRY(CNI_TAKE(&world->memory.arena, count, lists));
  for (int32_t r = 0; r < count; r++)
    lists[r] = (List){all + start[r] / one, all + start[r + 1] / one};
  merge(lists, count, to);
  return CN_OK;
}

// Which contacts go to all.
typedef enum Choice { EVERY_ONE, THE_REST, THE_DEEP } Choice;

static int is_chosen(const Survey *v, const CniContact *c, Choice choice) {
  if (choice == EVERY_ONE) return 1;
  if (choice == THE_DEEP) return is_deep(v, c);
  const Ends e = ends_of(v, c);
  return !fits(&e, v->cuts.rows);
}

// Chosen ones of all ranks, rank by rank; start: where those of each begin, in bytes.
static CnStatus gather_chosen(CnWorld *world, const Survey *v, Choice choice, CniContact **gathered,
                              int64_t **start) {
  const CniStepWork *work = &world->work;
  CnRanks *ranks = world->now.settings.ranks;
  CniArena *arena = &world->memory.arena;
  int32_t rank = cni_ranks_rank(ranks), count = cni_ranks_count(ranks);
  int64_t *counts, one = sizeof **gathered;
  CNI_TRY(CNI_TAKE(arena, count + 1, *start));
  CNI_TRY(CNI_TAKE(arena, count, counts));
  counts[rank] = 0;
  for (int32_t i = 0; i < work->contact_count; i++)
    counts[rank] += is_chosen(v, &work->contacts[i], choice);
  for (int32_t r = 0; r <= count; r++) (*start)[r] = r * (int64_t)sizeof *counts;
  CNI_TRY(cni_ranks_gather(ranks, counts, *start));
  (*start)[0] = 0;
  for (int32_t r = 0; r < count; r++) (*start)[r + 1] = (*start)[r] + counts[r] * one;
  if ((*start)[count] / one + work->contact_count > INT32_MAX)
    return cni_error(CN_NO_MEMORY, "more than %d contacts", INT32_MAX);
  CNI_TRY(CNI_TAKE(arena, (*start)[count] / one + 1, *gathered));
  CniContact *to = *gathered + (*start)[rank] / one;
  for (int32_t i = 0; i < work->contact_count; i++)
    if (is_chosen(v, &work->contacts[i], choice)) *to++ = work->contacts[i];
  return cni_ranks_gather(ranks, *gathered, *start);
}

// Chosen contacts of all ranks, and the others of this one, in their order.
static CnStatus take_contacts(CnWorld *world, const Survey *v, Choice choice) {
  CniStepWork *work = &world->work;
  CniArena *arena = &world->memory.arena;
  int32_t count = cni_ranks_count(world->now.settings.ranks), stay = 0;
  int64_t *start, one = sizeof(CniContact);
  List *lists;
  CniContact *gathered, *own, *merged;
  CNI_TRY(gather_chosen(world, v, choice, &gathered, &start));
  CNI_TRY(CNI_TAKE(arena, count + 1, lists));
  if (choice != EVERY_ONE) stay = work->contact_count;
  CNI_TRY(CNI_TAKE(arena, stay + 1, own));
  CNI_TRY(CNI_TAKE(arena, start[count] / one + stay + 1, merged));
  stay = 0;
  for (int32_t i = 0; i < work->contact_count; i++)
    if (!is_chosen(v, &work->contacts[i], choice)) own[stay++] = work->contacts[i];
  for (int32_t r = 0; r < count; r++)
    lists[r] = (List){gathered + start[r] / one, gathered + start[r + 1] / one};
  lists[count] = (List){own, own + stay};
  work->contact_count = (int32_t)(merge(lists, count + 1, merged) - merged);
  work->contacts = merged;
  return CN_OK;
}

// Overlaps that hang together may be held from two sides by contacts of several ranks.
static CnStatus any_squeezed(CnWorld *world, const Survey *v, int *any) {
  CniArena *arena = &world->memory.arena;
  CniArenaMark mark = cni_arena_mark(arena);
  CniContact *deep;
  int64_t *start;
  *any = 0;
  if (v->counts[DEEP] == 0) return CN_OK;
  CNI_TRY(gather_chosen(world, v, THE_DEEP, &deep, &start));
  int32_t count = cni_ranks_count(world->now.settings.ranks);
  CNI_TRY(cni_squeeze_any(&world->now.model, deep, (int32_t)(start[count] / (int64_t)sizeof *deep),
                          arena, any));
  cni_arena_back(arena, mark);
  return CN_OK;
}

CnStatus cni_share_agree(CnWorld *world) {
  CniStepWork *work = &world->work;
  CniStepShare *s = &work->share;
  if (!s->asked) return CN_OK;
  s->asked = 0;
  CnRanks *ranks = world->now.settings.ranks;
  Survey v = {.world = world, .share = s, .slop = world->now.settings.contact_slop};
  int32_t count = COLUMNS + s->cuts.slabs * s->cuts.rows + s->cuts.slabs;
  CNI_TRY(CNI_TAKE(&world->memory.arena, count, v.counts));
  memset(v.counts, 0, (size_t)count * sizeof *v.counts);
  for (int32_t i = 0; i < work->contact_count; i++) count_contact(&v, &work->contacts[i]);
  CNI_TRY(cni_ranks_sum(ranks, v.counts, count));
  int squeezed;
  int64_t bouncing = v.counts[BOUNCING];
  s->part = choose_cuts(&v) && (bouncing == 0 || bouncing > CNI_FEW_BOUNCES);
  if (s->part) {
    CNI_TRY(any_squeezed(world, &v, &squeezed));
    s->part = !squeezed;
  }
  if (!s->part) return take_contacts(world, &v, EVERY_ONE);
  int64_t rest = v.counts[v.cuts.rows < s->cuts.rows ? REST_OF_SLABS : REST];
  if (rest > 0) CNI_TRY(take_contacts(world, &v, THE_REST));
  s->rest = rest > 0;
  s->cuts = v.cuts;
  return CN_OK;
}
