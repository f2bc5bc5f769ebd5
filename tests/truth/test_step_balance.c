// SPDX-License-Identifier: Apache-2.0
// The balance of each step: momentum, angular momentum and energy add up to round-off on every
// built-in scene, and the parts say what they should.
#include "check.h"
#include "core/vec.h"
#include "worlds.h"

#include <cairn/scene.h>
#include <stdio.h>

static double size_of(const CnStepBalance *b, double *momentum, double *angular) {
  double energy = fabs(b->change.energy);
  *momentum = cn_norm(b->change.momentum);
  *angular = cn_norm(b->change.angular_momentum);
  for (int32_t i = 0; i < CN_BALANCE_PART_COUNT; i++) {
    energy += fabs(b->parts[i].energy);
    *momentum += cn_norm(b->parts[i].momentum);
    *angular += cn_norm(b->parts[i].angular_momentum);
  }
  return energy;
}

// Identities to 1e-10 of what was exchanged, and of what there is.
static void adds_up(const CnWorld *world, const char *name) {
  CnStepBalance b;
  CnWorldSums sums;
  CHECK_OK(cn_world_balance(world, &b));
  cn_world_sums(world, &sums);
  double momentum, angular, energy = size_of(&b, &momentum, &angular);
  energy += sums.kinetic_energy + 1e-9;
  momentum += cn_norm(sums.momentum) + 1e-9;
  angular += cn_norm(sums.angular_momentum) + momentum * 1; // arms of a metre
  if (!(fabs(b.residual.energy) < 1e-10 * energy) ||
      !(cn_norm(b.residual.momentum) < 1e-10 * momentum) ||
      !(cn_norm(b.residual.angular_momentum) < 1e-10 * angular)) {
    printf("%s: residual %g J, %g, %g\n", name, b.residual.energy, cn_norm(b.residual.momentum),
           cn_norm(b.residual.angular_momentum));
    CHECK(0);
  }
}

static void every_scene(void **state) {
  (void)state;
  for (int32_t k = 0; cn_builtin_scene_name(k); k++) {
    const char *name = cn_builtin_scene_name(k);
    CnAllocator allocator = cn_allocator_default();
    CnScene *scene;
    CHECK_OK(cn_scene_open(name, NULL, 0, &allocator, &scene));
    CnWorldDef def = cn_world_def_default();
    cn_scene_world_def(scene, &def);
    CnSceneInfo info;
    cn_scene_info(scene, &info);
    if (info.body_count <= 2000) {
      def.integrator = "impulse";
      def.balance = 1;
      CnWorld *world = world_make(&def);
      CHECK_OK(cn_scene_fill(scene, world));
      int32_t steps = info.body_count > 200 ? 10 : 100;
      for (int32_t i = 0; i < steps; i++) {
        world_step(world);
        adds_up(world, name);
      }
      cn_world_destroy(world);
    }
    cn_scene_destroy(scene);
  }
}

// A block that slides on a floor to rest: friction takes its energy, nothing else does anything.
static void sliding_block(void **state) {
  (void)state;
  CnWorldDef def = world_def_exact(0.01);
  def.balance = 1;
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, 0.5, 0);
  world_floor(world, material);
  CnStepBalance b;
  CHECK_STATUS(cn_world_balance(world, &b), CN_INVALID_ARGUMENT);
  world_box(world, cn_vec3(0.1, 0.08, 0.05), 2, world_at(0, 0, 0.05), cn_vec3(1, 0, 0), material);
  double friction = 0, rest = 0;
  for (int i = 0; i < 100; i++) {
    world_step(world);
    adds_up(world, "sliding block");
    CHECK_OK(cn_world_balance(world, &b));
    friction += b.parts[CN_BALANCE_FRICTION].energy;
    for (int32_t k = 0; k < CN_BALANCE_PART_COUNT; k++)
      if (k != CN_BALANCE_FRICTION) rest += b.parts[k].energy;
  }
  CHECK_NEAR(friction, -1, 1e-6);
  CHECK_NEAR(rest, 0, 1e-6);
  cn_world_destroy(world);
}

// A pendulum on a light rod swings from level to level: the weight's work is that along the way, the
// joint's is none, and what the scheme adds falls with h.
static void pendulum(void **state) {
  (void)state;
  double scheme[2] = {0, 0};
  for (int k = 0; k < 2; k++) {
    CnWorldDef def = world_def_exact(0.01 / (1 + k));
    def.balance = 1;
    CnWorld *world = world_make(&def);
    CnTwist rest = {{0, 0, 0}, {0, 0, 0}};
    CnBodyId body = world_mass(world, 1, cn_vec3(0.25, 0.2, 0.25), world_at(0.5, 0, 0), rest);
    CnJointDef joint = cn_joint_def_default(CN_JOINT_BALL);
    CnJointId id;
    joint.body_a = body;
    CHECK_OK(cn_joint_def_at(world, CN_VEC3_ZERO, &joint));
    CHECK_OK(cn_joint_create(world, &joint, &id));
    double work = 0, joints = 0, gravity = 0;
    while (world_info(world).time < 0.5) {
      world_step(world);
      adds_up(world, "pendulum");
      CnStepBalance b;
      CHECK_OK(cn_world_balance(world, &b));
      work += b.change.energy;
      joints += b.parts[CN_BALANCE_JOINTS].energy;
      gravity += b.parts[CN_BALANCE_GRAVITY].energy;
      scheme[k] += b.parts[CN_BALANCE_SCHEME].energy;
    }
    CHECK_REL(gravity, -9.81 * world_pose(world, body).position.z, 1e-12);
    CHECK_REL(work, gravity, 0.02);
    CHECK_NEAR(joints, 0, 0.02 * gravity);
    cn_world_destroy(world);
  }
  CHECK(fabs(scheme[1]) < 0.6 * fabs(scheme[0]) + 1e-3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_scene),
      cmocka_unit_test(sliding_block),
      cmocka_unit_test(pendulum),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
