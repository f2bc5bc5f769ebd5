// SPDX-License-Identifier: Apache-2.0
// Sliding and rolling on a plane: a block that friction stops, a ball that goes from sliding to
// rolling, and round bodies on a slope of 30 degrees at the least friction that lets them roll.
#include "check.h"
#include "core/math.h"
#include "core/vec.h"
#include "worlds.h"

#define G 9.81

typedef struct Slide {
  CnWorld *world;
  CnBodyId body;
} Slide;

// ---- block: v0 = 5, mu = .3 ----

static Slide block(double h) {
  CnWorldDef def = world_def_exact(h);
  Slide s = {.world = world_make(&def)};
  CnMaterialId material = world_material(s.world, 0.3, 0);
  world_floor(s.world, material);
  CnVec3 half = {0.5, 0.4, 0.1};
  s.body = world_box(s.world, half, 2, world_at(0, 0, 0.1), cn_vec3(5, 0, 0), material);
  return s;
}

// Stops after v0/(mu g), at v0^2/(2 mu g).
static double stop_error(double h) {
  Slide s = block(h);
  double moving = 0;
  while (world_info(s.world).time < 2) {
    CnStepReport report = world_step_converged(s.world);
    CnTwist twist = world_twist(s.world, s.body);
    if (cn_norm(twist.velocity) > 1e-9) moving = report.time;
    CHECK_NEAR(cn_norm(twist.spin), 0, 1e-9);
  }
  CHECK_NEAR(moving, 1.698946653, 1.01 * h);
  CnVec3 at = world_pose(s.world, s.body).position;
  CHECK_NEAR(at.y, 0, 1e-9);
  CHECK_NEAR(at.z, 0.1, 1e-9);
  cn_world_destroy(s.world);
  return fabs(at.x - 4.247366633);
}

static void sliding_block(void **state) {
  (void)state;
  double coarse = stop_error(4e-3), fine = stop_error(1e-3);
  CHECK(fine < 5e-3);
  CHECK_NEAR(coarse / fine, 4, 0.2);
}

// ---- ball: from sliding to rolling ----

static void slide_to_roll(void **state) {
  (void)state;
  const double steps[] = {1e-3, 1e-4};
  for (int i = 0; i < 2; i++) {
    double h = steps[i], r = 0.2;
    CnWorldDef def = world_def_exact(h);
    CnWorld *world = world_make(&def);
    CnMaterialId material = world_material(world, 0.3, 0);
    world_floor(world, material);
    CnBodyId ball = world_ball(world, r, 3, cn_vec3(0, 0, r), cn_vec3(5, 0, 0), material);
    double slipping = 0, way = 0;
    while (world_info(world).time < 0.7) {
      CnStepReport report = world_step_converged(world);
      CnTwist twist = world_twist(world, ball);
      if (fabs(twist.velocity.x - r * twist.spin.y) > 1e-9) {
        slipping = report.time;
        way = world_pose(world, ball).position.x;
      }
    }
    CnTwist twist = world_twist(world, ball);
    CHECK_NEAR(slipping, 0.485413329, 1.01 * h);
    CHECK_NEAR(way, 2.080342841, 5 * h);
    CHECK_NEAR(twist.velocity.x, 25.0 / 7, 1e-9);
    CHECK_NEAR(twist.spin.y, 25.0 / 7 / r, 1e-8);
    CHECK_NEAR(twist.velocity.y, 0, 1e-12);
    CHECK_NEAR(world_pose(world, ball).position.z, r, 1e-9);
    cn_world_destroy(world);
  }
}

// ---- slope of 30 degrees: sphere, cylinder, hoop ----

// Acceleration over one second and slip speed at its end.
static void roll_down(double factor, double mu, double *acceleration, double *slip) {
  double h = 1e-3, r = 0.1, slope = CNI_PI / 6;
  CnWorldDef def = world_def_exact(h);
  def.gravity = cn_vec3(G * cni_sin(slope), 0, -G * cni_cos(slope));
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, mu, 0);
  world_floor(world, material);
  CnBodyId wheel = world_wheel(world, r, 2, factor * 2 * r * r, cn_vec3(0, 0, r), material);
  for (int i = 0; i < 1000; i++) world_step_converged(world);
  CnTwist twist = world_twist(world, wheel);
  *acceleration = twist.velocity.x;
  *slip = twist.velocity.x - r * twist.spin.y;
  CHECK_NEAR(world_pose(world, wheel).position.z, r, 1e-9);
  cn_world_destroy(world);
}

static void rolling_on_a_slope(void **state) {
  (void)state;
  const struct {
    double factor, least_mu, acceleration;
  } wheels[] = {{0.4, 0.164957, 3.503571}, {0.5, 0.192450, 3.27}, {1, 0.288675, 2.4525}};
  for (int i = 0; i < 3; i++) {
    double a, slip, mu = wheels[i].least_mu;
    roll_down(wheels[i].factor, 1.0001 * mu, &a, &slip);
    CHECK_NEAR(slip, 0, 1e-9);
    CHECK_NEAR(a, wheels[i].acceleration, 1e-6);
    roll_down(wheels[i].factor, 2 * mu, &a, &slip);
    CHECK_NEAR(slip, 0, 1e-9);
    CHECK_NEAR(a, wheels[i].acceleration, 1e-6);
    // a little less friction and it slips: a = g (sin - mu cos)
    roll_down(wheels[i].factor, 0.999 * mu, &a, &slip);
    CHECK(slip > 1e-3);
    CHECK_REL(a, G * (0.5 - 0.999 * mu * sqrt(0.75)), 1e-9);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sliding_block),
      cmocka_unit_test(slide_to_roll),
      cmocka_unit_test(rolling_on_a_slope),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
