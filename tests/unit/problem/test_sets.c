// SPDX-License-Identifier: Apache-2.0
// The sets K: dimensions, cones, compliance, de Saxce's shift, and the projections against a
// minimisation and against the properties that define them.
#include "check.h"
#include "scenes.h"

#include "core/vec.h"

#include <string.h>

// One block of each cone kind as rows without entries, so that only the set matters.
static CnProblem *one_block(const CnSet *set, int32_t dim) {
  CnProblemDef def = cn_problem_def_default();
  CnProblem *p = NULL;
  double b[CNI_MAX_DIM] = {0};
  CHECK_OK(cn_problem_create(&def, &p));
  CHECK_OK(cn_problem_add_set(p, set, NULL));
  CHECK_OK(cn_problem_add_rows(p, 0, dim, NULL, 0, b, NULL));
  return p;
}

static double dot(const double *a, const double *b, int32_t n) {
  double sum = 0;
  for (int32_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

static double distance(const double *a, const double *b, int32_t n) {
  double d[CNI_MAX_DIM];
  for (int32_t i = 0; i < n; i++) d[i] = a[i] - b[i];
  return sqrt(dot(d, d, n));
}

static double length_of(const CniCone *cone, int32_t j, const double *x) {
  return sqrt(dot(x + cone->start[j], x + cone->start[j], cone->dim[j]));
}

// A random cone of each kind, some mu zero, with or without cohesion.
static CnProblem *random_cone(CniRng *rng, int32_t round) {
  CnBlockKind kinds[4] = {CN_BLOCK_FRICTION_2D, CN_BLOCK_FRICTION, CN_BLOCK_ROLLING,
                          CN_BLOCK_SPINNING};
  CnSet set = cn_set_default(kinds[round % 4]);
  double zero = cni_rng_unit(rng);
  set.mu = zero < 0.15 ? 0 : cni_rng_range(rng, 0, 2);
  set.mu_roll = zero > 0.1 && zero < 0.25 ? 0 : cni_rng_range(rng, 0, 2);
  set.mu_spin = zero > 0.2 && zero < 0.35 ? 0 : cni_rng_range(rng, 0, 2);
  if (round / 4 % 2) set.cohesion = cni_rng_range(rng, 0, 1);
  return one_block(&set, cni_block_dim(set.kind));
}

// A random point; some components exactly zero.
static void random_point(CniRng *rng, int32_t dim, double *x) {
  for (int32_t i = 0; i < dim; i++) x[i] = cni_rng_unit(rng) < 0.1 ? 0 : cni_rng_range(rng, -2, 2);
}

// A random point of K.
static void random_member(CniRng *rng, const CniCone *cone, int32_t dim, double *x) {
  random_point(rng, dim, x);
  x[0] = cni_rng_range(rng, 0, 3);
  for (int32_t j = 0; j < cone->disc_count; j++) {
    double n = length_of(cone, j, x), limit = cone->mu[j] * x[0] * cni_rng_unit(rng);
    for (int32_t i = 0; i < cone->dim[j]; i++) x[cone->start[j] + i] *= n > 0 ? limit / n : 0;
  }
  x[0] -= cone->cohesion;
}

// Squared distance from x to the slice of the cone at height n: a convex function of n.
static double slice_distance2(const CniCone *cone, const double *x, double n) {
  double sum = (x[0] + cone->cohesion - n) * (x[0] + cone->cohesion - n);
  for (int32_t j = 0; j < cone->disc_count; j++) {
    double over = length_of(cone, j, x) - cone->mu[j] * n;
    if (over > 0) sum += over * over;
  }
  return sum;
}

// The distance to the cone by ternary search over its slices.
static double brute_distance(const CniCone *cone, const double *x) {
  double lo = 0, hi = 20;
  for (int32_t i = 0; i < 200; i++) {
    double a = lo + (hi - lo) / 3, b = hi - (hi - lo) / 3;
    if (slice_distance2(cone, x, a) < slice_distance2(cone, x, b))
      hi = b;
    else
      lo = a;
  }
  return sqrt(slice_distance2(cone, x, lo));
}

static void check_membership(const CniCone *cone, const double *x) {
  double n = x[0] + cone->cohesion;
  CHECK(n >= -1e-15);
  for (int32_t j = 0; j < cone->disc_count; j++)
    CHECK(length_of(cone, j, x) <= cone->mu[j] * n + 4e-15);
}

static void cone_projection_is_nearest(void **state) {
  (void)state;
  CniRng rng = {21};
  for (int32_t round = 0; round < 4000; round++) {
    CnProblem *p = random_cone(&rng, round);
    const CniBlock *block = &p->blocks[0];
    CniCone cone = cni_block_cone(p, block);
    double x[CNI_MAX_DIM], y[CNI_MAX_DIM], z[CNI_MAX_DIM];
    random_point(&rng, block->dim, x);
    memcpy(y, x, sizeof y);
    cni_project(p, block, y);
    check_membership(&cone, y);
    CHECK_NEAR(distance(x, y, block->dim), brute_distance(&cone, x), 1e-7);
    // and no member is on the other side: (x - Px).(z - Px) <= 0, which only the nearest point does
    for (int32_t i = 0; i < 20; i++) {
      random_member(&rng, &cone, block->dim, z);
      double sum = 0;
      for (int32_t d = 0; d < block->dim; d++) sum += (x[d] - y[d]) * (z[d] - y[d]);
      CHECK(sum <= 1e-13);
    }
    cn_problem_destroy(p);
  }
}

static void cone_projection_properties(void **state) {
  (void)state;
  CniRng rng = {22};
  for (int32_t round = 0; round < 4000; round++) {
    CnProblem *p = random_cone(&rng, round);
    const CniBlock *block = &p->blocks[0];
    CniCone cone = cni_block_cone(p, block);
    int32_t dim = block->dim;
    double x[CNI_MAX_DIM], y[CNI_MAX_DIM], px[CNI_MAX_DIM], py[CNI_MAX_DIM], ppx[CNI_MAX_DIM];
    random_point(&rng, dim, x);
    random_point(&rng, dim, y);
    memcpy(px, x, sizeof px);
    memcpy(py, y, sizeof py);
    cni_project(p, block, px);
    cni_project(p, block, py);
    memcpy(ppx, px, sizeof ppx);
    cni_project(p, block, ppx);
    CHECK(distance(px, ppx, dim) <= 1e-14);                            // idempotent
    CHECK(distance(px, py, dim) <= distance(x, y, dim) * (1 + 1e-14)); // nonexpansive
    // Moreau: x + c n = P + R, orthogonal, -R in the dual cone u_n >= sum mu_j |u_j|
    double r[CNI_MAX_DIM], shifted[CNI_MAX_DIM];
    for (int32_t d = 0; d < dim; d++) {
      r[d] = px[d] - x[d];
      shifted[d] = px[d] + (d == 0 ? cone.cohesion : 0);
    }
    CHECK_NEAR(dot(r, shifted, dim), 0, 1e-13);
    CHECK(r[0] >= cni_cone_shift(&cone, r) - 1e-14);
    cn_problem_destroy(p);
  }
}

// Places where cases change: the tip, the axis, the polar axis, the side, mu = 0.
static void cone_corners(void **state) {
  (void)state;
  CniCone cone = {.disc_count = 1, .mu = {0.5}, .start = {1}, .dim = {2}};
  double tip[3] = {0, 0, 0}, axis[3] = {2, 0, 0}, polar[3] = {-1, 0, 0}, side[3] = {2, 0.6, 0.8};
  cni_project_cone(&cone, tip);
  cni_project_cone(&cone, axis);
  cni_project_cone(&cone, polar);
  cni_project_cone(&cone, side);
  CHECK_NEAR(distance(tip, (double[3]){0, 0, 0}, 3), 0, 0);
  CHECK_NEAR(distance(axis, (double[3]){2, 0, 0}, 3), 0, 0);
  CHECK_NEAR(distance(polar, (double[3]){0, 0, 0}, 3), 0, 0);
  CHECK_NEAR(distance(side, (double[3]){2, 0.6, 0.8}, 3), 0, 1e-15);
  // outside: n' = (1 + 0.5*5)/1.25 = 2.8, t' = 1.4 along (3, 4)/5
  double out[3] = {1, 3, 4};
  cni_project_cone(&cone, out);
  CHECK_NEAR(distance(out, (double[3]){2.8, 0.84, 1.12}, 3), 0, 1e-15);
  // mu = 0: the half line, also from below and without a tangent
  cone.mu[0] = 0;
  double up[3] = {1, 3, 4}, down[3] = {-1, 3, 4}, under[3] = {-1, 0, 0};
  cni_project_cone(&cone, up);
  cni_project_cone(&cone, down);
  cni_project_cone(&cone, under);
  CHECK_NEAR(distance(up, (double[3]){1, 0, 0}, 3), 0, 0);
  CHECK_NEAR(distance(down, (double[3]){0, 0, 0}, 3), 0, 0);
  CHECK_NEAR(distance(under, (double[3]){0, 0, 0}, 3), 0, 0);
  // three discs, one of them with mu = 0 and nothing in it
  CniCone many = {.disc_count = 3, .mu = {0, 1, 0.5}, .start = {1, 3, 5}, .dim = {2, 2, 1}};
  double x[6] = {0, 0, 0, 0, 2, 0.1};
  cni_project_cone(&many, x); // only the second is cut: n' = (0 + 2)/2 = 1
  CHECK_NEAR(distance(x, (double[6]){1, 0, 0, 0, 1, 0.1}, 6), 0, 1e-15);
}

static void simple_sets(void **state) {
  (void)state;
  CnSet set = cn_set_default(CN_BLOCK_UNILATERAL);
  CnProblem *p = one_block(&set, 1);
  double x[CNI_MAX_DIM] = {-2};
  cni_project(p, &p->blocks[0], x);
  CHECK_NEAR(x[0], 0, 0);
  x[0] = 3;
  cni_project(p, &p->blocks[0], x);
  CHECK_NEAR(x[0], 3, 0);
  cn_problem_destroy(p);

  set = cn_set_default(CN_BLOCK_INTERVAL);
  set.lo = -0.5;
  set.hi = 0.25;
  p = one_block(&set, 1);
  double in[3] = {-1, 0.1, 1}, out[3] = {-0.5, 0.1, 0.25};
  for (int32_t i = 0; i < 3; i++) {
    cni_project(p, &p->blocks[0], in + i);
    CHECK_NEAR(in[i], out[i], 0);
  }
  cn_problem_destroy(p);

  set = cn_set_default(CN_BLOCK_BILATERAL);
  p = one_block(&set, 6);
  double all[6] = {-1, 2, -3, 4, -5, 6};
  cni_project(p, &p->blocks[0], all);
  for (int32_t i = 0; i < 6; i++) CHECK_NEAR(all[i], (i + 1) * (i % 2 ? 1 : -1), 0);
  CHECK_NEAR(cni_shift(p, &p->blocks[0], all), 0, 0);
  CHECK(cni_block_cone(p, &p->blocks[0]).disc_count == 0);
  cn_problem_destroy(p);
}

static void dimensions(void **state) {
  (void)state;
  int32_t expected[CN_BLOCK_KIND_COUNT] = {0, 1, 1, 2, 3, 5, 6};
  for (int32_t kind = 0; kind < CN_BLOCK_KIND_COUNT; kind++) {
    CHECK(cni_block_dim((CnBlockKind)kind) == expected[kind]);
    CHECK(strcmp(cn_block_kind_name((CnBlockKind)kind), "unknown") != 0);
  }
  CHECK(strcmp(cn_block_kind_name((CnBlockKind)99), "unknown") == 0);
  CHECK(strcmp(cn_friction_model_name(CN_FRICTION_CONVEX), "convex") == 0);
}

static void shift_and_compliance(void **state) {
  (void)state;
  CnSet set = cn_set_default(CN_BLOCK_SPINNING);
  set.mu = 0.5;
  set.mu_roll = 0.1;
  set.mu_spin = 0.2;
  set.compliance[0] = 1;
  set.compliance[1] = 2;
  set.compliance[2] = 3;
  CnProblem *p = one_block(&set, 6);
  double u[6] = {7, 3, 4, -6, 8, -9}, c[6], expected[6] = {1, 2, 2, 3, 3, 3};
  CHECK_NEAR(cni_shift(p, &p->blocks[0], u), 0.5 * 5 + 0.1 * 10 + 0.2 * 9, 1e-15);
  cni_block_compliance(p, &p->blocks[0], c);
  for (int32_t i = 0; i < 6; i++) CHECK_NEAR(c[i], expected[i], 0);
  p->friction = CN_FRICTION_CONVEX;
  CHECK_NEAR(cni_shift(p, &p->blocks[0], u), 0, 0);
  cn_problem_destroy(p);

  // bilateral rows all have the first
  set.kind = CN_BLOCK_BILATERAL;
  p = one_block(&set, 6);
  cni_block_compliance(p, &p->blocks[0], c);
  for (int32_t i = 0; i < 6; i++) CHECK_NEAR(c[i], 1, 0);
  cn_problem_destroy(p);
}

// mu_roll and mu_spin are lengths in pair and sphere blocks: the cone has them over `length`.
static void cone_in_the_unit_of_the_rows(void **state) {
  (void)state;
  CnProblem *p = ball_on_ground(0);
  CnSet set = cn_set_default(CN_BLOCK_SPINNING);
  CnSphereDef def = cn_sphere_def_default();
  double b[6] = {0};
  int32_t index;
  set.mu = 0.5;
  set.mu_roll = 0.01;
  set.mu_spin = 0.02;
  set.cohesion = 3;
  CHECK_OK(cn_problem_add_set(p, &set, &index));
  def.group_a = 0;
  def.group_b = 1;
  def.length = 0.1;
  CHECK_OK(cn_problem_add_sphere(p, index, 6, &def, b, &index));
  CniCone cone = cni_block_cone(p, &p->blocks[index]);
  CHECK(cone.disc_count == 3);
  CHECK_NEAR(cone.mu[0], 0.5, 0);
  CHECK_REL(cone.mu[1], 0.1, 1e-15);
  CHECK_REL(cone.mu[2], 0.2, 1e-15);
  CHECK_NEAR(cone.cohesion, 3, 0);
  CHECK(cone.start[1] == 3 && cone.dim[1] == 2 && cone.start[2] == 5 && cone.dim[2] == 1);
  cn_problem_destroy(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cone_projection_is_nearest),
      cmocka_unit_test(cone_projection_properties),
      cmocka_unit_test(cone_corners),
      cmocka_unit_test(simple_sets),
      cmocka_unit_test(dimensions),
      cmocka_unit_test(shift_and_compliance),
      cmocka_unit_test(cone_in_the_unit_of_the_rows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
