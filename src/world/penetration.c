// SPDX-License-Identifier: Apache-2.0
// Overlaps at the present positions: a detection outside a step, which changes nothing.
//
// The filter hook is called on the way. It may look at the world and not change it: the world is busy
// as in a step, and so are its arrays.
#include "core/error.h"
#include "core/floats.h"
#include "world/world.h"

// Deepest overlap of each pair of shapes, from contacts sorted by pair.
static CnPenetration overlaps(const CniContact *contacts, int32_t count) {
  CnPenetration result = {0};
  double sum = 0;
  for (int32_t i = 0; i < count;) {
    uint64_t rank = cni_contact_rank(&contacts[i]);
    double gap = 0;
    for (; i < count && cni_contact_rank(&contacts[i]) == rank; i++)
      gap = cn_min(gap, contacts[i].gap);
    if (!(gap < 0)) continue;
    result.overlap_count++;
    result.max = cn_max(result.max, -gap);
    sum -= gap;
  }
  if (result.overlap_count > 0) result.mean = sum / result.overlap_count;
  return result;
}

CnStatus cn_world_penetration(CnWorld *world, CnPenetration *penetration) {
  CNI_FLOATS;
  if (!penetration) return cni_null_argument("cn_world_penetration", "the result pointer");
  *penetration = (CnPenetration){0};
  CNI_TRY(cni_world_open(world, "cn_world_penetration"));
  CniModel *model = &world->now.model;
  if (model->body_count == 0) return CN_OK;
  CNI_TRY(cni_step_memory_reset(&world->memory));
  size_t bytes = (size_t)model->body_count * sizeof(CnTwist);
  CnTwist *rest = cni_arena_take(&world->memory.arena, bytes);
  if (!rest) return cni_error_memory(bytes);
  for (int32_t i = 0; i < model->body_count; i++) rest[i] = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
  CniCollisionInput input = {.model = model,
                             .pose = model->pose,
                             .twist = rest,
                             .time_step = world->now.settings.time_step,
                             .margin = world->now.settings.contact_margin,
                             .tasks = world->tasks,
                             .arena = &world->memory.arena,
                             .filter = world->hooks.filter ? cni_world_filter : NULL,
                             .filter_context = world};
  const CniContact *contacts;
  int32_t count;
  world->busy = CNI_BUSY_STEP;
  CnStatus status = cni_collision_detect(world->collision, &input, &contacts, &count);
  world->busy = CNI_IDLE;
  CNI_TRY(status);
  *penetration = overlaps(contacts, count);
  return CN_OK;
}
