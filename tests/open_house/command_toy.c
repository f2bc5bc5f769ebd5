// SPDX-License-Identifier: Apache-2.0
// A toy command: one line. tests/open_house adds it to a copy of the sources.
#include "cli/cli.h"

static int run(const CniArgs *args) {
  (void)args;
  printf("a toy\n");
  return CNI_EXIT_DONE;
}

static const CniOption options[] = {CNI_OPTION_END};
static const CniExample examples[] = {{"cairn toy", "print a line"}, {NULL, NULL}};
const CniCommand cni_command_toy = {.name = "toy",
                                    .summary = "print a line",
                                    .operands = "",
                                    .description = "Prints a line.",
                                    .options = options,
                                    .examples = examples,
                                    .run = run};
