// SPDX-License-Identifier: Apache-2.0
// One run of a sweep, in a process of its own: what `cairn run` does with the same options, to the
// bit, with statistics of sensors over the steps in place of files.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/job.h"
#include "cli/sweep/sweep.h"

typedef struct Statistic {
  double last, sum, least, most;
} Statistic;

typedef struct Measured {
  double *values;   // of all sensors of the scene
  int32_t *columns; // which of them are asked for
  Statistic *chosen;
  int64_t count;
} Measured;

// ---- options ----

// The options of the sweep that a run has too, with the values of the case.
static const char *const passed_on[] = {"time",    "steps",    "h",       "integrator", "solver",
                                        "effort",  "friction", "iters",   "tol",        "threads",
                                        "setting", "files",    "no-cache"};
static const CniOption set_option = CNI_OPTION_SET, quiet_option = CNI_OPTION_QUIET;

static int is_passed_on(const char *name) {
  for (size_t i = 0; i < sizeof passed_on / sizeof passed_on[0]; i++)
    if (strcmp(passed_on[i], name) == 0) return 1;
  return 0;
}

static int case_args(const CniSweep *sweep, int64_t number, CniArgs *args) {
  const CniCases *cases = &sweep->cases;
  *args = *sweep->args;
  args->given_count = 0;
  args->operand_count = 1;
  args->given =
      calloc((size_t)sweep->args->given_count + (size_t)cases->key_count + 1, sizeof *args->given);
  if (!args->given) return 0;
  for (int32_t i = 0; i < sweep->args->given_count; i++)
    if (is_passed_on(sweep->args->given[i].option->name))
      args->given[args->given_count++] = sweep->args->given[i];
  for (int32_t i = 0; i < cases->key_count; i++) {
    char value[CNI_NUMBER_SIZE];
    const char *key = cni_cases_key(cases, i);
    size_t size = strlen(key) + sizeof value + 2;
    char *text = malloc(size); // lives as long as the process
    if (!text) return 0;
    snprintf(text, size, "%s=%s", key, cni_number_text(cni_cases_value(cases, number, i), value));
    args->given[args->given_count++] = (CniGiven){&set_option, text};
  }
  args->given[args->given_count++] = (CniGiven){&quiet_option, NULL};
  return 1;
}

// ---- sensors ----

static int find_sensors(const CniSweep *sweep, const CniJob *job, Measured *m) {
  size_t n = (size_t)sweep->sensor_count + 1;
  m->values = calloc((size_t)job->scene_info.sensor_count + 1, sizeof *m->values);
  m->columns = calloc(n, sizeof *m->columns);
  m->chosen = calloc(n, sizeof *m->chosen);
  if (!m->values || !m->columns || !m->chosen) return cni_fail(job->args, "out of memory");
  for (int32_t i = 0; i < sweep->sensor_count; i++) {
    CnSensorInfo sensor;
    m->columns[i] = -1;
    for (int32_t k = 0; k < job->scene_info.sensor_count; k++)
      if (cn_scene_sensor(job->scene, k, &sensor) == CN_OK &&
          strcmp(sensor.name, sweep->sensors[i]) == 0)
        m->columns[i] = k;
    if (m->columns[i] < 0)
      return cni_fail(job->args, "%s: no sensor %s with these parameters", job->label,
                      sweep->sensors[i]);
  }
  return CNI_EXIT_DONE;
}

static CnStatus measure(const CniSweep *sweep, const CniJob *job, Measured *m) {
  if (sweep->sensor_count == 0) return CN_OK;
  CnStatus status = cn_scene_measure(job->scene, job->world, m->values);
  if (status != CN_OK) return status;
  int first = m->count++ == 0;
  for (int32_t i = 0; i < sweep->sensor_count; i++) {
    Statistic *s = &m->chosen[i];
    double value = m->values[m->columns[i]];
    s->last = value;
    s->sum += value;
    if (first || !(value >= s->least)) s->least = value;
    if (first || !(value <= s->most)) s->most = value;
  }
  return CN_OK;
}

// ---- the run ----

static int step_all(const CniSweep *sweep, CniJob *job, Measured *m, pid_t parent) {
  CnStepReport report;
  CnStatus status = job->first_step < job->last_step ? CN_OK : measure(sweep, job, m);
  for (int64_t i = job->first_step; i < job->last_step && status == CN_OK; i++) {
    if (getppid() != parent) return CNI_EXIT_INTERRUPTED; // nobody waits for the row any more
    status = cn_scene_step(job->scene, job->world, &report);
    if (status == CN_OK) status = cni_figures_add(&job->figures, job->world, &report, 0, 0);
    if (status == CN_OK) status = measure(sweep, job, m);
  }
  if (status == CN_OK) return CNI_EXIT_DONE;
  return cni_fail(job->args, "%s: %s", job->label, cn_error_message());
}

static void write_number(FILE *file, double value) {
  char text[CNI_NUMBER_SIZE];
  if (isfinite(value))
    fprintf(file, "%s,", cni_number_text(value, text));
  else
    fprintf(file, "%s,", isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

static void write_row(const CniSweep *sweep, const CniJob *job, const Measured *m, FILE *file) {
  const CniFigures *f = &job->figures;
  CnWorldInfo info;
  cn_world_info(job->world, &info);
  fprintf(file, "ok,%lld,", (long long)info.step);
  write_number(file, info.time);
  for (int32_t i = 0; i < sweep->sensor_count; i++) {
    const Statistic *s = &m->chosen[i];
    write_number(file, s->last);
    write_number(file, s->sum / (double)m->count);
    write_number(file, s->least);
    write_number(file, s->most);
  }
  fputs(f->uncertified > 0 ? "drift," : "residual,", file);
  write_number(file, f->uncertified > 0 ? f->position_drift : f->residual_max);
  fprintf(file, "%lld,%s,%016llx,\n", (long long)f->not_converged, cni_job_verdict_word(job),
          (unsigned long long)cn_world_hash(job->world));
}

int cni_sweep_case(const CniSweep *sweep, int64_t number, int pipe, pid_t parent) {
  CniArgs args;
  CniJob job;
  Measured m = {0};
  FILE *file = fdopen(pipe, "w");
  if (!file || dup2(pipe, STDERR_FILENO) < 0) return CNI_EXIT_FAILED;
  if (!case_args(sweep, number, &args)) return cni_fail(sweep->args, "out of memory");
  int status = cni_job_options(&job, &args);
  if (status == CNI_EXIT_DONE) status = cni_job_open(&job);
  if (status == CNI_EXIT_DONE) status = find_sensors(sweep, &job, &m);
  if (status == CNI_EXIT_DONE) status = step_all(sweep, &job, &m, parent);
  if (status == CNI_EXIT_DONE) status = cni_job_verdict(&job);
  if (status == CNI_EXIT_DONE) write_row(sweep, &job, &m, file);
  // memory goes with the process
  return fflush(file) == 0 ? status : CNI_EXIT_FAILED;
}
