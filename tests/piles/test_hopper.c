// SPDX-License-Identifier: Apache-2.0
// Mixed convex bodies poured through a hopper of 20,000 triangles: none goes through its wall, and overlaps
// stay below a hundredth of the smallest size in every step, while they fall and tumble too.
// CAIRN_HOPPER_BODIES and CAIRN_HOPPER_STEPS say how many and how long.
//
// Bodies that are hit spin at 40 rad/s, and what a row does not know of the way of a contact on such a body is
// w^2 r h^2 / 2 a step, .06 mm at h = 1 ms, and all of other corners that come down; the end of the step takes
// that back (truth.spun).
#include "check.h"
#include "core/math.h"
#include "meshes.h"
#include "worlds.h"

#include <stdio.h>
#include <stdlib.h>

#define AROUND 100
#define ALONG 100
#define STEP 5e-4   // s
#define SMALLEST .1 // m, the thinnest side of the boxes, and the capsules' diameter

static int number(const char *name, int otherwise) {
  const char *text = getenv(name);
  return text ? atoi(text) : otherwise;
}

// A cone up to z = 1.7, a pipe above.
static double radius_at(double z) { return z < 0 ? 4 : z < 1.7 ? .3 + z : 2; }

static MeshLists hopper(double top) {
  MeshLists l = mesh_floor(1, 1, ALONG, AROUND);
  for (int32_t i = 0; i < l.vertex_count; i++) {
    int along = i / (AROUND + 1), around = i % (AROUND + 1) % AROUND;
    double share = 2.0 * along / ALONG,
           z = share <= 1 ? 1.7 * share : 1.7 + (top - 1.7) * (share - 1);
    double angle = 2 * CNI_PI * around / AROUND, r = .3 + cn_min(z, 1.7);
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

// Places in layers, on a grid of .26 m within .25 m of the wall, from the middle of the cone up.
static double place(int count, CnVec3 *places) {
  double z = .6;
  for (int n = 0; n < count; z += .26)
    for (int i = 0; i < 15 * 15 && n < count; i++) {
      CnVec3 p = {.26 * (i % 15 - 7), .26 * (i / 15 - 7), z};
      if (hypot(p.x, p.y) < radius_at(z) - .25) places[n++] = p;
    }
  return z;
}

static void pour(CnWorld *world, int count, const CnVec3 *places, CnMaterialId material) {
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
    body.pose.position = places[i];
    body.pose.rotation = random_rotation(&rng);
    CHECK_OK(cn_body_create(world, &body, &id));
    CHECK_OK(cn_shape_create(world, id, &shape, &of));
  }
}

static void nothing_falls_through(void **state) {
  (void)state;
  int count = number("CAIRN_HOPPER_BODIES", 40), steps = number("CAIRN_HOPPER_STEPS", 2000);
  CnWorldDef def = cn_world_def_default();
  def.time_step = STEP;
  def.contact_stabilisation = .2;
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, .3, 0);
  CnVec3 *places = calloc((size_t)count, sizeof *places);
  CHECK(places);
  double top = 1 + place(count, places), deepest = 0;
  if (top < 3) top = 3;
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
  pour(world, count, places, material);
  free(places);
  int through = 0;
  for (int i = 0; i < steps; i++) {
    world_step(world);
    CnPenetration p;
    CHECK_OK(cn_world_penetration(world, &p));
    if (p.max > deepest && p.max > 5e-4)
      printf("%.4f s: %.3g mm\n", STEP * (i + 1), 1e3 * p.max), fflush(stdout);
    deepest = cn_max(deepest, p.max);
    if (i % 200 != 199 && i + 1 < steps) continue;
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
      through += i + 1 >= steps && at.z < -.1;
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
