// SPDX-License-Identifier: Apache-2.0
// Smooth gaps: for all pairs of kinds that have one, the rate of the gap is the relative velocity of
// the two points along the normal, whatever the motion, and the gap is the narrow phase's.
#include "check.h"

#include "core/math.h"
#include "geometry/geometry.h"
#include "placed.h"

static double draw(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) * 0x1p-53;
}

static CnVec3 draw3(uint64_t *state) {
  double x = draw(state), y = draw(state), z = draw(state);
  return cn_vec3(x - .5, y - .5, z - .5);
}

static CniPlaced shape(uint64_t *state, CnShapeKind kind, CnVec3 middle) {
  CnShapeDef def = cn_shape_def_default(kind);
  def.radius = .2;
  def.half_length = .15;
  def.half_size = cn_vec3(.3, .2, .1);
  CniPlaced placed = cni_shape_placed(&def);
  if (cni_shape_needs_geometry(kind)) placed = placed_unit(kind, def.pose);
  CnVec3 turn = cn_scale(3, draw3(state));
  placed.pose.position = cn_add(middle, cn_scale(.2, draw3(state)));
  placed.pose.rotation = cni_quat_exp(turn);
  return placed;
}

static CniPlaced moved(CniPlaced shape, CnTwist twist, double h) {
  shape.pose.position = cn_madd(shape.pose.position, h, twist.velocity);
  shape.pose.rotation =
      cn_qunit(cn_qmul(cni_quat_exp(cn_scale(h, twist.spin)), shape.pose.rotation));
  return shape;
}

static double along(const CniGap *g, const CniPlaced *a, const CniPlaced *b, CnTwist va,
                    CnTwist vb) {
  CnVec3 arm_a = cn_sub(cn_madd(g->centre_a, g->radius_a, g->normal), a->pose.position);
  CnVec3 arm_b = cn_sub(cn_madd(g->centre_b, -g->radius_b, g->normal), b->pose.position);
  CnVec3 u = cn_sub(cn_add(vb.velocity, cn_cross(vb.spin, arm_b)),
                    cn_add(va.velocity, cn_cross(va.spin, arm_a)));
  return cn_dot(g->normal, u);
}

// What the pair is followed by.
static int32_t names_of(const CniPlaced *a, const CniPlaced *b, uint32_t *names, int32_t most) {
  CniManifold near;
  if (cni_gap_source(a, b) == CNI_GAP_BY_FEATURES) {
    int turned = b->kind == CN_SHAPE_PLANE;
    return turned ? 0 : cni_gap_features(a, b, 1, cn_vec3(1, 2, -3), names, most);
  }
  cni_collide(a, b, 10, &near);
  for (int32_t i = 0; i < near.count; i++) names[i] = near.points[i].feature;
  return cni_gap_one_place(a, b) && near.count > 1 ? 1 : near.count;
}

static int smooth;

static void check_pair(uint64_t *random, CnShapeKind kind_a, CnShapeKind kind_b) {
  CniPlaced a = shape(random, kind_a, CN_VEC3_ZERO);
  // beside a, and outside the half-space whichever of them is one
  CnVec3 out = kind_a == CN_SHAPE_PLANE ? cn_qmat(a.pose.rotation).z : draw3(random);
  double far = cni_shape_needs_geometry(kind_a) || cni_shape_needs_geometry(kind_b) ? 2.2 : .9;
  CniPlaced b = shape(random, kind_b, cn_scale(far, cn_unit_or(out, cn_vec3(0, 0, 1))));
  CnTwist va = {draw3(random), draw3(random)}, vb = {draw3(random), draw3(random)};
  uint32_t names[4000];
  CniGapSource source = cni_gap_source(&a, &b);
  int32_t count = names_of(&a, &b, names, 4000);
  CHECK(cni_gap_source(&b, &a) == source);
  if (count > 400) count = 400;
  for (int32_t i = 0; i < count; i++) {
    uint32_t feature = names[i];
    CniGap g = cni_gap(&a, &b, feature);
    double e = 1e-5, difference = 0;
    if (!(g.gap < INFINITY)) continue;
    int border = 0;
    for (int side = -1; side <= 1; side += 2) {
      CniPlaced a1 = moved(a, va, side * e), b1 = moved(b, vb, side * e);
      CniGap there = cni_gap(&a1, &b1, feature);
      border |= !(there.domain >= 0);
      difference += side * there.gap / (2 * e);
    }
    if (border) continue;
    smooth++;
    CHECK_NEAR(along(&g, &a, &b, va, vb), difference, 1e-6);
    // the two points and radii make the gap
    double apart = cn_dot(g.normal, cn_sub(g.centre_b, g.centre_a));
    CHECK_NEAR(apart - g.radius_a - g.radius_b, g.gap, 1e-13);
    if (source == CNI_GAP_BY_FEATURES) continue;
    // the other way round
    CniGap back = cni_gap(&b, &a, feature);
    CHECK_NEAR(back.gap, g.gap, 1e-10);
    CHECK(back.bend == g.bend);
    CHECK_NEAR(cn_norm(cn_add(back.normal, g.normal)), 0, 1e-6);
    CHECK_NEAR(cn_norm(cn_sub(back.centre_a, g.centre_b)), 0, 1e-6);
  }
}

static void rates(void **state) {
  (void)state;
  uint64_t random = 5;
  int pairs = 0;
  for (int a = 0; a < CN_SHAPE_KIND_COUNT; a = next_convex(a))
    for (int b = 0; b < CN_SHAPE_KIND_COUNT; b = next_convex(b)) {
      CniPlaced one = shape(&random, (CnShapeKind)a, CN_VEC3_ZERO);
      CniPlaced two = shape(&random, (CnShapeKind)b, CN_VEC3_ZERO);
      if (cni_gap_source(&one, &two) == CNI_GAP_NONE) continue;
      pairs++;
      smooth = 0;
      for (int i = 0; i < 100; i++) check_pair(&random, (CnShapeKind)a, (CnShapeKind)b);
      CHECK(smooth > 20 || b == CN_SHAPE_PLANE);
    }
  CHECK(pairs >= 30);
}

// Features that are there agree with the distance of the narrow phase where shapes touch: moved
// together until they do, the nearest of them has no gap and none is far below it.
static void features_are_nearest(void **state) {
  (void)state;
  static const CnShapeKind kinds[5] = {CN_SHAPE_BOX, CN_SHAPE_CAPSULE, CN_SHAPE_HULL,
                                       CN_SHAPE_CYLINDER, CN_SHAPE_CONE};
  uint64_t random = 11;
  uint32_t names[4000];
  for (int i = 0; i < 1000; i++) {
    CnVec3 way = cn_unit_or(draw3(&random), cn_vec3(0, 0, 1));
    CniPlaced a = shape(&random, kinds[i % 5], CN_VEC3_ZERO);
    CniPlaced b = shape(&random, kinds[i / 5 % 5], cn_scale(8, way));
    if (a.hull) a.size[0] = i % 2 ? .1 : 0;
    if (b.hull) b.size[0] = i % 7 ? 0 : .2;
    if (a.kind == CN_SHAPE_CYLINDER) a.size[2] = i % 2 ? .03 : 0;
    if (b.kind == CN_SHAPE_CONE) b.size[1] = i % 3 ? .1 : 0;
    CnVec3 far = b.pose.position;
    double low = 0, high = 8;
    for (int k = 0; k < 60; k++) { // nearer until they touch
      double middle = (low + high) / 2;
      b.pose.position = cn_madd(far, -middle, way);
      if (cni_places(&a, &b).gap > 0)
        low = middle;
      else
        high = middle;
    }
    if (low > 7.9) continue;
    int32_t count = cni_gap_features(&a, &b, .05, CN_VEC3_ZERO, names, 4000);
    double least = INFINITY;
    CHECK(count <= 4000);
    for (int32_t k = 0; k < count; k++) {
      CniGap g = cni_gap(&a, &b, names[k]);
      if (g.domain >= 0) least = cn_min(least, g.gap);
    }
    CHECK_NEAR(least, 0, 1e-7);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(rates),
                                     cmocka_unit_test(features_are_nearest)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
