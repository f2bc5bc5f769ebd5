// SPDX-License-Identifier: Apache-2.0
// Painleve's rod: a slender rod slides on its lower end at 60 degrees with 1.5 times the friction
// above which rigid-body dynamics has no finite force. Time stepping answers with an impulse and
// goes on: everything stays finite, the rod does not sink in, energy does not grow. The block solve
// is the projection of the 2007 paper: with so much friction normal and tangent cannot be treated
// one after the other.
#include "check.h"
#include "core/math.h"
#include "core/vec.h"
#include "worlds.h"

#define SINK 1e-6              // m
#define LIFT (1 * 9.81 * SINK) // J, to lift 1 kg out of that

static double lowest_corner(CnPose pose, CnVec3 half) {
  double low = INFINITY;
  for (int i = 0; i < 8; i++) {
    CnVec3 corner = {i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z};
    low = cn_min(low, cn_pose_point(pose, corner).z);
  }
  return low;
}

// One second from sliding at `speed` towards +x; the rod leans by 60 degrees from the floor.
static void slide(double h, double speed, int32_t iterations) {
  double angle = CNI_PI / 3, s = cni_sin(angle), c = cni_cos(angle);
  double mu = 1.5 * (1 + 3 * c * c) / (3 * s * c);
  CnWorldDef def = world_def_exact(h);
  def.solver.local = CN_LOCAL_PROJECTION;
  def.solver.max_iterations = iterations;
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, mu, 0);
  world_floor(world, material);
  CnVec3 half = {0.5, 0.002, 0.002};
  CnPose pose = {{0, 0, 0}, world_turn(cn_vec3(0, 1, 0), -angle)};
  pose.position.z = -lowest_corner(pose, half);
  CnBodyId rod = world_box(world, half, 1, pose, cn_vec3(speed, 0, 0), material);

  double energy = world_energy(world), first = energy, largest = 0;
  int32_t steps = (int32_t)(1 / h + 0.5);
  for (int32_t i = 0; i < steps; i++) {
    world_step(world);
    CnPose now = world_pose(world, rod);
    CnTwist twist = world_twist(world, rod);
    CHECK(cn_vec3_finite(now.position) && cn_vec3_finite(twist.velocity));
    CHECK(cn_vec3_finite(twist.spin) && isfinite(now.rotation.w));
    CHECK(lowest_corner(now, half) >= -SINK);
    CHECK(world_energy(world) <= energy + LIFT);
    energy = world_energy(world);
    int32_t count = world_info(world).contact_count;
    for (int32_t k = 0; k < count; k++) {
      CnContact contact;
      CHECK_OK(cn_world_contact(world, k, &contact));
      CHECK(cn_vec3_finite(contact.impulse));
      largest = cn_max(largest, cn_norm(contact.impulse));
    }
  }
  // against the lean it jams: an impulse of the size of m v, whatever h is
  CHECK(speed > 0 || largest > 0.3 * 3);
  CHECK(energy < first);
  cn_world_destroy(world);
}

static void coarse(void **state) {
  (void)state;
  slide(1e-3, 3, 5000);
  slide(1e-3, -3, 5000);
}

static void fine(void **state) {
  (void)state;
  slide(1e-4, 3, 1000);
  slide(1e-4, -3, 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(coarse), cmocka_unit_test(fine)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
