// SPDX-License-Identifier: Apache-2.0
// Vectors at random.
#ifndef CNI_TEST_DRAWS_H
#define CNI_TEST_DRAWS_H

#include "core/rng.h"
#include "core/vec.h"

static inline CnVec3 draw(CniRng *rng, double most) {
  CnVec3 v;
  v.x = cni_rng_range(rng, -most, most);
  v.y = cni_rng_range(rng, -most, most);
  v.z = cni_rng_range(rng, -most, most);
  return v;
}

#endif
