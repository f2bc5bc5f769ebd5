// SPDX-License-Identifier: Apache-2.0
// A light chain that carries a heavy weight, at a large step: it swings and comes down. Without
// geometric stiffness the links of a long one swing past the line of the force and may gain several
// times as much energy. Joints hold either way.
#include "check.h"
#include "core/vec.h"
#include "worlds.h"

#define LINK 0.1 // m
#define MOST 30  // links

typedef struct Chain {
  int32_t links;
  double weight; // kg
  int32_t geometric_stiffness;
} Chain;

// Largest gain of energy in five seconds, J; *error: largest distance of a joint's two ends.
static double gain(Chain chain, double h, double *error) {
  CnWorldDef def = world_def_exact(h);
  def.geometric_stiffness = chain.geometric_stiffness;
  def.solver.local = CN_LOCAL_EXACT;
  def.solver.tolerance = 1e-8;
  CnWorld *world = world_make(&def);
  CnJointId joints[MOST];
  CnBodyId above = {0, 0};
  for (int i = 0; i < chain.links; i++) {
    int weight = i == chain.links - 1;
    double mass = weight ? chain.weight : 1, j = weight ? chain.weight / 100 : LINK * LINK / 12;
    CnTwist twist = {{weight ? 0.5 : 0, 0, 0}, {0, 0, 0}};
    CnBodyId body =
        world_mass(world, mass, cn_vec3(j, j, j), world_at(0, 0, -LINK * (i + 0.5)), twist);
    CnJointDef joint = cn_joint_def_default(CN_JOINT_BALL);
    joint.body_a = body;
    joint.body_b = above;
    CHECK_OK(cn_joint_def_at(world, cn_vec3(0, 0, -LINK * i), &joint));
    CHECK_OK(cn_joint_create(world, &joint, &joints[i]));
    above = body;
  }

  double start = world_energy(world), most = start;
  *error = 0;
  while (world_info(world).time < 5) {
    world_step(world);
    most = cn_max(most, world_energy(world));
    for (int i = 0; i < chain.links; i++) {
      CnJointState now;
      CHECK_OK(cn_joint_state(world, joints[i], &now));
      *error = cn_max(*error, now.error);
    }
  }
  cn_world_destroy(world);
  return most - start;
}

// Energy goes up and down with the swing, by a share of what there is that falls with h.
static void stays_together(void **state) {
  (void)state;
  const double steps[] = {0.002, 0.01, 0.02};
  for (int i = 0; i < 3; i++) {
    double error;
    CHECK(gain((Chain){6, 100, 1}, steps[i], &error) < 2 * steps[i] * 12.5);
    CHECK(error < 1e-8);
  }
}

// 30 links and a ton.
static void long_chain(void **state) {
  (void)state;
  double error;
  CHECK(gain((Chain){30, 1000, 1}, 0.01, &error) < 0.05 * 125);
  CHECK(error < 1e-4);
}

static void more_without(void **state) {
  (void)state;
  double error;
  CHECK(gain((Chain){30, 1000, 0}, 0.01, &error) < 0.1 * 125);
  CHECK(error < 1e-6);
}

// Thirty links of a kilogram carry a ton, swinging, by the default solver: nothing stretches.
static void ton_on_thirty_links(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  def.time_step = .01;
  CnWorld *world = world_make(&def);
  CnJointId joints[30];
  CnBodyId above = {0, 0};
  for (int i = 0; i < 30; i++) {
    double mass = i == 29 ? 1000 : 1, j = mass * LINK * LINK / 6;
    CnBodyId body = world_mass(world, mass, cn_vec3(j, j, j), world_at(LINK * (i + .5), 0, 0),
                               (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO});
    CnJointDef joint = cn_joint_def_default(CN_JOINT_BALL);
    joint.body_a = body;
    joint.body_b = above;
    CHECK_OK(cn_joint_def_at(world, cn_vec3(LINK * i, 0, 0), &joint));
    CHECK_OK(cn_joint_create(world, &joint, &joints[i]));
    above = body;
  }
  double error = 0;
  while (world_info(world).time < 3) {
    world_step(world);
    for (int i = 0; i < 30; i++) {
      CnJointState now;
      CHECK_OK(cn_joint_state(world, joints[i], &now));
      error = cn_max(error, now.error);
    }
  }
  CHECK(error < .02);
  cn_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stays_together),
      cmocka_unit_test(long_chain),
      cmocka_unit_test(more_without),
      cmocka_unit_test(ton_on_thirty_links),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
