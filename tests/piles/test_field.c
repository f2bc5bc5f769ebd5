// SPDX-License-Identifier: Apache-2.0
// A height field of 1,000 x 1,000 cells with 2,000 bodies on it: all of the world takes less than 40 bytes a
// cell, in steps too; nothing falls
// through, and nothing overlaps by a hundredth of the smallest size. Bodies start near the ground, so that few steps do.
#include "check.h"
#include "core/math.h"
#include "placed.h"
#include "worlds.h"

#include <stdlib.h>

#define SIDE 1001
#define CELL .1 // m
#define BODIES 2000
#define SMALLEST .4 // m, the thinnest side of the boxes

static double ground(double x, double y) { return .3 * cni_sin(.5 * x) * cni_cos(.4 * y); }

static void memory(void **state) {
  (void)state;
  double *z = malloc((size_t)SIDE * SIDE * sizeof *z);
  CHECK(z);
  for (int i = 0; i < SIDE * SIDE; i++) z[i] = ground(CELL * (i % SIDE), CELL * (i / SIDE));
  CnWorldDef def = cn_world_def_default();
  def.time_step = .002;
  CnWorld *world = world_make(&def);
  CnMaterialId m = world_material(world, .5, 0);
  CnHeightsDef field = cn_heights_def_default();
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_MESH);
  CnBodyDef body = cn_body_def_default();
  CnBodyId id;
  CnShapeId of;
  field.x_count = field.y_count = SIDE;
  field.x_spacing = field.y_spacing = CELL;
  field.heights = z;
  CHECK_OK(cn_geometry_create_heights(world, &field, &shape.geometry));
  free(z);
  body.kind = CN_BODY_FIXED;
  shape.material = m;
  CHECK_OK(cn_body_create(world, &body, &id));
  CHECK_OK(cn_shape_create(world, id, &shape, &of));
  CniRng rng = {1};
  body.kind = CN_BODY_DYNAMIC;
  for (int i = 0; i < BODIES; i++) {
    static const CnShapeKind kinds[4] = {CN_SHAPE_BOX, CN_SHAPE_CAPSULE, CN_SHAPE_CYLINDER,
                                         CN_SHAPE_SPHERE};
    CnShapeDef own = cn_shape_def_default(kinds[i % 4]);
    double x = 2.1 * (i % 45) + 2, y = 2.1 * (i / 45) + 2;
    own.half_size = cn_vec3(.3, .2, .25);
    own.radius = .25;
    own.half_length = .3;
    own.material = m;
    body.twist.velocity.z = -5;
    body.pose = (CnPose){{x, y, ground(x, y) + .57}, random_rotation(&rng)};
    CHECK_OK(cn_body_create(world, &body, &id));
    CHECK_OK(cn_shape_create(world, id, &own, &of));
  }
  for (int i = 0; i < 30; i++) world_step(world);
  for (CnBodyId b = cn_world_next_body(world, (CnBodyId){1, 1}); b.slot;
       b = cn_world_next_body(world, b)) {
    CnVec3 at = world_pose(world, b).position;
    CHECK(at.z > ground(at.x, at.y) + .1);
  }
  CnWorldInfo info = world_info(world);
  CnPenetration p;
  CHECK_OK(cn_world_penetration(world, &p));
  double cells = (SIDE - 1.) * (SIDE - 1.);
  print_message(
      "field of 1,000 x 1,000 with %d bodies: %.1f bytes a cell, at most %.1f; overlap %.2g mm\n",
      BODIES, (double)info.memory_bytes / cells, (double)info.memory_peak_bytes / cells,
      1e3 * p.max);
  CHECK((double)info.memory_peak_bytes < 40 * cells);
  CHECK(p.max < .01 * SMALLEST);
  cn_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
