// SPDX-License-Identifier: Apache-2.0
// The sliding block with every solver that has both friction models: the convex one throws it up
// and lets it float at the gap h mu |u_t|, Coulomb's does neither. Solvers that have one only say
// so by refusing the other.
#include "check.h"
#include "core/vec.h"
#include "worlds.h"

#include <string.h>

#define MU 0.3
#define SPEED 5.0
#define HALF 0.1
#define STEP 2e-3

static CnWorld *sliding(const char *solver, CnFrictionModel model, double gap, CnBodyId *block) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = STEP;
  def.friction = model;
  def.solver = cn_solver_def_default(solver);
  def.solver.effort = CN_EFFORT_EXACT;
  def.solver.tolerance = 1e-10;
  if (def.solver.max_iterations < 2000) def.solver.max_iterations = 2000;
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, MU, 0);
  world_floor(world, material);
  CnVec3 half = {0.4, 0.4, HALF};
  *block = world_box(world, half, 1, world_at(0, 0, HALF + gap), cn_vec3(SPEED, 0, 0), material);
  return world;
}

// Largest gap in the time given; negative where the solver does not have the model.
static double highest(const char *solver, CnFrictionModel model, double time) {
  CnBodyId block;
  CnWorld *world = sliding(solver, model, 0, &block);
  double top = 0;
  while (world_info(world).time < time) {
    CnStepReport report;
    CnStatus status = cn_world_step(world, &report);
    if (status == CN_UNSUPPORTED) {
      CHECK(strstr(cn_error_message(), solver) != NULL);
      top = -1;
      break;
    }
    CHECK_OK(status);
    if (report.solve.friction != model) {
      top = -1; // it says that it solved the other one
      break;
    }
    top = cn_max(top, world_pose(world, block).position.z - HALF);
  }
  cn_world_destroy(world);
  return top;
}

// Steady sliding in the convex model: the gap belongs to the speed.
static void check_floating(const char *solver) {
  CnBodyId block;
  CnWorld *world = sliding(solver, CN_FRICTION_CONVEX, STEP * MU * SPEED, &block);
  for (int i = 0; i < 300; i++) {
    world_step(world);
    double speed = world_twist(world, block).velocity.x;
    CHECK_NEAR(world_pose(world, block).position.z - HALF, STEP * MU * speed, 1e-7);
  }
  cn_world_destroy(world);
}

static void both_models(void **state) {
  (void)state;
  int with_both = 0;
  for (int32_t i = 0; cn_solver_name(i); i++) {
    const char *solver = cn_solver_name(i);
    double convex = highest(solver, CN_FRICTION_CONVEX, 0.5);
    double coulomb = highest(solver, CN_FRICTION_COULOMB, 1.8);
    if (convex < 0 || coulomb < 0) continue;
    with_both++;
    if (!(convex >= 0.097 && convex <= 0.102) || !(coulomb < 1e-9))
      print_error("%s: hop %g, gap %g\n", solver, convex, coulomb);
    CHECK(convex >= 0.097 && convex <= 0.102);
    CHECK(coulomb < 1e-9);
    check_floating(solver);
  }
  CHECK(with_both >= 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(both_models)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
