// SPDX-License-Identifier: Apache-2.0
// The elementary functions and the random generator for programs (<cairn/numbers.h>).
#include <cairn/numbers.h>

#include "core/floats.h"
#include "core/math.h"
#include "core/rng.h"

// In the usual mode of rounding, whatever the host's is.
#define FUNCTION(name)                                                                             \
  double cn_##name(double x) {                                                                     \
    CNI_FLOATS;                                                                                    \
    return cni_##name(x);                                                                          \
  }
FUNCTION(sin)
FUNCTION(cos)
FUNCTION(tan)
FUNCTION(asin)
FUNCTION(acos)
FUNCTION(exp)
FUNCTION(cbrt)

double cn_atan2(double y, double x) {
  CNI_FLOATS;
  return cni_atan2(y, x);
}

double cn_pow(double x, double y) {
  CNI_FLOATS;
  return cni_pow(x, y);
}

double cn_random(uint64_t *state) {
  if (!state) return 0;
  CniRng rng = {*state};
  double x = cni_rng_unit(&rng);
  *state = rng.state;
  return x;
}
