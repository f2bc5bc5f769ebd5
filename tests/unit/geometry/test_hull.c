// SPDX-License-Identifier: Apache-2.0
// Convex hulls of points: closed forms of volume and inertia, the surface closed and convex, no
// point outside, at sizes from 1e-6 to 1e3 m; what has no hull is refused, and so are damaged lists.
#include <string.h>

#include "alloc.h"
#include "check.h"
#include "core/math.h"
#include "geometry/hull.h"
#include "placed.h"

#define LIMIT 4096

static CniHull *hull_of(const CnVec3 *points, int32_t count) {
  CniHull *h = NULL;
  CnAllocator a = cn_allocator_default();
  CHECK_OK(cni_hull_create(&a, "hull", points, count, &h));
  return h;
}

static void drop(CniHull *h) {
  CnAllocator a = cn_allocator_default();
  cni_hull_destroy(&a, h);
}

// Euler's formula, neighbours that name each other, and every point below every face.
static void check_surface(const CniHull *h, const CnVec3 *points, int32_t count, double size) {
  CHECK(h->vertex_count - h->corner_count / 2 + h->face_count == 2);
  for (int32_t f = 0; f < h->face_count; f++) {
    const CniHullFace *face = &h->faces[f];
    CHECK_NEAR(cn_norm(face->normal), 1, 1e-15);
    for (int32_t i = 0; i < count; i++)
      CHECK(cn_dot(face->normal, points[i]) <= face->height + 1e-12 * size);
    for (int32_t k = 0; k < face->count; k++) {
      const CniHullCorner *c = &h->corners[face->first + k];
      const CniHullFace *beyond = &h->faces[c->neighbour];
      CHECK_NEAR(cn_dot(face->normal, h->vertices[c->vertex]), face->height, 1e-7 * size);
      int32_t found = 0;
      for (int32_t j = 0; j < beyond->count; j++) {
        const CniHullCorner *d = &h->corners[beyond->first + j];
        found += d->edge == c->edge && d->neighbour == f;
      }
      CHECK(found == 1 && c->edge >= h->vertex_count && c->edge < 1022);
    }
  }
}

static int32_t box_points(CnVec3 half, CnPose pose, CnVec3 *points) {
  for (int32_t i = 0; i < 8; i++) {
    CnVec3 p = {i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z};
    points[i] = cn_pose_point(pose, p);
  }
  return 8;
}

static void boxes_have_six_faces(void **state) {
  (void)state;
  static const double sizes[] = {1e-6, 1e-3, 1, 1e3};
  CniRng rng = {3};
  for (int n = 0; n < 400; n++) {
    double s = sizes[n % 4], thin = n % 3 ? 1 : 1e-3;
    CnVec3 half = {s, 0.3 * s * thin, 0.7 * s}, points[8];
    CnPose pose = {random_in_cube(&rng, 3 * s), n % 5 ? random_rotation(&rng) : CN_QUAT_ONE};
    int32_t count = box_points(half, pose, points);
    CniHull *h = hull_of(points, count);
    CHECK(h->vertex_count == 8 && h->face_count == 6 && h->corner_count == 24);
    check_surface(h, points, count, 2 * s);
    double m = 8 * half.x * half.y * half.z;
    CHECK_REL(h->volume, m, 1e-11);
    CHECK_NEAR(cn_norm(cn_sub(h->centre, pose.position)), 0, 1e-12 * s);
    CHECK_REL(h->inradius, half.y, 1e-11);
    CnSym3 j = cn_srotate(cn_qmat(pose.rotation),
                          cn_scale(m / 3, cn_vec3(half.y * half.y + half.z * half.z,
                                                  half.x * half.x + half.z * half.z,
                                                  half.x * half.x + half.y * half.y)));
    CHECK_NEAR(h->inertia.xx, j.xx, 1e-11 * m * s * s);
    CHECK_NEAR(h->inertia.zz, j.zz, 1e-11 * m * s * s);
    CHECK_NEAR(h->inertia.xy, j.xy, 1e-11 * m * s * s);
    CHECK_NEAR(h->inertia.xz, j.xz, 1e-11 * m * s * s);
    CHECK_NEAR(h->inertia.yz, j.yz, 1e-11 * m * s * s);
    drop(h);
  }
}

static void tetrahedron(void **state) {
  (void)state;
  const CnVec3 points[] = {{0, 0, 0}, {2, 0, 0}, {0, 3, 0}, {0, 0, 4}};
  CniHull *h = hull_of(points, 4);
  CHECK(h->vertex_count == 4 && h->face_count == 4);
  check_surface(h, points, 4, 4);
  CHECK_REL(h->volume, 4, 1e-15);
  CHECK_NEAR(h->centre.x, 0.5, 1e-15);
  CHECK_NEAR(h->centre.y, 0.75, 1e-15);
  CHECK_NEAR(h->centre.z, 1, 1e-15);
  // about the centre: 3/80 V (b^2 + c^2), and -(-1/80) V a b
  CHECK_REL(h->inertia.xx, 3.0 / 80 * 4 * (9 + 16), 1e-14);
  CHECK_REL(h->inertia.xy, 1.0 / 80 * 4 * 6, 1e-14);
  drop(h);
}

// Prisms on a regular polygon, with points inside, on faces, on edges and twice.
static void prisms_with_idle_points(void **state) {
  (void)state;
  CniRng rng = {7};
  static CnVec3 points[LIMIT];
  for (int32_t n = 3; n <= 128; n += n < 12 ? 1 : 29) {
    CnPose pose = {random_in_cube(&rng, 1), random_rotation(&rng)};
    int32_t count = 0;
    for (int32_t i = 0; i < n; i++)
      for (int side = -1; side <= 1; side += 2) {
        double a = 2 * CNI_PI * i / n;
        points[count++] = cn_vec3(cos(a), sin(a), 0.5 * side);
        if (i % 2) points[count] = points[count - 1], count++;
      }
    int32_t corners = count;
    for (int k = 0; k < 200; k++) {
      CnVec3 p = points[cni_rng_next(&rng) % (uint64_t)corners];
      CnVec3 q = points[cni_rng_next(&rng) % (uint64_t)corners];
      points[count++] = cn_madd(p, cni_rng_range(&rng, 0, 1), cn_sub(q, p));
    }
    for (int32_t i = 0; i < count; i++) points[i] = cn_pose_point(pose, points[i]);
    CniHull *h = hull_of(points, count);
    CHECK(h->vertex_count == 2 * n && h->face_count == n + 2);
    check_surface(h, points, count, 2);
    CHECK_REL(h->volume, 0.5 * n * sin(2 * CNI_PI / n), 1e-11);
    drop(h);
  }
}

// Points on a sphere are all corners; their hull against brute force over all triples.
static void points_on_a_sphere(void **state) {
  (void)state;
  CniRng rng = {11};
  for (int n = 0; n < 40; n++) {
    CnVec3 points[256];
    int32_t count = n < 38 ? 4 + n : 256, faces = 0;
    double s = n % 2 ? 1e-6 : 1e3;
    for (int32_t i = 0; i < count; i++) points[i] = cn_scale(s, random_direction(&rng));
    CniHull *h = hull_of(points, count);
    CHECK(h->vertex_count == count && h->face_count == 2 * count - 4);
    check_surface(h, points, count, 2 * s);
    for (int32_t i = 0; i < count && count < 50; i++)
      for (int32_t j = 0; j < i; j++)
        for (int32_t k = 0; k < j; k++) {
          CnVec3 c = cn_cross(cn_sub(points[j], points[i]), cn_sub(points[k], points[i]));
          int32_t over = 0, under = 0;
          for (int32_t m = 0; m < count; m++) {
            double d = cn_dot(c, cn_sub(points[m], points[i]));
            over += d > 0 && m != i && m != j && m != k;
            under += d < 0 && m != i && m != j && m != k;
          }
          faces += over == 0 || under == 0;
        }
    if (count < 50) CHECK(faces == h->face_count);
    drop(h);
  }
}

// Points in a cube on a coarse grid: many are coplanar, collinear and equal. Order does not matter.
static void points_of_a_grid(void **state) {
  (void)state;
  CniRng rng = {13};
  static CnVec3 points[LIMIT];
  for (int n = 0; n < 200; n++) {
    int32_t count = 8 + n * 5, steps = 2 + n % 4;
    for (int32_t i = 0; i < count; i++) {
      double *p = &points[i].x;
      for (int k = 0; k < 3; k++)
        p[k] = (double)(cni_rng_next(&rng) % (uint64_t)steps) / (steps - 1) / 3;
    }
    CnAllocator a = cn_allocator_default();
    CniHull *h, *t;
    if (cni_hull_create(&a, "hull", points, count, &h) != CN_OK) continue; // in a plane
    check_surface(h, points, count, 1.0 / 3);
    for (int32_t i = 0; i < count / 2; i++) {
      CnVec3 p = points[i];
      points[i] = points[count - 1 - i];
      points[count - 1 - i] = p;
    }
    t = hull_of(points, count);
    CHECK(t->vertex_count == h->vertex_count && t->face_count == h->face_count);
    CHECK_REL(t->volume, h->volume, 1e-13);
    if (count > 500 && steps < 4) CHECK(h->vertex_count == 8 && h->face_count == 6);
    drop(h);
    drop(t);
  }
}

// Coordinates of seven digits: faces are flat to what was written.
static void written_digits(void **state) {
  (void)state;
  CnVec3 points[20];
  double g = (1 + sqrt(5)) / 2, c[3][2] = {{1 / g, g}, {1, 1}, {0, 0}};
  int32_t n = 0;
  for (int i = 0; i < 8; i++) points[n++] = cn_vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1);
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < 4; i++) {
      double p = (i & 1 ? 1 : -1) * c[0][0], q = (i & 2 ? 1 : -1) * c[0][1];
      points[n++] = k == 0 ? cn_vec3(0, p, q) : k == 1 ? cn_vec3(p, q, 0) : cn_vec3(q, 0, p);
    }
  for (int i = 0; i < n; i++) {
    points[i].x = (float)points[i].x;
    points[i].y = (float)points[i].y;
    points[i].z = (float)points[i].z;
  }
  CniHull *h = hull_of(points, n);
  CHECK(h->vertex_count == 20 && h->face_count == 12);
  for (int32_t f = 0; f < 12; f++) CHECK(h->faces[f].count == 5);
  CHECK_REL(h->volume, (15 + 7 * sqrt(5)) / 4 * 8 / (g * g * g), 1e-6);
  drop(h);
}

static void what_has_no_hull_is_refused(void **state) {
  (void)state;
  CniRng rng = {17};
  CnVec3 points[300];
  CniHull *h;
  CnAllocator a = cn_allocator_default();
  for (int kind = 0; kind < 5; kind++) {
    CnQuat q = random_rotation(&rng);
    for (int i = 0; i < 300; i++) {
      CnVec3 p = random_in_cube(&rng, 1);
      if (kind == 0) p = cn_vec3(1, 2, 3);
      if (kind == 1) p = cn_vec3(p.x, 0, 0);
      if (kind == 2) p.z = 1e-7 * p.z;
      if (kind == 3) p = random_direction(&rng);
      if (kind == 4 && i == 77) p.y = NAN;
      points[i] = cn_rotate(q, p);
    }
    CHECK_STATUS(cni_hull_create(&a, "part", points, 300, &h), CN_INVALID_ARGUMENT);
    static const char *const words[] = {"span no volume", "on a line", "in a plane",
                                        "more than 256 vertices", "point 77 is not finite"};
    CHECK(strstr(cn_error_message(), words[kind]) != NULL);
    CHECK(strncmp(cn_error_message(), "part: ", 6) == 0);
    CHECK(h == NULL);
  }
  CHECK_STATUS(cni_hull_create(&a, "part", points, 3, &h), CN_INVALID_ARGUMENT);
}

// A cube's lists, damaged in every way.
static void damaged_lists_are_refused(void **state) {
  (void)state;
  CnAllocator a = cn_allocator_default();
  CnVec3 points[8];
  box_points(cn_vec3(1, 1, 1), CN_POSE_ONE, points);
  CniHull *cube = hull_of(points, 8), *h;
  int32_t counts[6], corners[24], good[24];
  for (int32_t f = 0; f < 6; f++) counts[f] = cube->faces[f].count;
  for (int32_t i = 0; i < 24; i++) good[i] = corners[i] = cube->corners[i].vertex;
  CHECK_OK(cni_hull_build(&a, "hull", 8, points, 6, counts, corners, &h));
  CHECK(memcmp(h->faces, cube->faces, 6 * sizeof *h->faces) == 0);
  CHECK(h->volume == cube->volume && memcmp(&h->inertia, &cube->inertia, sizeof h->inertia) == 0);
  drop(h);
  CniRng rng = {19};
  for (int n = 0; n < 3000; n++) {
    memcpy(corners, good, sizeof good);
    int32_t at = (int32_t)(cni_rng_next(&rng) % 24), to = (int32_t)(cni_rng_next(&rng) % 12) - 2;
    if (corners[at] == to) continue;
    corners[at] = to;
    CHECK_STATUS(cni_hull_build(&a, "hull", 8, points, 6, counts, corners, &h), CN_INVALID_DATA);
  }
  for (int32_t i = 0; i < 4; i++) corners[i] = good[3 - i];
  memcpy(corners + 4, good + 4, 20 * sizeof *good);
  CHECK_STATUS(cni_hull_build(&a, "hull", 8, points, 6, counts, corners, &h), CN_INVALID_DATA);
  counts[0] = 2;
  CHECK_STATUS(cni_hull_build(&a, "hull", 8, points, 6, counts, good, &h), CN_INVALID_DATA);
  counts[0] = INT32_MAX;
  CHECK_STATUS(cni_hull_build(&a, "hull", 8, points, 6, counts, good, &h), CN_INVALID_DATA);
  counts[0] = 4;
  CHECK_STATUS(cni_hull_build(&a, "hull", 7, points, 6, counts, good, &h), CN_INVALID_DATA);
  CHECK_STATUS(cni_hull_build(&a, "hull", 8, points, 5, counts, good, &h), CN_INVALID_DATA);
  CHECK_STATUS(cni_hull_build(&a, "hull", -1, points, 5, counts, good, &h), CN_INVALID_DATA);
  points[3] = cn_vec3(0, 0, 0);
  CHECK_STATUS(cni_hull_build(&a, "hull", 8, points, 6, counts, good, &h), CN_INVALID_DATA);
  points[3] = cn_vec3(INFINITY, 0, 0);
  CHECK_STATUS(cni_hull_build(&a, "hull", 8, points, 6, counts, good, &h), CN_INVALID_DATA);
  drop(cube);
}

// The search of the widest level finds the first of the farthest vertices, as a plain loop does, and the
// faces about a vertex are those that have it.
static void searches(void **state) {
  (void)state;
  CniRng rng = {17};
  for (int32_t n = 8; n <= 200; n += 24) {
    CnVec3 points[200];
    for (int32_t i = 0; i < n; i++)
      points[i] =
          n == 8 ? cn_vec3(i & 1 ? 1 : -1, i & 2 ? 2 : -2, i & 4 ? 3 : -3) : random_direction(&rng);
    CniHull *h = hull_of(points, n);
    for (int32_t k = 0; k < 200; k++) {
      CnVec3 d = random_direction(&rng);
      if (k < 6) d = cn_vec3(k % 3 == 0, k % 3 == 1, k % 3 == 2);
      if (k < 3) d = cn_neg(d);
      int32_t vertex = 0, face = 0;
      for (int32_t i = 1; i < h->vertex_count; i++)
        if (cn_dot(d, h->vertices[i]) > cn_dot(d, h->vertices[vertex])) vertex = i;
      for (int32_t i = 1; i < h->face_count; i++)
        if (cn_dot(d, h->faces[i].normal) > cn_dot(d, h->faces[face].normal)) face = i;
      CHECK(h->farthest(h->vertex_columns.values, h->vertex_columns.stride, d) == vertex);
      CHECK(h->farthest(h->normal_columns.values, h->normal_columns.stride, d) == face);
    }
    for (int32_t v = 0; v < h->vertex_count; v++)
      for (int32_t i = h->first_about[v]; i < h->first_about[v + 1]; i++) {
        const CniHullFace *face = &h->faces[h->about[i]];
        int32_t k = 0;
        while (k < face->count && h->corners[face->first + k].vertex != v) k++;
        CHECK(k < face->count);
      }
    CHECK(h->first_about[h->vertex_count] == h->corner_count);
    drop(h);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(boxes_have_six_faces),
      cmocka_unit_test(tetrahedron),
      cmocka_unit_test(prisms_with_idle_points),
      cmocka_unit_test(points_on_a_sphere),
      cmocka_unit_test(points_of_a_grid),
      cmocka_unit_test(written_digits),
      cmocka_unit_test(what_has_no_hull_is_refused),
      cmocka_unit_test(damaged_lists_are_refused),
      cmocka_unit_test(searches),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
