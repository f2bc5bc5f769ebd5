// SPDX-License-Identifier: Apache-2.0
// cairn run: step a scene to its end, show how far it is, record it, and say how good it was.
//
// SIGINT, SIGTERM and SIGHUP end the run after the step at work, with complete files; a second one ends it
// at once. A hang-up that the caller ignores (nohup) stays ignored.
#include <signal.h>
#include <string.h>

#include "cli/job.h"

static volatile sig_atomic_t stop_asked;

static void ask_to_stop(int number) {
  (void)number;
  stop_asked = 1;
}

static void catch_signals(void) {
  struct sigaction action, before;
  memset(&action, 0, sizeof action);
  action.sa_handler = ask_to_stop;
  action.sa_flags = (int)(SA_RESETHAND | SA_RESTART); // a write at work is not to fail
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
    sigaction(SIGHUP, &action, NULL);
}

// What is said beside the progress with -v.
static const char *progress_note(const CniJob *job, const CnStepReport *report, char *note,
                                 size_t capacity) {
  note[0] = 0;
  if (job->verbose && report->solve.converged < 0)
    snprintf(note, capacity, "%d contacts, %lld steps, drift %.2g m", report->contact_count,
             (long long)report->integration.steps, report->integration.position_drift);
  else if (job->verbose)
    snprintf(note, capacity, "%d contacts, %d iterations, residual %.2g", report->contact_count,
             report->solve.iterations, report->solve.certificate.residual);
  return note;
}

static double larger(double a, double b) { return a > b ? a : b; }

// The error of the step to be made, every so many.
static CnStatus estimate(CniJob *job, int64_t step) {
  CnStepEstimate now, *most = &job->estimate;
  if (job->estimate_every == 0 || step % job->estimate_every != 0) return CN_OK;
  CnStatus status = cn_world_estimate(job->world, &now);
  if (status != CN_OK) return status;
  most->position = larger(most->position, now.position);
  most->turn = larger(most->turn, now.turn);
  most->velocity = larger(most->velocity, now.velocity);
  most->spin = larger(most->spin, now.spin);
  return CN_OK;
}

static int step_once(CniJob *job, CnStepReport *report) {
  if (estimate(job, report->step + 1) != CN_OK)
    return cni_fail(job->args, "%s: %s", job->label, cn_error_message());
  double start = cni_clock();
  CnStatus status = cn_scene_step(job->scene, job->world, report);
  double seconds = cni_clock() - start;
  int measure = report->step > job->last_step - CNI_LAST_STEPS;
  if (status == CN_OK)
    status = cni_figures_add(&job->figures, job->world, report, seconds, measure);
  if (status != CN_OK) return cni_fail(job->args, "%s: %s", job->label, cn_error_message());
  return cni_job_warn(job);
}

// Ranks that run together stop together.
static int stops(const CniJob *job, int *status) {
  int64_t asked = stop_asked;
  if (cn_ranks_most(cni_ranks, &asked) == CN_OK) return asked != 0;
  *status = cni_fail(job->args, "%s: %s", job->label, cn_error_message());
  return 1;
}

// Whoever writes a file asks for the contacts of all ranks.
static int gather(CniJob *job) {
  job->due = cni_job_checkpoint_due(job);
  int64_t asks = job->writer || job->due;
  if (cn_ranks_most(cni_ranks, &asks) == CN_OK &&
      (asks == 0 || cn_world_gather(job->world) == CN_OK))
    return CNI_EXIT_DONE;
  return cni_fail(job->args, "%s: %s", job->label, cn_error_message());
}

static int step_all(CniJob *job) {
  CniProgress progress;
  CnStepReport report = {.step = job->first_step, .time = job->start_time};
  char note[128];
  int status = CNI_EXIT_DONE;
  double start = cni_clock();
  cni_progress_begin(&progress, cni_progress_style(job->quiet), job->label, job->first_step,
                     job->last_step);
  if (progress.style == CNI_PROGRESS_BAR)
    cni_progress_show(&progress, report.step, report.time, "");
  int stopped = 0;
  while (status == CNI_EXIT_DONE && report.step < job->last_step) {
    stopped = stops(job, &status);
    if (stopped) break;
    status = step_once(job, &report);
    if (status == CNI_EXIT_DONE) status = gather(job);
    if (status == CNI_EXIT_DONE) status = cni_job_record_step(job, &report);
    if (status == CNI_EXIT_DONE) status = cni_job_dump_step(job, &report);
    if (status == CNI_EXIT_DONE && job->due) status = cni_job_checkpoint(job, 1);
    if (status == CNI_EXIT_DONE && cni_progress_due(&progress))
      cni_progress_show(&progress, report.step, report.time,
                        progress_note(job, &report, note, sizeof note));
  }
  job->interrupted = stopped && status == CNI_EXIT_DONE;
  job->seconds = cni_clock() - start;
  if (status == CNI_EXIT_DONE)
    cni_progress_end(&progress, report.step, report.time,
                     progress_note(job, &report, note, sizeof note));
  return status;
}

static void tell_start(const CniJob *job) {
  CnWorldInfo info;
  if (!job->verbose) return;
  cn_world_info(job->world, &info);
  cni_tell("%s: %d bodies, %d shapes, %d joints; %lld steps of %g s; %s, %s with %d iterations, "
           "tolerance %g, friction model %s, %d threads",
           job->label, info.body_count, info.shape_count, info.joint_count,
           (long long)(job->last_step - job->first_step), job->def.time_step, job->def.integrator,
           job->def.solver.name, job->def.solver.max_iterations,
           cn_solver_tolerance(&job->def.solver), cn_friction_model_name(job->def.friction),
           job->def.worker_count);
}

static int run(const CniArgs *args) {
  CniJob job;
  stop_asked = 0;
  catch_signals();
  int status = cni_job_options(&job, args);
  if (status == CNI_EXIT_DONE) status = cni_job_open(&job);
  if (status == CNI_EXIT_DONE) {
    tell_start(&job);
    status = step_all(&job);
  }
  if (status == CNI_EXIT_DONE && cn_world_gather(job.world) != CN_OK)
    status = cni_fail(args, "%s: %s", job.label, cn_error_message());
  if (status == CNI_EXIT_DONE && cni_figures_finish(&job.figures, job.world) != CN_OK)
    status = cni_fail(args, "%s: %s", job.label, cn_error_message());
  if (status == CNI_EXIT_DONE) status = cni_job_verdict(&job);
  // also after a failure the run file is closed in order: it holds everything up to there
  if (status == CNI_EXIT_DONE) status = cni_job_checkpoint(&job, 1);
  int closed = cni_job_record_close(&job, status != CNI_EXIT_DONE);
  if (status == CNI_EXIT_DONE) status = closed;
  if (status == CNI_EXIT_DONE) {
    cni_job_show(&job);
    if (!job.quiet) cni_figures_tell_sources(&job);
    if (cni_args_has(args, "strict") && !job.verdict.trusted) status = CNI_EXIT_INEXACT;
    if (job.interrupted) status = CNI_EXIT_INTERRUPTED;
  }
  cni_job_release(&job);
  return status;
}

static const CniOption options[] = {
    {"time", 0, "T", "seconds to simulate (default: the scene's)"},
    {"steps", 0, "N", "steps to make, instead of --time"},
    {"h", 0, "H", "time step in seconds (default: the scene's); hem5, rkf45: fixed steps of H"},
    {"integrator", 0, "I", "integrator, see `cairn integrators`"},
    {"solver", 0, "S", "solver, see `cairn solvers`"},
    {"effort", 0, "quick|normal|exact", "how much work the solver auto may spend on a step"},
    {"friction", 0, "coulomb|convex", "friction model: exact, or the convex relaxation"},
    {"iters", 0, "N", "iterations of the solver in each step, at most"},
    {"tol", 0, "X", "stop a step's solver at this residual; 0: all iterations; hem5, rkf45: error"},
    {"threads", 0, "N", "worker threads (default 1); the results do not depend on it"},
    CNI_OPTION_SET,
    CNI_OPTION_FILES,
    CNI_OPTION_NO_CACHE,
    {"setting", 0, "KEY=VALUE", "a setting of docs/scene.md: solver.facets=12; may be repeated"},
    {"out", 'o', "FILE", "record the run in this file (HDF5); without it nothing is recorded"},
    {"fps", 0, "F", "frames kept per simulated second (default 60); 0: every step"},
    {"record", 0, "contacts,joints", "keep contacts, joint reactions or both with each frame"},
    {"no-clock", 0, NULL, "record no times of the clock: equal runs are files of equal bytes"},
    {"plain", 0, NULL, "leave a complete run file as it is, not compressed"},
    {"force", 'f', NULL, "replace files that exist"},
    {"checkpoint", 0, "FILE", "write a checkpoint now and then, and at the end"},
    {"checkpoint-every", 0, "SECONDS", "seconds of the clock between two checkpoints (default 30)"},
    {"resume", 0, "FILE", "go on from a checkpoint, and with the run file it names"},
    {"strict", 0, NULL, "exit status 3 where the verdict is not to trust the run"},
    {"estimate", 0, "N", "every Nth step: its error, by two steps of half the length"},
    {"dump-problems", 0, "DIR", "write step problems to this folder, for `cairn solve` and others"},
    {"dump-every", 0, "N", "write the problem of every Nth step only (default 1)"},
    CNI_OPTION_JSON,
    CNI_OPTION_QUIET,
    CNI_OPTION_VERBOSE,
    CNI_OPTION_END};

static const CniExample examples[] = {
    {"cairn run granular --set spheres=10000 --time 1", "a built-in scene, nothing recorded"},
    {"cairn run scene.json --steps 100 --json", "a scene file, the summary as JSON"},
    {"cairn run heap --time 60 --out heap.h5 --checkpoint heap.ckpt", "recorded, with checkpoints"},
    {"cairn run --resume heap.ckpt --checkpoint heap.ckpt", "the same run, after it was killed"},
    {"cairn run --resume settled.ckpt --set mu=0.7 --out mu7.h5", "settle once, then vary"},
    {"cairn run heap --dump-problems problems --dump-every 50", "every 50th problem as a file"},
    {NULL, NULL}};

const CniCommand cni_command_run = {
    .name = "run",
    .summary = "simulate a scene",
    .operands = "SCENE",
    .operand_max = 1, // none with --resume
    .description =
        "Simulates a scene: the name of a built-in one (see `cairn scenes`) or a JSON file.\n\n"
        "Progress is shown on standard error: a bar on a terminal, plain lines elsewhere. Ctrl-C "
        "ends the run after the step at work, with complete files. The summary tells contacts, "
        "penetration, residual "
        "and "
        "times of the last 20 steps, and a hash of the final state: the same scene gives the same "
        "hash on every machine and for any number of threads. The last line is the verdict: "
        "trusted, "
        "or not, and why (docs/theory/verdict.md); it never changes a result.\n\n"
        "A run file can be read while it is written, and after a run was killed. An existing file "
        "is "
        "replaced only with --force, and only when the new one is complete, which is then "
        "compressed. A resumed run has the "
        "same bits as one that never stopped: options that change results must be those it began "
        "with; --time and --steps may be longer. With other parameters (--set) and a file of its "
        "own (--out) it is "
        "another run from there, settled once and varied: materials, functions, forces, drives, "
        "masses and settings may "
        "change, what there is and where may not.\n\n"
        "Problems are written as FCLib global files, DIR/step-000050.hdf5 for step 50; those that "
        "FCLib has no words for (compliance, bounds, the convex friction model, ...) as Cairn's "
        "JSON, DIR/step-000050.json.",
    .options = options,
    .examples = examples,
    .run = run};
