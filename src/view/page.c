// SPDX-License-Identifier: Apache-2.0
// Pages, from a program.
#include <fenv.h>

#include "view/view_private.h"

static CnStatus pages(CnRun *const *runs, const char *const *labels, int32_t count,
                      const char *output, int64_t max_bytes) {
  fenv_t host; // whose mode of rounding may be another one
  fegetenv(&host);
  fesetenv(FE_DFL_ENV);
  CniPageDef def = {.output = output, .max_bytes = max_bytes};
  CnStatus status = cni_page_from_runs(runs, labels, count, &def);
  fesetenv(&host);
  return status;
}

CnStatus cn_page_from_run(CnRun *run, const char *output, int64_t max_bytes) {
  if (!run || !output)
    return cni_page_error(CN_INVALID_ARGUMENT, "cn_page_from_run: the %s is null",
                          run ? "output" : "run");
  if (max_bytes < 0)
    return cni_page_error(CN_INVALID_ARGUMENT, "cn_page_from_run: at most %lld bytes",
                          (long long)max_bytes);
  return pages(&run, NULL, 1, output, max_bytes);
}

CnStatus cn_page_from_runs(CnRun *a, const char *label_a, CnRun *b, const char *label_b,
                           const char *output, int64_t max_bytes) {
  if (!a || !b || !output)
    return cni_page_error(CN_INVALID_ARGUMENT, "cn_page_from_runs: the %s is null",
                          !output ? "output"
                          : !a    ? "first run"
                                  : "second run");
  if (max_bytes < 0)
    return cni_page_error(CN_INVALID_ARGUMENT, "cn_page_from_runs: at most %lld bytes",
                          (long long)max_bytes);
  CnRun *const runs[2] = {a, b};
  const char *const labels[2] = {label_a, label_b};
  return pages(runs, labels, 2, output, max_bytes);
}

CnStatus cn_page_from_scene(CnScene *scene, const char *output) {
  if (!scene || !output)
    return cni_page_error(CN_INVALID_ARGUMENT, "cn_page_from_scene: the %s is null",
                          scene ? "output" : "scene");
  fenv_t host;
  fegetenv(&host);
  fesetenv(FE_DFL_ENV);
  CnStatus status = cni_page_from_scene(scene, &(CniPageDef){.output = output});
  fesetenv(&host);
  return status;
}
