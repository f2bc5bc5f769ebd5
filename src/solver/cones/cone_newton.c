// SPDX-License-Identifier: Apache-2.0
// Semismooth Newton on cones.
//
// The laws are equations f = 0 with derivatives A du + B dg (cone_laws.c).
//
// Where N has not full rank (a box on four corners) the rows of u = 0 are dependent: delta A is
// added to B. At the solution the step is zero, so that the term changes the way and not the end.
//
// That is done by way of proximal problems: u + delta (g - anchor) in place of u, some steps of
// Newton on that, and the anchor is moved to where they end. delta falls where this goes well and
// rises where it does not. A step is shortened until 1/2 |f|^2 falls below the largest of its last
// few values. Where even the stiffest anchor does not help, some projected steps of fixed length
// find another point to start from.
#include "solver/cones/cones.h"

#include "core/vec.h"

#include <string.h>

#define MEMORY 4       // merits a step is compared with
#define SHORTEST 0.004 // steps shortened to this are no progress
#define SUFFICIENT 1e-4
#define INNER 1e-4    // part of the merit at which a proximal problem is left
#define INNER_STEPS 6 // steps in one at most
#define SLOW 12       // proximal problems one after the other that do not halve the error
#define STUCK                                                                                      \
  0.99 // of the error left by one that was solved, so often: what is asked for contradicts
#define STUCK_TIMES                                                                                \
  2               // itself by so much, and steps would only carry impulses along what nothing feels
#define WORSE 100 // times the least error that are allowed on the way
#define SHAKE 0.25 // projected steps that shake it, their number, and how often
#define SHAKE_STEPS 20
#define SHAKES 4
#define PROXIMAL_LEAST 1e-10 // delta, in units of N_ii
#define PROXIMAL_MOST 10
#define PROXIMAL_UP 30
#define PROXIMAL_DOWN 0.1

// f at (g, u), with derivatives where asked; returns the merit.
static double evaluate(CniCones *c, const double *g, const double *u, double *f, int derive) {
  double merit = 0;
  for (int32_t i = 0; i < c->block_count; i++) {
    cni_cone_rows(c, i, NULL, g, u, f, derive);
    const double *row = f + c->blocks[i].row;
    for (int32_t d = 0; d < c->blocks[i].dim; d++) merit += row[d] * row[d];
  }
  return merit / 2;
}

CnStatus cni_cone_newton_init(CniConeNewton *m, CniCones *c) {
  CNI_TRY(CNI_ARRAYS(&c->arena, c->n, double, &m->g, &m->u, &m->f, &m->g_new, &m->u_new, &m->f_new,
                     &m->step, &m->best, &m->anchor));
  m->c = c;
  m->least = m->proximal = PROXIMAL_LEAST;
  return CN_OK;
}

void cni_cone_newton_start(CniConeNewton *m, const double *g) {
  size_t bytes = (size_t)m->c->n * sizeof *g;
  memcpy(m->g, g, bytes);
  memcpy(m->best, g, bytes);
  cni_cones_velocity(m->c, m->g, m->u);
  m->error = cni_cones_error(m->c, m->g, m->u);
}

// The velocities of the proximal problem, u + delta (g - anchor), of impulses g.
static void proximal_velocity(CniConeNewton *m, const double *g, double *u) {
  cni_cones_velocity(m->c, g, u);
  for (int32_t i = 0; i < m->c->n; i++) u[i] += m->proximal * (g[i] - m->anchor[i]);
}

static int direction(CniConeNewton *m) {
  CniCones *c = m->c;
  m->merit = evaluate(c, m->g, m->u, m->f, 1);
  for (int32_t k = 0; k < c->matrix_count; k++) c->b[k] += m->proximal * c->a[k];
  if (!cni_cones_factor(c)) return 0;
  double size = 0;
  for (int32_t i = 0; i < c->n; i++) m->step[i] = -m->f[i];
  cni_cones_solve(c, m->step);
  for (int32_t i = 0; i < c->n; i++) size += fabs(m->step[i]);
  return isfinite(size);
}

// Shorten the step until the merit is below the ceiling; 0: never.
static int search(CniConeNewton *m, double ceiling) {
  CniCones *c = m->c;
  for (double t = 1; t > SHORTEST; t /= 2) {
    for (int32_t i = 0; i < c->n; i++) m->g_new[i] = m->g[i] + t * m->step[i];
    proximal_velocity(m, m->g_new, m->u_new);
    double merit = evaluate(c, m->g_new, m->u_new, m->f_new, 0);
    if (!(merit <= (1 - SUFFICIENT * t) * ceiling)) continue;
    CNI_SWAP(double *, m->g, m->g_new);
    CNI_SWAP(double *, m->u, m->u_new);
    m->merit = merit;
    return 1;
  }
  return 0;
}

// Newton on the proximal problem of the anchor, until its merit is a part of what it was. Returns
// the steps made, negative: it came to a stop before.
static int32_t inner(CniConeNewton *m, int32_t steps) {
  double merits[MEMORY], ceiling, wanted = 0;
  for (int32_t made = 0; made < steps; made++) {
    int found = direction(m);
    if (made == 0) wanted = INNER * m->merit;
    merits[made % MEMORY] = ceiling = m->merit;
    for (int32_t k = 0; k < MEMORY && k < made; k++) ceiling = cn_max(ceiling, merits[k]);
    if (!found || !search(m, ceiling)) return -made - 1;
    if (m->merit <= wanted) return made + 1;
  }
  return -steps - 1;
}

// Projected steps g <- P(g - (u + s)/4), from the best point.
static void shake(CniConeNewton *m) {
  CniCones *c = m->c;
  memcpy(m->g, m->best, (size_t)c->n * sizeof *m->g);
  for (int32_t k = 0; k < SHAKE_STEPS; k++) {
    cni_cones_velocity(c, m->g, m->u);
    for (int32_t i = 0; i < c->block_count; i++) {
      const CniConeBlock *block = &c->blocks[i];
      double *g = m->g + block->row;
      const double *u = m->u + block->row;
      for (int32_t d = 0; d < block->dim; d++) g[d] -= SHAKE * u[d];
      if (block->kind >= CN_BLOCK_FRICTION_2D && !c->convex)
        g[0] -= SHAKE * cni_cone_shift(&block->cone, u);
      cni_cones_project(c, i, g);
    }
  }
}

int32_t cni_cone_newton_run(CniConeNewton *m, int32_t steps, int32_t stubborn, double tolerance) {
  CniCones *c = m->c;
  int32_t made = 0, slow = 0, shakes = 0, stuck = 0;
  m->proximal = m->least;
  while (made < steps && !(m->error <= tolerance) && !cni_cones_late(c)) {
    memcpy(m->anchor, m->g, (size_t)c->n * sizeof *m->g);
    cni_cones_velocity(c, m->g, m->u); // at the anchor the term is zero
    int32_t count = inner(m, INNER_STEPS);
    made += count > 0 ? count : -count;
    cni_cones_velocity(c, m->g, m->u);
    double error = cni_cones_error(c, m->g, m->u);
    int better = error < m->error;
    stuck = count > 0 && error > STUCK * m->error ? stuck + 1 : 0;
    slow = error < .5 * m->error ? 0 : slow + 1;
    if (better) {
      m->error = error;
      memcpy(m->best, m->g, (size_t)c->n * sizeof *m->best);
    }
    if (!stubborn && stuck == STUCK_TIMES) break;
    // a proximal problem that was solved is a step forward though the error may rise on the way
    if (count > 0 && error < WORSE * m->error && slow < SLOW) {
      int easy = better && count <= 2;
      m->proximal = cn_max(m->least, m->proximal * (easy ? PROXIMAL_DOWN : 1));
      continue;
    }
    if (!stubborn) break;
    stuck = 0;
    // a stiffer anchor, from the best there is
    memcpy(m->g, m->best, (size_t)c->n * sizeof *m->g);
    m->proximal *= PROXIMAL_UP;
    if (m->proximal < PROXIMAL_MOST && slow < SLOW) continue;
    if (++shakes > SHAKES) break;
    m->proximal = m->least;
    slow = 0;
    shake(m);
  }
  return made;
}
