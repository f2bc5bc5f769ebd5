// SPDX-License-Identifier: Apache-2.0
// What a page shows of a run beside its shapes: curves of joints, springs.
#include "view/view_private.h"

#include <string.h>

CnWorld *cni_page_curves(CnRun *run, const CnRunInfo *info) {
  CniPageMemory memory = {NULL};
  CnScene *scene = NULL;
  CnWorld *world = NULL;
  CnSetting *settings = NULL;
  int32_t count = info->parameter_count;
  if (!info->scene_text || !strstr(info->scene_text, "\"curves\"")) return NULL;
  CnStatus status = cni_page_array(&memory, count, sizeof *settings, &settings);
  for (int32_t i = 0; i < count && status == CN_OK; i++) {
    CnRunParameter parameter;
    status = cn_run_parameter(run, i, &parameter);
    settings[i] = (CnSetting){parameter.name, parameter.value};
  }
  if (status == CN_OK)
    status = cn_scene_parse(info->scene_text, strlen(info->scene_text), info->scene_name, settings,
                            count, NULL, &scene);
  CnWorldDef def = cn_world_def_default();
  if (status == CN_OK) status = cn_world_create(&def, &world);
  if (status == CN_OK) status = cn_scene_fill(scene, world);
  if (status != CN_OK) {
    cn_world_destroy(world);
    world = NULL;
  }
  cn_scene_destroy(scene);
  cni_page_memory_release(&memory);
  return world;
}

CnStatus cni_page_springs(CnRun *run, CniPageMemory *memory, CniPageSource *source) {
  CnRunJoint *springs = NULL;
  CNI_TRY(cn_run_springs(run, NULL, 0, &source->spring_count));
  CNI_TRY(cni_page_array(memory, source->spring_count, sizeof *springs, &springs));
  source->springs = springs;
  return cn_run_springs(run, springs, source->spring_count, &source->spring_count);
}
