// SPDX-License-Identifier: Apache-2.0
#include "mechanisms.h"

#include <math.h>
#include <string.h>

#include "core/math.h"

#define G 9.81

// ---- frame ----

static CnStatus done(void *context, double t, const double *q, const double *v,
                     const CnAnswer *answer) {
  Mechanism *m = context;
  (void)answer;
  m->t = t;
  memcpy(m->q, q, (size_t)m->system.q_count * sizeof *q);
  memcpy(m->v, v, (size_t)m->system.v_count * sizeof *v);
  m->done_count++;
  return CN_OK;
}

static void begin(Mechanism *m, int32_t size, int32_t bilateral, int32_t contacts, int32_t dim) {
  memset(m, 0, sizeof *m);
  m->system.context = m;
  m->system.q_count = m->system.v_count = size;
  m->system.done = done;
  m->system.equations = &m->equations;
  m->equations.bilateral_count = bilateral;
  m->equations.contact_count = contacts;
  m->equations.contact_dim = dim;
  m->equations.laws = contacts ? m->laws : NULL;
}

static CnStatus unit_mass(void *context, double t, const double *q, double *mass) {
  const Mechanism *m = context;
  int32_t n = m->system.v_count;
  (void)t, (void)q;
  for (int32_t i = 0; i < n * n; i++) mass[i] = i % (n + 1) == 0;
  return CN_OK;
}

// Weight along the second coordinate.
static CnStatus weight(void *context, double t, const double *q, const double *v, double *f) {
  (void)context, (void)t, (void)q, (void)v;
  f[0] = 0;
  f[1] = -G;
  return CN_OK;
}

CnStatus mechanism_run(Mechanism *m, const CnIntegratorDef *def, CnSolver *solver, double t_end,
                       double h, CnIntegratorReport *report) {
  CnIntegrator *integrator;
  CnStatus status = cn_integrator_create(def, &integrator);
  if (status != CN_OK) return status;
  // t is counted, not added up
  int64_t count = (int64_t)floor((t_end - m->t) / h + 0.5);
  double start = m->t;
  for (int64_t i = 0; status == CN_OK && i < count; i++)
    status = cn_integrator_step(integrator, &m->system, solver, start + (double)i * h, m->q, m->v,
                                h, NULL);
  cn_integrator_report(integrator, report);
  cn_integrator_destroy(integrator);
  return status;
}

// ---- pendulum ----

static CnStatus circle_gap(void *context, double t, const double *q, double *g) {
  (void)context, (void)t;
  g[0] = (q[0] * q[0] + q[1] * q[1] - 1) / 2;
  return CN_OK;
}

static CnStatus circle_row(void *context, double t, const double *q, const int32_t *rows,
                           int32_t count, double *jacobian, double *rate) {
  (void)context, (void)t, (void)rows, (void)count, (void)rate;
  jacobian[0] = q[0];
  jacobian[1] = q[1];
  return CN_OK;
}

static CnStatus circle_curvature(void *context, double t, const double *q, const double *v,
                                 const int32_t *rows, int32_t count, double *curvature) {
  (void)context, (void)t, (void)q, (void)rows, (void)count;
  curvature[0] = v[0] * v[0] + v[1] * v[1];
  return CN_OK;
}

void mechanism_pendulum(Mechanism *m, double angle, double spin) {
  begin(m, 2, 1, 0, 1);
  m->equations.mass = unit_mass;
  m->equations.force = weight;
  m->equations.gaps = circle_gap;
  m->equations.jacobian = circle_row;
  m->equations.curvature = circle_curvature;
  m->q[0] = cni_sin(angle);
  m->q[1] = -cni_cos(angle);
  m->v[0] = spin * cni_cos(angle);
  m->v[1] = spin * cni_sin(angle);
}

// ---- four-bar ----

static const double bar1 = 1, bar3 = 2;
#define BAR2 (1 + sqrt(3))

static CnStatus bars_mass(void *context, double t, const double *q, double *m) {
  (void)context, (void)t;
  double c = BAR2 * cni_cos(q[0] - q[1]) / 2;
  double mass[9] = {4.0 / 3, c, 0, c, BAR2 * BAR2 / 3, 0, 0, 0, 4.0 / 3};
  memcpy(m, mass, sizeof mass);
  return CN_OK;
}

static CnStatus bars_force(void *context, double t, const double *q, const double *v, double *f) {
  (void)context, (void)t;
  double a = BAR2 * cni_sin(q[0] - q[1]) / 2;
  f[0] = 6 - a * v[1] * v[1];
  f[1] = a * v[0] * v[0];
  f[2] = 0;
  return CN_OK;
}

static CnStatus bars_gaps(void *context, double t, const double *q, double *g) {
  (void)context, (void)t;
  g[0] = bar1 * cni_cos(q[0]) + BAR2 * cni_cos(q[1]) - bar3 * cni_cos(q[2]) - 1;
  g[1] = bar1 * cni_sin(q[0]) + BAR2 * cni_sin(q[1]) - bar3 * cni_sin(q[2]);
  return CN_OK;
}

static CnStatus bars_rows(void *context, double t, const double *q, const int32_t *rows,
                          int32_t count, double *jacobian, double *rate) {
  (void)context, (void)t, (void)rate;
  const double length[3] = {bar1, BAR2, -bar3};
  for (int32_t k = 0; k < count; k++)
    for (int i = 0; i < 3; i++)
      jacobian[3 * k + i] = length[i] * (rows[k] == 0 ? -cni_sin(q[i]) : cni_cos(q[i]));
  return CN_OK;
}

static CnStatus bars_curvature(void *context, double t, const double *q, const double *v,
                               const int32_t *rows, int32_t count, double *curvature) {
  (void)context, (void)t;
  const double length[3] = {bar1, BAR2, -bar3};
  for (int32_t k = 0; k < count; k++) {
    curvature[k] = 0;
    for (int i = 0; i < 3; i++)
      curvature[k] -= length[i] * (rows[k] == 0 ? cni_cos(q[i]) : cni_sin(q[i])) * v[i] * v[i];
  }
  return CN_OK;
}

void mechanism_four_bar(Mechanism *m) {
  begin(m, 3, 2, 0, 1);
  m->equations.mass = bars_mass;
  m->equations.force = bars_force;
  m->equations.gaps = bars_gaps;
  m->equations.jacobian = bars_rows;
  m->equations.curvature = bars_curvature;
  m->q[0] = CNI_PI / 2;
  m->q[2] = CNI_PI / 6;
}

// ---- Andrews' squeezer ----

enum { BETA, THETA, GAMMA, PHI, DELTA, OMEGA, EPS };
static const double masses[7] = {.04325, .00365, .02373, .00706, .07050, .00706, .05498};
static const double inertias[7] = {2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7,
                                   1.169e-5, 5.667e-7, 1.912e-5};
static const double sq_d = .028, sq_da = .0115, sq_e = .02, sq_ea = .01421, sq_zf = .02,
                    sq_fa = .01421, sq_zt = .04, sq_ta = .02308, sq_tb = .00916, sq_rr = .007,
                    sq_ra = .00092, sq_ss = .035, sq_sa = .01874, sq_sb = .01043, sq_sc = .018,
                    sq_sd = .02, sq_u = .04, sq_ua = .01228, sq_ub = .00449, sq_xa = -.06934,
                    sq_ya = -.00227, sq_xb = -.03635, sq_yb = .03273, sq_xc = .014, sq_yc = .072,
                    sq_c0 = 4530, sq_l0 = .07785, sq_torque = .033;

static CnStatus squeezer_mass(void *context, double t, const double *q, double *m) {
  (void)context, (void)t;
  const double *mm = masses, *in = inertias;
  double ct = cni_cos(q[THETA]), sp = cni_sin(q[PHI]), so = cni_sin(q[OMEGA]);
  double e = sq_e - sq_ea, f = sq_zf - sq_fa;
  memset(m, 0, 49 * sizeof *m);
  m[0] = mm[0] * sq_ra * sq_ra + mm[1] * (sq_rr * sq_rr - 2 * sq_da * sq_rr * ct + sq_da * sq_da) +
         in[0] + in[1];
  m[1] = m[7] = mm[1] * (sq_da * sq_da - sq_da * sq_rr * ct) + in[1];
  m[8] = mm[1] * sq_da * sq_da + in[1];
  m[16] = mm[2] * (sq_sa * sq_sa + sq_sb * sq_sb) + in[2];
  m[24] = mm[3] * e * e + in[3];
  m[25] = m[31] = mm[3] * (e * e + sq_zt * e * sp) + in[3];
  m[32] = mm[3] * (sq_zt * sq_zt + 2 * sq_zt * e * sp + e * e) +
          mm[4] * (sq_ta * sq_ta + sq_tb * sq_tb) + in[3] + in[4];
  m[40] = mm[5] * f * f + in[5];
  m[41] = m[47] = mm[5] * (f * f - sq_u * f * so) + in[5];
  m[48] = mm[5] * (f * f - 2 * sq_u * f * so + sq_u * sq_u) +
          mm[6] * (sq_ua * sq_ua + sq_ub * sq_ub) + in[5] + in[6];
  return CN_OK;
}

static CnStatus squeezer_force(void *context, double t, const double *q, const double *v,
                               double *f) {
  (void)context, (void)t;
  double e = sq_e - sq_ea, zf = sq_zf - sq_fa;
  double sg = cni_sin(q[GAMMA]), cg = cni_cos(q[GAMMA]), st = cni_sin(q[THETA]);
  double xd = sq_sd * cg + sq_sc * sg + sq_xb - sq_xc;
  double yd = sq_sd * sg - sq_sc * cg + sq_yb - sq_yc;
  double length = sqrt(xd * xd + yd * yd), pull = -sq_c0 * (length - sq_l0) / length;
  double fx = pull * xd, fy = pull * yd;
  double cp = cni_cos(q[PHI]), co = cni_cos(q[OMEGA]);
  f[0] = sq_torque - masses[1] * sq_da * sq_rr * v[THETA] * (v[THETA] + 2 * v[BETA]) * st;
  f[1] = masses[1] * sq_da * sq_rr * v[BETA] * v[BETA] * st;
  f[2] = fx * (sq_sc * cg - sq_sd * sg) + fy * (sq_sd * cg + sq_sc * sg);
  f[3] = masses[3] * sq_zt * e * v[DELTA] * v[DELTA] * cp;
  f[4] = -masses[3] * sq_zt * e * v[PHI] * (v[PHI] + 2 * v[DELTA]) * cp;
  f[5] = -masses[5] * sq_u * zf * v[EPS] * v[EPS] * co;
  f[6] = masses[5] * sq_u * zf * v[OMEGA] * (v[OMEGA] + 2 * v[EPS]) * co;
  return CN_OK;
}

static CnStatus squeezer_gaps(void *context, double t, const double *q, double *g) {
  (void)context, (void)t;
  double bt = q[BETA] + q[THETA], pd = q[PHI] + q[DELTA], oe = q[OMEGA] + q[EPS];
  double x = sq_rr * cni_cos(q[BETA]) - sq_d * cni_cos(bt);
  double y = sq_rr * cni_sin(q[BETA]) - sq_d * cni_sin(bt);
  g[0] = x - sq_ss * cni_sin(q[GAMMA]) - sq_xb;
  g[1] = y + sq_ss * cni_cos(q[GAMMA]) - sq_yb;
  g[2] = x - sq_e * cni_sin(pd) - sq_zt * cni_cos(q[DELTA]) - sq_xa;
  g[3] = y + sq_e * cni_cos(pd) - sq_zt * cni_sin(q[DELTA]) - sq_ya;
  g[4] = x - sq_zf * cni_cos(oe) - sq_u * cni_sin(q[EPS]) - sq_xa;
  g[5] = y - sq_zf * cni_sin(oe) + sq_u * cni_cos(q[EPS]) - sq_ya;
  return CN_OK;
}

static CnStatus squeezer_rows(void *context, double t, const double *q, const int32_t *rows,
                              int32_t count, double *jacobian, double *rate) {
  (void)context, (void)t, (void)rate;
  double bt = q[BETA] + q[THETA], pd = q[PHI] + q[DELTA], oe = q[OMEGA] + q[EPS];
  double xb = -sq_rr * cni_sin(q[BETA]) + sq_d * cni_sin(bt), xt = sq_d * cni_sin(bt);
  double yb = sq_rr * cni_cos(q[BETA]) - sq_d * cni_cos(bt), yt = -sq_d * cni_cos(bt);
  double all[6][7] = {
      {xb, xt, -sq_ss * cni_cos(q[GAMMA]), 0, 0, 0, 0},
      {yb, yt, -sq_ss * cni_sin(q[GAMMA]), 0, 0, 0, 0},
      {xb, xt, 0, -sq_e * cni_cos(pd), -sq_e * cni_cos(pd) + sq_zt * cni_sin(q[DELTA]), 0, 0},
      {yb, yt, 0, -sq_e * cni_sin(pd), -sq_e * cni_sin(pd) - sq_zt * cni_cos(q[DELTA]), 0, 0},
      {xb, xt, 0, 0, 0, sq_zf * cni_sin(oe), sq_zf * cni_sin(oe) - sq_u * cni_cos(q[EPS])},
      {yb, yt, 0, 0, 0, -sq_zf * cni_cos(oe), -sq_zf * cni_cos(oe) - sq_u * cni_sin(q[EPS])}};
  for (int32_t k = 0; k < count; k++) memcpy(jacobian + 7 * k, all[rows[k]], sizeof all[0]);
  return CN_OK;
}

void mechanism_squeezer(Mechanism *m) {
  static const double start[7] = {-0.0617138900142764496, 0,
                                  0.455279819163070380,   0.222668390165885885,
                                  0.487364979543842550,   -0.222668390165885885,
                                  1.23054744454982119};
  begin(m, 7, 6, 0, 1);
  m->equations.mass = squeezer_mass;
  m->equations.force = squeezer_force;
  m->equations.gaps = squeezer_gaps;
  m->equations.jacobian = squeezer_rows;
  memcpy(m->q, start, sizeof start);
}

double mechanism_squeezer_energy(const Mechanism *m) {
  double mass[49], sum = 0;
  const double *q = m->q, *v = m->v;
  squeezer_mass(NULL, 0, q, mass);
  for (int i = 0; i < 7; i++)
    for (int j = 0; j < 7; j++) sum += 0.5 * v[i] * mass[7 * i + j] * v[j];
  double sg = cni_sin(q[GAMMA]), cg = cni_cos(q[GAMMA]);
  double xd = sq_sd * cg + sq_sc * sg + sq_xb - sq_xc;
  double yd = sq_sd * sg - sq_sc * cg + sq_yb - sq_yc;
  double stretch = sqrt(xd * xd + yd * yd) - sq_l0;
  return sum + 0.5 * sq_c0 * stretch * stretch - sq_torque * q[BETA];
}

// ---- blocks: data = half width, half height, inertia ----

static CnStatus block_mass(void *context, double t, const double *q, double *mass) {
  const Mechanism *m = context;
  (void)t, (void)q;
  double all[9] = {1, 0, 0, 0, 1, 0, 0, 0, m->data[2]};
  memcpy(mass, all, sizeof all);
  return CN_OK;
}

static CnStatus block_force(void *context, double t, const double *q, const double *v, double *f) {
  (void)context, (void)t, (void)q, (void)v;
  f[0] = f[2] = 0;
  f[1] = -G;
  return CN_OK;
}

// Corner k: 0 is A, z - H cos - B sin; 1 the other, z - H cos + B sin. In the plane turned by theta
// the corner at (-+B, -H) of the block lies at x -+ B cos + H sin.
static CnStatus block_gaps(void *context, double t, const double *q, double *g) {
  const Mechanism *m = context;
  (void)t;
  int32_t count = m->equations.bilateral_count + m->equations.contact_count;
  double c = cni_cos(q[2]), s = cni_sin(q[2]);
  for (int32_t k = 0; k < count; k++)
    g[k] = q[1] - m->data[1] * c + (k == 0 ? -1 : 1) * m->data[0] * s;
  return CN_OK;
}

static CnStatus block_rows(void *context, double t, const double *q, const int32_t *rows,
                           int32_t count, double *jacobian, double *rate) {
  const Mechanism *m = context;
  (void)t, (void)rate;
  double c = cni_cos(q[2]), s = cni_sin(q[2]), half = m->data[0], high = m->data[1];
  int32_t dim = m->equations.contact_dim;
  for (int32_t i = 0; i < count; i++) {
    int32_t corner = rows[i] / dim;
    double side = corner == 0 ? -1 : 1;
    double *row = jacobian + 3 * i;
    int tangent = rows[i] % dim == 1;
    row[0] = tangent;
    row[1] = !tangent;
    row[2] = tangent ? high * c - side * half * s : high * s + side * half * c;
  }
  return CN_OK;
}

static CnStatus block_curvature(void *context, double t, const double *q, const double *v,
                                const int32_t *rows, int32_t count, double *curvature) {
  const Mechanism *m = context;
  (void)t;
  double c = cni_cos(q[2]), s = cni_sin(q[2]), half = m->data[0], high = m->data[1];
  int32_t dim = m->equations.contact_dim;
  for (int32_t i = 0; i < count; i++) {
    double side = rows[i] / dim == 0 ? -1 : 1, w2 = v[2] * v[2];
    curvature[i] =
        w2 * (rows[i] % dim == 1 ? -high * s - side * half * c : high * c - side * half * s);
  }
  return CN_OK;
}

static void block(Mechanism *m, double half, double high) {
  m->equations.mass = block_mass;
  m->equations.force = block_force;
  m->equations.gaps = block_gaps;
  m->equations.jacobian = block_rows;
  m->equations.curvature = block_curvature;
  m->data[0] = half;
  m->data[1] = high;
  m->data[2] = (half * half + high * high) / 3;
}

void mechanism_rocking_corner(Mechanism *m) {
  begin(m, 3, 1, 0, 1);
  block(m, 0.5, 2);
  double theta = cni_atan2(0.5, 2) / 2, c = cni_cos(theta), s = cni_sin(theta);
  m->q[1] = 2 * c + 0.5 * s;
  m->q[2] = theta;
  m->v[2] = 0.5;
  m->v[1] = 0.5 * (0.5 * c - 2 * s);
}

void mechanism_housner(Mechanism *m, double theta0, double mu) {
  begin(m, 3, 0, 2, 2);
  block(m, 0.2, 1);
  m->laws[0].friction = m->laws[1].friction = mu;
  m->q[1] = cni_cos(theta0) + 0.2 * cni_sin(theta0);
  m->q[2] = theta0;
}

// ---- balls ----

static CnStatus ball_force(void *context, double t, const double *q, const double *v, double *f) {
  (void)context, (void)t, (void)q, (void)v;
  f[0] = -G;
  return CN_OK;
}

static CnStatus ball_gap(void *context, double t, const double *q, double *g) {
  (void)context, (void)t;
  g[0] = q[0];
  return CN_OK;
}

static CnStatus ball_row(void *context, double t, const double *q, const int32_t *rows,
                         int32_t count, double *jacobian, double *rate) {
  (void)context, (void)t, (void)q, (void)rows, (void)rate;
  if (count) jacobian[0] = 1;
  return CN_OK;
}

void mechanism_ball(Mechanism *m, double z0, double restitution) {
  begin(m, 1, 0, 1, 1);
  m->equations.mass = unit_mass;
  m->equations.force = ball_force;
  m->equations.gaps = ball_gap;
  m->equations.jacobian = ball_row;
  m->laws[0].restitution = restitution;
  m->q[0] = z0;
}

static CnStatus no_force(void *context, double t, const double *q, const double *v, double *f) {
  const Mechanism *m = context;
  (void)t, (void)q, (void)v;
  memset(f, 0, (size_t)m->system.v_count * sizeof *f);
  return CN_OK;
}

static CnStatus cradle_gaps(void *context, double t, const double *q, double *g) {
  (void)context, (void)t;
  g[0] = q[1] - q[0] - 1;
  g[1] = q[2] - q[1] - 1;
  return CN_OK;
}

static CnStatus cradle_rows(void *context, double t, const double *q, const int32_t *rows,
                            int32_t count, double *jacobian, double *rate) {
  (void)context, (void)t, (void)q, (void)rate;
  for (int32_t k = 0; k < count; k++)
    for (int i = 0; i < 3; i++) jacobian[3 * k + i] = i == rows[k] ? -1 : i == rows[k] + 1 ? 1 : 0;
  return CN_OK;
}

void mechanism_cradle(Mechanism *m, double restitution) {
  begin(m, 3, 0, 2, 1);
  m->equations.mass = unit_mass;
  m->equations.force = no_force;
  m->equations.gaps = cradle_gaps;
  m->equations.jacobian = cradle_rows;
  m->laws[0].restitution = m->laws[1].restitution = restitution;
  m->q[1] = 1;
  m->q[2] = 2;
  m->v[0] = 1;
}

// ---- woodpecker ----

static const double wp_ro = .0025, wp_rm = .0031, wp_hm = .0058, wp_lm = .010, wp_lg = .015,
                    wp_hs = .02, wp_ls = .0201, wp_mm = .0003, wp_ms = .0045, wp_jm = 5e-9,
                    wp_js = 7e-7, wp_c = .0056;

static CnStatus wood_mass(void *context, double t, const double *q, double *m) {
  (void)context, (void)t, (void)q;
  double all[9] = {wp_ms + wp_mm,
                   wp_ms * wp_lm,
                   wp_ms * wp_lg,
                   wp_ms * wp_lm,
                   wp_jm + wp_ms * wp_lm * wp_lm,
                   wp_ms * wp_lm * wp_lg,
                   wp_ms * wp_lg,
                   wp_ms * wp_lm * wp_lg,
                   wp_js + wp_ms * wp_lg * wp_lg};
  memcpy(m, all, sizeof all);
  return CN_OK;
}

static CnStatus wood_force(void *context, double t, const double *q, const double *v, double *f) {
  (void)context, (void)t, (void)v;
  f[0] = -(wp_ms + wp_mm) * G;
  f[1] = -wp_c * (q[1] - q[2]) - wp_ms * wp_lm * G;
  f[2] = -wp_c * (q[2] - q[1]) - wp_ms * wp_lg * G;
  return CN_OK;
}

static CnStatus wood_stiffness(void *context, double t, const double *q, const double *v, double *k,
                               double *c) {
  (void)context, (void)t, (void)q, (void)v;
  double all[9] = {0, 0, 0, 0, wp_c, -wp_c, 0, -wp_c, wp_c};
  memcpy(k, all, sizeof all);
  memset(c, 0, sizeof all);
  return CN_OK;
}

static CnStatus wood_gaps(void *context, double t, const double *q, double *g) {
  (void)context, (void)t;
  g[0] = wp_lm + wp_lg - wp_ls - wp_ro - wp_hs * q[2];
  g[1] = wp_rm - wp_ro + wp_hm * q[1];
  g[2] = wp_rm - wp_ro - wp_hm * q[1];
  return CN_OK;
}

static CnStatus wood_rows(void *context, double t, const double *q, const int32_t *rows,
                          int32_t count, double *jacobian, double *rate) {
  (void)context, (void)t, (void)q, (void)rate;
  static const double all[6][3] = {{0, 0, -.02},  {1, .010, .015 - .0201}, {0, .0058, 0},
                                   {1, .0031, 0}, {0, -.0058, 0},          {1, .0031, 0}};
  for (int32_t k = 0; k < count; k++) memcpy(jacobian + 3 * k, all[rows[k]], sizeof all[0]);
  return CN_OK;
}

void mechanism_woodpecker(Mechanism *m) {
  static const double q[3] = {0, -.1036, -.2788}, v[3] = {-.3411, 0, -7.4583};
  begin(m, 3, 0, 3, 2);
  m->equations.mass = wood_mass;
  m->equations.force = wood_force;
  m->equations.stiffness = wood_stiffness;
  m->equations.gaps = wood_gaps;
  m->equations.jacobian = wood_rows;
  for (int i = 0; i < 3; i++) m->laws[i].friction = .3;
  m->laws[0].restitution = .5;
  memcpy(m->q, q, sizeof q);
  memcpy(m->v, v, sizeof v);
}

// ---- surfaces in pieces ----

static CnStatus bowl_gaps(void *context, double t, const double *q, double *g) {
  (void)context, (void)t;
  g[0] = q[1];
  g[1] = q[1] - q[0] * q[0];
  return CN_OK;
}

static CnStatus bowl_rows(void *context, double t, const double *q, const int32_t *rows,
                          int32_t count, double *jacobian, double *rate) {
  (void)context, (void)t, (void)rate;
  for (int32_t k = 0; k < count; k++) {
    jacobian[2 * k] = rows[k] == 0 ? 0 : -2 * q[0];
    jacobian[2 * k + 1] = 1;
  }
  return CN_OK;
}

static CnStatus bowl_curvature(void *context, double t, const double *q, const double *v,
                               const int32_t *rows, int32_t count, double *curvature) {
  (void)context, (void)t, (void)q;
  for (int32_t k = 0; k < count; k++) curvature[k] = rows[k] == 0 ? 0 : -2 * v[0] * v[0];
  return CN_OK;
}

// Piece 0 where x >= 0 and piece 1 where x <= 0, or the other way round.
static void sides(void *context, double t, const double *q, double *domain) {
  const Mechanism *m = context;
  (void)t;
  domain[0] = m->data[0] * q[0];
  domain[1] = -m->data[0] * q[0];
}

void mechanism_bowl(Mechanism *m, double x, double speed) {
  begin(m, 2, 0, 2, 1);
  m->equations.mass = unit_mass;
  m->equations.force = weight;
  m->equations.gaps = bowl_gaps;
  m->equations.jacobian = bowl_rows;
  m->equations.curvature = bowl_curvature;
  m->equations.domains = sides;
  m->data[0] = 1;
  m->q[0] = x;
  m->v[0] = speed;
}

static const double edge_radius = .1;

static CnStatus edge_gaps(void *context, double t, const double *q, double *g) {
  (void)context, (void)t;
  g[0] = q[1] - edge_radius;
  g[1] = sqrt(q[0] * q[0] + q[1] * q[1]) - edge_radius;
  return CN_OK;
}

static CnStatus edge_rows(void *context, double t, const double *q, const int32_t *rows,
                          int32_t count, double *jacobian, double *rate) {
  (void)context, (void)t, (void)rate;
  double r = sqrt(q[0] * q[0] + q[1] * q[1]);
  for (int32_t k = 0; k < count; k++) {
    jacobian[2 * k] = rows[k] == 0 ? 0 : q[0] / r;
    jacobian[2 * k + 1] = rows[k] == 0 ? 1 : q[1] / r;
  }
  return CN_OK;
}

void mechanism_edge(Mechanism *m, double x, double speed) {
  begin(m, 2, 0, 2, 1);
  m->equations.mass = unit_mass;
  m->equations.force = weight;
  m->equations.gaps = edge_gaps;
  m->equations.jacobian = edge_rows;
  m->equations.domains = sides;
  m->data[0] = -1;
  m->q[0] = x;
  m->q[1] = edge_radius;
  m->v[0] = speed;
}

// ---- friction: data = stiffness, speed of the far end ----

static CnStatus slider_force(void *context, double t, const double *q, const double *v, double *f) {
  const Mechanism *m = context;
  (void)v;
  f[0] = m->data[0] * (m->data[1] * t - q[0]);
  f[1] = -G;
  return CN_OK;
}

static CnStatus slider_gap(void *context, double t, const double *q, double *g) {
  (void)context, (void)t;
  g[0] = q[1];
  return CN_OK;
}

static CnStatus slider_rows(void *context, double t, const double *q, const int32_t *rows,
                            int32_t count, double *jacobian, double *rate) {
  (void)context, (void)t, (void)q, (void)rate;
  for (int32_t k = 0; k < count; k++) {
    jacobian[2 * k] = rows[k] == 1;
    jacobian[2 * k + 1] = rows[k] == 0;
  }
  return CN_OK;
}

void mechanism_slider(Mechanism *m, double mu, double stiffness, double speed) {
  begin(m, 2, 0, 1, 2);
  m->equations.mass = unit_mass;
  m->equations.force = slider_force;
  m->equations.gaps = slider_gap;
  m->equations.jacobian = slider_rows;
  m->laws[0].friction = mu;
  m->data[0] = stiffness;
  m->data[1] = speed;
}

static CnStatus oscillator_force(void *context, double t, const double *q, const double *v,
                                 double *f) {
  (void)context;
  double r2 = q[0] * q[0] + q[1] * q[1];
  f[0] = -q[0] * (1 + r2) - 0.1 * v[0] + cni_sin(t);
  f[1] = -2 * q[1] * (1 + r2) - 0.1 * v[1];
  return CN_OK;
}

void mechanism_oscillator(Mechanism *m) {
  begin(m, 2, 0, 0, 1);
  m->equations.mass = unit_mass;
  m->equations.force = oscillator_force;
  m->q[0] = 1;
  m->v[1] = 1;
}
