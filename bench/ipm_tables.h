// SPDX-License-Identifier: Apache-2.0
// What the two tables of the 2015 paper share: worlds without friction, and their step problems by
// the interior point with its three warm starts.
#ifndef BENCH_IPM_TABLES_H
#define BENCH_IPM_TABLES_H

#include <cairn/world.h>

#define IPM_WARM_KINDS 3 // none, partial, full

// One world, and what of its last step the warm starts use.
typedef struct IpmScene {
  CnWorld *world;
  struct CniCones *cones;
  int32_t *pair; // per contact of the last step: its two groups
  double *g;     // and its normal impulse
  int32_t count, capacity;
  int32_t units; // 1: tolerances in SI units, 0: of the scaled problem
} IpmScene;

// Balls in a box: scene G with R .1, density 1000, every tenth ball `ratio` times as heavy.
CnStatus ipm_scene_balls(IpmScene *scene, int32_t count, double ratio);
// A brick .4 x .2 x .1 m of density 2000 on its face, and one ball, both at rest on a floor.
CnStatus ipm_scene_brick(IpmScene *scene);
CnStatus ipm_scene_ball(IpmScene *scene);
void ipm_scene_release(IpmScene *scene);

// What one call took.
typedef struct IpmCall {
  int32_t iterations[IPM_WARM_KINDS];
  int32_t failed[IPM_WARM_KINDS];
  int32_t matrix_size; // 6 bodies + contacts
  double seconds;      // of the cold solve
} IpmCall;

// One step of the world (by sweeps where all balls are alike, else by ipm), its problem solved with
// the first `warm_kinds` warm starts.
CnStatus ipm_scene_call(IpmScene *scene, int32_t warm_kinds, IpmCall *call);

#endif
