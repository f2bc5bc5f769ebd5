// SPDX-License-Identifier: Apache-2.0
// What a rank works with in a step that is shared, and what all are told when it is solved: see share.h.
//
// Groups are those of its own bodies and of the bodies that these touch, in the order of all bodies: what stands
// behind another does so here, too. Velocities are found for these alone. When the step is solved the owner of a body
// tells its velocity to all, and every rank moves all bodies by the same numbers. Positions where impulses
// acted, which contacts of two spheres are computed from when somebody asks, stay with the owners, by the slots of
// the bodies: these may be put in another order.
#include "world/share/share.h"

#include <string.h>

#include "core/error.h"
#include "ranks/ranks.h"
#include "world/world.h"

CnStatus cni_share_subsets(CnWorld *world, CniSubset *bodies, CniSubset *shapes) {
  const CniStepWork *work = &world->work;
  const CniModel *model = &world->now.model;
  CNI_TRY(cni_subset_begin(bodies, &world->memory.arena, model->body_count));
  CNI_TRY(cni_subset_begin(shapes, &world->memory.arena, model->shape_count));
  cni_subset_add_range(bodies, work->share.begin, work->share.end);
  for (int32_t i = 0; i < work->contact_count; i++) {
    const CniContact *c = &work->contacts[i];
    cni_subset_add(bodies, c->body_a);
    cni_subset_add(bodies, c->body_b);
    cni_subset_add(shapes, c->shape_a);
    cni_subset_add(shapes, c->shape_b);
  }
  cni_subset_count(bodies);
  cni_subset_count(shapes);
  return CN_OK;
}

void cni_share_place(CnWorld *world, CnProblem *problem) {
  const CniStepShare *s = &world->work.share;
  problem->part = s->part;
  problem->part_slabs = s->cuts.slabs;
  problem->part_rows = s->cuts.rows;
  problem->of.first = s->first;
  problem->of.count = s->count;
  problem->of.moving = s->moving;
  world->memory.part = s->part;
}

CnStatus cni_share_velocities(CnWorld *world, const CnAnswer *answer, const double **all) {
  const CniStepShare *s = &world->work.share;
  const CnProblem *p = world->now.engine.problem;
  CnRanks *ranks = world->now.settings.ranks;
  CniArena *arena = &world->memory.arena;
  int32_t count = cni_ranks_count(ranks), bodies = world->now.model.body_count, *begins;
  int64_t *start;
  CnTwist *told;
  CNI_TRY(CNI_TAKE(arena, bodies, told));
  CNI_TRY(CNI_TAKE(arena, count + 1, begins));
  CNI_TRY(CNI_TAKE(arena, count + 1, start));
  cni_share_begins(world, begins);
  for (int32_t r = 0; r <= count; r++) start[r] = begins[r] * (int64_t)sizeof *told;
  memset(told, 0, (size_t)bodies * sizeof *told); // what has no mass does not move in such a step
  int32_t own = cni_problem_group_from(p, s->begin);
  if (s->end > s->begin)
    memcpy(told + s->begin, answer->v + 6 * (size_t)own,
           (size_t)(s->end - s->begin) * sizeof *told);
  *all = (const double *)told;
  return cni_ranks_gather(ranks, told, start);
}

// ---- where impulses acted ----

typedef struct Place {
  CnVec3 position;
  int64_t slot;
} Place;

CnStatus cni_share_places(CnWorld *world) {
  CniContactCache *cache = &world->now.contacts;
  const CniModel *model = &world->now.model;
  CniArena *arena = &world->memory.arena;
  CniArenaMark mark = cni_arena_mark(arena);
  Place *own, *all;
  int64_t *start;
  if (!cache->before_spread) return CN_OK;
  CNI_TRY(CNI_TAKE(arena, cache->before_count + 1, own));
  for (int32_t i = 0; i < cache->before_count; i++)
    own[i] = (Place){cache->before[i], cache->before_slots[i]};
  CNI_TRY(cni_share_tell(world, own, cache->before_count, sizeof *own, &start, &all));
  int64_t count = start[cni_ranks_count(world->now.settings.ranks)] / (int64_t)sizeof *all;
  CNI_TRY(CNI_RESERVE(&world->allocator, cache->before, cache->before_capacity, cache->before_count,
                      model->body_count));
  for (int32_t i = 0; i < model->body_count; i++) cache->before[i] = model->pose[i].position;
  for (int64_t i = 0; i < count; i++)
    cache->before[model->body_ids.slots[all[i].slot - 1].index] = all[i].position;
  cache->before_count = model->body_count;
  cache->before_spread = 0;
  cni_arena_back(arena, mark);
  return CN_OK;
}
