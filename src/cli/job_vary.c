// SPDX-License-Identifier: Apache-2.0
// Going on from a checkpoint with other parameters: another run from there.
#include <cairn/state.h>
#include <stdlib.h>
#include <string.h>

#include "cli/job.h"

// The scene as the checkpoint has it.
static int open_before(const CniJob *job, CnScene **scene) {
  CnAllocator allocator = cn_allocator_default();
  const CnCheckpoint *c = &job->resumed;
  if (cn_scene_parse(c->scene_text, strlen(c->scene_text), c->scene_label, c->settings,
                     c->setting_count, &allocator, scene) == CN_OK)
    return CNI_EXIT_DONE;
  return cni_fail(job->args, "%s: %s", job->resume, cn_error_message());
}

// The value of a parameter in a scene; not a number where it has none of that name.
static double value_of(const CnScene *scene, const char *key) {
  CnSceneParameter parameter;
  for (int32_t i = 0; cn_scene_parameter(scene, i, &parameter) == CN_OK; i++)
    if (strcmp(parameter.name, key) == 0) return parameter.value;
  return NAN;
}

// Parameters given that are not the checkpoint's make another run from there, which has a file of its own.
int cni_job_compare_settings(CniJob *job) {
  CnScene *before;
  char a[CNI_NUMBER_SIZE], b[CNI_NUMBER_SIZE];
  if (job->setting_count == 0) return CNI_EXIT_DONE;
  int status = open_before(job, &before);
  if (status != CNI_EXIT_DONE) return status;
  for (int32_t i = 0; i < job->setting_count && status == CNI_EXIT_DONE; i++) {
    const CnSetting *given = &job->settings[i];
    double kept = value_of(before, given->key);
    if (kept == given->value) continue;
    job->varies = 1;
    if (job->resumed.run_path && !job->out && !isnan(kept))
      status = cni_fail(
          job->args,
          "%s: was made with %s=%s, --set gives %s: --out FILE records another run from there",
          job->resume, given->key, cni_number_text(kept, a), cni_number_text(given->value, b));
  }
  cn_scene_destroy(before);
  return status;
}

// The checkpoint's parameters with those given over them; keys stay where they are.
int cni_job_merge_settings(CniJob *job) {
  const CnCheckpoint *c = &job->resumed;
  CnSetting *all = calloc((size_t)c->setting_count + (size_t)job->setting_count + 1, sizeof *all);
  int32_t count = c->setting_count;
  if (!all) return cni_fail(job->args, "out of memory");
  if (count > 0) memcpy(all, c->settings, (size_t)count * sizeof *all);
  for (int32_t i = 0; i < job->setting_count; i++) {
    int32_t k = 0;
    while (k < count && strcmp(all[k].key, job->settings[i].key) != 0) k++;
    all[k] = job->settings[i];
    if (k == count) count++;
  }
  free(job->settings);
  job->settings = all;
  job->setting_count = count;
  return CNI_EXIT_DONE;
}

// The world of the checkpoint with other parameters.
int cni_job_vary(CniJob *job) {
  CnScene *before;
  CnWorldDef settings = job->def;
  int opened = open_before(job, &before);
  if (opened != CNI_EXIT_DONE) return opened;
  CnStatus status = cn_scene_change(before, job->scene, job->world);
  cn_scene_destroy(before);
  if (status == CN_OK) status = cn_world_set_settings(job->world, &settings);
  if (status != CN_OK) return cni_fail(job->args, "%s: %s", job->resume, cn_error_message());
  return CNI_EXIT_DONE;
}
