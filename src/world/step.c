// SPDX-License-Identifier: Apache-2.0
// One step as a transaction: the hook, the integrator, and the way back if anything fails. The
// integrator calls the system (world_system.c), which changes the world in `done` alone; what is
// left to undo is what the before_step hook has set.
#include <string.h>

#include "core/clock.h"
#include "core/error.h"
#include "core/floats.h"
#include "integrator/integrator.h"
#include "world/world.h"

static CnStatus check_masses(const CnWorld *world) {
  const CniModel *model = &world->now.model;
  for (int32_t i = 0; i < model->body_count; i++) {
    if (!cni_model_massless(model, i)) continue;
    char label[CNI_NAME_SIZE + 16];
    cni_model_body_label(model, i, label);
    return cni_error(CN_INVALID_ARGUMENT,
                     "step %lld: %s is dynamic and has no mass: give it one, or a shape with a "
                     "density",
                     (long long)world->now.step + 1, label);
  }
  return CN_OK;
}

// ---- what the hook may set ----

typedef struct Undo {
  CnPose *pose;
  CnTwist *twist, *load;
  CniJoint *joints;
  CniForce *forces;
} Undo;

static int is_to_assemble(const CnWorld *world) {
  return world->now.settings.assemble && world->now.step == 0;
}

static CnStatus remember(CnWorld *world, Undo *undo) {
  const CniModel *model = &world->now.model;
  size_t n = (size_t)model->body_count;
  *undo = (Undo){0};
  if (n == 0 || (!world->hooks.before_step && !is_to_assemble(world))) return CN_OK;
  CNI_TRY(cni_model_loads(&world->now.model)); // the hook may set some
  undo->pose = cni_arena_take(&world->memory.arena, n * sizeof(CnPose));
  undo->twist = cni_arena_take(&world->memory.arena, n * sizeof(CnTwist));
  undo->load = cni_arena_take(&world->memory.arena, n * sizeof(CnTwist));
  if (!undo->pose || !undo->twist || !undo->load) return cni_error_memory(n * sizeof(CnPose));
  memcpy(undo->pose, model->pose, n * sizeof(CnPose));
  memcpy(undo->twist, model->twist, n * sizeof(CnTwist));
  memcpy(undo->load, model->load, n * sizeof(CnTwist));
  size_t joints = (size_t)model->joint_count * sizeof(CniJoint);
  size_t forces = (size_t)model->force_count * sizeof(CniForce);
  undo->joints = cni_arena_take(&world->memory.arena, joints);
  undo->forces = cni_arena_take(&world->memory.arena, forces);
  if (!undo->joints || !undo->forces) return cni_error_memory(joints + forces);
  if (joints) memcpy(undo->joints, model->joints, joints);
  if (forces) memcpy(undo->forces, model->forces, forces);
  return CN_OK;
}

static void roll_back(CnWorld *world, const Undo *undo) {
  CniModel *model = &world->now.model;
  size_t n = (size_t)model->body_count;
  if (!undo->pose) return;
  memcpy(model->pose, undo->pose, n * sizeof(CnPose));
  memcpy(model->twist, undo->twist, n * sizeof(CnTwist));
  memcpy(model->load, undo->load, n * sizeof(CnTwist));
  if (model->joint_count)
    memcpy(model->joints, undo->joints, (size_t)model->joint_count * sizeof(CniJoint));
  if (model->force_count)
    memcpy(model->forces, undo->forces, (size_t)model->force_count * sizeof(CniForce));
}

// ---- a state that left the real numbers ----

static int finite_pose(CnPose p) {
  CnQuat q = p.rotation;
  return cn_vec3_finite(p.position) && isfinite(q.w) && isfinite(q.x) && isfinite(q.y) &&
         isfinite(q.z);
}

// The integrator tells of a number; say which body it belongs to.
static CnStatus name_body(const CnWorld *world) {
  const CniModel *model = &world->now.model;
  const CnAnswer *answer = &world->now.engine.answer;
  double h = world->now.settings.time_step;
  if (answer->velocity_count < 6 * model->body_count) return CN_NOT_FINITE;
  for (int32_t i = 0; i < model->body_count; i++) {
    const double *v = &answer->v[6 * (size_t)i];
    CnTwist twist = {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}};
    int finite = cn_vec3_finite(twist.velocity) && cn_vec3_finite(twist.spin);
    if (finite && finite_pose(cni_advance_pose(model->pose[i], twist, h))) continue;
    char label[CNI_NAME_SIZE + 16];
    cni_model_body_label(model, i, label);
    return cni_error(CN_NOT_FINITE,
                     "step %lld: the state of %s is not finite (velocity %g, %g, %g m/s, spin %g, "
                     "%g, %g rad/s)",
                     (long long)world->now.step + 1, label, v[0], v[1], v[2], v[3], v[4], v[5]);
  }
  return CN_NOT_FINITE;
}

// ---- the step ----

static CnStatus integrate(CnWorld *world, CnSolveReport *solve) {
  CniContents *now = &world->now;
  const CnIntegratorKind *kind = cni_integrator_find(now->settings.integrator);
  world->located_count = 0;
  if (kind && kind->needs_equations) CNI_TRY(cni_equations_prepare(world));
  CnSystem system = cni_system_of(world);
  CnStatus status =
      cn_integrator_step(now->engine.integrator, &system, now->engine.solver, now->time,
                         (const double *)now->model.pose, (const double *)now->model.twist,
                         now->settings.time_step, solve);
  return status == CN_NOT_FINITE && !world->work.equations ? name_body(world) : status;
}

// Next to nothing over next to nothing is no residual: in a world it is relative to no less than what
// gravity adds in the step.
static void relate_residual(const CniSettings *settings, CnSolveReport *solve) {
  CnCertificate *c = &solve->certificate;
  double gained = cn_norm(settings->gravity) * settings->time_step;
  if (solve->converged < 0 || !(gained * c->residual > c->residual_speed)) return;
  c->residual = c->residual_speed / gained;
  if (solve->facets == 0) solve->converged |= c->residual <= settings->solver.tolerance;
}

static CnStatus step(CnWorld *world, CnSolveReport *solve) {
  Undo undo;
  world->now.engine.solved = world->now.engine.groups_named = 0;
  CNI_TRY(check_masses(world));
  if (world->now.model.body_count > INT32_MAX / 8)
    return cni_error(CN_UNSUPPORTED, "a step takes at most %d bodies", INT32_MAX / 8);
  CNI_TRY(cni_step_memory_reset(&world->memory));
  CNI_TRY(remember(world, &undo));
  if (is_to_assemble(world)) CNI_TRY(cni_world_assemble(world, CNI_ASSEMBLED, NULL));
  world->work = (CniStepWork){0};
  if (world->hooks.before_step) {
    world->busy = CNI_BUSY_HOOK;
    world->hooks.before_step(world->hooks.context, world, world->now.time,
                             world->now.settings.time_step);
  }
  world->busy = CNI_BUSY_STEP;
  CnStatus status = integrate(world, solve);
  relate_residual(&world->now.settings, solve);
  if (status != CN_OK) roll_back(world, &undo);
  return status;
}

CnStatus cn_world_step(CnWorld *world, CnStepReport *report) {
  CNI_FLOATS;
  if (report) *report = (CnStepReport){0};
  CNI_TRY(cni_world_open(world, "cn_world_step"));
  double start = cni_seconds();
  CnSolveReport solve = {0};
  CnStatus status = step(world, &solve);
  world->busy = CNI_IDLE;
  CNI_TRY(status);
  if (!report) return CN_OK;
  int32_t contradicting[CN_REPORT_ROWS];
  const CniEngine *engine = &world->now.engine;
  cni_contacts_contradict(engine->problem, engine->answer.g, world->found.first_block,
                          engine->solved ? world->now.contacts.count : 0, &solve, contradicting);
  double collision = world->work.seconds_collision;
  double solver = cn_max(0, cni_seconds() - start - collision);
  CnIntegratorReport integration;
  cn_integrator_report(world->now.engine.integrator, &integration);
  double sweeps = solve.seconds - solve.seconds_setup - solve.seconds_finish;
  *report = (CnStepReport){.step = world->now.step,
                           .time = world->now.time,
                           .contact_count = world->now.contacts.count,
                           .joint_count = world->now.model.joint_count,
                           .solve = solve,
                           .integration = integration,
                           .seconds_collision = collision,
                           .seconds_solver = solver,
                           .seconds_setup = cn_max(0, solver - sweeps),
                           .seconds_assembly = world->work.seconds_assembly,
                           .seconds_end = world->work.seconds_end};
  memcpy(report->contradicting, contradicting, sizeof contradicting);
  return CN_OK;
}
