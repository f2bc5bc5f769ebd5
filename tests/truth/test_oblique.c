// SPDX-License-Identifier: Apache-2.0
// Oblique impacts with friction, by closed forms, wherever in a step they fall: a ball on the floor and
// two balls, sliding all through the impact or sticking in it.
#include "check.h"
#include "core/math.h"
#include "core/vec.h"
#include "worlds.h"

#define R 0.05
#define M 0.3

static CnWorld *empty(double h) {
  CnWorldDef def = world_def_exact(h);
  def.gravity = CN_VEC3_ZERO;
  return world_make(&def);
}

// A solid ball with velocity (vx, vz), vz < 0, and spin wy hits the floor: the point of contact slides
// at s = vx - R wy; the tangential impulse is that which stops it, 2/7 m s, or mu (1 + e) m |vz|.
static void on_the_floor(double h, double mu, double e, double share) {
  const double vx = 2, vz = -3, wy = -10;
  CnWorld *world = empty(h);
  CnMaterialId rough = world_material(world, mu, e);
  world_floor(world, rough);
  CnVec3 start = {0, 0, R + (2 + share) * h * -vz};
  CnBodyId ball = world_ball(world, R, M, start, cn_vec3(vx, 0, vz), rough);
  CnTwist twist = {{vx, 0, vz}, {0, wy, 0}};
  CHECK_OK(cn_body_set_twist(world, ball, &twist));
  for (int i = 0; i < 4; i++) world_step(world);
  double s = vx - R * wy, p = cn_min(2.0 / 7 * s, mu * (1 + e) * -vz); // over m
  CnTwist now = world_twist(world, ball);
  CHECK_REL(now.velocity.z, -e * vz, 1e-9);
  CHECK_REL(now.velocity.x, vx - p, 1e-6);
  CHECK_REL(now.spin.y, wy + p / (0.4 * R), 1e-6);
  cn_world_destroy(world);
}

static void floor_bounce(void **state) {
  (void)state;
  const double steps[] = {0.01, 0.005, 0.002, 0.001};
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 5; k++) {
      on_the_floor(steps[i], 0.1, 0.7, 0.1 + 0.2 * k); // slides
      on_the_floor(steps[i], 0.9, 0.7, 0.1 + 0.2 * k); // sticks
    }
}

// Two equal balls along their line of centres, one of them spinning: 1/m_t = 2 (1/m + R^2/J) = 7/m. The
// impulse acts at one point, in the middle of the gap that is left, so that angular momentum is kept;
// lever arms are longer than R by at most half the way of a step.
static void two_balls(void **state) {
  (void)state;
  for (int k = 0; k < 20; k++) {
    double h = k % 2 ? 0.005 : 0.001, mu = k % 4 < 2 ? 0.05 : 0.9, e = 0.5, w = 60;
    CnWorld *world = empty(h);
    CnMaterialId rough = world_material(world, mu, e);
    CnVec3 start = {-2 * R - (1.05 + 0.2 * (k / 4)) * h, 0, 0};
    CnBodyId one = world_ball(world, R, M, start, cn_vec3(1, 0, 0), rough);
    CnBodyId two = world_ball(world, R, M, CN_VEC3_ZERO, CN_VEC3_ZERO, rough);
    CnTwist twist = {{1, 0, 0}, {0, 0, w}};
    CHECK_OK(cn_body_set_twist(world, one, &twist));
    for (int i = 0; i < 4; i++) world_step(world);
    double p = cn_min(w * R / 7, mu * (1 + e) / 2);
    CnTwist a = world_twist(world, one), b = world_twist(world, two);
    double late = 0.5 * h / R; // of the arms
    CHECK_REL(b.velocity.x, (1 + e) / 2, 1e-9);
    CHECK_REL(b.velocity.y, p, 2 * late);
    CHECK_NEAR(a.velocity.y, -b.velocity.y, 1e-14);
    CHECK_REL(a.spin.z, w - p / (0.4 * R), 2 * late);
    CHECK_REL(b.spin.z, -p / (0.4 * R), 2 * late);
    CnWorldSums sums;
    cn_world_sums(world, &sums);
    CHECK_NEAR(sums.angular_momentum.z, 0.4 * M * R * R * w, 1e-14);
    cn_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(floor_bounce), cmocka_unit_test(two_balls)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
