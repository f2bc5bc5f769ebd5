// SPDX-License-Identifier: Apache-2.0
// The dictionary of complementary pivoting, and its one operation.
//
// Rows are basic variables as affine functions of the nonbasic ones, stored without the unit
// columns: exchanging one basic and one nonbasic variable changes every entry by a multiple of the
// pivot row and keeps the shape. Rows with a zero in the pivot column are not touched, which is
// most of them in sparse problems.
//
// Cost of a pivot: 2 rows columns.
#include "solver/pivots/lcp.h"

void cni_tableau_pivot(CniTableau *t, int32_t row, int32_t column) {
  t->kernels->exchange(t->rows, t->columns + 1, row, column, t->a, t->stride);
  cni_tableau_exchange(t, row, column);
}

void cni_tableau_exchange(CniTableau *t, int32_t row, int32_t column) {
  int32_t leaving = t->basic[row], entering = t->column[column];
  t->basic[row] = entering;
  t->column[column] = leaving;
  t->place[entering] = row;
  t->place[leaving] = -column;
}
