// SPDX-License-Identifier: Apache-2.0
// A small mechanism as plain numbers: boxes, spheres, planes, ball joints. The stress tests of
// `trust` hand it to every engine and judge all of them by the same code from the positions they
// print. Nothing of Cairn is in it: the programs in peers/ are linked with this file and their
// engine only.
//
// Input, one item a line, numbers with 17 digits:
//   gravity X Y Z                                m/s^2
//   step H STEPS EVERY                           s; a frame is printed every EVERY steps
//   iterations N                                 of the solver, each step
//   friction MU
//   contacts 0|1                                 0: nothing meets anything
//   plane                                        the half-space z <= 0
//   box X Y Z W QX QY QZ HX HY HZ MASS           position, rotation, half sizes m, kg
//   sphere X Y Z R MASS
//   ball A B X Y Z                               joint of two bodies (-1: the world) at a point
// Output: "engine NAME", then "frame T" and x y z of every body, a line a frame.
#ifndef BENCH_MECHANISM_H
#define BENCH_MECHANISM_H

#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Part {
  int32_t is_box;
  double position[3], rotation[4]; // quaternion, scalar first
  double half_size[3];             // box
  double radius;                   // sphere
  double mass;
} Part;

typedef struct BallJoint {
  int32_t a, b; // -1: the world
  double anchor[3];
} BallJoint;

typedef struct Mechanism {
  double gravity[3];
  double time_step;
  int32_t step_count, frame_every, iterations;
  double friction;
  int32_t contacts, plane;
  Part *parts;
  BallJoint *joints;
  int32_t part_count, part_capacity, joint_count, joint_capacity;
} Mechanism;

// An empty mechanism with gravity 9.81 along -z, h = .01 and 120 iterations.
void mechanism_init(Mechanism *m);
void mechanism_release(Mechanism *m);
// A new box or sphere at rest, or joint; null when there is no memory.
Part *mechanism_add_box(Mechanism *m, const double position[3], const double half_size[3],
                        double mass);
Part *mechanism_add_sphere(Mechanism *m, const double position[3], double radius, double mass);
BallJoint *mechanism_add_ball(Mechanism *m, int32_t a, int32_t b, const double anchor[3]);

int mechanism_write(const Mechanism *m, FILE *file); // 1: written
// Read until the end of the file. 0 and a line on stderr when it is not such a list.
int mechanism_read(Mechanism *m, FILE *file);

#ifdef __cplusplus
}
#endif
#endif
