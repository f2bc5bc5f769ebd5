// SPDX-License-Identifier: Apache-2.0
// What tells the two friction models apart. Convex: a block that starts to slide is thrown up at
// mu |u_t| whatever h is, and one that slides steadily floats at the gap h mu |u_t|. Coulomb does
// neither.
#include "check.h"
#include "core/vec.h"
#include "worlds.h"

#define MU 0.3
#define SPEED 5.0
#define HALF 0.1

typedef struct Slide {
  CnWorld *world;
  CnBodyId block;
} Slide;

static Slide sliding(CnFrictionModel model, double h, double gap) {
  CnWorldDef def = world_def_exact(h);
  def.friction = model;
  Slide s = {.world = world_make(&def)};
  CnMaterialId material = world_material(s.world, MU, 0);
  world_floor(s.world, material);
  CnVec3 half = {0.4, 0.4, HALF};
  s.block = world_box(s.world, half, 1, world_at(0, 0, HALF + gap), cn_vec3(SPEED, 0, 0), material);
  return s;
}

static double gap(const Slide *s) { return world_pose(s->world, s->block).position.z - HALF; }

// Largest gap in half a second of sliding from phi = 0.
static double hop(CnFrictionModel model, double h) {
  Slide s = sliding(model, h, 0);
  double top = 0;
  while (world_info(s.world).time < 0.5) {
    CnStepReport report = world_step_converged(s.world);
    CHECK(report.solve.friction == model);
    top = cn_max(top, gap(&s));
  }
  cn_world_destroy(s.world);
  return top;
}

static void convex_hops(void **state) {
  (void)state;
  const double steps[] = {1e-3, 2e-3, 5e-3};
  for (int i = 0; i < 3; i++) {
    double top = hop(CN_FRICTION_CONVEX, steps[i]);
    CHECK(top >= 0.097 && top <= 0.102);
  }
}

static void convex_floats(void **state) {
  (void)state;
  double h = 1e-3;
  Slide s = sliding(CN_FRICTION_CONVEX, h, h * MU * SPEED);
  for (int i = 0; i < 1000; i++) {
    world_step_converged(s.world);
    CHECK_NEAR(gap(&s), h * MU * world_twist(s.world, s.block).velocity.x, 1e-8);
  }
  CHECK(world_twist(s.world, s.block).velocity.x > 1);
  cn_world_destroy(s.world);
}

static void coulomb_does_neither(void **state) {
  (void)state;
  const double steps[] = {1e-3, 5e-3};
  for (int i = 0; i < 2; i++) {
    CHECK(hop(CN_FRICTION_COULOMB, steps[i]) < 1e-9);
    Slide s = sliding(CN_FRICTION_COULOMB, steps[i], 0);
    while (world_info(s.world).time < 2) {
      world_step_converged(s.world);
      CHECK_NEAR(gap(&s), 0, 1e-9);
    }
    cn_world_destroy(s.world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(convex_hops),
      cmocka_unit_test(convex_floats),
      cmocka_unit_test(coulomb_does_neither),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
