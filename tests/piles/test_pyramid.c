// SPDX-License-Identifier: Apache-2.0
// A pyramid of 20 rows of unit cubes, 1 kg each, mu .5, spacing 1.1 in x, stands for 10 s at h =
// .01 with 120 iterations a step and no sleeping: no box may drift by more than 5 mm. (Measured
// peers: ODE 9.5, Bullet 35, Jolt .6 mm.)
#include "check.h"
#include <cairn/cairn.h>
#include <stdio.h>

enum { ROWS = 20, BOXES = ROWS * (ROWS + 1) / 2 };

static void floor_of(CnWorld *world) {
  CnBodyDef def = cn_body_def_default();
  def.kind = CN_BODY_FIXED;
  CnBodyId body;
  CHECK_OK(cn_body_create(world, &def, &body));
  CnShapeDef plane = cn_shape_def_default(CN_SHAPE_PLANE);
  CnShapeId shape;
  CHECK_OK(cn_shape_create(world, body, &plane, &shape));
}

static void pyramid_stands(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  def.time_step = 0.01;
  def.solver.max_iterations = 120;
  def.worker_count = 2;
  CnWorld *world;
  CHECK_OK(cn_world_create(&def, &world));
  floor_of(world);

  CnBodyId boxes[BOXES];
  CnVec3 start[BOXES];
  int count = 0;
  for (int row = 0; row < ROWS; ++row) {
    for (int i = 0; i < ROWS - row; ++i, ++count) {
      CnBodyDef body = cn_body_def_default();
      body.pose.position = (CnVec3){1.1 * (i - 0.5 * (ROWS - row - 1)), 0, 0.5 + row};
      start[count] = body.pose.position;
      CHECK_OK(cn_body_create(world, &body, &boxes[count]));
      CnShapeDef box = cn_shape_def_default(CN_SHAPE_BOX);
      box.half_size = (CnVec3){0.5, 0.5, 0.5};
      box.density = 1;
      CnShapeId shape;
      CHECK_OK(cn_shape_create(world, boxes[count], &box, &shape));
    }
  }

  for (int step = 0; step < 1000; ++step) CHECK_OK(cn_world_step(world, NULL));
  double worst = 0;
  for (int i = 0; i < count; ++i) {
    CnPose pose;
    CHECK_OK(cn_body_pose(world, boxes[i], &pose));
    double dx = pose.position.x - start[i].x, dy = pose.position.y - start[i].y,
           dz = pose.position.z - start[i].z;
    worst = fmax(worst, sqrt(dx * dx + dy * dy + dz * dz));
  }
  printf("pyramid: largest drift %.3g mm\n", 1e3 * worst);
  CHECK(worst <= 5e-3);
  cn_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(pyramid_stands)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
