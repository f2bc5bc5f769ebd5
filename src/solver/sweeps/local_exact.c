// SPDX-License-Identifier: Apache-2.0
// The cone problem of one block to round-off: u = N g + q, g in K = {|g_j| <= mu_j g_n}, and u
// (with de Saxce's shift in the coulomb model) in the dual cone, orthogonal to g.
//
// In every case there are three states: take-off (g = 0 when q itself is dual), stick (u = 0 when
// -N^-1 q lies in the cone) and slide. Slide, one disc:
//
// In the plane. Coulomb: with u_n = 0 eliminated, (S + l) g_t = -r, S > 0, l = |u_t|/|g_t|, so g_t
// has the sign of -r and g_n follows. Convex: the edge of the cone on which u is dual.
//
// Coulomb in space. Eliminating u_n = 0: S = N_tt - N_tn N_nt/N_nn, r = q_t - N_tn q_n/N_nn,
//
//     (S + l I) g_t = -r,   g_n = -(q_n + N_nt g_t)/N_nn,   |g_t| - mu g_n = 0.
//
// At l = 0 the left side of the last is positive (else it would stick), for l -> oo it tends to
// mu q_n/N_nn < 0: there is a root, whatever mu, also for an unsymmetric N as long as its symmetric
// part is definite. In the plane the same shows that the edge chosen is the right one.
//
// Convex in space. With J = diag(-mu^2, 1, 1) the solution satisfies (N + l J) g = -q. A basis in
// which N is the unit matrix and J = diag(-a, b, c) splits it into y_1 = -p_1/(1 - l a),
// y_2 = -p_2/(1 + l b), y_3 = -p_3/(1 + l c); the cone is a y_1^2 = b y_2^2 + c y_3^2. With l = s/a
// for p_1 <= 0, l = 1/(a s) for p_1 > 0, this is one equation that falls in s over (0, 1):
//
//     (1 - s) sqrt(b z_2^2 + c z_3^2) - sqrt(a) |p_1| = 0,   z = y or y/s.
//
// Several discs (rolling, spinning), and unsymmetric N of the convex model: Newton on the
// projection equations, with steps of a method that needs no start when Newton does not halve the
// residual. Should both fail (coulomb, large mu), g_n is held: the discs then have fixed radii, a
// convex problem with one solution x(g_n), and N_nn g_n + N_nx x(g_n) + q_n rises from q_n < 0 to
// infinity: one more bracket.
//
// Where N has lost rank the solution is approached by proximal steps: N + d I and q - d g in place
// of N and q, until g stands still.
//
// Roots are bracketed and found by Newton's or Ridders' rule, so every loop is finite.
#include "solver/sweeps/local.h"
#include "solver/sweeps/small.h"
#include "core/vec.h"

// ---- one root in a bracket ----

double cni_find_root(CniRootFunction f, const void *data, double lo, double hi) {
  double f_lo = f(data, lo), f_hi = f(data, hi);
  if (!(f_lo > 0)) return lo;
  if (!(f_hi < 0)) return hi;
  for (int32_t i = 0; i < 200; i++) {
    double middle = .5 * (lo + hi), f_middle = f(data, middle);
    if (!(middle > lo && middle < hi) || f_middle == 0) return middle;

    // Ridders: the line through the values with an exponential divided out
    double root = middle + (middle - lo) * (f_middle / sqrt(f_middle * f_middle - f_lo * f_hi));
    double a = lo, b = hi;
    if (f_middle > 0) {
      lo = middle;
      f_lo = f_middle;
    } else {
      hi = middle;
      f_hi = f_middle;
    }
    if (root > a && root < b) {
      double f_root = f(data, root);
      if (f_root == 0) return root;
      if (f_root > 0 && root > lo) {
        lo = root;
        f_lo = f_root;
      }
      if (f_root < 0 && root < hi) {
        hi = root;
        f_hi = f_root;
      }
    }
  }
  return .5 * (lo + hi);
}

// ---- take-off and stick ----

static double dual_slack(const CniLocal *local, const double *q) {
  double slack = q[0];
  for (int32_t j = 0; j < local->cone.disc_count && local->convex; j++)
    slack -= local->cone.mu[j] * cni_disc_norm(q + local->cone.start[j], local->cone.dim[j]);
  return slack;
}

static int in_cone(const CniCone *cone, const double *x) {
  if (!(x[0] >= 0)) return 0;
  for (int32_t j = 0; j < cone->disc_count; j++) {
    if (!(cni_disc_norm(x + cone->start[j], cone->dim[j]) <= cone->mu[j] * x[0])) return 0;
  }
  return 1;
}

// u = 0 by a generalised inverse; it counts only if u really is.
static int stick(const CniLocal *local, const double *q, double *x) {
  int32_t dim = local->dim;
  double trial[CNI_MAX_DIM], u[CNI_MAX_DIM], size = 0, left = 0, trace = 0;
  cni_small_multiply(dim, local->inverse, q, trial);
  for (int32_t i = 0; i < dim; i++) trial[i] = -trial[i];
  if (!in_cone(&local->cone, trial)) return 0;
  cni_small_multiply(dim, local->n, trial, u);
  for (int32_t i = 0; i < dim; i++) {
    size = cn_max(size, fabs(trial[i]));
    left = cn_max(left, fabs(u[i] + q[i]));
    trace += local->n[i * dim + i];
  }
  // round-off of a product grows with the impulse
  if (left > 1e-14 * trace * size) return 0;
  for (int32_t i = 0; i < dim; i++) x[i] = trial[i];
  return 1;
}

// ---- in the plane ----

static void slide_plane(const CniLocal *local, const double *q, double *x) {
  const double *n = local->n;
  double mu = local->cone.mu[0], best = -INFINITY;
  x[0] = x[1] = 0;
  for (int32_t side = -1; side <= 1; side += 2) {
    double e = side * mu, d, f, slack;
    if (local->convex) {
      // u orthogonal to the edge (1, e), and dual: not against the other edge
      d = n[0] + e * (n[1] + n[2]) + e * e * n[3];
      f = -(q[0] + e * q[1]);
      if (!(d > 0) || !(f > 0)) continue;
      slack = q[0] - e * q[1] + f / d * (n[0] + e * (n[1] - n[2]) - e * e * n[3]);
    } else {
      // u_n = 0 on the side that friction takes
      double r = q[1] - n[2] * q[0] / n[0];
      d = n[0] + e * n[1];
      f = -q[0];
      if (!(d > 0)) continue;
      slack = -side * r;
    }
    if (slack <= best) continue;
    best = slack;
    x[0] = f / d;
    x[1] = e * x[0];
  }
}

// ---- coulomb in space ----

// S and r after u_n = 0 is eliminated, S_ij = s[2 i + j]; what g_t does to g_n.
typedef struct CoulombSlide {
  double s[4], r[2], c[2];
  double q_n, n_nn, mu;
  double g[2], g_n; // at the l asked last
  double excess;    // |g_t| - mu g_n
  double size;      // |g_t| + mu |g_n|
  double newton;    // where Newton's method would go from there
} CoulombSlide;

// S + l I, eliminated from the larger diagonal entry.
typedef struct Eliminated {
  double first, second, above, factor; // reciprocals of the pivots; above the second, left of it
  int32_t k;                           // the row that comes first
} Eliminated;

static Eliminated eliminate(const double *s, double l) {
  int32_t k = s[3] > s[0] ? 1 : 0, m = 1 - k;
  Eliminated e = {.first = 1 / (s[3 * k] + l), .above = s[2 * k + m], .k = k};
  e.factor = s[2 * m + k] * e.first;
  e.second = 1 / (s[3 * m] + l - e.factor * e.above);
  return e;
}

// (S + l I) x = -r
static void eliminated_solve(const Eliminated *e, const double *r, double *x) {
  int32_t k = e->k, m = 1 - k;
  x[m] = -(r[m] - e->factor * r[k]) * e->second;
  x[k] = -(r[k] + e->above * x[m]) * e->first;
}

// The step is taken on 1/|g_t| - 1/(mu g_n), which is nearly straight in l, where that is a number,
// else on the excess itself.
static void coulomb_at(CoulombSlide *d, double l) {
  double rate[2];
  Eliminated e = eliminate(d->s, l);
  eliminated_solve(&e, d->r, d->g);
  eliminated_solve(&e, d->g, rate); // (S + l) g' = -g
  d->g_n = -(d->q_n + d->c[0] * d->g[0] + d->c[1] * d->g[1]) / d->n_nn;
  double length = sqrt(d->g[0] * d->g[0] + d->g[1] * d->g[1]), radius = d->mu * d->g_n;
  d->excess = length - radius;
  d->size = length + fabs(radius);

  double length_rate = (d->g[0] * rate[0] + d->g[1] * rate[1]) / length;
  double radius_rate = -d->mu * (d->c[0] * rate[0] + d->c[1] * rate[1]) / d->n_nn;
  if (radius > 0) {
    length_rate *= radius / length;
    radius_rate *= length / radius;
  }
  d->newton = l - d->excess / (length_rate - radius_rate);
}

// l >= 0 with excess 0, from a guess; the excess is positive at 0 and negative far out. Newton's
// steps count as long as each halves the excess; otherwise the bracket is halved.
static void coulomb_root(CoulombSlide *d, double guess) {
  double lo = 0, hi = INFINITY, unit = d->s[0] + d->s[3], before = INFINITY;
  double l = guess > 0 && isfinite(guess) ? guess : unit;
  for (int32_t i = 0; i < 200; i++) {
    coulomb_at(d, l);
    if (fabs(d->excess) <= 1e-15 * d->size) return;
    if (d->excess > 0)
      lo = l;
    else
      hi = l;
    double next = d->newton;
    // the digits of l are used up
    if (fabs(next - l) <= 1e-15 * l) return;
    if (!(next > lo && next < hi) || fabs(d->excess) > .5 * before)
      next = hi == INFINITY ? 8 * cn_max(l, unit) : .5 * (lo + hi);
    if (!(next > lo && next < hi)) return; // no number is left between them
    before = fabs(d->excess);
    l = next;
  }
}

static void slide_coulomb(const CniLocal *local, const double *q, double *x) {
  const double *n = local->n;
  double mu = local->cone.mu[0], a = n[3] / n[0], b = n[6] / n[0];
  double floor = 1e-15 * (n[4] + n[8]);
  CoulombSlide d = {
      .s = {n[4] - a * n[1] + floor, n[5] - a * n[2], n[7] - b * n[1], n[8] - b * n[2] + floor},
      .r = {q[1] - a * q[0], q[2] - b * q[0]},
      .c = {n[1], n[2]},
      .q_n = q[0],
      .n_nn = n[0],
      .mu = mu};
  coulomb_at(&d, 0);
  if (d.excess > 0) {
    // the ratio of slip and friction that the impulse before stands for
    double slip[2], held = x[1] * x[1] + x[2] * x[2];
    for (int32_t i = 0; i < 2; i++) {
      const double *row = n + 3 * (i + 1);
      slip[i] = q[i + 1] + row[0] * x[0] + row[1] * x[1] + row[2] * x[2];
    }
    coulomb_root(&d, sqrt((slip[0] * slip[0] + slip[1] * slip[1]) / held));
  }
  double length = sqrt(d.g[0] * d.g[0] + d.g[1] * d.g[1]), g_n = cn_max(d.g_n, 0);
  double scale = length > mu * g_n ? mu * g_n / length : 1;
  x[0] = g_n;
  x[1] = scale * d.g[0];
  x[2] = scale * d.g[1];
}

// ---- convex in space ----

typedef struct ConvexSlide {
  double a, b, c, p1, p2, p3;
  int32_t beyond; // l > 1/a
  double z2, z3;
} ConvexSlide;

static void convex_parts(ConvexSlide *d, double s) {
  if (d->beyond) {
    d->z2 = -d->p2 * d->a / (d->a * s + d->b);
    d->z3 = -d->p3 * d->a / (d->a * s + d->c);
  } else {
    d->z2 = -d->p2 * d->a / (d->a + s * d->b);
    d->z3 = -d->p3 * d->a / (d->a + s * d->c);
  }
}

// In w = 1 - s, whose digits matter where the root is close to s = 1; rises in w.
static double convex_excess(const void *data, double w) {
  ConvexSlide d = *(const ConvexSlide *)data;
  convex_parts(&d, 1 - w);
  return sqrt(d.a) * fabs(d.p1) - w * sqrt(d.b * d.z2 * d.z2 + d.c * d.z3 * d.z3);
}

// Lower triangle of N = L L^T, a little heavier on the diagonal so that it exists.
static void cholesky_3(const double *n, double *l) {
  double extra = 1e-15 * (n[0] + n[4] + n[8]);
  for (int32_t i = 0; i < 3; i++) {
    for (int32_t j = 0; j <= i; j++) {
      double sum = .5 * (n[i * 3 + j] + n[j * 3 + i]) + (i == j ? extra : 0);
      for (int32_t k = 0; k < j; k++) sum -= l[i * 3 + k] * l[j * 3 + k];
      l[i * 3 + j] = i == j ? sqrt(cn_max(sum, extra)) : sum / l[j * 3 + j];
    }
  }
}

// x <- L^-1 x and x <- L^-T x
static void lower_solve(const double *l, double *x) {
  for (int32_t i = 0; i < 3; i++) {
    for (int32_t k = 0; k < i; k++) x[i] -= l[i * 3 + k] * x[k];
    x[i] /= l[i * 3 + i];
  }
}
static void upper_solve(const double *l, double *x) {
  for (int32_t i = 2; i >= 0; i--) {
    for (int32_t k = i + 1; k < 3; k++) x[i] -= l[k * 3 + i] * x[k];
    x[i] /= l[i * 3 + i];
  }
}

static int32_t slide_convex(const CniLocal *local, const double *q, double *x) {
  double l[9], j[9] = {0}, value[3], axes[9], p[3], y[3], mu = local->cone.mu[0];
  cholesky_3(local->n, l);

  // J in the basis of L, then by its eigenvectors: one negative value, two positive ones
  for (int32_t i = 0; i < 3; i++) {
    double e[3] = {i == 0 ? -mu * mu : 0, i == 1 ? 1 : 0, i == 2 ? 1 : 0};
    lower_solve(l, e);
    for (int32_t k = 0; k < 3; k++) j[k * 3 + i] = e[k];
  }
  for (int32_t i = 0; i < 3; i++) lower_solve(l, j + i * 3);
  cni_small_eigen(3, j, value, axes);
  int32_t first = value[1] < value[0] ? 1 : 0;
  if (value[2] < value[first]) first = 2;
  int32_t second = (first + 1) % 3, third = (first + 2) % 3;

  double f[3] = {q[0], q[1], q[2]};
  lower_solve(l, f);
  for (int32_t i = 0; i < 3; i++) p[i] = axes[i] * f[0] + axes[3 + i] * f[1] + axes[6 + i] * f[2];

  // the axis of the cone must point to g_n > 0
  double top[3] = {axes[first], axes[3 + first], axes[6 + first]};
  upper_solve(l, top);
  double sign = top[0] < 0 ? -1 : 1;
  ConvexSlide d = {.a = -value[first],
                   .b = value[second],
                   .c = value[third],
                   .p1 = sign * p[first],
                   .p2 = p[second],
                   .p3 = p[third]};
  d.beyond = d.p1 > 0;
  double w = cni_find_root(convex_excess, &d, 0, 1), s = 1 - w;
  convex_parts(&d, s);
  double y2 = d.beyond ? s * d.z2 : d.z2, y3 = d.beyond ? s * d.z3 : d.z3;
  y[first] = sign * sqrt((d.b * y2 * y2 + d.c * y3 * y3) / d.a);
  y[second] = y2;
  y[third] = y3;
  for (int32_t i = 0; i < 3; i++)
    x[i] = axes[i * 3] * y[0] + axes[i * 3 + 1] * y[1] + axes[i * 3 + 2] * y[2];
  upper_solve(l, x);
  cni_project_cone(&local->cone, x);

  // two changes of basis cost digits where N is stretched
  return cni_local_newton(local, q, x);
}

// N of full rank.
static int32_t solve_regular(const CniLocal *local, const double *q, double *x) {
  const CniCone *cone = &local->cone;
  if (dual_slack(local, q) >= 0) {
    for (int32_t i = 0; i < local->dim; i++) x[i] = 0;
    return 0;
  }
  if (stick(local, q, x)) return 0;

  // without friction in any disc only the normal is left
  double friction = 0;
  for (int32_t j = 0; j < cone->disc_count; j++) friction = cn_max(friction, cone->mu[j]);
  if (friction == 0) {
    for (int32_t i = 1; i < local->dim; i++) x[i] = 0;
    x[0] = cn_max(0, -q[0] / local->n[0]);
  } else if (local->dim == 2) {
    slide_plane(local, q, x);
  } else if (local->dim == 3 && !local->convex) {
    slide_coulomb(local, q, x);
  } else if (local->dim == 3 && local->symmetric) {
    return slide_convex(local, q, x);
  } else {
    return cni_local_newton(local, q, x);
  }
  return 0;
}

#define HARD_ROUNDS 4 // of them that take long: no more

int32_t cni_local_exact(const CniLocal *local, const double *q, double *x) {
  int32_t dim = local->dim, hard = 0;
  if (local->rank == dim) return solve_regular(local, q, x);
  CniLocal near = *local;
  double n[CNI_SMALL_SIZE], inverse[CNI_SMALL_SIZE], q_near[CNI_MAX_DIM], size = 0, trace = 0;
  for (int32_t i = 0; i < dim; i++) {
    trace += local->n[i * dim + i];
    size = cn_max(size, fabs(q[i]));
  }
  double d = 1e-5 * trace;
  for (int32_t i = 0; i < dim * dim; i++) n[i] = local->n[i] + (i % (dim + 1) == 0 ? d : 0);
  near.rank = (uint8_t)cni_small_inverse(dim, n, inverse);
  near.n = n;
  near.inverse = inverse;
  for (int32_t round = 0; round < 100 && hard < HARD_ROUNDS; round++) {
    double before[CNI_MAX_DIM], change = 0;
    for (int32_t i = 0; i < dim; i++) {
      before[i] = x[i];
      q_near[i] = q[i] - d * x[i];
    }
    hard += solve_regular(&near, q_near, x);
    for (int32_t i = 0; i < dim; i++) change = cn_max(change, fabs(x[i] - before[i]));
    if (d * change <= 1e-15 * size) break;
  }
  return hard;
}
