// SPDX-License-Identifier: Apache-2.0
// Two convex shapes near each other, and random shapes and poses, for bench collision.
#ifndef BENCH_CONVEX_PAIRS_H
#define BENCH_CONVEX_PAIRS_H

#include <cairn/base.h>

#include "bench.h"
#include "core/rng.h"

CnVec3 random_direction(CniRng *rng);
CnQuat random_rotation(CniRng *rng);
void hull_points(CnVec3 *points, int32_t count, CniRng *rng);

// A row for every two kinds that occur often; 0: no memory.
int narrow_rows(Report *report, double seconds);

#endif
