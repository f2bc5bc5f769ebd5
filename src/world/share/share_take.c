// SPDX-License-Identifier: Apache-2.0
// The states at the end of a step are taken over: of all bodies; and, of those of this rank if there are several, where
// contacts acted.
#include "world/world.h"

#define BODIES_PER_TASK 1024

typedef struct TakeLoop {
  CniModel *model;
  const CnPose *found; // where contacts acted
  const CnPose *pose;
  const CnTwist *twist;
  CnVec3 *before;  // of the bodies from `first` to the one before `last`; null: nobody will ask
  uint32_t *slots; // likewise; null: they are all bodies
  int32_t first, last;
} TakeLoop;

static void keep_places(const TakeLoop *loop, int32_t begin, int32_t end) {
  if (begin < loop->first) begin = loop->first;
  if (end > loop->last) end = loop->last;
  for (int32_t i = begin; i < end; i++) loop->before[i - loop->first] = loop->found[i].position;
  for (int32_t i = begin; loop->slots && i < end; i++)
    loop->slots[i - loop->first] = loop->model->bodies[i].slot;
}

static void take_states(void *context, int32_t begin, int32_t end) {
  const TakeLoop *loop = context;
  if (loop->before) keep_places(loop, begin, end);
  for (int32_t i = begin; i < end; i++) {
    loop->model->pose[i] = loop->pose[i];
    loop->model->twist[i] = loop->twist[i];
  }
  if (loop->model->load)
    for (int32_t i = begin; i < end; i++)
      loop->model->load[i] = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
}

void cni_share_take(CnWorld *world, const CnPose *acted, const CnPose *pose, const CnTwist *twist) {
  const CniContactCache *kept = &world->now.contacts;
  const CniStepShare *share = &world->work.share;
  int32_t bodies = world->now.model.body_count;
  TakeLoop take = {.model = &world->now.model,
                   .found = acted,
                   .pose = pose,
                   .twist = twist,
                   .before = kept->before_count > 0 ? kept->before : NULL,
                   .slots = share->part ? kept->before_slots : NULL,
                   .first = share->part ? share->begin : 0,
                   .last = share->part ? share->end : bodies};
  cni_parallel_for(world->tasks, bodies, BODIES_PER_TASK, take_states, &take);
}
