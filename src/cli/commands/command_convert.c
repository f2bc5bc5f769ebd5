// SPDX-License-Identifier: Apache-2.0
// cairn convert: a robot description as a scene that a person can edit, the one that `cairn run` runs.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/job.h"

static int write_file(const CniArgs *args, const char *path, const CnScene *scene,
                      const CnSceneInfo *info) {
  CnOutput *output;
  if (cn_scene_check_output(scene, path) != CN_OK) return cni_fail(args, "%s", cn_error_message());
  if (!cni_args_has(args, "force") && cn_file_kind(path) != CN_FILE_KIND_NONE)
    return cni_fail(args, "%s: is there already (--force replaces it)", path);
  if (cn_output_create(path, &output) != CN_OK) return cni_fail(args, "%s", cn_error_message());
  cn_output_write(output, info->text, info->text_size);
  if (cn_output_close(output) != CN_OK) return cni_fail(args, "%s", cn_error_message());
  return CNI_EXIT_DONE;
}

static int32_t count_lines(const char *text) {
  int32_t count = text[0] != 0;
  for (; *text; text++) count += *text == '\n';
  return count;
}

static int convert(const CniArgs *args, const char *source, CnScene *scene) {
  const char *output = cni_args_text(args, "output");
  CnSceneInfo info;
  CniShow show;
  cn_scene_info(scene, &info);
  if (!output) {
    int whole = fwrite(info.text, 1, info.text_size, stdout) == info.text_size;
    return whole ? CNI_EXIT_DONE : cni_fail(args, "standard output: cannot be written");
  }
  int status = write_file(args, output, scene, &info);
  if (status != CNI_EXIT_DONE || cni_args_has(args, "quiet")) return status;
  cni_show_begin(&show, stdout, cni_args_has(args, "json"));
  cni_show_text(&show, "source", "source", source);
  cni_show_text(&show, "output", "scene", output);
  cni_show_count(&show, "bodies", "bodies", info.body_count);
  cni_show_count(&show, "joints", "joints", info.joint_count);
  cni_show_count(&show, "notes", "notes in its text", count_lines(info.description));
  cni_show_end(&show);
  return status;
}

static int run(const CniArgs *args) {
  const char *source = args->operands[0];
  CnAllocator allocator = cn_allocator_default();
  CnSetting *settings = NULL;
  CnScene *scene = NULL;
  char *texts = NULL;
  int32_t count = 0;
  if (cni_args_has(args, "json") && !cni_args_text(args, "output"))
    return cni_usage_error(args->command,
                           "--json needs --output: the scene goes to standard output");
  int status = cni_settings_parse(args, &settings, &count, &texts);
  if (status == CNI_EXIT_DONE)
    status = cn_scene_open(source, settings, count, &allocator, &scene) == CN_OK
                 ? convert(args, source, scene)
                 : cni_fail(args, "%s", cn_error_message());
  if (scene) cni_tell_beware(scene, source);
  cn_scene_destroy(scene);
  free(settings);
  free(texts);
  return status;
}

static const CniOption options[] = {
    {"output", 'o', "FILE", "the scene (default: standard output)"},
    {"force", 0, NULL, "replace an existing file"},
    {"set", 0, "JOINT=VALUE", "start of a joint (rad, m), floating=1: free base, keyframe=N"},
    CNI_OPTION_JSON,
    CNI_OPTION_QUIET,
    CNI_OPTION_END};
static const CniExample examples[] = {
    {"cairn convert arm.urdf -o arm.json", "a robot as a scene to edit"},
    {"cairn convert dog.urdf --set floating=1 -o dog.json", "with a base that nothing holds"},
    {NULL, NULL}};
const CniCommand cni_command_convert = {
    .name = "convert",
    .summary = "write a robot description as a scene",
    .operands = "ROBOT",
    .operand_min = 1,
    .operand_max = 1,
    .description =
        "Translates a robot description (URDF, MJCF, SDF) into a scene. It is the scene that "
        "`cairn run "
        "ROBOT` runs, bit by bit. What was not understood is listed in its description, "
        "which `cairn info` shows too. A scene that includes models is written with them.",
    .options = options,
    .examples = examples,
    .run = run};
