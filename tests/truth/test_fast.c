// SPDX-License-Identifier: Apache-2.0
// Fast and small against thin: nothing passes through a plate of 1 mm at 100 m/s with h = 0.01 s,
// wherever in the step it arrives. Contacts are looked for along the whole way of a step.
#include "check.h"
#include "core/vec.h"
#include "worlds.h"

static void through_a_plate(void **state) {
  (void)state;
  for (int n = 0; n < 200; n++) {
    CnWorldDef def = world_def_exact(.01);
    CnWorld *world = world_make(&def);
    CnMaterialId material = world_material(world, .3, n % 3 == 0 ? .5 : 0);
    world_fixed_box(world, cn_vec3(50, 50, .0005), world_at(0, 0, 0), material);
    // straight or aslant, from anywhere within three steps
    CnVec3 velocity = n % 2 ? cn_vec3(60, 0, -80) : cn_vec3(0, 0, -100);
    CnBodyId ball =
        world_ball(world, .005, .001, cn_vec3(0, 0, .02 + 3.0 * n / 200), velocity, material);
    for (int i = 0; i < 12; i++) {
      world_step(world);
      CHECK(world_pose(world, ball).position.z > .005);
    }
    cn_world_destroy(world);
  }
}

// The same of two small things that meet in the air.
static void head_on(void **state) {
  (void)state;
  for (int n = 0; n < 40; n++) {
    CnWorldDef def = world_def_exact(.01);
    def.gravity = CN_VEC3_ZERO;
    CnWorld *world = world_make(&def);
    CnMaterialId material = world_material(world, 0, 1);
    double far = .02 + 2.0 * n / 40;
    CnBodyId a = world_ball(world, .005, .001, cn_vec3(-far, 0, 0), cn_vec3(100, 0, 0), material);
    CnBodyId b = world_ball(world, .005, .001, cn_vec3(far, 0, 0), cn_vec3(-100, 0, 0), material);
    for (int i = 0; i < 6; i++) {
      world_step(world);
      CHECK(world_pose(world, a).position.x < world_pose(world, b).position.x);
    }
    CHECK_NEAR(world_twist(world, a).velocity.x, -100, 1e-6);
    cn_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(through_a_plate), cmocka_unit_test(head_on)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
