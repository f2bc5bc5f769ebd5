// SPDX-License-Identifier: Apache-2.0
// The problem as a container: what it takes, what it refuses, and that a refusal changes nothing.
#include "alloc.h"
#include "check.h"
#include "scenes.h"

#include "core/vec.h"

#include <string.h>

static CnProblem *create(CnProblemForm form) {
  CnProblemDef def = cn_problem_def_default();
  CnProblem *p = NULL;
  def.form = form;
  CHECK_OK(cn_problem_create(&def, &p));
  return p;
}

static int32_t add_set(CnProblem *p, CnBlockKind kind) {
  CnSet set = cn_set_default(kind);
  int32_t index = -1;
  CHECK_OK(cn_problem_add_set(p, &set, &index));
  return index;
}

static int32_t add_group(CnProblem *p, double inv_mass, CnSym3 inv_inertia) {
  CnGroupDef def = cn_group_def_default();
  int32_t index = -1;
  def.inv_mass = inv_mass;
  def.inv_inertia = inv_inertia;
  CHECK_OK(cn_problem_add_group(p, &def, &index));
  return index;
}

static void refuse_create(void **state) {
  (void)state;
  CnProblemDef def = cn_problem_def_default();
  CnProblem *p = (CnProblem *)&def;
  CHECK_STATUS(cn_problem_create(NULL, &p), CN_INVALID_ARGUMENT);
  CHECK(p == NULL);
  CHECK_STATUS(cn_problem_create(&def, NULL), CN_INVALID_ARGUMENT);
  def.tag = 0;
  CHECK_STATUS(cn_problem_create(&def, &p), CN_INVALID_ARGUMENT);
  def = cn_problem_def_default();
  def.size = 0;
  CHECK_STATUS(cn_problem_create(&def, &p), CN_INVALID_ARGUMENT);
  CHECK(strstr(cn_error_message(), "another version") != NULL);
  def = cn_problem_def_default();
  def.form = (CnProblemForm)7;
  CHECK_STATUS(cn_problem_create(&def, &p), CN_INVALID_ARGUMENT);
  def = cn_problem_def_default();
  def.friction = (CnFrictionModel)7;
  CHECK_STATUS(cn_problem_create(&def, &p), CN_INVALID_ARGUMENT);
  def = cn_problem_def_default();
  def.allocator.release = NULL;
  CHECK_STATUS(cn_problem_create(&def, &p), CN_INVALID_ARGUMENT);
  cn_problem_destroy(NULL);
  cn_problem_clear(NULL);
}

static void groups(void **state) {
  (void)state;
  CnProblem *p = create(CN_FORM_STEP);
  CHECK(add_group(p, 0, cn_sdiag(0, 0, 0)) == 0);
  CHECK(add_group(p, 1, cn_sdiag(2, 2, 2)) == 1);
  CHECK(add_group(p, 1, cn_sdiag(2, 2, 3)) == 2);
  CHECK(add_group(p, 1, (CnSym3){2, 2, 2, 0.1, 0, 0}) == 3);
  CHECK(add_group(p, 1, cn_sdiag(0, 0, 0)) == 4);
  int32_t kinds[5] = {CNI_MASS_NONE, CNI_MASS_ISOTROPIC, CNI_MASS_FULL, CNI_MASS_FULL,
                      CNI_MASS_ISOTROPIC};
  for (int32_t i = 0; i < 5; i++) CHECK((int32_t)cni_group_kind(&p->groups[i]) == kinds[i]);

  // any rotation of a semidefinite inertia is accepted
  CniRng rng = {51};
  for (int32_t i = 0; i < 500; i++) {
    CnVec3 n = random_unit(&rng), t1, t2;
    cn_tangents(n, &t1, &t2);
    add_group(p, 1, cn_srotate((CnMat3){n, t1, t2}, cn_vec3(0, 3, i % 2 ? 1e6 : 0)));
  }

  CnGroupDef bad[7];
  int32_t count = p->group_count, index = 0;
  for (int32_t i = 0; i < 7; i++) bad[i] = cn_group_def_default();
  bad[0].inv_mass = -1;
  bad[1].inv_mass = INFINITY;
  bad[2].inv_mass = 1;
  bad[2].inv_inertia = (CnSym3){1, 1, 1, 2, 0, 0}; // indefinite
  bad[3].inv_inertia = cn_sdiag(1, 1, 1);          // inertia without mass
  bad[4].free.velocity.y = NAN;
  bad[5].old.spin.z = INFINITY;
  bad[6].tag = 1;
  for (int32_t i = 0; i < 7; i++) {
    CHECK_STATUS(cn_problem_add_group(p, &bad[i], &index), CN_INVALID_ARGUMENT);
    CHECK(index == -1);
  }
  CHECK_STATUS(cn_problem_add_group(p, NULL, &index), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_problem_add_group(NULL, &bad[0], &index), CN_INVALID_ARGUMENT);
  CHECK(p->group_count == count);
  cn_problem_destroy(p);
}

static void sets(void **state) {
  (void)state;
  CnProblem *p = create(CN_FORM_STEP);
  CnSet s = cn_set_default(CN_BLOCK_FRICTION);
  int32_t index = 0;
  s.mu = -0.1;
  CHECK_STATUS(cn_problem_add_set(p, &s, &index), CN_INVALID_ARGUMENT);
  CHECK(index == -1 && p->set_count == 0);
  CHECK(strstr(cn_error_message(), "mu") && strstr(cn_error_message(), "-0.1"));
  s.kind = CN_BLOCK_UNILATERAL; // does not use mu
  CHECK_OK(cn_problem_add_set(p, &s, &index));
  CHECK(index == 0);
  s = cn_set_default(CN_BLOCK_INTERVAL);
  s.lo = 1;
  CHECK_STATUS(cn_problem_add_set(p, &s, NULL), CN_INVALID_ARGUMENT);
  s.hi = NAN;
  CHECK_STATUS(cn_problem_add_set(p, &s, NULL), CN_INVALID_ARGUMENT);
  s.lo = s.hi = INFINITY;
  CHECK_STATUS(cn_problem_add_set(p, &s, NULL), CN_INVALID_ARGUMENT);
  s.lo = -INFINITY;
  CHECK_OK(cn_problem_add_set(p, &s, NULL));
  for (int32_t field = 0; field < 7; field++) {
    s = cn_set_default(CN_BLOCK_SPINNING);
    double *fields[7] = {&s.mu,           &s.mu_roll,       &s.mu_spin,
                         &s.cohesion,     &s.compliance[0], &s.compliance[1],
                         &s.compliance[2]};
    *fields[field] = field % 2 ? NAN : -1;
    CHECK_STATUS(cn_problem_add_set(p, &s, NULL), CN_INVALID_ARGUMENT);
  }
  s = cn_set_default((CnBlockKind)17);
  CHECK_STATUS(cn_problem_add_set(p, &s, NULL), CN_INVALID_ARGUMENT);
  s = cn_set_default(CN_BLOCK_FRICTION);
  s.tag = 0;
  CHECK_STATUS(cn_problem_add_set(p, &s, NULL), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_problem_add_set(p, NULL, NULL), CN_INVALID_ARGUMENT);
  cn_problem_destroy(p);
}

// A problem with one group of each mass kind and one set of each block kind: set i is of kind i.
static CnProblem *furnished(void) {
  CnProblem *p = create(CN_FORM_STEP);
  add_group(p, 0, cn_sdiag(0, 0, 0));
  add_group(p, 1, cn_sdiag(2, 2, 2));
  add_group(p, 1, cn_sdiag(2, 3, 4));
  for (int32_t kind = 0; kind < CN_BLOCK_KIND_COUNT; kind++) add_set(p, (CnBlockKind)kind);
  return p;
}

static void dimension_fits_kind(void **state) {
  (void)state;
  CnProblem *p = furnished();
  CnPairDef def = cn_pair_def_default();
  double b[8] = {0};
  def.group_a = 0;
  def.group_b = 1;
  for (int32_t kind = 0; kind < CN_BLOCK_KIND_COUNT; kind++)
    for (int32_t dim = 0; dim <= 7; dim++) {
      int fits = kind == CN_BLOCK_BILATERAL ? dim >= 1 && dim <= 6
                                            : dim == cni_block_dim((CnBlockKind)kind);
      CnStatus status = cn_problem_add_pair(p, kind, dim, &def, b, NULL);
      CHECK(status == (fits ? CN_OK : CN_INVALID_ARGUMENT));
    }
  CHECK(p->block_count == 12);
  // consecutive rows, right kinds
  int32_t row = 0;
  for (int32_t i = 0; i < p->block_count; i++) {
    CHECK(p->blocks[i].row == row && p->blocks[i].kind == p->sets[p->blocks[i].set].kind);
    row += p->blocks[i].dim;
  }
  CnProblemInfo info;
  cn_problem_info(p, &info);
  CHECK(info.row_count == row && info.block_count == 12 && info.group_count == 3);
  CHECK(info.velocity_count == 18 && info.form == CN_FORM_STEP);
  CHECK(info.kind_count[CN_BLOCK_BILATERAL] == 6 && info.kind_count[CN_BLOCK_SPINNING] == 1);
  cn_problem_clear(p);
  cn_problem_info(p, &info);
  CHECK(info.row_count == 0 && info.block_count == 0 && info.group_count == 0);
  cn_problem_info(NULL, &info);
  cn_problem_info(p, NULL);
  cn_problem_destroy(p);
}

static void refuse_pairs(void **state) {
  (void)state;
  CnProblem *p = furnished();
  CnPairDef good = cn_pair_def_default(), bad[11];
  double b[3] = {1, 2, 3}, nan_b[3] = {1, NAN, 3};
  good.group_a = 0;
  good.group_b = 2;
  for (int32_t i = 0; i < 11; i++) bad[i] = good;
  bad[0].group_a = 3;
  bad[1].group_b = -1;
  bad[2].group_b = 0; // itself
  bad[3].normal = cn_vec3(0, 0, 1 + 1e-8);
  bad[4].tangent = cn_vec3(0, 0, 0);
  bad[5].tangent = cn_vec3(0, 0.6, 0.8);
  bad[6].arm_a.x = INFINITY;
  bad[7].arm_b.z = NAN;
  bad[8].length = 0;
  bad[9].tag = 5;
  bad[10].normal.x = NAN;
  for (int32_t i = 0; i < 11; i++) {
    int32_t block = 0;
    CHECK_STATUS(cn_problem_add_pair(p, CN_BLOCK_FRICTION, 3, &bad[i], b, &block),
                 CN_INVALID_ARGUMENT);
    CHECK(block == -1);
  }
  CHECK_STATUS(cn_problem_add_pair(p, CN_BLOCK_FRICTION, 3, NULL, b, NULL), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_problem_add_pair(p, CN_BLOCK_FRICTION, 3, &good, NULL, NULL),
               CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_problem_add_pair(p, CN_BLOCK_FRICTION, 3, &good, nan_b, NULL),
               CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_problem_add_pair(p, 99, 3, &good, b, NULL), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_problem_add_pair(p, -1, 3, &good, b, NULL), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_problem_add_pair(NULL, 0, 3, &good, b, NULL), CN_INVALID_ARGUMENT);
  CHECK(p->block_count == 0 && p->row_count == 0 && p->pair_count == 0);
  good.normal = cn_vec3(0, 0, 1 + 1e-10); // within the tolerance
  CHECK_OK(cn_problem_add_pair(p, CN_BLOCK_FRICTION, 3, &good, b, NULL));
  CHECK_NEAR(p->b[2], 3, 0);
  cn_problem_destroy(p);
}

static void refuse_spheres_and_rows(void **state) {
  (void)state;
  CnProblem *p = furnished();
  CnSphereDef good = cn_sphere_def_default(), bad[5];
  double b[3] = {0};
  good.group_a = 0;
  good.group_b = 1;
  good.radius_b = 0.1;
  for (int32_t i = 0; i < 5; i++) bad[i] = good;
  bad[0].group_b = 2; // full inertia
  bad[1].radius_b = -0.1;
  bad[2].radius_a = NAN;
  bad[3].normal = cn_vec3(1, 1, 1);
  bad[4].tag = 0;
  for (int32_t i = 0; i < 5; i++)
    CHECK_STATUS(cn_problem_add_sphere(p, CN_BLOCK_FRICTION, 3, &bad[i], b, NULL),
                 CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_problem_add_sphere(p, CN_BLOCK_FRICTION, 3, &bad[0], b, NULL),
               CN_INVALID_ARGUMENT);
  CHECK(strstr(cn_error_message(), "group 2"));

  CnRowEntry e = {0, 1, {{1, 0, 0}, {0, 0, 0}}}, wrong[3] = {e, e, e};
  wrong[0].row = 1;
  wrong[1].group = 3;
  wrong[2].coefficient.spin.x = NAN;
  for (int32_t i = 0; i < 3; i++)
    CHECK_STATUS(cn_problem_add_rows(p, 0, 1, &wrong[i], 1, b, NULL), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_problem_add_rows(p, 0, 1, NULL, 1, b, NULL), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_problem_add_rows(p, 0, 1, &e, -1, b, NULL), CN_INVALID_ARGUMENT);
  CHECK(p->block_count == 0 && p->row_entry_count == 0 && p->sphere_count == 0);
  cn_problem_destroy(p);
}

static void explicit_form(void **state) {
  (void)state;
  int32_t start[4] = {0, 1, 2, 3}, column[3] = {0, 1, 2}, back[3] = {0, 2, 1};
  double value[3] = {1, 2, 3}, q[3] = {4, 5, 6};
  CnSparse w = {3, 3, start, column, value}, bad = w;
  CnProblem *p = create(CN_FORM_EXPLICIT), *step = furnished();
  CnGroupDef group = cn_group_def_default();
  CnPairDef pair = cn_pair_def_default();
  int32_t set = add_set(p, CN_BLOCK_FRICTION), one = add_set(p, CN_BLOCK_UNILATERAL), block;
  CHECK_STATUS(cn_problem_set_explicit(step, &w, q), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_problem_add_group(p, &group, NULL), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_problem_add_pair(p, set, 3, &pair, q, NULL), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_problem_add_explicit(p, one, 1, &block), CN_INVALID_ARGUMENT); // no W yet
  CHECK_STATUS(cn_problem_add_explicit(step, 1, 1, &block), CN_INVALID_ARGUMENT);
  bad.column_count = 4;
  CHECK_STATUS(cn_problem_set_explicit(p, &bad, q), CN_INVALID_ARGUMENT);
  bad = w;
  start[2] = 0;
  CHECK_STATUS(cn_problem_set_explicit(p, &bad, q), CN_INVALID_ARGUMENT);
  start[2] = 3;
  start[1] = 0;
  bad.column = back; // row 1 would have columns 0, 2, 1
  CHECK_STATUS(cn_problem_set_explicit(p, &bad, q), CN_INVALID_ARGUMENT);
  start[1] = 1;
  start[2] = 2;
  value[1] = NAN;
  CHECK_STATUS(cn_problem_set_explicit(p, &w, q), CN_INVALID_ARGUMENT);
  value[1] = 2;
  CHECK_STATUS(cn_problem_set_explicit(p, &w, NULL), CN_INVALID_ARGUMENT);
  CHECK(p->w.row_count == 0);
  CHECK_OK(cn_problem_set_explicit(p, &w, q));
  CHECK_STATUS(cn_problem_set_explicit(p, &w, q), CN_INVALID_ARGUMENT); // twice

  // blocks must cover the rows, no more and no less
  CnAnswer a = cn_answer_empty(NULL);
  CHECK_OK(cn_problem_add_explicit(p, one, 1, &block));
  CHECK(block == 0);
  CHECK_STATUS(cn_problem_add_explicit(p, set, 3, &block), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_answer_fit(&a, p), CN_INVALID_ARGUMENT);
  CHECK_OK(cn_problem_add_explicit(p, one, 1, &block));
  CHECK_OK(cn_problem_add_explicit(p, one, 1, &block));
  CHECK(block == 2);
  CHECK_OK(cn_answer_fit(&a, p));
  CHECK(a.row_count == 3 && a.velocity_count == 0);
  a.g[0] = a.g[1] = a.g[2] = 1;
  cni_problem_velocity(p, NULL, a.g, a.u);
  for (int32_t i = 0; i < 3; i++) CHECK_NEAR(a.u[i], 5 + 2 * i, 0);
  cn_problem_clear(p);
  CHECK_OK(cn_problem_set_explicit(p, &w, q)); // and again
  cn_answer_release(&a);
  cn_problem_destroy(p);
  cn_problem_destroy(step);
}

static void answers(void **state) {
  (void)state;
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  CnAnswer a = cn_answer_empty(&hook);
  CnProblem *small = ball_on_ground(0), *large = chain_of_rows(50);
  CHECK_OK(cn_answer_fit(&a, small));
  CHECK(a.row_count == 3 && a.velocity_count == 12);
  a.g[0] = 7;
  for (int64_t n = 1;; n++) { // a failure leaves the old answer
    test_alloc_fail_at(&alloc, n);
    CnStatus status = cn_answer_fit(&a, large);
    if (alloc.failed_count == 0) break;
    CHECK_FAILED(status, CN_NO_MEMORY);
    CHECK(a.row_count == 3 && a.velocity_count == 12);
    CHECK_NEAR(a.g[0], 7, 0);
  }
  CHECK(a.row_count == 150 && a.velocity_count == 306);
  for (int32_t i = 0; i < 150; i++) CHECK_NEAR(a.g[i], 0, 0);
  int64_t before = alloc.allocation_count;
  for (int32_t i = 0; i < 10; i++) CHECK_OK(cn_answer_fit(&a, i % 2 ? large : small));
  CHECK(alloc.allocation_count == before);
  cn_answer_release(&a);
  cn_answer_release(&a);
  cn_answer_release(NULL);
  test_alloc_check_clean(&alloc);
  CHECK_STATUS(cn_answer_fit(NULL, small), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_answer_fit(&a, NULL), CN_INVALID_ARGUMENT);
  cn_problem_destroy(small);
  cn_problem_destroy(large);
}

// ---- memory ----

typedef struct Counts {
  int32_t groups, sets, blocks, pairs, spheres, row_blocks, entries, rows;
} Counts;

static Counts counts_of(const CnProblem *p) {
  return (Counts){p->group_count,  p->set_count,       p->block_count,     p->pair_count,
                  p->sphere_count, p->row_block_count, p->row_entry_count, p->row_count};
}

// The i-th of a list of calls that fill a problem.
static CnStatus fill(CnProblem *p, int32_t i) {
  double b[6] = {0.5};
  if (i < 20) {
    CnGroupDef def = cn_group_def_default();
    def.inv_mass = i > 0;
    return cn_problem_add_group(p, &def, NULL);
  }
  if (i < 21 + CN_BLOCK_KIND_COUNT - 1) {
    CnSet set = cn_set_default((CnBlockKind)(i - 20));
    return cn_problem_add_set(p, &set, NULL);
  }
  int32_t a = i % 19, other = a + 1;
  if (i % 3 == 0) {
    CnPairDef def = cn_pair_def_default();
    def.group_a = a;
    def.group_b = other;
    return cn_problem_add_pair(p, CN_BLOCK_SPINNING, 6, &def, b, NULL);
  }
  if (i % 3 == 1) {
    CnSphereDef def = cn_sphere_def_default();
    def.group_a = a;
    def.group_b = other;
    return cn_problem_add_sphere(p, CN_BLOCK_FRICTION, 3, &def, b, NULL);
  }
  CnRowEntry e[2] = {{0, a, {{1, 0, 0}, {0, 0, 0}}}, {0, other, {{-1, 0, 0}, {0, 0, 0}}}};
  return cn_problem_add_rows(p, CN_BLOCK_BILATERAL, 1, e, 2, b, NULL);
}

// Every allocation on the way fails once; the call is made again and the result is that of a run
// without failures.
static void no_memory(void **state) {
  (void)state;
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CnProblemDef def = cn_problem_def_default();
  def.allocator = test_alloc_hook(&alloc);
  CnProblem *p = NULL, *reference = create(CN_FORM_STEP);
  test_alloc_fail_at(&alloc, 1);
  CHECK_STATUS(cn_problem_create(&def, &p), CN_NO_MEMORY);
  CHECK(p == NULL);
  test_alloc_fail_never(&alloc);
  CHECK_OK(cn_problem_create(&def, &p));
  int32_t failures = 0;
  for (int32_t i = 0; i < 120; i++) {
    CHECK_OK(fill(reference, i));
    // refuse the first allocation; then let one through and refuse the next; and so on
    for (int64_t n = 1;; n = 2) {
      Counts before = counts_of(p), after;
      test_alloc_fail_at(&alloc, n);
      CnStatus status = fill(p, i);
      if (status == CN_OK) break;
      failures++;
      CHECK_FAILED(status, CN_NO_MEMORY);
      after = counts_of(p);
      CHECK(memcmp(&before, &after, sizeof before) == 0);
    }
  }
  CHECK(failures > 20);
  test_alloc_fail_never(&alloc);
  Counts found = counts_of(p), expected = counts_of(reference);
  CHECK(memcmp(&found, &expected, sizeof found) == 0);
  for (int32_t i = 0; i < p->row_count; i++) CHECK_NEAR(p->b[i], reference->b[i], 0);
  CHECK(memcmp(p->blocks, reference->blocks, (size_t)p->block_count * sizeof *p->blocks) == 0);

  // the certificate needs room of its own, and fails cleanly without
  CnAnswer a = answer_for(p);
  CnCertificate one, two;
  test_alloc_fail_at(&alloc, 1);
  CHECK_STATUS(cn_certify(p, &a, &one), CN_NO_MEMORY);
  test_alloc_fail_never(&alloc);
  CHECK_OK(cn_certify(p, &a, &one));
  CHECK_OK(cn_certify(p, &a, &two));
  CHECK_NEAR(one.residual, two.residual, 0);
  int64_t before = alloc.allocation_count;

  // a second filling after clear finds all room
  cn_problem_clear(p);
  for (int32_t i = 0; i < 120; i++) CHECK_OK(fill(p, i));
  CHECK(alloc.allocation_count == before);
  CHECK_OK(cn_certify(p, &a, &two));
  cn_answer_release(&a);
  cn_problem_destroy(p);
  cn_problem_destroy(reference);
  test_alloc_check_clean(&alloc);
}

// Room for writers that fill the arrays themselves.
static void reserve(void **state) {
  (void)state;
  CnProblem *p = furnished();
  CniProblemRoom room = {.groups = 100, .blocks = 50, .pairs = 50, .rows = 150};
  CHECK_OK(cni_problem_reserve(p, &room));
  CHECK(p->group_capacity >= 103 && p->block_capacity >= 50 && p->row_capacity >= 150);
  CHECK(p->group_count == 3 && cni_group_kind(&p->groups[2]) == CNI_MASS_FULL);
  room = (CniProblemRoom){.groups = INT32_MAX};
  CHECK_STATUS(cni_problem_reserve(p, &room), CN_INVALID_ARGUMENT);
  room = (CniProblemRoom){.rows = -1};
  CHECK_STATUS(cni_problem_reserve(p, &room), CN_INVALID_ARGUMENT);
  cn_problem_destroy(p);
}

// The validator sees arrays that do not fit together.
static void faults(void **state) {
  (void)state;
  CniRng rng = {7};
  RandomProblem how = random_problem_default();
  CnProblem *p = random_problem(&rng, &how);
  CHECK(cni_problem_fault(p) == NULL);
  CniBlock *block = &p->blocks[p->block_count / 2], kept = *block;
  block->row++;
  CHECK_TEXT(cni_problem_fault(p), "row by row");
  *block = kept;
  block->set = (uint32_t)p->set_count & (CNI_SET_LIMIT - 1);
  CHECK_TEXT(cni_problem_fault(p), "set is not there");
  *block = kept;
  block->index = -1;
  CHECK_TEXT(cni_problem_fault(p), "not there");
  *block = kept;
  p->row_count++;
  CHECK_TEXT(cni_problem_fault(p), "as many");
  p->row_count--;
  p->group_count--; // the last group is somebody's
  CHECK_TEXT(cni_problem_fault(p), "group is not there");
  p->group_count++;
  CHECK(cni_problem_fault(p) == NULL);
  cn_problem_destroy(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refuse_create), cmocka_unit_test(groups),
      cmocka_unit_test(sets),          cmocka_unit_test(dimension_fits_kind),
      cmocka_unit_test(refuse_pairs),  cmocka_unit_test(refuse_spheres_and_rows),
      cmocka_unit_test(explicit_form), cmocka_unit_test(answers),
      cmocka_unit_test(no_memory),     cmocka_unit_test(reserve),
      cmocka_unit_test(faults),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
