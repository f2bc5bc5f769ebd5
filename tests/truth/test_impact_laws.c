// SPDX-License-Identifier: Apache-2.0
// Newton, Poisson, Stronge: a rod that falls on its end with friction, and balls without.
//
// Rod of mass 1 and length 1 at an angle a, down at 1 m/s and along at .5 m/s, no gravity. Its end slips,
// stops and slips the other way during the impact. The true answer of Stronge's law follows the speeds
// of the end over the normal impulse p: du_n = (W_nn - s mu W_nt) dp, du_t = (W_nt - s mu W_tt) dp, s the
// sign of the slip, with W_nn = 1 + 3 cos^2 a, W_nt = -3 sin a cos a, W_tt = 1 + 3 sin^2 a.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "core/vec.h"
#include "worlds.h"

static const CnRestitutionLaw laws[] = {CN_RESTITUTION_NEWTON, CN_RESTITUTION_POISSON,
                                        CN_RESTITUTION_ENERGETIC};

typedef struct Rod {
  double energy; // after over before
  double normal; // speed of the end after
} Rod;

static const char *integrator = "impulse";

static Rod drop(CnRestitutionLaw law, double degrees, double along, double e, double mu) {
  CnWorldDef def = world_def_exact(1e-3);
  def.gravity = CN_VEC3_ZERO;
  def.restitution_law = law;
  def.integrator = integrator;
  if (strcmp(integrator, "impulse") != 0) def.solver = cn_solver_def_default("auto");
  def.solver.effort = CN_EFFORT_EXACT;
  def.solver.local = CN_LOCAL_EXACT;
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, mu, e);
  world_floor(world, material);
  double a = degrees * 3.141592653589793 / 180, r = 1e-9;
  CnVec3 end = {-0.5 * cos(a), 0, -0.5 * sin(a)};
  CnTwist twist = {cn_vec3(along, 0, -1), CN_VEC3_ZERO};
  CnBodyId rod = world_mass(world, 1, cn_vec3(1.0 / 12, 1.0 / 12, 1.0 / 12),
                            world_at(0, 0, r + 1e-4 - end.z), twist);
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_SPHERE);
  CnShapeId id;
  shape.radius = r;
  shape.pose.position = end;
  shape.material = material;
  CHECK_OK(cn_shape_create(world, rod, &shape, &id));
  double before = world_energy(world);
  world_step(world);
  CnTwist after = world_twist(world, rod);
  Rod result = {world_energy(world) / before, after.velocity.z + cn_cross(after.spin, end).z};
  cn_world_destroy(world);
  return result;
}

// Speed of the end after the impact.
static double stronge(double degrees, double along, double e, double mu) {
  double a = degrees * 3.141592653589793 / 180, c = cos(a), s = sin(a), dp = 1e-6;
  double nn = 1 + 3 * c * c, nt = -3 * s * c, tt = 1 + 3 * s * s, n = -1, t = along, work = 0;
  for (double left = INFINITY; left > 0;) {
    double slip = t > 1e-5 ? 1 : t < -1e-5 ? -1 : 0, friction = slip * mu;
    if (slip == 0) friction = fabs(nt / tt) <= mu ? nt / tt : copysign(mu, nt);
    double n_old = n;
    n += (nn - friction * nt) * dp;
    t += (nt - friction * tt) * dp;
    work += 0.5 * (n + n_old) * dp;
    if (n_old < 0 && n >= 0) left = -e * e * work;
    if (n_old >= 0) left -= 0.5 * (n + n_old) * dp;
  }
  return n;
}

static void rod_with_friction(void **state) {
  (void)state;
  Rod rods[3];
  for (int i = 0; i < 3; i++) {
    rods[i] = drop(laws[i], 50, 0.5, 0.9, 0.4);
    printf("law %d: energy %.6f, speed %.6f\n", i, rods[i].energy, rods[i].normal);
  }
  CHECK_NEAR(rods[0].energy, 1.0786, 1e-4); // Newton's creates energy
  CHECK(rods[1].energy < 1 && rods[2].energy < 1);
  double exact = stronge(50, 0.5, 0.9, 0.4);
  printf("Stronge's law followed over the impulse: speed %.6f\n", exact);
  CHECK_NEAR(rods[2].normal, exact, 2e-3);
  // and over all angles
  for (int k = 5; k < 90; k += 5)
    for (int m = 1; m <= 10; m++) CHECK(drop(laws[2], k, 0.5, 0.9, 0.1 * m).energy <= 1 + 1e-9);
}

// The same by moreau-jean.
static void by_moreau_jean(void **state) {
  (void)state;
  integrator = "moreau-jean";
  double exact = stronge(50, 0.5, 0.9, 0.4);
  CHECK_NEAR(drop(laws[0], 50, 0.5, 0.9, 0.4).energy, 1.0786, 3e-3); // rows turn in the step
  CHECK(drop(laws[1], 50, 0.5, 0.9, 0.4).energy < 1);
  Rod rod = drop(laws[2], 50, 0.5, 0.9, 0.4);
  CHECK(rod.energy < 1);
  CHECK_NEAR(rod.normal, exact, 4e-3);
  for (int k = 10; k < 90; k += 20)
    for (int m = 1; m <= 10; m += 3) CHECK(drop(laws[2], k, 0.5, 0.9, 0.1 * m).energy <= 1 + 1e-6);
  for (int i = 0; i < 3; i++) CHECK_NEAR(drop(laws[i], 50, 1, 0.7, 0).normal, 0.7, 3e-3);
  integrator = "impulse";
}

// Without friction they agree.
static void same_without_friction(void **state) {
  (void)state;
  for (int i = 0; i < 3; i++) {
    Rod rod = drop(laws[i], 50, 1, 0.7, 0);
    CHECK_NEAR(rod.normal, 0.7, 1e-9);
  }
}

// The balls of a row hand the blow on by each of them.
static void row_of_balls(void **state) {
  (void)state;
  for (int i = 0; i < 3; i++) {
    CnWorldDef def = world_def_exact(1e-2);
    def.gravity = CN_VEC3_ZERO;
    def.restitution_law = laws[i];
    CnWorld *world = world_make(&def);
    CnMaterialId material = world_material(world, 0, 1);
    CnBodyId balls[4];
    for (int k = 0; k < 4; k++)
      balls[k] =
          world_ball(world, 0.05, 1, cn_vec3(0.101 * k, 0, 0), cn_vec3(k == 0, 0, 0), material);
    world_step(world);
    for (int k = 0; k < 4; k++) CHECK_NEAR(world_twist(world, balls[k]).velocity.x, k == 3, 1e-9);
    cn_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rod_with_friction), cmocka_unit_test(same_without_friction),
      cmocka_unit_test(by_moreau_jean), cmocka_unit_test(row_of_balls)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
