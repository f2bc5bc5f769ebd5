// SPDX-License-Identifier: Apache-2.0
// Sparse matrices by rows (CnSparse): building, checking, products, transposition.
//
// A CnSparse owned by the library is released by cni_sparse_release with the allocator that made
// it: the arrays have exactly row_count + 1, entries and entries elements, entries =
// start[row_count].
#ifndef CNI_SPARSE_H
#define CNI_SPARSE_H

#include <cairn/base.h>
#include "core/error.h"
#include "core/memory.h"
#include "sparse/dense.h"  // dense matrices, with their own header
#include "sparse/direct.h" // joints of rigid bodies, likewise
#include "sparse/factor.h" // solutions with a symmetric positive definite matrix, likewise
#include "sparse/ldl.h"    // L D L^T of quasi-definite matrices
#include "sparse/lu.h"     // LU of block matrices
#include "sparse/order.h"  // minimum degree
#include "sparse/span.h"   // dense rows, null spaces, eigenvalues

// One entry on its way into a matrix.
typedef struct CniTriplet {
  int32_t row, column;
  double value;
} CniTriplet;

// Sort entries into rows with ascending columns; entries of one place are added up in the order
// given. Linear cost. On failure *matrix is empty.
CnStatus cni_sparse_build(const CnAllocator *allocator, int32_t row_count, int32_t column_count,
                          const CniTriplet *entries, int32_t entry_count, CnSparse *matrix);
CnStatus cni_sparse_copy(const CnAllocator *allocator, const CnSparse *source, CnSparse *copy);
CnStatus cni_sparse_transpose(const CnAllocator *allocator, const CnSparse *source,
                              CnSparse *transposed);
void cni_sparse_release(const CnAllocator *allocator, CnSparse *matrix);

int32_t cni_sparse_entry_count(const CnSparse *matrix); // 0 for an empty matrix

// y = A x, y += A^T x
void cni_sparse_multiply(const CnSparse *matrix, const double *x, double *y);
void cni_sparse_add_transposed(const CnSparse *matrix, const double *x, double *y);

// The entry of one place, 0 where nothing is stored; logarithmic in the length of the row.
double cni_sparse_entry(const CnSparse *matrix, int32_t row, int32_t column);

// A matrix that came from outside: sizes, ascending columns in range, finite values. `name` appears
// in the message.
CnStatus cni_sparse_check(const CnSparse *matrix, const char *name);

#endif
