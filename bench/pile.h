// SPDX-License-Identifier: Apache-2.0
// A list of bodies (bodies.h) as a Cairn world, run and measured: what the benchmarks of granular
// matter share.
#ifndef BENCH_PILE_H
#define BENCH_PILE_H

#include <cairn/world.h>

#include "bench.h"
#include "bodies.h"

// Scene G(count): bodies, planes, friction, gravity and step of scene_g.h; steps and iterations are
// the caller's. 0 when there is no memory.
int pile_scene_g(Bodies *bodies, int32_t count);

// The same lattice of other spheres in a box of the given side; `count` spheres in layers as wide
// as the box allows. The floor z >= 0 and four walls.
int pile_lattice(Bodies *bodies, int32_t count, double radius, double density, double side);

typedef struct Pile {
  CnWorld *world;
  CnBodyId ground; // has the planes as shapes, in the order of the list
  CnBodyId *ids;   // of the spheres
  int32_t sphere_count;
  CnMaterialId material;
} Pile;

typedef struct PileOptions {
  const char *solver;
  int32_t threads;
  CnBodyKind ground_kind;
  double contact_margin; // m, 0: Cairn's default
  int boxes;             // 1: every other sphere is a box in its place, of edge 1.8 radii
  CnHooks hooks;
} PileOptions;
PileOptions pile_options(const char *solver, int32_t threads);

// Build the world. On failure a line is on stderr and nothing has to be released.
int pile_build(Pile *pile, const Bodies *bodies, const PileOptions *options);
void pile_destroy(Pile *pile);

// Sums over the steps that were counted.
typedef struct Figures {
  double seconds, collision, solver, setup;
  double assembly, prepare, finish, certificate, end; // parts of setup
  double contacts, iterations, residual, residual_max;
  Overlap overlap;
  int32_t step_count;
} Figures;

// One step, added to the figures if there are any. 0 and a line on stderr if it fails.
int pile_step(Pile *pile, Figures *figures);
int pile_steps(Pile *pile, int32_t count, Figures *figures);

// Positions back to the list; spheres that were destroyed keep theirs.
void pile_positions(const Pile *pile, Bodies *bodies);

// All steps of the list, the last BODIES_LAST_STEPS counted, with overlaps. `bodies` has the
// positions of the end.
int pile_run(Pile *pile, Bodies *bodies, Figures *figures);

// The figures under the names of the `run` command.
void pile_row(Row *row, const Pile *pile, const Figures *figures);
double pile_ns_per_contact(const Figures *figures); // ns per contact and iteration, sweeps only

#endif
