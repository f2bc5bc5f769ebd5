// SPDX-License-Identifier: Apache-2.0
// The interior point of Mangoni and Tasora (2015): problems without friction.
//
//     min 1/2 v^T M v - k^T v   subject to   E v + b + C g >= 0  (= 0 on bilateral rows)
//
// in the scaled units of cones.h, in which M = I and rows have unit length; w is the velocity
// beyond the free one. Unknowns are w, the impulses g > 0 and the row velocities y > 0:
//
//     r_d = w - F^T g,   r_p = F w + r + C g - y,   tau = y.g/m
//
// A step is a predictor (sigma = 0) and a corrector after Mehrotra with one factorisation,
//
//     [I  -F^T; F  C + D] (dw, dg) = -(r_d, rho),   D = y/g,
//     rho = r_p + y + (dy_p dg_p - sigma tau)/g,    dy = F dw + C dg + r_p,
//
// and one common length, eta = min(.9 + .1 exp(-m tau), .9999) of the way to the border. The
// matrix is the one of cones.c: blocks and velocities are eliminated as the order finds best, the
// condensed system (blocks first) included. Bilateral rows have y = 0 and a term of 1e-12 in place
// of D, which redundant rows need.
//
// Starting points: D'Apuzzo's, y = max(.1, F w + r), g = 1/y, and Nocedal's, by one predictor from
// there. Warm starts: `partial` begins with the velocities given, `full` also with the impulses.
#include "solver/cones/cones.h"

#include "core/math.h"
#include "core/vec.h"

#include <string.h>

#define PROXIMAL 1e-12
#define SHORT 1e-8  // a step that is none
#define FAR 0.1     // least y of a cold start, part of the largest right-hand side
#define INSIDE 1e-3 // least g and y of a warm start, part of the largest

int cni_row_ipm_takes(const CniCones *c) {
  for (int32_t i = 0; i < c->block_count; i++) {
    const CniConeBlock *block = &c->blocks[i];
    if (block->kind == CN_BLOCK_INTERVAL || block->cone.disc_count > 0 || block->cone.cohesion != 0)
      return 0;
  }
  return c->group_nodes > 0;
}

typedef struct Rows {
  CniCones *c;
  int32_t *row, *bilateral; // rows with g > 0, and those with u = 0
  int32_t m, joint_count;
  double *w, *g, *y;    // y per unilateral row
  double *dw, *dg, *dy; // of the step at hand
  double *dg_p, *dy_p;  // of the predictor
  double *r_d, *r_p;    // r_p per row of the problem
  double *x;            // right-hand side and solution
  double tau, kappa;
} Rows;

static CnStatus prepare(Rows *s, CniCones *c) {
  s->c = c;
  CNI_TRY(CNI_ARRAYS(&c->arena, c->n, int32_t, &s->row, &s->bilateral));
  for (int32_t i = 0; i < c->block_count; i++) {
    const CniConeBlock *block = &c->blocks[i];
    for (int32_t d = 0; d < block->dim; d++) {
      if (block->fixed == 0xff || block->fixed >> d & 1) continue;
      if (block->kind == CN_BLOCK_BILATERAL)
        s->bilateral[s->joint_count++] = block->row + d;
      else if (d == 0)
        s->row[s->m++] = block->row;
    }
  }
  CNI_TRY(CNI_ARRAYS(&c->arena, c->velocities, double, &s->w, &s->dw, &s->r_d));
  CNI_TRY(CNI_ARRAYS(&c->arena, c->n, double, &s->g, &s->dg, &s->r_p, &s->y, &s->dy, &s->dg_p,
                     &s->dy_p));
  return cni_arena_array(&c->arena, (int64_t)c->velocities + c->n, sizeof(double), &s->x);
}

// ---- residuals ----

// r_d, r_p and tau at the point at hand.
static void residuals(Rows *s) {
  CniCones *c = s->c;
  cni_cones_momentum(c, s->g, s->r_d); // F^T g
  for (int32_t i = 0; i < c->velocities; i++) s->r_d[i] = s->w[i] - s->r_d[i];
  cni_cones_rows(c, s->w, s->g, s->r_p); // F w + C g + r
  s->tau = 0;
  for (int32_t k = 0; k < s->m; k++) {
    s->r_p[s->row[k]] -= s->y[k];
    s->tau += s->y[k] * s->g[s->row[k]];
  }
  if (s->m > 0) s->tau /= s->m;
}

static double norm_rows(const Rows *s) {
  double sum = 0;
  for (int32_t k = 0; k < s->m; k++) sum += s->r_p[s->row[k]] * s->r_p[s->row[k]];
  for (int32_t k = 0; k < s->joint_count; k++)
    sum += s->r_p[s->bilateral[k]] * s->r_p[s->bilateral[k]];
  return sqrt(sum);
}

// The criteria of the paper, on the scaled problem or, with its kappa, in the units of the problem.
static int finished(const Rows *s) {
  double sum = 0, kappa = s->kappa;
  for (int32_t i = 0; i < s->c->velocities; i++) sum += s->r_d[i] * s->r_d[i];
  int32_t rows = s->m + s->joint_count;
  return kappa * norm_rows(s) <= 1e-8 * (rows > 0 ? rows : 1) &&
         kappa * sqrt(sum) <= 1e-8 * s->c->velocities && kappa * kappa * s->tau <= 1e-7;
}

// ---- steps ----

static int factor(Rows *s) {
  CniCones *c = s->c;
  memset(c->a, 0, (size_t)c->matrix_count * sizeof *c->a);
  memset(c->b, 0, (size_t)c->matrix_count * sizeof *c->b);
  int32_t k = 0;
  for (int32_t i = 0; i < c->block_count; i++) {
    const CniConeBlock *block = &c->blocks[i];
    for (int32_t d = 0; d < block->dim; d++) {
      int32_t at = block->matrix + d * (block->dim + 1);
      int held = block->fixed == 0xff || block->fixed >> d & 1;
      c->a[at] = held ? 0 : 1;
      c->b[at] = held ? 1 : PROXIMAL;
      if (held || block->kind == CN_BLOCK_BILATERAL || d > 0) continue;
      c->b[at] = s->y[k] / s->g[block->row];
      k++;
    }
  }
  return cni_cones_factor(c);
}

// dw, dg and dy for the target sigma tau; `corrected`: with the predictor's products.
static int direction(Rows *s, double target, int corrected) {
  CniCones *c = s->c;
  double *rows = s->x + c->velocities, size = 0;
  for (int32_t i = 0; i < c->velocities; i++) s->x[i] = -s->r_d[i];
  memset(rows, 0, (size_t)c->n * sizeof *rows);
  for (int32_t k = 0; k < s->joint_count; k++) rows[s->bilateral[k]] = -s->r_p[s->bilateral[k]];
  for (int32_t k = 0; k < s->m; k++) {
    int32_t row = s->row[k];
    double product = corrected ? s->dy_p[k] * s->dg_p[row] : 0;
    rows[row] = -(s->r_p[row] + s->y[k] + (product - target) / s->g[row]);
  }
  cni_cones_solve_all(c, s->x);
  memcpy(s->dw, s->x, (size_t)c->velocities * sizeof *s->dw);
  memcpy(s->dg, rows, (size_t)c->n * sizeof *s->dg);
  for (int32_t k = 0; k < s->m; k++) {
    int32_t row = s->row[k];
    double product = corrected ? s->dy_p[k] * s->dg_p[row] : 0;
    // from the linearised product: accurate where y is small
    s->dy[k] = -s->y[k] - (s->y[k] * s->dg[row] + product - target) / s->g[row];
    size += fabs(s->dy[k]) + fabs(s->dg[row]);
  }
  return isfinite(size);
}

// How far the step can go, at most `most`.
static double reach(const Rows *s, double most) {
  for (int32_t k = 0; k < s->m; k++) {
    int32_t row = s->row[k];
    if (s->dy[k] < 0) most = cn_min(most, -s->y[k] / s->dy[k]);
    if (s->dg[row] < 0) most = cn_min(most, -s->g[row] / s->dg[row]);
  }
  return most;
}

static double barrier(const Rows *s, double step) {
  double sum = 0;
  for (int32_t k = 0; k < s->m; k++)
    sum += (s->y[k] + step * s->dy[k]) * (s->g[s->row[k]] + step * s->dg[s->row[k]]);
  return s->m > 0 ? sum / s->m : 0;
}

static double iterate(Rows *s) {
  CniCones *c = s->c;
  if (!factor(s) || !direction(s, 0, 0)) return 0;
  double step = 1, sigma = 0;
  if (s->m > 0) {
    double part = barrier(s, reach(s, 1)) / s->tau;
    sigma = part * part * part;
    memcpy(s->dg_p, s->dg, (size_t)c->n * sizeof *s->dg);
    memcpy(s->dy_p, s->dy, (size_t)s->m * sizeof *s->dy);
    if (!direction(s, sigma * s->tau, 1)) return 0;
    double eta = cn_min(.9 + .1 * cni_exp(-s->m * s->tau), .9999);
    step = cn_min(1, eta * reach(s, 2));
  }
  for (int32_t i = 0; i < c->velocities; i++) s->w[i] += step * s->dw[i];
  for (int32_t i = 0; i < c->n; i++) s->g[i] += step * s->dg[i];
  for (int32_t k = 0; k < s->m; k++) s->y[k] += step * s->dy[k];
  return step;
}

// ---- starting points ----

// y = max(least, F w + r) of the present w and g.
static void set_y(Rows *s, double least) {
  cni_cones_rows(s->c, s->w, s->g, s->r_p);
  for (int32_t k = 0; k < s->m; k++) s->y[k] = cn_max(least, s->r_p[s->row[k]]);
}

static int start_cold(Rows *s, CniRowStart how) {
  set_y(s, FAR);
  for (int32_t k = 0; k < s->m; k++) s->g[s->row[k]] = 1 / s->y[k];
  if (how != CNI_START_NOCEDAL) return 1;
  residuals(s);
  if (!factor(s) || !direction(s, 0, 0)) return 0;
  for (int32_t k = 0; k < s->m; k++) {
    s->y[k] = cn_max(1, fabs(s->y[k] + s->dy[k]));
    s->g[s->row[k]] = cn_max(1, fabs(s->g[s->row[k]] + s->dg[s->row[k]]));
  }
  return 1;
}

// From impulses: as they are, if they do; else pushed inside.
static int start_full(Rows *s, const double *g) {
  double largest = 0;
  for (int32_t i = 0; i < s->c->n; i++) s->g[i] = g[i];
  for (int32_t k = 0; k < s->m; k++) {
    s->g[s->row[k]] = cn_max(s->g[s->row[k]], 0);
    largest = cn_max(largest, s->g[s->row[k]]);
  }
  cni_cones_momentum(s->c, s->g, s->w);
  set_y(s, 0);
  residuals(s);
  if (finished(s)) return 1;
  double least = INSIDE * (largest > 0 ? largest : 1);
  for (int32_t k = 0; k < s->m; k++) {
    s->g[s->row[k]] = cn_max(s->g[s->row[k]], least);
    s->y[k] = cn_max(s->y[k], INSIDE);
  }
  return 0;
}

CnStatus cni_row_ipm(CniCones *c, const CniRowIpmRule *rule, const double *velocity, double *g,
                     CniIpmEnd *end) {
  Rows s = {0};
  CNI_TRY(prepare(&s, c));
  s.kappa = rule->units ? c->kappa : 1;
  *end = (CniIpmEnd){.error = INFINITY};
  if (rule->warm == CNI_WARM_PARTIAL && velocity)
    memcpy(s.w, velocity, (size_t)c->velocities * sizeof *s.w);
  int done = 0, alive = 1;
  if (rule->warm == CNI_WARM_FULL)
    done = start_full(&s, g);
  else
    alive = start_cold(&s, rule->start);
  while (alive && !done && end->iterations < rule->max_iterations && !cni_cones_late(c)) {
    residuals(&s);
    done = finished(&s);
    if (done) break;
    end->iterations++;
    alive = iterate(&s) > SHORT;
  }
  residuals(&s);
  end->stalled = !finished(&s);
  memcpy(g, s.g, (size_t)c->n * sizeof *g);
  return CN_OK;
}
