// SPDX-License-Identifier: Apache-2.0
// The hopper of the benchmarks: a cone from a hole of .6 m to a pipe of 4 m, 20,000 triangles seen from
// inside, and places for bodies in it.
#ifndef BENCH_HOPPER_H
#define BENCH_HOPPER_H

#include <cairn/cairn.h>

#define HOPPER_AROUND 100
#define HOPPER_ALONG 100
#define HOPPER_VERTICES (HOPPER_AROUND * (HOPPER_ALONG + 1))
#define HOPPER_TRIANGLES (2 * HOPPER_AROUND * HOPPER_ALONG)

typedef struct Hopper {
  CnVec3 vertices[HOPPER_VERTICES];
  int32_t triangles[3 * HOPPER_TRIANGLES];
} Hopper;

// Places in layers on a grid of .26 m, from the middle of the cone up; the height that they reach.
double hopper_places(CnVec3 *places, int32_t count);
// The mesh, up to a height.
void hopper_fill(Hopper *hopper, double top);

#endif
