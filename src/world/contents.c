// SPDX-License-Identifier: Apache-2.0
// The contents of a world: settings, the engine built from them, the model, the contacts. Whole
// contents are built aside and swapped in, so that creating and restoring share their failures.
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "integrator/integrator.h"
#include "world/world.h"

static CnStatus check_positive(const char *what, double value) {
  if (isfinite(value) && value > 0) return CN_OK;
  return cni_error(CN_INVALID_ARGUMENT, "%s must be finite and positive (got %g)", what, value);
}

CnStatus cni_settings_check(const CniSettings *s) {
  CNI_TRY(cni_check_vec3("world: gravity", s->gravity));
  CNI_TRY(check_positive("world: time_step", s->time_step));
  if (!(s->stabilisation > 0 && s->stabilisation <= 1))
    return cni_error(CN_INVALID_ARGUMENT, "world: stabilisation must be in (0, 1] (got %g)",
                     s->stabilisation);
  if (!(s->contact_stabilisation > 0 && s->contact_stabilisation <= 1))
    return cni_error(CN_INVALID_ARGUMENT, "world: contact_stabilisation must be in (0, 1] (got %g)",
                     s->contact_stabilisation);
  CNI_TRY(cni_check_not_negative("world: contact_slop", s->contact_slop));
  CNI_TRY(cni_check_not_negative("world: recovery_speed", s->recovery_speed));
  CNI_TRY(cni_check_not_negative("world: restitution_threshold", s->restitution_threshold));
  CNI_TRY(cni_check_not_negative("world: contact_margin", s->contact_margin));
  if (s->geometric_stiffness != 0 && s->geometric_stiffness != 1)
    return cni_error(CN_INVALID_ARGUMENT, "world: geometric_stiffness must be 0 or 1 (got %d)",
                     (int)s->geometric_stiffness);
  if ((uint32_t)s->friction > CN_FRICTION_CONVEX)
    return cni_error(CN_INVALID_ARGUMENT, "world: friction model %d is none", (int)s->friction);
  return CN_OK;
}

static void engine_release(CniEngine *engine, const CnAllocator *allocator) {
  cni_release(allocator, engine->group_bodies,
              (size_t)engine->group_capacity * sizeof *engine->group_bodies);
  cni_release(allocator, engine->block_joints,
              (size_t)engine->joint_capacity * sizeof *engine->block_joints);
  cn_integrator_destroy(engine->integrator);
  cn_solver_destroy(engine->solver);
  cn_answer_release(&engine->answer);
  cn_problem_destroy(engine->problem);
  *engine = (CniEngine){0};
}

static CnStatus engine_build(CniEngine *engine, CniSettings *settings, const CnAllocator *allocator,
                             CnTasks *tasks) {
  CnProblemDef problem = cn_problem_def_default();
  problem.friction = settings->friction;
  problem.allocator = *allocator;
  CNI_TRY(cn_problem_create(&problem, &engine->problem));
  engine->problem->tasks = tasks;
  settings->solver_def.name = settings->solver;
  settings->solver_def.allocator = *allocator;
  settings->solver_def.tasks = tasks;
  CnStatus status = cn_solver_create(&settings->solver_def, &engine->solver);
  settings->solver_def.name = NULL; // the settings may move
  CNI_TRY(status);
  CnIntegratorDef integrator = settings->integration;
  CnIntegratorDef usual = cn_integrator_def_default(settings->integrator);
  integrator.name = usual.name;
  if (integrator.projection < 0) {
    const CnIntegratorKind *kind = cni_integrator_find(settings->integrator);
    integrator.projection = kind && kind->projects ? 1 : 0;
  }
  integrator.solver = usual.solver;
  integrator.observer = usual.observer;
  integrator.allocator = *allocator;
  return cn_integrator_create(&integrator, &engine->integrator);
}

CnStatus cni_engine_create(CniEngine *engine, CniSettings *settings, const CnAllocator *allocator,
                           CnTasks *tasks) {
  *engine = (CniEngine){.answer = cn_answer_empty(allocator)};
  CnStatus status = engine_build(engine, settings, allocator, tasks);
  if (status != CN_OK) engine_release(engine, allocator);
  return status;
}

CnStatus cni_contents_create(CniContents *contents, const CniSettings *settings,
                             const CnAllocator *allocator, CnTasks *tasks) {
  *contents = (CniContents){.settings = *settings};
  CNI_TRY(cni_settings_check(settings));
  CNI_TRY(cni_engine_create(&contents->engine, &contents->settings, allocator, tasks));
  CnStatus status = cni_model_init(&contents->model, allocator);
  if (status == CN_OK) return CN_OK;
  engine_release(&contents->engine, allocator);
  *contents = (CniContents){0};
  return status;
}

void cni_contents_release(CniContents *contents, const CnAllocator *allocator) {
  cni_contacts_release(&contents->contacts, allocator);
  cni_model_release(&contents->model);
  engine_release(&contents->engine, allocator);
  *contents = (CniContents){0};
}
