// Dense matrices of at most six rows. A block of a contact or a joint has one to six rows, so
// nothing here is worth blocking or calling a library for; loops run in a fixed order, so that the
// bits do not depend on the machine.
#include "solver/small.h"
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

// Find pivot rows and columns by elimination with complete pivoting; returns the rank. In a
// semidefinite matrix the pivots lie on the diagonal.
static int32_t find_pivots(int32_t dim, double *a, int32_t *rows, int32_t *columns) {
  int row_used[CNI_SMALL_DIM] = {0}, column_used[CNI_SMALL_DIM] = {0};
  double first = 0;
  for (int32_t rank = 0; rank < dim; rank++) {
    double best = 0;
    int32_t r = -1, c = -1;
    for (int32_t i = 0; i < dim; i++) {
      for (int32_t j = 0; j < dim && !row_used[i]; j++) {
        if (column_used[j] || fabs(a[i * dim + j]) <= best) continue;
        best = fabs(a[i * dim + j]);
        r = i;
        c = j;
      }
    }
    if (rank == 0) first = best;
    if (r < 0 || best <= 1e-12 * first) return rank;
    row_used[r] = column_used[c] = 1;
    rows[rank] = r;
    columns[rank] = c;
    for (int32_t i = 0; i < dim; i++) {
      if (row_used[i]) continue;
      double f = a[i * dim + c] / a[r * dim + c];
      for (int32_t j = 0; j < dim; j++) a[i * dim + j] -= f * a[r * dim + j];
    }
  }
  return dim;
}

int32_t cni_small_inverse(int32_t dim, const double *a, double *inverse) {
  double work[CNI_SMALL_SIZE], x[CNI_SMALL_DIM];
  int32_t rows[CNI_SMALL_DIM], columns[CNI_SMALL_DIM];
  for (int32_t i = 0; i < dim * dim; i++) {
    work[i] = a[i];
    inverse[i] = 0;
  }
  int32_t rank = find_pivots(dim, work, rows, columns);

  // invert the pivot block column by column
  for (int32_t k = 0; k < rank; k++) {
    for (int32_t i = 0; i < rank; i++) {
      for (int32_t j = 0; j < rank; j++) work[i * rank + j] = a[rows[i] * dim + columns[j]];
      x[i] = i == k ? 1 : 0;
    }
    if (!cni_small_solve(rank, work, x)) continue;
    for (int32_t i = 0; i < rank; i++) inverse[columns[i] * dim + rows[k]] = x[i];
  }
  return rank;
}

int cni_small_solve(int32_t dim, double *a, double *x) {
  for (int32_t k = 0; k < dim; k++) {
    int32_t pivot = k;
    for (int32_t i = k + 1; i < dim; i++) {
      if (fabs(a[i * dim + k]) > fabs(a[pivot * dim + k])) pivot = i;
    }
    if (!(fabs(a[pivot * dim + k]) > 0)) return 0;
    for (int32_t j = 0; j < dim && pivot != k; j++) {
      double t = a[k * dim + j];
      a[k * dim + j] = a[pivot * dim + j];
      a[pivot * dim + j] = t;
    }
    double t = x[k];
    x[k] = x[pivot];
    x[pivot] = t;
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
