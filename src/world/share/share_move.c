// SPDX-License-Identifier: Apache-2.0
// The end of a shared step, in which all bodies are moved in their places: see share.h.
//
// The owner of a body knows its velocity. Where nothing but that has to be known of where the step ends (no
// trigger, no overlap that no row knew of) velocities are told into the model itself, and every rank moves
// all bodies by the same numbers: there is no second array of places or velocities. So this comes when all that
// may fail is done, on all ranks: one reduction finds that out. Only the death of a rank can come in between, and the
// others do not go on after that.
#include "world/share/share.h"

#include <string.h>

#include "core/error.h"
#include "ranks/ranks.h"
#include "world/world.h"

#define BODIES_PER_TASK 1024

// The twist of a body that has a group here.
static CnTwist found_twist(const CnAnswer *answer, int32_t group) {
  CnTwist twist;
  memcpy(&twist, answer->v + 6 * (size_t)group, sizeof twist);
  return twist;
}

static CnPose pose_after(const CnWorld *world, int32_t body, CnTwist *twist) {
  const CniModel *model = &world->now.model;
  return cni_world_path(model, body, model->pose[body], world->work.time_step, twist);
}

CnVec3 cni_share_way(const CnWorld *world, const CnAnswer *answer, int32_t body) {
  int32_t group = cni_problem_group_from(world->now.engine.problem, body);
  CnTwist twist = found_twist(answer, group);
  return cn_sub(pose_after(world, body, &twist).position, world->now.model.pose[body].position);
}

// ---- a state that left the real numbers ----

typedef struct Bad {
  int64_t body;
  CnTwist twist;
} Bad;

CnStatus cni_share_finite(CnWorld *world, const CnAnswer *answer) {
  const CniStepShare *s = &world->work.share;
  int32_t group = cni_problem_group_from(world->now.engine.problem, s->begin);
  Bad own = {-1, {CN_VEC3_ZERO, CN_VEC3_ZERO}}, *all;
  for (int32_t i = s->begin; i < s->end && own.body < 0; i++, group++) {
    CnTwist twist = found_twist(answer, group), end = twist;
    CnPose pose = pose_after(world, i, &end);
    if (!cni_twist_finite(&twist) || !cni_twist_finite(&end) || !cni_pose_finite(&pose))
      own = (Bad){i, twist};
  }
  int64_t any = own.body >= 0, *start;
  CNI_TRY(cni_ranks_sum(world->now.settings.ranks, &any, 1));
  if (any == 0) return CN_OK;
  CNI_TRY(cni_share_tell(world, &own, own.body >= 0, sizeof own, &start, &all));
  world->work.named = 1;
  return cni_world_not_finite(world, (int32_t)all[0].body, &all[0].twist);
}

// ---- all bodies ----

static void move_range(void *context, int32_t begin, int32_t end) {
  CnWorld *world = context;
  CniModel *model = &world->now.model;
  for (int32_t i = begin; i < end; i++) {
    if (!cni_has_mass(&model->mass[i])) model->twist[i] = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
    CnTwist twist = model->twist[i];
    model->pose[i] = pose_after(world, i, &twist);
    model->twist[i] = twist;
    if (model->load) model->load[i] = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
  }
}

// Where impulses act, of own bodies.
static void keep_places(CnWorld *world) {
  const CniStepShare *s = &world->work.share;
  const CniModel *model = &world->now.model;
  CniContactCache *cache = &world->now.contacts;
  for (int32_t i = s->begin; i < s->end; i++) {
    cache->before[i - s->begin] = model->pose[i].position;
    cache->before_slots[i - s->begin] = model->bodies[i].slot;
  }
}

CnStatus cni_share_move(CnWorld *world, const CnAnswer *answer) {
  const CniStepShare *s = &world->work.share;
  CnRanks *ranks = world->now.settings.ranks;
  CniArena *arena = &world->memory.arena;
  int32_t count = cni_ranks_count(ranks), *begins;
  int32_t group = cni_problem_group_from(world->now.engine.problem, s->begin);
  int64_t *start, all_are_here = 1;
  CnTwist *twists = world->now.model.twist;
  CNI_TRY(CNI_TAKE(arena, count + 1, begins));
  CNI_TRY(CNI_TAKE(arena, count + 1, start));
  cni_share_begins(world, begins);
  for (int32_t r = 0; r <= count; r++) start[r] = begins[r] * (int64_t)sizeof *twists;
  CNI_TRY(cni_ranks_sum(ranks, &all_are_here, 1));
  keep_places(world);
  for (int32_t i = s->begin; i < s->end; i++, group++) twists[i] = found_twist(answer, group);
  CNI_TRY(cni_ranks_gather(ranks, twists, start));
  cni_parallel_for(world->tasks, world->now.model.body_count, BODIES_PER_TASK, move_range, world);
  return CN_OK;
}
