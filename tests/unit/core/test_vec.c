// SPDX-License-Identifier: Apache-2.0
// Principal axes against closed forms; quaternion, matrix and exponential map against each other.

#include "check.h"
#include "core/math.h"
#include "core/rng.h"
#include "core/vec.h"

#include <float.h>

static void check_vec(CnVec3 actual, CnVec3 expected, double tolerance) {
  CHECK_NEAR(actual.x, expected.x, tolerance);
  CHECK_NEAR(actual.y, expected.y, tolerance);
  CHECK_NEAR(actual.z, expected.z, tolerance);
}

static void check_sym(CnSym3 actual, CnSym3 expected, double tolerance) {
  CHECK_NEAR(actual.xx, expected.xx, tolerance);
  CHECK_NEAR(actual.yy, expected.yy, tolerance);
  CHECK_NEAR(actual.zz, expected.zz, tolerance);
  CHECK_NEAR(actual.xy, expected.xy, tolerance);
  CHECK_NEAR(actual.xz, expected.xz, tolerance);
  CHECK_NEAR(actual.yz, expected.yz, tolerance);
}

static void check_axes(CnMat3 v) {
  CHECK_NEAR(cn_norm2(v.x), 1, 1e-14);
  CHECK_NEAR(cn_norm2(v.y), 1, 1e-14);
  CHECK_NEAR(cn_norm2(v.z), 1, 1e-14);
  CHECK_NEAR(cn_dot(v.x, v.y), 0, 1e-14);
  CHECK_NEAR(cn_dot(v.x, v.z), 0, 1e-14);
  CHECK_NEAR(cn_dot(v.y, v.z), 0, 1e-14);
  CHECK_NEAR(cn_dot(cn_cross(v.x, v.y), v.z), 1, 1e-14);
}

static CnVec3 random_vec(CniRng *rng, double size) {
  double x = cni_rng_range(rng, -size, size), y = cni_rng_range(rng, -size, size);
  return cn_vec3(x, y, cni_rng_range(rng, -size, size));
}

static CnQuat random_quat(CniRng *rng) {
  CnVec3 v = random_vec(rng, 1);
  return cn_qunit((CnQuat){cni_rng_range(rng, -1, 1), v.x, v.y, v.z});
}

static void eigen_closed_forms(void **state) {
  (void)state;
  CnVec3 d;
  CnMat3 v;
  // a diagonal needs only sorting
  cni_seigen(cn_sdiag(3, 1, 2), &d, &v);
  check_vec(d, cn_vec3(1, 2, 3), 0);
  check_axes(v);
  CHECK_NEAR(fabs(v.x.y), 1, 0);
  CHECK_NEAR(fabs(v.y.z), 1, 0);

  // 2 on the diagonal, 1 beside it: 2, 2 -+ sqrt 2
  cni_seigen((CnSym3){2, 2, 2, 1, 0, 1}, &d, &v);
  check_vec(d, cn_vec3(2 - sqrt(2), 2, 2 + sqrt(2)), 4e-15);
  check_axes(v);
  CHECK_NEAR(fabs(v.z.x), 0.5, 1e-15);
  CHECK_NEAR(fabs(v.z.y), sqrt(0.5), 1e-15);

  // all ones: a double zero and 3
  cni_seigen((CnSym3){1, 1, 1, 1, 1, 1}, &d, &v);
  check_vec(d, cn_vec3(0, 0, 3), 4e-15);
  check_axes(v);
  CHECK_NEAR(fabs(v.z.x), 1 / sqrt(3), 1e-15);

  // indefinite: [[0 1][1 0]] and 5
  cni_seigen((CnSym3){0, 0, 5, 1, 0, 0}, &d, &v);
  check_vec(d, cn_vec3(-1, 1, 5), 1e-15);
  check_axes(v);

  // nothing at all, and one number three times
  cni_seigen((CnSym3){0, 0, 0, 0, 0, 0}, &d, &v);
  check_vec(d, CN_VEC3_ZERO, 0);
  check_axes(v);
  cni_seigen(cn_sdiag(7, 7, 7), &d, &v);
  check_vec(d, cn_vec3(7, 7, 7), 0);
  check_vec(v.x, cn_vec3(1, 0, 0), 0);
  check_vec(v.y, cn_vec3(0, 1, 0), 0);
  check_vec(v.z, cn_vec3(0, 0, 1), 0);
}

static void eigen_random(void **state) {
  (void)state;
  CniRng rng = {7};
  static const double scales[] = {1e-200, 1e-20, 1, 1e20, 1e150};
  for (int i = 0; i < 5000; ++i) {
    double scale = scales[i % 5];
    double a = cni_rng_unit(&rng), b = cni_rng_unit(&rng), c = cni_rng_unit(&rng);
    if (i % 3 == 1) b = a;
    if (i % 7 == 2) c *= 1e-12;
    CnSym3 s = cn_srotate(cn_qmat(random_quat(&rng)), cn_vec3(scale * a, scale * b, scale * c));
    CnVec3 d;
    CnMat3 v;
    cni_seigen(s, &d, &v);
    check_axes(v);
    check_sym(cn_srotate(v, d), s, 1e-14 * scale);
    CHECK(d.x <= d.y && d.y <= d.z);
    double least = cn_min(a, cn_min(b, c)), most = cn_max(a, cn_max(b, c));
    CHECK_NEAR(d.x / scale, least, 1e-14);
    CHECK_NEAR(d.z / scale, most, 1e-14);
  }
  // not finite: ends, and says so
  CnVec3 d;
  CnMat3 v;
  cni_seigen((CnSym3){NAN, 1, 2, 3, 4, 5}, &d, &v);
  CHECK(!cn_vec3_finite(d));
}

static void matrix_and_quaternion(void **state) {
  (void)state;
  CniRng rng = {11};
  for (int i = 0; i < 5000; ++i) {
    CnQuat q = random_quat(&rng);
    // near half turns, where w is no pivot
    if (i % 4 == 1) q = cn_qunit((CnQuat){1e-9 * q.w, q.x, q.y, q.z});
    if (i % 4 == 2) q = cn_qunit((CnQuat){0, 1e-9 * q.x, q.y, 1e-5 * q.z});
    CnQuat back = cni_quat_from_mat(cn_qmat(q));
    CHECK(back.w >= 0);
    CHECK_NEAR(cn_qnorm2(back), 1, 1e-15);
    double same = q.w * back.w + q.x * back.x + q.y * back.y + q.z * back.z;
    CHECK_NEAR(fabs(same), 1, 4e-15);
    double sign = same < 0 ? -1 : 1;
    CHECK_NEAR(sign * back.w, q.w, 2e-15);
    CHECK_NEAR(sign * back.x, q.x, 2e-15);
    CHECK_NEAR(sign * back.y, q.y, 2e-15);
    CHECK_NEAR(sign * back.z, q.z, 2e-15);

    CnVec3 a = random_vec(&rng, 10);
    check_vec(cn_rotate(q, a), cn_mmul(cn_qmat(q), a), 4e-14);
    check_vec(cn_unrotate(q, cn_rotate(q, a)), a, 4e-14);
    check_vec(cn_mtmul(cn_qmat(q), a), cn_unrotate(q, a), 4e-14);
  }
}

static void exponential_map(void **state) {
  (void)state;
  // a quarter turn about z carries x to y
  check_vec(cn_rotate(cni_quat_exp(cn_vec3(0, 0, CNI_PI / 2)), cn_vec3(1, 0, 0)), cn_vec3(0, 1, 0),
            1e-15);
  // a third of a turn about the diagonal permutes the axes
  double third = 2 * CNI_PI / 3 / sqrt(3);
  CnQuat q = cni_quat_exp(cn_vec3(third, third, third));
  check_vec(cn_rotate(q, cn_vec3(1, 2, 3)), cn_vec3(3, 1, 2), 2e-15);
  // none
  q = cni_quat_exp(CN_VEC3_ZERO);
  CHECK_NEAR(q.w, 1, 0);
  CHECK_NEAR(q.x, 0, 0);

  // small angles: half the vector, to full precision, down to the smallest numbers
  for (double angle = 1e-9; angle > 1e-300; angle *= 1e-3) {
    q = cni_quat_exp(cn_vec3(angle, -2 * angle, 0));
    CHECK_REL(q.x, angle / 2, 2 * DBL_EPSILON);
    CHECK_REL(q.y, -angle, 2 * DBL_EPSILON);
    CHECK_NEAR(q.w, 1, 0);
  }
}

// Both branches give the same rotation at their border, and exp(a) exp(b) = exp(a + b) on an axis.
static void exponential_map_properties(void **state) {
  (void)state;
  CniRng rng = {13};
  for (int i = 0; i < 5000; ++i) {
    CnVec3 axis = cn_unit_or(random_vec(&rng, 1), cn_vec3(1, 0, 0));
    double angle = cni_rng_range(&rng, 0, i % 2 ? 6 : 2e-3);
    CnQuat q = cni_quat_exp(cn_scale(angle, axis));
    CHECK_NEAR(cn_qnorm2(q), 1, 1e-15);
    CHECK_NEAR(q.w, cni_cos(angle / 2), 1e-15);
    // the rounded angle is the vector's to half a place only
    double s = cni_sin(angle / 2);
    check_vec(cn_vec3(q.x, q.y, q.z), cn_scale(s, axis), DBL_EPSILON * (4 * s + angle));

    double other = cni_rng_range(&rng, -3, 3);
    CnQuat both = cn_qmul(q, cni_quat_exp(cn_scale(other, axis)));
    CnQuat sum = cni_quat_exp(cn_scale(angle + other, axis));
    CHECK_NEAR(both.w, sum.w, 4e-15);
    CHECK_NEAR(both.x, sum.x, 4e-15);
    CHECK_NEAR(both.y, sum.y, 4e-15);
    CHECK_NEAR(both.z, sum.z, 4e-15);
  }
}

static void symmetric_matrices(void **state) {
  (void)state;
  CnSym3 s = {4, 5, 6, 1, -2, 0.5};
  // determinant by hand: 4(30 - .25) - 1(6 + 1) + (-2)(.5 + 10)
  CHECK_NEAR(cn_sdet(s), 91, 0);
  CnSym3 inverse = cn_sinverse(s);
  CnVec3 a = cn_vec3(1, -3, 2);
  check_vec(cn_smul(inverse, cn_smul(s, a)), a, 1e-14);
}

static void poses(void **state) {
  (void)state;
  CniRng rng = {17};
  CnPose a = {random_vec(&rng, 3), random_quat(&rng)}, b = {random_vec(&rng, 3), random_quat(&rng)};
  CnVec3 p = random_vec(&rng, 5);
  check_vec(cn_pose_point(cn_pose_mul(a, b), p), cn_pose_point(a, cn_pose_point(b, p)), 1e-14);
  check_vec(cn_pose_local(a, cn_pose_point(a, p)), p, 1e-14);
  check_vec(cn_pose_point(cn_pose_inverse(a), p), cn_pose_local(a, p), 1e-14);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(eigen_closed_forms),
      cmocka_unit_test(eigen_random),
      cmocka_unit_test(matrix_and_quaternion),
      cmocka_unit_test(exponential_map),
      cmocka_unit_test(exponential_map_properties),
      cmocka_unit_test(symmetric_matrices),
      cmocka_unit_test(poses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
