// SPDX-License-Identifier: Apache-2.0
// Each storage's functions against the block written out as sparse rows, which is the definition of
// the block: u += E v, k += E^T g, v += M^-1 E^T g, N = E M^-1 E^T + C and its trace.
#include "check.h"
#include "scenes.h"

#include "core/vec.h"

#include <string.h>

#define GROUPS 12

typedef struct Dense {
  double e[CNI_MAX_DIM][6 * GROUPS];
} Dense;

static void dense_of(const CnProblem *p, const CniBlock *block, Dense *dense) {
  CnRowEntry entries[64];
  int32_t count = cni_storages[block->storage].expand(p, block, entries, 64);
  CHECK(count <= 64);
  memset(dense, 0, sizeof *dense);
  for (int32_t i = 0; i < count; i++) {
    const CnTwist *c = &entries[i].coefficient;
    double x[6] = {c->velocity.x, c->velocity.y, c->velocity.z, c->spin.x, c->spin.y, c->spin.z};
    for (int32_t d = 0; d < 6; d++) dense->e[entries[i].row][6 * entries[i].group + d] += x[d];
  }
}

// M^-1 x, written out.
static void inverse_mass(const CnProblem *p, const double *x, double *y) {
  for (int32_t g = 0; g < p->group_count; g++) {
    const CniGroup *group = &p->groups[g];
    CnSym3 j = cni_group_inertia(p, g);
    const double *a = x + 6 * g;
    double *b = y + 6 * g;
    for (int32_t d = 0; d < 3; d++) b[d] = group->inv_mass * a[d];
    b[3] = j.xx * a[3] + j.xy * a[4] + j.xz * a[5];
    b[4] = j.xy * a[3] + j.yy * a[4] + j.yz * a[5];
    b[5] = j.xz * a[3] + j.yz * a[4] + j.zz * a[5];
  }
}

static void check_velocity(const CnProblem *p, const CniBlock *block, const Dense *dense,
                           const double *v) {
  double u[CNI_MAX_DIM] = {1, 2, 3, 4, 5, 6};
  cni_storages[block->storage].velocity(p, block, v, u);
  for (int32_t i = 0; i < block->dim; i++) {
    double expected = 1 + i;
    for (int32_t d = 0; d < 6 * GROUPS; d++) expected += dense->e[i][d] * v[d];
    CHECK_NEAR(u[i], expected, 1e-13);
  }
  for (int32_t i = block->dim; i < CNI_MAX_DIM; i++) CHECK_NEAR(u[i], 1 + i, 0);
}

static void check_momentum_and_impulse(const CnProblem *p, const CniBlock *block,
                                       const Dense *dense, const double *g) {
  double k[6 * GROUPS] = {0}, v[6 * GROUPS] = {0}, expected_k[6 * GROUPS] = {0};
  double expected_v[6 * GROUPS];
  for (int32_t i = 0; i < block->dim; i++)
    for (int32_t d = 0; d < 6 * GROUPS; d++) expected_k[d] += dense->e[i][d] * g[i];
  inverse_mass(p, expected_k, expected_v);
  cni_storages[block->storage].momentum(p, block, g, k);
  cni_storages[block->storage].impulse(p, block, g, v);
  for (int32_t d = 0; d < 6 * GROUPS; d++) {
    CHECK_NEAR(k[d], expected_k[d], 1e-13);
    CHECK_NEAR(v[d], expected_v[d], 1e-13 * (1 + fabs(expected_v[d])));
    if (cni_group_kind(&p->groups[d / 6]) == CNI_MASS_NONE) CHECK_NEAR(v[d], 0, 0);
  }
}

static void check_diagonal(const CnProblem *p, const CniBlock *block, const Dense *dense) {
  double n[CNI_MAX_DIM * CNI_MAX_DIM], c[CNI_MAX_DIM], trace = 0, scale = 0;
  cni_storages[block->storage].diagonal(p, block, n);
  cni_block_compliance(p, block, c);
  for (int32_t i = 0; i < block->dim; i++) scale = cn_max(scale, n[i * block->dim + i]);
  for (int32_t i = 0; i < block->dim; i++) {
    double response[6 * GROUPS];
    inverse_mass(p, dense->e[i], response);
    for (int32_t j = 0; j < block->dim; j++) {
      double expected = i == j ? c[i] : 0;
      for (int32_t d = 0; d < 6 * GROUPS; d++) expected += dense->e[j][d] * response[d];
      CHECK_NEAR(n[i * block->dim + j], expected, 1e-13 * scale);
      CHECK_NEAR(n[i * block->dim + j], n[j * block->dim + i], 0);
      if (i == j) trace += expected;
    }
  }
  CHECK_REL(cni_storages[block->storage].trace(p, block), trace, 1e-13);
}

static void check_block(CniRng *rng, const CnProblem *p, const CniBlock *block) {
  Dense dense;
  double v[6 * GROUPS], g[CNI_MAX_DIM];
  for (int32_t d = 0; d < 6 * GROUPS; d++) v[d] = cni_rng_range(rng, -1, 1);
  for (int32_t i = 0; i < CNI_MAX_DIM; i++) g[i] = cni_rng_range(rng, -1, 1);
  dense_of(p, block, &dense);
  check_velocity(p, block, &dense, v);
  check_momentum_and_impulse(p, block, &dense, g);
  check_diagonal(p, block, &dense);
}

static void random_blocks_of_all_kinds(void **state) {
  (void)state;
  CniRng rng = {11};
  for (int32_t round = 0; round < 40; round++) {
    RandomProblem how = random_problem_default();
    how.group_count = GROUPS;
    how.block_count = 30;
    CnProblem *p = random_problem(&rng, &how);
    for (int32_t i = 0; i < p->block_count; i++) check_block(&rng, p, &p->blocks[i]);
    cn_problem_destroy(p);
  }
}

// Bilateral blocks may have any number of the six rows.
static void bilateral_blocks_of_all_dimensions(void **state) {
  (void)state;
  CniRng rng = {12};
  RandomProblem how = random_problem_default();
  how.group_count = GROUPS;
  how.block_count = 0;
  CnProblem *p = random_problem(&rng, &how);
  CnSet set = cn_set_default(CN_BLOCK_BILATERAL);
  set.compliance[0] = 0.01;
  CHECK_OK(cn_problem_add_set(p, &set, NULL));
  CnPairDef pair = cn_pair_def_default();
  CnSphereDef sphere = cn_sphere_def_default();
  CnVec3 t2;
  double b[CNI_MAX_DIM] = {0};
  pair.group_b = sphere.group_b = 0;
  for (int32_t i = 0; i < p->group_count; i++) {
    if (cni_group_kind(&p->groups[i]) == CNI_MASS_FULL) pair.group_a = i;
    if (cni_group_kind(&p->groups[i]) == CNI_MASS_ISOTROPIC && sphere.group_b == 0)
      sphere.group_b = i;
    else if (cni_group_kind(&p->groups[i]) == CNI_MASS_ISOTROPIC)
      sphere.group_a = pair.group_b = i;
  }
  pair.normal = sphere.normal = random_unit(&rng);
  cn_tangents(pair.normal, &pair.tangent, &t2);
  pair.arm_a = cn_vec3(0.1, 0.2, -0.3);
  pair.arm_b = cn_vec3(-0.2, 0.05, 0.1);
  pair.length = sphere.length = 0.15;
  sphere.radius_a = 0.1;
  sphere.radius_b = 0.2;
  for (int32_t dim = 1; dim <= CNI_MAX_DIM; dim++) {
    CHECK_OK(cn_problem_add_pair(p, 0, dim, &pair, b, NULL));
    CHECK_OK(cn_problem_add_sphere(p, 0, dim, &sphere, b, NULL));
  }
  for (int32_t i = 0; i < p->block_count; i++) check_block(&rng, p, &p->blocks[i]);
  cn_problem_destroy(p);
}

// A contact of two balls is the same block as a sphere and as a pair.
static void sphere_and_pair_agree(void **state) {
  (void)state;
  CniRng rng = {13};
  for (int32_t round = 0; round < 50; round++) {
    RandomProblem how = random_problem_default();
    how.group_count = GROUPS;
    how.storages = 1u << CNI_SPHERE;
    how.block_count = 8;
    CnProblem *p = random_problem(&rng, &how);
    int32_t spheres = p->block_count;
    for (int32_t i = 0; i < spheres; i++) {
      CniSphereBlock s = p->spheres[p->blocks[i].index];
      CnPairDef pair = cn_pair_def_default();
      CnVec3 t2;
      pair.group_a = s.group_a;
      pair.group_b = s.group_b;
      pair.normal = s.normal;
      cn_tangents(s.normal, &pair.tangent, &t2);
      pair.arm_a = cn_scale(s.radius_a, s.normal);
      pair.arm_b = cn_scale(-s.radius_b, s.normal);
      pair.length = cni_sphere_length(p, p->blocks[i].index);
      int32_t index, dim = p->blocks[i].dim;
      double b[CNI_MAX_DIM] = {0}, n1[36], n2[36];
      CHECK_OK(cn_problem_add_pair(p, p->blocks[i].set, dim, &pair, b, &index));
      const CniBlock *one = &p->blocks[i], *two = &p->blocks[index];
      cni_storages[CNI_SPHERE].diagonal(p, one, n1);
      cni_storages[CNI_PAIR].diagonal(p, two, n2);
      for (int32_t j = 0; j < dim * dim; j++) CHECK_NEAR(n1[j], n2[j], 1e-13 * n1[0]);
      double v[6 * GROUPS], u1[CNI_MAX_DIM] = {0}, u2[CNI_MAX_DIM] = {0};
      for (int32_t d = 0; d < 6 * GROUPS; d++) v[d] = cni_rng_range(&rng, -1, 1);
      cni_storages[CNI_SPHERE].velocity(p, one, v, u1);
      cni_storages[CNI_PAIR].velocity(p, two, v, u2);
      for (int32_t j = 0; j < dim; j++) CHECK_NEAR(u1[j], u2[j], 1e-14);
      CniCone c1 = cni_block_cone(p, one), c2 = cni_block_cone(p, two);
      CHECK(c1.disc_count == c2.disc_count);
      for (int32_t j = 0; j < c1.disc_count; j++) CHECK_NEAR(c1.mu[j], c2.mu[j], 0);
    }
    cn_problem_destroy(p);
  }
}

// Right-handed, orthonormal, and continuous enough to be safe at both poles.
static void tangents_are_a_frame(void **state) {
  (void)state;
  CniRng rng = {14};
  for (int32_t round = 0; round < 2000; round++) {
    CnVec3 n = random_unit(&rng), t1, t2;
    if (round < 2) n = cn_vec3(0, 0, round == 0 ? 1 : -1);
    if (round == 2) n = cn_vec3(1e-9, 0, -1);
    if (round == 3) n = cn_vec3(1, 0, -0.0);
    cn_tangents(n, &t1, &t2);
    CHECK_NEAR(cn_norm(t1), 1, 1e-15);
    CHECK_NEAR(cn_norm(t2), 1, 1e-15);
    CHECK_NEAR(cn_dot(n, t1), 0, 1e-15);
    CHECK_NEAR(cn_norm(cn_sub(cn_cross(n, t1), t2)), 0, 1e-15);
  }
}

// expand writes no further than it may and still tells how many entries there are.
static void expand_keeps_to_its_room(void **state) {
  (void)state;
  CniRng rng = {15};
  RandomProblem how = random_problem_default();
  CnProblem *p = random_problem(&rng, &how);
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    CnRowEntry all[64], some[64];
    memset(some, 0, sizeof some);
    int32_t count = cni_storages[block->storage].expand(p, block, all, 64);
    int32_t room = count / 2;
    CHECK(cni_storages[block->storage].expand(p, block, some, room) == count);
    CHECK(memcmp(all, some, (size_t)room * sizeof *all) == 0);
    for (int32_t j = room; j < 64; j++) CHECK(some[j].row == 0 && some[j].group == 0);
  }
  cn_problem_destroy(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_blocks_of_all_kinds),
      cmocka_unit_test(bilateral_blocks_of_all_dimensions),
      cmocka_unit_test(sphere_and_pair_agree),
      cmocka_unit_test(tangents_are_a_frame),
      cmocka_unit_test(expand_keeps_to_its_room),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
