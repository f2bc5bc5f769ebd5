// SPDX-License-Identifier: Apache-2.0
// Time of each elementary function beside the platform's. Ours give the same bits everywhere; this
// says what that costs.
#include <math.h>

#include "bench.h"
#include "bodies.h"
#include "core/math.h"

static double ours_atan(double x) { return cni_atan2(x, 0.7); }
static double ours_pow(double x) { return cni_pow(x, 1.7); }
static double platform_atan(double x) { return atan2(x, 0.7); }
static double platform_pow(double x) { return pow(x, 1.7); }

static const struct {
  const char *name;
  double (*ours)(double), (*platform)(double);
} functions[] = {
    {"sin", cni_sin, sin},           {"cos", cni_cos, cos},    {"tan", cni_tan, tan},
    {"asin", cni_asin, asin},        {"acos", cni_acos, acos}, {"atan2", ours_atan, platform_atan},
    {"exp", cni_exp, exp},           {"log", cni_log_e, log},  {"cbrt", cni_cbrt, cbrt},
    {"pow", ours_pow, platform_pow},
};

// ns a call, the fastest of five passes over [0.1, 1).
static double time_of(double (*function)(double), int32_t count) {
  double best = HUGE_VAL;
  volatile double sink = 0;
  for (int32_t pass = 0; pass < 5; pass++) {
    double sum = 0, start = seconds_now();
    for (int32_t i = 0; i < count; i++) sum += function(0.1 + 0.9 * i / count);
    sink = sum;
    best = fmin(best, (seconds_now() - start) * 1e9 / count);
  }
  (void)sink;
  return best;
}

static int run(const Values *values, Report *report) {
  int32_t calls = 0;
  if (!value_whole(values, "calls", 1, 1e9, &calls)) return 0;
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
    Row *row = report_row_begin(report);
    if (!row) return 0;
    double ours = time_of(functions[i].ours, calls);
    double platform = time_of(functions[i].platform, calls);
    row_text(row, "function", functions[i].name);
    row_number(row, "calls", calls);
    row_number(row, "ns_per_call", ours);
    row_number(row, "ns_per_call_platform", platform);
    row_number(row, "ratio", ours / platform);
    report_row_end(report, row);
  }
  return 1;
}

static const Parameter parameters[] = {{"calls", "200000", "calls of each function in a pass"},
                                       {NULL, NULL, NULL}};
static const Column columns[] = {{"function", "function"},
                                 {"ns_per_call", "ns/call"},
                                 {"ns_per_call_platform", "ns/call libm"},
                                 {"ratio", "ratio"},
                                 {NULL, NULL}};
extern const Bench bench_math;
const Bench bench_math = {"math", "elementary functions beside the platform's", parameters, columns,
                          run};
