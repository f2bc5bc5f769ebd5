// SPDX-License-Identifier: Apache-2.0
// The error of a step, by the same step in two halves: both are made in copies of the world.
#include "core/floats.h"
#include "core/math.h"
#include "world/world.h"

// A world of its own with the contents of the snapshot, and functions that it does not hold.
static CnStatus copy_world(const CnWorld *world, const void *data, size_t size, CnWorld **copy) {
  CnWorldDef def = world->now.settings, usual = cn_world_def_default();
  def.size = usual.size;
  def.tag = usual.tag;
  def.hooks = world->hooks;
  def.allocator = world->allocator;
  def.task_host = (CnTaskHost){0};
  def.worker_count = 1;
  CNI_TRY(cn_world_create(&def, copy));
  CnStatus status = cn_world_restore(*copy, data, size);
  for (int32_t i = 0; status == CN_OK && i < world->now.model.force_count; i++) {
    (*copy)->now.model.forces[i].def.function = world->now.model.forces[i].def.function;
    (*copy)->now.model.forces[i].def.context = world->now.model.forces[i].def.context;
  }
  if (status == CN_OK) return CN_OK;
  cn_world_destroy(*copy);
  *copy = NULL;
  return status;
}

static double turn_between(CnQuat a, CnQuat b) {
  CnQuat d = cn_qmul(a, (CnQuat){b.w, -b.x, -b.y, -b.z});
  return 2 * cni_atan2(sqrt(d.x * d.x + d.y * d.y + d.z * d.z), fabs(d.w));
}

// Bodies may stand in another order in the two: they are found by their ids.
static CnStatus compare(const CniModel *a, const CniModel *b, CnStepEstimate *e) {
  for (int32_t i = 0; i < a->body_count; i++) {
    int32_t k;
    CNI_TRY(cni_model_find_body(b, cni_body_id(a, i), &k));
    CnVec3 way = cn_sub(a->pose[i].position, b->pose[k].position);
    CnVec3 velocity = cn_sub(a->twist[i].velocity, b->twist[k].velocity);
    e->position = cn_max(e->position, cn_norm(way));
    e->velocity = cn_max(e->velocity, cn_norm(velocity));
    e->turn = cn_max(e->turn, turn_between(a->pose[i].rotation, b->pose[k].rotation));
    e->spin = cn_max(e->spin, cn_norm(cn_sub(a->twist[i].spin, b->twist[k].spin)));
  }
  return CN_OK;
}

static CnStatus estimate_from(const CnWorld *world, const void *data, size_t size,
                              CnStepEstimate *estimate) {
  CnWorld *whole = NULL, *halves = NULL;
  CnStatus status = copy_world(world, data, size, &whole);
  if (status == CN_OK) status = copy_world(world, data, size, &halves);
  if (status == CN_OK) status = cn_world_step(whole, NULL);
  if (status == CN_OK) status = cn_world_set_time_step(halves, 0.5 * world->now.settings.time_step);
  for (int32_t i = 0; i < 2 && status == CN_OK; i++) status = cn_world_step(halves, NULL);
  if (status == CN_OK) status = compare(&whole->now.model, &halves->now.model, estimate);
  cn_world_destroy(halves);
  cn_world_destroy(whole);
  return status;
}

CnStatus cn_world_estimate(CnWorld *world, CnStepEstimate *estimate) {
  CNI_FLOATS;
  size_t size;
  if (!estimate) return cni_null_argument("cn_world_estimate", "the result pointer");
  *estimate = (CnStepEstimate){0};
  CNI_TRY(cn_world_gather(world));
  CNI_TRY(cn_world_save(world, NULL, 0, &size));
  void *data = cni_allocate(&world->allocator, size);
  if (!data) return cni_error_memory(size);
  CnStepEstimate found = {0};
  CnStatus status = cn_world_save(world, data, size, &size);
  if (status == CN_OK) status = estimate_from(world, data, size, &found);
  cni_release(&world->allocator, data, size);
  if (status == CN_OK) *estimate = found;
  return status;
}
