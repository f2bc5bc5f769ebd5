// SPDX-License-Identifier: Apache-2.0
// Products, linear systems and the error of cones.h.
//
// A step of a method (cone_ipm.c, cone_laws.c, row_ipm.c) puts its blocks A and B on the diagonal;
// the system is factored by the block LU of sparse, which decides by its order whether contacts or
// bodies go first. The error is measured in the problem's own units, by the certificate's formulas.
#include "solver/cones/cones.h"
#include "solver/solver.h"

#include "core/clock.h"
#include "core/vec.h"

#include <string.h>

#define FALLBACK_WORK 1e8 // numbers of factors to be computed where all else has failed

// ---- products and systems ----

void cni_cones_import(const CniCones *c, const double *g, double *scaled) {
  for (int32_t i = 0; i < c->block_count; i++) {
    const CniConeBlock *block = &c->blocks[i];
    double unit = block->sigma > 0 ? 1 / (block->sigma * c->kappa) : 0;
    for (int32_t d = block->row; d < block->row + block->dim; d++) scaled[d] = unit * g[d];
  }
}

void cni_cones_export(const CniCones *c, const double *scaled, double *g) {
  for (int32_t i = 0; i < c->block_count; i++) {
    const CniConeBlock *block = &c->blocks[i];
    for (int32_t d = block->row; d < block->row + block->dim; d++)
      g[d] = block->sigma * c->kappa * scaled[d];
  }
}

// y += block x
static void add_product(int32_t rows, int32_t columns, const double *block, const double *x,
                        double *y) {
  for (int32_t i = 0; i < rows; i++) {
    double sum = y[i];
    for (int32_t j = 0; j < columns; j++) sum += block[i * columns + j] * x[j];
    y[i] = sum;
  }
}

void cni_cones_momentum(const CniCones *c, const double *g, double *w) {
  int32_t groups = c->group_nodes;
  // the rows of velocities hold -F^T
  for (int32_t i = 0; i < groups; i++) {
    int32_t own = c->node_size[i];
    const double *block = c->base + c->node_value[i] + (int64_t)own * own;
    double *v = w + c->first_velocity[i];
    memset(v, 0, (size_t)own * sizeof *v);
    for (int32_t e = c->node_start[i]; e < c->node_start[i + 1]; e++) {
      const CniConeBlock *other = &c->blocks[c->node_column[e] - groups];
      add_product(own, other->dim, block, g + other->row, v);
      block += own * other->dim;
    }
    for (int32_t d = 0; d < own; d++) v[d] = -v[d];
  }
}

void cni_cones_rows(const CniCones *c, const double *w, const double *g, double *u) {
  int32_t groups = c->group_nodes;
  for (int32_t i = 0; i < c->block_count; i++) {
    const CniConeBlock *own = &c->blocks[i];
    int32_t node = groups + i;
    const double *block = c->base + c->node_value[node];
    double *to = u + own->row;
    memcpy(to, c->r + own->row, own->dim * sizeof *to);
    add_product(own->dim, own->dim, block, g + own->row, to);
    block += own->dim * own->dim;
    for (int32_t e = c->node_start[node]; e < c->node_start[node + 1]; e++) {
      int32_t j = c->node_column[e], size = c->node_size[j];
      const double *x = j < groups ? w + c->first_velocity[j] : g + c->blocks[j - groups].row;
      add_product(own->dim, size, block, x, to);
      block += own->dim * size;
    }
  }
}

void cni_cones_velocity(CniCones *c, const double *g, double *u) {
  if (c->dense.w) {
    cni_cones_dense_velocity(c, g, u);
    return;
  }
  cni_cones_momentum(c, g, c->v);
  cni_cones_rows(c, c->v, g, u);
}

// to = a block
static void product(int32_t dim, int32_t columns, const double *a, const double *block,
                    double *to) {
  for (int32_t i = 0; i < dim; i++)
    for (int32_t j = 0; j < columns; j++) {
      double sum = 0;
      for (int32_t k = 0; k < dim; k++) sum += a[i * dim + k] * block[k * columns + j];
      to[i * columns + j] = sum;
    }
}

int cni_cones_factor(CniCones *c) {
  if (c->dense.w) return cni_cones_dense_factor(c);
  int32_t groups = c->group_nodes;
  if (groups > 0) memcpy(c->values, c->base, (size_t)c->node_value[groups] * sizeof *c->values);
  for (int32_t i = 0; i < c->block_count; i++) {
    const CniConeBlock *own = &c->blocks[i];
    int32_t node = groups + i, dim = own->dim;
    const double *from = c->base + c->node_value[node], *a = c->a + own->matrix;
    double *to = c->values + c->node_value[node];
    product(dim, dim, a, from, to);
    for (int32_t k = 0; k < dim * dim; k++) to[k] += c->b[own->matrix + k];
    from += dim * dim;
    to += dim * dim;
    for (int32_t e = c->node_start[node]; e < c->node_start[node + 1]; e++) {
      int32_t size = c->node_size[c->node_column[e]];
      product(dim, size, a, from, to);
      from += dim * size;
      to += dim * size;
    }
  }
  return cni_lu_factor(c->lu, c->values, 1e-300);
}

// Numbers of a factor.
static double fill_of(const CniCones *c) {
  return c->dense.w ? (double)c->n * c->n : (double)cni_lu_fill(c->lu);
}

int32_t cni_cones_afford(const CniCones *c, double work, int32_t most) {
  double steps = work / (fill_of(c) + 1);
  return steps > most ? most : steps > 10 ? (int32_t)steps : 10;
}

double cni_cones_flops(const CniCones *c) {
  double factor = c->dense.w ? 2. / 3 * c->n * fill_of(c) : cni_lu_flops(c->lu);
  return factor + 4. * fill_of(c) + 1000. * c->n;
}

int32_t cni_cones_steps(const CniCones *c, int32_t most) {
  return cni_cones_afford(c, FALLBACK_WORK, most);
}

int cni_cones_late(CniCones *c) {
  if (c->deadline > 0 && cni_seconds() > c->deadline) c->cut = 1;
  return c->cut;
}

void cni_cones_solve_all(CniCones *c, double *x) { cni_lu_solve(c->lu, x); }

void cni_cones_solve(CniCones *c, double *x) {
  if (c->dense.w) {
    cni_cones_dense_solve(c, x);
    return;
  }
  size_t velocities = (size_t)c->velocities;
  memset(c->x, 0, velocities * sizeof *c->x);
  // rows of blocks are the problem's rows in their order
  memcpy(c->x + velocities, x, (size_t)c->n * sizeof *x);
  cni_lu_solve(c->lu, c->x);
  memcpy(x, c->x + velocities, (size_t)c->n * sizeof *x);
}

// ---- the error ----

void cni_cones_project(const CniCones *c, int32_t i, double *x) {
  const CniConeBlock *block = &c->blocks[i];
  if (block->kind == CN_BLOCK_UNILATERAL) {
    x[0] = cn_max(x[0], 0);
  } else if (block->kind == CN_BLOCK_INTERVAL) {
    x[0] = cn_clamp(x[0], block->lo, block->hi);
  } else if (block->kind >= CN_BLOCK_FRICTION_2D) {
    CniCone cone = cni_block_cone(c->p, &c->p->blocks[i]);
    cone.cohesion = block->cone.cohesion;
    cni_project_cone(&cone, x);
  }
}

// |g - P(g - (u + s))| of a block, scaled: the certificate's in units of kappa/sigma.
static double natural(const CniCones *c, int32_t i, const double *g, const double *u) {
  const CniConeBlock *block = &c->blocks[i];
  double x[CNI_MAX_DIM], sum = 0;
  for (int32_t d = 0; d < block->dim; d++) x[d] = g[d] - u[d];
  if (block->kind >= CN_BLOCK_FRICTION_2D && !c->convex) x[0] -= cni_cone_shift(&block->cone, u);
  cni_cones_project(c, i, x);
  for (int32_t d = 0; d < block->dim; d++) sum += (g[d] - x[d]) * (g[d] - x[d]);
  return sqrt(sum);
}

// |e(S)| over all blocks, e(S) = S (g - P(g - (u + s)/S)), of the unscaled g_out and u_out.
static double natural_norm(const CniCones *c, double scale) {
  const CnProblem *p = c->p;
  double sum = 0;
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    const double *g = c->g_out + block->row, *u = c->u_out + block->row;
    double x[CNI_MAX_DIM];
    for (int32_t d = 0; d < block->dim; d++) x[d] = g[d] - u[d] / scale;
    x[0] -= cni_shift(p, block, u) / scale;
    cni_project(p, block, x);
    for (int32_t d = 0; d < block->dim; d++) sum += (g[d] - x[d]) * (g[d] - x[d]);
  }
  return scale * sqrt(sum);
}

static double norm(int32_t count, const double *x) {
  double sum = 0;
  for (int32_t i = 0; i < count; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

// The larger of error_siconos and error_scaled of a global problem, with u of v = M^-1 (k + E^T g):
// the momenta are right.
static double global_error(CniCones *c) {
  const CnProblem *p = c->p;
  cni_global_apply(p, c->g_out, c->velocity);
  cni_global_velocity(p, c->velocity, c->g_out, c->u_out);
  double u = norm(c->n, c->u_out), g = norm(c->n, c->g_out), r = norm(c->n, p->global->r);
  double size = cn_max(u, g), speed = cn_max(r, u), error = natural_norm(c, 1);
  if (size > 0) error /= size;
  if (speed > 0 && g > 0) error = cn_max(error, natural_norm(c, speed / g) / speed);
  return error;
}

double cni_cones_error(CniCones *c, const double *g, const double *u) {
  if (c->p->form != CN_FORM_STEP) cni_cones_export(c, g, c->g_out);
  if (c->p->form == CN_FORM_EXPLICIT) return cni_problem_error(c->p, c->g_out, c->u_out);
  if (c->p->form == CN_FORM_GLOBAL) return global_error(c);
  double worst = 0;
  for (int32_t i = 0; i < c->block_count; i++) {
    const CniConeBlock *block = &c->blocks[i];
    if (block->sigma == 0) continue;
    double e = c->kappa / block->sigma * natural(c, i, g + block->row, u + block->row);
    if (!(e <= worst)) worst = e;
  }
  return c->speed > 0 ? worst / c->speed : worst;
}
