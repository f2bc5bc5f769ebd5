// SPDX-License-Identifier: Apache-2.0
// The error of a step by two steps of half its length: against the error itself, and without a trace.
#include "check.h"
#include "toys.h"

#include <math.h>

static CnStatus pull(void *context, const CnForceSight *sight, CnForceEffect *effect) {
  (void)context;
  effect->force = cn_scale(-40, sight->frame_b.position);
  return CN_OK;
}

static CnWorld *make(const char *integrator, double h, CnBodyId *id) {
  CnWorldDef def = cn_world_def_default();
  def.integrator = integrator;
  def.time_step = h;
  def.integration.tolerance = 1e-13;
  def.solver = cn_solver_def_default("auto");
  def.solver.effort = CN_EFFORT_EXACT;
  def.solver.tolerance = 1e-14;
  CnWorld *world = toy_world_from(&def);
  *id = toy_ball(world, .1, cn_vec3(.3, 0, 0), (CnMaterialId){0, 0});
  toy_set_twist(world, *id, cn_vec3(0, 1, .5), CN_VEC3_ZERO);
  CnForceDef force = cn_force_def_default(CN_FORCE_USER);
  CnForceId force_id;
  force.body_b = *id;
  force.function = pull;
  CHECK_OK(cn_force_create(world, &force, &force_id));
  return world;
}

static void tells_the_error(void **state) {
  (void)state;
  static const char *const names[2] = {"impulse", "moreau-jean"};
  static const double factor[2] = {2, 4.0 / 3};
  for (int k = 0; k < 2; k++) {
    CnBodyId id, other;
    CnStepEstimate estimate;
    CnWorld *world = make(names[k], .01, &id), *truth = make("hem5", .01, &other);
    uint64_t hash = cn_world_hash(world);
    CHECK_OK(cn_world_estimate(world, &estimate));
    CHECK(cn_world_hash(world) == hash);
    toy_steps(world, 1);
    toy_steps(truth, 1);
    CnVec3 way = cn_sub(toy_pose(world, id).position, toy_pose(truth, other).position);
    CnVec3 velocity = cn_sub(toy_twist(world, id).velocity, toy_twist(truth, other).velocity);
    CHECK_NEAR(factor[k] * estimate.position / cn_norm(way), 1, .05);
    CHECK_NEAR(factor[k] * estimate.velocity / cn_norm(velocity), 1, .05);
    CHECK(estimate.turn == 0 && estimate.spin == 0);
    cn_world_destroy(truth);
    cn_world_destroy(world);
  }
}

// A pile goes on with the same bits whether its errors are looked at or not.
static void leaves_no_trace(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  def.time_step = .005;
  CnWorld *a = toy_pile(&def, 60), *b = toy_pile(&def, 60);
  for (int i = 0; i < 40; i++) {
    CnStepEstimate estimate;
    CHECK_OK(cn_world_estimate(a, &estimate));
    CHECK(estimate.position < .05 && estimate.velocity < 5);
    toy_steps(a, 1);
    toy_steps(b, 1);
    CHECK(cn_world_hash(a) == cn_world_hash(b));
  }
  cn_world_destroy(a);
  cn_world_destroy(b);
}

static CnStatus fails(void *context, const CnForceSight *sight, CnForceEffect *effect) {
  (void)context, (void)sight, (void)effect;
  return cn_error_set(CN_INVALID_DATA, "no");
}

static void refuses(void **state) {
  (void)state;
  CnBodyId id;
  CnWorld *world = make("impulse", .01, &id);
  CnStepEstimate estimate;
  CnForceId force = cn_world_next_force(world, (CnForceId){0, 0});
  CnForceDef def;
  CHECK_STATUS(cn_world_estimate(world, NULL), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_world_estimate(NULL, &estimate), CN_INVALID_ARGUMENT);
  CHECK_OK(cn_force_def(world, force, &def));
  def.function = fails;
  CHECK_OK(cn_force_set(world, force, &def));
  CHECK_STATUS(cn_world_estimate(world, &estimate), CN_INVALID_DATA);
  CHECK(estimate.position == 0);
  cn_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(tells_the_error),
                                     cmocka_unit_test(leaves_no_trace), cmocka_unit_test(refuses)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
