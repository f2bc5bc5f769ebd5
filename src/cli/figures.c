// SPDX-License-Identifier: Apache-2.0
// What `cairn run` measures: sums over a ring of the last 20 steps, counts over all of them, and
// the two forms in which they are printed.
//
// The names of the JSON fields are a contract with other tools: fields may be added, never renamed.
#include <string.h>

#include "cli/job.h"

// ---- the ring ----

static CnStatus measure(CniStepFigures *f, CnWorld *world) {
  CnPenetration p;
  CnStatus status = cn_world_penetration(world, &p);
  if (status != CN_OK) return status;
  f->overlaps = p.overlap_count;
  f->penetration_max = p.max;
  f->penetration_sum = p.mean * p.overlap_count;
  return CN_OK;
}

// The larger one, and not a number where either is none.
static double larger(double most, double value, int first) {
  return first || !(value <= most) ? value : most;
}

CnStatus cni_figures_add(CniFigures *figures, CnWorld *world, const CnStepReport *report,
                         double seconds, int with_penetration) {
  CniStepFigures *f = &figures->last[figures->step_count % CNI_LAST_STEPS];
  double residual = report->solve.certificate.residual;
  *f = (CniStepFigures){.seconds = seconds,
                        .collision = report->seconds_collision,
                        .solver = report->seconds_solver,
                        .setup = report->seconds_setup,
                        .contacts = report->contact_count,
                        .iterations = report->solve.iterations,
                        .residual = residual,
                        .overlaps = -1};
  figures->step_count++;
  if (report->solve.converged == 0) figures->not_converged++;
  if (report->solve.converged < 0) figures->uncertified++;
  if (report->solve.cut_by_time) figures->cut_by_time++;
  figures->whole += report->solve.method && strcmp(report->solve.method, "tree") == 0;
  cni_figures_note(figures, world, report);
  figures->friction = report->solve.friction;
  if (!(residual <= figures->residual_max)) figures->residual_max = residual;
  const CnIntegratorReport *r = &report->integration;
  figures->integrator_steps += r->steps;
  figures->rejected += r->rejected;
  figures->integrator_error = fmax(figures->integrator_error, r->error);
  figures->events += r->events;
  figures->led_over += r->last_cause && strcmp(r->last_cause, "endless") == 0;
  int first = figures->step_count == 1;
  figures->position_drift = larger(figures->position_drift, r->position_drift, first);
  figures->velocity_drift = larger(figures->velocity_drift, r->velocity_drift, first);
  return with_penetration ? measure(f, world) : CN_OK;
}

CnStatus cni_figures_finish(CniFigures *figures, CnWorld *world) {
  // a run that had no step to make still has a state
  if (figures->step_count == 0) return measure(&figures->last[0], world);
  CniStepFigures *f = &figures->last[(figures->step_count - 1) % CNI_LAST_STEPS];
  return f->overlaps < 0 ? measure(f, world) : CN_OK;
}

// Means and maxima over the ring.
typedef struct Summary {
  CniStepFigures mean;
  double ns_per_contact_iteration, penetration_mean;
  int32_t contacts_last, overlaps;
} Summary;

// The model that was solved: a solver that can do no other says so in its report.
static const char *friction_name(const CniJob *job) {
  return cn_friction_model_name(job->figures.step_count > 0 ? job->figures.friction
                                                            : job->def.friction);
}

static Summary summarise(const CniFigures *figures) {
  Summary s = {0};
  int64_t n = figures->step_count < CNI_LAST_STEPS ? figures->step_count : CNI_LAST_STEPS;
  int64_t last = n > 0 ? (figures->step_count - 1) % CNI_LAST_STEPS : 0;
  double pairs = 0, sum = 0, steps = n > 0 ? (double)n : 1;
  for (int64_t i = 0; i < (n > 0 ? n : 1); i++) {
    const CniStepFigures *f = &figures->last[i];
    s.mean.seconds += f->seconds / steps;
    s.mean.collision += f->collision / steps;
    s.mean.solver += f->solver / steps;
    s.mean.setup += f->setup / steps;
    s.mean.contacts += f->contacts / steps;
    s.mean.iterations += f->iterations / steps;
    s.mean.residual = larger(s.mean.residual, f->residual, i == 0);
    if (f->overlaps < 0) continue;
    s.mean.penetration_max = fmax(s.mean.penetration_max, f->penetration_max);
    sum += f->penetration_sum;
    pairs += f->overlaps;
  }
  double sweeps = s.mean.contacts * s.mean.iterations;
  s.ns_per_contact_iteration = sweeps > 0 ? 1e9 * (s.mean.solver - s.mean.setup) / sweeps : 0;
  s.penetration_mean = pairs > 0 ? sum / pairs : 0;
  s.contacts_last = (int32_t)figures->last[last].contacts;
  s.overlaps = figures->last[last].overlaps;
  return s;
}

// ---- JSON ----

static void show_contract(CniShow *show, const CniJob *job, const Summary *s,
                          const CnWorldInfo *info, const char *hash) {
  CnWorldSums sums;
  cn_world_sums(job->world, &sums);
  cni_show_count(show, "steps", NULL, info->step);
  cni_show_number(show, "time", NULL, info->time, "");
  cni_show_count(show, "bodies", NULL, info->body_count);
  cni_show_count(show, "contacts_last", NULL, s->contacts_last);
  cni_show_number(show, "contacts_mean", NULL, s->mean.contacts, "");
  cni_show_count(show, "overlaps", NULL, s->overlaps);
  cni_show_number(show, "iterations_mean", NULL, s->mean.iterations, "");
  cni_show_number(show, "ms_per_step", NULL, 1e3 * s->mean.seconds, "");
  cni_show_number(show, "ms_collision", NULL, 1e3 * s->mean.collision, "");
  cni_show_number(show, "ms_solver", NULL, 1e3 * s->mean.solver, "");
  cni_show_number(show, "ms_setup", NULL, 1e3 * s->mean.setup, "");
  cni_show_number(show, "ns_per_contact_iteration", NULL, s->ns_per_contact_iteration, "");
  cni_show_number(show, "penetration_max", NULL, s->mean.penetration_max, "");
  cni_show_number(show, "penetration_mean", NULL, s->penetration_mean, "");
  cni_show_number(show, "kinetic_energy", NULL, sums.kinetic_energy, "");
  cni_show_number(show, "residual_max", NULL, s->mean.residual, "");
  cni_show_count(show, "steps_not_converged", NULL,
                 cn_solver_tolerance(&job->def.solver) > 0 ? job->figures.not_converged : 0);
  cni_show_count(show, "steps_cut_by_time", NULL, job->figures.cut_by_time);
  cni_show_text(show, "friction_model", NULL, friction_name(job));
  cni_show_text(show, "integrator", NULL, job->def.integrator);
  cni_show_text(show, "solver", NULL, job->def.solver.name);
  if (strcmp(job->def.solver.name, "auto") == 0)
    cni_show_text(show, "effort", NULL, cni_effort_name((int32_t)job->def.solver.effort));
  cni_show_text(show, "version", NULL, cn_version());
  cni_show_text(show, "state_hash", NULL, hash);
  cni_show_count(show, "peak_memory_bytes", NULL, (int64_t)info->memory_peak_bytes);
}

static void show_more(CniShow *show, const CniJob *job) {
  double gravity[3] = {job->def.gravity.x, job->def.gravity.y, job->def.gravity.z};
  cni_show_text(show, "scene", NULL, job->label);
  cni_show_number(show, "h", NULL, job->def.time_step, "");
  cni_show_vector(show, "gravity", NULL, gravity, "");
  cni_show_count(show, "threads", NULL, job->def.worker_count);
  cni_show_count(show, "first_step", NULL, job->first_step);
  cni_show_number(show, "seconds", NULL, job->seconds, "");
  cni_show_number(show, "residual_max_run", NULL, job->figures.residual_max, "");
  cni_show_number(show, "tolerance", NULL, cn_solver_tolerance(&job->def.solver), "");
  cni_figures_show_notes(show, job);
  cni_show_count(show, "steps_uncertified", NULL, job->figures.uncertified);
  cni_show_count(show, "steps_infeasible", NULL, job->figures.contradicting + job->figures.torn);
  if (job->figures.torn > 0)
    cni_show_text(show, "infeasible_joints", NULL, job->figures.torn_joints);
  if (job->figures.contradicting > 0)
    cni_show_text(show, "infeasible_contacts", NULL, job->figures.contradiction);
  cni_show_count(show, "integrator_steps", NULL, job->figures.integrator_steps);
  cni_show_count(show, "steps_rejected", NULL, job->figures.rejected);
  cni_show_count(show, "located_events", NULL, job->figures.events);
  cni_show_count(show, "steps_led_over", NULL, job->figures.led_over);
  cni_show_count(show, "steps_whole", NULL, job->figures.whole);
  // what vouches for the steps: a solver's residual, or an integrator's error and drift
  cni_show_text(show, "certificate", NULL, job->figures.uncertified > 0 ? "drift" : "residual");
  if (job->figures.uncertified > 0) {
    cni_show_number(show, "integrator_tolerance", NULL, job->def.integration.tolerance, "");
    cni_show_number(show, "integrator_error_max", NULL, job->figures.integrator_error, "");
  }
  cni_show_number(show, "position_drift_max", NULL, job->figures.position_drift, "");
  cni_show_number(show, "velocity_drift_max", NULL, job->figures.velocity_drift, "");
  cni_show_flag(show, "interrupted", NULL, job->interrupted);
  if (job->file) cni_show_text(show, "out", NULL, job->file);
  if (job->dump) cni_show_count(show, "problems_written", NULL, job->dump_count);
  if (job->estimate_every > 0) {
    cni_show_number(show, "estimate_position_max", NULL, job->estimate.position, "");
    cni_show_number(show, "estimate_turn_max", NULL, job->estimate.turn, "");
    cni_show_number(show, "estimate_velocity_max", NULL, job->estimate.velocity, "");
    cni_show_number(show, "estimate_spin_max", NULL, job->estimate.spin, "");
  }
}

// ---- text ----

static const char *bytes_text(double bytes, char *text, size_t capacity) {
  if (bytes >= 1e9)
    snprintf(text, capacity, "%.2f GB", 1e-9 * bytes);
  else if (bytes >= 1e6)
    snprintf(text, capacity, "%.1f MB", 1e-6 * bytes);
  else
    snprintf(text, capacity, "%.1f kB", 1e-3 * bytes);
  return text;
}

static void print_convergence(const CniJob *job, const Summary *s) {
  const CniFigures *f = &job->figures;
  if (job->estimate_every > 0)
    printf("  error a step   %.3g m, %.3g rad, %.3g m/s, %.3g rad/s at most, by half steps\n",
           job->estimate.position, job->estimate.turn, job->estimate.velocity, job->estimate.spin);
  if (isfinite(f->position_drift) && f->integrator_steps > 0)
    printf(
        "  drift          %.3g m, %.3g m/s at most; %lld steps of %s, %lld rejected, %lld events\n",
        f->position_drift, f->velocity_drift, (long long)f->integrator_steps, job->def.integrator,
        (long long)f->rejected, (long long)f->events);
  if (f->led_over > 0)
    printf("  led over       changes of contact without end, steps: %lld\n",
           (long long)f->led_over);
  if (f->uncertified > 0 && job->def.integration.tolerance > 0)
    printf("  error a step   %.3g at most, of the tolerance %g\n", f->integrator_error,
           job->def.integration.tolerance);
  else if (f->uncertified > 0)
    printf("  error a step   not controlled: steps of fixed length\n");
  if (f->uncertified > 0) return; // no step problem, no residual
  printf("  residual       %.3g at most in the last %d steps, %.3g in all; ", s->mean.residual,
         CNI_LAST_STEPS, f->residual_max);
  if (cn_solver_tolerance(&job->def.solver) > 0)
    printf("%lld of %lld steps above the tolerance %g\n", (long long)f->not_converged,
           (long long)f->step_count, cn_solver_tolerance(&job->def.solver));
  else
    printf("no tolerance asked for\n");
  if (f->contradicting > 0)
    printf("  infeasible     %lld steps with contacts that contradict each other, first %s\n",
           (long long)f->contradicting, f->contradiction);
  if (f->torn > 0)
    printf("  infeasible     %lld steps with joints that contradict each other, first %s\n",
           (long long)f->torn, f->torn_joints);
  if (f->cut_by_time) printf("  cut by time    %lld steps\n", (long long)f->cut_by_time);
  if (f->whole > 0)
    printf("  whole steps    %lld of %lld, of hinges alone, without a step problem\n",
           (long long)f->whole, (long long)f->step_count);
}

static void print_summary(const CniJob *job, const Summary *s, const CnWorldInfo *info,
                          const char *hash) {
  CnWorldSums sums;
  char memory[32];
  cn_world_sums(job->world, &sums);
  printf("%s: %s%lld steps of %g s, %g s simulated, %.3g s of computing\n", job->label,
         job->interrupted ? "interrupted after " : "", (long long)info->step, job->def.time_step,
         info->time, job->seconds);
  printf("  bodies         %d, %d joints\n", info->body_count, info->joint_count);
  printf("  contacts       %d, %d of them overlaps; mean %.6g\n", s->contacts_last, s->overlaps,
         s->mean.contacts);
  printf("  penetration    %.3g m at most, %.3g m in the mean\n", s->mean.penetration_max,
         s->penetration_mean);
  print_convergence(job, s);
  printf("  kinetic energy %.6g J\n", sums.kinetic_energy);
  cni_figures_print_balance(&job->figures);
  printf("  a step took    %.4g ms: %.4g collision, %.4g solver (%.4g set-up)\n",
         1e3 * s->mean.seconds, 1e3 * s->mean.collision, 1e3 * s->mean.solver, 1e3 * s->mean.setup);
  if (job->figures.uncertified == 0)
    printf("  solver         %s, %.6g iterations, %.3g ns per contact and iteration\n",
           job->def.solver.name, s->mean.iterations, s->ns_per_contact_iteration);
  if (job->verbose) {
    printf("  integrator     %s, friction model %s\n", job->def.integrator, friction_name(job));
    printf("  gravity        (%g, %g, %g) m/s^2\n", job->def.gravity.x, job->def.gravity.y,
           job->def.gravity.z);
    printf("  threads        %d\n", job->def.worker_count);
    printf("  memory         %s at most\n",
           bytes_text((double)info->memory_peak_bytes, memory, sizeof memory));
    printf("  version        %s\n", cn_version());
  }
  printf("  state hash     %s\n", hash);
  if (job->dump)
    printf("  problems       %lld written to %s\n", (long long)job->dump_count, job->dump);
  if (job->file)
    printf("  recorded in    %s\n", job->file);
  else
    printf("  nothing was recorded (--out run.h5 records)\n");
  if (job->checkpoint) printf("  checkpoint     %s\n", job->checkpoint);
}

void cni_job_show(const CniJob *job) {
  Summary summary = summarise(&job->figures);
  CnWorldInfo info;
  char hash[24];
  cn_world_info(job->world, &info);
  snprintf(hash, sizeof hash, "%016llx", (unsigned long long)cn_world_hash(job->world));
  if (job->figures.step_count == 0) summary.contacts_last = info.contact_count;
  if (job->json) {
    CniShow show;
    cni_show_begin(&show, stdout, 1);
    show_contract(&show, job, &summary, &info, hash);
    show_more(&show, job);
    cni_job_show_verdict(&show, job);
    cni_show_end(&show);
  } else if (!job->quiet) {
    print_summary(job, &summary, &info, hash);
    cni_job_print_verdict(job);
  }
}
