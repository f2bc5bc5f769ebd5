// SPDX-License-Identifier: Apache-2.0
// Settings changed between steps, and copies of worlds. What makes a step is built anew from the new
// settings beside the old, and takes its place when all of it is there.
#include <cairn/state.h>

#include "core/floats.h"
#include "core/tasks.h"
#include "world/world.h"

typedef struct Machinery {
  CniSettings settings;
  CnTasks *tasks;
  CniCollision *collision;
  CniEngine engine;
} Machinery;

static CnStatus build(Machinery *m, const CnAllocator *a) {
  if (m->settings.worker_count > 1 || m->settings.task_host.run)
    CNI_TRY(cn_tasks_create(m->settings.worker_count, &m->settings.task_host, a, &m->tasks));
  CNI_TRY(cni_collision_create(m->settings.broad_phase, a, &m->collision));
  return cni_engine_create(&m->engine, &m->settings, a, m->tasks);
}

CnStatus cn_world_set_settings(CnWorld *world, const CnWorldDef *def) {
  CNI_FLOATS;
  CNI_TRY(cni_world_open(world, "cn_world_set_settings"));
  CNI_TRY(cni_world_def_check(def));
  Machinery next = {.settings = *def};
  next.settings.allocator = world->now.settings.allocator;
  CNI_TRY(cni_settings_check(&next.settings));
  // contacts may lie in the problem of the last step, which goes: they are written out first
  CNI_TRY(cni_contacts_name(world));
  CnStatus status = build(&next, &world->allocator);
  if (status != CN_OK) {
    cni_collision_destroy(next.collision);
    cn_tasks_destroy(next.tasks);
    return status;
  }
  cni_engine_release(&world->now.engine, &world->allocator);
  cni_collision_destroy(world->collision);
  cn_tasks_destroy(world->tasks);
  world->now.settings = next.settings;
  world->now.engine = next.engine;
  world->collision = next.collision;
  world->tasks = world->now.model.tasks = next.tasks;
  world->hooks = next.settings.hooks;
  world->log = next.settings.log;
  world->balance_known = 0;
  return CN_OK;
}

CnStatus cn_world_copy(const CnWorld *world, CnWorld **copy) {
  CNI_FLOATS;
  size_t size;
  if (!copy) return cni_null_argument("cn_world_copy", "the result pointer");
  *copy = NULL;
  CNI_TRY(cni_world_idle(world, "cn_world_copy"));
  CNI_TRY(cni_share_whole((CnWorld *)(uintptr_t)world)); // nothing that anybody can tell is changed
  CnAllocator allocator = world->meter.inner;
  CnWorldDef def = world->now.settings;
  def.allocator = allocator;
  def.hooks = world->hooks;
  def.log = world->log;
  CNI_TRY(cn_world_save(world, NULL, 0, &size));
  void *data = cni_allocate(&allocator, size);
  if (!data) return cni_error_memory(size);
  CnWorld *made = NULL;
  CnStatus status = cn_world_save(world, data, size, &size);
  if (status == CN_OK) status = cn_world_create(&def, &made);
  if (status == CN_OK) status = cn_world_restore(made, data, size);
  cni_release(&allocator, data, size);
  if (status != CN_OK)
    cn_world_destroy(made);
  else
    *copy = made;
  return status;
}
