// SPDX-License-Identifier: Apache-2.0
// Scene G and the list of bodies handed to other engines: every comparison rests on them.
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "bodies.h"
#include "core/hash.h"
#include "scene_g.h"

// Spheres fill 60 % of a cube of the floor's side.
static void side(void **state) {
  (void)state;
  double length = scene_g_side(1000), r = SCENE_G_RADIUS;
  CHECK_REL(length * length * length * 0.6, 1000 * 4.0 / 3.0 * 3.14159265358979 * r * r * r, 1e-14);
}

// On lattice points within the jitter; row by row; inside the box; apart from each other; the same
// bits as ever.
static void lattice(void **state) {
  (void)state;
  enum { COUNT = 1000 };
  static double p[3 * COUNT];
  scene_g_positions(COUNT, p);
  const double r = SCENE_G_RADIUS, spacing = 2.02 * r, jitter = 0.01 * r;
  double half = scene_g_side(COUNT) / 2;
  // side 1.911 m holds nine spheres of spacing 0.202 m
  const int32_t row = 9;
  for (int32_t i = 0; i < COUNT; i++) {
    CHECK_NEAR(p[3 * i], spacing * (i % row - 4), jitter);
    CHECK_NEAR(p[3 * i + 1], spacing * (i / row % row - 4), jitter);
    CHECK_NEAR(p[3 * i + 2], spacing * (i / (row * row)) + spacing / 2, jitter);
    CHECK(fabs(p[3 * i]) + r <= half && fabs(p[3 * i + 1]) + r <= half && p[3 * i + 2] >= r);
  }
  // the first draw: s = 6364136223846793005 + 1442695040888963407 modulo 2^64
  double u = (double)(7806831264735756412u >> 11) * 0x1p-53;
  CHECK_NEAR(p[0], -4 * spacing + (2 * u - 1) * jitter, 1e-15);
  CHECK(cni_hash_doubles(CNI_HASH_START, p, 3 * COUNT) == 0xc9eba81afd90f834u);
}

static Bodies three_spheres(void) {
  Bodies b;
  CHECK(bodies_create(&b, 3, 1));
  b.gravity[2] = -9.81;
  b.time_step = 0.005;
  b.friction = 0.4;
  b.step_count = 200;
  b.iterations = 120;
  b.planes[0] = (Plane){{0, 0, 1}, 0.1};
  // 0.3 deep in each other, the third 0.2 deep in the plane and clear of the others
  b.spheres[0] = (Sphere){{0, 0, 5}, 1, 2000};
  b.spheres[1] = (Sphere){{-1.02, 0, 6.36}, 1, 2000};
  b.spheres[2] = (Sphere){{1.0 / 3, 0, 0.4}, 0.5, 1500};
  return b;
}

// The text form carries every bit.
static void round_trip(void **state) {
  (void)state;
  Bodies a = three_spheres(), b;
  FILE *file = tmpfile();
  CHECK(file && bodies_write(&a, file));
  rewind(file);
  CHECK(bodies_read(&b, file));
  fclose(file);
  CHECK(b.sphere_count == 3 && b.plane_count == 1 && b.step_count == 200 && b.iterations == 120);
  CHECK(memcmp(a.spheres, b.spheres, 3 * sizeof *a.spheres) == 0);
  CHECK(memcmp(a.planes, b.planes, sizeof *a.planes) == 0);
  CHECK(memcmp(a.gravity, b.gravity, sizeof a.gravity) == 0);
  CHECK(a.time_step == b.time_step && a.friction == b.friction);
  bodies_destroy(&a);
  bodies_destroy(&b);
}

static void overlap(void **state) {
  (void)state;
  Bodies b = three_spheres();
  Overlap sum = {0, 0, 0};
  CHECK(overlap_add(&b, &sum));
  CHECK(sum.count == 2);
  CHECK_NEAR(sum.max, 0.3, 1e-14); // 1.02, 1.36, 1.7 is a right triangle
  CHECK_NEAR(sum.sum, 0.5, 1e-14);
  CHECK(overlap_add(&b, &sum));
  CHECK(sum.count == 4);
  CHECK_NEAR(sum.sum, 1.0, 1e-14);
  bodies_destroy(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(side), cmocka_unit_test(lattice),
                                     cmocka_unit_test(round_trip), cmocka_unit_test(overlap)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
