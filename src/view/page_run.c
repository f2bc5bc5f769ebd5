// A page from a run file, through the reading functions of run.h.
#include "view/page.h"

#include "core/error.h"

static CnStatus run_parameter(void *context, int32_t index, CnRunParameter *parameter) {
  return cn_run_parameter(context, index, parameter);
}
static CnStatus run_body(void *context, int32_t index, CnRunBody *body) {
  return cn_run_body(context, index, body);
}
static CnStatus run_shape(void *context, int32_t index, CnRunShape *shape) {
  return cn_run_shape(context, index, shape);
}
static CnStatus run_frame(void *context, int64_t index, double *time, CnPose *poses) {
  return cn_run_frame(context, index, time, poses, NULL);
}
static CnStatus run_scalar(void *context, int32_t index, CnRunSeries *series) {
  return cn_run_scalar(context, index, series);
}
static CnStatus run_sensor(void *context, int32_t index, CnRunSeries *series) {
  return cn_run_sensor(context, index, series);
}
static CnStatus run_values(void *context, const char *name, int64_t first, int64_t count,
                           double *values) {
  return cn_run_values(context, name, first, count, values);
}

CnStatus cni_page_from_run(CnRun *run, const CniPageDef *def) {
  if (!run) return cni_error(CN_INVALID_ARGUMENT, "cni_page_from_run: the run is null");
  CniPageSource source = {.context = run,
                          .description = "",
                          .parameter = run_parameter,
                          .body = run_body,
                          .shape = run_shape,
                          .frame = run_frame,
                          .scalar = run_scalar,
                          .sensor = run_sensor,
                          .values = run_values};
  cn_run_info(run, &source.info);
  return cni_page_write(&source, def);
}
