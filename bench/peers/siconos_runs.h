// SPDX-License-Identifier: Apache-2.0
// How the programs of Siconos run and time its solvers.
//
// Each solver runs in its own process: some abort, some do not end. One thread.
#ifndef BENCH_PEERS_SICONOS_RUNS_H
#define BENCH_PEERS_SICONOS_RUNS_H

#include <stdio.h>

// To be called first: the linear algebra counts its threads when it is loaded, so the program
// starts itself again with the variable that says one. Returns in the second life.
void runs_one_thread(char **argv);

// How often a solver is to be run: `repeats` times, or fewer, but once, if the runs have taken
// `seconds` together.
typedef struct RunPlan {
  int repeats;
  double seconds;
} RunPlan;

// One run: prepare, solve, clean up. The solve is what lies between the two calls of the clock:
// sets *seconds. Returns what the solver returned, negative: it could not be asked.
typedef int RunSolve(void *context, double *seconds);
double runs_clock(void);

typedef struct RunTimes {
  double best, median; // s
  int count, info;     // runs; what the last one returned
} RunTimes;

// 0: the solver could not be asked.
int runs_time(const RunPlan *plan, RunSolve *solve, void *context, RunTimes *times);

// Call `run` in a process of its own, with a copy of stdout to print to; its own messages go
// nowhere. The process is ended after `limit` seconds.
void runs_apart(unsigned limit, void (*run)(void *context, FILE *output), void *context);

#endif
