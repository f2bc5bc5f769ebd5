// SPDX-License-Identifier: Apache-2.0
// Table 1 of Mangoni and Tasora (2015): iterations of the interior point on balls in a box.
//
// Scene G without friction, h .01, 100 steps, figures over calls 51-100, cold starts; tolerances of
// the paper (|r_p|/m and |r_d|/n below 1e-8, tau below 1e-7). The last rows have every tenth ball
// 1e3 and 1e6 times as heavy; there all 100 calls count, and the tolerances are those of the scaled
// problem, in which M = I, rows have unit length and the largest right-hand side is 1.
#include <stdlib.h>

#include "bench.h"
#include "ipm_tables.h"

typedef struct Line {
  int32_t balls;
  double ratio, paper_size, paper_iterations;
} Line;

static const Line lines[] = {{130, 1, 1200, 16.7},   {340, 1, 3200, 18.6}, {472, 1, 4500, 19.4},
                             {1445, 1, 13800, 18.9}, {130, 1e3, 0, 0},     {130, 1e6, 0, 0}};

static int run_line(const Line *line, Report *report, double *mean) {
  IpmScene scene;
  IpmCall call;
  Row *row = report_row_begin(report);
  if (!row) return 0;
  int32_t first = line->ratio > 1 ? 0 : 50, calls = 0, failed = 0, most = 0;
  double sum = 0, size = 0, seconds = 0;
  CnStatus status = ipm_scene_balls(&scene, line->balls, line->ratio);
  for (int32_t k = 0; k < 100 && status == CN_OK; k++) {
    status = ipm_scene_call(&scene, k >= first, &call);
    if (k < first) continue;
    calls++;
    sum += call.iterations[0];
    size += call.matrix_size;
    seconds += call.seconds;
    failed += call.failed[0];
    if (call.iterations[0] > most) most = call.iterations[0];
  }
  ipm_scene_release(&scene);
  if (status != CN_OK) {
    fprintf(stderr, "cairn-bench: ipm-table1: %s\n", cn_error_message());
    return 0;
  }
  *mean = sum / calls;
  row_number(row, "balls", line->balls);
  row_number(row, "mass_ratio", line->ratio);
  row_number(row, "matrix_size", size / calls);
  row_number(row, "mean_iterations", *mean);
  row_number(row, "most_iterations", most);
  row_number(row, "failed", failed);
  row_number(row, "ms_per_call", 1e3 * seconds / calls);
  if (line->paper_size > 0) {
    row_number(row, "paper_size", line->paper_size);
    row_number(row, "paper_iterations", line->paper_iterations);
    row_flag(row, "green", failed == 0 && *mean <= line->paper_iterations);
  } else {
    row_flag(row, "green", failed == 0 && most <= 20);
  }
  report_row_end(report, row);
  return 1;
}

static int run(const Values *values, Report *report) {
  double least = 0, largest = 0, mean;
  int32_t most;
  if (!value_whole(values, "largest", 1, 1e6, &most)) return 0;
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
    if (lines[i].balls > most) continue;
    if (!run_line(&lines[i], report, &mean)) return 0;
    if (lines[i].ratio > 1) continue;
    if (least == 0 || mean < least) least = mean;
    if (mean > largest) largest = mean;
  }
  Row *row = report_row_begin(report);
  if (!row) return 0;
  row_text(row, "figure", "largest mean over smallest");
  row_number(row, "ratio", largest / least);
  row_flag(row, "green", largest <= 1.35 * least);
  report_row_end(report, row);
  return 1;
}

static const Parameter parameters[] = {{"largest", "1445", "number of balls, at most"},
                                       {NULL, NULL, NULL}};
static const Column columns[] = {{"balls", "balls"},           {"mass_ratio", "mass ratio"},
                                 {"matrix_size", "size"},      {"mean_iterations", "mean"},
                                 {"most_iterations", "most"},  {"failed", "failed"},
                                 {"paper_size", "paper size"}, {"paper_iterations", "paper mean"},
                                 {"ms_per_call", "ms"},        {"ratio", "max/min"},
                                 {"green", "green"},           {NULL, NULL}};
extern const Bench bench_ipm_table1;
const Bench bench_ipm_table1 = {"ipm-table1",
                                "2015 paper, table 1: interior point on balls in a box", parameters,
                                columns, run};
