// SPDX-License-Identifier: Apache-2.0
// Files of a run: the run file, checkpoints, and going on from one.
//
// A checkpoint names the run file and the step. The run file is flushed before the checkpoint is
// written, so that a run killed at any moment can go on without a gap: what the file holds beyond
// the checkpoint's step is cut off and computed again, to the same bits.
#include <cairn/state.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/job.h"

// ---- the run file ----

// The path as it is found from any working directory.
static char *absolute_path(const char *path) {
  char folder[4096];
  size_t size = strlen(path) + 1;
  if (path[0] == '/' || !getcwd(folder, sizeof folder)) folder[0] = 0;
  char *text = malloc(strlen(folder) + 1 + size);
  if (text) sprintf(text, folder[0] ? "%s/%s" : "%s%s", folder, path);
  return text;
}

static CnRecorderDef recorder_def(const CniJob *job) {
  CnRecorderDef def = cn_recorder_def_default();
  def.path = job->file;
  def.scene = job->scene;
  def.frames_per_second = job->frames_per_second;
  def.contacts = job->record_contacts;
  def.joints = job->record_joints;
  def.replace = cni_args_has(job->args, "force");
  def.plain = cni_args_has(job->args, "plain");
  return def;
}

// The name under which a run lies that has not taken the place of an older one yet; to be freed.
static char *partial_path(const char *path) {
  static const char ending[] = ".partial";
  char *text = malloc(strlen(path) + sizeof ending);
  if (text) sprintf(text, "%s%s", path, ending);
  return text;
}

// A run file goes on with what it has recorded so far.
static void take_file_settings(CniJob *job) {
  CnAllocator allocator = cn_allocator_default();
  char *partial = partial_path(job->file);
  CnRun *run = NULL;
  CnRunInfo info;
  // where there is none, resuming it will tell
  if ((partial && cn_run_open(partial, &allocator, &run) == CN_OK) ||
      cn_run_open(job->file, &allocator, &run) == CN_OK) {
    cn_run_info(run, &info);
    job->record_contacts = info.contacts_recorded;
    job->record_joints = info.joints_recorded;
    cn_run_close(run);
  }
  free(partial);
}

// A checkpoint goes over an older one, but not over anything else, and not over those of a run that
// is going on.
static int take_checkpoint_path(CniJob *job) {
  if (!job->checkpoint) return CNI_EXIT_DONE;
  if (cn_scene_check_output(job->scene, job->checkpoint) != CN_OK)
    return cni_fail(job->args, "%s", cn_error_message());
  if (cn_checkpoint_lock(job->checkpoint, &job->checkpoint_lock) != CN_OK)
    return cni_fail(job->args, "%s", cn_error_message());
  CnFileKind kind = cn_file_kind(job->checkpoint);
  if (kind == CN_FILE_KIND_NONE || kind == CN_FILE_KIND_CHECKPOINT ||
      cni_args_has(job->args, "force"))
    return CNI_EXIT_DONE;
  return cni_fail(job->args, "%s: exists and is no checkpoint (--force replaces it)",
                  job->checkpoint);
}

static int same_file(const CniJob *job, const char *output, const char *input) {
  if (strcmp(output, input) == 0)
    return cni_fail(job->args, "%s: cannot be both run file and checkpoint", output);
  return cn_output_check(output, input) == CN_OK ? 0
                                                 : cni_fail(job->args, "%s", cn_error_message());
}

// Is there such a run, be it one that has not ended?
static int is_there(const char *path) {
  struct stat there;
  char *partial = partial_path(path);
  int found = stat(path, &there) == 0 || (partial && stat(partial, &there) == 0);
  free(partial);
  return found;
}

int cni_job_record_open(CniJob *job) {
  // a name that is new begins a file of its own there
  int goes_on = job->resumed.run_path && !job->varies && (!job->out || is_there(job->out));
  const char *path = job->out ? job->out : goes_on ? job->resumed.run_path : NULL;
  job->checkpoint_time = cni_clock();
  int checked = take_checkpoint_path(job);
  if (checked != CNI_EXIT_DONE) return checked;
  if (!path) return CNI_EXIT_DONE;
  struct stat there;
  job->file = strdup(path);
  job->run_path = absolute_path(path);
  if (!job->run_path || !job->file) return cni_fail(job->args, "out of memory");
  if (!goes_on && !cni_args_has(job->args, "force") && stat(path, &there) == 0)
    return cni_fail(job->args, "%s: is there already (--force replaces it)", path);
  if ((job->checkpoint && same_file(job, job->checkpoint, path)) ||
      (job->resume && same_file(job, path, job->resume)))
    return CNI_EXIT_FAILED;
  int contacts = job->record_contacts, joints = job->record_joints;
  if (goes_on) take_file_settings(job);
  if (contacts > job->record_contacts || joints > job->record_joints)
    return cni_fail(
        job->args,
        "%s was begun without %s: --out NAME --record begins a file of its own from here", path,
        contacts > job->record_contacts ? "contacts" : "joints");
  CnRecorderDef def = recorder_def(job);
  CnStatus status = goes_on ? cn_recorder_resume(&def, job->world, job->first_step, &job->writer)
                            : cn_recorder_create(&def, job->world, &job->writer);
  return status == CN_OK ? CNI_EXIT_DONE : cni_fail(job->args, "%s", cn_error_message());
}

int cni_job_record_step(CniJob *job, const CnStepReport *report) {
  CnStepReport step = *report;
  if (!job->clock) step.seconds_collision = step.seconds_solver = step.seconds_setup = 0;
  if (!job->writer || cn_recorder_step(job->writer, job->world, &step) == CN_OK)
    return CNI_EXIT_DONE;
  return cni_fail(job->args, "%s", cn_error_message());
}

// Where the bytes of a run that did not come to its end are: the younger of the two names.
static void find_abandoned(CniJob *job) {
  struct stat whole, part;
  char *partial = partial_path(job->file);
  int is_partial = partial && stat(partial, &part) == 0;
  if (is_partial && stat(job->file, &whole) == 0)
    is_partial = part.st_mtim.tv_sec > whole.st_mtim.tv_sec ||
                 (part.st_mtim.tv_sec == whole.st_mtim.tv_sec &&
                  part.st_mtim.tv_nsec >= whole.st_mtim.tv_nsec);
  if (!is_partial) {
    free(partial);
    return;
  }
  free(job->file);
  job->file = partial;
}

int cni_job_record_close(CniJob *job, int failed) {
  CnRecorder *writer = job->writer;
  job->writer = NULL;
  if (!writer) return CNI_EXIT_DONE;
  CnStatus status =
      failed || job->interrupted ? cn_recorder_abandon(writer) : cn_recorder_close(writer, NULL);
  if (failed) return CNI_EXIT_DONE;
  if (status != CN_OK) return cni_fail(job->args, "%s", cn_error_message());
  if (job->interrupted) find_abandoned(job);
  return CNI_EXIT_DONE;
}

// ---- checkpoints ----

// Of the world, and of what the scene keeps beside it.
static CnStatus take_snapshot(CnWorld *world, const CnScene *scene, CnCheckpoint *c) {
  CNI_TRY(cn_world_save(world, NULL, 0, &c->snapshot_size));
  CNI_TRY(cn_scene_save(scene, NULL, 0, &c->scene_state_size));
  c->snapshot = malloc(c->snapshot_size);
  c->scene_state = c->scene_state_size > 0 ? malloc(c->scene_state_size) : NULL;
  if (!c->snapshot || (c->scene_state_size > 0 && !c->scene_state))
    return cn_error_set(CN_NO_MEMORY, "out of memory");
  CNI_TRY(cn_world_save(world, c->snapshot, c->snapshot_size, &c->snapshot_size));
  return cn_scene_save(scene, c->scene_state, c->scene_state_size, &c->scene_state_size);
}

int cni_job_checkpoint_due(const CniJob *job) {
  return job->checkpoint && cni_clock() - job->checkpoint_time >= job->checkpoint_every;
}

int cni_job_checkpoint(CniJob *job, int at_once) {
  if (!job->checkpoint || (!at_once && !cni_job_checkpoint_due(job))) return CNI_EXIT_DONE;
  CnWorldInfo info;
  cn_world_info(job->world, &info);
  CnCheckpoint checkpoint = {.scene_text = (char *)(uintptr_t)job->scene_info.text,
                             .scene_label = (char *)(uintptr_t)job->label,
                             .settings = job->settings,
                             // those of a robot are in the scene's text already
                             .setting_count =
                                 job->scene_info.parameter_count > 0 ? job->setting_count : 0,
                             .frames_per_second = job->frames_per_second,
                             .end_time = job->end_time,
                             .step = info.step,
                             .run_path = job->run_path,
                             .allocator = cn_allocator_default()};
  CnStatus status = take_snapshot(job->world, job->scene, &checkpoint);
  if (status == CN_OK && job->writer) status = cn_recorder_flush(job->writer);
  if (status == CN_OK) status = cn_checkpoint_write(job->checkpoint, &checkpoint);
  free(checkpoint.snapshot);
  free(checkpoint.scene_state);
  job->checkpoint_time = cni_clock();
  return status == CN_OK ? CNI_EXIT_DONE : cni_fail(job->args, "%s", cn_error_message());
}

// ---- going on ----

// The scene named on the command line must be the checkpoint's.
static int compare_scene(const CniJob *job, const char *label) {
  if (!label) return CNI_EXIT_DONE;
  CnScene *scene;
  CnSceneInfo info;
  if (cni_open_scene(job->args, label, job->resumed.settings, job->resumed.setting_count, &scene) !=
      CN_OK)
    return cni_fail(job->args, "%s: was not made from %s: %s", job->resume, label,
                    cn_error_message());
  cn_scene_info(scene, &info);
  int same = strcmp(info.text, job->resumed.scene_text) == 0;
  cn_scene_destroy(scene);
  if (same) return CNI_EXIT_DONE;
  return cni_fail(job->args, "%s: was not made from %s: the scene differs", job->resume, label);
}

// Options that change the bits must be as they were.
static int compare_options(const CniJob *job, const CnWorldDef *kept) {
  const CnWorldDef *def = &job->def;
  const char *differs = NULL;
  if (cni_args_has(job->args, "h") && def->time_step != kept->time_step) differs = "h";
  if (cni_args_has(job->args, "integrator") && strcmp(def->integrator, kept->integrator) != 0)
    differs = "integrator";
  if (cni_args_has(job->args, "solver") && strcmp(def->solver.name, kept->solver.name) != 0)
    differs = "solver";
  if (cni_args_has(job->args, "friction") && def->friction != kept->friction) differs = "friction";
  if (cni_args_has(job->args, "iters") && def->solver.max_iterations != kept->solver.max_iterations)
    differs = "iters";
  if (cni_args_has(job->args, "effort") && def->solver.effort != kept->solver.effort)
    differs = "effort";
  if (cni_args_has(job->args, "tol") && def->solver.tolerance != kept->solver.tolerance)
    differs = "tol";
  CnWorldDef with = *kept;
  if (cni_settings_use(job->args, &with) == CNI_EXIT_DONE && !cni_settings_equal(&with, kept))
    differs = "setting";
  if (!differs) return CNI_EXIT_DONE;
  return cni_fail(job->args, "%s: was made with another --%s; a run goes on as it began",
                  job->resume, differs);
}

int cni_job_resume(CniJob *job) {
  CnAllocator allocator = cn_allocator_default();
  CnCheckpoint *c = &job->resumed;
  const char *label = job->label;
  if (cn_checkpoint_read(job->resume, &allocator, c) != CN_OK)
    return cni_fail(job->args, "%s", cn_error_message());
  int status = cni_job_compare_settings(job);
  if (status == CNI_EXIT_DONE) status = compare_scene(job, label);
  if (status != CNI_EXIT_DONE) return status;
  job->label = c->scene_label;
  if (job->varies) {
    status = cni_job_merge_settings(job);
    if (status != CNI_EXIT_DONE) return status;
  } else {
    free(job->settings);
    free(job->setting_texts);
    job->setting_texts = NULL;
    job->settings = c->settings;
    job->setting_count = c->setting_count;
  }
  if (cn_scene_parse(c->scene_text, strlen(c->scene_text), c->scene_label, job->settings,
                     job->setting_count, &allocator, &job->scene) != CN_OK)
    return cni_fail(job->args, "%s: %s", job->resume, cn_error_message());
  status = cni_job_world(job);
  if (status != CNI_EXIT_DONE) return status;
  if (cn_world_restore(job->world, c->snapshot, c->snapshot_size) != CN_OK ||
      cn_scene_restore(job->scene, job->world, c->scene_state, c->scene_state_size) != CN_OK)
    return cni_fail(job->args, "%s: %s", job->resume, cn_error_message());
  CnWorldDef kept;
  if (job->varies) status = cni_job_vary(job);
  if (status != CNI_EXIT_DONE) return status;
  if (cn_world_settings(job->world, &kept) != CN_OK)
    return cni_fail(job->args, "%s: %s", job->resume, cn_error_message());
  status = compare_options(job, &kept);
  if (status != CNI_EXIT_DONE) return status;
  job->def = kept;
  if (!cni_args_has(job->args, "fps")) job->frames_per_second = c->frames_per_second;
  job->first_step = c->step;
  return CNI_EXIT_DONE;
}
