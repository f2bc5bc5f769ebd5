// SPDX-License-Identifier: Apache-2.0
// Small stacks of flat bodies that slide and turn on each other, by moreau-jean: corners, rims and edges that come and
// go, loads that can be shared in many ways. Every step is made, and the motion is that of `impulse`.
#include "check.h"
#include "core/math.h"
#include "core/rng.h"
#include "core/vec.h"
#include "worlds.h"

#include <math.h>

#define MOST 3
#define H 0.002

typedef struct Stack {
  CnWorld *world;
  CnBodyId bodies[MOST];
  int32_t count;
  double size; // J: weight times 1 m
} Stack;

static double any(CniRng *rng, double lo, double hi) { return cni_rng_range(rng, lo, hi); }

static void pile_up(Stack *s, CniRng *rng, CnMaterialId material) {
  double z = 0;
  for (int32_t k = 0; k < s->count; k++) {
    static const CnShapeKind kinds[3] = {CN_SHAPE_BOX, CN_SHAPE_CYLINDER, CN_SHAPE_CONE};
    CnShapeDef shape = cn_shape_def_default(kinds[(int)any(rng, 0, 3)]);
    CnBodyDef def = cn_body_def_default();
    CnShapeId id;
    CnBodyInfo info;
    double across = any(rng, .1, .4), along = any(rng, .1, .4), x = any(rng, -.05, .05);
    shape.half_length = any(rng, .05, .15);
    shape.half_size = cn_vec3(across, along, shape.half_length);
    shape.radius = across;
    shape.top_radius = across / 2;
    shape.material = material;
    double turn = any(rng, 0, 6);
    def.pose = (CnPose){cn_vec3(x, 0, z + shape.half_length), world_turn(cn_vec3(0, 0, 1), turn)};
    double u = any(rng, -1, 1), v = any(rng, -1, 1), w = any(rng, -4, 4);
    def.twist = (CnTwist){cn_vec3(u, v, 0), cn_vec3(0, 0, w)};
    z += 2 * shape.half_length;
    CHECK_OK(cn_body_create(s->world, &def, &s->bodies[k]));
    CHECK_OK(cn_shape_create(s->world, s->bodies[k], &shape, &id));
    CHECK_OK(cn_body_info(s->world, s->bodies[k], &info));
    s->size += info.mass * 9.81;
  }
}

static Stack stack(const char *integrator, double h, uint64_t seed) {
  CniRng rng = {seed};
  CnWorldDef def = world_def_exact(h);
  double tilt = any(&rng, 0, .4);
  def.integrator = integrator;
  def.gravity = cn_vec3(9.81 * cni_sin(tilt), 0, -9.81 * cni_cos(tilt));
  def.balance = 1;
  def.solver = cn_solver_def_default("auto");
  def.solver.effort = CN_EFFORT_EXACT;
  Stack s = {.world = world_make(&def), .count = 2 + (int32_t)any(&rng, 0, 2)};
  CnMaterialId material = world_material(s.world, any(&rng, .2, 1.2), 0);
  world_fixed_box(s.world, cn_vec3(1.5, 1.5, .5), world_at(0, 0, -.5), material);
  pile_up(&s, &rng, material);
  return s;
}

static void steps_are_made(void **state) {
  (void)state;
  double sum = 0; // of 11 stacks
  for (uint64_t seed = 2; seed <= 12; seed++) {
    Stack a = stack("moreau-jean", H, seed), b = stack("impulse", H / 4, seed);
    double given = 0, apart = 0, change = 0;
    for (int i = 0; i < 25; i++) {
      CnStepBalance balance;
      world_step(a.world);
      for (int k = 0; k < 4; k++) world_step(b.world);
      CHECK_OK(cn_world_balance(a.world, &balance));
      CHECK(fabs(balance.residual.energy) < 1e-10 * a.size);
      given += balance.parts[CN_BALANCE_GRAVITY].energy;
      change += balance.change.energy;
    }
    for (int32_t k = 0; k < a.count; k++) {
      CnVec3 x = world_pose(a.world, a.bodies[k]).position;
      apart = cn_max(apart, cn_norm(cn_sub(x, world_pose(b.world, b.bodies[k]).position)));
    }
    print_message("%2d: apart %.1e m, energy %.1e\n", (int)seed, apart, (change - given) / a.size);

    CHECK(change < given);
    CHECK(apart < 0.01);
    sum += apart;
    cn_world_destroy(a.world);
    cn_world_destroy(b.world);
  }
  CHECK(sum / 11 < 3e-3);
}

// hem5: where rows that slip come to depend on each other a short step leads on (both stacks stopped the run).
static void slips_that_depend(void **state) {
  (void)state;
  static const uint64_t seeds[2] = {8, 20};
  for (int k = 0; k < 2; k++) {
    Stack s = stack("hem5", H, seeds[k]);
    double before = world_energy(s.world);
    for (int i = 0; i < (k ? 20 : 6); i++) world_step(s.world);
    CHECK(world_energy(s.world) < before);
    cn_world_destroy(s.world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(steps_are_made),
                                     cmocka_unit_test(slips_that_depend)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
