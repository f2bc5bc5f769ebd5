// SPDX-License-Identifier: Apache-2.0
// Directions that kept pairs apart save time and change nothing: contacts of shapes of all kinds that
// move a little, jump, and take each other's places in memory are those of a collision without a
// past, to the last bit; and a direction is believed only where the narrow phase finds no point.
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "collision/collision_private.h"
#include "core/rng.h"
#include "placed.h"

static void add(CniModel *model, int32_t n, CniRng *rng) {
  static const CnShapeKind kinds[] = {CN_SHAPE_BOX,  CN_SHAPE_CAPSULE,   CN_SHAPE_CYLINDER,
                                      CN_SHAPE_CONE, CN_SHAPE_ELLIPSOID, CN_SHAPE_SPHERE};
  CnBodyDef body = cn_body_def_default();
  CnShapeDef shape = cn_shape_def_default(kinds[n % 6]);
  CnBodyId id;
  CnShapeId shape_id;
  body.pose = (CnPose){random_in_cube(rng, 0.5), random_rotation(rng)};
  shape.radius = 0.07;
  shape.half_length = 0.08;
  shape.half_size = cn_vec3(0.08, 0.06, 0.1);
  CHECK_OK(cni_model_add_body(model, &body, &id));
  CHECK_OK(cni_model_add_shape(model, id, &shape, &shape_id));
}

static void move(CniModel *model, double way, CniRng *rng) {
  for (int32_t i = 0; i < model->body_count; i++) {
    CnVec3 shift = random_in_cube(rng, way), axis = random_direction(rng);
    model->pose[i].position = cn_add(model->pose[i].position, shift);
    model->pose[i].rotation = cn_qunit(cn_qmul(turn(axis, 10 * way), model->pose[i].rotation));
  }
}

static int32_t known_axes(const CniCollision *c) {
  int32_t count = 0;
  for (int32_t k = 0; k < c->pair_count; k++)
    count += c->axes[k].x != 0 || c->axes[k].y != 0 || c->axes[k].z != 0;
  return count;
}

static void axes_change_nothing(void **state) {
  (void)state;
  CnAllocator allocator = cn_allocator_default();
  CniModel model;
  CniCollision *lasting, *fresh;
  CniRng rng = {5};
  CHECK_OK(cni_model_init(&model, &allocator));
  for (int32_t n = 0; n < 250; n++) add(&model, n, &rng);
  CHECK_OK(cni_collision_create(NULL, &allocator, &lasting));
  int32_t most = 0;
  for (int32_t call = 0; call < 40; call++) {
    const CniContact *contacts, *expected;
    int32_t count, expected_count;
    move(&model, call % 10 == 9 ? 0.05 : 5e-4, &rng);
    if (call % 12 == 7) { // other shapes at the same places of the list
      CHECK_OK(cni_model_remove_body(&model, cni_body_id(&model, call)));
      add(&model, call, &rng);
    }
    CniCollisionInput input = {.model = &model,
                               .pose = model.pose,
                               .twist = model.twist,
                               .margin = call % 3 == 0 ? 0.01 : 0,
                               .time_step = 0.01};
    CHECK_OK(cni_collision_create(NULL, &allocator, &fresh));
    CHECK_OK(cni_collision_detect(lasting, &input, &contacts, &count));
    CHECK_OK(cni_collision_detect(fresh, &input, &expected, &expected_count));
    CHECK(count == expected_count && count > 300);
    CHECK(memcmp(contacts, expected, (size_t)count * sizeof *contacts) == 0);
    cni_collision_destroy(fresh);
    int32_t known = known_axes(lasting);
    if (known > most) most = known;
  }
  CHECK(most > 100);
  cni_collision_destroy(lasting);
  cni_model_release(&model);
}

// What has no corners is never believed to be apart: an axis may be older than the shape.
static void half_spaces_have_no_axis(void **state) {
  (void)state;
  CniPlaced floor = placed_plane(CN_VEC3_ZERO, CN_QUAT_ONE);
  CniPlaced box = placed_unit(CN_SHAPE_BOX, (CnPose){{0, 0, 9}, CN_QUAT_ONE});
  CHECK(!cni_still_apart(&floor, &box, 0.1, cn_vec3(0, 0, 1)));
  CHECK(!cni_still_apart(&box, &floor, 0.1, cn_vec3(0, 0, -1)));
}

// Along the direction of the nearest places the gap is the distance: with a margin beyond it there are
// points, and the direction must not be believed; with less it may be, and then there are none.
static void apart_where_no_point_is(void **state) {
  (void)state;
  CniRng rng = {8};
  int32_t believed = 0;
  for (int32_t n = 0; n < 3000; n++) {
    CnShapeKind ka = (CnShapeKind)(n % 8), kb = (CnShapeKind)(n / 8 % 8);
    if (cni_shape_unbounded(ka) || cni_shape_unbounded(kb)) continue;
    CnPose pose_a = {random_in_cube(&rng, 3), random_rotation(&rng)};
    CnPose pose_b = {random_in_cube(&rng, 3), random_rotation(&rng)};
    CniPlaced a = placed_unit(ka, pose_a), b = placed_unit(kb, pose_b);
    CniPlaces near = cni_places(&a, &b);
    CHECK(!cni_still_apart(&a, &b, near.gap, near.normal));
    double margin = near.gap - cni_rng_range(&rng, 0, 1e-7);
    if (!cni_still_apart(&a, &b, margin, near.normal)) continue;
    CniManifold m;
    cni_collide(&a, &b, margin, &m);
    CHECK(m.count == 0);
    believed++;
  }
  CHECK(believed > 1000);
}

// A room of twelve triangles, seen from inside, with a side of 2 half.
static void add_room(CniModel *model, double half, CnBodyId *id) {
  static const int32_t triangles[36] = {0, 1, 3, 0, 3, 2, 4, 6, 7, 4, 7, 5, 0, 4, 5, 0, 5, 1,
                                        2, 3, 7, 2, 7, 6, 0, 2, 6, 0, 6, 4, 1, 5, 7, 1, 7, 3};
  CnVec3 vertices[8];
  for (int32_t i = 0; i < 8; i++)
    vertices[i] = cn_vec3(i & 1 ? half : -half, i & 2 ? half : -half, i & 4 ? half : -half);
  CnMeshDef def = cn_mesh_def_default();
  CnBodyDef body = cn_body_def_default();
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_MESH);
  CnShapeId shape_id;
  def.vertices = vertices;
  def.vertex_count = 8;
  def.triangles = triangles;
  def.triangle_count = 12;
  def.two_sided = 1;
  body.kind = CN_BODY_FIXED;
  body.pose.rotation = turn(cn_vec3(0, 0, 1), 0.3);
  CHECK_OK(cni_model_add_mesh(model, &def, &shape.geometry));
  CHECK_OK(cni_model_add_body(model, &body, id));
  CHECK_OK(cni_model_add_shape(model, *id, &shape, &shape_id));
}

// Cubes without triangles about shapes in the middle of a surface, which grows and shrinks where it is in
// memory: the contacts are those of a collision without a past.
static void surfaces_change_nothing(void **state) {
  (void)state;
  CnAllocator allocator = cn_allocator_default();
  CniModel model;
  CniCollision *lasting, *fresh;
  CniRng rng = {5};
  CnBodyId room;
  int32_t most = 0, least = INT32_MAX;
  CHECK_OK(cni_model_init(&model, &allocator));
  for (int32_t n = 0; n < 60; n++) add(&model, n, &rng);
  add_room(&model, 0.9, &room);
  CHECK_OK(cni_collision_create(NULL, &allocator, &lasting));
  for (int32_t call = 0; call < 40; call++) {
    const CniContact *contacts, *expected;
    int32_t count, expected_count;
    move(&model, call % 10 == 9 ? 0.05 : 5e-4, &rng);
    if (call % 8 == 5) { // the last body: another one stands at its place
      CHECK_OK(cni_model_remove_body(&model, room));
      add_room(&model, call % 16 == 5 ? 0.35 : 0.6, &room);
    }
    CniCollisionInput input = {
        .model = &model, .pose = model.pose, .twist = model.twist, .time_step = 0.01};
    CHECK_OK(cni_collision_create(NULL, &allocator, &fresh));
    CHECK_OK(cni_collision_detect(lasting, &input, &contacts, &count));
    CHECK_OK(cni_collision_detect(fresh, &input, &expected, &expected_count));
    CHECK(count == expected_count);
    CHECK(memcmp(contacts, expected, (size_t)count * sizeof *contacts) == 0);
    most = count > most ? count : most;
    least = count < least ? count : least;
    cni_collision_destroy(fresh);
  }
  CHECK(most > least + 10); // the small room has contacts that the large one has not
  cni_collision_destroy(lasting);
  cni_model_release(&model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(axes_change_nothing),
      cmocka_unit_test(surfaces_change_nothing),
      cmocka_unit_test(half_spaces_have_no_axis),
      cmocka_unit_test(apart_where_no_point_is),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
