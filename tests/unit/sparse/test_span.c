// SPDX-License-Identifier: Apache-2.0
// Spans and null spaces, Cholesky factors, forces that only push, eigenvalues.
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "core/math.h"
#include "core/rng.h"
#include "sparse/sparse.h"

static CniRng rng;
static double uniform(void) { return cni_rng_range(&rng, -1, 1); }

// Six rows of rank four in eight columns: solutions, null space, weights of least norm.
static void spans(void **state) {
  (void)state;
  CnAllocator allocator = cn_allocator_default();
  CniArena arena;
  CniSpan span;
  double a[6][8], b[6], x[8], y[8], g[6];
  rng = (CniRng){5};
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 8; k++) a[i][k] = uniform();
  for (int k = 0; k < 8; k++) {
    a[4][k] = a[0][k] + a[1][k];
    a[5][k] = 1000 * a[2][k] - 500 * a[3][k];
  }
  cni_arena_init(&arena, &allocator);
  CHECK_OK(cni_span_begin(&arena, 6, 8, &span));
  memcpy(span.rows, a, sizeof a);
  cni_span_factor(&span, 1e-9);
  CHECK(span.rank == 4);
  for (int k = 0; k < 8; k++) y[k] = uniform();
  for (int i = 0; i < 6; i++) {
    b[i] = 0;
    for (int k = 0; k < 8; k++) b[i] += a[i][k] * y[k];
  }
  cni_span_solve(&span, b, x);
  for (int i = 0; i < 6; i++) {
    double sum = 0;
    for (int k = 0; k < 8; k++) sum += a[i][k] * x[k];
    CHECK_NEAR(sum, b[i], 1e-11);
  }
  memset(x, 0, sizeof x);
  x[5] = 1;
  cni_span_up(&span, x);
  for (int i = 0; i < 6; i++) {
    double sum = 0;
    for (int k = 0; k < 8; k++) sum += a[i][k] * x[k];
    CHECK_NEAR(sum, 0, 1e-12);
  }
  // the weights of a force in the span give it, and equal rows share it
  for (int k = 0; k < 8; k++) y[k] = a[0][k] + a[1][k] + a[4][k];
  cni_span_down(&span, y);
  CHECK_OK(cni_span_weights(&span, &arena, y, g));
  for (int k = 0; k < 8; k++) {
    double sum = 0;
    for (int i = 0; i < 6; i++) sum += g[i] * a[i][k];
    CHECK_NEAR(sum, 2 * (a[0][k] + a[1][k]), 1e-11);
  }
  CHECK_NEAR(g[0] + g[4], 2, 1e-11);
  CHECK_NEAR(g[0], g[4] / 2, 1e-11); // least norm of (t, t, 2 - t): t = 2/3
  cni_arena_release(&arena);
}

// A table on four legs, load on one of them: the one across would pull and does not push.
static void pushes(void **state) {
  (void)state;
  const double corner[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
  double a[16], b[4], x[4], work[64];
  const double load[3] = {1, 0.9, 0.9}; // weight and its moments at (.9, .9)
  for (int i = 0; i < 4; i++) {
    b[i] = load[0] + corner[i][0] * load[1] + corner[i][1] * load[2];
    for (int k = 0; k < 4; k++)
      a[4 * i + k] = 1 + corner[i][0] * corner[k][0] + corner[i][1] * corner[k][1];
  }
  cni_push(4, a, b, 1e-12, x, work);
  CHECK_NEAR(x[2], 0, 1e-9);
  double sum = 0;
  for (int i = 0; i < 4; i++) {
    CHECK(x[i] >= 0);
    double slope = b[i];
    for (int k = 0; k < 4; k++) slope -= a[4 * i + k] * x[k];
    CHECK(slope < 1e-6);
    CHECK_NEAR(slope * x[i], 0, 1e-6);
    sum += x[i];
  }
  CHECK(sum > 0.9);
}

// Forty random forces in ten dimensions, many of them dependent: none pulls, none that should push rests.
static void many_pushes(void **state) {
  (void)state;
  enum { N = 40, D = 10 };
  static double e[N][D], a[N * N], b[N], x[N], work[N * (N + 3)];
  rng = (CniRng){7};
  for (int trial = 0; trial < 50; trial++) {
    double f[D];
    for (int k = 0; k < D; k++) f[k] = uniform();
    for (int i = 0; i < N; i++) {
      b[i] = 0;
      for (int k = 0; k < D; k++) e[i][k] = uniform();
      for (int k = 0; k < D; k++) b[i] += e[i][k] * f[k];
    }
    for (int i = 0; i < N; i++)
      for (int k = 0; k < N; k++) {
        a[N * i + k] = 0;
        for (int d = 0; d < D; d++) a[N * i + k] += e[i][d] * e[k][d];
      }
    cni_push(N, a, b, 1e-9, x, work);
    for (int i = 0; i < N; i++) {
      double slope = b[i] - 1e-9 * x[i];
      for (int k = 0; k < N; k++) slope -= a[N * i + k] * x[k];
      CHECK(x[i] >= 0 && slope < 1e-6);
      CHECK_NEAR(slope * x[i], 0, 1e-6);
    }
  }
}

// The chain of n equal masses and springs: 4 sin^2(k pi/(2(n + 1))).
static void symmetric(void **state) {
  (void)state;
  enum { N = 20 };
  double a[N * N] = {0}, values[N], vectors[N * N];
  for (int i = 0; i < N; i++) {
    a[i * N + i] = 2;
    if (i > 0) a[i * N + i - 1] = a[(i - 1) * N + i] = -1;
  }
  cni_eigen_symmetric(N, a, values, vectors);
  for (int k = 0; k < N; k++) {
    double s = cni_sin((k + 1) * CNI_PI / (2 * (N + 1)));
    CHECK_NEAR(values[k], 4 * s * s, 1e-14);
    double *v = vectors + k * N;
    for (int i = 0; i < N; i++) {
      double sum = 2 * v[i] - (i > 0 ? v[i - 1] : 0) - (i + 1 < N ? v[i + 1] : 0);
      CHECK_NEAR(sum, values[k] * v[i], 1e-13);
    }
  }
}

// Companion matrix of (x - 1)(x - 2)(x + 3)(x^2 + 2 x + 5), and a random one by its invariants.
static void general(void **state) {
  (void)state;
  const double poly[6] = {30, -23, -8, -2, 2, 1}; // from x^0 on
  double a[25] = {0}, re[5], im[5];
  for (int i = 0; i < 4; i++) a[5 * (i + 1) + i] = 1;
  for (int i = 0; i < 5; i++) a[5 * i + 4] = -poly[i];
  CHECK(cni_eigen_general(5, a, re, im));
  const double wanted[5][2] = {{1, 0}, {2, 0}, {-3, 0}, {-1, 2}, {-1, -2}};
  for (int k = 0; k < 5; k++) {
    double nearest = INFINITY;
    for (int i = 0; i < 5; i++)
      nearest = fmin(nearest, fabs(re[i] - wanted[k][0]) + fabs(im[i] - wanted[k][1]));
    CHECK_NEAR(nearest, 0, 1e-12);
  }
  enum { N = 30 };
  static double b[N * N], r[N], m[N];
  double trace = 0, squares = 0, sum = 0, sum2 = 0;
  rng = (CniRng){7};
  for (int i = 0; i < N * N; i++) b[i] = uniform();
  for (int i = 0; i < N; i++) {
    trace += b[i * N + i];
    for (int k = 0; k < N; k++) squares += b[i * N + k] * b[k * N + i];
  }
  CHECK(cni_eigen_general(N, b, r, m));
  for (int i = 0; i < N; i++) {
    sum += r[i];
    sum2 += r[i] * r[i] - m[i] * m[i];
  }
  CHECK_NEAR(sum, trace, 1e-11);
  CHECK_NEAR(sum2, squares, 1e-10);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(spans), cmocka_unit_test(pushes),
                                     cmocka_unit_test(many_pushes), cmocka_unit_test(symmetric),
                                     cmocka_unit_test(general)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
