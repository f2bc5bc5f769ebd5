// SPDX-License-Identifier: Apache-2.0
// The problem of one block: constants before the first sweep, and one update inside it.
//
// All other impulses are held, so u = N_ii g + q with q fixed. What is done with it:
//
//   clamp       dim 1: g <- clamp(g - omega u / N, lo, hi). On bilateral rows this is linear SOR.
//   bilateral   g <- g - omega N^-1 u: block SOR; a generalised inverse where rows repeat.
//   split       coulomb: the normal by its clamp, then every disc with the velocity that the rows
//               before it have left, eta = lambda_max of the disc's own block and the radius
//               mu g_n of the new g_n. A fixed point satisfies each law by itself: u_n _|_ g_n, and
//               the friction that opposes slip with |g_t| = mu g_n: Coulomb's law, no shift needed.
//   projection  g <- P_K(g - (omega/eta)(u + s n)), s = 0 in the convex model. With
//               eta >= omega lambda_max/1.9 the convex objective falls by at least
//               (eta/omega - lambda_max/2)|dg|^2: every sweep decreases it.
//   exact       local_exact.c; over-relaxed steps are projected back on the cone.
//
// Then g <- (1 - lambda) g + lambda g_new. K is convex, so g stays in it.
//
// Cohesion c shifts the cone down the normal: inside, g_n stands for g_n + c.
#include "solver/sweeps/local.h"
#include "solver/sweeps/small.h"
#include "core/vec.h"

#include <cairn/solver.h>
#include <string.h>

// Does the update multiply by the inverse of the block?
static int uses_inverse(const CniBlock *block, const CniLocalRule *rule) {
  if (block->dim == 1) return 0;
  return block->kind == CN_BLOCK_BILATERAL || rule->local == CN_LOCAL_EXACT;
}

int32_t cni_local_pool_size(const CniBlock *block, const CniLocalRule *rule) {
  int32_t dim = block->dim, square = dim * dim;
  return square + dim + (uses_inverse(block, rule) ? square : 0);
}

double cni_lambda_max_2(double xx, double xy, double yy) {
  double half = .5 * (xx - yy);
  return .5 * (xx + yy) + sqrt(half * half + xy * xy);
}

double cni_local_step(double omega, double trace, int32_t dim, double lambda_max) {
  double eta = cn_max(trace / dim, omega * lambda_max / 1.9);
  return eta > 0 ? omega / eta : 0;
}

static double positive_ratio(double omega, double eta) { return eta > 0 ? omega / eta : 0; }

// Largest eigenvalue of the symmetric part of a disc's own block.
static double disc_eta(const CniLocal *local, int32_t disc) {
  int32_t dim = local->dim, i = local->cone.start[disc];
  const double *n = local->n;
  double xx = n[i * dim + i];
  if (local->cone.dim[disc] == 1) return xx;
  double xy = .5 * (n[i * dim + i + 1] + n[(i + 1) * dim + i]);
  return cni_lambda_max_2(xx, xy, n[(i + 1) * dim + i + 1]);
}

static int32_t choose_method(const CniBlock *block, const CniLocalRule *rule, const CniLocal *local,
                             double trace) {
  double friction = local->cone.mu[0] + local->cone.mu[1] + local->cone.mu[2];
  if (!(trace > 0)) return CNI_LOCAL_FROZEN;
  if (block->dim == 1) return CNI_LOCAL_CLAMP;
  if (block->kind == CN_BLOCK_BILATERAL) return CNI_LOCAL_BILATERAL;
  if (rule->local == CN_LOCAL_EXACT) return CNI_LOCAL_EXACT;
  // without friction the models are one, and the clamp of the normal is exact
  int project = rule->local == CN_LOCAL_PROJECTION || local->convex;
  return project && friction > 0 ? CNI_LOCAL_PROJECT : CNI_LOCAL_SPLIT;
}

// Bounds of the clamp of a block of dimension 1.
static void prepare_clamp(CniLocal *local, const CnProblem *p, const CniBlock *block) {
  const CnSet *set = &p->sets[block->set];
  local->lo = -INFINITY;
  local->hi = INFINITY;
  if (block->kind == CN_BLOCK_UNILATERAL) local->lo = 0;
  if (block->kind == CN_BLOCK_INTERVAL) {
    local->lo = set->lo;
    local->hi = set->hi;
  }
}

void cni_local_prepare(CniLocal *local, const CnProblem *p, const CniBlock *block,
                       const CniLocalRule *rule, double *pool) {
  int32_t dim = block->dim;
  double *n = pool, *c = n + dim * dim, *inverse = c + dim;
  memset(local, 0, sizeof *local);
  cni_storages[block->storage].diagonal(p, block, n);
  cni_block_compliance(p, block, c);
  double trace = 0;
  for (int32_t i = 0; i < dim; i++) trace += n[i * dim + i];

  local->n = n;
  local->c = c;
  local->cone = cni_block_cone(p, block);
  local->cohesion = local->cone.cohesion;
  local->cone.cohesion = 0;
  local->omega = rule->omega;
  local->lambda = rule->lambda;
  local->dim = block->dim;
  local->convex = p->friction == CN_FRICTION_CONVEX;
  local->method = (uint8_t)choose_method(block, rule, local, trace);
  local->symmetric = (uint8_t)cni_small_symmetric(dim, n);

  switch ((CniLocalMethod)local->method) {
  case CNI_LOCAL_FROZEN:
    prepare_clamp(local, p, block);
    break;
  case CNI_LOCAL_CLAMP:
    prepare_clamp(local, p, block);
    local->step[0] = rule->omega / n[0];
    break;
  case CNI_LOCAL_BILATERAL:
  case CNI_LOCAL_EXACT:
    local->rank = (uint8_t)cni_small_inverse(dim, n, inverse);
    local->inverse = inverse;
    break;
  case CNI_LOCAL_SPLIT:
    local->step[0] = positive_ratio(rule->omega, n[0]);
    for (int32_t j = 0; j < local->cone.disc_count; j++)
      local->step[1 + j] = positive_ratio(rule->omega, disc_eta(local, j));
    break;
  case CNI_LOCAL_PROJECT:
    local->step[0] = cni_local_step(rule->omega, trace, dim, cni_small_lambda_max(dim, n));
    break;
  }
}

static void update_split(const CniLocal *local, const double *u, const double *g, double *x) {
  const CniCone *cone = &local->cone;
  int32_t dim = local->dim;
  double change[CNI_MAX_DIM];
  x[0] = cn_max(0, g[0] + local->cohesion - local->step[0] * u[0]);
  change[0] = x[0] - (g[0] + local->cohesion);
  for (int32_t j = 0; j < cone->disc_count; j++) {
    int32_t begin = cone->start[j], end = begin + cone->dim[j];
    for (int32_t i = begin; i < end; i++) {
      // the velocity that the rows before this disc have left
      double left = u[i];
      for (int32_t k = 0; k < begin; k++) left += local->n[i * dim + k] * change[k];
      x[i] = g[i] - local->step[1 + j] * left;
    }
    double length = cni_disc_norm(x + begin, cone->dim[j]), radius = cone->mu[j] * x[0];
    double scale = length > radius ? radius / length : 1;
    for (int32_t i = begin; i < end; i++) {
      x[i] *= scale;
      change[i] = x[i] - g[i];
    }
  }
}

static void update_project(const CniLocal *local, const double *u, const double *g, double *x) {
  const CniCone *cone = &local->cone;
  double shift = 0;
  for (int32_t j = 0; j < cone->disc_count && !local->convex; j++)
    shift += cone->mu[j] * cni_disc_norm(u + cone->start[j], cone->dim[j]);
  for (int32_t i = 0; i < local->dim; i++) x[i] = g[i] - local->step[0] * u[i];
  x[0] += local->cohesion - local->step[0] * shift;
  cni_project_cone(cone, x);
}

static int32_t update_exact(const CniLocal *local, const double *u, const double *g, double *x) {
  int32_t dim = local->dim;
  double q[CNI_MAX_DIM], held[CNI_MAX_DIM];
  held[0] = g[0] + local->cohesion;
  for (int32_t i = 1; i < dim; i++) held[i] = g[i];
  cni_small_multiply(dim, local->n, held, q);
  for (int32_t i = 0; i < dim; i++) {
    q[i] = u[i] - q[i];
    x[i] = held[i];
  }
  int32_t hard = cni_local_exact(local, q, x);
  if (local->omega == 1) return hard;
  for (int32_t i = 0; i < dim; i++) x[i] = held[i] + local->omega * (x[i] - held[i]);
  cni_project_cone(&local->cone, x);
  return hard;
}

// No impulse changes u. Zero is in every cone; a bound is right for an interval that slides.
static void update_frozen(const CniLocal *local, const double *u, double *g_new) {
  for (int32_t i = 0; i < local->dim; i++) g_new[i] = 0;
  if (local->dim != 1) return;
  double bound = u[0] > 0 ? local->lo : u[0] < 0 ? local->hi : 0;
  g_new[0] = cn_clamp(isfinite(bound) ? bound : 0, local->lo, local->hi);
}

int32_t cni_local_update(const CniLocal *local, const double *u, const double *g, double *g_new) {
  double x[CNI_MAX_DIM];
  int32_t hard = 0;
  switch ((CniLocalMethod)local->method) {
  case CNI_LOCAL_FROZEN:
    update_frozen(local, u, g_new);
    return 0;
  case CNI_LOCAL_CLAMP:
    x[0] = cn_clamp(g[0] - local->step[0] * u[0], local->lo, local->hi);
    break;
  case CNI_LOCAL_BILATERAL:
    cni_small_multiply(local->dim, local->inverse, u, x);
    for (int32_t i = 0; i < local->dim; i++) x[i] = g[i] - local->omega * x[i];
    break;
  case CNI_LOCAL_SPLIT:
    update_split(local, u, g, x);
    x[0] -= local->cohesion;
    break;
  case CNI_LOCAL_PROJECT:
    update_project(local, u, g, x);
    x[0] -= local->cohesion;
    break;
  case CNI_LOCAL_EXACT:
    hard = update_exact(local, u, g, x);
    x[0] -= local->cohesion;
    break;
  }
  double keep = 1 - local->lambda;
  for (int32_t i = 0; i < local->dim; i++) g_new[i] = keep * g[i] + local->lambda * x[i];
  return hard;
}
