// SPDX-License-Identifier: Apache-2.0
#include "reference.h"

#include "check.h"
#include "solving.h"
#include "solver/sweeps/local.h"
#include "solver/sweeps/psor.h"

#include <stdlib.h>
#include <string.h>

int32_t *stored_order(const CnProblem *p) {
  int32_t *order = malloc(((size_t)p->block_count + 1) * sizeof *order);
  CHECK(order != NULL);
  for (int32_t i = 0; i < p->block_count; i++) order[i] = i;
  return order;
}

void schedule_order(const CniSchedule *s, int32_t *order) {
  int32_t n = 0;
  for (int32_t phase = 0; phase < s->phase_count; phase++) {
    for (int32_t i = 0; i < cni_schedule_phase_size(s, phase); i++) {
      int32_t column = cni_schedule_column(s, phase, i);
      for (int32_t k = s->start[column]; k < s->start[column + 1]; k++) {
        const CniBatch *batch = &s->batches[k];
        for (int32_t lane = 0; lane < batch->lane_count; lane++)
          for (int32_t j = 0; j < batch->length; j++) order[n++] = batch->block[lane] + j;
      }
    }
  }
}

int32_t *sweep_order(const CnSolverDef *def, CnProblem *p) {
  int32_t *order = stored_order(p);
  CnAnswer answer = cn_answer_empty(&def->allocator);
  void *state = NULL;
  CHECK_OK(cn_answer_fit(&answer, p));
  CHECK_OK(cni_psor_create(def, &def->allocator, 0, &state));
  CniStepMemory memory = held_memory();
  CHECK_OK(cni_psor_prepare(state, p, &answer, &memory));
  schedule_order(&((CniPsor *)state)->schedule, order);
  if (p->form == CN_FORM_STEP) cni_psor_leave(state);
  cni_psor_destroy(state);
  cni_step_memory_release(&memory);
  cn_answer_release(&answer);
  return order;
}

static void relax(const CnProblem *p, const CniLocal *local, const CniBlock *block, double *g,
                  double *v) {
  double u[CNI_MAX_DIM], next[CNI_MAX_DIM], change[CNI_MAX_DIM];
  for (int32_t i = 0; i < block->dim; i++) u[i] = p->b[block->row + i] + local->c[i] * g[i];
  cni_storages[block->storage].velocity(p, block, v, u);
  cni_local_update(local, u, g, next);
  for (int32_t i = 0; i < block->dim; i++) {
    change[i] = next[i] - g[i];
    g[i] = next[i];
  }
  cni_storages[block->storage].impulse(p, block, change, v);
}

void reference_sweeps(const CnSolverDef *def, const CnProblem *p, const int32_t *order,
                      CnAnswer *answer) {
  CniLocalRule rule = {def->relaxation, def->acceleration, (int32_t)def->local};
  size_t count = (size_t)p->block_count, size = 0;
  CniLocal *locals = calloc(count + 1, sizeof *locals);
  for (int32_t i = 0; i < p->block_count; i++)
    size += (size_t)cni_local_pool_size(&p->blocks[i], &rule);
  double *pool = calloc(size + 1, sizeof *pool), *at = pool;
  CHECK(locals && pool);
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    cni_local_prepare(&locals[i], p, block, &rule, at);
    at += cni_local_pool_size(block, &rule);
    cni_project(p, block, answer->g + block->row);
  }
  cni_problem_apply(p, answer->g, answer->v);
  int back = strcmp(def->name, "pssor") == 0;
  for (int32_t k = 0; k < def->max_iterations; k++) {
    for (int32_t i = 0; i < p->block_count; i++) {
      const CniBlock *block = &p->blocks[order[i]];
      relax(p, &locals[order[i]], block, answer->g + block->row, answer->v);
    }
    for (int32_t i = p->block_count - 1; back && i >= 0; i--) {
      const CniBlock *block = &p->blocks[order[i]];
      relax(p, &locals[order[i]], block, answer->g + block->row, answer->v);
    }
  }
  cni_problem_apply(p, answer->g, answer->v);
  cni_problem_velocity(p, answer->v, answer->g, answer->u);
  free(pool);
  free(locals);
}
