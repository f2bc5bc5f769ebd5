// SPDX-License-Identifier: Apache-2.0
// Pages, from a program.
#include <cairn/record.h>

#include "core/error.h"
#include "core/floats.h"
#include "view/view.h"

CnStatus cn_page_from_run(CnRun *run, const char *output, int64_t max_bytes) {
  CNI_FLOATS;
  if (!run || !output)
    return cni_invalid("cn_page_from_run: the %s is null", run ? "output" : "run");
  if (max_bytes < 0)
    return cni_invalid("cn_page_from_run: at most %lld bytes", (long long)max_bytes);
  return cni_page_from_run(run, &(CniPageDef){.output = output, .max_bytes = max_bytes});
}

CnStatus cn_page_from_scene(CnScene *scene, const char *output) {
  CNI_FLOATS;
  if (!scene || !output)
    return cni_invalid("cn_page_from_scene: the %s is null", scene ? "output" : "scene");
  return cni_page_from_scene(scene, &(CniPageDef){.output = output});
}
