// SPDX-License-Identifier: Apache-2.0
// Cones whose matrix is small and full, as that of a machine's feet and motors beside its joints (few.c):
// rows of numbers in place of a graph of blocks, elimination with partial pivoting in place of an order. What is
// done once a step of Newton's method takes a quarter of the instructions then.
#include "solver/cones/cones.h"

#include "core/vec.h"

#include <string.h>

#define ROWS_MOST 64

int cni_cones_is_full(const CnProblem *p) {
  return p->form == CN_FORM_EXPLICIT && p->row_count > 0 && p->row_count <= ROWS_MOST &&
         cni_sparse_entry_count(&p->w) == p->row_count * p->row_count;
}

CnStatus cni_cones_dense_load(CniCones *c) {
  const CnSparse *w = &c->p->w;
  CniConesDense *d = &c->dense;
  double sigma[ROWS_MOST];
  int32_t n = c->n;
  d->stride = cni_dense_stride(n);
  CNI_TRY(cni_arena_array(&c->arena, (int64_t)n * d->stride, sizeof *d->w, &d->w));
  CNI_TRY(cni_arena_array(&c->arena, (int64_t)n * d->stride, sizeof *d->values, &d->values));
  CNI_TRY(cni_arena_array(&c->arena, d->stride, sizeof *d->g, &d->g));
  CNI_TRY(CNI_TAKE(&c->arena, n, d->pivot));
  for (int32_t i = 0; i < c->block_count; i++)
    for (int32_t r = 0; r < c->blocks[i].dim; r++) sigma[c->blocks[i].row + r] = c->blocks[i].sigma;
  for (int32_t r = 0; r < n; r++)
    for (int32_t e = w->start[r]; e < w->start[r + 1]; e++)
      d->w[r * d->stride + w->column[e]] = sigma[r] * sigma[w->column[e]] * w->value[e];
  return CN_OK;
}

void cni_cones_dense_velocity(CniCones *c, const double *g, double *u) {
  const CniDenseKernels *kernels = cni_dense_kernels();
  CniConesDense *d = &c->dense;
  memcpy(d->g, g, (size_t)c->n * sizeof *g); // zeros follow
  for (int32_t r = 0; r < c->n; r++)
    u[r] = c->r[r] + kernels->dot(c->n, d->w + r * d->stride, d->g);
}

int cni_cones_dense_factor(CniCones *c) {
  const CniDenseKernels *kernels = cni_dense_kernels();
  CniConesDense *d = &c->dense;
  memset(d->values, 0, (size_t)(c->n * d->stride) * sizeof *d->values);
  for (int32_t i = 0; i < c->block_count; i++) {
    const CniConeBlock *own = &c->blocks[i];
    const double *a = c->a + own->matrix, *b = c->b + own->matrix;
    for (int32_t r = 0; r < own->dim; r++, a += own->dim, b += own->dim) {
      double *to = d->values + (own->row + r) * d->stride;
      for (int32_t k = 0; k < own->dim; k++) // blocks that are open have none
        if (a[k] != 0) kernels->axpy(c->n, a[k], d->w + (own->row + k) * d->stride, to);
      for (int32_t k = 0; k < own->dim; k++) to[own->row + k] += b[k];
    }
  }
  return cni_dense_factor(kernels, c->n, d->values, d->stride, d->pivot, 1e-300);
}

void cni_cones_dense_solve(CniCones *c, double *x) {
  cni_dense_solve(c->n, c->dense.values, c->dense.stride, c->dense.pivot, x);
}
