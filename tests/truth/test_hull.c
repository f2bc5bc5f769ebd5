// SPDX-License-Identifier: Apache-2.0
// Hulls in worlds: the hull of a box does what the box does, geometries are shared and counted, and
// come back from snapshots with the same bits; damaged ones are refused.
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/math.h"
#include "geometry/geometry_private.h"
#include "placed.h"
#include "world/world.h"
#include "worlds.h"

static void box_points(CnVec3 h, CnVec3 points[8]) {
  for (int i = 0; i < 8; i++)
    points[i] = cn_vec3(i & 1 ? h.x : -h.x, i & 2 ? h.y : -h.y, i & 4 ? h.z : -h.z);
}

static const CniPoint *nearest(const CniManifold *m, CnVec3 p) {
  const CniPoint *best = &m->points[0];
  for (int32_t i = 1; i < m->count; i++)
    if (cn_norm(cn_sub(m->points[i].point, p)) < cn_norm(cn_sub(best->point, p)))
      best = &m->points[i];
  return best;
}

static double least_gap(const CniManifold *m) {
  double least = INFINITY;
  for (int32_t i = 0; i < m->count; i++) least = cn_min(least, m->points[i].gap);
  return least;
}

// Normal and distance; where sides lie flat on each other all points.
static void check_same(const CniManifold *a, const CniManifold *b, int flat) {
  CHECK((a->count > 0) == (b->count > 0));
  if (a->count == 0) return;
  CHECK_NEAR(cn_norm(cn_sub(a->normal, b->normal)), 0, 1e-9);
  CHECK_NEAR(least_gap(a), least_gap(b), 1e-9);
  if (!flat) return;
  CHECK(a->count == b->count);
  for (int32_t i = 0; i < a->count; i++) {
    const CniPoint *p = nearest(b, a->points[i].point);
    CHECK_NEAR(cn_norm(cn_sub(p->point, a->points[i].point)), 0, 1e-9);
    CHECK_NEAR(p->gap, a->points[i].gap, 1e-9);
  }
}

// Against a half-space, a ball, a capsule and another box: distances, normals and points.
static void touches_as_the_box(void **state) {
  (void)state;
  CniRng rng = {41};
  CnVec3 points[8];
  for (int n = 0; n < 30; n++) {
    CnVec3 half = {cni_rng_range(&rng, .2, 1), cni_rng_range(&rng, .2, 1),
                   cni_rng_range(&rng, .2, 1)};
    box_points(half, points);
    const CniHull *hull = placed_hull(points, 8);
    for (int i = 0; i < 100; i++) {
      CniPlaced box = placed_box(random_in_cube(&rng, 1), random_rotation(&rng), half), h = box;
      h.kind = CN_SHAPE_HULL;
      h.hull = hull;
      h.size[0] = 0; // not rounded
      CniPlaced ball = placed_sphere(CN_VEC3_ZERO, 0.3);
      CniPlaced plane = placed_plane(cn_vec3(0, 0, -0.5), random_rotation(&rng));
      CniPlaced rod = placed_unit(CN_SHAPE_CAPSULE, CN_POSE_ONE);
      CniPlaced other = placed_box(CN_VEC3_ZERO, random_rotation(&rng), cn_vec3(.5, .4, .3));
      // one more stands on the box, turned about the upright, and leans by up to half a degree
      CniPlaced flat = other;
      CnQuat lean = cn_qmul(turn(cn_vec3(0, 0, 1), i), turn(cn_vec3(1, i % 2, 0), i % 5 * .002));
      flat.pose.rotation = cn_qmul(box.pose.rotation, lean);
      flat.pose.position = cn_pose_point(box.pose, cn_vec3(.1, .05, half.z + .3));
      const CniPlaced *with[] = {&ball, &plane, &rod, &other, &flat};
      for (int k = 0; k < 5; k++) {
        // a box has a pair of its own with some: by the generic one, as the hull
        CniCollide any = k == 1 ? cni_collide : cni_collide_convex;
        CniManifold m = {.normal = {0, 0, 1}}, t = m;
        any(&box, with[k], 0.1, &m);
        any(&h, with[k], 0.1, &t);
        check_same(&m, &t, k == 1 || k == 4);
      }
    }
  }
}

// ---- worlds ----

static CnBodyId add(CnWorld *w, int hull, CnVec3 half, CnPose pose, CnVec3 velocity,
                    CnMaterialId material, CnGeometryId *shared) {
  CnVec3 points[8];
  CnBodyDef body = cn_body_def_default();
  body.pose = pose;
  body.twist.velocity = velocity;
  CnBodyId id;
  CnShapeId shape;
  CHECK_OK(cn_body_create(w, &body, &id));
  CnShapeDef def = cn_shape_def_default(hull ? CN_SHAPE_HULL : CN_SHAPE_BOX);
  def.half_size = half;
  def.material = material;
  box_points(half, points);
  if (hull && shared->slot == 0) CHECK_OK(cn_geometry_create_points(w, "brick", points, 8, shared));
  if (hull) def.geometry = *shared;
  CHECK_OK(cn_shape_create(w, id, &def, &shape));
  return id;
}

// Three boxes on a floor that is leaning: the first rests, the second slides, the third tumbles.
static CnWorld *slope(int hull, CnBodyId id[3], CnGeometryId *shared) {
  CnWorldDef def = world_def_exact(2e-3);
  def.gravity = cn_vec3(3, 0, -9);
  CnWorld *w = world_make(&def);
  CnMaterialId rough = world_material(w, 0.8, 0), smooth = world_material(w, 0.1, 0);
  CnVec3 half = {0.1, 0.08, 0.05};
  *shared = (CnGeometryId){0, 0};
  world_floor(w, rough);
  id[0] = add(w, hull, half, world_at(0, 0, 0.05), CN_VEC3_ZERO, rough, shared);
  id[1] = add(w, hull, half, world_at(0, 1, 0.05), CN_VEC3_ZERO, smooth, shared);
  CnPose leaning = world_at(0, 2, 0.2);
  leaning.rotation = world_turn(cn_vec3(0, 1, 0), 0.4);
  id[2] = add(w, hull, half, leaning, cn_vec3(0, 0, -1), smooth, shared);
  return w;
}

static void rests_and_slides_as_the_box(void **state) {
  (void)state;
  CnBodyId box[3], hull[3];
  CnGeometryId none, brick;
  CnWorld *a = slope(0, box, &none), *b = slope(1, hull, &brick);
  for (int i = 0; i < 3; i++) {
    CnBodyInfo x, y;
    CHECK_OK(cn_body_info(a, box[i], &x));
    CHECK_OK(cn_body_info(b, hull[i], &y));
    CHECK_REL(y.mass, x.mass, 1e-12);
    CHECK_REL(y.inertia.x + y.inertia.y + y.inertia.z, x.inertia.x + x.inertia.y + x.inertia.z,
              1e-12);
  }
  for (int n = 0; n < 200; n++) {
    CHECK_OK(cn_world_step(a, NULL));
    CHECK_OK(cn_world_step(b, NULL));
    for (int i = 0; i < 2; i++) {
      CnPose p, q;
      CHECK_OK(cn_body_pose(a, box[i], &p));
      CHECK_OK(cn_body_pose(b, hull[i], &q));
      CHECK_NEAR(cn_norm(cn_sub(p.position, q.position)), 0, 1e-9);
    }
  }
  CnPose rest, slid;
  CHECK_OK(cn_body_pose(b, hull[0], &rest));
  CHECK_OK(cn_body_pose(b, hull[1], &slid));
  CHECK_NEAR(cn_norm(cn_sub(rest.position, cn_vec3(0, 0, 0.05))), 0, 1e-8);
  CHECK(slid.position.x > 0.02);
  cn_world_destroy(a);
  cn_world_destroy(b);
}

// A prism of 40 sides stands on its end: of its 40 corners 8 carry it, all round.
static void stands_on_many_corners(void **state) {
  (void)state;
  CnVec3 points[80];
  for (int i = 0; i < 80; i++) {
    double angle = 2 * CNI_PI * (i / 2) / 40;
    points[i] = cn_vec3(0.1 * cos(angle), 0.1 * sin(angle), i % 2 ? 0.1 : -0.1);
  }
  CnWorldDef def = world_def_exact(5e-3);
  CnWorld *w = world_make(&def);
  world_floor(w, (CnMaterialId){0, 0});
  CnGeometryId can;
  CHECK_OK(cn_geometry_create_points(w, "can", points, 80, &can));
  CnBodyDef body = cn_body_def_default();
  body.pose = world_at(0, 0, 0.1);
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_HULL);
  shape.geometry = can;
  CnBodyId id;
  CnShapeId s;
  CHECK_OK(cn_body_create(w, &body, &id));
  CHECK_OK(cn_shape_create(w, id, &shape, &s));
  for (int n = 0; n < 200; n++) CHECK_OK(cn_world_step(w, NULL));
  CnPose pose;
  CHECK_OK(cn_body_pose(w, id, &pose));
  CHECK_NEAR(cn_norm(cn_sub(pose.position, cn_vec3(0, 0, 0.1))), 0, 1e-8);
  CHECK_NEAR(pose.rotation.w, 1, 1e-9);
  cn_world_destroy(w);
}

static void geometries_are_counted(void **state) {
  (void)state;
  CnBodyId id[3];
  CnGeometryId brick, other, stale;
  CnGeometryInfo info;
  CnWorld *w = slope(1, id, &brick);
  CHECK_OK(cn_geometry_info(w, brick, &info));
  CHECK(info.use_count == 3 && strcmp(info.name, "brick") == 0);
  CHECK(info.vertex_count == 8 && info.edge_count == 12 && info.face_count == 6);
  CHECK_REL(info.volume, 8 * 0.1 * 0.08 * 0.05, 1e-14);
  CHECK_STATUS(cn_geometry_destroy(w, brick), CN_INVALID_ARGUMENT);
  CHECK(strstr(cn_error_message(), "'brick' is used by 3 shapes"));

  const CnVec3 points[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  CHECK_OK(cn_geometry_create_points(w, NULL, points, 4, &other));
  CHECK_STATUS(cn_geometry_create_points(w, "flat", points, 3, &stale), CN_INVALID_ARGUMENT);
  CHECK(strstr(cn_error_message(), "geometry 'flat': ") && stale.slot == 0);
  CnShapeDef def = cn_shape_def_default(CN_SHAPE_HULL);
  CnShapeId shape;
  CHECK_STATUS(cn_shape_create(w, id[0], &def, &shape), CN_INVALID_ARGUMENT);
  CHECK(strstr(cn_error_message(), "a hull needs a geometry"));
  def = cn_shape_def_default(CN_SHAPE_SPHERE);
  def.radius = 1;
  def.geometry = other;
  CHECK_STATUS(cn_shape_create(w, id[0], &def, &shape), CN_INVALID_ARGUMENT);
  CHECK(strstr(cn_error_message(), "a sphere has no geometry"));

  CHECK_OK(cn_shape_def(w, cn_body_shape(w, id[1], 0), &def));
  CHECK(def.kind == CN_SHAPE_HULL && def.geometry.slot == brick.slot);
  for (int i = 0; i < 3; i++) CHECK_OK(cn_body_destroy(w, id[i]));
  CHECK_OK(cn_geometry_info(w, brick, &info));
  CHECK(info.use_count == 0);
  CHECK_OK(cn_geometry_destroy(w, brick));
  CHECK_STATUS(cn_geometry_info(w, brick, &info), CN_INVALID_HANDLE);
  CHECK_OK(cn_geometry_info(w, other, &info));
  CHECK(info.vertex_count == 4);
  cn_world_destroy(w);
}

// ---- snapshots ----

static unsigned char *save(const CnWorld *w, size_t *size) {
  CHECK_OK(cn_world_save(w, NULL, 0, size));
  unsigned char *data = malloc(*size);
  CHECK_OK(cn_world_save(w, data, *size, size));
  return data;
}

static void snapshots_hold_geometries_once(void **state) {
  (void)state;
  CnBodyId id[3], boxes[3];
  CnGeometryId brick, none;
  CnGeometryInfo info;
  CnWorld *w = slope(1, id, &brick), *other = slope(0, boxes, &none);
  for (int n = 0; n < 20; n++) CHECK_OK(cn_world_step(w, NULL));
  size_t size, again;
  unsigned char *data = save(w, &size);
  CHECK_OK(cn_world_restore(other, data, size));
  CHECK_OK(cn_geometry_info(other, brick, &info));
  CHECK(info.use_count == 3 && info.vertex_count == 8 && strcmp(info.name, "brick") == 0);
  for (int n = 0; n < 50; n++) {
    CHECK_OK(cn_world_step(w, NULL));
    CHECK_OK(cn_world_step(other, NULL));
  }
  unsigned char *a = save(w, &size), *b = save(other, &again);
  CHECK(size == again && memcmp(a, b, size) == 0);
  CHECK_STATUS(cn_geometry_destroy(other, brick), CN_INVALID_ARGUMENT);
  for (int i = 0; i < 3; i++) CHECK_OK(cn_body_destroy(other, id[i]));
  CHECK_OK(cn_geometry_destroy(other, brick));
  free(data);
  free(a);
  free(b);
  cn_world_destroy(w);
  cn_world_destroy(other);
}

// Every byte in turn, with a checksum that is right: the world takes it whole or not at all, and
// whatever it takes can be stepped and saved.
static void damaged_snapshots(void **state) {
  (void)state;
  CnBodyId id[3];
  CnGeometryId brick;
  CnWorld *w = slope(1, id, &brick), *target = slope(1, id, &brick);
  size_t size;
  unsigned char *good = save(w, &size), *bad = malloc(size);
  int32_t refused = 0;
  for (size_t at = 64; at < size; at++)
    for (int way = 0; way < 2; way++) {
      memcpy(bad, good, size);
      bad[at] = way ? 0xff : (unsigned char)(bad[at] ^ 1u << at % 8);
      cni_snapshot_seal(bad, size);
      CnStatus status = cn_world_restore(target, bad, size);
      CHECK(status == CN_OK || status == CN_INVALID_DATA);
      refused += status != CN_OK;
    }
  CHECK(refused > 1000);
  CHECK_OK(cn_world_restore(target, good, size));
  CHECK_OK(cn_world_step(target, NULL));
  free(good);
  free(bad);
  cn_world_destroy(w);
  cn_world_destroy(target);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(touches_as_the_box),
      cmocka_unit_test(rests_and_slides_as_the_box),
      cmocka_unit_test(stands_on_many_corners),
      cmocka_unit_test(geometries_are_counted),
      cmocka_unit_test(snapshots_hold_geometries_once),
      cmocka_unit_test(damaged_snapshots),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
