// SPDX-License-Identifier: Apache-2.0
// Sweeps over blocks of sparse rows, in the step form and in the explicit form.
//
// Step form: a row is a list of groups with a coefficient for velocity and spin; beside it lies the
// velocity that a unit impulse of the row gives to the group. Explicit form: the velocity of a
// block is its rows of W times all impulses; nothing but g changes, and W may be unsymmetric. Every
// block that has no lanes comes here: joints, limits, motors, exact solves, contacts in the plane.
#include "solver/sweeps/psor.h"

#include <string.h>

static inline double twist_dot(CnTwist a, const CniPsorGroup *g) {
  return cn_dot(a.velocity, g->v) + cn_dot(a.spin, g->w);
}

// The groups follow a change d of the block's impulses.
static void follow(CniPsor *s, const CniPsorRows *c, const double *d) {
  for (int32_t e = c->entry_begin; e < c->entry_end; e++) {
    const CniPsorEntry *entry = &s->entries[e];
    if (entry->group < 0) continue;
    CniPsorGroup *group = &s->groups[entry->group];
    group->v = cn_madd(group->v, d[entry->row], entry->m_e.velocity);
    group->w = cn_madd(group->w, d[entry->row], entry->m_e.spin);
  }
}

// E v + b + C g
static void rows_velocity(const CniPsor *s, const CniPsorRows *c, double *u) {
  const double *g = s->g + c->row;
  double b[CNI_MAX_DIM];
  cni_block_b(s->p, &s->p->blocks[c->block], b);
  for (int32_t k = 0; k < c->local.dim; k++) u[k] = b[k] + c->local.c[k] * g[k];
  for (int32_t e = c->entry_begin; e < c->entry_end; e++) {
    const CniPsorEntry *entry = &s->entries[e];
    int32_t group = entry->group < 0 ? ~entry->group : entry->group;
    u[entry->row] += twist_dot(entry->e, &s->groups[group]);
  }
}

void cni_psor_rows(CniPsor *s, int32_t begin, int32_t end, int32_t step) {
  for (int32_t i = step > 0 ? begin : end - 1; i >= begin && i < end; i += step) {
    const CniPsorRows *c = &s->rows[i];
    if (c->joint) continue;
    double *g = s->g + c->row, u[CNI_MAX_DIM], g_new[CNI_MAX_DIM], d[CNI_MAX_DIM];
    int32_t dim = c->local.dim;
    rows_velocity(s, c, u);
    cni_local_update(&c->local, u, g, g_new);
    for (int32_t k = 0; k < dim; k++) {
      d[k] = g_new[k] - g[k];
      g[k] = g_new[k];
    }
    follow(s, c, d);
  }
}

void cni_psor_apply_rows(CniPsor *s, int32_t begin, int32_t end) {
  for (int32_t i = begin; i < end; i++) follow(s, &s->rows[i], s->g + s->rows[i].row);
}

int cni_psor_same_columns(const CnSparse *w, int32_t row, int32_t dim) {
  const int32_t *start = w->start + row;
  int32_t count = start[1] - start[0];
  const int32_t *column = count > 0 ? w->column + start[0] : NULL; // W may have no entry at all
  for (int32_t k = 1; k < dim; k++) {
    if (start[k + 1] - start[k] != count) return 0;
    if (count > 0 && memcmp(column, column + k * count, (size_t)count * sizeof *column) != 0)
      return 0;
  }
  return 1;
}

// u += rows of W times all impulses. Rows with the same columns are added up side by side, each in
// its own order, so that the bits are those of one row at a time.
static void add_products(const CnSparse *w, const CniPsorRows *c, const double *g, double *u) {
  int32_t row = c->row, dim = c->local.dim;
  int32_t begin = w->start[row], count = w->start[row + 1] - begin;
  if (w->start[row + dim] == begin) return; // W may have no entry at all
  const int32_t *column = w->column + begin;
  const double *x = w->value + begin, *y = x + count, *z = y + count;
  if (c->same_columns && dim == 3) {
    for (int32_t e = 0; e < count; e++) {
      double impulse = g[column[e]];
      u[0] += x[e] * impulse;
      u[1] += y[e] * impulse;
      u[2] += z[e] * impulse;
    }
  } else if (c->same_columns && dim == 2) {
    for (int32_t e = 0; e < count; e++) {
      double impulse = g[column[e]];
      u[0] += x[e] * impulse;
      u[1] += y[e] * impulse;
    }
  } else {
    for (int32_t k = 0; k < dim; k++)
      for (int32_t e = w->start[row + k]; e < w->start[row + k + 1]; e++)
        u[k] += w->value[e] * g[w->column[e]];
  }
}

void cni_psor_explicit(CniPsor *s, int32_t begin, int32_t end, int32_t step) {
  double change = 0, size = 0;
  for (int32_t i = step > 0 ? begin : end - 1; i >= begin && i < end; i += step) {
    const CniPsorRows *c = &s->rows[i];
    double *g = s->g + c->row, u[CNI_MAX_DIM], g_new[CNI_MAX_DIM];
    int32_t dim = c->local.dim;
    for (int32_t k = 0; k < dim; k++) u[k] = s->p->b[c->row + k];
    add_products(&s->p->w, c, s->g, u);
    s->hard_count += cni_local_update(&c->local, u, g, g_new);
    for (int32_t k = 0; k < dim; k++) {
      change += (g_new[k] - g[k]) * (g_new[k] - g[k]);
      size += g_new[k] * g_new[k];
      g[k] = g_new[k];
    }
  }
  s->change = change > 0 ? sqrt(change / size) : 0;
}
