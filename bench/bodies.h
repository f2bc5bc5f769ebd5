// SPDX-License-Identifier: Apache-2.0
// A pile of spheres between planes as plain numbers, its text form, and how deep it overlaps.
//
// This is what the benchmark hands to another engine's program, so nothing of Cairn is in it: the
// programs in peers/ are linked with this file and their engine only.
//
// The text, one item a line, numbers with 17 digits:
//   gravity X Y Z            m/s^2
//   step H                   s
//   steps N
//   iterations N             of the solver, each step
//   friction MU
//   plane NX NY NZ D         free side n.x >= d
//   sphere X Y Z R DENSITY   m, kg/m^3
#ifndef BENCH_BODIES_H
#define BENCH_BODIES_H

#include <stdint.h>
#include <stdio.h>

#define BODIES_LAST_STEPS 20 // figures are means over these

typedef struct Sphere {
  double position[3];
  double radius, density;
} Sphere;

typedef struct Plane {
  double normal[3];
  double offset;
} Plane;

typedef struct Bodies {
  double gravity[3];
  double time_step;
  double friction;
  int32_t step_count, iterations;
  int32_t sphere_count, plane_count;
  Sphere *spheres;
  Plane *planes;
} Bodies;

// Room for spheres and planes, zeroed; 0 when there is no memory.
int bodies_create(Bodies *bodies, int32_t sphere_count, int32_t plane_count);
void bodies_destroy(Bodies *bodies);

int bodies_write(const Bodies *bodies, FILE *file); // 1: written

// Read until the end of the file. 0 and a line on stderr when it is not such a list.
int bodies_read(Bodies *bodies, FILE *file);

// Depths of overlapping pairs (sphere and sphere, sphere and plane) at the present positions,
// summed up over several calls.
typedef struct Overlap {
  double max, sum; // m
  int64_t count;
} Overlap;
int overlap_add(const Bodies *bodies, Overlap *overlap); // 0: no memory

double seconds_now(void); // a clock that never goes back

#endif
