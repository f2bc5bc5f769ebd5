// SPDX-License-Identifier: Apache-2.0
// cairn equilibrium: where a scene comes to rest, without stepping through time.
#include <string.h>

#include <cairn/mechanism.h>

#include "cli/machine.h"

#define LISTED 20 // bodies shown to people

static void show_bodies(CniShow *show, const CnWorld *world) {
  CnBodyId body = {0, 0};
  cni_show_list(show, "bodies", "positions of bodies");
  for (int32_t i = 0; show->json || i < LISTED; i++) {
    CnBodyInfo info;
    CnPose pose;
    char name[CNI_MACHINE_NAME];
    body = cn_world_next_body(world, body);
    if (body.slot == 0) break;
    if (cn_body_info(world, body, &info) != CN_OK || cn_body_pose(world, body, &pose) != CN_OK)
      continue;
    if (info.kind != CN_BODY_DYNAMIC) continue;
    const double at[3] = {pose.position.x, pose.position.y, pose.position.z};
    const double turn[4] = {pose.rotation.w, pose.rotation.x, pose.rotation.y, pose.rotation.z};
    cni_show_row(show);
    cni_show_text(show, "name", "name", cni_machine_body_name(world, body, name));
    cni_show_vector(show, "position", "position", at, "m");
    cni_show_numbers(show, "rotation", turn, 4);
    cni_show_row_end(show);
  }
  cni_show_list_end(show);
}

static void show_joints(CniShow *show, const CnWorld *world) {
  CnJointId joint = {0, 0};
  cni_show_list(show, "joints", "forces of joints on their second bodies");
  for (int32_t i = 0; show->json || i < LISTED; i++) {
    CnJointState state;
    char name[CNI_MACHINE_NAME];
    joint = cn_world_next_joint(world, joint);
    if (joint.slot == 0) break;
    if (cn_joint_state(world, joint, &state) != CN_OK) continue;
    const double force[3] = {state.force.x, state.force.y, state.force.z};
    const double torque[3] = {state.torque.x, state.torque.y, state.torque.z};
    cni_show_row(show);
    cni_show_text(show, "name", "name", cni_machine_joint_name(world, joint, name));
    cni_show_vector(show, "force", "force", force, "N");
    cni_show_vector(show, "torque", NULL, torque, "N m");
    cni_show_numbers(show, "coordinates", state.coordinate, state.coordinate_count);
    cni_show_numbers(show, "motor", state.motor, state.coordinate_count);
    cni_show_numbers(show, "limit", state.limit, state.coordinate_count);
    cni_show_numbers(show, "spring", state.spring, state.coordinate_count);
    cni_show_row_end(show);
  }
  cni_show_list_end(show);
}

static void show(const CniJob *job, const CnEquilibriumDef *def, const CnEquilibrium *e) {
  CniShow sheet;
  CnWorldInfo info;
  int sticking = def->contacts == CN_CONTACTS_STICKING;
  cn_world_info(job->world, &info);
  cni_show_begin(&sheet, stdout, job->json);
  cni_show_text(&sheet, "scene", "scene", job->label);
  cni_show_text(&sheet, "contacts", info.shape_count > 1 ? "contacts" : NULL,
                cni_machine_contacts_name(def->contacts));
  cni_show_text(&sheet, "stability", "stability", cn_stability_name((int32_t)e->stability));
  cni_show_count(&sheet, "unstable_directions", e->unstable_count ? "  falling" : NULL,
                 e->unstable_count);
  cni_show_count(&sheet, "neutral_directions", e->neutral_count ? "  indifferent" : NULL,
                 e->neutral_count);
  cni_show_count(&sheet, "freedoms", "freedoms", e->freedoms);
  cni_show_count(&sheet, "carrying", e->carrying_count ? "contacts, limits" : NULL,
                 e->carrying_count);
  cni_show_number(&sheet, "energy", "potential energy", e->energy, "J");
  cni_show_number(&sheet, "moved", "moved by", e->moved, "m");
  cni_show_number(&sheet, "turned", "turned by", e->turned, "rad");
  cni_show_number(&sheet, "friction", sticking ? "friction needed" : NULL, e->friction, "");
  cni_show_number(&sheet, "friction_reserve", sticking ? "  of what there is" : NULL,
                  e->friction_reserve, "");
  cni_show_number(&sheet, "force_left", "forces left", e->force, "N");
  cni_show_number(&sheet, "torque_left", "  and", e->torque, "N m");
  cni_show_number(&sheet, "residual", "  relative", e->residual, "");
  cni_show_count(&sheet, "iterations", "iterations", e->iterations);
  cni_show_count(&sheet, "saddles_left", e->saddles_left ? "saddles left" : NULL, e->saddles_left);
  show_bodies(&sheet, job->world);
  show_joints(&sheet, job->world);
  cni_show_end(&sheet);
}

// What is left, on standard error: one line drawn over itself on a terminal, lines elsewhere.
static void tell(void *context, int32_t iteration, double residual, double share) {
  CniProgress *p = context;
  int bar = p->style == CNI_PROGRESS_BAR;
  if (!cni_progress_due(p) && !(p->lines == 0 && share > 1e-3 && p->style != CNI_PROGRESS_NONE))
    return;
  p->shown = cni_clock();
  p->lines++;
  fprintf(stderr, "%s%s: iteration %d, %.2g of the forces left, %.0f %% of the work allowed%s",
          bar ? "\r" : "", p->title, (int)iteration, residual, 100 * share, bar ? "\033[K" : "\n");
}

static int run(const CniArgs *args) {
  CniJob job = {0};
  CniProgress progress;
  CnEquilibriumDef def = cn_equilibrium_def_default();
  CnEquilibrium result;
  int64_t most = def.max_iterations;
  if (!cni_args_number(args, "tolerance", CNI_NUMBER_POSITIVE, &def.tolerance) ||
      !cni_args_whole(args, "iterations", 0, 1000000, &most) ||
      !cni_args_number(args, "work", CNI_NUMBER_POSITIVE, &def.max_work) ||
      !cni_machine_contacts_option(args, &def.contacts))
    return CNI_EXIT_USAGE;
  def.max_iterations = (int32_t)most;
  def.accept_saddle = cni_args_has(args, "any");
  int status = cni_job_options(&job, args);
  if (status == CNI_EXIT_DONE) status = cni_job_open(&job);
  cni_progress_begin(&progress, cni_progress_style(job.quiet || job.json), job.label, 0, most);
  def.progress = tell;
  def.context = &progress;
  CnStatus found = status == CNI_EXIT_DONE ? cn_world_equilibrium(job.world, &def, &result) : CN_OK;
  if (progress.lines > 0 && progress.style == CNI_PROGRESS_BAR) fputs("\r\033[K", stderr);
  if (found != CN_OK) status = cni_fail(args, "%s: %s", job.label, cn_error_message());
  if (status == CNI_EXIT_DONE) status = cni_job_checkpoint(&job, 1);
  if (status == CNI_EXIT_DONE) show(&job, &def, &result);
  if (status == CNI_EXIT_DONE && result.friction_reserve > 1)
    cni_tell("%s: a contact would slip: it needs %.3g times the friction there is", job.label,
             result.friction_reserve);
  cni_job_release(&job);
  return status;
}

static const CniOption options[] = {
    CNI_OPTION_SET,
    {"checkpoint", 'o', "FILE", "write the scene at rest, for `cairn run --resume FILE`"},
    {"force", 'f', NULL, "replace a file that is there and no checkpoint"},
    CNI_MACHINE_OPTION_CONTACTS,
    {"any", 0, NULL, "take the first place without forces, stable or not"},
    {"tolerance", 0, "X", "forces left, relative to those that act (default 1e-11)"},
    {"iterations", 0, "N", "give up after so many iterations (default 1000)"},
    {"work", 0, "X", "and after so many products of dense matrices (default 3e11: some minutes)"},
    CNI_OPTION_JSON,
    CNI_OPTION_END};
static const CniExample examples[] = {
    {"cairn equilibrium scene.json", "rest position, reactions, stable or not"},
    {"cairn equilibrium scene.json -o rest.checkpoint", "and a run from there: cairn run --resume"},
    {"cairn equilibrium stack --contacts sticking --json", "shapes that touch do not slip"},
    {NULL, NULL}};
const CniCommand cni_command_equilibrium = {
    .name = "equilibrium",
    .summary = "find where a scene comes to rest",
    .operands = "SCENE",
    .operand_min = 1,
    .operand_max = 1,
    .description =
        "Moves the bodies to a position in which forces, joints, motors, limits and contacts are "
        "in "
        "balance: a minimum of the potential energy, found by Newton's method with steps that go "
        "down. Tells the reactions of joints, and whether the position is stable (every motion "
        "raises the energy), neutral (some change nothing) or unstable.\n\n"
        "Contacts are without friction by default, so that the position is the lowest one; with "
        "--contacts sticking shapes that touch roll and do not slip, and the friction that this "
        "needs is told. Motors that keep a position hold it, dampers and the dry friction of "
        "joints "
        "do not matter. A place that is not stable is left along its steepest way down, unless "
        "--any is given.\n\n"
        "Exit status 1 and one line where there is none: nothing holds a body, or a motor is too "
        "weak.",
    .options = options,
    .examples = examples,
    .run = run};
