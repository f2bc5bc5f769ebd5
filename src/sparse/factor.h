// SPDX-License-Identifier: Apache-2.0
// Solving with a symmetric positive definite sparse matrix: P S P^T = L D L^T.
//
// The matrix falls into connected components (the bodies of a mass matrix, say); the rows of each
// are consecutive in the factor, so that a right-hand side that lives in a few components costs no
// more than those. A matrix M that is symmetric only to the digits it was
// written with is factored as S = (M + M^T)/2, and solutions with M itself are found by refinement.
#ifndef CNI_SPARSE_FACTOR_H
#define CNI_SPARSE_FACTOR_H

#include <cairn/base.h>

typedef struct CniFactor {
  CnAllocator allocator;
  int32_t size;
  struct CniLdl *ldl;
  const int32_t *order;     // of the ldl: order[i] is the row of the matrix that is its row i
  int32_t *component;       // per row of the matrix
  int32_t *component_start; // component_count + 1, in rows of the factor
  int32_t component_count;
  int32_t refine;    // 1: M is not S
  const CnSparse *m; // borrowed while refine is 1
  double *work;      // 2 size, of solutions
} CniFactor;

// Factor a square matrix. `name` appears in the message that it is not positive definite
// (CN_INVALID_DATA). The matrix is borrowed as long as the factor lives.
CnStatus cni_factor_create(const CnAllocator *allocator, const CnSparse *m, const char *name,
                           CniFactor **factor);
void cni_factor_destroy(CniFactor *factor);

// x <- M^-1 x
void cni_factor_solve(CniFactor *factor, double *x);
// The same for the rows of one component; the others are not touched.
void cni_factor_solve_component(CniFactor *factor, int32_t component, double *x);

#endif
