// SPDX-License-Identifier: Apache-2.0
// cairn plot: quantities of runs as a picture, without a browser.
#include <stdlib.h>
#include <string.h>

#include <cairn/tools.h>

#include "cli/plot/plot.h"

#define MOST_RUNS 16
#define MOST_CURVES 64

typedef struct Job {
  const CniArgs *args;
  const char *runs[MOST_RUNS], *names[MOST_CURVES];
  int32_t run_count, name_count;
  CniCurve curves[MOST_CURVES];
  int32_t curve_count;
} Job;

// Operands that are runs, and the rest, which are quantities.
static int sort_operands(Job *job) {
  for (int32_t i = 0; i < job->args->operand_count; i++) {
    const char *word = job->args->operands[i];
    if (cn_file_kind(word) == CN_FILE_KIND_RUN) {
      if (job->run_count == MOST_RUNS)
        return cni_usage_error(job->args->command, "at most %d runs", MOST_RUNS);
      job->runs[job->run_count++] = word;
    } else {
      if (job->name_count == MOST_CURVES)
        return cni_usage_error(job->args->command, "at most %d quantities", MOST_CURVES);
      job->names[job->name_count++] = word;
    }
  }
  if (job->run_count > 0) return CNI_EXIT_DONE;
  return cni_usage_error(job->args->command,
                         "none of the operands is a recorded run (got %s): "
                         "`cairn run SCENE --out run.h5` records one",
                         job->args->operands[0]);
}

static int read_curves(Job *job, CnRun *run, const char *path) {
  const char *over = cni_args_text(job->args, "over");
  for (int32_t i = 0; i < job->name_count; i++) {
    if (job->curve_count == MOST_CURVES)
      return cni_usage_error(job->args->command, "at most %d curves", MOST_CURVES);
    int read = cni_quantity_read(job->args, run, path, job->names[i], over, job->run_count > 1,
                                 &job->curves[job->curve_count++]);
    if (!read) return CNI_EXIT_FAILED;
  }
  return CNI_EXIT_DONE;
}

static int each_run(Job *job) {
  CnAllocator allocator = cn_allocator_default();
  int status = CNI_EXIT_DONE;
  for (int32_t i = 0; i < job->run_count && status == CNI_EXIT_DONE; i++) {
    CnRun *run;
    if (cn_run_open(job->runs[i], &allocator, &run) != CN_OK)
      return cni_fail(job->args, "%s", cn_error_message());
    if (cni_args_has(job->args, "list"))
      cni_quantity_list(job->args, run);
    else if (cn_run_check_output(run, cni_args_text(job->args, "output")) != CN_OK)
      status = cni_fail(job->args, "%s", cn_error_message());
    else
      status = read_curves(job, run, job->runs[i]);
    cn_run_close(run);
  }
  return status;
}

static int ends_with(const char *path, const char *ending) {
  size_t n = strlen(path), m = strlen(ending);
  return n > m && strcmp(path + n - m, ending) == 0;
}

// "900x540"
int cni_size_parse(const CniArgs *args, int *width, int *height) {
  const char *text = cni_args_text(args, "size");
  char rest;
  if (!text) return 1;
  if (sscanf(text, "%dx%d%c", width, height, &rest) == 2 && *width >= 64 && *height >= 64 &&
      *width <= 8192 && *height <= 8192)
    return 1;
  cni_usage_error(args->command, "--size takes WIDTHxHEIGHT, 64 to 8192 each (got %s)", text);
  return 0;
}

static int draw(Job *job) {
  const CniArgs *args = job->args;
  const char *path = cni_args_text(args, "output"), *over = cni_args_text(args, "over");
  int width = 900, height = 540;
  if (!cni_size_parse(args, &width, &height)) return CNI_EXIT_USAGE;
  if (!path) return cni_usage_error(args->command, "-o FILE.svg or FILE.png is missing");
  int svg = ends_with(path, ".svg");
  if (!svg && !ends_with(path, ".png"))
    return cni_usage_error(args->command, "the picture is a .svg or a .png (got %s)", path);
  if (job->name_count == 0)
    return cni_usage_error(args->command, "QUANTITY is missing: `cairn plot %s --list` lists them",
                           job->runs[0]);
  int status = each_run(job);
  if (status == CNI_EXIT_DONE) status = cni_check_vacant(args, path);
  if (status != CNI_EXIT_DONE) return status;
  CniPlot plot = {.title = cni_args_text(args, "title"),
                  .x_label = over ? over : "time (s)",
                  .curves = job->curves,
                  .curve_count = job->curve_count,
                  .log_scale = cni_args_has(args, "log")};
  if (!plot.title) plot.title = "";
  CnStatus drawn =
      (svg ? cni_picture_svg : cni_picture_png)(path, width, height, cni_plot_draw, &plot);
  if (drawn != CN_OK) return cni_fail(args, "%s", cn_error_message());
  CniShow show;
  cni_show_begin(&show, stdout, cni_args_has(args, "json"));
  cni_show_text(&show, "output", NULL, path);
  cni_show_count(&show, "curves", NULL, job->curve_count);
  cni_show_end(&show);
  return CNI_EXIT_DONE;
}

static int run(const CniArgs *args) {
  Job *job = calloc(1, sizeof *job);
  if (!job) return cni_fail(args, "out of memory");
  job->args = args;
  int status = sort_operands(job);
  if (status == CNI_EXIT_DONE) status = cni_args_has(args, "list") ? each_run(job) : draw(job);
  for (int32_t i = 0; i < job->curve_count; i++) cni_quantity_release(&job->curves[i]);
  free(job);
  return status;
}

static const CniOption options[] = {
    {"output", 'o', "FILE", "the picture: FILE.svg or FILE.png"},
    {"list", 0, NULL, "list the quantities of the run, with units"},
    {"over", 0, "QUANTITY", "over this quantity instead of the time"},
    {"log", 0, NULL, "logarithmic values; what is not positive is left out"},
    {"size", 0, "WxH", "of the picture in pixels (default 900x540)"},
    {"title", 0, "TEXT", "above the picture"},
    CNI_OPTION_FORCE,
    CNI_OPTION_JSON,
    CNI_OPTION_END};
static const CniExample examples[] = {
    {"cairn plot run.h5 --list", "which quantities there are"},
    {"cairn plot run.h5 kinetic_energy potential_energy total_energy -o energy.svg",
     "three curves"},
    {"cairn plot a.h5 b.h5 residual --log -o residual.png", "two runs in one picture"},
    {"cairn plot run.h5 ball.z --over ball.x -o path.svg", "a path"},
    {NULL, NULL}};
const CniCommand cni_command_plot = {
    .name = "plot",
    .summary = "draw quantities of runs as a picture",
    .operands = "RUN... QUANTITY...",
    .operand_min = 1,
    .operand_max = 128,
    .description =
        "Draws quantities of one or more runs over the time: sensors, energies, "
        "residual, contacts and other "
        "series with a value a step; of a body with a name BODY.x, y, z, vx, vy, vz, "
        "speed, wx, wy, wz, spin; "
        "of a joint with a name, where `cairn run --record joints` recorded them, its "
        "coordinates (JOINT.angle), "
        "their rates (JOINT.angle_rate), JOINT.force, JOINT.torque, their components "
        "(force_x) and JOINT.error.\n\n"
        "Quantities of one unit share a panel. The picture is made without a browser. An older "
        "one of cairn's is replaced, any other file with --force alone.",
    .options = options,
    .examples = examples,
    .run = run};
