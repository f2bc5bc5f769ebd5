// SPDX-License-Identifier: Apache-2.0
// The sets K of the blocks: their cones, the projection on them, de Saxce's shift.
//
// A cone block is (n, x_1 .. x_p): a normal impulse and p discs, K = {|x_j| <= mu_j (n + c)}, c the
// cohesion. The discs are sliding friction (mu), rolling (mu_roll) and spinning (mu_spin).
//
// Projection on the cone with c = 0. If n + sum mu_j |x_j| <= 0 the point lies in the polar cone
// and goes to the tip. Else the discs A that are cut satisfy
//
//     n' = (n + sum_A mu_j |x_j|) / (1 + sum_A mu_j^2),   A = {j: |x_j| > mu_j n'}.
//
// With the discs in descending order of |x_j|/mu_j the set A is a beginning of that order: each
// disc that joins moves n' to a weighted mean of n' and |x_j|/mu_j, so up, but never beyond the
// ratio of a disc that is already in. Ratios are compared crosswise, so that mu_j = 0 (ratio
// infinite) needs no case of its own: such a disc joins with weight zero and is projected to zero.
#include "problem/problem.h"

#include "core/vec.h"

int32_t cni_block_dim(CnBlockKind kind) {
  static const int32_t dims[CN_BLOCK_KIND_COUNT] = {0, 1, 1, 2, 3, 5, 6};
  return dims[kind];
}

// Unit length of the rotational rows; 1 where the rows have their own unit.
static double block_length(const CnProblem *p, const CniBlock *block) {
  if (block->storage == CNI_PAIR) return p->pairs[block->index].length;
  if (block->storage == CNI_SPHERE) return cni_sphere_length(p, block->index);
  return 1;
}

CniCone cni_block_cone(const CnProblem *p, const CniBlock *block) {
  CniCone cone = {0};
  if (block->kind < CN_BLOCK_FRICTION_2D) return cone;
  const CnSet *set = &p->sets[block->set];
  cone.disc_count = 1;
  cone.mu[0] = set->mu;
  cone.start[0] = 1;
  cone.dim[0] = block->kind == CN_BLOCK_FRICTION_2D ? 1 : 2;
  cone.cohesion = set->cohesion;
  if (block->kind >= CN_BLOCK_ROLLING) {
    double length = block_length(p, block);
    cone.disc_count = 2;
    cone.mu[1] = set->mu_roll / length;
    cone.start[1] = 3;
    cone.dim[1] = 2;
    if (block->kind == CN_BLOCK_SPINNING) {
      cone.disc_count = 3;
      cone.mu[2] = set->mu_spin / length;
      cone.start[2] = 5;
      cone.dim[2] = 1;
    }
  }
  return cone;
}

void cni_block_compliance(const CnProblem *p, const CniBlock *block, double *c) {
  const double *given = p->sets[block->set].compliance;
  for (int32_t i = 0; i < block->dim; i++) {
    int32_t which = block->kind < CN_BLOCK_FRICTION_2D || i == 0 ? 0 : i < 3 ? 1 : 2;
    // the compliance of an explicit problem is in W
    c[i] = block->storage == CNI_EXPLICIT ? 0 : given[which];
  }
}

// One disc, the common case, without sorting.
static void project_one_disc(double mu, int32_t dim, double *x) {
  double length = cni_disc_norm(x + 1, dim), n = x[0], scale = 0;
  if (n + mu * length <= 0) {
    n = 0;
  } else {
    if (length <= mu * n) return;
    n = (n + mu * length) / (1 + mu * mu);
    scale = mu * n / length; // not inside the polar cone and not in K: length > 0
  }
  x[0] = n;
  for (int32_t i = 0; i < dim; i++) x[1 + i] *= scale;
}

static void project_discs(const CniCone *cone, double *x) {
  int32_t order[3], ordered = 0, count = cone->disc_count;
  double length[3], reach = x[0];
  for (int32_t j = 0; j < count; j++) {
    length[j] = cni_disc_norm(x + cone->start[j], cone->dim[j]);
    reach += cone->mu[j] * length[j];

    // insert by descending |x_j| / mu_j; x_j = 0 is never cut
    if (!(length[j] > 0)) continue;
    int32_t place = ordered++;
    while (place > 0 &&
           length[j] * cone->mu[order[place - 1]] > length[order[place - 1]] * cone->mu[j]) {
      order[place] = order[place - 1];
      place--;
    }
    order[place] = j;
  }

  // the polar cone
  if (reach <= 0) {
    x[0] = 0;
    for (int32_t j = 0; j < count; j++)
      for (int32_t i = 0; i < cone->dim[j]; i++) x[cone->start[j] + i] = 0;
    return;
  }

  // discs join while they are cut
  double sum = x[0], weight = 1, n = x[0];
  int32_t cut = 0;
  while (cut < ordered && length[order[cut]] > cone->mu[order[cut]] * n) {
    double mu = cone->mu[order[cut]];
    sum += mu * length[order[cut]];
    weight += mu * mu;
    n = sum / weight;
    cut++;
  }
  x[0] = n;
  for (int32_t c = 0; c < cut; c++) {
    int32_t j = order[c];
    double scale = cone->mu[j] * n / length[j];
    for (int32_t i = 0; i < cone->dim[j]; i++) x[cone->start[j] + i] *= scale;
  }
}

void cni_project_cone(const CniCone *cone, double *x) {
  x[0] += cone->cohesion;
  if (cone->disc_count == 1)
    project_one_disc(cone->mu[0], cone->dim[0], x);
  else
    project_discs(cone, x);
  x[0] -= cone->cohesion;
}

int cni_project_plain(int32_t kind, double lo, double hi, double *x) {
  if (kind == CN_BLOCK_UNILATERAL) x[0] = cn_max(x[0], 0);
  if (kind == CN_BLOCK_INTERVAL) x[0] = cn_clamp(x[0], lo, hi);
  return kind == CN_BLOCK_BILATERAL || kind == CN_BLOCK_UNILATERAL || kind == CN_BLOCK_INTERVAL;
}

void cni_project(const CnProblem *p, const CniBlock *block, double *x) {
  const CnSet *set = &p->sets[block->set];
  if (cni_project_plain(block->kind, set->lo, set->hi, x)) return;
  CniCone cone = cni_block_cone(p, block);
  cni_project_cone(&cone, x);
}

double cni_cone_shift(const CniCone *cone, const double *u) {
  double shift = 0;
  for (int32_t j = 0; j < cone->disc_count; j++)
    shift += cone->mu[j] * cni_disc_norm(u + cone->start[j], cone->dim[j]);
  return shift;
}

double cni_shift(const CnProblem *p, const CniBlock *block, const double *u) {
  if (p->friction != CN_FRICTION_COULOMB || block->kind < CN_BLOCK_FRICTION_2D) return 0;
  CniCone cone = cni_block_cone(p, block);
  return cni_cone_shift(&cone, u);
}
