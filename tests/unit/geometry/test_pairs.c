// SPDX-License-Identifier: Apache-2.0
// The pairs with closed forms: sphere-sphere, sphere-box, sphere-plane, box-plane; and what every
// row of the table must keep: exchange of the two shapes, rigid motions, the margin.
#include "check.h"
#include "core/math.h"
#include "placed.h"

#include <stdlib.h>

static CniManifold collide(CniPlaced a, CniPlaced b, double margin) {
  CniManifold m;
  cni_collide(&a, &b, margin, &m);
  return m;
}

static void check_vec(CnVec3 a, CnVec3 b, double tolerance) {
  CHECK_NEAR(a.x, b.x, tolerance);
  CHECK_NEAR(a.y, b.y, tolerance);
  CHECK_NEAR(a.z, b.z, tolerance);
}

// One point with this normal, gap and place.
static void check_single(const CniManifold *m, CnVec3 normal, double gap, CnVec3 point) {
  CHECK(m->count == 1);
  check_vec(m->normal, normal, 1e-14);
  CHECK_NEAR(m->points[0].gap, gap, 1e-14);
  check_vec(m->points[0].point, point, 1e-14);
  CHECK(m->points[0].feature == 0);
}

static void sphere_sphere(void **state) {
  (void)state;
  CniPlaced a = placed_sphere(cn_vec3(0, 0, 0), 1), b = placed_sphere(cn_vec3(3, 4, 0), 2);
  CniManifold m = collide(a, b, 2);
  check_single(&m, cn_vec3(0.6, 0.8, 0), 2, cn_vec3(1.2, 1.6, 0));
  CHECK(collide(a, b, 1.999).count == 0);
  b.size[0] = 4.5;
  m = collide(a, b, 0);
  check_single(&m, cn_vec3(0.6, 0.8, 0), -0.5, cn_vec3(0.45, 0.6, 0));
  b.size[0] = 4;
  m = collide(a, b, 0);
  check_single(&m, cn_vec3(0.6, 0.8, 0), 0, cn_vec3(0.6, 0.8, 0));

  // coincident and all but coincident centres: a unit normal all the same
  m = collide(a, placed_sphere(cn_vec3(0, 0, 0), 2), 0);
  check_single(&m, cn_vec3(0, 0, 1), -3, cn_vec3(0, 0, -0.5));
  for (double d = 1e-300; d < 1; d *= 1e20) {
    m = collide(a, placed_sphere(cn_vec3(d, d, -d), 2), 0);
    CHECK_NEAR(cn_norm(m.normal), 1, 1e-15);
  }
  CHECK(collide(a, placed_sphere(cn_vec3(NAN, 0, 0), 2), 1).count == 0);
}

static void sphere_plane(void **state) {
  (void)state;
  CniPlaced p = placed_plane(cn_vec3(5, 5, 1), CN_QUAT_ONE);
  CniManifold m = collide(placed_sphere(cn_vec3(1, 2, 1.75), 0.5), p, 0.25);
  check_single(&m, cn_vec3(0, 0, -1), 0.25, cn_vec3(1, 2, 1.125));
  CHECK(collide(placed_sphere(cn_vec3(1, 2, 1.75), 0.5), p, 0.2).count == 0);
  m = collide(placed_sphere(cn_vec3(1, 2, -9), 0.5), p, 0);
  check_single(&m, cn_vec3(0, 0, -1), -10.5, cn_vec3(1, 2, -4.25));

  // a slope of 30 degrees
  CniPlaced slope = placed_plane(cn_vec3(0, 0, 0), turn(cn_vec3(0, 1, 0), CNI_PI / 6));
  CnVec3 up = {0.5, 0, sqrt(0.75)};
  m = collide(placed_sphere(cn_scale(1.5, up), 1), slope, 1);
  check_single(&m, cn_neg(up), 0.5, cn_scale(0.25, up));
}

static void sphere_box_outside(void **state) {
  (void)state;
  CniPlaced box = placed_box(cn_vec3(0, 0, 0), CN_QUAT_ONE, cn_vec3(1, 2, 3));
  // over a face, an edge, a corner
  CniManifold m = collide(placed_sphere(cn_vec3(0.5, 1, 4), 0.5), box, 1);
  check_single(&m, cn_vec3(0, 0, -1), 0.5, cn_vec3(0.5, 1, 3.25));
  m = collide(placed_sphere(cn_vec3(1.3, 2.4, 1), 0.25), box, 1);
  check_single(&m, cn_vec3(-0.6, -0.8, 0), 0.25, cn_vec3(1.075, 2.1, 1));
  m = collide(placed_sphere(cn_vec3(-2, -4, -5), 4), box, 0);
  CnVec3 n = {1.0 / 3, 2.0 / 3, 2.0 / 3};
  check_single(&m, n, -1, cn_madd(cn_vec3(-1, -2, -3), 0.5, n));
  CHECK(collide(placed_sphere(cn_vec3(1.3, 2.4, 1), 0.25), box, 0.24).count == 0);
}

static void sphere_box_inside(void **state) {
  (void)state;
  CniPlaced box = placed_box(cn_vec3(0, 0, 0), CN_QUAT_ONE, cn_vec3(1, 2, 3));
  // nearest face -y, +z, then all equally near: x first
  CniManifold m = collide(placed_sphere(cn_vec3(0.1, -1.8, 0), 0.5), box, 0);
  check_single(&m, cn_vec3(0, 1, 0), -0.7, cn_vec3(0.1, -1.65, 0));
  m = collide(placed_sphere(cn_vec3(0.1, 0.2, 2.9), 0.5), box, 0);
  check_single(&m, cn_vec3(0, 0, -1), -0.6, cn_vec3(0.1, 0.2, 2.7));
  CniPlaced cube = placed_box(cn_vec3(0, 0, 0), CN_QUAT_ONE, cn_vec3(1, 1, 1));
  m = collide(placed_sphere(cn_vec3(0, 0, 0), 0.5), cube, 0);
  check_single(&m, cn_vec3(-1, 0, 0), -1.5, cn_vec3(0.25, 0, 0));

  // the gap goes on smoothly through the surface, on the face itself and a rounding beside it
  for (int i = -3; i <= 3; i++) {
    double d = i == 0 ? 0 : copysign(pow(10, -3.0 * abs(i) - 6), i);
    m = collide(placed_sphere(cn_vec3(0.3, 0.2, 1 + d), 0.5), cube, 1);
    CHECK(m.count == 1);
    CHECK_NEAR(m.normal.z, -1, 1e-15);
    CHECK_NEAR(m.points[0].gap, d - 0.5, 1e-15);
  }
}

static void box_plane(void **state) {
  (void)state;
  CniPlaced p = placed_plane(cn_vec3(3, 3, 0), CN_QUAT_ONE);
  // flat: the four lower corners, with nothing missing and nothing else
  CniPlaced box = placed_box(cn_vec3(0, 0, 3.25), CN_QUAT_ONE, cn_vec3(1, 2, 3));
  CniManifold m = collide(box, p, 0.5);
  CHECK(m.count == 4);
  check_vec(m.normal, cn_vec3(0, 0, -1), 0);
  for (int i = 0; i < 4; i++) {
    CHECK(m.points[i].feature == (uint32_t)i);
    CHECK_NEAR(m.points[i].gap, 0.25, 1e-15);
    check_vec(m.points[i].point, cn_vec3(i & 1 ? 1 : -1, i & 2 ? 2 : -2, 0.125), 1e-15);
  }
  CHECK(collide(box, p, 0.2).count == 0);
  // a margin beyond the height, and a box wholly under the plane: all corners
  CHECK(collide(box, p, 7).count == 8);
  box.pose.position.z = -10;
  CHECK(collide(box, p, 0).count == 8);

  // on an edge (turned by 45 degrees about x), and on a corner
  CniPlaced cube =
      placed_box(cn_vec3(0, 0, sqrt(2.0)), turn(cn_vec3(1, 0, 0), CNI_PI / 4), cn_vec3(1, 1, 1));
  m = collide(cube, p, 0.1);
  CHECK(m.count == 2);
  CHECK(m.points[0].feature == 0 && m.points[1].feature == 1);
  CHECK_NEAR(m.points[0].gap, 0, 1e-15);
  CHECK_NEAR(m.points[1].gap, 0, 1e-15);
  CHECK_NEAR(m.points[0].point.x, -1, 1e-15);
  // the body diagonal upright: its lowest corner is number 0
  cube.pose.rotation = turn(cn_vec3(1, -1, 0), acos(1 / sqrt(3.0)));
  cube.pose.position = cn_vec3(0, 0, sqrt(3.0) - 0.01);
  m = collide(cube, p, 0);
  CHECK(m.count == 1);
  CHECK(m.points[0].feature == 0);
  CHECK_NEAR(m.points[0].gap, -0.01, 1e-14);
  check_vec(m.points[0].point, cn_vec3(0, 0, -0.005), 1e-14);
}

static CniPlaced random_shape(CniRng *rng, CnShapeKind kind) {
  CnPose pose = {random_in_cube(rng, 1), random_rotation(rng)};
  CniPlaced s = placed_unit(kind, pose);
  for (int k = 0; k < CNI_SHAPE_SIZES; k++) s.size[k] = cni_rng_range(rng, 0.1, 1);
  if (kind == CN_SHAPE_BOX) s.size[3] = 0; // sharp
  return s;
}

// What the contract says of every pair of kinds, on random placements.
static void every_pair(void **state) {
  (void)state;
  CniRng rng = {11};
  for (int n = 0; n < 9000; n++) {
    CniPlaced a = random_shape(&rng, (CnShapeKind)(n % 3));
    CniPlaced b = random_shape(&rng, (CnShapeKind)(n / 3 % 3));
    if (a.kind == CN_SHAPE_BOX && b.kind == CN_SHAPE_BOX) continue; // test_box_box.c
    double margin = cni_rng_range(&rng, 0, 0.5);
    CniManifold m = collide(a, b, margin), back = collide(b, a, margin);
    if (a.kind == CN_SHAPE_PLANE && b.kind == CN_SHAPE_PLANE) CHECK(m.count == 0);
    CHECK(m.count <= CNI_MAX_POINTS);
    CHECK_NEAR(cn_norm(m.normal), 1, 1e-14);
    for (int i = 0; i < m.count; i++) {
      CHECK(m.points[i].gap <= margin);
      if (i > 0) CHECK(m.points[i].feature > m.points[i - 1].feature);
    }

    // exchanged: the same points, the opposite normal
    CHECK(m.count == back.count);
    if (m.count) check_vec(m.normal, cn_neg(back.normal), a.kind == b.kind ? 1e-14 : 0);
    for (int i = 0; i < m.count; i++) {
      CHECK_NEAR(m.points[i].gap, back.points[i].gap, 1e-14);
      check_vec(m.points[i].point, back.points[i].point, 1e-14);
      CHECK(m.points[i].feature == back.points[i].feature);
    }

    // carried along by a rigid motion
    CnPose motion = {random_in_cube(&rng, 3), random_rotation(&rng)};
    CniManifold moved = collide(placed_moved(a, motion), placed_moved(b, motion), margin);
    CHECK(m.count == moved.count);
    for (int i = 0; i < m.count; i++) {
      CHECK_NEAR(m.points[i].gap, moved.points[i].gap, 1e-12);
      check_vec(cn_pose_point(motion, m.points[i].point), moved.points[i].point, 1e-12);
      check_vec(cn_rotate(motion.rotation, m.normal), moved.normal, 1e-12);
    }
  }
}

// The surfaces meet at the point, half the gap to either side: checked by the shapes' own
// equations.
static void point_is_midway(void **state) {
  (void)state;
  CniRng rng = {5};
  for (int n = 0; n < 3000; n++) {
    CniPlaced a = random_shape(&rng, CN_SHAPE_SPHERE);
    CniPlaced b = random_shape(&rng, (CnShapeKind)(n % 3));
    CniManifold m = collide(a, b, 10);
    CHECK(m.count == 1);
    CniPoint p = m.points[0];
    CnVec3 on_a = cn_madd(p.point, -0.5 * p.gap, m.normal);
    CnVec3 on_b = cn_pose_local(b.pose, cn_madd(p.point, 0.5 * p.gap, m.normal));
    CHECK_NEAR(cn_norm(cn_sub(on_a, a.pose.position)), a.size[0], 1e-14);
    if (b.kind == CN_SHAPE_SPHERE) CHECK_NEAR(cn_norm(on_b), b.size[0], 1e-14);
    if (b.kind == CN_SHAPE_PLANE) CHECK_NEAR(on_b.z, 0, 1e-14);
    if (b.kind == CN_SHAPE_BOX) {
      CnVec3 h = placed_half(&b);
      double out = cn_max(fabs(on_b.x) - h.x, cn_max(fabs(on_b.y) - h.y, fabs(on_b.z) - h.z));
      CHECK_NEAR(out, 0, 1e-14);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sphere_sphere),      cmocka_unit_test(sphere_plane),
      cmocka_unit_test(sphere_box_outside), cmocka_unit_test(sphere_box_inside),
      cmocka_unit_test(box_plane),          cmocka_unit_test(every_pair),
      cmocka_unit_test(point_is_midway),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
