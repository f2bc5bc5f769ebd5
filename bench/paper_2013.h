// SPDX-License-Identifier: Apache-2.0
// What the two benchmarks of Haddouni et al. 2013 share: runs of both integrators with counted
// work, the table, and the work-precision plot.
#ifndef BENCH_PAPER_2013_H
#define BENCH_PAPER_2013_H

#include "bench.h"
#include "mechanisms.h"

#define PAPER_ROWS 10 // tolerances 1e-2 .. 1e-11

typedef struct PaperFigures {
  double mean_h, work, position_drift, velocity_drift; // NaN: not printed
} PaperFigures;

// A run with the integrator's name, tolerance (also the drift limit of rkf45) and end time; fixed
// steps of `step` if the tolerance is 0.
typedef struct PaperRun {
  const char *integrator;
  double tolerance, step, step_max, end;
  double drift_limit; // of rkf45; 0: the tolerance
  // results
  CnIntegratorReport report;
  double work;    // evaluations of f, M and G, and linear systems solved
  double speed;   // |G| |v|, largest over the ends of steps
  double seconds; // of the clock
  double q[MECHANISM_SIZE];
} PaperRun;

typedef void (*PaperMake)(Mechanism *m);

// Run; 0 and a line on stderr if that fails.
int paper_run(PaperRun *run, PaperMake make);

// Rows of both integrators over all tolerances; `paper` has two tables or is null. Writes the plot
// if `plot` is a name.
int paper_rows(Report *report, PaperMake make, double first_step, double step_max, double end,
               const double *truth, const PaperFigures paper[2][PAPER_ROWS], const char *title,
               const char *plot);

#endif
