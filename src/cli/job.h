// SPDX-License-Identifier: Apache-2.0
// A run from the command line: what was asked for, the scene, the world, what is measured and what
// is recorded. Shared by the files of `cairn run`.
#ifndef CNI_CLI_JOB_H
#define CNI_CLI_JOB_H

#include <cairn/checkpoint.h>
#include <cairn/look.h>
#include <cairn/scene.h>
#include <cairn/settings.h>
#include <cairn/tools.h>
#include <cairn/verdict.h>
#include <cairn/world.h>
#include <math.h>

#include "cli/cli.h"

// ---- figures over the last steps ----

#define CNI_LAST_STEPS 20

typedef struct CniStepFigures {
  double seconds, collision, solver, setup;
  double contacts, iterations, residual;
  double penetration_max, penetration_sum;
  int32_t overlaps;
} CniStepFigures;

typedef struct CniFigures {
  CniStepFigures last[CNI_LAST_STEPS]; // a ring
  int64_t step_count;                  // made here
  int64_t not_converged, cut_by_time;
  CnFrictionModel friction; // that was solved, of the last step
  double residual_max;      // over all of them
  int64_t uncertified;      // steps that solved no step problem
  int64_t contradicting;    // steps with contacts that contradict each other
  char contradiction[160];  // names of the first ones
  int64_t torn;             // steps with joints that contradict each other
  char torn_joints[160];    // names of the first ones
  int64_t integrator_steps, rejected, events, led_over;
  int64_t whole;           // steps of machines of hinges, without a step problem
  double integrator_error; // largest of the steps kept, 1: the tolerance; 0: not measured
  double position_drift, velocity_drift; // m, m/s, largest; NaN: the integrator does not say
  double work[CN_BALANCE_PART_COUNT];    // J, sums over the steps that keep a balance
  double balance_max;                    // J, the largest residual of one
  int64_t balanced;                      // steps that kept one
} CniFigures;

// After each step; the penetration is computed from the positions reached if `measure` is set.
CnStatus cni_figures_add(CniFigures *figures, CnWorld *world, const CnStepReport *report,
                         double seconds, int measure);
// The penetration of the last step, if it was not known at the time that it was the last.
CnStatus cni_figures_finish(CniFigures *figures, CnWorld *world);

// figures_notes.c: contradictions and the balance of a step, and how they are shown, with the sensors.
struct CniJob;
void cni_figures_note(CniFigures *figures, CnWorld *world, const CnStepReport *report);
void cni_figures_show_notes(CniShow *show, const struct CniJob *job);
void cni_figures_tell_sources(const struct CniJob *job);
void cni_figures_print_balance(const CniFigures *figures);

// ---- the job ----

typedef struct CniJob {
  const CniArgs *args;
  int json, quiet, verbose;

  const char *label; // the scene's name as given
  CnSetting *settings;
  int32_t setting_count;
  char *setting_texts; // the keys
  CnScene *scene;
  CnSceneInfo scene_info;
  CnWorldDef def; // as used; its names live with the scene, the tables or the world
  CnWorld *world;
  double start_time, end_time; // s
  int64_t first_step, last_step;

  CniFigures figures;
  double seconds; // of the clock, for the whole run
  int interrupted;

  // recording and checkpoints
  const char *out, *checkpoint, *resume;
  char *file;     // where the run file is; null: nothing is recorded
  char *run_path; // its name as found from everywhere, kept in checkpoints
  int clock;      // 1: times of the clock are recorded
  double frames_per_second, checkpoint_every, checkpoint_time;
  int due; // 1: a checkpoint is to be written after this step
  int record_contacts, record_joints;
  CnRecorder *writer;
  CnCheckpointLock *checkpoint_lock; // nobody else writes checkpoints of that name
  CnCheckpoint resumed;
  int varies; // with other parameters than the checkpoint's

  // step problems
  const char *dump; // folder; null: none are written
  int64_t dump_every, dump_count;

  CnVerdict verdict;       // at the end
  int warned;              // that it will not be a good one
  int64_t estimate_every;  // steps; 0: none
  CnStepEstimate estimate; // the largest
} CniJob;

// Read the options; CNI_EXIT_USAGE after a message.
int cni_job_options(CniJob *job, const CniArgs *args);
// Open the scene and build the world, or both from a checkpoint; open the run file.
int cni_job_open(CniJob *job);
// An empty world by the settings of the scene and the options over them.
int cni_job_world(CniJob *job);
// Scene, world and settings from the checkpoint to go on with.
int cni_job_resume(CniJob *job);
// job_vary.c: which of the parameters given are not the checkpoint's; all of them together; the world of
// the checkpoint with them.
int cni_job_compare_settings(CniJob *job);
int cni_job_merge_settings(CniJob *job);
int cni_job_vary(CniJob *job);
void cni_job_release(CniJob *job);

// Sequences of --set KEY=VALUE as settings; *texts holds the keys. Release both with free.
int cni_settings_parse(const CniArgs *args, CnSetting **settings, int32_t *count, char **texts);
// Settings of the world given by --setting KEY=VALUE, over what the definition has.
int cni_settings_use(const CniArgs *args, CnWorldDef *def);
int cni_settings_equal(const CnWorldDef *a, const CnWorldDef *b);
void cni_show_all_settings(CniShow *show, const CnWorldDef *def);
// "quick", "normal", "exact"; null past the last one.
const char *cni_effort_name(int32_t index);

// ---- recording ----

int cni_job_record_open(CniJob *job);
int cni_job_record_step(CniJob *job, const CnStepReport *report);
// Write a checkpoint when one is due, or at once.
int cni_job_checkpoint(CniJob *job, int at_once);
int cni_job_checkpoint_due(const CniJob *job);
// Close the run file; it is marked complete only if the run came to its end. `failed`: it did not,
// and this has been told already.
int cni_job_record_close(CniJob *job, int failed);

// ---- step problems ----

// Make the folder; problems of another run in it are refused without --force.
int cni_job_dump_open(CniJob *job);
// Write the problem of the step just made, if its turn has come.
int cni_job_dump_step(CniJob *job, const CnStepReport *report);

// ---- results ----

// Ask for the verdict; then it is told.
int cni_job_verdict(CniJob *job);
// The first reason not to trust the run, as soon as there is one, on standard error.
int cni_job_warn(CniJob *job);
const char *cni_job_verdict_word(const CniJob *job); // "trusted", ...
void cni_job_print_verdict(const CniJob *job);
void cni_job_show_verdict(CniShow *show, const CniJob *job);

void cni_job_show(const CniJob *job);

// settings.c: the solver, effort and steps of the options, over those of the scene.
void cni_solver_change(CnSolverDef *solver, const char *name);
int cni_effort_use(const CniArgs *args, const char *solver, CnSolverDef *def);
void cni_integration_use(const CniArgs *args, CnWorldDef *def);

#endif
