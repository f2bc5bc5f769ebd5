// SPDX-License-Identifier: Apache-2.0
// A block on a slope, mu = .5: it stands still on tan = .49 and slides on tan = .51, whichever way
// the slope points in the frame of the contacts.
#include "check.h"
#include "core/math.h"
#include "core/vec.h"
#include "worlds.h"

typedef struct Slope {
  CnWorld *world;
  CnBodyId block;
  CnVec3 start;
} Slope;

// The slope is a plane turned by `heading` about the vertical and tilted; the block lies along it.
static Slope tilted(double tangent, double heading, double h) {
  CnWorldDef def = world_def_exact(h);
  Slope s = {.world = world_make(&def)};
  CnMaterialId material = world_material(s.world, 0.5, 0);
  CnQuat tilt = world_turn(cn_vec3(0, 1, 0), cni_atan2(tangent, 1));
  CnQuat turn = cn_qmul(world_turn(cn_vec3(0, 0, 1), heading), tilt);
  CnBodyId floor = world_floor(s.world, material);
  CnPose pose = {{0, 0, 0}, turn};
  CHECK_OK(cn_body_set_pose(s.world, floor, &pose));
  pose.position = cn_rotate(turn, cn_vec3(0, 0, 0.1));
  s.block = world_box(s.world, cn_vec3(0.3, 0.2, 0.1), 2, pose, CN_VEC3_ZERO, material);
  s.start = world_pose(s.world, s.block).position;
  return s;
}

// A level plane under gravity that is not: the contact frame is that of the world's axes, and the
// slope points along one of them or between.
static Slope leaning(double tangent, double heading, double h) {
  CnWorldDef def = world_def_exact(h);
  double g = 9.81 / sqrt(1 + tangent * tangent);
  def.gravity = cn_vec3(g * tangent * cni_cos(heading), g * tangent * cni_sin(heading), -g);
  Slope s = {.world = world_make(&def)};
  CnMaterialId material = world_material(s.world, 0.5, 0);
  world_floor(s.world, material);
  CnVec3 half = {0.3, 0.2, 0.1};
  s.block = world_box(s.world, half, 2, world_at(0, 0, 0.1), CN_VEC3_ZERO, material);
  s.start = world_pose(s.world, s.block).position;
  return s;
}

typedef Slope (*Maker)(double tangent, double heading, double h);

static const Maker makers[] = {tilted, leaning};
static const double headings[] = {0, CNI_PI / 4, 0.3};

static void stands(void **state) {
  (void)state;
  for (int m = 0; m < 2; m++)
    for (int k = 0; k < 3; k++) {
      Slope s = makers[m](0.49, headings[k], 1e-3);
      for (int i = 0; i < 3000; i++) world_step_converged(s.world);
      CnVec3 way = cn_sub(world_pose(s.world, s.block).position, s.start);
      CHECK_NEAR(cn_norm(way), 0, 1e-9);
      cn_world_destroy(s.world);
    }
}

static void slides(void **state) {
  (void)state;
  for (int m = 0; m < 2; m++)
    for (int k = 0; k < 3; k++) {
      Slope s = makers[m](0.51, headings[k], 1e-3);
      for (int i = 0; i < 1000; i++) world_step_converged(s.world);
      CHECK_REL(cn_norm(world_twist(s.world, s.block).velocity), 0.08739, 1e-3);
      CHECK_NEAR(cn_norm(world_twist(s.world, s.block).spin), 0, 1e-6);
      cn_world_destroy(s.world);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(stands), cmocka_unit_test(slides)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
