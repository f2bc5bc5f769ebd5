// SPDX-License-Identifier: Apache-2.0
// Two convex shapes near each other (bench collision): nanoseconds a pair by a search, and by the parts
// that touched in the call before.
#include <math.h>

#include "bodies.h"
#include "convex_pairs.h"
#include "core/math.h"
#include "geometry/geometry.h"

// ---- shapes ------------------------------------------------------------------------------------

CnVec3 random_direction(CniRng *rng) {
  for (;;) {
    double x = cni_rng_range(rng, -1, 1), y = cni_rng_range(rng, -1, 1);
    double z = cni_rng_range(rng, -1, 1), n2 = x * x + y * y + z * z;
    if (n2 < 1 && n2 > .01) return cn_scale(1 / sqrt(n2), cn_vec3(x, y, z));
  }
}

CnQuat random_rotation(CniRng *rng) {
  CnVec3 axis = random_direction(rng);
  double angle = cni_rng_range(rng, 0, CNI_PI);
  return cni_quat_exp(cn_scale(angle, axis));
}

void hull_points(CnVec3 *points, int32_t count, CniRng *rng) {
  for (int32_t i = 0; i < count; i++) {
    CnVec3 d = random_direction(rng);
    points[i] = cn_vec3(.1 * d.x, .08 * d.y, .07 * d.z);
  }
}

// ---- two shapes --------------------------------------------------------------------------------

#define PAIRS 512
typedef struct Pair {
  CniPlaced a, b;
  CniHint hint;
} Pair;

static CniPlaced some_shape(CnShapeKind kind, CniHull *const hulls[64], CniRng *rng) {
  CniPlaced s = {.kind = kind, .pose = {CN_VEC3_ZERO, random_rotation(rng)}};
  for (int32_t k = 0; k < 3; k++) s.size[k] = cni_rng_range(rng, .05, .1);
  if (kind == CN_SHAPE_CYLINDER) s.size[2] = 0;
  if (kind != CN_SHAPE_HULL) return s;
  s.size[0] = 0;
  s.hull = hulls[(int32_t)cni_rng_range(rng, 0, 63.9)];
  return s;
}

static void time_pair(Report *report, CnShapeKind ka, CnShapeKind kb, CniHull *const hulls[64],
                      double seconds) {
  static Pair pairs[PAIRS];
  CniRng rng = {7};
  for (int32_t i = 0; i < PAIRS; i++) {
    Pair *p = &pairs[i];
    p->a = some_shape(ka, hulls, &rng);
    p->b = some_shape(kb, hulls, &rng);
    p->b.pose.position = cn_scale(.15, random_direction(&rng));
    for (int32_t k = 0; k < 4; k++) {
      CniPlaces at = cni_places(&p->a, &p->b);
      double gap = cni_rng_range(&rng, -5e-4, 5e-4);
      p->b.pose.position = cn_madd(p->b.pose.position, gap - at.gap, at.normal);
    }
  }
  Row *row = report_row_begin(report);
  char name[64];
  if (!row) return;
  double best[2], points = 0;
  for (int again = 0; again < 2; again++) {
    best[again] = INFINITY;
    for (double start = seconds_now(); seconds_now() - start < seconds / 2;) {
      double begin = seconds_now();
      points = 0;
      for (int32_t i = 0; i < PAIRS; i++) {
        CniManifold m;
        if (!again) pairs[i].hint = (CniHint){0, 0, 0, {0, 0}};
        cni_collide_again(&pairs[i].a, &pairs[i].b, 4e-3, &pairs[i].hint, &m);
        points += m.count;
      }
      best[again] = cn_min(best[again], (seconds_now() - begin) / PAIRS);
    }
  }
  snprintf(name, sizeof name, "%s-%s", cn_shape_kind_name(ka), cn_shape_kind_name(kb));
  row_text(row, "what", name);
  row_text(row, "engine", "cairn");
  row_number(row, "ns", 1e9 * best[0]);
  row_number(row, "ns_again", 1e9 * best[1]);
  row_number(row, "points", points / PAIRS);
  report_row_end(report, row);
}

int narrow_rows(Report *report, double seconds) {
  static const CnShapeKind kinds[][2] = {
      {CN_SHAPE_HULL, CN_SHAPE_HULL},      {CN_SHAPE_BOX, CN_SHAPE_HULL},
      {CN_SHAPE_BOX, CN_SHAPE_BOX},        {CN_SHAPE_CAPSULE, CN_SHAPE_CAPSULE},
      {CN_SHAPE_CAPSULE, CN_SHAPE_HULL},   {CN_SHAPE_CYLINDER, CN_SHAPE_CYLINDER},
      {CN_SHAPE_HULL, CN_SHAPE_CYLINDER},  {CN_SHAPE_BOX, CN_SHAPE_CYLINDER},
      {CN_SHAPE_ELLIPSOID, CN_SHAPE_HULL}, {CN_SHAPE_ELLIPSOID, CN_SHAPE_ELLIPSOID},
      {CN_SHAPE_CONE, CN_SHAPE_CONE}};
  CnAllocator allocator = cn_allocator_default();
  CniHull *hulls[64] = {0};
  CniRng rng = {3};
  int ok = 1;
  for (int32_t i = 0; i < 64 && ok; i++) {
    CnVec3 points[40];
    int32_t count = 8 + (int32_t)cni_rng_range(&rng, 0, 32.9);
    hull_points(points, count, &rng);
    ok = cni_hull_create(&allocator, "hull", points, count, &hulls[i]) == CN_OK;
  }
  for (size_t k = 0; ok && k < sizeof kinds / sizeof kinds[0]; k++)
    time_pair(report, kinds[k][0], kinds[k][1], hulls, seconds);
  for (int32_t i = 0; i < 64; i++) cni_hull_destroy(&allocator, hulls[i]);
  return ok;
}
