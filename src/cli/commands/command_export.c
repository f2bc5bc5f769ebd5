// SPDX-License-Identifier: Apache-2.0
// cairn export: a run in the form of another tool.
#include <cairn/record.h>
#include <cairn/run_look.h>
#include <cairn/tools.h>

#include "cli/cli.h"

static int run(const CniArgs *args) {
  const char *to = NULL;
  char path[4096];
  int json = cni_args_has(args, "json");
  if (args->operand_count == 0 && !cni_args_has(args, "to")) {
    cni_show_table(args, "formats", cn_export_name, cn_export_summary);
    return CNI_EXIT_DONE;
  }
  if (args->operand_count == 0) return cni_usage_error(args->command, "RUN is missing");
  if (!cni_args_choice(args, "to", cn_export_name, &to)) return CNI_EXIT_USAGE;
  if (!to) return cni_usage_error(args->command, "--to is missing: `cairn export` lists formats");
  const char *source = args->operands[0];
  const char *output = cni_args_text(args, "output");
  if (cn_run_export_path(source, to, output, path, sizeof path) != CN_OK ||
      cn_output_check(path, source) != CN_OK)
    return cni_fail(args, "%s", cn_error_message());
  int vacant = cni_check_vacant(args, path);
  if (vacant != CNI_EXIT_DONE) return vacant;
  if (cn_run_export(source, to, path) != CN_OK) return cni_fail(args, "%s", cn_error_message());
  CniShow show;
  cni_show_begin(&show, stdout, json);
  cni_show_text(&show, "run", NULL, source);
  cni_show_text(&show, "format", NULL, to);
  cni_show_text(&show, "output", NULL, path);
  cni_show_end(&show);
  if (!json && !cni_args_has(args, "quiet")) printf("%s: exported to %s\n", source, path);
  return CNI_EXIT_DONE;
}

static const CniOption options[] = {
    {"to", 0, "FORMAT", "the format; without RUN and --to all are listed with what they are for"},
    {"output", 'o', "FILE", "where to (default: beside the run)"},
    CNI_OPTION_FORCE,
    CNI_OPTION_JSON,
    CNI_OPTION_QUIET,
    CNI_OPTION_END};
static const CniExample examples[] = {
    {"cairn export run.h5 --to csv", "series and poses as tables"},
    {"cairn export run.h5 --to xdmf", "a file that ParaView opens over run.h5"},
    {"cairn export run.h5 --to vtk", "all shapes as triangles for ParaView: run-vtk/run.pvd"},
    {"cairn export run.h5 --to gltf", "shapes and motion for 3D viewers: run.glb"},
    {NULL, NULL}};
const CniCommand cni_command_export = {
    .name = "export",
    .summary = "write a run in the form of another tool",
    .operands = "RUN",
    .operand_max = 1,
    .description = "Writes a run as tables, or in the form of another tool. An older export is "
                   "replaced, any other file with --force alone.",
    .options = options,
    .choice = "to",
    .choices = cn_export_name,
    .examples = examples,
    .run = run};
