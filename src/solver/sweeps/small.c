// SPDX-License-Identifier: Apache-2.0
// Dense matrices of at most six rows. A block of a contact or a joint has one to six rows, so
// nothing here is worth blocking or calling a library for; loops run in a fixed order, so that the
// bits do not depend on the machine.
#include "solver/sweeps/small.h"

#include "core/memory.h"
#include <math.h>

// One Jacobi rotation in the plane (p, q) that makes a[p][q] zero.
static void rotate(int32_t dim, double *a, double *vectors, int32_t p, int32_t q) {
  double apq = a[p * dim + q];
  double theta = (a[q * dim + q] - a[p * dim + p]) / (2 * apq);
  double t = 1 / (fabs(theta) + sqrt(theta * theta + 1));
  if (theta < 0) t = -t;
  double c = 1 / sqrt(t * t + 1), s = t * c;
  for (int32_t k = 0; k < dim; k++) {
    double x = a[k * dim + p], y = a[k * dim + q];
    a[k * dim + p] = c * x - s * y;
    a[k * dim + q] = s * x + c * y;
  }
  for (int32_t k = 0; k < dim; k++) {
    double x = a[p * dim + k], y = a[q * dim + k];
    a[p * dim + k] = c * x - s * y;
    a[q * dim + k] = s * x + c * y;
  }
  a[p * dim + q] = a[q * dim + p] = 0;
  if (!vectors) return;
  for (int32_t k = 0; k < dim; k++) {
    double x = vectors[k * dim + p], y = vectors[k * dim + q];
    vectors[k * dim + p] = c * x - s * y;
    vectors[k * dim + q] = s * x + c * y;
  }
}

static void jacobi(int32_t dim, double *a, double *vectors) {
  // a rotation is left out when it could not change the eigenvalues' last digit
  for (int32_t round = 0; round < 30; round++) {
    int32_t turned = 0;
    for (int32_t p = 0; p < dim - 1; p++) {
      for (int32_t q = p + 1; q < dim; q++) {
        double scale = fabs(a[p * dim + p]) + fabs(a[q * dim + q]);
        if (fabs(a[p * dim + q]) <= 1e-17 * scale) continue;
        rotate(dim, a, vectors, p, q);
        turned++;
      }
    }
    if (!turned) return;
  }
}

void cni_small_eigen(int32_t dim, double *a, double *values, double *vectors) {
  for (int32_t i = 0; i < dim * dim; i++) vectors[i] = i % (dim + 1) == 0 ? 1 : 0;
  jacobi(dim, a, vectors);
  for (int32_t i = 0; i < dim; i++) values[i] = a[i * dim + i];
}

double cni_small_lambda_max(int32_t dim, const double *a) {
  double m[CNI_SMALL_SIZE];
  for (int32_t i = 0; i < dim; i++) {
    for (int32_t j = 0; j < dim; j++) m[i * dim + j] = .5 * (a[i * dim + j] + a[j * dim + i]);
  }
  jacobi(dim, m, 0);
  double largest = m[0];
  for (int32_t i = 1; i < dim; i++) {
    if (m[i * dim + i] > largest) largest = m[i * dim + i];
  }
  return largest;
}

int cni_small_symmetric(int32_t dim, const double *a) {
  double size = 0, defect = 0;
  for (int32_t i = 0; i < dim; i++) {
    for (int32_t j = 0; j < dim; j++) {
      double x = fabs(a[i * dim + j]), d = fabs(a[i * dim + j] - a[j * dim + i]);
      if (x > size) size = x;
      if (d > defect) defect = d;
    }
  }
  return defect <= 1e-14 * size;
}

// The largest entry in rows and columns that have had no pivot yet; 0 if all are zero.
static double find_pivot(int32_t dim, const double *a, uint32_t rows, uint32_t columns,
                         int32_t *row, int32_t *column) {
  double best = 0;
  for (int32_t i = 0; i < dim; i++) {
    for (int32_t j = 0; j < dim && !(rows >> i & 1); j++) {
      if ((columns >> j & 1) || !(fabs(a[i * dim + j]) > best)) continue;
      best = fabs(a[i * dim + j]);
      *row = i;
      *column = j;
    }
  }
  return best;
}

// y = a x: y_row and x_column change sides.
static void exchange(int32_t dim, double *a, int32_t row, int32_t column) {
  double *own = a + row * dim, inverse = 1 / own[column];
  for (int32_t j = 0; j < dim; j++) own[j] *= j == column ? 0 : -inverse;
  for (int32_t i = 0; i < dim; i++) {
    double f = a[i * dim + column];
    if (i == row) continue;
    for (int32_t j = 0; j < dim; j++) a[i * dim + j] += f * own[j];
    a[i * dim + column] = f * inverse;
  }
  own[column] = inverse;
}

int32_t cni_small_inverse(int32_t dim, const double *a, double *inverse) {
  double work[CNI_SMALL_SIZE], first = 0;
  int32_t row[CNI_SMALL_DIM], column[CNI_SMALL_DIM], rank = 0;
  uint32_t rows = 0, columns = 0;
  for (int32_t i = 0; i < dim * dim; i++) {
    work[i] = a[i];
    inverse[i] = 0;
  }
  for (; rank < dim; rank++) {
    double size = find_pivot(dim, work, rows, columns, &row[rank], &column[rank]);
    if (rank == 0) first = size;
    if (!(size > 1e-12 * first)) break;
    exchange(dim, work, row[rank], column[rank]);
    rows |= 1u << row[rank];
    columns |= 1u << column[rank];
  }
  // x of pivot k stands in its row, y of pivot l in its column
  for (int32_t k = 0; k < rank; k++)
    for (int32_t l = 0; l < rank; l++)
      inverse[column[k] * dim + row[l]] = work[row[k] * dim + column[l]];
  return rank;
}

int cni_small_solve(int32_t dim, double *a, double *x) {
  for (int32_t k = 0; k < dim; k++) {
    int32_t pivot = k;
    for (int32_t i = k + 1; i < dim; i++) {
      if (fabs(a[i * dim + k]) > fabs(a[pivot * dim + k])) pivot = i;
    }
    if (!(fabs(a[pivot * dim + k]) > 0)) return 0;
    for (int32_t j = 0; j < dim && pivot != k; j++)
      CNI_SWAP(double, a[k * dim + j], a[pivot * dim + j]);
    CNI_SWAP(double, x[k], x[pivot]);
    for (int32_t i = k + 1; i < dim; i++) {
      double f = a[i * dim + k] / a[k * dim + k];
      for (int32_t j = k; j < dim; j++) a[i * dim + j] -= f * a[k * dim + j];
      x[i] -= f * x[k];
    }
  }
  for (int32_t k = dim - 1; k >= 0; k--) {
    for (int32_t j = k + 1; j < dim; j++) x[k] -= a[k * dim + j] * x[j];
    x[k] /= a[k * dim + k];
  }
  return 1;
}

void cni_small_multiply(int32_t dim, const double *a, const double *x, double *y) {
  for (int32_t i = 0; i < dim; i++) {
    double sum = 0;
    for (int32_t j = 0; j < dim; j++) sum += a[i * dim + j] * x[j];
    y[i] = sum;
  }
}
