// SPDX-License-Identifier: Apache-2.0
// What `cairn run` notes beside its figures: who contradicts whom, the balance of the steps, what sensors say
// at the end.
#include <stdlib.h>

#include <cairn/blocks.h>

#include "cli/job.h"

static void body_name(const CnWorld *world, CnBodyId body, char *text, size_t capacity) {
  CnBodyInfo info;
  if (cn_body_info(world, body, &info) == CN_OK && info.name[0])
    snprintf(text, capacity, "'%s'", info.name);
  else
    snprintf(text, capacity, "body %u", body.slot);
}

// Who contradicts whom, the first time.
static void note_contradiction(CniFigures *figures, const CnWorld *world,
                               const CnStepReport *report) {
  size_t used = 0, room = sizeof figures->contradiction;
  if (report->contradicting[0] < 0 || figures->contradicting++ > 0) return;
  for (int32_t i = 0; i < CN_REPORT_ROWS && report->contradicting[i] >= 0 && used < room; i++) {
    CnContact c;
    char a[48], b[48];
    if (cn_world_contact(world, report->contradicting[i], &c) != CN_OK) return;
    body_name(world, c.body_a, a, sizeof a);
    body_name(world, c.body_b, b, sizeof b);
    used += (size_t)snprintf(figures->contradiction + used, room - used, "%s%s and %s",
                             i > 0 ? ", " : "", a, b);
  }
}

// Joints that contradict each other, and contacts that contradict joints, the first time.
static void note_joints(CniFigures *figures, CnWorld *world, const CnStepReport *report) {
  size_t used = 0, room = sizeof figures->torn_joints;
  const CnSolveReport *solve = &report->solve;
  CnProblem *problem;
  CnJointId last = {0, 0};
  if (report->contradicting[0] >= 0 || solve->infeasible_count == 0 || figures->torn++ > 0) return;
  if (cn_world_problem(world, &problem, NULL) != CN_OK) return;
  for (int32_t i = 0; i < CN_REPORT_ROWS && solve->infeasible_rows[i] >= 0 && used < room; i++) {
    CnBlockOwner owner;
    CnJointDef def;
    int32_t block;
    if (cn_problem_row_block(problem, solve->infeasible_rows[i], &block) != CN_OK ||
        cn_world_problem_block(world, block, &owner) != CN_OK)
      continue;
    const char *comma = used > 0 ? ", " : "";
    CnContact c;
    if (owner.contact >= 0 && cn_world_contact(world, owner.contact, &c) == CN_OK) {
      char a[48], b[48];
      body_name(world, c.body_a, a, sizeof a);
      body_name(world, c.body_b, b, sizeof b);
      used +=
          (size_t)snprintf(figures->torn_joints + used, room - used, "%s%s and %s", comma, a, b);
      continue;
    }
    if (owner.joint.slot == last.slot || cn_joint_def(world, owner.joint, &def) != CN_OK) continue;
    last = owner.joint;
    used += (size_t)(def.name && def.name[0] ? snprintf(figures->torn_joints + used, room - used,
                                                        "%s'%s'", comma, def.name)
                                             : snprintf(figures->torn_joints + used, room - used,
                                                        "%sjoint %u", comma, last.slot));
  }
}

// What the step's balance says, if the world keeps one.
static void add_balance(CniFigures *figures, const CnWorld *world) {
  CnWorldDef def;
  CnStepBalance balance;
  if (cn_world_settings(world, &def) != CN_OK || !def.balance ||
      cn_world_balance(world, &balance) != CN_OK)
    return;
  figures->balanced++;
  for (int32_t i = 0; i < CN_BALANCE_PART_COUNT; i++) figures->work[i] += balance.parts[i].energy;
  figures->balance_max = fmax(figures->balance_max, fabs(balance.residual.energy));
}

void cni_figures_note(CniFigures *figures, CnWorld *world, const CnStepReport *report) {
  note_contradiction(figures, world, report);
  note_joints(figures, world, report);
  add_balance(figures, world);
}

static void show_balance(CniShow *show, const CniFigures *f) {
  if (f->balanced == 0) return;
  cni_show_list(show, "balance", NULL);
  for (int32_t i = 0; i < CN_BALANCE_PART_COUNT; i++) {
    cni_show_row(show);
    cni_show_text(show, "name", "name", cn_balance_part_name(i));
    cni_show_number(show, "work", "work", f->work[i], "J");
    cni_show_row_end(show);
  }
  cni_show_list_end(show);
  cni_show_number(show, "balance_max", NULL, f->balance_max, "");
}

// What the sensors say at the end.
static void show_sensors(CniShow *show, const CniJob *job) {
  int32_t count = job->scene_info.sensor_count;
  double *values = count > 0 ? calloc((size_t)count, sizeof *values) : NULL;
  if (values && cn_scene_measure(job->scene, job->world, values) == CN_OK) {
    cni_show_list(show, "sensors", NULL);
    for (int32_t i = 0; i < count; i++) {
      CnSensorInfo sensor;
      if (cn_scene_sensor(job->scene, i, &sensor) != CN_OK) continue;
      cni_show_row(show);
      cni_show_text(show, "name", "name", sensor.name);
      cni_show_number(show, "value", "value", values[i], "");
      cni_show_text(show, "unit", "unit", sensor.unit);
      cni_show_row_end(show);
    }
    cni_show_list_end(show);
  }
  free(values);
}

static void show_sources(CniShow *show, const CniJob *job) {
  CnSourceInfo source;
  if (cn_scene_source(job->scene, job->world, 0, &source) != CN_OK) return;
  cni_show_list(show, "sources", NULL);
  for (int32_t i = 0; cn_scene_source(job->scene, job->world, i, &source) == CN_OK; i++) {
    cni_show_row(show);
    cni_show_text(show, "name", "name", source.name);
    cni_show_count(show, "let_go", "let go", source.made);
    cni_show_count(show, "due", "due", source.due);
    cni_show_row_end(show);
  }
  cni_show_list_end(show);
}

// Sources that give less than nine tenths of what they are asked for. One that goes on with another rate than
// it began with is not judged.
void cni_figures_tell_sources(const CniJob *job) {
  CnSourceInfo source;
  for (int32_t i = 0; cn_scene_source(job->scene, job->world, i, &source) == CN_OK; i++)
    if (!job->varies && source.due - source.made > 1 + source.due / 10)
      cni_tell("%s: source %s has let go %lld bod%s where its rate asks for %lld: %s", job->label,
               source.name, (long long)source.made, source.made == 1 ? "y" : "ies",
               (long long)source.due,
               source.waiting > 0 ? "its region is seldom free" : "the others are all out");
}

void cni_figures_show_notes(CniShow *show, const CniJob *job) {
  show_balance(show, &job->figures);
  show_sensors(show, job);
  show_sources(show, job);
}

void cni_figures_print_balance(const CniFigures *f) {
  if (f->balanced == 0) return;
  printf("  work          ");
  double most = 0;
  for (int32_t i = 0; i < CN_BALANCE_PART_COUNT; i++) most = fmax(most, fabs(f->work[i]));
  for (int32_t i = 0; i < CN_BALANCE_PART_COUNT; i++)
    if (fabs(f->work[i]) > 1e-12 * most) printf(" %s %.4g J,", cn_balance_part_name(i), f->work[i]);
  printf(" left %.2g J at most in a step\n", f->balance_max);
}
