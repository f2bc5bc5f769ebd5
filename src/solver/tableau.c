// The dictionary of complementary pivoting, and its one operation.
//
// Rows are basic variables as affine functions of the nonbasic ones, stored without the unit
// columns: exchanging one basic and one nonbasic variable changes every entry by a multiple of the
// pivot row and keeps the shape. Rows with a zero in the pivot column are not touched, which is
// most of them in sparse problems.
//
// Cost of a pivot: 2 rows columns.
#include "solver/lcp.h"

#define NARROW 16 // up to here a plain loop beats the call of a wide kernel

void cni_tableau_pivot(CniTableau *t, int32_t row, int32_t column) {
  int32_t width = t->columns + 1;
  double *pivot = cni_tableau_row(t, row);
  double inverse = 1 / pivot[column];

  // solve the row for the entering variable
  for (int32_t j = 0; j < width; j++) pivot[j] *= -inverse;
  pivot[column] = inverse;

  // and put it into the others
  for (int32_t i = 0; i < t->rows; i++) {
    double *other = cni_tableau_row(t, i), f = other[column];
    if (f == 0 || i == row) continue;
    other[column] = 0;
    if (width > NARROW) {
      t->kernels->axpy(width, f, pivot, other);
    } else {
      for (int32_t j = 0; j < width; j++) other[j] += f * pivot[j];
    }
  }

  int32_t leaving = t->basic[row], entering = t->column[column];
  t->basic[row] = entering;
  t->column[column] = leaving;
  t->place[entering] = row;
  t->place[leaving] = -column;
}
