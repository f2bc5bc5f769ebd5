// SPDX-License-Identifier: Apache-2.0
// The step of a world that is nothing but a machine of hinges: bodies without shapes, under gravity and
// loads, joints that lock, motors that give efforts, limits that are far. assembly/tree makes it in one go; here is when that is
// asked, what the world keeps of it, and the step problem that it would have solved, which is made only
// where somebody wants to see it.
#include <string.h>

#include "core/clock.h"
#include "solver/solver.h"
#include "world/world.h"

static int is_sweeping(const char *solver) {
  return strcmp(solver, "psor") == 0 || strcmp(solver, "pssor") == 0 || strcmp(solver, "auto") == 0;
}

// Nothing but gravity and joints, and nobody who looks at contacts or at parts of the step.
static int is_machine(const CnWorld *world) {
  const CniContents *now = &world->now;
  const CniModel *m = &now->model;
  if (m->joint_count == 0 || m->shape_count > 0 || m->force_count > 0 || m->coupling_count > 0 ||
      m->motion_count > 0 || world->hooks.force || now->settings.balance ||
      now->contacts.count > 0 || now->contacts.before_count > 0 || now->contacts.before_spread ||
      now->contacts.inside_count > 0 || !is_sweeping(now->settings.solver.name))
    return 0;
  return 1;
}

// Does nothing act that was not there in the step before? Then drift and kick may change places.
static int is_steady(const CnWorld *world) {
  const CniModel *m = &world->now.model;
  if (world->hooks.before_step) return 0;
  for (int32_t i = 0; m->load && i < m->body_count; i++)
    if (!cni_is_zero(m->load[i].velocity) || !cni_is_zero(m->load[i].spin)) return 0;
  return 1;
}

static void tell(const CnWorld *world, const CniTreeStep *step, double seconds,
                 CnSolveReport *solve) {
  const CnSolverDef *def = &world->now.settings.solver;
  *solve = (CnSolveReport){.solver = def->name,
                           .method = "tree",
                           .friction = world->now.engine.problem->friction,
                           .iterations = 1,
                           .attempts = 1,
                           .outcome = CN_OUTCOME_FINISHED,
                           .seconds = seconds,
                           .certificate = step->certificate};
  solve->converged = step->certificate.residual <= cn_solver_tolerance(def);
  for (int32_t i = 0; i < CN_REPORT_ROWS; i++) solve->infeasible_rows[i] = -1;
}

static void note_open(CnWorld *world, const CniTreeStep *step, CniFinding *open) {
  *open = (CniFinding){0};
  world->work.open = open;
  if (step->worst < 0) return;
  double relative = step->open_size > 0 ? step->way / step->open_size : 0;
  *open = (CniFinding){.value = relative >= step->turn ? step->way : step->turn,
                       .relative = cn_max(relative, step->turn),
                       .turns = relative < step->turn,
                       .whose = {.joint = cni_joint_id(&world->now.model, step->worst)}};
}

static CniTreeInput input_of(const CnWorld *world) {
  const CniSettings *settings = &world->now.settings;
  return (CniTreeInput){.model = &world->now.model,
                        .gravity = settings->gravity,
                        .time = world->now.time,
                        .time_step = settings->time_step,
                        .stabilisation = settings->stabilisation,
                        .step = world->now.step,
                        .geometric_stiffness = settings->geometric_stiffness,
                        .drift_first = settings->geometric_stiffness && world->now.step % 2 != 0 &&
                                       is_steady(world)};
}

CnStatus cni_world_tree_step(CnWorld *world, CnSolveReport *solve, int32_t *taken) {
  CniContents *now = &world->now;
  const CniSettings *settings = &now->settings;
  double start = cni_seconds();
  *taken = 0;
  if (!is_machine(world)) return CN_OK;
  CniTreeInput input = input_of(world);
  CniTreeStep step;
  CniFinding *open;
  CNI_TRY(CNI_TAKE(&world->memory.arena, 1, open));
  CNI_TRY(cni_tree_step(&world->tree, &world->allocator, &input, &step));
  if (!step.taken) return CN_OK;
  // nothing fails from here on
  world->located_count = 0;
  world->work.time_step = settings->time_step;
  note_open(world, &step, open);
  cni_tree_commit(world->tree, &input, &now->model);
  now->contacts.event_count = 0;
  now->contacts.turning = now->contacts.named = now->contacts.unsorted = 0;
  now->contacts.time_step = settings->time_step;
  now->engine.solved = 2;
  now->time = cni_multiple_of_step(now->time + settings->time_step, settings->time_step);
  now->step++;
  tell(world, &step, cni_seconds() - start, solve);
  *taken = 1;
  return CN_OK;
}

// ---- the problem, afterwards ----

static CnStatus assemble(CnWorld *world, const CniTreeStep *step, int32_t *blocks) {
  const CniSettings *settings = &world->now.settings;
  CniEngine *engine = &world->now.engine;
  CniModel *model = &world->now.model;
  CniAssemblyInput input = {.model = model,
                            .pose = step->pose,
                            .twist = step->twist,
                            .gravity = settings->gravity,
                            .time = world->now.time - settings->time_step,
                            .time_step = settings->time_step,
                            .stabilisation = settings->stabilisation,
                            .geometric_stiffness = settings->geometric_stiffness,
                            .movable = 1,
                            .arena = &world->memory.arena,
                            .tasks = world->tasks};
  // impulses of joints are kept already: as a warm start they are the answer
  CNI_TRY(cni_assemble(&input, engine->problem, &engine->answer, blocks, NULL));
  cni_tree_groups(world->tree, engine->problem);
  for (int32_t i = 0; i < model->body_count; i++)
    memcpy(engine->answer.v + 6 * (size_t)i, &step->moved[i], sizeof(CnTwist));
  memset(engine->answer.v + 6 * (size_t)model->body_count, 0, sizeof(CnTwist));
  return CN_OK;
}

CnStatus cni_world_tree_problem(CnWorld *world) {
  if (world->now.engine.solved != 2) return CN_OK;
  CniTreeStep step = cni_tree_last(world->tree);
  CNI_TRY(cni_step_memory_reset(&world->memory));
  int32_t count = world->now.model.joint_count;
  CNI_TRY(CNI_TAKE(&world->memory.arena, count + 1, world->work.joint_blocks));
  CnStatus status = assemble(world, &step, world->work.joint_blocks);
  if (status == CN_OK) status = cni_problem_map_begin(world);
  if (status == CN_OK) cni_problem_map_joints(world);
  world->work.joint_blocks = NULL;
  if (status == CN_OK) world->now.engine.solved = 1;
  return status;
}
