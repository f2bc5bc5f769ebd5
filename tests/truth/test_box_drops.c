// SPDX-License-Identifier: Apache-2.0
// A box that tumbles on the floor, with everything as it is by default: no step makes energy. Corners follow
// each other within a step or two, so that impacts fall on the very end of a step while others are still
// open: an impulse of the step before must not pass for the answer there.
#include "check.h"
#include "core/rng.h"
#include "core/vec.h"
#include "toys.h"
#include "worlds.h"

#define G 9.81
#define MASS 3

// Velocities are those of the middle of a step: a box that was carried and flies has m (g h)^2/2 more. One that
// comes to rest with an overlap is lifted out of it, by 1/50 of it in a step.
static void drop(CniRng *rng, double h, double mu, double e, double g, CnRestitutionLaw law) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = h;
  def.gravity = cn_vec3(0, 0, -g);
  def.restitution_law = law;
  CnWorld *world = world_make(&def);
  CnMaterialId hard = world_material(world, mu, e);
  world_floor(world, hard);
  CnVec3 turn = toy_any(rng, 1), spin = toy_any(rng, 8);
  CnPose pose = {{0, 0, 0.25}, world_turn(cn_scale(1 / cn_norm(turn), turn), 3 * cn_norm(turn))};
  CnBodyId box = world_box(world, cn_vec3(0.1, 0.075, 0.05), MASS, pose, CN_VEC3_ZERO, hard);
  CHECK_OK(cn_body_set_twist(world, box, &(CnTwist){{1, 0, -2}, spin}));
  double energy = world_energy(world), most = MASS * g * h * g * h / 2 + 1e-4 * energy;
  for (int i = 0; i * h < 0.5; i++) {
    world_step(world);
    double now = world_energy(world);
    if (now > energy + most)
      fail_msg("h %g, friction %g, e %g: step %d made %g J of %g J", h, mu, e, i, now - energy,
               energy);
    energy = now;
  }
  cn_world_destroy(world);
}

static void drops(double friction, CnRestitutionLaw law) {
  static const double steps[] = {0.001, 0.002, 0.004};
  CniRng rng = {7};
  for (int i = 0; i < 60; i++) {
    double e = cni_rng_range(&rng, 0, 0.9), mu = friction * cni_rng_range(&rng, 0, 1);
    drop(&rng, steps[i % 3], mu, e, i % 4 ? G : 0, law);
  }
}

static void without_friction(void **state) {
  (void)state;
  drops(0, CN_RESTITUTION_NEWTON);
}

// Newton's law may make energy with friction, that of Stronge never does.
static void with_friction(void **state) {
  (void)state;
  drops(0.5, CN_RESTITUTION_ENERGETIC);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(without_friction),
                                     cmocka_unit_test(with_friction)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
