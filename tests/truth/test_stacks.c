// SPDX-License-Identifier: Apache-2.0
// Stacks: the overhang of four blocks just below and above the limit sum 1/(2i), and the forces in
// a column of equal boxes.
#include "check.h"
#include "core/vec.h"
#include "worlds.h"

#define BLOCKS 4

// Four blocks of length 1 on the edge of a table (x <= 0); block i from the top reaches 1/(2i) of
// the scale beyond the one below.
static void build_overhang(CnWorld *world, double scale, CnBodyId blocks[BLOCKS]) {
  CnMaterialId material = world_material(world, 0.5, 0);
  CnVec3 half = {0.5, 0.3, 0.1};
  world_fixed_box(world, cn_vec3(2, 1, 0.5), world_at(-2, 0, -0.5), material);
  double edge = 0; // of what carries the next block
  for (int i = BLOCKS; i >= 1; i--) {
    edge += scale / (2 * i);
    double z = 0.1 + 0.2 * (BLOCKS - i);
    blocks[BLOCKS - i] =
        world_box(world, half, 1, world_at(edge - 0.5, 0, z), CN_VEC3_ZERO, material);
  }
}

// How far the top block sinks in five seconds.
static double sag(double scale) {
  CnWorldDef def = world_def_exact(2e-3);
  def.solver.tolerance = 1e-9;
  CnWorld *world = world_make(&def);
  CnBodyId blocks[BLOCKS];
  build_overhang(world, scale, blocks);
  double start = world_pose(world, blocks[BLOCKS - 1]).position.z;
  for (int i = 0; i < 2500; i++) world_step(world);
  double end = world_pose(world, blocks[BLOCKS - 1]).position.z;
  cn_world_destroy(world);
  return start - end;
}

static void overhang_stands(void **state) {
  (void)state;
  CHECK_NEAR(sag(0.99), 0, 1e-4);
}

static void overhang_falls(void **state) {
  (void)state;
  CHECK(sag(1.01) > 0.5);
}

// Equal boxes: each interface carries the weight above it, in every step. A column bends in ways
// that a sweep sees only interface by interface, so the first step needs iterations as the fourth
// power of its height; the later ones start from its answer.
static void column(int32_t count, double half_width) {
  enum { MOST = 10 };
  CnWorldDef def = world_def_exact(1e-3);
  def.solver.tolerance = 1e-10;
  def.solver.max_iterations = 30000;
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, 0.5, 0);
  CnBodyId floor = world_floor(world, material), bodies[MOST];
  CnVec3 half = {half_width, half_width, 0.1};
  for (int32_t i = 0; i < count; i++)
    bodies[i] = world_box(world, half, 2, world_at(0, 0, 0.1 + 0.2 * i), CN_VEC3_ZERO, material);
  for (int k = 0; k < 100; k++) {
    world_step_converged(world);
    for (int32_t i = 0; i < count; i++) {
      CnVec3 force = world_force(world, i ? bodies[i - 1] : floor, bodies[i]);
      double weight = 2 * 9.81 * (count - i);
      CHECK_REL(force.z, weight, 1e-6);
      CHECK_NEAR(force.x, 0, 1e-6 * weight);
      CHECK_NEAR(force.y, 0, 1e-6 * weight);
    }
  }
  CHECK_NEAR(world_pose(world, bodies[count - 1]).position.z, 0.2 * count - 0.1, 1e-9);
  cn_world_destroy(world);
}

static void column_of_cubes(void **state) {
  (void)state;
  column(5, 0.1);
}

static void column_of_slabs(void **state) {
  (void)state;
  column(10, 0.3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(overhang_stands),
      cmocka_unit_test(overhang_falls),
      cmocka_unit_test(column_of_cubes),
      cmocka_unit_test(column_of_slabs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
