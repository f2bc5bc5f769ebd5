// SPDX-License-Identifier: Apache-2.0
// The random generator of scenes and tests: a 64-bit linear congruential sequence, advanced before
// each draw, top 53 bits used. Same numbers everywhere.
#ifndef CNI_CORE_RNG_H
#define CNI_CORE_RNG_H

#include <stdint.h>

typedef struct CniRng {
  uint64_t state;
} CniRng;

static inline uint64_t cni_rng_next(CniRng *rng) {
  return rng->state = rng->state * 6364136223846793005u + 1442695040888963407u;
}

// Uniform in [0, 1), and in [lo, hi): rounding may carry the sum up to hi, which does not belong.
static inline double cni_rng_unit(CniRng *rng) {
  return (double)(cni_rng_next(rng) >> 11) * 0x1p-53;
}
static inline double cni_rng_range(CniRng *rng, double lo, double hi) {
  double x = lo + (hi - lo) * cni_rng_unit(rng);
  return x < hi ? x : lo;
}

#endif
