// SPDX-License-Identifier: Apache-2.0
#include "scenes.h"

#include "check.h"
#include "core/vec.h"

#define STEP 0.01
#define GRAVITY 9.81

static CnProblem *empty_problem(CnFrictionModel friction) {
  CnProblemDef def = cn_problem_def_default();
  def.friction = friction;
  CnProblem *p = NULL;
  CHECK_OK(cn_problem_create(&def, &p));
  return p;
}

static int32_t add_ground(CnProblem *p) {
  CnGroupDef def = cn_group_def_default();
  int32_t group = -1;
  CHECK_OK(cn_problem_add_group(p, &def, &group));
  return group;
}

// A body that moves at `velocity` and then falls freely for one step.
static int32_t add_body(CnProblem *p, double mass, CnVec3 inertia, CnVec3 velocity) {
  CnGroupDef def = cn_group_def_default();
  def.inv_mass = 1 / mass;
  def.inv_inertia = cn_sdiag(1 / inertia.x, 1 / inertia.y, 1 / inertia.z);
  def.old.velocity = velocity;
  def.free.velocity = cn_madd(velocity, -GRAVITY * STEP, cn_vec3(0, 0, 1));
  int32_t group = -1;
  CHECK_OK(cn_problem_add_group(p, &def, &group));
  return group;
}

static int32_t add_friction_set(CnProblem *p, double mu) {
  CnSet set = cn_set_default(CN_BLOCK_FRICTION);
  set.mu = mu;
  int32_t index = -1;
  CHECK_OK(cn_problem_add_set(p, &set, &index));
  return index;
}

CnProblem *ball_on_ground(double speed) {
  return ball_on_ground_as(speed, CNI_SPHERE, CN_FRICTION_COULOMB);
}

CnProblem *ball_on_ground_as(double speed, CniStorage storage, CnFrictionModel friction) {
  CnProblem *p = empty_problem(friction);
  double j = 0.4 * BALL_MASS * BALL_RADIUS * BALL_RADIUS, b[3] = {0, 0, 0};
  int32_t ground = add_ground(p);
  int32_t ball = add_body(p, BALL_MASS, cn_vec3(j, j, j), cn_vec3(speed, 0, 0));
  int32_t set = add_friction_set(p, BALL_MU);
  if (storage == CNI_SPHERE) {
    CnSphereDef def = cn_sphere_def_default();
    def.group_a = ground;
    def.group_b = ball;
    def.normal = cn_vec3(0, 0, 1);
    def.radius_b = BALL_RADIUS;
    def.length = BALL_RADIUS;
    CHECK_OK(cn_problem_add_sphere(p, set, 3, &def, b, NULL));
  } else if (storage == CNI_PAIR) {
    CnPairDef def = cn_pair_def_default();
    def.group_a = ground;
    def.group_b = ball;
    def.arm_b = cn_vec3(0, 0, -BALL_RADIUS);
    CHECK_OK(cn_problem_add_pair(p, set, 3, &def, b, NULL));
  } else {
    // the point of the ball that touches: v + w x (0, 0, -R)
    CnRowEntry rows[3] = {
        {0, ball, {{0, 0, 1}, {0, 0, 0}}},
        {1, ball, {{1, 0, 0}, {0, -BALL_RADIUS, 0}}},
        {2, ball, {{0, 1, 0}, {BALL_RADIUS, 0, 0}}},
    };
    CHECK_OK(cn_problem_add_rows(p, set, 3, rows, 3, b, NULL));
  }
  return p;
}

CnProblem *box_on_ground(double speed) {
  CnProblem *p = empty_problem(CN_FRICTION_COULOMB);
  double m = 4, x = 0.4, y = 0.3, z = 0.2, b[3] = {0, 0, 0};
  CnVec3 j = {m * (y * y + z * z) / 12, m * (x * x + z * z) / 12, m * (x * x + y * y) / 12};
  int32_t ground = add_ground(p);
  int32_t box = add_body(p, m, j, cn_vec3(speed, 0, 0));
  int32_t set = add_friction_set(p, 0.5);
  for (int32_t corner = 0; corner < 4; corner++) {
    CnPairDef def = cn_pair_def_default();
    def.group_a = ground;
    def.group_b = box;
    def.arm_b = cn_vec3(corner & 1 ? x / 2 : -x / 2, corner & 2 ? y / 2 : -y / 2, -z / 2);
    def.arm_a = def.arm_b;
    CHECK_OK(cn_problem_add_pair(p, set, 3, &def, b, NULL));
  }
  return p;
}

CnProblem *chain_of_rows(int32_t count) {
  CnProblem *p = empty_problem(CN_FRICTION_COULOMB);
  double half = 0.1, j = 0.4 * 1.0 * half * half, b[3] = {0, 0, 0};
  CnSet set = cn_set_default(CN_BLOCK_BILATERAL);
  CHECK_OK(cn_problem_add_set(p, &set, NULL));
  int32_t before = add_ground(p);
  for (int32_t i = 0; i < count; i++) {
    int32_t body = add_body(p, 1, cn_vec3(j, j, j), CN_VEC3_ZERO);
    CnRowEntry rows[6];
    for (int32_t d = 0; d < 3; d++) {
      CnVec3 axis = {d == 0, d == 1, d == 2};
      // e.(v_b + w_b x p_b) - e.(v_a + w_a x p_a), e.(w x p) = w.(p x e)
      rows[2 * d] = (CnRowEntry){d, body, {axis, cn_cross(cn_vec3(-half, 0, 0), axis)}};
      rows[2 * d + 1] =
          (CnRowEntry){d, before, {cn_neg(axis), cn_cross(axis, cn_vec3(half, 0, 0))}};
    }
    CHECK_OK(cn_problem_add_rows(p, 0, 3, rows, 6, b, NULL));
    before = body;
  }
  return p;
}

// ---- random problems ----

CnVec3 random_unit(CniRng *rng) {
  for (;;) {
    CnVec3 a = {cni_rng_range(rng, -1, 1), cni_rng_range(rng, -1, 1), cni_rng_range(rng, -1, 1)};
    double n = cn_norm(a);
    if (n > 0.1 && n <= 1) {
      a = cn_scale(1 / n, a);
      return cn_scale(1 / cn_norm(a), a);
    }
  }
}

static CnVec3 random_vec(CniRng *rng, double size) {
  // one statement a draw: the order of evaluation within one is not fixed
  double x = cni_rng_range(rng, -size, size), y = cni_rng_range(rng, -size, size);
  double z = cni_rng_range(rng, -size, size);
  return cn_vec3(x, y, z);
}

CnSym3 random_sym3(CniRng *rng, double lo, double hi) {
  CnVec3 n = random_unit(rng), t1, t2;
  cn_tangents(n, &t1, &t2);
  double turn = cni_rng_unit(rng), rest = sqrt(1 - turn * turn);
  CnMat3 r = {n, cn_madd(cn_scale(turn, t1), rest, t2), cn_madd(cn_scale(turn, t2), -rest, t1)};
  double a = cni_rng_range(rng, lo, hi), b = cni_rng_range(rng, lo, hi);
  return cn_srotate(r, cn_vec3(a, b, cni_rng_range(rng, lo, hi)));
}

RandomProblem random_problem_default(void) {
  return (RandomProblem){12,
                         16,
                         (1u << CN_BLOCK_KIND_COUNT) - 1,
                         1u << CNI_ROWS | 1u << CNI_PAIR | 1u << CNI_SPHERE,
                         CN_FRICTION_COULOMB,
                         1,
                         1};
}

// One of the bits that are set.
static int32_t pick(CniRng *rng, uint32_t mask) {
  int32_t count = 0, found = 0;
  for (int32_t i = 0; i < 32; i++) count += (int32_t)(mask >> i & 1);
  int32_t skip = (int32_t)(cni_rng_unit(rng) * count);
  for (int32_t i = 0; i < 32; i++)
    if (mask >> i & 1) {
      found = i;
      if (skip-- == 0) break;
    }
  return found;
}

static void add_random_groups(CniRng *rng, const RandomProblem *how, CnProblem *p) {
  for (int32_t i = 0; i < how->group_count; i++) {
    CnGroupDef def = cn_group_def_default();
    double draw = cni_rng_unit(rng), mass = cni_rng_range(rng, 0.5, 2);
    double j = cni_rng_range(rng, 0.005, 0.02);
    CnSym3 full = random_sym3(rng, 30, 200);
    if (i > 0 && (draw > 0.125 || i == 1)) {
      def.inv_mass = 1 / mass;
      int isotropic = i == 1 || draw < 0.6 || how->storages == 1u << CNI_SPHERE;
      def.inv_inertia = isotropic ? cn_sdiag(1 / j, 1 / j, 1 / j) : full;
    }
    def.free.velocity = random_vec(rng, 1);
    def.free.spin = random_vec(rng, 2);
    def.old.velocity = def.inv_mass > 0 ? random_vec(rng, 1) : def.free.velocity;
    def.old.spin = def.inv_mass > 0 ? random_vec(rng, 2) : def.free.spin;
    CHECK_OK(cn_problem_add_group(p, &def, NULL));
  }
}

static int32_t add_random_set(CniRng *rng, const RandomProblem *how, CnProblem *p) {
  CnSet set = cn_set_default((CnBlockKind)pick(rng, how->kinds));
  set.mu = cni_rng_unit(rng) < 0.1 ? 0 : cni_rng_range(rng, 0.1, 1);
  set.mu_roll = cni_rng_range(rng, 0.001, 0.02);
  set.mu_spin = cni_rng_range(rng, 0.001, 0.02);
  set.lo = cni_rng_range(rng, -0.2, 0);
  set.hi = cni_rng_range(rng, 0, 0.2);
  double cohesive = cni_rng_unit(rng), compliant = cni_rng_unit(rng);
  if (how->cohesive && cohesive < 0.5) set.cohesion = cni_rng_range(rng, 0, 0.1);
  for (int32_t i = 0; i < 3; i++) {
    double c = cni_rng_range(rng, 0.001, 0.5);
    if (how->compliant && compliant < 0.5) set.compliance[i] = c;
  }
  int32_t index = -1;
  CHECK_OK(cn_problem_add_set(p, &set, &index));
  return index;
}

// Two different groups, at least one with mass; for spheres none of full inertia.
static int random_groups(CniRng *rng, const CnProblem *p, int32_t storage, int32_t *a, int32_t *b) {
  for (int32_t tries = 0; tries < 200; tries++) {
    *a = (int32_t)(cni_rng_unit(rng) * p->group_count);
    *b = (int32_t)(cni_rng_unit(rng) * p->group_count);
    CniMassKind ka = cni_group_kind(&p->groups[*a]), kb = cni_group_kind(&p->groups[*b]);
    if (*a == *b || (ka == CNI_MASS_NONE && kb == CNI_MASS_NONE)) continue;
    if (storage == CNI_SPHERE && (ka == CNI_MASS_FULL || kb == CNI_MASS_FULL)) continue;
    return 1;
  }
  return 0;
}

static void add_random_block(CniRng *rng, CnProblem *p, int32_t storage, int32_t set, int32_t a,
                             int32_t b) {
  CnBlockKind kind = p->sets[set].kind;
  int32_t dim = cni_block_dim(kind);
  double zero[CNI_MAX_DIM] = {0};
  if (dim == 0) dim = 1 + (int32_t)(cni_rng_unit(rng) * 3);
  if (storage == CNI_SPHERE) {
    CnSphereDef def = cn_sphere_def_default();
    def.group_a = a;
    def.group_b = b;
    def.normal = random_unit(rng);
    def.radius_a = cni_rng_range(rng, 0.05, 0.2);
    def.radius_b = cni_rng_range(rng, 0.05, 0.2);
    def.length = cni_rng_range(rng, 0.05, 0.2);
    CHECK_OK(cn_problem_add_sphere(p, set, dim, &def, zero, NULL));
    return;
  }
  CnPairDef def = cn_pair_def_default();
  CnVec3 t2;
  def.group_a = a;
  def.group_b = b;
  def.normal = random_unit(rng);
  cn_tangents(def.normal, &def.tangent, &t2);
  def.arm_a = random_vec(rng, 0.2);
  def.arm_b = random_vec(rng, 0.2);
  def.length = cni_rng_range(rng, 0.05, 0.2);
  if (storage == CNI_PAIR) {
    CHECK_OK(cn_problem_add_pair(p, set, dim, &def, zero, NULL));
    return;
  }
  CnRowEntry entries[3 * CNI_MAX_DIM];
  int32_t count = 0;
  for (int32_t row = 0; row < dim; row++)
    for (int32_t side = 0; side < 3; side++) {
      // now and then a third group, which may also be one of the two
      if (side == 2 && cni_rng_unit(rng) < 0.7) continue;
      int32_t group = side == 0 ? a : side == 1 ? b : (int32_t)(cni_rng_unit(rng) * p->group_count);
      CnVec3 move = random_vec(rng, 1);
      entries[count++] = (CnRowEntry){row, group, {move, random_vec(rng, 0.2)}};
    }
  CHECK_OK(cn_problem_add_rows(p, set, dim, entries, count, zero, NULL));
}

// Choose b so that the velocities `v` satisfy the block, strictly where that is possible.
static void make_feasible(CniRng *rng, CnProblem *p, int32_t index, const double *v) {
  const CniBlock *block = &p->blocks[index];
  double u[CNI_MAX_DIM] = {0}, *b = p->b + block->row;
  cni_storages[block->storage].velocity(p, block, v, u);
  for (int32_t i = 0; i < block->dim; i++) b[i] = -u[i];
  if (block->kind != CN_BLOCK_BILATERAL) b[0] += cni_rng_range(rng, 0.01, 0.2);
}

CnProblem *random_problem(CniRng *rng, const RandomProblem *how) {
  CnProblem *p = empty_problem(how->friction);
  add_random_groups(rng, how, p);
  double feasible[6 * 64] = {0};
  CHECK(how->group_count >= 2 && how->group_count <= 64);
  for (int32_t i = 0; i < how->group_count; i++) {
    CnTwist t = cni_group_free(&p->groups[i]);
    double *v = feasible + 6 * i, move = cni_group_kind(&p->groups[i]) == CNI_MASS_NONE ? 0 : 0.3;
    double given[6] = {t.velocity.x, t.velocity.y, t.velocity.z, t.spin.x, t.spin.y, t.spin.z};
    for (int32_t d = 0; d < 6; d++) v[d] = given[d] + cni_rng_range(rng, -move, move);
  }
  while (p->block_count < how->block_count) {
    int32_t storage = pick(rng, how->storages), a, b;
    if (!random_groups(rng, p, storage, &a, &b)) continue;
    int32_t set = add_random_set(rng, how, p);
    add_random_block(rng, p, storage, set, a, b);
    make_feasible(rng, p, p->block_count - 1, feasible);
  }
  return p;
}

// ---- answers ----

CnAnswer answer_for(const CnProblem *problem) {
  CnAnswer answer = cn_answer_empty(NULL);
  CHECK_OK(cn_answer_fit(&answer, problem));
  answer_update(problem, &answer);
  return answer;
}

void answer_update(const CnProblem *problem, CnAnswer *answer) {
  cni_problem_apply(problem, answer->g, answer->v);
  cni_problem_velocity(problem, answer->v, answer->g, answer->u);
}

CnCertificate certify(CnProblem *problem, const CnAnswer *answer) {
  CnCertificate certificate = {0};
  CHECK_OK(cn_certify(problem, answer, &certificate));
  return certificate;
}
