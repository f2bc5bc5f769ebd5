// SPDX-License-Identifier: Apache-2.0
// Alternating directions on cones (ADMM): impulses x that are free and z that are in their cones, brought together.
//
//     x <- argmin x.N x/2 + (r + s).x + lambda.x + rho |x - z|^2/2      one solve with the factor of N + rho
//     z <- P(x + lambda/rho),   lambda <- lambda + rho (x - z)
//
// -lambda are velocities u + s that obey the law with the shifts s = mu |u_t|, which are brought up to date in every
// iteration from lambda itself: contacts that stick have none, whatever their u is on the way. The factor stays, so that an iteration costs
// one substitution; every one looks at the whole of the pile at once. Where shifts that are held and a convex
// problem solved for them run about the answer of a settled pile, this goes on towards it: slowly, for what is
// wedged takes its impulses in steps of u/rho, and up and down, so that the best point is kept.
#include "solver/cones/cones.h"

#include "core/vec.h"

#include <string.h>

#define RHO 0.1   // of N_ii, which are 1
#define RELAX 1.6 // of x before it is projected: 1 to 2
#define LOOK 5    // iterations between looks at the error

typedef struct Admm {
  double *x, *z, *u; // z: the point
  double *lambda, *shift, *best;
} Admm;

static int factor(CniCones *c) {
  memset(c->a, 0, (size_t)c->matrix_count * sizeof *c->a);
  memset(c->b, 0, (size_t)c->matrix_count * sizeof *c->b);
  for (int32_t i = 0; i < c->block_count; i++) {
    const CniConeBlock *block = &c->blocks[i];
    for (int32_t d = 0; d < block->dim; d++) {
      c->a[block->matrix + d * (block->dim + 1)] = 1;
      c->b[block->matrix + d * (block->dim + 1)] = RHO;
    }
  }
  return cni_cones_factor(c);
}

// The shift of a block, from -lambda.
static double shift_of(const CniCones *c, const CniConeBlock *block, const double *lambda) {
  double u[CNI_MAX_DIM];
  if (c->convex || block->kind < CN_BLOCK_FRICTION_2D) return 0;
  for (int32_t d = 0; d < block->dim; d++) u[d] = -lambda[d];
  return cni_cone_shift(&block->cone, u);
}

static void iterate(CniCones *c, Admm *m) {
  for (int32_t i = 0; i < c->n; i++) m->x[i] = RHO * m->z[i] - m->lambda[i] - c->r[i];
  for (int32_t i = 0; i < c->block_count; i++) m->x[c->blocks[i].row] -= m->shift[i];
  cni_cones_solve(c, m->x);
  for (int32_t i = 0; i < c->block_count; i++) {
    const CniConeBlock *block = &c->blocks[i];
    double *z = m->z + block->row, *lambda = m->lambda + block->row, free[CNI_MAX_DIM];
    for (int32_t d = 0; d < block->dim; d++) {
      free[d] = z[d] + RELAX * (m->x[block->row + d] - z[d]) + lambda[d] / RHO;
      z[d] = free[d];
    }
    cni_cones_project(c, i, z);
    for (int32_t d = 0; d < block->dim; d++) lambda[d] = RHO * (free[d] - z[d]);
    m->shift[i] = shift_of(c, block, lambda);
  }
}

static void begin(CniCones *c, Admm *m, const double *g) {
  memcpy(m->z, g, (size_t)c->n * sizeof *g);
  cni_cones_velocity(c, g, m->u);
  for (int32_t i = 0; i < c->block_count; i++) {
    const CniConeBlock *block = &c->blocks[i];
    double *lambda = m->lambda + block->row;
    for (int32_t d = 0; d < block->dim; d++) lambda[d] = -m->u[block->row + d];
    m->shift[i] = shift_of(c, block, lambda);
    lambda[0] -= m->shift[i];
  }
}

CnStatus cni_cone_admm(CniCones *c, double tolerance, int32_t most, double *g, double *error,
                       int32_t *made) {
  Admm m;
  CNI_TRY(CNI_LAY(&c->arena, CNI_ARRAY(c->n, m.x), CNI_ARRAY(c->n, m.z), CNI_ARRAY(c->n, m.u),
                  CNI_ARRAY(c->n, m.lambda), CNI_ARRAY(c->block_count, m.shift)));
  *error = INFINITY;
  *made = 0;
  if (!factor(c)) return CN_OK;
  begin(c, &m, g);
  while (*made<most && * error> tolerance && !cni_cones_late(c)) {
    iterate(c, &m);
    if (++*made % LOOK != 0) continue;
    cni_cones_velocity(c, m.z, m.u);
    double now = cni_cones_error(c, m.z, m.u);
    if (!(now < *error)) continue;
    *error = now;
    memcpy(g, m.z, (size_t)c->n * sizeof *g);
  }
  return CN_OK;
}
