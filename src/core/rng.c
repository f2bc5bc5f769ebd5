// SPDX-License-Identifier: Apache-2.0
// The random generator of scenes and tests.

#include "core/rng.h"

uint64_t cni_rng_next(CniRng *rng) {
  rng->state = rng->state * 6364136223846793005u + 1442695040888963407u;
  return rng->state;
}

double cni_rng_unit(CniRng *rng) { return (double)(cni_rng_next(rng) >> 11) * 0x1p-53; }

double cni_rng_range(CniRng *rng, double lo, double hi) {
  double x = lo + (hi - lo) * cni_rng_unit(rng);
  // rounding may carry the sum up to hi, which does not belong to the range
  return x < hi ? x : lo;
}
