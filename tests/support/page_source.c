// SPDX-License-Identifier: Apache-2.0
#include "page_source.h"

#include "core/error.h"
#include "core/math.h"
#include "core/vec.h"

#include <string.h>

static const CnRunSeries all_series[] = {
    {"kinetic_energy", "J"},  {"potential_energy", "J"}, {"contacts", ""},
    {"penetration_max", "m"}, {"residual", ""},          {"height of the box", "m"},
};
#define SCALARS 5
#define SENSORS 1

FormulaRun formula_run(int32_t body_count, int64_t frame_count, int64_t step_count) {
  return (FormulaRun){.body_count = body_count,
                      .frame_count = frame_count,
                      .step_count = step_count,
                      .time_step = 1e-3,
                      .title = "Formulas",
                      .broken_frame = -1};
}

CnPose formula_pose(const FormulaRun *run, int64_t frame, int32_t body) {
  (void)run;
  if (body == 0) return CN_POSE_ONE;
  double angle = 0.7 * body + 0.05 * (double)frame, radius = 0.5 + 0.01 * body;
  CnVec3 turn = {0.3 * angle, 0.1 * body, 0.02 * (double)frame};
  return (CnPose){{radius * cni_cos(angle), radius * cni_sin(angle), 0.2 + 0.001 * body},
                  cni_quat_exp(turn)};
}

double formula_value(const FormulaRun *run, int32_t series, int64_t step) {
  if (series < 0) return run->time_step * (double)(step + 1);
  // one tall peak that no thinning may lose
  if (step == 777) return 1000;
  return (series + 1) * (1.5 + cni_sin(0.01 * (double)step));
}

static CnStatus parameter(void *context, int32_t index, CnRunParameter *out) {
  (void)context;
  (void)index;
  *out = (CnRunParameter){.name = "mu", .value = 0.5};
  return CN_OK;
}

static CnStatus body(void *context, int32_t index, CnRunBody *out) {
  (void)context;
  *out = (CnRunBody){.name = index == 0   ? "ground"
                             : index == 1 ? "first"
                                          : "",
                     .kind = index == 0 ? CN_BODY_FIXED : CN_BODY_DYNAMIC,
                     .mass = index};
  return CN_OK;
}

static CnStatus shape(void *context, int32_t index, CnRunShape *out) {
  (void)context;
  *out = (CnRunShape){.body = index, .def = cn_shape_def_default(CN_SHAPE_PLANE)};
  if (index == 0) return CN_OK;
  out->def.kind = index % 2 ? CN_SHAPE_SPHERE : CN_SHAPE_BOX;
  out->def.radius = 0.05;
  out->def.half_size = cn_vec3(0.04, 0.05, 0.06);
  return CN_OK;
}

static CnStatus frame(void *context, int64_t index, double *time, CnPose *poses, CnTwist *twists) {
  const FormulaRun *run = context;
  if (index == run->broken_frame)
    return cni_error(CN_INVALID_DATA, "frame %lld is damaged", (long long)index);
  *time = 0.02 * (double)index;
  for (int32_t i = 0; poses && i < run->body_count; i++) poses[i] = formula_pose(run, index, i);
  for (int32_t i = 0; twists && i < run->body_count; i++)
    twists[i] = (CnTwist){.velocity = cn_vec3(0.125 * i, 0, -1), .spin = cn_vec3(0, 2, 0)};
  return CN_OK;
}

static CnStatus series(void *context, int32_t index, CnRunSeries *out) {
  (void)context;
  *out = all_series[index];
  return CN_OK;
}

static CnStatus values(void *context, const char *name, int64_t first, int64_t count, double *out) {
  int32_t index = -1;
  for (int32_t i = 0; i < SCALARS + SENSORS; i++)
    if (strcmp(name, all_series[i].name) == 0) index = i;
  for (int64_t i = 0; i < count; i++) out[i] = formula_value(context, index, first + i);
  return CN_OK;
}

CniPageSource formula_source(FormulaRun *run) {
  CniPageSource source = {.context = run,
                          .description = "",
                          .parameter = parameter,
                          .body = body,
                          .shape = shape,
                          .frame = frame,
                          .series = series,
                          .values = values};
  source.info = (CnRunInfo){.cairn_version = "0.1.0",
                            .scene_name = "formulas",
                            .scene_title = run->title,
                            .scene_text = "{}",
                            .integrator = "impulse",
                            .solver = "psor",
                            .gravity = {0, 0, -9.81},
                            .time_step = run->time_step,
                            .iterations = 100,
                            .seed = UINT64_MAX,
                            .worker_count = 1,
                            .body_count = run->body_count,
                            .shape_count = run->body_count,
                            .parameter_count = 1,
                            .step_count = run->step_count,
                            .frame_count = run->frame_count,
                            .scalar_count = SCALARS,
                            .sensor_count = SENSORS,
                            .complete = 1};
  return source;
}
