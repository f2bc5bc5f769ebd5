// SPDX-License-Identifier: Apache-2.0
// Table 2 of Mangoni and Tasora (2015): total iterations with no, a partial and a full warm start.
//
// Balls: n = 340, calls 51-100. Brick and ball: at rest on a floor, 100 calls. Partial begins with
// the velocities of the step before, full also with its impulses; every call solves the same
// problem three times, so the path of the world does not depend on the warm start.
#include "bench.h"
#include "ipm_tables.h"

typedef struct Line {
  const char *name;
  int32_t first; // call that counts
  double paper[IPM_WARM_KINDS];
} Line;

static const Line lines[] = {{"balls in a box", 50, {935, 927, 747}},
                             {"brick", 0, {499, 370, 81}},
                             {"ball", 0, {720, 515, 90}}};

static int run_line(int index, int32_t balls, Report *report) {
  const Line *line = &lines[index];
  IpmScene scene;
  IpmCall call;
  double total[IPM_WARM_KINDS] = {0, 0, 0};
  int32_t failed = 0;
  Row *row = report_row_begin(report);
  if (!row) return 0;
  CnStatus status = index == 0   ? ipm_scene_balls(&scene, balls, 1)
                    : index == 1 ? ipm_scene_brick(&scene)
                                 : ipm_scene_ball(&scene);
  for (int32_t k = 0; k < 100 && status == CN_OK; k++) {
    status = ipm_scene_call(&scene, k >= line->first ? IPM_WARM_KINDS : 0, &call);
    for (int32_t w = 0; w < IPM_WARM_KINDS && k >= line->first; w++) {
      total[w] += call.iterations[w];
      failed += call.failed[w];
    }
  }
  ipm_scene_release(&scene);
  if (status != CN_OK) {
    fprintf(stderr, "cairn-bench: ipm-table2: %s\n", cn_error_message());
    return 0;
  }
  row_text(row, "test", line->name);
  row_number(row, "calls", 100 - line->first);
  row_number(row, "none", total[0]);
  row_number(row, "partial", total[1]);
  row_number(row, "full", total[2]);
  row_number(row, "paper_none", line->paper[0]);
  row_number(row, "paper_partial", line->paper[1]);
  row_number(row, "paper_full", line->paper[2]);
  row_number(row, "failed", failed);
  row_flag(row, "green",
           failed == 0 && total[2] <= line->paper[2] && total[1] <= total[0] &&
               total[0] <= 1.1 * line->paper[0]);
  report_row_end(report, row);
  return 1;
}

static int run(const Values *values, Report *report) {
  int32_t balls;
  if (!value_whole(values, "balls", 1, 1e6, &balls)) return 0;
  for (int i = 0; i < 3; i++)
    if (!run_line(i, balls, report)) return 0;
  return 1;
}

static const Parameter parameters[] = {{"balls", "340", "in the box"}, {NULL, NULL, NULL}};
static const Column columns[] = {{"test", "test"},
                                 {"calls", "calls"},
                                 {"none", "none"},
                                 {"partial", "partial"},
                                 {"full", "full"},
                                 {"paper_none", "paper none"},
                                 {"paper_partial", "partial"},
                                 {"paper_full", "full"},
                                 {"failed", "failed"},
                                 {"green", "green"},
                                 {NULL, NULL}};
extern const Bench bench_ipm_table2;
const Bench bench_ipm_table2 = {"ipm-table2",
                                "2015 paper, table 2: warm starts of the interior point",
                                parameters, columns, run};
