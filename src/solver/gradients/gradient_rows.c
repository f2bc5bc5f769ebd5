// SPDX-License-Identifier: Apache-2.0
// Passes of the first-order methods over blocks of sparse rows, and over those of an explicit W:
// any kind of block, one after the other.
//
// The metric has one number for each disc of a cone. With z_j = x_j sqrt(d_j/d_n) it is Euclidean,
// and the discs |x_j| <= mu_j n become |z_j| <= mu_j sqrt(d_j/d_n) n: the projection is that of a
// cone with other coefficients.
#include "solver/gradients/gradient.h"

#include <string.h>

// u = E v + b + C x; of the explicit form W x + q, W x being in the place of the velocities.
static void velocity(const CniGradient *s, const CniGradientRows *c, const double *x, double *u) {
  if (s->p->form == CN_FORM_EXPLICIT) {
    const double *wx = (const double *)(const void *)s->velocity + c->place;
    for (int32_t i = 0; i < c->dim; i++) u[i] = c->b[i] + wx[i];
    return;
  }
  for (int32_t i = 0; i < c->dim; i++) u[i] = c->b[i] + c->c[i] * x[i];
  for (int32_t k = c->entry_begin; k < c->entry_end; k++) {
    const CniGradientEntry *e = &s->entries[k];
    const CniPsorGroup *group = &s->velocity[e->group < 0 ? ~e->group : e->group];
    u[e->row] += cn_dot(e->e.velocity, group->v) + cn_dot(e->e.spin, group->w);
  }
}

static double own_shift(const CniGradientRows *c, const double *u) {
  CniCone cone = c->cone;
  memcpy(cone.mu, c->mu, sizeof cone.mu);
  return cni_cone_shift(&cone, u);
}

// Projection in the metric D, or in the Euclidean one.
static void project(const CniGradientRows *c, int euclidean, double *x) {
  if (cni_project_plain(c->kind, c->lo, c->hi, x)) return;
  CniCone cone = c->cone;
  if (euclidean) {
    memcpy(cone.mu, c->mu, sizeof cone.mu);
    cni_project_cone(&cone, x);
    return;
  }
  for (int32_t i = 1; i < c->dim; i++) x[i] *= c->stretch[i];
  cni_project_cone(&cone, x);
  for (int32_t i = 1; i < c->dim; i++) x[i] /= c->stretch[i];
}

static double residual(const CniGradientRows *c, const double *x, const double *u, double shift) {
  double z[CNI_MAX_DIM], sum = 0;
  for (int32_t i = 0; i < c->dim; i++) z[i] = x[i] - u[i] / c->scale;
  z[0] -= shift / c->scale;
  project(c, 1, z);
  for (int32_t i = 0; i < c->dim; i++) sum += (x[i] - z[i]) * (x[i] - z[i]);
  return c->scale * sqrt(sum);
}

// Is the impulse within all discs?
static int sticks(const CniGradientRows *c, const double *x) {
  double n = CNI_GRAD_STICKS * (x[0] + c->cone.cohesion);
  int within = 1;
  for (int32_t j = 0; j < c->cone.disc_count; j++) {
    const double *t = x + c->cone.start[j];
    double length = c->cone.dim[j] == 1 ? fabs(t[0]) : sqrt(t[0] * t[0] + t[1] * t[1]);
    within = within && length < c->mu[j] * n;
  }
  return within;
}

static void check_convergence(const CniGradient *s, CniGradientRows *c, CniGradientPassKind kind,
                              const CniGradientPass *pass) {
  double u[CNI_MAX_DIM];
  const double *x = pass->x + c->place;
  velocity(s, c, x, u);
  double own = c->kind >= CN_BLOCK_FRICTION_2D ? own_shift(c, u) : 0;
  if (kind == CNI_PASS_SHIFT) {
    c->shift = sticks(c, x) ? 0 : cn_max(own - pass->t, 0);
    return;
  }
  double *real = pass->sums->line[0].lane, *kept = pass->sums->line[1].lane;
  real[0] = cn_max(real[0], residual(c, x, u, pass->coulomb * own));
  kept[0] = cn_max(kept[0], residual(c, x, u, c->shift));
}

static void add3(CnVec3 *to, double factor, CnVec3 x) { *to = cn_madd(*to, factor, x); }

static void scatter(const CniGradient *s, const CniGradientRows *c, const double *x,
                    CniPsorGroup *image) {
  for (int32_t k = c->entry_begin; k < c->entry_end; k++) {
    const CniGradientEntry *e = &s->entries[k];
    if (e->group < 0) continue;
    add3(&image[e->group].v, x[e->row], e->e.velocity);
    add3(&image[e->group].w, x[e->row], e->e.spin);
  }
}

static void move(const CniGradient *s, const CniGradientRows *c, CniGradientPassKind kind,
                 const CniGradientPass *pass) {
  double u[CNI_MAX_DIM], y[CNI_MAX_DIM], z[CNI_MAX_DIM];
  const double *x = pass->x + c->place;
  for (int32_t i = 0; i < c->dim; i++)
    y[i] = kind == CNI_PASS_STEP ? x[i] + pass->beta * (x[i] - pass->x_old[c->place + i]) : x[i];
  velocity(s, c, y, u);
  u[0] += c->shift;
  for (int32_t i = 0; i < c->dim; i++) z[i] = y[i] - pass->t / c->d[i] * u[i];
  project(c, 0, z);
  double *length = pass->sums->line[0].lane, *second = pass->sums->line[1].lane;
  double *soft = pass->sums->line[2].lane, *out = pass->out + c->place;
  for (int32_t i = 0; i < c->dim; i++) {
    double e = z[i] - y[i];
    length[0] += c->d[i] * e * e;
    soft[0] += c->c[i] * e * e;
    second[0] += kind == CNI_PASS_STEP ? c->d[i] * (y[i] - z[i]) * (z[i] - x[i]) : u[i] * e;
    out[i] = kind == CNI_PASS_STEP ? z[i] : e;
  }
  scatter(s, c, out, pass->image);
}

void cni_gradient_rows(const CniGradient *s, CniGradientPassKind kind, const CniGradientPass *pass,
                       int32_t begin, int32_t end) {
  for (int32_t i = begin; i < end; i++) {
    CniGradientRows *c = &s->rows[i];
    if (kind == CNI_PASS_SCATTER)
      scatter(s, c, pass->x + c->place, pass->image);
    else if (kind == CNI_PASS_LOOK || kind == CNI_PASS_SHIFT)
      check_convergence(s, c, kind, pass);
    else
      move(s, c, kind, pass);
  }
}
