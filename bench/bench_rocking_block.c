// SPDX-License-Identifier: Apache-2.0
// The rocking block of Haddouni et al. 2013: tables 1 and 2, figures 6a and 6b.
//
// One corner of the block stays on the ground for half a second; drift of its gap and of the gap's
// velocity against the work, over tolerances 1e-2 .. 1e-11. Then fixed steps: drift against h. The
// paper's average h and work are printed beside ours but cannot be compared: its average step times
// its number of steps is not the half second it simulates.
#include <math.h>

#include "paper_2013.h"

static const PaperFigures paper[2][PAPER_ROWS] = {{{.336, 234, 3.47e-5, 4.81e-16},
                                                   {.260, 460, 1.13e-7, 3.34e-16},
                                                   {.179, 624, 6.34e-8, 6.72e-16},
                                                   {.104, 988, 3.16e-9, 6.97e-16},
                                                   {.056, 1924, 4.76e-10, 4.58e-16},
                                                   {.054, 2524, 3.78e-10, 6.45e-16},
                                                   {.046, 3120, 6e-11, 6.13e-16},
                                                   {.026, 5824, 8.01e-11, 6.84e-16},
                                                   {.018, 8580, 1.29e-11, 7.14e-16},
                                                   {.010, 15548, 4.17e-11, 9.17e-16}},
                                                  {{.065, 390, 1.7e-4, 9.5e-5},
                                                   {.063, 450, 2.21e-5, 8.07e-5},
                                                   {.051, 630, 1.21e-5, 8.07e-5},
                                                   {.039, 840, 2.02e-6, 2.38e-6},
                                                   {.0009, 3036, 5.62e-7, 9.98e-7},
                                                   {.017, 2700, 4.93e-8, 9.75e-8},
                                                   {.0029, 13560, 7.13e-9, 1e-8},
                                                   {.0008, 5910, 4.17e-10, 9.96e-10},
                                                   {7.6e-4, 48510, 5.3e-11, 1e-10},
                                                   {1.97e-6, 9585990, 1.23e-11, 9.79e-12}}};
static const double truth[3] = {0, 2.0610339653041, .2674147307586};

static int fixed_rows(Report *report) {
  static const char *const names[2] = {"hem5", "rkf45"};
  for (int k = 0; k < 2; k++)
    for (int32_t n = 5; n <= 80; n *= 2) {
      PaperRun run = {names[k], 0, .5 / n, 0, .5, .work = 0};
      Row *row = report_row_begin(report);
      if (!row || !paper_run(&run, mechanism_rocking_corner)) return 0;
      row_text(row, "integrator", run.integrator);
      row_number(row, "tolerance", NAN);
      row_number(row, "mean_h", .5 / n);
      row_number(row, "work", run.work);
      row_number(row, "position_drift", run.report.position_drift);
      row_number(row, "velocity_drift", run.report.velocity_drift);
      row_number(row, "error", fmax(fabs(run.q[1] - truth[1]), fabs(run.q[2] - truth[2])));
      report_row_end(report, row);
    }
  return 1;
}

static int run(const Values *values, Report *report) {
  return paper_rows(report, mechanism_rocking_corner, .1, 0, .5, truth, paper,
                    "Rocking block: drift against work", value_text(values, "plot")) &&
         fixed_rows(report);
}

static const Parameter parameters[] = {{"plot", "", "file for the work-precision plot (SVG)"},
                                       {NULL, NULL, NULL}};
static const Column columns[] = {{"integrator", "integrator"},
                                 {"tolerance", "tolerance"},
                                 {"mean_h", "mean h"},
                                 {"paper_mean_h", "paper"},
                                 {"work", "work"},
                                 {"paper_work", "paper"},
                                 {"position_drift", "max |g|"},
                                 {"paper_position_drift", "paper"},
                                 {"velocity_drift", "max |g'|"},
                                 {"paper_velocity_drift", "paper"},
                                 {"error", "error"},
                                 {"hem5_work", "hem5's work at this |g|"},
                                 {NULL, NULL}};
extern const Bench bench_rocking_block;
const Bench bench_rocking_block = {"rocking-block",
                                   "hem5 and rkf45 on the block of the 2013 paper: drift and work",
                                   parameters, columns, run};
