// SPDX-License-Identifier: Apache-2.0
// cairn inverse: the efforts that the drives of a scene need for their motions.
#include <cairn/mechanism.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/machine.h"

// A coordinate that a motor keeps.
static int keeps(const CnJointAxis *axis) {
  return axis->drive != CN_DRIVE_EFFORT && axis->motor_effort > 0;
}

// Servos are springs about their targets, which let them go: here they follow them, too.
static CnStatus stiffen(CnWorld *world) {
  CnJointId joint = {0, 0};
  while (joint = cn_world_next_joint(world, joint), joint.slot) {
    CnJointDef def;
    CnStatus status = cn_joint_def(world, joint, &def);
    for (int32_t k = 0; k < CN_JOINT_AXES; k++)
      if (keeps(&def.axes[k])) def.axes[k].motor_stiffness = def.axes[k].motor_damping = 0;
    if (status == CN_OK) status = cn_joint_set(world, joint, &def);
    if (status != CN_OK) return status;
  }
  return CN_OK;
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

// ---- motors that keep a speed ----
// Their coordinates are where the speed has brought them since the start: adaptive Simpson quadrature.

#define PANELS 16
#define DEPTH 30
#define QUADRATURE 1e-13

typedef struct Speed {
  const CnWorld *world;
  CnJointId joint;
  int32_t coordinate;
} Speed;

static double speed_at(const Speed *s, double t) {
  double target[3];
  return cn_joint_target(s->world, s->joint, s->coordinate, t, target) == CN_OK ? target[0] : 0;
}

static double way(const Speed *s, double a, double b, const double f[3], int depth) {
  double h = b - a, half = 0.5 * (a + b), whole = h / 6 * (f[0] + 4 * f[1] + f[2]);
  const double l[3] = {f[0], speed_at(s, a + 0.25 * h), f[1]};
  const double r[3] = {f[1], speed_at(s, a + 0.75 * h), f[2]};
  double finer = h / 12 * (l[0] + 4 * l[1] + 2 * l[2] + 4 * r[1] + r[2]), error = finer - whole;
  if (depth == 0 || fabs(error) <= QUADRATURE * (fabs(finer) + h)) return finer + error / 15;
  return way(s, a, half, l, depth - 1) + way(s, half, b, r, depth - 1);
}

static double way_between(const Speed *s, double from, double to) {
  double sum = 0, h = (to - from) / PANELS;
  for (int32_t i = 0; i < PANELS && h != 0; i++) {
    double a = from + i * h, b = a + h;
    const double f[3] = {speed_at(s, a), speed_at(s, 0.5 * (a + b)), speed_at(s, b)};
    sum += way(s, a, b, f, DEPTH);
  }
  return sum;
}

// The motions of such motors at a time, from where they are at another; returns how many there are.
static int32_t move_on(const CnWorld *world, CnDriveMotion *motions, double from, double to,
                       int begins) {
  int32_t count = 0;
  CnJointId joint = {0, 0};
  while (joint = cn_world_next_joint(world, joint), joint.slot) {
    CnJointDef def;
    CnJointState state;
    if (cn_joint_def(world, joint, &def) != CN_OK || cn_joint_state(world, joint, &state) != CN_OK)
      continue;
    for (int32_t k = 0; k < state.coordinate_count; k++) {
      const CnJointAxis *axis = &def.axes[k];
      Speed speed = {world, joint, k};
      double target[3];
      if (!keeps(axis) || axis->drive != CN_DRIVE_SPEED) continue;
      CnDriveMotion *motion = &motions[count++];
      double start = begins ? state.coordinate[k] : motion->value;
      if (cn_joint_target(world, joint, k, to, target) != CN_OK) continue;
      double value = start + way_between(&speed, from, to);
      *motion = (CnDriveMotion){joint, k, value, target[0], target[1], 0};
    }
  }
  return count;
}

typedef struct Sweep {
  double end;
  int64_t count;
  CnInverse worst; // errors: the largest
} Sweep;

static CnStatus sweep(const CniJob *job, CniShow *show, Sweep *s, int sensors, double *values) {
  CnWorldInfo info;
  cn_world_info(job->world, &info);
  CnStatus status = CN_OK;
  double from = info.time;
  CnDriveMotion *motions = calloc((size_t)info.joint_count * CN_JOINT_AXES + 1, sizeof *motions);
  if (!motions) return cn_error_set(CN_NO_MEMORY, "out of memory");
  for (int64_t i = 0; i < s->count; i++) {
    CnInverse now;
    double share = s->count > 1 ? (double)i / (double)(s->count - 1) : 1;
    double time = info.time + share * (s->end - info.time);
    int32_t count = move_on(job->world, motions, from, time, i == 0);
    status = cn_world_inverse(job->world, time, motions, count, &now);
    if (status != CN_OK) break;
    from = time;
    s->worst.freedoms = now.freedoms;
    if (now.error > s->worst.error) s->worst.error = now.error;
    if (now.speed > s->worst.speed) s->worst.speed = now.speed;
    if (!sensors)
      show_drives(show, job->world, time);
    else
      show_sensors(show, job, time, values);
  }
  free(motions);
  return status;
}

static int any_drive(const CnWorld *world) {
  CnJointId joint = {0, 0};
  CnJointDef def;
  int any = 0;
  while (joint = cn_world_next_joint(world, joint), joint.slot)
    for (int32_t k = 0; k < CN_JOINT_AXES && cn_joint_def(world, joint, &def) == CN_OK; k++)
      any |= keeps(&def.axes[k]);
  return any;
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
  if (status == CNI_EXIT_DONE && !any_drive(job.world))
    status = cni_fail(args, "%s: no motor keeps a position or a speed: there is nothing to ask",
                      job.label);
  if (status == CNI_EXIT_DONE && stiffen(job.world) != CN_OK)
    status = cni_fail(args, "%s: %s", job.label, cn_error_message());
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
        "Inverse dynamics: motors that keep a position or a speed, servos too, follow their "
        "targets exactly, whatever effort it takes, and the efforts, and with --json the sensors "
        "of the scene, are "
        "told at instants of the motion. Nothing but the speeds of motors is integrated: each "
        "instant is "
        "exact by itself. One-sided couplings take part where they carry. "
        "What has no motor goes on with the velocities it has.\n\n"
        "Contacts, limits and the dry friction of joints do not take part.",
    .options = options,
    .examples = examples,
    .run = run};
