// SPDX-License-Identifier: Apache-2.0
// Qhull (Barber, Dobkin and Huhdanpaa 1996) as a second opinion on convex hulls: the same corners of
// points in general position, the same volume and area of all, from 1e-6 to 1e3 m, needles and plates,
// grids full of coplanar and collinear points, points that are there twice.
#include <libqhull_r/qhull_ra.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "core/rng.h"
#include "geometry/geometry.h"

#define MOST 400

typedef struct Answer {
  double volume, area;
  int corners;
  char corner[MOST];
} Answer;

static void by_qhull(const CnVec3 *points, int count, Answer *answer) {
  qhT room, *qh = &room;
  static double numbers[3 * MOST];
  char command[] = "qhull FA Pp";
  int curlong, totlong;
  vertexT *vertex;
  for (int i = 0; i < count; i++) memcpy(numbers + 3 * i, &points[i], 3 * sizeof(double));
  qh_zero(qh, stderr);
  CHECK(qh_new_qhull(qh, 3, count, numbers, False, command, NULL, stderr) == 0);
  qh_getarea(qh, qh->facet_list);
  *answer = (Answer){.volume = qh->totvol, .area = qh->totarea};
  FORALLvertices {
    answer->corner[qh_pointid(qh, vertex->point)] = 1;
    answer->corners++;
  }
  qh_freeqhull(qh, !qh_ALL);
  qh_memfreeshort(qh, &curlong, &totlong);
}

static double area_of(const CniHull *h) {
  double area = 0;
  for (int32_t f = 0; f < h->face_count; f++) {
    const CniHullFace *face = &h->faces[f];
    const CniHullCorner *c = &h->corners[face->first];
    CnVec3 origin = h->vertices[c[0].vertex], sum = CN_VEC3_ZERO;
    for (int32_t k = 1; k + 1 < face->count; k++)
      sum = cn_add(sum, cn_cross(cn_sub(h->vertices[c[k].vertex], origin),
                                 cn_sub(h->vertices[c[k + 1].vertex], origin)));
    area += 0.5 * cn_norm(sum);
  }
  return area;
}

// `general`: no four points in a plane, so that the corners are the same too.
static void compare(const CnVec3 *points, int count, int general) {
  CnAllocator allocator = cn_allocator_default();
  CniHull *hull = NULL;
  Answer qhull;
  by_qhull(points, count, &qhull);
  CHECK_OK(cni_hull_create(&allocator, "hull", points, count, &hull));
  // facets that are one face may be uneven by 1e-7 of the size (hull.h)
  int merged = general && hull->face_count < 2 * hull->vertex_count - 4;
  double uneven = merged ? 1e-7 * hull->outradius * qhull.area : 0;
  CHECK_NEAR(hull->volume, qhull.volume, 1e-11 * qhull.volume + uneven);
  CHECK_REL(area_of(hull), qhull.area, merged ? 1e-6 : 1e-9);
  if (general) CHECK(hull->vertex_count == qhull.corners);
  for (int32_t v = 0; general && v < hull->vertex_count; v++) {
    int i = 0;
    while (i < count && memcmp(&points[i], &hull->vertices[v], sizeof points[i]) != 0) i++;
    CHECK(i < count && qhull.corner[i]);
  }
  cni_hull_destroy(&allocator, hull);
}

static CnVec3 in_cube(CniRng *rng, CnVec3 size) {
  double x = cni_rng_range(rng, -1, 1), y = cni_rng_range(rng, -1, 1);
  return cn_vec3(size.x * x, size.y * y, size.z * cni_rng_range(rng, -1, 1));
}

static void general_position(void **state) {
  (void)state;
  static const CnVec3 sizes[] = {
      {1, 1, 1}, {1e-6, 2e-6, 1e-6}, {1e3, 600, 800}, {1, 1e-2, 1e-2}, {1, .8, 1e-2}};
  CniRng rng = {21};
  for (int n = 0; n < 500; n++) {
    CnVec3 points[MOST], size = sizes[n % 5];
    int count = 4 + n % 150;
    for (int i = 0; i < count; i++) {
      CnVec3 p = in_cube(&rng, cn_vec3(1, 1, 1));
      if (n % 3 == 0) p = cn_unit_or(p, cn_vec3(1, 0, 0)); // all of them corners
      points[i] = cn_vec3(size.x * p.x, size.y * p.y, size.z * p.z);
    }
    compare(points, count, 1);
  }
}

// Points of a grid, most of them inside, on faces and on edges, each twice; turned now and then.
static void degenerate(void **state) {
  (void)state;
  CniRng rng = {22};
  for (int n = 0; n < 200; n++) {
    CnVec3 points[MOST];
    int side = 2 + n % 4, count = 0;
    CnQuat turn = {1, cni_rng_unit(&rng), cni_rng_unit(&rng), cni_rng_unit(&rng)};
    for (int i = 0; i < side * side * side; i++) {
      CnVec3 p = {i % side, i / side % side, i / side / side};
      if (n % 5 == 4 && i > 3 && cni_rng_unit(&rng) < .5) continue;
      points[count++] = p;
      points[count++] = p;
    }
    points[count++] = cn_vec3(0, 0, side - 1);
    for (int i = 0; n % 2 && i < count; i++) points[i] = cn_rotate(cn_qunit(turn), points[i]);
    if (n % 5 != 4 || count > 20) compare(points, count, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(general_position),
                                     cmocka_unit_test(degenerate)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
