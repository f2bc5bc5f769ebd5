// SPDX-License-Identifier: Apache-2.0
// Mixed convex bodies poured through a hopper of 20,000 triangles: none goes through its wall, overlaps
// of the last 20 steps stay below a hundredth of the smallest size. While bodies fall and tumble they are
// deeper for a step, up to 6 mm, 3 mm into the wall. CAIRN_HOPPER_BODIES and CAIRN_HOPPER_STEPS say how many
// and how long; h is .005 s.
#include "check.h"
#include "core/math.h"
#include "meshes.h"
#include "worlds.h"

#include <stdio.h>
#include <stdlib.h>

#define AROUND 100
#define ALONG 100
#define SMALLEST .1 // m, the thinnest side of the boxes, and the capsules' diameter

static int number(const char *name, int otherwise) {
  const char *text = getenv(name);
  return text ? atoi(text) : otherwise;
}

// A cone up to z = 1, a pipe above.
static double radius_at(double z) { return z < 0 ? 2 : z < 1 ? .3 + .9 * z : 1.2; }

static MeshLists hopper(double top) {
  MeshLists l = mesh_floor(1, 1, ALONG, AROUND);
  for (int32_t i = 0; i < l.vertex_count; i++) {
    int along = i / (AROUND + 1), around = i % (AROUND + 1) % AROUND;
    double z = along <= ALONG / 2 ? 2.0 * along / ALONG : 1 + (top - 1) * (2.0 * along / ALONG - 1);
    double angle = 2 * CNI_PI * around / AROUND, r = .3 + .9 * cn_min(z, 1);
    // seen from the axis the corners go round counter-clockwise
    l.vertices[i] = cn_vec3(r * cni_cos(angle), r * cni_sin(angle), z);
  }
  return l;
}

static CnShapeId add_mesh(CnWorld *world, MeshLists lists, CnMaterialId material) {
  CnMeshDef def = mesh_def(&lists);
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_MESH);
  CnBodyDef body = cn_body_def_default();
  CnBodyId id;
  CnShapeId of;
  CHECK_OK(cn_geometry_create_mesh(world, &def, &shape.geometry));
  mesh_free(&lists);
  body.kind = CN_BODY_FIXED;
  shape.material = material;
  CHECK_OK(cn_body_create(world, &body, &id));
  CHECK_OK(cn_shape_create(world, id, &shape, &of));
  return of;
}

static CnGeometryId some_hull(CnWorld *world, int points, CniRng *rng) {
  CnVec3 p[64];
  CnGeometryId id;
  for (int i = 0; i < points; i++) {
    CnVec3 d = random_direction(rng);
    p[i] = cn_vec3(.1 * d.x, .08 * d.y, .07 * d.z);
  }
  CHECK_OK(cn_geometry_create_points(world, NULL, p, points, &id));
  return id;
}

static void pour(CnWorld *world, int count, CnMaterialId material) {
  CniRng rng = {21};
  static const CnShapeKind kinds[5] = {CN_SHAPE_HULL, CN_SHAPE_HULL, CN_SHAPE_CAPSULE,
                                       CN_SHAPE_CYLINDER, CN_SHAPE_BOX};
  CnGeometryId small = some_hull(world, 16, &rng), large = some_hull(world, 64, &rng);
  for (int i = 0; i < count; i++) {
    CnShapeDef shape = cn_shape_def_default(kinds[i % 5]);
    CnBodyDef body = cn_body_def_default();
    CnBodyId id;
    CnShapeId of;
    shape.radius = i % 5 == 2 ? .05 : .07;
    shape.half_length = i % 5 == 2 ? .06 : .07;
    shape.half_size = cn_vec3(.09, .07, .05);
    if (kinds[i % 5] == CN_SHAPE_HULL) shape.geometry = i % 5 ? large : small;
    shape.material = material;
    int layer = i / 25, place = i % 25;
    body.pose.position = cn_vec3(.28 * (place % 5 - 2), .28 * (place / 5 - 2), 1.2 + .28 * layer);
    body.pose.rotation = random_rotation(&rng);
    CHECK_OK(cn_body_create(world, &body, &id));
    CHECK_OK(cn_shape_create(world, id, &shape, &of));
  }
}

static void nothing_falls_through(void **state) {
  (void)state;
  int count = number("CAIRN_HOPPER_BODIES", 40), steps = number("CAIRN_HOPPER_STEPS", 400);
  CnWorldDef def = cn_world_def_default();
  def.time_step = .005;
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, .3, 0);
  double top = 2 + .28 * (count / 25 + 1), deepest = 0;
  CnShapeId wall = add_mesh(world, hopper(top), material);
  double into_wall = 0;
  CnShapeDef plane = cn_shape_def_default(CN_SHAPE_PLANE);
  CnBodyDef ground = cn_body_def_default();
  CnBodyId id;
  CnShapeId of;
  ground.kind = CN_BODY_FIXED;
  ground.pose.position.z = -1;
  CHECK_OK(cn_body_create(world, &ground, &id));
  CHECK_OK(cn_shape_create(world, id, &plane, &of));
  pour(world, count, material);
  int through = 0;
  for (int i = 0; i < steps; i++) {
    world_step(world);
    CnPenetration p;
    if (i + 20 >= steps) {
      CHECK_OK(cn_world_penetration(world, &p));
      deepest = cn_max(deepest, p.max);
    }
    if (i % 20 != 19) continue;
    for (CnBodyId b = cn_world_next_body(world, (CnBodyId){0, 0}); b.slot;
         b = cn_world_next_body(world, b)) {
      CnVec3 at = world_pose(world, b).position;
      CHECK(at.z > -1.001);
      CHECK(at.z < 0 || hypot(at.x, at.y) < radius_at(at.z));
      CnClosest near;
      CnBodyInfo info;
      CHECK_OK(cn_body_info(world, b, &info));
      if (info.kind == CN_BODY_DYNAMIC) {
        CHECK_OK(cn_shape_closest(world, cn_body_shape(world, b, 0), wall, &near));
        into_wall = cn_max(into_wall, -near.gap);
      }
      through += i + 20 >= steps && at.z < -.1;
    }
  }
  printf("hopper: %d of %d bodies are through, deepest overlap %.3g mm, with the wall %.3g mm\n",
         through - 1, count, 1e3 * deepest, 1e3 * into_wall);
  CHECK(through > 1 && deepest < .01 * SMALLEST);
  cn_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_falls_through)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
