// SPDX-License-Identifier: Apache-2.0
// Balances that no contact may break: a cloud of balls without gravity keeps its momentum and its
// angular momentum, and loses exactly the energy that the certificate calls dissipated. Joints lose
// none of the momentum either.
#include "check.h"
#include "core/rng.h"
#include "core/vec.h"
#include "worlds.h"

#define BALLS 30

// Balls of two sizes that fly towards the middle, spinning, with friction and some bounce.
static CnWorld *cloud(double h, double restitution) {
  CnWorldDef def = world_def_exact(h);
  def.gravity = CN_VEC3_ZERO;
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, 0.4, restitution);
  CniRng rng = {12345};
  for (int i = 0; i < BALLS; i++) {
    CnVec3 at = {0.3 * (i % 3) + 0.01 * cni_rng_unit(&rng), 0.3 * (i / 3 % 3),
                 0.3 * (i / 9) + 0.01 * cni_rng_unit(&rng)};
    CnVec3 to = cn_scale(2, cn_sub(cn_vec3(0.3, 0.3, 0.45), at));
    double radius = i % 2 ? 0.1 : 0.14;
    CnBodyId ball = world_ball(world, radius, radius * 10, at, to, material);
    CnTwist twist = {
        to, {cni_rng_range(&rng, -5, 5), cni_rng_range(&rng, -5, 5), cni_rng_range(&rng, -5, 5)}};
    CHECK_OK(cn_body_set_twist(world, ball, &twist));
  }
  return world;
}

static void momentum_and_dissipation(void **state) {
  (void)state;
  const double restitutions[] = {0, 0.5};
  for (int k = 0; k < 2; k++) {
    CnWorld *world = cloud(1e-3, restitutions[k]);
    CnWorldSums start, before, after;
    cn_world_sums(world, &start);
    double lost = 0;
    for (int i = 0; i < 400; i++) {
      cn_world_sums(world, &before);
      CnStepReport report = world_step(world);
      cn_world_sums(world, &after);
      lost += report.solve.certificate.dissipation;
      CHECK_NEAR(before.kinetic_energy - after.kinetic_energy, report.solve.certificate.dissipation,
                 1e-11 * start.kinetic_energy);
    }
    CHECK_NEAR(cn_norm(cn_sub(after.momentum, start.momentum)), 0, 1e-12);
    CHECK_NEAR(cn_norm(cn_sub(after.angular_momentum, start.angular_momentum)), 0, 1e-11);
    CHECK_REL(start.kinetic_energy - after.kinetic_energy, lost, 1e-9);
    // much of it collided
    CHECK(after.kinetic_energy < 0.8 * start.kinetic_energy);
    cn_world_destroy(world);
  }
}

// A tumbling chain of three bodies on ball joints keeps its momentum; rigid joints do no work, and
// the scheme does not gain any.
static void chain(void **state) {
  (void)state;
  CnWorldDef def = world_def_exact(1e-3);
  def.gravity = CN_VEC3_ZERO;
  def.solver.local = CN_LOCAL_EXACT;
  CnWorld *world = world_make(&def);
  CnBodyId bodies[3];
  for (int i = 0; i < 3; i++) {
    CnTwist twist = {{0, i == 1 ? 1 : 0, i == 2 ? 2 : 0}, {0, 0, 0}};
    bodies[i] = world_mass(world, 1 + i, cn_vec3(0.1, 0.1, 0.1), world_at(i, 0, 0), twist);
  }
  for (int i = 0; i < 2; i++) {
    CnJointDef joint = cn_joint_def_default(CN_JOINT_BALL);
    CnJointId id;
    joint.body_a = bodies[i];
    joint.body_b = bodies[i + 1];
    CHECK_OK(cn_joint_def_at(world, cn_vec3(i + 0.5, 0, 0), &joint));
    CHECK_OK(cn_joint_create(world, &joint, &id));
  }
  CnWorldSums start, now;
  cn_world_sums(world, &start);
  double energy = start.kinetic_energy;
  for (int i = 0; i < 1000; i++) {
    world_step_converged(world);
    cn_world_sums(world, &now);
    CHECK(now.kinetic_energy <= energy * (1 + 1e-3));
  }
  CHECK_NEAR(cn_norm(cn_sub(now.momentum, start.momentum)), 0, 1e-12);
  CHECK(now.kinetic_energy > 0.2 * start.kinetic_energy);
  cn_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(momentum_and_dissipation),
      cmocka_unit_test(chain),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
