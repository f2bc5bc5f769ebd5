// SPDX-License-Identifier: Apache-2.0
// Interior point on cones, with the exact law of Coulomb.
//
// Every disc j of a contact is a cone of its own: x = (g_n + c, g_j/mu_j) and z = (a_j, mu_j u_j)
// both lie in the cone of second order {x_0 >= |x_1|}, x.z = 0 at the solution; the parts a_j of
// the normal velocity add up to u_n + s, with s = sum |z_1j| (de Saxce) in the law of Coulomb and s
// = 0 in the convex one. Limits and intervals are cones of one number. The central path replaces
// complementarity by x o z = tau e, e = (1, 0, 0).
//
// A step linearises everything, the shift too: |z_1| changes by t.dz_1, t = z_1/|z_1|. With the
// scaling of Nesterov and Todd, T x = z, the cones say dz + T dx = R. The slacks z are eliminated
// block by block,
//
//     du_j + (T dx)_1 / mu_j                    = (R_1 + z_1)/mu_j - u_j
//     du_n + sum_j [(T dx)_0 - t.(T dx)_1]      = sum_j [R_0 - t.R_1 + a_j - |z_1|] - u_n
//
// which is du + D dg = c with small unsymmetric blocks D: T would be symmetric without the shift.
// Predictor and corrector after Mehrotra use one factorisation; one step length for all, so that
// what is missing in u = N g + r shrinks with it. A proximal term delta dg keeps the matrix regular
// where N is not and D is nearly zero.
//
// From an error of a thousandth on a few steps of Newton (cone_newton.c) are tried: where the
// contacts are told apart already they end it.
#include "solver/cones/cones.h"

#include "core/vec.h"

#include <string.h>

#define NEAR 1e-2  // error from which Newton is tried
#define ROUND 60   // iterations with one rule for delta
#define SHORT 1e-4 // steps this short, several times over, are no progress
#define POOR 4
#define CRAMPED 0.1 // steps below this come too close to the border
#define HELD 1e-4   // tau over the square of the error at which a held shift decides
#define LAG 6       // steps with the shift held after one
#define POLISH 8    // steps of Newton in one try
#define LAST 200    // and where the interior point has come to its end

// How a round is run: delta = max(least, slope sqrt(tau)), and the size of impulses and velocities
// at the start. Matrices that are not symmetric want a delta that is large at first, large mass
// ratios a small one and a start far out. The next round is tried where one has come to its end.
typedef struct Round {
  double least, slope, size;
  int32_t held; // 1: the shift is that of the best answer so far, a convex problem
} Round;
static const Round rounds[] = {{1e-10, 0, 1, 0},    {1e-12, 0, 30, 0}, {1e-12, 1e-2, 1, 0},
                               {1e-12, 0, 1000, 0}, {1e-10, 0, 1, 1},  {1e-10, 0, 1, 1},
                               {1e-10, 0, 1, 1},    {1e-10, 0, 1, 1},  {1e-10, 0, 1, 1},
                               {1e-10, 0, 1, 1},    {1e-10, 0, 1, 1},  {1e-10, 0, 1, 1}};
#define ROUNDS ((int32_t)(sizeof rounds / sizeof rounds[0]))

typedef struct Cone {
  double x[3], z[3];       // impulse and velocity
  double dx[3], dz[3];     // of the predictor, then of the step
  double w[3], root;       // scaling point, square root of its size
  double lambda[3], r[3];  // scaled point; right-hand side R
  double mu, offset, sign; // x = (sign g + offset, g_t/mu)
  int32_t normal, tangent; // rows
  int32_t dim;             // 1..3
} Cone;

typedef struct Ipm {
  CniCones *c;
  Cone *cones;
  int32_t *first; // per block, block_count + 1
  double *g, *u, *rhs, *best;
  double *shift; // per block, where it is held
  int32_t cone_count, round;
  double tau, error;
  double step;     // the last one
  double proximal; // delta
  int32_t lag;     // steps in which the shift is still held
} Ipm;

// ---- the algebra of one cone ----

static double tail_norm(const double *x, int32_t dim) {
  return dim == 1 ? 0 : dim == 2 ? fabs(x[1]) : sqrt(x[1] * x[1] + x[2] * x[2]);
}

static double dot(const double *x, const double *y, int32_t dim) {
  double sum = x[0] * y[0];
  for (int32_t i = 1; i < dim; i++) sum += x[i] * y[i];
  return sum;
}

// x_0^2 - |x_1|^2, without cancellation close to the border.
static double determinant(const double *x, int32_t dim) {
  double length = tail_norm(x, dim);
  return (x[0] - length) * (x[0] + length);
}

// y = W x or W^-1 x, W = root [w_0, w_1^T; w_1, I + w_1 w_1^T/(1 + w_0)].
static void scale(const Cone *k, double direction, const double *x, double *y) {
  double inner = 0, f = direction > 0 ? k->root : 1 / k->root, x0 = x[0];
  for (int32_t i = 1; i < k->dim; i++) inner += k->w[i] * x[i];
  double along = direction * x0 + inner / (1 + k->w[0]);
  for (int32_t i = k->dim - 1; i >= 1; i--) y[i] = f * (x[i] + along * k->w[i]);
  y[0] = f * (k->w[0] * x0 + direction * inner);
}

// The scaling of (x, z): W x = W^-1 z = lambda.
static void find_scaling(Cone *k) {
  double dx = sqrt(determinant(k->x, k->dim)), dz = sqrt(determinant(k->z, k->dim)), product = 0;
  double bar[3] = {0, 0, 0};
  for (int32_t i = 0; i < k->dim; i++) {
    bar[i] = k->x[i] / dx;
    k->w[i] = k->z[i] / dz;
    product += bar[i] * k->w[i];
  }
  double gamma = sqrt((1 + product) / 2);
  k->w[0] = (k->w[0] + bar[0]) / (2 * gamma);
  for (int32_t i = 1; i < k->dim; i++) k->w[i] = (k->w[i] - bar[i]) / (2 * gamma);
  k->root = sqrt(dz / dx);
  if (k->dim == 1) k->w[0] = 1;
  scale(k, 1, k->x, k->lambda);
}

// T v
static void hessian(const Cone *k, const double *v, double *y) {
  double t[3];
  scale(k, 1, v, t);
  scale(k, 1, t, y);
}

// R for target sigma tau e, with the predictor's product where `corrected`.
static void find_target(Cone *k, double target, int corrected) {
  double r[3] = {target, 0, 0}, a[3], b[3], y[3];
  if (corrected) {
    scale(k, 1, k->dx, a);
    scale(k, -1, k->dz, b);
    r[0] -= dot(a, b, k->dim);
    for (int32_t i = 1; i < k->dim; i++) r[i] -= a[0] * b[i] + b[0] * a[i];
  }
  // lambda \ r
  double inner = k->lambda[0] * r[0];
  for (int32_t i = 1; i < k->dim; i++) inner -= k->lambda[i] * r[i];
  y[0] = inner / determinant(k->lambda, k->dim);
  for (int32_t i = 1; i < k->dim; i++) y[i] = (r[i] - k->lambda[i] * y[0]) / k->lambda[0];
  scale(k, 1, y, k->r);
  for (int32_t i = 0; i < k->dim; i++) k->r[i] -= k->z[i];
}

// The largest step t <= 1 with x + t d in the cone.
static double reach(const double *x, const double *d, int32_t dim, double most) {
  if (dim == 1) return d[0] < 0 ? cn_min(most, -x[0] / d[0]) : most;
  // roots of |x_1 + t d_1|^2 = (x_0 + t d_0)^2
  double a = d[0] * d[0], b = x[0] * d[0], c = determinant(x, dim);
  for (int32_t i = 1; i < dim; i++) {
    a -= d[i] * d[i];
    b -= x[i] * d[i];
  }
  if (d[0] < 0) most = cn_min(most, -x[0] / d[0]);
  double root = b * b - a * c;
  if (root < 0) return most;
  root = sqrt(root);
  // c > 0: the first positive root of a t^2 + 2 b t + c
  double q = b >= 0 ? -(b + root) : root - b;
  double t1 = a != 0 ? q / a : -1, t2 = q != 0 ? c / q : -1;
  if (t1 > 0) most = cn_min(most, t1);
  if (t2 > 0) most = cn_min(most, t2);
  return most;
}

// ---- cones of the blocks ----

static void add_cone(Ipm *s, const CniConeBlock *block, int32_t disc, double sign, double offset) {
  Cone *k = &s->cones[s->cone_count++];
  memset(k, 0, sizeof *k);
  k->normal = block->row;
  k->sign = sign;
  k->offset = offset;
  k->dim = 1;
  if (disc < 0) return;
  k->mu = block->cone.mu[disc];
  k->tangent = block->row + block->cone.start[disc];
  k->dim = 1 + block->cone.dim[disc];
}

static void block_cones(Ipm *s, const CniConeBlock *block) {
  if (block->fixed == 0xff || block->kind == CN_BLOCK_BILATERAL) return;
  if (block->kind == CN_BLOCK_UNILATERAL) {
    add_cone(s, block, -1, 1, 0);
  } else if (block->kind == CN_BLOCK_INTERVAL) {
    if (isfinite(block->lo)) add_cone(s, block, -1, 1, -block->lo);
    if (isfinite(block->hi)) add_cone(s, block, -1, -1, block->hi);
  } else {
    for (int32_t j = 0; j < block->cone.disc_count; j++)
      add_cone(s, block, j, 1, block->cone.cohesion);
    if (block->cone.disc_count == 0) add_cone(s, block, -1, 1, block->cone.cohesion);
  }
}

static void load_x(Ipm *s) {
  for (int32_t i = 0; i < s->cone_count; i++) {
    Cone *k = &s->cones[i];
    k->x[0] = k->sign * s->g[k->normal] + k->offset;
    for (int32_t d = 1; d < k->dim; d++) k->x[d] = s->g[k->tangent + d - 1] / k->mu;
  }
}

static CnStatus prepare(Ipm *s, CniCones *c) {
  s->c = c;
  CNI_TRY(CNI_LAY(&c->arena, CNI_ARRAY(3 * (int64_t)c->block_count, s->cones),
                  CNI_ARRAY((int64_t)c->block_count + 1, s->first), CNI_ARRAY(c->n, s->g),
                  CNI_ARRAY(c->n, s->u), CNI_ARRAY(c->n, s->rhs), CNI_ARRAY(c->n, s->best),
                  CNI_ARRAY(c->block_count, s->shift)));
  s->cone_count = 0;
  for (int32_t i = 0; i < c->block_count; i++) {
    s->first[i] = s->cone_count;
    block_cones(s, &c->blocks[i]);
  }
  s->first[c->block_count] = s->cone_count;
  return CN_OK;
}

// Inside all cones: impulses and velocities of the round's size.
static void start(Ipm *s) {
  CniCones *c = s->c;
  double size = rounds[s->round].size;
  memset(s->g, 0, (size_t)c->n * sizeof *s->g);
  for (int32_t i = 0; i < c->block_count; i++) {
    const CniConeBlock *block = &c->blocks[i];
    if (block->fixed == 0xff || block->kind == CN_BLOCK_BILATERAL) continue;
    double *g = s->g + block->row;
    if (block->kind != CN_BLOCK_INTERVAL)
      *g = cn_max(size - block->cone.cohesion, 0);
    else if (isfinite(block->lo))
      *g = isfinite(block->hi) ? (block->lo + block->hi) / 2 : block->lo + size;
    else if (isfinite(block->hi))
      *g = block->hi - size;
  }
  load_x(s);
  for (int32_t i = 0; i < s->cone_count; i++) {
    Cone *k = &s->cones[i];
    k->z[0] = size;
    for (int32_t d = 1; d < k->dim; d++) k->z[d] = 0;
  }
}

// ---- one step ----

// D of a block into B, A the identity but for fixed rows.
static void block_matrix(const Ipm *s, int32_t i) {
  CniCones *c = s->c;
  int turn = !c->convex && !s->lag && !rounds[s->round].held;
  const CniConeBlock *block = &c->blocks[i];
  int32_t dim = block->dim;
  double *a = c->a + block->matrix, *b = c->b + block->matrix;
  memset(a, 0, (size_t)(dim * dim) * sizeof *a);
  memset(b, 0, (size_t)(dim * dim) * sizeof *b);
  for (int32_t d = 0; d < dim; d++) {
    int held = block->fixed >> d & 1;
    a[d * (dim + 1)] = held ? 0 : 1;
    b[d * (dim + 1)] = held ? 1 : s->proximal;
  }
  if (block->fixed == 0xff) return;
  for (int32_t k = s->first[i]; k < s->first[i + 1]; k++) {
    const Cone *cone = &s->cones[k];
    double length = tail_norm(cone->z, cone->dim);
    for (int32_t column = 0; column < cone->dim; column++) {
      double unit[3] = {0, 0, 0}, t[3];
      unit[column] = column == 0 ? 1 : 1 / cone->mu;
      hessian(cone, unit, t);
      int32_t at = column == 0 ? 0 : cone->tangent - block->row + column - 1;
      double normal = t[0];
      for (int32_t d = 1; d < cone->dim; d++) {
        int32_t row = cone->tangent - block->row + d - 1;
        b[row * dim + at] += t[d] / cone->mu;
        if (turn && length > 0) normal -= cone->z[d] / length * t[d];
      }
      b[at] += normal;
    }
  }
}

// Right-hand side of a block from the R of its cones.
static void block_target(const Ipm *s, int32_t i) {
  const CniCones *c = s->c;
  int turn = !c->convex && !s->lag && !rounds[s->round].held;
  const CniConeBlock *block = &c->blocks[i];
  double *rhs = s->rhs + block->row;
  const double *u = s->u + block->row;
  for (int32_t d = 0; d < block->dim; d++) rhs[d] = block->fixed >> d & 1 ? 0 : -u[d];
  if (block->fixed == 0xff) return;
  if (rounds[s->round].held) rhs[0] -= s->shift[i];
  for (int32_t k = s->first[i]; k < s->first[i + 1]; k++) {
    const Cone *cone = &s->cones[k];
    double length = tail_norm(cone->z, cone->dim);
    rhs[0] += cone->sign * (cone->r[0] + cone->z[0]);
    if (!c->convex && !rounds[s->round].held) rhs[0] -= length;
    for (int32_t d = 1; d < cone->dim; d++) {
      rhs[cone->tangent - block->row + d - 1] += (cone->r[d] + cone->z[d]) / cone->mu;
      if (turn && length > 0) rhs[0] -= cone->z[d] / length * cone->r[d];
    }
  }
}

// Step in g for the target, and from it dx and dz = R - T dx.
static int find_step(Ipm *s, double target, int corrected) {
  CniCones *c = s->c;
  for (int32_t i = 0; i < s->cone_count; i++) find_target(&s->cones[i], target, corrected);
  for (int32_t i = 0; i < c->block_count; i++) block_target(s, i);
  cni_cones_solve(c, s->rhs);
  double size = 0;
  for (int32_t i = 0; i < c->n; i++) size += fabs(s->rhs[i]);
  for (int32_t i = 0; i < s->cone_count; i++) {
    Cone *k = &s->cones[i];
    double t[3];
    k->dx[0] = k->sign * s->rhs[k->normal];
    for (int32_t d = 1; d < k->dim; d++) k->dx[d] = s->rhs[k->tangent + d - 1] / k->mu;
    hessian(k, k->dx, t);
    for (int32_t d = 0; d < k->dim; d++) k->dz[d] = k->r[d] - t[d];
  }
  return isfinite(size);
}

static double longest(const Ipm *s) {
  double step = 1e3;
  for (int32_t i = 0; i < s->cone_count; i++) {
    const Cone *k = &s->cones[i];
    step = reach(k->x, k->dx, k->dim, step);
    step = reach(k->z, k->dz, k->dim, step);
  }
  return step;
}

static double barrier(const Ipm *s, double step) {
  double sum = 0;
  for (int32_t i = 0; i < s->cone_count; i++) {
    const Cone *k = &s->cones[i];
    for (int32_t d = 0; d < k->dim; d++)
      sum += (k->x[d] + step * k->dx[d]) * (k->z[d] + step * k->dz[d]);
  }
  return s->cone_count > 0 ? sum / s->cone_count : 0;
}

// One iteration; the step taken, 0: none.
static double iterate(Ipm *s) {
  CniCones *c = s->c;
  for (int32_t i = 0; i < s->cone_count; i++) find_scaling(&s->cones[i]);
  const Round *rule = &rounds[s->round];
  if (s->step < CRAMPED)
    s->lag = LAG;
  else if (s->lag > 0)
    s->lag--;
  s->proximal = cn_clamp(rule->slope * sqrt(s->tau), rule->least, 1e-2);
  for (int32_t i = 0; i < c->block_count; i++) block_matrix(s, i);
  if (!cni_cones_factor(c) || !find_step(s, 0, 0)) return 0;
  double step = cn_min(1, longest(s)), aim = barrier(s, step) / s->tau;
  double sigma = cn_min(1, cn_max(aim * aim * aim, 1e-6));
  // after a short step the middle of the cone comes first
  if (s->step < CRAMPED) sigma = cn_max(sigma, .5);
  if (!find_step(s, sigma * s->tau, s->step >= CRAMPED)) return 0;
  double room = longest(s);
  if (room < CRAMPED) {
    if (!find_step(s, cn_max(sigma, .8) * s->tau, 0)) return 0;
    room = longest(s);
  }
  step = s->step = cn_min(1, cn_clamp(1 - s->tau, .9, .995) * room);
  if (!(step > 0)) return 0;
  for (int32_t i = 0; i < c->n; i++) s->g[i] += step * s->rhs[i];
  load_x(s);
  for (int32_t i = 0; i < s->cone_count; i++)
    for (int32_t d = 0; d < s->cones[i].dim; d++) s->cones[i].z[d] += step * s->cones[i].dz[d];
  cni_cones_velocity(c, s->g, s->u);
  s->tau = barrier(s, 0);
  return step;
}

// ---- the whole ----

static void note(Ipm *s, const double *g, double error) {
  if (!(error < s->error)) return;
  s->error = error;
  memcpy(s->best, g, (size_t)s->c->n * sizeof *g);
}

// The shift of the last point.
static void hold_shift(Ipm *s) {
  CniCones *c = s->c;
  for (int32_t i = 0; i < c->block_count; i++)
    s->shift[i] = cni_cone_shift(&c->blocks[i].cone, s->u + c->blocks[i].row);
}

// Steps of Newton from the point at hand.
static void polish(Ipm *s, CniConeNewton *newton, const CniIpmRule *rule, const double *g,
                   int32_t steps, CniIpmEnd *end) {
  cni_cone_newton_start(newton, g);
  end->newton_steps += cni_cone_newton_run(newton, steps, steps > POLISH, rule->tolerance);
  note(s, newton->best, newton->error);
}

static void run(Ipm *s, CniConeNewton *newton, const CniIpmRule *rule, CniIpmEnd *end) {
  double tried = NEAR;
  int32_t poor = 0, last = end->iterations + ROUND;
  if (last > rule->max_iterations) last = rule->max_iterations;
  while (end->iterations < last && poor < POOR && !cni_cones_late(s->c)) {
    double step = iterate(s);
    end->iterations++;
    if (step == 0) break;
    double error = cni_cones_error(s->c, s->g, s->u);
    note(s, s->g, error);
    if (s->error <= rule->tolerance) return;
    if (rule->polish && error < tried) {
      tried = error / 10;
      polish(s, newton, rule, s->g, POLISH, end);
      if (s->error <= rule->tolerance) return;
    }
    poor = step < SHORT ? poor + 1 : 0;
    // what is left is the shift's
    if (rounds[s->round].held && s->tau < HELD * error * error) break;
  }
}

CnStatus cni_cone_ipm(CniCones *c, const CniIpmRule *rule, double *g, CniIpmEnd *end) {
  Ipm s = {0};
  CniConeNewton newton;
  CNI_TRY(prepare(&s, c));
  CNI_TRY(cni_cone_newton_init(&newton, c));
  *end = (CniIpmEnd){0};
  s.error = INFINITY;
  memcpy(s.best, g, (size_t)c->n * sizeof *g);
  // what is given, and nothing at all, may do already
  for (int32_t k = 0; k < 2 && !(s.error <= rule->tolerance); k++) {
    for (int32_t i = 0; i < c->n; i++) s.g[i] = k == 0 ? g[i] : 0;
    cni_cones_velocity(c, s.g, s.u);
    note(&s, s.g, cni_cones_error(c, s.g, s.u));
  }
  // and from a good one Newton may end it
  if (rule->polish && !(s.error <= rule->tolerance) && s.error < NEAR)
    polish(&s, &newton, rule, s.best, POLISH, end);
  for (s.round = 0; s.round < ROUNDS && !(s.error <= rule->tolerance); s.round++) {
    if (cni_cones_late(c)) break;
    if (rounds[s.round].held) {
      if (c->convex) break;
      hold_shift(&s);
    }
    start(&s);
    cni_cones_velocity(c, s.g, s.u);
    s.tau = barrier(&s, 0);
    s.step = 1;
    s.lag = 0;
    run(&s, &newton, rule, end);
  }
  if (rule->polish && !(s.error <= rule->tolerance))
    polish(&s, &newton, rule, s.best, cni_cones_steps(c, LAST), end);
  end->error = s.error;
  end->stalled = !(s.error <= rule->tolerance);
  memcpy(g, s.best, (size_t)c->n * sizeof *g);
  return CN_OK;
}
