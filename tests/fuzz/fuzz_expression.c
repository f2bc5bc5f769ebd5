// SPDX-License-Identifier: Apache-2.0
// Any text as an expression: a finite number, or one sentence.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "io/scene/expression.h"

static void require(int condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "fuzz_expression: %s\n", what);
  abort();
}

static int find(void *context, const char *name, size_t length, double *value) {
  (void)context;
  static const char *const names[] = {"i", "n", "radius", "inf"};
  static const double values[] = {3, 0, -1e300, INFINITY};
  if (length == 4 && memcmp(name, "wait", 4) == 0) return -1;
  for (int32_t i = 0; i < 4; i++) {
    if (strlen(names[i]) != length || memcmp(names[i], name, length) != 0) continue;
    *value = values[i];
    return 1;
  }
  return 0;
}

static void offer(void *context, CniNearestName *nearest) {
  (void)context;
  cni_nearest_offer(nearest, "radius");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  CniScope scope = {find, offer, NULL};
  char problem[CNI_EXPRESSION_PROBLEM];
  double value = NAN;
  CniExpressionResult result =
      cni_expression_evaluate((const char *)data, size, &scope, &value, problem);
  require(isfinite(value), "a value that is not finite");
  if (result == CNI_EXPRESSION_WRONG) {
    require(value == 0 && problem[0] && strlen(problem) < sizeof problem, "no sentence");
    for (const char *c = problem; *c; c++) require((unsigned char)*c >= 32, "more than a line");
  }
  return 0;
}
