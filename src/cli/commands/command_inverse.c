// SPDX-License-Identifier: Apache-2.0
// cairn inverse: the efforts that the drives of a scene need for their motions.
#include <stdlib.h>
#include <string.h>

#include <cairn/mechanism.h>

#include "cli/machine.h"

// A coordinate that a motor keeps.
static int keeps(const CnJointAxis *axis) {
  return axis->drive != CN_DRIVE_EFFORT && axis->motor_effort > 0;
}

static void show_drives(CniShow *show, const CnWorld *world, double time) {
  CnJointId joint = {0, 0};
  for (;;) {
    CnJointDef def;
    CnJointState state;
    joint = cn_world_next_joint(world, joint);
    if (joint.slot == 0) return;
    if (cn_joint_def(world, joint, &def) != CN_OK || cn_joint_state(world, joint, &state) != CN_OK)
      continue;
    for (int32_t k = 0; k < state.coordinate_count; k++) {
      char name[CNI_MACHINE_NAME];
      if (!keeps(&def.axes[k])) continue;
      const char *unit = cn_joint_coordinate_unit(def.kind, k);
      int turns = strcmp(unit, "rad") == 0;
      cni_show_row(show);
      cni_show_number(show, "time", "time", time, "s");
      cni_show_text(show, "joint", "joint", cni_machine_joint_name(world, joint, name));
      cni_show_text(show, "coordinate", "coordinate", cn_joint_coordinate_name(def.kind, k));
      cni_show_number(show, "value", "value", state.coordinate[k], unit);
      cni_show_number(show, "rate", "rate", state.rate[k], turns ? "rad/s" : "m/s");
      cni_show_number(show, "effort", "effort", state.motor[k], turns ? "N m" : "N");
      cni_show_number(show, "power", "power", state.motor[k] * state.rate[k], "W");
      cni_show_row_end(show);
    }
  }
}

static void show_sensors(CniShow *show, const CniJob *job, double time, double *values) {
  if (cn_scene_measure(job->scene, job->world, values) != CN_OK) return;
  for (int32_t i = 0; i < job->scene_info.sensor_count; i++) {
    CnSensorInfo sensor;
    if (cn_scene_sensor(job->scene, i, &sensor) != CN_OK) continue;
    cni_show_row(show);
    cni_show_number(show, "time", NULL, time, "s");
    cni_show_text(show, "sensor", NULL, sensor.name);
    cni_show_number(show, "value", NULL, values[i], sensor.unit);
    cni_show_row_end(show);
  }
}

typedef struct Sweep {
  double end;
  int64_t count;
  CnInverse worst; // errors: the largest
} Sweep;

static CnStatus sweep(const CniJob *job, CniShow *show, Sweep *s, int sensors, double *values) {
  CnWorldInfo info;
  cn_world_info(job->world, &info);
  for (int64_t i = 0; i < s->count; i++) {
    CnInverse now;
    double share = s->count > 1 ? (double)i / (double)(s->count - 1) : 1;
    double time = info.time + share * (s->end - info.time);
    CnStatus status = cn_world_inverse(job->world, time, NULL, 0, &now);
    if (status != CN_OK) return status;
    s->worst.freedoms = now.freedoms;
    if (now.error > s->worst.error) s->worst.error = now.error;
    if (now.speed > s->worst.speed) s->worst.speed = now.speed;
    if (!sensors)
      show_drives(show, job->world, time);
    else
      show_sensors(show, job, time, values);
  }
  return CN_OK;
}

static int show(CniJob *job, Sweep *s) {
  CniShow sheet;
  double *values = calloc((size_t)job->scene_info.sensor_count + 1, sizeof *values);
  size_t size;
  void *start = NULL;
  CnStatus status = cn_world_save(job->world, NULL, 0, &size);
  if (status == CN_OK) start = malloc(size);
  if (!values || !start) status = cn_error_set(CN_NO_MEMORY, "out of memory");
  if (status == CN_OK) status = cn_world_save(job->world, start, size, &size);
  // once without a word: what cannot be done is said before anything is shown
  FILE *nowhere = status == CN_OK ? fopen("/dev/null", "w") : NULL;
  if (status == CN_OK && !nowhere) status = cn_error_set(CN_FILE, "/dev/null cannot be opened");
  if (status == CN_OK) {
    CniShow silent;
    cni_show_begin(&silent, nowhere, 0);
    status = sweep(job, &silent, s, 0, values);
  }
  if (nowhere) fclose(nowhere);
  if (status == CN_OK) status = cn_world_restore(job->world, start, size);
  if (status == CN_OK) {
    cni_show_begin(&sheet, stdout, job->json);
    cni_show_text(&sheet, "scene", "scene", job->label);
    cni_show_count(&sheet, "freedoms", s->worst.freedoms ? "without a motor" : NULL,
                   s->worst.freedoms);
    cni_show_number(&sheet, "error", "joints off by", s->worst.error, "m, rad");
    cni_show_list(&sheet, "drives", "time, joint, coordinate, value, rate, effort, power");
    status = sweep(job, &sheet, s, 0, values);
    cni_show_list_end(&sheet);
    if (job->json && status == CN_OK) status = cn_world_restore(job->world, start, size);
    if (job->json && status == CN_OK) {
      cni_show_list(&sheet, "sensors", NULL);
      status = sweep(job, &sheet, s, 1, values);
      cni_show_list_end(&sheet);
    }
    cni_show_end(&sheet);
  }
  free(values);
  free(start);
  return status == CN_OK ? CNI_EXIT_DONE
                         : cni_fail(job->args, "%s: %s", job->label, cn_error_message());
}

static int run(const CniArgs *args) {
  CniJob job = {0};
  Sweep s = {.count = 11};
  if (!cni_args_whole(args, "samples", 1, 1000000, &s.count)) return CNI_EXIT_USAGE;
  int status = cni_job_options(&job, args);
  if (status == CNI_EXIT_DONE) status = cni_job_open(&job);
  if (status == CNI_EXIT_DONE) {
    s.end = job.scene_info.time;
    cni_args_number(args, "time", CNI_NUMBER_NOT_NEGATIVE, &s.end);
    status = show(&job, &s);
  }
  cni_job_release(&job);
  return status;
}

static const CniOption options[] = {
    CNI_OPTION_SET,
    {"time", 0, "T", "end of the motion, s (default: that of the scene)"},
    {"samples", 0, "N", "instants from the start to the end (default 11; 1: the end)"},
    CNI_OPTION_JSON,
    CNI_OPTION_END};
static const CniExample examples[] = {
    {"cairn inverse crank.json --time 0.6 --samples 61", "torque of the motor over a turn"},
    {"cairn inverse joints --json", "efforts, and what the sensors of the scene read"},
    {NULL, NULL}};
const CniCommand cni_command_inverse = {
    .name = "inverse",
    .summary = "efforts that the motors of a scene need for their motions",
    .operands = "SCENE",
    .operand_min = 1,
    .operand_max = 1,
    .description =
        "Inverse dynamics: motors that keep a position or a speed follow their targets exactly, "
        "whatever effort it takes, and the efforts, and with --json the sensors of the scene, are "
        "told at instants of the motion. Nothing is integrated: each instant is exact by itself. "
        "What has no motor goes on with the velocities it has.\n\n"
        "Contacts, limits and the dry friction of joints do not take part.",
    .options = options,
    .examples = examples,
    .run = run};
