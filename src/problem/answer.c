// SPDX-License-Identifier: Apache-2.0
// The answer: impulses, constraint velocities and group velocities that belong to a problem. Its
// arrays grow and never shrink, so that a world that keeps one allocates nothing after warm-up.
#include "problem/problem.h"

#include "core/floats.h"

#include <string.h>

CnAnswer cn_answer_empty(const CnAllocator *allocator) {
  CnAnswer answer = {0};
  answer.allocator = allocator ? *allocator : cn_allocator_default();
  return answer;
}

CnStatus cni_answer_reserve_u(CnAnswer *answer) {
  if (answer->u || answer->row_capacity == 0) return CN_OK;
  size_t bytes = (size_t)answer->row_capacity * sizeof *answer->u;
  answer->u = cni_allocate(&answer->allocator, bytes);
  return answer->u ? CN_OK : cni_error_memory(bytes);
}

// g and u share one capacity: both grow or none.
static CnStatus reserve_rows(CnAnswer *answer, int32_t needed, int with_u) {
  if (needed <= answer->row_capacity) return with_u ? cni_answer_reserve_u(answer) : CN_OK;
  double *g = NULL, *u = NULL;
  int32_t g_capacity = 0, u_capacity = 0;
  size_t old = (size_t)answer->row_capacity * sizeof(double);
  CNI_TRY(CNI_RESERVE(&answer->allocator, g, g_capacity, 0, needed));
  CnStatus status = CN_OK;
  if (with_u || answer->u) status = CNI_RESERVE(&answer->allocator, u, u_capacity, 0, needed);
  if (status != CN_OK) {
    CNI_RELEASE(&answer->allocator, g, g_capacity);
    return status;
  }
  cni_release(&answer->allocator, answer->g, old);
  cni_release(&answer->allocator, answer->u, old);
  answer->g = g;
  answer->u = u;
  answer->row_capacity = g_capacity;
  return CN_OK;
}

static CnStatus fit(CnAnswer *answer, const CnProblem *p, int with_u) {
  if (!answer->allocator.allocate || !answer->allocator.release)
    return cni_invalid("answer was not made by cn_answer_empty");
  CNI_TRY(cni_problem_check(p));
  int32_t rows = p->row_count, velocities = cni_problem_velocity_count(p);
  // velocities first: a failure after it has only made room, the numbers are still there
  CNI_TRY(CNI_RESERVE(&answer->allocator, answer->v, answer->velocity_capacity,
                      answer->velocity_count, velocities));
  CNI_TRY(reserve_rows(answer, rows, with_u));
  answer->row_count = rows;
  answer->velocity_count = velocities;
  return CN_OK;
}

CnStatus cni_answer_fit(CnAnswer *answer, const CnProblem *p) { return fit(answer, p, 0); }

CnStatus cn_answer_fit(CnAnswer *answer, const CnProblem *p) {
  CNI_FLOATS;
  if (!answer || !p) return cni_invalid("cn_answer_fit: %s is null", p ? "answer" : "problem");
  CNI_TRY(fit(answer, p, 1));
  if (answer->row_count > 0) {
    memset(answer->g, 0, (size_t)answer->row_count * sizeof *answer->g);
    memset(answer->u, 0, (size_t)answer->row_count * sizeof *answer->u);
  }
  if (answer->velocity_count > 0)
    memset(answer->v, 0, (size_t)answer->velocity_count * sizeof *answer->v);
  return CN_OK;
}

CnStatus cn_answer_complete(CnAnswer *answer, const CnProblem *p) {
  CNI_FLOATS;
  if (!answer || !p) return cni_invalid("cn_answer_complete: %s is null", p ? "answer" : "problem");
  CNI_TRY(cni_problem_check(p));
  int32_t velocities = cni_problem_velocity_count(p);
  if (answer->row_count != p->row_count || answer->velocity_count != velocities)
    return cni_invalid("the answer has %d impulses and %d velocities, the problem %d and %d",
                       answer->row_count, answer->velocity_count, p->row_count, velocities);
  if (p->form == CN_FORM_GLOBAL) CNI_TRY(cni_global_prepare(p));
  CNI_TRY(cni_answer_reserve_u(answer));
  if (p->form != CN_FORM_EXPLICIT) cni_problem_apply(p, answer->g, answer->v);
  cni_problem_velocity(p, answer->v, answer->g, answer->u);
  return CN_OK;
}

void cn_answer_release(CnAnswer *answer) {
  if (!answer || !answer->allocator.release) return;
  CnAllocator allocator = answer->allocator;
  CNI_RELEASE(&allocator, answer->g, answer->row_capacity);
  CNI_RELEASE(&allocator, answer->u, answer->row_capacity);
  CNI_RELEASE(&allocator, answer->v, answer->velocity_capacity);
  *answer = cn_answer_empty(&allocator);
}
