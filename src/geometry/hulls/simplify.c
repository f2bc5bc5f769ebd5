// SPDX-License-Identifier: Apache-2.0
// Many points, fewer corners: some of the points whose hull comes near that of all.
//
// Beginning with the points that are extreme along the axes and between them, the hull of those chosen is
// made, and of the points outside each of its faces the farthest is chosen next, the farthest of
// all first, until no point is farther from the hull than is allowed, or there are as many corners as a
// hull can have. It lies within the hull of all points.
#include "geometry/geometry.h"

#include <string.h>

#include "core/error.h"
#include "core/memory.h"

#define GROWTH 3 // of what is left to choose, one part a round

typedef struct Outside {
  int32_t point;
  double height; // over the face
} Outside;

typedef struct Simplify {
  const CnVec3 *points;
  int32_t count;
  int32_t *chosen, chosen_count;
} Simplify;

static void choose(Simplify *s, int32_t point) {
  for (int32_t i = 0; i < s->chosen_count; i++)
    if (s->chosen[i] == point) return;
  if (s->chosen_count < CNI_HULL_VERTICES) s->chosen[s->chosen_count++] = point;
}

static void choose_extremes(Simplify *s) {
  // axes first, then the corners of a cube, then the middles of its edges
  for (int32_t kind = 1; kind <= 3; kind++)
    for (int32_t k = 0; k < 27; k++) {
      CnVec3 d = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
      double parts = fabs(d.x) + fabs(d.y) + fabs(d.z);
      if (parts != (kind == 1 ? 1 : kind == 2 ? 3 : 2)) continue;
      int32_t best = 0;
      for (int32_t i = 1; i < s->count; i++)
        if (cn_dot(d, s->points[i]) > cn_dot(d, s->points[best])) best = i;
      choose(s, best);
    }
}

static CnStatus hull_of_chosen(const Simplify *s, const CnAllocator *allocator, const char *what,
                               CniHull **hull) {
  CnVec3 points[CNI_HULL_VERTICES];
  for (int32_t i = 0; i < s->chosen_count; i++) points[i] = s->points[s->chosen[i]];
  return cni_hull_create(allocator, what, points, s->chosen_count, hull);
}

// Of each face the point farthest outside; returns how far the farthest is.
static double find_outside(const Simplify *s, const CniHull *hull, Outside *outside) {
  double most = 0;
  for (int32_t f = 0; f < hull->face_count; f++) outside[f] = (Outside){-1, 0};
  for (int32_t i = 0; i < s->count; i++) {
    int32_t face = -1;
    double height = 0;
    for (int32_t f = 0; f < hull->face_count; f++) {
      double here = cn_dot(hull->faces[f].normal, s->points[i]) - hull->faces[f].height;
      if (here > height) height = here, face = f;
    }
    if (face >= 0 && height > outside[face].height) outside[face] = (Outside){i, height};
    most = cn_max(most, height);
  }
  return most;
}

static void choose_outside(Simplify *s, Outside *outside, int32_t count) {
  int32_t more = 1 + (CNI_HULL_VERTICES - s->chosen_count) / GROWTH;
  for (; more > 0; more--) {
    int32_t best = 0;
    for (int32_t f = 1; f < count; f++)
      if (outside[f].height > outside[best].height) best = f;
    if (outside[best].point < 0) return;
    choose(s, outside[best].point);
    outside[best] = (Outside){-1, 0};
  }
}

// How far the farthest point is from the hull.
static double distance(const Simplify *s, const CniHull *hull) {
  CniPlaced solid = {.kind = CN_SHAPE_HULL, .pose = CN_POSE_ONE, .hull = hull};
  double most = 0;
  for (int32_t i = 0; i < s->count; i++) {
    CniPlaced point = {.kind = CN_SHAPE_SPHERE, .pose = {s->points[i], CN_QUAT_ONE}};
    most = cn_max(most, cni_places(&point, &solid).gap);
  }
  return most;
}

CnStatus cni_points_simplify(const CnAllocator *allocator, const char *what, const CnVec3 *points,
                             int32_t count, double enough, int32_t chosen[CNI_HULL_VERTICES],
                             int32_t *chosen_count) {
  Simplify s = {points, count, chosen, 0};
  Outside outside[CNI_HULL_FACES];
  double error = 0;
  *chosen_count = 0;
  if (count < 4 || count > CNI_HULL_POINTS)
    return cni_invalid("%s: a hull needs 4 to %d points (got %d)", what, CNI_HULL_POINTS,
                       (int)count);
  for (int32_t i = 0; i < count; i++)
    if (!cn_vec3_finite(points[i])) return cni_invalid("%s: point %d is not finite", what, (int)i);
  choose_extremes(&s);
  for (;;) {
    CniHull *hull;
    CNI_TRY(hull_of_chosen(&s, allocator, what, &hull));
    int32_t before = s.chosen_count;
    error = find_outside(&s, hull, outside); // no more than the distance
    if (error <= enough) error = distance(&s, hull);
    if (error > enough) choose_outside(&s, outside, hull->face_count);
    if (s.chosen_count == before) error = distance(&s, hull);
    cni_hull_destroy(allocator, hull);
    if (s.chosen_count == before) break;
  }
  if (error > enough)
    return cni_invalid("%s: %d corners leave points %g m outside, and %g m are allowed", what,
                       (int)s.chosen_count, error, enough);
  *chosen_count = s.chosen_count;
  return CN_OK;
}
