// SPDX-License-Identifier: Apache-2.0
// Scenes of a few lines whose answer is known, and what users see of them: sensors by name, work by
// parts of the balance.
#ifndef TESTS_KNOWN_H
#define TESTS_KNOWN_H

#include <cairn/scene.h>

#define KNOWN_G 9.81
#define KNOWN_PI 3.141592653589793

// All integrators, and a loop over them.
extern const char *const known_integrators[4];
#define FOR_INTEGRATORS(name, first, last)                                                         \
  for (int32_t known_k = (first); known_k < (last); known_k++)                                     \
    for (const char *name = known_integrators[known_k]; name; name = NULL)
enum { IMPULSE = 0, MOREAU_JEAN, HEM5, RKF45, INTEGRATORS };

typedef struct Known {
  CnScene *scene;
  CnWorld *world;
  CnSceneInfo info;
  const char *integrator;
  double h;
  double work[CN_BALANCE_PART_COUNT]; // J, so far
  double left;                        // J: the most that a balance did not close by
  double brought;                     // J: change of kinetic energy so far
} Known;

// A scene with this integrator and step. `text` is JSON with ' in place of ", and is printed with what
// follows it. Balances are kept; the solver is exact; hem5 and rkf45 have the tolerance 1e-10.
Known known_open(const char *integrator, double h, const char *text, ...)
    __attribute__((format(printf, 3, 4)));
void known_close(Known *known);

// So many steps, or up to a time.
void known_steps(Known *known, int32_t count);
void known_until(Known *known, double time);
double known_time(const Known *known);
// Print integrator, time, works and sensors: for one who looks for the reason of a failure.
void known_show(const Known *known);
// What a sensor shows now.
double known(const Known *known, const char *sensor);
// The first time at which a sensor passes a value from below or above, by a line between steps; fails after
// `latest`.
double known_when(Known *known, const char *sensor, double value, double latest);

#endif
