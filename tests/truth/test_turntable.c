// SPDX-License-Identifier: Apache-2.0
// Riders on bodies whose motion is prescribed: they go in circles with a turntable, at any step, and
// leave it where friction cannot hold them.
#include "check.h"
#include "core/vec.h"
#include "worlds.h"

typedef struct Table {
  CnWorld *world;
  CnBodyId table, block;
} Table;

// A block at r = 1 m, riding, on a table that turns about an axis through its middle.
static Table turntable(double h, double spin, double friction) {
  CnWorldDef def = world_def_exact(h);
  Table t = {.world = world_make(&def)};
  CnMaterialId material = world_material(t.world, friction, 0);
  CnBodyDef body = cn_body_def_default();
  body.kind = CN_BODY_KINEMATIC;
  body.pose = world_at(0, 0, -0.1);
  body.twist.spin = cn_vec3(0, 0, spin);
  CHECK_OK(cn_body_create(t.world, &body, &t.table));
  CnShapeDef top = cn_shape_def_default(CN_SHAPE_BOX);
  top.half_size = cn_vec3(3, 3, 0.1);
  top.material = material;
  CnShapeId shape;
  CHECK_OK(cn_shape_create(t.world, t.table, &top, &shape));
  t.block = world_box(t.world, cn_vec3(0.1, 0.08, 0.05), 2, world_at(1, 0, 0.05),
                      cn_vec3(0, spin, 0), material);
  CnTwist twist = {cn_vec3(0, spin, 0), cn_vec3(0, 0, spin)};
  CHECK_OK(cn_body_set_twist(t.world, t.block, &twist));
  return t;
}

static double radius(const Table *t) {
  CnVec3 x = world_pose(t->world, t->block).position;
  return sqrt(x.x * x.x + x.y * x.y);
}

static void rider_stays(void **state) {
  (void)state;
  const double steps[] = {0.01, 0.002};
  for (int k = 0; k < 2; k++) {
    Table t = turntable(steps[k], 2, 0.5);
    int count = (int)(10 / steps[k] + 0.5);
    for (int i = 0; i < count; i++) world_step(t.world);
    CHECK_NEAR(radius(&t), 1, 1e-4);
    // and has turned with it
    CnVec3 x =
        cn_unrotate(world_pose(t.world, t.table).rotation, world_pose(t.world, t.block).position);
    CHECK_NEAR(x.x, 1, 1e-4);
    CHECK_NEAR(x.y, 0, 1e-4);
    // friction is the centripetal force
    CnVec3 force = world_force(t.world, t.table, t.block);
    CHECK_NEAR(sqrt(force.x * force.x + force.y * force.y), 2 * 4 * 1, 0.01);
    CHECK_NEAR(force.z, 2 * 9.81, 1e-3);
    cn_world_destroy(t.world);
  }
}

// mu g < W^2 r: it slides outwards.
static void rider_leaves(void **state) {
  (void)state;
  Table t = turntable(0.01, 2, 0.3);
  for (int i = 0; i < 200; i++) world_step(t.world);
  CHECK(radius(&t) > 1.2);
  cn_world_destroy(t.world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rider_stays),
      cmocka_unit_test(rider_leaves),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
