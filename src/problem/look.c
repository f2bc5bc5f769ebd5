// SPDX-License-Identifier: Apache-2.0
// Looking into a problem from outside (<cairn/blocks.h>).
#include <cairn/blocks.h>

#include "core/floats.h"
#include "problem/problem.h"

static CnStatus check(const CnProblem *p, const void *out, int32_t index, int32_t count,
                      const char *what) {
  if (!p || !out) return cni_invalid("%s: the %s is null", what, p ? "result" : "problem");
  if (index >= 0 && index < count) return CN_OK;
  return cni_invalid("%s: there is no number %d, of %d", what, (int)index, (int)count);
}

CnStatus cn_problem_block(const CnProblem *problem, int32_t index, CnBlock *block) {
  CNI_FLOATS;
  CNI_TRY(check(problem, block, index, problem ? problem->block_count : 0, "cn_problem_block"));
  const CniBlock *b = &problem->blocks[index];
  *block = (CnBlock){(CnBlockKind)b->kind, b->row, b->dim, (int32_t)b->set};
  return CN_OK;
}

CnStatus cn_problem_block_set(const CnProblem *problem, int32_t index, CnSet *set) {
  CNI_FLOATS;
  CNI_TRY(check(problem, set, index, problem ? problem->block_count : 0, "cn_problem_block_set"));
  *set = problem->sets[problem->blocks[index].set];
  return CN_OK;
}

// Rows of blocks ascend.
CnStatus cn_problem_row_block(const CnProblem *problem, int32_t row, int32_t *block) {
  CNI_FLOATS;
  CNI_TRY(check(problem, block, row, problem ? problem->row_count : 0, "cn_problem_row_block"));
  int32_t low = 0, high = problem->block_count;
  while (high - low > 1) {
    int32_t middle = low + (high - low) / 2;
    if (problem->blocks[middle].row <= row)
      low = middle;
    else
      high = middle;
  }
  *block = low;
  return CN_OK;
}

CnStatus cn_problem_matrices(const CnProblem *problem, CnProblemMatrices *matrices) {
  CNI_FLOATS;
  CNI_TRY(check(problem, matrices, 0, 1, "cn_problem_matrices"));
  *matrices = (CnProblemMatrices){0};
  if (problem->form == CN_FORM_EXPLICIT) {
    matrices->w = &problem->w;
    matrices->q = problem->b;
    return CN_OK;
  }
  if (problem->form != CN_FORM_GLOBAL || !problem->global)
    return cni_error(CN_UNSUPPORTED, "cn_problem_matrices: the problem is of the step form, or "
                                     "empty; cn_problem_expand writes one out");
  matrices->m = &problem->global->m;
  matrices->e = &problem->global->e;
  matrices->k = problem->global->k;
  matrices->b = problem->b;
  return CN_OK;
}
