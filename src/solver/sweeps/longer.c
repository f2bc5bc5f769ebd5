// SPDX-License-Identifier: Apache-2.0
// Longer steps in some of the sweeps.
//
// Who asks for it (auto) has steps that are longer by a factor in some of the sweeps. 1/eta is the step that solves a
// row with all others held; with more of it, weight and impact travel through a pile in fewer sweeps, and the last
// sweeps, as short as ever, take out what it leaves from contact to contact.
#include "solver/sweeps/psor.h"

#define SETS_PER_TASK 1024

typedef struct LongerLoop {
  CniPsor *s;
  double times;
} LongerLoop;

static inline void multiply(CniPsorLine *line, double times) {
  for (int32_t lane = 0; lane < CNI_BATCH_LANES; lane++) line->lane[lane] *= times;
}

static void lengthen_sets(void *context, int32_t begin, int32_t end) {
  const LongerLoop *loop = context;
  for (int32_t i = begin; i < end; i++) {
    CniPsorLine *set = loop->s->sets + CNI_LINES_SET * (size_t)i;
    multiply(set + CNI_LINE_STEP_N, loop->times);
    multiply(set + CNI_LINE_STEP_T, loop->times);
  }
}

static void lengthen_run(const LongerLoop *loop, const CniPsorRun *run) {
  int32_t lines = cni_psor_lines(run->kind), full = cni_psor_full(run->kind);
  CniPsorLine *c = loop->s->lines + run->offset;
  for (int32_t k = 0; k < run->count; k++) {
    c++; // the head
    for (int32_t i = 0; i < run->length; i++, c += lines) {
      multiply(c + CNI_LINES_OWN + CNI_LINE_STEP_N, loop->times);
      multiply(c + CNI_LINES_OWN + CNI_LINE_STEP_T, loop->times);
      if (run->kind % 3 != 2) continue;
      multiply(c + full + CNI_LINE_STEP_R, loop->times);
      multiply(c + full + CNI_LINE_STEP_S, loop->times);
    }
  }
}

static void lengthen_columns(void *context, int32_t begin, int32_t end) {
  const LongerLoop *loop = context;
  const CniPsor *s = loop->s;
  for (int32_t i = s->run_start[begin]; i < s->run_start[end]; i++)
    if (s->runs[i].kind < CNI_PSOR_LANE_KINDS && s->runs[i].kind != CNI_PSOR_SPHERE)
      lengthen_run(loop, &s->runs[i]);
}

static void lengthen(CniPsor *s, double times) {
  LongerLoop loop = {s, times};
  cni_parallel_for(s->def.tasks, s->set_count, SETS_PER_TASK, lengthen_sets, &loop);
  cni_parallel_for(s->def.tasks, s->schedule.column_count + 1, 1, lengthen_columns, &loop);
}

static int has_longer(const CniPsor *s) {
  return s->longer.begin < s->longer.end && s->law == CNI_PSOR_SPLIT && s->p->form == CN_FORM_STEP;
}

void cni_psor_change_steps(CniPsor *s, int32_t done) {
  if (!has_longer(s)) return;
  if (done == s->longer.begin) lengthen(s, s->longer.times);
  if (done == s->longer.end) lengthen(s, 1 / s->longer.times);
}

int32_t cni_psor_to_change(const CniPsor *s, int32_t done) {
  int32_t change = done < s->longer.begin ? s->longer.begin : s->longer.end;
  return has_longer(s) && done < change ? change - done : INT32_MAX;
}
