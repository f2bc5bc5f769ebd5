// Semismooth Newton on cones.
//
// The laws are written as equations f = 0 with projections, y = g - u (in the scaled units of
// cones.h, in which 1 is the right factor of u). Coulomb, after Alart and Curnier:
//
//     y_n <= 0                   take-off   f = g
//     |y_j| <= mu_j y_n          stick      f_n = u_n, f_j = u_j
//     otherwise                  slip       f_n = u_n, f_j = g_j - mu_j y_n y_j/|y_j|
//
// with every disc j (sliding, rolling, spinning) for itself. Convex model: f = g - P_K(y). Both are
// differentiable but for the borders between the cases, where either derivative serves. Derivatives
// are A du + B dg block by block.
//
// Where N has not full rank (a box on four corners) the rows of u = 0 are dependent: delta A is
// added to B. At the solution the step is zero, so that the term changes the way and not the end.
//
// That is done by way of proximal problems: u + delta (g - anchor) in place of u, some steps of
// Newton on that, and the anchor is moved to where they end. delta falls where this goes well and
// rises where it does not. A step is shortened until 1/2 |f|^2 falls below the largest of its last
// few values. Where even the stiffest anchor does not help, some projected steps of fixed length
// find another point to start from.
#include "solver/cones.h"

#include "core/error.h"
#include "core/vec.h"

#include <string.h>

#define MEMORY 4       // merits a step is compared with
#define SHORTEST 0.004 // steps shortened to this are no progress
#define SUFFICIENT 1e-4
#define INNER 1e-4    // part of the merit at which a proximal problem is left
#define INNER_STEPS 6 // steps in one at most
#define SLOW 12       // proximal problems one after the other that do not halve the error
#define WORSE 100     // times the least error that are allowed on the way
#define SHAKE 0.25    // projected steps that shake it, their number, and how often
#define SHAKE_STEPS 20
#define SHAKES 4
#define PROXIMAL_LEAST 1e-10 // delta, in units of N_ii
#define PROXIMAL_MOST 10
#define PROXIMAL_UP 30
#define PROXIMAL_DOWN 0.1

static double disc_norm(const double *x, int32_t dim) {
  return dim == 1 ? fabs(x[0]) : sqrt(x[0] * x[0] + x[1] * x[1]);
}

// ---- the function and its derivatives, block by block ----

// One block: f, and where a is given A and B (dim x dim, cleared).
typedef struct Local {
  const CniConeBlock *block;
  const double *g, *u;
  double *f, *a, *b;
  double y[CNI_MAX_DIM];
} Local;

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
  double length = disc_norm(l->y + begin, count);
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
  if (!(l->y[0] > 0)) {
    row_of_g(l, 0, -cone->cohesion);
    for (int32_t d = 1; d < l->block->dim; d++) row_of_g(l, d, 0);
    return;
  }
  row_of_u(l, 0);
  for (int32_t j = 0; j < cone->disc_count; j++) {
    double radius = cone->mu[j] * l->y[0], wall[CNI_MAX_DIM] = {cone->mu[j]};
    if (disc_norm(l->y + cone->start[j], cone->dim[j]) > radius) {
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
    double length = disc_norm(l->y + cone->start[j], cone->dim[j]), mu = cone->mu[j];
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
  for (int32_t d = 0; d < block->dim; d++) l->y[d] = l->g[d] - l->u[d];
  l->y[0] += block->cone.cohesion;
  if (block->fixed == 0xff) {
    for (int32_t d = 0; d < block->dim; d++) row_of_g(l, d, 0);
    return;
  }
  switch ((CnBlockKind)block->kind) {
  case CN_BLOCK_BILATERAL:
    for (int32_t d = 0; d < block->dim; d++) row_of_u(l, d);
    return;
  case CN_BLOCK_UNILATERAL:
    if (l->y[0] > 0)
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

// f at (g, u), with derivatives where asked; returns the merit.
static double evaluate(CniCones *c, const double *g, const double *u, double *f, int derive) {
  double merit = 0;
  if (derive) {
    memset(c->a, 0, (size_t)c->matrix_count * sizeof *c->a);
    memset(c->b, 0, (size_t)c->matrix_count * sizeof *c->b);
  }
  for (int32_t i = 0; i < c->block_count; i++) {
    const CniConeBlock *block = &c->blocks[i];
    Local l = {.block = block,
               .g = g + block->row,
               .u = u + block->row,
               .f = f + block->row,
               .a = derive ? c->a + block->matrix : NULL,
               .b = derive ? c->b + block->matrix : NULL};
    block_rows(c, &l);
    for (int32_t d = 0; d < block->dim; d++) merit += l.f[d] * l.f[d];
  }
  return merit / 2;
}

// ---- the method ----

CnStatus cni_cone_newton_init(CniConeNewton *m, CniCones *c) {
  size_t bytes = (size_t)c->n * sizeof(double);
  double **arrays[] = {&m->g,     &m->u,    &m->f,    &m->g_new, &m->u_new,
                       &m->f_new, &m->step, &m->best, &m->anchor};
  for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) {
    *arrays[k] = cni_arena_take(&c->arena, bytes);
    if (!*arrays[k]) return cni_error_memory(bytes);
  }
  m->c = c;
  m->proximal = PROXIMAL_LEAST;
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
    double *swap[] = {m->g, m->u};
    m->g = m->g_new;
    m->u = m->u_new;
    m->g_new = swap[0];
    m->u_new = swap[1];
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
  int32_t made = 0, slow = 0, shakes = 0;
  m->proximal = PROXIMAL_LEAST;
  while (made < steps && !(m->error <= tolerance) && !cni_cones_late(c)) {
    memcpy(m->anchor, m->g, (size_t)c->n * sizeof *m->g);
    cni_cones_velocity(c, m->g, m->u); // at the anchor the term is zero
    int32_t count = inner(m, INNER_STEPS);
    made += count > 0 ? count : -count;
    cni_cones_velocity(c, m->g, m->u);
    double error = cni_cones_error(c, m->g, m->u);
    int better = error < m->error;
    slow = error < .5 * m->error ? 0 : slow + 1;
    if (better) {
      m->error = error;
      memcpy(m->best, m->g, (size_t)c->n * sizeof *m->best);
    }
    // a proximal problem that was solved is a step forward though the error may rise on the way
    if (count > 0 && error < WORSE * m->error && slow < SLOW) {
      int easy = better && count <= 2;
      m->proximal = cn_max(PROXIMAL_LEAST, m->proximal * (easy ? PROXIMAL_DOWN : 1));
      continue;
    }
    if (!stubborn) break;
    // a stiffer anchor, from the best there is
    memcpy(m->g, m->best, (size_t)c->n * sizeof *m->g);
    m->proximal *= PROXIMAL_UP;
    if (m->proximal < PROXIMAL_MOST && slow < SLOW) continue;
    if (++shakes > SHAKES) break;
    m->proximal = PROXIMAL_LEAST;
    slow = 0;
    shake(m);
  }
  return made;
}
