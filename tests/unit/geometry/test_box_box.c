// SPDX-License-Identifier: Apache-2.0
// Two boxes: placements whose contact is known in closed form, the degenerate ones among them.
// Random placements against independent measures are in test_box_box_random.c.
#include "check.h"
#include "core/math.h"
#include "placed.h"

static const CnVec3 one = {1, 1, 1};

static CniManifold collide(CniPlaced a, CniPlaced b, double margin) {
  CniManifold m;
  cni_collide(&a, &b, margin, &m);
  CHECK(m.count >= 0 && m.count <= CNI_MAX_POINTS);
  for (int i = 0; i < m.count; i++) {
    CHECK(m.points[i].gap <= margin);
    CHECK(cn_vec3_finite(m.points[i].point));
    if (i > 0) CHECK(m.points[i].feature > m.points[i - 1].feature);
  }
  if (m.count) CHECK_NEAR(cn_norm(m.normal), 1, 1e-14);
  return m;
}

static void check_vec(CnVec3 a, CnVec3 b, double tolerance) {
  CHECK_NEAR(a.x, b.x, tolerance);
  CHECK_NEAR(a.y, b.y, tolerance);
  CHECK_NEAR(a.z, b.z, tolerance);
}

// Exactly these points, in any order, all with one gap.
static void check_points(const CniManifold *m, int count, const CnVec3 *points, double gap,
                         double tolerance) {
  CHECK(m->count == count);
  for (int i = 0; i < count; i++) {
    double nearest = INFINITY;
    for (int k = 0; k < count; k++)
      nearest = fmin(nearest, cn_norm(cn_sub(points[i], m->points[k].point)));
    CHECK_NEAR(nearest, 0, tolerance);
    CHECK_NEAR(m->points[i].gap, gap, tolerance);
  }
}

static CniPlaced cube_at(double x, double y, double z) {
  return placed_box(cn_vec3(x, y, z), CN_QUAT_ONE, one);
}

// One cube on another, apart, flush and overlapping: four corners, and the same names.
static void aligned_stack(void **state) {
  (void)state;
  const double gaps[] = {0.01, 1e-12, 0, -1e-12, -0.01, -0.3};
  for (int i = 0; i < 6; i++) {
    CniManifold m = collide(cube_at(0, 0, 0), cube_at(0, 0, 2 + gaps[i]), 0.1);
    double z = 1 + gaps[i] / 2;
    CnVec3 p[4] = {{1, 1, z}, {-1, 1, z}, {1, -1, z}, {-1, -1, z}};
    check_points(&m, 4, p, gaps[i], 1e-14);
    check_vec(m.normal, cn_vec3(0, 0, 1), 0);
    for (int k = 0; k < 4; k++) CHECK(m.points[k].feature == (uint32_t)(8 + k));
  }
  CHECK(collide(cube_at(0, 0, 0), cube_at(0, 0, 2.11), 0.1).count == 0);
}

// Every one of the six directions.
static void all_sides(void **state) {
  (void)state;
  for (int side = 0; side < 6; side++) {
    double n[3] = {0, 0, 0};
    n[side / 2] = side % 2 ? 1 : -1;
    CnVec3 normal = {n[0], n[1], n[2]};
    CnVec3 h = {0.5, 1, 1.5};
    double reach = 2 * fabs(cn_dot(h, normal));
    CniPlaced a = placed_box(cn_vec3(1, 2, 3), CN_QUAT_ONE, h), b = a;
    b.pose.position = cn_madd(a.pose.position, reach - 0.02, normal);
    CniManifold m = collide(a, b, 0);
    check_vec(m.normal, normal, 1e-15);
    CHECK(m.count == 4);
    for (int i = 0; i < 4; i++) CHECK_NEAR(m.points[i].gap, -0.02, 1e-14);
  }
}

// Turned by 45 degrees: the area of contact is an octagon.
static void octagon(void **state) {
  (void)state;
  CniPlaced a = cube_at(0, 0, 0), b = cube_at(0, 0, 1.99);
  b.pose.rotation = turn(cn_vec3(0, 0, 1), CNI_PI / 4);
  CniManifold m = collide(a, b, 0);
  CnVec3 p[8];
  double s = sqrt(2.0) - 1;
  for (int i = 0; i < 8; i++) {
    double u = i & 1 ? 1 : -1, v = i & 2 ? s : -s;
    p[i] = i & 4 ? cn_vec3(u, v, 0.995) : cn_vec3(v, u, 0.995);
  }
  check_points(&m, 8, p, -0.01, 1e-14);
  check_vec(m.normal, cn_vec3(0, 0, 1), 1e-15);
}

// Shifted half across: two corners of each.
static void overhang(void **state) {
  (void)state;
  CniPlaced a = cube_at(0, 0, 0), b = cube_at(1.5, 0, 2);
  CniManifold m = collide(a, b, 0.01);
  CnVec3 p[4] = {{1, 1, 1}, {1, -1, 1}, {0.5, 1, 1}, {0.5, -1, 1}};
  check_points(&m, 4, p, 0, 1e-14);

  // a cross: the crossings of the edges; and the names keep under a creep in any direction
  CniPlaced c = placed_box(cn_vec3(0, 0, 0), CN_QUAT_ONE, cn_vec3(3, 1, 1));
  CniPlaced d = placed_box(cn_vec3(0, 0, 2), CN_QUAT_ONE, cn_vec3(1, 3, 1));
  CniManifold first = collide(c, d, 0.01);
  CnVec3 q[4] = {{1, 1, 1}, {1, -1, 1}, {-1, 1, 1}, {-1, -1, 1}};
  check_points(&first, 4, q, 0, 1e-14);
  for (int i = 0; i < 4; i++) CHECK(first.points[i].feature >= 16);
}

// Creep and turning far below anything visible must not change the names of a flush pile's points.
static void names_survive_creep(void **state) {
  (void)state;
  CniRng rng = {2};
  CniPlaced a = cube_at(0, 0, 0);
  for (int n = 0; n < 5000; n++) {
    CniPlaced b = cube_at(0, 0, 2);
    b.pose.position = cn_add(b.pose.position, random_in_cube(&rng, 2e-5));
    b.pose.rotation = turn(random_direction(&rng), cni_rng_range(&rng, 0, 2e-5));
    CniManifold m = collide(a, b, 1e-3);
    CHECK(m.count == 4);
    for (int k = 0; k < 4; k++) {
      uint32_t f = m.points[k].feature;
      CHECK(f < 16 && (f < 8 ? f >= 4 : f < 12));
      CHECK_NEAR(fabs(m.points[k].point.x), 1, 1e-4);
      CHECK_NEAR(fabs(m.points[k].point.y), 1, 1e-4);
    }
  }
}

static void size_ratio(void **state) {
  (void)state;
  // a millimetre on a metre, both orders; flat and turned
  CniPlaced big = placed_box(cn_vec3(0, 0, -1), CN_QUAT_ONE, one);
  for (int n = 0; n < 2; n++) {
    CniPlaced small = placed_box(cn_vec3(0.3, 0.4, 0.001 - 1e-6), turn(cn_vec3(0, 0, 1), n * 0.7),
                                 cn_vec3(1e-3, 1e-3, 1e-3));
    CniManifold m = collide(big, small, 0), back = collide(small, big, 0);
    CnVec3 p[4];
    for (int i = 0; i < 4; i++) {
      p[i] = placed_corner(&small, i);
      p[i].z += 0.5e-6;
    }
    check_points(&m, 4, p, -1e-6, 1e-15);
    check_points(&back, 4, p, -1e-6, 1e-15);
    check_vec(m.normal, cn_vec3(0, 0, 1), 1e-15);
    check_vec(back.normal, cn_vec3(0, 0, -1), 1e-15);
    for (int i = 0; i < 4; i++) {
      CHECK(m.points[i].feature == (uint32_t)(8 + i)); // the small one's corners
      CHECK(back.points[i].feature == (uint32_t)i);
    }
  }
  // a plate 1000 times as wide as thick on its like
  CniPlaced plate = placed_box(cn_vec3(0, 0, 0), CN_QUAT_ONE, cn_vec3(1, 1, 1e-3));
  CniPlaced other = plate;
  other.pose.position = cn_vec3(0.5, 0.5, 2e-3);
  CniManifold m = collide(plate, other, 1e-5);
  CnVec3 q[4] = {{1, 1, 1e-3}, {-0.5, 1, 1e-3}, {1, -0.5, 1e-3}, {-0.5, -0.5, 1e-3}};
  check_points(&m, 4, q, 0, 1e-15);
}

// A cube standing on its corner, on its edge: over a face.
static void corner_and_edge_on_face(void **state) {
  (void)state;
  CniPlaced a = placed_box(cn_vec3(0, 0, -1), CN_QUAT_ONE, cn_vec3(5, 5, 1));
  CniPlaced b = placed_box(cn_vec3(1, 2, sqrt(3.0) + 0.01),
                           turn(cn_vec3(1, -1, 0), acos(1 / sqrt(3.0))), one);
  CniManifold m = collide(a, b, 0.02);
  CHECK(m.count == 1);
  check_vec(m.normal, cn_vec3(0, 0, 1), 1e-15);
  check_vec(m.points[0].point, cn_vec3(1, 2, 0.005), 1e-14);
  CHECK_NEAR(m.points[0].gap, 0.01, 1e-14);
  CHECK(m.points[0].feature == 8);

  b = placed_box(cn_vec3(1, 2, sqrt(2.0) - 0.01), turn(cn_vec3(1, 0, 0), CNI_PI / 4), one);
  m = collide(a, b, 0);
  CnVec3 p[2] = {{0, 2, -0.005}, {2, 2, -0.005}};
  check_points(&m, 2, p, -0.01, 1e-14);
}

// Two ridges crossing at a right angle.
static void crossing_edges(void **state) {
  (void)state;
  double r = sqrt(2.0);
  const double gaps[] = {0.05, 1e-10, 0, -0.05};
  for (int i = 0; i < 4; i++) {
    CniPlaced a = placed_box(cn_vec3(0, 0, 0), turn(cn_vec3(1, 0, 0), CNI_PI / 4), one);
    CniPlaced b =
        placed_box(cn_vec3(0.5, 0.3, 2 * r + gaps[i]), turn(cn_vec3(0, 1, 0), CNI_PI / 4), one);
    CniManifold m = collide(a, b, 0.1);
    CHECK(m.count == 1);
    check_vec(m.normal, cn_vec3(0, 0, 1), 1e-14);
    CHECK_NEAR(m.points[0].gap, gaps[i], 1e-14);
    check_vec(m.points[0].point, cn_vec3(0.5, 0, r + gaps[i] / 2), 1e-14);
    CHECK(m.points[0].feature >= 16);
  }
}

// Apart, with a corner nearest to a corner or an edge: the normal is the shortest way, which no
// face normal and no product of edges has.
static void nearest_corners(void **state) {
  (void)state;
  CniManifold m = collide(cube_at(0, 0, 0), cube_at(2.1, 2.2, 2.2), 0.5);
  CHECK(m.count == 1);
  check_vec(m.normal, cn_vec3(1.0 / 3, 2.0 / 3, 2.0 / 3), 1e-13);
  CHECK_NEAR(m.points[0].gap, 0.3, 1e-14);
  check_vec(m.points[0].point, cn_vec3(1.05, 1.1, 1.1), 1e-14);
  CHECK(collide(cube_at(0, 0, 0), cube_at(2.1, 2.2, 2.2), 0.29).count == 0);

  // edge along edge, off the corner: both ends of the common stretch
  m = collide(cube_at(0, 0, 0), cube_at(2.03, 0.5, 2.04), 0.1);
  CnVec3 p[2] = {{1.015, 1, 1.02}, {1.015, -0.5, 1.02}};
  check_points(&m, 2, p, 0.05, 1e-14);
  check_vec(m.normal, cn_vec3(0.6, 0, 0.8), 1e-13);
  CHECK(m.points[0].feature == 7);      // a's corner + + +
  CHECK(m.points[1].feature == 8 + 0u); // b's corner - - -

  // the corner of a turned cube beside an edge
  CniPlaced b = placed_box(CN_VEC3_ZERO, turn(cn_vec3(1, -1, 0), acos(1 / sqrt(3.0))), one);
  b.pose.position = cn_sub(cn_vec3(1.03, 0.2, 1.04), placed_corner(&b, 0));
  m = collide(cube_at(0, 0, 0), b, 0.1);
  CHECK(m.count == 1);
  check_vec(m.normal, cn_vec3(0.6, 0, 0.8), 1e-13);
  CHECK_NEAR(m.points[0].gap, 0.05, 1e-14);
  CHECK(m.points[0].feature == 8);
}

// Placements with no best answer must still give a finite one, the same each time.
static void degenerate(void **state) {
  (void)state;
  // one inside the other, coincident: out through the first of the nearest faces
  CniManifold m = collide(cube_at(0, 0, 0), cube_at(0, 0, 0), 0);
  CHECK(m.count == 4);
  check_vec(m.normal, cn_vec3(1, 0, 0), 1e-15);
  for (int i = 0; i < 4; i++) CHECK_NEAR(m.points[i].gap, -2, 1e-15);
  m = collide(cube_at(0, 0, 0), placed_box(cn_vec3(0, 0.5, 0), CN_QUAT_ONE, cn_vec3(.1, .1, .1)),
              0);
  CHECK(m.count == 4);
  check_vec(m.normal, cn_vec3(0, 1, 0), 1e-15);
  CHECK_NEAR(m.points[0].gap, -0.6, 1e-15);

  // touching exactly edge to edge and corner to corner
  m = collide(cube_at(0, 0, 0), cube_at(2, 0, 2), 0.01);
  CHECK(m.count >= 1);
  CHECK_NEAR(m.points[0].gap, 0, 1e-15);
  m = collide(cube_at(0, 0, 0), cube_at(2, 2, 2), 0.01);
  CHECK(m.count >= 1);
  CHECK_NEAR(m.points[0].gap, 0, 1e-15);

  // edges parallel to within round-off and around it
  for (double angle = 1e-17; angle < 1e-2; angle *= 10) {
    CniPlaced b = cube_at(0.3, 0.2, 2.001);
    b.pose.rotation = turn(cn_vec3(1, 1, 1), angle);
    m = collide(cube_at(0, 0, 0), b, 0.1);
    CHECK(m.count >= 4);
    CHECK_NEAR(m.normal.z, 1, angle);
  }

  // a margin far beyond the boxes; a pose that is not a number
  m = collide(cube_at(0, 0, 0), cube_at(30, 40, 0), 1e6);
  CHECK(m.count >= 1);
  CHECK_NEAR(m.points[0].gap, hypot(28, 38), 1e-12);
  CHECK(collide(cube_at(0, 0, 0), cube_at(NAN, 0, 0), 1).count == 0);
}

// The nearest point of the gap along the edge of an octagon is not lost when the box tips.
static void tipped(void **state) {
  (void)state;
  // tipped about y by a small angle over the border of the lower box: all four corners within the
  // margin stay, the two lower ones at the gap of their height
  for (double angle = 1e-3; angle < 0.02; angle *= 2) {
    CniPlaced a = cube_at(0, 0, 0), b = cube_at(0, 0, 0);
    b.pose.rotation = turn(cn_vec3(0, 1, 0), angle);
    b.pose.position = cn_vec3(0.5, 0, 2 + sin(angle));
    CniManifold m = collide(a, b, 0.1);
    CHECK(m.count == 4);
    // the lower box's border is the nearest: b's face is over it
    double n_z = m.normal.z;
    CHECK(n_z > cos(2 * angle));
    double least = INFINITY;
    for (int i = 0; i < 4; i++) least = fmin(least, m.points[i].gap);
    CnVec3 d = cn_rotate(b.pose.rotation, cn_vec3(0, 0, 1));
    double exact = cn_dot(d, cn_sub(b.pose.position, cn_vec3(1, 0, 1))) - 1;
    CHECK_NEAR(least, exact, 1e-3 * exact + 1e-5);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(aligned_stack),
      cmocka_unit_test(all_sides),
      cmocka_unit_test(octagon),
      cmocka_unit_test(overhang),
      cmocka_unit_test(names_survive_creep),
      cmocka_unit_test(size_ratio),
      cmocka_unit_test(corner_and_edge_on_face),
      cmocka_unit_test(crossing_edges),
      cmocka_unit_test(nearest_corners),
      cmocka_unit_test(degenerate),
      cmocka_unit_test(tipped),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
