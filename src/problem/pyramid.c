// SPDX-License-Identifier: Apache-2.0
// The error of an answer against the pyramid problem: friction cones replaced by pyramids of k
// facets, in the convex model.
//
// The same measure as the certificate's residual, max_i S_i |g_i - P(g_i - u_i/S_i)| over the
// largest |r_i|, with P the projection on the pyramid. That projection is found by trying: the
// point itself, its nearest point on each of the k faces and k edges, and the tip; the nearest of
// those that lie in the pyramid.
#include "problem/problem.h"

#include "core/math.h"
#include "core/vec.h"

// The pyramid n >= 0, x in n times the polygon with corners mu d_j. Inward normal of face j,
// between corners j and j + 1.
typedef struct Pyramid {
  int32_t facets;
  double corner[CNI_FACETS_MAX + 1][3], normal[CNI_FACETS_MAX][3];
} Pyramid;

static double dot(const double *a, const double *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void make_pyramid(double mu, int32_t facets, Pyramid *k) {
  k->facets = facets;
  for (int32_t j = 0; j <= facets; j++) {
    double angle = 2 * CNI_PI * (j % facets) / facets;
    k->corner[j][0] = 1;
    k->corner[j][1] = mu * cni_cos(angle);
    k->corner[j][2] = mu * cni_sin(angle);
  }
  for (int32_t j = 0; j < facets; j++) {
    double middle = 2 * CNI_PI * (j + .5) / facets, *n = k->normal[j];
    n[0] = mu * cni_cos(CNI_PI / facets);
    n[1] = -cni_cos(middle);
    n[2] = -cni_sin(middle);
    double size = sqrt(dot(n, n));
    for (int32_t i = 0; i < 3; i++) n[i] /= size;
  }
}

static int inside(const Pyramid *k, const double *x) {
  double slack = 1e-14 * sqrt(dot(x, x));
  if (x[0] < -slack) return 0;
  for (int32_t j = 0; j < k->facets; j++)
    if (dot(k->normal[j], x) < -slack) return 0;
  return 1;
}

static void keep_nearer(const Pyramid *k, const double *x, const double *y, double *best,
                        double *least) {
  double d[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]}, distance = dot(d, d);
  if (!(distance < *least) || !inside(k, y)) return;
  *least = distance;
  for (int32_t i = 0; i < 3; i++) best[i] = y[i];
}

static void project(const Pyramid *k, double *x) {
  double best[3] = {0, 0, 0}, least = dot(x, x), y[3];
  if (inside(k, x)) return;
  for (int32_t j = 0; j < k->facets; j++) {
    double depth = dot(k->normal[j], x),
           along = dot(k->corner[j], x) / dot(k->corner[j], k->corner[j]);
    for (int32_t i = 0; i < 3; i++) y[i] = x[i] - depth * k->normal[j][i];
    if (depth < 0) keep_nearer(k, x, y, best, &least);
    for (int32_t i = 0; i < 3; i++) y[i] = along * k->corner[j][i];
    if (along > 0) keep_nearer(k, x, y, best, &least);
  }
  for (int32_t i = 0; i < 3; i++) x[i] = best[i];
}

// |g - P(g - u/S)|^2 S^2 of one block.
static double block_error(const CnProblem *p, const CniBlock *block, int32_t facets,
                          const double *g, const double *u) {
  double trace = cni_storages[block->storage].trace(p, block), x[CNI_MAX_DIM], sum = 0;
  double s = trace > 0 ? trace / block->dim : 1;
  for (int32_t i = 0; i < block->dim; i++) x[i] = g[i] - u[i] / s;
  if (block->kind == CN_BLOCK_FRICTION) {
    const CnSet *set = &p->sets[block->set];
    Pyramid pyramid;
    make_pyramid(set->mu, facets, &pyramid);
    x[0] += set->cohesion;
    if (set->mu > 0)
      project(&pyramid, x);
    else
      x[0] = cn_max(x[0], 0), x[1] = x[2] = 0;
    x[0] -= set->cohesion;
  } else {
    cni_project(p, block, x);
  }
  for (int32_t i = 0; i < block->dim; i++) {
    double e = s * (g[i] - x[i]);
    sum += e * e;
  }
  return sum;
}

// |r_i|^2
static double free_speed(const CnProblem *p, const CniBlock *block) {
  double r[CNI_MAX_DIM], sum = 0;
  cni_block_b(p, block, r);
  if (p->form == CN_FORM_GLOBAL)
    for (int32_t i = 0; i < block->dim; i++) r[i] = p->global->r[block->row + i];
  if (p->form == CN_FORM_STEP) cni_storages[block->storage].free(p, block, r);
  for (int32_t i = 0; i < block->dim; i++) sum += r[i] * r[i];
  return sum;
}

double cni_pyramid_residual(const CnProblem *p, int32_t facets, const double *g, const double *u) {
  double worst = 0, largest = 0;
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    double error = block_error(p, block, facets, g + block->row, u + block->row);
    if (!(error <= worst)) worst = isfinite(error) ? error : INFINITY;
    largest = cn_max(largest, free_speed(p, block));
  }
  return worst == 0 ? 0 : sqrt(worst) / sqrt(largest);
}
