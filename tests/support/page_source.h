// SPDX-License-Identifier: Apache-2.0
// A run that exists only as formulas, for tests of the page: every pose of every frame is known in
// closed form, so no run file is needed. Bodies: one fixed plane, then spheres and boxes by turns
// on circles about the z axis, turning as they go.
#ifndef TESTS_PAGE_SOURCE_H
#define TESTS_PAGE_SOURCE_H

#include "view/view_private.h"

typedef struct FormulaRun {
  int32_t body_count;
  int64_t frame_count, step_count;
  double time_step;
  const char *title;
  int64_t broken_frame; // this frame cannot be read; -1: all can
} FormulaRun;

FormulaRun formula_run(int32_t body_count, int64_t frame_count, int64_t step_count);
CniPageSource formula_source(FormulaRun *run);
CnPose formula_pose(const FormulaRun *run, int64_t frame, int32_t body);
double formula_value(const FormulaRun *run, int32_t series, int64_t step);

#endif
