// SPDX-License-Identifier: Apache-2.0
// Eigenvalues of dense matrices (span.h): of symmetric ones by Jacobi's rotations, of others by the
// double-shifted QR iteration on Hessenberg form (Francis; Golub and Van Loan, 7.5).
#include <math.h>
#include <string.h>

#include "sparse/span.h"

#define SWEEPS_MOST 60
#define ROUNDS_MOST 60 // of QR, an eigenvalue

// ---- symmetric ----

// One rotation that makes a[p][q] zero; rows of v turn along.
static void rotate(int32_t n, double *a, double *v, int32_t p, int32_t q) {
  size_t s = (size_t)n, pp = (size_t)p * s, qq = (size_t)q * s;
  double apq = a[pp + (size_t)q];
  double theta = (a[qq + (size_t)q] - a[pp + (size_t)p]) / (2 * apq);
  double t = 1 / (fabs(theta) + sqrt(theta * theta + 1));
  if (theta < 0) t = -t;
  double c = 1 / sqrt(t * t + 1), sn = t * c;
  a[pp + (size_t)p] -= t * apq;
  a[qq + (size_t)q] += t * apq;
  a[pp + (size_t)q] = a[qq + (size_t)p] = 0;
  for (size_t i = 0; i < s; i++) {
    if (i == (size_t)p || i == (size_t)q) continue;
    double x = a[pp + i], y = a[qq + i];
    a[pp + i] = a[i * s + (size_t)p] = c * x - sn * y;
    a[qq + i] = a[i * s + (size_t)q] = sn * x + c * y;
  }
  for (size_t i = 0; v && i < s; i++) {
    double x = v[pp + i], y = v[qq + i];
    v[pp + i] = c * x - sn * y;
    v[qq + i] = sn * x + c * y;
  }
}

static void sort_values(int32_t n, double *values, double *vectors) {
  for (int32_t i = 0; i < n; i++) {
    int32_t least = i;
    for (int32_t k = i + 1; k < n; k++)
      if (values[k] < values[least]) least = k;
    if (least == i) continue;
    double x = values[i];
    values[i] = values[least];
    values[least] = x;
    for (int32_t j = 0; vectors && j < n; j++) {
      double *a = &vectors[(size_t)i * (size_t)n + (size_t)j];
      double *b = &vectors[(size_t)least * (size_t)n + (size_t)j];
      x = *a;
      *a = *b;
      *b = x;
    }
  }
}

void cni_eigen_symmetric(int32_t size, double *a, double *values, double *vectors) {
  size_t n = (size_t)size;
  if (vectors) memset(vectors, 0, n * n * sizeof *vectors);
  for (size_t i = 0; vectors && i < n; i++) vectors[i * n + i] = 1;
  for (int32_t sweep = 0, turned = 1; sweep < SWEEPS_MOST && turned; sweep++) {
    turned = 0;
    for (int32_t p = 0; p < size; p++)
      for (int32_t q = p + 1; q < size; q++) {
        double x = fabs(a[(size_t)p * n + (size_t)q]);
        double d =
            sqrt(fabs(a[(size_t)p * n + (size_t)p])) * sqrt(fabs(a[(size_t)q * n + (size_t)q]));
        double whole = fabs(a[(size_t)p * n + (size_t)p]) + fabs(a[(size_t)q * n + (size_t)q]);
        // below the geometric mean of its diagonals nothing changes, nor below round-off of both
        if (!(x > 1e-16 * d) || !(x > 1e-30 * whole)) continue;
        rotate(size, a, vectors, p, q);
        turned = 1;
      }
  }
  for (size_t i = 0; i < n; i++) values[i] = a[i * n + i];
  sort_values(size, values, vectors);
}

// ---- any matrix ----

#define AT(i, k) a[(size_t)(i) * (size_t)n + (size_t)(k)]

// Rows and columns are scaled by powers of two until they are of like size: exact.
static void balance(int32_t n, double *a) {
  for (int32_t round = 0, more = 1; round < 100 && more; round++) {
    more = 0;
    for (int32_t i = 0; i < n; i++) {
      double row = 0, column = 0, f = 1;
      for (int32_t k = 0; k < n; k++) {
        if (k == i) continue;
        column += fabs(AT(k, i));
        row += fabs(AT(i, k));
      }
      if (!(row > 0) || !(column > 0)) continue;
      double sum = row + column;
      while (column < row / 2) {
        f *= 2;
        column *= 4;
      }
      while (column > row * 2) {
        f /= 2;
        column /= 4;
      }
      if (!((row + column) / f < 0.95 * sum)) continue;
      more = 1;
      for (int32_t k = 0; k < n; k++) AT(i, k) /= f;
      for (int32_t k = 0; k < n; k++) AT(k, i) *= f;
    }
  }
}

// To Hessenberg form by elimination with exchanges.
static void hessenberg(int32_t n, double *a) {
  for (int32_t m = 1; m + 1 < n; m++) {
    int32_t best = m;
    for (int32_t i = m + 1; i < n; i++)
      if (fabs(AT(i, m - 1)) > fabs(AT(best, m - 1))) best = i;
    if (best != m) {
      for (int32_t k = m - 1; k < n; k++) {
        double x = AT(best, k);
        AT(best, k) = AT(m, k);
        AT(m, k) = x;
      }
      for (int32_t k = 0; k < n; k++) {
        double x = AT(k, best);
        AT(k, best) = AT(k, m);
        AT(k, m) = x;
      }
    }
    if (AT(m, m - 1) == 0) continue;
    for (int32_t i = m + 1; i < n; i++) {
      double y = AT(i, m - 1) / AT(m, m - 1);
      if (y == 0) continue;
      for (int32_t k = m - 1; k < n; k++) AT(i, k) -= y * AT(m, k);
      for (int32_t k = 0; k < n; k++) AT(k, m) += y * AT(k, i);
    }
  }
  for (int32_t i = 2; i < n; i++)
    for (int32_t k = 0; k + 1 < i; k++) AT(i, k) = 0;
}

// Where the last block begins that holds together up to `end`.
static int32_t block_start(int32_t n, double *a, int32_t end, double norm) {
  int32_t l = end;
  for (; l >= 1; l--) {
    double s = fabs(AT(l - 1, l - 1)) + fabs(AT(l, l));
    if (s == 0) s = norm;
    if (fabs(AT(l, l - 1)) <= 1.2e-16 * s) {
      AT(l, l - 1) = 0;
      break;
    }
  }
  return l;
}

// Eigenvalues of the last two rows of a block.
static void pair_values(double x, double y, double w, double *re, double *im) {
  double p = (y - x) / 2, q = p * p + w, z = sqrt(fabs(q));
  if (q >= 0) {
    z = p + (p < 0 ? -z : z);
    re[0] = re[1] = x + z;
    if (z != 0) re[0] = x - w / z;
    im[0] = im[1] = 0;
  } else {
    re[0] = re[1] = x + p;
    im[0] = -z;
    im[1] = z;
  }
}

// A reflection of three (or two, at the end) rows and columns from k on.
static void chase(int32_t n, double *a, int32_t k, int32_t end, int32_t start, double p, double q,
                  double r, double s, double x) {
  double y = q / s, z = r / s;
  int32_t last = k + 3 < end ? k + 3 : end;
  q /= p;
  r /= p;
  for (int32_t j = k; j <= end; j++) {
    double sum = AT(k, j) + q * AT(k + 1, j);
    if (k + 1 != end) {
      sum += r * AT(k + 2, j);
      AT(k + 2, j) -= sum * z;
    }
    AT(k + 1, j) -= sum * y;
    AT(k, j) -= sum * x;
  }
  for (int32_t i = start; i <= last; i++) {
    double sum = x * AT(i, k) + y * AT(i, k + 1);
    if (k + 1 != end) {
      sum += z * AT(i, k + 2);
      AT(i, k + 2) -= sum * r;
    }
    AT(i, k + 1) -= sum * q;
    AT(i, k) -= sum;
  }
}

// One double step of QR on rows start .. end with the shifts x, y, w of its last two rows.
static void double_step(int32_t n, double *a, int32_t start, int32_t end, double x, double y,
                        double w) {
  double p = 0, q = 0, r = 0;
  int32_t m = end - 2;
  for (; m >= start; m--) {
    double z = AT(m, m), rr = x - z, ss = y - z;
    p = (rr * ss - w) / AT(m + 1, m) + AT(m, m + 1);
    q = AT(m + 1, m + 1) - z - rr - ss;
    r = AT(m + 2, m + 1);
    double s = fabs(p) + fabs(q) + fabs(r);
    p /= s;
    q /= s;
    r /= s;
    if (m == start) break;
    double u = fabs(AT(m, m - 1)) * (fabs(q) + fabs(r));
    double v = fabs(p) * (fabs(AT(m - 1, m - 1)) + fabs(z) + fabs(AT(m + 1, m + 1)));
    if (u <= 1.2e-16 * v) break;
  }
  for (int32_t i = m + 2; i <= end; i++) {
    AT(i, i - 2) = 0;
    if (i != m + 2) AT(i, i - 3) = 0;
  }
  for (int32_t k = m; k < end; k++) {
    double scale = 1;
    if (k != m) {
      p = AT(k, k - 1);
      q = AT(k + 1, k - 1);
      r = k + 1 != end ? AT(k + 2, k - 1) : 0;
      scale = fabs(p) + fabs(q) + fabs(r);
      if (scale == 0) continue;
      p /= scale;
      q /= scale;
      r /= scale;
    }
    double s = sqrt(p * p + q * q + r * r);
    if (p < 0) s = -s;
    if (s == 0) continue;
    if (k != m)
      AT(k, k - 1) = -s * scale;
    else if (start != m)
      AT(k, k - 1) = -AT(k, k - 1);
    p += s;
    chase(n, a, k, end, start, p, q, r, s, p / s);
  }
}

int cni_eigen_general(int32_t size, double *a, double *real, double *imaginary) {
  int32_t n = size, end = n - 1, rounds = 0;
  double norm = 0, shift = 0;
  balance(n, a);
  hessenberg(n, a);
  for (int32_t i = 0; i < n; i++)
    for (int32_t k = i > 0 ? i - 1 : 0; k < n; k++) norm += fabs(AT(i, k));
  if (!isfinite(norm)) return 0;
  while (end >= 0) {
    int32_t l = block_start(n, a, end, norm);
    double x = AT(end, end);
    if (l == end) {
      real[end] = x + shift;
      imaginary[end--] = 0;
      rounds = 0;
      continue;
    }
    double y = AT(end - 1, end - 1), w = AT(end, end - 1) * AT(end - 1, end);
    if (l == end - 1) {
      pair_values(x + shift, y + shift, w, &real[end - 1], &imaginary[end - 1]);
      end -= 2;
      rounds = 0;
      continue;
    }
    if (rounds == ROUNDS_MOST) return 0;
    if (rounds % 10 == 9) { // a shift of another kind where the usual ones go round in circles
      shift += x;
      for (int32_t i = 0; i <= end; i++) AT(i, i) -= x;
      double s = fabs(AT(end, end - 1)) + fabs(AT(end - 1, end - 2));
      x = y = 0.75 * s;
      w = -0.4375 * s * s;
    }
    rounds++;
    double_step(n, a, l, end, x, y, w);
  }
  return 1;
}
