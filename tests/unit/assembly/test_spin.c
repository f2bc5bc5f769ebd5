// SPDX-License-Identifier: Apache-2.0
// Drift of free bodies: invariants for any step, the closed form of the symmetric top, order two.
#include "assembly/assembly.h"
#include "check.h"

static double energy(CnVec3 j, CnVec3 w) {
  return (j.x * w.x * w.x + j.y * w.y * w.y + j.z * w.z * w.z) / 2;
}

static double momentum(CnVec3 j, CnVec3 w) {
  return cn_norm(cn_vec3(j.x * w.x, j.y * w.y, j.z * w.z));
}

// The spin in body axes after a step.
static CnVec3 after_step(CnVec3 inertia, CnVec3 spin, double h) {
  CnQuat q = CN_QUAT_ONE;
  cni_drift_turn(inertia, h, &q, &spin);
  return cn_unrotate(q, spin);
}

// For J = (A, A, C) the axial spin stays and the transverse part turns at the rate s = (C-A)/A w_z;
// the midpoint rule turns it by 2 atan(k s/2) in a step, k = 2 tan(h w/2)/w.
static void symmetric_top(void **state) {
  (void)state;
  CnVec3 j = {2, 2, 5}, w = {0.3, 0, 4};
  double h = 0.05, size = cn_norm(w), k = 2 * tan(h * size / 2) / size;
  double t = k * (5.0 - 2.0) / 2.0 * 4 / 2; // tangent of half the angle
  CnVec3 one = after_step(j, w, h);
  CHECK_NEAR(one.z, 4, 1e-15);
  CHECK_NEAR(one.x, 0.3 * (1 - t * t) / (1 + t * t), 1e-14);
  CHECK_NEAR(one.y, 0.3 * 2 * t / (1 + t * t), 1e-14);
}

// Energy and |J w| stay over many steps, with a thin plate and a rod among the bodies.
static void invariants(void **state) {
  (void)state;
  const CnVec3 inertias[] = {{1, 2, 3}, {1, 1, 2}, {1e-3, 1, 1}, {1, 1.0001, 1.0002}};
  for (int k = 0; k < 4; k++) {
    CnVec3 j = inertias[k], body = {0.7, 5, -2};
    double e = energy(j, body), l = momentum(j, body);
    for (int i = 0; i < 2000; i++) body = after_step(j, body, 0.01);
    CHECK_REL(energy(j, body), e, 1e-11);
    CHECK_REL(momentum(j, body), l, 1e-11);
  }
}

// From a small to an absurd turn a step: finite, and nothing gained or lost.
static void any_step(void **state) {
  (void)state;
  CnVec3 j = {0.5, 1, 1.4};
  for (double h = 1e-6; h < 1e12; h *= 7) {
    CnVec3 w = {1, 20, -3};
    double e = energy(j, w), l = momentum(j, w);
    for (int i = 0; i < 20; i++) w = after_step(j, w, h);
    CHECK_REL(energy(j, w), e, 1e-9);
    CHECK_REL(momentum(j, w), l, 1e-9);
  }
}

static CnVec3 after(double time, int32_t steps) {
  CnVec3 w = {0.5, 2, 0.1};
  for (int32_t i = 0; i < steps; i++) w = after_step(cn_vec3(1, 2, 3), w, time / steps);
  return w;
}

static void second_order(void **state) {
  (void)state;
  CnVec3 exact = after(5, 200000);
  double coarse = cn_norm(cn_sub(after(5, 100), exact));
  double fine = cn_norm(cn_sub(after(5, 200), exact));
  CHECK(coarse > 1e-6);
  CHECK_NEAR(coarse / fine, 4, 0.05);
}

// ---- attitude and spin together ----

static CnVec3 angular_momentum(CnVec3 j, CnQuat q, CnVec3 w) {
  CnVec3 b = cn_unrotate(q, w);
  return cn_rotate(q, cn_vec3(j.x * b.x, j.y * b.y, j.z * b.z));
}

// The angular momentum stays as a vector, and the energy, however far a step turns.
static void drift_keeps(void **state) {
  (void)state;
  const CnVec3 inertias[] = {{1, 2, 3}, {1, 1, 2}, {1e-3, 1, 1}, {0.007, 0.007, 0.0015}};
  const double steps[] = {1e-4, 0.01, 0.3, 5, 1e3};
  for (int k = 0; k < 4; k++)
    for (int n = 0; n < 5; n++) {
      CnVec3 j = inertias[k];
      CnQuat q = cn_qunit((CnQuat){0.3, -0.2, 0.9, 0.1});
      CnVec3 w = cn_rotate(q, cn_vec3(0.7, 5, -2)), l = angular_momentum(j, q, w);
      double e = energy(j, cn_unrotate(q, w));
      for (int i = 0; i < 200; i++) cni_drift_turn(j, steps[n], &q, &w);
      CHECK(cn_norm(cn_sub(angular_momentum(j, q, w), l)) < 1e-12 * cn_norm(l) ||
            steps[n] > 100); // beyond the parts of a step only the energy is promised
      CHECK_REL(energy(j, cn_unrotate(q, w)), e, 1e-11);
    }
}

// About a principal axis a body turns by h w, neither more nor less.
static void steady(void **state) {
  (void)state;
  CnQuat q = CN_QUAT_ONE;
  CnVec3 w = {0, 0, 3};
  for (int i = 0; i < 10; i++) cni_drift_turn(cn_vec3(1, 2, 3), 0.2, &q, &w);
  CHECK_NEAR(w.z, 3, 1e-15);
  CHECK_NEAR(q.w, cos(3), 1e-14);
  CHECK_NEAR(q.z, sin(3), 1e-14);
  CnVec3 rest = {0, 0, 0};
  CnQuat before = q;
  cni_drift_turn(cn_vec3(1, 2, 3), 0.2, &q, &rest);
  CHECK(q.w == before.w && q.z == before.z && rest.z == 0);
}

static CnQuat attitude_after(int32_t steps) {
  CnQuat q = CN_QUAT_ONE;
  CnVec3 w = {0.5, 2, 0.1};
  for (int32_t i = 0; i < steps; i++) cni_drift_turn(cn_vec3(1, 2, 3), 5.0 / steps, &q, &w);
  return q;
}

static double apart(CnQuat a, CnQuat b) {
  return cn_norm(cn_sub(cn_vec3(a.w, a.x, a.y), cn_vec3(b.w, b.x, b.y))) + fabs(a.z - b.z);
}

static void attitude_second_order(void **state) {
  (void)state;
  CnQuat exact = attitude_after(100000);
  CHECK_NEAR(apart(attitude_after(100), exact) / apart(attitude_after(200), exact), 4, 0.1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(symmetric_top),
      cmocka_unit_test(invariants),
      cmocka_unit_test(any_step),
      cmocka_unit_test(second_order),
      cmocka_unit_test(drift_keeps),
      cmocka_unit_test(steady),
      cmocka_unit_test(attitude_second_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
