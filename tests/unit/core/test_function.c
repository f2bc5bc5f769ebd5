// SPDX-License-Identifier: Apache-2.0
// Functions of time: values, derivatives against differences, what is refused.
#include "check.h"

#include <string.h>

#include "core/function.h"
#include "core/math.h"
#include "core/vec.h"

static const double times[] = {0.5, 1, 1.7, 2, 3.1}, values[] = {1, -2, 0.5, 0.6, 4};

static CnFunctionDef some(CnFunctionKind kind) {
  CnFunctionDef def = cn_function_def_default(kind);
  def.value = 0.3;
  def.final = -1.2;
  def.rate = 2.5;
  def.amplitude = 0.7;
  def.frequency = 0.9;
  def.phase = 0.4;
  def.start = 0.6;
  def.end = 2.9;
  if (cni_function_kinds[kind].least_points > 0) {
    def.times = times;
    def.values = values;
    def.point_count = 5;
  }
  return def;
}

static void at(const CnFunctionDef *def, double t, double result[3]) {
  double work[5], bends[5];
  if (def->kind == CN_FUNCTION_SPLINE) cni_function_bends(def, work, bends);
  cni_function_kinds[def->kind].at(def, bends, t, result);
}

static void derivatives(void **state) {
  (void)state;
  for (int32_t kind = 0; kind < CN_FUNCTION_KIND_COUNT; kind++) {
    CnFunctionDef def = some((CnFunctionKind)kind);
    CHECK_OK(cni_function_check(&def));
    for (int32_t i = 0; i < 100; i++) {
      double t = 0.0123 + 0.04 * i, s = 1e-5, low[3], high[3], here[3];
      int corner = 0; // of a table, a ramp, the ends of a spline
      for (int32_t k = 0; k < 5; k++) corner |= fabs(t - times[k]) < 2 * s;
      corner |= fabs(t - def.start) < 2 * s || fabs(t - def.end) < 2 * s;
      if (corner) continue;
      at(&def, t - s, low);
      at(&def, t, here);
      at(&def, t + s, high);
      CHECK_NEAR(here[1], (high[0] - low[0]) / (2 * s), 1e-8);
      CHECK_NEAR(here[2], (high[1] - low[1]) / (2 * s), 1e-7);
    }
  }
}

static void values_and_ends(void **state) {
  (void)state;
  double x[3];
  CnFunctionDef def = some(CN_FUNCTION_RAMP);
  at(&def, 1.6, x);
  CHECK_NEAR(x[0], 0.3 + 2.5, 1e-15);
  at(&def, 100, x);
  CHECK_NEAR(x[0], 0.3 + 2.5 * 2.3, 1e-14);
  def = some(CN_FUNCTION_SINE);
  at(&def, 0.6, x);
  CHECK_NEAR(x[0], 0.3 + 0.7 * cni_sin(0.4), 1e-15);
  def = some(CN_FUNCTION_SMOOTH_STEP);
  at(&def, 1.75, x);
  CHECK_NEAR(x[0], -0.45, 1e-15);
  CHECK_NEAR(x[2], 0, 1e-14);
  at(&def, 3, x);
  CHECK_NEAR(x[0], -1.2, 1e-15);
  CHECK(x[1] == 0 && x[2] == 0);
  for (CnFunctionKind kind = CN_FUNCTION_TABLE; kind <= CN_FUNCTION_SPLINE; kind++) {
    def = some(kind);
    for (int32_t k = 0; k < 5; k++) {
      at(&def, times[k], x);
      CHECK_NEAR(x[0], values[k], 1e-14);
    }
    at(&def, -5, x);
    CHECK(x[0] == 1 && x[1] == 0);
    at(&def, 5, x);
    CHECK(x[0] == 4 && x[1] == 0);
  }
  // with a period they begin again
  for (CnFunctionKind kind = CN_FUNCTION_TABLE; kind <= CN_FUNCTION_SPLINE; kind++) {
    double once[3];
    def = some(kind);
    at(&def, 1.3, once);
    def.period = 4;
    CHECK_OK(cni_function_check(&def));
    for (int32_t k = -2; k <= 3; k++) {
      at(&def, 1.3 + 4 * k, x);
      CHECK_NEAR(x[0], once[0], 1e-13);
      CHECK_NEAR(x[1], once[1], 1e-12);
    }
    def.period = 2;
    CHECK_STATUS(cni_function_check(&def), CN_INVALID_ARGUMENT);
  }
  // a spline is smooth twice at its points and starts from rest
  double low[3], high[3];
  def = some(CN_FUNCTION_SPLINE);
  for (int32_t k = 1; k < 4; k++) {
    at(&def, times[k] - 1e-9, low);
    at(&def, times[k], high);
    CHECK_NEAR(low[1], high[1], 1e-6);
    CHECK_NEAR(low[2], high[2], 1e-5);
  }
  at(&def, 0.5, x);
  CHECK_NEAR(x[1], 0, 1e-13);
  at(&def, 3.1 - 1e-12, x);
  CHECK_NEAR(x[1], 0, 1e-9);
}

static void refused(CnFunctionDef def, const char *word) {
  CHECK_STATUS(cni_function_check(&def), CN_INVALID_ARGUMENT);
  CHECK(strstr(cn_error_message(), word) != NULL);
}

static void checks(void **state) {
  (void)state;
  CnFunctionDef def = some(CN_FUNCTION_RAMP);
  def.rate = NAN;
  refused(def, "rate");
  def = some(CN_FUNCTION_RAMP);
  def.end = 0.6;
  refused(def, "end");
  def = some(CN_FUNCTION_SMOOTH_STEP);
  def.end = INFINITY;
  refused(def, "end");
  def = some(CN_FUNCTION_SPLINE);
  def.point_count = 1;
  refused(def, "at least 2");
  def = some(CN_FUNCTION_TABLE);
  def.times = values;
  refused(def, "ascend");
  def = some(CN_FUNCTION_CONSTANT);
  def.point_count = 3;
  refused(def, "points");
  def = some(CN_FUNCTION_TABLE);
  def.values = NULL;
  refused(def, "null");
  CHECK(!cn_function_kind_name(CN_FUNCTION_KIND_COUNT));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(derivatives),
                                     cmocka_unit_test(values_and_ends), cmocka_unit_test(checks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
