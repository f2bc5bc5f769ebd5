// SPDX-License-Identifier: Apache-2.0
// The laws of contacts as equations f = 0, and their derivatives, block by block.
//
// With projections, y = g - u (in the scaled units of cones.h, in which 1 is the right factor of
// u). Coulomb, after Alart and Curnier:
//
//     y_n <= 0                   take-off   f = g
//     |y_j| <= mu_j y_n          stick      f_n = u_n, f_j = u_j
//     otherwise                  slip       f_n = u_n, f_j = g_j - mu_j y_n y_j/|y_j|
//
// with every disc j (sliding, rolling, spinning) for itself. Convex model: f = g - P_K(y). Both are
// differentiable but for the borders between the cases, where either derivative serves. Derivatives
// are A du + B dg block by block.
#include "solver/cones/cones.h"

#include "core/vec.h"

#include <string.h>

// One block: f, and where a is given A and B (dim x dim, cleared).
typedef struct Local {
  const CniConeBlock *block;
  const double *g, *u;
  double *f, *a, *b;
  double y[CNI_MAX_DIM];
  uint32_t state; // of Coulomb's law, see cones.h
} Local;

// ---- states ----

static int disc_slips(const CniConeBlock *block, int32_t j, const double *y) {
  const CniCone *cone = &block->cone;
  return cni_disc_norm(y + cone->start[j], cone->dim[j]) > cone->mu[j] * y[0];
}

uint32_t cni_cone_state(const CniConeBlock *block, const double *y) {
  if (!(y[0] > 0)) return 0;
  uint32_t state = CNI_CONE_CLOSED;
  for (int32_t j = 0; j < block->cone.disc_count; j++)
    if (disc_slips(block, j, y)) state |= CNI_CONE_SLIPS << j;
  return state;
}

void cni_cone_y(const CniConeBlock *block, const double *g, const double *u, double *y) {
  for (int32_t d = 0; d < block->dim; d++) y[d] = g[d] - u[d];
  y[0] += block->cone.cohesion;
}

// ---- rows ----

// Row d: f = u.
static void row_of_u(const Local *l, int32_t d) {
  l->f[d] = l->u[d];
  if (l->a) l->a[d * (l->block->dim + 1)] = 1;
}

// Row d: f = g - value.
static void row_of_g(const Local *l, int32_t d, double value) {
  l->f[d] = l->g[d] - value;
  if (l->b) l->b[d * (l->block->dim + 1)] = 1;
}

// Slip of a disc: `radius` is the radius that its direction is given, `wall` the derivative of the
// radius by y.
static void slip_rows(const Local *l, int32_t j, double radius, const double *wall) {
  const CniCone *cone = &l->block->cone;
  int32_t begin = cone->start[j], count = cone->dim[j], dim = l->block->dim;
  double length = cni_disc_norm(l->y + begin, count);
  for (int32_t i = 0; i < count; i++) {
    int32_t row = begin + i;
    double e = l->y[row] / length;
    l->f[row] = l->g[row] - radius * e;
    if (!l->a) continue;
    double *a = l->a + row * dim, *b = l->b + row * dim;
    for (int32_t k = 0; k < dim; k++) a[k] = e * wall[k];
    for (int32_t k = 0; k < count; k++)
      a[begin + k] += radius / length * ((i == k ? 1 : 0) - e * l->y[begin + k] / length);
    for (int32_t k = 0; k < dim; k++) b[k] = (k == row ? 1 : 0) - a[k];
  }
}

static void coulomb_rows(const Local *l) {
  const CniCone *cone = &l->block->cone;
  if (!(l->state & CNI_CONE_CLOSED)) {
    row_of_g(l, 0, -cone->cohesion);
    for (int32_t d = 1; d < l->block->dim; d++) row_of_g(l, d, 0);
    return;
  }
  row_of_u(l, 0);
  for (int32_t j = 0; j < cone->disc_count; j++) {
    double radius = cone->mu[j] * l->y[0], wall[CNI_MAX_DIM] = {cone->mu[j]};
    if (l->state & CNI_CONE_SLIPS << j) {
      slip_rows(l, j, radius, wall);
      continue;
    }
    for (int32_t d = 0; d < cone->dim[j]; d++) row_of_u(l, cone->start[j] + d);
  }
}

static void convex_rows(const CniCones *c, const Local *l) {
  const CniCone *cone = &l->block->cone;
  int32_t dim = l->block->dim;
  double projected[CNI_MAX_DIM], normal[CNI_MAX_DIM] = {1}, weight = 1;
  // with the discs of mu = 0, as the projection wants them
  CniCone plain = cni_block_cone(c->p, &c->p->blocks[l->block - c->blocks]);
  plain.cohesion = 0;
  memcpy(projected, l->y, (size_t)dim * sizeof *projected);
  cni_project_cone(&plain, projected);
  if (!(projected[0] > 0)) {
    row_of_g(l, 0, -cone->cohesion);
    for (int32_t d = 1; d < dim; d++) row_of_g(l, d, 0);
    return;
  }
  // the discs that are cut move the normal part
  uint32_t cut = 0;
  for (int32_t j = 0; j < cone->disc_count; j++) {
    double length = cni_disc_norm(l->y + cone->start[j], cone->dim[j]), mu = cone->mu[j];
    if (!(length > mu * projected[0])) continue;
    cut |= 1u << j;
    weight += mu * mu;
    for (int32_t d = 0; d < cone->dim[j]; d++)
      normal[cone->start[j] + d] = mu * l->y[cone->start[j] + d] / length;
  }
  for (int32_t d = 0; d < dim; d++) normal[d] /= weight;
  l->f[0] = l->g[0] + cone->cohesion - projected[0];
  for (int32_t k = 0; l->a && k < dim; k++) {
    l->a[k] = normal[k];
    l->b[k] = (k == 0 ? 1 : 0) - normal[k];
  }
  for (int32_t j = 0; j < cone->disc_count; j++) {
    double wall[CNI_MAX_DIM];
    for (int32_t d = 0; d < dim; d++) wall[d] = cone->mu[j] * normal[d];
    if (cut >> j & 1) slip_rows(l, j, cone->mu[j] * projected[0], wall);
    for (int32_t d = 0; !(cut >> j & 1) && d < cone->dim[j]; d++) row_of_u(l, cone->start[j] + d);
  }
}

static void block_rows(const CniCones *c, Local *l) {
  const CniConeBlock *block = l->block;
  if (block->fixed == 0xff) {
    for (int32_t d = 0; d < block->dim; d++) row_of_g(l, d, 0);
    return;
  }
  switch ((CnBlockKind)block->kind) {
  case CN_BLOCK_BILATERAL:
    for (int32_t d = 0; d < block->dim; d++) row_of_u(l, d);
    return;
  case CN_BLOCK_UNILATERAL:
    if (l->state & CNI_CONE_CLOSED)
      row_of_u(l, 0);
    else
      row_of_g(l, 0, 0);
    return;
  case CN_BLOCK_INTERVAL:
    if (l->y[0] > block->lo && l->y[0] < block->hi)
      row_of_u(l, 0);
    else
      row_of_g(l, 0, cn_clamp(l->y[0], block->lo, block->hi));
    return;
  default:
    break;
  }
  if (c->convex)
    convex_rows(c, l);
  else
    coulomb_rows(l);
  for (int32_t d = 1; d < block->dim; d++)
    if (block->fixed >> d & 1) {
      if (l->b) memset(l->b + d * block->dim, 0, block->dim * sizeof *l->b);
      row_of_g(l, d, 0);
    }
}

void cni_cone_rows(CniCones *c, int32_t i, const uint32_t *state, const double *g, const double *u,
                   double *f, int derive) {
  const CniConeBlock *block = &c->blocks[i];
  Local l = {.block = block,
             .g = g + block->row,
             .u = u + block->row,
             .f = f + block->row,
             .a = derive ? c->a + block->matrix : NULL,
             .b = derive ? c->b + block->matrix : NULL};
  size_t bytes = (size_t)(block->dim * block->dim) * sizeof *c->a;
  if (derive) {
    memset(l.a, 0, bytes);
    memset(l.b, 0, bytes);
  }
  cni_cone_y(block, l.g, l.u, l.y);
  l.state = state ? *state : cni_cone_state(block, l.y);
  block_rows(c, &l);
}
