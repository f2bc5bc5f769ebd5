// SPDX-License-Identifier: Apache-2.0
// The cone problem of a block with any number of discs (sliding, rolling, spinning), to round-off.
//
// Newton on the projection equations, with shortened steps and, where no part of a step decreases
// the residual, some steps of a method that needs no start. That nearly always ends it. If not:
//
// Convex. 1/2 g^T N g + q^T g minus t times the logarithms of mu_j^2 g_n^2 - |g_j|^2 is minimised
// for falling t. The logarithms are self-concordant: Newton with shortened steps converges from any
// point inside the cone, however stretched N is, and ends where the first method converges.
//
// Coulomb. With g_n held the discs have fixed radii, a convex problem with one solution x(g_n), and
// u_n = N_nn g_n + N_nx x(g_n) + q_n goes from q_n < 0 to infinity: for g^T N g with g = (1, x/g_n)
// is positive and the friction's part of it is not. A bracket, whatever mu.
//
// An unsymmetric N (explicit problems only) has Newton alone.
#include "solver/sweeps/local.h"
#include "solver/sweeps/small.h"
#include "core/math.h"
#include "core/vec.h"

// ---- Newton on the projection equations ----

typedef struct Newton {
  const CniLocal *local;
  const double *q;
  double rho; // 1 / (trace / dim)
} Newton;

static void block_velocity(const Newton *m, const double *x, double *u) {
  cni_small_multiply(m->local->dim, m->local->n, x, u);
  for (int32_t i = 0; i < m->local->dim; i++) u[i] += m->q[i];
}

// |x - P_K(x - rho (u + s n))|
static double natural_residual(const Newton *m, const double *x) {
  const CniLocal *local = m->local;
  double u[CNI_MAX_DIM], y[CNI_MAX_DIM], sum = 0, shift = 0;
  block_velocity(m, x, u);
  for (int32_t j = 0; j < local->cone.disc_count && !local->convex; j++)
    shift += local->cone.mu[j] * cni_disc_norm(u + local->cone.start[j], local->cone.dim[j]);
  for (int32_t i = 0; i < local->dim; i++) y[i] = x[i] - m->rho * u[i];
  y[0] -= m->rho * shift;
  cni_project_cone(&local->cone, y);
  for (int32_t i = 0; i < local->dim; i++) sum += (x[i] - y[i]) * (x[i] - y[i]);
  return sqrt(sum);
}

// Rows of a disc that is cut: d(radius y/|y|) = (radius/|y|)(I - e e^T) dy + e d(radius). `wall` is
// the gradient of the radius with respect to y (dim numbers).
static void cut_rows(const CniLocal *local, int32_t disc, const double *y, double radius,
                     const double *wall, double *p) {
  int32_t dim = local->dim, begin = local->cone.start[disc], count = local->cone.dim[disc];
  double length = cni_disc_norm(y + begin, count);
  for (int32_t i = 0; i < count; i++) {
    double e_i = length > 0 ? y[begin + i] / length : 0;
    for (int32_t k = 0; k < dim; k++) p[(begin + i) * dim + k] = e_i * wall[k];
    for (int32_t k = 0; k < count && length > 0; k++) {
      double e_k = y[begin + k] / length;
      p[(begin + i) * dim + begin + k] += radius / length * ((i == k ? 1 : 0) - e_i * e_k);
    }
  }
}

// Convex: P = P_K(y) and its derivative p (dim x dim).
static void cone_derivative(const CniLocal *local, const double *y, double *projected, double *p) {
  const CniCone *cone = &local->cone;
  int32_t dim = local->dim;
  double wall[CNI_MAX_DIM] = {0}, weight = 1;
  for (int32_t i = 0; i < dim; i++) projected[i] = y[i];
  cni_project_cone(cone, projected);
  for (int32_t i = 0; i < dim * dim; i++) p[i] = 0;
  if (!(projected[0] > 0)) return;

  // gradient of the new normal part: the discs that are cut share it
  wall[0] = 1;
  for (int32_t j = 0; j < cone->disc_count; j++) {
    double length = cni_disc_norm(y + cone->start[j], cone->dim[j]), mu = cone->mu[j];
    if (!(length > mu * projected[0])) continue;
    weight += mu * mu;
    for (int32_t i = cone->start[j]; i < cone->start[j] + cone->dim[j]; i++)
      wall[i] = mu * y[i] / length;
  }
  for (int32_t i = 0; i < dim; i++) p[i] = wall[i] /= weight;
  for (int32_t j = 0; j < cone->disc_count; j++) {
    double length = cni_disc_norm(y + cone->start[j], cone->dim[j]), mu = cone->mu[j];
    if (length > mu * projected[0]) {
      double radius_wall[CNI_MAX_DIM];
      for (int32_t i = 0; i < dim; i++) radius_wall[i] = mu * wall[i];
      cut_rows(local, j, y, mu * projected[0], radius_wall, p);
    } else {
      for (int32_t i = cone->start[j]; i < cone->start[j] + cone->dim[j]; i++) p[i * dim + i] = 1;
    }
  }
}

// One Newton step on x - P_K(x - rho u) = 0 (convex), or on Alart and Curnier's equations
// (coulomb): x_n = max(0, y_n), x_j = P_disc(y_j) with radius mu_j max(0, x_n). 0 if the matrix is
// singular.
static int newton_step(const Newton *m, const double *x, double *step) {
  const CniLocal *local = m->local;
  const CniCone *cone = &local->cone;
  int32_t dim = local->dim;
  double u[CNI_MAX_DIM], y[CNI_MAX_DIM], projected[CNI_MAX_DIM], p[CNI_SMALL_SIZE] = {0};
  double extra[CNI_SMALL_SIZE] = {0}; // derivative of the right side with respect to x alone
  double matrix[CNI_SMALL_SIZE], wall[CNI_MAX_DIM] = {0};
  block_velocity(m, x, u);
  for (int32_t i = 0; i < dim; i++) y[i] = projected[i] = x[i] - m->rho * u[i];
  if (local->convex) {
    cone_derivative(local, y, projected, p);
  } else {
    projected[0] = cn_max(0, y[0]);
    p[0] = y[0] > 0 ? 1 : 0;
    for (int32_t j = 0; j < cone->disc_count; j++) {
      int32_t begin = cone->start[j], end = begin + cone->dim[j];
      double length = cni_disc_norm(y + begin, cone->dim[j]),
             radius = cone->mu[j] * cn_max(0, x[0]);
      if (length <= radius) {
        for (int32_t i = begin; i < end; i++) p[i * dim + i] = 1;
        continue;
      }
      cut_rows(local, j, y, radius, wall, p);
      for (int32_t i = begin; i < end; i++) {
        projected[i] = radius * y[i] / length;
        extra[i * dim] = x[0] > 0 ? cone->mu[j] * y[i] / length : 0;
      }
    }
  }

  // (I - extra - p (I - rho N)) dx = projected - x
  for (int32_t i = 0; i < dim; i++) {
    for (int32_t k = 0; k < dim; k++) {
      double sum = p[i * dim + k];
      for (int32_t t = 0; t < dim; t++) sum -= m->rho * p[i * dim + t] * local->n[t * dim + k];
      matrix[i * dim + k] = (i == k ? 1 : 0) - extra[i * dim + k] - sum;
    }
    step[i] = projected[i] - x[i];
  }
  if (!cni_small_solve(dim, matrix, step)) return 0;
  for (int32_t i = 0; i < dim; i++) {
    if (!isfinite(step[i])) return 0;
  }
  return 1;
}

// A step that needs no start: normal and discs one after the other (coulomb), or a projected
// gradient step (convex).
static double disc_eta(const CniLocal *local, int32_t disc) {
  int32_t dim = local->dim, i = local->cone.start[disc];
  const double *n = local->n;
  if (local->cone.dim[disc] == 1) return n[i * dim + i];
  return cni_lambda_max_2(n[i * dim + i], .5 * (n[i * dim + i + 1] + n[(i + 1) * dim + i]),
                          n[(i + 1) * dim + i + 1]);
}

static void steady_step(const Newton *m, double lambda_max, double *x) {
  CniLocal step = *m->local;
  double u[CNI_MAX_DIM], x_new[CNI_MAX_DIM];
  step.lambda = 1;
  step.cohesion = 0;
  step.method = step.convex ? CNI_LOCAL_PROJECT : CNI_LOCAL_SPLIT;
  step.step[0] = 1 / (step.convex ? lambda_max : cn_max(step.n[0], 1e-300));
  for (int32_t j = 0; j < step.cone.disc_count; j++) {
    double eta = disc_eta(m->local, j);
    step.step[1 + j] = eta > 0 ? 1 / eta : 0;
  }
  block_velocity(m, x, u);
  cni_local_update(&step, u, x, x_new);
  for (int32_t i = 0; i < step.dim; i++) x[i] = x_new[i];
}

// Newton as long as some part of its step decreases the residual, steady steps otherwise; returns
// the residual.
static double iterate(const Newton *m, int32_t rounds, double size, double *x) {
  int32_t dim = m->local->dim;
  double lambda_max = cni_small_lambda_max(dim, m->local->n), step[CNI_MAX_DIM];
  double residual = natural_residual(m, x);
  for (int32_t round = 0; round < rounds && residual > 1e-16 * size; round++) {
    int found = newton_step(m, x, step);
    double t = 1, trial = INFINITY, x_new[CNI_MAX_DIM];
    for (int32_t k = 0; found && k < 8; k++, t *= .5) {
      for (int32_t i = 0; i < dim; i++) x_new[i] = x[i] + t * step[i];
      cni_project_cone(&m->local->cone, x_new);
      trial = natural_residual(m, x_new);
      if (trial <= (1 - .5 * t) * residual) break;
    }
    if (trial <= (1 - .5 * t) * residual) {
      for (int32_t i = 0; i < dim; i++) x[i] = x_new[i];
      residual = trial;
      continue;
    }
    // at round-off nothing falls any more
    if (residual <= 1e-14 * size) break;
    for (int32_t k = 0; k < 10; k++) steady_step(m, lambda_max, x);
    residual = natural_residual(m, x);
  }
  return residual;
}

// ---- barrier ----

// Gradient and Hessian of -log(mu^2 n^2 - |x|^2), times t, added to r and to the matrix h.
static void add_barrier(const CniLocal *local, int32_t disc, const double *x, double t, double *r,
                        double *h) {
  int32_t dim = local->dim, begin = local->cone.start[disc], end = begin + local->cone.dim[disc];
  double mu = local->cone.mu[disc], length = cni_disc_norm(x + begin, local->cone.dim[disc]);
  double room = (mu * x[0] - length) * (mu * x[0] + length), slope[CNI_MAX_DIM] = {0};
  slope[0] = 2 * mu * mu * x[0] / room;
  for (int32_t i = begin; i < end; i++) slope[i] = -2 * x[i] / room;
  h[0] -= t * 2 * mu * mu / room;
  for (int32_t i = begin; i < end; i++) h[i * dim + i] += t * 2 / room;
  for (int32_t i = 0; i < dim; i++) {
    r[i] -= t * slope[i];
    for (int32_t k = 0; k < dim; k++) h[i * dim + k] += t * slope[i] * slope[k];
  }
}

// The function itself; infinite outside the cone.
static double barrier_value(const Newton *m, const double *x, double t) {
  const CniLocal *local = m->local;
  double u[CNI_MAX_DIM], sum = 0, product = 1;
  block_velocity(m, x, u);
  for (int32_t i = 0; i < local->dim; i++) sum += .5 * x[i] * (u[i] + m->q[i]);
  for (int32_t j = 0; j < local->cone.disc_count; j++) {
    double mu = local->cone.mu[j],
           length = cni_disc_norm(x + local->cone.start[j], local->cone.dim[j]);
    if (mu == 0) continue;
    if (!(mu * x[0] > length)) return INFINITY;
    product *= (mu * x[0] - length) * (mu * x[0] + length);
  }
  return sum - t * cni_log_e(product);
}

// One Newton step; rows of discs without friction, and the normal where it is held, stay. Returns
// the decrease that the quadratic model promises, 0 at the end of the digits.
static double barrier_step(const Newton *m, double t, int held, double *x) {
  const CniLocal *local = m->local;
  int32_t dim = local->dim;
  double r[CNI_MAX_DIM], h[CNI_SMALL_SIZE], step[CNI_MAX_DIM], promise = 0;
  int stays[CNI_MAX_DIM] = {held};
  block_velocity(m, x, r);
  for (int32_t i = 0; i < dim * dim; i++) h[i] = local->n[i];
  for (int32_t j = 0; j < local->cone.disc_count; j++) {
    if (local->cone.mu[j] > 0) add_barrier(local, j, x, t, r, h);
    for (int32_t i = 0; i < local->cone.dim[j]; i++)
      stays[local->cone.start[j] + i] = local->cone.mu[j] == 0;
  }
  for (int32_t i = 0; i < dim; i++) {
    for (int32_t k = 0; k < dim; k++)
      if (stays[i] || stays[k]) h[i * dim + k] = i == k ? 1 : 0;
    step[i] = stays[i] ? 0 : -r[i];
  }
  if (!cni_small_solve(dim, h, step)) return 0;
  for (int32_t i = 0; i < dim; i++) promise -= stays[i] ? 0 : step[i] * r[i];
  if (!(promise > 0) || !isfinite(promise)) return 0;
  // a decrease below the digits of the value cannot be measured: then it is enough to stay inside
  double value = barrier_value(m, x, t), a = 1;
  double slack = promise <= 1e-11 * fabs(value) ? 1e-9 * fabs(value) : 0;
  for (int32_t k = 0; k < 50; k++, a *= .5) {
    double x_new[CNI_MAX_DIM];
    for (int32_t i = 0; i < dim; i++) x_new[i] = x[i] + a * step[i];
    if (!(barrier_value(m, x_new, t) <= value - .1 * a * promise + slack)) continue;
    for (int32_t i = 0; i < dim; i++) x[i] = x_new[i];
    return promise;
  }
  return 0;
}

// From a point inside to the minimum, t falling by ten from the size of the value there: twice the
// least value without the cone.
static void minimise(const Newton *m, int held, double *x) {
  int32_t dim = m->local->dim;
  double g[CNI_MAX_DIM], least = 0, t = 0;
  cni_small_multiply(dim, m->local->inverse, m->q, g);
  for (int32_t i = 0; i < dim; i++) {
    least += m->q[i] * g[i];
    t = cn_max(t, fabs(m->q[i]) * x[0]);
  }
  double end = 1e-18 * t;
  t = cn_max(t, least);
  if (!isfinite(t)) return; // numbers beyond 1e150: there is no value to fall from
  for (; t > end; t *= .1) {
    for (int32_t k = 0; k < 60; k++)
      if (barrier_step(m, t, held, x) <= .01 * t) break;
  }
}

// ---- coulomb with the normal held ----

static double held_excess(const void *data, double g_n) {
  const Newton *m = data;
  double x[CNI_MAX_DIM] = {g_n}, u = m->q[0];
  if (g_n > 0) minimise(m, 1, x);
  for (int32_t k = 0; k < m->local->dim; k++) u += m->local->n[k] * x[k];
  return -u;
}

static void solve_held(const Newton *m, double *x) {
  double hi = fabs(m->q[0]) * m->rho;
  for (int32_t i = 0; i < 100 && held_excess(m, hi) > 0; i++) hi *= 2;
  for (int32_t i = 1; i < m->local->dim; i++) x[i] = 0;
  x[0] = cni_find_root(held_excess, m, 0, hi);
  minimise(m, 1, x);
}

int32_t cni_local_newton(const CniLocal *local, const double *q, double *x) {
  int32_t dim = local->dim;
  double trace = 0, size = 0, other[CNI_MAX_DIM] = {0};
  for (int32_t i = 0; i < dim; i++) trace += local->n[i * dim + i];
  Newton m = {local, q, dim / trace};
  for (int32_t i = 0; i < dim; i++) size = cn_max(size, m.rho * fabs(q[i]));
  cni_project_cone(&local->cone, x);
  double residual = iterate(&m, 30, size, x);
  if (residual <= 1e-13 * size || !local->symmetric) return 0;
  if (local->convex) {
    other[0] = size;
    minimise(&m, 0, other);
  } else {
    if (!(q[0] < 0)) return 0;
    solve_held(&m, other);
  }
  if (iterate(&m, 30, size, other) < residual)
    for (int32_t i = 0; i < dim; i++) x[i] = other[i];
  return 1;
}
