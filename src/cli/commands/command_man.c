// SPDX-License-Identifier: Apache-2.0
// cairn man FILE: write the manual page; the build calls it.
#include <errno.h>
#include <string.h>

#include "cli/cli.h"

static int run(const CniArgs *args) {
  const char *path = args->operands[0];
  if (!path) {
    cni_help_manual(stdout);
    return CNI_EXIT_DONE;
  }
  FILE *file = fopen(path, "w");
  if (!file) return cni_fail(args, "%s: %s", path, strerror(errno));
  cni_help_manual(file);
  int failed = ferror(file);
  if (fclose(file) != 0 || failed) return cni_fail(args, "%s: %s", path, strerror(errno));
  return CNI_EXIT_DONE;
}

static const CniOption options[] = {CNI_OPTION_END};
static const CniExample examples[] = {{"cairn man cairn.1", "write the manual page to a file"},
                                      {NULL, NULL}};
const CniCommand cni_command_man = {
    .name = "man",
    .summary = "write the manual page",
    .operands = "[FILE]",
    .operand_max = 1,
    .description = "Writes the manual page of the command, made from the same tables as the help.",
    .options = options,
    .examples = examples,
    .hidden = 1,
    .run = run};
