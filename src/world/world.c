// SPDX-License-Identifier: Apache-2.0
// Worlds: create and destroy, settings and clock, sums over all bodies, the hash of the state.
//
// A world is made whole or not at all: the definition is checked first, what can fail is built
// next, and only then the caller gets it. While it steps it is busy, and calls that would change it
// answer CN_BUSY, but for those that a hook may make. The hash goes over poses and twists by the
// slots of the ids, not by memory, so that it does not tell in which order bodies lie.
#include <stdio.h>
#include <string.h>

#include "core/floats.h"
#include "core/hash.h"
#include "core/tasks.h"
#include "integrator/integrator.h"
#include "sparse/sparse.h"
#include "world/world.h"

#define WORLD_TAG 0x6c647277u

CnWorldDef cn_world_def_default(void) {
  CnWorldDef def = {.integration = cn_integrator_def_default("impulse"),
                    .solver = cn_solver_def_default("auto"),
                    .allocator = cn_allocator_default(),
                    .size = sizeof def,
                    .tag = WORLD_TAG};
  cni_fields_default(cni_world_fields, &def);
  cni_fields_default(cni_integrator_fields, &def.integration);
  def.solver.name = cni_unnamed_solver;
  return def;
}

// ---- doors ----

CnStatus cni_null_argument(const char *call, const char *what) {
  return cni_invalid("%s: %s is null", call, what);
}

CnStatus cni_world_idle(const CnWorld *world, const char *call) {
  if (!world) return cni_null_argument(call, "the world");
  if (world->busy != CNI_IDLE)
    return cni_error(CN_BUSY, "%s: the world is inside step %lld", call,
                     (long long)world->now.step + 1);
  return cni_world_uncalled(world, call);
}

CnStatus cni_world_open(CnWorld *world, const char *call) {
  CNI_TRY(cni_world_idle(world, call));
  return cni_world_tree_problem(world);
}

CnStatus cni_world_open_in_hook(CnWorld *world, const char *call) {
  if (world && world->busy == CNI_BUSY_HOOK) return cni_world_uncalled(world, call);
  return cni_world_open(world, call);
}

// ---- creation ----

CnStatus cni_world_def_check(const CnWorldDef *def) {
  CNI_TRY(cni_def_check("world", def, sizeof *def, WORLD_TAG));
  if (!def->allocator.allocate || !def->allocator.release)
    return cni_invalid("world: the allocator lacks a function");
  CniSettings copy = *def;
  return cni_settings_check(&copy);
}

static CnStatus build(CnWorld *world, const CnWorldDef *def) {
  const CnAllocator *a = &world->allocator;
  if (def->worker_count > 1 || def->task_host.run)
    CNI_TRY(cn_tasks_create(def->worker_count, &def->task_host, a, &world->tasks));
  CNI_TRY(cni_collision_create(def->broad_phase, a, &world->collision));
  return cni_contents_create(&world->now, def, a, world->tasks);
}

CnStatus cn_world_create(const CnWorldDef *def, CnWorld **result) {
  CNI_FLOATS;
  if (!result) return cni_null_argument("cn_world_create", "the result pointer");
  *result = NULL;
  CNI_TRY(cni_world_def_check(def));
  CnWorld *world = cni_allocate(&def->allocator, sizeof *world);
  if (!world) return cni_error_memory(sizeof *world);
  *world = (CnWorld){.hooks = def->hooks, .log = def->log, .meter = {.inner = def->allocator}};
  world->meter.bytes = world->meter.peak_bytes = sizeof *world;
  world->allocator = cni_meter_allocator(&world->meter);
  cni_step_memory_init(&world->memory, &world->allocator);
  CnStatus status = build(world, def);
  if (status != CN_OK) {
    cn_world_destroy(world);
    return status;
  }
  *result = world;
  return CN_OK;
}

void cn_world_destroy(CnWorld *world) {
  if (!world) return;
  if (cni_world_idle(world, "cn_world_destroy") != CN_OK) {
    cni_log(&world->log, CN_LOG_WARNING, "cn_world_destroy inside a step is ignored");
    return;
  }
  // contents that were never created have no allocator, and nothing to release
  if (world->now.model.allocator.release) cni_contents_release(&world->now, &world->allocator);
  cni_step_memory_release(&world->memory);
  CNI_RELEASE(&world->allocator, world->located, world->located_capacity);
  cni_step_contacts_release(&world->found, &world->allocator);
  cni_touch_release(&world->touch, &world->allocator);
  cni_direct_destroy(world->direct);
  cni_tree_destroy(world->tree);
  cni_collision_destroy(world->collision);
  cn_tasks_destroy(world->tasks);
  CnAllocator allocator = world->meter.inner;
  cni_release(&allocator, world, sizeof *world);
}

void cn_world_located_events(const CnWorld *world, const CnLocatedEvent **events, int32_t *count) {
  if (events) *events = world ? world->located : NULL;
  if (count) *count = world ? world->located_count : 0;
}

// ---- settings and clock ----

CnStatus cn_world_set_time_step(CnWorld *world, double time_step) {
  CNI_FLOATS;
  CNI_TRY(cni_world_open(world, "cn_world_set_time_step"));
  CniSettings settings = world->now.settings;
  settings.time_step = time_step;
  CNI_TRY(cni_settings_check(&settings));
  world->now.settings.time_step = time_step;
  return CN_OK;
}

CnStatus cn_world_set_gravity(CnWorld *world, CnVec3 gravity) {
  CNI_FLOATS;
  CNI_TRY(cni_world_open(world, "cn_world_set_gravity"));
  CNI_TRY(cni_check_vec3("cn_world_set_gravity: gravity", gravity));
  world->now.settings.gravity = gravity;
  return CN_OK;
}

CnStatus cn_world_settings(const CnWorld *world, CnWorldDef *def) {
  CNI_FLOATS;
  if (!def) return cni_null_argument("cn_world_settings", "the definition");
  if (world) { // asked in every step by sensors and runs
    *def = world->now.settings;
    return CN_OK;
  }
  *def = cn_world_def_default();
  return cni_null_argument("cn_world_settings", "the world");
}

void cn_world_info(const CnWorld *world, CnWorldInfo *info) {
  if (!info) return;
  *info = (CnWorldInfo){0};
  if (!world) return;
  const CniContents *now = &world->now;
  *info = (CnWorldInfo){.gravity = now->settings.gravity,
                        .time_step = now->settings.time_step,
                        .time = now->time,
                        .step = now->step,
                        .body_count = now->model.body_count,
                        .shape_count = now->model.shape_count,
                        .joint_count = now->model.joint_count,
                        .force_count = now->model.force_count,
                        .material_count = now->model.material_count - 1,
                        .contact_count = cni_contacts_total(&now->contacts),
                        .memory_bytes = world->meter.bytes,
                        .memory_peak_bytes = world->meter.peak_bytes};
}

// ---- sums ----

static void add_body(const CnWorld *world, int32_t i, CnWorldSums *sums) {
  const CniModel *model = &world->now.model;
  const CniBodyMass *m = &model->mass[i];
  CnVec3 x = model->pose[i].position, v = model->twist[i].velocity, w = model->twist[i].spin;
  CnVec3 p = cn_scale(m->mass, v);
  CnVec3 l = cn_smul(cni_model_inertia(model, i, model->pose[i].rotation), w);
  sums->kinetic_energy += 0.5 * cn_dot(p, v) + 0.5 * cn_dot(l, w);
  sums->potential_energy -= m->mass * cn_dot(world->now.settings.gravity, x);
  sums->momentum = cn_add(sums->momentum, p);
  sums->angular_momentum = cn_add(sums->angular_momentum, cn_add(cn_cross(x, p), l));
  sums->mass += m->mass;
}

static void add_sums(const CnWorldSums *part, CnWorldSums *sums) {
  sums->kinetic_energy += part->kinetic_energy;
  sums->potential_energy += part->potential_energy;
  sums->momentum = cn_add(sums->momentum, part->momentum);
  sums->angular_momentum = cn_add(sums->angular_momentum, part->angular_momentum);
  sums->mass += part->mass;
}

// Column by column (world/order.c), then over the columns: sums that do not tell who made them, as
// long as nobody splits a column.
void cn_world_sums(const CnWorld *world, CnWorldSums *sums) {
  CNI_FLOATS;
  if (!sums) return;
  *sums = (CnWorldSums){0};
  if (!world) return;
  const CniModel *model = &world->now.model;
  int64_t moving = 0, seen = 0;
  for (int32_t i = 0; i < model->body_count; i++) moving += cni_has_mass(&model->mass[i]);
  CniCuts cuts = cni_cuts_aim((int32_t)moving);
  int64_t count = (int64_t)cuts.slabs * cuts.rows, column = 0;
  CnWorldSums part = {0};
  for (int32_t i = 0; i < model->body_count; i++) {
    if (!cni_has_mass(&model->mass[i])) continue;
    if (seen * count / moving > column) {
      add_sums(&part, sums);
      part = (CnWorldSums){0};
      column = seen * count / moving;
    }
    add_body(world, i, &part);
    seen++;
  }
  add_sums(&part, sums);
}

// The sum of a hash of each body: its slot and its state. The order of the sum does not matter.
uint64_t cn_world_hash(const CnWorld *world) {
  uint64_t sum = CNI_HASH_START;
  if (!world) return sum;
  const CniModel *model = &world->now.model;
  for (int32_t i = 0; i < model->body_count; i++) {
    uint64_t hash = cni_hash_u64(CNI_HASH_START, model->bodies[i].slot);
    hash = cni_hash_doubles(hash, (const double *)&model->pose[i], 7);
    sum += cni_hash_doubles(hash, (const double *)&model->twist[i], 6);
  }
  return sum;
}
