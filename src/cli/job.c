// SPDX-License-Identifier: Apache-2.0
// From options to a world that is ready to step: the scene with its parameters, the settings of the
// command line over those of the scene, or everything from a checkpoint.
#include <stdlib.h>
#include <string.h>

#include "cli/job.h"

#define STEPS_MAX 1e12 // of the fastest, weeks
#define BALANCED_BODIES 200

// ---- options ----

int cni_settings_parse(const CniArgs *args, CnSetting **settings, int32_t *count, char **texts) {
  size_t bytes = 1;
  int32_t n = 0;
  for (const char *text; (text = cni_args_nth(args, "set", n)); n++) bytes += strlen(text) + 1;
  *count = n;
  *settings = calloc((size_t)n + 1, sizeof **settings);
  *texts = malloc(bytes);
  if (!*settings || !*texts) return cni_fail(args, "out of memory");
  char *at = *texts;
  for (int32_t i = 0; i < n; i++) {
    const char *text = cni_args_nth(args, "set", i);
    size_t length = strcspn(text, "=");
    if (length == 0 || text[length] != '=')
      return cni_usage_error(args->command, "--set needs KEY=VALUE (got %s)", text);
    if (!cni_number_parse(text + length + 1, &(*settings)[i].value))
      return cni_usage_error(args->command, "--set %.*s: the value must be a number (got %s)",
                             (int)length, text, text + length + 1);
    memcpy(at, text, length);
    at[length] = 0;
    (*settings)[i].key = at;
    at += length + 1;
  }
  return CNI_EXIT_DONE;
}

// "contacts,joints" in any order.
static int parse_record(CniJob *job) {
  const char *text = cni_args_text(job->args, "record");
  while (text && *text) {
    size_t length = strcspn(text, ",");
    if (length == 8 && strncmp(text, "contacts", length) == 0)
      job->record_contacts = 1;
    else if (length == 6 && strncmp(text, "joints", length) == 0)
      job->record_joints = 1;
    else
      return cni_usage_error(job->args->command,
                             "--record takes contacts and joints, separated by commas (got %.*s)",
                             (int)length, text);
    text += length + (text[length] == ',');
  }
  return CNI_EXIT_DONE;
}

static const char *friction_name(int32_t index) {
  return index >= 0 && index <= CN_FRICTION_CONVEX ? cn_friction_model_name((CnFrictionModel)index)
                                                   : NULL;
}

const char *cni_effort_name(int32_t index) {
  return cn_setting_word(cn_setting_find("solver.effort"), index);
}

// ---- settings ----

static void log_line(void *context, CnLogLevel level, const char *message) {
  const CniJob *job = context;
  if (level >= CN_LOG_WARNING ? !job->quiet : job->verbose) cni_tell("%s: %s", job->label, message);
}

static int use_options(CniJob *job) {
  const CniArgs *args = job->args;
  CnWorldDef *def = &job->def;
  const char *solver = NULL, *friction = NULL;
  if (!cni_args_choice(args, "solver", cn_solver_name, &solver)) return CNI_EXIT_USAGE;
  if (solver) cni_solver_change(&def->solver, solver);
  if (cni_effort_use(args, solver, &def->solver) != CNI_EXIT_DONE) return CNI_EXIT_USAGE;
  int64_t iterations = def->solver.max_iterations, threads = def->worker_count;
  if (!cni_args_choice(args, "integrator", cn_integrator_name, &def->integrator) ||
      !cni_args_choice(args, "friction", friction_name, &friction) ||
      !cni_args_number(args, "h", CNI_NUMBER_POSITIVE, &def->time_step) ||
      !cni_args_number(args, "tol", CNI_NUMBER_NOT_NEGATIVE, &def->solver.tolerance) ||
      !cni_args_whole(args, "iters", 1, INT32_MAX, &iterations) ||
      !cni_args_whole(args, "threads", 1, 1024, &threads))
    return CNI_EXIT_USAGE;
  cni_integration_use(args, def);
  def->solver.max_iterations = (int32_t)iterations;
  def->worker_count = (int32_t)threads;
  if (friction)
    def->friction = strcmp(friction, cn_friction_model_name(CN_FRICTION_CONVEX)) == 0
                        ? CN_FRICTION_CONVEX
                        : CN_FRICTION_COULOMB;
  def->log = (CnLog){log_line, job};
  return cni_settings_use(args, def);
}

// Options that need others, or exclude them.
static int check_together(const CniJob *job) {
  const CniArgs *args = job->args;
  static const char *const needs[][2] = {{"fps", "out"},
                                         {"record", "out"},
                                         {"no-clock", "out"},
                                         {"checkpoint-every", "checkpoint"},
                                         {"dump-every", "dump-problems"}};
  if (cni_args_has(args, "out") && !job->out[0])
    return cni_usage_error(args->command, "--out needs the name of a file");
  if (job->dump && !job->dump[0])
    return cni_usage_error(args->command, "--dump-problems needs the name of a folder");
  if (cni_args_has(args, "time") && cni_args_has(args, "steps"))
    return cni_usage_error(args->command, "--time and --steps exclude each other");
  if (job->quiet && job->verbose)
    return cni_usage_error(args->command, "-q and -v exclude each other");
  for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++)
    if (cni_args_has(args, needs[i][0]) && !cni_args_has(args, needs[i][1]) && !job->resume)
      return cni_usage_error(args->command, "--%s needs --%s", needs[i][0], needs[i][1]);
  if (job->dump && cn_ranks_count(cni_ranks) > 1)
    return cni_usage_error(args->command,
                           "--dump-problems is for one process: of several each has a part");
  if (args->operand_count == 0 && !job->resume)
    return cni_usage_error(args->command, "SCENE is missing");
  return CNI_EXIT_DONE;
}

int cni_job_options(CniJob *job, const CniArgs *args) {
  *job = (CniJob){.args = args,
                  .json = cni_args_has(args, "json"),
                  .quiet = cni_args_has(args, "quiet"),
                  .verbose = cni_args_has(args, "verbose"),
                  .clock = !cni_args_has(args, "no-clock"),
                  .label = args->operand_count ? args->operands[0] : NULL,
                  .out = cni_args_text(args, "out"),
                  .checkpoint = cni_args_text(args, "checkpoint"),
                  .resume = cni_args_text(args, "resume"),
                  .dump = cni_args_text(args, "dump-problems"),
                  .dump_every = 1,
                  .frames_per_second = 60,
                  .checkpoint_every = 30};
  int status = check_together(job);
  if (status == CNI_EXIT_DONE) status = parse_record(job);
  if (status == CNI_EXIT_DONE)
    status = cni_settings_parse(args, &job->settings, &job->setting_count, &job->setting_texts);
  // names and numbers are refused here, before a large scene is opened; they are used when it is
  job->def = cn_world_def_default();
  if (status == CNI_EXIT_DONE) status = use_options(job);
  if (status != CNI_EXIT_DONE) return status;
  double number = 0;
  int64_t whole = 0;
  int ok =
      cni_args_number(args, "time", CNI_NUMBER_NOT_NEGATIVE, &number) &&
      cni_args_whole(args, "steps", 0, (int64_t)STEPS_MAX, &whole) &&
      cni_args_whole(args, "dump-every", 1, (int64_t)STEPS_MAX, &job->dump_every) &&
      cni_args_whole(args, "estimate", 1, (int64_t)STEPS_MAX, &job->estimate_every) &&
      cni_args_number(args, "fps", CNI_NUMBER_NOT_NEGATIVE, &job->frames_per_second) &&
      cni_args_number(args, "checkpoint-every", CNI_NUMBER_NOT_NEGATIVE, &job->checkpoint_every);
  return ok ? CNI_EXIT_DONE : CNI_EXIT_USAGE;
}

// How many steps of h make up a time.
static int64_t step_count(double time, double time_step) {
  double ratio = time / time_step, whole = floor(ratio + 0.5);
  // a time that is a multiple of h but for round-off means that multiple
  double steps = fabs(ratio - whole) <= 1e-9 * fmax(1, ratio) ? whole : ceil(ratio);
  return steps < STEPS_MAX ? (int64_t)steps : (int64_t)STEPS_MAX;
}

// Up to `time`, or so many steps as --steps says. Where a world went on with another time step than
// before, steps are counted from where it stands.
static int plan_steps(CniJob *job, double time) {
  int64_t steps = -1, behind = 0;
  double start = 0, h = job->def.time_step;
  CnWorldInfo now;
  cn_world_info(job->world, &now);
  cni_args_number(job->args, "time", CNI_NUMBER_NOT_NEGATIVE, &time);
  cni_args_whole(job->args, "steps", 0, (int64_t)STEPS_MAX, &steps);
  job->start_time = now.time;
  if (floor(now.time / h + 0.5) != (double)job->first_step) {
    behind = job->first_step;
    start = now.time;
  }
  if (steps < 0 && (time - start) / h > STEPS_MAX)
    return cni_fail(job->args, "%s: %g s are more than %g steps of %g s", job->label, time,
                    STEPS_MAX, h);
  if (steps < 0 && !job->resume && time > 0 && h > time)
    return cni_fail(job->args, "%s: a step of %g s is longer than the %g s to simulate", job->label,
                    h, time);
  job->last_step = steps >= 0 ? steps : behind + step_count(fmax(0, time - start), h);
  job->end_time = steps >= 0 ? start + (double)(steps - behind) * h : time;
  double made = start + (double)(job->last_step - behind) * h;
  if (steps < 0 && !job->resume && !job->quiet && !job->json && made > time * (1 + 1e-9))
    cni_tell("%s: %g s are no whole number of steps of %g s: %g s are made", job->label, time, h,
             made);
  return CNI_EXIT_DONE;
}

// ---- the world ----

// Small machines keep a balance, which costs them microseconds: for the verdict on springs and drives, for
// the run file and the page. Others do without, and so does whoever says so.
static void define_world(const CnScene *scene, CnWorldDef *def) {
  CnSceneInfo info;
  cn_scene_info(scene, &info);
  *def = cn_world_def_default();
  cn_scene_world_def(scene, def);
  if (info.body_count <= BALANCED_BODIES && info.joint_count + info.force_count > 0)
    def->balance = 1;
}

int cni_job_world(CniJob *job) {
  cn_scene_info(job->scene, &job->scene_info);
  define_world(job->scene, &job->def);
  int status = use_options(job);
  if (status != CNI_EXIT_DONE) return status;
  job->def.ranks = cni_ranks;
  CnWorldDef made;
  if (cn_world_create(&job->def, &job->world) == CN_OK &&
      cn_world_settings(job->world, &made) == CN_OK) {
    job->def.solver = made.solver; // one that nobody named has been chosen
    return CNI_EXIT_DONE;
  }
  return cni_fail(job->args, "%s: %s", job->label, cn_error_message());
}

static int open_scene(CniJob *job) {
  int wrong = cni_not_a_scene(job->args, job->label);
  if (wrong) return wrong;
  if (cni_open_scene(job->args, job->label, job->settings, job->setting_count, &job->scene) !=
      CN_OK)
    return cni_fail(job->args, "%s", cn_error_message());
  cni_tell_beware(job->scene, job->label);
  int status = cni_job_world(job);
  if (status != CNI_EXIT_DONE) return status;
  if (cn_scene_fill(job->scene, job->world) != CN_OK)
    return cni_fail(job->args, "%s: %s", job->label, cn_error_message());
  return plan_steps(job, job->scene_info.time);
}

int cni_job_open(CniJob *job) {
  int status = job->resume ? cni_job_resume(job) : open_scene(job);
  if (status == CNI_EXIT_DONE && job->resume) status = plan_steps(job, job->resumed.end_time);
  if (!cni_speaks()) { // of several ranks one writes the files
    job->checkpoint = job->dump = NULL;
    return status;
  }
  if (status == CNI_EXIT_DONE) status = cni_job_dump_open(job);
  return status == CNI_EXIT_DONE ? cni_job_record_open(job) : status;
}

void cni_job_release(CniJob *job) {
  cn_world_destroy(job->world);
  cn_scene_destroy(job->scene);
  if (job->settings != job->resumed.settings) free(job->settings);
  free(job->setting_texts);
  free(job->file);
  free(job->run_path);
  cn_checkpoint_release(&job->resumed);
  cn_checkpoint_unlock(job->checkpoint_lock);
}
