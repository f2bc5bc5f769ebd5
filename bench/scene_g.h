// SPDX-License-Identifier: Apache-2.0
// Scene G(n): a pile of n equal spheres in a box, the scene on which engines are compared.
//
// A cubic lattice of spheres, shaken a little, stands in a box so high that spheres fill 60 % of a
// cube of its width; it buckles and settles. Shared by tests and benchmarks; plain arrays, so that
// it can be handed to any engine. Same bits on every machine.
#ifndef BENCH_SCENE_G_H
#define BENCH_SCENE_G_H

#include <stdint.h>

#define SCENE_G_RADIUS 0.1     // m
#define SCENE_G_DENSITY 2000.0 // kg/m^3
#define SCENE_G_FRICTION 0.4
#define SCENE_G_GRAVITY 9.81    // m/s^2 along -z
#define SCENE_G_TIME_STEP 0.005 // s
#define SCENE_G_ITERATIONS 120
#define SCENE_G_STEPS 200
#define SCENE_G_PLANES 5 // the floor z >= 0, then the walls x >=, x <=, y >=, y <=

// Side of the square floor, centred at the origin, m.
double scene_g_side(int32_t count);

// Centres of the spheres: x y z of each, 3 count numbers.
void scene_g_positions(int32_t count, double *positions);

// The planes as nx ny nz d: the free side is n.x >= d. 4 SCENE_G_PLANES numbers.
void scene_g_planes(int32_t count, double *planes);

#endif
