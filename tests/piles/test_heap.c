// SPDX-License-Identifier: Apache-2.0
// 400 boxes of .1 m, 1 kg, turned at random and dropped on a floor, come to rest as a heap: after
// 10 s less than 1e-4 J of kinetic energy a body and no overlap above 1 % of the edge. No body is
// put to sleep. CAIRN_HEAP_LAYERS: layers of a hundred, 4 by default.
#include "check.h"
#include "core/rng.h"
#include <cairn/cairn.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 10 };

static int box_count(void) {
  const char *text = getenv("CAIRN_HEAP_LAYERS");
  return SIDE * SIDE * (text ? atoi(text) : 4);
}

// A random rotation: four numbers in a ball, made a unit quaternion.
static CnQuat random_rotation(CniRng *rng) {
  for (;;) {
    double w = cni_rng_range(rng, -1, 1), x = cni_rng_range(rng, -1, 1);
    double y = cni_rng_range(rng, -1, 1), z = cni_rng_range(rng, -1, 1);
    double n2 = w * w + x * x + y * y + z * z;
    if (n2 > 1 || n2 < 0.01) continue;
    double s = 1 / sqrt(n2);
    return (CnQuat){s * w, s * x, s * y, s * z};
  }
}

static void fill(CnWorld *world) {
  CniRng rng = {1};
  CnBodyDef def = cn_body_def_default();
  def.kind = CN_BODY_FIXED;
  CnBodyId body;
  CnShapeId shape;
  CHECK_OK(cn_body_create(world, &def, &body));
  CnShapeDef plane = cn_shape_def_default(CN_SHAPE_PLANE);
  CHECK_OK(cn_shape_create(world, body, &plane, &shape));
  for (int i = 0, count = box_count(); i < count; ++i) {
    def = cn_body_def_default();
    def.pose.position =
        (CnVec3){0.18 * (i % SIDE - 0.5 * (SIDE - 1)), 0.18 * (i / SIDE % SIDE - 0.5 * (SIDE - 1)),
                 0.1 + 0.18 * (i / (SIDE * SIDE))};
    def.pose.rotation = random_rotation(&rng);
    CHECK_OK(cn_body_create(world, &def, &body));
    CnShapeDef box = cn_shape_def_default(CN_SHAPE_BOX);
    box.half_size = (CnVec3){0.05, 0.05, 0.05};
    box.density = 1000;
    CHECK_OK(cn_shape_create(world, body, &box, &shape));
  }
}

static void heap_comes_to_rest(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  def.time_step = 0.01;
  def.solver.max_iterations = 120;
  def.worker_count = 2;
  CnWorld *world;
  CHECK_OK(cn_world_create(&def, &world));
  fill(world);
  for (int step = 0; step < 1000; ++step) CHECK_OK(cn_world_step(world, NULL));

  CnWorldSums sums;
  CnPenetration penetration;
  CnWorldInfo info;
  cn_world_sums(world, &sums);
  cn_world_info(world, &info);
  CHECK_OK(cn_world_penetration(world, &penetration));
  printf("heap: %.3g J of kinetic energy a body, deepest overlap %.3g mm, %d contacts\n",
         sums.kinetic_energy / box_count(), 1e3 * penetration.max, (int)info.contact_count);
  CHECK(sums.kinetic_energy / box_count() < 1e-4);
  CHECK(penetration.max < 1e-3);
  cn_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(heap_comes_to_rest)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
