// SPDX-License-Identifier: Apache-2.0
// Machines of hinges have the same bits at every level of wide arithmetic: trees, loops, machines that
// float, bodies that stand on fixed ones, in numbers that fill the lanes or do not. Bodies of the drift of any
// machine, eight at once, have those of one alone.
#include "check.h"
#include "draws.h"
#include "worlds.h"

#include "assembly/tree/tree_private.h"
#include "core/rng.h"
#include "core/vec.h"
#include "world/world.h"

#include <string.h>

#define MOST 40
#define STEPS 40

typedef struct Kind {
  int32_t count, loops;
  int floats, on_fixed;
  double spin, h;
} Kind;

static const Kind kinds[] = {{1, 0, 0, 0, 3, .002},  {8, 0, 0, 1, 3, .002}, {13, 0, 0, 0, 40, .001},
                             {24, 0, 1, 0, 6, .002}, {40, 0, 0, 0, 2, .01}, {12, 3, 0, 1, 1, .002},
                             {17, 4, 0, 0, 1, .002}, {9, 2, 1, 0, 2, .002}};

static CnWorld *make(const Kind *kind, uint64_t seed, CnBodyId *bodies) {
  CniRng rng = {seed};
  CnWorldDef def = cn_world_def_default();
  def.time_step = kind->h;
  CnWorld *world = world_make(&def);
  CnBodyId none = {0, 0}, base = none;
  CnVec3 at[MOST];
  if (kind->on_fixed) {
    CnBodyDef fixed = cn_body_def_default();
    fixed.kind = CN_BODY_FIXED;
    fixed.pose = (CnPose){{.3, .1, -.2}, world_turn(cn_vec3(0, 1, 0), .4)};
    CHECK_OK(cn_body_create(world, &fixed, &base));
  }
  for (int32_t i = 0; i < kind->count; i++) {
    CnVec3 sides = cn_add(cn_vec3(.3, .3, .3), draw(&rng, .2)), spin = draw(&rng, kind->spin);
    double x = sides.x * sides.x, y = sides.y * sides.y, z = sides.z * sides.z;
    int32_t parent = i > 0 ? (int32_t)(cni_rng_unit(&rng) * i) : -1;
    at[i] = cn_add(parent >= 0 ? at[parent] : CN_VEC3_ZERO, draw(&rng, .5));
    CnPose pose = {at[i], world_turn(cn_vec3(0, 0, 1), cni_rng_range(&rng, -3, 3))};
    bodies[i] = world_mass(world, 1, cn_scale(1.0 / 12, cn_vec3(y + z, x + z, x + y)), pose,
                           (CnTwist){CN_VEC3_ZERO, kind->loops ? CN_VEC3_ZERO : spin});
    if (parent < 0 && kind->floats) continue;
    CnBodyId other = parent >= 0 ? bodies[parent] : base;
    int hinge = cni_rng_unit(&rng) < .7, swap = cni_rng_unit(&rng) < .5;
    CnVec3 axis = cn_unit_or(draw(&rng, 1), cn_vec3(1, 0, 0));
    world_join(world, hinge ? CN_JOINT_REVOLUTE : CN_JOINT_BALL, swap ? other : bodies[i],
               swap ? bodies[i] : other, cn_add(at[i], draw(&rng, .2)), axis, NULL);
  }
  for (int32_t i = 0; i < kind->loops; i++)
    world_join(world, CN_JOINT_BALL, bodies[i], bodies[kind->count - 1 - i], at[i],
               cn_vec3(0, 0, 1), NULL);
  return world;
}

static void run(const Kind *kind, uint64_t seed, CniSimdLevel level, CnPose *poses, CnTwist *twists,
                int32_t *whole) {
  CnBodyId bodies[MOST];
  CnWorld *world = make(kind, seed, bodies);
  for (int32_t i = 0; i < STEPS; i++) {
    CnStepReport report = world_step(world); // the first makes the tree
    if (i == 0) CHECK(world->tree != NULL);
    if (i == 0) world->tree->kernels = cni_tree_kernels(level);
    *whole += strcmp(report.solve.method, "tree") == 0;
  }
  for (int32_t i = 0; i < kind->count; i++) {
    poses[i] = world_pose(world, bodies[i]);
    twists[i] = world_twist(world, bodies[i]);
  }
  cn_world_destroy(world);
}

static void same_bits(void **state) {
  (void)state;
  static const CniSimdLevel levels[] = {CNI_SIMD_LEVEL_SSE2, CNI_SIMD_LEVEL_AVX2,
                                        CNI_SIMD_LEVEL_AVX512, CNI_SIMD_LEVEL_NEON};
  int32_t whole = 0, steps = 0;
  for (size_t n = 0; n < sizeof kinds / sizeof kinds[0]; n++) {
    CnPose plain[MOST], wide[MOST];
    CnTwist plain_twists[MOST], twists[MOST];
    size_t count = (size_t)kinds[n].count;
    run(&kinds[n], 7 + n, CNI_SIMD_LEVEL_PLAIN, plain, plain_twists, &whole);
    steps += STEPS;
    for (size_t k = 0; k < sizeof levels / sizeof levels[0]; k++) {
      int x86 = levels[k] != CNI_SIMD_LEVEL_NEON;
      if (x86 != (cni_simd_level() != CNI_SIMD_LEVEL_NEON) || levels[k] > cni_simd_level() ||
          !cni_tree_kernels(levels[k]))
        continue;
      run(&kinds[n], 7 + n, levels[k], wide, twists, &whole);
      steps += STEPS;
      CHECK(memcmp(plain, wide, count * sizeof *plain) == 0);
      CHECK(memcmp(plain_twists, twists, count * sizeof *twists) == 0);
    }
  }
  print_message("%d of %d steps whole\n", (int)whole, (int)steps);
  CHECK(10 * whole > 7 * steps);
}

// Light and heavy bodies, slow and fast ones, with forces that hold them or carry them away.
static void draw_eight(CniRng *rng, CniDriftEight *e) {
  for (int32_t k = 0; k < CNI_TREE_LANES; k++) {
    double push = cni_rng_unit(rng) < .3 ? 1 : .01;
    e->inv_mass[k] = cni_rng_range(rng, .1, 10);
    e->turn[k] = cni_rng_range(rng, .001, .02);
    cni_lane_put(&e->inertia, k, cn_add(cn_vec3(.02, .02, .02), draw(rng, .019)));
    cni_lane_put(&e->spin, k, draw(rng, 20));
    cni_lane_put(&e->middle, k, cni_lane_vec(&e->spin, k));
    cni_lane_put(&e->position, k, draw(rng, 3));
    cni_lane_put(&e->velocity, k, draw(rng, 3));
    cni_lane_put_quat(&e->rotation, k, world_turn(cn_unit_or(draw(rng, 1), cn_vec3(1, 0, 0)), 2));
    cni_lane_put(&e->force, k, draw(rng, push));
    cni_lane_put(&e->couple, k, draw(rng, push));
    cni_lane_put(&e->arms.x, k, draw(rng, push));
    cni_lane_put(&e->arms.y, k, draw(rng, push));
    cni_lane_put(&e->arms.z, k, draw(rng, push));
  }
}

// The midpoint spin of a lane by the method for one body.
static CnVec3 middle_of(const CniDriftEight *e, int32_t k) {
  CnQuat q = cni_lane_quat(&e->rotation, k);
  CnMat3 r = cn_qmat(q), b = {cni_lane_vec(&e->arms.x, k), cni_lane_vec(&e->arms.y, k),
                              cni_lane_vec(&e->arms.z, k)};
  b = (CnMat3){cn_mmul(b, r.x), cn_mmul(b, r.y), cn_mmul(b, r.z)};
  CniDriftTorque torque = {cn_unrotate(q, cni_lane_vec(&e->couple, k)),
                           {cn_mtmul(r, b.x), cn_mtmul(r, b.y), cn_mtmul(r, b.z)}};
  CnVec3 m = cni_lane_vec(&e->middle, k);
  CHECK(cni_drift_middle(cni_lane_vec(&e->inertia, k), cni_lane_vec(&e->spin, k), &torque,
                         e->turn[k], &m));
  return m;
}

static void bodies_alone(void **state) {
  (void)state;
  static const CniSimdLevel levels[] = {CNI_SIMD_LEVEL_PLAIN, CNI_SIMD_LEVEL_SSE2,
                                        CNI_SIMD_LEVEL_AVX2, CNI_SIMD_LEVEL_AVX512,
                                        CNI_SIMD_LEVEL_NEON};
  CniRng rng = {5};
  int32_t found = 0, all = 0;
  for (int32_t n = 0; n < 50; n++) {
    _Alignas(64) CniDriftEight start, first, e;
    memset(&start, 0, sizeof start);
    draw_eight(&rng, &start);
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
      const CniTreeKernels *kernels = cni_tree_kernels(levels[i]);
      if (!kernels || (i > 0 && levels[i] > cni_simd_level())) continue;
      e = start;
      int32_t left = kernels->turn_eight(&e);
      if (i == 0) first = e;
      CHECK(memcmp(&first, &e, sizeof e) == 0);
      for (int32_t k = 0; i == 0 && k < CNI_TREE_LANES; k++, all++) {
        if (left >> k & 1) continue;
        CnVec3 m = middle_of(&start, k), own = cni_lane_vec(&e.middle, k);
        CHECK(m.x == own.x && m.y == own.y && m.z == own.z);
        found++;
      }
    }
  }
  print_message("%d of %d bodies at once\n", (int)found, (int)all);
  CHECK(10 * found > 7 * all);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits), cmocka_unit_test(bodies_alone)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
