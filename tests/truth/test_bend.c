// SPDX-License-Identifier: Apache-2.0
// Round bodies that rock, roll and tumble: their surfaces bend away from the tangent that a row
// follows, and still they do not sink in. What is left is of the first step, before they bore a load.
#include "check.h"
#include "core/math.h"
#include "core/vec.h"
#include "worlds.h"

#include <math.h>

typedef struct Case {
  CnShapeDef shape;
  CnPose pose;
  CnVec3 velocity, spin;
  double most; // m, overlap
} Case;

static CnShapeDef sized(CnShapeKind kind, CnVec3 half, double radius, double length) {
  CnShapeDef def = cn_shape_def_default(kind);
  def.half_size = half;
  def.radius = radius;
  def.half_length = length;
  return def;
}

static CnPose upright(double z) { return (CnPose){{0, 0, z}, {1, 0, 0, 0}}; }

// The deepest overlap of 400 steps, m.
static double deepest(const Case *c) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = .005;
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, .5, 0);
  world_floor(world, material);
  CnShapeDef def_shape = c->shape;
  def_shape.material = material;
  CnBodyDef body = cn_body_def_default();
  CnBodyId id;
  CnShapeId shape;
  double most = 0;
  body.pose = c->pose;
  body.twist = (CnTwist){c->velocity, c->spin};
  CHECK_OK(cn_body_create(world, &body, &id));
  CHECK_OK(cn_shape_create(world, id, &def_shape, &shape));
  for (int32_t n = 0; n < 400; n++) {
    CnPenetration deep;
    CHECK_OK(cn_world_step(world, NULL));
    CHECK_OK(cn_world_penetration(world, &deep));
    most = fmax(most, deep.max);
  }
  cn_world_destroy(world);
  return most;
}

static void rocking_does_not_sink(void **state) {
  (void)state;
  const CnShapeDef egg = sized(CN_SHAPE_ELLIPSOID, cn_vec3(.09, .07, .05), 0, 0);
  const Case cases[] = {
      {egg, upright(.05), {.25, 0, 0}, {0, 5, 0}, 5e-5},  // rocks; without the bend .75 mm
      {egg, upright(.05), {.5, 0, 0}, {0, 10, 0}, 2e-4},  // faster, over its end; 1.7 mm
      {egg, upright(.05), {0, -.5, 0}, {10, 0, 0}, 1e-4}, // rolls; .68 mm
      {egg, upright(.05), {.2, .1, 0}, {3, 5, 2}, 5e-5},  // tumbles and slips; .66 mm
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    double most = deepest(&cases[k]);
    if (!(most < cases[k].most)) print_error("case %d: %g m\n", (int)k, most);
    CHECK(most < cases[k].most);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(rocking_does_not_sink)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
