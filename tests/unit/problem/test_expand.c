// SPDX-License-Identifier: Apache-2.0
// The problem written out (M, E, k, b) and with the velocities eliminated (W, q) against the
// storages' own functions.
#include "alloc.h"
#include "check.h"
#include "scenes.h"

#include "core/vec.h"
#include "sparse/sparse.h"

#include <string.h>

#define LARGE 512

static CnProblem *sample(CniRng *rng, int32_t round) {
  RandomProblem how = random_problem_default();
  how.group_count = 3 + round % 20;
  how.block_count = 1 + round % 30;
  return random_problem(rng, &how);
}

// v of the expanded problem in its columns.
static void gather(const CnProblem *p, const CnExpanded *x, const double *v, double *columns) {
  for (int32_t i = 0; i < p->group_count; i++)
    if (x->group_column[i] >= 0)
      memcpy(columns + x->group_column[i], v + 6 * i, 6 * sizeof *columns);
}

// With any g and v = apply(g): M v = k + E^T g, and u = E v + b + C g is that of the problem.
static void check_expansion(CniRng *rng, const CnProblem *p, double tolerance) {
  CnExpanded x;
  CHECK_OK(cn_problem_expand(p, &x));
  CnAnswer a = answer_for(p);
  double v[LARGE] = {0}, mv[LARGE], kg[LARGE], u[LARGE];
  CHECK(x.m.row_count <= LARGE && x.e.row_count <= LARGE);
  for (int32_t i = 0; i < a.row_count; i++) a.g[i] = cni_rng_range(rng, -1, 1);
  answer_update(p, &a);
  gather(p, &x, a.v, v);
  cni_sparse_multiply(&x.m, v, mv);
  memcpy(kg, x.k, (size_t)x.m.row_count * sizeof *kg);
  cni_sparse_add_transposed(&x.e, a.g, kg);
  for (int32_t i = 0; i < x.m.row_count; i++) CHECK_NEAR(mv[i], kg[i], tolerance);
  cni_sparse_multiply(&x.e, v, u);
  for (int32_t i = 0; i < a.row_count; i++)
    CHECK_NEAR(u[i] + x.b[i] + x.compliance[i] * a.g[i], a.u[i], tolerance);
  CHECK_OK(cni_sparse_check(&x.m, "M"));
  CHECK_OK(cni_sparse_check(&x.e, "E"));
  for (int32_t i = 0; i < x.m.row_count; i++)
    for (int32_t j = 0; j < i; j++)
      CHECK_NEAR(cni_sparse_entry(&x.m, i, j), cni_sparse_entry(&x.m, j, i), 0);
  cn_answer_release(&a);
  cn_expanded_destroy(&x);
}

static void expansion(void **state) {
  (void)state;
  CniRng rng = {31};
  for (int32_t round = 0; round < 100; round++) {
    CnProblem *p = sample(&rng, round);
    check_expansion(&rng, p, 2e-13);
    cn_problem_destroy(p);
  }
}

// Columns only for groups with mass, in order; a prescribed velocity is in b.
static void prescribed_groups(void **state) {
  (void)state;
  CnProblem *p = ball_on_ground(1);
  p->groups[0].v = cn_vec3(0.25, -0.5, 0.75); // the ground moves
  CnExpanded x;
  CHECK_OK(cn_problem_expand(p, &x));
  CHECK(x.group_count == 2 && x.group_column[0] == -1 && x.group_column[1] == 0);
  CHECK(x.m.row_count == 6 && x.e.row_count == 3 && x.e.column_count == 6);
  CHECK_NEAR(x.b[0], -0.75, 0);
  CHECK_NEAR(x.b[1], -0.25, 0);
  CHECK_NEAR(x.b[2], 0.5, 0);
  CHECK_REL(cni_sparse_entry(&x.m, 0, 0), 2, 1e-15);
  CHECK_REL(cni_sparse_entry(&x.m, 4, 4), 0.008, 1e-15);
  CHECK_REL(x.k[0], 2, 1e-15);
  cn_expanded_destroy(&x);
  cn_problem_destroy(p);
}

// Directions in which a spin cannot change stay out of E and keep M definite.
static void singular_inertia(void **state) {
  (void)state;
  CniRng rng = {32};
  CnMat3 axes = {{0.6, 0.8, 0}, {-0.48, 0.36, 0.8}, {0.64, -0.48, 0.6}};
  CnVec3 values[3] = {{0, 0, 0}, {0, 0, 5}, {2, 0, 3}};
  for (int32_t i = 0; i < 3; i++) {
    CnProblem *p = box_on_ground(1);
    CnSym3 inertia = cn_srotate(axes, values[i]);
    CHECK_OK(cni_group_set_inertia(p, 1, &inertia));
    p->groups[1].w = cn_vec3(1, 2, 3);
    check_expansion(&rng, p, 1e-13);
    CniGroupMass m = cni_group_mass(p, 1);
    CHECK(m.singular);
    CHECK(m.inertia.xx > 0 && cn_sdet(m.inertia) > 0);
    cn_problem_destroy(p);
  }
}

// u = W g + q is the u of the problem for any g, W is symmetric to the bit, its blocks are N_ii.
static void elimination(void **state) {
  (void)state;
  CniRng rng = {33};
  for (int32_t round = 0; round < 100; round++) {
    CnProblem *p = sample(&rng, round), *w = NULL;
    CHECK_OK(cn_problem_to_explicit(p, &w));
    CHECK_OK(cni_sparse_check(&w->w, "W"));
    CHECK(w->row_count == p->row_count && w->block_count == p->block_count);
    CnAnswer a = answer_for(p), b = answer_for(w);
    for (int32_t i = 0; i < a.row_count; i++) a.g[i] = b.g[i] = cni_rng_range(&rng, -1, 1);
    answer_update(p, &a);
    cni_problem_velocity(w, NULL, b.g, b.u);
    for (int32_t i = 0; i < a.row_count; i++) CHECK_NEAR(b.u[i], a.u[i], 1e-12);
    for (int32_t i = 0; i < w->row_count; i++)
      for (int32_t e = w->w.start[i]; e < w->w.start[i + 1]; e++)
        CHECK_NEAR(w->w.value[e], cni_sparse_entry(&w->w, w->w.column[e], i), 0);
    for (int32_t i = 0; i < p->block_count; i++) {
      const CniBlock *one = &p->blocks[i], *two = &w->blocks[i];
      double n1[36], n2[36], x[CNI_MAX_DIM], y[CNI_MAX_DIM];
      cni_storages[one->storage].diagonal(p, one, n1);
      cni_storages[two->storage].diagonal(w, two, n2);
      for (int32_t d = 0; d < one->dim * one->dim; d++)
        CHECK_NEAR(n1[d], n2[d], 1e-13 * (1 + n1[0]));
      CHECK_REL(cni_storages[two->storage].trace(w, two), cni_storages[one->storage].trace(p, one),
                1e-13);
      // the same set in the unit of the rows
      for (int32_t d = 0; d < one->dim; d++) x[d] = y[d] = cni_rng_range(&rng, -1, 1);
      cni_project(p, one, x);
      cni_project(w, two, y);
      for (int32_t d = 0; d < one->dim; d++) CHECK_NEAR(x[d], y[d], 0);
      CHECK_NEAR(cni_shift(p, one, x), cni_shift(w, two, x), 0);
    }
    cn_answer_release(&a);
    cn_answer_release(&b);
    cn_problem_destroy(p);
    cn_problem_destroy(w);
  }
}

static void empty_problems(void **state) {
  (void)state;
  CnProblemDef def = cn_problem_def_default();
  CnProblem *p = NULL, *w = NULL;
  CnExpanded x;
  CHECK_OK(cn_problem_create(&def, &p));
  CHECK_OK(cn_problem_expand(p, &x));
  CHECK(x.m.row_count == 0 && x.e.row_count == 0);
  cn_expanded_destroy(&x);
  CHECK_OK(cn_problem_to_explicit(p, &w));
  CHECK_STATUS(cn_problem_expand(w, &x), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_problem_expand(NULL, &x), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_problem_expand(p, NULL), CN_INVALID_ARGUMENT);
  cn_problem_destroy(w);
  CHECK_STATUS(cn_problem_to_explicit(NULL, &w), CN_INVALID_ARGUMENT);
  CHECK(w == NULL);
  cn_expanded_destroy(&x);
  cn_expanded_destroy(NULL);
  cn_problem_destroy(p);
}

// Every allocation fails once: status, nothing left behind, and the problem as before.
static void no_memory(void **state) {
  (void)state;
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CnProblem *p = chain_of_rows(5), *w = NULL;
  CnAllocator normal = p->allocator;
  p->allocator = test_alloc_hook(&alloc);
  for (int64_t n = 1;; n++) {
    CnExpanded x;
    test_alloc_fail_at(&alloc, n);
    CnStatus status = cn_problem_expand(p, &x);
    if (alloc.failed_count == 0) {
      CHECK_OK(status);
      cn_expanded_destroy(&x);
      CHECK(n > 5);
      break;
    }
    CHECK_FAILED(status, CN_NO_MEMORY);
    CHECK(x.k == NULL && x.m.start == NULL);
    test_alloc_check_clean(&alloc);
  }
  test_alloc_check_clean(&alloc);
  for (int64_t n = 1;; n++) {
    test_alloc_fail_at(&alloc, n);
    CnStatus status = cn_problem_to_explicit(p, &w);
    if (alloc.failed_count == 0) {
      CHECK_OK(status);
      cn_problem_destroy(w);
      CHECK(n > 5);
      break;
    }
    CHECK_FAILED(status, CN_NO_MEMORY);
    CHECK(w == NULL);
    test_alloc_check_clean(&alloc);
  }
  test_alloc_check_clean(&alloc);
  p->allocator = normal;
  cn_problem_destroy(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(expansion),        cmocka_unit_test(prescribed_groups),
      cmocka_unit_test(singular_inertia), cmocka_unit_test(elimination),
      cmocka_unit_test(empty_problems),   cmocka_unit_test(no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
