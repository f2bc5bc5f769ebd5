// SPDX-License-Identifier: Apache-2.0
// A machine of hinges for a program of another engine (bench mechanisms, bench spider). It comes on stdin,
// one item a line:
//   step H STEPS METHOD
//   box X Y Z W QX QY QZ SX SY SZ MASS VX VY VZ WX WY WZ
//   hinge A B X Y Z AX AY AZ         bodies by number, -1: the world
//   keep HINGE                       it stays at its angle
//   drive HINGE SPEED RAMP EFFORT    rad/s of b against a after RAMP s, by at most EFFORT N m
//   foot BODY X Y Z R                a ball in the axes of a body, which meets the floor z = 0
//   floor MU ITERATIONS              of sweeps, where an engine makes some
// The answer is one line: seconds a step without the first tenth, the largest distance of the two anchor
// points of a hinge, the last body's centre and x axis, the first one's centre.
//
// A hinge that brings a new body makes it a child of the body before it; any other one closes a loop. A
// body that none brings floats.
#ifndef BENCH_HINGES_H
#define BENCH_HINGES_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Box {
  double x[3], q[4], size[3], mass, v[3], w[3];
  int hinge; // that hangs it up
} Box;

typedef struct Hinge {
  int a, b; // -1: the world
  double at[3], axis[3];
  double in_a[3], in_b[3];           // the anchor in the bodies
  double axis_in_a[3], axis_in_b[3]; // the axis likewise
  double rate;                       // rad/s, at the start
  int loop;                          // 1: closes one
  int kept;                          // 1: stays at its angle
  double speed, ramp, effort;        // what drives it; effort 0: nothing
} Hinge;

typedef struct Foot {
  int body;
  double at[3], radius;
} Foot;

#define HINGES_FEET 16

typedef struct Hinges {
  double h;
  int steps, method;
  Box *boxes;
  Hinge *hinges;
  int box_count, hinge_count, box_capacity, hinge_capacity;
  Foot feet[HINGES_FEET];
  int foot_count, iterations; // iterations 0: as the engine has them
  double friction;
} Hinges;

int hinges_read(Hinges *machine); // from stdin; returns 0 where it is not understood
void hinges_release(Hinges *machine);

// Moments of inertia of a box about its own axes.
void hinges_inertia(const Box *box, double inertia[3]);

// rad/s: what drives a hinge at that time.
double hinges_speed(const Hinge *hinge, double time);

// Where the anchors of a hinge are: `place` tells where a point of a body is (-1: it stays).
typedef void HingesPlace(const void *context, int body, const double in_body[3], double world[3]);
double hinges_gap(const Hinges *machine, HingesPlace *place, const void *context);

// All steps, timed, and the answer.
typedef void HingesStep(void *context);
void hinges_run(const Hinges *machine, HingesStep *step, HingesPlace *place, void *context);

#ifdef __cplusplus
}
#endif

#endif
