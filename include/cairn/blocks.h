// SPDX-License-Identifier: Apache-2.0
/// Look into a problem: its blocks, the sets they belong to, its matrices. What a solver of your own
/// reads, and whoever wants to know what a row of an answer is.
#ifndef CAIRN_BLOCKS_H
#define CAIRN_BLOCKS_H

#include <cairn/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Where a block lies and what it is.
typedef struct CnBlock {
  CnBlockKind kind;
  int32_t row, dim; ///< its rows of g, u and b: row .. row + dim - 1
  int32_t set;      ///< number of its set, as cn_problem_add_set gave it
} CnBlock;

/// Block `index`, in the order in which they were added.
CN_API CnStatus cn_problem_block(const CnProblem *problem, int32_t index, CnBlock *block);

/// The numbers of the set of block `index`: mu, bounds, compliance.
CN_API CnStatus cn_problem_block_set(const CnProblem *problem, int32_t index, CnSet *set);

/// The block that a row of g belongs to.
CN_API CnStatus cn_problem_row_block(const CnProblem *problem, int32_t row, int32_t *block);

/// The matrices as they lie in the problem, valid until it is changed or destroyed. Not to be written.
typedef struct CnProblemMatrices {
  const CnSparse *w;     ///< explicit form: u = W g + q; else null
  const double *q;       ///< explicit form
  const CnSparse *m, *e; ///< global form; else null
  const double *k, *b;   ///< global form
} CnProblemMatrices;

/// CN_UNSUPPORTED of the step form, which has none: cn_problem_expand writes them out.
CN_API CnStatus cn_problem_matrices(const CnProblem *problem, CnProblemMatrices *matrices);

#ifdef __cplusplus
}
#endif
#endif
