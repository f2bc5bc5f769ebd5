// SPDX-License-Identifier: Apache-2.0
#include "lattice.h"

#include "check.h"
#include "core/vec.h"
#include "scenes.h"

#define RADIUS 0.1
#define STEP 0.005

Lattice lattice_default(void) {
  return (Lattice){.side = 12,
                   .layers = 12,
                   .storages = 1u << CNI_PAIR | 1u << CNI_SPHERE,
                   .kind = CN_BLOCK_FRICTION,
                   .friction = CN_FRICTION_COULOMB,
                   .points = 4};
}

static void add_body(CnProblem *p, CniRng *rng, int round) {
  CnGroupDef def = cn_group_def_default();
  def.inv_mass = 1 / cni_rng_range(rng, 5, 10);
  double j = def.inv_mass / (.4 * RADIUS * RADIUS);
  def.inv_inertia = round ? cn_sdiag(j, j, j) : random_sym3(rng, .6 * j, 1.4 * j);
  def.old.velocity = cn_vec3(cni_rng_range(rng, -.1, .1), cni_rng_range(rng, -.1, .1), 0);
  def.old.spin = cn_vec3(cni_rng_range(rng, -1, 1), cni_rng_range(rng, -1, 1), 0);
  def.free = def.old;
  def.free.velocity.z -= 9.81 * STEP;
  CHECK_OK(cn_problem_add_group(p, &def, NULL));
}

static CnVec3 turned(CniRng *rng, CnVec3 n) {
  CnVec3 a = cn_madd(n, .3, random_unit(rng));
  a = cn_scale(1 / cn_norm(a), a);
  return cn_scale(1 / cn_norm(a), a);
}

static void add_b(CniRng *rng, const Lattice *how, double *b) {
  for (int32_t i = 0; i < CNI_MAX_DIM; i++) b[i] = 0;
  b[0] = cni_rng_range(rng, -.02, .02);
  if (how->full && cni_rng_unit(rng) < .3)
    for (int32_t i = 1; i < CNI_MAX_DIM; i++) b[i] = cni_rng_range(rng, -.05, .05);
}

static int is_round(const CnProblem *p, int32_t group) {
  return cni_group_kind(&p->groups[group]) != CNI_MASS_FULL;
}

static void add_contact(CnProblem *p, CniRng *rng, const Lattice *how, int32_t a, int32_t b,
                        CnVec3 direction) {
  double rhs[CNI_MAX_DIM];
  int32_t set = (int32_t)(cni_rng_unit(rng) * p->set_count), dim = cni_block_dim(how->kind);
  CnVec3 n = turned(rng, direction);
  int sphere = how->storages >> CNI_SPHERE & 1, pair = how->storages >> CNI_PAIR & 1;
  if (sphere && is_round(p, a) && is_round(p, b) && (!pair || cni_rng_unit(rng) < .5)) {
    CnSphereDef def = cn_sphere_def_default();
    def.group_a = a;
    def.group_b = b;
    def.normal = n;
    def.radius_a = a > 0 ? RADIUS : 0;
    def.radius_b = def.length = RADIUS;
    add_b(rng, how, rhs);
    CHECK_OK(cn_problem_add_sphere(p, set, dim, &def, rhs, NULL));
    return;
  }
  int32_t points = 1 + (int32_t)(cni_rng_unit(rng) * how->points);
  for (int32_t i = 0; i < points; i++) {
    CnPairDef def = cn_pair_def_default();
    CnVec3 t2, off = cn_scale(.5 * RADIUS, random_unit(rng));
    def.group_a = a;
    def.group_b = b;
    def.normal = n;
    cn_tangents(n, &def.tangent, &t2);
    def.arm_a = cn_madd(off, RADIUS, n);
    def.arm_b = cn_madd(off, -RADIUS, n);
    def.length = RADIUS;
    add_b(rng, how, rhs);
    CHECK_OK(cn_problem_add_pair(p, set, dim, &def, rhs, NULL));
  }
}

static void add_sets(CnProblem *p, const Lattice *how) {
  for (int32_t i = 0; i < 6; i++) {
    CnSet set = cn_set_default(how->kind);
    set.mu = i == 0 ? 0 : .2 * i;
    set.mu_roll = .002 * i;
    set.mu_spin = i == 3 ? 0 : .001 * i;
    set.cohesion = i == 4 ? .01 : 0;
    if (how->full && i > 3) set.compliance[0] = set.compliance[1] = set.compliance[2] = .01 * i;
    CHECK_OK(cn_problem_add_set(p, &set, NULL));
  }
}

CnProblem *lattice_problem(const Lattice *how) {
  CniRng rng = {7};
  CnProblemDef def = cn_problem_def_default();
  def.friction = how->friction;
  CnProblem *p = NULL;
  CHECK_OK(cn_problem_create(&def, &p));
  CnGroupDef ground = cn_group_def_default();
  CHECK_OK(cn_problem_add_group(p, &ground, NULL));
  add_sets(p, how);
  int32_t side = how->side, layer = side * side, count = layer * how->layers;
  int only_spheres = how->storages == 1u << CNI_SPHERE;
  for (int32_t i = 0; i < count + how->hub; i++)
    add_body(p, &rng, only_spheres || cni_rng_unit(&rng) < .5);
  CnVec3 x = {1, 0, 0}, y = {0, 1, 0}, z = {0, 0, 1};
  for (int32_t i = 1; i <= count; i++) {
    int32_t column = (i - 1) % side, row = (i - 1) / side % side;
    if (i <= layer) add_contact(p, &rng, how, 0, i, z);
    if (column + 1 < side) add_contact(p, &rng, how, i, i + 1, x);
    if (row + 1 < side) add_contact(p, &rng, how, i, i + side, y);
    if (i + layer <= count) add_contact(p, &rng, how, i, i + layer, z);
    if (how->hub) add_contact(p, &rng, how, i, count + 1, z);
  }
  return p;
}
