// SPDX-License-Identifier: Apache-2.0
// Impacts that follow from impacts within a step keep their restitution: balls without friction and
// with e = 1 keep their energy, in a row as in a box.
#include <math.h>
#include <stdio.h>

#include "check.h"
#include "core/rng.h"
#include "core/vec.h"
#include "worlds.h"

static void wall(CnWorld *world, CnVec3 point, CnVec3 axis, double angle, CnMaterialId material) {
  CnBodyDef body = cn_body_def_default();
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_PLANE);
  CnBodyId id;
  CnShapeId shape_id;
  body.kind = CN_BODY_FIXED;
  body.pose = (CnPose){point, world_turn(axis, angle)};
  shape.material = material;
  CHECK_OK(cn_body_create(world, &body, &id));
  CHECK_OK(cn_shape_create(world, id, &shape, &shape_id));
}

static CnWorld *space(double h, CnImpact impact, CnMaterialId *material) {
  CnWorldDef def = world_def_exact(h);
  def.gravity = CN_VEC3_ZERO;
  def.integration.impact = impact;
  CnWorld *world = world_make(&def);
  *material = world_material(world, 0, 1);
  return world;
}

// 27 balls of radius 0.1 in a box of 1 m.
static void balls_in_a_box(void **state) {
  (void)state;
  CnMaterialId material;
  CnWorld *world = space(1e-3, CN_IMPACT_SIMULTANEOUS, &material);
  const double a = 0.5, quarter = 1.5707963267948966;
  wall(world, cn_vec3(0, 0, -a), cn_vec3(1, 0, 0), 0, material);
  wall(world, cn_vec3(0, 0, a), cn_vec3(1, 0, 0), 2 * quarter, material);
  wall(world, cn_vec3(-a, 0, 0), cn_vec3(0, 1, 0), quarter, material);
  wall(world, cn_vec3(a, 0, 0), cn_vec3(0, 1, 0), -quarter, material);
  wall(world, cn_vec3(0, -a, 0), cn_vec3(1, 0, 0), -quarter, material);
  wall(world, cn_vec3(0, a, 0), cn_vec3(1, 0, 0), quarter, material);
  CniRng rng = {7};
  for (int i = 0; i < 27; i++) {
    CnVec3 place = {0.3 * (i % 3 - 1), 0.3 * (i / 3 % 3 - 1), 0.3 * (i / 9 - 1)};
    CnVec3 velocity = {cni_rng_range(&rng, -1, 1), cni_rng_range(&rng, -1, 1),
                       cni_rng_range(&rng, -1, 1)};
    world_ball(world, 0.1, 1, place, velocity, material);
  }
  double start = world_energy(world), most = 0;
  for (int i = 0; i < 60000; i++) {
    world_step(world);
    most = fmax(most, fabs(world_energy(world) / start - 1));
  }
  printf("largest error of energy %.2g\n", most);
  CHECK(most < 1e-6);
  cn_world_destroy(world);
}

// A row of balls with gaps that close one after another within one step: the last one leaves with
// the speed of the first.
static void row_of_balls(void **state) {
  (void)state;
  CnMaterialId material;
  CnWorld *world = space(1e-2, CN_IMPACT_SIMULTANEOUS, &material);
  CnBodyId balls[6];
  for (int i = 0; i < 6; i++)
    balls[i] =
        world_ball(world, 0.05, 1, cn_vec3(0.101 * i, 0, 0), cn_vec3(i == 0, 0, 0), material);
  world_step(world);
  for (int i = 0; i < 6; i++) CHECK_NEAR(world_twist(world, balls[i]).velocity.x, i == 5, 1e-12);
  CnContact c;
  CHECK_OK(cn_world_contact(world, 4, &c));
  CHECK_NEAR(c.impulse.x, 1, 1e-12);
  cn_world_destroy(world);
}

// The same without gaps: one blow for all, or one after another.
static void two_laws(void **state) {
  (void)state;
  const double speeds[2][3] = {{-1.0 / 3, 2.0 / 3, 2.0 / 3}, {0, 0, 1}};
  for (int k = 0; k < 2; k++) {
    CnMaterialId material;
    CnWorld *world = space(1e-3, k ? CN_IMPACT_SEQUENTIAL : CN_IMPACT_SIMULTANEOUS, &material);
    CnBodyId balls[3];
    for (int i = 0; i < 3; i++)
      balls[i] = world_ball(world, 0.5, 1, cn_vec3(i, 0, 0), cn_vec3(i == 0, 0, 0), material);
    CnStepReport report = world_step_converged(world);
    for (int i = 0; i < 3; i++)
      CHECK_NEAR(world_twist(world, balls[i]).velocity.x, speeds[k][i], 1e-11);
    CHECK(report.solve.converged == 1);
    cn_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(balls_in_a_box),
                                     cmocka_unit_test(row_of_balls), cmocka_unit_test(two_laws)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
