// SPDX-License-Identifier: Apache-2.0
// Ten unit cubes, the top one 1000 and a million times as heavy: the stack stands for two seconds,
// and every interface carries the weight above it. With ipm, with auto, and with simplex, whose
// forces are right in every step.
#include "check.h"
#include "core/vec.h"
#include "worlds.h"

#include <math.h>

#define BOXES 10

typedef struct Stack {
  CnWorld *world;
  CnBodyId floor, boxes[BOXES];
} Stack;

static Stack build(const char *solver, double ratio) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = 0.01;
  def.solver = cn_solver_def_default(solver);
  def.solver.effort = CN_EFFORT_EXACT;
  Stack s = {.world = world_make(&def)};
  CnMaterialId material = world_material(s.world, 0.5, 0);
  CnVec3 half = {0.5, 0.5, 0.5};
  s.floor = world_floor(s.world, material);
  for (int i = 0; i < BOXES; i++)
    s.boxes[i] = world_box(s.world, half, i == BOXES - 1 ? ratio : 1, world_at(0, 0, 0.5 + i),
                           CN_VEC3_ZERO, material);
  return s;
}

static void stands(const char *solver, double ratio) {
  Stack s = build(solver, ratio);
  CnVec3 mean[BOXES] = {{0, 0, 0}};
  double deepest = 0;
  for (int k = 0; k < 200; k++) {
    CnStepReport report;
    CHECK_OK(cn_world_step(s.world, &report));
    CHECK(report.solve.converged);
    for (int i = 0; i < BOXES; i++) {
      double z = world_pose(s.world, s.boxes[i]).position.z;
      deepest = fmax(deepest, 0.5 + i - z);
      if (k >= 100) {
        CnVec3 force = world_force(s.world, i ? s.boxes[i - 1] : s.floor, s.boxes[i]);
        mean[i] = cn_madd(mean[i], 0.01, force);
      }
    }
  }
  CHECK(deepest < 1e-4);
  for (int i = 0; i < BOXES; i++) {
    double weight = 9.81 * (BOXES - 1 - i + ratio);
    CHECK_REL(mean[i].z, weight, 1e-6);
    CHECK_NEAR(mean[i].x, 0, 1e-6 * weight);
    CHECK_NEAR(mean[i].y, 0, 1e-6 * weight);
    CnVec3 at = world_pose(s.world, s.boxes[i]).position;
    CHECK_NEAR(at.x, 0, 1e-6);
    CHECK_NEAR(at.y, 0, 1e-6);
  }
  cn_world_destroy(s.world);
}

static void thousand_ipm(void **state) {
  (void)state;
  stands("ipm", 1e3);
}
static void thousand_auto(void **state) {
  (void)state;
  stands("auto", 1e3);
}
static void million_ipm(void **state) {
  (void)state;
  stands("ipm", 1e6);
}
static void million_auto(void **state) {
  (void)state;
  stands("auto", 1e6);
}

// simplex: every force of every step to 1e-8.
static void simplex(double ratio) {
  Stack s = build("simplex", ratio);
  for (int k = 0; k < 200; k++) {
    CnStepReport report;
    CHECK_OK(cn_world_step(s.world, &report));
    CHECK(report.solve.outcome == CN_OUTCOME_FINISHED && report.solve.pyramid_residual < 1e-8);
    CHECK(report.solve.friction == CN_FRICTION_CONVEX && report.solve.facets == 8);
    for (int i = 0; i < BOXES; i++) {
      double weight = 9.81 * (BOXES - 1 - i + ratio);
      CHECK_NEAR(world_pose(s.world, s.boxes[i]).position.z, 0.5 + i, 1e-4);
      CHECK_REL(world_force(s.world, i ? s.boxes[i - 1] : s.floor, s.boxes[i]).z, weight, 1e-8);
    }
  }
  cn_world_destroy(s.world);
}
static void simplex_even(void **state) {
  (void)state;
  simplex(1);
}
static void simplex_million(void **state) {
  (void)state;
  simplex(1e6);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(thousand_ipm), cmocka_unit_test(thousand_auto),
      cmocka_unit_test(million_ipm),  cmocka_unit_test(million_auto),
      cmocka_unit_test(simplex_even), cmocka_unit_test(simplex_million),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
