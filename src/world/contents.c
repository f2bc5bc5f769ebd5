// SPDX-License-Identifier: Apache-2.0
// The contents of a world: settings, the engine built from them, the model, the contacts. Whole
// contents are built aside and swapped in, so that creating and restoring share their failures.
#include "integrator/integrator.h"
#include "solver/solver.h"
#include "world/world.h"

void cni_engine_release(CniEngine *engine, const CnAllocator *allocator) {
  CNI_RELEASE(allocator, engine->group_bodies, engine->group_capacity);
  CNI_RELEASE(allocator, engine->block_joints, engine->joint_capacity);
  cn_integrator_destroy(engine->integrator);
  cn_solver_destroy(engine->solver);
  cn_answer_release(&engine->answer);
  cn_problem_destroy(engine->problem);
  *engine = (CniEngine){0};
}

static CnStatus engine_build(CniEngine *engine, const CniSettings *settings,
                             const CnAllocator *allocator, CnTasks *tasks) {
  CnProblemDef problem = cn_problem_def_default();
  problem.friction = settings->friction;
  problem.allocator = *allocator;
  CNI_TRY(cn_problem_create(&problem, &engine->problem));
  engine->problem->tasks = tasks;
  engine->problem->ranks = settings->ranks;
  CnSolverDef solver = settings->solver;
  solver.allocator = *allocator;
  solver.tasks = tasks;
  CNI_TRY(cn_solver_create(&solver, &engine->solver));
  CnIntegratorDef integrator = settings->integration;
  CnIntegratorDef usual = cn_integrator_def_default(settings->integrator);
  integrator.name = usual.name;
  integrator.solver = usual.solver;
  integrator.observer = usual.observer;
  integrator.allocator = *allocator;
  CNI_TRY(cn_integrator_create(&integrator, &engine->integrator));
  _Static_assert((int)CN_RESTITUTION_POISSON == (int)CNI_OF_IMPULSES &&
                     (int)CN_RESTITUTION_ENERGETIC == (int)CNI_OF_WORK,
                 "the same laws");
  cni_integrator_restitution(engine->integrator, (CniRestitution)settings->restitution_law);
  return CN_OK;
}

CnStatus cni_engine_create(CniEngine *engine, const CniSettings *settings,
                           const CnAllocator *allocator, CnTasks *tasks) {
  *engine = (CniEngine){.answer = cn_answer_empty(allocator)};
  CnStatus status = engine_build(engine, settings, allocator, tasks);
  if (status != CN_OK) cni_engine_release(engine, allocator);
  return status;
}

CnStatus cni_contents_create(CniContents *contents, const CniSettings *settings,
                             const CnAllocator *allocator, CnTasks *tasks) {
  *contents = (CniContents){.settings = *settings};
  CNI_TRY(cni_settings_check(&contents->settings));
  CNI_TRY(cni_engine_create(&contents->engine, &contents->settings, allocator, tasks));
  CnStatus status = cni_model_init(&contents->model, allocator);
  contents->model.tasks = tasks;
  if (status == CN_OK) return CN_OK;
  cni_engine_release(&contents->engine, allocator);
  *contents = (CniContents){0};
  return status;
}

void cni_contents_release(CniContents *contents, const CnAllocator *allocator) {
  cni_contacts_release(&contents->contacts, allocator);
  cni_model_release(&contents->model);
  cni_engine_release(&contents->engine, allocator);
  *contents = (CniContents){0};
}
