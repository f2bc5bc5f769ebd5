// SPDX-License-Identifier: Apache-2.0
// cairn report: one HTML page of a run, of two runs side by side, or of the first frame of a scene.
#include <stdlib.h>
#include <string.h>

#include <cairn/record.h>

#include "cli/job.h"

// The run or scene with .html for its ending, in its folder; built-in scenes here.
static char *page_path(const char *source) {
  size_t length = strlen(source);
  const char *slash = strrchr(source, '/'), *dot = strrchr(source, '.');
  if (dot && dot > source && (!slash || dot > slash + 1)) length = (size_t)(dot - source);
  char *path = malloc(length + sizeof ".html");
  if (!path) return NULL;
  memcpy(path, source, length);
  memcpy(path + length, ".html", sizeof ".html");
  return path;
}

static int told(const CniArgs *args, CnStatus status) {
  return status == CN_OK ? CNI_EXIT_DONE : cni_fail(args, "%s", cn_error_message());
}

static int write_run(const CniArgs *args, const char *source, const char *output,
                     int64_t max_bytes) {
  CnAllocator allocator = cn_allocator_default();
  CnRun *run;
  int status = told(args, cn_run_open(source, &allocator, &run));
  if (status == CNI_EXIT_DONE) status = told(args, cn_run_check_output(run, output));
  if (status == CNI_EXIT_DONE) status = cni_check_vacant(args, output);
  if (status == CNI_EXIT_DONE) status = told(args, cn_page_from_run(run, output, max_bytes));
  cn_run_close(run);
  return status;
}

static int write_scene(const CniArgs *args, const char *source, const char *output,
                       const CnSetting *settings, int32_t setting_count) {
  CnScene *scene;
  int status = told(args, cni_open_scene(args, source, settings, setting_count, &scene));
  if (status == CNI_EXIT_DONE) cni_tell_beware(scene, source);
  if (status == CNI_EXIT_DONE) status = told(args, cn_scene_check_output(scene, output));
  if (status == CNI_EXIT_DONE) status = cni_check_vacant(args, output);
  if (status == CNI_EXIT_DONE) status = told(args, cn_page_from_scene(scene, output));
  cn_scene_destroy(scene);
  return status;
}

// What a run is called in a page of two: the name of its file.
static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static int write_pair(const CniArgs *args, const char *output, int64_t max_bytes) {
  CnAllocator allocator = cn_allocator_default();
  const char *first = args->operands[0], *second = args->operands[1];
  CnRun *a = NULL, *b = NULL;
  int status = told(args, cn_run_open(first, &allocator, &a));
  if (status == CNI_EXIT_DONE) status = told(args, cn_run_open(second, &allocator, &b));
  if (status == CNI_EXIT_DONE) status = told(args, cn_run_check_output(a, output));
  if (status == CNI_EXIT_DONE) status = told(args, cn_run_check_output(b, output));
  if (status == CNI_EXIT_DONE) status = cni_check_vacant(args, output);
  if (status == CNI_EXIT_DONE)
    status =
        told(args, cn_page_from_runs(a, base_name(first), b, base_name(second), output, max_bytes));
  cn_run_close(a);
  cn_run_close(b);
  return status;
}

static void show_result(const CniArgs *args, const char *source, const char *output, int is_run) {
  CniShow show;
  if (!cni_args_has(args, "json")) {
    if (!cni_args_has(args, "quiet")) printf("%s: page written to %s\n", source, output);
    return;
  }
  cni_show_begin(&show, stdout, 1);
  cni_show_text(&show, "source", NULL, source);
  cni_show_text(&show, "kind", NULL, is_run ? "run" : "scene");
  cni_show_text(&show, "output", NULL, output);
  cni_show_end(&show);
}

static int run(const CniArgs *args) {
  const char *source = args->operands[0], *output = cni_args_text(args, "output");
  CnSetting *settings = NULL;
  char *texts = NULL;
  int32_t count = 0;
  double megabytes = 0;
  CnFileKind kind = cn_file_kind(source);
  int is_run = kind == CN_FILE_KIND_RUN;
  if (kind == CN_FILE_KIND_PROBLEM)
    return cni_fail(args, "%s: is a problem, not a run or scene: `cairn solve` takes it", source);
  const char *other = args->operand_count > 1 ? args->operands[1] : NULL;
  const char *odd = !is_run                                            ? source
                    : other && cn_file_kind(other) != CN_FILE_KIND_RUN ? other
                                                                       : NULL;
  if (other && odd)
    return cni_usage_error(args->command,
                           "two files side by side must both be runs, and %s is none", odd);
  char *own = output ? NULL : page_path(source);
  int status = cni_settings_parse(args, &settings, &count, &texts);
  if (status == CNI_EXIT_DONE && is_run && count > 0)
    status = cni_usage_error(args->command, "--set is for scenes, and %s is a run", source);
  if (!cni_args_number(args, "max-size", CNI_NUMBER_POSITIVE, &megabytes)) status = CNI_EXIT_USAGE;
  if (status == CNI_EXIT_DONE && !is_run && megabytes > 0)
    status = cni_usage_error(args->command, "--max-size is for runs, and %s is a scene", source);
  const char *page = output ? output : own;
  if (status == CNI_EXIT_DONE && !page) status = cni_fail(args, "out of memory");
  if (status == CNI_EXIT_DONE) {
    int64_t max_bytes = (int64_t)(1e6 * megabytes);
    status = other    ? write_pair(args, page, max_bytes)
             : is_run ? write_run(args, source, page, max_bytes)
                      : write_scene(args, source, page, settings, count);
    if (status == CNI_EXIT_DONE) show_result(args, source, page, is_run);
  }
  free(own);
  free(settings);
  free(texts);
  return status;
}

static const CniOption options[] = {
    {"output", 'o', "FILE", "the page (default: RUN or SCENE with the ending .html)"},
    {"max-size", 0, "MB", "thin frames so that the page stays below (default 100)"},
    CNI_OPTION_FORCE,
    CNI_OPTION_SET,
    CNI_OPTION_FILES,
    CNI_OPTION_NO_CACHE,
    CNI_OPTION_JSON,
    CNI_OPTION_QUIET,
    CNI_OPTION_END};
static const CniExample examples[] = {
    {"cairn report run.h5 -o run.html", "playback and plots of a run"},
    {"cairn report a.h5 b.h5 -o both.html", "two runs side by side, with one clock"},
    {"cairn report stack --set boxes=20", "the first frame of a scene, in stack.html"},
    {NULL, NULL}};
const CniCommand cni_command_report = {
    .name = "report",
    .summary = "write a page that shows a run or a scene",
    .operands = "RUN [RUN] | SCENE",
    .operand_min = 1,
    .operand_max = 2,
    .description =
        "Writes one HTML file that needs nothing else: playback of the bodies, plots of "
        "sensors, energies, contacts and of what was recorded, and the settings. Open it "
        "in a browser. Two runs are shown side by side, with one clock and one camera. Of "
        "a scene it shows the first frame. An older page is replaced, any other file with --force "
        "alone.",
    .options = options,
    .examples = examples,
    .run = run};
