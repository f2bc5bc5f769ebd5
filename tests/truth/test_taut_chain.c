// SPDX-License-Identifier: Apache-2.0
// A light chain that carries a heavy weight, at a large step: it swings and comes down. Without
// geometric stiffness the links swing past the line of the force and gain several times as much energy.
// Joints hold either way.
#include <math.h>

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

// The weight swings as a pendulum: v = v0 cos wt, w = sqrt(g/l). In a step positions are ahead of
// velocities by h/2, so that the energy that is read goes up and down with h/2 times the power of
// gravity, m g v0^2/(2 w l) sin 2wt: by m v0^2/2 times h w/2.
static double promised(Chain chain, double h) {
  double l = LINK * (chain.links - 0.5), v0 = 0.5;
  return 0.5 * chain.weight * v0 * v0 * h * sqrt(9.81 / l) / 2;
}

static const Chain CHAINS[] = {{6, 100, 1}, {30, 1000, 1}};

// With geometric stiffness the links, light as they are, add nothing to that.
static void stays_together(void **state) {
  (void)state;
  const double steps[] = {0.002, 0.01, 0.02};
  for (int k = 0; k < 6; k++) {
    double error, h = steps[k % 3];
    CHECK(gain(CHAINS[k / 3], h, &error) < promised(CHAINS[k / 3], h));
    CHECK(error < 1e-9);
  }
}

// Without it they swing past the line of the force: several times as much. Joints hold all the same.
static void more_without(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    double error, with = gain(CHAINS[k], 0.02, &error);
    Chain without = CHAINS[k];
    without.geometric_stiffness = 0;
    CHECK(gain(without, 0.02, &error) > 3 * with);
    CHECK(error < 1e-9);
  }
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

// A light bar of .5 m with a ton at its end, both hinged, start kinked and snap straight with 200 kN: the bar cannot turn
// without the ton, and is not braked. Its mass lies at its end, or in its middle. Truth: hem5.
static double bar_angle(const char *integrator, double h, int middle) {
  const double mass[2] = {1e-3, 1e3}, j[2] = {1e-5, 10};
  CnWorldDef def = world_def_exact(h);
  def.integrator = integrator;
  def.integration.tolerance = 1e-8;
  CnWorld *world = world_make(&def);
  CnVec3 knee = {.2823212366975177, 0, -.41266780745483916}, y = {0, -1, 0};
  CnVec3 ton = {.1345611333668479, 0, -.8903360520176422};
  CnVec3 at = middle ? cn_scale(.5, knee) : knee;
  CnTwist rest = {{0, 0, 0}, {0, 0, 0}};
  CnBodyId bar =
      world_mass(world, mass[0], cn_vec3(j[0], j[0], j[0]), world_at(at.x, 0, at.z), rest);
  CnBodyId end =
      world_mass(world, mass[1], cn_vec3(j[1], j[1], j[1]), world_at(ton.x, 0, ton.z), rest);
  CnBodyId ground = {0, 0};
  CnJointId hinge = world_join(world, CN_JOINT_REVOLUTE, ground, bar, CN_VEC3_ZERO, y, NULL);
  world_join(world, CN_JOINT_REVOLUTE, bar, end, knee, y, NULL);
  while (world_info(world).time < 1 - .5 * h) world_step(world);
  double angle = world_joint(world, hinge).coordinate[0];
  cn_world_destroy(world);
  return angle;
}

static void heavy_end(void **state) {
  (void)state;
  CHECK_NEAR(bar_angle("hem5", 1e-2, 0), -1.13400, 1e-5);
  for (int middle = 0; middle < 2; middle++) {
    double coarse = bar_angle("impulse", 1e-3, middle), fine = bar_angle("impulse", 5e-4, middle);
    print_message("bar with a ton, %d: %.6f, %.6f rad\n", middle, coarse, fine);
    CHECK_NEAR(coarse, -1.13400, 2e-4);
    CHECK_NEAR(fine, -1.13400, 5e-5);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stays_together),
      cmocka_unit_test(more_without),
      cmocka_unit_test(ton_on_thirty_links),
      cmocka_unit_test(heavy_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
