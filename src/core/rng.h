// SPDX-License-Identifier: Apache-2.0
// The random generator of scenes and tests: a 64-bit linear congruential sequence, advanced before
// each draw, top 53 bits used. Same numbers everywhere.
#ifndef CNI_CORE_RNG_H
#define CNI_CORE_RNG_H

#include <stdint.h>

typedef struct CniRng {
  uint64_t state;
} CniRng;

// s <- s * 6364136223846793005 + 1442695040888963407
uint64_t cni_rng_next(CniRng *rng);
// Uniform in [0, 1): (s >> 11) 2^-53.
double cni_rng_unit(CniRng *rng);
// Uniform in [lo, hi).
double cni_rng_range(CniRng *rng, double lo, double hi);

#endif
