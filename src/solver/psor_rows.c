// Sweeps over blocks of sparse rows, in the step form and in the explicit form.
//
// Step form: a row is a list of groups with a coefficient for velocity and spin; beside it lies the
// velocity that a unit impulse of the row gives to the group. Explicit form: the velocity of a
// block is its rows of W times all impulses; nothing but g changes, and W may be unsymmetric. Every
// block that has no lanes comes here: joints, limits, motors, exact solves, contacts in the plane.
#include "solver/psor.h"

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

void cni_psor_rows_velocity(const CniPsor *s, const CniPsorRows *c, double *u) {
  const double *b = s->p->b + c->row, *g = s->g + c->row;
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
    double *g = s->g + c->row, u[CNI_MAX_DIM], g_new[CNI_MAX_DIM], d[CNI_MAX_DIM];
    int32_t dim = c->local.dim;
    cni_psor_rows_velocity(s, c, u);
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

void cni_psor_explicit(CniPsor *s, int32_t begin, int32_t end, int32_t step) {
  const CnSparse *w = &s->p->w;
  for (int32_t i = step > 0 ? begin : end - 1; i >= begin && i < end; i += step) {
    const CniPsorRows *c = &s->rows[i];
    double *g = s->g + c->row, u[CNI_MAX_DIM], g_new[CNI_MAX_DIM];
    int32_t dim = c->local.dim;
    for (int32_t k = 0; k < dim; k++) {
      int32_t row = c->row + k;
      u[k] = s->p->b[row];
      for (int32_t e = w->start[row]; e < w->start[row + 1]; e++)
        u[k] += w->value[e] * s->g[w->column[e]];
    }
    cni_local_update(&c->local, u, g, g_new);
    for (int32_t k = 0; k < dim; k++) g[k] = g_new[k];
  }
}
