// SPDX-License-Identifier: Apache-2.0
// One shape alone: bounds, radii, mass properties against closed forms and numerical integration,
// and definitions that must be refused.
#include "check.h"
#include "core/math.h"
#include "placed.h"

#include <string.h>

static void check_sym(CnSym3 s, CnSym3 t, double tolerance) {
  CHECK_NEAR(s.xx, t.xx, tolerance);
  CHECK_NEAR(s.yy, t.yy, tolerance);
  CHECK_NEAR(s.zz, t.zz, tolerance);
  CHECK_NEAR(s.xy, t.xy, tolerance);
  CHECK_NEAR(s.xz, t.xz, tolerance);
  CHECK_NEAR(s.yz, t.yz, tolerance);
}

static void check_vec(CnVec3 a, CnVec3 b, double tolerance) {
  CHECK_NEAR(a.x, b.x, tolerance);
  CHECK_NEAR(a.y, b.y, tolerance);
  CHECK_NEAR(a.z, b.z, tolerance);
}

static void bounds_are_tight(void **state) {
  (void)state;
  CniPlaced s = placed_sphere(cn_vec3(1, -2, 3), 0.5);
  CniBounds b = cni_shape_bounds(&s);
  check_vec(b.lo, cn_vec3(0.5, -2.5, 2.5), 0);
  check_vec(b.hi, cn_vec3(1.5, -1.5, 3.5), 0);

  CniPlaced p = placed_plane(cn_vec3(1, 2, 3), turn(cn_vec3(1, 1, 0), 0.3));
  b = cni_shape_bounds(&p);
  CHECK(b.lo.x == -INFINITY && b.lo.y == -INFINITY && b.lo.z == -INFINITY);
  CHECK(b.hi.x == INFINITY && b.hi.y == INFINITY && b.hi.z == INFINITY);

  // a box's bounds are those of its corners: none outside, and every side touched
  CniRng rng = {1};
  for (int n = 0; n < 1000; n++) {
    CniPlaced box = placed_box(random_in_cube(&rng, 5), random_rotation(&rng),
                               cn_vec3(0.1, 1, cni_rng_range(&rng, 0.01, 10)));
    CnVec3 lo = {INFINITY, INFINITY, INFINITY}, hi = cn_neg(lo);
    for (int i = 0; i < 8; i++) {
      CnVec3 c = placed_corner(&box, i);
      lo = cn_vec3(cn_min(lo.x, c.x), cn_min(lo.y, c.y), cn_min(lo.z, c.z));
      hi = cn_vec3(cn_max(hi.x, c.x), cn_max(hi.y, c.y), cn_max(hi.z, c.z));
    }
    b = cni_shape_bounds(&box);
    check_vec(b.lo, lo, 1e-13);
    check_vec(b.hi, hi, 1e-13);
  }
}

static void radii(void **state) {
  (void)state;
  CniPlaced s = placed_sphere(cn_vec3(1, 2, 3), 0.7);
  CHECK_NEAR(cni_shape_inradius(&s), 0.7, 0);
  CHECK_NEAR(cni_shape_outradius(&s), 0.7, 0);
  CniPlaced b = placed_box(cn_vec3(1, 2, 3), CN_QUAT_ONE, cn_vec3(2, 1, 2));
  CHECK_NEAR(cni_shape_inradius(&b), 1, 0);
  CHECK_NEAR(cni_shape_outradius(&b), 3, 0);
  CniPlaced p = placed_plane(cn_vec3(0, 0, 0), CN_QUAT_ONE);
  CHECK(cni_shape_inradius(&p) == INFINITY);
  CHECK(cni_shape_outradius(&p) == INFINITY);
}

static void mass_closed_forms(void **state) {
  (void)state;
  CniPlaced s = placed_sphere(cn_vec3(1, 2, 3), 0.5);
  CniMassProps p = cni_shape_mass(&s, 3000);
  CHECK_REL(p.mass, 3000 * CNI_PI / 6, 1e-15);
  CHECK_REL(p.inertia.xx, 0.1 * p.mass, 1e-15);
  CHECK(p.inertia.xx == p.inertia.yy && p.inertia.yy == p.inertia.zz);
  CHECK(p.inertia.xy == 0 && p.inertia.xz == 0 && p.inertia.yz == 0);
  check_vec(p.centre, cn_vec3(1, 2, 3), 0);

  CniPlaced b = placed_box(cn_vec3(0, 0, 1), CN_QUAT_ONE, cn_vec3(1, 2, 3));
  p = cni_shape_mass(&b, 0.5);
  CHECK_REL(p.mass, 24, 1e-15);
  check_sym(p.inertia, cn_sdiag(8 * 13, 8 * 10, 8 * 5), 1e-13);

  // a quarter turn about z exchanges x and y; 45 degrees mixes them evenly
  b.pose.rotation = turn(cn_vec3(0, 0, 1), CNI_PI / 2);
  check_sym(cni_shape_mass(&b, 0.5).inertia, cn_sdiag(8 * 10, 8 * 13, 8 * 5), 1e-13);
  b.pose.rotation = turn(cn_vec3(0, 0, 1), CNI_PI / 4);
  check_sym(cni_shape_mass(&b, 0.5).inertia, (CnSym3){92, 92, 40, 12, 0, 0}, 1e-13);

  // a cube looks the same from everywhere, to the last bit
  CniPlaced cube = placed_box(cn_vec3(0, 0, 0), turn(cn_vec3(1, 2, 3), 1), cn_vec3(1, 1, 1));
  p = cni_shape_mass(&cube, 1);
  CHECK_REL(p.inertia.xx, 16.0 / 3, 1e-15);
  CHECK(p.inertia.xx == p.inertia.yy && p.inertia.yy == p.inertia.zz && p.inertia.xy == 0);

  CniPlaced plane = placed_plane(cn_vec3(0, 0, 0), CN_QUAT_ONE);
  CHECK(cni_shape_mass(&plane, 1000).mass == 0);
}

// Two-point Gauss rule in each direction of a box: exact for the quadratics of an inertia.
static CniMassProps integrate_box(const CniPlaced *box, double density) {
  CnVec3 h = placed_half(box);
  double m = h.x * h.y * h.z * density, g = 1 / sqrt(3.0);
  CniMassProps p = {8 * m, box->pose.position, {0, 0, 0, 0, 0, 0}};
  for (int i = 0; i < 8; i++) {
    CnVec3 l = {i & 1 ? g * h.x : -g * h.x, i & 2 ? g * h.y : -g * h.y, i & 4 ? g * h.z : -g * h.z};
    CnVec3 r = cn_rotate(box->pose.rotation, l);
    p.inertia.xx += m * (r.y * r.y + r.z * r.z);
    p.inertia.yy += m * (r.x * r.x + r.z * r.z);
    p.inertia.zz += m * (r.x * r.x + r.y * r.y);
    p.inertia.xy -= m * r.x * r.y;
    p.inertia.xz -= m * r.x * r.z;
    p.inertia.yz -= m * r.y * r.z;
  }
  return p;
}

// Midpoint rule over shells, rings and sectors: converges with the square of the cell.
static void mass_by_integration(void **state) {
  (void)state;
  double r = 0.4, mass = 0, j = 0;
  int n = 60;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) {
      double rho = r * (i + 0.5) / n, theta = CNI_PI * (k + 0.5) / n;
      double dm = 2 * CNI_PI * rho * rho * sin(theta) * (r / n) * (CNI_PI / n);
      mass += dm;
      j += dm * rho * rho * sin(theta) * sin(theta);
    }
  CniPlaced s = placed_sphere(cn_vec3(0, 0, 0), r);
  CniMassProps p = cni_shape_mass(&s, 1);
  CHECK_REL(p.mass, mass, 1e-3);
  CHECK_REL(p.inertia.zz, j, 1e-3);

  CniRng rng = {7};
  for (int i = 0; i < 100; i++) {
    CniPlaced b = placed_box(random_in_cube(&rng, 2), random_rotation(&rng),
                             cn_vec3(cni_rng_range(&rng, 0.1, 2), 0.5, 1));
    CniMassProps exact = integrate_box(&b, 700);
    p = cni_shape_mass(&b, 700);
    CHECK_REL(p.mass, exact.mass, 1e-14);
    check_sym(p.inertia, exact.inertia, 1e-13 * (exact.inertia.xx + exact.inertia.yy));
  }
}

// Cutting a box in two and adding the halves gives the box back, however it lies; the order of
// adding many parts does not matter beyond round-off.
static void parts_make_the_whole(void **state) {
  (void)state;
  CniRng rng = {3};
  for (int i = 0; i < 100; i++) {
    CniPlaced whole = placed_box(random_in_cube(&rng, 2), random_rotation(&rng),
                                 cn_vec3(cni_rng_range(&rng, 0.1, 2), 0.5, 1));
    double cut = cni_rng_range(&rng, 0.1, 0.9), hx = whole.size[0];
    CniPlaced left = whole, right = whole;
    left.size[0] = cut * hx;
    right.size[0] = (1 - cut) * hx;
    left.pose.position = cn_pose_point(whole.pose, cn_vec3((cut - 1) * hx, 0, 0));
    right.pose.position = cn_pose_point(whole.pose, cn_vec3(cut * hx, 0, 0));
    CniMassProps a = cni_shape_mass(&left, 900), b = cni_shape_mass(&right, 900);
    CniMassProps sum = cni_mass_add(a, b), expected = cni_shape_mass(&whole, 900);
    CHECK_REL(sum.mass, expected.mass, 1e-14);
    check_vec(sum.centre, expected.centre, 1e-14);
    check_sym(sum.inertia, expected.inertia, 1e-12 * (expected.inertia.xx + expected.inertia.yy));
    check_sym(cni_mass_add(b, a).inertia, sum.inertia, 1e-12 * sum.inertia.xx);
  }

  // two point-like masses: a dumb-bell of reduced mass m/2 on the whole length
  CniMassProps one = {2, {1, 0, 0}, {0, 0, 0, 0, 0, 0}}, two = {6, {5, 0, 0}, {0, 0, 0, 0, 0, 0}};
  CniMassProps bell = cni_mass_add(one, two);
  CHECK_NEAR(bell.centre.x, 4, 1e-15);
  check_sym(bell.inertia, cn_sdiag(0, 24, 24), 1e-14);

  // nothing added changes nothing
  CniMassProps none = {0, {9, 9, 9}, {0, 0, 0, 0, 0, 0}};
  CniMassProps same = cni_mass_add(none, one);
  CHECK(same.mass == 2 && same.centre.x == 1);
  same = cni_mass_add(one, none);
  CHECK(same.mass == 2 && same.centre.x == 1);
  CHECK(cni_mass_add(none, none).mass == 0);
}

static CnShapeDef good(CnShapeKind kind) {
  CnShapeDef def;
  memset(&def, 0, sizeof def);
  def.kind = kind;
  def.pose = CN_POSE_ONE;
  def.radius = 0.5;
  def.half_size = cn_vec3(1, 2, 3);
  def.half_length = 0.5;
  def.density = 1000;
  return def;
}

// Refused with a message that has both words in it.
static void refused(CnShapeDef def, const char *name, const char *value) {
  CHECK_STATUS(cni_shape_check(&def), CN_INVALID_ARGUMENT);
  if (!strstr(cn_error_message(), name) || !strstr(cn_error_message(), value))
    fail_msg("\"%s\" does not name %s and %s", cn_error_message(), name, value);
}

static void bad_definitions(void **state) {
  (void)state;
  for (int kind = 0; kind < CN_SHAPE_KIND_COUNT; kind++) {
    CnShapeDef def = good((CnShapeKind)kind);
    CHECK_OK(cni_shape_check(&def));
  }
  CnShapeDef def = good(CN_SHAPE_SPHERE);
  def.radius = -0.25;
  refused(def, "radius", "-0.25");
  def.radius = 0;
  refused(def, "radius", "0");
  def.radius = INFINITY;
  refused(def, "radius", "inf");
  def.radius = NAN;
  refused(def, "radius", "nan");
  def.radius = 1e150;
  refused(def, "mass", "1000");

  def = good(CN_SHAPE_BOX);
  def.half_size.y = -2;
  refused(def, "half_size", "-2");
  def = good(CN_SHAPE_BOX);
  def.half_size.z = 0;
  refused(def, "half_size", "0");
  def = good(CN_SHAPE_BOX);
  def.half_size.x = NAN;
  refused(def, "half_size", "nan");
  def = good(CN_SHAPE_BOX);
  def.density = -7;
  refused(def, "density", "-7");
  def.density = NAN;
  refused(def, "density", "nan");

  def = good(CN_SHAPE_PLANE);
  def.pose.rotation.w = 3;
  refused(def, "rotation", "3");
  def.pose.rotation = (CnQuat){0, 0, 0, 0};
  refused(def, "rotation", "0");
  def = good(CN_SHAPE_PLANE);
  def.pose.position.y = INFINITY;
  refused(def, "position", "inf");
  def = good((CnShapeKind)17);
  refused(def, "kind", "17");

  // a kind ignores the sizes of the others
  def = good(CN_SHAPE_SPHERE);
  def.half_size = CN_VEC3_ZERO;
  CHECK_OK(cni_shape_check(&def));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bounds_are_tight),     cmocka_unit_test(radii),
      cmocka_unit_test(mass_closed_forms),    cmocka_unit_test(mass_by_integration),
      cmocka_unit_test(parts_make_the_whole), cmocka_unit_test(bad_definitions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
