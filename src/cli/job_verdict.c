// SPDX-License-Identifier: Apache-2.0
// The last line of a run: can it be trusted, why not, and what to try.
#include <string.h>

#include "cli/job.h"

int cni_job_verdict(CniJob *job) {
  CnStatus status = cn_world_verdict(job->world, &job->verdict);
  if (status == CN_OK && job->writer) status = cn_recorder_verdict(job->writer, &job->verdict);
  if (status == CN_OK) return CNI_EXIT_DONE;
  return cni_fail(job->args, "%s: %s", job->label, cn_error_message());
}

// What the command line can do about it; "": nothing.
static const char *advice(const CniJob *job, char *text, size_t capacity) {
  const CnVerdict *v = &job->verdict;
  int other = strcmp(job->def.solver.name, "auto") != 0;
  int exact = !other && job->def.solver.effort == CN_EFFORT_EXACT;
  const char *solve = exact ? "--tol 1e-10" : "--effort exact";
  const CnFinding *f = &v->findings[CN_FINDING_JOINTS];
  text[0] = 0;
  if (f->is_reason && f->first_step <= 1 && f->worst_step <= 1)
    snprintf(text, capacity, "; mend the start (cairn check)");
  else if (v->time_step > 0 && (v->exact || other))
    snprintf(text, capacity, "; try --h %g or %s", v->time_step, solve);
  else if (v->time_step > 0)
    snprintf(text, capacity, "; try --h %g", v->time_step);
  else if (v->exact)
    snprintf(text, capacity, "; try %s", solve);
  return text;
}

int cni_job_warn(CniJob *job) {
  if (job->warned || job->quiet || job->json) return CNI_EXIT_DONE;
  if (cn_world_doubts(job->world) == 0) return CNI_EXIT_DONE;
  int status = cni_job_verdict(job);
  const CnVerdict *v = &job->verdict;
  job->warned = 1;
  if (status == CNI_EXIT_DONE && !v->trusted)
    cni_tell("%s: step %lld: %s", job->label, (long long)v->step_count,
             v->findings[v->reasons[0]].text);
  return status;
}

const char *cni_job_verdict_word(const CniJob *job) {
  const CnVerdict *v = &job->verdict;
  return v->trusted ? "trusted" : v->reason_count ? "do not trust" : "not judged";
}

void cni_job_print_verdict(const CniJob *job) {
  char text[96];
  printf("%s%s\n", job->verdict.line, advice(job, text, sizeof text));
}

void cni_job_show_verdict(CniShow *show, const CniJob *job) {
  const CnVerdict *v = &job->verdict;
  char text[96];
  cni_show_text(show, "verdict", NULL, cni_job_verdict_word(job));
  cni_show_text(show, "verdict_line", NULL, v->line);
  cni_show_list(show, "reasons", NULL);
  for (int32_t i = 0; i < v->reason_count; i++) {
    const CnFinding *f = &v->findings[v->reasons[i]];
    cni_show_row(show);
    cni_show_text(show, "name", "name", cn_finding_name((int32_t)v->reasons[i]));
    cni_show_text(show, "text", "text", f->text);
    cni_show_count(show, "first_step", "first_step", f->first_step);
    cni_show_count(show, "steps", "steps", f->step_count);
    cni_show_row_end(show);
  }
  cni_show_list_end(show);
  cni_show_list(show, "findings", NULL);
  for (int32_t i = 0; i < CN_FINDING_COUNT; i++) {
    const CnFinding *f = &v->findings[i];
    cni_show_row(show);
    cni_show_text(show, "name", "name", cn_finding_name(i));
    cni_show_number(show, "value", "value", f->value, "");
    cni_show_number(show, "relative", "relative", f->relative, "");
    cni_show_number(show, "threshold", "threshold", f->threshold, "");
    cni_show_count(show, "steps", "steps", f->step_count);
    cni_show_count(show, "worst_step", "worst_step", f->worst_step);
    cni_show_row_end(show);
  }
  cni_show_list_end(show);
  cni_show_flag(show, "energy_watched", NULL, v->energy_watched);
  advice(job, text, sizeof text);
  if (text[0]) cni_show_text(show, "advice", NULL, text + 2);
}
