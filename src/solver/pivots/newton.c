// SPDX-License-Identifier: Apache-2.0
// Newton's method for complementarity, on the function of Fischer and Burmeister.
//
//     phi(z, w) = z + w - sqrt(z^2 + w^2),   phi = 0  <=>  z >= 0, w >= 0, z w = 0
//
// turns the problem into as many equations as unknowns: phi(z_i, w_i) = 0 on complementarity rows,
// w_i = 0 on equality rows, w = M z + q (scaled as for pivoting). They are not smooth where z_i =
// w_i = 0, but any limit of derivatives serves, and the steps converge quadratically from nearby.
//
// From afar a step is shortened until the merit 1/2 |phi|^2, which is smooth, falls (it may rise a
// little above the last value, but not above the largest of the last few: this follows curved
// valleys faster). Where the Jacobian J is singular, or its step no descent, the step of Levenberg
// and Marquardt (J^T J + mu I) d = -J^T phi takes its place, which always is one.
//
// Cost: 2/3 n^3 a step, 2 n^3 more where the step of Newton is of no use.
//
// References: Fischer 1992; De Luca, Facchinei and Kanzow 1996.
#include "solver/pivots/lcp.h"

#include "core/vec.h"

#include <string.h>

#define SINGULAR 1e-13    // pivots of the Jacobian below this make it singular
#define DESCENT 1e-10     // a direction must descend at this part of its steepest
#define SUFFICIENT 1e-4   // part of the predicted decrease that is enough
#define SHORTEST 1e-8     // steps shortened to this are no progress
#define LEAST_MERIT 1e-34 // squares of round-off

// ---- room ----

CnStatus cni_newton_reserve(CniNewton *s, const CnProblem *p) {
  size_t n = (size_t)p->row_count, stride = (size_t)cni_dense_stride(p->row_count);
  size_t numbers = 3 * n * stride + 13 * stride, indices = n * sizeof(int32_t) + n;
  CnStatus status = cni_block_memory_reserve(&s->allocator, &s->numbers, numbers * sizeof(double));
  if (status == CN_OK) status = cni_block_memory_reserve(&s->allocator, &s->indices, indices);
  if (status != CN_OK) return status;
  s->n = p->row_count;
  s->stride = (int32_t)stride;
  s->m = s->numbers.data;
  s->j = s->m + n * stride;
  s->c = s->j + n * stride;
  double **vectors[] = {&s->q,        &s->z,     &s->w,           &s->phi,     &s->step,
                        &s->gradient, &s->z_new, &s->w_new,       &s->phi_new, &s->row_scale,
                        &s->da,       &s->db,    &s->column_scale};
  double *next = s->c + n * stride;
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++, next += stride)
    *vectors[i] = next;
  s->pivot = s->indices.data;
  s->equality = (uint8_t *)(s->pivot + n);
  return CN_OK;
}

// ---- the equations ----

void cni_newton_load(CniNewton *s, const CnProblem *p) {
  const CnSparse *w = &p->w;
  s->scale = cni_lcp_scales(p, s->row_scale, s->column_scale, s->m);
  memset(s->numbers.data, 0, 3 * (size_t)s->n * (size_t)s->stride * sizeof(double));
  for (int32_t i = 0; i < s->n; i++) {
    s->q[i] = s->scale * s->row_scale[i] * p->b[i];
    for (int32_t e = w->start[i]; e < w->start[i + 1]; e++)
      s->m[(int64_t)i * s->stride + w->column[e]] =
          s->row_scale[i] * w->value[e] * s->column_scale[w->column[e]];
  }
  for (int32_t i = 0; i < p->block_count; i++)
    memset(s->equality + p->blocks[i].row, p->blocks[i].kind == CN_BLOCK_BILATERAL,
           p->blocks[i].dim);
}

static double product(const double *x, const double *y, int32_t count) {
  double sum = 0;
  for (int32_t i = 0; i < count; i++) sum += x[i] * y[i];
  return sum;
}

// w, phi and the merit 1/2 |phi|^2 at z.
static double evaluate(const CniNewton *s, const double *z, double *w, double *phi) {
  double merit = 0;
  for (int32_t i = 0; i < s->n; i++) {
    w[i] = s->q[i] + product(s->m + (int64_t)i * s->stride, z, s->n);
    double a = z[i], b = w[i], r = sqrt(a * a + b * b);
    // where a and b are positive a + b - r cancels
    phi[i] = s->equality[i] ? b : a > 0 && b > 0 ? 2 * a * b / (a + b + r) : a + b - r;
    merit += phi[i] * phi[i];
  }
  return merit / 2;
}

void cni_newton_start(CniNewton *s, const double *g) {
  for (int32_t i = 0; i < s->n; i++) s->z[i] = g[i] * s->scale / s->column_scale[i];
  s->merits[0] = evaluate(s, s->z, s->w, s->phi);
  s->merit_count = 1;
}

void cni_newton_answer(const CniNewton *s, double *g) {
  for (int32_t i = 0; i < s->n; i++) g[i] = s->z[i] * s->column_scale[i] / s->scale;
}

// ---- directions ----

// Derivatives of phi by z and w, the Jacobian da + db M, and the gradient J^T phi of the merit.
static void differentiate(CniNewton *s) {
  int32_t n = s->n;
  memset(s->gradient, 0, (size_t)n * sizeof *s->gradient);
  for (int32_t i = 0; i < n; i++) {
    double a = s->z[i], b = s->w[i], r = sqrt(a * a + b * b);
    s->da[i] = r > 0 ? 1 - a / r : 1 - 0.70710678118654752;
    s->db[i] = r > 0 ? 1 - b / r : 1 - 0.70710678118654752;
    if (s->equality[i]) {
      s->da[i] = 0;
      s->db[i] = 1;
    }
    double *row = s->j + (int64_t)i * s->stride;
    const double *m = s->m + (int64_t)i * s->stride;
    for (int32_t j = 0; j < n; j++) row[j] = s->db[i] * m[j];
    row[i] += s->da[i];
    s->kernels->axpy(n, s->phi[i], row, s->gradient);
  }
}

// d = -J^-1 phi; 0 if there is none that descends.
static int newton_direction(CniNewton *s) {
  int32_t n = s->n;
  memcpy(s->c, s->j, (size_t)n * (size_t)s->stride * sizeof *s->c);
  if (!cni_dense_factor(s->kernels, n, s->c, s->stride, s->pivot, SINGULAR)) return 0;
  for (int32_t i = 0; i < n; i++) s->step[i] = -s->phi[i];
  cni_dense_solve(n, s->c, s->stride, s->pivot, s->step);
  double slope = product(s->gradient, s->step, n);
  double steepest = sqrt(product(s->gradient, s->gradient, n) * product(s->step, s->step, n));
  return isfinite(steepest) && slope <= -DESCENT * steepest;
}

// (J^T J + mu I) d = -J^T phi
static int damped_direction(CniNewton *s, double mu) {
  int32_t n = s->n;
  memset(s->c, 0, (size_t)n * (size_t)s->stride * sizeof *s->c);
  for (int32_t k = 0; k < n; k++) {
    const double *row = s->j + (int64_t)k * s->stride;
    for (int32_t i = 0; i < n; i++)
      if (row[i] != 0) s->kernels->axpy(n, row[i], row, s->c + (int64_t)i * s->stride);
  }
  for (int32_t i = 0; i < n; i++) {
    s->c[(int64_t)i * s->stride + i] += mu;
    s->step[i] = -s->gradient[i];
  }
  if (!cni_dense_factor(s->kernels, n, s->c, s->stride, s->pivot, 0)) return 0;
  cni_dense_solve(n, s->c, s->stride, s->pivot, s->step);
  double slope = product(s->gradient, s->step, n);
  return isfinite(slope) && slope < 0;
}

// ---- steps ----

static double largest_merit(const CniNewton *s) {
  double largest = 0;
  for (int32_t i = 0; i < s->merit_count && i < CNI_NEWTON_MEMORY; i++)
    largest = cn_max(largest, s->merits[i]);
  return largest;
}

// Shorten the step until the merit has fallen enough; 0 if it never does.
static int search_line(CniNewton *s) {
  double slope = product(s->gradient, s->step, s->n), ceiling = largest_merit(s);
  for (double t = 1; t > SHORTEST; t /= 2) {
    for (int32_t i = 0; i < s->n; i++) s->z_new[i] = s->z[i] + t * s->step[i];
    double merit = evaluate(s, s->z_new, s->w_new, s->phi_new);
    if (!(merit <= ceiling + SUFFICIENT * t * slope)) continue;
    CNI_SWAP(double *, s->z, s->z_new);
    CNI_SWAP(double *, s->w, s->w_new);
    CNI_SWAP(double *, s->phi, s->phi_new);
    s->merits[s->merit_count++ % CNI_NEWTON_MEMORY] = merit;
    return 1;
  }
  return 0;
}

int cni_newton_step(CniNewton *s) {
  double merit = s->merits[(s->merit_count - 1) % CNI_NEWTON_MEMORY];
  if (!(merit > LEAST_MERIT)) return 0;
  differentiate(s);
  if (newton_direction(s) && search_line(s)) return 1;
  // the damping falls with the merit, so that the last steps are fast
  double mu = cn_min(1e-2, sqrt(2 * merit));
  return damped_direction(s, mu) && search_line(s);
}
