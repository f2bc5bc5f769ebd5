// SPDX-License-Identifier: Apache-2.0
// The solution of one block: exact means exact, and the three ways lead to one answer.
#include "check.h"
#include "scenes.h"
#include "solving.h"
#include "solver/sweeps/small.h"
#include "core/rng.h"
#include "core/vec.h"

#include <string.h>

// A symmetric matrix with the given eigenvalues in random axes.
static void random_matrix(CniRng *rng, int32_t dim, const double *values, double *a) {
  double axes[CNI_SMALL_SIZE];
  for (int32_t i = 0; i < dim; i++) {
    // Gram-Schmidt, twice
    double *x = axes + i * dim, length = 0;
    for (int32_t k = 0; k < dim; k++) x[k] = cni_rng_range(rng, -1, 1);
    for (int32_t round = 0; round < 2; round++) {
      for (int32_t j = 0; j < i; j++) {
        double dot = 0;
        for (int32_t k = 0; k < dim; k++) dot += x[k] * axes[j * dim + k];
        for (int32_t k = 0; k < dim; k++) x[k] -= dot * axes[j * dim + k];
      }
      length = 0;
      for (int32_t k = 0; k < dim; k++) length += x[k] * x[k];
      for (int32_t k = 0; k < dim; k++) x[k] /= sqrt(length);
    }
  }
  for (int32_t i = 0; i < dim; i++) {
    for (int32_t j = 0; j <= i; j++) {
      double sum = 0;
      for (int32_t k = 0; k < dim; k++) sum += values[k] * axes[k * dim + i] * axes[k * dim + j];
      a[i * dim + j] = a[j * dim + i] = sum;
    }
  }
}

static CnSet random_set(CniRng *rng, CnBlockKind kind) {
  static const double mus[] = {0, .1, .5, 1, 2};
  CnSet set = cn_set_default(kind);
  set.mu = mus[(int32_t)(5 * cni_rng_unit(rng))];
  set.mu_roll = mus[(int32_t)(5 * cni_rng_unit(rng))];
  set.mu_spin = mus[(int32_t)(5 * cni_rng_unit(rng))];
  if (cni_rng_unit(rng) < .3) set.cohesion = cni_rng_range(rng, 0, 1);
  set.lo = -.5;
  set.hi = .5;
  return set;
}

// What a random block looks like.
typedef struct Shape {
  CnBlockKind kind;
  int32_t dim;
} Shape;

typedef struct Recipe {
  double decades; // eigenvalues of N from 1 down to 10^-decades
  int32_t rank;   // eigenvalues beyond it are zero; q is then such that a solution exists
  double skew;    // size of an unsymmetric part
  CnFrictionModel friction;
} Recipe;

// q = -N z with z inside the cone, and sometimes slip or lift that the cone allows.
static void solvable_q(CniRng *rng, int32_t dim, const double *w, const CnSet *set, double *q) {
  double z[CNI_SMALL_DIM] = {1}, mu[3] = {set->mu, set->mu_roll, set->mu_spin};
  for (int32_t i = 1; i < dim; i++) z[i] = .3 * mu[(i - 1) / 2] * cni_rng_range(rng, -1, 1);
  for (int32_t i = 0; i < dim; i++) {
    q[i] = 0;
    for (int32_t j = 0; j < dim; j++) q[i] -= w[i * dim + j] * z[j];
  }
  if (cni_rng_unit(rng) < .5) q[0] += cni_rng_range(rng, 0, .5);
}

// Residual after one iteration on a block drawn by the recipe.
static double one_block(CniRng *rng, Shape shape, const Recipe *recipe) {
  int32_t dim = shape.dim;
  double values[CNI_SMALL_DIM], w[CNI_SMALL_SIZE], q[CNI_SMALL_DIM];
  for (int32_t i = 0; i < dim; i++) {
    double left = cni_rng_unit(rng) * recipe->decades;
    for (values[i] = 1; left > 0; left -= 1) values[i] *= .1;
    if (recipe->rank && i >= recipe->rank) values[i] = 0;
  }
  random_matrix(rng, dim, values, w);
  for (int32_t i = 0; i < dim; i++)
    for (int32_t j = 0; j < i; j++) {
      double x = recipe->skew * cni_rng_range(rng, -1, 1);
      w[i * dim + j] += x;
      w[j * dim + i] -= x;
    }
  CnSet set = random_set(rng, shape.kind);
  for (int32_t i = 0; i < dim; i++) q[i] = cni_rng_range(rng, -1, 1);
  if (cni_rng_unit(rng) < .5) q[0] = -fabs(q[0]);
  if (recipe->rank && shape.kind != CN_BLOCK_INTERVAL) solvable_q(rng, dim, w, &set, q);

  CnProblem *p = dense_problem(dim, w, q, &set, &dim, 1, recipe->friction);
  CnSolverDef def = cn_solver_def_default("psor");
  def.local = CN_LOCAL_EXACT;
  def.max_iterations = 1;
  CnAnswer answer = cn_answer_empty(NULL);
  CHECK_OK(cn_answer_fit(&answer, p));
  CnSolveReport report = solve_def(&def, p, &answer);
  cn_answer_release(&answer);
  cn_problem_destroy(p);
  return report.certificate.residual;
}

static const Shape shapes[] = {
    {CN_BLOCK_BILATERAL, 1},  {CN_BLOCK_BILATERAL, 3}, {CN_BLOCK_BILATERAL, 6},
    {CN_BLOCK_UNILATERAL, 1}, {CN_BLOCK_INTERVAL, 1},  {CN_BLOCK_FRICTION_2D, 2},
    {CN_BLOCK_FRICTION, 3},   {CN_BLOCK_ROLLING, 5},   {CN_BLOCK_SPINNING, 6}};
#define SHAPE_COUNT ((int32_t)(sizeof shapes / sizeof shapes[0]))

static void check_recipe(CniRng *rng, Recipe recipe, int32_t first, int32_t end, int32_t count,
                         double limit) {
  for (int32_t s = first; s < end; s++) {
    int32_t bad = 0;
    for (int32_t i = 0; i < count; i++) {
      recipe.friction = i % 2 ? CN_FRICTION_CONVEX : CN_FRICTION_COULOMB;
      double residual = one_block(rng, shapes[s], &recipe);
      if (residual <= limit) continue;
      bad++;
      print_error("%s of dim %d, %s, number %d: residual %g > %g\n",
                  cn_block_kind_name(shapes[s].kind), (int)shapes[s].dim,
                  cn_friction_model_name(recipe.friction), (int)i, residual, limit);
    }
    CHECK(bad == 0);
  }
}

static void exact_is_exact(void **state) {
  (void)state;
  CniRng rng = {1};
  check_recipe(&rng, (Recipe){.decades = 0}, 0, SHAPE_COUNT, 300, 1e-12);
  check_recipe(&rng, (Recipe){.decades = 1}, 0, SHAPE_COUNT, 600, 1e-12);
  check_recipe(&rng, (Recipe){.decades = 3}, 0, SHAPE_COUNT, 600, 1e-12);
}

// The impulse grows with the condition number, and with it the round-off of u = N g + q.
static void exact_when_anisotropic(void **state) {
  (void)state;
  CniRng rng = {2};
  check_recipe(&rng, (Recipe){.decades = 6}, 0, SHAPE_COUNT, 300, 1e-9);
}

static void exact_when_rank_deficient(void **state) {
  (void)state;
  CniRng rng = {3};
  check_recipe(&rng, (Recipe){.decades = 1, .rank = 2}, 5, SHAPE_COUNT, 300, 1e-12);
  check_recipe(&rng, (Recipe){.decades = 1, .rank = 1}, 5, SHAPE_COUNT, 300, 1e-12);
}

// One disc; with several an unsymmetric block is tried by Newton without a second way.
static void exact_when_unsymmetric(void **state) {
  (void)state;
  CniRng rng = {4};
  check_recipe(&rng, (Recipe){.decades = 1, .skew = .2}, 0, SHAPE_COUNT - 2, 300, 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exact_is_exact),
      cmocka_unit_test(exact_when_anisotropic),
      cmocka_unit_test(exact_when_rank_deficient),
      cmocka_unit_test(exact_when_unsymmetric),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
