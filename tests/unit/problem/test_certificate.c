// SPDX-License-Identifier: Apache-2.0
// The certificate on answers known in closed form, on answers made wrong in a known way, and on
// problems whose unit of impulse is changed.
#include "check.h"
#include "lattice.h"
#include "scenes.h"

#include "core/vec.h"
#include "problem/certificate/reduction.h"

#include <string.h>

#define G_N BALL_IMPULSE
#define SCALE (1 / BALL_MASS * (1 + 2 * 3.5) / 3) // trace(N)/3 of the ball: 1/m (1, 7/2, 7/2)

// The exact answer of the ball on the ground.
static CnAnswer ball_answer(const CnProblem *p, double speed) {
  CnAnswer a = answer_for(p);
  double stick = -speed * BALL_MASS / 3.5, slide = -BALL_MU * G_N;
  a.g[0] = G_N;
  a.g[1] = stick > slide ? stick : slide;
  answer_update(p, &a);
  return a;
}

static void exact_answers(void **state) {
  (void)state;
  for (int32_t storage = CNI_ROWS; storage <= CNI_SPHERE; storage++)
    for (double speed = 0; speed < 2; speed += 0.05) {
      CnProblem *p = ball_on_ground_as(speed, (CniStorage)storage, CN_FRICTION_COULOMB);
      CnAnswer a = ball_answer(p, speed);
      CnCertificate c = certify(p, &a);
      CHECK(c.residual_speed < 1e-15);
      CHECK(c.residual < 1e-14);
      CHECK(c.error_siconos < 1e-14);
      CHECK(c.error_scaled < 1e-14);
      CHECK_NEAR(c.gap_speed, 0, 1e-16);
      CHECK_NEAR(c.cone, 0, 1e-16);
      CHECK_NEAR(c.complementarity, 0, 1e-16);
      CHECK(c.momentum_defect < 1e-15);
      CHECK_NEAR(c.joint_speed, 0, 0);
      // kinetic energy lost to the impulses, by hand: -g_t (u_t + u_t_old)/2, u_t_old = speed and
      // the normal part -g_n (0 + 0)/2
      CHECK_NEAR(c.dissipation, -a.g[1] * (a.u[1] + speed) / 2, 1e-16);
      cn_answer_release(&a);
      cn_problem_destroy(p);
    }
}

// Too small a normal impulse in a sliding contact: with g = (f G_N, -mu f G_N) the ball sinks at
// u_n = -(1 - f) G_N / m and the friction cone is met, so that only the normal law is broken. The
// expected residual is the definition written out.
static void perturbed_normal(void **state) {
  (void)state;
  double f = 0.9;
  CnProblem *p = ball_on_ground(1.0);
  CnAnswer a = answer_for(p);
  a.g[0] = f * G_N;
  a.g[1] = -BALL_MU * a.g[0];
  answer_update(p, &a);
  double u_n = -(1 - f) * G_N / BALL_MASS, u_t = 1 - 3.5 * BALL_MU * f * G_N / BALL_MASS;
  double x_n = a.g[0] - (u_n + BALL_MU * u_t) / SCALE, x_t = a.g[1] - u_t / SCALE;
  // (x_n, x_t) lies outside the cone: onto its side, |x_t| = mu n
  double n = (x_n + BALL_MU * fabs(x_t)) / (1 + BALL_MU * BALL_MU), t = -BALL_MU * n;
  double speed = SCALE * sqrt((a.g[0] - n) * (a.g[0] - n) + (a.g[1] - t) * (a.g[1] - t));
  CnCertificate c = certify(p, &a);
  CHECK_REL(c.residual_speed, speed, 1e-13);
  CHECK_REL(c.residual, speed / sqrt(1 + 0.0981 * 0.0981), 1e-13);
  CHECK_REL(c.gap_speed, -u_n, 1e-13);
  CHECK_NEAR(c.cone, 0, 1e-16);
  CHECK_REL(c.complementarity, fabs(a.g[0] * (u_n + BALL_MU * u_t) + a.g[1] * u_t), 1e-13);
  CHECK(c.worst_block == 0);
  CHECK(c.momentum_defect < 1e-15);
  cn_answer_release(&a);
  cn_problem_destroy(p);
}

// Frictionless, so that everything can be done by hand: g_n = 0 leaves the free velocity.
static void no_impulse(void **state) {
  (void)state;
  CnProblem *p = ball_on_ground(0);
  CnAnswer a = answer_for(p);
  CnCertificate c = certify(p, &a);
  CHECK_REL(c.residual_speed, 0.0981, 1e-15);
  CHECK_REL(c.residual, 1, 1e-15);
  CHECK_REL(c.gap_speed, 0.0981, 1e-15);
  CHECK_REL(c.error_scaled, 1, 1e-15);
  CHECK_NEAR(c.complementarity, 0, 0);
  CHECK_NEAR(c.dissipation, 0, 0);
  cn_answer_release(&a);
  cn_problem_destroy(p);
}

// Friction beyond the cone.
static void outside_the_cone(void **state) {
  (void)state;
  CnProblem *p = ball_on_ground(1.0);
  CnAnswer a = ball_answer(p, 1.0);
  a.g[1] *= 1.5;
  answer_update(p, &a);
  CnCertificate c = certify(p, &a);
  CHECK_REL(c.cone, 0.5 * BALL_MU * G_N, 1e-13);
  CHECK(c.residual > 1e-3);
  a.g[0] = -0.1;
  a.g[1] = 0;
  answer_update(p, &a);
  CHECK_REL(certify(p, &a).cone, 0.1, 1e-15);
  cn_answer_release(&a);
  cn_problem_destroy(p);
}

// A velocity that does not belong to the impulses.
static void wrong_velocity(void **state) {
  (void)state;
  CnProblem *p = ball_on_ground(1.0);
  CnAnswer a = ball_answer(p, 1.0);
  a.v[6] += 0.01;
  CnCertificate c = certify(p, &a);
  CHECK_REL(c.momentum_defect, 0.01 * BALL_MASS / (1.0 * BALL_MASS), 1e-12);
  CHECK(c.error_siconos > 1e-3);
  a = (cn_answer_release(&a), ball_answer(p, 1.0));
  a.v[6 + 4] += 0.01; // spin about y: 0.008 kg m^2
  CHECK_REL(certify(p, &a).momentum_defect, 0.01 * 0.008 / 2, 1e-12);
  // the ground must stand
  a.v[2] = 1e-9;
  c = certify(p, &a);
  CHECK(isinf(c.momentum_defect) && isinf(c.error_siconos));
  cn_answer_release(&a);
  cn_problem_destroy(p);
}

// A pendulum's bilateral rows, not yet solved: the joint moves at the free velocity.
static void joints(void **state) {
  (void)state;
  CnProblem *p = chain_of_rows(1);
  CnAnswer a = answer_for(p);
  CnCertificate c = certify(p, &a);
  CHECK_REL(c.joint_speed, 0.0981, 1e-14);
  CHECK_REL(c.residual_speed, 0.0981, 1e-14);
  CHECK_NEAR(c.gap_speed, 0, 0);
  // at the left end of a ball of radius 0.1 m: N = 1/m + R^2/J = 3.5
  a.g[2] = 0.0981 / 3.5;
  answer_update(p, &a);
  c = certify(p, &a);
  CHECK(c.residual < 1e-14);
  CHECK(c.joint_speed < 1e-15);
  cn_answer_release(&a);
  cn_problem_destroy(p);
}

// One ball, one row along z, of the given kind.
static CnProblem *one_row(const CnSet *set, double b) {
  CnProblemDef def = cn_problem_def_default();
  CnProblem *p = NULL;
  CnGroupDef group = cn_group_def_default();
  CHECK_OK(cn_problem_create(&def, &p));
  group.inv_mass = 0.5;
  group.inv_inertia = cn_sdiag(10, 10, 10);
  group.free.velocity = cn_vec3(0, 0, -1);
  CHECK_OK(cn_problem_add_group(p, &group, NULL));
  CHECK_OK(cn_problem_add_set(p, set, NULL));
  CnRowEntry entry = {0, 0, {{0, 0, 1}, {0, 0, 0}}};
  CHECK_OK(cn_problem_add_rows(p, 0, 1, &entry, 1, &b, NULL));
  return p;
}

static CnCertificate one_row_answer(const CnSet *set, double b, double g) {
  CnProblem *p = one_row(set, b);
  CnAnswer a = answer_for(p);
  a.g[0] = g;
  answer_update(p, &a);
  CnCertificate c = certify(p, &a);
  cn_answer_release(&a);
  cn_problem_destroy(p);
  return c;
}

// A brake that can give at most 1 N s against 2 kg at 1 m/s: u = -1 + g/2.
static void intervals(void **state) {
  (void)state;
  CnSet set = cn_set_default(CN_BLOCK_INTERVAL);
  set.lo = -1;
  set.hi = 1;
  CnCertificate c = one_row_answer(&set, 0, 1);
  CHECK_NEAR(c.residual, 0, 1e-15);
  CHECK_NEAR(c.complementarity, 0, 1e-15);
  CHECK_NEAR(c.cone, 0, 0);
  c = one_row_answer(&set, 0, 0.5); // u = -0.75 although there is room up to 1
  CHECK_REL(c.complementarity, 0.5 * 0.75, 1e-14);
  CHECK_REL(c.residual_speed, 0.5 * 0.5, 1e-14);
  c = one_row_answer(&set, 0, 1.5);
  CHECK_REL(c.cone, 0.5, 1e-14);
  set.hi = 3; // strong enough: u = 0 at g = 2
  CHECK_NEAR(one_row_answer(&set, 0, 2).residual, 0, 1e-15);
  set.lo = -INFINITY; // no bounds: a joint
  set.hi = INFINITY;
  c = one_row_answer(&set, 0, 2);
  CHECK_NEAR(c.residual, 0, 1e-15);
  CHECK_NEAR(c.complementarity, 0, 1e-15);
  c = one_row_answer(&set, 0, 1);
  CHECK_REL(c.complementarity, 0.5, 1e-14);
  CHECK_REL(c.residual_speed, 0.5, 1e-14);
}

// A compliant row: u = -1 + g/2 + C g, zero at g = 1/(1/2 + C).
static void compliance(void **state) {
  (void)state;
  CnSet set = cn_set_default(CN_BLOCK_UNILATERAL);
  set.compliance[0] = 0.25;
  CnCertificate c = one_row_answer(&set, 0, 1 / 0.75);
  CHECK_NEAR(c.residual, 0, 1e-15);
  c = one_row_answer(&set, 0, 2); // where it would be without compliance: u = 0.5
  CHECK_REL(c.residual_speed, 0.5, 1e-14);
}

// A cohesive contact pulled by 1 N s less than its cohesion holds with u = 0.
static void cohesion(void **state) {
  (void)state;
  CnSet set = cn_set_default(CN_BLOCK_FRICTION);
  CnProblem *p = ball_on_ground(0);
  set.mu = BALL_MU;
  set.cohesion = 1 + G_N;
  p->sets[0] = set;
  p->groups[1].v = cn_vec3(0, 0, 0.5); // pulled up by 1 N s
  CnAnswer a = answer_for(p);
  a.g[0] = -1;
  a.g[1] = BALL_MU * G_N / 2; // inside the shifted cone, radius mu (g_n + c)
  p->groups[1].v.x = -a.g[1] * 3.5 / BALL_MASS;
  answer_update(p, &a);
  CnCertificate c = certify(p, &a);
  CHECK(c.residual < 1e-15);
  CHECK_NEAR(c.cone, 0, 0);
  CHECK(c.complementarity < 1e-16);
  a.g[0] = -1 - 2 * G_N; // more than it can hold
  answer_update(p, &a);
  c = certify(p, &a);
  CHECK_REL(c.cone, G_N, 1e-12); // g_n + c = -G_N, worse than the disc
  CHECK(c.residual > 1e-3);
  cn_answer_release(&a);
  cn_problem_destroy(p);
}

// Both models of friction: the convex answer floats at u_n = mu u_t.
static void convex_model(void **state) {
  (void)state;
  // u = (u_n, u_t) normal to g = g_n (1, -mu): u_n = mu u_t, with u_n = -0.0981 + g_n/m and
  // u_t = 1 - 3.5 mu g_n/m
  double speed = 1, g_n = BALL_MASS * (0.0981 + BALL_MU * speed) / (1 + 3.5 * BALL_MU * BALL_MU);
  for (int32_t model = CN_FRICTION_COULOMB; model <= CN_FRICTION_CONVEX; model++) {
    CnProblem *p = ball_on_ground_as(speed, CNI_PAIR, (CnFrictionModel)model);
    CnAnswer a = answer_for(p);
    a.g[0] = g_n;
    a.g[1] = -BALL_MU * g_n;
    answer_update(p, &a);
    CnCertificate c = certify(p, &a);
    if (model == CN_FRICTION_CONVEX)
      CHECK(c.residual < 1e-14);
    else
      CHECK(c.residual > 1e-2);
    cn_answer_release(&a);
    cn_problem_destroy(p);
  }
}

// ---- explicit problems ----

static CnProblem *explicit_problem(const double *w, const double *q, int32_t n, const CnSet *set,
                                   int32_t dim) {
  int32_t start[8], column[49];
  CnProblemDef def = cn_problem_def_default();
  def.form = CN_FORM_EXPLICIT;
  CnProblem *p = NULL;
  CHECK_OK(cn_problem_create(&def, &p));
  for (int32_t i = 0; i <= n; i++) start[i] = i * n;
  for (int32_t i = 0; i < n * n; i++) column[i] = i % n;
  CnSparse matrix = {n, n, start, column, (double *)(uintptr_t)w};
  CHECK_OK(cn_problem_set_explicit(p, &matrix, q));
  CHECK_OK(cn_problem_add_set(p, set, NULL));
  for (int32_t i = 0; i < n; i += dim) CHECK_OK(cn_problem_add_explicit(p, 0, dim, NULL));
  return p;
}

// w = M z + q with M = [2 1; 1 2], q = (-5, -6): z = (4/3, 7/3). LCPs have S = 1 and are measured
// by |q|.
static void linear_complementarity(void **state) {
  (void)state;
  double w[4] = {2, 1, 1, 2}, q[2] = {-5, -6};
  CnSet set = cn_set_default(CN_BLOCK_UNILATERAL);
  CnProblem *p = explicit_problem(w, q, 2, &set, 1);
  CnAnswer a = answer_for(p);
  a.g[0] = 4.0 / 3;
  a.g[1] = 7.0 / 3;
  CHECK(certify(p, &a).error_siconos < 1e-15);
  CHECK(certify(p, &a).residual < 1e-15);
  // z = (1, 2): w = (-1, -1), z - max(0, z - w) = (-1, -1)
  a.g[0] = 1;
  a.g[1] = 2;
  CnCertificate c = certify(p, &a);
  CHECK_REL(c.error_siconos, sqrt(2 / 61.0), 1e-14);
  CHECK_REL(c.residual_speed, 1, 1e-14);
  CHECK_REL(c.residual, 1 / 6.0, 1e-14);
  CHECK_REL(c.gap_speed, 1, 1e-14);
  CHECK_REL(c.complementarity, 2, 1e-14);
  CHECK(c.worst_block == 0);
  // z = (1, 6): w = (3, 7), both larger than z: z - max(0, z - w) = z only if S is 1, not W_ii = 2
  a.g[0] = 1;
  a.g[1] = 6;
  c = certify(p, &a);
  CHECK_REL(c.residual_speed, 6, 1e-14);
  CHECK_REL(c.error_siconos, sqrt(37 / 61.0), 1e-14);
  CHECK(c.worst_block == 1);
  cn_answer_release(&a);
  cn_problem_destroy(p);
}

// One contact with W = 2 I and mu = 0.5, q = (-1, 3, 0) sliding: g_n = 1/2, g_t = -1/4, u =
// (0, 2.5).
static void friction_contact(void **state) {
  (void)state;
  double w[9] = {2, 0, 0, 0, 2, 0, 0, 0, 2}, q[3] = {-1, 3, 0};
  CnSet set = cn_set_default(CN_BLOCK_FRICTION);
  set.mu = 0.5;
  CnProblem *p = explicit_problem(w, q, 3, &set, 3);
  CnAnswer a = answer_for(p);
  a.g[0] = 0.5;
  a.g[1] = -0.25;
  CnCertificate c = certify(p, &a);
  CHECK(c.residual < 1e-15 && c.error_siconos < 1e-15 && c.error_scaled < 1e-15);
  CHECK_NEAR(c.momentum_defect, 0, 0);
  // no impulse: u = q, z = -(q + mu|q_t| n) = (-0.5, -3, 0): n = (-0.5 + 1.5)/1.25 = 0.8, t = -0.4
  a.g[0] = a.g[1] = 0;
  c = certify(p, &a);
  CHECK_REL(c.error_siconos, sqrt(0.8 / 10), 1e-14);
  CHECK_REL(c.residual_speed, sqrt(0.8), 1e-14);
  CHECK_REL(c.residual, sqrt(0.8 / 10), 1e-14);
  cn_answer_release(&a);
  cn_problem_destroy(p);
}

// Impulses counted in another unit: W/c, g c, cohesion and bounds c. What is measured in velocities
// stays, error_siconos does not.
static void unit_of_impulse(void **state) {
  (void)state;
  double w[9] = {2, 0.3, 0, 0.3, 1, 0.1, 0, 0.1, 3}, q[3] = {-1, 3, 0.5}, c = 1e6, scaled[9];
  double g[3] = {0.7, -0.2, 0.1};
  CnCertificate found[2];
  for (int32_t i = 0; i < 9; i++) scaled[i] = w[i] / c;
  for (int32_t i = 0; i < 2; i++) {
    CnSet set = cn_set_default(CN_BLOCK_FRICTION);
    set.mu = 0.5;
    set.cohesion = i == 0 ? 0.1 : 0.1 * c;
    CnProblem *p = explicit_problem(i == 0 ? w : scaled, q, 3, &set, 3);
    CnAnswer a = answer_for(p);
    for (int32_t d = 0; d < 3; d++) a.g[d] = i == 0 ? g[d] : c * g[d];
    found[i] = certify(p, &a);
    cn_answer_release(&a);
    cn_problem_destroy(p);
  }
  CHECK(found[0].error_scaled > 1e-2);
  CHECK_REL(found[1].error_scaled, found[0].error_scaled, 1e-12);
  CHECK_REL(found[1].residual, found[0].residual, 1e-12);
  CHECK_REL(found[1].residual_speed, found[0].residual_speed, 1e-12);
  CHECK(fabs(found[1].error_siconos - found[0].error_siconos) > 0.5 * found[0].error_siconos);
}

// The two forms of one problem agree on everything that both know.
static void both_forms_agree(void **state) {
  (void)state;
  CniRng rng = {5};
  for (int32_t round = 0; round < 30; round++) {
    RandomProblem how = random_problem_default();
    how.friction = round % 2 ? CN_FRICTION_CONVEX : CN_FRICTION_COULOMB;
    CnProblem *p = random_problem(&rng, &how), *w = NULL;
    CHECK_OK(cn_problem_to_explicit(p, &w));
    CnAnswer a = answer_for(p), b = answer_for(w);
    for (int32_t i = 0; i < a.row_count; i++) a.g[i] = b.g[i] = cni_rng_range(&rng, -0.5, 1);
    answer_update(p, &a);
    CnCertificate one = certify(p, &a), two = certify(w, &b);
    CHECK_REL(two.residual, one.residual, 1e-11);
    CHECK_REL(two.residual_speed, one.residual_speed, 1e-11);
    CHECK_REL(two.error_scaled, one.error_scaled, 1e-11);
    CHECK_REL(two.gap_speed, one.gap_speed, 1e-11);
    CHECK_REL(two.joint_speed, one.joint_speed, 1e-11);
    CHECK_REL(two.cone, one.cone, 1e-11);
    CHECK_REL(two.complementarity, one.complementarity, 1e-11);
    CHECK(two.worst_block == one.worst_block);
    CHECK(one.momentum_defect < 1e-13);
    cn_answer_release(&a);
    cn_answer_release(&b);
    cn_problem_destroy(p);
    cn_problem_destroy(w);
  }
}

// The residuals by their definition, from the projections, for all kinds of blocks.
static void check_definition(CnProblem *p, const CnAnswer *a, const CnCertificate *c) {
  double speed = 0, r_max = 0, e2 = 0, size2[3] = {0}, free[6 * 64];
  for (int32_t i = 0; i < p->group_count; i++) {
    CnTwist twist = cni_group_free(&p->groups[i]);
    memcpy(free + 6 * i, &twist, sizeof twist);
  }
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    const double *g = a->g + block->row, *u = a->u + block->row;
    double n[36], trace = 0, own = 0, r2 = 0, r[CNI_MAX_DIM], x[CNI_MAX_DIM], y[CNI_MAX_DIM];
    memcpy(r, p->b + block->row, sizeof(double) * block->dim);
    cni_storages[block->storage].diagonal(p, block, n);
    if (p->form == CN_FORM_STEP) cni_storages[block->storage].velocity(p, block, free, r);
    for (int32_t d = 0; d < block->dim; d++) trace += n[d * block->dim + d];
    double scale = trace / block->dim;
    for (int32_t d = 0; d < block->dim; d++) {
      double w = u[d] + (d == 0 ? cni_shift(p, block, u) : 0);
      x[d] = g[d] - w / scale;
      y[d] = g[d] - w;
    }
    cni_project(p, block, x);
    cni_project(p, block, y);
    for (int32_t d = 0; d < block->dim; d++) {
      own += (scale * (g[d] - x[d])) * (scale * (g[d] - x[d]));
      e2 += (g[d] - y[d]) * (g[d] - y[d]);
      r2 += r[d] * r[d];
      size2[0] += u[d] * u[d];
      size2[1] += g[d] * g[d];
    }
    size2[2] += r2;
    speed = cn_max(speed, sqrt(own));
    r_max = cn_max(r_max, sqrt(r2));
  }
  CHECK_REL(c->residual_speed, speed, 1e-12);
  CHECK_REL(c->residual, speed / r_max, 1e-12);
  double size = sqrt(cn_max(size2[0], size2[1]));
  if (p->form == CN_FORM_EXPLICIT) size = cn_max(size, sqrt(size2[2]));
  CHECK_NEAR(c->error_siconos, sqrt(e2) / size, 1e-12 * (1 + sqrt(e2) / size));
}

static void definition(void **state) {
  (void)state;
  CniRng rng = {7};
  for (int32_t round = 0; round < 60; round++) {
    RandomProblem how = random_problem_default();
    how.friction = round % 2 ? CN_FRICTION_CONVEX : CN_FRICTION_COULOMB;
    if (round % 3 == 0) how.kinds = 1u << CN_BLOCK_FRICTION;
    CnProblem *p = random_problem(&rng, &how), *w = NULL;
    CHECK_OK(cn_problem_to_explicit(p, &w));
    CnAnswer a = answer_for(p), b = answer_for(w);
    for (int32_t i = 0; i < a.row_count; i++) a.g[i] = b.g[i] = cni_rng_range(&rng, -0.2, 0.2);
    for (int32_t i = 0; i < p->block_count; i++) {
      // some answers on the cone, some at its tip
      if (i % 4 > 1) cni_project(p, &p->blocks[i], a.g + p->blocks[i].row);
      if (i % 4 > 1) cni_project(w, &w->blocks[i], b.g + w->blocks[i].row);
    }
    answer_update(p, &a);
    cni_problem_velocity(w, NULL, b.g, b.u);
    CnCertificate one = certify(p, &a), two = certify(w, &b);
    check_definition(p, &a, &one);
    check_definition(w, &b, &two);
    cn_answer_release(&a);
    cn_answer_release(&b);
    cn_problem_destroy(p);
    cn_problem_destroy(w);
  }
}

// Any number of workers gives the bits of one.
static void check_workers(CnProblem *p, CnAnswer *a, const CnCertificate *one) {
  CnAllocator allocator = cn_allocator_default();
  for (int32_t workers = 2; workers <= 4; workers++) {
    CHECK_OK(cn_tasks_create(workers, NULL, &allocator, &p->tasks));
    CnCertificate many = certify(p, a);
    assert_memory_equal(&many, one, sizeof *one);
    cn_tasks_destroy(p->tasks);
  }
  p->tasks = NULL;
}

// Problems with so many blocks, or groups, that they are taken in parts.
static void many_parts(void **state) {
  (void)state;
  CniRng rng = {5};
  RandomProblem how = random_problem_default();
  how.group_count = 60;
  how.block_count = 9000;
  Lattice pile = lattice_default();
  pile.side = pile.layers = 18;
  CnProblem *problems[2] = {random_problem(&rng, &how), lattice_problem(&pile)};
  for (int32_t k = 0; k < 2; k++) {
    CnAnswer a = answer_for(problems[k]);
    for (int32_t i = 0; i < a.row_count; i++) a.g[i] = cni_rng_range(&rng, -0.2, 0.2);
    answer_update(problems[k], &a);
    CnCertificate one = certify(problems[k], &a);
    if (k == 0) check_definition(problems[k], &a, &one);
    check_workers(problems[k], &a, &one);
    cn_answer_release(&a);
    cn_problem_destroy(problems[k]);
  }
}

// Runs of contacts between spheres: every level of wide arithmetic gives the same bits, and what
// the general functions give block by block; lanes after the last contact count for nothing.
static void check_run(const CnProblem *p, const CnAnswer *a, int32_t count) {
  static const CniSimdLevel levels[] = {CNI_SIMD_LEVEL_PLAIN, CNI_SIMD_LEVEL_SSE2,
                                        CNI_SIMD_LEVEL_AVX2, CNI_SIMD_LEVEL_AVX512,
                                        CNI_SIMD_LEVEL_NEON};
  const CnSet *set = &p->sets[p->blocks[0].set];
  static double u[3 * 64], impulse[3 * 64], first_u[3 * 64];
  CniSphereRun run = {.spheres = p->spheres,
                      .groups = p->groups,
                      .v = a->v,
                      .g = a->g,
                      .b = p->b,
                      .u = u,
                      .impulse = impulse,
                      .mu = set->mu,
                      .cohesion = set->cohesion,
                      .c_n = set->compliance[0],
                      .c_t = set->compliance[1],
                      .coulomb = p->friction == CN_FRICTION_COULOMB,
                      .all_b = 1,
                      .count = count};
  CniReductionLanes plain = {.e2 = {0}};
  _Alignas(64) double first[CNI_REDUCTION_LANES] = {0};
  for (size_t k = 0; k < sizeof levels / sizeof levels[0]; k++) {
    if (levels[k] > cni_simd_level() || !cni_reduction_kernels(levels[k])) continue;
    const CniReductionKernels *kernels = cni_reduction_kernels(levels[k]);
    CniReductionLanes t = {.e2 = {0}};
    _Alignas(64) double sum[CNI_REDUCTION_LANES] = {0};
    kernels->reduction(&run, &t);
    kernels->natural(&run, 2.5, sum);
    if (k == 0) {
      plain = t;
      memcpy(first, sum, sizeof sum);
      memcpy(first_u, u, sizeof u);
    }
    CHECK(memcmp(&plain, &t, sizeof t) == 0);
    CHECK(memcmp(first, sum, sizeof sum) == 0);
    CHECK(memcmp(first_u, u, 3 * (size_t)count * sizeof *u) == 0);
  }
  CniReduction t = {.c = {.worst_block = -1}};
  double e2 = 0, lanes[5] = {0}, e2_max = 0;
  for (int32_t i = 0; i < count; i++) {
    double r[3], own[3];
    memcpy(r, p->b + 3 * i, sizeof r);
    cni_storages[CNI_SPHERE].free(p, &p->blocks[i], r);
    for (int32_t d = 0; d < 3; d++)
      own[d] = p->b[3 * i + d] + set->compliance[d > 0] * a->g[3 * i + d];
    cni_storages[CNI_SPHERE].velocity(p, &p->blocks[i], a->v, own);
    for (int32_t d = 0; d < 3; d++) CHECK_NEAR(u[3 * i + d], own[d], 1e-13);
    cni_reduce_block(p, i, a->g + 3 * i, own, r, &t);
    e2 += cni_block_natural2(p, &p->blocks[i], a->g + 3 * i, own, 2.5);
  }
  for (int32_t i = 0; i < CNI_REDUCTION_LANES; i++) {
    lanes[0] += plain.e2[i];
    lanes[1] += plain.u2[i];
    lanes[2] += plain.g2[i];
    lanes[3] += plain.r2[i];
    lanes[4] += first[i];
    e2_max = cn_max(e2_max, plain.e2_max[i]);
  }
  CHECK_REL(lanes[0], t.e2, 1e-12);
  CHECK_REL(lanes[1], t.u2, 1e-12);
  CHECK_REL(lanes[2], t.g2, 1e-12);
  CHECK_REL(lanes[3], t.r2, 1e-12);
  CHECK_REL(lanes[4], e2, 1e-12);
  CHECK_REL(e2_max, t.e2_max, 1e-12);
}

static void runs_of_spheres(void **state) {
  (void)state;
  CniRng rng = {9};
  for (int32_t round = 0; round < 24; round++) {
    Lattice pile = lattice_default();
    pile.side = pile.layers = 4;
    pile.storages = 1u << CNI_SPHERE;
    pile.friction = round % 2 ? CN_FRICTION_CONVEX : CN_FRICTION_COULOMB;
    CnProblem *p = lattice_problem(&pile);
    CnSet *set = &p->sets[p->blocks[0].set];
    for (int32_t i = 0; i < p->block_count; i++) p->blocks[i].set = p->blocks[0].set;
    if (round % 3 == 1) set->cohesion = .05;
    if (round % 3 == 2) set->compliance[0] = set->compliance[1] = .3;
    CnAnswer a = answer_for(p);
    for (int32_t i = 0; i < a.row_count; i++)
      a.g[i] = i / 3 % 3 ? cni_rng_range(&rng, i % 3 ? -.1 : -.02, .2) : 0;
    for (int32_t i = 1; round % 4 == 3 && i < 192; i += 3) p->b[i] = .1;
    answer_update(p, &a);
    check_run(p, &a, 1 + round);
    check_run(p, &a, 64);
    cn_answer_release(&a);
    cn_problem_destroy(p);
  }
}

// What is not a number, in one lane among many, is an infinite residual.
static void run_with_a_wrong_number(void **state) {
  (void)state;
  Lattice pile = lattice_default();
  pile.side = pile.layers = 5;
  pile.storages = 1u << CNI_SPHERE;
  CnProblem *p = lattice_problem(&pile);
  CnAnswer a = answer_for(p);
  answer_update(p, &a);
  CHECK(isfinite(certify(p, &a).residual));
  for (int32_t i = 0; i < 3; i++) {
    for (int32_t k = 0; k < 2; k++) {
      a.g[3 * 21 + i] = k ? NAN : INFINITY;
      CnCertificate c = certify(p, &a);
      CHECK(c.residual == INFINITY && c.error_siconos == INFINITY && c.error_scaled == INFINITY);
      CHECK(c.worst_block == 21);
    }
    a.g[3 * 21 + i] = 0;
  }
  cn_answer_release(&a);
  cn_problem_destroy(p);
}

// dissipation by its definition, block by block.
static void dissipation(void **state) {
  (void)state;
  CniRng rng = {6};
  for (int32_t round = 0; round < 20; round++) {
    RandomProblem how = random_problem_default();
    CnProblem *p = random_problem(&rng, &how);
    CnAnswer a = answer_for(p);
    double expected = 0, size = 0, old[6 * 64];
    for (int32_t i = 0; i < a.row_count; i++) a.g[i] = cni_rng_range(&rng, -1, 1);
    answer_update(p, &a);
    for (int32_t i = 0; i < p->group_count; i++) {
      CnTwist before = cni_group_old(p, i);
      memcpy(old + 6 * i, &before, sizeof before);
    }
    for (int32_t i = 0; i < p->block_count; i++) {
      const CniBlock *block = &p->blocks[i];
      double u[CNI_MAX_DIM] = {0};
      cni_storages[block->storage].velocity(p, block, a.v, u);
      cni_storages[block->storage].velocity(p, block, old, u);
      for (int32_t d = 0; d < block->dim; d++) {
        expected -= a.g[block->row + d] * u[d] / 2;
        size += fabs(a.g[block->row + d] * u[d]);
      }
    }
    CHECK_NEAR(certify(p, &a).dissipation, expected, 1e-13 * size);
    cn_answer_release(&a);
    cn_problem_destroy(p);
  }
}

// ---- odd cases ----

static void nothing_to_certify(void **state) {
  (void)state;
  CnProblemDef def = cn_problem_def_default();
  CnProblem *p = NULL;
  CHECK_OK(cn_problem_create(&def, &p));
  CnAnswer a = answer_for(p);
  CnCertificate c = certify(p, &a);
  CHECK(c.worst_block == -1);
  CHECK_NEAR(c.residual + c.error_siconos + c.error_scaled + c.momentum_defect, 0, 0);
  cn_answer_release(&a);
  cn_problem_destroy(p);
}

// Two prescribed groups: the law cannot be influenced. Parting they satisfy it, closing they do
// not, and the residual says so with S = 1.
static void blocks_without_mass(void **state) {
  (void)state;
  for (int32_t closing = 0; closing < 2; closing++) {
    CnProblem *p = ball_on_ground(0);
    p->groups[1] = (CniGroup){0};
    p->groups[1].v = cn_vec3(0, 0, closing ? -0.2 : 0.2);
    CnAnswer a = answer_for(p);
    CnCertificate c = certify(p, &a);
    CHECK_NEAR(c.residual_speed, closing ? 0.2 : 0, 0);
    CHECK_NEAR(c.residual, closing ? 1 : 0, 0);
    CHECK_NEAR(c.momentum_defect, 0, 0);
    cn_answer_release(&a);
    cn_problem_destroy(p);
  }
}

// NaN and infinity must never pass as converged.
static void not_finite(void **state) {
  (void)state;
  double bad[3] = {NAN, INFINITY, -INFINITY};
  for (int32_t i = 0; i < 3; i++)
    for (int32_t where = 0; where < 4; where++) {
      CnProblem *p = ball_on_ground(1.0);
      CnAnswer a = ball_answer(p, 1.0);
      if (where < 3)
        a.g[where] = bad[i];
      else
        a.v[8] = bad[i];
      CnCertificate c = certify(p, &a);
      CHECK(isinf(c.residual) && isinf(c.residual_speed) && c.worst_block == 0);
      CHECK(isinf(c.error_siconos) && isinf(c.error_scaled) && isinf(c.momentum_defect));
      cn_answer_release(&a);
      cn_problem_destroy(p);
    }
}

// A slender body, inertia ratio 1e6 about tilted axes: the defect of its exact answer is round-off.
static void slender_body(void **state) {
  (void)state;
  CnProblem *p = box_on_ground(0);
  CnMat3 axes = {{0.6, 0.8, 0}, {-0.48, 0.36, 0.8}, {0.64, -0.48, 0.6}};
  CnSym3 inertia = cn_srotate(axes, cn_vec3(10, 10, 1e7));
  CHECK_OK(cni_group_set_inertia(p, 1, &inertia));
  CnAnswer a = answer_for(p);
  for (int32_t i = 0; i < a.row_count; i++) a.g[i] = 0.1 * (i % 5) - 0.05;
  answer_update(p, &a);
  CHECK(certify(p, &a).momentum_defect < 1e-9);
  a.v[9] *= 1 + 1e-6;
  CHECK(certify(p, &a).momentum_defect > 1e-8);
  cn_answer_release(&a);
  cn_problem_destroy(p);
}

// A point mass cannot spin: a moment on it is no defect, a changed spin is.
static void point_mass(void **state) {
  (void)state;
  CnProblem *p = box_on_ground(0);
  CnSym3 none = cn_sdiag(0, 0, 0), rails = cn_sdiag(0, 0, 5);
  CHECK_OK(cni_group_set_inertia(p, 1, &none));
  CnAnswer a = answer_for(p);
  for (int32_t i = 0; i < a.row_count; i++) a.g[i] = 0.1 * (i % 5) - 0.05;
  answer_update(p, &a);
  CHECK(certify(p, &a).momentum_defect < 1e-14);
  a.v[10] += 1;
  CHECK(certify(p, &a).momentum_defect > 1e-2);
  a.v[10] -= 1;
  // on rails: only a spin about z is left
  CHECK_OK(cni_group_set_inertia(p, 1, &rails));
  answer_update(p, &a);
  CHECK(certify(p, &a).momentum_defect < 1e-14);
  cn_answer_release(&a);
  cn_problem_destroy(p);
}

static void wrong_arguments(void **state) {
  (void)state;
  CnProblem *p = ball_on_ground(1.0), *larger = box_on_ground(0);
  CnAnswer a = answer_for(p), empty = cn_answer_empty(NULL);
  CnCertificate c;
  CHECK_STATUS(cn_certify(NULL, &a, &c), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_certify(p, NULL, &c), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_certify(p, &a, NULL), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_certify(p, &empty, &c), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_certify(larger, &a, &c), CN_INVALID_ARGUMENT);
  cn_answer_release(&a);
  cn_problem_destroy(p);
  cn_problem_destroy(larger);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exact_answers),
      cmocka_unit_test(perturbed_normal),
      cmocka_unit_test(no_impulse),
      cmocka_unit_test(outside_the_cone),
      cmocka_unit_test(wrong_velocity),
      cmocka_unit_test(joints),
      cmocka_unit_test(intervals),
      cmocka_unit_test(compliance),
      cmocka_unit_test(cohesion),
      cmocka_unit_test(convex_model),
      cmocka_unit_test(linear_complementarity),
      cmocka_unit_test(friction_contact),
      cmocka_unit_test(unit_of_impulse),
      cmocka_unit_test(both_forms_agree),
      cmocka_unit_test(definition),
      cmocka_unit_test(many_parts),
      cmocka_unit_test(runs_of_spheres),
      cmocka_unit_test(run_with_a_wrong_number),
      cmocka_unit_test(dissipation),
      cmocka_unit_test(nothing_to_certify),
      cmocka_unit_test(blocks_without_mass),
      cmocka_unit_test(not_finite),
      cmocka_unit_test(slender_body),
      cmocka_unit_test(point_mass),
      cmocka_unit_test(wrong_arguments),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
