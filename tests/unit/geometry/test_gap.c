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

static void check_pair(uint64_t *random, CnShapeKind kind_a, CnShapeKind kind_b) {
  CniPlaced a = shape(random, kind_a, CN_VEC3_ZERO);
  // beside a, and outside the half-space whichever of them is one
  CnVec3 out = kind_a == CN_SHAPE_PLANE ? cn_qmat(a.pose.rotation).z : draw3(random);
  double far = cni_shape_needs_geometry(kind_a) || cni_shape_needs_geometry(kind_b) ? 2.2 : .9;
  CniPlaced b = shape(random, kind_b, cn_scale(far, cn_unit_or(out, cn_vec3(0, 0, 1))));
  CnTwist va = {draw3(random), draw3(random)}, vb = {draw3(random), draw3(random)};
  CniManifold near;
  cni_collide(&a, &b, 10, &near);
  for (int32_t i = 0; i < near.count; i++) {
    uint32_t feature = near.points[i].feature;
    CniGap g = cni_gap(&a, &b, feature);
    CHECK(g.gap == near.points[i].gap);
    double e = 1e-5, difference = 0;
    for (int side = -1; side <= 1; side += 2) {
      CniPlaced a1 = moved(a, va, side * e), b1 = moved(b, vb, side * e);
      difference += side * cni_gap(&a1, &b1, feature).gap / (2 * e);
    }
    CHECK_NEAR(along(&g, &a, &b, va, vb), difference, 1e-7);
    // the two points and radii make the gap
    double apart = cn_dot(g.normal, cn_sub(g.centre_b, g.centre_a));
    CHECK_NEAR(apart - g.radius_a - g.radius_b, g.gap, 1e-14);
    // the other way round
    CniGap back = cni_gap(&b, &a, feature);
    CHECK(back.gap == g.gap && back.bend == g.bend);
    CHECK_NEAR(cn_norm(cn_add(back.normal, g.normal)), 0, 1e-15);
    CHECK_NEAR(cn_norm(cn_sub(back.centre_a, g.centre_b)), 0, 1e-15);
  }
}

static void rates(void **state) {
  (void)state;
  uint64_t random = 5;
  int pairs = 0;
  for (int a = 0; a < CN_SHAPE_KIND_COUNT; a++)
    for (int b = 0; b < CN_SHAPE_KIND_COUNT; b++) {
      if (!cni_has_gap((CnShapeKind)a, (CnShapeKind)b)) continue;
      pairs++;
      CHECK(cni_has_gap((CnShapeKind)b, (CnShapeKind)a));
      for (int i = 0; i < 200; i++) check_pair(&random, (CnShapeKind)a, (CnShapeKind)b);
    }
  CHECK(pairs >= 7);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(rates)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
