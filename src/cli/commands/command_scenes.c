// SPDX-License-Identifier: Apache-2.0
// cairn scenes: the built-in scenes with their parameters.
#include <stdio.h>

#include <cairn/scene.h>

#include "cli/cli.h"

static int show_parameters(CniShow *show, const CnScene *scene) {
  CnSceneInfo info;
  cn_scene_info(scene, &info);
  cni_show_list(show, "parameters", NULL);
  for (int32_t i = 0; i < info.parameter_count; i++) {
    CnSceneParameter parameter;
    if (cn_scene_parameter(scene, i, &parameter) != CN_OK) return 0;
    if (parameter.derived) continue; // a helper of the scene
    if (show->json) {
      cni_show_row(show);
      cni_show_text(show, "name", NULL, parameter.name);
      cni_show_number(show, "default", NULL, parameter.default_value, "");
      cni_show_text(show, "summary", NULL, parameter.summary);
      cni_show_row_end(show);
    } else {
      char text[CNI_NUMBER_SIZE], setting[128];
      snprintf(setting, sizeof setting, "%s=%s", parameter.name,
               cni_number_text(parameter.default_value, text));
      fprintf(show->file, "      %-22s%s\n", setting, parameter.summary);
    }
  }
  cni_show_list_end(show);
  return 1;
}

static int run(const CniArgs *args) {
  CnAllocator allocator = cn_allocator_default();
  CniShow show;
  // opened first, so that a failure does not cut an object in two
  for (int32_t i = 0; cn_builtin_scene_name(i); i++) {
    CnScene *scene;
    if (cn_scene_open(cn_builtin_scene_name(i), NULL, 0, &allocator, &scene) != CN_OK)
      return cni_fail(args, "%s", cn_error_message());
    cn_scene_destroy(scene);
  }
  cni_show_begin(&show, stdout, cni_args_has(args, "json"));
  cni_show_list(&show, "scenes", NULL);
  for (int32_t i = 0; cn_builtin_scene_name(i); i++) {
    CnScene *scene;
    if (cn_scene_open(cn_builtin_scene_name(i), NULL, 0, &allocator, &scene) != CN_OK) continue;
    cni_show_row(&show);
    cni_show_text(&show, "name", "name", cn_builtin_scene_name(i));
    cni_show_text(&show, "summary", "summary", cn_builtin_scene_summary(i));
    if (show.json) {
      show_parameters(&show, scene);
      cni_show_row_end(&show);
    } else {
      cni_show_row_end(&show);
      show_parameters(&show, scene);
    }
    cn_scene_destroy(scene);
  }
  cni_show_list_end(&show);
  cni_show_end(&show);
  return CNI_EXIT_DONE;
}

static const CniOption options[] = {CNI_OPTION_JSON, CNI_OPTION_END};
static const CniExample examples[] = {{"cairn scenes", "list them with parameters and defaults"},
                                      {"cairn run stack --set boxes=20", "run one of them"},
                                      {NULL, NULL}};
const CniCommand cni_command_scenes = {
    .name = "scenes",
    .summary = "list the built-in scenes",
    .operands = "",
    .description =
        "Lists the scenes that are part of the program, with the parameters that --set can "
        "change and their default values.",
    .options = options,
    .examples = examples,
    .run = run};
