// SPDX-License-Identifier: Apache-2.0
// Newton's cradle by the simultaneous impact law: three equal touching balls, e = 1, the first
// comes at 1 m/s. All contacts share one problem, so the answer is (-1/3, 2/3, 2/3) with impulses
// 4/3 and 2/3; momentum and energy are kept.
#include "check.h"
#include "core/vec.h"
#include "worlds.h"

static void three_balls(void **state) {
  (void)state;
  CnWorldDef def = world_def_exact(1e-3);
  def.gravity = CN_VEC3_ZERO;
  def.solver.tolerance = 1e-14;
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, 0, 1);
  CnBodyId balls[3];
  for (int i = 0; i < 3; i++)
    balls[i] = world_ball(world, 0.5, 1, cn_vec3(i, 0, 0), cn_vec3(i == 0 ? 1 : 0, 0, 0), material);
  world_step_converged(world);

  const double speeds[3] = {-1.0 / 3, 2.0 / 3, 2.0 / 3}, impulses[2] = {4.0 / 3, 2.0 / 3};
  for (int i = 0; i < 3; i++) {
    CHECK_NEAR(world_twist(world, balls[i]).velocity.x, speeds[i], 1e-12);
    CHECK_NEAR(world_twist(world, balls[i]).velocity.y, 0, 1e-15);
    CHECK_NEAR(cn_norm(world_twist(world, balls[i]).spin), 0, 1e-15);
  }
  CHECK(world_info(world).contact_count == 2);
  for (int i = 0; i < 2; i++) {
    CnContact c;
    CHECK_OK(cn_world_contact(world, i, &c));
    CHECK_NEAR(c.impulse.x, impulses[i], 1e-12);
    CHECK_NEAR(c.force.x, impulses[i] / 1e-3, 1e-9);
  }
  CnWorldSums sums;
  cn_world_sums(world, &sums);
  CHECK_NEAR(sums.momentum.x, 1, 1e-14);
  CHECK_NEAR(sums.kinetic_energy, 0.5, 1e-12);
  cn_world_destroy(world);
}

// Five balls, by both laws: (-3, 2, 2, 2, 2)/5 of the speed, or all of it to the last.
static void five_balls(void **state) {
  (void)state;
  static const char *const names[] = {"impulse", "moreau-jean", "hem5", "rkf45"};
  for (int k = 0; k < 4; k++)
    for (int law = 0; law < 2; law++)
      for (int speed = 1; speed <= 2; speed++) {
        CnWorldDef def = world_def_exact(1e-3);
        def.gravity = CN_VEC3_ZERO;
        def.integrator = names[k];
        def.solver = cn_solver_def_default("auto");
        def.solver.effort = CN_EFFORT_EXACT;
        def.solver.tolerance = 1e-14;
        def.integration.impact = law ? CN_IMPACT_SEQUENTIAL : CN_IMPACT_SIMULTANEOUS;
        CnWorld *world = world_make(&def);
        CnMaterialId material = world_material(world, 0, 1);
        CnBodyId balls[5];
        for (int i = 0; i < 5; i++)
          balls[i] = world_ball(world, 0.5, 1, cn_vec3(i, 0, 0), cn_vec3(i == 0 ? speed : 0, 0, 0),
                                material);
        world_step(world);
        for (int i = 0; i < 5; i++) {
          double wanted = law ? (i == 4 ? speed : 0) : (i == 0 ? -.6 : .4) * speed;
          CHECK_NEAR(world_twist(world, balls[i]).velocity.x, wanted, 1e-10);
        }
        // the impulse of a contact is the momentum behind it
        for (int i = 0; i < 4; i++) {
          CnContact c;
          CHECK_OK(cn_world_contact(world, i, &c));
          CHECK_NEAR(c.impulse.x, law ? speed : .4 * speed * (4 - i), 1e-10);
        }
        cn_world_destroy(world);
      }
}

// One after another with e = 1/2, by three laws of restitution.
static void dull_balls(void **state) {
  (void)state;
  static const char *const names[] = {"impulse", "moreau-jean"};
  static const CnRestitutionLaw laws[] = {CN_RESTITUTION_NEWTON, CN_RESTITUTION_POISSON,
                                          CN_RESTITUTION_ENERGETIC};
  for (int k = 0; k < 2; k++)
    for (int law = 0; law < 3; law++) {
      CnWorldDef def = world_def_exact(1e-3);
      def.gravity = CN_VEC3_ZERO;
      def.integrator = names[k];
      def.restitution_law = laws[law];
      def.solver = cn_solver_def_default("auto");
      def.solver.effort = CN_EFFORT_EXACT;
      def.solver.tolerance = 1e-14;
      def.integration.impact = CN_IMPACT_SEQUENTIAL;
      CnWorld *world = world_make(&def);
      CnMaterialId material = world_material(world, .2, .5);
      CnBodyId balls[3];
      for (int i = 0; i < 3; i++)
        balls[i] = world_ball(world, 0.5, 1, cn_vec3(i, 0, 0), cn_vec3(i == 0, 0, 0), material);
      world_step(world);
      // (1, 0, 0): (1, 3, 0)/4, (4, 3, 9)/16, (13, 15, 36)/64
      static const double wanted[3] = {13. / 64, 15. / 64, 36. / 64};
      for (int i = 0; i < 3; i++)
        CHECK_NEAR(world_twist(world, balls[i]).velocity.x, wanted[i], 1e-9);
      cn_world_destroy(world);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(three_balls), cmocka_unit_test(five_balls),
                                     cmocka_unit_test(dull_balls)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
