// SPDX-License-Identifier: Apache-2.0
// The four-bar linkage of Haddouni et al. 2013 (figures 2 to 4), driven by 6 N m for 5 s: drift and
// work of hem5 and rkf45 over tolerances 1e-2 .. 1e-11; the run of the figures, with steps of at
// most 1e-2 s; then how much faster than real time four-bar and pendulum run at a tolerance of
// 1e-6. The paper prints curves, no table: its hem5 drifts by about 4e-13 (g) and 4e-15 (g').
#include <math.h>

#include "paper_2013.h"

#define PI 3.14159265358979323846

static const double truth[3] = {5.116731000805, 1.668218542194, 2.022127550070};

static void pendulum(Mechanism *m) {
  mechanism_pendulum(m, -PI / 2, 0);
  m->q[0] = -1;
  m->q[1] = m->v[0] = m->v[1] = 0;
}

// The run of figures 2 to 4: tolerance 1e-10, steps of at most 1e-2 s, drift up to 1e-6.
static int figure_row(Report *report, const char *integrator, double position, double velocity) {
  PaperRun run = {integrator, 1e-10, 0, 1e-2, 5, 1e-6, .work = 0};
  Row *row = report_row_begin(report);
  if (!row || !paper_run(&run, mechanism_four_bar)) return 0;
  row_text(row, "integrator", integrator);
  row_text(row, "mechanism", "four-bar, figures 2 to 4");
  row_number(row, "tolerance", 1e-10);
  row_number(row, "mean_h", 5 / (double)run.report.steps);
  row_number(row, "work", run.work);
  row_number(row, "position_drift", run.report.position_drift);
  row_number(row, "velocity_drift", run.report.velocity_drift);
  row_number(row, "paper_position_drift", position);
  row_number(row, "paper_velocity_drift", velocity);
  report_row_end(report, row);
  return 1;
}

static int speed_row(Report *report, const char *name, PaperMake make, double end) {
  double best = 0;
  PaperRun run = {"hem5", 1e-6, 0, 0, end, .work = 0};
  Row *row = report_row_begin(report);
  if (!row) return 0;
  // the fastest of several: other load only ever adds time
  for (int i = 0; i < 10; i++) {
    if (!paper_run(&run, make)) return 0;
    best = fmax(best, end / run.seconds);
  }
  row_text(row, "integrator", "hem5");
  row_text(row, "mechanism", name);
  row_number(row, "tolerance", 1e-6);
  row_number(row, "mean_h", end / (double)run.report.steps);
  row_number(row, "work", run.work);
  row_number(row, "position_drift", run.report.position_drift);
  row_number(row, "velocity_drift", run.report.velocity_drift);
  row_number(row, "times_real_time", best);
  row_flag(row, "fast_enough", best >= 100);
  report_row_end(report, row);
  return 1;
}

static int run(const Values *values, Report *report) {
  return paper_rows(report, mechanism_four_bar, 0, 0, 5, truth, NULL,
                    "Four-bar linkage: drift against work", value_text(values, "plot")) &&
         figure_row(report, "hem5", 4e-13, 4e-15) && figure_row(report, "rkf45", NAN, NAN) &&
         speed_row(report, "four-bar", mechanism_four_bar, 5) &&
         speed_row(report, "pendulum", pendulum, 10);
}

static const Parameter parameters[] = {{"plot", "", "file for the work-precision plot (SVG)"},
                                       {NULL, NULL, NULL}};
static const Column columns[] = {{"integrator", "integrator"},
                                 {"tolerance", "tolerance"},
                                 {"mean_h", "mean h"},
                                 {"work", "work"},
                                 {"position_drift", "max |g|"},
                                 {"paper_position_drift", "paper"},
                                 {"velocity_drift", "max |g'|"},
                                 {"paper_velocity_drift", "paper"},
                                 {"error", "error"},
                                 {"hem5_work", "hem5's work at this |g|"},
                                 {"times_real_time", "x real time"},
                                 {NULL, NULL}};
extern const Bench bench_four_bar;
const Bench bench_four_bar = {"four-bar",
                              "hem5 and rkf45 on the linkage of the 2013 paper: drift and work",
                              parameters, columns, run};
