// SPDX-License-Identifier: Apache-2.0
// Machines that float keep their angular momentum by `impulse` for any step: chains, trees and rings whose
// bodies start with speeds that the joints do not allow, at steps that resolve nothing of what follows.
#include "check.h"
#include "core/rng.h"
#include "toys.h"
#include "worlds.h"

#define LINKS 30

typedef enum Form { CHAIN, TREE, RING } Form;

static CnVec3 link_at(Form form, int i) {
  if (form == TREE) return cn_vec3(.2 * (i % 3), .2 * (i % 2), -.2 * i);
  // a ring is a flat box of four sides, 8 links each but for the corners
  const int side = (LINKS + 2) / 4;
  if (form != RING) return cn_vec3(0, 0, -.2 * i);
  int k = i % side;
  const CnVec3 corners[4] = {{0, 0, 0}, {1, 0, 0}, {1, 0, 1}, {0, 0, 1}};
  CnVec3 from = corners[i / side % 4], to = corners[(i / side + 1) % 4];
  return cn_scale(.2 * side, cn_madd(from, (double)k / side, cn_sub(to, from)));
}

static CnWorld *machine(Form form, uint64_t seed, double h, int stiff, int balance) {
  CnWorldDef def = cn_world_def_default();
  CnBodyId bodies[LINKS];
  CniRng rng = {seed};
  def.time_step = h;
  def.geometric_stiffness = stiff;
  def.gravity = CN_VEC3_ZERO;
  def.balance = balance;
  CnWorld *world = toy_world_from(&def);
  for (int i = 0; i < LINKS; i++) {
    CnTwist twist;
    twist.velocity = toy_any(&rng, 1.5);
    twist.spin = toy_any(&rng, 5);
    CnPose pose = {link_at(form, i), CN_QUAT_ONE};
    bodies[i] = world_mass(world, 1, cn_vec3(.002, .002, .0005), pose, twist);
    int from = form == TREE ? i / 2 : i - 1;
    if (i == 0) continue;
    CnVec3 at = cn_scale(.5, cn_add(link_at(form, from), pose.position));
    world_join(world, i % 3 || form == RING ? CN_JOINT_BALL : CN_JOINT_REVOLUTE, bodies[from],
               bodies[i], at, cn_vec3(1, i, 0), NULL);
  }
  if (form == RING)
    world_join(world, CN_JOINT_BALL, bodies[LINKS - 1], bodies[0],
               cn_scale(.5, link_at(form, LINKS - 1)), cn_vec3(0, 1, 0), NULL);
  return world;
}

// With a balance the step problem is solved; without one a machine goes by its tree.
static void keeps(Form form, uint64_t seed, double h, int stiff) {
  for (int balanced = 0; balanced < 2; balanced++) {
    CnWorld *world = machine(form, seed, h, stiff, balanced);
    CnWorldSums before, after;
    double worst = 0, left = 0;
    cn_world_sums(world, &before);
    double scale = cn_norm(before.angular_momentum), energy = before.kinetic_energy;
    for (double t = 0; t < .2; t += h) {
      CnStepBalance balance = {0};
      toy_steps(world, 1);
      cn_world_sums(world, &after);
      if (balanced) CHECK_OK(cn_world_balance(world, &balance));
      worst = cn_max(worst, cn_norm(cn_sub(after.angular_momentum, before.angular_momentum)));
      left = cn_max(left, fabs(balance.residual.energy));
      CHECK(after.kinetic_energy <= energy * (1 + 1e-9));
    }
    print_message("  form %d, seed %d, h %g: L %.1e, identity %.1e, energy %.3f\n", (int)form,
                  (int)seed, h, worst / scale, left / energy, after.kinetic_energy / energy);
    CHECK(worst < 1e-12 * scale);
    CHECK(left < 1e-10 * energy);
    CHECK(cn_norm(cn_sub(after.momentum, before.momentum)) < 1e-11);
    cn_world_destroy(world);
  }
}

static void chains(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 3; seed++)
    for (double h = .002; h < .02; h *= 2) keeps(CHAIN, seed, h, 1);
  keeps(CHAIN, 2, .008, 0);
}

static void trees_and_rings(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 4; seed++) {
    keeps(TREE, seed, .004, 1);
    keeps(RING, seed, .004, 1);
    keeps(RING, seed, .008, 1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(chains), cmocka_unit_test(trees_and_rings)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
