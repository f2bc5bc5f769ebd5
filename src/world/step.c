// SPDX-License-Identifier: Apache-2.0
// One step as a transaction: the hook, the integrator, and the way back if anything fails. The
// integrator calls the system (world_system.c), which changes the world in `done` alone; what is
// left to undo is what the before_step hook has set.
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/floats.h"
#include "integrator/integrator.h"
#include "ranks/ranks.h"
#include "world/world.h"

static CnStatus check_masses(const CnWorld *world) {
  const CniModel *model = &world->now.model;
  for (int32_t i = 0; i < model->body_count; i++) {
    if (!cni_model_massless(model, i)) continue;
    char label[CNI_NAME_SIZE + 16];
    cni_model_body_label(model, i, label);
    return cni_invalid("step %lld: %s is dynamic and has no mass: give it one, or a shape with a "
                       "density",
                       (long long)world->now.step + 1, label);
  }
  return CN_OK;
}

// ---- what the hook may set ----

typedef struct Undo {
  struct {
    void *live, *copy;
    size_t bytes;
  } arrays[5];
  int32_t count; // 0: nothing can be set
} Undo;

static int is_to_assemble(const CnWorld *world) {
  return world->now.settings.assemble && world->now.step == 0;
}

static CnStatus remember(CnWorld *world, Undo *undo) {
  CniModel *model = &world->now.model;
  size_t n = (size_t)model->body_count;
  *undo = (Undo){.count = 0};
  if (n == 0 || (!world->hooks.before_step && !is_to_assemble(world))) return CN_OK;
  CNI_TRY(cni_model_loads(model)); // the hook may set some
  *undo = (Undo){{{model->pose, NULL, n * sizeof *model->pose},
                  {model->twist, NULL, n * sizeof *model->twist},
                  {model->load, NULL, n * sizeof *model->load},
                  {model->joints, NULL, (size_t)model->joint_count * sizeof *model->joints},
                  {model->forces, NULL, (size_t)model->force_count * sizeof *model->forces}},
                 5};
  for (int32_t i = 0; i < undo->count; i++) {
    undo->arrays[i].copy = cni_arena_take(&world->memory.arena, undo->arrays[i].bytes);
    if (!undo->arrays[i].copy) return cni_error_memory(undo->arrays[i].bytes);
    if (undo->arrays[i].bytes)
      memcpy(undo->arrays[i].copy, undo->arrays[i].live, undo->arrays[i].bytes);
  }
  return CN_OK;
}

static void roll_back(const Undo *undo) {
  for (int32_t i = 0; i < undo->count; i++)
    if (undo->arrays[i].bytes)
      memcpy(undo->arrays[i].live, undo->arrays[i].copy, undo->arrays[i].bytes);
}

// ---- a state that left the real numbers ----

int cni_pose_finite(const CnPose *p) {
  CnQuat q = p->rotation;
  return cn_vec3_finite(p->position) && isfinite(q.w) && isfinite(q.x) && isfinite(q.y) &&
         isfinite(q.z);
}

int cni_twist_finite(const CnTwist *t) {
  return cn_vec3_finite(t->velocity) && cn_vec3_finite(t->spin);
}

CnStatus cni_world_not_finite(const CnWorld *world, int32_t body, const CnTwist *twist) {
  char label[CNI_NAME_SIZE + 16];
  CnVec3 v = twist->velocity, w = twist->spin;
  cni_model_body_label(&world->now.model, body, label);
  return cni_error(CN_NOT_FINITE,
                   "step %lld: the state of %s is not finite (velocity %g, %g, %g m/s, spin %g, "
                   "%g, %g rad/s)",
                   (long long)world->now.step + 1, label, v.x, v.y, v.z, w.x, w.y, w.z);
}

// The integrator tells of a number; say which body it belongs to.
static CnStatus name_body(const CnWorld *world) {
  const CniModel *model = &world->now.model;
  const CnAnswer *answer = &world->now.engine.answer;
  double h = world->now.settings.time_step;
  const double *all = world->work.told ? world->work.told : answer->v;
  if (world->work.named) return CN_NOT_FINITE;
  if (!world->work.told && answer->velocity_count < 6 * model->body_count) return CN_NOT_FINITE;
  for (int32_t i = 0; i < model->body_count; i++) {
    const double *v = &all[6 * (size_t)i];
    CnTwist twist = {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}};
    CnPose end = cni_advance_pose(model->pose[i], twist, h);
    if (!cni_twist_finite(&twist) || !cni_pose_finite(&end))
      return cni_world_not_finite(world, i, &twist);
  }
  return CN_NOT_FINITE;
}

// Numbers that leave the reals within a scheme are found by a problem, which knows of no step.
static CnStatus name_step(const CnWorld *world, CnStatus status) {
  char message[CNI_MESSAGE_SIZE];
  if (status != CN_INVALID_ARGUMENT) return status;
  snprintf(message, sizeof message, "%s", cn_error_message());
  return cni_error(CN_NOT_FINITE, "%s: step %lld: %s", world->now.settings.integrator,
                   (long long)world->now.step + 1, message);
}

// ---- the step ----

static CnStatus integrate(CnWorld *world, CnSolveReport *solve, int equations) {
  CniContents *now = &world->now;
  world->located_count = 0;
  if (equations) CNI_TRY(cni_equations_prepare(world));
  CnSystem system = cni_system_of(world);
  CniStart start = cni_equations_start(world);
  CnStatus status = cn_integrator_step(now->engine.integrator, &system, now->engine.solver,
                                       now->time / start.time_unit, start.q, start.v,
                                       now->settings.time_step / start.time_unit, solve);
  if (status == CN_NOT_FINITE && !world->work.equations) return name_body(world);
  return world->work.equations ? name_step(world, status) : status;
}

static CnStatus step(CnWorld *world, CnSolveReport *solve, CniWatched *watched) {
  Undo undo;
  world->now.engine.solved = world->now.engine.groups_named = 0;
  world->balance_known = 0;
  CNI_TRY(check_masses(world));
  CNI_TRY(cni_world_rows_finite(world, world->now.model.pose));
  if (world->now.model.body_count > INT32_MAX / 8)
    return cni_error(CN_UNSUPPORTED, "a step takes at most %d bodies", INT32_MAX / 8);
  cni_collision_expect(world->collision, &world->memory.arena);
  CNI_TRY(cni_step_memory_reset(&world->memory));
  CNI_TRY(remember(world, &undo));
  if (is_to_assemble(world)) CNI_TRY(cni_world_assemble(world, CNI_ASSEMBLED, NULL));
  world->work = (CniStepWork){0};
  cni_watch_begin(world, watched);
  if (world->hooks.before_step) {
    world->busy = CNI_BUSY_HOOK;
    world->hooks.before_step(world->hooks.context, world, world->now.time,
                             world->now.settings.time_step);
  }
  world->busy = CNI_BUSY_STEP;
  cni_watch_hooked(world, watched);
  size_t bytes = (size_t)world->now.model.motion_count * sizeof(CnTwist);
  CnTwist *old = bytes ? cni_arena_take(&world->memory.arena, bytes) : NULL;
  if (bytes && !old) {
    roll_back(&undo);
    return cni_error_memory(bytes);
  }
  const CnIntegratorKind *kind = cni_integrator_find(world->now.settings.integrator);
  int equations = kind && kind->needs_equations;
  cni_motions_aim(&world->now.model, world->now.time, equations ? 0 : world->now.settings.time_step,
                  old);
  int32_t taken = 0;
  CnStatus status = cni_world_rows_finite(world, world->now.model.pose);
  if (status == CN_OK && !equations) status = cni_world_tree_step(world, solve, &taken);
  if (status == CN_OK && !taken) status = integrate(world, solve, equations);
  if (status != CN_OK) cni_equations_undo(world);
  if (status != CN_OK) cni_motions_back(&world->now.model, old);
  if (status != CN_OK) roll_back(&undo);
  return status;
}

// Joints that cannot all be where they are to be, or that jam.
static void add_torn(const CnWorld *world, const CniTorn *torn, CnSolveReport *solve) {
  const int32_t *blocks = world->work.joint_blocks;
  for (int32_t i = 0; i < torn->count && i < CN_REPORT_ROWS; i++) {
    int32_t at = solve->infeasible_count + i, link = torn->links[i];
    if (at >= CN_REPORT_ROWS) break;
    int32_t block =
        link >= 0 ? blocks[link] : blocks[0] - world->now.model.coupling_count - 1 - link;
    solve->infeasible_rows[at] = world->now.engine.problem->blocks[block].row;
  }
  if (torn->count > 0) solve->outcome = CN_OUTCOME_INFEASIBLE;
  solve->infeasible_count += torn->count;
}

CnStatus cn_world_step(CnWorld *world, CnStepReport *report) {
  CNI_FLOATS;
  CnStepReport own;
  CnSolveReport *solve = report ? &report->solve : &own.solve;
  if (report) *report = (CnStepReport){0};
  if (!report) *solve = (CnSolveReport){0};
  CNI_TRY(cni_world_idle(world, "cn_world_step"));
  double start = cni_seconds();
  CniWatched watched;
  CnStatus status = step(world, solve, &watched);
  world->busy = CNI_IDLE;
  if (status != CN_OK && report) *report = (CnStepReport){0};
  CNI_TRY(cni_ranks_tell(world->now.settings.ranks, status));
  int32_t contradicting[CN_REPORT_ROWS];
  const CniEngine *engine = &world->now.engine;
  cni_contacts_contradict(engine->problem, engine->answer.g, world->found.first_block,
                          engine->solved == 1 ? world->now.contacts.count : 0, solve,
                          contradicting);
  add_torn(world, &world->work.torn, solve);
  add_torn(world, &world->work.rub.jammed, solve);
  cni_watch_end(world, &watched, solve, contradicting);
  if (!report) return CN_OK;
  double collision = world->work.seconds_collision;
  double solver = cn_max(0, cni_seconds() - start - collision);
  cn_integrator_report(world->now.engine.integrator, &report->integration);
  cni_equations_report(world, &report->integration);
  double sweeps = solve->seconds - solve->seconds_setup - solve->seconds_finish;
  report->step = world->now.step;
  report->time = world->now.time;
  report->contact_count = cni_contacts_total(&world->now.contacts);
  report->joint_count = world->now.model.joint_count;
  report->seconds_collision = collision;
  report->seconds_solver = solver;
  report->seconds_setup = cn_max(0, solver - sweeps);
  report->seconds_assembly = world->work.seconds_assembly;
  report->seconds_end = world->work.seconds_end;
  memcpy(report->contradicting, contradicting, sizeof contradicting);
  return CN_OK;
}
