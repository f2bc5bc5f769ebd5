// SPDX-License-Identifier: Apache-2.0
// Chains of ball-jointed rods by hem5, from 30 to 300 of them: energy and joints hold, and a step
// costs in proportion to the length.
#include "check.h"
#include "worlds.h"

#include "core/math.h"
#include "core/vec.h"

#include <stdio.h>
#include <time.h>

#define ROD 0.1 // m

// A chain of n rods hanging from the origin, slanting by an angle that alternates.
static CnWorld *hang(const char *integrator, int32_t n, CnBodyId *end) {
  CnWorldDef def = cn_world_def_default();
  def.integrator = integrator;
  def.time_step = 1e-3;
  def.integration.tolerance = 1e-7;
  CnWorld *world = world_make(&def);
  CnVec3 at = {0, 0, 0};
  CnBodyId last = {0, 0};
  for (int32_t i = 0; i < n; i++) {
    CnVec3 way = {i % 2 ? 0.6 * ROD : -0.6 * ROD, 0, -0.8 * ROD};
    CnPose pose = CN_POSE_ONE;
    pose.position = cn_madd(at, 0.5, way);
    CnTwist rest = {CN_VEC3_ZERO, CN_VEC3_ZERO};
    CnBodyId body = world_mass(world, 1, (CnVec3){1e-3, 1e-3, 1e-4}, pose, rest);
    CnJointDef joint = cn_joint_def_default(CN_JOINT_BALL);
    CnJointId id;
    joint.body_a = body;
    joint.body_b = last;
    CHECK_OK(cn_joint_def_at(world, at, &joint));
    CHECK_OK(cn_joint_create(world, &joint, &id));
    at = cn_add(at, way);
    last = body;
  }
  if (end) *end = last;
  return world;
}

// Of a hem5 step, s of this process: the least of several calls, and how many steps a call makes
// does not depend on the length much.
static double cost(int32_t n) {
  CnWorld *world = hang("hem5", n, NULL);
  double least = INFINITY, energy = world_energy(world);
  CnStepReport report;
  for (int i = 0; i < 12; i++) {
    clock_t start = clock();
    CHECK_OK(cn_world_step(world, &report));
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC / report.solve.iterations;
    if (i > 0 && seconds < least) least = seconds;
  }
  CHECK_NEAR(world_energy(world), energy, 1e-7 * n);
  cn_world_destroy(world);
  return least;
}

static void linear_cost(void **state) {
  (void)state;
  double first = cost(30), last = cost(300);
  double slope = cni_log_e(last / first) / cni_log_e(10);
  printf("  hem5, ms a step: 30 rods %.3f, 300 rods %.3f, slope %.2f\n", 1e3 * first, 1e3 * last,
         slope);
  CHECK(slope < 1.3);
}

// The same motion by all three; moreau-jean's own error is that of its step.
static void integrators_agree(void **state) {
  (void)state;
  static const char *const names[3] = {"hem5", "rkf45", "moreau-jean"};
  CnPose end[3];
  for (int k = 0; k < 3; k++) {
    CnBodyId last;
    CnWorld *world = hang(names[k], 100, &last);
    for (int i = 0; i < 20; i++) CHECK_OK(cn_world_step(world, NULL));
    end[k] = world_pose(world, last);
    cn_world_destroy(world);
  }
  CHECK_NEAR(cn_norm(cn_sub(end[1].position, end[0].position)), 0, 1e-8);
  CHECK_NEAR(cn_norm(cn_sub(end[2].position, end[0].position)), 0, 1e-4);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(linear_cost),
                                     cmocka_unit_test(integrators_agree)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
